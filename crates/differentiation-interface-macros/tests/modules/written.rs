//! `#[differentiable] mod`: methods that write to their receiver or hand out a place in it, and plain numbers and data behind references.

use crate::dual::agrees;
use differentiation_interface_macros::differentiable;

both! {
    // Methods that write to an option: `get_or_insert`, `get_or_insert_with`, `insert`, `replace`, of numbers, tuples, arrays and structs
    mod options {
        #[derive(Clone, Copy)]
        struct Point {
            a: f64,
        }
        struct Record {
            best: Option<f64>,
        }
        impl Record {
            fn see(&mut self, v: f64) {
                let best = self.best.get_or_insert(f64::NEG_INFINITY);
                if v > *best {
                    *best = v;
                }
            }
        }
        fn best(x: &[f64]) -> f64 {
            let mut record = Record { best: None };
            for v in x {
                record.see(*v);
            }
            record.best.unwrap()
        }
        fn numbers(x: &[f64]) -> f64 {
            let mut sum: Option<f64> = None;
            *sum.get_or_insert(0.0) += x[0];
            *sum.get_or_insert_with(|| 1.0) *= x[1];
            let mut kept: Option<f64> = None;
            let _ = kept.insert(x[0]);
            let doubled = *kept.insert(2.0 * x[1]);
            let mut last = Some(1.0);
            let before = last.replace(x[0]);
            let cell = std::cell::Cell::new(1.0);
            cell.replace(x[1]);
            sum.unwrap() + kept.unwrap() * doubled + before.unwrap() * last.unwrap() * cell.get()
        }
        fn parts(x: &[f64]) -> f64 {
            let mut pair: Option<(usize, f64)> = None;
            pair.replace((1, x[0]));
            let mut counted = None;
            let mut history: Option<Vec<f64>> = None;
            for v in x {
                history.get_or_insert_with(Vec::new).push(*v);
                counted.get_or_insert((0, 0.0)).1 += v * v;
            }
            let mut point: Option<Point> = None;
            point.replace(Point { a: x[0] });
            point.get_or_insert(Point { a: 0.0 }).a *= x[1];
            let mut array: Option<[f64; 2]> = None;
            let inside = array.insert([x[0], x[1]]);
            inside[0] *= 2.0;
            let mut vector = Some(vec![1.0]);
            vector.replace(x.to_vec());
            pair.unwrap().1 * counted.unwrap().1 * history.unwrap()[1]
                + point.unwrap().a * array.unwrap()[0]
                + vector.unwrap()[0]
        }
        pub fn f(x: &[f64]) -> f64 {
            best(x) + numbers(x) * parts(x)
        }
    }

    // Places behind references in variables: `let last = v.last_mut().unwrap(); *last = x[0];`, also of `iter_mut`, `entry` and `as_mut`
    mod references {
        use std::collections::HashMap;
        pub fn f(x: &[f64]) -> f64 {
            let mut v = vec![0.0; 3];
            let last = v.last_mut().unwrap();
            *last = x[0];
            let mut w = [1.0, 2.0];
            let first = w.iter_mut().next().unwrap();
            if x[1] > *first {
                *first = x[0];
            } else {
                *first *= x[1];
            }
            let mut m: HashMap<u8, f64> = HashMap::new();
            let entry = m.entry(1).or_insert(0.0);
            *entry += x[0];
            let value = m.get_mut(&1).unwrap();
            *value *= x[1];
            let mut option = Some(2.0);
            let inside = option.as_mut().unwrap();
            *inside -= x[0];
            v[2] + w[0] + m[&1] * option.unwrap()
        }
    }

    // Other methods that write: `clone_from`, `swap_with_slice`, `splice`, `Cell::swap`, `OnceCell`, `or_insert_with_key`
    mod writers {
        use std::cell::{Cell, OnceCell, RefCell};
        use std::collections::HashMap;
        #[derive(Clone)]
        struct Path {
            points: Vec<f64>,
        }
        fn copies(x: &[f64]) -> f64 {
            let mut w = vec![1.0; 2];
            let v = x.to_vec();
            w.clone_from(&v);
            let mut a = 1.0;
            a.clone_from(&x[0]);
            let mut path = Path { points: vec![1.0] };
            path.clone_from(&Path { points: x.to_vec() });
            let mut option: Option<f64> = None;
            option.clone_from(&Some(x[1]));
            w[0] * w[1] + a * path.points[1] * option.unwrap()
        }
        fn swaps(x: &[f64]) -> f64 {
            let mut w = vec![1.0; 2];
            let mut v = x.to_vec();
            w.swap_with_slice(&mut v);
            let (a, b) = (Cell::new(1.0), Cell::new(x[0]));
            a.swap(&b);
            let (r, s) = (RefCell::new(vec![1.0]), RefCell::new(x.to_vec()));
            r.swap(&s);
            let mut u = vec![1.0, 2.0, 3.0];
            u.splice(1..2, [x[0], x[1]]);
            w[0] * w[1] + v[1] + a.get() * b.get() + r.borrow()[1] + u[1] * u[2] + u.len() as f64
        }
        fn once(x: &[f64]) -> f64 {
            let product = OnceCell::new();
            let y = product.get_or_init(|| x[1] * x[0]);
            let given: OnceCell<f64> = OnceCell::new();
            given.set(x[0]).unwrap();
            let mut m: HashMap<&str, f64> = HashMap::new();
            m.entry("two").or_insert_with_key(|k| k.len() as f64 * x[0]);
            *y * product.get().unwrap() + given.get().unwrap() * m["two"]
        }
        pub fn f(x: &[f64]) -> f64 {
            copies(x) + swaps(x) * once(x)
        }
    }

    // Plain numbers behind references beside active ones: `edges.iter().position(|e| e.total_cmp(&v).is_gt())`, `e.max(v)`
    mod referents {
        const EDGES: [f64; 3] = [0.25, 0.5, 1.0];
        fn ordered(x: &[f64]) -> f64 {
            let v = x[0];
            let i = EDGES.iter().position(|e| e.total_cmp(&v).is_gt()).unwrap_or(3);
            let j = EDGES.binary_search_by(|e| e.total_cmp(&v)).unwrap_or_else(|j| j);
            let h: f64 = 0.5;
            let below = h.total_cmp(&x[1]).is_lt() || f64::total_cmp(&0.7, &x[1]).is_gt();
            let k = x.iter().filter(|t| f64::total_cmp(t, &0.7).is_gt()).count();
            (i + 2 * j + 4 * k) as f64 * x[1] + f64::from(u8::from(below)) * x[0]
        }
        fn larger(x: &[f64]) -> f64 {
            let mut sum: f64 = EDGES.iter().map(|e| e.max(x[0])).sum();
            for (e, v) in EDGES.iter().zip(x) {
                sum += e.powf(*v) + e.hypot(*v) * e.min(*v) + e.mul_add(2.0, *v);
            }
            sum + EDGES.last().unwrap().max(x[0]) * EDGES.first().unwrap().atan2(x[1])
        }
        pub fn f(x: &[f64]) -> f64 {
            ordered(x) + larger(x)
        }
    }

    // Constants of a type with a sign, `-V::Z`, and behind references, `points.contains(&V::Z)`, as keys of maps and sets, and in ranges of keys
    mod operands {
        use std::cmp::Ordering;
        use std::collections::{BTreeMap, BTreeSet};
        use std::ops::{Add, Neg, Not};
        #[derive(Clone, Copy, PartialEq)]
        struct V(f64, f64);
        impl V {
            const Z: V = V(0.0, 1.0);
        }
        const W: V = V(2.0, 1.0);
        const PAIR: (f64, usize) = (1.0, 2);
        impl Neg for V {
            type Output = V;
            fn neg(self) -> V {
                V(-self.0, -self.1)
            }
        }
        impl Not for V {
            type Output = V;
            fn not(self) -> V {
                V(self.1, self.0)
            }
        }
        impl Add for V {
            type Output = V;
            fn add(self, o: V) -> V {
                V(self.0 + o.0, self.1 + o.1)
            }
        }
        impl From<f64> for V {
            fn from(a: f64) -> V {
                V(a, a)
            }
        }
        impl Eq for V {}
        impl PartialOrd for V {
            fn partial_cmp(&self, o: &V) -> Option<Ordering> {
                Some(self.cmp(o))
            }
        }
        impl Ord for V {
            fn cmp(&self, o: &V) -> Ordering {
                self.0.total_cmp(&o.0)
            }
        }
        fn hit(a: V, flat: bool) -> (V, V) {
            if flat { (a, -V::Z) } else { (a, a) }
        }
        fn found(x: &[f64]) -> usize {
            let points = vec![V(x[0], x[1]), V(0.0, 1.0)];
            let pairs = vec![(x[0], 2), (1.0, 2)];
            let rows = vec![x.to_vec()];
            let all = [
                points.contains(&V::Z),
                points.starts_with(&[V::Z]),
                pairs.contains(&PAIR),
                pairs.contains(&(1.0, 3)),
                rows.contains(&vec![0.0, 1.0]),
                x.starts_with(&[0.0]),
            ];
            all.iter().filter(|is_found| **is_found).count()
        }
        fn keys(x: &[f64]) -> f64 {
            let mut values: BTreeMap<V, f64> = BTreeMap::new();
            values.insert(V(x[0], 1.0), x[1]);
            values.insert(V::Z, 3.0);
            let above: f64 = values.range(V(0.1, 0.0)..).map(|(k, v)| k.0 * v).sum();
            let mut set: BTreeSet<V> = x.iter().map(|a| V(*a, 1.0)).collect();
            set.insert(V(2.0 * x[0], 0.5));
            set.insert(V::Z);
            let last: f64 = set.range(V(0.7, 0.0)..).map(|v| v.0 * v.1).sum();
            let has = set.contains(&V::Z) && set.get(&V::Z).is_some_and(|z| z.1 > 0.5) && set.remove(&V::Z);
            above + values.get(&V::Z).unwrap() * x[0] + if has { last * set.first().unwrap().0 } else { 0.0 }
        }
        pub fn f(x: &[f64]) -> f64 {
            let mut integer: f64 = 3_i32.into();
            integer += x[0];
            let v = V(x[0], x[1]);
            let mut d = -V::Z;
            if x[0] > 0.5 {
                d = v;
            }
            hit(v, x.len() > 1).1.1 * x[0]
                + (-W + v).0 * d.1
                + (!W + v).0
                + (v + 2.0.into()).1 * integer
                + found(x) as f64 * x[1]
                + keys(x)
        }
    }

    // Tables behind `&'static`, also from functions of traits and in fields, stay plain
    mod tables {
        trait Rule {
            fn nodes() -> &'static [(f64, f64)];
            fn apply<F: Fn(f64) -> f64>(f: F, b: f64) -> f64 {
                Self::nodes().iter().map(|&(t, w)| w * f(b * t)).sum()
            }
        }
        struct Simpson;
        impl Rule for Simpson {
            fn nodes() -> &'static [(f64, f64)] {
                &[(0.0, 1.0 / 6.0), (0.5, 4.0 / 6.0), (1.0, 1.0 / 6.0)]
            }
        }
        static WEIGHTS: [f64; 2] = [3.0, 4.0];
        struct Filter {
            weights: &'static [f64],
            gain: f64,
        }
        impl Filter {
            fn new(gain: f64) -> Filter {
                Filter { weights: &[1.0, 2.0], gain }
            }
            fn of(&self, x: &[f64]) -> f64 {
                self.weights.iter().zip(x).map(|(w, v)| self.gain * w * v).sum()
            }
        }
        fn row(k: usize) -> Option<&'static [f64]> {
            if k > 0 { Some(&WEIGHTS) } else { None }
        }
        fn dot(a: &[f64], b: &[f64]) -> f64 {
            a.iter().zip(b).map(|(a, b)| a * b).sum()
        }
        fn of_any<R: Rule>(f: &dyn Fn(f64) -> f64, b: f64) -> f64 {
            R::apply(f, b)
        }
        pub fn f(x: &[f64]) -> f64 {
            let data = Filter { weights: &WEIGHTS, gain: 2.0 };
            of_any::<Simpson>(&|t| t * x[0], x[1])
                + Simpson::apply(|t| t * t, x[0])
                + Simpson::nodes()[1].0 * x[1]
                + Filter::new(x[0]).of(x)
                + data.of(x)
                + data.of(&[1.0, 2.0])
                + dot(x, row(1).unwrap()) * dot(row(2).unwrap(), x)
        }
    }
}

#[test]
fn options_are_written_through_methods() {
    agrees(options::F, plain::options::f, [1.5, 0.7]);
    agrees(options::F, plain::options::f, [-1.5, 0.7]);
}

#[test]
fn variables_refer_to_places() {
    agrees(references::F, plain::references::f, [1.5, 0.7]);
    agrees(references::F, plain::references::f, [0.5, 1.7]);
}

#[test]
fn methods_write_to_their_receivers() {
    agrees(writers::F, plain::writers::f, [1.5, 0.7]);
}

#[test]
fn plain_numbers_are_lifted_behind_references() {
    agrees(referents::F, plain::referents::f, [0.4, 0.6]);
    agrees(referents::F, plain::referents::f, [2.0, 0.9]);
}

#[test]
fn constants_are_operands_and_keys() {
    agrees(operands::F, plain::operands::f, [0.6, 0.8]);
    agrees(operands::F, plain::operands::f, [0.3, 0.8]);
}

#[test]
fn static_tables_stay_plain() {
    agrees(tables::F, plain::tables::f, [0.6, 0.8]);
}
