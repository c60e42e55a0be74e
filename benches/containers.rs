//! Prepared gradients at containers beside the same gradient at a slice: Rosenbrock's function by forward mode, tape and compiled.
//!
//! `benches/containers.sh` prints the table of instructions by callgrind, for which this program repeats one way a given number of
//! times: `forward`, `tape` or `compiled`, the name of the point, the number of calls. Without arguments each way is compared with the
//! gradient by hand and must not allocate. `list` prints the names.
//!
//! Rows "slice read as ..." differentiate at a slice by a function that reads it through the indexing of the other crate: the difference
//! from the row `slice` is the cost of that indexing, the difference from there to the row of the container that of the interface.

mod workloads;

use differentiation_interface::container::to_flat;
use differentiation_interface::prelude::*;
use faer::{Mat, MatRef};
use nalgebra::{DMatrix, DMatrixView, DVector, DVectorView, SVector};
use ndarray::{Array1, ArrayView1, ShapeBuilder};
use std::hint::black_box;
use workloads::timing;

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

/// One term of the function.
#[cfg_attr(not(debug_assertions), inline(always))]
fn term<T: Real>(x: T, next: T) -> T {
    let (a, b) = (1.0 - x, next - x * x);
    a * a + 100.0 * b * b
}

/// The function of `n` entries that are read by index.
#[cfg_attr(not(debug_assertions), inline(always))]
fn indexed<T: Real>(n: usize, x: impl Fn(usize) -> T) -> T {
    let mut sum = T::zero();
    for i in 0..n - 1 {
        sum += term(x(i), x(i + 1));
    }
    sum
}

/// The function of the entries of a matrix, column by column.
#[cfg_attr(not(debug_assertions), inline(always))]
fn by_columns<T: Real>(rows: usize, columns: usize, m: impl Fn(usize, usize) -> T) -> T {
    let mut sum = T::zero();
    for j in 0..columns {
        for i in 0..rows - 1 {
            sum += term(m(i, j), m(i + 1, j));
        }
        if j + 1 < columns {
            sum += term(m(rows - 1, j), m(0, j + 1));
        }
    }
    sum
}

