//! Results of star and acyclic colouring of a symmetric matrix.
//!
//! Every entry is read from its own row and the colour of its column, or from its mirror image; by substitution, entries
//! recovered before are subtracted.

use std::marker::PhantomData;
use std::ops::{Add, Range};

use super::decompress::{Prepared, Recovers, check, color, compress_columns, with_layout, with_storage};
use crate::algorithm::DecompressionKind;
use crate::decompression::{Decompression, Direct, Substitution};
use crate::error::Error;
use crate::groups::Groups;
use crate::pattern::Pattern;
use crate::program::{Layout, Program, Shape, Source, Storage, Target, Triangle};
use crate::recovery::{Recovery, count_colors, symmetric_direct, symmetric_substitution};

/// Star colouring: a symmetric matrix recovered directly.
pub type StarColoring = SymmetricColoring<Direct>;

/// Acyclic colouring: a symmetric matrix recovered by substitution.
pub type AcyclicColoring = SymmetricColoring<Substitution>;

/// Colours of the columns of a symmetric matrix.
///
/// `B` has one column per colour, the sum of the columns of that colour, stored row by row unless
/// [`with_layout`](SymmetricColoring::with_layout) changes that. Values are all entries in CSR order unless
/// [`with_storage`](SymmetricColoring::with_storage) and [`with_triangle`](SymmetricColoring::with_triangle) change
/// that. Decompression does not change a colouring, so threads may share it.
///
/// # Example
/// ```
/// use matrix_coloring::{Direct, GreedyColoring, Order, Pattern, Substitution, Symmetric, Triangle, coloring};
///
/// // 2 5 .
/// // 5 3 6
/// // . 6 4
/// let pattern = Pattern::banded(3, 1)?;
/// let natural = GreedyColoring::new(Order::Natural);
/// let star = coloring(&pattern, Symmetric(Direct), &natural)?;
/// assert_eq!(star.column_colors(), [0, 1, 0]);
/// let b = star.compress(&[2, 5, 5, 3, 6, 6, 4])?;
/// assert_eq!(b, [2, 5, 11, 3, 4, 6]); // 3 x 2, and 11 = 5 + 6
/// assert_eq!(star.decompress(&b)?, [2, 5, 5, 3, 6, 6, 4]);
///
/// let lower = star.with_triangle(Triangle::Lower);
/// assert_eq!(lower.decompress(&b)?, [2, 5, 3, 6, 4]);
///
/// let longer = coloring(&Pattern::banded(9, 2)?, Symmetric(Direct), &natural)?;
/// let acyclic = coloring(&Pattern::banded(9, 2)?, Symmetric(Substitution), &natural)?;
/// assert_eq!((longer.ncolors(), acyclic.ncolors()), (5, 3));
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SymmetricColoring<D> {
    pattern: Pattern,
    colors: Vec<u32>,
    groups: Groups,
    shape: Shape,
    program: Prepared,
    decompression: PhantomData<D>,
}

fn recovery(decompression: DecompressionKind, pattern: &Pattern, colors: &[u32], n: usize) -> Result<Recovery, Error> {
    match decompression {
        DecompressionKind::Direct => symmetric_direct(pattern, colors, n),
        DecompressionKind::Substitution => symmetric_substitution(pattern, colors, n),
    }
}

impl<D: Decompression> SymmetricColoring<D> {
    pub(crate) fn new(pattern: &Pattern, colors: Vec<u32>) -> Result<SymmetricColoring<D>, Error> {
        pattern.check_symmetric()?;
        let ncolors = count_colors("column colours", &colors, pattern.ncols())?;
        let shape = Shape { nrows: pattern.nrows(), ncols: pattern.ncols(), column_colors: ncolors, row_colors: 0 };
        let recovery = recovery(D::KIND, pattern, &colors, ncolors)?;
        let source = Source::Symmetric(&colors, &recovery);
        let program = Prepared(Program::new(pattern, Target::default(), shape, &source));
        let groups = Groups::new(&colors, ncolors);
        Ok(SymmetricColoring { pattern: pattern.clone(), colors, groups, shape, program, decompression: PhantomData })
    }

