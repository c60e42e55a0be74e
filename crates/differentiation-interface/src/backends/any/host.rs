//! Runs a static engine on a function over the numbers of a backend chosen at run time.
//!
//! Called by `routes.rs`; calls the user's function.

use super::number::Holds;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::{OutputShape, Recordable};
use differentiation_interface_core::scalar::{Core, Num};
use std::marker::PhantomData;

/// One of four values, by the chosen engine.
#[derive(Clone, Debug)]
#[expect(clippy::enum_variant_names, reason = "they are the names of the backends")]
pub enum PerEngine<F, R, D, C> {
    /// For forward mode.
    ForwardDiff(F),
    /// For reverse mode.
    ReverseDiff(R),
    /// For finite differences of both kinds.
    FiniteDiff(D),
    /// For reverse mode by compiled recordings.
    CompiledReverseDiff(C),
}

/// A static engine, or a pair of them, with its state.
#[derive(Clone, Debug)]
pub struct Engine<B, State> {
    pub(super) backend: B,
    pub(super) state: State,
}

/// The chosen engine, and the inputs and outputs of the user's function.
#[derive(Clone)]
pub struct Running<Engines, C> {
    pub(super) engine: Engines,
    pub(super) numbers: Numbers<C>,
}

/// Inputs and outputs of the user's function, reused by all calls.
#[derive(Clone)]
pub(super) struct Numbers<C> {
    x: Vec<Num<C>>,
    y: Vec<Num<C>>,
}

impl<Engines, C> Running<Engines, C> {
    pub(super) fn new(engine: Engines) -> Self {
        Running { engine, numbers: Numbers { x: Vec::new(), y: Vec::new() } }
    }
}

/// The user's function as the engine `K` calls it, through a trait object: the engines and their many pairs are compiled once for
/// all functions. The indirect call costs less than matching the variants of the numbers.
pub(super) struct EngineFunction<'a, K, C> {
    f: &'a mut (dyn Flat<Num<C>> + 'a),
    numbers: &'a mut Numbers<C>,
    engine: PhantomData<K>,
}

impl<'a, K, C> EngineFunction<'a, K, C> {
    pub(super) fn new(f: &'a mut (dyn Flat<Num<C>> + 'a), numbers: &'a mut Numbers<C>) -> Self {
        EngineFunction { f, numbers, engine: PhantomData }
    }
}

impl<K, C: Holds<K> + Core> Flat<C::Active> for EngineFunction<'_, K, C>
where
    C::Active: Copy,
{
    #[inline]
    fn call(&mut self, x: &[C::Active], y: &mut Vec<C::Active>) {
        let numbers = &mut *self.numbers;
        numbers.x.clear();
        numbers.x.extend(x.iter().map(|&v| Num(C::put(v))));
        self.f.call(&numbers.x, &mut numbers.y);
        y.clear();
        y.extend(numbers.y.iter().map(|v| v.0.take()));
    }
    fn remember_shape(&mut self) -> Option<OutputShape> {
        self.f.remember_shape()
    }
    fn recordable(&self) -> Option<&dyn Recordable> {
        self.f.recordable()
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}

/// Makes a [`PerEngine`] from a [`FirstOrder`]; the body has access to the static backend.
macro_rules! make {
    ($choice:expr, |$backend:ident: $B:ident| $make:expr) => {
        match $choice.engine() {
            PerEngine::ForwardDiff($backend) => PerEngine::ForwardDiff({
                type $B = RuntimeForward;
                $make
            }),
            PerEngine::ReverseDiff($backend) => PerEngine::ReverseDiff({
                type $B = AutoReverseDiff;
                $make
            }),
            PerEngine::FiniteDiff($backend) => PerEngine::FiniteDiff({
                type $B = AnyDifferences;
                $make
            }),
            PerEngine::CompiledReverseDiff($backend) => PerEngine::CompiledReverseDiff({
                type $B = AutoCompiledReverseDiff;
                $make
            }),
        }
    };
}

/// Matches a [`PerEngine`]; the body has access to the type of the static backend.
macro_rules! per_engine {
    ($engines:expr, |$engine:ident: $B:ident| $call:expr) => {
        match $engines {
            PerEngine::ForwardDiff($engine) => {
                type $B = RuntimeForward;
                $call
            }
            PerEngine::ReverseDiff($engine) => {
                type $B = AutoReverseDiff;
                $call
            }
            PerEngine::FiniteDiff($engine) => {
                type $B = AnyDifferences;
                $call
            }
            PerEngine::CompiledReverseDiff($engine) => {
                type $B = AutoCompiledReverseDiff;
                $call
            }
        }
    };
}

/// Calls a method of a route of the chosen engine on the user's function: `Pushforward: PushforwardRoute, held(seeds, rows)`.
macro_rules! run {
    ($state:expr, $f:expr, $kind:ident: $Route:ident, $method:ident($($argument:expr),*)) => {{
        let Running { engine, numbers } = $state;
        per_engine!(engine, |engine: B| {
            let f = &mut EngineFunction::<B, _>::new($f, numbers);
            <<B as Backend>::$kind as $Route<B>>::$method::<S, L, _>(&engine.backend, &mut engine.state, f, $($argument),*)
        })
    }};
}

/// The same for a pair of engines.
macro_rules! run_pair {
    ($state:expr, $f:expr, $method:ident($($argument:expr),*)) => {{
        let Running { engine, numbers } = $state;
        per_engine!(engine, |inner: O| per_engine!(inner, |engine: I| {
            let f = &mut EngineFunction::<(O, I), _>::new($f, numbers);
            <PairRoute<O, I> as HvpRoute<O, I>>::$method::<S, L, _>(&engine.backend, &mut engine.state, f, $($argument),*)
        }))
    }};
}

pub(super) use {make, per_engine, run, run_pair};
