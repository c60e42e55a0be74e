//! Pictures and a page of benchmark tables (feature `report`).
//!
//! Called by users and by the command line with a [`Table`](crate::table::Table); nothing is measured here. [`Plot`] draws time against
//! size or bars at one size, as SVG and PNG; [`Page`] puts plots and the table into one self-contained HTML file.

mod axis;
mod bars;
mod canvas;
mod page;
mod plot;
mod scaling;
mod subject;
#[cfg(test)]
mod tests;

pub use page::Page;
pub use plot::Plot;

use std::path::PathBuf;
use std::{fmt, io};

/// Why a picture or page could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReportError {
    /// The file cannot be written.
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The drawing library failed.
    Drawing {
        /// Its message.
        message: String,
    },
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReportError::File { path, source } => write!(f, "report file {}: {source}", path.display()),
            ReportError::Drawing { message } => write!(f, "drawing a benchmark plot: {message}"),
        }
    }
}

impl std::error::Error for ReportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReportError::File { source, .. } => Some(source),
            ReportError::Drawing { .. } => None,
        }
    }
}
