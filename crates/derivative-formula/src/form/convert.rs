//! From expressions to normal form.
//!
//! Called for formulas and for entries that are simplified. To be read, the rules that a derivative of the table uses for accuracy are
//! written as textbooks define them.

use super::normal::{Aim, Form, Function, Leaf};
use crate::expression::{Expressions, Id, Node};
use compiled_trace::rules::*;
use rustc_hash::FxHashMap;

/// The deepest nesting of a form. Forms are read and printed by recursion.
const DEEPEST: usize = 150;

/// The normal form of an expression; `None` if it has more than `most` parts, where each is counted as often as it is used, or is
/// nested more than 150 deep.
pub(crate) fn convert(expressions: &Expressions, root: Id, aim: Aim, most: usize) -> Option<Form> {
    // The form, its size and its depth.
    let mut known: FxHashMap<Id, (Form, usize, usize)> = FxHashMap::default();
    let mut stack = vec![(root, false)];
    while let Some((id, is_ready)) = stack.pop() {
        if known.contains_key(&id) {
            continue;
        }
        let parts = parts(expressions, id, most)?;
        if !is_ready {
            stack.push((id, true));
            stack.extend(parts.iter().rev().map(|(_, part)| (*part, false)));
            continue;
        }
        let size = parts.iter().fold(1_usize, |size, (_, part)| size.saturating_add(known[part].1));
        let depth = 1 + parts.iter().map(|(_, part)| known[part].2).max().unwrap_or(0);
        if size > most || depth > DEEPEST {
            return None;
        }
        let form = one(expressions, id, &parts, aim, |part| known[part].0.clone());
        known.insert(id, (form, size, depth));
    }
    known.remove(&root).map(|(form, ..)| form)
}

/// The parts of an expression, and whether each is subtracted: its operands, or all terms or factors of a chain of sums or products.
/// `None` if there are more than `most`.
fn parts(expressions: &Expressions, id: Id, most: usize) -> Option<Vec<(bool, Id)>> {
    let is_sum = |node| matches!(node, Node::Binary(PLUS | MINUS, _));
    let is_product = |node| matches!(node, Node::Binary(TIMES, _));
    let node = expressions.node(id);
    if !is_sum(node) && !is_product(node) {
        return Some(node.operands().iter().map(|operand| (false, *operand)).collect());
    }
    let (mut found, mut stack) = (Vec::new(), vec![(false, id)]);
    while let Some((is_subtracted, part)) = stack.pop() {
        match expressions.node(part) {
            Node::Binary(rule, [a, b]) if is_sum(node) && matches!(rule, PLUS | MINUS) => {
                stack.push((is_subtracted != (rule == MINUS), b));
                stack.push((is_subtracted, a));
            }
            Node::Binary(TIMES, [a, b]) if is_product(node) => stack.extend([(false, b), (false, a)]),
            _ => found.push((is_subtracted, part)),
        }
        if found.len() + stack.len() > most {
            return None;
        }
    }
    Some(found)
}

/// The form of one expression, whose parts have the forms `of`.
fn one(expressions: &Expressions, id: Id, parts: &[(bool, Id)], aim: Aim, of: impl Fn(&Id) -> Form) -> Form {
    match expressions.node(id) {
        Node::Number(bits) => Form::number(f64::from_bits(bits)),
        Node::Input(i) => Form::Leaf(Leaf::Input(i)),
        Node::Parameter(i) => Form::Leaf(Leaf::Parameter(i)),
        Node::Unary(rule, a) => unary(expressions, rule, of(&a), aim),
        Node::Binary(PLUS | MINUS, _) => {
            let term = |(is_subtracted, part): &(bool, Id)| match is_subtracted {
                true => Form::product(vec![Form::number(-1.0), of(part)], aim),
                false => of(part),
            };
            Form::sum(parts.iter().map(term).collect(), aim)
        }
        Node::Binary(TIMES, _) => Form::product(parts.iter().map(|(_, part)| of(part)).collect(), aim),
        Node::Binary(rule, [a, b]) => binary(rule, of(&a), of(&b), aim),
        Node::Choice(relation, operands) => {
            Form::Function(Function::Choice(relation), operands.iter().map(of).collect())
        }
    }
}

fn unary(expressions: &Expressions, rule: u16, x: Form, aim: Aim) -> Form {
    if let NEGATE = rule {
        return Form::product(vec![Form::number(-1.0), x], aim);
    }
    match expressions.rules().other_unary(rule) {
        Some(OtherUnary::Powi(n)) => return Form::power(x, Form::number((*n).into()), aim),
        Some(OtherUnary::Powc(c)) if aim == Aim::Reading => return Form::power(x, Form::number(*c), aim),
        _ => {}
    }
    match aim {
        Aim::Running if rule == RECIP => Form::power(x, Form::number(-1.0), aim),
        Aim::Running => Form::Function(Function::Unary(rule), vec![x]),
        Aim::Reading => written_out(rule, x),
    }
}

