//! Derivatives of functions whose numbers on the way are so large or small that the derivative of one step alone would overflow or underflow.

use crate::support::{assert_close, each_exact_engine, name_of};
use differentiation_interface::prelude::*;

/// How the reciprocal of a number is written. Each differentiates by a rule of its own.
const WAYS: usize = 7;

/// ln(1/y).
fn log_of_reciprocal<T: Real>(way: usize, y: T) -> T {
    match way {
        0 => (1.0 / y).ln(),
        1 => y.recip().ln(),
        2 => y.powi(-1).ln(),
        3 => y.powi(-2).ln() * 0.5,
        4 => y.powf(T::constant(-0.5)).ln() * 2.0,
        5 => y.powi(-7).ln() / 7.0,
        // The numerator depends on the point too, and the quotient of its derivative is smaller than any number.
        _ => (y.sqrt() / (y * y.sqrt())).ln(),
    }
}

/// ln(1/(eᵃ + eᵇ)): the derivatives are the negative weights eᵃ/(eᵃ + eᵇ) and eᵇ/(eᵃ + eᵇ).
fn negative_log_sum<T: Real>(way: usize, x: &[T]) -> T {
    log_of_reciprocal(way, x[0].exp() + x[1].exp())
}

/// ln(1/(1 + e⁻ᶻ)).
fn log_logistic<T: Real>(way: usize, z: T) -> T {
    log_of_reciprocal(way, 1.0 + (-z).exp())
}

#[test]
fn reciprocals_of_large_and_small_numbers_have_right_derivatives() {
    let weight = 1.0f64.exp() / (1.0 + 1.0f64.exp());
    each_exact_engine!(|backend| {
        for way in 0..WAYS {
            // e⁷⁰⁹ is the largest power that is a number, and powers of y reach it earlier. The last way has the derivatives ±0.5 y⁻² by
            // its numerator and divisor, which the tape keeps.
            let largest = match way {
                3 => 340.0,
                5 => 100.0,
                6 => 340.0,
                _ => 700.0,
            };
            for exponent in [-largest, -0.5 * largest, -0.1 * largest, 0.1 * largest, 0.5 * largest, largest - 1.0] {
                let what = format!("{}: way {way} at {exponent}", name_of(&backend));
                let point = [exponent, exponent + 1.0];
                let found = gradient(&|x: &[_]| negative_log_sum(way, x), &backend, &point).unwrap();
                assert_close(&what, &found, &[weight - 1.0, -weight], 1e-12);
                if exponent < 0.0 {
                    let found = derivative(&|z| log_logistic(way, z), &backend, exponent).unwrap();
                    assert_close(&what, &[found], &[1.0 / (1.0 + exponent.exp())], 1e-12);
                }
            }
        }
    });
}

#[test]
fn prepared_calls_move_between_ordinary_and_extreme_numbers() {
    let weight = 1.0f64.exp() / (1.0 + 1.0f64.exp());
    each_exact_engine!(|backend| {
        let f = |x: &[_]| negative_log_sum(0, x);
        let mut prepared = prepare_gradient(&f, &backend, &[0.0, 1.0]).unwrap();
        let mut found = [0.0; 2];
        for exponent in [0.0, 400.0, 1.0, -400.0].into_iter().cycle().take(200) {
            prepared.gradient_into(&mut found, &[exponent, exponent + 1.0]).unwrap();
            assert_close(name_of(&backend), &found, &[weight - 1.0, -weight], 1e-12);
        }
    });
}

fn single_log_logistic<T: Real<f32>>(z: T) -> T {
    (1.0 / (1.0 + (-z).exp())).ln()
}

#[test]
fn single_precision_reaches_as_far_as_its_numbers() {
    each_exact_engine!(|backend| {
        for z in [-80.0f32, -60.0, -10.0] {
            let found = derivative(&single_log_logistic, &backend, &z).unwrap();
            let expected = 1.0 / (1.0 + f64::from(z).exp());
            assert_close(name_of(&backend), &[f64::from(found)], &[expected], 1e-5);
        }
    });
}

