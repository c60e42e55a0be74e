//! Programs of folded recordings beside those of whole ones: the same results, bit for bit.

use crate::recording::recorder::record;
use crate::{Limits, Recorded, Recorder, compile};
use differentiation_interface_core::Real;
use differentiation_interface_core::error::ErrorKind;

/// A function of inputs and parameters.
trait Case {
    fn call<T: Real>(&self, x: &[T], p: &[T], y: &mut Vec<T>);
}

/// What became of a recording.
struct Found {
    /// Whether operations were folded away.
    is_folded: bool,
    /// Whether the program follows from short recordings.
    is_short: bool,
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 + ((i * 7919) % 1009) as f64 / 1009.0).collect()
}

/// Compares values and pullbacks of both programs at the recorded point and at others.
fn compared(case: &impl Case, inputs: usize) -> Found {
    let (x, p) = (numbers(inputs), [1.25, 0.75]);
    let f = |x: &[Recorded], p: &[Recorded], y: &mut Vec<Recorded>| case.call(x, p, y);
    let whole = record(&x, &p, Limits::default(), f).unwrap();
    let mut recorder = Recorder::default();
    recorder.record_folding(&x, &p, Limits::default(), f).unwrap();
    assert_eq!(recorder.operations(), whole.nodes().len());
    let is_folded = recorder.fold().is_some();
    let program = recorder.compile().unwrap();
    let is_short = recorder.fold().is_some();
    assert_eq!(recorder.unfold().to_string(), whole.to_string());

    let (a, b) = (compile(&whole).unwrap().adjoint(1).unwrap(), program.adjoint(1).unwrap());
    let outputs = a.outputs[0];
    assert_eq!((&a.inputs, &a.outputs), (&b.inputs, &b.outputs));
    let (a, b) = (a.executable(), b.executable());
    for shift in [0.0, 0.125] {
        let x: Vec<f64> = x.iter().map(|v| v + shift).collect();
        let seed = numbers(outputs);
        let run = |program: &crate::Executable| {
            let (mut y, mut grad) = (vec![f64::NAN; outputs], vec![f64::NAN; inputs]);
            program.run(&mut program.workspace(), &[&x, &p, &seed], &mut [&mut y, &mut grad]).unwrap();
            y.into_iter().chain(grad).map(f64::to_bits).collect::<Vec<_>>()
        };
        assert_eq!(run(&a), run(&b));
    }
    Found { is_folded, is_short }
}

/// Asserts that the program follows from short recordings.
fn short(case: impl Case, inputs: usize) {
    let found = compared(&case, inputs);
    let name = std::any::type_name_of_val(&case);
    assert!(found.is_folded && found.is_short, "{name} of {inputs}: {} {}", found.is_folded, found.is_short);
}

/// Asserts that a loop is folded, and that its recording is compiled as a whole.
fn whole(case: impl Case, inputs: usize) {
    let found = compared(&case, inputs);
    assert!(found.is_folded && !found.is_short, "{} {}", found.is_folded, found.is_short);
}

struct Rosenbrock;
impl Case for Rosenbrock {
    fn call<T: Real>(&self, x: &[T], _: &[T], y: &mut Vec<T>) {
        y.push(x.windows(2).map(|w| (w[1] - w[0] * w[0]).powi(2) * 100.0 + (w[0] - 1.0).powi(2)).sum());
    }
}

/// Σ (xᵢ - dᵢ)² with data that are constants.
struct Fit(Vec<f64>);
impl Case for Fit {
    fn call<T: Real>(&self, x: &[T], _: &[T], y: &mut Vec<T>) {
        y.push(x.iter().zip(&self.0).map(|(x, d)| (*x - *d) * (*x - *d) * 0.5).sum());
    }
}

/// Operations before the loop, and behind it with the last states.
struct Filter(f64);
impl Case for Filter {
    fn call<T: Real>(&self, x: &[T], p: &[T], y: &mut Vec<T>) {
        let gain = p[0].exp() * self.0;
        let (mut last, mut state) = (p[1], x[0] * p[0]);
        for x in x {
            (last, state) = (state, state * 0.5 + last * 0.25 + *x * gain);
        }
        y.extend([state * last, last.sin(), x[1] + 2.0]);
    }
}

