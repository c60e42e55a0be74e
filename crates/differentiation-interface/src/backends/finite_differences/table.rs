//! Richardson extrapolation: formulas with smaller and smaller steps, and for each output the combination with the least estimated error.
//!
//! Called by `line.rs` once per step; calls nothing.

use super::stencil::Stencil;
use differentiation_interface_core::rules::Over;
use differentiation_interface_core::scalar::{Base, Scalar};
use num_traits::Float;

/// By how much a step is smaller than the one before.
pub(super) const SHRINK: f64 = 2.0;
/// Estimates contain this multiple of the rounding errors of the function values, which count as one unit in the last place each.
const ROUNDING: f64 = 4.0;
/// Two entries contradict each other if they differ by this multiple of their estimated errors.
const CERTAINTY: f64 = 100.0;
/// A row shows how large the function is where entries of it differ by no more than this part of themselves.
const AGREEMENT: f64 = 1e-3;
/// The most levels.
pub(super) const MOST_LEVELS: usize = 16;

/// How large the values of a row are.
#[derive(Clone, Copy, Debug)]
struct Size<B> {
    /// Σ |wⱼ f(x + sⱼ h)|.
    now: B,
    /// The largest of these among rows with entries that agree. Values near a zero of the function are small and have the rounding errors of the larger numbers
    /// that they are the difference of.
    largest: B,
}

/// The table of one direction, for all outputs, and the best entries so far.
///
/// Row k has the formula with the step h₀ / 2ᵏ, then its combinations with one, two, ... rows above: T(k, q) = T(k, q-1) +
/// (T(k, q-1) - T(k-1, q-1)) / (2ᵖ - 1), where hᵖ is the power that the combination removes from the error (L. F. Richardson, 1911). The
/// error of an entry is estimated by its distance from the two entries that it combines, as in C. J. F. Ridders, Accurate computation of
/// F'(x) and F'(x) F''(x), Advances in Engineering Software 4 (1982) 75-76, and the rounding errors of the function values.
#[derive(Clone, Debug)]
pub(super) struct Table<S: Scalar> {
    /// The last row, entry by entry, each for all outputs.
    row: Vec<S>,
    /// Bounds of the rounding errors of these entries.
    rounding: Vec<S::Base>,
    /// Number of rows, at most the number of levels.
    rows: usize,
    /// The formula of the next row, without the power of the step.
    pub(super) sum: Vec<S>,
    size: Vec<Size<S::Base>>,
    /// The best entry of each output.
    pub(super) best: Vec<S>,
    /// Estimates of the errors of these.
    pub(super) error: Vec<S::Base>,
}

/// What to do after a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// No smaller step can do better.
    Stop,
    /// Halve the step.
    Smaller,
    /// No output is finite: a much smaller step.
    MuchSmaller,
}

impl<S: Scalar> Table<S> {
    pub(super) const fn new() -> Self {
        Table {
            row: Vec::new(),
            rounding: Vec::new(),
            rows: 0,
            sum: Vec::new(),
            size: Vec::new(),
            best: Vec::new(),
            error: Vec::new(),
        }
    }

    /// Reserves memory for `outputs` outputs.
    pub(super) fn reserve(&mut self, outputs: usize, levels: usize) {
        self.row.resize(outputs * levels, S::default());
        self.rounding.resize(outputs * levels, S::Base::ZERO);
        self.sum.resize(outputs, S::default());
        self.size.resize(outputs, Size { now: S::Base::ZERO, largest: S::Base::ZERO });
        self.best.resize(outputs, S::default());
        self.error.resize(outputs, S::Base::ZERO);
    }

    /// Begins a direction.
    pub(super) fn begin(&mut self, outputs: usize, levels: usize) {
        self.reserve(outputs, levels);
        self.rows = 0;
        self.size.iter_mut().for_each(|size| size.largest = S::Base::ZERO);
        self.best.fill(S::constant(Float::nan()));
        self.error.fill(Float::infinity());
    }

    /// Begins a row.
    pub(super) fn begin_row(&mut self) {
        self.sum.fill(S::constant(S::Base::ZERO));
        self.size.iter_mut().for_each(|size| size.now = S::Base::ZERO);
    }

    /// Adds a term wⱼ f(x + sⱼ h) to the row.
    pub(super) fn add(&mut self, weight: S::Base, y: &[S]) {
        for ((sum, size), y) in self.sum.iter_mut().zip(&mut self.size).zip(y) {
            let term = y.scale(weight);
            *sum += term;
            size.now += term.primal().abs();
        }
    }

