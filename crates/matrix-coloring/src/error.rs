//! The error type of this crate.
//!
//! Returned by every fallible function. Callers match on [`Error::kind`]; the `Display` text says what was asked, what
//! was found and what to do.

use std::fmt;

/// What went wrong, with the numbers needed to correct it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A dimension or the number of entries does not fit in the `u32` indices of this crate, or a colour is not below the number of
    /// vertices.
    TooLarge {
        /// What was counted.
        what: &'static str,
        /// The size found.
        size: usize,
        /// The largest size accepted.
        limit: usize,
    },
    /// The pattern does not fit in memory.
    Memory {
        /// Bytes of the array that could not be allocated.
        bytes: usize,
    },
    /// An entry lies outside the matrix.
    OutOfBounds {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// Rows of the matrix.
        nrows: usize,
        /// Columns of the matrix.
        ncols: usize,
    },
    /// A pointer array of a compressed matrix does not start at 0, decreases, or does not end at the number of entries.
    Pointers {
        /// Position of the first wrong pointer.
        position: usize,
    },
    /// Indices inside a compressed row or column are not strictly increasing (unsorted or duplicate).
    NotSorted {
        /// The row (CSR) or column (CSC).
        line: usize,
        /// Position in the index array of the offending index.
        position: usize,
    },
    /// A symmetric problem was posed for a matrix that is not square.
    NotSquare {
        /// Rows of the matrix.
        nrows: usize,
        /// Columns of the matrix.
        ncols: usize,
    },
    /// A symmetric problem was posed for a pattern with an entry whose mirror image is missing.
    NotSymmetric {
        /// Row of the entry that is present.
        row: usize,
        /// Column of the entry that is present.
        column: usize,
    },
    /// A slice has the wrong length.
    Length {
        /// Which slice.
        what: &'static str,
        /// The length required.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// A given order is not a permutation of the vertices.
    NotAPermutation {
        /// First position whose vertex is out of range or repeated.
        position: usize,
    },
    /// An order is not the dynamic-degree order it is checked to be.
    NotExtremal {
        /// First position whose vertex does not have extremal degree.
        position: usize,
    },
    /// A colouring does not allow an entry to be recovered; this is the first such entry in row-major order.
    InvalidColoring {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// Why it cannot be recovered.
        conflict: Conflict,
    },
    /// A colour range contains colours that do not exist, or ends before it starts.
    ColorRange {
        /// End of the range.
        end: usize,
        /// Number of colours.
        ncolors: usize,
    },
    /// An algorithm cannot solve this problem.
    Unsupported {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Name of the problem.
        problem: &'static str,
    },
    /// Reading, writing or drawing failed outside this crate.
    External {
        /// What was attempted.
        what: &'static str,
        /// The message of the other crate.
        message: String,
    },
}

/// What [`ErrorKind::TooLarge`] counts where colours have gaps.
pub(crate) const LARGEST_COLOR: &str = "largest colour";

/// Why an entry cannot be recovered from the compressed matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Conflict {
    /// Two columns with an entry in this row share a colour; the field holds the other column.
    SharedInRow(usize),
    /// Two rows with an entry in this column share a colour; the field holds the other row.
    SharedInColumn(usize),
    /// Two adjacent vertices share a colour.
    Adjacent,
    /// Neither the row nor the column of this entry (nor those of its mirror image) contain the entry's colour only once.
    NotReadable,
    /// Both the row and the column of this entry are neutral.
    Neutral,
    /// The entry lies on a two-coloured cycle, so substitution cannot reach it.
    Cycle,
}

/// The error of this crate: a [`kind`](Error::kind) with structured data and a readable message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: Box<ErrorKind>,
}

impl Error {
    /// Returns what went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    pub(crate) fn length(what: &'static str, expected: usize, found: usize) -> Error {
        ErrorKind::Length { what, expected, found }.into()
    }

    pub(crate) fn invalid(row: usize, column: usize, conflict: Conflict) -> Error {
        ErrorKind::InvalidColoring { row, column, conflict }.into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error { kind: Box::new(kind) }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ErrorKind::TooLarge { what, size, limit } if *what == LARGEST_COLOR => {
                write!(f, "{what}: {size} exceeds the limit of {limit}; number the colours 0, 1, … without gaps")
            }
            ErrorKind::TooLarge { what, size, limit } => {
                write!(f, "{what}: {size} exceeds the limit of {limit}; use a smaller matrix")
            }
            ErrorKind::Memory { bytes } => {
                write!(
                    f,
                    "the pattern needs an array of {bytes} bytes, which does not fit in memory; use a smaller matrix"
                )
            }
            ErrorKind::OutOfBounds { row, column, nrows, ncols } => {
                write!(f, "entry ({row}, {column}) lies outside a {nrows} x {ncols} matrix; indices start at 0")
            }
            ErrorKind::Pointers { position } => write!(
                f,
                "pointer {position} is wrong; pointers must start at 0, never decrease and end at the number of entries"
            ),
            ErrorKind::NotSorted { line, position } => write!(
                f,
                "index {position} in compressed line {line} is not greater than the one before; sort the indices and remove duplicates"
            ),
            ErrorKind::NotSquare { nrows, ncols } => {
                write!(
                    f,
                    "symmetric colouring of a {nrows} x {ncols} matrix; use a square matrix, or a column or row problem"
                )
            }
            ErrorKind::NotSymmetric { row, column } => write!(
                f,
                "symmetric colouring: entry ({row}, {column}) is present but ({column}, {row}) is not; symmetrise the pattern"
            ),
            ErrorKind::Length { what, expected, found } => {
                write!(f, "{what}: expected length {expected}, found {found}; pass a slice of length {expected}")
            }
            ErrorKind::NotAPermutation { position } => write!(
                f,
                "the order is not a permutation: position {position} is out of range, repeated or missing; list every vertex once"
            ),
            ErrorKind::NotExtremal { position } => {
                write!(
                    f,
                    "the vertex at position {position} of the order does not have extremal degree; recompute the order"
                )
            }
            ErrorKind::InvalidColoring { row, column, conflict } => {
                write!(f, "entry ({row}, {column}) cannot be recovered: {conflict}; use another colouring")
            }
            ErrorKind::ColorRange { end, ncolors } if end <= ncolors => {
                write!(
                    f,
                    "the range of colours ends at {end}, before its start; pass a range within 0..{ncolors} that does not descend"
                )
            }
            ErrorKind::ColorRange { end, ncolors } => {
                write!(f, "colours up to {end} were requested, there are {ncolors}; shorten the range")
            }
            ErrorKind::Unsupported { algorithm, problem } => {
                write!(f, "{algorithm} cannot solve the problem {problem}; use GreedyColoring")
            }
            ErrorKind::External { what, message } => write!(f, "{what} failed: {message}; check the path and the file"),
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conflict::SharedInRow(other) => write!(f, "column {other} has the same colour and an entry in this row"),
            Conflict::SharedInColumn(other) => write!(f, "row {other} has the same colour and an entry in this column"),
            Conflict::Adjacent => write!(f, "its row and column index have the same colour"),
            Conflict::NotReadable => write!(f, "it shares its colour both in its row and in its column"),
            Conflict::Neutral => write!(f, "its row and its column are both neutral"),
            Conflict::Cycle => write!(f, "it lies on a two-coloured cycle"),
        }
    }
}
