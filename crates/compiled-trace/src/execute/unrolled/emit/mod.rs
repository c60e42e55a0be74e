//! Unrolls a program to one list of operations.
//!
//! Called when a program is prepared; reads the plans of the block executor, which decide what becomes wide.
//!
//! # When is a load free?
//! Operations read cells in place, so a load is only a name for slots. A cell is copied before it is written if a loaded number is
//! still needed; `holder` records which result reads a cell.
//!
//! # When is a cell cleared?
//! As late as possible: cells to be cleared are only marked, the first term that is added to all of them clears them on the way, and
//! the rest is cleared before it is read, or at the end.

mod instructions;
mod schedule;

use super::code::{BEYOND, Code, LANES, Mode, Step, Unrolled, room};
use crate::execute::executable::Step as Outer;
use crate::execute::plan::Plan;
use crate::program::{Address, Instruction, Program, Space};
use crate::recording::graph::Op;
use crate::recording::rules::{NEGATE, TIMES};
use pulp::Arch;

/// Maximum number of operations that a program with loops may unroll to; straight-line code may have more.
const MAX_STEPS: usize = 4096;
/// Maximum number of slots in lists.
const MAX_LISTED: usize = 1 << 16;
/// Sentinel: no reader.
const NONE: u32 = u32::MAX;

/// Unrolls a program, if it is then a small one.
pub(in crate::execute) fn unrolled(program: &Program, steps: &[Outer], plans: &[Plan]) -> Option<Unrolled> {
    let (mut written, mut executed) = (0, 0);
    count(steps, plans, 1, &mut written, &mut executed)?;
    if executed > MAX_STEPS.max(2 * written) {
        return None;
    }
    let mut cells = room(program.constants.len());
    let mut spaces = |lengths: &[usize]| -> Vec<usize> {
        let start = |length: &usize| {
            cells += room(*length);
            cells - room(*length)
        };
        lengths.iter().map(start).collect()
    };
    let inputs = spaces(&program.inputs);
    let work = spaces(&[program.work])[0];
    let outputs = spaces(&program.outputs);
    let start = |spaces: &[usize]| spaces.first().copied().unwrap_or(0);
    if cells > u16::MAX as usize {
        return None;
    }
    let mut writer = Writer {
        plans,
        unrolled: Unrolled {
            steps: Vec::with_capacity(executed),
            lines: Vec::new(),
            lists: Vec::new(),
            constants: program.constants.clone(),
            rules: program.rules.clone(),
            arch: Arch::new(),
            inputs: start(&inputs),
            outputs: start(&outputs),
            slots: cells,
            is_short: plans.iter().all(|plan| plan.vector.is_none_or(|vector| plan.trips[vector] as usize <= LANES)),
        },
        inputs,
        work,
        outputs,
        holder: vec![NONE; cells],
        uncleared: vec![false; cells],
        unwritten: vec![true; cells],
        free: Vec::new(),
        counters: vec![0; plans.iter().map(|plan| plan.trips.len()).max().unwrap_or(0) + 1],
        places: Vec::new(),
        last_use: Vec::new(),
        uses: Vec::new(),
        wide: Vec::new(),
        skipped: Vec::new(),
        width: 1,
    };
    writer.steps(steps, 0)?;
    // The contents of the work space are not needed after a run.
    for (start, length) in writer.outputs.clone().into_iter().zip(&program.outputs) {
        writer.clear(start, *length);
    }
    let mut unrolled = writer.unrolled;
    schedule::schedule(&mut unrolled, cells);
    unrolled.slots += BEYOND;
    (unrolled.slots <= u16::MAX as usize).then_some(unrolled)
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
    /// Slots that it owns.
    Own,
    /// Those of another result, of which it is the negative.
    Negative(u32),
}

