//! Forward mode: dual numbers with several lanes of tangents.
//!
//! Reached by operators through the routes below; runs the user's function on [`Dual`]. Products with a Hessian by this
//! backend alone are in `twice.rs`, which runs it on [`HyperDual`], and second derivatives in one variable, which run on [`SecondDual`].

mod dual;
mod hyper_dual;
mod on_stack;
mod second_dual;
#[cfg(all(test, feature = "any", feature = "sparse", not(feature = "native")))]
mod tests;
mod twice;

pub use dual::{Dual, DualCore};
pub use hyper_dual::{HyperDual, HyperDualCore};
pub use second_dual::{SecondDual, SecondDualCore};
pub use twice::HyperState;

use differentiation_interface_core::backend::{
    Backend, Forward, HyperDuals, Lane, Lanes, Lift, MatrixColumns, Native, PushforwardPrimitive, Rows, Seeds,
    ViaPushforward,
};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Num, Scalar};
use dual::Level;
use num_traits::Float;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Forward mode by dual numbers.
///
/// Exact derivatives at a cost proportional to the number of inputs: best for few inputs, many outputs, and for
/// Hessian-vector products as the outer backend of reverse mode. A pass propagates several lanes of tangents, whose number is chosen
/// from the length of the input, up to 12. Tangents that are still zero cost nothing. Numbers of second order, of this backend alone, have up to
/// 4 lanes along seeds and 4 along inputs.
///
/// **Threads.** The function may compute with its numbers on other threads, in parallel. The derivative is bitwise the same as that
/// of a serial run of the same operations.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn norm2<T: Real>(x: &[T]) -> T {
///     x.iter().map(|v| v * v).sum()
/// }
/// assert_eq!(gradient(&norm2, &AutoForwardDiff::default(), &[1.0, 2.0])?, [2.0, 4.0]);
/// // The number of lanes can be fixed; it must not be larger than the input.
/// assert_eq!(gradient(&norm2, &AutoForwardDiff::with_chunk::<2>(), &[1.0, 2.0])?, [2.0, 4.0]);
/// assert!(gradient(&norm2, &AutoForwardDiff::with_chunk::<4>(), &[1.0, 2.0]).is_err());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoForwardDiff<C = AutoChunk>(C);

impl<C: ChunkSize> Backend for AutoForwardDiff<C> {
    const NAME: &'static str = "forward_diff";
    type Lanes = C::Lanes;
    type Num<S: Scalar, L: Lanes> = Dual<S, L>;
    type Mode = Forward<HyperDuals>;
    type Pushforward = Native;
    type Pullback = ViaPushforward;
    type Derivative = ViaPushforward;
    type Gradient = ViaPushforward;
    type Jacobian = ViaPushforward;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inject<S: Scalar, L: Lanes>(value: S) -> Dual<S, L> {
        Num(DualCore::inert(value))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn project<S: Scalar, L: Lanes>(number: &Dual<S, L>) -> S {
        number.0.value()
    }
}

impl<C: ChunkSize, S: Scalar, L: Lanes> Lift<S, Dual<S, L>> for AutoForwardDiff<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> Dual<S, L> {
        Num(DualCore::inert(value))
    }
}

/// The number of lanes of [`AutoForwardDiff`].
pub trait ChunkSize: Copy + Debug + Send + Sync + 'static {
    /// The lanes of the number type.
    type Lanes: Lanes;
    /// Those of numbers of second order, along the seeds of a Hessian and along inputs.
    type Second: Lanes;
    /// The number of lanes used in a pass, at most those of the number type, if the user fixed it. A shorter input is then an error.
    fn fixed(&self) -> Option<usize>;
}

/// Up to 12 lanes, 4 in each direction of second order, the number used in a pass chosen from the length of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoChunk;

/// Exactly `N` lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<const N: usize>;

/// The lanes of [`AutoChunk`], with an optional chunk size fixed at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeChunk(Option<NonZeroUsize>);

// `benches/gradients.rs` with 4, 6, 8, 10 and 12 lanes, without AVX: 12 is the fastest or at most 1.17 times slower than the
// fastest on each workload; every smaller number loses 1.4 times or more on one. 16 lanes are slower on small inputs.
impl ChunkSize for AutoChunk {
    type Lanes = Lane<12>;
    // The Hessians of functions of 1 to 48 inputs: 4 x 4 lanes take a tenth of the time of 12 x 12 for four inputs, half of it for 48, and at most
    // 1.2 times it.
    type Second = Lane<4>;
    fn fixed(&self) -> Option<usize> {
        None
    }
}

impl<const N: usize> ChunkSize for Chunk<N> {
    type Lanes = Lane<N>;
    type Second = Lane<N>;
    fn fixed(&self) -> Option<usize> {
        Some(N)
    }
}

