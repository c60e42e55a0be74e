//! Scenarios of the test kit at containers, run by every engine: each container as a point and as an output, and a struct of all
//! of them in all operators.
//!
//! Every scenario compiles all variants of its operator for every engine, so containers share two functions with closed derivatives.

use differentiation_interface::container::Object;
use differentiation_interface::prelude::*;
use differentiation_interface_test::*;
use faer::Mat;
use nalgebra::{DMatrix, DVector, SMatrix, SVector};
use ndarray::Array2;
use num_complex::Complex;

/// Every kind of container as a field.
#[derive(Clone, Debug, PartialEq, Container)]
struct Everything<T = f64> {
    scale: T,
    pair: ([T; 2], Option<T>),
    wave: Complex<T>,
    fixed: SVector<T, 2>,
    vector: DVector<T>,
    matrix: DMatrix<T>,
    table: Array2<T>,
    block: Mat<T>,
    list: Vec<T>,
    #[constant]
    label: String,
}

/// Entry `k` of every point.
fn entry(k: usize) -> f64 {
    1.0 + 0.5 * (k % 5) as f64
}

fn entries(n: usize) -> Vec<f64> {
    (0..n).map(entry).collect()
}

/// The object of this shape with the entries of every point.
fn filled<W: Object<Scalar = f64>>(like: &W) -> W {
    from_flat(like, &entries(to_flat(like).len())).unwrap()
}

/// An object with `list` numbers in its list, 20 besides.
fn everything(list: usize) -> Everything {
    filled(&Everything {
        scale: 0.0,
        pair: ([0.0; 2], Some(0.0)),
        wave: Complex::new(0.0, 0.0),
        fixed: SVector::zeros(),
        vector: DVector::zeros(3),
        matrix: DMatrix::zeros(2, 2),
        table: Array2::zeros((1, 3)),
        block: Mat::zeros(1, 2),
        list: vec![0.0; list],
        label: "cube".into(),
    })
}

/// Σ (k + 1) x_k³ over the numbers in their order, which each container reads by its own means: the gradient is 3 (k + 1) x_k², the
/// Hessian diagonal, 6 (k + 1) x_k.
struct Cubes;

fn cubes<T: Real>(numbers: impl IntoIterator<Item = T>) -> T {
    numbers.into_iter().enumerate().map(|(k, x)| x * x * x * (k + 1) as f64).sum()
}

/// The same container with the square of every number: the Jacobian is diagonal, 2 x_k.
struct Squares;

/// Both functions at a container: its numbers in order, and the container of their squares.
macro_rules! containers {
    ($($container:ty, |$x:ident| $numbers:expr, |$square:ident| $squares:expr;)*) => {$(
        impl<T: Real> Function<$container> for Cubes {
            type Output = T;
            fn call(&self, $x: &$container) -> T {
                cubes($numbers)
            }
        }
        impl<T: Real> Function<$container> for Squares {
            type Output = $container;
            fn call(&self, $x: &$container) -> $container {
                let $square = |x: T| x * x;
                $squares
            }
        }
    )*};
}
containers! {
    (T, Vec<T>), |x| std::iter::once(x.0).chain(x.1.iter().copied()),
        |square| (square(x.0), x.1.iter().map(|v| square(*v)).collect());
    Vec<Complex<T>>, |x| x.iter().flat_map(|z| [z.re, z.im]),
        |square| x.iter().map(|z| Complex::new(square(z.re), square(z.im))).collect();
    SMatrix<T, 2, 2>, |x| [x[(0, 0)], x[(1, 0)], x[(0, 1)], x[(1, 1)]], |square| x.map(square);
    DVector<T>, |x| (0..x.len()).map(|i| x[i]), |square| x.map(square);
    DMatrix<T>, |x| (0..x.ncols()).flat_map(|j| (0..x.nrows()).map(move |i| x[(i, j)])), |square| x.map(square);
    Array2<T>, |x| (0..x.nrows()).flat_map(|i| (0..x.ncols()).map(move |j| x[[i, j]])), |square| x.mapv(square);
    Mat<T>, |x| (0..x.ncols()).flat_map(|j| (0..x.nrows()).map(move |i| x[(i, j)])),
        |square| Mat::from_fn(x.nrows(), x.ncols(), |i, j| square(x[(i, j)]));
    Everything<T>, |x| {
        let (([a, b], c), m, t) = (x.pair, &x.matrix, &x.table);
        let few = [x.scale, a, b, c.unwrap_or_default(), x.wave.re, x.wave.im, x.fixed[0], x.fixed[1]];
        let vectors = few.into_iter().chain(x.vector.iter().copied()).chain([m[(0, 0)], m[(1, 0)], m[(0, 1)], m[(1, 1)]]);
        vectors.chain([t[[0, 0]], t[[0, 1]], t[[0, 2]], x.block[(0, 0)], x.block[(0, 1)]]).chain(x.list.iter().copied())
    }, |square| Everything {
        scale: square(x.scale),
        pair: (x.pair.0.map(square), x.pair.1.map(square)),
        wave: Complex::new(square(x.wave.re), square(x.wave.im)),
        fixed: x.fixed.map(square),
        vector: x.vector.map(square),
        matrix: x.matrix.map(square),
        table: x.table.mapv(square),
        block: Mat::from_fn(1, 2, |i, j| square(x.block[(i, j)])),
        list: x.list.iter().map(|v| square(*v)).collect(),
        label: x.label.clone(),
    };
}

