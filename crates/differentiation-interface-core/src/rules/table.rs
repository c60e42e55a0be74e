//! The table: rules of one argument, then rules of two. One line per rule, value then derivative.

use super::parts::{RuleVisitor, constant, plain, scale};
use super::{fused, planar, special};
use crate::arithmetic::{Base, Binary, InTable, Partial, Scalar, Unary};
use crate::recordings::EngineScalar;
use Partial::{One, Product, Value, Zero};
use num_traits::Float;
use std::cmp::Ordering;
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LOG2_E, LOG10_E, PI};

/// Makes one rule type and one function from each line `Type function: x => value; (x, y) => derivative`.
macro_rules! unary_rules {
    ($($Rule:ident $function:ident: $v:ident => $value:expr; ($x:ident, $y:ident) => $derivative:expr,)*) => {
        $(
            #[doc = concat!("The rule of `", stringify!($function), "`.")]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $Rule;

            impl Unary for $Rule {
                const NAME: &'static str = stringify!($function);
                const IN_TABLE: InTable = InTable::YES;
                #[cfg_attr(not(debug_assertions), inline(always))]
                fn value<B: Base>(self, $v: B) -> B {
                    rule_part!(self, Unary, Value, $value)
                }
                #[cfg_attr(not(debug_assertions), inline(always))]
                #[allow(unused_variables, reason = "a derivative may need the point, the value, both or none")]
                fn derivative<S: Scalar>(self, $x: S, $y: S) -> Partial<S> {
                    rule_part!(self, Unary, First, $derivative)
                }
            }

            #[doc = concat!("Applies `", stringify!($function), "` to any scalar.")]
            #[cfg_attr(not(debug_assertions), inline(always))]
            pub fn $function<S: Scalar>(x: S) -> S {
                x.apply($Rule)
            }
        )*

        /// Shows every rule of one argument to `visitor`.
        pub fn each_unary(visitor: &mut impl RuleVisitor) {
            $(visitor.unary($Rule);)*
            for n in [-3, -1, 0, 1, 2, 3, 5] {
                visitor.unary(Powi(n));
            }
            for c in [-1.5, 0.0, 0.5, 1.0, 2.0, 2.5] {
                visitor.unary(Powc(c));
            }
            for order in 0..3 {
                visitor.unary(Polygamma(order));
            }
        }
    };
}

