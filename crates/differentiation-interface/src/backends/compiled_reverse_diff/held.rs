//! A recording with the work memory of one thread: runs its programs on plain numbers, on dual numbers, and on all others.
//!
//! Kept by the state; called by `buffers` with arguments and buffers for the results.

mod second;
mod small;

use super::constants::KnownConstants;
use super::recording::{Failure, Filling, KEYS, Kind, LANES, MOST_INPUTS, MOST_OUTPUTS, Made, ProgramKey, Recording};
use compiled_trace::{Workspace, native};
use differentiation_interface_core::backend::ConstantEntries;
use differentiation_interface_core::recordings::{EngineScalar, OutputShape, Recordable, Tangents};
use differentiation_interface_core::scalar::{Base, Scalar};
use second::Second;
pub(super) use small::Small;
use small::SmallProduct;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Workspaces by program, of programs that track absent derivatives and of others.
type Workspaces<S> = [[Option<Box<Workspace<S>>>; KEYS]; 2];

/// No workspaces. `Default` of an array is code for every element.
fn no_workspaces<S: Scalar>() -> Workspaces<S> {
    [const { [const { None }; KEYS] }; 2]
}

/// The memory that programs run in on plain numbers.
#[derive(Clone, Debug)]
struct Plain<B: Base> {
    /// Whether the programs that track absent derivatives run.
    tracks: bool,
    workspaces: Workspaces<B>,
    native: native::Workspace<B>,
}

impl<B: Base> Default for Plain<B> {
    fn default() -> Self {
        Plain { tracks: false, workspaces: no_workspaces(), native: native::Workspace::default() }
    }
}

impl<B: Base> Plain<B> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(
        &mut self,
        recording: &Recording,
        which: ProgramKey,
        inputs: &[&[B]],
        outputs: &mut [&mut [B]],
        constants: &mut ConstantEntries,
    ) -> Result<(), Failure> {
        let which = ProgramKey { tracks: self.tracks, ..which };
        let is_doubtful = self.run_once(recording, which, inputs, outputs, constants)?;
        if is_doubtful && which.is_spoilt(outputs) {
            constants.take();
            self.run_tracking(recording, which, inputs, outputs)
        } else {
            Ok(())
        }
    }

    /// Runs the program that tracks absent derivatives, after the program that does not has returned NaN.
    #[cold]
    #[inline(never)]
    fn run_tracking(
        &mut self,
        recording: &Recording,
        which: ProgramKey,
        inputs: &[&[B]],
        outputs: &mut [&mut [B]],
    ) -> Result<(), Failure> {
        let which = ProgramKey { tracks: true, ..which };
        self.run_once(recording, which, inputs, outputs, &mut ConstantEntries::default())?;
        self.tracks = !which.is_spoilt(outputs);
        Ok(())
    }

    /// Runs a program and returns whether NaN results are doubtful.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_once(
        &mut self,
        recording: &Recording,
        which: ProgramKey,
        inputs: &[&[B]],
        outputs: &mut [&mut [B]],
        constants: &mut ConstantEntries,
    ) -> Result<bool, Failure> {
        let known = constants.take();
        if let Some(done) = self.run_natively(recording, which, inputs, outputs, (known, constants)) {
            return done;
        }
        self.interpret(recording, which, inputs, outputs)
    }

    #[inline(never)]
    fn interpret(
        &mut self,
        recording: &Recording,
        which: ProgramKey,
        inputs: &[&[B]],
        outputs: &mut [&mut [B]],
    ) -> Result<bool, Failure> {
        let Made { code, is_doubtful } = recording.executable(which)?;
        let workspace = which.place_in(&mut self.workspaces).get_or_insert_with(|| Box::new(code.workspace()));
        code.run(workspace, inputs, outputs).map_err(Failure::Invalid)?;
        Ok(*is_doubtful)
    }

    /// Runs machine code, if there is such code.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_natively(
        &mut self,
        recording: &Recording,
        which: ProgramKey,
        inputs: &[&[B]],
        outputs: &mut [&mut [B]],
        (known, constants): (ConstantEntries, &mut ConstantEntries),
    ) -> Option<Result<bool, Failure>> {
        match recording.code(which) {
            Ok(made) => {
                let Made { code, is_doubtful } = made?;
                let done = match known.are_of(code.number()) {
                    true => code.run_again(&mut self.native, inputs, outputs),
                    false => code.run(&mut self.native, inputs, outputs),
                };
                if done.is_ok() {
                    *constants = ConstantEntries::of(code.number());
                }
                Some(done.map_err(Failure::Invalid).map(|()| *is_doubtful))
            }
            Err(failure) => Some(Err(failure)),
        }
    }
}

