//! Minimisation under nonlinear constraints by sequential quadratic programming, with [`clarabel`](https://docs.rs/clarabel) for the quadratic
//! programs.
//!
//! Called by users. Calls [`Objective`] and [`Residuals`] for gradients and Jacobians, and the interior-point solver once per step.
//!
//! The method is that of Han and Powell (Nocedal and Wright, *Numerical Optimization*, 2nd edition, sections 18.1 to 18.5): the Hessian of the
//! Lagrangian by damped BFGS updates (procedure 18.2), a line search on the ℓ₁ merit function (algorithm 18.3). It is for problems that are dense
//! and small, up to some hundred variables.

use crate::objective::{Objective, objective};
use crate::residuals::{Residuals, residuals};
use ::clarabel::algebra::CscMatrix;
use ::clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT};
use differentiation_interface::evaluate::{ArrayOutput, NumberOutput};
use differentiation_interface::matrix::Matrix;
use differentiation_interface::operators::{GradientBackend, JacobianBackend};
use differentiation_interface::point::Slice;
use differentiation_interface::{DerivativeMatrix, Function, error};
use std::fmt;
use std::ops::Deref;

/// The problem to minimise f(x) under constraints c(x), made by [`constrained`].
pub struct Constrained<H, G, B>
where
    H: Deref<Target: Sized>,
    G: Deref<Target: Sized>,
    B: GradientBackend<H::Target, Slice<f64>, ()> + JacobianBackend<G::Target, Slice<f64>, ()>,
{
    objective: Objective<H, B>,
    constraints: Residuals<G, B>,
    equalities: usize,
    tolerance: f64,
    steps: usize,
}

/// Where the method ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The point.
    pub x: Vec<f64>,
    /// f(x).
    pub value: f64,
    /// The multipliers λ of the constraints: ∇f + ∇c λ = 0, and λᵢ ≥ 0 for inequalities.
    pub multipliers: Vec<f64>,
    /// Number of steps.
    pub steps: usize,
}

/// Why no solution was found.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A value or a derivative could not be computed.
    Derivative(error::Error),
    /// The quadratic program of a step was not solved, because the linearised constraints contradict each other for instance.
    QuadraticProgram {
        /// The number of the step.
        step: usize,
        /// What the solver says.
        reason: String,
    },
    /// A value or a derivative at the start, or at the point that a step led to, is not finite.
    NotFinite {
        /// The number of the step.
        step: usize,
    },
    /// More equalities than constraints.
    Equalities {
        /// Of the call.
        equalities: usize,
        /// What the function of the constraints returns.
        constraints: usize,
    },
    /// The merit function does not decrease along the direction of a step.
    NoDescent {
        /// The number of the step.
        step: usize,
    },
    /// The largest number of steps was made.
    Steps {
        /// That number.
        steps: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Derivative(error) => error.fmt(f),
            Error::QuadraticProgram { step, reason } => {
                write!(
                    f,
                    "sequential quadratic programming: the quadratic program of step {step} was not solved ({reason}): the constraints contradict each other, the objective has no lower bound, or another starting point is needed"
                )
            }
            Error::NotFinite { step } => write!(
                f,
                "sequential quadratic programming: a value or derivative is not finite before step {step}; start where all functions have values and derivatives"
            ),
            Error::Equalities { equalities, constraints } => write!(
                f,
                "sequential quadratic programming: {equalities} of {constraints} constraints are equalities; pass at most {constraints}"
            ),
            Error::NoDescent { step } => write!(
                f,
                "sequential quadratic programming: no decrease of the merit function in step {step}; scale the functions, or raise the tolerance if rounding ends the descent"
            ),
            Error::Steps { steps } => {
                write!(
                    f,
                    "sequential quadratic programming: no solution after {steps} steps; allow more or start nearer to it"
                )
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Derivative(error) => Some(error),
            _ => None,
        }
    }
}

impl From<error::Error> for Error {
    fn from(error: error::Error) -> Self {
        Error::Derivative(error)
    }
}

