//! `jacobian` and `hessian` by all ranks, with the whole matrix on each of them.
//!
//! Called by the operators. Each call runs the part of this rank, settles with the others, and exchanges the entries.

use crate::agreement::{Call, attempt};
use crate::distributed::{Distributed, Gathered};
use crate::division::{Division, hash_of};
use crate::ranks::Ranks;
use differentiation_interface::backend::Request;
use differentiation_interface::context::Contexts;
use differentiation_interface::error::Error;
use differentiation_interface::evaluate::Output;
use differentiation_interface::matrix::DerivativeMatrix;
use differentiation_interface::operators::{HessianBackend, JacobianBackend};
use differentiation_interface::point::{At, Point, Shape};
use differentiation_interface::scalar::Base;

/// State of this rank's part, and the division of the entries once it is known.
#[derive(Clone)]
pub struct SharedState<T> {
    /// An error is kept until the ranks settle.
    inner: Result<T, Error>,
    division: Option<Division>,
}

impl<T> SharedState<T> {
    fn new(inner: Result<T, Error>) -> Self {
        SharedState { inner, division: None }
    }
    /// The state of this rank's part.
    pub fn own(&self) -> &T {
        self.inner.as_ref().expect("a call without a state is an error")
    }
}

/// The state, or the error of making it.
pub(crate) fn usable<T>(state: &mut Result<T, Error>) -> Result<&mut T, Error> {
    state.as_mut().map_err(|error| error.clone())
}

/// Settles with the other ranks, and completes a matrix of which this rank has computed its entries.
fn complete<S: Base, M: DerivativeMatrix<S>>(
    ranks: &Ranks,
    call: Call,
    division: &mut Option<Division>,
    local: Result<(), Error>,
    matrix: &mut M,
) -> Result<(), Error> {
    if ranks.size() == 1 || local.is_err() {
        return ranks.settle(call, local);
    }
    let hash = division.as_ref().map_or_else(|| hash_of(matrix), |division| division.hash);
    ranks.settle(call.planned(hash), local)?;
    if division.is_none() {
        let found = Division::find(ranks, hash, matrix.stored());
        *division = Some(found.map_err(|error| error.during(call.operator, call.backend))?);
    }
    if let Some(division) = division {
        division.gather(ranks, matrix.stored());
    }
    Ok(())
}

/// The same for a matrix that this rank has made.
fn completed<S: Base, M: DerivativeMatrix<S>>(
    ranks: &Ranks,
    call: Call,
    division: &mut Option<Division>,
    local: Result<M, Error>,
) -> Result<M, Error> {
    match local {
        Ok(mut matrix) => complete(ranks, call, division, Ok(()), &mut matrix).map(|()| matrix),
        Err(error) => Err(ranks.settle(call, Err(error.clone())).err().unwrap_or(error)),
    }
}

/// Prepares the part of this rank, and finds the division by computing the matrix once, which also sizes all work memory.
fn prepared<S: Base, T, M: DerivativeMatrix<S>>(
    ranks: &Ranks,
    call: Call,
    state: &mut SharedState<T>,
    prepare: impl FnOnce(&mut T) -> Result<(), Error>,
    matrix: impl FnOnce(&mut T) -> Result<M, Error>,
) -> Result<(), Error> {
    state.division = None;
    let SharedState { inner, division } = state;
    let local = attempt(ranks.rank(), || {
        let inner = usable(inner)?;
        prepare(inner)?;
        matrix(inner)
    });
    completed(ranks, call, division, local).map(drop)
}

/// What distinguishes preparations from other calls.
pub(crate) const PREPARATION: u64 = 17;

