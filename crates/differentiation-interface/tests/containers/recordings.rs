//! Points of several shapes by turns, whose recordings have the same operations and other constants, beside contexts that are compared.

use differentiation_interface::prelude::*;

type Pair<T> = (Vec<T>, Vec<T>);

/// 2 c Σ aᵢ² + 3 c Σ bᵢ²: the coefficients follow from the shape.
fn weighed<T: Real>((a, b): &Pair<T>, c: f64) -> T {
    let mut sum = T::zero();
    a.iter().for_each(|v| sum += 2.0 * c * *v * *v);
    b.iter().for_each(|v| sum += 3.0 * c * *v * *v);
    sum
}

fn pair(first: usize, second: usize) -> Pair<f64> {
    (vec![0.5; first], vec![0.5; second])
}

fn gradient_of(x: &Pair<f64>, c: f64) -> Pair<f64> {
    (vec![2.0 * c; x.0.len()], vec![3.0 * c; x.1.len()])
}

#[test]
fn constants_that_are_known_belong_to_one_shape() {
    let backends = [AutoReverseDiff::default(), AutoReverseDiff::default().recording_from(1)];
    let shapes = [(60, 1), (1, 60), (30, 31), (60, 1), (1, 60)].map(|(first, second)| pair(first, second));
    for backend in backends {
        let f = |x: &Pair<_>, c: &f64| weighed(x, *c);
        let mut prepared = prepare_gradient(&f, &backend, (&shapes[0], Constant(&1.0))).unwrap();
        for (x, c, calls) in
            [(0, 2.0, 48), (0, 3.0, 8), (0, 2.0, 9), (1, 1.0, 8), (0, 1.0, 1), (2, 2.0, 8), (1, 2.0, 2)]
        {
            for _ in 0..calls {
                let x = &shapes[x];
                assert_eq!(prepared.gradient((x, Constant(&c))).unwrap(), gradient_of(x, c));
            }
        }
    }
    let backend = AutoReverseDiff::compiled();
    let f = |x: &Pair<_>, c: &f64| weighed(x, *c);
    let mut gradients = prepare_gradient(&f, &backend, (&shapes[0], Constant(&1.0))).unwrap();
    let f = |x: &Pair<_>, c: &f64| weighed(x, *c);
    let mut hessians = prepare_hessian(&f, &backend, (&shapes[0], Constant(&1.0))).unwrap();
    let f = |x: &Pair<_>, c: &f64| weighed(x, *c);
    let products = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::compiled());
    let mut products = prepare_hvp(&f, &products, (&shapes[0], Constant(&1.0)), [&shapes[0]]).unwrap();
    for c in [1.0, 1.0, 2.0, 1.0] {
        for x in &shapes {
            let expected = gradient_of(x, c);
            assert_eq!(gradients.gradient((x, Constant(&c))).unwrap(), expected);
            // The gradient is linear, and the tangent is the point.
            let [product] = products.hvp((x, Constant(&c)), [x]).unwrap();
            assert_eq!(product, expected);
            let hess = hessians.hessian((x, Constant(&c))).unwrap();
            assert!((0..61).all(|i| hess[(i, i)] == 2.0 * to_flat(&expected)[i]), "{c}: {:?}", (x.0.len(), x.1.len()));
        }
    }
}

/// The same for a parameter of two shapes, and for an enum with a field that is no number.
#[test]
fn constants_that_are_known_belong_to_one_shape_of_a_parameter_and_one_variant() {
    #[derive(Clone, Debug, PartialEq, Container)]
    enum Kind<T = f64> {
        Double(T),
        Triple(T),
    }
    #[derive(Clone, Debug, PartialEq, Container)]
    struct Named<T = f64> {
        kind: Kind<T>,
        #[constant]
        shift: i32,
    }
    fn value<T: Real>(x: &Named<T>) -> T {
        match x.kind {
            Kind::Double(v) => 2.0 * v * v,
            Kind::Triple(v) => 3.0 * v * v,
        }
    }
    for first in [0, 1] {
        let backend = AutoReverseDiff::compiled();
        let f = |x: &[_], p: &Pair<_>, c: &f64| x[0] * weighed(p, *c);
        let shapes = [pair(1, 2), pair(2, 1)];
        let x = [1.0];
        let mut prepared = prepare_gradient(&f, &backend, (&x, Parameter(&shapes[first]), Constant(&1.0))).unwrap();
        for k in [0, 1, 0, 1] {
            let found = prepared.gradient((&x, Parameter(&shapes[k]), Constant(&1.0))).unwrap();
            assert_eq!(found, [[2.0, 1.75][k]]);
        }
        let f = |x: &Named<_>| value(x);
        let named = [Kind::Double(0.5), Kind::Triple(0.5)].map(|kind| Named { kind, shift: 0 });
        let mut prepared = prepare_gradient(&f, &backend, &named[first]).unwrap();
        for k in [0, 1, 0, 1] {
            let grad = prepared.gradient(&named[k]).unwrap();
            let kind = [Kind::Double(2.0), Kind::Triple(3.0)][k].clone();
            assert_eq!(grad, Named { kind, shift: 0 });
        }
    }
}
