//! A test of an engine on the function that it is about to differentiate: one derivative along a random direction against differences.
//!
//! An engine that differentiates what it does not fully see, such as compiled code, names the routes of its operators `Tested<..>`.
//! Reached by operators as any route; calls the function and the route inside.

use super::contract::{Backend, MatrixRoute, PullbackRoute, PushforwardRoute};
use super::lanes::Lanes;
use super::rows::Rows;
use super::seeds::Seeds;
use crate::error::{Error, ErrorKind, Reading};
use crate::evaluate::Flat;
use crate::scalar::{Base, Scalar};
use num_traits::Float;
use std::marker::PhantomData;

/// The route `R`, which compares a derivative with finite differences before the first use of each state and refuses to go on where they
/// disagree, with [`ErrorKind::SelfTest`].
///
/// A preparation tests once and prepared calls do not test again. A call without preparation has a state of its own and tests every time,
/// which costs six evaluations of the function and one more derivative.
///
/// **What is compared.** For a random direction `v`, the same in every run, the directional derivative of each output is estimated by
/// central differences with steps `h` and `h/2` and Richardson's extrapolation `(4 D(h/2) − D(h)) / 3`; `h` is ∛ε times the size of each
/// coordinate. The engine's number is `wᵀ J v`, with random weights `w` that make all outputs count alike. The test fails if the two numbers differ by
/// more than the estimated error of the differences: the change from `D(h)` to the extrapolated value, the jump between the one-sided slopes (so that a kink of the
/// function is no failure), rounding, and 10⁻⁵ relative (10⁻² in single precision).
///
/// The function must also have the same value afterwards, or the test fails with [`ErrorKind::Refused`]: an engine may write into data that the function captures.
///
/// **What it cannot see.** An engine that is wrong at other points, for instance on another branch of the function; a wrong entry
/// that is small beside the rest of the sum. Where the differences are not finite, as at the end of a domain, nothing is compared.
///
/// For engines that run the function in every call; the recordings of engines that keep some are not passed on.
///
/// # Example
/// A backend writes `type Gradient = Tested<ViaPullback>` instead of `type Gradient = ViaPullback`.
#[derive(Clone, Copy, Debug)]
pub struct Tested<R>(PhantomData<R>);

/// The state of a [`Tested`] route.
#[derive(Clone, Debug)]
pub struct TestedState<State> {
    state: State,
    has_passed: bool,
}

impl<State> TestedState<State> {
    /// Runs the test if it has not passed yet: `derivative` computes the number of the engine for a direction and weights of the outputs.
    fn test<B: Backend, S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        &mut self,
        f: &mut F,
        x: &[S],
        derivative: impl FnOnce(&mut State, &mut F, &[S], &[S]) -> Result<S, Error>,
    ) -> Result<(), Error> {
        if self.has_passed {
            return Ok(());
        }
        if let Some(differences) = Differences::of::<B, S, L, F>(f, x)? {
            let constants = |values: &[S::Base]| values.iter().map(|&v| S::constant(v)).collect::<Vec<S>>();
            let (direction, weights) = (constants(&differences.direction), constants(&differences.weights));
            let found = derivative(&mut self.state, f, &direction, &weights)?;
            differences.compare(found.primal())?;
            differences.check_value::<B, S, L, F>(f, x)?;
        }
        self.has_passed = true;
        Ok(())
    }
}

/// The sum of products of two vectors.
fn sum_of_products<S: Scalar>(a: &[S], b: &[S]) -> S {
    a.iter().zip(b).fold(S::constant(S::Base::ZERO), |sum, (a, b)| sum + *a * *b)
}

/// The estimate by differences.
struct Differences<B> {
    direction: Vec<B>,
    weights: Vec<B>,
    value: B,
    error: B,
    /// The outputs at the point.
    outputs: Vec<B>,
}

/// Numbers of magnitude 1/2 to 3/2 with random signs, the same in every run (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// OOPSLA 2014).
fn random<B: Base>(seed: u64) -> impl Iterator<Item = B> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let size = 0.5 + (z >> 12) as f64 / (1_u64 << 52) as f64;
        B::from_f64(if z & 1 == 0 { size } else { -size })
    })
}

