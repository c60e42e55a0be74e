//! Colours in one order, by the algorithm of the problem.
//!
//! Called by the portfolio for every order, and by the exact algorithm for a first bound.

use super::rules::Rules;
use super::{acyclic, distance2 as column_or_row, star};
use crate::graph::Graph;
use crate::pattern::Lines;

/// Column or row colours in one order.
pub(crate) fn distance2<'a>(own: &Lines, width: usize, order: &[u32], other: impl FnOnce() -> &'a Lines) -> Vec<u32> {
    column_or_row::color(own, width, order, other)
}

/// Star or acyclic colours in one order.
pub(crate) fn graph_colors(graph: &Graph, substitution: bool, order: &[u32], rules: Rules) -> Vec<u32> {
    if substitution { acyclic::color(graph, order, rules) } else { star::color(graph, order, rules) }
}
