//! Guards, parameters, custom rules, single precision, limits, and the smallest functions.

use compiled_trace::{Absence, Executable, Limits, Program, Recorded, RunError, compile, native, record};
use differentiation_interface::prelude::*;
use differentiation_interface_core::error::ErrorKind;
use num_traits::{Float, ToPrimitive};
use std::sync::Arc;

fn gradient_of(point: &[f64], parameters: &[f64], f: impl FnOnce(&[Recorded], &[Recorded]) -> Recorded) -> Executable {
    let graph = record(point, parameters, Limits::default(), |x, p, y| y.push(f(x, p))).unwrap();
    compile(&graph).unwrap().adjoint(1).unwrap().executable()
}

fn run(gradient: &Executable, x: &[f64], parameters: &[f64]) -> Result<(f64, Vec<f64>), RunError> {
    let (mut y, mut grad) = ([f64::NAN], vec![f64::NAN; x.len()]);
    gradient.run(&mut gradient.workspace(), &[x, parameters, &[1.0]], &mut [&mut y, &mut grad])?;
    Ok((y[0], grad))
}

#[test]
fn guards_fail_on_the_other_side_and_name_the_line() {
    let line = line!() + 1;
    let f = |x: &[Recorded], _: &[Recorded]| if x[0] > x[1] { x[0] * x[0] } else { x[1] * 3.0 };
    let gradient = gradient_of(&[2.0, 1.0], &[], f);
    assert_eq!(run(&gradient, &[3.0, 1.0], &[]), Ok((9.0, vec![6.0, 0.0])));
    let Err(RunError::Guard(failed)) = run(&gradient, &[1.0, 3.0], &[]) else { panic!("the guard held") };
    assert_eq!(failed.place.unwrap().line(), line);
    let gradient = gradient_of(&[1.0, 3.0], &[], f);
    assert_eq!(run(&gradient, &[1.0, 3.0], &[]), Ok((9.0, vec![0.0, 3.0])));
}

#[test]
fn guards_in_loops_are_checked_for_every_iteration() {
    fn f(x: &[Recorded], _: &[Recorded]) -> Recorded {
        let mut sum = Recorded::constant(0.0);
        for v in x {
            sum += if *v > 0.0 { *v * *v } else { -*v };
        }
        sum
    }
    let gradient = gradient_of(&[0.5; 300], &[], f);
    let mut x = vec![0.25; 300];
    assert_eq!(run(&gradient, &x, &[]), Ok((300.0 / 16.0, vec![0.5; 300])));
    for place in [0, 5, 255, 256, 299] {
        x[place] = -1.0;
        assert!(matches!(run(&gradient, &x, &[]), Err(RunError::Guard(_))), "at {place}");
        x[place] = 0.25;
    }
}

#[test]
fn values_that_escape_are_guarded() {
    let table = [1.0, 10.0, 100.0];
    let f = |x: &[Recorded], _: &[Recorded]| x[0] * table[Scalar::primal(x[0].floor()) as usize];
    let gradient = gradient_of(&[1.5], &[], f);
    assert_eq!(run(&gradient, &[1.25], &[]), Ok((12.5, vec![10.0])));
    assert!(matches!(run(&gradient, &[2.5], &[]), Err(RunError::Guard(_))));
}

#[test]
fn tests_of_a_number_are_guarded_by_their_outcome() {
    type Test = fn(Recorded) -> bool;
    let tests: [(Test, &[f64], &[f64]); 6] = [
        (|v| v.is_nan(), &[1.0, -3.0, f64::INFINITY, 0.0], &[f64::NAN]),
        (|v| v.is_finite(), &[1.0, -3.0, f64::MAX, 0.0], &[f64::INFINITY, f64::NEG_INFINITY, f64::NAN]),
        (|v| v.is_infinite(), &[1.0, -3.0, f64::MIN, -0.0], &[f64::INFINITY, f64::NEG_INFINITY, f64::NAN]),
        (|v| v.is_normal(), &[1.0, -3.0, 1e-300, f64::MAX], &[0.0, 1e-310, f64::INFINITY, f64::NAN]),
        (|v| v.is_subnormal(), &[1.0, -3.0, f64::INFINITY], &[0.0, 1e-310, -1e-310, f64::NAN]),
        (|v| v.is_sign_negative(), &[1.0, 3.0, 1e-310, f64::INFINITY], &[-1.0, f64::NEG_INFINITY]),
    ];
    for (number, (test, valid, others)) in tests.into_iter().enumerate() {
        let gradient = gradient_of(&[1.0], &[], |x, _| if test(x[0]) { x[0] + x[0] } else { x[0] });
        for x in valid {
            let slope = if test(Recorded::constant(*x)) { 2.0 } else { 1.0 };
            assert_eq!(run(&gradient, &[*x], &[]), Ok((slope * x, vec![slope])), "test {number} at {x}");
        }
        for x in others {
            assert!(matches!(run(&gradient, &[*x], &[]), Err(RunError::Guard(_))), "test {number} at {x}");
        }
    }
}

