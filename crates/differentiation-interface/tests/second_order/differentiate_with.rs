//! `DifferentiateWith`: every inner backend under every outer one, first and second order.

use crate::pairs::{assert_near, each_exact_pair, each_pair};
use crate::support::{each_engine, each_exact_engine};
use differentiation_interface::prelude::*;
use std::cell::Cell;

#[differentiable]
fn energy(x: &[f64]) -> f64 {
    x[0].sin() * x[1] + x[1].powi(3)
}

#[differentiable]
fn wave(t: f64) -> f64 {
    (t * t).sin()
}

#[differentiable]
fn polar(x: &[f64]) -> [f64; 2] {
    [x[0] * x[1].cos(), x[0] * x[1].sin()]
}

#[differentiable]
fn spiral(t: f64) -> [f64; 2] {
    [t * t.cos(), t * t.sin()]
}

#[differentiable]
fn weighted(x: &[f64], #[constant] k: f64, #[constant] shift: [f64; 1]) -> f64 {
    k * (x[0] - shift[0]) * (x[0] - shift[0]) * x[1]
}

/// A function behind a pointer, so that the operators are compiled once and not for every inner backend.
struct OfSlice<'a, S, Y>(&'a dyn Fn(&[S]) -> Y);
impl<S: Scalar, Y> Function<[S]> for OfSlice<'_, S, Y> {
    type Output = Y;
    fn call(&self, x: &[S]) -> Y {
        (self.0)(x)
    }
}
/// The same of a number.
struct OfNumber<'a, S, Y>(&'a dyn Fn(&S) -> Y);
impl<S: Scalar, Y> Function<S> for OfNumber<'_, S, Y> {
    type Output = Y;
    fn call(&self, t: &S) -> Y {
        (self.0)(t)
    }
}

/// Runs the body for every inner backend of objects that are generic; `$inner_tolerance` is what it reaches.
macro_rules! each_inner {
    (|$inner:ident, $tolerance:ident| $body:block) => {{
        {
            let ($inner, $tolerance) = (AutoForwardDiff::default(), 1e-12);
            $body
        }
        {
            let ($inner, $tolerance) = (AutoForwardDiff::with_chunk::<1>(), 1e-12);
            $body
        }
        {
            let ($inner, $tolerance) = (AutoReverseDiff::default(), 1e-12);
            $body
        }
        {
            let ($inner, $tolerance) = (AutoFiniteDiff::central(), 1e-8);
            $body
        }
    }};
}

#[test]
fn every_inner_backend_serves_under_every_outer_one() {
    let (x, t) = ([0.5_f64, 2.0], 1.3_f64);
    let energy_grad = [x[0].cos() * x[1], x[0].sin() + 3.0 * x[1] * x[1]];
    each_inner!(|inner, precise| {
        let (g, h) = (DifferentiateWith::new(Energy, inner), DifferentiateWith::new(Polar, inner));
        let (w, s) = (DifferentiateWith::new(Wave, inner), DifferentiateWith::new(Spiral, inner));
        each_engine!(|outer, tolerance| {
            let name = &format!("{inner:?} under {outer:?}");
            let tolerance = tolerance.max(precise);
            // x₀ energy(x): the rule amid other operations.
            let f = OfSlice(&|x: &[_]| x[0] * g.call(x));
            let (y, grad) = value_and_gradient(&f, &outer, &x).unwrap();
            assert_near(name, &[y], &[x[0] * energy(&x)], 1e-15);
            let expected = [energy(&x) + x[0] * energy_grad[0], x[0] * energy_grad[1]];
            assert_near(name, &grad, &expected, tolerance);
            // An array comes out.
            let jac = jacobian(&OfSlice(&|x: &[_]| h.call(x)), &outer, &x).unwrap();
            let (sin, cos) = x[1].sin_cos();
            assert_near(name, jac.as_slice(), &[cos, -x[0] * sin, sin, x[0] * cos], tolerance);
            let dy = pushforward(&OfSlice(&|x: &[_]| h.call(x)), &outer, &x, [&[1.0, 1.0]]).unwrap();
            assert_near(name, &dy[0], &[cos - x[0] * sin, sin + x[0] * cos], tolerance);
            let dx = pullback(&OfSlice(&|x: &[_]| h.call(x)), &outer, &x, [[1.0, 0.0]]).unwrap();
            assert_near(name, &dx[0], &[cos, -x[0] * sin], tolerance);
            // A number goes in.
            let der = derivative(&OfNumber(&|t| w.call(t) * 2.0), &outer, t).unwrap();
            assert_near(name, &[der], &[4.0 * t * (t * t).cos()], tolerance);
            let der = derivative(&OfNumber(&|t| s.call(t)), &outer, t).unwrap();
            assert_near(name, &der, &[t.cos() - t * t.sin(), t.sin() + t * t.cos()], tolerance);
        });
    });
}

