//! Decides for each call whether the tape, a new recording or a program computes it.
//!
//! Called by the route `tiered`, which runs the tape; calls the compiled engine's state. Everything is decided by counts, so that a run
//! of a program can be repeated bit for bit. Over `f64` alone and without generic functions, so that this and the compiled engine
//! are compiled here and not in every crate that differentiates.

use super::as_recorded::AsRecorded;
use super::budget::Budget;
use super::earlier_constants::EarlierConstants;
use super::making_programs::{Left, Made, Make, NotMade, RecordedCall, are_lost, compile_entries, entries_from, make};
use super::paths::{Path, Paths};
use super::recorded::InRecording;
use super::report::{Form, Reason, Report};
use super::schedule::Schedule;
use super::tape_time::time_of_tape;
use crate::backends::compiled_reverse_diff::{ByKept, CompiledState, KeptState, RequestedEntries, Task, Trial};
use compiled_trace::{Limits, Recorded};
use differentiation_interface_core::backend::{ConstantEntries, Rows};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::Recordable;
use std::time::Instant;

/// The number of recordings that are compiled for points on different paths.
const MOST_KEPT: usize = 8;
/// The number of paths up to which further ones are looked for soon, before there is a program.
const FEW_PATHS: usize = 4;
/// How many times as many calls a slow path is left to the tape before a call is recorded again, where no other path has been seen.
const PATIENCE: u64 = 64;
/// The misses of programs that are tolerated before anything is decided, and the calls with the same new constants after which these are
/// expected to last: a recording takes as long as some ten calls.
const FEW: u64 = 8;
/// The calls that new constants are to last on average, so that recording them pays, after twice `FEW` recordings.
const LASTING: u64 = 32;
/// The calls by programs after which constants have lasted, so that the next ones are expected to last from their second call on.
const LASTED: u64 = 64;
/// The programs that it takes at most until all constants are parameters. Others follow only if the number of calls has doubled since the
/// last one.
const FIRST_PROGRAMS: u64 = 4;
/// Operations of a large recording; the tape has some 30 bytes for each.
const LARGE: usize = 100_000;
/// The number of times that programs are given up after which constants are taken to change too often.
const MOST_DESCENTS: u64 = 2;

/// How the next call is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// By the tape.
    Tape,
    /// It is recorded; the program computes it if there is one then, else the tape. The tape also where the program is one of entries.
    Record,
    /// By a program, or else by the tape.
    Program,
}

/// The counts of one preparation, and its programs.
#[derive(Clone, Debug, Default)]
pub(super) struct Tiers {
    /// Calls that the tape has computed, the present one included unless a program computes it.
    by_tape: u64,
    by_program: u64,
    /// The call to record next, while the tape is in use; 0 before the first call.
    next: u64,
    /// Why no call is recorded any more.
    settled: Option<Reason>,
    /// The paths that calls have taken when they were recorded.
    seen: Paths,
    programs: Option<KeptState>,
    /// The number of calls when the last recording was compiled, and calls since then at which no program was valid.
    since: u64,
    misses: u64,
    /// The miss to record.
    next_miss: u64,
    constants: EarlierConstants,
    /// The last call that was recorded. A program that is not valid at it is no further miss.
    recorded_at: u64,
    /// Recordings since then for other constants.
    followed: u64,
    /// The calls by programs at the last recording.
    served_before: u64,
    /// Whether a call with other constants than at the last recording is to be recorded soon after that.
    waits: bool,
    /// Whether there was a call whose constants no program knew.
    has_changed: bool,
    taken: Budget,
    /// The call from which programs of products give way to those of entries.
    entries_from: Option<u64>,
    /// Whether calls of [`serve`](Self::serve) are counted: not before an operator has prepared.
    is_on: bool,
    task: Task,
    /// The entries that programs are made for; those of a dense Jacobian if `None`.
    requested: Option<RequestedEntries>,
    report: Report,
}

impl Tiers {
    /// Begins a call.
    #[inline]
    pub(super) fn step(&mut self, schedule: Schedule) -> Step {
        self.by_tape += 1;
        if schedule.first == 0 {
            return Step::Tape;
        }
        if self.programs.is_some() {
            return Step::Program;
        }
        if self.next == 0 {
            self.next = schedule.first_of_calls();
        }
        let is_due = self.calls() >= self.next && matches!(self.settled, None | Some(Reason::Slower));
        if is_due { Step::Record } else { Step::Tape }
    }

