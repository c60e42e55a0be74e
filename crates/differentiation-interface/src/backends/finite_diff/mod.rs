//! Finite differences: derivatives from function values, for any function.
//!
//! Reached by operators through the routes below; runs the user's function on plain numbers, so that opaque closures over
//! `f64` can be differentiated.

#[cfg(all(test, feature = "any", feature = "sparse", not(feature = "native")))]
mod tests;

use differentiation_interface_core::backend::{
    Backend, Forward, Lane, Lanes, Lift, Native, PushforwardPrimitive, Rows, Seeds, ViaPushforward,
};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::rules::{Over, Plus};
use differentiation_interface_core::scalar::{Base, Scalar};
use num_traits::Float;

/// Finite differences.
///
/// An inexact backend, for functions that run on `f64` alone; `AutoFiniteDifferences` is the other one. The step in direction `i` is
/// max(relative · |xᵢ|, absolute); both default to √ε for one-sided and ∛ε for central differences, ε being the machine
/// epsilon, and to ⁴√ε for differences of differences in second-order operators. A general tangent is scaled so that its largest entry gets the step of the largest |xᵢ| among those that it moves; so
/// is the sum of the columns of one colour of a sparse matrix.
/// A step that is not positive, does not change its coordinate, moves it out of the range of the numbers or is larger than max(|xᵢ|, 1) / ε
/// is an error of kind [`ErrorKind::UselessStep`]; coordinates that are not finite take any step.
///
/// | scheme | error | evaluations for n directions |
/// |---|---|---|
/// | [`forward`](Self::forward), [`backward`](Self::backward) | O(h) | n + 1 |
/// | [`central`](Self::central) | O(h²) | 2n, and 1 for the value if asked |
///
/// Differences of differences are of second order in each scheme: one-sided ones use two points, (-3 f(x) + 4 f(x + h) - f(x + 2h)) / 2h. A
/// Hessian of a smooth function is then right to about 7 digits; [`AutoFiniteDifferences`](crate::backends::AutoFiniteDifferences) has more.
///
/// **Threads.** The function may compute on other threads.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// let opaque = |x: &[f64]| x[0].sin() * x[1];
/// let grad = gradient(&opaque, &AutoFiniteDiff::central(), &[0.0, 2.0])?;
/// assert!((grad[0] - 2.0).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoFiniteDiff {
    scheme: Scheme,
    relative_step: Option<f64>,
    absolute_step: Option<f64>,
    /// Order of the derivative that these differences contribute to. It determines the default step.
    order: u8,
}

impl Backend for AutoFiniteDiff {
    const NAME: &'static str = "finite_diff";
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = S;
    type Mode = Forward;
    type Pushforward = Native;
    type Pullback = ViaPushforward;
    type Derivative = ViaPushforward;
    type Gradient = ViaPushforward;
    type Jacobian = ViaPushforward;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inject<S: Scalar, L: Lanes>(value: S) -> S {
        value
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn project<S: Scalar, L: Lanes>(number: &S) -> S {
        *number
    }

    const EXACT: bool = false;
    fn for_nested_differences(&self) -> Self {
        AutoFiniteDiff { order: 2, ..*self }
    }
}

impl<S: Scalar> Lift<S, S> for AutoFiniteDiff {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> S {
        value
    }
}

/// The difference quotient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// (f(x + h) - f(x)) / h
    Forward,
    /// (f(x) - f(x - h)) / h
    Backward,
    /// (f(x + h) - f(x - h)) / 2h
    Central,
}

impl Default for AutoFiniteDiff {
    /// Forward differences.
    fn default() -> Self {
        Self::forward()
    }
}

