//! What serves `second_derivative`: [`SecondDerivativeBackend`], which two backends implement through their `type Derivative` routes, with
//! one lane each.
//!
//! Called by the operator beside it.

use crate::backend::{Backend, Lane, MatrixRoute, Rows, SecondOrderBackend};
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Bound, Evaluate, Flat, KeptBy, Output, Storage, handed};
use crate::fault;
use crate::operators::NumOf;
use crate::operators::call::{Evaluation, has_storage};
use crate::point::{At, Point, Shape};
use crate::recordings::{Recordable, Reports};
use crate::scalar::{Base, Scalar};
use std::marker::PhantomData;

/// The number type of the outer derivative.
type OuterNum<B, X> = NumOf<<B as SecondOrderBackend>::Outer, X, Lane<1>>;
/// The number type of `second_derivative` with two backends.
type Twice<B, X> = <<B as SecondOrderBackend>::Inner as Backend>::Num<OuterNum<B, X>, Lane<1>>;

/// What `second_derivative` accepts as its backend for the function `F` at numbers of shape `X` with contexts `C`.
///
/// # For users
/// Every backend and every [`SecondOrder`](crate::backend::SecondOrder) of two implements this trait for every function that runs on its numbers.
///
/// # For engine authors
/// 1. The operator calls `unprepared`, then `prepare` if the user prepares, then `second_derivative` or `fill` any number of times.
/// 2. `fill` writes every entry of `der2`, or refuses a buffer that is not as long as the output. Calls do not allocate after `prepare`.
/// 3. `value` and `derivative` are those of the last call with `with_value`.
/// 4. After an error the state stays usable. A clone of a state holds what the original holds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `second_derivative` of this function",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, ..., and `SecondOrder(outer, inner)` of two, neither of them a `SecondOrder` itself"
)]
pub trait SecondDerivativeBackend<F, X: Shape, C: Contexts>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The number type that the function runs on.
    type Num: Scalar;
    /// What the function returns, at [`Num`](SecondDerivativeBackend::Num).
    type Output: Output<Self::Num>;
    /// Work memory of calls.
    type State: Clone + Send;

    /// Makes a state, without evaluating the function.
    ///
    /// # Errors
    /// If the backend refuses the point.
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error>;
    /// Pays one-time costs at `x`.
    ///
    /// # Errors
    /// Those of [`fill`](Self::fill).
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>;
    /// Computes the second derivative at `x` for [`last`](Self::last), and keeps value and derivative if `with_value`.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn second_derivative<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<(), Error>;
    /// The second derivative that the last call of [`second_derivative`](Self::second_derivative) left, one entry per output.
    fn last(state: &Self::State) -> &[X::Scalar];
    /// Writes the second derivative at `x`.
    ///
    /// # Errors
    /// [`BufferLength`](crate::error::ErrorKind::BufferLength), and those of [`second_derivative`](Self::second_derivative).
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        der2: &mut [X::Scalar],
    ) -> Result<(), Error>;
    /// What the last evaluation kept of its output, see [`Output::Kept`].
    fn kept(state: &Self::State) -> &<Self::Output as Output<Self::Num>>::Kept;
    /// Writes `f(x)` to `y`, without derivatives.
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
    /// The value that the last call left.
    fn value(state: &Self::State) -> &[X::Scalar];
    /// The derivative that the last call left.
    fn derivative(state: &Self::State) -> &[X::Scalar];
    /// Writes value, derivative and second derivative at `x` without a state. Returns `false` if the engine needs a state or the result
    /// would be an error; the operator then calls `fill`. Called if the type of the output fixes its length.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn stateless<P: Point<Shape = X, Contexts = C>>(&self, _f: &F, _x: At<'_, P>, _all: [&mut [X::Scalar]; 3]) -> bool {
        false
    }
}

/// State of the route of the outer derivative.
type OuterState<B, X> = <<<B as SecondOrderBackend>::Outer as Backend>::Derivative as MatrixRoute<
    <B as SecondOrderBackend>::Outer,
>>::State<<X as Shape>::Scalar, Lane<1>>;

