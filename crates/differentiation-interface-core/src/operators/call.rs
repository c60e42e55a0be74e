//! What operators share: the checks of lengths, and the matrix ∂y/∂x behind `derivative`, `gradient` and `jacobian`.
//!
//! Called by the operators; [`MatrixWork`] calls the backend's [`MatrixRoute`].

use super::NumOf;
use crate::backend::{Backend, Lanes, MatrixRoute, Rows, Seeds};
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Bound, Evaluate, Flat, Output, Storage, handed};
use crate::fault;
use crate::point::{At, LikeOf, Point, ScalarOf, Shape};
use crate::recordings::Reports;
use crate::scalar::{Base, Scalar};
use std::any::TypeId;

/// Prepares again by `prepare`, in which calls do not [adapt](super::JacobianBackend::adapt). They do from then on, also if the
/// preparation fails or the function panics: the object stays in use.
pub(super) fn preparing<T>(
    prepared: &mut T,
    adapt: impl Fn(&mut T, bool),
    prepare: impl FnOnce(&mut T) -> Result<(), Error>,
) -> Result<(), Error> {
    struct AdaptsAtTheEnd<'a, T, A: Fn(&mut T, bool)>(&'a mut T, A);
    impl<T, A: Fn(&mut T, bool)> Drop for AdaptsAtTheEnd<'_, T, A> {
        fn drop(&mut self) {
            (self.1)(self.0, true);
        }
    }
    adapt(prepared, false);
    prepare(AdaptsAtTheEnd(prepared, adapt).0)
}

/// Refuses a point that is wrong in itself, or differs in length from the prepared point. No length to check if the shape fixes it.
#[inline]
pub(super) fn check_point<P: Point>(prepared: usize, at: At<'_, P>) -> Result<(), ErrorKind> {
    at.point().check()?;
    let found = at.coordinates().len();
    if const { P::Shape::LENGTH.is_some() } || found == prepared {
        Ok(())
    } else {
        Err(ErrorKind::PreparedLength { prepared, found })
    }
}

/// An error about a point of the shape `X`, or about what is as long as such a point.
#[cold]
pub(super) fn of_point<X: Shape>(kind: ErrorKind, operator: &'static str, backend: &'static str) -> Error {
    Error::new(kind).during(operator, backend).counting(X::MASKED)
}

/// Refuses a buffer whose length or shape differs from that of the result, an `L` with this outline.
#[inline]
pub(super) fn check_shaped<S, L: 'static>(
    expected: usize,
    outline: Option<u64>,
    buffer: &(impl Buffer<S> + ?Sized),
) -> Result<(), ErrorKind> {
    check_buffer(expected, buffer.count())?;
    if outline.is_some_and(|outline| buffer.has_other_outline::<L>(outline)) {
        Err(ErrorKind::BufferShape)
    } else {
        Ok(())
    }
}

/// The numbers of tangents, after a check of their lengths and shapes.
#[inline]
pub(super) fn checked_tangents<'a, P: Point, D: Point<Shape: Shape<Scalar = ScalarOf<P>>>, const T: usize>(
    point: &P,
    inputs: usize,
    tangents: &'a [D; T],
    memory: &'a mut [Vec<ScalarOf<P>>; T],
) -> Result<[&'a [ScalarOf<P>]; T], ErrorKind> {
    let flat = flat_seeds(tangents, memory);
    Seeds::Vectors(&flat).check(inputs)?;
    check_outlines::<LikeOf<P>, D>(point.outline(), tangents)?;
    Ok(flat)
}

/// Refuses seeds of the type `L` that have another outline; their lengths have been checked. Seeds of other types are flat numbers.
#[inline]
pub(super) fn check_outlines<L: 'static, D: Point>(outline: Option<u64>, seeds: &[D]) -> Result<(), ErrorKind> {
    if outline.is_none() || TypeId::of::<L>() != TypeId::of::<LikeOf<D>>() {
        return Ok(());
    }
    match seeds.iter().position(|seed| seed.outline() != outline) {
        Some(index) => Err(ErrorKind::SeedShape { index }),
        None => Ok(()),
    }
}

/// Refuses a buffer whose length differs from that of the result.
#[inline]
pub(super) fn check_buffer(expected: usize, found: usize) -> Result<(), ErrorKind> {
    if found == expected { Ok(()) } else { Err(ErrorKind::BufferLength { expected, found }) }
}

/// Memory of a preparation for containers whose numbers do not lie in one piece.
#[derive(Clone, Debug)]
pub(super) struct Memory<S> {
    /// The numbers of the point.
    pub(super) point: Vec<S>,
    /// The numbers of a result.
    pub(super) result: Vec<S>,
}

impl<S> Memory<S> {
    pub(super) const fn new() -> Self {
        Memory { point: Vec::new(), result: Vec::new() }
    }
}

impl<S: Scalar> Memory<S> {
    /// Makes room for results of the shape of the point, which do not lie in one piece if the point does not.
    pub(super) fn prepare(&mut self) {
        self.result.resize(self.point.len(), S::default());
    }
}

