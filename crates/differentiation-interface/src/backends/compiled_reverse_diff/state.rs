//! What the calls of a preparation share: recordings, the point, and buffers.

use super::AutoCompiledReverseDiff;
use super::asked::{Asked, Order};
use super::fresh::Fresh;
use super::recording::{Failure, Held, Kind, LANES, Recording, Which};
use compiled_trace::{GuardFailed, Place, Recorded, RunError};
use differentiation_interface_core::backend::{Entries, Rows, Seeds};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::{Base, Scalar};
use std::sync::Arc;

/// Recordings of a function with everything its calls reuse.
#[derive(Clone, Debug, Default)]
pub struct CompiledState<S: Scalar> {
    recordings: Vec<Held<S>>,
    /// The one that held at the last point.
    current: usize,
    buffers: Buffers<S>,
    /// The parameters as plain numbers.
    plain: Vec<f64>,
    /// Lengths of the contexts.
    lengths: Vec<usize>,
    fresh: Fresh<S::Base>,
    /// What its recordings have programs for beside products.
    asked: Asked,
    /// Whether some recording has no program of the entries asked for, so that products serve all.
    needs_products: bool,
    /// Where the last new recording differs from one that is there.
    more: Vec<Place>,
}

/// The arguments and results of programs.
#[derive(Clone, Debug, Default)]
struct Buffers<S> {
    /// The point of [`CompiledState::value`].
    x: Vec<S>,
    parameters: Vec<S>,
    y: Vec<S>,
    gradient: Vec<S>,
    /// Up to [`LANES`] seeds, one after the other.
    seeds: Vec<S>,
    /// As many products.
    products: Vec<S>,
}

/// Which way seeds go through a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Tangents, to a column per seed.
    Forward,
    /// Cotangents, to a row per seed.
    Backward,
}

impl<S: Scalar> Buffers<S> {
    /// Runs the value program.
    fn value(&mut self, held: &mut Held<S>, x: &[S]) -> Result<(), Failure> {
        self.y.resize(held.recording.outputs, S::default());
        held.run(Which { kind: Kind::Value, tangents: 0 }, &[x, &self.parameters], &mut [&mut self.y])
    }

    /// Runs the program of the entries asked for.
    fn entries(&mut self, held: &mut Held<S>, x: &[S], values: &mut [S], with_value: bool) -> Result<(), Failure> {
        held.run(Which { kind: Kind::Entries, tangents: 0 }, &[x, &self.parameters], &mut [values])?;
        if with_value { self.value(held, x) } else { Ok(()) }
    }

    /// Runs the pullback of the one output.
    fn gradient(&mut self, held: &mut Held<S>, x: &[S]) -> Result<(), Failure> {
        self.y.resize(1, S::default());
        self.gradient.resize(held.recording.inputs, S::default());
        let cotangent = [S::constant(S::Base::ONE)];
        let which = Which { kind: Kind::Pullback, tangents: 0 };
        held.run(which, &[x, &self.parameters, &cotangent], &mut [&mut self.y, &mut self.gradient])
    }

