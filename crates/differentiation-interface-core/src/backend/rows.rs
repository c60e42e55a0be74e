//! Where a primitive writes its results: a row-major matrix of known width.

use crate::error::ErrorKind;

/// A row-major matrix that a primitive fills: one row per output and one column per tangent for a pushforward, one row per
/// cotangent and one column per input for a pullback.
#[derive(Debug)]
pub struct Rows<'a, S> {
    data: Data<'a, S>,
    columns: usize,
}

#[derive(Debug)]
enum Data<'a, S> {
    /// Memory of the caller, whose length must fit.
    Fixed(&'a mut [S]),
    /// Memory of ours, which grows to what is needed.
    Growing(&'a mut Vec<S>),
}

impl<'a, S: Copy + Default> Rows<'a, S> {
    /// Writes into a slice of exactly rows × columns numbers.
    pub fn fixed(data: &'a mut [S], columns: usize) -> Self {
        Rows { data: Data::Fixed(data), columns }
    }

    /// Writes into a vector that is resized to rows × columns numbers.
    pub fn growing(data: &'a mut Vec<S>, columns: usize) -> Self {
        Rows { data: Data::Growing(data), columns }
    }

    /// States the number of rows, which a primitive does once it knows it and before it writes.
    #[inline]
    pub fn set_rows(&mut self, rows: usize) -> Result<(), ErrorKind> {
        let expected = rows * self.columns;
        match &mut self.data {
            Data::Fixed(data) if data.len() == expected => Ok(()),
            Data::Fixed(data) => Err(ErrorKind::BufferLength { expected, found: data.len() }),
            Data::Growing(data) => {
                data.resize(expected, S::default());
                Ok(())
            }
        }
    }

    /// The whole matrix.
    #[inline(always)]
    pub fn data(&mut self) -> &mut [S] {
        match &mut self.data {
            Data::Fixed(data) => data,
            Data::Growing(data) => data,
        }
    }

    /// Entries `first..first + count` of each row, one row after the other. None where there are no columns.
    #[inline(always)]
    pub fn parts(&mut self, first: usize, count: usize) -> impl Iterator<Item = &mut [S]> {
        let columns = self.columns.max(1);
        self.data().chunks_exact_mut(columns).map(move |row| &mut row[first..first + count])
    }

    /// Entries `first..first + count` of a row.
    #[inline(always)]
    pub fn part(&mut self, row: usize, first: usize, count: usize) -> &mut [S] {
        let start = row * self.columns + first;
        &mut self.data()[start..start + count]
    }
}
