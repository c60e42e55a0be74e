//! Tests of functions with constants by the engine that chooses: programs follow constants that last, and the tape those that do not.

use crate::backends::reverse_diff::{AutoReverseDiff, Form, Reason, Report};
use differentiation_interface_core::context::{Constant, ConstantNumbers};
use differentiation_interface_core::custom::{Custom, CustomRule, Halves, identity_of};
use differentiation_interface_core::operators::{prepare_gradient, prepare_jacobian};
use differentiation_interface_core::scalar::{Real, Scalar};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Calls with the constant `at(call)`, compared with the derivative by hand.
fn calls(count: usize, at: impl Fn(usize) -> f64) -> Report {
    let f = |x: &[_], k: &f64| x[0] * x[1] * (2.0 * *k);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), (&[0.0; 2], Constant(&at(0)))).unwrap();
    for call in 1..=count {
        let (k, x) = (at(call), [3.0, call as f64]);
        let (y, grad) = prepared.value_and_gradient((&x, Constant(&k))).unwrap();
        assert_eq!((y, grad), (2.0 * k * x[0] * x[1], vec![2.0 * k * x[1], 2.0 * k * x[0]]), "call {call}");
    }
    prepared.report()
}

#[test]
fn constants_that_stay_are_in_a_program() {
    let report = calls(100, |_| 7.0);
    assert_ne!(report.form, Form::Tape);
    assert_eq!((report.recordings, report.programs, report.by_tape, report.by_program), (2, 1, 47, 53), "{report}");
}

#[test]
fn constants_that_change_at_every_call_stay_on_the_tape() {
    let report = calls(1000, |call| call as f64);
    assert_eq!((report.form, report.programs, report.by_program), (Form::Tape, 0, 0), "{report}");
    // Calls 24, 48, 56, 112, 120, 240, 248, 496, 504.
    assert_eq!((report.recordings, report.stays), (9, None), "{report}");
    assert!(report.to_string().contains("constants were new in each recorded call"), "{report}");
    // Too early to say.
    assert!(!calls(47, |call| call as f64).to_string().contains("constants"));
}

#[test]
fn constants_that_change_now_and_then_are_parameters() {
    let report = calls(10_000, |call| (call / 100) as f64);
    // With the first constants, then for a comparison, then with the constant as a parameter.
    assert_eq!((report.programs, report.descents, report.stays), (3, 0, None), "{report}");
    // Eight calls after each change, and those before the programs.
    assert!(report.by_program > 10_000 - 100 * 8 - 400, "{report}");
    assert!(report.recordings < 120, "{report}");
}

#[test]
fn constants_that_alternate_are_all_known() {
    for count in [2, 4, 7] {
        let report = calls(1000, |call| [3.0, 5.0, -1.5, 7.0, 8.0, 0.25, 1e9][call % count]);
        assert!(report.by_program > 800 && report.programs <= 3, "{report}");
    }
}

#[test]
fn constants_that_change_too_often_for_a_program_end_on_the_tape() {
    // Eight calls with the same constants, of which a program would compute few or none.
    let report = calls(5000, |call| (call / 9) as f64);
    assert_eq!(report.form, Form::Tape, "{report}");
    assert!(report.by_program < 200 && report.programs <= 4 && report.recordings < 40, "{report}");
}

#[test]
fn one_change_for_good_is_followed() {
    let report = calls(3000, |call| if call < 1000 { 2.0 } else { -0.5 });
    // The first ones have lasted, so the second call with the new ones is recorded, and the program computes it.
    assert_eq!((report.programs, report.misses, report.by_tape), (2, 2, 47 + 1), "{report}");
    // Programs have computed few calls: the eighth call is recorded.
    let report = calls(3000, |call| if call < 100 { 2.0 } else { -0.5 });
    assert_eq!((report.programs, report.misses, report.by_tape), (2, 8, 47 + 7), "{report}");
}

