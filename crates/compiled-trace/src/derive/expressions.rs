//! Writes expressions: constants are folded, partial derivatives come from the rule table.
//!
//! Used wherever derivatives are written: in the bodies of programs (`builder`) and in graphs (`entries`). `absence` explains
//! how absent derivatives are represented.

use crate::recording::absence::Absence;
use crate::recording::graph::{CONSTANT, Op};
use crate::recording::rules::{MINUS, NEGATE, PLUS, POWF, Rules, TIMES};
use crate::recording::template::{Template, TemplatePartial, of_table};
use differentiation_interface_core::error::{Error, ErrorKind};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The constants and rules that all expressions of a program or graph share.
pub(crate) struct Shared {
    pub(crate) constants: Vec<f64>,
    pub(crate) rules: Rules,
    /// Whether absent derivatives are tracked, and whether one may have met a factor that is not finite.
    pub(crate) absence: Absence,
    known: FxHashMap<u64, u32>,
    templates: FxHashMap<Op, Arc<[Template]>>,
}

impl Shared {
    pub(crate) fn new(constants: Vec<f64>, rules: Rules, absence: Absence) -> Shared {
        let mut known = FxHashMap::default();
        if constants.len() < 1 << 16 {
            for (i, constant) in constants.iter().enumerate().rev() {
                known.insert(constant.to_bits(), i as u32);
            }
        }
        Shared { constants, rules, absence, known, templates: FxHashMap::default() }
    }

    /// The number of a constant.
    pub(crate) fn constant(&mut self, value: f64) -> u32 {
        *self.known.entry(value.to_bits()).or_insert_with(|| {
            self.constants.push(value);
            (self.constants.len() - 1) as u32
        })
    }

    /// The derivatives of an operation by the rule table.
    fn templates(&mut self, op: Op) -> Result<Arc<[Template]>, Error> {
        if let Some(known) = self.templates.get(&op) {
            return Ok(Arc::clone(known));
        }
        let templates: Arc<[Template]> = match op {
            Op::Unary(rule) if self.rules.other_unary(rule).is_none() => {
                of_table(op, || self.rules.unary_templates(rule))?
            }
            Op::Binary(rule) if self.rules.other_binary(rule).is_none() => {
                of_table(op, || self.rules.binary_templates(rule))?
            }
            Op::Unary(rule) => self.rules.unary_templates(rule)?.into(),
            Op::Binary(rule) => self.rules.binary_templates(rule)?.into(),
            _ => Arc::new([]),
        };
        self.templates.insert(op, Arc::clone(&templates));
        Ok(templates)
    }
}

/// Factors whose double is exact, in single precision too.
const MODERATE: std::ops::Range<f64> = 1e-30..1e30;

/// A partial derivative that has been written.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Partial {
    Zero,
    One,
    /// A result, and whether the rule wrote it (it is then not one of the function's own numbers).
    Value(u32, bool),
    /// Two results that the rule wrote, to be multiplied by one after the other.
    Product(u32, u32),
}

/// Where expressions are written. Results are numbers.
pub(crate) trait Expressions: Sized {
    fn shared(&mut self) -> &mut Shared;
    /// The result that is a constant.
    fn constant(&mut self, value: f64) -> u32;
    /// The constant that a result is.
    fn value(&self, result: u32) -> Option<f64>;
    /// The operation that gave a result, and its operands, if they are known.
    fn operation(&self, result: u32) -> Option<(Op, u32, u32)>;
    /// Writes an operation that cannot be simplified.
    fn write(&mut self, op: Op, a: u32, b: u32) -> u32;

    /// The result that this one is the negative of, if that is known.
    fn negated(&self, result: u32) -> Option<u32> {
        self.operation(result).filter(|(op, ..)| *op == Op::Unary(NEGATE)).map(|(_, a, _)| a)
    }

    /// The factors of a result, if it is known to be a product.
    fn factors(&self, result: u32) -> Option<[u32; 2]> {
        self.operation(result).filter(|(op, ..)| *op == Op::Binary(TIMES)).map(|(_, a, b)| [a, b])
    }

    /// Writes an operation, or returns the result it simplifies to.
    fn apply(&mut self, op: Op, a: u32, b: u32) -> u32 {
        let (x, y) = (self.value(a), self.value(b));
        match (op, x, y) {
            (Op::Binary(TIMES), Some(1.0), _) => return b,
            (Op::Binary(TIMES), _, Some(1.0)) => return a,
            (Op::Binary(TIMES), Some(-1.0), _) => return self.apply(Op::Unary(NEGATE), b, b),
            (Op::Binary(TIMES), _, Some(-1.0)) => return self.apply(Op::Unary(NEGATE), a, a),
            (Op::Binary(TIMES), Some(x), Some(y)) => return self.constant(x * y),
            (Op::Binary(PLUS), Some(x), Some(y)) => return self.constant(x + y),
            (Op::Binary(MINUS), Some(x), Some(y)) => return self.constant(x - y),
            (Op::Unary(NEGATE), Some(x), _) => return self.constant(-x),
            (Op::Unary(NEGATE), None, _) => {
                if let Some(a) = self.negated(a) {
                    return a;
                }
            }
            _ => {}
        }
        self.write(op, a, b)
    }

