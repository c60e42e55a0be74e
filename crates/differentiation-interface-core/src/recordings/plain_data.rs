//! The types of constants whose numbers a recording can compare.
//!
//! A [`Constant`](crate::context::Constant) takes data of any type, and generic code cannot ask whether a type implements a trait. So this
//! file lists types made of plain numbers, each with the function that reads it; [`PlainData::of`] looks a type up once for each
//! preparation. Of a constant of another type nothing is known; a container becomes a
//! [`ConstantNumbers`](crate::context::ConstantNumbers), whose type says what it is made of.

use super::words::{Words, Wordwise};
use std::any::Any;
use std::fmt;

/// Reads the numbers of a type.
pub struct PlainData<K: ?Sized>(fn(&K, &mut Words<'_>) -> bool);

impl<K: ?Sized> Clone for PlainData<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K: ?Sized> Copy for PlainData<K> {}
impl<K: ?Sized> fmt::Debug for PlainData<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlainData")
    }
}

impl<K: ?Sized + 'static> PlainData<K> {
    /// The function that reads `K`, if the type is listed.
    pub(crate) fn of() -> Option<PlainData<K>> {
        let find = |entry: &&(dyn Any + Sync)| {
            let entry: &dyn Any = *entry;
            entry.downcast_ref().copied()
        };
        LISTS.iter().copied().flatten().find_map(find)
    }

    /// Passes lengths and numbers to `words`; returns whether they are equal to the known ones.
    #[inline]
    pub(crate) fn read(&self, data: &K, words: &mut Words<'_>) -> bool {
        (self.0)(data, words)
    }
}

/// Types, each with its reader.
type List = &'static [&'static (dyn Any + Sync)];

macro_rules! list {
    ($($data:ty),* $(,)?) => { &[$(&PlainData::<$data>(<$data as Wordwise>::read)),*] };
}
/// All pairs of a type on the left and the types on its right.
macro_rules! pairs {
    ($($first:ty: $($second:ty),*;)*) => { &[$($(&PlainData::<($first, $second)>(<($first, $second) as Wordwise>::read)),*),*] };
}
/// Slices and vectors of the types.
macro_rules! sequences {
    ($($data:ty),* $(,)?) => {
        &[$(&PlainData::<[$data]>(<[$data] as Wordwise>::read), &PlainData::<Vec<$data>>(<Vec<$data> as Wordwise>::read)),*]
    };
}
/// Types with a number in them.
macro_rules! arrays {
    ($n:ident => $data:ty: $($count:literal)*) => { &[$({
        const $n: usize = $count;
        &PlainData::<$data>(<$data as Wordwise>::read)
    }),*] };
}

