//! Forms, and the constructors that keep them normal.
//!
//! Called wherever forms are made; the only place where terms and factors are collected.

use super::number::{Number, exact_power, exact_product, exact_sum};
use std::fmt;

/// What a form is for, which decides how much it may differ from what was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// To be read: special functions are written out, x/x is 1, 0 · x is 0.
    Reading,
    /// To be run: terms and factors may be reordered and collected, and nothing is cancelled.
    Running,
}

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Leaf {
    Input(u32),
    Parameter(u32),
    /// In the body of a sum: input `base + Σ strides[level] · index of the level`.
    Element {
        base: u32,
        strides: [i32; LEVELS],
    },
}

/// How deep sums can nest.
pub(crate) const LEVELS: usize = 3;

/// A function that is no sum, product or power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Function {
    /// A rule of one argument.
    Unary(u16),
    /// A rule of two arguments.
    Binary(u16),
    /// The third argument if the first is in the relation to the second, else the fourth.
    Choice(u8),
    /// The sum of the argument over `count` values of the index of this level.
    Sigma { level: u8, count: u32 },
}

/// A base with its exponent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Power {
    pub(crate) base: Form,
    pub(crate) exponent: Form,
}

/// An expression in normal form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Form {
    Number(Number),
    Leaf(Leaf),
    Function(Function, Vec<Form>),
    /// A coefficient and powers, sorted.
    Product(Number, Vec<Power>),
    /// At least two terms, sorted.
    Sum(Vec<Form>),
}

impl Form {
    pub(crate) fn number(value: f64) -> Form {
        Form::Number(Number(value))
    }

    /// The number that it is.
    pub(crate) fn value(&self) -> Option<f64> {
        match self {
            Form::Number(number) => Some(number.0),
            _ => None,
        }
    }

    /// The number that it is, if that is an integer of moderate size.
    pub(crate) fn integer(&self) -> Option<i32> {
        let value = self.value()?;
        (value.trunc() == value && value.abs() < 1e6).then_some(value as i32)
    }

    /// The coefficient and what it multiplies.
    fn split(self) -> (f64, Form) {
        match self {
            Form::Product(c, powers) => (c.0, joined(1.0, powers)),
            other => (1.0, other),
        }
    }

    /// Calls `act` with each function in it.
    pub(crate) fn each_function(&self, act: &mut impl FnMut(Function)) {
        match self {
            Form::Number(_) | Form::Leaf(_) => {}
            Form::Function(function, arguments) => {
                act(*function);
                arguments.iter().for_each(|argument| argument.each_function(act));
            }
            Form::Product(_, powers) => powers.iter().for_each(|power| {
                power.base.each_function(act);
                power.exponent.each_function(act);
            }),
            Form::Sum(terms) => terms.iter().for_each(|term| term.each_function(act)),
        }
    }

    /// The same with `change` applied to its leaves.
    pub(crate) fn map_leaves(&self, change: &mut impl FnMut(Leaf) -> Leaf) -> Form {
        match self {
            Form::Number(_) => self.clone(),
            Form::Leaf(leaf) => Form::Leaf(change(*leaf)),
            Form::Function(function, arguments) => {
                Form::Function(*function, arguments.iter().map(|a| a.map_leaves(change)).collect())
            }
            Form::Product(c, powers) => {
                let power =
                    |p: &Power| Power { base: p.base.map_leaves(change), exponent: p.exponent.map_leaves(change) };
                Form::Product(*c, powers.iter().map(power).collect())
            }
            Form::Sum(terms) => Form::Sum(terms.iter().map(|t| t.map_leaves(change)).collect()),
        }
    }

    /// A function. Factors that do not depend on the index of a sum stand before it.
    pub(crate) fn function(function: Function, mut arguments: Vec<Form>, aim: Aim) -> Form {
        let (Function::Sigma { level, count }, [body]) = (function, &arguments[..]) else {
            return Form::Function(function, arguments);
        };
        if !body.depends_on(level) {
            return Form::product(vec![Form::number(count.into()), arguments.remove(0)], aim);
        }
        let Form::Product(c, powers) = body else { return Form::Function(function, arguments) };
        let (inside, outside): (Vec<Power>, Vec<Power>) =
            powers.iter().cloned().partition(|power| power.base.depends_on(level) || power.exponent.depends_on(level));
        let sum = Form::Function(function, vec![joined(1.0, inside)]);
        Form::product(vec![joined(c.0, outside), sum], aim)
    }

