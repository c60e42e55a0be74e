//! Tests of when derivatives of second order are compiled: once calls have taken as long as that is expected to take.

use super::tiers::{HAS_OWN_CODE, PROGRAM, adaptive, close, roll_out};
use crate::backends::reverse_diff::{AutoReverseDiff, Form, Reason, Report};
use differentiation_interface_core::context::Constant;
use differentiation_interface_core::operators::{hessian, prepare_hessian, value_gradient_and_hessian};
use differentiation_interface_core::scalar::Real;
use std::sync::Mutex;

/// The squared error of a network with a hidden layer: four weights for each of its units.
fn network<T: Real>(weights: &[T], samples: &[f64]) -> T {
    let error = |t: &f64| {
        let unit = |w: &[T]| w[3] * (w[0] * t.sin() + w[1] * t.cos() + w[2]).tanh();
        weights.chunks_exact(4).map(unit).fold(T::constant(-t), |sum, y| sum + y).powi(2)
    };
    samples.iter().map(error).sum()
}

fn samples(scale: f64) -> Vec<f64> {
    (0..16).map(|i| scale * f64::from(i)).collect()
}

fn point(k: u64) -> Vec<f64> {
    (0..20).map(|i| 0.1 * f64::from(i) - 0.01 * (k % 50) as f64).collect()
}

#[test]
fn products_give_way_to_entries_that_calls_have_paid_for() {
    let samples = samples(0.3);
    let f = |x: &[_]| network(x, &samples);
    let mut prepared = prepare_hessian(&f, &adaptive(), &point(0)).unwrap();
    let mut check = |k: u64| {
        let from = prepared.report().compiles_from.unwrap_or(k);
        let hess = prepared.hessian(&point(k)).unwrap();
        if k.is_multiple_of(16) || k.abs_diff(from) < 4 {
            close(hess.as_slice(), hessian(&f, &AutoReverseDiff::tape(), &point(k)).unwrap().as_slice());
        }
        prepared.report()
    };
    let by_products = (1..=48).map(&mut check).last().unwrap();
    assert_eq!((by_products.form, by_products.programs, by_products.by_tape), (PROGRAM, 1, 47), "{by_products}");
    let from = by_products.compiles_from.unwrap();
    assert!((96..5000).contains(&from) && by_products.to_string().contains("compiles more from call"), "{by_products}");

    let before = (49..from).map(&mut check).last().unwrap();
    assert_eq!((before.programs, before.by_tape, before.compiles_from), (1, 47, Some(from)), "{before}");
    let by_entries = (from..from + 100).map(&mut check).last().unwrap();
    assert_eq!((by_entries.programs, by_entries.recordings, by_entries.by_tape), (1, 2, 47), "{by_entries}");
    assert_eq!((by_entries.compiles_from, by_entries.misses), (None, 0), "{by_entries}");
    assert!(by_entries.instructions > by_products.instructions, "{by_products} {by_entries}");
}

/// Entries of all paths are compiled in one call.
#[test]
fn entries_of_several_paths_are_compiled_at_once() {
    let samples = samples(0.3);
    let f = |x: &[_]| if x[0] < 10.0 { network(x, &samples) } else { network(x, &samples[..12]) };
    let mut prepared = prepare_hessian(&f, &adaptive(), &point(0)).unwrap();
    let mut check = |k: u64, first: f64| {
        let mut x = point(k);
        x[0] += first;
        let from = prepared.report().compiles_from.unwrap_or(k);
        let hess = prepared.hessian(&x).unwrap();
        if k.is_multiple_of(16) || k.abs_diff(from) < 4 {
            close(hess.as_slice(), hessian(&f, &AutoReverseDiff::tape(), &x).unwrap().as_slice());
        }
        prepared.report()
    };
    let one = (1..=60).map(|k| check(k, 0.0)).last().unwrap();
    let two = (61..160).map(|k| check(k, if k % 2 == 0 { 20.0 } else { 0.0 })).last().unwrap();
    assert_eq!((one.programs, two.programs, two.paths), (1, 2, 2), "{two}");
    let from = two.compiles_from.unwrap();
    let last = (160..from + 40).map(|k| check(k, if k % 2 == 0 { 20.0 } else { 0.0 })).last().unwrap();
    assert_eq!((last.programs, last.by_tape, last.compiles_from), (2, two.by_tape, None), "{last}");
    assert!(last.instructions > two.instructions, "{two} {last}");
}

