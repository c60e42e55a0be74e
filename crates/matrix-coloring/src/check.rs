//! Validity of colourings and orders, checked by definition.
//!
//! For users with colours of their own and for tests. Every function passes or returns
//! [`ErrorKind::InvalidColoring`] naming the first entry, in row-major order, that violates the definition.
//! Colours are 0, 1, … with [`NEUTRAL`] for none; colour vectors of the wrong length are refused as well.

use std::collections::HashMap;

use crate::NEUTRAL;
use crate::error::{Conflict, Error, ErrorKind};
use crate::greedy::Sets;
use crate::order::{Dynamic, Vertices, check_permutation, first_not_extremal};
use crate::pattern::{Lines, Pattern};
use crate::recovery::{
    Side, bidirectional_direct, bidirectional_substitution, count_colors, symmetric_direct, symmetric_substitution,
};

/// First pair of equal or neutral colours in a line: `(line, index, other index)`, the last `None` for neutral.
fn first_shared(lines: &Lines, colors: &[u32], ncolors: usize) -> Option<(usize, usize, Option<usize>)> {
    let mut last = vec![(u32::MAX, 0u32); ncolors];
    for i in 0..lines.len() {
        for &j in lines.line(i) {
            let c = colors[j as usize];
            if c == NEUTRAL {
                return Some((i, j as usize, None));
            }
            let (line, other) = std::mem::replace(&mut last[c as usize], (i as u32, j));
            if line == i as u32 {
                return Some((i, j as usize, Some(other as usize)));
            }
        }
    }
    None
}

/// Passes if the columns of every colour are structurally orthogonal: no row has two entries in columns of one colour,
/// and no column with entries is neutral.
///
/// # Errors
/// [`ErrorKind::InvalidColoring`], [`ErrorKind::Length`].
///
/// # Example
/// ```
/// use matrix_coloring::{Conflict, ErrorKind, Pattern, check};
///
/// let pattern = Pattern::from_triplets(3, 3, [(0, 0), (1, 1), (2, 1), (2, 2)])?;
/// assert!(check::structurally_orthogonal_columns(&pattern, &[0, 0, 1]).is_ok());
/// let error = check::structurally_orthogonal_columns(&pattern, &[0, 1, 1]).unwrap_err();
/// let conflict = Conflict::SharedInRow(1);
/// assert_eq!(error.kind(), &ErrorKind::InvalidColoring { row: 2, column: 2, conflict });
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
pub fn structurally_orthogonal_columns(pattern: &Pattern, colors: &[u32]) -> Result<(), Error> {
    let ncolors = count_colors("column colours", colors, pattern.ncols())?;
    match first_shared(pattern.rows(), colors, ncolors) {
        None => Ok(()),
        Some((i, j, other)) => Err(Error::invalid(i, j, other.map_or(Conflict::Neutral, Conflict::SharedInRow))),
    }
}

/// Passes if the rows of every colour are structurally orthogonal: no column has two entries in rows of one colour, and
/// no row with entries is neutral. The entry named is the first in column-major order.
///
/// # Errors
/// [`ErrorKind::InvalidColoring`], [`ErrorKind::Length`].
pub fn structurally_orthogonal_rows(pattern: &Pattern, colors: &[u32]) -> Result<(), Error> {
    let ncolors = count_colors("row colours", colors, pattern.nrows())?;
    match first_shared(pattern.columns(), colors, ncolors) {
        None => Ok(()),
        Some((j, i, other)) => Err(Error::invalid(i, j, other.map_or(Conflict::Neutral, Conflict::SharedInColumn))),
    }
}

/// Passes if a symmetric matrix can be recovered directly: for every entry `(i, j)`, column `j` is the only one of its
/// colour with an entry in row `i`, or column `i` the only one of its colour with an entry in row `j`.
///
/// # Errors
/// [`ErrorKind::InvalidColoring`], [`ErrorKind::Length`], [`ErrorKind::NotSymmetric`], [`ErrorKind::NotSquare`].
pub fn symmetrically_orthogonal(pattern: &Pattern, colors: &[u32]) -> Result<(), Error> {
    pattern.check_symmetric()?;
    let ncolors = count_colors("column colours", colors, pattern.ncols())?;
    symmetric_direct(pattern, colors, ncolors).map(|_| ())
}

/// Passes if a symmetric matrix can be recovered by substitution: solving one equation with one unknown after the other
/// reaches every entry.
///
/// # Errors
/// [`ErrorKind::InvalidColoring`], [`ErrorKind::Length`], [`ErrorKind::NotSymmetric`], [`ErrorKind::NotSquare`].
pub fn symmetrically_substitutable(pattern: &Pattern, colors: &[u32]) -> Result<(), Error> {
    pattern.check_symmetric()?;
    let ncolors = count_colors("column colours", colors, pattern.ncols())?;
    symmetric_substitution(pattern, colors, ncolors).map(|_| ())
}

