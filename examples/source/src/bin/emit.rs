//! Writes the files with emitted code; with `--check`, fails if one of them is stale.

use std::process::ExitCode;

fn main() -> ExitCode {
    match derivative_source_examples::files() {
        Ok(files) => files.command(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
