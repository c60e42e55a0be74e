//! Complex points, outputs and seeds, in the convention of ChainRules.

use differentiation_interface::algebra::complex;
use differentiation_interface::prelude::*;
use differentiation_interface::scalar::Base;
use num_complex::{Complex, Complex64};

fn close(a: Complex64, b: Complex64) -> bool {
    (a - b).norm() <= 1e-14 * b.norm().max(1.0)
}

/// z³ + e^z / z
fn holomorphic<T: Real + num_traits::Float>(z: Complex<T>) -> Complex<T> {
    z * z * z + z.exp() / z
}

/// 5 Re(z²) + 7 Im(z²)
fn mixed<T: Real + num_traits::Float>(z: Complex<T>) -> T {
    let w = z * z;
    w.re * T::constant(5.0) + w.im * T::constant(7.0)
}

/// |z₀ z₁|²
fn product<T: Real + num_traits::Float>(z: &[Complex<T>]) -> T {
    (z[0] * z[1]).norm_sqr()
}

#[test]
fn derivative_at_a_complex_number_is_holomorphic() {
    every_engine!(backend => {
        let f = |z: &Complex<_>| holomorphic(*z);
        let mut prepared = prepare_derivative(&f, &backend, Complex64::new(1.0, 1.0)).unwrap();
        for z in [Complex64::new(1.5, -0.5), Complex64::new(1.5, 2.0), Complex64::new(-0.25, 1e-3)] {
            let expected = 3.0 * z * z + z.exp() / z - z.exp() / (z * z);
            assert!(close(derivative(&f, &backend, z).unwrap(), expected));
            let (y, der) = prepared.value_and_derivative(z).unwrap();
            assert!(close(y, z * z * z + z.exp() / z) && close(der, expected));
        }
        let f = |z: &Complex<_>| *z * *z * *z;
        let z = Complex64::new(1.5, -0.5);
        assert!(close(second_derivative(&f, &backend, z).unwrap(), 6.0 * z));
    });
}

#[test]
fn gradient_of_a_real_function_is_the_steepest_ascent() {
    every_engine!(backend => {
        let z = Complex64::new(3.0, 4.0);
        let f = |z: &Complex<_>| z.norm_sqr();
        assert!(close(gradient(&f, &backend, &z).unwrap(), 2.0 * z));
        // a·Re(z²) + b·Im(z²): the derivatives by x and y are 2ax + 2by and -2ay + 2bx.
        let f = |z: &Complex<_>| mixed(*z);
        assert!(close(gradient(&f, &backend, &z).unwrap(), Complex64::new(30.0 + 56.0, -40.0 + 42.0)));
        let f = |z: &Complex<_>| z.norm_sqr();
        let dz = Complex64::new(1.0, -2.0);
        let [along] = pushforward(&f, &backend, &z, [&dz]).unwrap();
        assert_eq!(along, ((2.0 * z).conj() * dz).re);
    });
}

#[test]
fn pullback_of_a_holomorphic_function_conjugates() {
    every_engine!(backend => {
        let (z, seed) = (Complex64::new(0.5, 1.0), Complex64::new(2.0, -3.0));
        let f = |z: &Complex<_>| holomorphic(*z);
        let [dz] = pullback(&f, &backend, &z, [&seed]).unwrap();
        let slope = 3.0 * z * z + z.exp() / z - z.exp() / (z * z);
        assert!(close(dz, slope.conj() * seed));
        let f = |z: &Complex<_>| holomorphic(*z);
        let [dy] = pushforward(&f, &backend, &z, [&seed]).unwrap();
        assert!(close(dy, slope * seed));
        // ⟨dy, J·dx⟩ = ⟨Jᵀ·dy, dx⟩ with ⟨a, b⟩ = Re(conj(a) · b).
        assert!(((seed.conj() * dy).re - (dz.conj() * seed).re).abs() < 1e-12);
    });
}

#[test]
fn vectors_of_complex_numbers() {
    every_engine!(backend => {
        let z = vec![Complex64::new(1.0, 2.0), Complex64::new(-3.0, 0.5)];
        let f = |z: &Vec<Complex<_>>| product(z);
        let grad = gradient(&f, &backend, &z).unwrap();
        assert!(close(grad[0], 2.0 * z[0] * z[1].norm_sqr()) && close(grad[1], 2.0 * z[1] * z[0].norm_sqr()));
        let f = |z: &Vec<Complex<_>>| vec![z[0] * z[1], z[1]];
        let jac = jacobian(&f, &backend, &z).unwrap();
        assert_eq!(jac.row(0), [-3.0, -0.5, 1.0, -2.0]);
        assert_eq!(jac.row(3), [0.0, 0.0, 0.0, 1.0]);
    });
}

/// Points on both axes, on the cuts from both sides, beside them, and where methods of `num-complex` return early.
fn special() -> Vec<Complex64> {
    let parts = [0.0, -0.0, 0.7, -0.7, 1.5, -3.0];
    let all = parts.iter().flat_map(|&re| parts.map(|im| Complex64::new(re, im)));
    all.filter(|z| z.norm() > 0.0).collect()
}

/// With a zero imaginary part, whose sign decides on which side of a cut a sum lies.
const ONE: Complex64 = Complex64::new(1.0, 0.0);