/// Programs that know several constants know them after entries are compiled as well.
#[test]
fn entries_are_right_for_the_constants_of_products() {
    let f = |x: &[_], samples: &Vec<f64>| network(x, samples);
    let sets = [0.3, 0.4, 0.35].map(samples);
    let mut prepared = prepare_hessian(&f, &adaptive(), (&point(0), Constant(&sets[0]))).unwrap();
    let mut check = |k: u64| {
        let set = Constant(&sets[(k / 100) as usize % 3]);
        let from = prepared.report().compiles_from.unwrap_or(k);
        let hess = prepared.hessian((&point(k), set)).unwrap();
        if k.is_multiple_of(16) || k.abs_diff(from) < 4 {
            let by_tape = hessian(&f, &AutoReverseDiff::tape(), (&point(k), set)).unwrap();
            close(hess.as_slice(), by_tape.as_slice());
        }
        prepared.report()
    };
    let known = (1..=400).map(&mut check).last().unwrap();
    assert_eq!((known.form, known.programs), (PROGRAM, 3), "{known}");
    let last = (401..=known.compiles_from.unwrap() + 400).map(&mut check).last().unwrap();
    assert_eq!((last.programs, last.by_tape, last.compiles_from), (3, known.by_tape, None), "{last}");
    assert!(last.instructions > known.instructions, "{known} {last}");
}

/// What the function reads has changed by the call that would compile.
#[test]
fn nothing_is_compiled_later_where_data_change() {
    let scale = Mutex::new(0.3);
    let f = |x: &[_]| irregular(x, 1) * *scale.lock().unwrap();
    let x = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    let mut prepared = prepare_hessian(&f, &adaptive(), &x).unwrap();
    (0..60).for_each(|_| drop(prepared.hessian(&x).unwrap()));
    let from = prepared.report().compiles_from.unwrap();
    *scale.lock().unwrap() = 0.4;
    (60..from).for_each(|_| drop(prepared.hessian(&x).unwrap()));
    let report = prepared.report();
    assert_eq!((report.stays, report.compiles_from), (Some(Reason::ConstantsChange), None), "{report}");
}

fn cheap_or_dear<T: Real>(x: &[T]) -> T {
    if x[0] < 10.0 { x[0] * x[1] * x[1] + x[2].sin() } else { irregular(x, 1) }
}

