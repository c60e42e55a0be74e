//! Functions that return a `Result`: operators return their errors, and differentiate what is in their `Ok`.

use differentiation_interface::prelude::*;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq)]
struct OutOfRange(f64);

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is out of range", self.0)
    }
}

impl std::error::Error for OutOfRange {}

/// x₀ ln x₀ x₁, and an error where x₀ is not positive.
fn rate<T: Real>(x: &[T]) -> Result<T, OutOfRange> {
    let first = x[0];
    if first <= 0.0 { Err(OutOfRange(first.primal())) } else { Ok(first * first.ln() * x[1]) }
}

/// The same as an object for several number types.
#[differentiable]
fn rate_of<T: Real>(x: &[T]) -> Result<T, OutOfRange> {
    rate(x)
}

fn gradient_of_rate(x: [f64; 2]) -> [f64; 2] {
    [(x[0].ln() + 1.0) * x[1], x[0] * x[0].ln()]
}

/// The error of the function in that of an operator.
fn returned(error: &Error) -> OutOfRange {
    assert_eq!(error.kind(), ErrorKind::FunctionFailed);
    *error.of_function().unwrap().downcast_ref().unwrap()
}

fn is_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    assert!(
        found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + b.abs())),
        "{found:?} {expected:?}"
    );
}

/// Runs a block with each engine, and the error that its results may have.
macro_rules! each_engine {
    ($backend:ident, $tolerance:ident => $body:block) => {{
        every_engine! { $backend => { let $tolerance = 1e-12; $body } }
        {
            let ($backend, $tolerance) = (AutoReverseDiff::tape(), 1e-12);
            $body
        }
        {
            let ($backend, $tolerance) = (AutoForwardDiff::with_chunk::<1>(), 1e-12);
            $body
        }
        {
            let ($backend, $tolerance) = (AutoFiniteDiff::default(), 1e-4);
            $body
        }
    }};
}

#[test]
fn gradients_are_those_of_ok_and_errors_those_of_err() {
    let (good, bad) = ([2.0, 3.0], [-0.5, 3.0]);
    each_engine! { backend, tolerance => {
        let f = |x: &[_]| rate(x);
        is_close(&gradient(&f, &backend, &good).unwrap(), &gradient_of_rate(good), tolerance);
        let error = gradient(&f, &backend, &bad).unwrap_err();
        assert!(returned(&error).0 < 0.0 && error.to_string().ends_with("is out of range"), "{error}");
        assert!(returned(&prepare_gradient(&f, &backend, &bad).err().unwrap()).0 < 0.0);

        let mut prepared = prepare_gradient(&f, &backend, &good).unwrap();
        let mut grad = [0.0; 2];
        for k in 0..200 {
            let x = [1.0 + 0.01 * f64::from(k), 2.0];
            let y = prepared.value_and_gradient_into(&mut grad, &x).unwrap();
            is_close(&[y], &[rate(&x).unwrap()], tolerance);
            is_close(&grad, &gradient_of_rate(x), tolerance);
            // The calls that the default engine records among them.
            if k % 5 == 3 || k == 23 || k == 46 {
                assert!(returned(&prepared.gradient(&bad).unwrap_err()).0 < 0.0);
                assert_eq!(prepared.value(&bad).unwrap_err().kind(), ErrorKind::FunctionFailed);
            }
        }
        assert_eq!(prepared.value(&good).unwrap(), rate(&good).unwrap());
    }}
}

#[test]
fn a_call_that_fails_does_not_settle_the_default_engine() {
    let f = |x: &[_]| rate(x);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), &[2.0, 3.0]).unwrap();
    for call in 1..=200 {
        // The first recorded call.
        let fails = call == 24;
        let grad = prepared.gradient(&[if fails { -1.0 } else { 2.0 }, 3.0]);
        assert_eq!(grad.is_err(), fails);
    }
    let report = prepared.report();
    assert!(report.by_program > 100 && report.stays.is_none(), "{report}");
}

