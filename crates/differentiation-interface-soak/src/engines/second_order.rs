//! Second derivatives: each engine alone, and pairs of them.
//!
//! Called by `engines::all`.

use super::candidate::Quantity::{First, Gradient, Hessian, Hvp, LineFirst, LineSecond, LineValue};
use super::candidate::{Call, Candidate, Precision, candidate, rounded, widened};
use super::first_order::rising;
use crate::function::{self, Line, TANGENTS};
use crate::program::Program;
use differentiation_interface::prelude::*;

macro_rules! hessians {
    ($name:literal, $base:ty, $backend:expr) => {
        candidate!(
            concat!("hessian ", $name),
            $base,
            |program, x| prepare_hessian(Box::new(function::First::<$base>::new(program)), &$backend, &x)?,
            |prepared, x| {
                let (y, grad, hess) = prepared.value_gradient_and_hessian(&x)?;
                vec![(First, widened(&[y])), (Gradient, widened(&grad)), (Hessian, widened(hess.as_slice()))]
            }
        )
    };
}

macro_rules! products {
    ($name:literal, $backend:expr) => {
        candidate!(
            concat!("hvp ", $name),
            f64,
            |program, x| {
                let seeds = TANGENTS.map(|tangent| tangent[..program.inputs].to_vec());
                let f = Box::new(function::First::<f64>::new(program));
                (prepare_hvp(f, &$backend, &x, [&seeds[0], &seeds[1]])?, seeds)
            },
            |prepared, x| {
                let (prepared, seeds) = &mut prepared;
                let (grad, [first, second]) = prepared.gradient_and_hvp(&x, [&seeds[0], &seeds[1]])?;
                vec![(Gradient, grad), (Hvp(0), first), (Hvp(1), second)]
            }
        )
    };
}

macro_rules! lines {
    ($name:literal, $backend:expr) => {
        candidate!(
            concat!("second derivative ", $name),
            f64,
            |program, x| prepare_second_derivative(Box::new(Line::<f64>::new(program)), &$backend, &x[0])?,
            |prepared, x| {
                let (y, first, second) = prepared.value_derivative_and_second_derivative(&x[0])?;
                vec![(LineValue, y), (LineFirst, first), (LineSecond, second)]
            }
        )
    };
}

/// The candidates of second order.
pub(super) fn candidates() -> Vec<Candidate> {
    let mut all = vec![
        hessians!("compiled", f64, AutoReverseDiff::compiled()),
        hessians!("compiled f32", f32, AutoReverseDiff::compiled()),
        products!("compiled", AutoReverseDiff::compiled()),
        lines!("compiled", AutoReverseDiff::compiled()),
        hessians!("default", f64, rising()),
        products!("default", rising()),
        lines!("default", rising()),
    ];
    all.extend(others());
    all.extend(run_time_pairs());
    all
}

#[cfg(not(feature = "all-engines"))]
fn others() -> Vec<Candidate> {
    Vec::new()
}

#[cfg(feature = "all-engines")]
fn others() -> Vec<Candidate> {
    vec![
        hessians!("forward", f64, AutoForwardDiff::default()),
        hessians!("tape", f64, AutoReverseDiff::tape()),
        hessians!("forward over tape", f64, SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::tape())),
        hessians!("tape over forward", f64, SecondOrder(AutoReverseDiff::tape(), AutoForwardDiff::default())),
        hessians!("forward over compiled", f64, SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::compiled())),
        hessians!("tape over compiled", f64, SecondOrder(AutoReverseDiff::tape(), AutoReverseDiff::compiled())),
        hessians!("compiled over forward", f64, SecondOrder(AutoReverseDiff::compiled(), AutoForwardDiff::default())),
        hessians!("compiled over tape", f64, SecondOrder(AutoReverseDiff::compiled(), AutoReverseDiff::tape())),
        hessians!("tape f32", f32, AutoReverseDiff::tape()),
        products!("forward", AutoForwardDiff::default()),
        products!("tape", AutoReverseDiff::tape()),
        products!("forward over compiled", SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::compiled())),
        lines!("forward", AutoForwardDiff::default()),
        lines!("tape", AutoReverseDiff::tape()),
    ]
}

/// Pairs chosen at run time.
#[cfg(feature = "run-time-pairs")]
fn run_time_pairs() -> Vec<Candidate> {
    fn named(name: &str) -> AnyBackend {
        name.parse().expect("the name of a backend")
    }
    vec![
        hessians!("any forward", f64, named("ForwardDiff")),
        hessians!("any tape", f64, named("ReverseDiff")),
        hessians!("any compiled", f64, named("ReverseDiff(compile=true)")),
        hessians!("any forward over tape", f64, named("SecondOrder(ForwardDiff, ReverseDiff)")),
        hessians!("any tape over forward", f64, named("SecondOrder(ReverseDiff, ForwardDiff)")),
        hessians!("any compiled over tape", f64, named("SecondOrder(ReverseDiff(compile=true), ReverseDiff)")),
    ]
}

#[cfg(not(feature = "run-time-pairs"))]
fn run_time_pairs() -> Vec<Candidate> {
    Vec::new()
}