struct Writer<'p> {
    plans: &'p [Plan],
    unrolled: Unrolled,
    /// Where the inputs, the work and the outputs begin.
    inputs: Vec<usize>,
    work: usize,
    outputs: Vec<usize>,
    /// Which result reads a cell.
    holder: Vec<u32>,
    /// Whether a cell still has to be cleared.
    uncleared: Vec<bool>,
    /// Whether nothing has been written to a cell yet.
    unwritten: Vec<bool>,
    /// Slots of results that are no longer used, by number of slots.
    free: Vec<(usize, Vec<u16>)>,
    counters: Vec<u32>,
    // The results of the present nest.
    places: Vec<Place>,
    last_use: Vec<usize>,
    /// How many instructions read a result.
    uses: Vec<u32>,
    wide: Vec<bool>,
    /// Negatives that are not computed: the products that read them change their sign instead, with the same result.
    skipped: Vec<bool>,
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
            Space::Input(i) => self.inputs[i as usize],
            Space::Work => self.work,
            Space::Output(i) => self.outputs[i as usize],
        }
    }

    /// Clears those of the cells that are still uncleared.
    fn clear(&mut self, first: usize, length: usize) {
        let mut cell = first;
        while cell < first + length {
            let count = self.uncleared[cell..first + length].iter().take_while(|uncleared| **uncleared).count();
            if count > 0 {
                self.push(Code::Clear, cell as u16, 0, 0, count as u16, 0);
                self.uncleared[cell..cell + count].fill(false);
                self.unwritten[cell..cell + count].fill(false);
            }
            cell += count + 1;
        }
    }

    /// How to store or add to cells, which are cleared first if necessary.
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

    /// Whether whole groups may be written to cells: the cells beyond are not read.
    fn may_write_beyond(&self, first: u16, length: usize) -> bool {
        let beyond = first as usize + length..first as usize + room(length);
        let is_free = |cell: usize| self.uncleared[cell] || self.unwritten[cell];
        beyond.end <= self.uncleared.len() && beyond.into_iter().all(is_free)
    }

    fn push(&mut self, code: Code, to: u16, x: u16, y: u16, n: u16, rule: u16) {
        self.unrolled.steps.push(Step::new(code, Mode::Result, to, [x, y], n, rule));
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
                // An instruction that reads a result twice counts once.
                self.uses[operand as usize] += u32::from(self.last_use[operand as usize] != i);
                self.last_use[operand as usize] = i;
            });
        }
        self.wide.clear();
        self.wide.resize(body.len(), plan.vector.is_some());
        for i in &plan.uniform {
            self.wide[*i as usize] = false;
        }
        self.find_skipped(body);
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

    /// Finds negatives that only products read, of results that others read too. These results then live as long.
    fn find_skipped(&mut self, body: &[Instruction]) {
        self.skipped.clear();
        self.skipped.extend_from_slice(&self.wide);
        for instruction in body {
            if !matches!(instruction, Instruction::Apply { op: Op::Binary(TIMES), a, b } if a != b) {
                instruction.operands(|operand| self.skipped[operand as usize] = false);
            }
        }
        for (i, instruction) in body.iter().enumerate() {
            let of = match *instruction {
                Instruction::Apply { op: Op::Unary(NEGATE), a, .. } if self.uses[a as usize] > 1 => a as usize,
                _ => {
                    self.skipped[i] = false;
                    continue;
                }
            };
            self.skipped[i] &= matches!(body[of], Instruction::Apply { .. }) && !self.skipped[of];
            if self.skipped[i] {
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
        let start = self.unrolled.lists.len();
        for lane in 0..self.width {
            let cell = self.cell(plan, address, lane)?;
            self.unrolled.lists.push(cell);
        }
        // Longer lists exceed the cache, and blocks gather as well.
        if self.unrolled.lists.len() > MAX_LISTED {
            return None;
        }
        Some(start)
    }

    fn clear_listed(&mut self, list: usize) {
        for lane in 0..self.width {
            let cell = self.unrolled.lists[list + lane];
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
                Instruction::Apply { a, .. } if self.skipped[i] => {
                    place = Place { owner: Owner::Negative(a), ..self.places[a as usize] };
                }
                Instruction::Apply { op, a, b } => {
                    place = match self.negated(op, a).or_else(|| self.with_product(op, a, b, i)) {
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
}
