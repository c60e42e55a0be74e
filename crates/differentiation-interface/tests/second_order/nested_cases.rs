//! The nested cases of the counterpart (perturbation confusion among them), by every pair of engines.
//!
//! Functions are written by hand, one per case name; numbers come from `data/cases.json`.

use crate::support::assert_close;
use crate::support::data::{flat, number, run};
use differentiation_interface::prelude::*;
use serde_json::Value;

fn linear_in_k<T: Real>(x: &[T], k: T) -> [T; 2] {
    [x[0] + 2.0 * x[1] + 5.0 * k * x[0] + 6.0 * k * x[1], 3.0 * x[0] + 4.0 * x[1] + 7.0 * k * x[0] + 8.0 * k * x[1]]
}
fn lagrangian<T: Real>(q: &[T], v: &[T]) -> T {
    0.5 * (v[0] * v[0] + v[1] * v[1]) - 9.8 * q[1]
}

/// The nested cases for one pair of engines.
macro_rules! check_nested {
    ($outer:expr, $inner:expr, $tolerance:expr, $name:expr, $input:expr, $expected:expr) => {{
        let (outer, inner, tolerance) = ($outer, $inner, $tolerance);
        let (input, expected): (&Value, &[f64]) = ($input, $expected);
        let what = &format!("{} ({outer:?} over {inner:?})", $name);
        match $name {
            "issue762.nested" => {
                let x = flat(&input["x"]);
                let jacobian_at = |k| {
                    let x = lift(&outer, &x);
                    let f = |x: &[_]| linear_in_k(x, lift(&inner, &k));
                    jacobian(&f, &inner, &x).unwrap().into_vec()
                };
                let found = derivative(&jacobian_at, &outer, number(&input["k"])).unwrap();
                assert_close(what, &found, expected, tolerance);
            }
            "perturbation_confusion.1" => {
                let f = |x| x * derivative(&|y| lift(&inner, &x) + y, &inner, &lift(&outer, &1.0)).unwrap();
                let found = derivative(&f, &outer, number(&input["x"])).unwrap();
                assert_close(what, &[found], expected, tolerance);
            }
            "perturbation_confusion.3" => {
                let v = flat(&input["v"]);
                let momentum = |q: &[_]| {
                    let v = lift(&outer, &v);
                    let lifted = lift(&inner, q);
                    gradient(&|v: &[_]| lagrangian(&lifted, v), &inner, &v).unwrap()
                };
                let found = jacobian(&momentum, &outer, &flat(&input["q"])).unwrap();
                assert_close(what, found.as_slice(), expected, tolerance);
            }
            "perturbation_confusion.4" => {
                let p = flat(&input["p"]);
                // F(v) = L(q, v); w = p - ∇F(0); v solves F''(0) v = w; the transform is w·v - F(v).
                let transform = |q: &[_]| {
                    let zero = lift(&outer, &[0.0; 2]);
                    let grad_at = |v: &[_]| {
                        let q = lift(&inner, &lift(&inner, q));
                        gradient(&|v: &[_]| lagrangian(&q, v), &inner, v).unwrap()
                    };
                    let (b, m) = value_and_jacobian(&grad_at, &inner, &zero).unwrap();
                    let w = [p[0] - b[0], p[1] - b[1]];
                    let det = m[(0, 0)] * m[(1, 1)] - m[(0, 1)] * m[(1, 0)];
                    let v = [(m[(1, 1)] * w[0] - m[(0, 1)] * w[1]) / det, (m[(0, 0)] * w[1] - m[(1, 0)] * w[0]) / det];
                    w[0] * v[0] + w[1] * v[1] - lagrangian(q, &v)
                };
                let found = gradient(&transform, &outer, &flat(&input["q"])).unwrap();
                assert_close(what, &found, expected, tolerance);
            }
            _ => return false,
        }
    }};
}

#[test]
fn nested_cases_hold() {
    run("nested", &[], |name, input, expected| {
        let expected = &flat(expected);
        // Three levels of twelve lanes are 17 kB a number, too much for the stack of a test thread without optimisation.
        let (forward, reverse) = (AutoForwardDiff::with_chunk::<2>(), AutoReverseDiff::default());
        let central = AutoFiniteDiff::central();
        check_nested!(forward, forward, 1e-12, name, input, expected);
        check_nested!(forward, reverse, 1e-12, name, input, expected);
        check_nested!(reverse, forward, 1e-12, name, input, expected);
        check_nested!(reverse, reverse, 1e-12, name, input, expected);
        check_nested!(central, forward, 1e-7, name, input, expected);
        check_nested!(central, reverse, 1e-7, name, input, expected);
        // Differences of differences of quadratic functions: rounding errors divided by the square of the step.
        check_nested!(forward, central, 1e-3, name, input, expected);
        check_nested!(reverse, central, 1e-3, name, input, expected);
        true
    });
}
