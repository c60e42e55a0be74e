//! Plain numbers and vectors beside active vectors of `nalgebra` and arrays of `ndarray`: `0.5 * v`, `v / 2.0`, `p - goal`, `p.dot(&axis)`.
//!
//! Called by `exprs` and `calls` where the attribute says `nalgebra` or `ndarray`. A vector is a value of an unknown type to the analysis. These crates have no
//! operations of active and plain ones, so that the plain one is lifted, a number too. What is unknown may be a number as well, for which that is right.

use super::annotations::is_float;
use super::graph::Act;
use super::inference::Inference;
use super::marks::{Mark, marked};
use super::ty::Ty;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprMethodCall, Ident, UnOp};

impl Inference<'_> {
    /// `left * right` and other operators, where one of them is of an unknown type.
    pub(super) fn beside_vector(&mut self, b: &mut ExprBinary, left: &Ty, right: &Ty) {
        use BinOp::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Sub, SubAssign};
        if !self.krate.has_vectors() {
            return;
        }
        let is_place = match b.op {
            Add(_) | Sub(_) | Mul(_) | Div(_) => false,
            AddAssign(_) | SubAssign(_) | MulAssign(_) | DivAssign(_) => true,
            _ => return,
        };
        let types = [self.resolve(left), self.resolve(right)];
        let act = |ty: &Ty| if let Ty::Float(act) | Ty::Opaque(act) = ty { Some(*act) } else { None };
        if !types.iter().any(|ty| matches!(ty, Ty::Opaque(_))) {
            return;
        }
        if let Some(to) = act(&types[1]).filter(|_| !is_place) {
            self.lift_beside(&mut b.left, left, to, false);
        }
        if let Some(to) = act(&types[0]) {
            self.lift_beside(&mut b.right, right, to, false);
        }
        for (one, other) in [(left, right), (right, left)] {
            if let Ty::Opaque(made) = self.resolve(one)
                && self.graph.is_made(made)
            {
                self.acts(other).into_iter().for_each(|act| self.graph.flow(act, made, b.span()));
            }
        }
    }

    /// A value of an unknown type that is made of these. If all of them are literals or made of such, it is too, and they become active with it: the
    /// vector in `let mut sum = Vector3::new(1.0, 0.0, 0.0); sum += v`.
    pub(super) fn vector_of(&mut self, sources: &[Ty], span: Span) -> Ty {
        let result = self.opaque_of(sources, span);
        let Ty::Opaque(whole) = result else { return result };
        if !self.krate.has_vectors() {
            return result;
        }
        let sources: Vec<Ty> = sources.iter().map(|ty| self.resolve(ty)).collect();
        let is_made = sources.iter().all(|ty| match ty {
            Ty::Opaque(act) => self.graph.is_made(*act),
            Ty::Float(_) | Ty::Other => true,
            _ => false,
        });
        if is_made {
            self.graph.set_made(whole);
        }
        for source in sources {
            if let Ty::Opaque(act) = source
                && self.graph.is_made(act)
            {
                self.graph.flow(whole, act, span);
            }
        }
        result
    }

    /// `Vector3::<f64>::zeros()` has the numbers of the types that are written there.
    pub(super) fn vector_of_types(&mut self, written: &[Ty], result: &Ty, span: Span) {
        if self.krate.has_vectors() {
            let written: Vec<Act> = written.iter().flat_map(|ty| self.acts(ty)).collect();
            for act in self.acts(result) {
                written.iter().for_each(|of_type| self.graph.same(*of_type, act, span));
            }
        }
    }

    /// The argument of an unknown function beside other, active ones.
    pub(super) fn argument_beside_vector(&mut self, argument: &mut Expr, ty: &Ty, call: Act) {
        // What is written to a copy would be lost; a macro such as `s![1..]` makes no vector.
        if self.is_wrapped(argument) || matches!(argument, Expr::Macro(_)) {
            return;
        }
        // A variable that is no number is handed over as a reference, if it is one.
        let is_number = matches!(self.resolve(ty), Ty::Float(_));
        let is_borrowed = !is_number && matches!(argument, Expr::Path(_)) && !self.is_value(argument);
        self.lift_beside(argument, ty, call, is_borrowed);
    }

    /// `axis.dot(&v)`: a constant that an operation is called on, beside an active argument.
    pub(super) fn receiver_beside_vector(&mut self, m: &mut ExprMethodCall, receiver: &Ty, result: &Ty) {
        if let Ty::Opaque(to) = self.resolve(result)
            && self.krate.has_vectors()
            && combines(&m.method.to_string())
        {
            self.lift_beside(&mut m.receiver, receiver, to, false);
        }
    }

    /// `sum.axpy(2.0, &v, 1.0)`, `a.column_mut(0).copy_from(&v)`: what is written to a vector makes it active, and the matrix that it is a part of.
    pub(super) fn vector_written(&mut self, m: &ExprMethodCall, receiver: &Ty, result: &Ty) {
        if !self.krate.has_vectors() || !writes(&m.method.to_string()) {
            return;
        }
        let whole = place_of_part(&m.receiver).and_then(|place| self.lookup(place)).map(|variable| variable.ty);
        let written: Vec<Act> = [Some(receiver.clone()), whole].iter().flatten().flat_map(|ty| self.acts(ty)).collect();
        for from in self.acts(result) {
            written.iter().for_each(|to| self.graph.flow(from, *to, m.span()));
        }
    }

    fn lift_beside(&mut self, e: &mut Expr, ty: &Ty, to: Act, is_borrowed: bool) {
        match self.resolve(ty) {
            Ty::Float(from) if self.is_value(e) => self.mark_expr(e, Mark::Lift { from, to, certain: true }),
            Ty::Float(from) | Ty::Opaque(from) => self.lift_parts(e, from, to, is_borrowed),
            _ => {}
        }
    }

    /// Marks the operands of a plain formula, all of them plain: the number type of `0.5 * gravity` alone may follow from what it stands beside.
    fn lift_parts(&mut self, e: &mut Expr, from: Act, to: Act, is_borrowed: bool) {
        match e {
            Expr::Paren(inner) => self.lift_parts(&mut inner.expr, from, to, is_borrowed),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Neg(_)) => {
                self.lift_parts(&mut inner.expr, from, to, false);
            }
            Expr::Binary(b) if matches!(b.op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_)) => {
                self.lift_parts(&mut b.left, from, to, false);
                self.lift_parts(&mut b.right, from, to, false);
            }
            Expr::Reference(inner) => self.lift_parts(&mut inner.expr, from, to, false),
            // Which of the two types of numbers a literal is follows from nothing else.
            _ if is_literal(e) => self.mark_expr(e, Mark::Lift { from, to, certain: true }),
            _ => self.mark_expr(e, Mark::LiftReferent { from, to, is_borrowed }),
        }
    }
}

