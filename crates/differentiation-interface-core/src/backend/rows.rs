//! Where a primitive writes its results: a row-major matrix of known width.

use super::{ConstantEntries, MatrixColumns};
use crate::error::ErrorKind;
use crate::scalar::Scalar;

/// A row-major matrix that a primitive fills: one row per output and one column per tangent for a pushforward, one row per
/// cotangent and one column per input for a pullback.
#[derive(Debug)]
pub struct Rows<'a, S> {
    data: Data<'a, S>,
    columns: usize,
    /// The number of rows, if it is known in advance.
    expected: Option<usize>,
    /// What the memory contains, until an engine asks.
    known: ConstantEntries,
    /// Where the engine writes down what it contains, and finds what is known when it asks.
    constants: Option<&'a mut ConstantEntries>,
}

#[derive(Debug)]
enum Data<'a, S> {
    /// Memory of the caller, whose length must fit.
    Fixed(&'a mut [S]),
    /// A vector that is resized as needed.
    Growing(&'a mut Vec<S>),
    /// Columns of a wider matrix, with memory for an engine that needs one slice.
    Columns(MatrixColumns<'a, S>, &'a mut ColumnMemory<S>),
}

impl<'a, S: Scalar> Rows<'a, S> {
    fn of(data: Data<'a, S>, columns: usize) -> Self {
        Rows { data, columns, expected: None, known: ConstantEntries::default(), constants: None }
    }

    /// Writes into a slice of exactly rows × columns numbers.
    pub fn fixed(data: &'a mut [S], columns: usize) -> Self {
        Rows::of(Data::Fixed(data), columns)
    }

    /// Writes into a vector that is resized to rows × columns numbers.
    pub fn growing(data: &'a mut Vec<S>, columns: usize) -> Self {
        Rows::of(Data::Growing(data), columns)
    }

    /// The same with the number of outputs of a preparation, if there is one. Another number of rows is then an error.
    pub fn expecting(self, rows: Option<usize>) -> Self {
        Rows { expected: rows, ..self }
    }

    /// The same with what the memory contains. Unless the engine [asks](Self::data_and_constants), nothing is known of it
    /// from here on.
    pub fn with_constants(self, constants: &'a mut ConstantEntries) -> Self {
        Rows { known: constants.take(), constants: Some(constants), ..self }
    }

    /// The whole matrix with what it contains, for an engine that [takes](ConstantEntries::take) this before it writes, and writes down what
    /// the matrix contains when it has filled it. An engine that does not write leaves it to the next one, which [sets the rows](Self::set_rows).
    #[inline]
    pub fn data_and_constants(&mut self) -> (&mut [S], &mut ConstantEntries) {
        let constants = match &mut self.constants {
            Some(constants) => {
                if self.known.are_known() {
                    **constants = self.known.take();
                }
                constants
            }
            None => &mut self.known,
        };
        let data = match &mut self.data {
            Data::Fixed(data) => &mut data[..],
            Data::Growing(data) => data,
            Data::Columns(columns, memory) => memory.entries(columns),
        };
        (data, constants)
    }

    /// Sets the number of rows. A primitive calls this once it knows the number and before it writes.
    ///
    /// Builds with debug assertions fill a matrix of which nothing is known with NaN, so that tests detect a backend that adds to the previous content or does
    /// not write an entry.
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if a preparation [found](Self::expecting) another number, or if the rows are those of columns of a matrix with another number;
    /// [`ErrorKind::BufferLength`] if they do not fill [memory of the caller](Self::fixed).
    #[inline]
    pub fn set_rows(&mut self, rows: usize) -> Result<(), ErrorKind> {
        let length = rows * self.columns;
        if let Some(expected) = self.expected
            && expected != rows
        {
            return Err(ErrorKind::OutputLength { expected, found: rows });
        }
        match &mut self.data {
            Data::Fixed(data) if data.len() == length => {}
            Data::Fixed(data) => return Err(ErrorKind::BufferLength { expected: length, found: data.len() }),
            Data::Growing(data) => data.resize(length, S::default()),
            Data::Columns(columns, _) if columns.nrows() == rows => {}
            Data::Columns(columns, _) => {
                return Err(ErrorKind::OutputLength { expected: columns.nrows(), found: rows });
            }
        }
        // What an engine asked for and did not take is known still, for the next that asks.
        if let Some(constants) = &mut self.constants
            && constants.are_known()
        {
            self.known = constants.take();
        }
        if cfg!(debug_assertions) && !self.known.are_known() {
            self.fill(S::constant(num_traits::Float::nan()));
        }
        Ok(())
    }

    /// The whole matrix. If the rows are those of some columns of a wider matrix, this is memory of its own, whose contents are copied into these columns when
    /// the primitive is done.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn data(&mut self) -> &mut [S] {
        match &mut self.data {
            Data::Fixed(data) => data,
            Data::Growing(data) => data,
            Data::Columns(columns, memory) => memory.entries(columns),
        }
    }

    /// The columns of a wider matrix, if the rows are theirs and [`data`](Self::data) has not been called: an engine that writes
    /// them through this or through [`part`](Self::part) alone saves the copy.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn columns(&mut self) -> Option<&mut MatrixColumns<'a, S>> {
        match &mut self.data {
            Data::Columns(columns, memory) if !memory.is_in_use => Some(columns),
            _ => None,
        }
    }

    /// Sets all entries to a number.
    pub fn fill(&mut self, value: S) {
        match self.columns() {
            Some(columns) => (0..columns.nrows()).for_each(|row| columns.row(row).fill(value)),
            None => self.data().fill(value),
        }
    }

    /// Entries `first..first + count` of each row, one row after the other. Empty if there are no columns.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn parts(&mut self, first: usize, count: usize) -> impl Iterator<Item = &mut [S]> {
        let columns = self.columns.max(1);
        self.data().chunks_exact_mut(columns).map(move |row| &mut row[first..first + count])
    }

    /// Entries `first..first + count` of a row.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn part(&mut self, row: usize, first: usize, count: usize) -> &mut [S] {
        let data: &mut [S] = match &mut self.data {
            Data::Fixed(data) => data,
            Data::Growing(data) => data,
            Data::Columns(columns, memory) if memory.is_in_use => memory.entries(columns),
            Data::Columns(columns, _) => return &mut columns.row(row)[first..first + count],
        };
        let start = row * self.columns + first;
        &mut data[start..start + count]
    }
}

