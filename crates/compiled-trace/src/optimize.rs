//! Optimisation of whole programs: statements over the same iterations are fused, results nobody loads are not stored.
//!
//! Called at the end of every pass that makes a program. Fusing a nest with its adjoint, where nothing in between needs the
//! nest's results, gives the one loop a careful programmer writes: values are computed once and stay in the iteration.

use crate::build::{Builder, Shared, interval, is_injective, without_dead};
use crate::program::*;
use rustc_hash::FxHashMap;

/// Bodies longer than this are not fused further, except outside of loops.
const LONGEST: usize = 768;
/// How many statements apart two nests may be to be fused.
const WINDOW: usize = 96;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Read,
    Write,
    Add,
}

/// What a statement does to memory.
#[derive(Clone, Debug)]
struct Access {
    space: Space,
    low: u32,
    high: u32,
    kind: Kind,
}

impl Access {
    fn meets(&self, other: &Access) -> bool {
        self.space == other.space && self.low <= other.high && other.low <= self.high
    }
    /// Whether the two may not change places.
    fn conflicts(&self, other: &Access) -> bool {
        let harmless = self.kind == other.kind && self.kind != Kind::Write;
        !harmless && self.meets(other)
    }
}

impl Program {
    /// The same program with fewer and smaller statements.
    pub(crate) fn optimized(self) -> Program {
        let mut shared = Shared::new(self.constants, self.rules);
        let mut statements = self.statements;
        clean(&mut statements, &mut shared);
        drop_dead_stores(&mut statements);
        fuse(&mut statements, &mut shared, &[]);
        drop_dead_stores(&mut statements);
        Program { constants: shared.constants, rules: shared.rules, statements, ..self }
    }
}

/// Writes every body again, each instruction once.
fn clean(statements: &mut [Statement], shared: &mut Shared) {
    for statement in statements {
        match statement {
            Statement::Nest(nest) => *nest = rewritten(&[nest], shared),
            Statement::Loop { body, .. } => clean(body, shared),
            _ => {}
        }
    }
}

/// One nest with the bodies of several, in order.
fn rewritten(nests: &[&Nest], shared: &mut Shared) -> Nest {
    let first = nests[0];
    let mut builder = Builder::new(shared, first.dimensions.clone(), first.reversed);
    for nest in nests {
        let mut renamed = vec![0u32; nest.body.len()];
        for (i, instruction) in nest.body.iter().enumerate() {
            renamed[i] = builder.copy(*instruction, &nest.addresses, &renamed);
        }
    }
    builder.finish()
}

/// What a nest does to memory, appended to `out`.
fn nest_accesses(nest: &Nest, loops: &[u32], out: &mut Vec<Access>) {
    let trips: Vec<u32> = loops.iter().copied().chain(nest.dimensions.iter().map(|d| d.trip)).collect();
    for instruction in &nest.body {
        let (address, kind) = match *instruction {
            Instruction::Load(address) => (address, Kind::Read),
            Instruction::Store { address, .. } => (address, Kind::Write),
            Instruction::Accumulate { address, .. } => (address, Kind::Add),
            _ => continue,
        };
        let (space, low, high) = interval(&nest.addresses[address as usize], &trips);
        // Constants and inputs never change.
        if matches!(space, Space::Work | Space::Output(_)) {
            out.push(Access { space, low, high, kind });
        }
    }
}

fn accesses(statement: &Statement, loops: &mut Vec<u32>, out: &mut Vec<Access>) {
    match statement {
        Statement::Zero { space, start, length } => {
            out.push(Access { space: *space, low: *start, high: start + length.saturating_sub(1), kind: Kind::Write });
        }
        Statement::Nest(nest) => nest_accesses(nest, loops, out),
        Statement::Loop { trip, body, .. } => {
            loops.push(*trip);
            body.iter().for_each(|statement| accesses(statement, loops, out));
            loops.pop();
        }
        Statement::Call(call) => {
            let mut add = |addresses: &[Address], kind| {
                for address in addresses {
                    let (space, low, high) = interval(address, loops);
                    out.push(Access { space, low, high, kind });
                }
            };
            add(&call.arguments, Kind::Read);
            add(&call.results, if call.accumulate { Kind::Add } else { Kind::Write });
        }
    }
}

/// Accesses sorted and merged, for long statements.
fn summary(statement: &Statement, loops: &[u32]) -> Vec<Access> {
    let mut all = Vec::new();
    accesses(statement, &mut loops.to_vec(), &mut all);
    all.sort_by_key(|a| (a.space, a.kind as u8, a.low, a.high));
    let mut merged: Vec<Access> = Vec::new();
    for access in all {
        match merged.last_mut() {
            Some(last)
                if last.space == access.space
                    && last.kind == access.kind
                    && access.low <= last.high.saturating_add(1) =>
            {
                last.high = last.high.max(access.high);
            }
            _ => merged.push(access),
        }
    }
    merged
}

