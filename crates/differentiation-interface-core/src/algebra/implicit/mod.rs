//! Functions that equations define: roots, minimisers, fixed points. Their derivatives take one linear solve, whatever solver found
//! the value.
//!
//! Called by users inside differentiated functions. With F(x, p) = 0 along x(p), dx = -(∂F/∂x)⁻¹ ∂F/∂p dp. The solver runs on plain
//! numbers and is not differentiated. The partial derivatives of F are taken by dual numbers over the numbers of the outer
//! differentiation, the system is solved by the rule of [`dense`](super::dense); so every engine has derivatives of any order.
//!
//! What no operation in the conditions connects is absent: a partial derivative that is infinite or NaN concerns the unknowns and parameters that
//! depend on it, and no others. At a point where equations that depend on each other are singular, reverse mode gives NaN for their parameters, and those of
//! the equations that they take unknowns from, also where the cotangents do not reach them; where an unknown is in no equation, all are taken for dependent.
//!
//! A value that the solver leaves inaccurate stays so; its derivatives are those of an exact root at the place where it stopped, with an
//! error of the same order.

mod directions;
mod structure;

use super::dense::plain::Kept;
use super::dense::shapes::Structure;
use super::dense::system::{Solve, solve};
use crate::custom::{Custom, CustomRule, Halves};
use crate::error::ErrorKind;
use crate::fault;
use crate::recordings::EngineScalar;
use crate::scalar::{Real, Scalar};
use directions::Number;
use std::sync::{Arc, Mutex};
use structure::Jacobian;

/// The equations F(x, p) = 0 of an implicit function.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::implicit::{Conditions, root};
/// use differentiation_interface::prelude::*;
///
/// /// x³ + p x = 10.
/// struct Cubic;
/// impl Conditions for Cubic {
///     fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
///         vec![x[0].powi(3) + p[0] * x[0] - 10.0]
///     }
/// }
///
/// let bisection = |p: &[f64]| {
///     let (mut low, mut high) = (0.0_f64, 10.0);
///     while low < 0.5 * (low + high) && 0.5 * (low + high) < high {
///         let x = 0.5 * (low + high);
///         if x.powi(3) + p[0] * x < 10.0 { low = x } else { high = x }
///     }
///     vec![high]
/// };
/// let cubic = root(Cubic, bisection);
/// // x = 2 at p = 1, and dx/dp = -x / (3x² + p) = -2/13.
/// let grad = gradient(&|p: &[_]| cubic.number(p), &AutoReverseDiff::default(), &[1.0_f64])?;
/// assert!((grad[0] + 2.0 / 13.0).abs() < 1e-14);
/// # Ok::<(), Error>(())
/// ```
pub trait Conditions: Send + Sync + 'static {
    /// Returns F at unknowns `x` and parameters `p`: as many numbers as there are unknowns.
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T>;
}

/// A function f(x, p) that is minimised over x.
pub trait Objective: Send + Sync + 'static {
    /// Returns f at unknowns `x` and parameters `p`.
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> T;
}

/// A map G(x, p) whose fixed point x = G(x, p) is wanted.
pub trait Map: Send + Sync + 'static {
    /// Returns G at unknowns `x` and parameters `p`: as many numbers as there are unknowns.
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T>;
}

/// The function x(p) with F(x, p) = 0 for `conditions` F. At plain parameters, `solver` finds x.
///
/// The conditions are evaluated for x and p at numbers of the outer differentiation with four tangents each: a product with the
/// Jacobian takes n/4 evaluations for n unknowns, a product with its transpose as many for the parameters too.
pub fn root<F: Conditions, V: Fn(&[f64]) -> Vec<f64> + Send + Sync + 'static>(
    conditions: F,
    solver: V,
) -> Custom<Implicit<F, V>> {
    Custom::new(Implicit { conditions, solver, kept: Mutex::new(None), factors: Arc::default() })
}

