//! The interface of colouring algorithms: an algorithm turns a pattern and a problem into colour vectors.
//!
//! Implemented by [`GreedyColoring`](crate::GreedyColoring), [`ConstantColoring`] and `OptimalColoring`, and open to
//! users. Called by [`coloring`](crate::coloring), which checks the colours and builds the decompression from them.

use crate::error::{Error, ErrorKind};
use crate::pattern::Pattern;

/// The colour of a vertex that needs no product: `u32::MAX`.
pub const NEUTRAL: u32 = u32::MAX;

/// How entries are recovered from the compressed matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecompressionKind {
    /// Every entry is an entry of the compressed matrix.
    Direct,
    /// Some entries are differences of an entry of the compressed matrix and entries recovered before: fewer colours.
    Substitution,
}

/// The problem posed to an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// Columns that share a row get distinct colours.
    Column,
    /// Rows that share a column get distinct colours.
    Row,
    /// Columns of a symmetric matrix: star (direct) or acyclic (substitution) colouring.
    Symmetric(DecompressionKind),
    /// Rows and columns: star (direct) or acyclic (substitution) bicolouring.
    Bidirectional(DecompressionKind),
}

impl ProblemKind {
    /// Returns the usual name of the colouring: `"column"`, `"row"`, `"star"`, `"acyclic"`, `"star bicoloring"` or
    /// `"acyclic bicoloring"`.
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::Column => "column",
            ProblemKind::Row => "row",
            ProblemKind::Symmetric(DecompressionKind::Direct) => "star",
            ProblemKind::Symmetric(DecompressionKind::Substitution) => "acyclic",
            ProblemKind::Bidirectional(DecompressionKind::Direct) => "star bicoloring",
            ProblemKind::Bidirectional(DecompressionKind::Substitution) => "acyclic bicoloring",
        }
    }
}

/// Colour vectors: one colour per column and per row, [`NEUTRAL`] for none.
///
/// A side that the problem does not colour is left empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Colors {
    /// Colours of the columns; empty for row problems.
    pub columns: Vec<u32>,
    /// Colours of the rows; empty for column and symmetric problems.
    pub rows: Vec<u32>,
}

/// Turns a pattern and a problem into colours.
///
/// # For users
/// Pass an algorithm to [`coloring`](crate::coloring), or call [`colors`](ColoringAlgorithm::colors) for the colour
/// vectors alone.
///
/// # For authors of algorithms
/// 1. The pattern may have any shape; for [`ProblemKind::Symmetric`] refuse one that is not symmetric.
/// 2. Colours are 0, 1, … without gaps if possible, each below the number of vertices of its side.
/// 3. The result is checked by [`coloring`](crate::coloring); an invalid one becomes
///    [`ErrorKind::InvalidColoring`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a colouring algorithm",
    note = "use `&GreedyColoring::default()`, `&ConstantColoring` or implement `ColoringAlgorithm`"
)]
pub trait ColoringAlgorithm {
    /// Returns colours for `problem` on `pattern`.
    ///
    /// # Errors
    /// Those that the algorithm documents; [`ErrorKind::NotSquare`] and [`ErrorKind::NotSymmetric`] for symmetric problems.
    fn colors(&self, pattern: &Pattern, problem: ProblemKind) -> Result<Colors, Error>;

    /// Whether the colours are valid by construction. Release builds then do not check column and row colourings again
    /// (all others are checked in any case, because building the decompression does it).
    fn is_correct_by_construction(&self) -> bool {
        false
    }
}

impl<A: ColoringAlgorithm + ?Sized> ColoringAlgorithm for &A {
    fn colors(&self, pattern: &Pattern, problem: ProblemKind) -> Result<Colors, Error> {
        (**self).colors(pattern, problem)
    }

    fn is_correct_by_construction(&self) -> bool {
        (**self).is_correct_by_construction()
    }
}

/// A known colouring, for example from theory; it is checked before use.
///
/// # Example
/// ```
/// use matrix_coloring::{Column, ConstantColoring, Pattern, coloring};
///
/// let tridiagonal = Pattern::banded(6, 1)?;
/// let known = ConstantColoring::columns([0, 1, 2, 0, 1, 2]);
/// assert_eq!(coloring(&tridiagonal, Column, &known)?.ncolors(), 3);
///
/// let wrong = ConstantColoring::columns([0, 1, 0, 1, 0, 1]);
/// let error = coloring(&tridiagonal, Column, &wrong).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "entry (1, 2) cannot be recovered: column 0 has the same colour and an entry in this row; use another colouring"
/// );
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantColoring {
    colors: Colors,
}

impl ConstantColoring {
    /// Colours of the columns, for column and symmetric problems.
    pub fn columns(columns: impl Into<Vec<u32>>) -> ConstantColoring {
        ConstantColoring { colors: Colors { columns: columns.into(), rows: Vec::new() } }
    }

    /// Colours of the rows, for row problems.
    pub fn rows(rows: impl Into<Vec<u32>>) -> ConstantColoring {
        ConstantColoring { colors: Colors { columns: Vec::new(), rows: rows.into() } }
    }

    /// Colours of rows and columns, for bidirectional problems.
    pub fn rows_and_columns(rows: impl Into<Vec<u32>>, columns: impl Into<Vec<u32>>) -> ConstantColoring {
        ConstantColoring { colors: Colors { columns: columns.into(), rows: rows.into() } }
    }
}

impl ColoringAlgorithm for ConstantColoring {
    fn colors(&self, pattern: &Pattern, problem: ProblemKind) -> Result<Colors, Error> {
        if let ProblemKind::Symmetric(_) = problem {
            pattern.check_symmetric()?;
        }
        let (rows, columns) = match problem {
            ProblemKind::Column | ProblemKind::Symmetric(_) => (0, pattern.ncols()),
            ProblemKind::Row => (pattern.nrows(), 0),
            ProblemKind::Bidirectional(_) => (pattern.nrows(), pattern.ncols()),
        };
        check_length("row colours", &self.colors.rows, rows)?;
        check_length("column colours", &self.colors.columns, columns)?;
        Ok(self.colors.clone())
    }
}

fn check_length(what: &'static str, colors: &[u32], expected: usize) -> Result<(), Error> {
    if colors.len() == expected {
        Ok(())
    } else {
        Err(ErrorKind::Length { what, expected, found: colors.len() }.into())
    }
}

/// Number of distinct colours, without neutral.
pub(crate) fn distinct(colors: &[u32]) -> usize {
    let mut met = Vec::new();
    let mut count = 0;
    for &c in colors.iter().filter(|&&c| c != NEUTRAL) {
        if met.len() <= c as usize {
            met.resize(c as usize + 1, false);
        }
        count += usize::from(!std::mem::replace(&mut met[c as usize], true));
    }
    count
}
