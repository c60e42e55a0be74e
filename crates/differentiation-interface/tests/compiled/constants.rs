//! Constants made of numbers are compared with those of the recordings: the function runs if they are new, and not otherwise.

use differentiation_interface::prelude::*;
use differentiation_interface_test::allocations;
use std::cell::Cell;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

fn called() {
    CALLS.set(CALLS.get() + 1);
}

/// Calls of the function in an action.
fn calls(action: impl FnOnce()) -> usize {
    let before = CALLS.get();
    action();
    CALLS.get() - before
}

/// Data as a plain number: Σ (k + 1) dₖ.
trait Weight {
    fn weight(&self) -> f64;
}
impl Weight for f64 {
    fn weight(&self) -> f64 {
        *self
    }
}
impl Weight for f32 {
    fn weight(&self) -> f64 {
        f64::from(*self)
    }
}
impl Weight for usize {
    fn weight(&self) -> f64 {
        *self as f64
    }
}
impl<W: Weight> Weight for [W] {
    fn weight(&self) -> f64 {
        self.iter().enumerate().map(|(k, d)| (k + 1) as f64 * d.weight()).sum()
    }
}
impl<W: Weight> Weight for Vec<W> {
    fn weight(&self) -> f64 {
        self[..].weight()
    }
}
impl<W: Weight, const K: usize> Weight for [W; K] {
    fn weight(&self) -> f64 {
        self[..].weight()
    }
}
impl<A: Weight, B: Weight> Weight for (A, B) {
    fn weight(&self) -> f64 {
        self.0.weight() + 10.0 * self.1.weight()
    }
}

/// w(k) x₀² x₁, whose gradient at (1, 2) is (4 w, w).
fn weighted<T: Real, K: Weight + ?Sized>(x: &[T], k: &K) -> T {
    called();
    x[0] * x[0] * x[1] * k.weight()
}

/// Checks that the function runs once for each of these constants and then no more.
fn check<K: Weight + ?Sized + 'static>(constants: &[&K]) {
    let f = |x: &[_], k: &K| weighted(x, k);
    let x = [1.0, 2.0];
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), (&x, Constant(constants[0]))).unwrap();
    let mut grad = [0.0; 2];
    let name = std::any::type_name::<K>();
    for round in 0..4 {
        for (i, k) in constants.iter().enumerate() {
            let count = calls(|| prepared.gradient_into(&mut grad, (&x, Constant(*k))).unwrap());
            assert_eq!(grad, [4.0 * k.weight(), k.weight()], "{name}, constant {i}");
            match round {
                // The first one is that of the preparation. The programs are made for more constants in these rounds.
                0 => assert_eq!(count, usize::from(i > 0), "{name}, constant {i}"),
                1 | 2 => assert!(count <= 1),
                _ => assert_eq!(count, 0, "{name}, constant {i}"),
            }
        }
    }
    // In the first of these rounds programs without the value are made.
    let mut allocated = [0; 2];
    for count in &mut allocated {
        let before = allocations();
        for k in constants.iter().cycle().take(80) {
            prepared.gradient_into(&mut grad, (&x, Constant(*k))).unwrap();
        }
        *count = allocations() - before;
    }
    assert_eq!(allocated[1], 0, "{name}, after {}", allocated[0]);
}

#[test]
fn the_function_runs_for_new_numbers_only() {
    check::<f64>(&[&1.0, &2.0, &-3.0]);
    check::<f32>(&[&1.0, &2.0]);
    check::<usize>(&[&1, &2, &7]);
    check::<[f64]>(&[&[1.0], &[1.0, 2.0], &[], &[3.0]]);
    check::<Vec<f64>>(&[&vec![1.0, 2.0], &vec![2.0], &vec![1.0, 3.0]]);
    check::<[f64; 3]>(&[&[1.0, 2.0, 3.0], &[1.0, 2.0, 4.0]]);
    check::<[usize; 2]>(&[&[1, 2], &[3, 4]]);
    check::<Vec<Vec<f64>>>(&[&vec![vec![1.0, 2.0], vec![3.0]], &vec![vec![1.0], vec![2.0, 3.0]], &vec![]]);
    check::<[[f64; 2]; 2]>(&[&[[1.0, 2.0], [3.0, 4.0]], &[[1.0, 2.0], [3.0, 5.0]]]);
    check::<Vec<[f64; 3]>>(&[&vec![[1.0; 3]; 4], &vec![[1.0; 3]; 5]]);
    check::<[Vec<f64>; 2]>(&[&[vec![1.0], vec![]], &[vec![], vec![1.0]]]);
    check::<(Vec<f64>, f64)>(&[&(vec![1.0], 2.0), &(vec![1.0, 2.0], 0.0)]);
}

