//! Functions of numbers and arrays: forward mode runs on the stack, with the same results as for slices.

use differentiation_interface::backend::{Backend, Lane};
use differentiation_interface::custom::{CustomRule, Halves};
use differentiation_interface::prelude::*;
use differentiation_interface_test::{CountingAllocator, allocations};
use std::cell::Cell;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The numbers of `derivative`.
type One = <AutoForwardDiff as Backend>::Num<f64, Lane<1>>;

fn forward() -> AutoForwardDiff {
    AutoForwardDiff::default()
}

fn rosenbrock<T: Real>(x: &[T]) -> T {
    let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
    a * a + 100.0 * b * b
}
fn rosenbrock2<T: Real>(x: &[T; 2]) -> T {
    rosenbrock(x)
}
fn curve<T: Real>(t: T) -> [T; 3] {
    [t.sin(), t * t * t, T::constant(7.0)]
}
fn cubic<T: Real>(t: T) -> T {
    t * t * t
}
fn swap<T: Real>(x: &[T; 2]) -> [T; 3] {
    [x[1], x[0] * x[1], x[0] * x[0]]
}

#[test]
fn results_are_those_by_hand() {
    // ∇ = (-2 (1 - x₀) - 400 x₀ (x₁ - x₀²), 200 (x₁ - x₀²)) at (2, 5): (2 - 800, 200).
    let x = [2.0, 5.0];
    assert_eq!(gradient(&rosenbrock2, &forward(), x), Ok([-798.0, 200.0]));
    assert_eq!(value_and_gradient(&rosenbrock2, &forward(), x), Ok((101.0, [-798.0, 200.0])));
    let mut grad = [0.0; 2];
    assert_eq!(value_and_gradient_into(&rosenbrock2, &mut grad, &forward(), x), Ok(101.0));
    assert_eq!(grad, [-798.0, 200.0]);

    assert_eq!(value_and_derivative(&curve, &forward(), 0.0), Ok(([0.0, 0.0, 7.0], [1.0, 0.0, 0.0])));
    let mut der = [0.0; 3];
    let mut prepared = prepare_derivative(&curve, &forward(), 1.0).unwrap();
    assert_eq!(prepared.value_and_derivative_into(&mut der, 2.0), Ok([2.0_f64.sin(), 8.0, 7.0]));
    assert_eq!(der, [2.0_f64.cos(), 12.0, 0.0]);

    let (y, jac) = value_and_jacobian(&swap, &forward(), x).unwrap();
    assert_eq!(y, [5.0, 10.0, 4.0]);
    assert_eq!(jac, [[0.0, 1.0], [5.0, 2.0], [4.0, 0.0]]);

    assert_eq!(value_derivative_and_second_derivative(&cubic, &forward(), 2.0), Ok((8.0, 12.0, 12.0)));
    let (mut der, mut der2) = ([0.0; 3], [0.0; 3]);
    let mut prepared = prepare_second_derivative(&curve, &forward(), 0.0).unwrap();
    let y = prepared.value_derivative_and_second_derivative_into(&mut der, &mut der2, 2.0).unwrap();
    assert_eq!((y, der[1], der2[1], der2[2]), ([2.0_f64.sin(), 8.0, 7.0], 12.0, 12.0, 0.0));
    assert_eq!(der2[0], -2.0_f64.sin());
}

#[test]
fn all_lengths_give_what_slices_give() {
    fn check<const K: usize>() {
        let x: [f64; K] = std::array::from_fn(|i| 0.3 + 0.7 * i as f64);
        fn sum<T: Real>(x: &[T]) -> T {
            x.iter().enumerate().map(|(i, v)| (v * (1.0 + i as f64)).sin() * v).sum()
        }
        let by_slice = gradient(&sum, &forward(), &x).unwrap();
        assert_eq!(gradient(&|x: &[_; K]| sum(x), &forward(), x).unwrap().to_vec(), by_slice, "{K} inputs");
        let chunked = AutoForwardDiff::with_chunk::<3>();
        match gradient(&|x: &[_; K]| sum(x), &chunked, x) {
            Ok(found) => assert_eq!(found.to_vec(), by_slice, "{K} inputs by chunks of 3"),
            Err(error) => assert_eq!((error.kind(), K < 3), (ErrorKind::ChunkTooLarge { chunk: 3, inputs: K }, true)),
        }
    }
    check::<0>();
    check::<1>();
    check::<2>();
    check::<3>();
    check::<11>();
    check::<12>();
    check::<13>();
    check::<30>();
}

