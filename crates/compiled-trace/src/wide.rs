//! Runs work with the widest vectors that the machine has.
//!
//! Called by the interpreter for blocks of iterations and for products of matrices, which the compiler vectorises: once for what every processor of the target has, and on x86-64 once
//! more for AVX2. Calls nothing of this crate.

/// Work that is compiled for each width. `run` and the functions that it calls for the numbers are `inline(always)`: a function that is not
/// inlined has the narrow vectors.
pub(crate) trait Kernel {
    type Output;
    /// Runs the work; vectors of `f64` have `LANES` numbers.
    fn run<const LANES: usize>(self) -> Self::Output;
}

/// The widest vectors of the machine.
#[derive(Clone, Copy)]
pub(crate) struct Wide {
    /// Whether the machine has AVX2 and FMA. Private to this file, which sets it by asking the machine.
    #[cfg(target_arch = "x86_64")]
    has_avx2: bool,
}

impl Wide {
    pub(crate) fn detect() -> Wide {
        Wide {
            #[cfg(target_arch = "x86_64")]
            has_avx2: !cfg!(miri) && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
        }
    }

    #[inline(always)]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            #[expect(unsafe_code, reason = "a function for processors with AVX2 may only run on these")]
            // SAFETY: `has_avx2` says that this processor has the two features, and only `detect` sets it.
            return unsafe { with_avx2(kernel) };
        }
        kernel.run::<2>()
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<4>()
}
