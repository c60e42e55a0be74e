/* Made by derivative-source 0.1.0; do not edit. Renew it by: cargo run -p derivative-source-examples */
#pragma once

#ifdef __cplusplus
#define restrict __restrict
extern "C" {
#endif

/* The Jacobian of `cart_pole`, row by row: `jac[5 * i + j]` is `∂y[i]/∂x[j]`.
   With the value, `y`.
   Lengths: x[5], y[4], jac[20]. */
void cart_pole_value_and_jacobian(
    const double *restrict x,
    double *restrict y,
    double *restrict jac);

#ifdef __cplusplus
}
#undef restrict
#endif
