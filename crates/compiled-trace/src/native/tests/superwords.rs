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

/// Sine and cosine of one number are one call; calls that need no other one come first, and of these sines.
#[test]
fn calls_are_early_and_in_pairs() {
    let graph = record(&[0.7], &[], Limits::default(), |x, _, y| {
        let x: Recorded = x[0];
        y.push(x.sin().exp() * (1.0 + x * x).ln() / (2.0 + (3.0 * x).cos()));
    });
    let program = jacobian(&graph.expect("it is recorded"));
    let (found, text, _) = run(&program, true, &[0.7]);
    let x = 0.7f64;
    let (value, d) = (x.sin().exp() * (1.0 + x * x).ln(), 2.0 + (3.0 * x).cos());
    let slope = x.sin().exp() * (x.cos() * (1.0 + x * x).ln() + 2.0 * x / (1.0 + x * x));
    let expected = slope / d + 3.0 * (3.0 * x).sin() * value / (d * d);
    assert!((found[0] - expected).abs() < 1e-14 * expected.abs(), "{}, expected {expected}", found[0]);
    let calls: Vec<&str> = text.lines().filter_map(|line| line.split("call ").nth(1)).collect();
    let rules: Vec<u16> = calls.iter().filter_map(|call| call.split(' ').next()?.parse().ok()).collect();
    if is_x86_feature_detected!("avx2") {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        assert_eq!(rules, [rules::SIN, rules::COS, rules::LN, rules::EXP], "{text}");
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        assert_eq!(text.matches("Second").count(), 2, "{text}");
    }
}
