//! Shapes of functions and points, contexts, custom rules, generators, edge cases.

mod generators;

use differentiation_interface_core::context::{Cache, Constant};
use differentiation_interface_core::custom::{Custom, PlainRule};
use differentiation_interface_core::{Real, Scalar, in_place};
use num_traits::Float;
use sparsity_tracer::{
    ErrorKind, Global, Gradient, Local, Pattern, SparsityDetector, Tracer, TracerLocalSparsityDetector,
    TracerSparsityDetector, dense_dependence, hessian_sparsity, jacobian_sparsity, release_memory,
};

const GLOBAL: TracerSparsityDetector = TracerSparsityDetector;
const LOCAL: TracerLocalSparsityDetector = TracerLocalSparsityDetector;

fn entries(pattern: &Pattern) -> Vec<(usize, usize)> {
    pattern.entries().collect()
}

#[test]
fn numbers_and_arrays_come_in_and_go_out() {
    assert_eq!(entries(&jacobian_sparsity(&|x| f64_free(x), &GLOBAL, 2.0).unwrap()), [(0, 0)]);
    let p = jacobian_sparsity(&|x: Tracer<f64, Global, Gradient>| [x.floor(), x, 2.0 * x], &GLOBAL, 2.0).unwrap();
    assert_eq!((p.nrows(), p.ncols(), entries(&p)), (3, 1, vec![(1, 0), (2, 0)]));
    let p = jacobian_sparsity(&|x: &[_; 3]| [x[2], x[0] + x[1]], &LOCAL, [1.0, 2.0, 3.0]).unwrap();
    assert_eq!(entries(&p), [(0, 2), (1, 0), (1, 1)]);
    let p = hessian_sparsity(&|x| f64_free(x), &GLOBAL, 2.0).unwrap();
    assert_eq!(entries(&p), [(0, 0)]);
    let p = jacobian_sparsity(&|x: &[Tracer<f32, Local, Gradient>]| x[0] * x[1], &LOCAL, &[0.0f32, 1.0]).unwrap();
    assert_eq!(entries(&p), [(0, 0)]);
    let f = in_place(
        |y: &mut [_], x: &[_]| {
            y.fill(Default::default());
            y[1] = x[0] * x[1];
        },
        3,
    );
    assert_eq!(entries(&jacobian_sparsity(&f, &GLOBAL, &[1.0, 2.0]).unwrap()), [(1, 0), (1, 1)]);
}

fn f64_free<T: Real>(x: T) -> T {
    x.sin() * 3.0
}

#[test]
fn contexts_are_passed() {
    fn scaled<T: Real>(x: &[T], k: f64, w: &mut [T]) -> Vec<T> {
        w[0] = x[0] * k;
        w[1] = x[2] + 1.0;
        vec![w[0], w[1] * w[0]]
    }
    let (k, w) = (3.0, vec![0.0; 2]);
    let p = jacobian_sparsity(
        &|x: &[_], k: &f64, w: &mut Vec<_>| scaled(x, *k, w),
        &GLOBAL,
        (&[1.0, 2.0, 3.0], Constant(&k), Cache(&w)),
    )
    .unwrap();
    assert_eq!(entries(&p), [(0, 0), (1, 0), (1, 2)]);
    let p = jacobian_sparsity(
        &|x: &[_], k: &f64, w: &mut Vec<_>| scaled(x, *k, w),
        &LOCAL,
        (&[1.0, 2.0, 3.0], Constant(&0.0), Cache(&w)),
    )
    .unwrap();
    assert_eq!(entries(&p), []);
    let f = |x: &[_], k: &f64| x[0] * x[1] * *k;
    let p = hessian_sparsity(&f, &GLOBAL, (&[1.0, 2.0], Constant(&k))).unwrap();
    assert_eq!(entries(&p), [(0, 1), (1, 0)]);
    let f = in_place(|y: &mut [_], x: &[_], k: &f64| y[0] = x[1] / *k, 1);
    assert_eq!(entries(&jacobian_sparsity(&f, &GLOBAL, (&[1.0, 2.0], Constant(&k))).unwrap()), [(0, 1)]);
}

#[test]
fn empty_and_constant_functions_have_empty_patterns() {
    let p = jacobian_sparsity(
        &|_: &[Tracer<f64, Global, Gradient>]| Vec::<Tracer<f64, Global, Gradient>>::new(),
        &GLOBAL,
        &[1.0],
    )
    .unwrap();
    assert_eq!((p.nrows(), p.ncols(), p.nnz()), (0, 1, 0));
    let none: [f64; 0] = [];
    let p = jacobian_sparsity(&|_: &[_]| vec![Tracer::<f64, Global, Gradient>::constant(1.0)], &GLOBAL, &none).unwrap();
    assert_eq!((p.nrows(), p.ncols(), p.nnz()), (1, 0, 0));
    let p = hessian_sparsity(&|x: &[T2]| x[0].floor() + 1.0, &GLOBAL, &[1.0, 2.0]).unwrap();
    assert_eq!((p.nrows(), p.ncols(), p.nnz()), (2, 2, 0));
    let p = hessian_sparsity(&|_: &[_]| Tracer::<f64, Local, sparsity_tracer::Hessian>::constant(1.0), &LOCAL, &none)
        .unwrap();
    assert_eq!((p.nrows(), p.ncols(), p.nnz()), (0, 0, 0));
}