/// The function x(p) that minimises `objective` over x: the root of its gradient. At plain parameters, `solver` finds x.
///
/// The second derivatives of the objective with respect to x must be regular at the minimum. For n unknowns they take n²/16 evaluations of the
/// objective; [`root`] of a gradient that you write takes n/4 evaluations of that.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::implicit::{Objective, argmin};
/// use differentiation_interface::prelude::*;
///
/// /// cosh(x - p²).
/// struct Distance;
/// impl Objective for Distance {
///     fn call<T: Real>(&self, x: &[T], p: &[T]) -> T {
///         (x[0] - p[0] * p[0]).cosh()
///     }
/// }
///
/// let closest = argmin(Distance, |p: &[f64]| vec![p[0] * p[0]]);
/// assert_eq!(jacobian(&closest, &AutoForwardDiff::default(), &[3.0])?, [[6.0]]);
/// assert_eq!(hessian(&|p: &[_]| closest.number(p), &AutoForwardDiff::default(), &[3.0])?, [[2.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn argmin<F: Objective, V: Fn(&[f64]) -> Vec<f64> + Send + Sync + 'static>(
    objective: F,
    solver: V,
) -> Custom<Implicit<Stationary<F>, V>> {
    root(Stationary(objective), solver)
}

/// The function x(p) with x = G(x, p) for `map` G. At plain parameters, `solver` finds x, for instance by iteration.
pub fn fixed_point<F: Map, V: Fn(&[f64]) -> Vec<f64> + Send + Sync + 'static>(
    map: F,
    solver: V,
) -> Custom<Implicit<Fixed<F>, V>> {
    root(Fixed(map), solver)
}

/// The conditions ∂f/∂x = 0 of a minimum.
#[derive(Clone, Copy, Debug)]
pub struct Stationary<F>(pub F);

impl<F: Objective> Conditions for Stationary<F> {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        let mut gradient = vec![T::default(); x.len()];
        let p = directions::fixed(p);
        directions::each_part(x, |first, x| {
            let tangents = directions::tangents(&self.0.call(x, &p));
            for (entry, tangent) in gradient[first..].iter_mut().zip(tangents) {
                *entry = tangent.unwrap_or_default();
            }
        });
        gradient
    }
}

/// The conditions x - G(x, p) = 0 of a fixed point.
#[derive(Clone, Copy, Debug)]
pub struct Fixed<F>(pub F);

impl<F: Map> Conditions for Fixed<F> {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        let mut images = self.0.call(x, p);
        // Images of another length are so many conditions, which are refused.
        images.iter_mut().zip(x).for_each(|(image, x)| *image = *x - *image);
        images
    }
}

/// The rule of an implicit function: conditions and a solver. Made by [`root`], [`argmin`] and [`fixed_point`].
pub struct Implicit<F, V> {
    conditions: F,
    solver: V,
    /// The bits of the last plain point, x and p, and ∂F/∂x there: the tangents at a point share it.
    kept: Mutex<Option<([Vec<u64>; 2], Arc<Jacobian<f64>>)>>,
    factors: Arc<Kept>,
}

/// The numbers without their derivatives.
fn plain<S: Scalar<Base = f64>>(numbers: &[S]) -> Vec<f64> {
    numbers.iter().map(|v| v.peek()).collect()
}

impl<F: Conditions, V> Implicit<F, V> {
    /// The conditions at dual numbers.
    fn conditions<S: Scalar<Base = f64>>(&self, x: &[Number<S>], p: &[Number<S>]) -> Vec<Number<S>> {
        let mut conditions = self.conditions.call(x, p);
        let (found, unknowns) = (conditions.len(), x.len());
        if found != unknowns {
            fault::report(ErrorKind::ConditionsLength { unknowns, found });
            conditions.resize(unknowns, Number::default());
        }
        conditions
    }

    /// ∂F/∂x.
    fn by_unknowns<S: Scalar<Base = f64>>(&self, x: &[S], p: &[S]) -> Jacobian<S> {
        let n = x.len();
        let mut entries = vec![None; n * n];
        let fixed = directions::fixed(p);
        directions::each_part(x, |first, x| {
            for (i, condition) in self.conditions(x, &fixed).iter().enumerate() {
                let tangents = directions::tangents(condition);
                for (j, tangent) in (first..n).zip(tangents) {
                    entries[i + n * j] = tangent;
                }
            }
        });
        Jacobian::new(n, &entries)
    }

    /// -(∂F/∂x)⁻¹ `right`, or the same with the transpose; `None` where the solution does not depend on the right side, which is absent at some places.
    fn solve<S: Scalar<Base = f64>>(&self, transposed: bool, x: &[S], p: &[S], right: &[Option<S>]) -> Vec<Option<S>> {
        if right.iter().all(Option::is_none) {
            return vec![None; x.len()];
        }
        if S::DEPTH > 0 {
            return self.solve_with(transposed, &self.by_unknowns(x, p), right);
        }
        let right: Vec<Option<f64>> = right.iter().map(|v| v.map(|v| v.peek())).collect();
        let solution = self.solve_with(transposed, &self.at_plain(&plain(x), &plain(p)), &right);
        solution.into_iter().map(|v| v.map(S::constant)).collect()
    }

