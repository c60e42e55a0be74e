//! Rules of two arguments.

use super::{Binary, Partial, RuleVisitor, constant, fused, ln, plain, planar, recip, round, scale};
use crate::scalar::{Base, Scalar};
use Partial::{One, Value, Zero};
use num_traits::Float;
use std::cmp::Ordering;

/// Makes one rule type from each line `Type name: (x, y) => value; (x, y, r) => ∂x; ∂y`.
macro_rules! binary_rules {
    ($($Rule:ident $name:ident: ($v:ident, $w:ident) => $value:expr; ($x:ident, $y:ident, $r:ident) => $dx:expr; $dy:expr,)*) => {
        $(
            #[doc = concat!("The rule of `", stringify!($name), "`.")]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $Rule;

            impl Binary for $Rule {
                const NAME: &'static str = stringify!($name);
                #[cfg_attr(not(debug_assertions), inline(always))]
                fn value<B: Base>(self, $v: B, $w: B) -> B {
                    rule_part!(self, Binary, Value, $value)
                }
                #[cfg_attr(not(debug_assertions), inline(always))]
                #[allow(unused_variables, reason = "a derivative may need the point, the value, both or none")]
                fn partial_x<S: Scalar>(self, $x: S, $y: S, $r: S) -> Partial<S> {
                    rule_part!(self, Binary, First, $dx)
                }
                #[cfg_attr(not(debug_assertions), inline(always))]
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
    Modulo   rem:      (x, y) => x % y;          (x, y, r) => One; Value(-round((x - r) / y)),
    Powf     powf:     (x, y) => x.powf(y);      (x, y, r) => power_by_base(x, y); power_by_exponent(x, y, r),
    PowfByBase powf_by_base: (x, y) => planar::powf_by_base(x, y);
        (x, y, r) => of(x, y, PowfByBaseTwice); of(x, y, PowfMixed),
    PowfByExponent powf_by_exponent: (x, y) => planar::powf_by_exponent(x, y);
        (x, y, r) => of(x, y, PowfMixed); of(x, y, PowfByExponentTwice),
    PowfByBaseTwice powf_by_base_twice: (x, y) => planar::powf_by_base_twice(x, y);
        (x, y, r) => of(x, y, PowfByBaseThrice); third_power_by_both(x, y, 2.0),
    PowfByBaseThrice powf_by_base_thrice: (x, y) => planar::powf_by_base_thrice(x, y);
        (x, y, r) => Value((y - constant(3.0)) * r / x); fourth_power(x, y),
    PowfMixed powf_mixed: (x, y) => planar::powf_mixed(x, y);
        (x, y, r) => third_power_by_both(x, y, 2.0); third_power_by_both(x, y, 1.0),
    PowfByExponentTwice powf_by_exponent_twice: (x, y) => planar::powf_by_exponent_twice(x, y);
        (x, y, r) => third_power_by_both(x, y, 1.0); Value(r * ln(x)),
    Atan2    atan2:    (y, x) => y.atan2(x);     (y, x, r) => of(x, y, Angular); negated(of(y, x, Angular)),
    Angular  angular:  (x, y) => planar::angular(x, y);
        (x, y, r) => of(x, y, AngularBend); of(x, y, AngularCross),
    AngularBend angular_bend: (x, y) => planar::angular_bend(x, y);
        (x, y, r) => Value(scale(2.0, cube(x, y).0)); Value(scale(-2.0, cube(x, y).1)),
    AngularCross angular_cross: (x, y) => planar::angular_cross(x, y);
        (x, y, r) => Value(scale(-2.0, cube(x, y).1)); Value(scale(-2.0, cube(x, y).0)),
    Hypot    hypot:    (x, y) => x.hypot(y);     (x, y, r) => direction(x, y, r); direction(y, x, r),
    Direction direction: (x, y) => planar::direction(x, y, x.hypot(y));
        (x, y, r) => of(x, y, HypotBend); of(x, y, HypotCross),
    HypotBend hypot_bend: (x, y) => planar::hypot_bend(x, y);
        (x, y, r) => Value(scale(-3.0, r * x.apply2(y, Angular))); Value(bend_by_other(x, y)),
    HypotCross hypot_cross: (x, y) => planar::hypot_cross(x, y);
        (x, y, r) => Value(bend_by_other(x, y)); Value(bend_by_other(y, x)),
    Max      max:      (x, y) => x.max(y);       (x, y, r) => taken(first_max(x, y)); taken(!first_max(x, y)),
    Min      min:      (x, y) => x.min(y);       (x, y, r) => taken(first_min(x, y)); taken(!first_min(x, y)),
    AtLeast  at_least: (x, y) => if x < y { y } else { x }; (x, y, r) => taken(!below(x, y)); taken(below(x, y)),
    AtMost   at_most:  (x, y) => if y < x { y } else { x }; (x, y, r) => taken(!below(y, x)); taken(below(y, x)),
    Copysign copysign: (x, y) => x.copysign(y);  (x, y, r) => sign_kept(x, y); Zero,
    AbsSub   abs_sub:  (x, y) => positive_difference(x, y); (x, y, r) => taken(x > y); negated(taken(x > y)),
    Together together: (x, y) => x + y;          (x, y, r) => One; One,
    ProductError product_error: (x, y) => fused::product_error(x, y); (x, y, r) => Zero; Zero,
    SumError sum_error: (x, y) => fused::sum_error(x, y);     (x, y, r) => Zero; Zero,
    OddSum   odd_sum:  (x, y) => fused::odd_sum(x, y);         (x, y, r) => One; One,
}

/// `x - y` where that is positive, and 0 elsewhere, also where both are infinite; NaN where one is.
#[cfg_attr(not(debug_assertions), inline(always))]
fn positive_difference<B: Base>(x: B, y: B) -> B {
    if x <= y { B::ZERO } else { x - y }
}

/// The value of a rule as a partial derivative.
#[cfg_attr(not(debug_assertions), inline(always))]
fn of<S: Scalar, R: Binary>(x: S, y: S, rule: R) -> Partial<S> {
    Value(x.apply2(y, rule))
}

/// ∂/∂x of x^y: y x^(y-1).
#[cfg_attr(not(debug_assertions), inline(always))]
fn power_by_base<S: Scalar>(x: S, y: S) -> Partial<S> {
    if y.is_constant() && y.peek() == S::Base::ZERO { Zero } else { of(x, y, PowfByBase) }
}

/// ∂/∂y of x^y: x^y ln x. Plain numbers, which are not differentiated again, use the value.
#[cfg_attr(not(debug_assertions), inline(always))]
fn power_by_exponent<S: Scalar>(x: S, y: S, r: S) -> Partial<S> {
    if x.is_constant() && y.is_constant() {
        return Value(S::constant(planar::power_times_ln(r.peek(), x.peek())));
    }
    of(x, y, PowfByExponent)
}

/// ∂⁴/∂x³∂y of x^y.
#[cfg_attr(not(debug_assertions), inline(always))]
fn fourth_power<S: Scalar>(x: S, y: S) -> Partial<S> {
    let polynomial = y * (y - constant(1.0)) * (y - constant(2.0));
    let slope = scale(3.0, y * (y - constant(2.0))) + constant(2.0);
    Value(x.apply2(y - constant(3.0), Powf) * (slope + polynomial * ln(x)))
}

/// ∂³/∂x^n∂y^(3-n) of x^y for n = 1 or 2.
#[cfg_attr(not(debug_assertions), inline(always))]
fn third_power_by_both<S: Scalar>(x: S, y: S, n: f64) -> Partial<S> {
    let power = x.apply2(y - constant(n), Powf);
    let logarithm = ln(x);
    let factor = if n == 1.0 {
        logarithm * (constant::<S>(2.0) + y * logarithm)
    } else {
        scale(2.0, y) - constant(1.0) + y * (y - constant(1.0)) * logarithm
    };
    Value(power * factor)
}

/// Real and imaginary part of 1/(x + iy)³ from those of 1/(x + iy) and its square.
#[cfg_attr(not(debug_assertions), inline(always))]
fn cube<S: Scalar>(x: S, y: S) -> (S, S) {
    let (a, b) = (x.apply2(y, Angular), y.apply2(x, Angular));
    let (p, q) = (x.apply2(y, AngularBend), x.apply2(y, AngularCross));
    (q * b - p * a, p * b + q * a)
}

/// x / r. Plain numbers, which are not differentiated again, use the value `r` of `hypot`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn direction<S: Scalar>(x: S, y: S, r: S) -> Partial<S> {
    if x.is_constant() && y.is_constant() {
        return Value(S::constant(planar::direction(x.peek(), y.peek(), r.peek())));
    }
    of(x, y, Direction)
}

/// ∂³/∂x²∂y of hypot.
#[cfg_attr(not(debug_assertions), inline(always))]
fn bend_by_other<S: Scalar>(x: S, y: S) -> S {
    let (bend, cross) = (x.apply2(y, HypotBend), x.apply2(y, HypotCross));
    scale(-2.0, cross * x.apply2(y, Angular)) - bend * y.apply2(x, Angular)
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn negated<S: Scalar>(partial: Partial<S>) -> Partial<S> {
    match partial {
        Zero => Zero,
        One => plain(-1.0),
        Partial::Constant(c) => Partial::Constant(-c),
        Value(v) => Value(-v),
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn taken<S: Scalar>(is_taken: bool) -> Partial<S> {
    if is_taken { One } else { Zero }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn first_max<S: Scalar>(x: S, y: S) -> bool {
    match x.partial_cmp(&y) {
        Some(order) => order != Ordering::Less,
        None => y.primal().is_nan(),
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn first_min<S: Scalar>(x: S, y: S) -> bool {
    match x.partial_cmp(&y) {
        Some(order) => order != Ordering::Greater,
        None => y.primal().is_nan(),
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn below<S: Scalar>(x: S, y: S) -> bool {
    x < y
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn sign_kept<S: Scalar>(x: S, y: S) -> Partial<S> {
    if x.primal().is_sign_negative() == y.primal().is_sign_negative() { One } else { plain(-1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_positive_difference_of_equal_infinities_is_zero() {
        for (x, y, expected) in
            [(f64::INFINITY, f64::INFINITY, 0.0), (f64::INFINITY, 1.0, f64::INFINITY), (1.0, 3.0, 0.0)]
        {
            assert_eq!(AbsSub.value(x, y), expected);
            assert_eq!(AbsSub.value(x as f32, y as f32), expected as f32);
        }
        assert!(AbsSub.value(f64::NAN, 1.0).is_nan() && AbsSub.value(1.0, f64::NAN).is_nan());
    }
}
