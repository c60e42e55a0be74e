//! `hessian`: columns on several threads.
//!
//! Called by the operator; calls the shares of `second_order`, the first one where there is one thread.

use super::division::Division;
use super::second_order::{HessianShares, RouteLanes, RouteNum, numbers, per_pass};
use super::setting::AutoThreaded;
use differentiation_interface_core::backend::{EntryRequest, Request, Rows, SecondOrderBackend, Seeds};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::{Evaluate, NumberOutput};
use differentiation_interface_core::matrix::Matrix;
use differentiation_interface_core::operators::{HessianBackend, HessianWork};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::{Base, Scalar};

type HessianNum<B, X> = RouteNum<B, X, RouteLanes<B>>;

#[diagnostic::do_not_recommend]
impl<B, F, X, C> HessianBackend<F, X, C> for AutoThreaded<B>
where
    B: SecondOrderBackend,
    X: Shape,
    C: for<'v> Contexts<Values<'v>: Send + Sync>,
    F: Evaluate<X, C, HessianNum<B, X>> + Sync,
    F::Output: NumberOutput<HessianNum<B, X>>,
{
    const BACKEND: &'static str = B::NAME;
    type Matrix = Matrix<X::Scalar>;
    type State = HessianShares<B, X, C, RouteLanes<B>>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(HessianShares::new(HessianWork::new(self.backend(), x, x.coordinates().len())?))
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        let (n, mut scratch) = (x.coordinates().len(), Vec::new());
        state.first_mut().accept(n)?;
        let entries = EntryRequest { pattern: None, values: Rows::growing(&mut scratch, n), products: n };
        if state.first_mut().entries(f, x, entries, Request::Value)? {
            return Ok(());
        }
        state.first_mut().prepare(f, x, Seeds::all(n))?;
        state.prepare(f, x, Seeds::all(n), &self.hessian_columns(x.coordinates())).map_err(named::<B>)
    }
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
    ) -> Result<Matrix<X::Scalar>, Error> {
        let n = x.coordinates().len();
        let mut hess = Matrix::filled(n, n, X::Scalar::default());
        self.fill(state, f, x, request, &mut hess)?;
        Ok(hess)
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
        hess: &mut Matrix<X::Scalar>,
    ) -> Result<(), Error> {
        let n = x.coordinates().len();
        if hess.size() != (n, n) {
            return Err(named::<B>(ErrorKind::BufferSize { expected: (n, n), found: hess.size() }.into()));
        }
        let entries = EntryRequest { pattern: None, values: hess.rows_to_fill(), products: n };
        if state.first_mut().entries(f, x, entries, request)? {
            return Ok(());
        }
        let columns = self.hessian_columns(x.coordinates());
        if !columns.is_parallel() {
            return state.first_mut().products(f, x, Seeds::all(n), request, Rows::fixed(hess.as_mut_slice(), n));
        }
        state.grow(&columns);
        state.fill(f, x, Seeds::all(n), &columns, request, hess.as_mut_slice()).map_err(named::<B>)
    }
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base,
    {
        state.first_mut().evaluate(f, x, y)
    }
    fn value(state: &Self::State) -> X::Scalar {
        state.first().value()
    }
    fn gradient(state: &Self::State) -> &[X::Scalar] {
        state.first().gradient()
    }
}

impl<B: SecondOrderBackend> AutoThreaded<B> {
    fn hessian_columns<S: Scalar>(&self, x: &[S]) -> Division {
        let per_pass = per_pass::<B, RouteLanes<B>>(self.backend(), x.len());
        self.division::<S>(x.len(), per_pass, numbers(x))
    }
}

/// Names the operator in an error.
fn named<B: SecondOrderBackend>(error: Error) -> Error {
    error.during("hessian", B::NAME)
}
