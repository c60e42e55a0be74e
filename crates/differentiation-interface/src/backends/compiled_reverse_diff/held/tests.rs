//! The memory that recordings keep, and the program that they run.

use super::*;
use crate::backends::compiled_reverse_diff::requested::RequestedEntries;
use crate::backends::forward_diff::Dual;
use compiled_trace::{Limits, Recorded, Recorder};
use differentiation_interface_core::backend::Lane;

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

/// Results do not show how a gradient was computed. The interpreter has no small programs.
#[cfg(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", unix))))]
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
    let mut small = held(&[1.0, 2.0]);
    let (mut y, mut gradient) = ([0.0], [0.0; 2]);
    assert!(!small.small_gradient(&[&[3.0, 5.0], &[]], &mut [&mut y, &mut gradient]), "nothing has been run");
    assert!(small.gradient(&[&[3.0, 5.0], &[]], &mut [&mut y, &mut gradient]).is_ok());
    assert!(small.has_small_gradient());
    assert!(small.small_gradient(&[&[1.0, -2.0], &[]], &mut [&mut y, &mut gradient]));
    assert_eq!((y, gradient), ([5.0], [2.0, -4.0]));

    // On numbers that carry tangents there is none.
    let mut dual: Held<Dual<f64, Lane<1>>> = Held::new(Arc::clone(&small.recording));
    let (x, mut y, mut gradient) = ([Dual::constant(3.0); 2], [Dual::constant(0.0)], [Dual::constant(0.0); 2]);
    assert!(dual.gradient(&[&x, &[]], &mut [&mut y, &mut gradient]).is_ok());
    assert!(!dual.has_small_gradient());
}
