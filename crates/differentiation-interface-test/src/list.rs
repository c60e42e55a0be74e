//! Lists of scenarios and of backends whose types differ.
//!
//! Called by [`test_differentiation`](crate::test_differentiation) and its siblings, which visit every pair.

use crate::driver::{Run, Task};
use crate::point::OwnedPoint;
use crate::scenario::Scenario;

/// Scenarios for the backend `B`: one, a `Vec` or slice of one type, or a tuple of such lists, nested to any depth.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of scenarios for `{B}`",
    note = "pass a `Scenario`, a `Vec` of them, or a tuple of these",
    note = "the function must run on the numbers of every backend of the list: write it over `T: Real`, or put `#[differentiable]` on the `fn`; functions over plain `f64` serve `AutoFiniteDiff` only"
)]
pub trait Scenarios<B: ?Sized> {
    /// Passes every scenario with this backend to the task.
    fn visit(&self, backend: &B, task: &mut dyn Task);
}

impl<O, F, P: OwnedPoint, B: Run<O, F, P>> Scenarios<B> for Scenario<O, F, P> {
    fn visit(&self, backend: &B, task: &mut dyn Task) {
        backend.run(self, task);
    }
}
impl<B: ?Sized, S: Scenarios<B>> Scenarios<B> for [S] {
    fn visit(&self, backend: &B, task: &mut dyn Task) {
        self.iter().for_each(|scenario| scenario.visit(backend, task));
    }
}
impl<B: ?Sized, S: Scenarios<B>> Scenarios<B> for Vec<S> {
    fn visit(&self, backend: &B, task: &mut dyn Task) {
        self.as_slice().visit(backend, task);
    }
}
impl<B: ?Sized, S: Scenarios<B>, const N: usize> Scenarios<B> for [S; N] {
    fn visit(&self, backend: &B, task: &mut dyn Task) {
        self.as_slice().visit(backend, task);
    }
}
impl<B: ?Sized, S: Scenarios<B> + ?Sized> Scenarios<B> for &S {
    fn visit(&self, backend: &B, task: &mut dyn Task) {
        (**self).visit(backend, task);
    }
}

/// Backends for the scenarios `S`: a tuple of up to 16, an array, a slice or a `Vec` of
/// [`Candidate`](crate::Candidate)s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of backends for these scenarios",
    note = "pass a tuple of backends, `(backend,)` for a single one, or an array if they have one type",
    note = "the function must run on the numbers of every backend of the list: write it over `T: Real`, or put `#[differentiable]` on the `fn`; functions over plain `f64` serve `AutoFiniteDiff` only",
    note = "backends without first-order operators are wrapped: `second_order_only(..)`, `jacobian_only(..)`, `hessian_only(..)`, `matrices_only(..)`; `AutoThreaded` by `all_operators(..)`"
)]
pub trait Backends<S: ?Sized> {
    /// Passes every pair of a backend and a scenario to the task.
    fn visit_all(&self, scenarios: &S, task: &mut dyn Task);
}

impl<B, S: Scenarios<B> + ?Sized> Backends<S> for [B] {
    fn visit_all(&self, scenarios: &S, task: &mut dyn Task) {
        self.iter().for_each(|backend| scenarios.visit(backend, task));
    }
}
impl<B, S: Scenarios<B> + ?Sized> Backends<S> for Vec<B> {
    fn visit_all(&self, scenarios: &S, task: &mut dyn Task) {
        self.as_slice().visit_all(scenarios, task);
    }
}
impl<B, S: Scenarios<B> + ?Sized, const N: usize> Backends<S> for [B; N] {
    fn visit_all(&self, scenarios: &S, task: &mut dyn Task) {
        self.as_slice().visit_all(scenarios, task);
    }
}

/// Tuples of lists.
macro_rules! tuples {
    ($($A:ident $a:ident)*) => {
        impl<B: ?Sized, $($A: Scenarios<B>),*> Scenarios<B> for ($($A,)*) {
            fn visit(&self, backend: &B, task: &mut dyn Task) {
                let ($($a,)*) = self;
                $($a.visit(backend, task);)*
            }
        }
        impl<S: ?Sized, $($A),*> Backends<S> for ($($A,)*)
        where
            $(S: Scenarios<$A>),*
        {
            fn visit_all(&self, scenarios: &S, task: &mut dyn Task) {
                let ($($a,)*) = self;
                $(scenarios.visit($a, task);)*
            }
        }
    };
}
tuples! { A a }
tuples! { A a C c }
tuples! { A a C c D d }
tuples! { A a C c D d E e }
tuples! { A a C c D d E e F f }
tuples! { A a C c D d E e F f G g }
tuples! { A a C c D d E e F f G g H h }
tuples! { A a C c D d E e F f G g H h I i }
tuples! { A a C c D d E e F f G g H h I i J j }
tuples! { A a C c D d E e F f G g H h I i J j K k }
tuples! { A a C c D d E e F f G g H h I i J j K k L l }
tuples! { A a C c D d E e F f G g H h I i J j K k L l M m }
tuples! { A a C c D d E e F f G g H h I i J j K k L l M m N n }
tuples! { A a C c D d E e F f G g H h I i J j K k L l M m N n O o }
tuples! { A a C c D d E e F f G g H h I i J j K k L l M m N n O o P p }
tuples! { A a C c D d E e F f G g H h I i J j K k L l M m N n O o P p Q q }
