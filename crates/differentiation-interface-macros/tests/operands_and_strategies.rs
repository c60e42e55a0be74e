//! `#[differentiable] mod`: numbers as left operands, traits for `f64`, strategies as type parameters, and data handed to functions that
//! take active numbers elsewhere.
#![allow(
    clippy::clone_on_copy,
    clippy::needless_range_loop,
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "code as it is written for f64"
)]

#[macro_use]
mod both;
mod dual;

use differentiation_interface_core::Num;
use differentiation_interface_macros::{Container, differentiable};
use dual::{Dual, agrees, close, seeded};

both! {
    // A number as the left operand of a struct, by value and by reference: `2.0 * v`.
    mod operands {
        use std::ops::{Add, Div, Mul, Sub};

        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Vector([f64; 2]);

        impl Add for Vector {
            type Output = Vector;
            fn add(self, other: Vector) -> Vector {
                Vector([self.0[0] + other.0[0], self.0[1] + other.0[1]])
            }
        }

        impl Mul<Vector> for f64 {
            type Output = Vector;
            fn mul(self, Vector(v): Vector) -> Self::Output {
                Vector(v.map(|entry| self * entry))
            }
        }

        impl Mul<&Vector> for f64 {
            type Output = Vector;
            fn mul(self, other: &Vector) -> Vector {
                Vector([self * other.0[0], self * other.0[1]])
            }
        }

        impl Sub<Vector> for f64 {
            type Output = Vector;
            fn sub(self, other: Vector) -> Vector {
                Vector([self - other.0[0], self - other.0[1]])
            }
        }

        /// A quotient that depends on the order.
        pub struct Line<const N: usize> {
            slopes: [f64; N],
        }

        impl<const N: usize> Div<Line<N>> for f64 {
            type Output = Self;
            fn div(self, line: Line<N>) -> Self {
                let by: Self = line.slopes.iter().product();
                self / by
            }
        }

        impl Vector {
            fn dot(&self, other: &Vector) -> f64 {
                self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
            }
        }

        pub fn ones() -> Vector {
            Vector([1.0, 1.0])
        }

        fn next(counter: &mut f64) -> f64 {
            *counter *= 3.0;
            *counter
        }

        pub fn energy(x: &[f64]) -> f64 {
            let v = Vector([x[0], x[1]]);
            let borrowed = &v;
            let w = 2.0 * v + x[0] * borrowed;
            let data = 0.5 * Vector([1.0, 3.0]);
            // The left operand is computed first.
            let mut counter = x[1];
            let ordered = next(&mut counter) * Vector([next(&mut counter), 1.0]);
            let sum = x.iter().fold(Vector([0.0, 0.0]), |sum, q| sum + *q * v);
            (1.0 - w).dot(&data) + ordered.dot(&v) + x[0] / Line { slopes: [x[1], 2.0, x[1]] } + (x[0] * x[1] * sum).dot(&w)
        }
    }

    // Operators of references: `&a * &b`, for matrices of any size.
    mod references {
        use std::ops::{Add, Mul, Neg, Sub};

        #[derive(Clone, Debug, PartialEq)]
        pub struct Matrix<const R: usize, const C: usize> {
            rows: [[f64; C]; R],
        }

        impl<const R: usize, const C: usize> Matrix<R, C> {
            fn new(rows: [[f64; C]; R]) -> Self {
                Self { rows }
            }

            fn identity() -> Self {
                let mut rows = [[0.0; C]; R];
                for (i, row) in rows.iter_mut().enumerate() {
                    row[i] = 1.0;
                }
                Self { rows }
            }

            fn transpose(&self) -> Matrix<C, R> {
                Matrix { rows: std::array::from_fn(|i| std::array::from_fn(|j| self.rows[j][i])) }
            }
        }

        impl<'a, const R: usize, const C: usize, const K: usize> Mul<&'a Matrix<C, K>> for &'a Matrix<R, C> {
            type Output = Matrix<R, K>;
            fn mul(self, other: &Matrix<C, K>) -> Matrix<R, K> {
                let mut rows = [[0.0; K]; R];
                for i in 0..R {
                    for j in 0..K {
                        for k in 0..C {
                            rows[i][j] += self.rows[i][k] * other.rows[k][j];
                        }
                    }
                }
                Matrix { rows }
            }
        }

        impl<const R: usize, const C: usize> Mul<f64> for &Matrix<R, C> {
            type Output = Matrix<R, C>;
            fn mul(self, by: f64) -> Matrix<R, C> {
                Matrix { rows: self.rows.map(|row| row.map(|v| v * by)) }
            }
        }

        impl<const R: usize, const C: usize> Add<Matrix<R, C>> for &Matrix<R, C> {
            type Output = Matrix<R, C>;
            fn add(self, mut other: Matrix<R, C>) -> Matrix<R, C> {
                for (to, from) in other.rows.iter_mut().flatten().zip(self.rows.iter().flatten()) {
                    *to += *from;
                }
                other
            }
        }

        impl<const R: usize, const C: usize> Neg for &Matrix<R, C> {
            type Output = Matrix<R, C>;
            fn neg(self) -> Matrix<R, C> {
                self * -1.0
            }
        }

        impl<const R: usize, const C: usize> Sub for &Matrix<R, C> {
            type Output = Matrix<R, C>;
            fn sub(self, other: Self) -> Matrix<R, C> {
                self + -other
            }
        }

        pub fn energy(x: &[f64]) -> f64 {
            let step = Matrix::new([[1.0, 0.5], [0.0, 1.0]]);
            let noise = &Matrix::<2, 2>::identity() * x[1];
            let observe = Matrix::new([[1.0, x[0]]]);
            let mut state = Matrix::new([[x[0]], [x[1]]]);
            let mut covariance = Matrix::identity();
            for z in [0.5, 1.0, 2.5] {
                state = &step * &state;
                covariance = &(&(&step * &covariance) * &step.transpose()) + noise.clone();
                let residual = z - (&observe * &state).rows[0][0];
                let s = (&(&observe * &covariance) * &observe.transpose()).rows[0][0] + 1.0;
                let gain = &(&covariance * &observe.transpose()) * (1.0 / s);
                state = &state + &gain * residual;
                covariance = &covariance - &(&(&gain * &observe) * &covariance);
            }
            state.rows[0][0] + covariance.rows[1][1]
        }
    }

    // Traits of the module for `f64`, and functions by `<f64>::sqrt`.
    mod extensions {
        pub trait Squares {
            fn squared(self) -> Self;
            fn cubed(self) -> f64;
        }

        impl Squares for f64 {
            fn squared(self) -> Self {
                self * self
            }
            fn cubed(self) -> f64 {
                self.squared() * self
            }
        }

        pub trait Norm {
            fn norm2(&self) -> f64;
            fn half(&self) -> f64 {
                0.5 * self.norm2()
            }
        }

        impl Norm for f64 {
            fn norm2(&self) -> f64 {
                self.squared()
            }
        }

        pub struct Pair {
            a: f64,
            b: f64,
        }

        impl Norm for Pair {
            fn norm2(&self) -> f64 {
                self.a.norm2() + self.b.squared()
            }
        }

        pub fn energy(x: &[f64]) -> f64 {
            let roots: f64 = x.iter().copied().map(<f64>::sqrt).sum();
            let squares: f64 = x.iter().map(|v| v.squared()).sum();
            let data = 1.5_f64.cubed();
            <f64>::max(x[0], x[1]) * roots + squares * data + Pair { a: x[0], b: x[1] }.half() + x[0].half()
        }
    }

    // Strategies as type parameters: `System<L: Law>`, `where P: Law`, a law made of two.
    mod strategies {
        pub trait Law {
            fn force(&self, q: f64) -> f64;
        }

        pub struct Hooke {
            stiffness: f64,
        }

        impl Law for Hooke {
            fn force(&self, q: f64) -> f64 {
                -self.stiffness * q
            }
        }

        pub struct Cubic;

        impl Law for Cubic {
            fn force(&self, q: f64) -> f64 {
                -q * q * q
            }
        }

        pub struct Mixed<A, B>
        where
            A: Law,
            B: Law,
        {
            a: A,
            b: B,
            weight: f64,
        }

        impl<A, B> Law for Mixed<A, B>
        where
            A: Law,
            B: Law,
        {
            fn force(&self, q: f64) -> f64 {
                self.weight * self.a.force(q) + (1.0 - self.weight) * self.b.force(q)
            }
        }

        pub struct System<L: Law> {
            law: L,
            mass: f64,
        }

        impl<L: Law> System<L> {
            fn new(law: L, mass: f64) -> Self {
                System { law, mass }
            }

            fn step(&self, q: f64, h: f64) -> f64 {
                let push: f64 = h * h * self.law.force(q);
                q + push / self.mass
            }
        }

        fn work<P>(law: &P, q: f64) -> f64
        where
            P: Law,
        {
            law.force(q) * q
        }

        fn heavy(stiffness: f64) -> System<Hooke> {
            System::new(Hooke { stiffness }, 10.0)
        }

        pub fn energy(x: &[f64]) -> f64 {
            let hooke = Hooke { stiffness: x[0] };
            let first = work(&hooke, x[1]);
            let system = System { law: hooke, mass: 2.0 };
            let mixed = System::new(Mixed { a: Hooke { stiffness: 1.0 }, b: Cubic, weight: x[1] }, x[0]);
            first + system.step(x[1], 0.1) + mixed.step(x[0], 0.5) + heavy(x[1]).step(x[0], 1.0) + work(&Cubic, x[0])
        }
    }

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
                slope[0] = 2.0 * x + slope[0];
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
            let active = Shape::Disc(x[0]);
            let data = Scene { shapes: vec![Shape::Point, Shape::Disc(2.0)], weights: vec![(1, 2.0)] };
            a.x * a.y + GRAVITY.dot(a) + a.dot(GRAVITY) + raised + table[1] + moved.dot(last) + far[0].dot(far[1]) + sum.x * sum.y
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
            sum + active + polynomial(&TABLE, x[0]) * horner(&TABLE, x[1]) + horner(&TABLE[1..], x[0]) + by_value(TABLE, x[1]) + a * b
        }
    }
}

#[test]
fn numbers_are_left_operands_of_structs() {
    agrees(operands::Energy, plain::operands::energy, [1.5, 1.2]);
    agrees(operands::Energy, plain::operands::energy, [-0.5, 0.7]);
    // Plain code outside of the module multiplies as before.
    let v: operands::Vector = operands::ones();
    assert_eq!(2.0 * v, 2.0 * &v);
}

#[test]
fn references_are_operands() {
    agrees(references::Energy, plain::references::energy, [1.5, 1.2]);
    agrees(references::Energy, plain::references::energy, [-0.5, 0.7]);
}

#[test]
fn numbers_have_the_methods_of_traits() {
    agrees(extensions::Energy, plain::extensions::energy, [1.5, 1.2]);
    agrees(extensions::Energy, plain::extensions::energy, [0.5, 2.7]);
}

#[test]
fn strategies_are_type_parameters() {
    agrees(strategies::Energy, plain::strategies::energy, [1.5, 1.2]);
    agrees(strategies::Energy, plain::strategies::energy, [-0.5, 0.7]);
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
