//! The algebra of the reference: operations with their textbook derivatives, and decisions with their margins.
//!
//! Called by `Program::run`; functions of one number come from `elementary`, the chain rule from `number`.

use super::elementary::{Shape, form, is_kink, is_unknown, shape};
use super::number::{Context, Local, Number, Slope, combine, kinds};
use differentiation_interface_soak::program::{Algebra, Argument, Binary, Relation, Special, Unary};

/// Operands closer than this many error bounds count as undecided.
const DOUBT: f64 = 8.0;

/// The numbers of the reference.
pub(crate) struct Reference {
    context: Context,
    undecided: bool,
}

/// A number that depends on no input, in place of a second operand.
fn nothing() -> Number {
    Number::constant(0.0)
}

/// A function of two numbers: value, ∂x, ∂y, ∂xx, ∂xy, ∂yy, and the size that the rounding error of each is proportional to.
struct Form2 {
    f: [f64; 6],
    own: [f64; 6],
}

impl Reference {
    pub(crate) fn new(context: Context) -> Reference {
        Reference { context, undecided: false }
    }

    /// Whether all decisions were clear.
    pub(crate) fn is_decided(&self) -> bool {
        !self.undecided
    }

    /// Whether `a` and `b` may compare differently in another arithmetic.
    fn is_close(&self, a: &Number, b: &Number) -> bool {
        let doubt = DOUBT * (a.value_error + b.value_error);
        doubt > 0.0 && (a.value - b.value).abs() <= doubt
    }

    /// A derivative used as a value. If it is not finite, it depends on how an engine treats a product of zero and infinity (the
    /// tape leaves out adjoints that are zero); if twice an operand is not, it depends on the order of its factors. Decisions by it are
    /// therefore undecided.
    fn conventional(&self, mut derivative: Number, x: &Number, y: &Number) -> Number {
        let largest = x.value.abs().max(y.value.abs());
        if !derivative.value.is_finite() || largest > self.context.largest / 4.0 {
            derivative.mark(0, kinds::UNKNOWN);
        }
        derivative
    }

    fn elementary(&mut self, function: Unary, a: &Number) -> Number {
        let x = a.value;
        let here = form(function, x);
        let mut error: [f64; 3] = here.own.map(|own| self.context.unit * own);
        if a.value_error > 0.0 {
            for moved in [x - a.value_error, x + a.value_error] {
                grow(&mut error, &here.f, &form(function, moved).f);
            }
            // It jumps back at each integer, so that two points do not show how far it moves.
            if function == Unary::Fract && is_kink(function, x, DOUBT * a.value_error) {
                error[0] = error[0].max(1.0);
            }
        }
        let mut local = Local::of(here.f[0], error[0]);
        let slope = |k: usize| Slope { value: here.f[k], error: error[k] };
        match shape(function) {
            Shape::Flat => {}
            Shape::Straight => local.first[0] = Some(slope(1)),
            Shape::Curved => {
                local.first[0] = Some(slope(1));
                local.second[0] = Some(slope(2));
            }
        }
        if is_kink(function, x, DOUBT * a.value_error) {
            local.marks[1] |= kinds::KINK;
            local.marks[2] |= kinds::KINK;
        }
        // If the argument is wrong by a fraction of the period, the value is unknown.
        let is_lost = matches!(function, Unary::Sin | Unary::Cos | Unary::Tan) && a.value_error > 0.05;
        if is_lost || is_unknown(function, x, self.context.largest) {
            local.marks = local.marks.map(|marks| marks | kinds::UNKNOWN);
        }
        // The sign of zero decides.
        if function == Unary::Signum && x == 0.0 {
            local.marks = local.marks.map(|marks| marks | kinds::KINK);
        }
        combine(&self.context, [a, &nothing()], &local)
    }

