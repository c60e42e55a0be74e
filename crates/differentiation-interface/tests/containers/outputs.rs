//! Outputs whose shape or constant fields follow from a branch, from a constant or from the shape of the point: those of the call, whatever
//! computes it.

use differentiation_interface::prelude::*;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbers in two parts.
#[derive(Clone, Debug, PartialEq, Container)]
struct Parts<T = f64> {
    a: Vec<T>,
    b: Vec<T>,
}

fn parts<T: Real>(x: &[T], split: usize) -> Parts<T> {
    let all = [x[0] * x[1], 3.0 * x[1], x[0]];
    Parts { a: all[..split].to_vec(), b: all[split..].to_vec() }
}

#[differentiable]
fn by_branch<T: Real>(x: &[T]) -> Parts<T> {
    let split = if x[0] < 0.0 { 1 } else { 2 };
    parts(x, split)
}

#[differentiable]
fn by_constant<T: Real>(x: &[T], #[constant] split: &usize) -> Parts<T> {
    let all = [x[0] * x[1], 3.0 * x[1], x[0]];
    Parts { a: all[..*split].to_vec(), b: all[*split..].to_vec() }
}

/// The two parts as one derivative along a line.
#[differentiable]
fn along_a_line<T: Real>(t: T) -> Parts<T> {
    let split = if t < 0.0 { 1 } else { 2 };
    let all = [t * t * t, 3.0 * t, t * t];
    Parts { a: all[..split].to_vec(), b: all[split..].to_vec() }
}

/// A number of plain data, and one whose type no engine can compare.
#[derive(Clone, Debug, PartialEq)]
enum Sign {
    Negative,
    Positive,
}
#[derive(Clone, Debug, PartialEq, Container)]
struct Noted<T = f64> {
    y: [T; 1],
    #[constant]
    note: String,
}
#[derive(Clone, Debug, PartialEq, Container)]
struct Marked<T = f64> {
    y: [T; 1],
    #[constant]
    sign: Sign,
}

#[differentiable(NotedObject)]
fn noted<T: Real>(x: &[T]) -> Noted<T> {
    let note = if x[0] < 0.0 { "negative" } else { "positive" };
    Noted { y: [x[0] * x[1]], note: note.to_owned() }
}

#[differentiable(MarkedObject)]
fn marked<T: Real>(x: &[T]) -> Marked<T> {
    let sign = if x[0] < 0.0 { Sign::Negative } else { Sign::Positive };
    Marked { y: [x[0] * x[1]], sign }
}

/// Runs a block with engines that replay recordings from various calls on, and with one that does not.
macro_rules! replaying {
    ($backend:ident => $body:block) => {{
        replaying!(@ $backend, AutoForwardDiff::default(), $body);
        replaying!(@ $backend, AutoReverseDiff::compiled(), $body);
        replaying!(@ $backend, AutoReverseDiff::compiled().with_most_recordings(1), $body);
        replaying!(@ $backend, AutoReverseDiff::default(), $body);
        replaying!(@ $backend, AutoReverseDiff::default().recording_from(1), $body);
        replaying!(@ $backend, AutoReverseDiff::default().recording_from(3), $body);
        replaying!(@ $backend, "ReverseDiff(compile=true)".parse::<AnyBackend>().unwrap(), $body);
        replaying!(@ $backend, "ReverseDiff(recording_from=3)".parse::<AnyBackend>().unwrap(), $body);
    }};
    (@ $backend:ident, $engine:expr, $body:block) => {{
        let $backend = $engine;
        $body
    }};
}

const CALLS: usize = 130;

/// Points on both branches; a branch lasts for some calls.
fn point(call: usize) -> [f64; 2] {
    let sign = if (call / 3).is_multiple_of(2) { 1.0 } else { -1.0 };
    [sign * (2.0 + call as f64), 5.0]
}

#[track_caller]
fn same<T: PartialEq + Debug>(found: T, expected: T, backend: &impl Debug, call: usize) {
    assert_eq!(found, expected, "{backend:?}, call {call}");
}

