//! Every kind of error with its exact text, and that preparations survive errors, panics and threads.

use crate::support;
use crate::support::{assert_close, each_engine, each_exact_engine, each_running_engine, each_running_exact_engine};
use differentiation_interface::prelude::*;
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

fn sum_of_squares<T: Real>(x: &[T]) -> T {
    x.iter().map(|v| v * v).sum()
}
fn squares<T: Real>(x: &[T]) -> Vec<T> {
    x.iter().map(|v| v * v).collect()
}
fn line<T: Real>(t: T) -> [T; 2] {
    [3.0 * t, 1.0 - t]
}

#[track_caller]
fn assert_error<R: Debug>(result: Result<R, Error>, kind: ErrorKind, text: &str) {
    let error = result.expect_err("the call is refused");
    assert_eq!(error.kind(), kind);
    assert_eq!(error.to_string(), text);
    assert!(text.starts_with(error.operator()) && text.contains(error.backend()));
}

#[test]
fn points_of_another_length_are_refused() {
    let kind = ErrorKind::PreparedLength { prepared: 3, found: 5 };
    let text = |operator: &str, backend: &str| {
        format!(
            "{operator} with {backend}: prepared for 3 inputs, called with 5; prepare again with a point of length 5"
        )
    };
    each_engine!(|backend, _tolerance| {
        let name = support::name_of(&backend);
        let (three, five) = ([1.0; 3], [1.0; 5]);
        let mut grad = [0.0; 5];
        let mut prepared = prepare_gradient(&sum_of_squares, &backend, &three).unwrap();
        assert_error(prepared.gradient(&five), kind, &text("gradient", name));
        assert_error(prepared.value_and_gradient(&five), kind, &text("gradient", name));
        assert_error(prepared.gradient_into(&mut grad, &five), kind, &text("gradient", name));
        assert_error(prepared.value_and_gradient_into(&mut grad, &five), kind, &text("gradient", name));
        assert_eq!(grad, [0.0; 5]);
        let mut prepared = prepare_jacobian(&squares, &backend, &three).unwrap();
        let mut jac = Matrix::filled(5, 5, 0.0);
        assert_error(prepared.jacobian(&five), kind, &text("jacobian", name));
        assert_error(prepared.value_and_jacobian(&five), kind, &text("jacobian", name));
        assert_error(prepared.jacobian_into(&mut jac, &five), kind, &text("jacobian", name));
        let mut prepared = prepare_pushforward(&squares, &backend, &three, [&three]).unwrap();
        assert_error(prepared.pushforward(&five, [&five]), kind, &text("pushforward", name));
        let mut prepared = prepare_pullback(&squares, &backend, &three, [&three]).unwrap();
        assert_error(prepared.pullback(&five, [&five]), kind, &text("pullback", name));
    });
}

#[test]
fn seeds_of_the_wrong_length_are_refused_by_position() {
    each_engine!(|backend, _tolerance| {
        let name = support::name_of(&backend);
        let (right, wrong): (&[f64], &[f64]) = (&[1.0; 3], &[1.0; 2]);
        let kind = ErrorKind::SeedLength { index: 1, expected: 3, found: 2 };
        let text = |operator: &str| {
            format!(
                "{operator} with {name}: seed 1 has length 2, expected 3; a tangent is as long as the point, a cotangent as the output"
            )
        };
        let x = [1.0, 2.0, 3.0];
        assert_error(pushforward(&squares, &backend, &x, [right, wrong]), kind, &text("pushforward"));
        assert_error(pullback(&squares, &backend, &x, [right, wrong]), kind, &text("pullback"));
        let result = prepare_pushforward(&squares, &backend, &x, [right, wrong]).map(drop);
        assert_error(result, kind, &text("pushforward"));
        assert_error(prepare_pullback(&squares, &backend, &x, [right, wrong]).map(drop), kind, &text("pullback"));
        let result = prepare_pushforward_same_point(&squares, &backend, &x, [right, wrong]).map(drop);
        assert_error(result, kind, &text("pushforward"));
        let result = prepare_pullback_same_point(&squares, &backend, &x, [right, wrong]).map(drop);
        assert_error(result, kind, &text("pullback"));
        let mut held = prepare_pushforward_same_point(&squares, &backend, &x, [right, right]).unwrap();
        assert_error(held.pushforward([right, wrong]), kind, &text("pushforward"));
        assert!(held.pushforward([right, right]).is_ok());
    });
}

#[test]
fn a_call_without_seeds_is_refused() {
    each_engine!(|backend, _tolerance| {
        let name = support::name_of(&backend);
        let none: [&[f64]; 0] = [];
        let text = |operator: &str| {
            format!("{operator} with {name}: no seed was given; pass at least one tangent or cotangent")
        };
        assert_error(pushforward(&squares, &backend, &[1.0], none), ErrorKind::NoSeeds, &text("pushforward"));
        assert_error(pullback(&squares, &backend, &[1.0], none), ErrorKind::NoSeeds, &text("pullback"));
    });
}

