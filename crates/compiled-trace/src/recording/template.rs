//! Derivatives of rules as little graphs, to be put into programs.
//!
//! Called by the adjoint and tangent passes. A template is what the rule's own derivative did on recording numbers. Rules
//! whose derivative branches on a value are recorded with choices in place of the branches; they are listed here and nothing
//! else is. A user's rule that branches is evaluated as it is.

use crate::recording::graph::{CONSTANT, Graph, Op};
use crate::recording::number::{Limits, Recorded, record};
use crate::recording::rules::{Opaque, OpaqueBinary, OpaqueUnary};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::rules::*;
use differentiation_interface_core::scalar::{Base, Real, Scalar};
use std::any::{Any, TypeId};
use std::sync::Arc;

/// A partial derivative as a function of the arguments of a rule and its value.
#[derive(Clone, Debug)]
pub struct Template {
    pub(crate) partial: TemplatePartial,
}

/// The cases of a partial derivative.
#[derive(Clone, Debug)]
pub(crate) enum TemplatePartial {
    Zero,
    One,
    Constant(f64),
    /// The only output of a graph of (x, value) or (x, y, value).
    Value(Arc<Graph>),
}

type Number = Recorded<f64>;

impl Template {
    /// Records a derivative; an error of kind `RuleOrder` if it asks for values.
    fn record(
        name: &'static str,
        arguments: &[f64],
        f: impl FnOnce(&[Number]) -> Partial<Number>,
    ) -> Result<Template, Error> {
        let mut partial = TemplatePartial::Zero;
        let graph = record(arguments, &[], Limits::default(), |x, _, y| match f(x) {
            Partial::Zero => partial = TemplatePartial::Zero,
            Partial::One => partial = TemplatePartial::One,
            Partial::Constant(c) => partial = TemplatePartial::Constant(c),
            Partial::Value(v) => y.push(v),
        })?;
        if graph.guards() > 0 {
            return Err(ErrorKind::RuleOrder { rule: name }.into());
        }
        if !graph.outputs.is_empty() {
            let constant = graph.outputs[0] & CONSTANT != 0;
            partial = match constant {
                true => TemplatePartial::Constant(graph.constants[(graph.outputs[0] & !CONSTANT) as usize]),
                false => TemplatePartial::Value(Arc::new(graph)),
            };
        }
        Ok(Template { partial })
    }

    /// The derivative of a unary rule.
    pub(crate) fn unary_id<R: Unary>(rule: R) -> Result<Vec<Template>, Error> {
        let point = [0.5, rule.value(0.5)];
        let template = Template::record(R::NAME, &point, |x| {
            if TypeId::of::<R>() == TypeId::of::<Abs>() {
                return Partial::Value(sign(x[0]));
            }
            rule.derivative(x[0], x[1])
        })?;
        Ok(vec![template])
    }

    /// The derivatives of a binary rule.
    pub(crate) fn binary_id<R: Binary>(rule: R) -> Result<Vec<Template>, Error> {
        let point = [0.5, 0.75, rule.value(0.5, 0.75)];
        let mut templates = Vec::with_capacity(2);
        for argument in 0..2 {
            templates.push(Template::record(R::NAME, &point, |x| {
                let (x, y, r) = (x[0], x[1], x[2]);
                match unbranched(&rule, x, y) {
                    Some([dx, dy]) => [dx, dy][argument],
                    None if argument == 0 => rule.partial_x(x, y, r),
                    None => rule.partial_y(x, y, r),
                }
            })?);
        }
        Ok(templates)
    }

    /// The derivative of a user's unary rule: recorded, or evaluated as it is if it branches.
    pub(crate) fn unary_or_opaque<R: Unary>(rule: R) -> Result<Vec<Template>, Error> {
        Template::unary_id(rule).or_else(|_| {
            let mut graph = opaque_graph(2);
            let key = Opaque { rule, argument: 0 };
            let id = graph.rules.number_unary_object(&key, || Arc::new(OpaqueUnary(key)));
            finish_opaque(&mut graph, Op::Unary(id.ok_or(ErrorKind::TapeOverflow)?));
            Ok(vec![Template { partial: TemplatePartial::Value(Arc::new(graph)) }])
        })
    }

