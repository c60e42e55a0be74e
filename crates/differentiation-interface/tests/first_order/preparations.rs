//! What a preparation refuses and what it keeps: outputs that are not written, numbers of outputs that change, work memory, and numbers
//! of an outer differentiation in a compiled recording. The same for all engines, without preparation and with one, in every call.

use differentiation_interface::backends::AnyBackend;
use differentiation_interface::prelude::*;
use differentiation_interface::sparse::sparsity_tracer::TracerLocalSparsityDetector;
use std::cell::Cell;

/// Runs the body once per engine.
macro_rules! each_engine {
    (|$backend:ident, $name:ident| $body:block) => {{
        each_engine! { @one |$backend, $name| $body, AutoForwardDiff::default(), "forward" }
        each_engine! { @one |$backend, $name| $body, AutoReverseDiff::default(), "tape" }
        each_engine! { @one |$backend, $name| $body, AutoReverseDiff::compiled(), "compiled" }
        each_engine! { @one |$backend, $name| $body, AutoFiniteDiff::forward(), "differences" }
        for $name in ["ForwardDiff", "ReverseDiff", "ReverseDiff(compile=true)", "FiniteDiff(scheme=central)"] {
            let $backend: AnyBackend = $name.parse().unwrap();
            $body
        }
    }};
    (@one |$backend:ident, $name:ident| $body:block, $engine:expr, $text:literal) => {{
        let ($backend, $name) = ($engine, $text);
        $body
    }};
}

