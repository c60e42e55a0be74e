#!/usr/bin/env python3
"""The reference of Taylor mode: coefficients of orders 0 to 12 of every rule along curves, in arbitrary precision.

    pip install mpmath
    python3 .ci/accuracy/taylor.py    # writes crates/differentiation-interface/src/backends/taylor/reference.txt

A line is `rule x [y] coefficient...`: the coefficients of rule(x(t), y(t)) with x(t) = x + t - t²/4 + t³/8 and y(t) = y + t/2 + t²/4, which
`mpmath.taylor` finds by differences with 120 digits. `w8` is exp(sin x) ln(1 + x²) / (2 + cos 3x) along x + t.
"""

from pathlib import Path

from mpmath import mp, mpf

mp.dps = 120
ORDER = 12
FILE = Path(__file__).resolve().parents[2] / "crates/differentiation-interface/src/backends/taylor/reference.txt"

sech2 = lambda x: mp.sech(x) ** 2
logistic = lambda x: 1 / (1 + mp.exp(-x))
slope = lambda x: logistic(x) * (1 - logistic(x))
gauss = lambda x: mp.exp(-x * x)
third = mpf(1) / 3
cbrt = lambda x: mp.sign(x) * abs(x) ** third
h3 = lambda x, y: mp.sqrt(x * x + y * y) ** 3
psi = lambda n: lambda x: mp.psi(n, x)

