//! The derivative cases that the counterpart's test suites state, with the numbers of `data/cases.json`.
//!
//! Functions are written by hand, one per case name; numbers come from the file. A case of a covered kind that has no
//! function here fails the test of its kind, and so does an unknown kind.

use crate::support;
use crate::support::data::{self, cases, column_major, flat, number};
use crate::support::{assert_close, each_engine, each_exact_engine};
use differentiation_interface::backend::Seeds;
use differentiation_interface::backends::forward_diff::chunk_size;
use differentiation_interface::prelude::*;
use serde_json::Value;
use std::cell::Cell;

/// Kinds that `second_order_cases.rs`, `nested_cases.rs`, `complex_cases.rs` and `sparse.rs` cover.
const OTHER_FILES: &[&str] = &[
    "second_derivative",
    "hvp",
    "hessian",
    "derivative_order3",
    "nested",
    "derivative_complex",
    "pushforward_complex",
    "pullback_complex",
    "gradient_complex",
    "sparse_jacobian",
    "sparse_hessian",
];

/// Kinds that belong to other operators or crates.
const LATER_KINDS: &[&str] = &[
    "jacobian_pattern_global",
    "jacobian_pattern_local",
    "hessian_pattern_global",
    "hessian_pattern_local",
    "coloring_column",
    "coloring_row",
    "coloring_star",
    "coloring_acyclic",
    "bicoloring",
    "compress",
    "validity_acyclic",
    "validity_star",
    "order",
    "graph",
    "robustness",
    "reference_table",
];

/// Cases of covered kinds that need what is not there yet.
const LATER_CASES: &[&str] = &[
    "docs.differentiate_with",        // in second_order_cases.rs
    "finitedifferences.coefficients", // grids of arbitrary order
    "sct.jac.branch_error",           // tracer
    "sct.jac.iszero_error",           // tracer
    "smc.constant_invalid",           // colouring
];

/// Kinds with a test below.
const KINDS: &[&str] = &[
    "value",
    "derivative",
    "pushforward",
    "pullback",
    "gradient",
    "value_and_gradient",
    "jacobian",
    "batchsize",
    "basis",
    "tolerance",
    "constants",
    "call_count",
    "error",
];

/// Runs `check` on every case of a kind.
fn run(kind: &str, check: impl Fn(&str, &Value, &Value) -> bool) {
    assert!(KINDS.contains(&kind));
    data::run(kind, LATER_CASES, check);
}

// The functions.

fn sine<T: Real>(x: T) -> T {
    x.sin()
}
fn sines_in_place<T: Real>(y: &mut [T], x: T) {
    let half = y.len() / 2;
    y[..half].fill(x.sin());
    y[half..].fill((2.0 * x).sin());
}
/// The 2 x 2 matrix of `num_to_mat`, column-major.
fn sine_matrix<T: Real>(x: T) -> [T; 4] {
    [x.sin(), (2.0 * x).sin(), (3.0 * x).sin(), (6.0 * x).sin()]
}
fn powers<T: Real>(x: &[T]) -> T {
    let sum = |n| x.iter().map(|v| v.powi(n)).sum::<T>();
    sum(4) * sum(6)
}
fn sines_and_cosines<T: Real>(x: &[T]) -> Vec<T> {
    x.iter().map(|v| v.sin()).chain(x.iter().map(|v| v.cos())).collect()
}
fn component<T: Real>(x: &[T]) -> T {
    let (a, b) = x.split_at(4);
    a.iter().map(|v| v.sin()).sum::<T>() + b.iter().map(|v| v.cos()).sum::<T>()
}
fn sum<T: Real>(x: &[T]) -> T {
    x.iter().sum()
}
fn sum_of_squares<T: Real>(x: &[T]) -> T {
    x.iter().map(|v| v * v).sum()
}
fn copied_sum<T: Real>(x: &[T], copy: &mut [T]) -> T {
    copy.copy_from_slice(x);
    sum(copy)
}
fn rosenbrock<T: Real>(x: &[T]) -> T {
    x.windows(2).map(|w| (1.0 - w[0]).powi(2) + 100.0 * (w[1] - w[0] * w[0]).powi(2)).sum()
}
fn forwarddiff_jacobian<T: Real>(x: &[T]) -> Vec<T> {
    let a = x[0] * x[1] * (x[2] * x[2]).sin();
    vec![a, a + x[2], a / (a + x[2]), x[2]]
}
fn scaled_entries<T: Real>(x: &[T]) -> [T; 3] {
    [2.0 * x[0], 3.0 * x[1], 4.0 * x[0]]
}

