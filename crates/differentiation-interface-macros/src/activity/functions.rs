//! Functions: their signatures and bodies, and those of each `fn` inside.
//!
//! Called by `make_generic` for the function, and by `exprs` for nested ones.

use super::annotations::Words;
use super::graph::Act;
use super::inference::{Inference, Variable};
use super::marks::Mark;
use super::refusals;
use super::ty::Ty;
use crate::number::mentions;
use quote::ToTokens;
use std::collections::HashMap;
use std::rc::Rc;
use syn::{
    FnArg, GenericArgument, Generics, ItemFn, Pat, PathArguments, Signature, Type, TypeParamBound, WherePredicate,
};

impl Inference<'_> {
    /// Reads the function. `original` is its signature as the user wrote it, with its marks.
    pub(super) fn function(&mut self, function: &mut ItemFn, original: &Signature) {
        let mut arguments = Vec::new();
        for (argument, written) in function.sig.inputs.iter_mut().zip(&original.inputs) {
            let (FnArg::Typed(argument), FnArg::Typed(written)) = (argument, written) else { continue };
            let is_constant = written.attrs.iter().any(|a| a.path().is_ident("constant"));
            let words = if is_constant {
                let name = quote::ToTokens::to_token_stream(&argument.pat);
                Words::Plain(refusals::constant_argument(name, &argument.ty))
            } else {
                Words::Active
            };
            let ty = self.annotation(&mut argument.ty.clone(), &words);
            let by_value = !matches!(&*argument.ty, syn::Type::Reference(_));
            self.pattern(&mut argument.pat, &ty, by_value);
            self.note_slice(&argument.pat, &argument.ty);
            arguments.push(ty);
        }
        let result = self.return_annotation(&mut function.sig.output.clone(), &Words::Active);
        // The function may call itself.
        let name = function.sig.ident.clone();
        let itself = Ty::Fn(arguments, Rc::new(result.clone()));
        self.scopes[0].entry(name.to_string()).or_insert(Variable {
            ty: itself,
            by_value: false,
            is_slice: false,
            is_wrapped: false,
        });
        self.returns.push(result.clone());
        self.block(&mut function.block, Some(&result));
        self.returns.pop();
    }

    /// Notes that a variable is a shared slice.
    pub(super) fn note_slice(&mut self, pat: &Pat, ty: &Type) {
        if let (Pat::Ident(p), Type::Reference(r)) = (pat, ty)
            && r.mutability.is_none()
            && matches!(&*r.elem, Type::Slice(_))
            && let Some(variable) = self.scopes.last_mut().and_then(|s| s.get_mut(&p.ident.to_string()))
        {
            variable.is_slice = true;
        }
    }

    /// Reads the signature of a `fn` inside the function, before its body.
    pub(super) fn declare_nested(&mut self, function: &mut ItemFn) {
        let outer = self.type_parameters.clone();
        self.declare_type_parameters(&mut function.sig.generics, &Words::Open);
        let mut arguments = Vec::new();
        for argument in &mut function.sig.inputs {
            if let FnArg::Typed(argument) = argument {
                arguments.push(self.annotation(&mut argument.ty, &Words::Open));
            }
        }
        let result = self.return_annotation(&mut function.sig.output, &Words::Open);
        let ty = Ty::Fn(arguments, Rc::new(result));
        let acts = self.acts(&ty);
        let mark = self.add_mark(Mark::Nested(acts), function.sig.ident.span());
        function.attrs.push(syn::parse_quote!(#[#mark]));
        let name = function.sig.ident.clone();
        self.bind(&name, ty, false);
        self.type_parameters = outer;
    }

    /// Type parameters such as `F: Fn(f64) -> f64`: the function is read as if it had one type for each.
    pub(super) fn declare_type_parameters(&mut self, generics: &mut Generics, words: &Words) {
        for parameter in generics.type_params_mut() {
            let name = parameter.ident.to_string();
            let ty = match self.bounds_annotation(parameter.bounds.iter_mut(), words) {
                Ty::Other => self.bounded(parameter.bounds.iter_mut()),
                known => known,
            };
            self.type_parameters.insert(name, ty);
        }
        for predicate in generics.where_clause.iter_mut().flat_map(|w| &mut w.predicates) {
            let WherePredicate::Type(predicate) = predicate else { continue };
            let mut ty = self.bounds_annotation(predicate.bounds.iter_mut(), words);
            if let (Ty::Other, Type::Path(path)) = (&ty, &predicate.bounded_ty)
                && let Some(Ty::Opaque(act)) =
                    path.path.get_ident().and_then(|name| self.type_parameters.get(&name.to_string())).cloned()
            {
                ty = self.bounded_by(act, predicate.bounds.iter_mut());
            }
            if let (Type::Path(path), Ty::Fn(..) | Ty::Seq(_) | Ty::Struct(..)) = (&predicate.bounded_ty, &ty)
                && let Some(name) = path.path.get_ident()
            {
                self.type_parameters.insert(name.to_string(), ty);
            }
        }
    }

    /// A type that is known by its bounds only.
    fn bounded<'a>(&mut self, bounds: impl Iterator<Item = &'a mut TypeParamBound>) -> Ty {
        let act = self.graph.fresh();
        self.bounded_by(act, bounds)
    }

    /// The numbers in the bounds of such a type are its own: `P: Mul<f64, Output = P>`.
    fn bounded_by<'a>(&mut self, act: Act, bounds: impl Iterator<Item = &'a mut TypeParamBound>) -> Ty {
        for bound in bounds {
            let TypeParamBound::Trait(bound) = bound else { continue };
            let Some(last) = bound.path.segments.last_mut() else { continue };
            if let PathArguments::AngleBracketed(list) = &mut last.arguments {
                for argument in &mut list.args {
                    if let GenericArgument::Type(ty) = argument
                        && mentions(ty.to_token_stream(), "f64")
                    {
                        self.annotation(ty, &Words::As(act));
                    }
                }
            }
        }
        Ty::Opaque(act)
    }

    /// Reads the body of a `fn` inside the function.
    pub(super) fn nested(&mut self, function: &mut ItemFn) {
        let Some(Ty::Fn(arguments, result)) = self.lookup(&function.sig.ident).map(|v| v.ty) else { return };
        self.scopes.push(HashMap::new());
        for (argument, ty) in function.sig.inputs.iter_mut().zip(arguments) {
            if let FnArg::Typed(argument) = argument {
                let by_value = !matches!(&*argument.ty, syn::Type::Reference(_));
                self.pattern(&mut argument.pat, &ty, by_value);
            }
        }
        self.returns.push((*result).clone());
        let breaks = std::mem::take(&mut self.breaks);
        self.block(&mut function.block, Some(&result));
        self.breaks = breaks;
        self.returns.pop();
        self.scopes.pop();
    }
}
