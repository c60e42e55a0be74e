//! Differential equations of [`diffsol`](https://docs.rs/diffsol), with all derivatives by any backend.
//!
//! Called by users, who pass [`equations()`] to `OdeBuilder::build_from_eqn`. `ode` has the trait of models, `derivatives` prepares the operators,
//! `equations` holds them, `operators` implements the solver's traits with them.
//!
//! From one [`Ode`], that is f(y, p, t), y₀(p, t) and what else the problem has, the solvers get: Jacobians and their products for implicit methods,
//! derivatives with respect to parameters for `bdf_sens` and its kind, transposed products for adjoint methods. One derivative is not ours: where an
//! event changes the sensitivities, `diffsol` 0.18 takes the derivative of the event function by the time from differences of its own.

mod derivatives;
mod equations;
mod ode;
mod operators;

pub use derivatives::{ByParameters, ByState, Engine, Others};
pub use equations::{Equations, OdeBackend, equations};
pub use ode::{Initial, Mass, Ode, Out, Part, Rhs, Root};
pub use operators::{InitialState, MassProduct, Nonlinear};
