//! Compares recordings that differ in their constants alone.
//!
//! Plain numbers that a function reads from elsewhere are constants of a recording. If they change between calls, the
//! function is recorded again and compared with the recording that was compiled, and the places of the constants that have
//! changed become parameters of one program for all of them.
//!
//! ```
//! use compiled_trace::{Limits, Place, record};
//! let record = |c: f64| record(&[2.0], &[], Limits::default(), |x, _, y| y.push(100.0 * x[0] + c));
//! let (first, second) = (record(1.0)?, record(7.0)?);
//!
//! let mut places: Vec<Place> = Vec::new();
//! assert!(first.compare(&second, |place| places.push(place)));
//! let general = first.with_parameters_at(&places)?;
//! assert_eq!(general.to_string(), "%0 = mul 100.0 x0\n%1 = add %0 p0\ny0 = %1\n");
//!
//! let mut values = Vec::new();
//! second.constants_at(&places, &mut values);
//! assert_eq!(values, [7.0]);
//! # Ok::<(), differentiation_interface_core::error::Error>(())
//! ```

use crate::recording::graph::{CONSTANT, Graph, MAX_VALUES, Op};
use crate::recording::rules::PLUS;
use differentiation_interface_core::error::{Error, ErrorKind};
use std::panic::Location;

/// Where a constant is used in a graph: twice the number of the node, plus 1 for its second operand; the outputs follow.
pub type Place = u32;

impl Graph {
    /// Whether the other graph does the same operations on other constants. If it does, `differs` has received the places where the constants
    /// differ, in order.
    ///
    /// Calls of custom rules are the same where they call the same object, or objects of equal [identity](differentiation_interface_core::custom::CustomRule::identity).
    pub fn compare(&self, other: &Graph, mut differs: impl FnMut(Place)) -> bool {
        let same_size = (self.inputs, self.parameters, self.nodes.len(), self.outputs.len())
            == (other.inputs, other.parameters, other.nodes.len(), other.outputs.len());
        if !same_size || !self.rules.are(&other.rules) || self.places != other.places || !self.same_calls(other) {
            return false;
        }
        let mut operand = |place: usize, a: u32, b: u32| {
            if a & b & CONSTANT == 0 {
                return a == b;
            }
            if self.constant(a).to_bits() != other.constant(b).to_bits() {
                differs(place as Place);
            }
            true
        };
        for (i, (a, b)) in self.nodes.iter().zip(&other.nodes).enumerate() {
            // The operands of a call are not values.
            let same = a.op == b.op
                && (matches!(a.op, Op::Call | Op::CallOutput)
                    || (operand(2 * i, a.a, b.a) && operand(2 * i + 1, a.b, b.b)));
            if !same {
                return false;
            }
        }
        let first = 2 * self.nodes.len();
        self.outputs.iter().zip(&other.outputs).enumerate().all(|(i, (a, b))| operand(first + i, *a, *b))
    }

    /// The place in the user's code at which the other recording first does a different operation, if that is a comparison or the
    /// reading of a value into plain code.
    pub fn divergence(&self, other: &Graph) -> Option<&'static Location<'static>> {
        let (node, _) = self.nodes.iter().zip(&other.nodes).find(|(a, b)| a.op != b.op)?;
        self.place_of(node)
    }

    fn same_calls(&self, other: &Graph) -> bool {
        // Arguments that are constants may not differ, as they have no place.
        let same = |a: &u32, b: &u32| {
            if a & b & CONSTANT == 0 { a == b } else { self.constant(*a).to_bits() == other.constant(*b).to_bits() }
        };
        self.calls.len() == other.calls.len()
            && self.calls.iter().zip(&other.calls).all(|(a, b)| {
                a.rule.identity() == b.rule.identity()
                    && a.outputs == b.outputs
                    && a.arguments.len() == b.arguments.len()
                    && a.arguments.iter().zip(&b.arguments).all(|(a, b)| same(a, b))
            })
    }

    fn constant(&self, operand: u32) -> f64 {
        self.constants[(operand & !CONSTANT) as usize]
    }

    /// All places of constants, in order.
    pub fn places_of_constants(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for (i, node) in self.nodes.iter().enumerate() {
            if !matches!(node.op, Op::Call | Op::CallOutput) {
                places.extend((node.a & CONSTANT != 0).then_some(2 * i as Place));
                places.extend((node.b & CONSTANT != 0).then_some(2 * i as Place + 1));
            }
        }
        let first = 2 * self.nodes.len();
        let constant = |(i, output): (usize, &u32)| (output & CONSTANT != 0).then_some((first + i) as Place);
        places.extend(self.outputs.iter().enumerate().filter_map(constant));
        places
    }

    /// Appends the constants at these places.
    pub fn constants_at(&self, places: &[Place], values: &mut Vec<f64>) {
        values.extend(places.iter().map(|place| self.constant(self.operand_at(*place))));
    }

    fn operand_at(&self, place: Place) -> u32 {
        match self.nodes.get(place as usize / 2) {
            Some(node) if place.is_multiple_of(2) => node.a,
            Some(node) => node.b,
            None => self.outputs[place as usize - 2 * self.nodes.len()],
        }
    }

    /// The same graph without guards: valid at its point, and wherever the function is known to take the same branches.
    pub fn without_guards(&self) -> Graph {
        let mut graph = self.clone();
        for node in &mut graph.nodes {
            // Nothing uses the result of a guard, so this is dead code.
            if matches!(node.op, Op::Guard(_)) {
                node.op = Op::Binary(PLUS);
            }
        }
        graph
    }

