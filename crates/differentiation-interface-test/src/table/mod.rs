//! Benchmark results as rows: printed, filtered, written to files and read back.
//!
//! Made by the benchmark, which writes one [`Row`] per measurement and one per failure; drawn by the report.

#[cfg(feature = "table-io")]
mod files;
mod print;
mod row;
#[cfg(test)]
mod tests;

#[cfg(feature = "table-io")]
pub use files::TableError;
#[cfg(feature = "report")]
pub(crate) use print::plain;
pub use print::seconds;
pub(crate) use print::{escape_html, markdown};
pub use row::{COLUMNS, Row};

use std::cmp::Ordering;

/// Benchmark results, one [`Row`] per measurement or failure.
///
/// It prints as a table for the terminal and as [Markdown](Table::to_markdown); with the feature `table-io` it is written as CSV
/// and JSON and read back without loss.
///
/// # Example
/// ```
/// use differentiation_interface_test::table::{Row, Table};
///
/// let row = |backend, size, time| Row { size, time, ..Row::new(backend, "norm2", "gradient", "gradient_into") };
/// let table: Table = [row("forward", 10, 2e-7), row("reverse", 10, 9e-7), row("forward", 100, 5e-6)].into_iter().collect();
///
/// assert_eq!(table.filter(|row| row.size == 10).fastest().unwrap().backend, "forward");
/// let sizes = table.group_by(|row| row.size);
/// assert_eq!((sizes.len(), sizes[0].0, sizes[0].1.len()), (2, 10, 2));
/// assert!(table.to_string().contains("900 ns"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "table-io", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Table {
    /// The rows, in the order of measurement.
    pub rows: Vec<Row>,
}

/// Shortest first, unmeasured rows last.
pub(crate) fn by_time(a: &Row, b: &Row) -> Ordering {
    a.time.is_nan().cmp(&b.time.is_nan()).then(a.time.total_cmp(&b.time))
}

impl Table {
    /// The number of rows, failures included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows for which `keep` is true, in the same order.
    pub fn filter(&self, keep: impl FnMut(&&Row) -> bool) -> Table {
        self.rows.iter().filter(keep).cloned().collect()
    }

    /// The rows of failures.
    pub fn failures(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.failed())
    }

    /// The row with the shortest [`time`](Row::time); `None` if nothing was measured.
    pub fn fastest(&self) -> Option<&Row> {
        self.rows.iter().filter(|row| !row.time.is_nan()).min_by(|a, b| by_time(a, b))
    }

    /// Sorts the rows by [`time`](Row::time), shortest first; rows without one go last. Equal rows keep their order.
    pub fn sort_by_time(&mut self) {
        self.rows.sort_by(by_time);
    }

    /// The rows in groups of equal key. Groups and the rows in them are in the order of their first appearance.
    pub fn group_by<K: PartialEq>(&self, mut key: impl FnMut(&Row) -> K) -> Vec<(K, Vec<&Row>)> {
        let mut groups: Vec<(K, Vec<&Row>)> = Vec::new();
        for row in &self.rows {
            let key = key(row);
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((key, vec![row])),
            }
        }
        groups
    }
}

impl FromIterator<Row> for Table {
    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Table {
        Table { rows: rows.into_iter().collect() }
    }
}

impl Extend<Row> for Table {
    fn extend<I: IntoIterator<Item = Row>>(&mut self, rows: I) {
        self.rows.extend(rows);
    }
}

impl IntoIterator for Table {
    type Item = Row;
    type IntoIter = std::vec::IntoIter<Row>;
    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}

impl<'a> IntoIterator for &'a Table {
    type Item = &'a Row;
    type IntoIter = std::slice::Iter<'a, Row>;
    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter()
    }
}
