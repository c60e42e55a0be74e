//! Every shape of function: points, outputs, contexts, in place, generic already, lifted from another crate.

mod dual;

use differentiation_interface_core::{
    Const, Function, FunctionInPlace, FunctionInPlaceWith, FunctionWith, Num, Real, Scalar, Work,
};
use differentiation_interface_macros::{differentiable, differentiable_fn};
use dual::{D, Dual, check, close, column, derivative, seeded};
use num_traits::{Float, FromPrimitive};
use std::iter::Sum;

#[differentiable(crate = "differentiation_interface_core")]
fn number_to_number(x: f64) -> f64 {
    if x > 0.0 { x * x } else { 0.0 }
}

#[differentiable(crate = "differentiation_interface_core")]
fn number_to_array(t: f64) -> [f64; 3] {
    [t, 1.0, t * t]
}

#[differentiable(crate = "differentiation_interface_core")]
fn array_to_number(x: &[f64; 2]) -> f64 {
    x[0] * x[1]
}

#[differentiable(crate = "differentiation_interface_core")]
fn array_by_value(x: [f64; 2]) -> [f64; 2] {
    let [a, b] = x;
    [a * b, 0.0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn any_length<const N: usize>(x: &[f64; N]) -> [f64; N] {
    let mut y = [0.0; N];
    for i in 0..N {
        y[i] = x[N - 1 - i];
    }
    y
}

#[differentiable(crate = "differentiation_interface_core")]
#[allow(clippy::ptr_arg)]
fn vector_point(x: &Vec<f64>) -> Vec<f64> {
    let mut y = vec![1.0];
    y.extend(x.iter().map(|v| 2.0 * v));
    y
}

#[differentiable(crate = "differentiation_interface_core")]
fn nested_output(x: &[f64]) -> (Vec<f64>, [[f64; 2]; 1]) {
    (vec![0.0; x.len()], [[x[0], 1.0]])
}

#[differentiable(crate = "differentiation_interface_core")]
fn rotated(y: &mut [f64], x: &[f64]) {
    y[0] = -x[1];
    y[1] = x[0];
    y[2] = 0.5;
}

#[differentiable(crate = "differentiation_interface_core")]
fn powers_of(y: &mut [f64], x: f64) {
    let mut p = 1.0;
    for y in y.iter_mut() {
        *y = p;
        p *= x;
    }
}

#[differentiable(Fit, crate = "differentiation_interface_core")]
pub(crate) fn sum_of_squares(x: &[f64], #[constant] k: f64, #[constant] data: &[f64]) -> f64 {
    let mut s = 0.0;
    for (v, d) in x.iter().zip(data) {
        s += k * (v - d).powi(2);
        s += *d;
    }
    s
}

#[differentiable(crate = "differentiation_interface_core")]
fn with_cache(x: &[f64], #[cache] w: &mut Vec<f64>, #[cache] t: &mut [f64; 2], #[cache] s: &mut [f64]) -> f64 {
    w.clear();
    w.extend_from_slice(x);
    w.push(1.0);
    t[0] = w[0] * w[1];
    t[1] = 0.5;
    s[0] = t[0] + t[1];
    s[0] + w.last().unwrap()
}

#[differentiable(crate = "differentiation_interface_core")]
fn with_parameters(
    x: &[f64],
    #[parameter] k: f64,
    #[parameter] a: &[f64],
    #[parameter] b: &[f64; 2],
    #[parameter] c: (f64, f64),
) -> f64 {
    let scaled: f64 = x.iter().zip(a).map(|(x, a)| a * x).sum();
    k * scaled + b[0] * x[1] + c.0.max(c.1)
}

#[differentiable(crate = "differentiation_interface_core")]
mod with_parameter {
    pub(crate) fn weighted(x: &[f64], #[parameter] weights: &[f64], #[constant] power: i32) -> f64 {
        x.iter().zip(weights).map(|(x, w)| weight(*w) * x.powi(power)).sum()
    }
    fn weight(w: f64) -> f64 {
        if w > 2.0 { 2.0 } else { w }
    }
}

#[differentiable(crate = "differentiation_interface_core")]
fn in_place_with(y: &mut [f64], x: &[f64], #[constant] k: f64, #[cache] w: &mut (Vec<f64>, Vec<f64>)) {
    w.0.clear();
    w.0.extend(x.iter().map(|v| v * k));
    y[0] = w.0.iter().sum();
    y[1] = k;
}

#[differentiable(crate = "differentiation_interface_core")]
fn taken_apart(&[a, mut b]: &[f64; 2]) -> f64 {
    b *= 2.0;
    a * b
}

struct Model {
    stiffness: f64,
    table: Vec<f64>,
}

#[differentiable(crate = "differentiation_interface_core")]
fn with_model(x: f64, #[constant] model: &Model, #[constant] name: &str) -> f64 {
    let mut s = model.stiffness;
    s += x * model.table[1];
    for m in &model.table {
        s += *m * x;
    }
    if name.is_empty() { 0.0 } else { s }
}

#[differentiable(crate = "differentiation_interface_core")]
fn rosenbrock<T: Real>(x: &[T]) -> T {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
}

/// Documented.
#[differentiable(Energy, crate = "differentiation_interface_core")]
fn float_energy<T>(x: &[T], #[constant] k: f64, #[cache] w: &mut Vec<T>) -> T
where
    T: Float + FromPrimitive + Sum,
{
    w.clear();
    w.extend(x.iter().map(|v| *v * *v));
    w.iter().copied().sum::<T>() * T::from_f64(k).unwrap()
}

differentiable_fn! {
    crate = "differentiation_interface_core";

    /// Rosenbrock's function of `argmin_testfunctions`, with the bounds it has there.
    pub(crate) fn Rosen<T: Float + FromPrimitive + Sum>(x: &[T]) -> T = argmin_testfunctions::rosenbrock;
    fn Ackley(x: &[f64]) -> f64 = argmin_testfunctions::ackley;
    fn Rastrigin(x: &[f64]) -> f64 = argmin_testfunctions::rastrigin;
    fn StyblinskiTang(x: &[f64]) -> f64 = argmin_testfunctions::styblinski_tang;
    fn Himmelblau(x: &[f64; 2]) -> f64 = argmin_testfunctions::himmelblau;
    fn Scaled(x: f64, #[constant] k: f64) -> f64 = lib_scaled;
    fn Filled(y: &mut [f64], x: &[f64]) -> () = lib_filled;
}

fn lib_scaled<T: Real>(x: T, k: f64) -> T {
    x * k
}

fn lib_filled<T: Copy>(y: &mut [T], x: &[T]) {
    y.fill(x[0]);
}

fn dual(value: f64, tangent: f64) -> D {
    Num(Dual { value, tangent })
}

fn parts(d: D) -> (f64, f64) {
    (d.0.value, d.0.tangent)
}

#[test]
fn points_and_outputs_of_every_shape() {
    assert_eq!(derivative(NumberToNumber, 3.0), (9.0, 6.0));
    assert_eq!(derivative(NumberToNumber, -3.0), (0.0, 0.0));
    assert_eq!(NumberToArray.call(&dual(3.0, 1.0)).map(parts), [(3.0, 1.0), (1.0, 0.0), (9.0, 6.0)]);
    assert_eq!(parts(ArrayToNumber.call(&seeded([2.0, 5.0], 0))), (10.0, 5.0));
    assert_eq!(ArrayByValue.call(&seeded([2.0, 5.0], 1)).map(parts), [(10.0, 2.0), (0.0, 0.0)]);
    assert_eq!(AnyLength.call(&seeded([1.0, 2.0, 3.0], 0)).map(parts), [(3.0, 0.0), (2.0, 0.0), (1.0, 1.0)]);
    assert_eq!(parts(TakenApart.call(&seeded([2.0, 5.0], 1))), (20.0, 4.0));
    let y: Vec<_> = VectorPoint.call(&seeded([1.0, 2.0], 1)[..]).into_iter().map(parts).collect();
    assert_eq!(y, [(1.0, 0.0), (2.0, 0.0), (4.0, 2.0)]);
    let (zeros, [[first, one]]) = NestedOutput.call(&seeded([7.0], 0)[..]);
    assert_eq!((parts(zeros[0]), parts(first), parts(one)), ((0.0, 0.0), (7.0, 1.0), (1.0, 0.0)));
}

#[test]
fn functions_that_write_their_output() {
    assert_eq!(column(Rotated, [3.0, 4.0], 0), [(-4.0, 0.0), (3.0, 1.0), (0.5, 0.0)]);
    assert_eq!(column(Rotated, [3.0, 4.0], 1), [(-4.0, -1.0), (3.0, 0.0), (0.5, 0.0)]);
    let mut y = [dual(0.0, 0.0); 4];
    PowersOf.call_in_place(&mut y, &dual(2.0, 1.0));
    assert_eq!(y.map(parts), [(1.0, 0.0), (2.0, 1.0), (4.0, 4.0), (8.0, 12.0)]);
}

#[test]
fn contexts_follow_the_point() {
    fn with_data<F: FunctionWith<[D], (Const<f64>, Const<[f64]>), Output = D>>(f: F) -> D {
        f.call_with(&seeded([2.0, 5.0], 0), (&10.0, &[1.0, 1.0]))
    }
    assert_eq!(parts(with_data(Fit)), (172.0, 20.0));
    assert_eq!(sum_of_squares(&[2.0, 5.0], 10.0, &[1.0, 1.0]), 172.0);

    let (mut w, mut t, mut s) = (vec![], [dual(f64::NAN, f64::NAN); 2], vec![dual(0.0, 0.0); 1]);
    let y = WithCache.call_with(&seeded([2.0, 5.0], 0), (&mut w, &mut t, &mut s));
    assert_eq!(parts(y), (11.5, 5.0));

    // A parameter has the number type of the function, here with tangents that show where each one goes.
    let (k, a, b) = (dual(2.0, 0.0), vec![dual(3.0, 0.0), dual(4.0, 0.0)], [dual(10.0, 100.0), dual(0.0, 0.0)]);
    let y = WithParameters.call_with(&seeded([2.0, 5.0], 0)[..], (&k, &a, &b, &(dual(1.0, 0.0), dual(7.0, 0.25))));
    assert_eq!(parts(y), (2.0 * 26.0 + 50.0 + 7.0, 6.0 + 500.0 + 0.25));
    let y = with_parameter::Weighted.call_with(&seeded([2.0, 5.0], 1)[..], (&vec![dual(3.0, 0.0), dual(1.0, 0.0)], &2));
    assert_eq!(parts(y), (2.0 * 4.0 + 25.0, 10.0));

    fn in_place<F>(f: F, y: &mut [D], w: &mut (Vec<D>, Vec<D>))
    where
        F: FunctionInPlaceWith<D, [D], (Const<f64>, Work<(Vec<D>, Vec<D>)>)>,
    {
        f.call_in_place_with(y, &seeded([2.0, 5.0], 0), (&3.0, w));
    }
    let mut y = [dual(0.0, 9.0); 2];
    in_place(InPlaceWith, &mut y, &mut (vec![], vec![]));
    assert_eq!(y.map(parts), [(21.0, 3.0), (3.0, 0.0)]);

    let model = Model { stiffness: 3.0, table: vec![1.0, 2.0] };
    assert_eq!(parts(WithModel.call_with(&dual(5.0, 1.0), (&model, "spring"))), (28.0, 5.0));
    assert_eq!(parts(WithModel.call_with(&dual(5.0, 1.0), (&model, ""))), (0.0, 0.0));
}

#[test]
fn generic_functions_keep_their_bounds() {
    check(Rosenbrock, [0.5, 2.0], 306.5, [-400.0 * 0.5 * 1.75 - 1.0, 350.0]);
    let y = Energy.call_with(&seeded([2.0, 5.0], 1), (&0.5, &mut vec![]));
    assert_eq!(parts(y), (14.5, 5.0));
    assert_eq!(Energy.call_with(&[2.0f32, 5.0][..], (&0.5, &mut vec![])), 14.5);
}

#[test]
fn functions_of_another_crate_are_lifted() {
    check(Rosen, [0.5, 2.0], 306.5, [-351.0, 350.0]);
    // 10 n + Σ xᵢ² - 10 cos(2π xᵢ)
    let tau = 2.0 * std::f64::consts::PI;
    let slope = |x: f64| 2.0 * x + 10.0 * tau * (tau * x).sin();
    check(Rastrigin, [0.25, 2.0], 20.0 + 0.0625 - 0.0 + 4.0 - 10.0, [slope(0.25), slope(2.0)]);
    // ½ Σ xᵢ⁴ - 16 xᵢ² + 5 xᵢ
    check(StyblinskiTang, [1.0, 2.0], 0.5 * (-10.0 - 38.0), [0.5 * (4.0 - 32.0 + 5.0), 0.5 * (32.0 - 64.0 + 5.0)]);
    let (a, b, n) = (20.0f64, 0.2f64, 2.0);
    let (x, y) = (1.5f64, -0.5f64);
    let r = ((x * x + y * y) / n).sqrt();
    let c = (((tau * x).cos() + (tau * y).cos()) / n).exp();
    let partial = |v: f64| a * b * (-b * r).exp() * v / (n * r) + c * tau * (tau * v).sin() / n;
    check(Ackley, [x, y], -a * (-b * r).exp() - c + a + 1f64.exp(), [partial(x), partial(y)]);
    // (x² + y - 11)² + (x + y² - 7)² at (1, 1)
    assert_eq!(parts(Himmelblau.call(&seeded([1.0, 1.0], 0))), (106.0, 2.0 * -9.0 * 2.0 + 2.0 * -5.0));
    assert_eq!(parts(Scaled.call_with(&dual(2.0, 1.0), (&3.0,))), (6.0, 3.0));
    assert_eq!(column(Filled, [4.0], 0), [(4.0, 1.0); 2]);
}

#[test]
fn objects_are_plain_values() {
    let object = Fit;
    let copy = object;
    assert_eq!(format!("{copy:?}"), "Fit");
    fn made<F: Default>(_: F) -> F {
        F::default()
    }
    let _ = (made(object), Rosen);
    close(f64::constant(2.0), 2.0);
}
