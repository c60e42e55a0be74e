//! Tests of loops with snapshots: derivatives by hand and by all engines, and the number of steps.

use super::{Checkpointed, Step, schedule};
use crate::backends::forward_diff::AutoForwardDiff;
use crate::backends::reverse_diff::AutoReverseDiff;
use differentiation_interface_core::backend::SecondOrder;
use differentiation_interface_core::operators::{
    derivative, gradient, hessian, hvp, jacobian, prepare_gradient, pullback, pushforward,
};
use differentiation_interface_core::scalar::Real;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn close(found: &[f64], expected: &[f64]) {
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-11 * (1.0 + b.abs());
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(is_close), "{found:?} {expected:?}");
}

/// u ← p₀ u + i, and a counter of the steps. The second parameter is not read.
struct Affine(Arc<AtomicUsize>);

impl Step for Affine {
    fn step<T: Real>(&self, i: usize, u: &mut [T], p: &[T]) {
        self.0.fetch_add(1, Ordering::Relaxed);
        u[0] = p[0] * u[0] + i as f64;
    }
}

/// uₗ = pˡ u₀ + Σᵢ i pˡ⁻¹⁻ⁱ, and its derivatives with respect to u₀ and p.
fn affine(l: i32, u: f64, p: f64) -> (f64, [f64; 2]) {
    let value = p.powi(l) * u + (0..l).map(|i| f64::from(i) * p.powi(l - 1 - i)).sum::<f64>();
    let by_p = f64::from(l) * p.powi(l - 1) * u;
    let terms = (0..l - 1).map(|i| f64::from(i * (l - 1 - i)) * p.powi(l - 2 - i));
    (value, [p.powi(l), if l == 0 { 0.0 } else { by_p + terms.sum::<f64>() }])
}

#[test]
fn derivatives_by_hand_and_the_number_of_steps() {
    for l in [0, 1, 2, 3, 7, 20, 41] {
        for snapshots in [0, 1, 2, 3, 5, 40, 100] {
            let count = Arc::new(AtomicUsize::new(0));
            let run = Checkpointed::new(Affine(Arc::clone(&count)), 1, l).with_snapshots(snapshots);
            assert_eq!(run.snapshots(), snapshots.clamp(1, l.max(1)));
            let f = |x: &[_]| run.run(&x[..1], &x[1..])[0];
            let found = gradient(&f, &AutoReverseDiff::tape(), &[3.0, 0.9, 5.0]).unwrap();
            let (_, [du, dp]) = affine(l as i32, 3.0, 0.9);
            close(&found, &[du, dp, 0.0]);
            // The value, the steps that are run again, and those that are differentiated.
            assert_eq!(count.swap(0, Ordering::Relaxed), l + run.repeated_steps() as usize + l, "{l} {snapshots}");
            assert_eq!(run.repeated_steps(), schedule::repeated_steps(l, run.snapshots()));
            close(&[f64_run(&run)], &[affine(l as i32, 3.0, 0.9).0]);
            assert_eq!(count.load(Ordering::Relaxed), l);
        }
    }
}

fn f64_run(run: &Checkpointed<Affine>) -> f64 {
    run.run(&[3.0], &[0.9, 5.0])[0]
}

/// Lotka and Volterra's equations by the classical Runge-Kutta method, and the sum of squares of the first number.
struct RungeKutta;

impl Step for RungeKutta {
    fn step<T: Real>(&self, _: usize, u: &mut [T], p: &[T]) {
        let h = 0.02;
        let slope = |a: T, b: T| [p[0] * a - p[1] * a * b, p[2] * a * b - p[3] * b];
        let [a, b] = [u[0], u[1]];
        let k1 = slope(a, b);
        let k2 = slope(a + h / 2.0 * k1[0], b + h / 2.0 * k1[1]);
        let k3 = slope(a + h / 2.0 * k2[0], b + h / 2.0 * k2[1]);
        let k4 = slope(a + h * k3[0], b + h * k3[1]);
        for j in 0..2 {
            u[j] += h / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j]);
        }
        u[2] += u[0] * u[0];
    }
}

const STEPS: usize = 60;

