//! The memory that recordings keep, and the program that they run.

use super::*;
use crate::backends::compiled_reverse_diff::requested::RequestedEntries;
use crate::backends::forward_diff::Dual;
use compiled_trace::{Limits, Recorded, Recorder};
use differentiation_interface_core::backend::Lane;

/// A matrix of which nothing is known.
macro_rules! unknown {
    ($matrix:ident) => {
        (&mut $matrix[..], &mut ConstantEntries::default())
    };
}

/// Results do not show how a program ran.
#[test]
fn dual_numbers_are_split() {
    let f = |x: &[Recorded<f64>], _: &[Recorded<f64>], y: &mut Vec<Recorded<f64>>| y.push(x[0] * x[0] * x[1]);
    let mut recorder = Recorder::default();
    recorder.record(&[1.0, 2.0], &[], Limits::default(), f).unwrap();
    let mut held: Held<Dual<f64, Lane<1>>> =
        Held::new(Arc::new(Recording::new(&mut recorder, &[], &RequestedEntries::default()).unwrap()));
    let mark = NonZeroU32::new(7).unwrap();
    let tangents = <Dual<f64, Lane<1>> as EngineScalar>::tangents().expect("a plain value and one tangent");
    let x = [(tangents.join)(3.0, mark, &[1.0], 1), Dual::constant(5.0)];
    let (mut y, mut gradient) = ([Dual::constant(0.0)], [Dual::constant(0.0); 2]);
    let which = ProgramKey::of(Kind::Pullback, 0);
    let inputs: [&[_]; 3] = [&x, &[], &[Dual::constant(1.0)]];
    let outputs: &mut [&mut [_]] = &mut [&mut y, &mut gradient];
    assert!(held.run(which, &inputs, outputs).is_ok());
    assert_eq!((gradient[0].peek(), (tangents.lane)(&gradient[0], 0)), (30.0, 10.0));
    assert_eq!((gradient[1].peek(), (tangents.lane)(&gradient[1], 0)), (9.0, 6.0));
    assert!(held.workspaces.iter().flatten().all(Option::is_none), "no memory for dual numbers one by one");
}

/// The number of calls that ask for what the first program does not serve, until there is a second one.
#[cfg(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", any(unix, windows)))))]
const CALLS_TO_SECOND: usize = 16;

/// Results do not show how a gradient was computed. The interpreter has no small programs.
#[cfg(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", any(unix, windows)))))]
#[test]
fn gradients_of_small_programs_are_kept_with_their_memory() {
    let squares = |x: &[Recorded<f64>], _: &[Recorded<f64>], y: &mut Vec<Recorded<f64>>| {
        y.push(x.iter().map(|v| *v * *v).sum());
    };
    let held = |point: &[f64]| {
        let mut recorder = Recorder::default();
        recorder.record(point, &[], Limits::default(), squares).unwrap();
        Held::<f64>::new(Arc::new(Recording::new(&mut recorder, &[], &RequestedEntries::default()).unwrap()))
    };
    let mut kept = held(&[1.0, 2.0]);
    let (mut y, mut gradient) = ([0.0], [0.0; 2]);
    assert!(kept.small.is_none(), "nothing has been run");
    assert!(kept.fill(Filling::Gradient, &[&[3.0, 5.0], &[]], &mut y, true, unknown!(gradient)).is_ok());
    let Held { small, second, .. } = &mut kept;
    let small = small.as_mut().expect("one function");
    assert!(small.fill(&[1.0, -2.0], &[], Some(&mut y), &mut [], unknown!(gradient), second));
    assert_eq!((y, gradient), ([5.0], [2.0, -4.0]));
    let mut scratch = [0.0];
    assert!(small.fill(&[4.0, 1.0], &[], None, &mut scratch, unknown!(gradient), second));
    assert_eq!((scratch, gradient), ([17.0], [8.0, 2.0]));
    assert!(!small.fill(&[4.0, 1.0, 0.0], &[], None, &mut scratch, unknown!(gradient), second), "one number too many");

    // On numbers that carry tangents there is none.
    let mut dual: Held<Dual<f64, Lane<1>>> = Held::new(Arc::clone(&kept.recording));
    let (x, mut y, mut gradient) = ([Dual::constant(3.0); 2], [Dual::constant(0.0)], [Dual::constant(0.0); 2]);
    assert!(dual.fill(Filling::Gradient, &[&x, &[]], &mut y, true, unknown!(gradient)).is_ok());
    assert!(dual.small.is_none());
}

