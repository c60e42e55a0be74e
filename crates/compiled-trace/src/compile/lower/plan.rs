//! Forms the groups of operations that run together, and the loops of statements around them.
//!
//! Called first by `lower`. Short inner loops are unrolled, so that a body has enough work per iteration.

use super::fit::has_second;
use super::lowering::{Group, Lowering};
use crate::compile::reroll::Token;
use crate::recording::graph::{CONSTANT, Op, REDUCTION};

/// Inner loops of at most this many operations are unrolled inside the loop around them.
const UNROLLED: u32 = 256;
const UNROLLED_TRIP: u32 = 40;
/// The same limit inside a loop with dependences between iterations, where the inner loop may be the only one to vectorise.
const UNROLLED_CARRIED: u32 = 64;
const UNROLLED_CARRIED_TRIP: u32 = 7;

/// The planned statements.
pub(super) enum Plan {
    Group(usize),
    Call(u32),
    Loop { identity: usize, trip: u32, body: Vec<Plan> },
}

/// The loops around the tokens that are planned.
pub(super) struct Enclosing<'a> {
    pub(super) counters: &'a [(u32, u32)],
    pub(super) enclosing: &'a [usize],
    /// How many of the counters are loops of statements.
    pub(super) loops: usize,
    /// Whether values pass between iterations of the innermost loop; `None` outside of loops.
    pub(super) carried: Option<bool>,
}

impl Lowering<'_> {
    fn nodes_of(&self, token: &Token) -> u32 {
        self.rolled.shapes[token.shape as usize].nodes
    }

    /// Whether a loop is unrolled inside the loop around it, if there is one; `around` says whether values pass between that one's iterations.
    fn is_unrolled(&self, token: &Token, around: Option<bool>) -> bool {
        let (nodes, trips) = match around {
            Some(false) => (UNROLLED, UNROLLED_TRIP),
            Some(true) => (UNROLLED_CARRIED, UNROLLED_CARRIED_TRIP),
            None => (0, 0),
        };
        match &self.rolled.shapes[token.shape as usize].repeat {
            Some((trip, _)) => self.nodes_of(token) <= nodes && *trip <= trips,
            None => true,
        }
    }

    /// Plans the statements for tokens whose positions are relative to `base`, in groups that begin at `origin`.
    pub(super) fn plan(&mut self, tokens: &[Token], base: u32, origin: u32, around: Enclosing<'_>) -> Vec<Plan> {
        let Enclosing { counters, enclosing, loops, carried: around } = around;
        let mut plans = Vec::new();
        let mut offsets = Vec::new();
        let flush = |this: &mut Self, plans: &mut Vec<Plan>, offsets: &mut Vec<u32>| {
            if !offsets.is_empty() {
                plans.push(Plan::Group(this.groups.len()));
                this.groups.push(Group {
                    start: origin,
                    counters: counters.to_vec(),
                    loops,
                    enclosing: enclosing.to_vec(),
                    offsets: std::mem::take(offsets),
                    slots: Vec::new(),
                    affine: Vec::new(),
                });
            }
        };
        for token in tokens {
            let start = base + token.start;
            if self.is_unrolled(token, around) {
                for node in start..start + self.nodes_of(token) {
                    match self.sequence.nodes[node as usize].op {
                        Op::Call => {
                            flush(self, &mut plans, &mut offsets);
                            plans.push(Plan::Call(node));
                        }
                        Op::CallOutput => {}
                        _ => offsets.push(node - origin),
                    }
                }
                continue;
            }
            flush(self, &mut plans, &mut offsets);
            let (trip, body) =
                self.rolled.shapes[token.shape as usize].repeat.clone().expect("only loops have counters");
            let length = self.nodes_of(token) / trip;
            let mut inner = counters.to_vec();
            inner.push((trip, length));
            let carried = Some(self.is_carried(start, length, trip));
            let is_loop = self.stays_loop(token.shape, start);
            if is_loop && loops == counters.len() {
                let identity = self.loops;
                self.loops += 1;
                let mut enclosing = enclosing.to_vec();
                enclosing.push(identity);
                let body = self.plan(
                    &body,
                    start,
                    start,
                    Enclosing { counters: &inner, enclosing: &enclosing, loops: loops + 1, carried },
                );
                plans.push(Plan::Loop { identity, trip, body });
            } else {
                plans.extend(self.plan(&body, start, start, Enclosing { counters: &inner, enclosing, loops, carried }));
            }
        }
        flush(self, &mut plans, &mut offsets);
        plans
    }

    /// Whether a loop, or one inside it, has inner statements and values that pass from iteration to iteration.
    fn stays_loop(&self, shape: u32, start: u32) -> bool {
        let (trip, body) = self.rolled.shapes[shape as usize].repeat.as_ref().expect("the caller passes loops only");
        let carried = self.is_carried(start, self.rolled.shapes[shape as usize].nodes / trip, *trip);
        let mut inner = body.iter().filter(|token| !self.is_unrolled(token, Some(carried))).peekable();
        inner.peek().is_some() && (carried || inner.any(|token| self.stays_loop(token.shape, start + token.start)))
    }

    /// Whether an iteration uses a result of an earlier one.
    fn is_carried(&self, start: u32, length: u32, trip: u32) -> bool {
        let first = self.sequence.first as u32;
        for t in 1..trip {
            let own = start..start + t * length;
            for i in start + t * length..start + (t + 1) * length {
                let node = &self.sequence.nodes[i as usize];
                let uses = |operand: u32| {
                    if operand & CONSTANT != 0 {
                        false
                    } else if operand & REDUCTION != 0 {
                        // The last term may be of this iteration and others of earlier ones.
                        let reduction = &self.sequence.reductions[(operand & !REDUCTION) as usize];
                        reduction.first < own.end && reduction.last >= own.start
                    } else {
                        operand >= first && own.contains(&(operand - first))
                    }
                };
                let second = has_second(node.op);
                if uses(node.a) || (second && uses(node.b)) {
                    return true;
                }
            }
        }
        false
    }
}
