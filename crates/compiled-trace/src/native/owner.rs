//! Which chunk of a nest touches which cells: proves that chunks may run at once.
//!
//! Called by `chunks`, which divides nests, and by `emit`, which writes them.
//!
//! # What is proved?
//! Of two chunks, none writes a cell that the other one reads or writes, but for the sums, which `chunks` moves to cells that each
//! chunk has of its own. The cells that a chunk may touch through one address are enclosed in an interval (of a table, that of the
//! entries of the chunk), and the intervals of different chunks are compared; intervals that overlap are taken for a conflict.

use crate::optimize::access::{Access, accesses};
use crate::program::{Address, Dimension, Instruction, Nest, Space, Statement};
use crate::sorting;

/// An interval of cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    pub(super) space: Space,
    pub(super) low: u32,
    pub(super) high: u32,
}

impl Cells {
    fn meets(&self, space: Space, (low, high): (u32, u32)) -> bool {
        self.space == space && self.low <= high && low <= self.high
    }

    /// Whether a statement outside of loops accesses one of them.
    pub(super) fn is_touched_by(&self, statement: &Statement) -> bool {
        let mut all: Vec<Access> = Vec::new();
        accesses(statement, &mut Vec::new(), &mut all);
        all.iter().any(|access| self.meets(access.space, (access.low, access.high)))
    }
}

/// How a nest uses an address.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    is_read: bool,
    is_stored: bool,
    is_added_to: bool,
}

/// How a nest uses its addresses.
pub(super) struct Uses(Vec<Use>);

impl Uses {
    pub(super) fn new(nest: &Nest) -> Uses {
        let mut uses = vec![Use::default(); nest.addresses.len()];
        for instruction in &nest.body {
            match *instruction {
                Instruction::Load(address) => uses[address as usize].is_read = true,
                Instruction::Store { address, .. } => uses[address as usize].is_stored = true,
                Instruction::Accumulate { address, .. } => uses[address as usize].is_added_to = true,
                _ => {}
            }
        }
        Uses(uses)
    }

    /// Whether the nest writes through an address.
    fn is_written(&self, address: usize) -> bool {
        self.0[address].is_stored || self.0[address].is_added_to
    }

    /// The addresses of sums: cells that a nest adds to in every iteration of a dimension, and neither reads nor stores. `None` if it
    /// reads or stores one.
    pub(super) fn sums(&self, nest: &Nest, at: usize) -> Option<Vec<u32>> {
        let trips = nest.trips(&[]);
        let is_sum = |(address, uses): &(&Address, &Use)| {
            uses.is_added_to && address.table.is_none() && address.strides[at] == 0
        };
        let others = || nest.addresses.iter().zip(&self.0).filter(|(_, uses)| uses.is_read || uses.is_stored);
        let others: Vec<Cells> = others()
            .map(|(address, _)| (address.space, address.range(&trips)))
            .map(|(space, (low, high))| Cells { space, low, high })
            .collect();
        let mut sums = Vec::new();
        for (number, (address, _)) in nest.addresses.iter().zip(&self.0).enumerate().filter(|(_, pair)| is_sum(pair)) {
            let range = address.range(&trips);
            if others.iter().any(|other| other.meets(address.space, range)) {
                return None;
            }
            sums.push(number as u32);
        }
        Some(sums)
    }
}

/// Chunks of a dimension of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Division {
    /// The dimension.
    pub(super) at: usize,
    /// Whole chunks.
    pub(super) chunks: u32,
    /// Iterations of a whole chunk.
    pub(super) size: u32,
    /// How many of these, at the end of each whole chunk, run later, one chunk after the other.
    pub(super) edge: u32,
}

impl Division {
    /// Iterations beyond the whole chunks.
    pub(super) fn rest(&self, nest: &Nest) -> u32 {
        nest.dimensions[self.at].trip - self.chunks * self.size
    }

    /// Whether no chunk writes a cell that another one reads or writes, except for sums.
    pub(super) fn is_disjoint(&self, nest: &Nest, uses: &Uses, sums: &[u32]) -> bool {
        let mut all: Vec<Touched> = Vec::new();
        for (number, (address, uses)) in nest.addresses.iter().zip(&uses.0).enumerate() {
            let may_be_written = matches!(address.space, Space::Work | Space::Output(_));
            let is_used = uses.is_read || uses.is_stored || uses.is_added_to;
            if may_be_written && is_used && !sums.contains(&(number as u32)) {
                let is_written = uses.is_stored || uses.is_added_to;
                self.touched(nest, address, |chunk, low, high| {
                    all.push(Touched { space: address.space, low, high, chunk, is_written });
                });
            }
        }
        sorting::sort_by_key(&mut all, |touched| (touched.space, touched.low));
        all.chunk_by(|a, b| a.space == b.space).all(|cells| {
            let (mut written, mut any) = (Furthest::default(), Furthest::default());
            cells.iter().all(|touched| {
                let before = if touched.is_written { &any } else { &written };
                let is_free = !before.reaches(touched);
                any.add(touched);
                if touched.is_written {
                    written.add(touched);
                }
                is_free
            })
        })
    }

