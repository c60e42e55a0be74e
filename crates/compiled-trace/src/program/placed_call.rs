//! Calls of custom rules as executors make them: their cells in runs at equal distances, which are copied as slices.
//!
//! Used by both executors. A rule of matrices has thousands of cells; to compute the place of each took longer than the rule.

use super::{Address, Memory, RuleCall};

/// A call with the trip counts of the loops around it.
#[derive(Clone, Debug)]
pub(crate) struct PlacedCall {
    pub(crate) call: RuleCall,
    trips: Vec<u32>,
    arguments: Vec<Run>,
    results: Vec<Run>,
}

/// Cells at equal distances.
#[derive(Clone, Debug)]
struct Run {
    first: Address,
    step: i64,
    count: usize,
}

impl PlacedCall {
    pub(crate) fn new(call: &RuleCall, trips: &[u32]) -> PlacedCall {
        let (arguments, results) = (runs(&call.arguments), runs(&call.results));
        PlacedCall { call: call.clone(), trips: trips.to_vec(), arguments, results }
    }

    /// The number of loops around it.
    pub(crate) fn depth(&self) -> usize {
        self.trips.len()
    }

    /// The number of its cells.
    pub(crate) fn cells(&self) -> usize {
        self.call.arguments.len() + self.call.results.len()
    }

    /// Reads the arguments, where the loops have these counters.
    pub(crate) fn gather<S: Copy>(&self, memory: &Memory<S>, counters: &[u32], arguments: &mut Vec<S>) {
        gather(&self.arguments, memory, counters, &self.trips, arguments);
    }

    /// Stores or adds the results.
    pub(crate) fn scatter<S: Copy + std::ops::AddAssign>(
        &self,
        memory: &mut Memory<S>,
        counters: &[u32],
        results: &[S],
    ) {
        scatter(&self.results, memory, (counters, &self.trips), results, self.call.accumulate);
    }
}

fn gather<S: Copy>(runs: &[Run], memory: &Memory<S>, counters: &[u32], trips: &[u32], numbers: &mut Vec<S>) {
    numbers.clear();
    for run in runs {
        let (space, first) = (memory.slice(run.first.space), run.first.cell(counters, trips));
        match run.step {
            1 => numbers.extend_from_slice(&space[first..first + run.count]),
            _ => numbers.extend(run.cells(first).map(|cell| space[cell])),
        }
    }
}

fn scatter<S: Copy + std::ops::AddAssign>(
    runs: &[Run],
    memory: &mut Memory<S>,
    (counters, trips): (&[u32], &[u32]),
    mut numbers: &[S],
    accumulate: bool,
) {
    for run in runs {
        let (space, first) = (memory.slice_mut(run.first.space), run.first.cell(counters, trips));
        // A rule may return fewer numbers than it should.
        let (now, later) = numbers.split_at(run.count.min(numbers.len()));
        match (run.step, accumulate) {
            (1, false) => space[first..first + now.len()].copy_from_slice(now),
            (1, true) => space[first..first + now.len()].iter_mut().zip(now).for_each(|(cell, v)| *cell += *v),
            (_, false) => run.cells(first).zip(now).for_each(|(cell, v)| space[cell] = *v),
            (_, true) => run.cells(first).zip(now).for_each(|(cell, v)| space[cell] += *v),
        }
        numbers = later;
    }
}

impl Run {
    fn cells(&self, first: usize) -> impl Iterator<Item = usize> {
        (0..self.count as i64).map(move |i| (first as i64 + i * self.step) as usize)
    }

    /// Whether this is the next cell, whatever the counters are.
    fn continues(&self, address: &Address) -> bool {
        let (last, first) = (i64::from(self.first.base) + self.step * (self.count as i64 - 1), &self.first);
        let is_beside = self.count == 1 || i64::from(address.base) - last == self.step;
        let is_alike = first.space == address.space && first.strides == address.strides;
        is_beside && is_alike && first.table.is_none() && address.table.is_none()
    }
}

