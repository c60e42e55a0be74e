//! A scenario: an operator, a function, a point and the expected results.
//!
//! Made by users and by the built-in families; run by [`test_differentiation`](crate::test_differentiation),
//! [`benchmark_differentiation`](crate::benchmark_differentiation) and [`pick_fastest`](crate::pick_fastest).

use crate::counted::Counted;
use crate::operator::{
    Derivative, Gradient, Hessian, Hvp, Jacobian, Operator, Pullback, Pushforward, SecondDerivative,
};
use crate::point::{NumberOf, OwnedPoint};
use differentiation_interface_core::Base;
use std::marker::PhantomData;

/// The variants of an operator that a scenario includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Those that return their result.
    Out,
    /// Those that write it into a buffer.
    Into,
    /// All of them.
    Both,
}

/// The expected results, as flat numbers: matrices row by row, products one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    /// The value.
    pub value: Option<Vec<f64>>,
    /// The result of a first-order operator; the derivative or gradient with a second-order one.
    pub first: Option<Vec<f64>>,
    /// The result of a second-order operator.
    pub second: Option<Vec<f64>>,
}

/// One operator on one function at one point.
///
/// Made by the constructor named like the operator; the other methods set the rest, which has defaults.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// #[differentiable]
/// fn energy(x: &[f64]) -> f64 {
///     x[0] * x[0] + 3.0 * x[1]
/// }
///
/// let scenario = Scenario::gradient(Energy, vec![2.0, 5.0]).expecting([4.0, 3.0]);
/// let backends = (AutoForwardDiff::default(), AutoReverseDiff::default());
/// test_differentiation(&backends, &scenario, &Options::default()).assert();
/// ```
#[derive(Clone, Debug)]
pub struct Scenario<O, F, P: OwnedPoint> {
    pub(crate) operator: PhantomData<O>,
    pub(crate) name: String,
    pub(crate) function: Counted<F>,
    pub(crate) point: P,
    pub(crate) preparation: P,
    pub(crate) other_size: Option<P>,
    pub(crate) seeds: Vec<Vec<NumberOf<P>>>,
    pub(crate) place: Place,
    pub(crate) expected: Expected,
    pub(crate) pattern: Option<Vec<(usize, usize)>>,
    pub(crate) shapes: Option<(Vec<usize>, Vec<usize>)>,
    pub(crate) tolerance: f64,
    pub(crate) makes_values: bool,
}

impl<O: Operator, F, P: OwnedPoint> Scenario<O, F, P> {
    fn new(function: F, point: P, seeds: Vec<Vec<NumberOf<P>>>) -> Self {
        let nearby: Vec<NumberOf<P>> =
            point.coordinates().iter().map(|&v| v - v * half_cubed::<NumberOf<P>>() + half_cubed()).collect();
        let preparation = point.moved_to(&nearby).expect("a point holds as many numbers as it has");
        let single = size_of::<NumberOf<P>>() < size_of::<f64>();
        Scenario {
            operator: PhantomData,
            name: short_type_name::<F>(),
            function: Counted(function),
            point,
            preparation,
            other_size: None,
            seeds,
            place: Place::Both,
            expected: Expected::default(),
            pattern: None,
            shapes: None,
            tolerance: if single { 1e-4 } else { 1e-12 },
            makes_values: false,
        }
    }

    /// Sets the name. Default: that of the function's type.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
    /// Sets the result that the operator must return: the derivative, gradient, matrix (row by row), or the products one after the
    /// other. Without it, the checks that need no answer are made.
    pub fn expecting(mut self, result: impl Into<Vec<f64>>) -> Self {
        let part = if O::ORDER == 1 { &mut self.expected.first } else { &mut self.expected.second };
        *part = Some(result.into());
        self
    }
    /// Sets the derivative or gradient that a second-order operator must return with its result.
    pub fn expecting_first(mut self, first: impl Into<Vec<f64>>) -> Self {
        self.expected.first = Some(first.into());
        self
    }
    /// Sets the value of the function. Default: that of an evaluation on plain numbers.
    pub fn expecting_value(mut self, value: impl Into<Vec<f64>>) -> Self {
        self.expected.value = Some(value.into());
        self
    }
    /// Sets the stored places of the matrix, for backends whose matrix is sparse.
    pub fn expecting_pattern(mut self, pattern: impl Into<Vec<(usize, usize)>>) -> Self {
        self.pattern = Some(pattern.into());
        self
    }
    /// Sets the point (and contexts) of the preparation. Default: a point nearby with the same contexts.
    pub fn prepared_at(mut self, preparation: P) -> Self {
        self.preparation = preparation;
        self
    }
    /// Also prepares at this point of another length, followed by preparation again.
    pub fn prepared_again_from(mut self, other: P) -> Self {
        self.other_size = Some(other);
        self
    }
    /// Restricts the scenario to the variants that return, or to those that write into a buffer.
    pub fn in_place(mut self, place: Place) -> Self {
        self.place = place;
        self
    }
    /// Sets the allowed error, relative to the largest entry expected, or to 10⁻³ if that is larger; absolute where all entries
    /// are zero. Default: 1e-12, for `f32` 1e-4.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }
    /// The value is an object of its own, such as a vector or a matrix of another crate, for which a prepared call with value may allocate what an evaluation
    /// of the function does.
    pub fn making_values(mut self) -> Self {
        self.makes_values = true;
        self
    }
    /// Records the shapes that the flat point and the flat output represent, such as `[2, 3]` for a matrix.
    pub fn shaped(mut self, input: &[usize], output: &[usize]) -> Self {
        self.shapes = Some((input.to_vec(), output.to_vec()));
        self
    }

