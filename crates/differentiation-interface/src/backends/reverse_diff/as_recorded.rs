//! A function of tape variables as a function of recording numbers.
//!
//! Called by the recorder of `compiled-trace` for the routes in `tiered`, `tiered_products` and `tiered_twice`; runs the user's function on
//! variables in the state of `recorded`.

use super::recorded::{InRecording, Writing, lowered, raised};
use compiled_trace::Recorded;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::{OutputShape, Recordable};
use differentiation_interface_core::scalar::{Base, Num};

/// A function of variables `N` as a function of recording numbers, for recorders.
pub(super) struct AsRecorded<'a, N, F> {
    f: &'a mut F,
    x: Vec<N>,
    y: Vec<N>,
}

impl<'a, N, F> AsRecorded<'a, N, F> {
    pub(super) const fn new(f: &'a mut F) -> Self {
        AsRecorded { f, x: Vec::new(), y: Vec::new() }
    }
}

impl<N: InRecording, B: Base, F: Flat<N>> Flat<Recorded<B>> for AsRecorded<'_, N, F> {
    fn call(&mut self, x: &[Recorded<B>], y: &mut Vec<Recorded<B>>) {
        self.x.clear();
        self.x.extend(x.iter().map(|v| N::of_parts(raised(v.0))));
        let writing = Writing::begin(true);
        self.f.call(&self.x, &mut self.y);
        drop(writing);
        y.clear();
        y.extend(self.y.iter().map(|v| Num(lowered(v.to_parts()))));
    }
    fn remember_shape(&mut self) -> Option<OutputShape> {
        self.f.remember_shape()
    }
    fn recordable(&self) -> Option<&dyn Recordable> {
        self.f.recordable()
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}
