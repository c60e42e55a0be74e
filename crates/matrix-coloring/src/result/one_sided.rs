//! Results of column and row colouring.
//!
//! Both read every entry of the matrix from one entry of the compressed matrix.

use std::ops::{Add, Range};

use super::decompress::{Prepared, Recovers, check, color, compress_columns, compress_rows, with_layout, with_storage};
use crate::decompression::Direct;
use crate::error::Error;
use crate::groups::Groups;
use crate::pattern::Pattern;
use crate::program::{Layout, Program, Shape, Source, Storage, Target};
use crate::recovery::count_colors;

/// Colours of the columns: `A[i, j]` is `B[i, c]` with `c` the colour of column `j`.
///
/// `B` has one column per colour, the sum of the columns of that colour. It is stored row by row unless
/// [`with_layout`](ColumnColoring::with_layout) changes that; values are in CSR order unless
/// [`with_storage`](ColumnColoring::with_storage) does.
///
/// # Example
/// ```
/// use matrix_coloring::{Column, GreedyColoring, Order, Pattern, coloring};
///
/// // 1 . 2
/// // . 3 4
/// // 5 . .
/// let pattern = Pattern::from_triplets(3, 3, [(0, 0), (0, 2), (1, 1), (1, 2), (2, 0)])?;
/// let result = coloring(&pattern, Column, &GreedyColoring::new(Order::Natural))?;
/// assert_eq!(result.column_colors(), [0, 0, 1]);
///
/// let b = result.compress(&[1, 2, 3, 4, 5])?;
/// assert_eq!(b, [1, 2, 3, 4, 5, 0]); // 3 x 2
/// let mut values = [0; 5];
/// result.decompress_into(&mut values, &b)?;
/// assert_eq!(values, [1, 2, 3, 4, 5]);
///
/// // The same one colour at a time: only one column of B is held.
/// let mut values = [0; 5];
/// result.decompress_colors_into(&mut values, 0..1, &[1, 3, 5])?;
/// assert_eq!(values, [1, 0, 3, 0, 5]);
/// result.decompress_colors_into(&mut values, 1..2, &[2, 4, 0])?;
/// assert_eq!(values, [1, 2, 3, 4, 5]);
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ColumnColoring {
    pattern: Pattern,
    colors: Vec<u32>,
    groups: Groups,
    shape: Shape,
    program: Prepared,
}

/// Colours of the rows: `A[i, j]` is `B[c, j]` with `c` the colour of row `i`.
///
/// `B` has one row per colour, the sum of the rows of that colour. It is stored row by row unless
/// [`with_layout`](RowColoring::with_layout) changes that; values are in CSR order unless
/// [`with_storage`](RowColoring::with_storage) does.
///
/// # Example
/// ```
/// use matrix_coloring::{GreedyColoring, Order, Pattern, Row, coloring};
///
/// // 1 . 3
/// // . 2 .
/// // 4 5 .
/// let pattern = Pattern::from_triplets(3, 3, [(0, 0), (0, 2), (1, 1), (2, 0), (2, 1)])?;
/// let result = coloring(&pattern, Row, &GreedyColoring::new(Order::Natural))?;
/// assert_eq!(result.row_colors(), [0, 0, 1]);
/// let b = result.compress(&[1, 3, 2, 4, 5])?;
/// assert_eq!(b, [1, 2, 3, 4, 5, 0]); // 2 x 3
/// assert_eq!(result.decompress(&b)?, [1, 3, 2, 4, 5]);
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RowColoring {
    pattern: Pattern,
    colors: Vec<u32>,
    groups: Groups,
    shape: Shape,
    program: Prepared,
}

impl ColumnColoring {
    pub(crate) fn new(pattern: &Pattern, colors: Vec<u32>) -> Result<ColumnColoring, Error> {
        let ncolors = count_colors("column colours", &colors, pattern.ncols())?;
        let shape = Shape { nrows: pattern.nrows(), ncols: pattern.ncols(), column_colors: ncolors, row_colors: 0 };
        let program = Prepared(Program::new(pattern, Target::default(), shape, &Source::Columns(&colors)));
        let groups = Groups::new(&colors, ncolors);
        Ok(ColumnColoring { pattern: pattern.clone(), colors, groups, shape, program })
    }

