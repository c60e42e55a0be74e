#![allow(unused)]
use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
mod model {
    use std::any::{Any, TypeId};
    use std::collections::HashMap;

    pub trait Shape {
        fn area(&self) -> f64;
        fn as_any(&self) -> &dyn Any;
    }
    pub struct Square(f64);
    impl Shape for Square {
        fn area(&self) -> f64 {
            self.0 * self.0
        }
        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    #[derive(Default)]
    pub struct Resources {
        map: HashMap<TypeId, Box<dyn Any>>,
    }
    impl Resources {
        fn get<R: 'static>(&self) -> Option<&R> {
            self.map.get(&TypeId::of::<R>()).and_then(|b| b.downcast_ref())
        }
    }

    pub fn energy(x: &[f64]) -> f64 {
        let shape: Box<dyn Shape> = Box::new(Square(x[0]));
        let is_square = shape.as_any().is::<Square>();
        let width = shape.as_any().downcast_ref::<Square>().map_or(0.0, |s| s.0);
        let boxed: Box<dyn Any> = Box::new(x[1]);
        let number = boxed.downcast_ref::<f64>().copied().unwrap_or(0.0);
        let bytes = std::mem::size_of_val(&x[0]) as f64;
        let same = TypeId::of::<Square>() == shape.as_any().type_id();
        width + number + bytes
    }
}

fn main() {}
