//! The types of a module: structs, enums, traits and aliases, with the numbers they hold.
//!
//! Called by `items` before it reads signatures.

use super::annotations::{OTHER, TEXT, Words, is_static};
use super::data::structs;
use super::declared::Declared;
use super::graph::Act;
use super::inference::Inference;
use super::items::{is_foreign, is_plain_trait};
use super::marks::Mark;
use super::refusals;
use super::ty::Ty;
use crate::number::{derives, is_word, mentions, type_name};
use crate::shape::{Mark as Written, take_mark};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::collections::HashMap;
use syn::punctuated::Punctuated;
use syn::visit_mut::{VisitMut, visit_type_mut};
use syn::{
    Fields, GenericArgument, GenericParam, Generics, Ident, ImplItem, Item, ItemEnum, ItemStruct, PathArguments,
    TraitItem, Type, WherePredicate,
};

fn all_fields<'a>(fields: impl IntoIterator<Item = &'a Fields>) -> Vec<Type> {
    let fields = fields.into_iter().flat_map(|f| f.iter());
    let is_active = |f: &&syn::Field| !f.attrs.iter().any(|a| a.path().is_ident("constant"));
    fields.filter(is_active).map(|f| without_tables(&f.ty)).collect()
}

/// The type without what is behind `&'static`, which stays plain.
fn without_tables(ty: &Type) -> Type {
    struct Remove;
    impl VisitMut for Remove {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            match ty {
                Type::Reference(r) if is_static(r) => *ty = syn::parse_quote!(()),
                ty => visit_type_mut(self, ty),
            }
        }
    }
    let mut ty = ty.clone();
    Remove.visit_type_mut(&mut ty);
    ty
}

/// Types of plain data, beside those without numbers.
const PLAIN: [&str; 4] = ["f64", "Vec", "Option", "PhantomData"];

/// Whether the type is made of known types, tuples, arrays and shared references.
fn is_plain(ty: &Type, generics: &Generics, known: &[String]) -> bool {
    let is_plain = |ty: &Type| is_plain(ty, generics, known);
    match ty {
        Type::Array(a) => is_plain(&a.elem),
        Type::Slice(s) => is_plain(&s.elem),
        Type::Paren(p) => is_plain(&p.elem),
        Type::Tuple(t) => t.elems.iter().all(is_plain),
        Type::Reference(r) => r.mutability.is_none() && is_plain(&r.elem),
        Type::Path(path) => path.path.segments.iter().next_back().is_some_and(|last| {
            known.iter().any(|name| last.ident == name.as_str())
                && match &last.arguments {
                    PathArguments::None => true,
                    PathArguments::AngleBracketed(list) => list.args.iter().all(|argument| match argument {
                        GenericArgument::Type(ty) => {
                            is_plain(ty) || generics.const_params().any(|p| is_word(ty, &p.ident.to_string()))
                        }
                        GenericArgument::Const(_) | GenericArgument::Lifetime(_) => true,
                        _ => false,
                    }),
                    PathArguments::Parenthesized(_) => false,
                }
        }),
        _ => false,
    }
}

/// The type parameters of each struct, with the bounds that its blocks put on them.
fn bounded_structs(items: &[Item]) -> HashMap<String, Generics> {
    let mut found: HashMap<String, Generics> = HashMap::new();
    for item in items {
        if let Item::Struct(s) = item {
            found.insert(s.ident.to_string(), s.generics.clone());
        }
    }
    for item in items {
        if let Item::Impl(block) = item
            && let Type::Path(path) = &*block.self_ty
            && let Some(last) = path.path.segments.last()
            && let PathArguments::AngleBracketed(list) = &last.arguments
            && let Some(generics) = found.get_mut(&last.ident.to_string())
        {
            let arguments = list.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            for (parameter, argument) in generics.type_params_mut().zip(arguments) {
                let name = argument.to_token_stream().to_string();
                let of_block = block.generics.type_params().filter(|p| p.ident == name);
                let clause = block.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
                let in_clause = clause.filter_map(|predicate| match predicate {
                    WherePredicate::Type(p) if p.bounded_ty.to_token_stream().to_string() == name => Some(&p.bounds),
                    _ => None,
                });
                parameter.bounds.extend(of_block.map(|p| &p.bounds).chain(in_clause).flatten().cloned());
            }
        }
    }
    found
}