    fn retarget(mut self, target: Target) -> ColumnColoring {
        self.program = Prepared(Program::new(&self.pattern, target, self.shape, &Source::Columns(&self.colors)));
        self
    }

    /// Returns the colour of every column, [`NEUTRAL`](crate::NEUTRAL) for a column without entries that has none.
    pub fn column_colors(&self) -> &[u32] {
        &self.colors
    }

    /// Returns the colour of column `j`, or `None` if it has none.
    pub fn column_color(&self, j: usize) -> Option<usize> {
        color(&self.colors, j)
    }

    /// Returns the columns of every colour.
    pub fn column_groups(&self) -> &Groups {
        &self.groups
    }

    /// Returns the length of the compressed matrix: rows times colours.
    pub fn compressed_len(&self) -> usize {
        self.shape.column_part()
    }

    /// Returns `B[i, c] = Σ A[i, j]` over the columns `j` of colour `c`, for the values of `A` in storage order.
    /// `T::default()` must be zero.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn compress<T: Copy + Default + Add<Output = T>>(&self, values: &[T]) -> Result<Vec<T>, Error> {
        let mut compressed = vec![T::default(); self.shape.column_part()];
        self.compress_into(&mut compressed, values)?;
        Ok(compressed)
    }

    /// As [`compress`](ColumnColoring::compress), into `compressed`.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn compress_into<T>(&self, compressed: &mut [T], values: &[T]) -> Result<(), Error>
    where
        T: Copy + Default + Add<Output = T>,
    {
        compress_columns(&self.pattern, self.program.0.target, &self.shape, &self.colors, values, compressed)
    }

    /// Fills `values` from the compressed matrix; allocates nothing.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn decompress_into<T: Copy>(&self, values: &mut [T], compressed: &[T]) -> Result<(), Error> {
        Direct::run(&self.program, values, compressed, &[])
    }

    /// Fills the values that are read with the colours in `colors` from the products of these colours alone: `chunk` is
    /// the matrix of `nrows` rows and `colors.len()` columns, in the layout of the compressed matrix. Other values stay
    /// unchanged. The first call builds the lists it needs; see [`prepare_chunks`](ColumnColoring::prepare_chunks).
    ///
    /// # Errors
    /// [`ColorRange`](crate::ErrorKind::ColorRange), [`Length`](crate::ErrorKind::Length).
    pub fn decompress_colors_into<T: Copy>(
        &self,
        values: &mut [T],
        colors: Range<usize>,
        chunk: &[T],
    ) -> Result<(), Error> {
        self.program.0.scatter(false, colors, chunk, values)
    }

    /// Builds the lists that [`decompress_colors_into`](ColumnColoring::decompress_colors_into) walks, so that no later call
    /// allocates.
    pub fn prepare_chunks(&self) {
        self.program.0.prepare_chunks();
    }
}

impl RowColoring {
    pub(crate) fn new(pattern: &Pattern, colors: Vec<u32>) -> Result<RowColoring, Error> {
        let ncolors = count_colors("row colours", &colors, pattern.nrows())?;
        let shape = Shape { nrows: pattern.nrows(), ncols: pattern.ncols(), column_colors: 0, row_colors: ncolors };
        let program = Prepared(Program::new(pattern, Target::default(), shape, &Source::Rows(&colors)));
        let groups = Groups::new(&colors, ncolors);
        Ok(RowColoring { pattern: pattern.clone(), colors, groups, shape, program })
    }

    fn retarget(mut self, target: Target) -> RowColoring {
        self.program = Prepared(Program::new(&self.pattern, target, self.shape, &Source::Rows(&self.colors)));
        self
    }

