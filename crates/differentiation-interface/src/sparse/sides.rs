//! The dense part of a sparse Jacobian: one backend, or one for columns and one for rows.

use differentiation_interface_core::backend::{Backend, Direction, Mode};

/// Two dense backends for one sparse Jacobian: columns by the first, rows by the second.
///
/// Useful if a few rows and a few columns are dense, so that one direction alone would need many colours.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// /// The first output depends on all inputs, all outputs on the first input.
/// #[differentiable]
/// fn arrow(x: &[f64]) -> Vec<f64> {
///     let sum: f64 = x.iter().sum();
///     (0..x.len()).map(|i| if i == 0 { sum } else { x[0] * x[i] }).collect()
/// }
/// let x = [2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
/// let both = MixedMode(AutoForwardDiff::default(), AutoReverseDiff::default());
/// let mut mixed = prepare_jacobian(&Arrow, &AutoSparse::new(both), &x)?;
/// let columns = prepare_jacobian(&Arrow, &AutoSparse::new(AutoForwardDiff::default()), &x)?;
/// assert!(mixed.state().ncolors() < columns.state().ncolors()); // here 6: columns of a full row share nothing
/// let jac = mixed.jacobian(&x)?;
/// assert_eq!((jac.get(0, 5), jac.get(3, 0), jac.get(3, 3), jac.get(3, 4)), (1.0, 5.0, 2.0, 0.0));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MixedMode<F, R>(
    /// The forward backend.
    pub F,
    /// The reverse backend.
    pub R,
);

/// Whether rows or columns of a Jacobian are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Columns, by pushforwards.
    Columns,
    /// Rows, by pullbacks.
    Rows,
    /// Both.
    Both,
}

/// What `AutoSparse` accepts as its dense part for a Jacobian: a backend, or [`MixedMode`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the dense part of a sparse Jacobian",
    note = "pass a backend, or `MixedMode(forward, reverse)` of two"
)]
pub trait JacobianSides: Clone + Send + Sync + 'static {
    /// Computes the columns.
    type Forward: Backend;
    /// Computes the rows.
    type Reverse: Backend;
    /// Whether rows or columns are coloured.
    const PARTITION: Partition;
    /// The two backends.
    fn sides(&self) -> (&Self::Forward, &Self::Reverse);
}

impl<B: Backend> JacobianSides for B {
    type Forward = B;
    type Reverse = B;
    const PARTITION: Partition = match B::Mode::DIRECTION {
        Direction::Reverse => Partition::Rows,
        Direction::Forward | Direction::Both => Partition::Columns,
    };
    fn sides(&self) -> (&B, &B) {
        (self, self)
    }
}

impl<F: Backend, R: Backend> JacobianSides for MixedMode<F, R> {
    type Forward = F;
    type Reverse = R;
    const PARTITION: Partition = Partition::Both;
    fn sides(&self) -> (&F, &R) {
        (&self.0, &self.1)
    }
}
