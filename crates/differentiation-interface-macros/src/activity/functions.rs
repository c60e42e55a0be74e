//! Functions: their signatures and bodies, and those of each `fn` inside.
//!
//! Called by `make_generic` for the function, and by `exprs` for nested ones.

use super::annotations::Words;
use super::inference::{Inference, Variable};
use super::marks::Mark;
use super::refusals;
use super::ty::Ty;
use std::collections::HashMap;
use std::rc::Rc;
use syn::{FnArg, ItemFn, Pat, Signature, Type};

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

    /// Notes that a variable is a reference to a place, which is handed on as it is.
    pub(super) fn note_written(&mut self, pat: &Pat, ty: &Type) {
        if let (Pat::Ident(p), Type::Reference(r)) = (pat, ty)
            && r.mutability.is_some()
            && let Some(variable) = self.scopes.last_mut().and_then(|s| s.get_mut(&p.ident.to_string()))
        {
            variable.is_wrapped = true;
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
