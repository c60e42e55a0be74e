//! Data that stays plain and is written to: a copy with active numbers would take what is written.

use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
mod written {
    use std::sync::Mutex;

    type Out<'a> = &'a mut [f64];
    static TABLE: Mutex<[f64; 2]> = Mutex::new([1.0, 2.0]);

    fn add<O: AsMut<[f64]>>(mut o: O, k: f64) {
        o.as_mut().iter_mut().for_each(|v| *v += k);
    }
    fn add_to(o: Out, k: f64) {
        o.iter_mut().for_each(|v| *v += k);
    }
    trait Shift {
        fn shift(self, k: f64);
    }
    impl Shift for &mut Vec<f64> {
        fn shift(self, k: f64) {
            self.iter_mut().for_each(|v| *v += k);
        }
    }
    pub struct Model {
        #[constant]
        weights: Vec<f64>,
        #[constant]
        rates: Vec<f64>,
        #[constant]
        gains: Vec<f64>,
        k: f64,
    }
    impl Model {
        fn go(&mut self, v: f64) -> f64 {
            add(&mut self.weights, v);
            add_to(&mut self.rates[..], v);
            self.gains.shift(v);
            add(&mut *TABLE.lock().unwrap(), v);
            self.weights[0] * self.rates[0] * self.gains[0] * v * self.k
        }
    }
    pub fn f(x: &[f64]) -> f64 {
        let data = || vec![1.0, 2.0];
        let mut own = vec![x[0]];
        add(&mut own, x[1]);
        add_to(&mut own, x[1]);
        own.shift(x[1]);
        Model { weights: data(), rates: data(), gains: data(), k: own[0] }.go(x[0])
    }
}

fn main() {}
