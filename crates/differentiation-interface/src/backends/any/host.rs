//! Running a static engine on a function of runtime-chosen numbers.
//!
//! Called by `routes.rs`; calls the user's function.

use super::RuntimeForward;
use super::number::Holds;
use crate::backends::{AutoCompiledReverseDiff, AutoFiniteDiff, AutoReverseDiff};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::Recordable;
use differentiation_interface_core::scalar::{Core, Num};
use std::marker::PhantomData;

/// One value out of four, by the engine chosen.
#[derive(Clone, Debug)]
#[expect(clippy::enum_variant_names, reason = "they are the names of the backends")]
pub enum PerEngine<F, R, D, C> {
    /// For forward mode.
    ForwardDiff(F),
    /// For reverse mode.
    ReverseDiff(R),
    /// For finite differences.
    FiniteDiff(D),
    /// For reverse mode by compiled recordings.
    CompiledReverseDiff(C),
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
    fn recordable(&self) -> Option<&dyn Recordable> {
        self.f.recordable()
    }
}

/// How an engine, or a pair of engines, gets at the user's function.
pub(super) trait Sees {
    /// What it calls.
    type Through<'a, N: 'a, F: Flat<N> + 'a>: Flat<N>;
    /// Makes that of the function.
    fn through<'a, N, F: Flat<N>>(f: &'a mut F) -> Self::Through<'a, N, F>;
}

/// A function behind a pointer. A compiled recording calls it only to record, so its routes, which are large, are compiled once
/// for all functions.
pub(super) struct Behind<'a, N>(&'a mut dyn Flat<N>);

/// A function as it is, for engines that call it each time.
pub(super) struct Direct<'a, F>(&'a mut F);

/// Passes every method on to what is inside.
macro_rules! pass_on {
    ($([$($generics:tt)*] $Function:ty => $N:ident;)*) => {$(
        impl<$($generics)*> Flat<$N> for $Function {
            #[inline(always)]
            fn call(&mut self, x: &[$N], y: &mut Vec<$N>) {
                self.0.call(x, y);
            }
            #[inline(always)]
            fn recordable(&self) -> Option<&dyn Recordable> {
                self.0.recordable()
            }
        }
    )*};
}
pass_on! {
    [N] Behind<'_, N> => N;
    [N, F: Flat<N>] Direct<'_, F> => N;
}

/// Which engines call the function each time, and which only to record it.
macro_rules! sees {
    (directly: $($direct:ty),*; to record: $($behind:ty),*;) => {
        $(impl Sees for $direct {
            type Through<'a, N: 'a, F: Flat<N> + 'a> = Direct<'a, F>;
            #[inline(always)]
            fn through<'a, N, F: Flat<N>>(f: &'a mut F) -> Direct<'a, F> {
                Direct(f)
            }
        })*
        $(impl Sees for $behind {
            type Through<'a, N: 'a, F: Flat<N> + 'a> = Behind<'a, N>;
            fn through<'a, N, F: Flat<N>>(f: &'a mut F) -> Behind<'a, N> {
                Behind(f)
            }
        })*
    };
}
sees! {
    directly:
        RuntimeForward, AutoReverseDiff, AutoFiniteDiff,
        (RuntimeForward, RuntimeForward), (RuntimeForward, AutoReverseDiff), (RuntimeForward, AutoFiniteDiff),
        (AutoReverseDiff, RuntimeForward), (AutoReverseDiff, AutoReverseDiff), (AutoReverseDiff, AutoFiniteDiff),
        (AutoFiniteDiff, RuntimeForward), (AutoFiniteDiff, AutoReverseDiff), (AutoFiniteDiff, AutoFiniteDiff);
    to record:
        AutoCompiledReverseDiff, (AutoCompiledReverseDiff, AutoCompiledReverseDiff),
        (RuntimeForward, AutoCompiledReverseDiff), (AutoCompiledReverseDiff, RuntimeForward),
        (AutoReverseDiff, AutoCompiledReverseDiff), (AutoCompiledReverseDiff, AutoReverseDiff),
        (AutoFiniteDiff, AutoCompiledReverseDiff), (AutoCompiledReverseDiff, AutoFiniteDiff);
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
            FirstOrder::CompiledReverseDiff($backend) => PerEngine::CompiledReverseDiff({
                type $B = AutoCompiledReverseDiff;
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
            $Choice::CompiledReverseDiff($engine) => {
                type $B = AutoCompiledReverseDiff;
                $call
            }
        }
    };
}

pub(super) use {make, per_engine};
