//! `#[differentiable] mod`: constant data beside active numbers, and places that functions write to.

use crate::dual::{Dual, agrees, close, seeded};
use differentiation_interface_core::Num;
use differentiation_interface_macros::{Container, differentiable};

both! {
    // Places in tuples, arrays and options that functions write to: `(&mut total, x)`.
    mod places {
        fn raise(p: (&mut f64, f64)) -> f64 {
            *p.0 += 1.0;
            p.1 * *p.0
        }

        fn double(places: [&mut f64; 2], k: f64) -> f64 {
            for place in places {
                *place *= 2.0;
            }
            k
        }

        fn square(x: f64, slope: Option<&mut [f64]>) -> f64 {
            if let Some(slope) = slope {
                slope[0] += 2.0 * x;
            }
            x * x
        }

        fn drain(buffer: &mut Vec<f64>, k: f64) -> f64 {
            let sum = k * buffer.iter().sum::<f64>();
            buffer.clear();
            buffer.push(7.0);
            sum
        }

        pub fn energy(x: &[f64]) -> f64 {
            let (mut one, mut two, mut three) = (1.0, 2.0, x[1]);
            let mut slopes = [0.5; 1];
            let mut unused = [0.5; 1];
            let mut data = vec![1.0, 2.0];
            let a = raise((&mut one, x[0])) + raise((&mut three, 2.0));
            let b = double([&mut two, &mut three], x[1]);
            let c = square(x[0], Some(&mut slopes)) + square(1.0, Some(&mut unused)) + square(x[1], None);
            let d = drain(&mut data, x[0]);
            a * one + b * two + c * three + slopes[0] + unused[0] + d * data[0] + data.len() as f64
        }
    }

    // Constants of structs and enums beside active ones: operands, receivers, copies that are changed.
    mod constants {
        use std::ops::{Add, Mul};

        #[derive(Clone, Copy, Debug)]
        pub struct Vector {
            x: f64,
            y: f64,
        }

        impl Mul<f64> for Vector {
            type Output = Vector;
            fn mul(self, by: f64) -> Vector {
                Vector { x: self.x * by, y: self.y * by }
            }
        }

        impl Mul<Vector> for f64 {
            type Output = Vector;
            fn mul(self, v: Vector) -> Vector {
                v * self
            }
        }

        impl Add for Vector {
            type Output = Vector;
            fn add(self, other: Vector) -> Vector {
                Vector { x: self.x + other.x, y: self.y + other.y }
            }
        }

        impl Vector {
            fn dot(self, other: Vector) -> f64 {
                self.x * other.x + self.y * other.y
            }
        }

        #[derive(Clone, Debug)]
        pub enum Shape {
            Point,
            Disc(f64),
            Box { sides: [f64; 2], corner: Vector, label: String },
        }

        impl Shape {
            fn area(&self, scale: f64) -> f64 {
                match self {
                    Shape::Point => 0.0,
                    Shape::Disc(r) => 3.0 * r * r * scale,
                    Shape::Box { sides, corner, label } => {
                        (sides[0] * sides[1] + corner.dot(*corner)) * scale * label.len() as f64
                    }
                }
            }
        }

        pub struct Scene {
            shapes: Vec<Shape>,
            weights: Vec<(usize, f64)>,
        }

        impl Scene {
            fn total(&self, scale: f64) -> f64 {
                self.weights.iter().map(|(i, weight)| weight * self.shapes[*i].area(scale)).sum()
            }
        }

        pub struct Reading {
            at: Vector,
            weight: Option<f64>,
            missing: Option<[f64; 2]>,
            channel: (usize, f64),
            kind: Shape,
        }

        impl Reading {
            fn misfit(&self, scale: f64) -> f64 {
                let weight = self.weight.unwrap_or(scale) * self.channel.0 as f64;
                weight * (self.at.x - scale * self.channel.1)
                    + self.kind.area(scale)
                    + self.missing.map_or(scale, |m| m[0])
            }
        }

        const READINGS: [Reading; 2] = [
            Reading { at: SITES[1], weight: Some(2.0), missing: None, channel: (3, 0.5), kind: Shape::Disc(1.5) },
            Reading {
                at: GRAVITY,
                weight: None,
                missing: Some([0.25, 1.0]),
                channel: (1, 1.5),
                kind: Shape::Box { sides: [1.0, 2.0], corner: GRAVITY, label: String::new() },
            },
        ];
        const GRAVITY: Vector = Vector { x: 1.0, y: 2.0 };
        const SITES: [Vector; 2] = [GRAVITY, Vector { x: 3.0, y: 4.0 }];
        const TABLE: [f64; 3] = [1.0, 2.0, 3.0];

        fn raise(table: &mut [f64; 3], by: f64) -> f64 {
            table[1] += by;
            table[0] * table[1]
        }

        fn kick(v: &mut Vector, by: f64) {
            v.x += by;
        }

        pub fn energy(x: &[f64]) -> f64 {
            let v = Vector { x: x[0], y: x[1] };
            let a = GRAVITY * x[0] + v + GRAVITY + x[1] * GRAVITY + SITES[1] * x[1];
            let mut table = TABLE;
            let raised = raise(&mut table, x[0]) + raise(&mut table, x[1]);
            let mut moved = GRAVITY;
            kick(&mut moved, x[1]);
            let mut last = SITES[1].clone();
            kick(&mut last, x[0]);
            let far = SITES.map(|site| x[0] * site);
            let sum = SITES.iter().map(|site| x[1] * *site).fold(GRAVITY, |a, b| a + b);
            let mut taken = 0.0;
            for Reading { at, kind, channel: (_, by), .. } in &READINGS {
                taken += v.dot(*at) * by + kind.area(x[1]);
            }
            let active = Shape::Disc(x[0]);
            let own = Reading { at: v, weight: Some(x[1]), missing: None, channel: (2, x[0]), kind: Shape::Point };
            let misfit: f64 = READINGS.iter().map(|reading| reading.misfit(x[0])).sum();
            let data = Scene { shapes: vec![Shape::Point, Shape::Disc(2.0)], weights: vec![(1, 2.0)] };
            a.x * a.y
                + GRAVITY.dot(a)
                + a.dot(GRAVITY)
                + raised
                + table[1]
                + moved.dot(last)
                + far[0].dot(far[1])
                + sum.x * sum.y
                + taken
                + own.misfit(x[1]) * misfit
                + active.area(1.0)
                + data.total(x[1])
        }
    }

    // Data handed to functions that take active numbers elsewhere: tables, measurements, rows of a matrix.
    mod data {
        const TABLE: [f64; 3] = [1.0, 2.0, 3.0];
        const SAMPLES: [([f64; 2], f64); 2] = [([0.5, 1.0], 1.0), ([2.0, -1.0], 0.0)];
        static ROWS: [[f64; 2]; 2] = [[1.0, 2.0], [3.0, 4.0]];

        pub fn polynomial(c: &[f64; 3], x: f64) -> f64 {
            c[0] + x * (c[1] + x * c[2])
        }

        pub fn horner(c: &[f64], x: f64) -> f64 {
            c.iter().rev().fold(0.0, |sum, &c| sum * x + c)
        }

        fn by_value(c: [f64; 3], x: f64) -> f64 {
            c[0] * x + c[2]
        }

        fn apply<const N: usize>(rows: &[[f64; N]; N], x: [f64; N]) -> [f64; N] {
            std::array::from_fn(|i| rows[i].iter().zip(&x).map(|(a, b)| a * b).sum())
        }

        pub struct Layer {
            weights: Vec<f64>,
        }

        impl Layer {
            fn forward(&self, x: &[f64]) -> Vec<f64> {
                x.iter().zip(&self.weights).map(|(x, w)| (x * w).tanh()).collect()
            }
        }

        pub fn energy(x: &[f64]) -> f64 {
            let layers = [Layer { weights: x.to_vec() }, Layer { weights: vec![x[1], 1.0] }];
            let mut sum = 0.0;
            for (input, wanted) in &SAMPLES {
                let hidden = layers[0].forward(input);
                let output = layers[1].forward(&hidden);
                sum += (output[0] - wanted).powi(2) + output[1];
            }
            let active = polynomial(&[x[0], x[1], 1.0], x[0]);
            let [a, b] = apply(&ROWS, [x[0], x[1]]);
            sum + active
                + polynomial(&TABLE, x[0]) * horner(&TABLE, x[1])
                + horner(&TABLE[1..], x[0])
                + by_value(TABLE, x[1])
                + a * b
        }
    }

    // Writes to cells, maps, copies of constants, and through traits and closures, beside the same with plain numbers
    mod writes {
        use std::cell::{Cell, RefCell};
        use std::collections::{BTreeMap, HashMap};
        use std::rc::Rc;
        const ARR: [f64; 3] = [1.0, 2.0, 3.0];
        static TABLE: [(f64, f64); 2] = [(0.0, 1.0), (1.0, 3.0)];
        trait Axpy {
            fn axpy(&mut self, a: f64, x: &[f64]);
            fn scaled(self, k: f64) -> Self
            where
                Self: Sized;
        }
        impl Axpy for [f64; 3] {
            fn axpy(&mut self, a: f64, x: &[f64]) {
                for (s, v) in self.iter_mut().zip(x) {
                    *s += a * v;
                }
            }
            fn scaled(mut self, k: f64) -> Self {
                self.iter_mut().for_each(|v| *v *= k);
                self
            }
        }
        trait Bump {
            fn bump(&mut self);
            fn read(&self) -> f64;
        }
        impl Bump for f64 {
            fn bump(&mut self) {
                *self += 1.0;
            }
            fn read(&self) -> f64 {
                *self * 2.0
            }
        }
        impl Bump for Vec<f64> {
            fn bump(&mut self) {
                for v in self.iter_mut() {
                    *v += 1.0;
                }
            }
            fn read(&self) -> f64 {
                self.iter().sum()
            }
        }
        impl Bump for Option<f64> {
            fn bump(&mut self) {
                if let Some(v) = self {
                    *v += 1.0;
                }
            }
            fn read(&self) -> f64 {
                self.unwrap_or(0.0)
            }
        }
        fn cell(c: &Cell<f64>, x: f64) -> f64 {
            c.set(c.get() + x);
            x
        }
        fn log(v: &RefCell<Vec<f64>>, x: f64) -> f64 {
            v.borrow_mut().push(x);
            x
        }
        #[derive(Clone, Copy, Default)]
        pub struct V {
            x: f64,
            y: f64,
        }
        impl V {
            const ONE: V = V { x: 1.0, y: 1.0 };
            fn grow(&mut self, k: f64) -> &mut Self {
                self.x *= k;
                self
            }
            fn sum(self) -> f64 {
                self.x + self.y
            }
        }
        impl std::ops::AddAssign for V {
            fn add_assign(&mut self, o: V) {
                self.x += o.x;
                self.y += o.y;
            }
        }
        fn fill(v: &mut V, k: f64) {
            v.y = k;
        }
        fn put(m: &mut HashMap<String, f64>, k: &str, v: f64) -> f64 {
            *m.entry(k.to_string()).or_insert(0.0) += v;
            v
        }
        fn take_all(m: &mut BTreeMap<u8, Vec<f64>>, x: f64) -> f64 {
            m.entry(1).or_default().push(x);
            m.values().flatten().sum()
        }
        pub struct Acc<F: FnMut(f64)> {
            f: F,
            n: usize,
        }
        impl<F: FnMut(f64)> Acc<F> {
            fn call(&mut self, x: f64) {
                (self.f)(x);
                self.n += 1;
            }
        }
        pub fn energy(x: &[f64]) -> f64 {
            let mut a = ARR;
            a.axpy(x[0], &ARR);
            let b = ARR.scaled(x[1]);
            let mut p = 1.0;
            p.bump();
            let mut q = x[0];
            q.bump();
            let mut w = vec![1.0, 2.0];
            w.bump();
            let mut wa = vec![x[0], 2.0];
            wa.bump();
            let mut o = Some(1.0);
            o.bump();
            let mut oa = Some(x[1]);
            oa.bump();
            let c = Cell::new(1.0);
            let d = Cell::new(5.0);
            let r = cell(&c, x[0]) + cell(&d, 2.0) + cell(&c, 1.0);
            let shared = Rc::new(Cell::new(2.0));
            let other = Rc::clone(&shared);
            other.set(shared.get() * x[1]);
            let lg = RefCell::new(vec![]);
            let s = log(&lg, 1.0) + log(&lg, x[0]);
            let mut v = V::ONE;
            v.grow(x[0]).grow(2.0);
            let mut z = V::ONE;
            z += v;
            z.grow(3.0);
            let mut def = V::default();
            fill(&mut def, x[1]);
            let mut plain = V::default();
            fill(&mut plain, 4.0);
            let mut m = HashMap::new();
            let t = put(&mut m, "a", x[0]) + put(&mut m, "a", 1.0) + put(&mut m, "b", 2.0);
            let mut bm = BTreeMap::new();
            let u = take_all(&mut bm, 1.0) * take_all(&mut bm, x[1]);
            let mut total = 0.0;
            let mut acc = Acc { f: |t: f64| total += t * x[0], n: 0 };
            acc.call(1.0);
            acc.call(x[1]);
            let n = acc.n;
            let mut tab = TABLE;
            tab[0].1 += x[0];
            let unchanged = TABLE[0].1 + ARR[0] + V::ONE.sum();
            a[1] * b[2]
                + p.read() * q.read()
                + w.read() * wa.read()
                + o.read() * oa.read()
                + r * c.get()
                + d.get() * x[0]
                + shared.get()
                + s
                + lg.borrow().iter().sum::<f64>() * x[1]
                + z.sum() * v.sum()
                + def.sum() * plain.sum()
                + t * m["a"] * m["b"]
                + u
                + total * n as f64
                + tab[0].1 * tab[1].1
                + unchanged
        }
    }
}

