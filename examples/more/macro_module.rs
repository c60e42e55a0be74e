//! `#[differentiable]` on a module written for `f64`: structs, an enum, helpers, a table, loops and closures become generic together.
//!
//! Run it: `cargo run -p differentiation-interface-examples --example macro_module`.

use differentiation_interface::prelude::*;

#[differentiable]
mod model {
    const TERRAIN: [f64; 4] = [0.0, 0.5, 2.0, 4.5];
    #[derive(Clone, Copy)]
    struct State {
        pos: f64,
        vel: f64,
    }
    struct Spring {
        stiffness: f64,
        kind: Kind,
    }
    #[derive(Clone, Copy)]
    enum Kind {
        Linear,
        Cubic { hardening: f64 },
    }

    impl Spring {
        fn force(&self, s: &State) -> f64 {
            match self.kind {
                Kind::Linear => -self.stiffness * s.pos,
                Kind::Cubic { hardening } => -self.stiffness * s.pos - hardening * s.pos.powi(3),
            }
        }
    }
    fn damping(v: f64, c: f64) -> f64 {
        if v.abs() < 1e-9 { 0.0 } else { -c * v * v.abs() }
    }
    fn height(table: &[f64], at: f64, spacing: f64) -> f64 {
        let mut i = 0;
        while i + 2 < table.len() && at >= (i + 1) as f64 * spacing {
            i += 1;
        }
        table[i] + (table[i + 1] - table[i]) * (at / spacing - i as f64)
    }
    /// Energy along the path from `x[1]`, at rest, of a mass on two springs with parameters `x[0]` and `x[2]`.
    pub(crate) fn energy(x: &[f64]) -> f64 {
        let springs = [
            Spring { stiffness: x[0], kind: Kind::Linear },
            Spring { stiffness: 0.5, kind: Kind::Cubic { hardening: x[2] } },
        ];
        let mut s = State { pos: x[1], vel: 0.0 };
        let mut path: Vec<Vec<f64>> = Vec::new();
        while path.len() < 50 {
            let force = springs.iter().map(|spring| spring.force(&s)).sum::<f64>() + damping(s.vel, 0.2);
            s = State { pos: s.pos + 0.01 * s.vel, vel: s.vel + 0.01 * force };
            path.push(vec![s.pos, s.vel]);
        }
        let kinetic = |v: f64| 0.5 * v * v;
        path.iter().map(|p| kinetic(p[1]) + height(&TERRAIN, p[0].abs(), 1.0)).sum::<f64>() / path.len() as f64
    }
}

fn main() -> Result<(), Error> {
    let x = [1.5, 1.2, 0.7];
    let differences = gradient(&model::Energy, &AutoFiniteDiff::default(), &x)?;
    for found in [
        gradient(&model::Energy, &AutoForwardDiff::default(), &x)?,
        gradient(&model::energy, &AutoReverseDiff::default(), &x)?,
        gradient(&model::Energy, &AutoReverseDiff::compiled(), &x)?,
    ] {
        println!("gradient {found:?}");
        assert!(found.iter().zip(&differences).all(|(a, b)| (a - b).abs() < 1e-7), "differences: {differences:?}");
    }
    Ok(())
}
