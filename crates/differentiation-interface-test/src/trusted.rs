//! Answers of a scenario from a trusted backend.
//!
//! Called by users through [`Scenario::compute_results`].

use crate::candidate::Candidate;
use crate::driver::{At, Call, Driver, Facts, Results, Run, Task, Variant};
use crate::operator::Operator;
use crate::point::OwnedPoint;
use crate::scenario::{Expected, Scenario};
use differentiation_interface_core::error::Error;

impl<O: Operator, F, P: OwnedPoint> Scenario<O, F, P> {
    /// Computes the answers with a trusted backend.
    ///
    /// # Errors
    /// Those of the operator.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # use differentiation_interface_test::*;
    /// #[differentiable]
    /// fn product(x: &[f64]) -> f64 {
    ///     x[0] * x[1]
    /// }
    /// let scenario = Scenario::gradient(Product, vec![2.0, 5.0]).compute_results(&AutoForwardDiff::default())?;
    /// assert_eq!(scenario.expected().first.as_deref(), Some(&[5.0, 2.0][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compute_results<B: Run<O, F, P>>(mut self, trusted: &B) -> Result<Self, Error> {
        let mut answer = Answer::default();
        trusted.run(&self, &mut answer);
        self.expected = answer.results()?;
        Ok(self)
    }
}

/// The task that reads the answers of a trusted backend.
#[derive(Default)]
struct Answer(Option<Result<Expected, Error>>);

impl Answer {
    fn results(self) -> Result<Expected, Error> {
        self.0.unwrap_or_else(|| Ok(Expected::default()))
    }
}

impl Task for Answer {
    fn drive(&mut self, _: &dyn Candidate, facts: &Facts, driver: &mut dyn Driver) {
        let result = driver.call(Call::OneShot, Variant::ValueAnd, At::Point);
        self.0 = Some(result.map(|()| {
            let Results { value, first, second, .. } = driver.results();
            Expected { value: Some(value), first: Some(first), second: (facts.order == 2).then_some(second) }
        }));
    }
    fn skip(&mut self, _: &dyn Candidate, _: &str, _: &'static str, _: &str) {}
}
