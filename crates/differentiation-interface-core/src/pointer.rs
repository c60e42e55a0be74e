//! Pointers to functions, as preparations hold them.
//!
//! Called by the operators: every `prepare_..` takes one, and its prepared object reads the function through it.

use std::ops::Deref;

/// A pointer to a function: `&f`, or `Arc::new(f)` and `Box::new(f)`, which own it.
///
/// Every type with `Deref` is one. Code that is generic over the pointer has the bound `H: Pointer`; the function is an
/// `H::Function` there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pointer to a function, as a preparation takes it",
    note = "pass `&f` for a preparation that borrows the function, `Arc::new(f)` or `Box::new(f)` for one that owns it"
)]
pub trait Pointer {
    /// The function.
    type Function;
    /// Returns the function.
    fn function(&self) -> &Self::Function;
}

#[diagnostic::do_not_recommend]
impl<H: Deref<Target: Sized>> Pointer for H {
    type Function = H::Target;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn function(&self) -> &H::Target {
        self
    }
}
