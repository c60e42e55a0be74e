//! Nests whose tables are regular in pieces, as several nests without tables.
//!
//! Called by [`Compiled::new`](super::Compiled::new) before a program is compiled. A recording of a periodic grid, for example, has
//! other cells at its ends than in its middle, so the addresses of the whole row are a table. Each piece of the row has vectors of
//! consecutive cells again, which a table has not. The first iteration of a loop becomes statements of its own where that makes tables regular.

use crate::program::{Address, Nest, RuleCall, Statement};
use std::sync::Arc;

/// Maximum number of pieces.
const MOST: usize = 8;
/// Rows shorter than this stay as they are.
const SHORTEST: usize = 8;

/// The statements with nests replaced by their pieces; `None` if there is nothing to replace.
pub(super) fn split(statements: &[Statement], trips: &mut Vec<u32>) -> Option<Vec<Statement>> {
    let mut made: Option<Vec<Statement>> = None;
    for (i, statement) in statements.iter().enumerate() {
        let new: Option<Vec<Statement>> = match statement {
            Statement::Nest(nest) => pieces(nest, trips).map(|all| all.into_iter().map(Statement::Nest).collect()),
            Statement::Loop { trip, reversed, body } => match peeled(*trip, *reversed, body, trips) {
                Some(parts) => Some(split(&parts, trips).unwrap_or(parts)),
                None => {
                    trips.push(*trip);
                    let body = split(body, trips);
                    trips.pop();
                    body.map(|body| vec![Statement::Loop { trip: *trip, reversed: *reversed, body }])
                }
            },
            Statement::Zero { .. } | Statement::Call(_) => None,
        };
        match (new, &mut made) {
            (Some(new), Some(made)) => made.extend(new),
            (Some(new), None) => made = Some(statements[..i].iter().cloned().chain(new).collect()),
            (None, Some(made)) => made.push(statement.clone()),
            (None, None) => {}
        }
    }
    made
}

/// A loop without its first or last iteration, and that iteration, if some nest has pieces in one of them only: a recording of a
/// recurrence reads the results of the step before, which for the first step of a loop are elsewhere.
fn peeled(trip: u32, reversed: bool, body: &[Statement], trips: &[u32]) -> Option<Vec<Statement>> {
    if !trips.is_empty() || trip < 3 {
        return None;
    }
    for first in [1, 0] {
        let gains = body.iter().any(|statement| match statement {
            Statement::Nest(nest) if nest.addresses.iter().any(|address| address.table.is_some()) => {
                let rest = || iterations(statement, trip, first, trip - 1);
                pieces(nest, &[trip]).is_none()
                    && matches!(rest(), Some(Statement::Nest(rest)) if pieces(&rest, &[trip - 1]).is_some())
            }
            _ => false,
        });
        if !gains {
            continue;
        }
        let of = |start: u32, count: u32| -> Option<Vec<Statement>> {
            body.iter().map(|statement| iterations(statement, trip, start, count)).collect()
        };
        let alone = of(if first == 1 { 0 } else { trip - 1 }, 1)?;
        let rest = vec![Statement::Loop { trip: trip - 1, reversed, body: of(first, trip - 1)? }];
        let alone_first = (first == 1) != reversed;
        return Some(if alone_first { [alone, rest].concat() } else { [rest, alone].concat() });
    }
    None
}

/// A statement of a loop for `count` of its iterations from `start` on; for one, without the counter.
fn iterations(statement: &Statement, trip: u32, start: u32, count: u32) -> Option<Statement> {
    let address = |address: &Address| {
        let mut made = address.clone();
        match &address.table {
            Some(table) => {
                let row = table.len() / trip as usize;
                made.table = Some(table.get(start as usize * row..(start + count) as usize * row)?.into());
            }
            None => {
                let base = address.base as i64 + *address.strides.first()? as i64 * start as i64;
                made.base = u32::try_from(base).ok()?;
            }
        }
        if count == 1 && !made.strides.is_empty() {
            made.strides.remove(0);
        }
        Some(made)
    };
    let all = |addresses: &[Address]| addresses.iter().map(address).collect::<Option<Vec<Address>>>();
    Some(match statement {
        Statement::Nest(nest) => Statement::Nest(Nest { addresses: all(&nest.addresses)?, ..nest.clone() }),
        Statement::Loop { trip: inner, reversed, body } => {
            let body = body.iter().map(|statement| iterations(statement, trip, start, count)).collect::<Option<_>>()?;
            Statement::Loop { trip: *inner, reversed: *reversed, body }
        }
        Statement::Call(call) => {
            let (arguments, results) = (all(&call.arguments)?, all(&call.results)?);
            Statement::Call(RuleCall { arguments, results, ..call.clone() })
        }
        Statement::Zero { .. } => statement.clone(),
    })
}

/// What a table is in each of the pieces: the first cell and the strides.
type Regular = Vec<(u32, Vec<i32>)>;

