//! Absent derivatives: zeros that contribute nothing, whatever factor they are multiplied with.
//!
//! Used by the passes that derive programs (`derive`) and graphs (`entries`). A derivative is *absent* where a number does not depend
//! on an input: the side of a choice that is not taken, an output without a seed, a cell that nothing reads, an argument whose cotangent
//! a custom rule returns as zero. Memory represents it by zero; 0 · ∞ is NaN, but an absent derivative times anything is absent.
//!
//! Products are plain at first, which costs nothing, and a program records whether an absent derivative may be among their factors
//! ([`Absence::Doubtful`]). If such a program returns NaN, the program derived with [`Absence::Tracked`] decides: it carries,
//! with every derivative that may be absent, a second number, its presence, which is 0 if the derivative is absent, and keeps products
//! with the derivative only where the presence is not 0. Both programs compute the same elsewhere.

use crate::derive::expressions::{Expressions, Partial};
use crate::recording::absence::Absence;
use crate::recording::graph::{Op, RELATIONS};
use crate::recording::rules::{NEGATE, PLUS, TIMES};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::scalar::Relation;

/// Whether a derivative is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Certainly present.
    Always,
    /// Present unless this result is 0. It is never negative, never NaN.
    If(u32),
    /// Possibly absent, and not tracked.
    Unknown,
}

/// An adjoint or tangent as a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slope {
    pub(crate) value: u32,
    pub(crate) presence: Presence,
}

impl Slope {
    /// A derivative that is present.
    pub(crate) fn always(value: u32) -> Slope {
        Slope { value, presence: Presence::Always }
    }
}

/// Writes derivatives that may be absent.
pub(crate) trait Absences: Expressions {
    /// Whether absent derivatives are tracked.
    fn tracks(&mut self) -> bool {
        self.shared().absence == Absence::Tracked
    }

    /// A seed, which is absent if it is zero.
    fn seed(&mut self, value: u32) -> Slope {
        if !self.tracks() {
            return Slope { value, presence: Presence::Unknown };
        }
        let equal = RELATIONS.iter().position(|relation| *relation == Relation::Equal).unwrap_or(0);
        let (zero, one) = (self.constant(0.0), self.constant(1.0));
        let is_zero = self.apply(Op::Compare(equal as u8), value, zero);
        Slope { value, presence: Presence::If(self.apply(Op::Drop, is_zero, one)) }
    }

    /// The presence as a number.
    fn number(&mut self, presence: Presence) -> u32 {
        match presence {
            Presence::If(result) => result,
            _ => self.constant(1.0),
        }
    }

    /// The presence of a sum of two.
    fn either(&mut self, a: Presence, b: Presence) -> Presence {
        match (a, b) {
            (Presence::Always, _) | (_, Presence::Always) => Presence::Always,
            (Presence::If(a), Presence::If(b)) if a == b => Presence::If(a),
            (Presence::If(a), Presence::If(b)) if self.are_opposite(a, b) || self.are_opposite(b, a) => {
                Presence::Always
            }
            (Presence::If(a), Presence::If(b)) => Presence::If(self.apply(Op::Binary(PLUS), a, b)),
            _ => Presence::Unknown,
        }
    }

    /// Whether `b` is 1 where `a` is 0.
    fn are_opposite(&self, a: u32, b: u32) -> bool {
        matches!(self.operation(b), Some((Op::Drop, mask, one)) if mask == a && self.value(one) == Some(1.0))
    }

    /// The part of a derivative that a choice lets through.
    fn chosen(&mut self, op: Op, mask: u32, slope: Slope) -> Slope {
        let value = self.apply(op, mask, slope.value);
        let presence = match (self.tracks(), slope.presence) {
            (false, _) => Presence::Unknown,
            (true, Presence::Always) if op == Op::Keep => Presence::If(mask),
            (true, presence) => {
                let number = self.number(presence);
                Presence::If(self.apply(op, mask, number))
            }
        };
        Slope { value, presence }
    }

