//! Sparse Hessians: colours on several threads, then the decompression on one.
//!
//! Called by `hessian` for `AutoThreaded` around [`AutoSparse`], which detects the pattern and colours it once; calls the shares of
//! `second_order`, or `AutoSparse` where there is one thread.

use super::division::Division;
use super::lanes::{Half, Third, Width, divide_columns, with_positive_zeros};
use super::second_order::{HessianShares, RouteLanes, RouteNum, numbers, per_pass};
use super::setting::AutoThreaded;
use crate::sparse::{AutoSparse, SparseHessianState, SparseMatrix, coloring_error, hessian_name};
use differentiation_interface_core::backend::{Request, SecondOrderBackend, Seeds};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::{Evaluate, NumberOutput};
use differentiation_interface_core::operators::{HessianBackend, HessianWork};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::{Base, Scalar};
use matrix_coloring::{ColoringAlgorithm, Decompression, Recovers};
use sparsity_tracer::SparsityDetector;
use std::sync::Arc;

type DetectorNum<S, X> = <S as SparsityDetector>::HessianNum<<<X as Shape>::Scalar as Scalar>::Base>;

/// The shares of a preparation, on numbers with some lanes.
enum Shares<D: SecondOrderBackend, X: Shape, C: Contexts> {
    Wide(HessianShares<D, X, C, RouteLanes<D>>),
    Half(HessianShares<D, X, C, Half>),
    Third(HessianShares<D, X, C, Third>),
}

impl<D: SecondOrderBackend, X: Shape, C: Contexts> Clone for Shares<D, X, C> {
    fn clone(&self) -> Self {
        match self {
            Shares::Wide(shares) => Shares::Wide(shares.clone()),
            Shares::Half(shares) => Shares::Half(shares.clone()),
            Shares::Third(shares) => Shares::Third(shares.clone()),
        }
    }
}

/// Calls a method of the shares, whatever their lanes.
macro_rules! any_lanes {
    ($shares:expr, |$name:ident| $call:expr) => {
        match $shares {
            Shares::Wide($name) => $call,
            Shares::Half($name) => $call,
            Shares::Third($name) => $call,
        }
    };
}

/// The state of the inner `AutoSparse`, and the shares of the threads.
pub struct ThreadedSparseHessianState<D: SecondOrderBackend, X: Shape, C: Contexts, K> {
    serial: SparseHessianState<D, X, C, K>,
    shares: Option<Shares<D, X, C>>,
    division: Division,
    compressed: Vec<X::Scalar>,
}

impl<D: SecondOrderBackend, X: Shape, C: Contexts, K> Clone for ThreadedSparseHessianState<D, X, C, K> {
    fn clone(&self) -> Self {
        ThreadedSparseHessianState {
            serial: self.serial.clone(),
            shares: self.shares.clone(),
            division: self.division,
            compressed: self.compressed.clone(),
        }
    }
}

impl<D: SecondOrderBackend, X: Shape, C: Contexts, K> ThreadedSparseHessianState<D, X, C, K> {
    /// The state of `AutoSparse`, with the pattern and the colours.
    pub fn sparse(&self) -> &SparseHessianState<D, X, C, K> {
        &self.serial
    }
}

#[diagnostic::do_not_recommend]
impl<D, S, A, K, F, X, C> HessianBackend<F, X, C> for AutoThreaded<AutoSparse<D, S, A, K>>
where
    D: SecondOrderBackend,
    S: SparsityDetector,
    A: ColoringAlgorithm + Clone,
    K: Decompression + Recovers<X::Scalar> + Send + Sync + 'static,
    X: Shape,
    C: for<'v> Contexts<Values<'v>: Send + Sync>,
    F: ThreadedHessianEvaluate<D, S, X, C>,
    <F as Evaluate<X, C, RouteNum<D, X, RouteLanes<D>>>>::Output: NumberOutput<RouteNum<D, X, RouteLanes<D>>>,
{
    const BACKEND: &'static str = <AutoSparse<D, S, A, K> as HessianBackend<F, X, C>>::BACKEND;
    type Matrix = SparseMatrix<X::Scalar>;
    type State = ThreadedSparseHessianState<D, X, C, K>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(ThreadedSparseHessianState {
            serial: HessianBackend::<F, X, C>::unprepared(self.backend(), x)?,
            shares: None,
            division: Division::default(),
            compressed: Vec::new(),
        })
    }

    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        HessianBackend::<F, X, C>::prepare(self.backend(), &mut state.serial, f, x)?;
        self.divide_hessian(state, f, x)
    }

    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
    ) -> Result<Self::Matrix, Error> {
        self.follow_hessian(state, f, x)?;
        let pattern = state.serial.sparsity_pattern().map(Arc::clone).expect("the preparation made it");
        let mut hess = SparseMatrix::zeros(pattern);
        self.hessian_values(state, f, x, request, &mut hess)?;
        Ok(hess)
    }

    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
        hess: &mut Self::Matrix,
    ) -> Result<(), Error> {
        self.follow_hessian(state, f, x)?;
        state.serial.check_buffer(hess).map_err(|kind| named::<D>(kind.into()))?;
        self.hessian_values(state, f, x, request, hess)
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
        HessianBackend::<F, X, C>::evaluate(self.backend(), &mut state.serial, f, x, y)
    }
    fn value(state: &Self::State) -> X::Scalar {
        match &state.shares {
            Some(shares) => any_lanes!(shares, |shares| shares.first().value()),
            None => <AutoSparse<D, S, A, K> as HessianBackend<F, X, C>>::value(&state.serial),
        }
    }
    fn gradient(state: &Self::State) -> &[X::Scalar] {
        match &state.shares {
            Some(shares) => any_lanes!(shares, |shares| shares.first().gradient()),
            None => <AutoSparse<D, S, A, K> as HessianBackend<F, X, C>>::gradient(&state.serial),
        }
    }
}

