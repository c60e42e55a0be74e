//! Second derivatives in one variable by the numbers of forward mode, which hold both derivatives: against closed forms, and against nested dual
//! numbers at points where rules overflow, underflow or have no derivative.

use differentiation_interface::backends::forward_diff::SecondDual;
use differentiation_interface::error::ErrorKind;
use differentiation_interface::prelude::*;
use num_traits::Float;

/// Closed forms of the first and the second derivative, at points where no intermediate number overflows.
#[test]
fn derivatives_are_those_by_hand() {
    fn logistic<T: Real>(x: T) -> [T; 3] {
        let e = (-x).exp();
        [1.0 / (1.0 + e), e / (1.0 + e), x / (x * x + 1.0)]
    }
    let backend = AutoForwardDiff::default();
    for x in [-30.0, -2.0, -0.5, 0.25, 1.0, 3.0, 40.0] {
        let (y, der, der2) = value_derivative_and_second_derivative(&logistic, &backend, x).unwrap();
        let (e, s, w) = ((-x).exp(), 1.0 / (1.0 + (-x).exp()), 1.0 + x * x);
        let slope = e * s * s;
        let bend = slope * (e - 1.0) * s;
        for (found, expected) in [
            (y, [s, e * s, x / w]),
            (der, [slope, -slope, (1.0 - x * x) / (w * w)]),
            (der2, [bend, -bend, 2.0 * x * (x * x - 3.0) / (w * w * w)]),
        ] {
            for (k, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                assert!(
                    (found - expected).abs() <= 1e-14 * expected.abs().max([0.0, 1.0, 1.0][k]),
                    "{k} at {x}: {found}, {expected}"
                );
            }
        }
    }
}

macro_rules! same_as_nested {
    ($($name:literal: |$x:ident| $f:expr;)*) => {$({
        fn f<T: Real>($x: T) -> T {
            $f
        }
        let backend = AutoForwardDiff::default();
        let mut prepared = prepare_second_derivative(&f, &backend, 1.0).unwrap();
        for x in [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.0, 1e200, -1e200, 1e-200, 5e-324, 400.0, -800.0, f64::INFINITY, f64::NAN] {
            let nested = |order| match order {
                1 => nth_derivative(&f, &backend, x, Order::<1>).unwrap(),
                _ => nth_derivative(&f, &backend, x, Order::<2>).unwrap(),
            };
            let expected = (f(x), nested(1), nested(2));
            let close = |a: f64, b: f64| a.to_bits() == b.to_bits() || a == b || (a.is_nan() && b.is_nan())
                || (a - b).abs() <= 1e-14 * b.abs();
            for found in [
                value_derivative_and_second_derivative(&f, &backend, x).unwrap(),
                prepared.value_derivative_and_second_derivative(x).unwrap(),
            ] {
                assert!(
                    close(found.0, expected.0) && close(found.1, expected.1) && close(found.2, expected.2),
                    "{} at {x:e}: {found:?}, nested {expected:?}", $name,
                );
            }
        }
    })*};
}

#[test]
fn singular_points_are_those_of_nested_numbers() {
    same_as_nested! {
        "sqrt": |x| x.sqrt();
        "cbrt": |x| x.cbrt();
        "exp": |x| x.exp();
        "ln": |x| x.ln();
        "sin": |x| x.sin();
        "tan": |x| x.tan();
        "asin": |x| x.asin();
        "acosh": |x| x.acosh();
        "atanh": |x| x.atanh();
        "tanh": |x| x.tanh();
        "recip": |x| x.recip();
        "powi 0": |x| x.powi(0);
        "powi 1": |x| x.powi(1);
        "powi 2": |x| x.powi(2);
        "powi -2": |x| x.powi(-2);
        "x to the x": |x| x.powf(x);
        "floor": |x| x.floor();
        "maximum": |x| Float::max(x, x * x);
        "hypot": |x| x.hypot(x + x);
        "atan2": |x| (x * x).atan2(x);
        "root of a square": |x| (x * x).sqrt();
        "root of a difference": |x| (x - x).sqrt();
        "reciprocal square": |x| 1.0 / (x * x);
        "divided by a constant": |x| x / 3.0;
        "divided by zero": |x| x / 0.0;
        "Gauss": |x| (-1.0 / (x * x)).exp();
    }
}

