//! The functions that a detector for all points refuses; the errors name the user's line.

use differentiation_interface_core::{Real, Scalar};
use num_traits::{Float, Signed, ToPrimitive, Zero};
use sparsity_tracer::{
    Error, ErrorKind, Global, Gradient, Hessian, Pattern, Tracer, TracerLocalSparsityDetector, TracerSparsityDetector,
    hessian_sparsity, jacobian_sparsity,
};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

type Number = Tracer<f64, Global, Gradient>;

fn detect(f: impl Fn(&[Number]) -> Number) -> Result<Pattern, Error> {
    jacobian_sparsity(&|x: &[_]| f(x), &TracerSparsityDetector, &[1.0, 2.0])
}

/// File and line of a refusal.
fn place(found: Result<Pattern, Error>) -> (String, u32) {
    match found.map_err(|error| error.kind()) {
        Err(ErrorKind::ValueDecides { place }) => (place.file().to_owned(), place.line()),
        other => panic!("not refused: {other:?}"),
    }
}

#[track_caller]
fn here() -> (String, u32) {
    let place = std::panic::Location::caller();
    (place.file().to_owned(), place.line())
}

macro_rules! refused_here {
    ($($question:expr;)*) => {$(
        assert_eq!(place(detect(|x| if ask($question, x) { x[0] } else { x[1] })), here());
    )*};
}

fn ask(question: impl Fn(&[Number]) -> bool, x: &[Number]) -> bool {
    question(x)
}

#[test]
fn every_question_is_refused_at_its_line() {
    // One line per invocation, since the lines are compared.
    refused_here! { |x| x[0] < x[1]; |x| x[0] <= x[1]; |x| x[0] > x[1]; |x| x[0] >= x[1]; |x| x[0] == x[1]; |x| x[0] != x[1]; }
    refused_here! { |x| x[0] < 1.0; |x| x[0] <= 1.0; |x| x[0] > 1.0; |x| x[0] >= 1.0; |x| x[0] == 1.0; |x| x[0] != 1.0; }
    refused_here! { |x| 1.0 < x[0]; |x| 1.0 <= x[0]; |x| 1.0 > x[0]; |x| 1.0 >= x[0]; |x| 1.0 == x[0]; |x| 1.0 != x[0]; }
    refused_here! { |x| x[0].partial_cmp(&x[1]).is_some(); |x| x[0].is_nan(); |x| x[0].is_finite(); |x| x[0].is_infinite(); }
    refused_here! { |x| x[0].is_normal(); |x| x[0].is_sign_negative(); |x| x[0].is_zero(); |x| x[0].is_positive(); }
    refused_here! { |x| x[0].is_negative(); |x| x[0].to_i64() == Some(1); |x| x[0].to_f64().is_none(); |x| x[0].to_u64().is_none(); }
    refused_here! { |x| x[0].primal() > 0.0; |x| x[0].classify() == std::num::FpCategory::Zero; |x| x[0].integer_decode().0 == 0; }
    refused_here! { |x| x[0].floor() > 1.0; |x| Float::signum(x[0]) == 1.0; }
}

/// A generic function, as users write them.
fn generic<T: Real>(x: &[T]) -> T {
    if x[0] * 2.0 > x[1] { x[0] } else { x[1] }
}

#[test]
fn the_line_in_a_generic_function_is_named() {
    let (file, line) = place(jacobian_sparsity(&generic, &TracerSparsityDetector, &[1.0, 2.0]));
    assert!(file.ends_with("refusals.rs"));
    assert_eq!(
        include_str!("refusals.rs").lines().nth(line as usize - 1),
        Some("    if x[0] * 2.0 > x[1] { x[0] } else { x[1] }")
    );
    let found = hessian_sparsity(&generic, &TracerSparsityDetector, &[1.0, 2.0]);
    assert_eq!(place(found.clone()).1, line);
    let message = found.unwrap_err().to_string();
    assert!(
        message.starts_with("hessian_sparsity with tracer: ")
            && message.contains(&format!("crates/sparsity-tracer/tests/refusals.rs:{line}:")),
        "{message}"
    );
    assert_eq!(jacobian_sparsity(&generic, &TracerLocalSparsityDetector, &[1.0, 1.0]).unwrap().row(0), [0]);
}