    /// Runs one pullback, as a gradient does: there are no lanes to fill, and the product goes where it belongs. What follows in
    /// [`products`](Self::products) costs as much as a gradient of ten inputs.
    fn pullback(
        &mut self,
        held: &mut Held<S>,
        x: &[S],
        seeds: &Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Failure> {
        let seed: &[S] = if let Seeds::Vectors([seed]) = seeds {
            seed
        } else {
            self.seeds.resize(held.recording.outputs, S::default());
            for (i, seed) in self.seeds.iter_mut().enumerate() {
                *seed = seeds.entry(0, i);
            }
            &self.seeds
        };
        let row = rows.part(0, 0, held.recording.inputs);
        held.run(Which { kind: Kind::Pullback, tangents: 0 }, &[x, &self.parameters, seed], &mut [&mut self.y, row])
    }

    /// Runs programs until all seeds have gone through; leaves the outputs too.
    fn products(
        &mut self,
        held: &mut Held<S>,
        x: &[S],
        direction: Direction,
        seeds: &Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Failure> {
        let (inputs, outputs, total) = (held.recording.inputs, held.recording.outputs, seeds.count());
        let (length, width) = match direction {
            Direction::Forward => (inputs, outputs),
            Direction::Backward => (outputs, inputs),
        };
        rows.set_rows(if direction == Direction::Forward { outputs } else { total }).map_err(Error::from)?;
        if total == 0 {
            return self.value(held, x);
        }
        self.y.resize(outputs, S::default());
        if direction == Direction::Backward && total == 1 {
            return self.pullback(held, x, seeds, rows);
        }
        self.make_room(width, total);
        let mut first = 0;
        while first < total {
            let (kind, lanes) = match direction {
                Direction::Forward => Kind::pushforward_of(total - first),
                Direction::Backward => Kind::pullback_of(total - first),
            };
            let count = lanes.min(total - first);
            let staged = stage(&mut self.seeds, seeds, first, lanes, length);
            let mut arguments: [&[S]; 2 + LANES] = [&[]; 2 + LANES];
            (arguments[0], arguments[1]) = (x, &self.parameters);
            arguments[2..].copy_from_slice(&staged);
            // Rows go where they belong, without a copy, unless some lanes are empty.
            let in_place = direction == Direction::Backward && count == lanes;
            self.products.resize(if in_place { 0 } else { lanes * width }, S::default());
            let mut results: [&mut [S]; 1 + LANES] = Default::default();
            results[0] = &mut self.y;
            let mut rest = if in_place { rows.part(first, 0, lanes * inputs) } else { &mut self.products[..] };
            for result in &mut results[1..1 + lanes] {
                (*result, rest) = rest.split_at_mut(width);
            }
            held.run(Which { kind, tangents: 0 }, &arguments[..2 + lanes], &mut results[..1 + lanes])?;
            match direction {
                Direction::Backward if in_place => {}
                Direction::Backward => {
                    rows.part(first, 0, count * inputs).copy_from_slice(&self.products[..count * inputs]);
                }
                Direction::Forward => {
                    for i in 0..outputs {
                        for (k, entry) in rows.part(i, first, count).iter_mut().enumerate() {
                            *entry = self.products[k * outputs + i];
                        }
                    }
                }
            }
            first += count;
        }
        Ok(())
    }

    /// Makes room for products of all lanes, which a later call with another number of seeds may need.
    fn make_room(&mut self, width: usize, seeds: usize) {
        self.products.clear();
        if seeds > 1 {
            self.products.reserve(LANES * width);
        }
    }

    /// Runs the pushforward of the gradient's program until all tangents have gone through; leaves value and gradient too.
    fn hessian_products(
        &mut self,
        held: &mut Held<S>,
        seeds: &Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Failure> {
        let (n, total) = (held.recording.inputs, seeds.count());
        rows.set_rows(total).map_err(Error::from)?;
        self.y.resize(1, S::default());
        self.gradient.resize(n, S::default());
        let cotangent = [S::constant(S::Base::ONE)];
        self.make_room(n, total);
        let mut first = 0;
        loop {
            let tangents = match total - first {
                0 => 0,
                1 => 1,
                _ => LANES,
            };
            let staged = stage(&mut self.seeds, seeds, first, tangents, n);
            let mut arguments: [&[S]; 3 + LANES] = [&[]; 3 + LANES];
            (arguments[0], arguments[1], arguments[2]) = (&self.x, &self.parameters, &cotangent);
            arguments[3..].copy_from_slice(&staged);
            let count = tangents.min(total - first);
            // Rows go where they belong, without a copy, unless some lanes are empty.
            let in_place = count == tangents;
            self.products.resize(if in_place { 0 } else { tangents * n }, S::default());
            let mut slopes = [S::default(); LANES];
            let mut results: [&mut [S]; 2 + 2 * LANES] = Default::default();
            (results[0], results[1]) = (&mut self.y, &mut self.gradient);
            let mut rest = if in_place { rows.part(first, 0, count * n) } else { &mut self.products[..] };
            for (pair, slope) in results[2..2 + 2 * tangents].chunks_mut(2).zip(slopes.chunks_mut(1)) {
                pair[0] = slope;
                (pair[1], rest) = rest.split_at_mut(n);
            }
            let which = Which { kind: Kind::Pullback, tangents };
            held.run(which, &arguments[..3 + tangents], &mut results[..2 + 2 * tangents])?;
            if !in_place {
                rows.part(first, 0, count * n).copy_from_slice(&self.products[..count * n]);
            }
            first += count;
            if first >= total {
                return Ok(());
            }
        }
    }
}

/// The seeds from `first` on, as many as there are lanes, with zeros for those that are too many. Vectors are taken where they
/// lie; others are written to `memory`.
fn stage<'a, S: Scalar>(
    memory: &'a mut Vec<S>,
    seeds: &Seeds<'a, S>,
    first: usize,
    lanes: usize,
    length: usize,
) -> [&'a [S]; LANES] {
    let count = lanes.min(seeds.count() - first);
    let vectors: &[&[S]] = if let Seeds::Vectors(vectors) = seeds { &vectors[first..first + count] } else { &[] };
    memory.clear();
    memory.resize((lanes - vectors.len()) * length, S::default());
    let one = S::constant(S::Base::ONE);
    match seeds {
        Seeds::Vectors(_) => {}
        Seeds::Basis { first: start, .. } => {
            for k in 0..count {
                memory[k * length + start + first + k] = one;
            }
        }
        Seeds::Colors { colors, first: start, .. } => {
            for (i, color) in colors.iter().enumerate() {
                let k = (*color as usize).wrapping_sub(start + first);
                if k < count {
                    memory[k * length + i] = one;
                }
            }
        }
    }
    let mut staged: [&[S]; LANES] = [&[]; LANES];
    for (k, seed) in staged.iter_mut().enumerate().take(lanes) {
        *seed = match vectors.get(k) {
            Some(vector) => vector,
            None => &memory[(k - vectors.len()) * length..][..length],
        };
    }
    staged
}

impl<S: Scalar> CompiledState<S> {
    /// The outputs of the last run.
    pub(super) fn outputs(&self) -> &[S] {
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

    /// Sends seeds through the derivative at `x`.
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

    /// Fills the matrix of derivatives at `x` by a program of its own if that takes less, else by whichever direction takes fewer
    /// seeds. Leaves the outputs in `y`.
    pub(super) fn matrix<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        if self.asked.is_nothing() {
            self.asked = Asked::jacobian(backend.limits());
        }
        let with_value = y.is_some();
        self.with_recording(backend, f, x, |held, buffers| {
            let (inputs, outputs) = (held.recording.inputs, held.recording.outputs);
            if held.recording.has_entries() {
                rows.set_rows(outputs).map_err(Error::from)?;
                buffers.entries(held, x, rows.data(), with_value)
            } else if inputs < outputs {
                buffers.products(held, x, Direction::Forward, &Seeds::all(inputs), rows)
            } else {
                buffers.products(held, x, Direction::Backward, &Seeds::all(outputs), rows)
            }
        })?;
        self.hand_out(y);
        Ok(())
    }

    /// Fills entries of the Jacobian, unless products take less.
    pub(super) fn jacobian_entries<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        entries: Entries<'_, S>,
        y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        if self.asked.is_nothing() {
            self.asked = Asked::of(Order::First, &entries, backend.limits());
        }
        let (with_value, is_dense) = (y.is_some(), entries.pattern.is_none());
        let mut values = entries.values;
        let run = |held: &mut Held<S>, buffers: &mut Buffers<S>| {
            values.set_rows(if is_dense { held.recording.outputs } else { 1 }).map_err(Error::from)?;
            buffers.entries(held, x, values.data(), with_value)
        };
        let served = self.with_entries(backend, f, x, run)?;
        if served {
            self.hand_out(y);
        }
        Ok(served)
    }

    /// Fills entries of the Hessian, unless products take less.
    pub(super) fn hessian_entries<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        entries: Entries<'_, S>,
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        if self.asked.is_nothing() {
            self.asked = Asked::of(Order::Second, &entries, backend.limits());
        }
        let is_dense = entries.pattern.is_none();
        let mut values = entries.values;
        let (wants_value, wants_gradient) = (value.is_some(), gradient.is_some());
        let served = self.with_entries(backend, f, x, |held, buffers| {
            values.set_rows(if is_dense { held.recording.inputs } else { 1 }).map_err(Error::from)?;
            buffers.entries(held, x, values.data(), wants_value && !wants_gradient)?;
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

    /// Runs `go` on a recording that holds at `x` and has a program of the entries asked for; `false` if some recording has none.
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
            y.clear();
            y.extend_from_slice(&self.buffers.y);
        }
    }

    /// Sends seeds through the derivative at the last point.
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

    /// Sends tangents through the derivative of the gradient at the last point, and hands out the gradient.
    pub(super) fn held_hessian_products(
        &mut self,
        seeds: &Seeds<'_, S>,
        gradient: Option<&mut Vec<S>>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        let held = self.recordings.get_mut(self.current).ok_or(ErrorKind::ForeignNumber)?;
        if seeds.count() > 0 || gradient.is_some() {
            self.buffers.hessian_products(held, seeds, rows).map_err(final_error)?;
        }
        if let Some(gradient) = gradient {
            gradient.clone_from(&self.buffers.gradient);
        }
        Ok(())
    }

    /// Runs `go` on a recording that holds at `x`: the last one, another one, or a new one.
    fn with_recording<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        mut go: impl FnMut(&mut Held<S>, &mut Buffers<S>) -> Result<(), Failure>,
    ) -> Result<(), Error> {
        self.plain.clear();
        f.parameters(&mut self.plain);
        self.lengths.clear();
        f.lengths(&mut self.lengths);
        let parameter = |(i, v): (usize, &f64)| S::parameter(i, S::Base::from_f64(*v));
        self.buffers.parameters.clear();
        self.buffers.parameters.extend(self.plain.iter().enumerate().map(parameter));

        if !f.is_pure() {
            self.select(backend, f, x)?;
            return go(&mut self.recordings[self.current], &mut self.buffers).map_err(final_error);
        }
        let known = self.recordings.len();
        for k in 0..known {
            let index = if self.current + k < known { self.current + k } else { self.current + k - known };
            let held = &mut self.recordings[index];
            if !held.recording.fits(x.len(), self.plain.len(), &self.lengths) {
                continue;
            }
            match go(held, &mut self.buffers) {
                Ok(()) => {
                    self.current = index;
                    return Ok(());
                }
                Err(Failure::Invalid(guard @ RunError::Guard(_))) if backend.refuses_other_branches() => {
                    return Err(guard.into());
                }
                Err(Failure::Invalid(RunError::Guard(_))) => {}
                Err(failure) => return Err(final_error(failure)),
            }
        }
        self.record(backend, f, x)?;
        match go(&mut self.recordings[self.current], &mut self.buffers) {
            Err(Failure::Invalid(RunError::Guard(_))) => {
                let recording = Recording::once(self.fresh.graph(), &self.lengths, &self.asked)?;
                self.recordings[self.current] = Held::new(Arc::new(recording));
                go(&mut self.recordings[self.current], &mut self.buffers).map_err(final_error)
            }
            done => done.map_err(final_error),
        }
    }

