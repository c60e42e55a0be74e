//! Extrapolated differences over the exact engines and below them, against a Hessian by hand. The pairs of the other engines are in `any_backend/results.rs`; each pair
//! is compiled for itself, so this has one operator.

use crate::pairs::assert_near;
use differentiation_interface::prelude::*;

/// x₀² x₁³ + exp(x₀ - x₁)
fn surface<T: Real>(x: &[T]) -> T {
    x[0].powi(2) * x[1].powi(3) + (x[0] - x[1]).exp()
}
fn hessian_by_hand([a, b]: [f64; 2]) -> [f64; 4] {
    let (e, mixed) = ((a - b).exp(), 6.0 * a * b * b);
    [2.0 * b.powi(3) + e, mixed - e, mixed - e, 6.0 * a * a * b + e]
}

#[test]
fn extrapolated_differences_make_pairs_with_exact_engines() {
    let differences = AutoFiniteDifferences::central();
    macro_rules! check {
        ($($engine:expr),*) => {$({
            let x = [1.25, 0.75];
            let mut above = prepare_hessian(&surface, &SecondOrder($engine, differences), &x).unwrap();
            let mut below = prepare_hessian(&surface, &SecondOrder(differences, $engine), &x).unwrap();
            for x in [x, [-0.5, 1.5], [0.3, -0.4]] {
                let name = format!("{:?}", $engine);
                assert_near(&name, above.hessian(&x).unwrap().as_slice(), &hessian_by_hand(x), 1e-10);
                assert_near(&name, below.hessian(&x).unwrap().as_slice(), &hessian_by_hand(x), 1e-11);
            }
        })*};
    }
    check!(AutoForwardDiff::default(), AutoReverseDiff::tape(), AutoReverseDiff::compiled());
}
