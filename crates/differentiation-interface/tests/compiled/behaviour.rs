//! What is special about compiled recordings: when they are made anew, and what runs in place of the function.

use compiled_trace::{GuardFailed, RunError};
use differentiation_interface::custom::{CustomRule, Halves};
use differentiation_interface::prelude::*;
use differentiation_interface_test::{allocated_bytes, allocations};
use std::cell::Cell;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Allocations and calls of the function in an action.
fn costs(action: impl FnOnce()) -> (usize, usize) {
    let before = (allocations(), CALLS.get());
    action();
    (allocations() - before.0, CALLS.get() - before.1)
}

fn called() {
    CALLS.set(CALLS.get() + 1);
}

/// Σ (c₀ xᵢ - cᵢ)².
fn fit<T: Real>(x: &[T], c: &[f64]) -> T {
    called();
    x.iter().zip(c).map(|(x, c_i)| (*x * c[0] - *c_i).powi(2)).sum()
}

fn fit_gradient(x: &[f64], c: &[f64]) -> Vec<f64> {
    x.iter().zip(c).map(|(x, c_i)| 2.0 * c[0] * (x * c[0] - c_i)).collect()
}

#[test]
fn constants_become_parameters_where_they_change() {
    let x: Vec<f64> = (0..40).map(|i| 0.5 + 0.25 * i as f64).collect();
    // Not a type whose numbers are compared.
    struct Data(Vec<f64>);
    // Many constants are equal at first, so that they are one constant of the recording.
    let mut c = Data(vec![2.0; 40]);
    let f = |x: &[_], c: &Data| fit(x, &c.0);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), (&x, Constant(&c))).unwrap();
    let mut grad = vec![0.0; 40];
    for round in 0..6 {
        let (allocations, calls) = costs(|| prepared.gradient_into(&mut grad, (&x, Constant(&c))).unwrap());
        let c = &mut c.0;
        assert_eq!(grad, fit_gradient(&x, c), "round {round}");
        assert_eq!(calls, 1, "the function is run to be compared");
        // Round 0 has the constants of the preparation, the next two meet changes at new places.
        assert!(allocations == 0 || (1..3).contains(&round), "{allocations} allocations in round {round}");
        match round {
            0 => c[3] = 1.0,
            1 => c[7] = -4.0,
            _ => c.iter_mut().enumerate().for_each(|(i, c)| *c = 1.0 + (round * i % 7) as f64),
        }
    }
}

#[test]
fn constants_that_change_what_is_done_lead_to_another_recording() {
    // Σ over the first `count` entries of x^p, or of its negative.
    fn chosen<T: Real>(x: &[T], (count, power, negative): &(usize, f64, bool)) -> T {
        called();
        let sum: T = x.iter().take(*count).map(|x| x.powf(T::constant(*power))).sum();
        if *negative { -sum } else { sum }
    }
    let f = |x: &[_], k: &(usize, f64, bool)| chosen(x, k);
    let x = [1.0, 2.0, 3.0];
    let first = (3, 2.0, false);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), (&x, Constant(&first))).unwrap();
    let cases = [
        (first, [2.0, 4.0, 6.0]),
        ((2, 2.0, false), [2.0, 4.0, 0.0]),
        ((2, 3.0, true), [-3.0, -12.0, 0.0]),
        ((0, 3.0, true), [0.0; 3]),
    ];
    for round in 0..3 {
        for (k, expected) in &cases {
            let mut grad = [0.0; 3];
            let (allocations, _) = costs(|| prepared.gradient_into(&mut grad, (&x, Constant(k))).unwrap());
            assert_eq!(grad, *expected, "{k:?}");
            // All four recordings are kept.
            assert!(round == 0 || allocations == 0, "{allocations} allocations for {k:?} in round {round}");
        }
    }
}

