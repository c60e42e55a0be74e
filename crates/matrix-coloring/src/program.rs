//! Decompression as a precomputed gather.
//!
//! Built once by the results (`coloring`), executed at every evaluation: entry `k` of the values is entry `index[k]` of the
//! compressed matrix; by substitution, a list of subtractions follows. Executing allocates nothing.

use std::ops::{Range, Sub};
use std::sync::OnceLock;

use crate::error::{Error, ErrorKind};
use crate::pattern::{Lines, Pattern};
use crate::recovery::{Read, Recovery, transposed_positions};

/// Storage order of the recovered values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Storage {
    /// Row by row, as in a compressed sparse row matrix.
    #[default]
    Csr,
    /// Column by column, as in a compressed sparse column matrix.
    Csc,
}

/// Which entries of a symmetric matrix are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Triangle {
    /// All entries.
    #[default]
    Full,
    /// Entries with row ≥ column.
    Lower,
    /// Entries with row ≤ column.
    Upper,
}

/// Storage order of the compressed matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Row by row: the entries of one row for all colours are adjacent (columns), or those of one colour (rows).
    #[default]
    RowMajor,
    /// Column by column.
    ColumnMajor,
}

/// The forms of output and compressed matrix that a decompression was prepared for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    pub(crate) storage: Storage,
    pub(crate) triangle: Triangle,
    pub(crate) layout: Layout,
}

/// Sizes of the matrix and of its compressed parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) nrows: usize,
    pub(crate) ncols: usize,
    pub(crate) column_colors: usize,
    pub(crate) row_colors: usize,
}

impl Shape {
    pub(crate) fn column_part(&self) -> usize {
        self.nrows.saturating_mul(self.column_colors)
    }

    pub(crate) fn row_part(&self) -> usize {
        self.row_colors.saturating_mul(self.ncols)
    }

    /// Position of entry `(i, c)` of the column part.
    #[inline]
    pub(crate) fn column_address(&self, layout: Layout, i: usize, c: usize) -> usize {
        match layout {
            Layout::RowMajor => i * self.column_colors + c,
            Layout::ColumnMajor => c * self.nrows + i,
        }
    }

    /// Position of entry `(c, j)` of the row part.
    #[inline]
    pub(crate) fn row_address(&self, layout: Layout, c: usize, j: usize) -> usize {
        match layout {
            Layout::RowMajor => c * self.ncols + j,
            Layout::ColumnMajor => j * self.row_colors + c,
        }
    }
}

