//! Sums over all ranks whose shape does not depend on the number of ranks.
//!
//! A sum of `n` terms is a binary tree: the left part of a node has the largest power of two of terms that is smaller than the
//! whole. Each rank adds the nodes that lie inside its part; every rank collects these and adds the rest. So the additions and their
//! order are the same for any division, and with them the bits of the result. Rounding errors grow with the logarithm of `n`
//! (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, section 4.2).
//!
//! Called by users through [`Ranks::sum`] and by [`Terms`](crate::Terms).

use crate::agreement::{Call, attempt, mix};
use crate::part::share;
use crate::ranks::{Counts, Ranks};
use differentiation_interface::error::Error;
use differentiation_interface::scalar::Base;
use std::ops::Range;

impl Ranks {
    /// Returns the sum of the vectors that `term` writes for `0`, `1`, ..., `count - 1`, each of the given length, on every rank. Each
    /// rank calls `term` for its [`range`](Ranks::range), with a vector of zeros.
    ///
    /// The result is the same for any number of ranks, bit by bit.
    ///
    /// # Errors
    /// [`ErrorKind::RankFailed`](differentiation_interface::error::ErrorKind::RankFailed) if `term` panics on a rank,
    /// [`RanksDisagree`](differentiation_interface::error::ErrorKind::RanksDisagree) if count or length differ,
    /// [`RankLost`](differentiation_interface::error::ErrorKind::RankLost) if a rank does not come in time.
    pub fn sum(&self, count: usize, length: usize, mut term: impl FnMut(usize, &mut [f64])) -> Result<Vec<f64>, Error> {
        let mut tree = Tree::shared(self, count);
        let mut sum = vec![0.0; length];
        let call = Call::new("sum", "ranks");
        tree.run(self, call, &mut sum, |k, vector| {
            vector.fill(0.0);
            term(k, vector);
            Ok(())
        })?;
        Ok(sum)
    }
}

/// A sum of terms that are divided among the ranks, with its work memory.
#[derive(Clone, Debug)]
pub(crate) struct Tree<S> {
    /// The first term of each rank, followed by the number of terms.
    starts: Vec<usize>,
    /// One vector for each level of the tree.
    levels: Vec<Vec<S>>,
    nodes: Vec<S>,
    own: Vec<f64>,
    all: Vec<f64>,
    counts: Counts,
}

/// The term at which the right part of a node starts.
fn middle(node: &Range<usize>) -> usize {
    node.start + node.len().next_power_of_two() / 2
}

impl<S: Base> Tree<S> {
    /// A sum whose terms are divided evenly.
    pub(crate) fn shared(ranks: &Ranks, count: usize) -> Self {
        Tree::of((0..ranks.size()).map(|rank| share(count, rank, ranks.size()).start).chain([count]).collect())
    }
    /// A sum with the first term of each rank, followed by the number of terms.
    pub(crate) fn of(starts: Vec<usize>) -> Self {
        let (levels, counts) = (Vec::new(), Counts::default());
        Tree { starts, levels, nodes: Vec::new(), own: Vec::new(), all: Vec::new(), counts }
    }

