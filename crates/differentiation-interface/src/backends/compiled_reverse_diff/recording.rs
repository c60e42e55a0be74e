//! One recording of a function, compiled: the programs for its value, its pullbacks and its pushforwards.
//!
//! Immutable and shared by all copies of a preparation, on all threads; made when a program is first asked for.

#[cfg(feature = "native")]
use compiled_trace::native;
use compiled_trace::{Executable, Graph, Program, RunError, Workspace, compile};
use differentiation_interface_core::error::Error;
#[cfg(feature = "native")]
use differentiation_interface_core::scalar::Base;
use differentiation_interface_core::scalar::Scalar;
use std::sync::{Arc, OnceLock};

/// What a program computes beside the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing.
    Value,
    /// One pullback.
    Pullback,
    /// [`LANES`] pullbacks.
    Pullbacks,
    /// One pushforward.
    Pushforward,
    /// [`LANES`] pushforwards.
    Pushforwards,
}

/// How many seeds go through a program at once, if there are several.
pub(super) const LANES: usize = 4;
const KINDS: usize = 5;

impl Kind {
    /// The program for up to so many seeds, and the number of seeds it takes.
    pub(super) fn pullback_of(seeds: usize) -> (Kind, usize) {
        if seeds <= 1 { (Kind::Pullback, 1) } else { (Kind::Pullbacks, LANES) }
    }

    /// The same for pushforwards.
    pub(super) fn pushforward_of(seeds: usize) -> (Kind, usize) {
        if seeds <= 1 { (Kind::Pushforward, 1) } else { (Kind::Pushforwards, LANES) }
    }
}

/// A recording with its programs.
#[derive(Debug)]
pub(super) struct Recording {
    program: Program,
    executables: [OnceLock<Executable>; KINDS],
    /// Machine code of the same programs; none where it was refused.
    #[cfg(feature = "native")]
    codes: [OnceLock<Option<native::Compiled<f64>>>; KINDS],
    /// Length of the point.
    pub(super) inputs: usize,
    /// Number of outputs.
    pub(super) outputs: usize,
    /// Number of parameters.
    pub(super) parameters: usize,
    /// Lengths of the contexts.
    pub(super) lengths: Vec<usize>,
}

impl Recording {
    pub(super) fn new(graph: &Graph, lengths: &[usize]) -> Result<Recording, Error> {
        Ok(Recording {
            program: compile(graph)?,
            executables: Default::default(),
            #[cfg(feature = "native")]
            codes: Default::default(),
            inputs: graph.inputs(),
            outputs: graph.outputs().len(),
            parameters: graph.parameters(),
            lengths: lengths.to_vec(),
        })
    }

    /// Whether it was made for a point and contexts of these lengths.
    pub(super) fn fits(&self, inputs: usize, parameters: usize, lengths: &[usize]) -> bool {
        self.inputs == inputs && self.parameters == parameters && self.lengths == lengths
    }

    fn executable(&self, kind: Kind) -> Result<&Executable, Error> {
        let cell = &self.executables[kind as usize];
        if let Some(made) = cell.get() {
            return Ok(made);
        }
        let program = self.program_of(kind)?;
        // Another thread may have made it meanwhile; both are the same.
        Ok(cell.get_or_init(|| program.executable()))
    }

    fn program_of(&self, kind: Kind) -> Result<Program, Error> {
        match kind {
            Kind::Value => Ok(self.program.clone()),
            Kind::Pullback => self.program.adjoint(1),
            Kind::Pullbacks => self.program.adjoint(LANES),
            Kind::Pushforward => self.program.tangent(1),
            Kind::Pushforwards => self.program.tangent(LANES),
        }
    }

    /// The machine code, unless it is refused: then the portable executor runs the program.
    #[cfg(feature = "native")]
    fn code(&self, kind: Kind) -> Result<Option<&native::Compiled<f64>>, Error> {
        let cell = &self.codes[kind as usize];
        if let Some(made) = cell.get() {
            return Ok(made.as_ref());
        }
        let program = self.program_of(kind)?;
        Ok(cell.get_or_init(|| native::Compiled::new(&program, native::Options::default()).ok()).as_ref())
    }
}

/// A recording with the memory of one thread.
#[derive(Clone, Debug)]
pub(super) struct Held<S> {
    pub(super) recording: Arc<Recording>,
    workspaces: [Option<Box<Workspace<S>>>; KINDS],
    #[cfg(feature = "native")]
    native: native::Workspace<f64>,
}

/// Why a recording did not give the answer.
pub(super) enum Failure {
    /// It is not valid at this point, or it has other sizes.
    Invalid(RunError),
    /// There is no such program.
    Error(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

impl<S: Scalar> Held<S> {
    pub(super) fn new(recording: Arc<Recording>) -> Self {
        Held {
            recording,
            workspaces: Default::default(),
            #[cfg(feature = "native")]
            native: Default::default(),
        }
    }

    /// Runs a program. `inputs` are the point, the parameters, and the seeds; `outputs` the outputs and the products.
    pub(super) fn run(&mut self, kind: Kind, inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Result<(), Failure> {
        #[cfg(feature = "native")]
        if let Some(done) = self.run_natively(kind, inputs, outputs) {
            return done;
        }
        let executable = self.recording.executable(kind)?;
        let workspace = self.workspaces[kind as usize].get_or_insert_with(|| Box::new(executable.workspace()));
        executable.run(workspace, inputs, outputs).map_err(Failure::Invalid)
    }

    /// Runs machine code, if the numbers are doubles and there is such code.
    #[cfg(feature = "native")]
    fn run_natively(&mut self, kind: Kind, inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Option<Result<(), Failure>> {
        let mut plain_inputs: [&[f64]; 2 + LANES] = Default::default();
        let mut plain_outputs: [&mut [f64]; 1 + LANES] = Default::default();
        for (plain, slice) in plain_inputs.iter_mut().zip(inputs) {
            *plain = S::Base::as_doubles(S::as_plain(slice)?)?;
        }
        let count = outputs.len();
        for (plain, slice) in plain_outputs.iter_mut().zip(outputs) {
            *plain = S::Base::as_doubles_mut(S::as_plain_mut(slice)?)?;
        }
        let code = match self.recording.code(kind) {
            Ok(code) => code?,
            Err(error) => return Some(Err(error.into())),
        };
        let run = code.run(&mut self.native, &plain_inputs[..inputs.len()], &mut plain_outputs[..count]);
        Some(run.map_err(Failure::Invalid))
    }
}
