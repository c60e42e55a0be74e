//! Detectors other than tracers: a known pattern, a dense pattern, the zeros of a dense derivative.

use differentiation_interface_core::backend::{
    Backend, Direction, Lanes, MatrixRoute, Mode, PullbackRoute, PushforwardRoute, Rows, SecondOrderBackend, Seeds,
};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::{Base, Scalar};
use matrix_coloring::Pattern;
use sparsity_tracer::SparsityDetector;
use std::sync::Arc;

/// Uses the given pattern. The function does not run, except to count the outputs for an error.
#[derive(Clone, Debug)]
pub struct KnownPattern(
    /// Outputs × inputs for a Jacobian, inputs × inputs and symmetric for a Hessian.
    pub Arc<Pattern>,
);

impl KnownPattern {
    fn checked(&self, expected: (usize, usize)) -> Result<Pattern, Error> {
        let found = (self.0.nrows(), self.0.ncols());
        if found == expected { Ok((*self.0).clone()) } else { Err(ErrorKind::PatternSize { expected, found }.into()) }
    }
}

impl SparsityDetector for KnownPattern {
    const NAME: &'static str = "known";
    const FOLLOWS_CONSTANTS: bool = false;
    type JacobianNum<B: Base> = B;
    type HessianNum<B: Base> = B;

    fn jacobian<S: Scalar>(&self, f: &mut impl Flat<S::Base>, x: &[S]) -> Result<Pattern, Error> {
        let rows = if self.0.ncols() == x.len() { self.0.nrows() } else { count_outputs(f, x) };
        self.checked((rows, x.len()))
    }
    fn hessian<S: Scalar>(&self, _f: &mut impl Flat<S::Base>, x: &[S]) -> Result<Pattern, Error> {
        self.checked((x.len(), x.len()))
    }
}

/// Runs the function, and counts its outputs.
fn count_outputs<S: Scalar>(f: &mut impl Flat<S::Base>, x: &[S]) -> usize {
    let plain: Vec<S::Base> = x.iter().map(|v| v.primal()).collect();
    let mut y = Vec::new();
    f.call(&plain, &mut y);
    y.len()
}

/// Assumes that every entry is nonzero, so that `AutoSparse` does the work of its dense backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoSparsityDetector;

impl SparsityDetector for NoSparsityDetector {
    const NAME: &'static str = "none";
    const FOLLOWS_CONSTANTS: bool = false;
    type JacobianNum<B: Base> = B;
    type HessianNum<B: Base> = B;

    fn jacobian<S: Scalar>(&self, f: &mut impl Flat<S::Base>, x: &[S]) -> Result<Pattern, Error> {
        Pattern::dense(count_outputs(f, x), x.len()).map_err(super::coloring_error)
    }
    fn hessian<S: Scalar>(&self, _f: &mut impl Flat<S::Base>, x: &[S]) -> Result<Pattern, Error> {
        Pattern::dense(x.len(), x.len()).map_err(super::coloring_error)
    }
}

/// Computes the dense derivative by `backend` and keeps the entries larger than `tolerance` in absolute value, and those that are
/// NaN. The pattern is valid at one point only.
///
/// `backend` is a first-order backend; for a Hessian it is both the outer and the inner one.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::sparse::{DenseMethod, DenseSparsityDetector};
///
/// #[differentiable]
/// fn branching(y: &mut [f64], x: &[f64]) {
///     y[0] = if x[0] < 0.0 { x[1] } else { x[0] };
/// }
/// let backend = AutoForwardDiff::default();
/// let detector = DenseSparsityDetector { backend, tolerance: 1e-12, method: DenseMethod::Iterative };
/// let jac = jacobian(&in_place(Branching, 1), &AutoSparse::new(backend).with_detector(detector), &[-1.0, 2.0])?;
/// assert_eq!(jac.entries().collect::<Vec<_>>(), [(0, 1, 1.0)]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DenseSparsityDetector<B> {
    /// The dense backend.
    pub backend: B,
    /// Entries up to this absolute value count as zero.
    pub tolerance: f64,
    /// How much of the derivative is stored at once.
    pub method: DenseMethod,
}

/// How a [`DenseSparsityDetector`] computes the derivative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DenseMethod {
    /// A few columns at a time, or rows where the backend is a reverse one, in memory for these few.
    #[default]
    Iterative,
    /// The whole matrix, by the backend's own route for Jacobians.
    Direct,
}

/// The number of rows at a time in iterative detection by a reverse backend.
const ROWS: usize = 8;

