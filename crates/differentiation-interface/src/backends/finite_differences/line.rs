//! The derivative along a line through the point: chooses side and steps within the domain, evaluates, and extrapolates.
//!
//! Called by `first.rs`, `second.rs` and `nth.rs`; calls `table.rs` and the user's function.

use super::AutoFiniteDifferences;
use super::domain::{Domain, contains, inner_bounds};
use super::stencil::{MOST_ORDER, Side, Stencil};
use super::table::{MOST_LEVELS, Next, SHRINK, Table};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::rules::Plus;
use differentiation_interface_core::scalar::{Base, Scalar};
use num_traits::Float;

/// The first step moves no coordinate by more than this times max(|x|, 1).
const FIRST_STEP: f64 = 0.212;
/// The most steps, for functions without a finite value.
const MOST_ROWS: usize = 40;
/// A side with less room than this part of the other, or of the first step, is not used.
const LEAST_SHARE: f64 = 1.0 / 16.0;

/// The direction of a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Along<'a, S> {
    /// A coordinate.
    Coordinate(usize),
    /// Any direction.
    Vector(&'a [S]),
}

impl<S: Scalar> Along<'_, S> {
    /// Entries that are not zero, with their coordinates.
    fn entries(&self) -> impl Iterator<Item = (usize, S::Base)> + '_ {
        let (only, vector): (_, &[S]) = match self {
            Along::Coordinate(i) => (Some((*i, S::Base::ONE)), &[]),
            Along::Vector(vector) => (None, vector),
        };
        let entries = vector.iter().map(|entry| entry.primal()).enumerate();
        only.into_iter().chain(entries.filter(|(_, entry)| *entry != S::Base::ZERO))
    }
}

/// The point, work memory, and the results of the last line.
#[derive(Clone, Debug)]
pub(super) struct Line<S: Scalar> {
    pub(super) x: Vec<S>,
    moved: Vec<S>,
    /// f(x)
    pub(super) base: Vec<S>,
    /// Whether `base` is f at `x`.
    pub(super) has_base: bool,
    y: Vec<S>,
    /// Number of outputs, once an evaluation of this call has shown it.
    outputs: Option<usize>,
    pub(super) table: Table<S>,
}

impl<S: Scalar> Line<S> {
    pub(super) const fn new() -> Self {
        Line {
            x: Vec::new(),
            moved: Vec::new(),
            base: Vec::new(),
            has_base: false,
            y: Vec::new(),
            outputs: None,
            table: Table::new(),
        }
    }

    /// Sets the point, after a check that it lies in the domain.
    pub(super) fn set_point(&mut self, domain: &impl Domain, x: &[S]) -> Result<(), ErrorKind> {
        domain.check(x.len())?;
        if let Some(coordinate) = (0..x.len()).find(|&i| !contains(domain, i, x[i].primal().as_f64())) {
            return Err(ErrorKind::OutsideDomain { coordinate });
        }
        self.x.clear();
        self.x.extend_from_slice(x);
        self.moved.clone_from(&self.x);
        self.has_base = false;
        self.outputs = None;
        Ok(())
    }

    /// Evaluates at the point itself, unless that is done.
    pub(super) fn evaluate_base<F: Flat<S>>(&mut self, f: &mut F) -> Result<(), ErrorKind> {
        if !self.has_base {
            f.call(&self.x, &mut self.base);
            Self::check_outputs(&mut self.outputs, self.base.len())?;
            self.y.clone_from(&self.base);
            self.has_base = true;
        }
        Ok(())
    }

    fn check_outputs(outputs: &mut Option<usize>, found: usize) -> Result<(), ErrorKind> {
        let expected = *outputs.get_or_insert(found);
        if found == expected { Ok(()) } else { Err(ErrorKind::OutputLength { expected, found }) }
    }

    /// Reserves the memory of all calls, after [`evaluate_base`](Self::evaluate_base).
    pub(super) fn reserve(&mut self, levels: usize) {
        self.table.reserve(self.base.len(), levels);
    }

    /// Moves the point to x + t v, within the bounds.
    fn move_to(&mut self, domain: &impl Domain, along: Along<'_, S>, t: S::Base) {
        let keep_within = |i: usize, moved: S| {
            let (lower, upper) = inner_bounds::<S::Base>(domain, i);
            let value = moved.primal();
            // Rounding may have passed a bound by one unit in the last place.
            if value > upper {
                moved.apply2_right(upper - value, Plus)
            } else if value < lower {
                moved.apply2_right(lower - value, Plus)
            } else {
                moved
            }
        };
        match along {
            Along::Coordinate(i) => self.moved[i] = keep_within(i, self.x[i].apply2_right(t, Plus)),
            Along::Vector(vector) => {
                for (i, ((moved, x), v)) in self.moved.iter_mut().zip(&self.x).zip(vector).enumerate() {
                    *moved = keep_within(i, *x + v.scale(t));
                }
            }
        }
    }

