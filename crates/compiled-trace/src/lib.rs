//! Record a numeric function once, compile the recording and its derivatives, replay them at vector speed.
//!
//! ```
//! use compiled_trace::{Limits, compile, record};
//! use differentiation_interface_core::Real;
//!
//! fn rosenbrock<T: Real>(x: &[T]) -> T {
//!     x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
//! }
//! let graph = record(&[0.5; 1000], &[], Limits::default(), |x, _, y| y.push(rosenbrock(x)))?;
//! let gradient = compile(&graph)?.adjoint(1)?;
//! // The loop of the function is a loop again, with its adjoint inside.
//! assert!(gradient.instruction_count() < 60);
//!
//! let gradient = gradient.executable();
//! let mut memory = gradient.workspace();
//! let (mut y, mut grad) = ([0.0], vec![0.0; 1000]);
//! gradient.run(&mut memory, &[&vec![1.0; 1000], &[], &[1.0]], &mut [&mut y, &mut grad]).unwrap();
//! assert_eq!(y, [0.0]);
//! assert!(grad.iter().all(|g| *g == 0.0));
//! # Ok::<(), differentiation_interface_core::error::Error>(())
//! ```
//!
//! # Stages
//! ```text
//! record          the function runs once on recording numbers       -> Graph: 12 bytes per operation
//!                 (`Recorder::record_folding`: the outermost loop is
//!                 folded meanwhile, two iterations and a count)
//! compile         guards (implied ones go), reductions (chains   -> Program: iteration domains with
//!                 of additions), rerolling (loops found again),      straight-line bodies, over memory
//!                 regrouping (iterations that end or branch by
//!                 value, brought together by shape), lowering to
//!                 memory, optimisation
//! adjoint/tangent statement by statement, optimised again           -> Program
//! jacobian_entries before compile: every entry is an output         -> Graph
//! separable_programs  both at once for independent segments         -> Programs
//! executable      registers, uniform parts, vector dimension        -> Executable, run in a Workspace
//! ```
//! [`program`] is the contract for executors. [`Executable`] is the portable one; the module [`native`]
//! makes machine code of a program, or refuses and leaves it to the portable one.
//!
//! # When is a recording valid?
//! At every point where its guards hold. Comparisons, and values that were read into plain code, are recorded with their outcome and checked at every
//! run, except for comparisons with constants that nearer constants imply; [`GuardFailed`] names the line. `select` needs no guard.
//! Inputs and parameters may change without a new recording; all other plain numbers are constants.
//!
//! # Products with zero
//! Products follow floating-point arithmetic: zero times an infinite derivative is NaN. An *absent* derivative is
//! zero whatever it is multiplied with: on the side that `select` does not take, or of an output without a seed. [`Absence`] says whether a program
//! tells the two apart; [`Program::tracking_absent`] gives one that does.

mod compile;
mod derive;
mod execute;
pub mod native;
mod optimize;
mod products;
pub mod program;
mod recording;
mod sorting;
mod wide;

pub use execute::{BLOCK, Executable, RunError, Work, Workspace};
pub use program::{GuardFailed, Program};
pub use recording::absence::Absence;
pub use recording::constants::Place;
pub use recording::custom::{CallObject, RuleFunction};
pub use recording::fingerprint::Fingerprint;
pub use recording::graph::{CONSTANT, Graph, Node, Op, Outcome, RELATIONS, guard_parts, relation};
pub use recording::limits::Limits;
pub use recording::number::{Recorded, RecordedCore};
pub use recording::recorder::{Recorder, record};
pub use recording::rewrite::{GraphWriter, RulePartial};
pub use recording::rules;
pub use recording::template::Template;

use differentiation_interface_core::error::Error;

/// Compiles a recording to a program that computes its outputs.
///
/// Inputs: x, the parameters. Outputs: y.
///
/// # Errors
/// [`ErrorKind::TapeOverflow`](differentiation_interface_core::error::ErrorKind::TapeOverflow) if the program would need more
/// than 2³⁰ cells.
///
/// # Example
/// ```
/// use compiled_trace::{Limits, compile, record};
/// let graph = record(&[1.0; 100], &[], Limits::default(), |x, _, y| y.push(x.iter().map(|v| *v * *v).sum()))?;
/// let program = compile(&graph)?;
/// // The output cleared, one loop.
/// assert_eq!(program.statement_count(), 2);
/// # Ok::<(), differentiation_interface_core::error::Error>(())
/// ```
pub fn compile(graph: &Graph) -> Result<Program, Error> {
    Ok(compile::repeated_constants::kept_once(compile::program(graph)?.optimized()))
}

/// Compiles a recording that is not needed any more, like [`compile`], with less memory at the peak.
///
/// # Errors
/// Those of [`compile`].
///
/// # Example
/// ```
/// use compiled_trace::{Limits, compile, compile_owned, record};
/// let graph = record(&[1.0; 100], &[], Limits::default(), |x, _, y| y.push(x.iter().map(|v| *v * *v).sum()))?;
/// let same = compile(&graph)?;
/// assert_eq!(compile_owned(graph)?.to_string(), same.to_string());
/// # Ok::<(), differentiation_interface_core::error::Error>(())
/// ```
pub fn compile_owned(graph: Graph) -> Result<Program, Error> {
    Ok(compile::repeated_constants::kept_once(compile::program_of(graph)?.optimized()))
}
