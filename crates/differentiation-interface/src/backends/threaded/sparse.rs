//! Sparse Jacobians: colours on several threads, then the entries.
//!
//! Called by `jacobian` for `AutoThreaded` around [`AutoSparse`], which detects the pattern and colours it once; calls the shares of
//! columns or rows, or `AutoSparse` where there is one thread.

use super::columns::{Call, ColumnShare};
use super::division::{Division, share_out};
use super::lanes::{Half, Third, Width, divide_columns, with_positive_zeros};
use super::rows::RowShare;
use super::setting::AutoThreaded;
use crate::sparse::{
    AutoSparse, JacobianSides, Partition, SparseEvaluate, SparseJacobianState, SparseMatrix, jacobian_name,
};
use differentiation_interface_core::backend::{
    Backend, Lanes, MatrixColumns, MatrixRoute, PullbackRoute, PushforwardRoute, Seeds,
};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::{ArrayOutput, Evaluate, KeptBy, Output};
use differentiation_interface_core::operators::{JacobianBackend, NumOf};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::recordings::OutputShape;
use differentiation_interface_core::scalar::{Base, Scalar};
use matrix_coloring::{ColoringAlgorithm, Decompression, Pattern, Recovers};
use sparsity_tracer::SparsityDetector;
use std::sync::Arc;

type WideLanes<D> = <<D as JacobianSides>::Forward as Backend>::Lanes;
type ForwardNum<D, X, L> = NumOf<<D as JacobianSides>::Forward, X, L>;
type ReverseLanes<D> = <<D as JacobianSides>::Reverse as Backend>::Lanes;
type ReverseNum<D, X> = NumOf<<D as JacobianSides>::Reverse, X, ReverseLanes<D>>;
type Kept<F, X, C, N> = KeptBy<F, X, C, N>;
type Columns<F, D, X, C, L> = ColumnShare<<D as JacobianSides>::Forward, X, C, L, Kept<F, X, C, ForwardNum<D, X, L>>>;
type RowsOf<F, D, X, C> =
    RowShare<<D as JacobianSides>::Reverse, X, C, ReverseLanes<D>, Kept<F, X, C, ReverseNum<D, X>>>;

/// The shares of a preparation: columns on numbers with some lanes, or rows.
#[derive(Clone)]
pub enum SparseShares<Wide, Half, Third, Rows> {
    /// `AutoSparse` works alone.
    None,
    /// As many lanes as the dense backend has.
    Wide(Vec<Wide>),
    /// Six lanes.
    Half(Vec<Half>),
    /// Four lanes.
    Third(Vec<Third>),
    /// Rows.
    Rows(Vec<Rows>),
}

/// The state of the inner `AutoSparse`, and the shares of the threads.
#[derive(Clone)]
pub struct ThreadedSparseState<Serial, Shares, S> {
    serial: Serial,
    shares: Shares,
    division: Division,
    /// The pattern whose colours are divided. The inner state may have another one after a call that has failed.
    divided: Option<Arc<Pattern>>,
    /// The place of each entry in `compressed`.
    places: Arc<[u32]>,
    /// The products, share by share.
    compressed: Vec<S>,
    is_shared: bool,
}

impl<Serial, Shares, S> ThreadedSparseState<Serial, Shares, S> {
    /// The state of `AutoSparse`, with the pattern and the colours.
    pub fn sparse(&self) -> &Serial {
        &self.serial
    }
}

/// The place of each entry in the products of the shares; `None` if there are too many products.
fn places(pattern: &Pattern, division: &Division, column_colors: &[u32], row_colors: &[u32]) -> Option<Arc<[u32]>> {
    let (rows, columns) = (pattern.nrows(), pattern.ncols());
    let largest = division.start(division.parts()).checked_mul(rows.max(columns))?;
    u32::try_from(largest).ok()?;
    // Per colour, the products of its share and its column among them.
    let parts: Vec<_> = (0..division.start(division.parts())).map(|color| division.part_of(color)).collect();
    let place = |row: usize, column: usize| {
        if row_colors.is_empty() {
            let (part, place) = parts[column_colors[column] as usize];
            division.start(part) * rows + row * division.range(part).len() + place
        } else {
            row_colors[row] as usize * columns + column
        }
    };
    let (starts, entries) = pattern.csr();
    let in_row = |row: usize| starts[row] as usize..starts[row + 1] as usize;
    Some(
        (0..rows)
            .flat_map(|row| in_row(row).map(move |k| (row, k)))
            .map(|(row, k)| place(row, entries[k] as usize) as u32)
            .collect(),
    )
}