    fn smooth(&mut self, function: Binary, a: &Number, b: &Number) -> Number {
        let here = form2(function, a.value, b.value);
        let mut error: [f64; 6] = here.own.map(|own| self.context.unit * own);
        let mut moved = |x: f64, y: f64| {
            let there = form2(function, x, y);
            grow(&mut error, &here.f, &there.f);
        };
        if a.value_error > 0.0 {
            moved(a.value - a.value_error, b.value);
            moved(a.value + a.value_error, b.value);
        }
        if b.value_error > 0.0 {
            moved(a.value, b.value - b.value_error);
            moved(a.value, b.value + b.value_error);
        }
        if matches!(function, Binary::Add | Binary::Sub) {
            // Sums may be computed in another order, so the sizes of their terms count.
            error[0] += self.context.unit * (a.value.abs() + b.value.abs());
        }
        let mut local = Local::of(here.f[0], error[0]);
        let slope = |k: usize| Some(Slope { value: here.f[k], error: error[k] });
        local.first = [slope(1), slope(2)];
        match function {
            Binary::Add | Binary::Sub | Binary::Rem => {}
            Binary::Copysign => local.first[1] = None,
            Binary::Mul => local.second[1] = slope(4),
            Binary::Div => local.second = [None, slope(4), slope(5)],
            _ => local.second = [slope(3), slope(4), slope(5)],
        }
        self.mark_binary(function, a, b, &mut local);
        combine(&self.context, [a, b], &local)
    }

    /// Marks kinks and results that depend on conventions.
    fn mark_binary(&self, function: Binary, a: &Number, b: &Number, local: &mut Local) {
        let zero = Number::constant(0.0);
        let is_zero = |v: &Number| v.value == 0.0 || self.is_close(v, &zero);
        let (mark, first_order) = match function {
            Binary::Rem => {
                let quotient = a.value / b.value;
                let doubt = 16.0 * (self.context.unit * quotient.abs() + local.value_error / b.value.abs());
                (kinds::KINK, (quotient - quotient.round()).abs() <= doubt)
            }
            Binary::Hypot => (kinds::KINK, is_zero(a) && is_zero(b)),
            Binary::Powf => (kinds::SINGULAR, is_zero(a)),
            Binary::Copysign | Binary::Atan2 => {
                // The sign of zero decides the value.
                let edge = if function == Binary::Copysign {
                    is_zero(b) || is_zero(a)
                } else {
                    is_zero(a) && (is_zero(b) || b.value < 0.0)
                };
                if edge {
                    local.marks[0] |= kinds::KINK;
                }
                (kinds::KINK, edge)
            }
            _ => return,
        };
        if first_order {
            local.marks[1] |= mark;
            local.marks[2] |= mark;
        }
    }

    /// `taken`, if rounding may decide the choice between it and `other`.
    fn chosen(&self, taken: &Number, other: &Number, is_kink: bool) -> Number {
        let mut result = taken.clone();
        if is_kink {
            result.mark(1, kinds::KINK);
            result.depends |= other.depends;
            result.curved |= other.curved;
        }
        if other.is_marked() {
            result.mark(0, kinds::UNTAKEN);
        }
        result
    }

    fn choice(&mut self, function: Binary, a: &Number, b: &Number) -> Number {
        let tie = a.value == b.value || self.is_close(a, b);
        let first = match function {
            Binary::Max => a.value >= b.value || b.value.is_nan(),
            _ => a.value <= b.value || b.value.is_nan(),
        };
        let mut result = if first { self.chosen(a, b, tie) } else { self.chosen(b, a, tie) };
        if a.value.is_nan() || b.value.is_nan() {
            result.mark(0, kinds::NAN);
        }
        if tie {
            result.value_error = a.value_error.max(b.value_error);
        }
        result
    }
}

/// The distance of `there` from `here`; equal infinities do not differ.
fn deviation(here: f64, there: f64) -> f64 {
    if here == there || (here.is_nan() && there.is_nan()) { 0.0 } else { (here - there).abs() }
}

/// Adds the distance to a neighbouring point to the errors.
fn grow<const K: usize>(error: &mut [f64; K], here: &[f64; K], there: &[f64; K]) {
    for (error, (here, there)) in error.iter_mut().zip(here.iter().zip(there)) {
        *error += deviation(*here, *there);
    }
}

