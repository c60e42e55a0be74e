//! An expansion in several variables: the user's function on polynomials, and once more where a coefficient is NaN.
//!
//! Called by the operators in `mod.rs`. Over `f64` it is compiled once, in this crate: the function is behind a pointer.

use super::absent::Term;
use super::arena::Open;
use super::polynomial::{Polynomial, PolynomialCore};
use crate::backends::doubles::is_double;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::identity::Identity;
use differentiation_interface_core::monomials::Monomials;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::Scalar;
use num_traits::Float;
use std::any::Any;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A function on polynomials, which leaves its outputs in the second argument.
type OfPolynomials<'a, S> = &'a mut dyn FnMut(&[Polynomial<S>], &mut Vec<Polynomial<S>>);

/// What an expansion works on.
pub(super) struct Expansion<'a, S: Scalar> {
    pub(super) f: OfPolynomials<'a, S>,
    pub(super) x: &'a [S],
    pub(super) monomials: &'a Arc<Monomials>,
    pub(super) point: &'a mut Vec<Polynomial<S>>,
    pub(super) outputs: &'a mut Vec<Polynomial<S>>,
    pub(super) coefficients: &'a mut Vec<S>,
}

/// [`Expansion::compute`] over the scalar `S`.
struct Compute<S: Scalar>(fn(Expansion<'_, S>) -> Result<(), Error>);

/// Leaves the coefficients of all outputs, one output after the other. Whether the scalar is `f64` is known to the compiler, which generates one of the
/// two; one that says so and is not is an error of its engine.
pub(super) fn expand<S: Scalar>(expansion: Expansion<'_, S>) -> Result<(), Error> {
    if const { is_double::<S>() } {
        static ONCE: Compute<f64> = Compute(|expansion| expansion.compute());
        let Some(Compute(compute)) = (&ONCE as &dyn Any).downcast_ref() else {
            return Err(ErrorKind::EngineFailed.into());
        };
        compute(expansion)
    } else {
        expansion.compute()
    }
}

impl<S: Scalar> Expansion<'_, S> {
    fn compute(mut self) -> Result<(), Error> {
        self.run(|number: &S| *number)?;
        // An absent coefficient is stored as zero, which an infinite derivative makes NaN.
        if self.coefficients.iter().any(|c| c.peek().is_nan()) {
            self.run(|term: &Term<S>| term.0.number())?;
        }
        Ok(())
    }

    /// Runs the function on polynomials with coefficients `T`, and leaves them as `number` gives them.
    fn run<T: Scalar>(&mut self, number: impl Fn(&T) -> S) -> Result<(), Error> {
        let identity = Identity::begin();
        let open = Open::<T>::new(identity.id(), self.monomials);
        self.point.clear();
        let variable = |(i, &value)| PolynomialCore::variable(value, i, identity.id(), &open.arena);
        self.point.extend(self.x.iter().enumerate().map(variable));
        (self.f)(self.point, self.outputs);
        check_own(self.outputs.iter().map(|y| y.0.identity()), &identity)?;
        self.coefficients.clear();
        self.outputs.iter().for_each(|y| y.0.coefficients(&open.arena, &number, self.coefficients));
        Ok(())
    }
}

/// Refuses outputs of another differentiation.
pub(super) fn check_own(outputs: impl Iterator<Item = Option<NonZeroU32>>, own: &Identity) -> Result<(), Error> {
    own.check()?;
    match outputs.flatten().all(|level| level == own.id()) {
        true => Ok(()),
        false => Err(ErrorKind::ForeignNumber.into()),
    }
}
