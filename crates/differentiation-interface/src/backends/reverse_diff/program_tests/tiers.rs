//! Tests of the tiers: when a preparation goes up and down, and that its answers are those of the tape all the while.

use crate::backends::reverse_diff::{AutoReverseDiff, Form, Reason, Var};
use differentiation_interface_core::backend::SecondOrder;
use differentiation_interface_core::context::{Constant, Parameter};
use differentiation_interface_core::custom::{Custom, PlainRule};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::operators::{
    gradient, jacobian, prepare_derivative, prepare_gradient, prepare_hessian, prepare_jacobian,
};
use differentiation_interface_core::scalar::{Num, Real};
use std::cell::Cell;
use std::sync::Mutex;

fn rosenbrock<T: Real>(x: &[T]) -> T {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
}

/// The derivative by hand.
fn slopes(x: &[f64]) -> Vec<f64> {
    let mut grad = vec![0.0; x.len()];
    for i in 0..x.len() - 1 {
        let t = x[i + 1] - x[i] * x[i];
        grad[i] += -400.0 * x[i] * t - 2.0 * (1.0 - x[i]);
        grad[i + 1] += 200.0 * t;
    }
    grad
}

pub(super) fn close(found: &[f64], expected: &[f64]) {
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(is_close), "{found:?} {expected:?}");
}

/// Whether this build has the own generator of machine code.
pub(super) const HAS_OWN_CODE: bool = cfg!(all(not(ad_interpreter), target_arch = "x86_64", any(unix, windows)));
/// The form in which programs run in this build.
pub(super) const PROGRAM: Form =
    if cfg!(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", any(unix, windows))))) {
        Form::MachineCode
    } else {
        Form::Interpreter
    };

pub(super) fn adaptive() -> AutoReverseDiff {
    AutoReverseDiff::default()
}

#[test]
fn a_function_that_repeats_becomes_a_program() {
    let f = |x: &[_]| rosenbrock(x);
    let mut prepared = prepare_gradient(&f, &adaptive(), &[0.0; 7]).unwrap();
    let mut forms = Vec::new();
    for k in 0..100 {
        let x: Vec<f64> = (0..7).map(|i| 0.1 * i as f64 - 0.01 * k as f64).collect();
        let (y, grad) = prepared.value_and_gradient(&x).unwrap();
        close(&grad, &slopes(&x));
        close(&[y], &[rosenbrock(&x)]);
        forms.push(prepared.report().form);
    }
    // Calls 24 and 48 are recorded; the second takes the same path.
    assert!(forms[..47].iter().all(|form| *form == Form::Tape));
    assert!(forms[47..].iter().all(|form| *form == PROGRAM), "{}", prepared.report());
    let report = prepared.report();
    assert_eq!((report.calls, report.by_tape, report.by_program), (100, 47, 53));
    assert_eq!((report.recordings, report.programs, report.misses, report.stays), (2, 1, 0, None));
    assert_eq!(report.operations, 6 * 8);
    assert!(report.instructions > 0 && report.spent.as_nanos() > 0);
    prepared.prepare_again(&[0.0; 3]).unwrap();
    assert_eq!((prepared.report().form, prepared.report().calls), (Form::Tape, 0));
    close(&prepared.gradient(&[1.0, 2.0, 3.0]).unwrap(), &slopes(&[1.0, 2.0, 3.0]));
}

#[test]
fn the_first_recording_can_be_set() {
    let f = |x: &[_]| rosenbrock(x);
    let mut prepared = prepare_gradient(&f, &adaptive().recording_from(3), &[0.0; 7]).unwrap();
    let form = |call: usize| if call < 6 { Form::Tape } else { PROGRAM };
    for call in 1..9 {
        close(&prepared.gradient(&[0.5; 7]).unwrap(), &slopes(&[0.5; 7]));
        assert_eq!(prepared.report().form, form(call));
    }
    let mut prepared = prepare_gradient(&f, &adaptive().recording_from(1), &[0.0; 7]).unwrap();
    close(&prepared.gradient(&[0.5; 7]).unwrap(), &slopes(&[0.5; 7]));
    assert_eq!(prepared.report().form, PROGRAM);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::tape(), &[0.0; 7]).unwrap();
    for _ in 0..100 {
        prepared.gradient(&[0.5; 7]).unwrap();
    }
    assert_eq!((prepared.report().form, prepared.report().recordings), (Form::Tape, 0));
}

