//! What serves `nth_derivative`: [`NthDerivativeBackend`]. Every [`Backend`] that runs over its own numbers is nested in itself, once per
//! order, by [`Nest`]; an engine of truncated series implements the trait itself and needs one evaluation.
//!
//! Called by the operator beside it.

use crate::backend::{Backend, Lane, MatrixRoute, Rows};
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Bound, Evaluate, Flat, KeptBy, Output, Storage, handed};
use crate::fault;
use crate::operators::call::Evaluation;
use crate::point::{At, Point, Shape};
use crate::scalar::{Base, Scalar};

/// The order of a derivative, known to the compiler: `Order::<3>`. The number type of the function depends on it.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cube<T: Real>(x: T) -> T {
///     x.powi(3)
/// }
/// assert_eq!(nth_derivative(&cube, &AutoTaylor, 2.0, Order::<2>)?, 12.0);
/// assert_eq!(taylor_coefficients(&cube, &AutoTaylor, 2.0, Order::<3>)?, [8.0, 12.0, 6.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order<const N: usize>;

/// What `nth_derivative` accepts as its backend for the function `F` at numbers of shape `X` with contexts `C` and the order `N`.
///
/// # For users
/// Every backend that nests implements it up to order 8, for every function that runs on its numbers; `AutoTaylor` for every order.
///
/// # For backend authors
/// 1. `fill` leaves the derivative of order `N` in `der`, one entry per output, and the value in `y` if it is given. It may find in the state
///    what an earlier call left there.
/// 2. The operator has begun to watch for faults when it calls `fill`, and not when it calls `evaluate` or `stateless`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `nth_derivative` of order {N} of this function",
    note = "backends that nest in themselves reach order 8; `AutoTaylor` reaches every order",
    note = "the function must run on the numbers of the backend: write it over `T: Real`"
)]
pub trait NthDerivativeBackend<F, X: Shape, C: Contexts, const N: usize> {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The number type that the function runs on.
    type Num: Scalar;
    /// What the function returns, at [`Num`](NthDerivativeBackend::Num).
    type Output: Output<Self::Num>;
    /// Work memory of calls.
    type State: Clone + Send;

    /// Makes a state, without evaluating the function.
    ///
    /// # Errors
    /// If the backend refuses the point.
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error>;
    /// Writes the derivative at `x`, and the value if `y` is given.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: Option<&mut Vec<X::Scalar>>,
        der: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>;
    /// Evaluates the function at plain numbers.
    ///
    /// # Errors
    /// If the function cannot be evaluated.
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base;
    /// What the last evaluation kept of its output, see [`Output::Kept`].
    fn kept(state: &Self::State) -> &<Self::Output as Output<Self::Num>>::Kept;
    /// Writes the derivative at `x`, and the value if `y` is given, without a state. Returns `false` if the engine needs a state or
    /// the result would be an error; the operator then calls `fill`. Called if the type of the output fixes its length.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        _f: &F,
        _x: At<'_, P>,
        _y: Option<&mut [X::Scalar]>,
        _der: &mut [X::Scalar],
    ) -> bool {
        false
    }
}

/// `Order<N>` as the number of times that the backend `B` is nested in itself over the scalar `S`. Implemented for orders up to 8;
/// operators use it.
pub trait Nest<B: Backend, S: Scalar> {
    /// The number type of the innermost differentiation.
    type Num: Scalar<Base = S::Base>;
    /// Writes the derivative of this order at `x` into `y`.
    ///
    /// # Errors
    /// Those of the backend.
    fn fill<F: Flat<Self::Num>>(backend: &B, f: &mut F, x: &[S], y: &mut Vec<S>) -> Result<(), Error>;
    /// A constant of all differentiations of the nest.
    fn inject(value: S) -> Self::Num;
    /// The value without the derivatives of the nest.
    fn project(number: &Self::Num) -> S;
}

impl<B: Backend, S: Scalar> Nest<B, S> for Order<0> {
    type Num = S;
    fn fill<F: Flat<S>>(_backend: &B, f: &mut F, x: &[S], y: &mut Vec<S>) -> Result<(), Error> {
        f.call(x, y);
        Ok(())
    }
    fn inject(value: S) -> S {
        value
    }
    fn project(number: &S) -> S {
        *number
    }
}

/// The derivative of an order as a flat function of numbers of the differentiation around it.
struct Below<'a, F, B, O> {
    f: &'a mut F,
    backend: B,
    order: std::marker::PhantomData<O>,
    error: Option<Error>,
}