#[test]
fn more_constants_than_are_kept_give_right_answers() {
    let f = |x: &[_], k: &f64| weighted(x, k);
    let x = [1.0, 2.0];
    let backend = AutoReverseDiff::compiled().with_most_recordings(2);
    let mut prepared = prepare_gradient(&f, &backend, (&x, Constant(&0.0))).unwrap();
    for k in [1.0, 2.0, 3.0, 2.0, 1.0, 0.0, 3.0, 3.0] {
        assert_eq!(prepared.gradient((&x, Constant(&k))).unwrap(), [4.0 * k, k]);
    }
    assert_eq!(calls(|| drop(prepared.gradient((&x, Constant(&3.0))).unwrap())), 0);
    assert_eq!(calls(|| drop(prepared.gradient((&x, Constant(&0.0))).unwrap())), 0);
    assert_eq!(calls(|| drop(prepared.gradient((&x, Constant(&1.0))).unwrap())), 1);
}

/// One recording for each path and constant, or one for all constants of a path: right with all of them.
#[test]
fn constants_and_paths_change_in_any_order() {
    // (k x)² or -k x.
    let f = |x: &[_], k: &f64| if x[0] > 1.0 { (x[0] * *k) * (x[0] * *k) } else { x[0] * -*k };
    for most in [1, 2, 8] {
        let backend = AutoReverseDiff::compiled().with_most_recordings(most);
        let mut prepared = prepare_gradient(&f, &backend, (&[3.0], Constant(&2.0))).unwrap();
        for (x, k) in [(0.5, 2.0), (3.0, 5.0), (0.5, 7.0), (3.0, 2.0), (0.5, 5.0), (3.0, 9.0), (3.0, 2.0), (0.5, 2.0)] {
            let slope = if x > 1.0 { 2.0 * k * k * x } else { -k };
            assert_eq!(prepared.gradient((&[x], Constant(&k))).unwrap(), [slope], "{x}, {k}, {most}");
        }
    }
}

#[test]
fn numbers_are_compared_by_bits() {
    // 2 x, or 3 x at a negative constant, which the sign of zero and of NaN decides.
    fn signed<T: Real>(x: &[T], k: &[f64; 1]) -> T {
        called();
        x[0] * if k[0].is_sign_negative() { 3.0 } else { 2.0 }
    }
    let f = |x: &[_], k: &[f64; 1]| signed(x, k);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), (&[1.0], Constant(&[0.0]))).unwrap();
    for round in 0..3 {
        for (k, slope) in [(0.0, 2.0), (-0.0, 3.0), (f64::NAN, 2.0), (-f64::NAN, 3.0), (f64::INFINITY, 2.0)] {
            let count = calls(|| assert_eq!(prepared.gradient((&[4.0], Constant(&[k]))).unwrap(), [slope]));
            assert!(round < 2 || count == 0, "{k}");
        }
    }
}

#[test]
fn a_kept_recording_follows_the_point() {
    // A branch on x and a constant, and a value of x that is read into plain code.
    fn step<T: Real>(x: &[T], k: &f64) -> T {
        called();
        let slope = if x[0] > *k { 3.0 } else { 5.0 };
        let cell = Scalar::primal(x[1].floor()) as usize;
        x[0] * slope + x[1] * [10.0, 20.0, 30.0][cell] * *k
    }
    let f = |x: &[_], k: &f64| step(x, k);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), (&[1.0, 0.5], Constant(&0.0))).unwrap();
    for _ in 0..3 {
        for k in [0.0, 2.0] {
            for x in [[1.0, 0.5], [3.0, 1.5], [1.5, 0.25], [3.5, 1.25]] {
                let expected = [if x[0] > k { 3.0 } else { 5.0 }, [10.0, 20.0][x[1] as usize] * k];
                assert_eq!(prepared.gradient((&x, Constant(&k))).unwrap(), expected, "x = {x:?}, k = {k}");
            }
        }
    }
    // The branch of the last point: no call there or nearby.
    let nearby = calls(|| assert_eq!(prepared.gradient((&[4.0, 1.25], Constant(&2.0))).unwrap(), [3.0, 40.0]));
    assert_eq!(nearby, 0);
}

