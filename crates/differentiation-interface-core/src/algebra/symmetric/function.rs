//! A function of a symmetric matrix as one rule.

use super::blocks::Decomposer;
use super::columns::{Columns, not_taken};
use super::eigen::Eigen;
use crate::custom::{CustomRule, Halves, identity_of};
use crate::rules::Unary;
use crate::scalar::{Base, Scalar};
use num_traits::Float;
use std::marker::PhantomData;

/// F = V f(Λ) Vᵀ by columns, then eigenvalues and eigenvectors, which functions do not take.
pub(in crate::algebra) struct SymmetricFunction<R, D> {
    rule: R,
    n: usize,
    decomposer: PhantomData<D>,
}

impl<R: Unary, D: Decomposer> SymmetricFunction<R, D> {
    /// For matrices of `n` rows.
    pub(in crate::algebra) fn new(rule: R, n: usize) -> Self {
        SymmetricFunction { rule, n, decomposer: PhantomData }
    }

    /// V (L ∘ Vᵀ D V) Vᵀ for the symmetric part D of a direction: the derivative along it, and since the map is its own adjoint, the pullback too.
    fn along<S: Scalar>(&self, x: &[S], y: &[S], direction: &[S], out: &mut [S]) {
        let n = self.n;
        let (values, vectors) = Eigen::<D>::of(n).parts(&not_taken(Eigen::<D>::of(n), x, &y[n * n..]));
        let p = vectors.transposed_times(&Columns::of(n, direction).symmetric().times(&vectors));
        let points: Vec<_> = values.entries.iter().map(|&x| Point::at(self.rule, x)).collect();
        let scaled = Columns::from_fn(n, n, |i, j| p.at(i, j) * divided_difference(self.rule, &points[i], &points[j]));
        out.copy_from_slice(&vectors.times(&scaled).times(&vectors.transposed()).symmetric().entries);
    }
}

impl<B: Base, R: Unary, D: Decomposer> CustomRule<B> for SymmetricFunction<R, D> {
    const NAME: &'static str = "symmetric_function";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        self.rule.parameter().and_then(|parameter| identity_of(&(self.n, parameter)))
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        let n = self.n;
        let mut parts = Vec::new();
        Eigen::<D>::of(n).value(x, &mut parts);
        let (values, vectors) = Eigen::<D>::of(n).parts(&parts);
        let scaled = Columns::from_fn(n, n, |i, j| vectors.at(i, j) * self.rule.value(values.at(j, 0)));
        y.clear();
        y.extend(scaled.times(&vectors.transposed()).entries);
        y.extend(parts);
    }

    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let (of_function, of_others) = dy.split_at_mut(dx.len());
        self.along(x, y, dx, of_function);
        of_others.fill(S::default());
    }

    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        self.along(x, y, &dy[..dx.len()], dx);
    }
}

/// A number with value and derivative of the function there.
struct Point<S> {
    x: S,
    value: S,
    slope: S,
}

impl<S: Scalar> Point<S> {
    fn at<R: Unary>(rule: R, x: S) -> Self {
        let value = x.apply(rule);
        Point { x, value, slope: rule.derivative(x, value).value() }
    }
}

/// (f(a) - f(b)) / (a - b), and f′(a) where they are equal. Where rounding of the difference exceeds the second difference of the slope, and explains
/// how far the two are apart, the mean of the slope by Simpson's rule, whose error is of fourth order in a - b.
fn divided_difference<R: Unary, S: Scalar>(rule: R, a: &Point<S>, b: &Point<S>) -> S {
    let middle = Point::at(rule, (a.x + b.x).scale(S::Base::from_f64(0.5)));
    let mean = (a.slope + b.slope + middle.slope.scale(S::Base::from_f64(4.0))).scale(S::Base::from_f64(1.0 / 6.0));
    let distance = (a.x.primal() - b.x.primal()).as_f64();
    if distance == 0.0 {
        return mean;
    }
    let quotient = (a.value - b.value) / (a.x - b.x);
    let [first, second, third] = [a, &middle, b].map(|point| point.slope.primal().as_f64());
    let bend = first - 2.0 * second + third;
    let size = a.value.primal().as_f64().abs().max(b.value.primal().as_f64().abs());
    let error = S::Base::epsilon().as_f64() * size / distance.abs();
    let apart = (quotient.primal().as_f64() - mean.primal().as_f64()).abs();
    // Slopes at three points do not show what lies between: those of tanh at -25, 25 and 75 vanish.
    if bend.abs() <= error && apart <= 16.0 * error { mean } else { quotient }
}
