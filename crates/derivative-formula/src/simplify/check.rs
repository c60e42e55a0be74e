//! Checks that a simplified form has the values of the original one.
//!
//! Called after each simplification: a form that fails is not used.

use crate::expression::{Expressions, Id, Rounding};

/// The largest difference, in units in the last place of the original, where that is well conditioned.
const MOST: f64 = 4.0;
/// Points at which forms are compared.
const POINTS: u64 = 24;
/// Perturbed evaluations at each point.
const TRIALS: u64 = 6;

/// Whether two expressions of `inputs` inputs and `parameters` parameters agree to [`MOST`] units in the last place, at points at which
/// the first has a value and is well conditioned: there, errors of one unit in each of its operations move it by no more than that.
pub(crate) fn agree(expressions: &Expressions, original: Id, simplified: Id, inputs: usize, parameters: usize) -> bool {
    if original == simplified {
        return true;
    }
    (0..POINTS).all(|point| {
        let numbers: Vec<f64> = (0..(inputs + parameters) as u64).map(|i| coordinate(point, i)).collect();
        let (x, p) = numbers.split_at(inputs);
        let value = |id: Id, rounding| expressions.evaluate(&[id], x, p, rounding)[0];
        let expected = value(original, Rounding::Nearest);
        if !expected.is_finite() || !(expected == 0.0 || expected.is_normal()) {
            return true;
        }
        let unit = unit_in_last_place(expected);
        let moved = |seed| (value(original, Rounding::Perturbed(point * TRIALS + seed + 1)) - expected).abs() / unit;
        let is_well_conditioned = (0..TRIALS).all(|seed| moved(seed) <= MOST);
        !is_well_conditioned || (value(simplified, Rounding::Nearest) - expected).abs() <= MOST * unit
    })
}

/// Coordinate `i` of a point: positive ones first, since logarithms and roots need them.
fn coordinate(point: u64, i: u64) -> f64 {
    let mut bits = (point * 131 + i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits ^= bits >> 29;
    bits = bits.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits ^= bits >> 32;
    let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64;
    match point {
        0..12 => 0.25 + 2.5 * unit,
        12..18 => 6.0 * unit - 3.0,
        _ => 0.05 + 0.9 * unit,
    }
}

/// The distance to the next double.
fn unit_in_last_place(value: f64) -> f64 {
    (value.abs().next_up() - value.abs()).max(f64::MIN_POSITIVE)
}