/// Passes if a matrix can be recovered directly from row and column products: for every entry `(i, j)`, column `j` is the
/// only one of its colour with an entry in row `i`, or row `i` the only one of its colour with an entry in column `j`.
///
/// # Errors
/// [`ErrorKind::InvalidColoring`], [`ErrorKind::Length`].
pub fn structurally_biorthogonal(pattern: &Pattern, row_colors: &[u32], column_colors: &[u32]) -> Result<(), Error> {
    let (rows, columns) = sides(pattern, row_colors, column_colors)?;
    bidirectional_direct(pattern, rows, columns).map(|_| ())
}

/// Passes if a matrix can be recovered from row and column products by substitution.
///
/// # Errors
/// [`ErrorKind::InvalidColoring`], [`ErrorKind::Length`].
pub fn bidirectionally_substitutable(
    pattern: &Pattern,
    row_colors: &[u32],
    column_colors: &[u32],
) -> Result<(), Error> {
    let (rows, columns) = sides(pattern, row_colors, column_colors)?;
    bidirectional_substitution(pattern, rows, columns).map(|_| ())
}

fn sides<'a>(pattern: &Pattern, rows: &'a [u32], columns: &'a [u32]) -> Result<(Side<'a>, Side<'a>), Error> {
    let nrows = count_colors("row colours", rows, pattern.nrows())?;
    let ncolumns = count_colors("column colours", columns, pattern.ncols())?;
    Ok((Side { colors: rows, ncolors: nrows }, Side { colors: columns, ncolors: ncolumns }))
}

/// First entry whose two ends have equal or neutral colours.
fn distance_one(pattern: &Pattern, colors: &[u32]) -> Result<(), Error> {
    pattern.check_symmetric()?;
    count_colors("column colours", colors, pattern.ncols())?;
    for (i, j) in pattern.entries() {
        if colors[i] == NEUTRAL || colors[j] == NEUTRAL {
            return Err(Error::invalid(i, j, Conflict::Neutral));
        }
        if i != j && colors[i] == colors[j] {
            return Err(Error::invalid(i, j, Conflict::Adjacent));
        }
    }
    Ok(())
}

/// Passes if the colours are a star colouring: neighbours differ, and every path on four vertices has at least three
/// colours. No vertex with neighbours may be neutral; for colourings after postprocessing use
/// [`symmetrically_orthogonal`].
///
/// # Errors
/// [`ErrorKind::InvalidColoring`], [`ErrorKind::Length`], [`ErrorKind::NotSymmetric`], [`ErrorKind::NotSquare`].
pub fn star_coloring(pattern: &Pattern, colors: &[u32]) -> Result<(), Error> {
    distance_one(pattern, colors)?;
    // The middle edge (i, j) of a two-coloured path: i has another neighbour of the colour of j, and vice versa.
    let repeats = |i: usize, j: usize| {
        pattern.row(i).iter().any(|&k| k as usize != j && k as usize != i && colors[k as usize] == colors[j])
    };
    match pattern.entries().find(|&(i, j)| i != j && repeats(i, j) && repeats(j, i)) {
        None => Ok(()),
        Some((i, j)) => Err(Error::invalid(i, j, Conflict::NotReadable)),
    }
}

/// Passes if the colours are an acyclic colouring: neighbours differ, and every cycle has at least three colours. No
/// vertex with neighbours may be neutral; for colourings after postprocessing use [`symmetrically_substitutable`].
///
/// The entry named is the first, in row-major order of the upper triangle, that closes a two-coloured cycle with entries
/// before it.
///
/// # Errors
/// [`ErrorKind::InvalidColoring`], [`ErrorKind::Length`], [`ErrorKind::NotSymmetric`], [`ErrorKind::NotSquare`].
pub fn acyclic_coloring(pattern: &Pattern, colors: &[u32]) -> Result<(), Error> {
    distance_one(pattern, colors)?;
    // A vertex belongs to one subgraph per colour around it: number the pairs (vertex, other colour).
    let mut places: HashMap<(usize, u32), u32> = HashMap::new();
    let mut sets = Sets::new(2 * pattern.nnz());
    for (i, j) in pattern.entries().filter(|(i, j)| i < j) {
        let next = places.len() as u32;
        let a = *places.entry((i, colors[j])).or_insert(next);
        let next = places.len() as u32;
        let b = *places.entry((j, colors[i])).or_insert(next);
        if !sets.union(a, b) {
            return Err(Error::invalid(i, j, Conflict::Cycle));
        }
    }
    Ok(())
}

/// Passes if `order` is a dynamic-degree order, whatever its tie rule: every vertex has extremal degree when it is taken.
///
/// # Errors
/// [`ErrorKind::NotAPermutation`], [`ErrorKind::NotExtremal`] with the first wrong position in taking order, and
/// [`ErrorKind::NotSymmetric`] or [`ErrorKind::NotSquare`].
pub fn dynamic_order(pattern: &Pattern, vertices: Vertices, order: &[u32], rule: Dynamic) -> Result<(), Error> {
    vertices.with_conflicts(pattern, |conflicts| {
        check_permutation(order, conflicts.vertices())?;
        match first_not_extremal(conflicts, order, rule) {
            None => Ok(()),
            Some(position) => Err(ErrorKind::NotExtremal { position }.into()),
        }
    })
}
