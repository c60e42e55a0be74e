//! Prints a function: its head, its steps, and what it returns.
//!
//! Called for every function of a file.

use super::dialect::Dialect;
use super::math::Used;
use super::names::Names;
use super::signature::{Signature, takes_work};
use super::tables::Tables;
use crate::code::{Array, Code, Step};
use crate::error::Error;
use std::fmt::Write;

/// Prints one function.
pub(crate) struct Printer<'a> {
    pub(super) dialect: Dialect,
    pub(super) signature: &'a Signature,
    pub(super) code: &'a Code,
    pub(super) used: &'a mut Used,
    pub(super) names: Names,
    pub(super) tables: Tables,
    pub(super) text: String,
    pub(super) depth: usize,
    /// Names of the counters around.
    pub(super) counters: Vec<String>,
    /// Their trip counts.
    pub(super) trips: Vec<u32>,
    /// Returned outputs that have been declared.
    pub(super) declared: Vec<bool>,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(dialect: Dialect, signature: &'a Signature, code: &'a Code, used: &'a mut Used) -> Self {
        let names = Names::new(signature);
        Printer {
            dialect,
            signature,
            code,
            used,
            names,
            tables: Tables::new(dialect),
            text: String::new(),
            depth: 1,
            counters: Vec::new(),
            trips: Vec::new(),
            declared: vec![false; code.outputs.len()],
        }
    }

    /// The function.
    pub(crate) fn print(mut self) -> Result<String, Error> {
        let code = self.code;
        for line in self.signature.lengths(self.dialect, code) {
            self.line(&line);
        }
        if code.work > 0 && !takes_work(code) {
            let line = match self.dialect.is_rust() {
                true => format!("let mut work = [0.0; {}];", code.work),
                false => format!("{} work[{}] = {{0}};", self.dialect.float(), code.work),
            };
            self.line(&line);
        }
        self.declare()?;
        self.steps(&code.steps)?;
        self.finish();
        let mut text = self.signature.head(self.dialect, code);
        let is_one_line = text.lines().next_back().is_some_and(|line| line.starts_with("pub fn"));
        if self.text.is_empty() && is_one_line {
            text.truncate(text.trim_end().len());
        }
        text += &self.tables.text();
        text += &self.text;
        text += "}\n";
        Ok(text)
    }

    pub(super) fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 4 * self.depth);
    }

    /// Declares the returned outputs, unless the one statement that writes them can.
    fn declare(&mut self) -> Result<(), Error> {
        if !self.dialect.is_rust() {
            return Ok(());
        }
        for (o, output) in self.signature.outputs.iter().enumerate() {
            if output.is_returned && !self.code.is_stored_once(o) {
                let name = &output.name;
                let line = format!("let mut {name} = 0.0;");
                self.line(&line);
                self.declared[o] = true;
            }
        }
        Ok(())
    }

    fn finish(&mut self) {
        let mut returned = self.signature.returned().map(|output| output.name.clone());
        // A value that has just been computed needs no name.
        if let Some(name) = returned.as_mut().filter(|_| self.dialect.is_rust()) {
            let last = self.text.trim_end().rfind('\n').map_or(0, |at| at + 1);
            let value = self.text[last..].trim().strip_prefix(&format!("let {name} = "));
            if let Some(value) = value.and_then(|value| value.strip_suffix(';')).map(str::to_string) {
                self.text.truncate(last);
                *name = value;
            }
        }
        let line = match (self.dialect.is_rust(), self.signature.has_guards, returned) {
            (true, true, Some(value)) => format!("Ok({value})"),
            (true, true, None) => "Ok(())".to_string(),
            (true, false, Some(value)) => value,
            (false, true, _) => "return 0;".to_string(),
            _ => return,
        };
        self.line(&line);
    }

    fn steps(&mut self, steps: &[Step]) -> Result<(), Error> {
        for step in steps {
            match step {
                Step::Block(nodes) => self.block(nodes)?,
                Step::Zero { array, start, length } => self.zero(*array, *start, *length),
                Step::Loop { trip, reversed, body, .. } => {
                    let counter = self.names.counter(self.counters.len());
                    let line = match (self.dialect.is_rust(), reversed) {
                        (true, false) => format!("for {counter} in 0..{trip} {{"),
                        (true, true) => format!("for {counter} in (0..{trip}).rev() {{"),
                        (false, false) => format!("for (int {counter} = 0; {counter} < {trip}; {counter}++) {{"),
                        (false, true) => format!("for (int {counter} = {trip} - 1; {counter} >= 0; {counter}--) {{"),
                    };
                    self.line(&line);
                    self.counters.push(counter);
                    self.trips.push(*trip);
                    self.depth += 1;
                    self.steps(body)?;
                    self.depth -= 1;
                    self.counters.pop();
                    self.trips.pop();
                    self.line("}");
                }
            }
        }
        Ok(())
    }

    fn zero(&mut self, array: Array, start: usize, length: usize) {
        let whole = match array {
            Array::Output(o) => self.code.outputs[o],
            _ => self.code.work,
        };
        let name = self.array(array);
        let is_number = matches!(array, Array::Output(o) if self.is_number(o));
        let line = match self.dialect.is_rust() {
            true if is_number => format!("{name} = 0.0;"),
            true if length == 1 => format!("{name}[{start}] = 0.0;"),
            true if length == whole => format!("{name}.fill(0.0);"),
            true => format!("{name}[{start}..{}].fill(0.0);", start + length),
            false if length == 1 => format!("{name}[{start}] = 0;"),
            false => {
                let counter = self.names.counter(self.counters.len());
                let end = start + length;
                format!("for (int {counter} = {start}; {counter} < {end}; {counter}++) {name}[{counter}] = 0;")
            }
        };
        // A declared number begins at 0.
        if !is_number || self.depth > 1 {
            self.line(&line);
        }
    }

    /// Whether an output is a number of the language, and not an array.
    pub(super) fn is_number(&self, output: usize) -> bool {
        self.dialect.is_rust() && self.signature.outputs[output].is_returned
    }

    pub(super) fn array(&self, array: Array) -> String {
        match array {
            Array::Input(i) => self.signature.inputs[i].0.clone(),
            Array::Output(o) => self.signature.outputs[o].name.clone(),
            Array::Work | Array::Constant => "work".to_string(),
        }
    }
}
