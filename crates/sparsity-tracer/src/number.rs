//! The tracer: a number that records what it depends on instead of a derivative.
//!
//! Made by [`detector`](crate::detector) for the user's function. Reads from [`class`](crate::class) what a rule
//! depends on, and keeps the dependence as handles into the [`arena`](crate::arena).

use crate::arena::{self, CONSTANT, FOREIGN};
use crate::class::{self, Class};
use crate::handles::Handles;
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::identity;
use differentiation_interface_core::recordings::Internals;
use differentiation_interface_core::rules::{Binary, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Relation};
use std::cmp::Ordering;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::panic::Location;
use std::sync::Arc;

/// A number that records what it depends on: over the plain number `B`, for all points or one ([`Global`], [`Local`]), to
/// first or second order ([`Gradient`](crate::Gradient), [`Hessian`](crate::Hessian)).
///
/// User code sees it as the `T` of generic functions.
pub type Tracer<B, K, H> = Num<TracerCore<B, K, H>>;

/// The points for which a pattern holds.
pub trait Scope: Copy + Debug + Send + Sync + 'static {
    /// Whether the values at one point are known.
    const AT_POINT: bool;
}

/// All points: no values, so a branch on one is refused.
#[derive(Clone, Copy, Debug)]
pub enum Global {}

/// The given point: branches follow its values.
#[derive(Clone, Copy, Debug)]
pub enum Local {}

impl Scope for Global {
    const AT_POINT: bool = false;
}
impl Scope for Local {
    const AT_POINT: bool = true;
}

/// The engine's part of a [`Tracer`].
#[derive(Clone, Copy, Debug)]
pub struct TracerCore<B, K, H> {
    /// The value; NaN where it is not known.
    value: B,
    /// The detection it belongs to; `CONSTANT` for a number that depends on nothing and has a value.
    generation: u32,
    handles: H,
    scope: PhantomData<K>,
}

impl<B: Base, K: Scope, H: Handles> TracerCore<B, K, H> {
    /// A number that depends on nothing and may have any value: a parameter where values are not known.
    pub(crate) fn parameter(value: B) -> Self {
        let generation = if K::AT_POINT { CONSTANT } else { arena::current() };
        if generation == CONSTANT {
            return Self::plain(value);
        }
        TracerCore { value: Self::known(value), generation, handles: H::default(), scope: PhantomData }
    }

