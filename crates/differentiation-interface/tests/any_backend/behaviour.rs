//! What is refused, nesting, rules, and recordings.

use super::*;

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
    let rest = "with any: `SecondOrder(ForwardDiff, ReverseDiff)` works with `second_derivative`, `hvp` and `hessian` only; \
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
        "gradient with any: chunk size 6 is larger than the 5 inputs; use a chunk size of at most 5, or the automatic one"
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
        x * derivative(&|y| lift(&backend, &x) * y * y, &backend, &T::constant(2.0)).unwrap()
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
    let rule = "hessian with any: the derivative of `norm2` cannot be differentiated again: it is plain code, or compares numbers \
                where a program is made of it, or a recording would differentiate it a third time; write its rule over any scalar, without comparisons, or differentiate it by a backend that can";
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
    assert!(
        matches!(error.kind(), ErrorKind::OtherBranch { place: Some(place) } if place.file().ends_with("any_backend/main.rs"))
    );
    assert!(prepared.gradient(&DX).is_ok());
}

/// A static compiled recording over numbers chosen at run time sees the branches of the function.
#[test]
fn branches_are_recorded_through_an_inner_backend_chosen_at_run_time() {
    fn bend<T: Real>(x: T, backend: AnyBackend) -> T {
        derivative(&|y| if y > 1.0 { y * y * y } else { y * lift(&backend, &T::constant(5.0)) }, &backend, &x).unwrap()
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

/// A backend that is added to the list of static ones only does not compile here; one that is read back as another fails.
#[test]
fn every_static_backend_can_be_chosen() {
    macro_rules! chosen {
        ([] $($(#[$attribute:meta])* $module:ident $Type:ident = $make:expr, $accuracy:ident, $evaluation:ident;)*) => {
            [$(AnyBackend::from($make)),*]
        };
    }
    let choices = differentiation_interface::each_backend!(chosen![]);
    for (i, choice) in choices.iter().enumerate() {
        assert_eq!(choice.to_string().parse::<AnyBackend>().as_ref(), Ok(choice));
        assert!(!choices[..i].contains(choice), "{choice} is chosen twice");
    }
}
