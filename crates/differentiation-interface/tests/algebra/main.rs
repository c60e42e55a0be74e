//! Linear algebra of `nalgebra`, `ndarray` and `faer` on our numbers, by each kind of engine.

mod at_zeros;
mod attribute;
mod attribute_arrays;
mod equal_values;
mod shortcuts;
mod theirs_faer;
mod theirs_nalgebra;
mod theirs_ndarray;
mod zero_factors;

/// Fourth-order differences of a plain function, right to about 1e-11 of its size.
fn differences(f: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    const STEP: f64 = 1e-3;
    (0..x.len())
        .map(|i| {
            let at = |steps: f64| {
                let mut x = x.to_vec();
                x[i] += steps * STEP;
                f(&x)
            };
            (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * STEP)
        })
        .collect()
}

/// Compares entry by entry.
#[track_caller]
fn assert_close(engine: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{engine}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(error <= tolerance * expected.abs().max(1.0), "{engine}: entry {i} is {found}, expected {expected}");
    }
}

/// Makes a test of each function: its gradients by three engines are its differences.
macro_rules! gradients_are_differences {
    ($($function:ident at $point:expr, $tolerance:expr;)*) => {
        $(#[test]
        fn $function() {
            use differentiation_interface::prelude::*;
            let x: &[f64] = &$point;
            let expected = crate::differences(super::$function, x);
            assert!(expected.iter().all(|entry| entry.abs() > 1e-4), "the differences see too little: {expected:?}");
            let forward = gradient(&super::$function, &AutoForwardDiff::default(), x).unwrap();
            crate::assert_close("forward_diff", &forward, &expected, $tolerance);
            let reverse = gradient(&super::$function, &AutoReverseDiff::default(), x).unwrap();
            crate::assert_close("reverse_diff", &reverse, &expected, $tolerance);
            // Recorded elsewhere.
            let elsewhere: Vec<f64> = x.iter().map(|v| 1.01 * v + 0.003).collect();
            let mut prepared = prepare_gradient(&super::$function, &AutoReverseDiff::compiled(), &elsewhere[..]).unwrap();
            crate::assert_close("compiled_reverse_diff", &prepared.gradient(x).unwrap(), &expected, $tolerance);
        })*
    };
}
use gradients_are_differences;
