//! The problems, and the function that solves them.
//!
//! [`coloring`] is the entry point of the crate: it calls an algorithm (`algorithm`) for colours, checks them, and builds
//! the result (`result`), which holds groups and decompression.

use crate::algorithm::{ColoringAlgorithm, Colors, NEUTRAL, ProblemKind};
use crate::check;
use crate::decompression::{Decompression, sealed};
use crate::error::Error;
use crate::pattern::Pattern;
use crate::result::{BidirectionalColoring, ColumnColoring, RowColoring, SymmetricColoring};

/// Colour the columns, for products `A v` (forward mode): columns that share a row get distinct colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Column;

/// Colour the rows, for products `uᵀ A` (reverse mode): rows that share a column get distinct colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Row;

/// Colour the columns of a symmetric matrix: `Symmetric(Direct)` is star colouring, `Symmetric(Substitution)` acyclic
/// colouring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Symmetric<D>(pub D);

/// Colour rows and columns, for products from both sides (mixed mode): `Bidirectional(Direct)` is star bicolouring,
/// `Bidirectional(Substitution)` acyclic bicolouring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bidirectional<D>(pub D);

/// A colouring problem: [`Column`], [`Row`], [`Symmetric`] or [`Bidirectional`], the last two with
/// [`Direct`](crate::Direct) or [`Substitution`](crate::Substitution).
///
/// The type of the problem determines the type of the result, so a result has only the methods that apply to it.
pub trait Problem: sealed::Sealed {
    /// The result of [`coloring`].
    type Coloring;

    /// The problem as a value.
    const KIND: ProblemKind;

    /// Builds the result from colours; see [`coloring`].
    #[doc(hidden)]
    fn finish(pattern: &Pattern, colors: Colors, trusted: bool) -> Result<Self::Coloring, Error>;
}

impl sealed::Sealed for Column {}
impl sealed::Sealed for Row {}
impl<D: Decompression> sealed::Sealed for Symmetric<D> {}
impl<D: Decompression> sealed::Sealed for Bidirectional<D> {}

impl Problem for Column {
    type Coloring = ColumnColoring;

    const KIND: ProblemKind = ProblemKind::Column;

    fn finish(pattern: &Pattern, colors: Colors, trusted: bool) -> Result<ColumnColoring, Error> {
        if !trusted || cfg!(debug_assertions) || colors.columns.contains(&NEUTRAL) {
            check::structurally_orthogonal_columns(pattern, &colors.columns)?;
        }
        ColumnColoring::new(pattern, colors.columns)
    }
}

impl Problem for Row {
    type Coloring = RowColoring;

    const KIND: ProblemKind = ProblemKind::Row;

    fn finish(pattern: &Pattern, colors: Colors, trusted: bool) -> Result<RowColoring, Error> {
        if !trusted || cfg!(debug_assertions) || colors.rows.contains(&NEUTRAL) {
            check::structurally_orthogonal_rows(pattern, &colors.rows)?;
        }
        RowColoring::new(pattern, colors.rows)
    }
}

impl<D: Decompression> Problem for Symmetric<D> {
    type Coloring = SymmetricColoring<D>;

    const KIND: ProblemKind = ProblemKind::Symmetric(D::KIND);

    fn finish(pattern: &Pattern, colors: Colors, _trusted: bool) -> Result<SymmetricColoring<D>, Error> {
        SymmetricColoring::new(pattern, colors.columns)
    }
}

impl<D: Decompression> Problem for Bidirectional<D> {
    type Coloring = BidirectionalColoring<D>;

    const KIND: ProblemKind = ProblemKind::Bidirectional(D::KIND);

    fn finish(pattern: &Pattern, colors: Colors, _trusted: bool) -> Result<BidirectionalColoring<D>, Error> {
        BidirectionalColoring::new(pattern, colors.rows, colors.columns)
    }
}

/// Colours `pattern` for `problem` with `algorithm` and prepares the decompression.
///
/// # Errors
/// [`NotSquare`](crate::ErrorKind::NotSquare) and [`NotSymmetric`](crate::ErrorKind::NotSymmetric) for symmetric problems;
/// [`InvalidColoring`](crate::ErrorKind::InvalidColoring) if an algorithm outside this crate, or a constant colouring,
/// does not allow every entry to be recovered; and those of the algorithm.
///
/// # Example
/// ```
/// use matrix_coloring::{Column, GreedyColoring, Pattern, Substitution, Symmetric, coloring};
///
/// let tridiagonal = Pattern::banded(100, 1)?;
/// let greedy = GreedyColoring::default();
/// assert_eq!(coloring(&tridiagonal, Column, &greedy)?.ncolors(), 3);
/// assert_eq!(coloring(&tridiagonal, Symmetric(Substitution), &greedy)?.ncolors(), 2);
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
pub fn coloring<P: Problem>(
    pattern: &Pattern,
    problem: P,
    algorithm: &(impl ColoringAlgorithm + ?Sized),
) -> Result<P::Coloring, Error> {
    let _ = problem; // a marker: only its type is used
    let colors = algorithm.colors(pattern, P::KIND)?;
    P::finish(pattern, colors, algorithm.is_correct_by_construction())
}
