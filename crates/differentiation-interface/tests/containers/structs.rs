//! Structs with `#[derive(Container)]`, tuples, enums.

use differentiation_interface::prelude::*;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Container)]
struct Layer<T = f64> {
    weights: Vec<T>,
    bias: T,
}

#[derive(Clone, Debug, PartialEq, Container)]
struct Params<T = f64> {
    layers: Vec<Layer<T>>,
    scale: T,
    shift: Option<[T; 2]>,
    #[constant]
    name: String,
}

fn params() -> Params {
    Params {
        layers: vec![Layer { weights: vec![1.0, -2.0], bias: 0.5 }, Layer { weights: vec![3.0], bias: -1.5 }],
        scale: 2.0,
        shift: Some([0.25, 4.0]),
        name: "two".into(),
    }
}

/// scale · Σ (bias + Σ w²) + shift₀ · shift₁, doubled if the name is "two".
fn loss<T: Real>(p: &Params<T>) -> T {
    let mut sum = T::zero();
    for layer in &p.layers {
        sum += layer.bias + layer.weights.iter().map(|w| w * w).sum::<T>();
    }
    let shift = p.shift.map_or(T::zero(), |[a, b]| a * b);
    let value = p.scale * sum + shift;
    if p.name == "two" { value * 2.0 } else { value }
}

/// The gradient of `loss` at `params()`, by hand.
fn expected() -> Params {
    Params {
        layers: vec![Layer { weights: vec![8.0, -16.0], bias: 4.0 }, Layer { weights: vec![24.0], bias: 4.0 }],
        scale: 2.0 * (0.5 + 5.0 - 1.5 + 9.0),
        shift: Some([8.0, 0.5]),
        name: "two".into(),
    }
}

#[test]
fn gradient_of_a_struct_is_a_struct() {
    every_engine!(backend => {
        let f = |p: &Params<_>| loss(p);
        assert_eq!(gradient(&f, &backend, &params()).unwrap(), expected());
        let (y, grad) = value_and_gradient(&f, &backend, &params()).unwrap();
        assert_eq!((y, grad), (54.0, expected()));
        let mut grad = params();
        gradient_into(&f, &mut grad, &backend, &params()).unwrap();
        assert_eq!(grad, expected());
        let mut flat = vec![0.0; 8];
        gradient_into(&f, &mut flat, &backend, &params()).unwrap();
        assert_eq!(flat, to_flat(&expected()));
    });
}

#[test]
fn a_prepared_gradient_follows_shape_and_constants_of_each_call() {
    every_engine!(backend => {
        let f = |p: &Params<_>| loss(p);
        let mut prepared = prepare_gradient(&f, &backend, &params()).unwrap();
        assert_eq!(prepared.gradient(&params()).unwrap(), expected());
        let mut other = params();
        other.name = "one".into();
        let half = from_flat(&other, &to_flat(&expected()).iter().map(|v| v / 2.0).collect::<Vec<_>>()).unwrap();
        assert_eq!(prepared.gradient(&other).unwrap(), half);
        // The same number of numbers in another shape: [w, w, b][w, b] becomes [w, b][w, w, b].
        let moved = Params {
            layers: vec![
                Layer { weights: vec![1.0], bias: 0.5 },
                Layer { weights: vec![3.0, -2.0], bias: -1.5 },
            ],
            ..params()
        };
        let grad = prepared.gradient(&moved).unwrap();
        assert_eq!(grad.layers[0], Layer { weights: vec![8.0], bias: 4.0 });
        assert_eq!(grad.layers[1], Layer { weights: vec![24.0, -16.0], bias: 4.0 });
        let error = prepared.gradient(&Params { shift: None, ..params() }).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::PreparedLength { .. }), "{error}");
        assert_eq!(prepared.gradient(&params()).unwrap(), expected());
    });
}

#[test]
fn a_preparation_of_a_struct_has_a_name() {
    struct Loss;
    impl<T: Real> Function<Params<T>> for Loss {
        type Output = T;
        fn call(&self, p: &Params<T>) -> T {
            loss(p)
        }
    }
    struct Fit {
        grad: PreparedGradient<Arc<Loss>, AutoReverseDiff, Whole<Params>>,
    }
    let mut fit = Fit { grad: prepare_gradient(Arc::new(Loss), &AutoReverseDiff::default(), &params()).unwrap() };
    assert_eq!(fit.grad.gradient(&params()).unwrap(), expected());
}

