//! The routes of a backend chosen at run time: each calls the route of the chosen static backend.
//!
//! Called by operators; calls the static backends' routes, on numbers that `host.rs` converts.

use super::choice::{AnyBackend, FirstOrder, RuntimeForward};
use super::differences::AnyDifferences;
use super::host::{Engine, EngineFunction, PerEngine, Running, make, per_engine, run, run_pair};
use super::number::{AnyCore, AnyNum, AnyPairCore, AnyPairNum};
use crate::backends::{AutoCompiledReverseDiff, AutoReverseDiff};
use differentiation_interface_core::backend::{
    Backend, Compose, Direction, EntryRequest, ForcedRoute, HvpRoute, Lanes, MatrixRoute, Mode, NestedDerivatives,
    PullbackRoute, PushforwardRoute, Request, Rows, Seeds,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::RecordedMatrix;
use differentiation_interface_core::scalar::Scalar;

/// The routes and the mode of a backend that is chosen at run time.
#[derive(Clone, Copy, Debug)]
pub struct AnyRoute;

impl FirstOrder {
    /// The engine that runs this choice.
    pub(super) fn engine(self) -> PerEngine<RuntimeForward, AutoReverseDiff, AnyDifferences, AutoCompiledReverseDiff> {
        match self {
            FirstOrder::ForwardDiff(backend) => PerEngine::ForwardDiff(backend),
            FirstOrder::ReverseDiff(backend) => PerEngine::ReverseDiff(backend),
            FirstOrder::FiniteDiff(backend) => PerEngine::FiniteDiff(AnyDifferences::Plain(backend)),
            FirstOrder::FiniteDifferences(backend) => PerEngine::FiniteDiff(AnyDifferences::Extrapolated(backend)),
            FirstOrder::CompiledReverseDiff(backend) => PerEngine::CompiledReverseDiff(backend),
        }
    }
}

impl FirstOrder {
    /// The same that computes every call in the same way.
    pub(super) fn steady(self) -> FirstOrder {
        match self {
            FirstOrder::ReverseDiff(backend) => FirstOrder::ReverseDiff(backend.steady()),
            other => other,
        }
    }
}

impl Mode for AnyRoute {
    const NAME: &'static str = "chosen at run time";
    const DIRECTION: Direction = Direction::Both;
}

impl Compose<AnyRoute> for AnyRoute {
    type Route = AnyRoute;
}

/// An engine with the state of one of its routes, and the number it runs on.
type PushforwardEngine<B, S, L> = Engine<B, <<B as Backend>::Pushforward as PushforwardRoute<B>>::State<S, L>>;
type PullbackEngine<B, S, L> = Engine<B, <<B as Backend>::Pullback as PullbackRoute<B>>::State<S, L>>;
/// `derivative` and `gradient` take the route of `jacobian`, which is the same for the static backends here.
type MatrixEngine<B, S, L> = Engine<B, <<B as Backend>::Jacobian as MatrixRoute<B>>::State<S, L>>;
type PairRoute<O, I> = <<O as Backend>::Mode as Compose<<I as Backend>::Mode>>::Route;
type PairEngine<O, I, S, L> = Engine<(O, I), <PairRoute<O, I> as HvpRoute<O, I>>::State<S, L>>;

/// The states of the four engines.
macro_rules! engines {
    ($Engine:ident $(, $outer:ident)?) => {
        PerEngine<
            $Engine<$($outer,)? RuntimeForward, S, L>,
            $Engine<$($outer,)? AutoReverseDiff, S, L>,
            $Engine<$($outer,)? AnyDifferences, S, L>,
            $Engine<$($outer,)? AutoCompiledReverseDiff, S, L>,
        >
    };
}

impl PushforwardRoute<AnyBackend> for AnyRoute {
    const NAME: &'static str = "as chosen";
    type State<S: Scalar, L: Lanes> = Running<engines!(PushforwardEngine), AnyCore<S, L>>;

    fn state<S: Scalar, L: Lanes>(
        backend: &AnyBackend,
        inputs: usize,
        seeds: usize,
    ) -> Result<Self::State<S, L>, Error> {
        Ok(Running::new(make!(backend.first_order()?, |backend: B| {
            let state = <<B as Backend>::Pushforward as PushforwardRoute<B>>::state::<S, L>(&backend, inputs, seeds)?;
            Engine { backend, state }
        })))
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<AnyNum<S, L>>>(
        _: &AnyBackend,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        run!(state, f, Pushforward: PushforwardRoute, hold(x, y))
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<AnyNum<S, L>>>(
        _: &AnyBackend,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        run!(state, f, Pushforward: PushforwardRoute, pushforward(x, seeds, y, rows))
    }
    fn held<S: Scalar, L: Lanes, F: Flat<AnyNum<S, L>>>(
        _: &AnyBackend,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        run!(state, f, Pushforward: PushforwardRoute, held(seeds, rows))
    }
    fn entries<S: Scalar, L: Lanes, F: Flat<AnyNum<S, L>>>(
        _: &AnyBackend,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        entries: EntryRequest<'_, S>,
        y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        run!(state, f, Pushforward: PushforwardRoute, entries(x, entries, y))
    }
    fn adapt<S: Scalar, L: Lanes>(_: &AnyBackend, state: &mut Self::State<S, L>, adapts: bool) {
        per_engine!(&mut state.engine, |engine: B| {
            <<B as Backend>::Pushforward as PushforwardRoute<B>>::adapt::<S, L>(
                &engine.backend,
                &mut engine.state,
                adapts,
            );
        });
    }
    fn seeds_per_pass<L: Lanes>(backend: &AnyBackend, seeds: usize) -> usize {
        let Ok(choice) = backend.first_order() else { return seeds.max(1) };
        per_engine!(choice.engine(), |engine: B| {
            <<B as Backend>::Pushforward as PushforwardRoute<B>>::seeds_per_pass::<L>(&engine, seeds)
        })
    }
}

impl PullbackRoute<AnyBackend> for AnyRoute {
    const NAME: &'static str = "as chosen";
    type State<S: Scalar, L: Lanes> = Running<engines!(PullbackEngine), AnyCore<S, L>>;

    fn state<S: Scalar, L: Lanes>(backend: &AnyBackend, inputs: usize) -> Result<Self::State<S, L>, Error> {
        Ok(Running::new(make!(backend.first_order()?, |backend: B| {
            let state = <<B as Backend>::Pullback as PullbackRoute<B>>::state::<S, L>(&backend, inputs)?;
            Engine { backend, state }
        })))
    }
    fn record<S: Scalar, L: Lanes, F: Flat<AnyNum<S, L>>>(
        _: &AnyBackend,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        run!(state, f, Pullback: PullbackRoute, record(x, y))
    }
    fn sweep<S: Scalar, L: Lanes, F: Flat<AnyNum<S, L>>>(
        _: &AnyBackend,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        run!(state, f, Pullback: PullbackRoute, sweep(seeds, rows))
    }
    fn adapt<S: Scalar, L: Lanes>(_: &AnyBackend, state: &mut Self::State<S, L>, adapts: bool) {
        per_engine!(&mut state.engine, |engine: B| {
            <<B as Backend>::Pullback as PullbackRoute<B>>::adapt::<S, L>(&engine.backend, &mut engine.state, adapts);
        });
    }
    fn entries<S: Scalar, L: Lanes, F: Flat<AnyNum<S, L>>>(
        _: &AnyBackend,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        entries: EntryRequest<'_, S>,
        y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        run!(state, f, Pullback: PullbackRoute, entries(x, entries, y))
    }
    fn seeds_per_pass<L: Lanes>(backend: &AnyBackend, seeds: usize) -> usize {
        let Ok(choice) = backend.first_order() else { return seeds.max(1) };
        per_engine!(choice.engine(), |engine: B| {
            <<B as Backend>::Pullback as PullbackRoute<B>>::seeds_per_pass::<L>(&engine, seeds)
        })
    }
}

impl MatrixRoute<AnyBackend> for AnyRoute {
    const NAME: &'static str = "as chosen";
    type State<S: Scalar, L: Lanes> = Running<engines!(MatrixEngine), AnyCore<S, L>>;

    fn state<S: Scalar, L: Lanes>(backend: &AnyBackend, inputs: usize) -> Result<Self::State<S, L>, Error> {
        Ok(Running::new(make!(backend.first_order()?, |backend: B| {
            let state = <<B as Backend>::Jacobian as MatrixRoute<B>>::state::<S, L>(&backend, inputs)?;
            Engine { backend, state }
        })))
    }
    fn prepare<S: Scalar, L: Lanes, F: Flat<AnyNum<S, L>>>(
        backend: &AnyBackend,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        as_steady_as(backend, &mut state.engine);
        run!(state, f, Jacobian: MatrixRoute, prepare(x, y))
    }
    fn matrix<S: Scalar, L: Lanes, F: Flat<AnyNum<S, L>>>(
        backend: &AnyBackend,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        as_steady_as(backend, &mut state.engine);
        run!(state, f, Jacobian: MatrixRoute, matrix(x, y, rows))
    }
    fn restart<S: Scalar, L: Lanes>(state: &mut Self::State<S, L>) {
        per_engine!(&mut state.engine, |engine: B| {
            <<B as Backend>::Jacobian as MatrixRoute<B>>::restart::<S, L>(&mut engine.state);
        });
    }
    #[inline]
    fn recorded<S: Scalar, L: Lanes>(state: &mut Self::State<S, L>) -> Option<&mut dyn RecordedMatrix<S>> {
        per_engine!(&mut state.engine, |engine: B| {
            <<B as Backend>::Jacobian as MatrixRoute<B>>::recorded::<S, L>(&mut engine.state)
        })
    }
    fn divides(backend: &AnyBackend) -> Option<Direction> {
        let choice = backend.first_order().ok()?;
        per_engine!(choice.engine(), |engine: B| <<B as Backend>::Jacobian as MatrixRoute<B>>::divides(&engine))
    }
}

/// Lets the engine go up to programs in this call only if the backend of the call does: inside another operator it does not.
fn as_steady_as<F, R, D, C>(backend: &AnyBackend, engine: &mut PerEngine<F, Engine<AutoReverseDiff, R>, D, C>) {
    if let (AnyBackend::FirstOrder(FirstOrder::ReverseDiff(asked)), PerEngine::ReverseDiff(engine)) = (backend, engine)
    {
        engine.backend = *asked;
    }
}

/// The engines of all pairs with one outer backend.
type InnerEngines<O, S, L> = engines!(PairEngine, O);
/// The engines of all pairs.
type PairEngines<S, L> = engines!(InnerEngines);

/// Matches the engine of a pair; the body has access to the types of both static backends.
macro_rules! per_pair {
    ($state:expr, |$engine:ident: $O:ident, $I:ident| $call:expr) => {
        per_engine!($state, |inner: $O| per_engine!(inner, |$engine: $I| $call))
    };
}

/// A property of the route of two static backends.
macro_rules! of_pair {
    ($pair:expr, $question:ident) => {{
        let (Ok(outer), Ok(inner)) = ($pair.0.first_order(), $pair.1.first_order()) else { return false };
        per_engine!(outer.engine(), |outer: O| per_engine!(inner.engine(), |inner: I| {
            <PairRoute<O, I> as HvpRoute<O, I>>::$question(&(outer, inner))
        }))
    }};
}

impl HvpRoute<AnyBackend, AnyBackend> for AnyRoute {
    const NAME: &'static str = "as chosen";
    type Lanes = <AnyBackend as Backend>::Lanes;
    type Num<S: Scalar, L: Lanes> = AnyPairNum<S, L>;
    type State<S: Scalar, L: Lanes> = Running<PairEngines<S, L>, AnyPairCore<S, L>>;
    type SamePoint = ForcedRoute<AnyBackend, AnyBackend, AnyRoute>;
    type SecondDerivative = NestedDerivatives;

    fn same_point((outer, inner): &(AnyBackend, AnyBackend)) -> Self::SamePoint {
        // As with the static backends, a reverse inner backend keeps the linearisation if the outer one cannot.
        let keeps =
            matches!(inner, AnyBackend::FirstOrder(FirstOrder::ReverseDiff(_) | FirstOrder::CompiledReverseDiff(_)));
        let outer = if keeps { inner } else { outer };
        ForcedRoute::new(&(*outer, *inner))
    }

    fn state<S: Scalar, L: Lanes>(
        pair: &(AnyBackend, AnyBackend),
        inputs: usize,
        seeds: usize,
    ) -> Result<Self::State<S, L>, Error> {
        let (outer, inner) = (pair.0.first_order()?, pair.1.first_order()?);
        Ok(Running::new(make!(outer, |outer: O| make!(inner, |inner: I| {
            let backend = (outer, inner);
            let state = <PairRoute<O, I> as HvpRoute<O, I>>::state::<S, L>(&backend, inputs, seeds)?;
            Engine { backend, state }
        }))))
    }
    fn seeds_are_rows(pair: &(AnyBackend, AnyBackend)) -> bool {
        of_pair!(pair, seeds_are_rows)
    }
    fn memory_follows_tangents(pair: &(AnyBackend, AnyBackend)) -> bool {
        of_pair!(pair, memory_follows_tangents)
    }
    fn gradient<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> &[S] {
        per_pair!(&state.engine, |engine: O, I| <PairRoute<O, I> as HvpRoute<O, I>>::gradient::<S, L>(&engine.state))
    }
    fn value<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> S {
        per_pair!(&state.engine, |engine: O, I| <PairRoute<O, I> as HvpRoute<O, I>>::value::<S, L>(&engine.state))
    }
    fn products<S: Scalar, L: Lanes, F: Flat<AnyPairNum<S, L>>>(
        _: &(AnyBackend, AnyBackend),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        request: Request,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        run_pair!(state, f, products(x, seeds, request, rows))
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<AnyPairNum<S, L>>>(
        _: &(AnyBackend, AnyBackend),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        run_pair!(state, f, hold(x))
    }
    fn held<S: Scalar, L: Lanes, F: Flat<AnyPairNum<S, L>>>(
        _: &(AnyBackend, AnyBackend),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        run_pair!(state, f, held(x, seeds, rows))
    }
    fn entries<S: Scalar, L: Lanes, F: Flat<AnyPairNum<S, L>>>(
        _: &(AnyBackend, AnyBackend),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        entries: EntryRequest<'_, S>,
        request: Request,
    ) -> Result<bool, Error> {
        run_pair!(state, f, entries(x, entries, request))
    }
    fn adapt<S: Scalar, L: Lanes>(_: &(AnyBackend, AnyBackend), state: &mut Self::State<S, L>, adapts: bool) {
        per_pair!(&mut state.engine, |engine: O, I| {
            <PairRoute<O, I> as HvpRoute<O, I>>::adapt::<S, L>(&engine.backend, &mut engine.state, adapts);
        });
    }
    fn seeds_per_pass<L: Lanes>(pair: &(AnyBackend, AnyBackend), seeds: usize) -> usize {
        let (Ok(outer), Ok(inner)) = (pair.0.first_order(), pair.1.first_order()) else { return seeds.max(1) };
        per_engine!(outer.engine(), |outer: O| per_engine!(inner.engine(), |inner: I| {
            <PairRoute<O, I> as HvpRoute<O, I>>::seeds_per_pass::<L>(&(outer, inner), seeds)
        }))
    }
}
