//! Seeds: the tangents or cotangents of a call.

use crate::error::ErrorKind;
use crate::scalar::{Base, Scalar};

/// The seeds of a call: tangents, directions in the input space, or cotangents, weights of the outputs.
///
/// Basis vectors are not stored.
#[derive(Clone, Copy, Debug)]
pub enum Seeds<'a, S> {
    /// The basis vectors `first`, `first + 1`, ..., `first + count - 1`.
    Basis {
        /// Index of the first basis vector.
        first: usize,
        /// Number of basis vectors.
        count: usize,
    },
    /// Any vectors.
    Vectors(&'a [&'a [S]]),
    /// Sums of basis vectors: seed `k` is the sum of the basis vectors with colour `first + k`.
    Colors {
        /// Colour of each basis vector. A basis vector whose colour is out of range belongs to no seed.
        colors: &'a [u32],
        /// Colour of the first seed.
        first: usize,
        /// Number of colours.
        count: usize,
    },
}

impl<'a, S: Scalar> Seeds<'a, S> {
    /// All basis vectors of a space of dimension `count`.
    #[inline]
    pub fn all(count: usize) -> Self {
        Seeds::Basis { first: 0, count }
    }

    /// The number of seeds.
    #[inline]
    pub fn count(&self) -> usize {
        match self {
            Seeds::Basis { count, .. } => *count,
            Seeds::Vectors(vectors) => vectors.len(),
            Seeds::Colors { count, .. } => *count,
        }
    }

    /// The seeds `first..first + count`.
    pub fn part(self, first: usize, count: usize) -> Self {
        match self {
            Seeds::Basis { first: start, .. } => Seeds::Basis { first: start + first, count },
            Seeds::Vectors(vectors) => Seeds::Vectors(&vectors[first..first + count]),
            Seeds::Colors { colors, first: start, .. } => Seeds::Colors { colors, first: start + first, count },
        }
    }

    /// Entry `i` of seed `k`.
    #[inline]
    pub fn entry(&self, k: usize, i: usize) -> S {
        match self {
            Seeds::Basis { first, .. } => S::constant(if first + k == i { S::Base::ONE } else { S::Base::ZERO }),
            Seeds::Vectors(vectors) => vectors[k][i],
            Seeds::Colors { colors, first, .. } => {
                S::constant(if colors[i] as usize == first + k { S::Base::ONE } else { S::Base::ZERO })
            }
        }
    }

    /// Checks that there is a seed and that each seed has length `expected`. Basis vectors and colours are not checked.
    ///
    /// # Errors
    /// [`ErrorKind::NoSeeds`] if there are no vectors, [`ErrorKind::SeedLength`] with the index of the first of another length.
    pub fn check(&self, expected: usize) -> Result<(), ErrorKind> {
        if let Seeds::Vectors(vectors) = self {
            if vectors.is_empty() {
                return Err(ErrorKind::NoSeeds);
            }
            for (index, vector) in vectors.iter().enumerate() {
                if vector.len() != expected {
                    return Err(ErrorKind::SeedLength { index, expected, found: vector.len() });
                }
            }
        }
        Ok(())
    }
}
