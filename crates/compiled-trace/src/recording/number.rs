//! The recording number.
//!
//! Made by the recorder for the inputs, and by operations on them (`arithmetic`), which the recorder stores.

use differentiation_interface_core::scalar::{Base, Num};

/// A number that records the operations on it, over the plain number `B`.
pub type Recorded<B = f64> = Num<RecordedCore<B>>;

/// The engine's part of a [`Recorded`] number: its value at the recording's point, and which value of the graph it is.
#[derive(Clone, Copy, Debug)]
pub struct RecordedCore<B> {
    pub(super) value: B,
    pub(super) operand: u32,
    /// 0 for a constant.
    pub(super) recording: u32,
}

impl<B: Base> RecordedCore<B> {
    #[inline(always)]
    pub(super) fn inert(value: B) -> Self {
        RecordedCore { value, operand: 0, recording: 0 }
    }
}
