//! Contexts: constants, caches and bundles of them, in every operator, function form and backend.

use crate::support;

use crate::pairs::{assert_near, each_pair};
use crate::support::{assert_close, each_engine};
use differentiation_interface::function::{Const, Work};
use differentiation_interface::prelude::*;
use differentiation_interface_test::allocated_bytes;

/// f = k x₀² x₁ through work memory, whose content at entry is rubbish.
fn scaled_cubic<T: Real>(x: &[T], k: f64, work: &mut [T]) -> T {
    work[0] = x[0] * x[0];
    work[1] = work[0] * x[1];
    k * work[1]
}
/// (k x₀ x₁, k + x₁).
fn pair<T: Real>(y: &mut [T], x: &[T], k: f64, work: &mut [T]) {
    work[0] = x[0] * x[1];
    y[0] = k * work[0];
    y[1] = k + x[1];
}
/// k t³ through a number.
fn cube<T: Real>(t: T, k: f64, work: &mut T) -> T {
    *work = t * t;
    k * *work * t
}
/// (k t², k t³).
fn powers<T: Real>(y: &mut [T], t: T, k: f64, work: &mut T) {
    *work = k * t * t;
    y[0] = *work;
    y[1] = *work * t;
}

const X: [f64; 2] = [2.0, 5.0];

/// Prepared with one constant and called with two others, the second one at another length of an unused cache.
#[test]
fn the_constant_of_the_call_counts_in_every_first_order_operator() {
    let work = [f64::NAN; 2];
    let other = [0.0; 2];
    each_engine!(|backend, tolerance| {
        let name = support::name_of(&backend);
        let near = |found: &[f64], expected: &[f64]| assert_near(name, found, expected, tolerance);
        let f = |x: &[_], k: &f64, w: &mut Vec<_>| scaled_cubic(x, *k, w);
        let mut grad = prepare_gradient(&f, &backend, (&other, Constant(&-3.0), Cache(&work[..]))).unwrap();
        let f2 = in_place(|y: &mut [_], x: &[_], k: &f64, w: &mut [_; 2]| pair(y, x, *k, w), 2);
        let mut jac = prepare_jacobian(&f2, &backend, (&other, Constant(&-3.0), Cache(&work))).unwrap();
        let f3 = in_place(|y: &mut [_], x: &[_], k: &f64, w: &mut [_; 2]| pair(y, x, *k, w), 2);
        let mut push =
            prepare_pushforward(&f3, &backend, (&other, Constant(&-3.0), Cache(&work)), [&[1.0, 0.0]]).unwrap();
        let f4 = in_place(|y: &mut [_], x: &[_], k: &f64, w: &mut [_; 2]| pair(y, x, *k, w), 2);
        let mut pull = prepare_pullback(&f4, &backend, (&other, Constant(&-3.0), Cache(&work)), [&[1.0, 0.0]]).unwrap();
        let f5 = |t, k: &f64, w: &mut _| cube(t, *k, w);
        let mut der = prepare_derivative(&f5, &backend, (0.5, Constant(&-3.0), Cache(&0.0))).unwrap();
        let f6 = in_place(|y: &mut [_], t, k: &f64, w: &mut _| powers(y, t, *k, w), 2);
        let mut ders = prepare_derivative(&f6, &backend, (0.5, Constant(&-3.0), Cache(&0.0))).unwrap();
        for k in [3.0, 7.0] {
            let c = Constant(&k);
            let (y, g) = grad.value_and_gradient((&X, c, Cache(&work[..]))).unwrap();
            near(&[y], &[20.0 * k]);
            near(&g, &[20.0 * k, 4.0 * k]);
            let (y, j) = jac.value_and_jacobian((&X, c, Cache(&work))).unwrap();
            near(&y, &[10.0 * k, k + 5.0]);
            near(j.as_slice(), &[5.0 * k, 2.0 * k, 0.0, 1.0]);
            let [dy] = push.pushforward((&X, c, Cache(&work)), [&[1.0, 2.0]]).unwrap();
            near(&dy, &[9.0 * k, 2.0]);
            let [dx] = pull.pullback((&X, c, Cache(&work)), [&[1.0, 3.0]]).unwrap();
            near(&dx, &[5.0 * k, 2.0 * k + 3.0]);
            let (y, d) = der.value_and_derivative((2.0, c, Cache(&0.0))).unwrap();
            near(&[y, d], &[8.0 * k, 12.0 * k]);
            near(&ders.derivative((2.0, c, Cache(&0.0))).unwrap(), &[4.0 * k, 12.0 * k]);
        }
    });
}