/// State of a second derivative by two backends.
pub struct SecondDerivativeWork<B: SecondOrderBackend, X: Shape, C: Contexts, K> {
    pair: (B::Outer, B::Inner),
    outer: OuterState<B, X>,
    inner: <<B::Inner as Backend>::Derivative as MatrixRoute<B::Inner>>::State<OuterNum<B, X>, Lane<1>>,
    storage: Storage<X, C, Twice<B, X>>,
    kept: K,
    evaluation: Evaluation<Twice<B, X>>,
    /// Number of outputs, once prepared.
    outputs: Option<usize>,
    inner_value: Vec<OuterNum<B, X>>,
    /// Outputs of an evaluation for the value alone.
    scratch: Vec<OuterNum<B, X>>,
    y: Vec<X::Scalar>,
    der: Vec<X::Scalar>,
    der2: Vec<X::Scalar>,
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, K: Clone> Clone for SecondDerivativeWork<B, X, C, K> {
    fn clone(&self) -> Self {
        SecondDerivativeWork {
            pair: self.pair.clone(),
            outer: self.outer.clone(),
            inner: self.inner.clone(),
            storage: self.storage.clone(),
            kept: self.kept.clone(),
            evaluation: self.evaluation.clone(),
            outputs: self.outputs,
            inner_value: self.inner_value.clone(),
            scratch: self.scratch.clone(),
            y: self.y.clone(),
            der: self.der.clone(),
            der2: self.der2.clone(),
        }
    }
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, K> Reports for SecondDerivativeWork<B, X, C, K>
where
    OuterState<B, X>: Reports,
{
    type Report = <OuterState<B, X> as Reports>::Report;
    fn report(&self) -> Self::Report {
        self.outer.report()
    }
}

/// The derivative by the inner backend as a flat function of numbers of the outer one.
struct DerivativeOf<'a, F, I: Backend, N: Scalar, S> {
    f: &'a mut F,
    inner: &'a I,
    state: &'a mut <I::Derivative as MatrixRoute<I>>::State<N, Lane<1>>,
    inner_value: &'a mut Vec<N>,
    /// The buffer for the value of the first evaluation, if requested, and the function that projects it.
    value: Option<(&'a mut Vec<S>, fn(&N) -> S)>,
    error: Option<Error>,
}

impl<F: Flat<I::Num<N, Lane<1>>>, I: Backend, N: Scalar, S> Flat<N> for DerivativeOf<'_, F, I, N, S> {
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        if self.error.is_some() {
            return;
        }
        let value = self.value.is_some().then_some(&mut *self.inner_value);
        match I::Derivative::matrix(&self.inner.steady(), self.state, self.f, x, value, Rows::growing(y, 1)) {
            Ok(()) => {
                if let Some((value, project)) = self.value.take() {
                    value.clear();
                    value.extend(self.inner_value.iter().map(project));
                }
            }
            Err(error) => self.error = Some(error),
        }
    }
    fn recordable(&self) -> Option<&dyn Recordable> {
        Some(self)
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}

impl<F: Flat<I::Num<N, Lane<1>>>, I: Backend, N: Scalar, S> Recordable for DerivativeOf<'_, F, I, N, S> {
    fn is_pure(&self) -> bool {
        self.f.recordable().is_pure()
    }
    fn parameters(&self, values: &mut Vec<f64>) {
        self.f.recordable().parameters(values);
    }
    fn lengths(&self, lengths: &mut Vec<usize>) {
        self.f.recordable().lengths(lengths);
    }
    fn constants(&self, words: &mut Vec<u64>) -> bool {
        self.f.recordable().constants(words)
    }
    fn constants_are(&self, words: &[u64]) -> bool {
        self.f.recordable().constants_are(words)
    }
    fn may_change(&self) -> bool {
        self.f.recordable().may_change()
    }
    fn has_failed(&self) -> bool {
        self.error.is_some() || self.f.recordable().has_failed()
    }
}

