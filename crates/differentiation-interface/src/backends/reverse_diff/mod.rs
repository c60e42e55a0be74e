//! Reverse mode: a tape of binary operations, recorded anew in each call, and programs where calls repeat.
//!
//! Reached by operators through the routes below; runs the user's function on [`Var`]. Gradients, Jacobians and derivatives go through
//! `tiered.rs`, pullbacks and pushforwards through `tiered_products.rs`, where `tiers.rs` decides by counts whether the tape or a program
//! computes a call. Products with a Hessian by this backend alone are in `twice.rs`, which runs the function on [`TwiceVar`], and in
//! `tiered_twice.rs` by programs.

mod along;
#[cfg(feature = "compiled")]
mod as_recorded;
mod backend;
#[cfg(feature = "compiled")]
mod lasting;
// Of machine code: programs of a few operations, which the tape computes faster than the interpreter.
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
mod states;
mod tape;
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
    /// Sweeps for up to `K` seeds from seed `first` on and fills their rows; returns their number.
    fn sweep_lanes<const K: usize>(&mut self, seeds: &Seeds<'_, S>, first: usize, rows: &mut Rows<'_, S>) -> usize;

    /// Sweeps for all seeds and fills one row for each.
    #[inline]
    fn sweep_all(&mut self, seeds: &Seeds<'_, S>, rows: &mut Rows<'_, S>) -> Result<(), Error> {
        let total = seeds.count();
        rows.set_rows(total)?;
        let mut first = 0;
        while first < total {
            // Nested numbers carry several lanes themselves; more lanes here would only compile to more code.
            first += if const { S::DEPTH > 0 } {
                self.sweep_lanes::<1>(seeds, first, rows)
            } else {
                match total - first {
                    1 => self.sweep_lanes::<1>(seeds, first, rows),
                    2..=5 => self.sweep_lanes::<4>(seeds, first, rows),
                    _ => self.sweep_lanes::<8>(seeds, first, rows),
                }
            };
        }
        Ok(())
    }
}

impl<S: Scalar> InLanes<S> for ReverseState<S> {
    /// Propagates cotangents back to the inputs.
    #[inline]
    fn sweep_lanes<const K: usize>(&mut self, seeds: &Seeds<'_, S>, first: usize, rows: &mut Rows<'_, S>) -> usize {
        let zero = S::constant(S::Base::ZERO);
        let count = K.min(seeds.count() - first);
        let inputs = self.x.len();
        self.adjoints.clear();
        self.adjoints.resize((inputs + self.nodes.len()) * K, zero);
        let (adjoints, _) = self.adjoints.as_chunks_mut::<K>();

        // No output depends on entries of the tape after this one.
        let mut end = 0;
        for (i, output) in self.outputs.iter().enumerate() {
            let Some((entry, derivative)) = *output else { continue };
            for (lane, adjoint) in adjoints[entry as usize][..count].iter_mut().enumerate() {
                let weight = seeds.entry(first + lane, i);
                if !weight.is_inert_zero() {
                    *adjoint += weight * derivative;
                    end = end.max(entry as usize + 1);
                }
            }
        }
        tape::propagate_with_calls(&self.nodes[..end.saturating_sub(inputs)], &self.calls, adjoints, inputs);

        // Where a derivative on the tape is infinite, a lane with a zero adjoint gets 0 · ∞, which a sweep of this lane alone skips.
        if K > 1 && adjoints[..inputs].iter().flatten().any(|a| a.peek().is_nan()) {
            for k in first..first + count {
                self.sweep_lanes::<1>(seeds, k, rows);
            }
            return count;
        }
        for lane in 0..count {
            for (x, adjoint) in rows.part(first + lane, 0, inputs).iter_mut().zip(&adjoints[..inputs]) {
                *x = adjoint[lane];
            }
        }
        count
    }
}