/// The types that need `T: Real` where they are declared: `#[derive(Default)] struct Robot { base: Pose }` with an `impl Default for Pose`, which is one
/// for real numbers only, and the types that name one of these.
fn bounded_types(items: &[Item]) -> Vec<String> {
    let by_hand: Vec<(String, String)> = items
        .iter()
        .filter_map(|item| match item {
            Item::Impl(block) => {
                let (path, _) = block.trait_.as_ref()?;
                Some((path.segments.last()?.ident.to_string(), type_name(&block.self_ty)?.to_string()))
            }
            _ => None,
        })
        .collect();
    // `Drop` is implemented with the bounds of the type.
    let mut bounded: Vec<String> =
        by_hand.iter().filter(|(of_trait, _)| of_trait == "Drop").map(|(_, ty)| ty.clone()).collect();
    loop {
        let before = bounded.len();
        for item in items {
            let (name, attrs, content) = match item {
                Item::Struct(s) => (s.ident.to_string(), &s.attrs, s.fields.to_token_stream()),
                Item::Enum(e) => (e.ident.to_string(), &e.attrs, e.variants.to_token_stream()),
                Item::Trait(t) => {
                    let (supertraits, content) = (&t.supertraits, &t.items);
                    (t.ident.to_string(), &t.attrs, quote!(#supertraits #(#content)*))
                }
                _ => continue,
            };
            let is_bounded =
                by_hand.iter().any(|(of_trait, ty)| derives(attrs, of_trait) && mentions(content.clone(), ty))
                    || bounded.iter().any(|ty| mentions(content.clone(), ty));
            if is_bounded && !bounded.contains(&name) {
                bounded.push(name);
            }
        }
        if bounded.len() == before {
            return bounded;
        }
    }
}

/// The defaults of type and constant parameters: `2` of `const N: usize = 2`.
fn defaults(generics: &Generics) -> impl Iterator<Item = TokenStream> {
    generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(p) => p.default.as_ref().map(|(_, default)| default.to_token_stream()),
        GenericParam::Const(p) => p.default.as_ref().map(|(_, default)| default.to_token_stream()),
        GenericParam::Lifetime(_) => None,
    })
}

