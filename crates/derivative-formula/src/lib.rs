#![doc = include_str!("../README.md")]

mod expression;
mod form;
mod formula;
#[cfg(test)]
mod page;
mod print;
#[cfg(test)]
mod random;
mod simplify;
mod symbolic;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod textbook;
mod variables;

pub use formula::{Formula, derivative};
pub use symbolic::{AutoSymbolic, ByFormula, FormulaSparsityDetector, SeparateColors, SymbolicState};
pub use variables::Variables;

/// The book's chapter on formulas, whose code runs as tests of this crate.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../book/formulas.md")]
    mod formulas {}
}
