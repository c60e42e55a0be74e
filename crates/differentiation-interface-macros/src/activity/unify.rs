//! Type variables, unification, and the flow of values from type to type.
//!
//! Called by every file that reads code.

use super::annotations::WRAPPERS;
use super::graph::Act;
use super::inference::Inference;
use super::marks::{Mark, marked};
use super::ty::Ty;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprArray, ExprTuple, Stmt};

impl Inference<'_> {
    pub(super) fn fresh_var(&mut self) -> Ty {
        self.vars.push(None);
        Ty::Var(self.vars.len() - 1)
    }

    pub(super) fn fresh_float(&mut self) -> Ty {
        Ty::Float(self.graph.fresh())
    }

    /// The type behind a variable.
    pub(super) fn resolve(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        while let Ty::Var(v) = ty {
            match &self.vars[v] {
                Some(bound) => ty = bound.clone(),
                None => break,
            }
        }
        ty
    }

    /// Every activity inside a type.
    pub(super) fn acts(&self, ty: &Ty) -> Vec<Act> {
        let mut found = Vec::new();
        self.collect_acts(ty, false, &mut found);
        found
    }

    /// Every activity inside a type, those of text among them: what may flow to a value computed from it.
    pub(super) fn acts_and_texts(&self, ty: &Ty) -> Vec<Act> {
        let mut found = Vec::new();
        self.collect_acts(ty, true, &mut found);
        found
    }

    fn collect_acts(&self, ty: &Ty, with_texts: bool, found: &mut Vec<Act>) {
        match self.resolve(ty) {
            Ty::Float(a) | Ty::Opaque(a) => found.push(a),
            Ty::Struct(id, a) if self.module.types[id].has_numbers => found.push(a),
            Ty::Text(a) if with_texts => found.push(a),
            Ty::Seq(item) | Ty::Map(item) => self.collect_acts(&item, with_texts, found),
            Ty::Tuple(items) => items.iter().for_each(|t| self.collect_acts(t, with_texts, found)),
            Ty::Fn(args, ret) => args.iter().chain([&*ret]).for_each(|t| self.collect_acts(t, with_texts, found)),
            Ty::Var(_) | Ty::Other | Ty::Text(_) | Ty::Struct(..) | Ty::Never => {}
        }
    }

    /// An unknown type of a value computed from values of these types.
    pub(super) fn opaque_of(&mut self, sources: &[Ty], span: Span) -> Ty {
        let act = self.graph.fresh();
        for source in sources {
            for a in self.acts_and_texts(source) {
                self.graph.flow(a, act, span);
            }
        }
        Ty::Opaque(act)
    }

    /// The item type of a sequence.
    pub(super) fn item_of(&mut self, ty: &Ty) -> Ty {
        match self.resolve(ty) {
            Ty::Seq(item) | Ty::Map(item) => (*item).clone(),
            Ty::Var(v) => {
                let item = self.fresh_var();
                self.vars[v] = Some(Ty::seq(item.clone()));
                item
            }
            Ty::Opaque(a) => self.part_of(a),
            // A struct with an iterator.
            whole @ Ty::Struct(..) => self.opaque_of(&[whole], Span::call_site()),
            text @ Ty::Text(_) => text,
            _ => Ty::Other,
        }
    }

    /// A part of a value of unknown type: as active as the whole, but it may be a number although the whole is not.
    pub(super) fn part_of(&mut self, whole: Act) -> Ty {
        if let Some(why) = self.graph.reason(whole).map(str::to_string) {
            return Ty::Opaque(self.graph.pinned(&why));
        }
        let part = self.graph.fresh();
        self.graph.same(whole, part, Span::call_site());
        if self.graph.is_made(whole) {
            self.graph.set_made(part);
        }
        Ty::Opaque(part)
    }

    fn occurs(&self, var: usize, ty: &Ty) -> bool {
        match self.resolve(ty) {
            Ty::Var(v) => v == var,
            Ty::Seq(item) | Ty::Map(item) => self.occurs(var, &item),
            Ty::Tuple(items) => items.iter().any(|t| self.occurs(var, t)),
            Ty::Fn(args, ret) => args.iter().chain([&*ret]).any(|t| self.occurs(var, t)),
            _ => false,
        }
    }

    /// The types of the elements that a tuple or an array is written with.
    pub(super) fn types_of_elements(&self, ty: &Ty, count: usize) -> Vec<Ty> {
        match self.resolve(ty) {
            Ty::Tuple(types) => types,
            Ty::Seq(item) => vec![(*item).clone(); count],
            _ => Vec::new(),
        }
    }

    /// Whether a value of one type may go to a place of the other, as far as the kinds of both are known.
    pub(super) fn fits(&self, value: &Ty, place: &Ty) -> bool {
        match (self.resolve(value), self.resolve(place)) {
            (Ty::Var(_) | Ty::Opaque(_) | Ty::Never, _) | (_, Ty::Var(_) | Ty::Opaque(_)) => true,
            (Ty::Seq(a), Ty::Seq(b)) | (Ty::Map(a), Ty::Map(b)) => self.fits(&a, &b),
            (Ty::Tuple(a), Ty::Tuple(b)) => a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.fits(a, b)),
            (Ty::Struct(a, _), Ty::Struct(b, _)) => a == b,
            (a, b) => std::mem::discriminant(&a) == std::mem::discriminant(&b),
        }
    }

    /// Whether a trait of the module is implemented for numbers.
    fn has_number_type(&self, id: usize) -> bool {
        self.module.implemented.get("f64").is_some_and(|traits| traits.contains(&self.module.types[id].name))
    }

    /// Unifies two types.
    pub(super) fn unify(&mut self, a: &Ty, b: &Ty, span: Span) {
        let (a, b) = (self.resolve(a), self.resolve(b));
        match (&a, &b) {
            (Ty::Var(v), Ty::Var(w)) if v == w => {}
            (Ty::Never, _) | (_, Ty::Never) => {}
            (Ty::Var(v), other) | (other, Ty::Var(v)) if !self.occurs(*v, other) => self.vars[*v] = Some(other.clone()),
            (Ty::Float(a), Ty::Float(b)) | (Ty::Opaque(a), Ty::Opaque(b)) | (Ty::Text(a), Ty::Text(b)) => {
                self.graph.same(*a, *b, span)
            }
            // What becomes text is active, but text makes no number active.
            (Ty::Opaque(a), Ty::Text(b)) | (Ty::Text(b), Ty::Opaque(a)) => self.graph.flow(*a, *b, span),
            (whole @ Ty::Struct(i, _), Ty::Struct(j, b)) if i == j => {
                for act in self.acts(whole) {
                    self.graph.same(act, *b, span);
                }
            }
            // A value of a type where an object of a trait is expected: `Well<T>` implements `Potential<T>`.
            (Ty::Struct(i, a), Ty::Struct(j, b)) => {
                let (from, to) = (self.module.types[*i].flag, self.module.types[*j].flag);
                self.graph.both(*a, to, *b, span);
                self.graph.both(*b, from, *a, span);
            }
            // A number where a value of a trait that numbers implement is expected.
            (Ty::Float(a), Ty::Struct(id, b)) | (Ty::Struct(id, b), Ty::Float(a)) if self.has_number_type(*id) => {
                self.graph.same(*a, *b, span);
            }
            // Characters and pieces of text are collected.
            (Ty::Text(text), pieces @ Ty::Seq(_)) | (pieces @ Ty::Seq(_), Ty::Text(text)) => {
                for act in self.acts_and_texts(pieces) {
                    self.graph.flow(act, *text, span);
                }
            }
            // A closure where an object of a trait is expected, numbers collected to a struct, a struct that is read as a slice.
            (Ty::Struct(id, a), other @ (Ty::Fn(..) | Ty::Seq(_) | Ty::Map(_) | Ty::Tuple(_)))
            | (other @ (Ty::Fn(..) | Ty::Seq(_) | Ty::Map(_) | Ty::Tuple(_)), Ty::Struct(id, a))
                if self.module.types[*id].has_numbers =>
            {
                for act in self.acts(other) {
                    self.graph.same(*a, act, span);
                }
            }
            // A map is collected from its entries.
            (Ty::Seq(a) | Ty::Map(a), Ty::Seq(b) | Ty::Map(b)) => self.unify(a, b, span),
            (Ty::Tuple(a), Ty::Tuple(b)) => {
                for (a, b) in a.iter().zip(b) {
                    self.unify(a, b, span);
                }
            }
            (Ty::Fn(a, r), Ty::Fn(b, s)) => {
                for (a, b) in a.iter().zip(b) {
                    self.unify(a, b, span);
                }
                self.unify(r, s, span);
            }
            (Ty::Opaque(a), other) | (other, Ty::Opaque(a)) => {
                if let Ty::Float(_) = other {
                    self.graph.set_float(*a);
                }
                for act in self.acts(other) {
                    self.graph.same(*a, act, span);
                }
            }
            _ => {}
        }
    }

    /// Records that the value of `expr` flows to a place of type `expected`, where a plain number may be lifted.
    pub(super) fn coerce(&mut self, expr: &mut Expr, from: &Ty, to: &Ty) {
        let span = expr.span();
        let (from, to) = (self.resolve(from), self.resolve(to));
        if is_collected(expr) || self.is_wrapped(expr) {
            return self.unify(&from, &to, span);
        }
        if self.copied(expr, &from, &to) {
            return;
        }
        // Numbers written down where a type parameter is expected: `iterate((1.0, 0.0), ..)`.
        if let (Expr::Reference(reference), Ty::Opaque(_)) = (&mut *expr, &to)
            && matches!(&*reference.expr, Expr::Tuple(_) | Expr::Array(_))
        {
            return self.coerce(&mut reference.expr, &from, &to);
        }
        if let (Expr::Tuple(ExprTuple { elems, .. }) | Expr::Array(ExprArray { elems, .. }), Ty::Opaque(_)) =
            (&mut *expr, &to)
        {
            let parts = self.types_of_elements(&from, elems.len());
            for (elem, part) in elems.iter_mut().zip(&parts) {
                self.coerce(elem, part, &to);
            }
            return;
        }
        match (&from, &to) {
            (Ty::Never, _) => {}
            (Ty::Float(a), Ty::Var(v)) => {
                let b = self.graph.fresh();
                self.vars[*v] = Some(Ty::Float(b));
                self.flow_lifting(expr, *a, b, true);
            }
            // A value of a type parameter stays one.
            (Ty::Opaque(a), Ty::Var(v)) if self.has_operators(*a) || self.graph.is_made(*a) => {
                self.vars[*v] = Some(from);
            }
            (Ty::Opaque(a), Ty::Var(v)) => {
                let b = self.graph.fresh();
                self.vars[*v] = Some(Ty::Opaque(b));
                self.origins.push((b, *a));
                self.flow_lifting(expr, *a, b, false);
            }
            (Ty::Float(a), Ty::Float(b)) | (Ty::Opaque(a), Ty::Float(b)) => self.flow_lifting(expr, *a, *b, true),
            (Ty::Float(a), Ty::Opaque(b)) => {
                self.graph.set_float(*b);
                self.flow_lifting(expr, *a, *b, true);
            }
            (Ty::Opaque(a), Ty::Opaque(b)) => {
                if self.graph.is_made(*a) {
                    self.graph.flow(*b, *a, span);
                }
                self.flow_lifting(expr, *a, *b, false);
            }
            // `impl Into<Meters>`.
            (Ty::Float(a), Ty::Struct(_, b)) => self.flow_lifting(expr, *a, *b, true),
            (Ty::Opaque(a), other @ (Ty::Seq(_) | Ty::Map(_) | Ty::Tuple(_) | Ty::Struct(..) | Ty::Text(_))) => {
                for act in self.acts_and_texts(other) {
                    self.graph.flow(*a, act, span);
                }
            }
            (
                other @ (Ty::Seq(_) | Ty::Map(_) | Ty::Tuple(_) | Ty::Fn(..) | Ty::Struct(..) | Ty::Text(_)),
                Ty::Opaque(b),
            ) => {
                for act in self.acts_and_texts(other) {
                    self.graph.flow(act, *b, span);
                }
            }
            _ => self.unify(&from, &to, span),
        }
    }

    /// The same for the receiver of a method of numbers, and for an argument that it takes by reference (`is_borrowed`).
    pub(super) fn coerce_referent(&mut self, expr: &mut Expr, from: &Ty, to: &Ty, is_borrowed: bool) {
        if let Expr::Reference(r) = expr {
            return self.coerce_referent(&mut r.expr, from, to, false);
        }
        match (self.resolve(from), self.resolve(to)) {
            (Ty::Float(from), Ty::Float(to)) if !self.is_value(expr) => {
                self.graph.flow(from, to, expr.span());
                self.mark_expr(expr, Mark::LiftReferent { from, to, is_borrowed });
            }
            (Ty::Opaque(from), Ty::Opaque(to))
                if self.krate.has_vectors() && !self.graph.is_made(from) && !self.is_wrapped(expr) =>
            {
                self.graph.flow(from, to, expr.span());
                self.mark_expr(expr, Mark::LiftReferent { from, to, is_borrowed });
            }
            _ => self.coerce(expr, from, to),
        }
    }

    /// Whether the expression is `Cell::new(value)`, in which the value is lifted, not the cell, or names one, or is a guard of one; or a place that
    /// is written through. Also where it is the value of an `if`, a `match` or a block.
    pub(super) fn is_wrapped(&self, e: &Expr) -> bool {
        let is_tail =
            |block: &Block| matches!(block.stmts.last(), Some(Stmt::Expr(tail, None)) if self.is_wrapped(tail));
        match e {
            _ if is_written_through(e) => true,
            Expr::If(i) => {
                is_tail(&i.then_branch) || i.else_branch.as_ref().is_some_and(|(_, branch)| self.is_wrapped(branch))
            }
            Expr::Match(m) => m.arms.iter().any(|arm| self.is_wrapped(&arm.body)),
            Expr::Block(b) => is_tail(&b.block),
            Expr::Paren(p) => self.is_wrapped(&p.expr),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => {
                    let mut names = path.path.segments.iter().rev().map(|s| s.ident.to_string());
                    names.next().is_some_and(|name| name == "new" || name == "clone")
                        && names.next().is_some_and(|owner| WRAPPERS.contains(&owner.as_str()))
                }
                _ => false,
            },
            Expr::Path(p) => p.path.get_ident().and_then(|name| self.lookup(name)).is_some_and(|v| v.is_wrapped),
            Expr::Reference(r) => self.is_wrapped(&r.expr),
            // With their guards.
            Expr::MethodCall(m) if m.method == "borrow_mut" || m.method == "lock" => true,
            Expr::MethodCall(m) => {
                let names = ["clone", "borrow", "read", "write", "unwrap", "expect"];
                names.iter().any(|name| m.method == name) && self.is_wrapped(&m.receiver)
            }
            _ => false,
        }
    }

    /// A flow with a mark where a plain number can be lifted. `certain` says that the target is known to be a number.
    fn flow_lifting(&mut self, expr: &mut Expr, from: Act, to: Act, certain: bool) {
        self.graph.flow(from, to, expr.span());
        // It may be a vector.
        let mark = match certain || !self.krate.has_vectors() {
            true => Mark::Lift { from, to, certain },
            false => Mark::LiftReferent { from, to, is_borrowed: false },
        };
        self.mark_expr(expr, mark);
    }
}

