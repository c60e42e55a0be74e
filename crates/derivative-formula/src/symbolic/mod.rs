//! Derivatives by formulas that run: the backend `AutoSymbolic`.
//!
//! Reached by operators through `routes`; `state` keeps recordings of the function, `formulas` makes expressions of a recording,
//! simplifies them and compiles them to programs.

mod backend;
mod formulas;
mod held;
mod pattern;
mod routes;
mod sparse;
mod state;
#[cfg(test)]
mod tests;

pub use backend::AutoSymbolic;
pub use routes::ByFormula;
pub use sparse::{FormulaSparsityDetector, SeparateColors};
pub use state::SymbolicState;
