//! Programs as functions that every engine differentiates: the algebra of the engines' numbers.
//!
//! Called by `engines`; uses the public interface of [`Real`] as a user's function does. One function per kind of
//! operation and number type, none of them inlined, keeps the compile time small.

use crate::program::{Algebra, Argument, Binary, Program, Relation, Special, Unary};
use crate::rules::{BY_PULLBACK, BY_PUSHFORWARD, Bell, nested_forward, nested_reverse};
use differentiation_interface::prelude::*;
use differentiation_interface::rules;
use differentiation_interface::scalar::{Base, Condition};
use num_traits::Float;
use std::marker::PhantomData;

/// The algebra of the engines' number `T`.
struct Numbers<B, T>(PhantomData<(B, T)>);

fn constant<B: Base, T: Real<B>>(value: f64) -> T {
    T::constant(B::from_f64(value))
}

#[inline(never)]
fn unary<B: Base, T: Real<B>>(function: Unary, a: T) -> T {
    match function {
        Unary::Neg => -a,
        Unary::Recip => a.recip(),
        Unary::Abs => Float::abs(a),
        Unary::Signum => Float::signum(a),
        Unary::Floor => a.floor(),
        Unary::Ceil => a.ceil(),
        Unary::Round => a.round(),
        Unary::Trunc => a.trunc(),
        Unary::Fract => a.fract(),
        Unary::ToDegrees => a.to_degrees(),
        Unary::ToRadians => a.to_radians(),
        Unary::Sqrt => a.sqrt(),
        Unary::Cbrt => a.cbrt(),
        Unary::Exp => a.exp(),
        Unary::Exp2 => a.exp2(),
        Unary::ExpM1 => a.exp_m1(),
        Unary::Ln => a.ln(),
        Unary::Log2 => a.log2(),
        Unary::Log10 => a.log10(),
        Unary::Ln1p => a.ln_1p(),
        Unary::Sin => a.sin(),
        Unary::Cos => a.cos(),
        Unary::Tan => a.tan(),
        Unary::Asin => a.asin(),
        Unary::Acos => a.acos(),
        Unary::Atan => a.atan(),
        Unary::Sinh => a.sinh(),
        Unary::Cosh => a.cosh(),
        Unary::Tanh => a.tanh(),
        Unary::Asinh => a.asinh(),
        Unary::Acosh => a.acosh(),
        Unary::Atanh => a.atanh(),
        Unary::Erf => a.erf(),
        Unary::Erfc => a.erfc(),
        Unary::LnGamma => a.ln_gamma(),
        Unary::Digamma => a.digamma(),
        Unary::Logistic => a.logistic(),
        Unary::Softplus => a.softplus(),
        Unary::Bell => a.apply(Bell),
        Unary::Powi(n) => a.powi(n),
        Unary::Powc(c) => a.powc(B::from_f64(c)),
    }
}

#[inline(never)]
fn binary<B: Base, T: Real<B>>(function: Binary, a: T, b: T) -> T {
    match function {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Rem => a % b,
        Binary::Powf => a.powf(b),
        Binary::Atan2 => a.atan2(b),
        Binary::Hypot => a.hypot(b),
        Binary::Max => a.max(b),
        Binary::Min => a.min(b),
        Binary::Copysign => a.copysign(b),
        Binary::AbsSub => a.apply2(b, rules::AbsSub),
    }
}

#[inline(never)]
fn binary_right<B: Base, T: Real<B>>(function: Binary, a: T, b: B) -> T {
    match function {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Rem => a % b,
        _ => binary(function, a, T::constant(b)),
    }
}

#[inline(never)]
fn binary_left<B: Base, T: Real<B>>(function: Binary, a: B, b: T) -> T {
    match function {
        Binary::Add => T::apply2_left(a, b, rules::Plus),
        Binary::Sub => T::apply2_left(a, b, rules::Minus),
        Binary::Mul => T::apply2_left(a, b, rules::Times),
        Binary::Div => T::apply2_left(a, b, rules::Over),
        Binary::Rem => T::apply2_left(a, b, rules::Modulo),
        _ => binary(function, T::constant(a), b),
    }
}

