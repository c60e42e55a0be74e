//! The steps for the instructions of a body: where operands and results are, and which instructions one step combines.
//!
//! Called for each body by the rest of `emit`.

use super::{NONE, Owner, Place, Writer};
use crate::execute::plan::Plan;
use crate::execute::unrolled::code::{Code, Mode, Step, room};
use crate::program::Space;
use crate::recording::graph::Op;
use crate::recording::rules::{MINUS, NEGATE, OVER, PLUS, TIMES};

impl Writer<'_> {
    /// Takes slots for a result.
    pub(super) fn take(&mut self, wide: bool) -> Option<u16> {
        let size = if wide { room(self.width) } else { 1 };
        if let Some((_, free)) = self.free.iter_mut().find(|(own, _)| *own == size)
            && let Some(at) = free.pop()
        {
            return Some(at);
        }
        if wide {
            self.unrolled.slots = room(self.unrolled.slots);
        }
        let at = u16::try_from(self.unrolled.slots).ok()?;
        self.unrolled.slots += size;
        Some(at)
    }

    pub(super) fn give_back(&mut self, place: Place) {
        let size = if place.wide { room(self.width) } else { 1 };
        match self.free.iter_mut().find(|(own, _)| *own == size) {
            Some((_, free)) => free.push(place.at),
            None => self.free.push((size, vec![place.at])),
        }
    }

    /// Ends the life of a result if no later instruction reads it.
    pub(super) fn release(&mut self, value: u32, now: usize) {
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

    pub(super) fn let_go(&mut self, place: Place) {
        let n = if place.wide { self.width } else { 1 };
        self.holder[place.at as usize..place.at as usize + n].fill(NONE);
    }

    /// A copy of a result.
    pub(super) fn copy(&mut self, place: Place) -> Option<Place> {
        let at = self.take(place.wide)?;
        let code = if place.wide { Code::WideSame } else { Code::Same };
        self.push(code, at, place.at, 0, self.width as u16, 0);
        Some(Place { at, owner: Owner::Own, ..place })
    }

    pub(super) fn load(&mut self, plan: &Plan, address: u32, wide: bool, value: usize) -> Option<Place> {
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

    /// Copies the old number of a cell before it is overwritten, if a result still needs it.
    pub(super) fn overwrite(&mut self, cell: usize) -> Option<()> {
        self.unwritten[cell] = false;
        let holder = self.holder[cell];
        if holder != NONE {
            let place = self.places[holder as usize];
            self.let_go(place);
            self.places[holder as usize] = self.copy(place)?;
        }
        Some(())
    }

    /// An operand in the requested width.
    pub(super) fn operand(&mut self, value: u32, wide: bool) -> Option<Place> {
        let place = self.places[value as usize];
        if place.wide || !wide {
            return Some(place);
        }
        let at = self.take(true)?;
        self.push(Code::Spread, at, place.at, 0, self.width as u16, 0);
        Some(Place { at, wide, owner: Owner::Own })
    }

    /// Releases what [`operand`](Self::operand) made.
    pub(super) fn dismiss(&mut self, value: u32, operand: Place) {
        if operand.wide != self.places[value as usize].wide {
            self.give_back(operand);
        }
    }

    /// The negative of a wide sum or product, by the step that makes it, if it has no other reader.
    pub(super) fn negated(&mut self, op: Op, a: u32) -> Option<Place> {
        let place = self.places[a as usize];
        if op != Op::Unary(NEGATE) || !place.wide || place.owner != Owner::Own || self.uses[a as usize] != 1 {
            return None;
        }
        // The step that wrote the slots last.
        let step = self.unrolled.steps.iter_mut().rev().find(|step| step.to == place.at)?;
        step.code = negative(step.code)?;
        // The slots have a new owner.
        self.places[a as usize].owner = Owner::Fixed;
        Some(place)
    }

    /// The sum or difference of a product and other numbers, computed by the step that makes the product, if that is the last step and
    /// the product has no other reader.
    pub(super) fn with_product(&mut self, op: Op, a: u32, b: u32, now: usize) -> Option<Place> {
        let (x, y) = (self.places[a as usize], self.places[b as usize]);
        if a == b || !x.wide || !y.wide {
            return None;
        }
        let candidates = match op {
            Op::Binary(PLUS) => [Some((b, x)), Some((a, y))],
            Op::Binary(MINUS) => [Some((b, x)), None],
            _ => return None,
        };
        let is_sum = op == Op::Binary(PLUS);
        for (product, other) in candidates.into_iter().flatten() {
            if let Some(step) = self.maker(product, now)
                && matches!(step.code, Code::WideTimes | Code::TimesNegated)
            {
                let is_positive = (step.code == Code::WideTimes) == is_sum;
                step.code = if is_positive { Code::TimesPlus } else { Code::MinusTimes };
                step.rule = other.at;
                let place = self.places[product as usize];
                self.places[product as usize].owner = Owner::Fixed;
                return Some(place);
            }
        }
        None
    }

    pub(super) fn apply(&mut self, op: Op, a: u32, b: u32, wide: bool) -> Option<Place> {
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

    /// Gives the result of the last step the sign of the product of its operands.
    pub(super) fn change_sign(&mut self, x: Place, y: Place) {
        let is_negative = |place: Place| matches!(place.owner, Owner::Negative(_));
        if is_negative(x) != is_negative(y)
            && let Some(step) = self.unrolled.steps.last_mut()
        {
            match negative(step.code) {
                Some(code) => step.code = code,
                None => {
                    let (to, n) = (step.to, step.n);
                    self.push(Code::WideNegate, to, to, 0, n, 0);
                }
            }
        }
    }

    /// The last step, if it is the one that made `value` and it has no other reader.
    pub(super) fn maker(&mut self, value: u32, now: usize) -> Option<&mut Step> {
        let place = self.places[value as usize];
        if place.owner != Owner::Own || self.last_use[value as usize] != now {
            return None;
        }
        self.unrolled.steps.last_mut().filter(|step| {
            let other = matches!(step.code, Code::Scatter | Code::Gather | Code::Clear | Code::Guard | Code::WideGuard);
            step.mode == Mode::Result && step.to == place.at && !other
        })
    }

    pub(super) fn store(
        &mut self,
        plan: &Plan,
        value: u32,
        address: u32,
        wide: bool,
        mode: Mode,
        now: usize,
    ) -> Option<()> {
        let info = &plan.nest.addresses[address as usize];
        let (width, n) = (self.width, if wide { self.width } else { 1 });
        if wide && !Self::is_dense(plan, address) {
            let list = self.list(plan, info)?;
            for lane in 0..width {
                self.overwrite(self.unrolled.lists[list + lane] as usize)?;
            }
            self.clear_listed(list);
            let x = self.operand(value, true)?;
            let rule = u16::try_from(list >> 16).ok()?;
            let step = Step::new(Code::Scatter, mode, 0, [x.at, list as u16], width as u16, rule);
            self.unrolled.steps.push(step);
            self.dismiss(value, x);
            return Some(());
        }
        let to = self.cell(plan, info, 0)?;
        for cell in to as usize..to as usize + n {
            self.overwrite(cell)?;
        }
        let may_write_beyond = self.may_write_beyond(to, n);
        // The operation itself may write the cells, after they are cleared.
        let own_step = self.places[value as usize].wide == wide && self.maker(value, now).is_some();
        let made = if own_step { self.unrolled.steps.pop() } else { None };
        let mode = self.mode(mode, to, n);
        let width = width as u16;
        match made {
            Some(step) if !wide => self.unrolled.steps.push(Step { mode, to, ..step }),
            Some(step) if mode == Mode::Store && may_write_beyond => self.unrolled.steps.push(Step { to, ..step }),
            made => {
                self.unrolled.steps.extend(made);
                let x = self.operand(value, wide)?;
                let (code, mode) = match (wide, mode) {
                    (false, _) => (Code::Same, mode),
                    (true, Mode::Store) if may_write_beyond => (Code::WideSame, Mode::Result),
                    (true, _) => (Code::Put, mode),
                };
                self.unrolled.steps.push(Step::new(code, mode, to, [x.at, 0], width, 0));
                self.dismiss(value, x);
            }
        }
        Some(())
    }

    /// Adds a row to one cell.
    pub(super) fn reduce(&mut self, plan: &Plan, value: u32, address: u32, now: usize) -> Option<()> {
        let to = self.cell(plan, &plan.nest.addresses[address as usize], 0)?;
        self.overwrite(to as usize)?;
        let mode = self.mode(Mode::Add, to, 1);
        let (place, n) = (self.places[value as usize], self.width as u16);
        if place.wide
            && let Some(step) = self.maker(value, now)
            && step.code == Code::WideTimes
        {
            (step.code, step.mode, step.to) = (Code::SumTimes, mode, to);
            return Some(());
        }
        let code = if place.wide { Code::Sum } else { Code::Sums };
        self.unrolled.steps.push(Step::new(code, mode, to, [place.at, 0], n, 0));
        Some(())
    }
}

/// The operation whose result is the negative.
fn negative(code: Code) -> Option<Code> {
    match code {
        Code::WidePlus => Some(Code::PlusNegated),
        Code::PlusNegated => Some(Code::WidePlus),
        Code::WideTimes => Some(Code::TimesNegated),
        Code::TimesNegated => Some(Code::WideTimes),
        _ => None,
    }
}
