//! Results of star and acyclic bicolouring.
//!
//! Every entry is read from a column product or from a row product; by substitution, entries recovered before are
//! subtracted.

use std::marker::PhantomData;
use std::ops::{Add, Range};

use super::decompress::{Prepared, Recovers, check, color, compress_columns, compress_rows, with_layout, with_storage};
use crate::algorithm::DecompressionKind;
use crate::decompression::{Decompression, Direct, Substitution};
use crate::error::Error;
use crate::groups::Groups;
use crate::pattern::Pattern;
use crate::program::{Layout, Program, Shape, Source, Storage, Target};
use crate::recovery::{Recovery, Side, bidirectional_direct, bidirectional_substitution, count_colors};

/// Star bicolouring: a matrix recovered directly from column and row products.
pub type StarBicoloring = BidirectionalColoring<Direct>;

/// Acyclic bicolouring: a matrix recovered from column and row products by substitution.
pub type AcyclicBicoloring = BidirectionalColoring<Substitution>;

/// Colours of rows and columns.
///
/// The compressed matrix has two parts: `Bc`, `nrows` x [`ncolumn_colors`](BidirectionalColoring::ncolumn_colors), with
/// the sums of the columns of each colour, and `Br`, [`nrow_colors`](BidirectionalColoring::nrow_colors) x `ncols`, with
/// the sums of the rows of each colour. Both are stored row by row unless
/// [`with_layout`](BidirectionalColoring::with_layout) changes that; values are in CSR order unless
/// [`with_storage`](BidirectionalColoring::with_storage) does. Columns come before rows in every argument list.
///
/// # Example
/// ```
/// use matrix_coloring::{Bidirectional, Column, Direct, GreedyColoring, Pattern, coloring};
///
/// // A dense row, a dense column and the diagonal: no two columns and no two rows can share a colour.
/// let arrow = Pattern::from_fn(50, 50, |i, j| i == 0 || j == 0 || i == j)?;
/// let greedy = GreedyColoring::default();
/// assert_eq!(coloring(&arrow, Column, &greedy)?.ncolors(), 50);
///
/// let both = coloring(&arrow, Bidirectional(Direct), &greedy)?;
/// assert_eq!(both.ncolors(), 3);
/// let values: Vec<i64> = (0..148).collect();
/// let (columns, rows) = both.compress(&values)?;
/// assert_eq!(columns.len() + rows.len(), 150);
/// assert_eq!(both.decompress(&columns, &rows)?, values);
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BidirectionalColoring<D> {
    pattern: Pattern,
    row_colors: Vec<u32>,
    column_colors: Vec<u32>,
    row_groups: Groups,
    column_groups: Groups,
    shape: Shape,
    program: Prepared,
    decompression: PhantomData<D>,
}

fn recovery(
    decompression: DecompressionKind,
    pattern: &Pattern,
    rows: Side<'_>,
    columns: Side<'_>,
) -> Result<Recovery, Error> {
    match decompression {
        DecompressionKind::Direct => bidirectional_direct(pattern, rows, columns),
        DecompressionKind::Substitution => bidirectional_substitution(pattern, rows, columns),
    }
}

impl<D: Decompression> BidirectionalColoring<D> {
    pub(crate) fn new(
        pattern: &Pattern,
        row_colors: Vec<u32>,
        column_colors: Vec<u32>,
    ) -> Result<BidirectionalColoring<D>, Error> {
        let nrow_colors = count_colors("row colours", &row_colors, pattern.nrows())?;
        let ncolumn_colors = count_colors("column colours", &column_colors, pattern.ncols())?;
        let shape = Shape {
            nrows: pattern.nrows(),
            ncols: pattern.ncols(),
            column_colors: ncolumn_colors,
            row_colors: nrow_colors,
        };
        let rows = Side { colors: &row_colors, ncolors: nrow_colors };
        let columns = Side { colors: &column_colors, ncolors: ncolumn_colors };
        let recovery = recovery(D::KIND, pattern, rows, columns)?;
        let source = Source::Bidirectional(&row_colors, &column_colors, &recovery);
        let program = Prepared(Program::new(pattern, Target::default(), shape, &source));
        let row_groups = Groups::new(&row_colors, nrow_colors);
        let column_groups = Groups::new(&column_colors, ncolumn_colors);
        let decompression = PhantomData;
        let pattern = pattern.clone();
        Ok(BidirectionalColoring {
            pattern,
            row_colors,
            column_colors,
            row_groups,
            column_groups,
            shape,
            program,
            decompression,
        })
    }

    fn retarget(mut self, target: Target) -> BidirectionalColoring<D> {
        let rows = Side { colors: &self.row_colors, ncolors: self.nrow_colors() };
        let columns = Side { colors: &self.column_colors, ncolors: self.ncolumn_colors() };
        let recovery = recovery(D::KIND, &self.pattern, rows, columns)
            .expect("the colours were found valid when the result was made");
        let source = Source::Bidirectional(&self.row_colors, &self.column_colors, &recovery);
        self.program = Prepared(Program::new(&self.pattern, target, self.shape, &source));
        self
    }

    /// Returns the same colouring with values in another storage order.
    pub fn with_storage(self, storage: Storage) -> BidirectionalColoring<D> {
        let target = with_storage(self.program.0.target, storage);
        self.retarget(target)
    }

    /// Returns the same colouring for compressed parts in another layout.
    pub fn with_layout(self, layout: Layout) -> BidirectionalColoring<D> {
        let target = with_layout(self.program.0.target, layout);
        self.retarget(target)
    }

