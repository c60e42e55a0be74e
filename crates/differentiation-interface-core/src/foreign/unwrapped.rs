//! Slices of wrapped foreign numbers as slices of the numbers themselves.
//!
//! Called by [`Raw`](super::Raw). The unsafe code of this folder is here: a copy of the point in each pass made gradients of functions of 16 inputs
//! 1.2 times as slow as the other crate's own.

use super::plain::{ForeignNum, Plain};
use crate::scalar::Num;

/// The foreign numbers where they lie.
#[expect(unsafe_code, reason = "both wrappers have the layout of the number")]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn unwrapped<T, S>(x: &[ForeignNum<T, S>]) -> &[T] {
    const {
        assert!(size_of::<Num<Plain<T, S>>>() == size_of::<T>() && align_of::<Num<Plain<T, S>>>() == align_of::<T>());
    }
    // SAFETY: `Num` and `Plain` are `repr(transparent)` over `T` and a marker without size or alignment, so both slices have the same layout and
    // validity; the borrow is that of `x`.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_where_they_lie() {
        let wrapped: Vec<ForeignNum<(f64, u8), f32>> =
            [(1.5, 1), (-2.0, 2), (f64::INFINITY, 3)].map(|x| Num(Plain::new(x))).to_vec();
        let numbers = unwrapped(&wrapped);
        assert_eq!(numbers, [(1.5, 1), (-2.0, 2), (f64::INFINITY, 3)]);
        assert_eq!(numbers.as_ptr().cast(), wrapped.as_ptr());
        assert!(unwrapped::<f64, f64>(&[]).is_empty());
    }
}
