//! Paths to what a module declares: functions, methods, constructors, variants and constants.
//!
//! Called by `calls`. A method may be that of a trait: provided by it, or named with it, `<Air as Gas>::pressure`.

use super::annotations::Words;
use super::declared::{CONTAINERS, Declared, Passing, Scheme, inherent_first};
use super::graph::Act;
use super::inference::Inference;
use super::marks::Mark;
use super::ty::Ty;
use crate::number::type_name;
use quote::ToTokens;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{
    AngleBracketedGenericArguments, Expr, ExprPath, GenericArgument, Ident, Path, PathArguments, QSelf,
    parse_quote_spanned,
};

/// The type before `::name`: `Air` of `Air::pressure`, and of `<Air as Gas>::pressure`.
fn owner(p: &ExprPath) -> Option<String> {
    match &p.qself {
        Some(qself) => type_name(&qself.ty).map(|name| name.to_string()),
        None => p.path.segments.iter().rev().nth(1).map(|segment| segment.ident.to_string()),
    }
}

/// The trait of `<Air as Gas>::pressure`.
fn named_trait(p: &ExprPath) -> Option<String> {
    let position = p.qself.as_ref()?.position.checked_sub(1)?;
    p.path.segments.iter().nth(position).map(|segment| segment.ident.to_string())
}

