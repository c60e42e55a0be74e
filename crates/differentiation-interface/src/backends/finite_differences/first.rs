//! First derivatives: the pushforward, to which all first-order operators lead.
//!
//! Called by the routes of the core; calls `line.rs`, once per seed, or once per coordinate where a seed has no room in the domain.

use super::AutoFiniteDifferences;
use super::domain::Domain;
use super::line::{Along, Line};
use super::table::MOST_LEVELS;
use differentiation_interface_core::backend::{Lanes, PushforwardPrimitive, Rows, Seeds};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::{Base, Scalar};
use num_traits::Float;

/// Work memory of prepared calls, and the error estimates of the last one.
#[derive(Clone, Debug)]
pub struct DifferencesState<S: Scalar> {
    pub(super) line: Line<S>,
    /// The direction of a seed that is not stored.
    direction: Vec<S>,
    errors: Vec<S::Base>,
    columns: usize,
    /// The most seeds of a call that the operator announced.
    seeds: usize,
}

impl<S: Scalar> DifferencesState<S> {
    pub(super) const fn new(seeds: usize) -> Self {
        DifferencesState { line: Line::new(), direction: Vec::new(), errors: Vec::new(), columns: 0, seeds }
    }

    /// Estimates of the absolute errors in the results of the last call, entry by entry: row-major, one row per output and one column per
    /// input (gradient, Jacobian, derivative) or tangent (pushforward). Infinite where no finite derivative was found.
    pub fn error_estimates(&self) -> &[S::Base] {
        &self.errors
    }

    /// The largest of the [`error_estimates`](Self::error_estimates); zero if there are none.
    pub fn largest_error_estimate(&self) -> S::Base {
        self.errors.iter().copied().fold(S::Base::ZERO, Float::max)
    }

    fn set_outputs(&mut self, rows: &mut Rows<'_, S>, outputs: usize) -> Result<(), ErrorKind> {
        rows.set_rows(outputs)?;
        self.errors.clear();
        self.errors.resize(outputs * self.columns, S::Base::ZERO);
        Ok(())
    }
}

impl<D: Domain> AutoFiniteDifferences<D> {
    /// All seeds at the point of the state.
    fn differences<S: Scalar, F: Flat<S>>(
        &self,
        state: &mut DifferencesState<S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let count = seeds.count();
        state.columns = count;
        if count == 0 {
            state.line.evaluate_base(f)?;
            let outputs = state.line.base.len();
            return Ok(state.set_outputs(&mut rows, outputs)?);
        }
        for k in 0..count {
            if let Seeds::Basis { first, .. } = seeds {
                state.line.differentiate(self, f, Along::Coordinate(first + k), 1)?;
                write_column(state, &mut rows, k, true, None)?;
                continue;
            }
            let mut direction = std::mem::take(&mut state.direction);
            direction.clear();
            direction.extend((0..state.line.x.len()).map(|i| seeds.entry(k, i)));
            let result = self.along(state, f, &direction, k, &mut rows);
            state.direction = direction;
            result?;
        }
        Ok(())
    }

    /// The product with one vector, coordinate by coordinate if the line along it has no room.
    fn along<S: Scalar, F: Flat<S>>(
        &self,
        state: &mut DifferencesState<S>,
        f: &mut F,
        direction: &[S],
        k: usize,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        match state.line.differentiate(self, f, Along::Vector(direction), 1) {
            Err(ErrorKind::NarrowDomain { .. }) => {}
            result => {
                result?;
                return Ok(write_column(state, rows, k, true, None)?);
            }
        }
        let mut is_first = true;
        for (i, v) in direction.iter().enumerate() {
            if v.is_inert_zero() {
                continue;
            }
            state.line.differentiate(self, f, Along::Coordinate(i), 1)?;
            write_column(state, rows, k, is_first, Some(*v))?;
            is_first = false;
        }
        Ok(())
    }
}

/// Writes the result of the last line as column `k`, times a factor if there is one, or adds it to the column.
fn write_column<S: Scalar>(
    state: &mut DifferencesState<S>,
    rows: &mut Rows<'_, S>,
    k: usize,
    is_first: bool,
    factor: Option<S>,
) -> Result<(), ErrorKind> {
    let outputs = state.line.table.best.len();
    if k == 0 && is_first {
        state.set_outputs(rows, outputs)?;
    }
    let table = &state.line.table;
    for (i, (best, error)) in table.best.iter().zip(&table.error).enumerate() {
        let (value, error) = match factor {
            None => (*best, *error),
            Some(factor) => (*best * factor, *error * factor.primal().abs()),
        };
        let (entry, estimate) = (&mut rows.part(i, k, 1)[0], &mut state.errors[i * state.columns + k]);
        if is_first {
            (*entry, *estimate) = (value, error);
        } else {
            *entry += value;
            *estimate += error;
        }
    }
    Ok(())
}

impl<D: Domain> PushforwardPrimitive for AutoFiniteDifferences<D> {
    type PushforwardState<S: Scalar, L: Lanes> = DifferencesState<S>;

    fn pushforward_state<S: Scalar, L: Lanes>(
        &self,
        _inputs: usize,
        seeds: usize,
    ) -> Result<DifferencesState<S>, Error> {
        Ok(DifferencesState::new(seeds))
    }

    fn hold<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        state: &mut DifferencesState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.line.set_point(&self.domain, x)?;
        state.line.evaluate_base(f)?;
        y.clone_from(&state.line.base);
        state.line.reserve(self.levels.clamp(1, MOST_LEVELS));
        state.errors.resize(y.len() * state.seeds, S::Base::ZERO);
        state.direction.resize(x.len(), S::default());
        Ok(())
    }

    fn pushforward<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        state: &mut DifferencesState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.line.set_point(&self.domain, x)?;
        if let Some(y) = y {
            state.line.evaluate_base(f)?;
            y.clone_from(&state.line.base);
        }
        self.differences(state, f, seeds, rows)
    }

    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        state: &mut DifferencesState<S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        self.differences(state, f, seeds, rows)
    }
}
