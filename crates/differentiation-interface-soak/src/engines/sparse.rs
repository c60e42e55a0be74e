//! Sparse derivatives, with the pattern of all points (which refuses branches on values) and with that of one point.
//!
//! Called by `engines::all`.

use super::candidate::Quantity::{Gradient, Hessian, Jacobian, Value};
use super::candidate::{Call, Candidate, Precision, candidate, rounded};
use super::first_order::rising;
use crate::function::{First, Outputs};
use crate::program::Program;
use differentiation_interface::prelude::*;
use differentiation_interface::sparse::sparsity_tracer::TracerLocalSparsityDetector;

macro_rules! jacobians {
    ($name:literal, $backend:expr) => {
        candidate!(
            concat!("sparse jacobian ", $name),
            f64,
            |program, x| prepare_jacobian(Box::new(Outputs::<f64>::new(program)), &AutoSparse::new($backend), &x)?,
            |prepared, x| {
                let (y, jac) = prepared.value_and_jacobian(&x)?;
                vec![(Value, y), (Jacobian, jac.to_dense().into_vec())]
            }
        )
    };
}

macro_rules! local_jacobians {
    ($name:literal, $backend:expr) => {
        candidate!(
            concat!("sparse jacobian at a point ", $name),
            f64,
            |program, _x| Outputs::<f64>::new(program),
            |f, x| {
                let backend = AutoSparse::new($backend).with_detector(TracerLocalSparsityDetector);
                vec![(Jacobian, jacobian(&f, &backend, &x)?.to_dense().into_vec())]
            }
        )
    };
}

macro_rules! hessians {
    ($name:literal, $backend:expr) => {
        candidate!(
            concat!("sparse hessian ", $name),
            f64,
            |program, x| prepare_hessian(Box::new(First::<f64>::new(program)), &AutoSparse::new($backend), &x)?,
            |prepared, x| {
                let (_, grad, hess) = prepared.value_gradient_and_hessian(&x)?;
                vec![(Gradient, grad), (Hessian, hess.to_dense().into_vec())]
            }
        )
    };
}

macro_rules! local_hessians {
    ($name:literal, $backend:expr) => {
        candidate!(
            concat!("sparse hessian at a point ", $name),
            f64,
            |program, _x| First::<f64>::new(program),
            |f, x| {
                let backend = AutoSparse::new($backend).with_detector(TracerLocalSparsityDetector);
                vec![(Hessian, hessian(&f, &backend, &x)?.to_dense().into_vec())]
            }
        )
    };
}

/// The candidates with sparse results.
pub(super) fn candidates() -> Vec<Candidate> {
    let mut all = vec![
        jacobians!("compiled", AutoReverseDiff::compiled()),
        hessians!("compiled", AutoReverseDiff::compiled()),
        jacobians!("default", rising()),
        hessians!("default", rising()),
        local_jacobians!("compiled", AutoReverseDiff::compiled()),
        local_hessians!("compiled", AutoReverseDiff::compiled()),
    ];
    all.extend(others());
    all
}

#[cfg(not(feature = "all-engines"))]
fn others() -> Vec<Candidate> {
    Vec::new()
}

#[cfg(feature = "all-engines")]
fn others() -> Vec<Candidate> {
    vec![
        jacobians!("forward", AutoForwardDiff::default()),
        jacobians!("tape", AutoReverseDiff::tape()),
        local_jacobians!("forward", AutoForwardDiff::default()),
        hessians!("forward over tape", SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::tape())),
        local_hessians!("forward over tape", SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::tape())),
    ]
}