/// Ten numbers.
#[derive(Clone, Debug, Container)]
struct Ten<T = f64> {
    a: T,
    b: T,
    c: T,
    d: T,
    e: T,
    f: T,
    g: T,
    h: T,
    i: T,
    j: T,
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn of_numbers<T: Real>(x: &Ten<T>) -> T {
    let mut sum = T::zero();
    sum += term(x.a, x.b);
    sum += term(x.b, x.c);
    sum += term(x.c, x.d);
    sum += term(x.d, x.e);
    sum += term(x.e, x.f);
    sum += term(x.f, x.g);
    sum += term(x.g, x.h);
    sum += term(x.h, x.i);
    sum += term(x.i, x.j);
    sum
}

/// Ten numbers in five fields. The compiler moves the array to the front, so that the numbers do not lie in the order of the fields: they are gathered
/// and placed.
#[derive(Clone, Debug, Container)]
struct Fields<T = f64> {
    first: T,
    second: T,
    third: T,
    array: [T; 4],
    vector: SVector<T, 3>,
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn of_fields<T: Real>(x: &Fields<T>) -> T {
    let mut sum = T::zero();
    sum += term(x.first, x.second);
    sum += term(x.second, x.third);
    sum += term(x.third, x.array[0]);
    for i in 0..3 {
        sum += term(x.array[i], x.array[i + 1]);
    }
    sum += term(x.array[3], x.vector[0]);
    sum += term(x.vector[0], x.vector[1]);
    sum += term(x.vector[1], x.vector[2]);
    sum
}

/// The fields of [`Ten`] as parts of a slice.
#[cfg_attr(not(debug_assertions), inline(always))]
fn of_parts<T: Real>(x: &[T]) -> T {
    let &[a, b, c, d, e, f, g, h, i, j] = x else { return T::zero() };
    of_numbers(&Ten { a, b, c, d, e, f, g, h, i, j })
}

/// Two numbers of many.
#[derive(Clone, Debug, Container)]
struct Pair<T = f64> {
    left: T,
    right: T,
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn of_pairs<T: Real>(pairs: &[Pair<T>]) -> T {
    let mut sum = T::zero();
    for (i, pair) in pairs.iter().enumerate() {
        sum += term(pair.left, pair.right);
        if let Some(next) = pairs.get(i + 1) {
            sum += term(pair.right, next.left);
        }
    }
    sum
}

/// A long vector in a struct with one piece of numbers.
#[derive(Clone, Debug, Container)]
struct Long<T = f64> {
    values: Vec<T>,
}

/// A number and a long vector: two pieces, which are gathered and placed.
#[derive(Clone, Debug, Container)]
struct Pieces<T = f64> {
    first: T,
    others: Vec<T>,
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn of_pieces<T: Real>(x: &Pieces<T>) -> T {
    let others = &x.others;
    let mut sum = T::zero();
    sum += term(x.first, others[0]);
    for i in 0..others.len() - 1 {
        sum += term(others[i], others[i + 1]);
    }
    sum
}

/// Computes a gradient `times` times and writes the last one to the vector.
type Way = fn(&mut Vec<f64>, usize);

/// For each point a way by each engine. They are never inlined, so that the compiler optimises each alone.
macro_rules! ways {
    ($($name:literal at $point:expr, $f:expr;)*) => {
        vec![$(
            ($name, "forward", ways!(@way AutoForwardDiff::default(), $point, $f)),
            ($name, "tape", ways!(@way AutoReverseDiff::tape(), $point, $f)),
            ($name, "compiled", ways!(@way AutoReverseDiff::compiled(), $point, $f)),
        )*]
    };
    (@way $backend:expr, $point:expr, $f:expr) => {{
        #[inline(never)]
        fn way(result: &mut Vec<f64>, times: usize) {
            let x = $point;
            let (mut grad, f) = (x.clone(), $f);
            let mut prepared = prepare_gradient(&f, &$backend, &x).unwrap();
            for _ in 0..times {
                black_box(prepared.value_and_gradient_into(black_box(&mut grad), black_box(&x)).unwrap());
            }
            result.clear();
            result.extend(to_flat(&grad));
        }
        way as Way
    }};
}

fn entry(i: usize) -> f64 {
    0.5 + ((i * 7) % 11) as f64 / 16.0
}

fn vector(n: usize) -> Vec<f64> {
    (0..n).map(entry).collect()
}

/// Sizes and strides pass through `black_box` where the type does not tell them: the compiler knows those of a container in a preparation as little.
/// Name, engine, way. The first word of a name that ends in "1000" is the slice of that length.
fn ways() -> Vec<(&'static str, &'static str, Way)> {
    ways! {
        "slice" at vector(10), |x: &[_]| indexed(x.len(), |i| x[i]);
        "SVector" at SVector::<f64, 10>::from_fn(|i, _| entry(i)), |x: &SVector<_, 10>| indexed(x.len(), |i| x[i]);
        "slice read as Array1" at vector(10), |x: &[_]| {
            let x = ArrayView1::from_shape((x.len(),).strides((black_box(1),)), x).unwrap();
            indexed(x.len(), |i| x[i])
        };
        "Array1" at Array1::from(vector(10)), |x: &Array1<_>| indexed(x.len(), |i| x[i]);
        "slice read as DVector" at vector(10), |x: &[_]| {
            let x = DVectorView::from_slice(x, x.len());
            indexed(x.len(), |i| x[i])
        };
        "DVector" at DVector::from(vector(10)), |x: &DVector<_>| indexed(x.len(), |i| x[i]);
        "slice read as DMatrix" at vector(10), |x: &[_]| {
            let (rows, columns) = black_box((2, 5));
            let m = DMatrixView::from_slice(x, rows, columns);
            by_columns(m.nrows(), m.ncols(), |i, j| m[(i, j)])
        };
        "DMatrix" at DMatrix::from_vec(2, 5, vector(10)), |m: &DMatrix<_>| by_columns(m.nrows(), m.ncols(), |i, j| m[(i, j)]);
        "slice read as Mat" at vector(10), |x: &[_]| {
            let (rows, columns) = black_box((2, 5));
            let m = MatRef::from_column_major_slice(x, rows, columns);
            by_columns(m.nrows(), m.ncols(), |i, j| m[(i, j)])
        };
        "Mat" at Mat::from_fn(2, 5, |i, j| entry(2 * j + i)), |m: &Mat<_>| by_columns(m.nrows(), m.ncols(), |i, j| m[(i, j)]);
        "slice read as struct" at vector(10), |x: &[_]| of_parts(x);
        "struct" at Ten { a: entry(0), b: entry(1), c: entry(2), d: entry(3), e: entry(4), f: entry(5), g: entry(6), h: entry(7),
            i: entry(8), j: entry(9) }, |x: &Ten<_>| of_numbers(x);
        "struct of five fields" at Fields { first: entry(0), second: entry(1), third: entry(2), array: [3, 4, 5, 6].map(entry),
            vector: SVector::from([7, 8, 9].map(entry)) }, |x: &Fields<_>| of_fields(x);
        "slice 1000" at vector(1000), |x: &[_]| indexed(x.len(), |i| x[i]);
        "DVector 1000" at DVector::from(vector(1000)), |x: &DVector<_>| indexed(x.len(), |i| x[i]);
        "slice read as Array1 1000" at vector(1000), |x: &[_]| {
            let x = ArrayView1::from_shape((x.len(),).strides((black_box(1),)), x).unwrap();
            indexed(x.len(), |i| x[i])
        };
        "Array1 1000" at Array1::from(vector(1000)), |x: &Array1<_>| indexed(x.len(), |i| x[i]);
        "struct 1000" at Long { values: vector(1000) }, |x: &Long<_>| indexed(x.values.len(), |i| x.values[i]);
        "tuple of a list of structs 1000" at ((0..500).map(|i| Pair { left: entry(2 * i), right: entry(2 * i + 1) }).collect::<Vec<_>>(),),
            |(pairs,): &(Vec<Pair<_>>,)| of_pairs(pairs);
        "struct of two pieces 1000" at Pieces { first: entry(0), others: vector(1000)[1..].to_vec() },
            |x: &Pieces<_>| of_pieces(x);
    }
}

/// The gradient by hand at the first `n` entries.
fn by_hand(n: usize) -> Vec<f64> {
    let (x, mut grad) = (vector(n), vec![0.0; n]);
    for i in 0..n - 1 {
        let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
        grad[i] += -2.0 * a - 400.0 * x[i] * b;
        grad[i + 1] += 200.0 * b;
    }
    grad
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ways = ways();
    match &arguments[..] {
        [list] if list == "list" => ways.iter().step_by(3).for_each(|(name, ..)| println!("{name}")),
        [engine, name, times] => {
            let way = ways.iter().find(|way| way.0 == name && way.1 == engine).expect("the way is listed");
            way.2(&mut Vec::new(), times.parse().expect("the third argument is a number of calls"));
        }
        _ => {
            for (name, engine, way) in ways {
                let mut grad = Vec::with_capacity(1000);
                way(&mut grad, 1);
                let expected = by_hand(grad.len());
                let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
                assert!(grad.iter().zip(&expected).all(close), "{engine}, {name}: {grad:?}, by hand {expected:?}");
                let (few, many) =
                    (timing::allocations(|| way(&mut grad, 1)), timing::allocations(|| way(&mut grad, 101)));
                assert_eq!(few, many, "{engine}, {name}: a call allocates");
            }
        }
    }
}
