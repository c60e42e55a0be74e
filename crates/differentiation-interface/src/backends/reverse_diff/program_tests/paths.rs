//! Tests of functions that take several paths: which ones have programs, and that no path takes those of another away.

use super::tiers::{HAS_OWN_CODE, PROGRAM, adaptive, close, random, roll_out};
use crate::backends::reverse_diff::{AutoReverseDiff, Form, Reason, Var};
use differentiation_interface_core::custom::{Custom, PlainRule};
use differentiation_interface_core::operators::{gradient, jacobian, prepare_gradient, prepare_jacobian};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

#[test]
fn a_function_that_branches_at_every_call_stays_a_tape() {
    let f = |x: &[_]| x.iter().map(|v| if *v > 0.0 { *v * *v } else { 3.0 * *v }).sum::<Var<f64>>();
    let mut prepared = prepare_gradient(&f, &adaptive(), &[0.0; 20]).unwrap();
    let mut state = 1;
    for _ in 0..2000 {
        let x: Vec<f64> = (0..20).map(|_| random(&mut state)).collect();
        let expected: Vec<f64> = x.iter().map(|v| if *v > 0.0 { 2.0 * v } else { 3.0 }).collect();
        assert_eq!(prepared.gradient(&x).unwrap(), expected);
    }
    let report = prepared.report();
    // Recorded at calls 24, 48, 56, 64, 72, while there are few paths, and then at calls 144, 288, 576, 1152.
    assert_eq!((report.form, report.recordings, report.programs), (Form::Tape, 9, 0), "{report}");
}

#[test]
fn two_paths_have_two_programs() {
    let f = |x: &[_]| if x[0] > 0.0 { x[0] * x[1] } else { x[1] * x[1] };
    let mut prepared = prepare_gradient(&f, &adaptive(), &[0.0; 2]).unwrap();
    let mut state = 5;
    for _ in 0..1000 {
        let x = [random(&mut state), 2.0];
        let expected = if x[0] > 0.0 { [2.0, x[0]] } else { [0.0, 4.0] };
        assert_eq!(prepared.gradient(&x).unwrap(), expected);
    }
    let report = prepared.report();
    assert_eq!((report.form, report.programs), (PROGRAM, 2), "{report}");
    assert!(report.by_program > 800, "{report:?}");
}

#[test]
fn a_path_that_is_left_for_good_is_forgotten() {
    let f = |x: &[_]| if x[0] > 0.0 { x[0] * x[1] } else { x[1] * x[1] };
    let mut prepared = prepare_gradient(&f, &adaptive(), &[0.0; 2]).unwrap();
    for _ in 0..64 {
        assert_eq!(prepared.gradient(&[1.0, 2.0]).unwrap(), [2.0, 1.0]);
    }
    assert_eq!(prepared.report().form, PROGRAM);
    for _ in 0..1000 {
        assert_eq!(prepared.gradient(&[-1.0, 2.0]).unwrap(), [0.0, 4.0]);
    }
    let report = prepared.report();
    assert_eq!(report.form, PROGRAM, "{report:?}");
    // Recorded at misses 8 and 16, which the new program computes.
    assert_eq!((report.misses, report.by_tape), (16, 47 + 15), "{report:?}");
}

/// A path whose program would take longer than the tape does not take the programs of other paths away, and is compiled once, however many calls
/// take it.
#[test]
fn a_slow_path_is_left_to_the_tape() {
    let f = |x: &[_]| {
        let squares = || x.iter().map(|&v: &Var<f64>| v * v).collect();
        if x[0] > 0.0 { squares() } else { roll_out(x) }
    };
    for every in [8, 3, 2] {
        let mut prepared = prepare_jacobian(&f, &adaptive(), &[0.5; 50]).unwrap();
        for k in 0..600 {
            let sign = if k > 100 && k % every == 0 { -1.0 } else { 1.0 };
            let x = vec![0.5 * sign; 50];
            let expected = jacobian(&f, &AutoReverseDiff::tape(), &x).unwrap();
            close(prepared.jacobian(&x).unwrap().as_slice(), expected.as_slice());
        }
        let report = prepared.report();
        assert_eq!((report.form, report.stays, report.paths, report.descents), (PROGRAM, None, 2, 0), "{report}");
        assert_eq!((report.programs, report.refused), (1, 1), "{report}");
        assert_eq!(report.by_tape, 47 + (101..600).filter(|k| k % every == 0).count() as u64, "{report}");
        // Those of the program in use.
        assert!(report.instructions < 100 && report.estimate < 0.2, "{report}");
    }
}