// The checks of one answer by every engine: fresh, prepared at another point, twice, and into a buffer full of NaN.

macro_rules! check_gradient {
    ($name:expr, $f:expr, $x:expr, $expected:expr) => {{
        let (x, expected): (&[f64], Vec<f64>) = (&$x, $expected);
        let before = x.to_vec();
        each_engine!(|backend, tolerance| {
            let name = &format!("{}: gradient of {}", support::name_of(&backend), $name);
            let f = $f;
            assert_close(name, &gradient(&f, &backend, x).unwrap(), &expected, tolerance);
            let mut prepared = prepare_gradient(&f, &backend, &vec![0.7; x.len()]).unwrap();
            assert_close(name, &prepared.gradient(x).unwrap(), &expected, tolerance);
            let mut grad = vec![f64::NAN; x.len()];
            prepared.gradient_into(&mut grad, x).unwrap();
            assert_close(name, &grad, &expected, tolerance);
            grad.fill(f64::NAN);
            let y = prepared.value_and_gradient_into(&mut grad, x).unwrap();
            assert_close(name, &grad, &expected, tolerance);
            assert_eq!(y, ($f)(x), "{name}: value");
        });
        assert_eq!(x, before, "{}: the point was changed", $name);
    }};
}

macro_rules! check_jacobian {
    ($name:expr, $f:expr, $x:expr, $expected:expr) => {{
        let (x, expected): (&[f64], Vec<f64>) = (&$x, $expected);
        each_engine!(|backend, tolerance| {
            let name = &format!("{}: jacobian of {}", support::name_of(&backend), $name);
            let f = $f;
            let rows = ($f)(x).len();
            let jac = jacobian(&f, &backend, x).unwrap();
            assert_eq!(jac.size(), (rows, x.len()), "{name}: size");
            assert_close(name, jac.as_slice(), &expected, tolerance);
            let mut prepared = prepare_jacobian(&f, &backend, &vec![0.7; x.len()]).unwrap();
            assert_close(name, prepared.jacobian(x).unwrap().as_slice(), &expected, tolerance);
            let mut jac = Matrix::filled(rows, x.len(), f64::NAN);
            prepared.jacobian_into(&mut jac, x).unwrap();
            assert_close(name, jac.as_slice(), &expected, tolerance);
            jac.as_mut_slice().fill(f64::NAN);
            let y = prepared.value_and_jacobian_into(&mut jac, x).unwrap().to_vec();
            assert_close(name, jac.as_slice(), &expected, tolerance);
            assert_close(name, &y, &($f)(x), 0.0);
        });
    }};
}

#[test]
fn every_kind_is_covered_or_left_for_later() {
    for case in cases() {
        let kind = case["kind"].as_str().expect("a case has a kind");
        assert!(
            [KINDS, OTHER_FILES, LATER_KINDS].iter().filter(|kinds| kinds.contains(&kind)).count() == 1,
            "kind {kind} is neither covered nor left, or both"
        );
    }
    let names: Vec<_> = cases().iter().map(|case| case["name"].as_str().unwrap().to_string()).collect();
    for name in LATER_CASES {
        assert!(names.iter().any(|n| n == name), "{name} is left for later but not in the file");
    }
}

#[test]
fn value_cases_hold() {
    run("value", |name, input, expected| {
        match name {
            "arr_to_num.value" => {
                let x = flat(&input["x"]);
                assert_eq!(powers(&x), number(expected));
                each_exact_engine!(|backend| {
                    let (y, _) = value_and_gradient(&|x: &[_]| powers(x), &backend, &x).unwrap();
                    assert_eq!(y, number(expected));
                });
            }
            _ => return false,
        }
        true
    });
}

