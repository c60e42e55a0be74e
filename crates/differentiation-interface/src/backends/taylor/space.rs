//! What the recurrences compute with: a value, and the coefficients of degrees 1 to the order, degree by degree.
//!
//! A series of one variable has one coefficient per degree; a polynomial in several variables has one per monomial of the degree. The
//! Euler operator D = Σ xᵢ ∂/∂xᵢ multiplies the part of degree k by k, and y = φ(x) has D y = φ′(x) D x, as the derivative has in one variable. So every
//! recurrence is written once, for a [`Space`] that multiplies parts. Called by `kernels`, `unary` and `planar`.

use differentiation_interface_core::scalar::{Base, Scalar};
use std::ops::Range;

/// The parts of one kind of numbers, to one order.
pub(super) trait Space<S: Scalar> {
    /// The coefficients of degrees 1 to the order.
    type Block: AsRef<[S]> + AsMut<[S]>;
    /// The order, if it is known to the compiler and so low that recurrences are written out degree by degree; else 0.
    const UNROLLED: usize;
    /// The highest degree.
    fn order(&self) -> usize;
    /// Coefficients that are zero.
    fn zeros(&self) -> Self::Block;
    /// Where the part of a degree is in a block.
    fn part(&self, degree: usize) -> Range<usize>;
    /// Adds `weight · a · b` to `out`, where `a` and `b` are parts of the degrees `i` and `j`, at least 1.
    fn add_product(&self, out: &mut [S], i: usize, a: &[S], j: usize, b: &[S], weight: f64);
    /// Writes Σ weight(j) aⱼ bₖ₋ⱼ over the given degrees j to `out`, a part of degree k that is zero on entry.
    fn convolve(
        &self,
        out: &mut [S],
        k: usize,
        a: View<'_, S>,
        b: View<'_, S>,
        (from, to): (usize, usize),
        weight: impl Fn(usize) -> f64,
    ) where
        Self: Sized,
    {
        for j in from..=to {
            let w = weight(j);
            if j == 0 {
                if let Some(b) = b.part(self, k) {
                    add_multiple(out, b, scaled(a.value, w));
                }
            } else if j == k {
                if let Some(a) = a.part(self, k) {
                    add_multiple(out, a, scaled(b.value, w));
                }
            } else if let (Some(a), Some(b)) = (a.part(self, j), b.part(self, k - j)) {
                self.add_product(out, j, a, k - j, b, w);
            }
        }
    }
}

/// The place of parts of one variable to the order `N`: one coefficient each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<const N: usize>;

impl<S: Scalar, const N: usize> Space<S> for Line<N> {
    type Block = [S; N];
    const UNROLLED: usize = if N <= 12 { N } else { 0 };
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn order(&self) -> usize {
        N
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn zeros(&self) -> [S; N] {
        [S::default(); N]
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn part(&self, degree: usize) -> Range<usize> {
        degree - 1..degree
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add_product(&self, out: &mut [S], _: usize, a: &[S], _: usize, b: &[S], weight: f64) {
        out[0] += scaled(a[0] * b[0], weight);
    }
    /// One loop over two slices, which are checked once.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn convolve(
        &self,
        out: &mut [S],
        k: usize,
        a: View<'_, S>,
        b: View<'_, S>,
        (from, to): (usize, usize),
        weight: impl Fn(usize) -> f64,
    ) {
        // The first term is not added to zero, which the compiler may not leave out.
        let mut sum: Option<S> = None;
        let mut add = |term: S| sum = Some(sum.map_or(term, |sum| sum + term));
        if let (0, Some(b)) = (from, b.block) {
            add(scaled(a.value * b[k - 1], weight(0)));
        }
        let (first, end) = (from.max(1), (to + 1).min(k));
        if let (Some(a), Some(b), true) = (a.block, b.block, first < end) {
            // By index: an iterator over pairs of which one runs backwards is not unrolled.
            let (a, b, last) = (&a[first - 1..end - 1], &b[k - end..k - first], end - first - 1);
            for j in 0..=last {
                add(scaled(a[j] * b[last - j], weight(first + j)));
            }
        }
        if let (true, Some(a)) = (to == k, a.block) {
            add(scaled(a[k - 1] * b.value, weight(k)));
        }
        out[0] = sum.unwrap_or_default();
    }
}

/// `weight · x`; for the weight 1, `x`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn scaled<S: Scalar>(x: S, weight: f64) -> S {
    if weight == 1.0 { x } else { x.scale(S::Base::from_f64(weight)) }
}

/// A number as the recurrences read it.
#[derive(Clone, Copy)]
pub(super) struct View<'a, S> {
    pub(super) value: S,
    /// Absent if the number does not depend on the variables. May end before the order.
    pub(super) block: Option<&'a [S]>,
}

