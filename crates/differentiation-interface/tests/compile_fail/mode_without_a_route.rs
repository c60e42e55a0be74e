//! A backend of a mode that the table of second order does not know.

use differentiation_interface::backend::{
    Backend, Direction, Lane, Lanes, Mode, Native, PushforwardPrimitive, Rows, Seeds, ViaPushforward,
};
use differentiation_interface::evaluate::Flat;
use differentiation_interface::prelude::*;

struct Sideways;
impl Mode for Sideways {
    const NAME: &'static str = "sideways";
    const DIRECTION: Direction = Direction::Both;
}

#[derive(Clone)]
struct AutoSideways;

impl Backend for AutoSideways {
    const NAME: &'static str = "sideways";
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = S;
    type Mode = Sideways;
    type Pushforward = Native;
    type Pullback = ViaPushforward;
    type Derivative = ViaPushforward;
    type Gradient = ViaPushforward;
    type Jacobian = ViaPushforward;
    fn inject<S: Scalar, L: Lanes>(value: S) -> S {
        value
    }
    fn project<S: Scalar, L: Lanes>(number: &S) -> S {
        *number
    }
}

impl PushforwardPrimitive for AutoSideways {
    type PushforwardState<S: Scalar, L: Lanes> = ();
    fn pushforward_state<S: Scalar, L: Lanes>(&self, _: usize, _: usize) -> Result<(), Error> {
        Ok(())
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        _: &mut (),
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        f.call(x, y);
        Ok(())
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        _: &mut (),
        _: &mut F,
        _: &[S],
        _: Seeds<'_, S>,
        _: Option<&mut Vec<S>>,
        _: Rows<'_, S>,
    ) -> Result<(), Error> {
        Ok(())
    }
    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        _: &mut (),
        _: &mut F,
        _: Seeds<'_, S>,
        _: Rows<'_, S>,
    ) -> Result<(), Error> {
        Ok(())
    }
}

fn main() {
    let cubic = |x: &[f64]| x[0] * x[0] * x[1];
    let _ = gradient(&cubic, &AutoSideways, &[1.0, 2.0]);
    let _ = hessian(&cubic, &AutoSideways, &[1.0, 2.0]);
    let _ = hessian(&cubic, &SecondOrder(AutoSideways, AutoFiniteDiff::central()), &[1.0, 2.0]);
}
