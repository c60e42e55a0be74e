//! The backend: its routes and primitives.
//!
//! Reached by operators; calls the state.

use crate::state::EnzymeState;
use differentiation_interface_core::backend::{
    Backend, Forward, Lane, Lanes, Lift, MatrixRoute, PullbackRoute, PushforwardRoute, Rows, Seeds, Tested,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::Scalar;

/// The compiler's differentiation, `std::autodiff`: Enzyme, for functions of `f64` and `f32`.
///
/// The engine differentiates the compiled code of the function, which runs on plain numbers: closures over `f64`, code of other crates.
/// `pushforward` runs it forward, once per tangent, `pullback` in reverse, once per cotangent; `derivative`, `gradient` and `jacobian` run whichever
/// way is cheaper for the shape, [`ByShape`]. Contexts may be constants and work memory.
///
/// **Self-test.** The first use of a preparation, and every call without one, compares a directional derivative with finite differences and returns
/// [`ErrorKind::SelfTest`](differentiation_interface_core::error::ErrorKind::SelfTest) where they disagree; see [`Tested`].
///
/// **Builds.** Only with optimisation, link-time optimisation of the whole program and without debug assertions; else every operator returns
/// [`ErrorKind::Refused`](differentiation_interface_core::error::ErrorKind::Refused). A function that Enzyme cannot compile is an error of the compiler.
///
/// **Second order.** The engine computes with plain numbers and does not nest: `hessian(&f, &AutoEnzyme, ..)` does not compile.
/// `SecondOrder(AutoFiniteDiff::central(), AutoEnzyme)` takes differences of its gradients.
///
/// # Example
/// ```
/// # if cfg!(debug_assertions) { return Ok(()) }
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_enzyme::AutoEnzyme;
/// let opaque = |x: &[f64]| x[0] * x[0] + 3.0 * x[1];
/// assert_eq!(gradient(&opaque, &AutoEnzyme, &[2.0, 5.0])?, [4.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutoEnzyme;

impl Backend for AutoEnzyme {
    const NAME: &'static str = "enzyme";
    const NESTS: bool = false;
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = S::Base;
    // Over a backend that needs no nested numbers, second order differentiates its gradient.
    type Mode = Forward;
    type Pushforward = Tested<ByEnzyme>;
    type Pullback = Tested<ByEnzyme>;
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
        const {
            assert!(
                S::DEPTH == 0,
                "`AutoEnzyme` computes with plain numbers and cannot run inside another differentiation; use it under `AutoFiniteDiff`, or another inner backend"
            )
        };
    }
}

/// The engine's own pushforwards and pullbacks. They are routes and no primitives, so that second order cannot call them behind the self-test.
#[derive(Clone, Copy, Debug)]
pub struct ByEnzyme;

impl PushforwardRoute<AutoEnzyme> for ByEnzyme {
    const NAME: &'static str = "native";
    type State<S: Scalar, L: Lanes> = EnzymeState<S::Base>;

    fn state<S: Scalar, L: Lanes>(_: &AutoEnzyme, _: usize, _: usize) -> Result<EnzymeState<S::Base>, Error> {
        AutoEnzyme::check_nesting::<S>();
        EnzymeState::new()
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        _: &AutoEnzyme,
        state: &mut EnzymeState<S::Base>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.set_point(x);
        state.evaluate(f);
        state.copy_values(y);
        Ok(())
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        _: &AutoEnzyme,
        state: &mut EnzymeState<S::Base>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
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
    fn held<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        _: &AutoEnzyme,
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

impl PullbackRoute<AutoEnzyme> for ByEnzyme {
    const NAME: &'static str = "native";
    type State<S: Scalar, L: Lanes> = EnzymeState<S::Base>;

    fn state<S: Scalar, L: Lanes>(_: &AutoEnzyme, _: usize) -> Result<EnzymeState<S::Base>, Error> {
        AutoEnzyme::check_nesting::<S>();
        EnzymeState::new()
    }
    fn record<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        _: &AutoEnzyme,
        state: &mut EnzymeState<S::Base>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.set_point(x);
        state.evaluate(f);
        state.copy_values(y);
        Ok(())
    }
    fn sweep<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        _: &AutoEnzyme,
        state: &mut EnzymeState<S::Base>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.reverse(f, seeds, &mut rows)
    }
}

/// Route of the matrix ∂y/∂x: by columns, one forward run per input, or by rows, one reverse run per output, whichever are fewer.
#[derive(Clone, Copy, Debug)]
pub struct ByShape;

/// A reverse run costs about as much as this number of forward runs.
const REVERSE_COST: usize = 2;

impl MatrixRoute<AutoEnzyme> for ByShape {
    const NAME: &'static str = "by shape";
    type State<S: Scalar, L: Lanes> = EnzymeState<S::Base>;

    fn state<S: Scalar, L: Lanes>(_: &AutoEnzyme, _: usize) -> Result<EnzymeState<S::Base>, Error> {
        AutoEnzyme::check_nesting::<S>();
        EnzymeState::new()
    }
    fn prepare<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        _: &AutoEnzyme,
        state: &mut EnzymeState<S::Base>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.set_point(x);
        state.evaluate(f);
        state.copy_values(y);
        Ok(())
    }
    fn matrix<S: Scalar, L: Lanes, F: Flat<S::Base>>(
        _: &AutoEnzyme,
        state: &mut EnzymeState<S::Base>,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.set_point(x);
        state.find_outputs(f);
        if x.is_empty() {
            state.evaluate(f);
            rows.set_rows(state.outputs())?;
        } else if x.len() <= state.outputs() * REVERSE_COST || state.outputs() == 0 {
            state.forward(f, Seeds::all(x.len()), &mut rows)?;
        } else {
            state.rows(f, &mut rows)?;
        }
        if let Some(y) = y {
            state.copy_values(y);
        }
        Ok(())
    }
}
