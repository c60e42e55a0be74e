//! Powers with a constant exponent to order six, by nested engines and by series, at zero, at a negative and at a positive base: they are limits where
//! these exist.

use differentiation_interface::prelude::*;
use differentiation_interface::rules::{Powc, Powf, Powi};
use differentiation_interface::scalar::Base;

/// A power in three spellings: of a number that is constant, with a constant exponent, with an integer one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spelling {
    Number,
    Plain,
    Integer,
}
#[derive(Clone, Copy, Debug, PartialEq)]
struct Power(Spelling, f64);

impl<T: Scalar> Function<T> for Power {
    type Output = T;
    fn call(&self, x: &T) -> T {
        match self.0 {
            Spelling::Number => x.apply2(T::constant(T::Base::from_f64(self.1)), Powf),
            Spelling::Plain => x.apply(Powc(self.1)),
            Spelling::Integer => x.apply(Powi(self.1 as i32)),
        }
    }
}

const POINTS: [f64; 3] = [0.0, -2.0, 1.5];

/// The spellings of all exponents.
fn powers() -> impl Iterator<Item = Power> {
    let of = |c: f64| [Spelling::Number, Spelling::Plain, Spelling::Integer].map(|spelling| Power(spelling, c));
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 2.5, 0.5, -1.0]
        .into_iter()
        .flat_map(of)
        .filter(|power| power.0 != Spelling::Integer || power.1.fract() == 0.0)
}

/// n (n-1) … (n-k+1) xⁿ⁻ᵏ, 0 where a factor is.
fn expected(n: f64, x: f64, k: usize) -> f64 {
    let factor = (0..k).fold(1.0, |product, i| product * (n - i as f64));
    if factor == 0.0 { 0.0 } else { factor * x.powf(n - k as f64) }
}

/// Equal up to rounding; where there is no limit, not finite.
fn check(what: &str, power: Power, x: f64, order: usize, found: f64, tolerance: f64) -> Option<String> {
    let expected = expected(power.1, x, order);
    let right =
        if expected.is_finite() { (found - expected).abs() <= tolerance * expected.abs() } else { !found.is_finite() };
    (!right).then(|| format!("{what}: {power:?} at {x}, order {order}: {found}, expected {expected}"))
}

/// Checks one backend in double and in single precision, to the orders given.
macro_rules! orders {
    ($failures:ident, $name:literal, $backend:expr, $($order:literal)*) => {$(
        for power in powers() {
            for x in POINTS {
                let found = nth_derivative(&power, &$backend, x, Order::<$order>).unwrap();
                $failures.extend(check($name, power, x, $order, found, 1e-14));
                let single = nth_derivative(&power, &$backend, &(x as f32), Order::<$order>).unwrap();
                $failures.extend(check(concat!($name, ", single"), power, x, $order, f64::from(single), 1e-5));
            }
        }
    )*};
}

#[test]
fn derivatives_of_powers_are_limits_to_order_six() {
    let mut failures: Vec<String> = Vec::new();
    orders!(failures, "forward", AutoForwardDiff::default(), 1 2 3 4 5 6);
    orders!(failures, "tape", AutoReverseDiff::tape(), 1 2 3 4 5 6);
    orders!(failures, "compiled", AutoReverseDiff::compiled(), 1 2 3 4 5);
    // A recording of nested numbers does not know that its exponent is constant: the factor 0 of a derivative above the degree meets an
    // infinite power.
    let is_limit = |failure: &String| failure.starts_with("compiled") && failure.contains("1.0) at 0, order 5");
    // In double and in single precision, and no other.
    let count = failures.len();
    failures.retain(|failure| !is_limit(failure));
    assert_eq!(count - failures.len(), 2);
    orders!(failures, "Taylor", AutoTaylor, 1 2 3 4 5 6);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Second derivatives by a pair of engines, and forward mode twice over them.
macro_rules! pairs {
    ($failures:ident, $($name:literal $outer:expr, $inner:expr;)*) => {$(
        for power in powers() {
            for x in POINTS {
                let backend = SecondOrder($outer, $inner);
                let found = second_derivative(&power, &backend, x).unwrap();
                $failures.extend(check($name, power, x, 2, found, 1e-14));
                // The third and the fourth derivative.
                let third = |x| second_derivative(&power, &backend, &x).unwrap();
                let found = value_derivative_and_second_derivative(&third, &AutoForwardDiff::default(), x).unwrap();
                $failures.extend(check($name, power, x, 3, found.1, 1e-14));
                $failures.extend(check($name, power, x, 4, found.2, 1e-14));
            }
        }
    )*};
}

#[test]
fn pairs_differentiated_twice_more_are_limits() {
    let mut failures: Vec<String> = Vec::new();
    let (forward, tape, compiled) = (AutoForwardDiff::default(), AutoReverseDiff::tape(), AutoReverseDiff::compiled());
    pairs! {
        failures,
        "forward over tape" forward, tape;
        "tape over forward" tape, forward;
        "compiled over forward" compiled, forward;
        "compiled over tape" compiled, tape;
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
