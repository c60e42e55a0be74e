//! Log densities of `nuts-rs`: value and gradient by hand, the sampled moments of a normal distribution, errors.

use differentiation_interface::prelude::*;
use differentiation_interface_solvers::nuts_rs::{LogDensityError, log_density};
use nuts_rs::rand::{SeedableRng, rngs::SmallRng};
use nuts_rs::{CpuLogpFunc, DiagNutsSettings, LogpError, Model, sample_sequentially};
use std::sync::Arc;

/// Two independent normal variables with means 1 and -2, deviations 1 and 3; log of a negative number for x₀ < -50.
#[differentiable]
fn normal(x: &[f64]) -> f64 {
    -0.5 * ((x[0] - 1.0).powi(2) + ((x[1] + 2.0) / 3.0).powi(2)) + 0.0 * (x[0] + 50.0).ln()
}

#[test]
fn value_and_gradient_are_those_by_hand() {
    let mut density = log_density(&Normal, &AutoReverseDiff::default(), &[0.0; 2]).unwrap();
    let mut grad = [f64::NAN; 2];
    assert_eq!(density.dim(), 2);
    assert_eq!(density.logp(&[3.0, 7.0], &mut grad).unwrap(), -6.5);
    assert_eq!(grad, [-2.0, -1.0]);
}

#[test]
fn moments_of_a_normal_distribution_are_found() {
    let math = log_density(&Normal, &AutoForwardDiff::default(), &[0.0; 2]).unwrap().math();
    let settings = DiagNutsSettings { num_tune: 500, ..Default::default() };
    let draws = sample_sequentially(math, settings, &[0.0; 2], 4500, 0, &mut SmallRng::seed_from_u64(3)).unwrap();
    let draws: Vec<_> = draws.skip(500).map(|draw| draw.unwrap().0).collect();
    for (i, (mean, deviation)) in [(1.0, 1.0_f64), (-2.0, 3.0)].into_iter().enumerate() {
        let n = draws.len() as f64;
        let found = draws.iter().map(|x| x[i]).sum::<f64>() / n;
        let variance = draws.iter().map(|x| (x[i] - found).powi(2)).sum::<f64>() / n;
        assert!((found - mean).abs() < 0.1 * deviation, "mean {found}, expected {mean}");
        assert!((variance.sqrt() / deviation - 1.0).abs() < 0.1, "deviation {}", variance.sqrt());
    }
}

#[test]
fn points_outside_of_the_domain_are_divergences_and_errors_end_the_sampler() {
    let mut density = log_density(&Normal, &AutoReverseDiff::default(), &[0.0; 2]).unwrap();
    let outside = density.logp(&[-60.0, 0.0], &mut [0.0; 2]).unwrap_err();
    assert!(matches!(outside, LogDensityError::NotFinite) && outside.is_recoverable());
    let wrong = density.logp(&[0.0; 3], &mut [0.0; 3]).unwrap_err();
    assert!(!wrong.is_recoverable());
    assert!(wrong.to_string().contains("prepared for 2 inputs, called with 3"), "{wrong}");
}

#[test]
fn chains_start_near_the_point_of_the_preparation() {
    let density = Arc::new(log_density(Arc::new(Normal), &AutoReverseDiff::compiled(), &[5.0, -5.0]).unwrap());
    let mut x = [f64::NAN; 2];
    density.init_position(&mut SmallRng::seed_from_u64(1), 0, &mut x).unwrap();
    assert!((x[0] - 5.0).abs() <= 1.0 && (x[1] + 5.0).abs() <= 1.0 && x[0] != 5.0, "{x:?}");
}

/// A normal density of positive numbers, which has an error elsewhere.
#[differentiable]
fn half_normal(x: &[f64]) -> Result<f64, String> {
    if x[0] < 0.0 { Err("negative".into()) } else { Ok(-0.5 * x[0] * x[0]) }
}

#[test]
fn an_error_of_the_density_ends_the_sampler() {
    let mut density = log_density(&HalfNormal, &AutoReverseDiff::default(), &[1.0]).unwrap();
    let mut grad = [0.0];
    assert_eq!((density.logp(&[2.0], &mut grad).unwrap(), grad), (-2.0, [-2.0]));
    let error = density.logp(&[-1.0], &mut grad).unwrap_err();
    assert!(
        !error.is_recoverable() && error.to_string().contains("the function returned an error: negative"),
        "{error}"
    );
}
