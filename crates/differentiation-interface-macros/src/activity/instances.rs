//! Uses of a module's types and functions: values of its structs and enums, calls of its functions and methods.
//!
//! Called by the files that read types, patterns and expressions. Each use of a type has an activity of its own, and each call
//! of a function decides on its own whether it is a call with active numbers: `damping::<T>` or `damping::<f64>`.

use super::annotations::Words;
use super::declared::{CONTAINERS, Passing, Scheme, inherent_first};
use super::forms::number_operation;
use super::graph::Act;
use super::inference::Inference;
use super::marks::Mark;
use super::ty::Ty;
use crate::number::type_name;
use proc_macro2::Span;
use quote::ToTokens;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{
    AngleBracketedGenericArguments, Expr, ExprBinary, ExprMethodCall, ExprUnary, GenericArgument, Path, PathArguments,
    PathSegment, UnOp, parse_quote_spanned,
};

impl Inference<'_> {
    /// A value of the type, all numbers of which have this activity.
    pub(super) fn value_of(&mut self, id: usize, act: Act) -> Ty {
        let declared = &self.module.types[id];
        if declared.has_numbers {
            let flag = declared.flag;
            self.graph.flow(act, flag, Span::call_site());
        }
        Ty::Struct(id, act)
    }

    /// The type with other activities.
    pub(super) fn replaced(&mut self, ty: &Ty, by: &mut impl FnMut(Act) -> Act) -> Ty {
        match self.resolve(ty) {
            Ty::Float(a) => Ty::Float(by(a)),
            Ty::Opaque(a) => Ty::Opaque(by(a)),
            Ty::Struct(id, a) => {
                let act = by(a);
                self.value_of(id, act)
            }
            Ty::Seq(item) => Ty::seq(self.replaced(&item, by)),
            Ty::Map(entry) => Ty::Map(Rc::new(self.replaced(&entry, by))),
            Ty::Tuple(items) => Ty::Tuple(items.iter().map(|t| self.replaced(t, by)).collect()),
            Ty::Fn(arguments, result) => {
                let arguments = arguments.iter().map(|t| self.replaced(t, by)).collect();
                Ty::Fn(arguments, Rc::new(self.replaced(&result, by)))
            }
            other => other,
        }
    }

    /// A written type that the module declares, `Self`, or an associated type.
    pub(super) fn module_type(&mut self, path: &mut Path, words: &Words) -> Option<Ty> {
        let span = path.span();
        let last = path.segments.last_mut()?;
        let name = last.ident.to_string();
        if last.ident == "Self" || path.segments.len() == 2 && path.segments[0].ident == "Self" {
            return self.module.this.get(&name).cloned();
        }
        let last = path.segments.last_mut()?;
        let alias = self.module.aliases.get(&name).cloned();
        let id = self.module.names.get(&name).copied();
        if alias.is_none() && id.is_none() {
            return None;
        }
        let act = match words {
            Words::Open => self.graph.fresh(),
            Words::As(act) => *act,
            Words::Plain(why) => self.graph.pinned(why),
            Words::Active => self.graph.active(),
        };
        if let Some((ty, placeholder)) = alias {
            self.add_argument(&mut last.arguments, Mark::Argument(act, placeholder), span);
            return Some(self.replaced(&ty, &mut |a| if a == placeholder { act } else { a }));
        }
        let id = id?;
        if let (PathArguments::None, [_, ..]) = (&last.arguments, &self.module.types[id].defaults[..]) {
            let defaults = &self.module.types[id].defaults;
            last.arguments = PathArguments::AngleBracketed(parse_quote_spanned!(span=> <#(#defaults),*>));
        }
        if let PathArguments::AngleBracketed(list) = &mut last.arguments {
            self.argument_numbers(list, act);
            for argument in &mut list.args {
                if let GenericArgument::AssocType(assoc) = argument {
                    self.annotation(&mut assoc.ty, &Words::As(act));
                }
            }
        }
        if !self.module.types[id].is_bare {
            self.add_argument(&mut last.arguments, Mark::Argument(act, self.module.types[id].flag), span);
        }
        Some(self.value_of(id, act))
    }

    /// Gives the types that the user wrote as arguments of a type the numbers of that type.
    pub(super) fn argument_numbers(&mut self, list: &mut AngleBracketedGenericArguments, act: Act) {
        let span = list.span();
        for argument in &mut list.args {
            let GenericArgument::Type(ty) = argument else { continue };
            // The numbers of a parameter are those of the type: `F` in `Newton<F>`.
            let parameter = type_name(ty).and_then(|name| self.type_parameters.get(&name.to_string()).cloned());
            match parameter {
                Some(parameter) => {
                    for of_parameter in self.acts(&parameter) {
                        self.graph.same(of_parameter, act, span);
                    }
                }
                None if self.names_numbers(ty.to_token_stream()) => drop(self.annotation(ty, &Words::As(act))),
                None => {}
            }
        }
    }

    /// Adds the argument of a type of the module, or of its alias, in an expression, where the compiler infers the others.
    pub(super) fn add_type_argument(&mut self, segment: &mut PathSegment, id: usize, act: Act, span: Span) {
        if let Some(Ty::Struct(_, own)) = self.type_parameters.get(&segment.ident.to_string()) {
            // `L::new()` in a function with `L: Law`: the numbers are those of `L`.
            return self.graph.same(*own, act, span);
        }
        let arguments = &mut segment.arguments;
        if let Some((_, alias)) = self.module.aliases.get(&segment.ident.to_string()) {
            return self.add_argument(arguments, Mark::Argument(act, *alias), span);
        }
        // `Ring::<f64>::new()`, `Mixture::<Normal>::new(mean)`.
        if let PathArguments::AngleBracketed(list) = &mut *arguments {
            self.argument_numbers(list, act);
        }
        let declared = &self.module.types[id];
        if declared.is_bare {
            return;
        }
        let others = if matches!(arguments, PathArguments::None) { declared.parameters } else { 0 };
        let mark = Mark::Instance(vec![declared.flag], act, others);
        self.add_argument(arguments, mark, span);
    }

    /// Adds a marked argument after the types that the user wrote.
    pub(super) fn add_argument(&mut self, arguments: &mut PathArguments, mark: Mark, span: Span) {
        let name = self.add_mark(mark, span);
        match arguments {
            // Before `Out = [f64; 2]`.
            PathArguments::AngleBracketed(list) => {
                let is_argument = |a: &&GenericArgument| {
                    matches!(a, GenericArgument::Lifetime(_) | GenericArgument::Type(_) | GenericArgument::Const(_))
                };
                let at = list.args.iter().take_while(is_argument).count();
                list.args.insert(at, parse_quote_spanned!(span=> #name));
            }
            _ => {
                let list: AngleBracketedGenericArguments = parse_quote_spanned!(span=> ::<#name>);
                *arguments = PathArguments::AngleBracketed(list);
            }
        }
    }

    /// The type that declares a struct or variant of this name, and the fields. `path` names it in an expression or pattern.
    pub(super) fn case(&self, path: &Path) -> Option<(usize, Vec<(String, Ty)>)> {
        let last = path.segments.last()?.ident.to_string();
        let before = path.segments.iter().rev().nth(1).map(|s| s.ident.to_string());
        let of_name = |name: &str| self.type_name_of(name);
        let by_type = before.as_deref().and_then(of_name);
        let itself = of_name(&last);
        let mut imported = (0..self.module.types.len()).filter(|&i| self.module.types[i].cases.contains_key(&last));
        let id = by_type.or(itself).or_else(|| imported.next().filter(|_| before.is_none()))?;
        let case = if by_type.is_none() && itself.is_some() { self.module.types[id].name.clone() } else { last };
        self.module.types[id].cases.get(&case).map(|fields| (id, fields.clone()))
    }

    /// The type of a field of a value with this activity.
    pub(super) fn field_type(&mut self, id: usize, act: Act, field: &Ty) -> Ty {
        let flag = self.module.types[id].flag;
        self.replaced(field, &mut |a| if a == flag { act } else { a })
    }

    /// The fields of a pattern `Path { .. }` or `Path(..)` for a value of type `ty`.
    pub(super) fn pattern_fields(&mut self, path: &Path, ty: &Ty, span: Span) -> Option<Vec<(String, Ty)>> {
        let (id, fields) = self.case(path)?;
        let act = match self.resolve(ty) {
            // Fields of constants are constants too.
            Ty::Struct(of, act) if of == id => act,
            _ => {
                let act = self.graph.fresh();
                let whole = self.value_of(id, act);
                self.unify(&whole, ty, span);
                act
            }
        };
        Some(fields.into_iter().map(|(name, field)| (name, self.field_type(id, act, &field))).collect())
    }

    /// `base.field`, if the type of the base is known or the name belongs to one type only.
    pub(super) fn field(&mut self, base: &Ty, name: &str, span: Span) -> Option<Ty> {
        let found = |this: &Self, id: usize| -> Option<Ty> {
            let cases = &this.module.types[id].cases;
            cases.get(&this.module.types[id].name)?.iter().find(|(n, _)| n == name).map(|(_, ty)| ty.clone())
        };
        match self.resolve(base) {
            Ty::Struct(id, act) => {
                let field = found(self, id)?;
                Some(self.field_type(id, act, &field))
            }
            Ty::Var(_) => {
                let owners: Vec<usize> = (0..self.module.types.len()).filter(|&i| found(self, i).is_some()).collect();
                let [id] = owners[..] else { return None };
                let field = found(self, id)?;
                let act = self.graph.fresh();
                let whole = self.value_of(id, act);
                self.unify(base, &whole, span);
                Some(self.field_type(id, act, &field))
            }
            _ => None,
        }
    }

    /// `Path { field: value, .. }`.
    pub(super) fn struct_literal(&mut self, s: &mut syn::ExprStruct) -> Option<Ty> {
        let span = s.span();
        let (id, fields) = self.case(&s.path)?;
        let act = self.graph.fresh();
        let whole = self.value_of(id, act);
        for value in &mut s.fields {
            let name = match &value.member {
                syn::Member::Named(name) => name.to_string(),
                syn::Member::Unnamed(i) => i.index.to_string(),
            };
            let expected = fields.iter().find(|(n, _)| *n == name).map(|(_, ty)| ty.clone());
            let ty = self.expr(&mut value.expr);
            if let Some(expected) = expected {
                let expected = self.field_type(id, act, &expected);
                self.coerce(&mut value.expr, &ty, &expected);
            }
            value.colon_token.get_or_insert_with(Default::default);
        }
        if let Some(segment) = s.path.segments.last_mut().filter(|segment| !segment.arguments.is_none()) {
            self.add_type_argument(segment, id, act, span);
        }
        if let Some(rest) = &mut s.rest {
            let ty = self.expr(rest);
            self.operand(rest, &ty, &whole, Some(Passing::Owned));
        }
        if s.path.is_ident("Self")
            && let Some(this) = self.module.this.get("Self").cloned()
        {
            self.unify(&this, &whole, span);
        }
        Some(whole)
    }

    /// A literal of a struct that is declared elsewhere. If a field is active, the compiler infers what it expects of plain numbers.
    pub(super) fn unknown_literal(&mut self, e: &mut Expr) -> Ty {
        let span = e.span();
        let Expr::Struct(s) = &mut *e else { return Ty::Other };
        let mut types = Vec::new();
        let mut exact = Vec::new();
        let mut plain = Vec::new();
        for (i, field) in s.fields.iter_mut().enumerate() {
            let ty = self.expr(&mut field.expr);
            if let Some(act) = self.exact(&field.expr, &ty) {
                plain.push((i, act));
                exact.push((i, act));
            }
            types.push(ty);
            field.colon_token.get_or_insert_with(Default::default);
        }
        if let Some(rest) = &mut s.rest {
            types.push(self.expr(rest));
        }
        let result = self.opaque_of(&types, span);
        if let Ty::Opaque(call) = result {
            for (i, from) in plain {
                let value = &mut s.fields[i].expr;
                if self.is_value(value) {
                    self.mark_expr(value, Mark::Inferred { from, call });
                }
            }
        }
        let name = s.path.segments.last().map(|s| s.ident.clone());
        self.named(e, name, &result, exact);
        result
    }

    /// One call of a function: arguments, result, and the activity of the call.
    pub(super) fn instance(&mut self, scheme: &Scheme, span: Span) -> (Vec<Ty>, Ty, Act) {
        let call = self.graph.fresh();
        let here: Vec<(Act, Act)> = scheme.acts.iter().map(|&act| (act, self.graph.fresh())).collect();
        for &(act, own) in &here {
            self.graph.flow(own, act, span);
            self.graph.flow(own, call, span);
            self.graph.both(call, act, own, span);
        }
        let mut by = |a: Act| here.iter().find(|(act, _)| *act == a).map_or(a, |(_, own)| *own);
        let arguments = scheme.arguments.iter().map(|t| self.replaced(t, &mut by)).collect();
        let result = self.replaced(&scheme.result, &mut by);
        (arguments, result, call)
    }

    /// The method of a type, or the only one of this name if the type is not known.
    fn method_scheme(&self, receiver: &Ty, name: &str, arguments: &[Ty]) -> Option<Scheme> {
        let of = |own: &str| -> Option<Vec<&Scheme>> {
            if self.module.is_unread(own, name) {
                return None;
            }
            // A method with a body in a trait is one of the types that implement it, and of the traits it is a supertrait of.
            let owners = self.module.owners(own);
            let schemes = owners.into_iter().find_map(|owner| self.module.methods.get(&(owner, name.to_string())))?;
            Some(inherent_first(schemes.iter().collect()))
        };
        let candidates: Vec<&Scheme> = match receiver {
            Ty::Struct(id, _) => of(&self.module.types[*id].name)?,
            // Methods of numbers and containers that the module adds by a trait.
            Ty::Float(_) => of("f64")?,
            Ty::Seq(_) | Ty::Tuple(_) => of(CONTAINERS)?,
            Ty::Var(_) | Ty::Opaque(_) | Ty::Other | Ty::Text(_) => {
                let of_name = self.module.methods.iter().filter(|((_, n), _)| n == name);
                let all: Vec<&Scheme> = of_name.flat_map(|(_, schemes)| schemes).collect();
                if all.len() != 1 {
                    return None;
                }
                all
            }
            _ => return None,
        };
        let fitting = candidates.iter().find(|scheme| self.takes(scheme, arguments));
        fitting.or(candidates.first()).map(|s| (*s).clone())
    }

    /// Whether the value is of a type of the module with a method of this name.
    pub(super) fn has_method(&self, receiver: &Ty, name: &str) -> bool {
        let Ty::Struct(id, _) = receiver else { return false };
        let owners = self.module.owners(&self.module.types[*id].name);
        owners.into_iter().any(|owner| self.module.methods.contains_key(&(owner, name.to_string())))
    }

    /// `receiver.name(arguments)` for a method of the module: its type, and how it is called where it must be written in another way.
    pub(super) fn module_method(
        &mut self,
        m: &mut ExprMethodCall,
        receiver: &Ty,
        name: &str,
    ) -> Option<(Ty, Option<Expr>)> {
        let span = m.span();
        let scheme = self.method_scheme(receiver, name, &[])?;
        if !scheme.has_receiver || scheme.arguments.len() != m.args.len() + 1 {
            return None;
        }
        let (arguments, result, call) = self.instance(&scheme, span);
        self.operand(&mut m.receiver, receiver, &arguments[0], scheme.passing[0]);
        for (i, argument) in m.args.iter_mut().enumerate() {
            let expected = &arguments[i + 1];
            let ty = self.argument(argument, expected);
            self.pass(argument, &ty, expected, scheme.passing[i + 1]);
        }
        let written = match *receiver {
            Ty::Struct(id, _) => self.with_trait(m, id, &scheme, call),
            _ => None,
        };
        Some((result, written))
    }

    /// `left + right` for an operator that the module implements.
    pub(super) fn operator(&mut self, name: &str, b: &mut ExprBinary, left: &Ty, right: &Ty) -> Option<Ty> {
        let left = self.resolve(left);
        if !matches!(left, Ty::Struct(..)) {
            return None;
        }
        let scheme = self.method_scheme(&left, name, std::slice::from_ref(right))?;
        let (arguments, result, _) = self.instance(&scheme, b.right.span());
        self.operand(&mut b.left, &left, arguments.first()?, scheme.passing.first().copied().flatten());
        self.operand(&mut b.right, right, arguments.get(1)?, scheme.passing.get(1).copied().flatten());
        Some(result)
    }

    /// `-value` for an operator that the module implements.
    pub(super) fn unary_operator(&mut self, u: &mut ExprUnary, ty: &Ty) -> Option<Ty> {
        let name = match u.op {
            UnOp::Neg(_) => "neg",
            UnOp::Not(_) => "not",
            _ => return None,
        };
        let ty = self.resolve(ty);
        let scheme = self.method_scheme(&ty, name, &[]).filter(|_| matches!(ty, Ty::Struct(..)))?;
        let (arguments, result, _) = self.instance(&scheme, u.expr.span());
        self.operand(&mut u.expr, &ty, arguments.first()?, scheme.passing.first().copied().flatten());
        Some(result)
    }

    /// `number * vector` where the module has `impl Mul<Vector> for f64`: a call of the trait that has its body (`forms`).
    pub(super) fn number_operator(
        &mut self,
        name: &str,
        b: &mut ExprBinary,
        left: &Ty,
        right: &Ty,
    ) -> Option<(Expr, Ty)> {
        let (Ty::Float(_), Ty::Struct(id, _)) = (self.resolve(left), self.resolve(right)) else { return None };
        let (of, method) = number_operation(name);
        let key = (self.module.types[id].name.clone(), method.to_string());
        let scheme = self.module.methods.get(&key)?.first()?.clone();
        let span = b.span();
        let (arguments, result, _) = self.instance(&scheme, span);
        self.operand(&mut b.right, right, arguments.first()?, Some(Passing::Owned));
        self.coerce(&mut b.left, left, arguments.get(1)?);
        let (number, operand) = (&b.left, &b.right);
        // The left side is computed first.
        let call = parse_quote_spanned!(span=> match (#number, #operand) { (number, operand) => #of::#method(operand, number) });
        Some((call, result))
    }

    /// `left[index]` for a type of the module with an `Index`.
    pub(super) fn indexed(&mut self, base: &Ty, span: Span) -> Option<Ty> {
        let base = self.resolve(base);
        if !matches!(base, Ty::Struct(..)) {
            return None;
        }
        let scheme = self.method_scheme(&base, "index", &[])?;
        let (arguments, result, _) = self.instance(&scheme, span);
        self.unify(arguments.first()?, &base, span);
        Some(result)
    }
}

/// The method of an operator: `add` for `+`.
pub(super) fn operator_name(op: &syn::BinOp) -> Option<&'static str> {
    use syn::BinOp::*;
    Some(match op {
        Add(_) => "add",
        Sub(_) => "sub",
        Mul(_) => "mul",
        Div(_) => "div",
        Rem(_) => "rem",
        AddAssign(_) => "add_assign",
        SubAssign(_) => "sub_assign",
        MulAssign(_) => "mul_assign",
        DivAssign(_) => "div_assign",
        RemAssign(_) => "rem_assign",
        _ => return None,
    })
}
