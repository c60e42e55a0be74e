//! The rules of a recording by number: the table first, then further rules in the order of their first use.
//!
//! Filled by the recorder and by the passes, which add rules of derivatives; read by every pass and executor.

use super::objects::{OneArgument, RuleObject, TwoArguments};
use super::table::{BINARY_TABLE, UNARY_TABLE, binary_id, binary_name, unary_id, unary_name};
use crate::recording::operation::{Op, RELATIONS};
use differentiation_interface_core::rules::{Binary, Polygamma, Powc, Powi, Unary};
use rustc_hash::FxHashMap;
use std::any::{Any, TypeId};
use std::sync::Arc;

/// A rule of one argument that a recording numbers itself.
#[derive(Clone, Debug)]
pub enum OtherUnary {
    /// The power with this integer exponent.
    Powi(i32),
    /// The power with this exponent.
    Powc(f64),
    /// The polygamma function of this order.
    Polygamma(u32),
    /// A rule of a user.
    User(Arc<dyn RuleObject>),
}

impl OtherUnary {
    /// The parameter as bits, with the type of the rule; none for a user's rule.
    fn key(&self) -> Option<(TypeId, u64)> {
        match self {
            OtherUnary::Powi(n) => Some((TypeId::of::<Powi>(), u64::from(*n as u32))),
            OtherUnary::Powc(c) => Some((TypeId::of::<Powc>(), c.to_bits())),
            OtherUnary::Polygamma(order) => Some((TypeId::of::<Polygamma>(), u64::from(*order))),
            OtherUnary::User(_) => None,
        }
    }

    /// Whether both are the same rule.
    fn is(&self, other: &OtherUnary) -> bool {
        match (self, other) {
            (OtherUnary::Powi(a), OtherUnary::Powi(b)) => a == b,
            (OtherUnary::Powc(a), OtherUnary::Powc(b)) => a.to_bits() == b.to_bits(),
            (OtherUnary::Polygamma(a), OtherUnary::Polygamma(b)) => a == b,
            (OtherUnary::User(a), OtherUnary::User(b)) => a.is(b.rule()),
            _ => false,
        }
    }
}

/// The rules of a recording: the table, and further rules.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub(super) unary: Vec<OtherUnary>,
    /// The places of rules with a parameter, once there are more than [`FEW`].
    places: FxHashMap<(TypeId, u64), u32>,
    pub(super) binary: Vec<Arc<dyn RuleObject>>,
}

/// Up to this many rules are compared one by one.
const FEW: usize = 16;
/// Maximum number of different exponents of a function; their derivatives have exponents of their own. Further exponents are operands of `powf`.
const MAX_EXPONENTS: usize = 4096;

impl Rules {
    /// Bytes of memory it owns.
    pub(crate) fn bytes(&self) -> usize {
        self.unary.capacity() * size_of::<OtherUnary>()
            + self.binary.capacity() * size_of::<Arc<dyn RuleObject>>()
            + self.places.capacity() * (size_of::<(TypeId, u64)>() + size_of::<u32>() + 1)
    }

    /// Number of rules that are not in the table.
    pub(crate) fn others(&self) -> usize {
        self.unary.len() + self.binary.len()
    }

    /// Whether further constant exponents become operands.
    pub(crate) fn has_many_exponents(&self) -> bool {
        self.unary.len() >= MAX_EXPONENTS
    }

    /// The number of the power with this constant exponent, unless there are many.
    pub(crate) fn number_exponent(&mut self, exponent: f64) -> Option<u16> {
        if self.has_many_exponents() { None } else { self.number_other(OtherUnary::Powc(exponent)) }
    }

    /// Removes the rules that are not in the table.
    pub(crate) fn clear(&mut self) {
        self.unary.clear();
        self.places.clear();
        self.binary.clear();
    }

    /// Whether equal numbers mean equal rules here and there.
    pub(crate) fn are(&self, other: &Rules) -> bool {
        self.others() == other.others() && self.begin_with(other)
    }

    /// Whether the numbers of `other` mean equal rules here, which may have more.
    pub(crate) fn begin_with(&self, other: &Rules) -> bool {
        let (unary, binary) = (self.unary.get(..other.unary.len()), self.binary.get(..other.binary.len()));
        unary.is_some_and(|all| all.iter().zip(&other.unary).all(|(a, b)| a.is(b)))
            && binary.is_some_and(|all| all.iter().zip(&other.binary).all(|(a, b)| a.is(b.rule())))
    }

    /// The number of a rule that is in the table. In a condition that is a `const` block, the compiler generates code for one of the cases only.
    pub(crate) const fn unary_in_table<R: Unary>() -> Option<u16> {
        unary_id::<R>()
    }

    /// The number of a rule of two arguments that is in the table.
    pub(crate) const fn binary_in_table<R: Binary>() -> Option<u16> {
        binary_id::<R>()
    }

    /// Whether a number stands for a rule of one argument.
    pub(crate) fn has_unary_number(&self, rule: u16) -> bool {
        usize::from(rule) < UNARY_TABLE as usize + self.unary.len()
    }

    /// Whether a number stands for a rule of two arguments.
    pub(crate) fn has_binary_number(&self, rule: u16) -> bool {
        usize::from(rule) < BINARY_TABLE as usize + self.binary.len()
    }

    /// Whether an operation is valid: its number stands for a rule here, or for a relation.
    pub(crate) fn know(&self, op: Op) -> bool {
        match op {
            Op::Unary(rule) => usize::from(rule) < UNARY_TABLE as usize + self.unary.len(),
            Op::Binary(rule) => usize::from(rule) < BINARY_TABLE as usize + self.binary.len(),
            Op::Compare(relation) => usize::from(relation) < RELATIONS.len(),
            _ => true,
        }
    }

