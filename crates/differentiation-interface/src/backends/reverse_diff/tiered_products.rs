//! The routes of pullbacks and pushforwards: a tape at first, and programs where they pay.
//!
//! Called by operators and by sparse Jacobians; asks `tiers` what each call does.

use super::ReverseState;
use super::backend::AutoReverseDiff;
use super::recorded::Writing;
use super::report::Report;
use super::schedule::Schedule;
use super::tiered::{Tiered, fill_requested};
use super::tiers::{Step, Tiers};
use super::var::Var;
use crate::backends::compiled_reverse_diff::{ByKept, Order, RequestedEntries, Task};
use crate::backends::doubles::{doubles, doubles_mut, is_double};
use compiled_trace::Limits;
use differentiation_interface_core::backend::{
    EntryRequest, Lanes, PullbackPrimitive, PullbackRoute, PushforwardRoute, Rows, Seeds, ViaPullback,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::Reports;
use differentiation_interface_core::scalar::{Base, Scalar};

/// The seeds as doubles.
pub(super) fn seeds_of_doubles<'a, S: Scalar>(seeds: &Seeds<'a, S>) -> Option<Seeds<'a, f64>> {
    Some(match *seeds {
        Seeds::Basis { first, count } => Seeds::Basis { first, count },
        Seeds::Vectors(vectors) => Seeds::Vectors(doubles(vectors)?),
        Seeds::Colors { colors, first, count } => Seeds::Colors { colors, first, count },
    })
}

/// Writes numbers of a program.
fn write<S: Scalar>(y: &mut Vec<S>, numbers: &[f64]) {
    y.clear();
    y.extend(numbers.iter().map(|&v| S::constant(S::Base::from_f64(v))));
}

/// A tape, and the programs made of recordings.
#[derive(Clone, Debug)]
pub struct TieredPullbackState<S: Scalar> {
    tape: ReverseState<S>,
    tiers: Tiers,
    /// Whether the last call was computed by a program.
    by_program: bool,
    /// What the present call does, if the request for entries has decided it.
    decided: Option<Step>,
}

impl<S: Scalar> TieredPullbackState<S> {
    /// Computes the outputs by a program. Returns whether there is one that is valid.
    fn value<F: Flat<Var<S>>>(&mut self, schedule: Schedule, f: &mut F, x: &[S], y: &mut Vec<S>) -> bool {
        let slices = [x];
        let Some(&[point]) = doubles(&slices) else { return false };
        let decided = self.decided.take();
        if !self.tiers.serve(schedule, decided, f, point, |programs, f| programs.value_by_kept(f, point)) {
            return false;
        }
        let Some(programs) = self.tiers.programs() else { return false };
        write(y, programs.outputs());
        true
    }

    /// Propagates cotangents by the program that computed the outputs. Returns whether it is valid.
    fn products(&mut self, seeds: &Seeds<'_, S>, rows: &mut Rows<'_, S>) -> Option<()> {
        let seeds = seeds_of_doubles(seeds)?;
        self.tiers.set_task(Task::Pullbacks(seeds.count()));
        let programs = self.tiers.programs()?;
        let columns = programs.point().len();
        rows.set_rows(seeds.count()).ok()?;
        let mut slices = [rows.data()];
        let [data] = doubles_mut(&mut slices)? else { return None };
        programs.pullbacks_of_kept(&seeds, &mut Rows::fixed(data, columns)).ok()
    }

    /// Records by the tape.
    fn record<L: Lanes, F: Flat<Var<S>>>(
        &mut self,
        backend: &AutoReverseDiff,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        let _writing = (const { S::DEPTH == 0 }).then(|| Writing::begin(false));
        PullbackPrimitive::record::<S, L, F>(backend, &mut self.tape, f, x, y)
    }
}

impl PullbackRoute<AutoReverseDiff> for Tiered {
    const NAME: &'static str = "native, then replay";
    type State<S: Scalar, L: Lanes> = TieredPullbackState<S>;

