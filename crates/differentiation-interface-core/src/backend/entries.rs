//! Which entries of a matrix of derivatives are asked for.

use super::Rows;

/// Entries of a Jacobian or Hessian, to be filled all at once.
///
/// Backends that know the operations of a function can do better than products with one seed per colour or input: see
/// [`PushforwardRoute::entries`](super::PushforwardRoute::entries).
#[derive(Debug)]
pub struct EntryRequest<'a, S> {
    /// Which entries, in compressed rows: where each row starts among them and their number, and the column of each, rising in
    /// each row. All entries of the matrix if there is no pattern.
    pub pattern: Option<(&'a [u32], &'a [u32])>,
    /// Where the values go, row by row: a single row for those of a pattern, the matrix itself for all.
    pub values: Rows<'a, S>,
    /// How many products with seeds would give the same.
    pub products: usize,
}
