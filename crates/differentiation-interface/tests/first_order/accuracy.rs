//! Engines beside the arbitrary-precision table of the rules, and the fused product and sum in every engine.
//!
//! `differentiation-interface-core/tests/accuracy.rs` checks the whole table on the rules themselves; here a part of it is seen
//! through forward mode, the tape and compiled recordings, to second order.

use crate::support;
use crate::support::each_exact_engine;
use differentiation_interface::prelude::*;
use differentiation_interface::rules::*;
use num_traits::Float;

/// Rules that used to lose digits, by number.
const RULES: [&str; 16] = [
    "Asin",
    "Acos",
    "Atan",
    "Acosh",
    "Atanh",
    "Cbrt",
    "Erf",
    "Erfc",
    "Logistic",
    "LnGamma",
    "Powi(-3)",
    "Powc(0.1)",
    "Hypot",
    "Atan2",
    "Powf",
    "Over",
];

fn apply<T: Scalar<Base = f64>>(rule: usize, x: &[T]) -> T {
    match rule {
        0 => x[0].apply(Asin),
        1 => x[0].apply(Acos),
        2 => x[0].apply(Atan),
        3 => x[0].apply(Acosh),
        4 => x[0].apply(Atanh),
        5 => x[0].apply(Cbrt),
        6 => x[0].apply(Erf),
        7 => x[0].apply(Erfc),
        8 => x[0].apply(Logistic),
        9 => x[0].apply(LnGamma),
        10 => x[0].apply(Powi(-3)),
        11 => x[0].apply(Powc(0.1)),
        12 => x[0].apply2(x[1], Hypot),
        13 => x[0].apply2(x[1], Atan2),
        14 => x[0].apply2(x[1], Powf),
        _ => x[0].apply2(x[1], Over),
    }
}

/// The arguments and the entries that are well conditioned: column, nearest double.
fn rows(rule: &str) -> Vec<(Vec<f64>, Vec<(usize, f64)>)> {
    let number = |bits: &str| f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
    let table = include_str!("../../../differentiation-interface-core/tests/accuracy/table.txt");
    let own = table.lines().filter(|line| line.split(' ').next() == Some(rule));
    own.map(|line| {
        let (entries, arguments): (Vec<&str>, Vec<&str>) = line.split(' ').skip(1).partition(|word| word.contains(','));
        let entries = entries.iter().enumerate().filter_map(|(column, entry)| {
            let [nearest, _, condition] = entry.split(',').collect::<Vec<_>>()[..] else { return None };
            (condition.parse::<f64>().unwrap() < 10.0).then(|| (column, number(nearest)))
        });
        let entries = entries.collect();
        (arguments.iter().map(|word| number(word)).collect(), entries)
    })
    .collect()
}

/// Error in units in the last place; 0 for two infinities of one sign.
fn error(found: f64, expected: f64) -> f64 {
    if found == expected {
        return 0.0;
    }
    let magnitude = expected.abs().max(f64::MIN_POSITIVE);
    let unit = f64::from_bits(magnitude.to_bits() + 1) - magnitude;
    let error = (found - expected).abs() / unit;
    if error.is_nan() { f64::INFINITY } else { error }
}

