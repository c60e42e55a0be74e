//! Operations as machine instructions, on single numbers and on vectors.
//!
//! Called by `emit` for every instruction of a body. Operations with a machine instruction, or a short sequence with exactly
//! the value of the rule, are expanded; every other function is called, lane by lane.

use super::code::{Call, Condition, Simple, Value};
use super::cost::MAX_POWER;
use super::emit::Emitter;
use super::functions;
use super::number::Format;
use super::signed::Signed;
use crate::recording::graph::{Op, guard_parts, relation};
use crate::recording::rules::{self, OtherUnary};
use differentiation_interface_core::scalar::Relation;

impl Emitter<'_, '_> {
    /// The number itself.
    pub(super) fn plain(&mut self, x: Signed) -> Value {
        if !x.negated {
            return x.value;
        }
        // -0 - x is -x for every x, signed zeros included, and the constant can stay in a register.
        let zero = self.number(-0.0, x.value);
        self.code.subtract(zero, x.value)
    }

    /// The sum of two numbers.
    pub(super) fn sum(&mut self, x: Signed, y: Signed) -> Value {
        match (x.negated, y.negated) {
            (false, false) => self.code.add(x.value, y.value),
            (true, false) => self.code.subtract(y.value, x.value),
            (_, true) => {
                let x = self.plain(x);
                self.code.subtract(x, y.value)
            }
        }
    }

