//! Second derivatives: products with the Hessian from second differences of the function itself.
//!
//! Called by the routes of `hvp` and `hessian` where this backend is paired with itself; calls `line.rs`.

use super::AutoFiniteDifferences;
use super::domain::Domain;
use super::first::DifferencesState;
use super::line::Along;
use super::table::MOST_LEVELS;
use differentiation_interface_core::backend::{Lanes, Rows, SecondDifferencePrimitive, Seeds, ValueAndGradient};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::rules::Over;
use differentiation_interface_core::scalar::{Base, Scalar};
use num_traits::Float;

/// Work memory of products with a Hessian, and the error estimates of the last call.
#[derive(Clone, Debug)]
pub struct SecondDifferencesState<S: Scalar> {
    first: DifferencesState<S>,
    /// The second derivatives along the coordinates, each scaled by its unit, and estimates of their errors.
    diagonal: Vec<(S, S::Base)>,
    /// What is moved along each coordinate where others move too: max(|xᵢ|, 1).
    units: Vec<S::Base>,
    seed: Vec<S>,
    direction: Vec<S>,
    errors: Vec<S::Base>,
    /// The most seeds of a call that the operator announced.
    seeds: usize,
}

impl<S: Scalar> SecondDifferencesState<S> {
    /// Estimates of the absolute errors in the products of the last call, one row per tangent (for a Hessian, per input) and one column per
    /// input.
    pub fn error_estimates(&self) -> &[S::Base] {
        &self.errors
    }

    /// The largest of the [`error_estimates`](Self::error_estimates); zero if there are none.
    pub fn largest_error_estimate(&self) -> S::Base {
        self.errors.iter().copied().fold(S::Base::ZERO, Float::max)
    }
}

/// Second derivatives of one function at one point.
struct Work<'a, D: Domain, S: Scalar, F> {
    backend: &'a AutoFiniteDifferences<D>,
    state: &'a mut SecondDifferencesState<S>,
    f: &'a mut F,
}

