//! Custom rules in recordings: functions on arrays with their own derivatives, behind a pointer.
//!
//! Made by the recorder; run by executors as [`Statement::Call`](crate::program::Statement::Call). Derivatives of derivatives
//! are taken on a dual number over the plain ones.

use crate::recording::number::RecordedCore;
use differentiation_interface_core::custom::{
    CustomRule, Halves, PushforwardRule, ValueRule, pullback_by_rule, pushforward_by_rule,
};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::rules::{Binary, Partial, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Scalar};
use rustc_hash::FxHasher;
use std::any::{Any, TypeId};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Which function of a custom rule is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleFunction {
    /// y from x.
    Value,
    /// ẏ = J ẋ from (x, y, ẋ).
    Pushforward,
    /// x̄ = Jᵀ ȳ from (x, y, ȳ).
    Pullback,
    /// The derivative of [`RuleFunction::Pushforward`] from (x, y, ẋ) and their tangents.
    PushforwardTangent,
    /// The derivative of [`RuleFunction::Pullback`] from (x, y, ȳ) and their tangents.
    PullbackTangent,
}

/// A custom rule as an object. Arguments lie one after the other in one slice.
pub trait CallObject: Send + Sync {
    /// Name of the rule.
    fn name(&self) -> &'static str;
    /// Calls one function of the rule on plain numbers of type `f64` or `f32`, of which `data` and `out` are slices. The first `inputs`
    /// numbers of `data` are x, the next `outputs` are y, except for the value, which gets x only.
    fn call(&self, function: RuleFunction, inputs: usize, outputs: usize, data: &dyn Any, out: &mut dyn Any);
    /// The same number for two objects of one rule, as long as one of them lives, and of equal rules that [say so](CustomRule::identity).
    fn identity(&self) -> u64;
    /// Whether another object may have the same identity when this one is gone.
    fn is_known_while_alive(&self) -> bool;
}

impl fmt::Debug for dyn CallObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

struct Object<R, B> {
    rule: Arc<R>,
    identity: u64,
    is_known_while_alive: bool,
    base: std::marker::PhantomData<fn() -> B>,
}

/// A custom rule as the recorder calls it, which is compiled once for all rules.
pub(crate) trait RuleOfRecording<B: Base>: ValueRule<B> {
    /// Records the operations that the rule is made of, if it says so; see [`CustomRule::operations`].
    fn operations(&self, x: &[Num<RecordedCore<B>>], y: &mut Vec<Num<RecordedCore<B>>>) -> bool;
    /// Makes an object of the rule.
    fn object(&self) -> Arc<dyn CallObject>;
}

impl<B: Base, R: CustomRule<B>> RuleOfRecording<B> for Arc<R> {
    fn operations(&self, x: &[Num<RecordedCore<B>>], y: &mut Vec<Num<RecordedCore<B>>>) -> bool {
        CustomRule::operations(&**self, x, y)
    }
    fn object(&self) -> Arc<dyn CallObject> {
        // Once, as it may be a hash of a matrix.
        let own = self.identity();
        let mut hasher = FxHasher::default();
        (TypeId::of::<R>(), own.unwrap_or(Arc::as_ptr(self).addr() as u64)).hash(&mut hasher);
        let (identity, is_known_while_alive) = (hasher.finish(), own.is_none());
        let base = std::marker::PhantomData;
        Arc::new(Object::<R, B> { rule: Arc::clone(self), identity, is_known_while_alive, base })
    }
}

impl<B: Base, R: CustomRule<B>> CallObject for Object<R, B> {
    fn name(&self) -> &'static str {
        R::NAME
    }
    fn identity(&self) -> u64 {
        self.identity
    }
    fn is_known_while_alive(&self) -> bool {
        self.is_known_while_alive
    }
    fn call(&self, function: RuleFunction, inputs: usize, outputs: usize, data: &dyn Any, out: &mut dyn Any) {
        let (Some(data), Some(out)) = (data.downcast_ref::<Vec<B>>(), out.downcast_mut::<Vec<B>>()) else { return };
        let rule = &*self.rule;
        let (x, rest) = data.split_at(inputs);
        if function == RuleFunction::Value {
            return rule.value(x, out);
        }
        let (y, seed) = rest.split_at(outputs);
        // Zero tangents have a zero result, whatever the derivatives are at the point; zero cotangents have one at a regular point.
        let is_pushforward = matches!(function, RuleFunction::Pushforward | RuleFunction::PushforwardTangent);
        match function {
            RuleFunction::Value => {}
            RuleFunction::Pushforward | RuleFunction::Pullback
                if seed.iter().all(|seed| *seed == B::ZERO) && (is_pushforward || rule.is_regular(x, y)) =>
            {
                out.clear();
                out.resize(if is_pushforward { outputs } else { inputs }, B::ZERO);
            }
            RuleFunction::Pushforward => {
                out.resize(outputs, B::ZERO);
                pushforward_by_rule(rule, x, y, seed, out);
            }
            RuleFunction::Pullback => {
                out.resize(inputs, B::ZERO);
                pullback_by_rule(rule, x, y, seed, out);
            }
            RuleFunction::PushforwardTangent | RuleFunction::PullbackTangent => {
                let half_length = data.len() / 2;
                let duals: Vec<Num<Dual<B>>> =
                    (0..half_length).map(|i| Num(Dual::along(data[i], data[half_length + i]))).collect();
                let (x, rest) = duals.split_at(inputs);
                let (y, seed) = rest.split_at(outputs);
                let length = if is_pushforward { outputs } else { inputs };
                let mut result = vec![Num(Dual::constant(B::ZERO)); length];
                let is_nothing = seed.iter().all(Scalar::is_inert_zero);
                match function {
                    _ if is_nothing && (is_pushforward || rule.is_regular(x, y)) => {}
                    RuleFunction::PushforwardTangent => pushforward_by_rule(rule, x, y, seed, &mut result),
                    _ => pullback_by_rule(rule, x, y, seed, &mut result),
                }
                out.clear();
                out.extend(result.iter().map(|r| r.0.slope()));
            }
        }
    }
}