impl<N: Base> Differences<N> {
    /// Evaluates `f` around `x`. `None` if there is nothing to compare: no inputs, no outputs, or differences that are not finite.
    fn of<B: Backend, S: Scalar<Base = N>, L: Lanes, F: Flat<B::Num<S, L>>>(
        f: &mut F,
        x: &[S],
    ) -> Result<Option<Self>, Error> {
        let point: Vec<N> = x.iter().map(|v| v.primal()).collect();
        let size = |v: N| if v == N::ZERO { N::ONE } else { v.abs() };
        let direction: Vec<N> = point.iter().zip(random::<N>(1)).map(|(&v, r)| r * size(v)).collect();
        let mut outputs = Vec::new();
        let mut at = |step: N| -> Vec<N> {
            let moved = point.iter().zip(&direction).map(|(&x, &v)| B::inject::<S, L>(S::constant(x + step * v)));
            f.call(&moved.collect::<Vec<_>>(), &mut outputs);
            outputs.iter().map(|y| y.primal()).collect()
        };
        let constant = N::from_f64;
        let step = N::epsilon().cbrt();
        let half = step * constant(0.5);
        let (right, left, near_right, near_left) = (at(step), at(-step), at(half), at(-half));
        // Last, so that what the function keeps is that of the point.
        let base = at(N::ZERO);
        let outputs = base.len();
        for found in [&right, &left, &near_right, &near_left].map(Vec::len) {
            if found != outputs {
                return Err(ErrorKind::OutputLength { expected: outputs, found }.into());
            }
        }
        let estimates: Vec<(N, N)> = (0..outputs)
            .map(|i| {
                let (far, near) = ((right[i] - left[i]) / (step + step), (near_right[i] - near_left[i]) / step);
                let value = near + (near - far) / constant(3.0);
                let kink = ((near_right[i] - base[i]) / half - (base[i] - near_left[i]) / half).abs();
                let largest = [right[i], left[i], base[i]].iter().fold(N::ZERO, |m, y| Float::max(m, y.abs()));
                let rounding = constant(64.0) * N::epsilon() * largest / step;
                (value, (value - far).abs() + kink + rounding)
            })
            .collect();
        let is_finite = estimates.iter().all(|(value, error)| value.is_finite() && error.is_finite());
        if point.is_empty() || outputs == 0 || !is_finite {
            return Ok(None);
        }
        let largest = estimates.iter().fold(N::ZERO, |m, (value, _)| Float::max(m, value.abs()));
        // All outputs count alike, but none with more uncertainty than 10⁻⁵: a constant output must not hide the errors of the others.
        let scale = |(value, error): &(N, N)| {
            let scale = Float::max(value.abs(), constant(1e5) * *error);
            match (scale > N::ZERO, largest > N::ZERO) {
                (true, _) => scale,
                (false, true) => largest,
                (false, false) => N::ONE,
            }
        };
        let weights: Vec<N> = estimates.iter().zip(random::<N>(2)).map(|(estimate, r)| r / scale(estimate)).collect();
        let relative = Float::max(constant(1e-5), N::epsilon().sqrt() * constant(30.0));
        let (mut value, mut error) = (N::ZERO, N::ZERO);
        for ((estimate, uncertainty), &weight) in estimates.iter().zip(&weights) {
            value += weight * *estimate;
            error += weight.abs() * (*uncertainty + relative * estimate.abs());
        }
        // Weights overflow where the largest derivative is near the smallest number.
        let usable = value.is_finite() && error.is_finite() && weights.iter().all(|w| w.is_finite());
        Ok(usable.then_some(Differences { direction, weights, value, error, outputs: base }))
    }

    /// An error if the derivative of an engine differs by more than the error of the differences.
    fn compare(&self, engine: N) -> Result<(), ErrorKind> {
        let agree = (engine - self.value).abs() <= self.error;
        let (engine, differences) = (Reading::of(engine.as_f64()), Reading::of(self.value.as_f64()));
        if agree { Ok(()) } else { Err(ErrorKind::SelfTest { engine, differences }) }
    }

