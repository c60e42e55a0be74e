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

    /// The number with these [`parts`](Self::parts). For engines whose number has other states beside that of a recorded one: each
    /// operation on numbers in that state is one of the numbers made here.
    #[inline(always)]
    pub fn from_parts(value: B, operand: u32, recording: u32) -> Self {
        RecordedCore { value, operand, recording }
    }

    /// The value, which value of the graph it is (below 2³⁰), and the identity of the recording; the latter is 0 for a constant.
    #[inline(always)]
    pub fn parts(&self) -> (B, u32, u32) {
        (self.value, self.operand, self.recording)
    }
}
