//! The lanes with which threads propagate the colours of a sparse derivative.
//!
//! Called by `sparse` and `sparse_hessian` at preparation.

use super::division::Division;
use differentiation_interface_core::backend::{Lane, Lanes};
use differentiation_interface_core::scalar::{Base, Scalar};

/// Lanes for the colours of one thread. One pass with 12 lanes has no parts: two threads make two passes with half of the lanes.
pub(super) type Half = Lane<6>;
/// The same for up to four colours.
pub(super) type Third = Lane<4>;

/// The lanes of the shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Wide,
    Half,
    Third,
}

/// How to divide the colours of columns, and the lanes; `None` if that saves nothing.
pub(super) fn divide_columns<L: Lanes>(colors: usize, per_pass: usize, parts: usize) -> Option<(Division, Width)> {
    if parts < 2 {
        return None;
    }
    if per_pass == 1 {
        return Some((Division::new(colors, 1, parts), Width::Wide));
    }
    let passes = colors.div_ceil(per_pass);
    let of_one = colors.div_ceil(parts);
    // The time of a pass grows with its lanes, used or not, and the function itself.
    let time = |passes: usize, lanes: usize| passes * (lanes + 2);
    let serial = if colors <= Third::N && Third::N < L::N { time(1, Third::N) } else { time(passes, L::N) };
    let mut widths = vec![(time(passes.div_ceil(parts), L::N), Width::Wide)];
    for (lanes, width) in [(Half::N, Width::Half), (Third::N, Width::Third)] {
        if lanes < L::N {
            widths.push((time(of_one.div_ceil(lanes), lanes), width));
        }
    }
    let (least, width) = widths.into_iter().min_by_key(|(time, _)| *time)?;
    let division =
        if width == Width::Wide { Division::new(colors, per_pass, parts) } else { Division::new(colors, 1, parts) };
    (least < serial && division.is_parallel()).then_some((division, width))
}

/// Adds a positive zero: the sign of a zero depends on the seeds that share a pass.
pub(super) fn with_positive_zeros<S: Scalar>(value: S) -> S {
    if S::DEPTH > 0 { value } else { value + S::constant(S::Base::ZERO) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_divided_where_that_saves_time() {
        let divided = |colors, per_pass, parts| {
            divide_columns::<Lane<12>>(colors, per_pass, parts).map(|(division, width)| (division.range(0), width))
        };
        assert_eq!(divided(11, 11, 2), Some((0..5, Width::Half)));
        assert_eq!(divided(11, 11, 3), Some((0..3, Width::Third)));
        assert_eq!(divided(24, 12, 2), Some((0..12, Width::Wide)));
        assert_eq!(divided(3, 3, 2), None, "both threads would take as long as one");
        assert_eq!(divided(8, 8, 1), None);
        assert_eq!(divide_columns::<Lane<1>>(3, 1, 2), Some((Division::new(3, 1, 2), Width::Wide)));
    }

    #[test]
    fn zeros_are_positive() {
        assert_eq!(with_positive_zeros(-0.0_f64).to_bits(), 0.0_f64.to_bits());
        assert_eq!(with_positive_zeros(-2.5), -2.5);
    }
}
