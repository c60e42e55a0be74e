//! When the second program that fills the derivative matrix is made.
//!
//! Kept by [`Held`](super::Held); asked in every call that the first program serves less well than the second one would.

/// Calls that do without the second program, the last of which makes it: a program takes as long to make as some hundred short calls.
const CALLS: u8 = 16;

/// The gradient program computes the value as well, and the program of entries does not. Calls that ask for the other thing run more than
/// they need, until there is a second program.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Second {
    /// Further such calls until it is made; 0 if it has been made or is not to be.
    calls: u8,
    pub(super) is_made: bool,
}

impl Default for Second {
    fn default() -> Self {
        Second { calls: CALLS, is_made: false }
    }
}

impl Second {
    /// Counts a call that a first program may compute; `false` if the second is to be made in this call, which is then not counted.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn passes(&mut self) -> bool {
        if self.calls == 1 {
            return false;
        }
        self.calls = self.calls.saturating_sub(1);
        true
    }

    /// Ends the waiting.
    pub(super) fn decide(&mut self, is_made: bool) {
        *self = Second { calls: 0, is_made };
    }
}