    /// Input `i` of a detection.
    pub(crate) fn input(value: B, generation: u32, i: usize) -> Self {
        TracerCore { value: Self::known(value), generation, handles: H::input(i), scope: PhantomData }
    }

    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }
    pub(crate) fn handles(&self) -> H {
        self.handles
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn plain(value: B) -> Self {
        TracerCore { value, generation: CONSTANT, handles: H::default(), scope: PhantomData }
    }

    /// The value, where values are known.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn known(value: B) -> B {
        if K::AT_POINT { value } else { B::nan() }
    }

    /// The result of an operation; `None` as handles means that the operand belongs to another detection.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn active(value: B, generation: u32, handles: Option<H>) -> Self {
        let Some(handles) = handles else {
            arena::stray(generation);
            return Self::foreign(value);
        };
        if K::AT_POINT && handles == H::default() {
            return Self::plain(value);
        }
        TracerCore { value: Self::known(value), generation, handles, scope: PhantomData }
    }

    /// The result for a number whose detection does not run here: it is an error in every output.
    #[cold]
    fn foreign(value: B) -> Self {
        TracerCore { value: Self::known(value), generation: FOREIGN, handles: H::default(), scope: PhantomData }
    }

    /// A function of numbers of two detections, at least one of which does not run on this thread or is suspended.
    #[cold]
    fn mixed(self, other: Self, value: B) -> Self {
        arena::stray(self.generation);
        arena::stray(other.generation);
        Self::foreign(value)
    }

    /// A function of this number alone.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn alone(self, value: B, class: Class) -> Self {
        Self::active(value, self.generation, self.handles.unary(self.generation, class))
    }

    /// A function of two numbers that are not constant.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn together(self, other: Self, value: B, class: Class) -> Self {
        if self.generation != other.generation {
            return self.mixed(other, value);
        }
        Self::active(value, self.generation, self.handles.binary(other.handles, self.generation, class))
    }

    /// A function of this number alone, whose value is not known.
    #[inline]
    fn alone_anywhere(self, class: Class) -> Self {
        self.alone(B::nan(), class)
    }

    /// A function of two numbers that are not both constant, whose value is not known. Out of line: all rules share it.
    #[inline(never)]
    fn together_anywhere(self, other: Self, class: Class) -> Self {
        if other.generation == CONSTANT {
            self.alone(B::nan(), class)
        } else if self.generation == CONSTANT {
            other.alone(B::nan(), class.of_y())
        } else {
            self.together(other, B::nan(), class)
        }
    }

    /// Whether the value is hidden from user code.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_unknown(&self) -> bool {
        !K::AT_POINT && self.generation != CONSTANT
    }

    /// Reports that the value of a number without value was read.
    #[cold]
    #[track_caller]
    fn refuse(&self) {
        arena::refused(self.generation, Location::caller());
    }

    /// The joint dependence of several numbers, made dense; `None` if there is none.
    fn dense(inputs: &[Num<Self>]) -> Option<(u32, Option<H>)> {
        let generation = inputs.iter().map(|v| v.0.generation).find(|g| *g != CONSTANT)?;
        if inputs.iter().any(|v| v.0.generation != CONSTANT && v.0.generation != generation) {
            inputs.iter().for_each(|v| arena::stray(v.0.generation));
            return Some((generation, None));
        }
        let handles = arena::with(generation, |arena| {
            let joined = inputs.iter().fold(H::default(), |all, v| all.joined(v.0.handles, arena));
            joined.dense(arena)
        });
        Some((generation, handles))
    }
}

/// A number that depends on all `inputs` with every first and second derivative, and has the value `value` where values are
/// known: the result of something that is not traced, such as a determinant from a foreign library.
///
/// ```
/// use differentiation_interface_core::Function;
/// use sparsity_tracer::{Gradient, Global, Pattern, Tracer, TracerSparsityDetector, dense_dependence, jacobian_sparsity};
///
/// let f = |x: &[Tracer<f64, Global, Gradient>]| vec![dense_dependence(&x[1..], 0.0), x[0]];
/// let pattern = jacobian_sparsity(&f, &TracerSparsityDetector, &[1.0, 2.0, 3.0])?;
/// assert_eq!((pattern.row(0), pattern.row(1)), (&[1, 2][..], &[0][..]));
/// # Ok::<(), sparsity_tracer::Error>(())
/// ```
pub fn dense_dependence<B: Base, K: Scope, H: Handles>(inputs: &[Tracer<B, K, H>], value: B) -> Tracer<B, K, H> {
    Num(match TracerCore::dense(inputs) {
        None => TracerCore::plain(value),
        Some((generation, handles)) => TracerCore::active(value, generation, handles),
    })
}

