//! A picture of a table, as SVG or PNG.
//!
//! Called by users and by `page.rs`; drawn by `scaling.rs` or `bars.rs`.

use super::canvas::Canvas;
use super::subject::{Group, Labelled, groups, labelled};
use super::{ReportError, bars, scaling};
use crate::table::{Row, Table, by_time, plain};
use plotters::prelude::{BitMapBackend, DrawingBackend, IntoDrawingArea, SVGBackend};
use std::path::Path;

/// A picture of benchmark rows: time against size, or bars at one size.
///
/// One colour per backend (per backend, scenario and variant, if the rows have several); calls with a preparation are solid,
/// calls without are dashed or hollow. A point is the fastest sample, and a thin line extends to the 90 % quantile. Rows
/// with an error are named below the picture, and a line has a gap where one is missing.
///
/// # Example
/// ```
/// use differentiation_interface_test::report::Plot;
/// use differentiation_interface_test::table::{Row, Table};
///
/// let row = |size: usize, prepared| Row {
///     size,
///     time: 1e-9 * size as f64,
///     prepared: Some(prepared),
///     ..Row::new("forward_diff", "norm2", "gradient", "gradient")
/// };
/// let table = Table { rows: vec![row(10, true), row(100, true), row(10, false), row(100, false)] };
/// let svg = Plot::time_against_size(&table).title("Gradient of ||x||²").to_svg()?;
/// assert!(svg.starts_with("<svg") && svg.contains("Gradient of ||x||²") && svg.contains("forward_diff"));
/// # Ok::<(), differentiation_interface_test::report::ReportError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plot<'a> {
    rows: Vec<Labelled<'a>>,
    title: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Scaling,
    Bars,
}

impl<'a> Plot<'a> {
    /// Time per call against the length of the point, both logarithmic, one line per backend and with or without preparation.
    /// Rows that time a preparation are left out.
    pub fn time_against_size(table: &'a Table) -> Plot<'a> {
        Plot::scaling_of(&table.rows.iter().collect::<Vec<_>>())
    }

    /// Bars of the rows with points of this length, fastest first, preparations included.
    pub fn bars(table: &'a Table, size: usize) -> Plot<'a> {
        Plot::bars_of(&table.rows.iter().collect::<Vec<_>>(), size)
    }

    /// A picture of every variant on every scenario, with its name: time against size if there are several sizes,
    /// otherwise bars.
    ///
    /// # Example
    /// ```
    /// use differentiation_interface_test::report::Plot;
    /// use differentiation_interface_test::table::{Row, Table};
    ///
    /// let row = |variant| Row { prepared: Some(true), time: 1e-6, ..Row::new("forward_diff", "norm2", "gradient", variant) };
    /// let table = Table { rows: vec![row("gradient"), row("gradient_into")] };
    /// let names: Vec<_> = Plot::of_each_variant(&table).into_iter().map(|(name, _)| name).collect();
    /// assert_eq!(names, ["norm2: gradient", "norm2: gradient_into"]);
    /// ```
    pub fn of_each_variant(table: &'a Table) -> Vec<(String, Plot<'a>)> {
        let picture = |group: Group<'a>| match group.sizes() {
            (_, true) => (group.heading.clone(), Plot::scaling_of(&group.rows).title(group.heading)),
            (size, false) => {
                let title = format!("{}, length {size}", group.heading);
                (group.heading, Plot::bars_of(&group.rows, size).title(title))
            }
        };
        groups(table).into_iter().map(picture).collect()
    }

    pub(super) fn scaling_of(rows: &[&'a Row]) -> Plot<'a> {
        let mut rows = labelled(rows);
        rows.retain(|line| line.row.prepared.is_some() && line.row.size > 0);
        Plot { rows, title: String::new(), kind: Kind::Scaling }
    }

    /// The colours are those of all rows, so that plots of other sizes use the same.
    pub(super) fn bars_of(rows: &[&'a Row], size: usize) -> Plot<'a> {
        let mut rows = labelled(rows);
        rows.retain(|bar| bar.row.size == size);
        rows.sort_by(|a, b| by_time(a.row, b.row));
        Plot { rows, title: String::new(), kind: Kind::Bars }
    }

    /// Sets the title above the picture; without it there is none. PNG files have Latin, Greek and Cyrillic letters and few symbols; SVG files
    /// use those of the reader's font.
    pub fn title(mut self, title: impl AsRef<str>) -> Plot<'a> {
        self.title = plain(title.as_ref());
        self
    }

    /// Returns the picture as SVG text. Equal rows give equal text.
    ///
    /// # Errors
    /// [`ReportError::Drawing`] if `plotters` fails.
    pub fn to_svg(&self) -> Result<String, ReportError> {
        let mut text = String::new();
        self.draw(SVGBackend::with_string(&mut text, self.pixels(1.0)), 1.0)?;
        Ok(text)
    }

    /// Writes the picture to an SVG file.
    ///
    /// # Errors
    /// [`ReportError::File`] if the file cannot be written, else those of [`to_svg`](Plot::to_svg).
    pub fn write_svg(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        std::fs::write(path, self.to_svg()?).map_err(|source| ReportError::File { path: path.to_owned(), source })
    }

    /// Writes the picture to a PNG file, with two pixels where the SVG has one; the name must end in `.png`.
    ///
    /// # Errors
    /// [`ReportError::Drawing`] if `plotters` fails or the file cannot be written.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        const SHARP: f64 = 2.0;
        let path = path.as_ref();
        self.draw(BitMapBackend::new(path, self.pixels(SHARP)), SHARP).map_err(|error| match error {
            ReportError::Drawing { message } => {
                ReportError::Drawing { message: format!("{}: {message}", path.display()) }
            }
            other => other,
        })
    }

    fn pixels(&self, scale: f64) -> (u32, u32) {
        let (width, height) = match self.kind {
            Kind::Scaling => scaling::size(&self.rows),
            Kind::Bars => bars::size(&self.rows),
        };
        ((width * scale).round() as u32, (height * scale).round() as u32)
    }

    fn draw<B: DrawingBackend>(&self, backend: B, scale: f64) -> Result<(), ReportError> {
        let canvas = Canvas::new(backend.into_drawing_area(), scale)?;
        match self.kind {
            Kind::Scaling => scaling::draw(&self.rows, &self.title, &canvas)?,
            Kind::Bars => bars::draw(&self.rows, &self.title, &canvas)?,
        }
        canvas.finish()
    }
}
