// Made by derivative-source 0.1.0; do not edit. Renew it by: cargo run -p derivative-source-examples

/// The gradient of `energy`: `grad[j]` is `∂y/∂x[j]`.
/// With the value, `y`.
#[allow(clippy::needless_range_loop)]
#[inline]
pub fn energy_value_and_gradient(x: &[f64; 18], grad: &mut [f64; 18]) -> f64 {
    let mut y = 0.0;
    grad.fill(0.0);
    y += 0.5 * (0.0 + x[1]);
    y += 0.5 * (0.0 + x[17]);
    grad[17] += 0.5;
    grad[1] += 0.5;
    for i in 0..8 {
        y += 0.5 * (x[2 * i + 1] + x[2 * i + 3]);
    }
    for i in 0..8 {
        grad[2 * i + 3] += 0.5;
        grad[2 * i + 1] += 0.5;
    }
    y
}

/// Where each row begins, with the number of entries at the end, of `links_sparse_jacobian`.
#[rustfmt::skip]
pub static LINKS_SPARSE_JACOBIAN_STARTS: [u32; 11] = [
    0, 2, 6, 10, 14, 18, 22, 26, 30, 34, 36,
];

/// Column of each entry of `links_sparse_jacobian`.
#[rustfmt::skip]
pub static LINKS_SPARSE_JACOBIAN_COLUMNS: [u32; 36] = [
    0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7, 8, 9, 8, 9, 10, 11, 10, 11, 12, 13, 12, 13, 14,
    15, 14, 15, 16, 17, 16, 17,
];

/// The Jacobian of `links`: `∂y[i]/∂x[j]` where it is not always zero.
/// 36 entries in compressed rows; their places are in `LINKS_SPARSE_JACOBIAN_STARTS` and `LINKS_SPARSE_JACOBIAN_COLUMNS`.
/// With the value, `y`.
#[allow(clippy::needless_range_loop)]
#[inline]
pub fn links_value_and_sparse_jacobian(x: &[f64; 18], y: &mut [f64; 10], jac: &mut [f64; 36]) {
    let t0 = x[0];
    let t1 = x[1];
    y[0] = t0 * t0 + t1 * t1 - 0.0225;
    let t2 = 1.0 - x[16];
    let t3 = 0.0 - x[17];
    y[9] = t2 * t2 + t3 * t3 - 0.0225;
    for i in 0..8 {
        let t4 = x[2 * i + 2] - x[2 * i];
        let t5 = x[2 * i + 3] - x[2 * i + 1];
        y[i + 1] = t4 * t4 + t5 * t5 - 0.0225;
    }
    jac[1] = 2.0 * x[1];
    jac[0] = 2.0 * x[0];
    jac[35] = -2.0 * (0.0 - x[17]);
    jac[34] = -2.0 * (1.0 - x[16]);
    for i in 0..8 {
        let t6 = x[2 * i + 2] - x[2 * i];
        let t7 = x[2 * i + 3] - x[2 * i + 1];
        jac[4 * i + 5] = 2.0 * t7;
        jac[4 * i + 3] = -2.0 * t7;
        jac[4 * i + 4] = 2.0 * t6;
        jac[4 * i + 2] = -2.0 * t6;
    }
}

/// Where each row begins, with the number of entries at the end, of `lagrangian_sparse_hessian`.
#[rustfmt::skip]
pub static LAGRANGIAN_SPARSE_HESSIAN_STARTS: [u32; 19] = [
    0, 2, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43, 46, 48, 50,
];

/// Column of each entry of `lagrangian_sparse_hessian`.
#[rustfmt::skip]
pub static LAGRANGIAN_SPARSE_HESSIAN_COLUMNS: [u32; 50] = [
    0, 2, 1, 3, 0, 2, 4, 1, 3, 5, 2, 4, 6, 3, 5, 7, 4, 6, 8, 5, 7, 9, 6, 8, 10, 7, 9, 11, 8, 10, 12,
    9, 11, 13, 10, 12, 14, 11, 13, 15, 12, 14, 16, 13, 15, 17, 14, 16, 15, 17,
];

/// The Hessian of `lagrangian`: `∂²y/∂x[i]∂x[j]` where it is not always zero.
/// 50 entries in compressed rows; their places are in `LAGRANGIAN_SPARSE_HESSIAN_STARTS` and `LAGRANGIAN_SPARSE_HESSIAN_COLUMNS`.
#[allow(unused_variables, clippy::manual_memcpy, clippy::needless_range_loop)]
#[inline]
pub fn lagrangian_sparse_hessian(x: &[f64; 18], multipliers: &[f64; 10], hess: &mut [f64; 50]) {
    let mut work = [0.0; 16];
    let t0 = multipliers[1];
    let t1 = 2.0 * t0;
    let t2 = 2.0 * multipliers[0] + t1;
    hess[0] = t2;
    hess[2] = t2;
    let t3 = -2.0 * t0;
    hess[1] = t3;
    work[0] = t3;
    hess[5] = t1 + 2.0 * multipliers[2];
    for i in 0..7 {
        let t4 = multipliers[i + 1];
        let t5 = multipliers[i + 2];
        let t6 = 2.0 * t5;
        let t7 = -2.0 * t4;
        hess[6 * i + 3] = t7;
        work[2 * i + 1] = t7;
        hess[6 * i + 8] = 2.0 * t4 + t6;
        let t8 = -2.0 * t5;
        hess[6 * i + 6] = t8;
        work[2 * i + 2] = t8;
        hess[6 * i + 11] = t6 + 2.0 * multipliers[i + 3];
    }
    let t9 = multipliers[8];
    let t10 = -2.0 * t9;
    hess[45] = t10;
    work[15] = t10;
    hess[49] = 2.0 * t9 + 2.0 * multipliers[9];
    for i in 0..15 {
        hess[3 * i + 4] = work[i];
    }
    hess[48] = work[15];
}
