//! Simplifies the entries of derivative matrices that run.
//!
//! Called where the programs of a preparation are made. Entries that differ in their variables alone, as the rows of a discretised
//! equation do, are simplified once.

use super::check::agree;
use super::saturate::{Bounds, saturated};
use crate::expression::{Expressions, Id, Node};
use crate::form::{Aim, Form, Function, Leaf, build, convert};
use compiled_trace::rules::{MINUS, NEGATE, OVER, PLUS, RECIP, Rules, SQRT, TIMES};
use differentiation_interface_core::error::Error;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::time::Duration;

/// The largest entry that is simplified, with every part counted as often as it is used.
const MOST_PARTS: usize = 60;
/// The largest number of different entries that are simplified in a preparation.
const MOST_SHAPES: usize = 64;
const BOUNDS: Bounds = Bounds { rounds: 5, nodes: 600, time: Duration::from_secs(1) };

/// Entries with the same values but for rounding, at no higher cost. `kept` are computed too, and not changed.
pub(crate) fn simplified_entries(
    expressions: &mut Expressions,
    kept: &[Id],
    entries: Vec<Id>,
) -> Result<Vec<Id>, Error> {
    let mut shapes: FxHashMap<Form, Option<Form>> = FxHashMap::default();
    let mut changed = FxHashMap::default();
    for entry in &entries {
        if changed.contains_key(entry) {
            continue;
        }
        let Some(form) = convert(expressions, *entry, Aim::Running, MOST_PARTS) else { continue };
        let mut leaves = Vec::new();
        let shape = form.map_leaves(&mut |leaf| {
            let place = leaves.iter().position(|known| *known == leaf).unwrap_or_else(|| {
                leaves.push(leaf);
                leaves.len() - 1
            });
            Leaf::Input(place as u32)
        });
        let count = shapes.len();
        let simple = match shapes.get(&shape) {
            Some(known) => known,
            None if count >= MOST_SHAPES => continue,
            None => {
                let simple = remembered_shape(&shape, expressions.rules(), leaves.len());
                shapes.entry(shape).or_insert(simple)
            }
        };
        if let Some(simple) = simple {
            let renamed = simple.map_leaves(&mut |leaf| match leaf {
                Leaf::Input(place) => leaves[place as usize],
                other => other,
            });
            changed.insert(*entry, build(&renamed, expressions)?);
        }
    }
    let new: Vec<Id> = entries.iter().map(|entry| changed.get(entry).copied().unwrap_or(*entry)).collect();
    // Simplification can lose parts that entries share.
    let cost = |entries: &[Id]| {
        let roots: Vec<Id> = kept.iter().chain(entries).copied().collect();
        expressions.parts(&roots).into_iter().map(|id| cost(expressions.node(id))).sum::<u64>()
    };
    Ok(if cost(&new) < cost(&entries) { new } else { entries })
}

thread_local! {
    /// Shapes of earlier preparations on this thread. Functions with the same derivatives, and the same function again, find theirs.
    static REMEMBERED: RefCell<FxHashMap<Form, Option<Form>>> = RefCell::default();
}

/// The largest number of shapes that a thread remembers.
const MOST_REMEMBERED: usize = 4096;

/// The cheaper form of a shape, if there is one, by an earlier preparation if that simplified the same.
fn remembered_shape(shape: &Form, rules: &Rules, variables: usize) -> Option<Form> {
    // Numbers of rules beyond the table mean other rules in other recordings.
    let mut is_of_table = true;
    shape.each_function(&mut |function| {
        is_of_table &= match function {
            Function::Unary(rule) => rules.other_unary(rule).is_none(),
            Function::Binary(rule) => rules.other_binary(rule).is_none(),
            Function::Choice(_) | Function::Sigma { .. } => true,
        };
    });
    if !is_of_table {
        return simplified_shape(shape, rules, variables);
    }
    if let Some(known) = REMEMBERED.with_borrow(|known| known.get(shape).cloned()) {
        return known;
    }
    let simple = simplified_shape(shape, rules, variables);
    REMEMBERED.with_borrow_mut(|known| {
        if known.len() < MOST_REMEMBERED {
            known.insert(shape.clone(), simple.clone());
        }
    });
    simple
}

/// A cheaper form of a shape with variables in place of its leaves; `None` if none is found.
fn simplified_shape(shape: &Form, rules: &Rules, variables: usize) -> Option<Form> {
    let simple = saturated(shape, Aim::Running, BOUNDS);
    if simple == *shape {
        return None;
    }
    let mut expressions = Expressions::new(rules.clone(), usize::MAX);
    let before = build(shape, &mut expressions).ok()?;
    let after = build(&simple, &mut expressions).ok()?;
    agree(&expressions, before, after, variables, 0).then_some(simple)
}

/// About the cycles of an operation.
fn cost(node: Node) -> u64 {
    match node {
        Node::Number(_) | Node::Input(_) | Node::Parameter(_) => 0,
        Node::Unary(NEGATE, _) | Node::Binary(PLUS | MINUS | TIMES, _) => 4,
        Node::Unary(RECIP | SQRT, _) | Node::Binary(OVER, _) => 14,
        Node::Choice(..) => 8,
        Node::Unary(..) | Node::Binary(..) => 40,
    }
}
