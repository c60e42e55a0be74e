//! The numbers of backends chosen at run time: an enum over the numbers of the engines and a plain scalar.
//!
//! Called by the user's function through [`Num`], and by `host.rs`, which wraps and unwraps the numbers of the chosen engine.

use super::choice::RuntimeForward;
use super::differences::AnyDifferences;
use crate::backends::compiled_reverse_diff::constant_of;
use crate::backends::forward_diff::{AutoChunk, ChunkSize, Dual, DualCore, HyperDual, HyperDualCore};
use crate::backends::reverse_diff::{TwiceVar, TwiceVarCore, Var, VarCore};
use crate::backends::{AutoCompiledReverseDiff, AutoReverseDiff};
use compiled_trace::Recorded;
use differentiation_interface_core::backend::Lanes;
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::recordings::{EngineScalar, Internals};
use differentiation_interface_core::rules::{Binary, Unary};
use differentiation_interface_core::scalar::{Core, Num, Relation, Scalar};
use std::any::Any;
use std::cmp::Ordering;
use std::sync::Arc;

/// The number of [`AnyBackend`](super::AnyBackend) over the scalar `S`, with lanes `L`.
pub type AnyNum<S, L> = Num<AnyCore<S, L>>;
/// The number of an [`AnyBackend`](super::AnyBackend) in `hvp` and `hessian`.
pub type AnyPairNum<S, L> = Num<AnyPairCore<S, L>>;

/// A number that can be that of the engine `K`.
pub(super) trait Holds<K>: Core {
    /// The engine's number.
    type Active;
    /// Wraps the engine's number.
    fn put(active: Self::Active) -> Self;
    /// Unwraps the engine's number. A constant becomes a constant of the engine; a number of another engine is a fault.
    fn take(self) -> Self::Active;
}

/// The lanes of an inner forward mode.
type Inner = <AutoChunk as ChunkSize>::Lanes;
/// The same in numbers of second order.
type Second = <AutoChunk as ChunkSize>::Second;

/// The operations of a number with one variant per engine, each carried out by the engine's own number.
macro_rules! operations {
    ($Core:ident: $($Variant:ident($Active:ty) of $Key:ty;)*) => {
        impl<S: Scalar, L: Lanes> Core for $Core<S, L> {
            type Base = S::Base;
            const DEPTH: u32 = 1 + S::DEPTH;
            const INTERNALS: &'static Internals<Num<Self>, S::Base> = &Internals {
                // The running engine is not known here, but only recordings distinguish parameters from constants.
                parameter: |index, value| {
                    let below = S::parameter(index, value);
                    if !below.is_constant() {
                        return Num(Self::Plain(below));
                    }
                    if let Some(of_tape) = Self::parameter_of_tape(index, value) {
                        return Num(of_tape);
                    }
                    let recorded = Recorded::<S::Base>::parameter(index, value);
                    Num(if recorded.is_constant() { Self::Plain(below) } else { Self::Recorded(recorded) })
                },
                ..Internals::DEFAULT
            };
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn constant(value: S::Base) -> Self { Self::Plain(S::constant(value)) }
            #[inline]
            fn primal(&self) -> S::Base { match self { $(Self::$Variant(v) => v.peek(),)* } }
            // The engine's number is observed, because it may record decisions of the user's code.
            #[inline]
            #[track_caller]
            fn observe(&self) -> S::Base { match self { $(Self::$Variant(v) => v.primal(),)* } }
            #[inline]
            #[track_caller]
            fn compare(&self, other: &Self) -> Option<Ordering> {
                match (self, other) {
                    $((Self::$Variant(a), Self::$Variant(b)) => a.partial_cmp(b),)*
                    (a, b) => a.compare_mixed(*b),
                }
            }
            #[inline]
            #[track_caller]
            fn compare_plain(&self, other: S::Base) -> Option<Ordering> {
                match self { $(Self::$Variant(v) => v.partial_cmp(&<$Active>::constant(other)),)* }
            }
            #[inline]
            #[track_caller]
            fn compare_magnitude(&self, other: S::Base) -> Option<Ordering> {
                match self { $(Self::$Variant(v) => v.compare_magnitude(other),)* }
            }
            #[inline]
            #[track_caller]
            fn select(left: Self, relation: Relation, right: Self, then: Self, otherwise: Self) -> Self {
                let numbers = [left, right, then, otherwise];
                match Self::leading(numbers) {
                    $(Self::$Variant(_) => {
                        let [left, right, then, otherwise] = numbers.map(|v| <Self as Holds<$Key>>::take(v));
                        <Self as Holds<$Key>>::put(Scalar::select(left, relation, right, then, otherwise))
                    })*
                }
            }
            #[inline]
            fn is_constant(&self) -> bool { match self { $(Self::$Variant(v) => v.is_constant(),)* } }
            fn spoil(&self, kind: ErrorKind) { match self { $(Self::$Variant(v) => v.spoil(kind),)* } }
            #[inline]
            fn unary<R: Unary>(self, rule: R) -> Self {
                match self { $(Self::$Variant(v) => Self::$Variant(v.apply(rule)),)* }
            }
            #[inline]
            fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
                match (self, other) {
                    $((Self::$Variant(a), Self::$Variant(b)) => Self::$Variant(a.apply2(b, rule)),)*
                    (a, b) => a.mixed(b, rule),
                }
            }
            #[inline]
            fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
                match self { $(Self::$Variant(v) => Self::$Variant(v.apply2_right(other, rule)),)* }
            }
            #[inline]
            fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
                match second { $(Self::$Variant(v) => Self::$Variant(<$Active>::apply2_left(first, v, rule)),)* }
            }
            fn fused(self, factor: Self, addend: Self) -> Self {
                let numbers = [self, factor, addend];
                match Self::leading(numbers) {
                    $(Self::$Variant(_) => {
                        let [x, y, z] = numbers.map(|v| <Self as Holds<$Key>>::take(v));
                        <Self as Holds<$Key>>::put(x.fused(y, z))
                    })*
                }
            }
            fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
                let active = x.iter().map(|v| v.0).find(|v| !matches!(v, Self::Plain(_)));
                match active.unwrap_or_default() {
                    $(Self::$Variant(_) => custom_by::<$Key, _, _>(rule, x, y),)*
                }
            }
        }
    };
}

