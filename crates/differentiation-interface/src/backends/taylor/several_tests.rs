//! The operators in several variables, along directions and prepared, against exact polynomials and nested dual numbers; their errors.

use super::{Polynomial, PolynomialCore};
use crate::error::ErrorKind;
use crate::prelude::*;
use differentiation_interface_core::rules::sin;
use std::cell::Cell;

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-11 * expected.abs().max(1.0), "{what}: is {found:e}, expected {expected:e}");
}

/// 2 + 3 x y² z - x⁴ + y z³
fn polynomial<T: Real>(x: &[T]) -> T {
    3.0 * x[0] * x[1] * x[1] * x[2] - x[0].powi(4) + x[1] * x[2].powi(3) + 2.0
}

#[test]
fn a_polynomial_is_its_own_expansion() {
    let expansion = taylor_expansion(&polynomial, &AutoTaylor, &[0.0; 3], 5).unwrap();
    assert_eq!((expansion.order(), expansion.outputs(), expansion.monomials().len()), (5, 1, 56));
    for place in 0..expansion.monomials().len() {
        let exponents = expansion.monomials().exponents(place);
        let expected = match exponents {
            [0, 0, 0] => 2.0,
            [1, 2, 1] => 3.0,
            [4, 0, 0] => -1.0,
            [0, 1, 3] => 1.0,
            _ => 0.0,
        };
        assert_eq!(expansion.coefficient(exponents).unwrap(), expected, "{exponents:?}");
        assert_eq!(expansion.coefficients(0)[place], expected);
    }
    // Around another point it takes the same values.
    let x = [0.5, -1.0, 2.0];
    let expansion = taylor_expansion(&polynomial, &AutoTaylor, &x, 4).unwrap();
    let d = [0.25, 3.0, -1.5];
    let there: [f64; 3] = std::array::from_fn(|i| x[i] + d[i]);
    close(expansion.evaluate(&d).unwrap(), polynomial(&there), "displaced");
    // ∂/∂y = 6 x y z + z³
    let slope = expansion.derivative(1).unwrap();
    assert_eq!(slope.order(), 3);
    close(slope.evaluate(&d).unwrap(), 6.0 * there[0] * there[1] * there[2] + there[2].powi(3), "slope displaced");
    assert_eq!(slope.partial(&[1, 1, 1]).unwrap(), 6.0);
    assert_eq!(mixed_partial(&polynomial, &AutoTaylor, &x, &[1, 2, 1]).unwrap(), 6.0);
    assert_eq!(mixed_partial(&polynomial, &AutoTaylor, &x, &[0, 0, 0]).unwrap(), polynomial(&x));
    assert_eq!(mixed_partial(&polynomial, &AutoTaylor, &x, &[5, 0, 0]).unwrap(), 0.0);
}

/// A program of operations drawn by a seed, of two inputs.
fn program<T: Real>(seed: u64, x: &[T]) -> T {
    let mut state = seed;
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let mut numbers = vec![x[0], x[1], x[0] * x[1] + 0.5];
    for _ in 0..8 {
        let (a, b) = (numbers[draw(numbers.len() as u64) as usize], numbers[draw(numbers.len() as u64) as usize]);
        let next = match draw(14) {
            0 => a + b,
            1 => a - 2.0 * b,
            2 => a * b,
            3 => a / (b * b + 1.5),
            4 => a.sin(),
            5 => (-(a * a)).exp(),
            6 => (a * a + 0.7).ln(),
            7 => a.tanh(),
            8 => a.atan2(b * b + 1.0),
            9 => (a * a + 0.3).sqrt(),
            10 => (a * a + 0.4).powf(b.sin()),
            11 => a.hypot(b * b + 0.6),
            12 => (a.sin() + 2.0).ln_gamma(),
            _ => a.logistic().powc(1.7),
        };
        // Numbers near 1, so that tolerances mean the same everywhere.
        numbers.push(next.sin());
    }
    numbers.iter().fold(T::default(), |sum, number| sum + *number)
}

