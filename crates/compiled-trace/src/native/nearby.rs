//! Accesses of a nest that come near a cell, found without a look at all the others.
//!
//! Called by `plan`, which asks for each access of a body of thousands which others may mean the same cell.

use crate::program::{Instruction, Nest, Space};
use crate::sorting;

/// The loads of a nest, and its stores and additions.
#[derive(Default)]
pub(super) struct Nearby {
    pub(super) loads: Ranges,
    pub(super) writes: Ranges,
}

/// Accesses with the first and last cell that each may mean, by space and first cell.
#[derive(Default)]
pub(super) struct Ranges {
    accesses: Vec<Access>,
    /// The last cell of each access and of all before it in its space.
    reach: Vec<i64>,
}

#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) instruction: usize,
    pub(super) address: u32,
    space: Space,
    low: i64,
    high: i64,
}

impl Nearby {
    /// With the cells that each address may mean.
    pub(super) fn new(nest: &Nest, ranges: &[(i64, i64)]) -> Nearby {
        let (mut loads, mut writes) = (Vec::new(), Vec::new());
        for (instruction, access) in nest.body.iter().enumerate() {
            let (list, address) = match *access {
                Instruction::Load(address) => (&mut loads, address),
                Instruction::Store { address, .. } | Instruction::Accumulate { address, .. } => (&mut writes, address),
                _ => continue,
            };
            let ((low, high), space) = (ranges[address as usize], nest.addresses[address as usize].space);
            list.push(Access { instruction, address, space, low, high });
        }
        Nearby { loads: Ranges::of(loads), writes: Ranges::of(writes) }
    }
}

impl Ranges {
    fn of(mut accesses: Vec<Access>) -> Ranges {
        sorting::sort_by_key(&mut accesses, |access| (access.space, access.low));
        let mut reach: Vec<i64> = accesses.iter().map(|access| access.high).collect();
        for i in 1..reach.len() {
            if accesses[i].space == accesses[i - 1].space {
                reach[i] = reach[i].max(reach[i - 1]);
            }
        }
        Ranges { accesses, reach }
    }

    /// The accesses that may mean a cell of the range.
    pub(super) fn near(&self, space: Space, (low, high): (i64, i64)) -> impl Iterator<Item = Access> {
        let end = self.accesses.partition_point(|access| (access.space, access.low) <= (space, high));
        let before = self.accesses[..end].iter().zip(&self.reach[..end]).rev();
        let reaching = before.take_while(move |(access, reach)| access.space == space && **reach >= low);
        reaching.map(|(access, _)| *access).filter(move |access| access.high >= low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Address;

    #[test]
    fn accesses_that_share_a_cell_are_found() {
        // A long range that begins early, short ones behind it, and the same cells of another space.
        let places = [(0, 100), (3, 4), (3, 5), (6, 6), (7, 20), (30, 30), (200, 210)];
        let spaces = [Space::Work, Space::Input(0)];
        let all: Vec<(Space, (i64, i64))> = spaces.iter().flat_map(|s| places.iter().map(|p| (*s, *p))).collect();
        let body = (0..all.len() as u32).map(Instruction::Load).collect();
        let addresses = all.iter().map(|(space, range)| Address::fixed(*space, range.0 as u32, 0)).collect();
        let nest = Nest { dimensions: Vec::new(), reversed: false, addresses, body };
        let ranges: Vec<(i64, i64)> = all.iter().map(|(_, range)| *range).collect();
        let nearby = Nearby::new(&nest, &ranges);
        for (space, low, high) in (0..220).flat_map(|low| [0, 1, 50].map(|more| (Space::Work, low, low + more))) {
            let mut found: Vec<usize> =
                nearby.loads.near(space, (low, high)).map(|access| access.instruction).collect();
            found.sort_unstable();
            let meets = |i: &usize| all[*i].0 == space && all[*i].1.0 <= high && low <= all[*i].1.1;
            assert_eq!(found, (0..all.len()).filter(meets).collect::<Vec<_>>(), "{low}..={high}");
        }
        assert_eq!(
            nearby.loads.near(Space::Output(0), (0, 9)).count() + nearby.writes.near(Space::Work, (0, 9)).count(),
            0
        );
    }
}