/// The accesses of a statement, under a number of its own.
#[derive(Debug)]
struct Summary {
    number: usize,
    accesses: Vec<Access>,
}

/// Which statements may not change places. Every statement is compared with all in the window again and again while groups
/// grow, so answers are kept.
#[derive(Default)]
struct Conflicts {
    statements: usize,
    known: FxHashMap<(usize, usize), bool>,
}

/// Most answers that are kept.
const MOST_KNOWN: usize = 1 << 18;

impl Conflicts {
    fn summary(&mut self, statement: &Statement, loops: &[u32]) -> Summary {
        self.statements += 1;
        Summary { number: self.statements, accesses: summary(statement, loops) }
    }

    fn between(&mut self, a: &Summary, b: &Summary) -> bool {
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let key = (a.number.min(b.number), a.number.max(b.number));
        *self.known.entry(key).or_insert_with(|| conflict(&a.accesses, &b.accesses))
    }
}

/// Whether two statements may not change places. Each interval of the shorter summary looks for its place in the longer one:
/// those of long irregular statements have thousands.
fn conflict(a: &[Access], b: &[Access]) -> bool {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    few.iter().any(|x| {
        [Kind::Read, Kind::Write, Kind::Add].into_iter().any(|kind| {
            let before = |y: &Access| (y.space, y.kind as u8, y.high) < (x.space, kind as u8, x.low);
            let next = many.get(many.partition_point(before));
            next.is_some_and(|y| y.kind == kind && x.conflicts(y))
        })
    })
}

/// Fuses nests over the same iterations, moving the later one up where nothing in between forbids it.
fn fuse(statements: &mut Vec<Statement>, shared: &mut Shared, loops: &[u32]) {
    for statement in statements.iter_mut() {
        if let Statement::Loop { trip, body, .. } = statement {
            let mut inner = loops.to_vec();
            inner.push(*trip);
            fuse(body, shared, &inner);
        }
    }
    let mut conflicts = Conflicts::default();
    let mut summaries: Vec<Summary> = statements.iter().map(|s| conflicts.summary(s, loops)).collect();
    let mut i = 0;
    while i < statements.len() {
        // Scalar nests grow long: gather all partners first and write the body once.
        let mut group = vec![i];
        let mut j = i + 1;
        while j < statements.len() && j < i + WINDOW {
            if let Some(between) = partners(statements, &summaries, &mut conflicts, &group, j, loops) {
                // What the partner needs goes first, then the group, then the rest.
                let end = *group.last().expect("a group has a first nest");
                let mut order: Vec<usize> = (0..group[0]).collect();
                order.extend(&between);
                order.extend(&group);
                order.push(j);
                let moved: Vec<usize> = (end + 1..j).filter(|k| !between.contains(k)).collect();
                order.extend(&moved);
                order.extend(j + 1..statements.len());
                let first = group[0] + between.len();
                let count = group.len() + 1;
                permute(statements, &order);
                permute(&mut summaries, &order);
                group = (first..first + count).collect();
                i = first;
                j = first + count;
            } else {
                j += 1;
            }
        }
        if group.len() > 1 {
            let nests: Vec<&Nest> = group
                .iter()
                .filter_map(|k| match &statements[*k] {
                    Statement::Nest(nest) => Some(nest),
                    _ => None,
                })
                .collect();
            let nest = rewritten(&nests, shared);
            statements.drain(group[0] + 1..group[0] + group.len());
            summaries.drain(group[0] + 1..group[0] + group.len());
            statements[group[0]] = Statement::Nest(nest);
            summaries[group[0]] = conflicts.summary(&statements[group[0]], loops);
        }
        i += 1;
    }
}

fn permute<T>(items: &mut Vec<T>, order: &[usize]) {
    let mut old: Vec<Option<T>> = std::mem::take(items).into_iter().map(Some).collect();
    items.extend(order.iter().filter_map(|k| old[*k].take()));
}

/// Whether the nest at `j` can join the group; then the statements between that must go before the group.
fn partners(
    statements: &[Statement],
    summaries: &[Summary],
    conflicts: &mut Conflicts,
    group: &[usize],
    j: usize,
    loops: &[u32],
) -> Option<Vec<usize>> {
    let (Statement::Nest(first), Statement::Nest(second)) = (&statements[group[0]], &statements[j]) else {
        return None;
    };
    if first.dimensions != second.dimensions {
        return None;
    }
    let scalar = first.dimensions.is_empty();
    if !scalar {
        if !first.dimensions.iter().all(|d| d.parallel) || !worthwhile(first, second) {
            return None;
        }
        let length: usize = group
            .iter()
            .map(|k| match &statements[*k] {
                Statement::Nest(nest) => nest.body.len(),
                _ => 0,
            })
            .sum();
        if length + second.body.len() > LONGEST {
            return None;
        }
    }
    let end = *group.last()?;
    let mut before: Vec<usize> = Vec::new();
    for k in (end + 1..j).rev() {
        if conflicts.between(&summaries[k], &summaries[j])
            || before.iter().any(|d| conflicts.between(&summaries[k], &summaries[*d]))
        {
            before.push(k);
        }
    }
    before.reverse();
    for k in group {
        if before.iter().any(|d| conflicts.between(&summaries[*d], &summaries[*k])) {
            return None;
        }
        if !scalar
            && let Statement::Nest(nest) = &statements[*k]
            && !iterations_agree(nest, second, loops)
        {
            return None;
        }
    }
    Some(before)
}

