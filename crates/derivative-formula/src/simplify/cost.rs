//! What a form costs: to be run, its operations; to be read, about the signs that it takes.
//!
//! Called by the extraction of the cheapest form.

use super::language::Math;
use super::translate;
use crate::form::{Aim, Form, Function};
use egg::{CostFunction, Id, Language, RecExpr};
use std::cmp::Ordering;

/// The cost of an expression for an aim, each part counted as often as it is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost(pub(super) Aim);

/// The cost of a form.
pub(super) fn of(form: &Form, aim: Aim) -> u64 {
    let expression: RecExpr<Math> = translate::to_math(form);
    let mut costs: Vec<Priced> = Vec::with_capacity(expression.as_ref().len());
    for node in expression.as_ref() {
        let cost = Cost(aim).cost(node, |id| costs[usize::from(id)]);
        costs.push(cost);
    }
    costs.last().map_or(0, |priced| priced.cost)
}

/// A cost with what the costs around it depend on. Only the cost counts in comparisons.
#[derive(Clone, Copy, Debug)]
pub(super) struct Priced {
    pub(super) cost: u64,
    number: Option<f64>,
    is_sum: bool,
    /// Whether it multiplies a sum, outside of functions.
    has_brackets: bool,
}

impl PartialEq for Priced {
    fn eq(&self, other: &Priced) -> bool {
        self.cost == other.cost
    }
}
impl PartialOrd for Priced {
    fn partial_cmp(&self, other: &Priced) -> Option<Ordering> {
        self.cost.partial_cmp(&other.cost)
    }
}

impl CostFunction<Math> for Cost {
    type Cost = Priced;

    fn cost<C: FnMut(Id) -> Priced>(&mut self, node: &Math, mut costs: C) -> Priced {
        let number = match node {
            Math::Number(number) => Some(number.0),
            _ => None,
        };
        let exponent = match node {
            Math::Pow([_, exponent]) => costs(*exponent).number,
            _ => None,
        };
        let own = match self.0 {
            Aim::Reading => reading(node, exponent),
            Aim::Running => running(node, exponent),
        };
        let (mut cost, mut has_brackets) = (own, false);
        node.for_each(|id| {
            let part = costs(id);
            cost = cost.saturating_add(part.cost);
            has_brackets |= part.has_brackets;
            if matches!(node, Math::Mul(_)) && part.is_sum {
                // Brackets in brackets are hard to read.
                if self.0 == Aim::Reading && part.has_brackets {
                    cost = cost.saturating_add(60);
                }
                has_brackets = true;
            }
        });
        let is_function = matches!(node, Math::Function(..));
        Priced { cost, number, is_sum: matches!(node, Math::Add(_)), has_brackets: has_brackets && !is_function }
    }
}

fn reading(node: &Math, exponent: Option<f64>) -> u64 {
    match node {
        Math::Number(number) if number.0.trunc() == number.0 => 10,
        Math::Number(_) => 15,
        Math::Leaf(_) => 10,
        Math::Add(_) => 30,
        Math::Mul(_) => 20,
        // A root or a fraction has its sign in place of the exponent.
        Math::Pow(_) if exponent.is_some_and(|n| n.trunc() != n) => 25,
        Math::Pow(_) => 20,
        Math::Function(Function::Sigma { .. }, _) => 60,
        Math::Function(..) => 40,
    }
}

/// About the cycles of a processor.
fn running(node: &Math, exponent: Option<f64>) -> u64 {
    match node {
        Math::Number(_) | Math::Leaf(_) => 1,
        Math::Add(_) | Math::Mul(_) => 4,
        Math::Pow(_) => match exponent {
            Some(2.0) => 4,
            Some(-1.0) => 14,
            Some(n) if n < 0.0 => 30,
            Some(3.0) => 8,
            _ => 20,
        },
        Math::Function(..) => 40,
    }
}
