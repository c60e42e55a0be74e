//! The routes and primitives of the backend, by which operators reach formulas.
//!
//! Called by operators; calls the state.

use super::backend::AutoSymbolic;
use super::formulas::Order;
use super::state::SymbolicState;
use compiled_trace::Recorded;
use differentiation_interface_core::backend::{
    Backend, Both, EntryRequest, Lane, Lanes, Lift, MatrixRoute, Native, PullbackPrimitive, PushforwardPrimitive,
    PushforwardRoute, Replayed, Rows, SecondAdjointPrimitive, Seeds,
};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::fault;
use differentiation_interface_core::recordings::{EngineScalar, Recordings};
use differentiation_interface_core::scalar::Scalar;

impl Backend for AutoSymbolic {
    const NAME: &'static str = "symbolic";
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = Recorded<S::Base>;
    type Mode = Both<Replayed>;
    type Pushforward = ByFormula;
    type Pullback = Native;
    type Derivative = ByFormula;
    type Gradient = ByFormula;
    type Jacobian = ByFormula;

    fn recordings(&self) -> Option<Recordings<Self>> {
        let held_to_one_branch = (!self.refuses_other_branches()).then(|| self.refusing_other_branches());
        Some(Recordings { held_to_one_branch })
    }

    fn inject<S: Scalar, L: Lanes>(value: S) -> Recorded<S::Base> {
        if !value.is_constant() {
            fault::report(ErrorKind::ActiveConstant);
            // On a thread started by the user no operator returns the fault, so the outer differentiation does.
            if !fault::is_watched() {
                value.spoil(ErrorKind::ActiveConstant);
            }
        }
        Recorded::constant(value.peek())
    }
    fn project<S: Scalar, L: Lanes>(number: &Recorded<S::Base>) -> S {
        S::constant(number.peek())
    }
}

impl Lift<f64, Recorded<f64>> for AutoSymbolic {
    fn lift(value: f64) -> Recorded<f64> {
        Recorded::constant(value)
    }
}
impl Lift<f32, Recorded<f32>> for AutoSymbolic {
    fn lift(value: f32) -> Recorded<f32> {
        Recorded::constant(value)
    }
}

/// Runs the program of the formulas.
#[derive(Clone, Copy, Debug)]
pub struct ByFormula;

impl MatrixRoute<AutoSymbolic> for ByFormula {
    const NAME: &'static str = "formula";
    type State<S: Scalar, L: Lanes> = SymbolicState<S>;

    fn state<S: Scalar, L: Lanes>(_: &AutoSymbolic, _inputs: usize) -> Result<SymbolicState<S>, Error> {
        Ok(SymbolicState::default())
    }
    fn prepare<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoSymbolic,
        state: &mut SymbolicState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.run(backend, f, x, Order::First)?;
        state.outputs(y)
    }
    fn matrix<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoSymbolic,
        state: &mut SymbolicState<S>,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.run(backend, f, x, Order::First)?;
        state.jacobian(&mut rows)?;
        y.map_or(Ok(()), |y| state.outputs(y))
    }
}

/// Pushforwards, and entries of the Jacobian.
impl PushforwardRoute<AutoSymbolic> for ByFormula {
    const NAME: &'static str = "native";
    type State<S: Scalar, L: Lanes> = SymbolicState<S>;

    fn state<S: Scalar, L: Lanes>(
        backend: &AutoSymbolic,
        inputs: usize,
        seeds: usize,
    ) -> Result<SymbolicState<S>, Error> {
        backend.pushforward_state::<S, L>(inputs, seeds)
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoSymbolic,
        state: &mut SymbolicState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        backend.hold::<S, L, F>(state, f, x, y)
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoSymbolic,
        state: &mut SymbolicState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        backend.pushforward::<S, L, F>(state, f, x, seeds, y, rows)
    }
    fn held<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoSymbolic,
        state: &mut SymbolicState<S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        backend.pushforward_held::<S, L, F>(state, f, seeds, rows)
    }
    fn seeds_per_pass<L: Lanes>(_: &AutoSymbolic, _seeds: usize) -> usize {
        1
    }
    fn entries<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoSymbolic,
        state: &mut SymbolicState<S>,
        f: &mut F,
        x: &[S],
        entries: EntryRequest<'_, S>,
        y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        state.run(backend, f, x, Order::First)?;
        state.entries(Order::First, entries)?;
        y.map_or(Ok(()), |y| state.outputs(y))?;
        Ok(true)
    }
}

impl PullbackPrimitive for AutoSymbolic {
    type PullbackState<S: Scalar, L: Lanes> = SymbolicState<S>;

    fn pullback_state<S: Scalar, L: Lanes>(&self, _inputs: usize) -> Result<SymbolicState<S>, Error> {
        Ok(SymbolicState::default())
    }
    fn record<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut SymbolicState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.run(self, f, x, Order::First)?;
        state.outputs(y)
    }
    fn sweep<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut SymbolicState<S>,
        _f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.pullback(&seeds, &mut rows)
    }
}

impl PushforwardPrimitive for AutoSymbolic {
    type PushforwardState<S: Scalar, L: Lanes> = SymbolicState<S>;

    fn pushforward_state<S: Scalar, L: Lanes>(&self, _inputs: usize, _seeds: usize) -> Result<SymbolicState<S>, Error> {
        Ok(SymbolicState::default())
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut SymbolicState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        self.record::<S, L, F>(state, f, x, y)
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut SymbolicState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.run(self, f, x, Order::First)?;
        state.pushforward(&seeds, &mut rows)?;
        y.map_or(Ok(()), |y| state.outputs(y))
    }
    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut SymbolicState<S>,
        _f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.pushforward(&seeds, &mut rows)
    }
}

impl SecondAdjointPrimitive for AutoSymbolic {
    type NumTwice<S: Scalar> = Recorded<S::Base>;
    type StateTwice<S: Scalar> = SymbolicState<S>;

    fn state_twice<S: Scalar>(&self, _inputs: usize) -> Result<SymbolicState<S>, Error> {
        Ok(SymbolicState::default())
    }
    fn record_twice<S: Scalar, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut SymbolicState<S>,
        f: &mut F,
        x: &[S],
    ) -> Result<S, Error> {
        state.run(self, f, x, Order::Second)?;
        state.only_output()
    }
    fn products<S: Scalar>(
        &self,
        state: &mut SymbolicState<S>,
        seeds: Seeds<'_, S>,
        gradient: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.hessian_products(&seeds, &mut rows)?;
        gradient.map_or(Ok(()), |gradient| state.gradient(gradient))
    }
    fn hessian_entries<S: Scalar, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut SymbolicState<S>,
        f: &mut F,
        x: &[S],
        entries: EntryRequest<'_, S>,
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        state.run(self, f, x, Order::Second)?;
        state.entries(Order::Second, entries)?;
        if let Some(value) = value {
            *value = state.only_output()?;
        }
        gradient.map_or(Ok(()), |gradient| state.gradient(gradient))?;
        Ok(true)
    }
}