#[test]
fn random_programs_agree_with_nested_dual_numbers() {
    let forward = AutoForwardDiff::default();
    for seed in 0..40 {
        let x = [0.3 + 0.01 * seed as f64, -0.4 + 0.02 * seed as f64];
        let f = |x: &[_]| program(seed, x);
        let g = |x: &[_]| program(seed, x);
        let expansion = taylor_expansion(&f, &AutoTaylor, &x, 4).unwrap();
        let hessian = hessian(&g, &forward, &x).unwrap();
        for (i, j, index) in [(0, 0, [2, 0]), (0, 1, [1, 1]), (1, 1, [0, 2])] {
            close(expansion.partial(&index).unwrap(), hessian[(i, j)], &format!("program {seed}, {index:?}"));
        }
        // Along a direction, by series, by the expansion and by nested dual numbers.
        let d = [0.8, -0.6];
        let series = jet(&|x: &[_]| program(seed, x), &AutoTaylor, &x, d, Order::<4>).unwrap();
        let line = |t| program(seed, &[0.8 * t + x[0], -0.6 * t + x[1]]);
        close(6.0 * series[3], nth_derivative(&line, &forward, 0.0, Order::<3>).unwrap(), &format!("program {seed}"));
        for (k, coefficient) in series.iter().enumerate() {
            let sum: f64 = (0..=k)
                .map(|p| expansion.coefficient(&[p, k - p]).unwrap() * d[0].powi(p as i32) * d[1].powi((k - p) as i32))
                .sum();
            close(*coefficient, sum, &format!("program {seed}, order {k}"));
        }
        let single = mixed_partial(&|x: &[_]| program(seed, x), &AutoTaylor, &x, &[1, 3]).unwrap();
        close(single, expansion.partial(&[1, 3]).unwrap(), &format!("program {seed}, one partial"));
    }
}

#[test]
fn outputs_keep_their_shape_and_contexts_are_constants() {
    let f = |x: &[_], k: &f64| vec![x[0] * x[1] * *k, x[1]];
    let g = |x: &[_], k: &f64| vec![x[0] * x[1] * *k, x[1]];
    let at = (&[2.0, 3.0], Constant(&5.0));
    let expansion = taylor_expansion(&f, &AutoTaylor, at, 2).unwrap();
    assert_eq!(expansion.partial(&[1, 1]).unwrap(), [5.0, 0.0]);
    assert_eq!(expansion.evaluate(&[1.0, 1.0]).unwrap(), [60.0, 4.0]);
    assert_eq!(mixed_partial(&f, &AutoTaylor, at, &[0, 1]).unwrap(), [10.0, 1.0]);
    assert_eq!(jet(&g, &AutoTaylor, at, [1.0, 1.0], Order::<2>).unwrap(), [[30.0, 3.0], [25.0, 1.0], [5.0, 0.0]]);
    let filled = in_place(
        |y: &mut [_], x: &[_]| {
            y[0] = x[0] * x[0];
            y[1] = x[0] * x[1];
        },
        2,
    );
    assert_eq!(mixed_partial(&filled, &AutoTaylor, &[2.0, 3.0], &[1, 1]).unwrap(), [0.0, 1.0]);
    // No inputs, no order, unused inputs.
    let constant = |_: &[Polynomial<f64>]| vec![AutoTaylorConstant::of(7.0)];
    assert_eq!(taylor_expansion(&constant, &AutoTaylor, &[] as &[f64], 3).unwrap().coefficients(0), [7.0]);
    assert_eq!(taylor_expansion(&constant, &AutoTaylor, &[1.0], 2).unwrap().coefficients(0), [7.0, 0.0, 0.0]);
    assert_eq!(taylor_expansion(&polynomial, &AutoTaylor, &[1.0, 1.0, 1.0], 0).unwrap().coefficients(0), [5.0]);
    let none = |_: &[Polynomial<f64>]| Vec::<Polynomial<f64>>::new();
    assert_eq!(taylor_expansion(&none, &AutoTaylor, &[1.0], 2).unwrap().outputs(), 0);
}

/// A constant of the number type.
struct AutoTaylorConstant;
impl AutoTaylorConstant {
    fn of(value: f64) -> Polynomial<f64> {
        PolynomialCore::lift(value)
    }
}