#[test]
fn buffers_of_the_wrong_length_are_refused() {
    each_engine!(|backend, _tolerance| {
        let name = support::name_of(&backend);
        let x = [1.0, 2.0, 3.0];
        let mut long = [7.0; 5];
        let kind = ErrorKind::BufferLength { expected: 3, found: 5 };
        let text = |operator: &str| {
            format!("{operator} with {name}: the buffer has length 5, the result needs 3; pass a buffer of length 3")
        };
        assert_error(gradient_into(&sum_of_squares, &mut long, &backend, &x), kind, &text("gradient"));
        assert_error(value_and_gradient_into(&sum_of_squares, &mut long, &backend, &x), kind, &text("gradient"));
        let result = pushforward_into(&squares, [&mut long], &backend, &x, [&x]);
        assert_error(result, kind, &text("pushforward"));
        assert_error(pullback_into(&squares, [&mut long], &backend, &x, [&x]), kind, &text("pullback"));
        assert_eq!(long, [7.0; 5]);
        assert_error(
            derivative_into(&line, &mut long, &backend, 1.0),
            ErrorKind::BufferLength { expected: 2, found: 5 },
            &format!("derivative with {name}: the buffer has length 5, the result needs 2; pass a buffer of length 2"),
        );
    });
}

#[test]
fn matrices_of_the_wrong_size_are_refused() {
    each_engine!(|backend, _tolerance| {
        let name = support::name_of(&backend);
        let x = [1.0, 2.0, 3.0];
        let mut prepared = prepare_jacobian(&squares, &backend, &x).unwrap();
        for found in [(2, 3), (3, 2), (9, 1), (1, 9), (0, 0), (4, 3)] {
            let mut jac = Matrix::filled(found.0, found.1, 7.0);
            let kind = ErrorKind::BufferSize { expected: (3, 3), found };
            let (rows, columns) = found;
            let text = format!(
                "jacobian with {name}: the matrix is {rows} x {columns}, the result is 3 x 3; pass a matrix of 3 x 3"
            );
            assert_error(prepared.jacobian_into(&mut jac, &x), kind, &text);
            assert_error(prepared.value_and_jacobian_into(&mut jac, &x).map(<[f64]>::to_vec), kind, &text);
            assert!(jac.as_slice().iter().all(|v| *v == 7.0));
            if columns == 3 {
                assert_error(jacobian_into(&squares, &mut jac, &backend, &x), kind, &text);
            } else {
                // The number of outputs is not known yet.
                let kind = ErrorKind::BufferSize { expected: (rows, 3), found };
                assert_eq!(jacobian_into(&squares, &mut jac, &backend, &x).unwrap_err().kind(), kind);
            }
        }
        let mut jac = Matrix::filled(3, 3, f64::NAN);
        prepared.jacobian_into(&mut jac, &x).unwrap();
        assert_close(name, jac.as_slice(), &[2.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 6.0], 1e-4);
    });
}

#[test]
fn a_fixed_chunk_larger_than_the_input_is_refused() {
    let backend = AutoForwardDiff::with_chunk::<4>();
    let kind = ErrorKind::ChunkTooLarge { chunk: 4, inputs: 2 };
    let text = |operator: &str| {
        format!(
            "{operator} with forward_diff: chunk size 4 is larger than the 2 inputs; use a chunk size of at most 2, or the automatic one"
        )
    };
    assert_error(gradient(&sum_of_squares, &backend, &[1.0, 2.0]), kind, &text("gradient"));
    assert_error(jacobian(&squares, &backend, &[1.0, 2.0]), kind, &text("jacobian"));
    assert_error(pullback(&squares, &backend, &[1.0, 2.0], [&[1.0, 2.0]]), kind, &text("pullback"));
    let mut prepared = prepare_gradient(&sum_of_squares, &backend, &[1.0; 5]).unwrap();
    assert_error(prepared.prepare_again(&[1.0, 2.0]), kind, &text("gradient"));
    assert_eq!(prepared.gradient(&[1.0; 5]).unwrap(), [2.0; 5]);
    // The lanes of these are the tangents, whatever the chunk is.
    assert_eq!(pushforward(&squares, &backend, &[1.0, 2.0], [&[1.0, 1.0]]).unwrap(), [[2.0, 4.0]]);
    assert_eq!(derivative(&line, &backend, 1.0).unwrap(), [3.0, -1.0]);
}

/// As many outputs as `outputs` says at the time of the call.
fn changing<T: Real>(x: &[T], outputs: &Cell<usize>) -> Vec<T> {
    vec![x[0]; outputs.get()]
}

