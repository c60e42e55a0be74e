//! `pullback`: several cotangents on several threads, each with a recording of its own.
//!
//! Called by the operator; calls the row shares, or the inner backend where there is one thread. The number of cotangents is known
//! after the recording: if the last call divided them, the next recording is made by all shares.

use super::columns::Call;
use super::division::{Division, share_out};
use super::rows::RowShare;
use super::setting::AutoThreaded;
use differentiation_interface_core::backend::{Backend, PullbackRoute, Seeds};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::{Evaluate, KeptBy};
use differentiation_interface_core::operators::{NumOf, PullbackBackend};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::Base;

type CotangentNum<B, X> = NumOf<B, X, <B as Backend>::Lanes>;

/// The state of the inner backend, and the shares of the threads.
#[derive(Clone)]
pub struct ThreadedPullbackState<Serial, Share, S> {
    serial: Serial,
    shares: Vec<Share>,
    /// Whether this state is that of a preparation, whose recordings are divided.
    is_prepared: bool,
    /// How the last cotangents were or would have been divided.
    division: Division,
    /// Whether the shares have the last recording.
    is_shared: bool,
    dx: Vec<S>,
}

#[diagnostic::do_not_recommend]
impl<B, F, X, C> PullbackBackend<F, X, C> for AutoThreaded<B>
where
    B: Backend,
    X: Shape,
    C: for<'v> Contexts<Values<'v>: Send + Sync>,
    F: Evaluate<X, C, CotangentNum<B, X>> + Sync,
{
    const BACKEND: &'static str = B::NAME;
    type Num = CotangentNum<B, X>;
    type Output = F::Output;
    type State = ThreadedPullbackState<
        <B as PullbackBackend<F, X, C>>::State,
        RowShare<B, X, C, B::Lanes, KeptBy<F, X, C, CotangentNum<B, X>>>,
        X::Scalar,
    >;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(ThreadedPullbackState {
            serial: PullbackBackend::<F, X, C>::unprepared(self.backend(), x)?,
            shares: Vec::new(),
            is_prepared: false,
            division: Division::default(),
            is_shared: false,
            dx: Vec::new(),
        })
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(&self, state: &mut Self::State, x: At<'_, P>) -> Result<(), Error> {
        state.shares.clear();
        (state.is_prepared, state.is_shared) = (true, false);
        PullbackBackend::<F, X, C>::prepare(self.backend(), &mut state.serial, x)
    }
    fn record<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        state.is_shared = state.shares.len() > 1 && state.division.parts() == state.shares.len();
        if !state.is_shared {
            return PullbackBackend::<F, X, C>::record(self.backend(), &mut state.serial, f, x);
        }
        state.shares.iter_mut().for_each(|share| share.fit(x));
        let call = Call { backend: self.backend(), function: f, contexts: x.contexts(), x: x.coordinates() };
        let none: &mut [X::Scalar] = &mut [];
        share_out(&mut state.shares, none, &|_| 0, &|_, share, _| share.record(&call, None)).map_err(named::<B>)
    }
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        cotangents: &[&[X::Scalar]],
    ) -> Result<(), Error> {
        let outputs = <Self as PullbackBackend<F, X, C>>::value(state).len();
        let ThreadedPullbackState { serial, shares, is_prepared, division, is_shared, dx } = state;
        let call = Call { backend: self.backend(), function: f, contexts: x.contexts(), x: x.coordinates() };
        let inputs = call.x.len();
        let per_pass = B::Pullback::seeds_per_pass::<B::Lanes>(self.backend(), cotangents.len());
        *division = self.division::<X::Scalar>(cotangents.len(), per_pass, inputs + outputs);
        if !*is_shared {
            // The recording is made; the shares are for the next one.
            if *is_prepared && division.is_parallel() && shares.len() != division.parts() {
                shares.clear();
                for _ in 0..division.parts() {
                    shares.push(RowShare::new(self.backend(), x).map_err(named::<B>)?);
                }
                let none: &mut [X::Scalar] = &mut [];
                let division = &*division;
                let sizing = |part, share: &mut RowShare<_, _, _, _, _>, _: &mut [_]| {
                    share.record(&call, None)?;
                    share.sweep(&call, Seeds::Vectors(cotangents), (division, part), None)
                };
                share_out(shares, none, &|_| 0, &sizing).map_err(named::<B>)?;
                dx.reserve(inputs * cotangents.len());
            }
            return PullbackBackend::<F, X, C>::products(self.backend(), serial, f, x, cotangents);
        }
        // All shares have recorded, of which a call with fewer cotangents uses the first ones.
        let division = Division::new(cotangents.len(), per_pass, shares.len());
        dx.resize(inputs * cotangents.len(), X::Scalar::default());
        let start = |part| division.start(part) * inputs;
        share_out(&mut shares[..division.parts()], &mut dx[..], &start, &|part, share, own| {
            share.sweep(&call, Seeds::Vectors(cotangents), (&division, part), Some(own))
        })
        .map_err(named::<B>)
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
        state.is_shared = false;
        PullbackBackend::<F, X, C>::evaluate(self.backend(), &mut state.serial, f, x, y)
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        match state.shares.first() {
            Some(share) if state.is_shared => &share.y,
            _ => <B as PullbackBackend<F, X, C>>::value(&state.serial),
        }
    }
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, CotangentNum<B, X>> {
        match state.shares.first() {
            Some(share) if state.is_shared => &share.kept,
            _ => <B as PullbackBackend<F, X, C>>::kept(&state.serial),
        }
    }
    fn rows(state: &Self::State) -> &[X::Scalar] {
        if state.is_shared { &state.dx } else { <B as PullbackBackend<F, X, C>>::rows(&state.serial) }
    }
}

/// Names the operator in an error.
fn named<B: Backend>(error: Error) -> Error {
    error.during("pullback", B::NAME)
}
