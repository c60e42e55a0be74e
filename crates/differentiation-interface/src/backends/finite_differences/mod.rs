//! Extrapolated finite differences: nearly all digits of derivatives, and estimates of their errors, from function values.
//!
//! Reached by operators through the routes below, by `nth_derivative` through [`Backend::nth_from_values`], and by users through
//! [`derivative_of`](AutoFiniteDifferences::derivative_of); runs the user's function on plain numbers.

mod domain;
mod first;
mod line;
mod nth;
mod second;
mod stencil;
mod table;
#[cfg(all(test, feature = "any", feature = "sparse", not(feature = "native")))]
mod tests;

pub use domain::{BoundsOfEach, Domain, SameBounds};
pub use first::DifferencesState;
pub use nth::Estimate;
pub use second::SecondDifferencesState;
pub use stencil::Side;

use differentiation_interface_core::backend::{
    Backend, Differences, Forward, Lane, Lanes, Lift, Native, ViaPushforward,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::scalar::Scalar;

/// Finite differences with extrapolation: accurate, adaptive and slow.
///
/// Each derivative is computed by a formula for a sequence of halved steps, combined by Richardson extrapolation. For each output the combination
/// with the least estimated error is the result, so that each has a step of its own; halving stops where rounding errors of the function
/// values prevent an improvement. Results of smooth functions are right to 13 or 14 digits, where
/// [`AutoFiniteDiff`](crate::backends::AutoFiniteDiff) has 8 to 11, at about 14 evaluations for each input, where that has 2.
///
/// Prepared operators report the estimated errors of the last call:
/// [`error_estimates`](DifferencesState::error_estimates) of `prepared.state().route_state()`, and of its first part for a Hessian.
///
/// | method | default | |
/// |---|---|---|
/// | [`central`](Self::central), [`forward`](Self::forward), [`backward`](Self::backward) | central | the side on which the function is evaluated |
/// | [`levels`](Self::levels) | 5 | steps that one result combines |
/// | [`order`](Self::order) | 2, one-sided 4 | order of accuracy of the formula before extrapolation |
/// | [`first_step`](Self::first_step) | 0.2 max(∣xᵢ∣, 1) | the largest step |
/// | [`noise`](Self::noise) | ε | relative error of the function values |
/// | [`within`](Self::within), [`within_each`](Self::within_each) | everywhere | the domain, which no evaluation leaves |
///
/// Near a bound of the domain the formulas are one-sided. Tangents of pushforwards that have no room are divided into their coordinates.
/// Products with a Hessian use second differences, mixed ones by f_uv = (f_(u+v)(u+v) - f_uu - f_vv) / 2; `second_derivative`, and
/// [`AnyBackend`](crate::backends::AnyBackend) for Hessians, difference the differences.
///
/// # Errors
/// [`ErrorKind::OutsideDomain`](crate::error::ErrorKind::OutsideDomain) and [`NarrowDomain`](crate::error::ErrorKind::NarrowDomain) for
/// points and bounds that leave no room, [`DomainLength`](crate::error::ErrorKind::DomainLength) for bounds of another number of inputs,
/// [`UselessStep`](crate::error::ErrorKind::UselessStep) for a first step that is not positive. Where the function is not finite for any
/// step, the derivative is what the differences of its values are, usually NaN, with an infinite error estimate.
///
/// **Threads.** The function may compute on other threads.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// let opaque = |x: &[f64]| x[0].sin() * x[1].ln();
/// let backend = AutoFiniteDifferences::central().within(0.0, 10.0);
/// let mut prepared = prepare_gradient(&opaque, &backend, &[0.5, 2.0])?;
/// let grad = prepared.gradient(&[0.5, 2.0])?;
/// assert!((grad[0] - 0.5_f64.cos() * 2.0_f64.ln()).abs() < 1e-13);
/// assert!((grad[1] - 0.5_f64.sin() / 2.0).abs() < 1e-13);
/// // The function was not evaluated at negative numbers, and this is known of the error:
/// assert!(prepared.state().route_state().largest_error_estimate() < 1e-11);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoFiniteDifferences<D = SameBounds> {
    side: Side,
    levels: usize,
    order: Option<usize>,
    first_step: Option<f64>,
    noise: f64,
    domain: D,
}

impl Default for AutoFiniteDifferences {
    /// Central differences with five levels.
    fn default() -> Self {
        Self::central()
    }
}