#[test]
fn jacobians_and_derivatives_go_up_too() {
    let f = |x: &[_]| x.windows(2).map(|w| w[0] * w[1]).collect::<Vec<_>>();
    let mut prepared = prepare_jacobian(&f, &adaptive(), &[0.0; 4]).unwrap();
    for k in 0..60 {
        let t = f64::from(k);
        let (y, jac) = prepared.value_and_jacobian(&[t, 2.0, 3.0, 5.0]).unwrap();
        assert_eq!(y, [2.0 * t, 6.0, 15.0]);
        assert_eq!(jac, [[2.0, t, 0.0, 0.0], [0.0, 3.0, 2.0, 0.0], [0.0, 0.0, 5.0, 3.0]]);
    }
    assert_eq!(prepared.report().form, PROGRAM);
    let g = |x| [x * x, 3.0 * x];
    let mut prepared = prepare_derivative(&g, &adaptive(), 0.0).unwrap();
    for k in 0..60 {
        assert_eq!(
            prepared.value_and_derivative(f64::from(k)).unwrap(),
            ([f64::from(k * k), 3.0 * f64::from(k)], [2.0 * f64::from(k), 3.0])
        );
    }
    assert_eq!(prepared.report().form, PROGRAM);
}

#[test]
fn a_function_that_captures_a_cell_stays_a_tape() {
    let factor = Cell::new(1.0);
    let f = |x: &[_]| x[0] * x[1] * factor.get();
    let mut prepared = prepare_gradient(&f, &adaptive(), &[0.0; 2]).unwrap();
    for k in 0..200 {
        factor.set(f64::from(k / 100));
        assert_eq!(prepared.gradient(&[3.0, 5.0]).unwrap(), [5.0 * factor.get(), 3.0 * factor.get()]);
    }
    let report = prepared.report();
    assert_eq!((report.form, report.recordings, report.stays), (Form::Tape, 0, Some(Reason::MayChange)));
}

#[test]
fn constants_that_change_between_recordings_are_noticed() {
    let factor = Mutex::new(0.0);
    let f = |x: &[_]| x[0] * x[1] * *factor.lock().unwrap();
    let mut prepared = prepare_gradient(&f, &adaptive(), &[0.0; 2]).unwrap();
    for k in 0..200 {
        *factor.lock().unwrap() = f64::from(k);
        assert_eq!(prepared.gradient(&[3.0, 5.0]).unwrap(), [5.0 * f64::from(k), 3.0 * f64::from(k)]);
    }
    assert_eq!((prepared.report().recordings, prepared.report().stays), (2, Some(Reason::ConstantsChange)));
}

#[test]
fn parameters_are_read_in_every_call() {
    let f = |x: &[_], p: &Vec<_>| x[0] * x[1] * p[0] + p[1] * x[0];
    let mut prepared = prepare_gradient(&f, &adaptive(), (&[0.0; 2], Parameter(&[0.0; 2][..]))).unwrap();
    for k in 0..100 {
        let p = [f64::from(k), 1.0];
        assert_eq!(prepared.gradient((&[3.0, 5.0], Parameter(&p[..]))).unwrap(), [5.0 * p[0] + 1.0, 3.0 * p[0]]);
    }
    assert_eq!(prepared.report().form, PROGRAM);
}

#[test]
fn constants_as_contexts_are_followed() {
    let f = |x: &[_], k: &f64| x[0] * x[1] * *k;
    let mut prepared = prepare_gradient(&f, &adaptive(), (&[0.0; 2], Constant(&0.0))).unwrap();
    for k in 0..100 {
        let k = f64::from(k);
        assert_eq!(prepared.gradient((&[3.0, 5.0], Constant(&k))).unwrap(), [5.0 * k, 3.0 * k]);
    }
}

/// Bits of a sequence.
pub(super) fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
}

