#![allow(unused)]
use differentiation_interface_core::Scalar;
use num_traits::ToPrimitive;
use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
fn all(x: &[f64]) -> f64 {
    let n = x[0] as usize;
    let m = (2.0 * x[0]) as i64;
    let single = x[0] as f32;
    let bits = x[1].to_bits();
    let number = f64::from_bits(bits);
    let next = x[0].next_up();
    let middle = x[0].midpoint(x[1]);
    let even = x[0].round_ties_even();
    let wide = x[0].to_f64();
    let count = x[1].to_usize();
    let cast: usize = num_traits::cast(x[0]).unwrap();
    let text: f64 = x[0].to_string().parse().unwrap();
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn on_purpose(x: f64) -> f64 {
    let table = [1.0, 2.0];
    let k = 3.0;
    let i = k as usize + (2.5f64).to_bits() as usize;
    x * table[x.primal() as usize] + i as f64
}

// No other error: the bodies are left out.
#[differentiable(crate = "differentiation_interface_core")]
mod table {
    use std::collections::HashMap;
    struct Table {
        rows: HashMap<usize, f64>,
    }
    impl Table {
        const fn len() -> usize {
            3
        }
        fn scales() -> impl Iterator<Item = usize> {
            0..Self::len()
        }
        fn row(&self, at: f64) -> f64 {
            self.rows[&(at.primal() as usize)] + self.rows[&(at as usize)]
        }
    }
    pub fn f(x: &[f64]) -> f64 {
        let table = Table { rows: HashMap::from([(0, x[0])]) };
        table.row(x[1])
    }
}

fn main() {}
