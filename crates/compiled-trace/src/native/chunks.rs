//! Divides large nests into chunks that may run at once, on several threads.
//!
//! Called by [`Compiled::new`](super::Compiled::new) if [`Options::threads`](super::Options::threads) is set; `owner` proves that chunks do not
//! disturb each other, `build` makes a function of each loop over chunks, which `emit` writes, and `call` runs it.
//!
//! # What becomes of a nest?
//! One of its dimensions is cut into chunks of equal length, whose number follows from the work of the nest alone, so that results do
//! not depend on the number of threads:
//! ```text
//! loop over whole chunks    cells for sums and cells of the chunk are cleared, then the nest runs for the chunk } at once
//! loop with one iteration   the same for the rest                                                            }
//! nest over edges           the last iterations of each chunk, if they add to cells of the next chunk
//! nests over sums           what each chunk has added up for a cell that all of them add to, in the order of the chunks
//! ```
//! A nest stays as it is if it is small, or if a cell that one chunk writes may be read or written by another one in any other way.

use super::cost::cost;
use super::options::Least;
use super::owner::{Cells, Division, Uses};
use crate::program::{Address, Dimension, Instruction, Nest, Program, Space, Statement};
use crate::recording::rules::Rules;
use std::ops::Range;

/// The maximum number of chunks.
const MOST_CHUNKS: u32 = 64;
/// A nest is divided into this many chunks at least, or not at all.
const LEAST_CHUNKS: u32 = 4;
/// The maximum of chunks where each has more than a few cells for sums of its own: adding these is work of one thread.
const MOST_WITH_SUMS: u32 = 16;
/// Chunks of longer dimensions have a multiple of this many iterations, which are whole vectors.
const WHOLE: u32 = 16;
/// Cells for sums begin at multiples of this many, so that two chunks do not write to one cache line.
const LINE: u32 = 16;
/// Cost of a call of an elementary function, in operations.
const CALL: f64 = 25.0;
/// Numbers of iterations at the end of a chunk that are tried as its edge.
const EDGES: [u32; 5] = [0, 1, 2, 4, 8];

/// A program whose large nests are divided.
pub(super) struct Divided {
    pub(super) program: Program,
    /// Statements, all loops, whose iterations may run at once.
    pub(super) groups: Vec<Range<usize>>,
}

/// Divides the nests of a program from the statement `first` on; `None` if none can be divided.
pub(super) fn divide(program: &Program, first: usize, least: Least) -> Option<Divided> {
    let mut divider = Divider {
        least,
        constants: program.constants.clone(),
        rules: &program.rules,
        begin: u32::try_from(program.work).ok()?,
        end: program.work,
        items: Vec::new(),
    };
    for (i, statement) in program.statements.iter().enumerate() {
        let divided = match statement {
            Statement::Nest(nest) if i >= first => divider.nest(nest),
            _ => None,
        };
        if divided.is_none() {
            divider.items.push(Item::Once(statement.clone()));
        }
    }
    let Divider { constants, end, items, .. } = divider;
    let (mut statements, mut groups) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Item::Once(statement) => statements.push(statement),
            Item::AtOnce(loops) => {
                groups.push(statements.len()..statements.len() + loops.len());
                statements.extend(loops);
            }
        }
    }
    let divided = |program: &Program| Program { constants, work: end, statements, ..program.clone() };
    (!groups.is_empty()).then(|| Divided { program: divided(program), groups })
}

/// A part of the divided program.
enum Item {
    Once(Statement),
    /// Loops whose iterations may run at once.
    AtOnce(Vec<Statement>),
}

struct Divider<'p> {
    least: Least,
    constants: Vec<f64>,
    rules: &'p Rules,
    /// The first cell for sums of chunks. Nests run one after the other, so all use the same cells.
    begin: u32,
    /// The number of cells of work space.
    end: usize,
    /// The program so far.
    items: Vec<Item>,
}

