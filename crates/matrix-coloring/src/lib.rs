//! Colouring of sparse matrices for compressed Jacobians and Hessians.
//!
//! A sparse matrix that is known only through products with vectors can be recovered from few products, as columns without a common
//! row can share one: colour the columns, multiply with the sum of unit vectors of each colour, and read the entries off the
//! compressed matrix. This crate finds the colours and reads the entries; it is independent of differentiation.
//!
//! # From pattern to values
//! ```
//! use matrix_coloring::{Column, GreedyColoring, Pattern, coloring};
//!
//! // The Jacobian of f(x)_i = x_{i+1}² - x_i², 4 x 5: entries (i, i) = -2 x_i and (i, i + 1) = 2 x_{i+1}.
//! let pattern = Pattern::from_fn(4, 5, |i, j| j == i || j == i + 1)?;
//! let jacobian_times = |x: &[f64], v: &[f64]| -> Vec<f64> {
//!     (0..4).map(|i| 2.0 * x[i + 1] * v[i + 1] - 2.0 * x[i] * v[i]).collect()
//! };
//!
//! // Once: colour.
//! let result = coloring(&pattern, Column, &GreedyColoring::default())?;
//! assert_eq!(result.ncolors(), 2);
//!
//! // At every point: one product per colour, scattered into the values as it comes.
//! let x = [1.0, 2.0, 3.0, 4.0, 5.0];
//! let mut values = vec![0.0; result.values_len()];
//! for (color, group) in result.column_groups().iter().enumerate() {
//!     let mut seed = [0.0; 5];
//!     group.iter().for_each(|&j| seed[j as usize] = 1.0);
//!     let product = jacobian_times(&x, &seed);
//!     result.decompress_colors_into(&mut values, color..color + 1, &product)?;
//! }
//! assert_eq!(values, [-2.0, 4.0, -4.0, 6.0, -6.0, 8.0, -8.0, 10.0]);
//! # Ok::<(), matrix_coloring::Error>(())
//! ```
//!
//! # Problems
//! | matrix | products | problem | result |
//! |:--|:--|:--|:--|
//! | any | `A v` | [`Column`] | [`ColumnColoring`] |
//! | any | `uᵀ A` | [`Row`] | [`RowColoring`] |
//! | symmetric | `A v` | [`Symmetric`]`(`[`Direct`]`)` | [`StarColoring`] |
//! | symmetric | `A v` | [`Symmetric`]`(`[`Substitution`]`)` | [`AcyclicColoring`] |
//! | any | both | [`Bidirectional`]`(`[`Direct`]`)` | [`StarBicoloring`] |
//! | any | both | [`Bidirectional`]`(`[`Substitution`]`)` | [`AcyclicBicoloring`] |
//!
//! Algorithms: [`GreedyColoring`] for all of them, [`ConstantColoring`] for known colours, `OptimalColoring`
//! (feature `optimal`) for small matrices, and any implementation of [`ColoringAlgorithm`].
//!
//! # Features
//! - `faer`, `sprs`: patterns from the matrices of these crates.
//! - `matrix-market`: read and write Matrix Market files (through `sprs`).
//! - `optimal`: optimal colouring of small matrices by a SAT solver.
//! - `plot`: pictures of patterns and colourings in SVG and PNG.

mod algorithm;
pub mod check;
mod convert;
mod decompression;
mod error;
mod graph;
mod greedy;
mod groups;
#[cfg(feature = "optimal")]
mod optimal;
mod order;
mod pattern;
#[cfg(feature = "plot")]
mod plot;
mod postprocess;
mod problem;
mod program;
mod recovery;
mod result;

pub use algorithm::{ColoringAlgorithm, Colors, ConstantColoring, DecompressionKind, NEUTRAL, ProblemKind};
#[cfg(feature = "matrix-market")]
pub use convert::market;
pub use decompression::{Decompression, Direct, Substitution};
pub use error::{Conflict, Error, ErrorKind};
pub use greedy::{GreedyColoring, Palette};
pub use groups::Groups;
#[cfg(feature = "optimal")]
pub use optimal::OptimalColoring;
pub use order::{Dynamic, Order, Vertices};
pub use pattern::Pattern;
#[cfg(feature = "plot")]
pub use plot::Picture;
pub use problem::{Bidirectional, Column, Problem, Row, Symmetric, coloring};
pub use program::{Layout, Storage, Triangle};
pub use result::{
    AcyclicBicoloring, AcyclicColoring, BidirectionalColoring, ColumnColoring, Recovers, RowColoring, StarBicoloring,
    StarColoring, SymmetricColoring,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
