//! The backend of the ranks together: its types and how it is made.
//!
//! Made by users; the operators are in `matrices`, `rows` and `terms`.

use crate::local_rows::RowSplit;
use crate::part::Part;
use crate::ranks::Ranks;
use differentiation_interface::backend::{Backend, SecondOrder};
use differentiation_interface::sparse::matrix_coloring::Direct;
use differentiation_interface::sparse::{AutoSparse, MixedMode};

/// Derivatives by all ranks together. Every rank calls the same operators with the same arguments.
///
/// - `jacobian` and `hessian`: each rank computes a part of the seeds, or of the colours of a sparse matrix, and every rank
///   returns the whole matrix. [`in_rows`](Distributed::in_rows) leaves each rank its rows instead.
/// - `gradient` and `hvp` of a sum: each rank computes its [`Terms`](crate::Terms), and every rank returns the sum.
///
/// Results do not depend on the number of ranks, bit by bit: one rank computes each entry of a matrix, from a whole product with a
/// seed, and sums have the same shape for any number of ranks.
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_mpi::{Distributed, Ranks, mpi};
///
/// #[differentiable]
/// fn differences(x: &[f64]) -> Vec<f64> {
///     x.windows(2).map(|w| (w[1] - w[0]) * (w[1] - w[0])).collect()
/// }
///
/// let universe = mpi::initialize().expect("MPI is not initialised yet");
/// let ranks = Ranks::new(&universe.world());
/// let dense = Distributed::new(&ranks, AutoForwardDiff::default());
/// let jac = jacobian(&Differences, &dense, &[1.0, 2.0, 4.0])?;
/// assert_eq!(jac, [[-2.0, 2.0, 0.0], [0.0, -4.0, 4.0]]);
///
/// let sparse = Distributed::over(&ranks, AutoSparse::new(ranks.part(AutoForwardDiff::default())));
/// let jac = jacobian(&Differences, &sparse, &[1.0, 2.0, 4.0])?;
/// assert_eq!(jac.values(), [-2.0, 2.0, -4.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Distributed<I, M = Gathered> {
    pub(crate) ranks: Ranks,
    pub(crate) inner: I,
    pub(crate) place: M,
}

/// The whole result is on every rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gathered;

/// Each rank holds its rows of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InRows(pub(crate) RowSplit);

/// What computes this rank's part of a matrix: a [`Part`], a `SecondOrder` or `MixedMode` of two, or `AutoSparse` of one of these
/// with direct decompression.
#[diagnostic::on_unimplemented(
    message = "`{Self}` computes the whole matrix on every rank",
    note = "pass a part: `Distributed::over(&ranks, AutoSparse::new(ranks.part(backend)))`, or a dense backend to `Distributed::new`",
    note = "`Substitution` adds entries of different ranks; use the default decompression"
)]
pub trait Parts {}
impl<B> Parts for Part<B> {}
impl<O, I> Parts for SecondOrder<Part<O>, Part<I>> {}
impl<F, R> Parts for MixedMode<Part<F>, Part<R>> {}
impl<D: Parts, S, A> Parts for AutoSparse<D, S, A, Direct> {}

impl<B: Backend> Distributed<Part<B>> {
    /// Derivatives by a backend on all ranks.
    pub fn new(ranks: &Ranks, backend: B) -> Self {
        Distributed::over(ranks, ranks.part(backend))
    }
}

impl<I: Parts> Distributed<I> {
    /// Derivatives by parts of backends: `AutoSparse::new(ranks.part(backend))`, `SecondOrder(ranks.part(outer), ranks.part(inner))`.
    pub fn over(ranks: &Ranks, inner: I) -> Self {
        Distributed { ranks: *ranks, inner, place: Gathered }
    }
}

impl<I, M> Distributed<I, M> {
    /// The same, leaving each rank its rows of a Jacobian or Hessian, a [`LocalRows`](crate::LocalRows).
    pub fn in_rows(self, split: RowSplit) -> Distributed<I, InRows> {
        Distributed { ranks: self.ranks, inner: self.inner, place: InRows(split) }
    }
    /// The ranks.
    pub fn ranks(&self) -> &Ranks {
        &self.ranks
    }
}
