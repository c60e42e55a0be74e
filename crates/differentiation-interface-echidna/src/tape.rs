//! The backend of the tape: routes, and the primitive of reverse mode.
//!
//! Passed to operators by users.

use crate::forward::AutoEchidnaForward;
use crate::taped::{Recording, Taped};
use differentiation_interface_core::backend::{
    Backend, Lane, Lanes, Lift, Native, PullbackPrimitive, Reverse, Rows, Seeds, ViaPullback,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::foreign::{ForeignNum, Plain};
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Num, Scalar};
use echidna::tape::Tape;
use std::sync::Arc;

/// Reverse mode by the eager tape of `echidna`, with the elementary functions of that crate.
///
/// The tape is recorded anew in each call. A sweep allocates its adjoints, so prepared calls allocate too. Numbers of the tape
/// belong to the thread that calls the operator; on another thread the operator returns
/// [`ErrorKind::OtherThread`](differentiation_interface_core::error::ErrorKind::OtherThread). Second order is by `SecondOrder(AutoEchidna::default(), inner)`; as the
/// inner backend, or paired with itself, it does not compile.
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_echidna::AutoEchidna;
///
/// fn energy<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] + 3.0 * x[1]
/// }
/// assert_eq!(gradient(&energy, &AutoEchidna::default(), &[2.0, 5.0])?, [4.0, 3.0]);
/// // By its dual numbers with four tangents.
/// assert_eq!(gradient(&energy, &AutoEchidna::forward::<4>(), &[2.0, 5.0])?, [4.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
/// The engine does not nest in itself:
/// ```compile_fail,E0080
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_echidna::AutoEchidna;
/// fn energy<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] + 3.0 * x[1]
/// }
/// hessian(&|x: &[_]| energy(x), &AutoEchidna::default(), &[2.0, 5.0])?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutoEchidna {}

impl AutoEchidna {
    /// Forward mode by the dual numbers of `echidna` with `N` tangents, at least one.
    pub const fn forward<const N: usize>() -> AutoEchidnaForward<N> {
        AutoEchidnaForward::new()
    }
}

impl Backend for AutoEchidna {
    const NAME: &'static str = "echidna";
    const NESTS: bool = false;
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = ForeignNum<Taped, S>;
    type Mode = Reverse;
    type Pushforward = ViaPullback;
    type Pullback = Native;
    type Derivative = ViaPullback;
    type Gradient = ViaPullback;
    type Jacobian = ViaPullback;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inject<S: Scalar, L: Lanes>(value: S) -> ForeignNum<Taped, S> {
        Num(Plain::inject(value))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn project<S: Scalar, L: Lanes>(number: &ForeignNum<Taped, S>) -> S {
        number.0.project()
    }
}

impl<S: Scalar> Lift<S, ForeignNum<Taped, S>> for AutoEchidna {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> ForeignNum<Taped, S> {
        Num(Plain::inject(value))
    }
}

/// A tape with its inputs and outputs. The tape cannot be copied and is not changed after the recording, so clones share it.
#[derive(Clone)]
pub struct TapeState<S: Scalar> {
    tape: Arc<Tape<f64>>,
    x: Vec<ForeignNum<Taped, S>>,
    y: Vec<ForeignNum<Taped, S>>,
    /// Per output, its entry of the tape, unless it is a constant.
    outputs: Vec<Option<u32>>,
    weights: Vec<(u32, f64)>,
}

impl<S: Scalar> TapeState<S> {
    /// The tape to record on: a new one while a clone needs the old one.
    fn own_tape(tape: &mut Arc<Tape<f64>>) -> &mut Tape<f64> {
        if Arc::get_mut(tape).is_none() {
            *tape = Arc::default();
        }
        Arc::get_mut(tape).expect("a new tape has one owner")
    }
}

impl PullbackPrimitive for AutoEchidna {
    type PullbackState<S: Scalar, L: Lanes> = TapeState<S>;

    fn pullback_state<S: Scalar, L: Lanes>(&self, _inputs: usize) -> Result<TapeState<S>, Error> {
        Ok(TapeState { tape: Arc::default(), x: Vec::new(), y: Vec::new(), outputs: Vec::new(), weights: Vec::new() })
    }

    fn record<S: Scalar, L: Lanes, F: Flat<ForeignNum<Taped, S>>>(
        &self,
        state: &mut TapeState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        let TapeState { tape, x: inputs, y: results, outputs, .. } = state;
        inputs.clear();
        let values = x.iter().map(|x| x.peek().as_f64());
        let recording =
            Recording::begin(TapeState::<S>::own_tape(tape), values, |input| inputs.push(Num(Plain::new(input))));
        f.call(inputs, results);
        y.clear();
        y.extend(results.iter().map(|y| y.0.project()));
        outputs.clear();
        for y in results.iter() {
            outputs.push(recording.output(&y.0.0)?);
        }
        recording.finish()?;
        Ok(())
    }

    fn sweep<S: Scalar, L: Lanes, F: Flat<ForeignNum<Taped, S>>>(
        &self,
        state: &mut TapeState<S>,
        _f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let TapeState { tape, x, outputs, weights, .. } = state;
        rows.set_rows(seeds.count())?;
        for k in 0..seeds.count() {
            weights.clear();
            for (i, output) in outputs.iter().enumerate() {
                let weight = seeds.entry(k, i).peek().as_f64();
                if let Some(output) = output
                    && weight != 0.0
                {
                    weights.push((*output, weight));
                }
            }
            let adjoints = tape.reverse_seeded(weights);
            for (out, adjoint) in rows.part(k, 0, x.len()).iter_mut().zip(adjoints) {
                *out = S::constant(S::Base::from_f64(adjoint));
            }
        }
        Ok(())
    }
}