#[test]
fn bits_of_constants_count() {
    let f = |x: &[_], k: &f64| x[0] / *k;
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), (&[1.0], Constant(&0.0))).unwrap();
    for _ in 0..60 {
        assert_eq!(prepared.gradient((&[1.0], Constant(&0.0))).unwrap(), [f64::INFINITY]);
    }
    assert_ne!(prepared.report().form, Form::Tape);
    assert_eq!(prepared.gradient((&[1.0], Constant(&-0.0))).unwrap(), [f64::NEG_INFINITY]);
    assert!(prepared.gradient((&[1.0], Constant(&f64::NAN))).unwrap()[0].is_nan());
    assert_eq!(prepared.value((&[1.0], Constant(&2.0))).unwrap(), 0.5);
}

#[test]
fn data_in_slices_and_containers() {
    let f = |x: &[_], data: &[f64]| data.iter().map(|d| x[0] * *d).collect::<Vec<_>>();
    let mut data = vec![1.0, 2.0, 3.0];
    let mut prepared = prepare_jacobian(&f, &AutoReverseDiff::default(), (&[0.0], Constant(&data[..]))).unwrap();
    for call in 0..400 {
        if call % 100 == 99 {
            data[call / 100 % 3] += 0.5;
        }
        let (y, jac) = prepared.value_and_jacobian((&[2.0], Constant(&data[..]))).unwrap();
        assert_eq!(y, data.iter().map(|d| 2.0 * d).collect::<Vec<_>>());
        assert_eq!(jac.as_slice(), data);
    }
    assert!(prepared.report().by_program > 250, "{}", prepared.report());

    let f = |x: &[_], data: &(Vec<f64>, [f64; 99])| x[0] * x[0] * data.0[0] * data.1[98];
    let data = (vec![2.0], [3.0; 99]);
    let point = |x| (x, ConstantNumbers(&data));
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), point(&[0.0])).unwrap();
    for _ in 0..60 {
        assert_eq!(prepared.gradient(point(&[5.0])).unwrap(), [60.0]);
    }
    assert_ne!(prepared.report().form, Form::Tape);
}

#[test]
fn constants_that_set_the_number_of_operations() {
    let f = |x: &[_], steps: &usize| (0..*steps).fold(x[0], |y, _| y * x[1]);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), (&[0.0; 2], Constant(&0))).unwrap();
    for call in 0..2000_i32 {
        let steps = [3, 4, 5, 3, 0][call as usize / 400];
        let found = prepared.gradient((&[3.0, 2.0], Constant(&(steps as usize)))).unwrap();
        assert_eq!(found, [2f64.powi(steps), f64::from(3 * steps) * 2f64.powi(steps - 1)], "{call}");
    }
    assert!(prepared.report().by_program > 1500, "{}", prepared.report());
}

#[test]
fn data_that_is_not_made_of_numbers_stays_on_the_tape() {
    struct Opaque(Cell<f64>);
    let f = |x: &[_], k: &Opaque| x[0] * x[0] * k.0.get();
    let k = Opaque(Cell::new(1.0));
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), (&[0.0], Constant(&k))).unwrap();
    for call in 0..100 {
        k.0.set(f64::from(call));
        assert_eq!(prepared.gradient((&[3.0], Constant(&k))).unwrap(), [6.0 * f64::from(call)]);
    }
    assert_eq!((prepared.report().form, prepared.report().stays), (Form::Tape, Some(Reason::NotPure)));
}

#[test]
fn hidden_state_beside_constants_is_noticed() {
    let factor = Mutex::new(0.0);
    let f = |x: &[_], k: &f64| x[0] * x[0] * *k * *factor.lock().unwrap();
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), (&[0.0], Constant(&1.0))).unwrap();
    for call in 0..200 {
        *factor.lock().unwrap() = f64::from(call);
        assert_eq!(prepared.gradient((&[3.0], Constant(&1.0))).unwrap(), [6.0 * f64::from(call)]);
    }
    assert_eq!(prepared.report().stays, Some(Reason::ConstantsChange));
}

/// The sum of squares as a rule, which the function makes anew in each run; with the flag, all such rules are equal.
struct Squares(bool);

impl CustomRule for Squares {
    const NAME: &'static str = "squares";
    const GIVEN: Halves = Halves::Pullback;
    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        *y = vec![x.iter().map(|v| v * v).sum()];
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        dx.iter_mut().zip(x).for_each(|(dx, x)| *dx = dy[0] * (*x + *x));
    }
    fn identity(&self) -> Option<u64> {
        if self.0 { identity_of(&()) } else { None }
    }
}

