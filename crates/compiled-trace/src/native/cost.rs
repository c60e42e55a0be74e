//! Estimates of what operations cost, for the choice of loops.
//!
//! Called by `plan`; operations that `operation` expands are cheap, calls are not.

use crate::recording::graph::Op;
use crate::recording::rules::{self, OtherUnary, Rules};

/// Largest integer power that is expanded.
pub(super) const MAX_POWER: u32 = 64;

/// Rough time of an operation in additions; `None` if it is a call.
pub(super) fn cost(op: Op, rules: &Rules) -> Option<f64> {
    match op {
        Op::Unary(number) => match number {
            rules::NEGATE | rules::ABS => Some(1.0),
            rules::SIGNUM | rules::FRACT => Some(3.0),
            rules::FLOOR | rules::CEIL | rules::TRUNC => Some(1.5),
            rules::RECIP => Some(5.0),
            rules::SQRT => Some(8.0),
            _ => match rules.other_unary(number) {
                Some(OtherUnary::Powi(n)) if n.unsigned_abs() <= MAX_POWER => Some(3.0),
                Some(OtherUnary::Powc(1.0)) => Some(0.0),
                _ => None,
            },
        },
        Op::Binary(number) => match number {
            rules::PLUS | rules::MINUS | rules::TIMES | rules::TOGETHER => Some(1.0),
            rules::OVER => Some(5.0),
            rules::MAX | rules::MIN => Some(4.0),
            rules::AT_LEAST | rules::AT_MOST | rules::COPYSIGN | rules::ABS_SUB => Some(2.0),
            _ => None,
        },
        _ => Some(2.0),
    }
}
