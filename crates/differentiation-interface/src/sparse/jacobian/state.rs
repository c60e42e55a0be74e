//! What a preparation of a sparse Jacobian holds: the pattern with its colours, and the states of the dense backends.

use crate::sparse::SparseMatrix;
use crate::sparse::arguments::PatternArguments;
use crate::sparse::lanes::Narrow;
use crate::sparse::sides::JacobianSides;
use differentiation_interface_core::backend::{
    Backend, EntryRequest, Lanes, PullbackRoute, PushforwardRoute, Rows, Seeds,
};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::{Bound, Evaluate, KeptBy, Storage};
use differentiation_interface_core::operators::{Evaluation, NumOf};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::recordings::{OutputShape, Reports};
use matrix_coloring::{BidirectionalColoring, ColumnColoring, Decompression, Groups, Pattern, RowColoring};
use std::collections::VecDeque;
use std::sync::Arc;

pub(super) type ForwardNum<D, X> =
    NumOf<<D as JacobianSides>::Forward, X, <<D as JacobianSides>::Forward as Backend>::Lanes>;
pub(super) type NarrowNum<D, X> = NumOf<<D as JacobianSides>::Forward, X, Narrow>;
pub(super) type ReverseNum<D, X> =
    NumOf<<D as JacobianSides>::Reverse, X, <<D as JacobianSides>::Reverse as Backend>::Lanes>;
type ReverseState<B, S> = <<B as Backend>::Pullback as PullbackRoute<B>>::State<S, <B as Backend>::Lanes>;
type ForwardState<B, S, L> = <<B as Backend>::Pushforward as PushforwardRoute<B>>::State<S, L>;
type ReportOf<D, X> = <ReverseState<<D as JacobianSides>::Reverse, <X as Shape>::Scalar> as Reports>::Report;

/// The number of names of shapes that are kept; another one takes runs of the function.
const MOST_KNOWN: usize = 64;

/// A colouring with its decompression.
#[derive(Clone, Debug)]
pub(super) enum Plan<K> {
    Columns(ColumnColoring),
    Rows(RowColoring),
    Both(BidirectionalColoring<K>),
}

/// State and work memory of pushforwards on numbers with the lanes `L`.
pub(super) struct Pushforwards<B: Backend, X: Shape, C: Contexts, L: Lanes> {
    pub(super) state: <B::Pushforward as PushforwardRoute<B>>::State<X::Scalar, L>,
    storage: Storage<X, C, NumOf<B, X, L>>,
}

impl<B: Backend, X: Shape, C: Contexts, L: Lanes> Clone for Pushforwards<B, X, C, L> {
    fn clone(&self) -> Self {
        Pushforwards { state: self.state.clone(), storage: self.storage.clone() }
    }
}

impl<B: Backend, X: Shape, C: Contexts, L: Lanes> Pushforwards<B, X, C, L> {
    pub(super) fn new<P: Point<Shape = X, Contexts = C>>(
        backend: &B,
        x: At<'_, P>,
        seeds: usize,
    ) -> Result<Self, Error> {
        let state = B::Pushforward::state(backend, x.coordinates().len(), seeds)?;
        Ok(Pushforwards { state, storage: Storage::new(x) })
    }

    pub(super) fn run<F, P>(
        &mut self,
        backend: &B,
        (f, kept): (&F, &mut KeptBy<F, X, C, NumOf<B, X, L>>),
        x: At<'_, P>,
        seeds: Seeds<'_, X::Scalar>,
        y: Option<&mut Vec<X::Scalar>>,
        rows: Rows<'_, X::Scalar>,
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>>,
    {
        let mut f = Bound::new(f, x, &mut self.storage, kept);
        B::Pushforward::pushforward(backend, &mut self.state, &mut f, x.coordinates(), seeds, y, rows)
    }

    pub(super) fn entries<F, P>(
        &mut self,
        backend: &B,
        (f, kept): (&F, &mut KeptBy<F, X, C, NumOf<B, X, L>>),
        x: At<'_, P>,
        entries: EntryRequest<'_, X::Scalar>,
        y: Option<&mut Vec<X::Scalar>>,
    ) -> Result<bool, Error>
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>>,
    {
        let mut f = Bound::new(f, x, &mut self.storage, kept);
        B::Pushforward::entries(backend, &mut self.state, &mut f, x.coordinates(), entries, y)
    }
}

/// The pushforwards of a preparation, whose lanes follow from the number of colours.
pub(super) enum Forward<B: Backend, X: Shape, C: Contexts> {
    Wide(Pushforwards<B, X, C, B::Lanes>),
    Narrow(Pushforwards<B, X, C, Narrow>),
}

impl<B: Backend, X: Shape, C: Contexts> Clone for Forward<B, X, C> {
    fn clone(&self) -> Self {
        match self {
            Forward::Wide(work) => Forward::Wide(work.clone()),
            Forward::Narrow(work) => Forward::Narrow(work.clone()),
        }
    }
}

/// What calls with the value keep of the output, on each number type that may compute it. The shape of the output on another type than that of
/// the results has a name there, by which it is found again on that type without a run of the function. The first call with a shape keeps its
/// name alone, the second one an output: data that differ in each call (a time, a count) would otherwise leave dozens of outputs behind.
#[derive(Clone, Debug, Default)]
pub struct KeptOutputs<W, N, R> {
    /// On the type of the results, which many colours take.
    pub(super) result: W,
    pub(super) narrow: N,
    pub(super) reverse: R,
    /// Names of shapes on another type, and on that of the results once the shape has come back.
    met: VecDeque<(OutputShape, Option<OutputShape>)>,
}

impl<W, N, R> KeptOutputs<W, N, R> {
    /// Whether there was a shape of this name on another type, and its name on the type of the results if an output is kept.
    pub(super) fn met(&self, name: OutputShape) -> Option<Option<OutputShape>> {
        self.met.iter().find(|met| met.0 == name).map(|met| met.1)
    }

