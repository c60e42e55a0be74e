//! Tests of products and second order by the engine that chooses: answers by hand while preparations go up and down.

use crate::backends::AutoForwardDiff;
use crate::backends::reverse_diff::{AutoReverseDiff, Form, Reason, TwiceVar, Var};
use differentiation_interface_core::backend::SecondOrder;
use differentiation_interface_core::context::{Constant, Parameter};
use differentiation_interface_core::custom::{Custom, PlainRule};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::operators::{
    gradient, prepare_hessian, prepare_hvp, prepare_pullback, prepare_pushforward, prepare_second_derivative,
};
use differentiation_interface_core::scalar::Real;
use std::cell::Cell;

fn adaptive() -> AutoReverseDiff {
    AutoReverseDiff::default()
}

/// (x₀ x₁, x₁², 3 x₀).
pub(super) fn three<T: Real>(x: &[T]) -> Vec<T> {
    vec![x[0] * x[1], x[1] * x[1], 3.0 * x[0]]
}

#[test]
fn pullbacks_go_up() {
    let f = |x: &[_]| three(x);
    let mut prepared = prepare_pullback(&f, &adaptive(), &[0.0; 2], [&[0.0; 3], &[0.0; 3]]).unwrap();
    assert_eq!(prepared.report().calls, 0);
    for k in 0..100 {
        let t = f64::from(k);
        let (y, products) = prepared.value_and_pullback(&[2.0, t], [&[1.0, t, 0.0], &[0.0, 0.0, 1.0]]).unwrap();
        assert_eq!(y, [2.0 * t, t * t, 6.0]);
        assert_eq!(products, [vec![t, 2.0 + 2.0 * t * t], vec![3.0, 0.0]]);
    }
    let report = prepared.report();
    assert_eq!((report.by_tape, report.by_program, report.programs), (47, 53, 1), "{report}");
    assert_ne!(report.form, Form::Tape);
    let mut copy = prepared.clone();
    assert_eq!(copy.pullback(&[2.0, 5.0], [&[1.0; 3], &[0.0; 3]]).unwrap(), [vec![8.0, 12.0], vec![0.0; 2]]);
    let kind = prepared.pullback(&[2.0], [&[1.0; 3], &[0.0; 3]]).unwrap_err().kind();
    assert_eq!(kind, ErrorKind::PreparedLength { prepared: 2, found: 1 });
    prepared.prepare_again(&[1.0, 1.0], [&[1.0; 3], &[0.0; 3]]).unwrap();
    assert_eq!((prepared.report().calls, prepared.report().form), (0, Form::Tape));
    assert_eq!(prepared.pullback(&[2.0, 5.0], [&[1.0; 3], &[0.0; 3]]).unwrap(), [vec![8.0, 12.0], vec![0.0; 2]]);
}

#[test]
fn pushforwards_go_up() {
    let f = |x: &[_]| three(x);
    let mut prepared = prepare_pushforward(&f, &adaptive(), &[0.0; 2], [&[0.0; 2], &[0.0; 2]]).unwrap();
    for k in 0..100 {
        let t = f64::from(k);
        let (y, products) = prepared.value_and_pushforward(&[2.0, t], [&[1.0, 0.0], &[t, 1.0]]).unwrap();
        assert_eq!(y, [2.0 * t, t * t, 6.0]);
        assert_eq!(products, [vec![t, 0.0, 3.0], vec![t * t + 2.0, 2.0 * t, 3.0 * t]]);
    }
    let report = prepared.report();
    assert_eq!((report.by_tape, report.by_program, report.programs), (47, 53, 1), "{report}");
    prepared.prepare_again(&[1.0, 1.0], [&[1.0; 2], &[0.0; 2]]).unwrap();
    assert_eq!(prepared.report().calls, 0);
}

/// x₀² x₁ + sin x₁, so that the Hessian is [[2 x₁, 2 x₀], [2 x₀, -sin x₁]].
fn curved<T: Real>(x: &[T]) -> T {
    x[0] * x[0] * x[1] + x[1].sin()
}

