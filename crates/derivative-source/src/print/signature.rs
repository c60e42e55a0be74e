//! The head of a function: documentation, arguments, result.
//!
//! Made by `request` for each operator; printed by the printer, and for the header of C.

use super::dialect::Dialect;
use crate::code::{Address, Array, Code, Node, Step, each_node};
use std::f64::consts::*;
use std::fmt::Write;

/// An output of a function.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) length: usize,
    /// Whether it is the result of the function in Rust, as one number is.
    pub(crate) is_returned: bool,
}

/// Names and documentation of a function.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) name: String,
    /// Lines of documentation.
    pub(crate) documentation: Vec<String>,
    /// Names and lengths; inputs without a name are empty and no arguments.
    pub(crate) inputs: Vec<(String, usize)>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) has_guards: bool,
}

/// Longest line.
const WIDTH: usize = 100;
/// Longest list of lints in one line.
const LINTS_WIDTH: usize = 70;

impl Signature {
    pub(crate) fn returned(&self) -> Option<&Output> {
        self.outputs.iter().find(|output| output.is_returned)
    }

    /// Names of the arguments, those of returned numbers included, which are arguments in C.
    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        let inputs = self.inputs.iter().map(|(name, _)| name.as_str()).filter(|name| !name.is_empty());
        inputs.chain(self.outputs.iter().map(|output| output.name.as_str()))
    }

    pub(crate) fn has_argument(&self, name: &str) -> bool {
        self.names().any(|argument| argument == name)
    }

    /// A name of two arguments.
    pub(crate) fn repeated(&self) -> Option<&str> {
        self.names().find(|name| self.names().filter(|other| other == name).count() > 1)
    }

    /// The name of the constant with the length of the work space.
    pub(crate) fn work(&self) -> String {
        format!("{}_WORK", self.name.to_uppercase())
    }

    /// The arguments, as they are written.
    fn arguments(&self, dialect: Dialect, code: &Code) -> Vec<String> {
        let float = dialect.float();
        let array = |name: &str, length: usize, is_written: bool| {
            let mutable = if is_written { "mut " } else { "" };
            let constant = if is_written { "" } else { "const " };
            match (dialect.is_rust(), dialect.takes_slices) {
                (true, false) => format!("{name}: &{mutable}[{float}; {length}]"),
                (true, true) => format!("{name}: &{mutable}[{float}]"),
                (false, _) => format!("{constant}{float} *restrict {name}"),
            }
        };
        let inputs = self.inputs.iter().filter(|(name, _)| !name.is_empty());
        let inputs = inputs.map(|(name, length)| array(name, *length, false));
        let outputs = self.outputs.iter().filter(|output| !(dialect.is_rust() && output.is_returned));
        let outputs = outputs.map(|output| array(&output.name, output.length, true));
        inputs.chain(outputs).chain(takes_work(code).then(|| array("work", code.work, true))).collect()
    }

    /// Lines that make arrays of slices.
    pub(super) fn lengths(&self, dialect: Dialect, code: &Code) -> Vec<String> {
        if !dialect.takes_slices || !dialect.is_rust() {
            return Vec::new();
        }
        let line = |name: &str, kind: &str, length: usize| {
            let text = format!("`{name}` has {length} numbers");
            format!("let {name}: {kind}[{}; {length}] = {name}.try_into().expect(\"{text}\");", dialect.float())
        };
        let inputs = self.inputs.iter().filter(|(name, _)| !name.is_empty());
        let mut lines: Vec<String> = inputs.map(|(name, length)| line(name, "&", *length)).collect();
        let outputs = self.outputs.iter().filter(|output| !output.is_returned);
        lines.extend(outputs.map(|output| line(&output.name, "&mut ", output.length)));
        lines.extend(takes_work(code).then(|| line("work", "&mut ", code.work)));
        lines
    }

    /// The type that the function returns, `None` for none.
    fn result(&self, dialect: Dialect) -> Option<String> {
        let value = self.returned().map(|_| dialect.float());
        match (self.has_guards, value) {
            (true, value) => Some(format!("Result<{}, BranchChanged>", value.unwrap_or("()"))),
            (false, value) => value.map(str::to_string),
        }
    }

    /// The declaration in C, without the semicolon.
    pub(crate) fn declaration(&self, dialect: Dialect, code: &Code) -> String {
        let arguments = self.arguments(dialect, code);
        let result = if self.has_guards { "int" } else { "void" };
        let line = format!("{result} {}({})", self.name, arguments.join(", "));
        if line.len() < WIDTH {
            return line;
        }
        format!("{result} {}(\n    {})", self.name, arguments.join(",\n    "))
    }

    /// The documentation as lines without marks.
    pub(crate) fn text(&self, dialect: Dialect, code: &Code) -> Vec<String> {
        let mut lines = self.documentation.clone();
        if !dialect.is_rust() {
            let lengths = self.inputs.iter().filter(|(name, _)| !name.is_empty()).cloned();
            let lengths = lengths.chain(self.outputs.iter().map(|output| (output.name.clone(), output.length)));
            let lengths: Vec<String> = lengths.map(|(name, length)| format!("{name}[{length}]")).collect();
            lines.push(format!("Lengths: {}.", lengths.join(", ")));
        }
        if self.has_guards {
            lines.push(match dialect.is_rust() {
                true => "An error where the function takes a different branch than at the point where it was recorded; the outputs are then meaningless.".to_string(),
                false => "Returns 0, or the line of the function where it takes a different branch than at the point where it was recorded; the outputs are then meaningless.".to_string(),
            });
        }
        if dialect.is_rust() && dialect.takes_slices {
            lines.push("Panics if the length of a slice is not the one that the function needs.".to_string());
        }
        if takes_work(code) {
            lines.push(format!("`work` is memory of {} numbers, whose contents do not matter.", code.work));
        }
        lines
    }

    /// Lints that the code breaks on purpose: loops as in the formula, constants as they were recorded, conditions that count NaN as false.
    fn allowed(&self, dialect: Dialect, code: &Code) -> Vec<&'static str> {
        let mut lints = Vec::new();
        let mut read = vec![false; self.inputs.len()];
        if !is_snake_case(&self.name) || !self.names().all(is_snake_case) {
            lints.push("non_snake_case");
        }
        let mut is_famous = false;
        each_node(&code.steps, &mut Vec::new(), &mut |node, _| match node {
            Node::Load(Address { array: Array::Input(i), .. }) => read[*i] = true,
            Node::Constant(c) => is_famous |= FAMOUS.iter().any(|famous| (c.abs() / famous - 1.0).abs() < 0.01),
            _ => {}
        });
        let is_unread = self.inputs.iter().zip(&read).any(|((name, _), read)| !name.is_empty() && !read);
        // Nothing is written to a matrix without entries.
        if is_unread || self.outputs.iter().any(|output| output.length == 0) {
            lints.push("unused_variables");
        }
        if is_famous {
            lints.push("clippy::approx_constant");
        }
        if code.steps.iter().any(|step| matches!(step, Step::Loop { .. })) {
            if has_loop_that(&code.steps, &|nodes| matches!(nodes, [Node::Load(_), Node::Store(0, _)])) {
                lints.push("clippy::manual_memcpy");
            }
            if has_loop_that(&code.steps, &|nodes| matches!(nodes, [Node::Constant(_), Node::Store(0, _)])) {
                lints.push("clippy::manual_slice_fill");
            }
            lints.push("clippy::needless_range_loop");
        }
        if self.has_guards {
            lints.extend(["clippy::neg_cmp_op_on_partial_ord", "clippy::nonminimal_bool"]);
        }
        if self.arguments(dialect, code).len() > 7 {
            lints.push("clippy::too_many_arguments");
        }
        lints
    }

    /// Everything before the body.
    pub(super) fn head(&self, dialect: Dialect, code: &Code) -> String {
        let mut head = String::new();
        if !dialect.is_rust() {
            let _ = writeln!(head, "{}\n{{", self.declaration(dialect, code));
            return head;
        }
        if takes_work(code) {
            let _ = writeln!(head, "/// Length of the work space of [`{}`].", self.name);
            let _ = writeln!(head, "pub const {}: usize = {};\n", self.work(), code.work);
        }
        for line in self.text(dialect, code) {
            let _ = writeln!(head, "///{}{line}", if line.is_empty() { "" } else { " " });
        }
        let lints = self.allowed(dialect, code);
        if !lints.is_empty() {
            let line = lints.join(", ");
            let _ = match line.len() <= LINTS_WIDTH {
                true => writeln!(head, "#[allow({line})]"),
                false => writeln!(head, "#[allow(\n    {}\n)]", lints.join(",\n    ")),
            };
        }
        head += "#[inline]\n";
        let arguments = self.arguments(dialect, code);
        let result = self.result(dialect).map_or(String::new(), |result| format!(" -> {result}"));
        let line = format!("pub fn {}({}){result} {{", self.name, arguments.join(", "));
        if line.len() <= WIDTH {
            let _ = writeln!(head, "{line}");
        } else {
            let _ = writeln!(head, "pub fn {}(\n    {},\n){result} {{", self.name, arguments.join(",\n    "));
        }
        head
    }
}

