//! What the inner backend computes, as a function that the outer backend differentiates.
//!
//! Called by the outer backend; calls a route of the inner one: `Gradient` for products with a Hessian, `Derivative` for second derivatives in one
//! variable.

use crate::backend::{Backend, Lanes, MatrixRoute, Rows};
use crate::error::Error;
use crate::evaluate::Flat;
use crate::recordings::{OutputShape, Recordable, Words};
use crate::scalar::Scalar;

/// State of the route `R` of the inner backend over numbers `N` of the outer one.
pub(super) type InnerState<I, R, N, L> = <R as MatrixRoute<I>>::State<N, L>;

/// The derivative by the route `R` of the inner backend as a flat function of numbers `N` of the outer one.
pub(super) struct InnerDerivative<'a, F, I: Backend, R: MatrixRoute<I>, L: Lanes, N: Scalar, S> {
    pub(super) f: &'a mut F,
    pub(super) inner: &'a I,
    pub(super) state: &'a mut InnerState<I, R, N, L>,
    pub(super) inner_value: &'a mut Vec<N>,
    /// The buffer for the value of the first evaluation, if requested, and the function that projects it.
    pub(super) value: Option<(&'a mut Vec<S>, fn(&N) -> S)>,
    pub(super) error: Option<Error>,
}

impl<F, I: Backend, R: MatrixRoute<I>, L: Lanes, N: Scalar, S> InnerDerivative<'_, F, I, R, L, N, S> {
    /// Whether the value is requested and the outer backend replayed a recording instead of evaluating.
    pub(super) fn lacks_value(&self) -> bool {
        self.value.is_some() && self.error.is_none()
    }
}

impl<F, I, R, L, N, S> Flat<N> for InnerDerivative<'_, F, I, R, L, N, S>
where
    F: Flat<I::Num<N, L>>,
    I: Backend,
    R: MatrixRoute<I>,
    L: Lanes,
    N: Scalar,
{
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        if self.error.is_some() {
            return y.resize(x.len(), N::default());
        }
        let value = self.value.is_some().then_some(&mut *self.inner_value);
        let rows = Rows::growing(y, x.len());
        match R::matrix(&self.inner.steady(), self.state, self.f, x, value, rows) {
            Ok(()) => {
                // Only the first evaluation is guaranteed to be at the point itself.
                if let Some((value, project)) = self.value.take() {
                    value.clear();
                    value.extend(self.inner_value.iter().map(project));
                }
            }
            Err(error) => {
                self.error = Some(error);
                // As many outputs as a gradient has; the outer backend's results are dropped.
                y.resize(x.len(), N::default());
            }
        }
    }
    fn remember_shape(&mut self) -> Option<OutputShape> {
        self.f.remember_shape()
    }
    fn recordable(&self) -> Option<&dyn Recordable> {
        Some(self)
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}

impl<F, I, R, L, N, S> Recordable for InnerDerivative<'_, F, I, R, L, N, S>
where
    F: Flat<I::Num<N, L>>,
    I: Backend,
    R: MatrixRoute<I>,
    L: Lanes,
    N: Scalar,
{
    fn is_pure(&self) -> bool {
        self.f.recordable().is_pure()
    }
    fn parameters(&self, values: &mut Vec<f64>) {
        self.f.recordable().parameters(values);
    }
    fn lengths(&self, words: &mut Words<'_>) -> bool {
        self.f.recordable().lengths(words)
    }
    fn constants(&self, words: &mut Vec<u64>) -> bool {
        self.f.recordable().constants(words)
    }
    fn constants_are(&self, words: &[u64]) -> bool {
        self.f.recordable().constants_are(words)
    }
    fn may_change(&self) -> bool {
        self.f.recordable().may_change()
    }
    fn has_failed(&self) -> bool {
        self.error.is_some() || self.f.recordable().has_failed()
    }
    fn show_shape(&self, shape: OutputShape) {
        self.f.recordable().show_shape(shape);
    }
}

/// The first error of an inner differentiation, else that of the outer one.
pub(super) fn first_error(inner: Option<Error>, outer: Result<(), Error>) -> Result<(), Error> {
    match inner {
        Some(error) => Err(error),
        None => outer,
    }
}
