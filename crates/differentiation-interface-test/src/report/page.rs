//! One HTML file with plots and table: no network, no other file, light or dark like the reader's system.
//!
//! Called by users and by the command line; its plots are those of `plot.rs`.

use super::canvas::{ALARM, GRID, INK, PALETTE};
use super::subject::{groups, manner};
use super::{Plot, ReportError};
use crate::table::{Row, Table, escape_html, seconds};
use plotters::style::RGBColor;
use std::fmt::Write;
use std::path::Path;

/// An HTML page of a table.
///
/// For every scenario, operator and variant: time against size if there are several sizes, and bars at the largest. Then all rows,
/// sorted by a click on a heading and filtered by words. Rows that failed are marked, with their messages.
///
/// # Example
/// ```
/// use differentiation_interface_test::report::Page;
/// use differentiation_interface_test::table::{Row, Table};
///
/// let row = Row { size: 10, time: 2e-7, prepared: Some(true), ..Row::new("a < b", "norm2", "gradient", "gradient") };
/// let html = Page::new(&Table { rows: vec![row] }).title("Two backends").note("on a laptop").to_html()?;
/// assert!(html.starts_with("<!doctype html>") && html.contains("a &lt; b") && html.contains("200 ns"));
/// # Ok::<(), differentiation_interface_test::report::ReportError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Page<'a> {
    table: &'a Table,
    title: String,
    notes: Vec<String>,
}

fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// The rule that sets the colours of pictures on dark pages. `plotters` writes colours as attributes, which styles override.
fn dark_style() -> String {
    let mut style = "@media (prefers-color-scheme: dark) {\n  :root { --ink: #e4e7eb; --dim: #a3adb8; --paper: #14181d; --line: #3a414a; \
                     --alarm: #ff8580; }\n  figure svg [fill=\"#FFFFFF\"] { fill: var(--paper); }\n"
        .to_owned();
    for (light, dark) in PALETTE.iter().chain([&INK, &GRID, &ALARM]) {
        for attribute in ["fill", "stroke"] {
            let (light, dark) = (hex(*light), hex(*dark));
            style += &format!("  figure svg [{attribute}=\"{light}\"] {{ {attribute}: {dark}; }}\n");
        }
    }
    style + "}\n"
}

/// A heading, whether the column holds figures, the figure that rows are sorted by, and the text shown.
struct Column {
    heading: &'static str,
    value: Option<fn(&Row) -> f64>,
    shown: fn(&Row) -> String,
}

const fn text(heading: &'static str, shown: fn(&Row) -> String) -> Column {
    Column { heading, value: None, shown }
}

const fn figure(heading: &'static str, value: fn(&Row) -> f64, shown: fn(&Row) -> String) -> Column {
    Column { heading, value: Some(value), shown }
}

fn count(value: Option<f64>) -> String {
    value.filter(|v| !v.is_nan()).map_or_else(String::new, |v| format!("{}", (v * 100.0).round() / 100.0))
}

const COLUMNS: [Column; 16] = [
    text("backend", |row| row.backend.clone()),
    text("scenario", |row| row.scenario.clone()),
    text("operator", |row| row.operator.clone()),
    text("variant", |row| row.variant.clone()),
    text("called", |row| manner(row.prepared).to_owned()),
    figure("size", |row| row.size as f64, |row| row.size.to_string()),
    figure("time", |row| row.time, |row| if row.failed() { "failed".to_owned() } else { seconds(row.time) }),
    figure("median", |row| row.median, |row| seconds(row.median)),
    figure("10 %", |row| row.quantile_10, |row| seconds(row.quantile_10)),
    figure("90 %", |row| row.quantile_90, |row| seconds(row.quantile_90)),
    figure("calls of f", |row| row.calls.unwrap_or(f64::NAN), |row| count(row.calls)),
    figure("allocs", |row| row.allocs.unwrap_or(f64::NAN), |row| count(row.allocs)),
    figure("bytes", |row| row.bytes.unwrap_or(f64::NAN), |row| count(row.bytes)),
    figure("samples", |row| row.samples as f64, |row| row.samples.to_string()),
    figure("evals", |row| row.evals as f64, |row| row.evals.to_string()),
    text("error", |row| row.error.clone().unwrap_or_default()),
];