fn plain<T: Real>(x: &[T]) -> T {
    let mut u = [x[0], x[1], T::zero()];
    (0..STEPS).for_each(|i| RungeKutta.step(i, &mut u, &x[2..]));
    u[2].sqrt() + u[1]
}

fn kept<T: Real>(of: &Checkpointed<RungeKutta>, x: &[T]) -> T {
    let u = of.run(&[x[0], x[1], T::zero()], &x[2..]);
    u[2].sqrt() + u[1]
}

const POINT: [f64; 6] = [1.0, 0.5, 1.1, 0.6, 0.5, 0.9];

#[test]
fn engines_agree_with_the_loop() {
    let of = &Checkpointed::new(RungeKutta, 3, STEPS);
    assert_eq!(of.snapshots(), 6);
    let expected = gradient(&|x: &[_]| plain(x), &AutoForwardDiff::default(), &POINT).unwrap();
    assert_eq!(gradient(&|x: &[_]| kept(of, x), &AutoForwardDiff::default(), &POINT).unwrap(), expected);
    close(&gradient(&|x: &[_]| kept(of, x), &AutoReverseDiff::tape(), &POINT).unwrap(), &expected);
    let f = |x: &[_]| kept(of, x);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), &POINT).unwrap();
    for _ in 0..60 {
        close(&prepared.gradient(&POINT).unwrap(), &expected);
    }
    let direction = [1.0, -1.0, 0.5, 0.0, 2.0, 0.25];
    let slope: f64 = direction.iter().zip(&expected).map(|(a, b)| a * b).sum();
    close(&pushforward(&|x: &[_]| kept(of, x), &AutoReverseDiff::default(), &POINT, [&direction]).unwrap(), &[slope]);
    let outputs = |x: &[_]| of.run(&[x[0], x[1], x[5] * 0.0], &x[2..]);
    let rows = jacobian(&outputs, &AutoReverseDiff::default(), &POINT).unwrap();
    let weights = [0.3, 1.0, -2.0];
    let row = pullback(&outputs, &AutoReverseDiff::default(), &POINT, [&weights]).unwrap();
    let sums: Vec<f64> = (0..6).map(|j| (0..3).map(|i| weights[i] * rows.as_slice()[6 * i + j]).sum()).collect();
    close(&row[0], &sums);
}

#[cfg(feature = "compiled")]
#[test]
fn compiled_recordings_agree_with_the_loop() {
    let of = &Checkpointed::new(RungeKutta, 3, STEPS);
    let f = |x: &[_]| kept(of, x);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), &POINT).unwrap();
    for k in 0..3 {
        let x = POINT.map(|v| v * (1.0 + 0.01 * f64::from(k)));
        close(
            &prepared.gradient(&x).unwrap(),
            &gradient(&|x: &[_]| plain(x), &AutoForwardDiff::default(), &x).unwrap(),
        );
    }
    let expected = hessian(&|x: &[_]| plain(x), &AutoForwardDiff::default(), &POINT).unwrap();
    let found = hessian(&|x: &[_]| kept(of, x), &AutoReverseDiff::compiled(), &POINT).unwrap();
    close(found.as_slice(), expected.as_slice());
}

#[test]
fn second_order_agrees_with_the_loop() {
    let of = &Checkpointed::new(RungeKutta, 3, STEPS).with_snapshots(3);
    let expected = hessian(&|x: &[_]| plain(x), &AutoForwardDiff::default(), &POINT).unwrap();
    let tape = AutoReverseDiff::tape();
    let nested = SecondOrder(AutoForwardDiff::default(), tape);
    close(hessian(&|x: &[_]| kept(of, x), &tape, &POINT).unwrap().as_slice(), expected.as_slice());
    close(hessian(&|x: &[_]| kept(of, x), &nested, &POINT).unwrap().as_slice(), expected.as_slice());
    let other = SecondOrder(tape, AutoForwardDiff::default());
    close(hessian(&|x: &[_]| kept(of, x), &other, &POINT).unwrap().as_slice(), expected.as_slice());
    let ones = [1.0; 6];
    let sums: Vec<f64> = expected.as_slice().chunks(6).map(|row| row.iter().sum()).collect();
    close(&hvp(&|x: &[_]| kept(of, x), &tape, &POINT, [&ones]).unwrap()[0], &sums);
}

