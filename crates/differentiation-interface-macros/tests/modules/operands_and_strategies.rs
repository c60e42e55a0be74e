//! `#[differentiable] mod`: numbers as left operands, traits for `f64`, strategies as type parameters.

use crate::dual::agrees;
use differentiation_interface_macros::differentiable;

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
                self * *other
            }
        }

        impl Sub<Vector> for f64 {
            type Output = Vector;
            fn sub(self, other: Vector) -> Self::Output {
                self - &other
            }
        }

        impl<'a> Sub<&'a Vector> for f64 {
            type Output = Vector;
            fn sub(self, Vector([a, b]): &'a Vector) -> Vector {
                Vector([self - a, self - b])
            }
        }

        /// A quotient that depends on the order.
        pub struct Line<const N: usize> {
            slopes: [f64; N],
        }

        impl<const N: usize> Div<Line<N>> for f64 {
            type Output = Self;
            fn div(self, line: Line<N>) -> Self::Output {
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
            (1.0 - w).dot(&data) + (x[0] - &w).dot(&v) + ordered.dot(&v) + x[0] / Line { slopes: [x[1], 2.0, x[1]] } + (x[0] * x[1] * sum).dot(&w)
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

        pub trait Raise {
            fn raise(&mut self, by: f64);
        }

        impl Raise for f64 {
            fn raise(&mut self, by: f64) {
                *self += by;
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
            let mut raised = 1.0;
            raised.raise(x[1]);
            raised.raise(0.5);
            raised * <f64>::max(x[0], x[1]) * roots + squares * data + Pair { a: x[0], b: x[1] }.half() + x[0].half()
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
