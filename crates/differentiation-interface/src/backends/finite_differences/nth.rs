//! Derivatives of any order of a function of one number, from its values.
//!
//! Called by `nth_derivative` through the backend, and by users; calls `line.rs`.

use super::AutoFiniteDifferences;
use super::domain::Domain;
use super::line::{Along, Line};
use super::stencil::MOST_DERIVATIVE;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::fault;
use differentiation_interface_core::scalar::{Base, Scalar};
use num_traits::Float;

/// A derivative with an estimate of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate<B> {
    /// The derivative.
    pub value: B,
    /// An estimate of its absolute error, usually some ten times the error itself; infinite if no finite derivative was found.
    pub error: B,
}

/// A function of one number as a flat one.
struct OneNumber<G>(G);

impl<S: Scalar, G: FnMut(S, &mut Vec<S>)> Flat<S> for OneNumber<G> {
    fn call(&mut self, x: &[S], y: &mut Vec<S>) {
        (self.0)(x[0], y);
    }
    fn has_work_memory(&self) -> bool {
        false
    }
}

impl<D: Domain> AutoFiniteDifferences<D> {
    /// Returns the derivative of order `order` of `f` at `x`, from one formula for this order, with an estimate of its error.
    ///
    /// # Errors
    /// [`ErrorKind::DerivativeOrder`] above order 12, and those of the domain and of the first step.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// // (ln x)‴ = 2 / x³
    /// let third = AutoFiniteDifferences::central().derivative_of(f64::ln, 3, 2.0)?;
    /// assert!((third.value - 0.25).abs() < third.error && third.error < 1e-8);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn derivative_of<B: Base>(&self, mut f: impl FnMut(B) -> B, order: usize, x: B) -> Result<Estimate<B>, Error> {
        let mut function = OneNumber(|x: B, y: &mut Vec<B>| {
            y.clear();
            y.push(f(x));
        });
        let mut line = Line::new();
        let result = fault::watch(|| Ok(self.nth(&mut line, &mut function, order, x)?));
        result.map_err(|error| error.during("derivative_of", "finite_differences"))?;
        if order == 0 {
            return Ok(Estimate { value: line.base[0], error: line.base[0].abs() * <B as Float>::epsilon() });
        }
        Ok(Estimate { value: line.table.best[0], error: line.table.error[0] })
    }

    /// Computes the derivative of an order into the line's table, or the value itself for order 0.
    fn nth<S: Scalar, F: Flat<S>>(&self, line: &mut Line<S>, f: &mut F, order: usize, x: S) -> Result<(), ErrorKind> {
        line.set_point(&self.domain, &[x])?;
        match order {
            0 => line.evaluate_base(f),
            1..=MOST_DERIVATIVE => line.differentiate(self, f, Along::Coordinate(0), order),
            _ => Err(ErrorKind::DerivativeOrder { order, most: MOST_DERIVATIVE }),
        }
    }

    /// Writes the derivative of an order to `y`, one entry per output.
    pub(super) fn nth_into<S: Scalar>(
        &self,
        order: usize,
        f: &mut dyn FnMut(S, &mut Vec<S>),
        x: S,
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        let mut line = Line::new();
        self.nth(&mut line, &mut OneNumber(f), order, x)?;
        y.clone_from(if order == 0 { &line.base } else { &line.table.best });
        Ok(())
    }
}
