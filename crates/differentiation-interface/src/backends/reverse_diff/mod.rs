//! Reverse mode: a tape of binary operations, recorded anew in each call, and programs where calls repeat.
//!
//! Reached by operators through the routes below; runs the user's function on [`Var`]. Gradients, Jacobians and derivatives go through
//! `tiered.rs`, pullbacks and pushforwards through `tiered_products.rs`, where `tiers.rs` decides by counts whether the tape or a program
//! computes a call. Products with a Hessian by this backend alone are in `twice.rs`, which runs the function on [`TwiceVar`], and in
//! `tiered_twice.rs` by programs.

mod along_entry;
#[cfg(feature = "compiled")]
mod as_recorded;
mod backend;
#[cfg(feature = "compiled")]
mod earlier_constants;
#[cfg(feature = "compiled")]
mod making_programs;
#[cfg(feature = "compiled")]
mod paths;
// Of machine code: programs of a few operations, which the tape computes faster than the interpreter.
mod both_states;
#[cfg(feature = "compiled")]
mod budget;
#[cfg(all(
    test,
    feature = "compiled",
    not(ad_interpreter),
    any(feature = "native", all(target_arch = "x86_64", any(unix, windows)))
))]
mod program_tests;
#[cfg(feature = "compiled")]
mod recorded;
#[cfg(feature = "compiled")]
mod report;
#[cfg(feature = "compiled")]
mod schedule;
mod tape;
#[cfg(feature = "compiled")]
mod tape_time;
#[cfg(all(test, feature = "any", feature = "sparse", not(feature = "native")))]
mod tests;
#[cfg(feature = "compiled")]
mod tiered;
#[cfg(feature = "compiled")]
mod tiered_products;
#[cfg(feature = "compiled")]
mod tiered_twice;
#[cfg(feature = "compiled")]
mod tiers;
mod twice;
mod twice_tape;
mod twice_var;
mod var;

pub use backend::AutoReverseDiff;
#[cfg(feature = "compiled")]
pub use report::{Form, Reason, Report};
#[cfg(feature = "compiled")]
pub use tiered::{Tiered, TieredState};
#[cfg(feature = "compiled")]
pub use tiered_products::{TieredPullbackState, TieredPushforwardState};
pub use twice::TwiceState;
pub use twice_var::{TwiceVar, TwiceVarCore};
pub use var::{Var, VarCore};

use crate::backends::doubles::compiled_once;
use differentiation_interface_core::backend::{
    Adjoint, Backend, Lane, Lanes, Lift, PullbackPrimitive, Reverse, Rows, Seeds,
};
#[cfg(not(feature = "compiled"))]
use differentiation_interface_core::backend::{Native, ViaPullback};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Num, Scalar};
use num_traits::Float;
use tape::{Call, Node, Recorder, Spare};

/// The route of derivative matrices.
#[cfg(feature = "compiled")]
type Matrices = Tiered;
#[cfg(not(feature = "compiled"))]
type Matrices = ViaPullback;
/// The routes of products.
#[cfg(feature = "compiled")]
type Pullbacks = Tiered;
#[cfg(not(feature = "compiled"))]
type Pullbacks = Native;
#[cfg(feature = "compiled")]
type Pushforwards = Tiered;
#[cfg(not(feature = "compiled"))]
type Pushforwards = ViaPullback;

impl Backend for AutoReverseDiff {
    const NAME: &'static str = "reverse_diff";
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = Var<S>;
    type Mode = Reverse<Adjoint>;
    type Pushforward = Pushforwards;
    type Pullback = Pullbacks;
    type Derivative = Matrices;
    type Gradient = Matrices;
    type Jacobian = Matrices;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inject<S: Scalar, L: Lanes>(value: S) -> Var<S> {
        Num(VarCore::inert(value))
    }
    fn steady(&self) -> Self {
        AutoReverseDiff::tape()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn project<S: Scalar, L: Lanes>(number: &Var<S>) -> S {
        number.0.value()
    }
}

impl<S: Scalar> Lift<S, Var<S>> for AutoReverseDiff {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> Var<S> {
        Num(VarCore::inert(value))
    }
}

/// A tape with its inputs and outputs, and adjoints; all memory is reused.
#[derive(Clone, Debug)]
pub struct ReverseState<S: Scalar> {
    x: Vec<Var<S>>,
    y: Vec<Var<S>>,
    nodes: Vec<Node<S>>,
    calls: Vec<Call<S>>,
    spare: Spare<Node<S>>,
    /// Per output, the entry of the tape that it depends on and its derivative with respect to the entry.
    outputs: Vec<Option<(u32, S)>>,
    adjoints: Vec<S>,
}

impl PullbackPrimitive for AutoReverseDiff {
    type PullbackState<S: Scalar, L: Lanes> = ReverseState<S>;

    fn pullback_state<S: Scalar, L: Lanes>(&self, _inputs: usize) -> Result<ReverseState<S>, Error> {
        Ok(ReverseState {
            x: Vec::new(),
            y: Vec::new(),
            nodes: Vec::new(),
            calls: Vec::new(),
            spare: Spare::default(),
            outputs: Vec::new(),
            adjoints: Vec::new(),
        })
    }

