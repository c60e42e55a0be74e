//! The state of the analysis of one function.
//!
//! Made by `make_generic`. The files beside this one extend it with methods that read expressions and record flows.

use super::declared::{Module, Operator};
use super::graph::{Act, Graph};
use super::marks::{Mark, mark_name};
use super::ty::Ty;
use crate::errors::Errors;
use crate::options::Traits;
use proc_macro2::Span;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Type, parse_quote_spanned};

/// The inferred properties of a variable.
#[derive(Clone)]
pub(super) struct Variable {
    pub(super) ty: Ty,
    /// Certainly a number by value, not a reference to one.
    pub(super) by_value: bool,
    /// Certainly a shared slice.
    pub(super) is_slice: bool,
    /// Certainly a `Cell` or a pointer, which cannot be lifted as a number.
    pub(super) is_wrapped: bool,
}

/// The state of the analysis of one function.
pub(super) struct Inference<'e> {
    pub(super) graph: Graph,
    /// Bindings of type variables.
    pub(super) vars: Vec<Option<Ty>>,
    pub(super) scopes: Vec<HashMap<String, Variable>>,
    /// Type parameters of the `fn` inside the function whose signature is being read.
    pub(super) type_parameters: HashMap<String, Ty>,
    /// The operators that the bounds of type parameters name.
    pub(super) operators: Vec<Operator>,
    /// Where values of unknown types come from: the call that made one, the value that a variable is bound to.
    pub(super) origins: Vec<(Act, Act)>,
    pub(super) marks: Vec<Mark>,
    /// The types and functions of the module, if one is read.
    pub(super) module: Module,
    /// Messages to report if the number is active.
    pub(super) checks: Vec<(Act, Span, String)>,
    /// Result types of the enclosing functions and closures.
    pub(super) returns: Vec<Ty>,
    /// Labels and result types of the enclosing loops and labelled blocks.
    pub(super) breaks: Vec<(Option<String>, Ty)>,
    pub(super) number: &'e Ident,
    pub(super) krate: &'e Traits,
    pub(super) errors: &'e mut Errors,
}

impl Inference<'_> {
    /// The variable of this name in the innermost scope that has one.
    pub(super) fn lookup(&self, ident: &Ident) -> Option<Variable> {
        self.variable(&ident.to_string())
    }

    pub(super) fn variable(&self, name: &str) -> Option<Variable> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).cloned()
    }

    pub(super) fn add_mark(&mut self, mark: Mark, span: Span) -> Ident {
        self.marks.push(mark);
        mark_name(self.marks.len() - 1, span)
    }

    /// Marks an expression. In `&0.5` the mark is on the literal, not on the reference; in `&mut value` it is not, since a copy would be written to.
    pub(super) fn mark_expr(&mut self, expr: &mut Expr, mark: Mark) {
        if let Expr::Reference(r) = expr
            && r.mutability.is_none()
        {
            return self.mark_expr(&mut r.expr, mark);
        }
        let name = self.add_mark(mark, expr.span());
        let inner = std::mem::replace(expr, Expr::PLACEHOLDER);
        *expr = parse_quote_spanned!(name.span()=> #name(#inner));
    }

    pub(super) fn mark_type(&mut self, ty: &mut Type, mark: Mark) {
        let name = self.add_mark(mark, ty.span());
        *ty = parse_quote_spanned!(name.span()=> #name);
    }
}
