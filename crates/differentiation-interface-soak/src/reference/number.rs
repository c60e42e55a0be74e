//! The number of the reference and the chain rule.
//!
//! A number carries its value, its gradient and its Hessian, a bound for the rounding error of each, the inputs (and pairs of
//! inputs) that it depends on at all, and marks for the singular points on its way. `algebra` computes local derivatives of
//! operations, [`combine`] applies the chain rule.

use differentiation_interface_soak::function::MAX_INPUTS;

/// Entries of a Hessian's upper triangle.
pub(crate) const PAIRS: usize = MAX_INPUTS * (MAX_INPUTS + 1) / 2;

/// Reasons why a number's derivatives may be a matter of convention, or its error bound meaningless. Each is a bit.
pub(crate) mod kinds {
    /// A value is NaN.
    pub(crate) const NAN: u32 = 1;
    /// A value is infinite.
    pub(crate) const INFINITE: u32 = 2;
    /// A derivative on the way is infinite or NaN.
    pub(crate) const SINGULAR: u32 = 4;
    /// The point is on a kink or a jump, or so close to it that rounding decides the side.
    pub(crate) const KINK: u32 = 8;
    /// Products of derivatives on the way leave the range of the numbers.
    pub(crate) const RANGE: u32 = 16;
    /// Outside of the domain in which the reference is accurate.
    pub(crate) const UNKNOWN: u32 = 32;
    /// Only the side of a choice that was not taken has one of the other marks.
    pub(crate) const UNTAKEN: u32 = 64;

    pub(crate) const NAMES: [&str; 7] = [
        "value is NaN",
        "value is infinite",
        "derivative is unbounded",
        "at a kink or jump",
        "derivatives leave the range",
        "far outside the usual domain",
        "untaken side is singular",
    ];
}

/// The arithmetic of the engine under test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// Half the distance of 1 to the next number.
    pub(crate) unit: f64,
    /// The largest number.
    pub(crate) largest: f64,
    /// The smallest positive number.
    pub(crate) smallest: f64,
    /// Products of derivatives on the way are from 2^-range to 2^range.
    pub(crate) range: f64,
    /// Rounds a plain number to the engine's type.
    pub(crate) round: fn(f64) -> f64,
}

impl Context {
    pub(crate) fn double() -> Context {
        Context {
            unit: 0.5 * f64::EPSILON,
            largest: f64::MAX,
            smallest: f64::from_bits(1),
            range: 900.0,
            round: std::convert::identity,
        }
    }
    pub(crate) fn single() -> Context {
        Context {
            unit: 0.5 * f64::from(f32::EPSILON),
            largest: f64::from(f32::MAX),
            smallest: f64::from(f32::from_bits(1)),
            range: 110.0,
            round: |value| f64::from(value as f32),
        }
    }
}

/// A value with first and second derivatives, and a bound for the rounding error of each.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) value_error: f64,
    pub(crate) grad: [f64; MAX_INPUTS],
    pub(crate) grad_error: [f64; MAX_INPUTS],
    pub(crate) hess: [f64; PAIRS],
    pub(crate) hess_error: [f64; PAIRS],
    /// Inputs that it depends on.
    pub(crate) depends: u32,
    /// Pairs of inputs whose second derivative is not zero everywhere.
    pub(crate) curved: u64,
    /// Marks of value, gradient, Hessian; each has those before.
    pub(crate) marks: [u32; 3],
    /// Least and largest logarithm of the product of derivatives from the inputs, now and on the way.
    path: [f64; 2],
    paths: [f64; 2],
    /// The largest logarithm of operands, results and derivatives of operations on the way that are not linear.
    extent: f64,
    /// How many inputs the program has.
    inputs: usize,
}

/// The index of a pair, in either order.
pub(crate) fn pair(i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    j * (j + 1) / 2 + i
}

