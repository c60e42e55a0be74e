//! Detectors beside the tracers: a known pattern, a dense derivative, none.

use differentiation_interface_core::backend::{Backend, MatrixRoute, Rows, SecondOrderBackend};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::{Base, Scalar};
use matrix_coloring::Pattern;
use sparsity_tracer::SparsityDetector;
use std::sync::Arc;

/// Takes the pattern that is given. The function is not run.
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
    type JacobianNum<B: Base> = B;
    type HessianNum<B: Base> = B;

    fn jacobian<S: Scalar>(&self, _f: &mut impl Flat<S::Base>, x: &[S]) -> Result<Pattern, Error> {
        self.checked((self.0.nrows(), x.len()))
    }
    fn hessian<S: Scalar>(&self, _f: &mut impl Flat<S::Base>, x: &[S]) -> Result<Pattern, Error> {
        self.checked((x.len(), x.len()))
    }
}

/// Every entry is taken to be nonzero, so that `AutoSparse` does the work of its dense backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoSparsityDetector;

impl SparsityDetector for NoSparsityDetector {
    const NAME: &'static str = "none";
    type JacobianNum<B: Base> = B;
    type HessianNum<B: Base> = B;

    fn jacobian<S: Scalar>(&self, f: &mut impl Flat<S::Base>, x: &[S]) -> Result<Pattern, Error> {
        let plain: Vec<S::Base> = x.iter().map(|v| v.primal()).collect();
        let mut y = Vec::new();
        f.call(&plain, &mut y);
        Pattern::dense(y.len(), x.len()).map_err(|_| ErrorKind::TapeOverflow.into())
    }
    fn hessian<S: Scalar>(&self, _f: &mut impl Flat<S::Base>, x: &[S]) -> Result<Pattern, Error> {
        Pattern::dense(x.len(), x.len()).map_err(|_| ErrorKind::TapeOverflow.into())
    }
}

/// Computes the derivative densely by `backend` and keeps the entries larger than `tolerance` in absolute value, and those
/// that are not numbers. The pattern holds at one point only.
///
/// `backend` differentiates once; for a Hessian it stands for itself twice.
#[derive(Clone, Copy, Debug)]
pub struct DenseSparsityDetector<B> {
    /// The dense backend.
    pub backend: B,
    /// Entries up to this size are taken to be zero.
    pub tolerance: f64,
}

impl<D> DenseSparsityDetector<D> {
    fn pattern<B: Base>(&self, rows: usize, columns: usize, entries: &[B]) -> Result<Pattern, Error> {
        let kept = |(k, v): (usize, &B)| {
            let v = v.as_f64().abs();
            (v > self.tolerance || v.is_nan()).then(|| (k / columns, k % columns))
        };
        let entries = entries.iter().enumerate().filter_map(kept);
        Pattern::from_triplets(rows, columns, entries).map_err(|_| ErrorKind::TapeOverflow.into())
    }
}

impl<D> SparsityDetector for DenseSparsityDetector<D>
where
    D: Backend + SecondOrderBackend<Outer = D, Inner = D> + std::fmt::Debug,
{
    const NAME: &'static str = "dense";
    type JacobianNum<B: Base> = D::Num<B, D::Lanes>;
    type HessianNum<B: Base> = D::Num<D::Num<B, D::Lanes>, D::Lanes>;

    fn jacobian<S: Scalar>(&self, f: &mut impl Flat<Self::JacobianNum<S::Base>>, x: &[S]) -> Result<Pattern, Error> {
        let plain: Vec<S::Base> = x.iter().map(|v| v.primal()).collect();
        let (mut y, mut entries) = (Vec::new(), Vec::new());
        let mut state = D::Jacobian::state::<S::Base, D::Lanes>(&self.backend, plain.len())?;
        let rows = Rows::growing(&mut entries, plain.len());
        D::Jacobian::matrix(&self.backend, &mut state, f, &plain, Some(&mut y), rows)?;
        self.pattern(y.len(), plain.len(), &entries)
    }

    fn hessian<S: Scalar>(&self, f: &mut impl Flat<Self::HessianNum<S::Base>>, x: &[S]) -> Result<Pattern, Error> {
        // The Jacobian of the gradient, whatever route a Hessian takes: one number type serves all modes.
        let plain: Vec<S::Base> = x.iter().map(|v| v.primal()).collect();
        let n = plain.len();
        let (outer, inner) = self.backend.pair();
        let mut state = D::Gradient::state::<D::Num<S::Base, D::Lanes>, D::Lanes>(&inner, n)?;
        let mut gradient = GradientOf::<_, _, D> { f, inner: &inner, state: &mut state, error: None };
        let mut outer_state = D::Jacobian::state::<S::Base, D::Lanes>(&outer, n)?;
        let mut entries = Vec::new();
        let rows = Rows::growing(&mut entries, n);
        let result = D::Jacobian::matrix(&outer, &mut outer_state, &mut gradient, &plain, None, rows);
        gradient.error.map_or(result, Err)?;
        let half = self.pattern(n, n, &entries)?;
        // Rounding may leave one of two mirror images out.
        let both = half.entries().flat_map(|(i, j)| [(i, j), (j, i)]).collect::<std::collections::BTreeSet<_>>();
        Pattern::from_triplets(n, n, both).map_err(|_| ErrorKind::TapeOverflow.into())
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
        let result = D::Gradient::matrix(self.inner, self.state, self.f, x, None, Rows::fixed(y, x.len()));
        self.error = self.error.take().or(result.err());
    }
}