#[test]
fn a_function_that_changes_its_number_of_outputs_is_refused() {
    each_running_engine!(|backend, _tolerance| {
        let name = support::name_of(&backend);
        let outputs = Cell::new(2);
        let f = |x: &[_]| changing(x, &outputs);
        let kind = ErrorKind::OutputLength { expected: 2, found: 3 };
        let text = format!(
            "jacobian with {name}: the function returned 3 outputs where it returned 2 before; keep the number of outputs the same, or prepare again"
        );
        let mut prepared = prepare_jacobian(&f, &backend, &[1.0]).unwrap();
        let mut jac = Matrix::filled(2, 1, 0.0);
        outputs.set(3);
        assert_error(prepared.jacobian_into(&mut jac, &[1.0]), kind, &text);
        assert_error(prepared.value_and_jacobian_into(&mut jac, &[1.0]).map(<[f64]>::to_vec), kind, &text);
        prepared.prepare_again(&[1.0]).unwrap();
        let mut jac = Matrix::filled(3, 1, 0.0);
        prepared.jacobian_into(&mut jac, &[1.0]).unwrap();
        assert_close(name, jac.as_slice(), &[1.0; 3], 1e-4);
    });
    // Within one call: between two chunks, between two differences.
    let calls = Cell::new(0);
    let growing = |x: &[f64]| {
        calls.set(calls.get() + 1);
        vec![x[0]; calls.get()]
    };
    let error = jacobian(&growing, &AutoFiniteDiff::forward(), &[1.0, 2.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutputLength { expected: 1, found: 2 });
    let error = jacobian(&growing, &AutoFiniteDiff::central(), &[1.0, 2.0]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OutputLength { .. }));
    let outputs = Cell::new(1);
    let growing = |x: &[_]| {
        outputs.set(outputs.get() + 1);
        changing(x, &outputs)
    };
    let error = jacobian(&growing, &AutoForwardDiff::default(), &[1.0; 13]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutputLength { expected: 2, found: 3 });
}

const FOREIGN: &str = "an active number of another differentiation entered the computation; convert an outer number with `lift(&backend, &value)`, and pass work memory as `Cache` instead of keeping numbers between evaluations";

#[test]
fn an_outer_number_of_the_same_type_is_refused() {
    each_exact_engine!(|backend| {
        let name = support::name_of(&backend);
        let inner_error = RefCell::new(None);
        // The inner point is plain, so the inner number has the type of the outer one, and captures it.
        let outer = |x: &[_]| {
            let captured = x[0];
            let inner = |y: &[_]| captured * y[0];
            *inner_error.borrow_mut() = gradient(&inner, &backend, &[1.0, 1.0]).err();
            x[0] * x[1]
        };
        let grad = gradient(&outer, &backend, &[2.0, 3.0]).unwrap_or_default();
        let error = inner_error.take().expect("the inner call is refused");
        assert_eq!(error.kind(), ErrorKind::ForeignNumber);
        assert_eq!(error.to_string(), format!("gradient with {name}: {FOREIGN}"));
        // The outer call is refused as well or right, never wrong.
        assert!(grad.is_empty() || grad == [3.0, 2.0], "{grad:?}");
        assert_eq!(gradient(&|x: &[_]| sum_of_squares(x), &backend, &[2.0, 3.0]).unwrap(), [4.0, 6.0]);
    });
}

#[test]
fn an_outer_number_returned_by_the_inner_function_is_refused() {
    each_exact_engine!(|backend| {
        let refused = Cell::new(false);
        let outer = |x: &[_]| {
            let captured = x[0];
            let result = gradient(&|_: &[_]| captured, &backend, &[1.0, 1.0]);
            refused.set(result.is_err_and(|error| error.kind() == ErrorKind::ForeignNumber));
            x[0] * x[1]
        };
        drop(gradient(&outer, &backend, &[2.0, 3.0]));
        assert!(refused.get(), "{}", support::name_of(&backend));
    });
}

#[test]
fn a_number_kept_from_an_earlier_call_is_refused() {
    each_running_exact_engine!(|backend| {
        let name = support::name_of(&backend);
        let kept = RefCell::new(Vec::new());
        let use_it = Cell::new(false);
        let f = |x: &[_]| {
            let old = if use_it.get() { kept.borrow()[0] } else { x[0] };
            *kept.borrow_mut() = x.to_vec();
            old * x[1]
        };
        let mut prepared = prepare_gradient(&f, &backend, &[1.0, 2.0]).unwrap();
        assert_eq!(prepared.gradient(&[1.0, 2.0]).unwrap(), [2.0, 1.0]);
        use_it.set(true);
        assert_error(
            prepared.gradient(&[1.0, 2.0]),
            ErrorKind::ForeignNumber,
            &format!("gradient with {name}: {FOREIGN}"),
        );
        use_it.set(false);
        assert_eq!(prepared.gradient(&[3.0, 2.0]).unwrap(), [2.0, 3.0]);
    });
}

