//! A number that records which arguments of a rule it depends on, and whether it is exactly zero.
//!
//! [`class`](crate::class) evaluates derivatives of rules on it. Its own operations evaluate the rules one level down, on
//! plain numbers, so there is no recursion.

use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::rules::{Binary, Partial, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num};
use std::sync::Arc;

pub(crate) type Probe<B> = Num<ProbeCore<B>>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeCore<B> {
    value: B,
    /// One bit for each argument.
    arguments: u8,
    /// Zero in exact arithmetic at this point, not only after rounding.
    exact_zero: bool,
}

impl<B: Base> ProbeCore<B> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn depends_on(&self, argument: u8) -> bool {
        self.arguments & argument != 0
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_exact_zero(&self) -> bool {
        self.exact_zero
    }
}

/// Makers of probes, a trait since `Num` is foreign.
pub(crate) trait MakeProbe<B> {
    /// An argument of a rule; `bit` is 0 for a constant one.
    fn argument(value: B, bit: u8) -> Self;
    /// The value of a rule.
    fn result(value: B, arguments: u8, exact_zero: bool) -> Self;
}

impl<B: Base> MakeProbe<B> for Probe<B> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn argument(value: B, bit: u8) -> Self {
        Num(ProbeCore { value, arguments: bit, exact_zero: value == B::ZERO })
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn result(value: B, arguments: u8, exact_zero: bool) -> Self {
        Num(ProbeCore { value, arguments, exact_zero })
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn is_zero<B: Base>(partial: Partial<B>) -> bool {
    matches!(partial, Partial::Zero)
}

/// Whether a rule with one argument exactly zero is zero for every other argument: products are, quotients are.
#[cfg_attr(not(debug_assertions), inline(always))]
fn absorbs<B: Base>(value: impl Fn(B) -> B, other: B) -> bool {
    let away = other.abs() + B::from_f64(1.25);
    value(away) == B::ZERO && value(-away) == B::ZERO
}

/// Whether a function that is zero at the origin is also nearly zero beside it, and not by convention only.
#[cfg_attr(not(debug_assertions), inline(always))]
fn is_small<B: Base>(value: B) -> bool {
    value.abs() <= B::epsilon().sqrt()
}

impl<B: Base> Core for ProbeCore<B> {
    type Base = B;
    const DEPTH: u32 = 1;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constant(value: B) -> Self {
        ProbeCore { value, arguments: 0, exact_zero: value == B::ZERO }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn primal(&self) -> B {
        self.value
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_constant(&self) -> bool {
        self.arguments == 0
    }
    // Out of line, so that a derivative of ten operations is ten calls: the code of an operation is long, and rules are probed once.
    #[inline(never)]
    fn unary<R: Unary>(self, rule: R) -> Self {
        let value = rule.value(self.value);
        let flat = is_zero(rule.derivative(self.value, value));
        ProbeCore {
            value,
            arguments: if flat { 0 } else { self.arguments },
            // The value of an exact zero may be NaN: SparseConnectivityTracer.jl drops y of x / y wherever x is 0, at y = 0 too.
            exact_zero: if self.exact_zero { rule.value(B::ZERO) == B::ZERO } else { flat && value == B::ZERO },
        }
    }
    #[inline(never)]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let (x, y) = (self.value, other.value);
        let value = rule.value(x, y);
        let mut arguments = 0;
        if self.arguments != 0 && !is_zero(rule.partial_x(x, y, value)) {
            arguments |= self.arguments;
        }
        if other.arguments != 0 && !is_zero(rule.partial_y(x, y, value)) {
            arguments |= other.arguments;
        }
        let exact_zero = match (self.exact_zero, other.exact_zero) {
            (false, false) => false,
            (true, true) if value == B::ZERO => is_small(rule.value(B::epsilon(), B::epsilon())),
            (x_zero, y_zero) => {
                x_zero && absorbs(|y| rule.value(B::ZERO, y), y) || y_zero && absorbs(|x| rule.value(x, B::ZERO), x)
            }
        };
        ProbeCore { value, arguments, exact_zero }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_right<R: Binary>(self, other: B, rule: R) -> Self {
        self.binary(Self::constant(other), rule)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_left<R: Binary>(first: B, second: Self, rule: R) -> Self {
        Self::constant(first).binary(second, rule)
    }
    fn custom<R: CustomRule<B>>(rule: &Arc<R>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        let arguments = x.iter().fold(0, |all, v| all | v.0.arguments);
        let plain: Vec<B> = x.iter().map(|v| v.0.value).collect();
        let mut values = Vec::new();
        rule.value(&plain, &mut values);
        y.clear();
        y.extend(values.into_iter().map(|value| Num(ProbeCore { value, arguments, exact_zero: false })));
    }
}