    /// Compiles entries of a Hessian in place of products, if the calls made have paid for that.
    #[inline]
    pub(super) fn compile_entries_if_due(&mut self) {
        if self.entries_from.is_some_and(|call| self.calls() + 1 >= call) {
            self.compile_entries();
        }
    }

    #[cold]
    #[inline(never)]
    fn compile_entries(&mut self) {
        let (start, next) = (Instant::now(), self.calls() + 1);
        self.entries_from = None;
        let Some(programs) = self.programs.as_deref_mut() else { return };
        self.taken.note(self.by_tape, programs.take_time_of_calls());
        // The calls made since this one was named may have been shorter than those expected.
        self.entries_from = entries_from(programs, next - 1, &self.taken);
        if self.entries_from.take_if(|call| *call <= next).is_some() {
            let made = compile_entries(programs, self.task, &mut self.taken);
            made.into_iter().for_each(|made| self.report_costs(made));
        }
        self.report.spent += start.elapsed();
    }

    /// Notes what the calls so far have taken.
    fn note_calls(&mut self) {
        let of_programs = self.programs.as_deref_mut().map_or(0.0, |programs| programs.take_time_of_calls());
        self.taken.note(self.by_tape, of_programs);
    }

    /// Whether programs are in use.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn has_programs(&self) -> bool {
        self.programs.is_some()
    }

    /// Whether the tape of the function takes megabytes, which are not worth keeping beside a program.
    pub(super) fn has_large_recording(&self) -> bool {
        self.report.operations >= LARGE
    }

    /// Forgets the programs and the counts, for a new preparation.
    pub(super) fn restart(&mut self) {
        *self = Tiers::default();
    }

    /// What has happened so far.
    pub(super) fn report(&self) -> Report {
        let form = match &self.programs {
            Some(programs) if programs.has_code(self.task) => Form::MachineCode,
            Some(_) => Form::Interpreter,
            None => Form::Tape,
        };
        let (by_tape, by_program) = (self.by_tape, self.by_program);
        let paths = self.seen.compiled_from(self.calls()).filter(|_| self.settled.is_none());
        let compiles_from = self.entries_from.filter(|_| self.programs.is_some()).into_iter().chain(paths).min();
        Report { compiles_from, calls: self.calls(), by_tape, by_program, form, stays: self.settled, ..self.report }
    }

    /// All calls.
    fn calls(&self) -> u64 {
        self.by_tape + self.by_program
    }

    /// Records the function at `x`, and compiles the recording if the function has taken this path before.
    #[cold]
    #[inline(never)]
    pub(super) fn record(&mut self, schedule: Schedule, f: &mut dyn Flat<Recorded>, x: &[f64]) {
        let start = Instant::now();
        // First, for functions that panic.
        self.recorded_at = self.calls();
        self.next = 2 * self.calls().max(1);
        self.next_miss = 2 * self.misses.max(FEW);
        match self.try_record(schedule, f, x) {
            Err(reason) => (self.settled, self.programs) = (Some(reason), None),
            Ok(true) if self.settled == Some(Reason::Slower) => self.settled = None,
            Ok(_) => {}
        }
        if self.settled == Some(Reason::Slower) {
            self.next = PATIENCE * self.calls().max(schedule.first_of_calls());
        }
        self.report.spent += start.elapsed();
    }

    /// Returns whether there is a recording, or the reason why no call is recorded any more.
    fn try_record(&mut self, schedule: Schedule, f: &mut dyn Flat<Recorded>, x: &[f64]) -> Result<bool, Reason> {
        let of = f.recordable();
        // A program of a function that is not pure knows for which constants it is right.
        let is_pure = of.is_pure();
        let is_first = self.programs.is_none();
        let constants = if is_pure { None } else { self.constants.hash(of) };
        if is_first && !is_pure && constants.is_none() {
            return Err(Reason::NotPure);
        }
        if of.may_change() {
            return Err(Reason::MayChange);
        }
        let limits = Limits { bytes: schedule.bytes };
        let mut new = is_first.then(|| {
            let requested = self.requested.clone().unwrap_or_else(|| RequestedEntries::jacobian(limits));
            KeptState::for_entries(requested)
        });
        // Programs in use stay where they are, in case that the function panics.
        let Some(kept) = new.as_mut().or(self.programs.as_mut()) else { return Ok(false) };
        let trial = match kept.try_out(limits, f, x) {
            Ok(trial) => trial,
            // Another path, which is left to the tape, or a point at which the function fails.
            Err(error) if self.seen.count() > 0 || error.kind() == ErrorKind::FunctionFailed => return Ok(false),
            Err(error) => return Err(Reason::of_error(error)),
        };
        self.served_before = self.by_program;
        self.report.recordings += 1;
        self.report.operations = trial.operations;
        if is_first && constants.is_some_and(|constants| !self.constants.are_recorded_again(constants)) {
            // Other constants than at the last recording. If they are those of a call soon after this one, they last.
            self.seen.forget();
            self.waits = self.report.recordings > 1 && !self.waits;
            if self.waits {
                self.next = self.calls() + FEW;
            }
        }
        let follows = !is_first && !is_pure;
        let path = self.seen.find(&trial);
        let is_known = path.is_some() || (schedule.first == 1 && is_first);
        let place = path.or_else(|| self.note_path(&trial, constants));
        let seen = path.map(|path| self.seen.at(path));
        // What the function reads has changed, and no program can know it.
        if !follows && seen.is_some_and(|seen| seen.reads_other_data(&trial, constants)) {
            return Err(Reason::ConstantsChange);
        }
        let what = self.what_to_make(follows, is_known, seen);
        if let Some(path) = path {
            self.seen.note(path, &trial, constants);
        }
        self.followed += u64::from(follows && what.is_ok());
        let of_tape = time_of_tape(&trial, self.task);
        self.taken.set_tape(of_tape);
        self.note_calls();
        let call = RecordedCall { trial: &trial, task: self.task, number: self.calls(), limits, of_tape };
        let mut refused = path.map(|path| self.seen.at(path).refused).unwrap_or_default();
        let Some(kept) = new.as_mut().or(self.programs.as_mut()) else { return Ok(false) };
        let made = match what {
            Ok(what) => make(kept, call, what, (f, x), &mut self.taken, &mut refused),
            Err(left) => Err(left.into()),
        };
        if let Some(place) = place {
            self.seen.refuse(place, refused);
        }
        // Constants change again, and are recorded in the same memory.
        if !follows {
            kept.forget_trial();
        }
        if new.is_some() {
            self.programs = new;
        }
        self.programs.take_if(|programs| programs.count() == 0);
        self.note_made(made, place)?;
        if self.followed > 2 * FEW && LASTING * self.followed > self.calls() - self.since {
            self.descend();
        }
        Ok(true)
    }

    /// What to make of a recorded call. A path that is left to the tape for some constants may have a program that other ones need no other for.
    fn what_to_make(&self, follows: bool, is_known: bool, seen: Option<&Path>) -> Result<Make, Left> {
        let left = seen.and_then(|seen| seen.left(self.calls()));
        if follows {
            let is_due = self.report.programs < FIRST_PROGRAMS || self.calls() >= 2 * self.since;
            let most = if is_known && is_due && left.is_none() { MOST_KEPT } else { 0 };
            return Ok(Make::ForConstants { most, is_in_use: seen.is_some_and(|seen| seen.has_program) });
        }
        let count = self.programs.as_ref().map_or(0, |programs| programs.count());
        let make = if is_known && count < MOST_KEPT { Make::New } else { Make::Nothing };
        left.map_or(Ok(make), Err)
    }

    /// Remembers a path that was not seen before, and returns its place unless there are too many. A function of a few paths takes others soon.
    fn note_path(&mut self, trial: &Trial, constants: Option<u64>) -> Option<usize> {
        let place = self.seen.add(trial, constants)?;
        self.report.paths = self.report.paths.max(self.seen.count());
        if (1..FEW_PATHS).contains(&place) {
            self.next = self.calls() + FEW;
        }
        if place < MOST_KEPT {
            self.next_miss = self.misses + FEW;
        }
        Some(place)
    }

    /// Reports the program made of a recorded call, or leaves the path to the tape. Returns the reason why no call is recorded any more, if there is one.
    fn note_made(&mut self, made: Result<Option<Made>, NotMade>, place: Option<usize>) -> Result<(), Reason> {
        match made {
            Ok(None) => {}
            Ok(Some(made)) => {
                self.constants.forget_from(FEW);
                self.report_costs(made);
                self.report.programs += 1;
                (self.since, self.misses, self.next_miss, self.followed) = (self.calls(), 0, FEW, 0);
                if let Some(place) = place {
                    self.seen.use_program(place);
                }
                if let Some(programs) = self.programs.as_deref() {
                    self.entries_from = entries_from(programs, self.calls(), &self.taken);
                }
            }
            Err(NotMade { left, made }) => {
                if let Some(made) = made {
                    self.constants.forget_from(FEW);
                    self.report.refused += 1;
                    // Not of a program that is not used beside one that is.
                    if self.programs.is_none() {
                        self.report_costs(made);
                    }
                }
                // The tape computes this path, and programs the others, or those to come.
                if let Some(place) = place {
                    self.seen.leave(place, left);
                }
                if self.programs.is_none() && self.seen.count() == 1 {
                    if left.until == u64::MAX {
                        return Err(left.reason);
                    }
                    self.next = self.next.min(left.until);
                }
            }
        }
        Ok(())
    }

    fn report_costs(&mut self, made: Made) {
        (self.report.loops, self.report.instructions) = (made.measure.loops, made.measure.instructions);
        self.report.estimate = made.estimate;
    }

    /// Fills the matrix by a program, if one is valid at `x`. If not, says what the call does instead.
    pub(super) fn fill(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[f64],
        with_value: bool,
        rows: &mut Rows<'_, f64>,
    ) -> Result<(), Step> {
        let Some(programs) = &mut self.programs else { return Err(Step::Tape) };
        let result = programs.matrix_by_kept(f, x, with_value, rows);
        self.note_result(result, f)
    }

    /// Counts a call that [`programs`](Self::programs) have computed.
    #[inline]
    pub(super) fn count_by_program(&mut self) {
        self.by_program += 1;
    }

    /// Counts a call by programs, and says what it does instead where none was valid.
    #[inline]
    fn note_result(&mut self, result: Result<ByKept, Error>, f: Option<&dyn Recordable>) -> Result<(), Step> {
        // An error is found again, and reported, by the tape.
        match result.unwrap_or(ByKept::OtherPath) {
            ByKept::Done => {
                self.by_tape -= 1;
                self.by_program += 1;
                Ok(())
            }
            ByKept::OtherPath => Err(self.missed()),
            ByKept::OtherConstants => Err(self.missed_constants(f)),
        }
    }

    /// Sets whether calls of [`serve`](Self::serve) are counted, from now on and with no programs.
    pub(super) fn adapt(&mut self, schedule: Schedule, adapts: bool) {
        let is_on = adapts && schedule.first > 0;
        *self = Tiers { is_on, requested: Some(RequestedEntries::default()), ..Tiers::default() };
    }

    /// Whether calls of [`serve`](Self::serve) are counted.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Sets what programs are for, which is the same in all calls.
    pub(super) fn set_task(&mut self, task: Task) {
        self.task = task;
    }

    /// Whether the entries that programs are made for are to be set before the next call: it is recorded, and they are not known.
    pub(super) fn wants_request(&self, schedule: Schedule) -> bool {
        let is_unknown = self.requested.as_ref().is_some_and(|requested| requested.is_nothing());
        let next = if self.next == 0 { schedule.first_of_calls() } else { self.next };
        is_unknown && self.settled.is_none() && self.calls() + 1 >= next
    }

    /// Sets the entries that programs are made for.
    pub(super) fn request(&mut self, requested: RequestedEntries) {
        self.requested = Some(requested);
    }

    /// The programs.
    #[inline]
    pub(super) fn programs(&mut self) -> Option<&mut CompiledState<f64>> {
        self.programs.as_deref_mut()
    }

    /// Computes a call by programs of the requested entries. Otherwise says what the call does instead; `None` if there are no such programs, or others
    /// may compute it: the call is not counted then.
    pub(super) fn serve_entries(
        &mut self,
        f: Option<&dyn Recordable>,
        go: &mut Compute<'_>,
    ) -> Option<Result<(), Step>> {
        let programs = self.programs.as_deref_mut()?;
        let with_entries = programs.count_with_entries();
        let others_have_products = with_entries < programs.count();
        let result = if with_entries > 0 { go(programs, f) } else { Ok(ByKept::OtherPath) };
        if others_have_products && !matches!(result, Ok(ByKept::Done)) {
            return None;
        }
        self.by_tape += 1;
        Some(self.note_result(result, f))
    }

    /// Computes a call by a program if there is one, or records it. Returns whether `go` has computed the results; if not, the tape has
    /// to. With `decided`, the call is already counted, and does that.
    ///
    /// Calls by programs, which are short and many, do not leave the code of the caller.
    #[inline]
    pub(super) fn serve<N: InRecording, F: Flat<N>>(
        &mut self,
        schedule: Schedule,
        decided: Option<Step>,
        f: &mut F,
        x: &[f64],
        mut go: impl FnMut(&mut CompiledState<f64>, Option<&dyn Recordable>) -> Result<ByKept, Error>,
    ) -> bool {
        let mut instead = decided;
        if decided.is_none()
            && let Some(programs) = self.programs.as_deref_mut()
        {
            let of = f.recordable();
            let result = go(programs, of);
            self.by_tape += 1;
            match self.note_result(result, of) {
                Ok(()) => return true,
                Err(step) => instead = Some(step),
            }
        }
        self.serve_otherwise(schedule, instead, &mut AsRecorded::<N, F>::new(f), x, &mut go)
    }

    #[inline(never)]
    fn serve_otherwise(
        &mut self,
        schedule: Schedule,
        instead: Option<Step>,
        f: &mut dyn Flat<Recorded>,
        x: &[f64],
        go: &mut Compute<'_>,
    ) -> bool {
        let mut step = instead.unwrap_or_else(|| self.step(schedule));
        if step == Step::Program {
            match self.run(f.recordable(), go) {
                Ok(()) => return true,
                Err(instead) => step = instead,
            }
        }
        if step == Step::Record {
            self.record(schedule, f, x);
            // A program of entries computes later calls. Products, which this one asks for, would have to be compiled for it alone.
            let has_entries = self.programs.as_deref().is_some_and(|programs| programs.has_entries());
            if !has_entries && self.run(f.recordable(), go).is_ok() {
                return true;
            }
            self.descend_if_many();
        }
        false
    }

    fn run(&mut self, f: Option<&dyn Recordable>, go: &mut Compute<'_>) -> Result<(), Step> {
        let Some(programs) = self.programs.as_deref_mut() else { return Err(Step::Tape) };
        let result = go(programs, f);
        self.note_result(result, f)
    }

    /// What to do at a point where no program is valid.
    #[cold]
    #[inline(never)]
    fn missed(&mut self) -> Step {
        if self.recorded_at == self.calls() {
            return Step::Tape;
        }
        self.misses += 1;
        self.report.misses += 1;
        if self.misses >= self.next_miss {
            return Step::Record;
        }
        self.descend_if_many();
        Step::Tape
    }

    /// What to do in a call whose constants no program knows.
    #[cold]
    #[inline(never)]
    fn missed_constants(&mut self, f: Option<&dyn Recordable>) -> Step {
        if self.recorded_at == self.calls() {
            return Step::Tape;
        }
        self.has_changed = true;
        self.report.misses += 1;
        let times = self.constants.count(f);
        let few = if self.by_program - self.served_before >= LASTED { 2 } else { FEW };
        if times >= few && times.is_power_of_two() {
            return Step::Record;
        }
        // Constants that return are waited for.
        if times == 1 || times > FEW {
            self.misses += 1;
            self.descend_if_many();
        }
        Step::Tape
    }

    /// Leaves the programs if calls at which none is valid lose more than the others gain.
    pub(super) fn descend_if_many(&mut self) {
        let Some(programs) = &self.programs else { return };
        let hits = (self.calls() - self.since).saturating_sub(self.misses);
        if self.misses >= FEW && are_lost(programs, hits, self.misses) {
            self.descend();
        }
    }

    fn descend(&mut self) {
        self.note_calls();
        self.programs = None;
        self.seen.leave_programs();
        self.next = 2 * self.calls();
        self.report.descents += 1;
        if self.has_changed && self.report.descents >= MOST_DESCENTS {
            self.settled = Some(Reason::ConstantsChange);
        }
    }

    /// The number of outputs of the current program.
    pub(super) fn outputs(&self) -> Option<usize> {
        self.programs.as_ref()?.count_of_outputs()
    }

    /// The outputs of the last [`fill`](Self::fill) with them.
    pub(super) fn values(&self) -> &[f64] {
        self.programs.as_ref().map_or(&[], |programs| programs.outputs())
    }

    /// Fills the matrix by a small program, if there is one that is valid at `x`, and counts the call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn fill_small(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[f64],
        y: Option<&mut [f64]>,
        matrix: (&mut [f64], &mut ConstantEntries),
    ) -> bool {
        let Some(programs) = &mut self.programs else { return false };
        let is_done = programs.fill_small(f, x, y, matrix);
        self.by_program += u64::from(is_done);
        is_done
    }

    /// The same for the requested entries.
    #[inline(never)]
    pub(super) fn fill_entries(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[f64],
        values: (&mut [f64], &mut ConstantEntries),
    ) -> bool {
        let Some(programs) = &mut self.programs else { return false };
        let is_done = programs.fill_entries(f, x, values);
        self.by_program += u64::from(is_done);
        is_done
    }
}

/// Computes a call by programs.
pub(super) type Compute<'a> = dyn FnMut(&mut CompiledState<f64>, Option<&dyn Recordable>) -> Result<ByKept, Error> + 'a;
