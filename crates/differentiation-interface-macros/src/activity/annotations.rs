//! Types that the user wrote, and patterns, which may contain types.

use super::graph::Act;
use super::inference::{Inference, Variable};
use super::maps::MAPS;
use super::marks::Mark;
use super::refusals;
use super::ty::Ty;
use crate::number::{is_word, mentions};
use quote::ToTokens;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, Lit, Pat, PathArguments, ReturnType, Type, TypeParamBound, TypeReference};

/// How the name `f64` in a type is treated.
#[derive(Clone)]
pub(super) enum Words {
    /// A new activity, which the flows decide: local annotations.
    Open,
    /// Always plain, with the reason: constants.
    Plain(String),
    /// Of this activity: fields of a struct, and arguments that are active in any case.
    As(Act),
    /// Already replaced by the number type, or active: arguments and results.
    Active,
}

/// Types that certainly hold no `f64`.
pub(super) const OTHER: [&str; 17] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "bool", "char", "f32",
    "Ordering", "Range",
];

/// Types that are read as what they hold.
pub(super) const WRAPPERS: [&str; 7] = ["Box", "Rc", "Arc", "Cell", "RefCell", "Mutex", "RwLock"];

/// Types of text.
pub(super) const TEXT: [&str; 2] = ["str", "String"];

/// Collections of items of one type.
pub(super) const SEQUENCES: [&str; 6] = ["Vec", "VecDeque", "BinaryHeap", "LinkedList", "BTreeSet", "HashSet"];

/// Cells that are written once, which are read as an option.
pub(super) const ONCE: [&str; 2] = ["OnceCell", "OnceLock"];

