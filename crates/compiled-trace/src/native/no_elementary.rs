//! Takes the place of `elementary` on machines other than x86-64, for which there are no own functions.

use super::code::Second;

/// A function of one number in machine code.
type One = unsafe extern "C" fn(f64) -> f64;
/// One of two numbers.
type OneOfTwo = unsafe extern "C" fn(f64, f64) -> f64;

/// Whether the processor has the vectors that own functions take.
pub(super) fn has_vectors() -> bool {
    false
}

/// A rule as a function of single numbers.
pub(super) fn one(_rule: u16, _vectors: bool) -> Option<One> {
    None
}

/// A rule as a function of pairs.
pub(super) fn one_of_two(_rule: u16, _vectors: bool) -> Option<OneOfTwo> {
    None
}

/// The address of a rule as a function of several numbers.
pub(super) fn vector(_rule: u16, _lanes: u8) -> Option<usize> {
    None
}

/// The address of a rule as a function of several pairs.
pub(super) fn vector_of_two(_rule: u16, _lanes: u8) -> Option<usize> {
    None
}

/// The rule that forms a pair with another one.
pub(super) fn second(_rule: u16, _lanes: u8) -> Option<Second> {
    None
}
