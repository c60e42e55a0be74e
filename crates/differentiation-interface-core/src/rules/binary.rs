//! Rules of two arguments.

use super::{Binary, Partial, RuleVisitor, ln, plain, recip, trunc};
use crate::scalar::{Base, Scalar};
use Partial::{One, Value, Zero};
use num_traits::Float;

/// Makes one rule type from each line `Type name: (x, y) => value; (x, y, r) => ∂x; ∂y`.
macro_rules! binary_rules {
    ($($Rule:ident $name:ident: ($v:ident, $w:ident) => $value:expr; ($x:ident, $y:ident, $r:ident) => $dx:expr; $dy:expr,)*) => {
        $(
            #[doc = concat!("The rule of `", stringify!($name), "`.")]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $Rule;

            impl Binary for $Rule {
                const NAME: &'static str = stringify!($name);
                #[inline(always)]
                fn value<B: Base>(self, $v: B, $w: B) -> B {
                    rule_part!(self, Binary, Value, $value)
                }
                #[inline(always)]
                #[allow(unused_variables, reason = "a derivative may need the point, the value, both or none")]
                fn partial_x<S: Scalar>(self, $x: S, $y: S, $r: S) -> Partial<S> {
                    rule_part!(self, Binary, First, $dx)
                }
                #[inline(always)]
                #[allow(unused_variables, reason = "a derivative may need the point, the value, both or none")]
                fn partial_y<S: Scalar>(self, $x: S, $y: S, $r: S) -> Partial<S> {
                    rule_part!(self, Binary, Second, $dy)
                }
            }
        )*

        /// Shows every rule of two arguments to `visitor`.
        pub fn each_binary(visitor: &mut impl RuleVisitor) {
            $(visitor.binary($Rule);)*
        }
    };
}

binary_rules! {
    Plus     add:      (x, y) => x + y;          (x, y, r) => One; One,
    Minus    sub:      (x, y) => x - y;          (x, y, r) => One; plain(-1.0),
    Times    mul:      (x, y) => x * y;          (x, y, r) => Value(y); Value(x),
    Over     div:      (x, y) => x / y;          (x, y, r) => Value(recip(y)); Value(-(r / y)),
    Modulo   rem:      (x, y) => x % y;          (x, y, r) => One; Value(-trunc(x / y)),
    Powf     powf:     (x, y) => x.powf(y);      (x, y, r) => power_base(x, y); power_exponent(x, y, r),
    Atan2    atan2:    (y, x) => y.atan2(x);     (y, x, r) => angle(x, x, y); negated(angle(y, x, y)),
    Hypot    hypot:    (x, y) => x.hypot(y);     (x, y, r) => direction(x, r); direction(y, r),
    Max      max:      (x, y) => x.max(y);       (x, y, r) => taken(first_max(x, y)); taken(!first_max(x, y)),
    Min      min:      (x, y) => x.min(y);       (x, y, r) => taken(first_min(x, y)); taken(!first_min(x, y)),
    AtLeast  at_least: (x, y) => if x < y { y } else { x }; (x, y, r) => taken(!below(x, y)); taken(below(x, y)),
    AtMost   at_most:  (x, y) => if y < x { y } else { x }; (x, y, r) => taken(!below(y, x)); taken(below(y, x)),
    Copysign copysign: (x, y) => x.copysign(y);  (x, y, r) => sign_kept(x, y); Zero,
    AbsSub   abs_sub:  (x, y) => positive_part(x - y); (x, y, r) => taken(x.primal() > y.primal()); negated(taken(x.primal() > y.primal())),
}

#[inline(always)]
fn positive_part<B: Base>(x: B) -> B {
    if x <= B::ZERO { B::ZERO } else { x }
}

/// ∂/∂x of x^y: y x^(y-1), and 0 where the exponent is 0 and the formula is 0 · ∞.
#[inline(always)]
fn power_base<S: Scalar>(x: S, y: S) -> Partial<S> {
    if y.primal() == S::Base::ZERO && (y.is_constant() || x.primal() == S::Base::ZERO) {
        return Zero;
    }
    Value(y * x.apply2(y - S::constant(S::Base::ONE), Powf))
}

/// ∂/∂y of x^y: x^y ln x, and its limit 0 at x = 0 for a positive exponent.
#[inline(always)]
fn power_exponent<S: Scalar>(x: S, y: S, r: S) -> Partial<S> {
    if x.primal() == S::Base::ZERO && y.primal() > S::Base::ZERO { Zero } else { Value(r * ln(x)) }
}

/// part / (x² + y²) without overflow, 0 at the origin.
#[inline(always)]
fn angle<S: Scalar>(part: S, x: S, y: S) -> Partial<S> {
    let radius = x.apply2(y, Hypot);
    if radius.primal() == S::Base::ZERO { Zero } else { Value(part / radius / radius) }
}

/// part / r, 0 at the origin, its limit at infinity.
#[inline(always)]
fn direction<S: Scalar>(part: S, r: S) -> Partial<S> {
    if r.primal() == S::Base::ZERO {
        Zero
    } else if r.primal().is_infinite() {
        if part.primal().is_infinite() { Partial::Constant(part.primal().signum()) } else { Zero }
    } else {
        Value(part / r)
    }
}

#[inline(always)]
fn negated<S: Scalar>(partial: Partial<S>) -> Partial<S> {
    match partial {
        Zero => Zero,
        One => plain(-1.0),
        Partial::Constant(c) => Partial::Constant(-c),
        Value(v) => Value(-v),
    }
}

#[inline(always)]
fn taken<S: Scalar>(is_taken: bool) -> Partial<S> {
    if is_taken { One } else { Zero }
}

#[inline(always)]
fn first_max<S: Scalar>(x: S, y: S) -> bool {
    let (x, y) = (x.primal(), y.primal());
    x >= y || y.is_nan()
}

#[inline(always)]
fn first_min<S: Scalar>(x: S, y: S) -> bool {
    let (x, y) = (x.primal(), y.primal());
    x <= y || y.is_nan()
}

#[inline(always)]
fn below<S: Scalar>(x: S, y: S) -> bool {
    x.primal() < y.primal()
}

#[inline(always)]
fn sign_kept<S: Scalar>(x: S, y: S) -> Partial<S> {
    if x.primal().is_sign_negative() == y.primal().is_sign_negative() { One } else { plain(-1.0) }
}