/// A branch on x and a constant, which is also what escapes into a table.
#[test]
fn constants_and_branches_together() {
    fn step<T: Real>(x: &[T], k: &f64) -> T {
        let slope = if x[0] > *k { 3.0 } else { 5.0 };
        let table = [10.0, 20.0, 30.0];
        let cell = Scalar::primal(x[1].floor()) as usize;
        x[0] * slope + x[1] * table[cell] * *k
    }
    let f = |x: &[_], k: &f64| step(x, k);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), (&[1.0, 0.5], Constant(&0.0))).unwrap();
    for k in [-1.0, 0.0, 2.0, 7.0] {
        for x in [[1.0, 0.5], [3.0, 1.5], [-2.0, 2.5], [8.0, 0.0]] {
            let expected = [if x[0] > k { 3.0 } else { 5.0 }, [10.0, 20.0, 30.0][x[1] as usize] * k];
            assert_eq!(prepared.gradient((&x, Constant(&k))).unwrap(), expected, "x = {x:?}, k = {k}");
        }
    }
}

/// Gradients of small programs take a way of their own: it must see other branches, parameters and lengths as well, leave the
/// value, and cost nothing but the program.
#[test]
fn small_gradients_notice_what_other_calls_do() {
    fn bent<T: Real>(x: &[T], k: T) -> T {
        called();
        if x[0] > 0.0 { k * x[0] * x[1] } else { x[1] - k * x[0] * x[0] }
    }
    let f = |x: &[_], k: &_| bent(x, *k);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), (&[1.0, 2.0], Parameter(&3.0))).unwrap();
    let check = |prepared: &mut PreparedGradient<_, _, _, _>, [x, y]: [f64; 2], k: f64| {
        let mut grad = [f64::NAN; 2];
        let costs = costs(|| {
            let value = prepared.value_and_gradient_into(&mut grad, (&[x, y], Parameter(&k))).unwrap();
            assert_eq!(value, if x > 0.0 { k * x * y } else { y - k * x * x });
        });
        assert_eq!(grad, if x > 0.0 { [k * y, k * x] } else { [-2.0 * k * x, 1.0] });
        costs
    };
    assert_eq!(check(&mut prepared, [2.0, 5.0], 7.0), (0, 0), "another parameter");
    assert_eq!(check(&mut prepared, [-2.0, 5.0], 7.0).1, 1, "another branch");
    for round in 0..4 {
        let x = if round % 2 == 0 { 0.5 } else { -0.5 };
        check(&mut prepared, [x, 1.0], 2.0);
        assert_eq!(check(&mut prepared, [x, -1.5], -3.0), (0, 0), "both branches are known in round {round}");
    }
    let mut copy = prepared.clone();
    check(&mut copy, [3.0, 1.0], 1.0);
    let mut grad = [0.0; 3];
    let error = copy.gradient_into(&mut grad, (&[1.0, 2.0], Parameter(&1.0))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BufferLength { expected: 2, found: 3 });
    let error = copy.gradient_into(&mut grad, (&[1.0, 2.0, 3.0], Parameter(&1.0))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreparedLength { prepared: 2, found: 3 });
    check(&mut copy, [-1.0, 4.0], 2.0);
    assert_eq!(copy.gradient((&[1.0, 4.0], Parameter(&2.0))).unwrap(), [8.0, 2.0]);
    copy.prepare_again((&[1.0, 2.0, 3.0], Parameter(&2.0))).unwrap();
    copy.gradient_into(&mut grad, (&[1.0, 4.0, 9.0], Parameter(&2.0))).unwrap();
    assert_eq!(grad, [8.0, 2.0, 0.0]);
    copy.gradient_into(&mut grad, (&[1.0, 5.0, 9.0], Parameter(&2.0))).unwrap();
    assert_eq!(grad, [10.0, 2.0, 0.0]);

    fn product<T: Real<f32>>(x: &[T]) -> T {
        x[0] * x[1] * 2.0
    }
    let mut prepared = prepare_gradient(&product, &AutoReverseDiff::compiled(), &[1.0_f32, 2.0]).unwrap();
    for _ in 0..2 {
        assert_eq!(prepared.value_and_gradient(&[0.5_f32, 3.0]).unwrap(), (3.0, vec![6.0, 1.0]));
    }
}