impl<B: Base, K: Scope, H: Handles> Core for TracerCore<B, K, H> {
    type Base = B;
    const DEPTH: u32 = 1;
    const INTERNALS: &'static Internals<Num<Self>, B> =
        &Internals { parameter: |_, value| Num(Self::parameter(value)), ..Internals::DEFAULT };

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constant(value: B) -> Self {
        Self::plain(value)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn primal(&self) -> B {
        self.value
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_constant(&self) -> bool {
        self.generation == CONSTANT
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unary<R: Unary>(self, rule: R) -> Self {
        if self.generation == CONSTANT {
            return Self::plain(rule.value(self.value));
        }
        if const { K::AT_POINT } {
            let value = rule.value(self.value);
            self.alone(value, class::unary_local(rule, self.value, value))
        } else {
            self.alone_anywhere(class::unary_global(rule))
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        if const { !K::AT_POINT } {
            if self.generation == CONSTANT && other.generation == CONSTANT {
                return Self::plain(rule.value(self.value, other.value));
            }
            return self.together_anywhere(other, class::binary_global(rule));
        }
        if other.generation == CONSTANT {
            return self.binary_right(other.value, rule);
        }
        if self.generation == CONSTANT {
            return Self::binary_left(self.value, other, rule);
        }
        let (x, y) = (self.value, other.value);
        let value = rule.value(x, y);
        self.together(other, value, class::binary_local(rule, x, y, value))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_right<R: Binary>(self, other: B, rule: R) -> Self {
        if self.generation == CONSTANT {
            return Self::plain(rule.value(self.value, other));
        }
        if const { K::AT_POINT } {
            let value = rule.value(self.value, other);
            self.alone(value, class::right_local(rule, self.value, other, value))
        } else {
            self.alone_anywhere(class::binary_global(rule))
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_left<R: Binary>(first: B, second: Self, rule: R) -> Self {
        if second.generation == CONSTANT {
            return Self::plain(rule.value(first, second.value));
        }
        if const { K::AT_POINT } {
            let value = rule.value(first, second.value);
            second.alone(value, class::left_local(rule, first, second.value, value))
        } else {
            second.alone_anywhere(class::binary_global(rule).of_y())
        }
    }

    /// Only the value differs from that of product and sum.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fused(self, factor: Self, addend: Self) -> Self {
        let value = self.value.mul_add(factor.value, addend.value);
        let sum = self.binary(factor, Times).binary(addend, Plus);
        TracerCore { value: if sum.is_unknown() { sum.value } else { value }, ..sum }
    }

    /// Every output depends on every input, to second order. Without values, the rule is evaluated at 0.5 for the number of
    /// its outputs.
    fn custom<R: CustomRule<B>>(rule: &Arc<R>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        let plain: Vec<B> = x.iter().map(|v| if v.0.is_unknown() { B::from_f64(0.5) } else { v.0.value }).collect();
        let mut values = Vec::new();
        rule.value(&plain, &mut values);
        y.clear();
        match Self::dense(x) {
            None => y.extend(values.into_iter().map(|v| Num(Self::plain(v)))),
            Some((generation, handles)) => {
                y.extend(values.into_iter().map(|v| Num(Self::active(v, generation, handles))));
            }
        }
    }

    fn spoil(&self, kind: ErrorKind) {
        if let Some(id) = NonZeroU32::new(self.generation) {
            identity::spoil(id, kind);
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn observe(&self) -> B {
        if self.is_unknown() {
            self.refuse();
        }
        self.value
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn compare(&self, other: &Self) -> Option<Ordering> {
        if self.is_unknown() || other.is_unknown() {
            if self.is_unknown() {
                self.refuse();
            }
            if other.is_unknown() && other.generation != self.generation {
                other.refuse();
            }
            return None;
        }
        self.value.partial_cmp(&other.value)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn compare_plain(&self, other: B) -> Option<Ordering> {
        if self.is_unknown() {
            self.refuse();
            return None;
        }
        self.value.partial_cmp(&other)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn compare_magnitude(&self, other: B) -> Option<Ordering> {
        if self.is_unknown() {
            self.refuse();
            return None;
        }
        self.value.abs().partial_cmp(&other)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn select(left: Self, relation: Relation, right: Self, then: Self, otherwise: Self) -> Self {
        if !left.is_unknown() && !right.is_unknown() {
            return if relation.holds(left.value.partial_cmp(&right.value)) { then } else { otherwise };
        }
        // It is not known which of the two: the result is a number without value, even if both are constant.
        let decider = if left.is_unknown() { left } else { right };
        let nothing = TracerCore { generation: decider.generation, handles: H::default(), ..decider };
        let lift = |v: Self| if v.generation == CONSTANT { nothing } else { v };
        lift(then).together(lift(otherwise), B::nan(), Class::EITHER)
    }
}