#[test]
fn the_constant_of_the_call_counts_in_every_second_order_operator() {
    let (work, other) = ([f64::NAN; 2], [0.0; 2]);
    each_pair!(|backend, tolerance| {
        let name = &format!("{backend:?}");
        let near = |found: &[f64], expected: &[f64]| assert_near(name, found, expected, tolerance);
        let f = |x: &[_], k: &f64, w: &mut Vec<_>| scaled_cubic(x, *k, w);
        let mut hess = prepare_hessian(&f, &backend, (&other, Constant(&-3.0), Cache(&work[..]))).unwrap();
        let f = |x: &[_], k: &f64, w: &mut Vec<_>| scaled_cubic(x, *k, w);
        let at = (&other, Constant(&-3.0), Cache(&work[..]));
        let mut product = prepare_hvp(&f, &backend, at, [&[0.0, 0.0]]).unwrap();
        let f = |t, k: &f64, w: &mut _| cube(t, *k, w);
        let mut der2 = prepare_second_derivative(&f, &backend, (0.5, Constant(&-3.0), Cache(&0.0))).unwrap();
        let f = in_place(|y: &mut [_], t, k: &f64, w: &mut _| powers(y, t, *k, w), 2);
        let mut der2s = prepare_second_derivative(&f, &backend, (0.5, Constant(&-3.0), Cache(&0.0))).unwrap();
        for k in [3.0, 7.0] {
            let c = Constant(&k);
            let (y, g, h) = hess.value_gradient_and_hessian((&X, c, Cache(&work[..]))).unwrap();
            near(&[y], &[20.0 * k]);
            near(&g, &[20.0 * k, 4.0 * k]);
            near(h.as_slice(), &[10.0 * k, 4.0 * k, 4.0 * k, 0.0]);
            let (y, g, [p]) = product.value_gradient_and_hvp((&X, c, Cache(&work[..])), [&[1.0, -1.0]]).unwrap();
            near(&[y], &[20.0 * k]);
            near(&g, &[20.0 * k, 4.0 * k]);
            near(&p, &[6.0 * k, 4.0 * k]);
            let (y, d, d2) = der2.value_derivative_and_second_derivative((2.0, c, Cache(&0.0))).unwrap();
            near(&[y, d, d2], &[8.0 * k, 12.0 * k, 12.0 * k]);
            near(&der2s.second_derivative((2.0, c, Cache(&0.0))).unwrap(), &[2.0 * k, 12.0 * k]);
            let f = |x: &[_], k: &f64, w: &mut Vec<_>| scaled_cubic(x, *k, w);
            let mut held = prepare_hvp_same_point(&f, &backend, (&X, c, Cache(&work[..])), [&[0.0, 0.0]]).unwrap();
            near(&held.hvp([&[1.0, -1.0]]).unwrap()[0], &[6.0 * k, 4.0 * k]);
        }
    });
}

/// Anything can be a constant.
#[derive(Clone, Debug)]
struct Model {
    name: String,
    weights: Vec<f64>,
}

fn dot<T: Real>(x: &[T], model: &Model, unit: &str, table: &[f64; 2], scale: f64) -> T {
    assert_eq!((model.name.as_str(), unit), ("linear", "metre"));
    scale * x.iter().zip(&model.weights).zip(table).map(|((x, w), t)| x * x * w * t).sum::<T>()
}