fn square_root<T: Real>(t: T) -> T {
    t.sqrt()
}

#[test]
fn a_lane_beside_an_infinite_derivative_is_what_it_is_alone() {
    fn root<T: Real>(x: &[T; 2]) -> [T; 2] {
        [x[0].sqrt() + x[1] * x[1], x[1]]
    }
    let jac = jacobian(&root, &forward(), [0.0, 3.0]).unwrap();
    assert_eq!(jac, [[f64::INFINITY, 6.0], [0.0, 1.0]]);
    assert_eq!(derivative(&square_root, &forward(), 0.0), Ok(f64::INFINITY));
}

#[test]
fn buffers_of_another_length_are_refused() {
    let expected = |expected, found| ErrorKind::BufferLength { expected, found };
    let error = gradient_into(&rosenbrock2, &mut [0.0; 3], &forward(), [1.0, 2.0]).unwrap_err();
    assert_eq!(error.kind(), expected(2, 3));
    let error = derivative_into(&curve, &mut [0.0; 2], &forward(), 1.0).unwrap_err();
    assert_eq!(error.kind(), expected(3, 2));
    let error = second_derivative_into(&curve, &mut [0.0; 4], &forward(), 1.0).unwrap_err();
    assert_eq!(error.kind(), expected(3, 4));
    // Two by three has as many entries as three by two.
    let error = jacobian_into(&swap, &mut Matrix::filled(2, 3, 0.0), &forward(), [1.0, 2.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BufferSize { expected: (2, 2), found: (2, 3) });
}

#[test]
fn numbers_of_another_differentiation_are_refused() {
    let kept = Cell::new(None);
    let keep = |t: One| {
        kept.set(Some(t));
        t * t
    };
    assert_eq!(derivative(&keep, &forward(), 3.0), Ok(6.0));
    let stale = kept.get().unwrap();
    let error = derivative(&|t| t * stale, &forward(), 2.0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignNumber);

    // A number of a differentiation without an identity, kept by a function that captures nothing.
    thread_local! {
        static KEPT: Cell<Option<One>> = const { Cell::new(None) };
    }
    assert_eq!(
        derivative(
            &|t: One| {
                KEPT.set(Some(t));
                t * t
            },
            &forward(),
            3.0
        ),
        Ok(6.0)
    );
    let stale = KEPT.get().unwrap();
    let error = derivative(&|t| t * stale, &forward(), 2.0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignNumber);
}

#[test]
fn after_a_refused_pass_the_function_is_called_once_more() {
    let kept = Cell::new(None);
    let keep = |t: One| {
        kept.set(Some(t));
        t
    };
    derivative(&keep, &forward(), 1.0).unwrap();
    let stale = kept.get().unwrap();
    // Impure: it brings the foreign number in its first call only.
    let calls = Cell::new(0);
    let f = |t: One| {
        calls.set(calls.get() + 1);
        if calls.get() == 1 { t * stale } else { t * t }
    };
    let mut der = [0.0];
    assert_eq!(value_and_derivative_into(&f, &mut der, &forward(), 3.0), Ok(9.0));
    assert_eq!((der, calls.take()), ([6.0], 2));
    assert_eq!(value_and_derivative(&f, &forward(), 3.0), Ok((9.0, 6.0)));
    assert_eq!(calls.take(), 2);
    assert_eq!(derivative_into(&f, &mut der, &forward(), 4.0), Ok(()));
    assert_eq!((der, calls.take()), ([8.0], 2));
    // A buffer of another length is refused after the same two calls.
    let square = |t: One| {
        calls.set(calls.get() + 1);
        t * t
    };
    assert!(derivative_into(&square, &mut [0.0; 2], &forward(), 4.0).is_err());
    assert_eq!(calls.take(), 2);
}

/// A rule that declares a pushforward but does not implement one.
struct Incomplete;

impl CustomRule for Incomplete {
    const NAME: &'static str = "incomplete";
    const GIVEN: Halves = Halves::Both;
    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.push(x[0]);
    }
}

