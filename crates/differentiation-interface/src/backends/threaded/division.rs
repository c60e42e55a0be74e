//! Seeds divided into parts, and the parts on threads.
//!
//! Called by the operators of this folder; calls `rayon::join`, which allocates nothing for itself.

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

/// Runs `action` on each share with its part of `out`, which begins at the index `start` of the share's number, each on a thread of the pool.
///
/// The error is that of the first share that has one, as in a serial run. A panic on a thread goes on in the caller.
pub(super) fn share_out<T: Send, U: Send>(
    shares: &mut [T],
    out: &mut [U],
    start: &(impl Fn(usize) -> usize + Sync),
    action: &(impl Fn(usize, &mut T, &mut [U]) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    halve(0, shares, out, start, action)
}

fn halve<T: Send, U: Send>(
    first: usize,
    shares: &mut [T],
    out: &mut [U],
    start: &(impl Fn(usize) -> usize + Sync),
    action: &(impl Fn(usize, &mut T, &mut [U]) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    match shares {
        [] => Ok(()),
        [share] => action(first, share, out),
        _ => {
            let (left, right) = shares.split_at_mut(shares.len() / 2);
            let middle = first + left.len();
            let (below, above) = out.split_at_mut(start(middle) - start(first));
            let (earlier, later) =
                rayon::join(|| halve(first, left, below, start, action), || halve(middle, right, above, start, action));
            earlier.and(later)
        }
    }
}

/// The parts of the rows of a matrix: each list has one slice of each row. Memory for lists of any lifetime.
#[derive(Debug, Default)]
pub(super) struct Lists<S: 'static>(Vec<Vec<&'static mut [S]>>);

/// A clone has memory of its own.
impl<S> Clone for Lists<S> {
    fn clone(&self) -> Self {
        Lists(self.0.iter().map(|list| Vec::with_capacity(list.capacity())).collect())
    }
}

impl<S: Send> Lists<S> {
    /// Makes room for `lists` lists of `rows` slices.
    pub(super) fn reserve(&mut self, lists: usize, rows: usize) {
        self.0.resize_with(lists, Vec::new);
        for list in &mut self.0 {
            list.reserve(rows);
        }
    }

    /// Divides the columns of a row-major matrix and runs `action` on each share with its part of each row.
    pub(super) fn share_out<T: Send>(
        &mut self,
        division: &Division,
        shares: &mut [T],
        columns: usize,
        matrix: &mut [S],
        action: &(impl Fn(usize, &mut T, &mut [&mut [S]]) -> Result<(), Error> + Sync),
    ) -> Result<(), Error> {
        self.0.resize_with(division.parts(), Vec::new);
        let mut lists: Vec<Vec<&mut [S]>> = std::mem::take(&mut self.0);
        for mut row in matrix.chunks_exact_mut(columns.max(1)) {
            for (part, list) in lists.iter_mut().enumerate() {
                let (own, rest) = row.split_at_mut(division.range(part).len());
                list.push(own);
                row = rest;
            }
        }
        let result = share_out(shares, &mut lists, &|part| part, &|part, share, list| match list {
            [list] => action(part, share, list),
            _ => Ok(()),
        });
        self.0 = lists.into_iter().map(emptied).collect();
        result
    }
}

/// Removes the slices from a list and keeps its memory, which the standard library uses again for a list of the same layout.
fn emptied<S>(mut list: Vec<&mut [S]>) -> Vec<&'static mut [S]> {
    list.clear();
    list.into_iter()
        .map(|_| {
            let none: &'static mut [S] = &mut [];
            none
        })
        .collect()
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
    fn lists_keep_their_memory() {
        let mut lists = Lists::default();
        let division = Division::new(4, 1, 2);
        let mut shares = [0, 0];
        for round in 1..4 {
            let mut matrix = [0; 8];
            let fill = |part: usize, share: &mut i32, rows: &mut [&mut [usize]]| {
                *share += 1;
                rows.iter_mut().for_each(|row| row.fill(part + 1));
                Ok(())
            };
            lists.share_out(&division, &mut shares, 4, &mut matrix, &fill).unwrap();
            assert_eq!(matrix, [1, 1, 2, 2, 1, 1, 2, 2]);
            assert_eq!(shares, [round; 2]);
            assert!(lists.0.iter().all(|list| list.is_empty() && list.capacity() >= 2));
        }
    }

    #[test]
    fn the_error_of_the_first_share_is_returned() {
        use differentiation_interface_core::error::ErrorKind;
        let kinds = [None, Some(ErrorKind::NoSeeds), Some(ErrorKind::TapeOverflow)];
        let result = share_out(&mut [(); 3], &mut [(); 0], &|_| 0, &|part, (), _| match &kinds[part] {
            Some(kind) => Err((*kind).into()),
            None => Ok(()),
        });
        assert_eq!(result.unwrap_err().kind(), ErrorKind::NoSeeds);
    }
}
