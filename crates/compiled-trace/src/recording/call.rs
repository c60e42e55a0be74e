//! The call of a function that is recorded, behind a pointer.
//!
//! Made by `recorder`, which is so compiled once and not for each function.

use crate::recording::number::{Recorded, RecordedCore};
use differentiation_interface_core::scalar::{Base, Num};

/// The call of a function that is recorded.
pub(super) trait Recordable {
    /// Makes the numbers of the recording with this identity and calls the function.
    fn call(&mut self, recording: u32);
    /// The number of outputs of the call.
    fn outputs(&self) -> usize;
    /// An output of the call.
    fn output(&self, index: usize) -> RecordedCore<f64>;
}

/// A function with the memory of its numbers: inputs and parameters, then outputs.
pub(super) struct Call<'c, B: Base, F> {
    pub(super) point: [&'c [B]; 2],
    pub(super) numbers: [&'c mut Vec<Recorded<B>>; 2],
    pub(super) y: &'c mut Vec<Recorded<B>>,
    pub(super) f: Option<F>,
}

impl<B: Base, F: FnOnce(&[Recorded<B>], &[Recorded<B>], &mut Vec<Recorded<B>>)> Recordable for Call<'_, B, F> {
    fn call(&mut self, recording: u32) {
        let mut operand = 0;
        for (values, numbers) in self.point.iter().zip(&mut self.numbers) {
            numbers.clear();
            numbers.extend(values.iter().map(|value| {
                operand += 1;
                Num(RecordedCore { value: *value, operand: operand - 1, recording })
            }));
        }
        self.y.clear();
        if let Some(f) = self.f.take() {
            f(self.numbers[0], self.numbers[1], self.y);
        }
    }
    fn outputs(&self) -> usize {
        self.y.len()
    }
    fn output(&self, index: usize) -> RecordedCore<f64> {
        self.y[index].0.double()
    }
}
