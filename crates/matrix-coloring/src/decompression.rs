//! The two kinds of decompression, as types.

use crate::algorithm::DecompressionKind;

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
pub trait Decompression: sealed::Sealed + Copy + Default {
    /// The same as a value.
    const KIND: DecompressionKind;
}

impl sealed::Sealed for Direct {}
impl sealed::Sealed for Substitution {}

impl Decompression for Direct {
    const KIND: DecompressionKind = DecompressionKind::Direct;
}

impl Decompression for Substitution {
    const KIND: DecompressionKind = DecompressionKind::Substitution;
}
