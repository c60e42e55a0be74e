#![doc = include_str!("../README.md")]

#[cfg(feature = "argmin")]
pub mod argmin;
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