#[test]
fn hessian_blocks_have_names() {
    let f = |p: &Params<_>| loss(p);
    let hess = hessian(&f, &AutoForwardDiff::default(), &params()).unwrap();
    let layout = Layout::of(&params());
    let block = layout.block(&hess, "layers[0].weights", "scale").unwrap();
    // ∂²/∂w∂scale = 2 · 2w.
    assert_eq!(block, [[4.0], [-8.0]]);
    assert_eq!(layout.block(&hess, "shift", "shift").unwrap(), [[0.0, 2.0], [2.0, 0.0]]);
    let error = layout.block(&hess, "layers[2]", "scale").unwrap_err().to_string();
    assert!(error.contains("no part `layers[2]`") && error.contains("`layers[1].bias`"), "{error}");
}

#[test]
fn products_have_the_shape_of_the_struct() {
    every_engine!(backend => {
        let f = |p: &Params<_>| loss(p);
        let direction = from_flat(&params(), &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]).unwrap();
        let [dy] = pushforward(&f, &backend, &params(), [&direction]).unwrap();
        assert_eq!(dy, 8.0 + 26.0);
        let f = |p: &Params<_>| loss(p);
        let [dx] = pullback(&f, &backend, &params(), [1.0]).unwrap();
        assert_eq!(dx, expected());
    });
    let f = |p: &Params<_>| loss(p);
    let direction = from_flat(&params(), &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]).unwrap();
    let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let (grad, [hv]) = gradient_and_hvp(&f, &pair, &params(), [&direction]).unwrap();
    assert_eq!(grad, expected());
    // H·v with v = e_w0 + e_scale: w0: 2·(2·scale + 2·w0), w1: 2·2·w1, biases 2, scale 2·2·w0.
    assert_eq!(hv.layers[0], Layer { weights: vec![12.0, -8.0], bias: 2.0 });
    assert_eq!(hv.layers[1], Layer { weights: vec![12.0], bias: 2.0 });
    assert_eq!((hv.scale, hv.shift), (4.0, Some([0.0, 0.0])));
}

/// A curve whose output is a struct, and a map from struct to struct.
#[derive(Clone, Debug, PartialEq, Container)]
struct Pose<T = f64> {
    at: [T; 2],
    angle: T,
}

#[test]
fn outputs_are_structs_too() {
    every_engine!(backend => {
        let curve = |t: _| turn(t);
        assert_eq!(derivative(&curve, &backend, 2.0).unwrap(), Pose { at: [4.0, 0.0], angle: 3.0 });
        let (y, der) = value_and_derivative(&curve, &backend, 2.0).unwrap();
        assert_eq!((y, der), (Pose { at: [4.0, 1.0], angle: 6.0 }, Pose { at: [4.0, 0.0], angle: 3.0 }));
        let double = |p: &Pose<_>| doubled(p);
        let pose = Pose { at: [1.0, 2.0], angle: 3.0 };
        let (y, jac) = value_and_jacobian(&double, &backend, &pose).unwrap();
        assert_eq!(y, Pose { at: [2.0, 2.0], angle: 9.0 });
        assert_eq!(jac, [[2.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 6.0]]);
        let mut prepared = prepare_jacobian(&double, &backend, &pose).unwrap();
        let mut out = Matrix::filled(3, 3, 0.0);
        let y = prepared.value_and_jacobian_into(&mut out, &pose).unwrap();
        assert_eq!((y, out), (Pose { at: [2.0, 2.0], angle: 9.0 }, jac));
    });
    fn turn<T: Real>(t: T) -> Pose<T> {
        Pose { at: [t * t, T::one()], angle: t * 3.0 }
    }
    fn doubled<T: Real>(p: &Pose<T>) -> Pose<T> {
        Pose { at: [p.at[0] * 2.0, p.at[0] * p.at[1]], angle: p.angle * p.angle }
    }
}

#[test]
fn pullback_takes_a_struct_as_cotangent() {
    fn doubled<T: Real>(p: &Pose<T>) -> Pose<T> {
        Pose { at: [p.at[0] * 2.0, p.at[0] * p.at[1]], angle: p.angle * p.angle }
    }
    every_engine!(backend => {
        let f = |p: &Pose<_>| doubled(p);
        let pose = Pose { at: [1.0, 2.0], angle: 3.0 };
        let seed = Pose { at: [1.0, 10.0], angle: 100.0 };
        let (y, [dx]) = value_and_pullback(&f, &backend, &pose, [&seed]).unwrap();
        assert_eq!(y, Pose { at: [2.0, 2.0], angle: 9.0 });
        assert_eq!(dx, Pose { at: [22.0, 10.0], angle: 600.0 });
    });
}

