//! Sparse Jacobians: pushforwards with one seed per column colour, pullbacks with one per row colour, then decompression.
//!
//! Called by `jacobian` through [`JacobianBackend`]; calls the pushforward and pullback routes of the dense backends. A backend that
//! computes entries directly is tried first.

use super::lanes::{Narrow, is_narrow};
use super::name::JacobianName;
use super::prepared_shape::PreparedShape;
use super::sides::{JacobianSides, Partition};
use super::{AutoSparse, SparseMatrix, chunk_error, coloring_error, other_pattern};
use differentiation_interface_core::backend::{
    Backend, EntryRequest, Lanes, PullbackRoute, PushforwardRoute, Rows, Seeds,
};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::{ArrayOutput, Bound, Evaluate, Flat, KeptBy, Storage};
use differentiation_interface_core::fault;
use differentiation_interface_core::operators::{Evaluation, JacobianBackend, NumOf};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::{Base, Scalar};
use matrix_coloring::{
    Bidirectional, BidirectionalColoring, ColoringAlgorithm, Column, ColumnColoring, Decompress, DecompressionKind,
    Groups, Pattern, Row, RowColoring, coloring,
};
use sparsity_tracer::SparsityDetector;
use std::sync::Arc;

type ForwardNum<D, X> = NumOf<<D as JacobianSides>::Forward, X, <<D as JacobianSides>::Forward as Backend>::Lanes>;
type NarrowNum<D, X> = NumOf<<D as JacobianSides>::Forward, X, Narrow>;
type ReverseNum<D, X> = NumOf<<D as JacobianSides>::Reverse, X, <<D as JacobianSides>::Reverse as Backend>::Lanes>;
type ReverseState<B, S> = <<B as Backend>::Pullback as PullbackRoute<B>>::State<S, <B as Backend>::Lanes>;
type DetectorNum<S, X> = <S as SparsityDetector>::JacobianNum<<<X as Shape>::Scalar as Scalar>::Base>;

/// A colouring with its decompression.
#[derive(Clone, Debug)]
enum Plan<K> {
    Columns(ColumnColoring),
    Rows(RowColoring),
    Both(BidirectionalColoring<K>),
}

/// State and work memory of pushforwards on numbers with the lanes `L`.
struct Pushforwards<B: Backend, X: Shape, C: Contexts, L: Lanes> {
    state: <B::Pushforward as PushforwardRoute<B>>::State<X::Scalar, L>,
    storage: Storage<X, C, NumOf<B, X, L>>,
}

impl<B: Backend, X: Shape, C: Contexts, L: Lanes> Clone for Pushforwards<B, X, C, L> {
    fn clone(&self) -> Self {
        Pushforwards { state: self.state.clone(), storage: self.storage.clone() }
    }
}

impl<B: Backend, X: Shape, C: Contexts, L: Lanes> Pushforwards<B, X, C, L> {
    fn new<P: Point<Shape = X, Contexts = C>>(backend: &B, x: At<'_, P>, seeds: usize) -> Result<Self, Error> {
        let state = B::Pushforward::state(backend, x.coordinates().len(), seeds)?;
        Ok(Pushforwards { state, storage: Storage::new(x) })
    }

