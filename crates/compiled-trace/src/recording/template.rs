//! Derivatives of rules as small graphs, to be inserted into programs.
//!
//! Called by the adjoint and tangent passes. A template is the recording of the rule's own derivative. Rules whose derivative
//! branches on a value are recorded with choices in place of the branches; this file lists these rules and no others. The
//! derivative of a user's rule that branches stays an opaque rule.

use crate::recording::graph::Graph;
use crate::recording::limits::Limits;
use crate::recording::number::Recorded;
use crate::recording::operation::{CONSTANT, Node, Op};
use crate::recording::recorder::record;
use crate::recording::rules::{OtherUnary, RuleObject, Rules, visit_binary, visit_unary};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::rules::*;
use differentiation_interface_core::scalar::{Base, Real, Scalar};
use rustc_hash::FxHashMap;
use std::any::Any;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

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
    /// The product of the outputs of a graph of (x, value) or (x, y, value), one or two, which are multiplied in this order.
    Value(Arc<Graph>),
}

type Number = Recorded<f64>;
/// The derivative of a rule of one argument from the argument and the value.
type UnaryDerivative<'d> = &'d dyn Fn(Number, Number) -> Partial<Number>;
/// The derivative of a rule of two arguments by one of them, from the arguments and the value.
type BinaryDerivative<'d> = &'d dyn Fn(usize, Number, Number, Number) -> Partial<Number>;

impl Template {
    /// Records a derivative; returns an error of kind `RuleOrder` if it reads values.
    ///
    /// The derivative is behind a pointer, so that recording is compiled once and not for each rule of the table.
    fn record(
        name: &'static str,
        arguments: &[f64],
        f: &mut dyn FnMut(&[Number]) -> Result<Partial<Number>, Error>,
    ) -> Result<Template, Error> {
        let mut partial = Ok(TemplatePartial::Zero);
        let graph = record(arguments, &[], Limits::default(), |x, _, y| {
            partial = f(x).map(|found| match found {
                Partial::Zero => TemplatePartial::Zero,
                Partial::One => TemplatePartial::One,
                Partial::Constant(c) => TemplatePartial::Constant(c),
                Partial::Value(v) => {
                    y.push(v);
                    TemplatePartial::Zero
                }
                Partial::Product(first, second) => {
                    y.extend([first, second]);
                    TemplatePartial::Zero
                }
            });
        })?;
        let mut partial = partial?;
        if graph.guards() > 0 {
            return Err(ErrorKind::RuleOrder { rule: name }.into());
        }
        if !graph.outputs.is_empty() {
            partial = match graph.outputs[..] {
                [output] if output & CONSTANT != 0 => {
                    TemplatePartial::Constant(graph.constants[(output & !CONSTANT) as usize])
                }
                _ => TemplatePartial::Value(Arc::new(graph)),
            };
        }
        Ok(Template { partial })
    }

    /// The derivative of a unary rule at (x, value).
    fn unary(
        rule: &dyn Any,
        name: &'static str,
        value: f64,
        derivative: UnaryDerivative,
    ) -> Result<Vec<Template>, Error> {
        let template = Template::record(name, &[0.5, value], &mut |x| {
            if rule.is::<Abs>() {
                return Ok(Partial::Value(sign(x[0])));
            }
            Ok(derivative(x[0], x[1]))
        })?;
        Ok(vec![template])
    }

    /// The derivatives of a binary rule at (x, y, value), by the argument of this number.
    fn binary(
        rule: &dyn Any,
        name: &'static str,
        value: f64,
        partial: BinaryDerivative,
    ) -> Result<Vec<Template>, Error> {
        let by = |argument: usize| {
            Template::record(name, &[0.5, 0.75, value], &mut |x| {
                Ok(match unbranched(rule, x[0], x[1]) {
                    Some(partials) => partials[argument],
                    None => partial(argument, x[0], x[1], x[2]),
                })
            })
        };
        Ok(vec![by(0)?, by(1)?])
    }

    /// The derivative of a user's rule of this many arguments by one of them.
    fn of_object(object: &dyn RuleObject, arguments: usize, argument: usize) -> Result<Template, Error> {
        let point = match arguments {
            1 => vec![0.5, object.value_f64(0.5, 0.5)],
            _ => vec![0.5, 0.75, object.value_f64(0.5, 0.75)],
        };
        Template::record(object.name(), &point, &mut |at| object.partial(argument, at))
    }

    /// A derivative that stays an opaque rule.
    fn opaque(derivative: &Arc<dyn RuleObject>, arguments: usize) -> Result<Template, Error> {
        // The value of the rule is an input as well.
        let mut graph = Graph { inputs: arguments + 1, ..Graph::default() };
        let make = || Arc::clone(derivative);
        let (number, second) = match arguments {
            1 => (graph.rules.number_unary_object(derivative.rule(), make).map(Op::Unary), 0),
            _ => (graph.rules.number_binary_object(derivative.rule(), make).map(Op::Binary), 1),
        };
        graph.nodes.push(Node { op: number.ok_or(ErrorKind::TapeOverflow)?, a: 0, b: second });
        graph.outputs.push(graph.inputs as u32);
        Ok(Template { partial: TemplatePartial::Value(Arc::new(graph)) })
    }

