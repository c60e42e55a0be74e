//! Formulas with the work memory of one thread.
//!
//! Kept by the state, which runs them at points.

use super::formulas::{Formulas, Order};
use compiled_trace::{RunError, Workspace};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::recordings::OutputShape;
use differentiation_interface_core::scalar::Scalar;
use std::sync::Arc;

/// Formulas, their memory, and their last results.
#[derive(Clone, Debug)]
pub(super) struct Held<S: Scalar> {
    pub(super) formulas: Arc<Formulas>,
    workspaces: [Option<Box<Workspace<S>>>; 2],
    /// Outputs, then entries.
    pub(super) results: Vec<S>,
    /// For the requested entries of a matrix, their places among the results; `u32::MAX` for zeros.
    pub(super) requested: Option<Arc<[u32]>>,
    /// The shape of the outputs of a pure function, if they tell one.
    pub(super) shape: Option<OutputShape>,
}

/// The reason why formulas gave no result.
pub(super) enum Failure {
    /// They are not valid at this point, or have other sizes.
    Invalid(RunError),
    /// They cannot be made.
    Error(Error),
}

impl<S: Scalar> Held<S> {
    pub(super) fn new(formulas: Formulas) -> Held<S> {
        Held {
            formulas: Arc::new(formulas),
            workspaces: Default::default(),
            results: Vec::new(),
            requested: None,
            shape: None,
        }
    }

    /// Computes the outputs and the derivatives of an order.
    pub(super) fn run(&mut self, order: Order, x: &[S], parameters: &[S]) -> Result<(), Failure> {
        let solved = self.formulas.solved(order).map_err(Failure::Error)?;
        let workspace = self.workspaces[order as usize].get_or_insert_with(|| Box::new(solved.executable.workspace()));
        self.results.resize(solved.executable.outputs()[0], S::default());
        let done = solved.executable.run(workspace, &[x, parameters], &mut [&mut self.results]);
        done.map_err(Failure::Invalid)
    }

    /// The outputs of the last run.
    pub(super) fn outputs(&self) -> &[S] {
        &self.results[..self.formulas.outputs]
    }
    /// The entries of the Jacobian, or of the gradient.
    pub(super) fn jacobian(&self, order: Order) -> Result<&[S], Error> {
        let first = self.formulas.outputs;
        Ok(&self.results[first..first + self.formulas.solved(order)?.jacobian.columns.len()])
    }
    /// The entries of the Hessian.
    pub(super) fn hessian(&self) -> Result<&[S], Error> {
        let solved = self.formulas.solved(Order::Second)?;
        Ok(&self.results[self.formulas.outputs + solved.jacobian.columns.len()..])
    }
}