#[derive(Clone, Debug, PartialEq, Container)]
enum Kernel<T = f64> {
    Constant(T),
    Power {
        scale: T,
        exponent: T,
        #[constant]
        shift: f64,
    },
}

#[test]
fn an_enum_is_differentiated_as_its_variant() {
    fn at_two<T: Real>(k: &Kernel<T>) -> T {
        match k {
            Kernel::Constant(c) => *c * 5.0,
            Kernel::Power { scale, exponent, shift } => *scale * (exponent * (2.0 + shift).ln()).exp(),
        }
    }
    every_engine!(backend => {
        let f = |k: &Kernel<_>| at_two(k);
        assert_eq!(gradient(&f, &backend, &Kernel::Constant(1.0)).unwrap(), Kernel::Constant(5.0));
        let Kernel::Power { scale, exponent, shift } =
            gradient(&f, &backend, &Kernel::Power { scale: 3.0_f64, exponent: 2.0, shift: 1.0 }).unwrap()
        else {
            panic!("another variant came out");
        };
        assert!((scale - 9.0).abs() < 1e-13 && (exponent - 27.0 * 3.0f64.ln()).abs() < 1e-13 && shift == 1.0);
    });
}

#[test]
fn tuples_are_points_with_contexts_behind_them() {
    fn weighted<T: Real>((a, m): &(Vec<T>, [T; 2]), k: f64) -> T {
        a.iter().map(|v| v * v).sum::<T>() * m[0] + m[1] * k
    }
    every_engine!(backend => {
        let f = |p: &(Vec<_>, [_; 2]), k: &f64| weighted(p, *k);
        let point = (vec![1.0, 2.0, 3.0], [2.0, 5.0]);
        let grad = gradient(&f, &backend, (&point, Constant(&7.0))).unwrap();
        assert_eq!(grad, (vec![4.0, 8.0, 12.0], [14.0, 7.0]));
    });
}

#[test]
fn sparse_hessians_of_structs() {
    struct Loss;
    impl<T: Real> Function<Params<T>> for Loss {
        type Output = T;
        fn call(&self, p: &Params<T>) -> T {
            loss(p)
        }
    }
    let dense = hessian(&Loss, &AutoForwardDiff::default(), &params()).unwrap();
    let backend = AutoSparse::new(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()));
    let sparse = hessian(&Loss, &backend, &params()).unwrap();
    assert_eq!(sparse.to_dense(), dense);
}

#[test]
fn empty_containers_and_constant_functions() {
    every_engine!(backend => {
        let f = |p: &(Vec<_>, Vec<_>)| p.0.first().copied().unwrap_or_default() * 0.0;
        let none: (Vec<f64>, Vec<f64>) = (vec![], vec![]);
        assert_eq!(gradient(&f, &backend, &none).unwrap(), none);
        let one: (Vec<f64>, Vec<f64>) = (vec![3.0], vec![]);
        let grad = gradient(&f, &backend, &one).unwrap();
        assert_eq!(grad, (vec![0.0], vec![]));
    });
}

