//! What an engine reports of a preparation.
//!
//! Called by `report()` of prepared operators.

/// A state that reports what its engine has done so far.
///
/// # For users
/// Call `report()` of a prepared operator.
///
/// # For backend authors
/// Implement it for the state of a route; the operators pass it on.
#[diagnostic::on_unimplemented(
    message = "this backend does not report what it does",
    note = "`AutoReverseDiff::default()` and `AutoReverseDiff::compiled()` do, with the feature `compiled`"
)]
pub trait Reports {
    /// What is reported.
    type Report;
    /// The report on all calls so far.
    fn report(&self) -> Self::Report;
}
