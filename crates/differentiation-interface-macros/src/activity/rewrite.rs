//! Carries out the decisions that were left open as marks, and removes the marks.
//!
//! Called by `activity` when the flows are solved.

use super::generated::{made_for, without_parentheses};
use super::graph::{Act, Graph};
use super::marks::{Mark, mark_number, marked};
use super::named::Calls;
use super::places::{right_side_first, with_value};
use crate::number::mentions;
use crate::options::Traits;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, Expr, GenericArgument, Generics, Ident, ImplItem, ItemFn, Path, PathArguments, Stmt, Token, Type,
    WherePredicate, parse_quote, parse_quote_spanned,
};

/// Rewrites the syntax tree it visits.
pub(super) struct Rewrite<'a> {
    pub(super) graph: &'a Graph,
    pub(super) marks: &'a [Mark],
    pub(super) number: &'a Ident,
    pub(super) krate: &'a Traits,
    /// The calls with a name in each function around the code that is visited.
    pub(super) calls: Vec<Calls>,
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        visit_mut::visit_expr_mut(self, e);
        right_side_first(e);
        let Expr::Call(call) = &mut *e else { return };
        let Some(mark) = marked(call).and_then(|i| self.marks.get(i)) else { return };
        let arguments = std::mem::take(&mut call.args);
        if let Mark::Macro(mac) = mark {
            *e = rebuilt(mac, arguments);
        } else if let Some(inner) = arguments.into_iter().next() {
            *e = match mark {
                Mark::Named { name, whole, arguments } => {
                    let is_active = |act: &Act| self.graph.is_active(*act);
                    let active = arguments.iter().filter(|(_, act)| is_active(act)).map(|(i, _)| *i).collect();
                    match self.calls.last_mut().filter(|_| is_active(whole)) {
                        Some(calls) => calls.passed(inner, name, active),
                        None => inner,
                    }
                }
                Mark::OwnName(name, receiver) => {
                    if let Some(calls) = self.calls.last_mut().filter(|_| self.graph.is_active(*receiver)) {
                        calls.own_name(name, self.krate);
                    }
                    inner
                }
                Mark::Data { to, is_borrowed, .. } if self.graph.is_active(*to) => {
                    self.lifted_data(inner, *is_borrowed)
                }
                mark => self.decide(mark, inner),
            };
        }
    }

    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_mut::visit_type_mut(self, ty);
        let Type::Path(path) = &*ty else { return };
        let Some(mark) = path.path.get_ident().and_then(mark_number).and_then(|i| self.marks.get(i)) else { return };
        let span = ty.span();
        let number = Ident::new(&self.number.to_string(), span);
        *ty = match mark {
            Mark::Number(a) if self.graph.is_active(*a) => parse_quote_spanned!(span=> #number),
            Mark::Guessed { taken, .. } if self.graph.is_active(*taken) => parse_quote_spanned!(span=> #number),
            Mark::Guessed { call, .. } if self.graph.is_active(*call) => parse_quote_spanned!(span=> _),
            _ => parse_quote_spanned!(span=> f64),
        };
    }

    fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
        self.calls.push(Calls::default());
        visit_mut::visit_item_fn_mut(self, function);
        self.calls.pop().unwrap_or_default().open(&mut function.block);
        // A function of types of its own, `fn first<P: Copy>(v: &[P]) -> P`, names no number: nothing could tell the parameter.
        if self.take_parameter(&mut function.attrs) && mentions(function.to_token_stream(), &self.number.to_string()) {
            self.add_number(&mut function.sig.generics);
        }
    }

    fn visit_impl_item_fn_mut(&mut self, method: &mut syn::ImplItemFn) {
        self.calls.push(Calls::default());
        visit_mut::visit_impl_item_fn_mut(self, method);
        self.calls.pop().unwrap_or_default().open(&mut method.block);
        if self.take_parameter(&mut method.attrs) {
            self.add_number(&mut method.sig.generics);
        }
    }

    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        visit_mut::visit_item_impl_mut(self, block);
        self.move_bounds(block);
        if self.take_parameter(&mut block.attrs) {
            self.add_number(&mut block.generics);
        }
    }

    fn visit_item_struct_mut(&mut self, item: &mut syn::ItemStruct) {
        visit_mut::visit_item_struct_mut(self, item);
        self.add_default_number(&mut item.attrs, &mut item.generics);
    }

    fn visit_item_enum_mut(&mut self, item: &mut syn::ItemEnum) {
        visit_mut::visit_item_enum_mut(self, item);
        self.add_default_number(&mut item.attrs, &mut item.generics);
    }

    fn visit_item_trait_mut(&mut self, item: &mut syn::ItemTrait) {
        visit_mut::visit_item_trait_mut(self, item);
        self.add_default_number(&mut item.attrs, &mut item.generics);
    }

    fn visit_trait_item_fn_mut(&mut self, method: &mut syn::TraitItemFn) {
        self.calls.push(Calls::default());
        visit_mut::visit_trait_item_fn_mut(self, method);
        match &mut method.default {
            Some(block) => self.calls.pop().unwrap_or_default().open(block),
            None => drop(self.calls.pop()),
        }
        if self.take_parameter(&mut method.attrs) {
            let (number, bound) = (self.number, self.krate.bound());
            method.sig.generics.make_where_clause().predicates.push(parse_quote!(#number: #bound));
        }
    }

    fn visit_item_type_mut(&mut self, item: &mut syn::ItemType) {
        visit_mut::visit_item_type_mut(self, item);
        self.add_default_number(&mut item.attrs, &mut item.generics);
    }

    /// `State { pos, .. }` stays as it was written if the field stays as it was.
    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        visit_mut::visit_field_value_mut(self, field);
        if let (syn::Member::Named(name), Expr::Path(p)) = (&field.member, &field.expr)
            && p.path.is_ident(name)
        {
            field.colon_token = None;
        }
    }

    fn visit_path_mut(&mut self, path: &mut Path) {
        for segment in &mut path.segments {
            self.decide_arguments(&mut segment.arguments);
        }
        visit_mut::visit_path_mut(self, path);
    }

    /// Macros that were statements become statements again.
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        for stmt in &mut block.stmts {
            if let Stmt::Expr(Expr::Macro(m), Some(semi)) = stmt {
                *stmt = Stmt::Macro(syn::StmtMacro {
                    attrs: std::mem::take(&mut m.attrs),
                    mac: m.mac.clone(),
                    semi_token: Some(*semi),
                });
            }
        }
    }
}

