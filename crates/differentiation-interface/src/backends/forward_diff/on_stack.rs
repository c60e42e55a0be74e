//! The Jacobian of a function of numbers and arrays in one pass on the stack, which compiles to the code of hand-written duals.
//!
//! Called by the primitive if the types fix the numbers of inputs and outputs and each input has a lane.

use super::dual::{Dual, DualCore, Level};
use differentiation_interface_core::backend::Lanes;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::fault;
use differentiation_interface_core::scalar::{Num, Scalar};

/// Fills the Jacobian, and writes the outputs to `y` if given.
///
/// Returns `false` if the general route must report an error (a fault, a number of another differentiation, another number of
/// outputs), or must differentiate by one input at a time. The latter happens if a result is not a number: lanes share the partial
/// derivatives of operations, so a lane that does not depend on an infinite one gets 0 · ∞.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn jacobian<S: Scalar, L: Lanes, F: Flat<Dual<S, L>>>(
    f: &mut F,
    x: &[S],
    y: Option<&mut [S]>,
    jacobian: &mut [S],
) -> bool {
    // A function that captures nothing meets its own numbers only and needs no identity.
    let level = if f.captures() { Level::enter() } else { Level::unnamed() };
    let basis = |i| Num(DualCore::basis(x[i], &level, i));
    let write = |outputs: &[Dual<S, L>]| {
        if level.check(outputs).is_err() || jacobian.len() != outputs.len() * x.len() {
            return false;
        }
        if let Some(y) = y {
            for (y, output) in y.iter_mut().zip(outputs) {
                *y = output.0.value();
            }
        }
        let mut numbers = true;
        for (output, row) in outputs.iter().zip(jacobian.chunks_exact_mut(x.len().max(1))) {
            numbers &= output.0.copy_lanes(row);
        }
        numbers || x.len() == 1
    };
    matches!(fault::watch(|| Ok(f.call_fixed(basis, write))), Ok(true))
}
