//! Seeds divided into parts, and the parts on threads.
//!
//! Called by the operators of this folder; calls `rayon::join`, which allocates nothing for itself.

use differentiation_interface_core::backend::MatrixColumns;
use differentiation_interface_core::error::Error;
use std::ops::Range;

/// Seeds in parts that consist of whole passes of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Division {
    seeds: usize,
    per_pass: usize,
    parts: usize,
}

impl Division {
    /// `seeds` seeds in at most `parts` parts of about equal size, which are multiples of `per_pass` seeds except the last one.
    pub(super) fn new(seeds: usize, per_pass: usize, parts: usize) -> Self {
        let per_pass = per_pass.max(1);
        Division { seeds, per_pass, parts: parts.clamp(1, seeds.div_ceil(per_pass).max(1)) }
    }

    /// The number of parts.
    pub(super) fn parts(&self) -> usize {
        self.parts
    }

    /// Whether there is more than one part.
    pub(super) fn is_parallel(&self) -> bool {
        self.parts > 1
    }

    /// The first seed of a part; the number of seeds for the part after the last one.
    pub(super) fn start(&self, part: usize) -> usize {
        let passes = self.seeds.div_ceil(self.per_pass);
        (part * passes / self.parts * self.per_pass).min(self.seeds)
    }

    /// The seeds of a part.
    pub(super) fn range(&self, part: usize) -> Range<usize> {
        self.start(part)..self.start(part + 1)
    }

    /// The part that has a seed, and the seed's place in it.
    pub(super) fn part_of(&self, seed: usize) -> (usize, usize) {
        let part = (0..self.parts).find(|&part| self.range(part).contains(&seed)).unwrap_or(0);
        (part, seed - self.start(part))
    }

    /// The calls of the engine for one part: whole passes of together up to `most` seeds, and an incomplete last pass by itself, as
    /// `seeds_per_pass` asks for.
    pub(super) fn calls(&self, part: usize, most: usize) -> Calls {
        let range = self.range(part);
        let last = self.seeds % self.per_pass;
        let whole = if range.end == self.seeds { range.end - last } else { range.end };
        let step = (most / self.per_pass).max(1) * self.per_pass;
        Calls { next: range.start, whole: whole.max(range.start), end: range.end, step }
    }
}

/// The seeds of one call after the other.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    next: usize,
    /// The end of the whole passes.
    whole: usize,
    end: usize,
    step: usize,
}

impl Calls {
    /// Whether at most one call is left.
    pub(super) fn is_last(&self) -> bool {
        let first = if self.next < self.whole { self.whole.min(self.next + self.step) } else { self.end };
        first == self.end
    }
}

impl Iterator for Calls {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.next;
        if start == self.end {
            return None;
        }
        self.next = if start < self.whole { self.whole.min(start + self.step) } else { self.end };
        Some(start..self.next)
    }
}

/// Results that are divided among shares.
pub(super) trait Divide: Send + Sized {
    /// Those before an index, and the others.
    fn divide(self, at: usize) -> (Self, Self);
}

impl<S: Send> Divide for &mut [S] {
    fn divide(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

impl<S: Send> Divide for MatrixColumns<'_, S> {
    fn divide(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }
}

/// Runs `action` on each share with its part of `out`, which begins at the index `start` of the share's number, each on a thread of the pool.
///
/// The error is that of the first share that has one, as in a serial run. A panic on a thread goes on in the caller.
pub(super) fn share_out<T: Send, Out: Divide>(
    shares: &mut [T],
    out: Out,
    start: &(impl Fn(usize) -> usize + Sync),
    action: &(impl Fn(usize, &mut T, Out) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    halve(0, shares, out, start, action)
}

fn halve<T: Send, Out: Divide>(
    first: usize,
    shares: &mut [T],
    out: Out,
    start: &(impl Fn(usize) -> usize + Sync),
    action: &(impl Fn(usize, &mut T, Out) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    match shares {
        [] => Ok(()),
        [share] => action(first, share, out),
        _ => {
            let (left, right) = shares.split_at_mut(shares.len() / 2);
            let middle = first + left.len();
            let (below, above) = out.divide(start(middle) - start(first));
            let (earlier, later) =
                rayon::join(|| halve(first, left, below, start, action), || halve(middle, right, above, start, action));
            earlier.and(later)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_passes_and_cover_all_seeds() {
        for seeds in 0..70 {
            for per_pass in 1..13 {
                for parts in 1..6 {
                    let division = Division::new(seeds, per_pass, parts);
                    let mut next = 0;
                    for part in 0..division.parts() {
                        assert_eq!(division.start(part) % per_pass, 0);
                        for most in [1, 7, 24, 1000] {
                            let mut at = division.start(part);
                            let mut calls = division.calls(part, most);
                            let mut last = calls.is_last();
                            while let Some(call) = calls.next() {
                                assert_eq!(call.start, at);
                                let whole = call.len() % per_pass == 0;
                                assert!(whole || (call.end == seeds && call.len() == seeds % per_pass), "{call:?}");
                                assert_eq!(last, call.end == division.start(part + 1));
                                last = calls.is_last();
                                at = call.end;
                            }
                            assert_eq!(at, division.start(part + 1));
                        }
                        assert_eq!(division.start(part), next);
                        next = division.start(part + 1);
                    }
                    assert_eq!(next, seeds);
                    for seed in 0..seeds {
                        let (part, place) = division.part_of(seed);
                        assert_eq!(division.start(part) + place, seed);
                    }
                }
            }
        }
    }

    #[test]
    fn shares_get_their_columns() {
        let division = Division::new(5, 2, 2);
        let mut matrix = [0; 10];
        let columns = MatrixColumns::new(&mut matrix, 5);
        let fill = |part: usize, (): &mut (), mut columns: MatrixColumns<'_, usize>| {
            (0..2).for_each(|row| columns.row(row).fill(part + 1));
            Ok(())
        };
        share_out(&mut [(); 2], columns, &|part| division.start(part), &fill).unwrap();
        assert_eq!(matrix, [1, 1, 2, 2, 2, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn the_error_of_the_first_share_is_returned() {
        use differentiation_interface_core::error::ErrorKind;
        let kinds = [None, Some(ErrorKind::NoSeeds), Some(ErrorKind::TapeOverflow)];
        let result = share_out(&mut [(); 3], &mut [(); 0][..], &|_| 0, &|part, (), _| match &kinds[part] {
            Some(kind) => Err((*kind).into()),
            None => Ok(()),
        });
        assert_eq!(result.unwrap_err().kind(), ErrorKind::NoSeeds);
    }
}
