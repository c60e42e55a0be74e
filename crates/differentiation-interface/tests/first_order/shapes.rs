//! Every shape of function and point: slices, arrays, numbers, in place, objects, third-party generic code.

use crate::support::{CENTRAL, assert_close, each_engine, each_exact_engine};
use differentiation_interface::backend::Lane;
use differentiation_interface::prelude::*;
use differentiation_interface::{Base, Const, FunctionWith};
use num_traits::Float;
use std::sync::Arc;

/// x₀² x₁ + x₂
fn poly<T: Real>(x: &[T]) -> T {
    x[0] * x[0] * x[1] + x[2]
}
const POINT: [f64; 3] = [2.0, 3.0, 5.0];
const POLY_GRADIENT: [f64; 3] = [12.0, 4.0, 1.0];

fn rotate<T: Real>(x: &[T; 2]) -> [T; 2] {
    [x[0] * x[1], x[0] - x[1]]
}
fn cubic<T: Real>(x: T) -> T {
    x * x * x
}
fn powers<T: Real>(x: T) -> Vec<T> {
    vec![x, x * x]
}
fn differences<T: Real>(y: &mut [T], x: &[T]) {
    for i in 0..y.len() {
        y[i] = x[i + 1] * x[i + 1] - x[i];
    }
}
const DIFFERENCES_JACOBIAN: [f64; 6] = [-1.0, 6.0, 0.0, 0.0, -1.0, 10.0];

#[test]
fn slices_vectors_and_arrays_by_reference_are_slices_to_the_function() {
    each_engine!(|backend, tolerance| {
        let vector = POINT.to_vec();
        let mut changeable = POINT.to_vec();
        let (slice, whole, array) = (&vector[..], &vector, &POINT);
        let mut other = POINT;
        let slice_of_other = &mut other[..];
        let found: [Vec<f64>; 10] = [
            // References to references, `&x` of an argument `x: &[f64]`.
            gradient(&poly, &backend, &slice).unwrap(),
            gradient(&poly, &backend, &whole).unwrap(),
            gradient(&poly, &backend, &array).unwrap(),
            gradient(&poly, &backend, &slice_of_other).unwrap(),
            gradient(&poly, &backend, &vector).unwrap(),
            gradient(&poly, &backend, &vector[..]).unwrap(),
            gradient(&poly, &backend, &POINT).unwrap(),
            gradient(&|x: &[_]| poly(x), &backend, &POINT).unwrap(),
            gradient(&poly, &backend, &mut changeable).unwrap(),
            gradient(&poly, &backend, changeable.as_mut_slice()).unwrap(),
        ];
        for grad in found {
            assert_close("gradient", &grad, &POLY_GRADIENT, tolerance);
        }
        let mut prepared = prepare_pushforward(&poly, &backend, &slice, [&slice]).unwrap();
        let (along, with_context) = (prepared.pushforward(&whole, [&array]).unwrap(), |x: &[_], k: &f64| poly(x) * *k);
        assert_close("pushforward", &along, &[12.0 * 2.0 + 4.0 * 3.0 + 5.0], tolerance);
        let doubled = gradient(&with_context, &backend, (&slice, Constant(&2.0))).unwrap();
        assert_close("with a context", &doubled, &POLY_GRADIENT.map(|g| 2.0 * g), tolerance);
        assert_eq!(vector, POINT);
    });
}

#[test]
fn arrays_by_value_are_arrays_to_the_function_and_in_the_result() {
    each_engine!(|backend, tolerance| {
        let grad: [f64; 3] = gradient(&|x: &[_; 3]| poly(x), &backend, POINT).unwrap();
        assert_close("gradient", &grad, &POLY_GRADIENT, tolerance);
        let (y, jac): ([f64; 2], Matrix<f64>) = value_and_jacobian(&rotate, &backend, [2.0, 5.0]).unwrap();
        assert_eq!(y, [10.0, -3.0]);
        assert_close("jacobian", jac.as_slice(), &[5.0, 2.0, 1.0, -1.0], tolerance);
        let [dx]: [[f64; 2]; 1] = pullback(&rotate, &backend, [2.0, 5.0], [[1.0, 1.0]]).unwrap();
        assert_close("pullback", &dx, &[6.0, 1.0], tolerance);
        let [dy]: [[f64; 2]; 1] = pushforward(&rotate, &backend, [2.0, 5.0], [[1.0, 1.0]]).unwrap();
        assert_close("pushforward", &dy, &[7.0, 0.0], tolerance);
    });
}

