//! Bars of the times at one size, on a linear axis from zero, fastest first.
//!
//! Drawn by `plot.rs`.

use super::ReportError;
use super::axis::LinearAxis;
use super::canvas::{ALARM, Anchor, Canvas, GRID, INK, paint};
use super::subject::{Labelled, manner};
use crate::table::{Row, seconds};
use plotters::prelude::DrawingBackend;

const TOP: f64 = 48.0;
const WIDTH: f64 = 440.0;
/// Space for the figures in a column of their own.
const FIGURES: f64 = 84.0;
const LINE: f64 = 24.0;
const BELOW: f64 = 52.0;

/// Width of the labels, from the longest: text is measured by the reader's font, so this is an estimate.
fn left(rows: &[Labelled<'_>]) -> f64 {
    let longest = rows.iter().map(|bar| bar.label.chars().count() + manner(bar.row.prepared).len() + 2);
    24.0 + 7.3 * longest.max().unwrap_or(10) as f64
}

fn bottom(rows: &[Labelled<'_>]) -> f64 {
    TOP + LINE * rows.len().max(2) as f64 + 8.0
}

pub(super) fn size(rows: &[Labelled<'_>]) -> (f64, f64) {
    (left(rows) + WIDTH + FIGURES, bottom(rows) + BELOW)
}

/// The bar's end and the end of its spread.
fn extent(row: &Row) -> Option<(f64, f64)> {
    let high = if row.quantile_90.is_finite() { row.quantile_90.max(row.time) } else { row.time };
    (row.time >= 0.0 && row.time.is_finite()).then_some((row.time, high))
}

pub(super) fn draw<B: DrawingBackend>(
    rows: &[Labelled<'_>],
    title: &str,
    canvas: &Canvas<B>,
) -> Result<(), ReportError> {
    let (left, bottom) = (left(rows), bottom(rows));
    let right = left + WIDTH;
    let longest = rows.iter().filter_map(|bar| Some(extent(bar.row)?.0)).fold(0.0, f64::max);
    let axis = LinearAxis::to(1.1 * longest, (left, right));

    canvas.text(title, ((left + right) / 2.0, 24.0), Anchor::Middle, 16.0, INK.0)?;
    for tick in axis.ticks() {
        canvas.line(&[(axis.pixel(tick), TOP), (axis.pixel(tick), bottom)], GRID.0, 1.0)?;
        let label = if tick == 0.0 { "0".to_owned() } else { seconds(tick) };
        canvas.text(&label, (axis.pixel(tick), bottom + 14.0), Anchor::Middle, 12.0, INK.0)?;
    }
    canvas.text("time per call", ((left + right) / 2.0, bottom + 36.0), Anchor::Middle, 13.0, INK.0)?;
    for (k, Labelled { row, label, color }) in rows.iter().enumerate() {
        let middle = TOP + 4.0 + LINE * (k as f64 + 0.5);
        let label = format!("{label}, {}", manner(row.prepared));
        canvas.text(&label, (left - 8.0, middle), Anchor::Right, 13.0, INK.0)?;
        let Some((time, high)) = extent(row) else {
            let what = if row.failed() { "failed" } else { "not measured" };
            canvas.text(what, (left + 6.0, middle), Anchor::Left, 12.0, ALARM.0)?;
            continue;
        };
        let opacity = match row.prepared {
            Some(true) => 1.0,
            Some(false) => 0.0,
            None => 0.35,
        };
        canvas.bar((left, middle - 8.0), (axis.pixel(time), middle + 8.0), paint(*color), opacity)?;
        // A spread that one disturbed call has made long is cut at the border, so that it does not squeeze the bars.
        canvas.line(&[(axis.pixel(time), middle), (axis.pixel(high).min(right), middle)], INK.0, 1.0)?;
        canvas.text(&seconds(time), (right + 12.0, middle), Anchor::Left, 12.0, INK.0)?;
    }
    canvas.line(&[(left, TOP), (left, bottom)], INK.0, 1.0)?;
    if rows.is_empty() {
        canvas.text("no times", ((left + right) / 2.0, (TOP + bottom) / 2.0), Anchor::Middle, 16.0, ALARM.0)?;
    }
    Ok(())
}
