//! Custom rules in every setting: arrays with a pushforward, a pullback or both, plain rules, rules of one and two numbers;
//! how often each part is called, and what is refused.

use crate::support;

use crate::pairs::{assert_near, each_exact_pair, each_pair};
use crate::support::{each_engine, each_exact_engine};
use differentiation_interface::prelude::*;
use differentiation_interface::rules::{Binary, Partial, Unary};
use differentiation_interface::scalar::Base;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls of the three parts of a rule.
#[derive(Default)]
struct Calls([AtomicUsize; 3]);

impl Calls {
    fn add(&self, part: usize) {
        self.0[part].fetch_add(1, Ordering::Relaxed);
    }
    /// Value, pushforward and pullback since the last time.
    fn take(&self) -> [usize; 3] {
        self.0.each_ref().map(|count| count.swap(0, Ordering::Relaxed))
    }
}

/// (a b, sin a + b²) of (a, b), with the derivatives that `GIVEN` says.
struct Pair<const GIVEN: u8>(Arc<Calls>);

const PUSH: u8 = 1;
const PULL: u8 = 2;
const BOTH: u8 = 3;

impl<const GIVEN: u8> CustomRule for Pair<GIVEN> {
    const NAME: &'static str = "pair";
    const GIVEN: Halves = match GIVEN {
        PUSH => Halves::Pushforward,
        PULL => Halves::Pullback,
        _ => Halves::Both,
    };

    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        self.0.add(0);
        y.clear();
        y.extend([x[0] * x[1], x[0].sin() + x[1] * x[1]]);
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        assert!(GIVEN & PUSH != 0, "not given");
        self.0.add(1);
        dy[0] = dx[0] * x[1] + x[0] * dx[1];
        dy[1] = differentiation_interface::rules::cos(x[0]) * dx[0] + (x[1] + x[1]) * dx[1];
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        assert!(GIVEN & PULL != 0, "not given");
        self.0.add(2);
        dx[0] = x[1] * dy[0] + differentiation_interface::rules::cos(x[0]) * dy[1];
        dx[1] = x[0] * dy[0] + (x[1] + x[1]) * dy[1];
    }
}

fn pair_in_plain_code<T: Real>(x: &[T]) -> [T; 2] {
    [x[0] * x[1], x[0].sin() + x[1] * x[1]]
}
/// What surrounds the rule: x₀ y₀ + exp(y₁ / 4) x₂.
fn around<T: Real>(x: &[T], y: &[T]) -> T {
    x[0] * y[0] + (y[1] / 4.0).exp() * x[2]
}
fn model<T: Real>(x: &[T]) -> T {
    around(x, &pair_in_plain_code(&x[1..]))
}

const X: [f64; 3] = [0.7, -1.2, 0.4];

/// The answers by the same code without a rule.
fn expected() -> (f64, Vec<f64>, Matrix<f64>) {
    value_gradient_and_hessian(&|x: &[_]| model(x), &AutoForwardDiff::default(), &X).unwrap()
}

macro_rules! check_halves {
    ($GIVEN:expr) => {{
        let rule = Custom::new(Pair::<$GIVEN>(Arc::default()));
        let (value, grad, hess) = expected();
        each_engine!(|backend, tolerance| {
            let f = |x: &[_]| around(x, &rule.call(&x[1..]));
            let (y, found) = value_and_gradient(&f, &backend, &X).unwrap();
            assert_near("value", &[y], &[value], 1e-15);
            assert_near(&format!("gradient by {backend:?}"), &found, &grad, tolerance);
            let jac = jacobian(&rule, &backend, &X[1..]).unwrap();
            let exact = [X[2], X[1], X[1].cos(), 2.0 * X[2]];
            assert_near(&format!("jacobian of the rule itself by {backend:?}"), jac.as_slice(), &exact, tolerance);
        });
        each_pair!(|backend, tolerance| {
            let name = &format!("rule {} by {backend:?}", $GIVEN);
            let f = |x: &[_]| around(x, &rule.call(&x[1..]));
            let found = hessian(&f, &backend, &X).unwrap();
            assert_near(name, found.as_slice(), hess.as_slice(), tolerance);
            let f = |x: &[_]| around(x, &rule.call(&x[1..]));
            let [product] = hvp(&f, &backend, &X, [&[0.0, 1.0, 0.0]]).unwrap();
            assert_near(name, &product, hess.row(1), tolerance);
            let f = |x: &[_]| around(x, &rule.call(&x[1..]));
            let mut held = prepare_hvp_same_point(&f, &backend, &X, [&[1.0, 0.0, 0.0]]).unwrap();
            assert_near(name, &held.hvp([&[0.0, 0.0, 1.0]]).unwrap()[0], hess.row(2), tolerance);
            assert_near(name, &held.gradient(), &grad, tolerance);
            // With contexts, and the rule behind a function of one number.
            let f = |x: &[_], k: &f64, w: &mut Vec<_>| {
                w.clear();
                w.extend(rule.call(&x[1..]));
                *k * around(x, w)
            };
            let found = hessian(&f, &backend, (&X, Constant(&2.0), Cache(&[0.0; 2][..]))).unwrap();
            let twice: Vec<f64> = hess.as_slice().iter().map(|v| 2.0 * v).collect();
            assert_near(name, found.as_slice(), &twice, tolerance);
            let second = second_derivative(&|t| rule.call(&[t, t])[0], &backend, 1.5).unwrap();
            assert_near(name, &[second], &[2.0], tolerance);
        });
    }};
}