    fn run<F, P>(
        &mut self,
        backend: &B,
        f: &F,
        x: At<'_, P>,
        seeds: Seeds<'_, X::Scalar>,
        y: Option<&mut Vec<X::Scalar>>,
        rows: Rows<'_, X::Scalar>,
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>>,
    {
        let mut kept = Default::default();
        let mut f = Bound::new(f, x, &mut self.storage, &mut kept);
        B::Pushforward::pushforward(backend, &mut self.state, &mut f, x.coordinates(), seeds, y, rows)
    }

    fn entries<F, P>(
        &mut self,
        backend: &B,
        f: &F,
        x: At<'_, P>,
        entries: EntryRequest<'_, X::Scalar>,
        y: Option<&mut Vec<X::Scalar>>,
    ) -> Result<bool, Error>
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>>,
    {
        let mut kept = Default::default();
        let mut f = Bound::new(f, x, &mut self.storage, &mut kept);
        B::Pushforward::entries(backend, &mut self.state, &mut f, x.coordinates(), entries, y)
    }
}

/// The pushforwards of a preparation, whose lanes follow from the number of colours.
enum Forward<B: Backend, X: Shape, C: Contexts> {
    Wide(Pushforwards<B, X, C, B::Lanes>),
    Few(Pushforwards<B, X, C, Narrow>),
}

impl<B: Backend, X: Shape, C: Contexts> Clone for Forward<B, X, C> {
    fn clone(&self) -> Self {
        match self {
            Forward::Wide(work) => Forward::Wide(work.clone()),
            Forward::Few(work) => Forward::Few(work.clone()),
        }
    }
}

/// What a preparation of a sparse Jacobian holds.
pub struct SparseJacobianState<D: JacobianSides, X: Shape, C: Contexts, K, Y = ()> {
    forward: Option<Forward<D::Forward, X, C>>,
    reverse: Option<ReverseState<D::Reverse, X::Scalar>>,
    reverse_storage: Storage<X, C, ReverseNum<D, X>>,
    evaluation: Evaluation<ReverseNum<D, X>>,
    shape: PreparedShape,
    /// What the evaluation of the preparation kept of the output.
    kept: Y,
    plan: Option<(Arc<Pattern>, Arc<Plan<K>>)>,
    inputs: usize,
    y: Vec<X::Scalar>,
    by_columns: Vec<X::Scalar>,
    by_rows: Vec<X::Scalar>,
}

impl<D: JacobianSides, X: Shape, C: Contexts, K, Y: Clone> Clone for SparseJacobianState<D, X, C, K, Y> {
    fn clone(&self) -> Self {
        SparseJacobianState {
            forward: self.forward.clone(),
            reverse: self.reverse.clone(),
            reverse_storage: self.reverse_storage.clone(),
            evaluation: self.evaluation.clone(),
            shape: self.shape.clone(),
            kept: self.kept.clone(),
            plan: self.plan.clone(),
            inputs: self.inputs,
            y: self.y.clone(),
            by_columns: self.by_columns.clone(),
            by_rows: self.by_rows.clone(),
        }
    }
}

impl<D: JacobianSides, X: Shape, C: Contexts, K: DecompressionKind, Y> SparseJacobianState<D, X, C, K, Y> {
    /// The pattern, once prepared.
    pub fn sparsity_pattern(&self) -> Option<&Arc<Pattern>> {
        self.plan.as_ref().map(|(pattern, _)| pattern)
    }
    /// The colours of the columns; empty before preparation and if only rows are coloured.
    pub fn column_colors(&self) -> &[u32] {
        match self.plan.as_ref().map(|(_, plan)| &**plan) {
            Some(Plan::Columns(colors)) => colors.column_colors(),
            Some(Plan::Both(colors)) => colors.column_colors(),
            _ => &[],
        }
    }
    /// The colours of the rows; empty before preparation and if only columns are coloured.
    pub fn row_colors(&self) -> &[u32] {
        match self.plan.as_ref().map(|(_, plan)| &**plan) {
            Some(Plan::Rows(colors)) => colors.row_colors(),
            Some(Plan::Both(colors)) => colors.row_colors(),
            _ => &[],
        }
    }
    /// The columns of each colour; `None` before preparation and if only rows are coloured.
    pub fn column_groups(&self) -> Option<&Groups> {
        match &*self.plan.as_ref()?.1 {
            Plan::Columns(colors) => Some(colors.column_groups()),
            Plan::Rows(_) => None,
            Plan::Both(colors) => Some(colors.column_groups()),
        }
    }
    /// The rows of each colour; `None` before preparation and if only columns are coloured.
    pub fn row_groups(&self) -> Option<&Groups> {
        match &*self.plan.as_ref()?.1 {
            Plan::Columns(_) => None,
            Plan::Rows(colors) => Some(colors.row_groups()),
            Plan::Both(colors) => Some(colors.row_groups()),
        }
    }
    /// The number of colours, which is the number of products of a call, unless the backends compute entries directly; 0 before preparation.
    pub fn ncolors(&self) -> usize {
        match self.plan.as_ref().map(|(_, plan)| &**plan) {
            Some(Plan::Columns(colors)) => colors.ncolors(),
            Some(Plan::Rows(colors)) => colors.ncolors(),
            Some(Plan::Both(colors)) => colors.ncolors(),
            None => 0,
        }
    }
}

impl<D: JacobianSides, X: Shape, C: Contexts, K, Y> SparseJacobianState<D, X, C, K, Y> {
    /// Checks that a point and a matrix have the shape and the pattern of the preparation.
    pub(crate) fn check_call<P>(&mut self, x: At<'_, P>, jac: &SparseMatrix<X::Scalar>) -> Result<(), ErrorKind>
    where
        P: Point<Shape = X, Contexts = C>,
    {
        self.shape.check(|lengths| self.reverse_storage.lengths(x, lengths))?;
        let pattern = self.plan.as_ref().map(|(pattern, _)| pattern);
        match pattern.is_some_and(|own| Arc::ptr_eq(own, jac.pattern()) || **own == **jac.pattern()) {
            true => Ok(()),
            false => Err(ErrorKind::BufferPattern),
        }
    }
}

/// Names the operator in an error.
fn named<D: JacobianSides>(error: impl Into<Error>) -> Error {
    error.into().during("jacobian", JacobianName::<D>::NAME)
}

/// The error that the number of outputs differs from that of the pattern.
fn other_outputs(error: Error, expected: usize, width: usize) -> Error {
    match error.kind() {
        ErrorKind::BufferLength { expected: entries, .. } => {
            ErrorKind::OutputLength { expected, found: entries / width.max(1) }.into()
        }
        _ => error,
    }
}

#[diagnostic::do_not_recommend]
impl<D, S, A, K, F, X, C> JacobianBackend<F, X, C> for AutoSparse<D, S, A, K>
where
    D: JacobianSides,
    S: SparsityDetector,
    A: ColoringAlgorithm + Clone,
    K: DecompressionKind + Decompress<X::Scalar> + Send + Sync + 'static,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, ForwardNum<D, X>>
        + Evaluate<X, C, NarrowNum<D, X>>
        + Evaluate<X, C, ReverseNum<D, X>>
        + Evaluate<X, C, DetectorNum<S, X>>,
    <F as Evaluate<X, C, ForwardNum<D, X>>>::Output: ArrayOutput<ForwardNum<D, X>>,
{
    const BACKEND: &'static str = JacobianName::<D>::NAME;
    type Num = ForwardNum<D, X>;
    type Output = <F as Evaluate<X, C, ForwardNum<D, X>>>::Output;
    type Matrix = SparseMatrix<X::Scalar>;
    type State = SparseJacobianState<D, X, C, K, KeptBy<F, X, C, ForwardNum<D, X>>>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(SparseJacobianState {
            forward: None,
            reverse: None,
            reverse_storage: Storage::new(x),
            evaluation: Evaluation::new(),
            shape: PreparedShape::default(),
            kept: Default::default(),
            plan: None,
            inputs: x.coordinates().len(),
            y: Vec::new(),
            by_columns: Vec::new(),
            by_rows: Vec::new(),
        })
    }

    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        let flat = x.coordinates();
        let (mut storage, mut kept) = (Storage::new(x), Default::default());
        let mut traced = Bound::<F, X, C, DetectorNum<S, X>, _>::new(f, x, &mut storage, &mut kept);
        let pattern = fault::watch(|| self.detector.jacobian(&mut traced, flat)).map_err(named::<D>)?;
        let refused = |error| named::<D>(coloring_error(error));
        let plan = match D::PARTITION {
            Partition::Columns => Plan::Columns(coloring(&pattern, Column, &self.coloring).map_err(refused)?),
            Partition::Rows => Plan::Rows(coloring(&pattern, Row, &self.coloring).map_err(refused)?),
            Partition::Both => {
                Plan::Both(coloring(&pattern, Bidirectional(self.decompression), &self.coloring).map_err(refused)?)
            }
        };
        let inputs = pattern.ncols();
        let Sides { forward, reverse, .. } = &self.sides();
        let (columns, rows) = match &plan {
            Plan::Columns(colors) => (colors.ncolors(), 0),
            Plan::Rows(colors) => (0, colors.ncolors()),
            Plan::Both(colors) => (colors.ncolumn_colors(), colors.nrow_colors()),
        };
        // A side without colours is needed only if the other side has none either, for the value.
        state.forward = None;
        if columns > 0 || rows == 0 {
            let refused = |error| named::<D>(chunk_error(error, columns));
            let wide = Pushforwards::new(forward, x, columns).map_err(refused)?;
            state.forward = Some(if is_narrow::<<D::Forward as Backend>::Lanes>(columns) {
                Forward::Few(Pushforwards::new(forward, x, columns).map_err(refused)?)
            } else {
                Forward::Wide(wide)
            });
        }
        state.reverse = None;
        if rows > 0 {
            state.reverse = Some(<D::Reverse as Backend>::Pullback::state(reverse, inputs).map_err(named::<D>)?);
        }
        state.by_columns.clear();
        state.by_rows.clear();
        state.inputs = inputs;
        let (mut scratch, count) = (Vec::new(), pattern.nnz());
        state.shape.prepare(|lengths| state.reverse_storage.lengths(x, lengths));
        state.plan = Some((Arc::new(pattern), Arc::new(plan)));
        // Any of several number types computes the value, so a container that tells its shape is made here once.
        if size_of::<KeptBy<F, X, C, ForwardNum<D, X>>>() > 0 {
            let constant = <D::Forward as Backend>::inject::<X::Scalar, <D::Forward as Backend>::Lanes>;
            let constants: Vec<ForwardNum<D, X>> = flat.iter().map(|&v| constant(v)).collect();
            let mut storage = Storage::new(x);
            let mut f = Bound::new(f, x, &mut storage, &mut state.kept);
            fault::watch(|| {
                f.call(&constants, &mut Vec::new());
                Ok(())
            })
            .map_err(named::<D>)?;
        }
        // One call sizes all work memory.
        let served = self.entries(state, f, x, true, Rows::growing(&mut scratch, count));
        let sized = served.and_then(|served| if served { Ok(()) } else { self.products(state, f, x, true) });
        sized.map_err(|error| match error.kind() {
            // The rows are those of the pattern, as nothing else is known of the outputs.
            ErrorKind::OutputLength { expected, found } => {
                named::<D>(Error::from(ErrorKind::PatternSize { expected: (found, inputs), found: (expected, inputs) }))
            }
            _ => error,
        })
    }

    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<Self::Matrix, Error> {
        if state.plan.is_none() {
            self.prepare(state, f, x)?;
        }
        let pattern = state.sparsity_pattern().map(Arc::clone).expect("the preparation made it");
        let mut jac = SparseMatrix::zeros(pattern);
        self.fill(state, f, x, with_value, &mut jac)?;
        Ok(jac)
    }

    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        jac: &mut Self::Matrix,
    ) -> Result<(), Error> {
        if state.plan.is_none() {
            self.prepare(state, f, x)?;
        }
        state.check_call(x, jac).map_err(named::<D>)?;
        if self.entries(state, f, x, with_value, jac.rows_to_fill())? {
            return Ok(());
        }
        self.products(state, f, x, with_value)?;
        let (_, plan) = state.plan.as_ref().expect("the preparation made it");
        match &**plan {
            Plan::Columns(colors) => colors.decompress_into(jac.values_mut(), &state.by_columns),
            Plan::Rows(colors) => colors.decompress_into(jac.values_mut(), &state.by_rows),
            Plan::Both(colors) => colors.decompress_into(jac.values_mut(), &state.by_columns, &state.by_rows),
        }
        .map_err(|error| named::<D>(coloring_error(error)))
    }

    fn adapt(&self, state: &mut Self::State, adapts: bool) {
        let sides = self.sides();
        match &mut state.forward {
            Some(Forward::Wide(work)) => {
                <D::Forward as Backend>::Pushforward::adapt(&sides.forward, &mut work.state, adapts)
            }
            Some(Forward::Few(work)) => {
                <D::Forward as Backend>::Pushforward::adapt(&sides.forward, &mut work.state, adapts)
            }
            None => {}
        }
        if let Some(work) = &mut state.reverse {
            <D::Reverse as Backend>::Pullback::adapt(&sides.reverse, work, adapts);
        }
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
        if state.plan.is_none() {
            self.prepare(state, f, x)?;
        }
        let mut kept = Default::default();
        let mut f = Bound::<F, X, C, ReverseNum<D, X>, _>::new(f, x, &mut state.reverse_storage, &mut kept);
        state.evaluation.run(&mut f, x.coordinates(), y).map_err(named::<D>)
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        &state.y
    }
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, ForwardNum<D, X>> {
        &state.kept
    }
}

