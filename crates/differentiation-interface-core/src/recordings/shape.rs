//! The name of what an output consists of beside its numbers: [`OutputShape`].
//!
//! Made by functions after a run, and kept by engines with the recording of the run.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names the shape and the constant fields of an output, for the engine that has recorded the run.
///
/// A recording has the numbers of the outputs, and not how a container divides them among its fields: another branch or another constant
/// may divide as many numbers in another way. Only the function that made the name knows what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputShape(NonZeroU64);

impl OutputShape {
    /// A name that no other output has, in any thread.
    pub(crate) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        OutputShape(NonZeroU64::new(number).expect("a count of 64 bits does not come back to zero"))
    }

    /// The name as a number, which is neither 0 nor the largest one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn number(self) -> u64 {
        self.0.get()
    }

    /// The name with this number, if there is one.
    pub(crate) fn of_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(OutputShape)
    }
}
