//! The language of the e-graph: sums and products of two, powers, and what forms have besides.
//!
//! Numbers are combined where that is exact, by the facts that each class of equal expressions carries.

use crate::form::{Function, Leaf, Number, exact_power, exact_product, exact_sum};
use egg::{Analysis, DidMerge, EGraph, Id, define_language};
use std::fmt;
use std::str::FromStr;

define_language! {
    pub(super) enum Math {
        "+" = Add([Id; 2]),
        "*" = Mul([Id; 2]),
        "^" = Pow([Id; 2]),
        Number(Number),
        Leaf(Variable),
        Function(Function, Vec<Id>),
    }
}

/// A leaf, which rules do not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Variable(pub(super) Leaf);

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
impl FromStr for Variable {
    type Err = ();
    fn from_str(_: &str) -> Result<Self, ()> {
        Err(())
    }
}
impl FromStr for Number {
    type Err = std::num::ParseFloatError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Number)
    }
}
/// Rules name functions of one argument, as they are displayed.
impl FromStr for Function {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        text.strip_prefix('u').and_then(|rule| rule.parse().ok()).map(Function::Unary).ok_or(())
    }
}

/// Finds what holds for all expressions of a class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts;

/// What holds for all expressions of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fact {
    /// The number that they are.
    pub(super) number: Option<f64>,
}

impl Fact {
    /// Whether they are an integer.
    pub(super) fn integer(&self) -> Option<i32> {
        self.number.filter(|n| n.trunc() == *n && n.abs() < 1e6).map(|n| n as i32)
    }
}

impl Analysis<Math> for Facts {
    type Data = Fact;

    fn make(egraph: &mut EGraph<Math, Facts>, node: &Math, _: Id) -> Fact {
        let number = |id: &Id| egraph[*id].data.number;
        let both = |[a, b]: &[Id; 2]| Some((number(a)?, number(b)?));
        let value = match node {
            Math::Number(c) => Some(c.0),
            Math::Add(pair) => both(pair).and_then(|(a, b)| exact_sum(a, b)),
            Math::Mul(pair) => both(pair).and_then(|(a, b)| exact_product(a, b)),
            Math::Pow(pair) => both(pair)
                .filter(|(_, n)| n.trunc() == *n && n.abs() < 64.0)
                .and_then(|(a, n)| exact_power(a, n as i32)),
            Math::Leaf(_) | Math::Function(..) => None,
        };
        Fact { number: value }
    }

    fn merge(&mut self, to: &mut Fact, from: Fact) -> DidMerge {
        let merged = Fact { number: to.number.or(from.number) };
        let changes = DidMerge(merged != *to, merged != from);
        *to = merged;
        changes
    }

    fn modify(egraph: &mut EGraph<Math, Facts>, id: Id) {
        if let Some(number) = egraph[id].data.number {
            let known = egraph.add(Math::Number(Number(number)));
            egraph.union(id, known);
        }
    }
}
