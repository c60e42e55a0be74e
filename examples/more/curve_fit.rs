//! Fits a measured curve by Levenberg-Marquardt, with the Jacobian of the residuals by forward mode.
//!
//! `cargo run --release --example curve_fit`
//!
//! The data are *Chwirut1* of the Statistical Reference Datasets of the National Institute of Standards and Technology
//! (NIST/ITL StRD, nonlinear regression, <https://www.itl.nist.gov/div898/strd/nls/data/chwirut1.shtml>): 214 observations
//! of an ultrasonic calibration study; y is the ultrasonic response, x the distance in metal. Reference: D. Chwirut, NIST,
//! *Ultrasonic Reference Block Study*. A work of the United States government, in the public domain.
//!
//! NIST certifies the parameters of y = exp(-b₁x) / (b₂ + b₃x), their standard deviations and the residual sum of squares
//! to eleven digits, and gives two starting points. The example must reach them from both, or it fails.

use differentiation_interface::prelude::*;

/// Parameters of the model.
const PARAMETERS: usize = 3;
/// The two starting points.
const STARTS: [[f64; PARAMETERS]; 2] = [[0.1, 0.01, 0.02], [0.15, 0.008, 0.010]];
/// The certified values.
const CERTIFIED: [f64; PARAMETERS] = [1.9027818370E-01, 6.1314004477E-03, 1.0530908399E-02];
const CERTIFIED_DEVIATIONS: [f64; PARAMETERS] = [2.1938557035E-02, 3.4500025051E-04, 7.9281847748E-04];
const CERTIFIED_SUM: f64 = 2.3844771393E+03;

/// The model at distance `x`.
fn response<T: Real>(b: &[T], x: f64) -> T {
    (-b[0] * x).exp() / (b[1] + b[2] * x)
}

/// Residuals of all observations `[y, x]`.
fn residuals<T: Real>(r: &mut [T], b: &[T], data: &[[f64; 2]]) {
    for (r, &[y, x]) in r.iter_mut().zip(data) {
        *r = y - response(b, x);
    }
}

fn main() -> Result<(), Error> {
    let (data, _) = DATA.as_chunks::<2>();
    for start in STARTS {
        let (b, deviations, sum) = fit(start, data)?;
        print("certified", &CERTIFIED, CERTIFIED_SUM);
        for j in 0..PARAMETERS {
            agrees("parameter", b[j], CERTIFIED[j], 1e-8);
            agrees("standard deviation", deviations[j], CERTIFIED_DEVIATIONS[j], 1e-7);
        }
        agrees("residual sum of squares", sum, CERTIFIED_SUM, 1e-10);
        println!("the fit agrees with the certified values\n");
    }
    Ok(())
}

/// Fails unless two numbers agree to a relative error.
fn agrees(what: &str, found: f64, certified: f64, tolerance: f64) {
    let error = (found / certified - 1.0).abs();
    assert!(error < tolerance, "{what} is {found:.10e}, certified is {certified:.10e}");
}

