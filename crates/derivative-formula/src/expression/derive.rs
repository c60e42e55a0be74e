//! Derivatives of expressions, as expressions.
//!
//! A reverse sweep over the operations that an output depends on gives all its partial derivatives, which share their parts. The
//! derivatives of rules are those of the rule table, inserted as expressions. An adjoint that does not exist is not written: a product
//! with it is no term, and on the side that a choice does not take there is a zero, with which nothing is multiplied.

use super::arena::{Expressions, Id, Node};
use compiled_trace::rules::{MINUS, NEGATE, PLUS, TIMES};
use compiled_trace::{Op, RulePartial};
use differentiation_interface_core::error::Error;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The partial derivatives of an expression: the inputs on which it depends, ascending, and the derivative by each.
pub(crate) type Gradient = Vec<(u32, Id)>;

impl Expressions {
    /// The partial derivatives of an expression by the inputs for which `wants` holds.
    ///
    /// # Errors
    /// [`ErrorKind::RuleOrder`] if a rule has no derivative that can be recorded;
    /// [`ErrorKind::Refused`] if there are too many expressions.
    pub(crate) fn gradient(&mut self, output: Id, wants: impl Fn(u32) -> bool) -> Result<Gradient, Error> {
        let mut parts = self.parts(&[output]);
        let mut active = FxHashSet::default();
        for id in &parts {
            let is_active = |operand: &Id| active.contains(operand);
            let depends = match self.node(*id) {
                Node::Input(i) => wants(i),
                Node::Choice(_, [_, _, then, otherwise]) => is_active(&then) || is_active(&otherwise),
                node => node.operands().iter().any(is_active),
            };
            if depends {
                active.insert(*id);
            }
        }
        parts.retain(|id| active.contains(id));
        let mut adjoints: FxHashMap<Id, Id> = FxHashMap::default();
        if active.contains(&output) {
            adjoints.insert(output, self.number(1.0)?);
        }
        let mut gradient = Gradient::new();
        // The order in which outputs need operations is that of a recording; results follow their operands in it.
        for id in parts.into_iter().rev() {
            let Some(adjoint) = adjoints.remove(&id) else { continue };
            let mut pass = |expressions: &mut Expressions, to: Id, term: Option<Id>| -> Result<(), Error> {
                let Some(term) = term.filter(|_| active.contains(&to)) else { return Ok(()) };
                let sum = match adjoints.get(&to) {
                    Some(sum) => expressions.sum(*sum, term)?,
                    None => term,
                };
                adjoints.insert(to, sum);
                Ok(())
            };
            match self.node(id) {
                Node::Number(_) | Node::Parameter(_) => {}
                Node::Input(i) => gradient.push((i, adjoint)),
                Node::Unary(rule, a) => {
                    let term = self.term(Op::Unary(rule), &[a, id], 0, adjoint)?;
                    pass(self, a, term)?;
                }
                Node::Binary(rule, [a, b]) => {
                    for (argument, to) in [a, b].into_iter().enumerate() {
                        if active.contains(&to) {
                            let term = self.term(Op::Binary(rule), &[a, b, id], argument, adjoint)?;
                            pass(self, to, term)?;
                        }
                    }
                }
                Node::Choice(relation, [left, right, then, otherwise]) => {
                    let absent = self.number(0.0)?;
                    let taken = self.choice(relation, [left, right, adjoint, absent])?;
                    pass(self, then, Some(taken))?;
                    let not_taken = self.choice(relation, [left, right, absent, adjoint])?;
                    pass(self, otherwise, Some(not_taken))?;
                }
            }
        }
        gradient.sort_unstable_by_key(|(input, _)| *input);
        Ok(gradient)
    }

    /// An adjoint times the partial derivative of an operation by an argument; `values` are the arguments and the result.
    fn term(&mut self, op: Op, values: &[Id], argument: usize, adjoint: Id) -> Result<Option<Id>, Error> {
        let partials = match self.partials.get(&op) {
            Some(known) => Arc::clone(known),
            None => {
                let partials: Arc<[RulePartial]> = self.rules.partials(op)?.into();
                self.partials.insert(op, Arc::clone(&partials));
                partials
            }
        };
        let graph = match &partials[argument] {
            RulePartial::Zero => return Ok(None),
            RulePartial::One => return Ok(Some(adjoint)),
            RulePartial::Constant(c) => {
                let factor = self.number(*c)?;
                return self.product(adjoint, factor, true).map(Some);
            }
            RulePartial::Graph(graph) => graph,
        };
        let mut term = adjoint;
        for factor in self.insert(graph, values)?.outputs {
            term = self.product(term, factor, op != Op::Binary(TIMES))?;
        }
        Ok(Some(term))
    }

