//! Derivatives of any order: truncated Taylor series of one variable, and truncated polynomials in several.
//!
//! Reached by `nth_derivative`, `taylor_coefficients` and `jet`, which run the user's function once on [`Series`], and by `taylor_expansion` and
//! `mixed_partial`, which run it once on [`Polynomial`]s, and once more where a coefficient is NaN. It is no
//! [`Backend`](differentiation_interface_core::backend::Backend): no operator of first or second order gains by it.

mod absent;
#[cfg(test)]
mod absent_tests;
mod arena;
mod dependence;
mod expand;
mod kernels;
mod number;
mod operations;
mod planar;
mod plane;
mod polygamma;
mod polynomial;
#[cfg(test)]
mod rule_tests;
mod series;
#[cfg(test)]
mod several_tests;
mod space;
#[cfg(test)]
mod tests;
mod unary;

use expand::{Expansion, check_own};
pub use polynomial::{Polynomial, PolynomialCore};
pub use series::{Series, SeriesCore};

use differentiation_interface_core::backend::Lift;
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::{Bound, Evaluate, Flat, KeptBy, Storage};
use differentiation_interface_core::fault;
use differentiation_interface_core::identity::Identity;
use differentiation_interface_core::monomials::Monomials;
use differentiation_interface_core::operators::{Evaluation, ExpansionBackend, NthDerivativeBackend, TaylorBackend};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::{Base, Scalar};
use std::sync::Arc;

/// Taylor mode: derivatives of any order from one evaluation of the function.
///
/// In one variable, or along a direction, the function runs on series truncated after the N-th power; every rule of the table costs of the
/// order of N² operations. In several variables it runs on truncated polynomials, and every rule costs as many products of coefficients as
/// a product of two polynomials does, up to a factor. Exact up to rounding, for every order, unless a coefficient (the derivative of order k
/// over k!) is below the smallest normal number. At a zero of x, a power with a constant exponent that is not natural costs of the order of N³.
///
/// Polynomials live on the thread of the call: a function that computes with them on another thread ends in
/// [`ErrorKind::OtherThread`](differentiation_interface_core::error::ErrorKind::OtherThread). Series work on every thread.
///
/// ```
/// # use differentiation_interface::prelude::*;
/// fn wave<T: Real>(x: T) -> T {
///     (2.0 * x).sin()
/// }
/// // (sin 2x)⁗ = 16 sin 2x
/// let fourth = nth_derivative(&wave, &AutoTaylor, 0.25, Order::<4>)?;
/// assert!((fourth - 16.0 * 0.5f64.sin()).abs() < 1e-14);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutoTaylor;

const NAME: &str = "taylor";

impl<S: Scalar, const N: usize> Lift<S, Series<S, N>> for AutoTaylor {
    fn lift(value: S) -> Series<S, N> {
        SeriesCore::constant_series(value)
    }
}

/// State of calls that run the function on numbers `N`: storage `T`, and what an output keeps.
#[derive(Clone, Debug)]
pub struct TaylorState<T, N, K> {
    storage: T,
    kept: K,
    point: Vec<N>,
    outputs: Vec<N>,
    /// Memory of evaluations without derivatives.
    evaluation: Evaluation<N>,
}

/// The state of a call of `F`.
type State<F, X, C, N> = TaylorState<Storage<X, C, N>, N, KeptBy<F, X, C, N>>;

impl<X: Shape, C: Contexts, N: Scalar, K: Default> TaylorState<Storage<X, C, N>, N, K> {
    fn new<P: Point<Shape = X, Contexts = C>>(x: At<'_, P>) -> Self {
        TaylorState {
            storage: Storage::new(x),
            kept: K::default(),
            point: Vec::new(),
            outputs: Vec::new(),
            evaluation: Evaluation::new(),
        }
    }
}

/// Evaluates the function at plain numbers: it runs on constants.
fn evaluate<F, P, N>(
    f: &F,
    x: At<'_, P>,
    state: &mut State<F, P::Shape, P::Contexts, N>,
    y: &mut Vec<N::Base>,
) -> Result<(), Error>
where
    P: Point<Shape: Shape<Scalar = N::Base>>,
    N: Scalar,
    F: Evaluate<P::Shape, P::Contexts, N>,
{
    let mut f = Bound::new(f, x, &mut state.storage, &mut state.kept);
    state.evaluation.run(&mut f, x.coordinates(), y)
}

