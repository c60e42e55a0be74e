//! Finds sums over an index: terms that are equal but for the elements of arrays in them, whose positions are in arithmetic progression.
//!
//! Called for formulas to be read. Bodies are rolled before the terms around them, so that double sums are found.

use super::normal::{Aim, Form, Function, LEVELS, Leaf, Power};
use std::collections::BTreeMap;

/// The fewest terms that are written as a sum over an index.
const FEWEST: usize = 3;

impl Leaf {
    /// The leaf at a value of the index of a level.
    pub(crate) fn at(self, level: u8, index: u32) -> Leaf {
        let Leaf::Element { base, mut strides } = self else { return self };
        let stride = std::mem::take(&mut strides[level as usize]);
        let base = (i64::from(base) + i64::from(stride) * i64::from(index)) as u32;
        if strides == [0; LEVELS] { Leaf::Input(base) } else { Leaf::Element { base, strides } }
    }
}

/// The form with sums over an index where it repeats terms. `array` gives the array of an input, if it is an element of one.
pub(crate) fn rolled(form: &Form, array: &impl Fn(u32) -> Option<u32>) -> Form {
    match form {
        Form::Number(_) | Form::Leaf(_) => form.clone(),
        Form::Function(function, arguments) => {
            Form::Function(*function, arguments.iter().map(|a| rolled(a, array)).collect())
        }
        Form::Product(c, powers) => {
            // A base can become a product itself, whose factors stand before a sum over an index.
            let power = |p: &Power| Form::power(rolled(&p.base, array), rolled(&p.exponent, array), Aim::Reading);
            let factors = std::iter::once(Form::Number(*c)).chain(powers.iter().map(power));
            Form::product(factors.collect(), Aim::Reading)
        }
        Form::Sum(terms) => {
            let mut form = Form::sum(terms.iter().map(|term| rolled(term, array)).collect(), Aim::Reading);
            // Sums of sums are found when the inner ones are.
            for _ in 0..LEVELS {
                match &form {
                    Form::Sum(terms) => form = rolled_terms(terms, array),
                    _ => break,
                }
            }
            form
        }
    }
}

/// The sum of terms, with those that differ in positions alone as sums over an index.
fn rolled_terms(terms: &[Form], array: &impl Fn(u32) -> Option<u32>) -> Form {
    let mut groups: BTreeMap<Form, Vec<(Vec<u32>, Form)>> = BTreeMap::new();
    for term in terms {
        let mut positions = Vec::new();
        let shape = term.map_leaves(&mut |leaf| match position(leaf, array) {
            Some((position, of_array)) => {
                positions.push(position);
                of_array
            }
            None => leaf,
        });
        groups.entry(shape).or_default().push((positions, term.clone()));
    }
    let mut found = Vec::new();
    for (_, group) in groups {
        found.extend(progressions(group, array));
    }
    Form::sum(found, Aim::Reading)
}

/// The position that may vary from term to term, and the leaf with the array in place of it.
fn position(leaf: Leaf, array: &impl Fn(u32) -> Option<u32>) -> Option<(u32, Leaf)> {
    match leaf {
        Leaf::Input(i) => Some((i, Leaf::Input(array(i)?))),
        Leaf::Element { base, strides } => Some((base, Leaf::Element { base: array(base)?, strides })),
        Leaf::Parameter(_) => None,
    }
}

/// How many terms after the first are tried as the second of a progression.
const SECONDS: usize = 16;

/// Terms as sums over an index where the positions of at least [`FEWEST`] of them are in arithmetic progression.
fn progressions(group: Vec<(Vec<u32>, Form)>, array: &impl Fn(u32) -> Option<u32>) -> Vec<Form> {
    let mut rest: BTreeMap<Vec<u32>, Form> = group.into_iter().collect();
    let mut found = Vec::new();
    while let Some((first, term)) = rest.pop_first() {
        let mut longest = (1, Vec::new());
        for second in rest.keys().take(SECONDS) {
            let strides: Vec<i64> = first.iter().zip(second).map(|(a, b)| i64::from(*b) - i64::from(*a)).collect();
            let count =
                1 + (1..).take_while(|k| moved(&first, &strides, *k).is_some_and(|at| rest.contains_key(&at))).count();
            if count > longest.0 {
                longest = (count, strides);
            }
        }
        let (count, strides) = longest;
        match sigma(&term, &strides, count, array) {
            Some(sum) => {
                found.push(sum);
                for at in (1..count as i64).filter_map(|k| moved(&first, &strides, k)) {
                    rest.remove(&at);
                }
            }
            None => found.push(term),
        }
    }
    found
}

/// Positions moved `k` strides on.
fn moved(positions: &[u32], strides: &[i64], k: i64) -> Option<Vec<u32>> {
    positions.iter().zip(strides).map(|(at, stride)| u32::try_from(i64::from(*at) + k * stride).ok()).collect()
}

/// The sum of `count` terms, of which this is the first; `None` if they are too few or the sum would be too deep.
fn sigma(term: &Form, strides: &[i64], count: usize, array: &impl Fn(u32) -> Option<u32>) -> Option<Form> {
    let level = levels(term);
    if level >= LEVELS || count < FEWEST || strides.iter().all(|stride| *stride == 0) {
        return None;
    }
    let mut next = strides.iter();
    let body = term.map_leaves(&mut |leaf| {
        let Some((base, mut of_leaf)) = (match leaf {
            Leaf::Input(base) => array(base).map(|_| (base, [0; LEVELS])),
            Leaf::Element { base, strides } => Some((base, strides)),
            Leaf::Parameter(_) => None,
        }) else {
            return leaf;
        };
        of_leaf[level] = next.next().copied().unwrap_or(0) as i32;
        if of_leaf == [0; LEVELS] { leaf } else { Leaf::Element { base, strides: of_leaf } }
    });
    Some(Form::function(Function::Sigma { level: level as u8, count: count as u32 }, vec![body], Aim::Reading))
}

/// The number of levels of indices that sums in the form use, which is the level of a sum around it.
fn levels(form: &Form) -> usize {
    match form {
        Form::Number(_) | Form::Leaf(_) => 0,
        Form::Function(function, arguments) => {
            let own = if let Function::Sigma { level, .. } = function { usize::from(*level) + 1 } else { 0 };
            arguments.iter().map(levels).max().unwrap_or(0).max(own)
        }
        Form::Product(_, powers) => powers.iter().map(|p| levels(&p.base).max(levels(&p.exponent))).max().unwrap_or(0),
        Form::Sum(terms) => terms.iter().map(levels).max().unwrap_or(0),
    }
}