impl Inference<'_> {
    /// The type of an annotation. Open occurrences of `f64` are marked.
    pub(super) fn annotation(&mut self, ty: &mut Type, words: &Words) -> Ty {
        if is_word(ty, "f64") {
            return match words {
                Words::Open => {
                    let act = self.graph.fresh();
                    self.mark_type(ty, Mark::Number(act));
                    Ty::Float(act)
                }
                Words::As(act) => {
                    self.mark_type(ty, Mark::Number(*act));
                    Ty::Float(*act)
                }
                Words::Plain(why) => Ty::Float(self.graph.pinned(why)),
                Words::Active => Ty::Float(self.graph.active()),
            };
        }
        match ty {
            _ if is_word(ty, &self.number.to_string()) => Ty::Float(self.graph.active()),
            // What lives as long as the program is a table, never a value made of arguments.
            Type::Reference(r) if is_static(r) && !matches!(words, Words::Plain(_)) => {
                self.annotation(&mut r.elem, &Words::Plain(refusals::static_data()))
            }
            Type::Reference(r) => self.annotation(&mut r.elem, words),
            Type::Paren(p) => self.annotation(&mut p.elem, words),
            Type::Group(g) => self.annotation(&mut g.elem, words),
            Type::Slice(s) => Ty::seq(self.annotation(&mut s.elem, words)),
            Type::Array(a) => {
                self.expr(&mut a.len);
                Ty::seq(self.annotation(&mut a.elem, words))
            }
            Type::Tuple(t) if t.elems.is_empty() => Ty::Other,
            Type::Tuple(t) => Ty::Tuple(t.elems.iter_mut().map(|e| self.annotation(e, words)).collect()),
            Type::Never(_) => Ty::Never,
            Type::Infer(_) => self.fresh_var(),
            Type::FnPtr(f) => {
                let args = f.inputs.iter_mut().map(|a| self.annotation(&mut a.ty, words)).collect();
                let ret = self.return_annotation(&mut f.output, words);
                Ty::Fn(args, Rc::new(ret))
            }
            Type::ImplTrait(t) => self.bounds_annotation(t.bounds.iter_mut(), words),
            Type::TraitObject(t) => self.bounds_annotation(t.bounds.iter_mut(), words),
            Type::Path(path) => {
                let parameter = path.path.get_ident().and_then(|name| self.type_parameters.get(&name.to_string()));
                if let Some(ty) = parameter {
                    return ty.clone();
                }
                if let Some(ty) = self.module_type(&mut path.path, words) {
                    return ty;
                }
                let Some(last) = path.path.segments.last_mut() else { return self.opaque_of(&[], path.span()) };
                let name = last.ident.to_string();
                match &mut last.arguments {
                    PathArguments::AngleBracketed(arguments) => {
                        let types: Vec<Ty> = arguments
                            .args
                            .iter_mut()
                            .filter_map(|a| match a {
                                GenericArgument::Type(t) => Some(t),
                                _ => None,
                            })
                            .enumerate()
                            .map(|(i, t)| match (name.as_str(), i) {
                                // A struct as an error is data: its numbers keep no derivatives.
                                ("Result", 1) if !mentions(t.to_token_stream(), "f64") => {
                                    self.annotation(t, &Words::Plain(refusals::error_value()))
                                }
                                _ => self.annotation(t, words),
                            })
                            .collect();
                        match (name.as_str(), types.first()) {
                            ("Option" | "Result" | "Range" | "RangeInclusive", Some(item)) => Ty::seq(item.clone()),
                            (name, Some(item)) if SEQUENCES.contains(&name) || ONCE.contains(&name) => {
                                Ty::seq(item.clone())
                            }
                            (name, Some(_)) if MAPS.contains(&name) => self.map_of(&types),
                            (name, Some(inner)) if WRAPPERS.contains(&name) => inner.clone(),
                            _ => self.opaque_same(&types, arguments.span()),
                        }
                    }
                    _ if OTHER.contains(&name.as_str()) => Ty::Other,
                    _ if TEXT.contains(&name.as_str()) => self.text_of(&[], path.span()),
                    _ => match words {
                        Words::Plain(why) => Ty::Opaque(self.graph.pinned(why)),
                        _ => self.opaque_of(&[], path.span()),
                    },
                }
            }
            _ => self.opaque_of(&[], ty.span()),
        }
    }

    /// An unknown type with arguments: all its numbers have one activity.
    fn opaque_same(&mut self, types: &[Ty], span: proc_macro2::Span) -> Ty {
        let acts: Vec<Act> = types.iter().flat_map(|ty| self.acts(ty)).collect();
        let act = match acts.first() {
            Some(first) => *first,
            None => self.graph.fresh(),
        };
        for other in acts {
            self.graph.same(other, act, span);
        }
        Ty::Opaque(act)
    }

    /// `impl Fn(f64) -> f64`, `impl Iterator<Item = f64>`.
    pub(super) fn bounds_annotation<'a>(
        &mut self,
        bounds: impl Iterator<Item = &'a mut TypeParamBound>,
        words: &Words,
    ) -> Ty {
        let mut found = Ty::Other;
        for bound in bounds {
            let TypeParamBound::Trait(bound) = bound else { continue };
            if let Some(ty) = self.module_type(&mut bound.path, words) {
                found = self.with_both(&found, ty, bound.span());
                continue;
            }
            let Some(last) = bound.path.segments.last_mut() else { continue };
            match &mut last.arguments {
                PathArguments::Parenthesized(f) => {
                    let args = f.inputs.iter_mut().map(|a| self.annotation(&mut a.ty, words)).collect();
                    let ret = self.return_annotation(&mut f.output, words);
                    found = Ty::Fn(args, Rc::new(ret));
                }
                PathArguments::AngleBracketed(a) => {
                    // `impl AsRef<[f64]>` is read as `[f64]`.
                    let is_converted =
                        ["AsRef", "AsMut", "Borrow", "BorrowMut", "Into"].iter().any(|name| last.ident == name);
                    for argument in &mut a.args {
                        match argument {
                            // `Mul<f64, Output = P>` says nothing of the type that is bounded.
                            GenericArgument::AssocType(assoc) if assoc.ident == "Output" && last.ident != "Index" => {}
                            GenericArgument::AssocType(assoc) => {
                                found = Ty::seq(self.annotation(&mut assoc.ty, words));
                            }
                            GenericArgument::Type(ty) if is_converted => found = self.annotation(ty, words),
                            _ => {}
                        }
                    }
                }
                PathArguments::None => {}
            }
        }
        found
    }

    pub(super) fn return_annotation(&mut self, output: &mut ReturnType, words: &Words) -> Ty {
        match output {
            ReturnType::Default => Ty::Other,
            ReturnType::Type(_, ty) => self.annotation(ty, words),
        }
    }

    pub(super) fn bind(&mut self, ident: &Ident, ty: Ty, by_value: bool) {
        let variable = Variable { ty, by_value, is_slice: false, is_wrapped: false };
        self.scopes.last_mut().expect("a scope is open while code is read").insert(ident.to_string(), variable);
    }

    /// Assigns types to the variables of a pattern.
    pub(super) fn pattern(&mut self, pat: &mut Pat, ty: &Ty, by_value: bool) {
        let span = pat.span();
        match pat {
            // Unit variants and constants look like variables.
            Pat::Ident(p) if p.ident.to_string().starts_with(char::is_uppercase) => {}
            Pat::Ident(p) => {
                let ident = p.ident.clone();
                if let Some((_, sub)) = &mut p.subpat {
                    self.pattern(sub, ty, by_value);
                }
                let by_value = by_value && p.by_ref.is_none();
                self.bind(&ident, ty.clone(), by_value);
            }
            Pat::Paren(p) => self.pattern(&mut p.pat, ty, by_value),
            Pat::Guard(p) => {
                self.pattern(&mut p.pat, ty, by_value);
                self.expr(&mut p.guard);
            }
            Pat::Reference(p) => self.pattern(&mut p.pat, ty, true),
            Pat::Type(p) => {
                let annotated = self.annotation(&mut p.ty, &Words::Open);
                self.unify(&annotated, ty, span);
                let by_value = !matches!(&*p.ty, Type::Reference(_));
                self.pattern(&mut p.pat, &annotated, by_value);
            }
            Pat::Tuple(p) => {
                let items = match self.resolve(ty) {
                    Ty::Tuple(items) if items.len() == p.elems.len() => items,
                    Ty::Var(v) if !p.elems.iter().any(|e| matches!(e, Pat::Rest(_))) => {
                        let items: Vec<Ty> = p.elems.iter().map(|_| self.fresh_var()).collect();
                        self.vars[v] = Some(Ty::Tuple(items.clone()));
                        items
                    }
                    other => {
                        let rest = self.opaque_of(&[other], span);
                        vec![rest; p.elems.len()]
                    }
                };
                for (elem, item) in p.elems.iter_mut().zip(items) {
                    self.pattern(elem, &item, false);
                }
            }
            Pat::Slice(p) => {
                let item = self.item_of(ty);
                for elem in &mut p.elems {
                    match elem {
                        // `[first, rest @ ..]`
                        Pat::Ident(rest) if matches!(&rest.subpat, Some((_, s)) if matches!(&**s, Pat::Rest(_))) => {
                            let ident = rest.ident.clone();
                            self.bind(&ident, Ty::seq(item.clone()), false);
                        }
                        elem => self.pattern(elem, &item, false),
                    }
                }
            }
            Pat::TupleStruct(p) => {
                if let Some(fields) = self.pattern_fields(&p.path, ty, span) {
                    for (elem, (_, field)) in p.elems.iter_mut().zip(&fields) {
                        self.pattern(elem, field, false);
                    }
                    return;
                }
                let known = p.path.segments.last().is_some_and(|s| s.ident == "Some" || s.ident == "Ok");
                let error = p.path.segments.last().is_some_and(|s| s.ident == "Err");
                let is_same = p.path.segments.last().is_some_and(|s| s.ident == "Reverse");
                let inner = if known {
                    self.item_of(ty)
                } else if is_same {
                    ty.clone()
                } else if error {
                    self.fresh_var()
                } else {
                    self.opaque_of(std::slice::from_ref(ty), span)
                };
                for elem in &mut p.elems {
                    self.pattern(elem, &inner, false);
                }
            }
            Pat::Struct(p) => {
                if let Some(fields) = self.pattern_fields(&p.path, ty, span) {
                    for field in &mut p.fields {
                        let name = quote::ToTokens::to_token_stream(&field.member).to_string();
                        if let Some((_, ty)) = fields.iter().find(|(n, _)| *n == name) {
                            self.pattern(&mut field.pat, ty, false);
                        }
                    }
                    return;
                }
                let inner = self.opaque_of(std::slice::from_ref(ty), span);
                for field in &mut p.fields {
                    self.pattern(&mut field.pat, &inner, false);
                }
            }
            Pat::Or(p) => {
                for case in &mut p.cases {
                    self.pattern(case, ty, by_value);
                }
            }
            Pat::Lit(p) if is_float(&p.lit) => self.refuse_float_pattern(ty, span),
            Pat::Range(p) => {
                let ends = [&p.start, &p.end].into_iter().flatten();
                let has_float = ends.into_iter().any(|e| matches!(&**e, syn::Expr::Lit(l) if is_float(&l.lit)));
                if has_float {
                    self.refuse_float_pattern(ty, span);
                }
            }
            _ => {}
        }
    }

    fn refuse_float_pattern(&mut self, ty: &Ty, span: proc_macro2::Span) {
        let acts: Vec<Act> = self.acts(ty);
        for act in acts {
            let message = "cannot match an active number against a pattern; write `if` with a comparison";
            self.checks.push((act, span, message.to_string()));
        }
    }
}

/// Whether the type is `&'static` data, such as `&'static [f64]`, not a function.
pub(super) fn is_static(r: &TypeReference) -> bool {
    let is_function = ["dyn", "fn", "impl"].iter().any(|word| mentions(r.elem.to_token_stream(), word));
    r.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static") && !is_function
}

/// Whether a literal is an `f64`.
pub(super) fn is_float(lit: &Lit) -> bool {
    match lit {
        Lit::Float(l) => l.suffix() != "f32",
        Lit::Int(l) => l.suffix() == "f64",
        _ => false,
    }
}