#[test]
fn preparations_serve_other_points_and_refuse_other_lengths() {
    let f = |x: &[_]| polynomial(x);
    let g = |x: &[_]| polynomial(x);
    let x = [1.0, 2.0, 3.0];
    let mut expansions = prepare_taylor_expansion(&f, &AutoTaylor, &[0.0; 3], 4).unwrap();
    let mut partials = prepare_mixed_partial(&f, &AutoTaylor, &[0.0; 3], &[1, 1, 1]).unwrap();
    let mut jets = prepare_jet(&g, &AutoTaylor, &[0.0; 3], [0.0; 3], Order::<3>).unwrap();
    for _ in 0..2 {
        let mut expansion = expansions.taylor_expansion(&[f64::NAN; 3]).unwrap();
        expansions.taylor_expansion_into(&mut expansion, &x).unwrap();
        assert_eq!(expansion.coefficients(0), taylor_expansion(&f, &AutoTaylor, &x, 4).unwrap().coefficients(0));
        let mut partial = [f64::NAN];
        partials.mixed_partial_into(&mut partial, &x).unwrap();
        assert_eq!(partial, [12.0]);
        assert_eq!(partials.mixed_partial(&x).unwrap(), 12.0);
        let mut coefficients = [f64::NAN; 4];
        jets.jet_into(&mut coefficients, &x, &[0.0, 1.0, 0.0]).unwrap();
        assert_eq!(coefficients, [2.0 + 36.0 - 1.0 + 54.0, 36.0 + 27.0, 9.0, 0.0]);
    }
    let message = |error: Error| error.to_string();
    assert_eq!(
        message(expansions.taylor_expansion(&[1.0]).unwrap_err()),
        "taylor_expansion with taylor: prepared for 3 inputs, called with 1; prepare again with a point of length 1"
    );
    assert_eq!(partials.mixed_partial(&[1.0]).unwrap_err().kind(), ErrorKind::PreparedLength { prepared: 3, found: 1 });
    assert_eq!(
        message(jets.jet(&x, &[1.0]).unwrap_err()),
        "jet with taylor: seed 0 has length 1, expected 3; a tangent is as long as the point, a cotangent as the output"
    );
    assert_eq!(jets.jet(&[1.0], &[1.0]).unwrap_err().kind(), ErrorKind::PreparedLength { prepared: 3, found: 1 });
    assert_eq!(
        message(mixed_partial(&f, &AutoTaylor, &x, &[1, 1]).unwrap_err()),
        "mixed_partial with taylor: the multi-index has 2 entries for 3 variables; pass one order per variable, 0 where it is not differentiated"
    );
    let expansion = expansions.taylor_expansion(&x).unwrap();
    assert_eq!(
        message(expansion.coefficient(&[3, 2, 0]).unwrap_err()),
        "coefficient with expansion: the coefficient is of order 5, the expansion ends at order 4; expand to order 5"
    );
    assert_eq!(expansion.partial(&[0]).unwrap_err().kind(), ErrorKind::MultiIndexLength { expected: 3, found: 1 });
    assert_eq!(
        message(expansion.derivative(3).unwrap_err()),
        "derivative with expansion: the expansion has 3 variables, and no variable 3; pass an index below 3"
    );
    let constant =
        taylor_expansion(&|_: &[Polynomial<f64>]| Polynomial::constant(2.0), &AutoTaylor, &[0.0; 0], 1).unwrap();
    assert_eq!(
        message(constant.derivative(0).unwrap_err()),
        "derivative with expansion: the expansion has no variables; expand at a point that is not empty"
    );
    let error = expansion.evaluate(&[0.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DisplacementLength { expected: 3, found: 1 });
    assert!(matches!(taylor_expansion(&f, &AutoTaylor, &x, 5000).unwrap_err().kind(), ErrorKind::ExpansionSize { .. }));
    let mut other = taylor_expansion(&f, &AutoTaylor, &x, 4).unwrap();
    assert!(expansions.taylor_expansion_into(&mut other, &x).is_err(), "an expansion of another preparation");
    assert!(mixed_partial_into(&f, &mut [0.0; 2], &AutoTaylor, &x, &[1, 1, 1]).is_err());
    assert!(jet_into(&g, &mut [0.0; 2], &AutoTaylor, &x, &x, Order::<3>).is_err());
    assert!(nth_derivative_into(&|x: super::Series<f64, 2>| x, &mut [0.0; 2], &AutoTaylor, 1.0, Order::<2>).is_err());
}

#[test]
fn numbers_of_other_threads_and_other_calls_are_refused() {
    let kept = Cell::new(None);
    let keep = |x: &[Polynomial<f64>]| {
        kept.set(Some(x[0]));
        x[0] * x[1]
    };
    taylor_expansion(&keep, &AutoTaylor, &[1.0, 2.0], 3).unwrap();
    let foreign: Polynomial<f64> = kept.get().unwrap();
    let product = taylor_expansion(&|x: &[_]| x[0] * foreign, &AutoTaylor, &[1.0], 3).unwrap_err();
    assert_eq!(product.kind(), ErrorKind::ForeignNumber);
    let alone = taylor_expansion(&|_: &[Polynomial<f64>]| sin(foreign), &AutoTaylor, &[1.0], 3).unwrap_err();
    assert_eq!(alone.kind(), ErrorKind::ForeignNumber);
    let returned = taylor_expansion(&|_: &[Polynomial<f64>]| foreign, &AutoTaylor, &[1.0], 3).unwrap_err();
    assert_eq!(returned.kind(), ErrorKind::ForeignNumber);
    let elsewhere = |x: &[Polynomial<f64>]| {
        let (a, b) = (x[0], x[1]);
        std::thread::spawn(move || a * b).join().expect("the thread ends")
    };
    let error = taylor_expansion(&elsewhere, &AutoTaylor, &[1.0, 2.0], 3).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OtherThread);
    // The thread is usable afterwards.
    assert_eq!(mixed_partial(&|x: &[_]| x[0] * x[1], &AutoTaylor, &[1.0, 2.0], &[1, 1]).unwrap(), 1.0);
    // Series carry all they need.
    let series = |x: super::Series<f64, 2>| std::thread::spawn(move || x * x * x).join().expect("the thread ends");
    assert_eq!(nth_derivative(&series, &AutoTaylor, 2.0, Order::<2>).unwrap(), 12.0);
}