unary_rules! {
    Negate  neg:        x => -x;              (x, y) => plain(-1.0),
    Recip   recip:      x => x.recip();       (x, y) => Product(-y, y),
    Abs     abs:        x => x.abs();         (x, y) => sign_of(x),
    Signum  signum:     x => x.signum();      (x, y) => Zero,
    Floor   floor:      x => x.floor();       (x, y) => Zero,
    Ceil    ceil:       x => x.ceil();        (x, y) => Zero,
    Round   round:      x => x.round();       (x, y) => Zero,
    Trunc   trunc:      x => x.trunc();       (x, y) => Zero,
    Fract   fract:      x => x.fract();       (x, y) => One,
    Degrees to_degrees: x => x.to_degrees();  (x, y) => plain(180.0 / PI),
    Radians to_radians: x => x.to_radians();  (x, y) => plain(PI / 180.0),
    Sqrt    sqrt:       x => x.sqrt();        (x, y) => Value(over(0.5, y)),
    Cbrt    cbrt:       x => x.cbrt();        (x, y) => Value(cbrt_slope(x)),
    CbrtSlope cbrt_slope: x => special::cbrt_slope(x); (x, y) => Value(scale(-2.0 / 3.0, y / x)),
    Exp     exp:        x => x.exp();         (x, y) => Value(y),
    Exp2    exp2:       x => x.exp2();        (x, y) => Value(scale(LN_2, y)),
    ExpM1   exp_m1:     x => x.exp_m1();      (x, y) => Value(exp(x)),
    Ln      ln:         x => x.ln();          (x, y) => Value(recip(x)),
    Log2    log2:       x => x.log2();        (x, y) => Value(over(LOG2_E, x)),
    Log10   log10:      x => x.log10();       (x, y) => Value(over(LOG10_E, x)),
    Ln1p    ln_1p:      x => x.ln_1p();       (x, y) => Value(recip(constant::<S>(1.0) + x)),
    Sin     sin:        x => x.sin();         (x, y) => Value(cos(x)),
    Cos     cos:        x => x.cos();         (x, y) => Value(-sin(x)),
    Tan     tan:        x => x.tan();         (x, y) => Value(constant::<S>(1.0) + y * y),
    Asin    asin:       x => x.asin();        (x, y) => Value(asin_slope(x)),
    Acos    acos:       x => x.acos();        (x, y) => Value(-asin_slope(x)),
    AsinSlope asin_slope: x => special::one_minus_square(x).sqrt().recip(); (x, y) => Value(y * (x / one_minus_square(x))),
    OneMinusSquare one_minus_square: x => special::one_minus_square(x); (x, y) => Value(scale(-2.0, x)),
    Atan    atan:       x => x.atan();        (x, y) => Value(atan_slope(x)),
    AtanSlope atan_slope: x => special::atan_slope(x); (x, y) => Value(scale(-2.0, x * y * y)),
    Sinh    sinh:       x => x.sinh();        (x, y) => Value(cosh(x)),
    Cosh    cosh:       x => x.cosh();        (x, y) => Value(sinh(x)),
    Tanh    tanh:       x => x.tanh();        (x, y) => Value(sech_squared(x)),
    SechSquared sech_squared: x => special::sech_squared(x); (x, y) => Value(scale(-2.0, tanh(x) * y)),
    Asinh   asinh:      x => x.asinh();       (x, y) => Value(recip(hypot_one(x))),
    HypotOne hypot_one: x => x.hypot(B::ONE); (x, y) => Value(x.apply2_right(S::Base::ONE, Direction)),
    Acosh   acosh:      x => x.acosh();       (x, y) => Value(acosh_slope(x)),
    AcoshSlope acosh_slope: x => special::acosh_slope(x); (x, y) => Value(-(y / (x - constant(1.0)) * (x / (x + constant(1.0))))),
    Atanh   atanh:      x => x.atanh();       (x, y) => Value(recip(one_minus_square(x))),
    Erf     erf:        x => x.erf_value();   (x, y) => Value(scale(FRAC_2_SQRT_PI, gauss(x))),
    Erfc    erfc:       x => x.erfc_value();  (x, y) => Value(scale(-FRAC_2_SQRT_PI, gauss(x))),
    Gauss   gauss:      x => special::gauss(x);    (x, y) => Value(scale(-2.0, x * y)),
    LnGamma ln_gamma:   x => x.ln_gamma_value();   (x, y) => Value(digamma(x)),
    Logistic logistic:  x => special::logistic(x); (x, y) => Value(logistic_slope(x)),
    LogisticSlope logistic_slope: x => special::logistic_slope(x); (x, y) => Value(-(y * tanh(scale(0.5, x)))),
    Softplus softplus:  x => special::softplus(x); (x, y) => Value(logistic(x)),
}

/// Derivative of |x|: the sign of `x`, 0 at 0.
#[cfg_attr(not(debug_assertions), inline(always))]
fn sign_of<S: Scalar>(x: S) -> Partial<S> {
    match x.partial_cmp(&constant(0.0)) {
        Some(Ordering::Greater) => One,
        Some(Ordering::Less) => plain(-1.0),
        // 0 at ±0; NaN stays NaN.
        _ => Partial::Constant(x.primal().abs()),
    }
}

/// `c / x` for a plain number `c`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn over<S: Scalar>(c: f64, x: S) -> S {
    S::apply2_left(S::Base::from_f64(c), x, Over)
}

/// The power with a constant integer exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Powi(pub i32);

