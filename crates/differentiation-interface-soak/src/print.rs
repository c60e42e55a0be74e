//! Programs as readable pseudo-Rust.
//!
//! Called by `main` for reports and `--show`.

use crate::program::{
    Binary, Expression, Operand, Place, Program, REGISTER_BEGINS, Relation, Special, Statement, Unary, WORK_BEGINS,
};
use std::fmt::{self, Display, Formatter};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "fn program(x: &[T; {}]) -> [T; {}] {{", self.inputs, self.outputs.len())?;
        let used = format!("{:?}{:?}", self.body, self.outputs);
        for k in (0..self.registers).filter(|k| used.contains(&format!("Register({k})"))) {
            writeln!(f, "    let mut r{k} = {REGISTER_BEGINS};")?;
        }
        if used.contains("Work") {
            writeln!(f, "    let mut work = [{WORK_BEGINS}; {}];", self.work)?;
        }
        let printer = Printer { inputs: self.inputs, work: self.work };
        printer.statements(f, &self.body, 1, "i")?;
        let outputs: Vec<_> = self.outputs.iter().map(|output| printer.operand(output, "0")).collect();
        writeln!(f, "    [{}]\n}}", outputs.join(", "))
    }
}

struct Printer {
    inputs: usize,
    work: usize,
}

fn place_at(start: usize, stride: usize, count: usize, i: &str) -> String {
    format!("({start} + {stride} * {i}) % {count}")
}

impl Printer {
    fn operand(&self, operand: &Operand, i: &str) -> String {
        match *operand {
            Operand::Input(k) => format!("x[{}]", k % self.inputs),
            Operand::InputAt { start, stride } => format!("x[{}]", place_at(start, stride, self.inputs, i)),
            Operand::Register(k) => format!("r{k}"),
            Operand::Work(k) => format!("work[{k}]"),
            Operand::WorkAt { start, stride } => format!("work[{}]", place_at(start, stride, self.work, i)),
            Operand::Constant(value) => format!("{value:?}"),
        }
    }

    fn place(&self, place: &Place, i: &str) -> String {
        match *place {
            Place::Register(k) => format!("r{k}"),
            Place::Work(k) => format!("work[{k}]"),
            Place::WorkAt { start, stride } => format!("work[{}]", place_at(start, stride, self.work, i)),
        }
    }

    fn expression(&self, expression: &Expression, i: &str) -> String {
        let o = |operand: &Operand| self.operand(operand, i);
        match expression {
            Expression::Copy(a) => o(a),
            Expression::Unary(Unary::Neg, a) => format!("-{}", o(a)),
            Expression::Unary(function, a) => applied(*function, &o(a)),
            Expression::Binary(function, a, b) => {
                let (a, b) = (o(a), o(b));
                match function {
                    Binary::Add => format!("{a} + {b}"),
                    Binary::Sub => format!("{a} - {b}"),
                    Binary::Mul => format!("{a} * {b}"),
                    Binary::Div => format!("{a} / {b}"),
                    Binary::Rem => format!("{a} % {b}"),
                    _ => format!("{a}.{}({b})", method(&format!("{function:?}"))),
                }
            }
            Expression::MulAdd(a, b, c) => format!("{}.mul_add({}, {})", o(a), o(b), o(c)),
            Expression::Clamp(a, low, high) => format!("{}.clamp({low:?}, {high:?})", o(a)),
            Expression::Select { relation, a, b, then, otherwise } => {
                let name = match relation {
                    Relation::Less => "less_than",
                    Relation::LessOrEqual => "at_most",
                    Relation::Greater => "greater_than",
                    Relation::GreaterOrEqual => "at_least",
                    Relation::Equal => "equal_to",
                };
                format!("{}.{name}({}).select({}, {})", o(a), o(b), o(then), o(otherwise))
            }
            Expression::Table(a, table) => {
                format!("{table:?}[{}.to_i64().unwrap_or(0).rem_euclid({})]", o(a), table.len())
            }
            Expression::Lookup(a, among) => {
                let list: Vec<_> = among.iter().map(o).collect();
                format!("[{}][{}.to_i64().unwrap_or(0).rem_euclid({})]", list.join(", "), o(a), among.len())
            }
            Expression::Special(function, a, b) => {
                let name = match function {
                    Special::ByPushforward => "custom_rule_a2b_plus_sin_b",
                    Special::ByPullback => "custom_rule_ab_minus_b2_plus_a_plus_2b",
                    Special::NestedForward => "forward_derivative_by_y_of_sin_ay_plus_ay2",
                    Special::NestedReverse => "tape_gradient_by_u_of_u2v_plus_exp_minus_uv",
                };
                format!("{name}({}, {})", o(a), o(b))
            }
            Expression::SumOfInputs(function) => format!("x.iter().map(|v| {}).sum()", applied(*function, "v")),
            Expression::ProductOfInputs => "x.iter().product()".to_owned(),
        }
    }

    fn statements(&self, f: &mut Formatter<'_>, body: &[Statement], depth: usize, i: &str) -> fmt::Result {
        let indent = "    ".repeat(depth);
        let next = ["i", "j", "k", "l", "m"][depth.min(5) - 1];
        for statement in body {
            match statement {
                Statement::Set { place, value } => {
                    writeln!(f, "{indent}{} = {};", self.place(place, i), self.expression(value, i))?;
                }
                Statement::For { trips, body } => {
                    writeln!(f, "{indent}for {next} in 0..{trips} {{")?;
                    self.statements(f, body, depth + 1, next)?;
                    writeln!(f, "{indent}}}")?;
                }
                Statement::If { relation, a, b, then, otherwise } => {
                    let (a, b) = (self.operand(a, i), self.operand(b, i));
                    writeln!(f, "{indent}if {a} {} {b} {{", sign(*relation))?;
                    self.statements(f, then, depth + 1, i)?;
                    if !otherwise.is_empty() {
                        writeln!(f, "{indent}}} else {{")?;
                        self.statements(f, otherwise, depth + 1, i)?;
                    }
                    writeln!(f, "{indent}}}")?;
                }
                Statement::While { relation, a, b, limit, body } => {
                    let (a, b) = (self.operand(a, i), self.operand(b, i));
                    writeln!(f, "{indent}for {next} in 0..{limit} {{")?;
                    writeln!(f, "{indent}    if !({a} {} {b}) {{ break }}", sign(*relation))?;
                    self.statements(f, body, depth + 1, next)?;
                    writeln!(f, "{indent}}}")?;
                }
            }
        }
        Ok(())
    }
}

fn sign(relation: Relation) -> &'static str {
    match relation {
        Relation::Less => "<",
        Relation::LessOrEqual => "<=",
        Relation::Greater => ">",
        Relation::GreaterOrEqual => ">=",
        Relation::Equal => "==",
    }
}

fn applied(function: Unary, a: &str) -> String {
    match function {
        Unary::Powi(n) => format!("{a}.powi({n})"),
        Unary::Powc(c) => format!("{a}.powc({c:?})"),
        Unary::Bell => format!("{a}.apply(XOverOnePlusX2)"),
        _ => format!("{a}.{}()", method(&format!("{function:?}"))),
    }
}

/// `AbsSub` as `abs_sub`.
fn method(variant: &str) -> String {
    let mut name = String::new();
    for (k, c) in variant.chars().enumerate() {
        if c.is_uppercase() && k > 0 {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name.replace("ln1p", "ln_1p")
}
