//! Running a static engine on a function of runtime-chosen numbers.
//!
//! Called by `routes.rs`; calls the user's function.

use super::number::Holds;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::{Core, Num};
use std::marker::PhantomData;

/// One value out of three, by the engine chosen.
#[derive(Clone, Debug)]
#[expect(clippy::enum_variant_names, reason = "they are the names of the backends")]
pub enum PerEngine<F, R, D> {
    /// For forward mode.
    ForwardDiff(F),
    /// For reverse mode.
    ReverseDiff(R),
    /// For finite differences.
    FiniteDiff(D),
}

/// A static engine (or two) with its state.
#[derive(Clone, Debug)]
pub struct Engine<B, State> {
    pub(super) backend: B,
    pub(super) state: State,
}

/// The engine chosen, and the numbers that the user's function gets and gives.
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

/// The user's function as the engine `K` sees it.
pub(super) struct Seen<'a, K, F, C> {
    f: &'a mut F,
    numbers: &'a mut Numbers<C>,
    engine: PhantomData<K>,
}

impl<'a, K, F, C> Seen<'a, K, F, C> {
    /// The engine is only there to tell its type.
    #[inline(always)]
    pub(super) fn by(_engine: &K, f: &'a mut F, numbers: &'a mut Numbers<C>) -> Self {
        Seen { f, numbers, engine: PhantomData }
    }
}

impl<K, F: Flat<Num<C>>, C: Holds<K> + Core> Flat<C::Active> for Seen<'_, K, F, C>
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
}

/// Makes a [`PerEngine`] from a [`FirstOrder`], with the static backend at hand.
macro_rules! make {
    ($choice:expr, |$backend:ident: $B:ident| $make:expr) => {
        match $choice {
            FirstOrder::ForwardDiff($backend) => PerEngine::ForwardDiff({
                type $B = RuntimeForward;
                $make
            }),
            FirstOrder::ReverseDiff($backend) => PerEngine::ReverseDiff({
                type $B = AutoReverseDiff;
                $make
            }),
            FirstOrder::FiniteDiff($backend) => PerEngine::FiniteDiff({
                type $B = AutoFiniteDiff;
                $make
            }),
        }
    };
}

/// Uses what is in a [`PerEngine`] or a `FirstOrder`, with the type of the static backend at hand.
macro_rules! per_engine {
    ($Choice:ident, $engines:expr, |$engine:ident: $B:ident| $call:expr) => {
        match $engines {
            $Choice::ForwardDiff($engine) => {
                type $B = RuntimeForward;
                $call
            }
            $Choice::ReverseDiff($engine) => {
                type $B = AutoReverseDiff;
                $call
            }
            $Choice::FiniteDiff($engine) => {
                type $B = AutoFiniteDiff;
                $call
            }
        }
    };
}

pub(super) use {make, per_engine};