/// The exponential of `num-complex` asks whether a number is infinite, then whether it is NaN.
#[test]
fn a_number_that_compares_needs_no_guard_against_nan() {
    let guards = |f: fn(Recorded) -> bool| {
        let graph = record(&[1.0, 1.0], &[], Limits::default(), |x, _, y| {
            assert!(f(x[0] * x[1]));
            y.push(x[0] + x[1]);
        });
        let graph = graph.unwrap();
        let program = compile(&graph).unwrap();
        let executable = program.clone().executable();
        let nan = executable.run(&mut executable.workspace(), &[&[f64::NAN, 1.0], &[]], &mut [&mut [0.0]]);
        assert!(matches!(nan, Err(RunError::Guard(_))), "{program}");
        (graph.guards(), program.to_string().matches("guard").count())
    };
    assert_eq!(guards(|v| !v.is_nan()), (1, 1));
    assert_eq!(guards(|v| !v.is_nan() && v == v), (2, 1));
    assert_eq!(guards(|v| !v.is_infinite() && !v.is_nan()), (2, 1));
    assert_eq!(guards(|v| !v.is_nan() && v > 0.0), (2, 1));
    assert_eq!(guards(|v| !v.is_nan() && v == 1.0), (2, 1));
}

/// The value itself may differ: another order of additions would change it even at the point of the recording.
#[test]
fn casts_to_integers_are_guarded_by_the_integer() {
    let f = |x: &[Recorded], _: &[Recorded]| {
        let sum: Recorded = x.iter().map(|v| v.sin()).sum();
        sum * sum.to_i64().unwrap_or(0) as f64
    };
    let x: Vec<f64> = (0..100).map(|i| 0.02 + 1e-4 * f64::from(i)).collect();
    let gradient = gradient_of(&x, &[], f);
    let expected = |x: &[f64]| {
        let sum: f64 = x.iter().map(|v| v.sin()).sum();
        (sum * sum.trunc(), sum.trunc() * x[0].cos())
    };
    // The sum is 2.49, 2.64, and 3.04.
    for (step, holds) in [(0.0, true), (0.0015, true), (0.0055, false)] {
        let x: Vec<f64> = x.iter().map(|v| v + step).collect();
        match run(&gradient, &x, &[]) {
            Ok((y, grad)) => {
                assert!(holds && (y - expected(&x).0).abs() < 1e-12 && (grad[0] - expected(&x).1).abs() < 1e-12);
            }
            Err(error) => assert!(!holds && matches!(error, RunError::Guard(_)), "{error}"),
        }
    }
}

#[test]
fn choices_without_a_branch_need_no_guard() {
    let f = |x: &[Recorded], _: &[Recorded]| {
        let zero = Recorded::constant(0.0);
        x[0].greater_than(zero).select(x[0].sqrt(), x[0] * 2.0)
    };
    let graph = record(&[4.0], &[], Limits::default(), |x, p, y| y.push(f(x, p))).unwrap();
    let program = compile(&graph).unwrap();
    // The derivative by one number is a tangent, which is chosen after the multiplication.
    let tangent = program.gradient().unwrap();
    assert_eq!(tangent.absence, Absence::Exact);
    let tangent = tangent.executable();
    for (x, expected) in [(4.0, [2.0, 0.25]), (0.0, [0.0, 2.0]), (-3.0, [-6.0, 2.0])] {
        let (mut y, mut slope) = ([f64::NAN], [f64::NAN]);
        tangent.run(&mut tangent.workspace(), &[&[x], &[]], &mut [&mut y, &mut slope]).unwrap();
        assert_eq!([y[0], slope[0]], expected);
    }
    assert_eq!(program.adjoint(1).unwrap().absence, Absence::Doubtful);
    let gradient = program.tracking_absent().adjoint(1).unwrap().executable();
    assert_eq!(run(&gradient, &[4.0], &[]), Ok((2.0, vec![0.25])));
    // The side that is not taken has an infinite derivative at 0 and NaN below, and is absent.
    assert_eq!(run(&gradient, &[0.0], &[]), Ok((0.0, vec![2.0])));
    assert_eq!(run(&gradient, &[-3.0], &[]), Ok((-6.0, vec![2.0])));
}

