//! Functions that compute with their numbers on other threads: right by forward mode and differences, an error that names
//! threads by all that is recorded on one thread.

use differentiation_interface::prelude::*;
use differentiation_interface::sparse::{GraphSparsityDetector, KnownPattern};
use rayon::prelude::*;
use sparsity_tracer::Pattern;
use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
#[cfg(target_os = "linux")]
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex};
use std::thread;

const TEXT: &str = "the function computes on another thread with numbers that belong to a recording on the calling thread; compute on the calling thread, or use `AutoForwardDiff` or `AutoFiniteDiff`, with a known pattern if the derivative is sparse";

#[track_caller]
fn assert_other_thread<R: Debug>(result: Result<R, Error>) {
    let error = result.expect_err("a recording on two threads is refused");
    assert_eq!(error.kind(), ErrorKind::OtherThread);
    assert!(error.to_string().ends_with(TEXT), "{error}");
}

/// Runs `work` on a thread of its own.
fn away<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(work).join().expect("numbers do not panic on other threads"))
}

/// x₀² x₁ + x₀ with the first term computed elsewhere.
fn partly_away<T: Real>(x: &[T]) -> T {
    away(|| x[0] * x[1] * x[0]) + x[0]
}
fn curve_away<T: Real>(t: T) -> [T; 2] {
    [t, away(|| t * t.sin())]
}
fn pair_away<T: Real>(x: &[T]) -> Vec<T> {
    vec![away(|| x[0] * x[1]), x[1]]
}

/// The functions above as objects, and the first one computed here.
struct PartlyAway;
struct PairAway;
struct Here;

impl<T: Real> Function<[T]> for PartlyAway {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        partly_away(x)
    }
}
impl<T: Real> Function<[T]> for Here {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        x[0] * x[1] * x[0] + x[0]
    }
}
impl<T: Real> Function<[T]> for PairAway {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        pair_away(x)
    }
}

#[test]
fn forward_mode_and_differences_are_right() -> Result<(), Error> {
    let x = [2.0, 3.0];
    assert_eq!(value_and_gradient(&partly_away, &AutoForwardDiff::default(), &x)?, (14.0, vec![13.0, 4.0]));
    assert_eq!(hessian(&partly_away, &AutoForwardDiff::default(), &x)?.as_slice(), &[6.0, 4.0, 4.0, 0.0]);
    let mut prepared = prepare_gradient(&partly_away, &AutoForwardDiff::default(), &x)?;
    assert_eq!(prepared.value_and_gradient(&[5.0, 7.0])?, (180.0, vec![71.0, 25.0]));
    let differences = gradient(&partly_away, &AutoFiniteDiff::default(), &x)?;
    assert!((differences[0] - 13.0).abs() < 1e-6 && (differences[1] - 4.0).abs() < 1e-6);
    Ok(())
}

#[test]
fn a_tape_is_refused_by_every_operator() {
    let (x, backend) = ([2.0, 3.0], AutoReverseDiff::default());
    assert_other_thread(gradient(&partly_away, &backend, &x));
    assert_other_thread(prepare_gradient(&partly_away, &backend, &x).map(drop));
    assert_other_thread(hessian(&partly_away, &backend, &x));
    assert_other_thread(prepare_hessian(&partly_away, &backend, &x).map(drop));
    assert_other_thread(hvp(&partly_away, &backend, &x, [&[1.0, 0.0]]));
    assert_other_thread(jacobian(&pair_away, &backend, &x));
    assert_other_thread(pullback(&pair_away, &backend, &x, [&[1.0, 0.0]]));
    assert_other_thread(hessian(&partly_away, &SecondOrder(AutoForwardDiff::default(), backend), &x));
    assert_other_thread(hessian(&partly_away, &SecondOrder(backend, AutoForwardDiff::default()), &x));
    // Numbers that hang on one input leave nothing on the tape, and are right everywhere.
    assert_eq!(derivative(&curve_away, &backend, 2.0), Ok([1.0, 2.0_f64.sin() + 2.0 * 2.0_f64.cos()]));
    let error = gradient(&partly_away, &backend, &x).unwrap_err();
    assert_eq!(error.to_string(), format!("gradient with reverse_diff: {TEXT}"));
}

