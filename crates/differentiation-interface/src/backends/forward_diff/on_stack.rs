//! Numbers and arrays in, numbers and arrays out: one pass on the stack, which the compiler makes the code of duals written by hand.
//!
//! Called by the primitive where types fix both lengths and all inputs have a lane.

use super::dual::{Dual, DualCore, Level};
use differentiation_interface_core::backend::{Lanes, Rows};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::fault;
use differentiation_interface_core::scalar::{Num, Scalar};

/// Fills the Jacobian, and leaves the outputs in `y` if asked for.
///
/// `false` where the general way has to say what is wrong (a fault, a number of another differentiation, another number of outputs), or has to
/// take inputs one by one: lanes share the derivatives of operations, so that where one is infinite, a lane that does not depend on it
/// gets its product with 0.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn jacobian<S: Scalar, L: Lanes, F: Flat<Dual<S, L>>>(
    f: &mut F,
    x: &[S],
    y: Option<&mut [S]>,
    rows: &mut Rows<'_, S>,
) -> bool {
    // A function that captures nothing meets no number but its own, and needs no identity.
    let level = if f.captures() { Level::enter() } else { Level::unnamed() };
    let basis = |i| Num(DualCore::basis(x[i], &level, i));
    let write = |outputs: &[Dual<S, L>]| {
        if level.check(outputs).is_err() || rows.set_rows(outputs.len()).is_err() {
            return false;
        }
        if let Some(y) = y {
            for (y, output) in y.iter_mut().zip(outputs) {
                *y = output.0.value();
            }
        }
        let mut numbers = true;
        for (output, row) in outputs.iter().zip(rows.parts(0, x.len())) {
            numbers &= output.0.copy_lanes(row);
        }
        numbers || x.len() == 1
    };
    matches!(fault::watch(|| Ok(f.call_fixed(basis, write))), Ok(true))
}
