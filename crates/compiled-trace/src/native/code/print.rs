//! Functions of intermediate code as text, for listings.

use super::*;
use std::fmt::{Debug, Display, Formatter, Result};

impl Debug for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.pool() {
            Some(index) => write!(f, "c{index}"),
            None => write!(f, "v{}", self.index()),
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.index {
            Some(index) => write!(f, "[{:?} + {index:?} + {}]", self.base, self.shift),
            None => write!(f, "[{:?} + {}]", self.base, self.shift),
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (i, (bits, lanes)) in self.pool.iter().enumerate() {
            let number = if self.bytes == 4 { f32::from_bits(*bits as u32) as f64 } else { f64::from_bits(*bits) };
            writeln!(f, "c{i} = {number:?} x {lanes}")?;
        }
        let mut depth = 0;
        for Line { operation, result } in &self.lines {
            if matches!(operation, Operation::End(_)) {
                depth -= 1;
            }
            write!(f, "{:1$}", "", 2 * depth)?;
            if let Some(result) = result {
                let lanes = match self.kind(*result) {
                    Kind::Numbers(lanes) if lanes > 1 => format!(" x {lanes}"),
                    _ => String::new(),
                };
                write!(f, "{result:?}{lanes} = ")?;
            }
            match operation {
                Operation::Begin(number) => {
                    write!(f, "begin")?;
                    for Carried { parameter, first, .. } in &self.loops[*number as usize].carried {
                        write!(f, " {parameter:?} = {first:?}")?;
                    }
                    depth += 1;
                }
                Operation::End(number) => {
                    let Repeat { carried, counter, limit, .. } = &self.loops[*number as usize];
                    write!(f, "end unless {counter:?} != {limit:?};")?;
                    for Carried { parameter, next, .. } in carried {
                        write!(f, " {parameter:?} = {next:?}")?;
                    }
                }
                Operation::Load(place) => write!(f, "load {place}")?,
                Operation::LoadInteger(place) => write!(f, "load integer {place}")?,
                Operation::LoadIndex(place) => write!(f, "load index {place}")?,
                Operation::Store(place, value) => write!(f, "store {place} {value:?}")?,
                Operation::Arithmetic(which, x, y) => write!(f, "{which:?} {x:?} {y:?}")?,
                Operation::Simple(which, x) => write!(f, "{which:?} {x:?}")?,
                Operation::Join { start, count } => {
                    write!(f, "join {:?}", &self.joined[*start as usize..][..*count as usize])?;
                }
                Operation::Call(call) => {
                    let Call { rule, arguments, count, own, .. } = &self.calls[*call as usize];
                    let own = if *own { "own " } else { "" };
                    write!(f, "call {own}{rule} {:?}", &arguments[..*count as usize])?;
                }
                other => write!(f, "{other:?}")?,
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