#[test]
fn a_compiled_recording_is_refused_by_every_operator() {
    let (x, backend) = ([2.0, 3.0], AutoReverseDiff::compiled());
    assert_other_thread(gradient(&partly_away, &backend, &x));
    assert_other_thread(prepare_gradient(&partly_away, &backend, &x).map(drop));
    assert_other_thread(hessian(&partly_away, &backend, &x));
    assert_other_thread(jacobian(&pair_away, &backend, &x));
    // Functions of one argument and values that leave are recorded too.
    fn unary<T: Real>(x: &[T]) -> T {
        away(|| x[0].sin()) + x[1]
    }
    fn compared<T: Real>(x: &[T]) -> T {
        if away(|| x[0] > x[1]) { x[0] } else { x[1] }
    }
    fn plain<T: Real>(x: &[T]) -> T {
        x[1] * away(|| x[0].primal())
    }
    fn text<T: Real>(x: &[T]) -> T {
        x[1] * away(|| format!("{}", x[0]).len()) as f64
    }
    fn chosen<T: Real>(x: &[T]) -> T {
        x[1] * away(|| x[0].less_than(x[1]).select(x[0], x[1]))
    }
    fn decides<T: Real>(x: &[T]) -> T {
        if away(|| x[0] * x[1]) > 0.0 { x[0] } else { x[1] }
    }
    assert_other_thread(gradient(&unary, &backend, &x));
    assert_other_thread(gradient(&compared, &backend, &x));
    assert_other_thread(gradient(&plain, &backend, &x));
    assert_other_thread(gradient(&text, &backend, &x));
    assert_other_thread(gradient(&chosen, &backend, &x));
    assert_other_thread(gradient(&decides, &backend, &x));
}

#[test]
fn pairs_with_a_compiled_recording_are_refused() {
    let (x, compiled) = ([2.0, 3.0], AutoReverseDiff::compiled());
    assert_other_thread(hessian(&partly_away, &SecondOrder(compiled, AutoReverseDiff::default()), &x));
    assert_other_thread(hessian(&partly_away, &SecondOrder(compiled, AutoForwardDiff::default()), &x));
    assert_other_thread(hessian(&partly_away, &SecondOrder(AutoForwardDiff::default(), compiled), &x));
}

#[test]
fn backends_chosen_at_run_time_are_refused_or_right() -> Result<(), Error> {
    let x = [2.0, 3.0];
    for text in ["ReverseDiff", "ReverseDiff(compile=true)"] {
        assert_other_thread(gradient(&partly_away, &text.parse::<AnyBackend>().expect("a backend"), &x));
    }
    for text in ["SecondOrder(ForwardDiff, ReverseDiff)", "SecondOrder(ReverseDiff, ReverseDiff)"] {
        assert_other_thread(hessian(&partly_away, &text.parse::<AnyBackend>().expect("a backend"), &x));
    }
    let forward: AnyBackend = "ForwardDiff".parse().expect("a backend");
    assert_eq!(hessian(&partly_away, &forward, &x)?.as_slice(), &[6.0, 4.0, 4.0, 0.0]);
    assert_eq!(gradient(&partly_away, &forward, &x)?, [13.0, 4.0]);
    Ok(())
}

#[test]
fn sparse_detection_is_refused_and_a_known_pattern_is_right() -> Result<(), Error> {
    let x = [2.0, 3.0];
    let forward = AutoForwardDiff::default();
    assert_other_thread(jacobian(&PairAway, &AutoSparse::new(forward), &x));
    assert_other_thread(hessian(&PartlyAway, &AutoSparse::new(forward), &x));
    let branching = |x: &[_]| vec![if away(|| x[0] > x[1]) { x[0] } else { x[1] }];
    assert_other_thread(sparsity_tracer::jacobian_sparsity(&branching, &sparsity_tracer::TracerSparsityDetector, &x));
    // The pattern at one point needs the detection where dependences are joined.
    let joining = |x: &[_]| vec![away(|| x[0] * x[1])];
    assert_other_thread(sparsity_tracer::jacobian_sparsity(
        &joining,
        &sparsity_tracer::TracerLocalSparsityDetector,
        &x,
    ));
    // A loop that waits for an answer ends.
    let waiting = |x: &[_]| {
        let wait = || {
            let mut y = x[0];
            loop {
                if y > x[1] {
                    return y;
                }
                y += 1.0;
            }
        };
        vec![thread::scope(|scope| scope.spawn(wait).join().unwrap_or(x[0]))]
    };
    assert_other_thread(sparsity_tracer::jacobian_sparsity(&waiting, &sparsity_tracer::TracerSparsityDetector, &x));
    let graph = AutoSparse::new(forward).with_detector(GraphSparsityDetector);
    assert_other_thread(jacobian(&PairAway, &graph, &x));
    let known = Pattern::from_triplets(2, 2, [(0, 0), (0, 1), (1, 1)]).expect("a pattern");
    let known = AutoSparse::new(forward).with_detector(KnownPattern(known.into()));
    let found: Vec<_> = jacobian(&PairAway, &known, &x)?.entries().collect();
    assert_eq!(found, [(0, 0, 3.0), (0, 1, 2.0), (1, 1, 1.0)]);
    Ok(())
}