#[test]
fn values_have_the_shape_of_their_branch() {
    replaying!(backend => {
        let mut jac = prepare_jacobian(&ByBranch, &backend, &[2.0, 5.0]).unwrap();
        let mut back = prepare_pullback(&ByBranch, &backend, &[2.0, 5.0], [&[0.0; 3]]).unwrap();
        let mut along = prepare_pushforward(&ByBranch, &backend, &[2.0, 5.0], [&[0.0; 2]]).unwrap();
        for call in 0..CALLS {
            let x = point(call);
            let expected = by_branch(&x);
            same(jac.value_and_jacobian(&x).unwrap().0, expected.clone(), &backend, call);
            same(back.value_and_pullback(&x, [&[1.0, 0.0, 0.0]]).unwrap().0, expected.clone(), &backend, call);
            same(along.value_and_pushforward(&x, [&[1.0, 0.0]]).unwrap().0, expected.clone(), &backend, call);
            if call % 7 == 0 {
                jac = jac.clone();
                same(jac.value(&x).unwrap(), expected, &backend, call);
            }
        }
    });
}

#[test]
fn values_have_the_shape_that_their_constant_decides() {
    let x = [2.0, 5.0];
    replaying!(backend => {
        for every in [1, 5] {
            let split = |call| (call / every) % 4;
            let mut jac = prepare_jacobian(&ByConstant, &backend, (&x, Constant(&1))).unwrap();
            let mut back = prepare_pullback(&ByConstant, &backend, (&x, Constant(&1)), [&[0.0; 3]]).unwrap();
            let mut along = prepare_pushforward(&ByConstant, &backend, (&x, Constant(&1)), [&[0.0; 2]]).unwrap();
            for call in 0..CALLS {
                let at = (&x, Constant(&split(call)));
                let expected = by_constant(&x, &split(call));
                same(jac.value_and_jacobian(at).unwrap().0, expected.clone(), &backend, call);
                same(back.value_and_pullback(at, [&[1.0, 0.0, 0.0]]).unwrap().0, expected.clone(), &backend, call);
                same(along.value_and_pushforward(at, [&[1.0, 0.0]]).unwrap().0, expected.clone(), &backend, call);
            }
        }
    });
}

#[test]
fn products_have_the_shape_of_the_output() {
    let tangent = |x: &[f64; 2], split| {
        let all = [x[1], 0.0, 1.0];
        Parts { a: all[..split].to_vec(), b: all[split..].to_vec() }
    };
    replaying!(backend => {
        let mut along = prepare_pushforward(&ByBranch, &backend, &[2.0, 5.0], [&[0.0; 2]]).unwrap();
        let mut line = prepare_derivative(&AlongALine, &backend, 1.0).unwrap();
        let mut back = prepare_pullback(&ByBranch, &backend, &[2.0, 5.0], [&by_branch(&[2.0, 5.0])]).unwrap();
        for call in 0..CALLS {
            let x = point(call);
            let split = if x[0] < 0.0 { 1 } else { 2 };
            same(along.pushforward(&x, [&[1.0, 0.0]]).unwrap(), [tangent(&x, split)], &backend, call);
            let mut buffer = tangent(&[0.0; 2], split);
            along.pushforward_into([&mut buffer], &x, [&[1.0, 0.0]]).unwrap();
            same(buffer, tangent(&x, split), &backend, call);

            let t = x[0];
            let slopes = [3.0 * t * t, 3.0, 2.0 * t];
            let expected = Parts { a: slopes[..split].to_vec(), b: slopes[split..].to_vec() };
            same(line.value_and_derivative(t).unwrap(), (along_a_line(t), expected), &backend, call);

            // A cotangent has the shape of the output at the point; another one is refused.
            let seed = tangent(&[0.0, 1.0], split);
            same(back.pullback(&x, [&seed]).unwrap(), [vec![x[1] + 1.0, x[0]]], &backend, call);
            let kind = back.pullback(&x, [&tangent(&x, 3 - split)]).unwrap_err().kind();
            same(kind, ErrorKind::SeedShape { index: 0 }, &backend, call);
        }
    });
}

#[test]
fn second_derivatives_have_the_shape_of_the_output() {
    macro_rules! run {
        ($backend:expr) => {{
            let backend = $backend;
            let mut line = prepare_second_derivative(&AlongALine, &backend, 1.0).unwrap();
            for call in 0..CALLS {
                let t = point(call)[0];
                let split = if t < 0.0 { 1 } else { 2 };
                let slopes = [6.0 * t, 0.0, 2.0];
                let expected = Parts { a: slopes[..split].to_vec(), b: slopes[split..].to_vec() };
                same(line.second_derivative(t).unwrap(), expected, &"second order", call);
                let (y, _, _) = line.value_derivative_and_second_derivative(t).unwrap();
                same(y, along_a_line(t), &"second order", call);
            }
        }};
    }
    run!(SecondOrder(AutoReverseDiff::compiled(), AutoForwardDiff::default()));
    run!(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::compiled()));
    run!(SecondOrder(AutoReverseDiff::default(), AutoForwardDiff::default()));
    run!(AutoForwardDiff::default());
}

