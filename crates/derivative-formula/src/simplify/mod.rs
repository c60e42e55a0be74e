//! Simplification of forms by equality saturation: an e-graph holds all forms that the rules reach, the cheapest is extracted.
//!
//! Called for formulas to be read and for derivatives that are run. The number of nodes and of rounds is bounded, so that the result
//! does not depend on the speed of the machine; the time is bounded too, for machines that are slower than any it was tested on.
//!
//! Source: M. Willsey et al., *egg: Fast and extensible equality saturation*, POPL 2021.

mod check;
mod cost;
mod language;
mod rules;
mod translate;

pub(crate) use check::agree;

use crate::form::{Aim, Form};
use cost::Cost;
use egg::{Extractor, Runner};
use language::{Facts, Math};
use std::time::Duration;

/// The bounds of a simplification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) rounds: usize,
    pub(crate) nodes: usize,
    pub(crate) time: Duration,
}

/// The cheapest form that the rules reach from this one.
pub(crate) fn simplified(form: &Form, aim: Aim, bounds: Bounds) -> Form {
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
