//! The state for an engine that decides itself when to record, when to compile, and when to do neither: `reverse_diff`.
//!
//! Over `f64` alone and without generic functions, so that this is compiled here and not in every crate that uses that engine.

use super::{Buffers, CompiledState, Held, Recording};
use crate::backends::compiled_reverse_diff::buffers::Direction;
use crate::backends::compiled_reverse_diff::held::Cost;
use crate::backends::compiled_reverse_diff::recording::{Failure, Measure, Task};
use crate::backends::compiled_reverse_diff::requested::RequestedEntries;
use compiled_trace::{CallObject, Fingerprint, Limits, Recorded, RunError};
use differentiation_interface_core::backend::{ConstantEntries, Rows, Seeds};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::{OutputShape, Recordable};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The number of different constants that a recording knows.
const MOST_CONSTANTS: usize = 8;
/// What a product of a sparse Hessian takes beside its program, to copy it and to collect its entries, for each input and in the time of an
/// operation on a tape: 0.29 for W2 at 500 and at 10,000 inputs.
const AROUND_PRODUCTS: f64 = 0.3;

/// What a call by kept recordings came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backends) enum ByKept {
    /// The results are there.
    Done,
    /// No recording is valid at the point.
    OtherPath,
    /// No recording is known to be right for the constants of the call.
    OtherConstants,
}

/// A recording that is not compiled.
#[derive(Clone, Debug)]
pub(in crate::backends) struct Trial {
    pub(in crate::backends) fingerprint: Fingerprint,
    pub(in crate::backends) operations: usize,
    /// The length of the point, and the number of outputs.
    pub(in crate::backends) inputs: usize,
    pub(in crate::backends) outputs: usize,
    /// The number of calls of custom rules.
    pub(in crate::backends) calls: usize,
    /// The time that its functions take beyond that of additions, in that of an operation.
    pub(in crate::backends) functions: f64,
    /// Rules that must live as long as the fingerprint is compared.
    _kept_rules: Vec<Arc<dyn CallObject>>,
}

/// Recordings that a new one replaces.
#[derive(Default)]
pub(in crate::backends) struct Replaced(Vec<Held<f64>>);

/// A state that is reached through its own functions: what copies and drops it is thousands of lines to the compiler, which are compiled here and not
/// in every crate that has one.
pub(in crate::backends) struct KeptState(Box<dyn Holds>);

trait Holds: Send + Sync {
    fn state(&self) -> &CompiledState<f64>;
    fn state_mut(&mut self) -> &mut CompiledState<f64>;
}

impl Holds for CompiledState<f64> {
    fn state(&self) -> &CompiledState<f64> {
        self
    }
    fn state_mut(&mut self) -> &mut CompiledState<f64> {
        self
    }
}

impl KeptState {
    /// For these entries.
    pub(in crate::backends) fn for_entries(requested: RequestedEntries) -> Self {
        KeptState(Box::new(CompiledState { requested, ..CompiledState::default() }))
    }
}

impl Clone for KeptState {
    fn clone(&self) -> Self {
        KeptState(Box::new(self.0.state().clone()))
    }
}

impl fmt::Debug for KeptState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.state().fmt(f)
    }
}

impl Deref for KeptState {
    type Target = CompiledState<f64>;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref(&self) -> &CompiledState<f64> {
        self.0.state()
    }
}

impl DerefMut for KeptState {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref_mut(&mut self) -> &mut CompiledState<f64> {
        self.0.state_mut()
    }
}

/// The recording of a run with outputs of this shape, whose programs are made when they are asked for: each takes as long as dozens of calls of the tape.
fn held(recording: Recording, shape: Option<OutputShape>) -> Held<f64> {
    let mut held = Held::new(Arc::new(recording)).with_shape(shape);
    held.products_are_due = [false; 2];
    held
}