/// A quotient has formulas of its own. Nested numbers have NaN where the reciprocal of the denominator, or its square, overflows.
#[test]
fn quotients_are_right_at_tiny_denominators() {
    fn quotients<T: Real>(x: T) -> [T; 4] {
        [x / x, x.sin() / x, 0.0 / x, (x * 3.0) / (x * 2.0)]
    }
    for x in [1e-200, -1e-200, 1e-310, 5e-324] {
        let (y, der, der2) =
            value_derivative_and_second_derivative(&quotients, &AutoForwardDiff::default(), x).unwrap();
        let half = if x == 5e-324 { 1.5 } else { y[3] };
        assert_eq!((y, der.map(f64::abs)), ([1.0, 1.0, 0.0, half], [0.0; 4]), "at {x:e}");
        // The sine is the rounded x, and its second derivative -sin x the rounded -x.
        assert_eq!(der2.map(|d| d + 0.0), [0.0, -1.0, 0.0, 0.0], "at {x:e}");
    }
}

struct Square;
impl CustomRule for Square {
    const NAME: &'static str = "square";
    const GIVEN: Halves = Halves::Pushforward;
    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.extend(x.iter().map(|x| x * x));
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        for ((dy, &dx), &x) in dy.iter_mut().zip(dx).zip(x) {
            *dy = dx * x + dx * x;
        }
    }
}

#[test]
fn custom_rules_have_second_derivatives() {
    let square = Custom::new(Square);
    // (sin² x, x⁴) by the rule; (sin² x)″ = 2 cos 2x.
    struct BySquare(Custom<Square>);
    impl<T: Real> Function<T> for BySquare
    where
        T: Scalar<Base = f64>,
    {
        type Output = Vec<T>;
        fn call(&self, x: &T) -> Vec<T> {
            self.0.call(&[x.sin(), *x * *x])
        }
    }
    let f = BySquare(square);
    let x = 0.7_f64;
    let (y, der, der2) = value_derivative_and_second_derivative(&f, &AutoForwardDiff::default(), x).unwrap();
    let expected =
        [[x.sin().powi(2), x.powi(4)], [(2.0 * x).sin(), 4.0 * x.powi(3)], [2.0 * (2.0 * x).cos(), 12.0 * x * x]];
    for (found, expected) in [y, der, der2].iter().zip(expected) {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{found:?}, {expected:?}");
    }
}

#[test]
fn numbers_of_an_outer_differentiation_are_lifted_by_the_pair() {
    let backend = AutoForwardDiff::default();
    let pair = SecondOrder(backend, backend);
    fn times_cube<T: Real>(x: T, y: T) -> T {
        x * y * y * y
    }
    // ∂²/∂y² (x y³) = 6 x y at y = x: 6 x², whose derivative is 12 x.
    let inner = |x| second_derivative(&|y| times_cube(lift(&pair, &x), y), &backend, &x).unwrap();
    assert_eq!(derivative(&inner, &backend, 2.0).unwrap(), 24.0);
}

#[test]
fn numbers_of_an_earlier_call_are_refused() {
    let kept = std::cell::Cell::new(None);
    let f = |x: SecondDual<f64>| {
        let old = kept.replace(Some(x)).unwrap_or(x);
        x * old
    };
    let backend = AutoForwardDiff::default();
    assert_eq!(second_derivative(&f, &backend, 3.0).unwrap(), 2.0);
    let error = second_derivative(&f, &backend, 3.0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignNumber);
    assert!(error.to_string().starts_with("second_derivative with forward_diff"), "{error}");
}