    /// The partial derivative at the arguments and the value of the rule, on any scalar.
    pub(crate) fn evaluate<S: Scalar>(&self, arguments: &[S]) -> S {
        let constant = |c: f64| S::constant(S::Base::from_f64(c));
        match &self.partial {
            TemplatePartial::Zero => constant(0.0),
            TemplatePartial::One => constant(1.0),
            TemplatePartial::Constant(c) => constant(*c),
            TemplatePartial::Value(graph) => {
                let mut y = Vec::with_capacity(2);
                // The derivative of a rule calls no custom rules.
                let done = graph.evaluate(arguments, &[], |_, _| {}, &mut y);
                done.expect("a template is recorded with the arguments of its rule");
                y.into_iter().reduce(|first, second| first * second).expect("a template has an output")
            }
        }
    }
}

/// The derivatives of a user's rule of this many arguments: recorded, or opaque rules if one of them branches.
pub(super) fn templates(object: &Arc<dyn RuleObject>, arguments: usize) -> Result<Vec<Template>, Error> {
    let recorded: Result<Vec<_>, _> = (0..arguments).map(|i| Template::of_object(&**object, arguments, i)).collect();
    recorded.or_else(|error| {
        let opaque: Option<Vec<_>> = (0..arguments).map(|i| object.opaque(i)).collect();
        opaque.ok_or(error)?.iter().map(|derivative| Template::opaque(derivative, arguments)).collect()
    })
}

/// The derivatives of the table's rules that have been used in this process. Recording them again would take longer than the rest of
/// a small program's adjoint.
static TABLE: LazyLock<Mutex<FxHashMap<Op, Arc<[Template]>>>> = LazyLock::new(Mutex::default);

/// The derivatives of a rule of the table, which `record` records if they are used for the first time.
pub(crate) fn of_table(
    op: Op,
    record: impl FnOnce() -> Result<Vec<Template>, Error>,
) -> Result<Arc<[Template]>, Error> {
    // A panic leaves the table as it was or with one more rule.
    let table = || TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = table().get(&op) {
        return Ok(Arc::clone(known));
    }
    let templates: Arc<[Template]> = record()?.into();
    table().insert(op, Arc::clone(&templates));
    Ok(templates)
}

/// Records the derivatives of a rule.
#[derive(Default)]
struct Derivatives(Option<Result<Vec<Template>, Error>>);

impl Derivatives {
    /// The derivatives of a rule with a parameter.
    fn of<R: Unary>(rule: R) -> Result<Vec<Template>, Error> {
        let mut derivatives = Derivatives::default();
        derivatives.unary(rule);
        derivatives.found()
    }

    #[inline(never)]
    fn add_unary(&mut self, rule: &dyn Any, name: &'static str, value: f64, derivative: UnaryDerivative) {
        self.0 = Some(Template::unary(rule, name, value, derivative));
    }

    #[inline(never)]
    fn add_binary(&mut self, rule: &dyn Any, name: &'static str, value: f64, partial: BinaryDerivative) {
        self.0 = Some(Template::binary(rule, name, value, partial));
    }

    fn found(self) -> Result<Vec<Template>, Error> {
        self.0.expect("a rule number below the others is in the table")
    }
}

// Only the derivative itself is compiled for each rule.
impl RuleVisitor for Derivatives {
    fn unary<R: Unary>(&mut self, rule: R) {
        self.add_unary(&rule, R::NAME, rule.value(0.5), &|x, r| rule.derivative(x, r));
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        self.add_binary(&rule, R::NAME, rule.value(0.5, 0.75), &|argument, x, y, r| match argument {
            0 => rule.partial_x(x, y, r),
            _ => rule.partial_y(x, y, r),
        });
    }
}

impl Rules {
    /// The derivatives of a unary rule: one template.
    pub(crate) fn unary_templates(&self, rule: u16) -> Result<Vec<Template>, Error> {
        match self.other_unary(rule) {
            Some(OtherUnary::Powi(n)) => Derivatives::of(Powi(*n)),
            Some(OtherUnary::Powc(c)) => Derivatives::of(Powc(*c)),
            Some(OtherUnary::Polygamma(order)) => Derivatives::of(Polygamma(*order)),
            Some(OtherUnary::User(object)) => templates(object, 1),
            None => {
                let mut derivatives = Derivatives::default();
                visit_unary(rule, &mut derivatives);
                derivatives.found()
            }
        }
    }

    /// The derivatives of a binary rule: two templates.
    pub(crate) fn binary_templates(&self, rule: u16) -> Result<Vec<Template>, Error> {
        match self.other_binary(rule) {
            Some(object) => templates(object, 2),
            None => {
                let mut derivatives = Derivatives::default();
                visit_binary(rule, &mut derivatives);
                derivatives.found()
            }
        }
    }
}

/// The sign of `x`, 0 at ±0, NaN at NaN.
fn sign(x: Number) -> Number {
    let (zero, one) = (Number::constant(0.0), Number::constant(1.0));
    x.greater_than(zero).select(one, x.less_than(zero).select(-one, x * zero))
}

/// The derivatives of the table's rules that branch on values, with choices in place of the branches.
fn unbranched(rule: &dyn Any, x: Number, y: Number) -> Option<[Partial<Number>; 2]> {
    let (zero, one) = (Number::constant(0.0), Number::constant(1.0));
    // Zeros are choices, which the passes distinguish from computed zeros.
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
        // The signs come from the sign bit, which comparisons do not read in a zero. The second one has no derivative, which is more than a zero:
        // what its argument depends on may have unbounded ones.
        let sign = one.apply2(x, Copysign) * one.apply2(y, Copysign);
        return Some([Partial::Value(sign), Partial::Zero]);
    } else {
        return None;
    };
    Some(partials.map(Partial::Value))
}
