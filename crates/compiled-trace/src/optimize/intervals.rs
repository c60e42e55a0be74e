//! Sets of cells as intervals.
//!
//! Called by the passes that need to know which cells are loaded, added to or active.

/// Cells of one space: disjoint intervals in ascending order, ends included, with gaps between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Intervals {
    merged: Vec<(u32, u32)>,
}

/// A set is added by a walk through both sets if the other one has at most so many times as many intervals, else interval by interval.
const MANY: usize = 8;

impl Intervals {
    /// Adds the cells `low..=high`; returns whether any of them is new.
    pub(crate) fn insert(&mut self, mut low: u32, mut high: u32) -> bool {
        let from = self.merged.partition_point(|(_, end)| end.saturating_add(1) < low);
        let mut to = from;
        while let Some((start, end)) = self.merged.get(to).copied()
            && start <= high.saturating_add(1)
        {
            if start <= low && high <= end {
                return false;
            }
            (low, high) = (low.min(start), high.max(end));
            to += 1;
        }
        if from == to {
            self.merged.insert(from, (low, high));
        } else {
            self.merged[from] = (low, high);
            self.merged.drain(from + 1..to);
        }
        true
    }

    /// Adds the cells of another set.
    pub(crate) fn unite(&mut self, other: &Intervals) {
        if MANY * other.merged.len() > self.merged.len() {
            return self.merge(other);
        }
        for (low, high) in &other.merged {
            self.insert(*low, *high);
        }
    }

    /// The same by a walk through both sets.
    fn merge(&mut self, other: &Intervals) {
        let length = self.merged.len() + other.merged.len();
        let known = std::mem::replace(&mut self.merged, Vec::with_capacity(length));
        let (mut a, mut b) = (&known[..], &other.merged[..]);
        while let Some(first) = [a.first(), b.first()].into_iter().flatten().min().copied() {
            let from = if a.first() == Some(&first) { &mut a } else { &mut b };
            *from = &from[1..];
            match self.merged.last_mut() {
                Some((_, end)) if first.0 <= end.saturating_add(1) => *end = first.1.max(*end),
                _ => self.merged.push(first),
            }
        }
    }

    /// Whether any of the cells `low..=high` is in the set.
    pub(crate) fn overlaps(&self, low: u32, high: u32) -> bool {
        let next = self.merged.partition_point(|(_, end)| *end < low);
        self.merged.get(next).is_some_and(|(start, _)| *start <= high)
    }

    /// Whether the sets have a cell in common.
    pub(crate) fn intersects(&self, other: &Intervals) -> bool {
        let (few, many) = if self.merged.len() < other.merged.len() { (self, other) } else { (other, self) };
        let (Some((low, _)), Some((_, high))) = (many.merged.first(), many.merged.last()) else { return false };
        few.merged.iter().any(|(from, to)| from <= high && low <= to && many.overlaps(*from, *to))
    }

    /// The intervals of the set inside `low..=high`.
    pub(crate) fn inside(&self, low: u32, high: u32) -> impl Iterator<Item = (u32, u32)> {
        let from = self.merged.partition_point(|(_, end)| *end < low);
        let meeting = self.merged[from..].iter().take_while(move |(start, _)| *start <= high);
        meeting.map(move |(start, end)| ((*start).max(low), (*end).min(high)))
    }
}

impl FromIterator<(u32, u32)> for Intervals {
    fn from_iter<I: IntoIterator<Item = (u32, u32)>>(intervals: I) -> Intervals {
        let mut sorted: Vec<(u32, u32)> = intervals.into_iter().collect();
        sorted.sort_unstable();
        let mut set = Intervals::default();
        for (low, high) in sorted {
            set.insert(low, high);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::Intervals;

    #[test]
    fn intervals_that_touch_become_one() {
        let mut set: Intervals = [(7, 9), (0, 2), (20, 20)].into_iter().collect();
        assert!(set.insert(3, 4));
        assert!(!set.insert(1, 4));
        assert_eq!(set.merged, [(0, 4), (7, 9), (20, 20)]);
        assert!(set.overlaps(4, 6) && !set.overlaps(5, 6) && !set.overlaps(10, 19) && !set.overlaps(21, 30));
        assert_eq!(set.inside(2, 8).collect::<Vec<_>>(), [(2, 4), (7, 8)]);
        let other: Intervals = [(5, 6), (20, 30)].into_iter().collect();
        assert!(set.intersects(&other) && other.intersects(&set));
        assert!(!set.intersects(&[(5, 6), (21, 30)].into_iter().collect()));
        assert!(set.insert(5, 19));
        assert_eq!(set.merged, [(0, 20)]);
    }

    #[test]
    fn unions_are_the_same_by_both_ways() {
        let interval = |i: u32| (i * 7919 % 1009, i * 7919 % 1009 + i % 5);
        for (few, many) in [(0, 0), (0, 9), (1, 0), (3, 60), (60, 3), (40, 50), (1, 200)] {
            let other: Intervals = (100..100 + many).map(interval).collect();
            let mut set: Intervals = (0..few).map(interval).collect();
            let (mut walked, mut inserted) = (set.clone(), set.clone());
            set.unite(&other);
            walked.merge(&other);
            for (low, high) in &other.merged {
                inserted.insert(*low, *high);
            }
            assert_eq!((&set.merged, &walked.merged), (&inserted.merged, &inserted.merged));
        }
        let mut last: Intervals = [(u32::MAX, u32::MAX)].into_iter().collect();
        last.merge(&[(0, 0), (u32::MAX - 1, u32::MAX)].into_iter().collect());
        assert_eq!(last.merged, [(0, 0), (u32::MAX - 1, u32::MAX)]);
    }
}