impl CompiledState<f64> {
    /// Records the function at `x`, to compare the recording with earlier ones.
    pub(in crate::backends) fn try_out(
        &mut self,
        limits: Limits,
        mut f: &mut dyn Flat<Recorded>,
        x: &[f64],
    ) -> Result<Trial, Error> {
        self.buffers.read_contexts(f.recordable(), &mut self.plain, &mut self.lengths);
        // Dropped if the function panics, or cannot be recorded.
        let mut fresh = std::mem::take(&mut self.fresh);
        let graph = fresh.record(limits, &mut f, x, &self.plain)?;
        let trial = Trial {
            fingerprint: graph.fingerprint(),
            operations: graph.nodes().len(),
            inputs: graph.inputs(),
            outputs: graph.outputs().len(),
            calls: graph.calls(),
            functions: graph.time_of_functions(),
            _kept_rules: graph.rules_to_keep(),
        };
        self.fresh = fresh;
        Ok(trial)
    }

    /// Lets no program of entries of a Hessian be made that takes longer to compile, in the time of an operation on a tape; none with `None`.
    pub(in crate::backends) fn afford(&mut self, price: Option<u64>) {
        self.requested.afford(price);
    }

    /// The time to compile the requested entries, if the current recording leaves them to products until it is afforded.
    pub(in crate::backends) fn postponed(&self) -> Option<u64> {
        self.recordings.get(self.current)?.recording.postponed()
    }

    /// The time that compiling the entries of the current recording has taken.
    pub(in crate::backends) fn price_of_entries(&self) -> u64 {
        self.recordings.get(self.current).map_or(0, |held| held.recording.price_of_entries)
    }

    /// The time of [`postponed`](Self::postponed) of each recording without entries; `None` for one that will never have them.
    pub(in crate::backends) fn all_postponed(&self) -> impl Iterator<Item = Option<u64>> {
        let without = self.recordings.iter().filter(|held| !held.recording.has_entries());
        without.map(|held| held.recording.postponed().filter(|_| !held.cost.has_slow_entries))
    }

    /// Notes the time of a call by the program of the current recording, of one by the tape, and of compiling.
    pub(in crate::backends) fn note_cost(&mut self, of_program: f64, of_tape: f64, price: f64) {
        if let Some(held) = self.recordings.get_mut(self.current) {
            held.cost = Cost { of_program, of_tape, price, ..held.cost };
        }
    }

    /// What the program of each recording costs.
    pub(in crate::backends) fn costs(&self) -> impl Iterator<Item = &Cost> {
        self.recordings.iter().map(|held| &held.cost)
    }

    /// The time of the calls by programs of second order since this was asked for last.
    pub(in crate::backends) fn take_time_of_calls(&mut self) -> f64 {
        let times =
            self.recordings.iter_mut().map(|held| std::mem::take(&mut held.cost.calls) as f64 * held.cost.of_program);
        times.sum()
    }

    /// The time of a call by the program of a recording, on average.
    pub(in crate::backends) fn time_of_program(&self) -> f64 {
        self.costs().map(|cost| cost.of_program).sum::<f64>() / self.recordings.len().max(1) as f64
    }

    /// Compiles entries that recordings have left to products, unless those of one take more than `most` times as long: then all keep their products,
    /// since a call runs all programs of entries in vain before it gets to products. Returns what the new programs cost, and the time that all
    /// took that were compiled.
    pub(in crate::backends) fn compile_postponed(&mut self, task: Task, most: f64) -> (Vec<(Measure, Cost)>, f64) {
        let (mut made, mut price) = (Vec::new(), 0.0);
        for kept in &mut self.recordings {
            let Some(of_entries) = kept.recording.postponed() else { continue };
            price += of_entries as f64;
            let with_entries = kept.recording.with_entries();
            let measured = with_entries.and_then(|recording| Some((recording.measure(task)?, recording)));
            match measured.filter(|(measure, _)| measure.time <= most * kept.cost.of_program) {
                Some(new) => made.push(new),
                None => {
                    kept.cost.has_slow_entries = true;
                    // Clones of the preparation keep the recording for theirs.
                    Arc::get_mut(&mut kept.recording).into_iter().for_each(Recording::leave_entries);
                    return (Vec::new(), price);
                }
            }
        }
        let mut costs = Vec::with_capacity(made.len());
        let postponed = self.recordings.iter_mut().filter(|kept| kept.recording.postponed().is_some());
        for (kept, (measure, recording)) in postponed.zip(made) {
            let mut new = held(recording, None);
            new.constants = std::mem::take(&mut kept.constants);
            let of_entries = kept.recording.postponed().unwrap_or(0) as f64;
            new.cost = Cost { of_program: measure.time, price: kept.cost.price + of_entries, ..kept.cost };
            costs.push((measure, new.cost));
            *kept = new;
        }
        (costs, price)
    }