/// A function of two numbers at a point.
fn form2(function: Binary, x: f64, y: f64) -> Form2 {
    let mut sizes = [0.0; 6];
    let f = match function {
        Binary::Add => [x + y, 1.0, 1.0, 0.0, 0.0, 0.0],
        Binary::Sub => [x - y, 1.0, -1.0, 0.0, 0.0, 0.0],
        Binary::Mul => [x * y, y, x, 0.0, 1.0, 0.0],
        Binary::Div => [x / y, 1.0 / y, -x / y / y, 0.0, -1.0 / y / y, 2.0 * x / y / y / y],
        Binary::Rem => [x % y, 1.0, -(x / y).trunc(), 0.0, 0.0, 0.0],
        Binary::Powf => {
            let (power, ln) = (x.powf(y), x.ln());
            let below = x.powf(y - 1.0);
            sizes[4] = below.abs() * (1.0 + (y * ln).abs());
            [power, y * below, power * ln, y * (y - 1.0) * x.powf(y - 2.0), below * (1.0 + y * ln), power * ln * ln]
        }
        Binary::Atan2 => {
            // `x` is the numerator.
            let r = x.hypot(y);
            let (s, c) = (x / r, y / r);
            sizes[4] = 1.0 / r / r;
            sizes[3] = 1.0 / r / r;
            sizes[5] = 1.0 / r / r;
            [x.atan2(y), c / r, -s / r, -2.0 * s * c / r / r, (s - c) * (s + c) / r / r, 2.0 * s * c / r / r]
        }
        Binary::Hypot => {
            let r = x.hypot(y);
            let (c, s) = (x / r, y / r);
            sizes[3] = 1.0 / r;
            sizes[4] = 1.0 / r;
            sizes[5] = 1.0 / r;
            [r, c, s, s * s / r, -s * c / r, c * c / r]
        }
        Binary::Copysign => {
            [x.copysign(y), if x.is_sign_negative() == y.is_sign_negative() { 1.0 } else { -1.0 }, 0.0, 0.0, 0.0, 0.0]
        }
        Binary::Max | Binary::Min | Binary::AbsSub => unreachable!("choices have no form"),
    };
    let factor = match function {
        Binary::Add | Binary::Sub | Binary::Mul => [1.0; 6],
        _ => [4.0, 8.0, 8.0, 16.0, 16.0, 16.0],
    };
    Form2 { f, own: std::array::from_fn(|k| factor[k] * (f[k].abs() + sizes[k])) }
}

impl Algebra for Reference {
    type Number = Number;

    fn constant(&mut self, value: f64) -> Number {
        Number::constant((self.context.round)(value))
    }

    fn unary(&mut self, function: Unary, a: Number) -> Number {
        match function {
            Unary::Powc(c) => self.elementary(Unary::Powc((self.context.round)(c)), &a),
            _ => self.elementary(function, &a),
        }
    }

    fn binary(&mut self, function: Binary, a: Argument<Number>, b: Argument<Number>) -> Number {
        let [a, b] = [a, b].map(|argument| match argument {
            Argument::Number(number) => number,
            Argument::Plain(value) => self.constant(value),
        });
        match function {
            Binary::Max | Binary::Min => self.choice(function, &a, &b),
            Binary::AbsSub => {
                let difference = self.smooth(Binary::Sub, &a, &b);
                let zero = Number::constant(0.0);
                let tie = a.value == b.value || self.is_close(&a, &b);
                if a.value <= b.value {
                    let mut result = self.chosen(&zero, &difference, tie);
                    if tie {
                        result.value_error = difference.value_error;
                    }
                    result
                } else {
                    self.chosen(&difference, &zero, tie)
                }
            }
            _ => self.smooth(function, &a, &b),
        }
    }

    fn mul_add(&mut self, a: Number, b: Number, c: Number) -> Number {
        let product = self.smooth(Binary::Mul, &a, &b);
        let mut sum = self.smooth(Binary::Add, &product, &c);
        // Fused or not.
        sum.value = a.value.mul_add(b.value, c.value);
        sum.value_error += self.context.unit * product.value.abs();
        sum
    }

