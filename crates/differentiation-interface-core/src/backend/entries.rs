//! The entries of a derivative matrix that a call requests.

use super::Rows;

/// The requested entries of a Jacobian or Hessian, to be filled in one call.
///
/// Backends that know the operations of a function can compute entries faster than products with one seed per colour or input: see
/// [`PushforwardRoute::entries`](super::PushforwardRoute::entries).
#[derive(Debug)]
pub struct EntryRequest<'a, S> {
    /// The requested entries in compressed rows: the start of each row and the number of entries, and the column of each entry,
    /// ascending in each row. `None` requests all entries of the matrix.
    pub pattern: Option<(&'a [u32], &'a [u32])>,
    /// The buffer for the values, row by row: a single row for the entries of a pattern, the matrix itself for all entries.
    pub values: Rows<'a, S>,
    /// The number of products with seeds that would give the same entries.
    pub products: usize,
}
