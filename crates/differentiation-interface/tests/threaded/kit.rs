//! The test kit around each engine with one, two and three threads.

use crate::{divided, pool};
use differentiation_interface::prelude::*;
use differentiation_interface_test::families::{
    ScenarioOptions, cachified_scenarios, constant_container_scenarios, constant_or_cachified_scenarios,
    constantified_scenarios, container_scenarios, default_scenarios, parametrised_scenarios, sparse_scenarios, suite,
    tuple_cachified_scenarios,
};
use differentiation_interface_test::{
    AllOperators, Candidate, Check, Options, Scenarios, all_operators, matrices_only, named, test_differentiation,
};

/// All checks but the number of evaluations, which is counted on one thread.
fn options() -> Options {
    Options::default().without(Check::Calls)
}

/// Runs the whole suite in a pool, so that calls begin on a thread whose queue allocates nothing.
fn passes<B: Candidate + Send + Sync>(candidates: &[B])
where
    differentiation_interface_test::families::Suite: Scenarios<B>,
{
    pool(3).install(|| {
        let exact = candidates.iter().all(|candidate| candidate.tolerance(1).is_none());
        let outcome = test_differentiation(candidates, &suite(exact, &[5]), &options());
        outcome.assert();
        for count in outcome.counts() {
            assert_eq!(count.skipped, 0, "{}", count.backend);
            assert!(count.scenarios >= 598, "{} ran {}", count.backend, count.scenarios);
            // Without those of the number of evaluations.
            assert!(count.checks >= 24_000, "{} made {} checks", count.backend, count.checks);
        }
    });
}

/// An engine chosen at run time, so that one compilation of the kit serves all.
fn engines(text: &str, inexact: bool) -> Vec<AllOperators<AutoThreaded<AnyBackend>>> {
    let backend: AnyBackend = text.parse().unwrap();
    [1, 2, 3]
        .map(|threads| {
            let candidate = all_operators(format!("{text} on {threads}"), divided(backend, threads));
            if inexact { candidate.inexact() } else { candidate }
        })
        .into()
}

#[test]
fn all_scenarios_hold_in_forward_mode() {
    passes(&engines("AutoForwardDiff", false));
}
#[test]
fn all_scenarios_hold_on_tapes() {
    passes(&engines("AutoReverseDiff", false));
}
#[test]
fn all_scenarios_hold_by_recordings() {
    passes(&engines("AutoReverseDiff(compile=true)", false));
}
#[test]
fn all_scenarios_hold_by_differences() {
    passes(&engines("AutoFiniteDiff", true));
}

#[test]
fn scenarios_hold_with_one_seed_per_pass() {
    pool(3).install(|| {
        let chunked =
            |threads| all_operators("forward in chunks", divided(AutoForwardDiff::with_chunk::<1>(), threads));
        let backends = [chunked(2), chunked(3)];
        let outcome = test_differentiation(&backends[..], &default_scenarios(ScenarioOptions::all()), &options());
        outcome.assert();
        assert!(outcome.counts()[0].scenarios > 200);
        let (backends, of) = (&backends[..], ScenarioOptions::default());
        for outcome in [
            test_differentiation(backends, &constantified_scenarios(of), &options()),
            test_differentiation(backends, &cachified_scenarios(of), &options()),
            test_differentiation(backends, &tuple_cachified_scenarios(of), &options()),
            test_differentiation(backends, &constant_or_cachified_scenarios(of), &options()),
            test_differentiation(backends, &parametrised_scenarios(of), &options()),
        ] {
            outcome.assert();
            assert_eq!(outcome.counts()[0].skipped, 0);
        }
    });
}

/// Several arguments, a mask, contexts and maps among them.
#[test]
fn scenarios_at_containers_hold() {
    pool(3).install(|| {
        let each = [
            ("AutoForwardDiff", false),
            ("AutoReverseDiff(recording_from=1)", false),
            ("AutoReverseDiff(compile=true)", false),
            ("AutoFiniteDiff(scheme=central)", true),
        ];
        let engines: Vec<_> = each.into_iter().flat_map(|(text, inexact)| engines(text, inexact)).collect();
        // An engine that records runs the function once more when constants have changed.
        let with_constants = options().without(Check::Allocations);
        for (outcome, scenarios) in [
            (test_differentiation(&engines[..], &container_scenarios(), &options()), 130),
            (test_differentiation(&engines[..], &constant_container_scenarios(), &with_constants), 52),
        ] {
            outcome.assert();
            for count in outcome.counts() {
                assert_eq!((count.scenarios, count.skipped), (scenarios, 0), "{}", count.backend);
            }
        }
    });
}

#[test]
fn sparse_scenarios_hold() {
    pool(3).install(|| {
        let forward = |threads| divided(AutoSparse::new(AutoForwardDiff::default()), threads);
        let (two, three) = (matrices_only("on 2", forward(2)), matrices_only("on 3", forward(3)));
        let tapes = matrices_only("rows on 2", divided(AutoSparse::new(AutoReverseDiff::default()), 2));
        let differences = named(
            "differences",
            matrices_only("d", divided(AutoSparse::new(AutoFiniteDiff::central()), 3)).tolerance(2e-2),
        );
        let sparse = (two, three, tapes, differences);
        test_differentiation(&sparse, &sparse_scenarios(&[5, 10]), &options()).assert();
    });
}
