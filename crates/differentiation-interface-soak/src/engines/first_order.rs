//! Values and first derivatives: forward mode, tape, compiled recordings, and each of them chosen at run time.
//!
//! Called by `engines::all`.

use super::candidate::Quantity::{First, Gradient, Jacobian, LineFirst, LineValue, Pullback, Pushforward, Value};
use super::candidate::{Call, Candidate, Precision, candidate, rounded, widened};
use crate::function::{self, COTANGENTS, Line, Outputs, TANGENTS};
use crate::program::Program;
use differentiation_interface::prelude::*;

/// A backend that is chosen at run time.
#[cfg(feature = "all-engines")]
fn named(name: &str) -> AnyBackend {
    name.parse().expect("the name of a backend")
}

macro_rules! gradients {
    ($name:literal, $base:ty, $backend:expr) => {
        [
            candidate!(
                concat!("gradient ", $name),
                $base,
                |program, x| prepare_gradient(Box::new(function::First::<$base>::new(program)), &$backend, &x)?,
                |prepared, x| {
                    let (y, grad) = prepared.value_and_gradient(&x)?;
                    vec![(First, widened(&[y])), (Gradient, widened(&grad))]
                }
            ),
            candidate!(
                concat!("jacobian ", $name),
                $base,
                |program, x| prepare_jacobian(Box::new(Outputs::<$base>::new(program)), &$backend, &x)?,
                |prepared, x| {
                    let (y, jac) = prepared.value_and_jacobian(&x)?;
                    vec![(Value, widened(&y)), (Jacobian, widened(jac.as_slice()))]
                }
            ),
        ]
    };
}

macro_rules! one_shot {
    ($name:literal, $base:ty, $backend:expr) => {
        candidate!(
            concat!("one-shot gradient ", $name),
            $base,
            |program, _x| function::First::<$base>::new(program),
            |f, x| vec![(Gradient, widened(&gradient(&f, &$backend, &x)?))]
        )
    };
}

macro_rules! products {
    ($name:literal, $backend:expr) => {
        [
            candidate!(
                concat!("pushforward ", $name),
                f64,
                |program, x| {
                    let seeds = TANGENTS.map(|tangent| tangent[..program.inputs].to_vec());
                    let f = Box::new(Outputs::<f64>::new(program));
                    (prepare_pushforward(f, &$backend, &x, [&seeds[0], &seeds[1]])?, seeds)
                },
                |prepared, x| {
                    let (prepared, seeds) = &mut prepared;
                    let [first, second] = prepared.pushforward(&x, [&seeds[0], &seeds[1]])?;
                    vec![(Pushforward(0), first), (Pushforward(1), second)]
                }
            ),
            candidate!(
                concat!("pullback ", $name),
                f64,
                |program, x| {
                    let seeds = COTANGENTS.map(|cotangent| cotangent[..program.outputs.len()].to_vec());
                    let f = Box::new(Outputs::<f64>::new(program));
                    (prepare_pullback(f, &$backend, &x, [&seeds[0], &seeds[1]])?, seeds)
                },
                |prepared, x| {
                    let (prepared, seeds) = &mut prepared;
                    let [first, second] = prepared.pullback(&x, [&seeds[0], &seeds[1]])?;
                    vec![(Pullback(0), first), (Pullback(1), second)]
                }
            ),
        ]
    };
}

macro_rules! lines {
    ($name:literal, $backend:expr) => {
        candidate!(
            concat!("derivative ", $name),
            f64,
            |program, x| prepare_derivative(Box::new(Line::<f64>::new(program)), &$backend, &x[0])?,
            |prepared, x| {
                let (y, dy) = prepared.value_and_derivative(&x[0])?;
                vec![(LineValue, y), (LineFirst, dy)]
            }
        )
    };
}

/// The candidates of first order.
pub(super) fn candidates() -> Vec<Candidate> {
    let mut all = Vec::new();
    all.extend(gradients!("compiled", f64, AutoReverseDiff::compiled()));
    all.extend(gradients!("compiled, 1 recording", f64, AutoReverseDiff::compiled().with_most_recordings(1)));
    all.extend(gradients!("compiled f32", f32, AutoReverseDiff::compiled()));
    all.push(one_shot!("compiled", f64, AutoReverseDiff::compiled()));
    all.extend(products!("compiled", AutoReverseDiff::compiled()));
    all.push(lines!("compiled", AutoReverseDiff::compiled()));
    all.extend(gradients!("default", f64, rising()));
    all.extend(gradients!("default f32", f32, rising()));
    all.extend(products!("default", rising()));
    all.push(lines!("default", rising()));
    others(&mut all);
    all
}

/// The default engine, which records calls 2, 4, 8 and 16 of the 20 of a program.
pub(super) fn rising() -> AutoReverseDiff {
    AutoReverseDiff::default().recording_from(2)
}

#[cfg(not(feature = "all-engines"))]
fn others(_: &mut Vec<Candidate>) {}

#[cfg(feature = "all-engines")]
fn others(all: &mut Vec<Candidate>) {
    all.extend(gradients!("forward", f64, AutoForwardDiff::default()));
    all.extend(gradients!("tape", f64, AutoReverseDiff::tape()));
    all.extend(gradients!("forward f32", f32, AutoForwardDiff::default()));
    all.extend(gradients!("tape f32", f32, AutoReverseDiff::tape()));
    all.extend(gradients!("any forward", f64, named("ForwardDiff")));
    all.extend(gradients!("any tape", f64, named("ReverseDiff")));
    all.extend(gradients!("any compiled", f64, named("ReverseDiff(compile=true)")));
    all.push(one_shot!("forward", f64, AutoForwardDiff::default()));
    all.push(one_shot!("tape", f64, AutoReverseDiff::tape()));
    all.extend(products!("forward", AutoForwardDiff::default()));
    all.extend(products!("tape", AutoReverseDiff::tape()));
    all.push(lines!("forward", AutoForwardDiff::default()));
    all.push(lines!("tape", AutoReverseDiff::tape()));
}