impl Divider<'_> {
    /// Appends a nest in chunks, or nothing.
    fn nest(&mut self, nest: &Nest) -> Option<()> {
        let work = work(nest, self.rules);
        let most = (work / f64::from(self.least.work)).min(f64::from(MOST_CHUNKS)) as u32;
        // Chunks with many sums of their own do work that others do not.
        let few_sums =
            (0..nest.dimensions.len()).find_map(|at| find(nest, at, most, f64::from(LINE), work, self.least));
        let any = || (0..nest.dimensions.len()).find_map(|at| find(nest, at, most, f64::INFINITY, work, self.least));
        let (division, sums) = few_sums.or_else(any)?;
        let (chunks, rest) = (division.chunks, division.rest(nest));
        let all = chunks + u32::from(rest > 0);
        let sums = Sums::new(nest, &sums, self.begin);
        let end = u64::from(self.begin) + u64::from(sums.length) * u64::from(all);
        if end > u64::from(u32::MAX >> 2) {
            return None;
        }
        let whole = part(nest, &division, 0..chunks, 0..division.size - division.edge)?;
        let last = if rest > 0 { Some(part(nest, &division, chunks..all, 0..rest)?) } else { None };
        let edges = match division.edge {
            0 => None,
            edge => Some(part(nest, &division, 0..chunks, division.size - edge..division.size)?),
        };

        let mut body = sums.clearing(self.zero(), 0);
        self.clear_in_chunks(nest, &division, &mut body);
        body.push(Statement::Nest(sums.redirected(whole, 0)));
        let mut loops = vec![Statement::Loop { trip: chunks, reversed: false, body }];
        if let Some(last) = last {
            let mut body = sums.clearing(self.zero(), chunks);
            body.push(Statement::Nest(sums.redirected(last, chunks)));
            loops.push(Statement::Loop { trip: 1, reversed: false, body });
        }
        self.items.push(Item::AtOnce(loops));
        if let Some(mut edges) = edges {
            edges.dimensions.insert(0, Dimension { trip: chunks, parallel: true });
            self.items.push(Item::Once(Statement::Nest(edges)));
        }
        self.items.extend(sums.totals(nest, all).into_iter().map(|total| Item::Once(Statement::Nest(total))));
        self.end = self.end.max(end as usize);
        Some(())
    }

    /// The number of the constant 0.
    fn zero(&mut self) -> u32 {
        let known = self.constants.iter().position(|constant| constant.to_bits() == 0);
        known.unwrap_or_else(|| {
            self.constants.push(0.0);
            self.constants.len() - 1
        }) as u32
    }

    /// Moves the clearing of large regions that a nest only adds to into its chunks: each clears the cells that it adds to.
    fn clear_in_chunks(&mut self, nest: &Nest, division: &Division, body: &mut Vec<Statement>) {
        let mut at = self.items.len();
        while at > 0 {
            at -= 1;
            let Item::Once(Statement::Zero { space, start, length }) = self.items[at] else { continue };
            let region = Cells { space, low: start, high: start + length.saturating_sub(1) };
            let is_needed = |item: &Item| match item {
                Item::Once(statement) => region.is_touched_by(statement),
                Item::AtOnce(loops) => loops.iter().any(|statement| region.is_touched_by(statement)),
            };
            if length < self.least.cleared || self.items[at + 1..].iter().any(is_needed) {
                continue;
            }
            let Some((first, each)) = division.adds_to(nest, &region) else { continue };
            let zero = self.zero();
            body.push(Statement::Nest(clearing(zero, space, first, each)));
            let after = first + each * division.chunks;
            let rests = [(start, first - start), (after, start + length - after)];
            let rests = rests.into_iter().filter(|(_, length)| *length > 0);
            let rests = rests.map(|(start, length)| Item::Once(Statement::Zero { space, start, length }));
            self.items.splice(at..=at, rests);
        }
    }
}