#[test]
fn numbers_are_numbers_to_the_function_and_in_the_result() {
    each_engine!(|backend, tolerance| {
        let der: f64 = derivative(&cubic, &backend, 2.0).unwrap();
        let grad: f64 = gradient(&cubic, &backend, &2.0).unwrap();
        let several: Vec<f64> = derivative(&|x| powers(x), &backend, 2.0).unwrap();
        let [dy]: [f64; 1] = pushforward(&cubic, &backend, 2.0, [0.5]).unwrap();
        let [dx]: [f64; 1] = pullback(&cubic, &backend, 2.0, [0.5]).unwrap();
        assert_close(
            "numbers",
            &[der, grad, several[0], several[1], dy, dx],
            &[12.0, 12.0, 1.0, 4.0, 6.0, 6.0],
            tolerance,
        );
    });
}

fn single_poly<T: Real<f32>>(x: &[T]) -> T {
    x[0] * x[0] * x[1] + 3.0 * x[2]
}
fn single_cubic<T: Real<f32>>(x: T) -> T {
    x * x * x
}
fn any_sum<B: Base, T: Real<B>>(x: &[T], k: B) -> T {
    x.iter().map(|v| *v * *v * k).sum()
}

#[test]
fn single_precision_points_have_single_precision_derivatives() {
    each_exact_engine!(|backend| {
        let grad: Vec<f32> = gradient(&|x: &[_]| single_poly(x), &backend, &[2.0f32, 3.0, 5.0]).unwrap();
        assert_eq!(grad, [12.0, 4.0, 3.0]);
        let der: f32 = derivative(&|x| single_cubic(x), &backend, &2.0f32).unwrap();
        assert_eq!(der, 12.0);
        let grad: Vec<f32> = gradient(&|x: &[_]| any_sum(x, 0.5f32), &backend, &[2.0f32, 3.0]).unwrap();
        assert_eq!(grad, [2.0, 3.0]);
        let grad: Vec<f64> = gradient(&|x: &[_]| any_sum(x, 0.5f64), &backend, &[2.0f64, 3.0]).unwrap();
        assert_eq!(grad, [2.0, 3.0]);
    });
    let grad: Vec<f32> = gradient(&single_poly::<f32>, &AutoFiniteDiff::central(), &[2.0f32, 3.0, 5.0]).unwrap();
    assert!(grad.iter().zip([12.0, 4.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-2), "{grad:?}");
}

#[test]
fn functions_that_write_their_output_are_functions() {
    each_engine!(|backend, tolerance| {
        let f = in_place(|y: &mut [_], x: &[_]| differences(y, x), 2);
        let (y, jac) = value_and_jacobian(&f, &backend, &POINT).unwrap();
        assert_eq!(y, [7.0, 22.0]);
        assert_close("jacobian", jac.as_slice(), &DIFFERENCES_JACOBIAN, tolerance);
        let f = in_place(|y: &mut [_], x: &[_; 3]| differences(y, x), 2);
        assert_close("jacobian", jacobian(&f, &backend, POINT).unwrap().as_slice(), &DIFFERENCES_JACOBIAN, tolerance);
        let f = in_place(|y: &mut [_], x| y.copy_from_slice(&powers(x)), 2);
        assert_close("derivative", &derivative(&f, &backend, 3.0).unwrap(), &[1.0, 6.0], tolerance);
        let f = in_place(
            |y: &mut [_], x: &[_], k: &f64, work: &mut Vec<_>| {
                work.copy_from_slice(x);
                differences(y, work);
                y[0] *= *k;
            },
            2,
        );
        let jac = jacobian(&f, &backend, (&POINT, Constant(&2.0), Cache(&vec![0.0; 3]))).unwrap();
        assert_close("jacobian", jac.as_slice(), &[-2.0, 12.0, 0.0, 0.0, -1.0, 10.0], tolerance);
    });
}

/// A model with data, one object for all engines, all shapes and all precisions.
struct Springs {
    stiffness: Vec<f64>,
}

impl<T: Real> Function<[T]> for Springs {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        x.iter().zip(&self.stiffness).map(|(x, k)| 0.5 * k * x * x).sum()
    }
}
impl<T: Real> Function<[T; 2]> for Springs {
    type Output = Vec<T>;
    fn call(&self, x: &[T; 2]) -> Vec<T> {
        x.iter().zip(&self.stiffness).map(|(x, k)| *k * x).collect()
    }
    fn call_into(&self, x: &[T; 2], y: &mut Vec<T>) {
        y.clear();
        y.extend(x.iter().zip(&self.stiffness).map(|(x, k)| *k * x));
    }
}
impl<T: Real> FunctionInPlace<T, [T]> for Springs {
    fn call_in_place(&self, y: &mut [T], x: &[T]) {
        for ((y, x), k) in y.iter_mut().zip(x).zip(&self.stiffness) {
            *y = *k * x;
        }
    }
}
impl<T: Real> FunctionWith<[T], (Const<f64>,)> for Springs {
    type Output = T;
    fn call_with(&self, x: &[T], (scale,): (&f64,)) -> T {
        *scale * Function::<[T]>::call(self, x)
    }
}

