//! The time that the calls of a preparation have taken, and that of compiling derivatives of second order for them, both by estimate.
//!
//! Kept by `tiers`; tells `making` what may be compiled.

/// What takes no longer, in all, is compiled whatever calls have taken.
const FREE: f64 = 800_000.0;

/// Times, in that of an operation on a tape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// Of the calls up to the last recorded one, which are so many by the tape and by programs.
    time: f64,
    by_tape: u64,
    by_program: u64,
    /// Of a call by the tape and by a program.
    of_tape: f64,
    of_program: f64,
    /// Of compiling, and of compiling the programs that are in use.
    compiling: f64,
    in_use: f64,
}

impl Taken {
    /// Notes a recorded call. It takes so long by the tape, as the calls by the tape since the last recorded one are expected to have taken: most are on
    /// its path, which had no program.
    pub(super) fn note(&mut self, by_tape: u64, by_program: u64, of_tape: f64) {
        let by_tapes = by_tape.saturating_sub(self.by_tape) as f64 * of_tape;
        let by_programs = by_program.saturating_sub(self.by_program) as f64 * self.of_program;
        self.time += by_tapes + by_programs;
        (self.by_tape, self.by_program, self.of_tape) = (by_tape, by_program, of_tape);
    }

    /// Sets the time of a call by a program from now on.
    pub(super) fn set_program(&mut self, time: f64) {
        self.of_program = time;
    }

    /// What may be spent on compiling: as much as all calls have taken, so that a program made too early costs no more than one made too late, without
    /// what has been spent.
    pub(super) fn budget(&self) -> f64 {
        self.time.max(FREE) - self.compiling
    }

    /// The number of calls of this time after which so much may be spent.
    pub(super) fn calls_until(&self, price: f64, of_call: f64) -> u64 {
        ((price - (self.time - self.compiling)).max(0.0) / of_call).ceil() as u64
    }

    /// Notes that a program has been compiled.
    pub(super) fn spend(&mut self, price: f64) {
        self.compiling += price;
        self.in_use += price;
    }

    /// Notes that programs are given up.
    pub(super) fn give_up(&mut self) {
        self.in_use = 0.0;
    }

    /// What compiling the programs in use has cost, in calls of the tape.
    pub(super) fn worth(&self) -> f64 {
        if self.of_tape > 0.0 { self.in_use / self.of_tape } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{FREE, Taken};

    #[test]
    fn compiling_costs_as_much_as_calls_at_most() {
        let mut taken = Taken::default();
        assert_eq!((taken.budget(), taken.worth()), (FREE, 0.0));
        taken.note(10, 0, 1e6);
        assert_eq!((taken.budget(), taken.calls_until(3e7, 1e6)), (1e7, 20));
        taken.spend(1e7);
        assert_eq!((taken.budget(), taken.calls_until(1e6, 1e6), taken.worth()), (0.0, 1, 10.0));
        // Calls by a program, and then calls by the tape on a path of another price.
        taken.set_program(1e5);
        taken.note(14, 100, 2e6);
        assert_eq!((taken.budget(), taken.worth()), (1.8e7, 5.0));
        taken.give_up();
        assert_eq!((taken.budget(), taken.worth()), (1.8e7, 0.0));
        // Never.
        assert_eq!(taken.calls_until(f64::MAX, 1e6), u64::MAX);
    }
}