impl RuntimeChunk {
    /// The largest chunk that can be fixed.
    pub const LARGEST: usize = <AutoChunk as ChunkSize>::Lanes::N;
}

impl ChunkSize for RuntimeChunk {
    type Lanes = <AutoChunk as ChunkSize>::Lanes;
    type Second = <AutoChunk as ChunkSize>::Second;
    fn fixed(&self) -> Option<usize> {
        self.0.map(NonZeroUsize::get)
    }
}

impl Default for AutoForwardDiff<AutoChunk> {
    fn default() -> Self {
        AutoForwardDiff(AutoChunk)
    }
}

impl AutoForwardDiff<RuntimeChunk> {
    /// Forward mode with an automatic chunk size, of the same type as with a chunk size fixed at run time.
    pub(crate) const fn automatic() -> Self {
        AutoForwardDiff(RuntimeChunk(None))
    }

    /// Forward mode with the chunk `N`, which does not compile if it is too large.
    #[cfg(feature = "any")]
    pub(crate) const fn of_chunk<const N: usize>() -> Self {
        const { assert!(N >= 1 && N <= RuntimeChunk::LARGEST, "a chunk fixed at run time has from 1 to 12 lanes") };
        AutoForwardDiff(RuntimeChunk(NonZeroUsize::new(N)))
    }
}

impl<C: ChunkSize> AutoForwardDiff<C> {
    /// The chunk size in passes with the lanes `L`, if it is fixed. If the operator chooses the lanes, the chunk size does not apply.
    fn lanes_of<L: Lanes>(&self) -> Option<usize> {
        self.0.fixed().filter(|_| L::ROOM == C::Lanes::ROOM)
    }

    /// The chunk size, if it is fixed.
    pub fn chunk(&self) -> Option<usize> {
        self.0.fixed()
    }
}

impl AutoForwardDiff<AutoChunk> {
    /// Forward mode with a fixed chunk of `N` lanes, which is an error for inputs shorter than that.
    pub fn with_chunk<const N: usize>() -> AutoForwardDiff<Chunk<N>> {
        AutoForwardDiff(Chunk)
    }

    /// Forward mode with a chunk size fixed at run time, or an automatic one for `None`. The numbers have
    /// [`RuntimeChunk::LARGEST`] lanes, 4 in each direction of second order, where a larger chunk takes several passes; a chunk size above the former and
    /// 0 return `None`.
    pub fn with_runtime_chunk(chunk: Option<usize>) -> Option<AutoForwardDiff<RuntimeChunk>> {
        let Some(chunk) = chunk else { return Some(AutoForwardDiff::automatic()) };
        let chunk = NonZeroUsize::new(chunk).filter(|chunk| chunk.get() <= RuntimeChunk::LARGEST)?;
        Some(AutoForwardDiff(RuntimeChunk(Some(chunk))))
    }
}

/// The number of lanes per pass: the smallest number of passes, then lanes distributed as evenly as possible.
///
/// `12` lanes take 100 inputs in 9 passes of 12 (the last one of 4), 13 inputs in 2 passes of 7.
pub fn chunk_size(inputs: usize, lanes: usize) -> usize {
    if inputs <= lanes { inputs } else { inputs.div_ceil(inputs.div_ceil(lanes)) }
}

/// Active inputs and outputs, reused by all calls.
#[derive(Clone, Debug)]
pub struct ForwardState<S: Scalar, L: Lanes> {
    x: Vec<Dual<S, L>>,
    y: Vec<Dual<S, L>>,
    /// Whether the inputs of this call lie where the function reads them, and not in `x`.
    in_place: bool,
    /// The largest number of lanes used in a pass.
    lanes: usize,
    /// The inputs that may have tangents: those of the last pass.
    seeded: Range<usize>,
}

impl<S: Scalar, L: Lanes> ForwardState<S, L> {
    /// A state for up to so many lanes in a pass.
    fn new(lanes: usize) -> Self {
        ForwardState { x: Vec::new(), y: Vec::new(), in_place: false, lanes, seeded: 0..0 }
    }

    /// Sets the point, without tangents.
    #[inline]
    fn set_point(&mut self, x: &[S]) {
        self.in_place = false;
        self.seeded = 0..0;
        self.x.clear();
        self.x.extend(x.iter().map(|&v| Num(DualCore::inert(v))));
    }

    /// Sets the point, without tangents, where the function reads it if it can be written there.
    #[inline]
    fn set_point_of<F: Flat<Dual<S, L>>>(&mut self, f: &mut F, x: &[S]) {
        match f.point_mut() {
            Some(numbers) if numbers.len() == x.len() => {
                self.in_place = true;
                self.seeded = 0..0;
                numbers.iter_mut().zip(x).for_each(|(number, &v)| *number = Num(DualCore::inert(v)));
            }
            _ => self.set_point(x),
        }
    }

