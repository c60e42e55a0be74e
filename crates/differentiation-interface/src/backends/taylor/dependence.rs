//! Whether the derivative of a rule is computed from the value of the rule.
//!
//! Called by `series`: if it is not, as for `sin`, whose derivative is `cos(x)`, the series of the derivative is computed once; if it is, as
//! for `exp`, it must be computed order by order.

use differentiation_interface_core::rules::{Binary, Partial, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num};

/// A plain number that knows what it is computed from.
#[derive(Clone, Copy, Debug)]
struct Traced<B> {
    value: B,
    from: From,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum From {
    Constants,
    Point,
    Value,
}

impl<B: Base> Core for Traced<B> {
    type Base = B;
    const DEPTH: u32 = 1;

    fn constant(value: B) -> Self {
        Traced { value, from: From::Constants }
    }
    fn primal(&self) -> B {
        self.value
    }
    fn is_constant(&self) -> bool {
        self.from == From::Constants
    }
    fn unary<R: Unary>(self, rule: R) -> Self {
        Traced { value: rule.value(self.value), from: self.from }
    }
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        Traced { value: rule.value(self.value, other.value), from: self.from.max(other.from) }
    }
    fn binary_right<R: Binary>(self, other: B, rule: R) -> Self {
        Traced { value: rule.value(self.value, other), from: self.from }
    }
    fn binary_left<R: Binary>(first: B, second: Self, rule: R) -> Self {
        Traced { value: rule.value(first, second.value), from: second.from }
    }
}

fn is_from_value<B: Base>(partial: Partial<Num<Traced<B>>>) -> bool {
    match partial {
        Partial::Value(d) => d.0.from == From::Value,
        Partial::Product(first, second) => first.0.from.max(second.0.from) == From::Value,
        _ => false,
    }
}

fn point<B: Base>(value: B, is_active: bool) -> Num<Traced<B>> {
    Num(Traced { value, from: if is_active { From::Point } else { From::Constants } })
}

/// Whether the derivative of `rule` at `x` is computed from the value `y`.
pub(super) fn unary_uses_value<B: Base, R: Unary>(rule: R, x: B, y: B) -> bool {
    is_from_value(rule.derivative(point(x, true), Num(Traced { value: y, from: From::Value })))
}

/// The same for a rule of two arguments, each with whether it is active.
pub(super) fn binary_uses_value<B: Base, R: Binary>(rule: R, x: (B, bool), y: (B, bool), r: B) -> bool {
    let (px, py) = (point(x.0, x.1), point(y.0, y.1));
    let r = Num(Traced { value: r, from: From::Value });
    x.1 && is_from_value(rule.partial_x(px, py, r)) || y.1 && is_from_value(rule.partial_y(px, py, r))
}