/// Results do not show it.
#[cfg(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", any(unix, windows)))))]
#[test]
fn singles_run_machine_code() {
    let squares = |x: &[Recorded<f32>], _: &[Recorded<f32>], y: &mut Vec<Recorded<f32>>| {
        y.push(x.iter().map(|v| *v * *v).sum());
    };
    let mut recorder = Recorder::default();
    recorder.record(&[1.0, 2.0], &[], Limits::default(), squares).unwrap();
    let mut held =
        Held::<f32>::new(Arc::new(Recording::new(&mut recorder, &[], &RequestedEntries::default()).unwrap()));
    let (mut y, mut gradient) = ([0.0], [0.0; 2]);
    for call in 1..2 * CALLS_TO_SECOND {
        let x = [call as f32, -1.0];
        assert!(held.fill(Filling::Gradient, &[&x, &[]], &mut y, false, unknown!(gradient)).is_ok());
        assert_eq!(gradient, [2.0 * x[0], -2.0]);
    }
    assert!(held.small.is_some(), "with its memory");
    for kind in [Kind::Gradient, Kind::GradientAlone] {
        let which = ProgramKey::of(kind, 0);
        assert!(held.recording.programs(which).code::<f32>(which).flatten().is_some(), "{kind:?}");
        assert!(held.recording.programs(which).code::<f64>(which).is_none(), "of the other number");
        assert!(held.recording.programs(which).executable(which).is_none(), "nothing is interpreted");
    }
}

#[cfg(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", any(unix, windows)))))]
#[test]
fn gradients_get_a_program_without_the_value_after_some_calls() {
    let squares = |x: &[Recorded<f64>], _: &[Recorded<f64>], y: &mut Vec<Recorded<f64>>| {
        y.push(x.iter().map(|v| *v * *v).sum());
    };
    let mut recorder = Recorder::default();
    recorder.record(&[1.0, 2.0], &[], Limits::default(), squares).unwrap();
    let mut kept =
        Held::<f64>::new(Arc::new(Recording::new(&mut recorder, &[], &RequestedEntries::default()).unwrap()));
    let (mut y, mut gradient) = ([0.0], [0.0; 2]);
    for call in 1..2 * CALLS_TO_SECOND {
        let x = [call as f64, -1.0];
        assert!(kept.fill(Filling::Gradient, &[&x, &[]], &mut y, false, unknown!(gradient)).is_ok());
        assert_eq!(gradient, [2.0 * call as f64, -2.0]);
        assert_eq!(y[0] == x[0] * x[0] + 1.0, call < CALLS_TO_SECOND, "the value in call {call}");
        assert_eq!(kept.second.is_made, call >= CALLS_TO_SECOND);
    }
    // The program with the value is still there.
    let small = kept.small.as_mut().expect("one function");
    assert!(small.fill(&[3.0, 5.0], &[], Some(&mut y), &mut [], unknown!(gradient), &mut kept.second));
    assert_eq!((y, gradient), ([34.0], [6.0, 10.0]));

    // Where the gradient needs the value, leaving it out saves one store.
    let exponential =
        |x: &[Recorded<f64>], _: &[Recorded<f64>], y: &mut Vec<Recorded<f64>>| y.push(num_traits::Float::exp(x[0]));
    recorder.record(&[1.0], &[], Limits::default(), exponential).unwrap();
    let recording = Arc::new(Recording::new(&mut recorder, &[], &RequestedEntries::default()).unwrap());
    let mut kept = Held::<f64>::new(recording);
    let mut gradient = [0.0];
    for _ in 0..2 * CALLS_TO_SECOND {
        assert!(kept.fill(Filling::Gradient, &[&[0.0], &[]], &mut y, false, unknown!(gradient)).is_ok());
        assert_eq!(gradient, [1.0]);
    }
    assert!(!kept.second.is_made);

    // Long programs take longer to make than the calls without the value would save.
    for (length, is_short) in [(200, true), (3000, false)] {
        // Terms of three kinds in no order, so that they become no loop.
        let terms = |x: &[Recorded<f64>], _: &[Recorded<f64>], y: &mut Vec<Recorded<f64>>| {
            let (mut state, mut sum) = (1u32, x[0] * x[1]);
            for _ in 0..length {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let c = 1.0 + state as f64;
                match state >> 30 {
                    0 => sum += c * (x[0] * x[0]),
                    1 => sum -= c * x[0] * x[1],
                    _ => sum = c - sum + x[1] * x[1] * x[0],
                }
            }
            y.push(sum);
        };
        recorder.record(&[1.0, 2.0], &[], Limits::default(), terms).unwrap();
        let recording = Arc::new(Recording::new(&mut recorder, &[], &RequestedEntries::default()).unwrap());
        let mut kept = Held::<f64>::new(recording);
        let mut gradient = [0.0; 2];
        for _ in 0..2 * CALLS_TO_SECOND {
            assert!(kept.fill(Filling::Gradient, &[&[1.0, 2.0], &[]], &mut y, false, unknown!(gradient)).is_ok());
        }
        assert_eq!(kept.second.is_made, is_short, "{length} terms");
    }
}

