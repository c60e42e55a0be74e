//! Numbers that are worked on at the same time: one, four in a register of 32 bytes, or eight in one of 64.
//!
//! Used by `elementary`, whose functions are written once for all. [`Four`] and [`Eight`] add products in one instruction that rounds once (FMA); `f64`, for processors
//! without such vectors, rounds twice. Where there are vectors, a single number is the first of four, and so has the bits that it has among others.
//!
//! # Invariant
//! Methods of [`Four`] are instructions of AVX2 and FMA, those of [`Eight`] of AVX-512 (F and DQ). They are only made by functions that are
//! compiled for these, and machine code calls such functions on machines that have the instructions; all methods are inlined into them.

use std::arch::x86_64::*;

/// Numbers, or masks and integers in the bits of numbers.
pub(super) trait Lanes: Copy {
    /// Whether a product is added to a number in one instruction, which rounds once.
    const IS_FUSED: bool;
    /// The same number in all lanes.
    fn all(number: f64) -> Self;
    /// The same bits in all lanes.
    fn bits(bits: u64) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// This number plus a product.
    fn plus_product(self, x: Self, y: Self) -> Self;
    /// This number minus a product.
    fn less_product(self, x: Self, y: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// All bits set where this is less.
    fn less(self, other: Self) -> Self;
    /// The first where the highest bit of the mask is set.
    fn pick(mask: Self, then: Self, otherwise: Self) -> Self;
    /// The sum of 64-bit integers.
    fn add_bits(self, other: Self) -> Self;
    /// 64-bit integers times 2^`N`.
    fn left<const N: i32>(self) -> Self;
    /// Unsigned 64-bit integers over 2^`N`.
    fn right<const N: i32>(self) -> Self;
    /// Whether the highest bits of all lanes are set.
    fn holds(self) -> bool;
    /// This where the highest bit of the mask is set, elsewhere the function of the argument.
    fn or_else(self, mask: Self, argument: Self, function: fn(f64) -> f64) -> Self;
    /// The same for a function of two arguments.
    fn or_else_of_two(self, mask: Self, x: Self, y: Self, function: fn(f64, f64) -> f64) -> Self;
}

impl Lanes for f64 {
    const IS_FUSED: bool = false;
    #[inline(always)]
    fn all(number: f64) -> f64 {
        number
    }
    #[inline(always)]
    fn bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    #[inline(always)]
    fn add(self, other: f64) -> f64 {
        self + other
    }
    #[inline(always)]
    fn sub(self, other: f64) -> f64 {
        self - other
    }
    #[inline(always)]
    fn mul(self, other: f64) -> f64 {
        self * other
    }
    #[inline(always)]
    fn div(self, other: f64) -> f64 {
        self / other
    }
    #[inline(always)]
    fn plus_product(self, x: f64, y: f64) -> f64 {
        self + x * y
    }
    #[inline(always)]
    fn less_product(self, x: f64, y: f64) -> f64 {
        self - x * y
    }
    #[inline(always)]
    fn and(self, other: f64) -> f64 {
        f64::from_bits(self.to_bits() & other.to_bits())
    }
    #[inline(always)]
    fn or(self, other: f64) -> f64 {
        f64::from_bits(self.to_bits() | other.to_bits())
    }
    #[inline(always)]
    fn xor(self, other: f64) -> f64 {
        f64::from_bits(self.to_bits() ^ other.to_bits())
    }
    #[inline(always)]
    fn less(self, other: f64) -> f64 {
        f64::from_bits(if self < other { u64::MAX } else { 0 })
    }
    #[inline(always)]
    fn pick(mask: f64, then: f64, otherwise: f64) -> f64 {
        if mask.to_bits() >> 63 == 1 { then } else { otherwise }
    }
    #[inline(always)]
    fn add_bits(self, other: f64) -> f64 {
        f64::from_bits(self.to_bits().wrapping_add(other.to_bits()))
    }
    #[inline(always)]
    fn left<const N: i32>(self) -> f64 {
        f64::from_bits(self.to_bits() << N)
    }
    #[inline(always)]
    fn right<const N: i32>(self) -> f64 {
        f64::from_bits(self.to_bits() >> N)
    }
    #[inline(always)]
    fn holds(self) -> bool {
        self.to_bits() >> 63 == 1
    }
    #[inline(always)]
    fn or_else(self, mask: f64, argument: f64, function: fn(f64) -> f64) -> f64 {
        if mask.holds() { self } else { function(argument) }
    }
    #[inline(always)]
    fn or_else_of_two(self, mask: f64, x: f64, y: f64, function: fn(f64, f64) -> f64) -> f64 {
        if mask.holds() { self } else { function(x, y) }
    }
}

/// Four numbers.
#[derive(Clone, Copy)]
pub(super) struct Four(pub(super) __m256d);

#[expect(unsafe_code, reason = "instructions may only run on machines that have them")]
impl Four {
    /// A number, and 1 for which every function holds.
    #[inline(always)]
    pub(super) fn with_first(x: f64) -> Four {
        // SAFETY: the invariant of this file.
        unsafe { Four(_mm256_blend_pd::<1>(_mm256_set1_pd(1.0), _mm256_castpd128_pd256(_mm_set_sd(x)))) }
    }