/// Second derivatives have less room: those of ln(1/(eᵃ + eᵇ)) are ±w (1 - w) with the weight w of either.
#[test]
fn curvatures_at_large_and_small_numbers_are_right() {
    let weight = 1.0f64.exp() / (1.0 + 1.0f64.exp());
    let curvature = weight * (1.0 - weight);
    each_exact_engine!(|backend| {
        for exponent in [-100.0, 100.0] {
            let point = [exponent, exponent + 1.0];
            let found = hessian(&|x: &[_]| negative_log_sum(0, x), &backend, &point).unwrap();
            let what = format!("{} at {exponent}", name_of(&backend));
            assert_close(&what, found.as_slice(), &[-curvature, curvature, curvature, -curvature], 1e-12);
        }
    });
    // Hyper-dual numbers multiply by both factors too.
    for exponent in [-400.0, 400.0] {
        let at = [exponent, exponent + 1.0];
        let found = hessian(&|x: &[_]| negative_log_sum(0, x), &AutoForwardDiff::default(), &at).unwrap();
        assert_close("hyper-duals", found.as_slice(), &[-curvature, curvature, curvature, -curvature], 1e-12);
    }
}

/// 0 / y at a y whose reciprocal is infinite.
#[test]
fn divisors_below_the_smallest_normal_number() {
    let tiny = 1e-310f64;
    let backend = AutoForwardDiff::default();
    assert_eq!(derivative(&|y: _| nothing_over(y), &backend, tiny).unwrap(), 0.0);
    assert_eq!(derivative(&|y: _| nothing_over(y), &AutoReverseDiff::tape(), tiny).unwrap(), 0.0);
}

/// A program has one form of each rule, the one with the reciprocal, whatever the point. The limits are those of the book.
#[test]
fn programs_multiply_by_reciprocals_where_these_are_infinite() {
    let of_program = |x: f64| {
        let mut prepared = prepare_derivative(&|y: _| nothing_over(y), &AutoReverseDiff::compiled(), 0.5).unwrap();
        let quotient = prepared.derivative(x).unwrap();
        let mut prepared =
            prepare_derivative(&|x: _| constant_power(x, -1.5), &AutoReverseDiff::compiled(), 0.5).unwrap();
        (quotient, prepared.derivative(x).unwrap())
    };
    assert_eq!(of_program(5.7e-309), (0.0, f64::NEG_INFINITY));
    assert!(of_program(5.5e-309).0.is_nan());
    // The power is that of the positive number, since -1.5 is no integer.
    assert_eq!(
        derivative(&|x: _| constant_power(x, -1.5), &AutoForwardDiff::default(), -0.0).unwrap(),
        f64::NEG_INFINITY
    );
    assert_eq!(of_program(-0.0).1, f64::INFINITY);
}

fn nothing_over<T: Real>(y: T) -> T {
    0.0 / y
}

#[test]
fn powers_of_negative_numbers_keep_their_sign_where_exponents_have_no_units() {
    // y x^(y-1) with an odd y - 1, which no number is.
    each_exact_engine!(|backend| {
        let what = name_of(&backend);
        for y in [-1e17, 1e17, -2f64.powi(53), 2f64.powi(53)] {
            let found = gradient(&|x: &[_]| power(x), &backend, &[-1.0, y]).unwrap();
            assert_eq!(found[0], -y, "{what}: x to the {y}");
            let found = derivative(&|x| constant_power(x, y), &backend, -1.0).unwrap();
            assert_eq!(found, -y, "{what}: x to the constant {y}");
        }
        // An odd exponent.
        let found = gradient(&|x: &[_]| power(x), &backend, &[-1.0, 9_007_199_254_740_991.0]).unwrap();
        assert_eq!(found[0], 9_007_199_254_740_991.0, "{what}");
    });
}

fn power<T: Real>(x: &[T]) -> T {
    x[0].powf(x[1])
}
fn constant_power<T: Real>(x: T, y: f64) -> T {
    x.powf(T::constant(y))
}
