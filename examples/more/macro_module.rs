//! `#[differentiable]` on a module written for `f64`: a struct, an enum with methods, a loop and iterators become generic together.
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
        Attached(f64),
        Touched(f64, f64),
    }
    impl Spring {
        /// Stiffness and stretch.
        fn stretched(&self, pos: f64) -> (f64, f64) {
            match *self {
                Spring::Attached(stiffness) => (stiffness, pos),
                Spring::Touched(stiffness, gap) => (stiffness, (pos - gap).max(0.0)),
            }
        }
    }
    /// Twice the energy, after fifty steps by Euler's method, of a mass released at `x[2]` on two springs of stiffness `x[0]` and `x[1]`.
    pub(crate) fn energy(x: &[f64]) -> f64 {
        let springs = [Spring::Attached(x[0]), Spring::Touched(x[1], 0.5)];
        let mut s = State { pos: x[2], vel: 0.0 };
        for _ in 0..50 {
            let force: f64 = springs.iter().map(|spring| spring.stretched(s.pos)).map(|(k, u)| -k * u).sum();
            s = State { pos: s.pos + 0.01 * s.vel, vel: s.vel + 0.01 * force };
        }
        springs.iter().map(|spring| spring.stretched(s.pos)).map(|(k, u)| k * u * u).sum::<f64>() + s.vel * s.vel
    }
}

fn main() {
    // The mass touches the second spring all the time. Each step multiplies the energy above that of the position of rest by `factor`.
    let [a, b, start, gap] = [1.5, 0.7, 1.2, 0.5];
    let (rest, factor) = (b * gap / (a + b), 1.0 + 1e-4 * (a + b));
    let (d, growth) = (start - rest, f64::powi(factor, 50));
    let by_factor = (a + b) * d * d * 50.0 * growth / factor;
    let by_stiffness = |gap: f64| (2.0 * (start - gap) - d) * d * growth + 1e-4 * by_factor + (rest - gap).powi(2);
    let expected = [by_stiffness(0.0), by_stiffness(gap), 2.0 * (a + b) * d * growth];
    for backend in ["ForwardDiff", "ReverseDiff", "ReverseDiff(compile=true)"] {
        let found = gradient(&model::Energy, &backend.parse::<AnyBackend>().unwrap(), &[a, b, start]).unwrap();
        println!("{backend}: {found:?}");
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13), "closed form: {expected:?}");
    }
}
