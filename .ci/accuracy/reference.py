#!/usr/bin/env python3
"""The reference of the rule table: values and derivatives of every rule at drawn points, in 400-bit arithmetic.

    pip install mpmath
    python3 .ci/accuracy/reference.py           # writes crates/differentiation-interface-core/tests/accuracy/table.txt
    python3 .ci/accuracy/reference.py --check   # compares with the file, which `tests/accuracy.rs` reads

Points are drawn with a fixed seed: log-uniformly over all exponents (subnormal numbers included), uniformly where functions
bend, and close to roots, poles and ends of domains. The formulas here are those of textbooks and share nothing with the
rules. A line of the table is

    rule x [y] entry...

with the arguments as the bits of a double. There is an entry for the value, the first and the second derivatives (for two
arguments f_x f_y f_xx f_xy f_yy): the bits of the nearest double, what is missing to the exact number in thousandths of a
unit in the last place, and the condition number, that is the sum of |x_i dF/dx_i / F| over the arguments.
"""

import argparse
import math
import random
import struct
import sys
from pathlib import Path

from mpmath import mp, mpf

TABLE = Path(__file__).resolve().parents[2] / "crates/differentiation-interface-core/tests/accuracy/table.txt"
UNARY_POINTS, BINARY_POINTS, SEED = 90, 130, 1
mp.prec = 400
ROOT_OF_DIGAMMA = 1.4616321449683622


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def double(number):
    """The nearest double, ties to even, and what is missing in units in the last place."""
    if number == 0:
        return 0.0, 0.0
    sign, mantissa, exponent, length = number._mpf_
    if length + exponent < -1100:
        return -0.0 if sign else 0.0, 0.0
    unit = max(length + exponent - 53, -1074)  # exponent of the unit in the last place
    shift = unit - exponent
    if shift <= 0:
        rounded, rest = mantissa << -shift, mpf(0)
    else:
        rounded, low = mantissa >> shift, mantissa & ((1 << shift) - 1)
        if low > (1 << (shift - 1)) or (low == 1 << (shift - 1) and rounded & 1):
            rounded += 1
        rest = mpf(mantissa) / mpf(2) ** shift - rounded
    if (rounded.bit_length() + unit) > 1024:
        return (-math.inf if sign else math.inf), 0.0
    value = math.ldexp(rounded, unit)
    rest = float(rest)
    return (-value, -rest) if sign else (value, rest)


# Functions whose result or argument would be out of the range that mpmath can handle quickly.


def exp(x):
    return mp.exp(x) if x > -3000 else mpf(0) if x < -10**6 else mp.exp(x)


def gauss(x):
    return exp(-x * x)


def logistic(x):
    return 1 / (1 + exp(-x)) if x > 0 else exp(x) / (1 + exp(x))


def logistic_slope(x):
    e = exp(-abs(x))
    return e / (1 + e) ** 2


def logistic_bend(x):
    e = exp(-abs(x))
    return -mp.sign(x) * e * (1 - e) / (1 + e) ** 3 if abs(x) > 1 else -logistic_slope(x) * mp.tanh(x / 2)


def sech2(x):
    e = exp(-2 * abs(x))
    return 4 * e / (1 + e) ** 2


def tanh(x):
    return mp.tanh(x) if abs(x) < 1000 else mp.sign(x)


def log1p(x):
    return mp.log1p(x)


def erf(x):
    return mp.erf(x) if abs(x) < 100 else mp.sign(x)


def erfc(x):
    return mp.erfc(x) if abs(x) < 100 else mpf(0) if x > 0 else mpf(2)


def psi(n):
    return lambda x: mp.psi(n, x)


def ln_gamma(x):
    return mp.loggamma(x) if x > 0 else mp.log(abs(mp.gamma(x)))


def power(x, y):
    """x^y for x > 0, or for an integer y."""
    return mp.power(x, y)


c = mp.sqrt(mp.pi)
ln2, ln10 = mp.log(2), mp.log(10)
sqrt = mp.sqrt
zero, one = (lambda *_: mpf(0)), (lambda *_: mpf(1))

everything = lambda x: True
positive = lambda x: x > 0
nonzero = lambda x: x != 0
inside = lambda x: abs(x) < 1
no_pole = lambda x: not (x <= 0 and x == math.floor(x))

