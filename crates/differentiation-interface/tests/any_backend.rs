//! A backend chosen at run time against the static backend it stands for: same results, bit by bit, same calls, clear errors.

use differentiation_interface::backends::any::{FirstOrder, ParseBackendError};
use differentiation_interface::backends::forward_diff::AutoForwardDiff as Forward;
use differentiation_interface::prelude::*;
use proptest::prelude::*;
use std::cell::Cell;

fn smooth<T: Real>(x: &[T]) -> T {
    let mut sum = T::zero();
    for (i, w) in x.windows(2).enumerate() {
        sum += (1.0 - w[0]).powi(2) + 3.0 * (w[1] - w[0] * w[0]).powi(2) + (w[0] * w[1]).sin() / (i as f64 + 2.0);
    }
    if sum > 1.0 { sum * T::constant(0.5) + x[0].exp() } else { sum }
}
fn vector<T: Real>(x: &[T]) -> Vec<T> {
    vec![x[0] * x[1], x[1].exp() + 2.0, x.iter().map(|v| v.tanh()).sum(), T::constant(7.0), smooth(x)]
}
fn in_place_vector<T: Real>(y: &mut [T], x: &[T]) {
    for (i, y) in y.iter_mut().enumerate() {
        *y = x[i] * x[i + 1].cos();
    }
}
fn curve<T: Real>(t: T) -> [T; 3] {
    [t.sin(), t * t * t, T::constant(2.0)]
}
fn wave<T: Real>(t: T) -> T {
    (t * t).sin() + t.exp()
}
fn single<T: Real<f32>>(x: &[T]) -> T {
    x.iter().map(|v| v.exp() * v).sum()
}
fn scaled<T: Real>(x: &[T], k: &[f64], work: &mut [T]) -> T {
    for ((w, x), k) in work.iter_mut().zip(x).zip(k) {
        *w = *x * *k;
    }
    smooth(work)
}

/// Takes another branch where the weighted sum is negative.
fn weighted<T: Real>(x: &[T], k: &[T]) -> T {
    let sum: T = x.iter().zip(k).map(|(x, k)| x * x * k).sum();
    if sum > 0.0 { sum.sqrt() } else { sum * x[0] + x[1].powf(k[4]) }
}
fn chosen<T: Real>(x: &[T]) -> Vec<T> {
    let one = T::constant(1.0);
    vec![x[0].less_than(x[1]).select(x[0] * x[2], x[1]), x[2].at_least(one).select(one, x[3] * x[3])]
}
fn bent<T: Real>(x: &[T]) -> T {
    if x[4] < 0.5 { smooth(x) * x[0] } else { smooth(x) + x[4].powi(3) }
}
fn ripple<T: Real>(t: T, k: &[T]) -> T {
    (k[0] * t).sin() * k[1] + t.powi(3)
}

/// Whether the inner backend makes compiled recordings.
fn compiled_inside(backend: &AnyBackend) -> bool {
    matches!(
        backend,
        AnyBackend::FirstOrder(FirstOrder::CompiledReverseDiff(_))
            | AnyBackend::SecondOrder(_, FirstOrder::CompiledReverseDiff(_))
    )
}
/// Numbers without their last digits.
fn rounded(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|v| format!("{v:.10e}").parse().expect("it was printed")).collect()
}

const X: [f64; 5] = [0.3, -0.8, 1.2, 0.5, -0.4];
const DX: [f64; 5] = [1.0, 0.5, -2.0, 0.0, 0.25];
const DX2: [f64; 5] = [0.0, 1.0, 0.0, -1.5, 3.0];

/// The last argument runs once with the chosen backend and once with the static one.
macro_rules! agree {
    ($any:expr, $fixed:expr, |$backend:ident| $call:expr) => {{
        let any = {
            let $backend = &$any;
            $call
        };
        let fixed = {
            let $backend = &$fixed;
            $call
        };
        assert_eq!(format!("{any:?}"), format!("{fixed:?}"), "{}: {}", $any, stringify!($call));
    }};
}