fn kind<R: std::fmt::Debug>(result: Result<R, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

fn close(found: &[f64], expected: &[f64], name: &str) {
    assert_eq!(found.len(), expected.len(), "{name}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-5 * expected.abs().max(1.0), "{name}: {found:?}, expected {expected:?}");
    }
}

/// Leaves its second entry unwritten where the first coordinate is negative.
fn partly<T: Real>(y: &mut [T], x: &[T]) {
    y[0] = x[0] * x[1];
    if x[0] > 0.0 {
        y[1] = x[1] * x[1];
    }
}

/// Adds to what it should write.
fn adding<T: Real>(y: &mut [T], x: &[T]) {
    y[0] = x[1];
    y[1] += x[0] * x[0];
}

const UNWRITTEN: ErrorKind = ErrorKind::UnwrittenOutput { index: 1 };

#[test]
fn an_output_that_is_not_written_is_an_error_in_every_call() {
    let (whole, part) = ([1.0, 2.0], [-1.0, 2.0]);
    each_engine!(|backend, name| {
        let f = in_place(|y: &mut [_], x: &[_]| partly(y, x), 2);
        assert_eq!(kind(jacobian(&f, &backend, &part)), UNWRITTEN, "{name}");
        assert_eq!(kind(prepare_jacobian(&f, &backend, &part).map(drop)), UNWRITTEN, "{name}");
        let mut prepared = prepare_jacobian(&f, &backend, &whole).unwrap();
        let mut jac = Matrix::filled(2, 2, 0.0);
        for _ in 0..2 {
            assert_eq!(kind(prepared.jacobian(&part)), UNWRITTEN, "{name}");
            assert_eq!(
                kind(prepared.value_and_jacobian_into(&mut jac, &part).map(<[f64]>::to_vec)),
                UNWRITTEN,
                "{name}"
            );
            close(prepared.jacobian(&whole).unwrap().as_slice(), &[2.0, 1.0, 0.0, 4.0], name);
        }
        let f = in_place(|y: &mut [_], x: &[_]| partly(y, x), 2);
        assert_eq!(kind(pushforward(&f, &backend, &part, [&[1.0, 0.0]])), UNWRITTEN, "{name}");
        let f = in_place(|y: &mut [_], x: &[_]| partly(y, x), 2);
        assert_eq!(kind(pullback(&f, &backend, &part, [&[1.0, 0.0]])), UNWRITTEN, "{name}");
        let mut prepared = prepare_pullback(&f, &backend, &whole, [&[1.0, 0.0]]).unwrap();
        for _ in 0..2 {
            assert_eq!(kind(prepared.pullback(&part, [&[1.0, 0.0]])), UNWRITTEN, "{name}");
            close(&prepared.pullback(&whole, [&[0.0, 1.0]]).unwrap()[0], &[0.0, 4.0], name);
        }
    });
}

#[test]
fn an_output_that_is_read_before_it_is_written_is_the_same_error() {
    each_engine!(|backend, name| {
        let f = in_place(|y: &mut [_], x: &[_]| adding(y, x), 2);
        for _ in 0..2 {
            assert_eq!(kind(jacobian(&f, &backend, &[1.0, 2.0])), UNWRITTEN, "{name}");
            assert_eq!(kind(prepare_jacobian(&f, &backend, &[1.0, 2.0]).map(drop)), UNWRITTEN, "{name}");
        }
    });
    fn adding_single<T: Real<f32>>(y: &mut [T], x: &[T]) {
        y[0] = x[1];
        y[1] += x[0] * x[0];
    }
    let single = [1.0_f32, 2.0];
    let f = in_place(|y: &mut [_], x: &[_]| adding_single(y, x), 2);
    assert_eq!(kind(jacobian(&f, &AutoReverseDiff::compiled(), &single)), UNWRITTEN);
    let f = in_place(|y: &mut [_], x: &[_]| adding_single(y, x), 2);
    assert_eq!(kind(jacobian(&f, &AutoFiniteDiff::central(), &single)), UNWRITTEN);
}

#[test]
fn an_output_that_is_not_written_is_an_error_with_contexts() {
    fn scaled<T: Real>(y: &mut [T], x: &[T], k: &f64) {
        y[0] = x[0] * *k;
        if *k > 0.0 {
            y[1] = x[1] * *k;
        }
    }
    let x = [3.0, 4.0];
    each_engine!(|backend, name| {
        let f = in_place(|y: &mut [_], x: &[_], k: &f64| scaled(y, x, k), 2);
        let mut prepared = prepare_jacobian(&f, &backend, (&x, Constant(&1.0))).unwrap();
        for _ in 0..2 {
            assert_eq!(kind(prepared.jacobian((&x, Constant(&-1.0)))), UNWRITTEN, "{name}");
            close(prepared.jacobian((&x, Constant(&2.0))).unwrap().as_slice(), &[2.0, 0.0, 0.0, 2.0], name);
        }
    });
}

#[test]
fn an_unwritten_output_is_an_error_by_sparse_backends_and_in_second_order() {
    #[differentiable]
    fn half(y: &mut [f64], x: &[f64]) {
        y[0] = x[0] * x[1];
    }
    let f = in_place(Half, 2);
    assert_eq!(kind(jacobian(&f, &AutoSparse::new(AutoForwardDiff::default()), &[1.0, 2.0])), UNWRITTEN);
    assert_eq!(kind(jacobian(&f, &AutoSparse::new(AutoReverseDiff::compiled()), &[1.0, 2.0])), UNWRITTEN);
    let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let f = in_place(|y: &mut [_], x| y[0] = x, 2);
    assert_eq!(kind(second_derivative(&f, &pair, 3.0)), UNWRITTEN);
}

#[test]
fn an_in_place_function_called_by_itself_leaves_no_error_behind() {
    let f = in_place(|y: &mut [f64], x: &[f64]| y[0] = x[0], 2);
    assert!(Function::call(&f, &[1.0][..])[1].is_nan());
    let square = |x: &[_]| x[0] * x[0];
    assert_eq!(gradient(&square, &AutoForwardDiff::default(), &[3.0]).unwrap(), [6.0]);
}

/// As many outputs as the sign of the first coordinate says.
fn two_or_three<T: Real>(x: &[T]) -> Vec<T> {
    let mut y = vec![x[0] * x[1], x[1]];
    if x[0] < 0.0 {
        y.push(x[0]);
    }
    y
}

#[test]
fn a_number_of_outputs_that_changes_is_refused() {
    let (two, three) = ([1.0, 2.0], [-1.0, 2.0]);
    let changed = ErrorKind::OutputLength { expected: 2, found: 3 };
    each_engine!(|backend, name| {
        let f = |x: &[_]| two_or_three(x);
        let mut prepared = prepare_jacobian(&f, &backend, &two).unwrap();
        let mut jac = Matrix::filled(2, 2, 0.0);
        for _ in 0..2 {
            assert_eq!(kind(prepared.jacobian(&three)), changed, "{name}");
            assert_eq!(kind(prepared.value_and_jacobian(&three)), changed, "{name}");
            assert_eq!(kind(prepared.jacobian_into(&mut jac, &three)), changed, "{name}");
            close(prepared.jacobian(&two).unwrap().as_slice(), &[2.0, 1.0, 0.0, 1.0], name);
        }
        prepared.prepare_again(&three).unwrap();
        close(prepared.jacobian(&three).unwrap().as_slice(), &[2.0, -1.0, 0.0, 1.0, 1.0, 0.0], name);
        let f = |x: &[_]| two_or_three(x);
        let mut prepared = prepare_pushforward(&f, &backend, &two, [&[1.0, 0.0]]).unwrap();
        for _ in 0..2 {
            assert_eq!(kind(prepared.pushforward(&three, [&[1.0, 0.0]])), changed, "{name}");
            close(&prepared.pushforward(&two, [&[1.0, 0.0]]).unwrap()[0], &[2.0, 0.0], name);
        }
        prepared.prepare_again(&three, [&[1.0, 0.0]]).unwrap();
        close(&prepared.pushforward(&three, [&[1.0, 0.0]]).unwrap()[0], &[2.0, 0.0, 1.0], name);
    });
}

#[test]
fn a_number_of_outputs_that_changes_is_refused_by_sparse_backends() {
    struct Changing;
    impl<T: Real> Function<[T]> for Changing {
        type Output = Vec<T>;
        fn call(&self, x: &[T]) -> Vec<T> {
            two_or_three(x)
        }
    }
    let (two, three) = ([1.0, 2.0], [-1.0, 2.0]);
    macro_rules! check {
        ($($dense:expr => $kind:pat),*) => {$(
            let backend = AutoSparse::new($dense).with_detector(TracerLocalSparsityDetector);
            let mut prepared = prepare_jacobian(&Changing, &backend, &two).unwrap();
            assert!(matches!(kind(prepared.jacobian(&three)), $kind));
            assert!(matches!(kind(prepared.value_and_jacobian(&three)), $kind));
        )*};
    }
    check!(
        AutoForwardDiff::default() => ErrorKind::OutputLength { expected: 2, found: 3 },
        AutoReverseDiff::default() => ErrorKind::OutputLength { expected: 2, found: 3 },
        // A recording knows the branch on which the outputs change, and that the pattern is of another one.
        AutoReverseDiff::compiled() => ErrorKind::OtherPattern { .. }
    );
}

/// Adds to its work memory, so that the value depends on the content at the start; without a branch on it.
fn accumulating<T: Real>(x: &[T], sums: &mut [T]) -> T {
    sums[0] += x[0] * x[1];
    sums[1] += sums[0] * x[0];
    sums[1] + sums[0]
}

#[test]
fn work_memory_is_zero_at_the_start_of_every_evaluation() {
    // x₀ x₁ (x₀ + 1)
    let gradient_at = |x: [f64; 2]| [x[1] * (2.0 * x[0] + 1.0), x[0] * (x[0] + 1.0)];
    let points = [[2.0, 3.0], [-1.0, 0.5], [2.0, 3.0]];
    each_engine!(|backend, name| {
        let f = |x: &[_], sums: &mut Vec<_>| accumulating(x, sums);
        let full = vec![7.0; 2];
        let mut prepared = prepare_gradient(&f, &backend, (&points[0], Cache(&full))).unwrap();
        for x in &points {
            close(&gradient(&f, &backend, (x, Cache(&full))).unwrap(), &gradient_at(*x), name);
            close(&prepared.gradient((x, Cache(&full))).unwrap(), &gradient_at(*x), name);
            let (value, _) = prepared.value_and_gradient((x, Cache(&full))).unwrap();
            close(&[value], &[x[0] * x[1] * (x[0] + 1.0)], name);
        }
        // The compiled engine runs the function in every call where a constant may have changed.
        let f = |x: &[_], k: &f64, sums: &mut [_; 2]| accumulating(x, sums) * *k;
        let mut prepared = prepare_gradient(&f, &backend, (&points[0], Constant(&1.0), Cache(&[7.0; 2]))).unwrap();
        for x in &points {
            close(&prepared.gradient((x, Constant(&1.0), Cache(&[7.0; 2]))).unwrap(), &gradient_at(*x), name);
        }
        let f = |x: &[_], (one, two): &mut (_, Vec<_>)| {
            *one += x[0] * x[1];
            two[0] += *one * x[0];
            two[0] + *one
        };
        let prototype = (7.0, vec![7.0]);
        let mut prepared = prepare_gradient(&f, &backend, (&points[0], Cache(&prototype))).unwrap();
        for x in &points {
            close(&prepared.gradient((x, Cache(&prototype))).unwrap(), &gradient_at(*x), name);
        }
    });
}

#[test]
fn active_constants_of_a_recording_chosen_at_run_time_are_refused_in_their_own_words() {
    let inner: AnyBackend = "ReverseDiff(compile=true)".parse().unwrap();
    let refused = Cell::new(None);
    let message = Cell::new(String::new());
    let outer = |x: &[_]| {
        let (a, b) = (x[0], x[1]);
        let slope = derivative(&|y| lift(&inner, &a) * y * y, &inner, &lift(&AutoForwardDiff::default(), &2.0));
        if let Err(error) = slope {
            refused.set(Some(error.kind()));
            message.set(error.to_string());
        }
        a * b
    };
    assert_eq!(gradient(&outer, &AutoForwardDiff::default(), &[2.0, 3.0]).unwrap(), [3.0, 2.0]);
    assert_eq!(refused.get(), Some(ErrorKind::ActiveConstant));
    let message = message.take();
    assert!(
        message.contains("holds plain constants only; use `AutoForwardDiff`") && !message.contains("`lift`"),
        "{message}"
    );
}

#[test]
fn plain_numbers_are_lifted_into_recordings() {
    let backend = AutoReverseDiff::compiled();
    let scaled = |k: f64| derivative(&|y| lift(&backend, &k) * y * y, &backend, 2.0);
    assert_eq!(scaled(3.0), Ok(12.0));
    // The inner number lies over the outer one, which is no constant of the recording but its point.
    let outer = |x: &[_]| {
        let a = x[0];
        derivative(&|y| y * y * y, &backend, &a).unwrap()
    };
    assert_eq!(gradient(&outer, &AutoForwardDiff::default(), &[2.0]).unwrap(), [12.0]);
}

#[test]
fn errors_of_colourings_keep_their_kind() {
    use differentiation_interface::sparse::matrix_coloring::{GreedyColoring, Order};
    #[differentiable]
    fn squares(x: &[f64]) -> f64 {
        x[0] * x[0] + x[1] * x[2]
    }
    let given = GreedyColoring::new(Order::Given(vec![0, 1]));
    let error = hessian(&Squares, &AutoSparse::new(AutoForwardDiff::default()).with_coloring(given), &[1.0, 2.0, 3.0]);
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ColoringOrder { position: 2 });
    assert_eq!(
        error.to_string(),
        "hessian with sparse(forward_diff): the order given for the colouring is not a permutation: position 2 is out of range, repeated or missing; list every vertex once, or use another order"
    );
}