#[test]
fn constants_have_any_type() {
    let model = Model { name: "linear".into(), weights: vec![1.0, 2.0] };
    let table = [10.0, 100.0];
    let unit = String::from("metre");
    each_engine!(|backend, tolerance| {
        let f = |x: &[_], m: &Model, u: &str, t: &[f64; 2], s: &f64| dot(x, m, u, t, *s);
        let at = (&X, Constant(&model), Constant(unit.as_str()), Constant(&table), Constant(&0.5));
        let found = gradient(&f, &backend, at).unwrap();
        assert_near(support::name_of(&backend), &found, &[20.0, 1000.0], tolerance);
        // Slices, options of closures, tuples.
        let double = |v: f64| 2.0 * v;
        let f = |x: &[_], w: &[f64], (a, b): &(f64, Option<fn(f64) -> f64>)| weighted(x, w, *a, b.unwrap());
        let at = (&X, Constant(&model.weights[..]), Constant(&(3.0, Some(double as fn(f64) -> f64))));
        let found = gradient(&f, &backend, at).unwrap();
        assert_near(support::name_of(&backend), &found, &[6.0, 12.0], tolerance);
    });
    each_pair!(|backend, tolerance| {
        let f = |x: &[_], m: &Model, u: &str, t: &[f64; 2], s: &f64| dot(x, m, u, t, *s);
        let at = (&X, Constant(&model), Constant(unit.as_str()), Constant(&table), Constant(&0.5));
        let found = hessian(&f, &backend, at).unwrap();
        assert_near(&format!("{backend:?}"), found.as_slice(), &[10.0, 0.0, 0.0, 200.0], tolerance);
    });
}

fn weighted<T: Real>(x: &[T], w: &[f64], a: f64, b: fn(f64) -> f64) -> T {
    b(a) * x.iter().zip(w).map(|(x, w)| x * w).sum::<T>()
}

#[test]
fn caches_have_every_shape() {
    type Nested<T> = (Vec<T>, ([T; 2], T), (T,));
    fn through<T: Real>(x: &[T], (v, (a, n), (s,)): &mut Nested<T>) -> T {
        assert_eq!(v.len(), 3);
        *s = x[0] * x[1];
        a[0] = *s * 2.0;
        a[1] = a[0] + x[0];
        *n = a[1] * x[1];
        v[2] = *n + 1.0;
        v[2]
    }
    // 2 x₀ x₁² + x₀ x₁ + 1
    let prototype: Nested<f64> = (vec![0.0; 3], ([0.0; 2], 0.0), (0.0,));
    each_engine!(|backend, tolerance| {
        let found = gradient(&|x: &[_], w: &mut Nested<_>| through(x, w), &backend, (&X, Cache(&prototype))).unwrap();
        assert_near(support::name_of(&backend), &found, &[55.0, 42.0], tolerance);
    });
    each_pair!(|backend, tolerance| {
        let found = hessian(&|x: &[_], w: &mut Nested<_>| through(x, w), &backend, (&X, Cache(&prototype))).unwrap();
        assert_near(&format!("{backend:?}"), found.as_slice(), &[0.0, 21.0, 21.0, 8.0], tolerance);
    });
}

