//! Time against size, logarithmic on both axes: one line per backend, solid with a preparation and dashed without.
//!
//! Drawn by `plot.rs`; after Figure 2 of Dalle and Hill, "A Common Interface for Automatic Differentiation".

use super::ReportError;
use super::axis::LogAxis;
use super::canvas::{ALARM, Anchor, Canvas, GRID, INK, paint};
use super::subject::{Labelled, manner};
use crate::table::seconds;
use plotters::prelude::DrawingBackend;
use std::collections::BTreeMap;

const LEFT: f64 = 84.0;
const TOP: f64 = 48.0;
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 360.0;
const BELOW: f64 = 58.0;
const LINE: f64 = 18.0;

/// All rows of one backend, called one way.
struct Line {
    label: String,
    color: usize,
    prepared: bool,
    /// Fastest and 90 % quantile by size; `None` where the row failed.
    points: BTreeMap<usize, Option<(f64, f64)>>,
}

fn lines(rows: &[Labelled<'_>]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for Labelled { row, label, color } in rows {
        let prepared = row.prepared == Some(true);
        let found = lines.iter().position(|line| line.label == *label && line.prepared == prepared);
        let index = found.unwrap_or_else(|| {
            lines.push(Line { label: label.clone(), color: *color, prepared, points: BTreeMap::new() });
            lines.len() - 1
        });
        let drawable = row.time > 0.0 && row.time.is_finite();
        let high = if row.quantile_90.is_finite() { row.quantile_90.max(row.time) } else { row.time };
        lines[index].points.insert(row.size, drawable.then_some((row.time, high)));
    }
    lines
}

/// Rows that failed, in a few sentences at most.
fn failures(lines: &[Line]) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for line in lines {
        let sizes: Vec<_> =
            line.points.iter().filter(|(_, point)| point.is_none()).map(|(n, _)| n.to_string()).collect();
        if !sizes.is_empty() {
            let manner = manner(Some(line.prepared));
            sentences.push(format!("no time: {}, {manner}, at {}", line.label, sizes.join(", ")));
        }
    }
    if sentences.len() > 4 {
        let more = sentences.len() - 3;
        sentences.truncate(3);
        sentences.push(format!("no time: {more} more, in the table"));
    }
    sentences
}

/// Width of the legend, from its longest label: text is measured by the reader's font, so this is an estimate.
fn legend_width(lines: &[Line]) -> f64 {
    let longest = lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0).max(10);
    64.0 + 7.5 * longest as f64
}

fn legend_entries(lines: &[Line]) -> usize {
    lines.iter().map(|line| line.color + 1).max().unwrap_or(0) + 2
}

fn plot_height(lines: &[Line]) -> f64 {
    HEIGHT.max(legend_entries(lines) as f64 * LINE + LINE)
}

