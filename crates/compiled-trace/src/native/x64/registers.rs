//! Which value is in which register or place of the frame, line by line.
//!
//! Called by `select` and `loops` while instructions are written. A linear scan with splitting: a value is moved to the frame when
//! a register is needed and its next use is the farthest (Belady 1966), and back into a register when it is used there. A value never
//! changes, so it is stored at most once per place in the code.

use super::super::code::{Function, Kind, Value};
use super::encode::{Bytes, Length, RAX, RSP, Rm, Simd};
use super::lifetimes::{INTEGERS, Lifetimes, NEVER, NUMBERS, place};

/// In no register.
pub(super) const NOWHERE: u8 = 255;
/// The vector register for intermediate results of one line.
pub(super) const SCRATCH: u8 = 15;
/// General registers in the order of preference where calls are rare: those that need not be restored come first.
const RESTORED_LAST: [u8; 14] = [1, 2, 8, 9, 10, 11, 6, 7, 3, 5, 12, 13, 14, 15];
/// General registers that calls preserve.
pub(super) const PRESERVED: u16 = 1 << 3 | 1 << 5 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15;
/// Registers that may hold values, per class.
const USABLE: [u16; 2] = [!(1 << RAX | 1 << RSP), !(1 << SCRATCH)];

/// A place in the frame.
pub(super) type Slot = i32;
/// Not in the frame.
pub(super) const NO_SLOT: Slot = -1;

/// A class, a register of it, and the value that belongs there.
pub(super) type Target = (usize, u8, Value);

/// The beginning of a loop.
pub(super) struct Head {
    pub(super) label: usize,
    pub(super) registers: Vec<Target>,
    /// Parameters in the frame.
    pub(super) frame: Vec<(Value, Slot)>,
}

/// A function being written, with the places of its values.
pub(super) struct Writer<'f> {
    pub(super) function: &'f Function,
    pub(super) lifetimes: &'f Lifetimes,
    pub(super) bytes: Bytes,
    /// How many entries of `lifetimes.next` are left.
    left: usize,
    /// Per class and register, the value in it.
    pub(super) held: [[Option<Value>; 16]; 2],
    /// Per class and register, the next use of the value in it.
    until: [[u32; 16]; 2],
    pub(super) free: [u16; 2],
    pub(super) locked: [u16; 2],
    /// Per value, register, slot, next use, and the register it should go to.
    pub(super) register: Vec<u8>,
    pub(super) slot: Vec<Slot>,
    pub(super) next: Vec<u32>,
    pub(super) hint: Vec<u8>,
    /// Parameters of open loops, whose slots stay theirs after their last use in an iteration.
    pub(super) is_parameter: Vec<bool>,
    /// Free slots of 8, 16, 32 and 64 bytes.
    vacant: [Vec<Slot>; 4],
    /// Slots that become free with the next line, with their sizes: an instruction may still have to read them.
    pub(super) leaving: Vec<(Slot, i32)>,
    pub(super) frame: Slot,
    /// Whether vectors of 32 bytes and more are in the frame.
    pub(super) has_vectors_in_frame: bool,
    /// General registers that have been used.
    pub(super) touched: u16,
    /// Constants: those of the function, and masks.
    pub(super) pool: Vec<(u64, u8)>,
    /// The masks among them.
    masks: Vec<u32>,
    /// The length of the longest vectors.
    pub(super) longest: Length,
    /// A load that becomes part of the next instruction.
    pub(super) folded: Option<(Value, Rm)>,
    /// A lane that the next line stores: its register, and whether it is the second number there.
    pub(super) stored_lane: Option<(Value, (u8, bool))>,
    /// The vector of which two lanes are in the scratch register, while lanes are stored one after the other, and which two.
    pub(super) upper: Option<(Value, u8)>,
    /// Where the second result of the call in the line before is.
    pub(super) second: Slot,
    /// The integer that the flags belong to.
    pub(super) flags_of: Option<Value>,
    /// Failed guards: the place of the distance of the jump, the guard.
    pub(super) exits: Vec<(usize, u16)>,
    /// Where open loops begin, with the values in registers and parameters in the frame there.
    pub(super) open: Vec<Head>,
}

