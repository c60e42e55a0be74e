//! The [`Internals`](super::Internals) of a number as methods, for engines.

use super::internals::Tangents;
use super::scope::ParameterScope;
use crate::scalar::Scalar;

/// What engines do with any scalar beyond arithmetic. Every [`Scalar`] implements it; differentiated functions do not import it.
pub trait EngineScalar: Scalar {
    /// The plain value, to choose by it how to compute but not what. Reading it is neither recorded nor refused.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn peek(&self) -> Self::Base {
        (Self::INTERNALS.peek)(self)
    }
    /// A number with the value `value`, which may change in the next call; see [`Internals::parameter`](super::Internals::parameter). A
    /// constant for an operator that is called by the function of a recording.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameter(index: usize, value: Self::Base) -> Self {
        if const { Self::INTERNALS.may_be_recorded } && ParameterScope::is_of_function() {
            return Self::constant(value);
        }
        (Self::INTERNALS.parameter)(index, value)
    }
    /// How to split the number, if it consists of a plain value and tangents.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn tangents() -> Option<&'static Tangents<Self, Self::Base>> {
        Self::INTERNALS.tangents.as_ref()
    }
    /// The slices as slices of plain numbers, if this type is a plain number.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_plain<'s, 'a>(slices: &'s [&'a [Self]]) -> Option<&'s [&'a [Self::Base]]> {
        Self::INTERNALS.plain.as_ref().map(|plain| (plain.read)(slices))
    }
    /// The same for mutable slices.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_plain_mut<'s, 'a>(slices: &'s mut [&'a mut [Self]]) -> Option<&'s mut [&'a mut [Self::Base]]> {
        Self::INTERNALS.plain.as_ref().map(|plain| (plain.write)(slices))
    }
}
impl<S: Scalar> EngineScalar for S {}
