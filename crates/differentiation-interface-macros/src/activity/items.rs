//! The items of a module or an `impl` block: their declarations, read before any body.
//!
//! Called by `make_items_generic`. Types and functions are entered in [`Module`], where `instances` finds them.

use super::annotations::Words;
use super::declared::{Access, CONTAINERS, ITERATOR, Passing, Scheme};
use super::forms;
use super::graph::Act;
use super::inference::{Inference, Variable};
use super::marks::Mark;
use super::refusals;
use super::ty::Ty;
use crate::number::{is_word, mentions, type_name};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use std::collections::HashMap;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{
    Block, FnArg, GenericArgument, GenericParam, Generics, ImplItem, ImplItemFn, Item, ItemImpl, ItemTrait,
    PathArguments, ReceiverKind, Signature, TraitItem, Type, TypeParam, TypeReference, Visibility,
};

/// The functions of a block whose arguments are active in any case.
#[derive(Clone, Copy)]
enum Roots {
    None,
    Public,
    All,
}

/// Whether the numbers of a trait become a parameter of it: it has no type parameter, or methods with `f64` beside those that it has.
pub(super) fn is_plain_trait(t: &ItemTrait) -> bool {
    let has_f64 = |item: &TraitItem| matches!(item, TraitItem::Fn(f) if mentions(f.sig.to_token_stream(), "f64"));
    t.generics.type_params().next().is_none() || t.items.iter().any(has_f64)
}

/// Whether the type of a block is one that traits of the module are implemented for although the module does not declare it: a container, a
/// pointer to an object of a trait, a type parameter.
pub(super) fn is_foreign(ty: &Type, generics: &Generics) -> bool {
    const NAMES: [&str; 6] = ["Vec", "Option", "VecDeque", "Box", "Rc", "Arc"];
    match ty {
        Type::Slice(_) | Type::Array(_) | Type::Tuple(_) | Type::TraitObject(_) | Type::FnPtr(_) => true,
        Type::Reference(r) => is_foreign(&r.elem, generics),
        ty => type_name(ty).is_some_and(|name| {
            NAMES.iter().any(|known| name == known) || generics.type_params().any(|p| p.ident == name)
        }),
    }
}