fn length(function: &Function, lanes: u8) -> Length {
    match u32::from(lanes) * function.bytes {
        32 => Length::Ymm,
        64 => Length::Zmm,
        _ => Length::Xmm,
    }
}

impl<'f> Writer<'f> {
    pub(super) fn new(function: &'f Function, lifetimes: &'f Lifetimes, vex: bool) -> Writer<'f> {
        let count = function.kinds.len() + function.pool.len();
        let code = Vec::with_capacity(16 * function.len() + 256);
        let bytes = Bytes { code, vex, pooled: Vec::new(), upper: false, flags: false };
        let of_kinds = function.kinds.iter().map(|kind| match kind {
            Kind::Integer => Length::Xmm,
            Kind::Numbers(lanes) => length(function, *lanes),
        });
        let lengths = of_kinds.chain(function.pool.iter().map(|(_, lanes)| length(function, *lanes)));
        Writer {
            function,
            lifetimes,
            bytes,
            left: lifetimes.next.len(),
            held: [[None; 16]; 2],
            until: [[NEVER; 16]; 2],
            free: USABLE,
            locked: [0; 2],
            register: vec![NOWHERE; count],
            slot: vec![NO_SLOT; count],
            next: vec![NEVER; count],
            hint: vec![NOWHERE; count],
            is_parameter: vec![false; count],
            vacant: Default::default(),
            leaving: Vec::new(),
            frame: function.memory as i32,
            has_vectors_in_frame: function.memory > 0,
            touched: 0,
            pool: function.pool.clone(),
            masks: Vec::new(),
            longest: lengths.max().unwrap_or(Length::Xmm),
            folded: None,
            stored_lane: None,
            upper: None,
            second: NO_SLOT,
            flags_of: None,
            exits: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Number of registers of a class.
    pub(super) fn registers(class: usize) -> u32 {
        USABLE[class].count_ones()
    }

    #[inline(always)]
    pub(super) fn at(&self, value: Value) -> usize {
        place(self.function, value)
    }

    #[inline(always)]
    pub(super) fn class(&self, value: Value) -> usize {
        super::lifetimes::class(self.function, value)
    }

    /// Reads the next use of the next operand or result.
    #[inline(always)]
    pub(super) fn take(&mut self, value: Value) {
        self.left -= 1;
        self.set_next(value, self.lifetimes.next[self.left]);
    }

    /// Sets the next use of a value.
    #[inline(always)]
    pub(super) fn set_next(&mut self, value: Value, next: u32) {
        let at = self.at(value);
        self.next[at] = next;
        let register = self.register[at];
        if register != NOWHERE {
            self.until[self.class(value)][register as usize] = next;
        }
    }

    /// Reads the next use of an operand of the present line, and keeps it in its register, if it is in one: a last use looks like none.
    #[inline(always)]
    pub(super) fn take_operand(&mut self, value: Value) {
        self.left -= 1;
        let (at, next) = (self.at(value), self.lifetimes.next[self.left]);
        self.next[at] = next;
        let register = self.register[at];
        if register != NOWHERE {
            let class = self.class(value);
            self.until[class][register as usize] = next;
            self.locked[class] |= 1 << register;
        }
    }

    /// Bytes of a value.
    pub(super) fn size(&self, value: Value) -> i32 {
        match self.function.kind(value) {
            Kind::Integer => 8,
            Kind::Numbers(lanes) => lanes as i32 * self.function.bytes as i32,
        }
    }

    /// A place in the frame for so many bytes.
    pub(super) fn new_slot(&mut self, size: i32) -> Slot {
        let group = if size <= 8 { 0 } else { (size as u32 / 16).trailing_zeros() as usize + 1 };
        self.has_vectors_in_frame |= size >= 32;
        if let Some(slot) = self.vacant[group].pop() {
            return slot;
        }
        let size = 8 << group;
        let start = (self.frame + size - 1) / size * size;
        self.frame = start + size;
        start
    }

    /// Takes back a place in the frame with the next line.
    pub(super) fn vacate(&mut self, slot: Slot, size: i32) {
        self.leaving.push((slot, size));
    }

    /// Begins a line: no register is locked, and slots of values that ended with the line before are free.
    #[inline(always)]
    pub(super) fn next_line(&mut self) {
        self.locked = [0; 2];
        while let Some((slot, size)) = self.leaving.pop() {
            let group = if size <= 8 { 0 } else { (size as u32 / 16).trailing_zeros() as usize + 1 };
            self.vacant[group].push(slot);
        }
    }

    /// Puts a value into a register that is free.
    pub(super) fn hold(&mut self, value: Value, class: usize, register: u8) {
        let at = self.at(value);
        self.register[at] = register;
        self.held[class][register as usize] = Some(value);
        self.until[class][register as usize] = self.next[at];
        self.free[class] &= !(1 << register);
        if class == INTEGERS {
            self.touched |= 1 << register;
        }
    }

    /// Empties a register.
    pub(super) fn empty(&mut self, class: usize, register: u8) {
        if let Some(value) = self.held[class][register as usize].take() {
            let at = self.at(value);
            if self.register[at] == register {
                self.register[at] = NOWHERE;
            }
        }
        self.free[class] |= 1 << register;
    }

    /// Frees what a value that is not used any more occupies.
    #[inline(always)]
    pub(super) fn release(&mut self, value: Value) {
        let at = self.at(value);
        if self.next[at] == NEVER {
            self.drop_value(value, at);
        }
    }

    pub(super) fn drop_value(&mut self, value: Value, at: usize) {
        let class = self.class(value);
        if self.register[at] != NOWHERE {
            self.empty(class, self.register[at]);
        }
        if self.slot[at] != NO_SLOT && !self.is_parameter[at] {
            let slot = std::mem::replace(&mut self.slot[at], NO_SLOT);
            self.vacate(slot, self.size(value));
        }
    }

    /// Whether a value can be had without a register.
    pub(super) fn is_kept(&self, value: Value) -> bool {
        value.pool().is_some() || self.slot[self.at(value)] != NO_SLOT
    }

    /// Writes a value to the frame if it is nowhere but in its register.
    pub(super) fn keep(&mut self, value: Value) {
        if self.is_kept(value) {
            return;
        }
        let slot = self.new_slot(self.size(value));
        let at = self.at(value);
        self.slot[at] = slot;
        self.store_to(Rm::frame(slot), value, self.register[at]);
    }

    /// Frees a register whose value is used later.
    pub(super) fn evict(&mut self, class: usize, register: u8) {
        if let Some(value) = self.held[class][register as usize] {
            self.keep(value);
            self.empty(class, register);
        }
    }

    /// A free register. Another value makes place if necessary.
    pub(super) fn allocate(&mut self, class: usize, hint: u8) -> u8 {
        let free = self.free[class];
        if hint != NOWHERE && free & 1 << hint != 0 {
            return hint;
        }
        if free != 0 {
            if class == NUMBERS {
                return free.trailing_zeros() as u8;
            }
            let order = RESTORED_LAST;
            let wanted = |register: &u8| free & 1 << register != 0;
            let found = if self.lifetimes.calls {
                order.iter().rev().copied().find(wanted)
            } else {
                order.iter().copied().find(wanted)
            };
            return found.expect("a usable register is free");
        }
        let mut taken = USABLE[class] & !self.locked[class];
        let is_kept = |register: u8| self.held[class][register as usize].is_some_and(|value| self.is_kept(value));
        let mut best = None;
        while taken != 0 {
            let register = taken.trailing_zeros() as u8;
            taken &= taken - 1;
            let until = self.until[class][register as usize];
            // Of those with the same next use, one that need not be stored is better.
            if best.is_none_or(|(most, other)| until > most || until == most && is_kept(register) && !is_kept(other)) {
                best = Some((until, register));
            }
        }
        let (_, register) = best.expect("a line has fewer operands than there are registers");
        self.evict(class, register);
        register
    }

    /// Where a value is, if it is in memory.
    pub(super) fn memory_of(&self, value: Value) -> Rm {
        match value.pool() {
            Some(constant) => Rm::Pool(constant as u32),
            None => Rm::frame(self.slot[self.at(value)]),
        }
    }

    /// Loads a value that is in memory into a register. Leaves the flags as they are.
    pub(super) fn load_into(&mut self, register: u8, value: Value) {
        if value.pool().is_some_and(|constant| self.pool[constant].0 == 0) {
            return self.clear(register);
        }
        let from = self.memory_of(value);
        match self.function.kind(value) {
            Kind::Integer => self.bytes.load(register, from),
            Kind::Numbers(lanes) => self.load_numbers(lanes, register, from),
        }
    }

    /// A register in which a value is, which keeps it for this line.
    pub(super) fn in_register(&mut self, value: Value) -> u8 {
        let (at, class) = (self.at(value), self.class(value));
        if self.register[at] == NOWHERE {
            let register = self.allocate(class, self.hint[at]);
            self.load_into(register, value);
            self.hold(value, class, register);
        }
        self.locked[class] |= 1 << self.register[at];
        self.register[at]
    }

    /// A register with a number, or its place in memory.
    pub(super) fn operand(&mut self, value: Value) -> Rm {
        if let Some((folded, rm)) = self.folded
            && folded == value
        {
            return rm;
        }
        let at = self.at(value);
        if self.register[at] == NOWHERE {
            let lasts = self.next[at] != NEVER && value.pool().is_none();
            if !lasts || self.free[NUMBERS] == 0 {
                return self.memory_of(value);
            }
        }
        Rm::Register(self.in_register(value))
    }

    /// A register for the result of a line, after its operands were released.
    pub(super) fn define(&mut self, result: Value) -> u8 {
        self.define_in(result, NOWHERE)
    }

    /// The same; the result should go to this register if no other is better.
    pub(super) fn define_in(&mut self, result: Value, wanted: u8) -> u8 {
        self.take(result);
        let (at, class) = (self.at(result), self.class(result));
        let hint = self.hint[at];
        let hint = if hint != NOWHERE && self.free[class] & 1 << hint != 0 { hint } else { wanted };
        let register = self.allocate(class, hint);
        self.hold(result, class, register);
        self.locked[class] |= 1 << register;
        register
    }

    /// Prefix of arithmetic on so many numbers.
    pub(super) fn prefix(&self, lanes: u8) -> u8 {
        match (self.function.bytes, lanes) {
            (8, 1) => 3,
            (_, 1) => 2,
            (8, _) => 1,
            _ => 0,
        }
    }

    /// Prefix of instructions on whole registers.
    pub(super) fn packed(&self) -> u8 {
        if self.function.bytes == 8 { 1 } else { 0 }
    }

    /// The length of so many numbers.
    pub(super) fn length(&self, lanes: u8) -> Length {
        length(self.function, lanes)
    }

    /// Copies a register.
    pub(super) fn copy(&mut self, length: Length, to: u8, from: u8) {
        if to != from {
            self.bytes.simd(Simd::new(0, 1, 0x28), length, to, 0, Rm::Register(from), None);
        }
    }

    /// Sets a register to 0.
    pub(super) fn clear(&mut self, register: u8) {
        self.bytes.simd(Simd::new(0, 1, 0x57), Length::Xmm, register, register, Rm::Register(register), None);
    }

    pub(super) fn load_numbers(&mut self, lanes: u8, register: u8, from: Rm) {
        let simd = Simd::new(self.prefix(lanes), 1, 0x10);
        self.bytes.simd(simd, self.length(lanes), register, 0, from, None);
    }

    pub(super) fn store_numbers(&mut self, lanes: u8, to: Rm, register: u8) {
        let simd = Simd::new(self.prefix(lanes), 1, 0x11);
        self.bytes.simd(simd, self.length(lanes), register, 0, to, None);
    }

    /// Stores a register as a value. Leaves the flags as they are.
    pub(super) fn store_to(&mut self, to: Rm, value: Value, register: u8) {
        match self.function.kind(value) {
            Kind::Integer => self.bytes.store(to, register),
            Kind::Numbers(lanes) => self.store_numbers(lanes, to, register),
        }
    }

    /// A constant of these bits in 16, 32 or 64 bytes.
    pub(super) fn mask(&mut self, bits: u64, lanes: u8) -> Rm {
        let lanes = lanes.max((16 / self.function.bytes) as u8);
        let known = self.masks.iter().find(|mask| self.pool[**mask as usize] == (bits, lanes)).copied();
        Rm::Pool(known.unwrap_or_else(|| {
            self.pool.push((bits, lanes));
            let mask = self.pool.len() as u32 - 1;
            self.masks.push(mask);
            mask
        }))
    }
}