    /// The constant and the other factor, if a result is a multiple.
    fn multiple(&self, result: u32) -> Option<(f64, u32)> {
        if let Some(negated) = self.negated(result) {
            return self.multiple(negated).map(|(factor, of)| (-factor, of));
        }
        let [a, b] = self.factors(result)?;
        self.value(a).map(|factor| (factor, b)).or_else(|| self.value(b).map(|factor| (factor, a)))
    }

    /// Twice a multiple as a multiple with the same rounding.
    fn double(&mut self, result: u32) -> Option<u32> {
        let (factor, of) = self.multiple(result).filter(|(factor, _)| MODERATE.contains(&factor.abs()))?;
        let factor = self.constant(2.0 * factor);
        Some(self.apply(Op::Binary(TIMES), factor, of))
    }

    /// The partial derivative of the operation with this result with respect to an argument.
    fn partial(&mut self, op: Op, a: u32, b: u32, result: u32, argument: usize) -> Result<Partial, Error> {
        // What the table says of the operations that most functions consist of.
        match (op, argument) {
            (Op::Binary(PLUS), _) | (Op::Binary(MINUS), 0) => Ok(Partial::One),
            (Op::Binary(TIMES), 0) => Ok(Partial::Value(b, false)),
            (Op::Binary(TIMES), 1) => Ok(Partial::Value(a, false)),
            // A negative constant exponent has a derivative of its own, as in `record_right`.
            (Op::Binary(POWF), 0)
                if let Some(exponent) = self.value(b)
                    && exponent < 0.0
                    && let Some(rule) = self.shared().rules.number_exponent(exponent) =>
            {
                self.partial_by_table(Op::Unary(rule), a, a, result, 0)
            }
            _ => self.partial_by_table(op, a, b, result, argument),
        }
    }

    /// The partial derivative according to the rule table.
    fn partial_by_table(&mut self, op: Op, a: u32, b: u32, result: u32, argument: usize) -> Result<Partial, Error> {
        let templates = self.shared().templates(op)?;
        let Some(template) = templates.get(argument) else { return Ok(Partial::Zero) };
        let graph = match &template.partial {
            TemplatePartial::Zero => return Ok(Partial::Zero),
            TemplatePartial::One => return Ok(Partial::One),
            TemplatePartial::Constant(c) => return Ok(Partial::Value(self.constant(*c), true)),
            TemplatePartial::Value(graph) => graph,
        };
        let mut values = match op {
            Op::Unary(_) => vec![a, result],
            _ => vec![a, b, result],
        };
        for node in &graph.nodes {
            let mut get = |operand: u32| match operand & CONSTANT {
                0 => values[operand as usize],
                _ => self.constant(graph.constants[(operand & !CONSTANT) as usize]),
            };
            let x = get(node.a);
            let y = if matches!(node.op, Op::Unary(_)) { x } else { get(node.b) };
            let rules = &mut self.shared().rules;
            let adopted = match node.op {
                Op::Unary(rule) => rules.adopt_unary(&graph.rules, rule).map(Op::Unary),
                Op::Binary(rule) => rules.adopt_binary(&graph.rules, rule).map(Op::Binary),
                other => Some(other),
            };
            let value = self.apply(adopted.ok_or(ErrorKind::TapeOverflow)?, x, y);
            values.push(value);
        }
        let mut output = |operand: u32| match operand & CONSTANT {
            0 => values[operand as usize],
            _ => self.constant(graph.constants[(operand & !CONSTANT) as usize]),
        };
        Ok(match graph.outputs[..] {
            [first, second] => Partial::Product(output(first), output(second)),
            _ => Partial::Value(output(graph.outputs[0]), op != Op::Binary(TIMES)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Expressions, Partial, Shared};
    use crate::derive::builder::Builder;
    use crate::recording::graph::Op;
    use crate::recording::rules::{MINUS, PLUS, TIMES};
    use crate::{Limits, Recorded, compile, record};

    #[test]
    fn short_ways_agree_with_the_table() {
        let mut shared = Shared::new(Vec::new(), Default::default(), Default::default());
        let mut builder = Builder::new(&mut shared, Vec::new(), false);
        let (a, b) = (builder.constant(2.0), builder.constant(3.0));
        for rule in [PLUS, MINUS, TIMES] {
            let op = Op::Binary(rule);
            let result = builder.write(op, a, b);
            for argument in 0..2 {
                let expected = builder.partial_by_table(op, a, b, result, argument).unwrap();
                assert!(builder.partial(op, a, b, result, argument).unwrap() == expected, "{rule}, {argument}");
                assert!(rule == TIMES || !matches!(expected, Partial::Value(_, false)), "{rule}, {argument}");
            }
        }
    }

    /// 100 (x₁ - x₀²)²: its derivative by x₀ is -400 (x₁ - x₀²) x₀, which takes one product for the square's two terms.
    #[test]
    fn squares_have_one_term() {
        let f = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| {
            let d = x[1] - x[0] * x[0];
            y.push(100.0 * (d * d));
        };
        let graph = record(&[3.0, 2.0], &[], Limits::default(), f).unwrap();
        let program = compile(&graph).unwrap().gradient().unwrap();
        assert!(program.to_string().contains("-400"), "{program}");
        let executable = program.executable();
        let mut gradient = [f64::NAN; 2];
        executable.run(&mut executable.workspace(), &[&[3.0, 2.0], &[]], &mut [&mut [0.0], &mut gradient]).unwrap();
        assert_eq!(gradient, [8400.0, -1400.0]);
    }
}
