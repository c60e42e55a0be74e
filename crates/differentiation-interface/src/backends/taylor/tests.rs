//! Derivatives of orders 0 to 6 against closed forms, by series and by nesting.

use super::Series;
use crate::prelude::*;
use differentiation_interface_core::rules::sin;

/// Within a few units in the last place of the largest term.
fn close(found: f64, expected: f64, what: &str) {
    let tolerance = 1e-12 * expected.abs();
    assert!(
        (found - expected).abs() <= tolerance || found == expected || found.is_nan() && expected.is_nan(),
        "{what}: is {found:e}, expected {expected:e}"
    );
}

/// A function and its derivatives in closed form.
trait Known {
    fn value<T: Real>(x: T) -> T;
    fn derivative(x: f64, order: u32) -> f64;
}

/// All orders with one backend.
macro_rules! orders {
    ($F:ident, $backend:expr, $x:expr, $name:expr; $($order:literal)*) => {$(
        let found = nth_derivative(&$F::value, $backend, $x, Order::<$order>).expect("the function is differentiable");
        close(found, $F::derivative($x, $order), &format!("{} of order {} at {} of {}", $name, $order, $x, stringify!($F)));
    )*};
}

macro_rules! known {
    ($($F:ident $test:ident: $x:ident => $value:expr; ($at:ident, $n:ident) => $derivative:expr; [$($point:expr),*])*) => {$(
        struct $F;
        impl Known for $F {
            fn value<T: Real>($x: T) -> T {
                $value
            }
            fn derivative($at: f64, $n: u32) -> f64 {
                $derivative
            }
        }
        #[test]
        fn $test() {
            for x in [$($point),*] {
                orders!($F, &AutoTaylor, x, "taylor"; 0 1 2 3 4 5 6 12);
                orders!($F, &AutoForwardDiff::default(), x, "forward_diff"; 0 1 2 3);
            }
        }
    )*};
}

/// n (n-1) … (n-k+1).
fn falling(n: f64, k: u32) -> f64 {
    (0..k).fold(1.0, |product, i| product * (n - i as f64))
}

/// sin, cos, -sin, -cos, ...
fn wave(x: f64, n: u32) -> f64 {
    [x.sin(), x.cos(), -x.sin(), -x.cos()][n as usize % 4]
}

known! {
    Exponential exponential_is_right: x => x.exp(); (x, _n) => x.exp(); [0.0, 1.5, -3.0, 700.0, -650.0]
    Sine sine_is_right: x => x.sin(); (x, n) => wave(x, n); [0.0, 1.5, -3.0, 1e9]
    Cosine cosine_is_right: x => x.cos(); (x, n) => wave(x, n + 1); [0.0, 1.5, -3.0, 1e9]
    Reciprocal reciprocal_is_right: x => 1.0 / x; (x, n) => falling(-1.0, n) / x.powi(n as i32 + 1); [1.0, -2.0, 1e20, -1e-15]
    Fifth fifth_power_is_right: x => x.powi(5); (x, n) => if n > 5 { 0.0 } else { falling(5.0, n) * x.powi(5 - n as i32) }; [0.0, 1.0, -2.0, 1e30]
    Root root_is_right: x => x.powc(2.5); (x, n) => falling(2.5, n) * x.powf(2.5 - n as f64); [1.0, 3.0, 1e20]
    Logarithm logarithm_is_right: x => x.ln(); (x, n) => if n == 0 { x.ln() } else { falling(-1.0, n - 1) / x.powi(n as i32) }; [1.5, 1e-10, 1e20]
    Square square_root_is_right: x => x.sqrt(); (x, n) => falling(0.5, n) * x.powf(0.5 - n as f64); [2.0, 1e-4, 1e12]
    Quotient quotient_is_right: x => x / (1.0 + x); (x, n) => if n == 0 { x / (1.0 + x) } else { -falling(-1.0, n) / (1.0 + x).powi(n as i32 + 1) }; [0.0, 1.0, 4.0]
    Product product_is_right: x => x * x.exp(); (x, n) => (x + n as f64) * x.exp(); [0.0, 1.0, -2.5, 100.0]
    Hyperbolic hyperbolic_sine_is_right: x => x.sinh(); (x, n) => if n.is_multiple_of(2) { x.sinh() } else { x.cosh() }; [0.0, 1.0, -2.5]
}

