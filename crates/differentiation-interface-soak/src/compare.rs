//! Compares an engine's answer with the reference, number by number.
//!
//! Called by `check`. Where the reference has no marks, a difference larger than the tolerance is a disagreement; elsewhere
//! agreement and difference are counted by kind.

use crate::reference::{Context, Number, kinds};
use differentiation_interface_soak::engines::Quantity;
use differentiation_interface_soak::function::{COTANGENTS, TANGENTS};

/// Whether an answer must be independent of the untaken side of a choice.
pub(crate) const CHOICES_ARE_STRICT: bool = true;

/// How many error bounds an answer may be off. The bound counts every rounding of the reference's own order of operations once;
/// engines use other orders, and the reference's own error is as large.
pub(crate) const SAFETY: f64 = 4.0;

/// The order of the derivative.
pub(crate) fn order(quantity: Quantity) -> usize {
    match quantity {
        Quantity::Value | Quantity::First | Quantity::LineValue => 0,
        Quantity::Gradient
        | Quantity::Jacobian
        | Quantity::Pushforward(_)
        | Quantity::Pullback(_)
        | Quantity::LineFirst => 1,
        Quantity::Hvp(_) | Quantity::Hessian | Quantity::LineSecond => 2,
    }
}

/// The reference at a point.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) context: Context,
    pub(crate) inputs: usize,
    /// `None` if rounding decides which branch the program takes.
    pub(crate) outputs: Option<Vec<Number>>,
    pub(crate) line: Option<Vec<Number>>,
}

/// The expected value of one number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) value: f64,
    pub(crate) tolerance: f64,
    pub(crate) marks: u32,
    /// It is zero because nothing depends on an input.
    pub(crate) absent: bool,
}

/// The result of comparing a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    BitEqual,
    /// Zeros of both signs.
    Zeros,
    /// The difference in error bounds.
    Within(f64),
    /// The same, but the bound is larger than a thousandth of the number.
    Steep(f64),
    /// At a singular point of this kind: same or different.
    Singular {
        kind: usize,
        agrees: bool,
    },
    /// At a singular point, and an entry that depends on nothing is not zero.
    SingularNotAbsent {
        kind: usize,
    },
    Disagrees,
}

impl Expected {
    /// A sum of numbers times weights, from the marks of order `order` of `number`.
    fn weighted(context: &Context, marks: u32, terms: impl Iterator<Item = (f64, f64, f64, bool)>) -> Expected {
        let mut expected = Expected { value: 0.0, tolerance: 0.0, marks, absent: true };
        let mut size = 0.0;
        for (value, error, weight, absent) in terms {
            expected.value += value * weight;
            expected.tolerance += error * weight.abs();
            size += (value * weight).abs();
            expected.absent &= absent || weight == 0.0;
        }
        expected.tolerance = SAFETY * (expected.tolerance + 4.0 * context.unit * size + context.smallest);
        if expected.absent && marks == 0 {
            expected.tolerance = 0.0;
        }
        if expected.marks == 0 && (expected.value.is_nan() || size > context.largest || expected.tolerance.is_nan()) {
            expected.marks = kinds::RANGE;
        }
        expected
    }

    /// Compares an answer.
    pub(crate) fn verdict(&self, found: f64) -> Verdict {
        let marks = if CHOICES_ARE_STRICT { self.marks & !kinds::UNTAKEN } else { self.marks };
        let difference = (found - self.value).abs();
        if marks != 0 {
            let kind = marks.trailing_zeros() as usize;
            if self.absent && found != 0.0 {
                return Verdict::SingularNotAbsent { kind };
            }
            let agrees = (found.is_nan() && self.value.is_nan())
                || found == self.value
                || difference <= self.tolerance.min(1e-3 * self.value.abs());
            return Verdict::Singular { kind, agrees };
        }
        if found.to_bits() == self.value.to_bits() {
            Verdict::BitEqual
        } else if found == 0.0 && self.value == 0.0 {
            Verdict::Zeros
        } else if difference <= self.tolerance {
            let bounds = difference / self.tolerance * SAFETY;
            if self.tolerance > 1e-3 * self.value.abs() { Verdict::Steep(bounds) } else { Verdict::Within(bounds) }
        } else {
            Verdict::Disagrees
        }
    }
}

impl Answer {
    /// The expected numbers of the quantity; `None` if they are undecided.
    pub(crate) fn expected(&self, quantity: Quantity) -> Option<Vec<Expected>> {
        let context = &self.context;
        let outputs = self.outputs.as_deref();
        let n = self.inputs;
        let value = |y: &Number| {
            Expected::weighted(context, y.marks_of(0, context), [(y.value, y.value_error, 1.0, false)].into_iter())
        };
        let first = |y: &Number, j: usize| (y.grad[j], y.grad_error[j], y.depends >> j & 1 == 0);
        let second = |y: &Number, i: usize, j: usize| {
            let ij = crate::reference::pair(i, j);
            (y.hess[ij], y.hess_error[ij], y.curved >> ij & 1 == 0)
        };
        let one = |y: &Number, order: usize, (value, error, absent): (f64, f64, bool)| {
            Expected::weighted(context, y.marks_of(order, context), [(value, error, 1.0, absent)].into_iter())
        };
        let row = |y: &Number| (0..n).map(|j| one(y, 1, first(y, j))).collect::<Vec<_>>();
        Some(match quantity {
            Quantity::Value => outputs?.iter().map(value).collect(),
            Quantity::First => outputs?[..1].iter().map(value).collect(),
            Quantity::Gradient => row(&outputs?[0]),
            Quantity::Jacobian => outputs?.iter().flat_map(row).collect(),
            Quantity::Pushforward(k) => outputs?
                .iter()
                .map(|y| {
                    let terms = (0..n).map(|j| first(y, j)).zip(TANGENTS[k]);
                    let terms = terms.map(|((value, error, absent), weight)| (value, error, weight, absent));
                    Expected::weighted(context, y.marks_of(1, context), terms)
                })
                .collect(),
            Quantity::Pullback(k) => {
                let outputs = outputs?;
                // A marked output with weight zero still makes a sum NaN by 0 * NaN.
                let marks = outputs.iter().fold(0, |marks, y| marks | y.marks_of(1, context));
                let column = |j: usize| {
                    let terms = outputs.iter().map(|y| first(y, j)).zip(COTANGENTS[k]);
                    let terms = terms.map(|((value, error, absent), weight)| (value, error, weight, absent));
                    Expected::weighted(context, marks, terms)
                };
                (0..n).map(column).collect()
            }
            Quantity::Hvp(k) => {
                let y = &outputs?[0];
                let entry = |i: usize| {
                    let terms = (0..n).map(|j| second(y, i, j)).zip(TANGENTS[k]);
                    let terms = terms.map(|((value, error, absent), weight)| (value, error, weight, absent));
                    Expected::weighted(context, y.marks_of(2, context), terms)
                };
                (0..n).map(entry).collect()
            }
            Quantity::Hessian => {
                let y = &outputs?[0];
                (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| one(y, 2, second(y, i, j))).collect()
            }
            Quantity::LineValue => self.line.as_ref()?.iter().map(value).collect(),
            Quantity::LineFirst => self.line.as_ref()?.iter().map(|y| one(y, 1, first(y, 0))).collect(),
            Quantity::LineSecond => self.line.as_ref()?.iter().map(|y| one(y, 2, second(y, 0, 0))).collect(),
        })
    }
}
