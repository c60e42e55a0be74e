//! `#[derive(Container)]`: a struct or enum of containers is a container.
//!
//! Called by the entry point in `lib`. Makes the implementations of `Container` and `Object`, and calls the macro `whole!` of the core,
//! which makes points and outputs of both.

use crate::errors::Errors;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Data, DeriveInput, Fields, GenericArgument, GenericParam, Generics, Ident, Member, Path, PathArguments,
    PathSegment, Type, TypeParam, WherePredicate, parse_quote,
};

/// One field.
struct Field<'a> {
    member: Member,
    /// The variable that a pattern binds it to.
    name: Ident,
    /// The variable for the same field of an object.
    object: Ident,
    ty: &'a Type,
    constant: bool,
    /// Whether it is a box, or options, vectors or arrays of boxes.
    boxed: bool,
}

/// A struct, or one variant of an enum.
struct Variant<'a> {
    /// `Self` or `Self::Variant`, without generics.
    path: TokenStream,
    fields: Vec<Field<'a>>,
}

/// Expands the derive.
pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let mut errors = Errors::new("`#[derive(Container)]`");
    let krate = crate_path(input)?;
    refuse_packed(input)?;
    let number = number(&input.generics, &input.ident)?;
    let variants = variants(input, &number, &mut errors)?;
    errors.finish()?;

    let (name, with) = (&input.ident, quote!(__N));
    let (_, ty_generics, where_clause) = input.generics.split_for_impl();
    let parameters = parameters(&input.generics, &number, &krate);
    let arguments = arguments(&input.generics, &number, &with);
    let container = quote!(#krate::container::Container);

    let opaque = variants.iter().flat_map(|variant| &variant.fields).map(|field| {
        let ty = field.ty;
        // The constant of a recursive type cannot ask itself, and boxes hold such types. That there may be constants costs a comparison.
        let is_recursive = field.boxed || mentions(ty, name);
        if field.constant || is_recursive { quote!(true) } else { quote!(<#ty as #container>::OPAQUE) }
    });
    let is_enum = matches!(input.data, Data::Enum(_));
    let make = variants.iter().map(|variant| {
        let (pattern, path) = (variant.pattern(), &variant.path);
        let fields = variant.fields.iter().map(|field| {
            let (Field { member, name, constant, .. }, container) = (field, field.container(&krate));
            if *constant {
                quote!(#member: ::std::clone::Clone::clone(#name))
            } else {
                quote!(#member: #container::with::<__N>(#name))
            }
        });
        let path = if is_enum { quote!(#name::<#arguments>::#path) } else { quote!(#name::<#arguments>) };
        quote!(#pattern => #path { #(#fields),* })
    });
    let fit = variants.iter().map(|variant| {
        let (pattern, path) = (variant.pattern(), &variant.path);
        let objects = variant.fields.iter().map(|Field { member, object, .. }| quote!(#member: #object));
        let path = if is_enum { quote!(#name::<#arguments>::#path) } else { quote!(#name::<#arguments>) };
        let fits = variant.fields.iter().map(|field| {
            let (Field { name, object, constant, .. }, container) = (field, field.container(&krate));
            if *constant {
                quote!(::std::clone::Clone::clone_from(#object, #name);)
            } else {
                quote!(#container::fit::<__N>(#name, #object);)
            }
        });
        quote!((#pattern, #path { #(#objects),* }) => { #(#fits)* })
    });
    let other_variant = (variants.len() > 1).then(|| quote!((_, object) => *object = #container::with::<__N>(self),));
    let lengths = variants.iter().enumerate().map(|(index, variant)| {
        let pattern = variant.pattern();
        let tag = is_enum.then(|| quote!(&& words.length(#index)));
        let fields =
            variant.numbers(&krate).map(|(Field { name, .. }, container)| quote!(#container::lengths(#name, words)));
        quote!(#pattern => true #tag #(&& #fields)*)
    });
    let constants = variants.iter().map(|variant| {
        let pattern = variant.pattern();
        let fields = variant.fields.iter().map(|field| {
            let (Field { name, constant, .. }, container) = (field, field.container(&krate));
            if *constant {
                quote!(#krate::container::Field(#name).words(words))
            } else {
                quote!(#container::constants(#name, words))
            }
        });
        quote!(#pattern => true #(&& #fields)*)
    });
    let pieces = variants.iter().map(|variant| {
        let pattern = variant.pattern();
        let fields =
            variant.numbers(&krate).map(|(Field { name, .. }, container)| quote!(#container::pieces(#name, visit);));
        quote!(#pattern => { #(#fields)* })
    });
    let pieces_mut = variants.iter().map(|variant| {
        let pattern = variant.pattern();
        let fields = variant.numbers(&krate).map(|(Field { name, boxed, .. }, in_box)| {
            let object = if *boxed { in_box } else { quote!(#krate::container::Object) };
            quote!(#object::pieces_mut(#name, visit);)
        });
        quote!(#pattern => { #(#fields)* })
    });
    let layout = variants.iter().map(|variant| {
        let pattern = variant.pattern();
        let fields = variant.numbers(&krate).map(|(Field { name, member, .. }, container)| {
            let text = text_of(member);
            quote!(layout.part(#text, |layout| #container::layout(#name, layout));)
        });
        quote!(#pattern => { #(#fields)* })
    });

    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables, clippy::match_single_binding)]
        impl<#parameters> #container for #name #ty_generics #where_clause {
            type Scalar = #number;
            type With<__N: #krate::Scalar> = #name<#arguments>;
            const OPAQUE: bool = false #(|| #opaque)*;
            fn with<__N: #krate::Scalar>(&self) -> #name<#arguments> {
                match self { #(#make,)* }
            }
            fn fit<__N: #krate::Scalar>(&self, object: &mut #name<#arguments>) {
                match (self, object) { #(#fit,)* #other_variant }
            }
            #[inline]
            fn lengths(&self, words: &mut #krate::container::Words<'_>) -> bool {
                match self { #(#lengths,)* }
            }
            fn constants(&self, words: &mut #krate::container::Words<'_>) -> bool {
                match self { #(#constants,)* }
            }
            #[inline]
            fn pieces<'__a>(&'__a self, visit: &mut impl ::std::ops::FnMut(&'__a [#number])) {
                match self { #(#pieces,)* }
            }
            fn layout(&self, layout: &mut #krate::container::Layout) {
                match self { #(#layout,)* }
            }
        }
        #[automatically_derived]
        #[allow(unused_variables, clippy::match_single_binding)]
        impl<#parameters> #krate::container::Object for #name #ty_generics #where_clause {
            #[inline]
            fn pieces_mut<'__a>(&'__a mut self, visit: &mut impl ::std::ops::FnMut(&'__a mut [#number])) {
                match self { #(#pieces_mut,)* }
            }
        }
        #krate::whole! { [#parameters] #name #ty_generics; }
    })
}

/// Fields of a packed struct cannot be borrowed.
fn refuse_packed(input: &DeriveInput) -> syn::Result<()> {
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("packed") {
                return Err(meta.error("`#[derive(Container)]` borrows the fields, which those of a packed struct do not allow: remove `packed`"));
            }
            if meta.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

impl Field<'_> {
    /// The path of the trait that has the methods of its type.
    fn container(&self, krate: &Path) -> TokenStream {
        if self.boxed { quote!(#krate::container::InBox) } else { quote!(#krate::container::Container) }
    }
}

impl<'a> Variant<'a> {
    /// A pattern that binds all fields.
    fn pattern(&self) -> TokenStream {
        let path = &self.path;
        let path = if path.is_empty() { quote!(Self) } else { quote!(Self::#path) };
        let fields = self.fields.iter().map(|Field { member, name, .. }| quote!(#member: #name));
        quote!(#path { #(#fields),* })
    }

    /// The fields that hold numbers, each with the path of its trait.
    fn numbers(&self, krate: &Path) -> impl Iterator<Item = (&Field<'a>, TokenStream)> {
        self.fields.iter().filter(|field| !field.constant).map(|field| (field, field.container(krate)))
    }
}

/// The path of the traits, from `#[container(crate = "path")]`.
fn crate_path(input: &DeriveInput) -> syn::Result<Path> {
    let mut path = parse_quote!(::differentiation_interface);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("container")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("the only option is `crate = \"path\"`"));
            }
            path = meta.value()?.parse::<syn::LitStr>()?.parse()?;
            Ok(())
        })?;
    }
    Ok(path)
}

/// The type parameter that stands for the numbers.
fn number(generics: &Generics, name: &Ident) -> syn::Result<Ident> {
    let mut types = generics.type_params();
    let (first, second) = (types.next(), types.next());
    let refuse = |span: Span, message: &str| Err(syn::Error::new(span, format!("`#[derive(Container)]` {message}")));
    if let Some(lifetime) = generics.lifetimes().next() {
        return refuse(
            lifetime.lifetime.apostrophe,
            "needs a type that owns its fields, without lifetimes: a preparation keeps a copy of it",
        );
    }
    match (first, second) {
        (Some(parameter), None) => match bound(generics, parameter) {
            None => Ok(parameter.ident.clone()),
            Some(span) => refuse(
                span,
                "needs the number type without bounds, `struct Params<T>`; functions and `impl` blocks ask for `T: Real`",
            ),
        },
        (Some(_), Some(second)) => refuse(second.ident.span(), "needs one type parameter, the type of the numbers"),
        (None, _) => refuse(
            name.span(),
            "needs a type parameter for the numbers: `struct Params<T = f64> { scale: T }` is still `Params` where it holds plain numbers; so does a struct of data for `ConstantNumbers`, where at least one field is no `#[constant]`",
        ),
    }
}

/// Where the number type has a bound: at the parameter or in the where-clause.
fn bound(generics: &Generics, parameter: &TypeParam) -> Option<Span> {
    if !parameter.bounds.is_empty() {
        return Some(parameter.ident.span());
    }
    let mut predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let of_numbers = |predicate: &&WherePredicate| {
        let mut search = Search(&parameter.ident, false);
        search.visit_where_predicate(predicate);
        search.1
    };
    predicates.find(of_numbers).map(Spanned::span)
}

/// Reads the fields of a struct, or of each variant of an enum.
fn variants<'a>(input: &'a DeriveInput, number: &Ident, errors: &mut Errors) -> syn::Result<Vec<Variant<'a>>> {
    match &input.data {
        Data::Struct(data) => {
            Ok(vec![Variant { path: TokenStream::new(), fields: fields(&data.fields, number, errors) }])
        }
        Data::Enum(data) => Ok(data
            .variants
            .iter()
            .map(|variant| {
                let name = &variant.ident;
                Variant { path: quote!(#name), fields: fields(&variant.fields, number, errors) }
            })
            .collect()),
        Data::Union(_) => Err(syn::Error::new(input.ident.span(), "`#[derive(Container)]` cannot read a union")),
    }
}

fn fields<'a>(fields: &'a Fields, number: &Ident, errors: &mut Errors) -> Vec<Field<'a>> {
    let read = |(field, member): (&'a syn::Field, Member)| {
        let constant = field.attrs.iter().any(|attribute| attribute.path().is_ident("constant"));
        let text = text_of(&member);
        let named = mentions(&field.ty, number);
        if !constant && !named {
            errors.push_at(
                &field.ty,
                format!("finds no numbers `{number}` in field `{text}`: mark it `#[constant]`, or use `{number}` in its type"),
            );
        }
        if constant && named {
            errors.push_at(
                &field.ty,
                format!("keeps the type of the `#[constant]` field `{text}`: write `f64` instead of `{number}` in it"),
            );
        }
        if named
            && !constant
            && let Some(message) = refused(&field.ty)
        {
            errors.push_at(&field.ty, format!("{message} in field `{text}`"));
        }
        let (name, object) = (format_ident!("__field_{text}"), format_ident!("__object_{text}"));
        Field { member, name, object, ty: &field.ty, constant, boxed: is_boxed(&field.ty) }
    };
    fields.iter().zip(fields.members()).map(read).collect()
}

/// Whether a type is a box, or options, vectors or arrays of boxes.
fn is_boxed(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => is_boxed(&array.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            last.ident == "Box"
                || ["Option", "Vec"].iter().any(|list| last.ident == list) && argument_of(last).is_some_and(is_boxed)
        }),
        _ => false,
    }
}

/// The first argument of a generic type.
fn argument_of(segment: &PathSegment) -> Option<&Type> {
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        }),
        _ => None,
    }
}

/// Why a type that could hold numbers is no container.
fn refused(ty: &Type) -> Option<&'static str> {
    struct Refused(Option<&'static str>);
    impl<'ast> Visit<'ast> for Refused {
        fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
            if segment.ident == "HashMap" {
                self.0 = Some("needs an order of the numbers: write `BTreeMap` instead of `HashMap`");
            } else if segment.ident == "Rc" {
                self.0 = Some("cannot write to numbers that are shared: write `Box` instead of `Rc`");
            } else if segment.ident == "Arc" {
                self.0 = Some("cannot write to numbers that are shared: write `Box` instead of `Arc`");
            } else if segment.ident == "Box" && matches!(argument_of(segment), Some(Type::Slice(_))) {
                self.0 = Some("cannot make a boxed slice of other numbers: write `Vec<..>` instead of `Box<[..]>`");
            }
            visit::visit_path_segment(self, segment);
        }
    }
    let mut search = Refused(None);
    search.visit_type(ty);
    search.0
}

/// The name of a field, without the mark of a raw identifier.
fn text_of(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// A search for the number type.
struct Search<'n>(&'n Ident, bool);

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_ident(&mut self, ident: &'ast Ident) {
        self.1 |= ident == self.0;
    }
}

/// Whether a type contains the number type.
fn mentions(ty: &Type, number: &Ident) -> bool {
    let mut search = Search(number, false);
    search.visit_type(ty);
    search.1
}

/// The generics of an implementation, without defaults, where the number type is a `Scalar`.
fn parameters(generics: &Generics, number: &Ident, krate: &Path) -> TokenStream {
    let parameters = generics.params.iter().map(|parameter| match parameter {
        GenericParam::Const(parameter) => {
            let (name, ty) = (&parameter.ident, &parameter.ty);
            quote!(const #name: #ty)
        }
        _ => quote!(#number: #krate::Scalar),
    });
    quote!(#(#parameters),*)
}

/// The arguments of the type at the number type `with`.
fn arguments(generics: &Generics, number: &Ident, with: &TokenStream) -> TokenStream {
    let arguments = generics.params.iter().map(|parameter| match parameter {
        GenericParam::Const(parameter) => {
            let name = &parameter.ident;
            quote!(#name)
        }
        GenericParam::Type(parameter) if parameter.ident == *number => with.clone(),
        other => quote!(#other),
    });
    quote!(#(#arguments),*)
}
