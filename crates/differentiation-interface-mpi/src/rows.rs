//! `jacobian` and `hessian` by all ranks, with each rank's rows on it.
//!
//! Called by the operators. As `matrices`, but each rank receives only the entries of its rows.

use crate::agreement::{Call, attempt};
use crate::distributed::{Distributed, InRows};
use crate::division::{RowDivision, hash_of};
use crate::local_rows::{LocalRows, RowSplit};
use crate::matrices::{PREPARATION, hessian_call, jacobian_call, usable};
use crate::ranks::Ranks;
use differentiation_interface::backend::Request;
use differentiation_interface::context::Contexts;
use differentiation_interface::error::{Error, ErrorKind};
use differentiation_interface::evaluate::Output;
use differentiation_interface::matrix::DerivativeMatrix;
use differentiation_interface::operators::{HessianBackend, JacobianBackend};
use differentiation_interface::point::{At, Point, Shape};
use differentiation_interface::scalar::Base;

/// State of this rank's part, with the matrix in which it writes its entries.
#[derive(Clone)]
pub struct RowsState<T, M> {
    /// An error is kept until the ranks settle.
    inner: Result<T, Error>,
    /// Once a call has made it.
    matrix: Option<M>,
    division: Option<RowDivision>,
}

impl<T, M> RowsState<T, M> {
    fn new(inner: Result<T, Error>) -> Self {
        RowsState { inner, matrix: None, division: None }
    }
    /// The state of this rank's part.
    pub fn own(&self) -> &T {
        self.inner.as_ref().expect("a call without a state is an error")
    }

    /// Computes this rank's entries by `make`, or by `fill` where there is a matrix to write them in, and settles with the other ranks.
    fn run<S: Base>(
        &mut self,
        ranks: &Ranks,
        split: RowSplit,
        call: Call,
        buffer: Option<&LocalRows<S>>,
        make: impl FnOnce(&mut T) -> Result<M, Error>,
        fill: impl FnOnce(&mut T, &mut M) -> Result<(), Error>,
    ) -> Result<(&mut RowDivision, &mut M), Error>
    where
        M: DerivativeMatrix<S>,
    {
        let RowsState { inner, matrix, division } = self;
        let local = attempt(ranks.rank(), || {
            if let RowSplit::OnRank(rank) = split
                && rank >= ranks.size()
            {
                return Err(ErrorKind::NoSuchRank { rank, ranks: ranks.size() }.into());
            }
            let inner = usable(inner)?;
            match matrix {
                Some(matrix) => fill(inner, matrix),
                None => {
                    *matrix = Some(make(inner)?);
                    Ok(())
                }
            }?;
            match (buffer, &*division) {
                (Some(buffer), Some(division)) if !buffer.has(&division.structure) => {
                    Err(ErrorKind::BufferPattern.into())
                }
                _ => Ok(()),
            }
        });
        let local = local.map_err(|error| error.during(call.operator, call.backend));
        let Some(found) = matrix else {
            return Err(settled_error(ranks, call, local));
        };
        let hash = match division {
            _ if ranks.size() == 1 => 0,
            Some(division) => division.hash(),
            None => hash_of(found),
        };
        ranks.settle(call.planned(hash), local)?;
        if division.is_none() {
            let made = RowDivision::find(ranks, split, hash, found);
            *division = Some(made.map_err(|error| error.during(call.operator, call.backend))?);
        }
        match division {
            Some(division) => Ok((division, found)),
            None => Err(ErrorKind::BufferPattern.into()),
        }
    }
}

/// The error of a call in which this rank has no matrix.
fn settled_error(ranks: &Ranks, call: Call, local: Result<(), Error>) -> Error {
    let error = local.err().unwrap_or_else(|| ErrorKind::BufferPattern.into());
    ranks.settle(call, Err(error.clone())).err().unwrap_or(error)
}

/// Fills the rows of the caller, whose entries have been checked on this rank only if the division was known.
fn fill_rows<S: Base, M: DerivativeMatrix<S>>(
    ranks: &Ranks,
    call: Call,
    (division, matrix): (&mut RowDivision, &mut M),
    rows: &mut LocalRows<S>,
    known: bool,
) -> Result<(), Error> {
    if !known {
        let fits = rows.has(&division.structure);
        let local = if fits { Ok(()) } else { Err(Error::new(ErrorKind::BufferPattern)) };
        ranks.settle(call, local.map_err(|error| error.during(call.operator, call.backend)))?;
    }
    division.fill(ranks, matrix.stored(), rows);
    Ok(())
}

/// Makes the rows.
fn make_rows<S: Base, M: DerivativeMatrix<S>>(
    ranks: &Ranks,
    (division, matrix): (&mut RowDivision, &mut M),
) -> LocalRows<S> {
    let mut rows = LocalRows::zeros(division.structure.clone());
    division.fill(ranks, matrix.stored(), &mut rows);
    rows
}

