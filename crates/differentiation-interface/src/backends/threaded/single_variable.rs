//! Operators at one number, which have one seed: `derivative`, `second_derivative`, `nth_derivative` run as with the inner backend.
//!
//! Called by the operators; calls the inner backend.

use super::setting::AutoThreaded;
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::operators::{DerivativeBackend, SecondDerivativeBackend};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::Base;

#[diagnostic::do_not_recommend]
impl<B, F, X, C> DerivativeBackend<F, X, C> for AutoThreaded<B>
where
    B: DerivativeBackend<F, X, C>,
    X: Shape,
    C: Contexts,
{
    const BACKEND: &'static str = B::BACKEND;
    type Num = B::Num;
    type Output = B::Output;
    type State = B::State;

    #[inline]
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        self.backend().unprepared(x)
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        self.backend().prepare(state, f, x)
    }
    #[inline]
    fn derivative<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<(), Error> {
        self.backend().derivative(state, f, x, with_value)
    }
    #[inline]
    fn last(state: &Self::State) -> &[X::Scalar] {
        B::last(state)
    }
    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        der: &mut [X::Scalar],
    ) -> Result<(), Error> {
        self.backend().fill(state, f, x, with_value, der)
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
        self.backend().evaluate(state, f, x, y)
    }
    #[inline]
    fn value(state: &Self::State) -> &[X::Scalar] {
        B::value(state)
    }
    #[inline]
    fn kept(
        state: &Self::State,
    ) -> &<Self::Output as differentiation_interface_core::evaluate::Output<Self::Num>>::Kept {
        B::kept(state)
    }
    #[inline]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        f: &F,
        x: At<'_, P>,
        value: Option<&mut [X::Scalar]>,
        der: &mut [X::Scalar],
    ) -> bool {
        self.backend().stateless(f, x, value, der)
    }
}

#[diagnostic::do_not_recommend]
impl<B, F, X, C> SecondDerivativeBackend<F, X, C> for AutoThreaded<B>
where
    B: SecondDerivativeBackend<F, X, C>,
    X: Shape,
    C: Contexts,
{
    const BACKEND: &'static str = B::BACKEND;
    type Num = B::Num;
    type Output = B::Output;
    type State = B::State;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        self.backend().unprepared(x)
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        self.backend().prepare(state, f, x)
    }
    fn second_derivative<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<(), Error> {
        self.backend().second_derivative(state, f, x, with_value)
    }
    fn last(state: &Self::State) -> &[X::Scalar] {
        B::last(state)
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        der2: &mut [X::Scalar],
    ) -> Result<(), Error> {
        self.backend().fill(state, f, x, der2)
    }
    fn kept(
        state: &Self::State,
    ) -> &<Self::Output as differentiation_interface_core::evaluate::Output<Self::Num>>::Kept {
        B::kept(state)
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
        self.backend().evaluate(state, f, x, y)
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        B::value(state)
    }
    fn derivative(state: &Self::State) -> &[X::Scalar] {
        B::derivative(state)
    }
    #[inline]
    fn stateless<P: Point<Shape = X, Contexts = C>>(&self, f: &F, x: At<'_, P>, all: [&mut [X::Scalar]; 3]) -> bool {
        self.backend().stateless(f, x, all)
    }
}