    /// The first number.
    #[inline(always)]
    pub(super) fn first(self) -> f64 {
        // SAFETY: the invariant of this file.
        unsafe { _mm256_cvtsd_f64(self.0) }
    }
}

/// Eight numbers.
#[derive(Clone, Copy)]
pub(super) struct Eight(pub(super) __m512d);

/// Lanes to and from memory, and the lanes for which an algorithm does not hold.
macro_rules! numbers {
    ($Vector:ident $count:literal $load:ident $store:ident) => {
        impl $Vector {
            /// Writes the numbers.
            #[expect(unsafe_code, reason = "instructions may only run on machines that have them")]
            #[inline(always)]
            pub(super) fn store(self, to: &mut [f64; $count]) {
                // SAFETY: the invariant of this file, and the array has as many numbers.
                unsafe { $store(to.as_mut_ptr(), self.0) }
            }

            #[inline(always)]
            fn numbers(self) -> [f64; $count] {
                let mut numbers = [0.0; $count];
                self.store(&mut numbers);
                numbers
            }

            #[expect(unsafe_code, reason = "instructions may only run on machines that have them")]
            #[inline(always)]
            fn of(numbers: &[f64; $count]) -> $Vector {
                // SAFETY: the invariant of this file, and the array has as many numbers.
                unsafe { $Vector($load(numbers.as_ptr())) }
            }
        }
    };
}
numbers! { Four 4 _mm256_loadu_pd _mm256_storeu_pd }
numbers! { Eight 8 _mm512_loadu_pd _mm512_storeu_pd }

/// Sets the values whose masks do not hold to those of the function.
#[cold]
#[inline(never)]
fn replace(values: &mut [f64], masks: &[f64], x: &[f64], function: fn(f64) -> f64) {
    for ((value, mask), x) in values.iter_mut().zip(masks).zip(x) {
        *value = value.or_else(*mask, *x, function);
    }
}

/// The same for a function of two arguments.
#[cold]
#[inline(never)]
fn replace_of_two(values: &mut [f64], masks: &[f64], [x, y]: [&[f64]; 2], function: fn(f64, f64) -> f64) {
    for (i, value) in values.iter_mut().enumerate() {
        *value = value.or_else_of_two(masks[i], x[i], y[i], function);
    }
}

/// Methods by instructions, and those that leave the registers.
macro_rules! methods {
    ($Vector:ident: $(fn $name:ident($($argument:ident),*) = $value:expr;)*) => {
        const IS_FUSED: bool = true;
        $(#[inline(always)]
        fn $name(self, $($argument: $Vector),*) -> $Vector {
            // SAFETY: the invariant of this file.
            unsafe { $Vector($value(self.0, $($argument.0),*)) }
        })*
        #[inline(always)]
        fn bits(bits: u64) -> $Vector {
            $Vector::all(f64::from_bits(bits))
        }
        #[inline(always)]
        fn or_else(self, mask: $Vector, argument: $Vector, function: fn(f64) -> f64) -> $Vector {
            let [mut values, masks, arguments] = [self, mask, argument].map($Vector::numbers);
            replace(&mut values, &masks, &arguments, function);
            $Vector::of(&values)
        }
        #[inline(always)]
        fn or_else_of_two(self, mask: $Vector, x: $Vector, y: $Vector, function: fn(f64, f64) -> f64) -> $Vector {
            let [mut values, masks, x, y] = [self, mask, x, y].map($Vector::numbers);
            replace_of_two(&mut values, &masks, [&x, &y], function);
            $Vector::of(&values)
        }
    };
}

#[expect(
    unsafe_code,
    reason = "instructions of AVX2 may only run on machines that have it; see the invariant of this file"
)]
impl Lanes for Four {
    methods! { Four:
        fn add(other) = _mm256_add_pd;
        fn sub(other) = _mm256_sub_pd;
        fn mul(other) = _mm256_mul_pd;
        fn div(other) = _mm256_div_pd;
        fn plus_product(x, y) = |sum, x, y| _mm256_fmadd_pd(x, y, sum);
        fn less_product(x, y) = |sum, x, y| _mm256_fnmadd_pd(x, y, sum);
        fn and(other) = _mm256_and_pd;
        fn or(other) = _mm256_or_pd;
        fn xor(other) = _mm256_xor_pd;
        fn less(other) = _mm256_cmp_pd::<_CMP_LT_OQ>;
        fn add_bits(other) = |x, y| _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(x), _mm256_castpd_si256(y)));
    }
    #[inline(always)]
    fn all(number: f64) -> Four {
        // SAFETY: the invariant of this file.
        unsafe { Four(_mm256_set1_pd(number)) }
    }
    #[inline(always)]
    fn pick(mask: Four, then: Four, otherwise: Four) -> Four {
        // SAFETY: the invariant of this file.
        unsafe { Four(_mm256_blendv_pd(otherwise.0, then.0, mask.0)) }
    }
    #[inline(always)]
    fn left<const N: i32>(self) -> Four {
        // SAFETY: the invariant of this file.
        unsafe { Four(_mm256_castsi256_pd(_mm256_slli_epi64::<N>(_mm256_castpd_si256(self.0)))) }
    }
    #[inline(always)]
    fn right<const N: i32>(self) -> Four {
        // SAFETY: the invariant of this file.
        unsafe { Four(_mm256_castsi256_pd(_mm256_srli_epi64::<N>(_mm256_castpd_si256(self.0)))) }
    }
    #[inline(always)]
    fn holds(self) -> bool {
        // SAFETY: the invariant of this file.
        unsafe { _mm256_movemask_pd(self.0) == 15 }
    }
}

