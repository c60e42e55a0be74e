//! Expressions of a recording.
//!
//! Called where formulas and derivatives of a recording are asked for.

use super::arena::{Expressions, Guard, Id, Node};
use compiled_trace::rules::PLUS;
use compiled_trace::{CONSTANT, Graph, Op};
use differentiation_interface_core::error::{Error, ErrorKind};

/// The outputs and guards of a recording as expressions.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) outputs: Vec<Id>,
    pub(crate) guards: Vec<Guard>,
}

/// What an operand of a recording is.
#[derive(Clone, Copy)]
enum Operand {
    Expression(Id),
    /// A comparison: its relation and operands.
    Comparison(u8, [Id; 2]),
    /// One side of a choice: whether it is the side that the comparison keeps, the comparison, the side.
    Side(bool, (u8, [Id; 2]), Id),
    Nothing,
}

impl Expressions {
    /// Adds the operations of a recording.
    ///
    /// # Errors
    /// [`ErrorKind::RuleUnsupported`] if it calls a custom rule, which has no formula;
    /// [`ErrorKind::Refused`] if it is too large.
    pub(crate) fn read(&mut self, graph: &Graph) -> Result<Read, Error> {
        if let Some(rule) = graph.called_rules().next() {
            return Err(ErrorKind::RuleUnsupported { rule }.into());
        }
        let mut inputs = Vec::with_capacity(graph.inputs() + graph.parameters());
        for i in 0..graph.inputs() {
            inputs.push(self.add(Node::Input(i as u32))?);
        }
        for i in 0..graph.parameters() {
            inputs.push(self.add(Node::Parameter(i as u32))?);
        }
        self.insert(graph, &inputs)
    }

    /// Adds the operations of a recording with these expressions in place of its inputs and parameters.
    pub(super) fn insert(&mut self, graph: &Graph, inputs: &[Id]) -> Result<Read, Error> {
        let mut operands: Vec<Operand> = inputs.iter().map(|input| Operand::Expression(*input)).collect();
        let mut guards = Vec::new();
        for node in graph.nodes() {
            let result = match self.rules.adopt(graph.rules(), node.op)? {
                Op::Unary(rule) => {
                    let a = self.get(graph, &operands, node.a)?;
                    Operand::Expression(self.unary(rule, a)?)
                }
                Op::Binary(PLUS) if let Some(choice) = self.both_sides(&operands, [node.a, node.b])? => {
                    Operand::Expression(choice)
                }
                Op::Binary(rule) => {
                    let pair = [self.get(graph, &operands, node.a)?, self.get(graph, &operands, node.b)?];
                    Operand::Expression(self.binary(rule, pair)?)
                }
                Op::Compare(relation) => {
                    let pair = [self.get(graph, &operands, node.a)?, self.get(graph, &operands, node.b)?];
                    Operand::Comparison(relation, pair)
                }
                op @ (Op::Keep | Op::Drop) => match operands.get(node.a as usize) {
                    Some(Operand::Comparison(relation, pair)) => {
                        let comparison = (*relation, *pair);
                        Operand::Side(op == Op::Keep, comparison, self.get(graph, &operands, node.b)?)
                    }
                    _ => return Err(ErrorKind::ForeignNumber.into()),
                },
                Op::Guard(guard) => {
                    let pair = [self.get(graph, &operands, node.a)?, self.get(graph, &operands, node.b)?];
                    guards.push(Guard { guard, operands: pair });
                    Operand::Nothing
                }
                Op::Accumulate | Op::Call | Op::CallOutput => return Err(ErrorKind::ForeignNumber.into()),
            };
            operands.push(result);
        }
        let outputs: Result<_, _> = graph.outputs().iter().map(|output| self.get(graph, &operands, *output)).collect();
        Ok(Read { outputs: outputs?, guards })
    }

    /// The choice that the sum of its two sides is.
    fn both_sides(&mut self, operands: &[Operand], pair: [u32; 2]) -> Result<Option<Id>, Error> {
        let side = |operand: u32| match operands.get(operand as usize) {
            Some(Operand::Side(keeps, comparison, id)) => Some((*keeps, *comparison, *id)),
            _ => None,
        };
        match (side(pair[0]), side(pair[1])) {
            (Some((true, of, then)), Some((false, other, otherwise)))
            | (Some((false, other, otherwise)), Some((true, of, then)))
                if of == other =>
            {
                let (relation, [left, right]) = of;
                self.choice(relation, [left, right, then, otherwise]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The expression of an operand.
    fn get(&mut self, graph: &Graph, operands: &[Operand], operand: u32) -> Result<Id, Error> {
        if operand & CONSTANT != 0 {
            return self.number(graph.constants()[(operand & !CONSTANT) as usize]);
        }
        match operands.get(operand as usize) {
            Some(Operand::Expression(id)) => Ok(*id),
            Some(Operand::Side(keeps, (relation, [left, right]), side)) => {
                let nothing = self.number(-0.0)?;
                let sides = if *keeps { [*side, nothing] } else { [nothing, *side] };
                self.choice(*relation, [*left, *right, sides[0], sides[1]])
            }
            Some(Operand::Comparison(relation, [left, right])) => {
                let (one, zero) = (self.number(1.0)?, self.number(0.0)?);
                self.choice(*relation, [*left, *right, one, zero])
            }
            _ => Err(ErrorKind::ForeignNumber.into()),
        }
    }
}
