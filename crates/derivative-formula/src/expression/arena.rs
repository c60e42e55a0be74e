//! Operations, each stored once.
//!
//! Filled by `read` and `derive`.

use compiled_trace::rules::{MINUS, NEGATE, OtherUnary, PLUS, Rules, TIMES};
use compiled_trace::{Op, RulePartial};
use differentiation_interface_core::error::{Error, ErrorKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The number of an expression. Operands have smaller numbers than results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(u32);

impl Id {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operation and its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// A number, by its bits.
    Number(u64),
    /// An input of the recording.
    Input(u32),
    /// A parameter of the recording.
    Parameter(u32),
    /// A rule of one argument, by its number in the rules of the expressions.
    Unary(u16, Id),
    /// A rule of two arguments.
    Binary(u16, [Id; 2]),
    /// If the first operand is in the relation to the second, the third, else the fourth. The relation is that of
    /// [`compiled_trace::relation`].
    Choice(u8, [Id; 4]),
}

impl Node {
    /// Its operands.
    pub(crate) fn operands(&self) -> &[Id] {
        match self {
            Node::Number(_) | Node::Input(_) | Node::Parameter(_) => &[],
            Node::Unary(_, a) => std::slice::from_ref(a),
            Node::Binary(_, operands) => operands,
            Node::Choice(_, operands) => operands,
        }
    }
}

/// What a recording checks: the number of the guard and the numbers that it compares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub(crate) guard: u16,
    pub(crate) operands: [Id; 2],
}

/// Expressions that share their parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expressions {
    nodes: Vec<Node>,
    known: FxHashMap<Node, Id>,
    /// Whether each node is a choice, one side of which is zero or such a choice.
    choose_zero: Vec<bool>,
    /// Products and sums of derivatives that are such choices.
    pub(super) products: FxHashMap<(Id, Id, bool), Id>,
    pub(super) sums: FxHashMap<[Id; 2], Id>,
    pub(super) rules: Rules,
    pub(super) partials: FxHashMap<Op, Arc<[RulePartial]>>,
    /// The largest number of nodes.
    most: usize,
}

/// What to do about expressions that grow too large.
const TOO_LARGE: ErrorKind = ErrorKind::Refused {
    what: "the formulas of the function take more operations than the limit",
    instead: "raise it with `with_most_operations`, or use `AutoReverseDiff::compiled()`",
};

impl Expressions {
    /// No expressions; more than `most` are an error.
    pub(crate) fn new(rules: Rules, most: usize) -> Expressions {
        Expressions { rules, most, ..Expressions::default() }
    }

    pub(crate) fn node(&self, id: Id) -> Node {
        self.nodes[id.index()]
    }
    /// The number of expressions.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }
    /// The number of a rule with a parameter.
    pub(crate) fn rule(&mut self, rule: OtherUnary) -> Result<u16, Error> {
        self.rules.number_of(rule)
    }

    /// The number that an expression is, if it is one.
    pub(crate) fn value(&self, id: Id) -> Option<f64> {
        match self.node(id) {
            Node::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Whether it is a choice, one side of which is zero or such a choice.
    pub(super) fn chooses_zero(&self, id: Id) -> bool {
        self.choose_zero[id.index()]
    }

    /// Adds a node, or finds it.
    pub(crate) fn add(&mut self, node: Node) -> Result<Id, Error> {
        if let Some(known) = self.known.get(&node) {
            return Ok(*known);
        }
        if self.nodes.len() >= self.most.min(u32::MAX as usize) {
            return Err(TOO_LARGE.into());
        }
        let is_zero = |side: Id| self.value(side) == Some(0.0) || self.chooses_zero(side);
        let chooses = matches!(node, Node::Choice(_, [.., then, otherwise]) if is_zero(then) || is_zero(otherwise));
        self.choose_zero.push(chooses);
        let id = Id(self.nodes.len() as u32);
        self.nodes.push(node);
        self.known.insert(node, id);
        Ok(id)
    }

    pub(crate) fn number(&mut self, value: f64) -> Result<Id, Error> {
        self.add(Node::Number(value.to_bits()))
    }

    pub(crate) fn unary(&mut self, rule: u16, a: Id) -> Result<Id, Error> {
        if rule == NEGATE {
            match self.node(a) {
                Node::Number(bits) => return self.number(-f64::from_bits(bits)),
                Node::Unary(NEGATE, of) => return Ok(of),
                _ => {}
            }
        }
        self.add(Node::Unary(rule, a))
    }

    /// An operation of two operands, or what it is without rounding: products with ±1, and operations on numbers.
    pub(crate) fn binary(&mut self, rule: u16, [a, b]: [Id; 2]) -> Result<Id, Error> {
        match (rule, self.value(a), self.value(b)) {
            (TIMES, Some(1.0), _) => Ok(b),
            (TIMES, _, Some(1.0)) => Ok(a),
            (TIMES, Some(-1.0), _) => self.unary(NEGATE, b),
            (TIMES, _, Some(-1.0)) => self.unary(NEGATE, a),
            (TIMES, Some(x), Some(y)) => self.number(x * y),
            (PLUS, Some(x), Some(y)) => self.number(x + y),
            (MINUS, Some(x), Some(y)) => self.number(x - y),
            _ => self.add(Node::Binary(rule, [a, b])),
        }
    }

    pub(crate) fn choice(&mut self, relation: u8, operands: [Id; 4]) -> Result<Id, Error> {
        if operands[2] == operands[3] {
            return Ok(operands[2]);
        }
        self.add(Node::Choice(relation, operands))
    }

    /// The expressions that some depend on, themselves included, operands first: each expression in the order in which `roots`
    /// first need it.
    pub(crate) fn parts(&self, roots: &[Id]) -> Vec<Id> {
        // A set, as most calls need a small part of all expressions.
        let (mut seen, mut parts) = (FxHashSet::default(), Vec::new());
        let mut stack: Vec<(Id, bool)> = Vec::new();
        for root in roots {
            stack.push((*root, false));
            while let Some((id, is_ready)) = stack.pop() {
                if is_ready {
                    parts.push(id);
                } else if seen.insert(id) {
                    stack.push((id, true));
                    stack.extend(self.node(id).operands().iter().rev().map(|operand| (*operand, false)));
                }
            }
        }
        parts
    }
}
