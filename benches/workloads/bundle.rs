//! W7: bundle adjustment. Reprojection errors of points seen by cameras, with the sparse Jacobian by hand, and with the dense Jacobians
//! of single observations.

use super::{Number, Random};
use differentiation_interface::{Const, FunctionInPlace, FunctionWith, Real};
use std::ops::Sub;

/// Numbers of a camera: rotation vector, centre, focal length, principal point, two radial distortions.
pub(crate) const CAMERA: usize = 11;
const POINT: usize = 3;
/// Entries of the Jacobian in the row of a residual, which does not depend on the other coordinate of the principal point.
pub(crate) const ENTRIES: usize = CAMERA - 1 + POINT + 1;

/// Observation `i` is one of point `i` mod `points` by camera `i` mod `cameras`.
///
/// Inputs: cameras, points, a weight per observation. Outputs: two residuals per observation, then 1 - weight² of each.
pub(crate) struct Bundle {
    pub(crate) cameras: usize,
    points: usize,
    start: Vec<f64>,
    pub(crate) features: Vec<[f64; 2]>,
}

impl Bundle {
    pub(crate) const NAME: &'static str = "W7 BA";

    pub(crate) fn new(cameras: usize, points: usize, observations: usize) -> Self {
        let mut random = Random::new(9);
        let mut near = |base: &[f64], copies: usize| -> Vec<f64> {
            (0..copies).flat_map(|_| base.to_vec()).map(|v| v * (1.0 + 0.01 * random.signed())).collect()
        };
        let mut start = near(&[-0.75, -1.1, -0.85, 34.5, 39.7, 53.9, 419.0, 5.9, -8.5, 0.088, 0.0027], cameras);
        start.extend(near(&[7.2, 0.0011, 3.0], points));
        start.extend(near(&[0.42], observations));
        let features = near(&[272.0, 834.0], observations);
        Bundle { cameras, points, start, features: features.as_chunks().0.to_vec() }
    }

    pub(crate) fn point(&self) -> &[f64] {
        &self.start
    }
    pub(crate) fn outputs(&self) -> usize {
        3 * self.features.len()
    }
    pub(crate) fn nnz(&self) -> usize {
        (2 * ENTRIES + 1) * self.features.len()
    }

    /// Camera, point and weight of an observation.
    #[inline(always)]
    pub(crate) fn seen<'a, T: Copy>(&self, x: &'a [T], i: usize) -> (&'a [T; CAMERA], &'a [T; POINT], T) {
        let (cameras, rest) = x.split_at(CAMERA * self.cameras);
        let (points, weights) = rest.split_at(POINT * self.points);
        (&cameras.as_chunks().0[i % self.cameras], &points.as_chunks().0[i % self.points], weights[i])
    }

    #[inline]
    pub(crate) fn value<T: Number>(&self, y: &mut [T], x: &[T]) {
        let (residuals, rest) = y.split_at_mut(2 * self.features.len());
        for (i, (residual, feature)) in residuals.as_chunks_mut().0.iter_mut().zip(&self.features).enumerate() {
            let (camera, point, weight) = self.seen(x, i);
            *residual = reprojection(camera, point, weight, feature);
            rest[i] = 1.0 - weight * weight;
        }
    }

    /// Outputs, and the values of the Jacobian, row by row with rising columns.
    pub(crate) fn by_hand(&self, y: &mut [f64], values: &mut [f64], x: &[f64]) {
        let observations = self.features.len();
        let (residuals, rest) = y.split_at_mut(2 * observations);
        let (rows, last) = values.split_at_mut(2 * ENTRIES * observations);
        let rows = rows.as_chunks_mut::<ENTRIES>().0.as_chunks_mut().0;
        for (i, (row, residual)) in rows.iter_mut().zip(residuals.as_chunks_mut().0).enumerate() {
            let (camera, point, weight) = self.seen(x, i);
            *residual = reprojection_by_hand(row, camera, point, weight, &self.features[i]);
            rest[i] = 1.0 - weight * weight;
            last[i] = -2.0 * weight;
        }
    }
}

/// One observation: a camera, a point and a weight in one slice, with the feature as a parameter.
pub(crate) struct Observation;

impl Observation {
    /// Numbers of an observation.
    pub(crate) const INPUTS: usize = CAMERA + POINT + 1;
    /// Entries of the Jacobian of its two residuals.
    pub(crate) const NNZ: usize = 2 * Self::INPUTS;
}

impl<T: Real> FunctionWith<[T], (Const<[T; 2]>,)> for Observation {
    type Output = [T; 2];
    #[inline]
    fn call_with(&self, x: &[T], (feature,): (&[T; 2],)) -> [T; 2] {
        let (camera, rest) = x.split_first_chunk().expect("an observation has a camera");
        let (point, weight) = rest.split_first_chunk().expect("an observation has a point");
        reprojection(camera, point, weight[0], feature)
    }
}

impl Bundle {
    pub(crate) fn observations(&self) -> usize {
        self.features.len()
    }

    /// Writes the numbers of observation `i`, and returns its feature.
    #[inline]
    pub(crate) fn observation(&self, numbers: &mut [f64; Observation::INPUTS], x: &[f64], i: usize) -> &[f64; 2] {
        let (camera, point, weight) = self.seen(x, i);
        numbers[..CAMERA].copy_from_slice(camera);
        numbers[CAMERA..][..POINT].copy_from_slice(point);
        numbers[CAMERA + POINT] = weight;
        &self.features[i]
    }

