//! How a closure takes an argument that a preparation holds: [`Seen`].
//!
//! A file of its own, because every number is seen too.

/// What a `Vec` and a slice have in common, so that both are one kind of argument: a slice. Every other container is seen as itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a container of numbers",
    note = "a parameter, a cache and an argument of several are numbers, slices, `Vec`s, arrays and tuples of them, or structs with `#[derive(Container)]`; anything else is passed as `Constant(&value)`"
)]
pub trait Seen {
    /// The argument is `&Seen`.
    type Seen: ?Sized;
    /// The argument.
    fn seen(&self) -> &Self::Seen;
}