impl Number {
    pub(crate) fn constant(value: f64) -> Number {
        let mut number = Number {
            value,
            value_error: 0.0,
            grad: [0.0; MAX_INPUTS],
            grad_error: [0.0; MAX_INPUTS],
            hess: [0.0; PAIRS],
            hess_error: [0.0; PAIRS],
            depends: 0,
            curved: 0,
            marks: [0; 3],
            path: [0.0; 2],
            paths: [0.0; 2],
            extent: 0.0,
            inputs: 0,
        };
        number.mark(0, mark_of_value(value));
        number
    }

    /// Input `i` of `inputs`.
    pub(crate) fn input(value: f64, i: usize, inputs: usize) -> Number {
        let mut number = Number::constant(value);
        number.grad[i] = 1.0;
        number.depends = 1 << i;
        number.inputs = inputs;
        number
    }

    /// Sets a mark of the derivatives of this order and above.
    pub(crate) fn mark(&mut self, order: usize, mark: u32) {
        self.marks[order..].iter_mut().for_each(|marks| *marks |= mark);
    }

    /// Marks of the derivatives of this order, including those for derivatives that leave the range.
    pub(crate) fn marks_of(&self, order: usize, context: &Context) -> u32 {
        let path = self.paths[1] - self.paths[0];
        let needed = match order {
            0 => 0.0,
            1 => path + self.extent,
            _ => 2.0 * path + 2.0 * self.extent,
        };
        self.marks[order] | if needed > context.range { kinds::RANGE } else { 0 }
    }

    /// Whether its value or a derivative is singular, so that an answer must not depend on it if it is not taken.
    pub(crate) fn is_marked(&self) -> bool {
        self.marks[2] & !kinds::UNTAKEN != 0
    }
}

fn mark_of_value(value: f64) -> u32 {
    if value.is_nan() {
        kinds::NAN
    } else if value.is_infinite() {
        kinds::INFINITE
    } else {
        0
    }
}

/// A derivative of an operation: its value and a bound for the error of that.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slope {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

/// An operation at its operands. Derivatives that are zero everywhere are `None`.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(crate) value: f64,
    pub(crate) value_error: f64,
    pub(crate) first: [Option<Slope>; 2],
    /// By the first operand twice, by both, by the second one twice.
    pub(crate) second: [Option<Slope>; 3],
    /// Marks of value, gradient, Hessian.
    pub(crate) marks: [u32; 3],
}

impl Local {
    /// An operation with this value and no derivatives yet.
    pub(crate) fn of(value: f64, value_error: f64) -> Local {
        Local { value, value_error, first: [None; 2], second: [None; 3], marks: [0; 3] }
    }
}

/// `|log2 |v||`, 0 for zero.
fn extent(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() { 0.0 } else { value.abs().log2().abs() }
}