#[test]
fn a_caught_panic_on_the_worker_does_not_hide_the_error() {
    // If a number panicked on the worker, the sum would go on with `a`.
    fn falls_back<T: Real>(x: &[T]) -> T {
        let (a, b) = (x[0], x[1]);
        thread::scope(|scope| scope.spawn(move || a * b).join().unwrap_or(a)) + a
    }
    fn catches<T: Real>(x: &[T]) -> T {
        let (a, b) = (x[0], x[1]);
        let fails = move || {
            let product = a * b;
            if product.is_finite() { std::panic::resume_unwind(Box::new("of the user")) } else { product }
        };
        let worker = move || std::panic::catch_unwind(AssertUnwindSafe(fails));
        thread::scope(|scope| scope.spawn(worker).join()).map_or(a, |result| result.unwrap_or(a)) + a * b
    }
    let x = [2.0, 3.0];
    assert_other_thread(gradient(&falls_back, &AutoReverseDiff::default(), &x));
    assert_other_thread(gradient(&falls_back, &AutoReverseDiff::compiled(), &x));
    assert_eq!(gradient(&falls_back, &AutoForwardDiff::default(), &x), Ok(vec![4.0, 2.0]));
    assert_other_thread(gradient(&catches, &AutoReverseDiff::default(), &x));
    assert_other_thread(gradient(&catches, &AutoReverseDiff::compiled(), &x));
    assert_eq!(gradient(&catches, &AutoForwardDiff::default(), &x), Ok(vec![4.0, 2.0]));
}

/// A worker that outlives all calls.
static WORKER: LazyLock<Mutex<Sender<Box<dyn FnOnce() + Send>>>> = LazyLock::new(|| {
    let (sender, jobs) = channel::<Box<dyn FnOnce() + Send>>();
    thread::spawn(move || jobs.into_iter().for_each(|job| job()));
    Mutex::new(sender)
});

fn by_worker<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, result) = channel();
    let job = Box::new(move || sender.send(work()).expect("the caller waits"));
    WORKER.lock().expect("no job panics").send(job).expect("the worker lives");
    result.recv().expect("the worker answers")
}

#[test]
fn a_worker_behind_a_channel_is_noticed_in_each_call() -> Result<(), Error> {
    fn f<T: Real>(x: &[T]) -> T {
        let (a, b) = (x[0], x[1]);
        by_worker(move || a * b * a) + a
    }
    let x = [2.0, 3.0];
    let mut forward = prepare_gradient(&f, &AutoForwardDiff::default(), &x)?;
    for _ in 0..10 {
        assert_other_thread(gradient(&f, &AutoReverseDiff::default(), &x));
        assert_other_thread(gradient(&f, &AutoReverseDiff::compiled(), &x));
        assert_eq!(forward.gradient(&x)?, [13.0, 4.0]);
    }
    Ok(())
}

#[test]
fn numbers_that_a_worker_keeps_concern_no_later_call() -> Result<(), Error> {
    fn f<T: Real>(x: &[T], later: &Mutex<Vec<T>>) -> T {
        later.lock().expect("no panic").extend_from_slice(x);
        x[0] * x[1]
    }
    let kept = Mutex::new(Vec::new());
    let g = |x: &[_]| f(x, &kept);
    let mut prepared = prepare_gradient(&g, &AutoReverseDiff::default(), &[2.0, 3.0])?;
    for _ in 0..5 {
        assert_eq!(prepared.gradient(&[2.0, 3.0])?, [3.0, 2.0]);
        let numbers = std::mem::take(&mut *kept.lock().expect("no panic"));
        assert_eq!(away(|| numbers[0] * numbers[1]).primal(), 6.0);
    }
    Ok(())
}

