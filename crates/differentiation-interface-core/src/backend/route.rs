//! Routes: from an operator to a primitive. The whole fallback chain is in this file.
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

use super::{Backend, Entries, Lanes, PullbackPrimitive, PushforwardPrimitive, Rows, Seeds};
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

/// How `pushforward` reaches the backend `B`. The contract of the methods is that of [`PushforwardPrimitive`].
#[expect(missing_docs, reason = "documented at PushforwardPrimitive")]
pub trait PushforwardRoute<B: Backend> {
    /// Name in tables.
    const NAME: &'static str;
    type State<S: Scalar, L: Lanes>: Clone + Send + 'static;
    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error>;
    fn hold<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error>;
    fn pushforward<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;
    fn held<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;
    fn entries<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        _backend: &B,
        _state: &mut Self::State<S, L>,
        _f: &mut F,
        _x: &[S],
        _entries: Entries<'_, S>,
        _y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        Ok(false)
    }
}

impl<B: PushforwardPrimitive> PushforwardRoute<B> for Native {
    const NAME: &'static str = "native";
    type State<S: Scalar, L: Lanes> = B::PushforwardState<S, L>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error> {
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
    #[inline]
    fn entries<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        entries: Entries<'_, S>,
        y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        backend.entries(state, f, x, entries, y)
    }
}

/// A primitive's state with the buffers of a fallback: the outputs, and a stretch of rows or columns.
#[derive(Clone, Debug)]
pub struct Assembled<State, S> {
    state: State,
    inputs: usize,
    outputs: Vec<S>,
    stretch: Vec<S>,
}

impl<State, S> Assembled<State, S> {
    fn new(state: State) -> Self {
        Assembled { state, inputs: 0, outputs: Vec::new(), stretch: Vec::new() }
    }
}

/// How many basis vectors a fallback sends through a primitive at once.
fn stretch_of<L: Lanes>() -> usize {
    L::N.max(8)
}

impl<B: PullbackPrimitive> PushforwardRoute<B> for ViaPullback {
    const NAME: &'static str = "via pullback";
    type State<S: Scalar, L: Lanes> = Assembled<B::PullbackState<S, L>, S>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize, _seeds: usize) -> Result<Self::State<S, L>, Error> {
        Ok(Assembled::new(backend.pullback_state(inputs)?))
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
        _f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let (n, m) = (state.inputs, state.outputs.len());
        rows.set_rows(m)?;
        let mut first = 0;
        while first < m {
            let count = stretch_of::<L>().min(m - first);
            backend.sweep(&mut state.state, Seeds::Basis { first, count }, Rows::growing(&mut state.stretch, n))?;
            for i in 0..count {
                let row = &state.stretch[i * n..(i + 1) * n];
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
                // A direction that is not taken is not spoiled by an infinite derivative along it.
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

/// How `pullback` reaches the backend `B`. The contract of the methods is that of [`PullbackPrimitive`], except that
/// `sweep` may call the function.
#[expect(missing_docs, reason = "documented at PullbackPrimitive")]
pub trait PullbackRoute<B: Backend> {
    /// Name in tables.
    const NAME: &'static str;
    type State<S: Scalar, L: Lanes>: Clone + Send + 'static;
    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error>;
    fn record<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error>;
    fn sweep<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;
}

impl<B: PullbackPrimitive> PullbackRoute<B> for Native {
    const NAME: &'static str = "native";
    type State<S: Scalar, L: Lanes> = B::PullbackState<S, L>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error> {
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
        _f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        backend.sweep(state, seeds, rows)
    }
}

impl<B: PushforwardPrimitive> PullbackRoute<B> for ViaPushforward {
    const NAME: &'static str = "via pushforward";
    type State<S: Scalar, L: Lanes> = Assembled<B::PushforwardState<S, L>, S>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error> {
        Ok(Assembled::new(backend.pushforward_state(inputs, inputs)?))
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
            let count = stretch_of::<L>().min(n - first);
            let columns = Rows::growing(&mut state.stretch, count);
            backend.pushforward_held(&mut state.state, f, Seeds::Basis { first, count }, columns)?;
            for k in 0..seeds.count() {
                let part = rows.part(k, first, count);
                part.fill(S::constant(S::Base::ZERO));
                for i in 0..m {
                    let weight = seeds.entry(k, i);
                    if weight.is_inert_zero() {
                        continue;
                    }
                    for (sum, entry) in part.iter_mut().zip(&state.stretch[i * count..(i + 1) * count]) {
                        *sum += weight * *entry;
                    }
                }
            }
            first += count;
        }
        Ok(())
    }
}

/// How `derivative`, `gradient` and `jacobian` reach the backend `B`: all of them are the matrix ∂y/∂x, row-major, with
/// one column per input.
#[expect(missing_docs, reason = "documented at the primitives")]
pub trait MatrixRoute<B: Backend> {
    /// Name in tables.
    const NAME: &'static str;
    type State<S: Scalar, L: Lanes>: Clone + Send + 'static;
    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error>;
    /// Evaluates the function once, leaves its outputs in `y`, and sizes all buffers for [`matrix`](Self::matrix).
    fn warm<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error>;
    /// Fills the matrix, and leaves the outputs in `y` if asked for.
    fn matrix<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;
    /// The same by what earlier calls left, without running the function, so that no fault is raised; `false` if there is nothing that
    /// serves, and then [`matrix`](Self::matrix) is called. For gradients so small that watching for faults shows.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn again<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        _state: &mut Self::State<S, L>,
        _f: &F,
        _x: &[S],
        _y: Option<&mut [S]>,
        _rows: &mut Rows<'_, S>,
    ) -> bool {
        false
    }
}

impl<B: PushforwardPrimitive> MatrixRoute<B> for ViaPushforward {
    const NAME: &'static str = "via pushforward";
    type State<S: Scalar, L: Lanes> = B::PushforwardState<S, L>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error> {
        backend.pushforward_state(inputs, inputs)
    }
    fn warm<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
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
}

impl<B: PullbackPrimitive> MatrixRoute<B> for ViaPullback {
    const NAME: &'static str = "via pullback";
    type State<S: Scalar, L: Lanes> = Assembled<B::PullbackState<S, L>, S>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error> {
        Ok(Assembled::new(backend.pullback_state(inputs)?))
    }
    fn warm<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
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
        let seeds = Seeds::all(y.len().min(stretch_of::<L>()));
        backend.sweep(&mut state.state, seeds, Rows::growing(&mut state.stretch, state.inputs))
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
        backend.sweep(&mut state.state, Seeds::all(state.outputs.len()), rows)?;
        if let Some(y) = y {
            y.clone_from(&state.outputs);
        }
        Ok(())
    }
}
