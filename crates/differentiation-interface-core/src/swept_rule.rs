//! Custom rules that a backend differentiates: a function of an engine as a leaf of any computation, and rules whose derivative is a pullback.
//!
//! The crates of tensor libraries use both: [`SweptRule`] brings a tensor function into functions of numbers, [`PullbackRule`] a function of
//! numbers into tensor functions.

use crate::custom::{CustomRule, Halves, plainly};
use crate::error::Error;
use crate::fault;
use crate::operators::{PullbackBackend, SweepEngine, Swept};
use crate::point::{At, Slice};
use crate::scalar::{Base, Scalar};

/// A function of a [`SweepEngine`] as a rule, made by [`Swept::rule`]. Its derivative cannot be differentiated again.
#[derive(Clone, Copy, Debug)]
pub struct SweptRule<F, E> {
    function: F,
    engine: E,
}

impl<E> Swept<E> {
    /// Makes a rule of a function of the engine: wrapped in [`Custom`](crate::custom::Custom), it is a leaf of functions that any backend
    /// differentiates.
    ///
    /// The engine evaluates it on plain numbers, once for the value, and once for each pullback. Errors of the engine are errors of the operator
    /// that runs.
    pub fn rule<F>(self, f: F) -> SweptRule<F, E>
    where
        E: Clone,
    {
        SweptRule { function: f, engine: self.engine().clone() }
    }
}

impl<S, F, E> CustomRule<S> for SweptRule<F, E>
where
    S: Base,
    F: Send + Sync + 'static,
    E: SweepEngine<F, S, ()> + Send + Sync + 'static,
{
    const NAME: &'static str = E::NAME;
    const GIVEN: Halves = Halves::Pullback;

    fn value(&self, x: &[S], y: &mut Vec<S>) {
        let run = |y: &mut Vec<S>| {
            self.engine.accepts(x.len())?;
            self.engine.evaluate(&self.function, x, (), y)
        };
        if let Err(error) = run(y) {
            fault::report_error(error);
            // A length that the next operation can index, whatever the function returns.
            y.clear();
            y.push(S::nan());
        }
    }
    fn pullback<N: Scalar<Base = S>>(&self, x: &[N], y: &[N], dy: &[N], dx: &mut [N]) {
        let run = |x: &[S], dy: &[S], dx: &mut [S]| -> Result<(), Error> {
            let mut y = Vec::new();
            let recording = self.engine.record(&self.function, x, (), &mut y)?;
            self.engine.sweep(recording, dy, dx).map(drop)
        };
        let _ = y;
        plainly(E::NAME, [x, dy], dx, |[x, dy], dx| or_report(run(x, dy, dx), dx));
    }
}

/// A function as a rule whose pullback is that of a backend.
///
/// Cloning clones function and backend. Unlike [`DifferentiateWith`](crate::differentiate_with::DifferentiateWith) it accepts any backend
/// of the operator, and engines of other crates call it with plain numbers.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::swept_rule::PullbackRule;
///
/// fn norm2<T: Real>(x: &[T]) -> T {
///     x.iter().map(|v| v * v).sum()
/// }
/// let rule = Custom::new(PullbackRule::new(|x: &[_]| norm2(x), AutoReverseDiff::default()));
/// assert_eq!(gradient(&|x: &[_]| rule.number(x) * x[0], &AutoForwardDiff::default(), &[1.0, 2.0])?, [7.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PullbackRule<F, B> {
    function: F,
    backend: B,
}

impl<F, B> PullbackRule<F, B> {
    /// Makes a rule of a function over `f64` that `backend` differentiates.
    pub fn new(function: F, backend: B) -> Self
    where
        B: PullbackBackend<F, Slice<f64>, ()>,
    {
        PullbackRule { function, backend }
    }
    /// Makes a rule of a function over `f32` that `backend` differentiates.
    pub fn single(function: F, backend: B) -> Self
    where
        B: PullbackBackend<F, Slice<f32>, ()>,
    {
        PullbackRule { function, backend }
    }
}

impl<S, F, B> CustomRule<S> for PullbackRule<F, B>
where
    S: Base,
    F: Send + Sync + 'static,
    B: PullbackBackend<F, Slice<S>, ()> + Send + Sync + 'static,
{
    const NAME: &'static str = B::BACKEND;
    const GIVEN: Halves = Halves::Pullback;

    fn value(&self, x: &[S], y: &mut Vec<S>) {
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        let run = |y: &mut Vec<S>| self.backend.evaluate(&mut self.backend.unprepared(at)?, &self.function, at, y);
        if let Err(error) = run(y) {
            fault::report_error(error);
            y.clear();
            y.push(S::nan());
        }
    }
    fn pullback<N: Scalar<Base = S>>(&self, x: &[N], y: &[N], dy: &[N], dx: &mut [N]) {
        let run = |x: &[S], dy: &[S], dx: &mut [S]| -> Result<(), Error> {
            let mut memory = Vec::new();
            let at = At::new(&x, &mut memory);
            let mut state = self.backend.unprepared(at)?;
            self.backend.record(&mut state, &self.function, at)?;
            self.backend.products(&mut state, &self.function, at, &[dy])?;
            dx.copy_from_slice(&B::rows(&state)[..x.len()]);
            Ok(())
        };
        let _ = y;
        plainly(B::BACKEND, [x, dy], dx, |[x, dy], dx| or_report(run(x, dy, dx), dx));
    }
}

/// Reports an error as a fault of the operator that runs; without one, NaN shows it.
fn or_report<S: Base>(result: Result<(), Error>, out: &mut [S]) {
    if let Err(error) = result {
        fault::report_error(error);
        out.fill(S::nan());
    }
}
