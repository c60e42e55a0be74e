//! W6: the right-hand sides of Lorenz-96 and of a quadrotor, as many outputs as inputs.

use super::{Number, Random};
use differentiation_interface::{Function, Real};

/// A function from n numbers to n numbers, with its Jacobian by hand.
pub(crate) trait System {
    const NAME: &'static str;
    const SIZE: usize;
    fn point() -> Vec<f64>;
    fn value<T: Number>(y: &mut [T], x: &[T]);
    /// Writes value and Jacobian, row by row.
    fn by_hand(y: &mut [f64], jac: &mut [f64], x: &[f64]);
}

/// yᵢ = (xᵢ₊₁ - xᵢ₋₂) xᵢ₋₁ - xᵢ + 8, cyclic.
pub(crate) struct Lorenz96;

/// Indices of xᵢ₋₂, xᵢ₋₁, xᵢ₊₁.
#[inline(always)]
fn around(i: usize) -> (usize, usize, usize) {
    let n = Lorenz96::SIZE;
    (if i < 2 { i + n - 2 } else { i - 2 }, if i < 1 { n - 1 } else { i - 1 }, if i + 1 == n { 0 } else { i + 1 })
}

impl System for Lorenz96 {
    const NAME: &'static str = "W6 lorenz96";
    const SIZE: usize = 40;
    fn point() -> Vec<f64> {
        Random::around(6, Self::SIZE, 8.0, 1.0)
    }
    #[inline]
    fn value<T: Number>(y: &mut [T], x: &[T]) {
        for i in 0..Self::SIZE {
            let (far, before, after) = around(i);
            y[i] = (x[after] - x[far]) * x[before] - x[i] + 8.0;
        }
    }
    fn by_hand(y: &mut [f64], jac: &mut [f64], x: &[f64]) {
        jac.fill(0.0);
        for i in 0..Self::SIZE {
            let (far, before, after) = around(i);
            y[i] = (x[after] - x[far]) * x[before] - x[i] + 8.0;
            let row = &mut jac[i * Self::SIZE..][..Self::SIZE];
            row[after] = x[before];
            row[far] = -x[before];
            row[before] = x[after] - x[far];
            row[i] = -1.0;
        }
    }
}

/// Mass action: five reactions for each of 101 species, each of which takes two species and makes one.
pub(crate) struct Reactions;

/// Rate, the species that a reaction takes, and the one it makes.
#[inline(always)]
fn reaction(k: usize) -> (f64, [usize; 2], usize) {
    let n = Reactions::SIZE;
    (1.0 + k as f64 * 0.01, [k * 7919 % n, k * 104_729 % n], k * 31 % n)
}

impl System for Reactions {
    const NAME: &'static str = "reactions";
    const SIZE: usize = 101;
    fn point() -> Vec<f64> {
        Random::around(7, Self::SIZE, 0.5, 0.2)
    }
    fn value<T: Number>(y: &mut [T], x: &[T]) {
        y.fill(T::of(0.0));
        for (rate, [a, b], made) in (0..5 * Self::SIZE).map(reaction) {
            let speed = x[a] * x[b] * rate;
            y[a] += -speed;
            y[b] += -speed;
            y[made] += speed;
        }
    }
    fn by_hand(y: &mut [f64], jac: &mut [f64], x: &[f64]) {
        Self::value(y, x);
        jac.fill(0.0);
        for (rate, [a, b], made) in (0..5 * Self::SIZE).map(reaction) {
            for (row, sign) in [(a, -1.0), (b, -1.0), (made, 1.0)] {
                jac[row * Self::SIZE + a] += sign * rate * x[b];
                jac[row * Self::SIZE + b] += sign * rate * x[a];
            }
        }
    }
}

/// Rigid body with thrust, drag and torques; state: position, velocity, roll, pitch, yaw, body rates.
pub(crate) struct Quadrotor;

const MASS: f64 = 1.2;
const GRAVITY: f64 = 9.81;
pub(crate) const INERTIA: [f64; 3] = [0.03, 0.04, 0.05];
pub(crate) const LIFT: f64 = 13.0 / MASS;
const TORQUE: [f64; 3] = [0.01, -0.02, 0.03];
pub(crate) const DRAG: f64 = 0.1 / MASS;

