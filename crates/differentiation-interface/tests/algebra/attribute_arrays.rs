//! `#[differentiable(ndarray)]`: plain code with arrays.

use super::{assert_close, differences};
use differentiation_interface::prelude::*;
use ndarray::{Array1, Array2, array};

#[differentiable(ndarray)]
mod model {
    use ndarray::{Array1, Array2, Axis, s};

    /// Mean of the logistic losses of labels ±1, with a penalty.
    pub(super) fn logistic(w: &Array1<f64>, #[constant] data: &Array2<f64>, #[constant] labels: &Array1<f64>) -> f64 {
        let margins = data.dot(w) * labels;
        let losses = margins.mapv(|m| (-m).exp().ln_1p());
        losses.mean().unwrap() + 0.5 * 0.1 * w.dot(w)
    }

    /// A network of two layers.
    pub(super) fn network(x: &[f64], #[constant] input: &Array1<f64>) -> f64 {
        let first = Array2::from_shape_fn((2, 3), |(i, j)| x[i] * (j as f64 + 1.0) - x[2]);
        let bias = Array1::from_vec(vec![x[0], 0.25]);
        let hidden = (first.dot(input) + bias).mapv(|v| v.tanh());
        let scaled = 2.0 * &hidden - 1.0 / (1.0 + &hidden * &hidden);
        let mut total = Array1::zeros(2);
        total += &scaled;
        total.scaled_add(x[1], &hidden);
        total *= 0.5;
        (total - &array_of(0.5)).sum() + hidden[0] / scaled[1]
    }

    fn array_of(value: f64) -> Array1<f64> {
        Array1::from_elem(2, value)
    }

    /// Explicit steps of heat conduction on a rod, by slices.
    pub(super) fn heat(x: &[f64]) -> f64 {
        let mut u = Array1::from_iter(x.iter().copied());
        for _ in 0..3 {
            let n = u.len();
            let inner = &u.slice(s![2..]) - 2.0 * &u.slice(s![1..n - 1]) + &u.slice(s![..n - 2]);
            let mut next = u.clone();
            next.slice_mut(s![1..n - 1]).scaled_add(0.1, &inner);
            u = next;
        }
        u.iter().map(|v| v * v).sum::<f64>() + u.sum_axis(Axis(0)).into_scalar()
    }
}

#[test]
fn plain_code_with_arrays_is_differentiated() {
    let x = [0.3, 0.7, -0.4];
    let (data, labels): (Array2<f64>, Array1<f64>) = (array![[1.0, 0.5, -1.0], [0.0, 2.0, 1.0]], array![1.0, -1.0]);
    let input = array![0.5, -1.0, 2.0];
    let weights = Array1::from(x.to_vec());
    let expected = [
        differences(|x| model::logistic(&Array1::from(x.to_vec()), &data, &labels), &x),
        differences(|x| model::network(x, &input), &x),
        differences(model::heat, &x),
    ];
    macro_rules! check {
        ($($backend:expr),*) => {$({
            let backend = $backend;
            let found = [
                gradient(&model::Logistic, &backend, (&weights, Constant(&data), Constant(&labels))).unwrap().to_vec(),
                gradient(&model::Network, &backend, (&x, Constant(&input))).unwrap().into(),
                gradient(&model::Heat, &backend, &x).unwrap().into(),
            ];
            for (found, expected) in found.iter().zip(&expected) {
                assert_close(&format!("{backend:?}"), found, expected, 1e-9);
            }
        })*};
    }
    check!(AutoForwardDiff::default(), AutoReverseDiff::tape(), AutoReverseDiff::compiled());
}

/// Turned points of an array.
#[differentiable(nalgebra, ndarray)]
fn turned(x: &[f64], #[constant] points: &Array2<f64>) -> f64 {
    let scaled = 0.5 * points - 1.0;
    let axis = nalgebra::Vector3::new(scaled[(0, 0)], x[1], 1.0);
    let q = nalgebra::UnitQuaternion::from_axis_angle(&nalgebra::Unit::new_normalize(axis), x[0]);
    let rows = points.rows().into_iter().map(|row| q * nalgebra::Vector3::new(row[0], row[1], row[2]));
    let heights: Array1<f64> = rows.map(|p| p.z * x[2].exp()).collect();
    (x[1] * heights.dot(&heights)).sqrt()
}

#[test]
fn vectors_and_arrays_go_together() {
    let (x, points) = ([0.3, 0.7, -0.4], array![[1.0, 0.5, -1.0], [0.0, 2.0, 1.0]]);
    let expected = differences(|x| turned(x, &points), &x);
    let found = gradient(&Turned, &AutoReverseDiff::tape(), (&x, Constant(&points))).unwrap();
    assert_close("tape", &found, &expected, 1e-9);
}
