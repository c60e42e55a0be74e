//! Random programs as data: what a program is, how one is drawn, and where its rules are defined.
//!
//! Used by `random_functions`; [`run`] executes them on any number.

pub(crate) mod run;

use crate::support::rule_table::{Apply, Argument, count};
use differentiation_interface::prelude::*;
use differentiation_interface::scalar::Relation;
use proptest::prelude::*;
use std::f64::consts::PI;
use std::sync::LazyLock;

/// How an operand is found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pick {
    /// An input that advances with the iteration of the loop around.
    Input { start: usize, stride: usize },
    /// A parameter, likewise.
    Parameter { start: usize, stride: usize },
    /// So many values back.
    Back(usize),
    /// One of the values so far, by a rule without pattern.
    Scattered(usize),
    /// Always the same value.
    Fixed(usize),
    /// A place of the work memory.
    Work(usize),
}

/// One step. Rules are meant modulo how many there are.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Unary {
        rule: usize,
        x: Pick,
    },
    Binary {
        rule: usize,
        x: Pick,
        y: Pick,
    },
    /// The second argument is a plain number, or the first one.
    Plain {
        rule: usize,
        x: Pick,
        plain: f64,
        right: bool,
    },
    /// A number of the data the function carries.
    Constant(usize),
    /// Σ over iterations.
    Sum {
        rule: usize,
        x: Pick,
        y: Pick,
        trip: usize,
    },
    /// v = rule(v, x) again and again.
    Recurrence {
        rule: usize,
        start: Pick,
        x: Pick,
        trip: usize,
    },
    /// Linear interpolation in a table, the place found by comparisons.
    Table {
        x: Pick,
    },
    /// A value found by an index that is a value cast to an integer.
    Cast {
        x: Pick,
    },
    /// Leaves a value in the work memory.
    Store {
        x: Pick,
        place: usize,
    },
    Select {
        relation: usize,
        a: Pick,
        b: Pick,
        then: Pick,
        otherwise: Pick,
    },
    If {
        relation: usize,
        a: Pick,
        b: Pick,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    /// v = 0.6 v + 0.2 sin w until |v| is small: as often as the value says.
    While {
        v: Pick,
        w: Pick,
    },
    Repeat {
        trip: usize,
        body: Vec<Step>,
    },
}

/// A program with the data it carries.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) constants: Vec<f64>,
}

pub(crate) const INPUTS: usize = 5;
pub(crate) const PARAMETERS: usize = 3;
pub(crate) const WORK: usize = 4;
pub(crate) const OUTPUTS: usize = 3;
pub(crate) const RELATIONS: [Relation; 4] =
    [Relation::Less, Relation::LessOrEqual, Relation::Greater, Relation::GreaterOrEqual];

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        3 => (0..INPUTS, 1usize..3).prop_map(|(start, stride)| Pick::Input { start, stride }),
        1 => (0..PARAMETERS, 0usize..2).prop_map(|(start, stride)| Pick::Parameter { start, stride }),
        3 => (1usize..5).prop_map(Pick::Back),
        2 => (0usize..50).prop_map(Pick::Scattered),
        1 => (0usize..8).prop_map(Pick::Fixed),
        1 => (0..WORK).prop_map(Pick::Work),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let rule = 0usize..1000;
    let leaf = prop_oneof![
        5 => (rule.clone(), pick()).prop_map(|(rule, x)| Step::Unary { rule, x }),
        6 => (rule.clone(), pick(), pick()).prop_map(|(rule, x, y)| Step::Binary { rule, x, y }),
        2 => (rule.clone(), pick(), -3.0..3.0, any::<bool>())
            .prop_map(|(rule, x, plain, right)| Step::Plain { rule, x, plain, right }),
        1 => (0usize..2).prop_map(Step::Constant),
        2 => (rule.clone(), pick(), pick(), 3usize..20)
            .prop_map(|(rule, x, y, trip)| Step::Sum { rule, x, y, trip }),
        2 => (rule, pick(), pick(), 2usize..8)
            .prop_map(|(rule, start, x, trip)| Step::Recurrence { rule, start, x, trip }),
        1 => pick().prop_map(|x| Step::Table { x }),
        1 => pick().prop_map(|x| Step::Cast { x }),
        1 => (pick(), 0..WORK).prop_map(|(x, place)| Step::Store { x, place }),
        2 => (0..RELATIONS.len(), pick(), pick(), pick(), pick())
            .prop_map(|(relation, a, b, then, otherwise)| Step::Select { relation, a, b, then, otherwise }),
        1 => (pick(), pick()).prop_map(|(v, w)| Step::While { v, w }),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let body = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            2 => (2usize..10, body()).prop_map(|(trip, body)| Step::Repeat { trip, body }),
            2 => (0..RELATIONS.len(), pick(), pick(), body(), body())
                .prop_map(|(relation, a, b, then, otherwise)| Step::If { relation, a, b, then, otherwise }),
        ]
    })
}

