//! Sparse Hessians: products with one seed per colour, then decompression.
//!
//! Called by `hessian` through [`HessianBackend`]; calls the second-order route of the dense backend, and first tries to let it compute
//! the entries directly.

use super::arguments::PatternArguments;
use super::lanes::{Narrow, is_narrow};
use super::name::HessianName;
use super::{AutoSparse, SparseMatrix, chunk_error, coloring_error, other_pattern};
use differentiation_interface_core::backend::{EntryRequest, HvpRoute, Request, Rows, SecondOrderBackend, Seeds};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::{Bound, Evaluate, NumberOutput, Storage};
use differentiation_interface_core::fault;
use differentiation_interface_core::operators::{HessianBackend, HessianWork};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::recordings::Reports;
use differentiation_interface_core::scalar::{Base, Scalar};
use matrix_coloring::{
    ColoringAlgorithm, Decompression, Groups, Layout, Pattern, Recovers, Symmetric, SymmetricColoring, coloring,
};
use sparsity_tracer::SparsityDetector;
use std::sync::Arc;

/// Products with the Hessian, on numbers whose lanes follow from the number of colours.
enum Work<D: SecondOrderBackend, X: Shape, C: Contexts> {
    Wide(HessianWork<D, X, C>),
    Narrow(HessianWork<D, X, C, Narrow>),
}

impl<D: SecondOrderBackend, X: Shape, C: Contexts> Clone for Work<D, X, C> {
    fn clone(&self) -> Self {
        match self {
            Work::Wide(work) => Work::Wide(work.clone()),
            Work::Narrow(work) => Work::Narrow(work.clone()),
        }
    }
}

/// Calls a method of the products, whatever their lanes.
macro_rules! either {
    ($work:expr, |$name:ident| $call:expr) => {
        match $work {
            Work::Wide($name) => $call,
            Work::Narrow($name) => $call,
        }
    };
}

/// What a preparation of a sparse Hessian holds.
pub struct SparseHessianState<D: SecondOrderBackend, X: Shape, C: Contexts, K> {
    work: Work<D, X, C>,
    /// Whether the dense backend reports other branches because the pattern is valid on one branch only.
    held: bool,
    plan: Option<(Arc<Pattern>, Arc<SymmetricColoring<K>>)>,
    arguments: PatternArguments,
    /// Whether calls that repeat may be computed in another way.
    adapts: bool,
    compressed: Vec<X::Scalar>,
}

impl<D: SecondOrderBackend, X: Shape, C: Contexts, K> Clone for SparseHessianState<D, X, C, K> {
    fn clone(&self) -> Self {
        SparseHessianState {
            work: self.work.clone(),
            held: self.held,
            plan: self.plan.clone(),
            arguments: self.arguments.clone(),
            adapts: self.adapts,
            compressed: self.compressed.clone(),
        }
    }
}

impl<D: SecondOrderBackend, X: Shape, C: Contexts, K> SparseHessianState<D, X, C, K> {
    /// The pattern, once prepared.
    pub fn sparsity_pattern(&self) -> Option<&Arc<Pattern>> {
        self.plan.as_ref().map(|(pattern, _)| pattern)
    }
    /// The colouring with its decompression, once prepared.
    pub fn coloring(&self) -> Option<&SymmetricColoring<K>> {
        self.plan.as_ref().map(|(_, coloring)| &**coloring)
    }
}

impl<D: SecondOrderBackend, X: Shape, C: Contexts, K: Decompression> SparseHessianState<D, X, C, K> {
    /// The colours of the columns; empty before preparation.
    pub fn column_colors(&self) -> &[u32] {
        self.coloring().map_or(&[], SymmetricColoring::column_colors)
    }
    /// The columns of each colour, once prepared.
    pub fn column_groups(&self) -> Option<&Groups> {
        self.coloring().map(SymmetricColoring::column_groups)
    }
    /// The number of colours, which is the number of Hessian-vector products of a call, unless the backends compute entries
    /// directly; 0 before preparation.
    pub fn ncolors(&self) -> usize {
        self.coloring().map_or(0, SymmetricColoring::ncolors)
    }
}

impl<D: SecondOrderBackend, X: Shape, C: Contexts, K> SparseHessianState<D, X, C, K> {
    /// Whether the preparation found that entries come from products.
    #[cfg(feature = "rayon")]
    pub(crate) fn has_products(&self) -> bool {
        !self.compressed.is_empty()
    }

    /// Checks that a matrix has the pattern of the preparation.
    pub(crate) fn check_buffer(&self, hess: &SparseMatrix<X::Scalar>) -> Result<(), ErrorKind> {
        let pattern = self.plan.as_ref().map(|(pattern, _)| pattern);
        match pattern.is_some_and(|own| Arc::ptr_eq(own, hess.pattern()) || **own == **hess.pattern()) {
            true => Ok(()),
            false => Err(ErrorKind::BufferPattern),
        }
    }
}

