//! Parameters of operators that a function calls, which are not those of the function.

use differentiation_interface::function::{Const, FunctionWith};
use differentiation_interface::prelude::*;
use differentiation_interface::sparse::AutoSparse;

/// q d/dt (p t²) at x with p = 3, of which an inner operator by the backend takes the derivative: 6 q x. The inner parameter stays if the outer one
/// changes, and is no parameter of the outer recording.
macro_rules! check_inner {
    ($inner:expr, $outers:expr) => {{
        fn slope<T: Real>(x: T, q: T) -> T {
            let f = |t: &[_], p: &_| square(t, p);
            let slopes = gradient(&f, &$inner, (&[x], Parameter(&3.0))).unwrap();
            // A parameter of the inner operator that is larger than all of the outer one.
            let other =
                gradient(&|t: &[_], p: &Vec<_>| t[0] * p[7], &$inner, (&[x], Parameter(&vec![1.0; 8]))).unwrap();
            q * slopes[0] * other[0]
        }
        let f = |x: &[_], q: &_| slope(x[0], *q);
        let [first, from_first] = $outers;
        for outer in [first, from_first] {
            let mut prepared = prepare_gradient(&f, &outer, (&[2.0], Parameter(&5.0))).unwrap();
            for q in [5.0, 7.0, 3.0, 0.0] {
                let found = prepared.value_and_gradient((&[2.0], Parameter(&q))).unwrap();
                assert_eq!(found, (12.0 * q, vec![6.0 * q]), "{} in {outer:?}, q = {q}", stringify!($inner));
            }
        }
        let squared = |x: &[_], q: &_| slope(x[0], *q) * x[0]; // 6 q x²
        for q in [5.0, 7.0] {
            let at = (&[2.0], Parameter(&q));
            let backend = SecondOrder(AutoReverseDiff::compiled(), AutoForwardDiff::default());
            assert_eq!(hessian(&squared, &backend, at).unwrap(), [[12.0 * q]], "{}", stringify!($inner));
        }
    }};
}

fn square<T: Real>(t: &[T], p: &T) -> T {
    *p * t[0] * t[0]
}

#[test]
fn parameters_of_inner_operators_are_constants_of_the_outer_recording() {
    let adaptive = AutoReverseDiff::default().recording_from(1);
    check_inner!(AutoForwardDiff::default(), [adaptive, AutoReverseDiff::default()]);
    check_inner!(AutoForwardDiff::default(), [AutoReverseDiff::compiled(); 2]);
    check_inner!(AutoReverseDiff::tape(), [adaptive, AutoReverseDiff::default()]);
    check_inner!(AutoReverseDiff::tape(), [AutoReverseDiff::compiled(); 2]);
    check_inner!(AutoReverseDiff::default(), [adaptive, AutoReverseDiff::default()]);
    check_inner!(AutoReverseDiff::default(), [AutoReverseDiff::compiled(); 2]);
    check_inner!(AutoReverseDiff::compiled(), [adaptive, AutoReverseDiff::default()]);
    check_inner!(AutoReverseDiff::compiled(), [AutoReverseDiff::compiled(); 2]);
}

/// (q d/dt (3 t²) at x₀, 2 x₁) with a parameter q.
struct Sloped;

impl<T: Real> FunctionWith<[T], (Const<T>,)> for Sloped {
    type Output = Vec<T>;
    fn call_with(&self, x: &[T], (q,): (&T,)) -> Vec<T> {
        let f = |t: &[_], p: &_| square(t, p);
        let slope = gradient(&f, &AutoForwardDiff::default(), (&[x[0]], Parameter(&3.0))).unwrap();
        vec![*q * slope[0], x[1] * 2.0]
    }
}

/// A pattern holds for all parameters.
#[test]
fn patterns_know_which_parameters_change() {
    let backend = AutoSparse::new(AutoReverseDiff::compiled());
    let mut prepared = prepare_jacobian(&Sloped, &backend, (&[2.0, 1.0], Parameter(&0.0))).unwrap();
    for q in [0.0, 5.0] {
        let found = prepared.jacobian((&[2.0, 1.0], Parameter(&q))).unwrap();
        assert_eq!(found.to_dense(), [[6.0 * q, 0.0], [0.0, 2.0]]);
    }
}
