//! Removes guards that other guards imply.
//!
//! Called by [`reductions`](crate::compile::reductions). A bisection in a table compares one number with many constants; only the
//! nearest constant below and the nearest one above restrict the point. These two guards stay, always in this order and at
//! the place of the first comparison, so that searches have the same shape wherever they end.
//!
//! `is_nan` compares a number with itself. Another comparison of the number or of its absolute value, as `is_finite` and `is_infinite` make,
//! tells that it is not NaN too; otherwise the first of these guards is enough.

use crate::recording::graph::{CONSTANT, Graph, Node, Op, Outcome, guard_parts};
use crate::recording::rules::ABS;
use rustc_hash::FxHashMap;

/// The comparisons that imply the others.
pub(crate) struct Bounds {
    /// For each number that is compared with constants.
    bounds: FxHashMap<u32, Bound>,
    /// Per number that equals itself, the guard that says so; `None` if another one does.
    equal_themselves: FxHashMap<u32, Option<u32>>,
}

struct Bound {
    /// The first comparison of the number.
    first: u32,
    /// Nodes that compare with the largest constant below and the smallest one above, and these constants.
    below: Option<(u32, f64)>,
    above: Option<(u32, f64)>,
}

/// The number that a guard compares with a constant, the constant, and whether the number is below it.
fn comparison(graph: &Graph, node: &Node) -> Option<(u32, f64, bool)> {
    let Op::Guard(guard) = node.op else { return None };
    let less = match guard_parts(guard).1 {
        Outcome::Less => true,
        Outcome::Greater => false,
        _ => return None,
    };
    let constant = |operand: u32| graph.constants[(operand & !CONSTANT) as usize];
    match (node.a & CONSTANT != 0, node.b & CONSTANT != 0) {
        (false, true) => Some((node.a, constant(node.b), less)),
        (true, false) => Some((node.b, constant(node.a), !less)),
        _ => None,
    }
}

/// Whether the guard says that a number is not NaN.
fn is_equal_to_itself(node: &Node) -> bool {
    let Op::Guard(guard) = node.op else { return false };
    guard_parts(guard).1 == Outcome::Equal && node.a == node.b
}

/// The numbers of a guard that tells that they are not NaN, but not only this.
fn ordered(node: &Node) -> Option<[u32; 2]> {
    let Op::Guard(guard) = node.op else { return None };
    let is_ordered = matches!(guard_parts(guard).1, Outcome::Less | Outcome::Equal | Outcome::Greater);
    (is_ordered && node.a != node.b).then_some([node.a, node.b])
}

/// The number of which this one is the absolute value.
fn absolute(graph: &Graph, number: u32) -> Option<u32> {
    let node = graph.nodes.get((number as usize).checked_sub(graph.first_node())?)?;
    (node.op == Op::Unary(ABS)).then_some(node.a)
}

impl Bounds {
    /// Finds the comparisons that stay.
    pub(crate) fn new(graph: &Graph) -> Bounds {
        let mut bounds: FxHashMap<u32, Bound> = FxHashMap::default();
        let mut equal_themselves = FxHashMap::default();
        for (i, node) in graph.nodes.iter().enumerate() {
            let i = i as u32;
            if is_equal_to_itself(node) {
                equal_themselves.entry(node.a).or_insert(Some(i));
                continue;
            }
            let Some((number, constant, less)) = comparison(graph, node) else { continue };
            let bound = bounds.entry(number).or_insert(Bound { first: i, below: None, above: None });
            let known = if less { &mut bound.above } else { &mut bound.below };
            if known.is_none_or(|(_, known)| if less { constant < known } else { constant > known }) {
                *known = Some((i, constant));
            }
        }
        if !equal_themselves.is_empty() {
            for number in graph.nodes.iter().filter_map(ordered).flatten() {
                for number in [Some(number), absolute(graph, number)].into_iter().flatten() {
                    equal_themselves.entry(number).and_modify(|guard| *guard = None);
                }
            }
        }
        Bounds { bounds, equal_themselves }
    }

    /// The nodes that replace a node: itself, unless it compares with a constant or with itself.
    pub(crate) fn at(&self, graph: &Graph, i: usize) -> [Option<Node>; 2] {
        let node = graph.nodes[i];
        if is_equal_to_itself(&node) {
            let kept = self.equal_themselves.get(&node.a).copied().flatten();
            return [(kept == Some(i as u32)).then_some(node), None];
        }
        match comparison(graph, &node).and_then(|(number, _, _)| self.bounds.get(&number)) {
            None => [Some(node), None],
            Some(bound) if bound.first == i as u32 => {
                [bound.below, bound.above].map(|kept| kept.map(|(kept, _)| graph.nodes[kept as usize]))
            }
            Some(_) => [None, None],
        }
    }
}
