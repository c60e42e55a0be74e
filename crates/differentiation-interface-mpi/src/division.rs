//! Which rank computed which entries of a matrix, found once from the entries that each rank has written; then their exchange.
//!
//! Called by the operators of [`Distributed`](crate::Distributed) after the ranks have agreed.

use crate::agreement::mix;
use crate::local_rows::{LocalRows, RowSplit, Structure};
use crate::ranks::{Counts, Ranks};
use differentiation_interface::error::{Error, ErrorKind};
use differentiation_interface::matrix::DerivativeMatrix;
use differentiation_interface::scalar::Base;
use std::ops::Range;
use std::sync::Arc;

/// The entries of each rank, as positions among the stored numbers: ascending, rank after rank.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    positions: Vec<u32>,
    counts: Counts,
    /// Size and pattern of the matrix.
    pub(crate) hash: u64,
    own: Vec<f64>,
    all: Vec<f64>,
}

/// A hash of the size and the pattern of a matrix, which must be the same on all ranks.
pub(crate) fn hash_of<S>(matrix: &impl DerivativeMatrix<S>) -> u64 {
    let (rows, columns) = matrix.size();
    let hash = mix(rows as u64, columns as u64);
    let pattern = matrix.pattern().unwrap_or_default();
    pattern.iter().fold(hash, |hash, &(i, j)| mix(mix(hash, i as u64), j as u64))
}

impl Division {
    /// Finds the division from a matrix in which every rank has written its entries.
    pub(crate) fn find<S: Base>(ranks: &Ranks, hash: u64, stored: &[S]) -> Result<Division, Error> {
        let limit = NONE as usize;
        let size = stored.len();
        if size > limit {
            return Err(ErrorKind::RankMessage { size, limit }.into());
        }
        let own: Vec<u32> = (0..).zip(stored).filter(|(_, value)| !value.is_unwritten()).map(|(k, _)| k).collect();
        let counts = Counts::of(ranks.gather_numbers(own.len() as u64).into_iter().map(|count| count as usize))?;
        let mut positions = vec![0; counts.total()];
        ranks.gather(&own, &mut positions, &counts);
        // Each entry once.
        let mut seen = vec![false; size];
        for &position in &positions {
            if let Some(seen) = seen.get_mut(position as usize) {
                *seen = !*seen;
            }
        }
        if positions.len() != size || seen.contains(&false) {
            return Err(ErrorKind::RanksDisagree { rank: ranks.rank(), what: "division of the entries" }.into());
        }
        let buffers = (vec![0.0; counts.range(ranks.rank()).len()], vec![0.0; size]);
        Ok(Division { positions, counts, hash, own: buffers.0, all: buffers.1 })
    }

    /// Completes the entries on every rank.
    pub(crate) fn gather<S: Base>(&mut self, ranks: &Ranks, stored: &mut [S]) {
        let own = self.counts.range(ranks.rank());
        for (number, &position) in self.own.iter_mut().zip(&self.positions[own.clone()]) {
            *number = stored[position as usize].as_f64();
        }
        ranks.gather(&self.own, &mut self.all, &self.counts);
        for (k, (&position, &number)) in self.positions.iter().zip(&self.all).enumerate() {
            if !own.contains(&k) {
                stored[position as usize] = S::from_f64(number);
            }
        }
    }
}

/// The entries that this rank sends to each rank and receives from each rank, to hold its rows.
#[derive(Clone, Debug)]
pub(crate) struct RowDivision {
    pub(crate) structure: Arc<Structure>,
    /// Among several ranks.
    exchange: Option<Box<RowExchange>>,
}

#[derive(Clone, Debug)]
struct RowExchange {
    division: Division,
    to_send: Counts,
    to_receive: Counts,
    /// Where each sent number comes from, and each received one goes.
    sources: Vec<u32>,
    places: Vec<u32>,
    sent: Vec<f64>,
    received: Vec<f64>,
}

/// The source and the place of a number that each rank sends to itself besides its entries, so that no rank sends nothing.
const NONE: u32 = u32::MAX;

impl RowDivision {
    /// Finds what is exchanged, from a matrix in which every rank has written its entries.
    pub(crate) fn find<S: Base>(
        ranks: &Ranks,
        split: RowSplit,
        hash: u64,
        matrix: &mut impl DerivativeMatrix<S>,
    ) -> Result<RowDivision, Error> {
        let structure = Arc::new(Structure::of(matrix, split.rows(ranks, ranks.rank(), matrix.size().0)));
        if ranks.size() == 1 {
            return Ok(RowDivision { structure, exchange: None });
        }
        let bounds: Vec<Range<usize>> = {
            let rows: Vec<_> = (0..ranks.size()).map(|rank| split.rows(ranks, rank, matrix.size().0)).collect();
            let columns = matrix.size().1;
            match matrix.pattern() {
                None => rows.into_iter().map(|rows| rows.start * columns..rows.end * columns).collect(),
                Some(pattern) => {
                    let before = |row| pattern.partition_point(|&(i, _)| i < row);
                    rows.into_iter().map(|rows| before(rows.start)..before(rows.end)).collect()
                }
            }
        };
        let division = Division::find(ranks, hash, matrix.stored())?;
        let inside = |owner: usize, range: &Range<usize>| {
            let list = &division.positions[division.counts.range(owner)];
            let below = |end: usize| list.partition_point(|&position| (position as usize) < end);
            below(range.start)..below(range.end)
        };
        let me = ranks.rank();
        let mine = &bounds[me];
        let own = |rank: usize| usize::from(rank == me);
        let to_send = Counts::of(bounds.iter().enumerate().map(|(rank, range)| inside(me, range).len() + own(rank)))?;
        let to_receive = Counts::of((0..ranks.size()).map(|owner| inside(owner, mine).len() + own(owner)))?;
        let (mut sources, mut places) = (Vec::new(), Vec::new());
        for (rank, range) in bounds.iter().enumerate() {
            let (sent, received) = (inside(me, range), inside(rank, mine));
            sources.extend_from_slice(&division.positions[division.counts.range(me)][sent]);
            let list = &division.positions[division.counts.range(rank)];
            places.extend(list[received].iter().map(|&position| position - mine.start as u32));
            if rank == me {
                sources.push(NONE);
                places.push(NONE);
            }
        }
        let (sent, received) = (vec![0.0; sources.len()], vec![0.0; places.len()]);
        let exchange = RowExchange { division, to_send, to_receive, sources, places, sent, received };
        Ok(RowDivision { structure, exchange: Some(Box::new(exchange)) })
    }

    /// The hash of the matrix of all ranks.
    pub(crate) fn hash(&self) -> u64 {
        self.exchange.as_ref().map_or(0, |exchange| exchange.division.hash)
    }

    /// Sends this rank's entries, and fills its rows.
    pub(crate) fn fill<S: Base>(&mut self, ranks: &Ranks, stored: &[S], rows: &mut LocalRows<S>) {
        let Some(exchange) = &mut self.exchange else {
            rows.values_mut().copy_from_slice(stored);
            return;
        };
        let RowExchange { to_send, to_receive, sources, places, sent, received, .. } = &mut **exchange;
        for (number, &source) in sent.iter_mut().zip(&*sources) {
            *number = if source == NONE { 0.0 } else { stored[source as usize].as_f64() };
        }
        ranks.exchange(sent, to_send, received, to_receive);
        let values = rows.values_mut();
        for (&place, &number) in places.iter().zip(&*received) {
            if place != NONE {
                values[place as usize] = S::from_f64(number);
            }
        }
    }
}
