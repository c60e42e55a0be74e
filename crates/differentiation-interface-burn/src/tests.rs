//! The kit's scenarios of tensors on `AutoBurn`, and what is peculiar to it.

use crate::kit::constant;
use crate::{AutoBurn, Burn, Leaf};
use burn_tensor::{DType, Device, Element, Tensor};
use differentiation_interface::prelude::*;
use differentiation_interface::swept_rule::PullbackRule;
use differentiation_interface_test::families::{tensor_jacobians, tensor_scenarios};
use differentiation_interface_test::{Options, Outcome, arrays_only, test_differentiation};
use std::sync::atomic::{AtomicUsize, Ordering};

fn count(outcome: &Outcome) -> (usize, usize) {
    outcome.assert();
    outcome.counts().iter().fold((0, 0), |(s, c), count| (s + count.scenarios, c + count.checks))
}

#[test]
fn the_kit_passes() {
    let backends = [arrays_only("burn", AutoBurn::default())];
    let double = count(&test_differentiation(&backends, &tensor_scenarios::<f64>(), &Options::default()));
    let single = count(&test_differentiation(&backends, &tensor_scenarios::<f32>(), &Options::default()));
    let matrices: Vec<_> = tensor_jacobians::<f64>().into_iter().filter(|s| s.point().len() == 6).collect();
    let shaped = [arrays_only("burn", AutoBurn::default().shaped([2, 3]))];
    let shaped = count(&test_differentiation(&shaped, &matrices, &Options::default()));
    println!("burn: scenarios and checks: f64 {double:?}, f32 {single:?}, of rank two {shaped:?}");
    assert_eq!((double.0, single.0, shaped.0), (69, 69, 2));
}

fn norm2(x: Tensor<1>) -> Tensor<1> {
    (x.clone() * x).sum()
}

#[test]
fn constants_are_passed() {
    let f = |x: Tensor<1>, k: &f64| (x.clone() * x).sum() * *k;
    let backend = AutoBurn::default();
    assert_eq!(value_and_gradient(&f, &backend, (&[1.0, 2.0], Constant(&3.0))).unwrap(), (15.0, vec![6.0, 12.0]));
    let mut prepared = prepare_gradient(&f, &backend, (&[0.0, 0.0], Constant(&1.0))).unwrap();
    assert_eq!(prepared.gradient((&[1.0, 2.0], Constant(&-1.0))).unwrap(), [-2.0, -4.0]);
    assert_eq!(prepared.value((&[1.0, 2.0], Constant(&-1.0))).unwrap(), -5.0);
    let g = |x: Tensor<1>, k: &f64, shift: &[f64]| x * *k + shift[0];
    let point = (&[1.0], Constant(&2.0), Constant(&[5.0][..]));
    let (y, jac) = value_and_jacobian(&g, &backend, point).unwrap();
    assert_eq!(y, [7.0]);
    assert_eq!(jac, [[2.0]]);
}

#[test]
fn arrays_and_single_precision_are_points() {
    let backend = AutoBurn::default();
    assert_eq!(gradient(&norm2, &backend, [1.0, 2.0]).unwrap(), [2.0, 4.0]);
    assert_eq!(gradient(&norm2, &backend, &[1.0_f32, 2.0]).unwrap(), [2.0_f32, 4.0]);
    let on = AutoBurn::new(Burn::on(Device::flex()));
    assert_eq!(gradient(&norm2, &on, &[3.0]).unwrap(), [6.0]);
}

#[test]
fn an_empty_point_has_an_empty_gradient() {
    let backend = AutoBurn::default();
    let (y, grad) = value_and_gradient(&|x: Tensor<1>| x.sum(), &backend, &Vec::<f64>::new()).unwrap();
    assert_eq!((y, grad), (0.0, vec![]));
    let jac = jacobian(&|x: Tensor<1>| x * 2.0, &backend, &Vec::<f64>::new()).unwrap();
    assert_eq!(jac.size(), (0, 0));
    let jac = jacobian(&|x: Tensor<1>| x.sum(), &backend, &Vec::<f64>::new()).unwrap();
    assert_eq!(jac.size(), (1, 0));
}