/// Makes the problem to minimise f(x) where cᵢ(x) = 0 for the first `equalities` constraints and cᵢ(x) ≤ 0 for the others, with derivatives by
/// `backend` at points of the length of `x`.
///
/// `f` and `c` are pointers to functions that accept all numbers.
///
/// # Errors
/// Those of [`prepare_gradient`](differentiation_interface::operators::prepare_gradient) and
/// [`prepare_jacobian`](differentiation_interface::operators::prepare_jacobian).
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_solvers::clarabel::constrained;
///
/// #[differentiable]
/// fn sum(x: &[f64]) -> f64 {
///     x[0] + x[1]
/// }
/// #[differentiable]
/// fn circle(x: &[f64]) -> [f64; 1] {
///     [x[0] * x[0] + x[1] * x[1] - 2.0]
/// }
///
/// // Least on the circle at (-1, -1), where ∇f = (1, 1) = -λ ∇c for λ = 1/2.
/// let solution = constrained(&Sum, &Circle, 1, &AutoForwardDiff::default(), &[-2.0, 0.0])?.solve(&[-2.0, 0.0])?;
/// assert!(solution.x.iter().all(|x| (x + 1.0).abs() < 1e-6));
/// assert!((solution.multipliers[0] - 0.5).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn constrained<H, G, B>(
    f: H,
    c: G,
    equalities: usize,
    backend: &B,
    x: &[f64],
) -> Result<Constrained<H, G, B>, error::Error>
where
    H: Deref<Target: Sized> + Clone,
    G: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()> + JacobianBackend<G::Target, Slice<f64>, ()>,
{
    let (objective, constraints) = (objective(f, backend, x)?, residuals(c, backend, x)?);
    Ok(Constrained { objective, constraints, equalities, tolerance: 1e-7, steps: 100 })
}

/// The functions and their derivatives at a point.
struct State<J> {
    x: Vec<f64>,
    value: f64,
    grad: Vec<f64>,
    constraints: Vec<f64>,
    jac: J,
}

impl<J: DerivativeMatrix<f64>> State<J> {
    /// The gradient of the Lagrangian f + λᵀc by x.
    fn lagrangian(&self, multipliers: &[f64]) -> Vec<f64> {
        let column = |j: usize| multipliers.iter().enumerate().map(|(i, m)| m * self.jac.entry(i, j)).sum::<f64>();
        self.grad.iter().enumerate().map(|(j, g)| g + column(j)).collect()
    }

    fn is_finite(&self) -> bool {
        let (m, n) = self.jac.size();
        let entries = (0..m).flat_map(|i| (0..n).map(move |j| self.jac.entry(i, j)));
        let vectors = self.grad.iter().chain(&self.constraints).copied();
        vectors.chain(entries).chain([self.value]).all(f64::is_finite)
    }
}

