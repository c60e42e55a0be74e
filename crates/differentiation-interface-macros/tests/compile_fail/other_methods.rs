//! Methods of types without numbers whose trait has numbers, where another method may be meant.

use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
mod extended {
    pub trait Rule {
        fn apply(&self, v: f64) -> f64;
        fn order(&self) -> usize {
            2
        }
    }
    pub struct Midpoint;
    impl Rule for Midpoint {
        fn apply(&self, v: f64) -> f64 {
            v * v
        }
    }
    pub fn f(x: f64) -> f64 {
        let rule = Midpoint;
        rule.apply(x) * rule.order() as f64
    }
}

impl extended::Midpoint {
    pub fn order(&self) -> usize {
        50
    }
}

#[differentiable(crate = "differentiation_interface_core")]
mod pointers {
    pub trait Rule {
        fn apply(&self, v: f64) -> f64;
        fn order(&self) -> usize {
            2
        }
    }
    pub struct Midpoint;
    impl Rule for Midpoint {
        fn apply(&self, v: f64) -> f64 {
            v * v
        }
    }
    impl<R: Rule> Rule for Box<R> {
        fn apply(&self, v: f64) -> f64 {
            (**self).apply(v) + v
        }
        fn order(&self) -> usize {
            7
        }
    }
    pub fn f(x: f64) -> f64 {
        let rule = Box::new(Midpoint);
        rule.apply(x) * rule.order() as f64
    }
}

fn main() {}
