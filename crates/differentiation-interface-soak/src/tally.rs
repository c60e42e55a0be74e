//! Counts of the results of comparisons, and their table.
//!
//! Filled by `check`, printed by `main`.

use crate::compare::Verdict;
use crate::reference::kinds;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// The counts so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) programs: u64,
    pub(crate) points: u64,
    /// Calls of an engine at a point.
    pub(crate) calls: u64,
    bit_equal: u64,
    zeros: u64,
    within: u64,
    steep: u64,
    /// The largest difference, in error bounds, of numbers that agree.
    pub(crate) worst: f64,
    pub(crate) disagreements: u64,
    /// Singular points by kind: same, different, an absent entry that is not zero.
    singular: [[u64; 3]; kinds::NAMES.len()],
    /// Points that were not compared and calls that were refused, by reason.
    skipped: BTreeMap<&'static str, u64>,
    /// Comparisons by candidate, and disagreements.
    by_candidate: BTreeMap<&'static str, [u64; 2]>,
}

impl Tally {
    /// Counts a comparison.
    pub(crate) fn note(&mut self, candidate: &'static str, verdict: Verdict) {
        let counts = self.by_candidate.entry(candidate).or_default();
        counts[0] += 1;
        match verdict {
            Verdict::BitEqual => self.bit_equal += 1,
            Verdict::Zeros => self.zeros += 1,
            Verdict::Within(bounds) => {
                self.within += 1;
                self.worst = self.worst.max(bounds);
            }
            Verdict::Steep(_) => self.steep += 1,
            Verdict::Singular { kind, agrees } => self.singular[kind][usize::from(!agrees)] += 1,
            Verdict::SingularNotAbsent { kind } => self.singular[kind][2] += 1,
            Verdict::Disagrees => {
                self.disagreements += 1;
                counts[1] += 1;
            }
        }
    }

    /// Counts something that was not compared.
    pub(crate) fn skip(&mut self, reason: &'static str) {
        *self.skipped.entry(reason).or_default() += 1;
    }

    /// Numbers compared.
    pub(crate) fn comparisons(&self) -> u64 {
        self.by_candidate.values().map(|counts| counts[0]).sum()
    }

    /// Numbers compared at points that are not singular.
    pub(crate) fn regular(&self) -> u64 {
        self.bit_equal + self.zeros + self.within + self.steep + self.disagreements
    }

    /// The table of candidates.
    pub(crate) fn candidates(&self) -> String {
        let lines = self.by_candidate.iter().map(|(name, [all, wrong])| match wrong {
            0 => format!("  {all:>12}  {name}\n"),
            _ => format!("  {all:>12}  {name}: {wrong} disagree\n"),
        });
        lines.collect()
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} programs, {} points, {} calls, {} numbers compared, {} of them at regular points",
            self.programs,
            self.points,
            self.calls,
            self.comparisons(),
            self.regular()
        )?;
        writeln!(f, "regular points")?;
        writeln!(f, "  {:>12}  equal bit by bit", self.bit_equal)?;
        writeln!(f, "  {:>12}  zeros of both signs", self.zeros)?;
        writeln!(f, "  {:>12}  within the error bound, at most {:.1} times its unit", self.within, self.worst)?;
        writeln!(f, "  {:>12}  within it, but it is larger than a thousandth of the number", self.steep)?;
        writeln!(f, "  {:>12}  disagree", self.disagreements)?;
        writeln!(f, "singular points: the same, different, not zero though nothing depends on the input")?;
        for (name, [same, different, absent]) in kinds::NAMES.into_iter().zip(self.singular) {
            if same + different + absent > 0 {
                writeln!(f, "  {same:>12} {different:>12} {absent:>8}  {name}")?;
            }
        }
        writeln!(f, "not compared")?;
        for (reason, count) in &self.skipped {
            writeln!(f, "  {count:>12}  {reason}")?;
        }
        Ok(())
    }
}