    /// Whether it contains the index of a level.
    fn depends_on(&self, level: u8) -> bool {
        match self {
            Form::Number(_) => false,
            Form::Leaf(Leaf::Element { strides, .. }) => strides[usize::from(level)] != 0,
            Form::Leaf(_) => false,
            Form::Function(_, arguments) => arguments.iter().any(|argument| argument.depends_on(level)),
            Form::Product(_, powers) => {
                powers.iter().any(|power| power.base.depends_on(level) || power.exponent.depends_on(level))
            }
            Form::Sum(terms) => terms.iter().any(|term| term.depends_on(level)),
        }
    }

    /// A sum of terms.
    pub(crate) fn sum(terms: Vec<Form>, aim: Aim) -> Form {
        let mut flat = Vec::with_capacity(terms.len());
        for term in terms {
            match term {
                Form::Sum(inner) => flat.extend(inner),
                term => flat.push(term),
            }
        }
        // The coefficients of equal terms; numbers are coefficients of one.
        let mut collected: Vec<(Form, f64)> = Vec::with_capacity(flat.len());
        let mut places: rustc_hash::FxHashMap<Form, Vec<usize>> = Default::default();
        for term in flat {
            let (c, rest) = match term {
                Form::Number(c) => (c.0, Form::number(1.0)),
                term => term.split(),
            };
            let known = places.entry(rest.clone()).or_default();
            let joined = known.iter().find_map(|place| {
                let may = aim == Aim::Reading || (c < 0.0) == (collected[*place].1 < 0.0);
                exact_sum(collected[*place].1, c).filter(|_| may).map(|sum| (*place, sum))
            });
            match joined {
                Some((place, sum)) => collected[place].1 = sum,
                None => {
                    known.push(collected.len());
                    collected.push((rest, c));
                }
            }
        }
        let is_term = |(rest, c): &(Form, f64)| *c != 0.0 || (aim == Aim::Running && *rest != Form::number(1.0));
        let mut terms: Vec<Form> =
            collected.into_iter().filter(is_term).map(|(rest, c)| Form::scaled(c, rest)).collect();
        match terms.len() {
            0 => Form::number(0.0),
            1 => terms.remove(0),
            _ => {
                terms.sort();
                Form::Sum(terms)
            }
        }
    }

    /// A coefficient times a form without one.
    fn scaled(c: f64, rest: Form) -> Form {
        match rest {
            Form::Number(Number(1.0)) => Form::number(c),
            rest if c == 1.0 => rest,
            Form::Product(Number(1.0), powers) => Form::Product(Number(c), powers),
            rest => Form::Product(Number(c), vec![Power { base: rest, exponent: Form::number(1.0) }]),
        }
    }

    /// A product of factors.
    pub(crate) fn product(factors: Vec<Form>, aim: Aim) -> Form {
        let mut coefficient = 1.0;
        let mut powers: Vec<Power> = Vec::with_capacity(factors.len());
        let mut multiply = |powers: &mut Vec<Power>, number: f64| match exact_product(coefficient, number) {
            Some(product) => coefficient = product,
            None => powers.push(Power { base: Form::number(number), exponent: Form::number(1.0) }),
        };
        for factor in factors {
            match factor {
                Form::Number(number) => multiply(&mut powers, number.0),
                Form::Product(c, inner) => {
                    multiply(&mut powers, c.0);
                    inner.into_iter().for_each(|power| collect(&mut powers, power, aim));
                }
                base => collect(&mut powers, Power { base, exponent: Form::number(1.0) }, aim),
            }
        }
        // Exponents that add up to 1, as those of two roots, leave a product as a base, whose factors are factors here.
        let is_nested = |power: &Power| power.exponent.value() == Some(1.0) && matches!(power.base, Form::Product(..));
        while let Some(nested) = powers.iter().position(is_nested) {
            if let Form::Product(c, inner) = powers.swap_remove(nested).base {
                multiply(&mut powers, c.0);
                inner.into_iter().for_each(|power| collect(&mut powers, power, aim));
            }
        }
        if coefficient == 0.0 && aim == Aim::Reading {
            return Form::number(0.0);
        }
        powers.retain(|power| power.exponent.value() != Some(0.0));
        if aim == Aim::Reading {
            for power in powers.iter_mut().filter(|power| power.exponent.value() == Some(1.0)) {
                if let Some((divisor, rest)) = common_divisor(&power.base)
                    && let Some(product) = exact_product(coefficient, divisor)
                {
                    (coefficient, power.base) = (product, rest);
                }
            }
        }
        joined(coefficient, powers)
    }

