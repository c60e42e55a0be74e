//! Prints tables: in the terminal and as Markdown, figures rounded to three digits.

use super::{Row, Table};
use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, Table as Grid};
use std::fmt;

/// Three significant digits, without an exponent for numbers of ordinary size.
fn three_digits(value: f64) -> String {
    let magnitude = value.abs();
    if value == value.trunc() && magnitude < 1e9 {
        format!("{value}")
    } else if !(0.01..1e6).contains(&magnitude) {
        format!("{value:.2e}")
    } else {
        format!("{value:.*}", decimals(value))
    }
}

/// The number of decimals that gives three digits of a number that is at least 0.01 and less than a million.
fn decimals(value: f64) -> usize {
    match value.abs() {
        magnitude if magnitude < 9.995 => 2,
        magnitude if magnitude < 99.95 => 1,
        _ => 0,
    }
}

/// A time with three significant digits and its unit; empty if it was not measured.
///
/// # Example
/// ```
/// use differentiation_interface_test::table::seconds;
///
/// assert_eq!([1.2345e-8, 4e-6, 0.5, 99.996e-9].map(seconds), ["12.3 ns", "4.00 µs", "500 ms", "100 ns"]);
/// assert_eq!(seconds(f64::NAN), "");
/// ```
pub fn seconds(time: f64) -> String {
    if time.is_nan() {
        return String::new();
    }
    let (scale, unit) = match time.abs() {
        t if t < 9.995e-7 => (1e9, "ns"),
        t if t < 9.995e-4 => (1e6, "µs"),
        t if t < 9.995e-1 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    let value = time * scale;
    format!("{value:.*} {unit}", decimals(value))
}

/// Escapes control characters, so that a name or message cannot move the cursor or break a line.
pub(crate) fn plain(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// Text with HTML's special characters escaped, for elements and quoted attributes.
pub(crate) fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Escapes characters with a meaning in Markdown.
pub(crate) fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    let text = plain(text);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // Inside a word an underscore needs no escape.
        let inside =
            |before: char, after: Option<&char>| before.is_alphanumeric() && after.is_some_and(|c| c.is_alphanumeric());
        if "\\`*[]<>|&~$".contains(c) || c == '_' && !inside(before, chars.peek()) {
            escaped.push('\\');
        }
        escaped.push(c);
        before = c;
    }
    escaped
}

/// Whether a call was prepared, as a word.
fn prepared(row: &Row) -> &'static str {
    match row.prepared {
        Some(true) => "yes",
        Some(false) => "no",
        None => "preparation",
    }
}

/// A column: its heading, its cells, and whether it holds figures.
struct Column {
    heading: &'static str,
    cell: fn(&Row) -> String,
    figure: bool,
}

const fn names(heading: &'static str, cell: fn(&Row) -> String) -> Column {
    Column { heading, cell, figure: false }
}

const fn figures(heading: &'static str, cell: fn(&Row) -> String) -> Column {
    Column { heading, cell, figure: true }
}

/// The names of a row. A table for the terminal prints once what is the same in all rows.
const SUBJECT: [Column; 6] = [
    names("backend", |row| row.backend.clone()),
    names("scenario", |row| row.scenario.clone()),
    names("operator", |row| row.operator.clone()),
    names("variant", |row| row.variant.clone()),
    names("prepared", |row| prepared(row).to_owned()),
    figures("size", |row| row.size.to_string()),
];

fn optional(figure: Option<f64>) -> String {
    figure.filter(|value| !value.is_nan()).map_or_else(String::new, three_digits)
}

fn spread(row: &Row) -> String {
    match (seconds(row.quantile_10), seconds(row.quantile_90)) {
        (low, high) if low.is_empty() && high.is_empty() => String::new(),
        (low, high) => format!("{low} – {high}"),
    }
}

const MEASURED: [Column; 7] = [
    figures("time", |row| if row.failed() { "failed".to_owned() } else { seconds(row.time) }),
    figures("median", |row| seconds(row.median)),
    figures("10 % – 90 %", spread),
    figures("calls", |row| optional(row.calls)),
    figures("allocs", |row| optional(row.allocs)),
    figures("bytes", |row| optional(row.bytes)),
    figures("samples × evals", |row| format!("{} × {}", row.samples, row.evals)),
];

fn grid(rows: &[Row], columns: &[&Column], preset: comfy_table::TableStyle, escape: fn(&str) -> String) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(preset).set_header(columns.iter().map(|column| column.heading));
    for row in rows {
        grid.add_row(columns.iter().map(|column| escape(&(column.cell)(row))));
    }
    for (printed, column) in grid.column_iter_mut().zip(columns) {
        printed.set_cell_alignment(if column.figure { CellAlignment::Right } else { CellAlignment::Left });
    }
    grid
}

impl fmt::Display for Table {
    /// For the terminal: names shared by all rows stand above the table, failures with their messages below.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.rows.split_first() else {
            return write!(f, "no rows");
        };
        let shared =
            |column: &Column| !rest.is_empty() && rest.iter().all(|row| (column.cell)(row) == (column.cell)(first));
        let (above, within): (Vec<_>, Vec<_>) = SUBJECT.iter().partition(|column| shared(column));
        if !above.is_empty() {
            let words = above.iter().map(|column| format!("{}: {}", column.heading, plain(&(column.cell)(first))));
            writeln!(f, "{}", words.collect::<Vec<_>>().join(", "))?;
        }
        let columns: Vec<_> = within.into_iter().chain(&MEASURED).collect();
        write!(f, "{}", grid(&self.rows, &columns, UTF8_FULL_CONDENSED, plain))?;
        for row in self.failures() {
            let Row { backend, scenario, variant, size, error, .. } = row;
            let message = error.as_deref().unwrap_or_default();
            let failure = format!("failed: {backend}, {scenario}, {variant}, size {size}: {message}");
            write!(f, "\n{}", plain(&failure))?;
        }
        Ok(())
    }
}

impl Table {
    /// Returns a Markdown table of all rows, figures rounded to three digits; with a column of errors if there are any.
    ///
    /// # Example
    /// ```
    /// use differentiation_interface_test::table::{Row, Table};
    ///
    /// let row = Row { size: 10, time: 2e-7, prepared: Some(true), ..Row::new("forward", "norm2", "gradient", "gradient") };
    /// let text = Table { rows: vec![row] }.to_markdown();
    /// assert!(text.lines().nth(2).unwrap().starts_with("| forward | norm2    | gradient | gradient | yes      |   10 | 200 ns |"));
    /// ```
    pub fn to_markdown(&self) -> String {
        const ERROR: Column = names("error", |row| row.error.clone().unwrap_or_default());
        let mut columns: Vec<_> = SUBJECT.iter().chain(&MEASURED).collect();
        if self.failures().next().is_some() {
            columns.push(&ERROR);
        }
        format!("{}\n", grid(&self.rows, &columns, ASCII_MARKDOWN, markdown))
    }
}