    #[inline]
    fn record<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        &self,
        state: &mut ReverseState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        let mut recorder = Recorder::begin(&mut state.nodes, &mut state.calls, &mut state.spare, x.len())?;
        state.x.clear();
        state.x.extend(x.iter().enumerate().map(|(i, &v)| Num(recorder.input(i, v))));
        f.call(&state.x, &mut state.y);
        y.clear();
        y.extend(state.y.iter().map(|v| v.0.value()));
        state.outputs.clear();
        state.outputs.extend(state.y.iter().map(|v| recorder.output(&v.0)));
        recorder.finish()
    }

    #[inline]
    fn sweep<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        &self,
        state: &mut ReverseState<S>,
        _f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.sweep_all(&seeds, &mut rows)
    }

    fn seeds_per_pass<L: Lanes>(&self, _seeds: usize) -> usize {
        // The largest number of lanes of a sweep.
        8
    }
}

/// A recording with sweeps for several seeds at once.
trait InLanes<S: Scalar> {
    /// Sweeps for up to `lanes` seeds, which are 1, 4 or 8, from seed `first` on and fills their rows; returns their number.
    fn sweep_lanes(&mut self, lanes: usize, seeds: &Seeds<'_, S>, first: usize, rows: &mut Rows<'_, S>) -> usize;

    /// Sweeps for all seeds and fills one row for each.
    #[inline]
    fn sweep_all(&mut self, seeds: &Seeds<'_, S>, rows: &mut Rows<'_, S>) -> Result<(), Error> {
        let total = seeds.count();
        rows.set_rows(total)?;
        let mut first = 0;
        while first < total {
            let lanes = match total - first {
                // Nested numbers carry several lanes themselves; more lanes here would only compile to more code.
                _ if S::DEPTH > 0 => 1,
                1 => 1,
                2..=5 => 4,
                _ => 8,
            };
            first += self.sweep_lanes(lanes, seeds, first, rows);
        }
        Ok(())
    }
}

/// Fills rows from `first` on with numbers that are lane by lane in `all`, after a sweep of `lanes` seeds of which `count` are wanted; `false` if one of them is
/// NaN: where a derivative on the tape is infinite, a lane with a zero gets 0 · ∞, which a sweep of this lane alone skips.
fn fill_rows<S: Scalar>(all: &[S], lanes: usize, first: usize, count: usize, rows: &mut Rows<'_, S>) -> bool {
    if lanes > 1 && all.iter().any(|number| number.peek().is_nan()) {
        return false;
    }
    for lane in 0..count {
        let row = rows.part(first + lane, 0, all.len() / lanes);
        row.iter_mut().zip(all.chunks_exact(lanes)).for_each(|(entry, numbers)| *entry = numbers[lane]);
    }
    true
}

impl<S: Scalar> InLanes<S> for ReverseState<S> {
    /// Propagates cotangents back to the inputs.
    #[inline]
    fn sweep_lanes(&mut self, lanes: usize, seeds: &Seeds<'_, S>, first: usize, rows: &mut Rows<'_, S>) -> usize {
        let count = lanes.min(seeds.count() - first);
        let inputs = self.x.len();
        self.adjoints.clear();
        self.adjoints.resize((inputs + self.nodes.len()) * lanes, S::constant(S::Base::ZERO));

        // No output depends on entries of the tape after this one.
        let mut end = 0;
        let mut add = |lane: usize, output: usize, weight: S| {
            if let Some(&Some((entry, derivative))) = self.outputs.get(output)
                && !weight.is_inert_zero()
            {
                self.adjoints[entry as usize * lanes + lane] += weight * derivative;
                end = end.max(entry as usize + 1);
            }
        };
        for lane in 0..count {
            match *seeds {
                Seeds::Basis { first: start, .. } => add(lane, start + first + lane, S::constant(S::Base::ONE)),
                _ => (0..self.outputs.len()).for_each(|i| add(lane, i, seeds.entry(first + lane, i))),
            }
        }
        let end = end.saturating_sub(inputs);
        compiled_once!(S, self, propagate_doubles, (end, lanes), self.propagate_lanes(end, lanes));

        if !fill_rows(&self.adjoints[..inputs * lanes], lanes, first, count, rows) {
            for k in first..first + count {
                self.sweep_lanes(1, seeds, k, rows);
            }
        }
        count
    }
}

impl<S: Scalar> ReverseState<S> {
    /// Propagates the adjoints of `K` seeds from the first `end` entries back to the inputs.
    fn propagate<const K: usize>(&mut self, end: usize) {
        let (adjoints, _) = self.adjoints.as_chunks_mut::<K>();
        tape::propagate_with_calls(&self.nodes[..end], &self.calls, adjoints, self.x.len());
    }
    fn propagate_lanes(&mut self, end: usize, lanes: usize) {
        // Known to the compiler, which generates this alone for nested numbers.
        if const { S::DEPTH > 0 } {
            return self.propagate::<1>(end);
        }
        match lanes {
            1 => self.propagate::<1>(end),
            4 => self.propagate::<4>(end),
            _ => self.propagate::<8>(end),
        }
    }
}

#[inline(never)]
fn propagate_doubles(state: &mut ReverseState<f64>, end: usize, lanes: usize) {
    state.propagate_lanes(end, lanes);
}
