//! Patterns of sparse matrices in the printed code: constants if they are short, else a function that fills arrays by loops.
//!
//! Called for sparse operators.

use crate::code::{Item, Shape, leaves, pieces_of};
use crate::print::is_snake_case;
use matrix_coloring::Pattern;
use std::fmt::Write;

/// Longest line.
const WIDTH: usize = 100;
/// Patterns up to this number of numbers are constants.
const SHORT: usize = 256;

/// A pattern as it is printed.
pub(crate) struct Layout<'a> {
    name: &'a str,
    starts: &'a [u32],
    columns: &'a [u32],
    /// The pieces of both, if the pattern is long and regular.
    pieces: Option<[Vec<Item>; 2]>,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(name: &'a str, pattern: &'a Pattern) -> Layout<'a> {
        let (starts, columns) = pattern.csr();
        let numbers = starts.len() + columns.len();
        let pieces = (numbers > SHORT).then(|| [pieces_of(starts), pieces_of(columns)]);
        let pieces = pieces.filter(|pieces| pieces.iter().flatten().map(leaves).sum::<usize>() * 16 < numbers);
        Layout { name, starts, columns, pieces }
    }

    /// How the documentation of the function refers to it.
    pub(crate) fn reference(&self) -> String {
        self.names().join("` and `")
    }

    /// The names that it defines: of the constants, or of the function.
    pub(crate) fn names(&self) -> Vec<String> {
        match &self.pieces {
            Some(_) => vec![format!("{}_pattern", self.name)],
            None => ["STARTS", "COLUMNS"].map(|suffix| format!("{}_{suffix}", self.name.to_uppercase())).to_vec(),
        }
    }

    /// The constants or the function in Rust.
    pub(crate) fn rust(&self) -> String {
        let Layout { name, starts, columns, .. } = self;
        let mut text = String::new();
        if let Some(pieces) = &self.pieces {
            let _ = writeln!(
                text,
                "/// The pattern of `{name}`: where each row begins, with the number of entries at the end, and"
            );
            let _ = writeln!(text, "/// the column of each entry.");
            let lint = if is_snake_case(name) { "" } else { "non_snake_case, " };
            let _ = writeln!(text, "#[allow({lint}clippy::manual_slice_fill, clippy::needless_range_loop)]");
            let starts = format!("starts: &mut [u32; {}]", starts.len());
            let columns = format!("columns: &mut [u32; {}]", columns.len());
            let line = format!("pub fn {name}_pattern({starts}, {columns}) {{");
            if line.len() <= WIDTH {
                let _ = writeln!(text, "{line}");
            } else {
                let _ = writeln!(text, "pub fn {name}_pattern(\n    {starts},\n    {columns},\n) {{");
            }
            self.body(&mut text, pieces, true);
            text += "}\n\n";
            return text;
        }
        let what = ["Where each row begins, with the number of entries at the end,", "Column of each entry"];
        for ((suffix, what), numbers) in [("STARTS", what[0]), ("COLUMNS", what[1])].into_iter().zip([starts, columns])
        {
            let _ = writeln!(text, "/// {what} of `{name}`.\n#[rustfmt::skip]");
            let _ = writeln!(text, "pub static {}_{suffix}: [u32; {}] = [", name.to_uppercase(), numbers.len());
            let _ = writeln!(text, "{}\n];\n", lines(numbers));
        }
        text
    }

    /// The constants or the function in C.
    pub(crate) fn c(&self) -> String {
        let mut text = String::new();
        if let Some(pieces) = &self.pieces {
            let _ = writeln!(text, "{}\n{{", self.declaration());
            self.body(&mut text, pieces, false);
            text += "}\n\n";
            return text;
        }
        for (suffix, numbers) in [("STARTS", self.starts), ("COLUMNS", self.columns)] {
            let upper = self.name.to_uppercase();
            // C has no empty arrays.
            let numbers = if numbers.is_empty() { &[0] } else { numbers };
            let _ = writeln!(text, "const unsigned int {upper}_{suffix}[{}] = {{", numbers.len());
            let _ = writeln!(text, "{}\n}};\n", lines(numbers));
        }
        text
    }

    fn declaration(&self) -> String {
        format!("void {}_pattern(unsigned int *starts, unsigned int *columns)", self.name)
    }

    /// The declarations in C.
    pub(crate) fn header(&self) -> String {
        let (rows, entries) = (self.starts.len(), self.columns.len());
        if self.pieces.is_some() {
            return format!(
                "/* The pattern of {}: where each row begins, with the number of entries at the end,\n   and the column of each entry. Lengths: starts[{rows}], columns[{entries}]. */\n{};\n",
                self.name,
                self.declaration()
            );
        }
        let upper = self.name.to_uppercase();
        format!(
            "extern const unsigned int {upper}_STARTS[{rows}];\nextern const unsigned int {upper}_COLUMNS[{}];\n",
            entries.max(1)
        )
    }

    fn body(&self, text: &mut String, pieces: &[Vec<Item>; 2], is_rust: bool) {
        for (array, items) in ["starts", "columns"].into_iter().zip(pieces) {
            for item in items {
                print(text, array, item, [0, 0], &mut Vec::new(), is_rust);
            }
        }
    }
}

/// Counters by depth.
const COUNTERS: [&str; 8] = ["i", "j", "k", "l", "m", "n", "p", "q"];

fn print(text: &mut String, array: &str, item: &Item, start: [i64; 2], around: &mut Vec<[i64; 2]>, is_rust: bool) {
    let start = [start[0] + item.cells[0], start[1] + item.cells[1]];
    let indent = "    ".repeat(around.len() + 1);
    match &item.shape {
        Shape::Leaf => {
            let (place, number) = (affine(start, around, 0), affine(start, around, 1));
            let number = match is_rust && number.parse::<u32>().is_err() {
                true if number.contains(' ') => format!("({number}) as u32"),
                true => format!("{number} as u32"),
                false => number,
            };
            let _ = writeln!(text, "{indent}{array}[{place}] = {number};");
        }
        Shape::Fold { count, distance, items } => {
            let i = COUNTERS[around.len()];
            let _ = match is_rust {
                true => writeln!(text, "{indent}for {i} in 0..{count} {{"),
                false => writeln!(text, "{indent}for (unsigned int {i} = 0; {i} < {count}; {i}++) {{"),
            };
            around.push([distance[0], distance[1]]);
            for item in items.iter() {
                print(text, array, item, start, around, is_rust);
            }
            around.pop();
            let _ = writeln!(text, "{indent}}}");
        }
    }
}

/// One of the two numbers as an expression of the counters; terms that count down come last.
fn affine(start: [i64; 2], around: &[[i64; 2]], which: usize) -> String {
    let mut terms = Vec::new();
    let mut down = String::new();
    for (distance, counter) in around.iter().zip(COUNTERS) {
        match distance[which] {
            0 => {}
            1 => terms.push(counter.to_string()),
            -1 => down += &format!(" - {counter}"),
            d if d > 0 => terms.push(format!("{d} * {counter}")),
            d => down += &format!(" - {} * {counter}", -d),
        }
    }
    if start[which] != 0 || terms.is_empty() {
        terms.push(start[which].to_string());
    }
    terms.join(" + ") + &down
}

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