    /// The inputs.
    #[inline]
    fn inputs<'a, F: Flat<Dual<S, L>>>(&'a mut self, f: &'a mut F) -> &'a mut [Dual<S, L>] {
        if self.in_place { f.point_mut().expect("the memory was there when the point was set") } else { &mut self.x }
    }

    /// Sets the tangents of inputs `x` to seeds `first..first + count`.
    #[inline]
    fn seed(x: &mut [Dual<S, L>], seeds: &Seeds<'_, S>, first: usize, count: usize, level: &Level) {
        match seeds {
            Seeds::Basis { first: start, .. } => {
                let (zero, one) = (S::constant(S::Base::ZERO), S::constant(S::Base::ONE));
                let zeros = L::each(|_| zero);
                for (lane, x) in x[start + first..][..count].iter_mut().enumerate() {
                    let mut unit = zeros;
                    L::slice_mut(&mut unit)[lane] = one;
                    x.0.set_tangent(level, unit);
                }
            }
            Seeds::Colors { colors, first: start, .. } => {
                let (zero, one) = (S::constant(S::Base::ZERO), S::constant(S::Base::ONE));
                for (x, &color) in x.iter_mut().zip(*colors) {
                    let lane = (color as usize).wrapping_sub(start + first);
                    if lane < count {
                        // Computed lane by lane: writing one entry into an array of zeros causes a store-forwarding stall when the array is read.
                        x.0.set_tangent(level, L::each(|k| if k == lane { one } else { zero }));
                    }
                }
            }
            Seeds::Vectors(vectors) => {
                let vectors = &vectors[first..first + count];
                for (i, x) in x.iter_mut().enumerate() {
                    if vectors.iter().any(|v| !v[i].is_inert_zero()) {
                        let entry = |k| vectors.get(k).map_or(S::constant(S::Base::ZERO), |v: &&[S]| v[i]);
                        x.0.set_tangent(level, L::each(entry));
                    }
                }
            }
        }
    }

    /// Runs the function in as many passes as the seeds need, at the point that has been set.
    #[inline]
    fn passes<F: Flat<Dual<S, L>>>(
        &mut self,
        f: &mut F,
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let total = seeds.count();
        let width = chunk_size(total, self.lanes);
        self.pass(f, &seeds, 0, width, false)?;
        let outputs = self.y.len();
        rows.set_rows(outputs)?;
        if let Some(y) = y {
            self.copy_values(y);
        }
        let mut first = 0;
        loop {
            let count = width.min(total - first);
            let doubtful = self.write_tangents(&mut rows, first, count);
            if count > 1 && doubtful && self.has_spoilt_tangents(&mut rows, first, count) {
                self.separate_passes(f, &seeds, first, count, &mut rows)?;
            }
            first += count;
            if first >= total {
                return Ok(());
            }
            self.pass(f, &seeds, first, width.min(total - first), true)?;
            if self.y.len() != outputs {
                return Err(ErrorKind::OutputLength { expected: outputs, found: self.y.len() }.into());
            }
        }
    }