    /// The expected results.
    pub fn expected(&self) -> &Expected {
        &self.expected
    }
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The function.
    pub fn function(&self) -> &F {
        &self.function.0
    }
    /// The point.
    pub fn point(&self) -> &P {
        &self.point
    }
    /// The point of the preparation.
    pub fn preparation(&self) -> &P {
        &self.preparation
    }
    /// The tangents or cotangents.
    pub fn seeds(&self) -> &[Vec<NumberOf<P>>] {
        &self.seeds
    }
    /// The allowed error, relative to the largest entry expected, or to 10⁻³ if that is larger; absolute where all entries are zero.
    pub fn allowed_error(&self) -> f64 {
        self.tolerance
    }
    /// The name with the properties that distinguish scenarios of the same function: seeds, number type, shapes, in place.
    pub fn full_name(&self) -> String {
        let mut name = self.name.clone();
        if O::SEEDS > 1 {
            name += &format!(" ({} seeds)", O::SEEDS);
        }
        if <NumberOf<P>>::NAME != f64::NAME {
            name += &format!(" ({})", <NumberOf<P>>::NAME);
        }
        if let Some((input, output)) = &self.shapes {
            name += &format!(" ({input:?} -> {output:?})");
        }
        if self.place == Place::Into {
            name += " (into)";
        }
        name
    }
}

/// 1/8.
fn half_cubed<S: Base>() -> S {
    S::from_f64(0.125)
}

/// The last part of a type's path, without that of its parameters.
fn short_type_name<F>() -> String {
    let name = std::any::type_name::<F>();
    let head = name.split(['<', '(']).next().unwrap_or(name);
    let arguments = &name[head.len()..];
    let last = head.rsplit("::").next().unwrap_or(head);
    match arguments.strip_prefix('<') {
        Some(_) if last == "InPlace" => {
            let inner = arguments.trim_start_matches('<').trim_end_matches('>');
            inner.rsplit("::").next().unwrap_or(inner).to_string()
        }
        _ => last.to_string(),
    }
}

impl<F, P: OwnedPoint> Scenario<Gradient, F, P> {
    /// The gradient of a function that returns one number.
    pub fn gradient(f: F, x: P) -> Self {
        Self::new(f, x, Vec::new())
    }
}
impl<F, P: OwnedPoint> Scenario<Derivative, F, P> {
    /// The derivative of a function of one number.
    pub fn derivative(f: F, x: P) -> Self {
        Self::new(f, x, Vec::new())
    }
}
impl<F, P: OwnedPoint> Scenario<Jacobian, F, P> {
    /// The Jacobian of a function from an array to an array.
    pub fn jacobian(f: F, x: P) -> Self {
        Self::new(f, x, Vec::new())
    }
}
impl<F, P: OwnedPoint> Scenario<SecondDerivative, F, P> {
    /// The second derivative of a function of one number.
    pub fn second_derivative(f: F, x: P) -> Self {
        Self::new(f, x, Vec::new())
    }
}
impl<F, P: OwnedPoint> Scenario<Hessian, F, P> {
    /// The Hessian of a function from an array to one number.
    pub fn hessian(f: F, x: P) -> Self {
        Self::new(f, x, Vec::new())
    }
}
impl<F, P: OwnedPoint, const T: usize> Scenario<Pushforward<T>, F, P> {
    /// The Jacobian times tangents, each as long as the point.
    pub fn pushforward(f: F, x: P, tangents: [Vec<NumberOf<P>>; T]) -> Self {
        Self::new(f, x, tangents.into())
    }
}
impl<F, P: OwnedPoint, const T: usize> Scenario<Pullback<T>, F, P> {
    /// The transposed Jacobian times cotangents, each as long as the output.
    pub fn pullback(f: F, x: P, cotangents: [Vec<NumberOf<P>>; T]) -> Self {
        Self::new(f, x, cotangents.into())
    }
}
impl<F, P: OwnedPoint, const T: usize> Scenario<Hvp<T>, F, P> {
    /// The Hessian times tangents, each as long as the point.
    pub fn hvp(f: F, x: P, tangents: [Vec<NumberOf<P>>; T]) -> Self {
        Self::new(f, x, tangents.into())
    }
}