#[test]
fn numbers_of_two_calls_that_meet_on_a_worker_are_refused() {
    fn f<T: Real>(x: &[T], kept: &Mutex<Option<T>>) -> T {
        let first = *kept.lock().expect("no panic").get_or_insert(x[0]);
        let (a, b) = (x[0], x[1]);
        if away(move || first < a) { a } else { b }
    }
    let (x, kept) = ([2.0, 3.0], Mutex::new(None));
    let g = |x: &[_]| f(x, &kept);
    for _ in 0..3 {
        assert_other_thread(gradient(&g, &AutoReverseDiff::compiled(), &x));
    }
    let kept = Mutex::new(None);
    let g = |x: &[_]| vec![f(x, &kept)];
    for _ in 0..3 {
        assert_other_thread(sparsity_tracer::jacobian_sparsity(&g, &sparsity_tracer::TracerSparsityDetector, &x));
    }
}

/// Where x₀ is positive, computed elsewhere.
fn sometimes_away<T: Real>(x: &[T]) -> T {
    if x[0] > 0.0 { away(|| x[0] * x[1]) } else { x[0] * x[0] + x[1] }
}

#[test]
fn preparations_are_usable_after_the_error() -> Result<(), Error> {
    fn check(mut call: impl FnMut(&[f64; 2]) -> Result<Vec<f64>, Error>) {
        for _ in 0..3 {
            assert_eq!(call(&[-1.0, 3.0]), Ok(vec![-2.0, 1.0]));
            assert_other_thread(call(&[2.0, 3.0]));
            assert_eq!(call(&[-2.0, 3.0]), Ok(vec![-4.0, 1.0]));
        }
    }
    let x = [-1.0, 1.0];
    let mut tape = prepare_gradient(&sometimes_away, &AutoReverseDiff::default(), &x)?;
    check(|x| tape.gradient(x).map(|g| g.to_vec()));
    let mut compiled = prepare_gradient(&sometimes_away, &AutoReverseDiff::compiled(), &x)?;
    check(|x| compiled.gradient(x).map(|g| g.to_vec()));
    Ok(())
}

/// The sum of sin(xᵢ) xᵢ₊₁ xᵢ, terms in parallel.
fn in_parallel<T: Real>(x: &[T]) -> T {
    let terms: Vec<T> = x.par_windows(2).map(|w| w[0].sin() * w[1] * w[0]).collect();
    terms.into_iter().sum()
}
fn serially<T: Real>(x: &[T]) -> T {
    x.windows(2).map(|w| w[0].sin() * w[1] * w[0]).sum()
}

#[test]
fn parallel_forward_mode_is_bit_equal_to_serial() -> Result<(), Error> {
    let x: Vec<f64> = (0..1000).map(|i| (i as f64 * 0.37).sin() + 1.5).collect();
    let bits = |(value, gradient): (f64, Vec<f64>)| {
        (value.to_bits(), gradient.into_iter().map(f64::to_bits).collect::<Vec<_>>())
    };
    let forward = AutoForwardDiff::default();
    assert_eq!(
        bits(value_and_gradient(&in_parallel, &forward, &x)?),
        bits(value_and_gradient(&serially, &forward, &x)?)
    );
    let v = vec![1.0; 1000];
    assert_eq!(hvp(&in_parallel, &forward, &x[..20], [&v[..20]])?, hvp(&serially, &forward, &x[..20], [&v[..20]])?);
    Ok(())
}

