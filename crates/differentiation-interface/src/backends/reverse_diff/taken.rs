//! The time that the calls of a preparation have taken, and that of compiling derivatives of second order for them, both by estimate.
//!
//! Kept by `tiers`; tells `making` what may be compiled.

/// What takes no longer, in all, is compiled whatever calls have taken.
const FREE: f64 = 800_000.0;

/// Times, in that of an operation on a tape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// Of all calls so far: those by the tape, and those by programs, of which there were this many.
    time: f64,
    by_tape: u64,
    by_program: u64,
    /// Of one call by the tape, and of one by the programs in use, on average.
    of_tape: f64,
    of_program: f64,
    /// Of everything that was compiled.
    compiling: f64,
}

impl Taken {
    /// Notes the calls up to a recorded one, which takes `of_tape` by the tape. Those by the tape since the last recorded one are counted at the same
    /// time: most took its path, for which there was no program.
    pub(super) fn note(&mut self, by_tape: u64, by_program: u64, of_tape: f64) {
        let by_tapes = by_tape.saturating_sub(self.by_tape) as f64 * of_tape;
        let by_programs = by_program.saturating_sub(self.by_program) as f64 * self.of_program;
        self.time += by_tapes + by_programs;
        (self.by_tape, self.by_program, self.of_tape) = (by_tape, by_program, of_tape);
    }

    /// Sets the time of a call by programs, on average, from now on. So many calls were made before.
    pub(super) fn set_program(&mut self, by_tape: u64, by_program: u64, time: f64) {
        self.note(by_tape, by_program, self.of_tape);
        self.of_program = time;
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

    /// A time in calls of the tape.
    pub(super) fn in_calls(&self, time: f64) -> f64 {
        if self.of_tape > 0.0 { time / self.of_tape } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{FREE, Taken};

    #[test]
    fn compiling_costs_as_much_as_calls_at_most() {
        let mut taken = Taken::default();
        assert_eq!((taken.budget(), taken.in_calls(1e7)), (FREE, 0.0));
        taken.note(10, 0, 1e6);
        assert_eq!((taken.budget(), taken.calls_until(3e7, 1e6)), (1e7, 20));
        taken.spend(1e7);
        assert_eq!((taken.budget(), taken.most(), taken.calls_until(1e6, 1e6)), (0.0, 1e7, 1));
        assert_eq!(taken.in_calls(1e7), 10.0);
        // Calls by a program, and then calls by the tape on a path of another price.
        taken.set_program(10, 0, 1e5);
        taken.note(14, 100, 2e6);
        assert_eq!((taken.budget(), taken.in_calls(1e7)), (1.8e7, 5.0));
        // Never.
        assert_eq!(taken.calls_until(f64::MAX, 1e6), u64::MAX);
    }
}
