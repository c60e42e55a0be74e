//! The ways to write formulas.
//!
//! Chosen by `Formula`; read by `write` and `names`.

/// A way to write formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Latex,
    Unicode,
    Plain,
}
