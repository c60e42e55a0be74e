//! The order in which textbooks write terms and factors.
//!
//! Called by `layout`. Forms are sorted so that equal ones are equal; here they are sorted for a reader.

use crate::form::{Form, Function, Leaf, Power};
use compiled_trace::rules::EXP;

/// The degree of a term as a polynomial in all variables; functions count for nothing.
fn degree(form: &Form) -> f64 {
    match form {
        Form::Leaf(_) => 1.0,
        Form::Product(_, powers) => {
            powers.iter().map(|power| degree(&power.base) * power.exponent.value().unwrap_or(0.0)).sum()
        }
        Form::Sum(terms) => terms.iter().map(degree).fold(0.0, f64::max),
        Form::Function(Function::Sigma { .. }, body) => degree(&body[0]),
        Form::Number(_) | Form::Function(..) => 0.0,
    }
}

/// Whether a term is subtracted.
pub(super) fn is_negative(form: &Form) -> bool {
    match form {
        Form::Number(c) | Form::Product(c, _) => c.0 < 0.0,
        _ => false,
    }
}

/// The terms of a sum: falling powers, a positive one first; a constant before a single power or exponential, after anything else.
pub(super) fn terms(terms: &[Form]) -> Vec<&Form> {
    let mut sorted: Vec<&Form> = terms.iter().collect();
    sorted.sort_by(|a, b| {
        let by_kind = a.value().is_some().cmp(&b.value().is_some());
        let by_degree = degree(b).total_cmp(&degree(a));
        by_kind.then(by_degree).then_with(|| is_negative(a).cmp(&is_negative(b))).then_with(|| place(a).cmp(&place(b)))
    });
    let is_constant = |form: &&Form| form.value().is_some();
    if let [other, constant] = sorted[..]
        && is_constant(&constant)
        && !is_negative(constant)
        && (is_negative(other) || is_power(other))
    {
        sorted.swap(0, 1);
    }
    if let Some(first) = sorted.iter().position(|term| !is_negative(term)) {
        let term = sorted.remove(first);
        sorted.insert(0, term);
    }
    sorted
}

/// Whether a constant is usually written before this.
fn is_power(form: &Form) -> bool {
    match form {
        Form::Product(..) => true,
        Form::Function(Function::Unary(rule), _) => *rule == EXP,
        _ => false,
    }
}

/// The place of a factor or term among others: variables as they were named, sums, roots, functions, sums over an index.
fn place(form: &Form) -> (u8, u32, Form) {
    let group = match form {
        Form::Number(_) => 0,
        Form::Leaf(_) => 1,
        Form::Product(_, powers) => {
            return powers.first().map_or((0, 0, form.clone()), |power| {
                let (group, at, _) = place(&power.base);
                (group, at, form.clone())
            });
        }
        Form::Sum(_) => 2,
        Form::Function(Function::Sigma { .. }, _) => 5,
        Form::Function(Function::Choice(_), _) => 4,
        Form::Function(..) => 3,
    };
    let at = match form {
        Form::Leaf(Leaf::Input(i)) => *i,
        Form::Leaf(Leaf::Element { base, .. }) => *base,
        Form::Leaf(Leaf::Parameter(i)) => u32::MAX / 2 + *i,
        Form::Function(Function::Unary(rule) | Function::Binary(rule), _) => u32::from(*rule),
        _ => 0,
    };
    (group, at, form.clone())
}

/// The powers of a product.
pub(super) fn factors(powers: &[Power]) -> Vec<&Power> {
    let mut sorted: Vec<&Power> = powers.iter().collect();
    sorted.sort_by_key(|power| (is_after_variables(power), place(&power.base)));
    sorted
}

/// Whether a power of a variable stands after the other variables: x to a power that is no number.
fn is_after_variables(power: &Power) -> bool {
    !matches!(power.base, Form::Leaf(_)) || power.exponent.value().is_none()
}
