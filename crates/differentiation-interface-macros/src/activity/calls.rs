//! Paths and calls of functions.

use super::annotations::{ONCE, SEQUENCES, WRAPPERS, Words};
use super::declared::Passing;
use super::exprs::is_constant_name;
use super::graph::Act;
use super::inference::Inference;
use super::maps::MAPS;
use super::marks::Mark;
use super::refusals::{self, Arguments};
use super::ty::Ty;
use super::vectors::is_mutable;
use proc_macro2::Span;
use std::rc::Rc;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Expr, ExprArray, ExprCall, ExprTuple, GenericArgument, Ident, Path, PathArguments, Token, Type, parse_quote_spanned,
};

impl Inference<'_> {
    /// A path that is used as a value.
    pub(super) fn path(&mut self, e: &mut Expr) -> Ty {
        let span = e.span();
        let Expr::Path(p) = &mut *e else { return Ty::Other };
        if let Some(ident) = p.path.get_ident() {
            if let Some(variable) = self.lookup(ident) {
                return variable.ty;
            }
            let ident = ident.clone();
            if self.is_of_module(p)
                && let Some(ty) = self.module_path(p, &[])
            {
                return ty;
            }
            if ident == "None" {
                let item = self.fresh_var();
                return Ty::seq(item);
            }
            if is_constant_name(&ident) {
                let why = refusals::constant_item(&ident);
                return Ty::Opaque(self.graph.pinned(&why));
            }
            return self.opaque_of(&[], span);
        }
        if self.is_of_module(p)
            && let Some(ty) = self.module_path(p, &[])
        {
            return ty;
        }
        if let Some(ty) = self.constant_of_type(&mut p.path) {
            return ty;
        }
        if let Some(constant) = self.constant_of_trait(&p.path) {
            *e = constant;
            return Ty::Other;
        }
        self.plain_type(&mut p.path);
        self.path_arguments(&mut p.path);
        let in_f64 = p.path.segments.iter().rev().skip(1).any(|s| s.ident == "f64" || s.ident == "consts");
        let Some(last) = p.path.segments.last() else { return Ty::Other };
        let name = last.ident.to_string();
        if in_f64 && is_constant_name(&last.ident) {
            return if name == "DIGITS" || name == "RADIX" { Ty::Other } else { self.fresh_float() };
        }
        if in_f64 {
            let act = self.graph.fresh();
            if name == "from" {
                return Ty::Fn(vec![Ty::Other], Rc::new(Ty::Float(act)));
            }
            let method = last.ident.clone();
            if let Some((count, ty)) = self.float_function(&method, act) {
                self.mark_expr(e, Mark::Path(act, count));
                return ty;
            }
            // Reported if an active number flows here.
            return Ty::Fn(vec![Ty::Float(act); 2], Rc::new(Ty::Other));
        }
        if is_constant_name(&last.ident) {
            let why = refusals::constant_item(&last.ident);
            return Ty::Opaque(self.graph.pinned(&why));
        }
        self.opaque_of(&[], span)
    }

    /// Argument count and type of the function `f64::name`, all numbers of one activity. Reports functions that active numbers
    /// do not have.
    fn float_function(&mut self, method: &Ident, act: Act) -> Option<(usize, Ty)> {
        let name = method.to_string();
        if matches!(name.as_str(), "from_bits" | "from_le_bytes" | "from_be_bytes" | "from_ne_bytes") {
            self.errors.push(method.span(), refusals::from_bits(&name));
            return None;
        }
        if let Some(message) = refusals::refused_method(&name) {
            self.checks.push((act, method.span(), message));
            return None;
        }
        let float = Ty::Float(act);
        let (arguments, result) = match refusals::float_method(&name)? {
            Arguments::Numbers(n) => (vec![float.clone(); n + 1], float),
            Arguments::Power => (vec![float.clone(); 2], float),
            Arguments::Integer => (vec![float.clone(), Ty::Other], float),
            Arguments::Question => (vec![float], Ty::Other),
            Arguments::Order => (vec![float.clone(), float], Ty::Other),
            Arguments::Pair => (vec![float.clone()], Ty::Tuple(vec![float.clone(), float])),
        };
        Some((arguments.len(), Ty::Fn(arguments, Rc::new(result))))
    }

    /// The types in the angle brackets of a path.
    fn path_arguments(&mut self, path: &mut Path) -> Vec<Ty> {
        let mut types = Vec::new();
        for segment in &mut path.segments {
            if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                for argument in &mut arguments.args {
                    if let GenericArgument::Type(ty) = argument {
                        types.push(self.annotation(ty, &Words::Open));
                    }
                }
            }
        }
        types
    }

    /// `function(arguments)`.
    pub(super) fn call(&mut self, e: &mut Expr) -> Ty {
        let span = e.span();
        let Expr::Call(call) = &mut *e else { return Ty::Other };
        if let Some(ty) = self.converted(call) {
            return ty;
        }
        if let Expr::Path(p) = &mut *call.func {
            let local = p.path.get_ident().and_then(|i| self.lookup(i));
            if local.is_none() && !self.is_of_module(p) {
                let last = p.path.segments.last().map(|s| s.ident.clone());
                let names: Vec<String> = p.path.segments.iter().map(|s| s.ident.to_string()).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                if let ([.., "f64", _], Some(method)) = (&names[..], last) {
                    return self.float_call(e, &method);
                }
                if let Some(ty) = self.known_call(call, &names, span) {
                    return ty;
                }
                if let Some(ty) = self.parameter_value(call) {
                    return ty;
                }
                let written = self.path_arguments(match &mut *call.func {
                    Expr::Path(p) => &mut p.path,
                    _ => return Ty::Other,
                });
                // `iterate((x[0], 0.0), ..)` of a function with types of its own: the parts are of one type.
                let lifts = names.len() == 1 && self.module.generic.iter().any(|name| name == names[0]);
                let (result, exact) = self.unknown_call(&mut call.args, &[], lifts, span);
                self.vector_of_types(&written, &result, span);
                if let Expr::Path(p) = &*call.func {
                    let name = p.path.segments.last().map(|s| s.ident.clone());
                    self.named(e, name, &result, exact);
                }
                return result;
            }
        }
        if let Expr::Path(p) = &mut *call.func
            && self.is_overloaded(p)
        {
            // The arguments choose.
            let types: Vec<Ty> = call.args.iter_mut().map(|argument| self.expr(argument)).collect();
            let passing = self.passing(p, &types);
            if let Some(Ty::Fn(arguments, result)) = self.module_path(p, &types) {
                for (i, (argument, expected)) in call.args.iter_mut().zip(&arguments).enumerate() {
                    self.pass(argument, &types[i], expected, passing.get(i).copied().flatten());
                }
                return (*result).clone();
            }
        }
        let passing = match &*call.func {
            Expr::Path(p) => self.passing(p, &[]),
            _ => Vec::new(),
        };
        let callee = self.expr(&mut call.func);
        match self.resolve(&callee) {
            Ty::Fn(arguments, result) => {
                for (i, (argument, expected)) in call.args.iter_mut().zip(&arguments).enumerate() {
                    let ty = self.argument(argument, expected);
                    self.pass(argument, &ty, expected, passing.get(i).copied().flatten());
                }
                (*result).clone()
            }
            other => {
                let callee = other.clone();
                let (result, _) = self.unknown_call(&mut call.args, &[other], false, span);
                if let (Ty::Opaque(called), Ty::Opaque(callee)) = (self.resolve(&result), callee) {
                    self.take_back(called, callee, span);
                }
                result
            }
        }
    }

    /// What is called with active numbers was made to take them: `let h = compose(square, f64::sin)`, where `h(x)`.
    fn take_back(&mut self, called: Act, mut callee: Act, span: Span) {
        self.graph.flow(called, callee, span);
        while let Some((_, origin)) = self.origins.iter().find(|(of, _)| *of == callee) {
            self.graph.flow(callee, *origin, span);
            callee = *origin;
        }
    }

    /// An argument where `expected` is known: a closure takes its argument types from it.
    pub(super) fn argument(&mut self, e: &mut Expr, expected: &Ty) -> Ty {
        match (e, self.resolve(expected)) {
            (Expr::Closure(c), Ty::Fn(arguments, _)) => self.closure(c, Some(&arguments)),
            (Expr::Reference(r), Ty::Fn(arguments, _)) if matches!(&*r.expr, Expr::Closure(_)) => match &mut *r.expr {
                Expr::Closure(c) => self.closure(c, Some(&arguments)),
                other => self.expr(other),
            },
            (e, _) => self.expr(e),
        }
    }

    /// `f64::name(arguments)`.
    fn float_call(&mut self, e: &mut Expr, method: &Ident) -> Ty {
        let span = e.span();
        let Expr::Call(call) = &mut *e else { return Ty::Other };
        let act = self.graph.fresh();
        if method == "from" {
            let ty = call.args.first_mut().map(|a| self.expr(a)).unwrap_or(Ty::Other);
            return match self.resolve(&ty) {
                Ty::Float(a) => {
                    self.mark_expr(e, Mark::From(a));
                    Ty::Float(a)
                }
                // `f64::from(value)` of a type parameter, by `where f64: From<V>`.
                Ty::Opaque(a) if self.type_parameters.values().any(|ty| matches!(ty, Ty::Opaque(of) if *of == a)) => {
                    let mut number: Type = parse_quote_spanned!(span=> f64);
                    self.mark_type(&mut number, Mark::Number(a));
                    *call.func = parse_quote_spanned!(span=> <#number as ::core::convert::From<_>>::from);
                    Ty::Float(a)
                }
                _ => Ty::Float(act),
            };
        }
        match self.float_function(method, act) {
            Some((_, Ty::Fn(arguments, result))) => {
                for (i, (argument, expected)) in call.args.iter_mut().zip(&arguments).enumerate() {
                    let ty = self.expr(argument);
                    match method == "total_cmp" {
                        true => self.coerce_referent(argument, &ty, expected, i == 1),
                        false => self.coerce(argument, &ty, expected),
                    }
                }
                self.mark_expr(e, Mark::Call(act));
                (*result).clone()
            }
            _ => {
                for argument in &mut call.args {
                    let ty = self.expr(argument);
                    if method == "from_str" {
                        self.refuse_parsing(&ty, method.span());
                    }
                    for a in self.acts(&ty) {
                        self.graph.flow(a, act, span);
                    }
                }
                Ty::Opaque(act)
            }
        }
    }

    /// `<[f64; 2]>::try_from(x)`: the numbers of the type are those of the argument.
    fn converted(&mut self, call: &mut ExprCall) -> Option<Ty> {
        let Expr::Path(path) = &mut *call.func else { return None };
        let name = path.path.segments.last().filter(|_| path.path.segments.len() == 1)?.ident.to_string();
        let qself =
            path.qself.as_mut().filter(|_| call.args.len() == 1 && matches!(name.as_str(), "from" | "try_from"))?;
        let to = self.annotation(&mut qself.ty, &Words::Open);
        let from = self.expr(&mut call.args[0]);
        self.coerce(&mut call.args[0], &from, &to);
        Some(if name == "from" { to } else { Ty::seq(to) })
    }

    /// Functions of the standard library that the analysis knows.
    fn known_call(&mut self, call: &mut ExprCall, names: &[&str], span: Span) -> Option<Ty> {
        let one = call.args.len() == 1;
        match names {
            ["Some" | "Ok"] | [.., "once" | "repeat"] if one => {
                let item = self.wrapped(&mut call.args[0]);
                Some(Ty::seq(item))
            }
            ["Err"] if one => {
                let error = self.expr(&mut call.args[0]);
                if let Ty::Struct(_, act) = self.resolve(&error) {
                    let plain = self.graph.pinned(&refusals::error_value());
                    self.graph.flow(act, plain, call.args[0].span());
                }
                let item = self.fresh_var();
                Some(Ty::seq(item))
            }
            [.., owner, "from"] if one && ONCE.contains(owner) => {
                let item = self.wrapped(&mut call.args[0]);
                Some(Ty::seq(item))
            }
            [.., owner, "new"] if one && WRAPPERS.contains(owner) => Some(self.wrapped(&mut call.args[0])),
            [.., owner, "new" | "with_capacity"] if SEQUENCES.contains(owner) || ONCE.contains(owner) => {
                let types = match &mut *call.func {
                    Expr::Path(p) => self.path_arguments(&mut p.path),
                    _ => Vec::new(),
                };
                for argument in &mut call.args {
                    self.expr(argument);
                }
                let item = match types.first() {
                    Some(item) => item.clone(),
                    None => self.fresh_var(),
                };
                Some(Ty::seq(item))
            }
            [.., "String", "new" | "with_capacity" | "from"] => {
                let sources: Vec<Ty> = call.args.iter_mut().map(|argument| self.expr(argument)).collect();
                Some(self.text_of(&sources, span))
            }
            [.., "Default", "default"] => Some(self.fresh_var()),
            [.., "clone"] if one => Some(self.expr(&mut call.args[0])),
            [.., owner, "new" | "with_capacity" | "default"] if MAPS.contains(owner) => {
                let types = match &mut *call.func {
                    Expr::Path(p) => self.path_arguments(&mut p.path),
                    _ => Vec::new(),
                };
                for argument in &mut call.args {
                    self.expr(argument);
                }
                Some(self.map_of(&types))
            }
            [.., owner, "from" | "from_iter"] if one && MAPS.contains(owner) => {
                let entries = self.expr(&mut call.args[0]);
                let map = self.map_of(&[]);
                self.unify(&entries, &map, span);
                Some(map)
            }
            [.., owner, "from" | "from_iter"] if one && SEQUENCES.contains(owner) => {
                let types = match &mut *call.func {
                    Expr::Path(p) => self.path_arguments(&mut p.path),
                    _ => Vec::new(),
                };
                let items = self.expr(&mut call.args[0]);
                if let Some(item) = types.first() {
                    self.unify(&items, &Ty::seq(item.clone()), span);
                }
                Some(items)
            }
            // An order, not a value.
            [.., "Reverse"] if one => Some(self.expr(&mut call.args[0])),
            [.., "array", "from_fn"] if one => {
                let types = match &mut *call.func {
                    Expr::Path(p) => self.path_arguments(&mut p.path),
                    _ => Vec::new(),
                };
                let item = self.callback(&mut call.args[0], &[Ty::Other]);
                if let Some(wanted) = types.first() {
                    self.unify(wanted, &item, span);
                }
                Some(Ty::seq(item))
            }
            [.., "cmp", "max" | "min"] | ["max" | "min"] if call.args.len() == 2 => {
                let a = self.expr(&mut call.args[0]);
                let b = self.expr(&mut call.args[1]);
                self.operand(&mut call.args[1], &b, &a, Some(Passing::Owned));
                Some(a)
            }
            [.., "TypeId", "of"] => {
                let arguments = match &*call.func {
                    Expr::Path(p) => p.path.segments.last().map(|s| s.arguments.clone()),
                    _ => None,
                };
                if let Some(PathArguments::AngleBracketed(types)) = arguments {
                    self.refuse_any(Some(&types), "TypeId", call.func.span());
                }
                None
            }
            [.., "size_of_val" | "align_of_val" | "type_name_of_val"] if one => {
                let ty = self.expr(&mut call.args[0]);
                let span = call.func.span();
                self.checks.extend(self.acts(&ty).into_iter().map(|act| (act, span, refusals::layout())));
                Some(Ty::Other)
            }
            [.., "mem", "swap"] if call.args.len() == 2 => {
                let a = self.expr(&mut call.args[0]);
                let b = self.expr(&mut call.args[1]);
                self.unify(&a, &b, span);
                Some(Ty::Other)
            }
            [.., "cast"] | [.., "NumCast", "from"] if one => {
                let ty = self.expr(&mut call.args[0]);
                let message = refusals::cast_function();
                let checks = self.acts(&ty).into_iter().map(|a| (a, call.func.span(), message.clone()));
                self.checks.extend(checks.collect::<Vec<_>>());
                None
            }
            [.., "successors"] if call.args.len() == 2 => {
                let first = self.expr(&mut call.args[0]);
                let item = self.item_of(&first);
                let next = self.callback(&mut call.args[1], &[item]);
                self.unify(&next, &first, span);
                Some(first)
            }
            [.., "mem", "take"] if one => Some(self.expr(&mut call.args[0])),
            [.., "mem", "replace"] if call.args.len() == 2 => {
                let place = self.expr(&mut call.args[0]);
                let value = self.expr(&mut call.args[1]);
                self.coerce(&mut call.args[1], &value, &place);
                Some(place)
            }
            _ => None,
        }
    }

    /// A value that is stored in a new container.
    fn wrapped(&mut self, e: &mut Expr) -> Ty {
        let ty = self.expr(e);
        let item = self.fresh_var();
        self.coerce(e, &ty, &item);
        item
    }

    /// Marks the use of an unknown function or struct, so that an error can say its name.
    pub(super) fn named(&mut self, e: &mut Expr, name: Option<Ident>, whole: &Ty, exact: Vec<(usize, Act)>) {
        let Ty::Opaque(whole) = self.resolve(whole) else { return };
        if let Some(name) = name.filter(|name| name != "Self")
            && !exact.is_empty()
        {
            self.mark_expr(e, Mark::Named { name, whole, arguments: exact });
        }
    }

    /// The activity of a value whose type the compiler knows exactly, so that no coercion can be meant: a number by value, a
    /// shared slice of numbers.
    pub(super) fn exact(&self, e: &Expr, ty: &Ty) -> Option<Act> {
        let variable = match e {
            Expr::Path(p) => p.path.get_ident().and_then(|i| self.lookup(i)),
            _ => None,
        };
        match self.resolve(ty) {
            Ty::Float(act) if self.is_value(e) => Some(act),
            Ty::Seq(item) if variable.is_some_and(|v| v.is_slice) => match self.resolve(&item) {
                Ty::Float(act) => Some(act),
                _ => None,
            },
            _ => None,
        }
    }

    /// Arguments of an unknown function. If one is active, the function must be generic, and the compiler infers what it expects
    /// of the plain ones. With `lifts` the parts of tuples and arrays that are written down become active then. Returns the type of the result, and the
    /// arguments that can be passed by `Call::pass`.
    pub(super) fn unknown_call(
        &mut self,
        arguments: &mut Punctuated<Expr, Token![,]>,
        more: &[Ty],
        lifts: bool,
        span: Span,
    ) -> (Ty, Vec<(usize, Act)>) {
        // What a closure takes may follow from the other arguments, which then must not be passed in a roundabout way.
        let has_closure = arguments.iter().any(|a| matches!(a, Expr::Closure(_)));
        let mut exact = Vec::new();
        let mut types = more.to_vec();
        let mut plain = Vec::new();
        let (mut vectors, mut written) = (Vec::new(), Vec::new());
        let mut parts = Vec::new();
        for (i, argument) in arguments.iter_mut().enumerate() {
            // Closures are read last: the function may pass active numbers to them.
            if matches!(argument, Expr::Closure(_)) {
                continue;
            }
            let ty = self.expr(argument);
            if self.krate.has_vectors() && is_mutable(argument) {
                written.extend(self.acts(&ty));
            }
            let is_vector = match self.resolve(&ty) {
                Ty::Opaque(_) => true,
                Ty::Float(_) => !self.is_value(argument),
                _ => false,
            };
            if self.krate.has_vectors() && is_vector {
                vectors.push((i, ty.clone()));
            } else if self.is_value(argument)
                && let Ty::Float(a) | Ty::Opaque(a) = self.resolve(&ty)
            {
                plain.push((i, a, matches!(self.resolve(&ty), Ty::Float(_))));
            }
            exact.extend(self.exact(argument, &ty).filter(|_| !has_closure).map(|act| (i, act)));
            if lifts {
                parts.extend(self.parts(argument, &ty).into_iter().map(|(k, act)| (i, k, act)));
            }
            types.push(ty);
        }
        let call = self.graph.fresh();
        if self.krate.has_vectors() {
            self.graph.set_made(call);
        }
        for (i, k, from) in parts {
            if let Expr::Tuple(ExprTuple { elems, .. }) | Expr::Array(ExprArray { elems, .. }) = &mut arguments[i] {
                self.mark_expr(&mut elems[k], Mark::Lift { from, to: call, certain: true });
            }
        }
        for act in types.iter().flat_map(|ty| self.acts(ty)).collect::<Vec<_>>() {
            self.graph.flow(act, call, span);
        }
        for act in written {
            self.graph.flow(call, act, span);
        }
        // A function of the module that is handed over is called with what the unknown function computes, as closures are.
        for ty in &types {
            if let Ty::Fn(taken, _) = self.resolve(ty) {
                for act in taken.iter().flat_map(|ty| self.acts(ty)).collect::<Vec<_>>() {
                    self.graph.flow(call, act, span);
                }
            }
        }
        types.push(Ty::Opaque(call));
        let taken = self.graph.fresh();
        self.graph.flow(taken, call, span);
        for argument in arguments.iter_mut() {
            if let Expr::Closure(c) = argument {
                let expected = vec![Ty::Opaque(call); c.inputs.len()];
                self.guess_closure_types(c, call, taken);
                let ty = self.closure(c, Some(&expected));
                for a in self.acts(&ty) {
                    self.graph.flow(a, call, span);
                }
                types.push(ty);
            }
        }
        let result = self.vector_of(&types, span);
        if let Ty::Opaque(made) = self.resolve(&result) {
            self.origins.push((made, taken));
        }
        for (i, from, is_float) in plain {
            let mark = match (lifts || self.krate.has_vectors()) && is_float {
                true => Mark::Lift { from, to: call, certain: true },
                false => Mark::Inferred { from, call },
            };
            self.mark_expr(&mut arguments[i], mark);
        }
        for (i, ty) in vectors {
            self.argument_beside_vector(&mut arguments[i], &ty, call);
        }
        (result, exact)
    }

    /// The numbers that a tuple or an array is written with, by their places.
    fn parts(&self, e: &Expr, ty: &Ty) -> Vec<(usize, Act)> {
        let (Expr::Tuple(ExprTuple { elems, .. }) | Expr::Array(ExprArray { elems, .. })) = e else {
            return Vec::new();
        };
        let types = self.types_of_elements(ty, elems.len());
        let number = |(k, (elem, ty)): (usize, (&Expr, &Ty))| match self.resolve(ty) {
            Ty::Float(act) if self.is_value(elem) => Some((k, act)),
            _ => None,
        };
        elems.iter().zip(&types).enumerate().filter_map(number).collect()
    }

    /// `|t: f64| ..` passed to an unknown function: the compiler infers the type if it must not be `f64`, unless the result is called with active numbers (`taken`).
    fn guess_closure_types(&mut self, c: &mut syn::ExprClosure, call: Act, taken: Act) {
        for pat in &mut c.inputs {
            if let syn::Pat::Type(p) = pat
                && crate::number::is_word(&p.ty, "f64")
            {
                self.mark_type(&mut p.ty, Mark::Guessed { call, taken });
            }
        }
    }

    /// A function passed to a method that calls it with these arguments. Returns the type of its result.
    pub(super) fn callback(&mut self, e: &mut Expr, arguments: &[Ty]) -> Ty {
        let span = e.span();
        let ty = match e {
            Expr::Closure(c) => self.closure(c, Some(arguments)),
            other => self.expr(other),
        };
        match self.resolve(&ty) {
            Ty::Fn(expected, result) => {
                for (argument, expected) in arguments.iter().zip(&expected) {
                    self.unify(argument, expected, span);
                }
                (*result).clone()
            }
            other => {
                let mut sources = arguments.to_vec();
                sources.push(other);
                self.opaque_of(&sources, span)
            }
        }
    }
}
