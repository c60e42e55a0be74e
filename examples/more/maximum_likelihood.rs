//! Maximum likelihood with standard errors: the inverse of the observed information, which is minus the Hessian of the log
//! likelihood, estimates the covariance of the estimates.
//!
//! Two classical data sets, both in the public domain:
//!
//! - Deaths by horse kick in 10 corps of the Prussian army over 20 years, 200 corps-years (L. von Bortkiewicz, Das Gesetz der
//!   kleinen Zahlen, 1898): a Poisson model with one parameter.
//! - O-ring distress in the 23 flights of the space shuttle before the Challenger accident, by temperature at launch in °F
//!   (Report of the Presidential Commission, 1986; table in Dalal, Fowlkes and Hoadley, J. Am. Stat. Assoc. 84, 1989): a
//!   logistic model with two parameters.
//!
//! Run with `cargo run --release --example maximum_likelihood`.

use differentiation_interface::prelude::*;
use differentiation_interface::rules::ln_gamma;

/// Corps-years with 0, 1, 2, 3 and 4 deaths.
const HORSE_KICKS: [(f64, f64); 5] = [(0.0, 109.0), (1.0, 65.0), (2.0, 22.0), (3.0, 3.0), (4.0, 1.0)];

/// Poisson log likelihood of a rate.
fn poisson<T: Real>(rate: T, counts: &[(f64, f64)]) -> T {
    counts.iter().map(|&(deaths, times)| times * (deaths * rate.ln() - rate - ln_gamma(deaths + 1.0))).sum()
}

/// Temperature at launch, and whether an O-ring showed thermal distress.
const FLIGHTS: [(f64, bool); 23] = [
    (66.0, false),
    (70.0, true),
    (69.0, false),
    (68.0, false),
    (67.0, false),
    (72.0, false),
    (73.0, false),
    (70.0, false),
    (57.0, true),
    (63.0, true),
    (70.0, true),
    (78.0, false),
    (67.0, false),
    (53.0, true),
    (67.0, false),
    (75.0, false),
    (70.0, false),
    (81.0, false),
    (76.0, false),
    (79.0, false),
    (75.0, true),
    (76.0, false),
    (58.0, true),
];

/// Logistic log likelihood of intercept and slope.
fn logistic<T: Real>(beta: &[T; 2], flights: &[(f64, bool)]) -> T {
    let log_probability = |&(temperature, distress): &(f64, bool)| {
        let score = beta[0] + beta[1] * temperature;
        if distress { -(-score).softplus() } else { -score.softplus() }
    };
    flights.iter().map(log_probability).sum()
}

fn main() -> Result<(), Error> {
    // One parameter: value, derivative and second derivative come together.
    let mut likelihood = prepare_second_derivative(&poisson_of, &AutoForwardDiff::default(), 1.0)?;
    let mut rate = 1.0;
    let information = loop {
        let (_, score, curvature) = likelihood.value_derivative_and_second_derivative(rate)?;
        let step = -score / curvature;
        rate += step;
        if step.abs() < 1e-12 {
            break -curvature;
        }
    };
    let error = information.sqrt().recip();
    println!("horse kicks: {rate:.4} deaths per corps and year, standard error {error:.4}");
    // 122 deaths in 200 corps-years; the variance of the estimate is rate / 200.
    assert!((rate - 122.0 / 200.0).abs() < 1e-12);
    assert!((error - (0.61_f64 / 200.0).sqrt()).abs() < 1e-9);

    // Several parameters: value, gradient and Hessian come together.
    let model = |beta: &[_; 2], flights: &[(f64, bool)]| logistic(beta, flights);
    let flights = Constant(&FLIGHTS[..]);
    let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let mut likelihood = prepare_hessian(&model, &backend, ([0.0_f64; 2], flights))?;
    let mut beta = [0.0_f64; 2];
    let (value, covariance) = loop {
        let (value, grad, hess) = likelihood.value_gradient_and_hessian((beta, flights))?;
        let det = hess[(0, 0)] * hess[(1, 1)] - hess[(0, 1)] * hess[(1, 0)];
        let inverse = [[hess[(1, 1)] / det, -hess[(0, 1)] / det], [-hess[(1, 0)] / det, hess[(0, 0)] / det]];
        let step = inverse.map(|row| -(row[0] * grad[0] + row[1] * grad[1]));
        beta = [beta[0] + step[0], beta[1] + step[1]];
        if step.iter().all(|s| s.abs() < 1e-10) {
            break (value, inverse.map(|row| row.map(|v| -v)));
        }
    };
    let errors = [covariance[0][0].sqrt(), covariance[1][1].sqrt()];
    println!("O-rings: intercept {:.4} ({:.4}), slope {:.4} ({:.4})", beta[0], errors[0], beta[1], errors[1]);
    println!("         deviance {:.3}", -2.0 * value);
    // The fit of textbooks and of R's glm(distress ~ temperature, binomial).
    let published = [(beta[0], 15.0429), (errors[0], 7.3786), (beta[1], -0.2322), (errors[1], 0.1082)];
    assert!(published.iter().all(|(found, expected)| (found - expected).abs() < 6e-5), "{published:?}");
    assert!((-2.0 * value - 20.315).abs() < 6e-4);
    // At the 31 °F of the last launch.
    let probability = (beta[0] + 31.0 * beta[1]).logistic();
    println!("         probability of distress at 31 °F: {probability:.4}");
    assert!(probability > 0.999);
    Ok(())
}

fn poisson_of<T: Real>(rate: T) -> T {
    poisson(rate, &HORSE_KICKS)
}