#[test]
fn one_object_with_data_serves_every_engine_and_shape() {
    let model = Springs { stiffness: vec![3.0, 4.0] };
    each_engine!(|backend, tolerance| {
        assert_close("slice", &gradient(&model, &backend, &[2.0, 5.0]).unwrap(), &[6.0, 20.0], tolerance);
        let jac = jacobian(&model, &backend, [2.0, 5.0]).unwrap();
        assert_close("array", jac.as_slice(), &[3.0, 0.0, 0.0, 4.0], tolerance);
        let grad = gradient(&model, &backend, (&[2.0, 5.0], Constant(&10.0))).unwrap();
        assert_close("context", &grad, &[60.0, 200.0], tolerance);
        let owned = Springs { stiffness: vec![3.0, 4.0] };
        let jac = jacobian(&in_place(owned, 2), &backend, &[2.0, 5.0]).unwrap();
        assert_close("in place", jac.as_slice(), &[3.0, 0.0, 0.0, 4.0], tolerance);
    });
}

#[test]
fn closures_capture_what_they_need() {
    let data = vec![1.0, 2.0];
    let name = String::from("scale");
    each_engine!(|backend, tolerance| {
        let f = |x: &[_]| residual(x, &data) * name.len() as f64;
        assert_close("captured", &gradient(&f, &backend, &[3.0, 5.0]).unwrap(), &[20.0, 30.0], tolerance);
    });
}
fn residual<T: Real>(x: &[T], data: &[f64]) -> T {
    x.iter().zip(data).map(|(x, d)| (x - d).powi(2)).sum()
}

#[test]
fn opaque_functions_over_plain_numbers_have_finite_differences() {
    let opaque = |x: &[f64]| x[0].sin() * x[1].exp();
    let grad = gradient(&opaque, &AutoFiniteDiff::central(), &[0.5, 0.25]).unwrap();
    assert_close("opaque", &grad, &[0.5f64.cos() * 0.25f64.exp(), 0.5f64.sin() * 0.25f64.exp()], CENTRAL);
    let boxed: Box<dyn Fn(&[f64]) -> f64> = Box::new(opaque);
    assert_eq!(gradient(&boxed, &AutoFiniteDiff::central(), &[0.5, 0.25]).unwrap(), grad);
    let pointer: fn(f64) -> f64 = f64::sqrt;
    assert_close("fn pointer", &[derivative(&pointer, &AutoFiniteDiff::central(), 4.0).unwrap()], &[0.25], CENTRAL);
}

