//! What a preparation of reverse mode has done so far.
//!
//! Made by `tiers`; returned to users by `report()` of prepared operators.

use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::scalar::{Base, Scalar};
use std::fmt;
use std::time::Duration;

/// How calls are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// By a tape, recorded anew in each call.
    #[default]
    Tape,
    /// By a compiled recording that the portable executor interprets.
    Interpreter,
    /// By machine code made of a recording.
    MachineCode,
}

/// Why a preparation stays with the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The function is not [pure](crate::Function::is_pure), or it has contexts whose numbers a recording cannot see.
    NotPure,
    /// The function is not `Sync`: it may capture a `Cell`, through which what it computes could change between calls.
    MayChange,
    /// Constants were different in another call that took the same path.
    ConstantsChange,
    /// The recording would be larger than its limit.
    TooLarge,
    /// The function cannot be recorded, or the recording not compiled.
    Refused(ErrorKind),
    /// The program would take longer than the tape.
    Slower,
    /// The numbers are `f32`, of which [`AutoReverseDiff::compiled`](super::AutoReverseDiff::compiled) makes programs.
    NotDouble,
}

impl Reason {
    pub(super) fn of_error(error: Error) -> Reason {
        match error.kind() {
            ErrorKind::TapeOverflow => Reason::TooLarge,
            kind => Reason::Refused(kind),
        }
    }
}

/// What a preparation has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The form in use.
    pub form: Form,
    /// Calls in total. Not counted are those on `f32`, and products, Hessians and second derivatives by `tape()`.
    pub calls: u64,
    /// Calls that the tape computed.
    pub by_tape: u64,
    /// Calls that a program computed.
    pub by_program: u64,
    /// Calls at which programs were in use, but none was valid.
    pub misses: u64,
    /// Calls that were recorded.
    pub recordings: u64,
    /// Different paths that recorded calls took, at most 16: more than one where comparisons of active numbers decide, or where the function makes
    /// custom rules without [`identity`](crate::custom::CustomRule::identity) anew in each run.
    pub paths: usize,
    /// Recordings that were compiled, and used.
    pub programs: u64,
    /// Recordings that were compiled, but are left to the tape, because their program would take longer.
    pub refused: u64,
    /// How often programs were given up because of too many misses.
    pub descents: u64,
    /// Operations of the last recording.
    pub operations: usize,
    /// Loops in the last program that was made, of entries in place of products too; while programs are in use, in the last one of these.
    pub loops: usize,
    /// Its instructions.
    pub instructions: usize,
    /// Time of that program over that of the tape, as estimated by counts; 0 without a program.
    pub estimate: f64,
    /// The call from which derivatives of second order are compiled that take longer to compile than the calls so far: entries of a Hessian in place of
    /// its products, or either in place of the tape, on one path or several. Not before, and later where calls in between take other paths, or less time. `None` if
    /// nothing is put off, or if a path for which something was has not been met in twice as many calls.
    pub compiles_from: Option<u64>,
    /// Why no call is recorded any more; `None` while calls may be. After [`Reason::Slower`] one is, after 64 times as many calls.
    pub stays: Option<Reason>,
    /// Time spent on recording and compiling.
    pub spent: Duration,
}

impl Report {
    /// The report of a preparation over this scalar.
    pub(super) fn over<S: Scalar>(self) -> Report {
        match S::DEPTH == 0 && !S::Base::IS_DOUBLE {
            true => Report { stays: Some(Reason::NotDouble), ..self },
            false => self,
        }
    }

    /// Whether nothing was compiled because each recorded call had different constants than the one before. Recordings of one path with the
    /// same constants are compiled, or there is a reason to stay.
    fn are_constants_new(&self) -> bool {
        let is_tape = self.form == Form::Tape && self.stays.is_none() && self.compiles_from.is_none();
        is_tape && self.recordings > 1 && self.programs == 0 && self.paths <= 1
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::NotPure => {
                "the function is not pure, or one of its constants (a context, or a `#[constant]` field) is of a type that is not compared, as enums are (hold them as numbers, or in the function; pass numbers as `ConstantNumbers` or `Parameter`)"
            }
            Reason::MayChange => "the function is not `Sync` and may read what changes",
            Reason::ConstantsChange => {
                "constants of the function change (also plain numbers that it makes of active ones by `primal`, `to_f64` or formatting, for example an index)"
            }
            Reason::TooLarge => "the recording would be larger than its limit",
            Reason::Refused(_) => "the function cannot be compiled",
            Reason::Slower => "the program would take longer than the tape",
            Reason::NotDouble => "its numbers are `f32` (`AutoReverseDiff::compiled()` makes programs of these)",
        })
    }
}

/// One line: `machine code; 100 calls, 47 by tape; 2 recordings, 1 compiled; 7992 operations, 3 loops, 57 instructions; 1.2ms`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match self.form {
            Form::Tape => "tape",
            Form::Interpreter => "interpreter",
            Form::MachineCode => "machine code",
        };
        let Report { calls, by_tape, recordings, programs, operations, loops, instructions, .. } = self;
        write!(f, "{form}; {calls} calls, {by_tape} by tape; {recordings} recordings, {programs} compiled; ")?;
        write!(f, "{operations} operations, {loops} loops, {instructions} instructions; ")?;
        if self.form != Form::MachineCode && self.estimate > 0.0 {
            let verb = if self.form == Form::Tape { "would take" } else { "takes" };
            write!(f, "a program {verb} {:.2} of the tape's time by estimate; ", self.estimate)?;
        }
        write!(f, "{:.1?}", self.spent)?;
        if let Some(call) = self.compiles_from {
            write!(f, "; compiles more from call {call} on, when calls have taken as long as that takes")?;
        }
        match self.stays {
            Some(reason) => write!(f, "; stays a tape, because {reason}"),
            None if self.form == Form::Tape && self.paths > 1 => write!(
                f,
                "; recorded calls took {} paths: comparisons of numbers decide what is computed (`select`, `min`, `max` and fixed numbers of steps avoid it), the function iterates over a `HashMap` or `HashSet` (a `BTreeMap` has one order), or it makes custom rules in each run",
                self.paths
            ),
            None if self.are_constants_new() => f.write_str(
                "; constants were new in each recorded call (numbers that change in every call are passed as `Parameter`)",
            ),
            None => Ok(()),
        }
    }
}
