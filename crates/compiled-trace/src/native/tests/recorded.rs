//! Machine code of recorded functions and their derivatives against the portable executor.

use super::*;
use crate::{Limits, Recorded, compile, record};
use differentiation_interface_core::Real;
use num_traits::Float;

/// Compares values, adjoints, tangents and tangents of adjoints.
fn check(name: &str, x: &[f64], f: impl Fn(&[Recorded]) -> Vec<Recorded>) {
    let graph = record(x, &[], Limits::default(), |x, _, y| y.extend(f(x))).expect("it is recorded");
    let value = compile(&graph).expect("it compiles");
    let adjoint = value.adjoint(1).expect("it has an adjoint");
    let tangent = value.tangent(2).expect("it has tangents");
    let second = adjoint.tangent(1).expect("it has a second derivative");
    let gradient = value.gradient().ok();
    let mut programs = vec![("value", value), ("adjoint", adjoint), ("tangent", tangent), ("second", second)];
    programs.extend(gradient.map(|gradient| ("gradient", gradient)));
    for (what, program) in programs {
        let mut inputs: Vec<Vec<f64>> =
            program.inputs.iter().map(|n| (0..*n).map(|i| 0.3 + (i % 5) as f64 * 0.1).collect()).collect();
        inputs[0] = x.to_vec();
        let inputs: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
        let executable = program.clone().executable();
        let mut expected: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
        let mut slices: Vec<&mut [f64]> = expected.iter_mut().map(Vec::as_mut_slice).collect();
        executable.run(&mut executable.workspace(), &inputs, &mut slices).expect("the guards hold");
        for (_, options) in settings() {
            let found = native(&program, options, &inputs).expect("the guards hold");
            for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
                assert!(
                    (found - expected).abs() <= 1e-11 * expected.abs().max(1.0),
                    "{name}, {what}: {found} {expected}\n{program}"
                );
            }
        }
    }
}

fn point(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.3 + 0.4 * ((i * 37 % 101) as f64 / 101.0)).collect()
}

fn rosenbrock<T: Real>(x: &[T]) -> T {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
}

#[test]
fn sums_over_neighbours() {
    for n in [2, 3, 4, 5, 9, 10, 40, 1001] {
        check("rosenbrock", &point(n), |x| vec![rosenbrock(x)]);
        check("squares", &point(n), |x| vec![x.iter().map(|x| *x * *x).sum()]);
    }
}

#[test]
fn recurrences() {
    check("logistic map", &[0.3, 2.7], |x| vec![(0..30).fold(x[0], |v, _| x[1] * v * (1.0 - v))]);
    check("running products", &point(25), |x| {
        x.iter()
            .scan(Recorded::constant(1.0), |p, x| {
                *p *= *x + 0.4;
                Some(*p)
            })
            .collect()
    });
    check("heat", &point(30), |x| {
        let mut u = x.to_vec();
        for _ in 0..20 {
            let old = u.clone();
            for i in 1..u.len() - 1 {
                u[i] = old[i] + 0.1 * (old[i - 1] - 2.0 * old[i] + old[i + 1]);
            }
        }
        u
    });
}

#[test]
fn nested_loops_and_reductions() {
    check("matrix product", &point(288), |x| {
        let (a, b) = x.split_at(144);
        (0..144).map(|e| (0..12).map(|k| a[e / 12 * 12 + k] * b[k * 12 + e % 12]).sum()).collect()
    });
    check("log sum exp", &point(40), |x| {
        let most = x.iter().fold(x[0], |m, v| m.max(*v));
        vec![most + x.iter().map(|v| (*v - most).exp()).sum::<Recorded>().ln()]
    });
    check("periodic grid", &point(72), |x| {
        let n = 6;
        let at = |f: usize, i: usize, j: usize| x[f * n * n + i % n + n * (j % n)];
        let cell = |e: usize| {
            let (i, j) = (e % n + n, e / n + n);
            let (u, v) = (at(0, i, j), at(1, i, j));
            let lap = at(0, i + 1, j) + at(0, i - 1, j) + at(0, i, j + 1) + at(0, i, j - 1) - 4.0 * u;
            25.0 * lap + 1.0 + u * u * v - 4.4 * u
        };
        (0..n * n).map(cell).collect()
    });
}