fn binary(rule: u16, x: Form, y: Form, aim: Aim) -> Form {
    match rule {
        OVER => Form::product(vec![x, Form::power(y, Form::number(-1.0), aim)], aim),
        _ if aim == Aim::Reading => written_out_2(rule, x, y),
        _ => Form::Function(Function::Binary(rule), vec![x, y]),
    }
}

/// Short names for forms to be read.
fn number(value: f64) -> Form {
    Form::number(value)
}
fn sum<const N: usize>(terms: [Form; N]) -> Form {
    Form::sum(terms.into(), Aim::Reading)
}
fn product<const N: usize>(factors: [Form; N]) -> Form {
    Form::product(factors.into(), Aim::Reading)
}
fn power(base: Form, exponent: f64) -> Form {
    Form::power(base, number(exponent), Aim::Reading)
}
fn of(rule: u16, x: Form) -> Form {
    Form::Function(Function::Unary(rule), vec![x])
}

/// A rule of one argument by its definition, where a textbook would write that.
fn written_out(rule: u16, x: Form) -> Form {
    match rule {
        RECIP => power(x, -1.0),
        SQRT => power(x, 0.5),
        EXP_M1 => sum([of(EXP, x), number(-1.0)]),
        LN_1P => of(LN, sum([number(1.0), x])),
        EXP2 => Form::power(number(2.0), x, Aim::Reading),
        SECH_SQUARED => power(of(COSH, x), -2.0),
        ONE_MINUS_SQUARE => one_minus_square(x),
        ASIN_SLOPE => power(one_minus_square(x), -0.5),
        ATAN_SLOPE => power(sum([number(1.0), power(x, 2.0)]), -1.0),
        HYPOT_ONE => power(sum([number(1.0), power(x, 2.0)]), 0.5),
        ACOSH_SLOPE => power(sum([power(x, 2.0), number(-1.0)]), -0.5),
        GAUSS => of(EXP, product([number(-1.0), power(x, 2.0)])),
        LOGISTIC => power(sum([number(1.0), of(EXP, product([number(-1.0), x]))]), -1.0),
        LOGISTIC_SLOPE => {
            let e = of(EXP, product([number(-1.0), x]));
            product([e.clone(), power(sum([number(1.0), e]), -2.0)])
        }
        SOFTPLUS => of(LN, sum([number(1.0), of(EXP, x)])),
        CBRT_SLOPE => product([power(number(3.0), -1.0), power(of(CBRT, x), -2.0)]),
        _ => of(rule, x),
    }
}

fn one_minus_square(x: Form) -> Form {
    sum([number(1.0), product([number(-1.0), power(x, 2.0)])])
}

/// A rule of two arguments by its definition, where a textbook would write that.
fn written_out_2(rule: u16, x: Form, y: Form) -> Form {
    let norm = |exponent| power(sum([power(x.clone(), 2.0), power(y.clone(), 2.0)]), exponent);
    let less = |y: &Form, by: f64| sum([y.clone(), number(-by)]);
    let raised = |exponent: Form| Form::power(x.clone(), exponent, Aim::Reading);
    match rule {
        POWF => raised(y),
        POWF_BY_BASE => product([y.clone(), raised(less(&y, 1.0))]),
        POWF_BY_EXPONENT => product([raised(y), of(LN, x)]),
        POWF_BY_BASE_TWICE => product([y.clone(), less(&y, 1.0), raised(less(&y, 2.0))]),
        POWF_BY_BASE_THRICE => product([y.clone(), less(&y, 1.0), less(&y, 2.0), raised(less(&y, 3.0))]),
        POWF_MIXED => product([raised(less(&y, 1.0)), sum([number(1.0), product([y, of(LN, x)])])]),
        POWF_BY_EXPONENT_TWICE => product([raised(y), power(of(LN, x), 2.0)]),
        HYPOT => norm(0.5),
        DIRECTION => product([x.clone(), norm(-0.5)]),
        HYPOT_BEND => product([power(y.clone(), 2.0), norm(-1.5)]),
        HYPOT_CROSS => product([number(-1.0), x.clone(), y.clone(), norm(-1.5)]),
        // x / (x² + y²), its derivatives by x and by y.
        ANGULAR => product([x.clone(), norm(-1.0)]),
        ANGULAR_BEND => {
            let difference = sum([power(y.clone(), 2.0), product([number(-1.0), power(x.clone(), 2.0)])]);
            product([difference, norm(-2.0)])
        }
        ANGULAR_CROSS => product([number(-2.0), x.clone(), y.clone(), norm(-2.0)]),
        TOGETHER | ODD_SUM => sum([x, y]),
        PRODUCT_ERROR | SUM_ERROR => number(0.0),
        _ => Form::Function(Function::Binary(rule), vec![x, y]),
    }
}
