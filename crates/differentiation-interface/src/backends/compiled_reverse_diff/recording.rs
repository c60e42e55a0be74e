//! One recording of a function, compiled: the programs for its value, its pullbacks and its pushforwards.
//!
//! Immutable and shared by all copies of a preparation, on all threads; made when a program is first asked for.

use compiled_trace::{Executable, Graph, Program, RunError, Workspace, compile};
use differentiation_interface_core::error::Error;
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
        let program = match kind {
            Kind::Value => self.program.clone(),
            Kind::Pullback => self.program.adjoint(1)?,
            Kind::Pullbacks => self.program.adjoint(LANES)?,
            Kind::Pushforward => self.program.tangent(1)?,
            Kind::Pushforwards => self.program.tangent(LANES)?,
        };
        // Another thread may have made it meanwhile; both are the same.
        Ok(cell.get_or_init(|| program.executable()))
    }
}

/// A recording with the memory of one thread.
#[derive(Clone, Debug)]
pub(super) struct Held<S> {
    pub(super) recording: Arc<Recording>,
    workspaces: [Option<Box<Workspace<S>>>; KINDS],
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
        Held { recording, workspaces: Default::default() }
    }

    /// Runs a program. `inputs` are the point, the parameters, and the seeds; `outputs` the outputs and the products.
    pub(super) fn run(&mut self, kind: Kind, inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Result<(), Failure> {
        let executable = self.recording.executable(kind)?;
        let workspace = self.workspaces[kind as usize].get_or_insert_with(|| Box::new(executable.workspace()));
        executable.run(workspace, inputs, outputs).map_err(Failure::Invalid)
    }
}