    /// The number of a unary rule, which is added if it is new; `None` if there are more than 65 thousand.
    #[inline(always)]
    pub(crate) fn number_unary<R: Unary>(&mut self, rule: R) -> Option<u16> {
        if const { unary_id::<R>().is_some() } { const { unary_id::<R>() } } else { self.number_other_unary(rule) }
    }

    /// The number of a binary rule.
    #[inline(always)]
    pub(crate) fn number_binary<R: Binary>(&mut self, rule: R) -> Option<u16> {
        if const { binary_id::<R>().is_some() } {
            const { binary_id::<R>() }
        } else {
            self.number_binary_object(&rule, || Arc::new(TwoArguments(rule)))
        }
    }

    fn number_other_unary<R: Unary>(&mut self, rule: R) -> Option<u16> {
        let any: &dyn Any = &rule;
        let other = if let Some(Powi(n)) = any.downcast_ref() {
            OtherUnary::Powi(*n)
        } else if let Some(Powc(c)) = any.downcast_ref() {
            OtherUnary::Powc(*c)
        } else if let Some(Polygamma(order)) = any.downcast_ref() {
            OtherUnary::Polygamma(*order)
        } else {
            return self.number_unary_object(&rule, || Arc::new(OneArgument(rule)));
        };
        self.number_other(other)
    }

    /// The number of a rule with a parameter.
    pub(crate) fn number_other(&mut self, other: OtherUnary) -> Option<u16> {
        let same = |known: &OtherUnary| match (known, &other) {
            (OtherUnary::User(a), OtherUnary::User(b)) => Arc::ptr_eq(a, b),
            (known, other) => known.is(other),
        };
        let key = other.key().filter(|_| self.unary.len() > FEW);
        let found = match key {
            Some(key) => self.places.get(&key).map(|place| *place as usize),
            None => self.unary.iter().position(same),
        };
        let index = found.unwrap_or_else(|| self.insert(other));
        u16::try_from(index + UNARY_TABLE as usize).ok()
    }

    /// Appends a rule that is not in the list.
    fn insert(&mut self, other: OtherUnary) -> usize {
        // More rules than can be numbered are refused, and need no memory.
        let index = self.unary.len();
        if index > u16::MAX as usize {
            return index;
        }
        self.unary.push(other);
        if index == FEW {
            let keys = self.unary.iter().enumerate().filter_map(|(i, known)| Some((known.key()?, i as u32)));
            self.places = keys.collect();
        } else if index > FEW
            && let Some(key) = self.unary[index].key()
        {
            self.places.insert(key, index as u32);
        }
        index
    }

    pub(crate) fn number_unary_object(
        &mut self,
        key: &dyn Any,
        make: impl FnOnce() -> Arc<dyn RuleObject>,
    ) -> Option<u16> {
        let found = self.unary.iter().position(|known| matches!(known, OtherUnary::User(object) if object.is(key)));
        let index = found.unwrap_or_else(|| self.insert(OtherUnary::User(make())));
        u16::try_from(index + UNARY_TABLE as usize).ok()
    }

    pub(crate) fn number_binary_object(
        &mut self,
        key: &dyn Any,
        make: impl FnOnce() -> Arc<dyn RuleObject>,
    ) -> Option<u16> {
        let index = self.binary.iter().position(|object| object.is(key)).unwrap_or_else(|| {
            self.binary.push(make());
            self.binary.len() - 1
        });
        u16::try_from(index + BINARY_TABLE as usize).ok()
    }

    /// The number here of a unary rule of another list.
    pub(crate) fn adopt_unary(&mut self, other: &Rules, rule: u16) -> Option<u16> {
        match rule.checked_sub(UNARY_TABLE) {
            None => Some(rule),
            Some(i) => self.number_other(other.unary[i as usize].clone()),
        }
    }

    /// The number here of a binary rule of another list.
    pub(crate) fn adopt_binary(&mut self, other: &Rules, rule: u16) -> Option<u16> {
        let Some(i) = rule.checked_sub(BINARY_TABLE) else { return Some(rule) };
        let object = &other.binary[i as usize];
        let index = self.binary.iter().position(|known| Arc::ptr_eq(known, object)).unwrap_or_else(|| {
            self.binary.push(Arc::clone(object));
            self.binary.len() - 1
        });
        u16::try_from(index + BINARY_TABLE as usize).ok()
    }

    /// What a unary rule number beyond the table stands for; `None` for a line of the table.
    pub fn other_unary(&self, rule: u16) -> Option<&OtherUnary> {
        self.unary.get(rule.checked_sub(UNARY_TABLE)? as usize)
    }

    /// What a binary rule number beyond the table stands for; `None` for a line of the table.
    pub fn other_binary(&self, rule: u16) -> Option<&Arc<dyn RuleObject>> {
        self.binary.get(rule.checked_sub(BINARY_TABLE)? as usize)
    }

    /// Name of a unary rule, with its parameter.
    pub fn unary_name(&self, rule: u16) -> String {
        match unary_name(rule) {
            Some(name) => name.to_string(),
            None => match &self.unary[(rule - UNARY_TABLE) as usize] {
                OtherUnary::Powi(n) => format!("powi {n}"),
                OtherUnary::Powc(c) => format!("powc {c}"),
                OtherUnary::Polygamma(order) => format!("polygamma {order}"),
                OtherUnary::User(object) => object.name().to_string(),
            },
        }
    }

    /// Name of a binary rule.
    pub fn binary_name(&self, rule: u16) -> &'static str {
        binary_name(rule).unwrap_or_else(|| self.binary[(rule - BINARY_TABLE) as usize].name())
    }
}