    /// Records the function at `x` and makes that the current recording. Out of line: what it needs of the stack is more than calls
    /// that find their recording should touch.
    #[cold]
    #[inline(never)]
    fn record<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        let graph = self.fresh.record(backend.limits(), f, x, &self.plain)?;
        let recording = Recording::new(graph, &self.lengths, &self.asked)?;
        self.keep(backend, recording);
        Ok(())
    }

    /// Makes current a recording for a function whose constants may have changed: one that does what a new one does, which it
    /// is compared with.
    #[inline(never)]
    fn select<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        let graph = self.fresh.record(backend.limits(), f, x, &self.plain)?;
        let known = self.recordings.len();
        let found = (0..known)
            .map(|k| (self.current + k) % known)
            .find(|index| self.recordings[*index].recording.compare(graph, &mut self.more));
        match found {
            Some(index) => {
                self.current = index;
                if !self.more.is_empty() {
                    let recording = self.recordings[index].recording.widened(&self.more, &self.asked)?;
                    self.recordings[index] = Held::new(Arc::new(recording));
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
                let recording = Recording::comparable(graph, &self.lengths, &self.asked)?;
                self.fresh.make_room();
                self.keep(backend, recording);
            }
        }
        self.plain.clear();
        self.recordings[self.current].recording.constants(self.fresh.graph(), &mut self.plain);
        let constant = |v: &f64| S::constant(S::Base::from_f64(*v));
        self.buffers.parameters.extend(self.plain.iter().map(constant));
        Ok(())
    }

    /// Makes a recording the current one, in place of one that was for a single call, or of the oldest one if there are many.
    fn keep(&mut self, backend: &AutoCompiledReverseDiff, recording: Recording) {
        let held = Held::new(Arc::new(recording));
        let spent = self.recordings.iter().position(|held| held.recording.once);
        self.current = match spent {
            Some(spent) => spent,
            None if self.recordings.len() < backend.most_recordings() => self.recordings.len(),
            None => (self.current + 1) % self.recordings.len(),
        };
        if self.current == self.recordings.len() {
            self.recordings.push(held);
        } else {
            self.recordings[self.current] = held;
        }
    }
}

/// A failure that nothing can be done about.
fn final_error(failure: Failure) -> Error {
    match failure {
        Failure::Invalid(error) => error.into(),
        Failure::Error(error) => error,
    }
}
