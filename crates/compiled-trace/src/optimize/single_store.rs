//! Replaces accumulations of a single term by stores.
//!
//! Called when a program is optimised. Adjoints and tangents are written as reductions of unknown length, so their cells
//! are cleared and added to. If each cell gets one term from one instruction, storing it has the same result without clearing,
//! without a load, and keeps the sign of a zero.

use crate::optimize::access::{Access, Kind, accesses};
use crate::program::*;
use crate::sorting;

/// Stores what is added once to cells that were only cleared before; returns whether there is such.
pub(crate) fn store_single_terms(statements: &mut Vec<Statement>) -> bool {
    if !statements.iter().any(|statement| matches!(statement, Statement::Zero { .. })) {
        return false;
    }
    let mut cleared: Vec<Cleared> = Vec::new();
    let mut others: Vec<(Access, usize)> = Vec::new();
    let mut own = Vec::new();
    for (at, statement) in statements.iter().enumerate() {
        if let Statement::Zero { space, start, length } = *statement {
            cleared.push(Cleared { space, low: start, end: start + length, at });
            continue;
        }
        accesses(statement, &mut Vec::new(), &mut own);
        others.extend(own.drain(..).map(|access| (access, at)));
    }
    if cleared.is_empty() {
        return false;
    }
    sorting::sort_by_key(&mut cleared, |c| (c.space, c.low));
    if cleared.windows(2).any(|two| two[0].space == two[1].space && two[1].low < two[0].end) {
        return false;
    }
    sorting::sort_by_key(&mut others, |(access, at)| (access.space, access.low, access.high, *at));
    let mut single: Vec<(usize, Cells)> = Vec::new();
    let mut rest = &others[..];
    while let Some((first, _)) = rest.first() {
        // All accesses that overlap.
        let mut high = first.high;
        let mut count = 1;
        while let Some((next, _)) = rest.get(count)
            && next.space == first.space
            && next.low <= high
        {
            high = high.max(next.high);
            count += 1;
        }
        let (together, later) = rest.split_at(count);
        rest = later;
        if let Some((access, at)) = only_term(together)
            && is_cleared(&cleared, access, at)
        {
            single.push((at, (access.space, access.low, access.high)));
        }
    }
    sorting::sort(&mut single);
    let mut stored = Vec::new();
    for of_one in single.chunk_by(|(a, _), (b, _)| a == b) {
        store(&mut statements[of_one[0].0], of_one, &mut stored);
    }
    sorting::sort(&mut stored);
    clear_less(statements, &stored);
    !stored.is_empty()
}

/// The cells of one space from the first to the last one.
type Cells = (Space, u32, u32);

/// Cells that a statement clears.
struct Cleared {
    space: Space,
    low: u32,
    end: u32,
    at: usize,
}

/// The access that adds, if it is the only one and the others load afterwards.
fn only_term(together: &[(Access, usize)]) -> Option<(&Access, usize)> {
    let mut terms = together.iter().filter(|(access, _)| access.kind == Kind::Add);
    let (term, at) = terms.next()?;
    let loads_later = |(access, of): &&(Access, usize)| access.kind == Kind::Read && of > at;
    (terms.next().is_none() && together.iter().filter(loads_later).count() == together.len() - 1).then_some((term, *at))
}

/// Whether a statement before it clears all cells of the access.
fn is_cleared(cleared: &[Cleared], access: &Access, at: usize) -> bool {
    let next = cleared.partition_point(|c| (c.space, c.low) <= (access.space, access.low));
    let Some(last) = next.checked_sub(1).map(|last| &cleared[last]) else { return false };
    last.space == access.space && access.high < last.end && last.at < at
}

/// Stores what the nest adds to each of these cells, in ascending order, if it adds to them once; tells to which it did. One way through
/// the body for all of them: scalar nests are long.
fn store(statement: &mut Statement, single: &[(usize, Cells)], stored: &mut Vec<Cells>) {
    let Statement::Nest(nest) = statement else { return };
    let trips = nest.trips(&[]);
    for instruction in &mut nest.body {
        let Instruction::Accumulate { value, address } = *instruction else { continue };
        let place = &nest.addresses[address as usize];
        let (low, high) = place.range(&trips);
        let cells = (place.space, low, high);
        if single.binary_search_by_key(&cells, |(_, cells)| *cells).is_ok() && is_once_each(place, &trips) {
            *instruction = Instruction::Store { value, address };
            stored.push(cells);
        }
    }
}