/// Programs over `f32` take parameters that are read as `f64`.
#[test]
fn singles_take_parameters_in_all_operators() {
    fn f<T: Real<f32>>(x: &[T], weights: &[T]) -> T {
        x.iter().zip(weights).map(|(x, w)| *x * *x * *x * *w).sum()
    }
    let (x, v) = ([1.0_f32, -2.0, 0.5], [1.0_f32, 3.0, -1.0]);
    let weights: Vec<[f32; 3]> = (0..40).map(|call| [call as f32, 2.0, -0.5]).collect();
    let backend = AutoReverseDiff::compiled();
    let first = weights[0];
    let of = |weights| (&x[..], weights);
    let (f1, f2) = (|x: &[_], w: &Vec<_>| f(x, w), |x: &[_], w: &Vec<_>| f(x, w));
    let (f3, f4) = (|x: &[_], w: &Vec<_>| f(x, w), |x: &[_], w: &Vec<_>| f(x, w));
    let mut gradients = prepare_gradient(&f1, &backend, of(Parameter(&first[..]))).unwrap();
    let mut products = prepare_hvp(&f2, &backend, of(Parameter(&first[..])), [&v[..]]).unwrap();
    let mut forward = prepare_pushforward(&f3, &backend, of(Parameter(&first[..])), [&v[..]]).unwrap();
    let mut matrices = prepare_hessian(&f4, &backend, of(Parameter(&first[..]))).unwrap();
    let (mut grad, mut clone) = ([0.0; 3], gradients.clone());
    for prepared in [&mut gradients, &mut clone] {
        let (count, _) = costs(|| prepared.gradient_into(&mut grad, of(Parameter(&first[..]))).unwrap());
        assert_eq!(count, 0, "in the first call");
    }
    for w in &weights {
        let parameter = || Parameter(&w[..]);
        let grad: Vec<f32> = (0..3).map(|i| 3.0 * x[i] * x[i] * w[i]).collect();
        assert_eq!(gradients.gradient(of(parameter())).unwrap(), grad);
        let hess: Vec<f32> = (0..3).map(|i| 6.0 * x[i] * w[i]).collect();
        assert_eq!(
            products.hvp(of(parameter()), [&v[..]]).unwrap()[0],
            [hess[0] * v[0], hess[1] * v[1], hess[2] * v[2]]
        );
        assert_eq!(
            forward.pushforward(of(parameter()), [&v[..]]).unwrap(),
            [(0..3).map(|i| grad[i] * v[i]).sum::<f32>()]
        );
        let matrix = matrices.hessian(of(parameter())).unwrap();
        assert!((0..3).all(|i| (0..3).all(|j| matrix[(i, j)] == if i == j { hess[i] } else { 0.0 })), "{matrix:?}");
    }
}

/// A comparison that depends on the rounding of a sum, which the program adds in another order.
#[test]
fn recordings_that_fail_their_own_guards_serve_the_call_they_were_made_in() {
    let x: Vec<f64> = (0..1000).map(|i| 1.0 / (i + 3) as f64).collect();
    let bound: f64 = x.iter().sum();
    fn scaled<T: Real>(x: &[T], bound: f64) -> T {
        let sum: T = x.iter().copied().sum();
        if sum == bound { sum * 5.0 } else { sum * 2.0 }
    }
    let f = |x: &[_]| scaled(x, bound);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), &x).unwrap();
    for _ in 0..3 {
        assert!(prepared.gradient(&x).unwrap().iter().all(|g| *g == 5.0));
    }
    let mut other = x.clone();
    other[17] += 1.0;
    assert!(prepared.gradient(&other).unwrap().iter().all(|g| *g == 2.0));
    let held = prepare_pullback_same_point(&f, &AutoReverseDiff::compiled(), &x, [1.0]);
    assert!(held.unwrap().pullback([3.0]).unwrap()[0].iter().all(|g| *g == 15.0));
}

