//! Expressions of recordings, their derivatives, and recordings of these.

use super::{Expressions, Id};
use compiled_trace::{Graph, Limits, Recorded, compile, record};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::scalar::{Real, Scalar};
use num_traits::Float as _;

fn recorded(x: &[f64], f: impl FnOnce(&[Recorded]) -> Vec<Recorded>) -> Graph {
    record(x, &[], Limits::default(), |x, _, y| *y = f(x)).unwrap()
}

fn run(graph: &Graph, x: &[f64]) -> Option<Vec<f64>> {
    let program = compile(graph).unwrap().executable();
    let mut y = vec![f64::NAN; program.outputs()[0]];
    let done = program.run(&mut program.workspace(), &[x, &[]], &mut [&mut y]);
    done.ok().map(|()| y)
}

/// The value and the gradient of a function of one output, run as a recording.
fn value_and_gradient(graph: &Graph, x: &[f64]) -> Option<Vec<f64>> {
    let mut expressions = Expressions::new(graph.rules().clone(), 1000);
    let read = expressions.read(graph).unwrap();
    let gradient = expressions.gradient(read.outputs[0], |_| true).unwrap();
    let zero = expressions.number(0.0).unwrap();
    let entry = |i: u32| gradient.iter().find(|(input, _)| *input == i).map_or(zero, |(_, id): &(u32, Id)| *id);
    let entries: Vec<(u32, Id)> = (0..x.len() as u32).map(|i| (i, entry(i))).collect();
    run(&expressions.write(graph, &read.outputs, &entries, &read.guards).unwrap(), x)
}

#[test]
fn gradients_are_those_by_hand() {
    let graph = recorded(&[1.0; 3], |x| vec![x[0] * x[0] * x[1] + 4.0]);
    assert_eq!(value_and_gradient(&graph, &[3.0, 5.0, 7.0]), Some(vec![49.0, 30.0, 9.0, 0.0]));
    let graph = recorded(&[1.0; 2], |x| vec![x[0] / x[1] - x[0].powi(3)]);
    assert_eq!(value_and_gradient(&graph, &[2.0, 4.0]), Some(vec![-7.5, 0.25 - 12.0, -0.125]));
    let graph = recorded(&[], |_| vec![Recorded::constant(2.0)]);
    assert_eq!(value_and_gradient(&graph, &[]), Some(vec![2.0]));
    let graph = recorded(&[1.0], |x| vec![x[0]]);
    assert_eq!(value_and_gradient(&graph, &[9.0]), Some(vec![9.0, 1.0]));
}

#[test]
fn equal_operations_are_stored_once() {
    let graph = recorded(&[1.0], |x| vec![x[0].sin() * x[0].sin()]);
    let mut expressions = Expressions::new(graph.rules().clone(), 1000);
    expressions.read(&graph).unwrap();
    // x, sin x, the product.
    assert_eq!(expressions.len(), 3);
}

/// √x where x is positive, else 1, times y: at x = 0 the derivative by x is 0, not the infinite one of the root.
#[test]
fn the_side_that_is_not_taken_contributes_nothing() {
    let zero = || Recorded::constant(0.0);
    let f = |x: &[Recorded]| vec![x[0].greater_than(zero()).select(x[0].sqrt(), Recorded::constant(1.0)) * x[1]];
    let graph = recorded(&[1.0; 2], f);
    assert_eq!(value_and_gradient(&graph, &[4.0, 3.0]), Some(vec![6.0, 0.75, 2.0]));
    assert_eq!(value_and_gradient(&graph, &[0.0, 3.0]), Some(vec![3.0, 0.0, 1.0]));
    assert_eq!(value_and_gradient(&graph, &[0.0, f64::INFINITY]), Some(vec![f64::INFINITY, 0.0, 1.0]));
    // The greater of two: a rule whose derivative is a choice.
    let graph = recorded(&[1.0, 2.0], |x| vec![x[0].max(x[1]) * x[0]]);
    assert_eq!(value_and_gradient(&graph, &[1.0, 2.0]), Some(vec![2.0, 2.0, 1.0]));
    assert_eq!(value_and_gradient(&graph, &[3.0, 2.0]), Some(vec![9.0, 6.0, 0.0]));
}

#[test]
fn guards_are_kept() {
    let graph = recorded(&[2.0], |x| vec![if x[0] > 1.0 { x[0] * x[0] } else { x[0] }]);
    assert_eq!(value_and_gradient(&graph, &[3.0]), Some(vec![9.0, 6.0]));
    assert_eq!(value_and_gradient(&graph, &[0.5]), None);
}

#[test]
fn there_is_a_limit() {
    let graph = recorded(&[1.0; 9], |x| vec![x.iter().map(|v| v.sin()).sum()]);
    let mut expressions = Expressions::new(graph.rules().clone(), 20);
    let error = expressions.read(&graph).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Refused { .. }), "{error}");
    assert!(error.to_string().contains("with_most_operations"), "{error}");
}