#[cfg(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", any(unix, windows)))))]
#[test]
fn entries_of_small_programs_are_kept_with_their_memory() {
    let f = |x: &[Recorded<f64>], p: &[Recorded<f64>], y: &mut Vec<Recorded<f64>>| y.extend([x[0] * x[1], x[0] * p[0]]);
    let mut recorder = Recorder::default();
    recorder.record(&[1.0, 2.0], &[3.0], Limits::default(), f).unwrap();
    let requested = RequestedEntries::jacobian(Limits::default());
    let mut kept = Held::<f64>::new(Arc::new(Recording::new(&mut recorder, &[], &requested).unwrap()));
    let (mut y, mut jacobian) = ([f64::NAN; 2], [f64::NAN; 4]);
    assert!(kept.fill(Filling::Entries, &[&[1.0, 2.0], &[3.0]], &mut y, false, unknown!(jacobian)).is_ok());
    assert_eq!(jacobian, [2.0, 1.0, 3.0, 0.0]);
    let Held { small, second, .. } = &mut kept;
    let small = small.as_mut().expect("one function");
    assert!(small.fill(&[5.0, 7.0], &[11.0], None, &mut [], unknown!(jacobian), second));
    assert_eq!(jacobian, [7.0, 5.0, 11.0, 0.0]);
    assert!(!small.fill(&[5.0, 7.0], &[11.0], Some(&mut y), &mut [], unknown!(jacobian), second), "it has no outputs");

    // With the outputs, two programs run until there is one of both.
    for call in 1..2 * CALLS_TO_SECOND {
        (y, jacobian) = ([f64::NAN; 2], [f64::NAN; 4]);
        let x = [call as f64, 7.0];
        assert!(kept.fill(Filling::Entries, &[&x, &[11.0]], &mut y, true, unknown!(jacobian)).is_ok());
        assert_eq!((y, jacobian), ([7.0 * x[0], 11.0 * x[0]], [7.0, x[0], 11.0, 0.0]));
        assert_eq!(kept.second.is_made, call >= CALLS_TO_SECOND);
    }
    let Held { small, second, .. } = &mut kept;
    let small = small.as_mut().expect("one function");
    assert!(small.fill(&[1.0, 2.0], &[3.0], Some(&mut y), &mut [], unknown!(jacobian), second));
    assert_eq!((y, jacobian), ([2.0, 3.0], [2.0, 1.0, 3.0, 0.0]));
}