fn close(found: &[f64], expected: &[f64]) {
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(is_close), "{found:?} {expected:?}");
}

#[test]
fn hessians_go_up() {
    let f = |x: &[_]| curved(x);
    let mut prepared = prepare_hessian(&f, &adaptive(), &[0.0; 2]).unwrap();
    for k in 0..100 {
        let (a, b) = (0.1 * f64::from(k), 1.5);
        let (y, grad, hess) = prepared.value_gradient_and_hessian(&[a, b]).unwrap();
        close(&[y], &[a * a * b + b.sin()]);
        close(&grad, &[2.0 * a * b, a * a + b.cos()]);
        close(hess.as_slice(), &[2.0 * b, 2.0 * a, 2.0 * a, -b.sin()]);
        close(prepared.hessian(&[a, b]).unwrap().as_slice(), &[2.0 * b, 2.0 * a, 2.0 * a, -b.sin()]);
    }
    let report = prepared.report();
    // A recorded call that makes a program of entries is computed by the tape.
    assert_eq!((report.calls, report.by_tape, report.programs), (200, 48, 1), "{report}");
    assert_eq!(report.form, prepared.clone().report().form);
    prepared.prepare_again(&[0.0; 2]).unwrap();
    assert_eq!(prepared.report().calls, 0);
    // A single product has no entry program.
    let cube = |x: &[_]| x[0] * x[0] * x[0];
    let mut prepared = prepare_hessian(&cube, &adaptive(), &[0.0]).unwrap();
    for k in 0..100 {
        let (y, grad, hess) = prepared.value_gradient_and_hessian(&[f64::from(k)]).unwrap();
        let k = f64::from(k);
        assert_eq!((y, grad[0], hess.as_slice()[0]), (k * k * k, 3.0 * k * k, 6.0 * k));
    }
    assert_eq!(prepared.report().by_program, 53, "{}", prepared.report());
}

#[test]
fn hessian_products_go_up() {
    let f = |x: &[_]| curved(x);
    for backend in [adaptive(), adaptive().recording_from(3)] {
        let mut prepared = prepare_hvp(&f, &backend, &[0.0; 2], [&[0.0; 2]]).unwrap();
        for k in 0..100 {
            let (a, b) = (0.1 * f64::from(k), 1.5);
            let (y, grad, [product]) = prepared.value_gradient_and_hvp(&[a, b], [&[1.0, 2.0]]).unwrap();
            close(&[y], &[a * a * b + b.sin()]);
            close(&grad, &[2.0 * a * b, a * a + b.cos()]);
            close(&product, &[2.0 * b + 4.0 * a, 2.0 * a - 2.0 * b.sin()]);
        }
        let by_tape = if backend == adaptive() { 47 } else { 5 };
        assert_eq!((prepared.report().by_tape, prepared.report().calls), (by_tape, 100), "{}", prepared.report());
    }
}

#[test]
fn second_derivatives_go_up() {
    let f = |x| [x * x * x, 2.0 * x];
    let mut prepared = prepare_second_derivative(&f, &adaptive(), 0.0).unwrap();
    for k in 0..100 {
        let x = f64::from(k);
        let (y, der, der2) = prepared.value_derivative_and_second_derivative(x).unwrap();
        assert_eq!((y, der, der2), ([x * x * x, 2.0 * x], [3.0 * x * x, 2.0], [6.0 * x, 0.0]));
        assert_eq!(prepared.second_derivative(x).unwrap(), [6.0 * x, 0.0]);
    }
    assert_ne!(prepared.report().form, Form::Tape, "{}", prepared.report());
}