#[test]
fn parameters_change_without_recording_again() {
    let gradient = gradient_of(&[1.0, 2.0], &[3.0, 4.0], |x, p| p[0] * x[0] * x[1] + p[1] * x[0]);
    assert_eq!(run(&gradient, &[1.0, 2.0], &[3.0, 4.0]), Ok((10.0, vec![10.0, 3.0])));
    assert_eq!(run(&gradient, &[1.0, 2.0], &[5.0, 0.0]), Ok((10.0, vec![10.0, 5.0])));
}

struct Root;

impl CustomRule for Root {
    const NAME: &'static str = "root";
    const GIVEN: Halves = Halves::Pushforward;
    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.extend(x.iter().map(|x| x.sqrt()));
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, _x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        for i in 0..y.len() {
            dy[i] = dx[i] / (y[i] + y[i]);
        }
    }
}

#[test]
fn custom_rules_are_called_on_replay_with_both_derivatives() {
    let root = Custom::new(Root);
    let f = |x: &[Recorded], _: &[Recorded]| {
        let y = root.call(&[x[0] * x[1], x[1]]);
        y[0] * y[1]
    };
    // sqrt(x y) sqrt(y) = y sqrt(x).
    let graph = record(&[2.0, 3.0], &[], Limits::default(), |x, _, y| y.push(f(x, &[]))).unwrap();
    let adjoint = compile(&graph).unwrap().adjoint(1).unwrap();
    let product = adjoint.tangent(1).unwrap().executable();
    let gradient = adjoint.executable();
    let (y, grad) = run(&gradient, &[4.0, 9.0], &[]).unwrap();
    assert!((y - 18.0).abs() < 1e-13);
    assert!((grad[0] - 2.25).abs() < 1e-13 && (grad[1] - 2.0).abs() < 1e-13, "{grad:?}");
    let (mut y, mut grad, mut dy, mut hv) = ([0.0], [0.0; 2], [0.0], [0f64; 2]);
    let outputs = &mut [&mut y[..], &mut grad, &mut dy, &mut hv];
    product.run(&mut product.workspace(), &[&[4.0, 9.0], &[], &[1.0], &[1.0, 2.0]], outputs).unwrap();
    // The Hessian is [-y / (4 x^1.5), 1 / (2 sqrt x); 1 / (2 sqrt x), 0].
    assert!((hv[0] - (-9.0 / 32.0 + 0.5)).abs() < 1e-13 && (hv[1] - 0.25).abs() < 1e-13, "{hv:?}");
}

/// Where no derivative is absent, all programs of derivatives compute the same with tracking. One cotangent is 0 and moves with the point.
#[test]
fn tracking_keeps_the_derivatives_of_custom_rules() {
    let root = Custom::new(Root);
    let graph = record(&[2.0, 3.0, 0.0], &[], Limits::default(), |x, _, y| {
        let r = root.call(&[x[0] * x[1], x[1]]);
        let rr = root.call(&[r[1] * r[1] * r[1]]);
        y.extend([r[0] * x[2], (rr[0] * r[1]).sin()]);
    })
    .unwrap();
    let plain = compile(&graph).unwrap();
    let seeds = |count: usize, length: usize| -> Vec<Vec<f64>> {
        (0..count).map(|lane| (0..length).map(|i| 0.5 + (lane * length + i) as f64).collect()).collect()
    };
    let makes: [(fn(&Program) -> Program, Vec<Vec<f64>>); 4] = [
        (|f| f.adjoint(2).unwrap(), seeds(2, 2)),
        (|f| f.tangent(2).unwrap(), seeds(2, 3)),
        (|f| f.adjoint(1).unwrap().tangent(2).unwrap(), [seeds(1, 2), seeds(2, 3)].concat()),
        (|f| f.tangent(1).unwrap().tangent(2).unwrap(), seeds(3, 3)),
    ];
    for (number, (make, seeds)) in makes.into_iter().enumerate() {
        let mut inputs: Vec<&[f64]> = vec![&[2.0, 3.0, 0.0], &[]];
        inputs.extend(seeds.iter().map(Vec::as_slice));
        // By the interpreter, and by machine code where there is some.
        let outputs_of = |program: Program| {
            let mut all = Vec::new();
            let mut run = |run: &dyn Fn(&mut [&mut [f64]]) -> Result<(), RunError>| {
                let mut outputs: Vec<_> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
                run(&mut outputs.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>()).unwrap();
                all.push(outputs.concat());
            };
            let executable = program.clone().executable();
            run(&|outputs| executable.run(&mut executable.workspace(), &inputs, outputs));
            if let Ok(code) = native::Compiled::<f64>::new(&program, native::Options::default()) {
                run(&|outputs| code.run(&mut code.workspace(), &inputs, outputs));
            }
            all
        };
        let expected = &outputs_of(make(&plain))[0];
        assert!(expected.iter().all(|v| v.is_finite()), "{expected:?}");
        for found in outputs_of(make(&plain.tracking_absent())) {
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() <= 1e-14 * expected.abs(),
                    "program {number}: {found}, not {expected}"
                );
            }
        }
    }
}