impl<B: Base, T: Real<B>> Algebra for Numbers<B, T> {
    type Number = T;
    fn constant(&mut self, value: f64) -> T {
        constant(value)
    }
    fn unary(&mut self, function: Unary, a: T) -> T {
        unary(function, a)
    }
    fn binary(&mut self, function: Binary, a: Argument<T>, b: Argument<T>) -> T {
        match (a, b) {
            (Argument::Number(a), Argument::Number(b)) => binary(function, a, b),
            (Argument::Number(a), Argument::Plain(b)) => binary_right(function, a, B::from_f64(b)),
            (Argument::Plain(a), Argument::Number(b)) => binary_left(function, B::from_f64(a), b),
            (Argument::Plain(a), Argument::Plain(b)) => binary(function, constant(a), constant(b)),
        }
    }
    fn mul_add(&mut self, a: T, b: T, c: T) -> T {
        a.mul_add(b, c)
    }
    fn clamp(&mut self, a: T, low: f64, high: f64) -> T {
        num_traits::Float::clamp(a, constant(low), constant(high))
    }
    fn holds(&mut self, relation: Relation, a: T, b: T) -> bool {
        relation.holds(&a, &b)
    }
    fn select(&mut self, relation: Relation, [a, b]: [T; 2], then: T, otherwise: T) -> T {
        use differentiation_interface::scalar::Relation as Theirs;
        let relation = match relation {
            Relation::Less => Theirs::Less,
            Relation::LessOrEqual => Theirs::LessOrEqual,
            Relation::Greater => Theirs::Greater,
            Relation::GreaterOrEqual => Theirs::GreaterOrEqual,
            Relation::Equal => Theirs::Equal,
        };
        Condition::new(a, relation, b).select(then, otherwise)
    }
    fn index(&mut self, a: T, count: usize) -> usize {
        a.to_i64().map_or(0, |k| k.rem_euclid(count as i64) as usize)
    }
    fn special(&mut self, function: Special, a: T, b: T) -> T {
        match function {
            Special::ByPushforward => BY_PUSHFORWARD.number(&[a, b]),
            Special::ByPullback => {
                let y = BY_PULLBACK.call(&[a, b]);
                y[0] + y[1]
            }
            Special::NestedForward => nested_forward(a, b),
            Special::NestedReverse => nested_reverse(a, b),
        }
    }
    fn sum(&mut self, terms: Vec<T>) -> T {
        terms.into_iter().sum()
    }
    fn product(&mut self, factors: &[T]) -> T {
        factors.iter().product()
    }
}

/// The outputs of a program on an engine's numbers.
#[inline(never)]
pub(crate) fn run<B: Base, T: Real<B>>(program: &Program, x: &[T]) -> Vec<T> {
    program.run(&mut Numbers::<B, T>(PhantomData), x)
}

/// All outputs of a program.
#[derive(Clone, Copy)]
pub struct Outputs<'a, B>(&'a Program, PhantomData<fn() -> B>);

impl<'a, B> Outputs<'a, B> {
    pub fn new(program: &'a Program) -> Self {
        Outputs(program, PhantomData)
    }
}

/// The first output of a program.
#[derive(Clone, Copy)]
pub struct First<'a, B>(&'a Program, PhantomData<fn() -> B>);

impl<'a, B> First<'a, B> {
    pub fn new(program: &'a Program) -> Self {
        First(program, PhantomData)
    }
}

/// All outputs of a program along the line `LINE_START + t * TANGENTS[0]`.
#[derive(Clone, Copy)]
pub struct Line<'a, B>(&'a Program, PhantomData<fn() -> B>);

impl<'a, B> Line<'a, B> {
    pub fn new(program: &'a Program) -> Self {
        Line(program, PhantomData)
    }
}

impl<B: Base, T: Real<B>> Function<[T]> for Outputs<'_, B> {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        run(self.0, x)
    }
}

impl<B: Base, T: Real<B>> Function<[T]> for First<'_, B> {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        run(self.0, x)[0]
    }
}

impl<B: Base, T: Real<B>> Function<T> for Line<'_, B> {
    type Output = Vec<T>;
    fn call(&self, t: &T) -> Vec<T> {
        let place = |i: usize| *t * B::from_f64(TANGENTS[0][i]) + B::from_f64(LINE_START[i]);
        let x: Vec<T> = (0..self.0.inputs).map(place).collect();
        run(self.0, &x)
    }
}

/// Maximum number of inputs of a program.
pub const MAX_INPUTS: usize = 8;
/// Maximum number of outputs of a program.
pub const MAX_OUTPUTS: usize = 3;

/// Tangents of products; all numbers are exact in single precision.
pub const TANGENTS: [[f64; MAX_INPUTS]; 2] =
    [[1.0, -0.75, 0.5, 1.25, -1.5, 0.25, 2.0, -0.5], [0.0, 1.0, 0.0, -0.625, 0.0, 1.5, -1.0, 0.0]];
/// Cotangents of products.
pub const COTANGENTS: [[f64; MAX_OUTPUTS]; 2] = [[1.0, -0.5, 0.75], [0.0, 1.25, -2.0]];
/// Where the line begins.
pub const LINE_START: [f64; MAX_INPUTS] = [0.125, -0.375, 0.75, 1.125, -0.25, 0.5, -0.875, 0.375];
