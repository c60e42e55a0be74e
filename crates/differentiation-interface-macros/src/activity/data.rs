//! Data where active numbers are wanted: a table of constants, a row of measurements, a struct of them.
//!
//! Called where arguments, operands and values are read. A number is lifted where it is used. Data of several numbers is lifted as a whole, by
//! `container::lifted`, since a function may take active numbers in another call; never where that could lose what is written to the data.

use super::declared::{Module, Passing};
use super::graph::{Act, Graph};
use super::inference::Inference;
use super::marks::Mark;
use super::ty::Ty;
use super::unify::is_written_through;
use crate::number::mentions;
use crate::options::Traits;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Expr, Fields, GenericParam, Generics, Ident, Item, Type, UnOp, Variant};

impl Passing {
    /// For an argument of this type. None for a reference through which the function can write.
    pub(super) fn of(argument: &Type) -> Option<Passing> {
        match argument {
            _ if mentions(argument.to_token_stream(), "mut") => None,
            Type::Reference(_) => Some(Passing::Shared),
            Type::Path(_) | Type::Array(_) | Type::Tuple(_) => Some(Passing::Owned),
            _ => None,
        }
    }
}

impl Inference<'_> {
    /// Records that the value of `e` is an argument of type `expected`.
    pub(super) fn pass(&mut self, e: &mut Expr, ty: &Ty, expected: &Ty, passing: Option<Passing>) {
        // An argument of a type parameter: others of the same parameter have the same numbers.
        if let (Ty::Struct(..), Ty::Opaque(_)) = (self.resolve(ty), self.resolve(expected)) {
            return self.unify(ty, expected, e.span());
        }
        // `&mut data` goes to a type parameter or an alias too, which look like an argument by value.
        let passing = passing.filter(|_| !self.is_wrapped(e));
        let Some(passing) = passing.filter(|_| self.can_be_lifted(ty, expected)) else {
            return self.coerce(e, ty, expected);
        };
        // In `&DATA` the copy is made behind the reference.
        let is_borrowed = passing == Passing::Shared && !matches!(e, Expr::Reference(_));
        let acts = self.acts(expected);
        self.lift(e, ty, acts, is_borrowed);
    }

    /// Records that the value of `e` is a receiver, or an operand: by value or by reference, as it is written. None in `passing` says that the
    /// method may write to it.
    pub(super) fn operand(&mut self, e: &mut Expr, ty: &Ty, expected: &Ty, passing: Option<Passing>) {
        match passing {
            Some(_) => self.pass(e, ty, expected, Some(Passing::Owned)),
            None => self.unify(expected, ty, e.span()),
        }
    }

    /// Records that the items of `e` go to a sequence of items of type `item`: `v.extend(DATA)`, `x.iter().chain(&DATA)`.
    pub(super) fn joined(&mut self, e: &mut Expr, ty: &Ty, item: &Ty, passing: Passing) {
        let is_chain = matches!(e, Expr::MethodCall(_));
        let source = source(e);
        let is_named = matches!(behind(source), Expr::Path(_) | Expr::Field(_) | Expr::Index(_));
        if !self.is_data(ty) || !is_named {
            let of_source = self.item_of(ty);
            return self.unify(&of_source, item, e.span());
        }
        if let Ty::Var(v) = self.resolve(item) {
            let (of_source, act) = (self.item_of(ty), self.graph.fresh());
            let copy = self.replaced(&of_source, &mut |_| act);
            self.vars[v] = Some(copy);
        }
        self.pass(source, ty, &Ty::seq(item.clone()), Some(if is_chain { Passing::Owned } else { passing }));
    }

    /// Data that is copied to a new place, which may become active. Returns whether it is that.
    pub(super) fn copied(&mut self, e: &mut Expr, from: &Ty, to: &Ty) -> bool {
        if !matches!(from, Ty::Seq(_) | Ty::Tuple(_) | Ty::Struct(..)) || !self.is_data(from) || !self.is_copy(e) {
            return false;
        }
        let act = self.graph.fresh();
        match to {
            Ty::Var(v) => {
                let copy = self.replaced(from, &mut |_| act);
                self.vars[*v] = Some(copy);
                self.lift(e, from, vec![act], false);
            }
            _ if self.can_be_lifted(from, to) => {
                let acts = self.acts(to);
                self.lift(e, from, acts, false);
            }
            _ => return false,
        }
        true
    }

    /// Whether the expression certainly makes a copy of the data that it names.
    fn is_copy(&self, e: &Expr) -> bool {
        match e {
            Expr::Path(p) => {
                let variable = p.path.get_ident().and_then(|name| self.lookup(name));
                let of_type = self.constant(&p.path).is_some_and(|(_, (_, by_value))| *by_value);
                of_type || variable.is_some_and(|variable| variable.by_value)
            }
            Expr::MethodCall(m) => {
                m.args.is_empty() && ["clone", "to_vec", "to_owned"].iter().any(|name| m.method == name)
            }
            Expr::Unary(u) => matches!(u.op, UnOp::Deref(_)),
            Expr::Index(i) => !matches!(&*i.index, Expr::Range(_)),
            Expr::Paren(p) => self.is_copy(&p.expr),
            _ => false,
        }
    }

    /// Marks data that is lifted, all its numbers, if any of the activities is active.
    fn lift(&mut self, e: &mut Expr, ty: &Ty, acts: Vec<Act>, is_borrowed: bool) {
        assert!(!is_written_through(e), "what is written to a copy is lost");
        let to = self.graph.fresh();
        for act in acts {
            self.graph.same(act, to, e.span());
        }
        let mut types = Vec::new();
        structs(ty, &|ty| self.resolve(ty), &mut types);
        self.mark_expr(e, Mark::Data { to, types, is_borrowed });
    }

    /// Whether a value is data of constants, and a sequence, tuple or struct of numbers is expected.
    fn can_be_lifted(&self, ty: &Ty, expected: &Ty) -> bool {
        match self.resolve(expected) {
            Ty::Seq(_) | Ty::Tuple(_) => self.is_data(ty) && !matches!(self.resolve(ty), Ty::Float(_)),
            Ty::Struct(wanted, _) => matches!(self.resolve(ty), Ty::Struct(id, _) if id == wanted) && self.is_data(ty),
            _ => false,
        }
    }

    /// Whether all numbers of a value stay plain for a reason, and there are some.
    pub(super) fn is_data(&self, ty: &Ty) -> bool {
        let acts = self.acts(ty);
        !acts.is_empty() && acts.iter().all(|act| self.graph.reason(*act).is_some()) && self.is_liftable(ty)
    }

    fn is_liftable(&self, ty: &Ty) -> bool {
        match self.resolve(ty) {
            Ty::Float(_) | Ty::Opaque(_) | Ty::Other | Ty::Text(_) => true,
            Ty::Seq(item) => self.is_liftable(&item),
            Ty::Tuple(items) => items.iter().all(|item| self.is_liftable(item)),
            Ty::Struct(id, _) => self.module.types[id].is_plain,
            _ => false,
        }
    }
}