/// Results that decide branches and choices only: no output has a derivative with respect to them.
#[test]
fn calls_whose_results_are_only_compared_are_not_derived() {
    let root = Custom::new(Root);
    let f = |x: &[Recorded], _: &[Recorded]| {
        let y = root.call(&[x[0] * x[1], x[1]]);
        if y[0] < y[1] { x[0] } else { x[1].greater_than(y[0]).select(x[0] * x[0], x[1] * x[1]) }
    };
    let graph = record(&[2.0, 3.0], &[], Limits::default(), |x, _, y| y.push(f(x, &[]))).unwrap();
    let program = compile(&graph).unwrap();
    let calls = |program: &Program| program.to_string().matches("root").count();
    assert_eq!(calls(&program), 1, "{program}");
    let (gradient, tangent) = (program.gradient().unwrap(), program.tangent(2).unwrap());
    assert_eq!((calls(&gradient), calls(&tangent)), (1, 1), "{gradient}{tangent}");
    let gradient = gradient.executable();
    let mut slices = ([0.0], [0.0; 2]);
    gradient.run(&mut gradient.workspace(), &[&[4.0, 9.0], &[]], &mut [&mut slices.0, &mut slices.1]).unwrap();
    assert_eq!(slices, ([16.0], [8.0, 0.0]));
}

#[test]
fn single_precision_is_computed_in_single_precision() {
    fn f<T: Real<f32>>(x: &[T]) -> T {
        x.iter().map(|v| (*v * 0.1f32).sin() * *v).sum()
    }
    let x: Vec<f32> = (0..50).map(|i| 0.1 + i as f32 / 10.0).collect();
    let graph = record(&x, &[], Limits::default(), |x: &[Recorded<f32>], _, y| y.push(f(x))).unwrap();
    let gradient = compile(&graph).unwrap().adjoint(1).unwrap().executable();
    let (mut y, mut grad) = ([0f32], vec![0f32; 50]);
    gradient.run(&mut gradient.workspace(), &[&x, &[], &[1.0]], &mut [&mut y, &mut grad]).unwrap();
    assert!((y[0] - f(&x)).abs() <= 1e-5 * y[0].abs());
    for (x, g) in x.iter().zip(grad) {
        let s = 0.1f32 * x;
        assert!((g - (s.sin() + 0.1 * x * s.cos())).abs() <= 1e-6, "{g} at {x}");
    }
}

#[test]
fn executors_run_on_numbers_that_carry_derivatives() {
    // The derivative of the compiled gradient by forward mode over it.
    fn f<T: Real>(x: &[T]) -> T {
        x.windows(2).map(|w| (w[1] - w[0] * w[0]).powi(2)).sum()
    }
    let graph = record(&[0.5; 20], &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
    let compiled = Arc::new(compile(&graph).unwrap().adjoint(1).unwrap().executable());
    fn grad<T: Scalar>(compiled: &Executable, x: &[T]) -> Vec<T> {
        let one = T::constant(<T::Base as num_traits::One>::one());
        let (mut y, mut grad) = ([T::default()], vec![T::default(); x.len()]);
        compiled.run(&mut compiled.workspace(), &[x, &[], &[one]], &mut [&mut y, &mut grad]).unwrap();
        grad
    }
    let x: Vec<f64> = (0..20).map(|i| (i as f64).sin()).collect();
    let found = jacobian(&|x: &[_]| grad(&compiled, x), &AutoForwardDiff::default(), &x).unwrap();
    let expected = hessian(&|x: &[_]| f(x), &AutoForwardDiff::default(), &x).unwrap();
    for (a, b) in found.as_slice().iter().zip(expected.as_slice()) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a}, expected {b}");
    }
}

#[test]
fn a_recording_over_the_limit_is_an_error() {
    let long = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| {
        let mut v = x[0];
        for _ in 0..1000 {
            v = v * v;
        }
        y.push(v);
    };
    let error = record(&[1.0], &[], Limits { bytes: 6000 }, long).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TapeOverflow);
    assert_eq!(record(&[1.0], &[], Limits { bytes: 60_000 }, long).unwrap().nodes().len(), 1000);
}

