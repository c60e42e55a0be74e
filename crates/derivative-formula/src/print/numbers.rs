//! Numbers as a reader writes them: integers, fractions, known constants, decimals.
//!
//! Called by `layout` for coefficients, exponents and terms.

use std::f64::consts::{E, FRAC_2_SQRT_PI, LN_2, LN_10, LOG2_E, LOG10_E, PI, SQRT_2};

/// A constant that has a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Pi,
    E,
    RootOfPi,
    RootOfTwo,
    LnOfTwo,
    LnOfTen,
}

/// A positive number as a fraction of decimals, with a constant above or below.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    pub(super) above: f64,
    pub(super) below: f64,
    pub(super) known_above: Option<Known>,
    pub(super) known_below: Option<Known>,
}

/// The largest power of two that is written as a denominator.
const LARGEST_POWER_OF_TWO: f64 = 64.0;

/// How a positive number is written.
pub(super) fn written(value: f64) -> Written {
    let plain = |above: f64, below: f64| Written { above, below, known_above: None, known_below: None };
    if value.trunc() == value {
        return plain(value, 1.0);
    }
    if let Some((above, below)) = fraction(value) {
        return plain(above, below);
    }
    let multiples =
        [(PI, Known::Pi), (E, Known::E), (SQRT_2, Known::RootOfTwo), (LN_2, Known::LnOfTwo), (LN_10, Known::LnOfTen)];
    for (constant, known) in multiples {
        if let Some((above, below)) = multiple(value, constant) {
            return Written { known_above: Some(known), ..plain(above, below) };
        }
    }
    let reciprocals = [
        (FRAC_2_SQRT_PI / 2.0, Known::RootOfPi),
        (LOG2_E, Known::LnOfTwo),
        (LOG10_E, Known::LnOfTen),
        (1.0 / PI, Known::Pi),
    ];
    for (constant, known) in reciprocals {
        if let Some((above, below)) = multiple(value, constant) {
            return Written { known_below: Some(known), ..plain(above, below) };
        }
    }
    plain(value, 1.0)
}

/// A fraction of small integers whose quotient is the number.
fn fraction(value: f64) -> Option<(f64, f64)> {
    let mut below = 2.0;
    while below <= LARGEST_POWER_OF_TWO {
        let above = value * below;
        if above.trunc() == above && above < 1000.0 {
            // Decimals are shorter: 0.25 is a fourth, 12.125 is not 97 eighths.
            return (value < 10.0).then_some((above, below));
        }
        below *= 2.0;
    }
    [3.0, 6.0, 7.0, 9.0, 11.0, 12.0].into_iter().find_map(|below: f64| {
        let above = (value * below).round();
        (above > 0.0 && above < 100.0 && above / below == value).then_some((above, below))
    })
}

/// The fraction of a constant that a number is.
fn multiple(value: f64, constant: f64) -> Option<(f64, f64)> {
    [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 180.0].into_iter().find_map(|below: f64| {
        let above = (value / constant * below).round();
        ((1.0..=64.0).contains(&above) && constant * above / below == value).then_some((above, below))
    })
}

/// A number in digits: decimals, or a decimal and a power of ten.
pub(super) fn digits(value: f64) -> (String, Option<i32>) {
    if value == 0.0 || (1e-4..1e9).contains(&value.abs()) || !value.is_finite() {
        return (format!("{value}"), None);
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((decimals, exponent)) => (decimals.to_string(), exponent.parse().ok()),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_fractions_of_constants() {
        let of = |value| {
            let Written { above, below, known_above, known_below } = written(value);
            (above, below, known_above, known_below)
        };
        assert_eq!(of(7.0), (7.0, 1.0, None, None));
        assert_eq!(of(0.75), (3.0, 4.0, None, None));
        assert_eq!(of(1.0 / 3.0), (1.0, 3.0, None, None));
        assert_eq!(of(2.0 * PI), (2.0, 1.0, Some(Known::Pi), None));
        assert_eq!(of(PI / 2.0), (1.0, 2.0, Some(Known::Pi), None));
        assert_eq!(of(FRAC_2_SQRT_PI), (2.0, 1.0, None, Some(Known::RootOfPi)));
        assert_eq!(of(LOG10_E), (1.0, 1.0, None, Some(Known::LnOfTen)));
        assert_eq!(of(0.1), (0.1, 1.0, None, None));
        assert_eq!(digits(0.1), ("0.1".to_string(), None));
        assert_eq!(digits(6.67e-11), ("6.67".to_string(), Some(-11)));
    }
}