/// Levenberg-Marquardt. Returns the parameters, their standard deviations and the residual sum of squares.
fn fit(start: [f64; PARAMETERS], data: &[[f64; 2]]) -> Result<([f64; PARAMETERS], [f64; PARAMETERS], f64), Error> {
    let rows = data.len();
    let f = in_place(|r: &mut [_], b: &[_]| residuals(r, b, data), rows);
    // To differentiate by another backend, change this line.
    let backend = AutoForwardDiff::default();
    let mut prepared = prepare_jacobian(&f, &backend, &start)?;

    println!("start at {start:?}");
    let mut b = start;
    let mut jac = Matrix::filled(rows, PARAMETERS, 0.0);
    let mut damping = 1e-3;
    for iteration in 0..100 {
        let r = prepared.value_and_jacobian_into(&mut jac, &b)?;
        let sum = square(r);
        print(&iteration.to_string(), &b, sum);
        // JᵀJ and Jᵀr
        let mut normal = [[0.0; PARAMETERS]; PARAMETERS];
        let mut slope = [0.0; PARAMETERS];
        for (i, r) in r.iter().enumerate() {
            let row = jac.row(i);
            for j in 0..PARAMETERS {
                slope[j] += row[j] * r;
                for k in 0..PARAMETERS {
                    normal[j][k] += row[j] * row[k];
                }
            }
        }
        // Raise the damping until a step reduces the sum; no step does if b is exact to rounding.
        let mut trial = vec![0.0; rows];
        let accepted = loop {
            let mut damped = normal;
            for (j, row) in damped.iter_mut().enumerate() {
                row[j] *= 1.0 + damping;
            }
            let step = solve(damped, slope);
            let next: [f64; PARAMETERS] = std::array::from_fn(|j| b[j] - step[j]);
            residuals(&mut trial, &next, data);
            if square(&trial) < sum {
                damping *= 0.1;
                break Some(next);
            }
            damping *= 10.0;
            if damping > 1e12 {
                break None;
            }
        };
        match accepted {
            Some(next) => b = next,
            None => {
                let variance = sum / (rows - PARAMETERS) as f64;
                let deviation = |j: usize| {
                    let unit = std::array::from_fn(|k| f64::from(j == k));
                    (variance * solve(normal, unit)[j]).sqrt()
                };
                return Ok((b, std::array::from_fn(deviation), sum));
            }
        }
    }
    panic!("no convergence in 100 steps")
}

fn print(label: &str, [b1, b2, b3]: &[f64; PARAMETERS], sum: f64) {
    println!("{label:>10}: b = {b1:.10e} {b2:.10e} {b3:.10e}, sum of squares {sum:.10e}");
}

fn square(r: &[f64]) -> f64 {
    r.iter().map(|r| r * r).sum()
}

