//! Where a primitive writes its results: a row-major matrix of known width.

use super::ConstantEntries;
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
    /// What the memory contains, until the engine asks.
    known: ConstantEntries,
    /// Where the engine writes down what it contains.
    constants: Option<&'a mut ConstantEntries>,
}

#[derive(Debug)]
enum Data<'a, S> {
    /// Memory of the caller, whose length must fit.
    Fixed(&'a mut [S]),
    /// A vector that is resized as needed.
    Growing(&'a mut Vec<S>),
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
    /// the matrix contains when it has filled it.
    #[inline]
    pub fn data_and_constants(&mut self) -> (&mut [S], &mut ConstantEntries) {
        let known = self.known.take();
        let constants = match &mut self.constants {
            Some(constants) => {
                **constants = known;
                constants
            }
            None => &mut self.known,
        };
        let data = match &mut self.data {
            Data::Fixed(data) => &mut data[..],
            Data::Growing(data) => data,
        };
        (data, constants)
    }

    /// Sets the number of rows. A primitive calls this once it knows the number and before it writes.
    ///
    /// Builds with debug assertions fill a matrix of which nothing is known with NaN, so that tests detect a backend that adds to the previous content or does
    /// not write an entry.
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
        }
        if cfg!(debug_assertions) && !self.known.are_known() {
            self.data().fill(S::constant(num_traits::Float::nan()));
        }
        Ok(())
    }

    /// The whole matrix.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn data(&mut self) -> &mut [S] {
        match &mut self.data {
            Data::Fixed(data) => data,
            Data::Growing(data) => data,
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
        let start = row * self.columns + first;
        &mut self.data()[start..start + count]
    }
}
