//! Type parameters: `F: Fn(f64) -> f64` is read as a closure, `V: Add<Output = V> + Mul<f64, Output = V>` as a value with these operators.
//!
//! Called where signatures and heads of blocks are read; `exprs` asks for the operators.

use super::annotations::Words;
use super::declared::{ITERATOR, Operator, Passing, Scheme};
use super::graph::Act;
use super::inference::Inference;
use super::ty::Ty;
use crate::number::{is_word, mentions};
use proc_macro2::Span;
use quote::ToTokens;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{
    Expr, ExprBinary, ExprCall, GenericArgument, Generics, Ident, ItemTrait, PathArguments, PredicateType, Type,
    TypeParamBound, WherePredicate,
};

/// The method of a trait of operators, such as `mul` of `Mul`.
fn method_of(of_trait: &Ident) -> Option<&'static str> {
    Some(match of_trait.to_string().as_str() {
        "Add" => "add",
        "Sub" => "sub",
        "Mul" => "mul",
        "Div" => "div",
        "Rem" => "rem",
        "AddAssign" => "add_assign",
        "SubAssign" => "sub_assign",
        "MulAssign" => "mul_assign",
        "DivAssign" => "div_assign",
        "RemAssign" => "rem_assign",
        _ => return None,
    })
}

/// The type behind references.
fn referent(mut ty: &mut Type) -> &mut Type {
    while let Type::Reference(reference) = ty {
        ty = &mut reference.elem;
    }
    ty
}