macro_rules! first_order_agrees {
    ($($fixed:expr),*) => {$({
        let fixed = $fixed;
        let any = AnyBackend::from(fixed);
        let tangents = [&DX, &DX2];
        let (c1, c2) = ([1.0, -1.0, 0.5, 2.0, 3.0], [0.0, 0.0, 1.0, 1.0, 0.0]);
        agree!(any, fixed, |b| pushforward(&|x: &[_]| vector(x), b, &X, tangents).unwrap());
        agree!(any, fixed, |b| value_and_pushforward(&|x: &[_]| smooth(x), b, &X, tangents).unwrap());
        agree!(any, fixed, |b| pushforward(&|t| curve(t), b, 0.7, [1.0]).unwrap());
        agree!(any, fixed, |b| pullback(&|x: &[_]| vector(x), b, &X, [&c1, &c2]).unwrap());
        agree!(any, fixed, |b| value_and_pullback(&|x: &[_]| vector(x), b, &X, [&c1]).unwrap());
        agree!(any, fixed, |b| derivative(&|t| curve(t), b, 0.7).unwrap());
        agree!(any, fixed, |b| value_and_derivative(&|t| wave(t), b, 0.7).unwrap());
        agree!(any, fixed, |b| gradient(&|x: &[_]| smooth(x), b, &X).unwrap());
        agree!(any, fixed, |b| value_and_gradient(&|x: &[_; 5]| smooth(x), b, X).unwrap());
        agree!(any, fixed, |b| jacobian(&|x: &[_]| vector(x), b, &X).unwrap());
        agree!(any, fixed, |b| value_and_jacobian(&|x: &[_]| vector(x), b, &X).unwrap());
        agree!(any, fixed, |b| {
            jacobian(&in_place(|y: &mut [_], x: &[_]| in_place_vector(y, x), 4), b, &X).unwrap()
        });
        agree!(any, fixed, |b| {
            let (k, work) = (vec![2.0, 0.5, 1.0, 3.0, 1.5], vec![0.0; 5]);
            let point = (&X, Constant(&k), Cache(&work));
            value_and_gradient(&|x: &[_], k: &Vec<f64>, work: &mut Vec<_>| scaled(x, k, work), b, point).unwrap()
        });
        // Prepared at another point, and used twice.
        agree!(any, fixed, |b| {
            let f = |x: &[_]| vector(x);
            let mut prepared = prepare_jacobian(&f, b, &[0.1; 5]).unwrap();
            let mut clone = prepared.clone();
            (prepared.jacobian(&X).unwrap(), prepared.value_and_jacobian(&DX).unwrap(), clone.jacobian(&DX2).unwrap())
        });
        agree!(any, fixed, |b| {
            let (f, g) = (|x: &[_]| vector(x), |x: &[_]| vector(x));
            let mut push = prepare_pushforward_same_point(&f, b, &X, [&DX]).unwrap();
            let mut pull = prepare_pullback_same_point(&g, b, &X, [&c1]).unwrap();
            (push.pushforward([&DX2]).unwrap(), pull.pullback([&c2]).unwrap())
        });
        // Single precision.
        agree!(any, fixed, |b| {
            gradient(&|x: &[_]| single(x), b, &[1.5f32, 2.5, -1.0, 0.5, 2.0]).unwrap()
        });
        second_order_agrees!(fixed);
    })*};
}

macro_rules! second_order_agrees {
    ($($fixed:expr),*) => {$({
        let fixed = $fixed;
        let any = AnyBackend::from(fixed);
        agree!(any, fixed, |b| hvp(&|x: &[_]| smooth(x), b, &X, [&DX, &DX2]).unwrap());
        agree!(any, fixed, |b| value_gradient_and_hvp(&|x: &[_]| smooth(x), b, &X, [&DX]).unwrap());
        agree!(any, fixed, |b| hessian(&|x: &[_]| smooth(x), b, &X).unwrap());
        agree!(any, fixed, |b| value_gradient_and_hessian(&|x: &[_]| smooth(x), b, &X).unwrap());
        agree!(any, fixed, |b| second_derivative(&|t| curve(t), b, 0.7).unwrap());
        agree!(any, fixed, |b| value_derivative_and_second_derivative(&|t| wave(t), b, 0.7).unwrap());
        agree!(any, fixed, |b| {
            let (k, work) = (vec![2.0, 0.5, 1.0, 3.0, 1.5], vec![0.0; 5]);
            let point = (&X, Constant(&k), Cache(&work));
            hessian(&|x: &[_], k: &Vec<f64>, work: &mut Vec<_>| scaled(x, k, work), b, point).unwrap()
        });
        agree!(any, fixed, |b| {
            let (f, g) = (|x: &[_]| smooth(x), |x: &[_]| smooth(x));
            let mut prepared = prepare_hessian(&f, b, &[0.1; 5]).unwrap();
            let mut same = prepare_hvp_same_point(&g, b, &X, [&DX]).unwrap();
            let product = same.hvp([&DX2]).unwrap();
            // The chosen backend keeps a compiled linearisation by pushforwards, the static one by pullbacks.
            let product = product.map(|product| if compiled_inside(&any) { rounded(&product) } else { product });
            (prepared.hessian(&X).unwrap(), prepared.hessian(&DX).unwrap(), same.gradient(), product)
        });
    })*};
}

