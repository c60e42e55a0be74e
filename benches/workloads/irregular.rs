//! Functions without the regular loops that rerolling looks for: a random graph of operations with shared
//! subexpressions, loops that end by value, and tables searched by value.

use super::Random;
use super::losses::{Loss, Objective};
use differentiation_interface::Real;

/// As many random operations as there are steps, each on one of the last results and on an input or any earlier result. The
/// value is the mean of the last results.
pub(crate) struct RandomGraph {
    steps: Vec<(u8, u32, u32)>,
}

impl RandomGraph {
    const INPUTS: usize = 100;
    /// The number of last results.
    const LAST: usize = 200;

    pub(crate) fn new(steps: usize) -> Self {
        let mut random = Random::new(12);
        let mut below = |most: usize| (random.unit() * most as f64) as usize;
        let steps = (0..steps).map(|step| {
            let results = Self::INPUTS + step;
            let last = results - 1 - below(Self::LAST.min(results));
            let any = if below(2) == 0 { below(Self::INPUTS) } else { below(results) };
            (below(6) as u8, last as u32, any as u32)
        });
        RandomGraph { steps: steps.collect() }
    }

    /// Leaves all results and returns the value.
    #[inline]
    fn run<T: Real>(&self, results: &mut Vec<T>, x: &[T]) -> T {
        results.clear();
        results.extend_from_slice(x);
        for &(operation, a, b) in &self.steps {
            let (a, b): (T, T) = (results[a as usize], results[b as usize]);
            results.push(match operation {
                0 => 0.5 * (a + b),
                1 => a - 0.7 * b,
                2 => a * b,
                3 => a.sin(),
                4 => a / (b * b + 1.0),
                _ => (a * a + b * b + 0.01).sqrt() - 0.3,
            });
        }
        let last = &results[results.len().saturating_sub(Self::LAST)..];
        last.iter().copied().sum::<T>() / last.len() as f64
    }
}

impl Objective for RandomGraph {
    fn name(&self) -> String {
        format!("irregular: {} steps", self.steps.len())
    }
    fn point(&self) -> Vec<f64> {
        Random::around(13, Self::INPUTS, 0.0, 1.0)
    }
    fn value<T: Real>(&self, x: &[T]) -> T {
        self.run(&mut Vec::with_capacity(x.len() + self.steps.len()), x)
    }
}

impl Loss for RandomGraph {
    /// Results and their adjoints.
    type Memory = (Vec<f64>, Vec<f64>);
    fn memory(&self) -> Self::Memory {
        let n = Self::INPUTS + self.steps.len();
        (Vec::with_capacity(n), vec![0.0; n])
    }
    /// The steps forwards and backwards.
    fn by_hand(&self, (results, adjoints): &mut Self::Memory, grad: &mut [f64], x: &[f64]) -> f64 {
        let value = self.run(results, x);
        adjoints.fill(0.0);
        let last = results.len().min(Self::LAST);
        adjoints[results.len() - last..].fill(1.0 / last as f64);
        for (k, &(operation, first, second)) in self.steps.iter().enumerate().rev() {
            let (adjoint, first, second) = (adjoints[x.len() + k], first as usize, second as usize);
            let (a, b) = (results[first], results[second]);
            let (by_a, by_b) = match operation {
                0 => (0.5, 0.5),
                1 => (1.0, -0.7),
                2 => (b, a),
                3 => (a.cos(), 0.0),
                4 => {
                    let inverse = 1.0 / (b * b + 1.0);
                    (inverse, -2.0 * a * b * inverse * inverse)
                }
                _ => {
                    let inverse = 1.0 / (results[x.len() + k] + 0.3);
                    (a * inverse, b * inverse)
                }
            };
            adjoints[first] += adjoint * by_a;
            adjoints[second] += adjoint * by_b;
        }
        grad.copy_from_slice(&adjoints[..x.len()]);
        value
    }
}

/// Σ sin Eᵢ where Eᵢ - 0.3 sin Eᵢ = xᵢ (Kepler's equation), solved by Newton's method until the step is small: the number of
/// steps depends on the value.
pub(crate) struct Kepler(pub(crate) usize);

const ECCENTRICITY: f64 = 0.3;
const SMALL: f64 = 1e-9;

impl Objective for Kepler {
    fn name(&self) -> String {
        "irregular: loops".into()
    }
    fn point(&self) -> Vec<f64> {
        Random::around(10, self.0, 0.0, 3.0)
    }
    fn value<T: Real>(&self, x: &[T]) -> T {
        let mut sum = T::constant(0.0);
        for &mean in x {
            let mut e = mean;
            loop {
                let step = (e - ECCENTRICITY * e.sin() - mean) / (1.0 - ECCENTRICITY * e.cos());
                e -= step;
                if step.abs() < SMALL {
                    break;
                }
            }
            sum += e.sin();
        }
        sum
    }
}