#[test]
fn values_read_into_plain_code_keep_the_tape() {
    let f = |x: &[_]| {
        let steps = differentiation_interface_core::Scalar::primal(x[0]);
        x[0] * x[1] * steps
    };
    let mut prepared = prepare_gradient(&f, &adaptive(), &[0.0; 2]).unwrap();
    for k in 0..300 {
        let x = [f64::from(k), 2.0];
        assert_eq!(prepared.gradient(&x).unwrap(), [2.0 * x[0], x[0] * x[0]]);
    }
    assert_eq!(prepared.report().form, Form::Tape, "{:?}", prepared.report());
}

#[test]
fn other_numbers_than_doubles_stay_on_the_tape() {
    let f = |x: &[_]| rosenbrock_single(x);
    let mut prepared = prepare_gradient(&f, &adaptive(), &[0.0f32; 3]).unwrap();
    for _ in 0..100 {
        assert_eq!(prepared.gradient(&[1.0f32, 1.0, 1.0]).unwrap(), [0.0; 3]);
    }
    assert_eq!(prepared.report().form, Form::Tape);
}

fn rosenbrock_single<T: Real<f32>>(x: &[T]) -> T {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
}

#[test]
fn thousands_of_calls_of_a_rule_with_little_beside_them_keep_the_tape() {
    let rule = PlainRule::new("square", |x: &[f64], y: &mut Vec<f64>| {
        y.clear();
        y.push(x[0] * x[0]);
    })
    .with_pullback(|x: &[f64], _: &[f64], dy: &[f64], dx: &mut [f64]| dx[0] = 2.0 * x[0] * dy[0]);
    let rule = Custom::new(rule);
    // The number of calls, that of sums of squares beside them, and why the tape stays.
    for (calls, sums, stays) in [(100, 0, None), (3001, 1, Some(Reason::Slower)), (3001, 100, None)] {
        let f = |x: &[_]| {
            let called = x.iter().map(|v| rule.number(&[*v])).sum::<Var<f64>>();
            (0..sums).fold(called, |sum, _| x.iter().map(|v| *v * *v).fold(sum, |sum, v| sum + v))
        };
        let mut prepared = prepare_gradient(&f, &adaptive().recording_from(4), &vec![0.0; calls]).unwrap();
        for _ in 0..10 {
            assert_eq!(prepared.gradient(&vec![1.0; calls]).unwrap(), vec![2.0 + 2.0 * f64::from(sums); calls]);
        }
        let report = prepared.report();
        assert_eq!((report.recordings, report.stays), (2, stays), "{report}");
        assert_eq!(report.programs, u64::from(stays.is_none()), "{report}");
    }
}

#[test]
fn recordings_beyond_the_limit_keep_the_tape() {
    let f = |x: &[_]| rosenbrock(x);
    let backend = adaptive().with_memory_limit(1000);
    let mut prepared = prepare_gradient(&f, &backend, &[0.0; 100]).unwrap();
    for _ in 0..100 {
        close(&prepared.gradient(&[0.5; 100]).unwrap(), &slopes(&[0.5; 100]));
    }
    assert_eq!(prepared.report().stays, Some(Reason::TooLarge));
}

#[test]
fn errors_are_those_of_the_tape_in_every_form() {
    let f = |x: &[_]| rosenbrock(x);
    let mut prepared = prepare_gradient(&f, &adaptive(), &[0.0; 3]).unwrap();
    for _ in 0..60 {
        assert_eq!(
            prepared.gradient(&[0.5; 4]).unwrap_err().kind(),
            ErrorKind::PreparedLength { prepared: 3, found: 4 }
        );
        close(&prepared.gradient(&[0.5; 3]).unwrap(), &slopes(&[0.5; 3]));
    }
    // A number of an outer differentiation at the same type.
    let outer = |x: &[_]| {
        let inner = |y: &[_]| y[0] * x[0];
        gradient(&inner, &adaptive().recording_from(1), &[1.0]).map(|_| x[0]).unwrap_or(x[0] * x[0])
    };
    let mut prepared = prepare_gradient(&outer, &adaptive().recording_from(1), &[0.0]);
    for call in 0..3 {
        let kind = match &mut prepared {
            Ok(prepared) => prepared.gradient(&[3.0]).map_err(|error| error.kind()),
            Err(error) => Err(error.kind()),
        };
        assert_eq!(kind, Err(ErrorKind::ForeignNumber), "{call}");
    }
}