/// What recordings must not take for constants: parameters, and choices without a branch.
macro_rules! changes_agree {
    ($($fixed:expr),*) => {$({
        let fixed = $fixed;
        let any = AnyBackend::from(fixed);
        agree!(any, fixed, |b| {
            let k = vec![2.0, 0.5, 1.0, 3.0, 1.5];
            let f = |x: &[_], k: &Vec<_>| weighted(x, k);
            let mut prepared = prepare_hessian(&f, b, (&X, Parameter(&k))).unwrap();
            let other = vec![-1.0, 0.25, 4.0, 0.0, 2.0];
            (prepared.hessian((&X, Parameter(&k))).unwrap(), prepared.hessian((&DX, Parameter(&other))).unwrap())
        });
        agree!(any, fixed, |b| {
            let f = |t, k: &Vec<_>| ripple(t, k);
            let mut prepared = prepare_second_derivative(&f, b, (0.7, Parameter(&vec![2.0, 3.0]))).unwrap();
            prepared.second_derivative((0.9, Parameter(&vec![-1.0, 0.5]))).unwrap()
        });
    })*};
}

#[test]
fn parameters_and_choices_give_the_static_result() {
    let (forward, reverse, compiled) =
        (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoReverseDiff::compiled());
    changes_agree!(forward, compiled, SecondOrder(compiled, reverse), SecondOrder(forward, compiled));
    macro_rules! first_order_changes_agree {
        ($($fixed:expr),*) => {$({
            let fixed = $fixed;
            let any = AnyBackend::from(fixed);
            agree!(any, fixed, |b| {
                let f = |x: &[_], k: &Vec<_>| weighted(x, k);
                let (k, other) = (vec![2.0, 0.5, 1.0, 3.0, 1.5], vec![-1.0, 0.25, -4.0, 0.0, 2.0]);
                let mut prepared = prepare_gradient(&f, b, (&X, Parameter(&k))).unwrap();
                let mut at = |k| prepared.value_and_gradient((&X, Parameter(k))).unwrap();
                (at(&k), at(&other), at(&k))
            });
            // Chosen without a branch.
            agree!(any, fixed, |b| {
                let f = |x: &[_]| chosen(x);
                let mut prepared = prepare_jacobian(&f, b, &X).unwrap();
                (prepared.jacobian(&X).unwrap(), prepared.jacobian(&DX).unwrap(), prepared.jacobian(&DX2).unwrap())
            });
        })*};
    }
    first_order_changes_agree!(reverse, compiled);
}

#[test]
fn every_operator_gives_the_static_result() {
    first_order_agrees!(
        AutoForwardDiff::default(),
        AutoForwardDiff::with_chunk::<1>(),
        AutoForwardDiff::with_chunk::<3>(),
        AutoReverseDiff::default(),
        AutoFiniteDiff::forward(),
        AutoFiniteDiff::backward().relative_step(1e-6),
        AutoFiniteDiff::central().relative_step(1e-5).absolute_step(1e-7),
        AutoReverseDiff::compiled(),
        AutoReverseDiff::compiled().with_most_recordings(1)
    );
}

#[test]
fn every_pair_gives_the_static_result() {
    let (forward, reverse, finite) =
        (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoFiniteDiff::central());
    let compiled = AutoReverseDiff::compiled();
    second_order_agrees!(
        SecondOrder(forward, forward),
        SecondOrder(forward, reverse),
        SecondOrder(forward, finite),
        SecondOrder(reverse, forward),
        SecondOrder(reverse, reverse),
        SecondOrder(reverse, finite),
        SecondOrder(finite, forward),
        SecondOrder(finite, reverse),
        SecondOrder(finite, finite),
        SecondOrder(AutoForwardDiff::with_chunk::<2>(), AutoForwardDiff::with_chunk::<5>()),
        SecondOrder(compiled, forward),
        SecondOrder(compiled, reverse),
        SecondOrder(compiled, finite),
        SecondOrder(forward, compiled),
        SecondOrder(reverse, compiled),
        SecondOrder(finite, compiled)
    );
}

/// Inputs long enough for several passes.
fn long() -> Vec<f64> {
    (0..30).map(|i| (i as f64 * 0.7).sin()).collect()
}

macro_rules! calls_agree {
    ($($fixed:expr),*; $operators:ident) => {$({
        let fixed = $fixed;
        let any = AnyBackend::from(fixed);
        $operators!(any, fixed);
    })*};
}

/// Both backends call the function as often.
macro_rules! same_calls {
    ($any:expr, $fixed:expr, |$count:ident, $backend:ident| $call:expr) => {{
        let counts = [
            {
                let ($backend, calls) = (&$any, Cell::new(0));
                let $count = || calls.set(calls.get() + 1);
                $call;
                calls.get()
            },
            {
                let ($backend, calls) = (&$fixed, Cell::new(0));
                let $count = || calls.set(calls.get() + 1);
                $call;
                calls.get()
            },
        ];
        assert_eq!(counts[0], counts[1], "{}: calls in {}", $any, stringify!($call));
    }};
}

