//! Which dimensions of a nest may run in any order.
//!
//! Called by `plan` and `functions`. A program says so of the dimensions that its passes know to be independent of all others; within
//! one iteration of the enclosing loops more of them are: a step of a recurrence reads what the step before has written, but not what
//! its own iterations write.

use super::check::range;
use crate::program::{Address, Instruction, Nest};

/// Per dimension of a nest inside of so many loops, whether its iterations may run in any order.
pub(super) fn parallel(nest: &Nest, trips: &[u32], loops: usize) -> Vec<bool> {
    let all = nest.dimensions.iter().all(|dimension| dimension.parallel) || is_independent(nest, trips, loops);
    nest.dimensions.iter().map(|dimension| all || dimension.parallel).collect()
}

/// Whether no iteration reads or stores what another one writes. Additions to one cell may run in any order, and a cell is stored
/// once in a run.
fn is_independent(nest: &Nest, trips: &[u32], loops: usize) -> bool {
    let of = |instruction: &Instruction| match *instruction {
        Instruction::Load(address) => Some((address, 0)),
        Instruction::Store { address, .. } => Some((address, 1)),
        Instruction::Accumulate { address, .. } => Some((address, 2)),
        _ => None,
    };
    let accesses: Vec<(&Address, u8)> =
        nest.body.iter().filter_map(of).map(|(address, kind)| (&nest.addresses[address as usize], kind)).collect();
    accesses.iter().enumerate().all(|(i, (address, kind))| {
        accesses[..i].iter().all(|(other, other_kind)| kind == other_kind || apart(address, other, trips, loops))
    })
}

/// Whether two addresses mean different cells in all iterations of the nest, for the same iteration of the loops around it.
fn apart(a: &Address, b: &Address, trips: &[u32], loops: usize) -> bool {
    if a.space != b.space {
        return true;
    }
    if is_disjoint(cells(a, trips), cells(b, trips)) {
        return true;
    }
    if a.table.is_some() || b.table.is_some() || a.strides[..loops] != b.strides[..loops] {
        return false;
    }
    let inner = |address: &Address| {
        let mut inside = address.clone();
        inside.strides[..loops].fill(0);
        range(&inside, trips)
    };
    is_disjoint(inner(a), inner(b))
}

fn is_disjoint((low, high): (i64, i64), (other_low, other_high): (i64, i64)) -> bool {
    high < other_low || other_high < low
}

/// First and last cell an address can mean.
pub(super) fn cells(address: &Address, trips: &[u32]) -> (i64, i64) {
    match &address.table {
        Some(table) => {
            let (low, high) = table.iter().fold((u32::MAX, 0), |(low, high), cell| (low.min(*cell), high.max(*cell)));
            (low as i64, high as i64)
        }
        None => range(address, trips),
    }
}
