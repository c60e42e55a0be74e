//! Makes plain `f64` code generic: decides which numbers are active and rewrites only those.
//!
//! Called by `expand` for functions without a type parameter. The method is that of binding-time analysis:
//! 1. `exprs`, `calls` and `methods` read the body once, give every expression a coarse type (`ty`), and record how numbers
//!    flow (`graph`). Arguments are active, literals and constants are not; an operation with an active operand is active.
//! 2. The least solution of all flows says which occurrences of `f64` become the number type. Everything else stays plain
//!    and costs no derivative work.
//! 3. `rewrite` takes the decisions left open as marks: types, `T::constant(..)` around plain expressions that meet an
//!    active place, `powc` for constant exponents.
//!
//! The analysis may be wrong about code it does not understand. That cannot give a wrong derivative: the number type has no
//! silent way back to `f64`, so a wrong guess is a type error. Nothing here ever inserts `primal()`.

mod annotations;
mod calls;
mod exprs;
mod graph;
mod marks;
mod methods;
mod refusals;
mod rewrite;
mod sequences;
mod ty;

use crate::errors::Errors;
use annotations::Words;
use graph::{Act, Graph};
use marks::Mark;
use proc_macro2::Span;
use std::collections::HashMap;
use std::rc::Rc;
use syn::{FnArg, Generics, Ident, ItemFn, Path, Signature, Type, WherePredicate};
use ty::Ty;

/// Rewrites the body of a function whose signature is generic already. `original` is the signature as the user wrote it,
/// with its marks.
pub(crate) fn make_generic(
    function: &mut ItemFn,
    original: &Signature,
    number: &Ident,
    krate: &Path,
    errors: &mut Errors,
) {
    let mut inference = Inference {
        graph: Graph::default(),
        vars: Vec::new(),
        scopes: vec![HashMap::new()],
        type_parameters: HashMap::new(),
        marks: Vec::new(),
        checks: Vec::new(),
        returns: Vec::new(),
        breaks: Vec::new(),
        number,
        errors,
    };
    inference.function(function, original);
    for (span, why) in inference.graph.solve() {
        inference.errors.push(span, why);
    }
    let Inference { graph, marks, checks, .. } = inference;
    for (act, span, message) in checks {
        if graph.is_active(act) {
            errors.push(span, message);
        }
    }
    rewrite::rewrite(function, &graph, &marks, number, krate);
}

/// What is known of a variable.
#[derive(Clone)]
struct Variable {
    ty: Ty,
    /// Certainly a number by value, not a reference to one.
    by_value: bool,
}

/// The state of reading one function.
struct Inference<'e> {
    graph: Graph,
    /// Bindings of type variables.
    vars: Vec<Option<Ty>>,
    scopes: Vec<HashMap<String, Variable>>,
    /// Type parameters of the `fn` inside the function whose signature is being read.
    type_parameters: HashMap<String, Ty>,
    marks: Vec<Mark>,
    /// Mistakes if the number is active.
    checks: Vec<(Act, Span, String)>,
    /// Result types of the functions and closures around.
    returns: Vec<Ty>,
    /// Labels and result types of the loops and labelled blocks around.
    breaks: Vec<(Option<String>, Ty)>,
    number: &'e Ident,
    errors: &'e mut Errors,
}

impl Inference<'_> {
    fn function(&mut self, function: &mut ItemFn, original: &Signature) {
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
            arguments.push(ty);
        }
        let result = self.return_annotation(&mut function.sig.output.clone(), &Words::Active);
        // The function may call itself.
        let name = function.sig.ident.clone();
        let itself = Ty::Fn(arguments, Rc::new(result.clone()));
        self.scopes[0].entry(name.to_string()).or_insert(Variable { ty: itself, by_value: false });
        self.returns.push(result.clone());
        self.block(&mut function.block, Some(&result));
        self.returns.pop();
    }

    /// The signature of a `fn` inside the function, before its body is read.
    fn declare_nested(&mut self, function: &mut ItemFn) {
        let outer = self.type_parameters.clone();
        self.declare_type_parameters(&mut function.sig.generics);
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
    fn declare_type_parameters(&mut self, generics: &mut Generics) {
        for parameter in generics.type_params_mut() {
            let name = parameter.ident.to_string();
            let ty = match self.bounds_annotation(parameter.bounds.iter_mut(), &Words::Open) {
                Ty::Other => Ty::Opaque(self.graph.fresh()),
                known => known,
            };
            self.type_parameters.insert(name, ty);
        }
        for predicate in generics.where_clause.iter_mut().flat_map(|w| &mut w.predicates) {
            let WherePredicate::Type(predicate) = predicate else { continue };
            let ty = self.bounds_annotation(predicate.bounds.iter_mut(), &Words::Open);
            if let (Type::Path(path), Ty::Fn(..) | Ty::Seq(_)) = (&predicate.bounded_ty, &ty)
                && let Some(name) = path.path.get_ident()
            {
                self.type_parameters.insert(name.to_string(), ty);
            }
        }
    }

    /// The body of a `fn` inside the function.
    fn nested(&mut self, function: &mut ItemFn) {
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

    fn lookup(&self, ident: &Ident) -> Option<Variable> {
        let name = ident.to_string();
        self.scopes.iter().rev().find_map(|scope| scope.get(&name)).cloned()
    }
}