    fn move_back(&mut self, along: Along<'_, S>) {
        match along {
            Along::Coordinate(i) => self.moved[i] = self.x[i],
            Along::Vector(_) => self.moved.copy_from_slice(&self.x),
        }
    }

    /// How far the line may go to the right and to the left, and the largest useful move of a first step.
    fn reach(&self, domain: &impl Domain, along: Along<'_, S>) -> (S::Base, S::Base, S::Base) {
        let infinity = <S::Base as Float>::infinity();
        let first = S::Base::from_f64(FIRST_STEP);
        let (mut right, mut left, mut usual) = (infinity, infinity, infinity);
        for (i, v) in along.entries() {
            let x = self.x[i].primal();
            if !x.is_finite() || !v.is_finite() {
                continue;
            }
            let (lower, upper) = inner_bounds::<S::Base>(domain, i);
            let (above, below) = ((upper - x) / v.abs(), (x - lower) / v.abs());
            let positive = v > S::Base::ZERO;
            right = Float::min(right, if positive { above } else { below });
            left = Float::min(left, if positive { below } else { above });
            let scale = first * Float::max(x.abs(), S::Base::ONE) / v.abs();
            usual = Float::min(usual, Float::min(scale, Float::max(above, below)));
        }
        (right, left, if usual.is_finite() { usual } else { first })
    }

    /// A step near the given one that x + h does not round.
    fn exact_step(&self, coordinate: usize, step: S::Base) -> S::Base {
        let x = self.x[coordinate].primal().abs();
        let exact = (x + step) - x;
        if exact > S::Base::ZERO && exact.is_finite() { exact } else { step }
    }

    /// Whether steps up to `t` change the coordinates enough to give digits of a derivative.
    fn is_wide(&self, along: Along<'_, S>, t: S::Base) -> bool {
        let least = <S::Base as Float>::epsilon() * S::Base::from_f64(64.0);
        let is_moved = |(i, v): (usize, S::Base)| {
            let x = self.x[i].primal();
            !x.is_finite() || t * v.abs() >= least * x.abs()
        };
        t > S::Base::ZERO && (t * t.recip()).is_finite() && along.entries().all(is_moved)
    }

    /// Computes the derivative of order `derivative` along the line into the table: the best value of each output and the estimate of its error.
    ///
    /// Returns [`ErrorKind::NarrowDomain`] if the line has no room on either side.
    pub(super) fn differentiate<D: Domain, F: Flat<S>>(
        &mut self,
        backend: &AutoFiniteDifferences<D>,
        f: &mut F,
        along: Along<'_, S>,
        derivative: usize,
    ) -> Result<(), ErrorKind> {
        let (right, left, usual) = self.reach(&backend.domain, along);
        let wanted = match backend.first_step {
            None => usual,
            Some(step) => {
                let step = S::Base::from_f64(step);
                if !(step > S::Base::ZERO && step.is_finite()) {
                    let coordinate = along.entries().next().map_or(0, |(i, _)| i);
                    return Err(ErrorKind::UselessStep { coordinate });
                }
                // The step of the user is that of the coordinate that moves most.
                let longest = along.entries().map(|(_, v)| v.abs()).fold(S::Base::ZERO, Float::max);
                if longest > S::Base::ZERO && longest.is_finite() { step / longest } else { step }
            }
        };
        let side = choose_side(backend.side, right, left, wanted);
        let stencil = Stencil::new(side, derivative, backend.order_on(side));
        let room = match side {
            Side::Central => Float::min(right, left),
            Side::Right => right,
            Side::Left => left,
        };
        // Higher derivatives lose more digits to rounding, and need wider steps.
        let wanted = wanted * S::Base::from_f64(derivative as f64);
        let step = Float::min(wanted, room / S::Base::from_f64(stencil.radius() as f64));
        // A line that passes a corner of the domain has less room than its coordinates: these are better then.
        let is_cut = matches!(along, Along::Vector(_)) && room < usual * S::Base::from_f64(LEAST_SHARE);
        if is_cut || !self.is_wide(along, step) {
            let narrowest = |(i, _): (usize, S::Base)| i;
            let coordinate = along.entries().map(narrowest).next().unwrap_or(0);
            return Err(ErrorKind::NarrowDomain { coordinate });
        }
        let step = if matches!(along, Along::Coordinate(_)) { of_twelve_bits(step) } else { step };
        self.extrapolate(backend, f, along, &stencil, step)
    }

