//! W7: the log-likelihood of a mixture of normal distributions, with its gradient by hand.

#![expect(clippy::needless_range_loop, reason = "the gradient by hand is written with indices, as its formulas are")]

use super::Random;
use super::losses::{Loss, Objective};
use differentiation_interface::Real;
use std::ops::Sub;

/// Weights, means and factors of `k` components in `d` dimensions, without the constant term of the objective.
pub(crate) struct Mixture {
    pub(super) d: usize,
    pub(super) k: usize,
    pub(super) points: Vec<f64>,
    /// Weights, means, factors: the point of the measurement.
    start: Vec<f64>,
}

/// Memory of the gradient by hand.
pub(crate) struct Memory {
    exp_q: Vec<f64>,
    sum_q: Vec<f64>,
    terms: Vec<f64>,
    centred: Vec<f64>,
    mapped: Vec<f64>,
}

impl Mixture {
    pub(crate) fn new(d: usize, k: usize, n: usize) -> Mixture {
        let mut random = Random::new(8);
        let mut start: Vec<f64> = (0..k).map(|_| random.normal()).collect();
        start.extend((0..k * d).map(|_| random.unit()));
        start.extend((0..k * d * (d + 1) / 2).map(|_| 0.5 * random.normal()));
        let points = (0..n * d).map(|_| random.normal()).collect();
        Mixture { d, k, points, start }
    }

    pub(crate) fn points(&self) -> &[f64] {
        &self.points
    }

    /// The objective for other points.
    pub(crate) fn value_at<T: Real, P: Copy + Sub<T, Output = T>>(&self, points: &[P], x: &[T]) -> T {
        let (d, k) = (self.d, self.k);
        let (alpha, rest) = x.split_at(k);
        let (means, factors) = rest.split_at(k * d);
        let width = d * (d + 1) / 2;
        let mut exp_q = Vec::with_capacity(k * d);
        let mut sum_q = Vec::with_capacity(k);
        for factor in factors.chunks(width) {
            let mut sum = T::constant(0.0);
            for q in &factor[..d] {
                exp_q.push(q.exp());
                sum += *q;
            }
            sum_q.push(sum);
        }
        let mut total = T::constant(0.0);
        let mut terms = Vec::with_capacity(k);
        let mut centred = Vec::with_capacity(d);
        let mut mapped: Vec<T> = Vec::with_capacity(d);
        for point in points.chunks(d) {
            terms.clear();
            for c in 0..k {
                centred.clear();
                centred.extend((0..d).map(|j| point[j] - means[c * d + j]));
                mapped.clear();
                mapped.extend((0..d).map(|j| exp_q[c * d + j] * centred[j]));
                let mut l = c * width + d;
                for column in 0..d {
                    for row in column + 1..d {
                        mapped[row] += factors[l] * centred[column];
                        l += 1;
                    }
                }
                let norm: T = mapped.iter().map(|v| *v * *v).sum();
                terms.push(alpha[c] + sum_q[c] - 0.5 * norm);
            }
            total += log_sum_exp(&terms);
        }
        total -= points.len() as f64 / d as f64 * log_sum_exp(alpha);
        let mut prior = T::constant(0.0);
        for v in &exp_q {
            prior += *v * *v;
        }
        for factor in factors.chunks(width) {
            for l in &factor[d..] {
                prior += *l * *l;
            }
        }
        total + 0.5 * prior
    }
}

impl Objective for Mixture {
    fn name(&self) -> String {
        format!("W7 GMM d={} k={}", self.d, self.k)
    }
    fn point(&self) -> Vec<f64> {
        self.start.clone()
    }

    fn value<T: Real>(&self, x: &[T]) -> T {
        self.value_at(&self.points, x)
    }
}

impl Loss for Mixture {
    type Memory = Memory;
    fn memory(&self) -> Memory {
        let (d, k) = (self.d, self.k);
        Memory {
            exp_q: vec![0.0; k * d],
            sum_q: vec![0.0; k],
            terms: vec![0.0; k],
            centred: vec![0.0; k * d],
            mapped: vec![0.0; k * d],
        }
    }

    fn by_hand(&self, memory: &mut Memory, grad: &mut [f64], x: &[f64]) -> f64 {
        let (d, k) = (self.d, self.k);
        let n = self.points.len() / d;
        let (alpha, rest) = x.split_at(k);
        let (means, factors) = rest.split_at(k * d);
        let width = d * (d + 1) / 2;
        let Memory { exp_q, sum_q, terms, centred, mapped } = memory;
        grad.fill(0.0);
        let (grad_alpha, rest) = grad.split_at_mut(k);
        let (grad_means, grad_factors) = rest.split_at_mut(k * d);
        for c in 0..k {
            sum_q[c] = 0.0;
            for j in 0..d {
                let q = factors[c * width + j];
                exp_q[c * d + j] = q.exp();
                sum_q[c] += q;
            }
        }
        let mut total = 0.0;
        for point in self.points.chunks(d) {
            for c in 0..k {
                let (centred, mapped) = (&mut centred[c * d..][..d], &mut mapped[c * d..][..d]);
                for j in 0..d {
                    centred[j] = point[j] - means[c * d + j];
                    mapped[j] = exp_q[c * d + j] * centred[j];
                }
                let mut l = c * width + d;
                for column in 0..d {
                    for row in column + 1..d {
                        mapped[row] += factors[l] * centred[column];
                        l += 1;
                    }
                }
                let norm: f64 = mapped.iter().map(|v| v * v).sum();
                terms[c] = alpha[c] + sum_q[c] - 0.5 * norm;
            }
            let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut sum = 0.0;
            for term in terms.iter_mut() {
                *term = (*term - most).exp();
                sum += *term;
            }
            total += most + sum.ln();
            for c in 0..k {
                let weight = terms[c] / sum;
                let (centred, mapped) = (&centred[c * d..][..d], &mapped[c * d..][..d]);
                grad_alpha[c] += weight;
                let grad_factor = &mut grad_factors[c * width..][..width];
                let grad_mean = &mut grad_means[c * d..][..d];
                for j in 0..d {
                    let adjoint = -weight * mapped[j];
                    grad_factor[j] += weight + adjoint * exp_q[c * d + j] * centred[j];
                    grad_mean[j] -= adjoint * exp_q[c * d + j];
                }
                let mut l = d;
                for column in 0..d {
                    let mut sum = 0.0;
                    for row in column + 1..d {
                        let adjoint = -weight * mapped[row];
                        grad_factor[l] += adjoint * centred[column];
                        sum += adjoint * factors[c * width + l];
                        l += 1;
                    }
                    grad_mean[column] -= sum;
                }
            }
        }
        let most = alpha.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = alpha.iter().map(|a| (a - most).exp()).sum();
        total -= n as f64 * (most + sum.ln());
        for c in 0..k {
            grad_alpha[c] -= n as f64 * (alpha[c] - most).exp() / sum;
        }
        let mut prior = 0.0;
        for c in 0..k {
            for j in 0..d {
                let e = exp_q[c * d + j];
                prior += e * e;
                grad_factors[c * width + j] += e * e;
            }
            for l in c * width + d..(c + 1) * width {
                prior += factors[l] * factors[l];
                grad_factors[l] += factors[l];
            }
        }
        total + 0.5 * prior
    }
}

fn log_sum_exp<T: Real>(x: &[T]) -> T {
    let most = x.iter().copied().fold(x[0], |m, v| m.max(v));
    most + x.iter().map(|v| (*v - most).exp()).sum::<T>().ln()
}
