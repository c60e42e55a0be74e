//! Programs as text.
//!
//! Called to inspect what the passes made of a recording.

use crate::program::{Address, Instruction, Nest, Program, Space, Statement};
use crate::recording::graph::{Op, guard_parts, relation};
use std::fmt;

/// One line per statement or instruction; counters are `i0`, `i1`, … from the outermost loop inwards.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, &self.statements, 0)
    }
}

impl Program {
    fn print(&self, f: &mut fmt::Formatter<'_>, statements: &[Statement], depth: usize) -> fmt::Result {
        let indent = "  ".repeat(depth);
        for statement in statements {
            match statement {
                Statement::Zero { space, start, length } => {
                    writeln!(f, "{indent}zero {}[{start}; {length}]", name(*space))?
                }
                Statement::Loop { trip, reversed, body } => {
                    writeln!(f, "{indent}loop i{depth} < {trip}{}", direction(*reversed))?;
                    self.print(f, body, depth + 1)?;
                }
                Statement::Call(call) => {
                    writeln!(
                        f,
                        "{indent}call {} {:?} of {} cells",
                        call.rule.name(),
                        call.function,
                        call.arguments.len()
                    )?;
                }
                Statement::Nest(nest) => self.print_nest(f, nest, depth, &indent)?,
            }
        }
        Ok(())
    }

    fn print_nest(&self, f: &mut fmt::Formatter<'_>, nest: &Nest, depth: usize, indent: &str) -> fmt::Result {
        write!(f, "{indent}nest")?;
        for (i, dimension) in nest.dimensions.iter().enumerate() {
            let kind = if dimension.parallel { "parallel" } else { "in order" };
            write!(f, " i{} < {} {kind}", depth + i, dimension.trip)?;
        }
        writeln!(f, "{}", direction(nest.reversed))?;
        for (i, instruction) in nest.body.iter().enumerate() {
            let address = |a: u32| cell(&nest.addresses[a as usize]);
            write!(f, "{indent}  ")?;
            match *instruction {
                Instruction::Constant(c) => writeln!(f, "%{i} = {:?}", self.constants[c as usize])?,
                Instruction::Load(a) => writeln!(f, "%{i} = {}", address(a))?,
                Instruction::Store { value, address: a } => writeln!(f, "{} = %{value}", address(a))?,
                Instruction::Accumulate { value, address: a } => writeln!(f, "{} += %{value}", address(a))?,
                Instruction::Apply { op, a, b } => match op {
                    Op::Unary(rule) => writeln!(f, "%{i} = {} %{a}", self.rules.unary_name(rule))?,
                    Op::Binary(rule) => writeln!(f, "%{i} = {} %{a} %{b}", self.rules.binary_name(rule))?,
                    Op::Compare(number) => writeln!(f, "%{i} = {:?} %{a} %{b}", relation(number))?,
                    Op::Guard(guard) => writeln!(f, "guard {:?} %{a} %{b}", guard_parts(guard).1)?,
                    op => writeln!(f, "%{i} = {} %{a} %{b}", format!("{op:?}").to_lowercase())?,
                },
            }
        }
        Ok(())
    }
}

fn direction(reversed: bool) -> &'static str {
    if reversed { " downwards" } else { "" }
}

fn name(space: Space) -> String {
    match space {
        Space::Constant => "constant".to_string(),
        Space::Input(i) => format!("input{i}"),
        Space::Work => "work".to_string(),
        Space::Output(i) => format!("output{i}"),
    }
}

fn cell(address: &Address) -> String {
    let mut index = address.base.to_string();
    if address.table.is_some() {
        index = "table".to_string();
    }
    for (i, stride) in address.strides.iter().enumerate() {
        match stride {
            0 => {}
            1 => index += &format!(" + i{i}"),
            stride => index += &format!(" + {stride} i{i}"),
        }
    }
    format!("{}[{index}]", name(address.space))
}
