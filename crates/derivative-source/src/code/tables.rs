//! Loops in place of tables of cells.
//!
//! Called for every function. Nests over a grid with boundaries, or copies of mirrored entries, come with a table of cells; most tables are a
//! few pieces with constant distances, nested like the rows of a grid. Here the cells of all iterations are listed and folded into
//! such pieces, again and again; if few remain, each becomes a loop of its own, and no table is printed.

use super::block::Rewriter;
use super::gather::nest;
use super::ir::{Array, Code, Node, Step};
use std::collections::HashMap;
use std::rc::Rc;

/// Most numbers that are listed for one nest.
const MOST: usize = 1 << 22;
/// Most items that are repeated together: iterations, then what they have been folded to.
const LONGEST: [usize; 2] = [6, 24];

/// The code with loops in place of tables, where these are few.
pub(crate) fn without_tables(mut code: Code) -> Code {
    let mut steps = Vec::with_capacity(code.steps.len());
    for step in std::mem::take(&mut code.steps) {
        match pieces(&code, &step) {
            Some(pieces) => steps.extend(pieces),
            None => steps.push(step),
        }
    }
    code.steps = steps;
    code
}

/// A leaf is an iteration; a fold repeats items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Leaf,
    Fold { count: u32, distance: Rc<[i64]>, items: Rc<[Item]> },
}

/// Cells of the first iteration, and how it goes on. The cells of nested items are relative.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) cells: Rc<[i64]>,
    pub(crate) shape: Shape,
}

/// A list of numbers as pieces with constant distances: the cells of a leaf are a place in the list and the number there.
pub(crate) fn pieces_of(numbers: &[u32]) -> Vec<Item> {
    let item = |(place, number): (usize, &u32)| Item {
        cells: Rc::from([place as i64, i64::from(*number)]),
        shape: Shape::Leaf,
    };
    folded(numbers.iter().enumerate().map(item).collect())
}

fn pieces(code: &Code, step: &Step) -> Option<Vec<Step>> {
    let (loops, nodes) = nest(step)?;
    let has_table = |node: &Node| node.address().is_some_and(|a| a.table.is_some());
    if !nodes.iter().any(has_table) {
        return None;
    }
    let addresses = nodes.iter().filter(|node| node.address().is_some()).count();
    let iterations: usize = loops.iter().map(|l| l.0 as usize).product();
    if iterations.saturating_mul(addresses) > MOST {
        return None;
    }
    // Equal constants count as one cell, so that a loop over them needs no array; if that does not fold, as an array of constants.
    [true, false].into_iter().find_map(|by_value| {
        let items = folded(list(code, &loops, nodes, iterations, by_value));
        let leaves: usize = items.iter().map(leaves).sum();
        if leaves > 4 && leaves * nodes.len() > 240 {
            return None;
        }
        let parallel = loops.iter().all(|l| l.2);
        let start = vec![0; addresses];
        Some(items.iter().map(|item| print(code, nodes, item, &start, &mut Vec::new(), parallel)).collect())
    })
}

/// The cells of all addresses in all iterations, in order.
fn list(code: &Code, loops: &[(u32, bool, bool)], nodes: &[Node], iterations: usize, by_value: bool) -> Vec<Item> {
    let mut first: HashMap<u64, i64> = HashMap::new();
    for (cell, constant) in code.constants.iter().enumerate().rev() {
        first.insert(constant.to_bits(), cell as i64);
    }
    let mut counters = vec![0; loops.len()];
    (0..iterations)
        .map(|iteration| {
            let mut rest = iteration;
            for (counter, (trip, reversed, _)) in counters.iter_mut().zip(loops).rev() {
                let count = (rest % *trip as usize) as u32;
                *counter = if *reversed { trip - 1 - count } else { count };
                rest /= *trip as usize;
            }
            let cell = |node: &Node| {
                let address = node.address()?;
                let cell = address.cell(&counters);
                let is_constant = by_value && address.array == Array::Constant;
                Some(if is_constant { first[&code.constants[cell as usize].to_bits()] } else { cell })
            };
            Item { cells: nodes.iter().filter_map(cell).collect(), shape: Shape::Leaf }
        })
        .collect()
}

/// Number of leaves.
pub(crate) fn leaves(item: &Item) -> usize {
    match &item.shape {
        Shape::Leaf => 1,
        Shape::Fold { items, .. } => items.iter().map(leaves).sum(),
    }
}

fn distance(from: &[i64], to: &[i64]) -> Rc<[i64]> {
    from.iter().zip(to).map(|(from, to)| to - from).collect()
}

fn is_apart(from: &[i64], to: &[i64], distance: &[i64]) -> bool {
    from.iter().zip(to).zip(distance).all(|((from, to), distance)| to - from == *distance)
}

/// Folds repeated items until nothing repeats.
fn folded(mut items: Vec<Item>) -> Vec<Item> {
    items = folded_once(items, LONGEST[0]);
    loop {
        let before = items.len();
        items = folded_once(items, LONGEST[1]);
        if items.len() == before {
            return items;
        }
    }
}

fn folded_once(items: Vec<Item>, longest: usize) -> Vec<Item> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < items.len() {
        // The period that saves most, and its repetitions.
        let mut best = (0, 0, 0);
        for period in 1..=longest.min((items.len() - at) / 2) {
            let apart = distance(&items[at].cells, &items[at + period].cells);
            let same = |i: usize| {
                items[i].shape == items[i + period].shape && is_apart(&items[i].cells, &items[i + period].cells, &apart)
            };
            let reach = (at..items.len() - period).take_while(|i| same(*i)).count();
            let count = reach / period + 1;
            let saved = (count - 1) * period;
            if count >= 3 && saved > best.0 {
                best = (saved, period, count);
            }
        }
        let (saved, period, count) = best;
        if saved == 0 {
            out.push(items[at].clone());
            at += 1;
            continue;
        }
        let cells = Rc::clone(&items[at].cells);
        let inner = items[at..at + period]
            .iter()
            .map(|item| Item { cells: distance(&cells, &item.cells), shape: item.shape.clone() })
            .collect();
        let distance = distance(&cells, &items[at + period].cells);
        out.push(Item { cells, shape: Shape::Fold { count: count as u32, distance, items: inner } });
        at += period * count;
    }
    out
}

/// The steps of an item whose cells count from `start`; `around` has the distances of the folds around it.
fn print(code: &Code, nodes: &[Node], item: &Item, start: &[i64], around: &mut Vec<Rc<[i64]>>, parallel: bool) -> Step {
    let start: Vec<i64> = start.iter().zip(&*item.cells).map(|(start, cell)| start + cell).collect();
    match &item.shape {
        Shape::Leaf => {
            let mut out = Rewriter::new(Rc::clone(&code.constants));
            let mut places = Vec::with_capacity(nodes.len());
            let mut k = 0;
            for node in nodes {
                let mut node = node.renamed(|operand| places[operand]);
                if let Some(address) = node.address_mut() {
                    address.base = start[k];
                    address.strides = around.iter().map(|distance| distance[k]).collect();
                    address.table = None;
                    k += 1;
                }
                places.push(out.write(node));
            }
            Step::Block(out.finish())
        }
        Shape::Fold { count, distance, items } => {
            around.push(Rc::clone(distance));
            let body = items.iter().map(|item| print(code, nodes, item, &start, around, parallel)).collect();
            around.pop();
            Step::Loop { trip: *count, reversed: false, parallel, body }
        }
    }
}
