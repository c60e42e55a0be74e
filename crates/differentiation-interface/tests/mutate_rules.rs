//! Breaks every rule of the rule table, one part at a time, and asserts that the built-in scenarios find it.
//!
//! Compiled to nothing unless the rules can be broken: run `.ci/mutate_rules`.
#![cfg(mutate_rules)]

use differentiation_interface::prelude::*;
use differentiation_interface::rules::mutation::{Part, Way, break_rule, mend_rules};
use differentiation_interface::rules::{Binary, RuleVisitor, Unary, each_binary, each_unary};
use differentiation_interface_test::families::*;
use differentiation_interface_test::*;

/// One way to break one part of one rule.
#[derive(Debug)]
struct Mutant {
    rule: String,
    name: &'static str,
    parameter: Option<u64>,
    part: Part,
    way: Way,
}

#[derive(Default)]
struct Mutants(Vec<Mutant>);

impl Mutants {
    fn add(&mut self, rule: String, name: &'static str, parameter: Option<u64>, parts: &[Part]) {
        for &part in parts {
            let ways = if part == Part::Value { &[Way::Off][..] } else { &[Way::Off, Way::Zero, Way::Negated] };
            self.0.extend(ways.iter().map(|&way| Mutant { rule: rule.clone(), name, parameter, part, way }));
        }
    }
}

impl RuleVisitor for Mutants {
    fn unary<R: Unary>(&mut self, rule: R) {
        self.add(format!("{rule:?}"), R::NAME, rule.parameter(), &[Part::Value, Part::First]);
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        self.add(format!("{rule:?}"), R::NAME, rule.parameter(), &[Part::Value, Part::First, Part::Second]);
    }
}

/// Whether the scenarios of the rules find something, and with which entry.
fn finding() -> Option<String> {
    let backends = (AutoForwardDiff::default(), AutoReverseDiff::default());
    let outcome = test_differentiation(&backends, &rule_scenarios(), &Options::default());
    outcome.findings().first().map(ToString::to_string)
}

#[test]
fn every_broken_rule_is_found() {
    assert_eq!(finding(), None, "the rules are whole");
    let mut mutants = Mutants::default();
    each_unary(&mut mutants);
    each_binary(&mut mutants);
    let (mut found, mut equivalent, mut survivors) = (0, Vec::new(), Vec::new());
    for mutant in &mutants.0 {
        break_rule(mutant.name, mutant.parameter, mutant.part, mutant.way);
        let finding = finding();
        let made_a_difference = mend_rules();
        match finding {
            Some(_) => found += 1,
            // The sign of a derivative that is zero, and no other part that is never used.
            None if !made_a_difference && mutant.way != Way::Off => equivalent.push(mutant),
            None => survivors.push(mutant),
        }
    }
    println!(
        "{} mutants: {found} found, {} without a difference, {} survivors",
        mutants.0.len(),
        equivalent.len(),
        survivors.len()
    );
    for mutant in &equivalent {
        println!("without a difference: {} {:?} {:?}", mutant.rule, mutant.part, mutant.way);
    }
    assert!(survivors.is_empty(), "{survivors:#?}");
}
