//! Records a flat function.
//!
//! Called by the compiled backend and by the detectors that read patterns off recordings.

use compiled_trace::{Graph, Limits, Recorded, Recorder};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::{EngineScalar, OutputShape, Recordable};
use differentiation_interface_core::scalar::{Base, Scalar};

/// The memory of recordings, and the last one.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreshRecording<B: Base> {
    recorder: Recorder<B>,
    runs: u64,
    point: Vec<B>,
    parameters: Vec<B>,
    shape: Option<OutputShape>,
}

impl<B: Base> FreshRecording<B> {
    /// Records the function at `x`, whose derivatives are dropped.
    pub(crate) fn record<S: Scalar<Base = B>, F: Flat<Recorded<B>>>(
        &mut self,
        limits: Limits,
        f: &mut F,
        x: &[S],
        parameters: &[f64],
    ) -> Result<&Graph, Error> {
        self.runs += 1;
        self.set_point(x, parameters);
        let recorded = self.recorder.record(&self.point, &self.parameters, limits, |x, _, y| f.call(x, y));
        self.shape = f.remember_shape();
        if f.recordable().has_failed() {
            // The caller reports the failure.
            return Err(ErrorKind::ForeignNumber.into());
        }
        recorded
    }

    /// The same for a program. A loop is folded if there is one and `folds` asks for it.
    pub(super) fn record_for_program<S: Scalar<Base = B>, F: Flat<Recorded<B>>>(
        &mut self,
        limits: Limits,
        f: &mut F,
        x: &[S],
        parameters: &[f64],
        folds: bool,
    ) -> Result<&mut Recorder<B>, Error> {
        self.runs += 1;
        // A plain point is not copied: a long one is larger than the folded recording.
        let slices = [x];
        let plain = match S::as_plain(&slices) {
            Some([point]) => Some(*point),
            _ => None,
        };
        self.set_point::<S>(if plain.is_some() { &[] } else { x }, parameters);
        let (point, parameters) = (plain.unwrap_or(&self.point), &self.parameters[..]);
        let recorded = match folds {
            true => self.recorder.record_folding(point, parameters, limits, |x, _, y| f.call(x, y)),
            false => self.recorder.record(point, parameters, limits, |x, _, y| f.call(x, y)).map(|_| ()),
        };
        self.shape = f.remember_shape();
        if f.recordable().has_failed() {
            // The caller reports the failure.
            return Err(ErrorKind::ForeignNumber.into());
        }
        recorded?;
        Ok(&mut self.recorder)
    }

    fn set_point<S: Scalar<Base = B>>(&mut self, x: &[S], parameters: &[f64]) {
        self.point.clear();
        self.point.extend(x.iter().map(S::peek));
        self.parameters.clear();
        self.parameters.extend(parameters.iter().map(|v| B::from_f64(*v)));
    }

    /// How often the function has run here.
    pub(super) fn runs(&self) -> u64 {
        self.runs
    }

    /// The shape of the outputs of the last run, if they tell one.
    pub(super) fn shape(&self) -> Option<OutputShape> {
        self.shape
    }

    /// The last recording, with all operations.
    pub(crate) fn graph(&mut self) -> &Graph {
        self.recorder.unfold()
    }

    /// Reserves memory for recordings of the size of the last one with all constants distinct.
    pub(super) fn make_room(&mut self) {
        let most = self.recorder.unfold().places_of_constants().len();
        self.recorder.reserve_constants(most);
    }
}
