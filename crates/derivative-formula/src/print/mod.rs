//! Formulas as text: a layout of the normal form as textbooks order it, written as LaTeX, Unicode or plain text.
//!
//! Called by `Formula`.

mod layout;
mod names;
mod numbers;
mod order;
mod style;
mod write;

pub(crate) use layout::laid_out;
#[cfg(test)]
pub(crate) use names::variable;
pub(crate) use style::Style;
pub(crate) use write::write;