/// Finds chunks of one dimension that do not disturb each other, and the addresses of the cells that all of them add to, at most so
/// many cells.
fn find(nest: &Nest, at: usize, most: u32, most_sums: f64, work: f64, least: Least) -> Option<(Division, Vec<u32>)> {
    let Dimension { trip, .. } = nest.dimensions[at];
    let uses = Uses::new(nest);
    let sums = uses.sums(nest, at)?;
    let mut chunks = most.min(trip);
    if !sums.is_empty() {
        let cells = sums.iter().map(|address| f64::from(cells_of_sum(nest, *address))).sum::<f64>();
        if cells > most_sums {
            return None;
        }
        if cells > f64::from(LINE) {
            chunks = chunks.min(MOST_WITH_SUMS);
        }
        chunks = chunks.min((work / (f64::from(least.work_of_sum) * cells)) as u32);
    }
    if chunks < LEAST_CHUNKS {
        return None;
    }
    let mut size = trip.div_ceil(chunks);
    if size >= 4 * WHOLE {
        size = size.next_multiple_of(WHOLE);
    }
    let in_any_order = nest.dimensions.iter().all(|dimension| dimension.parallel);
    let edges = EDGES.into_iter().filter(|edge| *edge == 0 || (in_any_order && *edge <= size / 8));
    let mut divisions = edges.map(|edge| Division { at, chunks: trip / size, size, edge });
    divisions.find(|division| division.is_disjoint(nest, &uses, &sums)).map(|division| (division, sums))
}

/// Rough time of a nest in additions.
fn work(nest: &Nest, rules: &Rules) -> f64 {
    let of = |instruction: &Instruction| match *instruction {
        Instruction::Constant(_) => 0.0,
        Instruction::Load(_) | Instruction::Store { .. } => 1.0,
        Instruction::Accumulate { .. } => 2.0,
        Instruction::Apply { op, .. } => cost(op, rules).unwrap_or(CALL),
    };
    let iterations: f64 = nest.dimensions.iter().map(|dimension| f64::from(dimension.trip)).product();
    iterations * nest.body.iter().map(of).sum::<f64>()
}

/// Some chunks of a nest inside a loop over them, of each the iterations `within`. `None` if a distance between chunks has more
/// than 32 bits.
fn part(nest: &Nest, division: &Division, chunks: Range<u32>, within: Range<u32>) -> Option<Nest> {
    let Division { at, size, .. } = *division;
    let mut dimensions = nest.dimensions.clone();
    dimensions[at].trip = within.len() as u32;
    let first = i64::from(chunks.start * size + within.start);
    let address = |address: &Address| {
        let mut new = address.clone();
        match &address.table {
            Some(table) => {
                // The table is over (dimensions before, this one, those after).
                let trip = nest.dimensions[at].trip as usize;
                let after: usize = nest.dimensions[at + 1..].iter().map(|dimension| dimension.trip as usize).product();
                let before: usize = nest.dimensions[..at].iter().map(|dimension| dimension.trip as usize).product();
                let mut cells = Vec::with_capacity(chunks.len() * before * within.len() * after);
                for chunk in chunks.clone() {
                    for row in 0..before {
                        let start = row * trip + (chunk * size + within.start) as usize;
                        cells.extend_from_slice(&table[start * after..][..within.len() * after]);
                    }
                }
                new.table = Some(cells.into());
                new.strides.insert(0, 0);
            }
            None => {
                let stride = i64::from(address.strides[at]);
                new.base = u32::try_from(i64::from(address.base) + stride * first).ok()?;
                new.strides.insert(0, i32::try_from(stride * i64::from(size)).ok()?);
            }
        }
        Some(new)
    };
    let addresses = nest.addresses.iter().map(address).collect::<Option<Vec<Address>>>()?;
    Some(Nest { dimensions, reversed: nest.reversed, addresses, body: nest.body.clone() })
}

/// A nest in the loop over chunks that clears as many cells for each, one chunk behind the other.
fn clearing(zero: u32, space: Space, first: u32, each: u32) -> Nest {
    Nest {
        dimensions: vec![Dimension { trip: each, parallel: true }],
        reversed: false,
        addresses: vec![Address { space, base: first, strides: vec![each as i32, 1], table: None }],
        body: vec![Instruction::Constant(zero), Instruction::Store { value: 0, address: 0 }],
    }
}