/// Inner loops, one of which reads rows of constants, as in a mixture of normal distributions.
struct Rows(Vec<f64>);
impl Case for Rows {
    fn call<T: Real>(&self, x: &[T], _: &[T], y: &mut Vec<T>) {
        let mut total = T::constant(0.0);
        for row in self.0.chunks(5) {
            let mut most = T::constant(-1.0);
            for x in x.chunks(5) {
                let norm: T = x.iter().zip(row).map(|(x, d)| (*d - *x) * (*d - *x)).sum();
                most = most.max(norm * (-0.5));
            }
            total += (most * x[0]).exp();
        }
        y.push(total * 0.25);
    }
}

/// A branch in each iteration, always the same way.
struct Branches;
impl Case for Branches {
    fn call<T: Real>(&self, x: &[T], _: &[T], y: &mut Vec<T>) {
        y.push(x.windows(3).map(|w| if w[0] > -1.0 { w[0] * w[2] } else { w[1] }).sum());
    }
}

#[test]
fn loops_over_inputs_and_constants() {
    for n in [1500, 2000, 4001] {
        short(Rosenbrock, n);
        short(Branches, n);
        short(Filter(0.5), n);
        // All different, equal, equal in the first iterations, with zeros and what is no number.
        short(Fit(numbers(n)), n);
        short(Fit(vec![3.0; n]), n);
        short(Fit((0..n).map(|i| if i < n / 2 { 3.0 } else { 4.0 + i as f64 }).collect()), n);
        short(Fit((0..n).map(|i| if i + 1 < n { 0.0 } else { f64::INFINITY }).collect()), n);
        short(Fit((0..n).map(|i| [1.0, f64::NAN, -0.0, 0.0][i % 4]).collect()), n);
    }
}

#[test]
fn inner_loops() {
    short(Rows(numbers(1500)), 20);
    // Too few iterations to be worth while.
    whole(Rows(numbers(1000)), 20);
    short(Rows((0..1500).map(|i| (i / 5 % 7) as f64).collect()), 35);
}

/// Results of all iterations are used behind the loop.
struct Softmax;
impl Case for Softmax {
    fn call<T: Real>(&self, x: &[T], _: &[T], y: &mut Vec<T>) {
        let exp: Vec<T> = x.iter().map(|x| (*x * 2.0).exp().sqrt()).collect();
        let sum: T = exp.iter().copied().sum();
        y.extend(exp.iter().map(|e| *e / sum));
    }
}

/// Outputs of all iterations.
struct Each;
impl Case for Each {
    fn call<T: Real>(&self, x: &[T], _: &[T], y: &mut Vec<T>) {
        y.extend(x.iter().map(|x| x.sin() * *x));
    }
}

/// A loop that reads results of operations before it.
struct After;
impl Case for After {
    fn call<T: Real>(&self, x: &[T], _: &[T], y: &mut Vec<T>) {
        let before: Vec<T> = x.iter().map(|x| x.exp()).collect();
        y.push(before.windows(2).map(|w| (w[0] * w[1] - 1.0).powi(2) * w[0]).sum());
    }
}

/// A guard in each iteration compares one number with another constant.
struct Bisection;
impl Case for Bisection {
    fn call<T: Real>(&self, x: &[T], _: &[T], y: &mut Vec<T>) {
        let count = (0..3000).filter(|i| x[0] * 1.0 > -(*i as f64)).count();
        y.push(x[0] * count as f64);
    }
}

#[test]
fn loops_that_cannot_be_shortened_are_compiled_as_they_are() {
    whole(Each, 3000);
    whole(Softmax, 5000);
    whole(After, 4000);
    whole(Bisection, 3);
}

/// Iterations that are not alike, and functions without a loop.
struct Irregular(usize);
impl Case for Irregular {
    fn call<T: Real>(&self, x: &[T], _: &[T], y: &mut Vec<T>) {
        let mut state = x[0];
        for i in 0..self.0 {
            let other = x[(i * i * 31 + i / 3) % x.len()];
            state = if i * i % 7 < 3 { state * other } else { (state - other).sin() };
        }
        y.push(state);
    }
}

