//! The two kinds of decompression, as types.

use crate::algorithm::Decompression;

/// Recover every entry directly, in a gather: star colourings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Direct;

/// Recover entries by substitution, with fewer colours: acyclic colourings.
///
/// An entry is a compressed one minus entries that are recovered before it, so it has the rounding errors of the largest of them: beside 10²⁰ an entry of ordinary
/// size is lost, and beside an infinite one it is NaN. [`Direct`] recovers each for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Substitution;

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// The two kinds of decompression as types: [`Direct`] and [`Substitution`].
pub trait DecompressionKind: sealed::Sealed + Copy + Default {
    /// The same as a value.
    const KIND: Decompression;
}

impl sealed::Sealed for Direct {}
impl sealed::Sealed for Substitution {}

impl DecompressionKind for Direct {
    const KIND: Decompression = Decompression::Direct;
}

impl DecompressionKind for Substitution {
    const KIND: Decompression = Decompression::Substitution;
}