#[test]
fn composed_functions_agree_with_nested_dual_numbers() {
    fn composed<T: Real>(x: T) -> T {
        let a = (x.sin() + 2.0).ln() * x.tanh() + x.tan().atan2(1.0 + x * x) + (x * x + 1.0).sqrt().erf();
        let b = x.abs().powf(x + 1.5) + x.hypot(2.0 * x + 1.0) + x.asin() * x.acosh_of() + x.cbrt() / (3.0 - x);
        a * b + x.logistic() + x.max(0.25 * x) + x % 0.3 + (x + 2.0).ln_gamma() + x.exp_m1() + x.atanh() - x.softplus()
    }
    /// Beside the methods of `Real`.
    trait More: Real {
        fn acosh_of(self) -> Self {
            (self + 1.5).acosh() + (self * self).asinh()
        }
    }
    impl<T: Real> More for T {}
    macro_rules! agree {
        ($($order:literal)*) => {$(
            let series = nth_derivative(&composed, &AutoTaylor, 0.4, Order::<$order>).expect("differentiable");
            let nested = nth_derivative(&composed, &AutoForwardDiff::default(), 0.4, Order::<$order>).expect("differentiable");
            assert!((series - nested).abs() <= 1e-10 * nested.abs(), "order {}: {series} and {nested}", $order);
        )*};
    }
    agree!(0 1 2 3 4);
}

#[test]
fn every_engine_that_nests_gives_the_third_derivative() {
    fn f<T: Real>(x: T) -> T {
        x.sin() * x.exp()
    }
    // (sin x eˣ)‴ = 2 eˣ (cos x - sin x)
    let expected = 2.0 * 0.5f64.exp() * (0.5f64.cos() - 0.5f64.sin());
    close(nth_derivative(&f, &AutoForwardDiff::default(), 0.5, Order::<3>).unwrap(), expected, "forward");
    close(nth_derivative(&f, &AutoReverseDiff::default(), 0.5, Order::<3>).unwrap(), expected, "reverse");
    #[cfg(feature = "compiled")]
    close(nth_derivative(&f, &AutoReverseDiff::compiled(), 0.5, Order::<3>).unwrap(), expected, "compiled");
    close(nth_derivative(&f, &AutoTaylor, 0.5, Order::<3>).unwrap(), expected, "taylor");
    // Each order of differences loses about four digits.
    let third = nth_derivative(&f, &AutoFiniteDiff::central(), 0.5, Order::<3>).unwrap();
    assert!((third / expected - 1.0).abs() < 1e-3, "differences: {third}, expected {expected}");
}

#[test]
fn coefficients_of_several_outputs_have_the_shape_of_the_output() {
    fn both<T: Real>(x: T) -> [T; 2] {
        [x * x, x.exp()]
    }
    let found = taylor_coefficients(&both, &AutoTaylor, 0.0, Order::<3>).unwrap();
    assert_eq!(found, [[0.0, 1.0], [0.0, 1.0], [1.0, 0.5], [0.0, 1.0 / 6.0]]);
    assert_eq!(nth_derivative(&both, &AutoTaylor, 0.0, Order::<2>).unwrap(), [2.0, 1.0]);
}

