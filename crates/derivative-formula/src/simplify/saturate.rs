//! Runs the rules on a form and extracts the cheapest form.
//!
//! Called for formulas and for entries of derivative matrices.

use super::cost::{self, Cost};
use super::language::{Facts, Math};
use super::{rules, translate};
use crate::form::{Aim, Form};
use egg::{Extractor, Runner};
use std::time::Duration;

/// The bounds of a simplification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) rounds: usize,
    pub(crate) nodes: usize,
    pub(crate) time: Duration,
}

/// The cheapest form that the rules reach from this one.
pub(crate) fn saturated(form: &Form, aim: Aim, bounds: Bounds) -> Form {
    let mut best = form.clone();
    // Collecting terms of the result may let the rules reach further.
    for _ in 0..4 {
        let expression = translate::to_math(&best);
        let runner: Runner<Math, Facts> = Runner::default()
            .with_expr(&expression)
            .with_iter_limit(bounds.rounds)
            .with_node_limit(bounds.nodes)
            .with_time_limit(bounds.time)
            .run(rules::rules(aim));
        let extractor = Extractor::new(&runner.egraph, Cost(aim));
        let (_, found) = extractor.find_best(runner.roots[0]);
        let found = translate::to_form(&found, aim);
        if cost::of(&found, aim) >= cost::of(&best, aim) {
            break;
        }
        best = found;
    }
    best
}
