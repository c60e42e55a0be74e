//! Method calls on numbers, and the choice between numbers and containers.

use super::annotations::Words;
use super::declared::{ITERATOR, Passing};
use super::inference::Inference;
use super::marks::Mark;
use super::refusals::{self, Arguments};
use super::ty::Ty;
use crate::number::mentions;
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{AngleBracketedGenericArguments, Expr, ExprMethodCall, GenericArgument};

impl Inference<'_> {
    /// `receiver.method(arguments)`.
    pub(super) fn method(&mut self, e: &mut Expr) -> Ty {
        let span = e.span();
        let Expr::MethodCall(m) = &mut *e else { return Ty::Other };
        let receiver = self.expr(&mut m.receiver);
        let mut receiver = self.resolve(&receiver);
        let name = m.method.to_string();
        if let (Ty::Var(v), "parse") = (&receiver, name.as_str()) {
            let text = self.text_of(&[], span);
            self.vars[*v] = Some(text.clone());
            receiver = text;
        }
        // `velocity + 2.0.into()`.
        if let (Ty::Float(from), "into") = (&receiver, name.as_str())
            && m.args.is_empty()
            && self.is_value(&m.receiver)
        {
            let (from, to) = (*from, self.graph.fresh());
            self.graph.flow(from, to, span);
            self.mark_expr(&mut m.receiver, Mark::Lift { from, to, certain: true });
            return Ty::Opaque(to);
        }
        match name.as_str() {
            "clone" | "to_owned" | "borrow" | "borrow_mut" | "as_ref" | "as_mut" | "deref" | "by_ref"
                if m.args.is_empty() =>
            {
                return receiver;
            }
            // A result with the guard of a `Mutex`.
            "lock" | "read" | "write"
                if m.args.is_empty()
                    && matches!(receiver, Ty::Float(_) | Ty::Seq(_) | Ty::Tuple(_) | Ty::Struct(..))
                    && !self.has_method(&receiver, &name) =>
            {
                return Ty::seq(receiver);
            }
            // Those of a `Cell`, which is read as what it holds.
            "get" | "take" | "into_inner" if m.args.is_empty() && !self.has_method(&receiver, &name) => {
                return receiver;
            }
            "set" | "replace"
                if m.args.len() == 1
                    && matches!(receiver, Ty::Float(_) | Ty::Seq(_) | Ty::Tuple(_) | Ty::Struct(..))
                    && !self.has_method(&receiver, &name) =>
            {
                let value = self.expr(&mut m.args[0]);
                // A cell is read as what it holds, an option is not.
                let place = match &receiver {
                    Ty::Seq(item) if self.fits(&value, item) && !self.fits(&value, &receiver) => (**item).clone(),
                    _ => receiver.clone(),
                };
                self.coerce(&mut m.args[0], &value, &place);
                return if name == "set" { Ty::Other } else { receiver };
            }
            "clone_from" if m.args.len() == 1 && !self.has_method(&receiver, &name) => {
                let value = self.expr(&mut m.args[0]);
                self.pass(&mut m.args[0], &value, &receiver, Some(Passing::Shared));
                return Ty::Other;
            }
            // Of two cells; that of a slice takes two indices.
            "swap" if m.args.len() == 1 && !self.has_method(&receiver, &name) => {
                let other = self.expr(&mut m.args[0]);
                self.unify(&receiver, &other, span);
                return Ty::Other;
            }
            "add" | "sub" | "mul" | "div" | "rem"
                if m.args.len() == 1 && matches!(receiver, Ty::Float(_) | Ty::Opaque(_)) =>
            {
                let other = self.expr(&mut m.args[0]);
                return self.arithmetic(&receiver, &other, span);
            }
            "into" if m.args.is_empty() && matches!(receiver, Ty::Seq(_)) => return receiver,
            // All numbers of what is converted are numbers of the result.
            "into" | "try_into" if m.args.is_empty() && matches!(receiver, Ty::Tuple(_) | Ty::Seq(_)) => {
                let act = self.graph.fresh();
                for other in self.acts(&receiver) {
                    self.graph.same(other, act, span);
                }
                let result = Ty::Opaque(act);
                return if name == "into" { result } else { Ty::seq(result) };
            }
            "primal" if m.args.is_empty() => return self.fresh_float(),
            "to_string" if m.args.is_empty() => return self.text_of(&[receiver], span),
            "partial_cmp" | "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "cmp" | "is_constant" => {
                for argument in &mut m.args {
                    self.expr(argument);
                }
                return if name == "partial_cmp" { Ty::seq(Ty::Other) } else { Ty::Other };
            }
            _ => {}
        }
        let may_be_declared = match receiver {
            Ty::Struct(..) | Ty::Opaque(_) | Ty::Other | Ty::Text(_) => true,
            Ty::Var(_) | Ty::Float(_) => refusals::float_method(&name).is_none(),
            // Not an iterator: `x.iter().sum()`.
            Ty::Seq(_) | Ty::Tuple(_) => !matches!(&*m.receiver, Expr::MethodCall(_) | Expr::Range(_)),
            _ => false,
        };
        if may_be_declared && let Some((ty, written)) = self.module_method(m, &receiver, &name) {
            if let Some(written) = written {
                *e = written;
            }
            return ty;
        }
        if let Ty::Float(a) | Ty::Opaque(a) = receiver
            && (matches!(receiver, Ty::Float(_)) || refusals::drops_derivative(&name))
            && let Some(message) = refusals::refused_method(&name)
        {
            self.checks.push((a, m.method.span(), message));
        }
        if let Ty::Float(a) = receiver
            && refusals::is_own_name(&name)
        {
            // The call stays in place, so that what follows sees a method call.
            let name = m.method.clone();
            self.mark_expr(&mut m.receiver, Mark::OwnName(name, a));
        }
        match &receiver {
            Ty::Float(_) | Ty::Opaque(_) | Ty::Var(_) => {
                if let Some(arguments) = refusals::float_method(&name)
                    && has_count(arguments, m.args.len())
                {
                    return self.float_method(e, &receiver, arguments);
                }
            }
            Ty::Other => {
                if let Some(ty) = self.plain_method(m, &name) {
                    return ty;
                }
            }
            Ty::Text(act) => return self.text_method(m, *act, &name),
            _ => {}
        }
        if let Some(ty) = self.map_method(m, &receiver, &name, span) {
            return ty;
        }
        // The items of an iterator of the module are unknown to the analysis, not to the compiler.
        let sequence = match &receiver {
            Ty::Seq(_) | Ty::Var(_) | Ty::Opaque(_) => Some(receiver.clone()),
            Ty::Struct(id, _) if self.module.owners(&self.module.types[*id].name).iter().any(|of| of == ITERATOR) => {
                Some(self.opaque_of(&[receiver.clone()], span))
            }
            _ => None,
        };
        if let Some(sequence) = sequence
            && let Some(ty) = self.sequence_method(m, &sequence, &name, span)
        {
            return ty;
        }
        if !may_be_declared
            && matches!(receiver, Ty::Seq(_) | Ty::Tuple(_))
            && let Some((ty, _)) = self.module_method(m, &receiver, &name)
        {
            return ty;
        }
        if matches!(name.as_str(), "is" | "downcast_ref" | "downcast_mut" | "downcast") {
            self.refuse_any(m.turbofish.as_ref(), &name, m.method.span());
        }
        self.turbofish(m, &Words::Open);
        let Expr::MethodCall(m) = e else { return Ty::Other };
        let (result, exact) = self.unknown_call(&mut m.args, std::slice::from_ref(&receiver), false, span);
        self.vector_written(m, &receiver, &result);
        self.receiver_beside_vector(m, &receiver, &result);
        let name = m.method.clone();
        self.named(e, Some(name), &result, exact);
        result
    }

    /// Refuses to ask whether a value is of a type with numbers: `shape.as_any().is::<Disc>()`.
    pub(super) fn refuse_any(&mut self, types: Option<&AngleBracketedGenericArguments>, name: &str, span: Span) {
        let tokens = types.map(|types| types.args.to_token_stream()).unwrap_or_default();
        let of_numbers = mentions(tokens.clone(), "f64").then(|| self.graph.active());
        let of_types = self.module.types.iter().filter(|t| mentions(tokens.clone(), &t.name)).map(|t| t.flag);
        let message = refusals::any(name);
        self.checks.extend(of_numbers.into_iter().chain(of_types).map(|act| (act, span, message.clone())));
    }

    /// The types in `::<..>` after a method.
    pub(super) fn turbofish(&mut self, m: &mut ExprMethodCall, words: &Words) -> Vec<Ty> {
        let Some(turbofish) = &mut m.turbofish else { return Vec::new() };
        turbofish
            .args
            .iter_mut()
            .filter_map(|a| match a {
                GenericArgument::Type(ty) => Some(self.annotation(ty, words)),
                _ => None,
            })
            .collect()
    }

    /// A method of `f64`.
    fn float_method(&mut self, e: &mut Expr, receiver: &Ty, arguments: Arguments) -> Ty {
        let span = e.span();
        let Expr::MethodCall(m) = &mut *e else { return Ty::Other };
        let mut act = match receiver {
            Ty::Float(a) | Ty::Opaque(a) => Some(*a),
            _ => None,
        };
        match arguments {
            Arguments::Numbers(0) => receiver.clone(),
            Arguments::Question => Ty::Other,
            Arguments::Pair => Ty::Tuple(vec![receiver.clone(), receiver.clone()]),
            Arguments::Integer => {
                for argument in &mut m.args {
                    self.expr(argument);
                }
                receiver.clone()
            }
            Arguments::Numbers(_) | Arguments::Power | Arguments::Order => {
                let types: Vec<Ty> = m.args.iter_mut().map(|a| self.expr(a)).collect();
                let any_float = types.iter().any(|t| matches!(self.resolve(t), Ty::Float(_)));
                if act.is_none() {
                    if !any_float {
                        // Neither operand has a known type: `|a, b| a.max(b)`.
                        for ty in &types {
                            self.unify(receiver, ty, span);
                        }
                        return receiver.clone();
                    }
                    let float = self.fresh_float();
                    self.unify(receiver, &float, span);
                    act = self.acts(&float).first().copied();
                }
                let Some(base) = act else { return receiver.clone() };
                if arguments == Arguments::Power {
                    return self.power(e, base, &types, span);
                }
                let result = if any_float || matches!(receiver, Ty::Float(_)) {
                    self.fresh_float()
                } else {
                    self.opaque_of(&[], span)
                };
                let from = receiver.clone();
                self.coerce_referent(&mut m.receiver, &from, &result, false);
                for (argument, ty) in m.args.iter_mut().zip(&types) {
                    match arguments {
                        Arguments::Order => self.coerce_referent(argument, ty, &result, true),
                        _ => self.coerce(argument, ty, &result),
                    }
                }
                if arguments == Arguments::Order { Ty::Other } else { result }
            }
        }
    }

    /// `base.powf(exponent)`: rewritten when the activities of both are known.
    fn power(&mut self, e: &mut Expr, base: super::graph::Act, types: &[Ty], span: Span) -> Ty {
        let exponent = self.opaque_of(types, span);
        let Ty::Opaque(exponent) = exponent else { return exponent };
        let result = self.graph.fresh();
        self.graph.flow(base, result, span);
        self.graph.flow(exponent, result, span);
        let Expr::MethodCall(m) = &*e else { return Ty::Float(result) };
        let (is_value, is_wrapped) = (self.is_value(&m.receiver), self.is_wrapped(&m.receiver));
        self.mark_expr(e, Mark::Power { base, exponent, is_value, is_wrapped });
        Ty::Float(result)
    }

    /// A method of integers and booleans, as far as the analysis needs it.
    fn plain_method(&mut self, m: &mut ExprMethodCall, name: &str) -> Option<Ty> {
        match name {
            "then_some" => {
                let item = self.fresh_var();
                let argument = m.args.first_mut()?;
                let ty = self.expr(argument);
                self.coerce(argument, &ty, &item);
                Some(Ty::seq(item))
            }
            "then" => {
                let item = self.callback(m.args.first_mut()?, &[]);
                Some(Ty::seq(item))
            }
            "min" | "max" | "pow" | "abs" | "len" | "is_empty" | "abs_diff" | "rem_euclid" | "div_euclid"
            | "saturating_sub" | "wrapping_add" | "is_power_of_two" | "clamp" | "signum" => {
                for argument in &mut m.args {
                    self.expr(argument);
                }
                Some(Ty::Other)
            }
            _ => None,
        }
    }
}

fn has_count(arguments: Arguments, count: usize) -> bool {
    match arguments {
        Arguments::Numbers(n) => count == n,
        Arguments::Power | Arguments::Integer | Arguments::Order => count == 1,
        Arguments::Question | Arguments::Pair => count == 0,
    }
}