impl Inference<'_> {
    /// Reads all items: types, signatures, and at last the bodies.
    pub(super) fn items(&mut self, items: &mut [Item], has_object: &[bool]) {
        self.module.root = Some(self.graph.active());
        self.declare_types(items);
        self.refuse_hidden(items);
        self.refuse_overlaps(items);
        self.note_choices(items);
        for item in items.iter() {
            if let Item::Impl(block) = item
                && forms::is_of_constants(block)
            {
                self.declare_constants(block);
            }
        }
        let public = |vis: &Visibility| !matches!(vis, Visibility::Inherited);
        let has_public_functions =
            has_object.contains(&true) || items.iter().any(|i| matches!(i, Item::Fn(f) if public(&f.vis)));
        let is_public_method = |i: &ImplItem| matches!(i, ImplItem::Fn(f) if public(&f.vis));
        let has_public_methods =
            items.iter().any(|i| matches!(i, Item::Impl(block) if block.items.iter().any(is_public_method)));
        for (i, item) in items.iter_mut().enumerate() {
            match item {
                Item::Fn(function) if self.is_generic_already(&function.sig) => {
                    self.refuse_identity(function);
                    self.module.generic.push(function.sig.ident.to_string());
                    self.module.order.push_back(None);
                }
                Item::Fn(function) => {
                    let is_root = public(&function.vis)
                        || has_object.get(i) == Some(&true)
                        || !has_public_functions && !has_public_methods;
                    let scheme = self.declare(&mut function.sig, is_root, None);
                    let acts = self.own_acts(&scheme, &function.sig, &function.block);
                    let mark = self.add_mark(Mark::Nested(acts), function.sig.ident.span());
                    function.attrs.push(syn::parse_quote!(#[#mark]));
                    self.module.functions.insert(function.sig.ident.to_string(), scheme.clone());
                    self.module.order.push_back(Some(scheme));
                }
                Item::Impl(block) if self.is_generic_block(block) || forms::is_of_constants(block) => {
                    self.refuse_identity(block);
                    self.module.blocks.push_back(None);
                }
                Item::Impl(block) => {
                    let roots = if has_public_functions {
                        Roots::None
                    } else if has_public_methods {
                        Roots::Public
                    } else {
                        Roots::All
                    };
                    self.declare_block(block, roots);
                }
                Item::Const(c) => {
                    let words = Words::Plain(refusals::constant_item_of(&c.ident, &c.ty, self.is_copied(&c.ty)));
                    let ty = self.annotation(&mut c.ty.clone(), &words);
                    let (ident, by_value) = (c.ident.clone(), !matches!(&*c.ty, Type::Reference(_)));
                    self.bind(&ident, ty, by_value);
                }
                Item::Static(s) => {
                    let words = Words::Plain(refusals::constant_item(&s.ident));
                    let ty = self.annotation(&mut s.ty.clone(), &words);
                    let (ident, by_value) = (s.ident.clone(), !matches!(&*s.ty, Type::Reference(_)));
                    self.bind(&ident, ty, by_value);
                }
                Item::Trait(t) => self.declare_trait(t),
                _ => {}
            }
        }
        for item in items {
            match item {
                Item::Fn(function) => {
                    if let Some(scheme) = self.module.order.pop_front().flatten() {
                        self.function_body(&mut function.sig, &mut function.block, scheme);
                    }
                }
                Item::Impl(block) => self.block_bodies(block),
                Item::Trait(t) => self.trait_bodies(t),
                _ => {}
            }
        }
    }

    /// Whether a copy of a constant of this type is made of active numbers where it is needed.
    fn is_copied(&self, ty: &Type) -> bool {
        let id = type_name(ty).and_then(|name| self.module.names.get(&name.to_string()));
        id.is_none_or(|id| self.module.types[*id].is_plain)
    }

    /// Whether a block is generic as the user wrote it, and stays as it is: `impl<P: Copy> Stack<P>`, not `impl<F: Fn(f64) -> f64> Newton<F>`, nor
    /// `impl<L: Law> System<L>` with a trait of the module.
    fn is_generic_block(&self, block: &ItemImpl) -> bool {
        let has_types = block.generics.params.iter().any(|p| matches!(p, GenericParam::Type(_)));
        let (parameters, clause) = (&block.generics.params, &block.generics.where_clause);
        let ty = &block.self_ty;
        has_types && !self.names_numbers(quote!(#parameters #clause #ty))
    }

    /// Whether a function is generic as the user wrote it, and stays as it is.
    fn is_generic_already(&self, sig: &Signature) -> bool {
        // `fn sum<I: Iterator<Item = Self>>(values: I) -> Self`.
        let has_numbers = |this: &Ty| matches!(this, Ty::Struct(id, _) if self.module.types[*id].has_numbers);
        let names_self =
            self.module.this.get("Self").is_some_and(has_numbers) && mentions(sig.to_token_stream(), "Self");
        sig.generics.params.iter().any(|p| matches!(p, GenericParam::Type(_)))
            && !names_self
            && !self.names_numbers(sig.to_token_stream())
    }

    /// The type parameters with bounds that name numbers.
    pub(super) fn bounded_parameters(&self, generics: &Generics) -> Vec<String> {
        let clause = generics.where_clause.to_token_stream();
        let is_bounded = |p: &&TypeParam| {
            self.names_numbers(p.bounds.to_token_stream())
                || mentions(clause.clone(), &p.ident.to_string()) && self.names_numbers(clause.clone())
        };
        generics.type_params().filter(is_bounded).map(|p| p.ident.to_string()).collect()
    }

    /// Whether the tokens name `f64`, or a type, an alias or a trait of the module that has numbers.
    pub(super) fn names_numbers(&self, tokens: TokenStream) -> bool {
        let types = self.module.types.iter().filter(|t| t.has_numbers).map(|t| t.name.as_str());
        let aliases = self.module.aliases.keys().map(String::as_str);
        types.chain(aliases).chain(["f64"]).any(|name| mentions(tokens.clone(), name))
    }

    /// The same without types whose numbers are those of their parameters.
    fn names_own_numbers(&self, tokens: TokenStream) -> bool {
        let types = self.module.types.iter().filter(|t| t.has_numbers && !t.is_filled).map(|t| t.name.as_str());
        types.chain(["f64"]).any(|name| mentions(tokens.clone(), name))
    }

    /// Reads a signature. `this` is the type of the block, and whether its numbers have one activity (an `impl` of a trait).
    fn declare(&mut self, sig: &mut Signature, is_root: bool, this: Option<(&Ty, Option<Act>)>) -> Scheme {
        let outer = self.type_parameters.clone();
        // The numbers of a trait's method are those of the trait, also in the bounds of its type parameters.
        let of_parameters = this.and_then(|t| t.1).map_or(Words::Open, Words::As);
        self.declare_type_parameters(&mut sig.generics, &of_parameters);
        let mut open = match (this.and_then(|t| t.1), self.module.root) {
            (Some(act), _) => Words::As(act),
            (None, Some(root)) if is_root => Words::As(root),
            _ => Words::Open,
        };
        let mut arguments = Vec::new();
        let mut passing = Vec::new();
        let mut tells = Vec::new();
        let mut has_numbers = false;
        for argument in &mut sig.inputs {
            match argument {
                FnArg::Receiver(receiver) => {
                    arguments.push(this.map_or(Ty::Other, |t| t.0.clone()));
                    let is_written =
                        matches!(receiver.kind, ReceiverKind::Reference(_, _, Some(_)) | ReceiverKind::Typed(..));
                    passing.push((!is_written).then_some(Passing::Owned));
                }
                FnArg::Typed(argument) => {
                    passing.push(Passing::of(&argument.ty));
                    let is_constant = argument.attrs.iter().any(|a| a.path().is_ident("constant"));
                    let words = if is_constant {
                        let name = argument.pat.to_token_stream();
                        Words::Plain(refusals::constant_argument(name, &argument.ty))
                    } else {
                        open.clone()
                    };
                    tells.push(!is_constant && self.tells_number(&argument.ty));
                    let ty = self.annotation(&mut argument.ty, &words);
                    has_numbers |= !is_constant && !self.acts(&ty).is_empty();
                    arguments.push(ty);
                }
            }
        }
        if is_root && !has_numbers {
            open = Words::Open;
        }
        let result = self.return_annotation(&mut sig.output, &open);
        let type_parameters = Rc::new(std::mem::replace(&mut self.type_parameters, outer));
        let parameters = sig.generics.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_))).count();
        let has_receiver = matches!(sig.inputs.first(), Some(FnArg::Receiver(_)));
        let access = match sig.inputs.first() {
            Some(FnArg::Receiver(receiver)) => match receiver.kind {
                ReceiverKind::Reference(_, _, None) => Some(Access::Shared),
                ReceiverKind::Reference(_, _, Some(_)) => Some(Access::Mutable),
                ReceiverKind::Value => Some(Access::Value),
                _ => None,
            },
            _ => None,
        };
        let mut acts = self.acts(&Ty::Fn(arguments.clone(), Rc::new(result.clone())));
        let mut known = Vec::new();
        // What stays plain is the same in each call.
        acts.retain(|act| {
            self.graph.reason(*act).is_none() && !known.contains(act) && {
                known.push(*act);
                true
            }
        });
        Scheme {
            arguments,
            result,
            acts,
            type_parameters,
            parameters,
            has_own_number: false,
            has_receiver,
            access,
            of_trait: None,
            is_provided: false,
            passing,
            tells,
        }
    }

    /// The activities that make a function generic; it must not be `const` and the like then.
    fn own_acts(&mut self, scheme: &Scheme, sig: &Signature, block: &Block) -> Vec<Act> {
        let any = self.graph.fresh();
        for act in &scheme.acts {
            self.graph.flow(*act, any, Span::call_site());
        }
        // `const fn new(x: f64, y: f64) -> Self { Self { x, y } }` is const for any number.
        let mut sig = sig.clone();
        sig.constness = sig.constness.filter(|_| !refusals::only_constructs(block));
        for (span, message) in refusals::qualifiers(&sig) {
            self.checks.push((any, span, message.to_string()));
        }
        scheme.acts.clone()
    }

    /// The constants of a type.
    fn declare_constants(&mut self, block: &ItemImpl) {
        let Some(id) = type_name(&block.self_ty).and_then(|name| self.module.names.get(&name.to_string()).copied())
        else {
            return;
        };
        for item in &block.items {
            let ImplItem::Const(constant) = item else { continue };
            let is_copied = self.module.types[id].is_plain;
            let why = refusals::constant_item_of(&constant.ident, &constant.ty, is_copied);
            let this = Ty::Struct(id, self.graph.pinned(&why));
            self.module.this.insert("Self".to_string(), this);
            let ty = self.annotation(&mut constant.ty.clone(), &Words::Plain(why));
            let key = (self.module.types[id].name.clone(), constant.ident.to_string());
            self.module.constants.insert(key, (ty, !matches!(constant.ty, Type::Reference(_))));
        }
        self.module.this.clear();
    }

    /// Reads the head of a block and its signatures.
    fn declare_block(&mut self, block: &mut ItemImpl, roots: Roots) {
        let outer = self.type_parameters.clone();
        let this = self.declare_methods(block, roots);
        self.module.blocks.push_back(this.map(|this| (this, self.type_parameters.clone())));
        self.type_parameters = outer;
        self.module.this.clear();
    }

    /// Returns the type of the block, or none if it stays as it is.
    fn declare_methods(&mut self, block: &mut ItemImpl, roots: Roots) -> Option<Ty> {
        let of_numbers = self.number_block(block);
        let name = match of_numbers {
            Some(_) if !is_word(&block.self_ty, "f64") => CONTAINERS.to_string(),
            _ => type_name(&block.self_ty)?.to_string(),
        };
        let Some(id) = of_numbers.or_else(|| self.module.names.get(&name).copied()) else {
            if is_word(&block.self_ty, "f64") && block.trait_.is_some() && !self.is_moved(block) {
                self.errors.push(
                    block.self_ty.span(),
                    "cannot make this `impl .. for f64` generic; write a function, or a trait of the module",
                );
            }
            return None;
        };
        let declared = &self.module.types[id];
        if !declared.has_numbers && !declared.cases.is_empty() && mentions(block.self_ty.to_token_stream(), "f64") {
            // `impl Vector<f64>` of a `struct Vector<T>`, which is generic as the user wrote it.
            return None;
        }
        let of_module = block.trait_.as_ref().and_then(|(path, _)| self.trait_number(path));
        if let Some(of_trait) = of_module {
            let of_trait = self.module.types[of_trait].name.clone();
            self.module.implemented.entry(name.clone()).or_default().push(of_trait);
        }
        if block
            .trait_
            .as_ref()
            .is_some_and(|(path, _)| path.segments.last().is_some_and(|last| last.ident == ITERATOR))
        {
            self.module.implemented.entry(name.clone()).or_default().push(ITERATOR.to_string());
        }
        let is_bare = self.module.types[id].is_bare;
        let flag = match of_module {
            // The numbers of a type that has none of its own are those of the trait.
            Some(of_trait) if is_bare => self.module.types[of_trait].flag,
            _ => self.module.types[id].flag,
        };
        // The parameters with bounds that name numbers.
        let bounded: Vec<String> = match is_bare {
            true => self.bounded_parameters(&block.generics),
            false => Vec::new(),
        };
        self.declare_type_parameters(&mut block.generics, &Words::As(flag));
        let written = block.self_ty.to_token_stream();
        let names_f64 = block.trait_.as_ref().is_some_and(|(path, _)| mentions(path.to_token_stream(), "f64"));
        let this = self.annotation(&mut block.self_ty, &Words::As(flag));
        self.module.this.insert("Self".to_string(), this.clone());
        // The numbers of a trait of the module are those of the trait, others those of the type.
        let of_trait = block
            .trait_
            .as_ref()
            .map(|(path, _)| self.trait_number(path).map_or(flag, |id| self.module.types[id].flag));
        if let Some((path, _)) = &mut block.trait_ {
            match of_trait.filter(|_| self.trait_number(path).is_some()) {
                Some(act) => drop(self.module_type(path, &Words::As(act))),
                None => self.annotate_arguments(path, flag),
            }
        }
        let mut acts = vec![flag];
        acts.extend(of_trait);
        // `impl Ring<f64>` and `impl Mul<f64> for Pair<S>` name the number type themselves.
        let names_own = mentions(written, "f64") || names_f64;
        let is_moved = is_bare && of_module.is_none() && !names_own;
        let mark =
            self.add_mark(if is_moved { Mark::Methods(flag) } else { Mark::Block(acts) }, block.impl_token.span());
        block.attrs.push(syn::parse_quote!(#[#mark]));
        let of_type = of_trait.unwrap_or(flag);
        for item in &mut block.items {
            if let ImplItem::Type(t) = item {
                let ty = self.annotation(&mut t.ty, &Words::As(of_type));
                self.module.this.insert(t.ident.to_string(), ty);
            }
        }
        for item in &mut block.items {
            let ImplItem::Fn(method) = item else { continue };
            if name == "f64" && refusals::is_name_of_numbers(&method.sig.ident.to_string()) {
                let name = &method.sig.ident;
                let message =
                    format!("cannot tell `{name}` of this trait from the method of the numbers; give it another name");
                self.errors.push(method.sig.ident.span(), message);
            }
            if self.is_generic_already(&method.sig) {
                self.refuse_identity(method);
                if block.trait_.is_none() {
                    self.module.unread.insert((name.clone(), method.sig.ident.to_string()));
                }
                self.module.order.push_back(None);
                continue;
            }
            let is_root = match roots {
                Roots::None => false,
                Roots::Public => !matches!(method.vis, Visibility::Inherited),
                Roots::All => true,
            } && of_trait.is_none();
            let signature = method.sig.to_token_stream();
            let mut scheme = self.declare(&mut method.sig, is_root, Some((&this, of_trait)));
            scheme.has_own_number = is_moved
                && of_trait.is_none()
                && (self.names_own_numbers(signature.clone())
                    || bounded.iter().any(|parameter| mentions(signature.clone(), parameter)));
            if scheme.has_own_number && !scheme.acts.contains(&flag) {
                scheme.acts.push(flag);
            }
            scheme.access = scheme.access.filter(|_| !matches!(&*block.self_ty, Type::Reference(_)));
            // `impl Scale for &mut Vec<f64>` writes through `self`.
            if let (Type::Reference(TypeReference { mutability: Some(_), .. }), [receiver, ..], true) =
                (&*block.self_ty, &mut scheme.passing[..], scheme.has_receiver)
            {
                *receiver = None;
            }
            scheme.of_trait = block.trait_.as_ref().and_then(|(path, _)| Some(path.segments.last()?.ident.to_string()));
            let acts = self.own_acts(&scheme, &method.sig, &method.block);
            if scheme.has_own_number {
                let mark = self.add_mark(Mark::Nested(acts), method.sig.ident.span());
                method.attrs.push(syn::parse_quote!(#[#mark]));
            } else if of_trait.is_none() && !is_moved {
                let mark = self.add_mark(Mark::Method(acts, flag), method.sig.ident.span());
                method.attrs.push(syn::parse_quote!(#[#mark]));
            }
            let key = (name.clone(), method.sig.ident.to_string());
            self.module.methods.entry(key).or_default().push(scheme.clone());
            self.module.order.push_back(Some(scheme));
        }
        Some(this)
    }

    /// Reads the types in the angle brackets of a path, whose numbers have this activity.
    fn annotate_arguments(&mut self, path: &mut syn::Path, act: Act) {
        for segment in &mut path.segments {
            let PathArguments::AngleBracketed(arguments) = &mut segment.arguments else { continue };
            for argument in &mut arguments.args {
                if let GenericArgument::Type(ty) = argument {
                    self.annotation(ty, &Words::As(act));
                }
            }
        }
    }

    /// Whether `forms` has moved the body of a number's operator to the operand, a type of the module.
    fn is_moved(&self, block: &ItemImpl) -> bool {
        forms::number_operator(block)
            .and_then(|(_, operand)| type_name(operand))
            .is_some_and(|name| self.module.names.contains_key(&name.to_string()))
    }

    /// The trait of the module in `impl Trait for f64`, which becomes `impl<T: Real> Trait<T> for T`, and in `impl Trait for [f64]`.
    pub(super) fn number_block(&self, block: &ItemImpl) -> Option<usize> {
        let (path, _) = block.trait_.as_ref()?;
        let ty = &block.self_ty;
        let (parameters, clause) = (&block.generics.params, &block.generics.where_clause);
        let is_of_numbers = is_word(ty, "f64")
            || is_foreign(ty, &block.generics) && self.names_numbers(quote!(#parameters #clause #ty));
        // `impl From<Vector> for [f64; 2]` has the numbers of `Vector`.
        let of_argument = || {
            let PathArguments::AngleBracketed(list) = &path.segments.last()?.arguments else { return None };
            let mut types = list.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => type_name(ty),
                _ => None,
            });
            types.find_map(|name| {
                self.module.names.get(&name.to_string()).copied().filter(|id| self.module.types[*id].has_numbers)
            })
        };
        self.trait_number(path).or_else(|| of_argument().filter(|_| !is_word(ty, "f64"))).filter(|_| is_of_numbers)
    }

    /// The type of a trait of the module.
    fn trait_number(&self, path: &syn::Path) -> Option<usize> {
        let name = path.segments.last()?.ident.to_string();
        self.module.names.get(&name).copied()
    }

    /// A trait: all numbers of its methods have one activity, and its objects are values like those of a struct.
    fn declare_trait(&mut self, t: &mut ItemTrait) {
        if !is_plain_trait(t) {
            return;
        }
        let id = self.module.names[&t.ident.to_string()];
        let flag = self.module.types[id].flag;
        let mark = self.add_mark(Mark::Type(flag, self.module.is_bounded(&t.ident)), t.ident.span());
        t.attrs.push(syn::parse_quote!(#[#mark]));
        let this = self.enter_trait(t, id);
        self.declare_supertraits(t, &this, flag);
        for item in &t.items {
            let TraitItem::Const(constant) = item else { continue };
            if mentions(constant.ty.to_token_stream(), "Self") {
                self.checks.push((flag, constant.ident.span(), refusals::constant_of_trait(&constant.ident)));
            } else {
                self.module.of_traits.insert(constant.ident.to_string(), id);
            }
        }
        for item in &mut t.items {
            let TraitItem::Fn(method) = item else { continue };
            let mut scheme = self.declare(&mut method.sig, false, Some((&this, Some(flag))));
            (scheme.of_trait, scheme.is_provided) = (Some(t.ident.to_string()), true);
            if method.default.is_some() {
                let mark = self.add_mark(Mark::Bound(flag), method.sig.ident.span());
                method.attrs.push(syn::parse_quote!(#[#mark]));
            }
            let key = (t.ident.to_string(), method.sig.ident.to_string());
            self.module.methods.entry(key).or_default().push(scheme.clone());
            self.module.order.push_back(Some(scheme));
        }
        self.module.this.clear();
    }

    /// `Self` of a trait, and the types that its implementations choose.
    fn enter_trait(&mut self, t: &ItemTrait, id: usize) -> Ty {
        let flag = self.module.types[id].flag;
        let this = Ty::Struct(id, flag);
        self.module.this.insert("Self".to_string(), this.clone());
        for item in &t.items {
            if let TraitItem::Type(chosen) = item {
                self.module.this.insert(chosen.ident.to_string(), Ty::Opaque(flag));
            }
        }
        this
    }

    fn trait_bodies(&mut self, t: &mut ItemTrait) {
        let Some(&id) = self.module.names.get(&t.ident.to_string()) else { return };
        self.enter_trait(t, id);
        for item in &mut t.items {
            let TraitItem::Fn(method) = item else { continue };
            if let (Some(scheme), Some(block)) = (self.module.order.pop_front().flatten(), &mut method.default) {
                self.function_body(&mut method.sig, block, scheme);
            }
        }
        self.module.this.clear();
    }

    fn block_bodies(&mut self, block: &mut ItemImpl) {
        let Some((this, parameters)) = self.module.blocks.pop_front().flatten() else { return };
        self.module.this.insert("Self".to_string(), this);
        let outer = std::mem::replace(&mut self.type_parameters, parameters);
        for item in &mut block.items {
            let ImplItem::Fn(ImplItemFn { sig, block, .. }) = item else { continue };
            if let Some(scheme) = self.module.order.pop_front().flatten() {
                self.function_body(sig, block, scheme);
            }
        }
        self.type_parameters = outer;
        self.module.this.clear();
    }

    /// Reads the body of a function, and removes the marks of its arguments if no object needs them.
    fn function_body(&mut self, sig: &mut Signature, block: &mut Block, scheme: Scheme) {
        self.scopes.push(HashMap::new());
        for (argument, ty) in sig.inputs.iter_mut().zip(&scheme.arguments) {
            match argument {
                FnArg::Receiver(r) => {
                    let is_wrapped = matches!(r.kind, ReceiverKind::Reference(_, _, Some(_)));
                    let variable = Variable { ty: ty.clone(), by_value: false, is_slice: false, is_wrapped };
                    let scope = self.scopes.last_mut().expect("the scope of this body is open");
                    scope.insert(r.self_token.to_token_stream().to_string(), variable);
                }
                FnArg::Typed(argument) => {
                    let by_value = !matches!(&*argument.ty, Type::Reference(_));
                    self.pattern(&mut argument.pat, ty, by_value);
                    self.note_slice(&argument.pat, &argument.ty);
                    self.note_written(&argument.pat, &argument.ty);
                }
            }
        }
        self.returns.push(scheme.result.clone());
        let outer = std::mem::replace(&mut self.type_parameters, (*scheme.type_parameters).clone());
        self.block(block, Some(&scheme.result));
        self.type_parameters = outer;
        self.returns.pop();
        self.scopes.pop();
    }
}