impl AutoFiniteDiff {
    /// One-sided differences to the right.
    pub const fn forward() -> Self {
        AutoFiniteDiff { scheme: Scheme::Forward, relative_step: None, absolute_step: None, order: 1 }
    }
    /// One-sided differences to the left, for points at the right end of a domain.
    pub const fn backward() -> Self {
        AutoFiniteDiff { scheme: Scheme::Backward, relative_step: None, absolute_step: None, order: 1 }
    }
    /// Central differences.
    pub const fn central() -> Self {
        AutoFiniteDiff { scheme: Scheme::Central, relative_step: None, absolute_step: None, order: 1 }
    }
    /// Sets the step relative to |xᵢ|. The absolute step follows unless it is set too.
    pub const fn relative_step(mut self, step: f64) -> Self {
        self.relative_step = Some(step);
        self
    }
    /// Sets the smallest step.
    pub const fn absolute_step(mut self, step: f64) -> Self {
        self.absolute_step = Some(step);
        self
    }
    /// The scheme.
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The steps set by the user, relative and absolute.
    #[cfg(feature = "any")]
    pub(crate) const fn steps(&self) -> [Option<f64>; 2] {
        [self.relative_step, self.absolute_step]
    }

    /// The step at a coordinate, always positive.
    pub fn step<B: Base>(&self, x: B) -> B {
        self.step_rule().at(x)
    }

    /// The steps at all coordinates.
    fn step_rule<B: Base>(&self) -> Steps<B> {
        let epsilon = <B as Float>::epsilon();
        let default = match self.scheme {
            _ if self.order > 1 => epsilon.sqrt().sqrt(),
            Scheme::Central => epsilon.cbrt(),
            Scheme::Forward | Scheme::Backward => epsilon.sqrt(),
        };
        let relative = self.relative_step.map_or(default, B::from_f64);
        let absolute = self.absolute_step.map_or(relative, B::from_f64);
        let usual = |step: B, least: B| step > least && step <= B::ONE;
        Steps { relative, absolute, are_usual: usual(relative, epsilon) && usual(absolute, B::ZERO) }
    }
}

/// The step rule with its constants computed.
#[derive(Clone, Copy, Debug)]
struct Steps<B> {
    relative: B,
    absolute: B,
    /// Whether every step is usable, except at numbers near the largest one.
    are_usual: bool,
}

impl<B: Base> Steps<B> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn at(self, x: B) -> B {
        Float::max(self.relative * x.abs(), self.absolute)
    }

    /// The step at a coordinate with the value `x`, or an error if it is not usable.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn usable_at(self, x: B, coordinate: usize) -> Result<B, ErrorKind> {
        let step = self.at(x);
        let half = <B as Float>::max_value() * B::from_f64(0.5);
        if (self.are_usual && x.abs() < half) || Self::is_usable(step, x) {
            Ok(step)
        } else {
            Err(ErrorKind::UselessStep { coordinate })
        }
    }

    /// Whether the step changes `x` without losing it to rounding. Any step is usable at an infinite point, which has no derivative.
    #[cold]
    #[inline(never)]
    fn is_usable(step: B, x: B) -> bool {
        let (right, left) = (x + step, x - step);
        let is_moved = right > x && left < x && right.is_finite() && left.is_finite();
        let is_kept = step * <B as Float>::epsilon() <= Float::max(x.abs(), B::ONE);
        (is_moved && is_kept) || !x.is_finite()
    }
}

/// The place and magnitude of the largest entry; (0, 0) if there is none.
fn largest<'a, S: Scalar>(entries: impl Iterator<Item = (usize, &'a S)>) -> (usize, S::Base) {
    entries.fold((0, S::Base::ZERO), |far, (i, e)| {
        let e = e.primal().abs();
        if e > far.1 { (i, e) } else { far }
    })
}

/// The point, which is shifted and restored, and outputs.
#[derive(Clone, Debug)]
pub struct FiniteState<S> {
    x: Vec<S>,
    moved: Vec<S>,
    /// f(x)
    base: Vec<S>,
    right: Vec<S>,
    left: Vec<S>,
    /// The coordinate that was moved in the last evaluation of this call, if it is known.
    moved_last: Option<usize>,
}