#[test]
fn prepared_operators_evaluate_the_function_alone() {
    fn doubled<T: Real>(p: &Pose<T>) -> Pose<T> {
        Pose { at: [p.at[0] * 2.0, p.at[0] * p.at[1]], angle: p.angle * p.angle }
    }
    let pose = Pose { at: [1.0, 2.0], angle: 3.0 };
    let image = Pose { at: [2.0, 2.0], angle: 9.0 };
    every_engine!(backend => {
        let f = |p: &Params<_>| loss(p);
        let mut prepared = prepare_gradient(&f, &backend, &params()).unwrap();
        let other = Params { scale: 0.0, ..params() };
        assert_eq!((prepared.value(&params()).unwrap(), prepared.value(&other).unwrap()), (54.0, 2.0));
        assert_eq!(prepared.gradient(&params()).unwrap(), expected());
        let f = |p: &Pose<_>| doubled(p);
        assert_eq!(prepare_jacobian(&f, &backend, &pose).unwrap().value(&pose).unwrap(), image);
        let f = |p: &Pose<_>| doubled(p);
        assert_eq!(prepare_pushforward(&f, &backend, &pose, [&pose]).unwrap().value(&pose).unwrap(), image);
        let f = |p: &Pose<_>| doubled(p);
        assert_eq!(prepare_pullback(&f, &backend, &pose, [&pose]).unwrap().value(&pose).unwrap(), image);
        let f = |t: _| t * t;
        assert_eq!(prepare_derivative(&f, &backend, 3.0).unwrap().value(4.0).unwrap(), 16.0);
        let f = |t: _| t * t;
        assert_eq!(prepare_second_derivative(&f, &backend, 3.0).unwrap().value(4.0).unwrap(), 16.0);
        let f = |p: &Params<_>| loss(p);
        assert_eq!(prepare_hessian(&f, &backend, &params()).unwrap().value(&other).unwrap(), 2.0);
        let f = |p: &Params<_>| loss(p);
        assert_eq!(prepare_hvp(&f, &backend, &params(), [&params()]).unwrap().value(&other).unwrap(), 2.0);
    });
    #[differentiable]
    fn squares(x: &[f64]) -> Vec<f64> {
        x.iter().map(|v| v * v).collect()
    }
    let mut sparse = prepare_jacobian(&Squares, &AutoSparse::new(AutoForwardDiff::default()), &[1.0, 2.0]).unwrap();
    assert_eq!(sparse.value(&[3.0, 4.0]).unwrap(), [9.0, 16.0]);
}

#[test]
fn several_arguments_are_a_point() {
    /// shift₀ · Σ a² + k · shift₁ · scale
    fn model<T: Real>(a: &[T], shift: &[T; 2], scale: T, k: f64) -> T {
        a.iter().map(|v| v * v).sum::<T>() * shift[0] + shift[1] * scale * k
    }
    let (a, shift, scale) = (vec![1.0, 2.0], [3.0, 4.0], 5.0);
    every_engine!(backend => {
        let f = |a: &[_], shift: &[_; 2], scale: &_, k: &f64| model(a, shift, *scale, *k);
        let point = (Points((&a, &shift, &scale)), Constant(&10.0));
        let (y, grad) = value_and_gradient(&f, &backend, point).unwrap();
        assert_eq!((y, grad), (215.0, (vec![6.0, 12.0], [5.0, 50.0], 40.0)));
        let f = |a: &[_], shift: &[_; 2]| model(a, shift, shift[0], 1.0);
        let mut prepared = prepare_gradient(&f, &backend, Points((&a, &shift))).unwrap();
        for _ in 0..3 {
            assert_eq!(prepared.gradient(Points((&a, &shift))).unwrap(), (vec![6.0, 12.0], [9.0, 3.0]));
        }
        // A shorter vector and the same number of numbers in all would be another shape; here it is another length.
        let error = prepared.gradient(Points((&vec![1.0], &shift))).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::PreparedLength { .. }));
    });
    let f = |a: &[_], shift: &[_; 2]| model(a, shift, shift[0], 1.0);
    let hess = hessian(&f, &AutoForwardDiff::default(), Points((&a, &shift))).unwrap();
    assert_eq!(hess, [[6.0, 0.0, 2.0, 0.0], [0.0, 6.0, 4.0, 0.0], [2.0, 4.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]);
    let f = |a: &[_], pose: &Pose<_>| a[0] * pose.angle + pose.at[1];
    let pose = Pose { at: [1.0, 2.0], angle: 3.0 };
    let grad = gradient(&f, &AutoReverseDiff::default(), Points((&a, &pose))).unwrap();
    assert_eq!(grad, (vec![3.0, 0.0], Pose { at: [0.0, 1.0], angle: 1.0 }));
}

#[test]
fn in_place_functions_take_structs() {
    fn sums<T: Real>(y: &mut [T], p: &Pose<T>, k: f64) {
        y[0] = p.at[0] + p.at[1];
        y[1] = p.angle * p.angle * k;
    }
    let pose = Pose { at: [1.0, 2.0], angle: 3.0 };
    every_engine!(backend => {
        let f = in_place(|y: &mut [_], p: &Pose<_>| sums(y, p, 1.0), 2);
        assert_eq!(jacobian(&f, &backend, &pose).unwrap(), [[1.0, 1.0, 0.0], [0.0, 0.0, 6.0]]);
        let f = in_place(|y: &mut [_], p: &Pose<_>, k: &f64| sums(y, p, *k), 2);
        let jac = jacobian(&f, &backend, (&pose, Constant(&2.0))).unwrap();
        assert_eq!(jac, [[1.0, 1.0, 0.0], [0.0, 0.0, 12.0]]);
    });
}

