//! Rules of one argument.

use super::special;
use super::{Direction, Over, Partial, PowfByBase, RuleVisitor, Unary, constant, plain, scale};
use crate::scalar::{Base, Scalar};
use Partial::{One, Value, Zero};
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
    Recip   recip:      x => x.recip();       (x, y) => Value(-(y * y)),
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
            -1 => Value(-(y * y)),
            // Where `powi` multiplies so often that its rounding errors exceed those of `powf`, and the condition is still good.
            n @ (-8 | -7 | 9 | 10) => Value(scale(n as f64, x.apply(Powc(n as f64 - 1.0)))),
            n => match n.checked_sub(1) {
                Some(m) => Value(scale(n as f64, x.apply(Powi(m)))),
                None => Value(scale(n as f64, x.apply(Powc(n as f64 - 1.0)))),
            },
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
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameter(self) -> Option<u64> {
        Some(self.0.to_bits())
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value<B: Base>(self, x: B) -> B {
        rule_part!(self, Unary, Value, if self.0 == 1.0 { x } else { x.powf(B::from_f64(self.0)) })
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn derivative<S: Scalar>(self, x: S, _y: S) -> Partial<S> {
        let c = self.0;
        let derivative = if c == 0.0 {
            Zero
        } else if c == 1.0 {
            One
        } else if c == 2.0 {
            Value(scale(2.0, x))
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