#[test]
fn such_recordings_do_not_push_others_out() {
    let x: Vec<f64> = (0..1000).map(|i| 1.0 / (i + 3) as f64).collect();
    let bound: f64 = x.iter().sum();
    fn scaled<T: Real>(x: &[T], bound: f64) -> T {
        called();
        let sum: T = x[..x.len() - 1].iter().copied().sum();
        match x[x.len() - 1] > 0.0 {
            true if sum == bound => sum * 5.0,
            true => sum * 2.0,
            false => sum * 7.0,
        }
    }
    let f = |x: &[_]| scaled(x, bound);
    let tie = [&x[..], &[1.0]].concat();
    let below = [&x[..], &[-1.0]].concat();
    let backend = AutoReverseDiff::compiled().with_most_recordings(2);
    let mut prepared = prepare_gradient(&f, &backend, &below).unwrap();
    for _ in 0..3 {
        assert_eq!(prepared.gradient(&tie).unwrap()[0], 5.0);
    }
    let (_, calls) = costs(|| assert_eq!(prepared.gradient(&below).unwrap()[0], 7.0));
    assert_eq!(calls, 0, "the first recording is there");
}

/// Hessian of Rosenbrock's function, tridiagonal.
fn rosenbrock<T: Real>(x: &[T]) -> T {
    called();
    x.windows(2).map(|w| (w[1] - w[0] * w[0]).powi(2) * 100.0 + (-w[0] + 1.0).powi(2)).sum()
}

#[test]
fn in_second_order_the_program_of_the_gradient_is_differentiated() {
    let n = 15;
    let x: Vec<f64> = (0..n).map(|i| 0.1 * i as f64 - 0.4).collect();
    let mut expected = Matrix::filled(n, n, 0.0);
    for i in 0..n - 1 {
        expected[(i, i)] += 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0;
        expected[(i + 1, i + 1)] += 200.0;
        expected[(i, i + 1)] -= 400.0 * x[i];
        expected[(i + 1, i)] -= 400.0 * x[i];
    }
    let f = |x: &[_]| rosenbrock(x);
    macro_rules! check {
        ($backend:expr) => {{
            let backend = $backend;
            let mut prepared = prepare_hessian(&f, &backend, &vec![0.3; n]).unwrap();
            let mut hess = Matrix::filled(n, n, 0.0);
            assert_eq!(costs(|| prepared.hessian_into(&mut hess, &x).unwrap()), (0, 0), "{backend:?}");
            for (found, expected) in hess.as_slice().iter().zip(expected.as_slice()) {
                assert!((found - expected).abs() <= 1e-12 * 1200.0, "{backend:?}: {found} and {expected}");
            }
        }};
    }
    let compiled = AutoReverseDiff::compiled();
    check!(compiled);
    check!(SecondOrder(AutoForwardDiff::default(), compiled));
    check!(SecondOrder(AutoReverseDiff::default(), compiled));
}

/// The gradient program on dual numbers: twelve lanes, in three times four; one lane; a chunk that four does not divide.
#[test]
fn on_dual_numbers_the_pushforward_of_a_program_runs() {
    let f = |x: &[_]| rosenbrock(x);
    let x: Vec<f64> = (0..15).map(|i| 0.1 * i as f64 - 0.4).collect();
    let expected = hessian(&f, &AutoReverseDiff::default(), &x).unwrap();
    fn gradient_of<T: Real>(x: &[T]) -> Vec<T> {
        gradient(&|x: &[_]| rosenbrock(x), &AutoReverseDiff::compiled(), x).unwrap()
    }
    macro_rules! check {
        ($backend:expr) => {{
            let found = jacobian(&|x: &[_]| gradient_of(x), &$backend, &x).unwrap();
            for (found, expected) in found.as_slice().iter().zip(expected.as_slice()) {
                assert!((found - expected).abs() <= 1e-12 * 1200.0, "{:?}: {found} and {expected}", $backend);
            }
        }};
    }
    check!(AutoForwardDiff::default());
    check!(AutoForwardDiff::with_chunk::<1>());
    check!(AutoForwardDiff::with_chunk::<6>());
    check!(AutoReverseDiff::default());
}

