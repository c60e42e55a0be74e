//! A recording of expressions, which the compiler of `compiled-trace` accepts.
//!
//! Called where derivatives run. Operations stand where the first output needs them, so that the compiler finds loops over outputs.

use super::arena::{Expressions, Guard, Id, Node};
use compiled_trace::rules::PLUS;
use compiled_trace::{Graph, GraphWriter, Op};
use differentiation_interface_core::error::{Error, ErrorKind};

impl Expressions {
    /// The recording with these outputs and guards, and the inputs and parameters of `like`.
    pub(crate) fn write(&self, like: &Graph, outputs: &[Id], guards: &[Guard]) -> Result<Graph, Error> {
        let mut writer = GraphWriter::like(like, self.rules.clone());
        let checked: Vec<Id> = guards.iter().flat_map(|guard| guard.operands).collect();
        let roots: Vec<Id> = checked.iter().chain(outputs).copied().collect();
        let mut operands = vec![u32::MAX; self.len()];
        for id in self.parts(&roots) {
            let get = |of: Id| operands[of.index()];
            let operand = match self.node(id) {
                Node::Number(bits) => writer.constant(f64::from_bits(bits))?,
                Node::Input(i) if (i as usize) < like.inputs() => i,
                Node::Parameter(i) if (i as usize) < like.parameters() => like.inputs() as u32 + i,
                Node::Input(_) | Node::Parameter(_) => return Err(ErrorKind::ForeignNumber.into()),
                Node::Unary(rule, a) => writer.write(Op::Unary(rule), get(a), 0)?,
                Node::Binary(rule, [a, b]) => writer.write(Op::Binary(rule), get(a), get(b))?,
                Node::Choice(relation, [left, right, then, otherwise]) => {
                    let mask = writer.write(Op::Compare(relation), get(left), get(right))?;
                    let kept = writer.write(Op::Keep, mask, get(then))?;
                    let dropped = writer.write(Op::Drop, mask, get(otherwise))?;
                    writer.write(Op::Binary(PLUS), kept, dropped)?
                }
            };
            operands[id.index()] = operand;
        }
        for guard in guards {
            let [a, b] = guard.operands.map(|id| operands[id.index()]);
            writer.write(Op::Guard(guard.guard), a, b)?;
        }
        writer.finish(outputs.iter().map(|output| operands[output.index()]).collect())
    }
}