/// The dense backends of a call.
struct Sides<F, R> {
    forward: F,
    reverse: R,
    /// Whether they report other branches because the pattern is valid on one branch only.
    held: bool,
}

impl<F, R> Sides<F, R> {
    /// Converts an error about another branch to one about the pattern.
    fn explained(&self, error: Error) -> Error {
        if self.held { other_pattern(error) } else { error }
    }
}

/// The backend that reports a change of branch, if there is one.
fn one_branch<B: Backend>(backend: &B) -> Option<B> {
    backend.recordings().and_then(|kept| kept.held_to_one_branch)
}

impl<D: JacobianSides, S: SparsityDetector, A, K> AutoSparse<D, S, A, K> {
    /// The dense backends. With a pattern for one point they report other branches.
    fn sides(&self) -> Sides<D::Forward, D::Reverse> {
        let (forward, reverse) = self.dense.sides();
        let held = if S::AT_ONE_POINT { (one_branch(forward), one_branch(reverse)) } else { (None, None) };
        Sides {
            held: held.0.is_some() || held.1.is_some(),
            forward: held.0.unwrap_or_else(|| forward.clone()),
            reverse: held.1.unwrap_or_else(|| reverse.clone()),
        }
    }

    /// Fills the entries directly, and the value if requested, if the backend can and that is cheaper than products.
    fn entries<F, X, C, P, Y>(
        &self,
        state: &mut SparseJacobianState<D, X, C, K, Y>,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        values: Rows<'_, X::Scalar>,
    ) -> Result<bool, Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        K: DecompressionKind,
        F: Evaluate<X, C, ForwardNum<D, X>> + Evaluate<X, C, NarrowNum<D, X>> + Evaluate<X, C, ReverseNum<D, X>>,
    {
        let products = state.ncolors();
        let Some((pattern, _)) = &state.plan else { return Ok(false) };
        let entries = EntryRequest { pattern: Some(pattern.csr()), values, products };
        let sides = self.sides();
        let y = with_value.then_some(&mut state.y);
        let filled = fault::Watch::begin().end(match (&mut state.forward, &mut state.reverse) {
            (Some(Forward::Wide(work)), _) => work.entries(&sides.forward, f, x, entries, y),
            (Some(Forward::Few(work)), _) => work.entries(&sides.forward, f, x, entries, y),
            (None, Some(work)) => {
                let mut kept = Default::default();
                let mut f = Bound::<F, X, C, ReverseNum<D, X>, _>::new(f, x, &mut state.reverse_storage, &mut kept);
                <D::Reverse as Backend>::Pullback::entries(&sides.reverse, work, &mut f, x.coordinates(), entries, y)
            }
            (None, None) => Ok(false),
        });
        filled.map_err(|error| named::<D>(sides.explained(error)))
    }

