//! The work that benchmarks measure: functions, hand-written derivatives, and textbook methods to compare with.
//!
//! Each function is written once, against [`Number`], and runs on plain `f64`, on the numbers of this library (every
//! `Real` is a `Number`) and on the textbook numbers in [`duals`] and [`tape`]. Benchmarks share these modules.

// Modules of each benchmark and no library: functions by hand are inlined into what is timed, as they would be in a program.
#![allow(dead_code, reason = "each benchmark uses a part")]

pub(crate) mod bundle;
pub(crate) mod constants;
pub(crate) mod duals;
pub(crate) mod grids;
pub(crate) mod irregular;
pub(crate) mod losses;
pub(crate) mod mixture;
pub(crate) mod peak;
pub(crate) mod rollout;
pub(crate) mod simd;
pub(crate) mod states;
pub(crate) mod sums;
pub(crate) mod systems;
pub(crate) mod table;
pub(crate) mod tape;
pub(crate) mod timing;

use differentiation_interface::scalar::{Imply, Real, Scalar};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// The four operators with one kind of right-hand side.
pub(crate) trait Operators<Rhs, Out>:
    Add<Rhs, Output = Out> + Sub<Rhs, Output = Out> + Mul<Rhs, Output = Out> + Div<Rhs, Output = Out>
{
}
impl<L, Rhs, Out> Operators<Rhs, Out> for L where
    L: Add<Rhs, Output = Out> + Sub<Rhs, Output = Out> + Mul<Rhs, Output = Out> + Div<Rhs, Output = Out>
{
}

/// The operations that the functions need of a number; plain numbers may stand on either side.
pub(crate) trait Number:
    Copy
    + Default
    + AddAssign
    + Neg<Output = Self>
    + Operators<Self, Self>
    + Operators<f64, Self>
    + Imply<f64, Is: Operators<Self, Self> + Operators<f64, f64>>
{
    fn of(constant: f64) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn sqrt(self) -> Self;
}

impl<T: Real> Number for T {
    #[inline(always)]
    fn of(constant: f64) -> T {
        Scalar::constant(constant)
    }
    #[inline(always)]
    fn sin(self) -> T {
        num_traits::Float::sin(self)
    }
    #[inline(always)]
    fn cos(self) -> T {
        num_traits::Float::cos(self)
    }
    #[inline(always)]
    fn sqrt(self) -> T {
        num_traits::Float::sqrt(self)
    }
}

/// The generator of all random inputs: splitmix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Of mean 0 and variance 1.
    pub(crate) fn normal(&mut self) -> f64 {
        let (u, v) = (self.unit(), self.unit());
        (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
    /// In [-1, 1).
    pub(crate) fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
    /// `n` numbers `base + scale * s`.
    pub(crate) fn around(seed: u64, n: usize, base: f64, scale: f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..n).map(|_| base + scale * random.signed()).collect()
    }
}
