//! Sets of cells as intervals.
//!
//! Called by the passes that need to know which cells are loaded, added to or active.

/// Cells of one space: disjoint intervals in ascending order, ends included, with gaps between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Intervals {
    merged: Vec<(u32, u32)>,
}

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
        for (low, high) in &other.merged {
            self.insert(*low, *high);
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
}
