//! A function of tape variables as a function of recording numbers.
//!
//! Called by the recorder of `compiled-trace` for the route `tiered`; runs the user's function on variables in the state of `recorded`.

use super::recorded::{Writing, lowered, raised};
use super::var::{Var, VarCore};
use compiled_trace::Recorded;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::Recordable;
use differentiation_interface_core::scalar::{Base, Num, Scalar};

/// Memory of [`AsRecorded`].
#[derive(Clone, Debug)]
pub(super) struct Numbers<S: Scalar> {
    x: Vec<Var<S>>,
    y: Vec<Var<S>>,
}

impl<S: Scalar> Numbers<S> {
    pub(super) const fn new() -> Self {
        Numbers { x: Vec::new(), y: Vec::new() }
    }
}

/// A function of [`Var`]s as a function of recording numbers, for recorders.
pub(super) struct AsRecorded<'a, S: Scalar, F> {
    pub(super) f: &'a mut F,
    pub(super) numbers: Numbers<S>,
}

impl<S: Scalar, B: Base, F: Flat<Var<S>>> Flat<Recorded<B>> for AsRecorded<'_, S, F> {
    fn call(&mut self, x: &[Recorded<B>], y: &mut Vec<Recorded<B>>) {
        let Numbers { x: inputs, y: outputs } = &mut self.numbers;
        inputs.clear();
        inputs.extend(x.iter().map(|v| Num(VarCore::whole(raised(v.0)))));
        let writing = Writing::begin(true);
        self.f.call(inputs, outputs);
        drop(writing);
        y.clear();
        y.extend(outputs.iter().map(|v| Num(lowered(v.0.parts()))));
    }
    fn recordable(&self) -> Option<&dyn Recordable> {
        self.f.recordable()
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}