#[test]
fn expansions_run_inside_other_differentiations_and_each_other() {
    // ∂²/∂x∂y of x² y³ is 6 x y², whose gradient by (x, y) is (6 y², 12 x y).
    fn product<T: Real>(x: &[T]) -> T {
        x[0] * x[0] * x[1].powi(3)
    }
    fn inner<T: Real>(x: &[T]) -> T {
        mixed_partial(&product, &AutoTaylor, x, &[1, 1]).expect("a polynomial")
    }
    assert_eq!(gradient(&inner, &AutoForwardDiff::default(), &[2.0, 3.0]).unwrap(), [54.0, 72.0]);
    assert_eq!(gradient(&inner, &AutoReverseDiff::default(), &[2.0, 3.0]).unwrap(), [54.0, 72.0]);
    assert_eq!(mixed_partial(&inner, &AutoTaylor, &[2.0, 3.0], &[1, 1]).unwrap(), 36.0);
}

#[test]
fn rules_of_the_user_have_expansions() {
    use differentiation_interface_core::rules::{Exp, InTable, Partial, Unary};
    use differentiation_interface_core::scalar::Base;
    /// exp(2x), whose derivative is computed from its value. Its name is that of another rule.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Twice;
    impl Unary for Twice {
        const NAME: &'static str = "exp";
        fn value<B: Base>(self, x: B) -> B {
            (x + x).exp()
        }
        fn derivative<S: Scalar>(self, _: S, y: S) -> Partial<S> {
            Partial::Value(y + y)
        }
    }
    // exp(2xy): ∂⁴/∂x²∂y² at (x, y) = (1, 0) is ∂²/∂y² of 4 y² e^(2y) = 8.
    let found =
        mixed_partial(&|x: &[Polynomial<f64>]| (x[0] * x[1]).apply(Twice), &AutoTaylor, &[1.0, 0.0], &[2, 2]).unwrap();
    close(found, 8.0, "user rule");
    /// The same, with the mark of the other rule too.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Marked;
    impl Unary for Marked {
        const NAME: &'static str = "exp";
        const IN_TABLE: InTable = <Exp as Unary>::IN_TABLE;
        fn value<B: Base>(self, x: B) -> B {
            Twice.value(x)
        }
        fn derivative<S: Scalar>(self, x: S, y: S) -> Partial<S> {
            Twice.derivative(x, y)
        }
    }
    let error = taylor_expansion(&|x: &[Polynomial<f64>]| x[0].apply(Marked), &AutoTaylor, &[1.0], 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RuleUnsupported { rule: "exp" });
    let series = taylor_coefficients(&|x: super::Series<f64, 3>| x.apply(Twice), &AutoTaylor, 0.0, Order::<3>).unwrap();
    assert_eq!(series[..3], [1.0, 2.0, 2.0]);
    struct Product;
    impl CustomRule for Product {
        const NAME: &'static str = "product";
        const GIVEN: Halves = Halves::Both;
        fn value(&self, x: &[f64], y: &mut Vec<f64>) {
            y.clear();
            y.push(x[0] * x[1]);
        }
        fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], _: &[S], dx: &[S], dy: &mut [S]) {
            dy[0] = dx[0] * x[1] + x[0] * dx[1];
        }
        fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _: &[S], dy: &[S], dx: &mut [S]) {
            dx[0] = dy[0] * x[1];
            dx[1] = dy[0] * x[0];
        }
    }
    let product = Custom::new(Product);
    let f = |x: &[Polynomial<f64>]| product.number(&[x[0] * x[0], x[1] * x[1] * x[1]]);
    assert_eq!(mixed_partial(&f, &AutoTaylor, &[2.0, 3.0], &[2, 2]).unwrap(), 36.0);
    assert_eq!(mixed_partial(&f, &AutoTaylor, &[2.0, 3.0], &[2, 3]).unwrap(), 12.0);
}