    fn state<S: Scalar, L: Lanes>(backend: &AutoReverseDiff, inputs: usize) -> Result<TieredPullbackState<S>, Error> {
        let tape = backend.pullback_state::<S, L>(inputs)?;
        Ok(TieredPullbackState { tape, tiers: Tiers::default(), by_program: false, decided: None })
    }
    #[inline]
    fn record<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        backend: &AutoReverseDiff,
        state: &mut TieredPullbackState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.by_program = const { is_double::<S>() } && state.tiers.is_on() && state.value(backend.schedule, f, x, y);
        if state.by_program { Ok(()) } else { state.record::<L, F>(backend, f, x, y) }
    }
    #[inline]
    fn sweep<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        backend: &AutoReverseDiff,
        state: &mut TieredPullbackState<S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        if state.by_program {
            if state.products(&seeds, &mut rows).is_some() {
                return Ok(());
            }
            // Rounding may decide a comparison in the derivative that is not decided so in the value; an error is found again.
            let mut x = Vec::new();
            write(&mut x, state.tiers.programs().map_or(&[], |programs| programs.point()));
            state.by_program = false;
            state.record::<L, F>(backend, f, &x, &mut Vec::new())?;
        } else {
            state.tiers.set_task(Task::Pullbacks(seeds.count()));
        }
        PullbackPrimitive::sweep::<S, L, F>(backend, &mut state.tape, f, seeds, rows)
    }
    fn seeds_per_pass<L: Lanes>(backend: &AutoReverseDiff, seeds: usize) -> usize {
        PullbackPrimitive::seeds_per_pass::<L>(backend, seeds)
    }
    #[inline]
    fn at_once<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        _backend: &AutoReverseDiff,
        state: &mut TieredPullbackState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: &mut Vec<S>,
        mut rows: Rows<'_, S>,
    ) -> bool {
        if !(const { is_double::<S>() }) || !state.tiers.is_on() {
            return false;
        }
        let slices = [x];
        let (Some(&[point]), Some(Seeds::Vectors(&[cotangent]))) = (doubles(&slices), seeds_of_doubles(&seeds)) else {
            return false;
        };
        let Some(programs) = state.tiers.programs() else { return false };
        y.resize(cotangent.len(), S::default());
        if rows.set_rows(1).is_err() {
            return false;
        }
        let mut slices = [&mut y[..], rows.data()];
        let Some([y, product]) = doubles_mut(&mut slices) else { return false };
        let is_done = programs.fill_pullback(f.recordable(), point, cotangent, y, product);
        if is_done {
            state.tiers.count_by_program();
        }
        is_done
    }
    fn adapt<S: Scalar, L: Lanes>(backend: &AutoReverseDiff, state: &mut TieredPullbackState<S>, adapts: bool) {
        if const { is_double::<S>() } {
            (state.by_program, state.decided) = (false, None);
            state.tiers.adapt(backend.schedule, adapts);
        }
    }
    fn entries<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        backend: &AutoReverseDiff,
        state: &mut TieredPullbackState<S>,
        f: &mut F,
        x: &[S],
        mut entries: EntryRequest<'_, S>,
        y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        let slices = [x];
        if !(const { is_double::<S>() }) || !state.tiers.is_on() {
            return Ok(false);
        }
        let Some(&[point]) = doubles(&slices) else { return Ok(false) };
        let outputs = state.tiers.outputs().unwrap_or(0);
        if y.is_none() && fill_requested(&mut state.tiers, f.recordable(), point, &mut entries, outputs) {
            return Ok(true);
        }
        if state.tiers.wants_request(backend.schedule) {
            let limits = Limits { bytes: backend.schedule.bytes };
            state.tiers.request(RequestedEntries::of(Order::First, &entries, limits));
        }
        let (with_value, is_dense) = (y.is_some(), entries.pattern.is_none());
        let mut values = entries.values;
        let done = state.tiers.serve_entries(f.recordable(), &mut |programs, f| {
            values.set_rows(if is_dense { programs.count_of_outputs().unwrap_or(0) } else { 1 })?;
            let (data, constants) = values.data_and_constants();
            let mut slices = [data];
            let Some([data]) = doubles_mut(&mut slices) else { return Ok(ByKept::OtherPath) };
            programs.entries_by_kept(f, point, (data, constants), with_value, false)
        });
        if let Some(Err(instead)) = done {
            state.decided = Some(instead);
        }
        if !matches!(done, Some(Ok(()))) {
            return Ok(false);
        }
        if let (Some(y), Some(programs)) = (y, state.tiers.programs()) {
            write(y, programs.outputs());
        }
        Ok(true)
    }
}