macro_rules! first_order_calls {
    ($any:ident, $fixed:ident) => {
        let x = long();
        same_calls!($any, $fixed, |count, b| value_and_gradient(
            &|x: &[_]| {
                count();
                smooth(x)
            },
            b,
            &x
        )
        .unwrap());
        same_calls!($any, $fixed, |count, b| jacobian(
            &|x: &[_]| {
                count();
                vector(x)
            },
            b,
            &x
        )
        .unwrap());
        same_calls!($any, $fixed, |count, b| pushforward(
            &|x: &[_]| {
                count();
                vector(x)
            },
            b,
            &x,
            [&x]
        )
        .unwrap());
        same_calls!($any, $fixed, |count, b| pullback(
            &|x: &[_]| {
                count();
                vector(x)
            },
            b,
            &x,
            [&X]
        )
        .unwrap());
        same_calls!($any, $fixed, |count, b| prepare_jacobian(
            &|x: &[_]| {
                count();
                vector(x)
            },
            b,
            &x
        )
        .unwrap());
        second_order_calls!($any, $fixed);
    };
}

macro_rules! second_order_calls {
    ($any:ident, $fixed:ident) => {
        let x = long();
        same_calls!($any, $fixed, |count, b| hvp(
            &|x: &[_]| {
                count();
                smooth(x)
            },
            b,
            &x,
            [&x]
        )
        .unwrap());
        same_calls!($any, $fixed, |count, b| {
            value_gradient_and_hessian(
                &|x: &[_]| {
                    count();
                    smooth(x)
                },
                b,
                &x,
            )
            .unwrap()
        });
        same_calls!($any, $fixed, |count, b| second_derivative(
            &|t| {
                count();
                wave(t)
            },
            b,
            0.7
        )
        .unwrap());
    };
}

#[test]
fn the_function_is_called_as_often() {
    let (forward, reverse, finite) =
        (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoFiniteDiff::central());
    let compiled = AutoReverseDiff::compiled();
    calls_agree!(
        forward, reverse, finite, AutoFiniteDiff::forward(), AutoForwardDiff::with_chunk::<4>(),
        AutoForwardDiff::with_chunk::<1>(), AutoReverseDiff::compiled();
        first_order_calls
    );
    calls_agree!(
        SecondOrder(forward, reverse), SecondOrder(reverse, forward), SecondOrder(reverse, reverse),
        SecondOrder(finite, forward), SecondOrder(forward, finite), SecondOrder(reverse, finite),
        SecondOrder(finite, reverse), SecondOrder(AutoForwardDiff::with_chunk::<4>(), forward),
        SecondOrder(compiled, forward), SecondOrder(forward, compiled), SecondOrder(reverse, compiled);
        second_order_calls
    );
}

