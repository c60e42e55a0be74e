//! Log densities of [`nuts-rs`](https://docs.rs/nuts-rs), which samples with gradients by any backend.
//!
//! Called by users, who pass [`LogDensity::math`] to a sampler. Calls [`Objective`].

use crate::objective::{Objective, objective};
use ::nuts_rs::{CpuLogpFunc, CpuMath, CpuMathError, HasDims, InitPositionError, LogpError, Model, rand};
use differentiation_interface::error::Error;
use differentiation_interface::operators::GradientBackend;
use differentiation_interface::point::Slice;
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The logarithm of a density, up to a constant, and its gradient; made by [`log_density`].
///
/// It is `Clone` (clones share the preparation and get work memory of their own where they run at the same time), a
/// [`CpuLogpFunc`], and a [`Model`] if it owns its function, so that `Sampler` runs chains in parallel.
pub struct LogDensity<H, B>
where
    H: Deref<Target: Sized>,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
{
    objective: Arc<Objective<H, B>>,
    start: Arc<[f64]>,
}

/// Prepares the log density `f`, with gradients by `backend`. Chains of [`Model`] start near `x`.
///
/// `f` is a pointer to the function: `&f` or an `Arc`. It may return a `Result`, whose error ends the sampler.
///
/// # Errors
/// Those of [`prepare_gradient`](differentiation_interface::operators::prepare_gradient).
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_solvers::nuts_rs::log_density;
/// use nuts_rs::{DiagNutsSettings, rand::SeedableRng, rand::rngs::SmallRng, sample_sequentially};
///
/// /// Normal with mean 3 and deviation 2.
/// #[differentiable]
/// fn log_normal(x: &[f64]) -> f64 {
///     -0.5 * ((x[0] - 3.0) / 2.0).powi(2)
/// }
///
/// let math = log_density(&LogNormal, &AutoReverseDiff::default(), &[0.0])?.math();
/// let settings = DiagNutsSettings { num_tune: 300, ..Default::default() };
/// let draws = sample_sequentially(math, settings, &[0.0], 2300, 0, &mut SmallRng::seed_from_u64(1))?;
/// let mean = draws.skip(300).map(|draw| draw.map(|(x, _)| x[0])).sum::<Result<f64, _>>()? / 2000.0;
/// assert!((mean - 3.0).abs() < 0.3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn log_density<H, B>(f: H, backend: &B, x: &[f64]) -> Result<LogDensity<H, B>, Error>
where
    H: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
{
    Ok(LogDensity { objective: Arc::new(objective(f, backend, x)?), start: x.into() })
}

impl<H, B> LogDensity<H, B>
where
    H: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
{
    /// The density as the samplers of `nuts-rs` take it.
    pub fn math(self) -> CpuMath<Self> {
        CpuMath::new(self)
    }
}

impl<H, B> Clone for LogDensity<H, B>
where
    H: Deref<Target: Sized>,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
{
    fn clone(&self) -> Self {
        LogDensity { objective: Arc::clone(&self.objective), start: Arc::clone(&self.start) }
    }
}

/// Why a log density has no value or gradient at a point.
#[derive(Debug)]
pub enum LogDensityError {
    /// It could not be differentiated; ends the sampler.
    Derivative(Error),
    /// The value or an entry of the gradient is not finite; the sampler counts a divergence and goes on.
    NotFinite,
}

impl fmt::Display for LogDensityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogDensityError::Derivative(error) => error.fmt(f),
            LogDensityError::NotFinite => f.write_str("the log density or its gradient is not finite"),
        }
    }
}

impl std::error::Error for LogDensityError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LogDensityError::Derivative(error) => Some(error),
            LogDensityError::NotFinite => None,
        }
    }
}

impl LogpError for LogDensityError {
    fn is_recoverable(&self) -> bool {
        matches!(self, LogDensityError::NotFinite)
    }
}

impl<H, B> HasDims for LogDensity<H, B>
where
    H: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
{
    fn dim_sizes(&self) -> HashMap<String, u64> {
        // The names that the samplers' storages use for positions and for draws.
        let inputs = self.objective.inputs() as u64;
        ["unconstrained_parameter", "dim"].map(|name| (name.to_string(), inputs)).into()
    }
}

impl<H, B> CpuLogpFunc for LogDensity<H, B>
where
    H: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
{
    type LogpError = LogDensityError;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.objective.inputs()
    }
    fn logp(&mut self, x: &[f64], grad: &mut [f64]) -> Result<f64, LogDensityError> {
        let value = self.objective.value_and_gradient_into(grad, x).map_err(LogDensityError::Derivative)?;
        if value.is_finite() && grad.iter().all(|g| g.is_finite()) {
            Ok(value)
        } else {
            Err(LogDensityError::NotFinite)
        }
    }
    fn expand_vector<R: rand::Rng + ?Sized>(&mut self, _: &mut R, x: &[f64]) -> Result<Vec<f64>, CpuMathError> {
        Ok(x.to_vec())
    }
}

impl<H, B> Model for LogDensity<H, B>
where
    H: Deref<Target: Sized> + Clone + 'static,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
    Self: Send + Sync + 'static,
{
    type Math = CpuMath<Self>;

    fn math<R: rand::Rng + ?Sized>(self: Arc<Self>, _: &mut R) -> anyhow::Result<CpuMath<Self>> {
        Ok(CpuMath::new(Self::clone(&self)))
    }
    /// The point of the preparation, each coordinate moved by a uniform number between -1 and 1.
    fn init_position<R: rand::Rng + ?Sized>(
        &self,
        rng: &mut R,
        _chain: u64,
        x: &mut [f64],
    ) -> Result<(), InitPositionError> {
        use rand::RngExt;
        for (x, start) in x.iter_mut().zip(self.start.iter()) {
            *x = start + rng.random_range(-1.0..1.0);
        }
        Ok(())
    }
}
