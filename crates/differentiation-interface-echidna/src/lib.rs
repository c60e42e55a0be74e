#![doc = include_str!("../README.md")]

mod forward;
mod tape;
mod taped;
#[cfg(test)]
mod tests;
mod vector;

pub use differentiation_interface_core::foreign::{Raw, raw, raw_array, raw_number};
pub use forward::AutoEchidnaForward;
pub use tape::{AutoEchidna, TapeState};
pub use taped::Taped;
pub use vector::Vector;

/// The book's chapter on engines of other crates, whose code runs as tests of this crate.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../book/engines.md")]
    mod engines {}
}
