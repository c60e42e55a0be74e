//! Which entries of a sparse matrix of derivatives are asked for.

/// Entries of a Jacobian or Hessian in compressed rows, to be filled all at once.
///
/// Backends that know the operations of a function can do better than products with one seed per colour: see
/// [`PushforwardPrimitive::entries`](super::PushforwardPrimitive::entries).
#[derive(Debug)]
pub struct Entries<'a, S> {
    /// Where each row starts among the entries, and the number of entries.
    pub starts: &'a [u32],
    /// The column of each entry, rising in each row.
    pub columns: &'a [u32],
    /// The values, to be filled.
    pub values: &'a mut [S],
    /// How many products with seeds, one per colour, would give the same.
    pub products: usize,
}