impl<S: Scalar> FiniteState<S> {
    fn set_point(&mut self, x: &[S]) {
        self.x.clear();
        self.x.extend_from_slice(x);
        self.moved.clone_from(&self.x);
    }
}

impl AutoFiniteDiff {
    /// Shifts the point along seed `k` by `step`, in units of the seed.
    fn shift<S: Scalar>(state: &mut FiniteState<S>, seeds: &Seeds<'_, S>, k: usize, step: S::Base) {
        match seeds {
            Seeds::Basis { first, .. } => {
                let i = first + k;
                state.moved[i] = state.x[i].apply2_right(step, Plus);
            }
            Seeds::Vectors(vectors) => {
                for ((moved, x), v) in state.moved.iter_mut().zip(&state.x).zip(vectors[k]) {
                    *moved = *x + v.scale(step);
                }
            }
            Seeds::Colors { colors, first, .. } => {
                for ((moved, x), color) in state.moved.iter_mut().zip(&state.x).zip(*colors) {
                    if *color as usize == first + k {
                        *moved = x.apply2_right(step, Plus);
                    }
                }
            }
        }
    }

    /// The step along seed `k`: exactly representable for a basis vector, so that x + h and x differ by it.
    fn step_along<S: Scalar>(
        steps: Steps<S::Base>,
        x: &[S],
        seeds: &Seeds<'_, S>,
        k: usize,
    ) -> Result<S::Base, ErrorKind> {
        match seeds {
            Seeds::Basis { first, .. } => {
                let x = x[first + k].primal();
                let step = steps.usable_at(x, first + k)?;
                let exact = (x + step) - x;
                Ok(if exact > S::Base::ZERO { exact } else { step })
            }
            Seeds::Vectors(vectors) => {
                let length = largest(vectors[k].iter().enumerate()).1;
                // Coordinates that stay do not matter.
                let is_moved = |(i, _): &(usize, &S)| vectors[k][*i].primal() != S::Base::ZERO;
                let (coordinate, x) = largest(x.iter().enumerate().filter(is_moved));
                let step = steps.usable_at(x, coordinate)?;
                if !(length > S::Base::ZERO && length.is_finite()) {
                    return Ok(step);
                }
                // Twice the factor must be finite. Along a subnormal tangent it may be too small to move the point.
                let (factor, half) = (step / length, <S::Base as Float>::max_value() * S::Base::from_f64(0.5));
                if factor <= half {
                    Ok(factor)
                } else if x + half * length != x {
                    Ok(half)
                } else {
                    Err(ErrorKind::UselessStep { coordinate })
                }
            }
            Seeds::Colors { colors, first, .. } => {
                let is_moved = |(i, _): &(usize, &S)| colors[*i] as usize == first + k;
                let (coordinate, x) = largest(x.iter().enumerate().filter(is_moved));
                steps.usable_at(x, coordinate)
            }
        }
    }

    /// Evaluates at the point shifted along seed `k` by a step of either sign, and restores the point.
    fn evaluate_at<S: Scalar, F: Flat<S>>(
        state: &mut FiniteState<S>,
        f: &mut F,
        seeds: &Seeds<'_, S>,
        k: usize,
        step: S::Base,
        into_right: bool,
    ) {
        Self::shift(state, seeds, k, step);
        if let Seeds::Basis { first, .. } = seeds
            && let Some(last) = state.moved_last.replace(first + k)
        {
            f.changed(last.min(first + k)..last.max(first + k) + 1);
        }
        f.call(&state.moved, if into_right { &mut state.right } else { &mut state.left });
        match seeds {
            Seeds::Basis { first, .. } => state.moved[first + k] = state.x[first + k],
            Seeds::Vectors(_) | Seeds::Colors { .. } => state.moved.copy_from_slice(&state.x),
        }
    }