impl System for Quadrotor {
    const NAME: &'static str = "W6 quadrotor";
    const SIZE: usize = 12;
    fn point() -> Vec<f64> {
        Random::around(7, Self::SIZE, 0.1, 0.8)
    }
    #[inline]
    fn value<T: Number>(y: &mut [T], x: &[T]) {
        let v = [x[3], x[4], x[5]];
        let (sf, cf, st, ct, sp, cp) = (x[6].sin(), x[6].cos(), x[7].sin(), x[7].cos(), x[8].sin(), x[8].cos());
        let w = [x[9], x[10], x[11]];
        y[..3].copy_from_slice(&v);
        let drag = DRAG * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
        y[3] = LIFT * (cf * st * cp + sf * sp) - drag * v[0];
        y[4] = LIFT * (cf * st * sp - sf * cp) - drag * v[1];
        y[5] = LIFT * (cf * ct) - GRAVITY - drag * v[2];
        let q = w[1] * sf + w[2] * cf;
        y[6] = w[0] + q * st / ct;
        y[7] = w[1] * cf - w[2] * sf;
        y[8] = q / ct;
        let [i1, i2, i3] = INERTIA;
        y[9] = (TORQUE[0] - (i3 - i2) * (w[1] * w[2])) / i1;
        y[10] = (TORQUE[1] - (i1 - i3) * (w[0] * w[2])) / i2;
        y[11] = (TORQUE[2] - (i2 - i1) * (w[0] * w[1])) / i3;
    }
    fn by_hand(y: &mut [f64], jac: &mut [f64], x: &[f64]) {
        let v = [x[3], x[4], x[5]];
        let ((sf, cf), (st, ct), (sp, cp)) = (x[6].sin_cos(), x[7].sin_cos(), x[8].sin_cos());
        let w = [x[9], x[10], x[11]];
        let speed = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
        let q = w[1] * sf + w[2] * cf;
        let [i1, i2, i3] = INERTIA;
        let (sec, tan) = (1.0 / ct, st / ct);
        y[..3].copy_from_slice(&v);
        y[3] = LIFT * (cf * st * cp + sf * sp) - DRAG * speed * v[0];
        y[4] = LIFT * (cf * st * sp - sf * cp) - DRAG * speed * v[1];
        y[5] = LIFT * (cf * ct) - GRAVITY - DRAG * speed * v[2];
        y[6] = w[0] + q * tan;
        y[7] = w[1] * cf - w[2] * sf;
        y[8] = q * sec;
        y[9] = (TORQUE[0] - (i3 - i2) * w[1] * w[2]) / i1;
        y[10] = (TORQUE[1] - (i1 - i3) * w[0] * w[2]) / i2;
        y[11] = (TORQUE[2] - (i2 - i1) * w[0] * w[1]) / i3;

        jac.fill(0.0);
        let mut set = |i: usize, j: usize, value: f64| jac[i * Self::SIZE + j] = value;
        for i in 0..3 {
            set(i, 3 + i, 1.0);
            for j in 0..3 {
                let diagonal = if i == j { speed } else { 0.0 };
                set(3 + i, 3 + j, -DRAG * (diagonal + v[i] * v[j] / speed));
            }
        }
        set(3, 6, LIFT * (cf * sp - sf * st * cp));
        set(3, 7, LIFT * cf * ct * cp);
        set(3, 8, LIFT * (sf * cp - cf * st * sp));
        set(4, 6, LIFT * (-sf * st * sp - cf * cp));
        set(4, 7, LIFT * cf * ct * sp);
        set(4, 8, LIFT * (cf * st * cp + sf * sp));
        set(5, 6, -LIFT * sf * ct);
        set(5, 7, -LIFT * cf * st);
        let dq = w[1] * cf - w[2] * sf;
        set(6, 6, dq * tan);
        set(6, 7, q * sec * sec);
        set(6, 9, 1.0);
        set(6, 10, sf * tan);
        set(6, 11, cf * tan);
        set(7, 6, -q);
        set(7, 10, cf);
        set(7, 11, -sf);
        set(8, 6, dq * sec);
        set(8, 7, q * st * sec * sec);
        set(8, 10, sf * sec);
        set(8, 11, cf * sec);
        let (a, b, c) = (-(i3 - i2) / i1, -(i1 - i3) / i2, -(i2 - i1) / i3);
        set(9, 10, a * w[2]);
        set(9, 11, a * w[1]);
        set(10, 9, b * w[2]);
        set(10, 11, b * w[0]);
        set(11, 9, c * w[1]);
        set(11, 10, c * w[0]);
    }
}

/// A [`System`] as a function for operators, which writes into the given output.
pub(crate) struct AsFunction<W>(pub(crate) W);

impl<T: Real, W: System> Function<[T]> for AsFunction<W> {
    type Output = Vec<T>;
    #[inline]
    fn call(&self, x: &[T]) -> Vec<T> {
        let mut y = Vec::new();
        self.call_into(x, &mut y);
        y
    }
    #[inline]
    fn call_into(&self, x: &[T], y: &mut Vec<T>) {
        y.resize(W::SIZE, T::constant(0.0));
        W::value(y, x);
    }
}
