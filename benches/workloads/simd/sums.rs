//! W1 to W4 by hand: gradients without the value, the sparse Hessians and a product with a Hessian.
//!
//! The loops are plain Rust without indices; the compiler makes vectors of them. [`super::by_hand`] calls them.

/// W1: 2 xᵢ.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2,fma"))]
pub(crate) fn squares(grad: &mut [f64], x: &[f64]) {
    for (g, x) in grad.iter_mut().zip(x) {
        *g = 2.0 * x;
    }
}

/// W2: the gradient of the Rosenbrock function of at least two numbers. The middle entries have one form.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2,fma"))]
pub(crate) fn rosenbrock(grad: &mut [f64], x: &[f64]) {
    let n = x.len();
    assert!(n >= 2 && grad.len() == n, "an entry for each of at least two numbers");
    grad[0] = -400.0 * x[0] * (x[1] - x[0] * x[0]) - 2.0 * (1.0 - x[0]);
    for ((g, before), w) in grad[1..n - 1].iter_mut().zip(&x[..n - 2]).zip(x[1..].windows(2)) {
        *g = 200.0 * (w[0] - before * before) - 400.0 * w[0] * (w[1] - w[0] * w[0]) - 2.0 * (1.0 - w[0]);
    }
    grad[n - 1] = 200.0 * (x[n - 1] - x[n - 2] * x[n - 2]);
}

/// W3: the entries of the Hessian of the squared differences of `n` ≥ 2 numbers, row by row.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2,fma"))]
pub(crate) fn differences_hessian(values: &mut [f64], n: usize) {
    assert_eq!(values.len(), 3 * n - 2, "three entries a row, two in the first and last");
    (values[0], values[1]) = (2.0, -2.0);
    for row in values[2..3 * n - 4].as_chunks_mut::<3>().0 {
        *row = [-2.0, 4.0, -2.0];
    }
    (values[3 * n - 4], values[3 * n - 3]) = (-2.0, 2.0);
}

/// The entries of the Hessian of the Rosenbrock function, row by row.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2,fma"))]
pub(crate) fn rosenbrock_hessian(values: &mut [f64], x: &[f64]) {
    let n = x.len();
    assert_eq!(values.len(), 3 * n - 2, "three entries a row, two in the first and last");
    let diagonal = |i: usize| 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0;
    (values[0], values[1]) = (diagonal(0), -400.0 * x[0]);
    for (row, i) in values[2..3 * n - 4].as_chunks_mut::<3>().0.iter_mut().zip(1..) {
        *row = [-400.0 * x[i - 1], diagonal(i) + 200.0, -400.0 * x[i]];
    }
    (values[3 * n - 4], values[3 * n - 3]) = (-400.0 * x[n - 2], 200.0);
}

/// W4: the product of the Hessian of the Rosenbrock function of at least three numbers with `v`.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2,fma"))]
pub(crate) fn rosenbrock_product(product: &mut [f64], x: &[f64], v: &[f64]) {
    let n = x.len();
    assert!(n >= 3 && v.len() == n && product.len() == n, "an entry for each of at least three numbers");
    let diagonal = |x: f64, next: f64| 1200.0 * x * x - 400.0 * next + 2.0;
    product[0] = diagonal(x[0], x[1]) * v[0] - 400.0 * x[0] * v[1];
    for ((product, x), v) in product[1..n - 1].iter_mut().zip(x.windows(3)).zip(v.windows(3)) {
        *product = (diagonal(x[1], x[2]) + 200.0) * v[1] - 400.0 * (x[0] * v[0] + x[1] * v[2]);
    }
    product[n - 1] = 200.0 * v[n - 1] - 400.0 * x[n - 2] * v[n - 2];
}