/// A program of a few steps.
pub(crate) fn program() -> impl Strategy<Value = Program> {
    (prop::collection::vec(step(), 2..8), prop::collection::vec(-2.0..2.0, 2))
        .prop_map(|(steps, constants)| Program { steps, constants })
}

/// Where arguments are mapped to, in the order in which it is tried.
const INTERVALS: [[f64; 2]; 5] = [[-3.1, 3.3], [0.3, 3.1], [-0.9, 0.85], [1.2, 3.4], [0.5, 0.9]];

/// For each rule the first intervals on which its value and derivatives are moderate.
pub(crate) struct Domains {
    pub(crate) unary: Vec<[f64; 2]>,
    pub(crate) binary: Vec<[[f64; 2]; 2]>,
}

pub(crate) static DOMAINS: LazyLock<Domains> = LazyLock::new(|| Domains {
    unary: (0..count(true)).map(unary_domain).collect(),
    binary: (0..count(false)).map(binary_domain).collect(),
});

fn grid([low, high]: [f64; 2], points: usize) -> impl Iterator<Item = f64> {
    (0..points).map(move |k| low + (high - low) * k as f64 / (points - 1) as f64)
}

fn moderate(value: f64, derivatives: &[f64]) -> bool {
    value.abs() < 1e3 && derivatives.iter().all(|d| d.abs() < 1e3)
}

fn unary_domain(rule: usize) -> [f64; 2] {
    let fits = |interval: &[f64; 2]| {
        grid(*interval, 41).all(|x| {
            let f = |x: &[_; 1]| Apply::unary(rule, x[0]);
            let (y, d) = value_and_gradient(&f, &AutoForwardDiff::default(), [x]).expect("it has a derivative");
            moderate(y, &d)
        })
    };
    *INTERVALS.iter().find(|interval| fits(interval)).expect("every rule is defined on one of the intervals")
}

fn binary_domain(rule: usize) -> [[f64; 2]; 2] {
    let fits = |pair: &[[f64; 2]; 2]| {
        grid(pair[0], 15).all(|x| {
            grid(pair[1], 15).all(|y| {
                let f = |x: &[_; 2]| Apply::binary(rule, x[0], Argument::Active(x[1]));
                let (y, d) = value_and_gradient(&f, &AutoForwardDiff::default(), [x, y]).expect("it has a derivative");
                moderate(y, &d)
            })
        })
    };
    let pairs = INTERVALS.iter().flat_map(|x| INTERVALS.map(|y| [*x, y]));
    pairs.into_iter().find(fits).expect("every rule is defined on a pair of the intervals")
}

/// A number of (-π, π) in the interval.
pub(crate) fn into_interval<T: Real>(v: T, [low, high]: [f64; 2]) -> T {
    v * ((high - low) / (2.0 * PI)) + 0.5 * (low + high)
}
