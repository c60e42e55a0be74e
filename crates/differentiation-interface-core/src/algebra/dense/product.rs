//! The rules of matrix products: of two factors with derivatives, and of one with data.
//!
//! Called by [`matmul`](super::matmul) and by the derivatives of the other rules.

use super::calls::{all_constant, bits, call, is_nothing, values};
use super::plain::{multiply, on_doubles};
use super::shapes::Product;
use crate::custom::{Custom, CustomRule, Halves, identity_of};
use crate::recordings::EngineScalar;
use crate::scalar::{Base, Scalar};
use num_traits::Float;
use std::sync::Arc;

/// A product with one factor given: the other one, on the other side of it, is the argument.
pub(super) struct WithData<B> {
    pub(super) shape: Product,
    pub(super) data: Arc<[B]>,
    pub(super) data_is_left: bool,
}

/// The product of factors that lie one after the other, over any scalar.
pub(super) fn product_of<S: Scalar>(shape: Product, factors: &[S]) -> Vec<S> {
    let (left, right) = factors.split_at(shape.m * shape.k);
    if S::DEPTH > 0 && !all_constant(left) && !all_constant(right) {
        return Custom::new(shape).call(factors);
    }
    let mut out = vec![S::default(); shape.m * shape.n];
    product(shape, left, right, &mut out);
    out
}

/// Fills `out` with a product over any scalar.
pub(super) fn product<S: Scalar>(shape: Product, left: &[S], right: &[S], out: &mut [S]) {
    if on_doubles(&[left, right], out, |factors, out| multiply(shape, factors[0], factors[1], out)) {
        return;
    }
    if all_constant(left) {
        return call(WithData { shape, data: values(left).into(), data_is_left: true }, right, out);
    }
    if all_constant(right) {
        return call(WithData { shape, data: values(right).into(), data_is_left: false }, left, out);
    }
    call(shape, &[left, right].concat(), out);
}

/// The same where one factor is a seed: its zeros contribute nothing, beside infinite numbers and NaN too.
pub(super) fn product_of_seed<S: Scalar>(shape: Product, [left, right]: [&[S]; 2], seed_is_left: bool, out: &mut [S]) {
    let (seed, other) = if seed_is_left { (left, right) } else { (right, left) };
    let seeded = Seeded { shape, is_left: seed_is_left };
    if S::DEPTH == 0 || !seed.iter().any(S::is_inert_zero) {
        product(shape, left, right, out);
    } else {
        // Derivatives that are not finite do not show in a value.
        let other = seeded.without_absent(seed, other);
        let [left, right] = if seed_is_left { [seed, &other] } else { [&other, seed] };
        product(shape, left, right, out);
    }
    seeded.leave_out_absent(seed, |i| other[i], out);
}

/// A product with a seed as its left or right factor. Its terms are a number of line `i` of the seed times one of line `j` of the other factor.
struct Seeded {
    shape: Product,
    is_left: bool,
}

impl Seeded {
    /// Numbers of lines of the seed and of the other factor.
    fn lines(&self) -> [usize; 2] {
        let Product { m, n, .. } = self.shape;
        if self.is_left { [m, n] } else { [n, m] }
    }

    /// The place of number `l` of a line of the left or the right factor.
    fn place(&self, in_left: bool, line: usize, l: usize) -> usize {
        let Product { m, k, n, left_transposed, right_transposed } = self.shape;
        match (in_left, left_transposed, right_transposed) {
            (true, true, _) | (false, _, false) => l + k * line,
            (true, false, _) => line + m * l,
            (false, _, true) => line + n * l,
        }
    }

    fn is_absent<S: Scalar>(&self, seed: &[S], i: usize, l: usize) -> bool {
        seed[self.place(self.is_left, i, l)].is_inert_zero()
    }

    /// The other factor with zeros where it meets only zeros of the seed.
    fn without_absent<S: Scalar>(&self, seed: &[S], other: &[S]) -> Vec<S> {
        let mut kept = other.to_vec();
        let [seed_lines, other_lines] = self.lines();
        for l in (0..self.shape.k).filter(|&l| (0..seed_lines).all(|i| self.is_absent(seed, i, l))) {
            (0..other_lines).for_each(|j| kept[self.place(!self.is_left, j, l)] = S::default());
        }
        kept
    }