    /// Fills the table, from the first step on.
    fn extrapolate<D: Domain, F: Flat<S>>(
        &mut self,
        backend: &AutoFiniteDifferences<D>,
        f: &mut F,
        along: Along<'_, S>,
        stencil: &Stencil,
        mut step: S::Base,
    ) -> Result<(), ErrorKind> {
        if stencil.uses_the_point() {
            self.evaluate_base(f)?;
        }
        let levels = backend.levels.clamp(1, MOST_LEVELS);
        let epsilon = <S::Base as Float>::epsilon();
        let noise = Float::max(epsilon, S::Base::from_f64(backend.noise));
        // A point that is not finite has no derivative; the quotient shows what the function makes of it.
        let is_finite = along.entries().all(|(i, v)| self.x[i].primal().is_finite() && v.is_finite());
        let most_rows = if is_finite { MOST_ROWS } else { 1 };
        let farthest = along.entries().map(|(i, v)| (self.x[i].primal() / v).abs()).fold(S::Base::ZERO, Float::max);
        let mut is_begun = false;
        self.moved.copy_from_slice(&self.x);
        if let Some(outputs) = self.outputs {
            self.table.begin(outputs, levels);
            is_begun = true;
            self.table.begin_row();
        }
        for _ in 0..most_rows {
            // The first derivative of the coordinate itself, which is 1 but for the rounding of x + h.
            let mut measured = S::Base::ZERO;
            let step_of_row = match along {
                Along::Coordinate(i) => self.exact_step(i, step),
                Along::Vector(_) => step,
            };
            for (node, weight) in stencil.terms() {
                let weight = S::Base::from_f64(weight);
                if node == 0 {
                    self.table.add(weight, &self.base);
                    continue;
                }
                self.move_to(&backend.domain, along, step_of_row * S::Base::from_f64(f64::from(node)));
                if let Along::Coordinate(i) = along {
                    measured += weight * (self.moved[i].primal() - self.x[i].primal());
                }
                f.call(&self.moved, &mut self.y);
                Self::check_outputs(&mut self.outputs, self.y.len())?;
                if !is_begun {
                    self.table.begin(self.y.len(), levels);
                    is_begun = true;
                    self.table.begin_row();
                }
                self.table.add(weight, &self.y);
            }
            self.move_back(along);
            let is_measured =
                stencil.derivative == 1 && matches!(along, Along::Coordinate(_)) && measured > S::Base::ZERO;
            let width = if is_measured && measured.is_finite() {
                measured
            } else {
                step_of_row.powi(stencil.derivative as i32)
            };
            // Rounding of x + t v moves the point along other lines.
            let moved = match along {
                Along::Coordinate(_) => epsilon,
                Along::Vector(_) => epsilon * (S::Base::ONE + farthest / step),
            };
            let next = self.table.end_row(stencil, levels, width, noise, moved);
            step = match next {
                Next::Stop => break,
                Next::Smaller => step / S::Base::from_f64(SHRINK),
                Next::MuchSmaller => step / S::Base::from_f64(SHRINK.powi(4)),
            };
            if !self.is_wide(along, step) {
                break;
            }
            self.table.begin_row();
        }
        self.table.end();
        Ok(())
    }
}

/// An odd multiple of a power of two, just below `step`. Its halves are exact steps from any number, as far as they have 12 bits to spare, and
/// they fit the period of no common periodic function: differences over whole periods agree, and are wrong.
fn of_twelve_bits<B: Base>(step: B) -> B {
    let unit = (step.as_f64().log2().floor() - 11.0).exp2();
    let multiple = (step.as_f64() / unit).floor();
    let odd = if multiple % 2.0 == 0.0 { multiple - 1.0 } else { multiple };
    let rounded = B::from_f64(odd * unit);
    if rounded > B::ZERO && rounded.is_finite() { rounded } else { step }
}

/// The side of the formula: the wanted one where it has room, else the one with more.
fn choose_side<B: Base>(wanted: Side, right: B, left: B, step: B) -> Side {
    let larger = if right >= left { Side::Right } else { Side::Left };
    let room = match wanted {
        Side::Central => Float::min(right, left),
        Side::Right => right,
        Side::Left => left,
    };
    let useful = Float::min(step, Float::max(right, left)) * B::from_f64(LEAST_SHARE);
    if room >= useful { wanted } else { larger }
}

impl<D: Domain> AutoFiniteDifferences<D> {
    /// Order of accuracy of the formulas on a side.
    fn order_on(&self, side: Side) -> usize {
        let usual = if side == Side::Central { 2 } else { 4 };
        self.order.unwrap_or(usual).clamp(1, MOST_ORDER)
    }
}