fn message<R>(result: Result<R, Error>) -> String {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn first_order_operators_refuse_a_pair() {
    let backend: AnyBackend = "SecondOrder(ForwardDiff(chunk=2), ReverseDiff)".parse().unwrap();
    let kind = ErrorKind::SecondOrderOnly { outer: "ForwardDiff", inner: "ReverseDiff" };
    assert_eq!(gradient(&|x: &[_]| smooth(x), &backend, &X).unwrap_err().kind(), kind);
    let rest = "with any: `SecondOrder(ForwardDiff, ReverseDiff)` serves second_derivative, hvp and hessian only; \
                use a first-order backend, such as `ReverseDiff` alone";
    let expected = |operator: &str| format!("{operator} {rest}");
    let (f, v, t) = (|x: &[_]| smooth(x), |x: &[_]| vector(x), |t| wave(t));
    assert_eq!(message(gradient(&f, &backend, &X)), expected("gradient"));
    assert_eq!(message(prepare_gradient(&f, &backend, &X)), expected("gradient"));
    assert_eq!(message(jacobian(&v, &backend, &X)), expected("jacobian"));
    assert_eq!(message(derivative(&t, &backend, 0.5)), expected("derivative"));
    assert_eq!(message(pullback(&v, &backend, &X, [&X])), expected("pullback"));
    assert_eq!(message(pushforward(&|x: &[_]| vector(x), &backend, &X, [&X])), expected("pushforward"));
    // A pair of pairs.
    let pairs = SecondOrder(backend, backend);
    assert!(message(hessian(&|x: &[_]| smooth(x), &pairs, &X)).starts_with("hessian with second_order: `SecondOrder("));
}

#[test]
fn a_pair_of_chosen_backends_is_the_chosen_pair() {
    let (outer, inner): (AnyBackend, AnyBackend) =
        ("FiniteDiff".parse().unwrap(), "FiniteDiff(scheme=central)".parse().unwrap());
    let chosen: AnyBackend = "SecondOrder(FiniteDiff, FiniteDiff(scheme=central))".parse().unwrap();
    let f = |x: &[_]| smooth(x);
    assert_eq!(hessian(&f, &SecondOrder(outer, inner), &X), hessian(&f, &chosen, &X));
}

#[test]
fn a_chunk_larger_than_the_input_is_refused() {
    let backend: AnyBackend = "ForwardDiff(chunk=6)".parse().unwrap();
    let f = |x: &[_]| smooth(x);
    assert_eq!(
        message(gradient(&f, &backend, &X)),
        "gradient with any: chunk size 6 is larger than the 5 inputs; fix a chunk of at most 5 or use the automatic one"
    );
    assert_eq!(gradient(&f, &backend, &X).unwrap_err().kind(), ErrorKind::ChunkTooLarge { chunk: 6, inputs: 5 });
    assert_eq!(
        hessian(&|x: &[_]| smooth(x), &backend, &X).unwrap_err().kind(),
        hessian(&|x: &[_]| smooth(x), &Forward::with_chunk::<6>(), &X).unwrap_err().kind()
    );
}

#[test]
fn numbers_of_another_engine_are_refused() {
    let (forward, reverse): (AnyBackend, AnyBackend) = ("ForwardDiff".parse().unwrap(), "ReverseDiff".parse().unwrap());
    for (outer, inner) in [(forward, reverse), (reverse, forward), (forward, "FiniteDiff".parse().unwrap())] {
        let kind = Cell::new(None);
        // The inner differentiation runs on the outer one's own number type, so its function can capture an outer number.
        let f = |x: &[_]| {
            let captured = x[0];
            let inner = gradient(&|y: &[_]| y[0] * captured, &inner, &[2.0]);
            kind.set(inner.err().map(|error| error.kind()));
            captured * 1.0
        };
        assert_eq!(gradient(&f, &outer, &[3.0]), Ok(vec![1.0]));
        assert_eq!(kind.get(), Some(ErrorKind::ForeignNumber), "{inner} inside {outer}");
    }
}

#[test]
fn differentiations_nest() {
    fn outer<T: Real>(x: T, backend: AnyBackend) -> T {
        x * derivative(&|y| lift(&backend, x) * y * y, &backend, &T::constant(2.0)).unwrap()
    }
    for name in ["ForwardDiff", "ReverseDiff"] {
        let backend: AnyBackend = name.parse().unwrap();
        assert_eq!(derivative(&|x| outer(x, backend), &backend, 3.0), Ok(24.0), "{name}");
        assert_eq!(derivative(&|x| outer(x, backend), &AutoReverseDiff::default(), 3.0), Ok(24.0), "{name}");
    }
}

#[test]
fn custom_rules_pass() {
    let norm2 = PlainRule::new("norm2", |x: &[f64], y: &mut Vec<f64>| {
        y.clear();
        y.push(x.iter().map(|v| v * v).sum());
    })
    .with_pullback(|x: &[f64], _y: &[f64], dy: &[f64], dx: &mut [f64]| {
        for (dx, x) in dx.iter_mut().zip(x) {
            *dx = 2.0 * x * dy[0];
        }
    });
    let norm2 = Custom::new(norm2);
    for name in ["ForwardDiff", "ReverseDiff", "ReverseDiff(compile=true)"] {
        let backend: AnyBackend = name.parse().unwrap();
        let f = |x: &[_]| norm2.number(&[x[0], x[1], Scalar::constant(3.0)]) * x[0];
        assert_eq!(gradient(&f, &backend, &[1.0, 2.0]), Ok(vec![16.0, 4.0]), "{name}");
    }
    let rule = "hessian with any: the derivative of `norm2` is plain code that cannot be differentiated again; write its \
                rule over any scalar, or differentiate it by a backend that can";
    let backend: AnyBackend = "ReverseDiff".parse().unwrap();
    assert_eq!(message(hessian(&|x: &[_]| norm2.number(x), &backend, &[1.0, 2.0])), rule);
}

struct Smooth;
impl<T: Real> Function<[T]> for Smooth {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        smooth(x)
    }
}

#[test]
fn an_inner_function_can_be_differentiated_by_a_chosen_backend() {
    let backend: AnyBackend = "FiniteDiff(scheme=central)".parse().unwrap();
    let inner = DifferentiateWith::new(Smooth, backend);
    let f = |x: &[_]| inner.call(x);
    let grad = gradient(&f, &AutoReverseDiff::default(), &X).unwrap();
    assert_eq!(grad, gradient(&|x: &[f64]| smooth(x), &AutoFiniteDiff::central(), &X).unwrap());
}

