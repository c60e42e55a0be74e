//! The rules of simplification, as a table: name, left side, right side, and the condition on the numbers that they name.
//!
//! Called by the simplifier. All hold for real numbers wherever the left side has a value. Those to be run only reorder and collect, so
//! that a value changes by rounding alone; those to be read also cancel, which can give a value where the left side has none.

use super::language::{Facts, Math};
use crate::form::{Aim, Function};
use compiled_trace::rules::{COS, COSH, SIN, SINH, TAN};
use egg::{ConditionalApplier, EGraph, Id, Pattern, Rewrite, Subst, Var};
use std::sync::LazyLock;

/// When a rule applies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// m and n are integers of one sign.
    SameSigns,
    /// m and n are integers.
    Integers,
    /// n is an integer.
    Integer,
    /// n is a negative integer.
    Negative,
    /// m and n are integers, and 0 < n < m or n < m < 0.
    Divides,
    /// m and n are numbers.
    Numbers,
}

use When::{Always, Divides, Integer, Integers, Negative, Numbers, SameSigns};

/// The rules for both aims: reordering and collecting.
const COLLECT: &[Line] = &[
    ("add is commutative", "(+ ?a ?b)", "(+ ?b ?a)", Always),
    ("add is associative", "(+ (+ ?a ?b) ?c)", "(+ ?a (+ ?b ?c))", Always),
    ("mul is commutative", "(* ?a ?b)", "(* ?b ?a)", Always),
    ("mul is associative", "(* (* ?a ?b) ?c)", "(* ?a (* ?b ?c))", Always),
    ("zero", "(+ ?a 0)", "?a", Always),
    ("one", "(* ?a 1)", "?a", Always),
    ("first power", "(^ ?a 1)", "?a", Always),
    ("factor", "(+ (* ?a ?b) (* ?a ?c))", "(* ?a (+ ?b ?c))", Always),
    ("factor of one", "(+ ?a (* ?a ?b))", "(* ?a (+ 1 ?b))", Always),
    ("twice", "(+ ?a ?a)", "(* 2 ?a)", Always),
    ("square", "(* ?a ?a)", "(^ ?a 2)", Always),
    ("power of product", "(^ (* ?a ?b) ?n)", "(* (^ ?a ?n) (^ ?b ?n))", Integer),
    ("product of powers", "(* (^ ?a ?n) (^ ?b ?n))", "(^ (* ?a ?b) ?n)", Integer),
    ("power of power", "(^ (^ ?a ?m) ?n)", "(^ ?a (* ?m ?n))", Integers),
];

/// To be run: powers are collected where nothing cancels.
const RUN: &[Line] = &[
    ("next power", "(* ?a (^ ?a ?n))", "(^ ?a (+ 1 ?n))", SameSigns),
    ("sum of exponents", "(* (^ ?a ?m) (^ ?a ?n))", "(^ ?a (+ ?m ?n))", SameSigns),
];

/// To be read: factors and terms cancel.
const READ: &[Line] = &[
    ("distribute", "(* ?a (+ ?b ?c))", "(+ (* ?a ?b) (* ?a ?c))", Always),
    ("next power", "(* ?a (^ ?a ?n))", "(^ ?a (+ 1 ?n))", Always),
    ("sum of exponents", "(* (^ ?a ?m) (^ ?a ?n))", "(^ ?a (+ ?m ?n))", Always),
    ("zeroth power", "(^ ?a 0)", "1", Always),
    ("root of power", "(^ (^ ?a ?m) ?n)", "(^ ?a (* ?m ?n))", Integer),
    ("annihilate", "(* ?a 0)", "0", Always),
    (
        "common power",
        "(+ (* ?b (^ ?a ?m)) (* ?c (^ ?a ?n)))",
        "(* (^ ?a ?n) (+ (* ?b (^ ?a (+ ?m (* -1 ?n)))) ?c))",
        Divides,
    ),
    ("common power of one", "(+ (^ ?a ?m) (* ?c (^ ?a ?n)))", "(* (^ ?a ?n) (+ (^ ?a (+ ?m (* -1 ?n))) ?c))", Divides),
    ("common denominator", "(+ ?c (* ?b (^ ?a ?n)))", "(* (^ ?a ?n) (+ (* ?c (^ ?a (* -1 ?n))) ?b))", Negative),
    ("common denominator of one", "(+ ?c (^ ?a ?n))", "(* (^ ?a ?n) (+ (* ?c (^ ?a (* -1 ?n))) 1))", Negative),
    ("circle", "(+ (^ (SIN ?x) 2) (^ (COS ?x) 2))", "1", Always),
    ("hyperbola", "(+ (^ (COSH ?x) 2) (* -1 (^ (SINH ?x) 2)))", "1", Always),
    ("secant", "(+ 1 (^ (TAN ?x) 2))", "(^ (COS ?x) -2)", Always),
    ("tangent", "(* (SIN ?x) (^ (COS ?x) -1))", "(TAN ?x)", Always),
    ("difference of exponents", "(+ ?n (* -1 ?n))", "0", Numbers),
];

/// The rules for an aim.
pub(super) fn rules(aim: Aim) -> &'static [Rewrite<Math, Facts>] {
    static READING: LazyLock<Vec<Rewrite<Math, Facts>>> = LazyLock::new(|| table(READ));
    static RUNNING: LazyLock<Vec<Rewrite<Math, Facts>>> = LazyLock::new(|| table(RUN));
    if aim == Aim::Reading { &READING } else { &RUNNING }
}

/// A line of the table.
type Line = (&'static str, &'static str, &'static str, When);

fn table(more: &[Line]) -> Vec<Rewrite<Math, Facts>> {
    COLLECT.iter().chain(more).map(|(name, from, to, when)| rule(name, from, to, *when)).collect()
}

fn rule(name: &str, from: &str, to: &str, when: When) -> Rewrite<Math, Facts> {
    let pattern = |text: &str| -> Pattern<Math> {
        let named = [("SINH", SINH), ("COSH", COSH), ("SIN", SIN), ("COS", COS), ("TAN", TAN)];
        let text = named.iter().fold(text.to_string(), |text, (name, rule)| {
            text.replace(&format!("({name} "), &format!("({} ", Function::Unary(*rule)))
        });
        text.parse().expect("the table has valid patterns")
    };
    let condition = move |egraph: &mut EGraph<Math, Facts>, _: Id, found: &Subst| holds(when, egraph, found);
    let applier = ConditionalApplier { condition, applier: pattern(to) };
    Rewrite::new(name, pattern(from), applier).expect("the right side names what the left side names")
}

fn holds(when: When, egraph: &EGraph<Math, Facts>, found: &Subst) -> bool {
    let fact = |name: &str| {
        let var: Var = name.parse().expect("a variable of the table");
        found.get(var).map(|id| egraph[*id].data)
    };
    let m = || fact("?m").map_or(Some(1), |fact| fact.integer());
    let n = || fact("?n").and_then(|fact| fact.integer());
    match when {
        Always => true,
        SameSigns => matches!((m(), n()), (Some(m), Some(n)) if m != 0 && n != 0 && (m > 0) == (n > 0)),
        Integers => m().is_some() && n().is_some(),
        Integer => n().is_some_and(|n| n != 1),
        Negative => n().is_some_and(|n| n < 0),
        Divides => matches!((m(), n()), (Some(m), Some(n)) if (1..m).contains(&n) || (n + 1..0).contains(&m)),
        Numbers => fact("?n").is_some_and(|fact| fact.number.is_some_and(f64::is_finite)),
    }
}