/// What a function must accept for sparse Hessians on several threads.
pub trait ThreadedHessianEvaluate<D: SecondOrderBackend, S: SparsityDetector, X: Shape, C: Contexts>:
    Evaluate<X, C, RouteNum<D, X, RouteLanes<D>>>
    + Evaluate<X, C, RouteNum<D, X, Half>>
    + Evaluate<X, C, RouteNum<D, X, Third>>
    + Evaluate<X, C, DetectorNum<S, X>>
    + Sync
{
}
impl<D, S, X, C, F> ThreadedHessianEvaluate<D, S, X, C> for F
where
    D: SecondOrderBackend,
    S: SparsityDetector,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, RouteNum<D, X, RouteLanes<D>>>
        + Evaluate<X, C, RouteNum<D, X, Half>>
        + Evaluate<X, C, RouteNum<D, X, Third>>
        + Evaluate<X, C, DetectorNum<S, X>>
        + Sync,
{
}

impl<D, S, A, K> AutoThreaded<AutoSparse<D, S, A, K>>
where
    D: SecondOrderBackend,
    S: SparsityDetector,
    A: ColoringAlgorithm + Clone,
    K: Decompression + Send + Sync + 'static,
{
    /// Prepares what is not prepared, and follows the pattern where constants have changed it.
    fn follow_hessian<F, X, C, P>(
        &self,
        state: &mut ThreadedSparseHessianState<D, X, C, K>,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: for<'v> Contexts<Values<'v>: Send + Sync>,
        P: Point<Shape = X, Contexts = C>,
        F: ThreadedHessianEvaluate<D, S, X, C>,
    {
        if self.backend().follow_hessian(&mut state.serial, f, x)? { self.divide_hessian(state, f, x) } else { Ok(()) }
    }

    /// Divides the colours of the pattern among the threads.
    fn divide_hessian<F, X, C, P>(
        &self,
        state: &mut ThreadedSparseHessianState<D, X, C, K>,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: for<'v> Contexts<Values<'v>: Send + Sync>,
        P: Point<Shape = X, Contexts = C>,
        F: ThreadedHessianEvaluate<D, S, X, C>,
    {
        state.shares = None;
        let Some(coloring) = state.serial.coloring() else { return Ok(()) };
        // Entries that the backend computes directly are computed as a whole, and a pattern for one point needs its own backend.
        if !state.serial.has_products() || S::AT_ONE_POINT {
            return Ok(());
        }
        let (dense, count) = (self.backend().dense(), coloring.ncolors());
        let parts = self.most_parts::<X::Scalar>(count, count.saturating_mul(numbers(x.coordinates())));
        let per_pass = per_pass::<D, RouteLanes<D>>(dense, count);
        let Some((division, width)) = divide_columns::<RouteLanes<D>>(count, per_pass, parts) else { return Ok(()) };
        let shares = match width {
            Width::Wide => HessianWork::new(dense, x, count).map(|work| Shares::Wide(HessianShares::new(work))),
            Width::Half => HessianWork::new(dense, x, count).map(|work| Shares::Half(HessianShares::new(work))),
            Width::Third => HessianWork::new(dense, x, count).map(|work| Shares::Third(HessianShares::new(work))),
        };
        let mut shares = shares.map_err(named::<D>)?;
        let seeds = Seeds::Colors { colors: coloring.column_colors(), first: 0, count };
        any_lanes!(&mut shares, |shares| {
            shares.first_mut().prepare(f, x, seeds).map_err(named::<D>)?;
            shares.prepare(f, x, seeds, &division).map_err(named::<D>)?;
        });
        state.compressed.resize(coloring.compressed_len(), X::Scalar::default());
        (state.shares, state.division) = (Some(shares), division);
        Ok(())
    }

    /// Fills the matrix of a state that is prepared for these arguments.
    fn hessian_values<F, X, C, P>(
        &self,
        state: &mut ThreadedSparseHessianState<D, X, C, K>,
        f: &F,
        x: At<'_, P>,
        request: Request,
        hess: &mut SparseMatrix<X::Scalar>,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: for<'v> Contexts<Values<'v>: Send + Sync>,
        P: Point<Shape = X, Contexts = C>,
        K: Recovers<X::Scalar>,
        F: ThreadedHessianEvaluate<D, S, X, C>,
    {
        let ThreadedSparseHessianState { serial, shares, division, compressed } = state;
        match shares {
            None => self.backend().hessian_values(serial, f, x, request, hess)?,
            Some(shares) => {
                let coloring = serial.coloring().expect("the preparation made it");
                let seeds = Seeds::Colors { colors: coloring.column_colors(), first: 0, count: coloring.ncolors() };
                any_lanes!(shares, |shares| shares.fill(f, x, seeds, division, request, compressed))
                    .map_err(named::<D>)?;
                let decompressed = coloring.decompress_into(hess.values_mut(), compressed);
                decompressed.map_err(|error| named::<D>(coloring_error(error)))?;
            }
        }
        hess.values_mut().iter_mut().for_each(|value| *value = with_positive_zeros(*value));
        Ok(())
    }
}

/// Names the operator in an error.
fn named<D: SecondOrderBackend>(error: Error) -> Error {
    error.during("hessian", hessian_name::<D>())
}