#[test]
fn rules_with_a_pushforward_serve_every_engine() {
    check_halves!(PUSH);
}
#[test]
fn rules_with_a_pullback_serve_every_engine() {
    check_halves!(PULL);
}
#[test]
fn rules_with_both_serve_every_engine() {
    check_halves!(BOTH);
}

#[test]
fn rules_nest() {
    // A gradient inside a gradient, the rule inside both.
    let rule = Custom::new(Pair::<PULL>(Arc::default()));
    let (small, reverse) = (AutoForwardDiff::with_chunk::<2>(), AutoReverseDiff::default());
    macro_rules! check {
        ($outer:expr, $inner:expr) => {{
            let (outer, inner) = ($outer, $inner);
            let f = |x: &[_]| {
                let grad = gradient(&|x: &[_]| rule.call(x)[1], &inner, x).unwrap();
                grad[0] * grad[1]
            };
            // cos a · 2b
            let found = gradient(&f, &outer, &[0.5, 2.0]).unwrap();
            let expected = [-0.5_f64.sin() * 4.0, 2.0 * 0.5_f64.cos()];
            assert_near("nested", &found, &expected, 1e-14);
        }};
    }
    check!(small, small);
    check!(small, reverse);
    check!(reverse, small);
    check!(reverse, reverse);
}

#[test]
fn each_part_is_called_as_often_as_needed() {
    let calls = Arc::<Calls>::default();
    macro_rules! count {
        ($GIVEN:expr, $operator:ident, $backend:expr, $($rest:expr),*) => {{
            let rule = Custom::new(Pair::<$GIVEN>(Arc::clone(&calls)));
            calls.take();
            $operator(&|x: &[_]| rule.call(x)[0], &$backend, $($rest),*).unwrap();
            calls.take()
        }};
    }
    let (forward, reverse, central) =
        (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoFiniteDiff::central());
    let x = &[0.5, 2.0];
    // Forward: one value, one pushforward per lane with a tangent; from pullbacks, one per output and lane.
    assert_eq!(count!(BOTH, gradient, forward, x), [1, 2, 0]);
    assert_eq!(count!(PUSH, gradient, forward, x), [1, 2, 0]);
    assert_eq!(count!(PULL, gradient, forward, x), [1, 0, 4]);
    assert_eq!(count!(BOTH, pushforward, forward, x, [&[1.0, 0.0]]), [1, 1, 0]);
    // Reverse: one value, one pullback; from pushforwards, one per input.
    assert_eq!(count!(BOTH, gradient, reverse, x), [1, 0, 1]);
    assert_eq!(count!(PULL, gradient, reverse, x), [1, 0, 1]);
    assert_eq!(count!(PUSH, gradient, reverse, x), [1, 2, 0]);
    // Values only.
    assert_eq!(count!(BOTH, gradient, central, x), [4, 0, 0]);
    // Forward over reverse: the tangents forwards, then a pullback for each, over dual numbers, for adjoints and products.
    let for_ = SecondOrder(forward, reverse);
    assert_eq!(count!(BOTH, hessian, for_, x), [1, 2, 2]);
    assert_eq!(count!(BOTH, hvp, for_, x, [&[1.0, 0.0]]), [1, 1, 1]);
    // Reverse over reverse: the tangent forwards, then the pullback once, over dual numbers, for adjoints and products.
    let ror = SecondOrder(reverse, reverse);
    assert_eq!(count!(BOTH, hvp, ror, x, [&[1.0, 0.0]]), [1, 1, 1]);
    // Forward over forward: the value's pushforward for the tangent, and one per lane with a tangent over dual numbers.
    assert_eq!(count!(BOTH, hvp, forward, x, [&[1.0, 0.0]]), [1, 3, 0]);
}

