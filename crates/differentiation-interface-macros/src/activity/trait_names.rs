//! Methods of types without numbers whose trait has numbers: `<Midpoint as Rule<T>>::weight(&rule)` for `rule.weight()`.
//!
//! Called by `instances` and `paths`. The type has the method for each number, so that the trait must be named where nothing else tells the number.
//! The method must be the one that the user's call means: that of a type comes before that of its traits, and that of a pointer before that of what
//! it points to. Where the analysis knows of another, the call stays as it is; a check in the generated code finds methods that it does not see.

use super::annotations::WRAPPERS;
use super::declared::{Access, Declared, Module, Scheme};
use super::generated::made_for;
use super::graph::Act;
use super::inference::Inference;
use super::refusals;
use super::ty::Ty;
use crate::number::{is_word, type_name};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::visit::{Visit, visit_item_impl};
use syn::{
    Expr, ExprMethodCall, ExprPath, ExprUnary, FnArg, Ident, ImplItem, Item, ItemImpl, ItemMod, PathArguments, Stmt,
    Type, UnOp, parse_quote_spanned,
};

/// Pointers beside those that are read as what they point to.
const GUARDS: [&str; 7] = ["Ref", "RefMut", "MutexGuard", "RwLockReadGuard", "RwLockWriteGuard", "Cow", "Pin"];

/// Whether the block is one of references or pointers: `impl<R: Rule> Rule for Box<R>`, also `impl<R: Law> Rule for R`.
fn is_of_pointers(block: &ItemImpl) -> bool {
    match &*block.self_ty {
        Type::Reference(_) => true,
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let is_pointer = WRAPPERS.iter().chain(&GUARDS).any(|name| last.ident == name);
            // `impl Rule for Box<dyn Rule>` is none of `Box<Midpoint>`.
            let is_of_objects = match &last.arguments {
                PathArguments::AngleBracketed(list) => {
                    list.args.iter().all(|a| matches!(a, syn::GenericArgument::Type(Type::TraitObject(_))))
                }
                _ => false,
            };
            is_pointer && !is_of_objects
                || block.generics.type_params().any(|p| is_word(&block.self_ty, &p.ident.to_string()))
        }),
        _ => false,
    }
}

/// The name of a method that calls the same method of what `self` points to: `(**self).weight()`, with its arguments.
fn handed_on(item: &ImplItem) -> Option<String> {
    let ImplItem::Fn(method) = item else { return None };
    let [Stmt::Expr(Expr::MethodCall(call), None)] = &method.block.stmts[..] else { return None };
    let Expr::Paren(receiver) = &*call.receiver else { return None };
    let Expr::Unary(ExprUnary { op: UnOp::Deref(_), expr, .. }) = &*receiver.expr else { return None };
    let is_behind = matches!(&**expr, Expr::Unary(ExprUnary { op: UnOp::Deref(_), expr, .. })
        if matches!(&**expr, Expr::Path(path) if path.path.is_ident("self")));
    let names = method.sig.inputs.iter().filter_map(|argument| match argument {
        FnArg::Typed(argument) => Some(argument.pat.to_token_stream().to_string()),
        FnArg::Receiver(_) => None,
    });
    let given = call.args.iter().map(|argument| argument.to_token_stream().to_string());
    (is_behind && call.method == method.sig.ident && names.eq(given)).then(|| call.method.to_string())
}

/// Finds the methods of types in the modules inside of one.
struct Inside<'m>(&'m mut Module);

impl Visit<'_> for Inside<'_> {
    fn visit_item_impl(&mut self, block: &ItemImpl) {
        if let (None, Some(name)) = (&block.trait_, type_name(&block.self_ty)) {
            for item in &block.items {
                if let ImplItem::Fn(method) = item {
                    self.0.unread.insert((name.to_string(), method.sig.ident.to_string()));
                }
            }
        }
        visit_item_impl(self, block);
    }
}

