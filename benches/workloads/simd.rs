//! The works by hand in vector instructions: the limit that compiled recordings are compared with.
//!
//! `pulp` chooses the instructions at run time and falls back to scalars if it supports no vectors. With its features
//! as set here these are, on x86-64, AVX-512 with eight numbers per vector where the processor has it, or else AVX2 with four, both with fused
//! multiplication, and two numbers on AArch64. The machine code was inspected with AVX2: all inner loops over entries and points work on four numbers and call
//! nothing. The modules below are for AVX2 alone, but for the mixture: on a Sapphire Rapids it takes 180 µs and 1.15 ms with AVX-512, 300 µs and 1.7 ms without.
//!
//! Called by the benchmarks of compiled recordings and of emitted code. W1 and W2 with their values are here, without them and W3 and W4 in
//! [`sums`], W5 in [`grids`], W6 and W8 in [`numbers`], W7 in [`mixture`] and [`bundle`].

pub(crate) mod bundle;
pub(crate) mod grids;
pub(crate) mod mixture;
pub(crate) mod numbers;
pub(crate) mod sums;

use pulp::{Arch, Simd, WithSimd, as_arrays, as_arrays_mut};

/// Writes the gradient and returns the value.
pub(crate) type Gradient<'a> = Box<dyn FnMut(&mut [f64], &[f64]) -> f64 + 'a>;

/// Whether the processor has the instructions for which [`sums`], [`grids`], [`numbers`] and [`bundle`] are compiled.
pub(crate) fn is_supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    true
}

/// W1: Σ xᵢ².
pub(crate) fn squares() -> Gradient<'static> {
    let arch = Arch::new();
    Box::new(move |grad, x| arch.dispatch(Squares { grad, x }))
}

/// W2: Σ 100 (xᵢ₊₁ - xᵢ²)² + (1 - xᵢ)².
pub(crate) fn rosenbrock() -> Gradient<'static> {
    let arch = Arch::new();
    Box::new(move |grad, x| arch.dispatch(Rosenbrock { grad, x }))
}

/// Number of vectors in flight, because each sum waits for the last one.
const AT_ONCE: usize = 4;

struct Squares<'a> {
    grad: &'a mut [f64],
    x: &'a [f64],
}

impl WithSimd for Squares<'_> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (x, x_rest) = S::as_simd_f64s(self.x);
        let (grad, grad_rest) = S::as_mut_simd_f64s(&mut self.grad[..self.x.len()]);
        let (x, x_last) = as_arrays::<AT_ONCE, _>(x);
        let (grad, grad_last) = as_arrays_mut::<AT_ONCE, _>(grad);
        let mut sums = [simd.splat_f64s(0.0); AT_ONCE];
        for (grad, x) in grad.iter_mut().zip(x) {
            for i in 0..AT_ONCE {
                sums[i] = simd.mul_add_e_f64s(x[i], x[i], sums[i]);
                grad[i] = simd.add_f64s(x[i], x[i]);
            }
        }
        for (grad, x) in grad_last.iter_mut().zip(x_last) {
            sums[0] = simd.mul_add_e_f64s(*x, *x, sums[0]);
            *grad = simd.add_f64s(*x, *x);
        }
        let mut sum = total(simd, sums);
        for (grad, x) in grad_rest.iter_mut().zip(x_rest) {
            sum += x * x;
            *grad = x + x;
        }
        sum
    }
}

struct Rosenbrock<'a> {
    grad: &'a mut [f64],
    x: &'a [f64],
}

impl WithSimd for Rosenbrock<'_> {
    type Output = f64;
    /// All but the first and the last entry have the same form, with dᵢ = xᵢ₊₁ - xᵢ²: 200 dᵢ₋₁ - 400 dᵢ xᵢ - 2 (1 - xᵢ). Recomputing
    /// dᵢ₋₁ from two loads is cheaper than moving it from one vector into the next.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (x, n) = (self.x, self.x.len());
        let grad = &mut self.grad[..n];
        let (d, e) = (x[1] - x[0] * x[0], 1.0 - x[0]);
        let mut sum = 100.0 * (d * d) + e * e;
        grad[0] = -400.0 * d * x[0] - 2.0 * e;
        grad[n - 1] = 200.0 * (x[n - 1] - x[n - 2] * x[n - 2]);

        let (before, before_rest) = S::as_simd_f64s(&x[..n - 2]);
        let (here, here_rest) = S::as_simd_f64s(&x[1..n - 1]);
        let (after, after_rest) = S::as_simd_f64s(&x[2..]);
        let (grad, grad_rest) = S::as_mut_simd_f64s(&mut grad[1..n - 1]);
        let (before, before_last) = as_arrays::<AT_ONCE, _>(before);
        let (here, here_last) = as_arrays::<AT_ONCE, _>(here);
        let (after, after_last) = as_arrays::<AT_ONCE, _>(after);
        let (grad, grad_last) = as_arrays_mut::<AT_ONCE, _>(grad);
        let zero = simd.splat_f64s(0.0);
        let (mut ds, mut es) = ([zero; AT_ONCE], [zero; AT_ONCE]);
        for ((grad, before), (here, after)) in grad.iter_mut().zip(before).zip(here.iter().zip(after)) {
            for i in 0..AT_ONCE {
                grad[i] = entries(simd, before[i], here[i], after[i], &mut ds[i], &mut es[i]);
            }
        }
        for ((grad, before), (here, after)) in
            grad_last.iter_mut().zip(before_last).zip(here_last.iter().zip(after_last))
        {
            *grad = entries(simd, *before, *here, *after, &mut ds[0], &mut es[0]);
        }
        for ((grad, before), (here, after)) in
            grad_rest.iter_mut().zip(before_rest).zip(here_rest.iter().zip(after_rest))
        {
            let (d, e) = (after - here * here, 1.0 - here);
            sum += 100.0 * (d * d) + e * e;
            *grad = 200.0 * (here - before * before) - 400.0 * d * here - 2.0 * e;
        }
        sum + 100.0 * total(simd, ds) + total(simd, es)
    }
}

/// Entries of the gradient of W2; adds Σ d² and Σ (1 - x)² to the sums.
#[inline(always)]
fn entries<S: Simd>(
    simd: S,
    before: S::f64s,
    here: S::f64s,
    after: S::f64s,
    ds: &mut S::f64s,
    es: &mut S::f64s,
) -> S::f64s {
    let d_before = simd.negate_mul_add_e_f64s(before, before, here);
    let d = simd.negate_mul_add_e_f64s(here, here, after);
    let e = simd.sub_f64s(here, simd.splat_f64s(1.0));
    *ds = simd.mul_add_e_f64s(d, d, *ds);
    *es = simd.mul_add_e_f64s(e, e, *es);
    let own = simd.mul_add_e_f64s(simd.splat_f64s(-400.0), simd.mul_f64s(d, here), simd.add_f64s(e, e));
    simd.mul_add_e_f64s(simd.splat_f64s(200.0), d_before, own)
}

#[inline(always)]
fn total<S: Simd>(simd: S, sums: [S::f64s; AT_ONCE]) -> f64 {
    let [a, b, c, d] = sums;
    simd.reduce_sum_f64s(simd.add_f64s(simd.add_f64s(a, b), simd.add_f64s(c, d)))
}
