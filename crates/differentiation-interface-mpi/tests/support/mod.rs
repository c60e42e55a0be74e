//! Runs a test on all ranks: a failed assertion on one of them ends the job with a code that `mpirun` returns.

use differentiation_interface_mpi::mpi::traits::{Communicator, CommunicatorCollectives};
use differentiation_interface_mpi::{Ranks, mpi};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Runs `test` with the group of all ranks, and with the group of this rank alone.
pub(crate) fn on_ranks(name: &str, test: impl FnOnce(&Ranks, &Ranks)) {
    let universe = mpi::initialize().expect("MPI is not initialised yet");
    let world = universe.world();
    let (ranks, alone) = (Ranks::new(&world), Ranks::new(&mpi::topology::SimpleCommunicator::self_comm()));
    let timeout = Duration::from_secs(60);
    let (ranks, alone) = (ranks.with_timeout(timeout), alone.with_timeout(timeout));
    if catch_unwind(AssertUnwindSafe(|| test(&ranks, &alone))).is_err() {
        eprintln!("{name}: rank {} of {} failed", ranks.rank(), ranks.size());
        world.abort(1);
    }
    // A rank that is to be lost does not come.
    if !name.ends_with("exit") {
        world.barrier();
    }
    if ranks.rank() == 0 {
        println!("{name}: {} rank(s) passed", ranks.size());
    }
}

/// The bits of numbers.
#[allow(dead_code, reason = "not every test compares bits")]
pub(crate) fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}