    /// The same with ∂F/∂x given.
    fn solve_with<S: Scalar<Base = f64>>(
        &self,
        transposed: bool,
        jacobian: &Jacobian<S>,
        right: &[Option<S>],
    ) -> Vec<Option<S>> {
        let solution = jacobian.solve(transposed, right, |is_whole, matrix, right| {
            let system = Solve::sharing(right.len(), 1, Structure::General, &self.memory(is_whole));
            let mut solution = vec![S::default(); right.len()];
            solve(&if transposed { system.transposed() } else { system }, matrix, right, &mut solution);
            solution
        });
        solution.into_iter().map(|v| v.map(|v| -v)).collect()
    }

    /// The groups of equations that depend on each other and are singular.
    fn singular_blocks<'j>(&self, jacobian: &'j Jacobian<f64>) -> &'j [usize] {
        jacobian.singular_blocks(|is_whole, n, block| self.memory(is_whole).is_singular(n, Structure::General, block))
    }

    /// The memory for factors: the whole matrix at a point shares them.
    fn memory(&self, is_whole: bool) -> Arc<Kept> {
        if is_whole { Arc::clone(&self.factors) } else { Arc::default() }
    }

    /// ∂F/∂x at plain numbers, computed once per point. A thread that finds the memory in use by another computes it for itself.
    fn at_plain(&self, x: &[f64], p: &[f64]) -> Arc<Jacobian<f64>> {
        let point = [x, p].map(|numbers| numbers.iter().map(|v| v.to_bits()).collect());
        if let Ok(kept) = self.kept.try_lock()
            && let Some((of, jacobian)) = &*kept
            && *of == point
        {
            return Arc::clone(jacobian);
        }
        // The conditions are the user's code and run without the lock.
        let jacobian = Arc::new(self.by_unknowns(x, p));
        if let Ok(mut kept) = self.kept.try_lock() {
            *kept = Some((point, Arc::clone(&jacobian)));
        }
        jacobian
    }
}

impl<F, V> CustomRule for Implicit<F, V>
where
    F: Conditions,
    V: Fn(&[f64]) -> Vec<f64> + Send + Sync + 'static,
{
    const NAME: &'static str = "implicit function";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, p: &[f64], x: &mut Vec<f64>) {
        *x = (self.solver)(p);
    }

    /// Where ∂F/∂x is singular, x has no finite derivative by p, so that a cotangent of zero does not make that of p zero.
    fn is_regular<S: Scalar<Base = f64>>(&self, p: &[S], x: &[S]) -> bool {
        self.singular_blocks(&self.at_plain(&plain(x), &plain(p))).is_empty()
    }

    fn pushforward<S: Scalar<Base = f64>>(&self, p: &[S], x: &[S], dp: &[S], dx: &mut [S]) {
        let moved = self.conditions(&directions::fixed(x), &directions::along(p, dp));
        let right: Vec<Option<S>> = moved.iter().map(|condition| directions::tangents(condition)[0]).collect();
        let solution = self.solve(false, x, p, &right);
        dx.iter_mut().zip(solution).for_each(|(dx, moved)| *dx = moved.unwrap_or_default());
    }

    fn pullback<S: Scalar<Base = f64>>(&self, p: &[S], x: &[S], dx: &[S], dp: &mut [S]) {
        let mut seeds: Vec<Option<S>> = dx.iter().map(|&dx| (!dx.is_inert_zero()).then_some(dx)).collect();
        let mut weights = self.solve(true, x, p, &seeds);
        if weights.contains(&None) {
            // A cotangent of zero may have been computed, see `is_regular`.
            let jacobian = self.at_plain(&plain(x), &plain(p));
            let singular = self.singular_blocks(&jacobian);
            if !singular.is_empty() {
                jacobian.spoil(singular, &mut seeds);
                weights = self.solve(true, x, p, &seeds);
            }
        }
        dp.fill(S::default());
        let fixed = directions::fixed(x);
        directions::each_part(p, |first, p| {
            let conditions = self.conditions(&fixed, p);
            let terms = weights.iter().zip(&conditions).filter_map(|(weight, condition)| Some(((*weight)?, condition)));
            for (weight, condition) in terms {
                for (dp, tangent) in dp[first..].iter_mut().zip(directions::tangents(condition)) {
                    if let Some(tangent) = tangent {
                        *dp += weight * tangent;
                    }
                }
            }
        });
    }
}