    /// Fills the compressed matrices, and the value if requested.
    fn products<F, X, C, P, Y>(
        &self,
        state: &mut SparseJacobianState<D, X, C, K, Y>,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        K: DecompressionKind,
        F: Evaluate<X, C, ForwardNum<D, X>> + Evaluate<X, C, NarrowNum<D, X>> + Evaluate<X, C, ReverseNum<D, X>>,
    {
        let flat = x.coordinates();
        let sides = self.sides();
        let Sides { forward, reverse, .. } = &sides;
        let (pattern, plan) = state.plan.as_ref().expect("the preparation made it");
        let ((column_colors, columns), (row_colors, rows)): ((&[u32], usize), (&[u32], usize)) = match &**plan {
            Plan::Columns(colors) => ((colors.column_colors(), colors.ncolors()), (&[], 0)),
            Plan::Rows(colors) => ((&[], 0), (colors.row_colors(), colors.ncolors())),
            Plan::Both(colors) => {
                ((colors.column_colors(), colors.ncolumn_colors()), (colors.row_colors(), colors.nrow_colors()))
            }
        };
        let outputs = pattern.nrows();
        state.by_columns.resize(outputs * columns, X::Scalar::default());
        state.by_rows.resize(rows * state.inputs, X::Scalar::default());
        let mut with_value = with_value;
        fault::watch(|| {
            if let Some(work) = &mut state.forward {
                let seeds = Seeds::Colors { colors: column_colors, first: 0, count: columns };
                let y = with_value.then_some(&mut state.y);
                let target = Rows::fixed(&mut state.by_columns, columns);
                match work {
                    Forward::Wide(work) => work.run(forward, f, x, seeds, y, target),
                    Forward::Few(work) => work.run(forward, f, x, seeds, y, target),
                }
                .map_err(|error| other_outputs(error, outputs, columns))?;
                with_value = false;
            }
            if let Some(work) = &mut state.reverse {
                let mut kept = Default::default();
                let mut f = Bound::<F, X, C, ReverseNum<D, X>, _>::new(f, x, &mut state.reverse_storage, &mut kept);
                <D::Reverse as Backend>::Pullback::record(reverse, work, &mut f, flat, &mut state.y)?;
                if state.y.len() != outputs {
                    return Err(ErrorKind::OutputLength { expected: outputs, found: state.y.len() }.into());
                }
                let seeds = Seeds::Colors { colors: row_colors, first: 0, count: rows };
                let target = Rows::fixed(&mut state.by_rows, state.inputs);
                <D::Reverse as Backend>::Pullback::sweep(reverse, work, &mut f, seeds, target)?;
            }
            Ok(())
        })
        .map_err(|error| named::<D>(sides.explained(error)))
    }
}
