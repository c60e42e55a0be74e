//! The output of the program: results go to standard output, notes and errors to standard error.
//!
//! Called by `main.rs`. If a reader closes standard output (`| head`), the program ends without a message; if the device is full,
//! it ends with one. `println!` would panic in both cases.

use std::error::Error;
use std::fmt::{self, Arguments};
use std::io::{self, Write};

/// Standard output was closed by its reader.
#[derive(Debug)]
pub(crate) struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("standard output was closed")
    }
}

impl Error for Closed {}

/// Prints a result.
///
/// # Errors
/// [`Closed`], or the error of standard output.
pub(crate) fn print(text: Arguments<'_>) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    // Flushed each time: an error at the end of the program would be lost.
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Closed.into()),
        done => done.map_err(|error| format!("standard output: {error}").into()),
    }
}

/// Prints a note or an error, as far as standard error accepts it.
pub(crate) fn print_note(text: Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{text}");
}
