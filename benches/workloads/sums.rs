//! W1, the sum of squares, W2, the Rosenbrock function, and W3, squared differences: many inputs, one output.

use super::{Number, Random};
use differentiation_interface::{Function, Real};

/// A function of many numbers that returns one, with its derivative by hand.
pub(crate) trait Sum {
    const NAME: &'static str;
    fn point(n: usize) -> Vec<f64>;
    fn value<T: Number>(x: &[T]) -> T;
    /// Writes the gradient and returns the value, in one pass.
    fn by_hand(grad: &mut [f64], x: &[f64]) -> f64;
}

/// W1: Σ xᵢ².
pub(crate) struct Squares;

impl Sum for Squares {
    const NAME: &'static str = "W1 squares";
    fn point(n: usize) -> Vec<f64> {
        Random::around(1, n, 0.0, 1.0)
    }
    #[inline]
    fn value<T: Number>(x: &[T]) -> T {
        let mut sum = T::of(0.0);
        for &v in x {
            sum += v * v;
        }
        sum
    }
    fn by_hand(grad: &mut [f64], x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (g, v) in grad.iter_mut().zip(x) {
            sum += v * v;
            *g = 2.0 * v;
        }
        sum
    }
}

/// W2: Σ 100 (xᵢ₊₁ - xᵢ²)² + (1 - xᵢ)².
pub(crate) struct Rosenbrock;

impl Sum for Rosenbrock {
    const NAME: &'static str = "W2 rosenbrock";
    fn point(n: usize) -> Vec<f64> {
        Random::around(2, n, 0.0, 1.0)
    }
    #[inline]
    fn value<T: Number>(x: &[T]) -> T {
        let mut sum = T::of(0.0);
        for i in 0..x.len() - 1 {
            let d = x[i + 1] - x[i] * x[i];
            let e = 1.0 - x[i];
            sum += 100.0 * (d * d) + e * e;
        }
        sum
    }
    fn by_hand(grad: &mut [f64], x: &[f64]) -> f64 {
        let mut sum = 0.0;
        grad[0] = 0.0;
        for i in 0..x.len() - 1 {
            let d = x[i + 1] - x[i] * x[i];
            let e = 1.0 - x[i];
            sum += 100.0 * (d * d) + e * e;
            grad[i] += -400.0 * d * x[i] - 2.0 * e;
            grad[i + 1] = 200.0 * d;
        }
        sum
    }
}

/// W3: Σ (xᵢ₊₁ - xᵢ)².
pub(crate) struct Differences;

impl Sum for Differences {
    const NAME: &'static str = "W3 differences";
    fn point(n: usize) -> Vec<f64> {
        (1..=n).map(|i| i as f64).collect()
    }
    #[inline]
    fn value<T: Number>(x: &[T]) -> T {
        let mut sum = T::of(0.0);
        for i in 0..x.len() - 1 {
            let d = x[i + 1] - x[i];
            sum += d * d;
        }
        sum
    }
    fn by_hand(grad: &mut [f64], x: &[f64]) -> f64 {
        let mut sum = 0.0;
        grad[0] = 0.0;
        for i in 0..x.len() - 1 {
            let d = x[i + 1] - x[i];
            sum += d * d;
            grad[i] -= 2.0 * d;
            grad[i + 1] = 2.0 * d;
        }
        sum
    }
}

/// A [`Sum`] as a function for operators.
pub(crate) struct AsFunction<W>(pub(crate) W);

impl<T: Real, W: Sum> Function<[T]> for AsFunction<W> {
    type Output = T;
    #[inline]
    fn call(&self, x: &[T]) -> T {
        W::value(x)
    }
}