fn runs(addresses: &[Address]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for address in addresses {
        match runs.last_mut() {
            Some(run) if run.continues(address) => {
                if run.count == 1 {
                    run.step = i64::from(address.base) - i64::from(run.first.base);
                }
                run.count += 1;
            }
            _ => runs.push(Run { first: address.clone(), step: 1, count: 1 }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Space;
    use std::sync::Arc;

    fn fixed(cells: &[u32]) -> Vec<Address> {
        cells.iter().map(|cell| Address::fixed(Space::Work, *cell, 1)).collect()
    }

    fn shapes(addresses: &[Address]) -> Vec<(u32, i64, usize)> {
        runs(addresses).iter().map(|run| (run.first.base, run.step, run.count)).collect()
    }

    #[test]
    fn cells_at_equal_distances_are_one_run() {
        assert_eq!(shapes(&[]), []);
        assert_eq!(shapes(&fixed(&[7])), [(7, 1, 1)]);
        assert_eq!(shapes(&fixed(&[4, 5, 6, 7])), [(4, 1, 4)]);
        assert_eq!(shapes(&fixed(&[9, 6, 3, 0, 1])), [(9, -3, 4), (1, 1, 1)]);
        assert_eq!(shapes(&fixed(&[2, 2, 2, 3])), [(2, 0, 3), (3, 1, 1)]);
        assert_eq!(shapes(&fixed(&[1, 5, 6, 7, 8])), [(1, 4, 2), (6, 1, 3)]);
    }

    #[test]
    fn cells_of_other_spaces_loops_and_tables_are_others() {
        let mut addresses = fixed(&[0, 1, 2, 3]);
        addresses[1].space = Space::Input(0);
        addresses[2].strides = vec![5];
        addresses[3].table = Some(Arc::from([3, 0]));
        assert_eq!(runs(&addresses).len(), 4);
        addresses[1] = addresses[3].clone();
        assert_eq!(runs(&addresses).len(), 4);
        // The same loop for both.
        let mut addresses = fixed(&[10, 11]);
        addresses.iter_mut().for_each(|address| address.strides = vec![-2]);
        let run = &runs(&addresses)[0];
        assert_eq!(run.cells(run.first.cell(&[3], &[4])).collect::<Vec<_>>(), [4, 5]);
    }

    /// Runs of all kinds against one cell after the other.
    #[test]
    fn cells_are_read_and_written_in_order() {
        let lists: [&[u32]; 6] = [&[], &[3], &[2, 3, 4, 5], &[9, 7, 5, 0, 1], &[4, 4, 4, 6], &[8, 0, 8, 1, 2, 3]];
        for (cells, accumulate) in lists.into_iter().flat_map(|cells| [(cells, false), (cells, true)]) {
            let results: Vec<f64> = (0..cells.len()).map(|i| 0.5 + i as f64).collect();
            for count in [cells.len(), cells.len().saturating_sub(2)] {
                let mut expected: Vec<f64> = (0..10).map(|i| 100.0 * f64::from(i)).collect();
                let mut cells_of_work = expected.clone();
                let mut memory = Memory { constants: &[], cells: &mut cells_of_work, inputs: &[], outputs: &mut [] };
                let mut read = vec![f64::NAN];
                gather(&runs(&fixed(cells)), &memory, &[0], &[1], &mut read);
                assert_eq!(read, cells.iter().map(|cell| expected[*cell as usize]).collect::<Vec<_>>());
                scatter(&runs(&fixed(cells)), &mut memory, (&[0], &[1]), &results[..count], accumulate);
                for (cell, value) in cells.iter().zip(&results[..count]) {
                    let cell = &mut expected[*cell as usize];
                    *cell = if accumulate { *cell + value } else { *value };
                }
                assert_eq!(cells_of_work, expected, "{cells:?} {accumulate}");
            }
        }
    }
}
