//! Runs nests number by number: irregular code, recurrences, short loops.
//!
//! Called by the executor for nests without a dimension long enough to vectorise.

use super::executable::Run;
use super::plan::Plan;
use crate::program::{GuardFailed, Instruction};
use crate::recording::custom::is_plain;
use crate::recording::graph::{Op, Outcome, guard_parts, relation};
use crate::recording::rules::{MINUS, NEGATE, PLUS, Rules, TIMES};
use differentiation_interface_core::scalar::{Base, Relation, Scalar};
use num_traits::Float;
use std::cmp::Ordering;

/// Whether a guard holds for these numbers.
#[inline(always)]
pub(super) fn guard_holds<S: Scalar>(guard: u16, x: S, y: S) -> bool {
    let outcome = guard_parts(guard).1;
    if !is_plain::<S>() && outcome != Outcome::Same {
        // Compares the numbers themselves, which may record the comparison.
        let order = x.partial_cmp(&y);
        return match outcome {
            Outcome::Less => order == Some(Ordering::Less),
            Outcome::Equal => order == Some(Ordering::Equal),
            Outcome::Greater => order == Some(Ordering::Greater),
            _ => order.is_none(),
        };
    }
    let (x, y) = (x.primal(), y.primal());
    match outcome {
        Outcome::Less => x < y,
        Outcome::Equal => x == y,
        Outcome::Greater => x > y,
        Outcome::Unordered => x.partial_cmp(&y).is_none(),
        Outcome::Same => (x == y && x.is_sign_negative() == y.is_sign_negative()) || (x.is_nan() && y.is_nan()),
    }
}

/// 1 where a relation holds and 0 elsewhere.
#[inline(always)]
pub(super) fn compare<S: Scalar>(number: u8, x: S, y: S) -> S {
    if !is_plain::<S>() {
        let (zero, one) = (S::default(), S::constant(S::Base::ONE));
        return S::select(x, relation(number), y, one, zero);
    }
    let (x, y) = (x.primal(), y.primal());
    let order: Option<Ordering> = x.partial_cmp(&y);
    S::constant(if relation(number).holds(order) { S::Base::ONE } else { S::Base::ZERO })
}

/// `x` where the mask is not 0, and -0 elsewhere.
#[inline(always)]
pub(super) fn keep<S: Scalar>(mask: S, x: S) -> S {
    if !is_plain::<S>() {
        return S::select(mask, Relation::Equal, S::default(), S::constant(-S::Base::ZERO), x);
    }
    if mask.primal() != S::Base::ZERO { x } else { S::constant(-S::Base::ZERO) }
}

/// `x` where the mask is 0, and -0 elsewhere.
#[inline(always)]
pub(super) fn drop_kept<S: Scalar>(mask: S, x: S) -> S {
    if !is_plain::<S>() {
        return S::select(mask, Relation::Equal, S::default(), x, S::constant(-S::Base::ZERO));
    }
    if mask.primal() != S::Base::ZERO { S::constant(-S::Base::ZERO) } else { x }
}

/// The result of an operation, if it has one, or the guard that failed.
#[inline(always)]
pub(super) fn result<S: Scalar>(rules: &Rules, op: Op, x: S, y: S) -> Result<Option<S>, u16> {
    Ok(Some(match op {
        // Most operations are these; the table of rules is long.
        Op::Binary(TIMES) => x * y,
        Op::Binary(PLUS) => x + y,
        Op::Binary(MINUS) => x - y,
        Op::Unary(NEGATE) => -x,
        Op::Unary(rule) => rules.apply(rule, x),
        Op::Binary(rule) => rules.apply2(rule, x, y),
        Op::Compare(number) => compare(number, x, y),
        Op::Keep => keep(x, y),
        Op::Drop => drop_kept(x, y),
        Op::Guard(guard) if !guard_holds(guard, x, y) => return Err(guard),
        Op::Guard(_) | Op::Accumulate | Op::Call | Op::CallOutput => return Ok(None),
    }))
}

impl<S: Scalar> Run<'_, '_, '_, S> {
    pub(super) fn singly(&mut self, plan: &Plan) -> Result<(), GuardFailed> {
        let loops = plan.trips.len() - plan.nest.dimensions.len();
        let trips = &plan.trips[loops..];
        let start = |trip: &u32| if plan.nest.reversed { trip - 1 } else { 0 };
        for (counter, trip) in self.counters[loops..].iter_mut().zip(trips) {
            *counter = start(trip);
        }
        loop {
            self.rows(plan);
            self.one(plan)?;
            let mut m = trips.len();
            loop {
                if m == 0 {
                    return Ok(());
                }
                m -= 1;
                let (counter, trip) = (&mut self.counters[loops + m], trips[m]);
                let end = if plan.nest.reversed { 0 } else { trip - 1 };
                if *counter != end {
                    *counter = if plan.nest.reversed { *counter - 1 } else { *counter + 1 };
                    break;
                }
                *counter = start(&trip);
            }
        }
    }

    /// The cells of all addresses at the present counters.
    pub(super) fn rows(&mut self, plan: &Plan) {
        if plan.trips.is_empty() {
            self.rows[..plan.first.len()].copy_from_slice(&plan.first);
            return;
        }
        let counters = &self.counters[..plan.trips.len()];
        for (row, address) in self.rows.iter_mut().zip(&plan.nest.addresses) {
            *row = if address.table.is_some() {
                address.cell(counters, &plan.trips) as i64
            } else {
                counters.iter().zip(&address.strides).fold(address.base as i64, |a, (c, s)| a + *c as i64 * *s as i64)
            };
        }
    }

    /// One iteration; the cells of the addresses are in `rows`.
    #[inline(always)]
    fn one(&mut self, plan: &Plan) -> Result<(), GuardFailed> {
        let rules = &self.executable.program.rules;
        for (i, instruction) in plan.nest.body.iter().enumerate() {
            self.step(plan, rules, i, *instruction)?;
        }
        Ok(())
    }

    /// Instruction `i` of the body.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        plan: &Plan,
        rules: &Rules,
        i: usize,
        instruction: Instruction,
    ) -> Result<(), GuardFailed> {
        self.values[i] = match instruction {
            Instruction::Constant(c) => self.memory.constants[c as usize],
            Instruction::Load(address) => {
                let space = plan.spaces[address as usize];
                self.memory.slice(space)[self.rows[address as usize] as usize]
            }
            Instruction::Apply { op, a, b } => {
                let (x, y) = (self.values[a as usize], self.values[b as usize]);
                match result(rules, op, x, y) {
                    Ok(Some(value)) => value,
                    Ok(None) => return Ok(()),
                    Err(guard) => return Err(self.failed(guard)),
                }
            }
            Instruction::Store { value, address } => {
                let space = plan.spaces[address as usize];
                let cell = self.rows[address as usize] as usize;
                self.memory.slice_mut(space)[cell] = self.values[value as usize];
                return Ok(());
            }
            Instruction::Accumulate { value, address } => {
                let space = plan.spaces[address as usize];
                let cell = self.rows[address as usize] as usize;
                self.memory.slice_mut(space)[cell] += self.values[value as usize];
                return Ok(());
            }
        };
        Ok(())
    }
}
