//! Removes guards that other guards imply.
//!
//! Called by [`reductions`](crate::compile::reductions). A bisection in a table compares one number with many constants; only the
//! nearest constant below and the nearest one above restrict the point. These two guards stay, always in this order and at
//! the place of the first comparison, so that searches have the same shape wherever they end.

use crate::recording::graph::{CONSTANT, Graph, Node, Op, Outcome, guard_parts};
use rustc_hash::FxHashMap;

/// For each number that is compared with constants, the comparisons that imply the others.
pub(crate) struct Bounds(FxHashMap<u32, Bound>);

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

impl Bounds {
    /// Finds the comparisons that stay.
    pub(crate) fn new(graph: &Graph) -> Bounds {
        let mut bounds: FxHashMap<u32, Bound> = FxHashMap::default();
        for (i, node) in graph.nodes.iter().enumerate() {
            let Some((number, constant, less)) = comparison(graph, node) else { continue };
            let i = i as u32;
            let bound = bounds.entry(number).or_insert(Bound { first: i, below: None, above: None });
            let known = if less { &mut bound.above } else { &mut bound.below };
            if known.is_none_or(|(_, known)| if less { constant < known } else { constant > known }) {
                *known = Some((i, constant));
            }
        }
        Bounds(bounds)
    }

    /// The nodes that replace a node: itself, unless it compares with a constant.
    pub(crate) fn at(&self, graph: &Graph, i: usize) -> [Option<Node>; 2] {
        let node = graph.nodes[i];
        match comparison(graph, &node).and_then(|(number, _, _)| self.0.get(&number)) {
            None => [Some(node), None],
            Some(bound) if bound.first == i as u32 => {
                [bound.below, bound.above].map(|kept| kept.map(|(kept, _)| graph.nodes[kept as usize]))
            }
            Some(_) => [None, None],
        }
    }
}
