//! Graphs made operation by operation, for crates that transform recordings.
//!
//! Called by crates that read a [`Graph`], compute another one and [`compile`](crate::compile) that: expressions and formulas. The
//! derivatives of rules are the templates that the passes insert.

use crate::recording::graph::{CONSTANT, Graph, MAX_VALUES, Node, Op, RELATIONS};
use crate::recording::rules::{OtherUnary, Rules};
use crate::recording::template::TemplatePartial;
use differentiation_interface_core::error::{Error, ErrorKind};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A partial derivative of a rule.
#[derive(Clone, Debug)]
pub enum RulePartial {
    /// It is zero everywhere.
    Zero,
    /// It is one everywhere.
    One,
    /// It is this number everywhere.
    Constant(f64),
    /// The product of the outputs of a graph, one or two, whose inputs are the arguments of the rule and its value. A derivative is multiplied by them
    /// in their order, since their product alone may be out of range.
    Graph(Arc<Graph>),
}

impl Rules {
    /// The partial derivatives of an operation by its arguments; none for an operation that is not a rule.
    ///
    /// # Errors
    /// [`ErrorKind::RuleOrder`] if a user's rule has no derivative that can be recorded.
    pub fn partials(&self, op: Op) -> Result<Vec<RulePartial>, Error> {
        let templates = match op {
            Op::Unary(rule) => self.unary_templates(rule)?,
            Op::Binary(rule) => self.binary_templates(rule)?,
            _ => Vec::new(),
        };
        let partial = |partial| match partial {
            TemplatePartial::Zero => RulePartial::Zero,
            TemplatePartial::One => RulePartial::One,
            TemplatePartial::Constant(c) => RulePartial::Constant(c),
            TemplatePartial::Value(graph) => RulePartial::Graph(graph),
        };
        Ok(templates.into_iter().map(|template| partial(template.partial)).collect())
    }

    /// The operation here that an operation of another graph or recording is there.
    ///
    /// # Errors
    /// [`ErrorKind::RuleCount`] if there are more than 65 thousand rules.
    pub fn adopt(&mut self, other: &Rules, op: Op) -> Result<Op, Error> {
        let adopted = match op {
            Op::Unary(rule) => self.adopt_unary(other, rule).map(Op::Unary),
            Op::Binary(rule) => self.adopt_binary(other, rule).map(Op::Binary),
            other => Some(other),
        };
        Ok(adopted.ok_or(ErrorKind::RuleCount)?)
    }

    /// The number of a rule with a parameter, which is added if it is new.
    ///
    /// # Errors
    /// [`ErrorKind::RuleCount`] if there are more than 65 thousand rules.
    pub fn number_of(&mut self, rule: OtherUnary) -> Result<u16, Error> {
        Ok(self.number_other(rule).ok_or(ErrorKind::RuleCount)?)
    }
}

impl Graph {
    /// Names of the custom rules that it calls, in the order of the calls.
    pub fn called_rules(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.calls.iter().map(|call| call.rule.name())
    }
}

/// A graph that is being written.
///
/// # Example
/// ```
/// use compiled_trace::{GraphWriter, Limits, Op, compile, record, rules};
/// let graph = record(&[1.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[0]))?;
/// // 3 x0 in place of x0².
/// let mut writer = GraphWriter::like(&graph, graph.rules().clone());
/// let three = writer.constant(3.0)?;
/// let product = writer.write(Op::Binary(rules::TIMES), three, 0)?;
/// let program = compile(&writer.finish(vec![product])?)?.executable();
/// let mut y = [0.0];
/// program.run(&mut program.workspace(), &[&[7.0], &[]], &mut [&mut y]).unwrap();
/// assert_eq!(y, [21.0]);
/// # Ok::<(), differentiation_interface_core::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphWriter {
    graph: Graph,
    known: FxHashMap<u64, u32>,
}

impl GraphWriter {
    /// An empty graph with the inputs, the parameters and the places of guards of another one, whose operations refer to `rules`.
    pub fn like(source: &Graph, rules: Rules) -> GraphWriter {
        let graph = Graph {
            inputs: source.inputs,
            parameters: source.parameters,
            rules,
            places: source.places.clone(),
            absence: source.absence,
            ..Graph::default()
        };
        GraphWriter { graph, known: FxHashMap::default() }
    }

    /// The operand that is a constant.
    ///
    /// # Errors
    /// [`ErrorKind::TapeOverflow`] if there are more than about 2³⁰.
    pub fn constant(&mut self, value: f64) -> Result<u32, Error> {
        let constants = &mut self.graph.constants;
        let index = *self.known.entry(value.to_bits()).or_insert_with(|| {
            constants.push(value);
            (constants.len() - 1) as u32
        });
        if index as usize >= MAX_VALUES {
            return Err(ErrorKind::TapeOverflow.into());
        }
        Ok(index | CONSTANT)
    }

