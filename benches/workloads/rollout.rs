//! Roll-outs in time: a state that each input pushes on, and outputs along the way.

use super::Number;
use super::losses::Objective;
use super::systems::System;
use differentiation_interface::Real;

const STEP: f64 = 0.02;
const GRAVITY: f64 = 9.81;
const FRICTION: f64 = 0.1;

/// One step of a pendulum under a torque, semi-implicit Euler.
#[inline]
fn push<T: Number>([angle, speed]: [T; 2], torque: T) -> [T; 2] {
    let speed = speed + STEP * (torque - GRAVITY * angle.sin() - FRICTION * speed);
    [angle + STEP * speed, speed]
}

/// The angles of a pendulum at so many times, from the torques: a lower triangle.
pub(crate) struct Angles<const N: usize>;

impl<const N: usize> System for Angles<N> {
    const NAME: &'static str = "roll-out";
    const SIZE: usize = N;
    fn point() -> Vec<f64> {
        (0..N).map(|k| (0.7 * k as f64).sin()).collect()
    }
    #[inline]
    fn value<T: Number>(y: &mut [T], x: &[T]) {
        let mut state = [T::of(0.4), T::of(0.0)];
        for (y, torque) in y.iter_mut().zip(x) {
            state = push(state, *torque);
            *y = state[0];
        }
    }
    fn by_hand(y: &mut [f64], jac: &mut [f64], x: &[f64]) {
        let mut state = [0.4, 0.0];
        let mut slopes = [[0.0; N]; 2];
        for (k, torque) in x.iter().enumerate() {
            let cosine = state[0].cos();
            state = push(state, *torque);
            let [angles, speeds] = &mut slopes;
            for (j, (angle, speed)) in angles.iter_mut().zip(speeds).enumerate().take(k + 1) {
                let own = if j == k { 1.0 } else { 0.0 };
                *speed += STEP * (own - GRAVITY * cosine * *angle - FRICTION * *speed);
                *angle += STEP * *speed;
            }
            y[k] = state[0];
            jac[k * N..][..N].copy_from_slice(&slopes[0]);
        }
    }
}

/// What so many torques cost: squares of angles and torques.
pub(crate) struct Torques(pub(crate) usize);

impl Objective for Torques {
    fn name(&self) -> String {
        "roll-out".into()
    }
    fn point(&self) -> Vec<f64> {
        (0..self.0).map(|k| (0.7 * k as f64).sin()).collect()
    }
    fn value<T: Real>(&self, x: &[T]) -> T {
        let mut state = [T::constant(0.4), T::zero()];
        let cost = |torque: &T| {
            state = push(state, *torque);
            state[0] * state[0] + 0.01 * (*torque * *torque)
        };
        x.iter().map(cost).sum()
    }
}