impl<D: Domain, S: Scalar, F: Flat<S>> Work<'_, D, S, F> {
    /// The second derivative along `self.state.direction`.
    fn along_direction(&mut self) -> Result<(S, S::Base), ErrorKind> {
        let SecondDifferencesState { first, direction, .. } = &mut *self.state;
        first.line.differentiate(self.backend, self.f, Along::Vector(direction), 2)?;
        let table = &first.line.table;
        Ok((table.best[0], table.error[0]))
    }

    /// The second derivatives along the coordinates, in their units.
    fn fill_diagonal(&mut self) -> Result<(), ErrorKind> {
        self.state.diagonal.clear();
        for i in 0..self.state.units.len() {
            let unit = self.state.units[i];
            let SecondDifferencesState { first, diagonal, .. } = &mut *self.state;
            first.line.differentiate(self.backend, self.f, Along::Coordinate(i), 2)?;
            let table = &first.line.table;
            let square = unit * unit;
            diagonal.push((table.best[0].scale(square), table.error[0] * square));
        }
        Ok(())
    }

    /// The mixed second derivative along unit `i` times `length`, and along a vector, from the second derivatives along their sum or
    /// difference and along each: f_uv = (f_(u+v)(u+v) - f_uu - f_vv) / 2.
    fn mixed(
        &mut self,
        i: usize,
        length: S::Base,
        vector: impl Fn(&SecondDifferencesState<S>, usize) -> S,
        of_vector: (S, S::Base),
    ) -> Result<(S, S::Base), ErrorKind> {
        let mut last = ErrorKind::NarrowDomain { coordinate: i };
        // At a corner of the domain only one of the two lines has room.
        for sign in [S::Base::ONE, -S::Base::ONE] {
            let mut direction = std::mem::take(&mut self.state.direction);
            direction.clear();
            direction.extend((0..self.state.units.len()).map(|k| vector(self.state, k)));
            let unit = length * self.state.units[i];
            direction[i] += S::constant(sign * unit);
            self.state.direction = direction;
            match self.along_direction() {
                Ok((along_both, error)) => {
                    let (own, own_error) = self.state.diagonal[i];
                    let square = length * length;
                    let mixed = along_both - own.scale(square) - of_vector.0;
                    let error = error + own_error * square + of_vector.1;
                    let divisor = sign * (unit + unit);
                    return Ok((mixed.apply2_right(divisor, Over), error / divisor.abs()));
                }
                Err(error @ ErrorKind::NarrowDomain { .. }) => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// The entry (i, k) of the Hessian.
    fn entry(&mut self, i: usize, k: usize) -> Result<(S, S::Base), ErrorKind> {
        let unit = self.state.units[k];
        if i == k {
            let (value, error) = self.state.diagonal[k];
            let square = unit * unit;
            return Ok((value.apply2_right(square, Over), error / square));
        }
        let zero = S::constant(S::Base::ZERO);
        let basis = move |_: &SecondDifferencesState<S>, j: usize| if j == k { S::constant(unit) } else { zero };
        let (value, error) = self.mixed(i, S::Base::ONE, basis, self.state.diagonal[k])?;
        Ok((value.apply2_right(unit, Over), error / unit))
    }

    /// Row `k` of the products, for any vector, which `self.state.seed` holds.
    fn row(&mut self, k: usize, rows: &mut Rows<'_, S>) -> Result<(), ErrorKind> {
        let n = self.state.units.len();
        let pairs = self.state.seed.iter().zip(&self.state.units);
        let length = pairs.map(|(v, unit)| v.primal().abs() / *unit).fold(S::Base::ZERO, Float::max);
        let is_usual = length > S::Base::ZERO && length.is_finite();
        // The squares of a very short or long vector are out of range; the products are linear in it.
        let (down, up) = if is_usual { powers_of_two(length) } else { (S::Base::ONE, S::Base::ONE) };
        self.state.seed.iter_mut().for_each(|v| *v = v.scale(down));
        let length = length * down;
        self.state.direction.clone_from(&self.state.seed);
        if is_usual {
            match self.along_direction() {
                Ok(of_vector) => {
                    let mut result = Ok(());
                    for i in 0..n {
                        match self.mixed(i, length, |state, j| state.seed[j], of_vector) {
                            Ok((value, error)) => self.write(k, i, (value.scale(up), error * up), rows),
                            Err(error) => result = Err(error),
                        }
                    }
                    match result {
                        Err(ErrorKind::NarrowDomain { .. }) => {}
                        other => return other,
                    }
                }
                Err(ErrorKind::NarrowDomain { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        // The vector has no room in the domain, or no length: the sum over its entries.
        for i in 0..n {
            let mut sum = (S::constant(S::Base::ZERO), S::Base::ZERO);
            for j in 0..n {
                let v = self.state.seed[j];
                if !v.is_inert_zero() {
                    let (value, error) = self.entry(i, j)?;
                    sum = (sum.0 + value * v, sum.1 + error * v.primal().abs());
                }
            }
            self.write(k, i, (sum.0.scale(up), sum.1 * up), rows);
        }
        Ok(())
    }

    fn write(&mut self, row: usize, column: usize, (value, error): (S, S::Base), rows: &mut Rows<'_, S>) {
        rows.part(row, column, 1)[0] = value;
        self.state.errors[row * self.state.units.len() + column] = error;
    }

    /// The rows of basis vectors; entries that are each other's mirror image are computed once.
    fn basis_rows(&mut self, first: usize, count: usize, rows: &mut Rows<'_, S>) -> Result<(), ErrorKind> {
        let n = self.state.units.len();
        for k in 0..count {
            for i in 0..n {
                if i >= first && i < first + k {
                    let (value, error) =
                        (rows.part(i - first, first + k, 1)[0], self.state.errors[(i - first) * n + first + k]);
                    self.write(k, i, (value, error), rows);
                } else {
                    let found = self.entry(i, first + k)?;
                    self.write(k, i, found, rows);
                }
            }
        }
        Ok(())
    }
}

/// A power of two that brings a length near 1, and its inverse; 1 for lengths that are near enough.
fn powers_of_two<B: Base>(length: B) -> (B, B) {
    // Both powers are normal numbers.
    let most = if B::IS_DOUBLE { 1020.0 } else { 124.0 };
    let exponent = length.as_f64().log2().round().clamp(-most, most);
    if exponent.abs() < 32.0 {
        return (B::ONE, B::ONE);
    }
    (B::from_f64((-exponent).exp2()), B::from_f64(exponent.exp2()))
}

impl<D: Domain> SecondDifferencePrimitive for AutoFiniteDifferences<D> {
    type SecondState<S: Scalar> = SecondDifferencesState<S>;

    fn second_state<S: Scalar>(&self, _inputs: usize, seeds: usize) -> Result<SecondDifferencesState<S>, Error> {
        Ok(SecondDifferencesState {
            first: DifferencesState::new(0),
            diagonal: Vec::new(),
            units: Vec::new(),
            seed: Vec::new(),
            direction: Vec::new(),
            errors: Vec::new(),
            seeds,
        })
    }

    fn second_products<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        state: &mut SecondDifferencesState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        point: Option<&mut ValueAndGradient<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        rows.set_rows(seeds.count())?;
        state.first.line.set_point(&self.domain, x)?;
        state.first.line.evaluate_base(f)?;
        state.first.line.reserve(self.levels.clamp(1, MOST_LEVELS));
        state.units.clear();
        state.units.extend(x.iter().map(|x| {
            let size = x.primal().abs();
            if size.is_finite() { Float::max(size, S::Base::ONE) } else { S::Base::ONE }
        }));
        if let Some(point) = point {
            point.value = state.first.line.base[0];
            point.gradient.resize(x.len(), S::default());
            for i in 0..x.len() {
                state.first.line.differentiate(self, f, Along::Coordinate(i), 1)?;
                point.gradient[i] = state.first.line.table.best[0];
            }
        }
        // Memory for the first call that has seeds.
        state.diagonal.clear();
        state.diagonal.reserve(x.len());
        state.direction.resize(x.len(), S::default());
        state.seed.resize(x.len(), S::default());
        state.errors.clear();
        state.errors.reserve(state.seeds.max(seeds.count()) * x.len());
        state.errors.resize(seeds.count() * x.len(), S::Base::ZERO);
        if seeds.count() == 0 {
            return Ok(());
        }
        let mut work = Work { backend: self, state, f };
        work.fill_diagonal()?;
        if let Seeds::Basis { first, count } = seeds {
            return Ok(work.basis_rows(first, count, &mut rows)?);
        }
        for k in 0..seeds.count() {
            let seed = &mut work.state.seed;
            seed.clear();
            seed.extend((0..x.len()).map(|i| seeds.entry(k, i)));
            work.row(k, &mut rows)?;
        }
        Ok(())
    }
}
