//! Derivatives of any order of functions of one number, by truncated Taylor series.
//!
//! Reached by `nth_derivative` and by [`taylor_coefficients`]; runs the user's function once on [`Series`]. It is no
//! [`Backend`](differentiation_interface_core::backend::Backend): one series has one direction, and no other operator gains by it.

mod dependence;
mod series;
#[cfg(test)]
mod tests;

pub use series::{Series, SeriesCore};

use differentiation_interface_core::backend::Lift;
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::{Bound, Evaluate, Flat, KeptBy, Output, Storage};
use differentiation_interface_core::fault;
use differentiation_interface_core::identity::Identity;
use differentiation_interface_core::operators::{NthDerivativeBackend, Order};
use differentiation_interface_core::point::{At, NumberShape, Point, Shape};
use differentiation_interface_core::scalar::{Base, Scalar};

/// Taylor mode: the derivatives of orders 0 to N of a function of one number, from one evaluation.
///
/// The function runs on series truncated after the N-th power. A product costs of the order of N² operations, an elementary function of the
/// order of N² to N³ (`sech_squared` and `logistic_slope`, the derivatives of `tanh` and `logistic`, more: their series are
/// computed from each other). Exact up to rounding, for every order, unless a coefficient (the derivative of order k over k!) is below the
/// smallest normal number.
///
/// ```
/// # use differentiation_interface::prelude::*;
/// fn wave<T: Real>(x: T) -> T {
///     (2.0 * x).sin()
/// }
/// // (sin 2x)⁗ = 16 sin 2x
/// assert_eq!(nth_derivative(&wave, &AutoTaylor, 0.25, Order::<4>)?, 16.0 * 0.5f64.sin());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutoTaylor;

impl<S: Scalar, const N: usize> Lift<S, Series<S, N>> for AutoTaylor {
    fn lift(value: S) -> Series<S, N> {
        SeriesCore::constant_series(value)
    }
}

/// The coefficients of the outputs, order by order.
fn coefficients<F, P, const N: usize>(
    f: &F,
    x: At<'_, P>,
    kept: &mut KeptBy<F, P::Shape, P::Contexts, Series<<P::Shape as Shape>::Scalar, N>>,
    mut read: impl FnMut(&[Series<<P::Shape as Shape>::Scalar, N>]),
) -> Result<(), Error>
where
    P: Point,
    F: Evaluate<P::Shape, P::Contexts, Series<<P::Shape as Shape>::Scalar, N>>,
{
    let identity = Identity::begin();
    let mut storage = Storage::new(x);
    let mut f = Bound::new(f, x, &mut storage, kept);
    let point: Vec<_> = x.coordinates().iter().map(|&value| SeriesCore::variable(value, identity.id())).collect();
    let mut y = Vec::new();
    f.call(&point, &mut y);
    identity.check()?;
    if y.iter().any(|y| y.0.identity().is_some_and(|own| own != identity.id())) {
        return Err(ErrorKind::ForeignNumber.into());
    }
    read(&y);
    Ok(())
}

impl<F, X, C, const N: usize> NthDerivativeBackend<F, X, C, N> for AutoTaylor
where
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, Series<X::Scalar, N>>,
{
    const BACKEND: &'static str = "taylor";
    type Num = Series<X::Scalar, N>;
    type Output = F::Output;

    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        f: &F,
        x: At<'_, P>,
        kept: &mut KeptBy<F, X, C, Self::Num>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error> {
        let factorial = (1..=N).fold(1.0, |product, k| product * k as f64);
        coefficients::<F, P, N>(f, x, kept, |outputs| {
            y.clear();
            y.extend(outputs.iter().map(|y| y.0.coefficient(N).scale(Base::from_f64(factorial))));
        })
    }
}

/// The coefficients c₀ to c_N of the Taylor series of `f` at the number `x`, f(x + t) = c₀ + c₁ t + … + c_N tᴺ + …, each in the shape
/// of the output: cₖ is the derivative of order k divided by k!.
///
/// # Errors
/// Those of [`nth_derivative`](differentiation_interface_core::operators::nth_derivative).
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn geometric<T: Real>(x: T) -> T {
///     1.0 / (1.0 - x)
/// }
/// assert_eq!(taylor_coefficients(&geometric, 0.0, Order::<4>)?, [1.0, 1.0, 1.0, 1.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn taylor_coefficients<F, P, const N: usize>(
    f: &F,
    x: P,
    _order: Order<N>,
) -> Result<Vec<Coefficient<F, P, N>>, Error>
where
    P: Point<Shape: NumberShape>,
    F: Evaluate<P::Shape, P::Contexts, Series<<P::Shape as Shape>::Scalar, N>>,
{
    let (mut memory, mut kept) = (Vec::new(), Default::default());
    let mut rows: Vec<Vec<_>> = Vec::with_capacity(N + 1);
    let result = fault::watch(|| {
        coefficients::<F, P, N>(f, At::new(&x, &mut memory), &mut kept, |outputs| {
            rows.extend((0..=N).map(|k| outputs.iter().map(|y| y.0.coefficient(k)).collect()));
        })
    });
    result.map_err(|error| error.during("taylor_coefficients", "taylor"))?;
    Ok(rows.iter().map(|row| F::Output::build(row, &kept)).collect())
}

/// One coefficient, in the shape of the output of `F`.
pub type Coefficient<F, P, const N: usize> = <<F as Evaluate<
    <P as Point>::Shape,
    <P as Point>::Contexts,
    Series<<<P as Point>::Shape as Shape>::Scalar, N>,
>>::Output as Output<Series<<<P as Point>::Shape as Shape>::Scalar, N>>>::With<<<P as Point>::Shape as Shape>::Scalar>;
