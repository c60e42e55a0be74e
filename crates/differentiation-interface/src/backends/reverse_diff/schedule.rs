//! When calls are recorded: what the options of the engine set.
//!
//! Kept by the engine; read by `tiers`.

/// When to go up: the options of [`AutoReverseDiff`](super::AutoReverseDiff).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    /// The first call that may be recorded, counted from 1; 0 if none is.
    pub(super) first: u64,
    /// How large a recording may be.
    pub(super) bytes: usize,
}

impl Schedule {
    /// Tapes only.
    pub(super) const NEVER: Schedule = Schedule { first: 0, bytes: 512 << 20 };

    /// The first call that may be recorded where the preparation has recorded nothing; not the first call itself, since one without
    /// preparation is not worth it.
    pub(super) fn first_of_calls(self) -> u64 {
        if self.first == 1 { Schedule::default().first } else { self.first }
    }
}

impl Default for Schedule {
    /// Most regular functions have paid for their program after 11 to 60 calls. Recordings have up to 40 million operations.
    fn default() -> Self {
        Schedule { first: 24, ..Schedule::NEVER }
    }
}
