//! Which recordings are kept for constants of a function.

use super::*;
use crate::backends::AutoReverseDiff;
use differentiation_interface_core::context::Constant;
use differentiation_interface_core::evaluate::{Bound, Storage};
use differentiation_interface_core::point::At;

/// The output of `f` at `x` with the constant `k`.
fn value(
    state: &mut CompiledState<f64>,
    backend: &AutoCompiledReverseDiff,
    f: fn(&[Recorded], &f64) -> Recorded,
    x: &[f64],
    k: f64,
) -> f64 {
    let f = |x: &[Recorded], k: &f64| f(x, k);
    let (point, mut memory, mut kept) = ((x, Constant(&k)), Vec::new(), Default::default());
    let at = At::new(&point, &mut memory);
    let mut storage = Storage::new(at);
    state.value(backend, &mut Bound::new(&f, at, &mut storage, &mut kept), x).unwrap();
    state.outputs()[0]
}

/// k Σ x², or -k x₀ at negative x₀.
fn two_paths(x: &[Recorded], k: &f64) -> Recorded {
    if x[0] > 0.0 { x.iter().map(|x| *x * *x).sum::<Recorded>() * *k } else { x[0] * -*k }
}

/// Whether each kept recording can be compared with later ones.
fn comparable(state: &CompiledState<f64>) -> Vec<bool> {
    state.recordings.iter().map(|held| held.recording.is_comparable()).collect()
}

#[test]
fn recordings_are_compared_from_the_first_change_of_constants_on() {
    let (backend, mut state) = (AutoReverseDiff::compiled(), CompiledState::default());
    let mut kept = |x: f64, k: f64| {
        let expected = if x > 0.0 { k * x * x } else { -k * x };
        assert_eq!(value(&mut state, &backend, two_paths, &[x], k), expected);
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
fn recordings_of_other_lengths_stay_where_constants_change() {
    let (backend, mut state) = (AutoReverseDiff::compiled(), CompiledState::default());
    let mut runs = |x: &[f64], k: f64| {
        let before = state.runs();
        assert_eq!(value(&mut state, &backend, two_paths, x, k), k * x.iter().map(|x| x * x).sum::<f64>());
        state.runs() - before
    };
    assert_eq!(runs(&[1.0, 2.0], 2.0), 1);
    for k in [2.0, 5.0, 7.0] {
        assert_eq!(runs(&[3.0], k), 1);
    }
    assert_eq!((runs(&[3.0, 1.0], 2.0), runs(&[4.0], 7.0)), (0, 0));
}

#[test]
fn branches_that_are_refused_are_found_by_comparison() {
    let (backend, mut state) = (AutoReverseDiff::compiled().refusing_other_branches(), CompiledState::default());
    value(&mut state, &backend, two_paths, &[3.0], 2.0);
    assert_eq!(comparable(&state), [true]);
}

/// With paths 1 to 5 of x k^path.
#[test]
fn recordings_of_past_constants_make_room_for_those_in_use() {
    let (backend, mut state) = (AutoReverseDiff::compiled(), CompiledState::default());
    let f = |x: &[Recorded], k: &f64| {
        let path = (1..5).find(|path| x[0] < f64::from(*path)).unwrap_or(5);
        (0..path).fold(x[0], |power, _| power * *k)
    };
    let mut runs_of_a_round = |k: f64| {
        let before = state.runs();
        for x in [0.5, 1.5, 0.5, 2.5, 0.5, 3.5, 0.5, 4.5] {
            assert_eq!(value(&mut state, &backend, f, &[x], k), x * k.powi(x as i32 + 1));
        }
        state.runs() - before
    };
    assert_eq!([2.0, 2.0].map(&mut runs_of_a_round), [5, 0]);
    // Eight recordings are kept.
    assert_eq!([5.0, 5.0, 5.0].map(&mut runs_of_a_round), [5, 0, 0]);
}
