//! What operators share: the checks of lengths, and the matrix ∂y/∂x behind `derivative`, `gradient` and `jacobian`.
//!
//! Called by the operators; [`MatrixWork`] calls the backend's [`MatrixRoute`].

use super::NumOf;
use crate::backend::{Backend, Lanes, MatrixRoute, Rows};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Bound, Evaluate, Flat};
use crate::fault;
use crate::point::{Point, ScalarOf, Shape};

/// Refuses a point of another length than the preparation was made for.
#[inline]
pub(super) fn check_point(prepared: usize, found: usize) -> Result<(), ErrorKind> {
    if found == prepared { Ok(()) } else { Err(ErrorKind::PreparedLength { prepared, found }) }
}

/// Refuses a buffer of another length than the result.
#[inline]
pub(super) fn check_buffer(expected: usize, found: usize) -> Result<(), ErrorKind> {
    if found == expected { Ok(()) } else { Err(ErrorKind::BufferLength { expected, found }) }
}

/// State and work memory of one operator by one route.
pub struct MatrixWork<B: Backend, R: MatrixRoute<B>, L: Lanes, X: Shape, C: Contexts> {
    operator: &'static str,
    state: R::State<X::Scalar, L>,
    storage: C::Storage<NumOf<B, X, L>>,
    /// Number of outputs, once prepared.
    pub(super) outputs: Option<usize>,
    /// Outputs of the last evaluation that left them.
    pub(super) y: Vec<X::Scalar>,
}

impl<B: Backend, R: MatrixRoute<B>, L: Lanes, X: Shape, C: Contexts> Clone for MatrixWork<B, R, L, X, C> {
    fn clone(&self) -> Self {
        MatrixWork {
            operator: self.operator,
            state: self.state.clone(),
            storage: self.storage.clone(),
            outputs: self.outputs,
            y: self.y.clone(),
        }
    }
}

impl<B: Backend, R: MatrixRoute<B>, L: Lanes, X: Shape, C: Contexts> MatrixWork<B, R, L, X, C> {
    /// Unprepared: nothing is evaluated, buffers are empty.
    pub(super) fn new<P>(operator: &'static str, backend: &B, point: &P) -> Result<Self, Error>
    where
        P: Point<Shape = X, Contexts = C>,
    {
        let inputs = point.coordinates().len();
        Ok(MatrixWork {
            operator,
            state: R::state(backend, inputs).map_err(|error| error.during(operator, B::NAME))?,
            storage: C::allocate(point.contexts()),
            outputs: None,
            y: Vec::new(),
        })
    }

    /// Sizes all buffers by one evaluation at `point`, which may have another length than before.
    pub(super) fn prepare<P, F>(&mut self, backend: &B, function: &F, point: &P) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>>,
    {
        let x = point.coordinates();
        let operator = self.operator;
        fault::watch(|| {
            let state = R::state(backend, x.len())?;
            if backend.recordings().is_some() {
                self.state = state;
            }
            let mut f = Bound::<_, X, C, _>::new(function, point.contexts(), &mut self.storage);
            R::prepare(backend, &mut self.state, &mut f, x, &mut self.y)
        })
        .map_err(|error| error.during(operator, B::NAME))?;
        self.outputs = Some(self.y.len());
        Ok(())
    }

    /// An error of this operator and backend.
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind).during(self.operator, B::NAME)
    }

    /// Fills the matrix, and `self.y` if `with_value`. The operator has checked the length of the point.
    #[inline]
    pub(super) fn run<P, F>(
        &mut self,
        backend: &B,
        function: &F,
        point: &P,
        with_value: bool,
        rows: Rows<'_, ScalarOf<P>>,
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>>,
    {
        let x = point.coordinates();
        let mut rows = rows.expecting(self.outputs);
        let mut f = Bound::<_, X, C, _>::new(function, point.contexts(), &mut self.storage);
        if let Some(recorded) = R::recorded(&mut self.state)
            && recorded.fill(f.recordable(), x, with_value.then_some(&mut self.y[..]), &mut rows)
        {
            return Ok(());
        }
        let y = if with_value { Some(&mut self.y) } else { None };
        fault::watch(|| R::matrix(backend, &mut self.state, &mut f, x, y, rows))
            .map_err(|error| error.during(self.operator, B::NAME))
    }
}
