//! Every engine on the scenarios at containers, and at a struct of all of them.

use differentiation_interface::prelude::*;
use differentiation_interface_test::families::*;
use differentiation_interface_test::*;
use faer::Mat;
use nalgebra::{DMatrix, DVector, SVector};
use ndarray::Array2;
use num_complex::Complex;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

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

/// An object with `list` numbers in its list, 20 besides.
fn everything(list: usize) -> Everything {
    Everything {
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
    }
}

impl<T: Real> Function<Everything<T>> for Cubes {
    type Output = T;
    fn call(&self, x: &Everything<T>) -> T {
        let (([a, b], c), m, t) = (x.pair, &x.matrix, &x.table);
        let few = [x.scale, a, b, c.unwrap_or_default(), x.wave.re, x.wave.im, x.fixed[0], x.fixed[1]];
        let vectors = few.into_iter().chain(x.vector.iter().copied());
        let matrices = [m[(0, 0)], m[(1, 0)], m[(0, 1)], m[(1, 1)], t[[0, 0]], t[[0, 1]], t[[0, 2]]];
        let blocks = [x.block[(0, 0)], x.block[(0, 1)]];
        Cubes::of(vectors.chain(matrices).chain(blocks).chain(x.list.iter().copied()))
    }
}

impl<T: Real> Function<Everything<T>> for Squares {
    type Output = Everything<T>;
    fn call(&self, x: &Everything<T>) -> Everything<T> {
        let mut step = Squares::steps();
        Everything {
            scale: step(x.scale),
            pair: (x.pair.0.map(&mut step), x.pair.1.map(&mut step)),
            wave: Complex::new(step(x.wave.re), step(x.wave.im)),
            fixed: x.fixed.map(&mut step),
            vector: x.vector.map(&mut step),
            matrix: x.matrix.map(&mut step),
            table: x.table.mapv(&mut step),
            block: Mat::from_fn(1, 2, |i, j| step(x.block[(i, j)])),
            list: x.list.iter().map(|v| step(*v)).collect(),
            label: x.label.clone(),
        }
    }
}

/// A curve in the space of [`Everything`]: every number is its index times t³.
#[derive(Clone)]
struct Curve;
impl<T: Real> Function<T> for Curve {
    type Output = Everything<T>;
    fn call(&self, t: &T) -> Everything<T> {
        let numbers: Vec<T> = (0..22).map(|k| *t * *t * *t * k as f64).collect();
        from_flat(&everything(2), &numbers).expect("22 numbers")
    }
}

/// Checks one backend on all of them, and returns the number of scenarios.
macro_rules! conforms {
    ($($test:ident: $backend:expr, $count:expr;)*) => {$(
        #[test]
        fn $test() {
            let backends = ($backend,);
            let options = Options::default();
            let along: Vec<f64> = (0..22).map(|k| 12.0 * k as f64).collect();
            let outcomes = [
                test_differentiation(&backends, &container_scenarios(), &options),
                test_differentiation(&backends, &nalgebra_scenarios(), &options),
                test_differentiation(&backends, &ndarray_scenarios(), &options),
                test_differentiation(&backends, &faer_scenarios(), &options),
                test_differentiation(&backends, &complex_scenarios(), &options),
                test_differentiation(&backends, &(
                    at_container(&everything(2), Some(&everything(5))),
                    Scenario::derivative(Curve, 2.0).expecting(along.clone()).making_values(),
                    Scenario::second_derivative(Curve, 2.0).expecting_first(along.clone()).expecting(along).making_values(),
                ), &options),
            ];
            outcomes.iter().for_each(Outcome::assert);
            let scenarios: usize = outcomes.iter().map(|outcome| outcome.counts()[0].scenarios).sum();
            assert_eq!(scenarios, $count);
        }
    )*};
}
conforms! {
    forward_diff: AutoForwardDiff::default(), 366;
    reverse_diff: AutoReverseDiff::default(), 366;
    compiled_reverse_diff: AutoReverseDiff::compiled(), 366;
    finite_diff: AutoFiniteDiff::central(), 366;
    finite_differences: AutoFiniteDifferences::central(), 366;
    chosen_at_run_time: "ReverseDiff(tape=true)".parse::<AnyBackend>().unwrap(), 366;
    forward_over_reverse: second_order_only(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default())), 85;
    sparse: matrices_only("sparse", AutoSparse::new(AutoForwardDiff::default())), 56;
}
