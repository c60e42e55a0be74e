//! The expansion of both macros, as plain functions over `proc_macro2` so that tests can call them.
//!
//! Called by `lib`. Reads the shape of the signature; `activity` rewrites plain code, and `object` writes the object.

use crate::activity;
use crate::errors::Errors;
use crate::module;
use crate::number::free_name;
use crate::object::{Object, camel_case, refuse_name};
use crate::options::{Options, Traits};
use crate::shape::{Shape, type_parameter};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, Item, ItemFn, Path, Signature, Stmt, Token, Visibility, parse_quote};

/// `#[differentiable(options)] item`. After a mistake the signatures stay unchanged, so that callers compile, and the bodies are left out, so that
/// only the mistake is reported: plain code that was to be rewritten may not compile as it is, `x.primal()` for one.
pub(crate) fn attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    differentiable(options, item.clone()).unwrap_or_else(|error| {
        let error = error.into_compile_error();
        match syn::parse2::<Item>(item) {
            Ok(mut item @ (Item::Fn(_) | Item::Mod(_) | Item::Impl(_))) => {
                module::remove_marks(&mut item);
                module::leave_bodies_out(&mut item);
                quote!(#error #[allow(unused)] #item)
            }
            _ => error,
        }
    })
}

fn differentiable(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let options: Options = syn::parse2(options)?;
    let mut function = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(function)) => function,
        Ok(Item::Mod(module)) => return module::differentiable_module(module, &options, free_name(&item)),
        Ok(Item::Impl(block)) => return module::differentiable_block(block, &options, free_name(&item)),
        Ok(other) => {
            let mut errors = Errors::new("`#[differentiable]`");
            errors.push(
                first_span(&other),
                "belongs on a `fn`, a `mod` or an `impl`; put the struct and the functions that use it into one `#[differentiable] mod`",
            );
            return errors.finish().map(|()| TokenStream::new());
        }
        // A method parses as a function only where methods are allowed.
        Err(error) => return Err(error),
    };
    let mut errors = Errors::new("`#[differentiable]`");
    refuse_qualifiers(&function.sig, &mut errors);
    let parameter = type_parameter(&function.sig, &mut errors);
    let plain = parameter.is_none();
    let number = parameter.unwrap_or_else(|| free_name(&item));
    let marks = function.sig.clone();
    let shape = Shape::read(&mut function.sig, &number, plain, &mut errors);
    if plain && shape.is_some() {
        activity::make_generic(&mut function, &marks, &number, &options.krate, &mut errors);
    }
    let name = options.name.clone().unwrap_or_else(|| camel_case(&function.sig.ident));
    refuse_name(&name, &number, &function.sig.ident, &mut errors);
    errors.finish()?;
    let Some(shape) = shape else { return Ok(TokenStream::new()) };
    if plain {
        add_number(&mut function.sig, &number, &options.krate);
    }
    function.block.stmts.splice(0..0, options.krate.import().map(|import| Stmt::Item(Item::Use(import))));
    let path: Path = function.sig.ident.clone().into();
    let ItemFn { attrs, vis, sig, .. } = &function;
    let krate = &options.krate;
    let object = Object {
        attrs,
        vis,
        name: &name,
        function: &path,
        generics: &sig.generics,
        number: &number,
        shape: &shape,
        krate,
    };
    let object = object.expand();
    Ok(quote!(#function #object))
}

/// `differentiable_fn! { pub fn Name<T: Bound>(x: &[T]) -> T = path; }`.
pub(crate) fn lifted(input: TokenStream) -> syn::Result<TokenStream> {
    let Lifts { krate, lifts } = syn::parse2(input.clone())?;
    let krate = Traits::of(krate);
    let mut errors = Errors::new("`differentiable_fn!`");
    let mut output = TokenStream::new();
    for Lift { attrs, vis, mut sig, path } in lifts {
        refuse_qualifiers(&sig, &mut errors);
        let parameter = type_parameter(&sig, &mut errors);
        let plain = parameter.is_none();
        let number = parameter.unwrap_or_else(|| free_name(&input));
        let shape = Shape::read(&mut sig, &number, plain, &mut errors);
        // The object may have the name of the function it lifts, which is in another module.
        let nothing = Ident::new("_", Span::call_site());
        refuse_name(&sig.ident, &number, &nothing, &mut errors);
        if plain {
            add_number(&mut sig, &number, &krate);
        }
        let Some(shape) = shape else { continue };
        let object = Object {
            attrs: &attrs,
            vis: &vis,
            name: &sig.ident,
            function: &path,
            generics: &sig.generics,
            number: &number,
            shape: &shape,
            krate: &krate,
        };
        output.extend(object.expand());
    }
    errors.finish().map(|()| output)
}

/// The input of `differentiable_fn!`.
struct Lifts {
    krate: Path,
    lifts: Vec<Lift>,
}

/// One function to lift.
struct Lift {
    attrs: Vec<Attribute>,
    vis: Visibility,
    sig: Signature,
    path: Path,
}

impl Parse for Lifts {
    fn parse(input: ParseStream) -> syn::Result<Lifts> {
        let mut krate = parse_quote!(::differentiation_interface);
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            krate = input.parse::<syn::LitStr>()?.parse_with(Path::parse_mod_style)?;
            input.parse::<Token![;]>()?;
        }
        let mut lifts = Vec::new();
        while !input.is_empty() {
            lifts.push(input.parse()?);
        }
        Ok(Lifts { krate, lifts })
    }
}

impl Parse for Lift {
    fn parse(input: ParseStream) -> syn::Result<Lift> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let sig = input.parse()?;
        let form = "`differentiable_fn!` expects `fn Name<T: Bounds>(x: &[T]) -> T = path::of::function;`";
        input.parse::<Token![=]>().map_err(|e| syn::Error::new(e.span(), form))?;
        let path = input.call(Path::parse_mod_style).map_err(|e| syn::Error::new(e.span(), form))?;
        input.parse::<Token![;]>().map_err(|e| syn::Error::new(e.span(), form))?;
        Ok(Lift { attrs, vis, sig, path })
    }
}

/// Adds `T: Real` to a function that had no type parameter.
fn add_number(sig: &mut Signature, number: &Ident, krate: &Traits) {
    let generics = &mut sig.generics;
    let after_lifetimes = generics.lifetimes().count();
    generics.lt_token.get_or_insert_with(Default::default);
    generics.gt_token.get_or_insert_with(Default::default);
    let bound = krate.bound();
    generics.params.insert(after_lifetimes, parse_quote!(#number: #bound));
}

fn refuse_qualifiers(sig: &Signature, errors: &mut Errors) {
    for (span, message) in activity::qualifiers(sig) {
        errors.push(span, message);
    }
}

/// Where an item begins, for errors about the item as a whole.
fn first_span(item: &Item) -> Span {
    item.to_token_stream().into_iter().next().map_or_else(Span::call_site, |t| t.span())
}
