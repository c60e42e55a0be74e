//! Weights of difference formulas on equidistant nodes, for any derivative and any order of accuracy.
//!
//! Called by `line.rs` and `mod.rs`; calls nothing.

/// The highest order of a derivative.
pub(super) const MOST_DERIVATIVE: usize = 12;
/// The highest order of accuracy of a formula.
pub(super) const MOST_ORDER: usize = 12;
/// The most nodes of a formula: order of the derivative plus order of accuracy, and one for symmetry.
const MOST_NODES: usize = MOST_ORDER + MOST_DERIVATIVE + 1;

/// Where a formula evaluates the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// On both sides of the point.
    Central,
    /// At the point and to the right of it.
    Right,
    /// At the point and to the left of it.
    Left,
}

/// A formula Σ wⱼ f(x + sⱼ h) / hⁿ for the derivative of order n with integer nodes sⱼ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stencil {
    nodes: [i8; MOST_NODES],
    weights: [f64; MOST_NODES],
    count: usize,
    /// Order of the derivative.
    pub(super) derivative: usize,
    /// The power of h in the first term of the error.
    pub(super) order: usize,
    /// By how much that power increases from term to term.
    pub(super) order_step: usize,
}

impl Stencil {
    /// The formula with the fewest nodes on `side` whose error is of the given order, rounded up to an even number for central formulas.
    pub(super) fn new(side: Side, derivative: usize, order: usize) -> Stencil {
        let (first, count) = match side {
            Side::Central => {
                let radius = (derivative.div_ceil(2) + order.div_ceil(2)).saturating_sub(1).max(1);
                (-(radius as i8), 2 * radius + 1)
            }
            Side::Right => (0, derivative + order),
            Side::Left => (1 - (derivative + order) as i8, derivative + order),
        };
        let mut nodes = [0; MOST_NODES];
        for (j, node) in nodes[..count].iter_mut().enumerate() {
            *node = first + j as i8;
        }
        let mut weights = fornberg(&nodes[..count], derivative);
        let is_central = side == Side::Central;
        if is_central && derivative % 2 == 1 {
            // Odd by symmetry; the recursion leaves rounding errors.
            weights[count / 2] = 0.0;
        }
        Stencil {
            nodes,
            weights,
            count,
            derivative,
            order: if is_central { order.next_multiple_of(2) } else { order },
            order_step: if is_central { 2 } else { 1 },
        }
    }

    /// Nodes and weights, without those of weight zero.
    pub(super) fn terms(&self) -> impl Iterator<Item = (i8, f64)> + '_ {
        self.nodes[..self.count].iter().copied().zip(self.weights).filter(|(_, weight)| *weight != 0.0)
    }

    /// The distance of the farthest node on a side, in steps.
    pub(super) fn radius(&self) -> usize {
        self.nodes[..self.count].iter().map(|node| node.unsigned_abs() as usize).max().unwrap_or(0)
    }

    /// Whether f(x) itself is a term.
    pub(super) fn uses_the_point(&self) -> bool {
        self.terms().any(|(node, _)| node == 0)
    }
}

/// Weights of the derivative of order `derivative` at zero on the nodes, by the recursion of B. Fornberg, Generation of finite difference
/// formulas on arbitrarily spaced grids, Mathematics of Computation 51 (1988) 699-706, table 1.
fn fornberg(nodes: &[i8], derivative: usize) -> [f64; MOST_NODES] {
    let mut c = [[0.0; MOST_DERIVATIVE + 1]; MOST_NODES];
    c[0][0] = 1.0;
    let (mut c1, mut c4) = (1.0, f64::from(nodes[0]));
    for i in 1..nodes.len() {
        let most = i.min(derivative);
        let (mut c2, c5) = (1.0, c4);
        c4 = f64::from(nodes[i]);
        for j in 0..i {
            let c3 = f64::from(nodes[i] - nodes[j]);
            c2 *= c3;
            if j == i - 1 {
                for k in (1..=most).rev() {
                    c[i][k] = c1 * (k as f64 * c[i - 1][k - 1] - c5 * c[i - 1][k]) / c2;
                }
                c[i][0] = -c1 * c5 * c[i - 1][0] / c2;
            }
            for k in (1..=most).rev() {
                c[j][k] = (c4 * c[j][k] - k as f64 * c[j][k - 1]) / c3;
            }
            c[j][0] = c4 * c[j][0] / c3;
        }
        c1 = c2;
    }
    let mut weights = [0.0; MOST_NODES];
    for (weight, c) in weights.iter_mut().zip(&c) {
        *weight = c[derivative];
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(side: Side, derivative: usize, order: usize) -> Vec<(i8, f64)> {
        Stencil::new(side, derivative, order).terms().collect()
    }

    fn assert_near(found: &[(i8, f64)], expected: &[(i8, f64)]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.0, expected.0);
            assert!((found.1 - expected.1).abs() < 1e-14, "{found:?}, expected {expected:?}");
        }
    }

    #[test]
    fn weights_are_those_of_the_tables() {
        // Fornberg's tables 1 and 3.
        assert_near(&weights(Side::Central, 1, 2), &[(-1, -0.5), (1, 0.5)]);
        assert_near(
            &weights(Side::Central, 1, 4),
            &[(-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0)],
        );
        assert_near(&weights(Side::Central, 2, 2), &[(-1, 1.0), (0, -2.0), (1, 1.0)]);
        assert_near(&weights(Side::Central, 3, 2), &[(-2, -0.5), (-1, 1.0), (1, -1.0), (2, 0.5)]);
        assert_near(&weights(Side::Central, 4, 2), &[(-2, 1.0), (-1, -4.0), (0, 6.0), (1, -4.0), (2, 1.0)]);
        assert_near(&weights(Side::Right, 1, 1), &[(0, -1.0), (1, 1.0)]);
        assert_near(&weights(Side::Right, 1, 2), &[(0, -1.5), (1, 2.0), (2, -0.5)]);
        assert_near(&weights(Side::Left, 1, 2), &[(-2, 0.5), (-1, -2.0), (0, 1.5)]);
        assert_near(&weights(Side::Right, 2, 2), &[(0, 2.0), (1, -5.0), (2, 4.0), (3, -1.0)]);
    }

    #[test]
    fn formulas_are_exact_for_polynomials_below_their_order() {
        for side in [Side::Central, Side::Right, Side::Left] {
            for derivative in 1..=MOST_DERIVATIVE {
                for order in 1..=6 {
                    let stencil = Stencil::new(side, derivative, order);
                    // Σ w s^p is n! for p = n, and 0 for other p below n + order.
                    for power in 0..derivative + stencil.order {
                        let (mut sum, mut size) = (0.0, 0.0);
                        for (node, weight) in stencil.terms() {
                            let term = weight * f64::from(node).powi(power as i32);
                            sum += term;
                            size += f64::abs(term);
                        }
                        let factorial = (1..=derivative).fold(1.0, |product, k| product * k as f64);
                        let expected = if power == derivative { factorial } else { 0.0 };
                        assert!(
                            (sum - expected).abs() <= 1e-11 * size.max(1.0),
                            "{side:?} {derivative} {order}: moment {power} is {sum}, expected {expected}"
                        );
                    }
                }
            }
        }
    }
}