impl<I, F, X, C> JacobianBackend<F, X, C> for Distributed<I, Gathered>
where
    I: JacobianBackend<F, X, C>,
    X: Shape<Scalar: Base>,
    C: Contexts,
{
    const BACKEND: &'static str = I::BACKEND;
    type Num = I::Num;
    type Output = I::Output;
    type Matrix = I::Matrix;
    type State = SharedState<I::State>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(SharedState::new(self.inner.unprepared(x)))
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        let call = Call::new("jacobian", I::BACKEND).of::<F>().variant(PREPARATION).at(x.coordinates());
        let prepare = |inner: &mut I::State| self.inner.prepare(inner, f, x);
        prepared(&self.ranks, call, state, prepare, |inner| self.inner.matrix(inner, f, x, true))
    }
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<I::Matrix, Error> {
        let SharedState { inner, division } = state;
        let local =
            attempt(self.ranks.rank(), || usable(inner).and_then(|inner| self.inner.matrix(inner, f, x, with_value)));
        completed(&self.ranks, jacobian_call::<I, F, X, C>(x.coordinates()), division, local)
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        jac: &mut I::Matrix,
    ) -> Result<(), Error> {
        let SharedState { inner, division } = state;
        let local = attempt(self.ranks.rank(), || {
            usable(inner).and_then(|inner| self.inner.fill(inner, f, x, with_value, jac))
        });
        complete(&self.ranks, jacobian_call::<I, F, X, C>(x.coordinates()), division, local, jac)
    }
    /// Computed by each rank alone.
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
        self.inner.evaluate(usable(&mut state.inner)?, f, x, y)
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        I::value(state.own())
    }
    fn kept(state: &Self::State) -> &<I::Output as Output<I::Num>>::Kept {
        I::kept(state.own())
    }
}

/// What all ranks must agree on in a call of `jacobian`.
pub(crate) fn jacobian_call<I, F, X, C>(x: &[X::Scalar]) -> Call
where
    I: JacobianBackend<F, X, C>,
    X: Shape<Scalar: Base>,
    C: Contexts,
{
    Call::new("jacobian", I::BACKEND).of::<F>().at(x)
}

/// What all ranks must agree on in a call of `hessian`.
pub(crate) fn hessian_call<I, F, X, C>(x: &[X::Scalar]) -> Call
where
    I: HessianBackend<F, X, C>,
    X: Shape<Scalar: Base>,
    C: Contexts,
{
    Call::new("hessian", I::BACKEND).of::<F>().at(x)
}

impl<I, F, X, C> HessianBackend<F, X, C> for Distributed<I, Gathered>
where
    I: HessianBackend<F, X, C>,
    X: Shape<Scalar: Base>,
    C: Contexts,
{
    const BACKEND: &'static str = I::BACKEND;
    type Matrix = I::Matrix;
    type State = SharedState<I::State>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(SharedState::new(self.inner.unprepared(x)))
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        let call = hessian_call::<I, F, X, C>(x.coordinates()).variant(PREPARATION);
        let prepare = |inner: &mut I::State| self.inner.prepare(inner, f, x);
        prepared(&self.ranks, call, state, prepare, |inner| self.inner.matrix(inner, f, x, Request::Value))
    }
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
    ) -> Result<I::Matrix, Error> {
        let SharedState { inner, division } = state;
        let local =
            attempt(self.ranks.rank(), || usable(inner).and_then(|inner| self.inner.matrix(inner, f, x, request)));
        completed(&self.ranks, hessian_call::<I, F, X, C>(x.coordinates()), division, local)
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
        hess: &mut I::Matrix,
    ) -> Result<(), Error> {
        let SharedState { inner, division } = state;
        let local =
            attempt(self.ranks.rank(), || usable(inner).and_then(|inner| self.inner.fill(inner, f, x, request, hess)));
        complete(&self.ranks, hessian_call::<I, F, X, C>(x.coordinates()), division, local, hess)
    }
    /// Computed by each rank alone.
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
        self.inner.evaluate(usable(&mut state.inner)?, f, x, y)
    }
    fn value(state: &Self::State) -> X::Scalar {
        I::value(state.own())
    }
    fn gradient(state: &Self::State) -> &[X::Scalar] {
        I::gradient(state.own())
    }
}
