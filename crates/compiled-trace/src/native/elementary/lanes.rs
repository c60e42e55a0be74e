//! Numbers that are worked on at the same time: one, or four in a register of 32 bytes.
//!
//! Used by `elementary`, whose functions are written once for both.
//!
//! # Invariant
//! Methods of [`Four`] are instructions of AVX2. A [`Four`] is only made by functions that are compiled for AVX2, and machine code
//! calls these on machines that have it; all methods are inlined into them.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Numbers, or masks and integers in the bits of numbers.
pub(super) trait Lanes: Copy {
    /// The same number in all lanes.
    fn all(number: f64) -> Self;
    /// The same bits in all lanes.
    fn bits(bits: u64) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
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
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Four(pub(super) __m256d);

#[cfg(target_arch = "x86_64")]
impl Four {
    /// Writes the numbers.
    #[expect(unsafe_code, reason = "instructions of AVX2 may only run on machines that have it")]
    #[inline(always)]
    pub(super) fn store(self, to: &mut [f64; 4]) {
        // SAFETY: the invariant of this file, and the array has four numbers.
        unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn numbers(self) -> [f64; 4] {
        let mut numbers = [0.0; 4];
        self.store(&mut numbers);
        numbers
    }

    #[expect(unsafe_code, reason = "instructions of AVX2 may only run on machines that have it")]
    #[inline(always)]
    fn of(numbers: &[f64; 4]) -> Four {
        // SAFETY: the invariant of this file, and the array has four numbers.
        unsafe { Four(_mm256_loadu_pd(numbers.as_ptr())) }
    }
}

/// A method by an instruction.
#[cfg(target_arch = "x86_64")]
macro_rules! by {
    ($(fn $name:ident($($argument:ident),*) = $value:expr;)*) => {
        $(#[inline(always)]
        fn $name(self, $($argument: Four),*) -> Four {
            let x = self.0;
            // SAFETY: the invariant of this file.
            unsafe { Four($value(x, $($argument.0),*)) }
        })*
    };
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "instructions of AVX2 may only run on machines that have it; see the invariant of this file"
)]
impl Lanes for Four {
    #[inline(always)]
    fn all(number: f64) -> Four {
        // SAFETY: the invariant of this file.
        unsafe { Four(_mm256_set1_pd(number)) }
    }
    #[inline(always)]
    fn bits(bits: u64) -> Four {
        Four::all(f64::from_bits(bits))
    }
    by! {
        fn add(other) = _mm256_add_pd;
        fn sub(other) = _mm256_sub_pd;
        fn mul(other) = _mm256_mul_pd;
        fn div(other) = _mm256_div_pd;
        fn and(other) = _mm256_and_pd;
        fn or(other) = _mm256_or_pd;
        fn xor(other) = _mm256_xor_pd;
        fn less(other) = _mm256_cmp_pd::<_CMP_LT_OQ>;
        fn add_bits(other) = |x, y| _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(x), _mm256_castpd_si256(y)));
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
    #[inline(always)]
    fn or_else(self, mask: Four, argument: Four, function: fn(f64) -> f64) -> Four {
        #[cold]
        #[inline(never)]
        fn rest(values: &mut [f64; 4], masks: &[f64; 4], arguments: &[f64; 4], function: fn(f64) -> f64) {
            for ((value, mask), argument) in values.iter_mut().zip(masks).zip(arguments) {
                *value = value.or_else(*mask, *argument, function);
            }
        }
        let [mut values, masks, arguments] = [self, mask, argument].map(Four::numbers);
        rest(&mut values, &masks, &arguments, function);
        Four::of(&values)
    }
    #[inline(always)]
    fn or_else_of_two(self, mask: Four, x: Four, y: Four, function: fn(f64, f64) -> f64) -> Four {
        #[cold]
        #[inline(never)]
        fn rest(values: &mut [f64; 4], masks: &[f64; 4], [x, y]: [&[f64; 4]; 2], function: fn(f64, f64) -> f64) {
            for (i, value) in values.iter_mut().enumerate() {
                *value = value.or_else_of_two(masks[i], x[i], y[i], function);
            }
        }
        let [mut values, masks, x, y] = [self, mask, x, y].map(Four::numbers);
        rest(&mut values, &masks, [&x, &y], function);
        Four::of(&values)
    }
}
