//! Patterns that do not fit in memory are an error, although a failed allocation would end the program.
//!
//! The test runs itself in a process whose address space is limited.

use matrix_coloring::{ErrorKind, Pattern};
use std::process::Command;

const NAME: &str = "a_pattern_that_does_not_fit_in_memory_is_an_error";
const LIMITED: &str = "MATRIX_COLORING_TEST_IN_LIMITED_MEMORY";

#[test]
fn a_pattern_that_does_not_fit_in_memory_is_an_error() {
    if std::env::var_os(LIMITED).is_some() {
        for (rows, columns) in [(4_000_000_000, 1), (1, 4_000_000_000)] {
            let error = Pattern::from_triplets(rows, columns, [(0, 0)]).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Memory { bytes: 16_000_000_004 });
        }
        return;
    }
    if !cfg!(target_os = "linux") {
        return;
    }
    let program = std::env::current_exe().unwrap();
    let command = format!("ulimit -v 4000000; exec \"$0\" --exact {NAME}");
    let status = Command::new("sh").args(["-c", &command]).arg(program).env(LIMITED, "1").status().unwrap();
    assert!(status.success(), "{status}");
}
