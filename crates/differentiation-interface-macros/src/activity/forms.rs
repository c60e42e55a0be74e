//! Forms of the language that the analysis does not read, written as others that it reads.
//!
//! Called by `make_generic` and `make_items_generic` before anything else.
//! - `<f64>::sqrt` is `f64::sqrt`.
//! - `impl Mul<Vector> for f64` cannot become `impl<T: Real> Mul<Vector<T>> for T`, since neither the trait nor `T` is of this crate. Its body
//!   moves to a method of `Vector`, and `instances` calls that for `number * vector`.

use crate::number::{is_word, type_name};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, ExprPath, FnArg, GenericArgument, Ident, ImplItem, Item, ItemImpl, PathArguments, ReturnType, Type,
    parse_quote,
};

/// The method that computes `number + other` for `add`.
pub(super) fn number_operation(operator: &str) -> Ident {
    format_ident!("__number_{operator}")
}

/// Rewrites the items of a module.
pub(super) fn of_items(items: &mut Vec<Item>) {
    for i in 0..items.len() {
        let Item::Impl(block) = &items[i] else { continue };
        let Some((ty, is_reference)) = operand_of(block) else { continue };
        let Some(name) = type_name(ty).filter(|name| is_declared(name, items)) else { continue };
        // Where both a vector and a reference to one can be the operand, the method of the latter serves both.
        let serves_both = |other: &Item| match other {
            Item::Impl(other) if operator_of(other) == operator_of(block) => {
                operand_of(other).is_some_and(|(ty, is_ref)| is_ref && type_name(ty).as_ref() == Some(&name))
            }
            _ => false,
        };
        if !is_reference && items.iter().any(serves_both) {
            continue;
        }
        let ty = ty.clone();
        if let Item::Impl(block) = &mut items[i]
            && let Some(method) = moved(block, &ty, is_reference)
        {
            items.push(Item::Impl(method));
        }
    }
    for item in items {
        Paths.visit_item_mut(item);
    }
}

fn is_declared(name: &Ident, items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Struct(s) => s.ident == *name,
        Item::Enum(e) => e.ident == *name,
        _ => false,
    })
}

/// Rewrites the body of a function.
pub(super) fn of_body(body: &mut Block) {
    Paths.visit_block_mut(body);
}

struct Paths;

impl VisitMut for Paths {
    fn visit_expr_path_mut(&mut self, path: &mut ExprPath) {
        visit_mut::visit_expr_path_mut(self, path);
        if let Some(qself) = path.qself.take_if(|q| q.position == 0 && is_word(&q.ty, "f64")) {
            let ty = qself.ty;
            let rest = path.path.segments.clone();
            path.path = parse_quote!(#ty::#rest);
        }
    }
}

/// The method of `impl Mul<Vector> for f64`: `mul`.
fn operator_of(block: &ItemImpl) -> Option<String> {
    let (path, _) = block.trait_.as_ref().filter(|_| is_word(&block.self_ty, "f64"))?;
    let name = path.segments.last()?.ident.to_string();
    matches!(name.as_str(), "Add" | "Sub" | "Mul" | "Div" | "Rem").then(|| name.to_lowercase())
}

/// The operand of an operator of `f64`, and whether it is a reference.
pub(super) fn operand_of(block: &ItemImpl) -> Option<(&Type, bool)> {
    operator_of(block)?;
    let PathArguments::AngleBracketed(list) = &block.trait_.as_ref()?.0.segments.last()?.arguments else { return None };
    match list.args.first()? {
        GenericArgument::Type(Type::Reference(r)) => Some((&r.elem, true)),
        GenericArgument::Type(ty) => Some((ty, false)),
        _ => None,
    }
}

/// Moves the body to a method of the operand, which the block then calls.
fn moved(block: &mut ItemImpl, ty: &Type, is_reference: bool) -> Option<ItemImpl> {
    let method_name = number_operation(&operator_of(block)?);
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
    let words = Words { number: &number, output: &output };
    let pattern = &argument.pat;
    let result: ReturnType = syn::parse2(words.replaced(method.sig.output.to_token_stream())).ok()?;
    let body: Block = syn::parse2(words.replaced(method.block.to_token_stream())).ok()?;
    let statements = &body.stmts;
    let receiver = if is_reference { quote!(&self) } else { quote!(self) };
    let (generics, clause) = (&block.generics, &block.generics.where_clause);
    let moved = parse_quote! {
        impl #generics #ty #clause {
            fn #method_name(#receiver, #number: f64) #result {
                let #pattern = self;
                #(#statements)*
            }
        }
    };
    let operand = Ident::new("operand", Span::mixed_site());
    let written = &argument.ty;
    method.sig.inputs = parse_quote!(self, #operand: #written);
    method.block = parse_quote!({ #operand.#method_name(self) });
    Some(moved)
}

/// The words of an operator's body that mean something else in a method of the operand.
struct Words<'a> {
    number: &'a Ident,
    output: &'a TokenStream,
}

impl Words<'_> {
    fn replaced(&self, tokens: TokenStream) -> TokenStream {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is = |i: usize, word: &str| tokens.get(i).is_some_and(|t| t.to_string() == word);
        let mut found = TokenStream::new();
        let mut i = 0;
        while let Some(token) = tokens.get(i) {
            i += 1;
            match token {
                TokenTree::Ident(ident) if ident == "self" => self.number.to_tokens(&mut found),
                TokenTree::Ident(ident) if ident == "Self" && is(i, ":") && is(i + 2, "Output") => {
                    self.output.to_tokens(&mut found);
                    i += 3;
                }
                TokenTree::Ident(ident) if ident == "Self" => Ident::new("f64", ident.span()).to_tokens(&mut found),
                TokenTree::Group(group) => {
                    let mut inner = proc_macro2::Group::new(group.delimiter(), self.replaced(group.stream()));
                    inner.set_span(group.span());
                    inner.to_tokens(&mut found);
                }
                other => other.to_tokens(&mut found),
            }
        }
        found
    }
}
