//! W6 and W8 by hand, without vectors: there is one number of each kind. Sine and cosine of an angle take one call of the C library.

use crate::workloads::systems::{DRAG, INERTIA, LIFT};

/// W6: the Jacobian of Lorenz-96 with 40 numbers.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2,fma"))]
pub(crate) fn lorenz(jac: &mut [f64], x: &[f64]) {
    const N: usize = 40;
    let x: &[f64; N] = x.try_into().expect("40 numbers");
    let jac: &mut [f64; N * N] = jac.try_into().expect("40 rows");
    *jac = [0.0; N * N];
    let mut put = |i: usize, far: usize, before: usize, after: usize| {
        let row = i * N;
        jac[row + after] = x[before];
        jac[row + far] = -x[before];
        jac[row + before] = x[after] - x[far];
        jac[row + i] = -1.0;
    };
    put(0, N - 2, N - 1, 1);
    put(1, N - 1, 0, 2);
    for i in 2..N - 1 {
        put(i, i - 2, i - 1, i + 1);
    }
    put(N - 1, N - 3, N - 2, 0);
}

/// W6: the Jacobian of the quadrotor.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2,fma"))]
pub(crate) fn quadrotor(jac: &mut [f64], x: &[f64]) {
    const N: usize = 12;
    let x: &[f64; N] = x.try_into().expect("12 numbers");
    let jac: &mut [f64; N * N] = jac.try_into().expect("12 rows");
    *jac = [0.0; N * N];
    let (v, w) = (&x[3..6], &x[9..12]);
    let ((sf, cf), (st, ct), (sp, cp)) = (sin_cos(x[6]), sin_cos(x[7]), sin_cos(x[8]));
    let speed = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
    for i in 0..3 {
        jac[i * N + 3 + i] = 1.0;
        for j in 0..3 {
            jac[(3 + i) * N + 3 + j] = -DRAG * v[i] * v[j] / speed;
        }
        jac[(3 + i) * N + 3 + i] -= DRAG * speed;
    }
    let mut set = |i: usize, j: usize, value: f64| jac[i * N + j] = value;
    set(3, 6, LIFT * (cf * sp - sf * st * cp));
    set(3, 7, LIFT * (cf * ct * cp));
    set(3, 8, LIFT * (sf * cp - cf * st * sp));
    set(4, 6, LIFT * (-sf * st * sp - cf * cp));
    set(4, 7, LIFT * (cf * ct * sp));
    set(4, 8, LIFT * (cf * st * cp + sf * sp));
    set(5, 6, -LIFT * sf * ct);
    set(5, 7, -LIFT * cf * st);
    let sec = 1.0 / ct;
    let (q, dq, tan) = (w[1] * sf + w[2] * cf, w[1] * cf - w[2] * sf, st * sec);
    set(6, 6, dq * tan);
    set(6, 7, q * sec * sec);
    set(6, 9, 1.0);
    set(6, 10, sf * tan);
    set(6, 11, cf * tan);
    set(7, 6, -q);
    set(7, 10, cf);
    set(7, 11, -sf);
    set(8, 6, dq * sec);
    set(8, 7, q * sec * tan);
    set(8, 10, sf * sec);
    set(8, 11, cf * sec);
    let [i1, i2, i3] = INERTIA;
    let c = [(i2 - i3) / i1, (i3 - i1) / i2, (i1 - i2) / i3];
    set(9, 10, c[0] * w[2]);
    set(9, 11, c[0] * w[1]);
    set(10, 9, c[1] * w[2]);
    set(10, 11, c[1] * w[0]);
    set(11, 9, c[2] * w[1]);
    set(11, 10, c[2] * w[0]);
}

/// W8: the second derivative of exp(sin x) ln(1 + x²) / (2 + cos 3x) by truncated series of its factors.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2,fma"))]
pub(crate) fn peak_second(x: f64) -> f64 {
    let ((s, c), (s3, c3)) = (sin_cos(x), sin_cos(3.0 * x));
    let e = s.exp();
    let e = [e, e * c, e * (c * c - s) * 0.5];
    let inverse = 1.0 / (1.0 + x * x);
    let slope = 2.0 * x * inverse;
    let l = [(1.0 + x * x).ln(), slope, inverse - 0.5 * slope * slope];
    let p = [e[0] * l[0], e[0] * l[1] + e[1] * l[0], e[0] * l[2] + e[1] * l[1] + e[2] * l[0]];
    let d = [2.0 + c3, -3.0 * s3, -4.5 * c3];
    let inverse = 1.0 / d[0];
    let first = p[0] * inverse;
    let second = (p[1] - d[1] * first) * inverse;
    2.0 * (p[2] - d[1] * second - d[2] * first) * inverse
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[inline(always)]
#[expect(unsafe_code, reason = "`f64::sin_cos` calls the C library twice; this is one call of it")]
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    unsafe extern "C" {
        fn sincos(x: f64, sin: *mut f64, cos: *mut f64);
    }
    let (mut sin, mut cos) = (0.0, 0.0);
    // SAFETY: glibc's `sincos` writes one number to each pointer, and both are of live variables.
    unsafe { sincos(x, &raw mut sin, &raw mut cos) };
    (sin, cos)
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
#[inline(always)]
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    x.sin_cos()
}
