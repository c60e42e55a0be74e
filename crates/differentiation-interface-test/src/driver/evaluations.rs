//! How often a method evaluates the function.
//!
//! Called by the kernels' files; the rig passes the limits on to the checks.

use differentiation_interface_core::backend::{Backend, Direction, Mode};

/// Evaluations of the function that a method needs, without and with value.
pub(crate) type Limits = fn(inputs: usize, outputs: usize, seeds: usize) -> Option<(usize, usize)>;

/// No limit on the number of evaluations.
pub(crate) fn no_limits(_: usize, _: usize, _: usize) -> Option<(usize, usize)> {
    None
}

/// The most evaluations that a first-order operator needs, by the mode of the backend.
pub(crate) fn limits<B: Backend>(operator: &'static str) -> Limits {
    fn products(n: usize) -> (usize, usize) {
        (n.max(1), n.max(1))
    }
    if B::ADAPTIVE {
        return no_limits;
    }
    match (B::Mode::DIRECTION, B::EXACT, operator) {
        (Direction::Reverse, true, _) => |_, _, _| Some(products(1)),
        (Direction::Forward, true, "pushforward" | "derivative") => |_, _, seeds| Some(products(seeds)),
        (Direction::Forward, true, "pullback") => |n, _, _| Some((n + 1, n + 1)),
        (Direction::Forward, true, _) => |n, _, _| Some(products(n)),
        (Direction::Forward, false, "pushforward") => |_, _, seeds| Some((2 * seeds + 1, 2 * seeds + 1)),
        (Direction::Forward, false, _) => |n, _, _| Some((2 * n + 1, 2 * n + 1)),
        _ => no_limits,
    }
}
