#![doc = include_str!("../README.md")]

mod agreement;
mod distributed;
mod division;
mod local_rows;
mod matrices;
mod mode;
mod part;
mod ranks;
mod rows;
mod second_order;
mod sum;
mod terms;

pub use distributed::{Distributed, Gathered, InRows, Parts};
pub use local_rows::{LocalRows, RowSplit};
pub use matrices::SharedState;
pub use mode::Parted;
/// The bindings of MPI whose communicators this crate takes.
#[doc(no_inline)]
pub use mpi;
pub use part::{Divided, DividedJacobian, JacobianState, Part, PartState, Undivided};
pub use ranks::Ranks;
pub use rows::RowsState;
pub use second_order::PartedRoute;
pub use terms::{Terms, TermsState};

/// The book's chapter on many machines, whose code runs as tests of this crate.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../book/many_machines.md")]
    mod many_machines {}
}
