//! `pushforward`: several tangents on several threads, if the engine runs the function once or more for each.
//!
//! Called by the operator; calls the column shares, or the inner backend where there is one thread. Forward mode carries all tangents of a
//! call in one pass and stays on one thread.

use super::columns::{Call, ColumnShare};
use super::division::{Division, share_out};
use super::setting::AutoThreaded;
use differentiation_interface_core::backend::{Backend, Lane, MatrixColumns, PushforwardRoute, Seeds};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::{Evaluate, KeptBy};
use differentiation_interface_core::operators::{NumOf, PushforwardBackend};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::{Base, Scalar};

type TangentNum<B, X, const T: usize> = NumOf<B, X, Lane<T>>;

/// The state of the inner backend, and the shares of the threads.
#[derive(Clone)]
pub struct ThreadedPushforwardState<Serial, Share, S> {
    serial: Serial,
    shares: Vec<Share>,
    /// How the tangents of the last call were divided; one part if the inner backend ran.
    division: Division,
    /// Number of outputs, once prepared.
    outputs: Option<usize>,
    /// The products, share by share; those of a share are a matrix with one row per output.
    dy: Vec<S>,
    column: Vec<S>,
}

#[diagnostic::do_not_recommend]
impl<B, F, X, C, const T: usize> PushforwardBackend<F, X, C, T> for AutoThreaded<B>
where
    B: Backend,
    X: Shape,
    C: for<'v> Contexts<Values<'v>: Send + Sync>,
    F: Evaluate<X, C, TangentNum<B, X, T>> + Sync,
{
    const BACKEND: &'static str = B::NAME;
    type Num = TangentNum<B, X, T>;
    type Output = F::Output;
    type State = ThreadedPushforwardState<
        <B as PushforwardBackend<F, X, C, T>>::State,
        ColumnShare<B, X, C, Lane<T>, KeptBy<F, X, C, TangentNum<B, X, T>>>,
        X::Scalar,
    >;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(ThreadedPushforwardState {
            serial: PushforwardBackend::<F, X, C, T>::unprepared(self.backend(), x)?,
            shares: Vec::new(),
            division: Division::default(),
            outputs: None,
            dy: Vec::new(),
            column: Vec::new(),
        })
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        PushforwardBackend::<F, X, C, T>::prepare(self.backend(), &mut state.serial, f, x, tangents)?;
        let outputs = <B as PushforwardBackend<F, X, C, T>>::value(&state.serial).len();
        state.outputs = Some(outputs);
        state.shares.clear();
        let division = self.tangents::<X::Scalar, T>(x.coordinates().len() + outputs);
        if division.is_parallel() {
            for _ in 0..division.parts() {
                state.shares.push(ColumnShare::new(self.backend(), x, T).map_err(named::<B>)?);
            }
            state.column.resize(outputs, X::Scalar::default());
            PushforwardBackend::<F, X, C, T>::products(self, state, f, x, tangents, true)?;
        }
        Ok(())
    }
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
        with_value: bool,
    ) -> Result<(), Error> {
        // The shares of a preparation decide, so that a call in another pool finds them.
        let ThreadedPushforwardState { serial, shares, division, outputs, dy, .. } = state;
        let Some(outputs) = outputs.filter(|_| shares.len() > 1) else {
            *division = Division::default();
            return PushforwardBackend::<F, X, C, T>::products(self.backend(), serial, f, x, tangents, with_value);
        };
        *division = Division::new(T, per_pass::<B, T>(self.backend()), shares.len());
        let division = &*division;
        shares.iter_mut().for_each(|share| share.fit(x));
        dy.resize(outputs * T, X::Scalar::default());
        let call = Call { backend: self.backend(), function: f, contexts: x.contexts(), x: x.coordinates() };
        let start = |part| division.start(part) * outputs;
        share_out(shares, &mut dy[..], &start, &|part, share, own| {
            let with_value = with_value && part == 0;
            let own = Some(MatrixColumns::new(own, division.range(part).len()));
            share.fill(&call, Seeds::Vectors(tangents), (division, part), outputs, with_value, own)
        })
        .map_err(named::<B>)
    }
    fn hold<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        state.division = Division::default();
        PushforwardBackend::<F, X, C, T>::hold(self.backend(), &mut state.serial, f, x)
    }
    fn held<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        PushforwardBackend::<F, X, C, T>::held(self.backend(), &mut state.serial, f, x, tangents)
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
        state.division = Division::default();
        PushforwardBackend::<F, X, C, T>::evaluate(self.backend(), &mut state.serial, f, x, y)
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        match state.shares.first() {
            Some(share) if state.division.is_parallel() => &share.y,
            _ => <B as PushforwardBackend<F, X, C, T>>::value(&state.serial),
        }
    }
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, TangentNum<B, X, T>> {
        match state.shares.first() {
            Some(share) if state.division.is_parallel() => &share.kept,
            _ => <B as PushforwardBackend<F, X, C, T>>::kept(&state.serial),
        }
    }
    fn product(state: &mut Self::State, k: usize) -> (&[X::Scalar], &KeptBy<F, X, C, TangentNum<B, X, T>>) {
        let ThreadedPushforwardState { serial, shares, division, outputs, dy, column } = state;
        let (Some(share), true, Some(outputs)) = (shares.first(), division.is_parallel(), *outputs) else {
            return <B as PushforwardBackend<F, X, C, T>>::product(serial, k);
        };
        let (part, place) = division.part_of(k);
        let own = &dy[division.start(part) * outputs..];
        column.clear();
        column.extend(own.iter().skip(place).step_by(division.range(part).len()).take(outputs));
        (column, &share.kept)
    }
}

/// The number of tangents of one pass.
fn per_pass<B: Backend, const T: usize>(backend: &B) -> usize {
    B::Pushforward::seeds_per_pass::<Lane<T>>(backend, T)
}

impl<B: Backend> AutoThreaded<B> {
    fn tangents<S: Scalar, const T: usize>(&self, numbers: usize) -> Division {
        self.division::<S>(T, per_pass::<B, T>(self.backend()), numbers)
    }
}

/// Names the operator in an error.
fn named<B: Backend>(error: Error) -> Error {
    error.during("pushforward", B::NAME)
}