#[test]
fn contexts_of_products_are_followed() {
    let f = |x: &[_], p: &Vec<_>, k: &f64| x[0] * x[0] * x[1] * p[0] * *k;
    let point = |p: &'static [f64; 1], k: &'static f64| (&[3.0, 5.0], Parameter(&p[..]), Constant(k));
    let mut hessian = prepare_hessian(&f, &adaptive(), point(&[1.0], &1.0)).unwrap();
    let g = |x: &[_], p: &Vec<_>, k: &f64| x[0] * x[0] * x[1] * p[0] * *k;
    let mut pullback = prepare_pullback(&g, &adaptive(), point(&[1.0], &1.0), [1.0]).unwrap();
    for call in 0..600 {
        let (p, k): (&[f64; 1], &f64) = ([&[1.0], &[2.0], &[0.5]][call % 3], [&1.0, &-3.0][call / 300]);
        let s = p[0] * k;
        let hess = hessian.hessian(point(p, k)).unwrap();
        assert_eq!(hess, [[10.0 * s, 6.0 * s], [6.0 * s, 0.0]], "{call}");
        assert_eq!(pullback.pullback(point(p, k), [2.0]).unwrap(), [[60.0 * s, 18.0 * s]]);
    }
    // Recorded calls that make a program of entries are computed by the tape.
    for (report, recorded) in [(hessian.report(), 2), (pullback.report(), 0)] {
        assert_eq!((report.by_tape, report.programs), (47 + 1 + recorded, 2), "{report}");
    }
}

/// Numbers in -0.5 .. 0.5.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
}

#[test]
fn branches_are_taken_by_programs_of_their_own_or_by_the_tape() {
    let piece = |v: &TwiceVar<f64>| if *v > 0.0 { *v * *v * *v } else { 3.0 * *v * *v };
    for (count, goes_up) in [(1, true), (20, false)] {
        let f = |x: &[_]| x.iter().map(piece).sum::<TwiceVar<f64>>();
        let mut hessian = prepare_hessian(&f, &adaptive(), &vec![0.0; count]).unwrap();
        let mut hvp = prepare_hvp(&f, &adaptive(), &vec![0.0; count], [&vec![0.0; count]]).unwrap();
        let mut state = 7;
        for _ in 0..800 {
            let x: Vec<f64> = (0..count).map(|_| random(&mut state)).collect();
            let diagonal: Vec<f64> = x.iter().map(|v| if *v > 0.0 { 6.0 * v } else { 6.0 }).collect();
            let hess = hessian.hessian(&x[..]).unwrap();
            for (i, expected) in diagonal.iter().enumerate() {
                close(&hess.as_slice()[i * count + i..][..1], &[*expected]);
            }
            close(&hvp.hvp(&x[..], [&vec![1.0; count][..]]).unwrap()[0], &diagonal);
        }
        assert_eq!(hessian.report().form != Form::Tape, goes_up, "{}", hessian.report());
        assert_eq!(hvp.report().form != Form::Tape, goes_up, "{}", hvp.report());
    }
}

#[test]
fn what_may_change_stays_on_the_tape() {
    let factor = Cell::new(1.0);
    let f = |x: &[_]| x[0] * x[0] * factor.get();
    let mut hessian = prepare_hessian(&f, &adaptive(), &[0.0]).unwrap();
    let g = |x: &[_]| x[0] * x[0] * factor.get();
    let mut pullback = prepare_pullback(&g, &adaptive(), &[0.0], [1.0]).unwrap();
    let h = |x| x * x * factor.get();
    let mut second = prepare_second_derivative(&h, &adaptive(), 1.0).unwrap();
    for call in 0..100 {
        factor.set(f64::from(call));
        assert_eq!(hessian.hessian(&[3.0]).unwrap(), [[2.0 * factor.get()]]);
        assert_eq!(pullback.pullback(&[3.0], [1.0]).unwrap(), [[6.0 * factor.get()]]);
        assert_eq!(second.second_derivative(3.0).unwrap(), 2.0 * factor.get());
    }
    for report in [hessian.report(), pullback.report(), second.report()] {
        assert_eq!((report.form, report.stays), (Form::Tape, Some(Reason::MayChange)), "{report}");
    }
}

