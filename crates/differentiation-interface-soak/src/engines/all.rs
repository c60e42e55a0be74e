//! All engines in one list.

use super::candidate::Candidate;
use super::{first_order, second_order, sparse};

/// All candidates.
pub fn all() -> Vec<Candidate> {
    [first_order::candidates(), second_order::candidates(), sparse::candidates()].concat()
}
