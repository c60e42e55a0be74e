//! What the items of a module must not be: made by macros, two conversions that become one, questions about the type of a value.
//!
//! Called by `items` before it reads bodies.

use super::annotations::{OTHER, TEXT};
use super::graph::Act;
use super::inference::Inference;
use super::items::is_foreign;
use super::refusals;
use crate::number::{is_word, mentions, type_name};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, Item, ItemImpl, PathArguments, Type};

impl Inference<'_> {
    /// Refuses calls of macros of the module that make functions with numbers, or operators of types with numbers: they are not seen.
    pub(super) fn refuse_hidden(&mut self, items: &[Item]) {
        const OPERATORS: [&str; 9] =
            ["Add", "Sub", "Mul", "Div", "Neg", "AddAssign", "SubAssign", "MulAssign", "DivAssign"];
        let rules = |name: &Ident| {
            items.iter().find_map(|item| match item {
                Item::Macro(m) if m.ident.as_ref() == Some(name) => Some(&m.mac.tokens),
                _ => None,
            })
        };
        for item in items {
            let Item::Macro(call) = item else { continue };
            let Some(name) = call.mac.path.get_ident().filter(|_| call.ident.is_none()) else { continue };
            let Some(rules) = rules(name) else { continue };
            let (rules, arguments) = (rules.clone(), &call.mac.tokens);
            let all = quote!(#rules #arguments);
            let has_operators = OPERATORS.iter().any(|name| mentions(all.clone(), name));
            let named: Vec<Act> = self
                .module
                .types
                .iter()
                .filter(|t| t.has_numbers && has_operators && mentions(all.clone(), &t.name))
                .map(|t| t.flag)
                .collect();
            let makes_functions = mentions(rules.clone(), "fn") && mentions(rules, "f64");
            let acts = if makes_functions { self.module.root.into_iter().collect() } else { named };
            for act in acts {
                self.checks.push((act, call.mac.path.span(), refusals::hidden_items(name)));
            }
        }
    }

    /// Refuses `impl From<f64>` beside `impl From<i64>` of one type: the first becomes one for every number, and the compiler cannot rule out that
    /// `i64` is one.
    pub(super) fn refuse_overlaps(&mut self, items: &[Item]) {
        let blocks: Vec<_> = items.iter().filter_map(|item| self.with_argument(item)).collect();
        for (block, id, of_trait, argument) in &blocks {
            let is_of_numbers = |(_, other, name, ty): &(_, usize, &Ident, &Type)| {
                other == id && name == of_trait && is_word(ty, "f64")
            };
            // `From<[f64; 2]>` is another: no `T` is a `[T; 2]`.
            let has_numbers = self.names_numbers(argument.to_token_stream());
            let is_std = is_foreign(argument, &block.generics)
                || type_name(argument).is_some_and(|name| OTHER.iter().chain(&TEXT).any(|known| name == known));
            if is_std && !has_numbers && blocks.iter().any(is_of_numbers) {
                let message = refusals::overlap(of_trait, argument.to_token_stream());
                self.checks.push((self.module.types[*id].flag, argument.span(), message));
            }
        }
    }

    /// The type of a block, with the trait and its argument, such as `From` and `f64`.
    fn with_argument<'i>(&self, item: &'i Item) -> Option<(&'i ItemImpl, usize, &'i Ident, &'i Type)> {
        let Item::Impl(block) = item else { return None };
        let last = block.trait_.as_ref()?.0.segments.last()?;
        let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
        let Some(GenericArgument::Type(argument)) = list.args.first() else { return None };
        let id = *self.module.names.get(&type_name(&block.self_ty)?.to_string())?;
        (!matches!(&*block.self_ty, Type::Reference(_))).then_some((block, id, &last.ident, argument))
    }

    /// Refuses questions about the type of a value in generic code that stays as it is: the answer would differ for active numbers.
    pub(super) fn refuse_identity(&mut self, item: &impl ToTokens) {
        let question = ["TypeId", "downcast_ref", "downcast_mut", "downcast"];
        if let Some(name) = question.into_iter().find(|name| mentions(item.to_token_stream(), name)) {
            let any = self.graph.active();
            self.checks.push((any, item.span(), refusals::any(name)));
        }
    }
}