/// Positions in the compressed matrix, column part first; `u32` when they fit.
#[derive(Clone, Debug)]
enum Index {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

/// The values read from one part by one colour after the other: `(position in the values, row or column)`.
#[derive(Clone, Debug)]
struct ByColor {
    pointers: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

/// `values[target] -= Σ values[subtracted]`, then copied to the mirror image.
#[derive(Clone, Debug, Default)]
struct Steps {
    targets: Vec<u32>,
    mirrors: Vec<u32>,
    pointers: Vec<u32>,
    subtracted: Vec<u32>,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) target: Target,
    shape: Shape,
    index: Index,
    steps: Steps,
    chunks: OnceLock<[ByColor; 2]>,
}

/// Position of every CSR entry in the values, [`NONE`] if it is not stored; and the number of values.
fn positions(pattern: &Pattern, target: Target) -> (Option<Vec<u32>>, usize) {
    if target.triangle == Triangle::Full {
        let across = match target.storage {
            Storage::Csr => None,
            Storage::Csc => Some(transposed_positions(pattern.rows(), &pattern.columns().pointers)),
        };
        return (across, pattern.nnz());
    }
    // The triangles belong to symmetric patterns: the CSC form of one is the CSR form of the other, transposed.
    let rows = pattern.rows();
    let lower = target.triangle == Triangle::Lower;
    let stored = |i: usize, j: usize| if lower { i >= j } else { i <= j };
    let keeps = |i: usize, j: usize| match target.storage {
        Storage::Csr => stored(i, j),
        Storage::Csc => stored(j, i), // line i is column i here
    };
    let mut next = 0;
    let mut along = vec![NONE; rows.indices.len()];
    for i in 0..rows.len() {
        for k in rows.range(i) {
            if keeps(i, rows.indices[k] as usize) {
                along[k] = next;
                next += 1;
            }
        }
    }
    if target.storage == Storage::Csc {
        let across = transposed_positions(rows, &rows.pointers);
        along = across.iter().map(|&t| along[t as usize]).collect();
    }
    (Some(along), next as usize)
}

/// Where the entries of a pattern are read.
pub(crate) enum Source<'a> {
    /// One column colouring: `(i, colors[j])`.
    Columns(&'a [u32]),
    /// One row colouring: `(colors[i], j)`.
    Rows(&'a [u32]),
    /// A symmetric colouring.
    Symmetric(&'a [u32], &'a Recovery),
    /// Row and column colours.
    Bidirectional(&'a [u32], &'a [u32], &'a Recovery),
}

impl Program {
    pub(crate) fn new(pattern: &Pattern, target: Target, shape: Shape, source: &Source<'_>) -> Program {
        let rows = pattern.rows();
        let (position, len) = positions(pattern, target);
        let layout = target.layout;
        let offset = shape.column_part();
        let address = |k: usize, i: usize, j: usize| match source {
            Source::Columns(colors) => shape.column_address(layout, i, colors[j] as usize),
            Source::Rows(colors) => offset + shape.row_address(layout, colors[i] as usize, j),
            Source::Symmetric(colors, recovery) => match recovery.reads[k] {
                Read::Column => shape.column_address(layout, i, colors[j] as usize),
                Read::Other => shape.column_address(layout, j, colors[i] as usize),
            },
            Source::Bidirectional(row_colors, column_colors, recovery) => match recovery.reads[k] {
                Read::Column => shape.column_address(layout, i, column_colors[j] as usize),
                Read::Other => offset + shape.row_address(layout, row_colors[i] as usize, j),
            },
        };
        let index = if offset.saturating_add(shape.row_part()) <= u32::MAX as usize {
            Index::Narrow(fill(rows, position.as_deref(), len, |k, i, j| address(k, i, j) as u32))
        } else {
            Index::Wide(fill(rows, position.as_deref(), len, |k, i, j| address(k, i, j) as u64))
        };
        let steps = match source {
            Source::Symmetric(_, recovery) | Source::Bidirectional(_, _, recovery) => {
                Steps::new(recovery, position.as_deref())
            }
            _ => Steps::default(),
        };
        Program { target, shape, index, steps, chunks: OnceLock::new() }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match &self.index {
            Index::Narrow(index) => index.len(),
            Index::Wide(index) => index.len(),
        }
    }

    /// Number of values that need a subtraction.
    pub(crate) fn substitutions(&self) -> usize {
        self.steps.targets.len()
    }

    fn check<T>(&self, values: &[T], columns: &[T], rows: &[T]) -> Result<(), Error> {
        let length = |what, expected, found| {
            if expected == found { Ok(()) } else { Err(Error::length(what, expected, found)) }
        };
        length("values", self.len(), values.len())?;
        length("compressed columns", self.shape.column_part(), columns.len())?;
        length("compressed rows", self.shape.row_part(), rows.len())
    }

    /// Copies every value from its position in the compressed matrix.
    pub(crate) fn gather<T: Copy>(&self, values: &mut [T], columns: &[T], rows: &[T]) -> Result<(), Error> {
        self.check(values, columns, rows)?;
        match &self.index {
            Index::Narrow(index) => gather(values, columns, rows, index, |k| k as usize),
            Index::Wide(index) => gather(values, columns, rows, index, |k| k as usize),
        }
        Ok(())
    }

    /// Copies the values, then subtracts those that were solved before.
    pub(crate) fn substitute<T>(&self, values: &mut [T], columns: &[T], rows: &[T]) -> Result<(), Error>
    where
        T: Copy + Sub<Output = T>,
    {
        self.gather(values, columns, rows)?;
        let steps = &self.steps;
        for (s, &target) in steps.targets.iter().enumerate() {
            let mut value = values[target as usize];
            for &k in &steps.subtracted[steps.pointers[s] as usize..steps.pointers[s + 1] as usize] {
                value = value - values[k as usize];
            }
            values[target as usize] = value;
            let mirror = steps.mirrors[s];
            if mirror != NONE {
                values[mirror as usize] = value;
            }
        }
        Ok(())
    }

    /// Copies the values read by a range of column colours (or row colours) from the products of these colours alone.
    pub(crate) fn scatter<T: Copy>(
        &self,
        by_rows: bool,
        colors: Range<usize>,
        chunk: &[T],
        values: &mut [T],
    ) -> Result<(), Error> {
        let shape = &self.shape;
        let (ncolors, lines) =
            if by_rows { (shape.row_colors, shape.ncols) } else { (shape.column_colors, shape.nrows) };
        if colors.end > ncolors || colors.start > colors.end {
            return Err(ErrorKind::ColorRange { end: colors.end, ncolors }.into());
        }
        let width = colors.len();
        if chunk.len() != width * lines {
            return Err(Error::length("compressed chunk", width * lines, chunk.len()));
        }
        if values.len() != self.len() {
            return Err(Error::length("values", self.len(), values.len()));
        }
        // The chunk holds line after line of `width` colours, or colour after colour of `lines` entries.
        let colors_adjacent = by_rows == (self.target.layout == Layout::ColumnMajor);
        let by_color = &self.chunks()[usize::from(by_rows)];
        for c in colors.clone() {
            let pairs = &by_color.pairs[by_color.pointers[c] as usize..by_color.pointers[c + 1] as usize];
            let c = c - colors.start;
            if colors_adjacent {
                for &(k, line) in pairs {
                    values[k as usize] = chunk[line as usize * width + c];
                }
            } else {
                let product = &chunk[c * lines..(c + 1) * lines];
                for &(k, line) in pairs {
                    values[k as usize] = product[line as usize];
                }
            }
        }
        Ok(())
    }

    /// Builds the lists that [`scatter`](Program::scatter) walks.
    pub(crate) fn prepare_chunks(&self) {
        self.chunks();
    }

    /// The lists that [`scatter`](Program::scatter) walks, built at the first use.
    fn chunks(&self) -> &[ByColor; 2] {
        self.chunks.get_or_init(|| {
            let (shape, layout) = (&self.shape, self.target.layout);
            let lists = |by_rows: bool| {
                let offset = shape.column_part();
                let (ncolors, lines) =
                    if by_rows { (shape.row_colors, shape.ncols) } else { (shape.column_colors, shape.nrows) };
                let colors_adjacent = by_rows == (layout == Layout::ColumnMajor);
                let locate = |address: usize| {
                    if (address >= offset) != by_rows {
                        return None;
                    }
                    let address = if by_rows { address - offset } else { address };
                    Some(if colors_adjacent {
                        (address % ncolors, address / ncolors)
                    } else {
                        (address / lines, address % lines)
                    })
                };
                match &self.index {
                    Index::Narrow(index) => ByColor::new(ncolors, index.iter().map(|&a| locate(a as usize))),
                    Index::Wide(index) => ByColor::new(ncolors, index.iter().map(|&a| locate(a as usize))),
                }
            };
            [lists(false), lists(true)]
        })
    }
}

impl ByColor {
    fn new(ncolors: usize, places: impl Iterator<Item = Option<(usize, usize)>> + Clone) -> ByColor {
        let mut pointers = vec![0u32; ncolors + 1];
        for (c, _) in places.clone().flatten() {
            pointers[c + 1] += 1;
        }
        for c in 0..ncolors {
            pointers[c + 1] += pointers[c];
        }
        let mut cursor = pointers[..ncolors].to_vec();
        let mut pairs = vec![(0, 0); pointers[ncolors] as usize];
        for (k, place) in places.enumerate() {
            if let Some((c, line)) = place {
                pairs[cursor[c] as usize] = (k as u32, line as u32);
                cursor[c] += 1;
            }
        }
        ByColor { pointers, pairs }
    }
}

impl Steps {
    fn new(recovery: &Recovery, position: Option<&[u32]>) -> Steps {
        let place = |k: u32| position.map_or(k, |position| position[k as usize]);
        let mirrored = |k: u32| match &recovery.mirror {
            Some(mirror) if mirror[k as usize] != k => place(mirror[k as usize]),
            _ => NONE,
        };
        let stored = |k: u32| if place(k) != NONE { place(k) } else { mirrored(k) };
        let targets: Vec<u32> = recovery.steps.iter().map(|&k| stored(k)).collect();
        let second = |(&k, &target): (&u32, &u32)| if mirrored(k) == target { NONE } else { mirrored(k) };
        let mirrors = recovery.steps.iter().zip(&targets).map(second).collect();
        let subtracted = recovery.subtracted.iter().map(|&k| stored(k)).collect();
        Steps { targets, mirrors, pointers: recovery.pointers.clone(), subtracted }
    }
}

fn fill<I: Copy + Default>(
    rows: &Lines,
    position: Option<&[u32]>,
    len: usize,
    address: impl Fn(usize, usize, usize) -> I,
) -> Vec<I> {
    match position {
        None => {
            let mut index = Vec::with_capacity(len);
            for i in 0..rows.len() {
                index.extend(rows.range(i).map(|k| address(k, i, rows.indices[k] as usize)));
            }
            index
        }
        Some(position) => {
            let mut index = vec![I::default(); len];
            for i in 0..rows.len() {
                for k in rows.range(i).filter(|&k| position[k] != NONE) {
                    index[position[k] as usize] = address(k, i, rows.indices[k] as usize);
                }
            }
            index
        }
    }
}

#[inline]
fn gather<T: Copy, I: Copy>(values: &mut [T], columns: &[T], rows: &[T], index: &[I], wide: impl Fn(I) -> usize) {
    if rows.is_empty() {
        values.iter_mut().zip(index).for_each(|(value, &k)| *value = columns[wide(k)]);
    } else if columns.is_empty() {
        values.iter_mut().zip(index).for_each(|(value, &k)| *value = rows[wide(k)]);
    } else {
        let from = |k: usize| if k < columns.len() { columns[k] } else { rows[k - columns.len()] };
        values.iter_mut().zip(index).for_each(|(value, &k)| *value = from(wide(k)));
    }
}