    /// The number of instructions of the program of the current recording for the outputs alone.
    pub(in crate::backends) fn length(&self) -> usize {
        self.recordings.get(self.current).map_or(0, |held| held.recording.length())
    }

    /// Records the function once more with its outermost loop folded, which makes a shorter program with its constants in rows, compiles that
    /// and makes it the current one. Call it after [`try_out`](Self::try_out) at the same point. The program of a function that is not pure
    /// has its constants in it, and is right for them alone.
    pub(in crate::backends) fn adopt(
        &mut self,
        limits: Limits,
        mut f: &mut dyn Flat<Recorded>,
        x: &[f64],
    ) -> Result<(), Error> {
        let mut fresh = std::mem::take(&mut self.fresh);
        let recorder = fresh.record_for_program(limits, &mut f, x, &self.plain, true)?;
        let recording = Recording::new(recorder, &self.lengths, &self.requested)?;
        let mut held = held(recording, fresh.shape());
        if !f.recordable().is_pure() {
            self.words.clear();
            if f.recordable().constants(&mut self.words) {
                held.constants.keep(MOST_CONSTANTS, &self.words, &[], fresh.shape());
            }
        }
        self.fresh = fresh;
        self.current = self.recordings.len();
        self.recordings.push(held);
        Ok(())
    }

    /// Makes a kept recording right for the constants of this call too, which [`try_out`](Self::try_out) has recorded: its program takes
    /// them as parameters. If that needs another program, nothing is done unless there may be one: `most` is the number of recordings
    /// that may be kept then, and 0 if nothing is to be compiled. Returns the recordings that a new program replaces, if one was compiled.
    pub(in crate::backends) fn follow(
        &mut self,
        f: Option<&dyn Recordable>,
        most: usize,
    ) -> Result<Option<Replaced>, Error> {
        self.words.clear();
        if !f.constants(&mut self.words) {
            return Ok(None);
        }
        let graph = self.fresh.graph();
        let (inputs, parameters) = (graph.inputs(), graph.parameters());
        let found =
            self.recordings.iter().position(|held| held.recording.compare(graph, &self.lengths, &mut self.more));
        let compiles = found.is_none() || !self.more.is_empty();
        if compiles && (most == 0 || (found.is_none() && self.recordings.len() >= most)) {
            return Ok(None);
        }
        let has_slow_entries = found.is_some_and(|index| self.recordings[index].cost.has_slow_entries);
        if has_slow_entries {
            self.requested.afford(None);
        }
        let recording = match found {
            None => Some(Recording::comparable(graph, &self.lengths, &self.requested, true)?),
            Some(index) if compiles => Some(self.recordings[index].recording.widened(&self.more, &self.requested)?),
            Some(_) => None,
        };
        let mut replaced = Replaced::default();
        if let (Some(index), true) = (found, compiles) {
            replaced.0.push(self.recordings.remove(index));
            // Programs with their constants in them would be in use by turns with the new one, which can take any.
            let lengths = &self.lengths;
            let is_fixed = |held: &mut Held<f64>| held.recording.is_fixed(inputs, parameters, lengths);
            replaced.0.extend(self.recordings.extract_if(.., is_fixed));
        }
        self.current = found.filter(|_| !compiles).unwrap_or(self.recordings.len());
        if let Some(recording) = recording {
            let mut new = held(recording, self.fresh.shape());
            new.cost.has_slow_entries = has_slow_entries;
            self.recordings.push(new);
        }
        let held = &mut self.recordings[self.current];
        self.plain.clear();
        held.recording.constants(self.fresh.graph(), &mut self.plain);
        held.constants.keep(MOST_CONSTANTS, &self.words, &self.plain, self.fresh.shape());
        Ok(compiles.then_some(replaced))
    }

