//! Structs, enums, traits, helpers and `impl` blocks that become generic together.

use crate::dual::{Dual, agrees, close, seeded};
use differentiation_interface_core::{Num, Real};
use differentiation_interface_macros::differentiable;

/// Declared outside of the modules that the attribute reads.
struct Pair<U> {
    first: U,
    second: U,
    step: f64,
}

fn generic<U: Real>(v: U, by: &[U]) -> U {
    v * by[0]
}

fn first_of<U>(v: U, _: f64) -> U {
    v
}

both! {
    // Structs, an enum, a table, closures, loops, iterators: a chain of springs in a potential.
    mod chain {
        /// Positions of the potential's table.
        const TABLE: [f64; 4] = [0.0, 0.5, 2.0, 4.5];
        const STEP: f64 = 0.01;

        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct State {
            pub pos: f64,
            pub vel: f64,
        }

        #[derive(Clone, Debug)]
        pub struct Spring {
            pub stiffness: f64,
            pub rest: f64,
            pub kind: Kind,
        }

        #[derive(Clone, Copy, Debug)]
        pub enum Kind {
            Linear,
            Cubic { hardening: f64 },
            Cut(f64, f64),
        }

        impl Spring {
            pub fn new(stiffness: f64, kind: Kind) -> Self {
                Spring { stiffness, rest: 0.1, kind }
            }

            fn force(&self, s: &State) -> f64 {
                let d = s.pos - self.rest;
                match self.kind {
                    Kind::Linear => -self.stiffness * d,
                    Kind::Cubic { hardening } => -self.stiffness * d - hardening * d.powi(3),
                    Kind::Cut(low, high) => -self.stiffness * d.clamp(low, high),
                }
            }
        }

        fn damping(v: f64, c: f64) -> f64 {
            if v.abs() < 1e-9 { 0.0 } else { -c * v * v.abs() }
        }

        /// Linear interpolation in a table with spacing one.
        fn interpolate(table: &[f64], t: f64) -> f64 {
            let mut i = 0;
            while i + 2 < table.len() && t >= (i + 1) as f64 {
                i += 1;
            }
            table[i] + (table[i + 1] - table[i]) * (t - i as f64)
        }

        fn step(s: State, springs: &[Spring], h: f64) -> State {
            let total: f64 = springs.iter().map(|spring| spring.force(&s)).sum();
            let vel = s.vel + h * (total + damping(s.vel, 0.2));
            State { pos: s.pos + h * vel, vel }
        }

        fn weight(i: usize) -> f64 {
            1.0 / (1.0 + i as f64)
        }

        /// Potential and kinetic energy along a trajectory.
        pub fn energy(x: &[f64]) -> f64 {
            let mut s = State { pos: x[1], vel: 0.0 };
            let springs = vec![
                Spring::new(x[0], Kind::Linear),
                Spring::new(0.5, Kind::Cubic { hardening: x[2] }),
                Spring { stiffness: 2.0, ..Spring::new(1.0, Kind::Cut(-0.5, 0.5)) },
            ];
            let mut history: Vec<Vec<f64>> = Vec::new();
            let mut t = 0.0;
            while t < 0.5 {
                s = step(s, &springs, STEP);
                history.push(vec![s.pos, s.vel]);
                t += STEP;
            }
            let kinetic = |v: f64| 0.5 * v * v;
            let mut e = 0.0;
            for (i, row) in history.iter().enumerate() {
                let [p, v] = [row[0], row[1]];
                e += weight(i) * (kinetic(v) + interpolate(&TABLE, p.abs()));
            }
            let spread: Vec<f64> = springs.iter().map(|s| s.stiffness * s.rest).collect();
            e + spread.iter().fold(0.0, |a, b| a + b * b) + damping(0.3, 2.0)
        }
    }

    // Operators on a struct, an alias, associated functions, struct in struct.
    mod plane {
        use std::ops::{Add, AddAssign, Index, Mul, Neg, Sub};

        type Pair = [f64; 2];

        #[derive(Clone, Copy, Debug)]
        pub struct Vector {
            x: f64,
            y: f64,
        }

        impl Vector {
            const DIMENSION: usize = 2;
            pub fn new(x: f64, y: f64) -> Self {
                Self { x, y }
            }
            fn zero() -> Vector {
                Vector::new(0.0, 0.0)
            }
            fn dot(&self, other: &Vector) -> f64 {
                self.x * other.x + self.y * other.y
            }
            fn norm(&self) -> f64 {
                self.dot(self).sqrt()
            }
        }

        impl Add for Vector {
            type Output = Vector;
            fn add(self, other: Vector) -> Vector {
                Vector { x: self.x + other.x, y: self.y + other.y }
            }
        }
        impl Sub for Vector {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self::new(self.x - other.x, self.y - other.y)
            }
        }
        impl Mul<f64> for Vector {
            type Output = Vector;
            fn mul(self, k: f64) -> Vector {
                Vector { x: self.x * k, y: self.y * k }
            }
        }
        impl Neg for Vector {
            type Output = Vector;
            fn neg(self) -> Vector {
                self * -1.0
            }
        }
        impl AddAssign for Vector {
            fn add_assign(&mut self, other: Vector) {
                self.x += other.x;
                self.y += other.y;
            }
        }
        impl Index<usize> for Vector {
            type Output = f64;
            fn index(&self, i: usize) -> &f64 {
                if i == 0 { &self.x } else { &self.y }
            }
        }

        #[derive(Clone, Debug)]
        struct Body {
            mass: f64,
            at: Vector,
            #[allow(dead_code)]
            name: String,
        }

        struct Frame {
            origin: Vector,
            scale: f64,
        }

        fn swapped(p: Pair) -> Pair {
            [p[1], p[0]]
        }

        fn potential(bodies: &[Body], frame: &Frame) -> f64 {
            let mut sum = 0.0;
            for (i, a) in bodies.iter().enumerate() {
                for b in &bodies[i + 1..] {
                    let r = (a.at - b.at).norm();
                    sum -= a.mass * b.mass / (r + frame.scale);
                }
                sum += (a.at + -frame.origin).norm() * 0.1;
            }
            sum
        }

        pub fn energy(x: &[f64]) -> f64 {
            let mut bodies: Vec<Body> = x
                .chunks(2)
                .enumerate()
                .map(|(i, c)| Body { mass: 1.0 + i as f64, at: Vector::new(c[0], c[1]), name: format!("body {i}") })
                .collect();
            let frame = Frame { origin: Vector::new(0.5, 0.25), scale: 1e-3 };
            let mut centre = Vector::zero();
            for b in &bodies {
                centre += b.at * 0.5;
            }
            for b in bodies.iter_mut() {
                b.at = b.at * 0.9 + centre * 0.1;
            }
            bodies[0].mass *= 2.0;
            let p: Pair = swapped([centre.x, centre[1]]);
            let plain = potential(&[Body { mass: 2.0, at: Vector::zero(), name: String::new() }], &frame);
            potential(&bodies, &frame) + p[0] * p[1] + plain + Vector::DIMENSION as f64
        }
    }

    // Traits: with a default method, as objects, as bounds; one implemented by data, one by a type with active numbers.
    mod payoffs {
        pub trait Payoff {
            fn pay(&self, spot: f64) -> f64;
            fn slope(&self, spot: f64) -> f64 {
                (self.pay(spot + 0.5) - self.pay(spot - 0.5)) / 1.0
            }
            fn name(&self) -> &str {
                "payoff"
            }
        }

        pub struct Call {
            strike: f64,
        }
        struct Digital;

        impl Payoff for Call {
            fn pay(&self, spot: f64) -> f64 {
                (spot - self.strike).max(0.0)
            }
        }
        impl Payoff for Digital {
            fn pay(&self, spot: f64) -> f64 {
                if spot > 1.0 { spot.ln() } else { 0.0 }
            }
            fn name(&self) -> &str {
                "digital"
            }
        }

        struct Book {
            positions: Vec<(f64, Box<dyn Payoff>)>,
        }

        impl Book {
            fn value(&self, spot: f64) -> f64 {
                self.positions.iter().map(|(amount, payoff)| amount * payoff.pay(spot)).sum()
            }
        }

        fn priced<P: Payoff>(payoff: &P, spot: f64) -> f64 {
            payoff.pay(spot) + 0.1 * payoff.slope(spot)
        }

        fn hedged(payoff: &dyn Payoff, spot: f64) -> f64 {
            payoff.slope(spot) * spot
        }

        pub fn value(x: &[f64]) -> f64 {
            let mut book = Book { positions: vec![(1.0, Box::new(Call { strike: x[1] }))] };
            book.positions.push((x[2], Box::new(Digital)));
            book.value(x[0]) + priced(&Digital, x[0]) + hedged(&Call { strike: 1.0 }, x[0] * 2.0)
        }
    }

    // Results, options, recursion, const generics, conversions, sorting, functions as arguments, `impl Trait`, tuple structs.
    mod library {
        use std::collections::HashMap;
        use std::fmt;

        #[derive(Debug, Clone, PartialEq)]
        pub enum Failure {
            Singular { row: usize, limit: f64 },
            Steps(usize),
        }
        impl fmt::Display for Failure {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Failure::Singular { row, limit } => write!(out, "row {row}, limit {limit}"),
                    Failure::Steps(n) => write!(out, "{n} steps"),
                }
            }
        }

        #[derive(Clone, Copy, Debug)]
        struct Matrix<const N: usize>([[f64; N]; N]);

        impl<const N: usize> Matrix<N> {
            fn identity() -> Self {
                let mut rows = [[0.0; N]; N];
                for i in 0..N {
                    rows[i][i] = 1.0;
                }
                Matrix(rows)
            }
            fn times(&self, v: &[f64; N]) -> [f64; N] {
                let mut out = [0.0; N];
                for (o, row) in out.iter_mut().zip(&self.0) {
                    *o = row.iter().zip(v).map(|(a, b)| a * b).sum();
                }
                out
            }
            fn solve(mut self, mut b: [f64; N]) -> Result<[f64; N], Failure> {
                for k in 0..N {
                    let pivot = self.0[k][k];
                    if pivot.abs() < 1e-12 {
                        return Err(Failure::Singular { row: k, limit: 1e-12 });
                    }
                    for i in k + 1..N {
                        let factor = self.0[i][k] / pivot;
                        for j in k..N {
                            let above = self.0[k][j];
                            self.0[i][j] -= factor * above;
                        }
                        b[i] -= factor * b[k];
                    }
                }
                for k in (0..N).rev() {
                    let tail: f64 = (k + 1..N).map(|j| self.0[k][j] * b[j]).sum();
                    b[k] = (b[k] - tail) / self.0[k][k];
                }
                Ok(b)
            }
        }

        struct Pair(f64, f64);
        impl From<[f64; 2]> for Pair {
            fn from(v: [f64; 2]) -> Self {
                Pair(v[0], v[1])
            }
        }
        impl Default for Pair {
            fn default() -> Self {
                Pair(0.0, 1.0)
            }
        }
        impl Pair {
            fn swap(&mut self) -> &mut Self {
                std::mem::swap(&mut self.0, &mut self.1);
                self
            }
            fn sum(&self) -> f64 {
                self.0 + self.1
            }
        }

        fn newton(f: fn(f64) -> f64, df: fn(f64) -> f64, start: f64) -> Option<f64> {
            let mut x = start;
            for _ in 0..50 {
                let step = f(x) / df(x);
                x -= step;
                if step.abs() < 1e-15 {
                    return Some(x);
                }
            }
            None
        }

        fn power(x: f64, n: u32) -> f64 {
            if n == 0 {
                1.0
            } else if n.is_multiple_of(2) {
                half_power(x, n)
            } else {
                x * power(x, n - 1)
            }
        }
        fn half_power(x: f64, n: u32) -> f64 {
            let h = power(x, n / 2);
            h * h
        }

        fn squares(x: &[f64]) -> impl Iterator<Item = f64> + '_ {
            x.iter().map(|v| v * v)
        }

        fn apply(f: impl Fn(f64) -> f64, v: f64) -> f64 {
            f(v)
        }

        fn median(v: &[f64]) -> f64 {
            let mut sorted = v.to_vec();
            sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
            sorted[sorted.len() / 2]
        }

        fn checked(x: &[f64]) -> Result<f64, Failure> {
            if x.len() > 100 {
                return Err(Failure::Steps(x.len()));
            }
            let mut m = Matrix::<2>::identity();
            m.0[0][1] = x[0];
            m.0[1][0] = 0.5;
            let y = m.solve([x[1], 1.0])?;
            let z = m.times(&y);
            Ok(z[0] + y[1])
        }

        pub fn value(x: &[f64]) -> f64 {
            let solved = match checked(x) {
                Ok(v) if v > -1e9 => v,
                Ok(_) => 0.0,
                Err(failure) => panic!("{failure}"),
            };
            let mut pair: Pair = [x[0], x[1]].into();
            let other = Pair::default();
            let root = newton(|v| v * v - 2.0, |v| 2.0 * v, 1.0).unwrap_or(0.0);
            let mut counts: HashMap<&str, f64> = HashMap::new();
            counts.insert("first", x[2]);
            let known = counts.get("first").copied().unwrap_or(0.0);
            let scale = x[0];
            let sum: f64 = squares(x).sum();
            solved + pair.swap().sum() * pair.0 + other.sum() + root * known + power(x[1], 5)
                + apply(|v| v * scale, x[2]) + sum + median(x)
        }
    }

    // Types and functions of other modules that are generic already.
    mod outside {
        use crate::programs::{Pair, first_of, generic};

        pub fn value(x: &[f64]) -> f64 {
            let p = Pair { first: x[1], second: 0.0, step: 0.5 };
            let q = Pair { first: 1.0, second: x[0] * 2.0, step: 0.5 };
            let r = generic(x[0], x).sqrt() + generic(2.0, x) + first_of(x[0] - 1.0, 0.5);
            let sum: f64 = x.iter().map(|v| generic(*v + 1.0, x)).sum();
            p.first * p.step + p.second + q.first * q.second + r + sum
        }
    }

    // A type is used with data only in one place, with active numbers in another.
    mod statistics {
        #[derive(Clone, Copy)]
        pub struct Moments {
            pub mean: f64,
            pub variance: f64,
        }

        pub struct Model {
            pub rate: f64,
            pub name: &'static str,
        }

        impl Model {
            fn predict(&self, t: f64) -> f64 {
                (self.rate * t).exp()
            }
        }

        fn mean(v: &[f64]) -> f64 {
            v.iter().sum::<f64>() / v.len() as f64
        }

        fn moments(v: &[f64]) -> Moments {
            let mean = mean(v);
            let variance = v.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / v.len() as f64;
            Moments { mean, variance }
        }

        fn integrate<F: Fn(f64) -> f64>(f: F, from: f64, to: f64) -> f64 {
            let n = 8;
            let h = (to - from) / n as f64;
            (0..n).map(|i| f(from + h * (i as f64 + 0.5))).sum::<f64>() * h
        }

        fn cube(v: f64) -> f64 {
            v * v * v
        }

        pub fn misfit(x: &[f64]) -> f64 {
            let data = [1.0, 2.0, 4.0];
            let model = Model { rate: 0.5, name: "growth" };
            let expected = moments(&data);
            let found = moments(x);
            let area = integrate(cube, 0.0, x[0]) + integrate(|t| t * x[1], 0.0, 1.0) + integrate(cube, 0.0, 1.0);
            let _ = model.name;
            (found.mean - expected.mean).powi(2) + found.variance / expected.variance + area + model.predict(x[2])
        }
    }
}