#[test]
fn inner_differentiations_have_tapes_of_their_own() {
    // d/dx of the sum of x_i² by an inner tape that is prepared outside of the recording: at plain numbers.
    let outer = |x: &[_]| {
        let inner = |y: &[_], p: &Vec<_>| y[0] * y[0] * p[0];
        let slope = gradient(&inner, &adaptive().recording_from(1), (&[2.0], Parameter(&[3.0][..]))).unwrap()[0];
        x[0] * x[1] * slope
    };
    let mut prepared = prepare_gradient(&outer, &adaptive().recording_from(1), &[0.0; 2]).unwrap();
    for _ in 0..4 {
        assert_eq!(prepared.gradient(&[2.0, 5.0]).unwrap(), [60.0, 24.0]);
    }
    assert_eq!(prepared.report().form, PROGRAM);
}

#[test]
fn second_order_is_that_of_the_tape() {
    let f = |x: &[_]| x[0] * x[0] * x[1];
    let mut prepared = prepare_hessian(&f, &SecondOrder(adaptive(), adaptive()), &[0.0; 2]).unwrap();
    for _ in 0..100 {
        assert_eq!(prepared.hessian(&[3.0, 5.0]).unwrap(), [[10.0, 6.0], [6.0, 0.0]]);
    }
}

#[test]
fn a_thread_that_computes_is_refused_in_every_form() {
    let f = |x: &[Var<f64>]| {
        let sum = std::thread::scope(|scope| scope.spawn(|| x[0] * x[1]).join().unwrap());
        sum + x[0]
    };
    for first in [0, 1, 3] {
        let backend = adaptive().recording_from(first);
        assert_eq!(gradient(&f, &backend, &[1.0, 2.0]).unwrap_err().kind(), ErrorKind::OtherThread);
    }
}

#[test]
fn a_clone_goes_on_from_where_the_original_is() {
    let f = |x: &[_]| rosenbrock(x);
    let mut prepared = prepare_gradient(&f, &adaptive(), &[0.0; 5]).unwrap();
    for _ in 0..50 {
        prepared.gradient(&[0.5; 5]).unwrap();
    }
    let mut copy = prepared.clone();
    assert_eq!(copy.report().form, PROGRAM);
    let found = std::thread::scope(|scope| scope.spawn(move || copy.gradient(&[0.25; 5]).unwrap()).join().unwrap());
    assert_eq!(found, prepared.gradient(&[0.25; 5]).unwrap());
}

/// The angles of a pendulum, pushed by a torque at each step.
pub(super) fn roll_out<T: Real>(torques: &[T]) -> Vec<T> {
    let (mut angle, mut speed, h) = (T::constant(0.4), T::zero(), 0.02);
    let step = |torque: &T| {
        speed += h * (*torque - 9.81 * angle.sin() - 0.1 * speed);
        angle += h * speed;
        angle
    };
    torques.iter().map(step).collect()
}

/// Each row of its Jacobian is a recurrence, whose operations wait for each other in a program; the tape sweeps several rows at once. Measured
/// with 50 torques: 9 us by the tape, 13 us by machine code; with 5 torques 0.5 and 0.15 us.
#[test]
fn programs_that_would_take_longer_than_the_tape_are_given_up() {
    let cost = |x: &[_]| roll_out(x).into_iter().map(|angle| angle * angle).sum::<Num<_>>();
    let f = |x: &[_]| roll_out(x);
    for (n, stays) in [(5, false), (40, true)] {
        let x = vec![0.5; n];
        let mut first = prepare_jacobian(&f, &adaptive(), &x).unwrap();
        let mut second = prepare_hessian(&cost, &adaptive(), &x).unwrap();
        for _ in 0..60 {
            first.jacobian(&x).unwrap();
            second.hessian(&x).unwrap();
        }
        // Entries are compiled later, and found slow too.
        for _ in 0..10_000 {
            if second.report().compiles_from.is_some() {
                second.hessian(&x).unwrap();
            }
        }
        for report in [first.report(), second.report()] {
            let stays = stays.then_some(Reason::Slower);
            if HAS_OWN_CODE || stays.is_some() {
                assert_eq!((report.form == Form::Tape, report.stays), (stays.is_some(), stays), "n = {n}: {report}");
            }
            assert_eq!(report.estimate > 1.0, report.stays.is_some(), "n = {n}: {report}");
            // Neither entries nor products are compiled again.
            assert_eq!(report.refused, u64::from(report.stays.is_some()), "n = {n}: {report}");
            assert_eq!(report.to_string().contains("would take"), report.stays.is_some(), "n = {n}: {report}");
        }
        let slopes = first.jacobian(&x).unwrap();
        let by_tape = jacobian(&f, &AutoReverseDiff::tape(), &x).unwrap();
        close(slopes.as_slice(), by_tape.as_slice());
    }
}

