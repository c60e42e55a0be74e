//! The types of a module: structs, enums, traits and aliases, with the numbers they hold.
//!
//! Called by `items` before it reads signatures.

use super::annotations::Words;
use super::declared::Declared;
use super::inference::Inference;
use super::items::is_plain_trait;
use super::marks::Mark;
use super::refusals;
use super::ty::Ty;
use crate::number::{mentions, type_name};
use crate::shape::{Mark as Written, take_mark};
use quote::ToTokens;
use std::collections::HashMap;
use syn::{Attribute, Fields, GenericParam, Ident, Item, Meta, TraitItem, Type};

fn all_fields<'a>(fields: impl IntoIterator<Item = &'a Fields>) -> Vec<Type> {
    let fields = fields.into_iter().flat_map(|f| f.iter());
    let is_active = |f: &&syn::Field| !f.attrs.iter().any(|a| a.path().is_ident("constant"));
    fields.filter(is_active).map(|f| f.ty.clone()).collect()
}

pub(crate) fn derives_container(attr: &Attribute) -> bool {
    matches!(&attr.meta, Meta::List(list) if list.path.is_ident("derive") && mentions(list.tokens.clone(), "Container"))
}

impl Inference<'_> {
    /// Reads the declarations of types, also those that other items of the module implement methods for.
    pub(super) fn declare_types(&mut self, items: &mut [Item]) {
        for item in items.iter() {
            let (name, generics, attrs) = match item {
                Item::Struct(s) => (s.ident.to_string(), &s.generics, &s.attrs),
                Item::Enum(e) => (e.ident.to_string(), &e.generics, &e.attrs),
                Item::Trait(t) if is_plain_trait(t) => (t.ident.to_string(), &t.generics, &t.attrs),
                _ => continue,
            };
            let is_generic = generics.params.iter().any(|p| matches!(p, GenericParam::Type(_)));
            let is_container = attrs.iter().any(derives_container);
            let parameters = generics.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_))).count();
            let flag = self.graph.fresh();
            self.module.names.insert(name.clone(), self.module.types.len());
            self.module.types.push(Declared {
                name,
                has_numbers: false,
                flag,
                parameters,
                is_generic,
                is_container,
                cases: HashMap::new(),
            });
        }
        // A type in the methods of which active numbers occur may be declared elsewhere.
        for item in items.iter() {
            if let Item::Impl(block) = item
                && let Some(name) = type_name(&block.self_ty)
                && name != "f64"
                && !self.module.names.contains_key(&name.to_string())
            {
                let flag = self.graph.fresh();
                self.module.names.insert(name.to_string(), self.module.types.len());
                let name = name.to_string();
                self.module.types.push(Declared {
                    name,
                    has_numbers: false,
                    flag,
                    parameters: 0,
                    is_generic: true,
                    is_container: false,
                    cases: HashMap::new(),
                });
            }
        }
        for item in items.iter_mut() {
            if let Item::Type(alias) = item
                && mentions(alias.ty.to_token_stream(), "f64")
            {
                // An alias always gets its parameter, `f64` unless stated.
                let act = self.graph.active();
                let ty = self.annotation(&mut alias.ty, &Words::As(act));
                let mark = self.add_mark(Mark::Type(act), alias.ident.span());
                alias.attrs.push(syn::parse_quote!(#[#mark]));
                self.module.aliases.insert(alias.ident.to_string(), (ty, act));
            }
        }
        // A trait that numbers have is one with numbers.
        let of_numbers: Vec<usize> = items.iter().filter_map(|item| self.trait_of_numbers(item)).collect();
        // Numbers may be those of another type, so that types are asked until nothing changes.
        let mut words: Vec<String> = self.module.aliases.keys().cloned().chain(["f64".to_string()]).collect();
        for id in of_numbers {
            self.module.types[id].has_numbers = true;
            words.push(self.module.types[id].name.clone());
        }
        loop {
            let before = words.len();
            for item in items.iter() {
                let (name, fields) = match item {
                    Item::Struct(s) => (&s.ident, all_fields([&s.fields])),
                    Item::Enum(e) => (&e.ident, all_fields(e.variants.iter().map(|v| &v.fields))),
                    Item::Trait(t) if is_plain_trait(t) => {
                        let signatures = t.items.iter().filter_map(|i| match i {
                            TraitItem::Fn(method) => Some(method.sig.to_token_stream()),
                            _ => None,
                        });
                        (&t.ident, signatures.map(Type::Verbatim).collect())
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
            if words.len() == before {
                break;
            }
        }
        for item in items.iter_mut() {
            match item {
                Item::Struct(s) => {
                    let id = self.module.names[&s.ident.to_string()];
                    let outer = self.type_parameters.clone();
                    if self.module.types[id].has_numbers {
                        let flag = self.module.types[id].flag;
                        self.declare_type_parameters(&mut s.generics, &Words::As(flag));
                    }
                    let case = self.fields(&mut s.fields, id);
                    self.type_parameters = outer;
                    self.module.types[id].cases.insert(s.ident.to_string(), case);
                    let mark = self.add_mark(Mark::Type(self.module.types[id].flag), s.ident.span());
                    s.attrs.push(syn::parse_quote!(#[#mark]));
                }
                Item::Enum(e) => {
                    let id = self.module.names[&e.ident.to_string()];
                    for variant in &mut e.variants {
                        let case = self.fields(&mut variant.fields, id);
                        self.module.types[id].cases.insert(variant.ident.to_string(), case);
                    }
                    let mark = self.add_mark(Mark::Type(self.module.types[id].flag), e.ident.span());
                    e.attrs.push(syn::parse_quote!(#[#mark]));
                }
                _ => {}
            }
        }
    }

    /// The trait of the module in `impl Trait for f64`.
    fn trait_of_numbers(&self, item: &Item) -> Option<usize> {
        let Item::Impl(block) = item else { return None };
        self.number_block(block)
    }

    /// The fields of a struct or variant; removes their marks.
    fn fields(&mut self, fields: &mut Fields, id: usize) -> Vec<(String, Ty)> {
        let flag = self.module.types[id].flag;
        let mut read = Vec::new();
        for (i, field) in fields.iter_mut().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| i.to_string(), Ident::to_string);
            // `#[derive(Container)]` reads the mark too.
            let mark = match self.module.types[id].is_container {
                true => take_mark(&mut field.attrs.clone()),
                false => take_mark(&mut field.attrs),
            };
            let words = match mark {
                Written::Constant => Words::Plain(refusals::constant_field(&name)),
                _ => Words::As(flag),
            };
            read.push((name, self.annotation(&mut field.ty, &words)));
        }
        read
    }
}
