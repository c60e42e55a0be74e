//! Our numbers as operands beside arrays of `ndarray`: `array * x`.
//!
//! `LinalgScalar`, which `dot` needs, is implemented by `ndarray` for every number with arithmetic, ours included.

use crate::scalar::{Core, Num};
use ndarray::ScalarOperand;

impl<C: Core> ScalarOperand for Num<C> {}