impl Unary for Powi {
    const NAME: &'static str = "powi";
    const IN_TABLE: InTable = InTable::YES;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameter(self) -> Option<u64> {
        Some(self.0 as u32 as u64)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value<B: Base>(self, x: B) -> B {
        let value = match self.0 {
            1 => x,
            2 => x * x,
            3 => x * x * x,
            n => x.powi(n),
        };
        rule_part!(self, Unary, Value, value)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn derivative<S: Scalar>(self, x: S, y: S) -> Partial<S> {
        let derivative = match self.0 {
            0 => Zero,
            1 => One,
            2 => Value(scale(2.0, x)),
            -1 => Product(-y, y),
            // For these exponents the rounding errors of repeated multiplication in `powi` exceed those of `powf`, at a good condition number.
            n @ (-8 | -7) => Product(scale(n as f64, x.apply(Powc(n as f64))), recip(x)),
            n @ (9 | 10) => Value(scale(n as f64, x.apply(Powc(n as f64 - 1.0)))),
            n if n < 0 => Product(scale(n as f64, y), recip(x)),
            n => Value(scale(n as f64, x.apply(Powi(n - 1)))),
        };
        rule_part!(self, Unary, First, derivative)
    }
}

/// `x` to the constant integer power `n`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn powi<S: Scalar>(x: S, n: i32) -> S {
    x.apply(Powi(n))
}

/// The power with a constant exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Powc(pub f64);

impl Unary for Powc {
    const NAME: &'static str = "powc";
    const IN_TABLE: InTable = InTable::YES;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameter(self) -> Option<u64> {
        Some(self.0.to_bits())
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value<B: Base>(self, x: B) -> B {
        rule_part!(self, Unary, Value, if self.0 == 1.0 { x } else { x.powf(B::from_f64(self.0)) })
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn derivative<S: Scalar>(self, x: S, y: S) -> Partial<S> {
        let c = self.0;
        let derivative = if c == 0.0 {
            Zero
        } else if c == 1.0 {
            One
        } else if c == 2.0 {
            Value(scale(2.0, x))
        } else if let Some(derivative) = negative_power(S::Base::from_f64(c), x, y) {
            derivative
        } else if (c - 1.0) + 1.0 == c {
            Value(scale(c, x.apply(Powc(c - 1.0))))
        } else {
            // The exponent is rounded, which matters where ln x is large.
            Value(x.apply2_right(S::Base::from_f64(c), PowfByBase))
        };
        rule_part!(self, Unary, First, derivative)
    }
}

/// The polygamma function of a constant order: the derivative of order `n + 1` of ln Γ, digamma for `n = 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polygamma(pub u32);

impl Unary for Polygamma {
    const NAME: &'static str = "polygamma";
    const IN_TABLE: InTable = InTable::YES;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameter(self) -> Option<u64> {
        Some(self.0 as u64)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value<B: Base>(self, x: B) -> B {
        rule_part!(self, Unary, Value, x.polygamma_value(self.0))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn derivative<S: Scalar>(self, x: S, _y: S) -> Partial<S> {
        rule_part!(self, Unary, First, Value(x.apply(Polygamma(self.0 + 1))))
    }
}

/// The digamma function of any scalar.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn digamma<S: Scalar>(x: S) -> S {
    x.apply(Polygamma(0))
}

/// Makes one rule type from each line `Type name: (x, y) => value; (x, y, r) => ∂x; ∂y`.
macro_rules! binary_rules {
    ($($Rule:ident $name:ident: ($v:ident, $w:ident) => $value:expr; ($x:ident, $y:ident, $r:ident) => $dx:expr; $dy:expr,)*) => {
        $(
            #[doc = concat!("The rule of `", stringify!($name), "`.")]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $Rule;

            impl Binary for $Rule {
                const NAME: &'static str = stringify!($name);
                const IN_TABLE: InTable = InTable::YES;
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
    Over     div:      (x, y) => x / y;          (x, y, r) => Value(recip(y)); by_divisor(y, r),
    Modulo   rem:      (x, y) => x % y;          (x, y, r) => One; Value(-round((x - r) / y)),
    Powf     powf:     (x, y) => x.powf(y);      (x, y, r) => power_by_base(x, y, r); power_by_exponent(x, y, r),
    PowfByBase powf_by_base: (x, y) => planar::powf_by_base(x, y);
        (x, y, r) => of(x, y, PowfByBaseTwice); of(x, y, PowfMixed),
    PowfByExponent powf_by_exponent: (x, y) => planar::powf_by_exponent(x, y);
        (x, y, r) => of(x, y, PowfMixed); of(x, y, PowfByExponentTwice),
    PowfByBaseTwice powf_by_base_twice: (x, y) => planar::powf_by_base_twice(x, y);
        (x, y, r) => of(x, y, PowfByBaseThrice); third_power_by_both(x, y, 2.0),
    PowfByBaseThrice powf_by_base_thrice: (x, y) => planar::powf_by_base_thrice(x, y);
        (x, y, r) => fourth_power_by_base(x, y); fourth_power(x, y),
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

/// ∂/∂y of x / y: -r / y. The reciprocal of a number below the smallest normal one may be infinite.
#[cfg_attr(not(debug_assertions), inline(always))]
fn by_divisor<S: Scalar>(y: S, r: S) -> Partial<S> {
    let inverse = recip(y);
    if inverse.peek().is_finite() { Product(-r, inverse) } else { Value(-quotient(r, y)) }
}

/// The quotient, out of line for nested numbers, since few divisors are so small.
#[cfg_attr(not(debug_assertions), inline(always))]
fn quotient<S: Scalar>(x: S, y: S) -> S {
    #[cold]
    #[inline(never)]
    fn nested<S: Scalar>(x: S, y: S) -> S {
        x / y
    }
    if const { S::DEPTH == 0 } { x / y } else { nested(x, y) }
}

/// ∂/∂x of x^y: y x^(y-1).
#[cfg_attr(not(debug_assertions), inline(always))]
fn power_by_base<S: Scalar>(x: S, y: S, r: S) -> Partial<S> {
    if y.is_constant() {
        if y.peek() == S::Base::ZERO {
            return Zero;
        }
        if let Some(derivative) = negative_power(y.peek(), x, r) {
            return derivative;
        }
    }
    of(x, y, PowfByBase)
}

/// The derivative c r / x of r = x^c for a negative `c`, unless 1/x is infinite: x^(c-1) may be smaller than any number where r is none of the
/// smallest. Not for a `c` so small that r is between 1/2 and 2.
#[cfg_attr(not(debug_assertions), inline(always))]
fn negative_power<S: Scalar>(c: S::Base, x: S, r: S) -> Option<Partial<S>> {
    if !c.is_finite() || c > S::Base::from_f64(-1.0 / 1024.0) {
        return None;
    }
    let inverse = recip(x);
    inverse.peek().is_finite().then(|| Product(r.scale(c), inverse))
}

/// ∂/∂y of x^y: x^y ln x. Plain numbers, which are not differentiated again, use the value.
#[cfg_attr(not(debug_assertions), inline(always))]
fn power_by_exponent<S: Scalar>(x: S, y: S, r: S) -> Partial<S> {
    if x.is_constant() && y.is_constant() {
        return Value(S::constant(planar::power_times_ln(r.peek(), x.peek())));
    }
    of(x, y, PowfByExponent)
}

/// ∂⁴/∂x⁴ of x^y: y times the third derivative of x^(y-1). The third derivative over x would be 0/0 at 0.
#[cfg_attr(not(debug_assertions), inline(always))]
fn fourth_power_by_base<S: Scalar>(x: S, y: S) -> Partial<S> {
    // Identically zero; computed, y - 1 reaches negative exponents in higher derivatives, whose powers are infinite at 0.
    if y.is_constant() && [0.0, 1.0, 2.0, 3.0].iter().any(|&n| y.peek() == S::Base::from_f64(n)) {
        return Zero;
    }
    Value(y * x.apply2(y - constant(1.0), PowfByBaseThrice))
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
        Product(first, second) => Product(-first, second),
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
