//! One step of an extended Kalman filter for a cart with a pole, as it would run on a microcontroller.
//!
//! The derivatives in `cart_pole` are emitted by `derivative-source-examples`. Neither that crate nor the library that differentiates is
//! a dependency: the filter needs `libm` alone.

#![no_std]
#![forbid(unsafe_code)]

/// Emitted: the motion of the cart with its Jacobian.
pub mod cart_pole;

use cart_pole::cart_pole_value_and_jacobian;

/// State estimate and its covariance, row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Position, angle, velocity, angular velocity.
    pub state: [f64; 4],
    /// Covariance.
    pub covariance: [f64; 16],
}

impl Estimate {
    /// The estimate after a time step with this force, by the explicit Euler method; `noise` is added to the variances.
    pub fn predicted(&self, force: f64, step: f64, noise: f64) -> Estimate {
        let [position, angle, velocity, rate] = self.state;
        let (mut motion, mut jac) = ([0.0; 4], [0.0; 20]);
        cart_pole_value_and_jacobian(&[position, angle, velocity, rate, force], &mut motion, &mut jac);
        // F = 1 + step ∂motion/∂state, and F P Fᵀ.
        let transition = |i: usize, j: usize| step * jac[5 * i + j] + if i == j { 1.0 } else { 0.0 };
        let mut half = [0.0; 16];
        for i in 0..4 {
            for j in 0..4 {
                half[4 * i + j] = (0..4).map(|k| transition(i, k) * self.covariance[4 * k + j]).sum();
            }
        }
        let mut next = Estimate { state: self.state, covariance: [0.0; 16] };
        for i in 0..4 {
            next.state[i] += step * motion[i];
            for j in 0..4 {
                let product: f64 = (0..4).map(|k| half[4 * i + k] * transition(j, k)).sum();
                next.covariance[4 * i + j] = product + if i == j { noise } else { 0.0 };
            }
        }
        next
    }

    /// The estimate after the angle has been measured with this variance.
    pub fn corrected(&self, angle: f64, variance: f64) -> Estimate {
        let p = &self.covariance;
        let gain: [f64; 4] = core::array::from_fn(|i| p[4 * i + 1] / (p[5] + variance));
        let mut next = *self;
        for (i, gain) in gain.into_iter().enumerate() {
            next.state[i] += gain * (angle - self.state[1]);
            for j in 0..4 {
                next.covariance[4 * i + j] -= gain * p[4 + j];
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upright_pole_without_force_stays() {
        let start = Estimate { state: [0.0; 4], covariance: [0.0; 16] };
        assert_eq!(start.predicted(0.0, 0.01, 0.0), start);
    }

    #[test]
    fn the_covariance_follows_the_linearised_motion() {
        // At rest: the angle's rate grows by step · g / (0.5 (4/3 - 0.1/1.1)) per radian.
        let mut covariance = [0.0; 16];
        covariance[5] = 1.0;
        let start = Estimate { state: [0.0; 4], covariance };
        let next = start.predicted(0.0, 0.01, 0.0);
        let growth = 0.01 * 9.81 / (0.5 * (4.0 / 3.0 - 0.1 / 1.1));
        assert!((next.covariance[13] - growth).abs() < 1e-15, "{} {growth}", next.covariance[13]);
        assert!((next.covariance[15] - growth * growth).abs() < 1e-15);
    }

    #[test]
    fn measurements_of_the_angle_reveal_the_rate() {
        // The filter starts with a wrong rate and sees angles of a fall from 0.1 at rest.
        let mut truth = Estimate { state: [0.0, 0.1, 0.0, 0.0], covariance: [0.0; 16] };
        let mut covariance = [0.0; 16];
        (0..4).for_each(|i| covariance[5 * i] = 0.1);
        let mut estimate = Estimate { state: [0.0, 0.1, 0.0, 0.5], covariance };
        for _ in 0..40 {
            truth = truth.predicted(0.0, 0.01, 0.0);
            estimate = estimate.predicted(0.0, 0.01, 1e-8).corrected(truth.state[1], 1e-6);
        }
        assert!((estimate.state[3] - truth.state[3]).abs() < 1e-3, "{estimate:?} {truth:?}");
    }
}
