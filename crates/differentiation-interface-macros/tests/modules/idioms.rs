//! `#[differentiable] mod`: idioms of plain code, each of which a reader of the book tried.

use crate::dual::{agrees, check};
use differentiation_interface_macros::differentiable;

both! {
    // `Sum` and `Product` with `Item = Self`
    mod sums {
        use std::iter::{Product, Sum};
        #[derive(Clone, Copy)]
        struct V {
            x: f64,
            y: f64,
        }
        impl V {
            const ZERO: V = V { x: 0.0, y: 0.0 };
            fn new(x: f64, y: f64) -> Self {
                Self { x, y }
            }
        }
        impl std::ops::Add for V {
            type Output = Self;
            fn add(self, o: Self) -> Self {
                Self { x: self.x + o.x, y: self.y + o.y }
            }
        }
        impl Sum for V {
            fn sum<I: Iterator<Item = Self>>(it: I) -> Self {
                it.fold(Self::ZERO, |a, b| a + b)
            }
        }
        impl Product for V {
            fn product<I: Iterator<Item = Self>>(it: I) -> Self {
                let mut p = Self::new(1.0, 1.0);
                for v in it {
                    p = Self { x: p.x * v.x, y: p.y * v.y };
                }
                p
            }
        }
        pub fn f(x: &[f64]) -> f64 {
            let s: V = x.iter().map(|&v| V { x: v, y: v * v }).sum();
            let p: V = x.iter().map(|&v| V { x: v + 1.0, y: v }).product();
            s.x * s.y + p.x * p.y
        }
    }

    // Guards of cells and locks in variables, places behind guards and `Deref`: `q.value -= 0.1 * q.grad`
    mod guards {
        use std::cell::RefCell;
        use std::ops::{Deref, DerefMut};
        use std::sync::{Mutex, RwLock};
        struct Param {
            value: f64,
            grad: f64,
        }
        struct Held(Param);
        impl Deref for Held {
            type Target = Param;
            fn deref(&self) -> &Param {
                &self.0
            }
        }
        impl DerefMut for Held {
            fn deref_mut(&mut self) -> &mut Param {
                &mut self.0
            }
        }
        struct Sensor {
            gain: f64,
        }
        impl Sensor {
            fn read(&self) -> f64 {
                self.gain * 2.0
            }
            fn lock(&self) -> Option<f64> {
                Some(self.gain)
            }
        }
        struct Acc {
            sum: Mutex<f64>,
        }
        impl Acc {
            fn add(&self, v: f64) {
                *self.sum.lock().unwrap() += v;
            }
        }
        fn larger<'a>(a: &'a mut f64, b: &'a mut f64) -> &'a mut f64 {
            if *a > *b { a } else { b }
        }
        pub fn f(x: &[f64]) -> f64 {
            let p = RefCell::new(Param { value: x[0], grad: x[1] });
            {
                let mut q = p.borrow_mut();
                q.value -= 0.1 * q.grad;
            }
            let c: RefCell<f64> = RefCell::new(0.0);
            {
                let mut g = c.borrow_mut();
                *g += x[0];
                *g *= x[1];
            }
            let a = Acc { sum: Mutex::new(0.0) };
            for v in x {
                a.add(v * v);
            }
            let shared = RwLock::new(vec![0.0]);
            shared.write().unwrap().push(x[1]);
            let mut h = Held(Param { value: x[0], grad: x[1] });
            h.value += h.grad * h.value;
            let (mut low, mut high) = (0.1, x[0]);
            *larger(&mut low, &mut high) *= x[1];
            let r = *a.sum.lock().unwrap();
            let total: f64 = shared.read().unwrap().iter().sum();
            let (value, cell) = (p.borrow().value, *c.borrow());
            let sensor = Sensor { gain: x[0] };
            let read = sensor.read() * x[1] + sensor.lock().unwrap_or(0.0);
            value * x[1] + cell + r * x[0] + total + h.value + low * high + read
        }
    }

    // Numbers written down: `Some(0.0)` and `(1.0, i)` in comparisons, `contains`, `or_else`, `successors`, ranges as arguments, `Option::replace`
    mod written {
        use std::collections::VecDeque;
        use std::ops::Range;
        #[derive(Clone)]
        struct Poly {
            c: Vec<f64>,
            drag: Option<f64>,
        }
        impl Poly {
            fn trim(&mut self) {
                while self.c.last() == Some(&0.0) {
                    self.c.pop();
                }
            }
            fn drag(mut self, d: f64) -> Self {
                self.drag.replace(d);
                self
            }
            fn at(&self, t: f64) -> f64 {
                self.c.iter().rev().fold(0.0, |s, c| s * t + c)
            }
        }
        fn lerp(r: Range<f64>, t: f64) -> f64 {
            r.start + (r.end - r.start) * t
        }
        struct Item {
            cost: f64,
            node: usize,
        }
        fn positive(v: f64) -> Option<f64> {
            if v > 0.0 { Some(v) } else { None }
        }
        pub fn f(x: &[f64]) -> f64 {
            let mut p = Poly { c: vec![x[0], x[1], 0.0, 0.0], drag: None }.drag(0.1);
            p.trim();
            let mut k = p.at(x[1]) * p.c.len() as f64 + p.drag.unwrap_or(2.0) * x[0];
            if x.contains(&7.0) || x.first() == Some(&7.5) || (x[0], 1) == (9.0, 1) {
                k *= x[1];
            }
            let v = positive(x[0] - 100.0).or_else(|| Some(2.0)).unwrap_or(0.0)
                + positive(x[0]).or_else(|| Some(3.0)).unwrap_or(1.0);
            let s: f64 = std::iter::successors(Some(0.5), |&v| Some(v * x[0])).take(4).sum();
            let mut q: VecDeque<Item> = vec![Item { cost: 0.0, node: 0 }].into();
            while let Some(Item { cost, node }) = q.pop_front() {
                if node == x.len() {
                    k += cost;
                    break;
                }
                q.push_back(Item { cost: cost + x[node], node: node + 1 });
            }
            let [a, b] = <[f64; 2]>::try_from(x).unwrap();
            let list = Vec::<f64>::from([a, 1.0]);
            k + v + s + lerp(0.0..1.0, x[0]) + lerp(x[0]..x[1], 0.5) + a * b + list[0] * list[1]
        }
    }

    // Integer constants of const-generic types (`Self::HALF`), constants of traits with numbers, structs compared with numbers
    mod constants {
        use std::cmp::Ordering;
        struct Stencil<const K: usize>([[f64; K]; K]);
        impl<const K: usize> Stencil<K> {
            const HALF: usize = K / 2;
            fn centre(&self) -> f64 {
                self.0[Self::HALF][Self::HALF]
            }
        }
        trait Joint {
            const DOF: usize;
            fn apply(&self, q: f64) -> f64;
            fn scaled(&self, q: f64) -> f64 {
                self.apply(q) * Self::DOF as f64
            }
        }
        struct Fixed;
        impl Joint for Fixed {
            const DOF: usize = 2;
            fn apply(&self, q: f64) -> f64 {
                q * q * Self::DOF as f64
            }
        }
        struct Spring {
            k: f64,
        }
        impl Joint for Spring {
            const DOF: usize = 3;
            fn apply(&self, q: f64) -> f64 {
                self.k * q * Self::DOF as f64
            }
        }
        fn weight<J: Joint>(j: &J, q: f64) -> f64 {
            j.apply(q) / J::DOF as f64
        }
        struct Length(f64);
        impl PartialEq<f64> for Length {
            fn eq(&self, o: &f64) -> bool {
                self.0 == *o
            }
        }
        impl PartialOrd<f64> for Length {
            fn partial_cmp(&self, o: &f64) -> Option<Ordering> {
                self.0.partial_cmp(o)
            }
        }
        pub fn f(x: &[f64]) -> f64 {
            let length = Length(x[0]);
            let k = if length > 0.1 && length != 4.0 { x[1] } else { 2.0 };
            Stencil([[x[0], x[1]], [1.0, x[0] * x[1]]]).centre()
                + Stencil::<3>::HALF as f64
                + Fixed.apply(x[0]) * x[1]
                + (Fixed::DOF + Spring::DOF) as f64
                + weight(&Spring { k: x[1] }, x[0])
                + weight(&Fixed, x[1])
                + Fixed.scaled(x[0])
                + k
        }
    }
    // Aliases of `&'static` tables, `type Table = &'static [f64];`, which stay plain, and of what holds them beside numbers
    mod aliases_of_tables {
        type Table = &'static [f64];
        type Row = (&'static [f64], usize);
        type Pair = (Table, f64);
        type Tables = Vec<Table>;
        static KNOTS: [f64; 2] = [3.0, 4.0];
        pub struct Model {
            table: Table,
            k: f64,
        }
        fn table() -> Table {
            &KNOTS
        }
        fn row() -> Row {
            (&[1.0, 2.0], 1)
        }
        fn pair(k: f64) -> Pair {
            (&KNOTS, k)
        }
        fn tables() -> Tables {
            vec![&KNOTS, table()]
        }
        pub fn f(x: &[f64]) -> f64 {
            let (pair, model) = (pair(x[0]), Model { table: &KNOTS, k: x[1] });
            table()[1] * x[0]
                + row().0[row().1] * x[1]
                + pair.0[0] * pair.1 * x[1]
                + tables()[1][0] * x[0]
                + model.table[1] * model.k
        }
    }
    // Types whose only numbers are tables behind `&'static`, as fields of types with numbers
    mod types_of_tables {
        type Row = &'static [f64];
        #[derive(Clone)]
        pub struct Table {
            knots: &'static [f64],
            rows: Vec<Row>,
        }
        impl Table {
            fn new(knots: Row) -> Table {
                Table { knots, rows: vec![knots] }
            }
            fn at(&self, v: f64) -> f64 {
                self.knots[1] * v + self.rows[0][0]
            }
        }
        #[derive(Clone, Copy)]
        pub enum Rule {
            Table(&'static [f64]),
            Flat,
        }
        impl Rule {
            fn weight(&self, i: usize) -> f64 {
                match self {
                    Rule::Table(table) => table[i],
                    Rule::Flat => 1.0,
                }
            }
        }
        #[derive(Clone)]
        pub struct Model {
            table: Table,
            rule: Rule,
            k: f64,
        }
        impl Model {
            fn at(&self, v: f64) -> f64 {
                self.table.at(v) * self.k * self.rule.weight(0)
            }
        }
        pub fn f(x: &[f64]) -> f64 {
            let model = Model { table: Table::new(&[3.0, 2.0]), rule: Rule::Table(&[5.0]), k: x[1] };
            model.at(x[0]) + Table::new(&[1.0, 4.0]).at(2.0) * x[0] + Rule::Flat.weight(1) * x[1]
        }
    }
}

#[test]
fn sums_name_self() {
    agrees(sums::F, plain::sums::f, [1.5, 0.7]);
}

#[test]
fn guards_are_no_numbers() {
    agrees(guards::F, plain::guards::f, [1.5, 0.7]);
    agrees(guards::F, plain::guards::f, [0.05, 0.7]);
}

#[test]
fn numbers_that_are_written_down_are_lifted() {
    agrees(written::F, plain::written::f, [1.5, 0.7]);
    agrees(written::F, plain::written::f, [6.0, -0.7]);
}

#[test]
fn constants_belong_to_their_types() {
    agrees(constants::F, plain::constants::f, [1.5, 0.7]);
    agrees(constants::F, plain::constants::f, [0.05, 0.7]);
}

#[test]
fn aliases_of_tables_stay_plain() {
    agrees(aliases_of_tables::F, plain::aliases_of_tables::f, [1.3, 0.7]);
}

#[test]
fn types_of_tables_have_no_numbers() {
    agrees(types_of_tables::F, plain::types_of_tables::f, [1.3, 0.7]);
    // (2 x₀ + 3) x₁ · 5 + 9 x₀ + x₁
    check(types_of_tables::F, [1.3, 0.7], 5.6 * 3.5 + 11.7 + 0.7, [10.0 * 0.7 + 9.0, 29.0]);
}