/// A cotangent that depends on the outer variable is differentiated too: d/dx (x · f'(x)) with f = x³.
#[test]
fn seeds_with_tangents_are_differentiated() {
    fn outer<T: Real>(x: T) -> T {
        let backend = AutoReverseDiff::compiled();
        let cube = |y: &[_; 1]| [y[0] * y[0] * y[0]];
        pullback(&cube, &backend, [x], [&[x]]).unwrap()[0][0]
    }
    // x · 3 x² has the derivative 9 x².
    assert_eq!(derivative(&outer, &AutoForwardDiff::default(), 2.0).unwrap(), 36.0);
    assert_eq!(derivative(&outer, &AutoReverseDiff::default(), 2.0).unwrap(), 36.0);
}

#[test]
fn preparing_again_sees_what_a_closure_captured() {
    let factor = Cell::new(2.0);
    let backend = AutoReverseDiff::compiled();
    let f = |x: &[_]| x[0] * x[0] * factor.get();
    let mut prepared = prepare_gradient(&f, &backend, &[0.0]).unwrap();
    assert_eq!(prepared.gradient(&[3.0]), Ok(vec![12.0]));
    factor.set(5.0);
    // As documented: captured state is taken to be constant until the preparation is made again.
    assert_eq!(prepared.gradient(&[3.0]), Ok(vec![12.0]));
    prepared.prepare_again(&[0.0]).unwrap();
    assert_eq!(prepared.gradient(&[3.0]), Ok(vec![30.0]));

    let f = |x: &[_]| vec![x[0] * factor.get()];
    let mut prepared = prepare_jacobian(&f, &backend, &[0.0]).unwrap();
    factor.set(7.0);
    prepared.prepare_again(&[0.0]).unwrap();
    assert_eq!(prepared.jacobian(&[3.0]).unwrap().as_slice(), [7.0]);
    let mut forward = prepare_pushforward(&f, &backend, &[0.0], [&[1.0]]).unwrap();
    let mut reverse = prepare_pullback(&f, &backend, &[0.0], [&[1.0]]).unwrap();
    factor.set(9.0);
    assert_eq!(forward.pushforward(&[3.0], [&[1.0]]).unwrap(), [[7.0]]);
    forward.prepare_again(&[0.0], [&[1.0]]).unwrap();
    reverse.prepare_again(&[0.0], [&[1.0]]).unwrap();
    assert_eq!(forward.pushforward(&[3.0], [&[1.0]]).unwrap(), [[9.0]]);
    assert_eq!(reverse.pullback(&[3.0], [&[1.0]]).unwrap(), [[9.0]]);
    let f = |x: &[_]| x[0] * x[0] * factor.get();
    let mut product = prepare_hvp(&f, &backend, &[0.0], [&[1.0]]).unwrap();
    let mut matrix = prepare_hessian(&f, &backend, &[0.0]).unwrap();
    factor.set(11.0);
    product.prepare_again(&[0.0], [&[1.0]]).unwrap();
    matrix.prepare_again(&[0.0]).unwrap();
    assert_eq!(product.hvp(&[3.0], [&[1.0]]).unwrap(), [[22.0]]);
    assert_eq!(matrix.hessian(&[3.0]).unwrap().as_slice(), [22.0]);
}

