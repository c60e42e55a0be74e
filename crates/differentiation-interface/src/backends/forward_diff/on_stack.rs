//! Numbers and arrays in, numbers and arrays out: one pass on the stack, which the compiler makes the code of duals written by hand.
//!
//! Called by the primitive where types fix both lengths and all inputs have a lane.

use super::dual::{Dual, DualCore, Level};
use differentiation_interface_core::backend::{Lanes, Rows};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::fault;
use differentiation_interface_core::scalar::{Num, Scalar};
use std::ops::Range;

/// How a pass ended.
enum Pass {
    Done,
    /// A derivative is not a number. Lanes share the derivatives of operations: where one is infinite, a lane that does not depend on
    /// it gets its product with 0.
    Spoilt,
    /// Outputs belong to another differentiation, or there is another number of them than rows.
    Refused,
}

/// Fills the Jacobian, and leaves the outputs in `y` if asked for. `false` where the general way has to say what is wrong.
#[inline(always)]
pub(super) fn jacobian<S: Scalar, L: Lanes, F: Flat<Dual<S, L>>>(
    f: &mut F,
    x: &[S],
    y: Option<&mut [S]>,
    rows: &mut Rows<'_, S>,
) -> bool {
    match fault::watch(|| Ok(pass(f, x, 0..x.len(), y, rows))) {
        Ok(Pass::Done) => true,
        Ok(Pass::Spoilt) => lane_by_lane(f, x, rows),
        _ => false,
    }
}

/// Takes the derivatives by each input alone.
#[cold]
#[inline(never)]
fn lane_by_lane<S: Scalar, L: Lanes, F: Flat<Dual<S, L>>>(f: &mut F, x: &[S], rows: &mut Rows<'_, S>) -> bool {
    (0..x.len()).all(|i| matches!(fault::watch(|| Ok(pass(f, x, i..i + 1, None, rows))), Ok(Pass::Done)))
}

/// Takes the derivatives by some inputs.
#[inline(always)]
fn pass<S: Scalar, L: Lanes, F: Flat<Dual<S, L>>>(
    f: &mut F,
    x: &[S],
    inputs: Range<usize>,
    y: Option<&mut [S]>,
    rows: &mut Rows<'_, S>,
) -> Pass {
    // A function that captures nothing meets no number but its own, and needs no identity.
    let level = if f.captures() { Level::enter() } else { Level::unnamed() };
    let entry = |i| {
        let active = inputs.contains(&i);
        Num(if active { DualCore::basis(x[i], &level, i - inputs.start) } else { DualCore::inert(x[i]) })
    };
    f.call_fixed(entry, |outputs| {
        let first = inputs.len() == x.len();
        if level.check(outputs).is_err() || first && rows.set_rows(outputs.len()).is_err() {
            return Pass::Refused;
        }
        if let Some(y) = y {
            for (y, output) in y.iter_mut().zip(outputs) {
                *y = output.0.value();
            }
        }
        let mut numbers = true;
        for (output, row) in outputs.iter().zip(rows.parts(inputs.start, inputs.len())) {
            numbers &= output.0.copy_lanes(row);
        }
        if numbers || inputs.len() == 1 { Pass::Done } else { Pass::Spoilt }
    })
}