fn by_an_incomplete_rule<T: Real>(t: T) -> T {
    let mut y = Vec::new();
    T::custom(&Arc::new(Incomplete), &[t], &mut y);
    y[0]
}

#[test]
fn faults_of_rules_are_errors_on_every_thread() {
    let expected = ErrorKind::RuleIncomplete { rule: "incomplete" };
    assert_eq!(derivative(&by_an_incomplete_rule, &forward(), 1.0).unwrap_err().kind(), expected);
    // A function without data, whose rule fails where no operator runs.
    fn on_a_worker<T: Real>(t: T) -> T {
        std::thread::scope(|scope| scope.spawn(|| by_an_incomplete_rule(t)).join()).expect("no panic")
    }
    assert_eq!(derivative(&on_a_worker, &forward(), 1.0).unwrap_err().kind(), expected);
    assert_eq!(second_derivative(&on_a_worker, &forward(), 1.0).unwrap_err().kind(), expected);
    assert_eq!(derivative(&cubic, &forward(), 1.0), Ok(3.0));
}

#[test]
fn differentiations_nest() {
    // d/dx (x · d/dy (x y²) at y = 3) = d/dx 6 x² = 12 x.
    fn outer<T: Real>(x: T) -> T {
        let inner = |y| lift(&forward(), &x) * y * y;
        x * derivative(&inner, &forward(), &T::constant(3.0)).expect("the inner derivative")
    }
    assert_eq!(derivative(&outer, &forward(), 2.0), Ok(24.0));
    // By a function without data inside and outside: d/dx (d/dx x³)² = 36 x³.
    fn squared_slope<T: Real>(x: T) -> T {
        let slope = derivative(&|t| cubic(t), &forward(), &x).expect("the inner derivative");
        slope * slope
    }
    assert_eq!(derivative(&squared_slope, &forward(), 2.0), Ok(288.0));
}

#[test]
fn nothing_is_allocated_with_or_without_a_preparation() {
    let mut gradients = prepare_gradient(&rosenbrock2, &forward(), [0.0; 2]).unwrap();
    let mut derivatives = prepare_derivative(&curve, &forward(), 0.0).unwrap();
    let mut second = prepare_second_derivative(&cubic, &forward(), 0.0).unwrap();
    let mut jacobians = prepare_jacobian(&swap, &forward(), [0.0; 2]).unwrap();
    let mut jac = Matrix::filled(3, 2, 0.0);
    let mut grad = [0.0; 2];
    let factor = 3.0;
    // Constants work without a state; work memory needs a preparation, which keeps it.
    let scaled = |t, k: &f64| cubic(t) * *k;
    let buffered = |t, work: &mut Vec<_>| {
        work[0] = cubic(t);
        work[0]
    };
    let zeros = [0.0];
    let point = |t| (t, Cache(&zeros[..]));
    let mut with_memory = prepare_derivative(&buffered, &forward(), point(0.0)).unwrap();
    assert_eq!(with_memory.derivative(point(1.0)), Ok(3.0));
    let before = allocations();
    gradients.value_and_gradient([1.0, 2.0]).unwrap();
    derivatives.value_and_derivative(1.0).unwrap();
    second.value_derivative_and_second_derivative(1.0).unwrap();
    jacobians.jacobian_into(&mut jac, [1.0, 2.0]).unwrap();
    gradient(&rosenbrock2, &forward(), [1.0, 2.0]).unwrap();
    gradient_into(&rosenbrock2, &mut grad, &forward(), [1.0, 2.0]).unwrap();
    value_and_gradient(&|x: &[_; 2]| rosenbrock2(x) * factor, &forward(), [1.0, 2.0]).unwrap();
    value_and_derivative(&cubic, &forward(), 2.0).unwrap();
    derivative(&|t| cubic(t) * factor, &forward(), 2.0).unwrap();
    value_derivative_and_second_derivative(&curve, &forward(), 2.0).unwrap();
    jacobian_into(&swap, &mut jac, &forward(), [1.0, 2.0]).unwrap();
    derivative(&scaled, &forward(), (2.0, Constant(&factor))).unwrap();
    with_memory.derivative(point(2.0)).unwrap();
    assert_eq!(allocations() - before, 0);
    assert_eq!(jac, [[0.0, 1.0], [2.0, 1.0], [2.0, 0.0]]);
}