/// What an iterator runs over: `DATA` of `DATA.iter().rev()`.
fn source(e: &mut Expr) -> &mut Expr {
    const SAME: [&str; 7] = ["iter", "into_iter", "copied", "cloned", "rev", "skip", "take"];
    if !matches!(e, Expr::MethodCall(m) if SAME.iter().any(|name| m.method == name)) {
        return e;
    }
    match e {
        Expr::MethodCall(m) => source(&mut m.receiver),
        other => other,
    }
}

/// What a reference is taken of.
fn behind(e: &Expr) -> &Expr {
    match e {
        Expr::Reference(r) => behind(&r.expr),
        Expr::Paren(p) => behind(&p.expr),
        other => other,
    }
}

/// The structs and enums of the module in a type.
pub(super) fn structs(ty: &Ty, resolve: &impl Fn(&Ty) -> Ty, found: &mut Vec<usize>) {
    match resolve(ty) {
        Ty::Struct(id, _) => found.push(id),
        Ty::Seq(item) | Ty::Map(item) => structs(&item, resolve, found),
        Ty::Tuple(items) => items.iter().for_each(|item| structs(item, resolve, found)),
        Ty::Fn(arguments, result) => {
            arguments.iter().chain([&*result]).for_each(|part| structs(part, resolve, found));
        }
        _ => {}
    }
}