#[test]
fn outputs_that_are_not_used_are_not_pulled_back() {
    let calls = Arc::<Calls>::default();
    let rule = Custom::new(Pair::<PULL>(Arc::clone(&calls)));
    let f = |x: &[_]| {
        let _ = rule.call(x);
        x[0] * x[1]
    };
    assert_eq!(gradient(&f, &AutoReverseDiff::default(), &[2.0, 3.0]).unwrap(), [3.0, 2.0]);
    assert_eq!(calls.take(), [1, 0, 0]);
    // Constant arguments: a value and nothing else.
    each_exact_engine!(|backend| {
        let f = |x: &[_]| x[0] * rule.call(&[constant(2.0, x), constant(3.0, x)])[0];
        assert_eq!(gradient(&f, &backend, &[5.0]).unwrap(), [6.0]);
        assert_eq!(calls.take(), [1, 0, 0]);
    });
}

fn constant<T: Scalar<Base = f64>>(value: f64, _like: &[T]) -> T {
    T::constant(value)
}

/// x ↦ x² / 2 by its own rule, wrong on purpose by a factor in the derivative so that its use shows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tagged;

impl Unary for Tagged {
    const NAME: &'static str = "tagged";
    fn value<B: Base>(self, x: B) -> B {
        B::from_f64(0.5) * x * x
    }
    fn derivative<S: Scalar>(self, x: S, _y: S) -> Partial<S> {
        Partial::Value(x.scale(S::Base::from_f64(3.0)))
    }
}

/// (x, y) ↦ x y², with a derivative in both.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TimesSquare;

impl Binary for TimesSquare {
    const NAME: &'static str = "times_square";
    fn value<B: Base>(self, x: B, y: B) -> B {
        x * y * y
    }
    fn partial_x<S: Scalar>(self, _x: S, y: S, _r: S) -> Partial<S> {
        Partial::Value(y * y)
    }
    fn partial_y<S: Scalar>(self, x: S, y: S, _r: S) -> Partial<S> {
        Partial::Value((x * y).scale(S::Base::from_f64(2.0)))
    }
}

#[test]
fn number_rules_of_users_serve_every_engine() {
    each_exact_engine!(|backend| {
        assert_eq!(derivative(&|x| apply_tagged(x), &backend, 2.0).unwrap(), 6.0);
        let f = |x: &[_]| apply_times_square(x[0], x[1]);
        assert_eq!(value_and_gradient(&f, &backend, &[5.0, 3.0]).unwrap(), (45.0, vec![9.0, 30.0]));
    });
    // Differences see the value.
    let found = derivative(&|x| apply_tagged(x), &AutoFiniteDiff::central(), 2.0).unwrap();
    assert_near("differences", &[found], &[2.0], 1e-9);
    each_exact_pair!(|backend| {
        assert_eq!(second_derivative(&|x| apply_tagged(x), &backend, 2.0).unwrap(), 3.0);
        let f = |x: &[_]| apply_times_square(x[0], x[1]);
        let hess = hessian(&f, &backend, &[5.0, 3.0]).unwrap();
        assert_near("hessian", hess.as_slice(), &[0.0, 6.0, 6.0, 10.0], 1e-15);
    });
    // In single precision as well.
    let x = 2.0_f32;
    assert_eq!(derivative(&|x| apply_tagged(x), &AutoForwardDiff::default(), &x).unwrap(), 6.0_f32);
}

fn apply_tagged<T: Scalar>(x: T) -> T {
    x.apply(Tagged)
}
fn apply_times_square<T: Scalar>(x: T, y: T) -> T {
    x.apply2(y, TimesSquare)
}

