//! Sums per cell in place of additions to several cells per iteration.
//!
//! Called for every function. The adjoint of a stencil adds to neighbouring cells in each iteration, which compilers do not turn into
//! vectors because the additions of two iterations meet in a cell. Here every cell gets its terms at once and is stored: the values of
//! an iteration are computed once per term. A term that is a sum itself is added in parts. Where the stencil ends, cells have fewer terms and a loop of their own.

use super::block::{Rewriter, without_dead};
use super::ir::{Address, Array, Code, Node, Step, each_node};
use std::rc::Rc;

/// Loops shorter than this are left as they are.
const SHORTEST: u32 = 4;

/// The code with sums per cell, where that takes little more computation.
pub(crate) fn gathered(mut code: Code) -> Code {
    let mut at = 0;
    while at < code.steps.len() {
        match sums(&code, at) {
            Some(found) => {
                let Found { rest, sums, zero } = found;
                let added = sums.len() + usize::from(rest.is_some());
                code.steps.splice(at..=at, rest.into_iter().chain(sums));
                if let Some(zero) = zero {
                    code.steps.remove(zero);
                    at -= 1;
                }
                // The rest may have further cells to sum; the sums have none.
                at += if rest_has_sums(&code, at) { 0 } else { added };
            }
            None => at += 1,
        }
    }
    code
}

fn rest_has_sums(code: &Code, at: usize) -> bool {
    sums(code, at).is_some()
}

/// What replaces a step.
struct Found {
    rest: Option<Step>,
    sums: Vec<Step>,
    /// The step that cleared the cells, if nothing else of it is needed.
    zero: Option<usize>,
}

/// The loops around a block, outermost first, and the block, if there is nothing else.
pub(super) fn nest(step: &Step) -> Option<(Vec<(u32, bool, bool)>, &[Node])> {
    let mut loops = Vec::new();
    let mut step = step;
    loop {
        match step {
            Step::Loop { trip, reversed, parallel, body } => {
                let [inner] = &body[..] else { return None };
                loops.push((*trip, *reversed, *parallel));
                step = inner;
            }
            Step::Block(nodes) => return Some((loops, nodes)),
            Step::Zero { .. } => return None,
        }
    }
}

/// Puts loops around a block.
pub(super) fn around(loops: &[(u32, bool, bool)], nodes: Vec<Node>) -> Step {
    loops.iter().rev().fold(Step::Block(nodes), |body, (trip, reversed, parallel)| Step::Loop {
        trip: *trip,
        reversed: *reversed,
        parallel: *parallel,
        body: vec![body],
    })
}

/// An addition: the value, and how many iterations after the first one it reaches the same cell.
struct Term {
    value: usize,
    node: usize,
    address: Address,
    shift: i64,
}

fn sums(code: &Code, at: usize) -> Option<Found> {
    let (loops, nodes) = nest(&code.steps[at])?;
    if !loops.iter().all(|(_, reversed, parallel)| *parallel && !reversed) {
        return None;
    }
    let trips: Vec<u32> = loops.iter().map(|l| l.0).collect();
    let written: Vec<Array> = nodes
        .iter()
        .filter_map(|node| match node {
            Node::Store(_, address) | Node::Add(_, address) => Some(address.array),
            _ => None,
        })
        .collect();
    for (i, node) in nodes.iter().enumerate() {
        let Node::Add(_, first) = node else { continue };
        if let Some(found) = sums_from(code, at, &loops, &trips, nodes, &written, (i, first)) {
            return Some(found);
        }
    }
    None
}

