//! Simplification of forms by equality saturation: an e-graph holds all forms that the rules reach, the cheapest is extracted.
//!
//! Called for formulas to be read and for derivatives that are run. The number of nodes and of rounds is bounded, so that the result
//! does not depend on the speed of the machine; the time is bounded too, for machines that are slower than any it was tested on.
//!
//! Source: M. Willsey et al., *egg: Fast and extensible equality saturation*, POPL 2021.

mod check;
mod cost;
mod entries;
mod language;
mod rules;
mod saturate;
mod translate;

pub(crate) use check::agree;
pub(crate) use entries::simplified_entries;
pub(crate) use saturate::{Bounds, saturated};