/// Rounds of the stress test; 10,000 by `THREAD_ROUNDS=10000` in a release build.
fn rounds() -> usize {
    std::env::var("THREAD_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

#[test]
fn parallel_recordings_are_refused_every_time() -> Result<(), Error> {
    let x: Vec<f64> = (0..1000).map(|i| (i as f64 * 0.37).sin() + 1.5).collect();
    let (tape, compiled) = (AutoReverseDiff::default(), AutoReverseDiff::compiled());
    let mut serial = prepare_gradient(&serially, &tape, &x)?;
    let right = serial.gradient(&x)?.to_vec();
    for _ in 0..rounds() {
        assert_other_thread(gradient(&in_parallel, &tape, &x));
        assert_other_thread(gradient(&in_parallel, &compiled, &x));
        assert_other_thread(sparsity_tracer::jacobian_sparsity(
            &|x: &[_]| vec![in_parallel(x)],
            &sparsity_tracer::TracerSparsityDetector,
            &x,
        ));
        assert_eq!(serial.gradient(&x)?, right);
    }
    Ok(())
}

#[test]
fn operators_wholly_on_a_worker_are_right() -> Result<(), Error> {
    fn cube<T: Real>(z: &[T]) -> T {
        z[0] * z[0] * z[0]
    }
    // x₀ times the slope of z³ at x₁, which is taken elsewhere on plain numbers by each engine.
    fn f<T: Real>(x: &[T]) -> T {
        let at = [x[1].primal()];
        let slopes = away(move || {
            [
                gradient(&cube, &AutoForwardDiff::default(), &at).expect("an inner call")[0],
                gradient(&cube, &AutoReverseDiff::default(), &at).expect("an inner call")[0],
                gradient(&cube, &AutoReverseDiff::compiled(), &at).expect("an inner call")[0],
            ]
        });
        x[0] * slopes[0] + x[0] * slopes[1] + x[0] * slopes[2]
    }
    let x = [2.0, 3.0];
    assert_eq!(gradient(&f, &AutoForwardDiff::default(), &x)?, [81.0, 0.0]);
    assert_eq!(gradient(&f, &AutoReverseDiff::default(), &x)?, [81.0, 0.0]);
    assert_eq!(gradient(&f, &AutoReverseDiff::compiled(), &x)?, [81.0, 0.0]);
    Ok(())
}

#[test]
fn a_captured_outer_number_is_noticed_in_an_inner_call_on_a_worker() {
    // Both differentiations are the first ones of their threads.
    fn captured(outer: impl FnOnce(&Mutex<Option<ErrorKind>>) + Send) -> Option<ErrorKind> {
        let seen = Mutex::new(None);
        away(|| outer(&seen));
        seen.into_inner().expect("no panic")
    }
    let forward = captured(|seen| {
        let backend = AutoForwardDiff::default();
        let f = |x: &[_]| {
            let kept = x[0];
            let inner = away(move || gradient(&|z: &[_]| z[0] * kept, &backend, &[2.0]).map_err(|error| error.kind()));
            *seen.lock().expect("no panic") = inner.err();
            x[0]
        };
        let _ = gradient(&f, &backend, &[3.0]);
    });
    assert_eq!(forward, Some(ErrorKind::ForeignNumber));
    let reverse = captured(|seen| {
        let backend = AutoReverseDiff::default();
        let f = |x: &[_]| {
            let kept = x[0];
            let inner = away(move || gradient(&|z: &[_]| z[0] * kept, &backend, &[2.0]).map_err(|error| error.kind()));
            *seen.lock().expect("no panic") = inner.err();
            x[0]
        };
        assert_other_thread(gradient(&f, &backend, &[3.0]));
    });
    assert_eq!(reverse, Some(ErrorKind::ForeignNumber));
}

#[test]
fn numbers_of_an_outer_call_are_refused_within_an_inner_one_on_a_worker() -> Result<(), Error> {
    // The derivative of z² x₀ at z = x₁, taken elsewhere: right where the outer call is forward mode.
    fn f<T: Real>(x: &[T]) -> T {
        let (a, b) = (x[0], x[1]);
        let inner = move || {
            let backend = AutoForwardDiff::default();
            let square = |z: &[_]| z[0] * z[0] * lift(&AutoForwardDiff::default(), &a);
            gradient(&square, &backend, &[b]).expect("an inner call")[0]
        };
        away(inner)
    }
    assert_eq!(gradient(&f, &AutoForwardDiff::default(), &[2.0, 3.0])?, [6.0, 4.0]);
    assert_other_thread(gradient(&f, &AutoReverseDiff::default(), &[2.0, 3.0]));
    Ok(())
}

#[test]
fn faults_of_rules_on_a_worker_are_errors() {
    let value = |x: &[f64], y: &mut Vec<f64>| {
        y.clear();
        y.push(x[0] * x[0]);
    };
    let none = Custom::new(PlainRule::new("nothing given", value));
    let f = |x: &[_]| away(|| none.number(x)) + x[0];
    let kind = gradient(&f, &AutoForwardDiff::default(), &[3.0]).map_err(|error| error.kind());
    assert_eq!(kind, Err(ErrorKind::RuleIncomplete { rule: "nothing given" }));

    let rule = || {
        PlainRule::new("square", value)
            .with_pushforward(|x: &[f64], _: &[f64], dx: &[f64], dy: &mut [f64]| dy[0] = 2.0 * x[0] * dx[0])
    };
    let square = Custom::new(rule());
    let f = |x: &[_]| away(|| square.number(x)) + x[0];
    assert_eq!(gradient(&f, &AutoForwardDiff::default(), &[3.0]), Ok(vec![7.0]));
    let f = |x: &[_]| away(|| square.number(x)) + x[0];
    let kind = hessian(&f, &AutoForwardDiff::default(), &[3.0]).map_err(|error| error.kind());
    assert_eq!(kind, Err(ErrorKind::RuleOrder { rule: "square" }));
    let f = |x: &[_]| away(|| square.number(x)) + x[0];
    assert_other_thread(gradient(&f, &AutoReverseDiff::default(), &[3.0]));
}

#[test]
fn functions_differentiated_by_another_backend_are_refused_or_right() -> Result<(), Error> {
    let (forward, reverse, x) = (AutoForwardDiff::default(), AutoReverseDiff::default(), [2.0, 3.0]);
    // The inner backend records, or does not.
    let inner = DifferentiateWith::new(PartlyAway, reverse);
    assert_other_thread(gradient(&inner, &forward, &x));
    let inner = DifferentiateWith::new(PartlyAway, forward);
    assert_eq!(gradient(&inner, &reverse, &x)?, [13.0, 4.0]);
    // The outer one meets its numbers elsewhere.
    let inner = DifferentiateWith::new(Here, reverse);
    let f = |x: &[_]| away(|| inner.call(x));
    assert_eq!(gradient(&f, &forward, &x)?, [13.0, 4.0]);
    let f = |x: &[_]| away(|| inner.call(x));
    assert_other_thread(gradient(&f, &reverse, &x));
    // An inner error on a worker is one of the outer call.
    let inner = DifferentiateWith::new(PartlyAway, reverse);
    let f = |x: &[_]| away(|| inner.call(x));
    assert_other_thread(gradient(&f, &forward, &x));
    Ok(())
}

/// In a process of its own, since tests that run beside it allocate too.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_have_ended_leave_nothing() {
    const NAME: &str = "threads::threads_that_have_ended_leave_nothing";
    const ALONE: &str = "DIFFERENTIATION_INTERFACE_TEST_ALONE";

    fn resident() -> usize {
        let text = std::fs::read_to_string("/proc/self/statm").expect("the system says how much memory there is");
        text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("a number of pages") * 4096
    }
    if std::env::var_os(ALONE).is_none() {
        let program = std::env::current_exe().expect("the test has a path");
        let output = Command::new(program).args(["--exact", NAME]).env(ALONE, "1").output().expect("the test runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let churn = |count: usize| {
        for _ in 0..count {
            away(|| {
                let x = [2.0, 3.0];
                assert_eq!(gradient(&serially, &AutoReverseDiff::default(), &x).map(|g| g.len()), Ok(2));
                assert_eq!(hvp(&serially, &AutoReverseDiff::default(), &x, [&x]).map(|g| g.len()), Ok(1));
                assert_eq!(gradient(&serially, &AutoReverseDiff::compiled(), &x).map(|g| g.len()), Ok(2));
            });
        }
    };
    churn(300);
    let before = resident();
    churn(2000);
    let grown = resident().saturating_sub(before);
    // A kilobyte for each thread would be two million.
    assert!(grown < 1_000_000, "2000 threads left {grown} bytes");
}

#[test]
fn an_error_on_one_thread_does_not_concern_another() -> Result<(), Error> {
    thread::scope(|scope| {
        let wrong = scope.spawn(|| {
            (0..200).for_each(|_| assert_other_thread(gradient(&partly_away, &AutoReverseDiff::default(), &[2.0, 3.0])))
        });
        for _ in 0..200 {
            assert_eq!(gradient(&serially, &AutoReverseDiff::default(), &[2.0, 3.0]).map(|g| g.len()), Ok(2));
            assert_eq!(gradient(&partly_away, &AutoForwardDiff::default(), &[2.0, 3.0]), Ok(vec![13.0, 4.0]));
        }
        wrong.join().expect("the error is the same each time");
    });
    Ok(())
}