#[test]
fn other_operators_return_errors_too() {
    fn both<T: Real>(x: &[T]) -> Result<Vec<T>, OutOfRange> {
        Ok(vec![rate(x)?, x[0] + x[1]])
    }
    fn power<T: Real>(t: T) -> Result<T, String> {
        if t < 0.0 { Err(format!("root of {}", t.primal())) } else { Ok(t * t.sqrt()) }
    }
    let (good, bad) = ([2.0, 3.0], [-0.5, 3.0]);
    let [a, b] = gradient_of_rate(good);
    each_engine! { backend, tolerance => {
        let f = |x: &[_]| both(x);
        let jac = jacobian(&f, &backend, &good).unwrap();
        is_close(jac.as_slice(), &[a, b, 1.0, 1.0], tolerance);
        assert!(returned(&jacobian(&f, &backend, &bad).unwrap_err()).0 < 0.0);
        let mut prepared = prepare_jacobian(&f, &backend, &good).unwrap();
        for k in 0..60 {
            let x = if k % 3 == 1 { bad } else { good };
            assert_eq!(prepared.jacobian(&x).is_err(), k % 3 == 1);
        }

        let f = |x: &[_]| both(x);
        let (y, [tangent]) = value_and_pushforward(&f, &backend, &good, [&[1.0, 0.0]]).unwrap();
        is_close(&[y, tangent].concat(), &[rate(&good).unwrap(), 5.0, a, 1.0], tolerance);
        assert!(pushforward(&f, &backend, &bad, [&[1.0, 0.0]]).is_err());
        let f = |x: &[_]| both(x);
        let [gradient] = pullback(&f, &backend, &good, [&[0.0, 1.0]]).unwrap();
        is_close(&gradient, &[1.0, 1.0], tolerance);
        assert!(pullback(&f, &backend, &bad, [&[0.0, 1.0]]).is_err());

        let g = |t| power(t);
        is_close(&[derivative(&g, &backend, 4.0).unwrap()], &[3.0], tolerance);
        let error = derivative(&g, &backend, -4.0).unwrap_err();
        assert!(error.to_string().contains("the function returned an error: root of -4"), "{error}");
    }}
}

#[test]
fn second_derivatives_return_errors_too() {
    let (good, bad) = ([2.0, 3.0], [-0.5, 3.0]);
    let expected = [1.5, 2f64.ln() + 1.0, 2f64.ln() + 1.0, 0.0];
    macro_rules! check {
        ($($backend:expr, $tolerance:literal;)*) => {$({
            let (backend, f) = ($backend, RateOf);
            is_close(hessian(&f, &backend, &good).unwrap().as_slice(), &expected, $tolerance);
            assert!(returned(&hessian(&f, &backend, &bad).unwrap_err()).0 < 0.0);
            is_close(&hvp(&f, &backend, &good, [&[1.0, 0.0]]).unwrap()[0], &expected[..2], $tolerance);
            assert_eq!(hvp(&f, &backend, &bad, [&[1.0, 0.0]]).unwrap_err().kind(), ErrorKind::FunctionFailed);
            let mut prepared = prepare_hessian(&f, &backend, &good).unwrap();
            for k in 0..120 {
                let x = if k % 7 == 2 || k == 23 { bad } else { good };
                match prepared.hessian(&x) {
                    Ok(hess) => is_close(hess.as_slice(), &expected, $tolerance),
                    Err(error) => assert!(returned(&error).0 < 0.0 && x == bad),
                }
            }
        })*};
    }
    check! {
        AutoForwardDiff::default(), 1e-12;
        AutoReverseDiff::default(), 1e-12;
        AutoReverseDiff::compiled(), 1e-12;
        AutoReverseDiff::tape(), 1e-12;
        SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::tape()), 1e-12;
        SecondOrder(AutoReverseDiff::tape(), AutoForwardDiff::default()), 1e-12;
        SecondOrder(AutoFiniteDiff::default(), AutoForwardDiff::default()), 1e-5;
    }
}

/// A number and a list.
#[derive(Clone, Debug, PartialEq, Container)]
struct Step<T = f64> {
    size: T,
    place: Vec<T>,
}

#[differentiable]
fn next_step(x: &[f64], #[constant] least: &f64) -> Result<Step<f64>, OutOfRange> {
    if x[0] < *least {
        return Err(OutOfRange(*least));
    }
    Ok(Step { size: x[0] * x[0], place: vec![x[1]; 2] })
}

#[test]
fn containers_and_contexts() {
    each_engine! { backend, tolerance => {
        let (good, bad) = ((&[2.0, 3.0], Constant(&1.0)), (&[2.0, 3.0], Constant(&5.0)));
        let (y, [tangent]) = value_and_pushforward(&NextStep, &backend, good, [&[1.0, 10.0]]).unwrap();
        assert_eq!(y, Step { size: 4.0, place: vec![3.0; 2] });
        is_close(&[&[tangent.size], &tangent.place[..]].concat(), &[4.0, 10.0, 10.0], tolerance);
        assert_eq!(returned(&pushforward(&NextStep, &backend, bad, [&[1.0, 10.0]]).unwrap_err()), OutOfRange(5.0));
        let mut prepared = prepare_jacobian(&NextStep, &backend, good).unwrap();
        for k in 0..80 {
            match k % 4 {
                3 => assert_eq!(returned(&prepared.jacobian(bad).unwrap_err()), OutOfRange(5.0)),
                _ => is_close(prepared.jacobian(good).unwrap().as_slice(), &[4.0, 0.0, 0.0, 1.0, 0.0, 1.0], tolerance),
            }
        }
    }}
}