# rule: value, first and second derivative, domain, where to look closely.
UNARY = {
    "Negate": (lambda x: -x, lambda x: mpf(-1), zero, everything, []),
    "Recip": (lambda x: 1 / x, lambda x: -1 / x**2, lambda x: 2 / x**3, nonzero, []),
    "Abs": (abs, mp.sign, zero, nonzero, []),
    "Signum": (mp.sign, zero, zero, nonzero, []),
    "Floor": (mp.floor, zero, zero, everything, [1, 2, -1]),
    "Ceil": (mp.ceil, zero, zero, everything, [1, 2, -1]),
    "Round": (lambda x: mp.sign(x) * mp.floor(abs(x) + mpf(1) / 2), zero, zero, everything, [0.5, 1.5]),
    "Trunc": (lambda x: mp.sign(x) * mp.floor(abs(x)), zero, zero, everything, [1, 2, -1]),
    "Fract": (lambda x: x - mp.sign(x) * mp.floor(abs(x)), one, zero, everything, [1, 2, -1]),
    "Degrees": (lambda x: x * 180 / mp.pi, lambda x: 180 / mp.pi, zero, everything, []),
    "Radians": (lambda x: x * mp.pi / 180, lambda x: mp.pi / 180, zero, everything, []),
    "Sqrt": (sqrt, lambda x: 1 / (2 * sqrt(x)), lambda x: -1 / (4 * x * sqrt(x)), positive, [1]),
    "Cbrt": (
        lambda x: mp.sign(x) * mp.cbrt(abs(x)),
        lambda x: 1 / (3 * mp.cbrt(x * x)),
        lambda x: -2 * mp.sign(x) / (9 * mp.cbrt(abs(x)) ** 5),
        nonzero,
        [1],
    ),
    "Exp": (exp, exp, exp, everything, [0, 1]),
    "Exp2": (lambda x: exp(x * ln2), lambda x: ln2 * exp(x * ln2), lambda x: ln2**2 * exp(x * ln2), everything, [0, 1]),
    "ExpM1": (mp.expm1, exp, exp, lambda x: x > -1e6, [0]),
    "Ln": (mp.log, lambda x: 1 / x, lambda x: -1 / x**2, positive, [1]),
    "Log2": (lambda x: mp.log(x) / ln2, lambda x: 1 / (ln2 * x), lambda x: -1 / (ln2 * x**2), positive, [1]),
    "Log10": (lambda x: mp.log(x) / ln10, lambda x: 1 / (ln10 * x), lambda x: -1 / (ln10 * x**2), positive, [1]),
    "Ln1p": (log1p, lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2, lambda x: x > -1, [0, -1]),
    "Sin": (mp.sin, mp.cos, lambda x: -mp.sin(x), everything, [math.pi, math.pi / 2]),
    "Cos": (mp.cos, lambda x: -mp.sin(x), lambda x: -mp.cos(x), everything, [math.pi, math.pi / 2]),
    "Tan": (mp.tan, lambda x: mp.sec(x) ** 2, lambda x: 2 * mp.tan(x) * mp.sec(x) ** 2, everything, [math.pi, math.pi / 2]),
    "Asin": (mp.asin, lambda x: 1 / sqrt(1 - x * x), lambda x: x / sqrt(1 - x * x) ** 3, inside, [0, 1, -1]),
    "Acos": (mp.acos, lambda x: -1 / sqrt(1 - x * x), lambda x: -x / sqrt(1 - x * x) ** 3, inside, [0, 1, -1]),
    "Atan": (mp.atan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2, everything, [0, 1]),
    "Sinh": (mp.sinh, mp.cosh, mp.sinh, lambda x: abs(x) < 1e6, [0]),
    "Cosh": (mp.cosh, mp.sinh, mp.cosh, lambda x: abs(x) < 1e6, [0]),
    "Tanh": (tanh, sech2, lambda x: -2 * tanh(x) * sech2(x), everything, [0]),
    "Asinh": (mp.asinh, lambda x: 1 / sqrt(1 + x * x), lambda x: -x / sqrt(1 + x * x) ** 3, everything, [0]),
    "Acosh": (mp.acosh, lambda x: 1 / sqrt(x * x - 1), lambda x: -x / sqrt(x * x - 1) ** 3, lambda x: x > 1, [1, 2]),
    "Atanh": (mp.atanh, lambda x: 1 / (1 - x * x), lambda x: 2 * x / (1 - x * x) ** 2, inside, [0, 1, -1]),
    "Erf": (erf, lambda x: 2 / c * gauss(x), lambda x: -4 / c * x * gauss(x), everything, [0, 1]),
    "Erfc": (erfc, lambda x: -2 / c * gauss(x), lambda x: 4 / c * x * gauss(x), everything, [0, 1]),
    "LnGamma": (ln_gamma, psi(0), psi(1), no_pole, [1, 2, ROOT_OF_DIGAMMA, -0.5, -1, -2.6]),
    "Logistic": (logistic, logistic_slope, logistic_bend, everything, [0]),
    "Softplus": (lambda x: log1p(exp(x)) if x < 1000 else x, logistic, logistic_slope, everything, [0]),
    # Derivatives of the rules above, with one derivative of their own.
    "SechSquared": (sech2, lambda x: -2 * tanh(x) * sech2(x), None, everything, [0]),
    "HypotOne": (lambda x: sqrt(1 + x * x), lambda x: x / sqrt(1 + x * x), None, everything, [0]),
    "OneMinusSquare": (lambda x: 1 - x * x, lambda x: -2 * x, None, everything, [0, 1, -1]),
    "AsinSlope": (lambda x: 1 / sqrt(1 - x * x), lambda x: x / sqrt(1 - x * x) ** 3, None, inside, [0, 1, -1]),
    "AtanSlope": (lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2, None, everything, [0, 1]),
    "AcoshSlope": (lambda x: 1 / sqrt(x * x - 1), lambda x: -x / sqrt(x * x - 1) ** 3, None, lambda x: x > 1, [1, 2]),
    "CbrtSlope": (
        lambda x: 1 / (3 * mp.cbrt(x * x)),
        lambda x: -2 * mp.sign(x) / (9 * mp.cbrt(abs(x)) ** 5),
        None,
        nonzero,
        [1],
    ),
    "Gauss": (gauss, lambda x: -2 * x * gauss(x), None, everything, [0, 1]),
    "LogisticSlope": (logistic_slope, logistic_bend, None, everything, [0]),
}
for n in [-7, -3, -2, -1, 0, 1, 2, 3, 4, 5, 9]:
    UNARY[f"Powi({n})"] = (
        lambda x, n=n: x**n,
        lambda x, n=n: n * x ** (n - 1) if n else mpf(0),
        lambda x, n=n: n * (n - 1) * x ** (n - 2) if n * (n - 1) else mpf(0),
        nonzero,
        [1],
    )