#[test]
fn derivative_cases_hold() {
    run("derivative", |name, input, expected| {
        let (x, expected) = (number(&input["x"]), flat(expected));
        match name {
            "num_to_num.derivative" => each_engine!(|backend, tolerance| {
                assert_close(name, &[derivative(&|x| sine(x), &backend, x).unwrap()], &expected, tolerance);
                let mut prepared = prepare_derivative(&sine, &backend, 2.0).unwrap();
                for _ in 0..2 {
                    let (y, der) = prepared.value_and_derivative(x).unwrap();
                    assert_eq!(y, x.sin());
                    assert_close(name, &[der], &expected, tolerance);
                }
            }),
            "num_to_vec_inplace.derivative" => each_engine!(|backend, tolerance| {
                let outputs = number(&input["n"]) as usize;
                let f = in_place(|y: &mut [_], x| sines_in_place(y, x), outputs);
                assert_close(name, &derivative(&f, &backend, x).unwrap(), &expected, tolerance);
                let mut prepared = prepare_derivative(&f, &backend, 2.0).unwrap();
                let mut der = vec![f64::NAN; outputs];
                let y = prepared.value_and_derivative_into(&mut der, x).unwrap().to_vec();
                assert_close(name, &der, &expected, tolerance);
                assert_close(name, &y, &[[x.sin(); 3], [(2.0 * x).sin(); 3]].concat(), 1e-15);
            }),
            "finitedifferences.log_near_singularity" => {
                each_exact_engine!(|backend| {
                    assert_close(name, &[derivative(&|x| ln(x), &backend, x).unwrap()], &expected, 1e-15);
                });
                // The default step is a hundredth of this point; a user who knows the scale sets it.
                let backend = AutoFiniteDiff::central().relative_step(1e-5).absolute_step(1e-9);
                assert_close(name, &[derivative(&f64::ln, &backend, x).unwrap()], &expected, 1.5e-8);
            }
            _ => return false,
        }
        true
    });
}

fn nothing<T: Real>(_: T) -> Vec<T> {
    Vec::new()
}
fn ln<T: Real>(x: T) -> T {
    x.ln()
}

#[test]
fn pushforward_cases_hold() {
    run("pushforward", |name, input, expected| {
        let expected = flat(expected);
        let tangents = flat(&input["t"].as_array().cloned().unwrap_or_default().into());
        match name {
            "num_to_num.pushforward" => each_engine!(|backend, tolerance| {
                let x = number(&input["x"]);
                let dy = pushforward(&|x| sine(x), &backend, x, [tangents[0]]).unwrap();
                assert_close(name, &dy, &expected, tolerance);
            }),
            "num_to_num.pushforward.batch2" => each_engine!(|backend, tolerance| {
                let x = number(&input["x"]);
                let dy = pushforward(&|x| sine(x), &backend, x, [tangents[0], tangents[1]]).unwrap();
                assert_close(name, &dy, &expected, tolerance);
            }),
            "arr_to_num.pushforward" => each_engine!(|backend, tolerance| {
                let x = flat(&input["x"]);
                let f = |x: &[_]| powers(x);
                let (y, dy) = value_and_pushforward(&f, &backend, &x, [&tangents]).unwrap();
                assert_eq!(y, powers(&x));
                assert_close(name, &dy, &expected, tolerance);
                let mut prepared = prepare_pushforward(&f, &backend, &[0.5; 6], [&[0.0; 6]]).unwrap();
                let mut product = [f64::NAN];
                prepared.pushforward_into([&mut product], &x, [&tangents]).unwrap();
                assert_close(name, &product, &expected, tolerance);
                let mut held = prepare_pushforward_same_point(&f, &backend, &x, [&[0.0; 6]]).unwrap();
                assert_close(name, &held.pushforward([&tangents]).unwrap(), &expected, tolerance);
            }),
            "component.pushforward" => each_engine!(|backend, tolerance| {
                let x = [flat(&input["a"]), flat(&input["b"])].concat();
                let tangent = [flat(&input["ta"]), flat(&input["tb"])].concat();
                let dy = pushforward(&|x: &[_]| component(x), &backend, &x, [&tangent]).unwrap();
                assert_close(name, &dy, &expected, tolerance);
            }),
            _ => return false,
        }
        true
    });
}

#[test]
fn pullback_cases_hold() {
    run("pullback", |name, input, expected| {
        let expected = flat(expected);
        match name {
            "num_to_num.pullback" => each_engine!(|backend, tolerance| {
                let x = number(&input["x"]);
                let dx = pullback(&|x| sine(x), &backend, x, [number(&input["t"][0])]).unwrap();
                assert_close(name, &dx, &expected, tolerance);
            }),
            "num_to_mat.pullback" => each_engine!(|backend, tolerance| {
                let x = number(&input["x"]);
                let cotangent = column_major(&input["t"][0]);
                let dx = pullback(&|x| sine_matrix(x), &backend, x, [&cotangent]).unwrap();
                assert_close(name, &dx, &expected, tolerance);
            }),
            "arr_to_num.pullback" => each_engine!(|backend, tolerance| {
                let x = flat(&input["x"]);
                let cotangent = number(&input["t"][0]);
                let f = |x: &[_]| powers(x);
                let (y, [dx]) = value_and_pullback(&f, &backend, &x, [cotangent]).unwrap();
                assert_eq!(y, powers(&x));
                assert_close(name, &dx, &expected, tolerance);
                let mut prepared = prepare_pullback(&f, &backend, &[0.5; 6], [0.0]).unwrap();
                let mut product = [f64::NAN; 6];
                prepared.pullback_into([&mut product], &x, [cotangent]).unwrap();
                assert_close(name, &product, &expected, tolerance);
                let mut held = prepare_pullback_same_point(&f, &backend, &x, [0.0]).unwrap();
                assert_close(name, &held.pullback([cotangent]).unwrap()[0], &expected, tolerance);
            }),
            _ => return false,
        }
        true
    });
}

