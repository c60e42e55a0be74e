//! Arguments after the point: constants, work memory, and both in one.

mod support;

use differentiation_interface::prelude::*;
use support::{assert_close, each_engine};

/// k Σ xᵢ² through work memory.
fn scaled<T: Real>(x: &[T], k: &f64, work: &mut [T]) -> T {
    for (w, x) in work.iter_mut().zip(x) {
        *w = *k * x * x;
    }
    work.iter().sum()
}
fn scaled_squares<T: Real>(x: &[T], k: &f64) -> Vec<T> {
    x.iter().map(|x| *k * x * x).collect()
}

fn scaled_square<T: Real>(x: T, k: &f64) -> T {
    *k * x * x
}
fn weighted_sum<T: Real>(x: &[T], weights: &[f64]) -> T {
    x.iter().zip(weights).map(|(x, w)| x * w).sum()
}
fn product<T: Real>(x: &[T], k: &f64) -> T {
    *k * x[0] * x[1]
}

#[test]
fn a_constant_may_change_between_prepared_calls() {
    each_engine!(|backend, tolerance| {
        let x = [2.0, 5.0];
        let f = |x: &[_], k: &f64| scaled(x, k, &mut x.to_vec());
        let mut prepared = prepare_gradient(&f, &backend, (&[0.0, 0.0], Constant(&0.0))).unwrap();
        for k in [1.0, -3.0, 0.5] {
            let expected = [4.0 * k, 10.0 * k];
            assert_close("fresh", &gradient(&f, &backend, (&x, Constant(&k))).unwrap(), &expected, tolerance);
            assert_close("prepared", &prepared.gradient((&x, Constant(&k))).unwrap(), &expected, tolerance);
            let (y, grad) = prepared.value_and_gradient((&x, Constant(&k))).unwrap();
            assert_eq!(y, 29.0 * k);
            assert_close("with value", &grad, &expected, tolerance);
        }
        let f = |x: &[_], k: &f64| scaled_squares(x, k);
        let mut prepared = prepare_jacobian(&f, &backend, (&x, Constant(&1.0))).unwrap();
        for k in [1.0, -3.0] {
            let jac = prepared.jacobian((&x, Constant(&k))).unwrap();
            assert_close("jacobian", jac.as_slice(), &[4.0 * k, 0.0, 0.0, 10.0 * k], tolerance);
        }
    });
}

#[test]
fn every_operator_takes_contexts() {
    each_engine!(|backend, tolerance| {
        let (x, k) = ([2.0, 5.0], 3.0);
        let f = |x: &[_], k: &f64| scaled_squares(x, k);
        let [dy] =
            pushforward(&|x: &[_], k: &f64| scaled_squares(x, k), &backend, (&x, Constant(&k)), [&[1.0, 1.0]]).unwrap();
        assert_close("pushforward", &dy, &[12.0, 30.0], tolerance);
        let [dx] = pullback(&f, &backend, (&x, Constant(&k)), [&[1.0, -1.0]]).unwrap();
        assert_close("pullback", &dx, &[12.0, -30.0], tolerance);
        let g = |x, k: &f64| scaled_square(x, k);
        assert_close("derivative", &[derivative(&g, &backend, (5.0, Constant(&k))).unwrap()], &[30.0], tolerance);
        let mut held = prepare_pullback_same_point(&f, &backend, (&x, Constant(&k)), [&[1.0, 0.0]]).unwrap();
        assert_close("same point", &held.pullback([&[0.0, 1.0]]).unwrap()[0], &[0.0, 30.0], tolerance);
        let h = |x: &[_], k: &f64| scaled_squares(x, k);
        let mut held = prepare_pushforward_same_point(&h, &backend, (&x, Constant(&k)), [&[1.0, 0.0]]).unwrap();
        assert_close("same point", &held.pushforward([&[0.0, 1.0]]).unwrap()[0], &[0.0, 30.0], tolerance);
        // The tangents of a point with contexts have none.
        let mut prepared = prepare_derivative(&g, &backend, (1.0, Constant(&k))).unwrap();
        assert_close("prepared", &[prepared.derivative((5.0, Constant(&2.0))).unwrap()], &[20.0], tolerance);
    });
}

#[test]
fn constants_of_any_type_are_passed_as_they_are() {
    struct Settings {
        weight: f64,
        names: Vec<String>,
    }
    let settings = Settings { weight: 2.0, names: vec!["a".into(), "b".into(), "c".into()] };
    each_engine!(|backend, tolerance| {
        let f = |x: &[_; 2], settings: &Settings, data: &[f64], label: &str| {
            let factor = settings.weight * settings.names.len() as f64 * label.len() as f64;
            weighted_sum(x, &[factor, data[1]])
        };
        let data: &[f64] = &[7.0, 11.0];
        let grad = gradient(&f, &backend, ([1.0, 1.0], Constant(&settings), Constant(data), Constant("xy"))).unwrap();
        assert_close("constants", &grad, &[12.0, 11.0], tolerance);
    });
}