    /// A derivative times a factor.
    fn product(&mut self, slope: Slope, factor: u32) -> Slope {
        let value = self.apply(Op::Binary(TIMES), factor, slope.value);
        if slope.presence == Presence::Always || self.value(factor).is_some_and(f64::is_finite) {
            return Slope { value, ..slope };
        }
        match slope.presence {
            Presence::If(presence) => Slope { value: self.apply(Op::Keep, presence, value), ..slope },
            _ => {
                let absence = &mut self.shared().absence;
                if *absence == Absence::Exact {
                    *absence = Absence::Doubtful;
                }
                Slope { value, ..slope }
            }
        }
    }

    /// The product with a derivative that a rule wrote. Where that is zero by choice the product is absent: `max` on the side not taken,
    /// and zeros that a rule sets.
    fn product_by_rule(&mut self, slope: Slope, factor: u32) -> Slope {
        if !self.has_chosen_zero(factor) {
            return self.product(slope, factor);
        }
        if let Some(negated) = self.negated(factor) {
            let product = self.product_by_rule(slope, negated);
            return Slope { value: self.apply(Op::Unary(NEGATE), product.value, product.value), ..product };
        }
        let mut sum = None;
        if let Some((mask, sides)) = self.sides(factor) {
            for (op, side) in [Op::Keep, Op::Drop].into_iter().zip(sides) {
                if self.value(side) != Some(0.0) {
                    let product = self.product_by_rule(slope, side);
                    let term = self.chosen(op, mask, product);
                    self.add(&mut sum, term);
                }
            }
        }
        sum.unwrap_or_else(|| self.product(slope, factor))
    }

    /// Whether a factor is a choice between zero and something else.
    fn has_chosen_zero(&self, factor: u32) -> bool {
        match (self.negated(factor), self.sides(factor)) {
            (Some(negated), _) => self.has_chosen_zero(negated),
            (None, Some((_, [a, b]))) if self.value(a) == Some(0.0) => self.value(b) != Some(0.0),
            (None, Some((_, [a, b]))) => {
                self.value(b) == Some(0.0) || self.has_chosen_zero(a) || self.has_chosen_zero(b)
            }
            (None, None) => false,
        }
    }

    /// The mask and the two sides of a choice.
    fn sides(&self, result: u32) -> Option<(u32, [u32; 2])> {
        let (Op::Binary(PLUS), p, q) = self.operation(result)? else { return None };
        match (self.operation(p)?, self.operation(q)?) {
            ((Op::Keep, mask, kept), (Op::Drop, other, dropped))
            | ((Op::Drop, other, dropped), (Op::Keep, mask, kept))
                if mask == other =>
            {
                Some((mask, [kept, dropped]))
            }
            _ => None,
        }
    }

    /// Adds a term to a sum.
    fn add(&mut self, sum: &mut Option<Slope>, term: Slope) {
        let Some(known) = *sum else { return *sum = Some(term) };
        let double = if known == term { self.double(term.value) } else { None };
        let value = double.unwrap_or_else(|| self.apply(Op::Binary(PLUS), known.value, term.value));
        *sum = Some(Slope { value, presence: self.either(known.presence, term.presence) });
    }

    /// The contributions of the adjoint of an operation's result to the adjoints of its operands, if those are active.
    fn pullback(
        &mut self,
        op: Op,
        [x, y]: [u32; 2],
        result: u32,
        adjoint: Slope,
        active: [bool; 2],
    ) -> Result<[Option<Slope>; 2], Error> {
        let mut terms = [None; 2];
        match op {
            // Both terms of a square at once.
            Op::Binary(TIMES)
                if x == y
                    && active[0]
                    && let Some(double) = self.double(adjoint.value) =>
            {
                terms[0] = Some(self.product(Slope { value: double, ..adjoint }, x));
            }
            Op::Unary(_) | Op::Binary(_) => {
                let arguments = if matches!(op, Op::Unary(_)) { 1 } else { 2 };
                for argument in (0..arguments).filter(|argument| active[*argument]) {
                    let partial = self.partial(op, x, y, result, argument)?;
                    terms[argument] = self.times(adjoint, partial);
                }
            }
            Op::Keep | Op::Drop if active[1] => terms[1] = Some(self.chosen(op, x, adjoint)),
            _ => {}
        }
        Ok(terms)
    }

