//! Writes a program out as one list of operations.
//!
//! Called when a program is made ready; reads the plans of the block executor, which say what becomes wide.
//!
//! # When is a load free?
//! Operations read cells in place, so a load is only a name for slots. A cell that is written while a loaded number is still
//! asked for is copied first; `holder` remembers who reads which cell.
//!
//! # When is a cell cleared?
//! When it must be: cells to be cleared are only marked, the first term that is added to all of them clears them on the way, and
//! the rest is cleared when somebody asks, or at the end.

use super::super::Step as Outer;
use super::super::plan::Plan;
use super::{BEYOND, Code, Flat, LANES, Mode, Step};
use crate::graph::Op;
use crate::program::{Address, Instruction, Program, Space};
use crate::rule::{MINUS, NEGATE, OVER, PLUS, TIMES};

/// Most operations that a program with loops may become; straight-line code may have more.
const MOST_STEPS: usize = 4096;
/// Most slots in lists.
const MOST_LISTED: usize = 1 << 16;
/// Nobody.
const NONE: u32 = u32::MAX;

/// Writes a program out, if that makes it a small one.
pub(in super::super) fn flat(program: &Program, steps: &[Outer], plans: &[Plan]) -> Option<Flat> {
    let (mut written, mut executed) = (0, 0);
    count(steps, plans, 1, &mut written, &mut executed)?;
    if executed > MOST_STEPS.max(2 * written) {
        return None;
    }
    let length = |lengths: &[usize]| lengths.iter().sum::<usize>();
    let inputs = program.constants.len();
    let work = inputs + length(&program.inputs);
    let outputs = work + program.work;
    let cells = outputs + length(&program.outputs);
    if cells > u16::MAX as usize {
        return None;
    }
    let mut writer = Writer {
        program,
        plans,
        flat: Flat {
            steps: Vec::with_capacity(executed),
            lists: Vec::new(),
            constants: program.constants.clone(),
            inputs,
            outputs,
            slots: cells,
        },
        work,
        holder: vec![NONE; cells],
        uncleared: vec![false; cells],
        free: Vec::new(),
        counters: vec![0; plans.iter().map(|plan| plan.trips.len()).max().unwrap_or(0) + 1],
        places: Vec::new(),
        last_use: Vec::new(),
        uses: Vec::new(),
        wide: Vec::new(),
        unwritten: Vec::new(),
        width: 1,
    };
    writer.steps(steps, 0)?;
    // The work means nothing after a run.
    writer.clear(outputs, cells - outputs);
    let mut flat = writer.flat;
    // Results that go to cells wait behind all the other slots.
    let waiting = flat.slots;
    let mut widest = 0;
    for step in flat.steps.iter_mut().filter(|step| step.is_wide()) {
        step.cells = step.to;
        step.then = step.mode != Mode::Result || step.factor != 1;
        if step.mode != Mode::Result {
            step.to = u16::try_from(waiting).ok()?;
        }
        widest = widest.max(step.room as usize);
    }
    flat.slots += widest + BEYOND;
    (flat.slots <= u16::MAX as usize).then_some(flat)
}

/// Counts instructions as written and as executed; `None` if there are calls or rows longer than a block.
fn count(steps: &[Outer], plans: &[Plan], times: usize, written: &mut usize, executed: &mut usize) -> Option<()> {
    for step in steps {
        match step {
            Outer::Nest(plan) => {
                let plan = &plans[*plan];
                let loops = plan.trips.len() - plan.nest.dimensions.len();
                let rows = (loops..plan.trips.len()).filter(|c| Some(*c) != plan.vector);
                let rows = rows.fold(times, |rows, c| rows.saturating_mul(plan.trips[c] as usize));
                if plan.vector.is_some_and(|vector| plan.trips[vector] as usize > plan.block) {
                    return None;
                }
                *written += plan.nest.body.len();
                *executed = executed.saturating_add(rows.saturating_mul(plan.nest.body.len()));
            }
            Outer::Loop { trip, body, .. } => {
                count(body, plans, times.saturating_mul(*trip as usize), written, executed)?;
            }
            Outer::Zero { .. } => *executed = executed.saturating_add(times),
            Outer::Call { .. } => return None,
        }
    }
    Some(())
}