#[test]
fn caches_have_the_shape_of_their_prototype() {
    each_engine!(|backend, tolerance| {
        let x = [2.0, 5.0];
        let expected = [12.0, 30.0];
        let k = 3.0;
        let slice: &[f64] = &[0.0; 2];
        let f = |x: &[_], k: &f64, work: &mut Vec<_>| scaled(x, k, work);
        let grad = gradient(&f, &backend, (&x, Constant(&k), Cache(slice))).unwrap();
        assert_close("slice", &grad, &expected, tolerance);
        let grad = gradient(&f, &backend, (&x, Constant(&k), Cache(&vec![0.0; 2]))).unwrap();
        assert_close("vector", &grad, &expected, tolerance);
        let f = |x: &[_], k: &f64, work: &mut [_; 2]| scaled(x, k, work);
        let grad = gradient(&f, &backend, (&x, Constant(&k), Cache(&[0.0; 2]))).unwrap();
        assert_close("array", &grad, &expected, tolerance);
        let f = |x: &[_; 2], work: &mut _| {
            *work = scaled_square(x[0], &3.0);
            weighted_sum(&[*work, x[1]], &[1.0, 1.0])
        };
        assert_close("number", &gradient(&f, &backend, (x, Cache(&0.0))).unwrap(), &[12.0, 1.0], tolerance);
        let f = |x: &[_], k: &f64, (work, (last, pair)): &mut (Vec<_>, (_, [_; 2]))| {
            *last = scaled(x, k, work);
            *pair = [*last, *last];
            weighted_sum(pair, &[2.0, -1.0])
        };
        let grad = gradient(&f, &backend, (&x, Constant(&k), Cache(&(vec![0.0; 2], (0.0, [0.0; 2]))))).unwrap();
        assert_close("nested", &grad, &expected, tolerance);
    });
}

#[test]
fn a_cache_follows_a_prototype_of_another_length() {
    each_engine!(|backend, tolerance| {
        let f = |x: &[_], k: &f64, work: &mut Vec<_>| scaled(x, k, work);
        let mut prepared = prepare_gradient(&f, &backend, (&[1.0; 3], Constant(&1.0), Cache(&vec![0.0; 3]))).unwrap();
        for n in [3, 5, 1, 4] {
            let x = vec![2.0; n];
            let work = vec![0.0; n];
            prepared.prepare_again((&x, Constant(&1.0), Cache(&work))).unwrap();
            let grad = prepared.gradient((&x, Constant(&3.0), Cache(&work))).unwrap();
            assert_close("resized", &grad, &vec![12.0; n], tolerance);
        }
        let work = vec![0.0; 40];
        let grad = prepared.gradient((&[2.0; 4], Constant(&3.0), Cache(&work))).map(|grad| grad.len());
        assert_eq!(grad.unwrap(), 4);
    });
}

#[test]
fn constants_and_caches_may_come_in_one_argument() {
    each_engine!(|backend, tolerance| {
        let f = |x: &[_], (k, work): (&f64, &mut Vec<_>)| scaled(x, k, work);
        let work = vec![0.0; 2];
        let point = |k| (&[2.0, 5.0], ConstantOrCache((Constant(k), Cache(&work))));
        let mut prepared = prepare_gradient(&f, &backend, point(&1.0)).unwrap();
        for k in [&1.0, &-2.0] {
            assert_close("one", &prepared.gradient(point(k)).unwrap(), &[4.0 * k, 10.0 * k], tolerance);
        }
    });
}

#[test]
fn four_contexts_in_any_order() {
    each_engine!(|backend, tolerance| {
        let f = |x: &[_], a: &mut Vec<_>, k: &f64, b: &mut [_; 1], l: &f64| {
            a.copy_from_slice(x);
            b[0] = product(a, k);
            scaled_square(b[0], l)
        };
        let work = vec![0.0; 2];
        let point = (&[2.0, 5.0], Cache(&work), Constant(&3.0), Cache(&[0.0]), Constant(&0.5));
        assert_close("four", &gradient(&f, &backend, point).unwrap(), &[450.0, 180.0], tolerance);
    });
}

#[test]
fn functions_of_numbers_take_contexts_too() {
    each_engine!(|backend, tolerance| {
        let f = in_place(
            |y: &mut [_], x, k: &f64, work: &mut Vec<_>| {
                work[0] = x;
                y[0] = scaled_square(work[0], k);
                y[1] = x;
            },
            2,
        );
        let work = vec![0.0];
        let mut prepared = prepare_derivative(&f, &backend, (1.0, Constant(&1.0), Cache(&work))).unwrap();
        let mut der = [f64::NAN; 2];
        let y = prepared.value_and_derivative_into(&mut der, (3.0, Constant(&2.0), Cache(&work))).unwrap().to_vec();
        assert_eq!(y, [18.0, 3.0]);
        assert_close("number", &der, &[12.0, 1.0], tolerance);
    });
}
