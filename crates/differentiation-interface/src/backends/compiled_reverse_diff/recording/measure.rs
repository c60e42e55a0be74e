//! What the programs of a recording cost, for an engine that compares them with a tape.
//!
//! Called by `reverse_diff`.

use super::{Kind, LANES, ProgramKey, Recording};

/// What programs are for, with the number of seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::backends) enum Task {
    /// The derivative matrix.
    #[default]
    Matrix,
    /// Cotangents of one point.
    Pullbacks(usize),
    /// Tangents.
    Pushforwards(usize),
    /// Tangents of the gradient, and the gradient itself if the second is `true`.
    HessianProducts(usize, bool),
}

/// A program for a task.
#[derive(Clone, Copy, Debug)]
pub(in crate::backends) struct Measure {
    /// Loops in the program.
    pub(in crate::backends) loops: usize,
    /// Instructions of the program.
    pub(in crate::backends) instructions: usize,
    /// Estimated time of the task, in that of an operation on a tape.
    pub(in crate::backends) time: f64,
    /// Whether it is machine code.
    pub(in crate::backends) is_code: bool,
}

impl Recording {
    /// The program for a task, and how often it runs for that.
    fn of_task(&self, task: Task) -> (ProgramKey, usize) {
        let (kind, seeds) = match (task, self.inputs, self.outputs) {
            (Task::Matrix | Task::Pullbacks(_) | Task::HessianProducts(..), ..) if self.has_entries() => {
                return (ProgramKey::of(Kind::Entries, 0), 1);
            }
            (Task::Matrix, inputs, 1) if inputs > 0 => (Kind::Gradient, 1),
            (Task::Matrix, inputs, outputs) if inputs < outputs => (Kind::pushforward_of(inputs).0, inputs),
            (Task::Matrix, _, outputs) => (Kind::pullback_of(outputs).0, outputs),
            (Task::Pullbacks(seeds), ..) => (Kind::pullback_of(seeds).0, seeds),
            (Task::Pushforwards(seeds), ..) => (Kind::pushforward_of(seeds).0, seeds),
            (Task::HessianProducts(seeds, with_gradient), ..) => {
                let tangents = if seeds <= 1 { seeds } else { LANES };
                let kind = if with_gradient || seeds == 0 { Kind::Gradient } else { Kind::HessianProducts };
                return (ProgramKey::of(kind, tangents), seeds.div_ceil(LANES));
            }
        };
        (ProgramKey::of(kind, 0), seeds.div_ceil(LANES))
    }

    /// Whether that program is machine code.
    pub(in super::super) fn has_code(&self, task: Task) -> bool {
        matches!(self.code::<f64>(self.of_task(task).0), Ok(Some(_)))
    }

    /// What that program costs; `None` if it cannot be made. Makes its machine code, and its executable if there is no machine code.
    pub(in super::super) fn measure(&self, task: Task) -> Option<Measure> {
        let (which, runs) = self.of_task(task);
        // To derive a program takes longer than anything that is made of it.
        let (program, programs) = (self.program_of(which).ok()?, self.programs(which));
        let (loops, instructions) = (program.loop_count(), program.instruction_count());
        let (time, is_code) = match programs.make_code::<f64>(which, &program, self.threads) {
            Some(made) => (made.code.time(), true),
            None => (programs.make_executable(which, program).code.work().time, false),
        };
        // Cotangents are asked for after the outputs, and entries of a Hessian before the gradient, which have programs of their own.
        let other = match task {
            Task::Pullbacks(_) if which.kind != Kind::Entries => Some(Kind::Value),
            Task::HessianProducts(_, true) if which.kind == Kind::Entries => Some(Kind::Gradient),
            _ => None,
        };
        let code = |kind| self.code::<f64>(ProgramKey::of(kind, 0)).ok().flatten();
        let time_of_other = other.filter(|_| is_code).and_then(code).map_or(0.0, |made| made.code.time());
        Some(Measure { loops, instructions, time: time_of_other + time * runs as f64, is_code })
    }
}