/// Whether two nests share loads, or one loads what the other stores.
fn worthwhile(first: &Nest, second: &Nest) -> bool {
    second.body.iter().any(|instruction| match instruction {
        Instruction::Load(address) => first.addresses.contains(&second.addresses[*address as usize]),
        _ => false,
    })
}

/// Whether every cell that both nests touch is touched in the same iteration, or only added to.
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

/// Removes stores and accumulations to work cells that nobody loads, and narrows what is cleared.
fn drop_dead_stores(statements: &mut Vec<Statement>) {
    loop {
        let mut read = Vec::new();
        for statement in statements.iter() {
            accesses(statement, &mut Vec::new(), &mut read);
        }
        let mut loaded: Vec<(u32, u32)> =
            read.iter().filter(|a| a.kind == Kind::Read && a.space == Space::Work).map(|a| (a.low, a.high)).collect();
        loaded = merge(loaded);
        let is_loaded = |low: u32, high: u32| {
            let next = loaded.partition_point(|(_, end)| *end < low);
            loaded.get(next).is_some_and(|(start, _)| *start <= high)
        };
        if !remove_dead(statements, &mut Vec::new(), &is_loaded) {
            break;
        }
    }
    let mut all = Vec::new();
    for statement in statements.iter() {
        accesses(statement, &mut Vec::new(), &mut all);
    }
    let added: Vec<(u32, u32)> =
        all.iter().filter(|a| a.space == Space::Work && a.kind != Kind::Write).map(|a| (a.low, a.high)).collect();
    narrow(statements, &merge(added));
}

fn merge(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (low, high) in ranges {
        match merged.last_mut() {
            Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
            _ => merged.push((low, high)),
        }
    }
    merged
}

/// Whether anything was removed.
fn remove_dead(statements: &mut Vec<Statement>, loops: &mut Vec<u32>, is_loaded: &impl Fn(u32, u32) -> bool) -> bool {
    let mut changed = false;
    for statement in statements.iter_mut() {
        match statement {
            Statement::Loop { trip, body, .. } => {
                loops.push(*trip);
                changed |= remove_dead(body, loops, is_loaded);
                loops.pop();
            }
            Statement::Nest(nest) => {
                let trips: Vec<u32> = loops.iter().copied().chain(nest.dimensions.iter().map(|d| d.trip)).collect();
                let dead: Vec<bool> = nest
                    .addresses
                    .iter()
                    .map(|address| {
                        let (low, high) = address.range(&trips);
                        address.space == Space::Work && !is_loaded(low, high)
                    })
                    .collect();
                let is_dead = |instruction: &Instruction| match *instruction {
                    Instruction::Store { address, .. } | Instruction::Accumulate { address, .. } => {
                        dead[address as usize]
                    }
                    _ => false,
                };
                if nest.body.iter().any(is_dead) {
                    changed = true;
                    // What is dead loses its effect and goes with what only it needs.
                    let mut kept = nest.clone();
                    for instruction in &mut kept.body {
                        if is_dead(instruction) {
                            *instruction = Instruction::Constant(0);
                        }
                    }
                    *nest = without_dead(kept);
                }
            }
            _ => {}
        }
    }
    let before = statements.len();
    statements.retain(|statement| match statement {
        Statement::Nest(nest) => !nest.body.is_empty(),
        Statement::Loop { body, .. } => !body.is_empty(),
        _ => true,
    });
    changed || statements.len() != before
}

/// Clears only what is loaded or added to.
fn narrow(statements: &mut Vec<Statement>, used: &[(u32, u32)]) {
    let old = std::mem::take(statements);
    for statement in old {
        match statement {
            Statement::Zero { space: Space::Work, start, length } => {
                let end = start + length.saturating_sub(1);
                for (low, high) in used {
                    let (low, high) = ((*low).max(start), (*high).min(end));
                    if length > 0 && low <= high {
                        statements.push(Statement::Zero { space: Space::Work, start: low, length: high - low + 1 });
                    }
                }
            }
            Statement::Loop { trip, reversed, mut body } => {
                narrow(&mut body, used);
                statements.push(Statement::Loop { trip, reversed, body });
            }
            other => statements.push(other),
        }
    }
}