    /// An adjoint or tangent times a partial derivative; `None` if that is zero.
    fn times(&mut self, slope: Slope, partial: Partial) -> Option<Slope> {
        match partial {
            Partial::Zero => None,
            Partial::One => Some(slope),
            Partial::Value(value, true) => Some(self.product_by_rule(slope, value)),
            Partial::Value(value, false) => Some(self.product(slope, value)),
            Partial::Product(first, second) => {
                let inner = self.product_by_rule(slope, first);
                Some(self.product_by_rule(inner, second))
            }
        }
    }
}

impl<E: Expressions> Absences for E {}

#[cfg(test)]
mod tests {
    use crate::{Absence, Graph, Limits, Program, Recorded, compile, record};
    use differentiation_interface_core::{Real, Scalar};
    use num_traits::Float;

    fn recorded(x: &[f64], f: impl FnOnce(&[Recorded]) -> Vec<Recorded>) -> Graph {
        record(x, &[], Limits::default(), |x, _, y| *y = f(x)).unwrap()
    }

    /// The outputs of a program, one slice after the other.
    fn run(program: Program, inputs: &[&[f64]]) -> Vec<Vec<f64>> {
        let mut outputs: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![7.0; *length]).collect();
        let executable = program.executable();
        let mut slices: Vec<&mut [f64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        executable.run(&mut executable.workspace(), inputs, &mut slices).unwrap();
        outputs
    }