/// Implementations of `container::Data` for the types that are lifted, and those in their fields. `items` are as the user wrote them, but
/// for the marks.
pub(super) fn implementations(
    items: &[Item],
    module: &Module,
    graph: &Graph,
    marks: &[Mark],
    number: &Ident,
    krate: &Traits,
) -> Vec<Item> {
    let mut needed: Vec<usize> = Vec::new();
    for mark in marks {
        if let Mark::Data { to, types, .. } = mark
            && graph.is_active(*to)
        {
            needed.extend(types);
        }
    }
    let mut done: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    while let Some(id) = needed.pop() {
        let declared = &module.types[id];
        if done.contains(&id) || !graph.is_active(declared.flag) {
            continue;
        }
        done.push(id);
        for (_, ty) in declared.cases.values().flatten() {
            structs(ty, &Ty::clone, &mut needed);
        }
        // `Self::Disc { 0: field_0 } => Shape::Disc { 0: lifted(field_0) }`; a field without active numbers is cloned.
        let case = |own: TokenStream, made: TokenStream, name: &Ident, fields: &Fields| {
            let types = declared.cases.get(&name.to_string()).map_or(&[][..], Vec::as_slice);
            let (mut taken, mut copies) = (Vec::new(), Vec::new());
            for (member, (i, (_, ty))) in fields.members().zip(types.iter().enumerate()) {
                let field = format_ident!("field_{i}", span = Span::mixed_site());
                taken.push(quote!(#member: #field));
                copies.push(match has_numbers(ty, module, graph) {
                    true => quote!(#member: #krate::container::Data::<#number>::lifted(#field)),
                    false => quote!(#member: ::std::clone::Clone::clone(#field)),
                });
            }
            quote!(#own { #(#taken),* } => #made { #(#copies),* })
        };
        for item in items {
            match item {
                Item::Struct(s) if s.ident == declared.name => {
                    let name = &s.ident;
                    let cases = [case(quote!(Self), quote!(#name), name, &s.fields)];
                    found.push(implementation(name, &s.generics, &cases, number, krate));
                }
                Item::Enum(e) if e.ident == declared.name => {
                    let name = &e.ident;
                    let variants = e.variants.iter().map(|Variant { ident, fields, .. }| {
                        case(quote!(Self::#ident), quote!(#name::#ident), ident, fields)
                    });
                    found.push(implementation(name, &e.generics, &variants.collect::<Vec<_>>(), number, krate));
                }
                _ => {}
            }
        }
    }
    found
}

/// `impl<T: Real> Data<T> for Vector<f64>`.
fn implementation(name: &Ident, generics: &Generics, cases: &[TokenStream], number: &Ident, krate: &Traits) -> Item {
    let (parameters, clause) = (generics.params.iter(), &generics.where_clause);
    let arguments: Vec<TokenStream> = generics
        .params
        .iter()
        .map(|parameter| match parameter {
            GenericParam::Lifetime(p) => p.lifetime.to_token_stream(),
            GenericParam::Const(p) => p.ident.to_token_stream(),
            GenericParam::Type(p) => p.ident.to_token_stream(),
        })
        .collect();
    let bound = krate.bound();
    Item::Verbatim(quote! {
        #[doc(hidden)]
        impl<#(#parameters,)* #number: #bound> #krate::container::Data<#number> for #name<#(#arguments,)* f64> #clause {
            type Lifted = #name<#(#arguments,)* #number>;
            fn lifted(&self) -> Self::Lifted {
                match self {
                    #(#cases,)*
                }
            }
        }
    })
}

fn has_numbers(ty: &Ty, module: &Module, graph: &Graph) -> bool {
    match ty {
        Ty::Float(act) | Ty::Opaque(act) => graph.is_active(*act),
        Ty::Struct(id, act) => module.types[*id].has_numbers && graph.is_active(*act),
        Ty::Seq(item) => has_numbers(item, module, graph),
        Ty::Tuple(items) => items.iter().any(|item| has_numbers(item, module, graph)),
        _ => false,
    }
}
