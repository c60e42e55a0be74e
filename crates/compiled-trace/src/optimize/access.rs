//! The memory accesses of statements, and whether two statements may change places.
//!
//! Called by the passes that move, fuse and drop statements.

use crate::derive::builder::interval;
use crate::optimize::intervals::Intervals;
use crate::program::*;
use crate::sorting;

/// The kind of an access.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Read,
    Write,
    Add,
}

impl Kind {
    /// Whether accesses of these kinds to one cell may not change places.
    fn excludes(self, other: Kind) -> bool {
        self != other || self == Kind::Write
    }
}

/// The cells that an access of a statement may touch.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) low: u32,
    pub(crate) high: u32,
    pub(crate) kind: Kind,
}

impl Access {
    /// Whether the two may not change places.
    pub(crate) fn conflicts(&self, other: &Access) -> bool {
        let meets = self.space == other.space && self.low <= other.high && other.low <= self.high;
        meets && self.kind.excludes(other.kind)
    }
}

/// Appends the accesses of a nest to `out`.
fn nest_accesses(nest: &Nest, loops: &[u32], out: &mut Vec<Access>) {
    let trips = nest.trips(loops);
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

/// Appends the accesses of a statement inside loops of these trip counts to `out`.
pub(crate) fn accesses(statement: &Statement, loops: &mut Vec<u32>, out: &mut Vec<Access>) {
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

/// The accesses of statements outside of loops.
pub(super) fn all_accesses(statements: &[Statement]) -> Vec<Access> {
    let mut all = Vec::new();
    statements.iter().for_each(|statement| accesses(statement, &mut Vec::new(), &mut all));
    all
}

/// The work cells with accesses of the wanted kinds.
pub(super) fn cells_of(all: &[Access], wanted: impl Fn(Kind) -> bool) -> Intervals {
    all.iter().filter(|a| a.space == Space::Work && wanted(a.kind)).map(|a| (a.low, a.high)).collect()
}

/// The cells that statements access, per space and kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    parts: Vec<(Space, Kind, Intervals)>,
}

impl Summary {
    /// The summary of a statement inside loops of these trip counts.
    pub(crate) fn new(statement: &Statement, loops: &[u32]) -> Summary {
        let mut all = Vec::new();
        accesses(statement, &mut loops.to_vec(), &mut all);
        sorting::sort_by_key(&mut all, |a| (a.space, a.kind as u8, a.low, a.high));
        let parts = all.chunk_by(|a, b| (a.space, a.kind) == (b.space, b.kind));
        let summarised = |part: &[Access]| {
            (part[0].space, part[0].kind, part.iter().map(|access| (access.low, access.high)).collect())
        };
        Summary { parts: parts.map(summarised).collect() }
    }

    /// Adds the cells of other statements.
    pub(crate) fn insert(&mut self, other: &Summary) {
        for (space, kind, cells) in &other.parts {
            match self.parts.iter_mut().find(|part| (part.0, part.1) == (*space, *kind)) {
                Some((_, _, known)) => known.unite(cells),
                None => self.parts.push((*space, *kind, cells.clone())),
            }
        }
    }

    /// Whether statements may not change places with those of another summary.
    pub(crate) fn conflicts(&self, other: &Summary) -> bool {
        self.parts.iter().any(|(space, kind, cells)| {
            other.parts.iter().any(|(other_space, other_kind, other_cells)| {
                space == other_space && kind.excludes(*other_kind) && cells.intersects(other_cells)
            })
        })
    }
}
