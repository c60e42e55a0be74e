//! Rules of this crate on numbers of another one: elementary functions and custom rules.
//!
//! Called by users inside functions of the other crate's numbers, and by [`Plain`](super::Plain) for custom rules.

use super::number::Foreign;
use crate::arithmetic::{Base, CustomRule, Halves};
use crate::custom::Custom;
use crate::error::Error;
use crate::fault;
use crate::rules::{Binary, Unary};

/// Applies an elementary function of this crate to a number of another one: `erf`, `ln_gamma`, a rule of the user.
///
/// The number's own function is used where the adapter lists one.
pub fn apply<T: Foreign>(rule: impl Unary, x: T) -> T {
    x.unary(rule)
}

/// Applies an elementary function of two arguments of this crate to numbers of another one.
pub fn apply2<T: Foreign>(rule: impl Binary, x: T, y: T) -> T {
    x.binary(y, rule)
}

/// Calls a [custom rule](CustomRule) with numbers of another crate: the function runs on plain numbers, and its derivative is the
/// rule's.
///
/// # Errors
/// Those of the rule: [`ErrorKind::RuleIncomplete`](crate::error::ErrorKind::RuleIncomplete) if it has no derivative.
pub fn call<T: Foreign, R: CustomRule>(rule: &Custom<R>, x: &[T]) -> Result<Vec<T>, Error> {
    fault::watch(|| Ok(custom::<T, R, f64>(rule.rule(), x)))
}

/// The outputs of a custom rule: yᵢ with the derivative Σⱼ ∂yᵢ/∂xⱼ dxⱼ over the inputs that are not constant.
pub(super) fn custom<T: Foreign, R: CustomRule<B>, B: Base>(rule: &R, x: &[T]) -> Vec<T> {
    let plain: Vec<B> = x.iter().map(|x| B::from_f64(x.value())).collect();
    let mut y = Vec::new();
    rule.value(&plain, &mut y);
    let active: Vec<usize> = (0..x.len()).filter(|&j| !x[j].is_constant()).collect();
    let mut outputs: Vec<T> = y.iter().map(|y| T::constant(y.as_f64())).collect();
    let by_columns = match R::GIVEN {
        Halves::Pushforward => true,
        Halves::Pullback => false,
        Halves::Both => active.len() <= y.len(),
    };
    let mut add = |i: usize, j: usize, partial: B| {
        let (partial, value) = (partial.as_f64(), y[i].as_f64());
        let sum = outputs[i];
        outputs[i] = if sum.is_constant() { x[j].chain(value, partial) } else { sum.chain2(x[j], value, 1.0, partial) };
    };
    if by_columns {
        let (mut dx, mut dy) = (vec![B::ZERO; x.len()], vec![B::ZERO; y.len()]);
        for &j in &active {
            dx[j] = B::ONE;
            rule.pushforward::<B>(&plain, &y, &dx, &mut dy);
            dx[j] = B::ZERO;
            dy.iter().enumerate().for_each(|(i, &partial)| add(i, j, partial));
        }
    } else if !active.is_empty() {
        let (mut dx, mut dy) = (vec![B::ZERO; x.len()], vec![B::ZERO; y.len()]);
        for i in 0..y.len() {
            dy[i] = B::ONE;
            rule.pullback::<B>(&plain, &y, &dy, &mut dx);
            dy[i] = B::ZERO;
            active.iter().for_each(|&j| add(i, j, dx[j]));
        }
    }
    outputs
}