#[test]
fn all_operators_compare_constants() {
    // k₀ x₀² x₁ + k₁ x₁³ at (1, 2): the gradient is (4 k₀, k₀ + 12 k₁), the Hessian [[4 k₀, 2 k₀], [2 k₀, 12 k₁]].
    fn f<T: Real>(x: &[T], k: &[f64]) -> T {
        called();
        x[0] * x[0] * x[1] * k[0] + x[1].powi(3) * k[1]
    }
    let (x, backend) = ([1.0, 2.0], AutoReverseDiff::compiled());
    let number = |x: &[_], k: &[f64]| f(x, k);
    let vector = |x: &[_], k: &[f64]| vec![f(x, k), x[0] * k[1]];
    let (first, second): (&[f64], &[f64]) = (&[1.0, 1.0], &[2.0, 3.0]);
    let mut hessian = prepare_hessian(&number, &backend, (&x, Constant(first))).unwrap();
    let mut hvp = prepare_hvp(&number, &backend, (&x, Constant(first)), [[1.0, 0.0]]).unwrap();
    let mut jacobian = prepare_jacobian(&vector, &backend, (&x, Constant(first))).unwrap();
    let mut pushforward = prepare_pushforward(&vector, &backend, (&x, Constant(first)), [[1.0, 0.0]]).unwrap();
    for round in 0..4 {
        for k in [first, second] {
            let count = calls(|| {
                let at = (&x, Constant(k));
                assert_eq!(hessian.hessian(at).unwrap(), [[4.0 * k[0], 2.0 * k[0]], [2.0 * k[0], 12.0 * k[1]]]);
                assert_eq!(hvp.hvp(at, [[1.0, 0.0]]).unwrap(), [[4.0 * k[0], 2.0 * k[0]]]);
                assert_eq!(jacobian.jacobian(at).unwrap(), [[4.0 * k[0], k[0] + 12.0 * k[1]], [k[1], 0.0]]);
                assert_eq!(pushforward.pushforward(at, [[1.0, 0.0]]).unwrap(), [[4.0 * k[0], k[1]]]);
            });
            assert!(round < 3 || count == 0, "{count} calls in round {round}");
        }
    }
}

/// A container of the user.
#[derive(Clone, Debug, Container)]
struct Data<T> {
    scale: T,
    values: Vec<T>,
}

/// Data of which the backend knows nothing.
struct Hidden {
    weight: Cell<f64>,
}

#[test]
fn containers_name_their_numbers_and_other_types_run_the_function() {
    let x = [1.0, 2.0];
    let f = |x: &[_], data: &Data<f64>| weighted(x, &(data.values.clone(), data.scale));
    let data = [Data { scale: 1.0, values: vec![1.0] }, Data { scale: 2.0, values: vec![3.0, 1.0] }];
    let backend = AutoReverseDiff::compiled();
    let mut prepared = prepare_gradient(&f, &backend, (&x, ConstantNumbers(&data[0]))).unwrap();
    for round in 0..4 {
        for (data, weight) in data.iter().zip([11.0, 25.0]) {
            let at = (&x, ConstantNumbers(data));
            let count = calls(|| assert_eq!(prepared.gradient(at).unwrap(), [4.0 * weight, weight]));
            assert!(round < 3 || count == 0);
        }
    }
    assert!(!prepared.report().runs_always);
    // The same type as a `Constant`: nothing is known of it.
    let mut prepared = prepare_gradient(&f, &backend, (&x, Constant(&data[0]))).unwrap();
    assert_eq!(calls(|| assert_eq!(prepared.gradient((&x, Constant(&data[0]))).unwrap(), [44.0, 11.0])), 1);
    assert!(prepared.report().runs_always);
    assert!(
        prepared.report().to_string().starts_with("the function ran 2 times, 1 recording kept; it runs in every call")
    );

    let long = ConstantNumbers(&[1.0; 777]);
    let f = |x: &[_], data: &[f64; 777]| weighted(x, &data[..2]);
    let mut prepared = prepare_gradient(&f, &backend, (&x, long)).unwrap();
    assert_eq!(calls(|| assert_eq!(prepared.gradient((&x, long)).unwrap(), [12.0, 3.0])), 0);

    let f = |x: &[_], data: &Hidden| weighted(x, &data.weight.get());
    let hidden = Hidden { weight: Cell::new(1.0) };
    let mut prepared = prepare_gradient(&f, &backend, (&x, Constant(&hidden))).unwrap();
    for weight in [1.0, 2.0, 2.0, 5.0] {
        hidden.weight.set(weight);
        let at = (&x, Constant(&hidden));
        assert_eq!(calls(|| assert_eq!(prepared.gradient(at).unwrap(), [4.0 * weight, weight])), 1);
    }
}

