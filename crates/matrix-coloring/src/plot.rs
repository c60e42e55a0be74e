//! Pictures of patterns and colourings (feature `plot`), through `plotters`.
//!
//! A spy plot: one square per entry, coloured like the product it is read from, with a strip of the column colours above
//! and of the row colours to the left. Matrices larger than the picture are binned.

use std::collections::BTreeMap;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::NEUTRAL;
use crate::error::{Error, ErrorKind};
use crate::pattern::Pattern;
use crate::recovery::{alone_in_line, count_colors};

/// A picture of a pattern, to be written as SVG or PNG.
///
/// # Example
/// ```
/// use matrix_coloring::{Column, GreedyColoring, Pattern, Picture, coloring};
///
/// let pattern = Pattern::banded(6, 1)?;
/// let result = coloring(&pattern, Column, &GreedyColoring::default())?;
/// let svg = Picture::new(&pattern).column_colors(result.column_colors())?.to_svg()?;
/// // The background, 16 entries, and a strip of 6 column colours.
/// assert_eq!(svg.matches("<rect").count(), 1 + 16 + 6);
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    pattern: &'a Pattern,
    columns: Option<&'a [u32]>,
    rows: Option<&'a [u32]>,
    pixels: u32,
}

fn external(error: impl ToString) -> Error {
    ErrorKind::External { what: "drawing a pattern", message: error.to_string() }.into()
}

/// Colour number `c`: hues by the golden angle, so that neighbouring numbers look different.
fn hue(c: u32) -> RGBColor {
    let golden = f64::from(c) * 0.618_033_988_749_895;
    let lightness = [0.45, 0.62, 0.34][c as usize / 8 % 3];
    let (r, g, b) = HSLColor((golden + 0.58).fract(), 0.65, lightness).rgb();
    RGBColor(r, g, b)
}

const INK: RGBColor = RGBColor(40, 40, 40);
const GREY: RGBColor = RGBColor(190, 190, 190);

fn paint(c: u32) -> RGBColor {
    if c == NEUTRAL { GREY } else { hue(c) }
}