/// Memory for engines that fill one slice, where [`Rows`] are columns of a wider matrix.
#[derive(Clone, Debug)]
pub struct ColumnMemory<S> {
    entries: Vec<S>,
    /// Whether the engine of this call fills the memory.
    is_in_use: bool,
}

impl<S> Default for ColumnMemory<S> {
    fn default() -> Self {
        ColumnMemory { entries: Vec::new(), is_in_use: false }
    }
}

impl<S: Scalar> ColumnMemory<S> {
    /// Calls `fill` with these columns as [`Rows`].
    pub fn with_rows<R>(&mut self, columns: MatrixColumns<'_, S>, fill: impl FnOnce(Rows<'_, S>) -> R) -> R {
        let width = columns.ncols();
        let mut columns = match columns.into_slice() {
            Ok(entries) => return fill(Rows::fixed(entries, width)),
            Err(columns) => columns,
        };
        self.is_in_use = false;
        let result = fill(Rows::of(Data::Columns(columns.range(0..width), self), width));
        if self.is_in_use {
            for (row, entries) in self.entries.chunks_exact(width.max(1)).enumerate().take(columns.nrows()) {
                columns.row(row).copy_from_slice(entries);
            }
        }
        result
    }

    /// A matrix of `columns` columns in this memory, whose contents are of no interest: a call with it sizes the memory of a preparation.
    pub fn rows(&mut self, columns: usize) -> Rows<'_, S> {
        Rows::growing(&mut self.entries, columns)
    }

    /// All entries in one slice, with what has been written to the columns so far. From here on they are written here.
    #[cold]
    fn entries(&mut self, columns: &mut MatrixColumns<'_, S>) -> &mut [S] {
        if !std::mem::replace(&mut self.is_in_use, true) {
            let width = columns.ncols();
            self.entries.resize(columns.nrows() * width, S::default());
            for (row, entries) in self.entries.chunks_exact_mut(width.max(1)).enumerate() {
                entries.copy_from_slice(columns.row(row));
            }
        }
        &mut self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last two columns of a matrix of three columns, written by `write`.
    fn written(rows: usize, write: impl FnOnce(&mut Rows<'_, f64>)) -> Vec<f64> {
        let (mut memory, mut matrix) = (ColumnMemory::default(), vec![0.0; 3 * rows]);
        let (_, mut columns) = MatrixColumns::new(&mut matrix, 3).split_at(1);
        memory.with_rows(columns.range(0..2), |mut filled| {
            filled.set_rows(rows).unwrap();
            assert!(filled.set_rows(rows + 1).is_err());
            filled.fill(5.0);
        });
        memory.with_rows(columns, |mut rows| write(&mut rows));
        matrix
    }

    #[test]
    fn columns_are_written_in_place() {
        let matrix = written(2, |rows| {
            rows.part(1, 1, 1)[0] = 4.0;
            rows.columns().unwrap().row(0)[0] = 1.0;
        });
        assert_eq!(matrix, [0.0, 1.0, 5.0, 0.0, 5.0, 4.0]);
    }

    #[test]
    fn one_slice_is_copied_into_the_columns() {
        let matrix = written(2, |rows| {
            rows.part(0, 0, 1)[0] = 1.0;
            assert_eq!(rows.data(), [1.0, 5.0, 5.0, 5.0]);
            assert!(rows.columns().is_none());
            rows.data()[1] = 2.0;
            rows.part(1, 0, 1)[0] = 3.0;
            rows.data_and_constants().0[3] = 4.0;
        });
        assert_eq!(matrix, [0.0, 1.0, 2.0, 0.0, 3.0, 4.0]);
    }

    #[test]
    fn columns_of_one_row_or_none_are_one_slice() {
        assert_eq!(written(1, |rows| rows.data().copy_from_slice(&[1.0, 2.0])), [0.0, 1.0, 2.0]);
        assert!(written(0, |rows| assert!(rows.data().is_empty())).is_empty());
    }

    /// An engine that asks and gives up leaves what is known to the next one; one that writes without asking leaves nothing.
    #[test]
    fn what_is_known_is_left_to_the_next_engine() {
        let program = std::num::NonZeroU64::new(7);
        let (mut matrix, mut constants) = ([0.0; 2], ConstantEntries::of(program));
        let mut rows = Rows::fixed(&mut matrix, 2).with_constants(&mut constants);
        assert!(rows.data_and_constants().1.are_of(program));
        assert!(rows.data_and_constants().1.are_of(program));
        rows.set_rows(1).unwrap();
        assert!(rows.data_and_constants().1.take().are_of(program));
        assert!(!rows.data_and_constants().1.are_known());
        *rows.data_and_constants().1 = ConstantEntries::of(program);
        assert!(constants.are_of(program));

        let mut rows = Rows::fixed(&mut matrix, 2).with_constants(&mut constants);
        assert!(rows.data_and_constants().1.are_known());
        rows.set_rows(1).unwrap();
        rows.data()[0] = 1.0;
        assert!(!constants.are_known());
    }
}
