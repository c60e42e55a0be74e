//! The formulas of a function at the points of its calls: those of an earlier recording, or of a new one.
//!
//! Called by the routes; calls the recorder and `held`.

use super::backend::AutoSymbolic;
use super::formulas::{Formulas, Order, limits, recording_error};
use super::held::{Failure, Held};
use compiled_trace::{GuardFailed, Recorded, Recorder, RunError};
use differentiation_interface_core::backend::{EntryRequest, Rows, Seeds};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::{EngineScalar, Recordable, Words};
use differentiation_interface_core::scalar::{Base, Scalar};

/// Formulas of a function with all memory that its calls reuse.
#[derive(Clone, Debug, Default)]
pub struct SymbolicState<S: Scalar> {
    held: Vec<Held<S>>,
    /// The formulas that were valid at the last point.
    current: usize,
    recorder: Recorder<S::Base>,
    /// The point and the parameters as plain numbers.
    point: Vec<S::Base>,
    plain_parameters: Vec<S::Base>,
    plain: Vec<f64>,
    parameters: Vec<S>,
    /// Lengths of the contexts.
    lengths: Vec<u64>,
}

impl<S: Scalar> SymbolicState<S> {
    /// Computes the outputs and the derivatives of an order at `x`.
    pub(super) fn run<F: Flat<Recorded<S::Base>>>(
        &mut self,
        backend: &AutoSymbolic,
        f: &mut F,
        x: &[S],
        order: Order,
    ) -> Result<(), Error> {
        self.read_contexts(f.recordable());
        if !f.recordable().is_pure() {
            self.select(backend, f, x)?;
            return self.held[self.current].run(order, x, &self.parameters).map_err(final_error);
        }
        let known = self.held.len();
        for k in 0..known {
            let index = (self.current + k) % known;
            let held = &mut self.held[index];
            if !held.formulas.fits(x.len(), self.parameters.len(), &self.lengths) {
                continue;
            }
            match held.run(order, x, &self.parameters) {
                Ok(()) => {
                    if let Some(shape) = held.shape {
                        f.recordable().show_shape(shape);
                    }
                    self.current = index;
                    return Ok(());
                }
                Err(Failure::Invalid(RunError::Guard(_))) if !backend.refuses_other_branches() => {}
                Err(failure) => return Err(final_error(failure)),
            }
        }
        self.record(backend, f, x)?;
        let formulas = Formulas::new(self.recorder.graph(), backend, &self.lengths);
        self.keep(backend, formulas);
        self.held[self.current].shape = f.remember_shape();
        match self.held[self.current].run(order, x, &self.parameters) {
            Err(Failure::Invalid(RunError::Guard(_))) => {
                // Sums in another order than the function's can decide a comparison otherwise.
                let formulas = Formulas::once(self.recorder.graph(), backend, &self.lengths);
                self.held[self.current] = Held::new(formulas);
                self.held[self.current].run(order, x, &self.parameters).map_err(final_error)
            }
            done => done.map_err(final_error),
        }
    }

    fn read_contexts(&mut self, f: Option<&dyn Recordable>) {
        self.plain.clear();
        f.parameters(&mut self.plain);
        self.lengths.clear();
        f.lengths(&mut Words::Keep(&mut self.lengths));
        self.parameters.clear();
        let parameter = |(i, v): (usize, &f64)| S::parameter(i, S::Base::from_f64(*v));
        self.parameters.extend(self.plain.iter().enumerate().map(parameter));
    }

    /// Records the function at `x`, whose derivatives are dropped.
    fn record<F: Flat<Recorded<S::Base>>>(&mut self, backend: &AutoSymbolic, f: &mut F, x: &[S]) -> Result<(), Error> {
        self.point.clear();
        self.point.extend(x.iter().map(S::peek));
        self.plain_parameters.clear();
        self.plain_parameters.extend(self.plain.iter().map(|v| S::Base::from_f64(*v)));
        let recorded =
            self.recorder.record(&self.point, &self.plain_parameters, limits(backend), |x, _, y| f.call(x, y));
        if f.recordable().has_failed() {
            // The caller reports the failure.
            return Err(ErrorKind::ForeignNumber.into());
        }
        recorded.map(|_| ()).map_err(recording_error)
    }

    /// Records a function whose constants may have changed, and selects the formulas of the same operations.
    fn select<F: Flat<Recorded<S::Base>>>(&mut self, backend: &AutoSymbolic, f: &mut F, x: &[S]) -> Result<(), Error> {
        self.record(backend, f, x)?;
        let graph = self.recorder.graph();
        let (known, mut changed) = (self.held.len(), false);
        let found = (0..known)
            .map(|k| (self.current + k) % known)
            .find(|index| self.held[*index].formulas.compare(graph, &mut changed));
        match found {
            Some(index) => {
                self.current = index;
                if changed {
                    self.held[index] = Held::new(self.held[index].formulas.widened()?);
                }
            }
            None => {
                let fits = |held: &&Held<S>| held.formulas.fits(x.len(), self.plain.len(), &self.lengths);
                if backend.refuses_other_branches()
                    && let Some(other) = self.held.iter().find(fits)
                {
                    let place = other.formulas.parts_from(graph);
                    return Err(RunError::Guard(GuardFailed { place }).into());
                }
                let formulas = Formulas::comparable(graph, backend, &self.lengths);
                let constants = graph.places_of_constants().len();
                self.recorder.reserve_constants(constants);
                self.keep(backend, formulas);
            }
        }
        self.plain.clear();
        self.held[self.current].formulas.constants(self.recorder.graph(), &mut self.plain);
        self.parameters.extend(self.plain.iter().map(|v| S::constant(S::Base::from_f64(*v))));
        Ok(())
    }

