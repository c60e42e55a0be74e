//! Sparse Jacobians: pushforwards with one seed per column colour, pullbacks with one per row colour, then decompression.
//!
//! Called by `jacobian` through [`JacobianBackend`]; calls the pushforward and pullback routes of the dense backends. A backend that
//! computes entries directly is tried first.

mod state;

pub use state::SparseJacobianState;

use self::state::{Forward, ForwardNum, KeptOutputs, NarrowNum, Plan, Pushforwards, ReverseNum};
use super::arguments::PatternArguments;
use super::lanes::is_narrow;
use super::name::JacobianName;
use super::sides::{JacobianSides, Partition};
use super::{AutoSparse, SparseMatrix, chunk_error, coloring_error, other_pattern};
use differentiation_interface_core::backend::{Backend, EntryRequest, PullbackRoute, PushforwardRoute, Rows, Seeds};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::{ArrayOutput, Bound, Evaluate, KeptBy, Output, Storage};
use differentiation_interface_core::fault;
use differentiation_interface_core::operators::{Evaluation, JacobianBackend};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::recordings::OutputShape;
use differentiation_interface_core::scalar::{Base, Scalar};
use matrix_coloring::{Bidirectional, ColoringAlgorithm, Column, Decompression, Pattern, Recovers, Row, coloring};
use sparsity_tracer::SparsityDetector;
use std::sync::Arc;

