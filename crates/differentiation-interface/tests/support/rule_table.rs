//! Rules of the table by their number, so that random programs can name them.
//!
//! Used by the tests of random programs.

use differentiation_interface::prelude::*;
use differentiation_interface::rules::{Binary, RuleVisitor, Unary, each_binary, each_unary};
use std::sync::LazyLock;

/// Applies the rule number `wanted` of the table.
pub(crate) struct Apply<S> {
    wanted: usize,
    seen: usize,
    x: S,
    y: Argument<S>,
    result: Option<S>,
}

/// The second argument.
#[derive(Clone, Copy)]
pub(crate) enum Argument<S> {
    None,
    Active(S),
    Right(f64),
    Left(f64),
}

impl<S: Scalar<Base = f64>> Apply<S> {
    /// A rule of one argument; numbers are taken modulo how many there are.
    pub(crate) fn unary(rule: usize, x: S) -> S {
        let mut visitor = Apply { wanted: rule % count(true), seen: 0, x, y: Argument::None, result: None };
        each_unary(&mut visitor);
        visitor.result.expect("the number of the rule was reduced to the table")
    }
    /// A rule of two arguments.
    pub(crate) fn binary(rule: usize, x: S, y: Argument<S>) -> S {
        let mut visitor = Apply { wanted: rule % count(false), seen: 0, x, y, result: None };
        each_binary(&mut visitor);
        visitor.result.expect("the number of the rule was reduced to the table")
    }
}

impl<S: Scalar<Base = f64>> RuleVisitor for Apply<S> {
    fn unary<R: Unary>(&mut self, rule: R) {
        if self.seen == self.wanted {
            self.result = Some(self.x.apply(rule));
        }
        self.seen += 1;
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        if self.seen == self.wanted {
            self.result = Some(match self.y {
                Argument::None => unreachable!("a rule of two arguments has two"),
                Argument::Active(y) => self.x.apply2(y, rule),
                Argument::Right(y) => self.x.apply2_right(y, rule),
                Argument::Left(first) => S::apply2_left(first, self.x, rule),
            });
        }
        self.seen += 1;
    }
}

/// The names of all rules of one argument, or of two, in the order of their numbers.
pub(crate) fn names(unary: bool) -> Vec<&'static str> {
    struct Names(Vec<&'static str>);
    impl RuleVisitor for Names {
        fn unary<R: Unary>(&mut self, _: R) {
            self.0.push(R::NAME);
        }
        fn binary<R: Binary>(&mut self, _: R) {
            self.0.push(R::NAME);
        }
    }
    let mut visitor = Names(Vec::new());
    if unary {
        each_unary(&mut visitor)
    } else {
        each_binary(&mut visitor)
    }
    visitor.0
}

/// How many rules there are of one argument, or of two.
pub(crate) fn count(unary: bool) -> usize {
    static COUNTS: LazyLock<[usize; 2]> = LazyLock::new(|| [names(false).len(), names(true).len()]);
    COUNTS[usize::from(unary)]
}
