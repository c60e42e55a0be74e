//! Derivatives as source code: Rust without `std`, and C99, from any function that the interface accepts.

mod code;
mod error;
mod files;
mod layout;
mod operator;
mod pattern;
mod print;
mod record;
mod source;

pub use error::Error;
pub use files::Files;
pub use operator::Operator;
pub use print::Precision;
pub use record::Recording;
pub use source::{Function, Source};
