#![doc = include_str!("../README.md")]

#[cfg(feature = "argmin")]
pub mod argmin;
#[cfg(feature = "clarabel")]
pub mod clarabel;
#[cfg(feature = "diffsol")]
pub mod diffsol;
#[cfg(feature = "eqsolver")]
pub mod eqsolver;
mod first_error;
#[cfg(feature = "levenberg-marquardt")]
pub mod levenberg_marquardt;
#[cfg(feature = "nuts-rs")]
pub mod nuts_rs;
mod objective;
mod residuals;
mod shared;
mod value;

pub use first_error::FirstError;
pub use objective::{Objective, objective};
pub use residuals::{Residuals, residuals};
pub use shared::Shared;

/// The book's chapter on solvers, whose code runs as tests of this crate.
#[cfg(all(
    doctest,
    feature = "argmin-nalgebra",
    feature = "clarabel",
    feature = "diffsol",
    feature = "eqsolver",
    feature = "levenberg-marquardt",
    feature = "nuts-rs"
))]
mod book {
    #[doc = include_str!("../book/solvers.md")]
    mod solvers {}
}
