//! Products with a Hessian by one recording: the primitive of second order.
//!
//! Called by the route [`SecondAdjoint`](differentiation_interface_core::backend::SecondAdjoint); runs the user's function
//! on [`TwiceVar`] and sweeps over the tape of `twice_tape.rs`.

#[cfg(feature = "compiled")]
use super::recorded::Writing;
#[cfg(feature = "compiled")]
use super::report::Report;
use super::tape::{Recorder, Spare};
#[cfg(feature = "compiled")]
use super::tiered_twice::Chosen;
use super::twice_tape::{Sweep, TwiceCall, TwiceNode};
use super::twice_var::{TwiceVar, TwiceVarCore};
use super::{AutoReverseDiff, InLanes, fill_rows};
use crate::backends::doubles::compiled_once;
#[cfg(feature = "compiled")]
use crate::backends::doubles::is_double;
#[cfg(feature = "compiled")]
use differentiation_interface_core::backend::EntryRequest;
use differentiation_interface_core::backend::{LiftPair, Rows, SecondAdjointPrimitive, Seeds};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
#[cfg(feature = "compiled")]
use differentiation_interface_core::recordings::Reports;
use differentiation_interface_core::scalar::{Base, Num, Scalar};
use std::cell::Cell;

/// A tape of first and second derivatives, with the results of sweeps; all memory is reused.
#[derive(Clone, Debug)]
pub struct TwiceState<S: Scalar> {
    x: Vec<TwiceVar<S>>,
    y: Vec<TwiceVar<S>>,
    nodes: Vec<TwiceNode<S>>,
    calls: Vec<TwiceCall<S>>,
    spare: Spare<TwiceNode<S>>,
    /// The entry of the tape that the output depends on, and the output's two derivatives with respect to it.
    output: Option<(u32, [S; 2])>,
    tangents: Vec<S>,
    adjoints: Vec<S>,
    /// Whether the adjoints are those of the last recording.
    has_adjoints: bool,
    products: Vec<S>,
    /// What computes calls that repeat.
    #[cfg(feature = "compiled")]
    chosen: Chosen,
}

impl<S: Scalar> LiftPair<AutoReverseDiff, S, TwiceVar<S>> for AutoReverseDiff {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift_pair(value: S) -> TwiceVar<S> {
        Num(TwiceVarCore::inert(value))
    }
}

impl SecondAdjointPrimitive for AutoReverseDiff {
    type NumTwice<S: Scalar> = TwiceVar<S>;
    type StateTwice<S: Scalar> = TwiceState<S>;

    fn state_twice<S: Scalar>(&self, _inputs: usize) -> Result<TwiceState<S>, Error> {
        Ok(TwiceState {
            x: Vec::new(),
            y: Vec::new(),
            nodes: Vec::new(),
            calls: Vec::new(),
            spare: Spare::default(),
            output: None,
            tangents: Vec::new(),
            adjoints: Vec::new(),
            has_adjoints: false,
            products: Vec::new(),
            #[cfg(feature = "compiled")]
            chosen: Chosen::default(),
        })
    }

    #[inline]
    fn record_twice<S: Scalar, F: Flat<TwiceVar<S>>>(
        &self,
        state: &mut TwiceState<S>,
        f: &mut F,
        x: &[S],
    ) -> Result<S, Error> {
        state.has_adjoints = false;
        state.output = None;
        #[cfg(feature = "compiled")]
        let _writing = (const { S::DEPTH == 0 }).then(|| Writing::begin(false));
        let recorder = Recorder::<TwiceNode<S>>::begin(&mut state.nodes, &mut state.calls, &mut state.spare, x.len())?;
        let recording = recorder.recording();
        state.x.clear();
        state.x.extend(x.iter().enumerate().map(|(i, &v)| Num(TwiceVarCore::entry(v, i as u32, recording))));
        f.call(&state.x, &mut state.y);
        let [output] = state.y[..] else {
            return Err(ErrorKind::OutputLength { expected: 1, found: state.y.len() }.into());
        };
        state.output = output.0.depends_on(recording);
        recorder.finish()?;
        Ok(output.0.value())
    }

    #[cfg(feature = "compiled")]
    #[inline]
    fn products_at<S: Scalar, F: Flat<TwiceVar<S>>>(
        &self,
        state: &mut TwiceState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        mut value: Option<&mut S>,
        mut gradient: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        if const { is_double::<S>() } {
            let (value, gradient) = (value.as_deref_mut(), gradient.as_deref_mut());
            if state.chosen.products(self.schedule, f, x, &seeds, value, gradient, &mut rows) {
                return Ok(());
            }
        }
        let found = self.record_twice(state, f, x)?;
        if let Some(value) = value {
            *value = found;
        }
        self.products(state, seeds, gradient, rows)
    }

    #[cfg(feature = "compiled")]
    fn adapt<S: Scalar>(&self, state: &mut TwiceState<S>, adapts: bool) {
        state.chosen.adapt(self.schedule, adapts);
    }

    #[cfg(feature = "compiled")]
    #[inline]
    fn hessian_entries<S: Scalar, F: Flat<TwiceVar<S>>>(
        &self,
        state: &mut TwiceState<S>,
        f: &mut F,
        x: &[S],
        entries: EntryRequest<'_, S>,
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        let is_plain = const { is_double::<S>() };
        Ok(is_plain && state.chosen.entries(self.schedule, f.recordable(), x, entries, value, gradient))
    }

