//! Prints code as Rust or C.
//!
//! Called by [`Source`](crate::Source); `expressions` prints blocks, `math` the elementary functions, this file what is around them.
//! Names and order depend on the code alone, so that the same function gives the same bytes.

mod expressions;
mod math;
mod signature;
mod tables;

pub(crate) use math::Used;
pub(crate) use signature::{Output, Signature};

use crate::code::{Array, Code, Step};
use crate::error::Error;
use expressions::Names;
use std::fmt::Write;
use tables::Tables;

/// The language, and what the code may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Rust with the crate `libm` for elementary functions, or with the standard library.
    Rust {
        std: bool,
    },
    C,
}

/// The numbers that the code computes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// `f64`, `double`.
    #[default]
    Double,
    /// `f32`, `float`.
    Single,
}

/// Language and numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) language: Language,
    pub(crate) precision: Precision,
}

impl Dialect {
    pub(crate) fn is_rust(self) -> bool {
        self.language != Language::C
    }

    /// The number type.
    pub(crate) fn float(self) -> &'static str {
        match (self.is_rust(), self.precision) {
            (true, Precision::Double) => "f64",
            (true, Precision::Single) => "f32",
            (false, Precision::Double) => "double",
            (false, Precision::Single) => "float",
        }
    }

    /// A number.
    fn literal(self, value: f64) -> String {
        let (text, special) = match self.precision {
            Precision::Double => (format!("{value:?}"), !value.is_finite()),
            Precision::Single => (format!("{:?}", value as f32), !(value as f32).is_finite()),
        };
        match (special, self.is_rust()) {
            (false, true) => text,
            (false, false) if self.precision == Precision::Single => text + "f",
            (false, false) => text,
            (true, true) if value.is_nan() => format!("{}::NAN", self.float()),
            (true, true) if value > 0.0 => format!("{}::INFINITY", self.float()),
            (true, true) => format!("{}::NEG_INFINITY", self.float()),
            (true, false) if value.is_nan() => "NAN".to_string(),
            (true, false) if value > 0.0 => "INFINITY".to_string(),
            (true, false) => "-INFINITY".to_string(),
        }
    }
}

/// Work spaces up to this size are on the stack of the function.
const MOST_ON_STACK: usize = 64;

/// Prints one function.
pub(crate) struct Printer<'a> {
    dialect: Dialect,
    signature: &'a Signature,
    code: &'a Code,
    used: &'a mut Used,
    names: Names,
    tables: Tables,
    text: String,
    depth: usize,
    /// Names of the counters around.
    counters: Vec<String>,
    /// Their trip counts.
    trips: Vec<u32>,
    /// Returned outputs that have been declared.
    declared: Vec<bool>,
}

/// Whether the work space is an argument.
pub(crate) fn takes_work(code: &Code) -> bool {
    code.work > MOST_ON_STACK
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

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 4 * self.depth);
    }

    /// Declares the returned outputs, unless the one statement that writes them can.
    fn declare(&mut self) -> Result<(), Error> {
        if !self.dialect.is_rust() {
            return Ok(());
        }
        for (o, output) in self.signature.outputs.iter().enumerate() {
            if output.is_returned && !expressions::is_stored_once(&self.code.steps, o) {
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
    fn is_number(&self, output: usize) -> bool {
        self.dialect.is_rust() && self.signature.outputs[output].is_returned
    }

    fn array(&self, array: Array) -> String {
        match array {
            Array::Input(i) => self.signature.inputs[i].0.clone(),
            Array::Output(o) => self.signature.outputs[o].name.clone(),
            Array::Work | Array::Constant => "work".to_string(),
        }
    }
}

/// What the functions of a file share: the printed elementary functions.
pub(crate) fn shared(used: &Used, dialect: Dialect) -> String {
    used.functions(dialect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back_as_they_are() {
        let rust = Dialect { language: Language::Rust { std: false }, precision: Precision::Double };
        for value in [0.1, -0.0, 1e300, 5e-324, 123456789.0, 1.0 / 3.0] {
            assert_eq!(rust.literal(value).parse::<f64>().unwrap().to_bits(), f64::to_bits(value));
        }
        let c = Dialect { language: Language::C, precision: Precision::Single };
        assert_eq!(c.literal(0.1), "0.1f");
        assert_eq!(c.literal(f64::NEG_INFINITY), "-INFINITY");
        assert_eq!(rust.literal(f64::NAN), "f64::NAN");
    }
}