#[test]
fn irregular_functions() {
    check("tables", &point(50), |x| {
        let pick = |i: usize| x[(i * 7 + i * i) % 50] - x[(i * 13 + 5 + i * i * i) % 50];
        vec![(0..200).map(|i| pick(i) * pick(i)).sum()]
    });
    check("mixture of everything", &point(8), |x| {
        let mut v = x.to_vec();
        for i in 0..150usize {
            let (a, b) = (v[i * i % 8], v[(3 * i + 1) % 8]);
            v[(5 * i + i / 3) % 8] = match i % 7 {
                0 => (a + b).sin(),
                1 => a * b,
                2 => (a - b).exp() * 0.3,
                3 => a / (1.0 + b * b),
                4 => a.max(b),
                5 => a.less_than(b).select(a * 0.5, b.tanh()),
                _ => (a * a + b * b + 0.1).sqrt().ln(),
            };
        }
        v
    });
}

#[test]
fn failed_guards_name_their_line() {
    let line = line!() + 2;
    let graph = record(&[1.0], &[], Limits::default(), |x, _, y| {
        y.push(if x[0] > 0.5 { x[0] * 2.0 } else { x[0] });
    });
    let program = compile(&graph.expect("it is recorded")).expect("it compiles");
    assert_eq!(native(&program, Options::default(), &[&[3.0], &[]]), Ok(vec![vec![6.0]]));
    let failed = native(&program, Options::default(), &[&[0.25], &[]]);
    assert!(matches!(failed, Err(RunError::Guard(GuardFailed { place: Some(place) })) if place.line() == line));
}

/// Programs that compare bits of their recording have the sines with which it was recorded, and others may have vectors of sines.
#[test]
fn a_guard_against_nan_leaves_the_choice_of_functions() {
    let x: Vec<f64> = (0..1001).map(|i| i as f64 * 0.01 - 5.0).collect();
    let values = |is_number: fn(Recorded) -> bool| {
        let graph = record(&x, &[], Limits::default(), |x, _, y| {
            let sines = x.iter().map(|x| x.sin().tanh());
            y.extend(sines.inspect(|sine| assert!(is_number(*sine))));
        });
        let program = compile(&graph.expect("it is recorded")).expect("it compiles");
        native(&program, Options::default(), &[&x, &[]]).expect("the guards hold")
    };
    assert_eq!(values(|v| !v.is_nan()), values(|_| true));
}

#[test]
fn single_functions_give_the_same_answers_or_none() {
    let x = point(9);
    let graph = record(&x, &[], Limits::default(), |x, _, y| y.push(rosenbrock(x))).unwrap();
    let gradient = compile(&graph).unwrap().gradient().unwrap();
    let compiled = Compiled::<f64>::new(&gradient, Options::default()).unwrap();
    let (mut y, mut grad) = ([f64::NAN], [f64::NAN; 9]);
    let (mut expected_y, mut expected) = ([f64::NAN], [f64::NAN; 9]);
    compiled.run(&mut compiled.workspace(), &[&x, &[]], &mut [&mut expected_y, &mut expected]).unwrap();
    let mut single = compiled.single::<2, 2>().unwrap();
    assert!(compiled.single::<1, 2>().is_none() && compiled.single::<2, 3>().is_none(), "other slices");
    // The single program owns its code.
    drop(compiled);
    for mut single in [single.clone(), single.clone()] {
        assert!(single.run(&[&x, &[]], &mut [&mut y, &mut grad]));
        assert_eq!((y, grad), (expected_y, expected));
    }
    assert!(!single.run(&[&x[1..], &[]], &mut [&mut y, &mut grad]), "a point of another length");
    assert!(!single.run(&[&x, &[1.0]], &mut [&mut y, &mut grad]), "a parameter too many");
    assert!(!single.run(&[&x, &[]], &mut [&mut y, &mut grad[1..]]), "a gradient of another length");
    assert!(!single.run(&[&x, &[]], &mut [&mut [], &mut grad]), "no room for the value");

    let root = |x: &[Recorded], y: &mut Vec<Recorded>| y.push(if x[0] > 0.0 { x[0].sqrt() } else { x[0] * 0.0 });
    let graph = record(&[4.0], &[], Limits::default(), |x, _, y| root(x, y)).unwrap();
    let compiled = Compiled::<f64>::new(&compile(&graph).unwrap(), Options::default()).unwrap();
    let mut single = compiled.single::<2, 1>().unwrap();
    assert!(single.run(&[&[9.0], &[]], &mut [&mut y]));
    assert_eq!(y, [3.0]);
    assert!(!single.run(&[&[-9.0], &[]], &mut [&mut y]), "a guard fails");
}
