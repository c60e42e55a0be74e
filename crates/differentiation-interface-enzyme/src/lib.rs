#![doc = include_str!("../README.md")]
#![cfg_attr(ad_enzyme, feature(autodiff))]

#[cfg(ad_enzyme)]
mod backend;
#[cfg(ad_enzyme)]
mod differentiated;
#[cfg(ad_enzyme)]
mod state;
#[cfg(all(test, ad_enzyme))]
mod tests;

#[cfg(ad_enzyme)]
pub use backend::{AutoEnzyme, ByEnzyme, ByShape};
#[cfg(ad_enzyme)]
pub use state::EnzymeState;

/// The book's page, whose code runs as a test of this crate.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../book/enzyme.md")]
    mod enzyme {}
}