/// norm² as foreign code with a pullback.
fn foreign() -> Custom<impl CustomRule> {
    Custom::new(PlainRule::new("norm2", norm2).with_pullback(|x: &[f64], _y: &[f64], dy: &[f64], dx: &mut [f64]| {
        for (dx, x) in dx.iter_mut().zip(x) {
            *dx = 2.0 * x * dy[0];
        }
    }))
}
fn norm2(x: &[f64], y: &mut Vec<f64>) {
    y.clear();
    y.push(x.iter().map(|v| v * v).sum());
}

#[test]
fn plain_rules_give_first_derivatives() {
    let push = |x: &[f64], _y: &[f64], dx: &[f64], dy: &mut [f64]| {
        dy[0] = 2.0 * x.iter().zip(dx).map(|(x, dx)| x * dx).sum::<f64>();
    };
    let by_push = Custom::new(PlainRule::new("norm2", norm2).with_pushforward(push));
    let by_pull = foreign();
    each_engine!(|backend, tolerance| {
        let f = |x: &[_]| by_push.number(x) * x[0];
        assert_near("pushforward", &gradient(&f, &backend, &[1.0, 2.0]).unwrap(), &[7.0, 4.0], tolerance);
        let f = |x: &[_]| by_pull.number(x) * x[0];
        assert_near("pullback", &gradient(&f, &backend, &[1.0, 2.0]).unwrap(), &[7.0, 4.0], tolerance);
    });
}

#[test]
fn second_derivatives_of_plain_rules_are_refused() {
    let rule = foreign();
    let kind = ErrorKind::RuleOrder { rule: "norm2" };
    each_exact_pair!(|backend| {
        let f = |x: &[_]| rule.number(x);
        assert_eq!(hessian(&f, &backend, &[1.0, 2.0]).unwrap_err().kind(), kind, "{backend:?}");
        let f = |x: &[_]| rule.number(x);
        assert_eq!(hvp(&f, &backend, &[1.0, 2.0], [&[1.0, 0.0]]).unwrap_err().kind(), kind, "{backend:?}");
        let error = second_derivative(&|t| rule.number(&[t, t]), &backend, 1.0).unwrap_err();
        assert_eq!(error.kind(), kind, "{backend:?}");
        // The preparation survives: where the rule gets constants, everything is known.
        let f = |x: &[_], far: &bool| if *far { rule.number(x) } else { x[0] * x[0] * x[1] };
        let mut prepared = prepare_hessian(&f, &backend, (&[1.0, 2.0], Constant(&false))).unwrap();
        assert_eq!(prepared.hessian((&[1.0, 2.0], Constant(&true))).unwrap_err().kind(), kind);
        let hess = prepared.hessian((&[1.0, 2.0], Constant(&false))).unwrap();
        assert_eq!(hess, [[4.0, 2.0], [2.0, 0.0]], "{backend:?}");
    });
    let error = hessian(&|x: &[_]| rule.number(x), &AutoForwardDiff::default(), &[1.0, 2.0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "hessian with forward_diff: the derivative of `norm2` cannot be differentiated again: it is plain code, or compares numbers \
         where a program is made of it, or a recording would differentiate it a third time; write its rule over any scalar, without comparisons, or differentiate it by a backend that can"
    );
    // Differences of its first derivative need none.
    let backend = SecondOrder(AutoFiniteDiff::central(), AutoReverseDiff::default());
    let hess = hessian(&|x: &[_]| rule.number(x), &backend, &[1.0, 2.0]).unwrap();
    assert_near("differences", hess.as_slice(), &[2.0, 0.0, 0.0, 2.0], 1e-8);
}

/// Says it has a pushforward and has none.
struct Incomplete;

impl CustomRule for Incomplete {
    const NAME: &'static str = "incomplete";
    const GIVEN: Halves = Halves::Both;
    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.push(x[0]);
    }
}