impl Inference<'_> {
    /// The type parameters of a function, type or block, which is read as if it had one type for each.
    pub(super) fn declare_type_parameters(&mut self, generics: &mut Generics, words: &Words) {
        let of_numbers = self.bounded_parameters(generics);
        for parameter in generics.type_params_mut() {
            let name = parameter.ident.to_string();
            let ty = match (self.bounds_annotation(parameter.bounds.iter_mut(), words), words) {
                (Ty::Other, Words::As(act)) if of_numbers.contains(&name) => Ty::Opaque(*act),
                (Ty::Other, _) => Ty::Opaque(self.graph.fresh()),
                (known, _) => known,
            };
            self.type_parameters.insert(name, ty);
        }
        for predicate in generics.where_clause.iter_mut().flat_map(|w| &mut w.predicates) {
            let WherePredicate::Type(predicate) = predicate else { continue };
            let ty = self.bounds_annotation(predicate.bounds.iter_mut(), words);
            let Type::Path(path) = &predicate.bounded_ty else { continue };
            let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            match &names[..] {
                _ if matches!(ty, Ty::Other) => {}
                [name] => drop(self.type_parameters.insert(name.clone(), ty)),
                // `I: IntoIterator, I::Item: Into<f64>`.
                [name, item] if item == "Item" => drop(self.type_parameters.insert(name.clone(), Ty::seq(ty))),
                _ => {}
            }
        }
        // A bound may name parameters behind it.
        for parameter in generics.type_params_mut() {
            if let Some(ty @ Ty::Opaque(_)) = self.type_parameters.get(&parameter.ident.to_string()).cloned() {
                self.declare_operators(&ty, parameter.bounds.iter_mut());
            }
        }
        for predicate in generics.where_clause.iter_mut().flat_map(|w| &mut w.predicates) {
            if let WherePredicate::Type(predicate) = predicate {
                self.declare_predicate(predicate);
            }
        }
    }

    /// `where V: Mul<f64, Output = V>`, `for<'a> &'a V: ..`, or `f64: Mul<V, Output = V>`.
    fn declare_predicate(&mut self, predicate: &mut PredicateType) {
        let bounded = referent(&mut predicate.bounded_ty);
        let ty = match is_word(bounded, "f64") {
            true => {
                let mut named = predicate.bounds.iter().flat_map(|b| self.acts_of_parameters(b));
                let Some(act) = named.next() else { return };
                self.annotation(bounded, &Words::As(act))
            }
            false => {
                let name = bounded.to_token_stream().to_string();
                let Some(ty @ Ty::Opaque(_)) = self.type_parameters.get(&name).cloned() else { return };
                ty
            }
        };
        self.declare_operators(&ty, predicate.bounds.iter_mut());
    }

    /// The activities of the parameters that a bound names and that are known by their bounds only.
    fn acts_of_parameters(&self, bound: &TypeParamBound) -> Vec<Act> {
        let named = self.type_parameters.iter().filter_map(|(name, ty)| match ty {
            Ty::Opaque(act) => mentions(bound.to_token_stream(), name).then_some(*act),
            _ => None,
        });
        named.collect()
    }

    /// Reads the bounds of `left` as operators. The numbers in them are those of the type.
    fn declare_operators<'a>(&mut self, left: &Ty, bounds: impl Iterator<Item = &'a mut TypeParamBound>) {
        let (Ty::Opaque(act) | Ty::Float(act)) = *left else { return };
        for bound in bounds {
            let TypeParamBound::Trait(bound) = bound else { continue };
            let Some(last) = bound.path.segments.last_mut() else { continue };
            let method = method_of(&last.ident);
            let (right, result) = self.operands(&mut last.arguments, left, act, method.is_some());
            if let Some(name) = method {
                self.operators.push(Operator { name, left: left.clone(), right, result });
            }
        }
    }

    /// The right side and the result of an operator of `this` by the arguments of its trait, `<f64, Output = Self>`. Those of another trait are read where
    /// they name `f64`.
    fn operands(&mut self, arguments: &mut PathArguments, this: &Ty, act: Act, is_operator: bool) -> (Ty, Ty) {
        let (mut right, mut result) = (this.clone(), Ty::Other);
        if let PathArguments::AngleBracketed(list) = arguments {
            for argument in &mut list.args {
                let (ty, place) = match argument {
                    GenericArgument::Type(ty) => (ty, &mut right),
                    GenericArgument::AssocType(chosen) => (&mut chosen.ty, &mut result),
                    _ => continue,
                };
                if is_word(referent(ty), "Self") {
                    *place = this.clone();
                } else if is_operator || mentions(ty.to_token_stream(), "f64") {
                    *place = self.annotation(ty, &Words::As(act));
                }
            }
        }
        (right, result)
    }

    /// The type of a value with the traits of both: `S: Body + Spring`, which is declared as a type with these traits.
    pub(super) fn with_both(&mut self, found: &Ty, other: Ty, span: Span) -> Ty {
        let (Ty::Struct(i, a), Ty::Struct(j, b)) = (found, &other) else { return other };
        self.graph.same(*a, *b, span);
        let traits = [*i, *j].map(|id| (self.module.types[id].name.clone(), self.module.types[id].flag));
        let name = traits.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" + ");
        let known = self.module.names.get(&name).copied();
        let id = known.unwrap_or_else(|| self.declare_name(name.clone(), 0));
        self.module.types[id].has_numbers = true;
        for (of_trait, flag) in traits {
            self.graph.flow(flag, self.module.types[id].flag, span);
            self.module.implemented.entry(name.clone()).or_default().push(of_trait);
        }
        Ty::Struct(id, *a)
    }

    /// `trait Space: Named + Mul<f64, Output = Self>`. The numbers of a supertrait are those of the trait, and an operator is one of its methods.
    pub(super) fn declare_supertraits(&mut self, t: &mut ItemTrait, this: &Ty, flag: Act) {
        for bound in &mut t.supertraits {
            let TypeParamBound::Trait(bound) = bound else { continue };
            if let Some(Ty::Struct(id, _)) = self.module_type(&mut bound.path, &Words::As(flag)) {
                let declared = &self.module.types[id];
                let (of_supertrait, name) = (declared.flag, declared.name.clone());
                self.graph.same(of_supertrait, flag, bound.span());
                self.module.implemented.entry(t.ident.to_string()).or_default().push(name);
                continue;
            }
            let Some(last) = bound.path.segments.last_mut() else { continue };
            if last.ident == ITERATOR {
                self.module.implemented.entry(t.ident.to_string()).or_default().push(ITERATOR.to_string());
            }
            let method = method_of(&last.ident);
            let (right, result) = self.operands(&mut last.arguments, this, flag, method.is_some());
            let Some(method) = method else { continue };
            let scheme = Scheme {
                arguments: vec![this.clone(), right],
                result,
                acts: vec![flag],
                type_parameters: Rc::default(),
                parameters: 0,
                has_own_number: false,
                of_trait: None,
                is_provided: false,
                has_receiver: true,
                access: None,
                passing: vec![Some(Passing::Owned); 2],
                tells: vec![true],
            };
            self.module.methods.entry((t.ident.to_string(), method.to_string())).or_default().push(scheme);
        }
    }

    /// Whether the activity is that of a type parameter whose bounds name operators.
    pub(super) fn has_operators(&self, act: Act) -> bool {
        self.operators
            .iter()
            .any(|o| matches!((&o.left, &o.right), (Ty::Opaque(a), _) | (_, Ty::Opaque(a)) if *a == act))
    }

    /// `left + right`, where a bound of a type parameter names the operator. A plain number is lifted where the parameter is active.
    pub(super) fn parameter_operator(&mut self, name: &str, b: &mut ExprBinary, left: &Ty, right: &Ty) -> Option<Ty> {
        let (left, right) = (self.resolve(left), self.resolve(right));
        let is = |found: &Ty, declared: &Ty| match (found, declared) {
            (Ty::Opaque(a), Ty::Opaque(b)) => a == b,
            (Ty::Float(_) | Ty::Var(_), Ty::Float(_)) => true,
            (Ty::Struct(i, _), Ty::Struct(j, _)) => i == j,
            _ => false,
        };
        let fitting = self.operators.iter().find(|o| o.name == name && is(&left, &o.left) && is(&right, &o.right));
        let Operator { left: of_left, right: of_right, result, .. } = fitting?.clone();
        self.coerce(&mut b.left, &left, &of_left);
        self.coerce(&mut b.right, &right, &of_right);
        Some(result)
    }

    /// `V::default()` and the like of a type parameter that is known by its bounds only.
    pub(super) fn parameter_value(&mut self, call: &ExprCall) -> Option<Ty> {
        let Expr::Path(path) = &*call.func else { return None };
        let mut names = path.path.segments.iter().rev().map(|s| s.ident.to_string());
        let (name, owner) = (names.next()?, names.next()?);
        match self.type_parameters.get(&owner)? {
            value @ (Ty::Opaque(_) | Ty::Float(_)) if matches!(name.as_str(), "default" | "zero" | "one") => {
                Some(value.clone())
            }
            _ => None,
        }
    }
}
