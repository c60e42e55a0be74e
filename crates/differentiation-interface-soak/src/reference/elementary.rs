//! Values and derivatives of elementary functions of one number, from the textbook.
//!
//! Called by `algebra`, also at the ends of an operand's error interval, which shows how errors grow.

use super::special::{erf, erfc, ln_gamma, polygamma};
use differentiation_interface_soak::program::Unary;
use std::f64::consts::{LN_2, LN_10, PI};

/// Value, first and second derivative, and for each the size that its rounding error is proportional to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) f: [f64; 3],
    pub(super) own: [f64; 3],
}

/// Which derivatives are not zero everywhere: of `Flat` none, of `Straight` a constant first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Flat,
    Straight,
    Curved,
}

/// The shape of a function.
pub(super) fn shape(function: Unary) -> Shape {
    use Unary::{Abs, Ceil, Floor, Fract, Neg, Powc, Powi, Round, Signum, ToDegrees, ToRadians, Trunc};
    match function {
        Signum | Floor | Ceil | Round | Trunc | Powi(0) => Shape::Flat,
        Powc(0.0) => Shape::Flat,
        Neg | Abs | Fract | ToDegrees | ToRadians | Powi(1) => Shape::Straight,
        Powc(1.0) => Shape::Straight,
        _ => Shape::Curved,
    }
}

/// Whether the function has a jump or a kink at `x`, which may be wrong by `doubt`.
pub(super) fn is_kink(function: Unary, x: f64, doubt: f64) -> bool {
    let near = |place: f64| (x - place).abs() <= doubt;
    match function {
        Unary::Abs | Unary::Signum => near(0.0),
        Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Fract => near(x.round()),
        Unary::Round => near(x.floor() + 0.5) || near(x.ceil() - 0.5),
        _ => false,
    }
}

/// Whether `x` is outside of the domain of the formulas below, for numbers up to `largest`.
pub(super) fn is_unknown(function: Unary, x: f64, largest: f64) -> bool {
    let leaves = |power: f64| power > largest || (power < 1.0 / largest && x != 0.0);
    match function {
        Unary::LnGamma | Unary::Digamma => x <= 0.0,
        // A negative power is the reciprocal of one that may leave the range.
        Unary::Powi(n) if n < 0 => leaves(x.abs().powi(2 - n)),
        Unary::Bell => leaves((x * x).max(1.0)),
        _ => false,
    }
}

