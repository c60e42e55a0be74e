//! The state that the calls of a preparation share: recordings, the point, and buffers.

mod kept;
mod small;

pub(in crate::backends) use kept::{ByKept, KeptState, Replaced, Trial};

use super::backend::AutoCompiledReverseDiff;
use super::buffers::{Buffers, Direction};
use super::fresh::FreshRecording;
use super::held::Held;
use super::recording::{Failure, Recording};
use super::requested::{Order, RequestedEntries};
use compiled_trace::{GuardFailed, Place, Recorded, RunError};
use differentiation_interface_core::backend::{EntryRequest, Rows, Seeds};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::Recordable;
use differentiation_interface_core::scalar::{Base, Scalar};
use std::any::Any;
use std::sync::Arc;

/// Recordings of a function with all memory that its calls reuse.
#[derive(Clone, Debug, Default)]
pub struct CompiledState<S: Scalar> {
    recordings: Vec<Held<S>>,
    /// The recording that was valid at the last point.
    current: usize,
    buffers: Buffers<S>,
    /// The parameters as plain numbers.
    plain: Vec<f64>,
    /// The same for small programs on singles.
    singles: Vec<S::Base>,
    /// Lengths of the contexts.
    lengths: Vec<u64>,
    fresh: FreshRecording<S::Base>,
    /// The requested entries, for which its recordings have programs.
    requested: RequestedEntries,
    /// Whether some recording, kept or not any more, had no program of the requested entries, so that all calls use products.
    needs_products: bool,
    /// Whether nothing tells if the function computes the same as before, so that it runs in every call.
    runs_always: bool,
    /// The constants of the call, as words.
    words: Vec<u64>,
    /// The places where the last new recording differs from a kept one.
    more: Vec<Place>,
}

impl<S: Scalar> CompiledState<S> {
    /// For dense derivative matrices.
    pub(super) fn of_matrix(backend: &AutoCompiledReverseDiff) -> Self {
        CompiledState { requested: RequestedEntries::jacobian(backend.limits()), ..CompiledState::default() }
    }

    /// How often the function has run to be recorded.
    pub(super) fn runs(&self) -> u64 {
        self.fresh.runs()
    }

    /// Whether it runs in every call.
    pub(super) fn runs_always(&self) -> bool {
        self.runs_always
    }

    /// The number of recordings that are kept.
    pub(super) fn kept(&self) -> usize {
        self.recordings.len()
    }

    /// The outputs of the last run.
    pub(in crate::backends) fn outputs(&self) -> &[S] {
        &self.buffers.y
    }