#[test]
fn data_is_lifted_where_a_function_takes_active_numbers_elsewhere() {
    agrees(data::Energy, plain::data::energy, [1.5, 1.2]);
    agrees(data::Energy, plain::data::energy, [-0.5, 0.7]);
    // What is plain as a whole is computed with plain numbers.
    close(data::polynomial(&[1.0, 2.0, 3.0], 2.0), 17.0);
}

#[test]
fn writes_to_places_are_kept() {
    agrees(places::Energy, plain::places::energy, [1.5, 1.2]);
    agrees(places::Energy, plain::places::energy, [-0.5, 0.7]);
}

#[test]
fn constants_of_structs_meet_active_ones() {
    agrees(constants::Energy, plain::constants::energy, [1.5, 1.2]);
    agrees(constants::Energy, plain::constants::energy, [-0.5, 0.7]);
}

/// Data of structs, beside active numbers in the same functions.
#[differentiable(crate = "differentiation_interface_core")]
mod arm {
    use super::Container;

    #[derive(Clone, Debug)]
    pub struct Joint {
        length: f64,
        offsets: Vec<f64>,
        #[constant]
        weight: f64,
        name: &'static str,
    }

    #[derive(Clone, Debug, Container)]
    #[container(crate = "differentiation_interface_core")]
    pub struct Base {
        height: f64,
        #[constant]
        floor: usize,
    }

