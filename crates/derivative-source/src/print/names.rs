//! Names of counters and values.
//!
//! Called by the printer; no name is one of an argument.

use super::signature::Signature;
use std::collections::BTreeSet;

/// The names in use, and how many of each kind.
pub(super) struct Names {
    taken: BTreeSet<String>,
    counters: Vec<String>,
    values: usize,
}

impl Names {
    pub(super) fn new(signature: &Signature) -> Names {
        let mut taken: BTreeSet<String> = signature.inputs.iter().map(|(name, _)| name.clone()).collect();
        taken.extend(signature.outputs.iter().map(|output| output.name.clone()));
        taken.insert("work".to_string());
        let letters = ["i", "j", "k", "l", "m", "n", "p", "q", "r", "s"].map(str::to_string);
        let numbered = (0..64).map(|i| format!("i{i}"));
        let counters = letters.into_iter().chain(numbered).filter(|name| !taken.contains(name)).collect();
        Names { taken, counters, values: 0 }
    }

    /// The counter of a loop at this depth.
    pub(super) fn counter(&self, depth: usize) -> String {
        self.counters[depth].clone()
    }

    /// A name for a value.
    pub(super) fn value(&mut self) -> String {
        loop {
            let name = format!("t{}", self.values);
            self.values += 1;
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }
}