#[test]
fn compiled_recordings_are_kept_and_guarded() {
    let calls = Cell::new(0);
    let f = |x: &[_]| {
        calls.set(calls.get() + 1);
        bent(x)
    };
    let low = [1.0, 1.0, 1.0, 1.0, 1.0];
    let backend: AnyBackend = "ReverseDiff(compile=true)".parse().unwrap();
    let mut prepared = prepare_gradient(&f, &backend, &X).unwrap();
    assert_eq!(calls.get(), 1);
    for (point, expected) in [(&X, 1), (&DX, 1), (&low, 2), (&DX, 2), (&low, 2)] {
        let by_tape = gradient(&|x: &[_]| bent(x), &AutoReverseDiff::default(), point).unwrap();
        let found = prepared.gradient(point).unwrap();
        assert!(found.iter().zip(&by_tape).all(|(a, b)| (a - b).abs() <= 1e-13 * b.abs().max(1.0)), "{point:?}");
        assert_eq!(calls.get(), expected);
    }
    let refusing: AnyBackend = "ReverseDiff(compile=true, refuse_other_branches=true)".parse().unwrap();
    let mut prepared = prepare_gradient(&f, &refusing, &X).unwrap();
    let error = prepared.gradient(&low).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OtherBranch { place: Some(place) } if place.file().ends_with(file!())));
    assert!(prepared.gradient(&DX).is_ok());
}

/// A static compiled recording over numbers chosen at run time sees the branches of the function.
#[test]
fn branches_are_recorded_through_an_inner_backend_chosen_at_run_time() {
    fn bend<T: Real>(x: T, backend: AnyBackend) -> T {
        derivative(&|y| if y > 1.0 { y * y * y } else { y * lift(&backend, T::constant(5.0)) }, &backend, &x).unwrap()
    }
    for name in ["ForwardDiff", "ReverseDiff"] {
        let backend: AnyBackend = name.parse().unwrap();
        let f = |x| bend(x, backend);
        let mut prepared = prepare_derivative(&f, &AutoReverseDiff::compiled(), 2.0).unwrap();
        assert_eq!(prepared.derivative(3.0), Ok(18.0), "{name}");
        assert_eq!(prepared.derivative(0.5), Ok(0.0), "{name}");
        assert_eq!(prepared.derivative(4.0), Ok(24.0), "{name}");
    }
}

fn parse_error(text: &str) -> String {
    text.parse::<AnyBackend>().unwrap_err().to_string()
}