/// A call to record at which the function fails tells nothing: a preparation that a slow path has settled stays so.
#[test]
fn a_failed_call_tells_nothing_of_a_slow_path() {
    let fails = AtomicBool::new(false);
    let f = |x: &[_]| if fails.load(Relaxed) { Err("no roll-out") } else { Ok(roll_out(x)) };
    let mut prepared = prepare_jacobian(&f, &adaptive(), &[0.5; 50]).unwrap();
    let mut calls = |count: u64| (0..count).for_each(|_| drop(prepared.jacobian(&[0.5; 50])));
    calls(100);
    fails.store(true, Relaxed);
    // The next call to record is number 48 * 64.
    calls(3000);
    fails.store(false, Relaxed);
    calls(10);
    let report = prepared.report();
    assert_eq!((report.stays, report.recordings, report.refused), (Some(Reason::Slower), 2, 1), "{report}");
}

/// The first recordings may all have met the path that is slow.
#[test]
fn another_path_is_found_after_a_slow_one() {
    let f = |x: &[_]| if x[0] > 0.0 { vec![x[0] * x[0]; 50] } else { roll_out(x) };
    let mut prepared = prepare_jacobian(&f, &adaptive(), &[0.5; 50]).unwrap();
    let mut call = |k: u32| {
        let sign = if k == 24 || k == 48 { -1.0 } else { 1.0 };
        let jac = prepared.jacobian(&[0.5 * sign; 50]).unwrap();
        assert!(sign < 0.0 || jac.as_slice().chunks(50).all(|row| row[0] == 1.0 && row[1] == 0.0));
        prepared.report()
    };
    let reports: Vec<_> = (1..=3100).map(&mut call).collect();
    assert_eq!((reports[60].stays, reports[60].refused), (Some(Reason::Slower), 1));
    let report = reports[3099];
    assert_eq!((report.form, report.stays), (PROGRAM, None), "{report}");
    assert!(report.by_program > 10, "{report}");
}

/// v ↦ 0.999 v.
fn shrink(x: &[f64], y: &mut Vec<f64>) {
    *y = vec![0.999 * x[0]];
}

/// A path that cannot be recorded within the limit, or calls too many rules, is left to the tape likewise.
#[test]
fn a_path_without_a_program_leaves_those_of_others() {
    let rule = Custom::new(
        PlainRule::new("shrink", shrink).with_pullback(|_: &[f64], _: &[f64], dy: &[f64], dx| dx[0] = 0.999 * dy[0]),
    );
    let few = |x: &[Var<f64>]| x.iter().map(|&v| v * v).collect::<Vec<_>>();
    let calls = |x: &[_]| {
        if x[0] > 0.0 { few(x) } else { vec![(0..4000).fold(x[0], |v, _| rule.number(&[v])); 4] }
    };
    let large = |x: &[_]| if x[0] > 0.0 { few(x) } else { vec![(0..20_000).fold(x[0], |v, i| v + x[i % 4] * v); 4] };
    let limited = adaptive().with_memory_limit(100_000);
    macro_rules! check {
        ($f:expr, $backend:expr) => {
            let mut prepared = prepare_jacobian($f, &$backend, &[0.5; 4]).unwrap();
            for k in 0..300 {
                let sign = if k > 100 && k % 8 == 0 { -1e-3 } else { 1.0 };
                let jac = prepared.jacobian(&[0.5 * sign; 4]).unwrap();
                assert!(sign < 0.0 || (jac[(0, 0)], jac[(0, 1)]) == (1.0, 0.0), "{jac:?}");
            }
            let report = prepared.report();
            assert_eq!((report.form, report.stays, report.by_tape), (PROGRAM, None, 47 + 25), "{report}");
        };
    }
    check!(&calls, adaptive());
    check!(&large, limited);
}

