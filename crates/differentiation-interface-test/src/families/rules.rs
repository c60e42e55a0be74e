//! Every rule of the rule table in one function, with derivatives worked out by hand.
//!
//! Entry `k` of [`Formula::Rules`](super::Formula) applies function `k` below to its own coordinates, at a point where value,
//! first and second derivative are far from zero unless they are zero everywhere. So every wrong rule is detected, and the entry
//! identifies it.

use super::real_number::RealNumber;
use differentiation_interface_core::rules::{self, Polygamma, Powc};
use differentiation_interface_core::{Base, Scalar};
use num_traits::{Float, Signed};
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10, PI};

/// ψ(5/2) and its first four derivatives, from their values at 1/2 by recurrence.
const EULER: f64 = 0.577_215_664_901_532_9;
const ZETA_3: f64 = 1.202_056_903_159_594_2;
const DIGAMMA: f64 = 2.0 + 2.0 / 3.0 - EULER - 2.0 * LN_2;
const TRIGAMMA: f64 = PI * PI / 2.0 - 4.0 - 4.0 / 9.0;
const TETRAGAMMA: f64 = -14.0 * ZETA_3 + 16.0 + 16.0 / 27.0;
const PENTAGAMMA: f64 = PI * PI * PI * PI - 96.0 - 32.0 / 27.0;
const ZETA_5: f64 = 1.036_927_755_143_37;
const HEXAGAMMA: f64 = -744.0 * ZETA_5 + 768.0 + 256.0 / 81.0;

fn c<T: Scalar>(value: f64) -> T {
    T::constant(T::Base::from_f64(value))
}

