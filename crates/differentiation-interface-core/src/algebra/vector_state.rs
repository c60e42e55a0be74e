//! The vector registers after a call of `faer`.
//!
//! Called by the operations on doubles. Matrix products of `faer` are written in assembly and return with the upper halves of the registers in
//! use. Code for processors without AVX, as Rust and the C library have by default, then waits for these halves in each operation: 8192 `tanh`
//! after a product took 1.15 ms instead of 0.1 ms on a processor with AVX-512.

/// Marks the upper halves of the vector registers as not in use.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn release_upper_halves() {
    if let Some(avx) = pulp::core_arch::x86::Avx::try_new() {
        avx._mm256_zeroupper();
    }
}

/// There are none on other processors.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn release_upper_halves() {}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::super::dense::matmul;
    use super::super::dense::plain::on_doubles;
    use super::release_upper_halves;
    use faer::linalg::matmul::matmul as multiply;
    use faer::{Accum, Mat, MatMut, MatRef, Par};
    use std::arch::x86_64::{__cpuid_count, _xgetbv};

    /// Whether upper halves of vector registers are in use; `None` if the processor does not tell.
    #[expect(unsafe_code, reason = "the processor has the instruction")]
    fn upper_halves_are_in_use() -> Option<bool> {
        #[target_feature(enable = "xsave")]
        fn in_use() -> u64 {
            // SAFETY: the caller has asked whether this register can be read.
            unsafe { _xgetbv(1) }
        }
        if !std::arch::is_x86_feature_detected!("avx") || !std::arch::is_x86_feature_detected!("xsave") {
            return None;
        }
        let tells = __cpuid_count(0xD, 1).eax & 4 != 0;
        // SAFETY: the processor has `xsave` and the register.
        tells.then(|| unsafe { in_use() } & 4 != 0)
    }

    #[test]
    fn products_of_faer_use_upper_halves_until_they_are_released() {
        let a = Mat::from_fn(64, 64, |i, j| (i + 2 * j) as f64);
        let mut product = Mat::zeros(64, 64);
        multiply(product.as_mut(), Accum::Replace, &a, &a, 1.0, Par::Seq);
        let used = upper_halves_are_in_use();
        release_upper_halves();
        let released = upper_halves_are_in_use();
        // Where the processor does not tell, or faer has no assembly for it, there is nothing to see.
        if used == Some(true) {
            assert_eq!(released, Some(false));
        }
        assert_eq!(matmul(&a, &a), product);
    }

    #[test]
    fn operations_on_doubles_end_with_released_halves() {
        let mut in_use = None;
        let use_them = |inputs: &[&[f64]], out: &mut [f64]| {
            let a = MatRef::from_column_major_slice(inputs[0], 64, 64);
            multiply(MatMut::from_column_major_slice_mut(out, 64, 64), Accum::Replace, a, a, 1.0, Par::Seq);
            in_use = upper_halves_are_in_use();
        };
        let (a, mut out) = (vec![0.5; 64 * 64], vec![0.0; 64 * 64]);
        on_doubles(&[&a], &mut out, use_them);
        let after = upper_halves_are_in_use();
        if in_use == Some(true) {
            assert_eq!(after, Some(false));
        }
        assert_eq!(out[0], 16.0);
    }
}