/// Rules are not compared by their addresses alone: that of an earlier run may be that of another rule now.
#[test]
fn rules_that_are_made_anew_are_known_by_what_they_say() {
    for is_known in [true, false] {
        let f = |x: &[_]| {
            let squares = Custom::new(Squares(is_known)).number(x);
            x.iter().fold(squares, |sum, v| sum + *v * *v * *v)
        };
        let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), &[0.5; 40]).unwrap();
        for _ in 0..400 {
            assert_eq!(prepared.gradient(&[1.0; 40]).unwrap(), [5.0; 40]);
        }
        let report = prepared.report();
        let expected = if is_known { (2, 1, 47) } else { (7, 0, 400) };
        assert_eq!((report.recordings, report.programs, report.by_tape), expected, "{report}");
        assert_eq!(report.to_string().contains("makes custom rules in each run"), !is_known, "{report}");
    }
}

#[test]
fn a_report_names_the_paths_of_a_function_that_branches() {
    fn huber<T: Real>(x: &[T]) -> T {
        x.iter().map(|&v| if v.abs() < 1.0 { 0.5 * v * v } else { v.abs() - 0.5 }).sum()
    }
    let f = |x: &[_]| huber(x);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), &vec![0.5; 30]).unwrap();
    for k in 0..300 {
        let x: Vec<f64> = (0..30).map(|i| 2.0 * f64::from(i * i + k * 17 + 3 * k * i).sin()).collect();
        let expected: Vec<f64> = x.iter().map(|v| v.clamp(-1.0, 1.0)).collect();
        assert_eq!(prepared.gradient(&x).unwrap(), expected);
    }
    let report = prepared.report();
    assert_eq!((report.form, report.paths, report.stays), (Form::Tape, 7, None), "{report}");
    assert!(report.to_string().contains("took 7 paths"), "{report}");
}

/// A recorded call with new constants that panics says nothing of them.
#[test]
fn constants_of_a_call_that_panics_last_all_the_same() {
    let panics = AtomicBool::new(false);
    let f = |x: &[_], k: &f64| {
        assert!(!panics.load(Relaxed), "of the function");
        x[0] * x[1] * *k
    };
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), (&[0.0; 2], Constant(&1.0))).unwrap();
    for call in 1..=200 {
        let k = if call <= 24 { 1.0 } else { 2.0 };
        panics.store(call == 48, Relaxed);
        let found = catch_unwind(AssertUnwindSafe(|| prepared.gradient((&[3.0, 5.0], Constant(&k))).unwrap()));
        assert_eq!(found.ok(), (call != 48).then(|| vec![5.0 * k, 3.0 * k]));
    }
    let report = prepared.report();
    // Recorded at calls 24, 96 and, since the constants are new, 104.
    assert_eq!((report.programs, report.recordings, report.by_tape, report.stays), (1, 3, 103, None), "{report}");
}

/// A path that was first recorded with other constants than those of the last recording on the tape has not changed by itself.
#[test]
fn paths_of_other_constants_are_no_change_of_data() {
    let f = |x: &[_], k: &f64| if x[0] > 0.0 { x[0] * x[1] * *k } else { x[0] * x[0] * x[1] * *k };
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), (&[1.0; 2], Constant(&1.0))).unwrap();
    let mut call = |x: f64, k: f64| {
        let expected = if x > 0.0 { vec![5.0 * k, x * k] } else { vec![10.0 * x * k, x * x * k] };
        assert_eq!(prepared.gradient((&[x, 5.0], Constant(&k))).unwrap(), expected);
        prepared.report()
    };
    // A program of one path, and the other path met with constants that are new in each call, until the program is given up.
    (1..=60).for_each(|_| assert_eq!(call(3.0, 1.0).descents, 0));
    let met = (0..2000).map(|k| call(-3.0, 2.0 + f64::from(k / 9))).find(|report| report.descents > 0);
    assert!(met.is_some_and(|report| report.paths == 2));
    let last = (0..3000).map(|_| call(-3.0, 1.0)).last().unwrap();
    assert_eq!((last.form == Form::Tape, last.stays), (false, None), "{last}");
}