/// A loop in each step: u ← u after three times u ← p u.
struct Nested(Checkpointed<Affine>);

impl Step for Nested {
    fn step<T: Real>(&self, _: usize, u: &mut [T], p: &[T]) {
        u[0] = self.0.run(u, p)[0] + p[1];
    }
}

#[test]
fn loops_in_loops() {
    let inner = Checkpointed::new(Affine(Arc::default()), 1, 2).with_snapshots(1);
    let outer = &Checkpointed::new(Nested(inner), 1, 3).with_snapshots(2);
    // The inner loop is u ← p² u + 1.
    let by_hand = |p: f64, q: f64, u: f64| (0..3).fold(u, |u, _| p * p * u + 1.0 + q);
    let f = |x: &[_]| outer.run(&x[..1], &x[1..])[0];
    assert_eq!(outer.run(&[2.0], &[0.5, 3.0]), [by_hand(0.5, 3.0, 2.0)]);
    // With s = p²: u₃ = s³ u + (1 + q)(s² + s + 1).
    let (p, q, u) = (0.5, 3.0, 2.0);
    let s: f64 = p * p;
    let by_p = 2.0 * p * (3.0 * s * s * u + (1.0 + q) * (2.0 * s + 1.0));
    let expected = [s.powi(3), by_p, s * s + s + 1.0];
    close(&gradient(&f, &AutoReverseDiff::tape(), &[u, p, q]).unwrap(), &expected);
}

/// u ← √u, whose derivative at 0 is infinite.
struct Root;

impl Step for Root {
    fn step<T: Real>(&self, _: usize, u: &mut [T], _: &[T]) {
        u[0] = u[0].sqrt();
    }
}

#[test]
fn extreme_points() {
    let run = Checkpointed::new(Root, 2, 3);
    let f = |x: &[_]| run.run(x, &[]);
    // The second number of the state stays, and has no share in the first.
    let jac = jacobian(&f, &AutoReverseDiff::tape(), &[0.0, 5.0]).unwrap();
    assert_eq!(jac, [[f64::INFINITY, 0.0], [0.0, 1.0]]);
    let jac = jacobian(&f, &AutoReverseDiff::tape(), &[-1.0, 5.0]).unwrap();
    assert!(jac.as_slice()[0].is_nan() && jac.as_slice()[3] == 1.0);
    let constant = |x: f64| run.run(&[x * 0.0 + 16.0, x], &[])[0];
    assert_eq!(constant(3.0), 16f64.sqrt().sqrt().sqrt());
    let by_x = |x| run.run(&[x, x], &[])[0];
    close(&[derivative(&by_x, &AutoReverseDiff::tape(), 1.0).unwrap()], &[0.125]);
}

/// u₀ ← u₀², and u₁ ← √u₁, whose derivative at 0 is infinite.
struct Apart;

impl Step for Apart {
    fn step<T: Real>(&self, _: usize, u: &mut [T], _: &[T]) {
        u[0] = u[0] * u[0];
        u[1] = u[1].sqrt();
    }
}

#[test]
fn infinite_derivatives_of_what_is_not_read_do_not_matter() {
    let run = Checkpointed::new(Apart, 2, 2).with_snapshots(1);
    let f = |x: &[_]| run.run(x, &[])[0];
    for x in [[3.0, 0.0], [0.0, 0.0], [1.0, f64::INFINITY]] {
        let h = [[12.0 * x[0] * x[0], 0.0], [0.0, 0.0]];
        assert_eq!(hessian(&f, &AutoReverseDiff::tape(), &x).unwrap(), h);
        let [product] = hvp(&f, &AutoReverseDiff::tape(), &x, [&[1.0, 1.0]]).unwrap();
        assert_eq!(product[0], h[0][0]);
    }
    let pair = SecondOrder(AutoReverseDiff::tape(), AutoForwardDiff::default());
    assert_eq!(hessian(&|x: &[_]| run.run(x, &[])[0], &pair, &[3.0, 0.0]).unwrap(), [[108.0, 0.0], [0.0, 0.0]]);
}

#[test]
#[should_panic(expected = "`run` got a state of 3 numbers, for a loop with 2")]
fn a_state_of_another_length_is_refused() {
    Checkpointed::new(Root, 2, 3).run(&[1.0; 3], &[]);
}