    /// Returns the colour of every column, [`NEUTRAL`](crate::NEUTRAL) for columns that need no product.
    pub fn column_colors(&self) -> &[u32] {
        &self.column_colors
    }

    /// Returns the colour of every row, [`NEUTRAL`](crate::NEUTRAL) for rows that need no product.
    pub fn row_colors(&self) -> &[u32] {
        &self.row_colors
    }

    /// Returns the colour of column `j`, or `None` if it is neutral.
    pub fn column_color(&self, j: usize) -> Option<usize> {
        color(&self.column_colors, j)
    }

    /// Returns the colour of row `i`, or `None` if it is neutral.
    pub fn row_color(&self, i: usize) -> Option<usize> {
        color(&self.row_colors, i)
    }

    /// Returns the columns of every column colour.
    pub fn column_groups(&self) -> &Groups {
        &self.column_groups
    }

    /// Returns the rows of every row colour.
    pub fn row_groups(&self) -> &Groups {
        &self.row_groups
    }

    /// Returns the number of column colours: products `A v`.
    pub fn ncolumn_colors(&self) -> usize {
        self.column_groups.len()
    }

    /// Returns the number of row colours: products `uᵀ A`.
    pub fn nrow_colors(&self) -> usize {
        self.row_groups.len()
    }

    /// Returns the number of colours of both sides: the number of products to compute.
    pub fn ncolors(&self) -> usize {
        self.ncolumn_colors() + self.nrow_colors()
    }

    /// Returns the pattern that was coloured.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Returns the lengths of the two parts of the compressed matrix, columns first.
    pub fn compressed_len(&self) -> (usize, usize) {
        (self.shape.column_part(), self.shape.row_part())
    }

    /// Returns the number of values: the entries of the pattern.
    pub fn values_len(&self) -> usize {
        self.program.0.len()
    }

    /// Returns the number of entries that need a subtraction; 0 for direct decompression.
    pub fn substitutions(&self) -> usize {
        self.program.0.substitutions()
    }

    /// Returns the parts `Bc[i, c] = Σ A[i, j]` over the columns `j` of colour `c` and `Br[c, j] = Σ A[i, j]` over the
    /// rows `i` of colour `c`, for the values of `A` in storage order. `T::default()` must be zero.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn compress<T: Copy + Default + Add<Output = T>>(&self, values: &[T]) -> Result<(Vec<T>, Vec<T>), Error> {
        let (columns, rows) = self.compressed_len();
        let (mut columns, mut rows) = (vec![T::default(); columns], vec![T::default(); rows]);
        self.compress_into(&mut columns, &mut rows, values)?;
        Ok((columns, rows))
    }

    /// As [`compress`](BidirectionalColoring::compress), into `columns` and `rows`.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn compress_into<T>(&self, columns: &mut [T], rows: &mut [T], values: &[T]) -> Result<(), Error>
    where
        T: Copy + Default + Add<Output = T>,
    {
        let target = self.program.0.target;
        compress_columns(&self.pattern, target, &self.shape, &self.column_colors, values, columns)?;
        compress_rows(&self.pattern, target, &self.shape, &self.row_colors, values, rows)
    }

    /// Fills `values` from the two parts of the compressed matrix; allocates nothing.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn decompress_into<T>(&self, values: &mut [T], columns: &[T], rows: &[T]) -> Result<(), Error>
    where
        D: Recovers<T>,
    {
        D::run(&self.program, values, columns, rows)
    }

    /// Returns the values in storage order; see [`decompress_into`](BidirectionalColoring::decompress_into) for a version
    /// that does not allocate.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn decompress<T: Copy + Default>(&self, columns: &[T], rows: &[T]) -> Result<Vec<T>, Error>
    where
        D: Recovers<T>,
    {
        check("compressed columns", self.shape.column_part(), columns)?;
        let mut values = vec![T::default(); self.values_len()];
        self.decompress_into(&mut values, columns, rows)?;
        Ok(values)
    }
}

impl StarBicoloring {
    /// Fills the values that are read with the column colours in `colors` from the products of these colours alone:
    /// `chunk` is the matrix of `nrows` rows and `colors.len()` columns, in the layout of the compressed matrix. Other
    /// values stay unchanged. The first call builds the lists it needs; see
    /// [`prepare_chunks`](StarBicoloring::prepare_chunks).
    ///
    /// # Errors
    /// [`ColorRange`](crate::ErrorKind::ColorRange), [`Length`](crate::ErrorKind::Length).
    pub fn decompress_column_colors_into<T: Copy>(
        &self,
        values: &mut [T],
        colors: Range<usize>,
        chunk: &[T],
    ) -> Result<(), Error> {
        self.program.0.scatter(false, colors, chunk, values)
    }

    /// The same for row colours: `chunk` is the matrix of `colors.len()` rows and `ncols` columns.
    ///
    /// # Errors
    /// [`ColorRange`](crate::ErrorKind::ColorRange), [`Length`](crate::ErrorKind::Length).
    pub fn decompress_row_colors_into<T: Copy>(
        &self,
        values: &mut [T],
        colors: Range<usize>,
        chunk: &[T],
    ) -> Result<(), Error> {
        self.program.0.scatter(true, colors, chunk, values)
    }

    /// Builds the lists that the two methods above walk, so that no later call allocates.
    pub fn prepare_chunks(&self) {
        self.program.0.prepare_chunks();
    }
}
