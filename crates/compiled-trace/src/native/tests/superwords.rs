//! Rows of small Jacobians as vectors of two, and calls that are made early.

use super::*;
use crate::recording::graph::Graph;
use crate::{Limits, Recorded, compile, record};
use num_traits::Float;

/// The dense Jacobian of a graph.
fn jacobian(graph: &Graph) -> Program {
    let (rows, columns) = (graph.outputs().len() as u32, graph.inputs() as u32);
    let starts: Vec<u32> = (0..=rows).map(|row| row * columns).collect();
    let all: Vec<u32> = (0..rows * columns).map(|entry| entry % columns).collect();
    compile(&graph.jacobian_entries(&starts, &all, 10_000).expect("the pattern fits").expect("it is small"))
        .expect("it compiles")
}

/// The image of a point in a turned camera.
fn camera() -> Graph {
    let x = [0.3, 0.5, -0.2, 2.0, 1.0, 4.0, 1.5];
    let graph = record(&x, &[], Limits::default(), |x, _, y| {
        let angle = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
        let (sine, cosine) = (angle.sin(), angle.cos());
        let p = [x[3] * cosine - x[4] * sine, x[4] * cosine + x[3] * sine, x[5] + x[0] * angle.exp()];
        let (u, v) = (p[0] / p[2], p[1] / p[2]);
        let scale = x[6] * (1.0 + 0.1 * (u * u + v * v));
        y.extend([u * scale + x[1], v * scale + x[2]]);
    });
    graph.expect("it is recorded")
}

/// The outputs at a point, and the text and bytes of the code.
fn run(program: &Program, vectors: bool, x: &[f64]) -> (Vec<f64>, String, usize) {
    let options = Options { vectors, listing: true, ..Options::default() };
    let compiled = Compiled::<f64>::new(program, options).expect("this machine has native code");
    let mut y = vec![f64::NAN; program.outputs[0]];
    compiled.run(&mut compiled.workspace(), &[x, &[]], &mut [&mut y]).expect("there are no guards");
    (y, compiled.listing()[0].text.clone(), compiled.bytes())
}

#[test]
fn rows_are_lanes_with_the_bits_of_single_numbers() {
    let program = jacobian(&camera());
    let points = [
        [0.3, 0.5, -0.2, 2.0, 1.0, 4.0, 1.5],
        [0.0; 7],
        [-0.0, 1e-300, 1e300, -1.0, 2.0, 0.0, 1.0],
        [f64::INFINITY, 1.0, f64::NAN, 1.0, 2.0, 3.0, 4.0],
        [1.0, 2.0, 3.0, -4.0, 5.0, -6.0, 7.0],
    ];
    for x in points {
        let ((found, text, bytes), (expected, plain, single)) = (run(&program, true, &x), run(&program, false, &x));
        for (found, expected) in found.iter().zip(&expected) {
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "{found:e}, expected {expected:e} at {x:?}");
        }
        assert!(!plain.contains(" x 2 = "));
        if is_x86_feature_detected!("avx2") {
            assert!(text.matches(" x 2 = ").count() > 20, "{text}");
            assert!(bytes < single, "{bytes} bytes with vectors, {single} without");
        }
    }
}

/// Numbers of the rules that are called, in order; own ones are negative.
fn called(text: &str) -> Vec<i32> {
    let calls = text.lines().filter_map(|line| line.split("call ").nth(1));
    let number = |call: &str| call.split(' ').find_map(|word| word.parse::<i32>().ok()).expect("calls have a rule");
    calls.map(|call| if call.starts_with("own") { -number(call) } else { number(call) }).collect()
}

/// Sine and cosine of one number are one call; calls that need no other one come first, and of these sines.
#[test]
fn calls_are_early_and_in_pairs() {
    let graph = record(&[0.7], &[], Limits::default(), |x, _, y| {
        let x: Recorded = x[0];
        y.push((1.0 + x * x).ln() * x.sin().exp());
    });
    let program = jacobian(&graph.expect("it is recorded"));
    let (found, text, _) = run(&program, true, &[0.7]);
    let x = 0.7f64;
    let expected = x.sin().exp() * (x.cos() * (1.0 + x * x).ln() + 2.0 * x / (1.0 + x * x));
    assert!((found[0] - expected).abs() < 1e-14 * expected.abs(), "{}, expected {expected}", found[0]);
    if cfg!(all(target_os = "linux", target_env = "gnu")) && is_x86_feature_detected!("avx2") {
        assert_eq!(called(&text), [rules::SIN, rules::LN, rules::EXP].map(i32::from), "{text}");
        assert_eq!(text.matches("Second").count(), 1, "{text}");
    }
}

/// The sine, the cosine or both of some angles, one output each.
fn of_angles(x: &[Recorded]) -> Vec<Recorded> {
    let of = |(i, x): (usize, &Recorded)| match i % 3 {
        0 => vec![x.cos(), x.sin()],
        1 => vec![x.sin()],
        _ => vec![x.cos()],
    };
    x.iter().enumerate().flat_map(of).collect()
}

/// Own functions take up to four angles at once.
#[test]
fn several_angles_are_one_call() {
    let own = |rule: u16, x: f64| functions::own(rule, x).expect("it is an own function");
    for count in 2..=9 {
        let graph = record(&vec![0.5; count], &[], Limits::default(), |x, _, y| {
            // No two of these are alike, so that they do not become a loop.
            let angles: Vec<Recorded> =
                x.iter().enumerate().map(|(i, x)| if i % 2 == 0 { *x } else { x.tanh().exp() }).collect();
            y.extend(of_angles(&angles));
        });
        let program = compile(&graph.expect("it is recorded")).expect("it compiles");
        let x: Vec<f64> = (0..count).map(|i| [0.3, -1.5, 1e7, 4.0, -0.0, 1e-300, 2.0][i % 7] + i as f64).collect();
        let (found, text, _) = run(&program, true, &x);
        let expected: Vec<f64> = (0..count)
            .flat_map(|i| {
                let x = if i % 2 == 0 { x[i] } else { x[i].tanh().exp() };
                let (sine, cosine) = (own(rules::SIN, x), own(rules::COS, x));
                match i % 3 {
                    0 => vec![cosine, sine],
                    1 => vec![sine],
                    _ => vec![cosine],
                }
            })
            .collect();
        if is_x86_feature_detected!("avx2") {
            assert_eq!(found, expected, "{text}");
            let own = called(&text).iter().filter(|rule| **rule < 0).count();
            assert_eq!(own, count.div_ceil(4), "{count} angles\n{text}");
        }
    }
}

/// An angle that depends on another one is not computed beside it, and a single one is by the rule table.
#[test]
fn angles_in_a_row_are_calls_of_the_table() {
    let graph = record(&[0.7], &[], Limits::default(), |x, _, y| {
        let sine: Recorded = x[0].sin();
        y.push((sine + 1.0).sin().exp());
    });
    let program = compile(&graph.expect("it is recorded")).expect("it compiles");
    let (found, text, _) = run(&program, true, &[0.7]);
    assert_eq!(found, [(0.7f64.sin() + 1.0).sin().exp()]);
    assert_eq!(called(&text), [rules::SIN, rules::SIN, rules::EXP].map(i32::from), "{text}");
}
