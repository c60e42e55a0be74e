//! Loops that carry a state: steps of Runge and Kutta, a Kalman filter, a tridiagonal solution, a recurrent network.

use super::losses::Objective;
use super::{Number, Random};
use differentiation_interface::Real;

/// One step of the classical method of Runge and Kutta for x′ = f(x).
#[inline]
fn rk4<T: Real, const N: usize>(x: &mut [T; N], h: f64, f: impl Fn(&[T; N]) -> [T; N]) {
    let beyond = |x: &[T; N], k: &[T; N], h: f64| std::array::from_fn(|i| x[i] + h * k[i]);
    let a = f(x);
    let b = f(&beyond(x, &a, h / 2.0));
    let c = f(&beyond(x, &b, h / 2.0));
    let d = f(&beyond(x, &c, h));
    *x = std::array::from_fn(|i| x[i] + (h / 6.0) * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
}

/// Predators and prey after this many steps; inputs: four rates and the initial state. x₀′ = (a - b x₁) x₀, x₁′ = (c x₀ - d) x₁.
pub(crate) struct Predators(pub(crate) usize);

impl Objective for Predators {
    fn name(&self) -> String {
        format!("RK4, 2 states, {} steps", self.0)
    }
    fn point(&self) -> Vec<f64> {
        vec![1.1, 0.4, 0.1, 0.4, 10.0, 5.0]
    }
    fn value<T: Real>(&self, p: &[T]) -> T {
        let mut x = [p[4], p[5]];
        for _ in 0..self.0 {
            rk4(&mut x, 0.01, |x| [(p[0] - p[1] * x[1]) * x[0], (p[2] * x[0] - p[3]) * x[1]]);
        }
        x[0] * x[0] + x[1]
    }
}

/// Lotka and Volterra's equations by the classical Runge-Kutta method, compared with data at every tenth step.
pub(crate) struct RungeKutta {
    data: Vec<[f64; 2]>,
}

impl RungeKutta {
    pub(crate) fn new(steps: usize) -> Self {
        let mut random = Random::new(11);
        RungeKutta { data: (0..steps / 10).map(|_| [1.0 + random.unit(), 0.5 + random.unit()]).collect() }
    }
}

fn change<T: Real>(p: &[T], u: [T; 2]) -> [T; 2] {
    [p[0] * u[0] - p[1] * u[0] * u[1], p[2] * u[0] * u[1] - p[3] * u[1] - p[4] * u[1] * u[1]]
}

impl Objective for RungeKutta {
    fn name(&self) -> String {
        format!("RK4, {} steps", 10 * self.data.len())
    }
    fn point(&self) -> Vec<f64> {
        vec![1.1, 0.6, 0.5, 0.9, 0.05]
    }
    fn value<T: Real>(&self, p: &[T]) -> T {
        let mut u = [T::constant(1.0), T::constant(0.5)];
        let mut sum = T::zero();
        for i in 0..10 * self.data.len() {
            rk4(&mut u, 0.01, |u| change(p, *u));
            if i % 10 == 9 {
                (0..2).for_each(|j| sum += (u[j] - self.data[i / 10][j]).powi(2));
            }
        }
        sum
    }
}

/// Lorenz-96 with forty states after this many steps; inputs: the initial state.
pub(crate) struct Weather(pub(crate) usize);

impl Objective for Weather {
    fn name(&self) -> String {
        format!("RK4, 40 states, {} steps", self.0)
    }
    fn point(&self) -> Vec<f64> {
        Random::around(40, 40, 8.0, 0.5)
    }
    fn value<T: Real>(&self, x: &[T]) -> T {
        let mut x: [T; 40] = std::array::from_fn(|i| x[i]);
        for _ in 0..self.0 {
            rk4(&mut x, 0.005, |x| {
                std::array::from_fn(|i| (x[(i + 1) % 40] - x[(i + 38) % 40]) * x[(i + 39) % 40] - x[i] + 8.0)
            });
        }
        x.iter().map(|v| *v * *v).sum()
    }
}

/// Minus the log-likelihood of noisy positions of a body of almost constant speed; inputs: both variances and the initial state.
pub(crate) struct Kalman {
    observed: Vec<f64>,
}

impl Kalman {
    pub(crate) fn new(steps: usize) -> Self {
        let mut random = Random::new(7);
        let (mut position, mut speed) = (0.0, 1.0);
        let observed = (0..steps).map(|_| {
            speed += 0.1 * random.normal();
            position += 0.1 * speed;
            position + 0.2 * random.normal()
        });
        Kalman { observed: observed.collect() }
    }
}

impl Objective for Kalman {
    fn name(&self) -> String {
        format!("Kalman filter, {} steps", self.observed.len())
    }
    fn point(&self) -> Vec<f64> {
        vec![0.02, 0.05, 0.1, 0.9]
    }
    fn value<T: Real>(&self, p: &[T]) -> T {
        const H: f64 = 0.1;
        let (q, r) = (p[0], p[1]);
        let (mut x, mut v) = (p[2], p[3]);
        let (mut xx, mut xv, mut vv) = (T::of(1.0), T::of(0.0), T::of(1.0));
        let mut minus_log = T::of(0.0);
        for z in &self.observed {
            // The state and its covariance one step ahead.
            x += H * v;
            xx += 2.0 * H * xv + H * H * vv;
            xv += H * vv;
            vv += q;
            // The observation.
            let (s, e) = (xx + r, *z - x);
            minus_log += 0.5 * (e * e / s + s.ln());
            let (gain_x, gain_v) = (xx / s, xv / s);
            x += gain_x * e;
            v += gain_v * e;
            vv -= gain_v * xv;
            xv -= gain_x * xv;
            xx -= gain_x * xx;
        }
        minus_log
    }
}

/// The squares of the solution of a tridiagonal system; inputs: diagonal and right-hand side. Beside the diagonal is -1.
pub(crate) struct Tridiagonal(pub(crate) usize);

impl Objective for Tridiagonal {
    fn name(&self) -> String {
        format!("tridiagonal solution, {} unknowns", self.0)
    }
    fn point(&self) -> Vec<f64> {
        let mut point = Random::around(8, self.0, 2.5, 0.25);
        point.extend(Random::around(9, self.0, 0.0, 1.0));
        point
    }
    fn value<T: Real>(&self, p: &[T]) -> T {
        let (diagonal, right) = p.split_at(self.0);
        let mut pivots = vec![T::of(0.0); self.0];
        let mut u = vec![T::of(0.0); self.0];
        (pivots[0], u[0]) = (diagonal[0], right[0]);
        for i in 1..self.0 {
            let factor = 1.0 / pivots[i - 1];
            pivots[i] = diagonal[i] - factor;
            u[i] = right[i] + factor * u[i - 1];
        }
        u[self.0 - 1] /= pivots[self.0 - 1];
        for i in (0..self.0 - 1).rev() {
            u[i] = (u[i] + u[i + 1]) / pivots[i];
        }
        u.iter().map(|v| *v * *v).sum()
    }
}

/// A network of four recurrent layers of eight units: h′ = tanh(W below + U h + b); inputs: the weights.
pub(crate) struct Recurrent {
    signal: Vec<[f64; UNITS]>,
}

const LAYERS: usize = 4;
const UNITS: usize = 8;

impl Recurrent {
    pub(crate) fn new(steps: usize) -> Self {
        let mut random = Random::new(11);
        Recurrent { signal: (0..steps).map(|_| std::array::from_fn(|_| random.signed())).collect() }
    }
}

impl Objective for Recurrent {
    fn name(&self) -> String {
        format!("recurrent network, {} steps", self.signal.len())
    }
    fn point(&self) -> Vec<f64> {
        Random::around(12, LAYERS * (2 * UNITS + 1) * UNITS, 0.0, 0.4)
    }
    fn value<T: Real>(&self, p: &[T]) -> T {
        let mut states = [[T::of(0.0); UNITS]; LAYERS];
        let mut loss = T::of(0.0);
        for signal in &self.signal {
            let mut below: [T; UNITS] = std::array::from_fn(|i| T::of(signal[i]));
            for (state, weights) in states.iter_mut().zip(p.chunks_exact((2 * UNITS + 1) * UNITS)) {
                let old = *state;
                for (unit, row) in state.iter_mut().zip(weights.chunks_exact(2 * UNITS + 1)) {
                    let mut sum = row[2 * UNITS];
                    for k in 0..UNITS {
                        sum += row[k] * below[k] + row[UNITS + k] * old[k];
                    }
                    *unit = sum.tanh();
                }
                below = *state;
            }
            loss += below.iter().map(|v| *v * *v).sum::<T>();
        }
        loss
    }
}
