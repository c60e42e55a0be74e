//! The reference of a scenario: its answers, or the results of the backend itself once they pass the checks that need none.

use super::session::{Reference, Session, Stop};
use crate::driver::{At, Call, Results, Variant};
use crate::outcome::Check;

impl Session<'_> {
    /// Finds the reference.
    pub(super) fn find_reference(&mut self) -> Result<(), Stop> {
        let plain = self.driver.plain_value(At::Point);
        if let Some(expected) = self.facts.expected.value.clone() {
            self.compare(Check::Function, "on plain numbers", super::compare::Part::Value, &plain, &expected)?;
        }
        let expected = &self.facts.expected;
        self.reference = Reference { value: plain, first: expected.first.clone(), second: expected.second.clone() };
        let main = if self.facts.order == 1 { &self.reference.first } else { &self.reference.second };
        if main.is_some() {
            return Ok(());
        }
        let call = self.call_name(Call::OneShot, Variant::ValueAnd);
        let result = self.driver.call(Call::OneShot, Variant::ValueAnd, At::Point);
        self.no_error(&call, result)?;
        let Results { first, second, .. } = self.driver.results();
        self.adjoint(&first)?;
        self.converges(&first, &second)?;
        self.reference.first.get_or_insert(first);
        if self.facts.order == 2 {
            self.reference.second = Some(second);
        }
        Ok(())
    }

    /// <dy, J dx> = <J' dy, dx>, for each seed and one direction of the other side.
    fn adjoint(&mut self, products: &[f64]) -> Result<(), Stop> {
        if !self.options.makes(Check::Adjoint) || !matches!(self.facts.operator, "pushforward" | "pullback") {
            return Ok(());
        }
        let length = products.len() / self.facts.seeds.max(1);
        let other_seed = direction(length);
        let Some(other) = self.driver.product_of_the_other_kind(&other_seed) else { return Ok(()) };
        let other = match other {
            Ok(other) => other,
            Err(error) => {
                let names = ["pushforward", "pullback"];
                let name = names[usize::from(self.facts.operator == names[0])];
                self.note(Check::Error, name, format!("it returned the error `{error}`"));
                return Err(Stop);
            }
        };
        for (seed, product) in self.driver.seeds().iter().zip(products.chunks(length.max(1))) {
            let (left, right) = (dot(product, &other_seed), dot(&other, seed));
            let terms = product.iter().zip(&other_seed).map(|(a, b)| (a * b).abs()).filter(|term| term.is_finite());
            let other_terms = other.iter().zip(seed).map(|(a, b)| (a * b).abs()).filter(|term| term.is_finite());
            let scale = terms.sum::<f64>().max(other_terms.sum());
            let allowed = 10.0 * self.tolerance(1) * if scale == 0.0 { 1.0 } else { scale };
            self.checks += 1;
            if !super::compare::agree(left, right, allowed) {
                let detail = format!("<dy, J dx> is {left} by pushforward, {right} by pullback");
                self.note(Check::Adjoint, "pushforward and pullback", detail);
                return Err(Stop);
            }
        }
        Ok(())
    }

    /// Checks that central differences of the result one order below converge to the result with the square of the step.
    fn converges(&mut self, first: &[f64], second: &[f64]) -> Result<(), Stop> {
        if !self.options.makes(Check::Convergence) {
            return Ok(());
        }
        let (n, operator) = (self.facts.inputs, self.facts.operator);
        let d = direction(n);
        let along =
            |matrix: &[f64]| -> Vec<Option<f64>> { matrix.chunks(n.max(1)).map(|row| slope(row, &d)).collect() };
        let scaled = |numbers: &[f64]| -> Vec<Option<f64>> { numbers.iter().map(|v| Some(v * d[0])).collect() };
        let known = |numbers: &[f64]| -> Vec<Option<f64>> { numbers.iter().map(|v| Some(*v)).collect() };
        match operator {
            "derivative" => self.approaches(Below::Value, &d, &scaled(first)),
            "gradient" | "jacobian" => self.approaches(Below::Value, &d, &along(first)),
            "pushforward" => {
                let products: Vec<Vec<f64>> = parts(first, self.facts.seeds);
                self.driver
                    .seeds()
                    .iter()
                    .zip(&products)
                    .try_for_each(|(seed, p)| self.approaches(Below::Value, seed, &known(p)))
            }
            "pullback" => {
                let seeds = self.driver.seeds();
                let products = parts(first, self.facts.seeds);
                seeds
                    .into_iter()
                    .zip(&products)
                    .try_for_each(|(seed, p)| self.approaches(Below::ValueTimes(seed), &d, &[slope(p, &d)]))
            }
            "second_derivative" => {
                self.approaches(Below::Value, &d, &scaled(first))?;
                self.approaches(Below::First, &d, &scaled(second))
            }
            "hessian" => {
                self.approaches(Below::Value, &d, &along(first))?;
                self.approaches(Below::First, &d, &along(second))
            }
            _ => {
                self.approaches(Below::Value, &d, &along(first))?;
                let products = parts(second, self.facts.seeds);
                self.driver
                    .seeds()
                    .iter()
                    .zip(&products)
                    .try_for_each(|(seed, p)| self.approaches(Below::First, seed, &known(p)))
            }
        }
    }

    /// Checks that central differences along `d` approach `derivative`, where they are finite. `None` is infinite with a sign that is not known.
    fn approaches(&mut self, below: Below, d: &[f64], derivative: &[Option<f64>]) -> Result<(), Stop> {
        let length = d.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        if length == 0.0 {
            return Ok(());
        }
        let epsilon = self.facts.epsilon;
        let mut quotients = [Vec::new(), Vec::new()];
        let mut noise = 0.0_f64;
        for (k, quotients) in quotients.iter_mut().enumerate() {
            let step = epsilon.powf(0.25) / length / [1.0, 2.0][k];
            let right = self.below(&below, d, step)?;
            let left = self.below(&below, d, -step)?;
            let size = right.iter().chain(&left).filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
            noise = noise.max(100.0 * epsilon * size / step);
            quotients.extend(right.iter().zip(&left).map(|(r, l)| (r - l) / (2.0 * step)));
        }
        let order = if matches!(below, Below::First) { 2 } else { 1 };
        let inexact = self.tolerance[order - 1].unwrap_or(0.0);
        // Where a derivative is zero, that of a backend which is not exact is as large as its error.
        let known = derivative.iter().flatten().filter(|v| v.is_finite());
        let floor = noise + inexact * known.fold(1.0_f64, |largest, v| largest.max(v.abs()));
        for (i, expected) in derivative.iter().enumerate() {
            let quotients = [quotients[0][i], quotients[1][i]];
            self.checks += 1;
            if !approach(quotients, *expected, floor) {
                let expected = expected.unwrap_or(f64::INFINITY);
                let detail = format!(
                    "along a direction, entry [{i}] gives {expected}; central differences give {} and, at half the step, {}",
                    quotients[0], quotients[1]
                );
                let call = self.call_name(Call::OneShot, Variant::ValueAnd);
                self.note(Check::Convergence, &call, detail);
                return Err(Stop);
            }
        }
        Ok(())
    }

    /// The result one order below, at the point moved along `d`.
    fn below(&mut self, below: &Below, d: &[f64], step: f64) -> Result<Vec<f64>, Stop> {
        self.driver.move_along(d, step);
        Ok(match below {
            Below::Value => self.driver.plain_value(At::Moved),
            Below::ValueTimes(seed) => vec![dot(seed, &self.driver.plain_value(At::Moved))],
            Below::First => {
                let call = self.call_name(Call::OneShot, Variant::ValueAnd);
                let result = self.driver.call(Call::OneShot, Variant::ValueAnd, At::Moved);
                self.no_error(&call, result)?;
                self.driver.results().first
            }
        })
    }
}

