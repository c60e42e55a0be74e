//! Users' rules behind pointers.
//!
//! Made by [`Rules`](super::Rules) when a recording uses a rule that is not in the table; read by executors for values and by
//! `template` for derivatives.

use crate::recording::number::Recorded;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::rules::{Binary, Partial, Unary};
use differentiation_interface_core::scalar::Base;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A user's rule behind a pointer: its values on plain numbers, and its derivatives on recording ones.
pub trait RuleObject: Any + Send + Sync + Debug {
    /// Name of the rule.
    fn name(&self) -> &'static str;
    /// Value on doubles.
    fn value_f64(&self, x: f64, y: f64) -> f64;
    /// Value on singles.
    fn value_f32(&self, x: f32, y: f32) -> f32;
    /// The derivative by one argument, at the arguments and the value of the rule.
    ///
    /// # Errors
    /// [`ErrorKind::RuleOrder`] if the rule has no derivative that can be recorded.
    fn partial(&self, argument: usize, at: &[Recorded<f64>]) -> Result<Partial<Recorded<f64>>, Error>;
    /// The derivative by one argument as an opaque rule, evaluated without recording it; `None` for a rule that is such a derivative itself.
    fn opaque(&self, argument: usize) -> Option<Arc<dyn RuleObject>>;
    /// The rule itself.
    fn rule(&self) -> &dyn Any;
    /// Whether this is the same rule.
    fn is(&self, other: &dyn Any) -> bool;
}

/// A unary rule as an object.
#[derive(Debug)]
pub(super) struct OneArgument<R>(pub(super) R);

impl<R: Unary> RuleObject for OneArgument<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }
    fn value_f64(&self, x: f64, _: f64) -> f64 {
        self.0.value(x)
    }
    fn value_f32(&self, x: f32, _: f32) -> f32 {
        self.0.value(x)
    }
    fn partial(&self, _: usize, at: &[Recorded<f64>]) -> Result<Partial<Recorded<f64>>, Error> {
        Ok(self.0.derivative(at[0], at[1]))
    }
    fn opaque(&self, argument: usize) -> Option<Arc<dyn RuleObject>> {
        Some(Arc::new(OpaqueUnary(Opaque { rule: self.0, argument })))
    }
    fn rule(&self) -> &dyn Any {
        &self.0
    }
    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<R>() == Some(&self.0)
    }
}

/// A binary rule as an object.
#[derive(Debug)]
pub(super) struct TwoArguments<R>(pub(super) R);

impl<R: Binary> RuleObject for TwoArguments<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }
    fn value_f64(&self, x: f64, y: f64) -> f64 {
        self.0.value(x, y)
    }
    fn value_f32(&self, x: f32, y: f32) -> f32 {
        self.0.value(x, y)
    }
    fn partial(&self, argument: usize, at: &[Recorded<f64>]) -> Result<Partial<Recorded<f64>>, Error> {
        let (x, y, r) = (at[0], at[1], at[2]);
        Ok(if argument == 0 { self.0.partial_x(x, y, r) } else { self.0.partial_y(x, y, r) })
    }
    fn opaque(&self, argument: usize) -> Option<Arc<dyn RuleObject>> {
        Some(Arc::new(OpaqueBinary(Opaque { rule: self.0, argument })))
    }
    fn rule(&self) -> &dyn Any {
        &self.0
    }
    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<R>() == Some(&self.0)
    }
}

/// The derivative of a user's rule that branches on values: an opaque rule, evaluated on plain numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Opaque<R> {
    rule: R,
    argument: usize,
}

/// An [`Opaque`] derivative of a unary rule.
#[derive(Debug)]
struct OpaqueUnary<R>(Opaque<R>);

impl<R: Unary> RuleObject for OpaqueUnary<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }
    fn value_f64(&self, x: f64, _: f64) -> f64 {
        self.0.rule.derivative(x, self.0.rule.value(x)).value()
    }
    fn value_f32(&self, x: f32, _: f32) -> f32 {
        self.0.rule.derivative(x, self.0.rule.value(x)).value()
    }
    fn partial(&self, _: usize, _: &[Recorded<f64>]) -> Result<Partial<Recorded<f64>>, Error> {
        Err(ErrorKind::RuleOrder { rule: R::NAME }.into())
    }
    fn opaque(&self, _: usize) -> Option<Arc<dyn RuleObject>> {
        None
    }
    fn rule(&self) -> &dyn Any {
        &self.0
    }
    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<Opaque<R>>() == Some(&self.0)
    }
}

/// An [`Opaque`] derivative of a binary rule.
#[derive(Debug)]
struct OpaqueBinary<R>(Opaque<R>);

impl<R: Binary> OpaqueBinary<R> {
    fn at<B: Base>(&self, x: B, y: B) -> B {
        let rule = self.0.rule;
        let r = rule.value(x, y);
        if self.0.argument == 0 { rule.partial_x(x, y, r).value() } else { rule.partial_y(x, y, r).value() }
    }
}

impl<R: Binary> RuleObject for OpaqueBinary<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }
    fn value_f64(&self, x: f64, y: f64) -> f64 {
        self.at(x, y)
    }
    fn value_f32(&self, x: f32, y: f32) -> f32 {
        self.at(x, y)
    }
    fn partial(&self, _: usize, _: &[Recorded<f64>]) -> Result<Partial<Recorded<f64>>, Error> {
        Err(ErrorKind::RuleOrder { rule: R::NAME }.into())
    }
    fn opaque(&self, _: usize) -> Option<Arc<dyn RuleObject>> {
        None
    }
    fn rule(&self) -> &dyn Any {
        &self.0
    }
    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<Opaque<R>>() == Some(&self.0)
    }
}