#[test]
fn extreme_points_have_their_limits() {
    let backend = AutoBurn::default();
    let (y, grad) = value_and_gradient(&|x: Tensor<1>| x.sqrt().sum(), &backend, &[0.0, 4.0]).unwrap();
    assert_eq!((y, grad), (2.0, vec![f64::INFINITY, 0.25]));
    let (y, grad) = value_and_gradient(&|x: Tensor<1>| x.log().sum(), &backend, &[0.0]).unwrap();
    assert_eq!((y, grad), (f64::NEG_INFINITY, vec![f64::INFINITY]));
    let grad = gradient(&norm2, &backend, &[f64::NAN, 1.0, f64::INFINITY]).unwrap();
    assert!(grad[0].is_nan() && grad[1] == 2.0 && grad[2] == f64::INFINITY);
    let grad = gradient(&norm2, &backend, &[1e300, 1e-320]).unwrap();
    assert_eq!(grad, [2e300, 2.0 * 1e-320]);
}

#[test]
fn wrong_uses_are_errors() {
    let backend = AutoBurn::default();
    let message = |error: Error| error.to_string();
    let found = gradient(&|x: Tensor<1>| x, &backend, &[1.0, 2.0]).unwrap_err();
    assert_eq!(
        message(found),
        "gradient with burn: the function returned 2 numbers, a gradient needs one; did you mean `jacobian`?"
    );
    let found = gradient(&|x: Tensor<2>| x.sum(), &AutoBurn::default().shaped([2, 3]), &[1.0, 2.0]).unwrap_err();
    assert_eq!(
        message(found),
        "gradient with burn: the backend gives points a shape of 6 numbers, this point has 2; pass a point of length 6, or set another shape"
    );
    let wrong = |x: Tensor<1>| x.reshape([3, 3]).sum();
    let found = gradient(&wrong, &backend, &[1.0, 2.0]).unwrap_err();
    assert_eq!(found.kind(), ErrorKind::EngineFailed);
    assert!(found.report().unwrap().contains("Reshape"), "{found}");
    // A constant of the device's default number type, f32, in a function of f64.
    let mixed = |x: Tensor<1>| (x.clone() + Tensor::from_floats([1.0, 2.0], &x.device())).sum();
    let found = gradient(&mixed, &backend, &[1.0, 2.0]);
    assert!(found.as_ref().is_err_and(|error| error.kind() == ErrorKind::EngineFailed), "{found:?}");
    // An engine that failed serves the next call.
    let mut prepared = prepare_gradient(&wrong, &backend, &[0.0; 9]).unwrap();
    assert!(prepared.prepare_again(&[0.0; 2]).is_err());
    assert_eq!(prepared.gradient(&[1.0; 9]).unwrap(), [1.0; 9]);
}

#[test]
fn a_changed_number_of_outputs_is_an_error() {
    let length = AtomicUsize::new(2);
    let f = |x: Tensor<1>| x.narrow(0, 0, length.load(Ordering::Relaxed));
    let mut prepared = prepare_jacobian(&f, &AutoBurn::default(), &[1.0, 2.0, 3.0]).unwrap();
    length.store(3, Ordering::Relaxed);
    let kind = prepared.jacobian(&[1.0, 2.0, 3.0]).unwrap_err().kind();
    assert_eq!(kind, ErrorKind::OutputLength { expected: 2, found: 3 });
}

