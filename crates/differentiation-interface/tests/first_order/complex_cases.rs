//! Complex functions, as functions of real and imaginary parts: `num_complex::Complex` over the numbers of every engine.
//!
//! For a holomorphic f the pushforward of t is f'·t, and the pullback of dy is the conjugate of f' times dy, which are the
//! conventions of the counterpart.

use crate::support::data::{self, number};
use crate::support::{assert_close, each_engine};
use differentiation_interface::prelude::*;
use num_complex::Complex;
use serde_json::Value;

fn parts(value: &Value) -> [f64; 2] {
    [number(&value["re"]), number(&value["im"])]
}
fn of_complex<T: Real>(z: &[T], f: impl Fn(Complex<T>) -> Complex<T>) -> [T; 2] {
    let w = f(Complex::new(z[0], z[1]));
    [w.re, w.im]
}
fn sine<T: Real>(z: &[T]) -> [T; 2] {
    of_complex(z, |z| z.sin())
}
fn square<T: Real>(z: &[T]) -> [T; 2] {
    of_complex(z, |z| z * z)
}
fn squared_modulus<T: Real>(z: &[T]) -> T {
    Complex::new(z[0], z[1]).norm_sqr()
}

fn run(kind: &str, check: impl Fn(&str, &Value, &Value)) {
    data::run(kind, &[], |name, input, expected| {
        check(name, input, expected);
        true
    });
}

#[test]
fn derivatives_of_holomorphic_functions_are_pushforwards_of_one() {
    run("derivative_complex", |name, input, expected| {
        assert_eq!(name, "complex.num_to_num.derivative");
        each_engine!(|backend, tolerance| {
            let [dy] = pushforward(&|z: &[_]| sine(z), &backend, &parts(&input["x"]), [&[1.0, 0.0]]).unwrap();
            assert_close(name, &dy, &parts(expected), tolerance);
        });
    });
}

#[test]
fn pushforwards_multiply_by_the_derivative() {
    run("pushforward_complex", |name, input, expected| {
        assert_eq!(name, "complex.num_to_num.pushforward");
        each_engine!(|backend, tolerance| {
            let (z, t) = (parts(&input["x"]), parts(&input["t"][0]));
            let [dy] = pushforward(&|z: &[_]| sine(z), &backend, &z, [&t]).unwrap();
            assert_close(name, &dy, &parts(&expected[0]), tolerance);
        });
    });
}

#[test]
fn pullbacks_multiply_by_the_conjugate_derivative() {
    run("pullback_complex", |name, input, expected| {
        assert_eq!(name, "complex.num_to_num.pullback");
        each_engine!(|backend, tolerance| {
            let (z, t) = (parts(&input["x"]), parts(&input["t"][0]));
            let [dz] = pullback(&|z: &[_]| sine(z), &backend, &z, [&t]).unwrap();
            assert_close(name, &dz, &parts(&expected[0]), tolerance);
        });
    });
}

#[test]
fn gradients_of_complex_functions() {
    run("gradient_complex", |name, input, expected| {
        let (z, expected) = (parts(&input["x"][0]), parts(&expected[0]));
        each_engine!(|backend, tolerance| {
            let grad = match name {
                // That of the real part: the pullback of one.
                "complex.square_gradient" => {
                    let [dz] = pullback(&|z: &[_]| square(z), &backend, &z, [&[1.0, 0.0]]).unwrap();
                    dz.to_vec()
                }
                "complex.abs2_gradient" => gradient(&|z: &[_]| squared_modulus(z), &backend, &z[..]).unwrap(),
                _ => panic!("{name}: no function for this case"),
            };
            assert_close(name, &grad, &expected, tolerance);
        });
    });
}
