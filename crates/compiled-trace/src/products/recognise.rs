//! Finds products of matrices in nests, and runs them.
//!
//! Called by both executors; calls `kernel` for every iteration of the loops around a product.

use super::kernel;
use super::view::{Sizes, Slices, View};
use crate::program::{Address, Instruction, Nest};
use crate::recording::graph::Op;
use crate::recording::rules::{NEGATE, TIMES};

/// Products of fewer terms in total are left to the executors: their code is faster, or as fast.
const LEAST_WORK: usize = 8 * 1024;
/// So are products with fewer rows or columns: most of the work on copies of the factors would be lost.
const SHORTEST: usize = 8;
/// The same where the terms of both factors are consecutive, which machine code adds up as they are.
const SHORTEST_OF_DOTS: usize = 16;
/// The same for terms.
const FEWEST_TERMS: u32 = 4;

/// A loop around a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outer {
    trip: usize,
    /// By how many cells the sum, the left and the right factor move.
    steps: [i64; 3],
}

/// `sum += left * right`, for every iteration of the loops around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Product {
    pub(super) sizes: Sizes,
    sum: View,
    left: View,
    right: View,
    /// Whether the product is subtracted.
    pub(super) is_negated: bool,
    pub(super) outer: Vec<Outer>,
}

/// A result in the body of a nest.
#[derive(Clone, Copy)]
enum Found {
    /// Has no value.
    Effect,
    /// The cell at this address, or the negative of it.
    Cell(u32, bool),
    /// The product of the cells at two addresses, or the negative of it.
    Term([u32; 2], bool),
}

/// The products that a nest outside of loops consists of; `None` if it does anything else, or is too small.
pub(crate) fn products(nest: &Nest) -> Option<Vec<Product>> {
    let is_regular = nest.addresses.iter().all(|address| address.table.is_none());
    if nest.dimensions.len() < 3 || !is_regular {
        return None;
    }
    let mut found: Vec<Found> = Vec::with_capacity(nest.body.len());
    let mut additions: Vec<(u32, [u32; 2], bool)> = Vec::new();
    for instruction in &nest.body {
        found.push(match *instruction {
            Instruction::Load(address) => Found::Cell(address, false),
            Instruction::Apply { op: Op::Unary(NEGATE), a, .. } => match found[a as usize] {
                Found::Cell(address, is_negated) => Found::Cell(address, !is_negated),
                Found::Term(factors, is_negated) => Found::Term(factors, !is_negated),
                Found::Effect => return None,
            },
            Instruction::Apply { op: Op::Binary(TIMES), a, b } => match (found[a as usize], found[b as usize]) {
                (Found::Cell(a, a_negated), Found::Cell(b, b_negated)) => Found::Term([a, b], a_negated != b_negated),
                _ => return None,
            },
            Instruction::Accumulate { value, address } => {
                let Found::Term(factors, is_negated) = found[value as usize] else { return None };
                additions.push((address, factors, is_negated));
                Found::Effect
            }
            _ => return None,
        });
    }
    if !reads_no_sum(nest, &additions) {
        return None;
    }
    let product = |(sum, factors, is_negated): &(u32, [u32; 2], bool)| Product::new(nest, *sum, *factors, *is_negated);
    additions.iter().map(product).collect::<Option<Vec<Product>>>().filter(|all| !all.is_empty())
}

/// Whether no factor has cells that the nest adds to. Then the products may run one after the other.
fn reads_no_sum(nest: &Nest, additions: &[(u32, [u32; 2], bool)]) -> bool {
    let trips = nest.trips(&[]);
    let cells = |address: u32| {
        let address = &nest.addresses[address as usize];
        (address.space, address.range(&trips))
    };
    let factors = || additions.iter().flat_map(|(_, factors, _)| factors);
    additions.iter().all(|(sum, ..)| {
        let (space, (low, high)) = cells(*sum);
        factors().all(|factor| {
            let (other, (other_low, other_high)) = cells(*factor);
            space != other || high < other_low || other_high < low
        })
    })
}

impl Product {
    /// The product of one addition of a nest. `None` if it has no rows, columns or terms, or few of them.
    fn new(nest: &Nest, sum: u32, factors: [u32; 2], is_negated: bool) -> Option<Product> {
        let of = |address: u32| &nest.addresses[address as usize];
        let [sum, mut left, mut right] = [of(sum), of(factors[0]), of(factors[1])];
        let longest = |moves: [bool; 3]| {
            let is_one = |d: &usize| {
                [sum, left, right].map(|address| address.strides[*d] != 0) == moves
                    && nest.dimensions[*d].trip >= FEWEST_TERMS
            };
            (0..nest.dimensions.len()).filter(is_one).max_by_key(|d| nest.dimensions[*d].trip)
        };
        let mut row = longest([true, true, false])?;
        let mut column = longest([true, false, true])?;
        let term = longest([false, true, true])?;
        // Neighbouring columns of the sum are in one vector.
        if sum.strides[row].abs() < sum.strides[column].abs() {
            (row, column) = (column, row);
            (left, right) = (right, left);
        }
        let size = |d: usize| nest.dimensions[d].trip as usize;
        let sizes = Sizes { rows: size(row), columns: size(column), terms: size(term) };
        let is_dot = [left, right].iter().all(|factor| factor.strides[term].abs() == 1);
        let shortest = if is_dot { SHORTEST_OF_DOTS } else { SHORTEST };
        let is_small = sizes.rows.saturating_mul(sizes.columns).saturating_mul(sizes.terms) < LEAST_WORK;
        if is_small || sizes.rows.min(sizes.columns) < shortest {
            return None;
        }
        let view = |address: &Address, row: usize, column: usize| View {
            space: address.space,
            base: i64::from(address.base),
            row: i64::from(address.strides[row]),
            column: i64::from(address.strides[column]),
        };
        let others = (0..nest.dimensions.len()).filter(|d| ![row, column, term].contains(d));
        let outer = others
            .map(|d| Outer { trip: size(d), steps: [sum, left, right].map(|address| i64::from(address.strides[d])) })
            .collect();
        Some(Product {
            sizes,
            sum: view(sum, row, column),
            left: view(left, row, term),
            right: view(right, term, column),
            is_negated,
            outer,
        })
    }

    /// The length of the memory for copies of the factors that [`run`](Product::run) needs.
    pub(crate) fn memory(&self) -> usize {
        kernel::memory(self.sizes)
    }

    /// How many products of two numbers it adds.
    pub(crate) fn terms(&self) -> f64 {
        let Sizes { rows, columns, terms } = self.sizes;
        let times: usize = self.outer.iter().map(|outer| outer.trip).product();
        [rows, columns, terms, times].iter().map(|&size| size as f64).product()
    }

    /// Adds the product to its cells.
    pub(crate) fn run(&self, slices: &mut impl Slices, memory: &mut [f64]) {
        let times: usize = self.outer.iter().map(|outer| outer.trip).product();
        for time in 0..times {
            let mut views = [self.sum, self.left, self.right];
            let mut rest = time;
            for outer in self.outer.iter().rev() {
                let counter = (rest % outer.trip) as i64;
                rest /= outer.trip;
                for (view, step) in views.iter_mut().zip(outer.steps) {
                    view.base += counter * step;
                }
            }
            kernel::add_product(self.sizes, self.is_negated, views, slices, memory);
        }
    }
}
