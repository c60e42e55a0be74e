//! The arguments that a pattern belongs to, beside the numbers of the point.
//!
//! Kept by the states of `jacobian` and `hessian`. A container may have another shape with the same number of numbers, and a constant
//! may decide which entries there are: the pattern of the preparation would give wrong numbers without a word.

use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::evaluate::Storage;
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::recordings::Words;
use differentiation_interface_core::scalar::Scalar;

/// The shape of the point and the constants of a pattern.
#[derive(Clone, Debug, Default)]
pub(super) struct PatternArguments {
    /// The lengths that the type of the point does not tell: at the detection, and in this call.
    shape: [Vec<usize>; 2],
    /// The constants at the detection; `None` if they are not plain data, so that nothing can be compared.
    constants: Option<Vec<u64>>,
    lengths: Vec<usize>,
}

impl PatternArguments {
    /// Keeps the arguments of a detection.
    pub(super) fn keep<X: Shape, C: Contexts, N: Scalar>(
        &mut self,
        storage: &mut Storage<X, C, N>,
        x: At<'_, impl Point<Shape = X, Contexts = C>>,
    ) {
        storage.lengths(x, &mut self.shape[0]);
        let mut words = self.constants.take().unwrap_or_default();
        words.clear();
        let known = storage.beside(&x.contexts(), &mut self.lengths, &mut Words::Keep(&mut words));
        self.constants = known.then_some(words);
    }

    /// Whether the constants may be others than at the detection. The shape of the point must be the same.
    pub(super) fn have_changed<X: Shape, C: Contexts, N: Scalar>(
        &mut self,
        storage: &mut Storage<X, C, N>,
        x: At<'_, impl Point<Shape = X, Contexts = C>>,
    ) -> Result<bool, ErrorKind> {
        let [kept, called] = &mut self.shape;
        storage.lengths(x, called);
        if called != kept {
            return Err(ErrorKind::PreparedShape);
        }
        let Some(known) = &self.constants else { return Ok(true) };
        let mut words = Words::Compare(known);
        let are_equal = storage.beside(&x.contexts(), &mut self.lengths, &mut words) && words.is_complete();
        Ok(!are_equal)
    }
}