#[test]
fn another_branch_that_is_refused_is_named() {
    let backend = AutoReverseDiff::compiled().refusing_other_branches();
    let f = |x: &[_]| if x[0] > 1.0 { x[0] * x[0] } else { x[0] * (-1.0) };
    let mut prepared = prepare_gradient(&f, &backend, &[2.0]).unwrap();
    let error = prepared.gradient(&[0.5]).unwrap_err();
    let ErrorKind::OtherBranch { place: Some(place) } = error.kind() else { panic!("{error}") };
    let text = format!(
        "gradient with compiled_reverse_diff: the function takes a different branch at {place} than in its \
         recording; prepare again at this point, or drop `refusing_other_branches()`"
    );
    assert_eq!(error.to_string(), text);
    prepared.prepare_again(&[0.5]).unwrap();
    assert_eq!(prepared.gradient(&[0.25]), Ok(vec![-1.0]));

    // Where constants may change, doing anything else is another branch.
    let f = |x: &[_], count: &usize, bound: &f64| {
        let sum = x[..*count].iter().fold(x[0], |a, b| a + *b * *bound);
        if sum > *bound { sum * 2.0 } else { sum }
    };
    let mut prepared = prepare_gradient(&f, &backend, (&[2.0, 1.0], Constant(&2), Constant(&3.0))).unwrap();
    assert_eq!(prepared.gradient((&[2.0, 1.0], Constant(&2), Constant(&4.0))), Ok(vec![10.0, 8.0]));
    let error = prepared.gradient((&[-2.0, 1.0], Constant(&2), Constant(&4.0))).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::OtherBranch { place: Some(place) } if place.file().ends_with(file!())),
        "{error}"
    );
    let error = prepared.gradient((&[2.0, 1.0], Constant(&1), Constant(&4.0))).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OtherBranch { .. }), "{error}");
    assert_eq!(prepared.gradient((&[2.0, 1.0], Constant(&2), Constant(&5.0))), Ok(vec![12.0, 10.0]));

    // The place of a guard can be unknown.
    let unknown = Error::from(RunError::Guard(GuardFailed { place: None }));
    assert_eq!(unknown.kind(), ErrorKind::OtherBranch { place: None });
    assert_eq!(
        unknown.to_string(),
        "differentiation: the function takes a different branch than in its recording, perhaps because a constant has changed; \
         prepare again at this point, or drop `refusing_other_branches()`"
    );
}

#[test]
fn a_memory_limit_ends_in_an_error() {
    let backend: AnyBackend = "ReverseDiff(compile=true, memory_limit=240)".parse().unwrap();
    let product = |x: &[_]| x.iter().fold(x[0], |a, b| a * *b);
    assert_eq!(gradient(&product, &backend, &[2.0, 3.0]), Ok(vec![12.0, 4.0]));
    let error = gradient(&product, &backend, &[1.0; 20]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TapeOverflow);
    assert_eq!(
        error.to_string(),
        "gradient with any: the function recorded more operations than the tape or the memory limit allows; split the \
         function, raise the limit or use a forward backend"
    );
}

/// Σ x², as a rule that counts its calls.
struct Squares;

impl CustomRule for Squares {
    const NAME: &'static str = "squares";
    const GIVEN: Halves = Halves::Pullback;
    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        called();
        y.clear();
        y.push(x.iter().map(|x| x * x).sum());
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        called();
        dx.iter_mut().zip(x).for_each(|(dx, x)| *dx = (*x + *x) * dy[0]);
    }
    fn operations<S: Scalar<Base = f64>>(&self, x: &[S], y: &mut Vec<S>) -> bool {
        y.push(x.iter().fold(S::default(), |sum, x| sum + *x * *x));
        true
    }
}

#[test]
fn rules_that_are_made_of_operations_are_not_called() {
    fn f<T: Real>(x: &[T]) -> T {
        Custom::new(Squares).number(x).sqrt() * x[0]
    }
    let x = [3.0_f64, 4.0];
    // r = 5: r + x₀²/r, x₀ x₁/r.
    let expected: [f64; 2] = [5.0 + 9.0 / 5.0, 12.0 / 5.0];
    let (_, calls) = costs(|| {
        let mut prepared = prepare_gradient(&|x: &[_]| f(x), &AutoReverseDiff::compiled(), &x).unwrap();
        let grad = prepared.gradient(&x).unwrap();
        assert!(grad.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-15), "{grad:?}");
        // The rows of the Hessian: (3 x₀/r - x₀³/r³, x₁/r - x₀² x₁/r³), (the same, x₀/r - x₀ x₁²/r³).
        let hess = hessian(&|x: &[_]| f(x), &AutoReverseDiff::compiled(), &x).unwrap();
        let expected: [[f64; 2]; 2] = [[1.8 - 0.216, 0.8 - 0.288], [0.8 - 0.288, 0.6 - 0.384]];
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert!((hess[(i, j)] - expected[i][j]).abs() < 1e-14, "{hess:?}");
        }
    });
    assert_eq!(calls, 0);
    let (grad, calls) = {
        let before = CALLS.get();
        (gradient(&|x: &[_]| f(x), &AutoReverseDiff::tape(), &x).unwrap(), CALLS.get() - before)
    };
    assert!(grad.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-15), "{grad:?}");
    assert_eq!(calls, 2, "the value and the pullback");
}

