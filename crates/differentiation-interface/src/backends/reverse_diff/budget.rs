//! The time that the calls of a preparation have taken, and that of compiling derivatives of second order for them, both by estimate.
//!
//! Kept by `tiers`; tells `making_programs` what may be compiled.

/// What takes no longer, in all, is compiled whatever calls have taken.
const FREE: f64 = 800_000.0;

/// Times, in that of an operation on a tape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget {
    /// Of all calls so far: those by programs, and those by the tape, of which there were this many.
    time: f64,
    by_tape: u64,
    /// Of the last recorded call by the tape.
    of_tape: f64,
    /// Of everything that was compiled.
    compiling: f64,
}

impl Budget {
    /// Sets the time by the tape of a call that is recorded. The calls by the tape since the last recorded one are counted at it: most took this path, for
    /// which there was no program.
    pub(super) fn set_tape(&mut self, of_tape: f64) {
        self.of_tape = of_tape;
    }

    /// Notes the calls up to now: so many by the tape in all, and the time of those by programs since the last ones were noted.
    pub(super) fn note(&mut self, by_tape: u64, of_programs: f64) {
        self.time += by_tape.saturating_sub(self.by_tape) as f64 * self.of_tape + of_programs;
        self.by_tape = by_tape;
    }

    /// What compiling may take in all: as long as all calls have taken, so that a program made too early costs no more than one made too late.
    pub(super) fn most(&self) -> f64 {
        self.time.max(FREE)
    }

    /// What is left of that.
    pub(super) fn budget(&self) -> f64 {
        self.most() - self.compiling
    }

    /// The number of calls of this time after which so much may be spent.
    pub(super) fn calls_until(&self, price: f64, of_call: f64) -> u64 {
        ((price - (self.time - self.compiling)).max(0.0) / of_call).ceil() as u64
    }

    /// Notes that something has been compiled.
    pub(super) fn spend(&mut self, price: f64) {
        self.compiling += price;
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, FREE};

    #[test]
    fn compiling_costs_as_much_as_calls_at_most() {
        let mut taken = Budget::default();
        assert_eq!(taken.budget(), FREE);
        taken.set_tape(1e6);
        taken.note(10, 0.0);
        assert_eq!((taken.budget(), taken.calls_until(3e7, 1e6)), (1e7, 20));
        taken.spend(1e7);
        assert_eq!((taken.budget(), taken.most(), taken.calls_until(1e6, 1e6)), (0.0, 1e7, 1));
        // Calls by a program, and then calls by the tape on a path of another price.
        taken.note(10, 6e6);
        taken.set_tape(2e6);
        taken.note(14, 4e6);
        assert_eq!(taken.budget(), 1.8e7);
        taken.note(15, 0.0);
        assert_eq!(taken.budget(), 2e7);
        // Never.
        assert_eq!(taken.calls_until(f64::MAX, 1e6), u64::MAX);
    }
}