/// Calls of another path, by programs of which each takes a thousandth as long as a call of the tape of this one, pay for little.
#[test]
fn calls_of_a_cheap_path_do_not_pay_for_a_dear_one() {
    let f = |x: &[_]| cheap_or_dear(x);
    let cheap = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    let dear = [10.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    let mut prepared = prepare_hessian(&f, &adaptive(), &cheap).unwrap();
    (0..3000).for_each(|_| drop(prepared.hessian(&cheap).unwrap()));
    let one = prepared.report();
    assert_eq!((one.programs, one.by_tape, one.compiles_from), (1, 48, None), "{one}");
    // Seen at the 8th miss and at the 16th.
    (0..20).for_each(|_| drop(prepared.hessian(&dear).unwrap()));
    let two = prepared.report();
    assert_eq!((two.recordings, two.programs, two.refused), (one.recordings + 2, 1, 0), "{two}");
    // Reported, though the other path has a program.
    assert!(two.compiles_from.is_some_and(|call| call > two.calls + 50), "{two}");
    // In time the dear path has products, or entries, beside the entries of the cheap one.
    (0..2000).for_each(|_| drop(prepared.hessian(&dear).unwrap()));
    let before = prepared.report();
    assert!(!HAS_OWN_CODE || before.programs == 2, "{before}");
    for k in 0..20 {
        let x = if k % 3 == 0 { &cheap } else { &dear };
        let expected = value_gradient_and_hessian(&f, &AutoReverseDiff::tape(), x).unwrap();
        let (y, grad, hess) = prepared.value_gradient_and_hessian(x).unwrap();
        close(hess.as_slice(), expected.2.as_slice());
        close(prepared.hessian(x).unwrap().as_slice(), expected.2.as_slice());
        close(&[&[y], &grad[..]].concat(), &[&[expected.0], &expected.1[..]].concat());
    }
    let after = prepared.report();
    assert!(!HAS_OWN_CODE || after.by_program == before.by_program + 40, "{after}");
}

/// A path that waits for its program does not keep another one from being seen.
#[test]
fn other_paths_are_looked_for_while_one_waits() {
    let f = |x: &[_]| cheap_or_dear(x);
    let mut x = [10.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    let mut prepared = prepare_hessian(&f, &adaptive(), &x).unwrap();
    (0..60).for_each(|_| drop(prepared.hessian(&x).unwrap()));
    assert!(prepared.report().compiles_from.unwrap() > 200, "{}", prepared.report());
    x[0] = 0.1;
    // Recorded at call 96, and 8 calls later.
    (60..104).for_each(|_| drop(prepared.hessian(&x).unwrap()));
    let report = prepared.report();
    assert_eq!((report.paths, report.programs, report.form), (2, 1, PROGRAM), "{report}");
    // One that does not come is expected until it has been due for as many calls again.
    let from = report.compiles_from.unwrap();
    let mut until = |call: u64| {
        let calls = call - prepared.report().calls;
        (0..calls).for_each(|_| drop(prepared.hessian(&x).unwrap()));
        prepared.report().compiles_from
    };
    assert_eq!([until(from - 2), until(from + 20)], [Some(from), Some(from + 21)]);
    assert_eq!([until(2 * from - 1), until(2 * from + 2)], [Some(2 * from), None]);
}

/// Constants that change need no new budget: each change of those of a Hessian is followed within a few calls, also where compiling takes long.
#[cfg(all(not(ad_interpreter), target_arch = "x86_64", any(unix, windows)))]
#[test]
fn constants_are_followed_without_waiting_once_more() {
    let f = |x: &[_], c: &[f64; 2]| irregular(x, 1) * c[0] + irregular(x, 2) * c[1];
    let x = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    let mut prepared = prepare_hessian(&f, &adaptive(), (&x, Constant(&[1.0, 1.0]))).unwrap();
    let mut calls = |count: usize, c: [f64; 2]| {
        let before = prepared.report().by_program;
        (1..count).for_each(|_| drop(prepared.hessian((&x, Constant(&c))).unwrap()));
        let hess = prepared.hessian((&x, Constant(&c))).unwrap();
        close(hess.as_slice(), hessian(&f, &AutoReverseDiff::tape(), (&x, Constant(&c))).unwrap().as_slice());
        prepared.report().by_program - before
    };
    let first = (0..2000).find(|_| calls(1, [1.0, 1.0]) == 1);
    assert!(first.is_some());
    calls(100, [1.0, 1.0]);
    // Either constant, and both.
    for c in [[1.1, 1.0], [1.1, 1.2], [1.3, 1.2], [1.4, 1.5], [1.6, 1.5], [1.6, 1.7]] {
        let by_program = calls(100, c);
        assert!(by_program >= 85, "{c:?}: {by_program}");
    }
}

/// Programs of another path that took long to compile, and were refused, do not keep programs in use that lose.
#[cfg(all(not(ad_interpreter), target_arch = "x86_64", any(unix, windows)))]
#[test]
fn what_was_refused_keeps_no_other_program() {
    fn slow_or_cheap<T: Real>(x: &[T]) -> T {
        let cost = |angles: Vec<T>| angles.into_iter().map(|angle| angle * angle).sum();
        if x[0] < 10.0 { cost(roll_out(x)) } else { x[0] * x[1] * x[2].sin() }
    }
    let f = |x: &[_]| slow_or_cheap(x);
    let (slow, mut cheap) = ([0.5; 14], [0.5; 14]);
    cheap[0] = 10.5;
    let mut prepared = prepare_hessian(&f, &adaptive(), &slow).unwrap();
    let mut calls = |count: usize, x: &[f64]| {
        (0..count).for_each(|_| drop(prepared.hessian(x).unwrap()));
        prepared.report()
    };
    let refused = calls(100, &slow);
    assert_eq!((refused.refused, refused.programs), (1, 0), "{refused}");
    let used = (0..4000).map(|_| calls(1, &cheap)).find(|report| report.programs == 1).unwrap();
    assert_eq!(used.form, Form::MachineCode, "{used}");
    let given_up = calls(1000, &slow);
    assert_eq!(given_up.descents, 1, "{given_up}");
}

/// What calls have taken is spent once: the second of two paths is compiled when they have paid for both. Programs that have taken so long to compile
/// are not given up for a few misses.
#[cfg(all(not(ad_interpreter), target_arch = "x86_64", any(unix, windows)))]
#[test]
fn paths_share_what_calls_have_paid_for() {
    fn on_two_paths<T: Real>(x: &[T]) -> T {
        if x[0] < 10.0 { irregular(x, 1) } else { irregular(x, 2) }
    }
    fn check(mut hessian_at: impl FnMut(&[f64; 6]) -> (Vec<f64>, Report)) {
        let mut call = |path: u64| {
            let x = [0.1 + 10.0 * path as f64, 0.2, 0.3, 0.4, 0.5, 0.6];
            let (hess, report) = hessian_at(&x);
            if report.calls.is_multiple_of(64) {
                let f = |x: &[_]| on_two_paths(x);
                close(&hess, hessian(&f, &AutoReverseDiff::tape(), &x).unwrap().as_slice());
            }
            report
        };
        let first = (0..2000).map(|k| call(k % 2)).find(|report| report.programs == 1).unwrap();
        let compiled = (first.calls - 1) % 2;
        // Misses alone, of the path that waits.
        let waiting = (0..40).map(|_| call(1 - compiled)).last().unwrap();
        assert_eq!((waiting.programs, waiting.descents), (1, 0), "{waiting}");
        let second = (0..2000).map(|k| call(k % 2)).find(|report| report.programs == 2).unwrap();
        assert!(second.calls > 3 * first.calls / 2, "{first}; {second}");
        let last = (0..100).map(|k| call(k % 2)).last().unwrap();
        assert_eq!((last.by_program, last.descents), (second.by_program + 100, 0), "{last}");
    }
    let f = |x: &[_]| on_two_paths(x);
    let mut prepared = prepare_hessian(&f, &adaptive(), &[0.5; 6]).unwrap();
    check(|x| (prepared.hessian(x).unwrap().as_slice().to_vec(), prepared.report()));
    // A path that has no program yet waits, though another one is followed to other constants without that.
    let f = |x: &[_], k: &f64| on_two_paths(x) * *k;
    let mut prepared = prepare_hessian(&f, &adaptive(), (&[0.5; 6], Constant(&1.0))).unwrap();
    check(|x| (prepared.hessian((x, Constant(&1.0))).unwrap().as_slice().to_vec(), prepared.report()));
}

/// A call at which no program is valid loses the time of the programs that run in vain, whatever it takes by the tape itself.
#[cfg(all(not(ad_interpreter), target_arch = "x86_64", any(unix, windows)))]
#[test]
fn programs_are_given_up_for_the_time_that_they_lose() {
    /// Dear, or cheap on a path of its own for each whole number from 10 to 1033.
    fn of_many_paths<T: Real>(x: &[T]) -> T {
        if x[0] < 10.0 {
            return irregular(x, 1);
        }
        let (mut rest, mut value) = (x[0] - 10.0, x[1]);
        for power in (0..10).map(|bit| f64::from(512 >> bit)) {
            if rest >= power {
                rest -= power;
                value *= x[2];
            } else {
                value += x[3];
            }
        }
        value
    }
    let f = |x: &[_]| of_many_paths(x);
    let mut x = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    let mut prepared = prepare_hessian(&f, &adaptive(), &x).unwrap();
    let used = (0..2000).find(|_| {
        prepared.hessian(&x).unwrap();
        prepared.report().programs == 1
    });
    assert!(used.is_some());
    let given_up = (0..1000).find(|k| {
        x[0] = 10.5 + f64::from(*k);
        prepared.hessian(&x).unwrap();
        prepared.report().descents == 1
    });
    assert!(given_up.is_some_and(|misses| misses > 50), "{given_up:?}, {}", prepared.report());
}

/// The time that calls take is that of the programs that compute them: short ones do not pay for entries of a dear path.
#[cfg(all(not(ad_interpreter), target_arch = "x86_64", any(unix, windows)))]
#[test]
fn calls_by_a_cheap_program_do_not_pay_for_dear_entries() {
    fn network_or_product<T: Real>(x: &[T], samples: &[f64]) -> T {
        if x[0] < 10.0 { network(x, samples) } else { x[0] * x[1] * x[2].sin() }
    }
    let samples = samples(0.3);
    let f = |x: &[_]| network_or_product(x, &samples);
    let mut prepared = prepare_hessian(&f, &adaptive(), &point(0)).unwrap();
    let mut calls = |count: u64, first: f64| {
        for k in 0..count {
            let mut x = point(k);
            x[0] += first;
            prepared.hessian(&x).unwrap();
        }
        prepared.report()
    };
    let dear = calls(60, 0.0);
    let both = calls(60, 20.0);
    assert_eq!((dear.programs, both.programs, both.form), (1, 2, Form::MachineCode), "{both}");
    let from = both.compiles_from.unwrap();
    calls(from + 10 - both.calls, 20.0);
    let later = calls(1, 0.0);
    assert!(later.compiles_from.is_some_and(|call| call > later.calls + 100), "{both}; {later}");
    assert_eq!((later.instructions, later.by_tape), (both.instructions, both.by_tape), "{both}; {later}");
}

/// 600 operations in no order that a loop could repeat.
fn irregular<T: Real>(x: &[T], seed: u64) -> T {
    let mut state = seed;
    let mut place = |count: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % count
    };
    let mut values = x.to_vec();
    for _ in 0..600 {
        let [a, b] = [0; 2].map(|_| values[values.len() - 1 - place(values.len().min(20))]);
        values.push(if place(2) == 0 { (a - b).sin() } else { a * b + 0.5 });
    }
    values[values.len() - 1]
}

/// A recording without loops is long as a program, and products with its Hessian are several times as long.
#[test]
fn long_programs_of_second_order_wait() {
    let f = |x: &[_]| irregular(x, 1);
    let x = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    let mut prepared = prepare_hessian(&f, &adaptive(), &x).unwrap();
    (0..60).for_each(|_| drop(prepared.hessian(&x).unwrap()));
    let waiting = prepared.report();
    assert_eq!((waiting.form, waiting.programs, waiting.stays), (Form::Tape, 0, None), "{waiting}");
    let from = waiting.compiles_from.unwrap();
    (61..from).for_each(|_| drop(prepared.hessian(&x).unwrap()));
    let waited = prepared.report();
    // Calls 24, 48, 96, 192 and so on.
    let recorded = (0..10).filter(|k| 24 << k < from).count() as u64;
    assert_eq!((waited.recordings, waited.programs), (recorded, 0), "{waited}");
    let hess = prepared.hessian(&x).unwrap();
    close(hess.as_slice(), hessian(&f, &AutoReverseDiff::tape(), &x).unwrap().as_slice());
    let report = prepared.report();
    assert_eq!((report.recordings, report.programs + report.refused), (recorded + 1, 1), "{report}");
    if HAS_OWN_CODE {
        assert_eq!(report.form, Form::MachineCode, "{report}");
    }
}