    /// An error if the function has other values since an engine differentiated it.
    fn check_value<B: Backend, S: Scalar<Base = N>, L: Lanes, F: Flat<B::Num<S, L>>>(
        &self,
        f: &mut F,
        x: &[S],
    ) -> Result<(), ErrorKind> {
        let point: Vec<_> = x.iter().map(|v| B::inject::<S, L>(S::constant(v.primal()))).collect();
        let mut outputs = Vec::new();
        f.call(&point, &mut outputs);
        let is_same = outputs.iter().map(|y| y.primal()).eq(self.outputs.iter().copied());
        if is_same {
            return Ok(());
        }
        Err(ErrorKind::Refused {
            what: "the function returns other values after the engine has differentiated it: it keeps a state, or the engine wrote into data that it captures",
            instead: "use another backend for this function, and do not rely on data that it refers to",
        })
    }
}

impl<B: Backend, R: PushforwardRoute<B>> PushforwardRoute<B> for Tested<R> {
    const NAME: &'static str = R::NAME;
    type State<S: Scalar, L: Lanes> = TestedState<R::State<S, L>>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error> {
        Ok(TestedState { state: R::state(backend, inputs, seeds)?, has_passed: false })
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        along_tangent::<B, R, S, L, F>(backend, state, f, x)?;
        R::hold(backend, &mut state.state, f, x, y)
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
        along_tangent::<B, R, S, L, F>(backend, state, f, x)?;
        R::pushforward(backend, &mut state.state, f, x, seeds, y, rows)
    }
    #[inline]
    fn held<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        R::held(backend, &mut state.state, f, seeds, rows)
    }
}

/// The test by one pushforward.
fn along_tangent<B: Backend, R: PushforwardRoute<B>, S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
    backend: &B,
    state: &mut TestedState<R::State<S, L>>,
    f: &mut F,
    x: &[S],
) -> Result<(), Error> {
    state.test::<B, S, L, F>(f, x, |state, f, direction, weights| {
        let mut product = Vec::new();
        let rows = Rows::growing(&mut product, 1);
        R::pushforward(backend, state, f, x, Seeds::Vectors(&[direction]), None, rows)?;
        Ok(sum_of_products(weights, &product))
    })
}

impl<B: Backend, R: PullbackRoute<B>> PullbackRoute<B> for Tested<R> {
    const NAME: &'static str = R::NAME;
    type State<S: Scalar, L: Lanes> = TestedState<R::State<S, L>>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error> {
        Ok(TestedState { state: R::state(backend, inputs)?, has_passed: false })
    }
    fn record<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.test::<B, S, L, F>(f, x, |state, f, direction, weights| {
            let mut product = Vec::new();
            R::record(backend, state, f, x, y)?;
            R::sweep(backend, state, f, Seeds::Vectors(&[weights]), Rows::growing(&mut product, x.len()))?;
            Ok(sum_of_products(direction, &product))
        })?;
        R::record(backend, &mut state.state, f, x, y)
    }
    #[inline]
    fn sweep<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        R::sweep(backend, &mut state.state, f, seeds, rows)
    }
}

impl<B: Backend, R: MatrixRoute<B>> MatrixRoute<B> for Tested<R> {
    const NAME: &'static str = R::NAME;
    type State<S: Scalar, L: Lanes> = TestedState<R::State<S, L>>;

    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error> {
        Ok(TestedState { state: R::state(backend, inputs)?, has_passed: false })
    }
    fn prepare<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        by_matrix::<B, R, S, L, F>(backend, state, f, x)?;
        R::prepare(backend, &mut state.state, f, x, y)
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
        by_matrix::<B, R, S, L, F>(backend, state, f, x)?;
        R::matrix(backend, &mut state.state, f, x, y, rows)
    }
}

/// The test by the whole matrix, which tests what the operator will compute.
fn by_matrix<B: Backend, R: MatrixRoute<B>, S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
    backend: &B,
    state: &mut TestedState<R::State<S, L>>,
    f: &mut F,
    x: &[S],
) -> Result<(), Error> {
    state.test::<B, S, L, F>(f, x, |state, f, direction, weights| {
        let mut matrix = Vec::new();
        R::matrix(backend, state, f, x, None, Rows::growing(&mut matrix, x.len()))?;
        let products: Vec<S> = matrix.chunks_exact(x.len()).map(|row| sum_of_products(row, direction)).collect();
        Ok(sum_of_products(weights, &products))
    })
}