    fn clamp(&mut self, a: Number, low: f64, high: f64) -> Number {
        let mut result = a;
        for (limit, is_low) in [(low, true), (high, false)] {
            let limit = self.constant(limit);
            let tie = result.value == limit.value || self.is_close(&result, &limit);
            let beyond = if is_low { result.value < limit.value } else { limit.value < result.value };
            let error = result.value_error;
            result = if beyond { self.chosen(&limit, &result, tie) } else { self.chosen(&result, &limit, tie) };
            if tie {
                result.value_error = error;
            }
        }
        result
    }

    fn holds(&mut self, relation: Relation, a: Number, b: Number) -> bool {
        self.undecided |= self.is_close(&a, &b);
        self.undecided |= (a.marks[0] | b.marks[0]) & (kinds::RANGE | kinds::UNKNOWN | kinds::KINK) != 0;
        relation.holds(&a.value, &b.value)
    }

    fn select(&mut self, relation: Relation, [a, b]: [Number; 2], then: Number, otherwise: Number) -> Number {
        if self.holds(relation, a, b) {
            self.chosen(&then, &otherwise, false)
        } else {
            self.chosen(&otherwise, &then, false)
        }
    }

    fn index(&mut self, a: Number, count: usize) -> usize {
        let doubt = DOUBT * a.value_error;
        self.undecided |= doubt > 0.0 && (a.value - a.value.round()).abs() <= doubt;
        self.undecided |= a.marks[0] & (kinds::RANGE | kinds::UNKNOWN | kinds::KINK) != 0;
        const LIMIT: f64 = 9_223_372_036_854_775_808.0; // 2⁶³
        let fits = a.value >= -LIMIT && a.value < LIMIT;
        if fits { (a.value.trunc() as i64).rem_euclid(count as i64) as usize } else { 0 }
    }

    fn special(&mut self, function: Special, a: Number, b: Number) -> Number {
        let (x, y) = (&a, &b);
        match function {
            Special::ByPushforward => {
                let square = self.smooth(Binary::Mul, x, x);
                let product = self.smooth(Binary::Mul, &square, y);
                let sine = self.elementary(Unary::Sin, y);
                self.smooth(Binary::Add, &product, &sine)
            }
            Special::ByPullback => {
                let product = self.smooth(Binary::Mul, x, y);
                let square = self.smooth(Binary::Mul, y, y);
                let first = self.smooth(Binary::Sub, &product, &square);
                let two = self.constant(2.0);
                let twice = self.smooth(Binary::Mul, &two, y);
                let second = self.smooth(Binary::Add, x, &twice);
                self.smooth(Binary::Add, &first, &second)
            }
            Special::NestedForward => {
                // a cos(a b) + 2 a b
                let product = self.smooth(Binary::Mul, x, y);
                let cosine = self.elementary(Unary::Cos, &product);
                let first = self.smooth(Binary::Mul, x, &cosine);
                let two = self.constant(2.0);
                let second = self.smooth(Binary::Mul, &two, &product);
                let sum = self.smooth(Binary::Add, &first, &second);
                self.conventional(sum, x, y)
            }
            Special::NestedReverse => {
                // 2 a b - b exp(-a b)
                let product = self.smooth(Binary::Mul, x, y);
                let exponent = self.elementary(Unary::Neg, &product);
                let power = self.elementary(Unary::Exp, &exponent);
                let second = self.smooth(Binary::Mul, y, &power);
                let two = self.constant(2.0);
                let first = self.smooth(Binary::Mul, &two, &product);
                let difference = self.smooth(Binary::Sub, &first, &second);
                self.conventional(difference, x, y)
            }
        }
    }

    fn sum(&mut self, terms: Vec<Number>) -> Number {
        let mut sum = Number::constant(0.0);
        for term in &terms {
            sum = self.smooth(Binary::Add, &sum, term);
        }
        sum
    }

    fn product(&mut self, factors: &[Number]) -> Number {
        let mut product = Number::constant(1.0);
        for factor in factors {
            product = self.smooth(Binary::Mul, &product, factor);
        }
        product
    }
}