#[test]
fn contexts_come_in_any_order_and_number() {
    fn work<T: Real>(x: &[T], k: f64, l: f64, v: &mut [T], w: &mut [T; 1]) -> T {
        v[0] = k * x[0] * x[0];
        w[0] = l * x[1] * x[1];
        v[0] + w[0]
    }
    let (k, l, v, w) = (3.0, 5.0, vec![0.0], [0.0]);
    let (ck, cl, cv, cw) = (Constant(&k), Constant(&l), Cache(&v), Cache(&w));
    macro_rules! check {
        ($backend:expr, $name:expr, $tolerance:expr, $operator:ident, $numbers:expr, $expected:expr) => {{
            let orders = [
                $numbers(
                    $operator(
                        &|x: &[_], k: &f64, l: &f64, v: &mut Vec<_>, w: &mut [_; 1]| work(x, *k, *l, v, w),
                        $backend,
                        (&X, ck, cl, cv, cw),
                    )
                    .unwrap(),
                ),
                $numbers(
                    $operator(
                        &|x: &[_], v: &mut Vec<_>, w: &mut [_; 1], l: &f64, k: &f64| work(x, *k, *l, v, w),
                        $backend,
                        (&X, cv, cw, cl, ck),
                    )
                    .unwrap(),
                ),
                $numbers(
                    $operator(
                        &|x: &[_], w: &mut [_; 1], k: &f64, v: &mut Vec<_>, l: &f64| work(x, *k, *l, v, w),
                        $backend,
                        (&X, cw, ck, cv, cl),
                    )
                    .unwrap(),
                ),
                $numbers(
                    $operator(
                        &|x: &[_], k: &f64, v: &mut Vec<_>, w: &mut [_; 1]| work(x, *k, 5.0, v, w),
                        $backend,
                        (&X, ck, cv, cw),
                    )
                    .unwrap(),
                ),
                $numbers(
                    $operator(
                        &|x: &[_], v: &mut Vec<_>, k: &f64| work(x, *k, 5.0, v, &mut [x[0]]),
                        $backend,
                        (&X, cv, ck),
                    )
                    .unwrap(),
                ),
                $numbers(
                    $operator(&|x: &[_], k: &f64| work(x, *k, 5.0, &mut [x[0]], &mut [x[0]]), $backend, (&X, ck))
                        .unwrap(),
                ),
                $numbers(
                    $operator(&|x: &[_], w: &mut [_; 1]| work(x, 3.0, 5.0, &mut [x[0]], w), $backend, (&X, cw))
                        .unwrap(),
                ),
                $numbers(
                    $operator(
                        &|x: &[_], (k, v): (&f64, &mut Vec<_>), (w, l): (&mut [_; 1], &f64)| work(x, *k, *l, v, w),
                        $backend,
                        (&X, ConstantOrCache((ck, cv)), ConstantOrCache((cw, cl))),
                    )
                    .unwrap(),
                ),
                $numbers(
                    $operator(
                        &|x: &[_], (k, l): (&f64, &f64), w: &mut [_; 1]| work(x, *k, *l, &mut [x[0]], w),
                        $backend,
                        (&X, ConstantOrCache((ck, cl)), cw),
                    )
                    .unwrap(),
                ),
            ];
            for found in &orders {
                assert_near($name, found, &$expected, $tolerance);
            }
        }};
    }
    each_engine!(|backend, tolerance| {
        check!(&backend, support::name_of(&backend), tolerance, gradient, |g: Vec<f64>| g, [12.0, 50.0]);
    });
    each_pair!(|backend, tolerance| {
        let name = &format!("{backend:?}");
        check!(&backend, name, tolerance, hessian, Matrix::into_vec, [6.0, 0.0, 0.0, 10.0]);
    });
}

/// The same function as an object written by hand, and by the attribute.
struct ByHand {
    power: i32,
}

impl<T: Real> FunctionWith<[T], (Const<f64>, Work<Vec<T>>)> for ByHand {
    type Output = T;
    fn call_with(&self, x: &[T], (k, work): (&f64, &mut Vec<T>)) -> T {
        work[0] = x[0].powi(self.power);
        *k * work[0] * x[1]
    }
}

#[differentiable]
fn by_attribute(x: &[f64], #[constant] k: f64, #[cache] work: &mut [f64]) -> f64 {
    work[0] = x[0] * x[0];
    k * work[0] * x[1]
}

#[differentiable]
fn by_attribute_in_place(y: &mut [f64], t: f64, #[constant] k: f64) {
    y[0] = k * t * t;
    y[1] = k * t * t * t;
}

