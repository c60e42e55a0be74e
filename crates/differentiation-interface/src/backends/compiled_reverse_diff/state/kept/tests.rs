//! What becomes of kept recordings whose new programs are not used.

use super::*;
use crate::backends::compiled_reverse_diff::requested::Order;
use differentiation_interface_core::backend::EntryRequest;
use differentiation_interface_core::context::Constant;
use differentiation_interface_core::evaluate::{Bound, Storage};
use differentiation_interface_core::point::At;
use num_traits::Float;

const TASK: Task = Task::HessianProducts(2, false);

/// Binds k sin(x₀) x₁, or k cos(x₀) x₁ on the path of negative x₀.
fn bound<T>(x: &[f64], k: f64, go: impl FnOnce(&mut dyn Flat<Recorded>) -> T) -> T {
    let f = |x: &[Recorded], k: &f64| if x[0] > 0.0 { x[0].sin() * x[1] * *k } else { x[0].cos() * x[1] * *k };
    let (point, mut memory, mut kept) = ((x, Constant(&k)), Vec::new(), Default::default());
    let at = At::new(&point, &mut memory);
    let mut storage = Storage::new(at);
    go(&mut Bound::new(&f, at, &mut storage, &mut kept))
}

/// A state that requests the Hessian, whose entries are put off.
fn state() -> CompiledState<f64> {
    let mut values: Vec<f64> = Vec::new();
    let request = EntryRequest { pattern: None, values: Rows::growing(&mut values, 2), products: usize::MAX };
    let mut requested = RequestedEntries::of(Order::Second, &request, Limits::default());
    requested.afford(Some(0));
    CompiledState { requested, ..CompiledState::default() }
}

/// What compiling took, of all recordings.
fn price(state: &CompiledState<f64>) -> f64 {
    state.costs().map(|cost| cost.price).sum()
}

/// A point of each path.
const POINTS: [[f64; 2]; 2] = [[0.5, 2.0], [-0.5, 2.0]];

/// Makes a program of both paths, with these times.
fn both_paths(times: [f64; 2]) -> CompiledState<f64> {
    let mut state = state();
    for (x, time) in POINTS.into_iter().zip(times) {
        bound(&x, 3.0, |f| {
            state.try_out(Limits::default(), f, &x).unwrap();
            state.adopt(Limits::default(), f, &x).unwrap();
        });
        state.note_cost(time, 1.0, 5.0);
    }
    assert!(state.count() == 2 && state.all_postponed().all(|postponed| postponed.is_some()));
    state
}

#[test]
fn entries_are_compiled_for_all_recordings_or_none() {
    let mut state = both_paths([f64::MAX, f64::MAX]);
    let of_entries: u64 = state.all_postponed().flatten().sum();
    assert_eq!(price(&state), 2.0 * 5.0);
    let (made, taken) = state.compile_postponed(TASK, 1.0);
    assert_eq!((made.len(), taken), (2, of_entries as f64));
    assert_eq!(price(&state), 2.0 * 5.0 + of_entries as f64);
    // The gradient comes from a program of its own.
    let time = |with_gradient| state.measure(Task::HessianProducts(2, with_gradient)).unwrap();
    let (alone, both) = (time(false), time(true));
    assert!(both.time > alone.time || !both.is_code, "{alone:?} {both:?}");
    assert!(state.count_with_entries() == 2 && state.all_postponed().next().is_none());

    for slow in [0, 1] {
        let mut times = [f64::MAX; 2];
        times[slow] = 0.0;
        let mut state = both_paths(times);
        // What comes after a slow one is not compiled.
        let compiled: u64 = state.all_postponed().flatten().take(slow + 1).sum();
        let (made, taken) = state.compile_postponed(TASK, 1.0);
        assert_eq!((made.len(), taken), (0, compiled as f64));
        assert!(state.recordings.iter().all(|held| !held.recording.has_entries()));
        // They are not compiled again, and their graph is gone.
        assert!(state.all_postponed().nth(slow).unwrap().is_none());
        assert_eq!(state.recordings[slow].recording.postponed(), None);
    }
}