    /// Keeps the names of a shape, and forgets the oldest ones if there are too many.
    pub(super) fn keep(&mut self, name: OutputShape, shape: Option<OutputShape>) {
        self.met.retain(|met| met.0 != name);
        if self.met.len() == MOST_KNOWN {
            self.met.pop_front();
        }
        self.met.push_back((name, shape));
    }
}

/// What a preparation of a sparse Jacobian holds.
pub struct SparseJacobianState<D: JacobianSides, X: Shape, C: Contexts, K, Y = ()> {
    pub(super) forward: Option<Forward<D::Forward, X, C>>,
    pub(super) reverse: Option<ReverseState<D::Reverse, X::Scalar>>,
    pub(super) reverse_storage: Storage<X, C, ReverseNum<D, X>>,
    pub(super) evaluation: Evaluation<ReverseNum<D, X>>,
    pub(super) arguments: PatternArguments,
    /// Whether calls that repeat may be computed in another way.
    pub(super) adapts: bool,
    /// What calls with the value kept of the output: [`KeptOutputs`].
    pub(super) kept: Y,
    pub(super) plan: Option<(Arc<Pattern>, Arc<Plan<K>>)>,
    /// Whether the preparation for the plan has come to its end. If not, because it failed or the function panicked, the next call begins anew.
    pub(super) is_ready: bool,
    pub(super) inputs: usize,
    pub(super) y: Vec<X::Scalar>,
    pub(super) by_columns: Vec<X::Scalar>,
    pub(super) by_rows: Vec<X::Scalar>,
}

impl<D: JacobianSides, X: Shape, C: Contexts, K, Y: Clone> Clone for SparseJacobianState<D, X, C, K, Y> {
    fn clone(&self) -> Self {
        SparseJacobianState {
            forward: self.forward.clone(),
            reverse: self.reverse.clone(),
            reverse_storage: self.reverse_storage.clone(),
            evaluation: self.evaluation.clone(),
            arguments: self.arguments.clone(),
            adapts: self.adapts,
            kept: self.kept.clone(),
            plan: self.plan.clone(),
            is_ready: self.is_ready,
            inputs: self.inputs,
            y: self.y.clone(),
            by_columns: self.by_columns.clone(),
            by_rows: self.by_rows.clone(),
        }
    }
}

impl<D: JacobianSides, X: Shape, C: Contexts, K: Decompression, Y> SparseJacobianState<D, X, C, K, Y> {
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
    /// Checks that a matrix has the pattern of the preparation.
    pub(crate) fn check_buffer(&self, jac: &SparseMatrix<X::Scalar>) -> Result<(), ErrorKind> {
        let pattern = self.plan.as_ref().map(|(pattern, _)| pattern);
        match pattern.is_some_and(|own| Arc::ptr_eq(own, jac.pattern()) || **own == **jac.pattern()) {
            true => Ok(()),
            false => Err(ErrorKind::BufferPattern),
        }
    }
}

/// What the dense backend has done since the pattern was detected: of its pushforwards if columns are coloured, else of its pullbacks.
impl<D: JacobianSides, X: Shape, C: Contexts, K, Y> Reports for SparseJacobianState<D, X, C, K, Y>
where
    ReverseState<D::Reverse, X::Scalar>: Reports<Report: Default>,
    ForwardState<D::Forward, X::Scalar, <D::Forward as Backend>::Lanes>: Reports<Report = ReportOf<D, X>>,
    ForwardState<D::Forward, X::Scalar, Narrow>: Reports<Report = ReportOf<D, X>>,
{
    type Report = ReportOf<D, X>;
    fn report(&self) -> Self::Report {
        match (&self.forward, &self.reverse) {
            (Some(Forward::Wide(work)), _) => work.state.report(),
            (Some(Forward::Narrow(work)), _) => work.state.report(),
            (None, Some(work)) => work.report(),
            (None, None) => Default::default(),
        }
    }
}
