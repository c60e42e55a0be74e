//! Patterns of sparse matrices as constants of the printed code.
//!
//! Called for sparse operators.

use matrix_coloring::Pattern;
use std::fmt::Write;

const WIDTH: usize = 100;

/// Lines of numbers.
fn lines(numbers: &[u32]) -> String {
    let mut text = String::new();
    let mut line = String::from("   ");
    for number in numbers {
        let entry = number.to_string();
        if line.len() + entry.len() + 2 > WIDTH {
            text += &line;
            text.push('\n');
            line = String::from("   ");
        }
        let _ = write!(line, " {entry},");
    }
    text + &line
}

/// The constants in Rust.
pub(crate) fn rust(name: &str, pattern: &Pattern) -> String {
    let (starts, columns) = pattern.csr();
    let mut text = String::new();
    for (suffix, what, numbers) in [
        ("STARTS", "Where each row begins, and the number of entries", starts),
        ("COLUMNS", "Column of each entry", columns),
    ] {
        let _ = writeln!(text, "/// {what} of [`{name}`].\n#[rustfmt::skip]");
        let _ = writeln!(text, "pub static {}_{suffix}: [u32; {}] = [", name.to_uppercase(), numbers.len());
        let _ = writeln!(text, "{}\n];\n", lines(numbers));
    }
    text
}

/// The constants in C.
pub(crate) fn c(name: &str, pattern: &Pattern) -> String {
    let (starts, columns) = pattern.csr();
    let mut text = String::new();
    for (suffix, numbers) in [("STARTS", starts), ("COLUMNS", columns)] {
        let upper = name.to_uppercase();
        // C has no empty arrays.
        let numbers = if numbers.is_empty() { &[0] } else { numbers };
        let _ = writeln!(text, "const unsigned int {upper}_{suffix}[{}] = {{", numbers.len());
        let _ = writeln!(text, "{}\n}};\n", lines(numbers));
    }
    text
}

/// Their declarations.
pub(crate) fn header(name: &str, pattern: &Pattern) -> String {
    let upper = name.to_uppercase();
    let (starts, columns) = pattern.csr();
    format!(
        "extern const unsigned int {upper}_STARTS[{}];\nextern const unsigned int {upper}_COLUMNS[{}];\n",
        starts.len(),
        columns.len().max(1)
    )
}