/// The function at `x`.
pub(super) fn form(function: Unary, x: f64) -> Form {
    use Unary as U;
    // Terms that cancel in a derivative count with their size; the others with that of the result.
    let mut sizes = [0.0; 3];
    let f = match function {
        U::Neg => [-x, -1.0, 0.0],
        U::Recip => [1.0 / x, -1.0 / x / x, 2.0 / x / x / x],
        U::Abs => [x.abs(), if x == 0.0 { 0.0 } else { x.signum() }, 0.0],
        U::Signum => [x.signum(), 0.0, 0.0],
        U::Floor => [x.floor(), 0.0, 0.0],
        U::Ceil => [x.ceil(), 0.0, 0.0],
        U::Round => [x.round(), 0.0, 0.0],
        U::Trunc => [x.trunc(), 0.0, 0.0],
        U::Fract => [x - x.trunc(), 1.0, 0.0],
        U::ToDegrees => [x * (180.0 / PI), 180.0 / PI, 0.0],
        U::ToRadians => [x * (PI / 180.0), PI / 180.0, 0.0],
        U::Sqrt => {
            let root = x.sqrt();
            [root, 0.5 / root, -0.25 / (x * root)]
        }
        U::Cbrt => {
            let root = x.cbrt();
            [root, root / (3.0 * x), -2.0 * root / (9.0 * x) / x]
        }
        U::Exp => [x.exp(); 3],
        U::Exp2 => {
            let y = x.exp2();
            [y, LN_2 * y, LN_2 * LN_2 * y]
        }
        U::ExpM1 => [x.exp_m1(), x.exp(), x.exp()],
        U::Ln => logarithm(x.ln(), x, 1.0),
        U::Log2 => logarithm(x.log2(), x, LN_2),
        U::Log10 => logarithm(x.log10(), x, LN_10),
        U::Ln1p => logarithm(x.ln_1p(), 1.0 + x, 1.0),
        U::Sin => [x.sin(), x.cos(), -x.sin()],
        U::Cos => [x.cos(), -x.sin(), -x.cos()],
        U::Tan => {
            let below = x.cos() * x.cos();
            [x.tan(), 1.0 / below, 2.0 * x.tan() / below]
        }
        U::Asin | U::Acos => {
            let gap = (1.0 - x) * (1.0 + x);
            let (first, second) = (1.0 / gap.sqrt(), x / (gap * gap.sqrt()));
            sizes[2] = 1.0 / (gap * gap.sqrt());
            if function == U::Asin { [x.asin(), first, second] } else { [x.acos(), -first, -second] }
        }
        U::Atan => {
            let first = 1.0 / x.hypot(1.0) / x.hypot(1.0);
            [x.atan(), first, -2.0 * x * first * first]
        }
        U::Sinh => [x.sinh(), x.cosh(), x.sinh()],
        U::Cosh => [x.cosh(), x.sinh(), x.cosh()],
        U::Tanh => {
            let first = 1.0 / x.cosh() / x.cosh();
            [x.tanh(), first, -2.0 * x.tanh() * first]
        }
        U::Asinh => {
            let first = 1.0 / x.hypot(1.0);
            [x.asinh(), first, -x * first * first * first]
        }
        U::Acosh => {
            let first = 1.0 / (x - 1.0).sqrt() / (x + 1.0).sqrt();
            // The standard library takes the logarithm of a number near 1, whose rounding is the absolute error.
            sizes[0] = 1.0;
            [x.acosh(), first, -x * first * first * first]
        }
        U::Atanh => {
            let gap = (1.0 - x) * (1.0 + x);
            // The standard library takes `ln_1p(2x / (1 - x))`, whose argument cancels near -1.
            sizes[0] = x.abs() / (1.0 + x);
            sizes[2] = 1.0 / (gap * gap);
            [x.atanh(), 1.0 / gap, 2.0 * x / (gap * gap)]
        }
        U::Erf | U::Erfc => {
            let sign = if function == U::Erf { 1.0 } else { -1.0 };
            let first = sign * 2.0 / PI.sqrt() * (-x * x).exp();
            let second = -2.0 * x * first;
            // The rounding of x² is that of the exponent.
            sizes = [0.0, x * x * first.abs(), x * x * second.abs()];
            if function == U::Erf {
                [erf(x), first, second]
            } else {
                sizes[0] = if x < 1.5 { 1.0 } else { (1.0 + x * x) * erfc(x) };
                [erfc(x), first, second]
            }
        }
        U::LnGamma => {
            let [value, first, second] = [ln_gamma(x), polygamma(0, x), polygamma(1, x)];
            sizes = [value[1], first[1], second[1]];
            [value[0], first[0], second[0]]
        }
        U::Digamma => {
            let forms = [0, 1, 2].map(|m| polygamma(m, x));
            sizes = forms.map(|form| form[1]);
            forms.map(|form| form[0])
        }
        U::Logistic | U::Softplus => {
            let e = (-x.abs()).exp();
            let logistic = if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) };
            let bump = e / (1.0 + e) / (1.0 + e);
            if function == U::Logistic {
                sizes[2] = bump;
                [logistic, bump, -bump * (0.5 * x).tanh()]
            } else {
                [x.max(0.0) + e.ln_1p(), logistic, bump]
            }
        }
        U::Bell => {
            let below = 1.0 + x * x;
            // The rule's derivative has the factors 1 - x and 1 + x, whose derivatives cancel.
            let second = 2.0 * (1.0 + x.abs()) * (3.0 + x * x) / (below * below * below);
            sizes = [0.0, 1.0 / below, second];
            [x / below, (1.0 - x) * (1.0 + x) / (below * below), 2.0 * x * (x * x - 3.0) / (below * below * below)]
        }
        U::Powi(n) => {
            let p = f64::from(n);
            let power = |n: i32| if n == 0 { 1.0 } else { x.powi(n) };
            let f = [
                power(n),
                if n == 0 { 0.0 } else { p * power(n - 1) },
                if n == 0 || n == 1 { 0.0 } else { p * (p - 1.0) * power(n - 2) },
            ];
            sizes = f.map(|f| f.abs() * p.abs());
            f
        }
        U::Powc(c) => {
            let first = if c == 0.0 { 0.0 } else { c * x.powf(c - 1.0) };
            let second = if c == 0.0 || c == 1.0 { 0.0 } else { c * (c - 1.0) * x.powf(c - 2.0) };
            [x.powf(c), first, second]
        }
    };
    let factor = if matches!(function, U::LnGamma | U::Digamma | U::Erf | U::Erfc) {
        [16.0, 16.0, 16.0]
    } else {
        [4.0, 8.0, 16.0]
    };
    Form { f, own: std::array::from_fn(|k| factor[k] * (f[k].abs() + sizes[k])) }
}

/// A logarithm with this value, argument and logarithm of the base.
fn logarithm(value: f64, x: f64, base: f64) -> [f64; 3] {
    [value, 1.0 / (x * base), -1.0 / x / x / base]
}
