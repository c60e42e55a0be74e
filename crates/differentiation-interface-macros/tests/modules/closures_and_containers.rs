//! `#[differentiable] mod`: closures in structs, traits for containers, and what else traits of the module and of the standard library bring.

use crate::dual::agrees;
use differentiation_interface_macros::differentiable;

both! {
    // Structs without numbers of their own whose fields are closures or strategies: `struct Rule<F: Fn(f64) -> f64> { f: F }`
    mod closures {
        pub trait Law {
            fn force(&self, x: f64) -> f64;
            fn name(&self) -> String {
                "law".to_string()
            }
        }
        pub struct Hooke {
            k: f64,
        }
        impl Law for Hooke {
            fn force(&self, x: f64) -> f64 {
                -self.k * x
            }
        }
        pub struct Cubic;
        impl Law for Cubic {
            fn force(&self, x: f64) -> f64 {
                -x * x * x
            }
        }
        // A law made of laws, without numbers of its own.
        pub struct Sum<A, B> {
            a: A,
            b: B,
        }
        impl<A: Law, B: Law> Law for Sum<A, B> {
            fn force(&self, x: f64) -> f64 {
                self.a.force(x) + self.b.force(x)
            }
        }
        pub struct Leapfrog<L: Law> {
            law: L,
            steps: usize,
        }
        impl<L: Law> Leapfrog<L> {
            fn new(law: L, steps: usize) -> Self {
                Leapfrog { law, steps }
            }
            fn run(&self, x: f64, v: f64) -> (f64, f64) {
                let (mut x, mut v) = (x, v);
                let h = 0.1;
                for _ in 0..self.steps {
                    v += 0.5 * h * self.law.force(x);
                    x += h * v;
                    v += 0.5 * h * self.law.force(x);
                }
                (x, v)
            }
            fn energy(&self) -> f64 {
                let (x, v) = self.run(1.0, 0.0);
                0.5 * v * v + x
            }
            fn len(&self) -> usize {
                self.steps
            }
        }
        pub struct Quad<F> {
            f: F,
        }
        impl<F> Quad<F>
        where
            F: Fn(f64) -> f64,
        {
            fn over(&self, a: f64, b: f64) -> f64 {
                (b - a) / 6.0 * ((self.f)(a) + 4.0 * (self.f)(0.5 * (a + b)) + (self.f)(b))
            }
        }
        pub struct Newton<F, G>
        where
            F: Fn(f64) -> f64,
            G: Fn(f64) -> f64,
        {
            f: F,
            df: G,
            tol: f64,
        }
        impl<F, G> Newton<F, G>
        where
            F: Fn(f64) -> f64,
            G: Fn(f64) -> f64,
        {
            fn solve(&self, mut x: f64) -> f64 {
                for _ in 0..30 {
                    let d = (self.f)(x) / (self.df)(x);
                    x -= d;
                    if d.abs() < self.tol {
                        break;
                    }
                }
                x
            }
        }
        pub struct Mapped<F: Fn(&[f64]) -> Vec<f64>>(F);
        impl<F: Fn(&[f64]) -> Vec<f64>> Mapped<F> {
            fn norm(&self, x: &[f64]) -> f64 {
                (self.0)(x).iter().map(|v| v * v).sum::<f64>().sqrt()
            }
        }
        fn both<L: Law>(s: &Leapfrog<L>, x: f64) -> f64 {
            s.run(x, 0.0).0 + s.law.force(1.0)
        }
        pub fn energy(x: &[f64]) -> f64 {
            let a = x[0];
            let s = Leapfrog::new(Hooke { k: x[0] }, 10);
            let t = Leapfrog { law: Sum { a: Cubic, b: Hooke { k: x[1] } }, steps: 3 };
            let u = Leapfrog::new(Cubic, 4);
            let q = Quad { f: |t: f64| (t * a).exp() };
            let plain = Quad { f: |t: f64| t * t };
            let n = Newton { f: |t: f64| t * t - a, df: |t: f64| 2.0 * t, tol: 1e-12 };
            let m = Mapped(|v: &[f64]| v.iter().map(|w| w * a).collect::<Vec<f64>>());
            s.run(x[1], 0.0).0
                + t.run(x[0], 1.0).1
                + s.energy()
                + u.run(x[0], x[1]).0
                + q.over(0.0, x[1])
                + plain.over(0.0, 1.0) * x[0]
                + plain.over(0.0, x[1])
                + n.solve(1.0)
                + m.norm(x)
                + m.norm(&[1.0, 2.0])
                + both(&t, x[1])
                + s.len() as f64
        }
    }

    // Closures in structs beside numbers.
    mod newton {
        pub struct Newton<F: Fn(f64) -> f64> {
            f: F,
            tol: f64,
            steps: usize,
        }
        impl<F: Fn(f64) -> f64> Newton<F> {
            fn new(f: F, tol: f64) -> Self {
                Newton { f, tol, steps: 20 }
            }
            fn solve(&self, start: f64) -> f64 {
                let mut x = start;
                for _ in 0..self.steps {
                    let h = 1e-6;
                    let y = (self.f)(x);
                    let d = ((self.f)(x + h) - (self.f)(x - h)) / (2.0 * h);
                    x -= y / d;
                    if y.abs() < self.tol {
                        break;
                    }
                }
                x
            }
        }
        pub fn energy(x: &[f64]) -> f64 {
            let a = x[0];
            let s = Newton::new(|t| t * t - a * a - 1.0, 1e-12);
            s.solve(1.0) * x[1]
        }
    }

    // Traits of the module for slices, arrays, vectors and tuples: `impl Stats for [f64]`.
    mod containers {
        pub trait Vector {
            fn dot(&self, o: &Self) -> f64;
            fn norm(&self) -> f64 {
                self.dot(self).sqrt()
            }
            fn axpy(&mut self, a: f64, x: &Self);
        }
        impl Vector for [f64] {
            fn dot(&self, o: &[f64]) -> f64 {
                self.iter().zip(o).map(|(a, b)| a * b).sum()
            }
            fn axpy(&mut self, a: f64, x: &[f64]) {
                for (y, x) in self.iter_mut().zip(x) {
                    *y += a * x;
                }
            }
        }
        impl Vector for [f64; 3] {
            fn dot(&self, o: &[f64; 3]) -> f64 {
                self[0] * o[0] + self[1] * o[1] + self[2] * o[2]
            }
            fn axpy(&mut self, a: f64, x: &Self) {
                for i in 0..3 {
                    self[i] += a * x[i];
                }
            }
        }
        trait Cross {
            fn cross(self, o: Self) -> Self;
        }
        impl Cross for [f64; 3] {
            fn cross(self, o: [f64; 3]) -> [f64; 3] {
                [self[1] * o[2] - self[2] * o[1], self[2] * o[0] - self[0] * o[2], self[0] * o[1] - self[1] * o[0]]
            }
        }
        #[derive(Clone, Copy)]
        pub struct P {
            x: f64,
            y: f64,
        }
        trait Path {
            fn length(&self) -> f64;
            fn centroid(&self) -> P;
        }
        impl Path for Vec<P> {
            fn length(&self) -> f64 {
                self.windows(2).map(|w| ((w[1].x - w[0].x).powi(2) + (w[1].y - w[0].y).powi(2)).sqrt()).sum()
            }
            fn centroid(&self) -> P {
                let n = self.len() as f64;
                P { x: self.iter().map(|p| p.x).sum::<f64>() / n, y: self.iter().map(|p| p.y).sum::<f64>() / n }
            }
        }
        trait Polar {
            fn polar(&self) -> (f64, f64);
        }
        impl Polar for (f64, f64) {
            fn polar(&self) -> (f64, f64) {
                (self.0.hypot(self.1), self.1.atan2(self.0))
            }
        }
        const UP: [f64; 3] = [0.0, 0.0, 1.0];
        pub fn energy(x: &[f64]) -> f64 {
            let a = [x[0], x[1], 1.0];
            let b = a.cross(UP);
            let mut c = b;
            c.axpy(x[0], &a);
            let path = vec![P { x: x[0], y: 0.0 }, P { x: 1.0, y: x[1] }, P { x: 2.0, y: x[0] * x[1] }];
            let (r, phi) = (x[0], x[1]).polar();
            let v = x.to_vec();
            let data = [1.0, 2.0];
            c.dot(&UP)
                + b.norm()
                + path.length() * path.centroid().x
                + path.centroid().y
                + r * phi
                + x.to_vec().norm()
                + v.dot(x)
                + v.dot(&data)
                + data.norm()
                + UP.norm()
                + v.iter().sum::<f64>()
        }
    }

    // `Sum` and `Product` of a struct.
    mod sums {
        use std::iter::{Product, Sum};
        use std::ops::{Add, Mul};
        #[derive(Clone, Copy)]
        pub struct C {
            re: f64,
            im: f64,
        }
        impl Add for C {
            type Output = C;
            fn add(self, o: C) -> C {
                C { re: self.re + o.re, im: self.im + o.im }
            }
        }
        impl Mul for C {
            type Output = C;
            fn mul(self, o: C) -> C {
                C { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
            }
        }
        impl Sum for C {
            fn sum<I: Iterator<Item = C>>(iter: I) -> C {
                iter.fold(C { re: 0.0, im: 0.0 }, |a, b| a + b)
            }
        }
        impl<'a> Sum<&'a C> for C {
            fn sum<I: Iterator<Item = &'a C>>(iter: I) -> C {
                iter.fold(C { re: 0.0, im: 0.0 }, |a, b| a + *b)
            }
        }
        impl Product for C {
            fn product<I: Iterator<Item = C>>(iter: I) -> C {
                iter.fold(C { re: 1.0, im: 0.0 }, |a, b| a * b)
            }
        }
        pub fn energy(x: &[f64]) -> f64 {
            let v = vec![C { re: x[0], im: x[1] }, C { re: 1.0, im: x[0] }];
            let s: C = v.iter().sum();
            let t: C = v.iter().copied().sum();
            let p: C = v.into_iter().product();
            s.re * p.im + p.re * t.im
        }
    }

    // Constants and associated types of traits.
    mod elements {
        pub trait Element {
            const N: usize;
            const WEIGHT: f64;
            type Out;
            fn at(&self, s: f64) -> Self::Out;
        }
        pub struct Line {
            a: f64,
            b: f64,
        }
        impl Element for Line {
            const N: usize = 2;
            const WEIGHT: f64 = 0.5;
            type Out = [f64; 2];
            fn at(&self, s: f64) -> [f64; 2] {
                [self.a * s, self.b * (1.0 - s)]
            }
        }
        impl Line {
            const SCALE: f64 = 3.0;
            fn scaled(&self) -> f64 {
                Self::SCALE * self.a
            }
        }
        fn total<E: Element<Out = [f64; 2]>>(e: &E, s: f64) -> f64 {
            let v = e.at(s);
            E::WEIGHT * (v[0] + v[1]) * E::N as f64
        }
        pub fn energy(x: &[f64]) -> f64 {
            let l = Line { a: x[0], b: x[1] };
            total(&l, x[0]) + l.scaled() + Line::WEIGHT * x[1]
        }
    }

    // Values by `default`, derived or by hand, and methods with bodies of traits
    mod derived {
        #[derive(Clone, Copy)]
        pub struct Pose {
            x: f64,
        }
        impl Default for Pose {
            fn default() -> Self {
                Pose { x: 1.0 }
            }
        }
        #[derive(Default)]
        pub struct Robot {
            base: Pose,
            loads: Vec<(usize, f64)>,
            area: Vec<f64>,
        }
        pub trait Holder {
            fn robot(&self) -> &Robot;
        }
        pub struct Depot {
            robot: Robot,
        }
        impl Holder for Depot {
            fn robot(&self) -> &Robot {
                &self.robot
            }
        }
        impl Robot {
            fn total(&self) -> f64 {
                self.loads.iter().map(|(i, v)| v * self.area[*i]).sum()
            }
        }
        #[derive(Clone, Copy, Default)]
        pub enum Kind {
            #[default]
            Relu,
            Id,
        }
        impl Kind {
            pub fn apply(self, x: f64) -> f64 {
                match self {
                    Kind::Relu => x.max(0.0),
                    Self::Id => x,
                }
            }
        }
        pub struct Dense {
            w: Vec<f64>,
            kind: Kind,
        }
        impl Dense {
            fn forward(&self, input: &[f64]) -> f64 {
                let z = self.w.iter().zip(input).map(|(w, x)| w * x).sum::<f64>();
                self.kind.apply(z)
            }
        }
        pub trait Filter {
            fn process(&mut self, x: f64) -> f64;
            fn all(&mut self, xs: &[f64]) -> Vec<f64> {
                xs.iter().map(|&x| self.process(x)).collect()
            }
        }
        pub struct Gain {
            k: f64,
        }
        impl Filter for Gain {
            fn process(&mut self, x: f64) -> f64 {
                self.k * x
            }
        }
        pub struct Hold<const N: usize> {
            buf: [f64; N],
        }
        impl<const N: usize> Filter for Hold<N> {
            fn process(&mut self, x: f64) -> f64 {
                self.buf.rotate_right(1);
                self.buf[0] = x;
                self.buf[N - 1] * x
            }
        }
        fn signal(n: usize) -> Vec<f64> {
            (0..n).map(|i| i as f64).collect()
        }
        pub fn energy(q: &[f64]) -> f64 {
            let mut r = Robot::default();
            let base = r.base.x;
            r.base.x = q[0];
            r.area = q.to_vec();
            r.loads.push((0, -1.0));
            let dense = Dense { w: q.to_vec(), kind: Kind::default() };
            let mut gain = Gain { k: q[0] };
            let mut hold: Box<dyn Filter> = Box::new(Hold::<2> { buf: [0.5; 2] });
            let depot = Depot { robot: Robot { base: Pose { x: q[1] }, ..Default::default() } };
            let s = signal(3);
            let sum = gain.all(&s).iter().sum::<f64>() + gain.process(q[0]) + hold.process(q[0]) * hold.process(q[1]);
            base * r.base.x * q[0]
                + r.total()
                + dense.forward(&[1.0, 2.0])
                + Kind::Id.apply(q[1])
                + sum
                + depot.robot().base.x
        }
    }
}