for e in ["-1.5", "0.0", "0.5", "1.0", "2.0", "2.5", "0.1", "0.3333333333333333", "-0.7", "0.003", "7.3", "-1e-20"]:
    k = mpf(float(e))
    UNARY[f"Powc({e})"] = (
        lambda x, k=k: power(x, k),
        lambda x, k=k: k * power(x, k - 1),
        lambda x, k=k: k * (k - 1) * power(x, k - 2),
        positive,
        [1],
    )
for n in range(4):
    UNARY[f"Polygamma({n})"] = (psi(n), psi(n + 1), psi(n + 2), no_pole, [1, 2, ROOT_OF_DIGAMMA, -0.5, -1, -2.6])


def rho(x, y):
    return x * x + y * y


def same_sign(x, y):
    return (x < 0) == (y < 0)


def rem(x, y):
    # The exact quotient has up to 2100 bits, so integers do it.
    a, b = abs(x)._mpf_, abs(y)._mpf_
    low = min(a[2], b[2])
    quotient, rest = divmod(a[1] << (a[2] - low), b[1] << (b[2] - low))
    sign = 1 if same_sign(x, y) else -1
    return mp.sign(x) * mp.ldexp(mpf(rest), low), sign * mpf(quotient)


def max_of(first):
    """A rule that takes its first argument where `first` says so."""
    return (
        lambda x, y: x if first(x, y) else y,
        lambda x, y: mpf(first(x, y)),
        lambda x, y: mpf(not first(x, y)),
        zero,
        zero,
        zero,
    )


def hypot_part(x, y):
    return x / sqrt(rho(x, y))


both_nonzero = lambda x, y: x != 0 and y != 0
some_nonzero = lambda x, y: x != 0 or y != 0
apart = lambda x, y: x != y
base_positive = lambda x, y: x > 0 and abs(y) < 1e10

