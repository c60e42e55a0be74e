//! The attribute `#[custom_rule(..)]`: a plain function with its own derivative becomes a function over any scalar.
//!
//! Called by `lib`. The rule is a hidden struct that implements core's `CustomRule`; the function of the user's name calls it.

use crate::errors::Errors;
use crate::object::camel_case;
use crate::shape::take_mark;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{FnArg, Ident, ItemFn, LitStr, Pat, Path, ReturnType, Token, Type, parse_quote};

/// The options in the parentheses.
struct Options {
    pushforward: Option<Path>,
    pullback: Option<Path>,
    /// The derivatives are written over `f64` only.
    plain: bool,
    krate: Path,
}

const ACCEPTED: &str =
    "`#[custom_rule]` accepts `pushforward = path`, `pullback = path`, `plain` and `crate = \"path\"`";

impl Parse for Options {
    fn parse(input: ParseStream) -> syn::Result<Options> {
        let krate = parse_quote!(::differentiation_interface);
        let mut options = Options { pushforward: None, pullback: None, plain: false, krate };
        while !input.is_empty() {
            let word = input.call(Ident::parse_any).map_err(|e| syn::Error::new(e.span(), ACCEPTED))?;
            match word.to_string().as_str() {
                "plain" => options.plain = true,
                "pushforward" => options.pushforward = Some(path_after(input)?),
                "pullback" => options.pullback = Some(path_after(input)?),
                "crate" => {
                    input.parse::<Token![=]>()?;
                    options.krate = input.parse::<LitStr>()?.parse_with(Path::parse_mod_style)?;
                }
                _ => return Err(syn::Error::new(word.span(), ACCEPTED)),
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if options.pushforward.is_none() && options.pullback.is_none() {
            let missing = "`#[custom_rule]` needs a derivative; write `pushforward = path` or `pullback = path`";
            return Err(syn::Error::new(input.span(), missing));
        }
        Ok(options)
    }
}

fn path_after(input: ParseStream) -> syn::Result<Path> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// A `#[constant]` argument: its name, the type the rule owns, and how it is passed and stored.
struct Constant {
    name: Ident,
    /// The type behind a reference, or the type itself.
    viewed: Type,
    by_reference: bool,
}

/// `#[custom_rule(options)] item`.
pub(crate) fn attribute(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let options: Options = syn::parse2(options)?;
    let mut function: ItemFn = syn::parse2(item)?;
    let mut errors = Errors::new("`#[custom_rule]`");
    if !function.sig.generics.params.is_empty() {
        errors.push_at(&function.sig.generics, "needs plain code; remove the parameters and write `f64`");
    }

    let mut arguments = function.sig.inputs.iter_mut();
    match arguments.next() {
        Some(FnArg::Typed(point)) if written(&point.ty) == "&[f64]" => {}
        Some(other) => errors.push_at(other, "needs a point `x: &[f64]` as the first argument"),
        None => errors.push_at(&function.sig.ident, "needs a point `x: &[f64]` as the first argument"),
    }
    let mut constants = Vec::new();
    for argument in arguments {
        match argument {
            FnArg::Typed(argument) => {
                let is_constant = argument.attrs.iter().any(|a| a.path().is_ident("constant"));
                take_mark(&mut argument.attrs);
                match (is_constant, &*argument.pat) {
                    (true, Pat::Ident(name)) => constants.push(constant(name.ident.clone(), &argument.ty)),
                    _ => {
                        errors.push_at(&*argument, "differentiates the first argument only; mark others `#[constant]`")
                    }
                }
            }
            FnArg::Receiver(receiver) => errors.push_at(receiver, "belongs on a free `fn`"),
        }
    }
    let is_number = match &function.sig.output {
        ReturnType::Type(_, ty) if written(ty) == "f64" => true,
        ReturnType::Type(_, ty) if written(ty) == "Vec<f64>" => false,
        other => {
            errors.push_at(other, "needs an output `f64` or `Vec<f64>`");
            true
        }
    };
    errors.finish()?;
    Ok(expand(&options, &function, &constants, is_number))
}

/// A type as it is written, without spaces.
fn written(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}

fn constant(name: Ident, ty: &Type) -> Constant {
    match ty {
        Type::Reference(reference) => Constant { name, viewed: (*reference.elem).clone(), by_reference: true },
        ty => Constant { name, viewed: ty.clone(), by_reference: false },
    }
}

fn expand(options: &Options, function: &ItemFn, constants: &[Constant], is_number: bool) -> TokenStream {
    let Options { krate, plain, .. } = options;
    let ItemFn { attrs, vis, sig, block, .. } = function;
    let name = &sig.ident;
    let object = camel_case(name);
    let rule = format_ident!("{object}Rule");
    let text = name.to_string();
    let docs: Vec<_> = attrs.iter().filter(|a| a.path().is_ident("doc")).collect();
    let (inputs, output) = (&sig.inputs, &sig.output);

    let names: Vec<_> = constants.iter().map(|c| &c.name).collect();
    let viewed: Vec<_> = constants.iter().map(|c| &c.viewed).collect();
    let owned: Vec<_> = viewed.iter().map(|v| quote!(<#v as ::std::borrow::ToOwned>::Owned)).collect();
    let public: Vec<_> = constants
        .iter()
        .map(|c| (&c.viewed, c.by_reference))
        .map(|(v, r)| if r { quote!(&#v) } else { quote!(#v) })
        .collect();
    let borrowed: Vec<_> = constants
        .iter()
        .map(|Constant { name, viewed, .. }| quote!(<_ as ::std::borrow::Borrow<#viewed>>::borrow(&self.#name)))
        .collect();
    let passed: Vec<_> = constants
        .iter()
        .zip(&borrowed)
        .map(|(c, b)| if c.by_reference { b.clone() } else { quote!(::std::clone::Clone::clone(#b)) })
        .collect();
    let stored: Vec<_> = constants
        .iter()
        .map(|Constant { name, by_reference, .. }| if *by_reference { quote!(#name) } else { quote!(&#name) })
        .map(|reference| quote!(::std::borrow::ToOwned::to_owned(#reference)))
        .collect();

    let half = |method: &str, path: &Option<Path>| {
        let path = path.as_ref()?;
        let method = format_ident!("{method}");
        let call = if *plain {
            quote! {
                #krate::custom::plainly(#text, [x, y, seed], out, |[x, y, seed], out| #path(x, y, seed, out #(, #borrowed)*));
            }
        } else {
            quote!(#path(x, y, seed, out #(, #borrowed)*);)
        };
        Some(quote! {
            fn #method<S: #krate::Scalar<Base = f64>>(&self, x: &[S], y: &[S], seed: &[S], out: &mut [S]) { #call }
        })
    };
    let pushforward = half("pushforward", &options.pushforward);
    let pullback = half("pullback", &options.pullback);
    let given = match (&pushforward, &pullback) {
        (Some(_), Some(_)) => quote!(Both),
        (Some(_), None) => quote!(Pushforward),
        _ => quote!(Pullback),
    };
    let value = quote!({ fn value(#inputs) #output #block value(x #(, #passed)*) });
    let (value, result, call) = if is_number {
        (quote!(y.clear(); y.push(#value);), quote!(T), quote!(number))
    } else {
        (quote!(*y = #value;), quote!(::std::vec::Vec<T>), quote!(call))
    };
    let about =
        format!(" The function [`{text}`] as an object, which every backend can differentiate by its custom rule.");
    let implementation = if constants.is_empty() {
        quote! {
            impl<T: #krate::Scalar<Base = f64>> #krate::Function<[T]> for #object {
                type Output = #result;
                fn call(&self, x: &[T]) -> #result { #name(x) }
            }
        }
    } else {
        let arguments =
            constants.iter().map(
                |Constant { name, by_reference, .. }| {
                    if *by_reference { quote!(#name) } else { quote!(::std::clone::Clone::clone(#name)) }
                },
            );
        quote! {
            impl<T: #krate::Scalar<Base = f64>> #krate::FunctionWith<[T], (#(#krate::Const<#viewed>,)*)> for #object {
                type Output = #result;
                fn call_with<'contexts>(&self, x: &[T], (#(#names,)*): (#(&'contexts #viewed,)*)) -> #result {
                    #name(x #(, #arguments)*)
                }
            }
        }
    };
    quote! {
        #(#docs)*
        #vis fn #name<T: #krate::Scalar<Base = f64>>(x: &[T] #(, #names: #public)*) -> #result {
            #krate::custom::Custom::new(#rule { #(#names: #stored),* }).#call(x)
        }

        #[doc(hidden)]
        struct #rule { #(#names: #owned),* }

        impl #krate::custom::CustomRule for #rule {
            const NAME: &'static str = #text;
            const GIVEN: #krate::custom::Halves = #krate::custom::Halves::#given;
            fn value(&self, x: &[f64], y: &mut ::std::vec::Vec<f64>) { #value }
            #pushforward
            #pullback
        }

        #[doc = #about]
        #[allow(dead_code)]
        #[derive(Clone, Copy, Debug, Default)]
        #vis struct #object;

        #implementation
    }
}