impl<I, F, X, C> JacobianBackend<F, X, C> for Distributed<I, InRows>
where
    I: JacobianBackend<F, X, C, Matrix: Clone + Send>,
    X: Shape<Scalar: Base>,
    C: Contexts,
{
    const BACKEND: &'static str = I::BACKEND;
    type Num = I::Num;
    type Output = I::Output;
    type Matrix = LocalRows<X::Scalar>;
    type State = RowsState<I::State, I::Matrix>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(RowsState::new(self.inner.unprepared(x)))
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        (state.matrix, state.division) = (None, None);
        let call = jacobian_call::<I, F, X, C>(x.coordinates()).variant(PREPARATION);
        let make = |inner: &mut I::State| {
            self.inner.prepare(inner, f, x)?;
            self.inner.matrix(inner, f, x, true)
        };
        let Distributed { ranks, place: InRows(split), .. } = self;
        state.run::<X::Scalar>(ranks, *split, call, None, make, |_, _| Ok(())).map(drop)
    }
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<LocalRows<X::Scalar>, Error> {
        let Distributed { ranks, place: InRows(split), inner } = self;
        let make = |state: &mut I::State| inner.matrix(state, f, x, with_value);
        let fill = |state: &mut I::State, jac: &mut I::Matrix| inner.fill(state, f, x, with_value, jac);
        let call = jacobian_call::<I, F, X, C>(x.coordinates());
        Ok(make_rows(ranks, state.run(ranks, *split, call, None, make, fill)?))
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        jac: &mut LocalRows<X::Scalar>,
    ) -> Result<(), Error> {
        let Distributed { ranks, place: InRows(split), inner } = self;
        let make = |state: &mut I::State| inner.matrix(state, f, x, with_value);
        let fill = |state: &mut I::State, jac: &mut I::Matrix| inner.fill(state, f, x, with_value, jac);
        let (call, known) = (jacobian_call::<I, F, X, C>(x.coordinates()), state.division.is_some());
        let entries = state.run(ranks, *split, call, Some(jac), make, fill)?;
        fill_rows(ranks, call, entries, jac, known)
    }
    /// Computed by each rank alone.
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
        self.inner.evaluate(usable(&mut state.inner)?, f, x, y)
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        I::value(state.own())
    }
    fn kept(state: &Self::State) -> &<I::Output as Output<I::Num>>::Kept {
        I::kept(state.own())
    }
}

impl<I, F, X, C> HessianBackend<F, X, C> for Distributed<I, InRows>
where
    I: HessianBackend<F, X, C, Matrix: Clone + Send>,
    X: Shape<Scalar: Base>,
    C: Contexts,
{
    const BACKEND: &'static str = I::BACKEND;
    type Matrix = LocalRows<X::Scalar>;
    type State = RowsState<I::State, I::Matrix>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(RowsState::new(self.inner.unprepared(x)))
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        (state.matrix, state.division) = (None, None);
        let call = hessian_call::<I, F, X, C>(x.coordinates()).variant(PREPARATION);
        let make = |inner: &mut I::State| {
            self.inner.prepare(inner, f, x)?;
            self.inner.matrix(inner, f, x, Request::Value)
        };
        let Distributed { ranks, place: InRows(split), .. } = self;
        state.run::<X::Scalar>(ranks, *split, call, None, make, |_, _| Ok(())).map(drop)
    }
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
    ) -> Result<LocalRows<X::Scalar>, Error> {
        let Distributed { ranks, place: InRows(split), inner } = self;
        let make = |state: &mut I::State| inner.matrix(state, f, x, request);
        let fill = |state: &mut I::State, hess: &mut I::Matrix| inner.fill(state, f, x, request, hess);
        let call = hessian_call::<I, F, X, C>(x.coordinates());
        Ok(make_rows(ranks, state.run(ranks, *split, call, None, make, fill)?))
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
        hess: &mut LocalRows<X::Scalar>,
    ) -> Result<(), Error> {
        let Distributed { ranks, place: InRows(split), inner } = self;
        let make = |state: &mut I::State| inner.matrix(state, f, x, request);
        let fill = |state: &mut I::State, hess: &mut I::Matrix| inner.fill(state, f, x, request, hess);
        let (call, known) = (hessian_call::<I, F, X, C>(x.coordinates()), state.division.is_some());
        let entries = state.run(ranks, *split, call, Some(hess), make, fill)?;
        fill_rows(ranks, call, entries, hess, known)
    }
    /// Computed by each rank alone.
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
        self.inner.evaluate(usable(&mut state.inner)?, f, x, y)
    }
    fn value(state: &Self::State) -> X::Scalar {
        I::value(state.own())
    }
    fn gradient(state: &Self::State) -> &[X::Scalar] {
        I::gradient(state.own())
    }
}