    /// A power.
    pub(crate) fn power(base: Form, exponent: Form, aim: Aim) -> Form {
        match (&base, exponent.integer()) {
            (_, Some(1)) => return base,
            (_, Some(0)) if aim == Aim::Reading => return Form::number(1.0),
            (Form::Number(b), Some(n)) if let Some(power) = exact_power(b.0, n) => return Form::number(power),
            (Form::Product(c, powers), Some(n)) => {
                let is_allowed = |p: &Power| aim == Aim::Reading || p.exponent.integer().is_some_and(|m| m != 0);
                if powers.iter().all(is_allowed) {
                    let mut factors = vec![Form::power(Form::Number(*c), exponent.clone(), aim)];
                    for p in powers {
                        let exponent = Form::product(vec![p.exponent.clone(), Form::number(n.into())], aim);
                        factors.push(joined(1.0, vec![Power { base: p.base.clone(), exponent }]));
                    }
                    return Form::product(factors, aim);
                }
            }
            _ => {}
        }
        joined(1.0, vec![Power { base, exponent }])
    }
}

/// The greatest common divisor of the coefficients of a sum, if they are integers and it is not 1, and the sum without it.
fn common_divisor(form: &Form) -> Option<(f64, Form)> {
    let Form::Sum(terms) = form else { return None };
    let mut divisor = 0_u64;
    for term in terms {
        let c = match term {
            Form::Number(c) | Form::Product(c, _) => c.0.abs(),
            _ => 1.0,
        };
        if c.trunc() != c || c > 1e9 {
            return None;
        }
        let (mut a, mut b) = (divisor, c as u64);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        divisor = a;
    }
    if divisor < 2 {
        return None;
    }
    let divided = terms.iter().cloned().map(|term| match term {
        Form::Number(c) => Form::number(c.0 / divisor as f64),
        Form::Product(c, powers) => joined(c.0 / divisor as f64, powers),
        term => term,
    });
    Some((divisor as f64, Form::sum(divided.collect(), Aim::Reading)))
}

/// Adds a power to others, to that of the same base if it can be.
fn collect(powers: &mut Vec<Power>, new: Power, aim: Aim) {
    for known in powers.iter_mut().filter(|known| known.base == new.base) {
        let may = match aim {
            Aim::Reading => true,
            Aim::Running => matches!(
                (known.exponent.integer(), new.exponent.integer()), (Some(m), Some(n)) if (m > 0) == (n > 0)
            ),
        };
        if may {
            known.exponent = Form::sum(vec![known.exponent.clone(), new.exponent], aim);
            return;
        }
    }
    powers.push(new);
}

/// The product of a coefficient and collected powers.
fn joined(c: f64, mut powers: Vec<Power>) -> Form {
    if powers.is_empty() {
        return Form::number(c);
    }
    if let (1.0, [Power { exponent, .. }]) = (c, &powers[..])
        && exponent.value() == Some(1.0)
    {
        return powers.remove(0).base;
    }
    powers.sort();
    Form::Product(Number(c), powers)
}

/// For messages of the simplifier; formulas are printed by `print`.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Function::Unary(rule) => write!(f, "u{rule}"),
            Function::Binary(rule) => write!(f, "b{rule}"),
            Function::Choice(relation) => write!(f, "c{relation}"),
            Function::Sigma { level, count } => write!(f, "s{level}_{count}"),
        }
    }
}
