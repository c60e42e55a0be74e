//! First pass: removes dead operations and implied guards, and turns long chains of additions into reductions.
//!
//! Called by [`compile`](crate::compile). A chain `s = s + t` whose intermediate results have no other use is a reduction of many
//! terms in no particular order. It has no dependence from term to term, so the loops around it can be vectorised.

use crate::compile::guards::Bounds;
use crate::recording::graph::{CONSTANT, Call, Graph, Node, Op, REDUCTION};
use crate::recording::rules::{MINUS, NEGATE, PLUS};

/// The live operations, in order, with reductions recognised.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub(crate) inputs: usize,
    pub(crate) first: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) constants: Vec<f64>,
    pub(crate) reductions: Vec<Reduction>,
    pub(crate) calls: Vec<Call>,
    /// The operands that are the outputs.
    pub(crate) outputs: Vec<u32>,
    /// Segments of one shape that were brought together, in order of their nodes.
    pub(crate) regrouped: Vec<Regrouped>,
}

/// Segments of one shape side by side: the nodes `start..end`, with the same number of nodes for each segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Regrouped {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) nodes: usize,
}

/// A reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    /// Its number of terms.
    pub(crate) terms: u32,
    /// The nodes that add the first and the last one.
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// Shorter chains stay additions.
const MIN_TERMS: u32 = 8;

/// Which operands of a node are values.
fn operands(graph: &Graph, node: &Node, mut act: impl FnMut(u32)) {
    match node.op {
        Op::Unary(_) => act(node.a),
        Op::Call => graph.calls[node.a as usize].arguments.iter().for_each(|a| act(*a)),
        Op::CallOutput => {}
        _ => {
            act(node.a);
            act(node.b);
        }
    }
}

/// Runs the pass.
pub(crate) fn sequence(graph: &Graph) -> Sequence {
    let first = graph.first_node();
    let uses = count_uses(graph);
    let member = chains(graph, &uses);
    let bounds = Bounds::new(graph);
    let derived = derived_calls(graph);

    let mut nodes: Vec<Node> = Vec::with_capacity(uses.iter().filter(|uses| **uses > 0).count());
    let mut reductions: Vec<Reduction> = Vec::new();
    let mut calls = Vec::new();
    let mut number = vec![u32::MAX; member.chains];
    // The new operand of every old value.
    let mut renamed = vec![0u32; graph.nodes.len()];
    let rename = |renamed: &[u32], operand: u32| {
        if operand & CONSTANT != 0 || (operand as usize) < first { operand } else { renamed[operand as usize - first] }
    };
    for (i, node) in graph.nodes.iter().enumerate() {
        if uses[i] == 0 {
            continue;
        }
        let chain = member.of[i];
        if chain != 0 {
            let reduction = &mut number[chain as usize - 1];
            if *reduction == u32::MAX {
                *reduction = reductions.len() as u32;
                reductions.push(Reduction { terms: 0, first: u32::MAX, last: 0 });
            }
            let before = member.before(graph, i, &uses);
            for (k, operand) in [node.a, node.b].into_iter().enumerate() {
                if before == Some(k) || is_zero(graph, operand) {
                    continue;
                }
                let mut term = rename(&renamed, operand);
                if k == 1 && node.op == Op::Binary(MINUS) {
                    nodes.push(Node { op: Op::Unary(NEGATE), a: term, b: 0 });
                    term = (first + nodes.len() - 1) as u32;
                }
                let place = nodes.len() as u32;
                let known = &mut reductions[*reduction as usize];
                *known = Reduction { terms: known.terms + 1, first: known.first.min(place), last: place };
                nodes.push(Node { op: Op::Accumulate, a: term, b: REDUCTION | *reduction });
            }
            renamed[i] = REDUCTION | *reduction;
            continue;
        }
        let mut new = *node;
        match node.op {
            Op::Guard(_) => {
                let kept = bounds.at(graph, i).into_iter().flatten();
                nodes.extend(kept.map(|guard| Node {
                    a: rename(&renamed, guard.a),
                    b: rename(&renamed, guard.b),
                    ..guard
                }));
                continue;
            }
            Op::Unary(_) => new.a = rename(&renamed, node.a),
            Op::Call => {
                let call = &graph.calls[node.a as usize];
                new.a = calls.len() as u32;
                let arguments = call.arguments.iter().map(|a| rename(&renamed, *a)).collect();
                calls.push(Call { arguments, is_derived: derived[i], ..call.clone() });
            }
            Op::CallOutput => {}
            _ => {
                new.a = rename(&renamed, node.a);
                new.b = rename(&renamed, node.b);
            }
        }
        renamed[i] = (first + nodes.len()) as u32;
        nodes.push(new);
    }
    let outputs = graph.outputs.iter().map(|output| rename(&renamed, *output)).collect();
    let constants = graph.constants.clone();
    Sequence { inputs: graph.inputs, first, nodes, constants, reductions, calls, outputs, regrouped: Vec::new() }
}