impl<D: Backend> DenseSparsityDetector<D> {
    /// The number of outputs and the entries of the Jacobian of a flat function that are kept, in any order.
    fn entries<S: Scalar, F: Flat<D::Num<S, D::Lanes>>>(
        &self,
        backend: &D,
        f: &mut F,
        x: &[S],
    ) -> Result<(usize, Vec<(usize, usize)>), Error> {
        let inputs = x.len();
        let (mut y, mut part, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        let is_kept = |v: S| {
            let v = v.primal().as_f64().abs();
            v > self.tolerance || v.is_nan()
        };
        match self.method {
            DenseMethod::Direct => {
                let mut state = D::Jacobian::state::<S, D::Lanes>(backend, inputs)?;
                D::Jacobian::matrix(backend, &mut state, f, x, Some(&mut y), Rows::growing(&mut part, inputs))?;
                let entries = part.iter().enumerate().filter(|(_, v)| is_kept(**v));
                kept.extend(entries.map(|(k, _)| (k / inputs, k % inputs)));
            }
            DenseMethod::Iterative if D::Mode::DIRECTION == Direction::Reverse => {
                let mut state = D::Pullback::state::<S, D::Lanes>(backend, inputs)?;
                D::Pullback::record(backend, &mut state, f, x, &mut y)?;
                for first in (0..y.len()).step_by(ROWS) {
                    let seeds = Seeds::Basis { first, count: ROWS.min(y.len() - first) };
                    D::Pullback::sweep(backend, &mut state, f, seeds, Rows::growing(&mut part, inputs))?;
                    let entries = part.iter().enumerate().filter(|(_, v)| is_kept(**v));
                    kept.extend(entries.map(|(k, _)| (first + k / inputs, k % inputs)));
                }
            }
            DenseMethod::Iterative => {
                let mut state = D::Pushforward::state::<S, D::Lanes>(backend, inputs, inputs)?;
                let mut first = 0;
                loop {
                    let count = D::Lanes::N.min(inputs - first);
                    let (seeds, value) = (Seeds::Basis { first, count }, (first == 0).then_some(&mut y));
                    let rows = Rows::growing(&mut part, count);
                    D::Pushforward::pushforward(backend, &mut state, f, x, seeds, value, rows)?;
                    let entries = part.iter().enumerate().filter(|(_, v)| is_kept(**v));
                    kept.extend(entries.map(|(k, _)| (k / count, first + k % count)));
                    first += count;
                    if first >= inputs {
                        break;
                    }
                }
            }
        }
        Ok((y.len(), kept))
    }
}

impl<D> SparsityDetector for DenseSparsityDetector<D>
where
    D: Backend + SecondOrderBackend<Outer = D, Inner = D> + std::fmt::Debug,
{
    const NAME: &'static str = "dense";
    const AT_ONE_POINT: bool = true;
    type JacobianNum<B: Base> = D::Num<B, D::Lanes>;
    type HessianNum<B: Base> = D::Num<D::Num<B, D::Lanes>, D::Lanes>;

    fn jacobian<S: Scalar>(&self, f: &mut impl Flat<Self::JacobianNum<S::Base>>, x: &[S]) -> Result<Pattern, Error> {
        let plain: Vec<S::Base> = x.iter().map(|v| v.primal()).collect();
        let (outputs, entries) = self.entries(&self.backend, f, &plain)?;
        Pattern::from_triplets(outputs, x.len(), entries).map_err(super::coloring_error)
    }

    fn hessian<S: Scalar>(&self, f: &mut impl Flat<Self::HessianNum<S::Base>>, x: &[S]) -> Result<Pattern, Error> {
        // The Jacobian of the gradient, independent of the route of a Hessian: one number type for all modes.
        let plain: Vec<S::Base> = x.iter().map(|v| v.primal()).collect();
        let n = plain.len();
        let (outer, inner) = self.backend.pair();
        let mut state = D::Gradient::state::<D::Num<S::Base, D::Lanes>, D::Lanes>(&inner, n)?;
        let mut gradient = GradientOf::<_, _, D> { f, inner: &inner, state: &mut state, error: None };
        let found = self.entries(&outer, &mut gradient, &plain);
        let (_, half) = gradient.error.map_or(found, Err)?;
        // Rounding may drop one of two symmetric entries.
        let both = half.into_iter().flat_map(|(i, j)| [(i, j), (j, i)]);
        Pattern::from_triplets(n, n, both).map_err(super::coloring_error)
    }
}

/// The gradient by the dense backend as a flat function of its own numbers.
struct GradientOf<'a, F, State, D> {
    f: &'a mut F,
    inner: &'a D,
    state: &'a mut State,
    error: Option<Error>,
}

impl<F, D, N> Flat<N> for GradientOf<'_, F, <D::Gradient as MatrixRoute<D>>::State<N, D::Lanes>, D>
where
    D: Backend,
    N: Scalar,
    F: Flat<D::Num<N, D::Lanes>>,
{
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        y.resize(x.len(), N::default());
        let result = D::Gradient::matrix(&self.inner.steady(), self.state, self.f, x, None, Rows::fixed(y, x.len()));
        self.error = self.error.take().or(result.err());
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}
