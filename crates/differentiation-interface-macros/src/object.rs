//! The object that represents a function: a unit struct and the trait of core that fits its shape.
//!
//! Called by `expand` with a signature that is generic already.

use crate::errors::Errors;
use crate::number::mentions;
use crate::options::Traits;
use crate::shape::{Context, Shape};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Expr, GenericParam, Generics, Ident, Lit, Meta, Path, Visibility, parse_quote};

/// The inputs from which the object is made.
pub(crate) struct Object<'a> {
    /// Attributes of the function; documentation and `cfg` are copied.
    pub(crate) attrs: &'a [Attribute],
    pub(crate) vis: &'a Visibility,
    pub(crate) name: &'a Ident,
    /// The function it calls.
    pub(crate) function: &'a Path,
    pub(crate) generics: &'a Generics,
    pub(crate) number: &'a Ident,
    pub(crate) shape: &'a Shape,
    pub(crate) krate: &'a Traits,
}

/// `RotatePair` for `rotate_pair`.
pub(crate) fn camel_case(function: &Ident) -> Ident {
    let name: String = function.to_string().trim_start_matches("r#").split('_').map(capitalized).collect();
    let first_is_digit = name.starts_with(|c: char| c.is_ascii_digit());
    let prefix = if first_is_digit || name.is_empty() { "_" } else { "" };
    let name = format!("{prefix}{name}");
    // `_` alone is no identifier; `expand` refuses it.
    Ident::new(&name, function.span())
}

/// Refuses a name for an object that the language or the function uses.
pub(crate) fn refuse_name(name: &Ident, number: &Ident, function: &Ident, errors: &mut Errors) {
    let taken = if name == number {
        "the name of the type parameter"
    } else if name == function {
        "the name of the function"
    } else if name == "Self" || name == "_" {
        "a keyword"
    } else {
        return;
    };
    let message =
        format!("would give the object the name `{name}`, which is {taken}; choose a name: `#[differentiable(Name)]`");
    errors.push(function.span(), message);
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

impl Object<'_> {
    /// The struct and its impl.
    pub(crate) fn expand(&self) -> TokenStream {
        let Object { attrs, vis, name, function, number, shape, krate, .. } = self;
        let docs = self.docs();
        let cfgs: Vec<_> = attrs.iter().filter(|a| a.path().is_ident("cfg")).collect();
        let generics = self.impl_generics();
        let (impl_generics, _, where_clause) = generics.split_for_impl();

        // Names that cannot clash with the user's: a function may be called `x`.
        let point = Ident::new("point", Span::mixed_site());
        let output = Ident::new("output", Span::mixed_site());
        let contexts: Vec<_> =
            (0..shape.contexts.len()).map(|i| format_ident!("context_{i}", span = Span::mixed_site())).collect();
        let x = &shape.point.ty;
        let passed_point = if shape.point.by_value { quote!(*#point) } else { quote!(#point) };
        let passed = contexts.iter().zip(&shape.contexts).map(|(name, context)| match context {
            Context::Constant { by_value: true, .. } => quote!(*#name),
            _ => quote!(#name),
        });
        let passed = quote!(#(, #passed)*);
        let kinds = shape.contexts.iter().map(|context| match context {
            Context::Constant { ty, .. } => quote!(#krate::Const<#ty>),
            Context::Cache { ty } => quote!(#krate::Work<#ty>),
        });
        let kinds = quote!((#(#kinds,)*));
        let references = shape.contexts.iter().map(|context| match context {
            Context::Constant { ty, .. } => quote!(&'contexts #ty),
            Context::Cache { ty } => quote!(&'contexts mut #ty),
        });
        let tuple = quote!((#(#contexts,)*): (#(#references,)*));

        let (interface, body) = match (&shape.output, shape.contexts.is_empty()) {
            (Some(y), true) => (
                quote!(Function<#x>),
                quote! {
                    type Output = #y;
                    #[inline(always)]
                    fn call(&self, #point: &#x) -> #y { #function(#passed_point) }
                },
            ),
            (Some(y), false) => (
                quote!(FunctionWith<#x, #kinds>),
                quote! {
                    type Output = #y;
                    #[inline(always)]
                    fn call_with<'contexts>(&self, #point: &#x, #tuple) -> #y { #function(#passed_point #passed) }
                },
            ),
            (None, true) => (
                quote!(FunctionInPlace<#number, #x>),
                quote! {
                    #[inline(always)]
                    fn call_in_place(&self, #output: &mut [#number], #point: &#x) { #function(#output, #passed_point); }
                },
            ),
            (None, false) => (
                quote!(FunctionInPlaceWith<#number, #x, #kinds>),
                quote! {
                    #[inline(always)]
                    fn call_in_place_with<'contexts>(&self, #output: &mut [#number], #point: &#x, #tuple) {
                        #function(#output, #passed_point #passed);
                    }
                },
            ),
        };
        // Users may need the function only, and leave its object unused.
        quote! {
            #docs
            #(#cfgs)*
            #[allow(dead_code)]
            #[derive(Clone, Copy, Debug, Default)]
            #vis struct #name;

            #(#cfgs)*
            impl #impl_generics #krate::#interface for #name #where_clause {
                #body
            }
        }
    }

    /// One sentence, and the first paragraph of the function's own documentation (its examples would run twice).
    fn docs(&self) -> TokenStream {
        let function = self.function;
        let path = quote!(#function).to_string().replace(' ', "");
        // The function behind a path may be private, and then must not be linked.
        let link = if function.get_ident().is_some() { format!("[`{path}`]") } else { format!("`{path}`") };
        let about = format!(" The function {link} as an object, which every backend can differentiate.");
        let is_blank = |a: &&Attribute| match &a.meta {
            Meta::NameValue(m) => {
                matches!(&m.value, Expr::Lit(l) if matches!(&l.lit, Lit::Str(s) if s.value().trim().is_empty()))
            }
            _ => false,
        };
        let written = self.attrs.iter().filter(|a| a.path().is_ident("doc"));
        let paragraph: Vec<_> = written.take_while(|a| !is_blank(a)).collect();
        let gap = (!paragraph.is_empty()).then(|| quote!(#[doc = ""]));
        quote!(#[doc = #about] #gap #(#paragraph)*)
    }

    /// The generics of the function without lifetimes, which are elided, and with the bounds of contexts that hold numbers, which must be `'static`.
    fn impl_generics(&self) -> Generics {
        let mut generics = self.generics.clone();
        generics.params = generics.params.into_iter().filter(|p| !matches!(p, GenericParam::Lifetime(_))).collect();
        let number = self.number.to_string();
        let holds_numbers = self.shape.contexts.iter().any(|context| match context {
            Context::Constant { ty, .. } | Context::Cache { ty } => mentions(ty.to_token_stream(), &number),
        });
        if holds_numbers {
            for parameter in generics.type_params_mut() {
                parameter.bounds.push(parse_quote!('static));
            }
        }
        generics
    }
}
