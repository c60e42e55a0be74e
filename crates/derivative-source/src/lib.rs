#![doc = include_str!("../README.md")]

mod code;
mod error;
mod files;
mod layout;
mod operator;
mod print;
mod record;
mod source;
mod words;

pub use error::Error;
pub use files::Files;
pub use operator::Operator;
pub use print::Precision;
pub use record::Recording;
pub use source::{Function, Source};

/// The book's chapter on emitted code, whose examples run as tests of this crate.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../book/source_code.md")]
    mod source_code {}
}