/// A function that only asks for `num_traits::Float`.
fn entropy<T: Float>(x: &[T]) -> T {
    x.iter().fold(T::zero(), |sum, &p| sum - p * p.ln())
}

/// Third-party functions with gradients of their own to compare with; on slices.
macro_rules! third_party {
    ($($function:ident $derivative:ident [$($x:expr),*];)*) => {$(
        each_engine!(|backend, tolerance| {
            let x = [$($x),*];
            let expected = argmin_testfunctions::$derivative(&x);
            let grad = gradient(&|x: &[_]| argmin_testfunctions::$function(x), &backend, &x).unwrap();
            assert_close(stringify!($function), &grad, &expected, 100.0 * tolerance);
        });
    )*};
}
/// The same for functions of arrays.
macro_rules! third_party_arrays {
    ($($function:ident $derivative:ident [$($x:expr),*];)*) => {$(
        each_engine!(|backend, tolerance| {
            let x = [$($x),*];
            let expected = argmin_testfunctions::$derivative(&x);
            let grad = gradient(&|x: &[_; 2]| argmin_testfunctions::$function(x), &backend, x).unwrap();
            assert_close(stringify!($function), &grad, &expected, 100.0 * tolerance);
        });
    )*};
}

#[test]
fn third_party_generic_code_differentiates_unchanged() {
    third_party! {
        rosenbrock rosenbrock_derivative [0.1, -0.7, 1.2, 0.4];
        ackley ackley_derivative [0.3, -0.6, 1.1];
        rastrigin rastrigin_derivative [0.3, -0.6, 1.1];
        sphere sphere_derivative [0.3, -0.6, 1.1];
        styblinski_tang styblinski_tang_derivative [0.3, -0.6, 1.1];
        levy levy_derivative [0.3, -0.6, 1.1];
    }
    third_party_arrays! {
        himmelblau himmelblau_derivative [0.3, -0.6];
        booth booth_derivative [0.3, -0.6];
        beale beale_derivative [0.3, -0.6];
        matyas matyas_derivative [0.3, -0.6];
        goldsteinprice goldsteinprice_derivative [0.3, -0.2];
        easom easom_derivative [2.5, 3.5];
    }
    each_engine!(|backend, tolerance| {
        let grad = gradient(&|x: &[_]| entropy(x), &backend, &[0.5, 2.0]).unwrap();
        assert_close("entropy", &grad, &[-0.5f64.ln() - 1.0, -2f64.ln() - 1.0], tolerance);
        let grad = gradient(&entropy, &backend, &[0.5, 2.0]).unwrap();
        assert_close("entropy", &grad, &[-0.5f64.ln() - 1.0, -2f64.ln() - 1.0], tolerance);
    });
}