/// A number with one variant per engine; the first variant is plain. In an operation with an engine's number, a plain number becomes
/// a constant; an operation on numbers of two engines is a fault.
macro_rules! one_of_numbers {
    ($(#[$doc:meta])* $Core:ident: $(
        $Variant:ident($Active:ty) of $Key:ty $(| $Other:ty)*, from $v:ident by $lift:expr, to plain by $plain:expr
        $(, from parameter $p:ident by $raise:expr)?;
    )*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[expect(missing_docs, reason = "each variant is the number of the engines it is named after")]
        #[non_exhaustive]
        pub enum $Core<S: Scalar, L: Lanes> {
            $($Variant($Active),)*
        }
        operations! { $Core: $($Variant($Active) of $Key;)* }
        impl<S: Scalar, L: Lanes> $Core<S, L> {
            /// An operation on two variants.
            #[allow(unreachable_patterns, reason = "the plain variant is in the table as well")]
            fn mixed<R: Binary>(self, other: Self, rule: R) -> Self {
                match (self, other) {
                    $((Self::$Variant(a), Self::Plain($v)) => Self::$Variant(a.apply2($lift, rule)),
                    (Self::Plain($v), Self::$Variant(b)) => Self::$Variant($lift.apply2(b, rule)),)*
                    $($((Self::$Variant(a), Self::Recorded($p)) => Self::$Variant(a.apply2($raise, rule)),
                    (Self::Recorded($p), Self::$Variant(b)) => Self::$Variant($raise.apply2(b, rule)),)?)*
                    (a, _) => foreign(a),
                }
            }
            /// A comparison of two variants.
            #[track_caller]
            #[allow(unreachable_patterns, reason = "the plain variant is in the table as well")]
            fn compare_mixed(self, other: Self) -> Option<Ordering> {
                match (self, other) {
                    $((Self::$Variant(a), Self::Plain($v)) => a.partial_cmp(&$lift),
                    (Self::Plain($v), Self::$Variant(b)) => $lift.partial_cmp(&b),)*
                    $($((Self::$Variant(a), Self::Recorded($p)) => a.partial_cmp(&$raise),
                    (Self::Recorded($p), Self::$Variant(b)) => $raise.partial_cmp(&b),)?)*
                    (a, b) => foreign(a).primal().partial_cmp(&b.primal()),
                }
            }
            /// The number whose engine computes an operation on all of these: it takes plain numbers and parameters of a recording.
            #[inline]
            fn leading<const N: usize>(numbers: [Self; N]) -> Self {
                let rank = |v: &Self| match v { Self::Plain(_) => 0, Self::Recorded(_) => 1, _ => 2 };
                numbers.into_iter().max_by_key(rank).unwrap_or_default()
            }
        }
        $(impl<S: Scalar, L: Lanes> Holds<$Key> for $Core<S, L> {
            type Active = $Active;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn put(active: $Active) -> Self {
                $plain(&active).map_or(Self::$Variant(active), Self::Plain)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            #[allow(unreachable_patterns, reason = "the plain variant is in the table as well")]
            fn take(self) -> $Active {
                match self {
                    Self::$Variant(active) => active,
                    Self::Plain($v) => $lift,
                    $(Self::Recorded($p) => $raise,)?
                    other => <$Active>::constant(foreign(other).primal()),
                }
            }
        }
        $(impl<S: Scalar, L: Lanes> Holds<$Other> for $Core<S, L> {
            type Active = $Active;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn put(active: $Active) -> Self {
                <Self as Holds<$Key>>::put(active)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn take(self) -> $Active {
                <Self as Holds<$Key>>::take(self)
            }
        })*)*
    };
}

/// Reports that numbers of two engines met.
#[cold]
fn foreign<C: Core>(number: C) -> C {
    fault::report(ErrorKind::ForeignNumber);
    // On a thread started by the user no operator returns the fault, so the number's differentiation does.
    if !fault::is_watched() {
        number.spoil(ErrorKind::ForeignNumber);
    }
    number
}

/// Applies a custom rule to numbers of the engine `K`.
fn custom_by<K, C: Holds<K>, R: CustomRule<C::Base>>(rule: &Arc<R>, x: &[Num<C>], y: &mut Vec<Num<C>>)
where
    C::Active: Scalar<Base = C::Base>,
{
    let x: Vec<_> = x.iter().map(|v| v.0.take()).collect();
    let mut outputs = Vec::new();
    C::Active::custom(rule, &x, &mut outputs);
    y.clear();
    y.extend(outputs.into_iter().map(|v| Num(C::put(v))));
}

one_of_numbers! {
    /// The engine's part of an [`AnyNum`]: the number of the chosen engine, or a plain one.
    AnyCore:
    Plain(S) of AnyDifferences, from v by v, to plain by as_is;
    Dual(Dual<S, L>) of RuntimeForward, from v by dual(v), to plain by inert_dual;
    Var(Var<S>) of AutoReverseDiff, from v by var(v), to plain by inert_var;
    Recorded(Recorded<S::Base>) of AutoCompiledReverseDiff, from v by recorded::<S, L>(v), to plain by inert_recorded;
}

one_of_numbers! {
    /// The engine's part of an [`AnyPairNum`]: the number of the chosen pair of engines, outer and inner, or a plain one.
    AnyPairCore:
    Plain(S) of (AnyDifferences, AnyDifferences), from v by v, to plain by as_is;
    FiniteDual(Dual<S, Inner>) of (AnyDifferences, RuntimeForward), from v by dual(v), to plain by inert_dual;
    FiniteVar(Var<S>) of (AnyDifferences, AutoReverseDiff), from v by var(v), to plain by inert_var;
    DualFinite(Dual<S, L>) of (RuntimeForward, AnyDifferences), from v by dual(v), to plain by inert_dual;
    HyperDual(HyperDual<S, L, Second>) of (RuntimeForward, RuntimeForward), from v by Num(HyperDualCore::inert(dual(v))), to plain by inert_hyper_dual;
    VarFinite(Var<S>) of (AutoReverseDiff, AnyDifferences), from v by var(v), to plain by inert_var;
    VarDual(Dual<Var<S>, L>) of (AutoReverseDiff, RuntimeForward), from v by dual(var(v)), to plain by |v| inert_dual(v).and_then(|v| inert_var(&v));
    TwiceVar(TwiceVar<S>) of (AutoReverseDiff, AutoReverseDiff) | (RuntimeForward, AutoReverseDiff),
        from v by Num(TwiceVarCore::inert(v)), to plain by inert_twice_var;
    Recorded(Recorded<S::Base>) of (AutoCompiledReverseDiff, AutoCompiledReverseDiff)
        | (AutoCompiledReverseDiff, AnyDifferences) | (AnyDifferences, AutoCompiledReverseDiff)
        | (RuntimeForward, AutoCompiledReverseDiff) | (AutoReverseDiff, AutoCompiledReverseDiff),
        from v by recorded::<S, L>(v), to plain by inert_recorded;
    RecordedDual(Dual<Recorded<S::Base>, L>) of (AutoCompiledReverseDiff, RuntimeForward), from v by dual(recorded::<S, L>(v)), to plain by |v| inert_dual(v).and_then(|v| inert_recorded(&v)), from parameter p by dual(p);
    RecordedVar(Var<Recorded<S::Base>>) of (AutoCompiledReverseDiff, AutoReverseDiff), from v by var(recorded::<S, L>(v)), to plain by |v| inert_var(v).and_then(|v| inert_recorded(&v)), from parameter p by var(p);
}

impl<S: Scalar, L: Lanes> AnyCore<S, L> {
    /// A parameter, if the innermost differentiation of this thread by `AutoReverseDiff` writes a recording.
    fn parameter_of_tape(index: usize, value: S::Base) -> Option<Self> {
        let var = Var::<S>::parameter(index, value);
        (!var.is_constant()).then_some(Self::Var(var))
    }
}

impl<S: Scalar, L: Lanes> AnyPairCore<S, L> {
    /// The same.
    fn parameter_of_tape(index: usize, value: S::Base) -> Option<Self> {
        let var = TwiceVar::<S>::parameter(index, value);
        (!var.is_constant()).then_some(Self::TwiceVar(var))
    }
}

impl<S: Scalar, L: Lanes> Default for AnyCore<S, L> {
    fn default() -> Self {
        Self::Plain(S::default())
    }
}

impl<S: Scalar, L: Lanes> Default for AnyPairCore<S, L> {
    fn default() -> Self {
        Self::Plain(S::default())
    }
}

/// A constant of forward mode.
#[cfg_attr(not(debug_assertions), inline(always))]
fn dual<S: Scalar, L: Lanes>(value: S) -> Dual<S, L> {
    Num(DualCore::inert(value))
}

/// A constant of reverse mode.
#[cfg_attr(not(debug_assertions), inline(always))]
fn var<S: Scalar>(value: S) -> Var<S> {
    Num(VarCore::inert(value))
}

/// A constant of a recording, which has plain constants only. A number of a recording one level down is passed on unchanged, and the
/// recording checks whether the number is its own, as a parameter is.
#[inline]
fn recorded<S: Scalar, L: Lanes>(value: S) -> Recorded<S::Base> {
    let below: &dyn Any = &value;
    if let Some(number) = below.downcast_ref() {
        return *number;
    }
    match below.downcast_ref::<AnyNum<S::Base, L>>() {
        Some(Num(AnyCore::Recorded(number))) => *number,
        _ => constant_of(value),
    }
}

/// A plain number.
#[cfg_attr(not(debug_assertions), inline(always))]
fn as_is<S: Scalar>(number: &S) -> Option<S> {
    Some(*number)
}

/// The value of a number of forward mode without derivative. In each pass most inputs have none, and plain numbers are faster.
#[cfg_attr(not(debug_assertions), inline(always))]
fn inert_dual<S: Scalar, L: Lanes>(number: &Dual<S, L>) -> Option<S> {
    number.0.is_inert().then(|| number.0.value())
}

/// The same for a hyper-dual number.
#[cfg_attr(not(debug_assertions), inline(always))]
fn inert_hyper_dual<S: Scalar, O: Lanes, L: Lanes>(number: &HyperDual<S, O, L>) -> Option<S> {
    number.0.is_inert().then(|| number.0.value().0.value())
}

/// The value of a number of reverse mode without derivative.
#[cfg_attr(not(debug_assertions), inline(always))]
fn inert_var<S: Scalar>(number: &Var<S>) -> Option<S> {
    number.0.is_inert().then(|| number.0.value())
}

/// The same for a number of second-order reverse mode.
#[cfg_attr(not(debug_assertions), inline(always))]
fn inert_twice_var<S: Scalar>(number: &TwiceVar<S>) -> Option<S> {
    number.0.is_inert().then(|| number.0.value())
}

/// The value of a constant of a recording.
#[cfg_attr(not(debug_assertions), inline(always))]
fn inert_recorded<S: Scalar>(number: &Recorded<S::Base>) -> Option<S> {
    number.is_constant().then(|| S::constant(number.peek()))
}

impl<S: Scalar, L: Lanes> AnyCore<S, L> {
    /// A constant.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn inert(value: S) -> Self {
        Self::Plain(value)
    }

    /// The value, one level of nesting down.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn value(&self) -> S {
        match self {
            Self::Plain(v) => *v,
            Self::Dual(v) => v.0.value(),
            Self::Var(v) => v.0.value(),
            Self::Recorded(v) => S::constant(v.peek()),
        }
    }
}
