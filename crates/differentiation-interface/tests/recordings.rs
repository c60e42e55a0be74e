//! What a compiled recording keeps, when it is made anew, and what is said where it may not be.

use compiled_trace::{GuardFailed, RunError};
use differentiation_interface::prelude::*;
use std::cell::Cell;

#[test]
fn preparing_again_sees_what_a_closure_captured() {
    let factor = Cell::new(2.0);
    let backend = AutoReverseDiff::compiled();
    let f = |x: &[_]| x[0] * x[0] * factor.get();
    let mut prepared = prepare_gradient(&f, &backend, &[0.0]).unwrap();
    assert_eq!(prepared.gradient(&[3.0]), Ok(vec![12.0]));
    factor.set(5.0);
    // As documented: captured state is taken to be constant until the preparation is made again.
    assert_eq!(prepared.gradient(&[3.0]), Ok(vec![12.0]));
    prepared.prepare_again(&[0.0]).unwrap();
    assert_eq!(prepared.gradient(&[3.0]), Ok(vec![30.0]));

    let f = |x: &[_]| vec![x[0] * factor.get()];
    let mut prepared = prepare_jacobian(&f, &backend, &[0.0]).unwrap();
    factor.set(7.0);
    prepared.prepare_again(&[0.0]).unwrap();
    assert_eq!(prepared.jacobian(&[3.0]).unwrap().as_slice(), [7.0]);
}

#[test]
fn another_branch_that_is_refused_is_named() {
    let backend = AutoReverseDiff::compiled().refusing_other_branches();
    let f = |x: &[_]| if x[0] > 1.0 { x[0] * x[0] } else { x[0] * (-1.0) };
    let mut prepared = prepare_gradient(&f, &backend, &[2.0]).unwrap();
    let error = prepared.gradient(&[0.5]).unwrap_err();
    let ErrorKind::OtherBranch { place: Some(place) } = error.kind() else { panic!("{error}") };
    let text = format!(
        "gradient with compiled_reverse_diff: {place} decides otherwise at this point than where the function was \
         recorded; prepare again at this point or do not refuse other branches"
    );
    assert_eq!(error.to_string(), text);
    prepared.prepare_again(&[0.5]).unwrap();
    assert_eq!(prepared.gradient(&[0.25]), Ok(vec![-1.0]));
    // The place of a guard can be unknown.
    let unknown = Error::from(RunError::Guard(GuardFailed { place: None }));
    assert_eq!(unknown.kind(), ErrorKind::OtherBranch { place: None });
    assert_eq!(
        unknown.to_string(),
        "differentiation: the function decides otherwise at this point than where it was recorded; prepare again at this \
         point or do not refuse other branches"
    );
}

#[test]
fn a_memory_limit_ends_in_an_error() {
    let backend: AnyBackend = "ReverseDiff(compile=true, memory_limit=240)".parse().unwrap();
    let product = |x: &[_]| x.iter().fold(x[0], |a, b| a * *b);
    assert_eq!(gradient(&product, &backend, &[2.0, 3.0]), Ok(vec![12.0, 4.0]));
    let error = gradient(&product, &backend, &[1.0; 20]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TapeOverflow);
    assert_eq!(
        error.to_string(),
        "gradient with any: the function recorded more operations than a tape or a memory limit has room for; split it, \
         raise the limit or use a forward backend"
    );
}