fn chosen<T: Real>(x: &[T]) -> T {
    let larger = x[0].max(x[1]) * x[0].abs();
    larger.mul_add(x[1], (x[0] * 2.0).powi(3)) + (-x[1]).exp() / x[0]
}

#[test]
fn rules_and_choices_are_recorded() {
    let f = |x: &[_]| chosen(x);
    let (mut state, mut programs) = (3, prepare_hvp(&f, &adaptive(), &[1.0, 2.0], [&[0.0; 2]]).unwrap());
    let mut tape = prepare_hvp(&f, &AutoReverseDiff::tape(), &[1.0, 2.0], [&[0.0; 2]]).unwrap();
    for _ in 0..200 {
        let x = [1.0 + random(&mut state), 1.0 + random(&mut state)];
        let direction = [random(&mut state), random(&mut state)];
        close(&programs.hvp(&x, [&direction]).unwrap()[0], &tape.hvp(&x, [&direction]).unwrap()[0]);
    }
    assert!(programs.report().by_program > 50, "{}", programs.report());

    // A rule of plain code has no second derivative, in either form.
    let rule = PlainRule::new("square", |x: &[f64], y: &mut Vec<f64>| {
        y.clear();
        y.push(x[0] * x[0]);
    })
    .with_pullback(|x: &[f64], _: &[f64], dy: &[f64], dx: &mut [f64]| dx[0] = 2.0 * x[0] * dy[0]);
    let rule = Custom::new(rule);
    let f = |x: &[_]| rule.number(x);
    let mut prepared = prepare_pullback(&f, &adaptive(), &[0.0], [1.0]).unwrap();
    for k in 0..100 {
        let k = f64::from(k);
        assert_eq!(prepared.pullback(&[k], [3.0]).unwrap(), [[6.0 * k]]);
    }
    assert_eq!(
        prepare_hessian(&|x: &[_]| rule.number(x), &adaptive(), &[1.0]).err().map(|e| e.kind()),
        Some(ErrorKind::RuleOrder { rule: "square" })
    );
}

#[test]
fn inner_differentiations_run_in_recordings_of_second_order() {
    // The inner gradient at plain numbers is a constant of the outer function.
    let f = |x: &[TwiceVar<f64>]| {
        let inner = |y: &[Var<f64>], p: &Vec<Var<f64>>| y[0] * y[0] * p[0];
        let slope = gradient(&inner, &adaptive(), (&[2.0], Parameter(&[3.0][..]))).unwrap()[0];
        x[0] * x[0] * x[1] * slope
    };
    let mut prepared = prepare_hessian(&f, &adaptive(), &[0.0; 2]).unwrap();
    for _ in 0..60 {
        assert_eq!(prepared.hessian(&[2.0, 5.0]).unwrap(), [[120.0, 48.0], [48.0, 0.0]]);
    }
    assert_ne!(prepared.report().form, Form::Tape);
}

#[test]
fn pairs_go_up_by_the_inner_engine() {
    let f = |x: &[_]| curved(x);
    let mut prepared = prepare_hessian(&f, &SecondOrder(AutoForwardDiff::default(), adaptive()), &[0.0; 2]).unwrap();
    let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::tape());
    let mut by_tape = prepare_hessian(&f, &pair, &[0.0; 2]).unwrap();
    for _ in 0..60 {
        close(prepared.hessian(&[1.0, 0.5]).unwrap().as_slice(), &[1.0, 2.0, 2.0, -0.5f64.sin()]);
        close(by_tape.hessian(&[1.0, 0.5]).unwrap().as_slice(), &[1.0, 2.0, 2.0, -0.5f64.sin()]);
    }
    assert_ne!(prepared.report().form, Form::Tape);
    assert_eq!(by_tape.report().form, Form::Tape);
    let mut prepared = prepare_hessian(&f, &SecondOrder(AutoReverseDiff::tape(), adaptive()), &[0.0; 2]).unwrap();
    for _ in 0..60 {
        close(prepared.hessian(&[1.0, 0.5]).unwrap().as_slice(), &[1.0, 2.0, 2.0, -0.5f64.sin()]);
    }
    assert_ne!(prepared.report().form, Form::Tape);
    let mut prepared = prepare_hessian(&f, &AutoReverseDiff::tape(), &[0.0; 2]).unwrap();
    for _ in 0..60 {
        prepared.hessian(&[1.0, 0.5]).unwrap();
    }
    assert_eq!(prepared.report().form, Form::Tape);
}