impl Inference<'_> {
    /// The function or method of the module that the path names, and the type that has the method, unless it is none of the module. Of several, such as
    /// `From<f64>` and `From<[f64; 2]>`, the one that takes these arguments.
    fn scheme(&self, p: &ExprPath, arguments: &[Ty]) -> Option<(&Scheme, Option<usize>)> {
        let name = p.path.segments.last()?.ident.to_string();
        let owner = owner(p);
        if p.qself.is_none() && owner.as_deref().is_none_or(|owner| owner == "self") {
            return self.module.functions.get(&name).map(|scheme| (scheme, None));
        }
        let id = owner.as_deref().and_then(|owner| self.type_name_of(owner));
        let owner = match (id, owner.as_deref()) {
            (Some(id), _) => &self.module.types[id].name,
            (None, _) if p.qself.is_none() => return None,
            (None, Some("f64")) => "f64",
            _ => CONTAINERS,
        };
        let schemes = self.schemes(p, owner, &name);
        let fitting = schemes.iter().find(|scheme| self.takes(scheme, arguments));
        fitting.or(schemes.first()).map(|scheme| (*scheme, id))
    }

    /// The methods of this name that the type and its traits declare, or those of the trait that the path names.
    fn schemes(&self, p: &ExprPath, owner: &str, name: &str) -> Vec<&Scheme> {
        let of = |owner: &str| self.module.methods.get(&(owner.to_string(), name.to_string()));
        match named_trait(p) {
            None if self.module.is_unread(owner, name) => Vec::new(),
            None => {
                let found = self.module.owners(owner).iter().find_map(|owner| of(owner));
                inherent_first(found.into_iter().flatten().collect())
            }
            Some(of_trait) => {
                let own = of(owner).into_iter().flatten();
                let own: Vec<&Scheme> = own.filter(|scheme| scheme.of_trait.as_ref() == Some(&of_trait)).collect();
                if own.is_empty() { of(&of_trait).into_iter().flatten().collect() } else { own }
            }
        }
    }

    /// Whether the last argument is of the kind that the function takes.
    pub(super) fn takes(&self, scheme: &Scheme, arguments: &[Ty]) -> bool {
        match (scheme.arguments.last(), arguments.last()) {
            (Some(a), Some(b)) => std::mem::discriminant(&self.resolve(a)) == std::mem::discriminant(&self.resolve(b)),
            _ => true,
        }
    }

    /// Whether the path names several methods.
    pub(super) fn is_overloaded(&self, p: &ExprPath) -> bool {
        let (Some(owner), Some(last)) = (owner(p), p.path.segments.last()) else { return false };
        let owner = self.type_name_of(&owner).map(|id| self.module.types[id].name.as_str());
        owner.is_some_and(|owner| self.schemes(p, owner, &last.ident.to_string()).len() > 1)
    }

    /// How the function or method that the path names takes its arguments.
    pub(super) fn passing(&self, p: &ExprPath, arguments: &[Ty]) -> Vec<Option<Passing>> {
        self.scheme(p, arguments).map(|(scheme, _)| scheme.passing.clone()).unwrap_or_default()
    }

    /// A path to a function, method, constructor or variant of the module, as a value.
    pub(super) fn module_path(&mut self, p: &mut ExprPath, arguments: &[Ty]) -> Option<Ty> {
        let span = p.path.span();
        if let Some((scheme, owner)) = self.scheme(p, arguments).map(|(scheme, owner)| (scheme.clone(), owner)) {
            let (types, result, call) = self.instance(&scheme, span);
            let function = Ty::Fn(types, Rc::new(result));
            match owner {
                _ if p.qself.is_some() => self.qualify(p, call),
                Some(id) if !scheme.has_own_number => self.add_owner_argument(p, id, &scheme, call),
                _ => {
                    let arguments = &mut p.path.segments.last_mut()?.arguments;
                    if let PathArguments::AngleBracketed(list) = &mut *arguments {
                        for argument in &mut list.args {
                            if let GenericArgument::Type(ty) = argument
                                && self.names_numbers(ty.to_token_stream())
                            {
                                self.annotation(ty, &Words::As(call));
                            }
                        }
                    }
                    let others = if matches!(arguments, PathArguments::None) { scheme.parameters } else { 0 };
                    self.add_argument(arguments, Mark::Instance(scheme.acts.clone(), call, others), span);
                }
            }
            return Some(match owner {
                Some(id) => self.of_owner(&function, &scheme, id),
                None => function,
            });
        }
        let before = owner(p);
        if let Some(id) = self.default_of(p) {
            let act = if before.as_deref() == Some("Self") { self.module.types[id].flag } else { self.graph.fresh() };
            if p.qself.is_some() {
                self.qualify(p, act);
            } else if let Some(segment) =
                p.path.segments.iter_mut().rev().nth(1).filter(|segment| segment.ident != "Self")
            {
                self.add_type_argument(segment, id, act, span);
            }
            let whole = self.value_of(id, act);
            return Some(Ty::Fn(Vec::new(), Rc::new(whole)));
        }
        let path = &mut p.path;
        let last = path.segments.last()?.ident.to_string();
        let (id, fields) = self.case(path)?;
        let act = match before.as_deref().or(Some(&last)) {
            Some("Self") => self.module.types[id].flag,
            _ => self.graph.fresh(),
        };
        let whole = self.value_of(id, act);
        if let Some(segment) = path.segments.iter_mut().rev().nth(usize::from(before.is_some()))
            && segment.ident == self.module.types[id].name
        {
            self.add_type_argument(segment, id, act, span);
        }
        if fields.is_empty() {
            return Some(whole);
        }
        let fields = fields.iter().map(|(_, field)| self.field_type(id, act, field)).collect();
        Some(Ty::Fn(fields, Rc::new(whole)))
    }

    /// The type of a method that a trait provides, of the type that implements it: `Self` is that type.
    fn of_owner(&mut self, function: &Ty, scheme: &Scheme, id: usize) -> Ty {
        let of_trait = scheme.of_trait.as_ref().and_then(|name| self.module.names.get(name).copied());
        match of_trait {
            Some(of_trait) if scheme.is_provided => self.with_owner(function, of_trait, id),
            _ => function.clone(),
        }
    }

    fn with_owner(&mut self, ty: &Ty, of_trait: usize, id: usize) -> Ty {
        match self.resolve(ty) {
            Ty::Struct(of, act) if of == of_trait => self.value_of(id, act),
            Ty::Seq(item) => Ty::seq(self.with_owner(&item, of_trait, id)),
            Ty::Map(entry) => Ty::Map(Rc::new(self.with_owner(&entry, of_trait, id))),
            Ty::Tuple(items) => Ty::Tuple(items.iter().map(|item| self.with_owner(item, of_trait, id)).collect()),
            Ty::Fn(arguments, result) => {
                let arguments = arguments.iter().map(|ty| self.with_owner(ty, of_trait, id)).collect();
                Ty::Fn(arguments, Rc::new(self.with_owner(&result, of_trait, id)))
            }
            other => other,
        }
    }

    /// Adds the numbers of a call to the type in `Type::method`, and to the trait where that is named.
    fn add_owner_argument(&mut self, p: &mut ExprPath, id: usize, scheme: &Scheme, call: Act) {
        let span = p.path.span();
        let [segment, _] = &p.path.segments.iter().collect::<Vec<_>>()[..] else {
            if let Some(segment) = p.path.segments.iter_mut().rev().nth(1) {
                self.add_type_argument(segment, id, call, span);
            }
            return;
        };
        let is_parameter = self.type_parameters.contains_key(&segment.ident.to_string());
        if let Some(of_trait) = self.trait_to_name(id, scheme).filter(|_| !is_parameter) {
            let mut ty = Path::from((*segment).clone());
            let count = self.module.types[id].parameters;
            if let Some(last) = ty.segments.last_mut().filter(|last| count > 0 && last.arguments.is_none()) {
                // The constants that the type has as parameters are inferred.
                let constants = (0..count).map(|_| -> GenericArgument { parse_quote_spanned!(span=> _) });
                last.arguments = PathArguments::AngleBracketed(parse_quote_spanned!(span=> <#(#constants),*>));
            }
            if let Some(method) = p.path.segments.last() {
                self.note_named(id, &method.ident);
            }
            let name = Ident::new(&self.module.types[of_trait].name, span);
            let parsed: ExprPath = parse_quote_spanned!(span=> <#ty as #name>::method);
            let method = p.path.segments.last().cloned();
            p.qself = parsed.qself;
            p.path.segments = parsed.path.segments.into_iter().take(1).chain(method).collect();
            return self.add_type_argument(&mut p.path.segments[0], of_trait, call, span);
        }
        let Some(segment) = p.path.segments.iter_mut().rev().nth(1) else { return };
        if segment.ident == "Self" {
            // `Self` is the type of the block: active as soon as the type is generic.
            self.graph.flow(self.module.types[id].flag, call, span);
        } else {
            self.add_type_argument(segment, id, call, span);
        }
    }

    /// Gives the type and the trait in `<Type as Trait>::method` the numbers of a call.
    fn qualify(&mut self, p: &mut ExprPath, call: Act) {
        let span = p.path.span();
        let Some(QSelf { ty, position, .. }) = &mut p.qself else { return };
        let own = self.annotation(ty, &Words::As(call));
        // A type parameter, and `Self`, have their numbers already.
        for act in self.acts(&own) {
            self.graph.same(act, call, span);
        }
        let Some(segment) = position.checked_sub(1).and_then(|i| p.path.segments.get_mut(i)) else { return };
        match self.module.names.get(&segment.ident.to_string()).copied() {
            Some(of_trait) => self.add_type_argument(segment, of_trait, call, span),
            None => {
                if let PathArguments::AngleBracketed(list) = &mut segment.arguments {
                    self.argument_numbers(list, call);
                }
            }
        }
    }

    /// The constant of a type of the module that the path names, and whether it is a value.
    pub(super) fn constant(&self, path: &Path) -> Option<(usize, &(Ty, bool))> {
        let mut names = path.segments.iter().rev().map(|s| s.ident.to_string());
        let (name, owner) = (names.next()?, names.next()?);
        let id = self.type_name_of(&owner)?;
        self.module.constants.get(&(self.module.types[id].name.clone(), name)).map(|constant| (id, constant))
    }

    /// `Type::CONSTANT` or `Self::CONSTANT`: those of the type with `f64`.
    pub(super) fn constant_of_type(&mut self, path: &mut Path) -> Option<Ty> {
        let (id, (ty, _)) = self.constant(path)?;
        let ty = ty.clone();
        let segment = path.segments.iter_mut().rev().nth(1)?;
        if segment.ident == "Self" {
            segment.ident = Ident::new(&self.module.types[id].name, segment.ident.span());
        }
        self.plain_type(path);
        Some(ty)
    }

    /// `Type::CONSTANT` for a type without numbers, whose trait has numbers: that of the trait with `f64`, as any other has the same.
    pub(super) fn constant_of_trait(&mut self, path: &Path) -> Option<Expr> {
        let [owner, name] = &path.segments.iter().collect::<Vec<_>>()[..] else { return None };
        let id = self.type_name_of(&owner.ident.to_string())?;
        let of_trait = *self.module.of_traits.get(&name.ident.to_string())?;
        let Declared { name: trait_name, flag, has_numbers, .. } = &self.module.types[of_trait];
        let implemented = self.module.owners(&self.module.types[id].name);
        if !has_numbers || self.module.types[id].has_numbers || !implemented.contains(trait_name) {
            return None;
        }
        let (span, flag, trait_name) = (path.span(), *flag, Ident::new(trait_name, path.span()));
        let mut arguments = PathArguments::None;
        let act = self.graph.fresh();
        self.add_argument(&mut arguments, Mark::Argument(act, flag), span);
        let PathArguments::AngleBracketed(AngleBracketedGenericArguments { args, .. }) = arguments else { return None };
        let (owner, name) = (&owner.ident, &name.ident);
        Some(parse_quote_spanned!(span=> <#owner as #trait_name<#args>>::#name))
    }

    /// `Type::CONSTANT` for a type of the module: the type with `f64` has the constant too.
    pub(super) fn plain_type(&mut self, path: &mut Path) {
        let span = path.span();
        let Some(segment) = path.segments.iter_mut().rev().nth(1) else { return };
        if let Some(id) = self.type_name_of(&segment.ident.to_string()).filter(|_| segment.ident != "Self") {
            let act = self.graph.fresh();
            self.add_type_argument(segment, id, act, span);
        }
    }

    pub(super) fn type_name_of(&self, name: &str) -> Option<usize> {
        match (name, self.module.this.get("Self")) {
            ("Self", Some(Ty::Struct(id, _))) => Some(*id),
            _ => self.module.names.get(name).copied().or_else(|| {
                let alias = self.module.aliases.get(name).map(|(ty, _)| ty);
                match self.type_parameters.get(name).or(alias)? {
                    Ty::Struct(id, _) => Some(*id),
                    _ => None,
                }
            }),
        }
    }

    /// The type in `Type::default`, which it may derive.
    fn default_of(&self, p: &ExprPath) -> Option<usize> {
        p.path.segments.last().filter(|last| last.ident == "default")?;
        owner(p).and_then(|owner| self.type_name_of(&owner))
    }

    /// Whether the name is a function or type of the module, not hidden by a variable.
    pub(super) fn is_of_module(&self, p: &ExprPath) -> bool {
        let is_case = || p.qself.is_none() && self.case(&p.path).is_some();
        self.scheme(p, &[]).is_some() || is_case() || self.default_of(p).is_some()
    }
}