    /// Writes the tangents of one pass into their columns. Returns whether one of them may be NaN.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write_tangents(&self, rows: &mut Rows<'_, S>, first: usize, count: usize) -> bool {
        if let Some(columns) = rows.columns() {
            return self.write_columns(columns, first, count);
        }
        if count < L::N {
            // A lane without a seed is zero. Spoilt tangents come from 0 · ∞, which makes this lane NaN too.
            let mut doubtful = false;
            for (v, row) in self.y.iter().zip(rows.parts(first, count)) {
                doubtful |= v.0.write_lanes(row);
            }
            doubtful
        } else {
            // If a sum is not NaN, none of its terms is, at a tenth of the cost of testing each term.
            let mut sums = L::each(|_| S::Base::ZERO);
            for (v, row) in self.y.iter().zip(rows.parts(first, count)) {
                v.0.write_all_lanes(row, &mut sums);
            }
            L::slice(&sums).iter().any(|sum| sum.is_nan())
        }
    }

    /// The same into columns of a wider matrix. Not inlined, so that the loops above stay as they are for a matrix in one piece: a loop for
    /// both, with a closure for each row, took 17 % more instructions for the Jacobian of the quadrotor.
    #[inline(never)]
    fn write_columns(&self, columns: &mut MatrixColumns<'_, S>, first: usize, count: usize) -> bool {
        let mut doubtful = false;
        let mut sums = L::each(|_| S::Base::ZERO);
        for (i, v) in self.y.iter().enumerate() {
            let row = &mut columns.row(i)[first..first + count];
            if count < L::N {
                doubtful |= v.0.write_lanes(row);
            } else {
                v.0.write_all_lanes(row, &mut sums);
            }
        }
        doubtful || L::slice(&sums).iter().any(|sum| sum.is_nan())
    }

    /// Whether an output has a tangent that is NaN.
    ///
    /// Lanes share the derivatives of operations: where one is infinite or not a number, a lane that does not depend on it gets its
    /// product with 0.
    #[inline]
    fn has_spoilt_tangents(&self, rows: &mut Rows<'_, S>, first: usize, count: usize) -> bool {
        (0..self.y.len()).any(|i| rows.part(i, first, count).iter().any(|t| t.peek().is_nan()))
    }

    /// Propagates seeds `first..first + count` one by one, so that no lane affects another.
    #[cold]
    #[inline(never)]
    fn separate_passes<F: Flat<Dual<S, L>>>(
        &mut self,
        f: &mut F,
        seeds: &Seeds<'_, S>,
        first: usize,
        count: usize,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), ErrorKind> {
        let outputs = self.y.len();
        for k in first..first + count {
            self.pass(f, seeds, k, 1, true)?;
            if self.y.len() != outputs {
                return Err(ErrorKind::OutputLength { expected: outputs, found: self.y.len() });
            }
            self.write_tangents(rows, k, 1);
        }
        Ok(())
    }

    /// Runs the function once with the tangents of seeds `first..first + count`. Each pass is a differentiation of its own: a number that the
    /// function has kept from another pass has the tangents of other seeds. `follows`: another pass of this call was before.
    #[inline]
    fn pass<F: Flat<Dual<S, L>>>(
        &mut self,
        f: &mut F,
        seeds: &Seeds<'_, S>,
        first: usize,
        count: usize,
        follows: bool,
    ) -> Result<(), ErrorKind> {
        let level = Level::enter();
        let seeded = match seeds {
            Seeds::Basis { first: start, .. } => start + first..start + first + count,
            Seeds::Vectors(_) | Seeds::Colors { .. } => 0..usize::MAX,
        };
        let last = std::mem::replace(&mut self.seeded, seeded.clone());
        let x = self.inputs(f);
        let all = x.len();
        for x in &mut x[last.start..last.end.min(all)] {
            x.0.clear_tangent();
        }
        Self::seed(x, seeds, first, count, &level);
        if self.in_place {
            f.changed(0..0);
        } else if follows {
            f.changed(last.start.min(seeded.start)..last.end.max(seeded.end));
        }
        let x: &[_] = if self.in_place { &[] } else { &self.x };
        f.call(x, &mut self.y);
        level.check(&self.y)
    }

    fn copy_values(&self, y: &mut Vec<S>) {
        y.clear();
        y.extend(self.y.iter().map(|v| v.0.value()));
    }
}

impl<C: ChunkSize> PushforwardPrimitive for AutoForwardDiff<C> {
    type PushforwardState<S: Scalar, L: Lanes> = ForwardState<S, L>;

    #[inline]
    fn pushforward_state<S: Scalar, L: Lanes>(&self, inputs: usize, seeds: usize) -> Result<ForwardState<S, L>, Error> {
        let fixed = self.lanes_of::<L>();
        match fixed {
            Some(chunk) if chunk > seeds && seeds > 0 => Err(ErrorKind::ChunkTooLarge { chunk, inputs }.into()),
            _ => Ok(ForwardState::new(fixed.unwrap_or(L::N))),
        }
    }

    fn hold<S: Scalar, L: Lanes, F: Flat<Dual<S, L>>>(
        &self,
        state: &mut ForwardState<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        // Not where the function reads it: later calls may read another object.
        state.set_point(x);
        let level = Level::enter();
        f.call(&state.x, &mut state.y);
        level.check(&state.y)?;
        state.copy_values(y);
        Ok(())
    }

    #[inline]
    fn pushforward<S: Scalar, L: Lanes, F: Flat<Dual<S, L>>>(
        &self,
        state: &mut ForwardState<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.set_point_of(f, x);
        state.passes(f, seeds, y, rows)
    }

    fn seeds_per_pass<L: Lanes>(&self, seeds: usize) -> usize {
        chunk_size(seeds, self.lanes_of::<L>().unwrap_or(L::N)).max(1)
    }

    const ON_STACK: bool = true;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn jacobian_on_stack<S: Scalar, L: Lanes, F: Flat<Dual<S, L>>>(
        &self,
        f: &mut F,
        x: &[S],
        y: Option<&mut [S]>,
        jacobian: &mut [S],
    ) -> bool {
        let one_pass =
            f.fixed().is_some_and(|inputs| inputs <= L::N && self.0.fixed().is_none_or(|chunk| chunk == inputs));
        one_pass && on_stack::jacobian(f, x, y, jacobian)
    }

    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<Dual<S, L>>>(
        &self,
        state: &mut ForwardState<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.passes(f, seeds, None, rows)
    }
}
