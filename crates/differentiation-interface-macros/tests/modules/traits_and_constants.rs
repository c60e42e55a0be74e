//! `#[differentiable] mod`: traits for closures and pointers, constants of types, objects of traits, and programs made of them.

use crate::dual::agrees;
use differentiation_interface_macros::differentiable;

both! {
    // Traits of the module for closures, boxes and pointers (`impl<F: Fn(f64) -> f64> Law for F`), and constants of types: `Vector::ZERO`, `[f64; Self::N]`
    mod blanket {
        use std::rc::Rc;
        pub trait Law {
            fn force(&self, x: f64) -> f64;
        }
        pub struct Hooke {
            k: f64,
        }
        impl Law for Hooke {
            fn force(&self, x: f64) -> f64 {
                -self.k * x
            }
        }
        impl<F: Fn(f64) -> f64> Law for F {
            fn force(&self, x: f64) -> f64 {
                self(x)
            }
        }
        impl Law for Box<dyn Law> {
            fn force(&self, x: f64) -> f64 {
                (**self).force(x)
            }
        }
        impl<L: Law + ?Sized> Law for Rc<L> {
            fn force(&self, x: f64) -> f64 {
                (**self).force(x)
            }
        }
        fn run<L: Law>(law: &L, x: f64) -> f64 {
            x + 0.1 * law.force(x)
        }
        fn dynamic(law: &dyn Law, x: f64) -> f64 {
            law.force(x) * 2.0
        }
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct V {
            x: f64,
            y: f64,
        }
        impl V {
            pub const ZERO: Self = Self { x: 0.0, y: 0.0 };
            pub const X: V = V { x: 1.0, y: 0.0 };
            pub const UNITS: [V; 2] = [Self::X, V { x: 0.0, y: 1.0 }];
            const N: usize = 2;
            const SCALE: f64 = 3.0;
            fn array(self) -> [f64; Self::N] {
                [self.x * Self::SCALE, self.y]
            }
            fn dot(&self, o: &V) -> f64 {
                self.x * o.x + self.y * o.y
            }
            fn along(self) -> [f64; 2] {
                [self.dot(&Self::X), Self::UNITS[1].dot(&self)]
            }
        }
        impl std::ops::Add for V {
            type Output = V;
            fn add(self, o: V) -> V {
                V { x: self.x + o.x, y: self.y + o.y }
            }
        }
        impl std::ops::Mul<f64> for V {
            type Output = V;
            fn mul(self, k: f64) -> V {
                V { x: self.x * k, y: self.y * k }
            }
        }
        pub fn energy(x: &[f64]) -> f64 {
            let a = x[0];
            let b: Box<dyn Law> = Box::new(Hooke { k: x[1] });
            let r: Rc<dyn Law> = Rc::new(Hooke { k: x[0] });
            let closure = |t: f64| t * a;
            let mut v = V::ZERO;
            for (u, k) in V::UNITS.iter().zip(x) {
                v = v + *u * *k;
            }
            let w = V::X * a + V::ZERO;
            let z = x.iter().fold(V::ZERO, |s, &k| s + V { x: k, y: k * k });
            run(&Hooke { k: x[0] }, x[1])
                + run(&closure, x[1])
                + run(&b, x[0])
                + run(&r, x[1])
                + dynamic(&*b, x[0])
                + dynamic(&closure, 1.0)
                + v.array()[0]
                + w.along()[0]
                + w.along()[1]
                + V::X.dot(&z)
                + V::SCALE * V::N as f64
                + v.dot(&V::X)
        }
    }

    // A number in a struct (`struct Meters(f64)`) with operators, conversions, `Deref` and constants
    mod units {
        use std::ops::*;
        #[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
        pub struct Meters(pub f64);
        impl Add for Meters {
            type Output = Self;
            fn add(self, o: Self) -> Self {
                Meters(self.0 + o.0)
            }
        }
        impl Sub for Meters {
            type Output = Self;
            fn sub(self, o: Self) -> Self {
                Self(self.0 - o.0)
            }
        }
        impl Neg for Meters {
            type Output = Self;
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }
        impl Mul<f64> for Meters {
            type Output = Self;
            fn mul(self, o: f64) -> Self {
                Self(self.0 * o)
            }
        }
        impl Div for Meters {
            type Output = f64;
            fn div(self, o: Self) -> f64 {
                self.0 / o.0
            }
        }
        impl AddAssign for Meters {
            fn add_assign(&mut self, o: Self) {
                self.0 += o.0;
            }
        }
        impl Deref for Meters {
            type Target = f64;
            fn deref(&self) -> &f64 {
                &self.0
            }
        }
        impl From<[f64; 2]> for Meters {
            fn from(v: [f64; 2]) -> Self {
                Meters(v[0] - v[1])
            }
        }
        impl From<f64> for Meters {
            fn from(v: f64) -> Self {
                Meters(v)
            }
        }
        impl Meters {
            const ZERO: Meters = Meters(0.0);
            const ONE: Self = Self(1.0);
            fn max(self, o: Self) -> Self {
                if self > o { self } else { o }
            }
            fn get(self) -> f64 {
                self.0
            }
        }
        pub fn energy(x: &[f64]) -> f64 {
            let a = Meters(x[0]);
            let b: Meters = x[1].into();
            let mut c = a + b * 2.0;
            c += Meters::ONE;
            let d = c.max(Meters::ZERO) - -a;
            let all: Vec<Meters> = x.iter().copied().map(Meters).collect();
            let big = all.iter().max_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
            d / b + c.sin() + big.get() + Meters::from(x[0]).0 * Meters::from([x[0], x[1]]).0 + *a
        }
    }

    // Objects of traits in boxes and shared pointers
    mod distances {
        use std::rc::Rc;
        use std::sync::Arc;
        pub trait Shape {
            fn distance(&self, p: [f64; 2]) -> f64;
            fn scaled(&self, k: f64, p: [f64; 2]) -> f64 {
                k * self.distance([p[0] / k, p[1] / k])
            }
        }
        pub struct Circle {
            c: [f64; 2],
            r: f64,
        }
        pub struct Union {
            parts: Vec<Box<dyn Shape>>,
        }
        pub struct Smooth(Rc<dyn Shape>, Arc<Circle>, f64);
        pub struct Shell<S: Shape> {
            inner: S,
            thickness: f64,
        }
        impl Shape for Circle {
            fn distance(&self, p: [f64; 2]) -> f64 {
                let [x, y] = p;
                (x - self.c[0]).hypot(y - self.c[1]) - self.r
            }
        }
        impl Shape for Union {
            fn distance(&self, p: [f64; 2]) -> f64 {
                self.parts.iter().map(|s| s.distance(p)).fold(f64::INFINITY, f64::min)
            }
        }
        impl Shape for Smooth {
            fn distance(&self, p: [f64; 2]) -> f64 {
                let (a, b) = (self.0.distance(p), self.1.distance(p));
                let h = (0.5 + 0.5 * (b - a) / self.2).clamp(0.0, 1.0);
                b + (a - b) * h - self.2 * h * (1.0 - h)
            }
        }
        impl<S: Shape> Shape for Shell<S> {
            fn distance(&self, p: [f64; 2]) -> f64 {
                self.inner.distance(p).abs() - self.thickness
            }
        }
        impl Shape for Box<dyn Shape> {
            fn distance(&self, p: [f64; 2]) -> f64 {
                (**self).distance(p)
            }
        }
        fn normal(s: &dyn Shape, p: [f64; 2]) -> [f64; 2] {
            let h = 1e-4;
            [
                (s.distance([p[0] + h, p[1]]) - s.distance([p[0] - h, p[1]])) / (2.0 * h),
                (s.distance([p[0], p[1] + h]) - s.distance([p[0], p[1] - h])) / (2.0 * h),
            ]
        }
        fn march(s: &impl Shape, mut p: [f64; 2], d: [f64; 2]) -> Option<f64> {
            let mut t = 0.0;
            for _ in 0..50 {
                let dist = s.distance(p);
                if dist < 1e-9 {
                    return Some(t);
                }
                t += dist;
                p = [p[0] + d[0] * dist, p[1] + d[1] * dist];
            }
            None
        }
        pub fn energy(x: &[f64]) -> f64 {
            let circle = Arc::new(Circle { c: [0.0, 0.1], r: 0.5 });
            let u = Union {
                parts: vec![
                    Box::new(Circle { c: [x[0], 0.0], r: x[1] }),
                    Box::new(Shell { inner: Circle { c: [0.0, 0.0], r: 1.0 }, thickness: 0.1 }),
                ],
            };
            let s = Smooth(Rc::new(Circle { c: [x[0], 0.2], r: 0.3 }), Arc::clone(&circle), x[1]);
            let n = normal(&s, [0.3, 0.4]);
            let t = march(&circle_of(x[0]), [3.0, 0.0], [-1.0, 0.0]).unwrap_or(0.0);
            u.distance([0.3, 0.4]) + s.scaled(2.0, [0.5, x[1]]) + n[0] * n[1] + t
        }
        fn circle_of(r: f64) -> Circle {
            Circle { c: [0.0, 0.0], r }
        }
    }

    // A trait with methods that are generic over another: `fn step<S: System>(&mut self, system: &S, ..)`
    mod steppers {
        pub trait System {
            const DIM: usize;
            fn rhs(&self, t: f64, y: &[f64], dy: &mut [f64]);
            fn initial(&self) -> Vec<f64>;
        }
        pub trait Stepper {
            fn step<S: System>(&mut self, s: &S, t: f64, y: &mut Vec<f64>, h: f64) -> f64;
        }
        pub struct Rk4 {
            k: [Vec<f64>; 4],
            tmp: Vec<f64>,
        }
        impl Rk4 {
            fn new(n: usize) -> Self {
                Self { k: std::array::from_fn(|_| vec![0.0; n]), tmp: vec![0.0; n] }
            }
        }
        impl Stepper for Rk4 {
            fn step<S: System>(&mut self, s: &S, t: f64, y: &mut Vec<f64>, h: f64) -> f64 {
                let n = y.len();
                s.rhs(t, y, &mut self.k[0]);
                for (stage, c) in [0.5, 0.5, 1.0].into_iter().enumerate() {
                    for i in 0..n {
                        self.tmp[i] = y[i] + c * h * self.k[stage][i];
                    }
                    s.rhs(t + c * h, &self.tmp, &mut self.k[stage + 1]);
                }
                for i in 0..n {
                    y[i] += h / 6.0 * (self.k[0][i] + 2.0 * self.k[1][i] + 2.0 * self.k[2][i] + self.k[3][i]);
                }
                t + h
            }
        }
        pub struct Lotka {
            a: f64,
            b: f64,
        }
        impl System for Lotka {
            const DIM: usize = 2;
            fn rhs(&self, _t: f64, y: &[f64], dy: &mut [f64]) {
                dy[0] = self.a * y[0] - y[0] * y[1];
                dy[1] = y[0] * y[1] - self.b * y[1];
            }
            fn initial(&self) -> Vec<f64> {
                vec![1.0; Self::DIM]
            }
        }
        fn solve<S: System, T1: Stepper>(s: &S, stepper: &mut T1, end: f64, n: usize) -> Vec<Vec<f64>> {
            let mut y = s.initial();
            let mut out = Vec::with_capacity(n + 1);
            let mut t = 0.0;
            out.push(y.clone());
            while out.len() <= n {
                t = stepper.step(s, t, &mut y, end / n as f64);
                out.push(y.clone());
            }
            out
        }
        pub fn energy(x: &[f64]) -> f64 {
            let s = Lotka { a: x[0], b: x[1] };
            let mut st = Rk4::new(2);
            let out = solve(&s, &mut st, 2.0, 20);
            out.last().map(|y| y[0] * y[1]).unwrap_or_default() + out.iter().map(|y| y[0]).sum::<f64>()
        }
    }

    // Traits of the standard library: `FromIterator`, `Extend`, `IntoIterator`, `TryFrom`, `AsRef`, `PartialEq`, `Display`
    mod filters {
        const N: usize = 3;
        static WEIGHTS: [f64; N] = [0.5, 0.3, 0.2];
        pub struct Filter {
            a: [f64; N],
            state: [f64; N],
            gain: f64,
        }
        impl Filter {
            pub fn new(a: [f64; N]) -> Self {
                Self { a, state: Default::default(), gain: 1.0 }
            }
            pub fn push(&mut self, u: f64) -> f64 {
                self.state.rotate_right(1);
                self.state[0] = u;
                self.gain * self.state.iter().zip(self.a.iter()).map(|(s, a)| s * a).sum::<f64>()
            }
            pub fn reset(&mut self) {
                self.state.fill(0.0);
                self.state = [0.0; N];
            }
            pub fn run<'a>(&'a mut self, input: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
                input.iter().map(move |u| self.push(*u))
            }
        }
        pub struct Pid {
            kp: f64,
            ki: f64,
            kd: f64,
            integral: f64,
            last: Option<f64>,
            limits: (f64, f64),
        }
        impl Pid {
            fn step(&mut self, e: f64, dt: f64) -> f64 {
                self.integral += e * dt;
                let d = self.last.map_or(0.0, |l| (e - l) / dt);
                self.last = Some(e);
                (self.kp * e + self.ki * self.integral + self.kd * d).clamp(self.limits.0, self.limits.1)
            }
        }
        pub struct Stats {
            n: usize,
            mean: f64,
            m2: f64,
        }
        impl FromIterator<f64> for Stats {
            fn from_iter<I: IntoIterator<Item = f64>>(it: I) -> Self {
                let mut s = Stats { n: 0, mean: 0.0, m2: 0.0 };
                for v in it {
                    s.n += 1;
                    let d = v - s.mean;
                    s.mean += d / s.n as f64;
                    s.m2 += d * (v - s.mean);
                }
                s
            }
        }
        impl Extend<f64> for Stats {
            fn extend<I: IntoIterator<Item = f64>>(&mut self, it: I) {
                for v in it {
                    self.n += 1;
                    self.mean += v;
                }
            }
        }
        pub struct Poly {
            c: Vec<f64>,
        }
        impl IntoIterator for Poly {
            type Item = f64;
            type IntoIter = std::vec::IntoIter<f64>;
            fn into_iter(self) -> Self::IntoIter {
                self.c.into_iter()
            }
        }
        impl<'a> IntoIterator for &'a Poly {
            type Item = &'a f64;
            type IntoIter = std::slice::Iter<'a, f64>;
            fn into_iter(self) -> Self::IntoIter {
                self.c.iter()
            }
        }
        impl PartialEq for Poly {
            fn eq(&self, o: &Self) -> bool {
                self.c.len() == o.c.len() && self.c.iter().zip(&o.c).all(|(a, b)| (a - b).abs() < 1e-9)
            }
        }
        impl std::fmt::Display for Poly {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                for (i, c) in self.c.iter().enumerate() {
                    if i > 0 {
                        write!(f, " + ")?;
                    }
                    write!(f, "{c:.3}x^{i}")?;
                }
                Ok(())
            }
        }
        impl TryFrom<&[f64]> for Poly {
            type Error = String;
            fn try_from(v: &[f64]) -> Result<Self, String> {
                if v.is_empty() { Err("empty".into()) } else { Ok(Poly { c: v.to_vec() }) }
            }
        }
        impl AsRef<[f64]> for Poly {
            fn as_ref(&self) -> &[f64] {
                &self.c
            }
        }
        fn horner(p: impl AsRef<[f64]>, x: f64) -> f64 {
            p.as_ref().iter().rev().fold(0.0, |a, c| a * x + c)
        }
        pub fn energy(x: &[f64]) -> f64 {
            let mut f = Filter::new([x[0], 0.5, x[1]]);
            let out: Vec<f64> = f.run(&[1.0, 2.0, 3.0]).collect();
            f.reset();
            let more = f.push(x[0]);
            let mut pid = Pid { kp: x[0], ki: x[1], kd: 0.1, integral: 0.0, last: None, limits: (-100.0, 100.0) };
            let mut y = 0.0;
            for _ in 0..5 {
                y += 0.1 * pid.step(1.0 - y, 0.1);
            }
            let s: Stats = x.iter().map(|v| v * v).collect();
            let p = Poly::try_from(x).unwrap();
            let sum: f64 = (&p).into_iter().sum();
            let same = p == Poly { c: vec![0.0; 2] };
            let label = format!("{p}");
            let q: f64 = WEIGHTS.iter().zip(x).map(|(w, v)| w * v).sum();
            let h = horner(&p, 2.0);
            let total: f64 = p.into_iter().map(|c| c * 2.0).sum();
            out.iter().sum::<f64>()
                + more
                + y
                + s.mean * s.m2
                + sum
                + if same { 1.0 } else { 2.0 } * x[0]
                + q
                + h
                + total
                + label.len() as f64 * 0.0
        }
    }
}

#[test]
fn traits_are_implemented_for_closures_and_pointers_and_types_have_constants() {
    agrees(blanket::Energy, plain::blanket::energy, [1.5, 1.2]);
    agrees(blanket::Energy, plain::blanket::energy, [-0.5, 0.7]);
}

#[test]
fn numbers_in_structs_become_generic() {
    agrees(units::Energy, plain::units::energy, [1.5, 0.7]);
    agrees(units::Energy, plain::units::energy, [0.25, -0.7]);
}

#[test]
fn objects_of_traits_are_shared() {
    agrees(distances::Energy, plain::distances::energy, [0.8, 0.3]);
    agrees(distances::Energy, plain::distances::energy, [0.6, 0.45]);
}

#[test]
fn methods_are_generic_over_another_trait() {
    agrees(steppers::Energy, plain::steppers::energy, [1.5, 0.7]);
    agrees(steppers::Energy, plain::steppers::energy, [0.5, 1.1]);
}

#[test]
fn traits_of_the_standard_library_take_active_numbers() {
    agrees(filters::Energy, plain::filters::energy, [1.5, 0.7]);
    agrees(filters::Energy, plain::filters::energy, [0.3, -0.4]);
}