/// The dimensions in which the cell of a sum moves.
fn moving(nest: &Nest, address: u32) -> Vec<usize> {
    let strides = &nest.addresses[address as usize].strides;
    (0..strides.len()).filter(|d| strides[*d] != 0 && nest.dimensions[*d].trip > 1).collect()
}

/// The number of cells that a chunk needs for a sum.
fn cells_of_sum(nest: &Nest, address: u32) -> u32 {
    moving(nest, address).iter().map(|d| nest.dimensions[*d].trip).product()
}

/// The cells that chunks have of their own for what they add to the same cells.
struct Sums {
    /// Per sum: its address, the dimensions in which it moves, the first of its cells in the first chunk.
    members: Vec<(u32, Vec<usize>, u32)>,
    /// Cells of a chunk.
    length: u32,
    /// The first cell of all.
    begin: u32,
}

impl Sums {
    fn new(nest: &Nest, addresses: &[u32], begin: u32) -> Sums {
        let mut sums = Sums { members: Vec::new(), length: 0, begin };
        for address in addresses {
            sums.members.push((*address, moving(nest, *address), begin + sums.length));
            sums.length += cells_of_sum(nest, *address);
        }
        sums.length = sums.length.next_multiple_of(LINE);
        sums
    }

    /// The address of a sum inside a loop over chunks from `chunk` on, with one stride for each of these dimensions.
    fn address(&self, nest: &Nest, member: usize, chunk: u32, dimensions: impl Iterator<Item = usize>) -> Address {
        let (_, moving, first) = &self.members[member];
        let stride = |d: usize| match moving.iter().position(|moving| *moving == d) {
            Some(place) => moving[place + 1..].iter().map(|d| nest.dimensions[*d].trip as i32).product(),
            None => 0,
        };
        let strides = std::iter::once(self.length as i32).chain(dimensions.map(stride)).collect();
        Address { space: Space::Work, base: first + chunk * self.length, strides, table: None }
    }

    /// Clears the cells of each chunk from `chunk` on.
    fn clearing(&self, zero: u32, chunk: u32) -> Vec<Statement> {
        match self.length {
            0 => Vec::new(),
            length => vec![Statement::Nest(clearing(zero, Space::Work, self.begin + chunk * length, length))],
        }
    }

    /// The nest, in a loop over chunks from `chunk` on, with its sums in the cells of the chunk.
    fn redirected(&self, mut nest: Nest, chunk: u32) -> Nest {
        for (member, (address, ..)) in self.members.iter().enumerate() {
            nest.addresses[*address as usize] = self.address(&nest, member, chunk, 0..nest.dimensions.len());
        }
        nest
    }

    /// Adds the sums of all chunks to the cells that they are for. Sums that move alike are in one nest.
    fn totals(&self, nest: &Nest, chunks: u32) -> Vec<Nest> {
        let mut totals: Vec<(&[usize], Nest)> = Vec::new();
        for (member, (address, moving, _)) in self.members.iter().enumerate() {
            let known = totals.iter().position(|(other, _)| other == moving);
            let place = known.unwrap_or_else(|| {
                let trips = moving.iter().map(|d| nest.dimensions[*d].trip).chain([chunks]);
                let dimensions = trips.map(|trip| Dimension { trip, parallel: true }).collect();
                totals.push((moving, Nest { dimensions, reversed: false, addresses: vec![], body: vec![] }));
                totals.len() - 1
            });
            let total = &mut totals[place].1;
            let mut from = self.address(nest, member, 0, moving.iter().copied());
            // Chunks are the last dimension here.
            from.strides.rotate_left(1);
            let to = &nest.addresses[*address as usize];
            let strides = moving.iter().map(|d| to.strides[*d]).chain([0]).collect();
            let to = Address { strides, ..to.clone() };
            let (value, address) = (total.body.len() as u32, total.addresses.len() as u32);
            total.addresses.extend([from, to]);
            total.body.extend([Instruction::Load(address), Instruction::Accumulate { value, address: address + 1 }]);
        }
        totals.into_iter().map(|(_, total)| total).collect()
    }
}