    /// Runs the value program at `x`, which later calls of [`held_products`](Self::held_products) refer to.
    pub(super) fn value<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        self.with_recording(backend, f, x, |held, buffers| buffers.value(held, x))?;
        self.buffers.x.clear();
        self.buffers.x.extend_from_slice(x);
        Ok(())
    }

    /// Propagates seeds through the derivative at `x`.
    pub(super) fn products<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        direction: Direction,
        seeds: &Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        self.with_recording(backend, f, x, |held, buffers| buffers.products(held, x, direction, seeds, rows))
    }

    /// Computes the outputs at `x` and propagates cotangents back by one program. Returns `false` if there is no recording of as many outputs, or
    /// after an error, which another call finds again.
    pub(super) fn pullbacks<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        seeds: &Seeds<'_, S>,
        y: &mut Vec<S>,
        rows: &mut Rows<'_, S>,
    ) -> bool {
        let Some(held) = self.recordings.get(self.current) else { return false };
        if seeds.check(held.recording.outputs).is_err() {
            return false;
        }
        y.resize(held.recording.outputs, S::default());
        if let Seeds::Vectors([cotangent]) = seeds
            && rows.set_rows(1).is_ok()
            && self.fill_pullback(f.recordable(), x, cotangent, y, rows.data())
        {
            return true;
        }
        let done = self.products(backend, f, x, Direction::Backward, seeds, rows);
        y.clone_from(&self.buffers.y);
        done.is_ok() && seeds.check(y.len()).is_ok()
    }

    /// Fills the derivative matrix at `x`. Leaves the outputs in `y`.
    #[inline(never)]
    pub(super) fn matrix<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        let with_value = y.is_some();
        self.with_recording(backend, f, x, |held, buffers| buffers.matrix(held, x, with_value, rows))?;
        self.hand_out(y);
        Ok(())
    }

    /// Fills entries of the Jacobian, unless products are cheaper.
    pub(super) fn jacobian_entries<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        mut entries: EntryRequest<'_, S>,
        y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        if y.is_none() && self.fill_requested(f.recordable(), x, &mut entries, |recording| recording.outputs) {
            return Ok(true);
        }
        if self.requested.is_nothing() {
            self.requested = RequestedEntries::of(Order::First, &entries, backend.limits());
        }
        let (with_value, is_dense) = (y.is_some(), entries.pattern.is_none());
        let mut values = entries.values;
        let run = |held: &mut Held<S>, buffers: &mut Buffers<S>| {
            values.set_rows(if is_dense { held.recording.outputs } else { 1 })?;
            buffers.entries(held, x, values.data_and_constants(), with_value)
        };
        let served = self.with_entries(backend, f, x, run)?;
        if served {
            self.hand_out(y);
        }
        Ok(served)
    }

    /// Fills entries of the Hessian, unless products are cheaper.
    pub(super) fn hessian_entries<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        mut entries: EntryRequest<'_, S>,
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        let is_alone = value.is_none() && gradient.is_none();
        if is_alone && self.fill_requested(f.recordable(), x, &mut entries, |recording| recording.inputs) {
            return Ok(true);
        }
        if self.requested.is_nothing() {
            self.requested = RequestedEntries::of(Order::Second, &entries, backend.limits());
        }
        let is_dense = entries.pattern.is_none();
        let mut values = entries.values;
        let (wants_value, wants_gradient) = (value.is_some(), gradient.is_some());
        let served = self.with_entries(backend, f, x, |held, buffers| {
            values.set_rows(if is_dense { held.recording.inputs } else { 1 })?;
            buffers.entries(held, x, values.data_and_constants(), wants_value && !wants_gradient)?;
            if wants_gradient {
                buffers.gradient(held, x)?;
            }
            Ok(())
        })?;
        if served {
            if let (Some(value), [found]) = (value, &self.buffers.y[..]) {
                *value = *found;
            }
            if let Some(gradient) = gradient {
                gradient.clone_from(&self.buffers.gradient);
            }
        }
        Ok(served)
    }

    /// Runs `go` on a recording that is valid at `x` and has a program of the requested entries; `false` if some recording has none.
    fn with_entries<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        mut go: impl FnMut(&mut Held<S>, &mut Buffers<S>) -> Result<(), Failure>,
    ) -> Result<bool, Error> {
        if self.needs_products {
            return Ok(false);
        }
        let mut served = false;
        self.with_recording(backend, f, x, |held, buffers| {
            served = held.recording.has_entries();
            if served { go(held, buffers) } else { Ok(()) }
        })?;
        self.needs_products = !served;
        Ok(served)
    }

    fn hand_out(&self, y: Option<&mut Vec<S>>) {
        if let Some(y) = y {
            y.clone_from(&self.buffers.y);
        }
    }

    /// Propagates seeds through the derivative at the last point.
    pub(super) fn held_products(
        &mut self,
        direction: Direction,
        seeds: &Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        let held = self.recordings.get_mut(self.current).ok_or(ErrorKind::ForeignNumber)?;
        let x = std::mem::take(&mut self.buffers.x);
        let done = self.buffers.products(held, &x, direction, seeds, rows).map_err(final_error);
        self.buffers.x = x;
        done
    }

    /// Propagates tangents through the derivative of the gradient at `x`, and returns value and gradient if there is room for them.
    #[expect(clippy::too_many_arguments, reason = "three results")]
    pub(super) fn hessian_products<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        seeds: &Seeds<'_, S>,
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        let with_gradient = value.is_some() || gradient.is_some();
        if let (Seeds::Vectors([tangent]), false) = (seeds, with_gradient)
            && self.fill_hessian_product(f.recordable(), x, tangent, rows.data())
        {
            return Ok(());
        }
        self.with_recording(backend, f, x, |held, buffers| {
            buffers.hessian_products(held, x, seeds, with_gradient, rows)
        })?;
        if let (Some(value), [found]) = (value, &self.buffers.y[..]) {
            *value = *found;
        }
        if let Some(gradient) = gradient {
            gradient.clone_from(&self.buffers.gradient);
        }
        Ok(())
    }

    /// The same at the last point, without the value.
    pub(super) fn held_hessian_products(
        &mut self,
        seeds: &Seeds<'_, S>,
        gradient: Option<&mut Vec<S>>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        let held = self.recordings.get_mut(self.current).ok_or(ErrorKind::ForeignNumber)?;
        let x = std::mem::take(&mut self.buffers.x);
        let done = self.buffers.hessian_products(held, &x, seeds, gradient.is_some(), rows).map_err(final_error);
        self.buffers.x = x;
        done?;
        if let Some(gradient) = gradient {
            gradient.clone_from(&self.buffers.gradient);
        }
        Ok(())
    }

    /// Runs `go` on a recording that is valid at `x`: the last one, another one, or a new one.
    fn with_recording<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        mut go: impl FnMut(&mut Held<S>, &mut Buffers<S>) -> Result<(), Failure>,
    ) -> Result<(), Error> {
        self.buffers.read_contexts(f.recordable(), &mut self.plain, &mut self.lengths);
        let mut first = 0;
        if let Some(held) = self.recordings.get_mut(self.current)
            && held.recording.fits(x.len(), self.plain.len(), &self.lengths)
            && (f.recordable().is_pure()
                || self.buffers.read_constants(f.recordable(), &mut held.constants, self.plain.len()))
        {
            match go(held, &mut self.buffers).map_err(|failure| self.buffers.cause(failure, held, x)) {
                Ok(()) => {
                    held.tell_shape(f.recordable());
                    return Ok(());
                }
                Err(Failure::Invalid(RunError::Guard(_))) if !backend.refuses_other_branches() => first = 1,
                Err(failure) => return Err(final_error(failure)),
            }
        }
        self.with_another(backend, f, x, first, go)
    }

    /// Runs `go` on a recording other than the `first` ones, counted from the current one, or on a new one. Out of line, as most
    /// calls find their recording at once.
    #[inline(never)]
    fn with_another<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        first: usize,
        mut go: impl FnMut(&mut Held<S>, &mut Buffers<S>) -> Result<(), Failure>,
    ) -> Result<(), Error> {
        // In memory that later calls, and clones, find large enough.
        as_numbers(&self.plain, &mut self.singles);
        let is_pure = f.recordable().is_pure();
        self.words.clear();
        self.runs_always = !is_pure && !f.recordable().constants(&mut self.words);
        if self.runs_always {
            self.select(backend, f, x, false)?;
            return go(&mut self.recordings[self.current], &mut self.buffers).map_err(final_error);
        }
        let known = self.recordings.len();
        for k in first..known {
            let index = if self.current + k < known { self.current + k } else { self.current + k - known };
            let held = &mut self.recordings[index];
            let is_right = held.recording.fits(x.len(), self.plain.len(), &self.lengths)
                && (is_pure || self.buffers.read_constants(f.recordable(), &mut held.constants, self.plain.len()));
            if !is_right {
                continue;
            }
            match go(held, &mut self.buffers).map_err(|failure| self.buffers.cause(failure, held, x)) {
                Ok(()) => {
                    held.tell_shape(f.recordable());
                    self.current = index;
                    return Ok(());
                }
                Err(Failure::Invalid(RunError::Guard(_))) if !backend.refuses_other_branches() => {}
                Err(failure) => return Err(final_error(failure)),
            }
        }
        let is_new = match is_pure {
            true => self.record(backend, f, x).map(|()| true)?,
            false => self.select(backend, f, x, true)?,
        };
        let held = &mut self.recordings[self.current];
        match go(held, &mut self.buffers).map_err(|failure| self.buffers.cause(failure, held, x)) {
            Err(Failure::Invalid(RunError::Guard(_))) => {
                let recording = Recording::once(self.fresh.graph(), &self.lengths, &self.requested)?;
                if is_new {
                    self.recordings[self.current] = self.held(backend, recording);
                } else {
                    self.keep(backend, recording);
                }
                // The recording for this point has no parameters but those of the function.
                self.buffers.read_contexts(f.recordable(), &mut self.plain, &mut self.lengths);
                go(&mut self.recordings[self.current], &mut self.buffers).map_err(final_error)
            }
            done => done.map_err(final_error),
        }
    }

    /// Records the function at `x` and makes that the current recording. Out of line, because its stack frame is large and most calls
    /// find their recording.
    #[cold]
    #[inline(never)]
    fn record<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        let folds = !self.requested.has_pattern();
        let recorder = self.fresh.record_for_program(backend.limits(), f, x, &self.plain, folds)?;
        let recording = Recording::new(recorder, &self.lengths, &self.requested)?;
        self.keep(backend, recording);
        Ok(())
    }

    /// Selects the current recording of a function whose constants may have changed: a kept one with the same operations as a new
    /// recording, or that one. If `words` are the constants, later calls with the same ones will find the recording by them. Returns
    /// whether it is new.
    #[inline(never)]
    fn select<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        are_numbers: bool,
    ) -> Result<bool, Error> {
        if are_numbers && !backend.refuses_other_branches() && !self.has_other_constants(f.recordable(), x.len()) {
            self.record(backend, f, x)?;
            self.buffers.parameters.truncate(self.plain.len());
            let held = &mut self.recordings[self.current];
            held.constants.keep(backend.most_recordings(), &self.words, &[], self.fresh.shape());
            return Ok(true);
        }
        let graph = self.fresh.record(backend.limits(), f, x, &self.plain)?;
        let known = self.recordings.len();
        let found = (0..known)
            .map(|k| (self.current + k) % known)
            .find(|index| self.recordings[*index].recording.compare(graph, &self.lengths, &mut self.more));
        match found {
            Some(index) => {
                self.current = index;
                if !self.more.is_empty() {
                    let recording = self.recordings[index].recording.widened(&self.more, &self.requested)?;
                    self.recordings[index] = self.held(backend, recording);
                    if are_numbers {
                        self.forget_fixed(x.len(), self.plain.len());
                    }
                }
            }
            None => {
                let fits = |held: &&Held<S>| held.recording.fits(x.len(), self.plain.len(), &self.lengths);
                if backend.refuses_other_branches()
                    && let Some(other) = self.recordings.iter().find(fits)
                {
                    let place = other.recording.parts_from(graph);
                    return Err(RunError::Guard(GuardFailed { place }).into());
                }
                let recording = Recording::comparable(graph, &self.lengths, &self.requested, are_numbers)?;
                self.fresh.make_room();
                self.keep(backend, recording);
            }
        }
        let held = &mut self.recordings[self.current];
        self.buffers.parameters.truncate(self.plain.len());
        self.plain.clear();
        held.recording.constants(self.fresh.graph(), &mut self.plain);
        let constant = |v: &f64| S::constant(S::Base::from_f64(*v));
        self.buffers.parameters.extend(self.plain.iter().map(constant));
        if are_numbers {
            held.constants.keep(backend.most_recordings(), &self.words, &self.plain, self.fresh.shape());
        }
        Ok(found.is_none())
    }

    /// Whether a kept recording of these lengths can be compared, or was made with different constants than those of the call. Until then a recording
    /// is folded as that of a function without constants is, with its constants in its program: one that can be compared with others keeps all
    /// operations, which takes four times as long for a large regular function.
    fn has_other_constants(&mut self, f: Option<&dyn Recordable>, inputs: usize) -> bool {
        let (parameters, lengths) = (self.plain.len(), &self.lengths);
        self.recordings
            .iter_mut()
            .filter(|held| held.recording.fits(inputs, parameters, lengths))
            .any(|held| held.recording.is_comparable() || held.constants.find(f).is_none())
    }

    /// Drops the recordings of these lengths that have their constants in their programs: they would be in use by turns with one that can take any.
    fn forget_fixed(&mut self, inputs: usize, parameters: usize) {
        let lengths = &self.lengths;
        let is_fixed = |held: &Held<S>| held.recording.is_fixed(inputs, parameters, lengths);
        self.current -= self.recordings[..self.current].iter().filter(|held| is_fixed(held)).count();
        self.recordings.retain(|held| !is_fixed(held));
    }

    /// The recording of the last run.
    fn held(&self, backend: &AutoCompiledReverseDiff, recording: Recording) -> Held<S> {
        Held::new(Arc::new(recording.on_threads(backend.threads()))).with_shape(self.fresh.shape())
    }

    /// Makes a recording the current one. It replaces a recording for a single call, or if there are too many one that has constants of the past in its
    /// program, or the oldest one.
    fn keep(&mut self, backend: &AutoCompiledReverseDiff, recording: Recording) {
        let is_full = self.recordings.len() >= backend.most_recordings();
        // Once constants have changed, new recordings can be compared.
        let is_past = |held: &Held<S>| is_full && recording.is_comparable() && !held.recording.is_comparable();
        let spent = self.recordings.iter().position(|held| held.recording.once);
        self.current = match spent.or_else(|| self.recordings.iter().position(is_past)) {
            Some(index) => index,
            None if !is_full => self.recordings.len(),
            None => (self.current + 1) % self.recordings.len(),
        };
        let held = self.held(backend, recording);
        if self.current == self.recordings.len() {
            self.recordings.push(held);
        } else {
            self.recordings[self.current] = held;
        }
    }
}

/// The numbers as those of small programs: themselves, or in `singles`.
#[expect(clippy::ptr_arg, reason = "a vector has a type that can be compared")]
#[cfg_attr(not(debug_assertions), inline(always))]
fn as_numbers<'a, B: Base>(plain: &'a Vec<f64>, singles: &'a mut Vec<B>) -> &'a [B] {
    match (plain as &dyn Any).downcast_ref::<Vec<B>>() {
        Some(doubles) => doubles,
        None => {
            singles.clear();
            singles.extend(plain.iter().map(|v| B::from_f64(*v)));
            singles
        }
    }
}

/// The error of a failure that no other recording can avoid.
#[cold]
fn final_error(failure: Failure) -> Error {
    match failure {
        Failure::Invalid(error) => error.into(),
        Failure::Size(kind) => kind.into(),
        Failure::Error(error) => error,
    }
}

#[cfg(test)]
mod tests;
