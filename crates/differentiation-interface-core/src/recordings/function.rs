//! What a recording of a function depends on.
//!
//! Returned by [`Flat::recordable`](crate::evaluate::Flat::recordable) to engines that keep recordings.

/// What an engine needs to know of a function to replay a recording of one call in place of later calls.
///
/// # For backend authors
/// 1. A recording may serve a later call only if [`is_pure`](Self::is_pure); else the function has to run in every call.
/// 2. The recording is valid for equal [`lengths`](Self::lengths) only, and takes [`parameters`](Self::parameters) as inputs: the
///    function makes its numbers of them by [`EngineScalar::parameter`](super::EngineScalar::parameter), index by index.
/// 3. After [`Flat::call`](crate::evaluate::Flat::call) a recording is invalid if [`has_failed`](Self::has_failed) returns `true`;
///    the operator returns the error.
pub trait Recordable {
    /// Whether a call only computes its outputs, from the point and the [`parameters`](Self::parameters) alone.
    fn is_pure(&self) -> bool;
    /// Appends the numbers that a call makes by [`EngineScalar::parameter`](super::EngineScalar::parameter), in the order of their indices.
    fn parameters(&self, values: &mut Vec<f64>);
    /// Appends the lengths of the contexts, which the function may read.
    fn lengths(&self, lengths: &mut Vec<usize>);
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
    fn lengths(&self, lengths: &mut Vec<usize>) {
        if let Some(f) = self {
            f.lengths(lengths);
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn may_change(&self) -> bool {
        self.is_none_or(|f| f.may_change())
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has_failed(&self) -> bool {
        self.is_some_and(|f| f.has_failed())
    }
}

#[cfg(test)]
mod tests {
    use super::Recordable;
    use crate::evaluate::Flat;

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
        of.lengths(&mut lengths);
        assert!(!of.is_pure() && !of.has_failed() && parameters.is_empty() && lengths.is_empty());
    }
}