#[test]
fn objects_take_contexts() {
    let (work, hand) = ([0.0], ByHand { power: 2 });
    each_engine!(|backend, tolerance| {
        let name = support::name_of(&backend);
        let mut prepared = prepare_gradient(&hand, &backend, (&X, Constant(&-3.0), Cache(&work[..]))).unwrap();
        let found = prepared.gradient((&X, Constant(&3.0), Cache(&work[..]))).unwrap();
        assert_near(name, &found, &[60.0, 12.0], tolerance);
        let mut prepared = prepare_gradient(&ByAttribute, &backend, (&X, Constant(&-3.0), Cache(&work[..]))).unwrap();
        let found = prepared.gradient((&X, Constant(&3.0), Cache(&work[..]))).unwrap();
        assert_near(name, &found, &[60.0, 12.0], tolerance);
        let f = in_place(ByAttributeInPlace, 2);
        let found = derivative(&f, &backend, (2.0, Constant(&3.0))).unwrap();
        assert_near(name, &found, &[12.0, 36.0], tolerance);
    });
    each_pair!(|backend, tolerance| {
        let name = &format!("{backend:?}");
        let at = (&X, Constant(&3.0), Cache(&work[..]));
        let expected = [30.0, 12.0, 12.0, 0.0];
        assert_near(name, hessian(&hand, &backend, at).unwrap().as_slice(), &expected, tolerance);
        assert_near(name, hessian(&ByAttribute, &backend, at).unwrap().as_slice(), &expected, tolerance);
        let f = in_place(ByAttributeInPlace, 2);
        let found = second_derivative(&f, &backend, (2.0, Constant(&3.0))).unwrap();
        assert_near(name, &found, &[6.0, 36.0], tolerance);
    });
}

#[test]
fn a_cache_of_another_length_is_fitted() {
    fn sum<T: Real>(x: &[T], work: &mut [T]) -> T {
        let n = work.len();
        for (i, w) in work.iter_mut().enumerate() {
            *w = x[i % x.len()] * x[i % x.len()];
        }
        work.iter().sum::<T>() + n as f64
    }
    each_engine!(|backend, tolerance| {
        let f = |x: &[_], w: &mut Vec<_>| sum(x, w);
        let mut prepared = prepare_gradient(&f, &backend, (&X, Cache(&[0.0; 2][..]))).unwrap();
        for (n, expected) in [(4, [8.0, 20.0]), (1, [4.0, 0.0]), (6, [12.0, 30.0]), (0, [0.0, 0.0])] {
            let work = vec![0.0; n];
            let (y, found) = prepared.value_and_gradient((&X, Cache(&work[..]))).unwrap();
            assert_near("gradient", &found, &expected, tolerance);
            assert_near("value", &[y], &[(0..n).map(|i| X[i % 2] * X[i % 2]).sum::<f64>() + n as f64], 1e-15);
        }
    });
    each_pair!(|backend, tolerance| {
        let f = |x: &[_], w: &mut Vec<_>| sum(x, w);
        let mut prepared = prepare_hessian(&f, &backend, (&X, Cache(&[0.0; 2][..]))).unwrap();
        for (n, expected) in [(4, [4.0, 0.0, 0.0, 4.0]), (1, [2.0, 0.0, 0.0, 0.0])] {
            let work = vec![0.0; n];
            let found = prepared.hessian((&X, Cache(&work[..]))).unwrap();
            assert_near(&format!("{backend:?}"), found.as_slice(), &expected, tolerance);
        }
    });
}

#[test]
fn prototypes_and_constants_are_not_changed() {
    let (k, work) = (3.0, vec![7.0; 2]);
    each_engine!(|backend, _tolerance| {
        let f = |x: &[_], k: &f64, w: &mut Vec<_>| scaled_cubic(x, *k, w);
        gradient(&f, &backend, (&X, Constant(&k), Cache(&work))).unwrap();
        assert_eq!((k, &work[..]), (3.0, &[7.0; 2][..]));
    });
}

#[test]
fn array_points_take_contexts() {
    each_engine!(|backend, tolerance| {
        let f = |x: &[_; 2], k: &f64, w: &mut Vec<_>| scaled_cubic(x, *k, w);
        let found: [f64; 2] = gradient(&f, &backend, (X, Constant(&3.0), Cache(&[0.0; 2][..]))).unwrap();
        assert_near(support::name_of(&backend), &found, &[60.0, 12.0], tolerance);
    });
    each_pair!(|backend, tolerance| {
        let f = |x: &[_; 2], k: &f64, w: &mut Vec<_>| scaled_cubic(x, *k, w);
        let [found]: [[f64; 2]; 1] =
            hvp(&f, &backend, (X, Constant(&3.0), Cache(&[0.0; 2][..])), [[1.0, 0.0]]).unwrap();
        assert_near(&format!("{backend:?}"), &found, &[30.0, 12.0], tolerance);
    });
}

