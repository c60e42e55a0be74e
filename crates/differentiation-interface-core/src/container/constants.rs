//! What a container consists of as words, and the constants beside its numbers.
//!
//! Called by contexts that are containers, and by `#[derive(Container)]` for each `#[constant]` field.

use super::Container;
use crate::recordings::{Word, Words, Wordwise};
use std::ops::Deref;

impl Words<'_> {
    /// Takes a container: its lengths, its numbers, then its constants.
    pub fn container<C: Container<Scalar: Word> + ?Sized>(&mut self, container: &C) -> bool {
        let mut are_equal = container.lengths(self);
        container.pieces(&mut |piece: &[C::Scalar]| are_equal = are_equal && self.numbers(piece));
        are_equal && container.constants(self)
    }
}

/// A `#[constant]` field. `Field(&self.name).words(words)` is the method here where the type of the field is known to be plain data, else that
/// of [`OpaqueField`], to which it dereferences: the compiler tries methods in this order.
#[doc(hidden)]
#[derive(Debug)]
pub struct Field<'a, D: ?Sized>(pub &'a D);

impl<D: Wordwise + ?Sized> Field<'_, D> {
    #[inline]
    pub fn words(&self, words: &mut Words<'_>) -> bool {
        self.0.read(words)
    }
}

impl<D: ?Sized> Deref for Field<'_, D> {
    type Target = OpaqueField;
    fn deref(&self) -> &OpaqueField {
        &OpaqueField
    }
}

/// A field of which nothing is known.
#[doc(hidden)]
#[derive(Debug)]
pub struct OpaqueField;

impl OpaqueField {
    pub fn words(&self, _: &mut Words<'_>) -> bool {
        false
    }
}

/// Containers of other crates that hold plain numbers are plain data.
#[cfg(any(feature = "nalgebra", feature = "ndarray", feature = "faer", feature = "num-complex"))]
macro_rules! plain_containers {
    ($([$($generics:tt)*] $container:ty),* $(,)?) => {$(
        impl<$($generics)*> Wordwise for $container {
            fn read(&self, words: &mut Words<'_>) -> bool {
                words.container(self)
            }
        }
    )*};
}
#[cfg(feature = "nalgebra")]
plain_containers! {
    [const R: usize, const C: usize] nalgebra::SMatrix<f64, R, C>,
    [const R: usize, const C: usize] nalgebra::SMatrix<f32, R, C>,
    [] nalgebra::DMatrix<f64>, [] nalgebra::DVector<f64>, [] nalgebra::RowDVector<f64>,
    [] nalgebra::DMatrix<f32>, [] nalgebra::DVector<f32>,
}
#[cfg(feature = "ndarray")]
plain_containers! {
    [] ndarray::Array1<f64>, [] ndarray::Array2<f64>, [] ndarray::Array3<f64>, [] ndarray::ArrayD<f64>,
    [] ndarray::Array1<f32>, [] ndarray::Array2<f32>,
}
#[cfg(feature = "faer")]
plain_containers! { [] faer::Mat<f64>, [] faer::Col<f64>, [] faer::Mat<f32>, [] faer::Col<f32> }
#[cfg(feature = "num-complex")]
plain_containers! { [] num_complex::Complex<f64>, [] num_complex::Complex<f32> }

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_container_is_its_lengths_and_numbers() {
        let words = |data: &(Vec<f64>, [f64; 2])| {
            let mut words = Vec::new();
            assert!(Words::Keep(&mut words).container(data));
            words
        };
        let known = words(&(vec![1.0], [2.0, 3.0]));
        let is_equal = |data: &(Vec<f64>, [f64; 2])| {
            let mut words = Words::Compare(&known);
            words.container(data) && words.is_complete()
        };
        assert!(is_equal(&(vec![1.0], [2.0, 3.0])));
        assert!(!is_equal(&(vec![1.0], [2.0, 4.0])));
        assert!(!is_equal(&(vec![1.0, 2.0], [3.0, 4.0])));
    }

    #[test]
    fn a_field_of_plain_data_is_read_and_another_is_opaque() {
        let mut kept = Vec::new();
        let words = &mut Words::Keep(&mut kept);
        assert!(Field("name").words(words) && Field(&vec![Some(2.0)]).words(words));
        assert!(!Field(&RefCell::new(1.0)).words(words));
        assert_eq!(
            kept,
            [4, u64::from(b'n'), u64::from(b'a'), u64::from(b'm'), u64::from(b'e'), 1, 1, 2_f64.to_bits()]
        );
    }
}
