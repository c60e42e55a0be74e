//! Accumulations to neighbouring cells: terms of later iterations are carried in registers.
//!
//! Called by `row` and `emit` for the accumulations that `plan` put into a [`Window`](super::plan::Window).

use super::code::Value;
use super::emit::{Emitter, Loops, Position};
use super::signed::Signed;

impl Emitter<'_, '_> {
    /// Nothing is carried into a row.
    pub(super) fn begin_windows(&mut self, loops: &mut Loops, wide: bool) {
        for (kind, lanes) in [(0, if wide { loops.plan.lanes as u8 } else { 1 }), (1, 1)] {
            loops.carried[kind].clear();
            for w in 0..loops.plan.windows.len() {
                let zero = self.code.constant(0.0, lanes);
                let variables = (0..loops.plan.windows[w].reach).map(|_| self.code.variable(zero)).collect();
                loops.carried[kind].push(variables);
            }
        }
    }

    /// Takes a term; after the last one of an iteration, stores the complete cells.
    pub(super) fn add_to_window(
        &mut self,
        loops: &mut Loops,
        w: usize,
        instruction: usize,
        term: Signed,
        at: Position,
    ) {
        let window = &loops.plan.windows[w];
        let (address, fresh) = (window.address, window.fresh);
        let ahead = window.members.iter().find(|member| member.0 == instruction).map_or(0, |member| member.1) as usize;
        let is_last = window.members.last().is_some_and(|member| member.0 == instruction);
        loops.terms[w][ahead] = Some(match loops.terms[w][ahead] {
            Some(sum) => self.sum(sum, term).into(),
            None => term,
        });
        if !is_last {
            return;
        }
        let terms: Vec<Option<Signed>> = loops.terms[w].iter_mut().map(Option::take).collect();
        let mut complete = terms[0];
        if at.wide {
            for (ahead, term) in terms.iter().enumerate().skip(1) {
                let variable = loops.carried[0][w][ahead - 1];
                let before = self.code.get(variable);
                let now = match term {
                    Some(term) => self.plain(*term),
                    None => self.code.constant(0.0, loops.plan.lanes as u8),
                };
                self.code.set(variable, now);
                let arriving = self.code.later(before, now, ahead as u8).into();
                complete = Some(match complete {
                    Some(sum) => self.sum(sum, arriving).into(),
                    None => arriving,
                });
            }
        }
        if !at.wide && terms.len() > 1 {
            let before: Vec<Value> = loops.carried[1][w].iter().map(|variable| self.code.get(*variable)).collect();
            complete = Some(match complete {
                Some(sum) => self.sum(sum, before[0].into()).into(),
                None => before[0].into(),
            });
            for (ahead, term) in terms.iter().enumerate().skip(1) {
                let earlier = before.get(ahead).copied();
                let sum = match (term, earlier) {
                    (Some(term), Some(earlier)) => self.sum(*term, earlier.into()),
                    (Some(term), None) => self.plain(*term),
                    (None, Some(earlier)) => earlier,
                    (None, None) => self.code.constant(0.0, 1),
                };
                self.code.set(loops.carried[1][w][ahead - 1], sum);
            }
        }
        let Some(complete) = complete else { return };
        if fresh {
            let complete = self.plain(complete);
            self.store_cell(loops, address, at, complete, None);
        } else {
            self.store_cell(loops, address, at, complete.value, Some(complete.negated));
        }
    }

    /// Converts vectors of terms to one sum for each coming cell.
    pub(super) fn split_carried(&mut self, loops: &mut Loops) {
        let lanes = loops.plan.lanes as usize;
        for w in 0..loops.plan.windows.len() {
            let vectors: Vec<Value> = loops.carried[0][w].iter().map(|variable| self.code.get(*variable)).collect();
            for cell in 0..vectors.len() {
                let mut sum = None;
                for ahead in cell + 1..=vectors.len() {
                    let term = self.code.lane(vectors[ahead - 1], (lanes - ahead + cell) as u8);
                    sum = Some(match sum {
                        Some(sum) => self.code.add(sum, term),
                        None => term,
                    });
                }
                if let Some(sum) = sum {
                    self.code.set(loops.carried[1][w][cell], sum);
                }
            }
        }
    }

    /// Adds what is carried out of a row to the cells behind it.
    pub(super) fn finish_windows(&mut self, loops: &mut Loops, trip: i64) {
        for w in 0..loops.plan.windows.len() {
            let (address, fresh) = (loops.plan.windows[w].address, loops.plan.windows[w].fresh);
            for cell in 0..loops.plan.windows[w].reach as usize {
                let sum = self.code.get(loops.carried[1][w][cell]);
                let at = Position { offset: trip + cell as i64, wide: false };
                self.store_cell(loops, address, at, sum, (!fresh).then_some(false));
            }
        }
    }
}
