//! exp, ln, sin, cos, tanh, 1 / cosh², erf, exp(-x²) and powers of one, four and eight numbers, with the same bits.
//!
//! Called by machine code: `functions` has the addresses. Written once, over [`Lanes`], without branches, so that a number does not depend on the lane it is computed in.
//! Arguments for which an algorithm does not hold (not finite, subnormal, very large) get the value of the rule table. Products are added
//! in one instruction where the processor has AVX2 and FMA, in two elsewhere, so last bits depend on that.
//!
//! # Errors
//! Less than 1 ulp for exp, ln, sin, cos, tanh, erf, exp(-x²) and x^y, less than 2 ulp for 1 / cosh² and y x^(y - 1), less than 3 for x^y ln x; the tests measure them against
//! arithmetic of twice the precision.
//!
//! # Source
//! Sun's fdlibm 5.3 (`e_exp.c`, `e_log.c`, `k_sin.c`, `k_cos.c`, `e_rem_pio2.c`, `s_erf.c`, `e_pow.c`: reductions and polynomials); Moshier's Cephes
//! (`tanh.c`: the quotient for small arguments). The polynomial of the exponential is our own. tanh and 1 / cosh² of other arguments are quotients of an exponential whose
//! rounding error is carried along.

#![expect(clippy::excessive_precision, reason = "numbers are those of the sources")]

mod basics;
mod error_function;
mod lanes;
mod power;

use super::code::{Both, Second};
use crate::recording::rules;
use basics::{LN_2, SHIFT, SIGN, exp_parts, magnitude, polynomial, power_of_two};
use differentiation_interface_core::rules::{Cos, Exp, Ln, SechSquared, Sin, Tanh, Unary};
use error_function::{erf, gauss};
use lanes::Lanes;
use lanes::{Eight, Four};
use power::{by_base, by_exponent, power};

#[inline(always)]
fn exp<V: Lanes>(x: V) -> V {
    let (y, _, shifted) = exp_parts(x);
    let value = y.mul(power_of_two(shifted));
    let valid = magnitude(x).less(V::all(708.0));
    if valid.holds() { value } else { value.or_else(valid, x, |x| Exp.value(x)) }
}

#[inline(always)]
fn ln<V: Lanes>(x: V) -> V {
    const EVEN: [f64; 3] = [3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01];
    const ODD: [f64; 4] =
        [6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01];
    // The highest bits of 1 and of the root of 1/2, the least number that is not doubled.
    const ROOT: u64 = 0x3fe6_a09e_0000_0000;
    const TWO_TO_52: u64 = 0x4330_0000_0000_0000;
    let moved = x.add_bits(V::bits(0x3ff0_0000_0000_0000 - ROOT));
    let k = moved.right::<52>().or(V::bits(TWO_TO_52)).sub(V::all(4503599627370496.0 + 1023.0));
    let f = moved.and(V::bits((1 << 52) - 1)).add_bits(V::bits(ROOT)).sub(V::all(1.0));
    let half = V::all(0.5).mul(f).mul(f);
    let s = f.div(V::all(2.0).add(f));
    let z = s.mul(s);
    let w = z.mul(z);
    let r = w.mul(polynomial(w, &EVEN)).plus_product(z, polynomial(w, &ODD));
    let low = k.mul(V::all(LN_2[1])).plus_product(s, half.add(r));
    let value = low.sub(half).add(f).plus_product(k, V::all(LN_2[0]));
    let valid = x.less(V::all(f64::INFINITY)).and(V::all(f64::MIN_POSITIVE * (1.0 - f64::EPSILON)).less(x));
    if valid.holds() { value } else { value.or_else(valid, x, |x| Ln.value(x)) }
}

/// Sine and cosine of what a multiple of π/2 leaves, and the number whose lowest bits are the multiple.
#[inline(always)]
fn circle<V: Lanes>(x: V) -> (V, V, V) {
    const S: [f64; 5] = [
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    ];
    const THIRD: f64 = -1.66666666666666324348e-01;
    const C: [f64; 6] = [
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    ];
    // π/2 as the sum of two numbers with 33 bits and the rest.
    const HALF_PI: [f64; 3] = [1.57079632673412561417e+00, 6.07710050630396597660e-11, 2.02226624879595063154e-21];
    let shifted = V::all(SHIFT).plus_product(x, V::all(std::f64::consts::FRAC_2_PI));
    let k = shifted.sub(V::all(SHIFT));
    let first = x.less_product(k, V::all(HALF_PI[0]));
    let high = first.less_product(k, V::all(HALF_PI[1]));
    let third = k.mul(V::all(HALF_PI[2])).sub(first.sub(high).less_product(k, V::all(HALF_PI[1])));
    let r = high.sub(third);
    let excess = r.sub(high).add(third);
    let z = r.mul(r);
    let cube = z.mul(r);
    let sine = {
        let inner = V::all(0.5).mul(excess).plus_product(cube, polynomial(z, &S));
        r.sub(excess.less_product(z, inner).less_product(cube, V::all(THIRD)))
    };
    let cosine = {
        let half = V::all(0.5).mul(z);
        let w = V::all(1.0).sub(half);
        let rest = z.mul(z.mul(polynomial(z, &C))).plus_product(r, excess);
        w.add(V::all(1.0).sub(w).sub(half).add(rest))
    };
    (sine, cosine, shifted)
}

