//! Every rule of the table: value, first and second derivative of compiled programs beside the table itself.

use compiled_trace::{Executable, Limits, Recorded, compile, record};
use differentiation_interface::prelude::*;
use differentiation_interface_core::rules::{
    Binary, Polygamma, Powf, PowfByBaseThrice, RuleVisitor, Unary, each_binary, each_unary,
};
use differentiation_interface_core::{Base, Scalar};

const POINTS: [f64; 13] =
    [-2.5, -1.0, -0.75, -0.3, -0.0, 0.0, 0.3, 0.5, 1.0, 1.75, 3.0, f64::INFINITY, f64::NEG_INFINITY];
/// Points at which all rules are smooth, if they are defined there.
const SMOOTH: [f64; 4] = [0.3, 0.62, 1.75, -0.45];

struct Compiled {
    gradient: Executable,
    product: Executable,
}

impl Compiled {
    fn new(point: &[f64], f: impl FnOnce(&[Recorded]) -> Recorded) -> Compiled {
        let graph = record(point, &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
        assert_eq!(graph.guards(), 0);
        let gradient = compile(&graph).unwrap().adjoint(1).unwrap();
        let product = gradient.tangent(1).unwrap().executable();
        Compiled { gradient: gradient.executable(), product }
    }
    fn gradient(&self, x: &[f64]) -> (f64, Vec<f64>) {
        let (mut y, mut grad) = ([f64::NAN], vec![f64::NAN; x.len()]);
        self.gradient.run(&mut self.gradient.workspace(), &[x, &[], &[1.0]], &mut [&mut y, &mut grad]).unwrap();
        (y[0], grad)
    }
    fn product(&self, x: &[f64], v: &[f64]) -> Vec<f64> {
        let (mut y, mut grad, mut dy, mut hv) = ([0.0], vec![0.0; x.len()], [0.0], vec![f64::NAN; x.len()]);
        let outputs = &mut [&mut y[..], &mut grad, &mut dy, &mut hv];
        self.product.run(&mut self.product.workspace(), &[x, &[], &[1.0], v], outputs).unwrap();
        hv
    }
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: impl Fn() -> String) {
    let same = found == expected || (found.is_nan() && expected.is_nan());
    assert!(
        same || (found - expected).abs() <= 1e-11 * (1.0 + expected.abs()),
        "{}: {found}, expected {expected}",
        what()
    );
}

struct Table {
    rules: usize,
}

impl RuleVisitor for Table {
    fn unary<R: Unary>(&mut self, rule: R) {
        self.rules += 1;
        let compiled = Compiled::new(&[0.7], |x| x[0].apply(rule));
        for x in POINTS {
            let y = rule.value(x);
            let (value, grad) = compiled.gradient(&[x]);
            assert_close(value, y, || format!("{rule:?}({x})"));
            assert_close(grad[0], rule.derivative(x, y).value(), || format!("derivative of {rule:?} at {x}"));
        }
        for x in SMOOTH {
            let expected = second_derivative(&|x: _| Scalar::apply(x, rule), &AutoForwardDiff::default(), x).unwrap();
            assert_close(compiled.product(&[x], &[1.0])[0], expected, || {
                format!("second derivative of {rule:?} at {x}")
            });
        }
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        self.rules += 1;
        let compiled = Compiled::new(&[0.7, 0.4], |x| x[0].apply2(x[1], rule));
        for x in POINTS {
            for y in POINTS {
                let r = rule.value(x, y);
                let (value, grad) = compiled.gradient(&[x, y]);
                assert_close(value, r, || format!("{rule:?}({x}, {y})"));
                // The table checks whether the exponent can vary; here it does.
                let by_exponent = (R::NAME == Powf::NAME && y == 0.0)
                    || (R::NAME == PowfByBaseThrice::NAME && x == 0.0 && [0.0, 1.0, 2.0, 3.0].contains(&y));
                if !by_exponent {
                    assert_close(grad[0], rule.partial_x(x, y, r).value(), || format!("∂x of {rule:?} at {x}, {y}"));
                }
                assert_close(grad[1], rule.partial_y(x, y, r).value(), || format!("∂y of {rule:?} at {x}, {y}"));
            }
        }
        for x in SMOOTH {
            for y in [0.41, 1.1] {
                let f = |x: &[_; 2]| Scalar::apply2(x[0], x[1], rule);
                let expected = hvp(&f, &AutoForwardDiff::default(), [x, y], [&[0.6, -1.2]]).unwrap()[0];
                let found = compiled.product(&[x, y], &[0.6, -1.2]);
                for i in 0..2 {
                    assert_close(found[i], expected[i], || format!("H v of {rule:?} at {x}, {y}, entry {i}"));
                }
            }
        }
    }
}

#[test]
fn compiled_rules_are_those_of_the_table() {
    let mut table = Table { rules: 0 };
    each_unary(&mut table);
    each_binary(&mut table);
    table.unary(Polygamma(3));
    assert!(table.rules > 60, "{} rules", table.rules);
}

/// A user's rule: value and derivative branch.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Leaky(f64);

impl Unary for Leaky {
    const NAME: &'static str = "leaky";
    fn value<B: Base>(self, x: B) -> B {
        if x > B::ZERO { x } else { x * B::from_f64(self.0) }
    }
    fn derivative<S: Scalar>(self, x: S, _y: S) -> differentiation_interface_core::rules::Partial<S> {
        use differentiation_interface_core::rules::Partial;
        if x.primal() > S::Base::ZERO { Partial::One } else { Partial::Constant(S::Base::from_f64(self.0)) }
    }
}

#[test]
fn rules_of_users_that_branch_are_evaluated_on_both_sides() {
    let graph = record(&[1.0, 1.0], &[], Limits::default(), |x, _, y| {
        y.push(x[0].apply(Leaky(0.1)) * x[1].apply(Leaky(0.5)));
    })
    .unwrap();
    let gradient = compile(&graph).unwrap().adjoint(1).unwrap();
    assert!(gradient.tangent(1).is_err(), "the derivative of an opaque derivative is not known");
    let gradient = gradient.executable();
    let (mut y, mut grad) = ([0.0], [0.0; 2]);
    gradient.run(&mut gradient.workspace(), &[&[-2.0, 3.0], &[], &[1.0]], &mut [&mut y, &mut grad]).unwrap();
    assert_eq!(y, [-0.2 * 3.0]);
    assert_eq!(grad, [0.1 * 3.0, -0.2]);
    gradient.run(&mut gradient.workspace(), &[&[2.0, -3.0], &[], &[1.0]], &mut [&mut y, &mut grad]).unwrap();
    assert_eq!(grad, [-1.5, 1.0]);
}
