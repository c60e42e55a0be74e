//! Compares flat numbers and describes their first difference.

use crate::driver::Facts;

/// Which part of the results is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Value,
    First,
    Second,
}

/// Smaller entries may be the rounding of larger terms.
const LEAST: f64 = 1e-3;

/// The largest allowed error: relative to the largest entry and to [`LEAST`], or to one where all entries are zero.
pub(crate) fn allowed(expected: &[f64], tolerance: f64) -> f64 {
    let largest = expected.iter().filter(|v| v.is_finite()).fold(0.0_f64, |largest, v| largest.max(v.abs()));
    tolerance * if largest == 0.0 { 1.0 } else { largest.max(LEAST) }
}

/// Whether two numbers agree; NaN agrees with NaN, infinities with themselves.
pub(crate) fn agree(found: f64, expected: f64, allowed: f64) -> bool {
    found == expected || (found.is_nan() && expected.is_nan()) || (found - expected).abs() <= allowed
}

/// The first difference, as `(position, line)`.
pub(super) fn difference(
    found: &[f64],
    expected: &[f64],
    tolerance: f64,
    name_of: impl Fn(usize) -> String,
) -> Option<(usize, String)> {
    if found.len() != expected.len() {
        return Some((0, format!("{} numbers were returned, expected {}", found.len(), expected.len())));
    }
    let allowed = allowed(expected, tolerance);
    let at = found.iter().zip(expected).position(|(&found, &expected)| !agree(found, expected, allowed))?;
    let (found, expected) = (found[at], expected[at]);
    Some((at, format!("{} is {found}, expected {expected} (tolerance {})", name_of(at), short(allowed))))
}

/// A tolerance in few digits: `1e-12`, `1.5e-4`.
fn short(tolerance: f64) -> String {
    let text = format!("{tolerance:.1e}");
    text.replace(".0e", "e")
}

/// The name of an entry: `[3]`, `[1,0]`, `product 1 [3]`, `the value [0]`.
pub(super) fn entry_name(facts: &Facts, part: Part, at: usize) -> String {
    let main = if facts.order == 1 { Part::First } else { Part::Second };
    match (part, facts.operator) {
        (Part::Value, _) if facts.outputs == 1 => "the value".to_string(),
        (Part::Value, _) => format!("the value [{at}]"),
        (Part::First, "second_derivative") => format!("the derivative [{at}]"),
        (Part::First, _) if part != main => format!("the gradient [{at}]"),
        (_, "jacobian" | "hessian") => {
            let columns = facts.inputs.max(1);
            format!("[{},{}]", at / columns, at % columns)
        }
        (_, operator) if facts.seeds > 1 => {
            let length = if operator == "pushforward" { facts.outputs } else { facts.inputs }.max(1);
            format!("product {} [{}]", at / length, at % length)
        }
        _ => format!("[{at}]"),
    }
}
