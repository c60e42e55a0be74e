//! `#[differentiable] mod`: type parameters bounded by operators on numbers, supertraits, several traits of the module as bounds.

use crate::dual::agrees;
use differentiation_interface_core::Function;
use differentiation_interface_macros::differentiable;

both! {
    // Steppers over any state: `fn rk4<S>(..) -> S where S: Copy + Add<Output = S> + Mul<f64, Output = S>`
    mod stepper {
        use std::ops::{Add, Mul, Sub};
        #[derive(Clone, Copy)]
        pub struct State {
            pub x: f64,
            pub v: f64,
        }
        impl Add for State {
            type Output = State;
            fn add(self, o: State) -> State {
                State { x: self.x + o.x, v: self.v + o.v }
            }
        }
        impl Mul<f64> for State {
            type Output = State;
            fn mul(self, k: f64) -> State {
                State { x: self.x * k, v: self.v * k }
            }
        }
        fn rk4<S>(f: impl Fn(f64, S) -> S, t: f64, y: S, h: f64) -> S
        where
            S: Copy + Add<Output = S> + Mul<f64, Output = S>,
        {
            let k1 = f(t, y);
            let k2 = f(t + 0.5 * h, y + k1 * (0.5 * h));
            let k3 = f(t + 0.5 * h, y + k2 * (0.5 * h));
            let k4 = f(t + h, y + k3 * h);
            y + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6.0)
        }
        fn euler<S: Copy + Add<Output = S> + Mul<f64, Output = S>, F: Fn(S) -> S>(f: F, y: S, h: f64, n: usize) -> S {
            let mut y = y;
            for _ in 0..n {
                y = y + f(y) * h;
            }
            y
        }
        fn lerp<V: Mul<f64, Output = V> + Add<Output = V>>(a: V, b: V, t: f64) -> V {
            a * (1.0 - t) + b * t
        }
        fn mix<V>(a: V, b: V, t: f64) -> V
        where
            V: Copy + Sub<Output = V> + Add<Output = V>,
            f64: Mul<V, Output = V>,
        {
            a + t * (b - a)
        }
        fn blend<V>(a: &V, b: &V, t: f64) -> V
        where
            for<'a> &'a V: Mul<f64, Output = V>,
            V: Add<Output = V>,
        {
            a * (1.0 - t) + b * t
        }
        // Numbers of a table that are no state: plain where nothing active reaches them.
        fn scaled<V: Mul<f64, Output = V>>(v: V, weight: f64) -> V {
            v * weight
        }
        pub fn oscillator(p: &[f64]) -> f64 {
            let mut s = State { x: p[0], v: 0.0 };
            let (k, h) = (p[1], 0.05);
            for i in 0..20 {
                s = rk4(|_t, s: State| State { x: s.v, v: -k * s.x }, i as f64 * h, s, h);
            }
            s.x + rk4(|t, y| -y * t, 0.0, p[0], 0.1)
        }
        pub fn numbers(p: &[f64]) -> f64 {
            euler(|y| -p[0] * y, 1.0, 0.1, 2)
                + euler(|y| -0.5 * y, p[1], 0.1, 2)
                + euler(|y: f64| -0.5 * y, 1.0, 0.1, 2)
                + lerp(p[0], 3.0, 0.25)
                + lerp(1.0, 2.0, p[1])
                + mix(p[0], 2.0, 0.5)
                + blend(&p[0], &p[1], 0.3)
                + scaled(p[0], 0.5)
                + scaled(2.0, 0.5)
        }
    }

    // Structs over any value: `impl<V> Table<V> where V: Add<Output = V> + Mul<f64, Output = V>`
    mod table {
        use std::ops::{Add, AddAssign, Mul, Sub};
        pub struct Table<V> {
            pub t: Vec<f64>,
            pub v: Vec<V>,
        }
        impl<V> Table<V>
        where
            V: Copy + Add<Output = V> + Sub<Output = V> + Mul<f64, Output = V>,
        {
            pub fn at(&self, t: f64) -> V {
                let i = self.t.windows(2).position(|w| t < w[1]).unwrap_or(self.t.len() - 2);
                let s = (t - self.t[i]) / (self.t[i + 1] - self.t[i]);
                self.v[i] + (self.v[i + 1] - self.v[i]) * s
            }
        }
        fn weighted_sum<V: Default + AddAssign + Copy + Mul<f64, Output = V>>(v: &[V], w: &[f64]) -> V {
            let mut s = V::default();
            for (a, b) in v.iter().zip(w) {
                s += *a * *b;
            }
            s
        }
        pub fn f(x: &[f64]) -> f64 {
            let table = Table { t: vec![0.0, 1.0, 2.0], v: vec![0.0, 1.0, 4.0] };
            let values = Table { t: vec![0.0, 1.0], v: vec![x[0], x[1]] };
            table.at(x[0]) + values.at(0.25) + weighted_sum(x, &[1.0, 2.0]) + weighted_sum(&[1.0, 2.0], x)
        }
    }

    // Traits with operators: `trait Space: Copy + Add<Output = Self> + Mul<f64, Output = Self>`, implemented by structs and `f64`
    mod space {
        use std::ops::{Add, Mul};
        pub trait Space: Copy + Add<Output = Self> + Mul<f64, Output = Self> {
            fn half(self) -> Self {
                self * 0.5
            }
        }
        impl Space for f64 {}
        #[derive(Clone, Copy)]
        pub struct State {
            pub x: f64,
            pub v: f64,
        }
        impl Add for State {
            type Output = State;
            fn add(self, o: State) -> State {
                State { x: self.x + o.x, v: self.v + o.v }
            }
        }
        impl Mul<f64> for State {
            type Output = State;
            fn mul(self, k: f64) -> State {
                State { x: self.x * k, v: self.v * k }
            }
        }
        impl Space for State {}
        fn midpoint<S: Space>(f: impl Fn(f64, S) -> S, t: f64, y: S, h: f64) -> S {
            let k1 = f(t, y);
            let k2 = f(t + 0.5 * h, y + k1.half() * h);
            y + k2 * h
        }
        pub fn f(p: &[f64]) -> f64 {
            let mut s = State { x: p[0], v: 0.0 };
            let (k, h) = (p[1], 0.05);
            for i in 0..20 {
                s = midpoint(|_t, s: State| State { x: s.v, v: -k * s.x }, i as f64 * h, s, h);
            }
            s.half().x + midpoint(|t, y| -y * t, 0.0, p[0], 0.1)
        }
    }

    // Supertraits of the module, as bounds and behind `dyn`, and several traits as bounds: `S: Body + Spring`
    mod supertraits {
        pub trait Body {
            fn mass(&self) -> f64;
            fn name(&self) -> &str {
                "body"
            }
        }
        pub trait Moving: Body {
            fn momentum(&self, v: f64) -> f64 {
                self.mass() * v
            }
        }
        pub trait Solid: Moving + Send {}
        pub trait Spring {
            fn stiffness(&self) -> f64;
        }
        pub struct Ball {
            pub m: f64,
            pub k: f64,
        }
        impl Body for Ball {
            fn mass(&self) -> f64 {
                self.m
            }
        }
        impl Moving for Ball {}
        impl Solid for Ball {}
        impl Spring for Ball {
            fn stiffness(&self) -> f64 {
                self.k
            }
        }
        fn total<S: Solid>(s: &S, v: f64) -> f64 {
            s.momentum(v) + s.mass()
        }
        fn dynamic(s: &dyn Moving, v: f64) -> f64 {
            s.momentum(v) + s.mass() + if s.name() == "body" { 0.0 } else { 1.0 }
        }
        fn omega<S: Body + Spring>(s: &S) -> f64 {
            (s.stiffness() / s.mass()).sqrt()
        }
        fn period<S>(s: &S) -> f64
        where
            S: Spring + Body,
        {
            2.0 * std::f64::consts::PI / omega(s)
        }
        fn energy(s: &(impl Spring + Body), x: f64) -> f64 {
            0.5 * s.stiffness() * x * x / s.mass()
        }
        pub fn f(x: &[f64]) -> f64 {
            let b = Ball { m: x[0], k: x[1] };
            let plain = Ball { m: 2.0, k: 3.0 };
            total(&b, x[1])
                + dynamic(&b, 2.0)
                + omega(&b) * period(&plain)
                + period(&b)
                + energy(&b, x[0])
                + energy(&plain, 1.0)
        }
    }

    // Bounds of conversions in a `where` clause, `where V: Into<f64>` and `where f64: From<V>`, and of items, `I::Item: Into<f64>`
    mod conversions {
        fn squared<V>(v: V) -> f64
        where
            V: Into<f64>,
        {
            let a: f64 = v.into();
            a * a
        }
        fn halved<V>(v: V) -> f64
        where
            V: Copy,
            f64: From<V>,
        {
            let a = f64::from(v);
            0.5 * a
        }
        fn total<I>(items: I) -> f64
        where
            I: IntoIterator,
            I::Item: Into<f64>,
        {
            items.into_iter().map(|v| v.into()).sum()
        }
        fn norm<S>(s: S) -> f64
        where
            S: AsRef<[f64]>,
        {
            s.as_ref().iter().map(|v| v * v).sum()
        }
        pub fn f(x: &[f64]) -> f64 {
            squared(x[0]) * halved(x[1]) + squared(2.0) + halved(3_i32) * x[0] + total(vec![x[0], 1.0]) * norm(x)
        }
    }

    // `const` parameters, of private and of public functions
    mod powers {
        pub fn powers<const N: usize>(x: &[f64]) -> f64 {
            (0..N).map(|i| x[0].powi(i as i32)).sum()
        }
        pub fn row<const N: usize>(x: &[f64; N]) -> f64 {
            x.iter().map(|v| v * v).sum()
        }
        fn product<const N: usize>(x: &[f64]) -> f64 {
            x.iter().take(N).product()
        }
        pub fn f(x: &[f64]) -> f64 {
            powers::<4>(x) * product::<2>(x) + row(&[x[0], x[1]])
        }
    }
    // `V::default()` of a type parameter that becomes a number, `where V: Default + Into<f64>`, and powers of numbers behind a pointer
    mod values_of_parameters {
        use std::ops::Add;
        use std::rc::Rc;
        fn sum<V>(values: &[V]) -> f64
        where
            V: Copy + Default + Add<Output = V> + Into<f64>,
        {
            let mut sum = V::default();
            for &value in values {
                sum = sum + value;
            }
            sum.into()
        }
        pub fn f(x: &[f64]) -> f64 {
            let base: Rc<f64> = Rc::new(0.25);
            sum(x) * x[0] + sum(&[1.0, 2.0]) * base.powf(x[1])
        }
    }
}

#[test]
fn operators_are_bounds_of_type_parameters() {
    agrees(stepper::Oscillator, plain::stepper::oscillator, [1.5, 2.0]);
    agrees(stepper::Numbers, plain::stepper::numbers, [1.5, 0.7]);
    agrees(table::F, plain::table::f, [0.5, 2.0]);
    agrees(table::F, plain::table::f, [1.5, -0.5]);
}

#[test]
fn traits_have_operators_and_supertraits() {
    agrees(space::F, plain::space::f, [1.5, 2.0]);
    agrees(supertraits::F, plain::supertraits::f, [0.5, 2.0]);
}

#[test]
fn conversions_are_bounds() {
    agrees(conversions::F, plain::conversions::f, [1.5, 0.7]);
}

#[test]
fn public_functions_have_const_parameters() {
    agrees(powers::F, plain::powers::f, [1.5, 0.7]);
    // A point tells the parameter, so that there is an object.
    assert_eq!(Function::<[f64; 2]>::call(&powers::Row, &[3.0, 4.0]), 25.0);
}

#[test]
fn values_of_parameters_are_of_their_type() {
    agrees(values_of_parameters::F, plain::values_of_parameters::f, [1.3, 0.7]);
}