/// Numbers with tangents, split into values and tangents.
#[derive(Clone, Debug, Default)]
struct SplitNumbers<B> {
    /// The values of all arguments, one after the other, and the tangents of the point, lane by lane.
    arguments: Vec<B>,
    /// The values of all results, and their tangents, lane by lane.
    results: Vec<B>,
}

/// What the program of a recording costs.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::backends) struct Cost {
    /// The time of a call by the program, and by the tape.
    pub(in crate::backends) of_program: f64,
    pub(in crate::backends) of_tape: f64,
    /// The time that compiling its derivatives of second order has taken.
    pub(in crate::backends) price: f64,
    /// The calls that it has computed since their [time](super::CompiledState::take_time_of_calls) was asked for; those of small programs only for entries
    /// and for products with a Hessian.
    pub(in crate::backends) calls: u64,
    /// Whether entries have turned out to be slower than products.
    pub(in crate::backends) has_slow_entries: bool,
}

/// A recording with the memory of one thread.
#[derive(Clone, Debug)]
pub(super) struct Held<S: Scalar> {
    pub(super) recording: Arc<Recording>,
    /// The constants for which it is right.
    pub(super) constants: KnownConstants,
    /// The program that fills the derivative matrix, once it has run and if later calls may run it.
    pub(super) small: Option<Small<S::Base>>,
    /// The program of products with one seed, likewise.
    product: Option<SmallProduct<S::Base>>,
    /// The state of the second program for the matrix.
    pub(super) second: Second,
    /// What its program costs, for an engine that compares it with another.
    pub(super) cost: Cost,
    /// Whether the programs of Hessian-vector products alone, with one tangent and with [`LANES`], are made by the next call even if it does not
    /// run them, so that later calls allocate nothing.
    pub(super) products_are_due: [bool; 2],
    plain: Plain<S::Base>,
    split: SplitNumbers<S::Base>,
    workspaces: Workspaces<S>,
}

impl<S: Scalar> Held<S> {
    pub(super) fn new(recording: Arc<Recording>) -> Self {
        Held {
            recording,
            constants: KnownConstants::default(),
            small: None,
            product: None,
            second: Second::default(),
            cost: Cost::default(),
            products_are_due: [true; 2],
            plain: Plain::default(),
            split: SplitNumbers::default(),
            workspaces: no_workspaces(),
        }
    }

    /// The same, of a run whose outputs have this shape.
    pub(super) fn with_shape(self, shape: Option<OutputShape>) -> Self {
        Held { constants: KnownConstants::none(shape), ..self }
    }

