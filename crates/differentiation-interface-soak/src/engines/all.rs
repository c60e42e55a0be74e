//! All engines in one list.

use super::candidate::Candidate;
use super::{batches, constants, first_order, rounds, second_order, sparse};

/// All candidates.
pub fn all() -> Vec<Candidate> {
    [
        first_order::candidates(),
        second_order::candidates(),
        sparse::candidates(),
        batches::candidates(),
        constants::candidates(),
        rounds::candidates(),
    ]
    .concat()
}