    /// All differences at the point in `state.x`, where `state.base` is f(x) if the scheme needs it.
    fn differences<S: Scalar, F: Flat<S>>(
        &self,
        state: &mut FiniteState<S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let mut outputs = None;
        if self.scheme != Scheme::Central {
            rows.set_rows(state.base.len())?;
            outputs = Some(state.base.len());
        }
        let steps = self.step_rule();
        state.moved_last = None;
        for k in 0..seeds.count() {
            let step = Self::step_along(steps, &state.x, &seeds, k)?;
            // One-sided differences of differences evaluate at two points on their side; the farther one goes to the unused buffer.
            let two_points = self.order > 1 && self.scheme != Scheme::Central;
            if self.scheme != Scheme::Backward {
                Self::evaluate_at(state, f, &seeds, k, step, true);
            } else if two_points {
                Self::evaluate_at(state, f, &seeds, k, -(step + step), true);
            }
            if self.scheme != Scheme::Forward {
                Self::evaluate_at(state, f, &seeds, k, -step, false);
            } else if two_points {
                Self::evaluate_at(state, f, &seeds, k, step + step, false);
            }
            let (right, left, width) = match self.scheme {
                Scheme::Forward => (&state.right, &state.base, step),
                Scheme::Backward => (&state.base, &state.left, step),
                Scheme::Central => (&state.right, &state.left, step + step),
            };
            let expected = *outputs.get_or_insert(right.len());
            if k == 0 && self.scheme == Scheme::Central {
                rows.set_rows(expected)?;
            }
            for found in [right.len(), left.len()] {
                if found != expected {
                    return Err(ErrorKind::OutputLength { expected, found }.into());
                }
            }
            if two_points {
                let (near, far, twice) = match self.scheme {
                    Scheme::Backward => (&state.left, &state.right, -(step + step)),
                    _ => (&state.right, &state.left, step + step),
                };
                if far.len() != expected {
                    return Err(ErrorKind::OutputLength { expected, found: far.len() }.into());
                }
                let four = S::Base::from_f64(4.0);
                for (i, ((near, far), base)) in near.iter().zip(far).zip(&state.base).enumerate() {
                    let slope = (*near - *base).scale(four) - (*far - *base);
                    rows.part(i, k, 1)[0] = slope.apply2_right(twice, Over);
                }
                continue;
            }
            for (i, (right, left)) in right.iter().zip(left).enumerate() {
                rows.part(i, k, 1)[0] = (*right - *left).apply2_right(width, Over);
            }
        }
        Ok(())
    }
}

impl PushforwardPrimitive for AutoFiniteDiff {
    type PushforwardState<S: Scalar, L: Lanes> = FiniteState<S>;

    fn pushforward_state<S: Scalar, L: Lanes>(&self, _inputs: usize, _seeds: usize) -> Result<FiniteState<S>, Error> {
        Ok(FiniteState {
            x: Vec::new(),
            moved: Vec::new(),
            base: Vec::new(),
            right: Vec::new(),
            left: Vec::new(),
            moved_last: None,
        })
    }

    fn hold<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        state: &mut FiniteState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.set_point(x);
        f.call(&state.moved, &mut state.base);
        y.clone_from(&state.base);
        state.right.clone_from(&state.base);
        state.left.clone_from(&state.base);
        Ok(())
    }

    fn pushforward<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        state: &mut FiniteState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.set_point(x);
        // Central differences without seeds must still determine the number of outputs.
        if self.scheme != Scheme::Central || y.is_some() || seeds.count() == 0 {
            f.call(&state.moved, &mut state.base);
        }
        if let Some(y) = y {
            y.clone_from(&state.base);
        }
        if seeds.count() == 0 {
            let mut rows = rows;
            return Ok(rows.set_rows(state.base.len())?);
        }
        self.differences(state, f, seeds, rows)
    }

    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        state: &mut FiniteState<S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        self.differences(state, f, seeds, rows)
    }
}
