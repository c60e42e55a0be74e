//! The layout of a formula: what stands above, below and beside what, independent of the style.
//!
//! Made of a form with the names of its variables; written by `write`.

use super::numbers::{Known, Written, written};
use super::order;
use crate::form::{Aim, Form, Function, LEVELS, Leaf, Power};
use crate::variables::Variables;
use compiled_trace::relation;
use compiled_trace::rules::{ABS, CBRT, CEIL, EXP, FLOOR, OtherUnary, Rules};
use differentiation_interface_core::scalar::Relation;

/// A part of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Layout {
    /// A number that is not negative.
    Number(f64),
    Constant(&'static str, char),
    /// A variable with the index of an element.
    Variable(String, Option<Index>),
    /// Terms, and whether each is subtracted.
    Sum(Vec<(bool, Layout)>),
    Product(Vec<Layout>),
    Fraction(Box<Layout>, Box<Layout>),
    Power(Box<Layout>, Box<Layout>),
    Root(u32, Box<Layout>),
    Exponential(Box<Layout>),
    /// A function of the table, with the exponent that stands at its name.
    Function(u16, Option<Box<Layout>>, Box<Layout>),
    /// A function by its name.
    Call(String, Vec<Layout>),
    /// Between bars or brackets.
    Fenced(Fence, Box<Layout>),
    /// The index, its first and last value, and the term.
    Sigma(char, u64, u64, Box<Layout>),
    /// Values with their conditions; the last one holds otherwise.
    Cases(Vec<(Layout, Layout, Relation, Layout)>, Box<Layout>),
}

/// What stands around an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    Bars,
    Floor,
    Ceiling,
}

/// An index: a number plus multiples of the indices of sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Index {
    pub(super) fixed: i64,
    pub(super) multiples: Vec<(i32, char)>,
}

/// The letters of the indices, from the innermost sum outwards if there is one; two sums have i outside and j inside.
const LETTERS: [char; LEVELS] = ['i', 'j', 'k'];

/// The layout of a form.
pub(crate) fn laid_out(form: &Form, rules: &Rules, variables: &Variables) -> Layout {
    let depth = deepest(form);
    Writer { rules, variables, depth }.of(form)
}

/// The number of levels of sums in a form.
fn deepest(form: &Form) -> usize {
    match form {
        Form::Number(_) | Form::Leaf(_) => 0,
        Form::Function(function, arguments) => {
            let own = if let Function::Sigma { level, .. } = function { usize::from(*level) + 1 } else { 0 };
            arguments.iter().map(deepest).max().unwrap_or(0).max(own)
        }
        Form::Product(_, powers) => {
            powers.iter().map(|p| deepest(&p.base).max(deepest(&p.exponent))).max().unwrap_or(0)
        }
        Form::Sum(terms) => terms.iter().map(deepest).max().unwrap_or(0),
    }
}

struct Writer<'a> {
    rules: &'a Rules,
    variables: &'a Variables,
    depth: usize,
}