/// Whether the expression is `&mut place`, or a method that returns such a reference: a copy in place of the place would lose what is written to it.
pub(super) fn is_written_through(e: &Expr) -> bool {
    const ENTRIES: [&str; 7] = [
        "or_insert",
        "or_insert_with",
        "or_insert_with_key",
        "or_default",
        "get_or_insert",
        "get_or_insert_with",
        "get_or_insert_default",
    ];
    const PARTS: [&str; 6] = ["unwrap", "expect", "next", "nth", "last", "next_back"];
    match e {
        Expr::Reference(r) => r.mutability.is_some() || is_written_through(&r.expr),
        Expr::Paren(p) => is_written_through(&p.expr),
        Expr::Try(t) => is_written_through(&t.expr),
        Expr::MethodCall(m) => {
            let name = m.method.to_string();
            name.ends_with("_mut")
                || ENTRIES.contains(&name.as_str())
                || name == "insert" && m.args.len() == 1
                || PARTS.contains(&name.as_str()) && is_written_through(&m.receiver)
        }
        _ => false,
    }
}

/// Whether the expression is `items.collect()`, or `2.0.into()` with a marked number, whose numbers are those of the place it goes to.
fn is_collected(e: &Expr) -> bool {
    match e {
        Expr::MethodCall(m) if m.method == "into" => {
            matches!(&*m.receiver, Expr::Call(receiver) if marked(receiver).is_some())
        }
        Expr::MethodCall(m) => m.method == "collect",
        Expr::Paren(p) => is_collected(&p.expr),
        _ => false,
    }
}