    /// Drops the current recording, and goes back to those that it has replaced.
    pub(in crate::backends) fn forget_current(&mut self, replaced: Replaced) {
        self.recordings.remove(self.current);
        self.recordings.extend(replaced.0);
        self.current = 0;
    }

    /// The number of compiled recordings.
    pub(in crate::backends) fn count(&self) -> usize {
        self.recordings.len()
    }

    /// The number of outputs of the current recording.
    #[inline]
    pub(in crate::backends) fn count_of_outputs(&self) -> Option<usize> {
        self.sizes().map(|(_, outputs)| outputs)
    }

    /// The numbers of inputs and outputs of the current recording.
    #[inline]
    pub(in crate::backends) fn sizes(&self) -> Option<(usize, usize)> {
        self.recordings.get(self.current).map(|held| (held.recording.inputs, held.recording.outputs))
    }

    /// The program of the current recording for a task.
    pub(in crate::backends) fn measure(&self, task: Task) -> Option<Measure> {
        let recording = &self.recordings.get(self.current)?.recording;
        let mut measure = recording.measure(task)?;
        if let Task::HessianProducts(seeds, _) = task
            && self.requested.has_pattern()
            && !recording.has_entries()
        {
            measure.time += AROUND_PRODUCTS * (seeds * recording.inputs) as f64;
        }
        Some(measure)
    }

    /// Whether that program is machine code.
    pub(in crate::backends) fn has_code(&self, task: Task) -> bool {
        self.recordings.get(self.current).is_some_and(|held| held.recording.has_code(task))
    }

    /// Whether the current recording has a program of the requested entries.
    pub(in crate::backends) fn has_entries(&self) -> bool {
        self.recordings.get(self.current).is_some_and(|held| held.recording.has_entries())
    }

    /// The number of recordings that have a program of the requested entries.
    pub(in crate::backends) fn count_with_entries(&self) -> usize {
        self.recordings.iter().filter(|held| held.recording.has_entries()).count()
    }

    /// The point of the last [`value_by_kept`](Self::value_by_kept).
    #[inline]
    pub(in crate::backends) fn point(&self) -> &[f64] {
        &self.buffers.x
    }

    /// The gradient of the last run that computed it.
    pub(in crate::backends) fn gradient(&self) -> &[f64] {
        &self.buffers.gradient
    }

    /// Drops the last recording and the memory for further ones.
    pub(in crate::backends) fn forget_trial(&mut self) {
        self.fresh = Default::default();
    }

    /// Fills the derivative matrix, and leaves the outputs if `with_value`.
    pub(in crate::backends) fn matrix_by_kept(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[f64],
        with_value: bool,
        rows: &mut Rows<'_, f64>,
    ) -> Result<ByKept, Error> {
        self.by_kept(f, x, |held, buffers| buffers.matrix(held, x, with_value, rows))
    }

    /// Computes the outputs, for [`pullbacks_of_kept`](Self::pullbacks_of_kept).
    pub(in crate::backends) fn value_by_kept(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[f64],
    ) -> Result<ByKept, Error> {
        let done = self.by_kept(f, x, |held, buffers| buffers.value(held, x))?;
        self.buffers.x.clear();
        self.buffers.x.extend_from_slice(x);
        Ok(done)
    }