/// If the first recordings are too large, the next ones are those of the other path.
#[test]
fn a_large_path_before_the_first_program_is_left_to_the_tape() {
    let f = |x: &[Var<f64>]| {
        if x[0] > 0.0 { x[0] * x[1] } else { (0..20_000).fold(x[0], |v, i| v + x[i % 2] * v * 1e-9) }
    };
    let mut prepared = prepare_gradient(&f, &adaptive().with_memory_limit(100_000), &[0.5; 2]).unwrap();
    for k in 1..=200 {
        let sign = if k == 48 { -1e-3 } else { 1.0 };
        let x = [0.5 * sign, 3.0];
        let expected = gradient(&f, &AutoReverseDiff::tape(), &x).unwrap();
        assert_eq!(prepared.gradient(&x).unwrap(), expected);
    }
    let report = prepared.report();
    assert_eq!((report.form, report.stays), (PROGRAM, None), "{report}");
}

/// Captured data that were different in two recordings of one path may change on every path, so that no program is right: neither one in use nor
/// one to come.
#[test]
fn data_that_change_leave_no_program_of_another_path() {
    let factor = Mutex::new(1.0);
    let f = |x: &[Var<f64>]| {
        let factor = *factor.lock().unwrap();
        if x[0] > 0.0 { x[0] * x[1] * factor } else { x[0] * x[0] * x[1] * factor }
    };
    let mut prepared = prepare_gradient(&f, &adaptive(), &[1.0; 2]).unwrap();
    let mut is_right = |state: f64, is_negative: bool| {
        *factor.lock().unwrap() = state;
        let x = if is_negative { [-3.0, 5.0] } else { [3.0, 5.0] };
        let expected = if is_negative { [-30.0 * state, 9.0 * state] } else { [5.0 * state, 3.0 * state] };
        let found = prepared.gradient(&x).unwrap() == expected;
        (found, prepared.report())
    };
    // Before there is a program: call 56 is recorded, and has other data than call 24.
    let state = |call: i32| if (49..100).contains(&call) || call > 400 { 2.0 } else { 1.0 };
    let calls: Vec<_> = (1..=1000).map(|call| is_right(state(call), call == 48 || call > 60)).collect();
    let report = calls[999].1;
    assert!(calls.iter().all(|(is_right, _)| *is_right), "{report}");
    assert_eq!(
        (report.form, report.stays, report.by_program),
        (Form::Tape, Some(Reason::ConstantsChange), 0),
        "{report}"
    );

    // While a program of one path is in use: the other path is recorded with one factor and then with another.
    prepared = prepare_gradient(&f, &adaptive(), &[1.0; 2]).unwrap();
    let mut is_right = |state: f64, is_negative: bool| {
        *factor.lock().unwrap() = state;
        let x = if is_negative { [-3.0, 5.0] } else { [3.0, 5.0] };
        prepared.gradient(&x).unwrap();
        prepared.report()
    };
    let last = (1..=200).map(|call| is_right(if call < 120 { 1.0 } else { 2.0 }, call > 100 && call % 2 == 0)).last();
    let report = last.unwrap();
    assert_eq!((report.form, report.stays), (Form::Tape, Some(Reason::ConstantsChange)), "{report}");
    assert!(report.by_program > 0, "{report}");
}