    /// The result of an operation on numbers with signs.
    pub(super) fn apply_signed(&mut self, op: Op, x: Signed, y: Signed) -> Signed {
        let negated = x.negated != y.negated;
        match op {
            Op::Unary(rules::NEGATE) => Signed { value: x.value, negated: !x.negated },
            Op::Unary(rules::ABS) => self.code.simple(Simple::Abs, x.value).into(),
            Op::Binary(rules::PLUS) => self.sum(x, y).into(),
            Op::Binary(rules::MINUS) => self.sum(x, Signed { value: y.value, negated: !y.negated }).into(),
            Op::Binary(rules::TIMES) => Signed { value: self.code.multiply(x.value, y.value), negated },
            Op::Binary(rules::OVER) => Signed { value: self.code.divide(x.value, y.value), negated },
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
                    Relation::Less => Condition::Less,
                    Relation::LessOrEqual => Condition::LessOrEqual,
                    Relation::Greater => Condition::Greater,
                    Relation::GreaterOrEqual => Condition::GreaterOrEqual,
                    Relation::Equal => Condition::Equal,
                };
                let (one, zero) = (self.number(1.0, x), self.number(0.0, x));
                self.code.choose(condition, x, y, one, zero)
            }
            Op::Keep => {
                let (zero, nothing) = (self.number(0.0, x), self.number(-0.0, x));
                self.code.choose(Condition::NotEqual, x, zero, y, nothing)
            }
            Op::Drop => {
                let (zero, nothing) = (self.number(0.0, x), self.number(-0.0, x));
                self.code.choose(Condition::NotEqual, x, zero, nothing, y)
            }
            // `check` has refused these, or they were handled before.
            Op::Guard(_) | Op::Accumulate | Op::Call | Op::CallOutput => x,
        }
    }

    fn unary(&mut self, number: u16, x: Value) -> Value {
        match number {
            rules::ABS => self.code.simple(Simple::Abs, x),
            rules::SQRT => self.code.simple(Simple::Sqrt, x),
            rules::FLOOR | rules::CEIL | rules::TRUNC | rules::FRACT if !self.target.can_round => {
                self.call(self.target.format.unary(number), number, &[x])
            }
            rules::FLOOR => self.code.simple(Simple::Floor, x),
            rules::CEIL => self.code.simple(Simple::Ceil, x),
            rules::TRUNC => self.code.simple(Simple::Trunc, x),
            rules::FRACT => {
                let whole = self.code.simple(Simple::Trunc, x);
                self.code.subtract(x, whole)
            }
            rules::RECIP => {
                let one = self.number(1.0, x);
                self.code.divide(one, x)
            }
            rules::SIGNUM => {
                let one = self.number(1.0, x);
                let sign = self.code.copy_sign(one, x);
                self.code.choose(Condition::Unordered, x, x, x, sign)
            }
            _ => match self.program.rules.other_unary(number) {
                Some(OtherUnary::Powi(n)) if n.unsigned_abs() <= MAX_POWER => self.power(x, *n),
                Some(OtherUnary::Powc(1.0)) => x,
                Some(OtherUnary::Powc(c)) => {
                    let exponent = self.number(*c, x);
                    self.call(self.target.format.binary(rules::POWF), rules::POWF, &[x, exponent])
                }
                _ => self.call(self.target.format.unary(number), number, &[x]),
            },
        }
    }

    fn binary(&mut self, number: u16, x: Value, y: Value) -> Value {
        match number {
            rules::PLUS | rules::TOGETHER => self.code.add(x, y),
            rules::MINUS => self.code.subtract(x, y),
            rules::TIMES => self.code.multiply(x, y),
            rules::OVER => self.code.divide(x, y),
            rules::MAX | rules::MIN => {
                // The first number at a tie, and the other one if one is NaN.
                let further = if number == rules::MAX { Condition::Greater } else { Condition::Less };
                let taken = self.code.choose(further, y, x, y, x);
                self.code.choose(Condition::Unordered, x, x, y, taken)
            }
            rules::AT_LEAST => self.code.choose(Condition::Less, x, y, y, x),
            rules::AT_MOST => self.code.choose(Condition::Less, y, x, y, x),
            rules::COPYSIGN => self.code.copy_sign(x, y),
            rules::ABS_SUB => {
                let difference = self.code.subtract(x, y);
                let zero = self.number(0.0, x);
                // A comparison of the numbers, as their difference is NaN if both are infinite.
                self.code.choose(Condition::LessOrEqual, x, y, zero, difference)
            }
            _ => self.call(self.target.format.binary(number), number, &[x, y]),
        }
    }

    /// x^n by squaring, in the order of the compiler's own function.
    fn power(&mut self, x: Value, n: i32) -> Value {
        match n {
            1 => return x,
            2 => return self.code.multiply(x, x),
            3 => {
                let square = self.code.multiply(x, x);
                return self.code.multiply(square, x);
            }
            _ => {}
        }
        let mut rest = n.unsigned_abs();
        let mut square = x;
        let mut product = None;
        loop {
            if rest % 2 == 1 {
                product = Some(match product {
                    Some(product) => self.code.multiply(product, square),
                    None => square,
                });
            }
            rest /= 2;
            if rest == 0 {
                break;
            }
            square = self.code.multiply(square, square);
        }
        let one = self.number(1.0, x);
        let product = product.unwrap_or(one);
        if n < 0 { self.code.divide(one, product) } else { product }
    }

    /// Returns the guard's number from the code unless it holds for all lanes.
    pub(super) fn guard(&mut self, guard: u16, x: Value, y: Value) {
        self.code.guard(guard_parts(guard).1, x, y, guard);
    }

    /// Calls a function of one or two numbers for every lane: directly if its address is known, through the rules if not.
    fn call(&mut self, direct: Option<usize>, rule: u16, arguments: &[Value]) -> Value {
        let lanes = self.code.lanes(arguments[0]);
        if lanes == 1 {
            return self.call_one(direct, rule, arguments);
        }
        if let (Some(address), [x]) = (self.target.calls.all(rule, lanes), arguments) {
            let call =
                Call { address, rule, rules: None, arguments: [*x; 2], count: 1, lanes, own: true, second: None };
            return self.call_of_one(call);
        }
        if let (Some(address), [x, y]) = (self.target.calls.all_of_two(rule, lanes), arguments) {
            return self.code.call(own_of_two(address, rule, [*x, *y], lanes));
        }
        let results: Vec<Value> = (0..lanes)
            .map(|lane| {
                let mut single = [arguments[0]; 2];
                for (single, argument) in single.iter_mut().zip(arguments) {
                    *single = self.code.lane(*argument, lane);
                }
                self.call_one(direct, rule, &single[..arguments.len()])
            })
            .collect();
        self.code.join(&results)
    }

    fn call_one(&mut self, direct: Option<usize>, rule: u16, arguments: &[Value]) -> Value {
        if let (Some(address), [x]) = (self.target.calls.one(rule), arguments) {
            let call =
                Call { address, rule, rules: None, arguments: [*x; 2], count: 1, lanes: 1, own: true, second: None };
            return self.call_of_one(call);
        }
        if let (Some(address), [x, y]) = (self.target.calls.one_of_two(rule), arguments) {
            return self.code.call(own_of_two(address, rule, [*x, *y], 1));
        }
        let address = direct.unwrap_or(self.target.format.through_rules(arguments.len()));
        self.uses_rules |= direct.is_none();
        let rules = direct.is_none().then_some(self.rules);
        let both = [arguments[0], arguments[arguments.len() - 1]];
        let count = arguments.len() as u8;
        let call = Call { address, rule, rules, arguments: both, count, lanes: 1, own: false, second: None };
        if count == 1 { self.call_of_one(call) } else { self.code.call(call) }
    }

    /// A call of a function of one argument, with that of its pair if there is one.
    fn call_of_one(&mut self, call: Call) -> Value {
        match functions::second(&call) {
            Some(second) if self.target.format == Format::Double => self.code.call_in_pair(call, second),
            _ => self.code.call(call),
        }
    }
}

/// A call of an own function of two arguments.
fn own_of_two(address: usize, rule: u16, arguments: [Value; 2], lanes: u8) -> Call {
    Call { address, rule, rules: None, arguments, count: 2, lanes, own: true, second: None }
}