impl<'a, S: Scalar> View<'a, S> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(value: S, block: &'a impl AsRef<[S]>) -> Self {
        View { value, block: Some(block.as_ref()) }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn lower(value: S, block: &'a [S]) -> Self {
        View { value, block: Some(block) }
    }
    pub(super) fn inert(value: S) -> Self {
        View { value, block: None }
    }
    /// The same coefficients with another value.
    pub(super) fn with_value(self, value: S) -> Self {
        View { value, ..self }
    }
    /// The part of a degree that is at least 1, if it is not zero.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn part(&self, space: &impl Space<S>, degree: usize) -> Option<&'a [S]> {
        self.block.map(|block| &block[space.part(degree)])
    }
}

/// Adds `x · factor` to `out`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn add_multiple<S: Scalar>(out: &mut [S], x: &[S], factor: S) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += *x * factor;
    }
}

/// Multiplies by a plain number.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn rescale<S: Scalar>(out: &mut [S], factor: f64) {
    out.iter_mut().for_each(|out| *out = scaled(*out, factor));
}

/// Runs `$body` for each degree `$k` from 1 to the order of a space of type `$P`. The first twelve are written out, with constants for `$k`, and are
/// compiled if the type fixes an order that low: then the compiler unrolls the loops over lower degrees, which it does not if `$body` is a closure.
macro_rules! each_degree {
    ($P:ty, $space:expr, |$k:ident| $body:block) => {
        $crate::backends::taylor::space::each_degree!(@ $P, $space, $k, $body, 1 2 3 4 5 6 7 8 9 10 11 12);
    };
    (@ $P:ty, $space:expr, $k:ident, $body:block, $($degree:literal)*) => {
        if const { <$P as $crate::backends::taylor::space::Space<S>>::UNROLLED == 0 } {
            for $k in 1..=$space.order() $body
        } else {$(
            if const { <$P as $crate::backends::taylor::space::Space<S>>::UNROLLED >= $degree } {
                let $k: usize = $degree;
                $body
            }
        )*}
    };
}
pub(super) use each_degree;

/// Makes a block part by part: `|degree, the parts below, the part to fill|`, which is zero on entry.
macro_rules! build {
    ($P:ty, $space:expr, |$k:ident, $lower:pat_param, $out:ident| $body:block) => {{
        let mut block = $space.zeros();
        $crate::backends::taylor::space::each_degree!($P, $space, |$k| {
            let ($lower, $out) = $crate::backends::taylor::space::parts($space, block.as_mut(), $k);
            $body
        });
        block
    }};
}
pub(super) use build;

/// The parts below a degree, and that of the degree.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn parts<'a, S: Scalar>(space: &impl Space<S>, block: &'a mut [S], degree: usize) -> (&'a [S], &'a mut [S]) {
    let range = space.part(degree);
    let (lower, rest) = block.split_at_mut(range.start);
    (lower, &mut rest[..range.len()])
}

/// Writes Σ weight(j) aⱼ bₖ₋ⱼ over the given degrees j to `out`, a part of degree k that is zero on entry.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn convolve<S: Scalar>(
    space: &impl Space<S>,
    out: &mut [S],
    k: usize,
    a: View<'_, S>,
    b: View<'_, S>,
    degrees: (usize, usize),
    weight: impl Fn(usize) -> f64,
) {
    space.convolve(out, k, a, b, degrees, weight);
}

/// The Euler operator: the part of degree k times k. The value of the result is zero.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn euler<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>) -> P::Block {
    build!(P, space, |k, _, out| {
        if let Some(x) = x.part(space, k) {
            out.copy_from_slice(x);
            rescale(out, k as f64);
        }
    })
}