    /// Whether the terms are divided like this.
    pub(crate) fn has(&self, starts: &[usize]) -> bool {
        self.starts == starts
    }
    fn count(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether one rank has all terms of a node.
    fn on_one_rank(starts: &[usize], node: &Range<usize>) -> bool {
        let after = starts.partition_point(|&start| start <= node.start);
        starts.get(after).is_some_and(|&end| node.end <= end)
    }

    /// Passes the largest nodes inside `part` to `visit`, from left to right.
    fn largest_nodes(
        node: Range<usize>,
        part: &Range<usize>,
        visit: &mut dyn FnMut(Range<usize>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if node.is_empty() || node.end <= part.start || part.end <= node.start {
            return Ok(());
        }
        if part.start <= node.start && node.end <= part.end {
            return visit(node);
        }
        let middle = middle(&node);
        Self::largest_nodes(node.start..middle, part, visit)?;
        Self::largest_nodes(middle..node.end, part, visit)
    }

    /// Writes the sum of a node, from the parts that `supply` writes when it returns `true`.
    fn add(
        node: Range<usize>,
        levels: &mut [Vec<S>],
        out: &mut [S],
        supply: &mut dyn FnMut(&Range<usize>, &mut [S]) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        if supply(&node, out)? {
            return Ok(());
        }
        let middle = middle(&node);
        let Some((right, below)) = levels.split_first_mut() else { return Ok(()) };
        Self::add(node.start..middle, below, out, supply)?;
        Self::add(middle..node.end, below, right, supply)?;
        for (sum, &term) in out.iter_mut().zip(&*right) {
            *sum += term;
        }
        Ok(())
    }

    /// Sizes the work memory for vectors of this length.
    fn resize(&mut self, ranks: &Ranks, length: usize) -> Result<(), Error> {
        let count = self.count();
        self.levels.resize(count.next_power_of_two().ilog2() as usize, Vec::new());
        for level in &mut self.levels {
            level.resize(length, S::ZERO);
        }
        let starts = &self.starts;
        let nodes = starts.windows(2).map(|part| {
            let mut nodes = 0;
            let counted = Self::largest_nodes(0..count, &(part[0]..part[1]), &mut |_| {
                nodes += 1;
                Ok(())
            });
            counted.map_or(0, |()| nodes * length)
        });
        self.counts.set(nodes)?;
        self.all.resize(self.counts.total(), 0.0);
        let own = self.counts.range(ranks.rank()).len();
        self.own.resize(own, 0.0);
        self.nodes.resize(own, S::ZERO);
        Ok(())
    }

    /// Writes the sum of the vectors that `term` writes, on every rank.
    pub(crate) fn run(
        &mut self,
        ranks: &Ranks,
        call: Call,
        sum: &mut [S],
        mut term: impl FnMut(usize, &mut [S]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (count, length) = (self.count(), sum.len());
        let local = attempt(ranks.rank(), || {
            self.resize(ranks, length)?;
            let Tree { starts, levels, nodes, .. } = self;
            let part = starts[ranks.rank()]..starts[ranks.rank() + 1];
            let mut first = 0;
            let mut supply = |node: &Range<usize>, out: &mut [S]| {
                if node.len() > 1 {
                    return Ok(false);
                }
                term(node.start, out).map(|()| true)
            };
            Self::largest_nodes(0..count, &part, &mut |node| {
                let out = &mut nodes[first..first + length];
                first += length;
                Self::add(node, levels, out, &mut supply)
            })
        });
        let plan = self.starts.iter().fold(length as u64, |hash, &start| mix(hash, start as u64));
        ranks.settle(call.planned(plan), local)?;
        if ranks.size() == 1 {
            // The whole tree is one node, unless there are no terms.
            if count == 0 {
                sum.fill(S::ZERO)
            } else {
                sum.copy_from_slice(&self.nodes)
            }
            return Ok(());
        }
        for (number, node) in self.own.iter_mut().zip(&self.nodes) {
            *number = node.as_f64();
        }
        ranks.gather(&self.own, &mut self.all, &self.counts);
        if count == 0 {
            sum.fill(S::ZERO);
            return Ok(());
        }
        let Tree { starts, levels, all, .. } = self;
        let mut first = 0;
        Self::add(0..count, levels, sum, &mut |node, out| {
            if !Self::on_one_rank(starts, node) {
                return Ok(false);
            }
            for (sum, &number) in out.iter_mut().zip(&all[first..]) {
                *sum = S::from_f64(number);
            }
            first += length;
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;
    use std::ops::Range;

    /// The sum of a division, computed as the ranks do.
    fn sum(starts: &[usize], terms: &[f64]) -> f64 {
        let count = terms.len();
        let mut nodes = Vec::new();
        let levels = || vec![vec![0.0]; 8];
        for part in starts.windows(2) {
            Tree::<f64>::largest_nodes(0..count, &(part[0]..part[1]), &mut |node| {
                let mut out = [0.0];
                Tree::add(node, &mut levels(), &mut out, &mut |node: &Range<usize>, out: &mut [f64]| {
                    out[0] = terms[node.start];
                    Ok(node.len() == 1)
                })?;
                nodes.push(out[0]);
                Ok(())
            })
            .unwrap();
        }
        let (mut out, mut first) = ([f64::NAN], 0);
        Tree::add(0..count, &mut levels(), &mut out, &mut |node, out| {
            if !Tree::<f64>::on_one_rank(starts, node) {
                return Ok(false);
            }
            out[0] = nodes[first];
            first += 1;
            Ok(true)
        })
        .unwrap();
        assert_eq!(first, nodes.len());
        out[0]
    }

    #[test]
    fn every_division_gives_the_same_bits() {
        let terms: Vec<f64> = (0..37).map(|k| 0.1 * f64::from(k) * 3.0_f64.powi(k % 7 - 3)).collect();
        for count in 1..=37 {
            let terms = &terms[..count];
            let whole = sum(&[0, count], terms);
            assert!((whole - terms.iter().sum::<f64>()).abs() <= 1e-13 * whole);
            for a in 0..=count {
                for b in a..=count {
                    assert_eq!(
                        sum(&[0, a, b, count], terms).to_bits(),
                        whole.to_bits(),
                        "{count} terms cut at {a}, {b}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_shape_is_that_of_the_documentation() {
        // ((a + b) + (c + d)) + e
        let terms = [1e16, 1.0, 1.0, 1.0, -1e16];
        assert_eq!(sum(&[0, 5], &terms), ((1e16 + 1.0) + (1.0 + 1.0)) - 1e16);
    }
}
