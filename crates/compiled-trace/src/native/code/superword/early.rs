//! The calls of straight code that are made before everything else, and those that are made at once.
//!
//! Called by the parent module; carried out by `rewrite`.

use super::super::*;
use crate::native::functions;
use crate::sorting;

/// Calls that are made early.
pub(super) struct Early {
    /// Their lines in the order in which they are made.
    pub(super) calls: Vec<usize>,
    /// Lines of own functions of angles that do not depend on each other, two to four in a group.
    pub(super) groups: Vec<Vec<usize>>,
}

/// Angles for which there is an own function.
const MOST: usize = 4;

impl Early {
    /// The calls of the straight code from a line on: before everything else, when fewer values
    /// have to be saved, those first whose arguments depend on fewer calls, and of these sines and cosines first: the C library
    /// begins them by reading the rounding mode, where profiles show a third of their time if there is arithmetic under way.
    pub(super) fn of(function: &Function, start: usize) -> Early {
        let (mut calls, mut angles) = (Vec::new(), Vec::new());
        if function.calls.len() < 2 {
            return Early { calls: Vec::new(), groups: Vec::new() };
        }
        // Per value, how many calls one after the other it depends on; how many own ones of angles.
        let mut depth = vec![[0u32; 2]; function.kinds.len()];
        for (i, Line { operation, result }) in function.lines.iter().enumerate().skip(start) {
            let Some(result) = result else { continue };
            let mut deepest = [0; 2];
            function.operands(operation, |value| {
                if value.pool().is_none() {
                    let [of_all, of_angles] = depth[value.index()];
                    deepest = [of_all.max(deepest[0]), of_angles.max(deepest[1])];
                }
            });
            if let Operation::Call(call) = operation {
                let Call { rule, rules, own, lanes, count, .. } = function.calls[*call as usize];
                // Rules of one and of two arguments are numbered apart.
                let is_of_angle = count == 1 && functions::is_of_angle(rule);
                // Rules of users are called in the order of the program.
                if rules.is_none() {
                    calls.push((deepest[0], !is_of_angle, i));
                }
                if own && lanes == 1 && is_of_angle {
                    angles.push((deepest[1], i));
                    deepest[1] += 1;
                }
                deepest[0] += 1;
            }
            depth[result.index()] = deepest;
        }
        sorting::sort(&mut calls);
        sorting::sort(&mut angles);
        let mut groups = Vec::new();
        for alike in angles.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            let size = alike.len().div_ceil(alike.len().div_ceil(MOST));
            groups.extend(alike.chunks(size).map(|group| group.iter().map(|(_, line)| *line).collect()));
        }
        Early { calls: calls.into_iter().map(|(.., i)| i).collect(), groups }
    }
}
