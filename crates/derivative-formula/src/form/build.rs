//! From normal form to expressions, which can run and be differentiated.
//!
//! Called for simplified entries and for formulas that are evaluated.

use super::normal::{Form, Function, Leaf, Power};
use crate::expression::{Expressions, Id, Node};
use compiled_trace::rules::{MINUS, NEGATE, OVER, OtherUnary, PLUS, POWF, RECIP, SQRT, TIMES};
use differentiation_interface_core::error::{Error, ErrorKind};

/// Adds a form to expressions of the same rules. Sums over an index are written out.
pub(crate) fn build(form: &Form, expressions: &mut Expressions) -> Result<Id, Error> {
    match form {
        Form::Number(c) => expressions.number(c.0),
        Form::Leaf(Leaf::Input(i)) => expressions.add(Node::Input(*i)),
        Form::Leaf(Leaf::Parameter(i)) => expressions.add(Node::Parameter(*i)),
        // Only bodies have elements, and `Sigma` replaces them.
        Form::Leaf(Leaf::Element { .. }) => Err(ErrorKind::ForeignNumber.into()),
        Form::Function(Function::Sigma { level, count }, body) => {
            let mut terms = Vec::new();
            for index in 0..*count {
                let term = body[0].map_leaves(&mut |leaf| leaf.at(*level, index));
                terms.push(build(&term, expressions)?);
            }
            added(terms.into_iter().map(|term| (false, term)).collect(), expressions)
        }
        Form::Function(function, arguments) => {
            let arguments: Result<Vec<Id>, Error> = arguments.iter().map(|a| build(a, expressions)).collect();
            match (function, &arguments?[..]) {
                (Function::Unary(rule), [a]) => expressions.unary(*rule, *a),
                (Function::Binary(rule), [a, b]) => expressions.binary(*rule, [*a, *b]),
                (Function::Choice(relation), [a, b, c, d]) => expressions.choice(*relation, [*a, *b, *c, *d]),
                _ => Err(ErrorKind::ForeignNumber.into()),
            }
        }
        Form::Sum(terms) => {
            let mut ids = Vec::with_capacity(terms.len());
            for term in terms {
                ids.push(match term {
                    Form::Product(c, powers) if c.0 < 0.0 => (true, product(-c.0, powers, expressions)?),
                    Form::Number(c) if c.0 < 0.0 => (true, expressions.number(-c.0)?),
                    term => (false, build(term, expressions)?),
                });
            }
            // A sum begins with a term that is added.
            ids.sort_by_key(|(is_subtracted, _)| *is_subtracted);
            added(ids, expressions)
        }
        Form::Product(c, powers) => product(c.0, powers, expressions),
    }
}

/// The sum of terms, some of which are subtracted.
fn added(terms: Vec<(bool, Id)>, expressions: &mut Expressions) -> Result<Id, Error> {
    let mut sum = None;
    for (is_subtracted, term) in terms {
        sum = Some(match (sum, is_subtracted) {
            (None, false) => term,
            (None, true) => expressions.unary(NEGATE, term)?,
            (Some(sum), false) => expressions.binary(PLUS, [sum, term])?,
            (Some(sum), true) => expressions.binary(MINUS, [sum, term])?,
        });
    }
    match sum {
        Some(sum) => Ok(sum),
        None => expressions.number(0.0),
    }
}

/// A coefficient times powers: a numerator over a denominator.
fn product(c: f64, powers: &[Power], expressions: &mut Expressions) -> Result<Id, Error> {
    let (mut above, mut below) = (None, None);
    let sign = if c.abs() == 1.0 { c } else { 1.0 };
    if c.abs() != 1.0 {
        above = Some(expressions.number(c)?);
    }
    for power in powers {
        let is_below = power.exponent.value().is_some_and(|n| n < 0.0)
            || matches!(&power.exponent, Form::Product(c, _) if c.0 < 0.0);
        let factor = raised(power, is_below, expressions)?;
        let side = if is_below { &mut below } else { &mut above };
        *side = Some(match *side {
            Some(product) => expressions.binary(TIMES, [product, factor])?,
            None => factor,
        });
    }
    let value = match (above, below) {
        (None, None) => expressions.number(1.0)?,
        (Some(above), None) => above,
        (None, Some(below)) => expressions.unary(RECIP, below)?,
        (Some(above), Some(below)) => expressions.binary(OVER, [above, below])?,
    };
    if sign < 0.0 { expressions.unary(NEGATE, value) } else { Ok(value) }
}

/// A base to its exponent, or to the negative of it.
fn raised(power: &Power, negated: bool, expressions: &mut Expressions) -> Result<Id, Error> {
    let base = build(&power.base, expressions)?;
    if let Some(exponent) = power.exponent.value() {
        let exponent = if negated { -exponent } else { exponent };
        return match exponent {
            1.0 => Ok(base),
            2.0 => expressions.binary(TIMES, [base, base]),
            0.5 => expressions.unary(SQRT, base),
            n => {
                let rule = match power.exponent.integer() {
                    Some(_) => OtherUnary::Powi(n as i32),
                    None => OtherUnary::Powc(n),
                };
                let rule = expressions.rule(rule)?;
                expressions.unary(rule, base)
            }
        };
    }
    let exponent = build(&power.exponent, expressions)?;
    let exponent = if negated { expressions.unary(NEGATE, exponent)? } else { exponent };
    expressions.binary(POWF, [base, exponent])
}
