//! The generator as a backend of the test kit: scenarios are emitted into one file, which is compiled once and run, in Rust and in C.

mod collect;
mod compile;
mod more;
mod names;

use collect::{Case, Collector};
use compile::Language;
use derivative_source::Source;
use differentiation_interface_test::families::{
    ScenarioOptions, cachified_scenarios, constantified_scenarios, single_precision_scenarios, suite,
};
use differentiation_interface_test::{Driver, Facts, Scenarios, Task};

/// The collector passes no driver on: what it collects is compiled later.
struct NoTask;

impl Task for NoTask {
    fn drive(&mut self, _: &dyn differentiation_interface_test::Candidate, _: &Facts, _: &mut dyn Driver) {
        unreachable!("the collector drives nothing")
    }
    fn skip(&mut self, _: &dyn differentiation_interface_test::Candidate, _: &str, _: &'static str, _: &str) {
        unreachable!("the collector skips nothing")
    }
}

/// Emits, compiles, runs, and compares every scenario with its answer. Returns the number of scenarios.
fn check(scenarios: &impl Scenarios<Collector>, language: Language, name: &str) -> usize {
    let collector = Collector::default();
    scenarios.visit(&collector, &mut NoTask);
    let (source, cases): (Source, Vec<Case>) = collector.finish();
    let found = compile::run(&source, &cases, language, name);
    let wrong: Vec<String> = cases.iter().zip(&found).filter_map(|(case, found)| case.wrong(found)).collect();
    assert!(wrong.is_empty(), "{} of {} scenarios are wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert_eq!(found.len(), cases.len());
    cases.len()
}

#[test]
fn scenarios_of_the_kit_pass_through_rust() {
    let count = check(&suite(true, &[5]), Language::Rust, "suite");
    assert!(count >= 200, "{count} scenarios");
}

#[test]
fn scenarios_of_the_kit_pass_through_c() {
    let count = check(&suite(true, &[5]), Language::C, "suite");
    assert!(count >= 200, "{count} scenarios");
}

#[test]
fn scenarios_with_contexts_pass_through_both() {
    for language in [Language::Rust, Language::C] {
        check(&constantified_scenarios(ScenarioOptions::default()), language, "constants");
        check(&cachified_scenarios(ScenarioOptions::default()), language, "caches");
    }
}

#[test]
fn scenarios_in_single_precision_pass_through_both() {
    for language in [Language::Rust, Language::C] {
        check(&single_precision_scenarios(ScenarioOptions::default()), language, "single");
    }
}
