//! Adds a product of two matrices to a third, in blocks of registers.
//!
//! Called by [`Product::run`](super::recognise::Product::run). Parts of both factors are copied first, so that the innermost loop reads consecutive
//! numbers: [`ROWS`] rows of the left factor side by side, and as many columns of the right one as fill two vectors. The loops
//! around it and the copies are those of K. Goto and R. van de Geijn, Anatomy of high-performance matrix multiplication (2008).
//! `wide` chooses the vectors of the machine.
//!
//! A multiplication and an addition are not contracted, so that every machine has the same bits. Processors that multiply and add in
//! different units, as those of AMD do since Zen, lose nothing by it.

use super::view::{Sizes, Slices, View};
use crate::wide::{Kernel, Wide};

/// Terms that are added to each other before they are added to the cell.
pub(super) const TERMS: usize = 256;
/// Columns of the right factor that are copied at once.
const COLUMNS: usize = 256;
/// Rows of the left factor that are copied at once.
const BLOCK_ROWS: usize = 64;
/// Rows of a block of registers.
const ROWS: usize = 4;
/// Columns of a block of registers, with the widest vectors of any machine.
const WIDEST: usize = 8;
/// Copies begin at multiples of this many bytes, so that no vector lies in two cache lines.
const ALIGNMENT: usize = 64;

/// The length of the memory for copies of factors of this size.
pub(super) fn memory(Sizes { rows, columns, terms }: Sizes) -> usize {
    let rows = rows.min(BLOCK_ROWS).next_multiple_of(ROWS);
    let columns = columns.min(COLUMNS).next_multiple_of(WIDEST);
    terms.min(TERMS) * (rows + columns) + ALIGNMENT / size_of::<f64>()
}

/// Adds the product of the second and third view, or its negative, to the first one. The memory is as long as [`memory`] says.
pub(super) fn add_product(
    sizes: Sizes,
    is_negated: bool,
    views: [View; 3],
    slices: &mut impl Slices,
    memory: &mut [f64],
) {
    let start = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT / size_of::<f64>());
    Wide::detect().run(Multiplication { sizes, is_negated, views, slices, memory: &mut memory[start..] });
}

struct Multiplication<'a, M> {
    sizes: Sizes,
    is_negated: bool,
    views: [View; 3],
    slices: &'a mut M,
    memory: &'a mut [f64],
}

impl<M: Slices> Kernel for Multiplication<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run<const LANES: usize>(self) {
        // Two vectors.
        match LANES {
            4 => self.with_width::<8>(),
            _ => self.with_width::<4>(),
        }
    }
}

impl<M: Slices> Multiplication<'_, M> {
    #[inline(always)]
    fn with_width<const WIDTH: usize>(self) {
        let Multiplication { sizes, is_negated, views: [sum, left, right], slices, memory } = self;
        for first_column in (0..sizes.columns).step_by(COLUMNS) {
            let columns = (sizes.columns - first_column).min(COLUMNS);
            for first_term in (0..sizes.terms).step_by(TERMS) {
                let terms = (sizes.terms - first_term).min(TERMS);
                let (copied_right, rest) = memory.split_at_mut(terms * columns.next_multiple_of(WIDTH));
                let panels = copied_right.chunks_exact_mut(terms * WIDTH);
                for (panel, column) in panels.zip((first_column..).step_by(WIDTH)) {
                    let count = (first_column + columns - column).min(WIDTH);
                    copy_columns::<WIDTH>(slices.cells(right.space), &right, first_term, column, count, panel);
                }
                for first_row in (0..sizes.rows).step_by(BLOCK_ROWS) {
                    let rows = (sizes.rows - first_row).min(BLOCK_ROWS);
                    let copied_left = &mut rest[..terms * rows.next_multiple_of(ROWS)];
                    let panels = copied_left.chunks_exact_mut(terms * ROWS);
                    for (panel, row) in panels.zip((first_row..).step_by(ROWS)) {
                        let count = (first_row + rows - row).min(ROWS);
                        copy_rows(slices.cells(left.space), &left, row, first_term, count, panel, is_negated);
                    }
                    let cells = slices.cells_mut(sum.space);
                    let right_panels = copied_right.chunks_exact(terms * WIDTH);
                    for (right_panel, column) in right_panels.zip((first_column..).step_by(WIDTH)) {
                        let column_count = (first_column + columns - column).min(WIDTH);
                        let left_panels = copied_left.chunks_exact(terms * ROWS);
                        for (left_panel, row) in left_panels.zip((first_row..).step_by(ROWS)) {
                            let row_count = (first_row + rows - row).min(ROWS);
                            let block: [[f64; WIDTH]; ROWS] = multiply(left_panel, right_panel);
                            add(cells, &sum, [row, column], [row_count, column_count], block);
                        }
                    }
                }
            }
        }
    }
}