    /// Makes formulas the current ones. They replace formulas for a single call, or the oldest ones if there are too many.
    fn keep(&mut self, backend: &AutoSymbolic, formulas: Formulas) {
        let held = Held::new(formulas);
        let spent = self.held.iter().position(|held| held.formulas.once);
        self.current = match spent {
            Some(spent) => spent,
            None if self.held.len() < backend.most_recordings() => self.held.len(),
            None => (self.current + 1) % self.held.len(),
        };
        if self.current == self.held.len() {
            self.held.push(held);
        } else {
            self.held[self.current] = held;
        }
    }

    fn last(&self) -> Result<&Held<S>, Error> {
        Ok(self.held.get(self.current).ok_or(ErrorKind::ForeignNumber)?)
    }

    /// The outputs at the last point.
    pub(super) fn outputs(&self, y: &mut Vec<S>) -> Result<(), Error> {
        y.clear();
        y.extend_from_slice(self.last()?.outputs());
        Ok(())
    }

    /// Fills the Jacobian at the last point.
    pub(super) fn jacobian(&self, rows: &mut Rows<'_, S>) -> Result<(), Error> {
        let held = self.last()?;
        Ok(held.formulas.solved(Order::First)?.jacobian.scatter(held.jacobian(Order::First)?, rows)?)
    }

    /// The Jacobian at the last point times each seed.
    pub(super) fn pushforward(&self, seeds: &Seeds<'_, S>, rows: &mut Rows<'_, S>) -> Result<(), Error> {
        let held = self.last()?;
        Ok(held.formulas.solved(Order::First)?.jacobian.times(held.jacobian(Order::First)?, seeds, rows)?)
    }

    /// Each seed times the Jacobian at the last point.
    pub(super) fn pullback(&self, seeds: &Seeds<'_, S>, rows: &mut Rows<'_, S>) -> Result<(), Error> {
        let held = self.last()?;
        let (inputs, entries) = (held.formulas.inputs, held.jacobian(Order::First)?);
        Ok(held.formulas.solved(Order::First)?.jacobian.transposed_times(entries, inputs, seeds, rows)?)
    }

    /// The value of the only output at the last point.
    pub(super) fn only_output(&self) -> Result<S, Error> {
        match self.last()?.outputs() {
            [value] => Ok(*value),
            outputs => Err(ErrorKind::OutputLength { expected: 1, found: outputs.len() }.into()),
        }
    }

    /// The gradient at the last point, of second order.
    pub(super) fn gradient(&self, gradient: &mut Vec<S>) -> Result<(), Error> {
        let held = self.last()?;
        let solved = held.formulas.solved(Order::Second)?;
        let inputs = held.formulas.inputs;
        gradient.resize(inputs, S::default());
        let mut rows = Rows::fixed(gradient, inputs);
        Ok(solved.jacobian.scatter(held.jacobian(Order::Second)?, &mut rows)?)
    }

    /// The Hessian at the last point times each seed, one row for each.
    pub(super) fn hessian_products(&self, seeds: &Seeds<'_, S>, rows: &mut Rows<'_, S>) -> Result<(), Error> {
        let held = self.last()?;
        let solved = held.formulas.solved(Order::Second)?;
        Ok(solved.hessian.transposed_times(held.hessian()?, held.formulas.inputs, seeds, rows)?)
    }

    /// Fills requested entries of the Jacobian, or of the Hessian, at the last point.
    pub(super) fn entries(&mut self, order: Order, mut request: EntryRequest<'_, S>) -> Result<(), Error> {
        let held = self.held.get_mut(self.current).ok_or(ErrorKind::ForeignNumber)?;
        let solved = held.formulas.solved(order)?;
        let matrix = if order == Order::First { &solved.jacobian } else { &solved.hessian };
        let Some((starts, columns)) = request.pattern else {
            let entries = if order == Order::First { held.jacobian(order)? } else { held.hessian()? };
            return Ok(matrix.scatter(entries, &mut request.values)?);
        };
        if held.requested.as_ref().is_none_or(|places| places.len() != columns.len()) {
            held.requested = Some(matrix.places_of(starts, columns).into());
        }
        let entries = if order == Order::First { held.jacobian(order)? } else { held.hessian()? };
        request.values.set_rows(1)?;
        let places = held.requested.as_deref().unwrap_or_default();
        for (value, place) in request.values.data().iter_mut().zip(places) {
            *value = entries.get(*place as usize).copied().unwrap_or_default();
        }
        Ok(())
    }
}

/// The error of a failure that no other recording can avoid.
#[cold]
fn final_error(failure: Failure) -> Error {
    match failure {
        Failure::Invalid(error) => error.into(),
        Failure::Error(error) => error,
    }
}
