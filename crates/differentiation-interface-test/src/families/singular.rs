//! Derivatives at kinks, at singular points and where a formula overflows, by the conventions of the rule table.
//!
//! Called by the tests of engines of other crates, which have conventions of their own and errors: what differs is a finding.

use super::real_number::RealNumber;
use crate::operator::Derivative;
use crate::scenario::Scenario;
use differentiation_interface_core::rules::Powc;
use differentiation_interface_core::{Base, Function, Scalar};

/// A function of one number with a singular point, an entry of the table of [`singular_scenarios`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular(usize);

fn c<T: Scalar>(value: f64) -> T {
    T::constant(T::Base::from_f64(value))
}

/// The table: `name: point, f(x), f'(x)`.
macro_rules! singular {
    ($($name:literal: $at:expr, |$x:ident| $f:expr, $derivative:expr;)*) => {
        /// Names, points and derivatives.
        const TABLE: &[(&str, f64, f64)] = &[$(($name, $at, $derivative)),*];

        impl<T: RealNumber> Function<T> for Singular {
            type Output = T;
            fn call(&self, x: &T) -> T {
                let functions: &[fn(T) -> T] = &[$(|$x: T| $f),*];
                functions[self.0](*x)
            }
        }
    };
}

const INFINITY: f64 = f64::INFINITY;
/// 2⁻¹⁰⁴⁰, whose reciprocal overflows.
const TINY: f64 = f64::from_bits(1 << 34);
/// 2⁻⁵²⁰.
const ROOT_OF_TINY: f64 = f64::from_bits((1023 - 520) << 52);
/// 2¹⁰⁰⁰.
const LARGE: f64 = f64::from_bits((1023 + 1000) << 52);

singular! {
    "powi 0 at 0": 0.0, |x| x.powi(0), 0.0;
    "powi 1 at 0": 0.0, |x| x.powi(1), 1.0;
    "powi 2 at 0": 0.0, |x| x.powi(2), 0.0;
    "powi 3 at 0": 0.0, |x| x.powi(3), 0.0;
    "powf of the number 2 at -1.5": -1.5, |x| x.powf(c(2.0)), -3.0;
    "powf of the number 3 at -1.5": -1.5, |x| x.powf(c(3.0)), 6.75;
    "powf of the number 1 at 0": 0.0, |x| x.powf(c(1.0)), 1.0;
    "powf of the number 2 at 0": 0.0, |x| x.powf(c(2.0)), 0.0;
    "powc 1.5 at 0": 0.0, |x| x.apply(Powc(1.5)), 0.0;
    "powc 3 at 0": 0.0, |x| x.apply(Powc(3.0)), 0.0;
    "powf of x at 2": 2.0, |x| x.powf(x), 4.0 * (std::f64::consts::LN_2 + 1.0);
    "sqrt at 0": 0.0, |x| x.sqrt(), INFINITY;
    "cbrt at 0": 0.0, |x| x.cbrt(), INFINITY;
    "recip at 0": 0.0, |x| x.recip(), -INFINITY;
    "ln at 0": 0.0, |x| x.ln(), INFINITY;
    "asin at 1": 1.0, |x| x.asin(), INFINITY;
    "acos at 1": 1.0, |x| x.acos(), -INFINITY;
    "acosh at 1": 1.0, |x| x.acosh(), INFINITY;
    "atanh at 1": 1.0, |x| x.atanh(), INFINITY;
    "abs at 0": 0.0, |x| x.abs(), 0.0;
    "abs at -0": -0.0, |x| x.abs(), 0.0;
    "signum at 0": 0.0, |x| x.signum(), 0.0;
    "floor at 1.5": 1.5, |x| x.floor(), 0.0;
    "ceil at 1.5": 1.5, |x| x.ceil(), 0.0;
    "round at 1.5": 1.5, |x| x.round(), 0.0;
    "trunc at 1.5": 1.5, |x| x.trunc(), 0.0;
    "fract at 1.5": 1.5, |x| x.fract(), 1.0;
    "x % 2 at 5.3": 5.3, |x| x % c(2.0), 1.0;
    "max at a tie": 1.0, |x| x.max(c(1.0)), 1.0;
    "min at a tie": 1.0, |x| x.min(c(1.0)), 1.0;
    "max with NaN": 1.0, |x| x.max(c(f64::NAN)), 1.0;
    "min with NaN": 1.0, |x| x.min(c(f64::NAN)), 1.0;
    "hypot at the origin": 0.0, |x| x.hypot(c(0.0)), 0.0;
    "hypot at 1e200": 1e200, |x| x.hypot(c(0.0)), 1.0;
    "atan2 at the origin": 0.0, |x| x.atan2(c(0.0)), 0.0;
    "atan2 at 1e-200": 1e-200, |x| x.atan2(c(1.0)), 1.0;
    "copysign with a negative number": 1.0, |x| x.copysign(c(-1.0)), -1.0;
    "tanh at 400": 400.0, |x| x.tanh(), 0.0;
    "tanh at 800": 800.0, |x| x.tanh(), 0.0;
    "sqrt below the normal numbers": TINY, |x| x.sqrt() * c(ROOT_OF_TINY), 0.5;
    "asinh at 1e200": 1e200, |x| x.asinh() * c(1e200), 1.0;
    "acosh at 1e200": 1e200, |x| x.acosh() * c(1e200), 1.0;
    "atan at 2^520": 1.0 / ROOT_OF_TINY, |x| x.atan() * c(LARGE), TINY * LARGE;
    "a quotient at 1e-200": 1e-200, |x| c::<T>(1e-200) / x * c(1e-200), -1.0;
    "a numerator of zero at 1": 1.0, |x| (x * x - x) / x, 1.0;
}

/// The derivative of each function of the table at its singular point, by the conventions of
/// [`rules`](differentiation_interface_core::rules).
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// let backends = (AutoForwardDiff::default(), AutoReverseDiff::default());
/// test_differentiation(&backends, &families::singular_scenarios(), &Options::default()).assert();
/// ```
pub fn singular_scenarios() -> Vec<Scenario<Derivative, Singular, f64>> {
    TABLE
        .iter()
        .enumerate()
        .map(|(k, &(name, at, derivative))| {
            Scenario::derivative(Singular(k), at).named(name).expecting(vec![derivative]).prepared_at(at)
        })
        .collect()
}