impl Loss for Kepler {
    type Memory = ();
    fn memory(&self) {}
    /// By the theorem on implicit functions: dE/dx = 1/(1 - 0.3 cos E).
    fn by_hand(&self, _: &mut (), grad: &mut [f64], x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (grad, &mean) in grad.iter_mut().zip(x) {
            let mut e = mean;
            loop {
                let step = (e - ECCENTRICITY * e.sin() - mean) / (1.0 - ECCENTRICITY * e.cos());
                e -= step;
                if step.abs() < SMALL {
                    break;
                }
            }
            sum += e.sin();
            *grad = e.cos() / (1.0 - ECCENTRICITY * e.cos());
        }
        sum
    }
}

/// Σ t(xᵢ)² where t interpolates linearly in a table of 257 places; bisection finds the place.
pub(crate) struct Table {
    inputs: usize,
    places: Vec<f64>,
    values: Vec<f64>,
}

impl Table {
    pub(crate) fn new(inputs: usize) -> Self {
        let places: Vec<f64> = (0..=256).map(|i| -1.01 + f64::from(i) * 2.02 / 256.0).collect();
        let values = places.iter().map(|p| (5.0 * p).sin()).collect();
        Table { inputs, places, values }
    }
    /// The largest place, except the last, that does not exceed `x`.
    #[inline]
    fn find<T: PartialOrd<f64>>(&self, x: &T) -> usize {
        let (mut low, mut high) = (0, self.places.len() - 1);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if *x < self.places[middle] {
                high = middle;
            } else {
                low = middle;
            }
        }
        low
    }
    fn slope(&self, k: usize) -> f64 {
        (self.values[k + 1] - self.values[k]) / (self.places[k + 1] - self.places[k])
    }
}

impl Objective for Table {
    fn name(&self) -> String {
        "irregular: table".into()
    }
    fn point(&self) -> Vec<f64> {
        Random::around(11, self.inputs, 0.0, 1.0)
    }
    fn value<T: Real>(&self, x: &[T]) -> T {
        let mut sum = T::constant(0.0);
        for &x in x {
            let k = self.find(&x);
            let y = self.values[k] + (x - self.places[k]) * self.slope(k);
            sum += y * y;
        }
        sum
    }
}

impl Loss for Table {
    type Memory = ();
    fn memory(&self) {}
    fn by_hand(&self, _: &mut (), grad: &mut [f64], x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (grad, &x) in grad.iter_mut().zip(x) {
            let k = self.find(&x);
            let slope = self.slope(k);
            let y = self.values[k] + (x - self.places[k]) * slope;
            sum += y * y;
            *grad = 2.0 * y * slope;
        }
        sum
    }
}

/// The log-determinant of the covariance of a Gaussian process at so many places, by its own Cholesky factorisation: thousands of short loops.
pub(crate) struct Covariance(pub(crate) usize);

impl Objective for Covariance {
    fn name(&self) -> String {
        format!("Cholesky, {} x {}", self.0, self.0)
    }
    fn point(&self) -> Vec<f64> {
        vec![0.5, -1.0]
    }
    fn value<T: Real>(&self, p: &[T]) -> T {
        let mut factor: Vec<Vec<T>> = Vec::new();
        let mut sum = T::zero();
        for i in 0..self.0 {
            let mut row = Vec::new();
            for j in 0..=i {
                let distance = 0.3 * (i - j) as f64;
                let mut entry = (-0.5 * distance * distance / (p[0] * p[0])).exp();
                if i == j {
                    entry += p[1].exp();
                }
                let other = if i == j { &row } else { &factor[j] };
                for (a, b) in row.iter().zip(other) {
                    entry -= *a * *b;
                }
                row.push(if i == j { entry.sqrt() } else { entry / other[j] });
            }
            sum += row[i].ln();
            factor.push(row);
        }
        sum
    }
}

/// Σ of one of two formulas each, by the sign of the number.
pub(crate) struct Branches;

impl Objective for Branches {
    fn name(&self) -> String {
        "branches".into()
    }
    fn point(&self) -> Vec<f64> {
        vec![0.5; 7]
    }
    fn value<T: Real>(&self, x: &[T]) -> T {
        let term = |v: &T| {
            let v = *v;
            (0..5).fold(v, |s, _| if v > T::zero() { (s * v).sin() + s } else { (s - v).exp() * s })
        };
        x.iter().map(term).sum()
    }
}