fn is_zero(graph: &Graph, operand: u32) -> bool {
    operand & CONSTANT != 0 && graph.constants[(operand & !CONSTANT) as usize] == 0.0
}

/// How often each node is used by nodes that matter, at most 2.
fn count_uses(graph: &Graph) -> Vec<u8> {
    let first = graph.first_node();
    let mut uses = vec![0u8; graph.nodes.len()];
    let mark = |uses: &mut [u8], operand: u32| {
        if operand & CONSTANT == 0 && operand as usize >= first {
            let count = &mut uses[operand as usize - first];
            *count = (*count + 1).min(2);
        }
    };
    for output in &graph.outputs {
        mark(&mut uses, *output);
    }
    for i in (0..graph.nodes.len()).rev() {
        let node = &graph.nodes[i];
        match node.op {
            Op::Guard(_) => uses[i] = 1,
            Op::CallOutput => continue,
            // Kept like a guard even if its results are unused: another number of outputs at another point invalidates the recording.
            Op::Call => {
                // The outputs of a call stay together.
                for use_count in &mut uses[i..i + graph.calls[node.a as usize].outputs] {
                    *use_count = (*use_count).max(1);
                }
            }
            _ => {}
        }
        if uses[i] > 0 {
            operands(graph, node, |operand| mark(&mut uses, operand));
        }
    }
    uses
}

/// Per node, whether it is a call with a result that an output depends on by operations that have derivatives. Empty without calls.
fn derived_calls(graph: &Graph) -> Vec<bool> {
    if graph.calls.is_empty() {
        return Vec::new();
    }
    let first = graph.first_node();
    let mut derived = vec![false; graph.nodes.len()];
    let mark = |derived: &mut [bool], operand: u32| {
        if operand & CONSTANT == 0 && operand as usize >= first {
            derived[operand as usize - first] = true;
        }
    };
    graph.outputs.iter().for_each(|output| mark(&mut derived, *output));
    let mut later_result = false;
    for (i, node) in graph.nodes.iter().enumerate().rev() {
        match node.op {
            Op::CallOutput => later_result |= derived[i],
            Op::Call => derived[i] |= std::mem::take(&mut later_result),
            _ => {}
        }
        match node.op {
            Op::Compare(_) | Op::Guard(_) => {}
            Op::Keep | Op::Drop if derived[i] => mark(&mut derived, node.b),
            _ if derived[i] => operands(graph, node, |operand| mark(&mut derived, operand)),
            _ => {}
        }
    }
    derived
}

/// Which chain each node belongs to.
struct Members {
    /// Chain number plus 1; 0 for none.
    of: Vec<u32>,
    lengths: Vec<u32>,
    chains: usize,
}

impl Members {
    /// Which operand of addition `i` continues a chain, if any: the one with the longer chain behind it.
    fn before(&self, graph: &Graph, i: usize, uses: &[u8]) -> Option<usize> {
        let node = &graph.nodes[i];
        let first = graph.first_node();
        if is_zero(graph, node.a) || is_zero(graph, node.b) {
            // A reduction begins here.
            return None;
        }
        let length = |operand: u32| {
            if operand & CONSTANT != 0 || (operand as usize) < first {
                return 0;
            }
            let k = operand as usize - first;
            if uses[k] == 1 { self.lengths[k] } else { 0 }
        };
        let left = length(node.a);
        let right = if node.op == Op::Binary(PLUS) { length(node.b) } else { 0 };
        match (left, right) {
            (0, 0) => None,
            _ if left >= right => Some(0),
            _ => Some(1),
        }
    }
}

fn chains(graph: &Graph, uses: &[u8]) -> Members {
    let first = graph.first_node();
    let mut members = Members { of: vec![0; graph.nodes.len()], lengths: vec![0; graph.nodes.len()], chains: 0 };
    for (i, node) in graph.nodes.iter().enumerate() {
        if uses[i] > 0 && matches!(node.op, Op::Binary(PLUS | MINUS)) {
            let behind = members.before(graph, i, uses).map(|k| [node.a, node.b][k]);
            let length = behind.map_or(0, |operand| members.lengths[operand as usize - first]);
            members.lengths[i] = length + 1;
        }
    }
    for i in (0..graph.nodes.len()).rev() {
        if members.of[i] == 0 && members.lengths[i] >= MIN_TERMS {
            members.chains += 1;
            members.of[i] = members.chains as u32;
        }
        if members.of[i] != 0
            && let Some(k) = members.before(graph, i, uses)
        {
            let operand = [graph.nodes[i].a, graph.nodes[i].b][k];
            members.of[operand as usize - first] = members.of[i];
        }
    }
    members
}
