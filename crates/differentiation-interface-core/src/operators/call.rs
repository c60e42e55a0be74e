//! The prepared matrix ∂y/∂x behind `derivative`, `gradient` and `jacobian`.
//!
//! Called by those three operators; calls the backend's [`MatrixRoute`].

use super::NumOf;
use crate::backend::{Backend, Lanes, MatrixRoute, Rows};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Bound, Evaluate};
use crate::fault;
use crate::point::{Point, ScalarOf, Shape};
use std::ops::Deref;

/// Function, backend, state and work memory of one operator.
pub(super) struct MatrixCall<H, B: Backend, R: MatrixRoute<B>, L: Lanes, X: Shape, C: Contexts> {
    operator: &'static str,
    function: H,
    backend: B,
    state: R::State<X::Scalar, L>,
    storage: C::Storage<NumOf<B, X, L>>,
    inputs: usize,
    /// Outputs of the last evaluation that left them.
    pub(super) y: Vec<X::Scalar>,
}

impl<H: Clone, B: Backend, R: MatrixRoute<B>, L: Lanes, X: Shape, C: Contexts> Clone for MatrixCall<H, B, R, L, X, C> {
    fn clone(&self) -> Self {
        MatrixCall {
            operator: self.operator,
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            storage: self.storage.clone(),
            inputs: self.inputs,
            y: self.y.clone(),
        }
    }
}

impl<H, B: Backend, R: MatrixRoute<B>, L: Lanes, X: Shape, C: Contexts> MatrixCall<H, B, R, L, X, C> {
    /// Makes an unprepared call: nothing is evaluated, buffers are empty.
    pub(super) fn new<P>(operator: &'static str, function: H, backend: &B, point: &P) -> Result<Self, Error>
    where
        P: Point<Shape = X, Contexts = C>,
    {
        let inputs = point.coordinates().len();
        Ok(MatrixCall {
            operator,
            function,
            backend: backend.clone(),
            state: R::state(backend, inputs).map_err(|error| error.during(operator, B::NAME))?,
            storage: C::allocate(point.contexts()),
            inputs,
            y: Vec::new(),
        })
    }

    /// Sizes all buffers by one evaluation at `point`, which may have another length than before.
    pub(super) fn prepare<P>(&mut self, point: &P) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        H: Deref<Target: Evaluate<X, C, NumOf<B, X, L>> + Sized>,
    {
        let x = point.coordinates();
        let (operator, backend) = (self.operator, B::NAME);
        let mut run = || {
            R::state::<X::Scalar, L>(&self.backend, x.len())?;
            let mut f = Bound::<_, X, C, _>::new(&*self.function, point.contexts(), &mut self.storage);
            R::warm(&self.backend, &mut self.state, &mut f, x, &mut self.y)
        };
        fault::watch(&mut run).map_err(|error: Error| error.during(operator, backend))?;
        self.inputs = x.len();
        Ok(())
    }

    /// Number of inputs.
    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Checks the length of a point.
    pub(super) fn check_point(&self, x: &[X::Scalar]) -> Result<(), Error> {
        if x.len() == self.inputs {
            Ok(())
        } else {
            Err(self.error(ErrorKind::PreparedLength { prepared: self.inputs, found: x.len() }))
        }
    }

    /// An error of this operator and backend.
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind).during(self.operator, B::NAME)
    }

    /// Fills the matrix, and `self.y` if `with_value`.
    #[inline]
    pub(super) fn run<P>(&mut self, point: &P, with_value: bool, rows: Rows<'_, ScalarOf<P>>) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        H: Deref<Target: Evaluate<X, C, NumOf<B, X, L>> + Sized>,
    {
        let x = point.coordinates();
        self.check_point(x)?;
        let mut f = Bound::<_, X, C, _>::new(&*self.function, point.contexts(), &mut self.storage);
        let y = if with_value { Some(&mut self.y) } else { None };
        fault::watch(|| R::matrix(&self.backend, &mut self.state, &mut f, x, y, rows))
            .map_err(|error| error.during(self.operator, B::NAME))
    }
}
