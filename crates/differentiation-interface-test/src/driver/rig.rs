//! The driver of any operator: points, buffers and bookkeeping around a [`Kernel`].
//!
//! Made by [`drive`], which the kernels' files call. A rig is compiled for every operator of every backend on every function, so code
//! that is independent of their types is in [`buffers`](super::buffers).

use super::evaluations::Limits;
use super::{At, Call, Driver, Facts, Results, Task, Variant, WrongLength, buffers};
use crate::candidate::Candidate;
use crate::counted::Counted;
use crate::operator::Operator;
use crate::point::{NumberOf, OwnedPoint};
use crate::scenario::Scenario;
use differentiation_interface_core::Base;
use differentiation_interface_core::DerivativeMatrix;
use differentiation_interface_core::container::Numbers;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::{Bound, Evaluate, Flat, Storage};
use differentiation_interface_core::point::{At as PointAt, Shape};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Seeds and buffers of an operator.
pub(crate) struct Io<S, M = ()> {
    pub(crate) seeds: Vec<Vec<S>>,
    pub(crate) value: Vec<S>,
    pub(crate) first: Vec<S>,
    pub(crate) second: Vec<S>,
    pub(crate) matrix: Option<M>,
}

/// Copies a result into a buffer.
pub(crate) fn set<S: Base>(buffer: &mut Vec<S>, result: &(impl Numbers<S> + ?Sized)) {
    buffer.clear();
    result.append_to(buffer);
}

/// Copies products into a buffer, one after the other.
pub(crate) fn set_products<S: Base, L: Numbers<S>, const T: usize>(buffer: &mut Vec<S>, products: &[L; T]) {
    buffer.clear();
    for product in products {
        product.append_to(buffer);
    }
}

impl<S: Base, M> Io<S, M> {
    /// The seeds as an array.
    pub(crate) fn seeds<const T: usize>(&self) -> [&[S]; T] {
        slices(&self.seeds)
    }
}

/// Seeds as an array.
pub(crate) fn slices<S, const T: usize>(seeds: &[Vec<S>]) -> [&[S]; T] {
    std::array::from_fn(|k| &seeds[k][..])
}

/// A buffer split into as many products as there are seeds.
pub(crate) fn cut<S, const T: usize>(buffer: &mut [S]) -> [&mut [S]; T] {
    let length = buffer.len().checked_div(T).unwrap_or(0).max(1);
    let mut chunks = buffer.chunks_mut(length);
    std::array::from_fn(|_| chunks.next().unwrap_or_default())
}

/// The calls of one operator of the core, with a backend of type `B`.
pub(crate) trait Kernel<B, F, P: OwnedPoint> {
    /// The prepared object.
    type Prepared<'f>: Clone + Send;
    /// The object prepared at a point.
    type Held<'f>: Clone;
    /// The matrix of the result, `()` if the result is none.
    type Matrix: MatrixBuffer<NumberOf<P>>;

    const VARIANTS: &'static [Variant] = &Variant::ALL;

    fn one_shot(
        f: &Counted<F>,
        backend: &B,
        variant: Variant,
        x: P::Lent<'_>,
        io: &mut Io<NumberOf<P>, Self::Matrix>,
    ) -> Result<(), Error>;
    fn prepare<'f>(
        f: &'f Counted<F>,
        backend: &B,
        x: P::Lent<'_>,
        io: &Io<NumberOf<P>, Self::Matrix>,
    ) -> Result<Self::Prepared<'f>, Error>;
    fn prepared(
        prepared: &mut Self::Prepared<'_>,
        variant: Variant,
        x: P::Lent<'_>,
        io: &mut Io<NumberOf<P>, Self::Matrix>,
    ) -> Result<(), Error>;
    fn prepare_again(
        _: &mut Self::Prepared<'_>,
        _: P::Lent<'_>,
        _: &Io<NumberOf<P>, Self::Matrix>,
    ) -> Result<bool, Error> {
        Ok(false)
    }
    fn hold<'f>(
        _: &'f Counted<F>,
        _: &B,
        _: P::Lent<'f>,
        _: &Io<NumberOf<P>, Self::Matrix>,
    ) -> Result<Option<Self::Held<'f>>, Error> {
        Ok(None)
    }
    fn held(_: &mut Self::Held<'_>, _: Variant, _: &mut Io<NumberOf<P>, Self::Matrix>) -> Result<(), Error> {
        Ok(())
    }
    fn other_kind(_: &Counted<F>, _: &B, _: P::Lent<'_>, _: &[NumberOf<P>]) -> Option<Result<Vec<NumberOf<P>>, Error>> {
        None
    }
}