/// Fills the entries from the products, a part of the entries on each thread.
fn gather<S: Scalar>(values: &mut [S], compressed: &[S], places: &[u32], parts: usize) -> Result<(), Error> {
    let count = values.len();
    let start = |part| part * count / parts;
    share_out(&mut vec![(); parts], values, &start, &|part, (), own| {
        for (value, &place) in own.iter_mut().zip(&places[start(part)..]) {
            *value = with_positive_zeros(compressed[place as usize]);
        }
        Ok(())
    })
}

#[diagnostic::do_not_recommend]
impl<D, S, A, K, F, X, C> JacobianBackend<F, X, C> for AutoThreaded<AutoSparse<D, S, A, K>>
where
    D: JacobianSides,
    S: SparsityDetector,
    A: ColoringAlgorithm + Clone,
    K: Decompression + Recovers<X::Scalar> + Send + Sync + 'static,
    X: Shape,
    C: for<'v> Contexts<Values<'v>: Send + Sync>,
    F: ThreadedSparseEvaluate<D, S, X, C>,
    <F as Evaluate<X, C, ForwardNum<D, X, WideLanes<D>>>>::Output: ArrayOutput<ForwardNum<D, X, WideLanes<D>>>,
{
    const BACKEND: &'static str = <AutoSparse<D, S, A, K> as JacobianBackend<F, X, C>>::BACKEND;
    type Num = ForwardNum<D, X, WideLanes<D>>;
    type Output = <F as Evaluate<X, C, ForwardNum<D, X, WideLanes<D>>>>::Output;
    type Matrix = SparseMatrix<X::Scalar>;
    type State = StateOf<F, D, X, C, K>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(ThreadedSparseState {
            serial: JacobianBackend::<F, X, C>::unprepared(self.backend(), x)?,
            shares: SparseShares::None,
            division: Division::default(),
            divided: None,
            places: Arc::new([]),
            compressed: Vec::new(),
            is_shared: false,
        })
    }

    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        JacobianBackend::<F, X, C>::prepare(self.backend(), &mut state.serial, f, x)?;
        self.divide(state, f, x)
    }

    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<Self::Matrix, Error> {
        self.follow(state, f, x)?;
        let pattern = state.serial.sparsity_pattern().map(Arc::clone).expect("the preparation made it");
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
        state.serial.check_buffer(jac).map_err(named::<D>)?;
        self.values(state, f, x, with_value, jac)
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
        JacobianBackend::<F, X, C>::evaluate(self.backend(), &mut state.serial, f, x, y)
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        let y = match &state.shares {
            _ if !state.is_shared => None,
            SparseShares::None => None,
            SparseShares::Wide(shares) => shares.first().map(|share| &share.y),
            SparseShares::Half(shares) => shares.first().map(|share| &share.y),
            SparseShares::Third(shares) => shares.first().map(|share| &share.y),
            SparseShares::Rows(shares) => shares.first().map(|share| &share.y),
        };
        match y {
            Some(y) => y,
            None => <AutoSparse<D, S, A, K> as JacobianBackend<F, X, C>>::value(&state.serial),
        }
    }
    fn kept(state: &Self::State) -> &Kept<F, X, C, ForwardNum<D, X, WideLanes<D>>> {
        <AutoSparse<D, S, A, K> as JacobianBackend<F, X, C>>::kept(&state.serial)
    }
}