impl AutoFiniteDifferences {
    const fn on(side: Side) -> Self {
        AutoFiniteDifferences { side, levels: 5, order: None, first_step: None, noise: 0.0, domain: SameBounds::NONE }
    }
    /// Differences to both sides; one-sided near a bound.
    pub const fn central() -> Self {
        Self::on(Side::Central)
    }
    /// Differences to the right; to the left near an upper bound.
    pub const fn forward() -> Self {
        Self::on(Side::Right)
    }
    /// Differences to the left; to the right near a lower bound.
    pub const fn backward() -> Self {
        Self::on(Side::Left)
    }
}

impl<D> AutoFiniteDifferences<D> {
    /// Sets how many steps one result combines: 1, which is no extrapolation, to 16. Other numbers count as the nearest of these.
    pub fn levels(mut self, levels: usize) -> Self {
        self.levels = levels.clamp(1, table::MOST_LEVELS);
        self
    }
    /// Sets the order of accuracy of the formulas before extrapolation: 1 to 12, rounded up to an even number for central ones. Other
    /// numbers count as the nearest of these.
    pub fn order(mut self, order: usize) -> Self {
        self.order = Some(order.clamp(1, stencil::MOST_ORDER));
        self
    }
    /// Sets the first and largest step of the coordinate that moves most. For functions whose scale is far from max(|x|, 1).
    pub const fn first_step(mut self, step: f64) -> Self {
        self.first_step = Some(step);
        self
    }
    /// Sets the relative error of the function values, for functions that are less exact than their arithmetic: simulations, iterations,
    /// long sums. Steps are then wider, and the estimates larger.
    pub const fn noise(mut self, relative: f64) -> Self {
        self.noise = relative;
        self
    }
    /// Sets the same bounds for every input, both included. No evaluation leaves them.
    pub fn within(self, lower: f64, upper: f64) -> AutoFiniteDifferences<SameBounds> {
        self.on_domain(SameBounds { lower, upper })
    }
    /// Sets bounds for each input, both included. No evaluation leaves them.
    ///
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// // Not defined for x < 0 or y > 1.
    /// let f = |x: &[f64]| x[0].sqrt() * (1.0 - x[1]).ln();
    /// let backend = AutoFiniteDifferences::central().within_each(&[(0.0, f64::INFINITY), (-10.0, 1.0)]);
    /// let grad = gradient(&f, &backend, &[4.0, 0.5])?;
    /// assert!((grad[0] - 0.25 * 0.5_f64.ln()).abs() < 1e-13 && (grad[1] + 4.0).abs() < 1e-12);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn within_each(self, bounds: &[(f64, f64)]) -> AutoFiniteDifferences<BoundsOfEach> {
        self.on_domain(BoundsOfEach(bounds.into()))
    }
    fn on_domain<E>(self, domain: E) -> AutoFiniteDifferences<E> {
        let AutoFiniteDifferences { side, levels, order, first_step, noise, .. } = self;
        AutoFiniteDifferences { side, levels, order, first_step, noise, domain }
    }
    /// Where the formulas evaluate the function.
    pub const fn side(&self) -> Side {
        self.side
    }
}

#[cfg(feature = "any")]
impl AutoFiniteDifferences {
    /// Appends the options that differ from the defaults, as [`AnyBackend`](crate::backends::AnyBackend) reads them.
    pub(crate) fn print_options(&self, options: &mut Vec<String>) {
        let AutoFiniteDifferences { levels, order, first_step, noise, domain, .. } = self;
        options.extend((*levels != Self::central().levels).then(|| format!("levels={levels}")));
        options.extend(order.map(|order| format!("order={order}")));
        options.extend(first_step.map(|step| format!("first_step={step:?}")));
        options.extend((*noise != 0.0).then(|| format!("noise={noise:?}")));
        options.extend((domain.lower != f64::NEG_INFINITY).then(|| format!("lower={:?}", domain.lower)));
        options.extend((domain.upper != f64::INFINITY).then(|| format!("upper={:?}", domain.upper)));
    }
}

impl<D: Domain> Backend for AutoFiniteDifferences<D> {
    const NAME: &'static str = "finite_differences";
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = S;
    type Mode = Forward<Differences>;
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
    const ADAPTIVE: bool = true;
    fn nth_from_values<S: Scalar>(
        &self,
        order: usize,
        f: &mut dyn FnMut(S, &mut Vec<S>),
        x: S,
        y: &mut Vec<S>,
    ) -> Option<Result<(), Error>> {
        Some(self.nth_into(order, f, x, y))
    }
}

impl<S: Scalar, D: Domain> Lift<S, S> for AutoFiniteDifferences<D> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> S {
        value
    }
}