#[test]
fn points_without_numbers() {
    let f = |_: &[TwiceVar<f64>]| TwiceVar::<f64>::from(4.0);
    let mut prepared = prepare_hessian(&f, &adaptive(), &[]).unwrap();
    for _ in 0..60 {
        let (y, grad, hess) = prepared.value_gradient_and_hessian(&[]).unwrap();
        assert_eq!((y, grad.len(), hess.as_slice().len()), (4.0, 0, 0));
    }
}

/// Counts its runs. A counter that is atomic is not seen as state that changes.
#[cfg(feature = "sparse")]
struct Counted(std::sync::atomic::AtomicUsize);

#[cfg(feature = "sparse")]
impl Counted {
    fn new() -> Self {
        Counted(std::sync::atomic::AtomicUsize::new(0))
    }
    fn runs(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
    /// Notes a run, and returns xᵢ³ xᵢ₊₁ for each i.
    fn terms<T: Real>(&self, x: &[T]) -> Vec<T> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        x.windows(2).map(|w| w[0] * w[0] * w[0] * w[1]).collect()
    }
}

/// The outputs, or their sum.
#[cfg(feature = "sparse")]
struct Of<'a, const SUM: bool>(&'a Counted);

#[cfg(feature = "sparse")]
impl<T: Real> differentiation_interface_core::Function<[T]> for Of<'_, false> {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        self.0.terms(x)
    }
}

#[cfg(feature = "sparse")]
impl<T: Real> differentiation_interface_core::Function<[T]> for Of<'_, true> {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        self.0.terms(x).into_iter().sum()
    }
}

#[cfg(feature = "sparse")]
#[test]
fn sparse_matrices_go_up() {
    use crate::sparse::AutoSparse;
    use differentiation_interface_core::operators::prepare_jacobian;
    let counts = [Counted::new(), Counted::new()];
    let (f, g) = (Of::<false>(&counts[0]), Of::<true>(&counts[1]));
    let backend = AutoSparse::new(adaptive());
    let mut jacobian = prepare_jacobian(&f, &backend, &[0.0; 4]).unwrap();
    let mut hessian = prepare_hessian(&g, &backend, &[0.0; 4]).unwrap();
    let before = counts.each_ref().map(Counted::runs);
    for call in 0..100 {
        let (t, u) = (f64::from(call), 2.0);
        let x = [t, u, 1.0, 3.0];
        let (y, jac) = jacobian.value_and_jacobian(&x).unwrap();
        assert_eq!(y, [t * t * t * u, 8.0, 3.0]);
        assert_eq!(jac.values(), [3.0 * t * t * u, t * t * t, 12.0, 8.0, 9.0, 1.0]);
        let (value, grad, hess) = hessian.value_gradient_and_hessian(&x).unwrap();
        close(&[value], &[y.iter().sum()]);
        close(&grad, &[3.0 * t * t * u, t * t * t + 12.0, 8.0 + 9.0, 1.0]);
        let (a, b) = (3.0 * t * t, 12.0);
        close(hess.values(), &[6.0 * t * u, a, a, 12.0, b, b, 18.0, 3.0, 3.0]);
        if call >= 48 {
            // 48 calls by the tape, and recordings of calls 24 and 48, of which the second is recorded once more with its loop folded.
            assert_eq!([0, 1].map(|k| counts[k].runs() - before[k]), [51; 2], "{call}");
        }
    }
}