    /// Writes an operation and returns the operand that is its result; `b` is ignored where there is one operand.
    ///
    /// # Errors
    /// [`ErrorKind::ForeignNumber`] if an operand or a rule is not of this graph, or the operation calls a custom rule;
    /// [`ErrorKind::TapeOverflow`] if there are more than about 2³⁰ operations.
    pub fn write(&mut self, op: Op, a: u32, b: u32) -> Result<u32, Error> {
        let b = if matches!(op, Op::Unary(_)) { 0 } else { b };
        let is_known = match op {
            Op::Unary(rule) => self.graph.rules.has_unary_number(rule),
            Op::Binary(rule) => self.graph.rules.has_binary_number(rule),
            Op::Compare(relation) => usize::from(relation) < RELATIONS.len(),
            Op::Guard(_) | Op::Keep | Op::Drop => true,
            Op::Accumulate | Op::Call | Op::CallOutput => false,
        };
        let result = self.graph.first_node() + self.graph.nodes.len();
        let is_here = |operand: u32| match operand & CONSTANT {
            0 => (operand as usize) < result,
            _ => ((operand & !CONSTANT) as usize) < self.graph.constants.len(),
        };
        if !is_known || !is_here(a) || !(is_here(b) || matches!(op, Op::Unary(_))) {
            return Err(ErrorKind::ForeignNumber.into());
        }
        if result >= MAX_VALUES {
            return Err(ErrorKind::TapeOverflow.into());
        }
        self.graph.nodes.push(Node { op, a, b });
        Ok(result as u32)
    }

    /// The graph with these outputs.
    ///
    /// # Errors
    /// [`ErrorKind::ForeignNumber`] if an output is not an operand of this graph.
    pub fn finish(mut self, outputs: Vec<u32>) -> Result<Graph, Error> {
        let (values, constants) = (self.graph.first_node() + self.graph.nodes.len(), self.graph.constants.len());
        let is_here = |operand: &u32| match operand & CONSTANT {
            0 => (*operand as usize) < values,
            _ => ((operand & !CONSTANT) as usize) < constants,
        };
        if !outputs.iter().all(is_here) {
            return Err(ErrorKind::ForeignNumber.into());
        }
        self.graph.outputs = outputs;
        Ok(self.graph)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::rules::{PLUS, POWF, SIN};
    use crate::{Limits, record};

    #[test]
    fn operands_and_rules_of_other_graphs_are_refused() {
        let graph = record(&[1.0, 2.0], &[], Limits::default(), |x, _, y| y.push(x[0] + x[1])).unwrap();
        let mut writer = GraphWriter::like(&graph, graph.rules().clone());
        let kind = |found: Result<u32, Error>| found.unwrap_err().kind();
        assert_eq!(kind(writer.write(Op::Binary(PLUS), 0, 2)), ErrorKind::ForeignNumber);
        assert_eq!(kind(writer.write(Op::Binary(PLUS), CONSTANT, 1)), ErrorKind::ForeignNumber);
        assert_eq!(kind(writer.write(Op::Unary(u16::MAX), 0, 0)), ErrorKind::ForeignNumber);
        assert_eq!(kind(writer.write(Op::Call, 0, 0)), ErrorKind::ForeignNumber);
        assert_eq!(writer.write(Op::Unary(SIN), 0, 77).unwrap(), 2);
        assert_eq!(writer.clone().finish(vec![3]).unwrap_err().kind(), ErrorKind::ForeignNumber);
        assert_eq!(writer.finish(vec![2]).unwrap().to_string(), "%0 = sin x0\ny0 = %0\n");
    }

    #[test]
    fn partials_are_those_of_the_table() {
        let mut rules = Rules::default();
        assert!(matches!(rules.partials(Op::Binary(PLUS)).unwrap()[..], [RulePartial::One, RulePartial::One]));
        assert_eq!(rules.partials(Op::Binary(POWF)).unwrap().len(), 2);
        let square = rules.number_of(OtherUnary::Powi(2)).unwrap();
        let RulePartial::Graph(graph) = &rules.partials(Op::Unary(square)).unwrap()[0] else { panic!("2 x") };
        let mut y = Vec::new();
        graph.evaluate(&[5.0, 25.0], &[], |_, _| {}, &mut y).unwrap();
        assert_eq!(y, [10.0]);
    }
}