    fn retarget(mut self, target: Target) -> SymmetricColoring<D> {
        let recovery = recovery(D::KIND, &self.pattern, &self.colors, self.ncolors())
            .expect("the colours were found valid when the result was made");
        let source = Source::Symmetric(&self.colors, &recovery);
        self.program = Prepared(Program::new(&self.pattern, target, self.shape, &source));
        self
    }

    /// Returns the same colouring with values in another storage order.
    pub fn with_storage(self, storage: Storage) -> SymmetricColoring<D> {
        let target = with_storage(self.program.0.target, storage);
        self.retarget(target)
    }

    /// Returns the same colouring for a compressed matrix in another layout.
    pub fn with_layout(self, layout: Layout) -> SymmetricColoring<D> {
        let target = with_layout(self.program.0.target, layout);
        self.retarget(target)
    }

    /// Returns the same colouring with values for one triangle (with the diagonal) or for all entries.
    pub fn with_triangle(self, triangle: Triangle) -> SymmetricColoring<D> {
        let target = Target { triangle, ..self.program.0.target };
        self.retarget(target)
    }

    /// Returns the colour of every column, [`NEUTRAL`](crate::NEUTRAL) for columns that need no product.
    pub fn column_colors(&self) -> &[u32] {
        &self.colors
    }

    /// Returns the colour of column `j`, or `None` if it is neutral.
    pub fn column_color(&self, j: usize) -> Option<usize> {
        color(&self.colors, j)
    }

    /// Returns the columns of every colour.
    pub fn column_groups(&self) -> &Groups {
        &self.groups
    }

    /// Returns the number of colours: the number of products to compute.
    pub fn ncolors(&self) -> usize {
        self.groups.len()
    }

    /// Returns the pattern that was coloured.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Returns the length of the compressed matrix: rows times colours.
    pub fn compressed_len(&self) -> usize {
        self.shape.column_part()
    }

    /// Returns the number of values: the entries of the pattern that are stored.
    pub fn values_len(&self) -> usize {
        self.program.0.len()
    }

    /// Returns the number of entries that need a subtraction; 0 for direct decompression.
    pub fn substitutions(&self) -> usize {
        self.program.0.substitutions()
    }

    /// Returns `B[i, c] = Σ A[i, j]` over the columns `j` of colour `c`. `values` are those of the full matrix in storage
    /// order, whatever the triangle. `T::default()` must be zero.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn compress<T: Copy + Default + Add<Output = T>>(&self, values: &[T]) -> Result<Vec<T>, Error> {
        let mut compressed = vec![T::default(); self.shape.column_part()];
        self.compress_into(&mut compressed, values)?;
        Ok(compressed)
    }

    /// As [`compress`](SymmetricColoring::compress), into `compressed`.
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
    pub fn decompress_into<T>(&self, values: &mut [T], compressed: &[T]) -> Result<(), Error>
    where
        D: Recovers<T>,
    {
        D::run(&self.program, values, compressed, &[])
    }

    /// Returns the values in storage order; see [`decompress_into`](SymmetricColoring::decompress_into) for a version
    /// that does not allocate.
    ///
    /// # Errors
    /// [`Length`](crate::ErrorKind::Length).
    pub fn decompress<T: Copy + Default>(&self, compressed: &[T]) -> Result<Vec<T>, Error>
    where
        D: Recovers<T>,
    {
        check("compressed matrix", self.compressed_len(), compressed)?;
        let mut values = vec![T::default(); self.values_len()];
        self.decompress_into(&mut values, compressed)?;
        Ok(values)
    }
}

impl StarColoring {
    /// Fills the values that are read with the colours in `colors` from the products of these colours alone: `chunk` is
    /// the matrix of `nrows` rows and `colors.len()` columns, in the layout of the compressed matrix. Other values stay
    /// unchanged. The first call builds the lists it needs; see [`prepare_chunks`](StarColoring::prepare_chunks).
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

    /// Builds the lists that [`decompress_colors_into`](StarColoring::decompress_colors_into) walks, so that no later call
    /// allocates.
    pub fn prepare_chunks(&self) {
        self.program.0.prepare_chunks();
    }
}