    fn products<S: Scalar>(
        &self,
        state: &mut TwiceState<S>,
        seeds: Seeds<'_, S>,
        gradient: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.sweep_all(&seeds, &mut rows)?;
        if let Some(gradient) = gradient {
            if !state.has_adjoints {
                state.sweep_lanes(1, &Seeds::all(0), 0, &mut rows);
            }
            gradient.clear();
            gradient.extend_from_slice(&state.adjoints[..state.x.len()]);
        }
        Ok(())
    }
}

#[cfg(feature = "compiled")]
impl<S: Scalar> Reports for TwiceState<S> {
    type Report = Report;
    fn report(&self) -> Report {
        self.chosen.report().over::<S>()
    }
}

/// Memory for at least `count` lanes of inputs and entries, with unspecified content.
fn room<S: Scalar>(memory: &mut Vec<S>, count: usize) -> &mut [S] {
    if memory.len() < count {
        memory.resize(count, S::default());
    }
    &mut memory[..count]
}

/// Fills lanes `0..count` with the entries of seeds `first..first + count`, and the others with zero.
fn fill_tangents<S: Scalar>(tangents: &mut [S], lanes: usize, seeds: &Seeds<'_, S>, first: usize, count: usize) {
    if let (Seeds::Vectors(vectors), 1, 1) = (seeds, lanes, count) {
        for (tangent, &entry) in tangents.iter_mut().zip(vectors[first]) {
            *tangent = entry;
        }
        return;
    }
    tangents.fill(S::default());
    match seeds {
        Seeds::Basis { first: start, .. } => {
            for lane in 0..count {
                tangents[(start + first + lane) * lanes + lane] = S::constant(S::Base::ONE);
            }
        }
        Seeds::Vectors(_) | Seeds::Colors { .. } => {
            for (i, tangents) in tangents.chunks_exact_mut(lanes).enumerate() {
                for (lane, tangent) in tangents[..count].iter_mut().enumerate() {
                    *tangent = seeds.entry(first + lane, i);
                }
            }
        }
    }
}

impl<S: Scalar> InLanes<S> for TwiceState<S> {
    /// Fills products, and the adjoints if they are not computed yet.
    #[inline]
    fn sweep_lanes(&mut self, lanes: usize, seeds: &Seeds<'_, S>, first: usize, rows: &mut Rows<'_, S>) -> usize {
        let count = lanes.min(seeds.count() - first);
        let inputs = self.x.len();
        fill_tangents(room(&mut self.tangents, inputs * lanes), lanes, seeds, first, count);
        compiled_once!(S, self, sweep_doubles, (lanes), self.sweep_in(lanes));
        if !fill_rows(&self.products[..inputs * lanes], lanes, first, count, rows) {
            for k in first..first + count {
                self.sweep_lanes(1, seeds, k, rows);
            }
        }
        count
    }
}

impl<S: Scalar> TwiceState<S> {
    /// Fills products, and the adjoints if they are not computed yet, for the `K` tangents of each input.
    fn sweep<const K: usize>(&mut self) {
        let inputs = self.x.len();
        // The output does not depend on later entries of the tape, except that its custom rule may have more outputs.
        let places = self.output.map_or(inputs, |(entry, _)| inputs.max(entry as usize + 1));
        let reached = self.calls.partition_point(|call| (call.first as usize) < places);
        let places = self.calls[..reached].last().map_or(places, |call| places.max(call.first as usize + call.outputs));
        let end = places - inputs;
        let wanted = !std::mem::replace(&mut self.has_adjoints, true);
        if wanted {
            self.adjoints.clear();
            self.adjoints.resize(places, S::default());
        }
        let tangents = room(&mut self.tangents, places * K).as_chunks_mut::<K>().0;
        let products = room(&mut self.products, places * K).as_chunks_mut::<K>().0;
        products.fill([S::default(); K]);
        let sweep = Sweep::<S, K> {
            inputs,
            nodes: &self.nodes[..end],
            calls: &self.calls[..reached],
            tangents: Cell::from_mut(tangents).as_slice_of_cells(),
            adjoints: Cell::from_mut(&mut self.adjoints[..]).as_slice_of_cells(),
            products: Cell::from_mut(products).as_slice_of_cells(),
        };
        let Some((entry, [slope, second])) = self.output else { return };
        let entry = entry as usize;
        sweep.forwards();
        if wanted {
            sweep.adjoints[entry].set(slope);
        }
        let along = sweep.tangents[entry].get();
        sweep.products[entry].set(along.map(|tangent| {
            if tangent.is_inert_zero() || second.is_inert_zero() { S::default() } else { second * tangent }
        }));
        if wanted {
            sweep.backwards::<true>();
        } else {
            sweep.backwards::<false>();
        }
    }
    fn sweep_in(&mut self, lanes: usize) {
        // Known to the compiler, which generates this alone for nested numbers.
        if const { S::DEPTH > 0 } {
            return self.sweep::<1>();
        }
        match lanes {
            1 => self.sweep::<1>(),
            4 => self.sweep::<4>(),
            _ => self.sweep::<8>(),
        }
    }
}

#[inline(never)]
fn sweep_doubles(state: &mut TwiceState<f64>, lanes: usize) {
    state.sweep_in(lanes);
}
