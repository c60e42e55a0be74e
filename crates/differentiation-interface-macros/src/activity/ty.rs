//! The types of the analysis, far coarser than Rust's: which `f64`s a value contains.
//!
//! References, boxes and the kinds of containers are not distinguished; the compiler checks the result anyway.

use super::graph::Act;
use std::rc::Rc;

/// The type of an expression, as far as the analysis needs it.
#[derive(Clone, Debug)]
pub(super) enum Ty {
    /// Not known yet.
    Var(usize),
    /// `f64`, plain or active.
    Float(Act),
    /// Contains no `f64`: integers, booleans, unit.
    Other,
    /// Text; active if it is made from active numbers.
    Text(Act),
    /// Contains any number of items of one type: slices, vectors, options, iterators, ranges.
    Seq(Rc<Ty>),
    /// A map, with the type of its entries: a tuple of key and value.
    Map(Rc<Ty>),
    Tuple(Vec<Ty>),
    /// A closure or `fn`: arguments and result.
    Fn(Vec<Ty>, Rc<Ty>),
    /// A struct or enum of the module, by its number there, and the activity of its numbers.
    Struct(usize, Act),
    /// An unknown type; active if an active value flowed into it.
    Opaque(Act),
    /// The type of an expression that does not return.
    Never,
}

impl Ty {
    pub(super) fn seq(item: Ty) -> Ty {
        Ty::Seq(Rc::new(item))
    }
}