#[test]
fn a_tensor_function_is_a_leaf_of_numbers() {
    // |A v|² with A = [[1, 2], [3, 4]]: the gradient is 2 Aᵀ A v.
    let tensor = |v: Tensor<1>| {
        let a = constant(&v, &[1.0, 2.0, 3.0, 4.0], [2, 2]);
        a.matmul(v.reshape([2, 1])).powi_scalar(2).sum()
    };
    let leaf = Custom::new(AutoBurn::default().rule(tensor));
    // At v = (x₀, 2 x₁) = (1, 2): A v = (5, 11), 2 Aᵀ A v = (76, 108).
    let f = |x: &[_]| leaf.number(&[x[0], x[1] + x[1]]) * x[0];
    let expected = (146.0, vec![76.0 + 146.0, 216.0]);
    assert_eq!(value_and_gradient(&f, &AutoReverseDiff::default(), &[1.0, 1.0]).unwrap(), expected);
    let f = |x: &[_]| leaf.number(&[x[0], x[1] + x[1]]) * x[0];
    assert_eq!(value_and_gradient(&f, &AutoReverseDiff::compiled(), &[1.0, 1.0]).unwrap(), expected);
    let f = |x: &[_]| leaf.number(&[x[0], x[1] + x[1]]) * x[0];
    assert_eq!(value_and_gradient(&f, &AutoForwardDiff::default(), &[1.0, 1.0]).unwrap(), expected);
    let error = hessian(&|x: &[_]| leaf.number(x), &AutoForwardDiff::default(), &[1.0, 2.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RuleOrder { rule: "burn" });
    let failing = Custom::new(AutoBurn::default().rule(|x: Tensor<1>| x.reshape([3, 3]).sum()));
    let error = gradient(&|x: &[_]| failing.number(x), &AutoReverseDiff::default(), &[1.0, 2.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::EngineFailed);
}

/// The positive root y of y³ + y = x.
#[custom_rule(pullback = root_pullback)]
fn root(x: &[f64]) -> f64 {
    (0..60).fold(x[0], |y, _| y - (y * y * y + y - x[0]) / (3.0 * y * y + 1.0))
}
fn root_pullback<S: Scalar<Base = f64>>(_: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
    dx[0] = dy[0] / (S::constant(3.0) * y[0] * y[0] + S::constant(1.0));
}

#[test]
fn a_custom_rule_is_a_leaf_of_tensors() {
    let each = |x: &[_]| -> Vec<_> { x.iter().map(|x| root(&[*x])).collect() };
    let leaf = Leaf::new(PullbackRule::new(each, AutoReverseDiff::default()));
    // Roots 2 and 1 of y³ + y = 10 and 2; derivatives 1/13 and 1/4; the leaf is used twice, inside and outside.
    let f = |x: Tensor<1>| (leaf.call(x.clone() * 2.0) * x).sum();
    let expected = [2.0 + 5.0 * 2.0 / 13.0, 1.0 + 2.0 / 4.0];
    let check = |grad: Vec<f64>| assert!(grad.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{grad:?}");
    let (y, grad) = value_and_gradient(&f, &AutoBurn::default(), &[5.0_f64, 1.0]).unwrap();
    assert!((y - 11.0).abs() < 1e-12);
    check(grad);
    check(pullback(&f, &AutoBurn::default(), &[5.0, 1.0], [&[1.0]]).unwrap().concat());
    let value = prepare_gradient(&f, &AutoBurn::default(), &[5.0, 1.0]).unwrap().value(&[5.0_f64, 1.0]).unwrap();
    assert!((value - 11.0).abs() < 1e-12);
}

#[test]
fn errors_of_a_leaf_are_reported() {
    let leaf = Leaf::<_, f64>::new(PlainRule::new("no_derivative", |x: &[f64], y: &mut Vec<f64>| x.clone_into(y)));
    let error = gradient(&|x: Tensor<1>| leaf.call(x).sum(), &AutoBurn::default(), &[1.0]).unwrap_err();
    assert!(error.report().unwrap().contains("no_derivative"), "{error}");
    let error = gradient(&|x: Tensor<1>| leaf.call(x).sum(), &AutoBurn::default(), &[1.0_f32]).unwrap_err();
    assert!(error.report().unwrap().contains("f64"), "{error}");
    assert_eq!((f64::dtype(), f32::dtype()), (DType::F64, DType::F32));
}

#[test]
fn each_sweep_needs_an_evaluation() {
    let calls = AtomicUsize::new(0);
    let f = |x: Tensor<1>| {
        calls.fetch_add(1, Ordering::Relaxed);
        x.powi_scalar(2)
    };
    let jac = jacobian(&f, &AutoBurn::default(), &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(jac, [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]);
    assert_eq!(calls.load(Ordering::Relaxed), 3);
}
