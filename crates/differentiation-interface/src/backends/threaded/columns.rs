//! One share of the columns of a derivative matrix: pushforwards on one thread.
//!
//! Called by `dense`, `pushforward` and `sparse`; calls the inner backend's pushforward route.

use super::division::Division;
use differentiation_interface_core::backend::{Backend, Lanes, PushforwardRoute, Rows, Seeds};
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

/// The number of entries in the memory for products on their way into a matrix: they stay in the cache of a core.
const BLOCK: usize = 1 << 14;

/// Where products go.
pub(super) enum Target<'a, 'b, S> {
    /// A matrix with the columns of this share alone.
    Own(&'a mut [S]),
    /// Parts of the rows of a matrix of all shares.
    Parts(&'a mut [&'b mut [S]]),
    /// Nowhere: the first products alone, which size the memory.
    Nowhere,
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
    block: Vec<X::Scalar>,
}

impl<B: Backend, X: Shape, C: Contexts, L: Lanes, K: Clone> Clone for ColumnShare<B, X, C, L, K> {
    fn clone(&self) -> Self {
        ColumnShare {
            state: self.state.clone(),
            storage: self.storage.clone(),
            kept: self.kept.clone(),
            y: self.y.clone(),
            held: self.held.clone(),
            block: self.block.clone(),
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
            block: Vec::new(),
        })
    }

    /// Fits the share to a point before its thread starts.
    pub(super) fn fit<P: Point<Shape = X, Contexts = C>>(&mut self, x: At<'_, P>) {
        self.storage.fit(x);
    }

    /// Fills the products of the seeds of `part` with a Jacobian of `outputs` rows, and keeps the value if `with_value`.
    pub(super) fn fill<F>(
        &mut self,
        call: &Call<'_, B, F, X, C>,
        seeds: Seeds<'_, X::Scalar>,
        (division, part): (&Division, usize),
        outputs: usize,
        with_value: bool,
        mut target: Target<'_, '_, X::Scalar>,
    ) -> Result<(), Error>
    where
        F: Evaluate<X, C, NumOf<B, X, L>, Output: Output<NumOf<B, X, L>, Kept = K>>,
    {
        let ColumnShare { state, storage, kept, y, held, block } = self;
        let mut f = Bound::fitted(call.function, call.contexts, storage, kept);
        let range = division.range(part);
        // Products for a matrix of their own need no block, and one output has one slice.
        let most = match &target {
            Target::Own(_) => range.len(),
            Target::Parts(_) | Target::Nowhere => BLOCK / outputs.max(1),
        };
        let calls = division.calls(part, most);
        // Of several calls at one point, most need not repeat what depends on the point alone.
        let mut is_held = false;
        let in_one_call = calls.is_last();
        fault::watch(|| {
            let mut with_value = with_value;
            for taken in calls {
                let (first, count) = (taken.start - range.start, taken.len());
                let rows = match &mut target {
                    Target::Own(own) if outputs == 1 || in_one_call => {
                        Rows::fixed(&mut own[first * outputs..][..count * outputs], count)
                    }
                    Target::Parts([row]) => Rows::fixed(&mut row[first..][..count], count),
                    _ => Rows::growing(block, count),
                };
                let rows = rows.expecting(Some(outputs));
                let part_of_seeds = seeds.part(taken.start, count);
                if with_value || in_one_call {
                    let value = with_value.then_some(&mut *y);
                    B::Pushforward::pushforward(call.backend, state, &mut f, call.x, part_of_seeds, value, rows)?;
                    with_value = false;
                } else {
                    if !std::mem::replace(&mut is_held, true) {
                        B::Pushforward::hold(call.backend, state, &mut f, call.x, held)?;
                    }
                    B::Pushforward::held(call.backend, state, &mut f, part_of_seeds, rows)?;
                }
                match &mut target {
                    Target::Own(_) if outputs == 1 || in_one_call => {}
                    Target::Own(own) => copy(block, count, first, own.chunks_exact_mut(range.len())),
                    Target::Parts([_]) => {}
                    Target::Parts(rows) => copy(block, count, first, rows.iter_mut().map(|row| &mut **row)),
                    Target::Nowhere => return Ok(()),
                }
            }
            Ok(())
        })
    }
}

/// Copies a block of `count` columns into columns `first..` of rows.
pub(super) fn copy<'a, S: Copy + 'a>(block: &[S], count: usize, first: usize, rows: impl Iterator<Item = &'a mut [S]>) {
    for (row, values) in rows.zip(block.chunks_exact(count)) {
        row[first..first + count].copy_from_slice(values);
    }
}
