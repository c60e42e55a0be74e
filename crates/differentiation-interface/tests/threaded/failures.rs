//! Errors and panics on a thread reach the caller, and leave preparation and buffers usable.

use crate::{cycle, divided, point, pool};
use differentiation_interface::function::Const;
use differentiation_interface::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn errors_are_those_of_one_thread() {
    let x = point(48);
    let vector = |x: &[_]| cycle(x);
    let (serial, threaded) = (AutoForwardDiff::default(), divided(AutoForwardDiff::default(), 3));
    let mut prepared =
        (prepare_jacobian(&vector, &serial, &x).unwrap(), prepare_jacobian(&vector, &threaded, &x).unwrap());
    let short = &x[1..];
    assert_eq!(
        prepared.0.jacobian(short).unwrap_err().to_string(),
        prepared.1.jacobian(short).unwrap_err().to_string()
    );
    let mut small = Matrix::filled(3, 3, 0.0);
    assert_eq!(
        prepared.0.jacobian_into(&mut small, &x).unwrap_err().to_string(),
        prepared.1.jacobian_into(&mut small, &x).unwrap_err().to_string()
    );
    let mut tall = Matrix::filled(50, 48, 0.0);
    assert_eq!(
        jacobian_into(&vector, &mut tall, &serial, &x).unwrap_err().to_string(),
        jacobian_into(&vector, &mut tall, &threaded, &x).unwrap_err().to_string()
    );
    assert_eq!(
        gradient(&|x: &[_]| crate::energy(x), &AutoForwardDiff::with_chunk::<90>(), &x).unwrap_err().to_string(),
        gradient(&|x: &[_]| crate::energy(x), &divided(AutoForwardDiff::with_chunk::<90>(), 2), &x)
            .unwrap_err()
            .to_string()
    );
    // A function whose number of outputs changes.
    let lengths = AtomicUsize::new(48);
    let changing = |x: &[_]| {
        let mut y = cycle(x);
        y.truncate(lengths.load(Ordering::Relaxed));
        y
    };
    let mut prepared = prepare_jacobian(&changing, &threaded, &x).unwrap();
    let right = prepared.jacobian(&x).unwrap();
    lengths.store(47, Ordering::Relaxed);
    assert_eq!(prepared.jacobian(&x).unwrap_err().kind(), ErrorKind::OutputLength { expected: 48, found: 47 });
    lengths.store(48, Ordering::Relaxed);
    assert_eq!(prepared.jacobian(&x).unwrap(), right);
}

/// The error of the function is that of one thread too, with what it returned.
#[test]
fn an_error_of_the_function_comes_from_a_thread() {
    fn fallible<T: Real>(x: &[T], most: f64) -> Result<Vec<T>, String> {
        if x[1] > most { Err(format!("more than {most}")) } else { Ok(cycle(x)) }
    }
    let x = point(48);
    for most in [-1.0, 1e9] {
        let f = |x: &[_]| fallible(x, most);
        let (serial, threaded) = (AutoForwardDiff::default(), divided(AutoForwardDiff::default(), 3));
        let found = [jacobian(&f, &serial, &x), jacobian(&f, &threaded, &x)];
        let [serial, threaded] = found.map(|jac| jac.map_err(|error| error.of_function().unwrap().to_string()));
        assert_eq!(serial, threaded);
        assert_eq!(threaded.err(), (most < 0.0).then(|| String::from("more than -1")));
    }
}

/// A function with work on other threads is refused on a tape, on whichever thread the tape is, and right in forward mode.
#[test]
fn numbers_that_leave_their_thread_are_refused_by_tapes() {
    fn elsewhere<T: Real>(x: &[T]) -> Vec<T> {
        let product = std::thread::scope(|scope| scope.spawn(|| x[0] * x[1]).join().unwrap());
        x.iter().map(|&x| x * product).collect()
    }
    let x = point(32);
    let f = |x: &[_]| elsewhere(x);
    let refused = jacobian(&f, &divided(AutoReverseDiff::default(), 2), &x).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::OtherThread);
    let f = |x: &[_]| elsewhere(x);
    let serial = jacobian(&f, &AutoForwardDiff::default(), &x).unwrap();
    assert_eq!(jacobian(&f, &divided(AutoForwardDiff::default(), 2), &x).unwrap(), serial);
}

#[test]
fn panics_reach_the_caller_and_the_preparation_stays_usable() {
    for engine in ["AutoForwardDiff(chunk=4)", "AutoReverseDiff", "AutoFiniteDiff"] {
        let backend = divided(engine.parse::<AnyBackend>().unwrap(), 3);
        let x = point(30);
        let calls = AtomicUsize::new(usize::MAX);
        let f = |x: &[_]| {
            assert!(calls.fetch_sub(1, Ordering::Relaxed) != 0, "in the function");
            cycle(x)
        };
        let mut prepared = prepare_jacobian(&f, &backend, &x).unwrap();
        let right = prepared.jacobian(&x).unwrap();
        for before in [0, 1, 2] {
            calls.store(before, Ordering::Relaxed);
            let mut jac = right.clone();
            let message = catch_unwind(AssertUnwindSafe(|| prepared.jacobian_into(&mut jac, &x))).unwrap_err();
            assert_eq!(message.downcast_ref::<&str>(), Some(&"in the function"));
            calls.store(usize::MAX, Ordering::Relaxed);
            prepared.jacobian_into(&mut jac, &x).unwrap();
            assert_eq!(jac, right, "{engine}");
        }
    }
}