impl<'a> Picture<'a> {
    /// A picture of the pattern alone, at most 600 pixels wide and high.
    pub fn new(pattern: &'a Pattern) -> Picture<'a> {
        Picture { pattern, columns: None, rows: None, pixels: 600 }
    }

    /// Shows column colours (of column, symmetric and bidirectional colourings).
    ///
    /// # Errors
    /// [`ErrorKind::Length`] if there is not one per column.
    pub fn column_colors(mut self, colors: &'a [u32]) -> Result<Picture<'a>, Error> {
        count_colors("column colours", colors, self.pattern.ncols())?;
        self.columns = Some(colors);
        Ok(self)
    }

    /// Shows row colours (of row and bidirectional colourings).
    ///
    /// # Errors
    /// [`ErrorKind::Length`] if there is not one per row.
    pub fn row_colors(mut self, colors: &'a [u32]) -> Result<Picture<'a>, Error> {
        count_colors("row colours", colors, self.pattern.nrows())?;
        self.rows = Some(colors);
        Ok(self)
    }

    /// Sets the largest width and height, 50 at least.
    pub fn pixels(mut self, pixels: u32) -> Picture<'a> {
        self.pixels = pixels.max(50);
        self
    }

    /// Returns the picture as SVG text.
    ///
    /// # Errors
    /// [`ErrorKind::External`] if `plotters` fails.
    pub fn to_svg(&self) -> Result<String, Error> {
        let mut text = String::new();
        let grid = self.grid();
        self.draw(&grid, SVGBackend::with_string(&mut text, grid.size()).into_drawing_area())?;
        Ok(text)
    }

    /// Writes the picture to an SVG file.
    ///
    /// # Errors
    /// [`ErrorKind::External`] if the file cannot be written.
    pub fn write_svg(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        std::fs::write(path, self.to_svg()?).map_err(external)
    }

    /// Writes the picture to a PNG file; the name must end in `.png`.
    ///
    /// # Errors
    /// [`ErrorKind::External`] if the file cannot be written.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let grid = self.grid();
        self.draw(&grid, BitMapBackend::new(path.as_ref(), grid.size()).into_drawing_area())
    }

    fn grid(&self) -> Grid {
        let (m, n) = (self.pattern.nrows().max(1), self.pattern.ncols().max(1));
        let pixels = self.pixels as usize - 2 * MARGIN as usize - STRIP as usize;
        let bin = m.max(n).div_ceil(pixels);
        let (rows, columns) = (m.div_ceil(bin), n.div_ceil(bin));
        let cell = (pixels / rows.max(columns)).clamp(1, 24) as i32;
        Grid { bin, rows: rows as i32, columns: columns as i32, cell }
    }

    /// The colour of every bin with an entry; the first entry of a bin decides.
    fn cells(&self, grid: &Grid) -> BTreeMap<(usize, usize), RGBColor> {
        let p = self.pattern;
        let ncolors = |colors: &[u32]| colors.iter().filter(|&&c| c != NEUTRAL).max().map_or(0, |&c| c as usize + 1);
        let alone = match (self.columns, self.rows) {
            (Some(columns), Some(_)) => alone_in_line(p.rows(), columns, ncolors(columns)),
            _ => Vec::new(),
        };
        let mut cells = BTreeMap::new();
        for (k, (i, j)) in p.entries().enumerate() {
            let color = match (self.columns, self.rows) {
                (None, None) => INK,
                (Some(columns), None) => paint(columns[j]),
                (None, Some(rows)) => paint(rows[i]),
                (Some(columns), Some(_)) if alone[k] => paint(columns[j]),
                (Some(columns), Some(rows)) => {
                    paint(if rows[i] == NEUTRAL { NEUTRAL } else { ncolors(columns) as u32 + rows[i] })
                }
            };
            cells.entry((i / grid.bin, j / grid.bin)).or_insert(color);
        }
        cells
    }

    fn draw<B: DrawingBackend>(&self, grid: &Grid, area: DrawingArea<B, Shift>) -> Result<(), Error> {
        area.fill(&WHITE).map_err(external)?;
        let square = |x: i32, y: i32, width: i32, height: i32, color: RGBColor| {
            area.draw(&Rectangle::new([(x, y), (x + width, y + height)], color.filled())).map_err(external)
        };
        let (left, top, cell) = (MARGIN + STRIP, MARGIN + STRIP, grid.cell);
        // Cells of at least 4 pixels leave a gap to the next one.
        let side = if cell >= 4 { cell - 1 } else { cell };
        for ((i, j), color) in self.cells(grid) {
            square(left + j as i32 * cell, top + i as i32 * cell, side, side, color)?;
        }
        let shift = match (self.columns, self.rows) {
            (Some(columns), Some(_)) => count_colors("column colours", columns, columns.len())? as u32,
            _ => 0,
        };
        for (j, &c) in self.columns.into_iter().flatten().enumerate().step_by(grid.bin) {
            square(left + (j / grid.bin) as i32 * cell, MARGIN, side, STRIP - 4, paint(c))?;
        }
        for (i, &c) in self.rows.into_iter().flatten().enumerate().step_by(grid.bin) {
            let color = if c == NEUTRAL { GREY } else { hue(shift + c) };
            square(MARGIN, top + (i / grid.bin) as i32 * cell, STRIP - 4, side, color)?;
        }
        area.present().map_err(external)
    }
}

const MARGIN: i32 = 6;
const STRIP: i32 = 14;

/// How entries map to squares.
struct Grid {
    bin: usize,
    rows: i32,
    columns: i32,
    cell: i32,
}

impl Grid {
    fn size(&self) -> (u32, u32) {
        let length = |count: i32| (2 * MARGIN + STRIP + count * self.cell) as u32;
        (length(self.columns), length(self.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bidirectional, Direct, GreedyColoring, coloring};

    fn rectangles(picture: &Picture<'_>) -> usize {
        picture.to_svg().unwrap().matches("<rect").count() - 1
    }

    #[test]
    fn one_square_per_entry_and_per_colored_line() {
        let p = Pattern::from_fn(9, 7, |i, j| i == 0 || j == 0 || i == j).unwrap();
        assert_eq!(rectangles(&Picture::new(&p)), p.nnz());
        let result = coloring(&p, Bidirectional(Direct), &GreedyColoring::default()).unwrap();
        let picture = Picture::new(&p).column_colors(result.column_colors()).unwrap();
        assert_eq!(rectangles(&picture), p.nnz() + 7);
        let picture = picture.row_colors(result.row_colors()).unwrap();
        assert_eq!(rectangles(&picture), p.nnz() + 7 + 9);
        assert!(Picture::new(&p).row_colors(&[0; 3]).is_err());
    }

    #[test]
    fn entries_of_one_color_look_the_same_and_others_do_not() {
        let p = Pattern::from_fn(1, 3, |_, _| true).unwrap();
        let svg = |colors: &[u32]| Picture::new(&p).column_colors(colors).unwrap().to_svg().unwrap();
        let fills = |colors: &[u32]| {
            let svg = svg(colors);
            let mut fills: Vec<_> = svg.split("fill=\"").skip(2).map(|s| s[..7].to_owned()).collect();
            fills.sort();
            fills.dedup();
            fills.len()
        };
        assert_eq!((fills(&[0, 0, 0]), fills(&[0, 1, 2]), fills(&[0, NEUTRAL, 0])), (1, 3, 2));
    }

    #[test]
    fn large_and_empty_matrices_fit_the_picture() {
        let p = Pattern::banded(5000, 2).unwrap();
        let picture = Picture::new(&p).pixels(200);
        let (width, height) = picture.grid().size();
        assert!(width <= 200 && height <= 200);
        assert!(rectangles(&picture) < 1000);
        assert_eq!(rectangles(&Picture::new(&Pattern::from_triplets(0, 0, []).unwrap())), 0);
    }

    #[test]
    fn png_files_are_written() {
        let path = std::env::temp_dir().join(format!("matrix-coloring-{}.png", std::process::id()));
        Picture::new(&Pattern::banded(8, 1).unwrap()).write_png(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(bytes[..4], [0x89, b'P', b'N', b'G']);
        let error = Picture::new(&Pattern::banded(8, 1).unwrap()).write_png("/no/such/folder/a.png").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::External { .. }));
    }
}
