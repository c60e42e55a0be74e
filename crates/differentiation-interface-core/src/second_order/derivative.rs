//! The routes of `second_derivative`: the contract, and the derivative of the derivative by two nested backends.
//!
//! Called by the operator; named by the routes of `hvp` and `hessian`, each of which has one for numbers.

use super::inner::{InnerDerivative, InnerState, first_error};
use crate::backend::{Backend, Lane, MatrixRoute, Rows};
use crate::error::Error;
use crate::evaluate::{Flat, Output};
use crate::fault;
use crate::recordings::Reports;
use crate::scalar::Scalar;
use std::marker::PhantomData;

/// How `second_derivative` reaches two backends.
pub trait SecondDerivativeRoute<O: Backend, I: Backend> {
    /// Name in tables.
    const NAME: &'static str;
    /// The number type that the function runs on.
    type Num<S: Scalar>: Scalar<Base = S::Base>;
    /// Work memory of calls.
    type State<S: Scalar>: Clone + Send;

    /// Makes an empty state, or returns an error if a backend refuses one input.
    fn state<S: Scalar>(pair: &(O, I)) -> Result<Self::State<S>, Error>;
    /// Called before and after a preparation; see [`MatrixRoute::restart`].
    fn restart<S: Scalar>(_state: &mut Self::State<S>) {}
    /// Fills the only column of `rows` with the second derivative at `x`, which is one number, and writes the value and the derivative if `lower` is
    /// given. `outputs` is the number of outputs that a preparation found.
    fn fill<S: Scalar, F: Flat<Self::Num<S>>>(
        pair: &(O, I),
        state: &mut Self::State<S>,
        f: &mut F,
        x: &[S],
        outputs: Option<usize>,
        lower: Option<[&mut Vec<S>; 2]>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;

    /// Whether the route implements [`on_stack`](Self::on_stack).
    const ON_STACK: bool;
    /// Writes value, derivative and second derivative of a function with [`Flat::fixed`] inputs and the output `Y`, on the stack. Returns `false` if it
    /// cannot or the result would be an error; the operator then calls [`fill`](Self::fill).
    fn on_stack<S: Scalar, Y: Output<Self::Num<S>>, F: Flat<Self::Num<S>>>(
        pair: &(O, I),
        f: &mut F,
        x: &[S],
        all: [&mut [S]; 3],
    ) -> bool;
}

/// The derivative by the outer backend of the derivative by the inner one.
#[derive(Clone, Copy, Debug)]
pub struct NestedDerivatives;

/// The number type of the outer derivative.
type OuterNum<O, S> = <O as Backend>::Num<S, Lane<1>>;
/// State of a derivative by one backend.
type DerivativeState<B, S> = InnerState<B, <B as Backend>::Derivative, S, Lane<1>>;

/// State of [`NestedDerivatives`].
pub struct NestedState<O: Backend, I: Backend, S: Scalar> {
    outer: DerivativeState<O, S>,
    inner: DerivativeState<I, OuterNum<O, S>>,
    inner_value: Vec<OuterNum<O, S>>,
    /// Outputs of an evaluation for the value alone.
    scratch: Vec<OuterNum<O, S>>,
}

impl<O: Backend, I: Backend, S: Scalar> Clone for NestedState<O, I, S> {
    fn clone(&self) -> Self {
        NestedState {
            outer: self.outer.clone(),
            inner: self.inner.clone(),
            inner_value: self.inner_value.clone(),
            scratch: self.scratch.clone(),
        }
    }
}

impl<O: Backend, I: Backend, S: Scalar> Reports for NestedState<O, I, S>
where
    DerivativeState<O, S>: Reports,
{
    type Report = <DerivativeState<O, S> as Reports>::Report;
    fn report(&self) -> Self::Report {
        self.outer.report()
    }
}

/// The derivative by the inner backend on the stack, for an output of type `O`, whose length it fixes.
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

impl<O: Backend, I: Backend> SecondDerivativeRoute<O, I> for NestedDerivatives {
    const NAME: &'static str = "derivative of derivative";
    type Num<S: Scalar> = I::Num<OuterNum<O, S>, Lane<1>>;
    type State<S: Scalar> = NestedState<O, I, S>;

    #[inline]
    fn state<S: Scalar>((outer, inner): &(O, I)) -> Result<NestedState<O, I, S>, Error> {
        Ok(NestedState {
            outer: O::Derivative::state(outer, 1)?,
            inner: I::Derivative::state(inner, 1)?,
            inner_value: Vec::new(),
            scratch: Vec::new(),
        })
    }
    fn restart<S: Scalar>(state: &mut NestedState<O, I, S>) {
        O::Derivative::restart::<S, Lane<1>>(&mut state.outer);
    }
    #[inline]
    fn fill<S: Scalar, F: Flat<Self::Num<S>>>(
        (outer, inner): &(O, I),
        state: &mut NestedState<O, I, S>,
        f: &mut F,
        x: &[S],
        outputs: Option<usize>,
        lower: Option<[&mut Vec<S>; 2]>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let (y, der) = lower.map_or((None, None), |[y, der]| (Some(y), Some(der)));
        let project: fn(&OuterNum<O, S>) -> S = O::project::<S, Lane<1>>;
        let mut derivative = InnerDerivative::<_, I, I::Derivative, Lane<1>, _, _> {
            f,
            inner,
            state: &mut state.inner,
            inner_value: &mut state.inner_value,
            value: y.map(|y| (y, project)),
            error: None,
        };
        // An outer backend with a recording of the derivative runs no function, so no fault can be reported.
        if der.is_none()
            && outputs == Some(1)
            && let Some(recorded) = O::Derivative::recorded(&mut state.outer)
        {
            rows.set_rows(1)?;
            if recorded.fill(Some(&derivative), x, None, &mut rows) {
                return Ok(());
            }
        }
        let with_value = der.is_some();
        let watch = fault::Watch::begin();
        let result = watch.end(O::Derivative::matrix(outer, &mut state.outer, &mut derivative, x, der, rows));
        if result.is_ok() && derivative.lacks_value() {
            derivative.call(&[O::inject::<S, Lane<1>>(x[0])], &mut state.scratch);
        }
        first_error(derivative.error, result)?;
        if with_value && state.scratch.capacity() < state.inner_value.len() {
            state.scratch.reserve_exact(state.inner_value.len());
        }
        Ok(())
    }

    const ON_STACK: bool = O::Derivative::ON_STACK && I::Derivative::ON_STACK;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn on_stack<S: Scalar, Y: Output<Self::Num<S>>, F: Flat<Self::Num<S>>>(
        (outer, inner): &(O, I),
        f: &mut F,
        x: &[S],
        [y, der, der2]: [&mut [S]; 3],
    ) -> bool {
        let project = O::project::<S, Lane<1>>;
        let mut derivative = DerivativeOnStack { f, inner, y, project, output: PhantomData::<Y> };
        O::Derivative::on_stack::<_, Lane<1>, _>(outer, &mut derivative, x, Some(der), der2)
    }
}
