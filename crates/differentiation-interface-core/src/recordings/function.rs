//! What a recording of a function depends on.
//!
//! Returned by [`Flat::recordable`](crate::evaluate::Flat::recordable) to engines that keep recordings.

use super::{OutputShape, Words};

/// What an engine needs to know of a function to replay a recording of one call in place of later calls.
///
/// # For backend authors
/// 1. A recording may serve a later call only if [`is_pure`](Self::is_pure); else the function has to run in every call.
/// 2. The recording is valid for equal [`lengths`](Self::lengths) only, and takes [`parameters`](Self::parameters) as inputs: the
///    function makes its numbers of them by [`EngineScalar::parameter`](super::EngineScalar::parameter), index by index.
/// 3. A function that is not pure because of its constants alone writes them in [`constants`](Self::constants). A recording may serve a
///    later call to which [`constants_are`](Self::constants_are) these; its other constants may differ, and the function has to run.
/// 4. After [`Flat::call`](crate::evaluate::Flat::call) a recording is invalid if [`has_failed`](Self::has_failed) returns `true`;
///    the operator returns the error.
/// 5. An engine that keeps with a recording what [`Flat::remember_shape`](crate::evaluate::Flat::remember_shape) returned after the run passes it to
///    [`show_shape`](Self::show_shape) in each call that the recording serves; with several constants, that of the run with these. If it does not,
///    and the output tells a shape, the operator runs the function at the point of each call to find it out.
pub trait Recordable {
    /// Whether a call only computes its outputs, from the point and the [`parameters`](Self::parameters) alone.
    fn is_pure(&self) -> bool;
    /// Appends the numbers that a call makes by [`EngineScalar::parameter`](super::EngineScalar::parameter), in the order of their indices.
    fn parameters(&self, values: &mut Vec<f64>);
    /// Passes the lengths of the contexts, which the function may read, to `words`: to keep them, or to compare them with the known ones. Returns
    /// whether they are equal to these.
    fn lengths(&self, words: &mut Words<'_>) -> bool;
    /// Appends the bits of all constants, if a call only computes its outputs from the point, the [`parameters`](Self::parameters) and
    /// them. Returns `false` if it depends on anything else; what has been appended then has no meaning.
    fn constants(&self, _words: &mut Vec<u64>) -> bool {
        false
    }
    /// Whether [`constants`](Self::constants) would append exactly these words.
    fn constants_are(&self, _words: &[u64]) -> bool {
        false
    }
    /// Whether what the function captures could change between calls without a new preparation. A function that is not `Sync` may
    /// capture a `Cell` or a `RefCell`; what is `Sync` and changes (atomics, locks, statics) is not detected. An engine that records
    /// functions without being asked to leaves such a function alone.
    fn may_change(&self) -> bool {
        true
    }
    /// Whether a call has failed.
    fn has_failed(&self) -> bool {
        false
    }
    /// The outputs of this call have this shape, which a run of the function has named.
    fn show_shape(&self, _shape: OutputShape) {}
}

/// `None` stands for a function that must run in every call.
impl Recordable for Option<&dyn Recordable> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_pure(&self) -> bool {
        self.is_some_and(|f| f.is_pure())
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameters(&self, values: &mut Vec<f64>) {
        if let Some(f) = self {
            f.parameters(values);
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lengths(&self, words: &mut Words<'_>) -> bool {
        self.is_none_or(|f| f.lengths(words))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constants(&self, words: &mut Vec<u64>) -> bool {
        self.is_some_and(|f| f.constants(words))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constants_are(&self, words: &[u64]) -> bool {
        self.is_some_and(|f| f.constants_are(words))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn may_change(&self) -> bool {
        self.is_none_or(|f| f.may_change())
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has_failed(&self) -> bool {
        self.is_some_and(|f| f.has_failed())
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn show_shape(&self, shape: OutputShape) {
        if let Some(f) = self {
            f.show_shape(shape);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::evaluate::Flat;
    use crate::recordings::{Recordable, Words};

    struct Opaque;
    impl Flat<f64> for Opaque {
        fn call(&mut self, x: &[f64], y: &mut Vec<f64>) {
            y.clear();
            y.extend_from_slice(x);
        }
        fn has_work_memory(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_function_that_hands_out_nothing_is_never_served_by_a_recording() {
        let (mut parameters, mut lengths) = (Vec::new(), Vec::new());
        let of = Opaque.recordable();
        of.parameters(&mut parameters);
        assert!(of.lengths(&mut Words::Keep(&mut lengths)));
        assert!(!of.constants(&mut Vec::new()) && !of.constants_are(&[]));
        assert!(!of.is_pure() && !of.has_failed() && parameters.is_empty() && lengths.is_empty());
    }
}
