//! Begins and ends of loops: which values are in registers when an iteration begins, and the moves that bring them there again.
//!
//! Called by `select`.

use super::super::code::{Carried, Kind, Limit, Value};
use super::encode::{Length, RAX, Rm};
use super::lifetimes::{INTEGERS, NEVER, NUMBERS};
use super::registers::{Head, NO_SLOT, NOWHERE, PRESERVED, SCRATCH, Slot, Target, Writer};
use crate::sorting;

impl Writer<'_> {
    pub(super) fn begin(&mut self, number: u32) {
        let lifetimes = self.lifetimes;
        let life = &lifetimes.loops[number as usize];
        for carried in &life.carried {
            self.take(carried.first);
        }
        for carried in &life.carried {
            self.take(carried.parameter);
        }
        if life.calls {
            for register in 0..16 {
                self.evict(NUMBERS, register);
                if PRESERVED & 1 << register == 0 {
                    self.evict(INTEGERS, register);
                }
            }
        }
        let mut budget = [0; 2];
        let mut in_frame = [0; 2];
        for class in [INTEGERS, NUMBERS] {
            // What the loop itself needs at once, besides what lives through it.
            let own = life.most[class].saturating_sub(life.through[class]);
            let all = Writer::registers(class);
            in_frame[class] = own.saturating_sub(all) as usize;
            budget[class] = all.saturating_sub(own) as usize;
            self.make_room(class, &mut budget[class], life.end);
        }
        let mut frame = Vec::new();
        let mut parameters: [usize; 2] = [0; 2];
        for carried in &life.carried {
            parameters[self.class(carried.parameter)] += 1;
        }
        for (i, carried) in life.carried.iter().enumerate() {
            let class = self.class(carried.parameter);
            // Those that are to stay in the frame come last.
            let into_frame = parameters[class] <= in_frame[class] || class == NUMBERS && life.calls;
            parameters[class] -= 1;
            let again = life.carried[i + 1..].iter().any(|other| other.first == carried.first);
            self.set_parameter(carried, into_frame, again, &mut frame);
        }
        for carried in &life.carried {
            self.release(carried.first);
        }
        for (value, _) in life.used.iter().rev() {
            let (at, class) = (self.at(*value), self.class(*value));
            let allowed = !(life.calls && class == NUMBERS) && self.free[class] != 0;
            if self.register[at] == NOWHERE
                && budget[class] > 0
                && allowed
                && (value.pool().is_none() || life.innermost)
            {
                budget[class] -= 1;
                if value.pool().is_some() {
                    self.set_next(*value, life.end);
                }
                let register = self.allocate(class, NOWHERE);
                self.load_into(register, *value);
                self.hold(*value, class, register);
            }
        }
        for carried in &life.carried {
            let (parameter, next) = (self.at(carried.parameter), self.at(carried.next));
            self.is_parameter[parameter] = true;
            self.hint[next] = self.register[parameter];
        }
        let mut registers = Vec::new();
        for class in [INTEGERS, NUMBERS] {
            for register in 0..16 {
                if let Some(value) = self.held[class][register as usize] {
                    registers.push((class, register, value));
                }
            }
        }
        self.flags_of = None;
        // An iteration may follow another one.
        self.bytes.upper = self.longest > Length::Xmm;
        if life.innermost {
            self.bytes.align(16);
        }
        self.open.push(Head { label: self.bytes.code.len(), registers, frame });
    }

    /// Leaves no more than `budget` values of a class in registers: those that are used first. Reduces it by their number.
    fn make_room(&mut self, class: usize, budget: &mut usize, end: u32) {
        let mut living: Vec<(u32, u8)> = Vec::with_capacity(16);
        for register in 0..16 {
            if let Some(value) = self.held[class][register as usize] {
                let next = self.next[self.at(value)];
                if next != NEVER {
                    // A constant that the loop does not use can be had again.
                    if value.pool().is_some() && next > end {
                        self.empty(class, register);
                    } else {
                        living.push((next, register));
                    }
                }
            }
        }
        sorting::sort(&mut living);
        while living.len() > *budget {
            let Some((_, register)) = living.pop() else { break };
            self.evict(class, register);
        }
        *budget -= living.len();
    }

    /// Gives a parameter its first value.
    fn set_parameter(&mut self, carried: &Carried, into_frame: bool, again: bool, frame: &mut Vec<(Value, Slot)>) {
        let Carried { parameter, first, .. } = *carried;
        let (to, from, class) = (self.at(parameter), self.at(first), self.class(parameter));
        let ends = self.next[from] == NEVER && !again && first.pool().is_none();
        let register = self.register[from];
        if !into_frame && (self.free[class] != 0 || ends && register != NOWHERE) {
            if ends && register != NOWHERE {
                self.empty(class, register);
                self.hold(parameter, class, register);
                return;
            }
            let register = self.allocate(class, NOWHERE);
            match self.register[from] {
                NOWHERE => self.load_into(register, first),
                other => self.copy_value(first, register, other),
            }
            self.hold(parameter, class, register);
            return;
        }
        if ends && register == NOWHERE && !self.is_parameter[from] {
            self.slot[to] = std::mem::replace(&mut self.slot[from], NO_SLOT);
        } else {
            self.slot[to] = self.new_slot(self.size(parameter));
            self.store_copy(first, self.slot[to]);
        }
        frame.push((parameter, self.slot[to]));
    }

    /// Copies a register that contains a value.
    fn copy_value(&mut self, value: Value, to: u8, from: u8) {
        match self.function.kind(value) {
            Kind::Integer => self.bytes.load(to, Rm::Register(from)),
            Kind::Numbers(lanes) => self.copy(self.length(lanes), to, from),
        }
    }

    /// Stores a value to a place of the frame, wherever it is.
    fn store_copy(&mut self, value: Value, slot: Slot) {
        let mut register = self.register[self.at(value)];
        if register == NOWHERE {
            register = if self.class(value) == NUMBERS { SCRATCH } else { RAX };
            self.load_into(register, value);
        }
        self.store_to(Rm::frame(slot), value, register);
    }

    pub(super) fn end(&mut self, number: u32) {
        let (lifetimes, function) = (self.lifetimes, self.function);
        let life = &lifetimes.loops[number as usize];
        let repeat = &function.loops[number as usize];
        for carried in &life.carried {
            self.take(carried.next);
        }
        self.take(repeat.counter);
        if let Limit::Value(limit) = repeat.limit {
            self.take(limit);
        }
        let is_known = self.flags_of == Some(repeat.counter) && self.bytes.flags;
        match repeat.limit {
            Limit::Integer(0) if is_known => {}
            Limit::Integer(limit) => {
                let counter = self.in_register(repeat.counter);
                match i32::try_from(limit) {
                    Ok(limit) => self.bytes.compare_constant(counter, limit),
                    Err(_) => {
                        self.bytes.set(RAX, limit);
                        self.bytes.compare(counter, RAX);
                    }
                }
            }
            Limit::Value(limit) => {
                let counter = self.in_register(repeat.counter);
                let limit = self.in_register(limit);
                self.bytes.compare(counter, limit);
            }
        }
        // From here to the jump, no instruction may change the flags.
        for (value, after) in &life.used {
            self.set_next(*value, *after);
        }
        let Some(head) = self.open.pop() else { return };
        let next_of = |value: Value| life.carried.iter().find(|carried| carried.parameter == value).map(|c| c.next);
        let targets: Vec<Target> = head
            .registers
            .iter()
            .map(|(class, register, value)| (*class, *register, next_of(*value).unwrap_or(*value)))
            .collect();
        let stores: Vec<(Value, Value, Slot)> =
            head.frame.iter().filter_map(|(parameter, slot)| Some((*parameter, next_of(*parameter)?, *slot))).collect();
        self.store_parameters(&stores, &targets);
        self.restore(&targets);
        self.bytes.back_if_different(head.label);
        self.flags_of = None;
        for (parameter, _, slot) in &stores {
            if !stores.iter().any(|(_, next, _)| self.slot[self.at(*next)] == *slot) {
                self.vacate(*slot, self.size(*parameter));
            }
        }
        for carried in &life.carried {
            let at = self.at(carried.parameter);
            self.is_parameter[at] = false;
            self.release(carried.parameter);
            self.release(carried.next);
        }
        for (_, _, value) in &targets {
            self.release(*value);
        }
        for (value, _) in &life.used {
            self.release(*value);
        }
        self.release(repeat.counter);
        if let Limit::Value(limit) = repeat.limit {
            self.release(limit);
        }
    }

    /// Stores the parameters that are in the frame: each gets the value that follows it.
    fn store_parameters(&mut self, stores: &[(Value, Value, Slot)], targets: &[Target]) {
        // Values in a place that another parameter is about to take move away first.
        let sources = stores.iter().map(|(_, next, _)| *next).chain(targets.iter().map(|(.., value)| *value));
        // So do parameters that are used after the loop.
        let used_later = |value: &Value| self.next[self.at(*value)] != NEVER;
        let parameters = stores.iter().map(|(parameter, ..)| *parameter).filter(used_later);
        let sources: Vec<Value> = sources.chain(parameters).collect();
        for source in sources {
            let at = self.at(source);
            let own = self.slot[at];
            let is_taken = own != NO_SLOT && stores.iter().any(|(_, next, slot)| *slot == own && *next != source);
            if is_taken && self.register[at] == NOWHERE {
                let slot = self.new_slot(self.size(source));
                self.store_copy(source, slot);
                self.slot[at] = slot;
            }
        }
        for (parameter, next, slot) in stores {
            let (parameter, at) = (self.at(*parameter), self.at(*next));
            if self.slot[at] != *slot {
                self.store_copy(*next, *slot);
            }
            // The place belongs to the loop, and what was the parameter's value is gone.
            if self.slot[parameter] == *slot && parameter != at {
                self.slot[parameter] = NO_SLOT;
            }
        }
        for (_, next, slot) in stores {
            let at = self.at(*next);
            if self.slot[at] == NO_SLOT && self.next[at] != NEVER && next.pool().is_none() {
                self.slot[at] = *slot;
            }
        }
    }

    /// Brings values into the registers in which the loop has them when an iteration begins.
    fn restore(&mut self, targets: &[Target]) {
        for (class, register, source) in targets {
            let Some(value) = self.held[*class][*register as usize] else { continue };
            let at = self.at(value);
            let moves = targets.iter().any(|(.., other)| *other == value);
            if value != *source && self.next[at] != NEVER && !moves {
                self.keep(value);
            }
        }
        let mut moves: Vec<(usize, u8, u8, Value)> = Vec::new();
        for (class, register, source) in targets {
            let from = self.register[self.at(*source)];
            if from != NOWHERE && from != *register {
                moves.push((*class, *register, from, *source));
            }
        }
        while !moves.is_empty() {
            let blocks = |class: usize, to: u8| moves.iter().any(|(c, _, from, _)| *c == class && *from == to);
            match moves.iter().position(|(class, to, ..)| !blocks(*class, *to)) {
                Some(free) => {
                    let (_, to, from, value) = moves.swap_remove(free);
                    self.copy_value(value, to, from);
                }
                None => {
                    // All are in cycles. One register gives way.
                    let (class, to, ..) = moves[0];
                    let aside = if class == NUMBERS { SCRATCH } else { RAX };
                    match class {
                        NUMBERS => self.copy(self.longest, aside, to),
                        _ => self.bytes.load(aside, Rm::Register(to)),
                    }
                    moves.iter_mut().filter(|(c, _, from, _)| *c == class && *from == to).for_each(|m| m.2 = aside);
                }
            }
        }
        for (_, register, source) in targets {
            if self.register[self.at(*source)] == NOWHERE {
                self.load_into(*register, *source);
            }
        }
        for (class, register, source) in targets {
            self.empty(*class, *register);
            let from = self.register[self.at(*source)];
            if from != NOWHERE {
                self.empty(*class, from);
            }
        }
        for (class, register, source) in targets {
            if self.register[self.at(*source)] == NOWHERE {
                self.hold(*source, *class, *register);
            }
        }
    }
}
