//! Our numbers as a `RealField` of `faer`.
//!
//! Called by `faer` for dense products, factorisations and decompositions. The numbers have no vectors
//! (`SimdCapabilities::None`), so that `faer` takes its scalar code and calls none of the vector methods.

use crate::rules::*;
use crate::scalar::{Base, Core, Num, Scalar};
use faer_traits::pulp::{self, Simd};
use faer_traits::{ComplexField, RealField, SimdCapabilities};
use num_traits::{Float, Zero};

/// Methods of vectors, from the types of the arguments after the first: none is ever called.
macro_rules! vector_methods {
    ($($Result:ty: $($method:ident($($Argument:ty),*))*;)*) => {$($(
        fn $method<S: Simd>(_: &Self::SimdCtx<S> $(, _: $Argument)*) -> $Result {
            no_vectors()
        }
    )*)*};
}

#[cold]
fn no_vectors() -> ! {
    unreachable!("faer calls this method of numbers with vectors only, and differentiated numbers have none")
}

/// The constants that a floating-point type has.
macro_rules! constants {
    ($($method:ident: $value:expr;)*) => {
        $(fn $method() -> Self { Num::constant($value) })*
    };
}

impl<C: Core> ComplexField for Num<C> {
    const IS_REAL: bool = true;
    const SIMD_CAPABILITIES: SimdCapabilities = SimdCapabilities::None;
    type Arch = pulp::Scalar;
    type Unit = Self;
    type Index = usize;
    type Real = Self;
    type SimdCtx<S: Simd> = S;
    type SimdMask<S: Simd> = ();
    type SimdMemMask<S: Simd> = ();
    type SimdVec<S: Simd> = ();
    type SimdIndex<S: Simd> = ();

    constants! {
        zero_impl: C::Base::ZERO;
        one_impl: C::Base::ONE;
        nan_impl: <C::Base as Float>::nan();
        infinity_impl: <C::Base as Float>::infinity();
    }
    fn from_real_impl(real: &Self) -> Self {
        *real
    }
    fn from_f64_impl(real: f64) -> Self {
        Num::constant(C::Base::from_f64(real))
    }
    fn real_part_impl(value: &Self) -> Self {
        *value
    }
    fn imag_part_impl(_: &Self) -> Self {
        Num::zero()
    }
    fn copy_impl(value: &Self) -> Self {
        *value
    }
    fn conj_impl(value: &Self) -> Self {
        *value
    }
    fn recip_impl(value: &Self) -> Self {
        value.apply(Recip)
    }
    fn sqrt_impl(value: &Self) -> Self {
        value.apply(Sqrt)
    }
    fn abs_impl(value: &Self) -> Self {
        value.apply(Abs)
    }
    fn abs1_impl(value: &Self) -> Self {
        value.apply(Abs)
    }
    fn abs2_impl(value: &Self) -> Self {
        *value * *value
    }
    fn mul_real_impl(left: &Self, right: &Self) -> Self {
        *left * *right
    }
    fn mul_pow2_impl(left: &Self, right: &Self) -> Self {
        *left * *right
    }
    #[track_caller]
    fn is_finite_impl(value: &Self) -> bool {
        Float::is_finite(*value)
    }

    fn simd_ctx<S: Simd>(simd: S) -> S {
        simd
    }
    fn ctx_from_simd<S: Simd>(ctx: &S) -> S {
        *ctx
    }
    #[expect(unsafe_code, reason = "the trait declares the method unsafe; the body is safe")]
    unsafe fn simd_mask_load_raw<S: Simd>(_: &S, (): (), _: *const ()) {
        no_vectors()
    }
    #[expect(unsafe_code, reason = "the trait declares the method unsafe; the body is safe")]
    unsafe fn simd_mask_store_raw<S: Simd>(_: &S, (): (), _: *mut (), (): ()) {
        no_vectors()
    }
    vector_methods! {
        Self::SimdMask<S>: simd_mask_between(usize, usize);
        Self::SimdMemMask<S>: simd_mem_mask_between(usize, usize);
        Self::SimdVec<S>:
            simd_splat(&Self) simd_splat_real(&Self)
            simd_neg(Self::SimdVec<S>) simd_conj(Self::SimdVec<S>) simd_abs1(Self::SimdVec<S>)
            simd_abs_max(Self::SimdVec<S>) simd_abs2(Self::SimdVec<S>)
            simd_add(Self::SimdVec<S>, Self::SimdVec<S>) simd_sub(Self::SimdVec<S>, Self::SimdVec<S>)
            simd_mul(Self::SimdVec<S>, Self::SimdVec<S>) simd_conj_mul(Self::SimdVec<S>, Self::SimdVec<S>)
            simd_mul_real(Self::SimdVec<S>, Self::SimdVec<S>) simd_mul_pow2(Self::SimdVec<S>, Self::SimdVec<S>)
            simd_abs2_add(Self::SimdVec<S>, Self::SimdVec<S>)
            simd_mul_add(Self::SimdVec<S>, Self::SimdVec<S>, Self::SimdVec<S>)
            simd_conj_mul_add(Self::SimdVec<S>, Self::SimdVec<S>, Self::SimdVec<S>)
            simd_select(Self::SimdMask<S>, Self::SimdVec<S>, Self::SimdVec<S>);
        Self: simd_reduce_sum(Self::SimdVec<S>) simd_reduce_max(Self::SimdVec<S>);
        Self::SimdMask<S>:
            simd_equal(Self::SimdVec<S>, Self::SimdVec<S>)
            simd_less_than(Self::SimdVec<S>, Self::SimdVec<S>)
            simd_less_than_or_equal(Self::SimdVec<S>, Self::SimdVec<S>)
            simd_greater_than(Self::SimdVec<S>, Self::SimdVec<S>)
            simd_greater_than_or_equal(Self::SimdVec<S>, Self::SimdVec<S>)
            simd_index_less_than(Self::SimdIndex<S>, Self::SimdIndex<S>)
            simd_and_mask(Self::SimdMask<S>, Self::SimdMask<S>) simd_or_mask(Self::SimdMask<S>, Self::SimdMask<S>)
            simd_not_mask(Self::SimdMask<S>);
        Self::SimdIndex<S>:
            simd_index_select(Self::SimdMask<S>, Self::SimdIndex<S>, Self::SimdIndex<S>)
            simd_index_splat(usize) simd_index_add(Self::SimdIndex<S>, Self::SimdIndex<S>);
        usize: simd_first_true_mask(Self::SimdMask<S>);
    }
}

/// `faer` multiplies numbers by these before it squares them, up to the limits of the type. Tangents may be larger than the numbers and
/// would overflow on the way, so the limits here are the third root of those of the type: 2¹⁰²⁴ᐟ³ for a double. Powers of two
/// keep the products exact.
impl<C: Core> RealField for Num<C> {
    constants! {
        epsilon_impl: <C::Base as Float>::epsilon();
        min_positive_impl: limit::<C::Base>(-2);
        max_positive_impl: limit::<C::Base>(2);
        sqrt_min_positive_impl: limit::<C::Base>(-1);
        sqrt_max_positive_impl: limit::<C::Base>(1);
    }
    fn nbits_impl() -> usize {
        if C::Base::IS_DOUBLE { f64::MANTISSA_DIGITS as usize } else { f32::MANTISSA_DIGITS as usize }
    }
}

/// A power of the third root of the largest number.
fn limit<B: Base>(power: i32) -> B {
    let exponent = if B::IS_DOUBLE { f64::MAX_EXP } else { f32::MAX_EXP } / 3;
    B::from_f64(2f64.powi(power * exponent))
}