#[test]
fn waiting_loops_and_unwraps_end_in_the_error() {
    let waiting = |x: &[Number]| {
        let mut y = x[0];
        loop {
            y = 0.5 * (y + x[1] / y);
            if Float::abs(y * y - x[1]) < 1e-9 {
                break y;
            }
        }
    };
    assert!(place(detect(waiting)).0.ends_with("refusals.rs"));
    let sorting = |x: &[Number]| {
        let mut y = x.to_vec();
        y.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
        y[0]
    };
    assert!(place(detect(sorting)).0.ends_with("refusals.rs"));
}

/// A message about `expect` would send its reader to the comparison, beside the error that tells what is wrong.
#[test]
fn refused_comparisons_print_no_panic() {
    static IS_PRINTED: AtomicBool = AtomicBool::new(false);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| match panic.to_string().contains("they are ordered") {
        true => IS_PRINTED.store(true, Ordering::Relaxed),
        false => hook(panic),
    }));
    let largest = |x: &[Number]| {
        x.iter().copied().max_by(|a, b| a.partial_cmp(b).expect("they are ordered")).expect("two numbers")
    };
    assert!(place(detect(largest)).0.ends_with("refusals.rs"));
    // A function that catches the end of the detection does not hide it.
    let caught = |x: &[Number]| {
        let compared = || if x[0] > x[1] { x[0] } else { x[1] };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(compared)).unwrap_or(x[0])
    };
    assert!(place(detect(caught)).0.ends_with("refusals.rs"));
    assert!(!IS_PRINTED.load(Ordering::Relaxed));
}

#[test]
fn panics_of_the_function_itself_pass() {
    let panic = std::panic::catch_unwind(|| detect(|_| panic!("of the function")));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"of the function"));
    assert_eq!(detect(|x| x[1]).unwrap().row(0), [1]);
}

#[test]
fn constants_may_be_compared() {
    let f = |x: &[Number]| {
        let mut k = Number::constant(1.0);
        while k < 100.0 {
            k *= 2.0;
        }
        if k.sqrt().is_nan() || k.to_i64() != Some(128) { x[0] } else { x[1] }
    };
    assert_eq!(detect(f).unwrap().row(0), [1]);
}

#[test]
fn numbers_of_another_detection_are_refused() {
    let kept = RefCell::new(None);
    detect(|x| {
        *kept.borrow_mut() = Some(x[0] * x[1]);
        x[0]
    })
    .unwrap();
    let stale = kept.borrow().unwrap();
    for f in [&(|x: &[Number]| x[0] + stale) as &dyn Fn(&[Number]) -> Number, &|_| stale, &|x| stale.sin() * x[0]] {
        assert_eq!(detect(f).unwrap_err().kind(), ErrorKind::ForeignNumber);
    }
    // An outer number inside an inner detection; the outer detection continues.
    let outer = detect(|x| {
        let inner = detect(|z| z[0] * x[1]);
        assert_eq!(inner.unwrap_err().kind(), ErrorKind::ForeignNumber);
        let inner = detect(|z| z[0] * z[1]).unwrap();
        x[inner.nnz() - 1] + x[0]
    });
    assert_eq!(outer.unwrap().row(0), [0, 1]);
    // Another thread.
    let elsewhere = detect(|x| {
        let x = [x[0], x[1]];
        std::thread::spawn(move || x[0] + x[1]).join().unwrap()
    });
    assert_eq!(elsewhere.unwrap_err().kind(), ErrorKind::OtherThread);
    // Second order.
    let kept = RefCell::new(None);
    let keep = |x: &[Tracer<f64, Global, Hessian>]| {
        let old = kept.borrow_mut().replace(x[0]);
        old.map_or(x[0], |old| old * old)
    };
    assert!(hessian_sparsity(&keep, &TracerSparsityDetector, &[1.0]).is_ok());
    let kind = hessian_sparsity(&keep, &TracerSparsityDetector, &[1.0]).unwrap_err().kind();
    assert_eq!(kind, ErrorKind::ForeignNumber);
}

#[test]
fn printing_asks_for_the_value() {
    let printing: [fn(&[Number]) -> String; 3] =
        [|x| format!("{}", x[0]), |x| format!("{:e}", x[0]), |x| format!("{x:?}")];
    for print in printing {
        let error = detect(|x| x[print(x).len() % 2]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ValueDecides { .. }));
        assert!(error.to_string().contains("formats a number"), "{error}");
    }
    // Constants may be printed.
    assert_eq!(detect(|x| x[format!("{}", Number::constant(1.0)).len()]).unwrap().row(0), [1]);
}