impl<H, G, B> Constrained<H, G, B>
where
    H: Deref<Target: Function<[f64], Output: NumberOutput<f64>> + Sized> + Clone,
    G: Deref<Target: Function<[f64], Output: ArrayOutput<f64>> + Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()> + JacobianBackend<G::Target, Slice<f64>, ()>,
{
    /// The largest entry of the gradient of the Lagrangian, and the largest violation of a constraint; 1e-7 unless set.
    pub fn with_tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// The largest number of steps; 100 unless set.
    pub fn with_max_steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// Minimises from `start`, which need not satisfy the constraints.
    ///
    /// # Errors
    /// All of [`Error`].
    pub fn solve(&self, start: &[f64]) -> Result<Solution, Error> {
        let n = start.len();
        let mut state = self.at(start.to_vec())?;
        let mut hess = identity(n);
        let mut penalty = 0.0_f64;
        if self.equalities > state.constraints.len() {
            return Err(Error::Equalities { equalities: self.equalities, constraints: state.constraints.len() });
        }
        for step in 0..self.steps {
            if !state.is_finite() {
                return Err(Error::NotFinite { step });
            }
            let (direction, multipliers) = self.direction(step, &hess, &state)?;
            let old = state.lagrangian(&multipliers);
            let slack = state.constraints.iter().zip(&multipliers).skip(self.equalities);
            let complementary = slack.map(|(c, m)| (c * m).abs()).fold(0.0, f64::max);
            if largest(&old).max(self.largest_violation(&state.constraints)).max(complementary) <= self.tolerance {
                return Ok(Solution { x: state.x, value: state.value, multipliers, steps: step });
            }
            // The merit function is exact for penalties above the largest multiplier.
            if penalty < 1.1 * largest(&multipliers) {
                penalty = 2.0 * largest(&multipliers);
            }
            let x = self.line_search(step, &state, &direction, penalty)?;
            let next = self.at(x)?;
            let moved: Vec<f64> = next.x.iter().zip(&state.x).map(|(a, b)| a - b).collect();
            let change: Vec<f64> = next.lagrangian(&multipliers).iter().zip(&old).map(|(a, b)| a - b).collect();
            update(&mut hess, &moved, &change);
            state = next;
        }
        Err(Error::Steps { steps: self.steps })
    }

    /// Functions and derivatives at `x`.
    fn at(&self, x: Vec<f64>) -> Result<State<<B as JacobianBackend<G::Target, Slice<f64>, ()>>::Matrix>, Error> {
        let mut grad = vec![0.0; x.len()];
        let value = self.objective.value_and_gradient_into(&mut grad, &x)?;
        let (constraints, jac) = (self.constraints.value(&x)?, self.constraints.jacobian(&x)?);
        Ok(State { x, value, grad, constraints, jac })
    }

    /// The violation of constraint `i`, whose value is `c`.
    fn violation(&self, i: usize, c: f64) -> f64 {
        if i < self.equalities { c.abs() } else { c.max(0.0) }
    }

    fn largest_violation(&self, constraints: &[f64]) -> f64 {
        constraints.iter().enumerate().map(|(i, c)| self.violation(i, *c)).fold(0.0, f64::max)
    }

    fn violations(&self, constraints: &[f64]) -> f64 {
        constraints.iter().enumerate().map(|(i, c)| self.violation(i, *c)).sum()
    }

    /// Solves the quadratic program: minimise ½ dᵀ hess d + grad·d where c + jac d = 0 or ≤ 0. Returns d and the multipliers.
    fn direction(
        &self,
        step: usize,
        hess: &Matrix<f64>,
        state: &State<impl DerivativeMatrix<f64>>,
    ) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let failed = |reason: String| Error::QuadraticProgram { step, reason };
        let (m, n) = (state.constraints.len(), state.x.len());
        if n == 0 {
            return Ok((Vec::new(), vec![0.0; m]));
        }
        let equalities = self.equalities;
        let cones = [ZeroConeT(equalities), NonnegativeConeT(m - equalities)];
        let bounds: Vec<f64> = state.constraints.iter().map(|c| -c).collect();
        let tolerance = (self.tolerance * 1e-3).max(1e-12);
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: tolerance,
            tol_gap_rel: tolerance,
            tol_feas: tolerance,
            ..DefaultSettings::default()
        };
        let hess = columns(n, n, |i, j| hess[(i, j)]);
        let jac = columns(m, n, |i, j| state.jac.entry(i, j));
        let mut solver = DefaultSolver::new(&hess, &state.grad, &jac, &bounds, &cones, settings)
            .map_err(|error| failed(error.to_string()))?;
        solver.solve();
        match solver.solution.status {
            // With reduced accuracy far from the solution is good enough; the steps check the final one themselves.
            SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress => {
                Ok((solver.solution.x, solver.solution.z))
            }
            status => Err(failed(format!("{status:?}"))),
        }
    }

    /// Returns the next point on the line, where the merit function has decreased enough.
    fn line_search(
        &self,
        step: usize,
        state: &State<impl DerivativeMatrix<f64>>,
        direction: &[f64],
        penalty: f64,
    ) -> Result<Vec<f64>, Error> {
        let violations = self.violations(&state.constraints);
        let merit = state.value + penalty * violations;
        let slope = dot(&state.grad, direction) - penalty * violations;
        // Differences of merits below this are rounding.
        let rounding = 4.0 * f64::EPSILON * (state.value.abs() + penalty * violations).max(1.0);
        let mut length = 1.0;
        while length > 1e-12 {
            let x: Vec<f64> = state.x.iter().zip(direction).map(|(x, d)| x + length * d).collect();
            let found = self.objective.value(&x)? + penalty * self.violations(&self.constraints.value(&x)?);
            if found <= merit + 1e-4 * length * slope + rounding {
                return Ok(x);
            }
            length *= 0.5;
        }
        Err(Error::NoDescent { step })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The largest absolute entry.
fn largest(a: &[f64]) -> f64 {
    a.iter().map(|a| a.abs()).fold(0.0, f64::max)
}

fn identity(n: usize) -> Matrix<f64> {
    let mut matrix = Matrix::filled(n, n, 0.0);
    (0..n).for_each(|i| matrix[(i, i)] = 1.0);
    matrix
}

/// A dense matrix in the form that the solver takes.
fn columns(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> CscMatrix<f64> {
    let entry = &entry;
    let starts = (0..=columns).map(|j| j * rows).collect();
    let (indices, entries) = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, entry(i, j)))).unzip();
    CscMatrix::new(rows, columns, starts, indices, entries)
}

/// Updates the approximate Hessian by a step `s` along which the gradient changed by `y`; damped, so that it stays positive definite.
fn update(hess: &mut Matrix<f64>, s: &[f64], y: &[f64]) {
    let n = s.len();
    let hs: Vec<f64> = (0..n).map(|i| dot(hess.row(i), s)).collect();
    let (shs, sy) = (dot(s, &hs), dot(s, y));
    if shs <= f64::MIN_POSITIVE {
        return;
    }
    let theta = if sy >= 0.2 * shs { 1.0 } else { 0.8 * shs / (shs - sy) };
    let r: Vec<f64> = y.iter().zip(&hs).map(|(y, hs)| theta * y + (1.0 - theta) * hs).collect();
    let sr = dot(s, &r);
    for i in 0..n {
        for j in 0..n {
            hess[(i, j)] += r[i] * r[j] / sr - hs[i] * hs[j] / shs;
        }
    }
}
