//! `#[differentiable]` on a module written for `f64`: a struct, an enum, helpers, a table, loops and closures become generic together.
//!
//! Run it: `cargo run -p differentiation-interface-examples --example macro_module`.

use differentiation_interface::prelude::*;

#[differentiable]
mod model {
    struct State {
        pos: f64,
        vel: f64,
    }
    enum Spring {
        Linear(f64),
        Cubic(f64, f64),
    }
    impl Spring {
        fn force(&self, s: &State) -> f64 {
            match *self {
                Spring::Linear(stiffness) => -stiffness * s.pos,
                Spring::Cubic(stiffness, hardening) => -stiffness * s.pos - hardening * s.pos.powi(3),
            }
        }
    }
    fn height(table: &[f64], at: f64) -> f64 {
        let i = (1..table.len() - 1).take_while(|i| at >= *i as f64).count();
        table[i] + (table[i + 1] - table[i]) * (at - i as f64)
    }
    /// Energy along the path from `x[1]`, at rest, of a mass on two springs with parameters `x[0]` and `x[2]`, with drag.
    pub(crate) fn energy(x: &[f64]) -> f64 {
        let springs = [Spring::Linear(x[0]), Spring::Cubic(0.5, x[2])];
        let mut s = State { pos: x[1], vel: 0.0 };
        let mut step = || {
            let force = springs.iter().map(|spring| spring.force(&s)).sum::<f64>() - 0.2 * s.vel * s.vel.abs();
            s = State { pos: s.pos + 0.01 * s.vel, vel: s.vel + 0.01 * force };
            0.5 * s.vel * s.vel + height(&[0.0, 0.5, 2.0, 4.5], s.pos.abs())
        };
        (0..50).map(|_| step()).sum::<f64>() / 50.0
    }
}

fn main() {
    let differences = gradient(&model::Energy, &AutoFiniteDiff::default(), &[1.5, 1.2, 0.7]).unwrap();
    for backend in ["ForwardDiff", "ReverseDiff", "ReverseDiff(compile=true)"] {
        let found = gradient(&model::Energy, &backend.parse::<AnyBackend>().unwrap(), &[1.5, 1.2, 0.7]).unwrap();
        println!("{backend}: {found:?}");
        assert!(found.iter().zip(&differences).all(|(a, b)| (a - b).abs() < 1e-7), "differences: {differences:?}");
    }
}