    /// The dense Jacobians of all observations, one after the other.
    pub(crate) fn blocks_by_hand(&self, blocks: &mut [f64], x: &[f64]) {
        let blocks = blocks.as_chunks_mut::<{ Observation::INPUTS }>().0.as_chunks_mut::<2>().0;
        for (i, block) in blocks.iter_mut().enumerate() {
            let (camera, point, weight) = self.seen(x, i);
            let mut rows = [[0.0; ENTRIES]; 2];
            reprojection_by_hand(&mut rows, camera, point, weight, &self.features[i]);
            // A residual depends on its own coordinate of the principal point, the eighth and ninth number.
            for (k, (row, entries)) in block.iter_mut().zip(rows).enumerate() {
                row[..7].copy_from_slice(&entries[..7]);
                (row[7], row[8]) = if k == 0 { (entries[7], 0.0) } else { (0.0, entries[7]) };
                row[9..].copy_from_slice(&entries[8..]);
            }
        }
    }
}

impl<T: Real> FunctionInPlace<T, [T]> for &Bundle {
    #[inline]
    fn call_in_place(&self, y: &mut [T], x: &[T]) {
        self.value(y, x);
    }
}

#[inline(always)]
fn dot<T: Number>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a x + b y + c z.
#[inline(always)]
fn combine<T: Number>((a, x): (T, [T; 3]), (b, y): (T, [T; 3]), (c, z): (T, [T; 3])) -> [T; 3] {
    [a * x[0] + b * y[0] + c * z[0], a * x[1] + b * y[1] + c * z[1], a * x[2] + b * y[2] + c * z[2]]
}

/// The image of the point, minus the feature, times the weight.
#[inline(always)]
fn reprojection<T, P>(camera: &[T; CAMERA], point: &[T; POINT], weight: T, feature: &[P; 2]) -> [T; 2]
where
    T: Number + Sub<P, Output = T>,
    P: Copy,
{
    let &[r1, r2, r3, c1, c2, c3, focal, pp1, pp2, k1, k2] = camera;
    let v = [point[0] - c1, point[1] - c2, point[2] - c3];
    let theta = dot([r1, r2, r3], [r1, r2, r3]).sqrt();
    let (s, c) = (theta.sin(), theta.cos());
    let axis = [r1 / theta, r2 / theta, r3 / theta];
    let (turned, along) = (cross(axis, v), dot(axis, v) * (1.0 - c));
    let p = combine((c, v), (s, turned), (along, axis));
    let u = [p[0] / p[2], p[1] / p[2]];
    let square = u[0] * u[0] + u[1] * u[1];
    let distortion = 1.0 + k1 * square + k2 * (square * square);
    [weight * (focal * distortion * u[0] + pp1 - feature[0]), weight * (focal * distortion * u[1] + pp2 - feature[1])]
}

/// The same with its Jacobian: one forward sweep, two backward sweeps.
#[inline(always)]
fn reprojection_by_hand(
    rows: &mut [[f64; ENTRIES]; 2],
    camera: &[f64; CAMERA],
    point: &[f64; POINT],
    weight: f64,
    feature: &[f64; 2],
) -> [f64; 2] {
    let &[r1, r2, r3, c1, c2, c3, focal, pp1, pp2, k1, k2] = camera;
    let v = [point[0] - c1, point[1] - c2, point[2] - c3];
    let theta = dot([r1, r2, r3], [r1, r2, r3]).sqrt();
    let (s, c) = theta.sin_cos();
    let inverse = 1.0 / theta;
    let axis = [r1 * inverse, r2 * inverse, r3 * inverse];
    let (turned, part) = (cross(axis, v), dot(axis, v));
    let p = combine((c, v), (s, turned), (part * (1.0 - c), axis));
    let depth = 1.0 / p[2];
    let u = [p[0] * depth, p[1] * depth];
    let square = u[0] * u[0] + u[1] * u[1];
    let distortion = 1.0 + k1 * square + k2 * square * square;
    let residual = [focal * distortion * u[0] + pp1 - feature[0], focal * distortion * u[1] + pp2 - feature[1]];
    for (i, row) in rows.iter_mut().enumerate() {
        let by_distortion = weight * focal * u[i];
        let by_square = by_distortion * (k1 + 2.0 * k2 * square);
        let mut by_u = [2.0 * u[0] * by_square, 2.0 * u[1] * by_square];
        by_u[i] += weight * focal * distortion;
        let by_p = [by_u[0] * depth, by_u[1] * depth, -(by_u[0] * u[0] + by_u[1] * u[1]) * depth];
        let outward = dot(by_p, axis);
        let by_angle = c * dot(by_p, turned) - s * (dot(by_p, v) - outward * part);
        let turned_back = cross(by_p, axis);
        let by_v = combine((c, by_p), (s, turned_back), ((1.0 - c) * outward, axis));
        let swept = cross(v, by_p);
        let by_axis = combine((s, swept), ((1.0 - c) * part, by_p), ((1.0 - c) * outward, v));
        let radial = dot(by_axis, axis);
        let by_r = combine((inverse, by_axis), (-inverse * radial, axis), (by_angle, axis));
        *row = [
            by_r[0],
            by_r[1],
            by_r[2],
            -by_v[0],
            -by_v[1],
            -by_v[2],
            weight * distortion * u[i],
            weight,
            by_distortion * square,
            by_distortion * square * square,
            by_v[0],
            by_v[1],
            by_v[2],
            residual[i],
        ];
    }
    [weight * residual[0], weight * residual[1]]
}
