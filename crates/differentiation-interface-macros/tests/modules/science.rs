//! `#[differentiable] mod`: programs of the sciences, as they are written for `f64`.

use crate::dual::agrees;
use differentiation_interface_macros::differentiable;

both! {
    // Monte Carlo with an own generator, option prices, splines, hidden Markov models, generic `softmax<const N: usize>`
    mod finance {
        pub struct Rng(u64);
        impl Rng {
            pub fn new(seed: u64) -> Self {
                Rng(seed.max(1))
            }
            fn next_u64(&mut self) -> u64 {
                self.0 ^= self.0 << 13;
                self.0 ^= self.0 >> 7;
                self.0 ^= self.0 << 17;
                self.0
            }
            pub fn uniform(&mut self) -> f64 {
                (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
            }
            pub fn normal(&mut self) -> f64 {
                let (u, v) = (self.uniform().max(1e-12), self.uniform());
                (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
            }
        }
        #[derive(Debug, Clone, Copy)]
        pub struct Market {
            spot: f64,
            rate: f64,
            vol: f64,
        }
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Style {
            Call,
            Put,
            Asian { fixings: usize },
        }
        fn norm_cdf(x: f64) -> f64 {
            let t = 1.0 / (1.0 + 0.2316419 * x.abs());
            let poly =
                t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
            let p = 1.0 - (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt() * poly;
            if x >= 0.0 { p } else { 1.0 - p }
        }
        impl Market {
            fn black_scholes(&self, strike: f64, expiry: f64, style: Style) -> f64 {
                let Self { spot, rate, vol } = *self;
                let sd = vol * expiry.sqrt();
                let d1 = ((spot / strike).ln() + (rate + 0.5 * vol.powi(2)) * expiry) / sd;
                let d2 = d1 - sd;
                let df = (-rate * expiry).exp();
                match style {
                    Style::Call => spot * norm_cdf(d1) - strike * df * norm_cdf(d2),
                    Style::Put => strike * df * norm_cdf(-d2) - spot * norm_cdf(-d1),
                    Style::Asian { .. } => unreachable!("no formula"),
                }
            }
            fn simulate(&self, strike: f64, expiry: f64, style: Style, rng: &mut Rng, paths: usize) -> f64 {
                let steps = match style {
                    Style::Asian { fixings } => fixings,
                    _ => 1,
                };
                let dt = expiry / steps as f64;
                let mut sum = 0.0;
                for _ in 0..paths {
                    let mut s = self.spot;
                    let mut acc = 0.0;
                    for _ in 0..steps {
                        s *= ((self.rate - 0.5 * self.vol * self.vol) * dt + self.vol * dt.sqrt() * rng.normal()).exp();
                        acc += s;
                    }
                    let payoff = match style {
                        Style::Call => s - strike,
                        Style::Put => strike - s,
                        Style::Asian { fixings: n } => acc / n as f64 - strike,
                    };
                    sum += if payoff > 0.0 { payoff } else { 0.0 };
                }
                (-self.rate * expiry).exp() * sum / paths as f64
            }
        }
        pub struct Spline {
            x: Vec<f64>,
            y: Vec<f64>,
            m: Vec<f64>,
        }
        impl Spline {
            pub fn natural(x: &[f64], y: &[f64]) -> Self {
                let n = x.len();
                let (mut a, mut b, mut c, mut d) = (vec![0.0; n], vec![1.0; n], vec![0.0; n], vec![0.0; n]);
                for i in 1..n - 1 {
                    let (h0, h1) = (x[i] - x[i - 1], x[i + 1] - x[i]);
                    a[i] = h0;
                    b[i] = 2.0 * (h0 + h1);
                    c[i] = h1;
                    d[i] = 6.0 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0);
                }
                for i in 1..n {
                    let w = a[i] / b[i - 1];
                    b[i] -= w * c[i - 1];
                    d[i] -= w * d[i - 1];
                }
                let mut m = vec![0.0; n];
                m[n - 1] = d[n - 1] / b[n - 1];
                for i in (0..n - 1).rev() {
                    m[i] = (d[i] - c[i] * m[i + 1]) / b[i];
                }
                Spline { x: x.to_vec(), y: y.to_vec(), m }
            }
            pub fn at(&self, t: f64) -> f64 {
                let i = match self.x.iter().position(|&v| v > t) {
                    Some(0) => 0,
                    Some(i) => i - 1,
                    None => self.x.len() - 2,
                };
                let h = self.x[i + 1] - self.x[i];
                let (a, b) = ((self.x[i + 1] - t) / h, (t - self.x[i]) / h);
                a * self.y[i]
                    + b * self.y[i + 1]
                    + ((a.powi(3) - a) * self.m[i] + (b.powi(3) - b) * self.m[i + 1]) * h * h / 6.0
            }
        }
        fn hmm(init: &[f64; 2], trans: &[[f64; 2]; 2], emit: &[[f64; 3]; 2], obs: &[usize]) -> f64 {
            let mut alpha = *init;
            let mut ll = 0.0;
            for (k, &o) in obs.iter().enumerate() {
                if k > 0 {
                    let prev = alpha;
                    for j in 0..2 {
                        alpha[j] = prev.iter().zip(trans).map(|(p, row)| p * row[j]).sum();
                    }
                }
                for (a, e) in alpha.iter_mut().zip(emit) {
                    *a *= e[o];
                }
                let norm: f64 = alpha.iter().sum();
                alpha.iter_mut().for_each(|a| *a /= norm);
                ll += norm.ln();
            }
            ll
        }
        fn softmax<const N: usize>(z: [f64; N]) -> [f64; N] {
            let m = z.iter().cloned().fold(f64::MIN, f64::max);
            let e = z.map(|v| (v - m).exp());
            let s: f64 = e.iter().sum();
            e.map(|v| v / s)
        }
        pub fn energy(x: &[f64]) -> f64 {
            let m = Market { spot: 100.0 * x[0], rate: 0.05, vol: 0.2 + 0.1 * x[1] };
            let mut rng = Rng::new(42);
            let mc = m.simulate(95.0, 1.0, Style::Asian { fixings: 4 }, &mut rng, 20);
            let knots = [0.0, 1.0, 2.0, 3.5];
            let s = Spline::natural(&knots, &[x[0], 1.0, x[1], 0.5]);
            let t = softmax([x[0], x[1], 0.0]);
            let [a, b] = softmax([x[1], 0.3]);
            let ll = hmm(&[a, b], &[softmax([x[0], 0.1]), [0.4, 0.6]], &[t, [0.2, 0.5, 0.3]], &[0, 2, 1, 1, 0]);
            m.black_scholes(95.0, 1.5, Style::Call)
                + m.black_scholes(110.0, 0.5, Style::Put)
                + mc
                + s.at(0.7) * s.at(2.2)
                + s.at(x[0])
                + ll
                + rng.uniform()
        }
    }

    // Rigid bodies, springs and orbits with `const fn new`, quaternions and worlds of bodies
    mod mechanics {
        use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Vec3 {
            pub x: f64,
            pub y: f64,
            pub z: f64,
        }
        impl Vec3 {
            pub const Z: Vec3 = Vec3::new(0.0, 0.0, 1.0);
            pub const fn new(x: f64, y: f64, z: f64) -> Self {
                Self { x, y, z }
            }
            pub fn dot(self, o: Self) -> f64 {
                self.x * o.x + self.y * o.y + self.z * o.z
            }
            pub fn cross(self, o: Self) -> Self {
                Self::new(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
            }
            pub fn norm(self) -> f64 {
                self.dot(self).sqrt()
            }
            pub fn unit(self) -> Self {
                self / self.norm()
            }
        }
        impl Add for Vec3 {
            type Output = Self;
            fn add(self, o: Self) -> Self {
                Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
            }
        }
        impl Sub for Vec3 {
            type Output = Self;
            fn sub(self, o: Self) -> Self {
                Self::new(self.x - o.x, self.y - o.y, self.z - o.z)
            }
        }
        impl Neg for Vec3 {
            type Output = Self;
            fn neg(self) -> Self {
                Self::new(-self.x, -self.y, -self.z)
            }
        }
        impl Mul<f64> for Vec3 {
            type Output = Self;
            fn mul(self, k: f64) -> Self {
                Self::new(self.x * k, self.y * k, self.z * k)
            }
        }
        impl Mul<Vec3> for f64 {
            type Output = Vec3;
            fn mul(self, v: Vec3) -> Vec3 {
                v * self
            }
        }
        impl Div<f64> for Vec3 {
            type Output = Self;
            fn div(self, k: f64) -> Self {
                self * (1.0 / k)
            }
        }
        impl AddAssign for Vec3 {
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }
        impl std::iter::Sum for Vec3 {
            fn sum<I: Iterator<Item = Self>>(it: I) -> Self {
                it.fold(Self::default(), |a, b| a + b)
            }
        }
        #[derive(Clone, Copy, Debug)]
        pub struct Quat {
            w: f64,
            v: Vec3,
        }
        impl Quat {
            pub fn about(axis: Vec3, angle: f64) -> Self {
                let (s, c) = (0.5 * angle).sin_cos();
                Quat { w: c, v: axis.unit() * s }
            }
            pub fn rotate(self, p: Vec3) -> Vec3 {
                let t = 2.0 * self.v.cross(p);
                p + self.w * t + self.v.cross(t)
            }
        }
        impl Mul for Quat {
            type Output = Quat;
            fn mul(self, o: Quat) -> Quat {
                Quat { w: self.w * o.w - self.v.dot(o.v), v: self.w * o.v + o.w * self.v + self.v.cross(o.v) }
            }
        }
        #[derive(Clone)]
        pub struct Body {
            pos: Vec3,
            vel: Vec3,
            mass: f64,
            fixed: bool,
        }
        #[derive(Clone, Default)]
        pub struct World {
            bodies: Vec<Body>,
            springs: Vec<(usize, usize, f64, f64)>,
            gravity: Option<Vec3>,
            time: f64,
        }
        impl World {
            fn forces(&self) -> Vec<Vec3> {
                let mut f: Vec<Vec3> =
                    self.bodies.iter().map(|b| self.gravity.map_or(Vec3::default(), |g| g * b.mass)).collect();
                for &(i, j, k, l) in &self.springs {
                    let d = self.bodies[j].pos - self.bodies[i].pos;
                    let n = d.norm();
                    let pull = d.unit() * (k * (n - l));
                    f[i] += pull;
                    f[j] += -pull;
                }
                f
            }
            fn step(&mut self, h: f64) {
                let f = self.forces();
                for (b, f) in self.bodies.iter_mut().zip(f).filter(|(b, _)| !b.fixed) {
                    b.vel += f * (h / b.mass);
                    b.pos += b.vel * h;
                }
                self.time += h;
            }
            fn energy(&self) -> f64 {
                let kinetic: f64 =
                    self.bodies.iter().filter(|b| !b.fixed).map(|b| 0.5 * b.mass * b.vel.dot(b.vel)).sum();
                let elastic = self
                    .springs
                    .iter()
                    .map(|(i, j, k, l)| 0.5 * k * ((self.bodies[*j].pos - self.bodies[*i].pos).norm() - l).powi(2))
                    .sum::<f64>();
                kinetic + elastic
            }
            fn center(&self) -> Vec3 {
                let m: f64 = self.bodies.iter().map(|b| b.mass).sum();
                self.bodies.iter().map(|b| b.mass * b.pos).sum::<Vec3>() / m
            }
        }
        fn kepler(m: f64, e: f64) -> f64 {
            let mut u = m;
            for _ in 0..100 {
                let f = u - e * u.sin() - m;
                let du = f / (1.0 - e * u.cos());
                u -= du;
                if du.abs() < 1e-14 {
                    break;
                }
            }
            u
        }
        fn orbit(a: f64, e: f64, m: f64) -> (Vec3, Vec3) {
            let u = kepler(m, e);
            let (s, c) = u.sin_cos();
            let b = a * (1.0 - e * e).sqrt();
            let r = a * (1.0 - e * c);
            (Vec3 { x: a * (c - e), y: b * s, ..Default::default() }, Vec3::new(-a * s / r, b * c / r, 0.0))
        }
        pub fn energy(x: &[f64]) -> f64 {
            let q = Quat::about(Vec3::new(1.0, x[0], 0.0), x[1]) * Quat::about(Vec3::Z, 0.3);
            let p = q.rotate(Vec3 { x: 1.0, y: 0.0, z: x[0] });
            let mut w = World { gravity: Some(Vec3::new(0.0, 0.0, -9.81)), ..World::default() };
            w.bodies.push(Body { pos: Vec3::default(), vel: Vec3::default(), mass: 1.0, fixed: true });
            w.bodies.push(Body { pos: Vec3::new(x[0], 0.0, 0.0), vel: Vec3::default(), mass: x[1], fixed: false });
            w.springs.push((0, 1, 50.0, 1.0));
            for _ in 0..5 {
                w.step(0.01);
            }
            let (r, v) = orbit(1.0 + x[0], 0.3, x[1]);
            p.dot(Vec3::new(0.3, 0.2, 0.1))
                + w.energy()
                + w.center().z
                + r.norm() * v.norm()
                + (r.cross(v)).dot(Vec3::Z)
                + if w.time > 0.04 { 1.0 } else { 0.0 }
        }
    }

    // Fourier transforms, images, finite elements, reactions in maps
    mod fields {
        use std::collections::BTreeMap;
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct C64 {
            re: f64,
            im: f64,
        }
        impl C64 {
            const I: C64 = C64 { re: 0.0, im: 1.0 };
            fn cis(t: f64) -> C64 {
                C64 { re: t.cos(), im: t.sin() }
            }
            fn abs2(&self) -> f64 {
                self.re * self.re + self.im * self.im
            }
            fn conj(self) -> Self {
                C64 { im: -self.im, ..self }
            }
        }
        impl std::ops::Add for C64 {
            type Output = C64;
            fn add(self, o: C64) -> C64 {
                C64 { re: self.re + o.re, im: self.im + o.im }
            }
        }
        impl std::ops::Sub for C64 {
            type Output = C64;
            fn sub(self, o: C64) -> C64 {
                C64 { re: self.re - o.re, im: self.im - o.im }
            }
        }
        impl std::ops::Mul for C64 {
            type Output = C64;
            fn mul(self, o: C64) -> C64 {
                C64 { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
            }
        }
        impl From<f64> for C64 {
            fn from(re: f64) -> Self {
                C64 { re, im: 0.0 }
            }
        }
        fn fft(x: &[C64]) -> Vec<C64> {
            let n = x.len();
            if n == 1 {
                return x.to_vec();
            }
            let even = fft(&x.iter().step_by(2).copied().collect::<Vec<_>>());
            let odd = fft(&x.iter().skip(1).step_by(2).copied().collect::<Vec<_>>());
            let mut out = vec![C64::from(0.0); n];
            for k in 0..n / 2 {
                let t = C64::cis(-2.0 * std::f64::consts::PI * k as f64 / n as f64) * odd[k];
                out[k] = even[k] + t;
                out[k + n / 2] = even[k] - t;
            }
            out
        }
        pub struct Image {
            w: usize,
            h: usize,
            px: Vec<f64>,
        }
        impl Image {
            fn from_fn<F>(w: usize, h: usize, f: F) -> Self
            where
                F: Fn(usize, usize) -> f64,
            {
                let px = (0..h).flat_map(|j| (0..w).map(move |i| (i, j))).map(|(i, j)| f(i, j)).collect();
                Image { w, h, px }
            }
            fn get(&self, i: i64, j: i64) -> f64 {
                let i = i.clamp(0, self.w as i64 - 1) as usize;
                let j = j.clamp(0, self.h as i64 - 1) as usize;
                self.px[j * self.w + i]
            }
            fn conv(&self, k: &[[f64; 3]; 3]) -> Image {
                Image::from_fn(self.w, self.h, |i, j| {
                    let mut s = 0.0;
                    for (b, row) in k.iter().enumerate() {
                        for (a, v) in row.iter().enumerate() {
                            s += v * self.get(i as i64 + a as i64 - 1, j as i64 + b as i64 - 1);
                        }
                    }
                    s.max(0.0)
                })
            }
            fn mean(&self) -> f64 {
                self.px.iter().sum::<f64>() / self.px.len() as f64
            }
        }
        pub struct Element {
            nodes: [usize; 2],
            e: f64,
            area: f64,
        }
        fn assemble(elements: &[Element], xs: &[f64]) -> Vec<Vec<f64>> {
            let n = xs.len();
            let mut k = vec![vec![0.0; n]; n];
            for el in elements {
                let [i, j] = el.nodes;
                let s = el.e * el.area / (xs[j] - xs[i]);
                k[i][i] += s;
                k[j][j] += s;
                k[i][j] -= s;
                k[j][i] -= s;
            }
            k
        }
        fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Result<Vec<f64>, String> {
            let n = b.len();
            for c in 0..n {
                let p = (c..n).max_by(|&i, &j| a[i][c].abs().partial_cmp(&a[j][c].abs()).unwrap()).unwrap();
                if a[p][c].abs() < 1e-300 {
                    return Err(format!("column {c} is zero"));
                }
                a.swap(c, p);
                b.swap(c, p);
                for r in c + 1..n {
                    let f = a[r][c] / a[c][c];
                    for k in c..n {
                        a[r][k] -= f * a[c][k];
                    }
                    b[r] -= f * b[c];
                }
            }
            let mut x = vec![0.0; n];
            for r in (0..n).rev() {
                let s: f64 = (r + 1..n).map(|k| a[r][k] * x[k]).sum();
                x[r] = (b[r] - s) / a[r][r];
            }
            Ok(x)
        }
        #[derive(Clone, Debug)]
        pub struct Reaction {
            from: Vec<(&'static str, i32)>,
            to: Vec<(&'static str, i32)>,
            rate: f64,
        }
        fn kinetics(reactions: &[Reaction], c: &BTreeMap<&'static str, f64>) -> BTreeMap<&'static str, f64> {
            let mut d: BTreeMap<&'static str, f64> = c.keys().map(|k| (*k, 0.0)).collect();
            for r in reactions {
                let v = r.from.iter().fold(r.rate, |v, (name, n)| v * c[name].powi(*n));
                for (name, n) in &r.from {
                    *d.get_mut(name).unwrap() -= *n as f64 * v;
                }
                for (name, n) in &r.to {
                    *d.entry(name).or_insert(0.0) += *n as f64 * v;
                }
            }
            d
        }
        pub fn energy(x: &[f64]) -> f64 {
            let signal: Vec<C64> = (0..8).map(|i| C64 { re: (x[0] * i as f64).sin(), im: x[1] } * C64::I).collect();
            let power: f64 = fft(&signal).iter().take(3).map(C64::abs2).sum();
            let img = Image::from_fn(4, 3, |i, j| x[0] * i as f64 + (x[1] * j as f64).cos());
            let edges = img.conv(&[[0.0, -1.0, 0.0], [-1.0, 4.5, -1.0], [0.0, -1.0, 0.0]]).conv(&[[x[0]; 3]; 3]);
            let els: Vec<Element> =
                (0..3).map(|i| Element { nodes: [i, i + 1], e: 1.0 + x[0] * i as f64, area: 0.5 }).collect();
            let mut k = assemble(&els, &[0.0, 1.0, 1.0 + x[1], 4.0]);
            k[0][0] += 1e6;
            let u = solve(k, vec![0.0, 0.0, 1.0, x[0]]).unwrap();
            let r = vec![
                Reaction { from: vec![("A", 1), ("B", 2)], to: vec![("C", 1)], rate: x[0] },
                Reaction { from: vec![("C", 1)], to: vec![("A", 1)], rate: 0.1 },
            ];
            let mut c = BTreeMap::from([("A", 1.0), ("B", x[1]), ("C", 0.0)]);
            for _ in 0..3 {
                let d = kinetics(&r, &c);
                for (k, v) in c.iter_mut() {
                    *v += 0.1 * d[k];
                }
            }
            power + edges.mean() + u[3] * u[1] + c["C"] * c["A"] + signal[1].conj().im
        }
    }
}

#[test]
fn prices_and_likelihoods_have_gradients() {
    agrees(finance::Energy, plain::finance::energy, [1.02, 0.3]);
    agrees(finance::Energy, plain::finance::energy, [0.92, 0.8]);
}

#[test]
fn bodies_and_orbits_have_gradients() {
    agrees(mechanics::Energy, plain::mechanics::energy, [1.02, 0.3]);
    agrees(mechanics::Energy, plain::mechanics::energy, [0.5, 1.8]);
}

#[test]
fn transforms_and_meshes_have_gradients() {
    agrees(fields::Energy, plain::fields::energy, [1.02, 0.3]);
    agrees(fields::Energy, plain::fields::energy, [0.5, 1.8]);
}