#[test]
fn mistakes_in_names_are_explained() {
    for (text, expected) in [
        ("RevrseDiff", "unknown backend `RevrseDiff` at column 1; did you mean `ReverseDiff`?"),
        ("forward_diff", "unknown backend `forward_diff` at column 1; did you mean `ForwardDiff`?"),
        ("AutoFinitDiff", "unknown backend `AutoFinitDiff` at column 1; did you mean `FiniteDiff`?"),
        (
            "Zygote",
            "unknown backend `Zygote` at column 1; known are ForwardDiff, ReverseDiff, FiniteDiff and SecondOrder",
        ),
        (
            "SecondOrder(ForwardDiff, ReverseDif)",
            "unknown backend `ReverseDif` at column 26; did you mean `ReverseDiff`?",
        ),
        ("ForwardDiff(chnk=4)", "ForwardDiff has no option `chnk`, found at column 13; did you mean `chunk`?"),
        ("ForwardDiff(size=4)", "ForwardDiff has no option `size`, found at column 13; its options: chunk"),
        (
            "ReverseDiff(chunk=4)",
            "ReverseDiff has no option `chunk`, found at column 13; its options: compile, refuse_other_branches, \
             most_recordings and memory_limit",
        ),
        (
            "ReverseDiff(compiled=true)",
            "ReverseDiff has no option `compiled`, found at column 13; did you mean `compile`?",
        ),
        (
            "ReverseDiff(compile=true, most_recording=4)",
            "ReverseDiff has no option `most_recording`, found at column 27; did you mean `most_recordings`?",
        ),
        (
            "ReverseDiff(compile=true, refusing_other_branches=true)",
            "ReverseDiff has no option `refusing_other_branches`, found at column 27; did you mean `refuse_other_branches`?",
        ),
        ("ReverseDiff(compile=ture)", "`compile` at column 21 is `ture`, expected true or false; did you mean `true`?"),
        ("ReverseDiff(compile=yes)", "`compile` at column 21 is `yes`, expected true or false"),
        (
            "ReverseDiff(compile=true, refuse_other_branches=1)",
            "`refuse_other_branches` at column 49 is `1`, expected true or false",
        ),
        (
            "ReverseDiff(compile=true, most_recordings=0)",
            "`most_recordings` at column 43 is `0`, expected a whole number from 1",
        ),
        (
            "ReverseDiff(compile=true, memory_limit=1e6)",
            "`memory_limit` at column 40 is `1e6`, expected a whole number of bytes from 1",
        ),
        (
            "SecondOrder(ForwardDiff, ReverseDiff(most_recordings=4))",
            "option `most_recordings` at column 38 is for `compile=true`, which is not given; give both",
        ),
        (
            "FiniteDiff(step=1)",
            "FiniteDiff has no option `step`, found at column 12; its options: scheme, relative_step and absolute_step",
        ),
        ("ForwardDiff(chunk=13)", "`chunk` at column 19 is `13`, expected a whole number from 1 to 12"),
        ("ForwardDiff(chunk=0)", "`chunk` at column 19 is `0`, expected a whole number from 1 to 12"),
        ("ForwardDiff(chunk=two)", "`chunk` at column 19 is `two`, expected a whole number from 1 to 12"),
        (
            "FiniteDiff(scheme=centrl)",
            "`scheme` at column 19 is `centrl`, expected forward, backward or central; did you mean `central`?",
        ),
        ("FiniteDiff(relative_step=-1)", "`relative_step` at column 26 is `-1`, expected a positive number"),
        ("FiniteDiff(absolute_step=inf)", "`absolute_step` at column 26 is `inf`, expected a positive number"),
        ("ForwardDiff(chunk=1, chunk=2)", "option `chunk` is given again at column 22; give it once"),
        ("", "expected a backend at column 1, found the end"),
        ("  (", "expected a backend at column 3, found `(`"),
        ("ForwardDiff(", "expected an option or `)` at column 13, found the end"),
        ("ForwardDiff(chunk)", "expected `=` and a value at column 18, found `)`"),
        ("ForwardDiff(chunk=4", "expected `,` or `)` at column 20, found the end"),
        ("ForwardDiff ReverseDiff", "expected the end at column 13, found `ReverseDiff`"),
        ("SecondOrder", "expected `(` and two backends at column 12, found the end"),
        ("SecondOrder(ForwardDiff)", "expected `,` and the inner backend at column 24, found `)`"),
        ("SecondOrder(ForwardDiff, ReverseDiff, x)", "expected `)` at column 37, found `,`"),
        (
            "SecondOrder(SecondOrder(ForwardDiff, ForwardDiff), ForwardDiff)",
            "`SecondOrder` inside `SecondOrder` at column 13; both of its backends are of first order",
        ),
        ("∂ForwardDiff(é=1)", "unknown backend `∂ForwardDiff` at column 1; did you mean `ForwardDiff`?"),
        ("ForwardDiff(é=1)", "ForwardDiff has no option `é`, found at column 13; its options: chunk"),
    ] {
        assert_eq!(parse_error(text), expected, "{text:?}");
    }
    let pair = "SecondOrder(ForwardDiff, ForwardDiff)".parse::<FirstOrder>().unwrap_err();
    assert_eq!(pair.to_string(), "expected a backend of first order at column 1, found `SecondOrder`");
    let error: ParseBackendError = "FinteDiff".parse::<AnyBackend>().unwrap_err();
    assert_eq!(error.column(), 1);
}

#[test]
fn strings_may_be_written_loosely() {
    for (text, canonical) in [
        ("AutoForwardDiff", "ForwardDiff"),
        ("ForwardDiff()", "ForwardDiff"),
        (" AutoForwardDiff ( chunk = 4 ) ", "ForwardDiff(chunk=4)"),
        ("FiniteDiff(scheme=forward)", "FiniteDiff"),
        ("ReverseDiff(compile=false)", "ReverseDiff"),
        ("AutoReverseDiff( compile = true )", "ReverseDiff(compile=true)"),
        ("ReverseDiff(refuse_other_branches=false, compile=true, most_recordings=8)", "ReverseDiff(compile=true)"),
        (
            "ReverseDiff(memory_limit=1000000, most_recordings=4, refuse_other_branches=true, compile=true)",
            "ReverseDiff(compile=true, refuse_other_branches=true, most_recordings=4, memory_limit=1000000)",
        ),
        (
            "SecondOrder(ForwardDiff, ReverseDiff(compile=true, most_recordings=1))",
            "SecondOrder(ForwardDiff, ReverseDiff(compile=true, most_recordings=1))",
        ),
        ("FiniteDiff(relative_step=0.000001,scheme=central)", "FiniteDiff(scheme=central, relative_step=1e-6)"),
        ("AutoSecondOrder(AutoForwardDiff,ReverseDiff())", "SecondOrder(ForwardDiff, ReverseDiff)"),
    ] {
        assert_eq!(text.parse::<AnyBackend>().unwrap().to_string(), canonical);
    }
}