/// Above, the multiple of π/2 is not exact any more.
const LARGEST_ANGLE: f64 = 1e6;

#[inline(always)]
fn sin<V: Lanes>(x: V) -> V {
    let (sine, cosine, quadrant) = circle(x);
    let value = V::pick(quadrant.left::<63>(), cosine, sine);
    let value = value.xor(quadrant.left::<62>().and(V::bits(SIGN)));
    let valid = magnitude(x).less(V::all(LARGEST_ANGLE));
    if valid.holds() { value } else { value.or_else(valid, x, |x| Sin.value(x)) }
}

#[inline(always)]
fn cos<V: Lanes>(x: V) -> V {
    let (sine, cosine, quadrant) = circle(x);
    let value = V::pick(quadrant.left::<63>(), sine, cosine);
    let value = value.xor(quadrant.add_bits(V::bits(1)).left::<62>().and(V::bits(SIGN)));
    let valid = magnitude(x).less(V::all(LARGEST_ANGLE));
    if valid.holds() { value } else { value.or_else(valid, x, |x| Cos.value(x)) }
}

/// x + x³ P(x²) / Q(x²) for |x| < 0.55, else 1 - 2 / (exp(2x) + 1).
#[inline(always)]
fn tanh<V: Lanes>(x: V) -> V {
    const P: [f64; 3] = [-1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1];
    const Q: [f64; 4] = [4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2, 1.0];
    let (one, two) = (V::all(1.0), V::all(2.0));
    let a = magnitude(x);
    let (is_small, is_below) = (a.less(V::all(0.55)), a.less(V::all(20.0)));
    // The exponential, with its error, plus 1.
    let (y, error, shifted) = exp_parts(two.mul(V::pick(is_below, a, V::all(20.0))));
    let power = power_of_two(shifted);
    let e = y.mul(power);
    let d = e.add(one);
    let d_error = e.sub(d).add(one).plus_product(error, power);
    let z = a.mul(a);
    let numerator = V::pick(is_small, a.mul(z).mul(polynomial(z, &P)), two);
    let q = numerator.div(V::pick(is_small, polynomial(z, &Q), d));
    // 2 / (d + error) = q - q error / d, and 1 / d = q / 2.
    let correction = q.mul(d_error.mul(q.mul(V::all(0.5))));
    let high = one.sub(q);
    let large = high.add(one.sub(high).sub(q).add(correction));
    let value = V::pick(is_small, a.add(q), large);
    let value = value.or(x.and(V::bits(SIGN)));
    // Above 20 it is 1; only NaN needs another answer.
    let valid = a.less(V::all(f64::INFINITY));
    if valid.holds() { value } else { value.or_else(valid, x, |x| Tanh.value(x)) }
}

/// 4 u / (1 + u)², u = exp(-2 |x|).
#[inline(always)]
fn sech_squared<V: Lanes>(x: V) -> V {
    let (one, two, four) = (V::all(1.0), V::all(2.0), V::all(4.0));
    let a = magnitude(x);
    let valid = a.less(V::all(350.0));
    let (y, error, shifted) = exp_parts(V::all(-2.0).mul(V::pick(valid, a, one)));
    let power = power_of_two(shifted);
    let (u, u_error) = (y.mul(power), error.mul(power));
    // The denominator is d + d_error.
    let w = u.mul(two.add(u));
    let d = one.add(w);
    let of_w = d.sub(one);
    let d_error = one.sub(d.sub(of_w)).add(w.sub(of_w)).plus_product(two.mul(one.add(u)), u_error);
    let q = four.mul(u).div(d);
    let value = q.add(four.mul(u_error).less_product(q, d_error).div(d));
    if valid.holds() { value } else { value.or_else(valid, x, |x| SechSquared.value(x)) }
}

/// A function of one number in machine code, for processors that have the instructions it was made for.
type One = unsafe extern "sysv64" fn(f64) -> f64;
/// One of two numbers.
type OneOfTwo = unsafe extern "sysv64" fn(f64, f64) -> f64;

/// Whether the processor has vectors of 32 bytes and adds products in one instruction.
pub(super) fn has_vectors() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

