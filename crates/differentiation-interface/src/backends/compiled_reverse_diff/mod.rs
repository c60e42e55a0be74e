//! Reverse mode by a compiled recording: the function runs once, later calls run its compiled derivative.
//!
//! Reached by operators through the routes below. Runs the user's function on the recording number of `compiled-trace` if no
//! recording is valid at the point, and the programs made from the recording otherwise.

mod backend;
mod buffers;
mod constants;
pub(crate) mod fresh;
mod held;
mod recording;
mod report;
mod requested;
mod routes;
mod staged_seeds;
mod state;
#[cfg(all(test, feature = "any", feature = "sparse"))]
mod tests;

pub use backend::AutoCompiledReverseDiff;
pub(in crate::backends) use recording::{LANES, Measure, Task};
pub use report::CompiledReport;
pub(in crate::backends) use requested::{Order, RequestedEntries};
#[cfg(feature = "any")]
pub(in crate::backends) use routes::constant_of;
pub use routes::{PlainConstant, Replay};
pub use state::CompiledState;
pub(in crate::backends) use state::{ByKept, KeptState, Replaced, Trial};
