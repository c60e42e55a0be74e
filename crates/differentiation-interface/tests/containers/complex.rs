//! Complex points, outputs and seeds, in the convention of ChainRules.

use differentiation_interface::prelude::*;
use differentiation_interface::scalar::Base;
use num_complex::{Complex, Complex64};

macro_rules! every_engine {
    ($backend:ident => $body:block) => {{
        {
            let $backend = AutoForwardDiff::default();
            $body
        }
        {
            let $backend = AutoReverseDiff::default();
            $body
        }
        {
            let $backend = AutoReverseDiff::compiled();
            $body
        }
    }};
}

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

/// The chapter on complex numbers warns of it: `num-complex` 0.4.6 returns early on the axes.
#[test]
fn roots_of_num_complex_lose_derivatives_on_the_axes() {
    fn root<T: Real>(z: &Complex<T>) -> Complex<T> {
        z.sqrt()
    }
    fn by_logarithm<T: Real>(z: &Complex<T>) -> Complex<T> {
        (z.ln() * T::constant(T::Base::from_f64(0.5))).exp()
    }
    every_engine!(backend => {
        for z in [Complex64::new(0.0, 4.0), Complex64::new(4.0, 0.0), Complex64::new(0.7, 0.0), Complex64::new(3.0, -1.0)] {
            let right = 0.5 / z.sqrt();
            assert!(close(derivative(&by_logarithm, &backend, z).unwrap(), right));
            let imaginary = gradient(&|z: &Complex<_>| by_logarithm(z).im, &backend, &z).unwrap();
            assert!(close(imaginary, Complex64::new(right.im, right.re)), "{z}: {imaginary}");
        }
        assert_eq!(derivative(&root, &backend, Complex64::new(0.0, 4.0)).unwrap(), Complex64::new(0.0, 0.0));
        let imaginary = gradient(&|z: &Complex<_>| root(z).im, &backend, &Complex64::new(4.0, 0.0)).unwrap();
        assert_eq!(imaginary, Complex64::new(0.0, 1.0));
        let beside = Complex64::new(3.0, -1.0);
        assert!(close(derivative(&root, &backend, beside).unwrap(), 0.5 / beside.sqrt()));
    });
}
