//! Makes the scenarios of a formula at a point: all operators, places and numbers of seeds.

use super::formula::Formula;
use crate::operator::{
    Derivative, Gradient, Hessian, Hvp, Jacobian, Operator, Pullback, Pushforward, SecondDerivative,
};
use crate::point::{NumberOf, OwnedPoint};
use crate::scenario::{Place, Scenario};
use differentiation_interface_core::Base;

/// The scenarios of functions of one number.
pub type OfNumber<F, P> = (
    Vec<Scenario<Derivative, F, P>>,
    Vec<Scenario<SecondDerivative, F, P>>,
    Vec<Scenario<Pushforward, F, P>>,
    Vec<Scenario<Pushforward<2>, F, P>>,
    Vec<Scenario<Pullback, F, P>>,
    Vec<Scenario<Pullback<2>, F, P>>,
);
/// The scenarios of functions from an array to one number.
pub type ToNumbers<F, P> = (
    Vec<Scenario<Gradient, F, P>>,
    Vec<Scenario<Hvp, F, P>>,
    Vec<Scenario<Hvp<2>, F, P>>,
    Vec<Scenario<Hessian, F, P>>,
    Vec<Scenario<Pushforward, F, P>>,
    Vec<Scenario<Pushforward<2>, F, P>>,
    Vec<Scenario<Pullback, F, P>>,
    Vec<Scenario<Pullback<2>, F, P>>,
);
/// The scenarios of functions from an array to an array.
pub type ToArrays<F, P> = (
    Vec<Scenario<Jacobian, F, P>>,
    Vec<Scenario<Pushforward, F, P>>,
    Vec<Scenario<Pushforward<2>, F, P>>,
    Vec<Scenario<Pullback, F, P>>,
    Vec<Scenario<Pullback<2>, F, P>>,
);

/// A formula as a function `F` at a point.
#[derive(Clone)]
pub(super) struct Case<F, P> {
    pub(super) name: String,
    pub(super) function: F,
    /// The formula whose derivatives are the answers, including any factor.
    pub(super) formula: Formula,
    pub(super) point: P,
    pub(super) preparation: P,
    pub(super) other_size: Option<P>,
    pub(super) shapes: Option<(Vec<usize>, Vec<usize>)>,
    pub(super) tangent: Vec<f64>,
    pub(super) cotangent: Vec<f64>,
    /// With two seeds, too.
    pub(super) batched: bool,
    /// The value is an object of its own.
    pub(super) makes_values: bool,
}

impl<F, P> Case<F, P> {
    /// The same with a value that is an object of its own.
    pub(super) fn making_values(self) -> Self {
        Case { makes_values: true, ..self }
    }
}

impl<F: Clone, P: OwnedPoint> Case<F, P> {
    /// Sets what all scenarios of the case share.
    fn finish<O: Operator>(&self, scenario: Scenario<O, F, P>, result: Vec<f64>, place: Place) -> Scenario<O, F, P> {
        let mut scenario =
            scenario.named(self.name.clone()).prepared_at(self.preparation.clone()).expecting(result).in_place(place);
        if let Some(other) = &self.other_size {
            scenario = scenario.prepared_again_from(other.clone());
        }
        if let Some((input, output)) = &self.shapes {
            scenario = scenario.shaped(input, output);
        }
        if self.makes_values {
            scenario = scenario.making_values();
        }
        scenario.expecting_value(self.value())
    }

    /// The pattern of the matrix: the entries that are not zero at the point, except for rules that choose between their arguments.
    fn with_pattern<O: Operator>(&self, scenario: Scenario<O, F, P>, matrix: &[f64]) -> Scenario<O, F, P> {
        match self.formula {
            Formula::Rules | Formula::SumOfRules => scenario,
            _ => scenario.expecting_pattern(nonzeros(matrix, self.point.coordinates().len())),
        }
    }

    fn x(&self) -> Vec<f64> {
        self.point.coordinates().iter().map(|v| v.as_f64()).collect()
    }
    fn value(&self) -> Vec<f64> {
        self.formula.value(&self.x())
    }
    /// `t` and `-t`.
    fn seeds<const T: usize>(&self, t: &[f64]) -> [Vec<NumberOf<P>>; T] {
        std::array::from_fn(|k| t.iter().map(|v| NumberOf::<P>::from_f64(if k % 2 == 0 { *v } else { -*v })).collect())
    }
    /// `r` and `-r`.
    fn repeated<const T: usize>(r: &[f64]) -> Vec<f64> {
        (0..T).flat_map(|k| r.iter().map(move |v| if k % 2 == 0 { *v } else { -*v })).collect()
    }