/// Machine code or not, a large function goes up: its program is a loop.
#[test]
fn the_memory_of_a_large_tape_is_freed_when_a_program_takes_over() {
    let x = vec![0.5; 60_000];
    fn waves<T: Real>(x: &[T]) -> T {
        x.iter().map(|x| *x * x.sin()).sum()
    }
    let f = |x: &[_]| waves(x);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), &x).unwrap();
    let mut grad = vec![0.0; x.len()];
    // A copy has all memory that is in use.
    let mut kept = |calls: usize| {
        (0..calls).for_each(|_| prepared.gradient_into(&mut grad, &x).unwrap());
        let before = allocated_bytes();
        drop(prepared.clone());
        (allocated_bytes() - before, prepared.report().by_program)
    };
    let (by_tape, none) = kept(1);
    let (by_program, some) = kept(60);
    assert_eq!(none, 0);
    assert!(some > 0);
    // Two entries of 24 bytes and two adjoints per input on the tape; a program has an output per input.
    assert!(by_tape >= 60_000 * 60 && by_program <= 60_000 * 30, "{by_tape} bytes, then {by_program}");
    let slope = 0.5f64.sin() + 0.5 * 0.5f64.cos();
    assert!(grad.iter().all(|found| (found - slope).abs() < 1e-15));
}

/// The chapter on functions warns of it: the adjoint of a divisor may be too small where the derivative is not.
#[test]
fn the_adjoint_of_a_divisor_may_vanish() {
    fn quotient<T: Real>(x: &[T]) -> T {
        x[0] / (x[0] * x[0] + 1.0) + x[1]
    }
    // The derivative by x₀ is -1/v².
    let times_square = |v: f64, grad: Vec<f64>| (grad[0] * v * v).round();
    let by_program = |v: f64| gradient(&|x: &[_]| quotient(x), &AutoReverseDiff::compiled(), &[v, 0.0]).unwrap();
    let by_tape = |v: f64| gradient(&|x: &[_]| quotient(x), &AutoReverseDiff::tape(), &[v, 0.0]).unwrap();
    let forward = |v: f64| gradient(&|x: &[_]| quotient(x), &AutoForwardDiff::default(), &[v, 0.0]).unwrap();
    assert_eq!([1e105, 1e110].map(|v| times_square(v, by_program(v))), [-1.0, 1.0]);
    assert_eq!([1e105, 1e110].map(|v| times_square(v, by_tape(v))), [-1.0, -1.0]);
    assert_eq!([1e105, 1e110].map(|v| times_square(v, forward(v))), [-1.0, -1.0]);
}