#[test]
fn hessian_of_several_outputs_is_an_error() {
    struct Two;
    impl<N: Scalar> differentiation_interface_core::evaluate::Flat<N> for Two {
        fn call(&mut self, x: &[N], y: &mut Vec<N>) {
            *y = vec![x[0]; 2];
        }
        fn has_work_memory(&self) -> bool {
            false
        }
    }
    let kind = GLOBAL.hessian(&mut Two, &[1.0]).unwrap_err().kind();
    assert_eq!(kind, ErrorKind::OutputLength { expected: 1, found: 2 });
}

#[test]
fn custom_rules_are_dense() {
    let rule = Custom::new(
        PlainRule::new("swap", |x: &[f64], y: &mut Vec<f64>| *y = vec![x[1], x[0], 1.0])
            .with_pullback(|_: &[f64], _: &[f64], dy: &[f64], dx: &mut [f64]| (dx[0], dx[1]) = (dy[1], dy[0])),
    );
    let f = |x: &[_]| rule.call(&[x[0], x[2]]);
    let p = jacobian_sparsity(&f, &GLOBAL, &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(entries(&p), [(0, 0), (0, 2), (1, 0), (1, 2), (2, 0), (2, 2)]);
    let p = hessian_sparsity(&|x: &[_]| rule.call(&[x[0], x[2]])[0], &LOCAL, &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(entries(&p), [(0, 0), (0, 2), (2, 0), (2, 2)]);
    // Constants stay constants, with their values.
    type T1 = Tracer<f64, Global, Gradient>;
    let f = |x: &[T1]| if rule.call(&[T1::constant(4.0), T1::constant(5.0)])[0] == 5.0 { x[1] } else { x[0] };
    assert_eq!(entries(&jacobian_sparsity(&f, &GLOBAL, &[1.0, 2.0]).unwrap()), [(0, 1)]);
}

#[test]
fn dense_dependence_reaches_second_order() {
    let f = |x: &[_]| dense_dependence(&[x[0], x[1] * x[2]], 7.0);
    let p = hessian_sparsity(&f, &GLOBAL, &[1.0; 4]).unwrap();
    assert_eq!(p.nnz(), 9);
    let f = |x: &[_]| dense_dependence(&[x[0], x[1] * 0.0], 7.0);
    assert_eq!(entries(&jacobian_sparsity(&f, &LOCAL, &[1.0; 2]).unwrap()), [(0, 0)]);
}

#[test]
fn generated_patterns_have_the_known_sizes() {
    for n in [6, 32] {
        let p = jacobian_sparsity(&|x: &[_]| generators::brusselator(x, n), &GLOBAL, &vec![1.0; 2 * n * n]).unwrap();
        assert_eq!(p.nnz(), 12 * n * n);
    }
    let p = jacobian_sparsity(&|x: &[_]| generators::conv2d(x, 28, 28, 3, 2, 3), &GLOBAL, &vec![1.0; 2352]).unwrap();
    assert_eq!((p.nrows(), p.ncols(), p.nnz()), (1352, 2352, 36504));

    fn lorenz96<T: Real>(x: &[T]) -> Vec<T> {
        let n = x.len();
        (0..n).map(|i| (x[(i + 1) % n] - x[(i + n - 2) % n]) * x[(i + n - 1) % n] - x[i] + 8.0).collect()
    }
    let n = 40;
    let expected = Pattern::from_triplets(n, n, (0..n).flat_map(|i| [0, 1, n - 1, n - 2].map(|d| (i, (i + d) % n))));
    assert_eq!(jacobian_sparsity(&|x: &[_]| lorenz96(x), &GLOBAL, &vec![1.0; n]).unwrap(), expected.unwrap());

    for steps in [1, 2, 5, 20, 60] {
        let f = |x: &[_]| (0..steps).fold(x.to_vec(), |u, _| generators::euler(&u));
        let p = jacobian_sparsity(&f, &GLOBAL, &vec![1.0; 50]).unwrap();
        assert_eq!(p, Pattern::banded(50, steps).unwrap(), "{steps} steps");
    }
}

#[test]
fn detections_repeat_and_memory_is_released() {
    let f = |x: &[_]| generators::brusselator(x, 5);
    let first = jacobian_sparsity(&f, &GLOBAL, &vec![1.0; 50]).unwrap();
    assert_eq!(jacobian_sparsity(&f, &GLOBAL, &vec![2.0; 50]).unwrap(), first);
    release_memory();
    assert_eq!(jacobian_sparsity(&f, &GLOBAL, &vec![3.0; 50]).unwrap(), first);
}

#[test]
fn hessians_with_long_lists_are_right() {
    // Dense: (Σ x)²; bordered: x₀ Σ x; a product of many factors.
    let n = 90;
    let x = vec![1.0; n];
    let p = hessian_sparsity(&|x: &[_]| x.iter().sum::<T2>().powi(2), &GLOBAL, &x).unwrap();
    assert_eq!(p, Pattern::dense(n, n).unwrap());
    let p = hessian_sparsity(&|x: &[_]| x[0] * x[1..].iter().sum::<T2>(), &GLOBAL, &x).unwrap();
    assert_eq!(p, Pattern::from_fn(n, n, |i, j| (i == 0) != (j == 0)).unwrap());
    let p = hessian_sparsity(&|x: &[_]| x.iter().product::<T2>(), &GLOBAL, &x).unwrap();
    assert_eq!(p, Pattern::from_fn(n, n, |i, j| i != j).unwrap());
}

type T2 = Tracer<f64, Global, sparsity_tracer::Hessian>;
