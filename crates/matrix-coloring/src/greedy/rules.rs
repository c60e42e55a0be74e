//! Rules of a bicolouring, and sets of colours as bits.
//!
//! Used by the algorithms beside this file.

/// How star and acyclic colouring treat the vertices of a bicolouring.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    /// Rows and columns have palettes of their own, so adjacent vertices never compare.
    pub(crate) separate: bool,
    /// A vertex all of whose entries are covered by coloured neighbours stays neutral, and a coloured vertex stays alone
    /// with its colour around its uncoloured neighbours.
    pub(crate) implicit: bool,
}

/// Smallest colour not in a set of `64 W` colours.
#[inline]
pub(super) fn lowest_zero<const W: usize>(set: &[u64; W]) -> Option<usize> {
    (0..W).find(|&k| set[k] != u64::MAX).map(|k| k * 64 + set[k].trailing_ones() as usize)
}

#[inline]
pub(super) fn get<const W: usize>(set: &[u64; W], c: u32) -> bool {
    set[c as usize / 64] >> (c % 64) & 1 == 1
}

#[inline]
pub(super) fn set<const W: usize>(set: &mut [u64; W], c: u32) {
    set[c as usize / 64] |= 1 << (c % 64);
}

/// Adds the colours of `other` to `set`.
#[inline]
pub(super) fn join<const W: usize>(set: &mut [u64; W], other: &[u64; W]) {
    set.iter_mut().zip(other).for_each(|(word, more)| *word |= more);
}
