//! One share of the columns of a derivative matrix: pushforwards on one thread.
//!
//! Called by `dense`, `pushforward` and `sparse`; calls the inner backend's pushforward route.

use super::division::Division;
use differentiation_interface_core::backend::{
    Backend, ColumnMemory, Lanes, MatrixColumns, PushforwardRoute, Rows, Seeds,
};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::{Bound, Evaluate, Output, Storage};
use differentiation_interface_core::fault;
use differentiation_interface_core::operators::NumOf;
use differentiation_interface_core::point::{At, Point, Shape};

/// The arguments of a call that all threads see.
pub(super) struct Call<'a, B, F, X: Shape, C: Contexts> {
    pub(super) backend: &'a B,
    pub(super) function: &'a F,
    pub(super) contexts: C::Values<'a>,
    pub(super) x: &'a [X::Scalar],
}

/// State and memory of one share.
pub struct ColumnShare<B: Backend, X: Shape, C: Contexts, L: Lanes, K> {
    state: <B::Pushforward as PushforwardRoute<B>>::State<X::Scalar, L>,
    storage: Storage<X, C, NumOf<B, X, L>>,
    /// What the last evaluation kept of its output.
    pub(super) kept: K,
    /// The outputs of the last call with the value.
    pub(super) y: Vec<X::Scalar>,
    held: Vec<X::Scalar>,
    memory: ColumnMemory<X::Scalar>,
}

impl<B: Backend, X: Shape, C: Contexts, L: Lanes, K: Clone> Clone for ColumnShare<B, X, C, L, K> {
    fn clone(&self) -> Self {
        ColumnShare {
            state: self.state.clone(),
            storage: self.storage.clone(),
            kept: self.kept.clone(),
            y: self.y.clone(),
            held: self.held.clone(),
            memory: self.memory.clone(),
        }
    }
}

impl<B: Backend, X: Shape, C: Contexts, L: Lanes, K: Default> ColumnShare<B, X, C, L, K> {
    pub(super) fn new<P>(backend: &B, x: At<'_, P>, seeds: usize) -> Result<Self, Error>
    where
        P: Point<Shape = X, Contexts = C>,
    {
        Ok(ColumnShare {
            state: B::Pushforward::state(backend, x.coordinates().len(), seeds)?,
            storage: Storage::new(x),
            kept: K::default(),
            y: Vec::new(),
            held: Vec::new(),
            memory: ColumnMemory::default(),
        })
    }

    /// Fits the share to a point before its thread starts.
    pub(super) fn fit<P: Point<Shape = X, Contexts = C>>(&mut self, x: At<'_, P>) {
        self.storage.fit(x);
    }

    /// Fills the products of the seeds of `part` with a Jacobian of `outputs` rows, and keeps the value if `with_value`. Without a target, the
    /// first products size the memory.
    pub(super) fn fill<F>(
        &mut self,
        call: &Call<'_, B, F, X, C>,
        seeds: Seeds<'_, X::Scalar>,
        (division, part): (&Division, usize),
        outputs: usize,
        with_value: bool,
        mut target: Option<MatrixColumns<'_, X::Scalar>>,
    ) -> Result<(), Error>
    where
        F: Evaluate<X, C, NumOf<B, X, L>, Output: Output<NumOf<B, X, L>, Kept = K>>,
    {
        let ColumnShare { state, storage, kept, y, held, memory } = self;
        let mut f = Bound::fitted(call.function, call.contexts, storage, kept);
        f.begin();
        let range = division.range(part);
        let calls = division.calls(part, if target.is_some() { range.len() } else { 1 });
        // Of two calls at one point, the second need not repeat what depends on the point alone.
        let (in_one_call, mut is_held, mut with_value) = (calls.is_last(), false, with_value);
        fault::watch(|| {
            for taken in calls {
                let seeds = seeds.part(taken.start, taken.len());
                let mut fill = |rows: Rows<'_, X::Scalar>| {
                    let rows = rows.expecting(Some(outputs));
                    let wants_value = std::mem::take(&mut with_value);
                    if wants_value || in_one_call {
                        let value = wants_value.then_some(&mut *y);
                        return B::Pushforward::pushforward(call.backend, state, &mut f, call.x, seeds, value, rows);
                    }
                    if !std::mem::replace(&mut is_held, true) {
                        B::Pushforward::hold(call.backend, state, &mut f, call.x, held)?;
                    }
                    B::Pushforward::held(call.backend, state, &mut f, seeds, rows)
                };
                match &mut target {
                    Some(all) => {
                        memory.with_rows(all.range(taken.start - range.start..taken.end - range.start), fill)?;
                    }
                    None => {
                        fill(memory.rows(taken.len()))?;
                        break;
                    }
                }
            }
            Ok(())
        })?;
        f.settle(call.x)
    }
}
