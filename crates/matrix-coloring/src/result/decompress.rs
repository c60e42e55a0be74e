//! The part that all results share: decompression by a program, compression, and checks of slices.

use crate::algorithm::NEUTRAL;
use crate::decompression::{Decompression, Direct, Substitution};
use crate::error::Error;
use crate::pattern::Pattern;
use crate::program::{Layout, Program, Shape, Storage, Target};
use std::ops::{Add, Sub};

/// The requirements on values of type `T` to be recovered: only a copy for [`Direct`], subtraction for
/// [`Substitution`].
#[diagnostic::on_unimplemented(
    message = "values of type `{T}` cannot be decompressed",
    note = "direct decompression needs `Copy`, substitution needs `Copy + Sub<Output = Self>`"
)]
pub trait Recovers<T>: Decompression {
    #[doc(hidden)]
    fn run(program: &Prepared, values: &mut [T], columns: &[T], rows: &[T]) -> Result<(), Error>;
}

/// An opaque prepared decompression.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Prepared(pub(crate) Program);

impl<T: Copy> Recovers<T> for Direct {
    fn run(program: &Prepared, values: &mut [T], columns: &[T], rows: &[T]) -> Result<(), Error> {
        program.0.gather(values, columns, rows)
    }
}

impl<T: Copy + Sub<Output = T>> Recovers<T> for Substitution {
    fn run(program: &Prepared, values: &mut [T], columns: &[T], rows: &[T]) -> Result<(), Error> {
        program.0.substitute(values, columns, rows)
    }
}

/// Adds every entry of a matrix, given in storage order, to the place `address(i, j)`.
fn accumulate<T: Copy + Add<Output = T>>(
    pattern: &Pattern,
    storage: Storage,
    values: &[T],
    into: &mut [T],
    address: impl Fn(usize, usize) -> Option<usize>,
) {
    let lines = if storage == Storage::Csr { pattern.rows() } else { pattern.columns() };
    for line in 0..lines.len() {
        for k in lines.range(line) {
            let other = lines.indices[k] as usize;
            let (i, j) = if storage == Storage::Csr { (line, other) } else { (other, line) };
            if let Some(a) = address(i, j) {
                into[a] = into[a] + values[k];
            }
        }
    }
}

/// Compresses the columns: `B[i, c] = Σ A[i, j]` over the columns `j` of colour `c`.
pub(super) fn compress_columns<T: Copy + Default + Add<Output = T>>(
    pattern: &Pattern,
    target: Target,
    shape: &Shape,
    colors: &[u32],
    values: &[T],
    into: &mut [T],
) -> Result<(), Error> {
    check("values", pattern.nnz(), values)?;
    check("compressed columns", shape.column_part(), into)?;
    into.fill(T::default());
    accumulate(pattern, target.storage, values, into, |i, j| {
        let c = colors[j];
        (c != NEUTRAL).then(|| shape.column_address(target.layout, i, c as usize))
    });
    Ok(())
}

/// Compresses the rows: `B[c, j] = Σ A[i, j]` over the rows `i` of colour `c`.
pub(super) fn compress_rows<T: Copy + Default + Add<Output = T>>(
    pattern: &Pattern,
    target: Target,
    shape: &Shape,
    colors: &[u32],
    values: &[T],
    into: &mut [T],
) -> Result<(), Error> {
    check("values", pattern.nnz(), values)?;
    check("compressed rows", shape.row_part(), into)?;
    into.fill(T::default());
    accumulate(pattern, target.storage, values, into, |i, j| {
        let c = colors[i];
        (c != NEUTRAL).then(|| shape.row_address(target.layout, c as usize, j))
    });
    Ok(())
}

pub(super) fn check<T>(what: &'static str, expected: usize, slice: &[T]) -> Result<(), Error> {
    if slice.len() == expected { Ok(()) } else { Err(Error::length(what, expected, slice.len())) }
}

pub(super) fn with_layout(target: Target, layout: Layout) -> Target {
    Target { layout, ..target }
}

pub(super) fn with_storage(target: Target, storage: Storage) -> Target {
    Target { storage, ..target }
}

/// The colour of a vertex as an option.
pub(super) fn color(colors: &[u32], v: usize) -> Option<usize> {
    colors.get(v).filter(|&&c| c != NEUTRAL).map(|&c| c as usize)
}
