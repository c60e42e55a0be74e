//! `#[differentiable] mod`: iterators of the module, traits for all iterators, and functions that are handed over and returned.

use crate::dual::agrees;
use differentiation_interface_macros::differentiable;

both! {
    // Traits with methods for every iterator: `trait Stats: Iterator<Item = f64> + Sized`
    mod extensions {
        trait Stats: Iterator<Item = f64> + Sized {
            fn mean(self) -> f64 {
                let (sum, count) = self.fold((0.0, 0), |(sum, count), v| (sum + v, count + 1));
                sum / count as f64
            }
        }
        impl<I: Iterator<Item = f64>> Stats for I {}
        trait Weighted: Iterator<Item = (f64, f64)> + Sized {
            fn weighted_mean(self) -> f64 {
                let (mut sum, mut weights) = (0.0, 0.0);
                for (w, v) in self {
                    sum += w * v;
                    weights += w;
                }
                sum / weights
            }
            fn spread(self, around: f64) -> f64 {
                self.map(|(w, v)| w * (v - around).powi(2)).sum::<f64>().sqrt()
            }
        }
        impl<I> Weighted for I where I: Iterator<Item = (f64, f64)> {}
        pub fn f(x: &[f64]) -> f64 {
            let mean = x.iter().map(|v| (v * v, *v)).weighted_mean();
            let spread = x.iter().zip(&[1.0, 2.0]).map(|(v, w)| (*w, *v)).spread(mean);
            mean * spread + x.iter().copied().mean() * x.iter().map(|v| v * v).mean()
        }
    }

    // Iterators of the module, with the methods of all iterators: `Powers { x, current: 1.0 }.fold(..)`
    mod generators {
        struct Powers {
            x: f64,
            current: f64,
        }
        impl Iterator for Powers {
            type Item = f64;
            fn next(&mut self) -> Option<f64> {
                if self.current.abs() < 1e-3 {
                    return None;
                }
                let current = self.current;
                self.current *= self.x;
                Some(current)
            }
        }
        pub fn f(x: &[f64]) -> f64 {
            let mut powers = Powers { x: x[0], current: 1.0 };
            let first: f64 = powers.by_ref().take(3).sum();
            let (sum, count) = Powers { x: x[1], current: 0.5 }.fold((0.0, 0), |(s, n), v| (s + v, n + 1));
            let largest = Powers { x: x[0], current: 0.5 }.fold(0.0, f64::max);
            first + powers.next().unwrap() * largest + sum / count as f64
        }
    }

    // Functions that make functions of functions: `compose(square, |y: f64| y.sin())`
    mod functions {
        fn compose<A, B, C>(f: impl Fn(A) -> B, g: impl Fn(B) -> C) -> impl Fn(A) -> C {
            move |x| g(f(x))
        }
        fn square(x: f64) -> f64 {
            x * x
        }
        fn half(x: f64) -> f64 {
            0.5 * x
        }
        pub fn f(x: &[f64]) -> f64 {
            let h = compose(square, |y: f64| y.sin());
            let plain = compose(half, square);
            let k = x[1];
            let scaled = compose(move |v: f64| v * k, f64::exp);
            h(x[0]) + h(x[1]) * x[0] * plain(3.0) + scaled(x[0])
        }
    }

    // Aliases of functions of structs, `type Field = dyn Fn(Point) -> Point`, and `Vec::<f64>::from_iter(..)`
    mod aliases {
        #[derive(Clone, Copy)]
        pub struct Point {
            x: f64,
            y: f64,
        }
        type Field = dyn Fn(Point) -> Point;
        type Map = fn(Point) -> Point;
        type Path = Vec<Point>;
        type Pair = (f64, f64);
        type Swap = dyn Fn(Pair) -> Pair;
        fn quarter(p: Point) -> Point {
            Point { x: -p.y, y: p.x }
        }
        fn step(field: &Field, p: Point, h: f64) -> Point {
            let d = field(p);
            Point { x: p.x + h * d.x, y: p.y + h * d.y }
        }
        fn twice(swap: &Swap, p: Pair) -> f64 {
            let (a, b) = swap(swap(p));
            a * a - b
        }
        fn walk(map: Map, start: Point) -> Path {
            let mut path = vec![start];
            for _ in 0..2 {
                let last = path[path.len() - 1];
                path.push(map(last));
            }
            path
        }
        pub fn f(x: &[f64]) -> f64 {
            let field: Box<Field> = Box::new(|p: Point| Point { x: p.y * p.x, y: -p.x });
            let start = step(&*field, Point { x: x[0], y: x[1] }, 0.1);
            let squares = Vec::<f64>::from_iter(x.iter().map(|v| v * v));
            let k = x[0];
            let swapped = twice(&move |(a, b)| (b * 2.0, a * k), (x[1], 0.5));
            swapped + walk(quarter, start).iter().zip(&squares).map(|(p, s)| p.x * p.y * s).sum::<f64>()
        }
    }
    // Constants joined with active numbers: `copy_from_slice(&W)`, `extend_from_slice(&W)`, `extend(W)`, `chain(&W)`
    mod joined_constants {
        const W: [f64; 2] = [1.0, 2.0];
        const TABLE: &[f64] = &[3.0, 4.0];
        #[derive(Clone, Copy)]
        pub struct Point {
            x: f64,
            y: f64,
        }
        const ORIGIN: [Point; 1] = [Point { x: 0.5, y: 0.25 }];
        fn weighted(v: &[f64]) -> f64 {
            v.iter().enumerate().map(|(i, v)| v * (1.0 + i as f64).sqrt()).sum()
        }
        pub fn f(x: &[f64]) -> f64 {
            let mut a = vec![0.0; 2];
            a.copy_from_slice(&W);
            a[1] *= x[0];
            let mut b = vec![x[0]];
            b.extend(W);
            b.extend(&W);
            b.extend(W.iter());
            b.extend(TABLE.iter().rev().map(|w| w * 2.0));
            b.extend_from_slice(TABLE);
            b.extend_from_slice(&W[1..]);
            let mut c = vec![];
            c.extend_from_slice(&W);
            c.push(x[1]);
            let mut d = vec![];
            d.extend(W);
            let mut e = [0.0; 2];
            e.clone_from_slice(TABLE);
            let all: f64 = x.iter().chain(&W).map(|v| v * v).sum();
            let more: f64 = W.iter().chain(x).zip(x.iter().copied().chain(TABLE.iter().copied())).map(|(a, b)| a * b).sum();
            let mut points = vec![Point { x: x[0], y: x[1] }];
            points.extend_from_slice(&ORIGIN);
            points.extend(ORIGIN);
            let mut filled = [0.0; 3];
            filled.fill_with(|| 1.5);
            filled[0] *= x[0];
            c.resize_with(5, || 0.5);
            weighted(&a)
                + weighted(&b)
                + weighted(&c) * weighted(&d)
                + weighted(&e)
                + all * more
                + points.iter().map(|p| p.x * p.x * p.y).sum::<f64>()
                + weighted(&filled)
        }
    }
}

#[test]
fn traits_of_all_iterators_have_methods() {
    agrees(extensions::F, plain::extensions::f, [1.5, 0.7]);
}

#[test]
fn iterators_of_the_module_are_sequences() {
    agrees(generators::F, plain::generators::f, [0.5, 0.7]);
    agrees(generators::F, plain::generators::f, [-0.5, 0.2]);
}

#[test]
fn functions_are_handed_over_and_returned() {
    agrees(functions::F, plain::functions::f, [1.5, 0.7]);
}

#[test]
fn aliases_of_functions_name_structs() {
    agrees(aliases::F, plain::aliases::f, [1.5, 0.7]);
}

#[test]
fn constants_are_joined_with_active_numbers() {
    agrees(joined_constants::F, plain::joined_constants::f, [1.3, 0.7]);
}