    fn reach(joint: &Joint, angle: f64) -> f64 {
        joint.weight * joint.length * angle.cos() + joint.offsets.iter().sum::<f64>() * joint.name.len() as f64
    }

    fn push(joint: &mut Joint, by: f64) {
        joint.length += by;
    }

    fn level(base: &Base, by: f64) -> f64 {
        base.height * by + base.floor as f64
    }

    pub fn tip(x: &[f64], #[constant] joints: &[Joint], #[constant] base: &Base) -> f64 {
        let active = Joint { length: x[1], offsets: vec![x[0]], weight: 1.0, name: "a" };
        let mut longer = joints[0].clone();
        push(&mut longer, x[1]);
        let sum: f64 = x.iter().zip(joints).map(|(&angle, joint)| reach(joint, angle)).sum();
        sum + reach(&active, 0.5)
            + longer.length * longer.length
            + level(base, x[0])
            + level(&Base { height: x[0], floor: 1 }, 2.0)
    }

    pub fn joint(length: f64) -> Joint {
        Joint { length, offsets: vec![0.25, 0.5], weight: 2.0, name: "ab" }
    }

    pub fn base(height: f64) -> Base {
        Base { height, floor: 3 }
    }
}

#[test]
fn structs_of_constants_are_lifted() {
    let joints: [arm::Joint; 2] = [arm::joint(2.0), arm::joint(3.0)];
    let base: arm::Base = arm::base(5.0);
    let (x, y) = (0.3_f64, 0.7_f64);
    let found: Num<Dual> = arm::tip(&seeded([x, y], 0), &joints, &base);
    let sum = 4.0 * x.cos() + 6.0 * y.cos() + 3.0;
    close(found.0.value, sum + y * 0.5_f64.cos() + x + (2.0 + y).powi(2) + 5.0 * x + 3.0 + 2.0 * x + 1.0);
    close(found.0.tangent, -4.0 * x.sin() + 1.0 + 5.0 + 2.0);
    let found: Num<Dual> = arm::tip(&seeded([x, y], 1), &joints, &base);
    close(found.0.tangent, -6.0 * y.sin() + 0.5_f64.cos() + 2.0 * (2.0 + y));
    // The data is as it was.
    assert_eq!(format!("{joints:?}"), format!("{:?}", [arm::joint(2.0), arm::joint(3.0)]));
}

#[differentiable(crate = "differentiation_interface_core")]
fn filled(x: &[f64], #[constant] data: &[f64]) -> f64 {
    const START: [f64; 2] = [1.0, 2.0];
    let mut a = data.to_vec();
    a[0] = x[0];
    let mut b = START;
    b[0] = x[0];
    a[0] + b[0]
}

#[test]
fn copies_of_data_take_active_numbers() {
    assert_eq!(filled(&[5.0], &[1.0, 2.0]), 10.0);
    let y: Num<Dual> = filled(&seeded([5.0], 0), &[1.0, 2.0]);
    close(y.0.tangent, 2.0);
}

#[test]
fn writes_are_kept_whatever_the_numbers() {
    agrees(writes::Energy, plain::writes::energy, [1.5, 0.7]);
    agrees(writes::Energy, plain::writes::energy, [-0.3, 1.7]);
}
