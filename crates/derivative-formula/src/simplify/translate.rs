//! Between forms and the language of the e-graph.
//!
//! Called before and after saturation.

use super::language::{Math, Variable};
use crate::form::{Aim, Form, Power};
use egg::{Id, RecExpr};

/// The expression of a form.
pub(super) fn to_math(form: &Form) -> RecExpr<Math> {
    let mut expression = RecExpr::default();
    add(form, &mut expression);
    expression
}

fn add(form: &Form, to: &mut RecExpr<Math>) -> Id {
    match form {
        Form::Number(number) => to.add(Math::Number(*number)),
        Form::Leaf(leaf) => to.add(Math::Leaf(Variable(*leaf))),
        Form::Function(function, arguments) => {
            let arguments = arguments.iter().map(|argument| add(argument, to)).collect();
            to.add(Math::Function(*function, arguments))
        }
        Form::Sum(terms) => {
            let ids: Vec<Id> = terms.iter().map(|term| add(term, to)).collect();
            joined(ids, Math::Add, to)
        }
        Form::Product(c, powers) => {
            let mut ids = Vec::with_capacity(powers.len() + 1);
            if c.0 != 1.0 {
                ids.push(to.add(Math::Number(*c)));
            }
            for Power { base, exponent } in powers {
                let base = add(base, to);
                ids.push(if exponent.value() == Some(1.0) {
                    base
                } else {
                    let exponent = add(exponent, to);
                    to.add(Math::Pow([base, exponent]))
                });
            }
            joined(ids, Math::Mul, to)
        }
    }
}

/// A chain of operations of two. Forms have at least one term or factor.
fn joined(ids: Vec<Id>, make: impl Fn([Id; 2]) -> Math, to: &mut RecExpr<Math>) -> Id {
    let mut ids = ids.into_iter().rev();
    let last = ids.next().expect("sums and products are not empty");
    ids.fold(last, |rest, id| to.add(make([id, rest])))
}

/// The form of an expression.
pub(super) fn to_form(expression: &RecExpr<Math>, aim: Aim) -> Form {
    let mut forms: Vec<Form> = Vec::with_capacity(expression.as_ref().len());
    for node in expression.as_ref() {
        let get = |id: &Id| forms[usize::from(*id)].clone();
        let form = match node {
            Math::Number(number) => Form::Number(*number),
            Math::Leaf(Variable(leaf)) => Form::Leaf(*leaf),
            Math::Add(pair) => Form::sum(pair.iter().map(get).collect(), aim),
            Math::Mul(pair) => Form::product(pair.iter().map(get).collect(), aim),
            Math::Pow([base, exponent]) => Form::power(get(base), get(exponent), aim),
            Math::Function(function, arguments) => Form::function(*function, arguments.iter().map(get).collect(), aim),
        };
        forms.push(form);
    }
    forms.pop().expect("an expression has a root")
}
