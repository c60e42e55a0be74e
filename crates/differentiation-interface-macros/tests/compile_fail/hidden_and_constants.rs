//! What a module cannot keep: items made by macros, constants of the type that implements a trait, tables of functions.

use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
mod operators {
    #[derive(Clone, Copy)]
    struct V {
        x: f64,
    }
    macro_rules! binop {
        ($tr:ident, $f:ident, $op:tt) => {
            impl std::ops::$tr for V {
                type Output = V;
                fn $f(self, o: V) -> V {
                    V { x: self.x $op o.x }
                }
            }
        };
    }
    binop!(Add, add, +);
    pub fn f(x: &[f64]) -> f64 {
        let v = V { x: x[0] } + V { x: 1.0 };
        v.x
    }
}

#[differentiable(crate = "differentiation_interface_core")]
mod constants {
    trait Space {
        const ZERO: Self;
        fn norm(&self) -> f64;
    }
    struct V(f64);
    impl Space for V {
        const ZERO: Self = V(0.0);
        fn norm(&self) -> f64 {
            self.0.abs()
        }
    }
    enum Shape {
        Disc(f64),
        Group(Vec<Shape>),
    }
    impl Shape {
        const UNIT: Shape = Shape::Disc(1.0);
        fn area(&self) -> f64 {
            match self {
                Shape::Disc(r) => r * r,
                Shape::Group(shapes) => shapes.iter().map(|s| s.area()).sum(),
            }
        }
    }
    const TABLE: [fn(f64) -> f64; 2] = [f64::sin, f64::exp];
    pub fn f(x: &[f64]) -> f64 {
        let shapes = Shape::Group(vec![Shape::Disc(x[0]), Shape::UNIT]);
        V(x[0]).norm() + shapes.area() + TABLE.iter().map(|g| g(x[0])).sum::<f64>()
    }
}

fn main() {}
