//! The two kinds of decompression, as types.

use crate::algorithm::Decompression;

/// Recover every entry directly, in a gather: star colourings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Direct;

/// Recover entries by substitution, with fewer colours: acyclic colourings.
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