type DetectorNum<S, X> = <S as SparsityDetector>::JacobianNum<<<X as Shape>::Scalar as Scalar>::Base>;

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
    K: Decompression + Recovers<X::Scalar> + Send + Sync + 'static,
    X: Shape,
    C: Contexts,
    F: SparseEvaluate<D, S, X, C>,
    <F as Evaluate<X, C, ForwardNum<D, X>>>::Output: ArrayOutput<ForwardNum<D, X>>,
{
    const BACKEND: &'static str = JacobianName::<D>::NAME;
    type Num = ForwardNum<D, X>;
    type Output = <F as Evaluate<X, C, ForwardNum<D, X>>>::Output;
    type Matrix = SparseMatrix<X::Scalar>;
    type State = StateOf<F, D, X, C, K>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(SparseJacobianState {
            forward: None,
            reverse: None,
            reverse_storage: Storage::new(x),
            evaluation: Evaluation::new(),
            arguments: PatternArguments::default(),
            adapts: false,
            kept: Default::default(),
            plan: None,
            is_ready: false,
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
        let pattern = self.detect(f, x)?;
        self.adopt(state, pattern, f, x)
    }

    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<Self::Matrix, Error> {
        self.follow(state, f, x)?;
        let pattern = state.sparsity_pattern().map(Arc::clone).expect("the preparation made it");
        let mut jac = SparseMatrix::zeros(pattern);
        self.values(state, f, x, with_value, &mut jac)?;
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
        self.follow(state, f, x)?;
        state.check_buffer(jac).map_err(named::<D>)?;
        self.values(state, f, x, with_value, jac)
    }

    fn adapt(&self, state: &mut Self::State, adapts: bool) {
        state.adapts = adapts;
        self.adapt_sides(state, adapts);
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
        // The value needs no pattern: a preparation that has failed is left to the next matrix.
        let mut bound =
            Bound::<F, X, C, ReverseNum<D, X>, _>::new(f, x, &mut state.reverse_storage, &mut state.kept.reverse);
        state.evaluation.run(&mut bound, x.coordinates(), y).map_err(named::<D>)?;
        let name = ReverseOf::<F, D, X, C>::name(&mut state.kept.reverse);
        self.find_shape(state, f, x, name)
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        &state.y
    }
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, ForwardNum<D, X>> {
        &state.kept.result
    }
}

/// What a function must accept for sparse Jacobians by the dense sides `D` and the detector `S`.
pub trait SparseEvaluate<D: JacobianSides, S: SparsityDetector, X: Shape, C: Contexts>:
    Evaluate<X, C, ForwardNum<D, X>>
    + Evaluate<X, C, NarrowNum<D, X>>
    + Evaluate<X, C, ReverseNum<D, X>>
    + Evaluate<X, C, DetectorNum<S, X>>
{
}
impl<D, S, X, C, F> SparseEvaluate<D, S, X, C> for F
where
    D: JacobianSides,
    S: SparsityDetector,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, ForwardNum<D, X>>
        + Evaluate<X, C, NarrowNum<D, X>>
        + Evaluate<X, C, ReverseNum<D, X>>
        + Evaluate<X, C, DetectorNum<S, X>>,
{
}

/// The output of a function on the number type of the results, and on the other ones that compute values.
type ResultOf<F, D, X, C> = <F as Evaluate<X, C, ForwardNum<D, X>>>::Output;
type NarrowOf<F, D, X, C> = <F as Evaluate<X, C, NarrowNum<D, X>>>::Output;
type ReverseOf<F, D, X, C> = <F as Evaluate<X, C, ReverseNum<D, X>>>::Output;

/// The state for a function.
pub(crate) type StateOf<F, D, X, C, K> = SparseJacobianState<
    D,
    X,
    C,
    K,
    KeptOutputs<KeptBy<F, X, C, ForwardNum<D, X>>, KeptBy<F, X, C, NarrowNum<D, X>>, KeptBy<F, X, C, ReverseNum<D, X>>>,
>;

impl<D, S, A, K> AutoSparse<D, S, A, K>
where
    D: JacobianSides,
    S: SparsityDetector,
    A: ColoringAlgorithm + Clone,
    K: Decompression + Send + Sync + 'static,
{
    /// The pattern for the arguments of this call.
    fn detect<F, X, C, P>(&self, f: &F, x: At<'_, P>) -> Result<Pattern, Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, DetectorNum<S, X>>,
    {
        let (mut storage, mut kept) = (Storage::new(x), Default::default());
        let mut traced = Bound::<F, X, C, DetectorNum<S, X>, _>::new(f, x, &mut storage, &mut kept);
        fault::watch(|| self.detector.jacobian(&mut traced, x.coordinates())).map_err(named::<D>)
    }

    /// Prepares what is not prepared. Where the constants are not those of the preparation, detects again and takes over the entries that
    /// are new.
    pub(crate) fn follow<F, X, C, P>(
        &self,
        state: &mut StateOf<F, D, X, C, K>,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        F: SparseEvaluate<D, S, X, C>,
    {
        let SparseJacobianState { arguments, reverse_storage, plan, is_ready, .. } = &mut *state;
        let detect = || self.detect(f, x);
        let pattern = match plan {
            Some((prepared, _)) if *is_ready => {
                let prepared = (&**prepared, S::FOLLOWS_CONSTANTS);
                arguments.newer(prepared, reverse_storage, x, detect).map_err(named::<D>)?
            }
            _ => Some(detect()?),
        };
        if let Some(pattern) = pattern {
            self.adopt(state, pattern, f, x)?;
            self.adapt_sides(state, state.adapts);
        }
        Ok(())
    }

    /// Colours a pattern and prepares its products.
    fn adopt<F, X, C, P>(
        &self,
        state: &mut StateOf<F, D, X, C, K>,
        pattern: Pattern,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        F: SparseEvaluate<D, S, X, C>,
    {
        // After an error or a panic the next call begins anew.
        (state.plan, state.is_ready) = (None, false);
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
            // Made in any case, since it refuses a fixed chunk that is larger than the number of colours: narrow lanes cut the chunk and accept it.
            let wide = Pushforwards::new(forward, x, columns).map_err(refused)?;
            state.forward = Some(if is_narrow::<<D::Forward as Backend>::Lanes>(columns) {
                Forward::Narrow(Pushforwards::new(forward, x, columns).map_err(refused)?)
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
        state.arguments.keep(&mut state.reverse_storage, x);
        state.plan = Some((Arc::new(pattern), Arc::new(plan)));
        // One call sizes all work memory.
        let served = self.entries(state, f, x, true, Rows::growing(&mut scratch, count));
        let sized = served.and_then(|served| if served { Ok(()) } else { self.products(state, f, x, true) });
        state.is_ready = sized.is_ok();
        sized.map_err(|error| match error.kind() {
            // The rows are those of the pattern, as nothing else is known of the outputs.
            ErrorKind::OutputLength { expected, found } => {
                named::<D>(Error::from(ErrorKind::PatternSize { expected: (found, inputs), found: (expected, inputs) }))
            }
            _ => error,
        })
    }

    /// Fills the matrix of a state that is prepared for these arguments.
    pub(crate) fn values<F, X, C, P>(
        &self,
        state: &mut StateOf<F, D, X, C, K>,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        jac: &mut SparseMatrix<X::Scalar>,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        K: Recovers<X::Scalar>,
        F: SparseEvaluate<D, S, X, C>,
    {
        let is_filled = self.entries(state, f, x, with_value, jac.rows_to_fill())?;
        if !is_filled {
            self.products(state, f, x, with_value)?;
        }
        if with_value {
            let name = match &state.forward {
                Some(Forward::Wide(_)) => None,
                Some(Forward::Narrow(_)) => NarrowOf::<F, D, X, C>::name(&mut state.kept.narrow),
                None => ReverseOf::<F, D, X, C>::name(&mut state.kept.reverse),
            };
            self.settle(state, f, x, name)?;
        }
        if is_filled {
            return Ok(());
        }
        let (_, plan) = state.plan.as_ref().expect("the preparation made it");
        match &**plan {
            Plan::Columns(colors) => colors.decompress_into(jac.values_mut(), &state.by_columns),
            Plan::Rows(colors) => colors.decompress_into(jac.values_mut(), &state.by_rows),
            Plan::Both(colors) => colors.decompress_into(jac.values_mut(), &state.by_columns, &state.by_rows),
        }
        .map_err(|error| named::<D>(coloring_error(error)))
    }

    /// Finds the shape of the output at `x`, if outputs tell one: by its name on the number type that has computed the value, or by a run of the
    /// function on plain numbers, in the first two calls with each name.
    pub(crate) fn find_shape<F, X, C, P>(
        &self,
        state: &mut StateOf<F, D, X, C, K>,
        f: &F,
        x: At<'_, P>,
        name: Option<OutputShape>,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        F: SparseEvaluate<D, S, X, C>,
    {
        ResultOf::<F, D, X, C>::begin(&mut state.kept.result);
        self.settle(state, f, x, name)
    }

    /// The same unless the call has told the shape on the number type of the results.
    fn settle<F, X, C, P>(
        &self,
        state: &mut StateOf<F, D, X, C, K>,
        f: &F,
        x: At<'_, P>,
        name: Option<OutputShape>,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        F: SparseEvaluate<D, S, X, C>,
    {
        let kept = &mut state.kept;
        let met = name.and_then(|name| kept.met(name));
        if let Some(Some(shape)) = met {
            ResultOf::<F, D, X, C>::show(&kept.result, shape);
        }
        if ResultOf::<F, D, X, C>::is_told(&kept.result) {
            return Ok(());
        }
        let mut storage = Storage::new(x);
        let mut bound = Bound::<F, X, C, ForwardNum<D, X>, _>::again(f, x, &mut storage, &mut kept.result);
        bound.settle(x.coordinates()).map_err(named::<D>)?;
        match (name, met) {
            (Some(name), None) => kept.keep(name, None),
            (Some(name), Some(None)) => {
                let shape = ResultOf::<F, D, X, C>::remember(&mut kept.result);
                kept.keep(name, shape);
            }
            // The run has kept its output under the name that was shown.
            (_, Some(Some(_))) | (None, None | Some(None)) => {}
        }
        Ok(())
    }

    /// Tells the dense backends whether calls that repeat may be computed in another way.
    fn adapt_sides<X: Shape, C: Contexts, Y>(&self, state: &mut SparseJacobianState<D, X, C, K, Y>, adapts: bool) {
        let sides = self.sides();
        match &mut state.forward {
            Some(Forward::Wide(work)) => {
                <D::Forward as Backend>::Pushforward::adapt(&sides.forward, &mut work.state, adapts)
            }
            Some(Forward::Narrow(work)) => {
                <D::Forward as Backend>::Pushforward::adapt(&sides.forward, &mut work.state, adapts)
            }
            None => {}
        }
        if let Some(work) = &mut state.reverse {
            <D::Reverse as Backend>::Pullback::adapt(&sides.reverse, work, adapts);
        }
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
    fn entries<F, X, C, P>(
        &self,
        state: &mut StateOf<F, D, X, C, K>,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        values: Rows<'_, X::Scalar>,
    ) -> Result<bool, Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        K: Decompression,
        F: Evaluate<X, C, ForwardNum<D, X>> + Evaluate<X, C, NarrowNum<D, X>> + Evaluate<X, C, ReverseNum<D, X>>,
    {
        let products = state.ncolors();
        let Some((pattern, _)) = &state.plan else { return Ok(false) };
        let entries = EntryRequest { pattern: Some(pattern.csr()), values, products };
        let sides = self.sides();
        let y = with_value.then_some(&mut state.y);
        // Another number type does not tell the shape of results.
        ResultOf::<F, D, X, C>::begin(&mut state.kept.result);
        let kept = &mut state.kept;
        let filled = fault::Watch::begin().end(match (&mut state.forward, &mut state.reverse) {
            (Some(Forward::Wide(work)), _) => work.entries(&sides.forward, (f, &mut kept.result), x, entries, y),
            (Some(Forward::Narrow(work)), _) => work.entries(&sides.forward, (f, &mut kept.narrow), x, entries, y),
            (None, Some(work)) => {
                let storage = &mut state.reverse_storage;
                let mut f = Bound::<F, X, C, ReverseNum<D, X>, _>::new(f, x, storage, &mut kept.reverse);
                <D::Reverse as Backend>::Pullback::entries(&sides.reverse, work, &mut f, x.coordinates(), entries, y)
            }
            (None, None) => Ok(false),
        });
        filled.map_err(|error| named::<D>(sides.explained(error)))
    }

    /// Fills the compressed matrices, and the value if requested.
    fn products<F, X, C, P>(
        &self,
        state: &mut StateOf<F, D, X, C, K>,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: Contexts,
        P: Point<Shape = X, Contexts = C>,
        K: Decompression,
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
        ResultOf::<F, D, X, C>::begin(&mut state.kept.result);
        let kept = &mut state.kept;
        fault::watch(|| {
            if let Some(work) = &mut state.forward {
                let seeds = Seeds::Colors { colors: column_colors, first: 0, count: columns };
                let y = with_value.then_some(&mut state.y);
                let target = Rows::fixed(&mut state.by_columns, columns);
                match work {
                    Forward::Wide(work) => work.run(forward, (f, &mut kept.result), x, seeds, y, target),
                    Forward::Narrow(work) => work.run(forward, (f, &mut kept.narrow), x, seeds, y, target),
                }
                .map_err(|error| other_outputs(error, outputs, columns))?;
                with_value = false;
            }
            if let Some(work) = &mut state.reverse {
                let storage = &mut state.reverse_storage;
                let mut f = Bound::<F, X, C, ReverseNum<D, X>, _>::new(f, x, storage, &mut kept.reverse);
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
