//! Receivers of methods whose trait is named in code that `#[differentiable]` writes.
//!
//! `rule.weight()` becomes `<Midpoint as Rule<T>>::weight(&rule)`, which is the same method unless `rule` is a pointer with methods of its own.

/// A value of type `M`, or a reference to one: not a `Box<M>`, nor a `&&M`, which may implement the trait themselves.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`#[differentiable]` cannot tell whether this is the method of `{M}` or of `{Self}`, since pointers have the trait too; dereference the receiver, or write `<{M} as Trait>::method(&value)`",
    label = "a method of `{M}` or of `{Self}`"
)]
pub trait Receiver<M> {
    /// The value itself.
    fn receiver(&self) -> &M;
}

impl<M> Receiver<M> for M {
    #[inline(always)]
    fn receiver(&self) -> &M {
        self
    }
}

impl<M> Receiver<M> for &M {
    #[inline(always)]
    fn receiver(&self) -> &M {
        self
    }
}

impl<M> Receiver<M> for &mut M {
    #[inline(always)]
    fn receiver(&self) -> &M {
        self
    }
}

/// What a reference or a pointer points to, of which a method that takes `self` gets a copy.
#[doc(hidden)]
#[inline(always)]
pub fn behind<M>(value: &M) -> &M {
    value
}
