//! Sets of monomials: the powers that a truncated polynomial in several variables keeps, and where their products are.
//!
//! Made by the operators `taylor_expansion` and `mixed_partial`; engines of truncated polynomials multiply by the tables.

use crate::error::ErrorKind;
use std::collections::HashMap;
use std::ops::Range;

/// The monomials up to a total degree, or those that divide one monomial, sorted by degree. With a monomial it contains all that divide it.
///
/// # Example
/// ```
/// # use differentiation_interface_core::monomials::Monomials;
/// let monomials = Monomials::to_order(2, 2)?; // 1; x, y; x², x y, y²
/// assert_eq!((monomials.len(), monomials.part(2)), (6, 3..6));
/// assert_eq!(monomials.position(&[1, 1]), Some(4));
/// assert_eq!(monomials.exponents(4), [1, 1]);
/// # Ok::<(), differentiation_interface_core::error::ErrorKind>(())
/// ```
#[derive(Clone, Debug)]
pub struct Monomials {
    variables: usize,
    /// Per monomial, the exponent of each variable.
    exponents: Vec<usize>,
    /// The first monomial of each degree, and their number.
    starts: Vec<usize>,
    positions: HashMap<Vec<usize>, usize>,
    /// The places of the products of all pairs within their degree, sorted by the degrees of the two factors, which are at least 1.
    products: Vec<u32>,
    /// Where the products of each degree of the first factor begin, from degree 1 on.
    tables: Vec<usize>,
}

impl Monomials {
    /// A product that the set does not contain.
    pub const ABSENT: u32 = u32::MAX;
    /// The most products of pairs, which are a table of 256 MiB.
    pub const LIMIT: usize = 1 << 26;

    /// All monomials of `variables` variables up to the total degree `order`.
    ///
    /// # Errors
    /// [`ErrorKind::ExpansionSize`] if the tables were larger than [`LIMIT`](Self::LIMIT).
    pub fn to_order(variables: usize, order: usize) -> Result<Monomials, ErrorKind> {
        check_tables(order)?;
        let mut per_degree = vec![1.0];
        for degree in 0..order {
            per_degree.push(per_degree[degree] * (variables as f64 + degree as f64) / (degree as f64 + 1.0));
        }
        Self::make(&vec![order; variables], order, &per_degree)
    }

    /// The monomials that divide the one with these exponents.
    ///
    /// # Errors
    /// [`ErrorKind::ExpansionSize`] if the tables were larger than [`LIMIT`](Self::LIMIT).
    pub fn dividing(exponents: &[usize]) -> Result<Monomials, ErrorKind> {
        // Multiplied out, Π (1 + t + … + t^exponent) has the numbers of monomials by degree.
        let mut order = 0usize;
        for exponent in exponents {
            order = order.saturating_add(*exponent);
            check_tables(order)?;
        }
        let mut per_degree = vec![1.0];
        for &exponent in exponents {
            let mut next = vec![0.0; per_degree.len() + exponent];
            for (degree, count) in per_degree.iter().enumerate() {
                next[degree..=degree + exponent].iter_mut().for_each(|next| *next += count);
            }
            per_degree = next;
        }
        Self::make(exponents, order, &per_degree)
    }

    /// The monomials with at most these exponents and this total degree.
    fn make(most: &[usize], order: usize, per_degree: &[f64]) -> Result<Monomials, ErrorKind> {
        let variables = most.len();
        check(per_degree.iter().sum::<f64>() * variables.max(1) as f64)?;
        // An entry for each pair of monomials whose degrees add up to the order at most.
        let (mut pairs, mut up_to) = (0.0, 0.0);
        for i in (1..order).rev() {
            up_to += per_degree[order - i];
            pairs += per_degree[i] * up_to;
        }
        check(pairs)?;
        // The largest degree in the variables behind each one.
        let mut rooms = vec![0; variables];
        for first in (1..variables).rev() {
            rooms[first - 1] = rooms[first] + most[first];
        }
        let (mut exponents, mut starts) = (Vec::new(), vec![0]);
        for degree in 0..=order {
            append(most, &rooms, degree, &mut vec![0; variables], 0, &mut exponents);
            // Without variables there is the monomial 1 only.
            starts.push(exponents.len().checked_div(variables).unwrap_or(1));
        }
        let (positions, products, tables) = (HashMap::new(), Vec::with_capacity(pairs as usize), Vec::new());
        let mut monomials = Monomials { variables, exponents, starts, positions, products, tables };
        monomials.positions = (0..monomials.len()).map(|k| (monomials.exponents(k).to_vec(), k)).collect();
        for i in 1..order {
            monomials.tables.push(monomials.products.len());
            (1..=order - i).for_each(|j| monomials.append_products(i, j));
        }
        Ok(monomials)
    }

    fn append_products(&mut self, i: usize, j: usize) {
        let first = self.part(i + j).start;
        let mut both = vec![0; self.variables];
        for a in self.part(i) {
            for b in self.part(j) {
                both.iter_mut().zip(self.exponents(a)).zip(self.exponents(b)).for_each(|((both, a), b)| *both = a + b);
                let place = self.positions.get(&both).map_or(Self::ABSENT, |&place| (place - first) as u32);
                self.products.push(place);
            }
        }
    }