    /// Tells the function the shape of its outputs in this call, which the recording has served.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn tell_shape(&self, f: Option<&dyn Recordable>) {
        if let Some(shape) = self.constants.shape() {
            f.show_shape(shape);
        }
    }

    /// The same if it has served the call; returns whether it has.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn told(&self, is_done: bool, f: Option<&dyn Recordable>) -> bool {
        if is_done {
            self.tell_shape(f);
        }
        is_done
    }

    /// Fills the derivative matrix, and the outputs in `y` if `with_value`; otherwise they may be overwritten.
    pub(super) fn fill(
        &mut self,
        filling: Filling,
        inputs: &[&[S]; 2],
        y: &mut [S],
        with_value: bool,
        (matrix, constants): (&mut [S], &mut ConstantEntries),
    ) -> Result<(), Failure> {
        // If it does not, a run below returns the result, by a program that tracks absent derivatives, or the error.
        if let Some(small) = &mut self.small
            && small.is_for(filling, self.plain.tracks)
            && let Some(&[_, parameters]) = S::as_plain(inputs)
        {
            let (value, scratch): (_, &mut [S]) = if with_value { (Some(&mut *y), &mut []) } else { (None, &mut *y) };
            if small.fill(inputs[0], parameters, value, scratch, (&mut *matrix, &mut *constants), &mut self.second) {
                return Ok(());
            }
        }
        self.fill_by_programs(filling, inputs, y, with_value, (matrix, constants))
    }

    /// The same by programs that are found first, and are kept if later calls may run them at once.
    #[inline(never)]
    fn fill_by_programs(
        &mut self,
        filling: Filling,
        inputs: &[&[S]; 2],
        y: &mut [S],
        with_value: bool,
        (matrix, constants): (&mut [S], &mut ConstantEntries),
    ) -> Result<(), Failure> {
        let is_second = with_value == (filling == Filling::Entries);
        let is_made = is_second && self.has_second(filling);
        match (filling, with_value) {
            (Filling::Gradient, false) if is_made => {
                self.run(ProgramKey::of(Kind::GradientAlone, 0), inputs, &mut [matrix])?;
            }
            (Filling::Gradient, _) => self.run(ProgramKey::of(Kind::Gradient, 0), inputs, &mut [y, matrix])?,
            (Filling::Entries, true) if is_made => {
                self.run_keeping(ProgramKey::of(Kind::EntriesWithValue, 0), inputs, &mut [y, matrix], constants)?;
            }
            (Filling::Entries, _) => {
                self.run_keeping(ProgramKey::of(Kind::Entries, 0), inputs, &mut [matrix], constants)?;
                if with_value {
                    self.run(ProgramKey::of(Kind::Value, 0), inputs, &mut [y])?;
                }
            }
        }
        self.keep_small(filling);
        Ok(())
    }

    /// Whether the second program is there for a call that would run it; makes it when enough calls would have.
    fn has_second(&mut self, filling: Filling) -> bool {
        // Numbers with tangents run derivatives of the first program.
        if S::as_plain(&[]).is_none() || self.recording.once {
            return false;
        }
        if !self.second.passes() {
            let is_made = self.recording.make_second::<S::Base>(filling, self.plain.tracks);
            self.second.decide(is_made);
            self.small = None;
        }
        self.second.is_made
    }

    /// Keeps the program that has run if later calls may run it. Most calls have it. A recording with entries may fill a gradient beside them,
    /// whose program is not kept.
    fn keep_small(&mut self, filling: Filling) {
        let is_of_use = self.small.as_ref().is_some_and(|small| small.is_for(filling, self.plain.tracks));
        let is_of_matrix = self.recording.has_entries() == (filling == Filling::Entries);
        if is_of_matrix && !is_of_use && S::as_plain(&[]).is_some() {
            self.small = Small::of(&self.recording, filling, self.plain.tracks);
        }
    }

    /// Runs a program on point, parameters and one seed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn run_seeded(
        &mut self,
        which: ProgramKey,
        inputs: &[&[S]; 3],
        outputs: &mut [&mut [S]],
    ) -> Result<(), Failure> {
        // If it does not, the run below returns the result, by a program that tracks absent derivatives, or the error.
        let &[x, _, seed] = inputs;
        if let Some(&[_, parameters, _]) = S::as_plain(inputs)
            && self.run_small_product(which, x, parameters, seed, outputs)
        {
            return Ok(());
        }
        self.run_and_keep(which, inputs, outputs)
    }

    /// Runs the kept program of products with one seed, if it is this one; returns whether there is a result. If not, the buffers are undefined.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn run_small_product(
        &mut self,
        which: ProgramKey,
        x: &[S],
        parameters: &[S::Base],
        seed: &[S],
        outputs: &mut [&mut [S]],
    ) -> bool {
        let which = ProgramKey { tracks: self.plain.tracks, ..which };
        self.product.as_mut().is_some_and(|product| product.is(which) && product.run(x, parameters, seed, outputs))
    }

    /// The same by the programs, one of which is kept if later calls may run it at once.
    #[inline(never)]
    fn run_and_keep(&mut self, which: ProgramKey, inputs: &[&[S]; 3], outputs: &mut [&mut [S]]) -> Result<(), Failure> {
        self.run(which, inputs, outputs)?;
        let which = ProgramKey { tracks: self.plain.tracks, ..which };
        let is_of_use = self.product.as_ref().is_some_and(|product| product.is(which));
        if !is_of_use && S::as_plain(&[]).is_some() {
            self.product = SmallProduct::of(&self.recording, which, outputs.len());
        }
        Ok(())
    }

    /// Runs a program. `inputs` are the point, the parameters, the seeds and the tangents of the point; `outputs` the outputs
    /// and the products, and the tangents of both.
    ///
    /// Plain numbers run the program itself. Dual numbers over plain ones run its pushforward on values and tangents. For all other
    /// numbers the operations are interpreted one by one, which is slower than a tape.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn run(&mut self, which: ProgramKey, inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Result<(), Failure> {
        self.run_keeping(which, inputs, outputs, &mut ConstantEntries::default())
    }

    /// The same for a derivative matrix that may contain constant entries.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_keeping(
        &mut self,
        which: ProgramKey,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
        constants: &mut ConstantEntries,
    ) -> Result<(), Failure> {
        if let Some(done) = self.run_plain(which, inputs, outputs, constants) {
            return done;
        }
        constants.take();
        self.run_on_active(which, inputs, outputs)
    }

    /// The same on numbers that are not plain.
    #[inline(never)]
    fn run_on_active(&mut self, which: ProgramKey, inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Result<(), Failure> {
        if which.tangents == 0
            && let Some(done) = self.run_split(which.kind, inputs, outputs)
        {
            return done;
        }
        // Numbers of other engines carry derivatives that this check does not see. A program that tracks absent derivatives takes a seed for absent if its
        // value is zero, though that may move.
        let moves = |seed: &S| seed.peek() == S::Base::ZERO && !seed.is_inert_zero();
        let tracks = !inputs.iter().skip(2).any(|seeds| seeds.iter().any(moves));
        let which = ProgramKey { tracks, ..which };
        let Made { code, .. } = self.recording.executable(which)?;
        let workspace = which.place_in(&mut self.workspaces).get_or_insert_with(|| Box::new(code.workspace()));
        code.run(workspace, inputs, outputs).map_err(Failure::Invalid)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_plain(
        &mut self,
        which: ProgramKey,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
        constants: &mut ConstantEntries,
    ) -> Option<Result<(), Failure>> {
        let (inputs, outputs) = (S::as_plain(inputs)?, S::as_plain_mut(outputs)?);
        Some(self.plain.run(&self.recording, which, inputs, outputs, constants))
    }

    /// Runs the program's pushforward, if the numbers are dual numbers and only those of the point have tangents, all of one
    /// differentiation.
    fn run_split(&mut self, kind: Kind, inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Option<Result<(), Failure>> {
        let tangents = S::tangents()?;
        let mut marks = inputs[0].iter().filter_map(tangents.mark);
        let mark = marks.next();
        let others_have_none = inputs[1..].iter().all(|slice| slice.iter().all(|v| (tangents.mark)(v).is_none()));
        if !others_have_none || marks.any(|other| Some(other) != mark) {
            return None;
        }
        Some(self.run_with_tangents(kind, inputs, outputs, mark, tangents))
    }

    fn run_with_tangents(
        &mut self,
        kind: Kind,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
        mark: Option<NonZeroU32>,
        tangents_of: &Tangents<S, S::Base>,
    ) -> Result<(), Failure> {
        let lanes = tangents_of.lanes;
        let zero = S::Base::ZERO;
        let point = inputs[0];
        let width = match (mark, lanes) {
            (None, _) => 0,
            (Some(_), 1) => 1,
            (Some(_), _) => LANES,
        };
        let padded = if width == 0 { 0 } else { lanes.next_multiple_of(width) };
        let SplitNumbers { arguments, results } = &mut self.split;
        arguments.clear();
        arguments.extend(inputs.iter().flat_map(|slice| slice.iter().map(S::peek)));
        let values = arguments.len();
        for lane in 0..padded {
            let tangent = |v: &S| if lane < lanes { (tangents_of.lane)(v, lane) } else { zero };
            arguments.extend(point.iter().map(tangent));
        }
        let stride: usize = outputs.iter().map(|slice| slice.len()).sum();
        results.clear();
        results.resize(stride * (1 + padded), zero);

        let (values, tangents) = arguments.split_at(values);
        let (result_values, result_tangents) = results.split_at_mut(stride);
        let mut first = 0;
        loop {
            let mut plain_inputs: [&[S::Base]; MOST_INPUTS] = Default::default();
            let mut plain_outputs: [&mut [S::Base]; MOST_OUTPUTS] = Default::default();
            let mut rest = values;
            for (plain, slice) in plain_inputs.iter_mut().zip(inputs) {
                (*plain, rest) = rest.split_at(slice.len());
            }
            for lane in 0..width {
                plain_inputs[inputs.len() + lane] = &tangents[(first + lane) * point.len()..][..point.len()];
            }
            let mut slots = plain_outputs.iter_mut();
            cut(result_values, outputs, &mut slots);
            let mut rest = &mut result_tangents[first * stride..];
            for _ in 0..width {
                let lane;
                (lane, rest) = rest.split_at_mut(stride);
                cut(lane, outputs, &mut slots);
            }
            let which = ProgramKey::of(kind, width);
            let (inputs, outputs) = (inputs.len() + width, outputs.len() * (1 + width));
            let (inputs, outputs) = (&plain_inputs[..inputs], &mut plain_outputs[..outputs]);
            self.plain.run(&self.recording, which, inputs, outputs, &mut ConstantEntries::default())?;
            first += width;
            if first >= padded {
                break;
            }
        }

        let mut offset = 0;
        for slice in outputs {
            for number in slice.iter_mut() {
                let value = result_values[offset];
                *number = match mark {
                    Some(mark) => (tangents_of.join)(value, mark, &result_tangents[offset..], stride),
                    None => S::constant(value),
                };
                offset += 1;
            }
        }
        Ok(())
    }
}

/// Cuts a slice into slots as long as the slices of `like`.
fn cut<'a, 's, B: 'a, S>(
    mut whole: &'a mut [B],
    like: &[&mut [S]],
    slots: &mut impl Iterator<Item = &'s mut &'a mut [B]>,
) where
    'a: 's,
{
    for (slice, slot) in like.iter().zip(slots) {
        (*slot, whole) = whole.split_at_mut(slice.len());
    }
}

#[cfg(test)]
mod tests;
