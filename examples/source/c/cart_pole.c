/* Made by derivative-source 0.1.0; do not edit. Renew it by: cargo run -p derivative-source-examples */
#include "cart_pole.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

void cart_pole_value_and_jacobian(
    const double *restrict x,
    double *restrict y,
    double *restrict jac)
{
    for (int i = 0; i < 18; i++) jac[i] = 0;
    const double t0 = x[1];
    const double t1 = sin(t0);
    const double t2 = cos(t0);
    const double t3 = x[3];
    const double t4 = 0.05 * t3;
    const double t5 = t3 * t4;
    const double t6 = (t1 * t5 + x[4]) / 1.1;
    const double t7 = 0.09090909090909091 * t2;
    const double t8 = 0.5 * (1.3333333333333333 - t2 * t7);
    const double t9 = (9.81 * t1 - t2 * t6) / t8;
    y[3] = t9;
    const double t10 = 0.045454545454545456 * t9;
    y[2] = t6 - t2 * t10;
    y[0] = x[2];
    y[1] = t3;
    const double t11 = -0.045454545454545456 * t2;
    const double t12 = 1.0 / t8;
    const double t13 = t11 * t12;
    const double t14 = t12 * (t9 * t11);
    const double t15 = 0.045454545454545456 * (t2 * t14);
    const double t16 = 0.5 * (t7 * t14) - t10 + t15 - t6 * t13;
    const double t17 = 0.9090909090909091 * (1.0 - t2 * t13);
    jac[14] = t17;
    const double t18 = t1 * t17;
    jac[13] = t4 * t18 + 0.05 * (t3 * t18);
    jac[11] = t2 * (9.81 * t13 + t5 * t17) - t1 * t16;
    const double t19 = t9 * t12;
    const double t20 = 0.045454545454545456 * (t2 * t19);
    const double t21 = 0.5 * (t7 * t19) + t20 - t6 * t12;
    const double t22 = -0.9090909090909091 * (t2 * t12);
    jac[19] = t22;
    const double t23 = t1 * t22;
    jac[18] = t4 * t23 + 0.05 * (t3 * t23);
    jac[16] = t2 * (9.81 * t12 + t5 * t22) - t1 * t21;
    jac[2] = 1.0;
    jac[8] = 1.0;
}
