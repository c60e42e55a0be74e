//! A hierarchical model sampled with `nuts-rs`, gradients by a compiled recording; several chains in parallel.
//!
//! `cargo run --release -p differentiation-interface-solvers --features nuts-rs --example hierarchical_model`

use differentiation_interface::prelude::*;
use differentiation_interface_solvers::nuts_rs::log_density;
use nuts_rs::{DiagNutsSettings, HashMapConfig, HashMapValue, Sampler, SamplerWaitResult};
use std::{error::Error, sync::Arc, time::Duration};

/// Groups with means θᵢ = μ + τ zᵢ, one measurement yᵢ of deviation 1 each; μ ~ N(0, 10²), zᵢ ~ N(0, 1), τ known.
struct Groups {
    y: Vec<f64>,
    tau: f64,
}

impl<T: Real> Function<[T]> for Groups {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        let (mu, z) = (x[0], &x[1..]);
        let misfit: T = z.iter().zip(&self.y).map(|(z, y)| (mu + *z * self.tau - *y).powi(2)).sum();
        -0.5 * (mu * mu * 0.01 + z.iter().map(|z| *z * *z).sum::<T>() + misfit)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let model = Groups { y: (0..49).map(|i| 3.0 + 2.0 * (i as f64).sin()).collect(), tau: 2.0 };
    // Closed form: yᵢ ~ N(μ, τ² + 1) given μ, so the precision of μ is 1/10² + n / (τ² + 1).
    let precision = 0.01 + 49.0 / (model.tau * model.tau + 1.0);
    let mean = model.y.iter().sum::<f64>() / (model.tau * model.tau + 1.0) / precision;

    let density = log_density(Arc::new(model), &AutoReverseDiff::compiled(), &[0.0; 50])?;
    let settings = DiagNutsSettings { num_tune: 500, num_draws: 2000, num_chains: 2, seed: 7, ..Default::default() };
    let sampler = Sampler::new(Arc::new(density), settings, HashMapConfig::new(), 2, None)?;
    let SamplerWaitResult::Trace(chains) = sampler.wait_timeout(Duration::from_secs(300)) else {
        return Err("the sampler did not end".into());
    };
    let mut mu = Vec::new();
    for chain in chains {
        let HashMapValue::F64(draws) = &chain.draws["value"] else { return Err("draws are numbers".into()) };
        mu.extend(draws.chunks(50).skip(500).map(|x| x[0])); // without tuning
    }
    let found = mu.iter().sum::<f64>() / mu.len() as f64;
    let variance = mu.iter().map(|m| (m - found).powi(2)).sum::<f64>() / mu.len() as f64;
    println!("{} draws: mean {found:.3}, variance {variance:.4}; exact {mean:.3}, {:.4}", mu.len(), 1.0 / precision);
    assert!((found - mean).abs() < 0.03 && (variance * precision - 1.0).abs() < 0.15);
    Ok(())
}
