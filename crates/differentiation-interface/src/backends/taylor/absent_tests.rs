//! Inputs without a tangent in jets: absent, beside derivatives that are infinite or NaN.

use super::Series;
use crate::prelude::*;

#[test]
fn an_input_without_a_tangent_is_absent_from_a_jet() {
    fn root<T: Real>(x: &[T]) -> T {
        x[0].sqrt() + x[1] * x[1]
    }
    fn length<T: Real>(x: &[T]) -> T {
        (x[0] * x[0] + x[1] * x[1]).sqrt() + x[2] * x[2]
    }
    fn logarithm<T: Real>(x: &[T]) -> T {
        x[0].ln() + x[1] * x[1]
    }
    assert_eq!(jet(&root, &AutoTaylor, &[0.0, 1.0], &[0.0, 1.0], Order::<2>).unwrap(), [1.0, 2.0, 1.0]);
    assert_eq!(jet(&root, &AutoTaylor, &[f64::NAN, 1.0], &[0.0, 1.0], Order::<2>).unwrap()[1..], [2.0, 1.0]);
    assert_eq!(
        jet(&length, &AutoTaylor, &[0.0, 0.0, 1.0], &[0.0, 0.0, 1.0], Order::<3>).unwrap(),
        [1.0, 2.0, 1.0, 0.0]
    );
    let found = jet(&logarithm, &AutoTaylor, &[0.0, 1.0], &[0.0, 1.0], Order::<2>).unwrap();
    assert_eq!(found, [f64::NEG_INFINITY, 2.0, 1.0]);
    // A zero with a derivative by an outer variable is no absent tangent: d/dk of the coefficient 2 k of (1 + k t)².
    fn slope<T: Real>(k: T) -> T {
        jet(&|x: &[Series<T, 1>]| x[0] * x[0], &AutoTaylor, &[T::constant(1.0)], &[k], Order::<1>).unwrap()[1]
    }
    assert_eq!(derivative(&slope, &AutoForwardDiff::default(), 0.0).unwrap(), 2.0);
}