/// The matrix of an operator as a buffer.
pub(crate) trait MatrixBuffer<S>: Send {
    fn fill(&mut self, with: S);
    fn read(&self) -> (Vec<f64>, Option<Vec<(usize, usize)>>);
}
impl<S> MatrixBuffer<S> for () {
    fn fill(&mut self, _: S) {}
    fn read(&self) -> (Vec<f64>, Option<Vec<(usize, usize)>>) {
        (Vec::new(), None)
    }
}

/// A matrix of the core as a buffer.
pub(crate) struct Stored<M>(pub(crate) M);
impl<S: Base, M: DerivativeMatrix<S> + Send> MatrixBuffer<S> for Stored<M> {
    fn fill(&mut self, with: S) {
        self.0.stored().fill(with);
    }
    fn read(&self) -> (Vec<f64>, Option<Vec<(usize, usize)>>) {
        let (rows, columns) = self.0.size();
        let entries = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        (entries.map(|(i, j)| self.0.entry(i, j).as_f64()).collect(), self.0.pattern())
    }
}

/// The driver.
struct Rig<'f, K: Kernel<B, F, P>, O, B, F, P: OwnedPoint> {
    scenario: &'f Scenario<O, F, P>,
    backend: &'f B,
    too_long: Option<P>,
    moved: P,
    /// Copies of the arguments that must not change.
    original: (P, P, Vec<Vec<NumberOf<P>>>),
    prepared: Option<K::Prepared<'f>>,
    held: Option<K::Held<'f>>,
    io: Io<NumberOf<P>, K::Matrix>,
    outputs: usize,
}

/// Makes the driver of a scenario with a backend, and passes it to the task.
pub(crate) fn drive<K, O, B, F, P>(
    candidate: &dyn Candidate,
    backend: &B,
    scenario: &Scenario<O, F, P>,
    limits: Limits,
    task: &mut dyn Task,
) where
    K: Kernel<B, F, P>,
    O: Operator,
    B: Sync,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
    F: Sync,
    P: OwnedPoint,
{
    let longer = buffers::longer(scenario.point.coordinates());
    let mut rig: Rig<'_, K, O, B, F, P> = Rig {
        scenario,
        backend,
        too_long: scenario.point.moved_to(&longer),
        moved: scenario.point.clone(),
        original: (scenario.point.clone(), scenario.preparation.clone(), scenario.seeds.clone()),
        prepared: None,
        held: None,
        io: Io {
            seeds: scenario.seeds.clone(),
            value: Vec::new(),
            first: Vec::new(),
            second: Vec::new(),
            matrix: None,
        },
        outputs: 0,
    };
    let value = rig.plain_value(At::Point);
    rig.outputs = value.len();
    // One call sets the sizes of the buffers. If the engine panics, the task meets the same panic, and decides.
    let sized = catch_unwind(AssertUnwindSafe(|| rig.call(Call::OneShot, Variant::ValueAnd, At::Point)));
    if let Some(reason) = sized.ok().and_then(Result::err).and_then(|error| refusal(&error)) {
        return task.skip(candidate, &scenario.full_name(), O::NAME, reason);
    }
    let facts = facts(scenario, value.len(), limits, K::VARIANTS);
    task.drive(candidate, &facts, &mut rig);
}

/// Why a backend does not support a scenario, if the error says so.
fn refusal(error: &Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::SecondOrderOnly { .. } => Some("a pair for second order only"),
        ErrorKind::ChunkTooLarge { .. } => Some("the fixed chunk is larger than the point"),
        _ => None,
    }
}

/// The part of a scenario that is independent of types.
fn facts<O: Operator, F, P: OwnedPoint>(
    scenario: &Scenario<O, F, P>,
    outputs: usize,
    limits: Limits,
    variants: &'static [Variant],
) -> Facts {
    let inputs = scenario.point.coordinates().len();
    Facts {
        scenario: scenario.full_name(),
        operator: O::NAME,
        order: O::ORDER,
        seeds: O::SEEDS,
        inputs,
        outputs,
        place: scenario.place,
        expected: scenario.expected.clone(),
        pattern: scenario.pattern.clone(),
        tolerance: scenario.tolerance,
        makes_values: scenario.makes_values,
        epsilon: <NumberOf<P> as num_traits::Float>::epsilon().as_f64(),
        calls: limits(inputs, outputs, O::SEEDS),
        variants,
        has_other_size: scenario.other_size.is_some(),
    }
}