    /// Ends a row: divides by `width`, the power of the step or what was measured for it, and extrapolates. `noise` is the relative error
    /// of the function values, `moved` the relative error of the step.
    pub(super) fn end_row(
        &mut self,
        stencil: &Stencil,
        levels: usize,
        width: S::Base,
        noise: S::Base,
        moved: S::Base,
    ) -> Next {
        let outputs = self.sum.len();
        let rounding_factor = S::Base::from_f64(ROUNDING);
        // Agreement of two entries may be chance; a number with derivatives of its own needs the combination of all levels for them.
        let first = if S::DEPTH > 0 { levels - 1 } else { 2.min(levels - 1) };
        let growth = S::Base::from_f64(SHRINK.powi(stencil.derivative as i32));
        let (mut any_finite, mut all_done) = (outputs == 0, true);
        for i in 0..outputs {
            let quotient = self.sum[i].apply2_right(width, Over);
            any_finite |= quotient.primal().is_finite();
            let mut above = std::mem::replace(&mut self.row[i], quotient);
            let Size { now, largest } = self.size[i];
            let own = noise * (Float::max(now, largest) / width.abs()) + moved * quotient.primal().abs();
            let mut rounding_above = std::mem::replace(&mut self.rounding[i], own);
            if levels == 1 && self.rows > 0 {
                let distance = (quotient.primal() - above.primal()).abs();
                self.accept(i, quotient, distance + rounding_factor * own);
            }
            let mut agrees = false;
            for q in 1..levels.min(self.rows + 1) {
                let (left, at) = ((q - 1) * outputs + i, q * outputs + i);
                let power = stencil.order + (q - 1) * stencil.order_step;
                let divisor = S::Base::from_f64(SHRINK.powi(power as i32) - 1.0);
                let value = self.row[left] + (self.row[left] - above).apply2_right(divisor, Over);
                let rounding = self.rounding[left] + (self.rounding[left] + rounding_above) / divisor;
                let distance = Float::max(
                    (value.primal() - self.row[left].primal()).abs(),
                    (value.primal() - above.primal()).abs(),
                );
                above = std::mem::replace(&mut self.row[at], value);
                rounding_above = std::mem::replace(&mut self.rounding[at], rounding);
                agrees |= distance <= value.primal().abs() * S::Base::from_f64(AGREEMENT);
                // `max` drops a NaN.
                if q >= first && value.primal().is_finite() {
                    self.accept(i, value, distance + rounding_factor * rounding);
                }
            }
            if agrees {
                self.size[i].largest = Float::max(now, largest);
            }
            // A quotient far from the best entry shows that this is of another function, a slower oscillation: shorter steps see the right one.
            // (Steps that a function of few digits does not see have smaller quotients.)
            let (now, best) = (quotient.primal(), self.best[i].primal());
            let is_other = now.abs() > best.abs() && Self::is_other(now, rounding_factor * own, best, self.error[i]);
            all_done &= own.is_finite() && rounding_factor * own * growth >= self.error[i] && !is_other;
        }
        self.rows = levels.min(self.rows + 1);
        match (any_finite, all_done) {
            (false, _) => {
                self.rows = 0;
                Next::MuchSmaller
            }
            (true, true) => Next::Stop,
            (true, false) => Next::Smaller,
        }
    }

    /// Takes an entry if its error is smaller, or if the best entry so far is of another function: steps near multiples of a period
    /// see a slower oscillation, whose derivative they give with a small error, until steps are shorter than the period.
    fn accept(&mut self, i: usize, value: S, error: S::Base) {
        let (new, old) = (value.primal(), self.best[i].primal());
        if error < self.error[i] || Self::is_other(new, error, old, self.error[i]) {
            self.best[i] = value;
            self.error[i] = error;
        }
    }

    /// Whether two values are too far apart, for their errors, to be of one function.
    fn is_other(new: S::Base, error: S::Base, old: S::Base, old_error: S::Base) -> bool {
        let distance = (new - old).abs();
        distance > (error + old_error) * S::Base::from_f64(CERTAINTY)
            && distance > Float::max(new.abs(), old.abs()) * S::Base::from_f64(0.1)
    }

    /// Ends a direction: an output without an estimate, at infinities and NaN, has the derivative that the last step gave.
    pub(super) fn end(&mut self) {
        for (i, error) in self.error.iter().enumerate() {
            if !error.is_finite() {
                self.best[i] = self.row[i];
            }
        }
    }
}