/// Functions of one number: `name: point, f(x), f'(x), f''(x)`, and the value where plain numbers use the rule's own.
macro_rules! of_one {
    ($($name:literal: $at:expr, |$x:ident| $f:expr, $first:expr, $second:expr $(, $value:expr)?;)*) => {
        /// Names and points.
        pub(super) const OF_ONE: &[(&str, f64)] = &[$(($name, $at)),*];

        /// The values.
        pub(super) fn values_of_one<T: RealNumber>(at: &[T], y: &mut impl FnMut(T)) {
            let mut at = at.iter();
            $({
                // A function of its own, since one stack frame for all rules on nested numbers would overflow the stack.
                #[inline(never)]
                fn rule<T: RealNumber>($x: T) -> T {
                    $f
                }
                y(rule(*at.next().expect("one coordinate for each")));
            })*
        }

        /// Values at the points that do not come from the rule table, for rules that plain numbers evaluate by the table.
        pub(super) fn known_values() -> Vec<Option<f64>> {
            vec![$({
                #[allow(unused_variables, reason = "a value may be a literal")]
                let $x: f64 = $at;
                [$(Some($value),)? None][0]
            }),*]
        }

        /// First and second derivatives at the points.
        pub(super) fn derivatives_of_one() -> Vec<(f64, f64)> {
            vec![$({
                #[allow(unused_variables, reason = "a derivative may be constant")]
                let $x: f64 = $at;
                ($first, $second)
            }),*]
        }
    };
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

of_one! {
    "neg": 0.7, |x| -x, -1.0, 0.0;
    "recip": 0.7, |x| x.recip(), -1.0 / (x * x), 2.0 / (x * x * x);
    "abs": 0.7, |x| Float::abs(x), 1.0, 0.0;
    "abs of a negative number": -0.7, |x| Float::abs(x), -1.0, 0.0;
    "signum": 0.7, |x| Float::signum(x), 0.0, 0.0;
    "floor": 1.3, |x| x.floor(), 0.0, 0.0;
    "ceil": 1.3, |x| x.ceil(), 0.0, 0.0;
    "round": 1.3, |x| x.round(), 0.0, 0.0;
    "trunc": 1.3, |x| x.trunc(), 0.0, 0.0;
    "fract": 1.3, |x| x.fract(), 1.0, 0.0;
    "to_degrees": 0.7, |x| x.to_degrees(), 180.0 / PI, 0.0;
    "to_radians": 0.7, |x| x.to_radians(), PI / 180.0, 0.0;
    "sqrt": 0.7, |x| x.sqrt(), 0.5 / x.sqrt(), -0.25 / (x * x.sqrt());
    "cbrt": 0.7, |x| x.cbrt(), 1.0 / (3.0 * x.cbrt().powi(2)), -2.0 / (9.0 * x.cbrt().powi(5));
    "exp": 0.7, |x| x.exp(), x.exp(), x.exp();
    "exp2": 0.7, |x| x.exp2(), LN_2 * x.exp2(), LN_2 * LN_2 * x.exp2();
    "exp_m1": 0.7, |x| x.exp_m1(), x.exp(), x.exp();
    "ln": 0.7, |x| x.ln(), 1.0 / x, -1.0 / (x * x);
    "log2": 0.7, |x| x.log2(), 1.0 / (LN_2 * x), -1.0 / (LN_2 * x * x);
    "log10": 0.7, |x| x.log10(), 1.0 / (LN_10 * x), -1.0 / (LN_10 * x * x);
    "ln_1p": 0.7, |x| x.ln_1p(), 1.0 / (1.0 + x), -1.0 / (1.0 + x).powi(2);
    "sin": 0.7, |x| x.sin(), x.cos(), -x.sin();
    "cos": 0.7, |x| x.cos(), -x.sin(), -x.cos();
    "tan": 0.7, |x| x.tan(), 1.0 + x.tan().powi(2), 2.0 * x.tan() * (1.0 + x.tan().powi(2));
    "asin": 0.6, |x| x.asin(), 1.25, 0.6 * 1.953125;
    "acos": 0.6, |x| x.acos(), -1.25, -0.6 * 1.953125;
    "atan": 0.5, |x| x.atan(), 0.8, -0.64;
    "sinh": 0.7, |x| x.sinh(), x.cosh(), x.sinh();
    "cosh": 0.7, |x| x.cosh(), x.sinh(), x.cosh();
    "tanh": 0.7, |x| x.tanh(), 1.0 / x.cosh().powi(2), -2.0 * x.tanh() / x.cosh().powi(2);
    "asinh": 0.75, |x| x.asinh(), 0.8, -0.75 * 0.512;
    "acosh": 1.25, |x| x.acosh(), 4.0 / 3.0, -1.25 * 64.0 / 27.0;
    "atanh": 0.5, |x| x.atanh(), 4.0 / 3.0, 16.0 / 9.0;
    "erf": 0.7, |x| rules::erf(x), FRAC_2_SQRT_PI * (-x * x).exp(), -2.0 * x * FRAC_2_SQRT_PI * (-x * x).exp(), 0.677_801_193_837_418_5;
    "erfc": 0.7, |x| rules::erfc(x), -FRAC_2_SQRT_PI * (-x * x).exp(), 2.0 * x * FRAC_2_SQRT_PI * (-x * x).exp(), 0.322_198_806_162_581_5;
    "ln_gamma": 2.5, |x| rules::ln_gamma(x), DIGAMMA, TRIGAMMA, 0.284_682_870_472_919_2;
    "digamma": 2.5, |x| rules::digamma(x), TRIGAMMA, TETRAGAMMA, DIGAMMA;
    "trigamma": 2.5, |x| x.apply(Polygamma(1)), TETRAGAMMA, PENTAGAMMA, TRIGAMMA;
    "tetragamma": 2.5, |x| x.apply(Polygamma(2)), PENTAGAMMA, HEXAGAMMA, TETRAGAMMA;
    "logistic": 0.7, |x| rules::logistic(x), logistic(x) * logistic(-x), logistic(x) * logistic(-x) * (1.0 - 2.0 * logistic(x)), logistic(x);
    "softplus": 0.7, |x| rules::softplus(x), logistic(x), logistic(x) * logistic(-x), (1.0 + x.exp()).ln();
    "powi -3": 0.7, |x| x.powi(-3), -3.0 * x.powi(-4), 12.0 * x.powi(-5);
    "powi -1": 0.7, |x| x.powi(-1), -x.powi(-2), 2.0 * x.powi(-3);
    "powi 0": 0.7, |x| x.powi(0), 0.0, 0.0;
    "powi 1": 0.7, |x| x.powi(1), 1.0, 0.0;
    "powi 2": 0.7, |x| x.powi(2), 2.0 * x, 2.0;
    "powi 3": 0.7, |x| x.powi(3), 3.0 * x * x, 6.0 * x;
    "powi 5": 0.7, |x| x.powi(5), 5.0 * x.powi(4), 20.0 * x.powi(3);
    "powc -1.5": 0.7, |x| powc(x, -1.5), -1.5 * x.powf(-2.5), 3.75 * x.powf(-3.5), x.powf(-1.5);
    "powc 0": 0.7, |x| powc(x, 0.0), 0.0, 0.0, x.powf(0.0);
    "powc 0.5": 0.7, |x| powc(x, 0.5), 0.5 / x.sqrt(), -0.25 / (x * x.sqrt()), x.powf(0.5);
    "powc 1": 0.7, |x| powc(x, 1.0), 1.0, 0.0, x.powf(1.0);
    "powc 2": 0.7, |x| powc(x, 2.0), 2.0 * x, 2.0, x.powf(2.0);
    "powc 2.5": 0.7, |x| powc(x, 2.5), 2.5 * x.powf(1.5), 3.75 * x.sqrt(), x.powf(2.5);
    "a number plus": 0.7, |x| c::<T>(3.0) + x, 1.0, 0.0;
    "a number minus": 0.7, |x| c::<T>(3.0) - x, -1.0, 0.0;
    "a number over": 0.7, |x| c::<T>(3.0) / x, -3.0 / (x * x), 6.0 / (x * x * x);
    "to the power of a number": 0.7, |x| x.powf(c(1.7)), 1.7 * x.powf(0.7), 1.19 * x.powf(-0.3);
    "power of a number": 0.7, |x| c::<T>(3.0).powf(x), 3.0_f64.ln() * 3.0_f64.powf(x), 3.0_f64.ln().powi(2) * 3.0_f64.powf(x);
}

fn powc<T: RealNumber>(x: T, exponent: f64) -> T {
    x.apply(Powc(exponent))
}

/// Functions of two numbers: `name: points, f(x, y), [∂x, ∂y, ∂xx, ∂xy, ∂yy]`.
macro_rules! of_two {
    ($($name:literal: $ax:expr, $ay:expr, |$x:ident, $y:ident| $f:expr, $derivatives:expr;)*) => {
        /// Names and points.
        pub(super) const OF_TWO: &[(&str, f64, f64)] = &[$(($name, $ax, $ay)),*];

        /// The values.
        pub(super) fn values_of_two<T: RealNumber>(at: &[T], out: &mut impl FnMut(T)) {
            let mut at = at.iter().copied();
            let mut next = || at.next().expect("two coordinates for each");
            $({
                #[inline(never)]
                fn rule<T: RealNumber>($x: T, $y: T) -> T {
                    $f
                }
                let (x, y) = (next(), next());
                out(rule(x, y));
            })*
        }

        /// Derivatives at the points.
        pub(super) fn derivatives_of_two() -> Vec<[f64; 5]> {
            vec![$({
                #[allow(unused_variables, reason = "a derivative may be constant")]
                let ($x, $y): (f64, f64) = ($ax, $ay);
                $derivatives
            }),*]
        }
    };
}

const FIRST: [f64; 5] = [1.0, 0.0, 0.0, 0.0, 0.0];
const SECOND: [f64; 5] = [0.0, 1.0, 0.0, 0.0, 0.0];

of_two! {
    "add": 0.7, 1.3, |x, y| x + y, [1.0, 1.0, 0.0, 0.0, 0.0];
    "sub": 0.7, 1.3, |x, y| x - y, [1.0, -1.0, 0.0, 0.0, 0.0];
    "mul": 0.7, 1.3, |x, y| x * y, [y, x, 0.0, 1.0, 0.0];
    "div": 0.7, 1.3, |x, y| x / y, [1.0 / y, -x / (y * y), 0.0, -1.0 / (y * y), 2.0 * x / (y * y * y)];
    "rem": 5.3, 2.0, |x, y| x % y, [1.0, -2.0, 0.0, 0.0, 0.0];
    "powf": 0.7, 1.3, |x, y| x.powf(y), [
        y * x.powf(y - 1.0),
        x.powf(y) * x.ln(),
        y * (y - 1.0) * x.powf(y - 2.0),
        x.powf(y - 1.0) * (1.0 + y * x.ln()),
        x.powf(y) * x.ln().powi(2),
    ];
    "atan2": 0.3, 0.4, |x, y| x.atan2(y), [1.6, -1.2, -3.84, -1.12, 3.84];
    "hypot": 0.3, 0.4, |x, y| x.hypot(y), [0.6, 0.8, 1.28, -0.96, 0.72];
    "max, the first": 1.3, 0.7, |x, y| x.max(y), FIRST;
    "max, the second": 0.7, 1.3, |x, y| x.max(y), SECOND;
    "min, the first": 0.7, 1.3, |x, y| x.min(y), FIRST;
    "min, the second": 1.3, 0.7, |x, y| x.min(y), SECOND;
    "clamp inside": 0.7, 0.2, |x, y| Float::clamp(x, y, c(2.0)), FIRST;
    "clamp at the lower end": 0.2, 0.7, |x, y| Float::clamp(x, y, c(2.0)), SECOND;
    "clamp at the upper end": 1.3, 0.7, |x, y| Float::clamp(x, c(-2.0), y), SECOND;
    "clamp below the upper end": 0.7, 1.3, |x, y| Float::clamp(x, c(-2.0), y), FIRST;
    "copysign kept": 0.7, 1.3, |x, y| x.copysign(y), FIRST;
    "copysign changed": 0.7, -1.3, |x, y| x.copysign(y), [-1.0, 0.0, 0.0, 0.0, 0.0];
    "abs_sub positive": 1.3, 0.7, |x, y| Signed::abs_sub(&x, &y), [1.0, -1.0, 0.0, 0.0, 0.0];
    "abs_sub zero": 0.7, 1.3, |x, y| Signed::abs_sub(&x, &y), [0.0; 5];
}
