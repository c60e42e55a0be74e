//! The numbers of the built-in functions.
//!
//! Used by formulas, by the functions made of them and by those of the rule table.

use differentiation_interface_core::Scalar;
use num_traits::{Float, Signed};

/// A real number over `f64` or `f32`, which the built-in functions run on. (`Real` is over one of the two.)
pub trait RealNumber: Scalar + Float + Signed {}
impl<T: Scalar + Float + Signed> RealNumber for T {}
