//! What the calls of a preparation share: recordings, the point, and buffers.

use super::AutoCompiledReverseDiff;
use super::recording::{Failure, Held, Kind, LANES, Recording};
use compiled_trace::{Graph, Place, Recorded, Recorder, RunError};
use differentiation_interface_core::backend::{Rows, Seeds};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::{Base, Scalar};
use std::sync::Arc;

/// Recordings of a function with everything its calls reuse.
#[derive(Clone, Debug)]
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
}

/// The memory of new recordings.
#[derive(Clone, Debug)]
struct Fresh<B: Base> {
    recorder: Recorder<B>,
    point: Vec<B>,
    parameters: Vec<B>,
    /// Where it differs from a recording that is there.
    more: Vec<Place>,
}

/// The arguments and results of programs.
#[derive(Clone, Debug)]
struct Buffers<S> {
    x: Vec<S>,
    parameters: Vec<S>,
    y: Vec<S>,
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
    fn value(&mut self, held: &mut Held<S>) -> Result<(), Failure> {
        self.y.resize(held.recording.outputs, S::default());
        held.run(Kind::Value, &[&self.x, &self.parameters], &mut [&mut self.y])
    }

    /// Runs programs until all seeds have gone through; leaves the outputs too.
    fn products(
        &mut self,
        held: &mut Held<S>,
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
            return self.value(held);
        }
        self.y.resize(outputs, S::default());
        let mut first = 0;
        while first < total {
            let (kind, lanes) = match direction {
                Direction::Forward => Kind::pushforward_of(total - first),
                Direction::Backward => Kind::pullback_of(total - first),
            };
            let count = lanes.min(total - first);
            self.seeds.clear();
            let vectors: &[&[S]] =
                if let Seeds::Vectors(vectors) = seeds { &vectors[first..first + count] } else { &[] };
            for k in vectors.len()..lanes {
                let entry = |i| if k < count { seeds.entry(first + k, i) } else { S::default() };
                self.seeds.extend((0..length).map(entry));
            }
            let mut arguments: [&[S]; 2 + LANES] = [&[]; 2 + LANES];
            (arguments[0], arguments[1]) = (&self.x, &self.parameters);
            for (k, argument) in arguments[2..2 + lanes].iter_mut().enumerate() {
                *argument = match vectors.get(k) {
                    Some(vector) => vector,
                    None => &self.seeds[(k - vectors.len()) * length..][..length],
                };
            }
            // The product of a single cotangent goes where it belongs, without a copy.
            let in_place = direction == Direction::Backward && lanes == 1;
            self.products.resize(if in_place { 0 } else { lanes * width }, S::default());
            let mut results: [&mut [S]; 1 + LANES] = Default::default();
            results[0] = &mut self.y;
            if in_place {
                results[1] = rows.part(first, 0, inputs);
            } else {
                let mut rest = &mut self.products[..];
                for result in &mut results[1..1 + lanes] {
                    (*result, rest) = rest.split_at_mut(width);
                }
            }
            held.run(kind, &arguments[..2 + lanes], &mut results[..1 + lanes])?;
            if !in_place {
                for k in 0..count {
                    let product = &self.products[k * width..][..width];
                    match direction {
                        Direction::Backward => rows.part(first + k, 0, inputs).copy_from_slice(product),
                        Direction::Forward => {
                            for (i, entry) in product.iter().enumerate() {
                                rows.part(i, first + k, 1)[0] = *entry;
                            }
                        }
                    }
                }
            }
            first += count;
        }
        Ok(())
    }
}

impl<S: Scalar> CompiledState<S> {
    pub(super) fn new() -> Self {
        let buffers =
            Buffers { x: Vec::new(), parameters: Vec::new(), y: Vec::new(), seeds: Vec::new(), products: Vec::new() };
        let fresh =
            Fresh { recorder: Recorder::default(), point: Vec::new(), parameters: Vec::new(), more: Vec::new() };
        CompiledState { recordings: Vec::new(), current: 0, buffers, plain: Vec::new(), lengths: Vec::new(), fresh }
    }

