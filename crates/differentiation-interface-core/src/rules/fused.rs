//! Rounding errors of products and sums, from which engines with operations of two numbers compose a fused product and sum.
//!
//! Called by the rule table; composed by recordings, see [`Core::fused`](crate::scalar::Core::fused). The exact product is
//! p + e and the exact sum p + z is s + d, so x y + z is s + (e + d) exactly; with e + d rounded to odd, one more rounded
//! addition gives what a single rounding gives (Boldo & Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms
//! using rounding to odd, IEEE Trans. Comput. 57, 2008). Where a part overflows nothing is corrected; where x y is so small that e
//! is not a number of the type, below about 1e-291 in double precision, the result may be the unfused one.

use super::planar::two_sum;
use crate::scalar::Base;

/// A correction that is zero, which must not change the sign of a zero: -0.
#[cfg_attr(not(debug_assertions), inline(always))]
fn or_nothing<B: Base>(correction: B) -> B {
    if correction == B::ZERO || !correction.is_finite() { -B::ZERO } else { correction }
}

/// The exact product less the rounded one.
#[inline]
pub(super) fn product_error<B: Base>(x: B, y: B) -> B {
    let product = x * y;
    if product.is_finite() { or_nothing(x.mul_add(y, -product)) } else { -B::ZERO }
}

/// The exact sum less the rounded one.
#[inline]
pub(super) fn sum_error<B: Base>(x: B, y: B) -> B {
    or_nothing(two_sum(x, y).1)
}

/// The sum rounded to odd: where it is not exact, that of the two neighbouring numbers whose last digit is 1.
#[inline]
pub(super) fn odd_sum<B: Base>(x: B, y: B) -> B {
    let (sum, error) = two_sum(x, y);
    if error == B::ZERO || !error.is_finite() {
        return sum;
    }
    let (mantissa, exponent, _) = sum.integer_decode();
    if mantissa & 1 == 1 {
        return sum;
    }
    let towards_zero = (error > B::ZERO) != (sum > B::ZERO);
    // Below a power of two, numbers lie twice as close.
    let finer = towards_zero && mantissa.is_power_of_two();
    let unit = libm::scalbn(1.0, exponent as i32 - i32::from(finer));
    sum + B::from_f64(unit).copysign(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x y + z as recordings compute it.
    fn composed<B: Base>(x: B, y: B, z: B) -> B {
        let product = x * y;
        let correction = odd_sum(product_error(x, y), sum_error(product, z));
        (product + z) + correction
    }

    #[test]
    fn the_parts_make_a_fused_product_and_sum() {
        let mut state = 7u64;
        let mut draw = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 11
        };
        for _ in 0..200_000 {
            let mut number = |bits: u32| {
                let mantissa = (draw() >> (53 - bits)) as f64;
                libm::scalbn(if draw() % 2 == 0 { mantissa } else { -mantissa }, (draw() % 12) as i32 - 6 - bits as i32)
            };
            let (x, y, other) = (number(53), number(53), number(53));
            let p = x * y;
            let near = |k: u64| p * (1.0 + libm::scalbn(1.0, -((k % 60) as i32)));
            let far = libm::scalbn(other, (draw() % 240) as i32 - 120);
            for z in [other, -p, -near(draw()), near(draw()), far, -p / 2.0, 0.0, -0.0] {
                assert_eq!(composed(x, y, z).to_bits(), x.mul_add(y, z).to_bits(), "{x:e} * {y:e} + {z:e}");
                let (x, y, z) = (x as f32, y as f32, z as f32);
                if z == 0.0 || z.abs() > 1e-20 {
                    assert_eq!(composed(x, y, z).to_bits(), x.mul_add(y, z).to_bits(), "{x:e} * {y:e} + {z:e}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_corrected_where_a_part_is_infinite_or_zero() {
        assert_eq!(composed(1e200, 1e200, 1.0), f64::INFINITY);
        assert_eq!(composed(f64::INFINITY, 1.0, 1.0), f64::INFINITY);
        assert!(composed(f64::NAN, 1.0, 1.0).is_nan());
        assert!(composed(-0.0f64, 1.0, -0.0).is_sign_negative());
        assert!(composed(-0.0f64, 1.0, 0.0).is_sign_positive());
    }
}
