//! How long the constants of a function keep their values: whether a program that is right for them alone is worth its price.
//!
//! Called by `tiers` at recordings, and at calls whose constants no program knows.

use differentiation_interface_core::recordings::Recordable;

/// The constants of the last call that was noted.
#[derive(Clone, Debug, Default)]
pub(super) struct LastConstants {
    /// Their bits, as [`Recordable::constants`] writes them.
    words: Vec<u64>,
    /// The number of noted calls in a row that had them.
    times: u64,
}

impl LastConstants {
    /// Notes the constants of a call, and returns how many noted calls in a row have had them, this one included; `None` if they do not
    /// consist of numbers.
    pub(super) fn note(&mut self, f: Option<&dyn Recordable>) -> Option<u64> {
        if self.times == 0 || !f.constants_are(&self.words) {
            self.times = 0;
            self.words.clear();
            if !f.constants(&mut self.words) {
                return None;
            }
        }
        self.times += 1;
        Some(self.times)
    }
}