/// The value of a function on plain numbers, and how often a second evaluation allocates.
fn evaluated<F, P>(function: &Counted<F>, point: &P, again: bool) -> (Vec<f64>, usize)
where
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
    P: OwnedPoint,
{
    let point = point.lend();
    let mut memory = Vec::new();
    let at = PointAt::new(&point, &mut memory);
    let (mut storage, mut kept) = (Storage::new(at), Default::default());
    let mut f = Bound::new(function, at, &mut storage, &mut kept);
    let mut y = Vec::new();
    f.call(at.coordinates(), &mut y);
    let before = crate::allocation::allocations();
    if again {
        f.call(at.coordinates(), &mut y);
    }
    let allocations = crate::allocation::allocations() - before;
    (buffers::wide(&y), allocations)
}

impl<K: Kernel<B, F, P>, O, B, F, P: OwnedPoint> Rig<'_, K, O, B, F, P> {
    fn at(&self, at: At) -> &P {
        at_other(self.scenario, &self.too_long, &self.moved, at)
    }
}

/// One of the points that a rig knows.
fn at_other<'a, O, F, P: OwnedPoint>(
    scenario: &'a Scenario<O, F, P>,
    too_long: &'a Option<P>,
    moved: &'a P,
    at: At,
) -> &'a P {
    match at {
        At::Point => &scenario.point,
        At::Preparation => &scenario.preparation,
        At::OtherSize => scenario.other_size.as_ref().unwrap_or(&scenario.point),
        At::TooLong => too_long.as_ref().unwrap_or(&scenario.point),
        At::Moved => moved,
    }
}

/// Reduces results in the shape of a masked point to its free numbers.
#[inline]
fn reduce<O: Operator, P: OwnedPoint>(point: &P, first: &mut Vec<NumberOf<P>>, second: &mut Vec<NumberOf<P>>) {
    if <P::Shape as Shape>::MASKED {
        let [of_first, of_second] = buffers::results_like_point::<O>();
        point.reduce(first, of_first);
        point.reduce(second, of_second);
    }
}