#[test]
fn structs_enums_and_helpers_become_generic_together() {
    agrees(chain::Energy, plain::chain::energy, [1.5, 1.2, 0.7]);
    agrees(chain::Energy, plain::chain::energy, [0.3, -2.2, 2.0]);
}

#[test]
fn operators_on_a_struct_become_generic() {
    agrees(plane::Energy, plain::plane::energy, [0.1, 0.2, 1.0, -0.4, 0.7, 2.0]);
}

#[test]
fn results_recursion_and_conversions_become_generic() {
    agrees(library::Value, plain::library::value, [0.4, 1.5, 2.5]);
}

#[test]
fn traits_become_generic() {
    agrees(payoffs::Value, plain::payoffs::value, [3.0, 1.2, 2.0]);
}

#[test]
fn functions_and_structs_that_are_generic_already_are_used_as_before() {
    agrees(outside::Value, plain::outside::value, [1.5, 2.0]);
}

#[test]
fn one_helper_serves_data_and_active_numbers() {
    agrees(statistics::Misfit, plain::statistics::misfit, [0.4, 1.0, 2.5]);
}

#[test]
fn the_module_still_computes_with_f64() {
    assert_eq!(chain::energy(&[1.5, 1.2, 0.7]), plain::chain::energy(&[1.5, 1.2, 0.7]));
    let s = chain::State { pos: 1.0, vel: 2.0 };
    let t: chain::State = chain::State { vel: 2.0, ..s };
    assert_eq!(s, t);
    assert_eq!(chain::Spring::<f64>::new(1.0, chain::Kind::Linear).rest, 0.1);
}

