//! Operations as machine instructions, on single numbers and on vectors.
//!
//! Called by `emit` for every instruction of a body. Operations with a machine instruction, or a short sequence with exactly
//! the value of the rule, are expanded; every other function is called, lane by lane.

use super::cost::MAX_POWER;
use super::emit::Emitter;
use super::functions;
use super::number::Number;
use super::signed::Signed;
use crate::recording::graph::{Op, Outcome, guard_parts, relation};
use crate::recording::rules::{self, OtherUnary};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Type, Value, types};
use differentiation_interface_core::scalar::Relation;

impl<S: Number> Emitter<'_, '_, S> {
    /// The number itself.
    pub(super) fn plain(&mut self, x: Signed) -> Value {
        if !x.negated {
            return x.value;
        }
        // -0 - x is -x for every x, signed zeros included, and the constant can stay in a register.
        let zero = self.number(-0.0, x.value);
        self.builder.ins().fsub(zero, x.value)
    }

    /// The sum of two numbers.
    pub(super) fn sum(&mut self, x: Signed, y: Signed) -> Value {
        match (x.negated, y.negated) {
            (false, false) => self.builder.ins().fadd(x.value, y.value),
            (true, false) => self.builder.ins().fsub(y.value, x.value),
            (_, true) => {
                let x = self.plain(x);
                self.builder.ins().fsub(x, y.value)
            }
        }
    }

    /// The result of an operation on numbers with signs.
    pub(super) fn apply_signed(&mut self, op: Op, x: Signed, y: Signed) -> Signed {
        let negated = x.negated != y.negated;
        match op {
            Op::Unary(rules::NEGATE) => Signed { value: x.value, negated: !x.negated },
            Op::Unary(rules::ABS) => self.builder.ins().fabs(x.value).into(),
            Op::Binary(rules::PLUS) => self.sum(x, y).into(),
            Op::Binary(rules::MINUS) => self.sum(x, Signed { value: y.value, negated: !y.negated }).into(),
            Op::Binary(rules::TIMES) => Signed { value: self.builder.ins().fmul(x.value, y.value), negated },
            Op::Binary(rules::OVER) => Signed { value: self.builder.ins().fdiv(x.value, y.value), negated },
            _ => {
                let same = x.value == y.value && x.negated == y.negated;
                let x = self.plain(x);
                let y = if same { x } else { self.plain(y) };
                self.apply(op, x, y).into()
            }
        }
    }

    /// The result of an operation.
    fn apply(&mut self, op: Op, x: Value, y: Value) -> Value {
        match op {
            Op::Unary(number) => self.unary(number, x),
            Op::Binary(number) => self.binary(number, x, y),
            Op::Compare(number) => {
                let condition = match relation(number) {
                    Relation::Less => FloatCC::LessThan,
                    Relation::LessOrEqual => FloatCC::LessThanOrEqual,
                    Relation::Greater => FloatCC::GreaterThan,
                    Relation::GreaterOrEqual => FloatCC::GreaterThanOrEqual,
                    Relation::Equal => FloatCC::Equal,
                };
                let (one, zero) = (self.number(1.0, x), self.number(0.0, x));
                self.choose(condition, x, y, one, zero)
            }
            Op::Keep => {
                let (zero, nothing) = (self.number(0.0, x), self.number(-0.0, x));
                self.choose(FloatCC::NotEqual, x, zero, y, nothing)
            }
            Op::Drop => {
                let (zero, nothing) = (self.number(0.0, x), self.number(-0.0, x));
                self.choose(FloatCC::NotEqual, x, zero, nothing, y)
            }
            // `check` has refused these, or they were handled before.
            Op::Guard(_) | Op::Accumulate | Op::Call | Op::CallOutput => x,
        }
    }

    fn unary(&mut self, number: u16, x: Value) -> Value {
        match number {
            rules::ABS => self.builder.ins().fabs(x),
            rules::SQRT => self.builder.ins().sqrt(x),
            rules::FLOOR => self.builder.ins().floor(x),
            rules::CEIL => self.builder.ins().ceil(x),
            rules::TRUNC => self.builder.ins().trunc(x),
            rules::FRACT => {
                let whole = self.builder.ins().trunc(x);
                self.builder.ins().fsub(x, whole)
            }
            rules::RECIP => {
                let one = self.number(1.0, x);
                self.builder.ins().fdiv(one, x)
            }
            rules::SIGNUM => {
                let one = self.number(1.0, x);
                let sign = self.with_sign(one, x);
                self.choose(FloatCC::Unordered, x, x, x, sign)
            }
            _ => match self.program.rules.other_unary(number) {
                Some(OtherUnary::Powi(n)) if n.unsigned_abs() <= MAX_POWER => self.power(x, *n),
                Some(OtherUnary::Powc(1.0)) => x,
                Some(OtherUnary::Powc(c)) => {
                    let exponent = self.number(*c, x);
                    self.call(functions::binary::<S>(rules::POWF), rules::POWF, &[x, exponent])
                }
                _ => self.call(functions::unary::<S>(number), number, &[x]),
            },
        }
    }

