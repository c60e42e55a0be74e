//! The time that the calls of a preparation have taken, by estimate.
//!
//! Kept by `tiers`, for the price of programs.

/// The time of calls, in that of an operation on a tape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// Of the calls up to the last recorded one, which are so many by the tape and by programs.
    time: f64,
    by_tape: u64,
    by_program: u64,
    /// Of a call by a program.
    of_program: f64,
}

impl Taken {
    /// The time up to a recorded call that takes so long by the tape, as the calls by the tape since the last recorded one are expected to do: most
    /// are on its path, which had no program.
    pub(super) fn at(&mut self, by_tape: u64, by_program: u64, of_tape: f64) -> f64 {
        let by_tapes = by_tape.saturating_sub(self.by_tape) as f64 * of_tape;
        let by_programs = by_program.saturating_sub(self.by_program) as f64 * self.of_program;
        self.time += by_tapes + by_programs;
        (self.by_tape, self.by_program) = (by_tape, by_program);
        self.time
    }

    /// Sets the time of a call by a program from now on.
    pub(super) fn set_program(&mut self, time: f64) {
        self.of_program = time;
    }
}
