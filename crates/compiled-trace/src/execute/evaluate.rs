//! Runs a graph on any scalar, operation by operation.
//!
//! For numbers that programs do not run on: tracers that detect patterns, and the arguments of derivative templates.

use super::error::RunError;
use crate::recording::graph::{CONSTANT, Graph, Node, Op, no_outputs, relation};
use differentiation_interface_core::scalar::{Base, Scalar};
use std::panic::Location;

impl Graph {
    /// Repeats on the numbers `x` what the function did when it was recorded, and leaves the outputs in `y`.
    ///
    /// Guards are not checked: the result is that of the function on the branches of the recording. A choice by
    /// [`select`](differentiation_interface_core::scalar::Condition::select) is that of `S`. `calls` runs custom rules:
    /// it gets the arguments and the outputs to be filled.
    ///
    /// # Errors
    /// [`RunError::Length`] if `x` or `parameters` is not as long as at the recording.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, record};
    /// let graph = record(&[2.0, 5.0], &[3.0], Limits::default(), |x, p, y| y.push(x[0] * x[1] + p[0]))?;
    /// let mut y = Vec::new();
    /// graph.evaluate(&[10.0, 7.0], &[1.0], |_, _| {}, &mut y).unwrap();
    /// assert_eq!(y, [71.0]);
    /// assert!(graph.evaluate(&[10.0], &[1.0], |_, _| {}, &mut y).is_err());
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn evaluate<S: Scalar>(
        &self,
        x: &[S],
        parameters: &[S],
        mut calls: impl FnMut(&[S], &mut [S]),
        y: &mut Vec<S>,
    ) -> Result<(), RunError> {
        for (expected, found) in [(self.inputs, x.len()), (self.parameters, parameters.len())] {
            if expected != found {
                return Err(RunError::Length { expected, found });
            }
        }
        let mut values = Vec::with_capacity(self.first_node() + self.nodes.len());
        values.extend_from_slice(x);
        values.extend_from_slice(parameters);
        let (mut arguments, mut results) = (Vec::new(), Vec::<S>::new().into_iter());
        for node in &self.nodes {
            let get = |operand| self.value_of(operand, &values);
            let value = match node.op {
                Op::Unary(rule) => self.rules.apply(rule, get(node.a)),
                Op::Binary(rule) => self.rules.apply2(rule, get(node.a), get(node.b)),
                Op::Keep => self.chosen(node, get(node.b), negative_zero(), &values),
                Op::Drop => self.chosen(node, negative_zero(), get(node.b), &values),
                Op::Call => {
                    let call = &self.calls[node.a as usize];
                    arguments.clear();
                    arguments.extend(call.arguments.iter().map(|argument| get(*argument)));
                    let mut outputs = vec![S::default(); call.outputs];
                    calls(&arguments, &mut outputs);
                    results = outputs.into_iter();
                    results.next().unwrap_or_default()
                }
                Op::CallOutput => results.next().unwrap_or_default(),
                // Guards have no value, that of a comparison is read where it decides, and recordings hold nothing else.
                _ => S::default(),
            };
            values.push(value);
        }
        y.clear();
        y.extend(self.outputs.iter().map(|output| self.value_of(*output, &values)));
        Ok(())
    }

    /// The places in the user's code where a value decided what happens next, in the order of execution, with
    /// repetitions.
    ///
    /// ```
    /// use compiled_trace::{Limits, record};
    /// let graph = record(&[2.0], &[], Limits::default(), |x, _, y| y.push(if x[0] > 1.0 { x[0] } else { -x[0] }))?;
    /// assert_eq!(graph.guard_places().map(|place| place.file()).collect::<Vec<_>>(), [file!()]);
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn guard_places(&self) -> impl Iterator<Item = &'static Location<'static>> + '_ {
        self.nodes.iter().filter_map(|node| self.place_of(node))
    }

    /// The same without the guards of rules that had no outputs. Such a rule may have some at another point, which no call in the recording can find out;
    /// a pattern takes rules to have as many outputs everywhere.
    pub fn decisions(&self) -> impl Iterator<Item = &'static Location<'static>> + '_ {
        self.guard_places().filter(|place| *place != no_outputs())
    }

    /// The place of a guard.
    pub(crate) fn place_of(&self, node: &Node) -> Option<&'static Location<'static>> {
        match node.op {
            Op::Guard(guard) => self.places.get(crate::recording::graph::guard_parts(guard).0).copied(),
            _ => None,
        }
    }

    #[inline(always)]
    fn value_of<S: Scalar>(&self, operand: u32, values: &[S]) -> S {
        match operand & CONSTANT {
            0 => values[operand as usize],
            _ => S::constant(S::Base::from_f64(self.constants[(operand & !CONSTANT) as usize])),
        }
    }

    /// `then` or `otherwise`, by the comparison that is the first operand of a `Keep` or `Drop`.
    fn chosen<S: Scalar>(&self, node: &Node, then: S, otherwise: S, values: &[S]) -> S {
        let comparison = (node.a as usize).checked_sub(self.first_node()).and_then(|index| self.nodes.get(index));
        match comparison {
            Some(Node { op: Op::Compare(number), a, b }) => {
                let (left, right) = (self.value_of(*a, values), self.value_of(*b, values));
                S::select(left, relation(*number), right, then, otherwise)
            }
            _ => otherwise,
        }
    }
}

/// What the side that is not taken adds to the choice.
fn negative_zero<S: Scalar>() -> S {
    S::constant(-S::Base::ZERO)
}