    /// The derivatives of a user's binary rule.
    pub(crate) fn binary_or_opaque<R: Binary>(rule: R) -> Result<Vec<Template>, Error> {
        Template::binary_id(rule).or_else(|_| {
            let mut templates = Vec::with_capacity(2);
            for argument in 0..2 {
                let mut graph = opaque_graph(3);
                let key = Opaque { rule, argument };
                let id = graph.rules.number_binary_object(&key, || Arc::new(OpaqueBinary(key)));
                finish_opaque(&mut graph, Op::Binary(id.ok_or(ErrorKind::TapeOverflow)?));
                templates.push(Template { partial: TemplatePartial::Value(Arc::new(graph)) });
            }
            Ok(templates)
        })
    }

    /// The partial derivative at the arguments and the value of the rule, on any scalar.
    pub(crate) fn evaluate<S: Scalar>(&self, arguments: &[S]) -> S {
        let constant = |c: f64| S::constant(S::Base::from_f64(c));
        match &self.partial {
            TemplatePartial::Zero => constant(0.0),
            TemplatePartial::One => constant(1.0),
            TemplatePartial::Constant(c) => constant(*c),
            TemplatePartial::Value(graph) => {
                let mut y = Vec::with_capacity(1);
                // The derivative of a rule calls no custom rules.
                let done = graph.evaluate(arguments, &[], |_, _| {}, &mut y);
                done.expect("a template is recorded with the arguments of its rule");
                y[0]
            }
        }
    }
}

fn opaque_graph(inputs: usize) -> Graph {
    Graph { inputs, ..Graph::default() }
}

fn finish_opaque(graph: &mut Graph, op: Op) {
    graph.nodes.push(crate::recording::graph::Node { op, a: 0, b: if matches!(op, Op::Binary(_)) { 1 } else { 0 } });
    graph.outputs.push(graph.inputs as u32);
}

/// The sign of `x`, 0 at ±0, NaN at NaN.
fn sign(x: Number) -> Number {
    let (zero, one) = (Number::constant(0.0), Number::constant(1.0));
    x.greater_than(zero).select(one, x.less_than(zero).select(-one, x * zero))
}

/// The derivatives of the table's rules that branch on values, with choices in place of the branches.
fn unbranched(rule: &dyn Any, x: Number, y: Number) -> Option<[Partial<Number>; 2]> {
    let (zero, one) = (Number::constant(0.0), Number::constant(1.0));
    // Zeros are choices, which the passes tell from zeros that are computed.
    let partials = if rule.is::<Max>() {
        let second = y.equal_to(y).select(one, zero);
        let first = y.equal_to(y).select(zero, one);
        [x.at_least(y).select(one, first), x.at_least(y).select(zero, second)]
    } else if rule.is::<Min>() {
        let second = y.equal_to(y).select(one, zero);
        let first = y.equal_to(y).select(zero, one);
        [x.at_most(y).select(one, first), x.at_most(y).select(zero, second)]
    } else if rule.is::<AtLeast>() {
        let below = x.less_than(y);
        [below.select(zero, one), below.select(one, zero)]
    } else if rule.is::<AtMost>() {
        let above = y.less_than(x);
        [above.select(zero, one), above.select(one, zero)]
    } else if rule.is::<AbsSub>() {
        let above = x.greater_than(y);
        [above.select(one, zero), above.select(Number::constant(-1.0), zero)]
    } else if rule.is::<Copysign>() {
        // Signs by the sign bit, which no comparison sees in a zero.
        [one.apply2(x, Copysign) * one.apply2(y, Copysign), zero]
    } else {
        return None;
    };
    Some(partials.map(Partial::Value))
}