#[test]
fn a_mask_freezes_numbers() {
    every_engine!(backend => {
        let f = |p: &Params<_>| loss(p);
        // Only the first weight, the second bias and the shift are free.
        let free = [true, false, false, false, true, false, true, true];
        let mut expected = expected();
        (expected.layers[0].weights[1], expected.layers[0].bias) = (0.0, 0.0);
        (expected.layers[1].weights[0], expected.scale) = (0.0, 0.0);
        let point = params();
        let mut prepared = prepare_gradient(&f, &backend, Masked(&point, &free)).unwrap();
        assert_eq!(prepared.gradient(Masked(&point, &free)).unwrap(), expected);
        // Another value of a frozen number counts.
        let other = Params { scale: 4.0, ..params() };
        assert_eq!(prepared.gradient(Masked(&other, &free)).unwrap().layers[0].weights[0], 16.0);
        let error = prepared.gradient(Masked(&point, &[true, false, false, false, false, false, false, false])).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::PreparedLength { prepared: 4, found: 1 }));
        let longer = [&free[..], &[false]].concat();
        for mask in [&free[..7], &longer[..]] {
            let kind = ErrorKind::MaskLength { expected: 8, found: mask.len() };
            assert_eq!(prepare_gradient(&f, &backend, Masked(&point, mask)).map(drop).unwrap_err().kind(), kind);
            assert_eq!(gradient(&f, &backend, Masked(&point, mask)).unwrap_err().kind(), kind);
            assert_eq!(prepared.gradient(Masked(&point, mask)).unwrap_err().kind(), kind);
        }
        assert_eq!(prepared.gradient(Masked(&point, &free)).unwrap(), expected);
        let f = |x: &[_]| x[0] * x[1] * x[1] + x[2];
        let x = vec![2.0, 3.0, 4.0];
        let hess = hessian(&f, &AutoForwardDiff::default(), Masked(&x, &[false, true, true])).unwrap();
        assert_eq!(hess, [[4.0, 0.0], [0.0, 0.0]]);
    });
}

#[test]
fn parameters_and_caches_are_containers() {
    fn scaled<T: Real>(x: &[T], pose: &Pose<T>, k: &[T], work: &mut (Vec<T>, T)) -> T {
        work.0[0] = x[0] * pose.angle;
        work.1 += work.0[0] * k[1];
        work.1 + pose.at[0] * x[1]
    }
    let pose = Pose { at: [2.0, 0.0], angle: 3.0 };
    let (x, k, work) = (vec![1.0, 1.0], vec![0.0, 5.0], (vec![0.0], 0.0));
    every_engine!(backend => {
        let f = |x: &[_], pose: &Pose<_>, k: &Vec<_>, work: &mut (Vec<_>, _)| scaled(x, pose, k, work);
        let contexts = (&x, Parameter(&pose), Parameter(&k), Cache(&work));
        let mut prepared = prepare_gradient(&f, &backend, contexts).unwrap();
        assert_eq!(prepared.gradient(contexts).unwrap(), [15.0, 2.0]);
        // A slice where a `Vec` was prepared, and other values.
        let other = Pose { at: [7.0, 0.0], angle: 10.0 };
        let grad = prepared.gradient((&x[..], Parameter(&other), Parameter(&k[..]), Cache(&work))).unwrap();
        assert_eq!(grad, [50.0, 7.0]);
    });
}

#[derive(Clone, Debug, PartialEq, Container)]
struct Keywords<T = f64> {
    r#type: T,
    r#loop: [T; 2],
}

