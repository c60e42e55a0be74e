//! Methods of the user's own traits for `f64` with names that numbers have.

use differentiation_interface_macros::differentiable;

trait ByValue {
    fn scale(self, k: f64) -> f64;
    fn logistic(self) -> f64;
}
impl ByValue for f64 {
    fn scale(self, k: f64) -> f64 {
        self * k + 1.0
    }
    fn logistic(self) -> f64 {
        4.0 / (1.0 + (-self).exp())
    }
}

trait ByReference {
    fn softplus(&self) -> f64;
}
impl ByReference for f64 {
    fn softplus(&self) -> f64 {
        self.max(0.0)
    }
}

#[differentiable(crate = "differentiation_interface_core")]
fn stretched(x: f64) -> f64 {
    x.scale(2.0) + x.logistic() + 2.0.scale(3.0)
}

#[differentiable(crate = "differentiation_interface_core")]
fn rectified(x: &[f64]) -> f64 {
    x.iter().map(|v| v.softplus()).sum::<f64>() + x[0].softplus()
}

fn main() {}
