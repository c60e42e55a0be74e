/* Linearises the cart with a pole by the emitted code and prints value and Jacobian. */
#include "cart_pole.h"

#include <stdio.h>

int main(void)
{
    const double x[5] = {0.0, 0.2, 0.5, -0.3, 1.5};
    double y[4], jac[20];
    cart_pole_value_and_jacobian(x, y, jac);
    for (int i = 0; i < 4; i++) printf("%.17g\n", y[i]);
    for (int i = 0; i < 20; i++) printf("%.17g\n", jac[i]);
    return 0;
}
