//! What the tests of the backends share; each backend's own `tests.rs` calls the test kit for it.
//!
//! Nothing outside of the tests depends on this.

// Machine code concerns the compiled backend alone: with it, the kit runs with that one.
#[cfg(not(feature = "native"))]
mod pairs;

use differentiation_interface_test::families::{Suite, test_backend};
use differentiation_interface_test::{Candidate, CountingAllocator, Scenarios};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The number of scenarios of the suite that are for all backends, and of those for exact ones beside them. It does not fall.
const SCENARIOS: [usize; 2] = [574, 590];

/// Asserts that a backend passes all scenarios and skips none, with allocations counted.
#[track_caller]
pub(crate) fn assert_passes<B: Candidate>(backend: &B)
where
    Suite: Scenarios<B>,
{
    let outcome = test_backend(backend);
    outcome.assert();
    let exact = backend.tolerance(1).is_none();
    for count in outcome.counts() {
        assert_eq!(count.skipped, 0, "{} skipped scenarios", count.backend);
        let expected = SCENARIOS[usize::from(exact)];
        assert!(count.scenarios >= expected, "{} ran {} of {expected}", count.backend, count.scenarios);
    }
}