/// An inner operator passes its error on.
#[test]
fn errors_of_inner_operators() {
    fn inner<T: Real>(x: &[T], inputs: usize) -> Result<T, Error> {
        let f = |t: &[_]| t[0] * t[0] * t[0];
        Ok(gradient(&f, &AutoForwardDiff::with_chunk::<4>(), &x[..inputs])?[0] * x[4])
    }
    let outer = AutoReverseDiff::default();
    let f = |x: &[_]| inner(x, 4);
    assert_eq!(gradient(&f, &outer, &[2.0, 0.0, 0.0, 0.0, 5.0]).unwrap(), [60.0, 0.0, 0.0, 0.0, 12.0]);
    let f = |x: &[_]| inner(x, 3);
    let error = gradient(&f, &outer, &[2.0, 0.0, 0.0, 0.0, 5.0]).unwrap_err();
    let inner: &Error = error.of_function().unwrap().downcast_ref().unwrap();
    assert_eq!((error.backend(), inner.backend()), ("reverse_diff", "forward_diff"));
    assert_eq!(inner.kind(), ErrorKind::ChunkTooLarge { chunk: 4, inputs: 3 });
}

#[differentiable]
fn scaled_squares<T: Real>(x: &[T], #[constant] factor: &str) -> Result<Vec<T>, std::num::ParseFloatError> {
    let factor: f64 = factor.parse()?;
    Ok(x.iter().map(|v| *v * *v * factor).collect())
}

#[test]
fn sparse_derivatives() {
    let backend = AutoSparse::new(AutoForwardDiff::default());
    let (x, good, bad) = ([1.0, 2.0], "1.5", "one");
    let mut prepared = prepare_jacobian(&ScaledSquares, &backend, (&x, Constant(good))).unwrap();
    for _ in 0..3 {
        assert_eq!(prepared.jacobian((&x, Constant(good))).unwrap().values(), [3.0, 6.0]);
        let error = prepared.jacobian((&x, Constant(bad))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FunctionFailed, "{error}");
        assert!(error.of_function().is_some_and(|error| error.is::<std::num::ParseFloatError>()));
    }
    let error = jacobian(&ScaledSquares, &backend, (&x, Constant(bad))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FunctionFailed, "{error}");
}

#[test]
fn functions_that_write_their_outputs() {
    fn rates<T: Real>(y: &mut [T], x: &[T], factor: f64) -> Result<(), OutOfRange> {
        y[0] = rate(x)? * factor;
        y[1] = x[0];
        Ok(())
    }
    let (good, bad, factor) = ([2.0, 3.0], [-0.5, 3.0], 2.0);
    let [a, b] = gradient_of_rate(good);
    each_engine! { backend, tolerance => {
        let f = in_place(|y: &mut [_], x: &[_]| rates(y, x, factor), 2);
        is_close(jacobian(&f, &backend, &good).unwrap().as_slice(), &[2.0 * a, 2.0 * b, 1.0, 0.0], tolerance);
        // The entries that are not written are no other error.
        assert!(returned(&jacobian(&f, &backend, &bad).unwrap_err()).0 < 0.0);
        let f = in_place(|y: &mut [_], x: &[_], factor: &f64| rates(y, x, *factor), 2);
        let mut prepared = prepare_jacobian(&f, &backend, (&good, Constant(&factor))).unwrap();
        for k in 0..60 {
            let x = if k % 3 == 1 { bad } else { good };
            assert_eq!(prepared.jacobian((&x, Constant(&factor))).is_err(), k % 3 == 1);
        }
        let f = in_place(|y: &mut [_], t| rates(y, &[t, t], factor), 2);
        is_close(&derivative(&f, &backend, 2.0).unwrap(), &[2.0 * (a + b) - 2.0 * (2f64.ln() + 1.0), 1.0], tolerance);
        assert!(derivative(&f, &backend, -2.0).is_err());
    }}
}

#[differentiable]
fn pair_of_rates<T: Real>(x: &[T]) -> Result<[T; 2], OutOfRange> {
    Ok([rate(x)?, x[0]])
}

