// Made by derivative-source 0.1.0; do not edit. Renew it by: cargo run -p derivative-source-examples

/// The Jacobian of `cart_pole`, row by row: `jac[5 * i + j]` is `∂y[i]/∂x[j]`.
/// With the value, `y`.
#[inline]
pub fn cart_pole_value_and_jacobian(x: &[f64; 5], y: &mut [f64; 4], jac: &mut [f64; 20]) {
    jac[0..18].fill(0.0);
    let t0 = x[1];
    let t1 = libm::sin(t0);
    let t2 = libm::cos(t0);
    let t3 = x[3];
    let t4 = 0.05 * t3;
    let t5 = t3 * t4;
    let t6 = (t1 * t5 + x[4]) / 1.1;
    let t7 = 0.09090909090909091 * t2;
    let t8 = 0.5 * (1.3333333333333333 - t2 * t7);
    let t9 = (9.81 * t1 - t2 * t6) / t8;
    y[3] = t9;
    let t10 = 0.045454545454545456 * t9;
    y[2] = t6 - t2 * t10;
    y[0] = x[2];
    y[1] = t3;
    let t11 = -0.045454545454545456 * t2;
    let t12 = 1.0 / t8;
    let t13 = t11 * t12;
    let t14 = t12 * (t9 * t11);
    let t15 = 0.045454545454545456 * (t2 * t14);
    let t16 = 0.5 * (t7 * t14) - t10 + t15 - t6 * t13;
    let t17 = 0.9090909090909091 * (1.0 - t2 * t13);
    jac[14] = t17;
    let t18 = t1 * t17;
    jac[13] = t4 * t18 + 0.05 * (t3 * t18);
    jac[11] = t2 * (9.81 * t13 + t5 * t17) - t1 * t16;
    let t19 = t9 * t12;
    let t20 = 0.045454545454545456 * (t2 * t19);
    let t21 = 0.5 * (t7 * t19) + t20 - t6 * t12;
    let t22 = -0.9090909090909091 * (t2 * t12);
    jac[19] = t22;
    let t23 = t1 * t22;
    jac[18] = t4 * t23 + 0.05 * (t3 * t23);
    jac[16] = t2 * (9.81 * t12 + t5 * t22) - t1 * t21;
    jac[2] = 1.0;
    jac[8] = 1.0;
}