pub(super) fn size(rows: &[Labelled<'_>]) -> (f64, f64) {
    let lines = lines(rows);
    let below = BELOW + LINE * failures(&lines).len() as f64;
    (LEFT + WIDTH + legend_width(&lines), TOP + plot_height(&lines) + below)
}

pub(super) fn draw<B: DrawingBackend>(
    rows: &[Labelled<'_>],
    title: &str,
    canvas: &Canvas<B>,
) -> Result<(), ReportError> {
    let lines = lines(rows);
    let (right, bottom) = (LEFT + WIDTH, TOP + plot_height(&lines));
    let all = || lines.iter().flat_map(|line| &line.points).filter_map(|(n, point)| Some((*n as f64, (*point)?)));
    let x = LogAxis::around(all().map(|(n, _)| n), (LEFT, right));
    let y = LogAxis::around(all().flat_map(|(_, (time, high))| [time, high]), (bottom, TOP));

    canvas.text(title, (LEFT + WIDTH / 2.0, 24.0), Anchor::Middle, 16.0, INK.0)?;
    for tick in x.ticks() {
        canvas.line(&[(x.pixel(tick), TOP), (x.pixel(tick), bottom)], GRID.0, 1.0)?;
        canvas.text(&format!("{tick}"), (x.pixel(tick), bottom + 14.0), Anchor::Middle, 12.0, INK.0)?;
    }
    for tick in y.ticks() {
        canvas.line(&[(LEFT, y.pixel(tick)), (right, y.pixel(tick))], GRID.0, 1.0)?;
        canvas.text(&tick_label(tick), (LEFT - 8.0, y.pixel(tick)), Anchor::Right, 12.0, INK.0)?;
    }
    canvas.line(&[(LEFT, TOP), (LEFT, bottom), (right, bottom)], INK.0, 1.0)?;
    canvas.text("length of the point", (LEFT + WIDTH / 2.0, bottom + 36.0), Anchor::Middle, 13.0, INK.0)?;
    canvas.text("time per call", (18.0, (TOP + bottom) / 2.0), Anchor::Upwards, 13.0, INK.0)?;

    // Rings around dots, so that both are visible where they overlap.
    for prepared in [false, true] {
        for line in lines.iter().filter(|line| line.prepared == prepared) {
            draw_line(line, &x, &y, canvas)?;
        }
    }
    if all().next().is_none() {
        canvas.text("no times", (LEFT + WIDTH / 2.0, (TOP + bottom) / 2.0), Anchor::Middle, 16.0, ALARM.0)?;
    }
    legend(&lines, right, canvas)?;
    for (k, sentence) in failures(&lines).iter().enumerate() {
        canvas.text(sentence, (LEFT, bottom + BELOW + LINE * (k as f64 + 0.3)), Anchor::Left, 12.0, ALARM.0)?;
    }
    Ok(())
}

/// Ticks are powers of ten, or a digit times them, so that no decimals are needed.
fn tick_label(time: f64) -> String {
    seconds(time).replacen(".00 ", " ", 1).replacen(".0 ", " ", 1)
}

fn radius(prepared: bool) -> f64 {
    if prepared { 3.0 } else { 5.0 }
}

fn draw_line<B: DrawingBackend>(line: &Line, x: &LogAxis, y: &LogAxis, canvas: &Canvas<B>) -> Result<(), ReportError> {
    let color = paint(line.color);
    let points: Vec<_> =
        line.points.iter().map(|(n, point)| point.map(|(time, high)| (*n as f64, time, high))).collect();
    // A line has a gap where a point is missing.
    for piece in points.split(|point| point.is_none()) {
        let corners: Vec<_> = piece.iter().flatten().map(|&(n, time, _)| (x.pixel(n), y.pixel(time))).collect();
        if line.prepared {
            canvas.line(&corners, color, 2.0)?;
        } else {
            canvas.dashed(&corners, color, 2.0)?;
        }
        for &(n, time, high) in piece.iter().flatten() {
            canvas.line(&[(x.pixel(n), y.pixel(time)), (x.pixel(n), y.pixel(high))], color, 1.0)?;
        }
        for &corner in &corners {
            canvas.dot(corner, radius(line.prepared), color, line.prepared)?;
        }
    }
    Ok(())
}

/// Right of the plot: a colour per label, then the meaning of solid and dashed.
fn legend<B: DrawingBackend>(lines: &[Line], right: f64, canvas: &Canvas<B>) -> Result<(), ReportError> {
    let (start, end, text) = (right + 16.0, right + 44.0, right + 52.0);
    let mut height = TOP + LINE / 2.0;
    for color in 0..legend_entries(lines) - 2 {
        if let Some(line) = lines.iter().find(|line| line.color == color) {
            canvas.line(&[(start, height), (end, height)], paint(color), 3.0)?;
            canvas.text(&line.label, (text, height), Anchor::Left, 13.0, INK.0)?;
            height += LINE;
        }
    }
    height += LINE / 2.0;
    for prepared in [true, false] {
        if lines.iter().any(|line| line.prepared == prepared) {
            let middle = ((start + end) / 2.0, height);
            if prepared {
                canvas.line(&[(start, height), (end, height)], INK.0, 2.0)?;
            } else {
                canvas.dashed(&[(start, height), (end, height)], INK.0, 2.0)?;
            }
            canvas.dot(middle, radius(prepared), INK.0, prepared)?;
            canvas.text(manner(Some(prepared)), (text, height), Anchor::Left, 13.0, INK.0)?;
            height += LINE;
        }
    }
    Ok(())
}
