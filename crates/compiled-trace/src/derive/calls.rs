//! Derivatives of calls of custom rules.
//!
//! Called by `adjoint_tangent` for every call that depends on the first input slice.

use crate::derive::absence::{Absences, Presence};
use crate::derive::adjoint_tangent::Derivation;
use crate::derive::builder::Builder;
use crate::derive::expressions::Shared;
use crate::program::*;
use crate::recording::absence::Absence;
use crate::recording::custom::RuleFunction;
use differentiation_interface_core::error::{Error, ErrorKind};

/// How derivatives pass a call: as tangents, which are stored or added to their cells, or as adjoints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Stored,
    Added,
    Back,
}

impl Derivation {
    /// Whether a call has derivatives: it depends on the first input slice, and an output depends on it.
    fn is_active(&self, call: &RuleCall) -> bool {
        call.is_derived && call.arguments.iter().any(|argument| self.activity.reaches(argument, &self.loops))
    }

    /// Appends the adjoints of a call in all lanes, if it has any.
    pub(super) fn adjoints_of_call(&mut self, call: &RuleCall, out: &mut Vec<Statement>) -> Result<(), Error> {
        for lane in 0..if self.is_active(call) { self.lanes } else { 0 } {
            out.push(Statement::Call(self.adjoint_of_call(call, lane)?));
            out.extend(self.presence_of_call(&call.results, &call.arguments, lane, Way::Back));
        }
        Ok(())
    }

    fn adjoint_of_call(&mut self, call: &RuleCall, lane: usize) -> Result<RuleCall, Error> {
        if call.function != RuleFunction::Value {
            return Err(ErrorKind::RuleOrder { rule: call.rule.name() }.into());
        }
        let mut arguments = call.arguments.clone();
        arguments.extend(call.results.iter().cloned());
        arguments.extend(call.results.iter().filter_map(|result| self.adjoint_of_written(result, lane)));
        let spare_cell = (self.work * (1 + self.shadows())) as u32;
        let mut results = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            results.push(match self.adjoint_of_loaded(argument, lane) {
                Some(address) => address,
                None => {
                    self.spare = Some(spare_cell);
                    Address::fixed(Space::Work, spare_cell, argument.strides.len())
                }
            });
        }
        Ok(RuleCall { function: RuleFunction::Pullback, arguments, results, accumulate: true, ..call.clone() })
    }

    /// Marks the derivatives in the cells `to` as present if one of those in `from` is.
    fn presence_of_call(&mut self, from: &[Address], to: &[Address], lane: usize, way: Way) -> Option<Statement> {
        if self.absence != Absence::Tracked {
            return None;
        }
        let mut shared = std::mem::replace(&mut self.shared, Shared::new(Vec::new(), Default::default(), self.absence));
        let mut builder = Builder::new(&mut shared, Vec::new(), false);
        let mut sum: Option<Presence> = None;
        for address in from {
            let shadow = match way {
                Way::Back => self.adjoint_of_written(address, lane),
                Way::Added | Way::Stored => self.tangent_of_cell(address, lane),
            };
            let Some(shadow) = shadow else { continue };
            let presence = self.load(&mut builder, address, &shadow, lane).presence;
            sum = Some(sum.map_or(presence, |sum| builder.either(sum, presence)));
        }
        if let Some(sum) = sum {
            let presence = builder.number(sum);
            for cell in to.iter().filter_map(|address| self.presence_of(address, lane)) {
                match way {
                    Way::Stored => builder.store(&cell, presence),
                    Way::Added | Way::Back => builder.accumulate(&cell, presence),
                }
            }
        }
        let nest = builder.finish();
        self.shared = shared;
        (!nest.body.is_empty()).then_some(Statement::Nest(nest))
    }

    /// Appends the tangents of a call in all lanes, if it has any.
    pub(super) fn tangents_of_call(&mut self, call: &RuleCall, out: &mut Vec<Statement>) -> Result<(), Error> {
        for lane in 0..if self.is_active(call) { self.lanes } else { 0 } {
            out.push(Statement::Call(self.tangent_of_call(call, lane)?));
            out.extend(self.presence_of_tangents(call, lane));
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
        let tangents: Vec<Address> =
            call.arguments.iter().map(|argument| tangent(argument).unwrap_or_else(|| zero.clone())).collect();
        let mut arguments = call.arguments.clone();
        let function = match call.function {
            RuleFunction::Value => {
                arguments.extend(call.results.iter().cloned());
                RuleFunction::Pushforward
            }
            RuleFunction::Pushforward => RuleFunction::PushforwardTangent,
            RuleFunction::Pullback => RuleFunction::PullbackTangent,
            _ => return Err(ErrorKind::RuleOrder { rule: call.rule.name() }.into()),
        };
        arguments.extend(tangents);
        let results = call.results.iter().filter_map(|result| self.tangent_of_cell(result, lane)).collect();
        Ok(RuleCall { function, arguments, results, ..call.clone() })
    }

    /// Marks the tangents of a call's results as present if one of an argument is.
    fn presence_of_tangents(&mut self, call: &RuleCall, lane: usize) -> Option<Statement> {
        let is_active = |argument: &&Address| self.activity.reaches(argument, &self.loops);
        let active: Vec<Address> = call.arguments.iter().filter(is_active).cloned().collect();
        self.presence_of_call(&active, &call.results, lane, if call.accumulate { Way::Added } else { Way::Stored })
    }
}