/// Whether the compiler takes a name for snake case.
pub(crate) fn is_snake_case(name: &str) -> bool {
    !name.trim_matches('_').contains("__") && !name.contains(|c: char| c.is_ascii_uppercase())
}

/// Whether a loop repeats such a block and nothing else.
fn has_loop_that(steps: &[Step], repeats: &dyn Fn(&[Node]) -> bool) -> bool {
    steps.iter().any(|step| match step {
        Step::Loop { body, .. } => {
            matches!(&body[..], [Step::Block(nodes)] if repeats(nodes)) || has_loop_that(body, repeats)
        }
        _ => false,
    })
}

/// Constants that have a name in the standard library.
const FAMOUS: &[f64] = &[
    PI,
    TAU,
    E,
    LN_2,
    LN_10,
    LOG2_E,
    LOG2_10,
    LOG10_E,
    LOG10_2,
    SQRT_2,
    FRAC_1_SQRT_2,
    FRAC_PI_2,
    FRAC_PI_3,
    FRAC_PI_4,
    FRAC_PI_6,
    FRAC_PI_8,
    FRAC_1_PI,
    FRAC_2_PI,
    FRAC_2_SQRT_PI,
];

/// Work spaces up to this size are on the stack of the function.
const MOST_ON_STACK: usize = 64;

/// Whether the work space is an argument.
pub(crate) fn takes_work(code: &Code) -> bool {
    code.work > MOST_ON_STACK
}