impl<S: Scalar> Reports for TieredPullbackState<S> {
    type Report = Report;
    fn report(&self) -> Report {
        self.tiers.report().over::<S>()
    }
}

/// The state of the route by the tape.
type TapeState<S, L> = <ViaPullback as PushforwardRoute<AutoReverseDiff>>::State<S, L>;

/// A tape, and the programs made of recordings.
#[derive(Clone)]
pub struct TieredPushforwardState<S: Scalar, L: Lanes> {
    tape: TapeState<S, L>,
    tiers: Tiers,
}

impl<S: Scalar, L: Lanes> TieredPushforwardState<S, L> {
    /// Computes products by a program, and the outputs. Returns whether there is one that is valid.
    fn products<F: Flat<Var<S>>>(
        &mut self,
        schedule: Schedule,
        f: &mut F,
        x: &[S],
        seeds: &Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: &mut Rows<'_, S>,
    ) -> Option<()> {
        let slices = [x];
        let (&[point], seeds) = (doubles(&slices)?, seeds_of_doubles(seeds)?) else { return None };
        if let (Seeds::Vectors([tangent]), Some(programs)) = (&seeds, self.tiers.programs())
            && let Some([data]) = doubles_mut(&mut [rows.data()])
            && programs.fill_pushforward(f.recordable(), point, tangent, data)
        {
            if let Some(y) = y {
                write(y, programs.outputs());
            }
            self.tiers.count_by_program();
            return Some(());
        }
        self.tiers.set_task(Task::Pushforwards(seeds.count()));
        let served = self.tiers.serve(schedule, None, f, point, |programs, f| {
            rows.set_rows(programs.count_of_outputs().unwrap_or(0))?;
            let mut slices = [rows.data()];
            let Some([data]) = doubles_mut(&mut slices) else { return Ok(ByKept::OtherPath) };
            programs.pushforwards_by_kept(f, point, &seeds, &mut Rows::fixed(data, seeds.count()))
        });
        if !served {
            return None;
        }
        if let Some(y) = y {
            write(y, self.tiers.programs()?.outputs());
        }
        Some(())
    }
}

impl PushforwardRoute<AutoReverseDiff> for Tiered {
    const NAME: &'static str = "via pullback, then replay";
    type State<S: Scalar, L: Lanes> = TieredPushforwardState<S, L>;

    fn state<S: Scalar, L: Lanes>(
        backend: &AutoReverseDiff,
        inputs: usize,
        seeds: usize,
    ) -> Result<TieredPushforwardState<S, L>, Error> {
        let tape = <ViaPullback as PushforwardRoute<AutoReverseDiff>>::state::<S, L>(backend, inputs, seeds)?;
        Ok(TieredPushforwardState { tape, tiers: Tiers::default() })
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        backend: &AutoReverseDiff,
        state: &mut TieredPushforwardState<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        let _writing = (const { S::DEPTH == 0 }).then(|| Writing::begin(false));
        <ViaPullback as PushforwardRoute<AutoReverseDiff>>::hold::<S, L, F>(backend, &mut state.tape, f, x, y)
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        backend: &AutoReverseDiff,
        state: &mut TieredPushforwardState<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        mut y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        if const { is_double::<S>() }
            && state.tiers.is_on()
            && state.products(backend.schedule, f, x, &seeds, y.as_deref_mut(), &mut rows).is_some()
        {
            return Ok(());
        }
        let _writing = (const { S::DEPTH == 0 }).then(|| Writing::begin(false));
        ViaPullback::pushforward::<S, L, F>(backend, &mut state.tape, f, x, seeds, y, rows)
    }
    fn held<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        backend: &AutoReverseDiff,
        state: &mut TieredPushforwardState<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        ViaPullback::held::<S, L, F>(backend, &mut state.tape, f, seeds, rows)
    }
    fn adapt<S: Scalar, L: Lanes>(backend: &AutoReverseDiff, state: &mut TieredPushforwardState<S, L>, adapts: bool) {
        if const { is_double::<S>() } {
            state.tiers.adapt(backend.schedule, adapts);
        }
    }
}

impl<S: Scalar, L: Lanes> Reports for TieredPushforwardState<S, L> {
    type Report = Report;
    fn report(&self) -> Report {
        self.tiers.report().over::<S>()
    }
}
