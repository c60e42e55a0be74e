//! Derivatives of calls of custom rules.
//!
//! Called by `adjoint_tangent` for every call that depends on the first input slice.

use crate::derive::adjoint_tangent::Derivation;
use crate::derive::builder::Builder;
use crate::derive::expressions::Shared;
use crate::program::*;
use crate::recording::absence::Absence;
use crate::recording::custom::RuleFunction;
use differentiation_interface_core::error::{Error, ErrorKind};

impl Derivation {
    /// Whether a call has derivatives: it depends on the first input slice, and an output depends on it.
    fn is_active(&self, call: &RuleCall) -> bool {
        call.is_derived && call.arguments_alone().iter().any(|argument| self.activity.reaches(argument, &self.loops))
    }

    /// Appends the adjoints of a call in all lanes, if it has any.
    pub(super) fn adjoints_of_call(&mut self, call: &RuleCall, out: &mut Vec<Statement>) -> Result<(), Error> {
        for lane in 0..if self.is_active(call) { self.lanes } else { 0 } {
            out.push(Statement::Call(self.adjoint_of_call(call, lane)?));
        }
        Ok(())
    }

    fn adjoint_of_call(&mut self, call: &RuleCall, lane: usize) -> Result<RuleCall, Error> {
        if call.function != RuleFunction::Value {
            return Err(ErrorKind::RuleOrder { rule: call.rule.name() }.into());
        }
        let seed = |result| Some((result, self.adjoint_of_written(result, lane)?));
        let seeds: Vec<(&Address, Address)> = call.results.iter().filter_map(seed).collect();
        let mut arguments = call.arguments.clone();
        arguments.extend(call.results.iter().cloned());
        arguments.extend(seeds.iter().map(|(_, seed)| seed.clone()));
        arguments.extend(self.presences(seeds, lane));
        let mut results = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            results.push(self.adjoint_of_loaded(argument, lane).unwrap_or_else(|| self.spare_for(argument)));
        }
        results.extend(self.marks(&call.arguments, lane));
        Ok(RuleCall { function: RuleFunction::Pullback, arguments, results, accumulate: true, ..call.clone() })
    }

    /// Where the presence of the derivatives of these cells is written, if it is tracked.
    fn marks(&mut self, cells: &[Address], lane: usize) -> Vec<Address> {
        if self.absence != Absence::Tracked {
            return Vec::new();
        }
        cells.iter().map(|cell| self.presence_of(cell, lane).unwrap_or_else(|| self.spare_for(cell))).collect()
    }

    /// Cells that are zero where the derivatives of these cells are absent, if that is tracked: their presence, or themselves.
    fn presences(&self, of: Vec<(&Address, Address)>, lane: usize) -> Vec<Address> {
        if self.absence != Absence::Tracked {
            return Vec::new();
        }
        of.into_iter().map(|(cell, derivative)| self.presence_of(cell, lane).unwrap_or(derivative)).collect()
    }

    /// Appends the tangents of a call in all lanes, if it has any.
    pub(super) fn tangents_of_call(&mut self, call: &RuleCall, out: &mut Vec<Statement>) -> Result<(), Error> {
        for lane in 0..if self.is_active(call) { self.lanes } else { 0 } {
            out.push(Statement::Call(self.tangent_of_call(call, lane)?));
            out.extend(self.marks_by_tangents(call, lane));
        }
        Ok(())
    }

    fn tangent_of_call(&mut self, call: &RuleCall, lane: usize) -> Result<RuleCall, Error> {
        let zero = self.shared.constant(0.0);
        let tangent = |argument: &Address| match self.activity.reaches(argument, &self.loops) {
            true => self.tangent_of_cell(argument, lane),
            false => None,
        };
        let zero = Address::fixed(Space::Constant, zero, self.loops.len());
        let (values, _) = call.results_and_marks();
        let given = call.arguments_alone();
        let tangents = given.iter().map(|argument| tangent(argument).unwrap_or_else(|| zero.clone()));
        let mut arguments = given.to_vec();
        let function = match call.function {
            RuleFunction::Value => {
                arguments.extend(values.iter().cloned());
                RuleFunction::Pushforward
            }
            RuleFunction::Pushforward => RuleFunction::PushforwardTangent,
            RuleFunction::Pullback => RuleFunction::PullbackTangent,
            _ => return Err(ErrorKind::RuleOrder { rule: call.rule.name() }.into()),
        };
        arguments.extend(tangents);
        let seeds = given.iter().filter_map(|argument| Some((argument, tangent(argument)?))).collect();
        arguments.extend(self.presences(seeds, lane));
        let mut results: Vec<Address> = values.iter().filter_map(|value| self.tangent_of_cell(value, lane)).collect();
        results.extend(self.marks(values, lane));
        Ok(RuleCall { function, arguments, results, ..call.clone() })
    }

    /// Marks the derivatives that a call computes and that have a tangent: a zero that moves is not absent.
    fn marks_by_tangents(&mut self, call: &RuleCall, lane: usize) -> Option<Statement> {
        let mut shared = std::mem::replace(&mut self.shared, Shared::new(Vec::new(), Default::default(), self.absence));
        let mut builder = Builder::new(&mut shared, Vec::new(), false);
        let (values, marks) = call.results_and_marks();
        for (value, mark) in values.iter().zip(marks) {
            if let Some(presence) = self.presence_of(value, lane) {
                let presence = builder.load(&presence);
                builder.accumulate(mark, presence);
            }
        }
        let nest = builder.finish();
        self.shared = shared;
        (!nest.body.is_empty()).then_some(Statement::Nest(nest))
    }
}