    fn pushforwards<const T: usize>(&self, into: &mut Vec<Scenario<Pushforward<T>, F, P>>) {
        let (jac, n) = (self.formula.jacobian(&self.x()), self.tangent.len());
        let product: Vec<f64> = match n {
            0 => vec![0.0; self.value().len()],
            n => jac.chunks(n).map(|row| dot(row, &self.tangent)).collect(),
        };
        for place in [Place::Out, Place::Into] {
            let scenario = Scenario::pushforward(self.function.clone(), self.point.clone(), self.seeds(&self.tangent));
            into.push(self.finish(scenario, Self::repeated::<T>(&product), place));
        }
    }
    fn pullbacks<const T: usize>(&self, into: &mut Vec<Scenario<Pullback<T>, F, P>>) {
        let (jac, n) = (self.formula.jacobian(&self.x()), self.tangent.len());
        let column = |j: usize| jac.iter().skip(j).step_by(n).copied().collect::<Vec<f64>>();
        let product: Vec<f64> = (0..n).map(|j| dot(&column(j), &self.cotangent)).collect();
        for place in [Place::Out, Place::Into] {
            let scenario = Scenario::pullback(self.function.clone(), self.point.clone(), self.seeds(&self.cotangent));
            into.push(self.finish(scenario, Self::repeated::<T>(&product), place));
        }
    }
    fn hvps<const T: usize>(&self, into: &mut Vec<Scenario<Hvp<T>, F, P>>) {
        let x = self.x();
        let hess = self.formula.hessian(&x);
        let product: Vec<f64> = hess.chunks(x.len().max(1)).map(|row| dot(row, &self.tangent)).collect();
        for place in [Place::Out, Place::Into] {
            let scenario = Scenario::hvp(self.function.clone(), self.point.clone(), self.seeds(&self.tangent));
            let scenario = self.finish(scenario, Self::repeated::<T>(&product), place);
            into.push(scenario.expecting_first(self.formula.jacobian(&x)));
        }
    }

    /// Adds the scenarios of a function of one number.
    pub(super) fn of_number(&self, lists: &mut OfNumber<F, P>) {
        let (x, der) = (self.x(), self.formula.jacobian(&self.x()));
        for place in [Place::Out, Place::Into] {
            let scenario = Scenario::derivative(self.function.clone(), self.point.clone());
            lists.0.push(self.finish(scenario, der.clone(), place));
            let scenario = Scenario::second_derivative(self.function.clone(), self.point.clone());
            let scenario = self.finish(scenario, self.formula.hessian(&x), place);
            lists.1.push(scenario.expecting_first(der.clone()));
        }
        self.pushforwards(&mut lists.2);
        self.pullbacks(&mut lists.4);
        if self.batched {
            self.pushforwards(&mut lists.3);
            self.pullbacks(&mut lists.5);
        }
    }

    /// Adds the scenarios of a function from an array to one number.
    pub(super) fn to_number(&self, lists: &mut ToNumbers<F, P>) {
        let x = self.x();
        let (grad, hess) = (self.formula.jacobian(&x), self.formula.hessian(&x));
        for place in [Place::Out, Place::Into] {
            let scenario = Scenario::gradient(self.function.clone(), self.point.clone());
            lists.0.push(self.finish(scenario, grad.clone(), place));
            let scenario = Scenario::hessian(self.function.clone(), self.point.clone());
            let scenario = self.finish(scenario, hess.clone(), place).expecting_first(grad.clone());
            lists.3.push(self.with_pattern(scenario, &hess));
        }
        self.hvps(&mut lists.1);
        self.pushforwards(&mut lists.4);
        self.pullbacks(&mut lists.6);
        if self.batched {
            self.hvps(&mut lists.2);
            self.pushforwards(&mut lists.5);
            self.pullbacks(&mut lists.7);
        }
    }

    /// Adds the scenarios of a function from an array to an array.
    pub(super) fn to_array(&self, lists: &mut ToArrays<F, P>) {
        let x = self.x();
        let jac = self.formula.jacobian(&x);
        for place in [Place::Out, Place::Into] {
            let scenario = Scenario::jacobian(self.function.clone(), self.point.clone());
            let scenario = self.finish(scenario, jac.clone(), place);
            lists.0.push(self.with_pattern(scenario, &jac));
        }
        self.pushforwards(&mut lists.1);
        self.pullbacks(&mut lists.3);
        if self.batched {
            self.pushforwards(&mut lists.2);
            self.pullbacks(&mut lists.4);
        }
    }
}

/// The places of nonzero entries of a matrix with `columns` columns.
fn nonzeros(matrix: &[f64], columns: usize) -> Vec<(usize, usize)> {
    let columns = columns.max(1);
    (0..matrix.len()).filter(|&k| matrix[k] != 0.0).map(|k| (k / columns, k % columns)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
