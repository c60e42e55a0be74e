//! Which recordings are kept for constants of a function.

use super::*;
use crate::backends::AutoReverseDiff;
use differentiation_interface_core::context::Constant;
use differentiation_interface_core::evaluate::{Bound, Storage};
use differentiation_interface_core::point::At;

/// The value of k x², or of -k x at negative x.
fn call(state: &mut CompiledState<f64>, backend: &AutoCompiledReverseDiff, x: f64, k: f64) {
    let f = |x: &[Recorded], k: &f64| if x[0] > 0.0 { x[0] * x[0] * *k } else { x[0] * -*k };
    let x = &[x][..];
    let (point, mut memory, mut kept) = ((x, Constant(&k)), Vec::new(), Default::default());
    let at = At::new(&point, &mut memory);
    let mut storage = Storage::new(at);
    state.value(backend, &mut Bound::new(&f, at, &mut storage, &mut kept), x).unwrap();
    assert_eq!(state.outputs(), [if x[0] > 0.0 { k * x[0] * x[0] } else { -k * x[0] }]);
}

/// Whether each kept recording can be compared with later ones.
fn comparable(state: &CompiledState<f64>) -> Vec<bool> {
    state.recordings.iter().map(|held| held.recording.is_comparable()).collect()
}

#[test]
fn recordings_are_compared_from_the_first_change_of_constants_on() {
    let (backend, mut state) = (AutoReverseDiff::compiled(), CompiledState::default());
    let mut kept = |x: f64, k: f64| {
        call(&mut state, &backend, x, k);
        (comparable(&state), state.runs())
    };
    // Of two paths.
    assert_eq!(kept(3.0, 2.0), (vec![false], 1));
    assert_eq!(kept(-3.0, 2.0), (vec![false; 2], 2));
    assert_eq!(kept(1.0, 2.0), (vec![false; 2], 2));
    // Other constants.
    assert_eq!(kept(1.0, 5.0), (vec![false, false, true], 3));
    assert_eq!(kept(2.0, 2.0), (vec![false, false, true], 3));
    // The program takes any constant now.
    assert_eq!(kept(1.0, 7.0), (vec![true], 4));
    assert_eq!(kept(1.0, 2.0), (vec![true], 5));
    assert_eq!(kept(-1.0, 2.0), (vec![true; 2], 6));
    assert_eq!(kept(-2.0, 2.0), (vec![true; 2], 6));
}

#[test]
fn branches_that_are_refused_are_found_by_comparison() {
    let (backend, mut state) = (AutoReverseDiff::compiled().refusing_other_branches(), CompiledState::default());
    call(&mut state, &backend, 3.0, 2.0);
    assert_eq!(comparable(&state), [true]);
}

/// Paths 1 to 5: x k^path. Recordings of constants of the past make room for those in use.
#[test]
fn recordings_of_past_constants_go_first() {
    fn call(state: &mut CompiledState<f64>, x: f64, k: f64) {
        let f = |x: &[Recorded], k: &f64| {
            let path = (1..5).find(|path| x[0] < f64::from(*path)).unwrap_or(5);
            (0..path).fold(x[0], |power, _| power * *k)
        };
        let x = &[x][..];
        let (point, mut memory, mut kept) = ((x, Constant(&k)), Vec::new(), Default::default());
        let at = At::new(&point, &mut memory);
        let mut storage = Storage::new(at);
        state.value(&AutoReverseDiff::compiled(), &mut Bound::new(&f, at, &mut storage, &mut kept), x).unwrap();
        assert_eq!(state.outputs(), [x[0] * k.powi(x[0] as i32 + 1)]);
    }
    let mut state = CompiledState::default();
    let mut runs_of_a_round = |k: f64| {
        let before = state.runs();
        [0.5, 1.5, 0.5, 2.5, 0.5, 3.5, 0.5, 4.5].into_iter().for_each(|x| call(&mut state, x, k));
        state.runs() - before
    };
    assert_eq!([2.0, 2.0].map(&mut runs_of_a_round), [5, 0]);
    // Eight recordings are kept.
    assert_eq!([5.0, 5.0, 5.0].map(&mut runs_of_a_round), [5, 0, 0]);
}
