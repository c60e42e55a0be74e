//! Calls of rules, and what is left out of their derivatives.
//!
//! Called by the rules of linear algebra.

use crate::custom::{Custom, CustomRule};
use crate::scalar::{Base, Scalar};

/// Calls a rule over any scalar.
pub(in crate::algebra) fn call<S: Scalar, R: CustomRule<S::Base>>(rule: R, x: &[S], out: &mut [S]) {
    out.copy_from_slice(&Custom::new(rule).call(x));
}

/// Whether no number carries a derivative.
pub(super) fn all_constant<S: Scalar>(numbers: &[S]) -> bool {
    numbers.iter().all(S::is_constant)
}

/// Whether a seed is zero, so that its part of a derivative is left out.
pub(in crate::algebra) fn is_nothing<S: Scalar>(numbers: &[S]) -> bool {
    numbers.iter().all(S::is_inert_zero)
}

/// Makes columns of length `n` absent where those of the seed are.
pub(in crate::algebra) fn leave_out_columns<S: Scalar>(n: usize, seed: &[S], out: &mut [S]) {
    let columns = out.chunks_mut(n.max(1)).zip(seed.chunks(n.max(1)));
    for (out, _) in columns.filter(|(_, seed)| is_nothing(seed)) {
        out.fill(S::default());
    }
}

/// The plain values of constants.
pub(super) fn values<S: Scalar>(numbers: &[S]) -> Vec<S::Base> {
    numbers.iter().map(S::INTERNALS.peek).collect()
}

/// The bits of plain numbers, for the identity of a rule with data.
pub(super) fn bits<B: Base>(numbers: &[B]) -> Vec<u64> {
    numbers.iter().map(|v| v.as_f64().to_bits()).collect()
}