    /// How many monomials there are, 1 among them.
    #[expect(clippy::len_without_is_empty, reason = "the monomial 1 is always there")]
    pub fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }
    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.variables
    }
    /// The highest total degree.
    pub fn order(&self) -> usize {
        self.starts.len() - 2
    }
    /// The exponents of the monomial at a place, one per variable.
    ///
    /// # Panics
    /// If `place` is not below [`len`](Self::len).
    pub fn exponents(&self, place: usize) -> &[usize] {
        &self.exponents[place * self.variables..(place + 1) * self.variables]
    }
    /// The place of the monomial with these exponents, if the set contains it.
    pub fn position(&self, exponents: &[usize]) -> Option<usize> {
        self.positions.get(exponents).copied()
    }
    /// The places of the monomials of one degree.
    ///
    /// # Panics
    /// If `degree` is above [`order`](Self::order).
    pub fn part(&self, degree: usize) -> Range<usize> {
        self.starts[degree]..self.starts[degree + 1]
    }
    /// Where the products of monomials of the degrees `i` and `j` are within the degree `i + j`, first factor by first factor;
    /// [`ABSENT`](Self::ABSENT) if the set does not contain them.
    ///
    /// # Panics
    /// If a degree is 0 or their sum is above [`order`](Self::order).
    pub fn products(&self, i: usize, j: usize) -> &[u32] {
        // Before these are the products with second factors of lower degrees.
        let rows = self.part(i).len();
        let start = self.tables[i - 1] + rows * (self.starts[j] - self.starts[1]);
        &self.products[start..start + rows * self.part(j).len()]
    }
}

/// Refuses an order with too many pairs of degrees, each of which has products.
fn check_tables(order: usize) -> Result<(), ErrorKind> {
    check(order as f64 * order as f64 / 2.0)
}

fn check(size: f64) -> Result<(), ErrorKind> {
    let limit = Monomials::LIMIT;
    if size <= limit as f64 { Ok(()) } else { Err(ErrorKind::ExpansionSize { size: size as usize, limit }) }
}

/// Appends the exponents of all monomials with the rest of the degree in the variables from `first` on.
/// `rooms` has the largest degree in the variables behind each one.
fn append(most: &[usize], rooms: &[usize], rest: usize, current: &mut Vec<usize>, first: usize, all: &mut Vec<usize>) {
    if first == most.len() {
        if rest == 0 {
            all.extend_from_slice(current);
        }
        return;
    }
    for exponent in (rest.saturating_sub(rooms[first])..=most[first].min(rest)).rev() {
        current[first] = exponent;
        append(most, rooms, rest - exponent, current, first + 1, all);
    }
    current[first] = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_monomials_are_binomials() {
        for (variables, order, expected) in [(1, 12, 13), (3, 4, 35), (0, 3, 1), (5, 0, 1), (4, 6, 210)] {
            let monomials = Monomials::to_order(variables, order).unwrap();
            assert_eq!((monomials.len(), monomials.order(), monomials.variables()), (expected, order, variables));
            for place in 0..monomials.len() {
                assert_eq!(monomials.position(monomials.exponents(place)), Some(place));
            }
        }
        let divisors = Monomials::dividing(&[2, 0, 3]).unwrap();
        assert_eq!((divisors.len(), divisors.order()), (12, 5));
        assert_eq!(divisors.position(&[0, 1, 0]), None);
    }

    #[test]
    fn products_are_in_their_places() {
        for monomials in [Monomials::dividing(&[2, 1]), Monomials::to_order(3, 5), Monomials::dividing(&[4])] {
            products_are_in_their_places_of(&monomials.unwrap());
        }
    }

    fn products_are_in_their_places_of(monomials: &Monomials) {
        let order = monomials.order();
        for (i, j) in (1..order).flat_map(|i| (1..=order - i).map(move |j| (i, j))) {
            let mut places = monomials.products(i, j).iter();
            for a in monomials.part(i) {
                for b in monomials.part(j) {
                    let sum: Vec<_> =
                        monomials.exponents(a).iter().zip(monomials.exponents(b)).map(|(a, b)| a + b).collect();
                    let expected = monomials.position(&sum).map(|place| (place - monomials.part(i + j).start) as u32);
                    assert_eq!(places.next().copied(), Some(expected.unwrap_or(Monomials::ABSENT)));
                }
            }
        }
    }

    #[test]
    fn sets_that_are_too_large_are_refused() {
        let huge = [1 << 25, usize::MAX].into_iter().flat_map(|order| (0..3).map(move |variables| (variables, order)));
        let results =
            [(50, 20)].into_iter().chain(huge).map(|(variables, order)| Monomials::to_order(variables, order));
        for result in results.chain([Monomials::dividing(&[100; 8]), Monomials::dividing(&[usize::MAX, 3])]) {
            assert!(matches!(result, Err(ErrorKind::ExpansionSize { .. })));
        }
        // 12 variables: Σ over i + j ≤ 12 of C(11 + i, i) C(11 + j, j), products of two monomials that are not 1.
        let binomial = |n: usize, k: usize| (0..k).fold(1, |c, i| c * (n - i) / (i + 1));
        let pairs = (1..12).flat_map(|i| (1..=12 - i).map(move |j| binomial(11 + i, i) * binomial(11 + j, j)));
        let size = pairs.sum();
        assert_eq!(Monomials::to_order(12, 12).unwrap_err(), ErrorKind::ExpansionSize { size, limit: 1 << 26 });
    }
}
