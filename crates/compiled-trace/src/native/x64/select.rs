//! Instructions for every line.
//!
//! Called by `mod` for one line after the other.

use super::super::code::{Arithmetic, Both, Condition, Kind, Line, Operation, Place, Simple, Value};
use super::encode::{Length, MASK, RAX, RDI, RSI, Rm, Simd};
use super::lifetimes::{INTEGERS, NEVER, NUMBERS};
use super::registers::{NO_SLOT, NOWHERE, PRESERVED, SCRATCH, Writer};
use crate::recording::graph::Outcome;

const AND: u8 = 0x54;
const OR: u8 = 0x56;
const XOR: u8 = 0x57;
const MIN: u8 = 0x5D;
const MAX: u8 = 0x5F;
const COMPARE: u8 = 0xC2;

/// Numbers of comparisons in instructions.
const EQUAL: u8 = 0;
const LESS: u8 = 1;
const LESS_OR_EQUAL: u8 = 2;
const UNORDERED: u8 = 3;
const NOT_EQUAL: u8 = 4;

impl Writer<'_> {
    /// Writes a line.
    #[inline(always)]
    pub(super) fn line(&mut self, i: usize) {
        self.next_line();
        let Line { operation, result } = self.function.lines[i];
        if matches!(operation, Operation::Begin(_) | Operation::End(_)) {
            self.upper = None;
        }
        match operation {
            Operation::Begin(number) => return self.begin(number),
            Operation::End(number) => return self.end(number),
            _ => {}
        }
        let function = self.function;
        function.operands(&operation, |value| {
            self.take_operand(value);
        });
        match (operation, result) {
            (Operation::Store(place, value), _) if self.stored_lane.is_some_and(|(lane, _)| lane == value) => {
                self.store_lane(place, value);
            }
            (Operation::Store(place, value), _) => {
                let register = self.in_register(value);
                let to = self.place(place);
                self.store_numbers(function.lanes(value), to, register);
                self.release(value);
                self.release_place(place);
            }
            (Operation::Guard(outcome, x, y, guard), _) => self.guard(outcome, x, y, guard),
            (_, None) => {}
            (Operation::Integer(value), Some(result)) => {
                let register = self.define(result);
                self.bytes.set(register, value);
            }
            (Operation::Memory(start), Some(result)) => {
                let register = self.define(result);
                self.bytes.address(register, Rm::frame(start as i32));
            }
            (Operation::LoadInteger(place), Some(result)) => {
                let from = self.place(place);
                self.release_place(place);
                let register = self.define(result);
                self.bytes.load(register, from);
            }
            (Operation::LoadIndex(place), Some(result)) => {
                let from = self.place(place);
                self.release_place(place);
                let register = self.define(result);
                self.bytes.general(&[0x8B], false, register, from, 0);
            }
            (Operation::AddIntegers(x, y), Some(result)) => self.add_integers(x, y, result),
            (Operation::AddConstant(x, constant), Some(result)) => self.add_constant(x, constant, result),
            (Operation::Scale(x, factor), Some(result)) => {
                let from = self.in_register(x);
                self.release(x);
                let register = self.define(result);
                match i32::try_from(factor) {
                    Ok(factor) => self.bytes.multiply_constant(register, Rm::Register(from), factor),
                    Err(_) => {
                        self.bytes.set(RAX, factor);
                        self.bytes.multiply(RAX, from);
                        self.bytes.load(register, Rm::Register(RAX));
                    }
                }
            }
            (Operation::Double(x, times), Some(result)) => {
                let from = self.in_register(x);
                self.release(x);
                let register = self.define_in(result, from);
                if register != from {
                    self.bytes.load(register, Rm::Register(from));
                }
                self.bytes.shift_left(register, times);
            }
            (Operation::Load(place), Some(result)) => self.load(i, place, result),
            (Operation::Arithmetic(which, x, y), Some(result)) => self.arithmetic(which, x, y, result),
            (Operation::Simple(which, x), Some(result)) => self.simple(which, x, result),
            (Operation::CopySign(magnitude, sign), Some(result)) => self.copy_sign(magnitude, sign, result),
            (Operation::Choose(condition, all), Some(result)) => self.choose(condition, all, result),
            (Operation::Splat(x), Some(result)) => self.splat(x, result),
            (Operation::Lane(vector, lane), Some(result)) => self.lane(i, vector, lane, result),
            (Operation::Join { start, count }, Some(result)) => {
                self.join(&function.joined[start as usize..][..count as usize], result);
            }
            (Operation::Later(before, now, ahead), Some(result)) => self.later(before, now, ahead, result),
            (Operation::Call(call), Some(result)) => self.call(i, call, result),
            (Operation::Second(first), Some(result)) => self.second(first, result),
            (Operation::Begin(_) | Operation::End(_), _) => {}
        }
        if !matches!(operation, Operation::Load(_)) {
            self.folded = None;
        }
        if !matches!(operation, Operation::Lane(..) | Operation::Store(..)) {
            self.upper = None;
        }
    }

    /// A place with its integers in registers.
    pub(super) fn place(&mut self, place: Place) -> Rm {
        let base = self.in_register(place.base);
        let index = place.index.map(|index| self.in_register(index));
        Rm::Memory { base, index, shift: place.shift }
    }

    pub(super) fn release_place(&mut self, place: Place) {
        self.release(place.base);
        if let Some(index) = place.index {
            self.release(index);
        }
    }

    fn add_integers(&mut self, x: Value, y: Value, result: Value) {
        let (base, index) = (self.in_register(x), self.in_register(y));
        self.release(x);
        self.release(y);
        let register = self.define_in(result, base);
        if register == base {
            self.bytes.add(register, index);
        } else {
            self.bytes.address(register, Rm::Memory { base, index: Some(index), shift: 0 });
        }
    }

    fn add_constant(&mut self, x: Value, constant: i64, result: Value) {
        let base = self.in_register(x);
        self.release(x);
        let register = self.define_in(result, base);
        match i32::try_from(constant) {
            Ok(constant) if register == base => {
                self.bytes.add_constant(register, constant);
                self.bytes.flags = true;
                self.flags_of = Some(result);
            }
            Ok(shift) => self.bytes.address(register, Rm::Memory { base, index: None, shift }),
            Err(_) => {
                self.bytes.set(RAX, constant);
                self.bytes.address(register, Rm::Memory { base: RAX, index: Some(base), shift: 0 });
            }
        }
    }

    /// Loads numbers, unless the next line can take them from memory itself.
    fn load(&mut self, i: usize, place: Place, result: Value) {
        let from = self.place(place);
        let lanes = self.function.lanes(result);
        // In the two-operand encoding, vectors in memory have to be aligned.
        if self.lifetimes.uses[result.index()] == 1 && (lanes == 1 || self.bytes.vex) {
            let mut following = i + 1;
            while self.lifetimes.idle.get(following) == Some(&true) {
                following += 1;
            }
            let takes = match self.function.lines.get(following).map(|line| line.operation) {
                Some(Operation::Arithmetic(which, x, y)) => {
                    y == result || x == result && matches!(which, Arithmetic::Add | Arithmetic::Multiply)
                }
                Some(Operation::Splat(_)) => self.bytes.vex,
                _ => false,
            };
            if takes && !matches!(self.function.lines[following].operation, Operation::Splat(x) if x != result) {
                self.release_place(place);
                self.take(result);
                self.folded = Some((result, from));
                return;
            }
        }
        self.release_place(place);
        let register = self.define(result);
        self.load_numbers(lanes, register, from);
    }

    /// An instruction of two numbers: result = first, operand. In the two-operand encoding the first is copied.
    pub(super) fn two(&mut self, simd: Simd, length: Length, register: u8, first: u8, rm: Rm, immediate: Option<u8>) {
        if self.bytes.vex {
            return self.bytes.simd(simd, length, register, first, rm, immediate);
        }
        let mut rm = rm;
        if register != first && rm == Rm::Register(register) {
            self.copy(Length::Xmm, SCRATCH, register);
            rm = Rm::Register(SCRATCH);
        }
        self.copy(Length::Xmm, register, first);
        self.bytes.simd(simd, Length::Xmm, register, first, rm, immediate);
    }

    fn arithmetic(&mut self, which: Arithmetic, x: Value, y: Value, result: Value) {
        let (opcode, commutes) = match which {
            Arithmetic::Add => (0x58, true),
            Arithmetic::Multiply => (0x59, true),
            Arithmetic::Subtract => (0x5C, false),
            Arithmetic::Divide => (0x5E, false),
        };
        let is_negation = x.pool().is_some_and(|constant| self.pool[constant].0 == self.sign_bit());
        if which == Arithmetic::Subtract && is_negation {
            return self.negate(y, result);
        }
        let (mut x, mut y) = (x, y);
        if commutes && x != y {
            let in_memory = |this: &Self, value: Value| {
                this.folded.is_some_and(|(folded, _)| folded == value) || this.register[this.at(value)] == NOWHERE
            };
            let (first, second) = (in_memory(self, x), in_memory(self, y));
            // The first one is better in a register, which the result can take over.
            let is_over = |this: &Self, value: Value| this.next[this.at(value)] == NEVER;
            let swap = if first != second { first } else { !first && !is_over(self, x) && is_over(self, y) };
            let folded = self.folded.is_some_and(|(folded, _)| folded == y);
            if swap && !folded || self.folded.is_some_and(|(folded, _)| folded == x) {
                std::mem::swap(&mut x, &mut y);
            }
        }
        let first = self.in_register(x);
        let rm = self.operand(y);
        self.release(x);
        self.release(y);
        let lanes = self.function.lanes(result);
        let register = self.define_in(result, first);
        self.two(Simd::new(self.prefix(lanes), 1, opcode), self.length(lanes), register, first, rm, None);
    }

    /// -0 - x: the other sign.
    fn negate(&mut self, x: Value, result: Value) {
        let lanes = self.function.lanes(result);
        let (register, from) = match self.folded {
            Some((folded, rm)) if folded == x => {
                let register = self.define(result);
                self.load_numbers(lanes, register, rm);
                (register, register)
            }
            _ => {
                let from = self.in_register(x);
                self.release(x);
                (self.define_in(result, from), from)
            }
        };
        let mask = self.mask(self.sign_bit(), lanes);
        self.two(Simd::new(self.packed(), 1, XOR), self.length(lanes), register, from, mask, None);
    }

    fn sign_bit(&self) -> u64 {
        if self.function.bytes == 8 { 1 << 63 } else { 1 << 31 }
    }

    fn simple(&mut self, which: Simple, x: Value, result: Value) {
        let lanes = self.function.lanes(result);
        let length = self.length(lanes);
        let from = self.in_register(x);
        self.release(x);
        let register = self.define_in(result, from);
        let single = lanes == 1;
        let rm = Rm::Register(from);
        match which {
            Simple::Sqrt => self.bytes.simd(
                Simd::new(self.prefix(lanes), 1, 0x51),
                length,
                register,
                if single { from } else { 0 },
                rm,
                None,
            ),
            Simple::Abs => {
                let bits = self.sign_bit() - 1;
                let mask = self.mask(bits, lanes);
                self.two(Simd::new(self.packed(), 1, AND), length, register, from, mask, None);
            }
            Simple::Floor | Simple::Ceil | Simple::Trunc => {
                let how = match which {
                    Simple::Floor => 9,
                    Simple::Ceil => 10,
                    _ => 11,
                };
                let opcode = 8 + 2 * single as u8 + (self.function.bytes == 8) as u8;
                self.bytes.simd(
                    Simd::new(1, 3, opcode),
                    length,
                    register,
                    if single { from } else { 0 },
                    rm,
                    Some(how),
                );
            }
        }
    }

    fn copy_sign(&mut self, magnitude: Value, sign: Value, result: Value) {
        let lanes = self.function.lanes(result);
        let length = self.length(lanes);
        let (magnitude_in, sign_in) = (self.in_register(magnitude), self.in_register(sign));
        let bit = self.sign_bit();
        let (bit, rest) = (self.mask(bit, lanes), self.mask(bit - 1, lanes));
        let simd = |opcode: u8| Simd::new(self.packed(), 1, opcode);
        let (and, or) = (simd(AND), simd(OR));
        self.two(and, length, SCRATCH, sign_in, bit, None);
        self.release(magnitude);
        self.release(sign);
        let register = self.define_in(result, magnitude_in);
        self.two(and, length, register, magnitude_in, rest, None);
        self.two(or, length, register, register, Rm::Register(SCRATCH), None);
    }

    /// Compares, with all bits of a lane set where it holds. For vectors of 64 bytes the register is that of a mask.
    fn compare(&mut self, condition: Condition, lanes: u8, register: u8, left: u8, right: u8) {
        let (left, right, number) = match condition {
            Condition::Less => (left, right, LESS),
            Condition::LessOrEqual => (left, right, LESS_OR_EQUAL),
            Condition::Greater => (right, left, LESS),
            Condition::GreaterOrEqual => (right, left, LESS_OR_EQUAL),
            Condition::Equal => (left, right, EQUAL),
            Condition::NotEqual => (left, right, NOT_EQUAL),
            Condition::Unordered => (left, right, UNORDERED),
        };
        let simd = Simd::new(self.prefix(lanes), 1, COMPARE);
        self.two(simd, self.length(lanes), register, left, Rm::Register(right), Some(number));
    }

    fn choose(&mut self, condition: Condition, all: [Value; 4], result: Value) {
        let [left, right, then, otherwise] = all;
        let lanes = self.function.lanes(result);
        let length = self.length(lanes);
        let registers = all.map(|value| self.in_register(value));
        let [left_in, right_in, then_in, otherwise_in] = registers;
        // The instruction for maxima returns its second operand if neither is greater.
        let extreme = match condition {
            Condition::Greater if (then, otherwise) == (left, right) => Some((MAX, left_in, right_in)),
            Condition::Less if (then, otherwise) == (left, right) => Some((MIN, left_in, right_in)),
            Condition::Less if (then, otherwise) == (right, left) => Some((MAX, right_in, left_in)),
            Condition::Greater if (then, otherwise) == (right, left) => Some((MIN, right_in, left_in)),
            _ => None,
        };
        if let Some((opcode, first, second)) = extreme {
            all.iter().for_each(|value| self.release(*value));
            let register = self.define_in(result, first);
            self.two(Simd::new(self.prefix(lanes), 1, opcode), length, register, first, Rm::Register(second), None);
            return;
        }
        self.compare(condition, lanes, self.outcomes(lanes), left_in, right_in);
        if length == Length::Zmm {
            all.iter().for_each(|value| self.release(*value));
            let register = self.define(result);
            self.bytes.masked(Simd::new(1, 2, 0x65), register, otherwise_in, Rm::Register(then_in), None, MASK);
            return;
        }
        if self.bytes.vex {
            all.iter().for_each(|value| self.release(*value));
            let register = self.define(result);
            let opcode = if self.function.bytes == 8 { 0x4B } else { 0x4A };
            let blend = Simd::new(1, 3, opcode);
            self.bytes.simd(blend, length, register, otherwise_in, Rm::Register(then_in), Some(SCRATCH << 4));
            return;
        }
        // otherwise ^ ((then ^ otherwise) & mask), in a register of its own.
        let register = self.define(result);
        self.copy(Length::Xmm, register, then_in);
        for (opcode, with) in [(XOR, otherwise_in), (AND, SCRATCH), (XOR, otherwise_in)] {
            self.bytes.simd(Simd::new(0, 1, opcode), Length::Xmm, register, 0, Rm::Register(with), None);
        }
        all.iter().for_each(|value| self.release(*value));
    }

    fn guard(&mut self, outcome: Outcome, x: Value, y: Value, guard: u16) {
        let lanes = self.function.lanes(x);
        let length = self.length(lanes);
        let (left, right) = (self.in_register(x), self.in_register(y));
        let condition = match outcome {
            Outcome::Less => Some(Condition::Less),
            Outcome::Equal => Some(Condition::Equal),
            Outcome::Greater => Some(Condition::Greater),
            Outcome::Unordered => Some(Condition::Unordered),
            Outcome::Same => None,
        };
        match condition {
            Some(condition) => self.compare(condition, lanes, self.outcomes(lanes), left, right),
            None if length == Length::Zmm => self.same_bits_by_masks(lanes, left, right),
            None => self.same_bits(lanes, left, right),
        }
        self.release(x);
        self.release(y);
        // One bit of each lane.
        if length == Length::Zmm {
            self.bytes.load_mask(MASK);
        } else {
            self.bytes.simd(Simd::new(self.packed(), 1, 0x50), length, RAX, 0, Rm::Register(SCRATCH), None);
        }
        let exit = if lanes == 1 {
            self.bytes.test_lowest_bit();
            self.bytes.forward_if(true)
        } else {
            self.bytes.compare_lowest_byte(((1u32 << lanes) - 1) as u8);
            self.bytes.forward_if(false)
        };
        self.exits.push((exit, guard));
    }

    /// The register for the outcomes of a comparison within one line.
    fn outcomes(&self, lanes: u8) -> u8 {
        if self.length(lanes) == Length::Zmm { MASK } else { SCRATCH }
    }

    /// Sets the mask where two numbers have the same bits or are both NaN, in vectors of 64 bytes.
    fn same_bits_by_masks(&mut self, lanes: u8, left: u8, right: u8) {
        let (one, other) = (MASK + 1, MASK + 2);
        self.bytes.masked(Simd::new(1, 2, 0x29), MASK, left, Rm::Register(right), None, 0);
        self.compare(Condition::Unordered, lanes, one, left, left);
        self.compare(Condition::Unordered, lanes, other, right, right);
        self.bytes.combine_masks(true, one, other);
        self.bytes.combine_masks(false, MASK, one);
    }

    /// Sets the lanes of the scratch register where two numbers have the same bits or are both NaN.
    fn same_bits(&mut self, lanes: u8, left: u8, right: u8) {
        let length = self.length(lanes);
        let one = self.allocate(NUMBERS, NOWHERE);
        self.locked[NUMBERS] |= 1 << one;
        self.free[NUMBERS] &= !(1 << one);
        let other = self.allocate(NUMBERS, NOWHERE);
        self.free[NUMBERS] |= 1 << one;
        let packed = self.packed();
        self.two(Simd::new(1, 1, 0x76), length, SCRATCH, left, Rm::Register(right), None);
        if self.function.bytes == 8 {
            // Both halves are the same.
            self.bytes.simd(Simd::new(1, 1, 0x70), length, one, 0, Rm::Register(SCRATCH), Some(0xB1));
            self.two(Simd::new(1, 1, 0xDB), length, SCRATCH, SCRATCH, Rm::Register(one), None);
        }
        self.compare(Condition::Unordered, lanes, one, left, left);
        self.compare(Condition::Unordered, lanes, other, right, right);
        self.two(Simd::new(packed, 1, AND), length, one, one, Rm::Register(other), None);
        self.two(Simd::new(packed, 1, OR), length, SCRATCH, SCRATCH, Rm::Register(one), None);
    }

    /// Calls a function of the System V convention: numbers in `xmm0` and `xmm1`, vectors of 32 and 64 bytes in all of `ymm0` and `zmm0`, the rules and the number of one in `rdi` and `rsi`.
    ///
    /// A function that has a second result writes it, or both, to places in the frame.
    fn call(&mut self, i: usize, number: u32, result: Value) {
        let call = self.function.calls[number as usize];
        let arguments = &call.arguments[..call.count as usize];
        let length = self.length(call.lanes);
        let second = call.second.filter(|_| self.lifetimes.idle.get(i + 1) == Some(&false));
        for register in 0..16u8 {
            if PRESERVED & 1 << register == 0 {
                self.evict(INTEGERS, register);
            }
            if let Some(value) = self.held[NUMBERS][register as usize]
                && self.next[self.at(value)] != NEVER
            {
                self.keep(value);
            }
        }
        let place = |this: &Self, value: Value| match this.register[this.at(value)] {
            NOWHERE => this.memory_of(value),
            register => Rm::Register(register),
        };
        let move_to = |this: &mut Self, to: u8, from: Rm| match from {
            Rm::Register(from) => this.copy(length, to, from),
            from => this.load_numbers(call.lanes, to, from),
        };
        match *arguments {
            [x] => {
                let x = place(self, x);
                move_to(self, 0, x);
            }
            [x, y] => {
                let (x, mut y) = (place(self, x), place(self, y));
                if y == Rm::Register(0) {
                    move_to(self, SCRATCH, y);
                    y = Rm::Register(SCRATCH);
                }
                if x == Rm::Register(1) {
                    move_to(self, 0, x);
                    move_to(self, 1, y);
                } else {
                    move_to(self, 1, y);
                    move_to(self, 0, x);
                }
            }
            _ => {}
        }
        if let Some(rules) = call.rules {
            self.bytes.set(RDI, rules as i64);
            self.bytes.set(RSI, call.rule as i64);
        }
        for register in 0..16 {
            self.empty_number(register);
        }
        arguments.iter().for_each(|value| self.release(*value));
        let mut address = call.address;
        let mut first = NO_SLOT;
        if let Some(second) = second {
            let size = call.lanes as i32 * self.function.bytes as i32;
            self.second = self.new_slot(size);
            match second.both {
                Both::Returns(both) => {
                    address = both;
                    self.bytes.address(RDI, Rm::frame(self.second));
                }
                Both::Writes { address: both, is_swapped } => {
                    address = both;
                    first = self.new_slot(size);
                    let (to_first, to_second) = if is_swapped { (RSI, RDI) } else { (RDI, RSI) };
                    self.bytes.address(to_first, Rm::frame(first));
                    self.bytes.address(to_second, Rm::frame(self.second));
                }
            }
        }
        self.bytes.set(RAX, address as i64);
        if self.bytes.upper && length == Length::Xmm {
            self.bytes.clear_upper_halves();
        }
        self.bytes.call(RAX);
        self.bytes.upper |= length > Length::Xmm;
        self.take(result);
        debug_assert!(self.function.kind(result) == Kind::Numbers(call.lanes));
        if first == NO_SLOT {
            self.hold(result, NUMBERS, 0);
        } else {
            let at = self.at(result);
            self.slot[at] = first;
        }
        self.release(result);
    }

    /// The second result of the call in the line before, which is in the frame.
    fn second(&mut self, first: Value, result: Value) {
        self.release(first);
        self.take(result);
        let at = self.at(result);
        self.slot[at] = self.second;
    }

    fn empty_number(&mut self, register: u8) {
        if register != SCRATCH {
            self.empty(NUMBERS, register);
        }
    }
}