    /// A derivative times a factor. Where the derivative is a zero by choice the product is that zero; so it is where the rule that
    /// wrote the factor chose a zero. Choices of zeros share their sides, so that each product is formed once and then found.
    fn product(&mut self, slope: Id, factor: Id, by_rule: bool) -> Result<Id, Error> {
        if self.value(factor) == Some(1.0) {
            return Ok(slope);
        }
        if let Some(known) = self.products.get(&(slope, factor, by_rule)) {
            return Ok(*known);
        }
        // The choice of the factor, which is that of one rule, stands around those of the derivative, of which there can be many.
        let product = if by_rule && let Some((relation, [left, right], sides)) = self.choice_of_zero(factor) {
            let sides = self.each_side(sides, |expressions, side| expressions.product(slope, side, true))?;
            self.choice(relation, [left, right, sides[0], sides[1]])?
        } else if let Some((relation, [left, right], sides)) = self.choice_of_zero(slope) {
            let sides = self.each_side(sides, |expressions, side| expressions.product(side, factor, by_rule))?;
            self.choice(relation, [left, right, sides[0], sides[1]])?
        } else {
            return self.signed_product(slope, factor);
        };
        self.products.insert((slope, factor, by_rule), product);
        Ok(product)
    }

    fn signed_product(&mut self, slope: Id, factor: Id) -> Result<Id, Error> {
        // A sign belongs to the product.
        match (self.node(slope), self.node(factor)) {
            (Node::Unary(NEGATE, a), Node::Unary(NEGATE, b)) => self.binary(TIMES, [a, b]),
            (Node::Unary(NEGATE, a), _) => {
                let product = self.binary(TIMES, [a, factor])?;
                self.unary(NEGATE, product)
            }
            (_, Node::Unary(NEGATE, b)) => {
                let product = self.binary(TIMES, [slope, b])?;
                self.unary(NEGATE, product)
            }
            _ => self.binary(TIMES, [slope, factor]),
        }
    }

    /// Both sides of a choice, changed where they are not zero.
    fn each_side(
        &mut self,
        sides: [Id; 2],
        mut change: impl FnMut(&mut Expressions, Id) -> Result<Id, Error>,
    ) -> Result<[Id; 2], Error> {
        let mut changed = sides;
        for side in &mut changed {
            if self.value(*side) != Some(0.0) {
                *side = change(self, *side)?;
            }
        }
        Ok(changed)
    }

    /// The relation, the compared numbers and the sides of a choice, one side of which is zero or such a choice.
    fn choice_of_zero(&self, id: Id) -> Option<(u8, [Id; 2], [Id; 2])> {
        let Node::Choice(relation, [left, right, then, otherwise]) = self.node(id) else { return None };
        self.chooses_zero(id).then_some((relation, [left, right], [then, otherwise]))
    }

    /// The sum of two derivatives.
    fn sum(&mut self, a: Id, b: Id) -> Result<Id, Error> {
        if a == b {
            let two = self.number(2.0)?;
            return self.binary(TIMES, [two, a]);
        }
        if let (Some((r, of, p)), Some((s, other, q))) = (self.choice_of_zero(a), self.choice_of_zero(b))
            && (r, of) == (s, other)
        {
            if let Some(known) = self.sums.get(&[a, b]) {
                return Ok(*known);
            }
            let mut sides = p;
            for (side, more) in sides.iter_mut().zip(q) {
                *side = match (self.value(*side), self.value(more)) {
                    (Some(0.0), _) => more,
                    (_, Some(0.0)) => *side,
                    _ => self.sum(*side, more)?,
                };
            }
            let sum = self.choice(r, [of[0], of[1], sides[0], sides[1]])?;
            self.sums.insert([a, b], sum);
            return Ok(sum);
        }
        match (self.node(a), self.node(b)) {
            (_, Node::Unary(NEGATE, b)) => self.binary(MINUS, [a, b]),
            (Node::Unary(NEGATE, a), _) => self.binary(MINUS, [b, a]),
            _ => self.binary(PLUS, [a, b]),
        }
    }
}