/// The inner function of `DifferentiateWith` fails: the operator returns an error, a call without an operator NaN.
#[test]
fn functions_inside_of_rules() {
    let inner = DifferentiateWith::new(PairOfRates, AutoForwardDiff::default());
    let (good, bad) = ([2.0, 3.0], [-0.5, 3.0]);
    assert_eq!(inner.call(&good)[1], 2.0);
    assert!(inner.call(&bad).iter().all(|v: &f64| v.is_nan()));
    every_engine! { backend => {
        let f = |x: &[_]| inner.call(x)[0] * 2.0;
        let mut prepared = prepare_gradient(&f, &backend, &good).unwrap();
        for k in 0..120 {
            if k % 5 == 2 || k == 23 {
                assert!(returned(&prepared.gradient(&bad).unwrap_err()).0 < 0.0);
            } else {
                is_close(&prepared.gradient(&good).unwrap(), &gradient_of_rate(good).map(|v| 2.0 * v), 1e-12);
            }
        }
    }}
}

/// The rate, and its first input if that is in range.
fn rate_and_first<T: Real>(x: &[T]) -> Result<(T, f64), OutOfRange> {
    Ok((rate(x)?, x[0].primal()))
}

#[test]
fn functions_with_an_auxiliary_output() {
    let (good, bad) = ([2.0, 3.0], [-0.5, 3.0]);
    each_engine! { backend, tolerance => {
        let f = with_aux(|x: &[_]| rate_and_first(x));
        let (y, grad, first) = value_gradient_and_aux(&f, &backend, &good).unwrap();
        assert_eq!((y, first), (rate(&good).unwrap(), 2.0));
        is_close(&grad, &gradient_of_rate(good), tolerance);
        assert!(returned(&value_gradient_and_aux(&f, &backend, &bad).unwrap_err()).0 < 0.0);
        let mut prepared = prepare_gradient(&f, &backend, &good).unwrap();
        prepared.value_and_gradient(&good).unwrap();
        assert!(returned(&prepared.value_and_gradient(&bad).unwrap_err()).0 < 0.0);
        assert_eq!(f.take(), None, "nothing of the call before");
        // Differences evaluate at points beside it, where there is a rate.
        assert_eq!(returned(&prepared.value_and_gradient(&[0.0, 3.0]).unwrap_err()).0, 0.0);
        assert_eq!(f.take(), None, "nothing of a point beside");

        let f = with_aux(|x: &[_]| pair_of_rates(x).map(|y| (y, x.len())));
        let (y, jac, inputs) = value_jacobian_and_aux(&f, &backend, &good).unwrap();
        assert_eq!((y, inputs), (pair_of_rates(&good).unwrap(), 2));
        is_close(jac.row(0), &gradient_of_rate(good), tolerance);
        assert!(returned(&value_jacobian_and_aux(&f, &backend, &bad).unwrap_err()).0 < 0.0);
    }}
}

/// The rate times a factor, which is also the auxiliary output.
#[differentiable]
fn scaled_rate<T: Real>(x: &[T], #[constant] factor: &[u8; 2]) -> Result<(T, u8), OutOfRange> {
    Ok((rate(x)? * f64::from(factor[1]), factor[1]))
}

/// A function with an auxiliary output runs in each call.
#[test]
fn an_auxiliary_output_beside_a_constant() {
    let (good, bad) = ([2.0, 3.0], [-0.5, 3.0]);
    let f = with_aux(ScaledRate);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), (&good, Constant(&[0, 2]))).unwrap();
    for k in 0..200_u8 {
        let factor = 1 + k / 100;
        let expected = gradient_of_rate(good).map(|g| g * f64::from(factor));
        is_close(&prepared.gradient((&good, Constant(&[0, factor]))).unwrap(), &expected, 1e-12);
        assert_eq!(f.take(), Some(factor));
    }
    assert!(returned(&prepared.gradient((&bad, Constant(&[0, 2]))).unwrap_err()).0 < 0.0);
    assert_eq!(f.take(), None);
}

/// A program is made for the bytes of a constant: with known ones the function does not run again.
#[test]
fn bytes_of_a_constant_are_compared() {
    let runs = std::cell::Cell::new(0);
    let f = |x: &[_], factors: &[u8; 3]| {
        runs.set(runs.get() + 1);
        rate(x).map(|y| y * factors.iter().map(|k| f64::from(*k)).sum::<f64>())
    };
    let x = [2.0, 3.0];
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), (&x, Constant(&[1, 0, 1]))).unwrap();
    for (factors, is_known) in [([1, 0, 1], true), ([1, 2, 3], false), ([1, 2, 3], true), ([3, 2, 1], false)] {
        let before = runs.get();
        let expected = gradient_of_rate(x).map(|g| g * factors.iter().map(|k| f64::from(*k)).sum::<f64>());
        is_close(&prepared.gradient((&x, Constant(&factors))).unwrap(), &expected, 1e-12);
        assert_eq!(runs.get() == before, is_known, "{factors:?}");
    }
}
