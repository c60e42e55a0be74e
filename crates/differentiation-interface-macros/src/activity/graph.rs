//! Decides which occurrences of `f64` become the number type: a graph of flows, and its least solution.
//!
//! Filled by the inference, solved once, read by `rewrite`.

use proc_macro2::Span;

/// One occurrence of `f64`, in a type or as the type of an expression: active (`T`) or plain (`f64`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Act(usize);

#[derive(Default)]
struct Node {
    /// Target, a second source that must be active too, and where it happens.
    flows_to: Vec<(Act, Option<Act>, Span)>,
    active: bool,
    /// The reason why it must stay plain, as the continuation of a message.
    pinned: Option<String>,
    /// Certainly a floating-point number, not just a value computed from one.
    is_float: bool,
    /// Made by the code itself out of literals, so that it may become active as a whole.
    is_made: bool,
}

/// All occurrences and the flows between them.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
}

impl Graph {
    pub(super) fn fresh(&mut self) -> Act {
        self.nodes.push(Node::default());
        Act(self.nodes.len() - 1)
    }

    /// An active number: an argument.
    pub(super) fn active(&mut self) -> Act {
        let act = self.fresh();
        self.activate(act);
        act
    }

    pub(super) fn activate(&mut self, act: Act) {
        self.nodes[act.0].active = true;
    }

    /// A plain number that cannot become active.
    pub(super) fn pinned(&mut self, why: &str) -> Act {
        let act = self.fresh();
        self.nodes[act.0].pinned = Some(why.to_string());
        act
    }

    /// If `from` is active, so is `to`.
    pub(super) fn flow(&mut self, from: Act, to: Act, span: Span) {
        if from != to {
            self.nodes[from.0].flows_to.push((to, None, span));
        }
    }

    /// If both `a` and `b` are active, so is `to`.
    pub(super) fn both(&mut self, a: Act, b: Act, to: Act, span: Span) {
        self.nodes[a.0].flows_to.push((to, Some(b), span));
        self.nodes[b.0].flows_to.push((to, Some(a), span));
    }

    /// Both are of one type.
    pub(super) fn same(&mut self, a: Act, b: Act, span: Span) {
        self.flow(a, b, span);
        self.flow(b, a, span);
    }

    /// Why the number cannot become active, if it cannot.
    pub(super) fn reason(&self, act: Act) -> Option<&str> {
        self.nodes[act.0].pinned.as_deref()
    }

    /// Notes that the value is made by the code itself out of literals.
    pub(super) fn set_made(&mut self, act: Act) {
        self.nodes[act.0].is_made = true;
    }

    pub(super) fn is_made(&self, act: Act) -> bool {
        self.nodes[act.0].is_made
    }

    pub(super) fn set_float(&mut self, act: Act) {
        self.nodes[act.0].is_float = true;
    }

    /// Propagates activity, and reports where it reaches an occurrence that must stay plain.
    pub(super) fn solve(&mut self) -> Vec<(Span, String)> {
        let mut conflicts = Vec::new();
        let mut reported = Vec::new();
        let mut todo: Vec<usize> = (0..self.nodes.len()).filter(|&i| self.nodes[i].active).collect();
        while let Some(i) = todo.pop() {
            for (to, second, span) in self.nodes[i].flows_to.clone() {
                if second.is_some_and(|second| !self.nodes[second.0].active) {
                    continue;
                }
                let target = &mut self.nodes[to.0];
                if target.active {
                    continue;
                }
                if let Some(why) = &target.pinned {
                    if !reported.contains(&to) {
                        reported.push(to);
                        conflicts.push((span, why.clone()));
                    }
                    continue;
                }
                target.active = true;
                todo.push(to.0);
            }
        }
        conflicts
    }

    pub(super) fn is_active(&self, act: Act) -> bool {
        self.nodes[act.0].active
    }

    pub(super) fn is_float(&self, act: Act) -> bool {
        self.nodes[act.0].is_float
    }
}