#[test]
fn fields_may_be_raw_identifiers() {
    let x = Keywords { r#type: 2.0, r#loop: [3.0, 5.0] };
    let f = |x: &Keywords<_>| x.r#type * x.r#loop[1];
    let grad = gradient(&f, &AutoForwardDiff::default(), &x).unwrap();
    assert_eq!(grad, Keywords { r#type: 5.0, r#loop: [0.0, 2.0] });
}

/// Points of the plane, and lists of lists of unequal length.
#[test]
fn lists_of_arrays_and_of_lists_are_points() {
    fn length<T: Real>(path: &[[T; 2]]) -> T {
        path.windows(2).map(|w| (w[1][0] - w[0][0]).powi(2) + (w[1][1] - w[0][1]).powi(2)).sum()
    }
    fn squares<T: Real>(rows: &[Vec<T>]) -> T {
        rows.iter().flatten().map(|v| *v * *v).sum()
    }
    let path = vec![[0.0, 1.0], [2.0, 4.0], [3.0, 3.0]];
    every_engine!(backend => {
        let f = |path: &Vec<[_; 2]>| length(path);
        assert_eq!(gradient(&f, &backend, &path).unwrap(), [[-4.0, -6.0], [2.0, 8.0], [2.0, -2.0]]);
        let mut prepared = prepare_gradient(&f, &backend, &path).unwrap();
        assert!(matches!(prepared.gradient(&path[1..].to_vec()).unwrap_err().kind(), ErrorKind::PreparedLength { .. }));
        let mut grad = vec![[0.0; 2]; 3];
        prepared.gradient_into(&mut grad, &path).unwrap();
        assert_eq!(grad[1], [2.0, 8.0]);
        let f = |path: &Vec<[_; 2]>| length(path);
        let pushed = pushforward(&f, &backend, &path, [&vec![[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]]).unwrap();
        assert_eq!(pushed, [4.0]);
        let f = |rows: &Vec<Vec<_>>| squares(rows);
        let rows = vec![vec![1.0, 2.0], vec![], vec![3.0]];
        assert_eq!(gradient(&f, &backend, &rows).unwrap(), [vec![2.0, 4.0], vec![], vec![6.0]]);
    });
    let empty: Vec<[f64; 2]> = Vec::new();
    let f = |path: &Vec<[_; 2]>| length(path);
    assert_eq!(gradient(&f, &AutoForwardDiff::default(), &empty).unwrap(), empty);
    let error = from_flat(&path, &[1.0; 5]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NumberCount { expected: 6, found: 5 }, "{error}");
    // A list of structs stands in a tuple.
    fn weights<T: Real>((layers,): &(Vec<Layer<T>>,)) -> T {
        layers.iter().map(|layer| layer.bias * layer.bias * layer.weights[0]).sum()
    }
    let layers = (vec![Layer { weights: vec![3.0], bias: 2.0 }, Layer { weights: vec![1.0], bias: 5.0 }],);
    let f = |layers: &(Vec<Layer<_>>,)| weights(layers);
    let (grad,) = gradient(&f, &AutoReverseDiff::default(), &layers).unwrap();
    assert_eq!(grad[1], Layer { weights: vec![25.0], bias: 10.0 });
}

/// A tree of numbers, whose shape is part of the recording.
#[test]
fn recursive_types_are_containers() {
    #[derive(Clone, Debug, PartialEq, Container)]
    enum Tree<T = f64> {
        Leaf(T),
        Sum(Vec<Tree<T>>),
        Product(Vec<Tree<T>>),
    }
    fn value<T: Real>(tree: &Tree<T>) -> T {
        match tree {
            Tree::Leaf(x) => *x * *x,
            Tree::Sum(all) => all.iter().map(value).sum(),
            Tree::Product(all) => all.iter().map(value).product(),
        }
    }
    let leaves = || vec![Tree::Leaf(2.0), Tree::Sum(vec![Tree::Leaf(3.0), Tree::Leaf(1.0)])];
    let sum = |x: f64, y: f64, z: f64| vec![Tree::Leaf(x), Tree::Sum(vec![Tree::Leaf(y), Tree::Leaf(z)])];
    every_engine!(backend => {
        let f = |tree: &Tree<_>| value(tree);
        let mut prepared = prepare_gradient(&f, &backend, &Tree::Product(leaves())).unwrap();
        for _ in 0..2 {
            assert_eq!(prepared.gradient(&Tree::Product(leaves())).unwrap(), Tree::Product(sum(40.0, 24.0, 8.0)));
            assert_eq!(prepared.gradient(&Tree::Sum(leaves())).unwrap(), Tree::Sum(sum(4.0, 6.0, 2.0)));
        }
        assert_eq!(to_flat(&Tree::Sum(leaves())), [2.0, 3.0, 1.0]);
    });
}
