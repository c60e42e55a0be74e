//! Routes from operators to primitives, with all fallbacks of first order.
//!
//! ```text
//! pushforward   Native        -> PushforwardPrimitive
//!               ViaPullback   -> rows of the Jacobian by pullbacks of basis vectors, then dot products
//! pullback      Native        -> PullbackPrimitive
//!               ViaPushforward-> columns of the Jacobian by pushforwards of basis vectors, then dot products
//! derivative, gradient, jacobian (all are the matrix ∂y/∂x, with one column, one row, or many)
//!               ViaPushforward-> one pushforward of all basis vectors of the input
//!               ViaPullback   -> one pullback of all basis vectors of the output
//! ```

use super::contract::{MatrixRoute, PullbackRoute, PushforwardRoute, check_nesting};
use super::lanes::Lanes;
use super::mode::Direction;
use super::primitive::{PullbackPrimitive, PushforwardPrimitive};
use super::rows::Rows;
use super::seeds::Seeds;
use crate::error::Error;
use crate::evaluate::Flat;
use crate::scalar::{Base, Scalar};

/// The backend's own primitive.
#[derive(Clone, Copy, Debug)]
pub struct Native;
/// Assembled from pushforwards.
#[derive(Clone, Copy, Debug)]
pub struct ViaPushforward;
/// Assembled from pullbacks.
#[derive(Clone, Copy, Debug)]
pub struct ViaPullback;

impl<B: PushforwardPrimitive> PushforwardRoute<B> for Native {
    const NAME: &'static str = "native";
    type State<S: Scalar, L: Lanes> = B::PushforwardState<S, L>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error> {
        const { check_nesting::<B, S>() };
        backend.pushforward_state(inputs, seeds)
    }
    #[inline]
    fn hold<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        backend.hold(state, f, x, y)
    }
    #[inline]
    fn pushforward<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        backend.pushforward(state, f, x, seeds, y, rows)
    }
    #[inline]
    fn held<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        backend.pushforward_held(state, f, seeds, rows)
    }
    fn seeds_per_pass<L: Lanes>(backend: &B, seeds: usize) -> usize {
        PushforwardPrimitive::seeds_per_pass::<L>(backend, seeds)
    }
}

/// A primitive's state with the buffers of a fallback: the outputs, and a chunk of rows or columns.
#[derive(Clone, Debug)]
pub struct Fallback<State, S> {
    state: State,
    inputs: usize,
    outputs: Vec<S>,
    chunk: Vec<S>,
}

impl<State, S> Fallback<State, S> {
    fn new(state: State) -> Self {
        Fallback { state, inputs: 0, outputs: Vec::new(), chunk: Vec::new() }
    }
}

/// The number of basis vectors that a fallback passes to a primitive at once.
fn chunk_of<L: Lanes>() -> usize {
    L::N.max(8)
}

impl<B: PullbackPrimitive> PushforwardRoute<B> for ViaPullback {
    const NAME: &'static str = "via pullback";
    type State<S: Scalar, L: Lanes> = Fallback<B::PullbackState<S, L>, S>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize, _seeds: usize) -> Result<Self::State<S, L>, Error> {
        const { check_nesting::<B, S>() };
        Ok(Fallback::new(backend.pullback_state(inputs)?))
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        backend.record(&mut state.state, f, x, y)?;
        state.inputs = x.len();
        state.outputs.clone_from(y);
        Ok(())
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        backend.record(&mut state.state, f, x, &mut state.outputs)?;
        state.inputs = x.len();
        if let Some(y) = y {
            y.clone_from(&state.outputs);
        }
        Self::held(backend, state, f, seeds, rows)
    }
    fn held<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let (n, m) = (state.inputs, state.outputs.len());
        rows.set_rows(m)?;
        let mut first = 0;
        while first < m {
            let count = chunk_of::<L>().min(m - first);
            backend.sweep(&mut state.state, f, Seeds::Basis { first, count }, Rows::growing(&mut state.chunk, n))?;
            for i in 0..count {
                let row = &state.chunk[i * n..(i + 1) * n];
                for k in 0..seeds.count() {
                    rows.part(first + i, k, 1)[0] = dot(row, &seeds, k);
                }
            }
            first += count;
        }
        Ok(())
    }
}

/// The product of a vector with seed `k`.
fn dot<S: Scalar>(vector: &[S], seeds: &Seeds<'_, S>, k: usize) -> S {
    match seeds {
        Seeds::Basis { first, .. } => vector[first + k],
        Seeds::Vectors(seeds) => {
            let mut sum = S::constant(S::Base::ZERO);
            for (a, b) in vector.iter().zip(seeds[k]) {
                // A zero seed entry must not meet an infinite derivative: 0 · ∞ is NaN.
                if !b.is_inert_zero() {
                    sum += *a * *b;
                }
            }
            sum
        }
        Seeds::Colors { colors, first, .. } => {
            let taken = vector.iter().zip(*colors).filter(|(_, color)| **color as usize == first + k);
            taken.fold(S::constant(S::Base::ZERO), |sum, (a, _)| sum + *a)
        }
    }
}

