//! A recording of expressions, which the compiler of `compiled-trace` accepts.
//!
//! Called where derivatives run. Operations stand where the first output needs them, so that the compiler finds loops over outputs. What
//! several groups of entries need stands before all of them: otherwise each iteration would wait for what the one before computed.

use super::arena::{Expressions, Guard, Id, Node};
use compiled_trace::rules::PLUS;
use compiled_trace::{Graph, GraphWriter, Op};
use differentiation_interface_core::error::{Error, ErrorKind};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

impl Expressions {
    /// The recording with these values and entries as outputs, these guards, and the inputs and parameters of `like`. Each entry has the
    /// number of its group, which ascends.
    pub(crate) fn write(
        &self,
        like: &Graph,
        values: &[Id],
        entries: &[(u32, Id)],
        guards: &[Guard],
    ) -> Result<Graph, Error> {
        let mut writer = GraphWriter::like(like, self.rules.clone());
        let mut roots: Vec<Id> = guards.iter().flat_map(|guard| guard.operands).collect();
        roots.extend(values);
        let shared = self.shared(&roots, entries);
        roots.extend(shared);
        roots.extend(entries.iter().map(|(_, id)| id));
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
        let outputs = values.iter().chain(entries.iter().map(|(_, id)| id));
        writer.finish(outputs.map(|output| operands[output.index()]).collect())
    }

    /// The operations that several groups of entries need, and not `before`, in the order in which a second group needs them.
    fn shared(&self, before: &[Id], entries: &[(u32, Id)]) -> Vec<Id> {
        const BEFORE: u32 = u32::MAX;
        let mut first: FxHashMap<Id, u32> = self.parts(before).into_iter().map(|id| (id, BEFORE)).collect();
        let (mut shared, mut stack) = (Vec::new(), Vec::new());
        for (group, entry) in entries {
            stack.push(*entry);
            while let Some(id) = stack.pop() {
                match first.entry(id) {
                    Entry::Occupied(mut known) => {
                        // What it depends on is written with it.
                        if *known.get() != *group && *known.get() != BEFORE {
                            known.insert(BEFORE);
                            shared.push(id);
                        }
                    }
                    Entry::Vacant(place) => {
                        let node = self.node(id);
                        if !node.operands().is_empty() {
                            place.insert(*group);
                            stack.extend(node.operands().iter().rev());
                        }
                    }
                }
            }
        }
        shared
    }
}
