//! Programs with constants that change between calls.
//!
//! Called by `engines::all`. The constants are signs of the outputs, so that results with other signs are those of the reference exactly.

use super::candidate::Quantity::{First, Gradient, Hessian};
use super::candidate::{Call, Candidate, Precision};
use super::first_order::rising;
use crate::function;
use crate::program::Program;
use differentiation_interface::function::Const;
use differentiation_interface::prelude::*;

/// The first output times the product of a vector of constants.
#[derive(Clone, Copy)]
struct Signed<'a>(&'a Program);

impl<T: Real> FunctionWith<[T], (Const<Vec<f64>>,)> for Signed<'_> {
    type Output = T;
    fn call_with(&self, x: &[T], (signs,): (&Vec<f64>,)) -> T {
        let y = function::run(self.0, x)[0];
        signs.iter().fold(y, |y, sign| y * *sign)
    }
}

/// The constants of a call: each pair lasts for one call, or for five.
fn signs(call: usize) -> Vec<f64> {
    let sign = |odd: bool| if odd { -1.0 } else { 1.0 };
    let pair = if call < 10 { call } else { call / 5 };
    vec![sign(pair & 1 == 1), sign(pair & 2 == 2)]
}

macro_rules! candidate {
    ($name:literal, |$program:ident, $at:ident| $prepare:expr, |$prepared:ident, $point:ident| $call:expr) => {{
        fn start<'p>($program: &'p Program, x: &[f64]) -> Result<Call<'p>, Error> {
            let constants = signs(0);
            let $at = (x, Constant(&constants));
            let mut $prepared = $prepare;
            let mut call = 0;
            Ok(Box::new(move |x| {
                let constants = signs(call);
                call += 1;
                let $point = (x, Constant(&constants));
                let sign: f64 = constants.iter().product();
                let mut answers = $call;
                for (_, numbers) in &mut answers {
                    numbers.iter_mut().for_each(|v| *v *= sign);
                }
                Ok(answers)
            }))
        }
        Candidate { name: $name, precision: Precision::Double, start }
    }};
}

macro_rules! gradient {
    ($name:literal, $backend:expr) => {
        candidate!($name, |program, at| prepare_gradient(Box::new(Signed(program)), &$backend, at)?, |prepared, at| {
            let (y, grad) = prepared.value_and_gradient(at)?;
            vec![(First, vec![y]), (Gradient, grad)]
        })
    };
}

macro_rules! hessian {
    ($name:literal, $backend:expr) => {
        candidate!($name, |program, at| prepare_hessian(Box::new(Signed(program)), &$backend, at)?, |prepared, at| {
            let (y, grad, hess) = prepared.value_gradient_and_hessian(at)?;
            vec![(First, vec![y]), (Gradient, grad), (Hessian, hess.as_slice().to_vec())]
        })
    };
}

/// The candidates with constants.
pub(super) fn candidates() -> Vec<Candidate> {
    vec![
        gradient!("gradient compiled, constants", AutoReverseDiff::compiled()),
        gradient!("gradient default, constants", rising()),
        hessian!("hessian compiled, constants", AutoReverseDiff::compiled()),
        hessian!("hessian default, constants", rising()),
    ]
}
