//! One share of the rows of a derivative matrix: pullbacks on one thread.
//!
//! Called by `dense`, `pullback` and `sparse`; calls the inner backend's pullback route.

use super::columns::Call;
use super::division::Division;
use differentiation_interface_core::backend::{Backend, Lanes, PullbackRoute, Rows, Seeds};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::{Bound, Evaluate, Output, Storage};
use differentiation_interface_core::fault;
use differentiation_interface_core::operators::NumOf;
use differentiation_interface_core::point::{At, Point, Shape};

/// State and memory of one share. Its tape is recorded on the thread that sweeps it.
pub struct RowShare<B: Backend, X: Shape, C: Contexts, L: Lanes, K> {
    state: <B::Pullback as PullbackRoute<B>>::State<X::Scalar, L>,
    storage: Storage<X, C, NumOf<B, X, L>>,
    /// What the last evaluation kept of its output.
    pub(super) kept: K,
    /// The outputs of the last recording.
    pub(super) y: Vec<X::Scalar>,
    block: Vec<X::Scalar>,
}

impl<B: Backend, X: Shape, C: Contexts, L: Lanes, K: Clone> Clone for RowShare<B, X, C, L, K> {
    fn clone(&self) -> Self {
        RowShare {
            state: self.state.clone(),
            storage: self.storage.clone(),
            kept: self.kept.clone(),
            y: self.y.clone(),
            block: self.block.clone(),
        }
    }
}

impl<B: Backend, X: Shape, C: Contexts, L: Lanes, K: Default> RowShare<B, X, C, L, K> {
    pub(super) fn new<P: Point<Shape = X, Contexts = C>>(backend: &B, x: At<'_, P>) -> Result<Self, Error> {
        Ok(RowShare {
            state: B::Pullback::state(backend, x.coordinates().len())?,
            storage: Storage::new(x),
            kept: K::default(),
            y: Vec::new(),
            block: Vec::new(),
        })
    }

    /// Fits the share to a point before its thread starts.
    pub(super) fn fit<P: Point<Shape = X, Contexts = C>>(&mut self, x: At<'_, P>) {
        self.storage.fit(x);
    }

    /// Records the function, which has `outputs` outputs if that is known.
    pub(super) fn record<F>(&mut self, call: &Call<'_, B, F, X, C>, outputs: Option<usize>) -> Result<(), Error>
    where
        F: Evaluate<X, C, NumOf<B, X, L>, Output: Output<NumOf<B, X, L>, Kept = K>>,
    {
        let RowShare { state, storage, kept, y, .. } = self;
        let mut f = Bound::fitted(call.function, call.contexts, storage, kept);
        f.begin();
        fault::watch(|| B::Pullback::record(call.backend, state, &mut f, call.x, y))?;
        f.settle(call.x)?;
        match outputs {
            Some(expected) if expected != y.len() => Err(ErrorKind::OutputLength { expected, found: y.len() }.into()),
            _ => Ok(()),
        }
    }

    /// Fills the products of the seeds of `part` with the transposed Jacobian of the last recording, one row for each. Without a matrix, the
    /// first products size the memory.
    pub(super) fn sweep<F>(
        &mut self,
        call: &Call<'_, B, F, X, C>,
        seeds: Seeds<'_, X::Scalar>,
        (division, part): (&Division, usize),
        mut matrix: Option<&mut [X::Scalar]>,
    ) -> Result<(), Error>
    where
        F: Evaluate<X, C, NumOf<B, X, L>, Output: Output<NumOf<B, X, L>, Kept = K>>,
    {
        let RowShare { state, storage, kept, block, .. } = self;
        let mut f = Bound::fitted(call.function, call.contexts, storage, kept);
        let (range, columns) = (division.range(part), call.x.len());
        let most = if matrix.is_some() { range.len() } else { 1 };
        fault::watch(|| {
            for taken in division.calls(part, most) {
                let (first, count) = (taken.start - range.start, taken.len());
                let rows = match &mut matrix {
                    Some(matrix) => Rows::fixed(&mut matrix[first * columns..][..count * columns], columns),
                    None => Rows::growing(block, columns),
                };
                B::Pullback::sweep(call.backend, state, &mut f, seeds.part(taken.start, count), rows)?;
                if matrix.is_none() {
                    break;
                }
            }
            Ok(())
        })
    }
}