/// The function that is differenced.
enum Below {
    Value,
    ValueTimes(Vec<f64>),
    First,
}

/// Whether central differences with a step and half of it approach `derivative`, which is infinite without a known sign if `None`.
/// Where they are not finite, as at the end of a domain, they say nothing.
fn approach(quotients: [f64; 2], derivative: Option<f64>, floor: f64) -> bool {
    if !quotients.iter().all(|quotient| quotient.is_finite()) {
        return true;
    }
    let Some(derivative) = derivative.filter(|derivative| !derivative.is_infinite()) else {
        // They grow like a power of the step: by 2^(2/3) for the cube root at zero.
        let sign = derivative.unwrap_or(quotients[1]).signum();
        let [first, second] = quotients.map(|quotient| quotient * sign);
        return second > floor && second > 1.1 * first;
    };
    let error = quotients.map(|quotient| (quotient - derivative).abs());
    // Halving the step divides the error by four.
    error[1] <= floor || error[1] <= 0.4 * error[0]
}

/// Pairwise different entries between 1/2 and 1, of both signs, so that exchanged entries of a derivative change its product with
/// them. They have few binary digits and the first is 1, so that points moved along them are exact.
fn direction(n: usize) -> Vec<f64> {
    // The digits of `i` behind the point in reverse order: 0, 1/2, 1/4, 3/4, 1/8, 5/8.
    let reversed = |i: usize| (i as u32).reverse_bits() as f64 / 2.0_f64.powi(32);
    (0..n).map(|i| if i % 3 == 1 { -1.0 } else { 1.0 } * (1.0 - 0.5 * reversed(i))).collect()
}

fn parts(numbers: &[f64], n: usize) -> Vec<Vec<f64>> {
    let length = numbers.len() / n.max(1);
    (0..n).map(|k| numbers[k * length..(k + 1) * length].to_vec()).collect()
}

/// The derivative along `d`; `None` where infinite terms of both signs meet.
fn slope(row: &[f64], d: &[f64]) -> Option<f64> {
    let slope = dot(row, d);
    (!slope.is_nan() || row.iter().any(|v| v.is_nan())).then_some(slope)
}

/// Zeros of `b` take no part, also beside an infinite entry.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).filter(|(_, b)| **b != 0.0).map(|(a, b)| a * b).sum()
}