#[test]
fn inner_constants_follow_the_call() {
    let (x, shift) = ([0.5, 2.0], [0.25]);
    each_inner!(|inner, precise| {
        let g = DifferentiateWith::new(Weighted, inner);
        each_engine!(|outer, tolerance| {
            for k in [3.0, -1.0] {
                let f = |x: &[_], k: &f64| g.call_with(x, (k, &shift));
                let grad = gradient(&f, &outer, (&x, Constant(&k))).unwrap();
                let d = x[0] - 0.25;
                let name = &format!("{inner:?} under {outer:?}");
                assert_near(name, &grad, &[2.0 * k * d * x[1], k * d * d], tolerance.max(precise));
            }
        });
    });
}

#[test]
fn opaque_functions_need_only_values() {
    // Neither function can run on other numbers than `f64`.
    let array = DifferentiateWith::new(
        |x: &[f64]| x[0].mul_add(x[1], f64::from_bits(x[0].to_bits())),
        AutoFiniteDiff::central(),
    );
    let number = DifferentiateWith::new(|t: f64| t.mul_add(t, 1.0), AutoFiniteDiff::central());
    each_engine!(|outer, tolerance| {
        let grad = gradient(&|x: &[_]| array.call(x) * x[1], &outer, &[3.0, 5.0]).unwrap();
        // x₀ x₁² + x₀ x₁
        assert_near("array", &grad, &[30.0, 33.0], tolerance.max(1e-8));
        let der = derivative(&|t| number.call(&t), &outer, 3.0).unwrap();
        assert_near("number", &[der], &[6.0], tolerance.max(1e-8));
    });
}

