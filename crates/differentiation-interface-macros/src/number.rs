//! The number type of a signature: finds it, names it, and substitutes it for `f64`.
//!
//! Called by `shape` for the arguments, and by `expand` to choose a free name.

use proc_macro2::{TokenStream, TokenTree};
use quote::format_ident;
use syn::visit_mut::{VisitMut, visit_type_mut};
use syn::{Attribute, Ident, Meta, Type, parse_quote_spanned};

/// Whether the type is the single word `name`.
pub(crate) fn is_word(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(p) if p.qself.is_none() && p.path.is_ident(name))
}

/// The last word of a path to a type, or of a reference to one.
pub(crate) fn type_name(ty: &Type) -> Option<Ident> {
    match ty {
        Type::Reference(r) => type_name(&r.elem),
        Type::Path(p) if p.qself.is_none() => p.path.segments.last().map(|s| s.ident.clone()),
        _ => None,
    }
}

/// Whether the tokens contain the word `name` at any depth.
pub(crate) fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}

/// Whether the attributes of a type derive the trait `name`.
pub(crate) fn derives(attrs: &[Attribute], name: &str) -> bool {
    attrs.iter().any(|attr| {
        matches!(&attr.meta, Meta::List(list) if list.path.is_ident("derive") && mentions(list.tokens.clone(), name))
    })
}

/// A name for the number type that the tokens do not use: `T`, else `T1`, `T2`, ...
pub(crate) fn free_name(tokens: &TokenStream) -> Ident {
    let mut name = format_ident!("T");
    let mut count = 0;
    while mentions(tokens.clone(), &name.to_string()) {
        count += 1;
        name = format_ident!("T{count}");
    }
    name
}

/// Replaces every `f64` by the number type, keeping its span.
pub(crate) fn replace_f64(ty: &mut Type, number: &Ident) {
    struct Replace<'a>(&'a Ident);
    impl VisitMut for Replace<'_> {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            if is_word(ty, "f64") {
                let mut number = self.0.clone();
                number.set_span(syn::spanned::Spanned::span(ty));
                *ty = parse_quote_spanned!(number.span()=> #number);
            } else {
                visit_type_mut(self, ty);
            }
        }
    }
    Replace(number).visit_type_mut(ty);
}

/// Removes the names of lifetimes, which the traits of the object elide.
pub(crate) fn elide_lifetimes(ty: &mut Type) {
    struct Elide;
    impl VisitMut for Elide {
        fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
            if reference.lifetime.as_ref().is_some_and(|l| l.ident != "static") {
                reference.lifetime = None;
            }
            syn::visit_mut::visit_type_reference_mut(self, reference);
        }
    }
    Elide.visit_type_mut(ty);
}