    /// Makes results absent that come from zeros of the seed alone, and computes those that are NaN again without its zeros.
    fn leave_out_absent<S: Scalar>(&self, seed: &[S], other: impl Fn(usize) -> S, out: &mut [S]) {
        if !seed.iter().any(S::is_inert_zero) {
            return;
        }
        let [seed_lines, other_lines] = self.lines();
        for i in 0..seed_lines {
            let is_absent = (0..self.shape.k).all(|l| self.is_absent(seed, i, l));
            for j in 0..other_lines {
                let out = &mut out[if self.is_left { i + seed_lines * j } else { j + other_lines * i }];
                if !is_absent && !out.peek().is_nan() {
                    continue;
                }
                *out = S::default();
                for l in (0..self.shape.k).filter(|&l| !self.is_absent(seed, i, l)) {
                    *out += seed[self.place(self.is_left, i, l)] * other(self.place(!self.is_left, j, l));
                }
            }
        }
    }
}

/// The product of data and numbers that may carry derivatives.
pub(super) fn product_with_data<S: Scalar>(shape: Product, data: Arc<[S::Base]>, right: &[S]) -> Vec<S> {
    let with_data = WithData { shape, data, data_is_left: true };
    if S::DEPTH > 0 {
        return Custom::new(with_data).call(right);
    }
    let mut out = vec![S::default(); shape.m * shape.n];
    with_data.apply(right, &mut out);
    out
}

/// `sum += term`.
pub(super) fn add<S: Scalar>(sum: &mut [S], term: &[S]) {
    sum.iter_mut().zip(term).for_each(|(sum, term)| *sum += *term);
}

impl<B: Base> CustomRule<B> for Product {
    const NAME: &'static str = "matmul";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(self)
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        let (left, right) = x.split_at(self.m * self.k);
        y.resize(self.m * self.n, B::ZERO);
        product(*self, left, right, y);
    }

    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        let length = self.m * self.k;
        let ((left, right), (of_left, of_right)) = (x.split_at(length), dx.split_at(length));
        dy.fill(S::default());
        if !is_nothing(of_left) {
            product_of_seed(*self, [of_left, right], true, dy);
        }
        if !is_nothing(of_right) {
            let mut term = vec![S::default(); dy.len()];
            product_of_seed(*self, [left, of_right], false, &mut term);
            add(dy, &term);
        }
    }

    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        let length = self.m * self.k;
        let ((left, right), (of_left, of_right)) = (x.split_at(length), dx.split_at_mut(length));
        let fill = |(shape, cotangent_is_left), other: &[S], out: &mut [S]| match cotangent_is_left {
            true => product_of_seed(shape, [dy, other], true, out),
            false => product_of_seed(shape, [other, dy], false, out),
        };
        fill(self.adjoint_of_left(), right, of_left);
        fill(self.adjoint_of_right(), left, of_right);
    }
}

impl<B: Base> WithData<B> {
    /// Fills `out` with the product over any scalar.
    fn apply<S: Scalar<Base = B>>(&self, x: &[S], out: &mut [S]) {
        if S::DEPTH > 0 {
            return call(self.again(), x, out);
        }
        let slices = [&*self.data];
        let converted: Vec<f64>;
        let data = match B::as_doubles(&slices) {
            Some(&[data]) => data,
            _ => {
                converted = self.data.iter().map(|v| v.as_f64()).collect();
                &converted
            }
        };
        on_doubles(&[x], out, |x, out| match self.data_is_left {
            true => multiply(self.shape, data, x[0], out),
            false => multiply(self.shape, x[0], data, out),
        });
    }
    /// The same of a seed.
    fn apply_to_seed<S: Scalar<Base = B>>(&self, seed: &[S], out: &mut [S]) {
        self.apply(seed, out);
        let seeded = Seeded { shape: self.shape, is_left: !self.data_is_left };
        seeded.leave_out_absent(seed, |i| S::constant(self.data[i]), out);
    }
    fn again(&self) -> Self {
        WithData { shape: self.shape, data: Arc::clone(&self.data), data_is_left: self.data_is_left }
    }
    /// The transposed map, from cotangents of the product to those of the argument.
    fn adjoint(&self) -> Self {
        let (shape, cotangent_is_left) =
            if self.data_is_left { self.shape.adjoint_of_right() } else { self.shape.adjoint_of_left() };
        WithData { shape, data: Arc::clone(&self.data), data_is_left: !cotangent_is_left }
    }
}

impl<B: Base> CustomRule<B> for WithData<B> {
    const NAME: &'static str = "matmul with data";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(&(self.shape, self.data_is_left, bits(&self.data)))
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.resize(self.shape.m * self.shape.n, B::ZERO);
        self.apply(x, y);
    }
    fn pushforward<S: Scalar<Base = B>>(&self, _x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        self.apply_to_seed(dx, dy);
    }
    fn pullback<S: Scalar<Base = B>>(&self, _x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        self.adjoint().apply_to_seed(dy, dx);
    }
}