/// Seeds of colours and the collection of entries take time beside the program.
#[test]
fn products_of_a_sparse_hessian_take_longer_than_their_program() {
    let mut state = both_paths([1.0; 2]);
    let of_program = state.measure(TASK).unwrap().time;
    let (mut values, pattern) = (Vec::new(), Some((&[0, 2, 3][..], &[0, 1, 0][..])));
    let request = EntryRequest { pattern, values: Rows::growing(&mut values, 1), products: 2 };
    state.requested = RequestedEntries::of::<f64>(Order::Second, &request, Limits::default());
    assert_eq!(state.measure(TASK).unwrap().time, of_program + 0.3 * (2.0 * 2.0));
    // Entries are filled by their program alone.
    state.compile_postponed(TASK, f64::MAX);
    let of_entries = state.measure(TASK).unwrap().time;
    state.requested = Default::default();
    assert_eq!(state.measure(TASK).unwrap().time, of_entries);
}

/// Calls are counted at the time of the program that computed them.
#[test]
fn calls_take_as_long_as_their_programs() {
    let mut state = both_paths([7.0, 100.0]);
    let mut call = |path: usize, times: u64| {
        for _ in 0..times {
            let (mut memory, x) = (Vec::new(), &POINTS[path]);
            let rows = &mut Rows::growing(&mut memory, 2);
            let seeds = Seeds::Basis { first: 0, count: 2 };
            let done = bound(x, 3.0, |f| state.hessian_products_by_kept(f.recordable(), x, &seeds, false, rows));
            assert_eq!(done.unwrap(), ByKept::Done);
        }
        state.take_time_of_calls()
    };
    assert_eq!(call(0, 10), 70.0);
    assert_eq!(call(1, 4), 400.0);
    assert_eq!(call(1, 0), 0.0);
    assert_eq!(call(1, 12), 1200.0);
}

/// Those by small programs too, of a product and of entries.
#[cfg(all(not(ad_interpreter), target_arch = "x86_64", any(unix, windows)))]
#[test]
fn calls_by_small_programs_are_counted() {
    let mut state = both_paths([7.0, 100.0]);
    let (x, tangent, mut product) = (POINTS[1], [1.0, 0.0], [0.0; 2]);
    let seeds = Seeds::Vectors(&[&tangent]);
    let first = bound(&x, 3.0, |f| {
        let rows = &mut Rows::fixed(&mut product, 2);
        state.hessian_products_by_kept(f.recordable(), &x, &seeds, false, rows)
    });
    assert_eq!((first.unwrap(), state.take_time_of_calls()), (ByKept::Done, 100.0));
    for _ in 0..5 {
        assert!(bound(&x, 3.0, |f| state.fill_hessian_product(f.recordable(), &x, &tangent, &mut product)));
    }
    assert_eq!(state.take_time_of_calls(), 500.0);

    state.compile_postponed(TASK, f64::MAX);
    state.recordings.iter_mut().for_each(|held| held.cost.of_program = 3.0);
    let (mut values, mut constants) = ([0.0; 4], ConstantEntries::default());
    let mut by_small = 0;
    for _ in 0..10 {
        let is_small = bound(&x, 3.0, |f| state.fill_entries(f.recordable(), &x, (&mut values, &mut constants)));
        by_small += u32::from(is_small);
        if !is_small {
            let values = (&mut values[..], &mut constants);
            let done = bound(&x, 3.0, |f| state.entries_by_kept(f.recordable(), &x, values, false, false));
            assert_eq!(done.unwrap(), ByKept::Done);
        }
    }
    assert!(by_small > 5);
    assert_eq!(state.take_time_of_calls(), 30.0);
}

