//! Adds a product of two matrices to a third, in blocks of registers.
//!
//! Called by [`Product::run`](super::recognise::Product::run). Parts of both factors are copied first, so that the innermost loop reads consecutive
//! numbers: [`ROWS`] rows of the left factor side by side, and as many columns of the right one as fill two vectors. The loops
//! around it and the copies are those of K. Goto and R. van de Geijn, Anatomy of high-performance matrix multiplication (2008). `pulp`
//! chooses the vectors of the machine.
//!
//! A multiplication and an addition are not contracted, so that every machine has the same bits. Processors that multiply and add in
//! different units, as those of AMD do since Zen, lose nothing by it.

use super::view::{Sizes, Slices, View};
use pulp::{Arch, Simd, WithSimd};

/// Terms that are added to each other before they are added to the cell.
pub(super) const TERMS: usize = 256;
/// Columns of the right factor that are copied at once.
const COLUMNS: usize = 256;
/// Rows of the left factor that are copied at once.
const BLOCK_ROWS: usize = 64;
/// Rows of a block of registers.
const ROWS: usize = 4;
/// Vectors in a row of a block of registers.
const VECTORS: usize = 2;
/// Columns of a block of registers, with the widest vectors of any machine.
const WIDEST: usize = 16;
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
    Arch::new().dispatch(Multiplication { sizes, is_negated, views, slices, memory: &mut memory[start..] });
}

struct Multiplication<'a, M> {
    sizes: Sizes,
    is_negated: bool,
    views: [View; 3],
    slices: &'a mut M,
    memory: &'a mut [f64],
}

impl<M: Slices> WithSimd for Multiplication<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Multiplication { sizes, is_negated, views: [sum, left, right], slices, memory } = self;
        let width = VECTORS * S::F64_LANES;
        for first_column in (0..sizes.columns).step_by(COLUMNS) {
            let columns = (sizes.columns - first_column).min(COLUMNS);
            for first_term in (0..sizes.terms).step_by(TERMS) {
                let terms = (sizes.terms - first_term).min(TERMS);
                let (copied_right, rest) = memory.split_at_mut(terms * columns.next_multiple_of(width));
                let panels = copied_right.chunks_exact_mut(terms * width);
                for (panel, column) in panels.zip((first_column..).step_by(width)) {
                    let count = (first_column + columns - column).min(width);
                    copy_columns(slices.cells(right.space), &right, first_term, column, count, panel, width);
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
                    let right_panels = copied_right.chunks_exact(terms * width);
                    for (right_panel, column) in right_panels.zip((first_column..).step_by(width)) {
                        let column_count = (first_column + columns - column).min(width);
                        let left_panels = copied_left.chunks_exact(terms * ROWS);
                        for (left_panel, row) in left_panels.zip((first_row..).step_by(ROWS)) {
                            let row_count = (first_row + rows - row).min(ROWS);
                            let block = multiply(simd, left_panel, right_panel);
                            add(simd, cells, &sum, [row, column], [row_count, column_count], block);
                        }
                    }
                }
            }
        }
    }
}

/// Copies `count` columns of the right factor side by side, with zeros up to the width of the panel.
#[inline(always)]
fn copy_columns(
    cells: &[f64],
    view: &View,
    first_term: usize,
    column: usize,
    count: usize,
    panel: &mut [f64],
    width: usize,
) {
    let is_partial = count < width;
    if view.column == 1 {
        for (t, line) in panel.chunks_exact_mut(width).enumerate() {
            line[..count].copy_from_slice(&cells[view.cell(first_term + t, column)..][..count]);
            if is_partial {
                line[count..].fill(0.0);
            }
        }
        return;
    }
    for c in 0..width {
        let numbers = panel.iter_mut().skip(c).step_by(width);
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
fn multiply<S: Simd>(simd: S, left: &[f64], right: &[f64]) -> [[S::f64s; VECTORS]; ROWS] {
    let mut sums = [[simd.splat_f64s(0.0); VECTORS]; ROWS];
    let right = S::as_simd_f64s(right).0;
    for (left, right) in left.chunks_exact(ROWS).zip(right.chunks_exact(VECTORS)) {
        for r in 0..ROWS {
            let factor = simd.splat_f64s(left[r]);
            for v in 0..VECTORS {
                sums[r][v] = simd.add_f64s(sums[r][v], simd.mul_f64s(factor, right[v]));
            }
        }
    }
    sums
}

/// Adds a block to its cells.
#[inline(always)]
fn add<S: Simd>(
    simd: S,
    cells: &mut [f64],
    view: &View,
    [row, column]: [usize; 2],
    [rows, columns]: [usize; 2],
    block: [[S::f64s; VECTORS]; ROWS],
) {
    for (r, vectors) in block.iter().enumerate().take(rows) {
        let first = view.cell(row + r, column);
        if view.column == 1 && columns == VECTORS * S::F64_LANES {
            let cells = S::as_mut_simd_f64s(&mut cells[first..first + columns]).0;
            for (cell, vector) in cells.iter_mut().zip(vectors) {
                *cell = simd.add_f64s(*cell, *vector);
            }
            continue;
        }
        let mut numbers = [0.0; WIDEST];
        for (place, vector) in S::as_mut_simd_f64s(&mut numbers).0.iter_mut().zip(vectors) {
            *place = *vector;
        }
        let mut cell = first as i64;
        for number in &numbers[..columns] {
            cells[cell as usize] += number;
            cell += view.column;
        }
    }
}
