//! An elementary function of each entry as one rule.
//!
//! Called by users between the products of a network or a kernel: a tape stores one call instead of one operation per entry. Engines that compile take the
//! operations.

use super::Operand;
use crate::custom::{Custom, CustomRule, Halves};
use crate::function::Function;
use crate::rules::Unary;
use crate::scalar::{Base, Scalar};

/// The largest number of entries of one call. The results of a call are in the cache when they are copied, and take no memory of their own.
const ENTRIES_OF_A_CALL: usize = 1024;

/// `rule` applied to each number.
struct Each<R> {
    rule: R,
}

/// Applies an elementary function of [`rules`](crate::rules) to each entry of a matrix or vector, as one rule.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::dense::map;
/// use differentiation_interface::prelude::*;
/// use differentiation_interface::rules::Exp;
/// use faer::{Col, col};
///
/// let sum = |x: &Col<_>| {
///     let y = map(Exp, x);
///     y[0] + 2.0 * y[1]
/// };
/// assert_eq!(gradient(&sum, &AutoReverseDiff::default(), &col![0.0, 0.0])?, col![1.0, 2.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn map<R: Unary, X: Operand>(rule: R, x: &X) -> X::Owned {
    let ((rows, columns), mut entries) = (x.shape(), x.entries());
    if X::Number::DEPTH > 0 {
        let (each, mut results) = (Custom::new(Each { rule }), Vec::new());
        for entries in entries.chunks_mut(ENTRIES_OF_A_CALL) {
            each.call_into(entries, &mut results);
            entries.copy_from_slice(&results);
        }
    } else {
        entries.iter_mut().for_each(|entry| *entry = entry.apply(rule));
    }
    X::owned(rows, columns, &entries)
}

impl<B: Base, R: Unary> CustomRule<B> for Each<R> {
    const NAME: &'static str = "map";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.clear();
        y.extend(x.iter().map(|x| x.apply(self.rule)));
    }
    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        for ((dy, dx), (x, y)) in dy.iter_mut().zip(dx).zip(x.iter().zip(y)) {
            // A choice, not a branch, for vectors.
            let moved = self.rule.derivative(*x, *y).times(*dx);
            *dy = if dx.is_inert_zero() { S::default() } else { moved };
        }
    }
    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        self.pushforward(x, y, dy, dx);
    }
    fn operations<S: Scalar<Base = B>>(&self, x: &[S], y: &mut Vec<S>) -> bool {
        y.extend(x.iter().map(|x| x.apply(self.rule)));
        true
    }
}
