//! The recorded graph: the operations of a function.
//!
//! Made by [`record`](crate::record); compiled to a [`Program`](crate::Program) by the passes.

use crate::recording::absence::Absence;
use crate::recording::custom::CallObject;
use crate::recording::operation::PLACES;
pub use crate::recording::operation::{CONSTANT, Node, Op, Outcome, RELATIONS, guard_parts, relation};
pub(crate) use crate::recording::operation::{MAX_VALUES, REDUCTION};
use crate::recording::rules::Rules;
use std::fmt::{self, Write};
use std::panic::Location;
use std::sync::Arc;

/// A call of a custom rule.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) rule: Arc<dyn CallObject>,
    pub(crate) arguments: Vec<u32>,
    pub(crate) outputs: usize,
    /// Whether an output has a derivative with respect to a result; comparisons have none. Known once the recording is compiled.
    pub(crate) is_derived: bool,
}

/// The operations of a function at the point where it was recorded. Operand `i` is an input, then a parameter, then the result of
/// a node, in this order; operands tagged with [`CONSTANT`] are constants.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(crate) inputs: usize,
    pub(crate) parameters: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) constants: Vec<f64>,
    pub(crate) outputs: Vec<u32>,
    pub(crate) rules: Rules,
    pub(crate) calls: Vec<Call>,
    pub(crate) places: Vec<&'static Location<'static>>,
    /// How the derivatives among its operations treat absent ones.
    pub(crate) absence: Absence,
}

/// The place of the guards of rules without outputs, which is no decision of the user's code.
pub(crate) fn no_outputs() -> &'static Location<'static> {
    Location::caller()
}

impl Graph {
    /// Number of inputs, with respect to which it can be differentiated.
    pub fn inputs(&self) -> usize {
        self.inputs
    }
    /// Number of parameters, which may change between runs but carry no derivative.
    pub fn parameters(&self) -> usize {
        self.parameters
    }
    /// The operations, in order of execution.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
    /// Number of calls of custom rules.
    pub fn calls(&self) -> usize {
        self.calls.len()
    }
    /// The custom rules that are known while they live. They are to be kept as long as this graph, or its fingerprint, is compared with later ones, which may
    /// have other rules at the same address.
    pub fn rules_to_keep(&self) -> Vec<Arc<dyn CallObject>> {
        self.calls.iter().map(|call| &call.rule).filter(|rule| rule.is_known_while_alive()).map(Arc::clone).collect()
    }
    /// The plain numbers among the operands.
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }
    /// The operands that are the outputs.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }
    /// The rules that operations refer to by number.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }
    /// Number of guards: comparisons and values read into plain code.
    pub fn guards(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node.op, Op::Guard(_))).count()
    }
    /// Bytes of memory it occupies.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.constants.capacity() * size_of::<f64>()
            + self.outputs.capacity() * size_of::<u32>()
    }

    /// Removes the contents and keeps the memory.
    pub(crate) fn clear(&mut self, inputs: usize, parameters: usize) {
        (self.inputs, self.parameters) = (inputs, parameters);
        self.nodes.clear();
        self.constants.clear();
        self.outputs.clear();
        self.rules.clear();
        self.calls.clear();
        self.places.clear();
        self.absence = Absence::Exact;
    }

    /// The same recording, whose [`jacobian_entries`](Graph::jacobian_entries) track absent derivatives.
    pub fn tracking_absent(&self) -> Graph {
        Graph { absence: Absence::Tracked, ..self.clone() }
    }

    /// First operand number of a node.
    pub(crate) fn first_node(&self) -> usize {
        self.inputs + self.parameters
    }

    /// The number of a guard at `place`.
    pub(crate) fn guard(&mut self, place: &'static Location<'static>, outcome: Outcome) -> u16 {
        let known = self.places.iter().rposition(|known| std::ptr::eq(*known, place) || *known == place);
        let index = known.unwrap_or_else(|| {
            if self.places.len() < PLACES {
                self.places.push(place);
            }
            self.places.len() - 1
        });
        index as u16 * 8 + outcome as u16
    }

    /// Name of an operand: `x3`, `p0`, `%17` or the constant itself.
    fn operand(&self, operand: u32) -> String {
        let i = operand as usize;
        if operand & CONSTANT != 0 {
            format!("{:?}", self.constants[(operand & !CONSTANT) as usize])
        } else if i < self.inputs {
            format!("x{i}")
        } else if i < self.first_node() {
            format!("p{}", i - self.inputs)
        } else {
            format!("%{}", i - self.first_node())
        }
    }

    /// Name and operands of a node.
    fn describe(&self, node: &Node) -> (String, Vec<u32>) {
        match node.op {
            Op::Unary(rule) => (self.rules.unary_name(rule), vec![node.a]),
            Op::Binary(rule) => (self.rules.binary_name(rule).to_string(), vec![node.a, node.b]),
            Op::Guard(guard) => {
                let (place, outcome) = guard_parts(guard);
                let line = self.places.get(place).map(|place| place.line()).unwrap_or(0);
                (format!("guard {outcome:?} line {line}"), vec![node.a, node.b])
            }
            Op::Compare(number) => (format!("{:?}", relation(number)), vec![node.a, node.b]),
            Op::Call => ("call".to_string(), self.calls[node.a as usize].arguments.clone()),
            Op::CallOutput => ("call output".to_string(), Vec::new()),
            op => (format!("{op:?}").to_lowercase(), vec![node.a, node.b]),
        }
    }

    /// The graph in the language of Graphviz: `dot -Tsvg` draws it. Meant for small graphs.
    ///
    /// ```
    /// use compiled_trace::{Limits, record};
    /// let graph = record(&[2.0], &[], Limits::default(), |x, _, y| y.push(3.0 * x[0]))?;
    /// assert!(graph.to_dot().contains("n1 [label=\"mul\"]"));
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn to_dot(&self) -> String {
        let mut dot = String::from("digraph trace {\n");
        for i in 0..self.first_node() {
            let _ = writeln!(dot, "  n{i} [label=\"{}\" shape=box]", self.operand(i as u32));
        }
        let mut edges = String::new();
        let mut edge = |from: u32, to: String, serial: usize| {
            if from & CONSTANT != 0 {
                let _ = writeln!(edges, "  c{serial} [label=\"{}\" shape=plaintext]", self.operand(from));
                let _ = writeln!(edges, "  c{serial} -> {to}");
            } else {
                let _ = writeln!(edges, "  n{from} -> {to}");
            }
        };
        for (i, node) in self.nodes.iter().enumerate() {
            let id = i + self.first_node();
            let (name, operands) = self.describe(node);
            let _ = writeln!(dot, "  n{id} [label=\"{name}\"]");
            for (k, operand) in operands.into_iter().enumerate() {
                edge(operand, format!("n{id}"), 2 * i + k);
            }
        }
        for (i, output) in self.outputs.iter().enumerate() {
            let _ = writeln!(dot, "  y{i} [label=\"y{i}\" shape=box]");
            edge(*output, format!("y{i}"), 2 * self.nodes.len() + i);
        }
        dot + &edges + "}\n"
    }
}

/// One operation per line: `%3 = mul x0 %2`.
impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, node) in self.nodes.iter().enumerate() {
            let (name, operands) = self.describe(node);
            write!(f, "%{i} = {name}")?;
            for operand in operands {
                write!(f, " {}", self.operand(operand))?;
            }
            writeln!(f)?;
        }
        for (i, output) in self.outputs.iter().enumerate() {
            writeln!(f, "y{i} = {}", self.operand(*output))?;
        }
        Ok(())
    }
}
