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
    use faer::linalg::matmul::matmul as multiply;
    use faer::{Accum, Mat, Par};
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
    fn products_leave_no_upper_halves_in_use() {
        let a = Mat::from_fn(64, 64, |i, j| (i + 2 * j) as f64);
        let mut by_faer = Mat::zeros(64, 64);
        multiply(by_faer.as_mut(), Accum::Replace, &a, &a, 1.0, Par::Seq);
        let before = upper_halves_are_in_use();
        let product = matmul(&a, &a);
        let after = upper_halves_are_in_use();
        assert_eq!(product, by_faer);
        assert_ne!(after, Some(true), "by faer alone: {before:?}");
    }
}
