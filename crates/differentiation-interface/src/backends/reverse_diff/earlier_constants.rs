//! How long the constants of a function keep their values: whether a program that is right for them alone is worth its price.
//!
//! Called by `tiers` at recordings, and at calls whose constants no program knows.

use differentiation_interface_core::recordings::Recordable;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// The number of different constants that are counted.
const MOST_COUNTED: usize = 16;

/// The constants of earlier calls. Only their hashes are kept: they decide when to record, not what is right.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlierConstants {
    /// Those of the last recording.
    recorded: Option<u64>,
    /// Those of calls that no program could compute, with the number of such calls; the oldest ones first.
    missed: Vec<(u64, u64)>,
    /// Memory for the bits of a call's constants.
    words: Vec<u64>,
}

impl EarlierConstants {
    /// The hash of the constants; `None` if they do not consist of numbers.
    pub(super) fn hash(&mut self, f: Option<&dyn Recordable>) -> Option<u64> {
        self.words.clear();
        if !f.constants(&mut self.words) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        self.words.hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Notes a recording with constants of this hash, and returns whether they are those of the one before.
    pub(super) fn are_recorded_again(&mut self, hash: u64) -> bool {
        self.recorded.replace(hash) == Some(hash)
    }

    /// Forgets the constants of which `few` calls or more have been counted: a new program does not know those of the one that it
    /// replaces, and counts them anew.
    pub(super) fn forget_from(&mut self, few: u64) {
        self.missed.retain(|(_, times)| *times < few);
    }

    /// Notes a call whose constants no program knows, and returns the number of such calls with the same ones, this one included.
    pub(super) fn count(&mut self, f: Option<&dyn Recordable>) -> u64 {
        let Some(hash) = self.hash(f) else { return 1 };
        if let Some((_, times)) = self.missed.iter_mut().find(|(known, _)| *known == hash) {
            *times += 1;
            return *times;
        }
        if self.missed.len() == MOST_COUNTED {
            self.missed.remove(0);
        }
        self.missed.push((hash, 1));
        1
    }
}