#[test]
fn gradient_cases_hold() {
    run("gradient", |name, input, expected| {
        match name {
            "arr_to_num.matrix_input.gradient" => {
                check_gradient!(name, |x: &[_]| powers(x), column_major(&input["x"]), column_major(expected));
            }
            "empty.gradient" => check_gradient!(name, |x: &[_]| sum(x), flat(&input["x"]), flat(expected)),
            "rosenbrock.gradient" => check_gradient!(name, |x: &[_]| rosenbrock(x), flat(&input["x"]), flat(expected)),
            "docs.cache" => each_engine!(|backend, tolerance| {
                let (x, work) = (flat(&input["x"]), vec![0.0; number(&input["cache_len"]) as usize]);
                let f = |x: &[_], copy: &mut Vec<_>| copied_sum(x, copy);
                assert_close(name, &gradient(&f, &backend, (&x, Cache(&work))).unwrap(), &flat(expected), tolerance);
            }),
            _ => return false,
        }
        true
    });
}

#[test]
fn value_and_gradient_cases_hold() {
    run("value_and_gradient", |name, input, expected| {
        match name {
            "readme.value_and_gradient" => {
                let x = flat(&input["x"]);
                check_gradient!(name, |x: &[_]| sum_of_squares(x), x, flat(&expected["grad"]));
                assert_eq!(sum_of_squares(&x), number(&expected["value"]));
            }
            _ => return false,
        }
        true
    });
}

#[test]
fn jacobian_cases_hold() {
    run("jacobian", |name, input, expected| {
        let (x, expected) = (flat(&input["x"]), flat(expected));
        match name {
            "onevec_to_onevec.jacobian" => check_jacobian!(name, |x: &[_]| [sine(x[0])], x, expected),
            "vec_to_vec.jacobian" => check_jacobian!(name, |x: &[_]| sines_and_cosines(x), x, expected),
            "empty.jacobian" => {
                check_jacobian!(name, |x: &[_]| x.to_vec(), x, expected);
                each_engine!(|backend, _tolerance| {
                    assert!(derivative(&|x| nothing(x), &backend, 1.0).unwrap().is_empty());
                });
            }
            "issue983.central_fd" => {
                check_jacobian!(name, |x: &[_]| scaled_entries(x), x, expected.clone());
                let backend = AutoFiniteDiff::central();
                let mut prepared = prepare_jacobian(&scaled_entries, &backend, &x).unwrap();
                for x in [[1.0, -2.0], [0.0, 0.0], [1e3, 1e-3]] {
                    assert_close(name, prepared.jacobian(&x).unwrap().as_slice(), &expected, 1e-9);
                }
            }
            "forwarddiff.jacobian" => check_jacobian!(name, |x: &[_]| forwarddiff_jacobian(x), x, expected),
            _ => return false,
        }
        true
    });
}

#[test]
fn batchsize_cases_hold() {
    run("batchsize", |name, input, expected| {
        match name {
            "batchsize.heuristic12" | "batchsize.heuristic16" => {
                let lanes = number(&input["Bmax"]) as usize;
                for (n, expected) in flat(&input["N"]).iter().zip(flat(expected)) {
                    let n = *n as usize;
                    // No input needs no lane; the counterpart cannot have a batch of size 0.
                    assert_eq!(chunk_size(n, lanes).max(1), expected as usize, "{name}: {n} inputs");
                }
            }
            "batchsize.settings" => {
                let (n, lanes) = (number(&input["N"]) as usize, number(&input["B"]) as usize);
                let width = chunk_size(n, lanes);
                assert_eq!(n.div_ceil(width), number(&expected["A"]) as usize);
                assert_eq!(n % width, number(&expected["B_last"]) as usize);
                assert_eq!(width == n, expected["singlebatch"].as_bool().unwrap());
                assert_eq!(n % width == 0, expected["aligned"].as_bool().unwrap());
                // And that is what happens: one call per chunk.
                let calls = Cell::new(0);
                let f = |x: &[_]| {
                    calls.set(calls.get() + 1);
                    sum_of_squares(x)
                };
                let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
                let grad = gradient(&f, &AutoForwardDiff::default(), &x).unwrap();
                assert_eq!(calls.get(), number(&expected["A"]) as usize);
                assert!(grad.iter().zip(&x).all(|(g, x)| *g == 2.0 * x));
            }
            _ => return false,
        }
        true
    });
}

