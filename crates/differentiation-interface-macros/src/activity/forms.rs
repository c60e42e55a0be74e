//! Forms of the language that the analysis does not read, written as others that it reads.
//!
//! Called by `make_generic` and `make_items_generic` before anything else.
//! - `<f64>::sqrt` is `f64::sqrt`, and `<Air>::new` is `Air::new`.
//! - `impl Vector { const ZERO: Self = ..; fn norm(&self) -> f64 { .. } }` are two blocks, as constants are those of `Vector<f64>`.
//! - `impl Mul<Vector> for f64` cannot become `impl<T: Real> Mul<Vector<T>> for T`, since neither the trait nor `T` is of this crate. Its body
//!   moves to a trait of `Vector` that is made for it, and `instances` calls that for `number * vector`. A trait, since `Vector` and `&Vector` can both be
//!   operands, and one may call the other.

use super::annotations::OTHER;
use crate::number::{is_word, type_name};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, ExprPath, FnArg, GenericArgument, Generics, Ident, ImplItem, Item, ItemImpl, PathArguments, Type,
    parse_quote,
};

/// The trait and its method that compute `number + other`, for `add`.
pub(super) fn number_operation(operator: &str) -> (Ident, Ident) {
    (format_ident!("__Number_{operator}"), format_ident!("__number_{operator}"))
}

/// Rewrites the items of a module.
pub(super) fn of_items(items: &mut Vec<Item>) {
    let mut operators: Vec<String> = Vec::new();
    let mut found = Vec::new();
    let declared: Vec<String> = items.iter().filter_map(declared_name).collect();
    for item in &mut *items {
        let Item::Impl(block) = item else { continue };
        let is_of_module = |ty: &Type| type_name(ty).is_some_and(|name| declared.contains(&name.to_string()));
        if let Some((operator, operand)) = number_operator(block)
            && is_of_module(operand)
        {
            let operand = operand.clone();
            found.extend(moved(block, &operator, &operand).map(Item::Impl));
            if !operators.contains(&operator) {
                operators.push(operator);
            }
        }
    }
    for operator in operators {
        let (name, method) = number_operation(&operator);
        items.push(Item::Verbatim(quote! {
            #[doc(hidden)]
            #[allow(non_camel_case_types, reason = "the name of a trait that no one else writes")]
            trait #name<N> {
                type Output;
                fn #method(self, number: N) -> Self::Output;
            }
        }));
    }
    items.extend(found);
    let apart: Vec<Item> = items.iter_mut().filter_map(constants_apart).collect();
    items.extend(apart);
    for item in items {
        Paths.visit_item_mut(item);
    }
}

/// Moves the constants of an `impl` block to one of their own.
fn constants_apart(item: &mut Item) -> Option<Item> {
    let Item::Impl(block) = item else { return None };
    if block.trait_.is_some() || block.generics.type_params().next().is_some() || is_of_constants(block) {
        return None;
    }
    let (constants, others): (Vec<_>, Vec<_>) = std::mem::take(&mut block.items)
        .into_iter()
        .partition(|item| matches!(item, ImplItem::Const(_)) && !stays(&block.generics, item));
    block.items = others;
    let apart = ItemImpl { items: constants, ..block.clone() };
    (!apart.items.is_empty()).then_some(Item::Impl(apart))
}

/// Whether the block has constants only. It belongs to the type with `f64`.
pub(super) fn is_of_constants(block: &ItemImpl) -> bool {
    block.trait_.is_none()
        && !block.items.is_empty()
        && block.items.iter().all(|item| matches!(item, ImplItem::Const(_)) && !stays(&block.generics, item))
}

/// Whether a constant is one of the type with any number: that of an integer which may depend on parameters of the block, `const HALF: usize = N / 2;`.
fn stays(generics: &Generics, item: &ImplItem) -> bool {
    let is_plain = |ty: &Type| OTHER.iter().any(|name| is_word(ty, name));
    generics.const_params().next().is_some() && matches!(item, ImplItem::Const(c) if is_plain(&c.ty))
}