/// Copies `count` columns of the right factor side by side, with zeros up to the width of the panel.
#[inline(always)]
fn copy_columns<const WIDTH: usize>(
    cells: &[f64],
    view: &View,
    first_term: usize,
    column: usize,
    count: usize,
    panel: &mut [f64],
) {
    let is_partial = count < WIDTH;
    if view.column == 1 {
        for (t, line) in panel.chunks_exact_mut(WIDTH).enumerate() {
            line[..count].copy_from_slice(&cells[view.cell(first_term + t, column)..][..count]);
            if is_partial {
                line[count..].fill(0.0);
            }
        }
        return;
    }
    for c in 0..WIDTH {
        let numbers = panel.iter_mut().skip(c).step_by(WIDTH);
        if c >= count {
            numbers.for_each(|number| *number = 0.0);
            continue;
        }
        let mut cell = view.cell(first_term, column + c) as i64;
        for number in numbers {
            *number = cells[cell as usize];
            cell += view.row;
        }
    }
}

/// Copies `count` rows of the left factor side by side, with zeros up to [`ROWS`], with the sign changed if wanted.
#[inline(always)]
fn copy_rows(
    cells: &[f64],
    view: &View,
    row: usize,
    first_term: usize,
    count: usize,
    panel: &mut [f64],
    is_negated: bool,
) {
    let first: [i64; ROWS] = std::array::from_fn(|r| view.cell(row + r.min(count - 1), first_term) as i64);
    for (t, line) in panel.chunks_exact_mut(ROWS).enumerate() {
        let shift = t as i64 * view.column;
        for (r, number) in line.iter_mut().enumerate() {
            let entry = cells[(first[r] + shift) as usize];
            // Rows beyond the last are computed and not stored.
            *number = if is_negated { -entry } else { entry };
        }
    }
}

/// The product of a panel of each factor: of every entry the sum of all terms in order, from 0.
#[inline(always)]
fn multiply<const WIDTH: usize>(left: &[f64], right: &[f64]) -> [[f64; WIDTH]; ROWS] {
    let mut sums = [[0.0; WIDTH]; ROWS];
    for (left, right) in left.as_chunks::<ROWS>().0.iter().zip(right.as_chunks::<WIDTH>().0) {
        for (sums, factor) in sums.iter_mut().zip(left) {
            for (sum, number) in sums.iter_mut().zip(right) {
                *sum += factor * number;
            }
        }
    }
    sums
}

/// Adds a block to its cells.
#[inline(always)]
fn add<const WIDTH: usize>(
    cells: &mut [f64],
    view: &View,
    [row, column]: [usize; 2],
    [rows, columns]: [usize; 2],
    block: [[f64; WIDTH]; ROWS],
) {
    for (r, sums) in block.iter().enumerate().take(rows) {
        let first = view.cell(row + r, column);
        if view.column == 1 && columns == WIDTH {
            for (cell, sum) in cells[first..][..WIDTH].iter_mut().zip(sums) {
                *cell += sum;
            }
            continue;
        }
        let mut cell = first as i64;
        for sum in &sums[..columns] {
            cells[cell as usize] += sum;
            cell += view.column;
        }
    }
}
