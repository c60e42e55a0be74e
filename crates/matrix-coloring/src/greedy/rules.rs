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

/// A set of colours as bits.
pub(super) trait Mask: Clone + Default {
    /// Number of colours that it can hold, if that is limited.
    const LIMIT: Option<usize>;

    /// Its words; those behind the last are zero.
    fn words(&self) -> &[u64];
    /// The word of this number.
    fn word_mut(&mut self, k: usize) -> &mut u64;
    /// Adds the colours of `other`.
    fn join(&mut self, other: &Self);

    /// Smallest colour that is not in the set, if the set can hold it.
    #[inline]
    fn lowest_zero(&self) -> Option<usize> {
        let words = self.words();
        match words.iter().position(|&word| word != u64::MAX) {
            Some(k) => Some(k * 64 + words[k].trailing_ones() as usize),
            None => Some(words.len() * 64).filter(|&c| Self::LIMIT.is_none_or(|limit| c < limit)),
        }
    }
    /// Whether a colour is in the set.
    #[inline]
    fn get(&self, c: u32) -> bool {
        self.words().get(c as usize / 64).is_some_and(|word| word >> (c % 64) & 1 == 1)
    }
    /// Adds a colour.
    #[inline]
    fn set(&mut self, c: u32) {
        *self.word_mut(c as usize / 64) |= 1 << (c % 64);
    }
    /// Adds a colour; returns whether it was in the set.
    #[inline]
    fn put(&mut self, c: u32) -> bool {
        let (word, bit) = (self.word_mut(c as usize / 64), 1 << (c % 64));
        let before = *word & bit != 0;
        *word |= bit;
        before
    }
    /// Whether the set is empty.
    #[inline]
    fn is_empty(&self) -> bool {
        self.words().iter().all(|&word| word == 0)
    }
    /// Whether `other` contains all colours of the set.
    #[inline]
    fn is_within(&self, other: &Self) -> bool {
        let others = other.words();
        self.words().iter().enumerate().all(|(k, word)| word & !others.get(k).copied().unwrap_or(0) == 0)
    }
}

/// Up to `64 W` colours.
#[derive(Clone, Copy)]
pub(super) struct Fixed<const W: usize>([u64; W]);

impl<const W: usize> Default for Fixed<W> {
    fn default() -> Self {
        Fixed([0; W])
    }
}

impl<const W: usize> Mask for Fixed<W> {
    const LIMIT: Option<usize> = Some(64 * W);

    #[inline]
    fn words(&self) -> &[u64] {
        &self.0
    }
    #[inline]
    fn word_mut(&mut self, k: usize) -> &mut u64 {
        &mut self.0[k]
    }
    #[inline]
    fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }
}

/// Any number of colours: a set has the words that it needs.
#[derive(Clone, Default)]
pub(super) struct Growing(Vec<u64>);

impl Mask for Growing {
    const LIMIT: Option<usize> = None;

    fn words(&self) -> &[u64] {
        &self.0
    }
    #[inline]
    fn word_mut(&mut self, k: usize) -> &mut u64 {
        if k >= self.0.len() {
            self.0.resize(k + 1, 0);
        }
        &mut self.0[k]
    }
    fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }
}
