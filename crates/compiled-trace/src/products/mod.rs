//! Nests that are products of matrices, run as such: sum + left right, with the views in place.
//!
//! `products` is asked for every nest outside of loops by both executors when a program is prepared (`native::build`, `execute::plan`),
//! and they call [`Product::run`] in place of the nest. `recognise` finds products in a nest, `kernel` adds them, `view` says where matrices are.
//!
//! # Which nests?
//! Those whose body only adds products of two loaded cells to cells: `sum[i, j] += left[i, k] * right[k, j]`, with addresses that are affine in
//! the counters, in any order of the dimensions and with any strides. Each such addition of a body is a product of its own; the
//! adjoint of a product, which is one nest, becomes two. A dimension is one of the rows if the cells of the sum and of one factor move
//! with it, one of the columns if those of the sum and of the other factor do, one of the terms if those of both factors do. The longest
//! dimension of each kind is taken; all others are loops around the product, so that a batch of products is one nest as well.
//!
//! # Which result?
//! The same bits in both executors and on every processor: the terms of an entry are added to each other in the order of the terms,
//! 256 at a time, without contraction, and each of these partial sums is added to the cell.

mod kernel;
mod recognise;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use recognise::{Product, products};