impl<N: Scalar, B: Backend, O: Nest<B, N>, F: Flat<O::Num>> Flat<N> for Below<'_, F, B, O> {
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        if self.error.is_none()
            && let Err(error) = O::fill(&self.backend, self.f, x, y)
        {
            self.error = Some(error);
        }
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}

/// The outermost differentiation of a nest: the route of `derivative` over the derivative of the order below.
fn outermost<B, S, O, F>(backend: &B, f: &mut F, x: &[S], y: &mut Vec<S>, is_nested: bool) -> Result<(), Error>
where
    B: Backend,
    S: Scalar,
    O: Nest<B, B::Num<S, Lane<1>>>,
    F: Flat<O::Num>,
{
    // Differences of differences need wider steps at every level.
    let widens = is_nested && !backend.is_exact();
    let backend = if widens { backend.for_nested_differences() } else { backend.clone() };
    let mut inner = Below::<_, _, O> { f, backend: backend.clone(), order: std::marker::PhantomData, error: None };
    let mut state = <B::Derivative as MatrixRoute<B>>::state::<S, Lane<1>>(&backend, 1)?;
    let result = fault::watch(|| {
        B::Derivative::matrix(&backend, &mut state, &mut handed(&mut inner), x, None, Rows::growing(y, 1))
    });
    inner.error.map_or(result, Err)
}

/// One line per order, each over the order below: type parameters cannot be counted down.
macro_rules! orders {
    ($($order:literal over $below:literal;)*) => {$(
        impl<B: Backend, S: Scalar> Nest<B, S> for Order<$order> {
            type Num = <Order<$below> as Nest<B, B::Num<S, Lane<1>>>>::Num;
            fn fill<F: Flat<Self::Num>>(backend: &B, f: &mut F, x: &[S], y: &mut Vec<S>) -> Result<(), Error> {
                outermost::<B, S, Order<$below>, F>(backend, f, x, y, $below > 0)
            }
            fn inject(value: S) -> Self::Num {
                <Order<$below> as Nest<B, B::Num<S, Lane<1>>>>::inject(B::inject::<S, Lane<1>>(value))
            }
            fn project(number: &Self::Num) -> S {
                B::project::<S, Lane<1>>(&<Order<$below> as Nest<B, B::Num<S, Lane<1>>>>::project(number))
            }
        }
    )*};
}
orders! {
    1 over 0;
    2 over 1;
    3 over 2;
    4 over 3;
    5 over 4;
    6 over 5;
    7 over 6;
    8 over 7;
}

impl<B, F, X, C, const N: usize> NthDerivativeBackend<F, X, C, N> for B
where
    B: Backend,
    X: Shape,
    C: Contexts,
    Order<N>: Nest<B, X::Scalar>,
    F: Evaluate<X, C, <Order<N> as Nest<B, X::Scalar>>::Num>,
{
    const BACKEND: &'static str = B::NAME;
    type Num = <Order<N> as Nest<B, X::Scalar>>::Num;
    type Output = F::Output;
    type State = NestWork<Storage<X, C, Self::Num>, Self::Num, KeptBy<F, X, C, Self::Num>>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(NestWork { storage: Storage::new(x), kept: Default::default(), evaluation: Evaluation::new() })
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: Option<&mut Vec<X::Scalar>>,
        der: &mut Vec<X::Scalar>,
    ) -> Result<(), Error> {
        let mut bound = Bound::new(f, x, &mut state.storage, &mut state.kept);
        let mut f = handed(&mut bound);
        let (mut point, mut outputs) = (Vec::new(), Vec::new());
        let mut values = |x: X::Scalar, y: &mut Vec<X::Scalar>| {
            point.clear();
            point.push(<Order<N> as Nest<B, X::Scalar>>::inject(x));
            f.call(&point, &mut outputs);
            y.clear();
            y.extend(outputs.iter().map(<Order<N> as Nest<B, X::Scalar>>::project));
        };
        if let Some(y) = y {
            values(x.coordinates()[0], y);
        }
        match self.nth_from_values(N, &mut values, x.coordinates()[0], der) {
            Some(result) => result?,
            None => <Order<N> as Nest<B, X::Scalar>>::fill(self, &mut f, x.coordinates(), der)?,
        }
        bound.settle(x.coordinates())
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
        let mut f = Bound::new(f, x, &mut state.storage, &mut state.kept);
        state.evaluation.run(&mut f, x.coordinates(), y)
    }
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, Self::Num> {
        &state.kept
    }
}

/// State of a derivative of any order by a nested backend.
#[derive(Clone)]
pub struct NestWork<T, N, K> {
    storage: T,
    kept: K,
    /// Memory of evaluations without derivatives.
    evaluation: Evaluation<N>,
}