fn sums_from(
    code: &Code,
    at: usize,
    loops: &[(u32, bool, bool)],
    trips: &[u32],
    nodes: &[Node],
    written: &[Array],
    (start, first): (usize, &Address),
) -> Option<Found> {
    if first.table.is_some() {
        return None;
    }
    // Terms of the same cells.
    let same: Vec<(usize, usize, &Address)> = nodes
        .iter()
        .enumerate()
        .filter_map(|(i, node)| match node {
            Node::Add(value, address) if address.array == first.array && address.strides == first.strides => {
                Some((i, *value, address))
            }
            _ => None,
        })
        .collect();
    if same.first().is_none_or(|(i, _, _)| *i != start) || same.iter().any(|(_, _, a)| a.table.is_some()) {
        return None;
    }
    // The counter along which they are shifted.
    let along = (0..trips.len()).find(|d| {
        let stride = first.strides[*d];
        stride > 0
            && trips[*d] >= SHORTEST
            && same.iter().all(|(_, _, a)| {
                (a.base - first.base) % stride == 0 && (a.base - first.base).abs() / stride < i64::from(trips[*d])
            })
    })?;
    let stride = first.strides[along];
    let lowest = same.iter().map(|(_, _, a)| a.base).min()?;
    let terms: Vec<Term> = same
        .iter()
        .map(|(node, value, a)| Term {
            node: *node,
            value: *value,
            address: (*a).clone(),
            shift: (a.base - lowest) / stride,
        })
        .collect();
    let furthest = terms.iter().map(|term| term.shift).max()?;
    if furthest == 0 {
        return None;
    }
    let mut wide = trips.to_vec();
    wide[along] += furthest as u32;
    let target = Address { base: lowest, ..first.clone() };
    if !is_injective(&target, &wide) {
        return None;
    }
    let range = target.range(&wide);
    let zero = cleared_only(code, at, first.array, range, terms.len())?;
    // What the terms need.
    let mut needed = 0;
    let slices: Vec<Vec<bool>> = terms
        .iter()
        .map(|term| {
            let mut live = vec![false; nodes.len()];
            live[term.value] = true;
            for i in (0..nodes.len()).rev().filter(|i| *i <= term.value) {
                if live[i] {
                    nodes[i].operands(|operand| live[operand] = true);
                }
            }
            needed += live.iter().filter(|l| **l).count();
            live
        })
        .collect();
    let reads_written = slices.iter().any(|live| {
        nodes.iter().zip(live).any(|(node, live)| matches!(node, Node::Load(a) if *live && written.contains(&a.array)))
    });
    if reads_written || needed > 3 * nodes.len() + 8 {
        return None;
    }
    let trip = i64::from(trips[along]);
    let mut ends: Vec<i64> = terms.iter().flat_map(|term| [term.shift, term.shift + trip]).collect();
    ends.sort_unstable();
    ends.dedup();
    // Cells get the terms of earlier iterations first.
    let mut order: Vec<usize> = (0..terms.len()).collect();
    order.sort_by_key(|k| -terms[*k].shift);
    let mut sums = Vec::new();
    for end in ends.windows(2) {
        let (low, high) = (end[0], end[1]);
        let is_single = high - low == 1;
        let placed = |address: &Address, from: i64| {
            let mut address = address.clone();
            address.base += address.strides[along] * from;
            if is_single {
                address.strides.remove(along);
            }
            address
        };
        // A table counts the iterations of the loop as it was.
        if nodes.iter().any(|node| node.address().is_some_and(|a| a.table.is_some())) {
            return None;
        }
        let mut out = Rewriter::new(Rc::clone(&code.constants));
        let mut sum = None;
        for k in order.iter().filter(|k| (terms[**k].shift..terms[**k].shift + trip).contains(&low)) {
            let (term, live) = (&terms[*k], &slices[*k]);
            let mut places = vec![0; nodes.len()];
            for (i, node) in nodes.iter().enumerate().filter(|(i, _)| live[*i]) {
                let mut node = node.renamed(|operand| places[operand]);
                if let Some(address) = node.address_mut() {
                    *address = placed(address, low - term.shift);
                }
                places[i] = out.write(node);
            }
            let value = places[term.value];
            sum = Some(match sum {
                None => value,
                Some(sum) => out.add_by_terms(sum, value),
            });
        }
        let Some(sum) = sum else { continue };
        out.write(Node::Store(sum, placed(&target, low)));
        let mut loops = loops.to_vec();
        loops[along].0 = (high - low) as u32;
        if is_single {
            loops.remove(along);
        }
        sums.push(around(&loops, out.finish()));
    }
    debug_assert!(terms.iter().all(|term| term.address.array == first.array));
    let taken: Vec<usize> = terms.iter().map(|term| term.node).collect();
    let mut index = 0;
    let mut rest = Vec::new();
    let mut places = vec![0; nodes.len()];
    for (i, node) in nodes.iter().enumerate() {
        if !taken.contains(&i) {
            places[i] = index;
            rest.push(node.renamed(|operand| places[operand]));
            index += 1;
        }
    }
    let rest = without_dead(&rest, |_| true);
    let cells: i64 = wide.iter().map(|trip| i64::from(*trip)).product();
    let is_all = matches!(code.steps[zero], Step::Zero { length, .. } if length as i64 == cells);
    let rest = (!rest.is_empty()).then(|| around(loops, rest));
    Some(Found { rest, sums, zero: is_all.then_some(zero) })
}

/// The step before `at` that clears these cells, if besides it and `terms` additions in step `at` only later steps touch them, to read.
fn cleared_only(code: &Code, at: usize, array: Array, range: (i64, i64), terms: usize) -> Option<usize> {
    let mut zero = None;
    for (i, step) in code.steps.iter().enumerate() {
        if let Step::Zero { array: a, start, length } = step
            && *a == array
            && (*start as i64) <= range.1
            && range.0 < (start + length) as i64
        {
            let covers = *start as i64 <= range.0 && range.1 < (start + length) as i64;
            if zero.is_some() || !covers || i > at {
                return None;
            }
            zero = Some(i);
            continue;
        }
        let (mut written, mut read) = (0, 0);
        each_node(std::slice::from_ref(step), &mut Vec::new(), &mut |node, trips| {
            let Some(address) = node.address().filter(|a| a.array == array) else { return };
            let (low, high) = address.range(trips);
            if low <= range.1 && range.0 <= high {
                if node.is_effect() { written += 1 } else { read += 1 }
            }
        });
        let allowed = if i == at { written == terms && read == 0 } else { written == 0 && (read == 0 || i > at) };
        if !allowed || has_zero_inside(step, array) {
            return None;
        }
    }
    zero
}

fn has_zero_inside(step: &Step, array: Array) -> bool {
    match step {
        Step::Loop { body, .. } => body.iter().any(|step| match step {
            Step::Zero { array: a, .. } => *a == array,
            step => has_zero_inside(step, array),
        }),
        _ => false,
    }
}

/// Whether all iterations mean different cells, as far as strides show.
fn is_injective(address: &Address, trips: &[u32]) -> bool {
    let mut strides: Vec<(i64, i64)> = address
        .strides
        .iter()
        .zip(trips)
        .filter(|(_, trip)| **trip > 1)
        .map(|(s, trip)| (s.abs(), i64::from(*trip)))
        .collect();
    strides.sort_unstable();
    let mut reach = 0;
    strides.into_iter().all(|(stride, trip)| {
        let separate = stride > reach;
        reach += stride * (trip - 1);
        separate
    })
}