/// What the dense backend has done since the pattern was detected.
impl<D: SecondOrderBackend, X: Shape, C: Contexts, K> Reports for SparseHessianState<D, X, C, K>
where
    HessianWork<D, X, C>: Reports,
    HessianWork<D, X, C, Narrow>: Reports<Report = <HessianWork<D, X, C> as Reports>::Report>,
{
    type Report = <HessianWork<D, X, C> as Reports>::Report;
    fn report(&self) -> Self::Report {
        either!(&self.work, |work| work.report())
    }
}

/// Names the operator in an error.
fn named<D: SecondOrderBackend>(error: impl Into<Error>) -> Error {
    error.into().during("hessian", HessianName::<D>::NAME)
}

/// The same for an error of the products; an error about another branch becomes one about the pattern if `held`.
fn explained<D: SecondOrderBackend>(error: Error, held: bool) -> Error {
    named::<D>(if held { other_pattern(error) } else { error })
}

type WideLanes<D> = <<D as SecondOrderBackend>::Hvp as HvpRoute<
    <D as SecondOrderBackend>::Outer,
    <D as SecondOrderBackend>::Inner,
>>::Lanes;
type Num<D, X, L> = <<D as SecondOrderBackend>::Hvp as HvpRoute<
    <D as SecondOrderBackend>::Outer,
    <D as SecondOrderBackend>::Inner,
>>::Num<<X as Shape>::Scalar, L>;
type WideNum<D, X> = Num<D, X, WideLanes<D>>;
type NarrowNum<D, X> = Num<D, X, Narrow>;
type DetectorNum<S, X> = <S as SparsityDetector>::HessianNum<<<X as Shape>::Scalar as Scalar>::Base>;

#[diagnostic::do_not_recommend]
impl<D, S, A, K, F, X, C> HessianBackend<F, X, C> for AutoSparse<D, S, A, K>
where
    D: SecondOrderBackend,
    S: SparsityDetector,
    A: ColoringAlgorithm + Clone,
    K: Decompression + Recovers<X::Scalar> + Send + Sync + 'static,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, WideNum<D, X>> + Evaluate<X, C, NarrowNum<D, X>> + Evaluate<X, C, DetectorNum<S, X>>,
    <F as Evaluate<X, C, WideNum<D, X>>>::Output: NumberOutput<WideNum<D, X>>,
{
    const BACKEND: &'static str = HessianName::<D>::NAME;
    type Matrix = SparseMatrix<X::Scalar>;
    type State = SparseHessianState<D, X, C, K>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        let work = HessianWork::new(&self.dense, x, x.coordinates().len()).map_err(named::<D>)?;
        Ok(SparseHessianState {
            work: Work::Wide(work),
            held: false,
            plan: None,
            arguments: PatternArguments::default(),
            adapts: false,
            compressed: Vec::new(),
        })
    }

    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        let pattern = self.detect_hessian(f, x)?;
        self.adopt_hessian(state, pattern, f, x)
    }

    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
    ) -> Result<Self::Matrix, Error> {
        self.follow_hessian(state, f, x)?;
        let pattern = state.sparsity_pattern().map(Arc::clone).expect("the preparation made it");
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
        state.check_buffer(hess).map_err(named::<D>)?;
        self.hessian_values(state, f, x, request, hess)
    }

    fn adapt(&self, state: &mut Self::State, adapts: bool) {
        state.adapts = adapts;
        either!(&mut state.work, |work| work.adapt(adapts));
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
        either!(&mut state.work, |work| work.evaluate(f, x, y))
    }
    fn value(state: &Self::State) -> X::Scalar {
        either!(&state.work, |work| work.value())
    }
    fn gradient(state: &Self::State) -> &[X::Scalar] {
        either!(&state.work, |work| work.gradient())
    }
}