#[test]
fn preparations_own_or_borrow_their_function() {
    each_engine!(|backend, tolerance| {
        let factor = 2.0;
        let mut shared = prepare_gradient(Arc::new(move |x: &[_]| factor * poly(x)), &backend, &[0.0; 3]).unwrap();
        let mut owned = prepare_gradient(Box::new(move |x: &[_]| factor * poly(x)), &backend, &[0.0; 3]).unwrap();
        let borrowed = move |x: &[_]| factor * poly(x);
        let mut borrowing = prepare_gradient(&borrowed, &backend, &[0.0; 3]).unwrap();
        for grad in [shared.gradient(&POINT), owned.gradient(&POINT), borrowing.gradient(&POINT)] {
            assert_close("gradient", &grad.unwrap(), &[24.0, 8.0, 2.0], tolerance);
        }
        let mut jac = prepare_jacobian(Arc::new(|x: &[_; 2]| rotate(x)), &backend, [0.0; 2]).unwrap();
        assert_close("jacobian", jac.jacobian([2.0, 5.0]).unwrap().as_slice(), &[5.0, 2.0, 1.0, -1.0], tolerance);
        let mut der = prepare_derivative(Box::new(cubic), &backend, 0.0).unwrap();
        assert_close("derivative", &[der.derivative(2.0).unwrap()], &[12.0], tolerance);
        let mut push = prepare_pushforward(Arc::new(cubic), &backend, 0.0, [0.0]).unwrap();
        assert_close("pushforward", &push.pushforward(2.0, [2.0]).unwrap(), &[24.0], tolerance);
        let mut pull = prepare_pullback(Box::new(cubic), &backend, 0.0, [0.0]).unwrap();
        assert_close("pullback", &pull.pullback(2.0, [2.0]).unwrap(), &[24.0], tolerance);
    });
}

/// Downstream code that is generic over the backend: gradient descent.
fn descend<B: Backend, F>(f: &F, backend: &B, x: &mut [f64], rate: f64, steps: usize) -> Result<f64, Error>
where
    F: Function<[B::Num<f64, B::Lanes>], Output = B::Num<f64, B::Lanes>>,
{
    let mut grad = vec![0.0; x.len()];
    let mut prepared = prepare_gradient(f, backend, &*x)?;
    for _ in 0..steps {
        prepared.gradient_into(&mut grad, &*x)?;
        x.iter_mut().zip(&grad).for_each(|(x, g)| *x -= rate * g);
    }
    prepared.value_and_gradient_into(&mut grad, &*x)
}
/// Newton's method on a square system of two equations.
fn newton<B: Backend, F>(f: &F, backend: &B, x: &mut [f64], steps: usize) -> Result<(), Error>
where
    F: Function<[B::Num<f64, B::Lanes>], Output = Vec<B::Num<f64, B::Lanes>>>,
{
    let mut prepared = prepare_jacobian(f, backend, &*x)?;
    let mut jac = Matrix::filled(2, 2, 0.0);
    for _ in 0..steps {
        prepared.jacobian_into(&mut jac, &*x)?;
        let det = jac[(0, 0)] * jac[(1, 1)] - jac[(0, 1)] * jac[(1, 0)];
        // x² + y² = 5, xy = 2
        let r = [x[0] * x[0] + x[1] * x[1] - 5.0, x[0] * x[1] - 2.0];
        x[0] -= (jac[(1, 1)] * r[0] - jac[(0, 1)] * r[1]) / det;
        x[1] -= (jac[(0, 0)] * r[1] - jac[(1, 0)] * r[0]) / det;
    }
    Ok(())
}
fn circle<T: Real>(x: &[T]) -> Vec<T> {
    vec![x[0] * x[0] + x[1] * x[1] - 5.0, x[0] * x[1] - 2.0]
}
/// The slope of a function of a number, whatever differentiates it.
fn slope<B: Backend, F>(f: &F, backend: &B, x: f64) -> f64
where
    F: Function<B::Num<f64, Lane<1>>, Output = B::Num<f64, Lane<1>>>,
{
    derivative(f, backend, x).expect("a number is a number")
}

#[test]
fn downstream_code_is_generic_over_the_backend() {
    each_engine!(|backend, _tolerance| {
        let mut x = [0.0, 0.0];
        let y = descend(&|x: &[_]| residual(x, &[1.0, 2.0]), &backend, &mut x, 0.25, 60).unwrap();
        assert_close("descent", &x, &[1.0, 2.0], 1e-7);
        assert!(y < 1e-12);
        let mut x = [3.0, 0.5];
        newton(&circle, &backend, &mut x, 12).unwrap();
        assert_close("newton", &x, &[2.0, 1.0], 1e-7);
        assert_close("slope", &[slope(&cubic, &backend, 2.0)], &[12.0], 1e-4);
    });
}