#[expect(
    unsafe_code,
    reason = "instructions of AVX-512 may only run on machines that have it; see the invariant of this file"
)]
impl Lanes for Eight {
    methods! { Eight:
        fn add(other) = _mm512_add_pd;
        fn sub(other) = _mm512_sub_pd;
        fn mul(other) = _mm512_mul_pd;
        fn div(other) = _mm512_div_pd;
        fn plus_product(x, y) = |sum, x, y| _mm512_fmadd_pd(x, y, sum);
        fn less_product(x, y) = |sum, x, y| _mm512_fnmadd_pd(x, y, sum);
        fn and(other) = _mm512_and_pd;
        fn or(other) = _mm512_or_pd;
        fn xor(other) = _mm512_xor_pd;
        fn less(other) = |x, y| _mm512_castsi512_pd(_mm512_movm_epi64(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(x, y)));
        fn add_bits(other) = |x, y| _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(x), _mm512_castpd_si512(y)));
    }
    #[inline(always)]
    fn all(number: f64) -> Eight {
        // SAFETY: the invariant of this file.
        unsafe { Eight(_mm512_set1_pd(number)) }
    }
    #[inline(always)]
    fn pick(mask: Eight, then: Eight, otherwise: Eight) -> Eight {
        // SAFETY: the invariant of this file.
        unsafe {
            let mask = _mm512_movepi64_mask(_mm512_castpd_si512(mask.0));
            Eight(_mm512_mask_blend_pd(mask, otherwise.0, then.0))
        }
    }
    #[inline(always)]
    fn left<const N: i32>(self) -> Eight {
        // SAFETY: the invariant of this file. Shift counts are constants below 64.
        unsafe { Eight(_mm512_castsi512_pd(_mm512_sll_epi64(_mm512_castpd_si512(self.0), _mm_cvtsi32_si128(N)))) }
    }
    #[inline(always)]
    fn right<const N: i32>(self) -> Eight {
        // SAFETY: the same.
        unsafe { Eight(_mm512_castsi512_pd(_mm512_srl_epi64(_mm512_castpd_si512(self.0), _mm_cvtsi32_si128(N)))) }
    }
    #[inline(always)]
    fn holds(self) -> bool {
        // SAFETY: the invariant of this file.
        unsafe { _mm512_movepi64_mask(_mm512_castpd_si512(self.0)) == u8::MAX }
    }
}