/// Whether an address means each cell of its range once.
fn is_once_each(address: &Address, trips: &[u32]) -> bool {
    let mut steps: Vec<(u32, u32)> =
        address.strides.iter().zip(trips).filter(|(_, trip)| **trip > 1).map(|(s, n)| (s.unsigned_abs(), *n)).collect();
    steps.sort_unstable();
    let mut reach = 1;
    address.table.is_none()
        && steps.iter().all(|(stride, trip)| {
            let follows = u64::from(*stride) == reach;
            reach *= u64::from(*trip);
            follows
        })
}

/// Clears only those of the cells, in ascending order, that are not stored.
fn clear_less(statements: &mut Vec<Statement>, stored: &[Cells]) {
    if stored.is_empty() {
        return;
    }
    for statement in std::mem::take(statements) {
        let Statement::Zero { space, start, length } = statement else {
            statements.push(statement);
            continue;
        };
        let (mut from, end) = (start, start + length);
        let first = stored.partition_point(|(s, low, _)| (*s, *low) < (space, start));
        let inside = stored[first..].iter().take_while(|(s, low, _)| *s == space && *low < end);
        let gaps = inside.map(|(_, low, high)| (*low, high + 1)).chain([(end, end)]);
        for (low, next) in gaps {
            if from < low {
                statements.push(Statement::Zero { space, start: from, length: low - from });
            }
            from = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::program::{Program, Space, Statement};
    use crate::{Limits, Recorded, compile, record};

    fn gradient(inputs: usize, f: impl FnOnce(&[Recorded]) -> Recorded) -> Program {
        let x: Vec<f64> = (0..inputs).map(|i| 1.0 + i as f64).collect();
        let graph = record(&x, &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
        compile(&graph).unwrap().gradient().unwrap()
    }

    fn cleared(program: &Program) -> Vec<(u32, u32)> {
        let of = |s: &Statement| match *s {
            Statement::Zero { space: Space::Output(1), start, length } => Some((start, start + length)),
            _ => None,
        };
        program.statements.iter().filter_map(of).collect()
    }

    fn run(program: Program, x: &[f64]) -> Vec<f64> {
        let mut gradient = vec![f64::NAN; x.len()];
        let executable = program.executable();
        executable.run(&mut executable.workspace(), &[x, &[]], &mut [&mut [0.0], &mut gradient]).unwrap();
        gradient
    }

    #[test]
    fn single_terms_are_stored() {
        let found = gradient(6, |x| x.iter().map(|v| *v * *v).sum());
        assert_eq!(cleared(&found), [], "{found}");
        let x = [1.0, -2.0, 0.0, -0.0, 5.0, 6.0];
        let bits = |g: Vec<f64>| g.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(run(found, &x)), bits(x.iter().map(|v| 2.0 * v).collect()));
    }

    #[test]
    fn inputs_without_a_term_are_cleared() {
        let found = gradient(40, |x| x[10..20].iter().chain(&x[25..]).map(|v| *v * *v).sum());
        assert_eq!(cleared(&found), [(0, 10), (20, 25)], "{found}");
        let x: Vec<f64> = (0..40).map(f64::from).collect();
        let expected: Vec<f64> =
            (0..40).map(|i| if (10..20).contains(&i) || i >= 25 { 2.0 * x[i] } else { 0.0 }).collect();
        assert_eq!(run(found, &x), expected);
    }

    #[test]
    fn cells_with_several_terms_are_added_to() {
        let x: Vec<f64> = (0..40).map(f64::from).collect();
        let neighbours = gradient(40, |x| x.windows(2).map(|v| v[0] * v[1] * 2.0).sum());
        assert_eq!(cleared(&neighbours), [(0, 40)], "{neighbours}");
        let around = |i: usize| 2.0 * (if i > 0 { x[i - 1] } else { 0.0 } + if i < 39 { x[i + 1] } else { 0.0 });
        assert_eq!(run(neighbours, &x), (0..40).map(around).collect::<Vec<_>>());
        // The same input in all terms, and every other one.
        let same = gradient(40, |x| x[1..].iter().map(|v| *v * x[0]).sum());
        assert_eq!(run(same, &x), [vec![780.0], vec![0.0; 39]].concat());
        let other = gradient(40, |x| x.iter().step_by(2).map(|v| *v * *v).sum());
        assert_eq!(run(other, &x), (0..40).map(|i| if i % 2 == 0 { 2.0 * x[i] } else { 0.0 }).collect::<Vec<_>>());
    }
}
