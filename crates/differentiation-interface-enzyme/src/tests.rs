//! Operators, shapes and contexts against answers by hand. The call of the test kit is in `tests/kit.rs`, a program of its own, because Enzyme does not
//! compile all of its functions.

use crate::AutoEnzyme;
use differentiation_interface_core::context::{Cache, Constant};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::in_place;
use differentiation_interface_core::operators::*;
use std::hint::black_box;

#[test]
fn operators_and_shapes() {
    let k = black_box(2.0);
    let number = |x: &[f64]| k * x[0] * x[0] + x[1].sin();
    assert_eq!(gradient(&number, &AutoEnzyme, &[3.0, 0.0]).unwrap(), [12.0, 1.0]);
    let vector = move |x: &[f64]| vec![k * x[0] * x[0], k * x[1] * x[1]];
    let jac = jacobian(&vector, &AutoEnzyme, &[3.0, 0.5]).unwrap();
    assert_eq!(jac.as_slice(), [12.0, 0.0, 0.0, 2.0]);
    assert_eq!(pullback(&vector, &AutoEnzyme, &[3.0, 0.5], [&[1.0, 1.0][..]]).unwrap(), [[12.0, 2.0]]);
    let tangents = [[1.0, 1.0], [0.0, 1.0]];
    assert_eq!(pushforward(&vector, &AutoEnzyme, &[3.0, 0.5], tangents).unwrap(), [[12.0, 2.0], [0.0, 2.0]]);
    assert_eq!(derivative(&|x: f64| x * x, &AutoEnzyme, 3.0).unwrap(), 6.0);
    // More inputs than outputs: by rows.
    let wide = |x: &[f64]| [x.iter().map(|v| v * v).sum::<f64>(), x[0] * x[9]];
    let x: [f64; 10] = std::array::from_fn(|i| i as f64);
    let jac = jacobian(&wide, &AutoEnzyme, &x).unwrap();
    let expected = [x.map(|v| 2.0 * v), std::array::from_fn(|i| if i == 0 { 9.0 } else { 0.0 })];
    assert_eq!(jac.as_slice(), expected.as_flattened());
}

#[test]
fn a_wrong_derivative_is_refused() {
    let k = black_box(2.0);
    // The inner closure holds a reference to `k` beside those to the point: Enzyme (LLVM 23) takes the value of `k` for its tangent too.
    let by_reference = |x: &[f64]| x.iter().map(|v| k * v * v).collect::<Vec<f64>>();
    match jacobian(&by_reference, &AutoEnzyme, &[3.0, 0.5]) {
        Ok(jac) => assert_eq!(jac.as_slice(), [12.0, 0.0, 0.0, 2.0]),
        Err(error) => assert!(matches!(error.kind(), ErrorKind::SelfTest { .. }), "{error}"),
    }
}

#[test]
fn contexts() {
    let f = |x: &[f64], k: &f64| k * x[0] * x[1];
    assert_eq!(gradient(&f, &AutoEnzyme, (&[3.0, 2.0], Constant(&5.0))).unwrap(), [10.0, 15.0]);
    let f = |x: &[f64], work: &mut Vec<f64>| {
        work[0] = x[0] * x[1];
        work[0] * work[0]
    };
    // (x₀ x₁)²
    let work = [0.0];
    assert_eq!(gradient(&f, &AutoEnzyme, (&[3.0, 2.0], Cache(&work[..]))).unwrap(), [24.0, 36.0]);
}

#[test]
fn in_place_functions() {
    let f = in_place(
        |y: &mut [f64], x: &[f64]| {
            y[0] = x[0] * x[1];
            y[1] = x[1] * x[1];
        },
        2,
    );
    assert_eq!(jacobian(&f, &AutoEnzyme, &[3.0, 2.0]).unwrap().as_slice(), [2.0, 3.0, 0.0, 4.0]);
}

#[test]
fn prepared_calls_follow_the_number_of_outputs_by_an_error() {
    let f = |x: &[f64]| vec![x[0] * x[0]; if x[0] > 5.0 { 3 } else { 2 }];
    let mut prepared = prepare_jacobian(&f, &AutoEnzyme, &[2.0]).unwrap();
    assert_eq!(prepared.jacobian(&[3.0]).unwrap().as_slice(), [6.0, 6.0]);
    let error = prepared.jacobian(&[6.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutputLength { expected: 2, found: 3 });
    assert_eq!(prepared.jacobian(&[4.0]).unwrap().as_slice(), [8.0, 8.0]);
}

#[test]
fn single_precision() {
    let f = |x: &[f32]| x[0] * x[0] * x[1];
    assert_eq!(gradient(&f, &AutoEnzyme, &[3.0_f32, 2.0]).unwrap(), [12.0, 9.0]);
}