/// The pieces of a nest along its last dimension, if all of its tables are regular in each and the longest is most of the row.
fn pieces(nest: &Nest, loops: &[u32]) -> Option<Vec<Nest>> {
    let last = nest.dimensions.last()?;
    // With one dimension, pieces run in place of the row. With several, one piece runs over all other dimensions before the next
    // one begins, which is an allowed order if these may run inside of the last one.
    if !nest.dimensions.iter().all(|dimension| dimension.parallel) || (last.trip as usize) < SHORTEST {
        return None;
    }
    let trips = nest.trips(loops);
    let mut tables: Vec<&Arc<[u32]>> = Vec::new();
    for table in nest.addresses.iter().filter_map(|address| address.table.as_ref()) {
        if !tables.iter().any(|known| Arc::ptr_eq(known, table)) {
            tables.push(table);
        }
    }
    if tables.is_empty() {
        return None;
    }
    let starts = starts(&tables, &trips)?;
    let end = last.trip as usize;
    let lengths = || starts.iter().zip(starts[1..].iter().chain([&end])).map(|(start, end)| end - start);
    if lengths().max()? * 2 < end {
        return None;
    }
    let regular: Vec<Regular> = tables.iter().map(|table| regular(table, &trips, &starts)).collect::<Option<_>>()?;
    let piece = |(p, (start, length)): (usize, (&usize, usize))| {
        let address = |address: &Address| match &address.table {
            Some(table) => {
                let number = tables.iter().position(|known| Arc::ptr_eq(known, table))?;
                let (base, strides) = regular[number][p].clone();
                Some(Address { space: address.space, base, strides, table: None })
            }
            None => {
                let base = address.base as i64 + *address.strides.last()? as i64 * *start as i64;
                Some(Address { base: u32::try_from(base).ok()?, ..address.clone() })
            }
        };
        let mut dimensions = nest.dimensions.clone();
        dimensions.last_mut()?.trip = length as u32;
        Some(Nest {
            dimensions,
            reversed: nest.reversed,
            addresses: nest.addresses.iter().map(address).collect::<Option<_>>()?,
            body: nest.body.clone(),
        })
    };
    starts.iter().zip(lengths()).enumerate().map(piece).collect()
}

/// The distance of two cells.
fn between(from: u32, to: u32) -> i64 {
    to as i64 - from as i64
}

/// Where pieces begin: everywhere where a table does not go on with the same or the next cell.
fn starts(tables: &[&Arc<[u32]>], trips: &[u32]) -> Option<Vec<usize>> {
    let length = *trips.last()? as usize;
    let rows = trips[..trips.len() - 1].iter().try_fold(1usize, |rows, trip| rows.checked_mul(*trip as usize))?;
    if rows == 0 || tables.iter().any(|table| Some(table.len()) != rows.checked_mul(length)) {
        return None;
    }
    let mut starts = vec![0];
    // Per table, the step of the present piece once it has one.
    let mut steps: Vec<Option<i64>> = vec![None; tables.len()];
    // The rows in which one of the outer counters is 1 and all others are 0, and the first.
    let mut samples = vec![0];
    let mut distance = length;
    for trip in trips[..trips.len() - 1].iter().rev() {
        if *trip > 1 {
            samples.push(distance);
        }
        distance *= *trip as usize;
    }
    for k in 1..length {
        let goes_on = tables.iter().zip(&steps).all(|(table, known)| {
            let step = between(table[k - 1], table[k]);
            let same = samples.iter().all(|row| between(table[row + k - 1], table[row + k]) == step);
            same && (0..=1).contains(&step) && known.is_none_or(|known| known == step)
        });
        if goes_on {
            steps.iter_mut().zip(tables).for_each(|(known, table)| *known = Some(between(table[k - 1], table[k])));
        } else {
            if starts.len() == MOST {
                return None;
            }
            starts.push(k);
            steps.fill(None);
        }
    }
    Some(starts)
}

/// The pieces of a table, if each is regular in all counters.
fn regular(table: &[u32], trips: &[u32], starts: &[usize]) -> Option<Regular> {
    let (outer, length) = (&trips[..trips.len() - 1], *trips.last()? as usize);
    let mut pieces = Regular::with_capacity(starts.len());
    for (p, start) in starts.iter().enumerate() {
        let end = starts.get(p + 1).copied().unwrap_or(length);
        let mut strides = vec![0; trips.len()];
        let mut distance = length;
        for (counter, trip) in outer.iter().enumerate().rev() {
            if *trip > 1 {
                strides[counter] = i32::try_from(between(table[*start], table[distance + start])).ok()?;
            }
            distance *= *trip as usize;
        }
        if end > start + 1 {
            strides[outer.len()] = between(table[*start], table[start + 1]) as i32;
        }
        pieces.push((table[*start], strides));
    }
    let mut counters = vec![0u32; outer.len()];
    for row in table.chunks_exact(length) {
        for (p, (base, strides)) in pieces.iter().enumerate() {
            let end = starts.get(p + 1).copied().unwrap_or(length);
            let moved: i64 = counters.iter().zip(strides).map(|(c, s)| *c as i64 * *s as i64).sum();
            let (first, step) = (*base as i64 + moved, strides[outer.len()] as i64);
            if row[starts[p]..end].iter().enumerate().any(|(k, cell)| *cell as i64 != first + step * k as i64) {
                return None;
            }
        }
        for (counter, trip) in counters.iter_mut().zip(outer).rev() {
            *counter += 1;
            if *counter < *trip {
                break;
            }
            *counter = 0;
        }
    }
    Some(pieces)
}