/// The function itself computes in parallel, so that a thread that waits begins another share within a share.
#[test]
fn functions_that_wait_for_rayon_are_right() {
    fn nested<T: Real>(x: &[T]) -> Vec<T> {
        let (a, b) = rayon::join(|| x[0] * x[1], || x[2].sin());
        x.iter().map(|&x| x * a + b).collect()
    }
    let x = point(60);
    let f = |x: &[_]| nested(x);
    let serial = jacobian(&f, &AutoForwardDiff::default(), &x).unwrap();
    let f = |x: &[_]| nested(x);
    pool(2).install(|| {
        for _ in 0..50 {
            assert_eq!(jacobian(&f, &divided(AutoForwardDiff::with_chunk::<3>(), 5), &x).unwrap(), serial);
        }
    });
    // A tape within a function with `rayon`, whose numbers do not leave.
    fn waiting<T: Real>(x: &[T]) -> Vec<T> {
        let (a, _) = rayon::join(|| 2.0, std::thread::yield_now);
        x.iter().map(|&y| y * x[0] * a).collect()
    }
    let f = |x: &[_]| waiting(x);
    let serial = jacobian(&f, &AutoReverseDiff::default(), &x).unwrap();
    pool(2).install(|| {
        for _ in 0..50 {
            assert_eq!(jacobian(&f, &divided(AutoReverseDiff::default(), 5), &x).unwrap(), serial);
        }
    });
}

/// yᵢ = xᵢ Σₖ xᵢ₊ₖₛ in a ring with k to 20 and the constant s. One run panics, or returns too few outputs.
struct Ring {
    runs_before: AtomicUsize,
    panics: bool,
}
impl<T: Real> FunctionWith<[T], (Const<usize>,)> for Ring {
    type Output = Vec<T>;
    fn call_with(&self, x: &[T], (step,): (&usize,)) -> Vec<T> {
        let n = x.len();
        let far = |i: usize, k: usize| x[(i + k * step) % n];
        let mut y: Vec<T> = (0..n).map(|i| x[i] * (1..=20).map(|k| far(i, k)).sum::<T>()).collect();
        if self.runs_before.load(Ordering::Relaxed) == 0 {
            self.runs_before.store(usize::MAX, Ordering::Relaxed);
            assert!(!self.panics, "in the function");
            y.pop();
        } else if self.runs_before.load(Ordering::Relaxed) != usize::MAX {
            self.runs_before.fetch_sub(1, Ordering::Relaxed);
        }
        y
    }
}

/// A preparation for other constants fails after the detection; what comes next is divided anew.
#[test]
fn colors_are_divided_again_after_a_failure() {
    let x: Vec<f64> = (0..90).map(|i| 1.0 + f64::from(i)).collect();
    let (first, second) = ((&x, Constant(&1)), (&x, Constant(&4)));
    macro_rules! run {
        ($($dense:expr),*) => {$(
            for (panics, runs) in [(true, 0), (true, 1), (true, 2), (false, 0), (false, 1), (false, 2)] {
                for (again, value) in [(false, false), (false, true), (true, false), (true, true)] {
                    let f = Ring { runs_before: AtomicUsize::new(usize::MAX), panics };
                    let backend = divided(AutoSparse::new($dense), 2);
                    let (y, expected) = value_and_jacobian(&f, &AutoForwardDiff::default(), second).unwrap();
                    let mut prepared = prepare_jacobian(&f, &backend, first).unwrap();
                    f.runs_before.store(runs, Ordering::Relaxed);
                    let failed = catch_unwind(AssertUnwindSafe(|| match again {
                        false => prepared.jacobian(second).map(drop),
                        true => prepared.prepare_again(second),
                    }));
                    let case = format!("panics {panics} in run {runs}, again {again}, value {value}: {failed:?}");
                    f.runs_before.store(usize::MAX, Ordering::Relaxed);
                    if value {
                        assert_eq!(prepared.value(second).unwrap(), y, "{case}");
                    }
                    assert_eq!(prepared.jacobian(second).unwrap().to_dense(), expected, "{case}");
                    let (found, jac) = prepared.value_and_jacobian(second).unwrap();
                    assert_eq!((found, jac.to_dense()), (y, expected), "{case}");
                }
            }
        )*};
    }
    run!(AutoReverseDiff::tape(), AutoReverseDiff::default(), AutoForwardDiff::with_chunk::<1>());
}
