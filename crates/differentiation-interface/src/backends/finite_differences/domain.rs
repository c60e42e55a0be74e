//! Where a function may be evaluated: bounds for all inputs, or for each.
//!
//! Called by `line.rs`, which keeps every evaluation within them; calls nothing.

use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::scalar::Base;
use num_traits::Float;
use std::fmt::Debug;
use std::sync::Arc;

/// The bounds of the inputs of a function, which [`AutoFiniteDifferences`](super::AutoFiniteDifferences) never leaves.
pub trait Domain: Clone + Debug + PartialEq + Send + Sync + 'static {
    /// The least and the largest value of a coordinate, both included.
    fn bounds(&self, coordinate: usize) -> (f64, f64);
    /// Checks that there are bounds for points of length `inputs`.
    ///
    /// # Errors
    /// [`ErrorKind::DomainLength`] if the bounds are for another number of inputs.
    fn check(&self, inputs: usize) -> Result<(), ErrorKind>;
}

/// The same bounds for every input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SameBounds {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl SameBounds {
    /// No bounds.
    pub(super) const NONE: SameBounds = SameBounds { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
}

impl Domain for SameBounds {
    fn bounds(&self, _coordinate: usize) -> (f64, f64) {
        (self.lower, self.upper)
    }
    fn check(&self, _inputs: usize) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// Bounds for each input. A clone shares them.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundsOfEach(pub(super) Arc<[(f64, f64)]>);

impl Domain for BoundsOfEach {
    fn bounds(&self, coordinate: usize) -> (f64, f64) {
        self.0[coordinate]
    }
    fn check(&self, inputs: usize) -> Result<(), ErrorKind> {
        let found = self.0.len();
        if found == inputs { Ok(()) } else { Err(ErrorKind::DomainLength { expected: inputs, found }) }
    }
}

/// The bounds of a coordinate as numbers within them. No bound is the end of the range of the numbers.
pub(super) fn inner_bounds<B: Base>(domain: &impl Domain, coordinate: usize) -> (B, B) {
    let largest = <B as Float>::max_value();
    let (lower, upper) = domain.bounds(coordinate);
    // A bound may lie between two numbers of less precision.
    let inwards = |bound: f64, sign: f64| {
        let rounded = B::from_f64(bound);
        if (rounded.as_f64() - bound) * sign < 0.0 {
            let ulp = Float::max(rounded.abs() * <B as Float>::epsilon(), <B as Float>::min_positive_value());
            rounded + ulp * B::from_f64(sign)
        } else {
            rounded
        }
    };
    let clamp = |bound: B| Float::max(Float::min(bound, largest), -largest);
    let keep = |bound: B| if bound.is_nan() { bound } else { clamp(bound) };
    (keep(inwards(lower, 1.0)), keep(inwards(upper, -1.0)))
}

/// Whether a coordinate is within its bounds. Any number is, finite or not, where there are none.
pub(super) fn contains(domain: &impl Domain, coordinate: usize, x: f64) -> bool {
    let (lower, upper) = domain.bounds(coordinate);
    (lower == f64::NEG_INFINITY && upper == f64::INFINITY) || (lower <= x && x <= upper)
}