#[test]
fn custom_rules_have_mixed_partial_derivatives() {
    /// x y + 1/z, whose derivative computes a product and a quotient by the same rule.
    struct Bilinear;
    impl CustomRule for Bilinear {
        const NAME: &'static str = "bilinear";
        const GIVEN: Halves = Halves::Pushforward;
        fn value(&self, x: &[f64], y: &mut Vec<f64>) {
            y.clear();
            y.push(x[0] * x[1] + x[2].recip());
        }
        fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
            let one = S::constant(1.0);
            // The rule without its quotient: x y + 1/1 - 1.
            let product = |a: S, b: S| Custom::new(Bilinear).number(&[a, b, one]) - one;
            let square = product(x[2], x[2]);
            dy[0] = product(dx[0], x[1]) + product(x[0], dx[1]) - dx[2] / square;
        }
    }
    // With (x, y, z) = (a b, b, a): a b² + 1/a.
    let f = |v: &[Polynomial<f64>]| Custom::new(Bilinear).number(&[v[0] * v[1], v[1], v[0]]);
    let (a, b) = (2.0f64, 3.0);
    let expansion = taylor_expansion(&f, &AutoTaylor, &[a, b], 4).unwrap();
    for (exponents, expected) in [
        ([0, 0], a * b * b + 1.0 / a),
        ([1, 0], b * b - a.powi(-2)),
        ([0, 1], 2.0 * a * b),
        ([1, 1], 2.0 * b),
        ([0, 2], a),
        ([1, 2], 1.0),
        ([2, 0], a.powi(-3)),
        ([3, 0], -a.powi(-4)),
        ([4, 0], a.powi(-5)),
        ([2, 1], 0.0),
        ([0, 4], 0.0),
    ] {
        close(expansion.coefficient(&exponents).unwrap(), expected, &format!("{exponents:?}"));
    }
    close(mixed_partial(&f, &AutoTaylor, &[a, b], &[1, 2]).unwrap(), 2.0, "mixed");
}