    fn binary(&mut self, number: u16, x: Value, y: Value) -> Value {
        match number {
            rules::PLUS | rules::TOGETHER => self.builder.ins().fadd(x, y),
            rules::MINUS => self.builder.ins().fsub(x, y),
            rules::TIMES => self.builder.ins().fmul(x, y),
            rules::OVER => self.builder.ins().fdiv(x, y),
            rules::MAX | rules::MIN => {
                // The first number at a tie, and the other one if one is NaN.
                let further = if number == rules::MAX { FloatCC::GreaterThan } else { FloatCC::LessThan };
                let taken = self.choose(further, y, x, y, x);
                self.choose(FloatCC::Unordered, x, x, y, taken)
            }
            rules::AT_LEAST => self.choose(FloatCC::LessThan, x, y, y, x),
            rules::AT_MOST => self.choose(FloatCC::LessThan, y, x, y, x),
            rules::COPYSIGN => self.with_sign(x, y),
            rules::ABS_SUB => {
                let difference = self.builder.ins().fsub(x, y);
                let zero = self.number(0.0, x);
                // A comparison of the numbers, as their difference is NaN if both are infinite.
                self.choose(FloatCC::LessThanOrEqual, x, y, zero, difference)
            }
            _ => self.call(functions::binary::<S>(number), number, &[x, y]),
        }
    }

    /// x^n by squaring, in the order of the compiler's own function.
    fn power(&mut self, x: Value, n: i32) -> Value {
        match n {
            1 => return x,
            2 => return self.builder.ins().fmul(x, x),
            3 => {
                let square = self.builder.ins().fmul(x, x);
                return self.builder.ins().fmul(square, x);
            }
            _ => {}
        }
        let mut rest = n.unsigned_abs();
        let mut square = x;
        let mut product = None;
        loop {
            if rest % 2 == 1 {
                product = Some(match product {
                    Some(product) => self.builder.ins().fmul(product, square),
                    None => square,
                });
            }
            rest /= 2;
            if rest == 0 {
                break;
            }
            square = self.builder.ins().fmul(square, square);
        }
        let one = self.number(1.0, x);
        let product = product.unwrap_or(one);
        if n < 0 { self.builder.ins().fdiv(one, product) } else { product }
    }

    /// The magnitude of one number with the sign of the other.
    fn with_sign(&mut self, magnitude: Value, sign: Value) -> Value {
        if !self.is_wide(magnitude) {
            return self.builder.ins().fcopysign(magnitude, sign);
        }
        let bit = self.number(-0.0, magnitude);
        self.builder.ins().bitselect(bit, sign, magnitude)
    }

    /// `then` where the comparison holds and `otherwise` elsewhere.
    fn choose(&mut self, condition: FloatCC, left: Value, right: Value, then: Value, otherwise: Value) -> Value {
        let holds = self.builder.ins().fcmp(condition, left, right);
        if !self.is_wide(left) {
            return self.builder.ins().select(holds, then, otherwise);
        }
        let mask = self.reinterpret(self.wide_type(), holds);
        self.builder.ins().bitselect(mask, then, otherwise)
    }

    pub(super) fn reinterpret(&mut self, to: Type, value: Value) -> Value {
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        self.builder.ins().bitcast(to, flags, value)
    }

    /// Returns the guard's number from the code unless it holds for all lanes.
    pub(super) fn guard(&mut self, guard: u16, x: Value, y: Value) {
        let wide = self.is_wide(x);
        let holds = match guard_parts(guard).1 {
            Outcome::Less => self.builder.ins().fcmp(FloatCC::LessThan, x, y),
            Outcome::Equal => self.builder.ins().fcmp(FloatCC::Equal, x, y),
            Outcome::Greater => self.builder.ins().fcmp(FloatCC::GreaterThan, x, y),
            Outcome::Unordered => self.builder.ins().fcmp(FloatCC::Unordered, x, y),
            Outcome::Same => {
                let integer = if wide { self.wide_type().as_int() } else { S::TYPE.as_int() };
                let (left, right) = (self.reinterpret(integer, x), self.reinterpret(integer, y));
                let same = self.builder.ins().icmp(IntCC::Equal, left, right);
                let left = self.builder.ins().fcmp(FloatCC::Unordered, x, x);
                let right = self.builder.ins().fcmp(FloatCC::Unordered, y, y);
                let neither = self.builder.ins().band(left, right);
                self.builder.ins().bor(same, neither)
            }
        };
        let holds = if wide { self.builder.ins().vall_true(holds) } else { holds };
        let code = self.builder.ins().iconst(types::I32, guard as i64 + 1);
        self.leave_unless(holds, code);
    }

    /// Calls a function of one or two numbers for every lane: directly if its address is known, through the rules if not.
    fn call(&mut self, direct: Option<usize>, number: u16, arguments: &[Value]) -> Value {
        if !self.is_wide(arguments[0]) {
            return self.call_one(direct, number, arguments);
        }
        let results: Vec<Value> = (0..self.lanes())
            .map(|lane| {
                let lanes: Vec<Value> =
                    arguments.iter().map(|argument| self.builder.ins().extractlane(*argument, lane as u8)).collect();
                self.call_one(direct, number, &lanes)
            })
            .collect();
        self.join(&results)
    }

    fn call_one(&mut self, direct: Option<usize>, number: u16, arguments: &[Value]) -> Value {
        let through_rules = direct.is_none();
        let signature = self.signature(arguments.len(), through_rules);
        let address = direct.unwrap_or(if arguments.len() == 1 { S::UNARY as usize } else { S::BINARY as usize });
        let callee = self.builder.ins().iconst(types::I64, address as i64);
        let mut all = Vec::with_capacity(4);
        if through_rules {
            self.uses_rules = true;
            all.push(self.builder.ins().iconst(types::I64, self.rules as i64));
            all.push(self.builder.ins().iconst(types::I32, number as i64));
        }
        all.extend_from_slice(arguments);
        let call = self.builder.ins().call_indirect(signature, callee, &all);
        self.builder.inst_results(call)[0]
    }
}