#[test]
fn steps_that_say_nothing_are_refused() {
    let norm = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>();
    let useless = |coordinate| Some(ErrorKind::UselessStep { coordinate });
    let outcome = |backend: AutoFiniteDiff, x: &[f64]| gradient(&norm, &backend, x).err().map(|error| error.kind());
    for scheme in [AutoFiniteDiff::forward(), AutoFiniteDiff::backward(), AutoFiniteDiff::central()] {
        for step in [5e-324, 1e-30, 1e300, 0.0, -1e-8, f64::NAN, f64::INFINITY] {
            assert_eq!(outcome(scheme.relative_step(step), &[1.0, 2.0]), useless(0), "{scheme:?} {step:e}");
        }
        assert_eq!(outcome(scheme.relative_step(1e-20).absolute_step(1e-8), &[1.0, 1e9]), useless(1));
        assert_eq!(outcome(scheme.relative_step(1e-20).absolute_step(1e-8), &[1.0, 2.0]), None);
        assert_eq!(outcome(scheme, &[0.0, 1e-300, 5e-324, -1e150, f64::NAN, f64::INFINITY]), None);
        let tangent = pushforward(&norm, &scheme.relative_step(5e-324), &[1.0, -2.0], [&[1.0, 1.0]]);
        assert_eq!(tangent.err().map(|error| error.kind()), useless(1));
    }
    let parsed: AnyBackend = "FiniteDiff(relative_step=5e-324)".parse().unwrap();
    let norm = |x: &[_]| x[0] * x[0];
    let error = gradient(&norm, &parsed, &[1.0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "gradient with any: the step at coordinate 0 is not positive, too small to change the coordinate, or so large that the coordinate overflows or is lost to rounding; set a step near the default or none, and scale a coordinate that is near the largest number"
    );
}

#[test]
fn deep_nesting_in_a_string_is_an_error() {
    let error = "SecondOrder(".repeat(100_000).parse::<AnyBackend>().unwrap_err();
    assert_eq!(error.to_string(), "`SecondOrder` inside `SecondOrder` at column 13; pass two first-order backends");
    let error = "(".repeat(100_000).parse::<AnyBackend>().unwrap_err();
    assert_eq!(error.column(), 1);
    assert!(format!("ForwardDiff{}", "(".repeat(100_000)).parse::<AnyBackend>().is_err());
}

/// The product of two coordinates, and the first as a plain number.
fn with_first<T: Real>(x: &[T]) -> (T, f64) {
    (x[0] * x[1], x[0].primal())
}

/// The same as an array, and with a parameter.
fn with_firsts<T: Real>(x: &[T], k: &T) -> ([T; 2], f64) {
    ([x[0] * x[1], *k * x[1]], x[0].primal())
}

/// `take` gives the auxiliary output of the last call, whatever the calls before it left, and nothing twice.
#[test]
fn auxiliary_outputs_are_those_of_the_last_call() {
    each_engine!(|backend, name| {
        let f = with_aux(with_first);
        let mut prepared = prepare_gradient(&f, &backend, &[0.0, 0.0]).unwrap();
        let of_call = |x: f64| {
            let aux: Option<f64> = f.take();
            assert!(aux.is_some_and(|aux| (aux - x).abs() < 1e-3), "{name}: {aux:?}, expected {x}");
            assert_eq!(f.take(), None, "{name}");
        };
        prepared.value_and_gradient(&[2.0, 5.0]).unwrap();
        of_call(2.0);
        for round in 0..60 {
            prepared.gradient(&[3.0 + f64::from(round), 5.0]).unwrap();
        }
        of_call(62.0);
        assert_eq!(prepared.value(&[7.0, 5.0]).unwrap(), 35.0);
        of_call(7.0);
        prepared.gradient(&[8.0, 5.0]).unwrap();
        prepared.value_and_gradient(&[9.0, 5.0]).unwrap();
        of_call(9.0);

        let mut products = prepare_pullback(&f, &backend, &[0.0, 0.0], [1.0]).unwrap();
        products.value_and_pullback(&[4.0, 5.0], [2.0]).unwrap();
        of_call(4.0);
        let g = with_aux(with_firsts);
        let mut prepared = prepare_jacobian(&g, &backend, (&[0.0, 0.0], Parameter(&1.0))).unwrap();
        for x in [2.0, 4.0] {
            prepared.jacobian((&[7.0, 1.0], Parameter(&2.0))).unwrap();
            prepared.value_and_jacobian((&[x, 1.0], Parameter(&3.0))).unwrap();
            let aux: f64 = g.take().unwrap();
            assert!((aux - x).abs() < 1e-4, "{name}: {aux}, expected {x}");
        }
    });
}
