//! Numbers and arrays in, numbers and arrays out: one pass on the stack, which the compiler makes the code of duals written by hand.
//!
//! Called by the primitive where types fix both lengths and all inputs have a lane.

use super::dual::{Dual, DualCore, Level};
use differentiation_interface_core::backend::{Lanes, Rows};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::fault;
use differentiation_interface_core::scalar::{Num, Scalar};

/// Fills the Jacobian, and leaves the outputs in `y` if asked for. `false` where the general way has to say what is wrong: another length, a
/// fault, a number of another differentiation, a derivative that is not a number.
#[inline(always)]
pub(super) fn jacobian<S: Scalar, L: Lanes, F: Flat<Dual<S, L>>>(
    f: &mut F,
    x: &[S],
    y: Option<&mut [S]>,
    rows: &mut Rows<'_, S>,
) -> bool {
    let inputs = x.len();
    // A function that captures nothing meets no number but its own, and needs no identity.
    let level = if f.captures() { Level::enter() } else { Level::unnamed() };
    let pass = || {
        f.call_fixed(
            |i| Num(DualCore::basis(x[i], &level, i)),
            |outputs| {
                if level.check(outputs).is_err() || rows.set_rows(outputs.len()).is_err() {
                    return false;
                }
                if let Some(y) = y {
                    for (y, output) in y.iter_mut().zip(outputs) {
                        *y = output.0.value();
                    }
                }
                let mut sound = true;
                for (output, row) in outputs.iter().zip(rows.parts(0, inputs)) {
                    sound &= output.0.copy_lanes(row);
                }
                sound || inputs == 1
            },
        )
    };
    matches!(fault::watch(|| Ok(pass())), Ok(true))
}
