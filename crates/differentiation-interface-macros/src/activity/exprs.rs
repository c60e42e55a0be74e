//! Expressions and statements: their types, and the flows they cause.

use super::annotations::{Words, is_float};
use super::declared::Passing;
use super::inference::Inference;
use super::instances::operator_name;
use super::marks::Mark;
use super::places::is_in_both;
use super::refusals;
use super::ty::Ty;
use crate::number::{is_word, mentions};
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::HashMap;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprClosure, ExprIf, Item, Label, Lifetime, Lit, Member, Pat, Stmt, UnOp};

impl Inference<'_> {
    /// Reads a block. Its value flows to `expected`, if that is given.
    pub(super) fn block(&mut self, block: &mut Block, expected: Option<&Ty>) -> Ty {
        self.scopes.push(HashMap::new());
        for stmt in &mut block.stmts {
            match stmt {
                Stmt::Item(Item::Fn(function)) => self.declare_nested(function),
                Stmt::Macro(m) => {
                    let mac = Expr::Macro(syn::ExprMacro { attrs: std::mem::take(&mut m.attrs), mac: m.mac.clone() });
                    *stmt = Stmt::Expr(mac, m.semi_token);
                }
                _ => {}
            }
        }
        let count = block.stmts.len();
        let mut value = Ty::Other;
        for (i, stmt) in block.stmts.iter_mut().enumerate() {
            match stmt {
                Stmt::Local(local) => self.local(local),
                Stmt::Item(item) => self.item(item),
                Stmt::Expr(e, semi) => {
                    let ty = self.expr(e);
                    let diverges = matches!(ty, Ty::Never);
                    if i + 1 == count && semi.is_none() {
                        if let Some(expected) = expected {
                            self.coerce(e, &ty, expected);
                        }
                        value = ty;
                    } else if diverges {
                        value = Ty::Never;
                    }
                }
                Stmt::Macro(_) => {}
            }
        }
        self.scopes.pop();
        match (expected, &value) {
            (Some(expected), v) if !matches!(v, Ty::Never) => expected.clone(),
            _ => value,
        }
    }

    fn local(&mut self, local: &mut syn::Local) {
        let target = match &mut local.pat {
            Pat::Type(p) => self.annotation(&mut p.ty, &Words::Open),
            _ => self.fresh_var(),
        };
        let (mut by_value, mut is_wrapped) = (false, false);
        if let Some(init) = &mut local.init {
            let ty = self.expr(&mut init.expr);
            by_value = self.is_value(&init.expr);
            is_wrapped = self.is_wrapped(&init.expr);
            self.coerce(&mut init.expr, &ty, &target);
            if let Some((_, diverge)) = &mut init.diverge {
                self.expr(diverge);
            }
        }
        match &mut local.pat {
            Pat::Type(p) => {
                let by_value = !matches!(&*p.ty, syn::Type::Reference(_));
                self.pattern(&mut p.pat, &target, by_value);
            }
            pat => self.pattern(pat, &target, by_value),
        }
        let pat = match &local.pat {
            Pat::Type(p) => &*p.pat,
            pat => pat,
        };
        if let (true, Pat::Ident(p)) = (is_wrapped, pat)
            && let Some(variable) = self.scopes.last_mut().and_then(|scope| scope.get_mut(&p.ident.to_string()))
        {
            variable.is_wrapped = true;
        }
    }

    fn item(&mut self, item: &mut Item) {
        match item {
            Item::Fn(function) => self.nested(function),
            Item::Const(c) => {
                let words = Words::Plain(refusals::constant_item(&c.ident));
                let ty = self.annotation(&mut c.ty.clone(), &words);
                let ident = c.ident.clone();
                self.bind(&ident, ty, true);
            }
            Item::Static(s) => {
                let words = Words::Plain(refusals::constant_item(&s.ident));
                let ty = self.annotation(&mut s.ty.clone(), &words);
                let ident = s.ident.clone();
                self.bind(&ident, ty, true);
            }
            Item::Use(_) => {}
            other => {
                if mentions(other.to_token_stream(), "f64") {
                    self.errors.push(
                        other.span(),
                        "rewrites only functions and constants inside a function; move this item out, and put both into one `#[differentiable] mod`",
                    );
                }
            }
        }
    }

    /// Reads an expression and returns its type.
    pub(super) fn expr(&mut self, e: &mut Expr) -> Ty {
        let span = e.span();
        match e {
            Expr::Lit(l) if is_float(&l.lit) => self.fresh_float(),
            Expr::Lit(l) if matches!(l.lit, Lit::Str(_)) => self.text_of(&[], span),
            Expr::Lit(_) => Ty::Other,
            Expr::Path(_) => self.path(e),
            Expr::Paren(p) => self.expr(&mut p.expr),
            Expr::Group(p) => self.expr(&mut p.expr),
            Expr::Reference(r) => self.expr(&mut r.expr),
            Expr::Unary(u) => {
                let ty = self.expr(&mut u.expr);
                if let Some(result) = self.unary_operator(u, &ty) {
                    return result;
                }
                if matches!(u.op, UnOp::Not(_)) { Ty::Other } else { ty }
            }
            Expr::Binary(b) => {
                let left = self.expr(&mut b.left);
                let right = self.expr(&mut b.right);
                if let Some(name) = operator_name(&b.op) {
                    if let Some(result) = self.operator(name, b, &left, &right) {
                        return result;
                    }
                    if let Some(result) = self.parameter_operator(name, b, &left, &right) {
                        return result;
                    }
                    if let Some((call, result)) = self.number_operator(name, b, &left, &right) {
                        *e = call;
                        return result;
                    }
                }
                if is_comparison(&b.op)
                    && let (Ty::Struct(..), Ty::Struct(..)) = (self.resolve(&left), self.resolve(&right))
                {
                    match self.is_data(&left) {
                        true => self.operand(&mut b.left, &left, &right, Some(Passing::Owned)),
                        false => self.operand(&mut b.right, &right, &left, Some(Passing::Owned)),
                    }
                    return Ty::Other;
                }
                // `impl PartialOrd<f64> for Length`.
                if is_comparison(&b.op) && matches!(self.resolve(&left), Ty::Struct(..)) {
                    let method = if matches!(b.op, BinOp::Eq(_) | BinOp::Ne(_)) { "eq" } else { "partial_cmp" };
                    self.operator(method, b, &left, &right);
                    return Ty::Other;
                }
                // `Some(0.0)` and `(1.0, i)` are made for the comparison.
                if is_comparison(&b.op) && [&b.left, &b.right].into_iter().any(|side| is_made_here(side)) {
                    self.unify(&left, &right, span);
                    return Ty::Other;
                }
                self.beside_vector(b, &left, &right);
                match b.op {
                    BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                        self.arithmetic(&left, &right, span)
                    }
                    BinOp::AddAssign(_)
                    | BinOp::SubAssign(_)
                    | BinOp::MulAssign(_)
                    | BinOp::DivAssign(_)
                    | BinOp::RemAssign(_) => {
                        let is_of_numbers = self.krate.is_of_numbers(&b.op);
                        self.assign_arithmetic(&left, &right, span, is_of_numbers);
                        let is_plain_place = matches!(&*b.left, Expr::Path(_) | Expr::Index(_));
                        if let Ty::Float(act) | Ty::Opaque(act) = self.resolve(&left)
                            && !is_plain_place
                            && is_in_both(b)
                        {
                            self.mark_expr(e, Mark::RightFirst(act));
                        }
                        Ty::Other
                    }
                    BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) | BinOp::Shl(_) | BinOp::Shr(_) => left,
                    _ => Ty::Other,
                }
            }
            Expr::Assign(a) => {
                let place = self.place(&mut a.left);
                let value = self.expr(&mut a.right);
                self.coerce(&mut a.right, &value, &place);
                Ty::Other
            }
            Expr::Cast(_) => self.cast(e),
            Expr::Call(_) => self.call(e),
            Expr::MethodCall(_) => self.method(e),
            Expr::Index(i) => {
                let base = self.expr(&mut i.expr);
                self.expr(&mut i.index);
                if let Some(item) = self.indexed(&base, span).or_else(|| self.map_value(&base)) {
                    return item;
                }
                if matches!(&*i.index, Expr::Range(_)) { base } else { self.item_of(&base) }
            }
            Expr::Field(f) => {
                let base = self.expr(&mut f.base);
                if let Some(field) = self.field(&base, &f.member.to_token_stream().to_string(), span) {
                    return field;
                }
                match (&f.member, self.resolve(&base)) {
                    (Member::Unnamed(i), Ty::Tuple(items)) if (i.index as usize) < items.len() => {
                        items[i.index as usize].clone()
                    }
                    (_, Ty::Opaque(a)) => self.part_of(a),
                    (_, other) => self.opaque_of(&[other], span),
                }
            }
            Expr::If(i) => {
                let join = self.fresh_var();
                self.if_into(i, &join);
                join
            }
            Expr::Match(m) => {
                let value = self.expr(&mut m.expr);
                let join = self.fresh_var();
                for arm in &mut m.arms {
                    self.scopes.push(HashMap::new());
                    self.pattern(&mut arm.pat, &value, false);
                    let ty = self.expr(&mut arm.body);
                    self.coerce(&mut arm.body, &ty, &join);
                    arm.comma.get_or_insert_with(Default::default);
                    self.scopes.pop();
                }
                join
            }
            Expr::Block(b) if b.label.is_some() => {
                let value = self.fresh_var();
                self.breaks.push((name_of(&b.label), value.clone()));
                self.block(&mut b.block, Some(&value));
                self.breaks.pop();
                value
            }
            Expr::Block(b) => self.block(&mut b.block, None),
            Expr::Let(l) => {
                let value = self.expr(&mut l.expr);
                self.pattern(&mut l.pat, &value, false);
                Ty::Other
            }
            Expr::ForLoop(f) => {
                let items = self.expr(&mut f.expr);
                let item = self.item_of(&items);
                self.scopes.push(HashMap::new());
                self.pattern(&mut f.pat, &item, false);
                self.body(&f.label, &mut f.body);
                self.scopes.pop();
                Ty::Other
            }
            Expr::While(w) => {
                self.scopes.push(HashMap::new());
                self.expr(&mut w.cond);
                self.body(&w.label, &mut w.body);
                self.scopes.pop();
                Ty::Other
            }
            Expr::Loop(l) => self.body(&l.label, &mut l.body),
            Expr::Break(b) => {
                if let Some(value) = &mut b.expr {
                    let ty = self.expr(value);
                    if let Some(target) = self.break_target(&b.label) {
                        self.coerce(value, &ty, &target);
                    }
                }
                Ty::Never
            }
            Expr::Continue(_) => Ty::Never,
            Expr::Return(r) => {
                if let Some(value) = &mut r.expr {
                    let ty = self.expr(value);
                    if let Some(target) = self.returns.last().cloned() {
                        self.coerce(value, &ty, &target);
                    }
                }
                Ty::Never
            }
            Expr::Closure(c) => self.closure(c, None),
            Expr::Array(a) => {
                let item = self.fresh_var();
                for elem in &mut a.elems {
                    let ty = self.expr(elem);
                    self.coerce(elem, &ty, &item);
                }
                Ty::seq(item)
            }
            Expr::Repeat(r) => {
                let item = self.fresh_var();
                let ty = self.expr(&mut r.expr);
                self.coerce(&mut r.expr, &ty, &item);
                Ty::seq(item)
            }
            Expr::Tuple(t) if t.elems.is_empty() => Ty::Other,
            Expr::Tuple(t) => {
                let mut items = Vec::new();
                for elem in &mut t.elems {
                    let ty = self.expr(elem);
                    let item = self.fresh_var();
                    self.coerce(elem, &ty, &item);
                    items.push(item);
                }
                Ty::Tuple(items)
            }
            Expr::Range(r) => {
                let item = self.fresh_var();
                for end in [&mut r.start, &mut r.end].into_iter().flatten() {
                    let ty = self.expr(end);
                    self.coerce(end, &ty, &item);
                }
                Ty::seq(item)
            }
            Expr::Struct(s) => {
                if let Some(ty) = self.struct_literal(s) {
                    return ty;
                }
                self.unknown_literal(e)
            }
            Expr::Try(t) => {
                let ty = self.expr(&mut t.expr);
                self.item_of(&ty)
            }
            Expr::Macro(_) => self.macro_call(e),
            Expr::Const(_) | Expr::Infer(_) => self.opaque_of(&[], span),
            other => {
                refusals::refuse_expression(other, self.errors);
                self.opaque_of(&[], span)
            }
        }
    }

    /// The body of a loop. Returns the type of the values of `break`.
    fn body(&mut self, label: &Option<Label>, body: &mut Block) -> Ty {
        let value = self.fresh_var();
        self.breaks.push((name_of(label), value.clone()));
        self.block(body, None);
        self.breaks.pop();
        value
    }

    /// The target of the value of a `break`.
    fn break_target(&self, label: &Option<Lifetime>) -> Option<Ty> {
        let wanted = label.as_ref().map(|l| l.ident.to_string());
        let mut around = self.breaks.iter().rev();
        let found = match wanted {
            Some(_) => around.find(|(name, _)| *name == wanted),
            None => around.next(),
        };
        found.map(|(_, ty)| ty.clone())
    }

    fn if_into(&mut self, e: &mut ExprIf, join: &Ty) {
        self.scopes.push(HashMap::new());
        self.expr(&mut e.cond);
        let has_value = e.else_branch.is_some();
        self.block(&mut e.then_branch, has_value.then_some(join));
        self.scopes.pop();
        match e.else_branch.as_mut().map(|(_, branch)| &mut **branch) {
            Some(Expr::If(next)) => self.if_into(next, join),
            Some(Expr::Block(b)) => {
                self.block(&mut b.block, Some(join));
            }
            _ => {}
        }
    }

    /// The left side of an assignment, which must stay a place: it cannot be wrapped.
    fn place(&mut self, e: &mut Expr) -> Ty {
        match e {
            Expr::Infer(_) => self.fresh_var(),
            Expr::Tuple(t) => Ty::Tuple(t.elems.iter_mut().map(|elem| self.place(elem)).collect()),
            e => self.expr(e),
        }
    }

    /// Reads a closure whose arguments have the `expected` types.
    pub(super) fn closure(&mut self, c: &mut ExprClosure, expected: Option<&[Ty]>) -> Ty {
        if let Some(token) = &c.asyncness {
            self.errors.push(token.span(), "cannot differentiate `async` code; write an ordinary closure");
        }
        self.scopes.push(HashMap::new());
        let mut arguments = Vec::new();
        for (i, pat) in c.inputs.iter_mut().enumerate() {
            let ty = match expected.and_then(|e| e.get(i)) {
                Some(ty) => ty.clone(),
                None => self.fresh_var(),
            };
            self.pattern(pat, &ty, false);
            arguments.push(ty);
        }
        let result = match &mut c.output {
            syn::ReturnType::Default => self.fresh_var(),
            output => self.return_annotation(output, &Words::Open),
        };
        self.returns.push(result.clone());
        let breaks = std::mem::take(&mut self.breaks);
        let braced = !matches!(c.output, syn::ReturnType::Default);
        match &mut *c.body {
            // A closure with a result type needs its braces.
            Expr::Block(b) if braced => {
                self.block(&mut b.block, Some(&result));
            }
            body => {
                let ty = self.expr(body);
                self.coerce(body, &ty, &result);
            }
        }
        self.breaks = breaks;
        self.returns.pop();
        self.scopes.pop();
        Ty::Fn(arguments, Rc::new(result))
    }

    /// The type of a sum, product, ... of two values. A plain and an active value may be mixed.
    pub(super) fn arithmetic(&mut self, left: &Ty, right: &Ty, span: Span) -> Ty {
        let (left, right) = (self.resolve(left), self.resolve(right));
        match (&left, &right) {
            (Ty::Other, Ty::Other) => Ty::Other,
            (Ty::Text(_), _) => self.text_of(&[left, right], span),
            (Ty::Var(_), Ty::Var(_)) => {
                self.unify(&left, &right, span);
                left
            }
            (Ty::Var(_), Ty::Other) | (Ty::Other, Ty::Var(_)) => {
                self.unify(&left, &right, span);
                Ty::Other
            }
            (Ty::Var(v), Ty::Float(_)) | (Ty::Float(_), Ty::Var(v)) => {
                let other = self.fresh_float();
                self.vars[*v] = Some(other);
                self.arithmetic(&left, &right, span)
            }
            // It may be a vector.
            (Ty::Float(_) | Ty::Opaque(_), Ty::Opaque(_)) | (Ty::Opaque(_), Ty::Float(_))
                if self.krate.has_vectors() =>
            {
                self.vector_of(&[left, right], span)
            }
            (Ty::Float(_), Ty::Float(_) | Ty::Opaque(_) | Ty::Other | Ty::Never)
            | (Ty::Opaque(_) | Ty::Other | Ty::Never, Ty::Float(_)) => {
                let act = self.graph.fresh();
                for a in self.acts(&left).into_iter().chain(self.acts(&right)) {
                    self.graph.flow(a, act, span);
                }
                Ty::Float(act)
            }
            _ => self.opaque_of(&[left, right], span),
        }
    }

    /// `left += right` and similar: an active right side makes the left side active.
    fn assign_arithmetic(&mut self, left: &Ty, right: &Ty, span: Span, is_of_numbers: bool) {
        let (left, right) = (self.resolve(left), self.resolve(right));
        match (&left, &right) {
            (Ty::Var(_), Ty::Var(_) | Ty::Other) => self.unify(&left, &right, span),
            (Ty::Var(v), Ty::Float(_)) => {
                let other = self.fresh_float();
                self.vars[*v] = Some(other);
                self.assign_arithmetic(&left, &right, span, is_of_numbers);
            }
            (Ty::Float(_), Ty::Var(v)) => {
                let other = self.fresh_float();
                self.vars[*v] = Some(other);
                self.assign_arithmetic(&left, &right, span, is_of_numbers);
            }
            (Ty::Float(a) | Ty::Opaque(a) | Ty::Text(a), _) => {
                if let Ty::Float(_) = right
                    && (is_of_numbers || matches!(left, Ty::Float(_)))
                {
                    self.graph.set_float(*a);
                }
                for b in self.acts_and_texts(&right) {
                    self.graph.flow(b, *a, span);
                }
            }
            _ => {}
        }
    }

    fn cast(&mut self, e: &mut Expr) -> Ty {
        let Expr::Cast(cast) = e else { return Ty::Other };
        let ty = self.expr(&mut cast.expr);
        let from = self.resolve(&ty);
        self.refuse_parsing(&from, cast.ty.span());
        if is_word(&cast.ty, "f64") {
            return match from {
                Ty::Float(a) => {
                    self.mark_expr(e, Mark::Cast(a));
                    Ty::Float(a)
                }
                _ => self.fresh_float(),
            };
        }
        if let Ty::Float(a) = from {
            let target = cast.ty.to_token_stream().to_string();
            self.checks.push((a, cast.ty.span(), refusals::cast(&target)));
        }
        Ty::Other
    }

    /// Whether an expression is certainly a number by value, and not a reference to one.
    pub(super) fn is_value(&self, e: &Expr) -> bool {
        match e {
            Expr::Lit(l) => matches!(l.lit, Lit::Float(_) | Lit::Int(_)),
            Expr::Unary(_) | Expr::Binary(_) | Expr::Cast(_) | Expr::Index(_) => true,
            Expr::Paren(p) => self.is_value(&p.expr),
            Expr::Group(p) => self.is_value(&p.expr),
            // A mark.
            Expr::Call(call) => super::marks::marked(call).is_some() && call.args.iter().all(|a| self.is_value(a)),
            Expr::Reference(r) => r.mutability.is_none() && matches!(&*r.expr, Expr::Lit(_)),
            Expr::MethodCall(m) => refusals::is_float_method(&m.method.to_string()),
            Expr::Path(p) => match p.path.get_ident() {
                Some(ident) => self.lookup(ident).map_or_else(|| is_constant_name(ident), |v| v.by_value),
                None => p.path.segments.last().is_some_and(|s| is_constant_name(&s.ident)),
            },
            _ => false,
        }
    }
}

/// Whether an expression puts values together: `Some(0.0)`, `(1.0, i)`.
fn is_made_here(e: &Expr) -> bool {
    match e {
        Expr::Tuple(_) => true,
        Expr::Call(call) => matches!(&*call.func, Expr::Path(p) if p.path.is_ident("Some") || p.path.is_ident("Ok")),
        Expr::Reference(r) => is_made_here(&r.expr),
        _ => false,
    }
}

fn is_comparison(op: &BinOp) -> bool {
    matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_))
}

fn name_of(label: &Option<Label>) -> Option<String> {
    label.as_ref().map(|l| l.name.ident.to_string())
}

/// Whether a name is written like a constant: `PI`, `MAX_STEPS`.
pub(super) fn is_constant_name(ident: &syn::Ident) -> bool {
    let name = ident.to_string();
    name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_uppercase())
}