#[test]
fn basis_cases_hold() {
    run("basis", |name, input, expected| {
        assert_eq!(name, "basis");
        let index = number(&input["i"]) as usize - 1;
        let found: Vec<f64> = (0..9).map(|i| Seeds::Basis { first: index, count: 1 }.entry(0, i)).collect();
        assert_eq!(found, column_major(expected));
        true
    });
}

#[test]
fn tolerance_cases_hold() {
    run("tolerance", |name, input, expected| {
        assert_eq!(name, "finitediff.derivative_accuracy");
        let case = cases().into_iter().find(|case| case["name"] == name).unwrap();
        let (x, expected) = (number(&input["x"]), number(expected));
        let error = |backend: AutoFiniteDiff| (derivative(&f64::sin, &backend, x).unwrap() - expected).abs();
        assert!(error(AutoFiniteDiff::forward()) < number(&case["tolerances"]["forward"]));
        assert!(error(AutoFiniteDiff::backward()) < number(&case["tolerances"]["forward"]));
        assert!(error(AutoFiniteDiff::central()) < number(&case["tolerances"]["central"]));
        // What the complex step promises, exact methods keep.
        each_exact_engine!(|backend| {
            let found = derivative(&|x| sine(x), &backend, x).unwrap();
            assert!((found - expected).abs() < number(&case["tolerances"]["complex_step"]));
        });
        true
    });
}

#[test]
fn constants_cases_hold() {
    run("constants", |name, _, expected| {
        assert_eq!(name, "finitediff.steps");
        let (forward, central) = (number(&expected["forward_relstep"]), number(&expected["central_relstep"]));
        for (backend, step) in [
            (AutoFiniteDiff::forward(), forward),
            (AutoFiniteDiff::backward(), forward),
            (AutoFiniteDiff::central(), central),
        ] {
            // max(relative · |x|, absolute), where the absolute step defaults to the relative one.
            assert_close(name, &[backend.step(0.0), backend.step(0.5), backend.step(-1.0)], &[step; 3], 1e-22);
            assert_close(name, &[backend.step(-100.0)], &[100.0 * step], 1e-20);
            assert_eq!(backend.relative_step(0.25).step(0.0), 0.25);
            assert_eq!(backend.relative_step(0.25).step(-8.0), 2.0);
            assert_eq!(backend.relative_step(0.25).absolute_step(4.0).step(-8.0), 4.0);
        }
        true
    });
}

#[test]
fn call_count_cases_hold() {
    run("call_count", |name, input, expected| {
        assert_eq!(name, "finitediff.call_counts");
        let n = number(&input["n"]) as usize;
        let calls = Cell::new(0);
        let f = in_place(
            |y: &mut [f64], x: &[f64]| {
                calls.set(calls.get() + 1);
                for i in 0..x.len() {
                    let at = |j: Option<usize>| j.and_then(|j| x.get(j)).copied().unwrap_or(0.0);
                    y[i] = at(i.checked_sub(1)) - 2.0 * x[i] + at(Some(i + 1));
                }
            },
            n,
        );
        let x = vec![0.25; n];
        let mut prepared = prepare_jacobian(&f, &AutoFiniteDiff::forward(), &x).unwrap();
        calls.set(0);
        let jac = prepared.jacobian(&x).unwrap();
        assert_eq!(calls.get(), number(&expected["dense_forward"]) as usize);
        for i in 0..n {
            for j in 0..n {
                let exact = [-2.0, 1.0, 0.0][i.abs_diff(j).min(2)];
                assert_close(name, &[jac[(i, j)]], &[exact], 1e-7);
            }
        }
        true
    });
}

#[test]
fn error_cases_hold() {
    run("error", |name, input, _| {
        assert_eq!(name, "batchsize.fixed_too_large");
        assert_eq!((number(&input["N"]), number(&input["B"])), (2.0, 4.0));
        let error = gradient(&|x: &[_]| sum(x), &AutoForwardDiff::with_chunk::<4>(), &[1.0, 2.0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ChunkTooLarge { chunk: 4, inputs: 2 });
        true
    });
}