/// Writes numbers into a buffer, whose length has been checked.
#[inline]
pub(super) fn write<S: Scalar>(
    buffer: &mut (impl Buffer<S> + ?Sized),
    memory: &mut Vec<S>,
    fill: impl FnOnce(&mut [S]),
) {
    let written: Result<(), std::convert::Infallible> = buffer.write(memory, |buffer| {
        fill(buffer);
        Ok(())
    });
    match written {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

/// An owned object of the shape of a point with other numbers.
#[inline]
pub(super) fn like<P: Point>(
    point: &P,
    memory: &mut Vec<ScalarOf<P>>,
    fill: impl FnOnce(&mut [ScalarOf<P>]),
) -> LikeOf<P> {
    let filled: Result<_, std::convert::Infallible> = point.filled(memory, |like| {
        fill(like);
        Ok(())
    });
    match filled {
        Ok(like) => like,
        Err(never) => match never {},
    }
}

/// The numbers of seeds, each in its own memory or in that of the call.
#[inline]
pub(super) fn flat_seeds<'a, D: Point, const T: usize>(
    seeds: &'a [D; T],
    memory: &'a mut [Vec<ScalarOf<D>>; T],
) -> [&'a [ScalarOf<D>]; T] {
    let mut memory = memory.iter_mut();
    seeds.each_ref().map(|seed| seed.flat(memory.next().expect("each seed has its own memory")))
}

/// Memory of evaluations without derivatives: the inputs as constants of the number type that the function runs on, and its outputs.
#[derive(Clone, Debug)]
pub struct Evaluation<N> {
    x: Vec<N>,
    y: Vec<N>,
}

impl<N> Default for Evaluation<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<N> Evaluation<N> {
    /// Without memory.
    pub const fn new() -> Self {
        Evaluation { x: Vec::new(), y: Vec::new() }
    }
}

impl<N: Scalar> Evaluation<N> {
    /// Evaluates `f` at the plain numbers `x`, and writes plain numbers to `y`.
    ///
    /// # Errors
    /// If the function meets numbers of another differentiation.
    pub fn run<F: Flat<N> + ?Sized>(&mut self, f: &mut F, x: &[N::Base], y: &mut Vec<N::Base>) -> Result<(), Error> {
        self.x.clear();
        self.x.extend(x.iter().map(|&v| N::constant(v)));
        fault::watch(|| {
            f.call(&self.x, &mut self.y);
            Ok(())
        })?;
        y.clear();
        y.extend(self.y.iter().map(|number| number.primal()));
        Ok(())
    }
}

/// State and work memory of one operator by one route, for outputs that keep `K`.
pub struct MatrixWork<B: Backend, R: MatrixRoute<B>, L: Lanes, X: Shape, C: Contexts, K = ()> {
    operator: &'static str,
    state: R::State<X::Scalar, L>,
    storage: Storage<X, C, NumOf<B, X, L>>,
    evaluation: Evaluation<NumOf<B, X, L>>,
    /// What the last evaluation kept of its output.
    pub(super) kept: K,
    /// Number of outputs, once prepared.
    pub(super) outputs: Option<usize>,
    /// Outputs of the last call that computed them.
    pub(super) y: Vec<X::Scalar>,
}

impl<B: Backend, R: MatrixRoute<B>, L: Lanes, X: Shape, C: Contexts, K: Clone> Clone for MatrixWork<B, R, L, X, C, K> {
    fn clone(&self) -> Self {
        MatrixWork {
            operator: self.operator,
            state: self.state.clone(),
            storage: self.storage.clone(),
            evaluation: self.evaluation.clone(),
            kept: self.kept.clone(),
            outputs: self.outputs,
            y: self.y.clone(),
        }
    }
}

impl<B: Backend, R: MatrixRoute<B>, L: Lanes, X: Shape, C: Contexts, K: Default> MatrixWork<B, R, L, X, C, K> {
    /// Unprepared: nothing is evaluated, buffers are empty.
    #[inline]
    pub(super) fn new<P>(operator: &'static str, backend: &B, point: At<'_, P>) -> Result<Self, Error>
    where
        P: Point<Shape = X, Contexts = C>,
    {
        let inputs = point.coordinates().len();
        Ok(MatrixWork {
            operator,
            state: R::state(backend, inputs).map_err(|error| error.during(operator, B::NAME))?,
            storage: Storage::new(point),
            evaluation: Evaluation::new(),
            kept: K::default(),
            outputs: None,
            y: Vec::new(),
        })
    }

    /// Sizes all buffers by one evaluation at `point`, whose length may have changed.
    pub(super) fn prepare<P, F>(&mut self, backend: &B, function: &F, point: At<'_, P>) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>, Output: Output<NumOf<B, X, L>, Kept = K>>,
    {
        let x = point.coordinates();
        let operator = self.operator;
        let mut f = Bound::new(function, point, &mut self.storage, &mut self.kept);
        prepare_route::<B, R, L, _, _>(operator, backend, &mut self.state, &mut handed(&mut f), x, &mut self.y)?;
        f.settle(x).map_err(|error| error.during(operator, B::NAME))?;
        self.outputs = Some(self.y.len());
        Ok(())
    }

    /// The state of the route, for what an engine reports of the last call.
    pub fn route_state(&self) -> &R::State<X::Scalar, L> {
        &self.state
    }

    /// Evaluates the function at plain numbers.
    pub(super) fn evaluate<P, F>(&mut self, function: &F, point: At<'_, P>, y: &mut Vec<X::Scalar>) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>, Output: Output<NumOf<B, X, L>, Kept = K>>,
        X::Scalar: Base,
    {
        let mut f = Bound::new(function, point, &mut self.storage, &mut self.kept);
        let result = self.evaluation.run(&mut f, point.coordinates(), y);
        result.map_err(|error| error.during(self.operator, B::NAME))
    }

    /// An error of this operator and backend.
    pub(super) fn named(&self, kind: ErrorKind) -> Error {
        Error::new(kind).during(self.operator, B::NAME)
    }

    /// Fills the matrix on the stack, and keeps the value if its number of outputs is given. Returns `false` if a state is needed.
    #[inline]
    pub(super) fn fill_on_stack<P, F>(
        &mut self,
        backend: &B,
        function: &F,
        point: At<'_, P>,
        outputs: Option<usize>,
        matrix: &mut [X::Scalar],
    ) -> bool
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>, Output: Output<NumOf<B, X, L>, Kept = K>>,
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
        point: At<'_, P>,
        with_value: bool,
        rows: Rows<'_, ScalarOf<P>>,
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>, Output: Output<NumOf<B, X, L>, Kept = K>>,
    {
        let mut rows = rows.expecting(self.outputs);
        if let Some(recorded) = R::recorded(&mut self.state) {
            // This binding lives in registers; the one that the route gets is made again where it is needed.
            let mut f = Bound::new(function, point, &mut self.storage, &mut self.kept);
            let y = with_value.then_some(&mut self.y[..]);
            if recorded.fill(f.recordable(), point.coordinates(), y, &mut rows) {
                return f.settle(point.coordinates()).map_err(|error| error.during(self.operator, B::NAME));
            }
        } else {
            Bound::new(function, point, &mut self.storage, &mut self.kept);
        }
        self.by_route(backend, function, point, with_value, rows)
    }

    /// Fills the matrix by the route; the storage has been fitted to the point.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn by_route<P, F>(
        &mut self,
        backend: &B,
        function: &F,
        point: At<'_, P>,
        with_value: bool,
        rows: Rows<'_, ScalarOf<P>>,
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        F: Evaluate<X, C, NumOf<B, X, L>, Output: Output<NumOf<B, X, L>, Kept = K>>,
    {
        let mut f = Bound::fitted(function, point.contexts(), &mut self.storage, &mut self.kept);
        let (x, y) = (point.coordinates(), with_value.then_some(&mut self.y));
        matrix::<B, R, L, _, _>(self.operator, backend, &mut self.state, &mut handed(&mut f), x, y, rows)?;
        f.settle(x).map_err(|error| error.during(self.operator, B::NAME))
    }
}

impl<B, R, L, X, C, K> Reports for MatrixWork<B, R, L, X, C, K>
where
    B: Backend,
    R: MatrixRoute<B, State<X::Scalar, L>: Reports>,
    L: Lanes,
    X: Shape,
    C: Contexts,
{
    type Report = <R::State<X::Scalar, L> as Reports>::Report;
    fn report(&self) -> Self::Report {
        self.state.report()
    }
}

/// Whether point or contexts keep data in a preparation.
pub(super) const fn has_storage<X: Shape, C: Contexts, N: Scalar>() -> bool {
    size_of::<X::Held<N>>() > 0 || C::IS_KEPT
}

/// Fills the matrix on the stack, and the value if a buffer is given. Returns `false` if a state is needed.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn on_stack<B, R, L, P, F>(
    backend: &B,
    function: &F,
    point: At<'_, P>,
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
    if const { !R::ON_STACK || F::FIXED.is_none() || has_storage::<P::Shape, P::Contexts, NumOf<B, P::Shape, L>>() } {
        return false;
    }
    let x = point.coordinates();
    // The compiler learns the length, so that no index of a point of fixed length can fail below, and removes the watch for faults.
    if const { P::Shape::LENGTH.is_some() } && Some(x.len()) != P::Shape::LENGTH {
        return false;
    }
    let (mut storage, mut kept) = (Storage::new(point), Default::default());
    let mut f = Bound::new(function, point, &mut storage, &mut kept);
    R::on_stack::<_, L, _>(backend, &mut f, x, y, matrix)
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
    fault::Watch::begin().end(R::matrix(backend, state, f, x, y, rows)).map_err(|error| error.during(operator, B::NAME))
}