/// The chain rule.
pub(crate) fn combine(context: &Context, operands: [&Number; 2], local: &Local) -> Number {
    let mut result = Number::constant(local.value);
    result.value_error = local.value_error + 4.0 * context.smallest;
    if local.value.is_finite() && local.value.abs() > context.largest {
        result.mark(0, kinds::RANGE);
    }
    result.inputs = operands[0].inputs.max(operands[1].inputs);
    for (order, mark) in local.marks.into_iter().enumerate() {
        result.mark(order, mark);
    }
    let u = context.unit;
    let mut path: Option<[f64; 2]> = None;
    for (k, operand) in operands.iter().enumerate() {
        let Some(slope) = local.first[k] else {
            result.mark(0, operand.marks[0]);
            continue;
        };
        for order in 0..3 {
            result.marks[order] |= operand.marks[order];
        }
        if operand.depends == 0 {
            continue;
        }
        if !slope.value.is_finite() || slope.value.abs() > context.largest {
            result.mark(1, kinds::SINGULAR);
        }
        let steep = if slope.value == 0.0 || !slope.value.is_finite() { 0.0 } else { slope.value.abs().log2() };
        let here = [operand.path[0] + steep, operand.path[1] + steep];
        let before = path.unwrap_or(here);
        path = Some([before[0].min(here[0]), before[1].max(here[1])]);
        result.paths =
            [result.paths[0].min(operand.paths[0]).min(here[0]), result.paths[1].max(operand.paths[1]).max(here[1])];
        result.extent = result.extent.max(operand.extent);
        result.depends |= operand.depends;
        result.curved |= operand.curved;
        let steepness = slope.value.abs();
        for i in (0..result.inputs).filter(|i| operand.depends >> i & 1 == 1) {
            let term = slope.value * operand.grad[i];
            result.grad[i] += term;
            result.grad_error[i] += steepness * operand.grad_error[i]
                + slope.error * (operand.grad[i].abs() + operand.grad_error[i])
                + 2.0 * u * term.abs();
        }
        for ij in (0..pair(0, result.inputs)).filter(|ij| operand.curved >> ij & 1 == 1) {
            let term = slope.value * operand.hess[ij];
            result.hess[ij] += term;
            result.hess_error[ij] += steepness * operand.hess_error[ij]
                + slope.error * (operand.hess[ij].abs() + operand.hess_error[ij])
                + 2.0 * u * term.abs();
        }
    }
    for (slope, [first, second]) in local.second.into_iter().zip([[0, 0], [0, 1], [1, 1]]) {
        let (Some(slope), a, b) = (slope, operands[first], operands[second]) else { continue };
        if a.depends == 0 || b.depends == 0 {
            continue;
        }
        if !slope.value.is_finite() || slope.value.abs() > context.largest {
            result.mark(2, kinds::SINGULAR);
        }
        result.extent = result.extent.max(extent(slope.value));
        let mut add = |i: usize, j: usize, first: &Number, second: &Number| {
            let ij = pair(i, j);
            let (g, h) = (first.grad[i], second.grad[j]);
            let (eg, eh) = (first.grad_error[i], second.grad_error[j]);
            let term = slope.value * g * h;
            result.hess[ij] += term;
            result.hess_error[ij] += slope.value.abs() * (g.abs() * eh + h.abs() * eg + eg * eh)
                + slope.error * (g.abs() + eg) * (h.abs() + eh)
                + 4.0 * u * term.abs();
            result.curved |= 1 << ij;
        };
        for i in (0..result.inputs).filter(|i| a.depends >> i & 1 == 1) {
            for j in (0..result.inputs).filter(|j| b.depends >> j & 1 == 1) {
                // The pair (i, j) of ∂²/∂a∂b occurs as (i, j) and (j, i), that of ∂²/∂a² once.
                if first != second {
                    add(i, j, a, b);
                    if i == j {
                        add(i, j, a, b);
                    }
                } else if i <= j {
                    add(i, j, a, b);
                }
            }
        }
    }
    if local.second.iter().any(Option::is_some) {
        let values = operands.iter().map(|operand| extent(operand.value)).fold(extent(local.value), f64::max);
        let slopes = local.first.iter().flatten().map(|slope| extent(slope.value)).fold(0.0, f64::max);
        result.extent = result.extent.max(values).max(slopes);
    }
    result.path = path.unwrap_or_default();
    result.finish(context);
    result
}

impl Number {
    /// Marks derivatives that are not finite.
    fn finish(&mut self, context: &Context) {
        let fits = |value: &f64, error: &f64| value.abs() <= context.largest && error.is_finite();
        if !self.grad.iter().zip(&self.grad_error).all(|(g, e)| fits(g, e)) {
            self.mark(1, kinds::SINGULAR);
        }
        if !self.hess.iter().zip(&self.hess_error).all(|(h, e)| fits(h, e)) {
            self.mark(2, kinds::SINGULAR);
        }
        if !self.value_error.is_finite() {
            self.mark(0, if self.value.is_finite() { kinds::SINGULAR } else { 0 });
        }
    }
}