/// A path has entries, another one has not: its products, and no others, serve where entries do not.
#[test]
fn entries_of_one_path_serve_beside_products_of_another() {
    for with_entries in [0, 1] {
        let mut state = both_paths([f64::MAX; 2]);
        let recording = state.recordings[with_entries].recording.with_entries().unwrap();
        state.recordings[with_entries] = held(recording, None);
        state.recordings[with_entries].constants = both_paths([1.0; 2]).recordings[with_entries].constants.clone();
        assert_eq!((state.count(), state.count_with_entries()), (2, 1));
        for (path, x) in POINTS.into_iter().enumerate() {
            // The Hessian of 3 sin(x₀) x₁ or 3 cos(x₀) x₁.
            let (second, mixed) = if path == 0 { (-x[0].sin(), x[0].cos()) } else { (-x[0].cos(), -x[0].sin()) };
            let expected = [3.0 * second * x[1], 3.0 * mixed, 3.0 * mixed, 0.0];
            let close = |found: &[f64]| found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14);
            let (mut entries, mut products) = ([f64::NAN; 4], vec![f64::NAN; 4]);
            let (by_entries, by_products) = bound(&x, 3.0, |f| {
                let f = f.recordable();
                let values = (&mut entries[..], &mut ConstantEntries::default());
                let by_entries = state.entries_by_kept(f, &x, values, false, false).unwrap();
                let rows = &mut Rows::fixed(&mut products, 2);
                (by_entries, state.hessian_products_by_kept(f, &x, &Seeds::all(2), false, rows).unwrap())
            });
            let (served, found) =
                if path == with_entries { (by_entries, &entries[..]) } else { (by_products, &products[..]) };
            assert!(served == ByKept::Done && close(found), "{found:?} for {expected:?}");
            let other = if path == with_entries { by_products } else { by_entries };
            assert_eq!(other, ByKept::OtherPath);
        }
    }
}

#[test]
fn a_refused_program_gives_back_those_it_replaces() {
    let (mut state, x) = (state(), [0.5, 2.0]);
    let follow = |state: &mut CompiledState<f64>, k| {
        bound(&x, k, |f| {
            state.try_out(Limits::default(), f, &x).unwrap();
            state.follow(f.recordable(), 8).unwrap().expect("a new program")
        })
    };
    let serves = |state: &mut CompiledState<f64>, k| bound(&x, k, |f| state.value_by_kept(f.recordable(), &x).unwrap());
    bound(&x, 1.0, |f| {
        state.try_out(Limits::default(), f, &x).unwrap();
        state.adopt(Limits::default(), f, &x).unwrap();
    });
    assert!(follow(&mut state, 2.0).0.is_empty());
    assert_eq!([1.0, 2.0, 3.0].map(|k| serves(&mut state, k) == ByKept::Done), [true, true, false]);
    let replaced = follow(&mut state, 3.0);
    assert_eq!((state.count(), replaced.0.len()), (1, 2));
    assert_eq!([1.0, 2.0, 3.0].map(|k| serves(&mut state, k) == ByKept::Done), [false, false, true]);
    state.forget_current(replaced);
    assert_eq!([1.0, 2.0, 3.0].map(|k| serves(&mut state, k) == ByKept::Done), [true, true, false]);
    assert_eq!(state.outputs(), [0.5f64.sin() * 2.0 * 2.0]);
}

/// Their constants are others, and the new program does not take their points.
#[test]
fn programs_of_other_lengths_stay_where_constants_change() {
    let mut state = state();
    let points: [&[f64]; 2] = [&[0.5, 2.0], &[0.5, 2.0, 1.0]];
    for x in points {
        bound(x, 1.0, |f| {
            state.try_out(Limits::default(), f, x).unwrap();
            state.adopt(Limits::default(), f, x).unwrap();
        });
    }
    for k in [2.0, 3.0] {
        bound(points[0], k, |f| {
            state.try_out(Limits::default(), f, points[0]).unwrap();
            state.follow(f.recordable(), 8).unwrap().expect("a new program");
        });
    }
    let mut serves = |x: &[f64], k| bound(x, k, |f| state.value_by_kept(f.recordable(), x).unwrap());
    assert_eq!((serves(points[0], 3.0), serves(points[0], 1.0)), (ByKept::Done, ByKept::OtherConstants));
    assert_eq!(serves(points[1], 1.0), ByKept::Done);
}