    /// Returns the colour of every row, [`NEUTRAL`](crate::NEUTRAL) for a row without entries that has none.
    pub fn row_colors(&self) -> &[u32] {
        &self.colors
    }

    /// Returns the colour of row `i`, or `None` if it has none.
    pub fn row_color(&self, i: usize) -> Option<usize> {
        color(&self.colors, i)
    }

    /// Returns the rows of every colour.
    pub fn row_groups(&self) -> &Groups {
        &self.groups
    }

    /// Returns the length of the compressed matrix: colours times columns.
    pub fn compressed_len(&self) -> usize {
        self.shape.row_part()
    }

    /// Returns `B[c, j] = Σ A[i, j]` over the rows `i` of colour `c`, for the values of `A` in storage order.
    /// `T::default()` must be zero.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn compress<T: Copy + Default + Add<Output = T>>(&self, values: &[T]) -> Result<Vec<T>, Error> {
        let mut compressed = vec![T::default(); self.shape.row_part()];
        self.compress_into(&mut compressed, values)?;
        Ok(compressed)
    }

    /// As [`compress`](RowColoring::compress), into `compressed`.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn compress_into<T>(&self, compressed: &mut [T], values: &[T]) -> Result<(), Error>
    where
        T: Copy + Default + Add<Output = T>,
    {
        compress_rows(&self.pattern, self.program.0.target, &self.shape, &self.colors, values, compressed)
    }

    /// Fills `values` from the compressed matrix; allocates nothing.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn decompress_into<T: Copy>(&self, values: &mut [T], compressed: &[T]) -> Result<(), Error> {
        Direct::run(&self.program, values, &[], compressed)
    }

    /// Fills the values that are read with the colours in `colors` from the products of these colours alone: `chunk` is
    /// the matrix of `colors.len()` rows and `ncols` columns, in the layout of the compressed matrix. Other values stay
    /// unchanged. The first call builds the lists it needs; see [`prepare_chunks`](RowColoring::prepare_chunks).
    ///
    /// # Errors
    /// [`ColorRange`](crate::ErrorKind::ColorRange), [`Length`](crate::ErrorKind::Length).
    pub fn decompress_colors_into<T: Copy>(
        &self,
        values: &mut [T],
        colors: Range<usize>,
        chunk: &[T],
    ) -> Result<(), Error> {
        self.program.0.scatter(true, colors, chunk, values)
    }

    /// Builds the lists that [`decompress_colors_into`](RowColoring::decompress_colors_into) walks, so that no later call
    /// allocates.
    pub fn prepare_chunks(&self) {
        self.program.0.prepare_chunks();
    }
}

/// The methods that do not depend on the side.
macro_rules! common {
    ($result:ident) => {
        impl $result {
            /// Returns the number of colours: the number of products to compute.
            pub fn ncolors(&self) -> usize {
                self.groups.len()
            }

            /// Returns the pattern that was coloured.
            pub fn pattern(&self) -> &Pattern {
                &self.pattern
            }

            /// Returns the same colouring with values in another storage order.
            pub fn with_storage(self, storage: Storage) -> $result {
                let target = with_storage(self.program.0.target, storage);
                self.retarget(target)
            }

            /// Returns the same colouring for a compressed matrix in another layout.
            pub fn with_layout(self, layout: Layout) -> $result {
                let target = with_layout(self.program.0.target, layout);
                self.retarget(target)
            }

            /// Returns the number of values: the entries of the pattern.
            pub fn values_len(&self) -> usize {
                self.program.0.len()
            }

            /// Returns the values in storage order; see `decompress_into` for a version that does not allocate.
            ///
            /// # Errors
            /// [`Length`](crate::ErrorKind::Length).
            pub fn decompress<T: Copy + Default>(&self, compressed: &[T]) -> Result<Vec<T>, Error> {
                check("compressed matrix", self.compressed_len(), compressed)?;
                let mut values = vec![T::default(); self.values_len()];
                self.decompress_into(&mut values, compressed)?;
                Ok(values)
            }
        }
    };
}

common!(ColumnColoring);
common!(RowColoring);