/// Functions of `algebra::complex` with the methods of `num-complex` that they replace and their derivatives.
macro_rules! functions {
    ($act:ident) => {
        $act!(sqrt, |z| z.sqrt(), |z| 0.5 / z.sqrt());
        $act!(cbrt, |z| z.cbrt(), |z| z.cbrt() / (3.0 * z));
        $act!(asin, |z| z.asin(), |z| 1.0 / (ONE - z * z).sqrt());
        $act!(acos, |z| z.acos(), |z| -1.0 / (ONE - z * z).sqrt());
        $act!(asinh, |z| z.asinh(), |z| 1.0 / (ONE + z * z).sqrt());
        $act!(acosh, |z| z.acosh(), |z| 0.5 / (((z - ONE) / (ONE + ONE)).sqrt() * ((z + ONE) / (ONE + ONE)).sqrt()));
    };
}

#[test]
fn functions_have_the_values_of_num_complex() {
    macro_rules! check {
        ($name:ident, |$z:ident| $method:expr, |$w:ident| $slope:expr) => {
            for $z in special() {
                let (own, other) = (complex::$name($z), $method);
                assert!(close(own, other), "{}({}): {own} and {other}", stringify!($name), $z);
            }
        };
    }
    functions!(check);
    assert_eq!(complex::sqrt(Complex64::new(0.0, 0.0)), Complex64::new(0.0, 0.0));
    assert_eq!(complex::cbrt(Complex64::new(0.0, 0.0)), Complex64::new(0.0, 0.0));
    assert_eq!(complex::sqrt(Complex64::new(-4.0, -0.0)), Complex64::new(0.0, -2.0));
    for z in special() {
        let w = Complex64::new(0.5, -1.5);
        assert!(close(complex::powf(z, 1.25), z.powf(1.25)) && close(complex::powc(z, w), z.powc(w)));
        assert_eq!((complex::powf(z, 0.0), complex::powc(z, 0.0.into())), (1.0.into(), 1.0.into()));
    }
    assert_eq!(complex::powc(Complex64::new(0.0, 0.0), Complex64::new(2.0, 0.0)), Complex64::new(0.0, 0.0));
}

#[test]
fn functions_are_differentiable_on_the_axes() {
    every_engine!(backend => {
        for point in special() {
            macro_rules! check {
                ($name:ident, |$z:ident| $method:expr, |$w:ident| $slope:expr) => {
                    let $w = point;
                    let slope = $slope;
                    let f = |z: &Complex<_>| complex::$name(*z);
                    let found = derivative(&f, &backend, point).unwrap();
                    assert!(close(found, slope), "{}'({point}): {found} and {slope}", stringify!($name));
                    // By the imaginary part, along which `num-complex` loses the derivative on the real axis.
                    let imaginary = gradient(&|z: &Complex<_>| complex::$name(*z).im, &backend, &point).unwrap();
                    assert!(close(imaginary, Complex64::new(slope.im, slope.re)), "{}'({point}): {imaginary}", stringify!($name));
                };
            }
            functions!(check);
        }
    });
}

#[test]
fn powers_are_differentiable_by_the_exponent_at_zero() {
    every_engine!(backend => {
        let z = Complex64::new(-1.0, 2.0);
        let f = |p: &[_]| {
            let power = complex::powf(Complex::new(p[0], p[1]), p[2]);
            vec![power.re, power.im]
        };
        let jac = jacobian(&f, &backend, &[z.re, z.im, 0.0]).unwrap();
        assert!(close(Complex64::new(jac[(0, 2)], jac[(1, 2)]), z.ln()));
        assert!(jac[(0, 0)] == 0.0 && jac[(1, 1)] == 0.0);
        fn power<T: Real>(w: &Complex<T>) -> Complex<T> {
            let constant = |v: f64| T::constant(T::Base::from_f64(v));
            complex::powc(Complex::new(constant(-1.0), constant(2.0)), *w)
        }
        assert!(close(derivative(&power, &backend, Complex64::new(0.0, 0.0)).unwrap(), z.ln()));
    });
    // Where squares overflow or vanish.
    for z in [Complex64::new(1e-300, 1e200), Complex64::new(-1e150, -1e-150), Complex64::new(-1e-200, 1e-310)] {
        let slope = 0.5 / complex::sqrt(z);
        let found = derivative(&|z: &Complex<_>| complex::sqrt(*z), &AutoForwardDiff::default(), z).unwrap();
        assert!((found - slope).norm() <= 1e-14 * slope.norm(), "{z}: {found} and {slope}");
    }
    // To second order.
    let second =
        second_derivative(&|z: &Complex<_>| complex::sqrt(*z), &AutoForwardDiff::default(), Complex64::new(0.0, 4.0));
    let z = Complex64::new(0.0, 4.0);
    assert!(close(second.unwrap(), -0.25 / (z * z.sqrt())));
}

/// What the functions replace: the chapter on complex numbers says that the methods of `num-complex` 0.4.6 are wrong there.
#[test]
fn roots_of_num_complex_lose_derivatives_on_the_axes() {
    fn root<T: Real>(z: &Complex<T>) -> Complex<T> {
        z.sqrt()
    }
    every_engine!(backend => {
        assert_eq!(derivative(&root, &backend, Complex64::new(0.0, 4.0)).unwrap(), Complex64::new(0.0, 0.0));
        let imaginary = gradient(&|z: &Complex<_>| root(z).im, &backend, &Complex64::new(4.0, 0.0)).unwrap();
        assert_eq!(imaginary, Complex64::new(0.0, 1.0));
        let beside = Complex64::new(3.0, -1.0);
        assert!(close(derivative(&root, &backend, beside).unwrap(), 0.5 / beside.sqrt()));
    });
}
