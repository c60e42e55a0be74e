//! Derivatives as formulas.

mod expression;
mod form;
mod formula;
mod print;
mod simplify;
mod symbolic;
#[cfg(test)]
mod tests;
mod variables;

pub use formula::Formula;
pub use symbolic::{AutoSymbolic, ByFormula, FormulaSparsityDetector, SeparateColors, SymbolicState};
pub use variables::Variables;

use differentiation_interface_core::error::Error;

/// The simplified derivative of a formula by a variable.
///
/// # Errors
/// Those of [`Formula::derivative`].
pub fn derivative(formula: &Formula, variable: &str) -> Result<Formula, Error> {
    Ok(formula.derivative(variable)?.simplified())
}