impl Inference<'_> {
    /// Notes what decides which method a call means.
    pub(super) fn note_choices(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Mod(ItemMod { content: Some((_, items)), .. }) => {
                    items.iter().for_each(|item| Inside(&mut self.module).visit_item(item));
                }
                Item::Impl(block) if is_of_pointers(block) => {
                    let name = block.trait_.as_ref().and_then(|(path, _)| path.segments.last());
                    let methods = block.items.iter().filter_map(handed_on).collect();
                    self.module.of_pointers.extend(name.map(|last| (last.ident.to_string(), methods)));
                }
                _ => {}
            }
        }
    }

    /// The trait of the module that has this method of a type without numbers of its own, if the trait has numbers.
    pub(super) fn trait_to_name(&self, id: usize, scheme: &Scheme) -> Option<usize> {
        let of_trait = *self.module.names.get(scheme.of_trait.as_ref()?)?;
        let is_told = self.module.types[id].has_numbers || !self.module.types[of_trait].has_numbers;
        (of_trait != id && !is_told).then_some(of_trait)
    }

    /// Notes that a call of the type's method names the trait.
    pub(super) fn note_named(&mut self, id: usize, method: &Ident) {
        if !self.module.with_trait.iter().any(|(of, name)| *of == id && name == method) {
            self.module.with_trait.push((id, method.clone()));
        }
    }

    /// `<Midpoint as Rule<T>>::weight(&rule)` in place of `rule.weight()`, where nothing else may tell the number.
    pub(super) fn with_trait(&mut self, m: &ExprMethodCall, id: usize, scheme: &Scheme, call: Act) -> Option<Expr> {
        let of_trait = self.trait_to_name(id, scheme)?;
        let Declared { name, parameters, is_copy, cases, .. } = &self.module.types[id];
        let trait_name = &self.module.types[of_trait].name;
        // Of several methods of one name the compiler chooses.
        let own = self.module.methods.get(&(name.clone(), m.method.to_string()));
        let is_chosen = own.is_some_and(|own| own.len() > 1);
        let is_told =
            m.args.iter().zip(&scheme.tells).any(|(argument, tells)| *tells && self.is_of_known_type(argument));
        // `vec![Box::new(Linear), Power { n: 3 }.boxed()]` is told by what the object is put into.
        let is_object =
            matches!(self.resolve(&scheme.result), Ty::Struct(of, _) if self.module.types[of].cases.is_empty());
        let is_told = is_told || is_object && !matches!(scheme.access, Some(Access::Shared));
        if cases.is_empty() || is_chosen || is_told {
            return None;
        }
        let span = made_for(m);
        let (ty, of) = (Ident::new(name, span), Ident::new(trait_name, span));
        // The constants that the type has as parameters are inferred.
        let constants = (0..*parameters).map(|_| quote_spanned!(span=> _));
        let ty = quote_spanned!(span=> #ty<#(#constants),*>);
        let (method, turbofish, receiver, arguments) = (&m.method, &m.turbofish, &m.receiver, &m.args);
        // An error points at the call.
        let krate = self.krate.to_token_stream().into_iter().map(|mut token| {
            token.set_span(span);
            token
        });
        let krate = TokenStream::from_iter(krate);
        let itself = quote_spanned!(span=> #krate::receiver::Receiver::<#ty>::receiver(&#receiver));
        let is_reference = matches!(&**receiver, Expr::Path(_)) && self.is_wrapped(receiver);
        let receiver = match (scheme.access?, self.module.is_of_pointers(trait_name, &m.method.to_string())) {
            (Access::Shared, true) => itself,
            (Access::Shared, false) => quote_spanned!(span=> &#receiver),
            (Access::Mutable, false) if is_reference => quote_spanned!(span=> &mut *#receiver),
            (Access::Mutable, false) => quote_spanned!(span=> &mut #receiver),
            (Access::Value, false) if *is_copy => quote_spanned!(span=> *#krate::receiver::behind::<#ty>(&#receiver)),
            (Access::Value, false) => receiver.to_token_stream(),
            (Access::Mutable | Access::Value, true) => return None,
        };
        let mut path: ExprPath = parse_quote_spanned!(span=> <#ty as #of>::#method #turbofish);
        self.add_type_argument(&mut path.path.segments[0], of_trait, call, span);
        self.note_named(id, method);
        Some(parse_quote_spanned!(span=> #path(#receiver, #arguments)))
    }

    /// Whether an argument of this type tells the number of a trait: it names the number, outside of functions and what is known by a trait only.
    pub(super) fn tells_number(&self, ty: &Type) -> bool {
        match ty {
            Type::Reference(r) => self.tells_number(&r.elem),
            Type::Paren(p) => self.tells_number(&p.elem),
            Type::Group(g) => self.tells_number(&g.elem),
            Type::Slice(s) => self.tells_number(&s.elem),
            Type::Array(a) => self.tells_number(&a.elem),
            Type::Tuple(t) => t.elems.iter().any(|ty| self.tells_number(ty)),
            _ if is_word(ty, "f64") => true,
            Type::Path(path) => path.path.segments.last().is_some_and(|last| {
                let name = last.ident.to_string();
                let declared = self.module.names.get(&name).map(|id| &self.module.types[*id]);
                let is_told = declared.is_some_and(|ty| ty.has_numbers && !ty.is_bare && !ty.cases.is_empty());
                let is_alias =
                    || matches!(self.module.aliases.get(&name), Some((Ty::Float(_) | Ty::Seq(_) | Ty::Tuple(_), _)));
                is_told
                    || is_alias()
                    || match &last.arguments {
                        PathArguments::AngleBracketed(list) => list.args.iter().any(|argument| match argument {
                            syn::GenericArgument::Type(ty) => self.tells_number(ty),
                            _ => false,
                        }),
                        _ => false,
                    }
            }),
            _ => false,
        }
    }

    /// Whether the compiler certainly knows the numbers of an expression by itself: not those of `2.0`, nor of `v.iter().sum()`.
    fn is_of_known_type(&self, e: &Expr) -> bool {
        match e {
            Expr::Path(_) | Expr::Field(_) => true,
            Expr::Index(i) => self.is_of_known_type(&i.expr),
            Expr::Paren(p) => self.is_of_known_type(&p.expr),
            Expr::Unary(u) => self.is_of_known_type(&u.expr),
            Expr::Reference(r) => self.is_of_known_type(&r.expr),
            Expr::Binary(b) => {
                let is_literal = |e: &Expr| matches!(e, Expr::Lit(_));
                let (left, right) = (self.is_of_known_type(&b.left), self.is_of_known_type(&b.right));
                left && (right || is_literal(&b.right)) || right && is_literal(&b.left)
            }
            Expr::MethodCall(m) => {
                self.is_of_known_type(&m.receiver) && refusals::is_float_method(&m.method.to_string())
            }
            // A mark.
            Expr::Call(call) => {
                super::marks::marked(call).is_some() && call.args.iter().all(|e| self.is_of_known_type(e))
            }
            _ => false,
        }
    }
}

/// Checks in the generated code that the types have no other methods of the names whose trait is named: a constant of the same name is found by
/// the path unless the type itself has a method.
pub(super) fn checks(items: &[Item], module: &Module) -> Vec<Item> {
    let mut found = Vec::new();
    for (id, method) in &module.with_trait {
        let name = &module.types[*id].name;
        let declared = items.iter().find_map(|item| match item {
            Item::Struct(s) if s.ident == name => Some((&s.ident, &s.generics)),
            Item::Enum(e) if e.ident == name => Some((&e.ident, &e.generics)),
            _ => None,
        });
        let Some((ty, generics)) = declared else { continue };
        let span = made_for(method);
        let (method, ty) = (Ident::new(&method.to_string(), span), Ident::new(&ty.to_string(), span));
        let (parameters, arguments, clause) = generics.split_for_impl();
        let message = refusals::other_method(&method, &ty);
        let around = Ident::new("super", span);
        found.push(Item::Verbatim(quote_spanned! {span=>
            const _: () = {
                #[allow(dead_code, non_upper_case_globals)]
                mod check {
                    pub(super) struct None;
                    #[diagnostic::on_unimplemented(message = #message, label = "the trait has this method too")]
                    pub(super) trait IsNone {}
                    impl IsNone for None {}
                    // No other trait is in scope.
                    #[no_implicit_prelude]
                    mod paths {
                        trait Other {
                            const #method: #around::None = #around::None;
                        }
                        impl<X> Other for X {}
                        fn is_none(_: impl #around::IsNone) {}
                        fn check #parameters () #clause {
                            is_none(<#around::#around::#ty #arguments>::#method);
                        }
                    }
                }
            };
        }));
    }
    found
}