    /// The same graph with parameters, after the existing ones, in place of the constants at these places.
    ///
    /// # Errors
    /// [`ErrorKind::TapeOverflow`] if it had more than about 2³⁰ values.
    pub fn with_parameters_at(&self, places: &[Place]) -> Result<Graph, Error> {
        let (first, more) = (self.first_node() as u32, places.len() as u32);
        if self.first_node() + self.nodes.len() + places.len() > MAX_VALUES {
            return Err(ErrorKind::TapeOverflow.into());
        }
        let moved = |operand: &mut u32| {
            if *operand & CONSTANT == 0 && *operand >= first {
                *operand += more;
            }
        };
        let mut graph = self.clone();
        graph.parameters += places.len();
        for node in &mut graph.nodes {
            match node.op {
                Op::Call | Op::CallOutput => {}
                Op::Unary(_) | Op::Accumulate => moved(&mut node.a),
                _ => {
                    moved(&mut node.a);
                    moved(&mut node.b);
                }
            }
        }
        graph.calls.iter_mut().flat_map(|call| &mut call.arguments).for_each(moved);
        graph.outputs.iter_mut().for_each(moved);
        for (parameter, place) in (first..).zip(places) {
            match graph.nodes.get_mut(*place as usize / 2) {
                Some(node) if place.is_multiple_of(2) => node.a = parameter,
                Some(node) => node.b = parameter,
                None => graph.outputs[*place as usize - 2 * self.nodes.len()] = parameter,
            }
        }
        Ok(graph)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Recorded, compile, record};

    fn polynomial(x: f64, coefficients: &[f64]) -> Graph {
        record(&[x], &[], Limits::default(), |x, _, y| {
            let zero: Recorded = differentiation_interface_core::Scalar::constant(0.0);
            y.push(coefficients.iter().rev().fold(zero, |sum, c| sum * x[0] + *c));
            y.push(differentiation_interface_core::Scalar::constant(coefficients[0]));
        })
        .unwrap()
    }

    fn differences(a: &Graph, b: &Graph) -> Option<Vec<Place>> {
        let mut places = Vec::new();
        a.compare(b, |place| places.push(place)).then_some(places)
    }

    fn run(graph: &Graph, x: f64, parameters: &[f64]) -> [f64; 4] {
        let adjoint = compile(graph).unwrap().adjoint(1).unwrap().executable();
        let (mut y, mut grad) = ([0.0; 2], [0.0]);
        adjoint.run(&mut adjoint.workspace(), &[&[x], parameters, &[1.0, 0.0]], &mut [&mut y, &mut grad]).unwrap();
        [y[0], y[1], grad[0], 0.0]
    }

    #[test]
    fn a_recording_with_parameters_serves_all_constants() {
        let (first, second) = (polynomial(2.0, &[1.0, 2.0, 3.0]), polynomial(2.0, &[5.0, 2.0, 7.0]));
        assert_eq!(differences(&first, &first), Some(vec![]));
        let places = differences(&first, &second).expect("they do the same");
        // The coefficient 2 stays a constant, the first one is an output too.
        let general = first.with_parameters_at(&places).unwrap();
        assert_eq!(general.parameters(), 3);
        let mut values = Vec::new();
        second.constants_at(&places, &mut values);
        assert_eq!(run(&general, 3.0, &values), [5.0 + 6.0 + 63.0, 5.0, 2.0 + 42.0, 0.0]);
        values.clear();
        first.constants_at(&places, &mut values);
        assert_eq!(run(&general, 3.0, &values), [1.0 + 6.0 + 27.0, 1.0, 2.0 + 18.0, 0.0]);
    }

    #[test]
    fn guards_can_be_taken_out() {
        let graph = record(&[2.0], &[], Limits::default(), |x, _, y| {
            y.push(if x[0] > 1.0 { x[0] * x[0] } else { x[0] });
            y.push(x[0]);
        })
        .unwrap();
        assert_eq!((graph.guards(), graph.without_guards().guards()), (1, 0));
        assert_eq!(run(&graph.without_guards(), -3.0, &[]), [9.0, -3.0, -6.0, 0.0]);
    }

    #[test]
    fn all_constants_can_be_parameters() {
        let graph = polynomial(2.0, &[1.0, 2.0, 3.0]);
        let places = graph.places_of_constants();
        let general = graph.with_parameters_at(&places).unwrap();
        assert!(general.places_of_constants().is_empty());
        let mut values = Vec::new();
        graph.constants_at(&places, &mut values);
        assert_eq!(run(&general, 3.0, &values), run(&graph, 3.0, &[]));
    }

    #[test]
    fn other_operations_lengths_and_branches_are_no_match() {
        let graph = polynomial(2.0, &[1.0, 2.0, 3.0]);
        assert_eq!(differences(&graph, &polynomial(2.0, &[1.0, 2.0])), None);
        let branch = |x: f64| {
            record(&[x], &[], Limits::default(), |x, _, y| y.push(if x[0] > 1.0 { x[0] * 2.0 } else { x[0] * 3.0 }))
                .unwrap()
        };
        assert_eq!(differences(&branch(2.0), &branch(3.0)), Some(vec![]));
        assert_eq!(differences(&branch(2.0), &branch(0.0)), None);
        let power = |n: i32| {
            record(&[1.0], &[], Limits::default(), |x, _, y| {
                y.push(num_traits::Float::powi(x[0], n));
            })
            .unwrap()
        };
        assert_eq!(differences(&power(3), &power(3)), Some(vec![]));
        assert_eq!(differences(&power(3), &power(4)), None);
    }
}