#[test]
fn closures_and_strategies_are_fields() {
    agrees(closures::Energy, plain::closures::energy, [1.5, 1.2]);
    agrees(closures::Energy, plain::closures::energy, [0.75, 0.4]);
}

#[test]
fn closures_are_made_for_the_numbers_of_the_struct() {
    agrees(newton::Energy, plain::newton::energy, [1.5, 1.2]);
    agrees(newton::Energy, plain::newton::energy, [0.75, 0.4]);
}

#[test]
fn traits_of_the_module_are_implemented_for_containers() {
    agrees(containers::Energy, plain::containers::energy, [1.5, 1.2]);
    agrees(containers::Energy, plain::containers::energy, [0.75, 0.4]);
}

#[test]
fn sums_and_products_of_structs_become_generic() {
    agrees(sums::Energy, plain::sums::energy, [1.5, 1.2]);
    agrees(sums::Energy, plain::sums::energy, [0.75, 0.4]);
}

#[test]
fn traits_have_constants_and_types() {
    agrees(elements::Energy, plain::elements::energy, [1.5, 1.2]);
    agrees(elements::Energy, plain::elements::energy, [0.75, 0.4]);
}

#[test]
fn defaults_and_methods_of_traits_take_active_numbers() {
    agrees(derived::Energy, plain::derived::energy, [1.5, 0.7]);
    agrees(derived::Energy, plain::derived::energy, [0.3, -0.4]);
}
