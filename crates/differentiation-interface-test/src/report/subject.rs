//! What a line or bar is about: the names in which the rows of a plot differ.
//!
//! Called by `scaling.rs` and `bars.rs`, and by `page.rs` for headings.

use crate::table::{Row, plain};

/// The names of a row, backend first.
fn names(row: &Row) -> [&str; 4] {
    [&row.backend, &row.scenario, &row.operator, &row.variant]
}

/// Which of the names differ within these rows; the backend always counts, and the operator does not where the variant names it.
fn differing(rows: &[&Row]) -> [bool; 4] {
    let mut differ = [true, false, false, false];
    for (k, differ) in differ.iter_mut().enumerate().skip(1) {
        *differ = rows.windows(2).any(|pair| names(pair[0])[k] != names(pair[1])[k]);
    }
    differ[2] &= !differ[3];
    differ
}

/// A row with its label, and the number of its colour: equal for equal labels, counted in order of appearance.
#[derive(Clone, Debug)]
pub(super) struct Labelled<'a> {
    pub(super) row: &'a Row,
    pub(super) label: String,
    pub(super) color: usize,
}

/// Labels the rows of a plot.
pub(super) fn labelled<'a>(rows: &[&'a Row]) -> Vec<Labelled<'a>> {
    let differ = differing(rows);
    let mut known: Vec<String> = Vec::new();
    let label = |row: &&Row| {
        let parts = names(row).into_iter().zip(differ).filter(|(_, differ)| *differ);
        parts.map(|(name, _)| plain(name)).collect::<Vec<_>>().join(" · ")
    };
    rows.iter()
        .map(|&row| {
            let label = label(&row);
            let color = known.iter().position(|l| *l == label).unwrap_or_else(|| {
                known.push(label.clone());
                known.len() - 1
            });
            Labelled { row, label, color }
        })
        .collect()
}

/// How a row was called, as it stands in legends.
pub(super) fn manner(prepared: Option<bool>) -> &'static str {
    match prepared {
        Some(true) => "prepared",
        Some(false) => "unprepared",
        None => "preparation",
    }
}
