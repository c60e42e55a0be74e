//! W7, bundle adjustment, by hand: the rotations of a camera and their derivatives are computed once for each camera, and an observation
//! is products of 3 x 3 matrices with vectors.

use super::numbers::sin_cos;
use crate::workloads::bundle::{Bundle, CAMERA, ENTRIES};

type Vector = [f64; 3];
type Square = [Vector; 3];

/// The values of the Jacobian, row by row with rising columns.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2,fma"))]
pub(crate) fn jacobian(bundle: &Bundle, values: &mut [f64], x: &[f64]) {
    assert_eq!(values.len(), bundle.nnz(), "a number for each entry");
    let (cameras, _) = x[..CAMERA * bundle.cameras].as_chunks::<CAMERA>();
    let rotations: Vec<_> = cameras.iter().map(|camera| rotation([camera[0], camera[1], camera[2]])).collect();
    let (rows, last) = values.split_at_mut(2 * ENTRIES * bundle.features.len());
    let rows = rows.as_chunks_mut::<{ 2 * ENTRIES }>().0;
    for (i, ((row, last), feature)) in rows.iter_mut().zip(last).zip(&bundle.features).enumerate() {
        let (camera, point, w) = bundle.seen(x, i);
        let (r, dr) = &rotations[i % bundle.cameras];
        let v = [point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]];
        let y = times(r, &v);
        let depth = 1.0 / y[2];
        let (u, t) = (y[0] * depth, y[1] * depth);
        let square = u * u + t * t;
        let distortion = 1.0 + square * (camera[9] + camera[10] * square);
        let slope = 2.0 * (camera[9] + 2.0 * camera[10] * square);
        let scale = w * camera[6];
        let (uu, ut, tt) =
            (scale * (distortion + u * u * slope), scale * (u * t * slope), scale * (distortion + t * t * slope));
        let by_y = [
            [uu * depth, ut * depth, -(uu * u + ut * t) * depth],
            [ut * depth, tt * depth, -(ut * u + tt * t) * depth],
        ];
        for k in 0..3 {
            let turned = times(&dr[k], &v);
            for (half, g) in by_y.iter().enumerate() {
                let own = &mut row[half * ENTRIES..][..ENTRIES];
                own[k] = g[0] * turned[0] + g[1] * turned[1] + g[2] * turned[2];
                let by_point = g[0] * r[0][k] + g[1] * r[1][k] + g[2] * r[2][k];
                own[3 + k] = -by_point;
                own[10 + k] = by_point;
            }
        }
        for (half, u) in [u, t].into_iter().enumerate() {
            let own = &mut row[half * ENTRIES..][..ENTRIES];
            own[6] = w * u * distortion;
            own[7] = w;
            own[8] = scale * u * square;
            own[9] = scale * u * square * square;
            own[13] = u * distortion * camera[6] + camera[7 + half] - feature[half];
        }
        *last = -2.0 * w;
    }
}

#[inline(always)]
fn times(m: &Square, x: &Vector) -> Vector {
    m.map(|row| row[0] * x[0] + row[1] * x[1] + row[2] * x[2])
}

/// The matrix of a rotation vector (Rodrigues), and its derivatives by the three numbers.
#[inline(always)]
fn rotation(a: Vector) -> (Square, [Square; 3]) {
    let angle = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt();
    let (s, c) = sin_cos(angle);
    let w = a.map(|a| a / angle);
    let cross = |w: Vector| [[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]];
    let one = |i: usize, j: usize| f64::from(u8::from(i == j));
    let matrix = |entry: &dyn Fn(usize, usize) -> f64| [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)));
    let h = cross(w);
    let r = matrix(&|i, j| s * h[i][j] + (1.0 - c) * w[i] * w[j] + c * one(i, j));
    let derivatives = [0, 1, 2].map(|k| {
        let dw = [0, 1, 2].map(|j| (one(j, k) - w[j] * w[k]) / angle);
        let dh = cross(dw);
        matrix(&|i, j| {
            c * w[k] * h[i][j] + s * dh[i][j] + s * w[k] * w[i] * w[j] + (1.0 - c) * (dw[i] * w[j] + w[i] * dw[j])
                - s * w[k] * one(i, j)
        })
    });
    (r, derivatives)
}