/// One share of columns for each part.
fn columns<B: Backend, X: Shape, C: Contexts, L: Lanes, Y: Default, P: Point<Shape = X, Contexts = C>>(
    backend: &B,
    x: At<'_, P>,
    division: &Division,
    colors: usize,
) -> Result<Vec<ColumnShare<B, X, C, L, Y>>, Error> {
    (0..division.parts()).map(|_| ColumnShare::new(backend, x, colors)).collect()
}

/// Fills the products of column colours, share by share.
fn fill_columns<B, F, X, C, L, Y, P>(
    shares: &mut [ColumnShare<B, X, C, L, Y>],
    (backend, f, x): (&B, &F, At<'_, P>),
    (colors, count): (&[u32], usize),
    division: &Division,
    outputs: usize,
    with_value: bool,
    compressed: &mut [X::Scalar],
) -> Result<(), Error>
where
    B: Backend,
    X: Shape,
    C: for<'v> Contexts<Values<'v>: Send + Sync>,
    L: Lanes,
    Y: Default + Send,
    P: Point<Shape = X, Contexts = C>,
    F: Evaluate<X, C, NumOf<B, X, L>, Output: Output<NumOf<B, X, L>, Kept = Y>> + Sync,
{
    shares.iter_mut().for_each(|share| share.fit(x));
    let call = Call { backend, function: f, contexts: x.contexts(), x: x.coordinates() };
    let start = |part| division.start(part) * outputs;
    share_out(shares, compressed, &start, &|part, share, own| {
        let seeds = Seeds::Colors { colors, first: 0, count };
        let own = Some(MatrixColumns::new(own, division.range(part).len()));
        share.fill(&call, seeds, (division, part), outputs, with_value && part == 0, own)
    })
}

/// The name of the shape of the output on this number type.
fn name_on<F: Evaluate<X, C, N>, X: Shape, C: Contexts, N: Scalar>(
    kept: Option<&mut Kept<F, X, C, N>>,
) -> Option<OutputShape> {
    F::Output::name(kept?)
}

/// The state for a function.
type StateOf<F, D, X, C, K> = ThreadedSparseState<
    crate::sparse::StateOf<F, D, X, C, K>,
    SparseShares<
        Columns<F, D, X, C, WideLanes<D>>,
        Columns<F, D, X, C, Half>,
        Columns<F, D, X, C, Third>,
        RowsOf<F, D, X, C>,
    >,
    <X as Shape>::Scalar,
>;

/// What a function must accept for sparse Jacobians on several threads.
pub trait ThreadedSparseEvaluate<D: JacobianSides, S: SparsityDetector, X: Shape, C: Contexts>:
    SparseEvaluate<D, S, X, C> + Evaluate<X, C, ForwardNum<D, X, Half>> + Evaluate<X, C, ForwardNum<D, X, Third>> + Sync
{
}
impl<D, S, X, C, F> ThreadedSparseEvaluate<D, S, X, C> for F
where
    D: JacobianSides,
    S: SparsityDetector,
    X: Shape,
    C: Contexts,
    F: SparseEvaluate<D, S, X, C>
        + Evaluate<X, C, ForwardNum<D, X, Half>>
        + Evaluate<X, C, ForwardNum<D, X, Third>>
        + Sync,
{
}

impl<D, S, A, K> AutoThreaded<AutoSparse<D, S, A, K>>
where
    D: JacobianSides,
    S: SparsityDetector,
    A: ColoringAlgorithm + Clone,
    K: Decompression + Send + Sync + 'static,
{
    /// Prepares what is not prepared, and follows the pattern where constants have changed it.
    fn follow<F, X, C, P>(&self, state: &mut StateOf<F, D, X, C, K>, f: &F, x: At<'_, P>) -> Result<(), Error>
    where
        X: Shape,
        C: for<'v> Contexts<Values<'v>: Send + Sync>,
        P: Point<Shape = X, Contexts = C>,
        F: ThreadedSparseEvaluate<D, S, X, C>,
    {
        self.backend().follow(&mut state.serial, f, x)?;
        let pattern = state.serial.sparsity_pattern();
        let is_divided = pattern.zip(state.divided.as_ref()).is_some_and(|(own, divided)| Arc::ptr_eq(own, divided));
        if is_divided { Ok(()) } else { self.divide(state, f, x) }
    }

    /// Divides the colours of the pattern among the threads.
    fn divide<F, X, C, P>(&self, state: &mut StateOf<F, D, X, C, K>, f: &F, x: At<'_, P>) -> Result<(), Error>
    where
        X: Shape,
        C: for<'v> Contexts<Values<'v>: Send + Sync>,
        P: Point<Shape = X, Contexts = C>,
        F: ThreadedSparseEvaluate<D, S, X, C>,
    {
        // After an error or a panic the next call divides again.
        (state.shares, state.is_shared, state.divided) = (SparseShares::None, false, None);
        self.make_shares(state, f, x)?;
        state.divided = state.serial.sparsity_pattern().map(Arc::clone);
        Ok(())
    }

    /// Makes the shares of the threads, and their work memory, unless `AutoSparse` works alone.
    fn make_shares<F, X, C, P>(&self, state: &mut StateOf<F, D, X, C, K>, f: &F, x: At<'_, P>) -> Result<(), Error>
    where
        X: Shape,
        C: for<'v> Contexts<Values<'v>: Send + Sync>,
        P: Point<Shape = X, Contexts = C>,
        F: ThreadedSparseEvaluate<D, S, X, C>,
    {
        let serial = &state.serial;
        let Some(pattern) = serial.sparsity_pattern() else { return Ok(()) };
        let (forward, reverse) = self.backend().dense().sides();
        let (colors, numbers) = (serial.ncolors(), pattern.nrows() + pattern.ncols());
        // A backend that computes the matrix as a whole may compute entries as a whole, too.
        let is_whole = <D::Forward as Backend>::Jacobian::divides(forward).is_none();
        let parts = self.most_parts::<X::Scalar>(colors, colors.saturating_mul(numbers));
        let shares = match D::PARTITION {
            _ if is_whole => return Ok(()),
            Partition::Both => return Ok(()),
            Partition::Columns => {
                let per_pass = <D::Forward as Backend>::Pushforward::seeds_per_pass::<WideLanes<D>>(forward, colors);
                let Some((division, width)) = divide_columns::<WideLanes<D>>(colors, per_pass, parts) else {
                    return Ok(());
                };
                state.division = division;
                match width {
                    Width::Wide => SparseShares::Wide(columns(forward, x, &division, colors).map_err(named::<D>)?),
                    Width::Half => SparseShares::Half(columns(forward, x, &division, colors).map_err(named::<D>)?),
                    Width::Third => SparseShares::Third(columns(forward, x, &division, colors).map_err(named::<D>)?),
                }
            }
            Partition::Rows => {
                let per_pass = <D::Reverse as Backend>::Pullback::seeds_per_pass::<ReverseLanes<D>>(reverse, colors);
                state.division = Division::new(colors, per_pass, parts);
                if !state.division.is_parallel() {
                    return Ok(());
                }
                let shares = (0..state.division.parts()).map(|_| RowShare::new(reverse, x));
                SparseShares::Rows(shares.collect::<Result<_, _>>().map_err(named::<D>)?)
            }
        };
        let Some(places) = places(pattern, &state.division, serial.column_colors(), serial.row_colors()) else {
            return Ok(());
        };
        (state.places, state.shares) = (places, shares);
        // One call sizes all work memory.
        self.products(state, f, x, true)
    }

    /// Fills the matrix of a state that is prepared for these arguments.
    fn values<F, X, C, P>(
        &self,
        state: &mut StateOf<F, D, X, C, K>,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        jac: &mut SparseMatrix<X::Scalar>,
    ) -> Result<(), Error>
    where
        X: Shape,
        C: for<'v> Contexts<Values<'v>: Send + Sync>,
        P: Point<Shape = X, Contexts = C>,
        K: Recovers<X::Scalar>,
        F: ThreadedSparseEvaluate<D, S, X, C>,
    {
        state.is_shared = !matches!(state.shares, SparseShares::None);
        if !state.is_shared {
            self.backend().values(&mut state.serial, f, x, with_value, jac)?;
            jac.values_mut().iter_mut().for_each(|value| *value = with_positive_zeros(*value));
            return Ok(());
        }
        self.products(state, f, x, with_value)?;
        if with_value {
            // The first share has computed the value.
            let name = match &mut state.shares {
                SparseShares::None => None,
                SparseShares::Wide(shares) => {
                    name_on::<F, X, C, ForwardNum<D, X, WideLanes<D>>>(shares.first_mut().map(|share| &mut share.kept))
                }
                SparseShares::Half(shares) => {
                    name_on::<F, X, C, ForwardNum<D, X, Half>>(shares.first_mut().map(|share| &mut share.kept))
                }
                SparseShares::Third(shares) => {
                    name_on::<F, X, C, ForwardNum<D, X, Third>>(shares.first_mut().map(|share| &mut share.kept))
                }
                SparseShares::Rows(shares) => {
                    name_on::<F, X, C, ReverseNum<D, X>>(shares.first_mut().map(|share| &mut share.kept))
                }
            };
            self.backend().find_shape(&mut state.serial, f, x, name)?;
        }
        gather(jac.values_mut(), &state.compressed, &state.places, state.division.parts())
    }
}

impl<D: JacobianSides, S, A, K> AutoThreaded<AutoSparse<D, S, A, K>> {
    /// Fills the products of all colours, and keeps the value if requested.
    fn products<F, X, C, P, Y>(
        &self,
        state: &mut ThreadedSparseState<
            SparseJacobianState<D, X, C, K, Y>,
            SparseShares<
                Columns<F, D, X, C, WideLanes<D>>,
                Columns<F, D, X, C, Half>,
                Columns<F, D, X, C, Third>,
                RowsOf<F, D, X, C>,
            >,
            X::Scalar,
        >,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<(), Error>
    where
        K: Decompression,
        X: Shape,
        C: for<'v> Contexts<Values<'v>: Send + Sync>,
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, ForwardNum<D, X, WideLanes<D>>>
            + Evaluate<X, C, ForwardNum<D, X, Half>>
            + Evaluate<X, C, ForwardNum<D, X, Third>>
            + Evaluate<X, C, ReverseNum<D, X>>
            + Sync,
    {
        let ThreadedSparseState { serial, shares, division, compressed, .. } = state;
        let Some(pattern) = serial.sparsity_pattern() else { return Ok(()) };
        let (forward, reverse) = self.backend().dense().sides();
        let (outputs, inputs, count) = (pattern.nrows(), pattern.ncols(), serial.ncolors());
        let colors = (serial.column_colors(), count);
        let length = if matches!(shares, SparseShares::Rows(_)) { inputs } else { outputs };
        compressed.resize(count * length, X::Scalar::default());
        match shares {
            SparseShares::None => Ok(()),
            SparseShares::Wide(shares) => {
                fill_columns(shares, (forward, f, x), colors, division, outputs, with_value, compressed)
            }
            SparseShares::Half(shares) => {
                fill_columns(shares, (forward, f, x), colors, division, outputs, with_value, compressed)
            }
            SparseShares::Third(shares) => {
                fill_columns(shares, (forward, f, x), colors, division, outputs, with_value, compressed)
            }
            SparseShares::Rows(shares) => {
                shares.iter_mut().for_each(|share| share.fit(x));
                let colors = serial.row_colors();
                let call = Call { backend: reverse, function: f, contexts: x.contexts(), x: x.coordinates() };
                let start = |part| division.start(part) * inputs;
                share_out(shares, &mut compressed[..], &start, &|part, share, own| {
                    share.record(&call, Some(outputs))?;
                    share.sweep(&call, Seeds::Colors { colors, first: 0, count }, (division, part), Some(own))
                })
            }
        }
        .map_err(named::<D>)
    }
}

/// Names the operator in an error.
fn named<D: JacobianSides>(error: impl Into<Error>) -> Error {
    error.into().during("jacobian", jacobian_name::<D>())
}