#[test]
fn a_series_runs_inside_another_differentiation_and_the_other_way_round() {
    // d/dk of the second derivative of sin(k x) is -2 k sin(k x) - k² x cos(k x).
    fn bend<T: Real>(k: T) -> T {
        let wave = |x: Series<T, 2>| sin(x * lift(&AutoTaylor, &k));
        nth_derivative(&wave, &AutoTaylor, &T::constant(0.5), Order::<2>).unwrap()
    }
    let found = derivative(&bend, &AutoForwardDiff::default(), 3.0).unwrap();
    close(found, -6.0 * 1.5f64.sin() - 4.5 * 1.5f64.cos(), "forward over series");
}

#[test]
fn numbers_of_another_call_are_refused() {
    use std::cell::Cell;
    let kept = Cell::new(None);
    let keep = |x: Series<f64, 2>| {
        kept.set(Some(x));
        x * x
    };
    nth_derivative(&keep, &AutoTaylor, 1.0, Order::<2>).unwrap();
    let foreign = kept.get().unwrap();
    let uses = move |x: Series<f64, 2>| x * foreign;
    let error = nth_derivative(&uses, &AutoTaylor, 1.0, Order::<2>).unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::ForeignNumber);
}

/// The square root by a rule of the user.
pub(super) struct RootByRule;
impl CustomRule for RootByRule {
    const NAME: &'static str = "root";
    const GIVEN: Halves = Halves::Pushforward;
    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.push(x[0].sqrt());
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, _x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        dy[0] = dx[0] / (y[0] + y[0]);
    }
}

#[test]
fn custom_rules_are_differentiated_to_any_order() {
    let root = Custom::new(RootByRule);
    let f = |x: Series<f64, 4>| root.number(&[x]);
    let found = nth_derivative(&f, &AutoTaylor, 4.0, Order::<4>).unwrap();
    close(found, falling(0.5, 4) * 4f64.powf(-3.5), "root");
}

/// The exponential function by a rule whose derivative calls the rule.
struct OwnSlope;
impl CustomRule for OwnSlope {
    const NAME: &'static str = "exponential";
    const GIVEN: Halves = Halves::Pushforward;
    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.push(x[0].exp());
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        dy[0] = Custom::new(OwnSlope).number(&[x[0]]) * dx[0];
    }
}

#[test]
fn a_custom_rule_may_be_its_own_derivative() {
    // exp(2 t) has the coefficients 2ᵏ / k!, those of the third derivative are 8 times as large.
    let f = |x: Series<f64, 4>| Custom::new(OwnSlope).number(&[x * 2.0]);
    let found = taylor_coefficients(&f, &AutoTaylor, 0.0, Order::<4>).unwrap();
    for (found, expected) in found.iter().zip([1.0, 2.0, 2.0, 4.0 / 3.0, 2.0 / 3.0]) {
        close(*found, expected, "exponential");
    }
    let nested = |x: Series<f64, 2>| {
        let inner = |y| Custom::new(OwnSlope).number(&[y * 2.0]);
        nth_derivative(&inner, &AutoTaylor, &x, Order::<3>).unwrap()
    };
    close(nth_derivative(&nested, &AutoTaylor, 0.0, Order::<2>).unwrap(), 32.0, "nested");
}

#[test]
fn second_derivatives_near_overflow_are_those_of_forward_mode() {
    macro_rules! second {
        ($($f:ident)*) => {$(
            fn $f<T: Real>(x: T) -> T {
                x.$f()
            }
            for x in [9e307, -1.7e308, 1e160, f64::MAX] {
                let forward = nth_derivative(&$f, &AutoForwardDiff::default(), x, Order::<2>).unwrap();
                let found = taylor_coefficients(&$f, &AutoTaylor, x, Order::<3>).unwrap();
                assert_eq!(found[1], derivative(&$f, &AutoForwardDiff::default(), x).unwrap(), "{} at {x}", stringify!($f));
                assert_eq!((&found[2..], forward), (&[0.0; 2][..], 0.0), "{} at {x}", stringify!($f));
            }
        )*};
    }
    second!(atan erf erfc);
}