BINARY = {
    "Plus": (lambda x, y: x + y, one, one, zero, zero, zero, apart),
    "Minus": (lambda x, y: x - y, one, lambda x, y: mpf(-1), zero, zero, zero, apart),
    "Times": (lambda x, y: x * y, lambda x, y: y, lambda x, y: x, zero, one, zero, apart),
    "Over": (
        lambda x, y: x / y,
        lambda x, y: 1 / y,
        lambda x, y: -x / y**2,
        zero,
        lambda x, y: -1 / y**2,
        lambda x, y: 2 * x / y**3,
        both_nonzero,
    ),
    "Modulo": (lambda x, y: rem(x, y)[0], one, lambda x, y: -rem(x, y)[1], zero, zero, zero, both_nonzero),
    "Powf": (
        power,
        lambda x, y: y * power(x, y - 1),
        lambda x, y: power(x, y) * mp.log(x),
        lambda x, y: y * (y - 1) * power(x, y - 2),
        lambda x, y: power(x, y - 1) * (1 + y * mp.log(x)),
        lambda x, y: power(x, y) * mp.log(x) ** 2,
        base_positive,
    ),
    # Its arguments are (y, x); the letters here are those of the line.
    "Atan2": (
        lambda x, y: mp.atan2(x, y),
        lambda x, y: y / rho(x, y),
        lambda x, y: -x / rho(x, y),
        lambda x, y: -2 * x * y / rho(x, y) ** 2,
        lambda x, y: (x * x - y * y) / rho(x, y) ** 2,
        lambda x, y: 2 * x * y / rho(x, y) ** 2,
        some_nonzero,
    ),
    "Hypot": (
        lambda x, y: sqrt(rho(x, y)),
        hypot_part,
        lambda x, y: hypot_part(y, x),
        lambda x, y: y * y / sqrt(rho(x, y)) ** 3,
        lambda x, y: -x * y / sqrt(rho(x, y)) ** 3,
        lambda x, y: x * x / sqrt(rho(x, y)) ** 3,
        some_nonzero,
    ),
    "Max": (*max_of(lambda x, y: x >= y), apart),
    "Min": (*max_of(lambda x, y: x <= y), apart),
    "AtLeast": (*max_of(lambda x, y: x >= y), apart),
    "AtMost": (*max_of(lambda x, y: x <= y), apart),
    "Copysign": (
        lambda x, y: abs(x) * mp.sign(y),
        lambda x, y: mpf(1 if same_sign(x, y) else -1),
        zero,
        zero,
        zero,
        zero,
        both_nonzero,
    ),
    "AbsSub": (
        lambda x, y: max(x - y, mpf(0)),
        lambda x, y: mpf(x > y),
        lambda x, y: -mpf(x > y),
        zero,
        zero,
        zero,
        apart,
    ),
    # Derivatives of the rules above, with one derivative of their own.
    "Direction": (
        hypot_part,
        lambda x, y: y * y / sqrt(rho(x, y)) ** 3,
        lambda x, y: -x * y / sqrt(rho(x, y)) ** 3,
        None,
        None,
        None,
        some_nonzero,
    ),
    "Angular": (
        lambda x, y: x / rho(x, y),
        lambda x, y: (y * y - x * x) / rho(x, y) ** 2,
        lambda x, y: -2 * x * y / rho(x, y) ** 2,
        None,
        None,
        None,
        some_nonzero,
    ),
    "PowfByBase": (
        lambda x, y: y * power(x, y - 1),
        lambda x, y: y * (y - 1) * power(x, y - 2),
        lambda x, y: power(x, y - 1) * (1 + y * mp.log(x)),
        None,
        None,
        None,
        base_positive,
    ),
    "PowfByExponent": (
        lambda x, y: power(x, y) * mp.log(x),
        lambda x, y: power(x, y - 1) * (1 + y * mp.log(x)),
        lambda x, y: power(x, y) * mp.log(x) ** 2,
        None,
        None,
        None,
        base_positive,
    ),
    # Second derivatives, of which there is a value.
    "HypotBend": (lambda x, y: y * y / sqrt(rho(x, y)) ** 3, *[None] * 5, some_nonzero),
    "HypotCross": (lambda x, y: -x * y / sqrt(rho(x, y)) ** 3, *[None] * 5, some_nonzero),
    "AngularBend": (lambda x, y: (y * y - x * x) / rho(x, y) ** 2, *[None] * 5, some_nonzero),
    "AngularCross": (lambda x, y: -2 * x * y / rho(x, y) ** 2, *[None] * 5, some_nonzero),
    "PowfByBaseTwice": (lambda x, y: y * (y - 1) * power(x, y - 2), *[None] * 5, base_positive),
    "PowfByBaseThrice": (lambda x, y: y * (y - 1) * (y - 2) * power(x, y - 3), *[None] * 5, base_positive),
    "PowfMixed": (lambda x, y: power(x, y - 1) * (1 + y * mp.log(x)), *[None] * 5, base_positive),
    "PowfByExponentTwice": (lambda x, y: power(x, y) * mp.log(x) ** 2, *[None] * 5, base_positive),
    # Parts of the fused product and sum, exact or constant by definition.
    "Together": (lambda x, y: x + y, one, one, zero, zero, zero, apart),
}