/// A curve in the space of [`Everything`]: every number is its index times t³.
struct Curve;
impl<T: Real> Function<T> for Curve {
    type Output = Everything<T>;
    fn call(&self, t: &T) -> Everything<T> {
        let numbers: Vec<T> = (0..22).map(|k| *t * *t * *t * k as f64).collect();
        from_flat(&everything(2), &numbers).expect("22 numbers")
    }
}

/// A diagonal matrix, row by row.
fn diagonal(n: usize, entry: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..n * n).map(|place| if place / n == place % n { entry(place / n) } else { 0.0 }).collect()
}

fn first(n: usize) -> Vec<f64> {
    (0..n).map(|k| 3.0 * (k + 1) as f64 * entry(k) * entry(k)).collect()
}

fn seed(n: usize) -> Vec<f64> {
    (0..n).map(|k| 1.0 - 0.25 * (k % 3) as f64).collect()
}

/// The product of the seed with a diagonal matrix.
fn along_seed(n: usize, diagonal: impl Fn(usize) -> f64) -> Vec<f64> {
    seed(n).iter().enumerate().map(|(k, v)| v * diagonal(k)).collect()
}

/// Value, gradient and Hessian-vector product of [`Cubes`] and the Jacobian of [`Squares`] at a container.
fn of_container<W>(
    x: W,
    other: Option<W>,
) -> (Scenario<Hvp<1>, Cubes, OwnedContainer<W>>, Scenario<Jacobian, Squares, OwnedContainer<W>>)
where
    W: Object<Scalar = f64> + PartialEq + Sync,
    OwnedContainer<W>: OwnedPoint<Shape = Whole<W>>,
{
    let name = std::any::type_name::<W>();
    let x = OwnedContainer::new(filled(&x));
    let n = x.coordinates().len();
    let mut product = Scenario::hvp(Cubes, x.clone(), [seed(n)])
        .named(format!("cubes of {name}"))
        .expecting_first(first(n))
        .expecting(along_seed(n, |k| 6.0 * (k + 1) as f64 * entry(k)));
    let mut matrix =
        Scenario::jacobian(Squares, x).named(format!("squares of {name}")).expecting(diagonal(n, |k| 2.0 * entry(k)));
    if let Some(other) = other {
        let other = OwnedContainer::new(filled(&other));
        product = product.prepared_again_from(other.clone());
        matrix = matrix.prepared_again_from(other);
    }
    (product, matrix)
}

/// Runs all scenarios with one backend.
macro_rules! conforms {
    ($($test:ident: $backend:expr;)*) => {$(
        #[test]
        fn $test() {
            let backends = ($backend,);
            let n = 22;
            let x = || OwnedContainer::new(everything(2));
            let options = Options::default();
            let of_numbers = (
                Scenario::gradient(Cubes, x()).expecting(first(n)).prepared_again_from(OwnedContainer::new(everything(5))),
                Scenario::hessian(Cubes, x()).expecting_first(first(n)).expecting(diagonal(n, |k| 6.0 * (k + 1) as f64 * entry(k))),
                of_container(everything(2), Some(everything(5))).0,
                of_container((0.0, vec![0.0; 3]), Some((0.0, vec![0.0; 5]))).0,
                of_container(vec![Complex::new(0.0, 0.0); 2], Some(vec![Complex::new(0.0, 0.0); 4])).0,
                of_container(SMatrix::<f64, 2, 2>::zeros(), None),
                of_container(DVector::zeros(14), Some(DVector::zeros(5))).0,
                of_container(DMatrix::zeros(2, 3), Some(DMatrix::zeros(3, 3))).0,
                of_container(Array2::zeros((2, 3)), Some(Array2::zeros((3, 3)))).0,
                of_container(Mat::zeros(2, 3), Some(Mat::zeros(3, 3))).0,
            );
            test_differentiation(&backends, &of_numbers, &options).assert();
            // A value that is a container is an object of its own, which a call with value makes.
            let options = options.without(Check::Allocations);
            let of_objects = (
                Scenario::pushforward(Squares, x(), [seed(n)]).expecting(along_seed(n, |k| 2.0 * entry(k))),
                Scenario::pullback(Squares, x(), [seed(n)]).expecting(along_seed(n, |k| 2.0 * entry(k))),
                Scenario::derivative(Curve, 2.0).expecting((0..n).map(|k| 12.0 * k as f64).collect::<Vec<_>>()),
                Scenario::second_derivative(Curve, 2.0)
                    .expecting_first((0..n).map(|k| 12.0 * k as f64).collect::<Vec<_>>())
                    .expecting((0..n).map(|k| 12.0 * k as f64).collect::<Vec<_>>()),
                of_container(everything(2), Some(everything(5))).1,
                of_container((0.0, vec![0.0; 3]), Some((0.0, vec![0.0; 5]))).1,
                of_container(vec![Complex::new(0.0, 0.0); 2], Some(vec![Complex::new(0.0, 0.0); 4])).1,
                of_container(DVector::zeros(14), Some(DVector::zeros(5))).1,
                of_container(DMatrix::zeros(2, 3), Some(DMatrix::zeros(3, 3))).1,
                of_container(Array2::zeros((2, 3)), Some(Array2::zeros((3, 3)))).1,
                of_container(Mat::zeros(2, 3), Some(Mat::zeros(3, 3))).1,
            );
            test_differentiation(&backends, &of_objects, &options).assert();
        }
    )*};
}
conforms! {
    forward_diff: AutoForwardDiff::default();
    reverse_diff: AutoReverseDiff::default();
    compiled_reverse_diff: AutoReverseDiff::compiled();
    finite_diff: AutoFiniteDiff::central();
}