impl<B: PullbackPrimitive> PullbackRoute<B> for Native {
    const NAME: &'static str = "native";
    type State<S: Scalar, L: Lanes> = B::PullbackState<S, L>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error> {
        const { check_nesting::<B, S>() };
        backend.pullback_state(inputs)
    }
    #[inline]
    fn record<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        backend.record(state, f, x, y)
    }
    #[inline]
    fn sweep<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        backend.sweep(state, f, seeds, rows)
    }
    #[inline]
    fn at_once<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: &mut Vec<S>,
        rows: Rows<'_, S>,
    ) -> bool {
        backend.at_once(state, f, x, seeds, y, rows)
    }
    fn seeds_per_pass<L: Lanes>(backend: &B, seeds: usize) -> usize {
        PullbackPrimitive::seeds_per_pass::<L>(backend, seeds)
    }
}

impl<B: PushforwardPrimitive> PullbackRoute<B> for ViaPushforward {
    const NAME: &'static str = "via pushforward";
    type State<S: Scalar, L: Lanes> = Fallback<B::PushforwardState<S, L>, S>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error> {
        const { check_nesting::<B, S>() };
        Ok(Fallback::new(backend.pushforward_state(inputs, inputs)?))
    }
    fn record<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        backend.hold(&mut state.state, f, x, y)?;
        state.inputs = x.len();
        state.outputs.clone_from(y);
        Ok(())
    }
    fn sweep<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let (n, m) = (state.inputs, state.outputs.len());
        rows.set_rows(seeds.count())?;
        let mut first = 0;
        while first < n {
            let count = chunk_of::<L>().min(n - first);
            let columns = Rows::growing(&mut state.chunk, count);
            backend.pushforward_held(&mut state.state, f, Seeds::Basis { first, count }, columns)?;
            for k in 0..seeds.count() {
                let part = rows.part(k, first, count);
                part.fill(S::constant(S::Base::ZERO));
                for i in 0..m {
                    let weight = seeds.entry(k, i);
                    if weight.is_inert_zero() {
                        continue;
                    }
                    for (sum, entry) in part.iter_mut().zip(&state.chunk[i * count..(i + 1) * count]) {
                        *sum += weight * *entry;
                    }
                }
            }
            first += count;
        }
        Ok(())
    }
}

impl<B: PushforwardPrimitive> MatrixRoute<B> for ViaPushforward {
    const NAME: &'static str = "via pushforward";
    type State<S: Scalar, L: Lanes> = B::PushforwardState<S, L>;
    const ON_STACK: bool = B::ON_STACK;

    #[inline]
    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error> {
        const { check_nesting::<B, S>() };
        backend.pushforward_state(inputs, inputs)
    }
    fn prepare<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        backend.hold(state, f, x, y)
    }
    #[inline]
    fn matrix<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        backend.pushforward(state, f, x, Seeds::all(x.len()), y, rows)
    }
    fn divides(_backend: &B) -> Option<Direction> {
        Some(Direction::Forward)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn on_stack<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        f: &mut F,
        x: &[S],
        y: Option<&mut [S]>,
        matrix: &mut [S],
    ) -> bool {
        backend.jacobian_on_stack::<S, L, F>(f, x, y, matrix)
    }
}

impl<B: PullbackPrimitive> MatrixRoute<B> for ViaPullback {
    const NAME: &'static str = "via pullback";
    type State<S: Scalar, L: Lanes> = Fallback<B::PullbackState<S, L>, S>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error> {
        const { check_nesting::<B, S>() };
        Ok(Fallback::new(backend.pullback_state(inputs)?))
    }
    fn prepare<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        backend.record(&mut state.state, f, x, y)?;
        state.inputs = x.len();
        state.outputs.clone_from(y);
        // One sweep sizes the adjoints; its result is dropped.
        let seeds = Seeds::all(y.len().min(chunk_of::<L>()));
        backend.sweep(&mut state.state, f, seeds, Rows::growing(&mut state.chunk, state.inputs))
    }
    #[inline]
    fn matrix<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        backend.record(&mut state.state, f, x, &mut state.outputs)?;
        backend.sweep(&mut state.state, f, Seeds::all(state.outputs.len()), rows)?;
        if let Some(y) = y {
            y.clone_from(&state.outputs);
        }
        Ok(())
    }
    fn divides(_backend: &B) -> Option<Direction> {
        Some(Direction::Reverse)
    }
}
