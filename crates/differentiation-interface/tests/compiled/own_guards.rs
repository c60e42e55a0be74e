//! Recordings whose programs, which add in another order, decide a comparison otherwise than the function did at the recorded point.

use differentiation_interface::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Operators whose program with one seed is kept for later calls, at another point on the other branch.
#[test]
fn such_recordings_serve_no_call_of_another_point() {
    let x: Vec<f64> = (0..1000).map(|i| 1.0 / (i + 3) as f64).collect();
    let bound: f64 = x.iter().sum();
    fn scaled<T: Real>(x: &[T], bound: f64) -> T {
        let sum: T = x.iter().copied().sum();
        if sum == bound { sum * sum * 5.0 } else { sum * sum * 2.0 }
    }
    let runs = AtomicUsize::new(0);
    let f = |x: &[_]| {
        runs.fetch_add(1, Ordering::Relaxed);
        scaled(x, bound)
    };
    let backend = AutoReverseDiff::compiled();
    let other: Vec<f64> = x.iter().enumerate().map(|(i, v)| if i == 17 { v + 1.0 } else { *v }).collect();
    let (near, far) = (|a: f64, b: f64| (a - b).abs() < 1e-9 * b, bound + 1.0);
    let ones = vec![1.0; x.len()];

    let mut pullbacks = prepare_pullback(&f, &backend, &x, [1.0]).unwrap();
    let mut pushforwards = prepare_pushforward(&f, &backend, &x, [&ones[..]]).unwrap();
    let mut products = prepare_hvp(&f, &backend, &x, [&ones[..]]).unwrap();
    let mut gradients = prepare_gradient(&f, &backend, &x).unwrap();
    // Twice each, since a program is kept by the call that first runs it. Not the first point again, at which the branch of the other is as right
    // within rounding.
    for (point, factor, sum) in [(&x, 5.0, bound), (&x, 5.0, bound), (&other, 2.0, far), (&other, 2.0, far)] {
        let slope = 2.0 * factor * sum;
        let before = runs.load(Ordering::Relaxed);
        assert!(near(pullbacks.pullback(point, [1.0]).unwrap()[0][0], slope));
        assert!(near(pushforwards.pushforward(point, [&ones[..]]).unwrap()[0], 1000.0 * slope));
        assert!(near(products.hvp(point, [&ones[..]]).unwrap()[0][0], 2000.0 * factor));
        assert!(near(gradients.gradient(point).unwrap()[0], slope));
        // The program decides otherwise than the function did, so that each call at the first point makes a recording for itself.
        assert!(factor < 5.0 || runs.load(Ordering::Relaxed) >= before + 4);
    }
}