    /// Propagates cotangents back at the point of the last [`value_by_kept`](Self::value_by_kept).
    pub(in crate::backends) fn pullbacks_of_kept(
        &mut self,
        seeds: &Seeds<'_, f64>,
        rows: &mut Rows<'_, f64>,
    ) -> Result<(), Error> {
        self.held_products(Direction::Backward, seeds, rows)
    }

    /// Propagates tangents, and leaves the outputs.
    pub(in crate::backends) fn pushforwards_by_kept(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[f64],
        seeds: &Seeds<'_, f64>,
        rows: &mut Rows<'_, f64>,
    ) -> Result<ByKept, Error> {
        self.by_kept(f, x, |held, buffers| buffers.products(held, x, Direction::Forward, seeds, rows))
    }

    /// Propagates tangents through the derivative of the gradient, and leaves value and gradient if `with_gradient`. Recordings with
    /// [entries](Self::entries_by_kept) of the Hessian serve no products.
    pub(in crate::backends) fn hessian_products_by_kept(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[f64],
        seeds: &Seeds<'_, f64>,
        with_gradient: bool,
        rows: &mut Rows<'_, f64>,
    ) -> Result<ByKept, Error> {
        let serves = |recording: &Recording| !recording.has_entries();
        self.by_kept_if(serves, f, x, |held, buffers| buffers.hessian_products(held, x, seeds, with_gradient, rows))
    }

    /// Fills the requested entries, and leaves the outputs if `with_value` and their gradient if `with_gradient`.
    pub(in crate::backends) fn entries_by_kept(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[f64],
        (values, constants): (&mut [f64], &mut ConstantEntries),
        with_value: bool,
        with_gradient: bool,
    ) -> Result<ByKept, Error> {
        self.by_kept_if(Recording::has_entries, f, x, |held, buffers| {
            let values = (&mut *values, &mut *constants);
            buffers.entries(held, x, values, with_value && !with_gradient)?;
            if with_gradient { buffers.gradient(held, x) } else { Ok(()) }
        })
    }

    /// Runs `go` on a recording that is valid at `x` and for the constants of the call. Nothing is recorded if there is none.
    #[inline]
    fn by_kept(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[f64],
        go: impl FnMut(&mut Held<f64>, &mut Buffers<f64>) -> Result<(), Failure>,
    ) -> Result<ByKept, Error> {
        self.by_kept_if(|_| true, f, x, go)
    }

    /// The same among recordings for which `serves` holds.
    #[inline]
    fn by_kept_if(
        &mut self,
        serves: impl Fn(&Recording) -> bool,
        f: Option<&dyn Recordable>,
        x: &[f64],
        mut go: impl FnMut(&mut Held<f64>, &mut Buffers<f64>) -> Result<(), Failure>,
    ) -> Result<ByKept, Error> {
        self.buffers.read_contexts(f, &mut self.plain, &mut self.lengths);
        let is_pure = f.is_pure();
        let known = self.recordings.len();
        let mut result = if is_pure { ByKept::OtherPath } else { ByKept::OtherConstants };
        for k in 0..known {
            let index = if self.current + k < known { self.current + k } else { self.current + k - known };
            let held = &mut self.recordings[index];
            if !serves(&held.recording) || !held.recording.fits(x.len(), self.plain.len(), &self.lengths) {
                continue;
            }
            if !is_pure && !self.buffers.read_constants(f, &mut held.constants, self.plain.len()) {
                continue;
            }
            result = ByKept::OtherPath;
            match go(held, &mut self.buffers) {
                Ok(()) => {
                    held.tell_shape(f);
                    held.cost.calls += 1;
                    self.current = index;
                    return Ok(ByKept::Done);
                }
                Err(Failure::Invalid(RunError::Guard(_)) | Failure::Size(_)) => {}
                Err(failure) => return Err(super::final_error(failure)),
            }
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests;