fn first_orders() -> impl Strategy<Value = FirstOrder> {
    let step = prop::option::of(prop_oneof![Just(1e-6), 1e-300..1e300f64, 1e-12..1e-2f64]);
    let schemes =
        prop::sample::select(vec![AutoFiniteDiff::forward(), AutoFiniteDiff::backward(), AutoFiniteDiff::central()]);
    let finite = (schemes, step.clone(), step).prop_map(|(scheme, relative, absolute)| {
        let backend = relative.map_or(scheme, |step| scheme.relative_step(step));
        absolute.map_or(backend, |step| backend.absolute_step(step)).into()
    });
    let forward = prop::option::of(1usize..=12)
        .prop_map(|chunk| FirstOrder::from(AutoForwardDiff::with_runtime_chunk(chunk).expect("a chunk from 1 to 12")));
    let compiled = (any::<bool>(), prop::option::of(1usize..20), prop::option::of(1usize..=usize::MAX));
    let compiled = compiled.prop_map(|(refuses, recordings, bytes)| {
        let backend = AutoReverseDiff::compiled();
        let backend = if refuses { backend.refusing_other_branches() } else { backend };
        let backend = recordings.map_or(backend, |recordings| backend.with_most_recordings(recordings));
        bytes.map_or(backend, |bytes| backend.with_memory_limit(bytes)).into()
    });
    prop_oneof![forward, Just(AutoReverseDiff::default().into()), finite, compiled]
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(outer in first_orders(), inner in first_orders()) {
        prop_assert_eq!(outer.to_string().parse(), Ok(outer));
        for backend in [AnyBackend::from(outer), SecondOrder(outer, inner).into()] {
            prop_assert_eq!(backend.to_string().parse(), Ok(backend));
        }
    }

    #[test]
    fn no_string_makes_the_parser_panic(text in "(SecondOrder|ForwardDiff|ReverseDiff|FiniteDiff|chunk|scheme|compile|true|[(),=é 1])*") {
        if let Ok(backend) = text.parse::<AnyBackend>() {
            prop_assert_eq!(backend.to_string().parse(), Ok(backend));
        }
    }
}

#[cfg(feature = "serde")]
mod configuration {
    use super::*;
    use serde_json::{from_value, json, to_value};

    #[test]
    fn strings_and_parts_are_read() {
        for (value, canonical) in [
            (json!("SecondOrder(ForwardDiff, ReverseDiff)"), "SecondOrder(ForwardDiff, ReverseDiff)"),
            (json!({"name": "ForwardDiff", "chunk": 4}), "ForwardDiff(chunk=4)"),
            (json!({"name": "ReverseDiff", "compile": true}), "ReverseDiff(compile=true)"),
            (
                json!({"name": "ReverseDiff", "compile": true, "refuse_other_branches": true, "most_recordings": 4,
                       "memory_limit": 1000000}),
                "ReverseDiff(compile=true, refuse_other_branches=true, most_recordings=4, memory_limit=1000000)",
            ),
            (
                json!({"name": "FiniteDiff", "scheme": "central", "relative_step": 1e-6}),
                "FiniteDiff(scheme=central, relative_step=1e-6)",
            ),
            (
                json!({"name": "SecondOrder", "outer": {"name": "ForwardDiff"}, "inner": "ReverseDiff"}),
                "SecondOrder(ForwardDiff, ReverseDiff)",
            ),
        ] {
            let backend: AnyBackend = from_value(value).unwrap();
            assert_eq!(backend.to_string(), canonical);
            assert_eq!(to_value(backend).unwrap(), json!(canonical));
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (value, expected) in [
            (json!("RevrseDiff"), "unknown backend `RevrseDiff` at column 1; did you mean `ReverseDiff`?"),
            (
                json!({"name": "ForwardDiff", "chunk": 40}),
                "`chunk` at column 19 is `40`, expected a whole number from 1 to 12 of `ForwardDiff(chunk=40)`",
            ),
            (
                json!({"name": "ReverseDiff", "most_recordings": 4}),
                "option `most_recordings` at column 13 is for `compile=true`, which is not given; give both of \
                 `ReverseDiff(most_recordings=4)`",
            ),
            (
                json!({"name": "ForwardDiff", "chunks": 4}),
                "unknown field `chunks`, expected one of `name`, `chunk`, `scheme`, `relative_step`, `absolute_step`, \
                 `compile`, `refuse_other_branches`, `most_recordings`, `memory_limit`, `outer`, `inner`",
            ),
            (
                json!(4),
                "invalid type: integer `4`, expected a backend such as \"ForwardDiff(chunk=4)\", or a map with its \
                 `name` and options",
            ),
        ] {
            assert_eq!(from_value::<AnyBackend>(value).unwrap_err().to_string(), expected);
        }
    }
}
