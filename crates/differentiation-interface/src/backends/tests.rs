//! Shared by the tests of the backends; each backend's `tests.rs` calls the test kit for it.
//!
//! Nothing outside of the tests depends on this.

// Only the compiled backend uses machine code: with the feature, the kit runs with that backend only.
#[cfg(not(feature = "native"))]
mod pairs;

use differentiation_interface_test::families::{Suite, test_backend};
use differentiation_interface_test::{Candidate, CountingAllocator, Scenarios};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The number of scenarios of the suite that are for all backends, and with those for exact ones. It does not decrease.
const SCENARIOS: [usize; 2] = [598, 614];
/// The least number of checks in them: 30,577 and 31,448 when this was written.
const CHECKS: [usize; 2] = [30_000, 31_000];

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
        let least = CHECKS[usize::from(exact)];
        assert!(count.checks >= least, "{} made {} of {least} checks", count.backend, count.checks);
    }
}