impl Writer<'_> {
    fn letter(&self, level: usize) -> char {
        LETTERS[(self.depth - 1).saturating_sub(level).min(LEVELS - 1)]
    }

    fn of(&self, form: &Form) -> Layout {
        match form {
            Form::Number(c) if c.0 < 0.0 => Layout::Sum(vec![(true, self.product(-c.0, &[]))]),
            Form::Number(c) => self.product(c.0, &[]),
            Form::Leaf(leaf) => self.leaf(*leaf),
            Form::Function(function, arguments) => self.function(*function, arguments, None),
            Form::Product(c, powers) if c.0 < 0.0 => Layout::Sum(vec![(true, self.product(-c.0, powers))]),
            Form::Product(c, powers) => self.product(c.0, powers),
            Form::Sum(terms) => {
                let term = |term: &Form| match self.of(term) {
                    Layout::Sum(mut inner) if inner.len() == 1 => inner.remove(0),
                    other => (false, other),
                };
                Layout::Sum(order::terms(terms).into_iter().map(term).collect())
            }
        }
    }

    fn leaf(&self, leaf: Leaf) -> Layout {
        match leaf {
            Leaf::Parameter(i) => {
                Layout::Variable("p".to_string(), Some(Index { fixed: i.into(), multiples: Vec::new() }))
            }
            Leaf::Input(i) => match self.variables.name(i as usize) {
                Some((name, index)) => {
                    let index = index.map(|index| Index { fixed: index as i64, multiples: Vec::new() });
                    Layout::Variable(name.to_string(), index)
                }
                None => Layout::Variable("x".to_string(), Some(Index { fixed: i.into(), multiples: Vec::new() })),
            },
            Leaf::Element { base, strides } => {
                let (name, index) = self.variables.name(base as usize).unwrap_or(("x", Some(base as usize)));
                let first = self.variables.first_index() as i64;
                // Indices of sums begin with the first index, so that most elements are those at the index itself.
                let shift: i64 = strides.iter().map(|stride| i64::from(*stride) * first).sum();
                let fixed = index.unwrap_or(0) as i64 - shift;
                let multiples = (0..LEVELS)
                    .rev()
                    .filter(|level| strides[*level] != 0)
                    .map(|level| (strides[level], self.letter(level)))
                    .collect();
                Layout::Variable(name.to_string(), Some(Index { fixed, multiples }))
            }
        }
    }

    fn function(&self, function: Function, arguments: &[Form], exponent: Option<&Form>) -> Layout {
        let argument = |i: usize| self.of(&arguments[i]);
        let plain = match function {
            Function::Unary(rule) if super::names::function(rule).is_some() => {
                let exponent = exponent.map(|exponent| Box::new(self.of(exponent)));
                return Layout::Function(rule, exponent, Box::new(argument(0)));
            }
            Function::Unary(EXP) => {
                // A power of an exponential has one exponent.
                let exponent = match exponent {
                    Some(n) => self.of(&Form::product(vec![n.clone(), arguments[0].clone()], Aim::Reading)),
                    None => argument(0),
                };
                return Layout::Exponential(Box::new(exponent));
            }
            Function::Unary(ABS) => Layout::Fenced(Fence::Bars, Box::new(argument(0))),
            Function::Unary(FLOOR) => Layout::Fenced(Fence::Floor, Box::new(argument(0))),
            Function::Unary(CEIL) => Layout::Fenced(Fence::Ceiling, Box::new(argument(0))),
            Function::Unary(CBRT) => Layout::Root(3, Box::new(argument(0))),
            Function::Unary(rule) => {
                let name = match self.rules.other_unary(rule) {
                    Some(OtherUnary::Polygamma(0)) => "psi".to_string(),
                    Some(OtherUnary::Polygamma(order)) => format!("psi_{order}"),
                    _ => self.rules.unary_name(rule),
                };
                Layout::Call(name, vec![argument(0)])
            }
            Function::Binary(rule) => {
                let name = self.rules.binary_name(rule).to_string();
                Layout::Call(name, arguments.iter().map(|argument| self.of(argument)).collect())
            }
            Function::Choice(_) => self.cases(function, arguments),
            Function::Sigma { level, count } => {
                let first = self.variables.first_index() as u64;
                let last = first + u64::from(count) - 1;
                Layout::Sigma(self.letter(level.into()), first, last, Box::new(argument(0)))
            }
        };
        match exponent {
            Some(exponent) => Layout::Power(Box::new(plain), Box::new(self.of(exponent))),
            None => plain,
        }
    }

    fn cases(&self, function: Function, arguments: &[Form]) -> Layout {
        let (mut cases, mut function, mut arguments) = (Vec::new(), function, arguments);
        while let (Function::Choice(number), [left, right, then, otherwise]) = (function, arguments) {
            cases.push((self.of(then), self.of(left), relation(number), self.of(right)));
            match otherwise {
                Form::Function(next @ Function::Choice(_), inner) => (function, arguments) = (*next, inner),
                last => return Layout::Cases(cases, Box::new(self.of(last))),
            }
        }
        Layout::Cases(cases, Box::new(Layout::Number(0.0)))
    }

    /// A product with a coefficient that is not negative: a fraction if something stands below.
    fn product(&self, c: f64, powers: &[Power]) -> Layout {
        let Written { above: c, below: d, known_above, known_below } = written(c);
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for power in order::factors(powers) {
            let is_below = power.exponent.value().is_some_and(|n| n < 0.0) && !is_exponential(&power.base);
            let side = if is_below { &mut below } else { &mut above };
            side.push(self.power(power, is_below));
        }
        let constant = |known: Option<Known>| known.map(known_constant);
        let has_factors = !above.is_empty();
        // A fraction of numbers before factors stands for itself: ½ m v².
        if d != 1.0 && below.is_empty() && has_factors && known_below.is_none() {
            let mut top: Vec<Layout> = Vec::new();
            if c != 1.0 || known_above.is_none() {
                top.push(Layout::Number(c));
            }
            top.extend(constant(known_above));
            above.insert(0, Layout::Fraction(Box::new(one(top)), Box::new(Layout::Number(d))));
            return one(above);
        }
        let front: Vec<Layout> =
            (c != 1.0).then_some(Layout::Number(c)).into_iter().chain(constant(known_above)).collect();
        above.splice(0..0, front);
        let front: Vec<Layout> =
            (d != 1.0).then_some(Layout::Number(d)).into_iter().chain(constant(known_below)).collect();
        below.splice(0..0, front);
        if below.is_empty() {
            return one(above);
        }
        // Exponentials stand beside a fraction that has something else above.
        let (beside, above): (Vec<Layout>, Vec<Layout>) =
            above.into_iter().partition(|factor| matches!(factor, Layout::Exponential(_)));
        let (beside, above) = if above.is_empty() { (above, beside) } else { (beside, above) };
        let fraction = Layout::Fraction(Box::new(one(above)), Box::new(one(below)));
        one(std::iter::once(fraction).chain(beside).collect())
    }

    /// A power, or its reciprocal.
    fn power(&self, power: &Power, negated: bool) -> Layout {
        let exponent = match power.exponent.value() {
            Some(n) if negated => Form::number(-n),
            _ => power.exponent.clone(),
        };
        match (exponent.value(), &power.base) {
            (Some(1.0), base) => self.of(base),
            (Some(0.5), base) => Layout::Root(2, Box::new(self.of(base))),
            (Some(n), Form::Function(Function::Unary(CBRT), arguments)) if n.trunc() == n => {
                let power = Form::power(arguments[0].clone(), exponent.clone(), Aim::Reading);
                Layout::Root(3, Box::new(self.of(&power)))
            }
            (_, Form::Function(function, arguments)) => self.function(*function, arguments, Some(&exponent)),
            (_, base) => Layout::Power(Box::new(self.of(base)), Box::new(self.of(&exponent))),
        }
    }
}

fn is_exponential(form: &Form) -> bool {
    matches!(form, Form::Function(Function::Unary(EXP), _))
}

/// A product of any number of factors.
fn one(mut factors: Vec<Layout>) -> Layout {
    match factors.len() {
        0 => Layout::Number(1.0),
        1 => factors.remove(0),
        _ => Layout::Product(factors),
    }
}

fn known_constant(known: Known) -> Layout {
    let root = |of| Layout::Root(2, Box::new(of));
    let ln = |of| Layout::Function(compiled_trace::rules::LN, None, Box::new(Layout::Number(of)));
    match known {
        Known::Pi => Layout::Constant("pi", 'π'),
        Known::E => Layout::Constant("e", 'e'),
        Known::RootOfPi => root(Layout::Constant("pi", 'π')),
        Known::RootOfTwo => root(Layout::Number(2.0)),
        Known::LnOfTwo => ln(2.0),
        Known::LnOfTen => ln(10.0),
    }
}
