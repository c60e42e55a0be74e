//! Methods of slices, vectors, options and iterators, all of which the analysis treats as sequences.

use super::annotations::Words;
use super::declared::Passing;
use super::inference::Inference;
use super::marks::Mark;
use super::ty::Ty;
use proc_macro2::Span;
use syn::{Expr, ExprMethodCall};

impl Inference<'_> {
    /// A method of a sequence; `None` if it is not known.
    pub(super) fn sequence_method(
        &mut self,
        m: &mut ExprMethodCall,
        receiver: &Ty,
        name: &str,
        span: Span,
    ) -> Option<Ty> {
        const SAME: &[&str] = &[
            "iter",
            "iter_mut",
            "into_iter",
            "copied",
            "cloned",
            "rev",
            "skip",
            "take",
            "step_by",
            "cycle",
            "peekable",
            "fuse",
            "to_vec",
            "as_slice",
            "as_mut_slice",
            "drain",
            "into_boxed_slice",
            "first",
            "last",
            "get",
            "get_mut",
            "next",
            "nth",
            "pop",
            "next_back",
            "first_mut",
            "last_mut",
            "peek",
            "ok",
            "ok_or",
            "ok_or_else",
            "split_off",
            "each_ref",
            "into_vec",
            "into_sorted_vec",
            "peek_mut",
            "as_deref",
            "pop_first",
            "pop_last",
        ];
        const ITEM: &[&str] = &["unwrap", "expect", "unwrap_or_default", "remove", "swap_remove", "unwrap_unchecked"];
        const NOTHING: &[&str] = &[
            "len",
            "is_empty",
            "swap",
            "reverse",
            "clear",
            "truncate",
            "reserve",
            "count",
            "is_some",
            "is_none",
            "is_ok",
            "is_err",
            "capacity",
            "rotate_left",
            "rotate_right",
            "shrink_to_fit",
            "dedup",
        ];
        const WINDOWS: &[&str] = &[
            "windows",
            "chunks",
            "chunks_exact",
            "chunks_mut",
            "chunks_exact_mut",
            "rchunks",
            "rchunks_exact",
            "array_windows",
        ];
        const TESTS: &[&str] =
            &["filter", "take_while", "skip_while", "inspect", "find", "min_by_key", "max_by_key", "partition"];
        const ENDS: &[&str] = &[
            "for_each",
            "any",
            "all",
            "position",
            "is_sorted_by_key",
            "sort_by_key",
            "retain",
            "is_some_and",
            "partition_point",
            "rposition",
            "binary_search_by",
        ];

        // Of a set, by an item: `set.get(&key)`.
        if matches!(receiver, Ty::Seq(_)) && m.args.len() == 1 && matches!(name, "get" | "take" | "remove") {
            let (key, item) = (self.expr(&mut m.args[0]), self.item_of(receiver));
            self.compared(&mut m.args[0], &key, &item);
            return Some(if name == "remove" { item } else { receiver.clone() });
        }
        if SAME.contains(&name) {
            self.plain_arguments(m);
            return Some(receiver.clone());
        }
        if NOTHING.contains(&name) {
            self.plain_arguments(m);
            return Some(Ty::Other);
        }
        if matches!(name, "starts_with" | "ends_with") && m.args.len() == 1 {
            let ty = self.expr(&mut m.args[0]);
            if !matches!(receiver, Ty::Var(_)) {
                self.compared(&mut m.args[0], &ty, receiver);
            }
            return Some(Ty::Other);
        }
        // A variable that may still be a number is not treated as a sequence by the more common names below.
        if matches!(receiver, Ty::Var(_))
            && !ITEM.contains(&name)
            && !matches!(name, "push" | "extend" | "fill" | "map")
        {
            return None;
        }
        let item = self.item_of(receiver);
        if ITEM.contains(&name) {
            self.plain_arguments(m);
            return Some(item);
        }
        if WINDOWS.contains(&name) {
            self.plain_arguments(m);
            return Some(Ty::seq(Ty::seq(item)));
        }
        if TESTS.contains(&name) {
            self.callback(m.args.first_mut()?, &[item]);
            return Some(if name == "partition" {
                Ty::Tuple(vec![receiver.clone(), receiver.clone()])
            } else {
                receiver.clone()
            });
        }
        if ENDS.contains(&name) {
            self.callback(m.args.first_mut()?, &[item]);
            return Some(Ty::Other);
        }
        match (name, m.args.len()) {
            ("collect", 0) => {
                if let Some(wanted) = self.turbofish(m, &Words::Open).first() {
                    self.unify(wanted, receiver, span);
                }
                Some(receiver.clone())
            }
            ("sum" | "product", 0) => {
                if let Some(wanted) = self.turbofish(m, &Words::Open).first() {
                    self.unify(wanted, &item, span);
                }
                Some(item)
            }
            ("min" | "max", 0) => Some(receiver.clone()),
            ("map", 1) => {
                let result = self.callback(&mut m.args[0], &[item]);
                Some(Ty::seq(result))
            }
            ("filter_map" | "map_while" | "flat_map" | "and_then", 1) => {
                let result = self.callback(&mut m.args[0], &[item]);
                let inner = self.item_of(&result);
                Some(Ty::seq(inner))
            }
            ("join", 1) => {
                let separator = self.expr(&mut m.args[0]);
                Some(match self.resolve(&item) {
                    text @ Ty::Text(_) => self.text_of(&[text, separator], span),
                    other => other,
                })
            }
            ("flatten" | "concat", 0) => {
                let inner = self.item_of(&item);
                Some(Ty::seq(inner))
            }
            ("enumerate", 0) => Some(Ty::seq(Ty::Tuple(vec![Ty::Other, item]))),
            ("zip", 1) => {
                let other = self.expr(&mut m.args[0]);
                let other = self.item_of(&other);
                Some(Ty::seq(Ty::Tuple(vec![item, other])))
            }
            ("unzip", 0) => {
                self.turbofish(m, &Words::Open);
                let parts = match self.resolve(&item) {
                    Ty::Tuple(parts) => parts,
                    other => vec![other.clone(), other],
                };
                Some(Ty::Tuple(parts.into_iter().map(Ty::seq).collect()))
            }
            ("split_at" | "split_at_mut", 1) => {
                self.plain_arguments(m);
                Some(Ty::Tuple(vec![receiver.clone(), receiver.clone()]))
            }
            ("split_first" | "split_last", 0) => Some(Ty::seq(Ty::Tuple(vec![item, receiver.clone()]))),
            ("contains", 1) => {
                let ty = self.expr(&mut m.args[0]);
                // Compared with items, and so of their type. The items need not be active for that.
                match (self.resolve(&ty), self.resolve(&item)) {
                    (Ty::Float(from), Ty::Float(to)) => {
                        self.mark_expr(&mut m.args[0], Mark::Lift { from, to, certain: true });
                    }
                    _ => self.compared(&mut m.args[0], &ty, &item),
                }
                Some(Ty::Other)
            }
            ("or_else", 1) => {
                let result = self.callback(&mut m.args[0], &[Ty::Other]);
                self.unify(&result, receiver, span);
                Some(receiver.clone())
            }
            ("range" | "is_subset" | "is_superset" | "is_disjoint", 1) => {
                let other = self.expr(&mut m.args[0]);
                self.compared(&mut m.args[0], &other, receiver);
                Some(if name == "range" { receiver.clone() } else { Ty::Other })
            }
            ("chain", 1) => {
                let other = self.expr(&mut m.args[0]);
                let of_other = self.item_of(&other);
                if self.is_data(receiver) && !self.is_data(&other) {
                    self.joined(&mut m.receiver, receiver, &of_other, Passing::Owned);
                    return Some(other);
                }
                self.joined(&mut m.args[0], &other, &item, Passing::Owned);
                Some(receiver.clone())
            }
            ("or" | "union" | "intersection" | "difference" | "symmetric_difference", 1) => {
                let other = self.expr(&mut m.args[0]);
                self.unify(&other, receiver, span);
                Some(receiver.clone())
            }
            ("fold" | "rfold", 2) => {
                let state = self.state(&mut m.args[0]);
                let result = self.callback(&mut m.args[1], &[state.clone(), item]);
                self.unify(&result, &state, span);
                Some(state)
            }
            ("try_fold", 2) => {
                let state = self.state(&mut m.args[0]);
                let result = self.callback(&mut m.args[1], &[state.clone(), item]);
                let inner = self.item_of(&result);
                self.unify(&inner, &state, span);
                Some(result)
            }
            ("scan", 2) => {
                let state = self.state(&mut m.args[0]);
                let result = self.callback(&mut m.args[1], &[state, item]);
                let inner = self.item_of(&result);
                Some(Ty::seq(inner))
            }
            ("reduce", 1) => {
                let result = self.callback(&mut m.args[0], &[item.clone(), item.clone()]);
                self.unify(&result, &item, span);
                Some(receiver.clone())
            }
            ("map_or", 2) => {
                let result = self.state(&mut m.args[0]);
                let mapped = self.callback(&mut m.args[1], &[item]);
                self.unify(&mapped, &result, span);
                Some(result)
            }
            ("map_or_else", 2) => {
                let result = self.callback(&mut m.args[0], &[]);
                let mapped = self.callback(&mut m.args[1], &[item]);
                self.unify(&mapped, &result, span);
                Some(result)
            }
            ("entry", 1) => {
                self.plain_arguments(m);
                Some(receiver.clone())
            }
            ("and_modify", 1) => {
                self.callback(&mut m.args[0], &[item]);
                Some(receiver.clone())
            }
            ("or_default" | "get_or_insert_default", 0) => Some(item),
            // The key of an entry is not known here.
            ("or_insert_with" | "or_insert_with_key" | "get_or_insert_with" | "get_or_init", 1) => {
                let key = self.fresh_var();
                let result = self.callback(&mut m.args[0], &[key]);
                self.unify(&result, &item, span);
                Some(item)
            }
            ("unwrap_or" | "or_insert" | "get_or_insert", 1) => {
                self.put_item(&mut m.args[0], &item);
                Some(item)
            }
            // Of an option; what a set returns is no item.
            ("insert", 1) if matches!(receiver, Ty::Seq(_)) => {
                self.put_item(&mut m.args[0], &item);
                Some(item)
            }
            ("unwrap_or_else", 1) => {
                let result = self.callback(&mut m.args[0], &[Ty::Other]);
                self.unify(&result, &item, span);
                Some(item)
            }
            ("min_by" | "max_by", 1) => {
                self.callback(&mut m.args[0], &[item.clone(), item]);
                Some(receiver.clone())
            }
            ("sort_by" | "sort_unstable_by" | "dedup_by", 1) => {
                self.callback(&mut m.args[0], &[item.clone(), item]);
                Some(Ty::Other)
            }
            ("push" | "push_back" | "push_front" | "fill", 1) => {
                self.put_item(&mut m.args[0], &item);
                Some(Ty::Other)
            }
            ("fill_with", 1) | ("resize_with", 2) => {
                if name == "resize_with" {
                    self.expr(&mut m.args[0]);
                }
                let result = self.callback(m.args.last_mut()?, &[]);
                self.unify(&result, &item, span);
                Some(Ty::Other)
            }
            ("insert" | "resize", 2) => {
                self.expr(&mut m.args[0]);
                self.put_item(&mut m.args[1], &item);
                Some(Ty::Other)
            }
            ("replace", 1) => {
                self.put_item(&mut m.args[0], &item);
                Some(receiver.clone())
            }
            ("splice", 2) => {
                self.expr(&mut m.args[0]);
                let other = self.expr(&mut m.args[1]);
                let other = self.item_of(&other);
                self.unify(&other, &item, span);
                Some(receiver.clone())
            }
            ("extend" | "extend_from_slice" | "copy_from_slice" | "clone_from_slice", 1) => {
                let other = self.expr(&mut m.args[0]);
                let passing = if name == "extend" { Passing::Owned } else { Passing::Shared };
                self.joined(&mut m.args[0], &other, &item, passing);
                Some(Ty::Other)
            }
            ("swap_with_slice" | "append", 1) => {
                let other = self.expr(&mut m.args[0]);
                let other = self.item_of(&other);
                self.unify(&other, &item, span);
                Some(Ty::Other)
            }
            _ => None,
        }
    }

    /// Arguments that contain no numbers of the sequence or map: indices, counts, keys.
    pub(super) fn plain_arguments(&mut self, m: &mut ExprMethodCall) {
        for argument in &mut m.args {
            self.expr(argument);
        }
    }

    /// The start of a fold: the state may become active later.
    fn state(&mut self, e: &mut Expr) -> Ty {
        let start = self.expr(e);
        let state = self.fresh_var();
        self.coerce(e, &start, &state);
        state
    }

    /// An argument by reference that is compared with values of this type, or looked up among them, and so is of the type itself.
    pub(super) fn compared(&mut self, e: &mut Expr, ty: &Ty, with: &Ty) {
        if matches!(self.resolve(ty), Ty::Struct(..) | Ty::Tuple(_) | Ty::Seq(_)) && self.fits(ty, with) {
            self.pass(e, ty, with, Some(Passing::Shared));
        }
    }

    fn put_item(&mut self, e: &mut Expr, item: &Ty) {
        let ty = self.expr(e);
        self.coerce(e, &ty, item);
    }
}
