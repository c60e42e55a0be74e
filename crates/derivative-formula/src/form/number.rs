//! Numbers in forms: doubles with a total order, and arithmetic where it is exact.
//!
//! Forms combine numbers only where the result has no rounding error, so that simplification does not move values.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A double, ordered by its value and equal by its bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) f64);

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}
impl Eq for Number {}
impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// a + b, if that is exact: by the error term of Knuth's two-sum.
pub(crate) fn exact_sum(a: f64, b: f64) -> Option<f64> {
    let sum = a + b;
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    (sum.is_finite() && error == 0.0).then_some(sum)
}

/// a · b, if that is exact.
pub(crate) fn exact_product(a: f64, b: f64) -> Option<f64> {
    let product = a * b;
    let is_normal = product == 0.0 || product.is_normal();
    (is_normal && a.mul_add(b, -product) == 0.0 && (product != 0.0 || a == 0.0 || b == 0.0)).then_some(product)
}

/// a to the power n, if that is exact.
pub(crate) fn exact_power(a: f64, n: i32) -> Option<f64> {
    if n < 0 {
        // Powers of two have exact reciprocals.
        let power = exact_power(a, n.checked_neg()?)?;
        let recip = power.recip();
        return exact_product(power, recip).filter(|one| *one == 1.0).map(|_| recip);
    }
    (0..n)
        .try_fold((1.0, 0), |(power, count), _| {
            (count < 64).then_some(())?;
            exact_product(power, a).map(|power| (power, count + 1))
        })
        .map(|(power, _)| power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_exact_or_absent() {
        assert_eq!(exact_sum(1.0, 2.0), Some(3.0));
        assert_eq!(exact_sum(0.1, 0.2), None);
        assert_eq!(exact_sum(1e300, 1.0), None);
        assert_eq!(exact_sum(f64::INFINITY, 1.0), None);
        assert_eq!(exact_product(0.5, 3.0), Some(1.5));
        assert_eq!(exact_product(0.1, 3.0), None);
        assert_eq!(exact_product(1e-200, 1e-200), None);
        assert_eq!(exact_product(f64::INFINITY, 2.0), None);
        assert_eq!(exact_power(2.0, -3), Some(0.125));
        assert_eq!(exact_power(3.0, -1), None);
        assert_eq!(exact_power(3.0, 4), Some(81.0));
        assert_eq!(exact_power(0.0, -1), None);
        assert_eq!(exact_power(2.0, i32::MIN), None);
    }
}