UNARY = {
    "neg": (lambda x: -x, [0.5, -2]),
    "recip": (lambda x: 1 / x, [0.75, -3]),
    "sqrt": (mp.sqrt, [0.75, 40]),
    "cbrt": (cbrt, [0.75, -3]),
    "cbrt_slope": (lambda x: abs(x) ** (-2 * third) / 3, [0.75, -3]),
    "exp": (mp.exp, [0.5, -3]),
    "exp2": (lambda x: mpf(2) ** x, [0.5, -3]),
    "exp_m1": (mp.expm1, [0.5, -3]),
    "ln": (mp.log, [0.75, 40]),
    "log2": (lambda x: mp.log(x) / mp.log(2), [0.75, 40]),
    "log10": (mp.log10, [0.75, 40]),
    "ln_1p": (lambda x: mp.log(1 + x), [0.5, -0.5]),
    "sin": (mp.sin, [0.5, -3]),
    "cos": (mp.cos, [0.5, -3]),
    "tan": (mp.tan, [0.5, -3]),
    "asin": (mp.asin, [0.5, -0.25]),
    "acos": (mp.acos, [0.5, -0.25]),
    "asin_slope": (lambda x: 1 / mp.sqrt(1 - x * x), [0.5, -0.25]),
    "one_minus_square": (lambda x: 1 - x * x, [0.5, -3]),
    "atan": (mp.atan, [0.5, -3]),
    "atan_slope": (lambda x: 1 / (1 + x * x), [0.5, -3]),
    "sinh": (mp.sinh, [0.5, -3]),
    "cosh": (mp.cosh, [0.5, -3]),
    "tanh": (mp.tanh, [0.5, -3]),
    "sech_squared": (sech2, [0.5, -3]),
    "asinh": (mp.asinh, [0.5, -3]),
    "hypot_one": (lambda x: mp.sqrt(1 + x * x), [0.5, -3]),
    "acosh": (mp.acosh, [1.5, 40]),
    "acosh_slope": (lambda x: 1 / mp.sqrt(x * x - 1), [1.5, 40]),
    "atanh": (mp.atanh, [0.5, -0.25]),
    "erf": (mp.erf, [0.5, -2]),
    "erfc": (mp.erfc, [0.5, -2]),
    "gauss": (gauss, [0.5, -2]),
    "ln_gamma": (mp.loggamma, [0.75, 40]),
    "polygamma0": (psi(0), [0.75, 40, -0.75, -20.25]),
    "polygamma1": (psi(1), [0.75, 40, -0.75, -20.25]),
    "polygamma2": (psi(2), [0.75, 40, -0.75, -20.25]),
    "logistic": (logistic, [0.5, -3]),
    "logistic_slope": (slope, [0.5, -3]),
    "softplus": (lambda x: mp.log(1 + mp.exp(x)), [0.5, -3]),
    "powi3": (lambda x: x**3, [0, 0.5, -3]),
    "powi5": (lambda x: x**5, [0, 0.5, -3]),
    "powi20": (lambda x: x**20, [0.5, -3]),
    "powi-3": (lambda x: x**-3, [0.5, -3]),
    "powc2.5": (lambda x: x ** mpf(2.5), [0.75, 40]),
    "powc-1.5": (lambda x: x ** mpf(-1.5), [0.75, 40]),
}
PLANE = [(0.75, -0.5), (-3, 2), (0, 1.5), (2, 0.25)]
POWER = [(0.75, 1.5), (3, -2.5)]
ln = mp.log
BINARY = {
    "add": (lambda x, y: x + y, PLANE),
    "sub": (lambda x, y: x - y, PLANE),
    "mul": (lambda x, y: x * y, PLANE),
    "div": (lambda x, y: x / y, PLANE),
    "powf": (lambda x, y: x**y, POWER),
    "powf_by_base": (lambda x, y: y * x ** (y - 1), POWER),
    "powf_by_exponent": (lambda x, y: x**y * ln(x), POWER),
    "powf_by_base_twice": (lambda x, y: y * (y - 1) * x ** (y - 2), POWER),
    "powf_by_base_thrice": (lambda x, y: y * (y - 1) * (y - 2) * x ** (y - 3), POWER),
    "powf_mixed": (lambda x, y: x ** (y - 1) * (1 + y * ln(x)), POWER),
    "powf_by_exponent_twice": (lambda x, y: x**y * ln(x) ** 2, POWER),
    "atan2": (lambda y, x: mp.atan2(y, x), [(0.75, -0.5), (-3, 2), (0, 1.5), (2, 0.25)]),
    "angular": (lambda x, y: x / (x * x + y * y), PLANE),
    "angular_bend": (lambda x, y: (y * y - x * x) / (x * x + y * y) ** 2, PLANE),
    "angular_cross": (lambda x, y: -2 * x * y / (x * x + y * y) ** 2, PLANE),
    "hypot": (lambda x, y: mp.sqrt(x * x + y * y), PLANE),
    "direction": (lambda x, y: x / mp.sqrt(x * x + y * y), PLANE),
    "hypot_bend": (lambda x, y: y * y / h3(x, y), PLANE),
    "hypot_cross": (lambda x, y: -x * y / h3(x, y), PLANE),
}


def line(name, point, f):
    coefficients = mp.taylor(f, 0, ORDER)
    numbers = [repr(float(p)) for p in point] + [repr(float(mp.re(c))) if abs(c) > 1e-60 else "0.0" for c in coefficients]
    return " ".join([name, *numbers])


def main():
    along_x = lambda x: lambda t: mpf(x) + t - t**2 / 4 + t**3 / 8
    along_y = lambda y: lambda t: mpf(y) + t / 2 + t**2 / 4
    lines = []
    for name, (f, points) in UNARY.items():
        for x in points:
            lines.append(line(name, [x], lambda t: f(along_x(x)(t))))
    for name, (f, points) in BINARY.items():
        for x, y in points:
            lines.append(line(name, [x, y], lambda t: f(along_x(x)(t), along_y(y)(t))))
    w8 = lambda x: mp.exp(mp.sin(x)) * mp.log(1 + x * x) / (2 + mp.cos(3 * x))
    for x in (mpf(0.7), mpf(-1.25), mpf(0)):
        lines.append(line("w8", [x], lambda t: w8(x + t)))
    FILE.write_text("\n".join(lines) + "\n")


main()