/// Whether an expression is a literal, which may have a mark.
fn is_literal(e: &Expr) -> bool {
    match e {
        Expr::Lit(literal) => is_float(&literal.lit),
        Expr::Call(call) => marked(call).is_some() && call.args.iter().all(is_literal),
        _ => false,
    }
}

/// Whether a method of a vector or an array writes to what it is called on.
fn writes(name: &str) -> bool {
    let begins = ["set_", "fill", "copy_from", "assign", "scaled_add", "zip_apply", "gem", "ger", "syg", "hegemv"];
    let ends = ["_mut", "_assign"];
    name == "axpy" || begins.iter().any(|word| name.starts_with(word)) || ends.iter().any(|word| name.ends_with(word))
}

/// Whether a method computes something new of what it is called on and of its argument.
fn combines(name: &str) -> bool {
    matches!(
        name,
        "dot"
            | "dotc"
            | "cross"
            | "perp"
            | "tr_dot"
            | "tr_mul"
            | "ad_mul"
            | "kronecker"
            | "component_mul"
            | "component_div"
            | "zip_map"
            | "zip_fold"
            | "angle"
            | "angle_to"
            | "rotation_to"
            | "metric_distance"
            | "lerp"
            | "nlerp"
            | "transform_point"
            | "transform_vector"
            | "inverse_transform_point"
            | "inverse_transform_vector"
            | "inf"
            | "sup"
            | "inf_sup"
    )
}

/// The variable that a part is borrowed from: `a` in `a.column_mut(0)`.
fn place_of_part(e: &Expr) -> Option<&Ident> {
    match e {
        Expr::MethodCall(m) if m.method.to_string().ends_with("_mut") => match &*m.receiver {
            Expr::Path(place) => place.path.get_ident(),
            part => place_of_part(part),
        },
        _ => None,
    }
}

/// Whether an argument is `&mut place`.
pub(super) fn is_mutable(e: &Expr) -> bool {
    matches!(e, Expr::Reference(reference) if reference.mutability.is_some())
}
