//! The arguments that a pattern belongs to, beside the numbers of the point.
//!
//! Kept by the states of `jacobian` and `hessian`. A container may have another shape with the same number of numbers, and a constant
//! may decide which entries there are: the pattern of the preparation would give wrong numbers without a word.

use super::coloring_error;
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Storage;
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::recordings::Words;
use differentiation_interface_core::scalar::Scalar;
use matrix_coloring::Pattern;

/// The shape of the point and the constants of a pattern.
#[derive(Clone, Debug, Default)]
pub(super) struct PatternArguments {
    /// The lengths at the detection that the type of the point does not tell.
    shape: Vec<u64>,
    /// The constants at the detection; `None` if they are not plain data, so that nothing can be compared.
    constants: Option<Vec<u64>>,
}

impl PatternArguments {
    /// Keeps the arguments of a detection.
    pub(super) fn keep<X: Shape, C: Contexts, N: Scalar>(
        &mut self,
        storage: &mut Storage<X, C, N>,
        x: At<'_, impl Point<Shape = X, Contexts = C>>,
    ) {
        self.shape.clear();
        storage.lengths(x, &mut Words::Keep(&mut self.shape));
        let mut words = self.constants.take().unwrap_or_default();
        words.clear();
        let known = storage.beside(&x.contexts(), &mut Words::Keep(&mut words));
        self.constants = known.then_some(words);
    }

    /// The pattern that a call needs in place of `prepared`, which has the entries of both: `None` where there are no others than
    /// its own. Calls `detect` where the constants may be others than at the detection, if the detector `follows` them.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedShape`] at a point of a different shape, and those of `detect`.
    pub(super) fn newer<X: Shape, C: Contexts, N: Scalar>(
        &mut self,
        (prepared, follows): (&Pattern, bool),
        storage: &mut Storage<X, C, N>,
        x: At<'_, impl Point<Shape = X, Contexts = C>>,
        detect: impl FnOnce() -> Result<Pattern, Error>,
    ) -> Result<Option<Pattern>, Error> {
        let mut known = Words::Compare(&self.shape);
        if !storage.lengths(x, &mut known) || !known.is_complete() {
            return Err(ErrorKind::PreparedShape.into());
        }
        if !follows || self.are_equal(storage, x) {
            return Ok(None);
        }
        let found = detect()?;
        if prepared.includes(&found) {
            self.keep(storage, x);
            return Ok(None);
        }
        // Constants that go back and forth do not change the pattern each time. They may decide how many outputs there are.
        if !prepared.has_size_of(&found) {
            return Ok(Some(found));
        }
        prepared.union(&found).map(Some).map_err(coloring_error)
    }

    /// Whether the constants are those of the detection; `false` if that cannot be known.
    fn are_equal<X: Shape, C: Contexts, N: Scalar>(
        &mut self,
        storage: &Storage<X, C, N>,
        x: At<'_, impl Point<Shape = X, Contexts = C>>,
    ) -> bool {
        let Some(known) = &self.constants else { return false };
        let mut words = Words::Compare(known);
        storage.beside(&x.contexts(), &mut words) && words.is_complete()
    }
}