#[test]
fn engines_keep_the_accuracy_of_the_rules_to_second_order() {
    let mut failures = Vec::new();
    let mut checked = 0;
    each_exact_engine!(|backend| {
        for (number, rule) in RULES.iter().enumerate() {
            let f = |x: &[_]| apply(number, x);
            let rows = rows(rule);
            assert!(rows.len() > 50, "{rule} is not in the table");
            let mut prepared = prepare_hessian(&f, &backend, &rows[0].0).unwrap();
            let mut worst: f64 = 0.0;
            for (x, entries) in rows {
                let (_, grad, hess) = prepared.value_gradient_and_hessian(&x).unwrap();
                // f f' f'', or f f_x f_y f_xx f_xy f_yy.
                let found: Vec<f64> = match x.len() {
                    1 => vec![f64::NAN, grad[0], hess[(0, 0)]],
                    _ => vec![f64::NAN, grad[0], grad[1], hess[(0, 0)], hess[(0, 1)], hess[(1, 1)]],
                };
                let value_is_precise = apply(number, &x).abs() >= f64::MIN_POSITIVE;
                for (column, expected) in entries {
                    // The digits of a subnormal quotient are lost, and with them those of its derivatives.
                    if column > 0 && (*rule != "Over" || value_is_precise) && expected.abs() >= f64::MIN_POSITIVE {
                        checked += 1;
                        let error = error(found[column], expected);
                        worst = worst.max(error);
                        if error > 4.5 {
                            let name = support::name_of(&backend);
                            failures.push(format!(
                                "{name}: {rule} at {x:?}: entry {column} is {:e}, expected {expected:e} ({error:.1} units)",
                                found[column]
                            ));
                        }
                    }
                }
            }
            println!("{:24} {rule:12} {worst:5.2}", support::name_of(&backend));
        }
    });
    assert!(checked > 3000, "{checked} entries");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// The exact product as a sum of two numbers (an error-free transformation), and a function of it.
fn product_error<T: Float>(x: T, y: T) -> T {
    x.mul_add(y, -(x * y))
}

#[test]
fn mul_add_is_fused_in_the_value() {
    let expected = product_error(0.1f64, 0.3);
    assert!(expected != 0.0 && expected.abs() < 1e-17);
    each_exact_engine!(|backend| {
        // The exact derivative of the exact product less that of the product is 0.
        let (value, grad) = value_and_gradient(&|x: &[_]| product_error(x[0], x[1]), &backend, &[0.1, 0.3]).unwrap();
        assert_eq!((value, &grad[..]), (expected, &[0.0, 0.0][..]), "{}", support::name_of(&backend));
        let hess = value_gradient_and_hessian(&|x: &[_]| product_error(x[0], x[1]), &backend, &[0.1, 0.3]).unwrap();
        assert_eq!(hess.0, expected, "{}", support::name_of(&backend));
        let any = AnyBackend::from(backend);
        assert_eq!(
            value_and_gradient(&|x: &[_]| product_error(x[0], x[1]), &any, &[0.1, 0.3]).unwrap().0,
            expected,
            "{any:?}"
        );
        assert_eq!(
            value_gradient_and_hessian(&|x: &[_]| product_error(x[0], x[1]), &any, &[0.1, 0.3]).unwrap().0,
            expected,
            "{any:?}"
        );
        // Prepared at one point, called at another one.
        let mut prepared = prepare_gradient(&|x: &[_]| product_error(x[0], x[1]), &backend, &[1.0, 1.0]).unwrap();
        for (x, y) in [(0.1f64, 0.3), (1.0 / 3.0, 1e10 / 7.0), (-0.7, 0.9), (1e200, 1e-200 / 3.0)] {
            let found = prepared.value_and_gradient(&[x, y]).unwrap().0;
            assert_eq!(found.to_bits(), product_error(x, y).to_bits(), "{}: {x:e}, {y:e}", support::name_of(&backend));
        }
    });
}

#[test]
fn mul_add_has_the_derivatives_of_product_and_sum() {
    fn f<T: Real>(x: &[T]) -> T {
        Float::mul_add(x[0], x[1], x[2]) + Float::mul_add(x[0], T::constant(3.0), T::constant(0.5)) * x[2]
    }
    each_exact_engine!(|backend| {
        let x = [0.1, 0.3, 0.7];
        let (value, grad, hess) = value_gradient_and_hessian(&|x: &[_]| f(x), &backend, &x).unwrap();
        assert_eq!(value, f(&x));
        let inner = 0.1f64.mul_add(3.0, 0.5);
        let expected = [0.3 + 3.0 * 0.7, 0.1, 1.0 + inner];
        for (found, expected) in grad.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        let expected = [[0.0, 1.0, 3.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]];
        for i in 0..3 {
            for j in 0..3 {
                assert_eq!(hess[(i, j)], expected[i][j], "{} {i} {j}", support::name_of(&backend));
            }
        }
    });
}

/// Horner's scheme with all rounding errors kept (Graillat, Langlois, Louvet), which works only if `mul_add` is fused.
fn compensated_horner<T: Real>(coefficients: &[f64], x: T) -> T {
    let (mut sum, mut error) = (T::constant(0.0), T::constant(0.0));
    for &c in coefficients {
        let product = sum * x;
        let lost = Float::mul_add(sum, x, -product);
        let next = product + c;
        let part = next - product;
        let lost_too = (product - (next - part)) + (-part + c);
        error = Float::mul_add(error, x, lost + lost_too);
        sum = next;
    }
    sum + error
}

#[test]
fn error_free_transformations_work_on_active_numbers() {
    // (x - 1)^7 expanded, beside its root: 1e-14 and less, where Horner's scheme has errors of 1e-14.
    let coefficients = [1.0, -7.0, 21.0, -35.0, 35.0, -21.0, 7.0, -1.0];
    each_exact_engine!(|backend| {
        let f = |x: _| compensated_horner(&coefficients, x);
        let mut prepared = prepare_derivative(&f, &backend, 2.0).unwrap();
        for x in [1.0 + 1.0 / 128.0, 1.011, 0.99] {
            let (value, derivative) = prepared.value_and_derivative(x).unwrap();
            let exact = (x - 1.0f64).powi(7);
            assert_eq!(
                value.to_bits(),
                compensated_horner(&coefficients, x).to_bits(),
                "{}",
                support::name_of(&backend)
            );
            assert!((value - exact).abs() < 1e-15 * exact.abs(), "{value:e} {exact:e}");
            assert!((derivative - 7.0 * (x - 1.0f64).powi(6)).abs() < 1e-13, "{derivative:e}");
        }
    });
}

#[test]
fn mul_add_is_fused_in_single_precision_too() {
    let expected = product_error(0.1f32, 0.3f32);
    assert!(expected != 0.0);
    assert_eq!(
        value_and_gradient(&|x: &[_]| product_error(x[0], x[1]), &AutoForwardDiff::default(), &[0.1f32, 0.3])
            .unwrap()
            .0,
        expected
    );
    assert_eq!(
        value_and_gradient(&|x: &[_]| product_error(x[0], x[1]), &AutoReverseDiff::default(), &[0.1f32, 0.3])
            .unwrap()
            .0,
        expected
    );
    assert_eq!(
        value_and_gradient(&|x: &[_]| product_error(x[0], x[1]), &AutoReverseDiff::compiled(), &[0.1f32, 0.3])
            .unwrap()
            .0,
        expected
    );
}
