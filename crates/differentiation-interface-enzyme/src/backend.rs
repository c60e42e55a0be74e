//! The backend: its routes and primitives.
//!
//! Reached by operators; calls the state.

use crate::state::{ByShape, EnzymeState};
use differentiation_interface_core::backend::{
    Backend, Both, Lane, Lanes, Lift, Native, PullbackPrimitive, PushforwardPrimitive, Rows, Seeds, Tested,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::Scalar;

/// The compiler's differentiation, `std::autodiff`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutoEnzyme;

impl Backend for AutoEnzyme {
    const NAME: &'static str = "enzyme";
    const NESTS: bool = false;
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = S::Base;
    type Mode = Both;
    type Pushforward = Tested<Native>;
    type Pullback = Tested<Native>;
    type Derivative = Tested<ByShape>;
    type Gradient = Tested<ByShape>;
    type Jacobian = Tested<ByShape>;

    #[inline]
    fn inject<S: Scalar, L: Lanes>(value: S) -> S::Base {
        value.primal()
    }
    #[inline]
    fn project<S: Scalar, L: Lanes>(number: &S::Base) -> S {
        S::constant(*number)
    }
}

/// The engine's constants are plain numbers.
impl Lift<f64, f64> for AutoEnzyme {
    fn lift(value: f64) -> f64 {
        value
    }
}
impl Lift<f32, f32> for AutoEnzyme {
    fn lift(value: f32) -> f32 {
        value
    }
}

impl AutoEnzyme {
    /// Refuses at compile time to run inside another differentiation.
    pub(crate) const fn check_nesting<S: Scalar>() {
        const { assert!(S::DEPTH == 0, "`AutoEnzyme` computes with plain numbers and cannot run inside another differentiation; use it as the outer backend of `SecondOrder`, or another inner backend") };
    }

    /// Refuses functions that Enzyme would differentiate wrongly.
    pub(crate) fn accept<S: Scalar, F: Flat<S::Base>>(&self, _f: &F) -> Result<(), Error> {
        Ok(())
    }
}

impl PushforwardPrimitive for AutoEnzyme {
    type PushforwardState<S: Scalar, L: Lanes> = EnzymeState<S::Base>;

    fn pushforward_state<S: Scalar, L: Lanes>(&self, _: usize, _: usize) -> Result<EnzymeState<S::Base>, Error> {
        Self::check_nesting::<S>();
        EnzymeState::new()
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        &self,
        state: &mut EnzymeState<S::Base>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        self.accept::<S, F>(f)?;
        state.set_point(x);
        state.evaluate(f);
        state.copy_values(y);
        Ok(())
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        &self,
        state: &mut EnzymeState<S::Base>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        self.accept::<S, F>(f)?;
        state.set_point(x);
        if seeds.count() == 0 {
            state.evaluate(f);
            rows.set_rows(state.outputs())?;
        } else {
            state.find_outputs(f);
            state.forward(f, seeds, &mut rows)?;
        }
        if let Some(y) = y {
            state.copy_values(y);
        }
        Ok(())
    }
    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        &self,
        state: &mut EnzymeState<S::Base>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        if seeds.count() == 0 {
            return Ok(rows.set_rows(state.outputs())?);
        }
        state.forward(f, seeds, &mut rows)
    }
}

impl PullbackPrimitive for AutoEnzyme {
    type PullbackState<S: Scalar, L: Lanes> = EnzymeState<S::Base>;

    fn pullback_state<S: Scalar, L: Lanes>(&self, _: usize) -> Result<EnzymeState<S::Base>, Error> {
        Self::check_nesting::<S>();
        EnzymeState::new()
    }
    fn record<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        &self,
        state: &mut EnzymeState<S::Base>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        self.accept::<S, F>(f)?;
        state.set_point(x);
        state.evaluate(f);
        state.copy_values(y);
        Ok(())
    }
    fn sweep<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        &self,
        state: &mut EnzymeState<S::Base>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.reverse(f, seeds, &mut rows)
    }
}
