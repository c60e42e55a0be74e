//! `#[differentiable] mod`: generic types of the module that are written with numbers, associated types, generic traits.

use crate::dual::agrees;
use differentiation_interface_macros::differentiable;

both! {
    // Generic types of the module that hold numbers: `Boxed<f64>`, `Arena<Link>`, `Either<f64, String>`, `Ring::<f64>::new()`, `Grid::filled(2, 0.0)`
    mod filled {
        use std::ops::{Add, Mul};
        struct Boxed<V> {
            v: V,
        }
        impl<V> Boxed<V> {
            fn put(&mut self, v: V) {
                self.v = v;
            }
        }
        impl Boxed<f64> {
            fn doubled(&self) -> f64 {
                2.0 * self.v
            }
        }
        struct Arena<A> {
            items: Vec<A>,
        }
        impl<A> Arena<A> {
            fn new() -> Self {
                Arena { items: Vec::new() }
            }
            fn alloc(&mut self, item: A) -> usize {
                self.items.push(item);
                self.items.len() - 1
            }
        }
        struct Link {
            len: f64,
        }
        struct Chain {
            arena: Arena<Link>,
            scale: Boxed<f64>,
            names: Arena<String>,
        }
        impl Chain {
            fn add(&mut self, len: f64) -> usize {
                self.arena.alloc(Link { len })
            }
        }
        struct Ring<E> {
            buf: Vec<E>,
            head: usize,
        }
        impl<E: Copy> Ring<E> {
            fn new() -> Self {
                Ring { buf: Vec::new(), head: 0 }
            }
            fn push(&mut self, v: E) {
                self.buf.push(v);
                self.head += 1;
            }
        }
        enum Either<A, B> {
            L(A),
            R(B),
        }
        fn pick(left: bool, v: f64) -> Either<f64, String> {
            if left { Either::L(v) } else { Either::R("no".into()) }
        }
        #[derive(Clone, Copy)]
        struct Pair<S>(S, S);
        impl<S: Add<Output = S>> Add for Pair<S> {
            type Output = Self;
            fn add(self, o: Self) -> Self {
                Pair(self.0 + o.0, self.1 + o.1)
            }
        }
        impl<S: Mul<f64, Output = S>> Mul<f64> for Pair<S> {
            type Output = Self;
            fn mul(self, k: f64) -> Self {
                Pair(self.0 * k, self.1 * k)
            }
        }
        struct Grid<C> {
            cells: Vec<C>,
        }
        impl<C: Clone> Grid<C> {
            fn filled(n: usize, c: C) -> Self {
                Grid { cells: vec![c; n] }
            }
            fn set(&mut self, i: usize, c: C) {
                self.cells[i] = c;
            }
            fn get(&self, i: usize) -> &C {
                &self.cells[i]
            }
        }
        fn grids(x: &[f64]) -> f64 {
            let mut g = Grid::filled(3, 0.5);
            let m = Grid::filled(2, false);
            g.set(1, x[0]);
            g.set(2, *g.get(1) * x[1]);
            if *m.get(0) { 0.0 } else { g.get(0) * g.get(2) }
        }
        pub fn f(x: &[f64]) -> f64 {
            let mut c = Chain { arena: Arena::new(), scale: Boxed { v: 1.0 }, names: Arena::new() };
            for v in x {
                c.add(*v);
                c.names.alloc(String::from("link"));
            }
            c.scale.put(x[0] * x[1]);
            let mut ring = Ring::<f64>::new();
            for v in x {
                ring.push(v * v);
            }
            let mut flags = Ring::new();
            flags.push(true);
            let picked = match pick(x[0] > 0.0, x[0]) {
                Either::L(v) => v * x[1],
                Either::R(s) => s.len() as f64,
            };
            let other = match pick(false, x[1]) {
                Either::L(v) => v,
                Either::R(s) => s.len() as f64,
            };
            let p = Pair(x[0], x[1]) * 2.0 + Pair(1.0, x[0]) * x[1];
            grids(x)
                + c.arena.items[0].len * c.scale.doubled()
                + c.names.items.len() as f64
                + ring.buf[0] * ring.buf[1]
                + flags.head as f64
                + picked
                + other
                + p.0 * p.1
        }
    }

    // Parameters with defaults (`struct Params<const N: usize = 2>`), tuples and arrays of numbers for functions over any type
    mod defaults {
        struct Params<const N: usize = 2> {
            m: [f64; N],
        }
        struct Body {
            p: Params,
            q: Params<3>,
        }
        impl Params {
            fn sum(&self) -> f64 {
                self.m[0] + self.m[1]
            }
        }
        fn iterate<S>(mut s: S, n: usize, f: impl Fn(S) -> S) -> S {
            for _ in 0..n {
                s = f(s);
            }
            s
        }
        pub fn f(x: &[f64]) -> f64 {
            let b = Body { p: Params { m: [x[0], x[1]] }, q: Params { m: [1.0, x[0], 2.0] } };
            let (u, v) = iterate((x[0], 0.0), 3, |(u, v)| (u * x[1], v + u));
            let [a, c] = iterate([1.0, 0.0], 2, |[a, c]| [a * x[0] - c, c + a * x[1]]);
            b.p.sum() * b.p.m[1] + b.q.m[1] * b.q.m[2] + u * v + a * c
        }
    }

    // Associated types chosen with numbers: `type In = f64;`, `L: Layer<In = [f64; 2]>`, layers made of layers
    mod layers {
        pub trait Layer {
            type In;
            type Out;
            fn forward(&self, x: &Self::In) -> Self::Out;
        }
        struct Scale(f64);
        impl Layer for Scale {
            type In = f64;
            type Out = f64;
            fn forward(&self, x: &f64) -> f64 {
                self.0 * x
            }
        }
        struct Join {
            k: [f64; 2],
        }
        impl Layer for Join {
            type In = [f64; 2];
            type Out = f64;
            fn forward(&self, x: &[f64; 2]) -> f64 {
                self.k[0] * x[0] + self.k[1] * x[1]
            }
        }
        struct Two<A, B>(A, B);
        impl<A: Layer, B: Layer<In = A::Out>> Layer for Two<A, B> {
            type In = A::In;
            type Out = B::Out;
            fn forward(&self, x: &A::In) -> B::Out {
                self.1.forward(&self.0.forward(x))
            }
        }
        fn run<L: Layer<In = f64, Out = f64>>(l: &L) -> f64 {
            l.forward(&2.0)
        }
        fn join<L: Layer<In = [f64; 2], Out = f64>>(l: &L) -> f64 {
            l.forward(&[1.0, 2.0])
        }
        pub fn f(x: &[f64]) -> f64 {
            let stack = Two(Join { k: [x[0], x[1]] }, Scale(x[1]));
            run(&Scale(x[0])) * x[1] + join(&Join { k: [x[0], 3.0] }) + stack.forward(&[x[0], 1.0])
        }
    }

    // Traits with a type parameter and numbers: `trait Cost<S> { fn eval(&self, s: &S) -> f64; }`, and traits of `f64` for slices
    mod costs {
        trait Cost<S> {
            fn eval(&self, s: &S) -> f64;
        }
        struct Goal(f64);
        impl Cost<[f64; 2]> for Goal {
            fn eval(&self, s: &[f64; 2]) -> f64 {
                (s[0] - self.0).powi(2) + s[1]
            }
        }
        trait Space: Copy {
            fn norm(&self) -> f64;
        }
        impl Space for f64 {
            fn norm(&self) -> f64 {
                self.abs()
            }
        }
        fn total<S: Space>(v: &[S]) -> f64 {
            v.iter().map(|b| b.norm()).sum()
        }
        pub fn f(x: &[f64]) -> f64 {
            Goal(x[1]).eval(&[x[0], 1.0]) + total(x) * x[0]
        }
    }

    // Traits with a type parameter for aliases of numbers: `impl Cost<State<3>> for Obstacle`, `Vec<Box<dyn Cost<State<3>>>>`
    mod stages {
        pub type State<const N: usize> = [f64; N];
        pub trait Cost<S: ?Sized> {
            fn eval(&self, s: &S) -> f64;
        }
        pub struct Goal<const N: usize>(State<N>, f64);
        impl<const N: usize> Cost<State<N>> for Goal<N> {
            fn eval(&self, s: &State<N>) -> f64 {
                self.1 * s.iter().zip(&self.0).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
            }
        }
        pub struct Obstacle {
            at: (f64, f64),
            r: f64,
        }
        impl Cost<State<3>> for Obstacle {
            fn eval(&self, &[x, y, ..]: &State<3>) -> f64 {
                let d = f64::hypot(x - self.at.0, y - self.at.1) - self.r;
                if d > 1.0 { 0.0 } else { (1.0 - d).powi(2) }
            }
        }
        impl<S: ?Sized, C: Cost<S> + ?Sized> Cost<S> for &C {
            fn eval(&self, s: &S) -> f64 {
                (*self).eval(s)
            }
        }
        impl<S> Cost<S> for Vec<Box<dyn Cost<S>>> {
            fn eval(&self, s: &S) -> f64 {
                self.iter().map(|c| c.eval(s)).sum()
            }
        }
        fn weighed<C: Cost<State<3>>>(cost: C, s: &State<3>) -> f64 {
            0.5 * cost.eval(s)
        }
        fn midpoint<const N: usize, V: Into<State<N>>>(a: V, b: V) -> State<N> {
            let (a, b): (State<N>, State<N>) = (a.into(), b.into());
            std::array::from_fn(|i| 0.5 * (a[i] + b[i]))
        }
        pub fn f(x: &[f64]) -> f64 {
            let obstacle = Box::new(Obstacle { at: (0.5, 0.1), r: 0.2 });
            let costs: Vec<Box<dyn Cost<State<3>>>> = vec![Box::new(Goal([1.0, 0.5, 0.0], 2.0)), obstacle];
            let middle = midpoint([x[0], x[1], 0.0], [0.1, 0.2, x[0]]);
            let goal = Goal([1.0, x[0], 0.0], 1.0);
            costs.eval(&middle) + 10.0 * weighed(&goal, &middle) + goal.eval(&middle)
        }
    }
}

#[test]
fn generic_types_take_active_numbers() {
    agrees(filled::F, plain::filled::f, [1.5, 0.7]);
    agrees(filled::F, plain::filled::f, [-0.5, 0.7]);
    agrees(defaults::F, plain::defaults::f, [1.5, 0.7]);
    agrees(layers::F, plain::layers::f, [1.5, 0.7]);
    agrees(stages::F, plain::stages::f, [1.5, 0.7]);
}

#[test]
fn traits_take_aliases() {
    agrees(stages::F, plain::stages::f, [0.4, 0.7]);
    agrees(stages::F, plain::stages::f, [4.0, -7.0]);
}