#[test]
fn missing_derivatives_are_errors_of_the_call() {
    let rule = Custom::new(Incomplete);
    let nothing = Custom::new(PlainRule::new("nothing", norm2));
    each_exact_engine!(|backend| {
        let f = |x: &[_]| rule.number(x);
        let error = gradient(&f, &backend, &[1.0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RuleIncomplete { rule: "incomplete" });
        let name = support::name_of(&backend);
        assert_eq!(
            error.to_string(),
            format!(
                "gradient with {name}: the rule `incomplete` gives no derivative; implement its pushforward or its pullback"
            )
        );
        let f = |x: &[_]| nothing.number(x);
        assert_eq!(gradient(&f, &backend, &[1.0]).unwrap_err().kind(), ErrorKind::RuleIncomplete { rule: "nothing" });
        // The engine is as good as before.
        let f = |x: &[_]| square_of_first(x);
        assert_eq!(gradient(&f, &backend, &[3.0]).unwrap(), [6.0]);
    });
    let found = gradient(&|x: &[_]| rule.number(x), &AutoFiniteDiff::central(), &[1.0]).unwrap();
    assert_near("values are enough for differences", &found, &[1.0], 1e-9);
}

fn square_of_first<T: Real>(x: &[T]) -> T {
    x[0] * x[0]
}

#[test]
fn rules_run_on_clones_on_other_threads() {
    let rule = Custom::new(Pair::<BOTH>(Arc::default()));
    let (_, grad, hess) = expected();
    let handle = Arc::new(move |x: &[_]| around(x, &rule.call(&x[1..])));
    let backend = SecondOrder(AutoReverseDiff::default(), AutoReverseDiff::default());
    let mut prepared = prepare_hessian(handle, &backend, &X).unwrap();
    let _ = prepared.hessian(&X).unwrap();
    let mut copy = prepared.clone();
    let (_, found_grad, found) =
        std::thread::spawn(move || copy.value_gradient_and_hessian(&X).unwrap()).join().expect("the thread ends well");
    assert_near("gradient", &found_grad, &grad, 1e-14);
    assert_near("hessian", found.as_slice(), hess.as_slice(), 1e-14);
}

/// a b, of whose arguments one may be a constant.
struct Product;

impl CustomRule for Product {
    const NAME: &'static str = "product";
    const GIVEN: Halves = Halves::Pullback;
    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.push(x[0] * x[1]);
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _: &[S], dy: &[S], dx: &mut [S]) {
        (dx[0], dx[1]) = (x[1] * dy[0], x[0] * dy[0]);
    }
}

#[test]
fn a_rule_of_a_constant_in_a_recording_of_a_recording_leaves_no_foreign_number() {
    fn decided_by_a_rule<T: Real>(t: T) -> T {
        let mut y = Vec::new();
        T::custom(&Arc::new(Product), &[t, T::constant(2.0)], &mut y);
        // Three ways through the function, so that calls record again.
        let factor = if t < 0.5 {
            1.0
        } else if y[0] < 3.0 {
            2.0
        } else {
            3.0
        };
        factor * t * t * t
    }
    let f = |t| decided_by_a_rule(t);
    let mut prepared = prepare_second_derivative(&f, &AutoReverseDiff::compiled(), -1.0).unwrap();
    for (t, expected) in [(-1.0, -6.0), (1.0, 12.0), (2.0, 36.0), (-2.0, -12.0), (1.25, 15.0)] {
        assert_eq!(prepared.second_derivative(t), Ok(expected), "at {t}");
    }
}

/// A rule over any scalar that branches: forward mode takes the branch, a program cannot.
#[test]
fn a_rule_that_branches_is_refused_where_a_program_is_made_of_it() {
    use differentiation_interface::rules::{Partial, Unary};
    use differentiation_interface::scalar::Base;
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Ramp;
    impl Unary for Ramp {
        const NAME: &'static str = "ramp";
        fn value<B: Base>(self, x: B) -> B {
            if x < B::from_f64(0.0) { B::from_f64(0.0) } else { x * x }
        }
        fn derivative<S: Scalar>(self, x: S, _: S) -> Partial<S> {
            if x < S::default() { Partial::Zero } else { Partial::Value(x + x) }
        }
    }
    fn f<T: Real>(x: &[T]) -> T {
        x[0].apply(Ramp)
    }
    for x in [1.5, -1.5] {
        let hess = [[if x > 0.0 { 2.0 } else { 0.0 }]];
        assert_eq!(hessian(&|x: &[_]| f(x), &AutoForwardDiff::default(), &[x]).unwrap(), hess);
        assert_eq!(hessian(&|x: &[_]| f(x), &AutoReverseDiff::default(), &[x]).unwrap(), hess);
        let error = hessian(&|x: &[_]| f(x), &AutoReverseDiff::compiled(), &[x]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RuleOrder { rule: "ramp" });
        assert!(error.to_string().contains("compares numbers"), "{error}");
    }
}