impl<'a> Page<'a> {
    /// A page of all rows of a table.
    pub fn new(table: &'a Table) -> Page<'a> {
        Page { table, title: "Benchmark of differentiation backends".to_owned(), notes: Vec::new() }
    }

    /// Sets the heading of the page.
    pub fn title(mut self, title: impl Into<String>) -> Page<'a> {
        self.title = title.into();
        self
    }

    /// Adds a line below the heading, such as the machine or the command.
    pub fn note(mut self, note: impl Into<String>) -> Page<'a> {
        self.notes.push(note.into());
        self
    }

    /// Returns the page.
    ///
    /// # Errors
    /// [`ReportError::Drawing`] if `plotters` fails.
    pub fn to_html(&self) -> Result<String, ReportError> {
        let title = escape_html(&self.title);
        let notes: String =
            self.notes.iter().map(|note| format!("<p class=\"notes\">{}</p>\n", escape_html(note))).collect();
        let (style, script) = (include_str!("page.css"), include_str!("page.js"));
        let (dark, summary, plots, rows) = (dark_style(), self.summary(), self.plots()?, self.rows());
        Ok(format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
             <style>\n{style}{dark}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{notes}{summary}{plots}<h2>All rows</h2>\n\
             <label>Rows with the words <input type=\"search\"></label>\n{rows}\n<script>\n{script}</script>\n</body>\n</html>\n"
        ))
    }

    /// Writes the page to a file.
    ///
    /// # Errors
    /// [`ReportError::File`] if the file cannot be written, else those of [`to_html`](Page::to_html).
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        std::fs::write(path, self.to_html()?).map_err(|source| ReportError::File { path: path.to_owned(), source })
    }

    fn summary(&self) -> String {
        let (rows, failed) = (self.table.len(), self.table.failures().count());
        let failed = match failed {
            0 => "none failed".to_owned(),
            n => format!("<strong class=\"alarm\">{n} failed</strong>"),
        };
        format!("<p class=\"summary\">{rows} rows, {failed}. A time is that of the fastest sample.</p>\n")
    }

    /// The plots of every scenario, operator and variant; collapsed if there are many.
    fn plots(&self) -> Result<String, ReportError> {
        let groups = groups(self.table);
        let open = if groups.len() <= 4 { " open" } else { "" };
        let mut html = String::new();
        for group in groups {
            let (largest, several) = group.sizes();
            let _ = writeln!(
                html,
                "<details{open}><summary>{}</summary><div class=\"pictures\">",
                escape_html(&group.heading)
            );
            if several {
                html += &inline(&group.heading, Plot::scaling_of(&group.rows), "time against length")?;
            }
            let bars = Plot::bars_of(&group.rows, largest);
            html += &inline(&group.heading, bars, &format!("points of length {largest}"))?;
            html += "</div></details>\n";
        }
        Ok(html)
    }

    fn rows(&self) -> String {
        let mut html = "<div class=\"table\"><table>\n<thead><tr>".to_owned();
        let class = |column: &Column| if column.value.is_some() { " class=\"figure\"" } else { "" };
        for column in &COLUMNS {
            let _ = write!(html, "<th{}><button type=\"button\">{}</button></th>", class(column), column.heading);
        }
        html += "</tr></thead>\n<tbody>\n";
        for row in self.table {
            html += if row.failed() { "<tr class=\"failed\">" } else { "<tr>" };
            for column in &COLUMNS {
                let shown = escape_html(&(column.shown)(row));
                let _ = match column.value.map(|value| value(row)) {
                    Some(value) if value.is_finite() => {
                        write!(html, "<td class=\"figure\" data-value=\"{value:e}\">{shown}</td>")
                    }
                    Some(_) => write!(html, "<td class=\"figure\">{shown}</td>"),
                    None if column.heading == "error" => write!(html, "<td class=\"error\">{shown}</td>"),
                    None => write!(html, "<td>{shown}</td>"),
                };
            }
            html += "</tr>\n";
        }
        html + "</tbody>\n</table></div>"
    }
}

/// A plot in the page, with a description for readers who do not see it.
fn inline(heading: &str, plot: Plot<'_>, title: &str) -> Result<String, ReportError> {
    let label = escape_html(&format!("{heading}: {title}"));
    let svg = plot.title(title).to_svg()?.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{label}\" "), 1);
    Ok(format!("<figure>{svg}</figure>\n"))
}
