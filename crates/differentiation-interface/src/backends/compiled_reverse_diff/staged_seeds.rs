//! Seeds as vectors, which programs read.
//!
//! Called by `buffers`. The seeds of a matrix are the same in every call, so that they are written once.

use super::recording::LANES;
use differentiation_interface_core::backend::Seeds;
use differentiation_interface_core::scalar::{Base, Scalar};

/// The seeds of the last call that were no vectors.
#[derive(Clone, Debug, Default)]
pub(super) struct StagedSeeds<S> {
    /// Up to [`LANES`] vectors, one after the other.
    vectors: Vec<S>,
    /// Which basis vectors or colours they are; `None` if they are neither.
    batch: Option<Batch>,
    /// The colours that the last ones were made of.
    colors: Vec<u32>,
}

/// `count` basis vectors or colours from `start` on, and vectors of zeros in the other lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Batch {
    is_basis: bool,
    start: usize,
    count: usize,
    lanes: usize,
    length: usize,
}

impl<S: Scalar> StagedSeeds<S> {
    /// The first seed alone.
    pub(super) fn first(&mut self, seeds: &Seeds<'_, S>, length: usize) -> &[S] {
        self.batch = None;
        self.vectors.clear();
        self.vectors.extend((0..length).map(|i| seeds.entry(0, i)));
        &self.vectors
    }

    /// The seeds from `first` on, one per lane; lanes without a seed are zero. Vectors are borrowed.
    pub(super) fn lanes<'a>(
        &'a mut self,
        seeds: &Seeds<'a, S>,
        first: usize,
        lanes: usize,
        length: usize,
    ) -> [&'a [S]; LANES] {
        let count = lanes.min(seeds.count() - first);
        let batch = |is_basis, start| Batch { is_basis, start: start + first, count, lanes, length };
        let borrowed: &[&[S]] = match *seeds {
            Seeds::Vectors(vectors) => {
                self.clear((lanes - count) * length);
                &vectors[first..first + count]
            }
            Seeds::Basis { first: start, .. } => {
                self.write_basis(batch(true, start));
                &[]
            }
            Seeds::Colors { colors, first: start, .. } => {
                self.write_colors(batch(false, start), colors);
                &[]
            }
        };
        let mut staged: [&[S]; LANES] = [&[]; LANES];
        for (k, seed) in staged.iter_mut().enumerate().take(lanes) {
            *seed = match borrowed.get(k) {
                Some(vector) => vector,
                None => &self.vectors[(k - borrowed.len()) * length..][..length],
            };
        }
        staged
    }

    /// Zeros in place of the vectors.
    fn clear(&mut self, length: usize) {
        self.batch = None;
        self.vectors.clear();
        self.vectors.resize(length, S::default());
    }

    fn write_basis(&mut self, batch: Batch) {
        if self.batch == Some(batch) {
            return;
        }
        self.clear(batch.lanes * batch.length);
        for k in 0..batch.count {
            self.vectors[k * batch.length + batch.start + k] = S::constant(S::Base::ONE);
        }
        self.batch = Some(batch);
    }

    fn write_colors(&mut self, batch: Batch, colors: &[u32]) {
        if self.batch == Some(batch) && self.colors == colors {
            return;
        }
        self.clear(batch.lanes * batch.length);
        for (i, color) in colors.iter().enumerate() {
            let k = (*color as usize).wrapping_sub(batch.start);
            if k < batch.count {
                self.vectors[k * batch.length + i] = S::constant(S::Base::ONE);
            }
        }
        if self.colors != colors {
            self.colors.clear();
            self.colors.extend_from_slice(colors);
        }
        self.batch = Some(batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes of a call after calls with other seeds, beside those of memory that was never used.
    #[test]
    fn seeds_of_other_calls_are_not_read() {
        let (first, second) = ([0, 1, 2, 1, 0], [1, 1, 2, 0, 0]);
        let vectors: [&[f64]; 2] = [&[3.0; 5], &[4.0; 5]];
        let colors = |colors, first, count| Seeds::Colors { colors, first, count };
        let calls = [
            colors(&first, 0, 3),
            colors(&first, 0, 3),
            colors(&second, 0, 3),
            colors(&second, 1, 2),
            colors(&second[..4], 1, 2),
            Seeds::Basis { first: 1, count: 2 },
            Seeds::Basis { first: 1, count: 2 },
            Seeds::Basis { first: 2, count: 2 },
            colors(&first, 1, 2),
            Seeds::Vectors(&vectors),
            colors(&first, 1, 2),
            Seeds::Basis { first: 1, count: 2 },
        ];
        let mut staged = StagedSeeds::default();
        for (call, seeds) in calls.iter().enumerate() {
            let length = if let Seeds::Colors { colors, .. } = seeds { colors.len() } else { 5 };
            // Ends where the next call begins: what it finds is of the same colours of other vectors.
            for first in [0, 1, 0] {
                let expected: [Vec<f64>; LANES] = std::array::from_fn(|k| {
                    let is_seed = first + k < seeds.count();
                    (0..length).map(|i| if is_seed { seeds.entry(first + k, i) } else { 0.0 }).collect()
                });
                assert_eq!(
                    staged.lanes(seeds, first, LANES, length),
                    expected.each_ref().map(|v| &v[..]),
                    "call {call}"
                );
            }
            if call % 4 == 3 {
                assert_eq!(staged.first(seeds, length), (0..length).map(|i| seeds.entry(0, i)).collect::<Vec<_>>());
            }
        }
    }
}