    /// Gives all recordings up.
    pub(super) fn forget(&mut self) {
        self.recordings.clear();
        self.current = 0;
    }

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
        self.with_recording(backend, f, x, |held, buffers| buffers.value(held))
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
        self.with_recording(backend, f, x, |held, buffers| buffers.products(held, direction, seeds, rows))
    }

    /// Fills the matrix of derivatives at `x` by whichever direction takes fewer seeds.
    pub(super) fn matrix<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        self.with_recording(backend, f, x, |held, buffers| {
            let (inputs, outputs) = (held.recording.inputs, held.recording.outputs);
            if inputs < outputs {
                buffers.products(held, Direction::Forward, &Seeds::all(inputs), rows)
            } else {
                buffers.products(held, Direction::Backward, &Seeds::all(outputs), rows)
            }
        })
    }

    /// Sends seeds through the derivative at the last point.
    pub(super) fn held_products(
        &mut self,
        direction: Direction,
        seeds: &Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        let held = self.recordings.get_mut(self.current).ok_or(ErrorKind::ForeignNumber)?;
        self.buffers.products(held, direction, seeds, rows).map_err(final_error)
    }

    /// Runs `go` on a recording that holds at `x`: the last one, another one, or a new one.
    fn with_recording<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        mut go: impl FnMut(&mut Held<S>, &mut Buffers<S>) -> Result<(), Failure>,
    ) -> Result<(), Error> {
        self.buffers.x.clear();
        self.buffers.x.extend_from_slice(x);
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
            let index = (self.current + k) % known;
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
        let graph = self.fresh.record(backend, f, x, &self.plain)?;
        let recording = Recording::new(graph, &self.lengths)?;
        self.keep(backend, recording);
        go(&mut self.recordings[self.current], &mut self.buffers).map_err(final_error)
    }

    /// Makes current a recording for a function whose constants may have changed: one that does what a new one does, which it
    /// is compared with.
    fn select<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        self.fresh.record(backend, f, x, &self.plain)?;
        let Fresh { recorder, more, .. } = &mut self.fresh;
        let graph = recorder.graph();
        let known = self.recordings.len();
        let found = (0..known)
            .map(|k| (self.current + k) % known)
            .find(|index| self.recordings[*index].recording.compare(graph, more));
        match found {
            Some(index) => {
                self.current = index;
                if !more.is_empty() {
                    let recording = self.recordings[index].recording.widened(more)?;
                    self.recordings[index] = Held::new(Arc::new(recording));
                }
            }
            None => {
                let recording = Recording::comparable(graph, &self.lengths)?;
                // Constants that are equal now may differ in the next call.
                let most = graph.places_of_constants().len();
                recorder.reserve_constants(most);
                self.keep(backend, recording);
            }
        }
        self.plain.clear();
        self.recordings[self.current].recording.constants(self.fresh.recorder.graph(), &mut self.plain);
        let constant = |v: &f64| S::constant(S::Base::from_f64(*v));
        self.buffers.parameters.extend(self.plain.iter().map(constant));
        Ok(())
    }

    /// Makes a recording the current one, in place of the oldest one if there are many.
    fn keep(&mut self, backend: &AutoCompiledReverseDiff, recording: Recording) {
        let held = Held::new(Arc::new(recording));
        if self.recordings.len() < backend.most_recordings() {
            self.current = self.recordings.len();
            self.recordings.push(held);
        } else {
            self.current = (self.current + 1) % self.recordings.len();
            self.recordings[self.current] = held;
        }
    }
}

impl<B: Base> Fresh<B> {
    /// Records the function at `x`.
    fn record<S: Scalar<Base = B>, F: Flat<Recorded<B>>>(
        &mut self,
        backend: &AutoCompiledReverseDiff,
        f: &mut F,
        x: &[S],
        parameters: &[f64],
    ) -> Result<&Graph, Error> {
        self.point.clear();
        self.point.extend(x.iter().map(S::peek));
        self.parameters.clear();
        self.parameters.extend(parameters.iter().map(|v| B::from_f64(*v)));
        let recorded = self.recorder.record(&self.point, &self.parameters, backend.limits(), |x, _, y| f.call(x, y));
        if f.has_failed() {
            // The caller reports the failure itself.
            return Err(ErrorKind::ForeignNumber.into());
        }
        recorded
    }
}

/// A failure that nothing can be done about.
fn final_error(failure: Failure) -> Error {
    match failure {
        Failure::Invalid(error) => error.into(),
        Failure::Error(error) => error,
    }
}