/// The series of the outputs at x + t d, where d is `direction`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn series<'s, F, P, const N: usize>(
    f: &F,
    x: At<'_, P>,
    direction: impl Fn(usize) -> <P::Shape as Shape>::Scalar,
    state: &'s mut State<F, P::Shape, P::Contexts, Series<<P::Shape as Shape>::Scalar, N>>,
) -> Result<&'s [Series<<P::Shape as Shape>::Scalar, N>], Error>
where
    P: Point,
    F: Evaluate<P::Shape, P::Contexts, Series<<P::Shape as Shape>::Scalar, N>>,
{
    let identity = Identity::begin();
    let TaylorState { storage, kept, point, outputs, .. } = state;
    let mut f = Bound::new(f, x, storage, kept);
    point.clear();
    // An input without a tangent is absent: multiplied as zero, an infinite derivative would make it NaN.
    let line = |(i, &value)| match direction(i) {
        slope if slope.is_inert_zero() => SeriesCore::constant_series(value),
        slope => SeriesCore::line(value, slope, identity.id()),
    };
    point.extend(x.coordinates().iter().enumerate().map(line));
    f.call(point, outputs);
    check_own(outputs.iter().map(|y| y.0.identity()), &identity)?;
    Ok(outputs)
}

/// N!.
fn factorial<B: Base>(n: usize) -> B {
    B::from_f64((1..=n).fold(1.0, |product, k| product * k as f64))
}

fn one<S: Scalar>() -> S {
    S::constant(S::Base::ONE)
}

impl<F, X, C, const N: usize> NthDerivativeBackend<F, X, C, N> for AutoTaylor
where
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, Series<X::Scalar, N>>,
{
    const BACKEND: &'static str = NAME;
    type Num = Series<X::Scalar, N>;
    type Output = F::Output;
    type State = State<F, X, C, Series<X::Scalar, N>>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(TaylorState::new(x))
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: Option<&mut Vec<X::Scalar>>,
        der: &mut Vec<X::Scalar>,
    ) -> Result<(), Error> {
        let outputs = series::<F, P, N>(f, x, |_| one(), state)?;
        if let Some(y) = y {
            y.clear();
            y.extend(outputs.iter().map(|y| y.0.coefficient(0)));
        }
        der.clear();
        der.extend(outputs.iter().map(|y| y.0.coefficient(N).scale(factorial(N))));
        Ok(())
    }
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base,
    {
        evaluate(f, x, state, y)
    }
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, Self::Num> {
        &state.kept
    }
    /// On the stack, for functions whose types fix the numbers of inputs and outputs.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        f: &F,
        x: At<'_, P>,
        y: Option<&mut [X::Scalar]>,
        der: &mut [X::Scalar],
    ) -> bool {
        if F::FIXED.is_none() || C::WORK_MEMORY {
            return false;
        }
        let identity = Identity::begin();
        let mut storage = Storage::new(x);
        let mut kept = Default::default();
        let mut f = Bound::new(f, x, &mut storage, &mut kept);
        let entry = |i: usize| SeriesCore::line(x.coordinates()[i], one(), identity.id());
        let result = fault::watch(|| {
            f.call_fixed(entry, |outputs: &[Series<X::Scalar, N>]| {
                if let Some(values) = y {
                    for (value, y) in values.iter_mut().zip(outputs) {
                        *value = y.0.coefficient(0);
                    }
                }
                for (der, y) in der.iter_mut().zip(outputs) {
                    *der = y.0.coefficient(N).scale(factorial(N));
                }
                check_own(outputs.iter().map(|y| y.0.identity()), &identity)
            })
        });
        result.is_ok()
    }
}

impl<F, X, C, const N: usize> TaylorBackend<F, X, C, N> for AutoTaylor
where
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, Series<X::Scalar, N>>,
{
    const BACKEND: &'static str = NAME;
    type Num = Series<X::Scalar, N>;
    type Output = F::Output;
    type State = State<F, X, C, Series<X::Scalar, N>>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(TaylorState::new(x))
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        direction: &[X::Scalar],
        coefficients: &mut Vec<X::Scalar>,
    ) -> Result<(), Error> {
        let outputs = series::<F, P, N>(f, x, |i| direction[i], state)?;
        coefficients.clear();
        coefficients.extend((0..=N).flat_map(|k| outputs.iter().map(move |y| y.0.coefficient(k))));
        Ok(())
    }
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base,
    {
        evaluate(f, x, state, y)
    }
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, Self::Num> {
        &state.kept
    }
}

impl<F, X, C> ExpansionBackend<F, X, C> for AutoTaylor
where
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, Polynomial<X::Scalar>>,
{
    const BACKEND: &'static str = NAME;
    type Num = Polynomial<X::Scalar>;
    type Output = F::Output;
    type State = State<F, X, C, Polynomial<X::Scalar>>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(TaylorState::new(x))
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        monomials: &Arc<Monomials>,
        coefficients: &mut Vec<X::Scalar>,
    ) -> Result<(), Error> {
        let TaylorState { storage, kept, point, outputs, .. } = state;
        let mut f = Bound::new(f, x, storage, kept);
        let f = &mut |x: &[_], y: &mut Vec<_>| f.call(x, y);
        expand::expand(Expansion { f, x: x.coordinates(), monomials, point, outputs, coefficients })
    }
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base,
    {
        evaluate(f, x, state, y)
    }
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, Self::Num> {
        &state.kept
    }
}