// Costs. The allocator counts the bytes of this thread.

/// Σ kᵢ x₀², added up either as plain numbers first or over active numbers.
fn of_constants<T: Real>(x: &[T], data: &[f64]) -> T {
    let plain: f64 = data.iter().map(|k| k.sqrt()).sum();
    plain * x[0]
}

#[test]
fn constants_leave_nothing_on_the_tape() {
    // The same amount of memory for one constant and for a hundred thousand.
    let bytes = |data: &[f64]| {
        let f = |x: &[_], data: &[f64]| of_constants(x, data);
        let before = allocated_bytes();
        let grad = gradient(&f, &AutoReverseDiff::default(), (&X, Constant(data))).unwrap();
        assert_eq!(grad, [data.len() as f64, 0.0]);
        allocated_bytes() - before
    };
    bytes(&[1.0]);
    assert_eq!(bytes(&vec![1.0; 100_000]), bytes(&[1.0]));
}

#[test]
fn constants_are_plain_numbers_to_the_function() {
    // The types say it: `&f64` arrives whatever the number type, and so carries no tangent.
    fn takes_plain<T: Real>(x: &[T], k: &f64) -> T {
        let plain: &f64 = k;
        x[0] * *plain
    }
    let f = |x: &[_], k: &f64| takes_plain(x, k);
    let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    assert_eq!(hessian(&f, &backend, (&X, Constant(&3.0))).unwrap(), [[0.0; 2]; 2]);
}

/// Σ kᵢ·s·xᵢ², with parameters that are numbers of the function's own type.
fn scaled_squares<T: Real>(x: &[T], k: &[T], s: T) -> T {
    x.iter().zip(k).map(|(x, k)| *k * s * x * x).sum()
}

#[test]
fn parameters_are_numbers_of_the_function_and_may_change() {
    each_engine!(|backend, tolerance| {
        let f = |x: &[_], k: &Vec<_>, s: &_| scaled_squares(x, k, *s);
        let (x, k, s) = ([1.0, -2.0], [3.0, 0.5], 2.0);
        let mut prepared = prepare_gradient(&f, &backend, (&[0.3, 0.1], Parameter(&k[..]), Parameter(&7.0))).unwrap();
        for (k, s, expected) in [(k, s, [12.0, -4.0]), ([-1.0, 0.0], 0.25, [-0.5, 0.0])] {
            let grad = gradient(&f, &backend, (&x, Parameter(&k[..]), Parameter(&s))).unwrap();
            assert_close("gradient with parameters", &grad, &expected, tolerance);
            let grad = prepared.gradient((&x, Parameter(&k[..]), Parameter(&s))).unwrap();
            assert_close("prepared gradient with parameters", &grad, &expected, tolerance);
        }
        // A parameter of another length.
        let grad = prepared.gradient((&x, Parameter(&[1.0][..]), Parameter(&s))).unwrap();
        assert_close("gradient with fewer parameters", &grad, &[4.0, 0.0], tolerance);
    });
}

#[test]
fn arrays_and_single_precision_numbers_are_parameters() {
    each_engine!(|backend, tolerance| {
        let f = |x: &[_; 2], (k, c): (&[_; 2], &mut [_; 2])| {
            *c = *k;
            scaled_squares(x, c, x[1])
        };
        let contexts = ConstantOrCache((Parameter(&[3.0_f32, 0.5]), Cache(&[0.0; 2])));
        // 3 x₀² x₁ + x₁³ / 2
        let grad = gradient(&f, &backend, ([1.0, -2.0], contexts)).unwrap();
        assert_close("gradient", &grad, &[-12.0, 9.0], tolerance);
    });
    let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let hess =
        hessian(&|x: &[_], k: &[_; 2]| scaled_squares(x, k, x[0]), &backend, (&[1.0, 1.0], Parameter(&[2.0, 1.0])));
    assert_eq!(hess.unwrap(), [[12.0, 2.0], [2.0, 2.0]]);
}
