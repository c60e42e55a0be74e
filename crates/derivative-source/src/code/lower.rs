//! From a program of `compiled-trace` to code.
//!
//! Called for every operator that is emitted; the meaning of statements is that of [`compiled_trace::program`].

use super::block::Rewriter;
use super::ir::{Address, Array, Code, Node, Step, Unary};
use crate::error::Error;
use compiled_trace::program::{self, Instruction, Nest, Program, Space, Statement};
use compiled_trace::rules::{OVER, OtherUnary, RECIP};
use compiled_trace::{Op, guard_parts, relation};
use std::rc::Rc;

/// The code of a program.
pub(crate) fn lower(program: &Program) -> Result<Code, Error> {
    let steps = statements(program, &program.statements, &mut Vec::new())?;
    Ok(Code {
        constants: program.constants.clone().into(),
        inputs: program.inputs.clone(),
        outputs: program.outputs.clone(),
        work: program.work,
        steps,
    })
}

fn statements(program: &Program, all: &[Statement], trips: &mut Vec<u32>) -> Result<Vec<Step>, Error> {
    let mut steps = Vec::with_capacity(all.len());
    for statement in all {
        steps.push(match statement {
            Statement::Nest(nest) => of_nest(program, nest, trips)?,
            Statement::Loop { trip, reversed, body } => {
                trips.push(*trip);
                let body = statements(program, body, trips)?;
                trips.pop();
                Step::Loop { trip: *trip, reversed: *reversed, parallel: false, body }
            }
            Statement::Zero { space, start, length } => {
                Step::Zero { array: array(*space), start: *start as usize, length: *length as usize }
            }
            Statement::Call(call) => return Err(Error::CustomRule { name: call.rule.name().to_string() }),
        });
    }
    Ok(steps)
}

fn array(space: Space) -> Array {
    match space {
        Space::Constant => Array::Constant,
        Space::Input(i) => Array::Input(i.into()),
        Space::Work => Array::Work,
        Space::Output(o) => Array::Output(o.into()),
    }
}

fn address(address: &program::Address, trips: &[u32]) -> Address {
    Address {
        array: array(address.space),
        base: if address.table.is_some() { 0 } else { address.base.into() },
        strides: match &address.table {
            Some(_) => vec![0; trips.len()],
            None => address.strides.iter().map(|stride| i64::from(*stride)).collect(),
        },
        table: address.table.as_ref().map(|table| (Rc::from(&table[..]), Rc::from(trips))),
    }
}

fn of_nest(program: &Program, nest: &Nest, trips: &[u32]) -> Result<Step, Error> {
    let mut all = trips.to_vec();
    all.extend(nest.dimensions.iter().map(|dimension| dimension.trip));
    let mut out = Rewriter::new(Rc::from(&program.constants[..]));
    let mut results = Vec::with_capacity(nest.body.len());
    for instruction in &nest.body {
        let at = |a: u32| address(&nest.addresses[a as usize], &all);
        let r = |i: u32| -> usize { results[i as usize] };
        results.push(match *instruction {
            Instruction::Constant(c) => out.write(Node::Constant(program.constants[c as usize])),
            Instruction::Load(a) => out.write(Node::Load(at(a))),
            Instruction::Store { value, address } => out.write(Node::Store(r(value), at(address))),
            Instruction::Accumulate { value, address } => out.write(Node::Add(r(value), at(address))),
            Instruction::Apply { op, a, b } => match op {
                Op::Unary(RECIP) => {
                    let one = out.write(Node::Constant(1.0));
                    out.write(Node::Binary(OVER, one, r(a)))
                }
                Op::Unary(rule) => {
                    let rule = match program.rules.other_unary(rule) {
                        None => Unary::Rule(rule),
                        Some(OtherUnary::Powi(n)) => Unary::Powi(*n),
                        Some(OtherUnary::Powc(c)) => Unary::Powc(*c),
                        Some(OtherUnary::Polygamma(order)) => Unary::Polygamma(*order),
                        Some(OtherUnary::User(rule)) => return Err(Error::UserRule { name: rule.name().to_string() }),
                    };
                    out.write(Node::Unary(rule, r(a)))
                }
                Op::Binary(rule) => match program.rules.other_binary(rule) {
                    None => out.write(Node::Binary(rule, r(a), r(b))),
                    Some(rule) => return Err(Error::UserRule { name: rule.name().to_string() }),
                },
                Op::Compare(number) => {
                    let holds = out.write(Node::Compare(relation(number), r(a), r(b)));
                    out.write(Node::Truth(holds))
                }
                Op::Keep | Op::Drop => {
                    let (mask, nothing) = (out.write(Node::NotZero(r(a))), out.write(Node::Constant(-0.0)));
                    let (yes, no) = if op == Op::Keep { (r(b), nothing) } else { (nothing, r(b)) };
                    out.write(Node::Select(mask, yes, no))
                }
                Op::Guard(guard) => {
                    let (place, outcome) = guard_parts(guard);
                    let line = program.places.get(place).map_or(0, |place| place.line());
                    out.write(Node::Guard(line, outcome, r(a), r(b)))
                }
                Op::Accumulate | Op::Call | Op::CallOutput => 0,
            },
        });
    }
    let mut step = Step::Block(out.finish());
    for dimension in nest.dimensions.iter().rev() {
        step = Step::Loop {
            trip: dimension.trip,
            reversed: nest.reversed && !dimension.parallel,
            parallel: dimension.parallel,
            body: vec![step],
        };
    }
    Ok(step)
}