    /// NaN is equal to itself.
    fn assert_same(found: &[f64], expected: &[f64]) {
        let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(same), "{found:?} is not {expected:?}");
    }

    /// The gradient in all ways, with absent derivatives tracked.
    fn check(f: fn(&[Recorded]) -> Recorded, x: &[f64], expected: &[f64]) {
        let graph = recorded(x, |x| vec![f(x)]).tracking_absent();
        let n = x.len();
        let program = compile(&graph).unwrap();
        assert_same(&run(program.gradient().unwrap(), &[x, &[]])[1], expected);
        assert_same(&run(program.adjoint(1).unwrap(), &[x, &[], &[1.0]])[1], expected);
        // With one seed per input.
        let columns: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let forward = |seed: &Vec<f64>| run(program.tangent(1).unwrap(), &[x, &[], seed])[1][0];
        assert_same(&columns.iter().map(forward).collect::<Vec<_>>(), expected);
        let all: Vec<u32> = (0..n as u32).collect();
        let entries = graph.jacobian_entries(&[0, n as u32], &all, 1000).unwrap().unwrap();
        assert_same(&run(compile(&entries).unwrap(), &[x, &[]])[0], expected);
    }

    fn positive<T: Real>(x: T, then: T, otherwise: T) -> T {
        x.greater_than(T::constant(0.0)).select(then, otherwise)
    }

    #[test]
    fn sides_not_taken_contribute_nothing() {
        let root = |x: &[Recorded]| positive(x[0], x[0].sqrt() * x[1], x[1] * x[1]);
        check(root, &[-1.0, 3.0], &[0.0, 6.0]);
        check(root, &[4.0, 3.0], &[0.75, 2.0]);
        check(|x| x[0].max(Recorded::constant(0.0)).sqrt() * x[1], &[-1.0, 3.0], &[0.0, 0.0]);
        check(|x| (x[0].sqrt() * x[1]).max(x[1] * x[1]), &[-1.0, 3.0], &[0.0, 6.0]);
        check(|x| (x[1] * x[1]).abs_sub(x[0].ln() * x[1] * x[1]), &[0.5, 3.0], &[-18.0, 6.0 - 6.0 * 0.5f64.ln()]);
        let nested = |x: &[Recorded]| {
            let inner = positive(x[1], x[1] * x[1], x[0].ln() * x[2].recip());
            positive(x[0], x[2].ln(), inner * x[2]) + inner
        };
        check(nested, &[-1.0, 3.0, 0.0], &[0.0, 6.0 * 0.0 + 6.0, 9.0]);
    }

    #[test]
    fn zeros_that_are_computed_follow_the_arithmetic() {
        let product = |x: &[Recorded]| x[0].sqrt() * x[1];
        check(product, &[0.0, 0.0], &[f64::NAN, 0.0]);
        check(|x| positive(x[1], x[0].sqrt() * x[1], x[0].sqrt() * x[1]), &[0.0, 0.0], &[f64::NAN, 0.0]);
        let plain = compile(&recorded(&[0.0, 0.0], |x| vec![product(x)])).unwrap().gradient().unwrap();
        assert_eq!(plain.absence, Absence::Exact);
        assert_same(&run(plain, &[&[0.0, 0.0], &[]])[1], &[f64::NAN, 0.0]);
    }

    #[test]
    fn cells_that_nothing_reads_contribute_nothing() {
        // Roots in a loop of their own, of which every other one is read.
        let x: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 4.0 } else { 0.0 }).collect();
        let graph = recorded(&x, |x| {
            let roots: Vec<Recorded> = x.iter().map(|v| v.sqrt()).collect();
            let first = roots.iter().step_by(2).fold(x[0], |sum, root| (sum * 0.5 + *root).sin());
            vec![first]
        });
        let expected =
            run(compile(&graph).unwrap().gradient().unwrap(), &[&x.iter().map(|v| v + 1.0).collect::<Vec<_>>(), &[]]);
        assert!(expected[1].iter().skip(1).step_by(2).all(|v| *v == 0.0));
        let gradient = compile(&graph.tracking_absent()).unwrap().gradient().unwrap();
        let found = run(gradient, &[&x, &[]]);
        assert!(found[1].iter().enumerate().all(|(i, v)| (*v == 0.0) == (i % 2 == 1) && v.is_finite()), "{found:?}");
    }

    #[test]
    fn outputs_without_a_seed_contribute_nothing() {
        let graph = recorded(&[0.0, 0.0], |x| vec![x[0].sqrt() * x[1], x[1] * 3.0]);
        let program = compile(&graph.tracking_absent()).unwrap().adjoint(2).unwrap();
        let found = run(program, &[&[0.0, 0.0], &[], &[1.0, 0.0], &[0.0, 1.0]]);
        assert_same(&found[1], &[f64::NAN, 0.0]);
        assert_same(&found[2], &[0.0, 3.0]);
    }

    /// ∇²(√x₀ + x₁² + (x₁ > 0 ? x₁³ : √x₀ x₁)): products with all axes, and entries.
    #[test]
    fn second_derivatives_track_absent_ones_too() {
        let f = |x: &[Recorded]| vec![x[0].sqrt() + x[1] * x[1] + positive(x[1], x[1].powi(3), x[0].sqrt() * x[1])];
        let graph = recorded(&[0.0, 2.0], f).tracking_absent();
        let product = compile(&graph).unwrap().gradient().unwrap().tangent(2).unwrap();
        let found = run(product, &[&[0.0, 2.0], &[], &[1.0, 0.0], &[0.0, 1.0]]);
        assert_same(&found[3], &[-f64::INFINITY, 0.0]);
        assert_same(&found[5], &[0.0, 14.0]);
        let entries = graph.hessian_entries(&[0, 2, 4], &[0, 1, 0, 1], 1000).unwrap().unwrap();
        assert_same(&run(compile(&entries).unwrap(), &[&[0.0, 2.0], &[]])[0], &[-f64::INFINITY, 0.0, 0.0, 14.0]);
    }

    /// Programs without choices over one output need no tracking.
    #[test]
    fn straight_gradients_are_exact() {
        let x = vec![1.5; 10];
        let graph = recorded(&x, |x| vec![x.windows(2).map(|w| (w[1] - w[0] * w[0]).powi(2) + w[0].sin()).sum()]);
        assert_eq!(compile(&graph).unwrap().gradient().unwrap().absence, Absence::Exact);
        let choosing = recorded(&x, |x| vec![positive(x[0], x[0].sqrt() * x[1], x[1])]);
        assert_eq!(compile(&choosing).unwrap().gradient().unwrap().absence, Absence::Doubtful);
    }
}
