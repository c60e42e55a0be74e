//! Instructions that move numbers between lanes: one number to all, lanes to numbers and back, neighbouring vectors.
//!
//! Called by `select`.

use super::super::code::{Operation, Place, Value};
use super::encode::{BROADCAST, Length, Rm, Simd};
use super::lifetimes::NUMBERS;
use super::registers::{NOWHERE, SCRATCH, Writer};

const UNPACK_LOW: u8 = 0x14;
const UNPACK_HIGH: u8 = 0x15;
const SHUFFLE: u8 = 0xC6;
const OR: u8 = 0x56;
/// Takes 16 bytes out of a register of 32 or 64.
const EXTRACT: Simd = Simd::new(1, 3, 0x19);

impl Writer<'_> {
    pub(super) fn splat(&mut self, x: Value, result: Value) {
        let lanes = self.function.lanes(result);
        let length = self.length(lanes);
        let double = self.function.bytes == 8;
        if self.bytes.vex {
            let from = match self.folded {
                Some((folded, rm)) if folded == x => rm,
                _ => Rm::Register(self.in_register(x)),
            };
            self.release(x);
            let register = self.define(result);
            let simd = match (double, length) {
                (false, _) => Simd::new(1, 2, 0x18),
                (true, Length::Xmm) => Simd::new(3, 1, 0x12),
                (true, _) => BROADCAST,
            };
            return self.bytes.simd(simd, length, register, 0, from, None);
        }
        let from = self.in_register(x);
        self.release(x);
        let register = self.define_in(result, from);
        self.copy(Length::Xmm, register, from);
        self.spread(register, 0);
    }

    /// Copies a lane of a register of 16 bytes to all of them, in the two-operand encoding.
    fn spread(&mut self, register: u8, lane: u8) {
        let (prefix, how) = if self.function.bytes == 8 { (1, lane * 3) } else { (0, lane * 0x55) };
        let shuffle = Simd::new(prefix, 1, SHUFFLE);
        self.bytes.simd(shuffle, Length::Xmm, register, register, Rm::Register(register), Some(how));
    }

    /// Stores a lane that is not in a register of its own.
    pub(super) fn store_lane(&mut self, place: Place, value: Value) {
        let Some((_, (register, is_second))) = self.stored_lane.take() else { return };
        let to = self.place(place);
        if is_second {
            self.bytes.simd(Simd::new(1, 1, 0x17), Length::Xmm, register, 0, to, None);
        } else {
            self.store_numbers(1, to, register);
        }
        self.release(value);
        self.release_place(place);
    }

    /// Takes a lane of a vector of doubles for the next line, which stores it from the vector's register.
    fn lane_for_store(&mut self, vector: Value, lane: u8, result: Value) {
        let mut register = self.in_register(vector);
        let two = lane / 2;
        if two > 0 {
            if self.upper != Some((vector, two)) {
                let length = self.length(self.function.lanes(vector));
                self.bytes.simd(EXTRACT, length, register, 0, Rm::Register(SCRATCH), Some(two));
                self.upper = Some((vector, two));
            }
            register = SCRATCH;
        }
        // The vector's register keeps its contents until the next line, which needs general registers only.
        self.release(vector);
        self.take(result);
        self.stored_lane = Some((result, (register, lane % 2 == 1)));
    }

    pub(super) fn lane(&mut self, i: usize, vector: Value, lane: u8, result: Value) {
        let is_stored = || match self.function.lines.get(i + 1).map(|line| line.operation) {
            Some(Operation::Store(_, value)) => value == result && self.lifetimes.uses[result.index()] == 1,
            _ => false,
        };
        if self.function.bytes == 8 && is_stored() {
            return self.lane_for_store(vector, lane, result);
        }
        self.upper = None;
        let length = self.length(self.function.lanes(vector));
        let part = (16 / self.function.bytes) as u8;
        let mut from = self.in_register(vector);
        self.release(vector);
        let register = self.define_in(result, if lane == 0 { from } else { NOWHERE });
        if lane >= part {
            let to = if lane.is_multiple_of(part) { register } else { SCRATCH };
            self.bytes.simd(EXTRACT, length, from, 0, Rm::Register(to), Some(lane / part));
            from = to;
        }
        let lane = lane % part;
        if lane == 0 {
            return self.copy(Length::Xmm, register, from);
        }
        let simd = match self.function.bytes {
            8 => Simd::new(1, 1, UNPACK_HIGH),
            _ => Simd::new(0, 1, SHUFFLE),
        };
        let how = (self.function.bytes == 4).then_some(lane * 0x55);
        if self.bytes.vex {
            self.bytes.simd(simd, Length::Xmm, register, from, Rm::Register(from), how);
        } else {
            self.copy(Length::Xmm, register, from);
            self.bytes.simd(simd, Length::Xmm, register, register, Rm::Register(register), how);
        }
    }

    pub(super) fn join(&mut self, values: &[Value], result: Value) {
        let mut registers = [0; 8];
        for (register, value) in registers.iter_mut().zip(values) {
            *register = self.in_register(*value);
        }
        let register = self.define(result);
        let packed = self.packed();
        let unpack = Simd::new(packed, 1, UNPACK_LOW);
        let move_low_to_high = Simd::new(0, 1, 0x16);
        let of = |i: usize| Rm::Register(registers[i]);
        match (self.function.bytes, values.len()) {
            (8, 2) => self.two(unpack, Length::Xmm, register, registers[0], of(1), None),
            (8, 4) => self.join_four([registers[0], registers[1], registers[2], registers[3]], register),
            (8, _) => {
                let upper = self.allocate(NUMBERS, NOWHERE);
                self.join_four([registers[4], registers[5], registers[6], registers[7]], upper);
                self.join_four([registers[0], registers[1], registers[2], registers[3]], register);
                let insert = Simd::new(1, 3, 0x1A);
                self.bytes.simd(insert, Length::Zmm, register, register, Rm::Register(upper), Some(1));
            }
            (_, 4) => {
                self.two(unpack, Length::Xmm, SCRATCH, registers[2], of(3), None);
                self.two(unpack, Length::Xmm, register, registers[0], of(1), None);
                self.two(move_low_to_high, Length::Xmm, register, register, Rm::Register(SCRATCH), None);
            }
            _ => {
                // Inserts one number after the other into each half.
                let insert = Simd::new(1, 3, 0x21);
                for (to, first) in [(SCRATCH, 4), (register, 0)] {
                    self.bytes.simd(insert, Length::Xmm, to, registers[first], of(first + 1), Some(1 << 4));
                    self.bytes.simd(insert, Length::Xmm, to, to, of(first + 2), Some(2 << 4));
                    self.bytes.simd(insert, Length::Xmm, to, to, of(first + 3), Some(3 << 4));
                }
                self.insert_scratch(register);
            }
        }
        values.iter().for_each(|value| self.release(*value));
    }

    /// Four doubles as a vector.
    fn join_four(&mut self, [a, b, c, d]: [u8; 4], register: u8) {
        let unpack = Simd::new(1, 1, UNPACK_LOW);
        self.two(unpack, Length::Xmm, SCRATCH, c, Rm::Register(d), None);
        self.two(unpack, Length::Xmm, register, a, Rm::Register(b), None);
        self.insert_scratch(register);
    }

    /// Copies 16 bytes of the scratch register to the upper half of 32 bytes.
    fn insert_scratch(&mut self, register: u8) {
        self.bytes.simd(Simd::new(1, 3, 0x18), Length::Ymm, register, register, Rm::Register(SCRATCH), Some(1));
    }

    pub(super) fn later(&mut self, before: Value, now: Value, ahead: u8, result: Value) {
        let lanes = self.function.lanes(result);
        let (length, bytes) = (self.length(lanes), self.function.bytes as u8);
        let (first, second) = (self.in_register(before), self.in_register(now));
        let register = self.define(result);
        let skipped = (lanes - ahead) * bytes;
        // Bytes of two registers behind each other, in each half.
        let align = Simd::new(1, 3, 0x0F);
        match (self.bytes.vex, length) {
            (true, Length::Xmm) => self.bytes.simd(align, length, register, second, Rm::Register(first), Some(skipped)),
            (true, Length::Ymm) => {
                // The upper half of the first, the lower half of the second.
                let middle = if skipped == 16 { register } else { SCRATCH };
                self.bytes.simd(Simd::new(1, 3, 0x06), length, middle, first, Rm::Register(second), Some(0x21));
                if skipped < 16 {
                    self.bytes.simd(align, length, register, middle, Rm::Register(first), Some(skipped));
                } else if skipped > 16 {
                    self.bytes.simd(align, length, register, second, Rm::Register(middle), Some(skipped - 16));
                }
            }
            (true, Length::Zmm) => {
                // Doubles of two registers behind each other.
                let align = Simd::new(1, 3, 0x03);
                self.bytes.simd(align, length, register, second, Rm::Register(first), Some(lanes - ahead));
            }
            (false, _) => {
                // Shifts whole registers by bytes: /3 to the right, /7 to the left.
                let shift = Simd::new(1, 1, 0x73);
                self.copy(Length::Xmm, SCRATCH, first);
                self.bytes.simd(shift, Length::Xmm, 3, 0, Rm::Register(SCRATCH), Some(skipped));
                self.copy(Length::Xmm, register, second);
                self.bytes.simd(shift, Length::Xmm, 7, 0, Rm::Register(register), Some(16 - skipped));
                self.bytes.simd(Simd::new(0, 1, OR), Length::Xmm, register, register, Rm::Register(SCRATCH), None);
            }
        }
        self.release(before);
        self.release(now);
    }
}