#[test]
fn numbers_of_another_recording_are_refused() {
    let mut kept = None;
    record(&[1.0], &[], Limits::default(), |x, _, y| {
        kept = Some(x[0]);
        y.push(x[0]);
    })
    .unwrap();
    let kept = kept.unwrap();
    let error = record(&[1.0], &[], Limits::default(), |x, _, y| y.push(x[0] * kept)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignNumber);
    let error = record(&[1.0], &[], Limits::default(), |_, _, y| y.push(kept.sin())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignNumber);
    // An outer number in an inner recording is foreign there.
    let outer = record(&[1.0], &[], Limits::default(), |x, _, y| {
        let inner = record(&[2.0], &[], Limits::default(), |z, _, w| w.push(z[0] * x[0]));
        assert_eq!(inner.unwrap_err().kind(), ErrorKind::ForeignNumber);
        y.push(x[0] * 2.0);
    });
    assert_eq!(outer.unwrap().nodes().len(), 1);
}

#[test]
fn the_smallest_functions_work() {
    let all = |x: &[f64], f: &dyn Fn(&[Recorded]) -> Vec<Recorded>| {
        let graph = record(x, &[], Limits::default(), |x, _, y| y.extend(f(x))).unwrap();
        let adjoint = compile(&graph).unwrap().adjoint(1).unwrap().executable();
        let m = graph.outputs().len();
        let (mut y, mut grad) = (vec![f64::NAN; m], vec![f64::NAN; x.len()]);
        adjoint.run(&mut adjoint.workspace(), &[x, &[], &vec![1.0; m]], &mut [&mut y, &mut grad]).unwrap();
        (y, grad)
    };
    assert_eq!(all(&[], &|_| vec![]), (vec![], vec![]));
    assert_eq!(all(&[2.0], &|_| vec![]), (vec![], vec![0.0]));
    assert_eq!(all(&[], &|_| vec![Recorded::constant(3.0)]), (vec![3.0], vec![]));
    assert_eq!(all(&[2.0], &|x| vec![x[0]]), (vec![2.0], vec![1.0]));
    assert_eq!(all(&[2.0, 5.0], &|x| vec![x[1], x[1], Recorded::constant(1.0)]), (vec![5.0, 5.0, 1.0], vec![0.0, 2.0]));
    assert_eq!(all(&[2.0; 40], &|x| x.to_vec()), (vec![2.0; 40], vec![1.0; 40]));
}

#[test]
fn wrong_lengths_are_errors() {
    let gradient = gradient_of(&[1.0, 2.0], &[], |x, _| x[0] * x[1]);
    let mut memory = gradient.workspace();
    let (mut y, mut grad) = ([0.0], [0.0; 3]);
    let error = gradient.run(&mut memory, &[&[1.0, 2.0], &[], &[1.0]], &mut [&mut y, &mut grad]).unwrap_err();
    assert_eq!(error, RunError::Length { expected: 2, found: 3 });
    let error = gradient.run(&mut memory, &[&[1.0, 2.0], &[]], &mut [&mut y, &mut grad[..2]]).unwrap_err();
    assert_eq!(error, RunError::Length { expected: 3, found: 2 });
}

#[test]
fn programs_are_shared_between_threads() {
    let program = Arc::new(gradient_of(&[1.0; 100], &[], |x, _| x.iter().map(|v| *v * *v).sum()));
    let threads: Vec<_> = (0..3)
        .map(|t| {
            let program = Arc::clone(&program);
            std::thread::spawn(move || run(&program, &[t as f64; 100], &[]).unwrap().1[7])
        })
        .collect();
    assert_eq!(threads.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>(), [0.0, 2.0, 4.0]);
}

#[test]
fn several_cotangents_at_once_give_rows() {
    let f = |x: &[Recorded], y: &mut Vec<Recorded>| y.extend((0..8).map(|i| x[i] * x[i + 1]));
    let graph = record(&[1.0; 9], &[], Limits::default(), |x, _, y| f(x, y)).unwrap();
    let rows = compile(&graph).unwrap().adjoint(2).unwrap().executable();
    let x: Vec<f64> = (1..10).map(f64::from).collect();
    let (mut seeds, mut y) = ([[0.0; 8]; 2], [0.0; 8]);
    (seeds[0][0], seeds[1][7]) = (1.0, 1.0);
    let mut out = [[f64::NAN; 9]; 2];
    let [first, second] = &mut out;
    rows.run(&mut rows.workspace(), &[&x, &[], &seeds[0], &seeds[1]], &mut [&mut y, first, second]).unwrap();
    assert_eq!(out[0], [2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(out[1], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0, 8.0]);
}
