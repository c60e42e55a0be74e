//! `hvp`: several tangents on several threads, if the route needs several passes for them.
//!
//! Called by the operator; calls the shares of `second_order`, or the inner backend where there is one thread. Products at a fixed
//! point run on the calling thread, which has the linearisation.

use super::division::Division;
use super::second_order::{HessianShares, RouteNum, numbers, per_pass};
use super::setting::AutoThreaded;
use differentiation_interface_core::backend::{Lane, Request, SecondOrderBackend, Seeds};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::{Evaluate, NumberOutput};
use differentiation_interface_core::operators::{HessianWork, HvpBackend, HvpSamePointBackend};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::Base;

type TangentNum<B, X, const T: usize> = RouteNum<B, X, Lane<T>>;

/// The state of the inner backend, and the shares of the threads.
#[derive(Clone)]
pub struct ThreadedHvpState<Serial, Shares, S> {
    serial: Serial,
    shares: Option<Shares>,
    /// How the tangents of the last call were divided; one part if the inner backend ran.
    division: Division,
    /// The products, one row per tangent, or one column.
    products: Vec<S>,
    are_rows: bool,
}

#[diagnostic::do_not_recommend]
impl<B, F, X, C, const T: usize> HvpBackend<F, X, C, T> for AutoThreaded<B>
where
    B: SecondOrderBackend,
    X: Shape,
    C: for<'v> Contexts<Values<'v>: Send + Sync>,
    F: Evaluate<X, C, TangentNum<B, X, T>> + Sync,
    F::Output: NumberOutput<TangentNum<B, X, T>>,
{
    const BACKEND: &'static str = B::NAME;
    type State = ThreadedHvpState<<B as HvpBackend<F, X, C, T>>::State, HessianShares<B, X, C, Lane<T>>, X::Scalar>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(ThreadedHvpState {
            serial: HvpBackend::<F, X, C, T>::unprepared(self.backend(), x)?,
            shares: None,
            division: Division::default(),
            products: Vec::new(),
            are_rows: false,
        })
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        HvpBackend::<F, X, C, T>::prepare(self.backend(), &mut state.serial, f, x, tangents)?;
        state.shares = None;
        let division = self.tangents_divided(state, x).map_err(named::<B>)?;
        if let Some(shares) = &mut state.shares {
            let first = shares.first_mut();
            first.prepare(f, x, Seeds::Vectors(tangents)).map_err(named::<B>)?;
            shares.prepare(f, x, Seeds::Vectors(tangents), &division).map_err(named::<B>)?;
        }
        state.products.resize(x.coordinates().len() * T, X::Scalar::default());
        Ok(())
    }
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
        request: Request,
    ) -> Result<(), Error> {
        let division = self.tangents_divided(state, x).map_err(named::<B>)?;
        let ThreadedHvpState { serial, shares, products, .. } = state;
        let (Some(shares), true) = (shares, division.is_parallel()) else {
            return HvpBackend::<F, X, C, T>::products(self.backend(), serial, f, x, tangents, request);
        };
        products.resize(x.coordinates().len() * T, X::Scalar::default());
        shares.fill(f, x, Seeds::Vectors(tangents), &division, request, products).map_err(named::<B>)
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
        HvpBackend::<F, X, C, T>::evaluate(self.backend(), &mut state.serial, f, x, y)
    }
    fn copy_product(state: &Self::State, k: usize, out: &mut [X::Scalar]) {
        if !state.division.is_parallel() {
            return <B as HvpBackend<F, X, C, T>>::copy_product(&state.serial, k, out);
        }
        let (start, step) = if state.are_rows { (k * out.len(), 1) } else { (k, T) };
        for (entry, value) in out.iter_mut().zip(state.products.iter().skip(start).step_by(step)) {
            *entry = *value;
        }
    }
    fn gradient(state: &Self::State) -> &[X::Scalar] {
        match &state.shares {
            Some(shares) if state.division.is_parallel() => shares.first().gradient(),
            _ => <B as HvpBackend<F, X, C, T>>::gradient(&state.serial),
        }
    }
    fn value(state: &Self::State) -> X::Scalar {
        match &state.shares {
            Some(shares) if state.division.is_parallel() => shares.first().value(),
            _ => <B as HvpBackend<F, X, C, T>>::value(&state.serial),
        }
    }
}

impl<B: SecondOrderBackend> AutoThreaded<B> {
    /// Divides the tangents of a call and makes the shares, if they are not there.
    fn tangents_divided<X, C, P, Serial, const T: usize>(
        &self,
        state: &mut ThreadedHvpState<Serial, HessianShares<B, X, C, Lane<T>>, X::Scalar>,
        x: At<'_, P>,
    ) -> Result<Division, Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
    {
        let per_pass = per_pass::<B, Lane<T>>(self.backend(), T);
        let division = self.division::<X::Scalar>(T, per_pass, numbers(x.coordinates()));
        state.division = division;
        if division.is_parallel() {
            if state.shares.is_none() {
                let shares = HessianShares::new(HessianWork::new(self.backend(), x, T)?);
                state.are_rows = shares.first().seeds_are_rows();
                state.shares = Some(shares);
            }
            state.shares.iter_mut().for_each(|shares| shares.grow(&division));
        }
        Ok(division)
    }
}

#[diagnostic::do_not_recommend]
impl<B, F, X, C, const T: usize> HvpSamePointBackend<F, X, C, T> for AutoThreaded<B>
where
    B: HvpSamePointBackend<F, X, C, T>,
    X: Shape,
    C: Contexts,
{
    const BACKEND: &'static str = B::BACKEND;
    type State = B::State;

    fn hold<P: Point<Shape = X, Contexts = C>>(&self, f: &F, x: At<'_, P>) -> Result<Self::State, Error> {
        self.backend().hold(f, x)
    }
    fn held<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        self.backend().held(state, f, x, tangents)
    }
    fn prepare_held<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        self.backend().prepare_held(state, f, x, tangents)
    }
    fn copy_product(state: &Self::State, k: usize, out: &mut [X::Scalar]) {
        B::copy_product(state, k, out);
    }
    fn gradient(state: &Self::State) -> &[X::Scalar] {
        B::gradient(state)
    }
    fn value(state: &Self::State) -> X::Scalar {
        B::value(state)
    }
}

/// Names the operator in an error.
fn named<B: SecondOrderBackend>(error: Error) -> Error {
    error.during("hvp", B::NAME)
}
