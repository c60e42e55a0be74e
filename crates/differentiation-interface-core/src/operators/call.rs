//! What operators share: the checks of lengths, and the matrix ∂y/∂x behind `derivative`, `gradient` and `jacobian`.
//!
//! Called by the operators; [`MatrixWork`] calls the backend's [`MatrixRoute`].

use super::NumOf;
use crate::backend::{Backend, Lanes, MatrixRoute, Rows};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Bound, Evaluate, Flat, handed};
use crate::fault;
use crate::point::{Point, ScalarOf, Shape};
use crate::scalar::Scalar;

/// Refuses a point of another length than that of the preparation. Nothing to check if the shape `X` fixes the length.
#[inline]
pub(super) fn check_point<X: Shape>(prepared: usize, found: usize) -> Result<(), ErrorKind> {
    if X::LENGTH.is_some() || found == prepared { Ok(()) } else { Err(ErrorKind::PreparedLength { prepared, found }) }
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
    /// Outputs of the last call that computed them.
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
    #[inline]
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
        let mut f = Bound::<_, X, C, _>::new(function, point.contexts(), &mut self.storage);
        prepare_route::<B, R, L, _, _>(operator, backend, &mut self.state, &mut handed(&mut f), x, &mut self.y)?;
        self.outputs = Some(self.y.len());
        Ok(())
    }

    /// An error of this operator and backend.
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind).during(self.operator, B::NAME)
    }

    /// Fills the matrix on the stack, and keeps the value if its number of outputs is given. Returns `false` if a state is needed.
    #[inline]
    pub(super) fn fill_on_stack<P, F>(
        &mut self,
        backend: &B,
        function: &F,
        point: &P,
        outputs: Option<usize>,
        matrix: &mut [X::Scalar],
    ) -> bool
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>>,
    {
        let y = outputs.map(|outputs| {
            self.y.resize(outputs, X::Scalar::default());
            &mut self.y[..]
        });
        on_stack::<B, R, L, _, _>(backend, function, point, y, matrix)
    }

    /// Fills the matrix, and keeps the value if `with_value`. The operator has checked the length of the point.
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
        let mut rows = rows.expecting(self.outputs);
        let mut f = Bound::<_, X, C, _>::new(function, point.contexts(), &mut self.storage);
        let y = with_value.then_some(&mut self.y[..]);
        if let Some(recorded) = R::recorded(&mut self.state)
            && recorded.fill(f.recordable(), point.coordinates(), y, &mut rows)
        {
            return Ok(());
        }
        let (f, y) = (&mut handed(&mut f), with_value.then_some(&mut self.y));
        matrix::<B, R, L, _, _>(self.operator, backend, &mut self.state, f, point.coordinates(), y, rows)
    }
}

/// Whether contexts keep data in a preparation.
pub(super) const fn has_storage<C: Contexts, N: Scalar>() -> bool {
    size_of::<C::Storage<N>>() > 0
}

/// Fills the matrix on the stack, and the value if a buffer is given. Returns `false` if a state is needed.
#[inline]
pub(super) fn on_stack<B, R, L, P, F>(
    backend: &B,
    function: &F,
    point: &P,
    y: Option<&mut [ScalarOf<P>]>,
    matrix: &mut [ScalarOf<P>],
) -> bool
where
    B: Backend,
    R: MatrixRoute<B>,
    L: Lanes,
    P: Point,
    F: Evaluate<P::Shape, P::Contexts, NumOf<B, P::Shape, L>>,
{
    // Contexts with storage need a state to keep it.
    if const { !R::ON_STACK || F::FIXED.is_none() || has_storage::<P::Contexts, NumOf<B, P::Shape, L>>() } {
        return false;
    }
    let x = point.coordinates();
    let mut storage = P::Contexts::allocate(point.contexts());
    let mut f = Bound::<_, P::Shape, P::Contexts, _>::new(function, point.contexts(), &mut storage);
    R::on_stack::<_, L, _>(backend, &mut f, x, y, &mut Rows::fixed(matrix, x.len()))
}

/// Sizes the memory of the route, with a new state if the old one has recordings.
fn prepare_route<B: Backend, R: MatrixRoute<B>, L: Lanes, S: Scalar, F: Flat<B::Num<S, L>>>(
    operator: &'static str,
    backend: &B,
    state: &mut R::State<S, L>,
    f: &mut F,
    x: &[S],
    y: &mut Vec<S>,
) -> Result<(), Error> {
    fault::watch(|| {
        let fresh = R::state(backend, x.len())?;
        if backend.recordings().is_some() {
            *state = fresh;
        }
        R::prepare(backend, state, f, x, y)
    })
    .map_err(|error| error.during(operator, B::NAME))
}

/// Fills the matrix by the route, and the value if a buffer is given. A function of its own, so that the faster paths are inlined.
#[inline(never)]
fn matrix<B: Backend, R: MatrixRoute<B>, L: Lanes, S: Scalar, F: Flat<B::Num<S, L>>>(
    operator: &'static str,
    backend: &B,
    state: &mut R::State<S, L>,
    f: &mut F,
    x: &[S],
    y: Option<&mut Vec<S>>,
    rows: Rows<'_, S>,
) -> Result<(), Error> {
    fault::watch(|| R::matrix(backend, state, f, x, y, rows)).map_err(|error| error.during(operator, B::NAME))
}