macro_rules! entries {
    ($One:ident $one:ident $vector:ident: $($RULE:ident $name:ident($($x:ident),*),)*) => {
        /// A rule as a function of single numbers, if it is here. With `vectors` the processor must [have them](has_vectors).
        pub(super) fn $one(rule: u16, vectors: bool) -> Option<$One> {
            Some(match (rule, vectors) {
                $((rules::$RULE, false) => {
                    extern "sysv64" fn entry($($x: f64),*) -> f64 {
                        $name($($x),*)
                    }
                    entry
                }
                (rules::$RULE, true) => {
                    #[target_feature(enable = "avx2,fma")]
                    extern "sysv64" fn entry($($x: f64),*) -> f64 {
                        $name($(Four::with_first($x)),*).first()
                    }
                    entry
                })*
                _ => return None,
            })
        }

        /// The address of a rule as a function of four or eight numbers in registers, if it is here. With four the processor must
        /// [have vectors](has_vectors), with eight AVX-512.
        pub(super) fn $vector(rule: u16, lanes: u8) -> Option<usize> {
            use std::arch::x86_64::{__m256d, __m512d};
            Some(match (rule, lanes) {
                $((rules::$RULE, 4) => {
                    #[expect(improper_ctypes_definitions, reason = "vectors are in registers; machine code calls it")]
                    #[target_feature(enable = "avx2,fma")]
                    extern "sysv64" fn entry($($x: __m256d),*) -> __m256d {
                        $name($(Four($x)),*).0
                    }
                    entry as *const () as usize
                }
                (rules::$RULE, 8) => {
                    #[expect(improper_ctypes_definitions, reason = "vectors are in registers; machine code calls it")]
                    #[target_feature(enable = "avx512f,avx512dq")]
                    extern "sysv64" fn entry($($x: __m512d),*) -> __m512d {
                        $name($(Eight($x)),*).0
                    }
                    entry as *const () as usize
                })*
                _ => return None,
            })
        }
    };
}

macro_rules! pairs {
    ($($RULE:ident $name:ident with $OTHER:ident $other:ident,)*) => {
        /// The rule that forms a pair with another one, for one, four or eight numbers, if it is here. With four the processor must
        /// [have vectors](has_vectors), with eight AVX-512.
        pub(super) fn second(rule: u16, lanes: u8) -> Option<Second> {
            use std::arch::x86_64::{__m256d, __m512d};
            let vectors = has_vectors();
            let (other, both) = match (rule, lanes) {
                $((rules::$RULE, 1) if !vectors => {
                    extern "sysv64" fn one(x: f64, other: &mut f64) -> f64 {
                        *other = $other(x);
                        $name(x)
                    }
                    (rules::$OTHER, one as *const () as usize)
                }
                (rules::$RULE, 1) => {
                    #[target_feature(enable = "avx2,fma")]
                    extern "sysv64" fn one(x: f64, other: &mut f64) -> f64 {
                        let x = Four::with_first(x);
                        *other = $other(x).first();
                        $name(x).first()
                    }
                    (rules::$OTHER, one as *const () as usize)
                }
                (rules::$RULE, 4) => {
                    #[expect(improper_ctypes_definitions, reason = "vectors are in registers; machine code calls it")]
                    #[target_feature(enable = "avx2,fma")]
                    extern "sysv64" fn four(x: __m256d, other: &mut [f64; 4]) -> __m256d {
                        $other(Four(x)).store(other);
                        $name(Four(x)).0
                    }
                    (rules::$OTHER, four as *const () as usize)
                }
                (rules::$RULE, 8) => {
                    #[expect(improper_ctypes_definitions, reason = "vectors are in registers; machine code calls it")]
                    #[target_feature(enable = "avx512f,avx512dq")]
                    extern "sysv64" fn eight(x: __m512d, other: &mut [f64; 8]) -> __m512d {
                        $other(Eight(x)).store(other);
                        $name(Eight(x)).0
                    }
                    (rules::$OTHER, eight as *const () as usize)
                })*
                _ => return None,
            };
            let alone = if lanes == 1 { one(other, vectors)? as usize } else { vector(other, lanes)? };
            Some(Second { rule: other, both: Both::Returns(both), alone, is_wanted: false })
        }
    };
}

// What is the same in both functions is computed once, as they are inlined.
pairs! {
    SIN sin with COS cos, COS cos with SIN sin,
    TANH tanh with SECH_SQUARED sech_squared, SECH_SQUARED sech_squared with TANH tanh,
}
entries! {
    One one vector:
    EXP exp(x), LN ln(x), SIN sin(x), COS cos(x), TANH tanh(x), SECH_SQUARED sech_squared(x), ERF erf(x), GAUSS gauss(x),
}
entries! {
    OneOfTwo one_of_two vector_of_two:
    POWF power(x, y), POWF_BY_BASE by_base(x, y), POWF_BY_EXPONENT by_exponent(x, y),
}