/// Solves a small positive definite system by elimination.
#[expect(clippy::needless_range_loop, reason = "row i minus a multiple of row k reads best with indices")]
fn solve(mut a: [[f64; PARAMETERS]; PARAMETERS], mut b: [f64; PARAMETERS]) -> [f64; PARAMETERS] {
    for k in 0..PARAMETERS {
        for i in k + 1..PARAMETERS {
            let factor = a[i][k] / a[k][k];
            for j in k..PARAMETERS {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..PARAMETERS).rev() {
        for j in k + 1..PARAMETERS {
            b[k] -= a[k][j] * b[j];
        }
        b[k] /= a[k][k];
    }
    b
}

/// y, x, y, x, ... in the order of the data file.
const DATA: [f64; 428] = [
    92.9, 0.5, 78.7, 0.625, 64.2, 0.75, 64.9, 0.875, 57.1, 1.0, 43.3, 1.25, 31.1, 1.75, 23.6, 2.25, 31.05, 1.75,
    23.775, 2.25, 17.7375, 2.75, 13.8, 3.25, 11.5875, 3.75, 9.4125, 4.25, 7.725, 4.75, 7.35, 5.25, 8.025, 5.75, 90.6,
    0.5, 76.9, 0.625, 71.6, 0.75, 63.6, 0.875, 54.0, 1.0, 39.2, 1.25, 29.3, 1.75, 21.4, 2.25, 29.175, 1.75, 22.125,
    2.25, 17.5125, 2.75, 14.25, 3.25, 9.45, 3.75, 9.15, 4.25, 7.9125, 4.75, 8.475, 5.25, 6.1125, 5.75, 80.0, 0.5, 79.0,
    0.625, 63.8, 0.75, 57.2, 0.875, 53.2, 1.0, 42.5, 1.25, 26.8, 1.75, 20.4, 2.25, 26.85, 1.75, 21.0, 2.25, 16.4625,
    2.75, 12.525, 3.25, 10.5375, 3.75, 8.5875, 4.25, 7.125, 4.75, 6.1125, 5.25, 5.9625, 5.75, 74.1, 0.5, 67.3, 0.625,
    60.8, 0.75, 55.5, 0.875, 50.3, 1.0, 41.0, 1.25, 29.4, 1.75, 20.4, 2.25, 29.3625, 1.75, 21.15, 2.25, 16.7625, 2.75,
    13.2, 3.25, 10.875, 3.75, 8.175, 4.25, 7.35, 4.75, 5.9625, 5.25, 5.625, 5.75, 81.5, 0.5, 62.4, 0.75, 32.5, 1.5,
    12.41, 3.0, 13.12, 3.0, 15.56, 3.0, 5.63, 6.0, 78.0, 0.5, 59.9, 0.75, 33.2, 1.5, 13.84, 3.0, 12.75, 3.0, 14.62,
    3.0, 3.94, 6.0, 76.8, 0.5, 61.0, 0.75, 32.9, 1.5, 13.87, 3.0, 11.81, 3.0, 13.31, 3.0, 5.44, 6.0, 78.0, 0.5, 63.5,
    0.75, 33.8, 1.5, 12.56, 3.0, 5.63, 6.0, 12.75, 3.0, 13.12, 3.0, 5.44, 6.0, 76.8, 0.5, 60.0, 0.75, 47.8, 1.0, 32.0,
    1.5, 22.2, 2.0, 22.57, 2.0, 18.82, 2.5, 13.95, 3.0, 11.25, 4.0, 9.0, 5.0, 6.67, 6.0, 75.8, 0.5, 62.0, 0.75, 48.8,
    1.0, 35.2, 1.5, 20.0, 2.0, 20.32, 2.0, 19.31, 2.5, 12.75, 3.0, 10.42, 4.0, 7.31, 5.0, 7.42, 6.0, 70.5, 0.5, 59.5,
    0.75, 48.5, 1.0, 35.8, 1.5, 21.0, 2.0, 21.67, 2.0, 21.0, 2.5, 15.64, 3.0, 8.17, 4.0, 8.55, 5.0, 10.12, 6.0, 78.0,
    0.5, 66.0, 0.625, 62.0, 0.75, 58.0, 0.875, 47.7, 1.0, 37.8, 1.25, 20.2, 2.25, 21.07, 2.25, 13.87, 2.75, 9.67, 3.25,
    7.76, 3.75, 5.44, 4.25, 4.87, 4.75, 4.01, 5.25, 3.75, 5.75, 24.19, 3.0, 25.76, 3.0, 18.07, 3.0, 11.81, 3.0, 12.07,
    3.0, 16.12, 3.0, 70.8, 0.5, 54.7, 0.75, 48.0, 1.0, 39.8, 1.5, 29.8, 2.0, 23.7, 2.5, 29.62, 2.0, 23.81, 2.5, 17.7,
    3.0, 11.55, 4.0, 12.07, 5.0, 8.74, 6.0, 80.7, 0.5, 61.3, 0.75, 47.5, 1.0, 29.0, 1.5, 24.0, 2.0, 17.7, 2.5, 24.56,
    2.0, 18.67, 2.5, 16.24, 3.0, 8.74, 4.0, 7.87, 5.0, 8.51, 6.0, 66.7, 0.5, 59.2, 0.75, 40.8, 1.0, 30.7, 1.5, 25.7,
    2.0, 16.3, 2.5, 25.99, 2.0, 16.95, 2.5, 13.35, 3.0, 8.62, 4.0, 7.2, 5.0, 6.64, 6.0, 13.69, 3.0, 81.0, 0.5, 64.5,
    0.75, 35.5, 1.5, 13.31, 3.0, 4.87, 6.0, 12.94, 3.0, 5.06, 6.0, 15.19, 3.0, 14.62, 3.0, 15.64, 3.0, 25.5, 1.75,
    25.95, 1.75, 81.7, 0.5, 61.6, 0.75, 29.8, 1.75, 29.81, 1.75, 17.17, 2.75, 10.39, 3.75, 28.4, 1.75, 28.69, 1.75,
    81.3, 0.5, 60.9, 0.75, 16.65, 2.75, 10.05, 3.75, 28.9, 1.75, 28.95, 1.75,
];
