//! Record once, compile, replay.
mod build;
mod custom;
mod derive;
mod execute;
mod graph;
mod lower;
#[cfg(feature = "native")]
pub mod native;
mod optimize;
mod print;
pub mod program;
mod recorder;
mod roll;
pub mod rule;
mod sums;
mod template;

pub use custom::{CallObject, Half};
pub use execute::{BLOCK, Executable, RunError, Workspace};
pub use graph::{CONSTANT, Graph, Node, Op, Outcome, RELATIONS, guard_parts, relation};
pub use program::{GuardFailed, Program};
pub use recorder::{Limits, Recorded, RecordedCore, record};

use differentiation_interface_core::error::Error;

/// Compiles.
pub fn compile(graph: &Graph) -> Result<Program, Error> {
    let sequence = sums::sequence(graph);
    let rolled = roll::roll(&sequence);
    Ok(lower::lower(graph, &sequence, &rolled)?.optimized())
}