impl Rewrite<'_> {
    /// Removes the mark among the attributes of an item. Returns whether the item gets the number type as a parameter.
    fn take_parameter(&self, attrs: &mut Vec<Attribute>) -> bool {
        let mut is_generic = false;
        let any = |acts: &[Act]| acts.iter().any(|a| self.graph.is_active(*a));
        attrs.retain(|attr| {
            let Some(i) = attr.path().get_ident().and_then(mark_number) else { return true };
            is_generic = match self.marks.get(i) {
                Some(Mark::Nested(acts) | Mark::Block(acts)) => any(acts),
                Some(Mark::Method(acts, block)) => any(acts) && !self.graph.is_active(*block),
                Some(Mark::Type(act, _) | Mark::Bound(act)) => self.graph.is_active(*act),
                _ => false,
            };
            false
        });
        is_generic
    }

    /// Moves the bounds that name the number from a block that has no such parameter to the methods that have it.
    fn move_bounds(&self, block: &mut syn::ItemImpl) {
        let mark = block.attrs.iter().find_map(|attr| self.marks.get(attr.path().get_ident().and_then(mark_number)?));
        if !matches!(mark, Some(Mark::Methods(flag)) if self.graph.is_active(*flag)) {
            return;
        }
        let mut moved: Vec<WherePredicate> = Vec::new();
        for parameter in block.generics.type_params_mut() {
            let name = &parameter.ident;
            for bound in std::mem::take(&mut parameter.bounds) {
                match mentions(bound.to_token_stream(), &self.number.to_string()) {
                    true => moved.push(parse_quote!(#name: #bound)),
                    false => parameter.bounds.push(bound),
                }
            }
        }
        if let Some(clause) = &mut block.generics.where_clause {
            for predicate in std::mem::take(&mut clause.predicates) {
                match mentions(predicate.to_token_stream(), &self.number.to_string()) {
                    true => moved.push(predicate),
                    false => clause.predicates.push(predicate),
                }
            }
        }
        for item in &mut block.items {
            if let ImplItem::Fn(method) = item
                && method.sig.generics.type_params().any(|p| p.ident == *self.number)
            {
                method.sig.generics.make_where_clause().predicates.extend(moved.iter().cloned());
            }
        }
    }

    fn add_number(&self, generics: &mut Generics) {
        let (number, bound) = (self.number, self.krate.bound());
        generics.params.push(parse_quote!(#number: #bound));
    }

    fn add_default_number(&self, attrs: &mut Vec<Attribute>, generics: &mut Generics) {
        let marks = attrs.iter().filter_map(|attr| self.marks.get(attr.path().get_ident().and_then(mark_number)?));
        let is_bounded = marks.into_iter().any(|mark| matches!(mark, Mark::Type(_, true)));
        if self.take_parameter(attrs) {
            let (number, bound) = (self.number, self.krate.bound());
            generics.params.push(if is_bounded {
                parse_quote!(#number: #bound = f64)
            } else {
                parse_quote!(#number = f64)
            });
        }
    }

    /// The arguments of a type or function of the module.
    fn decide_arguments(&self, arguments: &mut PathArguments) {
        let PathArguments::AngleBracketed(list) = arguments else { return };
        let mut decided = Punctuated::<GenericArgument, Token![,]>::new();
        for argument in std::mem::take(&mut list.args) {
            let mark = match &argument {
                GenericArgument::Type(Type::Path(p)) => p.path.get_ident().and_then(mark_number),
                _ => None,
            };
            let (is_there, is_active, others) = match mark.and_then(|i| self.marks.get(i)) {
                Some(Mark::Argument(act, flag)) => (self.graph.is_active(*flag), self.graph.is_active(*act), 0),
                Some(Mark::Instance(acts, act, others)) => {
                    (acts.iter().any(|a| self.graph.is_active(*a)), self.graph.is_active(*act), *others)
                }
                _ => {
                    decided.push(argument);
                    continue;
                }
            };
            if is_there {
                let span = argument.span();
                let number =
                    if is_active { Ident::new(&self.number.to_string(), span) } else { Ident::new("f64", span) };
                decided.extend((0..others).map(|_| -> GenericArgument { parse_quote_spanned!(span=> _) }));
                decided.push(parse_quote_spanned!(span=> #number));
            }
        }
        list.args = decided;
        if list.args.is_empty() {
            *arguments = PathArguments::None;
        }
    }

    fn decide(&self, mark: &Mark, mut inner: Expr) -> Expr {
        let graph = self.graph;
        let krate = self.krate;
        match *mark {
            Mark::Lift { from, to, certain } => {
                let wanted = graph.is_active(to) && !graph.is_active(from);
                if wanted && (certain || graph.is_float(to)) { self.lifted(inner) } else { inner }
            }
            Mark::LiftReferent { from, to, is_borrowed } if graph.is_active(to) && !graph.is_active(from) => {
                self.lifted_data(inner, is_borrowed)
            }
            Mark::Inferred { from, call } => {
                if graph.is_active(call) && !graph.is_active(from) {
                    let span = made_for(&inner);
                    let inner = without_parentheses(inner);
                    parse_quote_spanned!(span=> #krate::Scalar::constant(#inner))
                } else {
                    inner
                }
            }
            Mark::Power { base, exponent, is_value, is_wrapped } => {
                if let Expr::MethodCall(m) = &mut inner {
                    match (graph.is_active(base), graph.is_active(exponent)) {
                        (true, false) => m.method = Ident::new("powc", m.method.span()),
                        (false, true) => {
                            let receiver = std::mem::replace(&mut *m.receiver, Expr::PLACEHOLDER);
                            *m.receiver = match is_value {
                                _ if is_wrapped => {
                                    let span = made_for(&receiver);
                                    self.lifted(parse_quote_spanned!(span=> *#receiver))
                                }
                                true => self.lifted(receiver),
                                false => self.lifted_data(receiver, false),
                            };
                        }
                        _ => {}
                    }
                }
                inner
            }
            Mark::Cast(a) if graph.is_active(a) => match inner {
                Expr::Cast(cast) => *cast.expr,
                other => other,
            },
            Mark::From(a) if graph.is_active(a) => match inner {
                Expr::Call(call) if call.args.len() == 1 => call.args.into_iter().next().unwrap_or(Expr::PLACEHOLDER),
                other => other,
            },
            Mark::Call(a) if graph.is_active(a) => method_call(inner),
            Mark::RightFirst(a) if graph.is_active(a) => match &inner {
                Expr::Binary(binary) => with_value(binary),
                _ => inner,
            },
            Mark::Path(a, count) if graph.is_active(a) => self.method_closure(&inner, count),
            _ => inner,
        }
    }

    /// `T::constant(expr)`.
    fn lifted(&self, inner: Expr) -> Expr {
        let span = made_for(&inner);
        let number = Ident::new(&self.number.to_string(), span);
        let inner = without_parentheses(inner);
        parse_quote_spanned!(span=> #number::constant(#inner))
    }

    /// `lifted::<T, _>(&data)`.
    fn lifted_data(&self, inner: Expr, is_borrowed: bool) -> Expr {
        let span = made_for(&inner);
        let (number, krate) = (Ident::new(&self.number.to_string(), span), self.krate);
        let reference = is_borrowed.then(|| quote_spanned!(span=> &));
        parse_quote_spanned!(span=> #reference #krate::container::lifted::<#number, _>(&#inner))
    }

    /// `f64::max` as a value becomes `|a: T, b: T| a.max(b)`.
    fn method_closure(&self, path: &Expr, count: usize) -> Expr {
        let Expr::Path(path) = path else { return path.clone() };
        let Some(method) = path.path.segments.last().map(|s| &s.ident) else { return Expr::PLACEHOLDER };
        let number = self.number;
        let names: Vec<Ident> = (0..count).map(|i| format_ident!("v{i}", span = Span::mixed_site())).collect();
        let arguments = names.iter().enumerate().map(|(i, name)| match i {
            1 if method == "powi" => quote!(#name: i32),
            _ if method == "total_cmp" => quote!(#name: &#number),
            _ => quote!(#name: #number),
        });
        let (first, rest) = (&names[..1], &names[1..]);
        parse_quote_spanned!(made_for(path)=> |#(#arguments),*| #(#first)*.#method(#(#rest),*))
    }
}

/// `f64::max(a, b)` becomes `a.max(b)`.
fn method_call(call: Expr) -> Expr {
    let Expr::Call(call) = call else { return call };
    let Expr::Path(path) = &*call.func else { return Expr::Call(call) };
    let Some(method) = path.path.segments.last().map(|s| s.ident.clone()) else { return Expr::Call(call) };
    let constant_exponent = method == "powf" && call.args.len() == 2;
    let mut arguments = call.args.into_iter();
    let Some(receiver) = arguments.next() else { return Expr::PLACEHOLDER };
    let receiver = match receiver {
        simple @ (Expr::Path(_)
        | Expr::Call(_)
        | Expr::MethodCall(_)
        | Expr::Index(_)
        | Expr::Paren(_)
        | Expr::Field(_)) => simple,
        other => parse_quote!((#other)),
    };
    let rest: Vec<Expr> = arguments.collect();
    if constant_exponent
        && let [Expr::Call(constant)] = &rest[..]
        && is_constant_call(constant)
    {
        let exponent = &constant.args[0];
        return parse_quote!(#receiver.powc(#exponent));
    }
    parse_quote!(#receiver.#method(#(#rest),*))
}

/// Whether a call is a `T::constant(..)` that the macro inserted.
fn is_constant_call(call: &syn::ExprCall) -> bool {
    call.args.len() == 1
        && matches!(&*call.func, Expr::Path(p) if p.path.segments.len() == 2
            && p.path.segments.last().is_some_and(|s| s.ident == "constant"))
}

/// The macro call with its arguments restored.
fn rebuilt(mac: &syn::Macro, arguments: Punctuated<Expr, Token![,]>) -> Expr {
    let repeats =
        mac.tokens.clone().into_iter().any(|t| matches!(&t, proc_macro2::TokenTree::Punct(p) if p.as_char() == ';'));
    let mut mac = mac.clone();
    mac.tokens = if repeats {
        let parts = arguments.iter().map(ToTokens::to_token_stream).collect::<Vec<TokenStream>>();
        quote!(#(#parts);*)
    } else {
        quote!(#arguments)
    };
    parse_quote!(#mac)
}