/// The name of a struct or enum.
fn declared_name(item: &Item) -> Option<String> {
    match item {
        Item::Struct(s) => Some(s.ident.to_string()),
        Item::Enum(e) => Some(e.ident.to_string()),
        _ => None,
    }
}

/// Rewrites the body of a function.
pub(super) fn of_body(body: &mut Block) {
    Paths.visit_block_mut(body);
}

/// Whether the type is a path without arguments.
fn is_plain_path(ty: &Type) -> bool {
    matches!(ty, Type::Path(p) if p.qself.is_none() && p.path.segments.iter().all(|segment| segment.arguments.is_none()))
}

struct Paths;

impl VisitMut for Paths {
    fn visit_expr_path_mut(&mut self, path: &mut ExprPath) {
        visit_mut::visit_expr_path_mut(self, path);
        if let Some(qself) = path.qself.take_if(|q| q.position == 0 && is_plain_path(&q.ty)) {
            let ty = qself.ty;
            let rest = path.path.segments.clone();
            path.path = parse_quote!(#ty::#rest);
        }
    }
}

/// The method and the operand of an operator of `f64`: `mul` and `Vector` for `impl Mul<Vector> for f64`.
pub(super) fn number_operator(block: &ItemImpl) -> Option<(String, &Type)> {
    let (path, _) = block.trait_.as_ref().filter(|_| is_word(&block.self_ty, "f64"))?;
    let last = path.segments.last()?;
    let name = last.ident.to_string();
    let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    let Some(GenericArgument::Type(operand)) = list.args.first() else { return None };
    matches!(name.as_str(), "Add" | "Sub" | "Mul" | "Div" | "Rem").then(|| (name.to_lowercase(), operand))
}

/// Moves the body of an operator to a trait of the operand, which the block then calls.
fn moved(block: &mut ItemImpl, operator: &str, operand: &Type) -> Option<ItemImpl> {
    let (trait_name, method_name) = number_operation(operator);
    let output = block.items.iter().find_map(|item| match item {
        ImplItem::Type(t) if t.ident == "Output" => Some(t.ty.to_token_stream()),
        _ => None,
    })?;
    let method = block.items.iter_mut().find_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    })?;
    let Some(FnArg::Typed(argument)) = method.sig.inputs.last() else { return None };
    let number = Ident::new("number", Span::mixed_site());
    let words = Words { number: &number };
    let (output, body) = (words.replaced(output), words.replaced(method.block.to_token_stream()));
    let body: Block = syn::parse2(body).ok()?;
    let (pattern, written, statements) = (&argument.pat, &argument.ty, &body.stmts);
    let (generics, clause) = (&block.generics, &block.generics.where_clause);
    let moved = parse_quote! {
        impl #generics #trait_name<f64> for #operand #clause {
            type Output = #output;
            fn #method_name(self, #number: f64) -> #output {
                let #pattern = self;
                #(#statements)*
            }
        }
    };
    let operand = Ident::new("operand", Span::mixed_site());
    method.sig.inputs = parse_quote!(self, #operand: #written);
    method.block = parse_quote!({ #trait_name::#method_name(#operand, self) });
    Some(moved)
}

/// The words of an operator's body that mean something else in a method of the operand.
struct Words<'a> {
    number: &'a Ident,
}

impl Words<'_> {
    fn replaced(&self, tokens: TokenStream) -> TokenStream {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_output = |i: usize| tokens.get(i + 3).is_some_and(|t| t.to_string() == "Output");
        let replace = |(i, token): (usize, &TokenTree)| match token {
            TokenTree::Ident(ident) if ident == "self" => TokenTree::Ident(self.number.clone()),
            // `Self::Output` is the same type in both.
            TokenTree::Ident(ident) if ident == "Self" && !is_output(i) => {
                TokenTree::Ident(Ident::new("f64", ident.span()))
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), self.replaced(group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => other.clone(),
        };
        tokens.iter().enumerate().map(replace).collect()
    }
}