/// All types.
const LISTS: &[List] = &[
    list![f64, f32, u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, bool, char, str, String, &'static str],
    sequences![f64, f32, u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, bool, char, String, &'static str],
    sequences![Vec<f64>, Vec<f32>, Vec<usize>, Vec<u32>, Vec<u64>, Vec<i32>, Vec<i64>, Vec<bool>],
    sequences![Vec<Vec<f64>>, Vec<Vec<f32>>, Vec<Vec<usize>>, Vec<Vec<i32>>],
    // Arrays of one dimension.
    arrays! { N => [f64; N]: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 },
    arrays! { N => [f64; N]: 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 },
    arrays! { N => [f64; N]: 61 62 63 64 80 100 128 200 256 500 512 1000 1024 },
    arrays! { N => [f32; N]: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 },
    arrays! { N => [usize; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [i32; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [u32; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [u64; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [i64; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [u8; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [bool; N]: 1 2 3 4 5 6 7 8 },
    // Lists of arrays.
    arrays! { N => [[f64; N]]: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 },
    arrays! { N => Vec<[f64; N]>: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 },
    arrays! { N => [Vec<f64>; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [[f32; N]]: 1 2 3 4 },
    arrays! { N => Vec<[f32; N]>: 1 2 3 4 },
    arrays! { N => [[usize; N]]: 2 3 4 },
    arrays! { N => Vec<[usize; N]>: 2 3 4 },
    // Arrays of arrays.
    arrays! { N => [[f64; 1]; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [[f64; 2]; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [[f64; 3]; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [[f64; 4]; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [[f64; 5]; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [[f64; 6]; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [[f64; 7]; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [[f64; 8]; N]: 1 2 3 4 5 6 7 8 },
    arrays! { N => [[[f64; 2]; 2]; N]: 2 3 4 },
    arrays! { N => [[[f64; 3]; 3]; N]: 2 3 4 },
    // Tuples.
    pairs! {
        f64: f64, usize, i32, bool, String, Vec<f64>, Vec<usize>, Vec<Vec<f64>>;
        usize: f64, usize, i32, bool, String, Vec<f64>, Vec<usize>, Vec<Vec<f64>>;
        i32: f64, usize, i32, bool, Vec<f64>;
        bool: f64, usize, bool, Vec<f64>;
        String: f64, usize, String, Vec<f64>;
        Vec<f64>: f64, usize, i32, bool, String, Vec<f64>, Vec<usize>, Vec<Vec<f64>>;
        Vec<usize>: f64, usize, Vec<f64>, Vec<usize>;
        Vec<Vec<f64>>: f64, usize, Vec<f64>, Vec<usize>, Vec<Vec<f64>>;
    },
    list![(f64, f64, f64), (f64, f64, usize), (f64, usize, f64), (f64, usize, usize), (usize, f64, f64)],
    list![(usize, f64, usize), (usize, usize, f64), (usize, usize, usize), (f64, f64, Vec<f64>), (f64, f64, bool)],
    list![
        (f64, f64, String),
        (f64, usize, String),
        (f64, usize, bool),
        (f64, usize, Vec<f64>),
        (f64, Vec<f64>, Vec<f64>)
    ],
    list![(f64, bool, f64), (f64, bool, usize), (f64, bool, Vec<f64>), (bool, f64, f64), (usize, bool, f64)],
    list![(Vec<f64>, Vec<f64>, f64), (Vec<f64>, Vec<f64>, usize), (Vec<f64>, Vec<f64>, Vec<f64>), (Vec<f64>, f64, f64)],
    list![(Vec<f64>, f64, usize), (Vec<f64>, usize, f64), (Vec<f64>, usize, usize), (Vec<f64>, Vec<f64>, Vec<usize>)],
    list![(f64, f64, f64, f64), (f64, f64, f64, usize), (f64, f64, usize, usize), (usize, usize, usize, usize)],
    list![
        (Vec<f64>, Vec<f64>, f64, f64),
        (Vec<f64>, Vec<f64>, Vec<f64>, f64),
        (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>)
    ],
    sequences![
        (f64, f64),
        (usize, usize),
        (usize, f64),
        (f64, usize),
        (u32, u32),
        (i32, i32),
        (f64, Vec<f64>),
        (String, f64)
    ],
    sequences![(f64, f64, f64), (usize, usize, f64), (usize, usize, usize), (u32, u32, f64), (f64, f64, f64, f64)],
    list![Option<f64>, Option<usize>, Option<i32>, Option<bool>, Option<String>, Option<Vec<f64>>, Option<(f64, f64)>],
    sequences![Option<f64>, Option<usize>],
    #[cfg(feature = "nalgebra")]
    algebra::NALGEBRA,
    #[cfg(feature = "nalgebra")]
    algebra::NALGEBRA_VECTORS,
    #[cfg(feature = "ndarray")]
    algebra::NDARRAY,
    #[cfg(feature = "faer")]
    algebra::FAER,
    #[cfg(feature = "num-complex")]
    algebra::COMPLEX,
];

/// Containers of other crates.
#[cfg(any(feature = "nalgebra", feature = "ndarray", feature = "faer", feature = "num-complex"))]
mod algebra {
    use super::{List, PlainData, Wordwise};

    #[cfg(feature = "nalgebra")]
    use nalgebra::{DMatrix, DVector, RowDVector, SMatrix};
    #[cfg(feature = "nalgebra")]
    pub(super) const NALGEBRA: List = list![
        DMatrix<f64>,
        DVector<f64>,
        RowDVector<f64>,
        DMatrix<f32>,
        DVector<f32>,
        SMatrix<f64, 2, 2>,
        SMatrix<f64, 2, 3>,
        SMatrix<f64, 3, 2>,
        SMatrix<f64, 3, 3>,
        SMatrix<f64, 3, 4>,
        SMatrix<f64, 4, 3>,
        SMatrix<f64, 4, 4>,
        SMatrix<f64, 5, 5>,
        SMatrix<f64, 6, 6>,
        Vec<DVector<f64>>,
        Vec<DMatrix<f64>>,
    ];
    #[cfg(feature = "nalgebra")]
    pub(super) const NALGEBRA_VECTORS: List = list![
        SMatrix<f64, 1, 1>,
        SMatrix<f64, 2, 1>,
        SMatrix<f64, 3, 1>,
        SMatrix<f64, 4, 1>,
        SMatrix<f64, 5, 1>,
        SMatrix<f64, 6, 1>,
        SMatrix<f64, 7, 1>,
        SMatrix<f64, 8, 1>,
        SMatrix<f64, 1, 2>,
        SMatrix<f64, 1, 3>,
        SMatrix<f64, 1, 4>,
        Vec<SMatrix<f64, 2, 1>>,
        Vec<SMatrix<f64, 3, 1>>,
    ];

    #[cfg(feature = "ndarray")]
    use ndarray::{Array1, Array2, Array3, ArrayD};
    #[cfg(feature = "ndarray")]
    pub(super) const NDARRAY: List = list![
        Array1<f64>,
        Array2<f64>,
        Array3<f64>,
        ArrayD<f64>,
        Array1<f32>,
        Array2<f32>,
        Vec<Array1<f64>>,
        Vec<Array2<f64>>,
    ];

    #[cfg(feature = "faer")]
    use faer::{Col, Mat};
    #[cfg(feature = "faer")]
    pub(super) const FAER: List = list![Mat<f64>, Col<f64>, Mat<f32>, Col<f32>, Vec<Mat<f64>>, Vec<Col<f64>>];

    #[cfg(feature = "num-complex")]
    use num_complex::Complex;
    #[cfg(feature = "num-complex")]
    pub(super) const COMPLEX: List = list![Complex<f64>, Vec<Complex<f64>>, Complex<f32>];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_listed<K: ?Sized + 'static>(_: &K) -> bool {
        PlainData::<K>::of().is_some()
    }

    #[test]
    fn data_of_numbers_is_listed_and_other_data_is_not() {
        assert!(is_listed(&1.0) && is_listed(&1.0_f32) && is_listed(&3_usize) && is_listed(&true));
        assert!(is_listed(&[1.0; 8]) && is_listed(&[1.0; 8][..]) && is_listed(&vec![1.0; 8]));
        assert!(
            is_listed(&[1u8, 2, 3])
                && is_listed(&[1u64; 8])
                && is_listed(&[1i64; 8])
                && is_listed(&(1.0, true, vec![2.0]))
        );
        assert!(is_listed(&[[1.0; 3]; 4]) && is_listed(&vec![[1.0; 3]]) && is_listed(&vec![vec![vec![1.0]]]));
        assert!(is_listed(&(vec![1.0], 2.0)));
        assert!(is_listed("text") && is_listed(&String::new()));
        assert!(is_listed(&(1.0, 2_usize, String::new())) && is_listed(&vec![(0_usize, 1_usize, 2.0)]));
        assert!(is_listed(&vec![Some(1.0)]) && is_listed(&[String::new()][..]) && is_listed(&[true, false]));
        assert!(!is_listed(&std::cell::Cell::new(1.0)) && !is_listed(&vec![Box::new(1.0)]));
        assert!(!is_listed(&[1.0; 77]));
    }

    #[test]
    fn a_reader_reads_its_type() {
        let data = vec![vec![1.0], vec![], vec![-0.0, 2.0]];
        let reader = PlainData::<Vec<Vec<f64>>>::of().unwrap();
        let mut words = Vec::new();
        assert!(reader.read(&data, &mut Words::Keep(&mut words)));
        assert_eq!(words, [3, 1, 1_f64.to_bits(), 0, 2, 1 << 63, 2_f64.to_bits()]);
    }
}