/// The chapter on performance warns of these: state behind a lock is not seen, and overflow on the way has other results by the tape than by a program.
#[test]
fn what_the_engine_that_chooses_does_not_see() {
    let factor = std::sync::Mutex::new(1.0);
    let f = |x: &[_]| x[0] * x[0] * *factor.lock().unwrap();
    let (mut chosen, mut tape) = (
        prepare_gradient(&f, &AutoReverseDiff::default(), &[3.0]).unwrap(),
        prepare_gradient(&f, &AutoReverseDiff::tape(), &[3.0]).unwrap(),
    );
    for _ in 0..100 {
        assert_eq!((chosen.gradient(&[3.0]).unwrap(), tape.gradient(&[3.0]).unwrap()), (vec![6.0], vec![6.0]));
    }
    *factor.lock().unwrap() = 2.0;
    // Without machine code it stays with the tape.
    let has_code =
        cfg!(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", any(unix, windows)))));
    let kept = if has_code { 6.0 } else { 12.0 };
    assert_eq!((chosen.gradient(&[3.0]).unwrap(), tape.gradient(&[3.0]).unwrap()), (vec![kept], vec![12.0]));
    fn magnitude<T: Real>(x: &[T]) -> T {
        (x[0] * x[0]).sqrt()
    }
    assert!(gradient(&|x: &[_]| magnitude(x), &AutoReverseDiff::tape(), &[1e308_f64, 1.0]).unwrap()[0].is_nan());
    assert_eq!(gradient(&|x: &[_]| magnitude(x), &AutoReverseDiff::compiled(), &[1e308_f64, 1.0]).unwrap(), [0.0, 0.0]);
    // The program for one number propagates a tangent.
    assert!(gradient(&|x: &[_]| magnitude(x), &AutoReverseDiff::compiled(), &[1e308_f64]).unwrap()[0].is_nan());
    // Of x y + z, the product overflows and the sum does not.
    fn fused<T: Real>(x: &[T]) -> T {
        num_traits::Float::mul_add(x[0], x[1], x[2])
    }
    let x = [1e308, -1.9875, 1e308];
    let by_tape = value_and_gradient(&|x: &[_]| fused(x), &AutoReverseDiff::tape(), &x).unwrap();
    assert_eq!(by_tape, (fused(&x), vec![-1.9875, 1e308, 1.0]));
    let by_program = value_and_gradient(&|x: &[_]| fused(x), &AutoReverseDiff::compiled(), &x).unwrap();
    assert_eq!(by_program, (f64::NEG_INFINITY, vec![-1.9875, 1e308, 1.0]));
}

/// Functions whose derivative is infinite, or not determined, before one whose derivative is zero.
#[test]
fn a_zero_after_an_infinite_derivative_is_no_derivative() {
    fn root_squared<T: Real>(x: &[T]) -> T {
        x[0].sqrt().powi(2) + x[1]
    }
    fn power_squared<T: Real>(x: &[T]) -> T {
        let power = x[0].powf(x[1] + 0.5);
        power * power
    }
    fn length_squared<T: Real>(x: &[T]) -> T {
        x[0].hypot(x[1]).powi(2)
    }
    fn angle_times_zero<T: Real>(x: &[T]) -> T {
        x[0].atan2(x[1]) * x[0]
    }
    /// The book names this one.
    fn sum_squared<T: Real>(x: &[T]) -> T {
        (x[0].sqrt() + x[1]).powi(2)
    }
    let x: [f64; 2] = [0.0, 0.0];
    macro_rules! first_entries {
        ($($f:ident)*) => {[$((stringify!($f), [
            gradient(&|x: &[_]| $f(x), &AutoForwardDiff::default(), &x).unwrap()[0],
            gradient(&|x: &[_]| $f(x), &AutoReverseDiff::compiled(), &x).unwrap()[0],
            gradient(&|x: &[_]| $f(x), &AutoReverseDiff::tape(), &x).unwrap()[0],
        ])),*]};
    }
    for (name, entries) in first_entries!(root_squared power_squared) {
        assert!(entries.iter().all(|entry| entry.is_nan()), "{name}: {entries:?}");
    }
    let [(_, [forward, program, tape])] = first_entries!(sum_squared);
    assert!(forward.is_nan() && program.is_nan() && tape == 0.0, "{forward}, {program}, {tape}");
    // `hypot` and `atan2` have the derivative zero at zero.
    for (name, entries) in first_entries!(length_squared angle_times_zero) {
        assert_eq!(entries, [0.0; 3], "{name}");
    }
    // Without a zero after it, the derivative is what it is, and another output is not touched.
    fn beside<T: Real>(x: &[T]) -> [T; 2] {
        [x[0].powf(x[1] + 0.5), x[0] + 3.0 * x[1]]
    }
    for jac in [
        jacobian(&|x: &[_]| beside(x), &AutoForwardDiff::default(), &x).unwrap(),
        jacobian(&|x: &[_]| beside(x), &AutoReverseDiff::tape(), &x).unwrap(),
        jacobian(&|x: &[_]| beside(x), &AutoReverseDiff::compiled(), &x).unwrap(),
    ] {
        assert_eq!(jac, [[f64::INFINITY, 0.0], [1.0, 3.0]]);
    }
}