/// Products with several tangents take longer than estimated beside the tape: with 20 controls of a cart, estimated at 0.6, 1.2 times as long.
#[test]
fn hessians_are_left_to_the_tape_earlier() {
    let cost = |x: &[_]| roll_out(x).into_iter().map(|angle| angle * angle).sum::<Num<_>>();
    let estimates = [4, 8, 10, 12].map(|n| {
        let x = vec![0.5; n];
        let mut prepared = prepare_hessian(&cost, &adaptive(), &x).unwrap();
        (0..60).for_each(|_| drop(prepared.hessian(&x).unwrap()));
        for _ in 0..10_000 {
            if prepared.report().compiles_from.is_some() {
                prepared.hessian(&x).unwrap();
            }
        }
        let report = prepared.report();
        let most = if HAS_OWN_CODE { 0.55 } else { 1.0 };
        assert_eq!(report.estimate > most, report.stays == Some(Reason::Slower), "n = {n}: {report}");
        report.estimate
    });
    assert!(!HAS_OWN_CODE || estimates.iter().any(|estimate| (0.55..0.75).contains(estimate)), "{estimates:?}");
}

/// An American put option by a binomial tree: volatility, strike and rate.
fn option<T: Real>(x: &[T]) -> T {
    const STEPS: i32 = 100;
    let dt = 1.0 / f64::from(STEPS);
    let up = (x[0] * dt.sqrt()).exp();
    let discount = (-x[2] * dt).exp();
    let p = ((x[2] * dt).exp() - 1.0 / up) / (up - 1.0 / up);
    let pay = |i: i32, step: i32| (x[1] - 100.0 * up.powi(2 * i - step)).max(T::zero());
    let mut values: Vec<T> = (0..=STEPS).map(|i| pay(i, STEPS)).collect();
    for step in (0..STEPS).rev() {
        for i in 0..=step {
            let k = i as usize;
            values[k] = (discount * (p * values[k + 1] + (1.0 - p) * values[k])).max(pay(i, step));
        }
    }
    values[0]
}

/// A program of 100,000 instructions without loops is machine code, which takes a fifth of the tape's time. The interpreter would take twice the tape's.
#[test]
fn long_programs_without_loops_are_machine_code_or_tapes() {
    let (form, stays) = if HAS_OWN_CODE { (Form::MachineCode, None) } else { (Form::Tape, Some(Reason::Slower)) };
    let mut prepared = prepare_gradient(&option, &adaptive().recording_from(1), &[0.25, 105.0, 0.03]).unwrap();
    let report = prepared.report();
    assert_eq!((report.form, report.stays), (form, stays), "{report}");
    assert!(report.instructions > 50_000, "{report}");
    assert_eq!(report.to_string().contains("would take"), !HAS_OWN_CODE, "{report}");
    for k in 0..4 {
        let x = [0.2 + 0.05 * f64::from(k), 105.0, 0.03];
        let expected = gradient(&option, &AutoReverseDiff::tape(), &x).unwrap();
        let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-10 * b.abs();
        let grad = prepared.gradient(&x).unwrap();
        assert!(grad.iter().zip(&expected).all(is_close), "{grad:?}, by the tape {expected:?}");
    }
}
