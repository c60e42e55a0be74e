//! Tests of functions bound to their contexts.

use super::*;
use crate::context::{Cache, Constant};
use crate::point::At;
use crate::point::Point;

/// Calls `has_work_memory` as a backend does, on a function of a point with contexts.
fn has_work_memory<P: Point, F: Evaluate<P::Shape, P::Contexts, f64>>(f: &F, point: &P) -> bool {
    let mut memory = Vec::new();
    let at = At::new(point, &mut memory);
    let (mut storage, mut kept) = (Storage::new(at), Default::default());
    Bound::<_, P::Shape, P::Contexts, f64, _>::new(f, at, &mut storage, &mut kept).has_work_memory()
}

#[test]
fn outputs_of_a_call_apart_fit_or_are_not_written() {
    let squares = |x: &[f64]| x.iter().map(|v| v * v).collect::<Vec<f64>>();
    let (x, mut memory) = (&[3.0, 2.0][..], Vec::new());
    let at = At::new(&x, &mut memory);
    let (mut storage, mut kept) = (Storage::new(at), Default::default());
    let mut f = Bound::new(&squares, at, &mut storage, &mut kept);
    let (mut y, mut short) = ([0.0; 2], [0.5; 1]);
    assert_eq!((f.call_apart(x, &mut y, 1.0), y), (2, [9.0, 4.0]));
    assert_eq!((f.call_apart(x, &mut short, 1.0), short), (2, [0.5]));
}

#[test]
fn work_memory_is_seen() {
    let plain = |x: &[f64]| x[0];
    let scaled = |x: &[f64], k: &f64| k * x[0];
    let buffered = |x: &[f64], k: &f64, work: &mut Vec<f64>| {
        work[0] = k * x[0];
        work[0]
    };
    let x = [1.0];
    assert!(!has_work_memory(&plain, &&x[..]));
    assert!(!has_work_memory(&scaled, &(&x[..], Constant(&2.0))));
    assert!(has_work_memory(&buffered, &(&x[..], Constant(&2.0), Cache(&[0.0][..]))));
}