/// The same on the stack, for an output of type `O`, whose length it fixes.
struct DerivativeOnStack<'a, F, I, O, S, Project> {
    f: &'a mut F,
    inner: &'a I,
    /// The buffer for the value, and the function that projects it.
    y: &'a mut [S],
    project: Project,
    output: PhantomData<O>,
}

impl<F, I, O, N, S, Project> Flat<N> for DerivativeOnStack<'_, F, I, O, S, Project>
where
    F: Flat<I::Num<N, Lane<1>>>,
    I: Backend,
    O: Output<I::Num<N, Lane<1>>>,
    N: Scalar,
    Project: Fn(&N) -> S,
{
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        self.call_fixed(|i| x[i], |outputs| outputs.clone_into(y));
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fixed(&self) -> Option<usize> {
        self.f.fixed()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn captures(&self) -> bool {
        self.f.captures()
    }
    /// Passes no outputs if the inner backend cannot compute on the stack; the outer backend then gives up too.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_fixed<R>(&mut self, mut x: impl FnMut(usize) -> N, read: impl FnOnce(&[N]) -> R) -> R {
        let (mut y, mut der) = (O::fixed::<N>(), O::fixed::<N>());
        let (outputs, matrix) = (Some(y.as_mut()), der.as_mut());
        if !I::Derivative::on_stack::<N, Lane<1>, F>(self.inner, self.f, &[x(0)], outputs, matrix) {
            return read(&[]);
        }
        for (y, number) in self.y.iter_mut().zip(y.as_ref()) {
            *y = (self.project)(number);
        }
        read(der.as_ref())
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}

/// Differentiates the inner derivative by the route of the outer backend, and writes the inner derivative if a buffer is given.
#[inline]
fn outermost<O: Backend, S: Scalar, F: Flat<O::Num<S, Lane<1>>>>(
    outer: &O,
    state: &mut <O::Derivative as MatrixRoute<O>>::State<S, Lane<1>>,
    derivative: &mut F,
    x: &[S],
    der: Option<&mut Vec<S>>,
    rows: Rows<'_, S>,
) -> Result<(), Error> {
    fault::Watch::begin().end(O::Derivative::matrix(outer, state, derivative, x, der, rows))
}

/// Names the operator in an error.
fn named<B: SecondOrderBackend>(error: impl Into<Error>) -> Error {
    error.into().during("second_derivative", B::NAME)
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, K> SecondDerivativeWork<B, X, C, K> {
    /// Differentiates at `x` into `buffer`, or into `self.der2` if there is none.
    #[inline]
    fn run<F, P>(
        &mut self,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        buffer: Option<&mut [X::Scalar]>,
    ) -> Result<(), Error>
    where
        F: Evaluate<X, C, Twice<B, X>, Output: Output<Twice<B, X>, Kept = K>>,
        P: Point<Shape = X, Contexts = C>,
    {
        let (outer, inner) = &self.pair;
        let mut f = Bound::new(f, x, &mut self.storage, &mut self.kept);
        let mut f = handed(&mut f);
        let project: fn(&OuterNum<B, X>) -> X::Scalar = <B::Outer as Backend>::project::<X::Scalar, Lane<1>>;
        let mut derivative = DerivativeOf {
            f: &mut f,
            inner,
            state: &mut self.inner,
            inner_value: &mut self.inner_value,
            value: with_value.then_some((&mut self.y, project)),
            error: None,
        };
        let der = with_value.then_some(&mut self.der);
        let mut rows = match buffer {
            None => Rows::growing(&mut self.der2, 1),
            Some(buffer) => Rows::fixed(buffer, 1),
        }
        .expecting(self.outputs);
        // An outer backend with a recording of the derivative runs no function, so no fault can be reported.
        if !with_value
            && self.outputs == Some(1)
            && let Some(recorded) = <B::Outer as Backend>::Derivative::recorded(&mut self.outer)
        {
            rows.set_rows(1).map_err(named::<B>)?;
            if recorded.fill(derivative.recordable(), x.coordinates(), None, &mut rows) {
                return Ok(());
            }
        }
        let result = outermost::<B::Outer, _, _>(outer, &mut self.outer, &mut derivative, x.coordinates(), der, rows);
        // An outer backend that replays a recording has not evaluated the function, so the value is still missing.
        if result.is_ok() && derivative.error.is_none() && derivative.value.is_some() {
            let point = [<B::Outer as Backend>::inject::<X::Scalar, Lane<1>>(x.coordinates()[0])];
            derivative.call(&point, &mut self.scratch);
        }
        let result = match derivative.error {
            Some(error) => Err(named::<B>(error)),
            None => result.map_err(named::<B>),
        };
        if with_value && self.scratch.capacity() < self.y.len() {
            self.scratch.reserve_exact(self.y.len());
        }
        result
    }
}

impl<B, F, X, C> SecondDerivativeBackend<F, X, C> for B
where
    B: SecondOrderBackend,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, Twice<B, X>>,
{
    const BACKEND: &'static str = B::NAME;
    type Num = Twice<B, X>;
    type Output = F::Output;
    type State = SecondDerivativeWork<B, X, C, KeptBy<F, X, C, Twice<B, X>>>;

    #[inline]
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        let pair = self.pair();
        Ok(SecondDerivativeWork {
            outer: <B::Outer as Backend>::Derivative::state(&pair.0, 1).map_err(named::<B>)?,
            inner: <B::Inner as Backend>::Derivative::state(&pair.1, 1).map_err(named::<B>)?,
            pair,
            storage: Storage::new(x),
            kept: Default::default(),
            evaluation: Evaluation::new(),
            outputs: None,
            inner_value: Vec::new(),
            scratch: Vec::new(),
            y: Vec::new(),
            der: Vec::new(),
            der2: Vec::new(),
        })
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        state.outputs = None;
        <B::Outer as Backend>::Derivative::restart::<X::Scalar, Lane<1>>(&mut state.outer);
        state.run(f, x, true, None)?;
        <B::Outer as Backend>::Derivative::restart::<X::Scalar, Lane<1>>(&mut state.outer);
        state.outputs = Some(state.y.len());
        Ok(())
    }
    #[inline]
    fn second_derivative<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<(), Error> {
        state.run(f, x, with_value, None)
    }
    #[inline]
    fn last(state: &Self::State) -> &[X::Scalar] {
        &state.der2
    }
    #[inline]
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, Twice<B, X>> {
        &state.kept
    }
    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        der2: &mut [X::Scalar],
    ) -> Result<(), Error> {
        state.run(f, x, false, Some(der2))
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
        state.evaluation.run(&mut f, x.coordinates(), y).map_err(named::<B>)
    }
    #[inline]
    fn value(state: &Self::State) -> &[X::Scalar] {
        &state.y
    }
    #[inline]
    fn derivative(state: &Self::State) -> &[X::Scalar] {
        &state.der
    }
    #[inline]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        f: &F,
        x: At<'_, P>,
        [y, der, der2]: [&mut [X::Scalar]; 3],
    ) -> bool {
        if const { !on_stack::<B>() || F::FIXED.is_none() || has_storage::<X, C, Twice<B, X>>() } {
            return false;
        }
        let (outer, inner) = self.pair();
        let (mut storage, mut kept) = (Storage::new(x), Default::default());
        let mut f = Bound::new(f, x, &mut storage, &mut kept);
        let project = <B::Outer as Backend>::project::<X::Scalar, Lane<1>>;
        let mut derivative =
            DerivativeOnStack { f: &mut f, inner: &inner, y, project, output: PhantomData::<F::Output> };
        <B::Outer as Backend>::Derivative::on_stack::<_, Lane<1>, _>(
            &outer,
            &mut derivative,
            x.coordinates(),
            Some(der),
            der2,
        )
    }
}

/// Whether both routes compute on the stack.
const fn on_stack<B: SecondOrderBackend>() -> bool {
    <<B::Outer as Backend>::Derivative as MatrixRoute<B::Outer>>::ON_STACK
        && <<B::Inner as Backend>::Derivative as MatrixRoute<B::Inner>>::ON_STACK
}