/// A panic of the function in a call that is recorded leaves the programs of other paths.
#[test]
fn programs_survive_a_path_that_panics() {
    let f = |x: &[Var<f64>]| {
        assert!(x[0] > 0.0, "of the function");
        x[0] * x[1]
    };
    let mut prepared = prepare_gradient(&f, &adaptive(), &[1.0; 2]).unwrap();
    for call in 1..=100 {
        let x = [if call > 60 && call % 2 == 0 { -1.0 } else { 1.0 }, 5.0];
        let found = catch_unwind(AssertUnwindSafe(|| prepared.gradient(&x).unwrap()));
        assert_eq!(found.ok(), (x[0] > 0.0).then(|| vec![5.0, 1.0]));
    }
    let report = prepared.report();
    assert_eq!((report.form, report.by_program, report.descents), (PROGRAM, 33, 0), "{report}");
}

/// The same where the function panics in the second run of a recorded call, for its program.
#[test]
fn programs_survive_a_panic_in_the_second_run_of_a_call() {
    let runs = AtomicUsize::new(0);
    let f = |x: &[Var<f64>]| {
        let run = runs.fetch_add(1, Relaxed);
        assert!(x[0] > 0.0 || run == 0, "of the function");
        if x[0] > 0.0 { x[0] * x[1] } else { x[1] * x[1] }
    };
    let mut prepared = prepare_gradient(&f, &adaptive(), &[1.0; 2]).unwrap();
    let mut panics = 0;
    for call in 1..=200 {
        let x = [if call > 60 && call % 2 == 0 { -1.0 } else { 1.0 }, 5.0];
        runs.store(0, Relaxed);
        match catch_unwind(AssertUnwindSafe(|| prepared.gradient(&x).unwrap())) {
            Ok(grad) => assert_eq!(grad, if x[0] > 0.0 { vec![5.0, 1.0] } else { vec![0.0, 10.0] }),
            Err(_) => panics += 1,
        }
        assert_eq!(prepared.report().form, if call < 48 { Form::Tape } else { PROGRAM });
    }
    let report = prepared.report();
    assert!(panics > 0, "the path was compiled: {report}");
    assert_eq!((report.by_tape, report.descents), (47 + 70, 0), "{report}");
}

/// Programs that hardly gain are kept as well, if others than a few calls take them.
#[test]
fn rare_misses_leave_programs_that_hardly_gain() {
    let f = |x: &[Var<f64>]| if x[0] > 0.0 { roll_out(x) } else { x.iter().map(|&v| v * v * v).collect() };
    let mut prepared = prepare_jacobian(&f, &adaptive(), &[0.5; 20]).unwrap();
    for k in 0..700 {
        let sign = if k > 400 && k % 30 == 0 { -1.0 } else { 1.0 };
        prepared.jacobian(&[0.5 * sign; 20]).unwrap();
    }
    let report = prepared.report();
    if HAS_OWN_CODE {
        assert!(report.estimate > 1.0, "the test is of a program that is estimated to take longer: {report}");
        assert_eq!((report.form, report.descents), (PROGRAM, 0), "{report}");
    }
}

/// Each of a few paths that recur gets a program within some 200 calls.
#[test]
fn a_few_paths_have_programs_soon() {
    let f = |x: &[Var<f64>]| {
        let bends = x.iter().map(|&v| if v > 0.0 { v * v } else { v * 3.0 });
        bends.chain(x.iter().map(|&v| v * v * v)).sum::<Var<f64>>()
    };
    let mut prepared = prepare_gradient(&f, &adaptive(), &[0.5; 20]).unwrap();
    let mut state = 7;
    let mut by_program = 0;
    for k in 0..400 {
        // The sign of one of six coordinates.
        let mut x = vec![0.5; 20];
        x[((random(&mut state) + 0.5) * 6.0) as usize] = -0.25;
        let expected = gradient(&f, &AutoReverseDiff::tape(), &x).unwrap();
        close(&prepared.gradient(&x).unwrap(), &expected);
        if k == 299 {
            by_program = prepared.report().by_program;
        }
    }
    let report = prepared.report();
    assert_eq!((report.by_program - by_program, report.programs, report.descents), (100, 6, 0), "{report}");
}