#[test]
fn constant_fields_are_those_of_the_call() {
    replaying!(backend => {
        let mut words = prepare_jacobian(&NotedObject, &backend, &[2.0, 5.0]).unwrap();
        let mut signs = prepare_jacobian(&MarkedObject, &backend, &[2.0, 5.0]).unwrap();
        for call in 0..CALLS {
            let x = point(call);
            same(words.value_and_jacobian(&x).unwrap().0, noted(&x), &backend, call);
            same(signs.value_and_jacobian(&x).unwrap().0, marked(&x), &backend, call);
        }
    });
}

static RUNS: AtomicUsize = AtomicUsize::new(0);
struct Counted;
impl<T: Real> Function<[T]> for Counted {
    type Output = Parts<T>;
    fn call(&self, x: &[T]) -> Parts<T> {
        RUNS.fetch_add(1, Ordering::Relaxed);
        by_branch(x)
    }
}

#[test]
fn shapes_of_recordings_take_no_run_of_the_function() {
    let mut prepared = prepare_jacobian(&Counted, &AutoReverseDiff::compiled(), &[2.0, 5.0]).unwrap();
    for x in [[2.0, 5.0], [-2.0, 5.0]] {
        prepared.value_and_jacobian(&x).unwrap();
    }
    let runs = RUNS.load(Ordering::Relaxed);
    for call in 0..CALLS {
        let x = point(call);
        assert_eq!(prepared.value_and_jacobian(&x).unwrap().0, by_branch(&x));
    }
    assert_eq!(RUNS.load(Ordering::Relaxed), runs);
}

#[custom_rule(pushforward = root_pushforward)]
fn root(x: &[f64]) -> f64 {
    assert!(x[0] > 0.0, "the root of {}", x[0]);
    x[0].sqrt()
}
fn root_pushforward<S: Scalar<Base = f64>>(_x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
    dy[0] = dx[0] / (y[0] + y[0]);
}

/// Not defined at zeros.
#[differentiable]
fn roots<T: Real>(x: &Parts<T>) -> Parts<T> {
    Parts { a: x.a.iter().map(|v| root(&[*v])).collect(), b: x.b.iter().map(|v| *v * 2.0).collect() }
}

/// Doubles each number until it is 1 or more: does not end at zeros.
#[differentiable]
fn doubled<T: Real>(x: &Parts<T>) -> Parts<T> {
    let up = |v: &T| {
        let (mut y, mut steps) = (*v, 0);
        while y < 1.0 {
            (y, steps) = (y * 2.0, steps + 1);
            assert!(steps < 10_000, "does not end at {:?}", v.primal());
        }
        y
    };
    Parts { a: x.a.iter().map(up).collect(), b: x.b.iter().map(up).collect() }
}

#[test]
fn functions_are_evaluated_at_points_of_the_user_alone() {
    let points = [
        Parts { a: vec![0.25], b: vec![0.5, 0.125] },
        Parts { a: vec![0.25, 0.5], b: vec![0.125] },
        Parts { a: vec![0.25, 0.5, 0.125], b: vec![] },
    ];
    replaying!(backend => {
        let mut first = prepare_jacobian(&Roots, &backend, &points[0]).unwrap();
        let mut second = prepare_jacobian(&Doubled, &backend, &points[0]).unwrap();
        for call in 0..CALLS {
            let x = &points[(call / 2) % 3];
            same(first.value_and_jacobian(x).unwrap().0, roots(x), &backend, call);
            same(second.value_and_jacobian(x).unwrap().0, doubled(x), &backend, call);
        }
    });
}

#[test]
fn a_panic_leaves_no_shape_behind() {
    let good = Parts { a: vec![0.25], b: vec![0.5, 0.125] };
    let bad = Parts { a: vec![0.25, -0.5], b: vec![0.125] };
    replaying!(backend => {
        let mut prepared = prepare_jacobian(&Roots, &backend, &good).unwrap();
        for call in 0..CALLS {
            if call % 10 == 3 {
                let failed = AssertUnwindSafe(|| prepared.value_and_jacobian(&bad).map(drop));
                assert!(catch_unwind(failed).is_err());
            }
            same(prepared.value_and_jacobian(&good).unwrap().0, roots(&good), &backend, call);
        }
    });
}
