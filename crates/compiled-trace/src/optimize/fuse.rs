//! Fuses nests over the same iterations.
//!
//! Called by the optimisation of programs. A nest is fused with a later one that shares loads with it or loads what it stores,
//! if nothing in between forbids it; values are then used by their adjoints in the same iteration.

use crate::derive::builder::{Builder, interval, is_injective};
use crate::derive::expressions::Shared;
use crate::optimize::access::{Access, Kind, Summary};
use crate::program::*;
use std::ops::Range;

/// Bodies longer than this are not fused further, except outside of loops.
const MAX_BODY: usize = 4096;
/// Largest distance, in statements, between two nests to be fused.
const MAX_DISTANCE: usize = 96;
/// Largest number of calls of rules between two nests to be fused: what they cost exceeds what fusing saves.
const MAX_CALLS: usize = 8;

/// Fuses nests over the same iterations, moving the later one up where nothing in between forbids it; returns whether there are such.
pub(crate) fn fuse(statements: &mut Vec<Statement>, shared: &mut Shared, loops: &[u32]) -> bool {
    let mut changed = false;
    for statement in statements.iter_mut() {
        if let Statement::Loop { trip, body, .. } = statement {
            let mut inner = loops.to_vec();
            inner.push(*trip);
            changed |= fuse(body, shared, &inner);
        }
    }
    if statements.iter().filter(|statement| matches!(statement, Statement::Nest(_))).count() < 2 {
        return changed;
    }
    let mut summaries: Vec<Summary> = statements.iter().map(|s| Summary::new(s, loops)).collect();
    // The statements before `kept` are done, and those from there up to `start` are in a nest of them.
    let (mut start, mut kept) = (0, 0);
    while start < statements.len() {
        let mut i = start;
        // Scalar nests become long: collect all partners first and write the body once.
        let mut group = vec![i];
        let mut grouped = summaries[i].clone();
        // What those of the statements between access that cannot come before the group.
        let mut behind = Summary::default();
        let (mut j, mut calls) = (i + 1, 0);
        let mut last = last_partner(statements, &group, j..i + MAX_DISTANCE, loops);
        while last.is_some_and(|last| j <= last) {
            if let Statement::Call(_) = statements[j] {
                calls += 1;
                if calls > MAX_CALLS {
                    break;
                }
            }
            let is_behind = summaries[j].conflicts(&behind);
            if !is_behind && can_join(statements, &group, j, loops) {
                // The statements that the partner needs come first, then the group, then the rest.
                let end = group[group.len() - 1];
                let between = needed(&summaries, end + 1..j, j);
                let (first, count) = (group[0] + between.len(), group.len() + 1);
                grouped.insert(&summaries[j]);
                for (place, k) in between.iter().enumerate().map(|(at, k)| (group[0] + at, *k)) {
                    move_up(statements, k, place);
                    move_up(&mut summaries, k, place);
                }
                move_up(statements, j, first + count - 1);
                move_up(&mut summaries, j, first + count - 1);
                group = (first..first + count).collect();
                behind = Summary::default();
                i = first;
                j = first + count;
                last = last_partner(statements, &group, j..i + MAX_DISTANCE, loops);
            } else {
                if is_behind || summaries[j].conflicts(&grouped) {
                    behind.insert(&summaries[j]);
                }
                j += 1;
            }
        }
        if group.len() > 1 {
            changed = true;
            let nests: Vec<&Nest> = group
                .iter()
                .filter_map(|k| match &statements[*k] {
                    Statement::Nest(nest) => Some(nest),
                    _ => None,
                })
                .collect();
            statements[group[0]] = Statement::Nest(rewritten(&nests, shared));
        }
        // Those that the partners need come before the group.
        for k in start..=group[0] {
            statements.swap(kept, k);
            kept += 1;
        }
        start = group[0] + group.len();
    }
    statements.truncate(kept);
    changed
}

/// Moves an item to an earlier place, and those between by one.
fn move_up<T>(items: &mut [T], from: usize, to: usize) {
    items[to..=from].rotate_right(1);
}