def drawn(rng, special):
    """A double: of any magnitude, of a usual one, or close to a special number."""
    kind = rng.random()
    sign = rng.choice([1, -1])
    if kind < 0.3:
        return sign * math.ldexp(1 + rng.random(), rng.randint(-1074, 1022))
    if kind < 0.6:
        return sign * math.ldexp(1 + rng.random(), rng.randint(-6, 5))
    if kind < 0.7:
        return sign * rng.uniform(0, 40)
    if kind < 0.8:
        return sign * math.ldexp(rng.randint(1, 9), -1074) if rng.random() < 0.5 else sign * math.ldexp(1 - rng.random() / 4, 1024 - 1) * 1.5
    near = rng.choice(special or [1])
    return (near or 1) * (1 + sign * math.ldexp(1 + rng.random(), -rng.randint(1, 30))) if near else sign * math.ldexp(1 + rng.random(), -rng.randint(1, 60))


def condition(f, arguments, value):
    """Sum of |x_i df/dx_i / f|, by central differences of relative step 1e-30."""
    total = mpf(0)
    step = mpf(10) ** -30
    for i, x in enumerate(arguments):
        around = [f(*arguments[:i], x * (1 + s), *arguments[i + 1 :]) for s in (step, -step)]
        total += abs((around[0] - around[1]) / (2 * step))
    return 0.0 if total == 0 else math.inf if value == 0 else float(min(total / abs(value), mpf(10) ** 9))


def entry(f, arguments):
    if f is None:
        return "-"
    value = mp.re(f(*arguments))
    nearest, rest = double(value)
    number = condition(lambda *a: mp.re(f(*a)), arguments, value)
    return f"{bits(nearest):x},{round(rest * 1000)},{number:.2g}"


def lines(seed, times):
    for name, (*functions, domain, special) in UNARY.items():
        rng = random.Random(f"{name} {seed}")
        count = 0
        while count < times * UNARY_POINTS:
            x = drawn(rng, special)
            if not math.isfinite(x) or x == 0 or not domain(x):
                continue
            if ("Polygamma" in name or name == "LnGamma") and (x < -40 or (x > 0 and x < 1e-300 and name == "LnGamma" and False)):
                continue
            count += 1
            yield " ".join([name, f"{bits(x):x}", *(entry(f, [mpf(x)]) for f in functions)])
    for name, (*functions, domain) in BINARY.items():
        rng = random.Random(f"{name} {seed}")
        count = 0
        while count < times * BINARY_POINTS:
            x, y = drawn(rng, [1, -1, 0.5, 2]), drawn(rng, [1, -1, 0.5, 2])
            if rng.random() < 0.3:
                # Arguments of one magnitude.
                y = x * rng.choice([1, -1]) * math.ldexp(1 + rng.random(), rng.randint(-4, 4))
            if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0 or not domain(x, y):
                continue
            if name == "Modulo" and abs(x / y) > 1e200:
                continue
            count += 1
            yield " ".join([name, f"{bits(x):x}", f"{bits(y):x}", *(entry(f, [mpf(x), mpf(y)]) for f in functions)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    parser.add_argument("--seed", type=int, default=SEED, help="draw other points; for a look beyond the table")
    parser.add_argument("--points", type=int, default=1, help="so many times as many points")
    arguments = parser.parse_args()
    text = "# Written by .ci/accuracy/reference.py, which says what the columns are.\n" + "\n".join(lines(arguments.seed, arguments.points)) + "\n"
    if not arguments.check:
        TABLE.write_text(text)
        print(f"{TABLE}: {len(text.splitlines()) - 1} points, {len(text)} bytes")
    elif TABLE.read_text() != text:
        sys.exit(f"{TABLE} is not what reference.py computes; run it without --check and look at the difference")
    else:
        print(f"{TABLE} is what reference.py computes")


if __name__ == "__main__":
    main()