    /// Calls `act` with each chunk, the rest being the last one, and the first and last cell that it may touch through an address.
    fn touched(&self, nest: &Nest, address: &Address, mut act: impl FnMut(u32, i64, i64)) {
        let rest = self.rest(nest);
        let mut trips = nest.trips(&[]);
        let chunks = (0..self.chunks + u32::from(rest > 0))
            .map(|chunk| (chunk, chunk * self.size, if chunk < self.chunks { self.size - self.edge } else { rest }));
        match &address.table {
            None => {
                for (chunk, first, count) in chunks {
                    trips[self.at] = count;
                    let (low, high) = extent(address, &trips);
                    let shift = i64::from(address.strides[self.at]) * i64::from(first);
                    act(chunk, low + shift, high + shift);
                }
            }
            Some(table) => {
                let product = |trips: &[u32]| trips.iter().map(|trip| *trip as usize).product::<usize>();
                let (before, after) = (product(&trips[..self.at]), product(&trips[self.at + 1..]));
                let trip = trips[self.at] as usize;
                for (chunk, first, count) in chunks {
                    let rows = (0..before).map(|row| (row * trip + first as usize) * after);
                    let cells = rows.flat_map(|start| &table[start..start + count as usize * after]);
                    let (low, high) = cells.fold((u32::MAX, 0), |(low, high), cell| (low.min(*cell), high.max(*cell)));
                    act(chunk, i64::from(low), i64::from(high));
                }
            }
        }
    }

    /// The first of these cells that the first chunk adds to, and how many cells further each chunk begins than the one before, if whole
    /// chunks add to these cells alone, begin at the same distances for all addresses, and do nothing else with cells of the region.
    pub(super) fn adds_to(&self, nest: &Nest, region: &Cells) -> Option<(u32, u32)> {
        let uses = Uses::new(nest);
        let trips = nest.trips(&[]);
        let mut first_trips = trips.clone();
        first_trips[self.at] = self.size - self.edge;
        let (mut stride, mut low, mut high) = (None, i64::MAX, i64::MIN);
        for (address, uses) in nest.addresses.iter().zip(&uses.0) {
            if !region.meets(address.space, address.range(&trips)) {
                continue;
            }
            let own = *address.strides.get(self.at)?;
            if uses.is_read || uses.is_stored || address.table.is_some() || stride.is_some_and(|stride| stride != own) {
                return None;
            }
            stride = Some(own);
            let (first, last) = extent(address, &first_trips);
            (low, high) = (low.min(first), high.max(last));
        }
        let each = i64::from(stride.filter(|stride| *stride > 0)?) * i64::from(self.size);
        let end = low + each * i64::from(self.chunks);
        let fits = high < low + each && low >= i64::from(region.low) && end <= i64::from(region.high) + 1;
        // Distances are strides.
        let each = u32::try_from(i32::try_from(each).ok()?).ok()?;
        fits.then_some((u32::try_from(low).ok()?, each))
    }
}

/// The cells that a statement in a loop over chunks clears for the first chunk, and how many cells further those of the next one are.
pub(super) fn cleared(statement: &Statement, constants: &[f64]) -> Option<(Cells, i32)> {
    let Statement::Nest(Nest { dimensions, addresses, body, .. }) = statement else { return None };
    let [Instruction::Constant(zero), Instruction::Store { value: 0, address: 0 }] = body[..] else { return None };
    let ([Dimension { trip, .. }], [Address { space, base, strides, table: None }]) = (&dimensions[..], &addresses[..])
    else {
        return None;
    };
    let [step, 1] = strides[..] else { return None };
    let cells = Cells { space: *space, low: *base, high: base + trip - 1 };
    (constants[zero as usize].to_bits() == 0).then_some((cells, step))
}

/// Whether addresses that may mean the same cell in any chunk are as far apart in all chunks as in the first one.
pub(super) fn moves_as_one(statement: &Statement, chunks: u32) -> bool {
    let Statement::Nest(nest) = statement else { return false };
    let trips = nest.trips(&[chunks]);
    let uses = Uses::new(nest);
    let moved = |address: &Address| if address.table.is_some() { None } else { address.strides.first().copied() };
    let all = || nest.addresses.iter().enumerate();
    all().filter(|(number, _)| uses.is_written(*number)).all(|(_, written)| {
        let (low, high) = written.range(&trips);
        let cells = Cells { space: written.space, low, high };
        all().all(|(_, other)| {
            let is_apart = !cells.meets(other.space, other.range(&trips));
            is_apart || std::ptr::eq(written, other) || (moved(written).is_some() && moved(written) == moved(other))
        })
    })
}

/// First and last cell of an address without a table.
fn extent(address: &Address, trips: &[u32]) -> (i64, i64) {
    let (mut low, mut high) = (i64::from(address.base), i64::from(address.base));
    for (stride, trip) in address.strides.iter().zip(trips) {
        let reach = i64::from(*stride) * (i64::from(*trip) - 1);
        *(if reach < 0 { &mut low } else { &mut high }) += reach;
    }
    (low, high)
}

/// Cells that a chunk may touch.
struct Touched {
    space: Space,
    low: i64,
    high: i64,
    chunk: u32,
    is_written: bool,
}

/// The last cell of all intervals so far with its chunk, and the last cell of other chunks.
#[derive(Default)]
struct Furthest {
    first: Option<(i64, u32)>,
    other: Option<i64>,
}

impl Furthest {
    /// Whether an interval of another chunk reaches the beginning of this one.
    fn reaches(&self, touched: &Touched) -> bool {
        let last = match self.first {
            Some((last, chunk)) if chunk != touched.chunk => Some(last),
            _ => self.other,
        };
        last.is_some_and(|last| last >= touched.low)
    }

    fn add(&mut self, touched: &Touched) {
        match &mut self.first {
            Some((last, chunk)) if *chunk == touched.chunk => *last = touched.high.max(*last),
            Some((last, _)) if *last >= touched.high => {
                self.other = Some(self.other.map_or(touched.high, |other| other.max(touched.high)));
            }
            first => {
                // It is of another chunk than the one that was furthest.
                if let Some((last, _)) = *first {
                    self.other = Some(last);
                }
                *first = Some((touched.high, touched.chunk));
            }
        }
    }
}
