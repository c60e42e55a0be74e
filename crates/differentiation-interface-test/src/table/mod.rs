//! Benchmark results as rows: printed, filtered, written to files and read back.
//!
//! Made by the benchmark, which writes one [`Row`] per measurement and one per failure; drawn by the report.

mod row;

pub use row::Row;

/// Benchmark results, one [`Row`] per measurement or failure.
///
/// # Example
/// ```
/// use differentiation_interface_test::table::{Row, Table};
///
/// let row = |size, time| Row { size, time, ..Row::new("forward_diff", "norm2", "gradient", "value_and_gradient_into") };
/// let table = Table { rows: vec![row(10, 2e-7), row(100, 1.5e-6)] };
/// assert_eq!(table.rows[1].time / table.rows[0].time, 7.5);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The rows, in the order of measuring.
    pub rows: Vec<Row>,
}