#[test]
fn a_struct_with_data_only_stays_as_it_is() {
    let model: statistics::Model = statistics::Model { rate: 1.0, name: "" };
    assert_eq!(std::any::type_name_of_val(&model), "modules::programs::statistics::Model");
}

struct Oscillator {
    stiffness: f64,
    damping: f64,
}

#[differentiable(crate = "differentiation_interface_core")]
impl Oscillator {
    fn potential(&self, q: f64) -> f64 {
        0.5 * self.stiffness * q * q + self.damping.max(q)
    }

    pub fn energy(&self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for q in x {
            sum += self.potential(*q);
        }
        sum + Self::scaled(x[0], 2.0)
    }

    fn scaled(q: f64, by: f64) -> f64 {
        q * by
    }
}

#[test]
fn methods_take_active_numbers_beside_the_data_of_self() {
    let model = Oscillator { stiffness: 3.0, damping: 0.5 };
    close(model.energy(&[1.0, 0.25]), 1.5 + 1.0 + 0.09375 + 0.5 + 2.0);
    let y: Num<Dual> = model.energy(&seeded([1.0, 0.25], 0));
    close(y.0.tangent, 3.0 + 1.0 + 2.0);
    let y: Num<Dual> = model.energy(&seeded([1.0, 0.25], 1));
    close(y.0.tangent, 0.75);
}