#[test]
fn what_is_no_regular_loop_is_not_folded() {
    for steps in [0, 10, 5000] {
        assert!(!compared(&Irregular(steps), 50).is_folded);
    }
    // Too short a loop.
    assert!(!compared(&Rosenbrock, 100).is_folded);
    assert!(!compared(&Rosenbrock, 1).is_folded);
}

/// Two loops, the first or the second of which is longer.
struct Two(usize, usize);
impl Case for Two {
    fn call<T: Real>(&self, x: &[T], _: &[T], y: &mut Vec<T>) {
        let a: T = x[..self.0].iter().map(|x| x.exp() * *x).sum();
        let b: T = x[..self.1].iter().map(|x| (*x + a).sin() * *x - 1.0).sum();
        y.push(a * b);
    }
}

#[test]
fn one_of_two_loops_is_folded() {
    short(Two(4000, 100), 4000);
    short(Two(2000, 50), 4000);
    // Another loop begins where the first is folded already, or is unfolded because it was short.
    assert!(compared(&Two(3000, 4000), 4000).is_folded);
    assert!(compared(&Two(1600, 8000), 8000).is_folded);
    assert!(compared(&Two(10, 8000), 8000).is_folded);
}

#[test]
fn a_folded_recording_takes_the_memory_of_its_constants() {
    let (mut recorder, x) = (Recorder::default(), numbers(100_000));
    let f = |x: &[Recorded], p: &[Recorded], y: &mut Vec<Recorded>| Rosenbrock.call(x, p, y);
    recorder.record_folding(&x, &[], Limits::default(), f).unwrap();
    assert!(recorder.operations() > 500_000);
    assert!(recorder.graph().bytes() < 200_000, "{}", recorder.graph().bytes());
    // The recorder is used again, and then without folding.
    let again = recorder.record(&x[..10], &[], Limits::default(), f).unwrap();
    assert!(again.nodes().len() < 100 && recorder.fold().is_none());
}

#[test]
fn folded_operations_count_for_the_limit() {
    let limits = Limits { bytes: 1 << 20 };
    let ends = Recorder::default()
        .record_folding(&[1.0], &[], limits, |x, _, y| {
            let mut state = x[0];
            loop {
                state = state * 0.5 + x[0];
                if y.len() > 1 {
                    break;
                }
            }
        })
        .unwrap_err();
    assert_eq!(ends.kind(), ErrorKind::TapeOverflow);
}

/// As the default engine does: a recording to compare with others, then one for the program.
#[test]
fn a_recording_that_was_not_folded_leaves_room_for_one_that_is() {
    let (mut recorder, x) = (Recorder::default(), numbers(100_000));
    let f = |x: &[Recorded], p: &[Recorded], y: &mut Vec<Recorded>| Rosenbrock.call(x, p, y);
    let bytes = recorder.record(&x, &[], Limits::default(), f).unwrap().bytes();
    let limits = Limits { bytes: bytes + bytes / 4 };
    recorder.record_folding(&x, &[], limits, f).unwrap();
    assert!(recorder.graph().bytes() < bytes / 8);
}

/// The numbers that stand for constants are no results.
#[test]
fn constants_that_look_like_the_standing_ones_are_refused() {
    let mut data = numbers(3000);
    data[700] = f64::from_bits(super::STANDING << 32 | 5);
    let found = {
        let x = numbers(3000);
        let case = Fit(data);
        let mut recorder = Recorder::default();
        recorder.record_folding(&x, &[], Limits::default(), |x, p, y| case.call(x, p, y)).unwrap();
        recorder.compile().unwrap();
        recorder.fold().is_some()
    };
    assert!(!found);
    for bits in [super::STANDING << 32 | 5, super::STANDING << 32 | 1 << 63, (super::STANDING << 32 | 7) | 1 << 51] {
        assert!(super::is_like_standing(bits));
    }
    assert!(!super::is_like_standing(f64::NAN.to_bits()) && !super::is_like_standing(1.0_f64.to_bits()));
}
