//! The drawing surface of plots: lines, dots, bars and text in pixels, on any backend of `plotters`.
//!
//! Called by `plot.rs`, which makes one per file; defines the colours and the font.

use super::ReportError;
use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Rectangle};
use plotters::prelude::{DrawingArea, DrawingBackend, IntoFont, RGBColor, ShapeStyle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, TextStyle, WHITE, register_font};
use std::sync::OnceLock;

/// Colours of backends, distinguishable with any colour vision (Okabe and Ito), and the same for dark pages.
pub(super) const PALETTE: [(RGBColor, RGBColor); 7] = [
    (RGBColor(0x00, 0x72, 0xB2), RGBColor(0x56, 0xB4, 0xE9)),
    (RGBColor(0xD5, 0x5E, 0x00), RGBColor(0xFF, 0x8A, 0x3D)),
    (RGBColor(0x00, 0x8F, 0x6B), RGBColor(0x2F, 0xD0, 0xA2)),
    (RGBColor(0xB8, 0x4F, 0x8F), RGBColor(0xE8, 0x9A, 0xC7)),
    (RGBColor(0xB8, 0x7D, 0x00), RGBColor(0xF0, 0xB8, 0x40)),
    (RGBColor(0x6A, 0x4C, 0xC0), RGBColor(0xB0, 0x9C, 0xFF)),
    (RGBColor(0x6B, 0x6B, 0x6B), RGBColor(0xA8, 0xA8, 0xA8)),
];
/// Text and axes.
pub(super) const INK: (RGBColor, RGBColor) = (RGBColor(0x22, 0x26, 0x2B), RGBColor(0xE4, 0xE7, 0xEB));
/// Lines of the grid.
pub(super) const GRID: (RGBColor, RGBColor) = (RGBColor(0xDD, 0xE1, 0xE6), RGBColor(0x3A, 0x41, 0x4A));
/// Failures.
pub(super) const ALARM: (RGBColor, RGBColor) = (RGBColor(0xB3, 0x1D, 0x28), RGBColor(0xFF, 0x85, 0x80));

/// The colour of backend number `index`.
pub(super) fn paint(index: usize) -> RGBColor {
    PALETTE[index % PALETTE.len()].0
}

/// The only font of pictures, built in: `plotters` measures and draws with it, SVG files name it and use the reader's.
const FONT: &str = "sans-serif";

fn font_is_there() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT).is_ok())
}

pub(super) fn drawing(error: impl ToString) -> ReportError {
    ReportError::Drawing { message: error.to_string() }
}

/// Which point of a text its coordinates are.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Left,
    Middle,
    Right,
    /// Rotated by 90°, reading upwards.
    Upwards,
}

/// A drawing area on which one unit is `scale` pixels.
pub(super) struct Canvas<B: DrawingBackend> {
    area: DrawingArea<B, Shift>,
    scale: f64,
}

impl<B: DrawingBackend> Canvas<B> {
    pub(super) fn new(area: DrawingArea<B, Shift>, scale: f64) -> Result<Canvas<B>, ReportError> {
        if !font_is_there() {
            return Err(drawing("the built-in font cannot be read"));
        }
        area.fill(&WHITE).map_err(drawing)?;
        Ok(Canvas { area, scale })
    }

    fn length(&self, units: f64) -> i32 {
        (units * self.scale).round() as i32
    }

    fn point(&self, (x, y): (f64, f64)) -> (i32, i32) {
        (self.length(x), self.length(y))
    }

    fn stroke(&self, color: RGBColor, width: f64) -> ShapeStyle {
        color.stroke_width(self.length(width).max(1) as u32)
    }

    pub(super) fn line(&self, points: &[(f64, f64)], color: RGBColor, width: f64) -> Result<(), ReportError> {
        let points: Vec<_> = points.iter().map(|&point| self.point(point)).collect();
        self.area.draw(&PathElement::new(points, self.stroke(color, width))).map_err(drawing)
    }

    /// A dashed line that continues around corners.
    pub(super) fn dashed(&self, points: &[(f64, f64)], color: RGBColor, width: f64) -> Result<(), ReportError> {
        const DASH: f64 = 6.0;
        const PERIOD: f64 = 10.0;
        let mut before = 0.0;
        for corner in points.windows(2) {
            let (start, end) = (corner[0], corner[1]);
            let length = (end.0 - start.0).hypot(end.1 - start.1);
            let at = |along: f64| {
                let share = (along / length).clamp(0.0, 1.0);
                (start.0 + share * (end.0 - start.0), start.1 + share * (end.1 - start.1))
            };
            let mut dash = -(before % PERIOD);
            while dash < length {
                if dash + DASH > 0.0 {
                    self.line(&[at(dash), at(dash + DASH)], color, width)?;
                }
                dash += PERIOD;
            }
            before += length;
        }
        Ok(())
    }

    /// A dot; a hollow one hides the lines behind it up to its edge.
    pub(super) fn dot(
        &self,
        center: (f64, f64),
        radius: f64,
        color: RGBColor,
        filled: bool,
    ) -> Result<(), ReportError> {
        let inside = if filled { color.filled() } else { WHITE.filled() };
        let (center, radius) = (self.point(center), self.length(radius));
        self.area.draw(&Circle::new(center, radius, inside)).map_err(drawing)?;
        self.area.draw(&Circle::new(center, radius, self.stroke(color, 1.5))).map_err(drawing)
    }

    pub(super) fn bar(
        &self,
        corner: (f64, f64),
        opposite: (f64, f64),
        color: RGBColor,
        opacity: f64,
    ) -> Result<(), ReportError> {
        let corners = [self.point(corner), self.point(opposite)];
        self.area.draw(&Rectangle::new(corners, color.mix(opacity).filled())).map_err(drawing)?;
        self.area.draw(&Rectangle::new(corners, self.stroke(color, 1.0))).map_err(drawing)
    }

    pub(super) fn text(
        &self,
        text: &str,
        at: (f64, f64),
        anchor: Anchor,
        size: f64,
        color: RGBColor,
    ) -> Result<(), ReportError> {
        let font = (FONT, size * 1.24 * self.scale).into_font();
        let (font, horizontal) = match anchor {
            Anchor::Left => (font, HPos::Left),
            Anchor::Middle => (font, HPos::Center),
            Anchor::Right => (font, HPos::Right),
            Anchor::Upwards => (font.transform(FontTransform::Rotate270), HPos::Center),
        };
        let style = TextStyle::from(font).color(&color).pos(Pos::new(horizontal, VPos::Center));
        self.area.draw_text(text, &style, self.point(at)).map_err(drawing)
    }

    pub(super) fn finish(&self) -> Result<(), ReportError> {
        self.area.present().map_err(drawing)
    }
}
