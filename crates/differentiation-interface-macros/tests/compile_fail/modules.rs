#![allow(unused)]
use differentiation_interface_core::Real;
use differentiation_interface_macros::differentiable;

#[differentiable(Energy, crate = "differentiation_interface_core")]
mod named {
    pub fn energy(x: f64) -> f64 {
        x
    }
}

struct Oscillator {
    stiffness: f64,
}

#[differentiable(Model, crate = "differentiation_interface_core")]
impl Oscillator {
    fn energy(&self, q: f64) -> f64 {
        self.stiffness * q
    }
}

trait Energy {
    fn energy(&self, q: f64) -> f64;
}

#[differentiable(crate = "differentiation_interface_core")]
impl Energy for Oscillator {
    fn energy(&self, q: f64) -> f64 {
        self.stiffness * q
    }
}

#[differentiable(crate = "differentiation_interface_core")]
mod items {
    struct Vector {
        x: f64,
    }
    impl From<Vector> for f64 {
        fn from(v: Vector) -> f64 {
            v.x
        }
    }
    trait Inverse {
        fn inv(self) -> f64;
    }
    impl Inverse for f64 {
        fn inv(self) -> f64 {
            if self == 0.0 { 0.0 } else { 1.0 / self }
        }
    }
    struct Counted {
        scale: f64,
        calls: std::cell::Cell<usize>,
    }
    impl Counted {
        fn value(&self, x: f64) -> f64 {
            self.calls.set(self.calls.get() + 1);
            self.scale * x
        }
    }
    pub fn counted(x: f64, #[constant] c: &Counted) -> f64 {
        c.value(x) + Counted { scale: x, calls: Default::default() }.value(2.0)
    }
    const fn half(v: f64) -> f64 {
        0.5 * v
    }
    struct Body {
        #[constant]
        mass: f64,
        at: f64,
    }
    const REST: Body = Body { mass: 1.0, at: 0.0 };
    struct Square(f64);

    pub fn half_of(x: f64) -> f64 {
        half(x)
    }
    pub fn marked_field(x: &[f64]) -> f64 {
        let b = Body { mass: x[0], at: x[1] };
        b.mass * b.at
    }
    fn swap(a: &mut Body, b: &mut Body) -> f64 {
        std::mem::swap(a, b);
        a.at
    }
    pub fn constant_struct(x: f64) -> f64 {
        swap(&mut REST, &mut Body { mass: 1.0, at: x })
    }
    pub fn constant_argument(x: &[f64], #[constant] b: &mut Body) -> f64 {
        b.at = x[0];
        x[0]
    }
    pub fn two_points(x: f64, y: f64, #[constant] z: f64) -> f64 {
        x * y * z
    }
    struct Failure {
        residual: f64,
    }
    pub fn active_error(x: f64) -> Result<f64, Failure> {
        if x > 1.0 {
            return Err(Failure { residual: x });
        }
        Ok(x)
    }
    #[differentiable(Square)]
    pub fn square(x: f64) -> f64 {
        x * x
    }
    #[differentiable(crate = x)]
    pub fn cube(x: f64) -> f64 {
        x * x * x
    }
}

#[differentiable(crate = "differentiation_interface_core")]
mod overlapping {
    pub enum Value {
        Number(f64),
        Count(i64),
    }
    impl From<f64> for Value {
        fn from(v: f64) -> Value {
            Value::Number(v)
        }
    }
    impl From<i64> for Value {
        fn from(v: i64) -> Value {
            Value::Count(v)
        }
    }
    pub fn energy(x: f64) -> f64 {
        match Value::from(x) {
            Value::Number(v) => v,
            Value::Count(n) => n as f64,
        }
    }
}

fn main() {}
