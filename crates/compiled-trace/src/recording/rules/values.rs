//! Values of rules by number, on any scalar.
//!
//! Called by executors. A user's rule accepts scalars that carry derivatives as a custom rule, with the templates of its derivatives.

use super::numbers::{OtherUnary, Rules};
use super::objects::RuleObject;
use super::table::{
    BINARY_TABLE, UNARY_TABLE, binary_block, binary_function, binary_value, unary_block, unary_function, unary_value,
};
use crate::recording::template::templates;
use differentiation_interface_core::custom::{CustomRule, Halves};
use differentiation_interface_core::fault;
use differentiation_interface_core::rules::{Polygamma, Powc, Powi};
use differentiation_interface_core::scalar::{Base, Scalar};
use std::any::TypeId;
use std::sync::Arc;

/// A user's rule as a custom rule, so that it accepts scalars that carry derivatives.
struct AsCustom {
    rule: Arc<dyn RuleObject>,
}

impl<B: Base> CustomRule<B> for AsCustom {
    const NAME: &'static str = "recorded rule";
    const GIVEN: Halves = Halves::Both;
    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.clear();
        y.push(base_value(&*self.rule, x[0], *x.last().expect("rules have one or two arguments")));
    }
    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        dy[0] = S::default();
        self.each_partial(x, y, |i, partial| dy[0] += partial * dx[i]);
    }
    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        dx.fill(S::default());
        self.each_partial(x, y, |i, partial| dx[i] = partial * dy[0]);
    }
}

impl AsCustom {
    fn each_partial<S: Scalar>(&self, x: &[S], y: &[S], mut act: impl FnMut(usize, S)) {
        match templates(&self.rule, x.len()) {
            Err(error) => fault::report_error(error),
            Ok(templates) => {
                for (i, template) in templates.iter().enumerate() {
                    let arguments = if x.len() == 1 { vec![x[0], y[0]] } else { vec![x[0], x[1], y[0]] };
                    act(i, template.evaluate(&arguments));
                }
            }
        }
    }
}

/// The value of an object on a base number.
#[inline]
fn base_value<B: Base>(rule: &dyn RuleObject, x: B, y: B) -> B {
    if TypeId::of::<B>() == TypeId::of::<f32>() {
        B::from_f64(rule.value_f32(x.as_f64() as f32, y.as_f64() as f32) as f64)
    } else {
        B::from_f64(rule.value_f64(x.as_f64(), y.as_f64()))
    }
}

fn user_value<S: Scalar>(rule: &Arc<dyn RuleObject>, x: &[S]) -> S {
    if TypeId::of::<S>() == TypeId::of::<S::Base>() {
        let last = x[x.len() - 1];
        return S::constant(base_value(&**rule, x[0].primal(), last.primal()));
    }
    let mut y = Vec::new();
    S::custom(&Arc::new(AsCustom { rule: Arc::clone(rule) }), x, &mut y);
    y[0]
}

impl Rules {
    /// The value of a unary rule on any scalar.
    #[inline]
    pub fn apply<S: Scalar>(&self, rule: u16, x: S) -> S {
        match unary_value(rule, x, x) {
            Some(y) => y,
            None => self.apply_other(rule, x),
        }
    }

    #[inline(never)]
    fn apply_other<S: Scalar>(&self, rule: u16, x: S) -> S {
        match &self.unary[(rule - UNARY_TABLE) as usize] {
            OtherUnary::Powi(n) => x.apply(Powi(*n)),
            OtherUnary::Powc(c) => x.apply(Powc(*c)),
            OtherUnary::Polygamma(order) => x.apply(Polygamma(*order)),
            OtherUnary::User(object) => user_value(object, &[x]),
        }
    }

    /// The value of a binary rule on any scalar.
    #[inline]
    pub fn apply2<S: Scalar>(&self, rule: u16, x: S, y: S) -> S {
        match binary_value(rule, x, y) {
            Some(r) => r,
            None => user_value(&self.binary[(rule - BINARY_TABLE) as usize], &[x, y]),
        }
    }

    /// Values of a unary rule on a block.
    #[inline(always)]
    pub(crate) fn apply_block<S: Scalar>(&self, rule: u16, x: &[S], out: &mut [S]) {
        let x = &x[..out.len()];
        if unary_block(rule, |i| x[i], |i| x[i], out) {
            return;
        }
        if let Some(value) = unary_function(rule) {
            for (out, x) in out.iter_mut().zip(x) {
                *out = value(*x, *x);
            }
            return;
        }
        match &self.unary[(rule - UNARY_TABLE) as usize] {
            OtherUnary::Powi(2) => {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = x.apply(Powi(2));
                }
            }
            OtherUnary::Powi(3) => {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = x.apply(Powi(3));
                }
            }
            _ => {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = self.apply_other(rule, *x);
                }
            }
        }
    }

    /// Values of a binary rule on a block.
    #[inline(always)]
    pub(crate) fn apply2_block<S: Scalar>(
        &self,
        rule: u16,
        x: impl Fn(usize) -> S,
        y: impl Fn(usize) -> S,
        out: &mut [S],
    ) {
        if binary_block(rule, &x, &y, out) {
            return;
        }
        if let Some(value) = binary_function(rule) {
            for (i, out) in out.iter_mut().enumerate() {
                *out = value(x(i), y(i));
            }
            return;
        }
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.apply2(rule, x(i), y(i));
        }
    }
}
