//! Patterns of derivative matrices in compressed rows, and products with their entries.
//!
//! Made by `formulas` with the entries; used by `state` and by the detector.

use differentiation_interface_core::backend::{Rows, Seeds};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Scalar};

/// The places of entries: row `i` has the columns `columns[starts[i]..starts[i + 1]]`, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CompressedRows {
    pub(super) starts: Vec<u32>,
    pub(super) columns: Vec<u32>,
}

impl CompressedRows {
    /// Rows to which entries are added.
    pub(super) fn new() -> CompressedRows {
        CompressedRows { starts: vec![0], columns: Vec::new() }
    }
    /// Ends a row.
    pub(super) fn end_row(&mut self) {
        self.starts.push(self.columns.len() as u32);
    }
    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.starts.len() - 1
    }
    /// The place of a row among the entries.
    fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }
    /// The row and the column of each entry, with its place.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (0..self.rows()).flat_map(move |i| self.row(i).map(move |at| (i, self.columns[at] as usize, at)))
    }

    /// For the entries of another pattern, the places of these entries here; `u32::MAX` where there is none.
    pub(super) fn places_of(&self, starts: &[u32], columns: &[u32]) -> Vec<u32> {
        let mut places = Vec::with_capacity(columns.len());
        for (i, range) in starts.windows(2).enumerate() {
            let own = if i < self.rows() { self.row(i) } else { 0..0 };
            for column in &columns[range[0] as usize..range[1] as usize] {
                let found = self.columns[own.clone()].binary_search(column);
                places.push(found.map_or(u32::MAX, |at| (own.start + at) as u32));
            }
        }
        places
    }

    /// Fills the whole matrix.
    pub(super) fn scatter<S: Scalar>(&self, entries: &[S], rows: &mut Rows<'_, S>) -> Result<(), ErrorKind> {
        rows.set_rows(self.rows())?;
        rows.fill(S::default());
        for (i, j, at) in self.places() {
            rows.part(i, j, 1)[0] = entries[at];
        }
        Ok(())
    }

    /// J times each seed: a column of `rows` for each.
    pub(super) fn times<S: Scalar>(
        &self,
        entries: &[S],
        seeds: &Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), ErrorKind> {
        rows.set_rows(self.rows())?;
        for k in 0..seeds.count() {
            for i in 0..self.rows() {
                let range = self.row(i);
                let pairs = entries[range.clone()].iter().zip(&self.columns[range]);
                let terms = pairs.map(|(entry, column)| (*entry, seeds.entry(k, *column as usize)));
                rows.part(i, k, 1)[0] = dot(terms);
            }
        }
        Ok(())
    }

    /// Each seed times J: a row of `rows`, of `width` numbers, for each.
    pub(super) fn transposed_times<S: Scalar>(
        &self,
        entries: &[S],
        width: usize,
        seeds: &Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), ErrorKind> {
        rows.set_rows(seeds.count())?;
        for k in 0..seeds.count() {
            let row = rows.part(k, 0, width);
            row.fill(S::default());
            for i in 0..self.rows() {
                let seed = seeds.entry(k, i);
                if is_absent(seed) {
                    continue;
                }
                for at in self.row(i) {
                    let entry = &mut row[self.columns[at] as usize];
                    *entry += entries[at] * seed;
                }
            }
        }
        Ok(())
    }
}

/// A zero seed contributes nothing, whatever the derivative is.
fn is_absent<S: Scalar>(seed: S) -> bool {
    seed.is_constant() && seed.peek() == S::Base::ZERO
}

/// The sum of products with seeds.
fn dot<S: Scalar>(terms: impl Iterator<Item = (S, S)>) -> S {
    terms
        .filter(|(_, seed)| !is_absent(*seed))
        .fold(None, |sum, (entry, seed)| Some(sum.map_or(entry * seed, |sum: S| sum + entry * seed)))
        .unwrap_or_default()
}
