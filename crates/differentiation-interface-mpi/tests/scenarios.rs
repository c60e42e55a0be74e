//! The test kit over all ranks: dense and sparse matrices by each direction, pairs, in the scenarios with answers worked out by hand.

mod support;

use differentiation_interface::prelude::*;
use differentiation_interface_mpi::Distributed;
use differentiation_interface_test::families::{ScenarioOptions, default_scenarios, empty_scenarios, sparse_scenarios};
use differentiation_interface_test::{
    Check, CountingAllocator, Options, Outcome, hessian_only, jacobian_only, matrices_only, test_differentiation,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() {
    support::on_ranks("scenarios", |ranks, _| {
        let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::default());
        // A group belongs to its thread.
        let options = Options::default().without(Check::OtherThread);
        let passes = |outcome: Outcome, least: usize| {
            outcome.assert();
            for count in outcome.counts() {
                assert!(count.scenarios >= least, "{} ran {} scenarios of {least}", count.backend, count.scenarios);
            }
        };
        let dense = (
            matrices_only("distributed(forward_diff)", Distributed::new(ranks, forward)),
            matrices_only("distributed(reverse_diff)", Distributed::new(ranks, reverse)),
            matrices_only(
                "distributed(sparse(forward_diff))",
                Distributed::over(ranks, AutoSparse::new(ranks.part(forward))),
            ),
        );
        passes(test_differentiation(&dense, &default_scenarios(ScenarioOptions::all()), &options), 52);
        passes(test_differentiation(&dense, &empty_scenarios(), &options), 1);

        let mixed = MixedMode(ranks.part(forward), ranks.part(reverse));
        let pair = SecondOrder(ranks.part(forward), ranks.part(reverse));
        let sparse = (
            matrices_only(
                "distributed(sparse(forward_diff))",
                Distributed::over(ranks, AutoSparse::new(ranks.part(forward))),
            ),
            matrices_only(
                "distributed(sparse(reverse_diff))",
                Distributed::over(ranks, AutoSparse::new(ranks.part(reverse))),
            ),
            matrices_only(
                "distributed(sparse(compiled))",
                Distributed::over(ranks, AutoSparse::new(ranks.part(AutoReverseDiff::compiled()))),
            ),
            jacobian_only("distributed(sparse(mixed))", Distributed::over(ranks, AutoSparse::new(mixed))),
            hessian_only("distributed(sparse(second_order))", Distributed::over(ranks, AutoSparse::new(pair))),
            hessian_only("distributed(second_order)", Distributed::over(ranks, pair)),
            matrices_only("distributed(finite_diff)", Distributed::new(ranks, AutoFiniteDiff::central()))
                .tolerance(2e-2),
        );
        passes(test_differentiation(&sparse, &sparse_scenarios(&[5]), &options), 4);
    });
}