/// A call of a custom rule as a custom rule itself, so that it accepts scalars that carry derivatives.
struct Erased {
    rule: Arc<dyn CallObject>,
    function: RuleFunction,
    inputs: usize,
    outputs: usize,
}

impl<B: Base> CustomRule<B> for Erased {
    const NAME: &'static str = "recorded call";
    const GIVEN: Halves = Halves::Pushforward;

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.clear();
        self.rule.call(self.function, self.inputs, self.outputs, &x.to_vec(), y);
    }

    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let (function, data) = match self.function {
            RuleFunction::Value => (RuleFunction::Pushforward, [x, y, dx].concat()),
            RuleFunction::Pushforward => (RuleFunction::PushforwardTangent, [x, dx].concat()),
            RuleFunction::Pullback => (RuleFunction::PullbackTangent, [x, dx].concat()),
            RuleFunction::PushforwardTangent | RuleFunction::PullbackTangent => (self.function, Vec::new()),
        };
        if data.is_empty() || !is_plain::<S>() {
            fault::report(ErrorKind::RuleOrder { rule: self.rule.name() });
            return dy.fill(S::default());
        }
        let mut out = Vec::<S>::new();
        self.rule.call(function, self.inputs, self.outputs, &data, &mut out);
        dy.copy_from_slice(&out);
    }
}

/// Calls one function of a rule on numbers that carry derivatives, leaving its results in `out`; see [`CallObject::call`].
pub(crate) fn call_as_rule<S: Scalar>(
    rule: &Arc<dyn CallObject>,
    function: RuleFunction,
    [inputs, outputs]: [usize; 2],
    data: &[S],
    out: &mut Vec<S>,
) {
    S::custom(&Arc::new(Erased { rule: Arc::clone(rule), function, inputs, outputs }), data, out);
}

/// Whether a scalar is a plain number.
#[inline(always)]
pub(crate) fn is_plain<S: Scalar>() -> bool {
    S::DEPTH == 0
}

/// A value and one tangent, for the derivative of a rule's derivative. A tangent that is absent does not meet derivatives that are infinite.
#[derive(Clone, Copy, Debug)]
struct Dual<B> {
    value: B,
    tangent: Option<B>,
}

impl<B: Base> Dual<B> {
    /// A number with a tangent that comes from outside: zero counts as absent.
    fn along(value: B, tangent: B) -> Self {
        Dual { value, tangent: (tangent != B::ZERO).then_some(tangent) }
    }
    /// The tangent, zero if it is absent.
    fn slope(&self) -> B {
        self.tangent.unwrap_or(B::ZERO)
    }
    /// The tangent times a partial derivative.
    fn times(&self, partial: impl FnOnce() -> Partial<B>) -> Option<B> {
        let tangent = self.tangent?;
        match partial() {
            Partial::Zero => None,
            partial => Some(partial.times(tangent)),
        }
    }
}

impl<B: Base> Core for Dual<B> {
    type Base = B;
    const DEPTH: u32 = 1;
    fn constant(value: B) -> Self {
        Dual { value, tangent: None }
    }
    fn primal(&self) -> B {
        self.value
    }
    fn is_constant(&self) -> bool {
        self.tangent.is_none()
    }
    fn unary<R: Unary>(self, rule: R) -> Self {
        let value = rule.value(self.value);
        Dual { value, tangent: self.times(|| rule.derivative(self.value, value)) }
    }
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let (x, y) = (self.value, other.value);
        let value = rule.value(x, y);
        let by_x = self.times(|| rule.partial_x(x, y, value));
        let by_y = other.times(|| rule.partial_y(x, y, value));
        let both = by_x.zip(by_y).map(|(by_x, by_y)| by_x + by_y);
        Dual { value, tangent: both.or(by_x).or(by_y) }
    }
    fn binary_right<R: Binary>(self, other: B, rule: R) -> Self {
        let value = rule.value(self.value, other);
        Dual { value, tangent: self.times(|| rule.partial_x(self.value, other, value)) }
    }
    fn binary_left<R: Binary>(first: B, second: Self, rule: R) -> Self {
        let value = rule.value(first, second.value);
        Dual { value, tangent: second.times(|| rule.partial_y(first, second.value, value)) }
    }
    fn fused(self, factor: Self, addend: Self) -> Self {
        let value = self.value.mul_add(factor.value, addend.value);
        Dual { value, ..self.binary(factor, Times).binary(addend, Plus) }
    }
    fn custom<R: CustomRule<B>>(rule: &Arc<R>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        Self::by_rule(rule, x, y);
    }
}

impl<B: Base> Dual<B> {
    /// Applies a custom rule.
    fn by_rule(rule: &dyn PushforwardRule<B>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        let (plain, tangents): (Vec<B>, Vec<B>) = x.iter().map(|x| (x.0.value, x.0.slope())).unzip();
        let mut value = Vec::new();
        rule.value(&plain, &mut value);
        let mut dy = vec![B::ZERO; value.len()];
        rule.pushforward(&plain, &value, &tangents, &mut dy);
        y.clear();
        y.extend(value.into_iter().zip(dy).map(|(value, tangent)| Num(Dual::along(value, tangent))));
    }
}