/// Where a result is.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: u16,
    wide: bool,
    owner: Owner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Slots that are never written.
    Fixed,
    /// Cells of the program that may be written.
    Cells,
    /// Slots of its own.
    Own,
    /// Those of another result, of which it is the negative.
    Negative(u32),
}

struct Writer<'p> {
    program: &'p Program,
    plans: &'p [Plan],
    flat: Flat,
    /// Where the work begins.
    work: usize,
    /// Which result is read at a cell.
    holder: Vec<u32>,
    /// Whether a cell is 0 by now, if it were cleared.
    uncleared: Vec<bool>,
    /// Slots of results that are not used any more, by number of slots.
    free: Vec<(usize, Vec<u16>)>,
    counters: Vec<u32>,
    // Of the present nest.
    places: Vec<Place>,
    last_use: Vec<usize>,
    /// How many instructions ask for a result.
    uses: Vec<u32>,
    wide: Vec<bool>,
    /// Which negatives are not computed: products that ask for them have the other sign instead, which is the same.
    unwritten: Vec<bool>,
    /// Number of lanes.
    width: usize,
}

impl Writer<'_> {
    fn steps(&mut self, steps: &[Outer], depth: usize) -> Option<()> {
        for step in steps {
            match step {
                Outer::Nest(plan) => self.nest(&self.plans[*plan])?,
                Outer::Loop { trip, reversed, body } => {
                    for i in 0..*trip {
                        self.counters[depth] = if *reversed { trip - 1 - i } else { i };
                        self.steps(body, depth + 1)?;
                    }
                }
                Outer::Zero { space, start, length } => {
                    let first = self.first(*space) + start;
                    self.uncleared[first..first + length].fill(true);
                }
                Outer::Call { .. } => return None,
            }
        }
        Some(())
    }

    /// Where a space begins.
    fn first(&self, space: Space) -> usize {
        match space {
            Space::Constant => 0,
            Space::Input(i) => self.flat.inputs + self.program.inputs[..i as usize].iter().sum::<usize>(),
            Space::Work => self.work,
            Space::Output(i) => self.flat.outputs + self.program.outputs[..i as usize].iter().sum::<usize>(),
        }
    }

    /// Clears what is still to be cleared of some cells.
    fn clear(&mut self, first: usize, length: usize) {
        let mut cell = first;
        while cell < first + length {
            let count = self.uncleared[cell..first + length].iter().take_while(|uncleared| **uncleared).count();
            if count > 0 {
                self.push(Code::Clear, cell as u16, 0, 0, count as u16, 0);
                self.uncleared[cell..cell + count].fill(false);
            }
            cell += count + 1;
        }
    }

    /// How to store or add to cells, which are cleared first if they must be.
    fn mode(&mut self, mode: Mode, first: u16, length: usize) -> Mode {
        let first = first as usize;
        let cells = &mut self.uncleared[first..first + length];
        if mode == Mode::Store {
            cells.fill(false);
            return Mode::Store;
        }
        if cells.iter().all(|uncleared| *uncleared) {
            cells.fill(false);
            return Mode::First;
        }
        self.clear(first, length);
        Mode::Add
    }

    fn push(&mut self, code: Code, to: u16, x: u16, y: u16, n: u16, rule: u16) {
        self.flat.steps.push(Step::new(code, Mode::Result, to, [x, y], n, rule));
    }

    fn nest(&mut self, plan: &Plan) -> Option<()> {
        let loops = plan.trips.len() - plan.nest.dimensions.len();
        let body = &plan.nest.body;
        self.last_use.clear();
        self.last_use.extend(0..body.len());
        self.uses.clear();
        self.uses.resize(body.len(), 0);
        for (i, instruction) in body.iter().enumerate() {
            instruction.operands(|operand| {
                // One that asks twice counts once.
                self.uses[operand as usize] += u32::from(self.last_use[operand as usize] != i);
                self.last_use[operand as usize] = i;
            });
        }
        self.wide.clear();
        self.wide.resize(body.len(), plan.vector.is_some());
        for i in &plan.uniform {
            self.wide[*i as usize] = false;
        }
        self.find_unwritten(body);
        self.width = plan.vector.map_or(1, |vector| plan.trips[vector] as usize);
        let others: Vec<usize> = (loops..plan.trips.len()).filter(|c| Some(*c) != plan.vector).collect();
        let rows: usize = others.iter().map(|c| plan.trips[*c] as usize).product();
        for row in 0..rows {
            let mut rest = if plan.nest.reversed { rows - 1 - row } else { row };
            for c in others.iter().rev() {
                self.counters[*c] = (rest % plan.trips[*c] as usize) as u32;
                rest /= plan.trips[*c] as usize;
            }
            self.row(plan)?;
        }
        Some(())
    }

    /// Finds negatives that only products ask for, of results that others ask for too. These results then live as long.
    fn find_unwritten(&mut self, body: &[Instruction]) {
        self.unwritten.clear();
        self.unwritten.extend_from_slice(&self.wide);
        for instruction in body {
            if !matches!(instruction, Instruction::Apply { op: Op::Binary(TIMES), a, b } if a != b) {
                instruction.operands(|operand| self.unwritten[operand as usize] = false);
            }
        }
        for (i, instruction) in body.iter().enumerate() {
            let of = match *instruction {
                Instruction::Apply { op: Op::Unary(NEGATE), a, .. } if self.uses[a as usize] > 1 => a as usize,
                _ => {
                    self.unwritten[i] = false;
                    continue;
                }
            };
            self.unwritten[i] &= matches!(body[of], Instruction::Apply { .. }) && !self.unwritten[of];
            if self.unwritten[i] {
                self.last_use[of] = self.last_use[of].max(self.last_use[i]);
            }
        }
    }

    /// The slot of an address at a lane.
    fn cell(&mut self, plan: &Plan, address: &Address, lane: usize) -> Option<u16> {
        if let Some(vector) = plan.vector {
            self.counters[vector] = lane as u32;
        }
        let cell = self.first(address.space) + address.cell(&self.counters[..plan.trips.len()], &plan.trips);
        u16::try_from(cell).ok()
    }

    /// Whether the lanes of an address are neighbours.
    fn is_dense(plan: &Plan, address: u32) -> bool {
        plan.nest.addresses[address as usize].table.is_none() && plan.strides[address as usize] == 1
    }

    /// Lists the slots of an address.
    fn list(&mut self, plan: &Plan, address: &Address) -> Option<usize> {
        let start = self.flat.lists.len();
        for lane in 0..self.width {
            let cell = self.cell(plan, address, lane)?;
            self.flat.lists.push(cell);
        }
        // Longer lists fall out of the cache, and blocks gather as well.
        if self.flat.lists.len() > MOST_LISTED {
            return None;
        }
        Some(start)
    }

    fn clear_listed(&mut self, list: usize) {
        for lane in 0..self.width {
            let cell = self.flat.lists[list + lane];
            self.clear(cell as usize, 1);
        }
    }

    fn row(&mut self, plan: &Plan) -> Option<()> {
        self.places.clear();
        for (i, instruction) in plan.nest.body.iter().enumerate() {
            let wide = self.wide[i];
            let mut place = Place { at: 0, wide, owner: Owner::Fixed };
            match *instruction {
                Instruction::Constant(c) => place.at = u16::try_from(c).ok()?,
                Instruction::Load(address) => place = self.load(plan, address, wide, i)?,
                Instruction::Apply { op: Op::Guard(guard), a, b } => {
                    let (x, y) = (self.operand(a, wide)?, self.operand(b, wide)?);
                    let code = if wide { Code::WideGuard } else { Code::Guard };
                    self.push(code, 0, x.at, y.at, self.width as u16, guard);
                    self.dismiss(a, x);
                    self.dismiss(b, y);
                }
                Instruction::Apply { a, .. } if self.unwritten[i] => {
                    place = Place { owner: Owner::Negative(a), ..self.places[a as usize] };
                }
                Instruction::Apply { op, a, b } => {
                    place = match self.scaled(op, a, b).or_else(|| self.with_product(op, a, b, i)) {
                        Some(place) => place,
                        None => self.apply(op, a, b, wide)?,
                    };
                }
                Instruction::Store { value, address } => self.store(plan, value, address, wide, Mode::Store, i)?,
                Instruction::Accumulate { value, address } => {
                    let same = plan.nest.addresses[address as usize].table.is_none()
                        && plan.vector.is_some()
                        && plan.strides[address as usize] == 0;
                    if same {
                        self.reduce(plan, value, address, i)?;
                    } else {
                        self.store(plan, value, address, wide, Mode::Add, i)?;
                    }
                }
            }
            self.places.push(place);
            let mut ended = [i as u32, NONE, NONE];
            let mut count = usize::from(self.last_use[i] == i);
            instruction.operands(|operand| {
                if self.last_use[operand as usize] == i && !ended[..count].contains(&operand) {
                    ended[count] = operand;
                    count += 1;
                }
            });
            for value in &ended[..count] {
                self.release(*value, i);
            }
        }
        Some(())
    }

    /// Slots of a result's own.
    fn take(&mut self, wide: bool) -> Option<u16> {
        let size = if wide { self.width.next_multiple_of(LANES) } else { 1 };
        if let Some((_, free)) = self.free.iter_mut().find(|(own, _)| *own == size)
            && let Some(at) = free.pop()
        {
            return Some(at);
        }
        let at = u16::try_from(self.flat.slots).ok()?;
        self.flat.slots += size;
        Some(at)
    }

    fn give_back(&mut self, place: Place) {
        let size = if place.wide { self.width.next_multiple_of(LANES) } else { 1 };
        match self.free.iter_mut().find(|(own, _)| *own == size) {
            Some((_, free)) => free.push(place.at),
            None => self.free.push((size, vec![place.at])),
        }
    }

    /// Ends a result.
    fn release(&mut self, value: u32, now: usize) {
        let place = self.places[value as usize];
        match place.owner {
            Owner::Fixed => {}
            Owner::Own => self.give_back(place),
            Owner::Cells => self.let_go(place),
            Owner::Negative(of) if self.last_use[of as usize] == now => self.release(of, now),
            Owner::Negative(_) => {}
        }
        self.places[value as usize].owner = Owner::Fixed;
    }

    fn let_go(&mut self, place: Place) {
        let n = if place.wide { self.width } else { 1 };
        self.holder[place.at as usize..place.at as usize + n].fill(NONE);
    }

    /// A copy of a result.
    fn copy(&mut self, place: Place) -> Option<Place> {
        let at = self.take(place.wide)?;
        let code = if place.wide { Code::WideSame } else { Code::Same };
        self.push(code, at, place.at, 0, self.width as u16, 0);
        Some(Place { at, owner: Owner::Own, ..place })
    }

    fn load(&mut self, plan: &Plan, address: u32, wide: bool, value: usize) -> Option<Place> {
        let info = &plan.nest.addresses[address as usize];
        if wide && !Self::is_dense(plan, address) {
            let list = self.list(plan, info)?;
            self.clear_listed(list);
            let at = self.take(true)?;
            self.push(Code::Gather, at, 0, list as u16, self.width as u16, u16::try_from(list >> 16).ok()?);
            return Some(Place { at, wide, owner: Owner::Own });
        }
        let at = self.cell(plan, info, 0)?;
        let place = Place { at, wide, owner: Owner::Fixed };
        if matches!(info.space, Space::Constant | Space::Input(_)) {
            return Some(place);
        }
        let n = if wide { self.width } else { 1 };
        self.clear(at as usize, n);
        let holders = &mut self.holder[at as usize..at as usize + n];
        if holders.iter().any(|holder| *holder != NONE) {
            return self.copy(place);
        }
        holders.fill(value as u32);
        Some(Place { owner: Owner::Cells, ..place })
    }

    /// Makes sure that nobody waits for a cell's old number.
    fn overwrite(&mut self, cell: usize) -> Option<()> {
        let holder = self.holder[cell];
        if holder != NONE {
            let place = self.places[holder as usize];
            self.let_go(place);
            self.places[holder as usize] = self.copy(place)?;
        }
        Some(())
    }

    /// An operand as wide as asked for.
    fn operand(&mut self, value: u32, wide: bool) -> Option<Place> {
        let place = self.places[value as usize];
        if place.wide || !wide {
            return Some(place);
        }
        let at = self.take(true)?;
        self.push(Code::Spread, at, place.at, 0, self.width as u16, 0);
        Some(Place { at, wide, owner: Owner::Own })
    }

    /// Ends what [`operand`](Self::operand) made.
    fn dismiss(&mut self, value: u32, operand: Place) {
        if operand.wide != self.places[value as usize].wide {
            self.give_back(operand);
        }
    }

    /// Twice a wide result, or its negative, by the step that makes it, if nobody else asks for the result.
    fn scaled(&mut self, op: Op, a: u32, b: u32) -> Option<Place> {
        let factor = match op {
            Op::Binary(PLUS) if a == b => 2,
            Op::Unary(NEGATE) => -1,
            _ => return None,
        };
        let place = self.places[a as usize];
        if !place.wide || place.owner != Owner::Own || self.uses[a as usize] != 1 {
            return None;
        }
        // Whatever wrote the slots last.
        let step = self.flat.steps.iter_mut().rev().find(|step| step.to == place.at)?;
        if !step.is_wide() || step.mode != Mode::Result {
            return None;
        }
        if (step.factor * factor).abs() > 2 {
            return None;
        }
        step.factor *= factor;
        // The slots have a new owner.
        self.places[a as usize].owner = Owner::Fixed;
        Some(place)
    }

    /// The sum of a product and other numbers, or their difference, by the step that makes the product, if it is the last one and
    /// nobody else asks for the product.
    fn with_product(&mut self, op: Op, a: u32, b: u32, now: usize) -> Option<Place> {
        let (x, y) = (self.places[a as usize], self.places[b as usize]);
        if a == b || !x.wide || !y.wide {
            return None;
        }
        let candidates = match op {
            Op::Binary(PLUS) => [Some((b, x, Code::TimesPlus)), Some((a, y, Code::TimesPlus))],
            Op::Binary(MINUS) => [Some((b, x, Code::MinusTimes)), None],
            _ => return None,
        };
        for (product, other, code) in candidates.into_iter().flatten() {
            if let Some(step) = self.maker(product, now)
                && step.code == Code::WideTimes
                && step.factor == 1
            {
                (step.code, step.rule) = (code, other.at);
                let place = self.places[product as usize];
                self.places[product as usize].owner = Owner::Fixed;
                return Some(place);
            }
        }
        None
    }

    fn apply(&mut self, op: Op, a: u32, b: u32, wide: bool) -> Option<Place> {
        use Code::*;
        let n = self.width as u16;
        let to = self.take(wide)?;
        let done = Some(Place { at: to, wide, owner: Owner::Own });
        let (x, y) = (self.places[a as usize], self.places[b as usize]);
        let (code, wide_code, rule) = match op {
            Op::Unary(NEGATE) => (Negate, WideNegate, 0),
            Op::Unary(rule) => (Unary, WideUnary, rule),
            Op::Binary(PLUS) => (Plus, WidePlus, 0),
            Op::Binary(MINUS) => (Minus, WideMinus, 0),
            Op::Binary(TIMES) => (Times, WideTimes, 0),
            Op::Binary(OVER) => (Over, WideOver, 0),
            Op::Binary(rule) => (Binary, WideBinary, rule),
            Op::Compare(number) => (Compare, WideCompare, number as u16),
            Op::Keep => (Keep, WideKeep, 0),
            Op::Drop => (Drop, WideDrop, 0),
            Op::Chain => (Chain, WideChain, 0),
            Op::Guard(_) | Op::Accumulate | Op::Call | Op::CallOutput => return None,
        };
        if !wide {
            self.push(code, to, x.at, y.at, n, rule);
            return done;
        }
        if matches!(op, Op::Unary(_)) || x.wide && y.wide {
            self.push(wide_code, to, x.at, y.at, n, rule);
            self.change_sign(x, y);
            return done;
        }
        // The wide operand comes first.
        let mixed = match (wide_code, x.wide) {
            (WidePlus, true) => Some((PlusSame, x, y)),
            (WidePlus, false) => Some((PlusSame, y, x)),
            (WideMinus, true) => Some((MinusSame, x, y)),
            (WideMinus, false) => Some((SameMinus, y, x)),
            (WideTimes, true) => Some((TimesSame, x, y)),
            (WideTimes, false) => Some((TimesSame, y, x)),
            (WideOver, true) => Some((OverSame, x, y)),
            (WideOver, false) => Some((SameOver, y, x)),
            (WideChain, true) => Some((ChainSame, x, y)),
            (WideChain, false) => Some((SameChain, y, x)),
            _ => None,
        };
        match mixed {
            Some((code, x, y)) => {
                self.push(code, to, x.at, y.at, n, rule);
                self.change_sign(x, y);
            }
            None => {
                let (x, y) = (self.operand(a, true)?, self.operand(b, true)?);
                self.push(wide_code, to, x.at, y.at, n, rule);
                self.dismiss(a, x);
                self.dismiss(b, y);
            }
        }
        done
    }

    /// Gives the last step the sign of the product of its operands.
    fn change_sign(&mut self, x: Place, y: Place) {
        let negative = |place: Place| matches!(place.owner, Owner::Negative(_));
        if negative(x) != negative(y)
            && let Some(step) = self.flat.steps.last_mut()
        {
            step.factor = -step.factor;
        }
    }

    /// The last step, if it is the one that made `value` and nobody else asks for that.
    fn maker(&mut self, value: u32, now: usize) -> Option<&mut Step> {
        let place = self.places[value as usize];
        if place.owner != Owner::Own || self.last_use[value as usize] != now {
            return None;
        }
        self.flat.steps.last_mut().filter(|step| {
            let other = matches!(step.code, Code::Scatter | Code::Gather | Code::Clear | Code::Guard | Code::WideGuard);
            step.mode == Mode::Result && step.to == place.at && !other
        })
    }

    fn store(&mut self, plan: &Plan, value: u32, address: u32, wide: bool, mode: Mode, now: usize) -> Option<()> {
        let info = &plan.nest.addresses[address as usize];
        let (width, n) = (self.width, if wide { self.width } else { 1 });
        if wide && !Self::is_dense(plan, address) {
            let list = self.list(plan, info)?;
            for lane in 0..width {
                self.overwrite(self.flat.lists[list + lane] as usize)?;
            }
            self.clear_listed(list);
            let x = self.operand(value, true)?;
            let rule = u16::try_from(list >> 16).ok()?;
            let step = Step::new(Code::Scatter, mode, 0, [x.at, list as u16], width as u16, rule);
            self.flat.steps.push(step);
            self.dismiss(value, x);
            return Some(());
        }
        let to = self.cell(plan, info, 0)?;
        for cell in to as usize..to as usize + n {
            self.overwrite(cell)?;
        }
        // The operation itself may write the cells, after they are cleared.
        let same = self.places[value as usize].wide == wide && self.maker(value, now).is_some();
        let made = if same { self.flat.steps.pop() } else { None };
        let mode = self.mode(mode, to, n);
        if let Some(step) = made {
            self.flat.steps.push(Step { mode, to, ..step });
            return Some(());
        }
        let x = self.operand(value, wide)?;
        let code = if wide { Code::WideSame } else { Code::Same };
        self.flat.steps.push(Step::new(code, mode, to, [x.at, 0], width as u16, 0));
        self.dismiss(value, x);
        Some(())
    }

    /// Adds a row to one cell.
    fn reduce(&mut self, plan: &Plan, value: u32, address: u32, now: usize) -> Option<()> {
        let to = self.cell(plan, &plan.nest.addresses[address as usize], 0)?;
        self.overwrite(to as usize)?;
        let mode = self.mode(Mode::Add, to, 1);
        let (place, n) = (self.places[value as usize], self.width as u16);
        if place.wide
            && let Some(step) = self.maker(value, now)
            && step.code == Code::WideTimes
            && step.factor == 1
        {
            (step.code, step.mode, step.to) = (Code::SumTimes, mode, to);
            return Some(());
        }
        let code = if place.wide { Code::Sum } else { Code::Sums };
        self.flat.steps.push(Step::new(code, mode, to, [place.at, 0], n, 0));
        Some(())
    }
}