impl<K, O, B, F, P> Driver for Rig<'_, K, O, B, F, P>
where
    K: Kernel<B, F, P>,
    O: Operator,
    B: Sync,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
    F: Sync,
    P: OwnedPoint,
{
    #[inline]
    fn call(&mut self, call: Call, variant: Variant, at: At) -> Result<(), Error> {
        let x = match at {
            At::Point => &self.scenario.point,
            at => at_other(self.scenario, &self.too_long, &self.moved, at),
        };
        match call {
            Call::OneShot => K::one_shot(&self.scenario.function, self.backend, variant, x.lend(), &mut self.io)?,
            Call::Prepared => {
                let prepared = self.prepared.as_mut().expect("tasks prepare first");
                K::prepared(prepared, variant, x.lend(), &mut self.io)?;
            }
            Call::SamePoint => {
                let held = self.held.as_mut().expect("tasks prepare at the point first");
                K::held(held, variant, &mut self.io)?;
            }
        }
        reduce::<O, _>(x, &mut self.io.first, &mut self.io.second);
        Ok(())
    }

    fn repeat(&mut self, call: Call, variant: Variant, times: usize) -> Result<(), Error> {
        for _ in 0..times {
            self.call(call, variant, black_box(At::Point))?;
            black_box((&self.io.first, &self.io.second, &self.io.matrix));
        }
        Ok(())
    }

    fn prepare(&mut self, at: At, times: usize) -> Result<(), Error> {
        if at == At::OtherSize {
            let length = match O::NAME {
                "pullback" => self.plain_value(at).len(),
                _ => self.at(at).coordinates().len(),
            };
            buffers::resize(&mut self.io.seeds, length);
        }
        let mut result = Ok(());
        for _ in 0..times {
            let x = self.at(at);
            match K::prepare(&self.scenario.function, self.backend, x.lend(), &self.io) {
                Ok(prepared) => self.prepared = Some(black_box(prepared)),
                Err(error) => result = Err(error),
            }
        }
        if at == At::OtherSize {
            self.io.seeds.clone_from(&self.original.2);
        }
        result
    }

    fn prepare_again(&mut self, at: At) -> Result<bool, Error> {
        let mut prepared = self.prepared.take().expect("tasks prepare first");
        let result = K::prepare_again(&mut prepared, self.at(at).lend(), &self.io);
        self.prepared = Some(prepared);
        result
    }

    fn prepare_same_point(&mut self) -> Result<bool, Error> {
        self.held = K::hold(&self.scenario.function, self.backend, self.scenario.point.lend(), &self.io)?;
        Ok(self.held.is_some())
    }

    fn take_clone_of_same_point(&mut self) {
        let clone = self.held.clone();
        self.held = clone;
    }

    fn call_with_other_seeds(&mut self, call: Call, variant: Variant) -> Result<(), Error> {
        buffers::change(&mut self.io.seeds);
        let result = self.call(call, variant, At::Point);
        self.io.seeds.clone_from(&self.original.2);
        result
    }

    fn call_clone_on_another_thread(&mut self, variant: Variant) -> Result<Results, Error> {
        let mut clone = self.prepared.clone().expect("tasks prepare first");
        let (point, io) = (&self.scenario.point, &mut self.io);
        let mut result = Ok(());
        buffers::on_another_thread(&mut || result = K::prepared(&mut clone, variant, point.lend(), io));
        result?;
        reduce::<O, _>(point, &mut self.io.first, &mut self.io.second);
        Ok(self.results())
    }

    fn poison(&mut self) {
        let Io { value, first, second, matrix, .. } = &mut self.io;
        let nan = buffers::poison([value, first, second]);
        if let Some(matrix) = matrix {
            matrix.fill(nan);
        }
    }

    fn has_too_long(&self) -> bool {
        self.too_long.is_some()
    }

    fn set_wrong_length(&mut self, argument: WrongLength) -> bool {
        let one = <NumberOf<P>>::ONE;
        match argument {
            WrongLength::Seed if O::SEEDS > 0 => self.io.seeds[0].push(one),
            WrongLength::Buffer if self.io.matrix.is_none() => {
                let buffer = if O::ORDER == 1 { &mut self.io.first } else { &mut self.io.second };
                // Each product gets one more entry.
                buffers::lengthen(buffer, O::SEEDS.max(1));
            }
            // The size of a matrix is wrong if it belongs to a point of another length.
            WrongLength::Buffer if self.scenario.other_size.is_some() => {
                return self.call(Call::OneShot, Variant::Plain, At::OtherSize).is_ok();
            }
            WrongLength::FirstBuffer if O::ORDER == 2 => self.io.first.push(one),
            _ => return false,
        }
        true
    }

    fn restore_lengths(&mut self) {
        self.io.seeds.clone_from(&self.original.2);
        if self.io.matrix.is_some() && self.scenario.other_size.is_some() {
            let restored = self.call(Call::OneShot, Variant::Plain, At::Point);
            debug_assert!(restored.is_ok(), "the scenario has been run at its point before");
        }
        let Io { first, second, .. } = &mut self.io;
        let lengths = (self.scenario.point.coordinates().len(), self.outputs);
        buffers::restore_lengths::<O, _>(first, second, lengths);
    }

    fn results(&self) -> Results {
        let Io { value, first, second, matrix, .. } = &self.io;
        buffers::results([value, first, second], O::ORDER, matrix.as_ref().map(|matrix| matrix.read()))
    }

    fn move_along(&mut self, direction: &[f64], step: f64) {
        let moved = buffers::moved(self.scenario.point.coordinates(), direction, step);
        if let Some(moved) = self.scenario.point.moved_to(&moved) {
            self.moved = moved;
        }
    }

    fn plain_value(&mut self, at: At) -> Vec<f64> {
        evaluated(&self.scenario.function, self.at(at), false).0
    }

    fn allocations_of_function(&mut self) -> usize {
        evaluated(&self.scenario.function, &self.scenario.point, true).1
    }

    fn calls(&self) -> usize {
        crate::counted::calls()
    }

    fn is_untouched(&self) -> bool {
        let (point, preparation, seeds) = &self.original;
        *point == self.scenario.point && *preparation == self.scenario.preparation && *seeds == self.io.seeds
    }

    fn seeds(&self) -> Vec<Vec<f64>> {
        buffers::all_wide(&self.io.seeds)
    }

    fn product_of_the_other_kind(&mut self, seed: &[f64]) -> Option<Result<Vec<f64>, Error>> {
        let seed = buffers::narrow::<NumberOf<P>>(seed);
        let product = K::other_kind(&self.scenario.function, self.backend, self.scenario.point.lend(), &seed)?;
        Some(match product {
            Ok(mut numbers) => {
                if O::NAME == "pushforward" {
                    self.scenario.point.reduce(&mut numbers, 1);
                }
                Ok(buffers::wide(&numbers))
            }
            Err(error) => Err(error),
        })
    }
}