#[test]
fn constants_beside_parameters_and_caches() {
    // Σ p k xᵢ², by work memory.
    fn f<T: Real>(x: &[T], k: &f64, p: &T, work: &mut [T]) -> T {
        called();
        for (w, x) in work.iter_mut().zip(x) {
            *w = *x * *x * *p * *k;
        }
        work.iter().copied().sum()
    }
    let g = |x: &[_], k: &f64, p: &_, work: &mut Vec<_>| f(x, k, p, work);
    let x = [1.0, 2.0];
    let work = vec![0.0; 2];
    let mut prepared =
        prepare_gradient(&g, &AutoReverseDiff::compiled(), (&x, Constant(&1.0), Parameter(&1.0), Cache(&work)));
    let prepared = prepared.as_mut().unwrap();
    for round in 0..4 {
        for (k, p) in [(1.0, 1.0), (1.0, 5.0), (3.0, 2.0), (-2.0, 2.0)] {
            let at = (&x, Constant(&k), Parameter(&p), Cache(&work));
            let count = calls(|| assert_eq!(prepared.gradient(at).unwrap(), [2.0 * k * p, 4.0 * k * p]));
            assert!(round < 3 || count == 0);
            assert!(k != 1.0 || round > 0 || count == 0, "a parameter changes without a call");
        }
    }
}

#[test]
fn programs_read_the_sign_of_nan() {
    // The slope depends on the sign of x₀ or of a parameter, which zeros and NaN have too.
    fn signed<T: Real>(x: &[T], k: &[T; 1]) -> T {
        let slope = if x[0].is_sign_negative() { 3.0 } else { 2.0 };
        let factor = if k[0].primal().is_sign_negative() { 7.0 } else { 1.0 };
        x[1] * slope * factor
    }
    let nan = f64::NAN.copysign(1.0);
    let (f, g) = (|x: &[_], k: &[_; 1]| signed(x, k), |x: &[_], k: &[_; 1]| signed(x, k));
    let signs = [(0.0, 0.0), (-0.0, nan), (nan, nan), (-nan, nan), (nan, -nan), (-nan, -nan), (1.0, -nan)];
    for backend in [AutoReverseDiff::default(), AutoReverseDiff::default().recording_from(1)] {
        let mut prepared = prepare_gradient(&f, &backend, (&[1.0, 1.0], Parameter(&[1.0]))).unwrap();
        let mut compiled =
            prepare_gradient(&g, &AutoReverseDiff::compiled(), (&[1.0, 1.0], Parameter(&[1.0]))).unwrap();
        for _ in 0..3 {
            for (x, k) in signs {
                let slope = if x.is_sign_negative() { 3.0 } else { 2.0 } * if k.is_sign_negative() { 7.0 } else { 1.0 };
                for _ in 0..60 {
                    let found = prepared.gradient((&[x, 1.0], Parameter(&[k]))).unwrap();
                    assert_eq!(found, [0.0, slope], "{x:?} {k:?}");
                }
                assert_eq!(compiled.gradient((&[x, 1.0], Parameter(&[k]))).unwrap(), [0.0, slope], "{x:?} {k:?}");
            }
        }
    }
}
