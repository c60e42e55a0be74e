//! Labels of lines and bars: the names in which the rows of a plot differ.
//!
//! Called by `plot.rs` for labels, and by `page.rs` to group rows into pictures.

use crate::table::{Row, Table, plain};

/// Whether a row times a preparation, which belongs to all variants of its operator.
fn is_preparation(row: &Row) -> bool {
    row.prepared.is_none() && !row.failed()
}

/// The names of a row, backend first; a preparation has no variant.
fn names(row: &Row) -> [Option<&str>; 4] {
    let variant = (!is_preparation(row)).then_some(row.variant.as_str());
    [Some(&row.backend), Some(&row.scenario), Some(&row.operator), variant]
}

/// Which of the names differ within these rows; the backend always counts, and the operator does not where the variant names it.
fn differing(rows: &[&Row]) -> [bool; 4] {
    let mut differ = [true, false, false, false];
    for (k, differ) in differ.iter_mut().enumerate().skip(1) {
        let known: Vec<_> = rows.iter().filter_map(|row| names(row)[k]).collect();
        *differ = known.windows(2).any(|pair| pair[0] != pair[1]);
    }
    differ[2] &= !differ[3];
    differ
}

/// The rows of one picture: one variant on one scenario, with its preparations.
pub(super) struct Group<'a> {
    pub(super) heading: String,
    pub(super) rows: Vec<&'a Row>,
}

/// The groups of a table, in order of appearance.
pub(super) fn groups(table: &Table) -> Vec<Group<'_>> {
    let key = |row: &Row| [&row.scenario, &row.operator, &row.variant].map(String::clone);
    let calls: Vec<_> = table.rows.iter().filter(|row| !is_preparation(row)).collect();
    let serves =
        |row: &&Row, [scenario, operator, _]: &[String; 3]| row.scenario == *scenario && row.operator == *operator;
    let mut groups: Vec<([String; 3], Vec<&Row>)> = Vec::new();
    for row in &table.rows {
        let key = key(row);
        let has_calls = calls.iter().any(|call| serves(call, &key));
        match groups.iter_mut().find(|(known, _)| *known == key) {
            _ if is_preparation(row) && has_calls => {}
            Some((_, rows)) => rows.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    for (key, rows) in &mut groups {
        if !is_preparation(rows[0]) {
            rows.extend(table.rows.iter().filter(|row| is_preparation(row) && serves(row, key)));
        }
    }
    let heading = |[scenario, operator, variant]: [String; 3]| match variant.contains(&operator) {
        true => format!("{scenario}: {variant}"),
        false => format!("{scenario}: {operator}, {variant}"),
    };
    groups.into_iter().map(|(key, rows)| Group { heading: heading(key), rows }).collect()
}

impl Group<'_> {
    /// The largest size, and whether calls have others.
    pub(super) fn sizes(&self) -> (usize, bool) {
        let largest = self.rows.iter().map(|row| row.size).max().unwrap_or(0);
        (largest, self.rows.iter().any(|row| row.prepared.is_some() && row.size < largest))
    }
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
        parts.filter_map(|(name, _)| name.map(plain)).collect::<Vec<_>>().join(" · ")
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

/// How a row was called, as legends name it.
pub(super) fn manner(prepared: Option<bool>) -> &'static str {
    match prepared {
        Some(true) => "prepared",
        Some(false) => "unprepared",
        None => "preparation",
    }
}