/// The bounds of type parameters, without defaults such as `T = f64`.
fn bounds(generics: &Generics) -> TokenStream {
    let (bounds, clause) = (generics.type_params().map(|p| &p.bounds), &generics.where_clause);
    quote!(#(#bounds)* #clause)
}

impl Inference<'_> {
    /// Reads the declarations of types, also those that other items of the module implement methods for.
    pub(super) fn declare_types(&mut self, items: &mut [Item]) {
        for item in items.iter() {
            let (name, generics) = match item {
                Item::Struct(s) => (s.ident.to_string(), &s.generics),
                Item::Enum(e) => (e.ident.to_string(), &e.generics),
                Item::Trait(t) if is_plain_trait(t) => (t.ident.to_string(), &t.generics),
                _ => continue,
            };
            let parameters = generics.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_))).count();
            let id = self.declare_name(name, parameters);
            let defaults: Vec<TokenStream> = defaults(generics).collect();
            if let Item::Struct(ItemStruct { attrs, .. }) | Item::Enum(ItemEnum { attrs, .. }) = item {
                self.module.types[id].is_copy = derives(attrs, "Copy");
            }
            if defaults.len() == generics.params.len() {
                self.module.types[id].defaults = defaults;
            }
        }
        // A type in the methods of which active numbers occur may be declared elsewhere.
        for item in items.iter() {
            if let Item::Impl(block) = item
                && let Some(name) = type_name(&block.self_ty)
                && name != "f64"
                && !is_foreign(&block.self_ty, &block.generics)
                && !self.module.names.contains_key(&name.to_string())
            {
                self.declare_name(name.to_string(), 0);
            }
        }
        // A trait that numbers have is one with numbers.
        let of_numbers = items.iter().filter_map(|item| match item {
            Item::Impl(block) => self.number_block(block),
            _ => None,
        });
        let of_numbers: Vec<usize> = of_numbers.collect();
        // Numbers may be those of another type, so that types are asked until nothing changes.
        let mut words: Vec<String> = vec!["f64".to_string()];
        // In an order in which each may name those before it.
        let mut aliases: Vec<String> = Vec::new();
        for id in of_numbers {
            self.module.types[id].has_numbers = true;
            words.push(self.module.types[id].name.clone());
        }
        let bounded = bounded_structs(items);
        loop {
            let before = (words.len(), aliases.len());
            for item in items.iter() {
                let (name, fields) = match item {
                    Item::Struct(s) => (&s.ident, all_fields([&s.fields])),
                    Item::Enum(e) => (&e.ident, all_fields(e.variants.iter().map(|v| &v.fields))),
                    Item::Trait(t) if is_plain_trait(t) => {
                        let signatures = t.items.iter().filter_map(|i| match i {
                            TraitItem::Fn(method) => Some(method.sig.to_token_stream()),
                            _ => None,
                        });
                        // `type Out;` of a trait is what its implementations choose.
                        let chosen = items.iter().filter_map(|item| match item {
                            Item::Impl(b) if b.trait_.as_ref()?.0.segments.last()?.ident == t.ident => Some(&b.items),
                            _ => None,
                        });
                        let chosen = chosen.flatten().filter_map(|item| match item {
                            ImplItem::Type(chosen) => Some(chosen.ty.to_token_stream()),
                            _ => None,
                        });
                        let supertraits = t.supertraits.to_token_stream();
                        let all = signatures.chain([supertraits]).chain(chosen);
                        (&t.ident, all.map(Type::Verbatim).collect())
                    }
                    Item::Type(alias) => {
                        let name = alias.ident.to_string();
                        // `type Result<T> = std::result::Result<T, MyError>` stays as it is.
                        let names =
                            |ty: &Type, words: &[String]| words.iter().any(|word| mentions(ty.to_token_stream(), word));
                        if !aliases.contains(&name)
                            && alias.generics.type_params().next().is_none()
                            && (names(&alias.ty, &words) || names(&alias.ty, &aliases))
                        {
                            // One of a table is known, but has no numbers.
                            if names(&without_tables(&alias.ty), &words) {
                                words.push(name.clone());
                            }
                            aliases.push(name);
                        }
                        continue;
                    }
                    _ => continue,
                };
                let has = |ty: &Type| words.iter().any(|word| mentions(ty.to_token_stream(), word));
                let id = self.module.names[&name.to_string()];
                if !self.module.types[id].has_numbers && fields.iter().any(has) {
                    self.module.types[id].has_numbers = true;
                    words.push(name.to_string());
                }
            }
            if (words.len(), aliases.len()) == before {
                break;
            }
        }
        for item in items.iter() {
            if let Item::Struct(s) = item
                && let declared = &mut self.module.types[self.module.names[&s.ident.to_string()]]
                && !declared.has_numbers
            {
                declared.is_bare = words.iter().any(|word| mentions(bounds(&bounded[&s.ident.to_string()]), word));
                declared.has_numbers = declared.is_bare;
            }
        }
        // What a value of another generic type holds decides whether it is active.
        for item in items.iter() {
            if let Item::Struct(ItemStruct { ident, generics, .. }) | Item::Enum(ItemEnum { ident, generics, .. }) =
                item
                && generics.type_params().next().is_some()
                && let declared = &mut self.module.types[self.module.names[&ident.to_string()]]
                && !declared.has_numbers
            {
                (declared.has_numbers, declared.is_bare, declared.is_filled) = (true, true, true);
            }
        }
        self.declare_aliases(items, &aliases);
        self.declare_plain(items);
        self.module.bounded = bounded_types(items);
        for item in items.iter_mut() {
            match item {
                Item::Struct(s) => {
                    let id = self.module.names[&s.ident.to_string()];
                    let outer = self.type_parameters.clone();
                    let (flag, is_bare) = (self.module.types[id].flag, self.module.types[id].is_bare);
                    if self.module.types[id].has_numbers {
                        self.declare_type_parameters(&mut bounded[&s.ident.to_string()].clone(), &Words::As(flag));
                        if self.module.types[id].is_filled {
                            self.fill_parameters(&s.generics, flag);
                        } else if is_bare {
                            // The blocks have the bounds.
                            s.generics.type_params_mut().for_each(|p| p.bounds = Punctuated::new());
                            s.generics.where_clause = None;
                        } else {
                            let known = self.type_parameters.clone();
                            self.declare_type_parameters(&mut s.generics, &Words::As(flag));
                            self.type_parameters = known;
                        }
                    }
                    let case = self.fields(&mut s.fields, id);
                    self.type_parameters = outer;
                    self.module.types[id].cases.insert(s.ident.to_string(), case);
                    if !is_bare {
                        let mark = self.add_mark(Mark::Type(flag, self.module.is_bounded(&s.ident)), s.ident.span());
                        s.attrs.push(syn::parse_quote!(#[#mark]));
                    }
                }
                Item::Enum(e) => {
                    let id = self.module.names[&e.ident.to_string()];
                    let outer = self.type_parameters.clone();
                    let (flag, is_filled) = (self.module.types[id].flag, self.module.types[id].is_filled);
                    if is_filled {
                        self.fill_parameters(&e.generics, flag);
                    }
                    for variant in &mut e.variants {
                        let case = self.fields(&mut variant.fields, id);
                        self.module.types[id].cases.insert(variant.ident.to_string(), case);
                    }
                    self.type_parameters = outer;
                    if is_filled {
                        continue;
                    }
                    let mark = Mark::Type(self.module.types[id].flag, self.module.is_bounded(&e.ident));
                    let mark = self.add_mark(mark, e.ident.span());
                    e.attrs.push(syn::parse_quote!(#[#mark]));
                }
                _ => {}
            }
        }
    }

    /// Reads the parameters of a type as values with its numbers.
    fn fill_parameters(&mut self, generics: &Generics, flag: Act) {
        for parameter in generics.type_params() {
            self.type_parameters.insert(parameter.ident.to_string(), Ty::Opaque(flag));
        }
    }

    /// Enters a type, of which nothing but the name and the number of parameters is known. Returns its number.
    pub(super) fn declare_name(&mut self, name: String, parameters: usize) -> usize {
        let flag = self.graph.fresh();
        let id = self.module.types.len();
        self.module.names.insert(name.clone(), id);
        let cases = HashMap::new();
        self.module.types.push(Declared {
            name,
            has_numbers: false,
            is_bare: false,
            is_filled: false,
            is_copy: false,
            flag,
            parameters,
            defaults: Vec::new(),
            is_plain: false,
            cases,
        });
        id
    }

    /// Reads `type Point = [f64; 3];` and `type Path = Vec<Vector>;`, in this order. One with `f64` always gets its parameter, others where their types do.
    fn declare_aliases(&mut self, items: &mut [Item], order: &[String]) {
        for name in order {
            let alias = items.iter_mut().find_map(|item| match item {
                Item::Type(alias) if alias.ident == name => Some(alias),
                _ => None,
            });
            let Some(alias) = alias else { continue };
            let act = self.graph.fresh();
            let names_f64 = mentions(alias.ty.to_token_stream(), "f64");
            // Those before it that it names.
            let named = self.module.aliases.iter().filter(|(name, _)| mentions(alias.ty.to_token_stream(), name));
            let named: Vec<Act> = named.map(|(_, (_, act))| *act).collect();
            named.into_iter().for_each(|of_alias| self.graph.flow(of_alias, act, alias.ident.span()));
            let ty = self.annotation(&mut alias.ty, &Words::As(act));
            // The numbers of a `&'static` table stay plain: the alias would not use its parameter.
            if names_f64 && self.acts(&ty).contains(&act) {
                self.graph.activate(act);
            }
            let mut found = Vec::new();
            structs(&ty, &|ty| self.resolve(ty), &mut found);
            for id in found {
                self.graph.flow(self.module.types[id].flag, act, alias.ident.span());
            }
            let mark = self.add_mark(Mark::Type(act, false), alias.ident.span());
            alias.attrs.push(syn::parse_quote!(#[#mark]));
            self.module.aliases.insert(name.clone(), (ty, act));
        }
    }

    /// Finds the structs and enums of plain data. Fields may be of other such types, so that all are asked until nothing changes.
    fn declare_plain(&mut self, items: &[Item]) {
        let mut known: Vec<String> = PLAIN.iter().chain(&OTHER).chain(&TEXT).map(ToString::to_string).collect();
        loop {
            let before = known.len();
            for item in items {
                let (name, generics, fields) = match item {
                    Item::Struct(s) => (&s.ident, &s.generics, s.fields.iter().collect::<Vec<_>>()),
                    Item::Enum(e) => (&e.ident, &e.generics, e.variants.iter().flat_map(|v| &v.fields).collect()),
                    _ => continue,
                };
                let id = self.module.names[&name.to_string()];
                let is_generic = generics.params.iter().any(|p| matches!(p, GenericParam::Type(_)));
                if !self.module.types[id].is_plain
                    && !is_generic
                    && fields.iter().all(|field| is_plain(&field.ty, generics, &known))
                {
                    self.module.types[id].is_plain = true;
                    known.push(name.to_string());
                }
            }
            if known.len() == before {
                break;
            }
        }
    }

    /// The fields of a struct or variant.
    fn fields(&mut self, fields: &mut Fields, id: usize) -> Vec<(String, Ty)> {
        let flag = self.module.types[id].flag;
        let mut read = Vec::new();
        for (i, field) in fields.iter_mut().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| i.to_string(), Ident::to_string);
            let words = match take_mark(&mut field.attrs.clone()) {
                Written::Constant => Words::Plain(refusals::constant_field(&name)),
                _ => Words::As(flag),
            };
            read.push((name, self.annotation(&mut field.ty, &words)));
        }
        read
    }
}