#[test]
fn second_derivatives_of_once_are_refused() {
    let kind = ErrorKind::RuleOrder { rule: "DifferentiateWith" };
    each_inner!(|inner, _precise| {
        let (g, w) = (DifferentiateWith::new(Energy, inner), DifferentiateWith::new(Wave, inner));
        each_exact_pair!(|outer| {
            let f = OfSlice(&|x: &[_]| g.call(x));
            assert_eq!(hessian(&f, &outer, &[0.5, 2.0]).unwrap_err().kind(), kind, "{inner:?} under {outer:?}");
            let f = OfSlice(&|x: &[_]| g.call(x));
            let error = hvp(&f, &outer, &[0.5, 2.0], [&[1.0, 0.0]]).unwrap_err();
            assert_eq!(error.kind(), kind, "{inner:?} under {outer:?}");
            let error = second_derivative(&OfNumber(&|t| w.call(t)), &outer, 1.0).unwrap_err();
            assert_eq!(error.kind(), kind, "{inner:?} under {outer:?}");
        });
    });
    let g = DifferentiateWith::new(Energy, AutoForwardDiff::default());
    let error = hessian(&|x: &[_]| g.call(x), &AutoReverseDiff::default(), &[0.5, 2.0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "hessian with reverse_diff: the derivative of `DifferentiateWith` cannot be differentiated again: it is plain code, or \
         compares numbers where a program is made of it, or a recording would differentiate it a third time; write its rule over any scalar, without comparisons, or differentiate it by a backend that can"
    );
}

#[test]
fn twice_gives_second_derivatives_in_every_mode() {
    let (x, t) = ([0.5_f64, 2.0], 1.3_f64);
    // x₀ · energy
    let (e, e0, e1) = (energy(&x), x[0].cos() * x[1], x[0].sin() + 3.0 * x[1] * x[1]);
    let (e00, e01, e11) = (-x[0].sin() * x[1], x[0].cos(), 6.0 * x[1]);
    let grad = [e + x[0] * e0, x[0] * e1];
    let cross = e1 + x[0] * e01;
    let hess = [2.0 * e0 + x[0] * e00, cross, cross, x[0] * e11];
    each_inner!(|inner, precise| {
        let g = DifferentiateWith::twice(Energy, inner);
        let w = DifferentiateWith::twice(Wave, inner);
        // Differences of differences inside.
        let precise = if precise > 1e-10 { 1e-5 } else { precise };
        each_pair!(|outer, tolerance| {
            let name = &format!("{inner:?} under {outer:?}");
            let tolerance = tolerance.max(precise);
            let f = OfSlice(&|x: &[_]| x[0] * g.call(x));
            let (y, found_grad, found) = value_gradient_and_hessian(&f, &outer, &x).unwrap();
            assert_near(name, &[y], &[x[0] * e], 1e-14);
            assert_near(name, &found_grad, &grad, tolerance);
            assert_near(name, found.as_slice(), &hess, tolerance);
            let f = OfSlice(&|x: &[_]| x[0] * g.call(x));
            let [product] = hvp(&f, &outer, &x, [&[1.0, 2.0]]).unwrap();
            assert_near(name, &product, &[hess[0] + 2.0 * hess[1], hess[2] + 2.0 * hess[3]], tolerance);
            let found = second_derivative(&OfNumber(&|t| w.call(t)), &outer, t).unwrap();
            let exact = 2.0 * (t * t).cos() - 4.0 * t * t * (t * t).sin();
            assert_near(name, &[found], &[exact], tolerance);
        });
    });
}

#[test]
fn third_derivatives_of_twice_are_refused() {
    let w = DifferentiateWith::twice(Wave, AutoForwardDiff::default());
    each_exact_engine!(|outer| {
        let second = |t: &_| second_derivative(&|t| w.call(&t), &AutoForwardDiff::default(), t);
        let failed = Cell::new(None);
        let f = |t| {
            second(&t).unwrap_or_else(|error| {
                failed.set(Some(error.kind()));
                t
            })
        };
        let _ = derivative(&f, &outer, 1.0);
        assert_eq!(failed.get(), Some(ErrorKind::RuleOrder { rule: "DifferentiateWith" }));
    });
}

#[test]
fn errors_of_the_inner_backend_are_errors_of_the_call() {
    let g = DifferentiateWith::new(Energy, AutoForwardDiff::with_chunk::<4>());
    // A pushforward of one tangent fits any chunk; a pullback by four lanes does not fit two inputs.
    let grad = gradient(&|x: &[_]| g.call(x), &AutoForwardDiff::default(), &[0.5, 2.0]).unwrap();
    assert_near("gradient", &grad, &[0.5_f64.cos() * 2.0, 0.5_f64.sin() + 12.0], 1e-14);
    let error = gradient(&|x: &[_]| g.call(x), &AutoReverseDiff::default(), &[0.5, 2.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ChunkTooLarge { chunk: 4, inputs: 2 });
    assert_eq!((error.operator(), error.backend()), ("gradient", "reverse_diff"));
    assert_eq!(derivative(&|t| t_squared(t), &AutoReverseDiff::default(), 3.0).unwrap(), 6.0);
}

fn t_squared<T: Real>(t: T) -> T {
    t * t
}

#[test]
fn inner_functions_are_called_as_often_as_needed() {
    // Under reverse mode: the value once, then one pullback by n + 1 forward differences.
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = std::sync::Arc::clone(&calls);
    let inner = move |x: &[f64]| {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        x.iter().map(|v| v * v).sum::<f64>()
    };
    let g = DifferentiateWith::new(inner, AutoFiniteDiff::forward());
    gradient(&|x: &[_]| g.call(x), &AutoReverseDiff::default(), &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(calls.swap(0, std::sync::atomic::Ordering::Relaxed), 1 + 4);
    // Under forward mode: the value, then one difference per lane, each with its base.
    gradient(&|x: &[_]| g.call(x), &AutoForwardDiff::default(), &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(calls.swap(0, std::sync::atomic::Ordering::Relaxed), 1 + 3 * 2);
    // Differences outside see values only.
    gradient(&|x: &[_]| g.call(x), &AutoFiniteDiff::forward(), &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(calls.swap(0, std::sync::atomic::Ordering::Relaxed), 4);
}