impl<D, S, A, K> AutoSparse<D, S, A, K>
where
    D: SecondOrderBackend,
    S: SparsityDetector,
    A: ColoringAlgorithm + Clone,
    K: Decompression + Send + Sync + 'static,
{
    /// The pattern for the arguments of this call.
    fn detect_hessian<F, X, C, P>(&self, f: &F, x: At<'_, P>) -> Result<Pattern, Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, DetectorNum<S, X>>,
    {
        let (mut storage, mut kept) = (Storage::new(x), Default::default());
        let mut traced = Bound::<F, X, C, DetectorNum<S, X>, _>::new(f, x, &mut storage, &mut kept);
        fault::watch(|| self.detector.hessian(&mut traced, x.coordinates())).map_err(named::<D>)
    }

    /// Prepares what is not prepared. Where the constants are not those of the preparation, detects again and takes over the entries that
    /// are new. Returns whether the pattern has changed.
    pub(crate) fn follow_hessian<F, X, C, P>(
        &self,
        state: &mut SparseHessianState<D, X, C, K>,
        f: &F,
        x: At<'_, P>,
    ) -> Result<bool, Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, WideNum<D, X>> + Evaluate<X, C, NarrowNum<D, X>> + Evaluate<X, C, DetectorNum<S, X>>,
    {
        let SparseHessianState { arguments, work, plan, .. } = &mut *state;
        let detect = || self.detect_hessian(f, x);
        let pattern = match plan {
            None => Some(detect()?),
            Some((prepared, _)) => {
                let prepared = (&**prepared, S::FOLLOWS_CONSTANTS);
                either!(work, |work| arguments.newer(prepared, work.storage(), x, detect)).map_err(named::<D>)?
            }
        };
        let Some(pattern) = pattern else { return Ok(false) };
        self.adopt_hessian(state, pattern, f, x)?;
        either!(&mut state.work, |work| work.adapt(state.adapts));
        Ok(true)
    }

    /// Colours a pattern and prepares its products.
    fn adopt_hessian<F, X, C, P>(
        &self,
        state: &mut SparseHessianState<D, X, C, K>,
        pattern: Pattern,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, WideNum<D, X>> + Evaluate<X, C, NarrowNum<D, X>>,
    {
        // After an error the next call begins anew.
        state.plan = None;
        let colors = coloring(&pattern, Symmetric(self.decompression), &self.coloring);
        let mut colors = colors.map_err(|error| named::<D>(coloring_error(error)))?;
        let count = colors.ncolors();
        let refused = |error| named::<D>(chunk_error(error, count));
        // Made in any case, since it refuses a fixed chunk that is larger than the number of colours: narrow lanes cut the chunk and accept it.
        let wide = HessianWork::new(&self.dense, x, count).map_err(refused)?;
        if wide.seeds_are_rows() {
            colors = colors.with_layout(Layout::ColumnMajor);
        }
        state.work = if is_narrow::<WideLanes<D>>(count) {
            Work::Narrow(HessianWork::new(&self.dense, x, count).map_err(refused)?)
        } else {
            Work::Wide(wide)
        };
        state.held = S::AT_ONE_POINT && either!(&mut state.work, |work| work.hold_to_one_branch());
        let held = state.held;
        let seeds = Seeds::Colors { colors: colors.column_colors(), first: 0, count };
        state.compressed.clear();
        let mut scratch = Vec::new();
        let values = Rows::growing(&mut scratch, pattern.nnz());
        let entries = EntryRequest { pattern: Some(pattern.csr()), values, products: count };
        if !either!(&mut state.work, |work| work.entries(f, x, entries, Request::Value))
            .map_err(|e| explained::<D>(e, held))?
        {
            either!(&mut state.work, |work| work.prepare(f, x, seeds)).map_err(|e| explained::<D>(e, held))?;
            state.compressed.resize(colors.compressed_len(), X::Scalar::default());
        }
        either!(&mut state.work, |work| state.arguments.keep(work.storage(), x));
        state.plan = Some((Arc::new(pattern), Arc::new(colors)));
        Ok(())
    }

    /// Fills the matrix of a state that is prepared for these arguments.
    pub(crate) fn hessian_values<F, X, C, P>(
        &self,
        state: &mut SparseHessianState<D, X, C, K>,
        f: &F,
        x: At<'_, P>,
        request: Request,
        hess: &mut SparseMatrix<X::Scalar>,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        K: Recovers<X::Scalar>,
        F: Evaluate<X, C, WideNum<D, X>> + Evaluate<X, C, NarrowNum<D, X>>,
    {
        let (pattern, colors) = state.plan.as_ref().expect("the preparation made it");
        let (count, held) = (colors.ncolors(), state.held);
        let entries = EntryRequest { pattern: Some(pattern.csr()), values: hess.rows_to_fill(), products: count };
        if either!(&mut state.work, |work| work.entries(f, x, entries, request)).map_err(|e| explained::<D>(e, held))? {
            return Ok(());
        }
        let seeds = Seeds::Colors { colors: colors.column_colors(), first: 0, count };
        state.compressed.resize(colors.compressed_len(), X::Scalar::default());
        either!(&mut state.work, |work| {
            let width = if work.seeds_are_rows() { work.inputs() } else { count };
            work.products(f, x, seeds, request, Rows::fixed(&mut state.compressed, width))
        })
        .map_err(|e| explained::<D>(e, held))?;
        colors.decompress_into(hess.values_mut(), &state.compressed).map_err(|error| named::<D>(coloring_error(error)))
    }
}