/// The last statement of the range that may join the group, if what lies between allows it, which is slower to find out.
fn last_partner(statements: &[Statement], group: &[usize], range: Range<usize>, loops: &[u32]) -> Option<usize> {
    (range.start..range.end.min(statements.len())).rev().find(|j| can_join(statements, group, *j, loops))
}

/// Whether the nest at `j` has the iterations of the group, and may run after it in each of them.
fn can_join(statements: &[Statement], group: &[usize], j: usize, loops: &[u32]) -> bool {
    let (Statement::Nest(first), Statement::Nest(second)) = (&statements[group[0]], &statements[j]) else {
        return false;
    };
    if first.dimensions != second.dimensions {
        return false;
    }
    if first.dimensions.is_empty() {
        return true;
    }
    let nests = || {
        group.iter().filter_map(|k| match &statements[*k] {
            Statement::Nest(nest) => Some(nest),
            _ => None,
        })
    };
    let length: usize = nests().map(|nest| nest.body.len()).sum();
    first.dimensions.iter().all(|d| d.parallel)
        && worthwhile(first, second)
        && length + second.body.len() <= MAX_BODY
        && nests().all(|nest| iterations_agree(nest, second, loops))
}

/// The statements of the range that must stay before the one at `j`.
fn needed(summaries: &[Summary], range: Range<usize>, j: usize) -> Vec<usize> {
    let mut behind = summaries[j].clone();
    let mut needed = Vec::new();
    for k in range.rev() {
        if summaries[k].conflicts(&behind) {
            behind.insert(&summaries[k]);
            needed.push(k);
        }
    }
    needed.reverse();
    needed
}

/// Whether two nests share loads, or one loads what the other stores.
fn worthwhile(first: &Nest, second: &Nest) -> bool {
    second.body.iter().any(|instruction| match instruction {
        Instruction::Load(address) => first.addresses.contains(&second.addresses[*address as usize]),
        _ => false,
    })
}

/// Whether every cell that both nests access is accessed in the same iteration, or only added to.
fn iterations_agree(first: &Nest, second: &Nest, loops: &[u32]) -> bool {
    let trips: Vec<u32> = loops.iter().copied().chain(first.dimensions.iter().map(|d| d.trip)).collect();
    let list = |nest: &Nest| -> Vec<(u32, Access)> {
        nest.body
            .iter()
            .filter_map(|instruction| {
                let (address, kind) = match *instruction {
                    Instruction::Load(address) => (address, Kind::Read),
                    Instruction::Store { address, .. } => (address, Kind::Write),
                    Instruction::Accumulate { address, .. } => (address, Kind::Add),
                    _ => return None,
                };
                let (space, low, high) = interval(&nest.addresses[address as usize], &trips);
                matches!(space, Space::Work | Space::Output(_)).then_some((address, Access { space, low, high, kind }))
            })
            .collect()
    };
    let (a, b) = (list(first), list(second));
    a.iter().all(|(x, first_access)| {
        b.iter().all(|(y, second_access)| {
            let (x, y) = (&first.addresses[*x as usize], &second.addresses[*y as usize]);
            !first_access.conflicts(second_access)
                || (x == y
                    && is_injective(x, &trips)
                    && (first_access.kind, second_access.kind) == (Kind::Write, Kind::Read))
        })
    })
}

/// One nest with the bodies of several, in order.
pub(crate) fn rewritten(nests: &[&Nest], shared: &mut Shared) -> Nest {
    let first = nests[0];
    let mut builder = Builder::new(shared, first.dimensions.clone(), first.reversed);
    builder.reserve(nests.iter().map(|nest| nest.body.len()).sum());
    for nest in nests {
        let mut renamed = vec![0u32; nest.body.len()];
        for (i, instruction) in nest.body.iter().enumerate() {
            renamed[i] = builder.copy(*instruction, &nest.addresses, &renamed);
        }
    }
    builder.finish()
}
