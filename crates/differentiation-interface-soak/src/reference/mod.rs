//! The reference: numbers with value, gradient, Hessian and an error bound for each, by this crate's own textbook formulas.
//!
//! `compare` calls [`evaluate`] for the derivatives of a program at a point and the error that an answer may have. Nothing here
//! calls the library under test.

mod algebra;
mod elementary;
mod number;
mod special;
#[cfg(test)]
mod tests;

pub(crate) use algebra::Reference;
pub(crate) use number::{Context, Number, kinds, pair};

use differentiation_interface_soak::function::{LINE_START, TANGENTS};
use differentiation_interface_soak::program::{Algebra, Program};

/// The outputs of a program at a point, or `None` if rounding decides which branch it takes.
pub(crate) fn evaluate(program: &Program, context: Context, x: &[f64]) -> Option<Vec<Number>> {
    let mut reference = Reference::new(context);
    let inputs: Vec<_> = x.iter().enumerate().map(|(i, x)| Number::input(*x, i, program.inputs)).collect();
    let outputs = program.run(&mut reference, &inputs);
    reference.is_decided().then_some(outputs)
}

/// As [`evaluate`], along the line of `function::Line`, with one input.
pub(crate) fn evaluate_line(program: &Program, context: Context, t: f64) -> Option<Vec<Number>> {
    let mut reference = Reference::new(context);
    let t = Number::input(t, 0, 1);
    let inputs: Vec<_> = (0..program.inputs)
        .map(|i| {
            let slope = reference.constant(TANGENTS[0][i]);
            let start = reference.constant(LINE_START[i]);
            reference.mul_add(t.clone(), slope, start)
        })
        .collect();
    let outputs = program.run(&mut reference, &inputs);
    reference.is_decided().then_some(outputs)
}