#[test]
fn the_text_of_an_overflowing_tape_says_what_to_do() {
    let error = Error::new(ErrorKind::TapeOverflow).during("gradient", "reverse_diff");
    assert_eq!(
        error.to_string(),
        "gradient with reverse_diff: the function recorded more operations than the tape or the memory limit allows; split the function, raise the limit or use a forward backend"
    );
    assert_eq!(
        Error::from(ErrorKind::NoSeeds).to_string(),
        "differentiation: no seed was given; pass at least one tangent or cotangent"
    );
}

#[test]
fn a_preparation_survives_errors_and_panics() {
    each_running_engine!(|backend, tolerance| {
        let name = support::name_of(&backend);
        let x = vec![1.0; 30];
        let panics = Cell::new(false);
        let f = |x: &[_]| {
            let y = sum_of_squares(x);
            assert!(!panics.get(), "on purpose");
            y
        };
        let mut prepared = prepare_gradient(&f, &backend, &x).unwrap();
        for _ in 0..3 {
            panics.set(true);
            assert!(catch_unwind(AssertUnwindSafe(|| prepared.gradient(&x))).is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| prepared.prepare_again(&x[..5]))).is_err());
            panics.set(false);
            assert!(prepared.gradient(&x[..5]).is_err());
            assert_close(name, &prepared.gradient(&x).unwrap(), &[2.0; 30], tolerance);
        }
        let g = |x: &[_]| {
            assert!(!panics.get(), "on purpose");
            squares(x)
        };
        let mut prepared = prepare_pullback(&g, &backend, &x[..2], [&x[..2]]).unwrap();
        panics.set(true);
        assert!(catch_unwind(AssertUnwindSafe(|| prepared.pullback(&x[..2], [&x[..2]]))).is_err());
        panics.set(false);
        assert!(prepared.pullback(&x[..2], [&x[..3]]).is_err());
        assert_close(name, &prepared.pullback(&x[..2], [&x[..2]]).unwrap()[0], &[2.0; 2], tolerance);
    });
}

#[test]
fn clones_of_a_preparation_work_on_other_threads() {
    each_engine!(|backend, tolerance| {
        let name = support::name_of(&backend);
        let factor = 3.0;
        let mut grad =
            prepare_gradient(Arc::new(move |x: &[_]| factor * sum_of_squares(x)), &backend, &[0.0; 2]).unwrap();
        let mut jac = prepare_jacobian(&squares, &backend, &[0.0; 2]).unwrap();
        let mut push = prepare_pushforward(&squares, &backend, &[0.0; 2], [&[1.0; 2]]).unwrap();
        let mut pull = prepare_pullback(&squares, &backend, &[0.0; 2], [&[1.0; 2]]).unwrap();
        let mut der = prepare_derivative(&line, &backend, 0.0).unwrap();
        let mut held = prepare_pullback_same_point(&squares, &backend, [&[1.0, 2.0]][0], [&[1.0; 2]]).unwrap();
        let mut clones = (grad.clone(), jac.clone(), push.clone(), pull.clone(), der.clone(), held.clone());
        let there = std::thread::spawn(move || {
            let (grad, jac, push, pull, der, held) = &mut clones;
            let mut all = grad.gradient(&[1.0, 2.0]).unwrap();
            all.extend(jac.jacobian(&[1.0, 2.0]).unwrap().as_slice());
            all.extend(push.pushforward(&[1.0, 2.0], [&[1.0, 2.0]]).unwrap().concat());
            all.extend(pull.pullback(&[1.0, 2.0], [&[1.0, 2.0]]).unwrap().concat());
            all.extend(der.derivative(5.0).unwrap());
            all.extend(held.pullback([&[1.0, 2.0]]).unwrap().concat());
            all
        });
        // The original works on beside it.
        let mut here = grad.gradient(&[1.0, 2.0]).unwrap();
        here.extend(jac.jacobian(&[1.0, 2.0]).unwrap().as_slice());
        here.extend(push.pushforward(&[1.0, 2.0], [&[1.0, 2.0]]).unwrap().concat());
        here.extend(pull.pullback(&[1.0, 2.0], [&[1.0, 2.0]]).unwrap().concat());
        here.extend(der.derivative(5.0).unwrap());
        here.extend(held.pullback([&[1.0, 2.0]]).unwrap().concat());
        assert_eq!(here, there.join().expect("the other thread does not panic"), "{name}");
        let expected = [6.0, 12.0, 2.0, 0.0, 0.0, 4.0, 2.0, 8.0, 2.0, 8.0, 3.0, -1.0, 2.0, 8.0];
        assert_close(name, &here, &expected, tolerance);
    });
}
