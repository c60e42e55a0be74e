//! The primitive of forward mode for foreign numbers that carry several tangents.
//!
//! Called by the `PushforwardPrimitive` of adapters, whose state it is.

use super::number::Foreign;
use super::plain::{ForeignNum, Plain, plain, up};
use super::running::Running;
use crate::backend::{Rows, Seeds};
use crate::error::{Error, ErrorKind};
use crate::evaluate::Flat;
use crate::scalar::{Num, Scalar};
use std::ops::Range;

/// A foreign number with tangents in a fixed number of lanes.
///
/// # For backend authors
/// `seeded(value, t)` has the tangent `t(k)` in lane `k`, for `k` below [`LANES`](Tangents::LANES); `tangent(k)` returns it, 0 where it is absent.
pub trait Tangents: Foreign {
    /// The number of lanes.
    const LANES: usize;
    /// The number `value` with tangents.
    fn seeded(value: f64, tangent: impl FnMut(usize) -> f64) -> Self;
    /// The tangent in a lane.
    fn tangent(&self, lane: usize) -> f64;
}

/// Active inputs and outputs of forward mode, reused by all calls. Its methods are those of
/// [`PushforwardPrimitive`](crate::backend::PushforwardPrimitive).
#[derive(Clone, Debug)]
pub struct ForwardState<T: Foreign, S: Scalar> {
    x: Vec<ForeignNum<T, S>>,
    y: Vec<ForeignNum<T, S>>,
    /// The inputs that may have tangents, because a pass was left by a panic.
    seeded: Range<usize>,
}

impl<T: Tangents, S: Scalar> Default for ForwardState<T, S> {
    fn default() -> Self {
        ForwardState { x: Vec::new(), y: Vec::new(), seeded: 0..0 }
    }
}

impl<T: Tangents, S: Scalar> ForwardState<T, S> {
    /// Evaluates the function at `x`, leaves its outputs in `y`, and keeps the point.
    ///
    /// # Errors
    /// [`ErrorKind::NestedInItself`], see [`Running::enter`].
    pub fn hold<F: Flat<ForeignNum<T, S>>>(&mut self, f: &mut F, x: &[S], y: &mut Vec<S>) -> Result<(), Error> {
        self.set_point(x);
        let _running = Running::enter::<T>(f.captures())?;
        f.call(&self.x, &mut self.y);
        self.copy_values(y);
        Ok(())
    }

    /// Propagates the tangents `seeds` at `x`, and leaves the outputs in `y` if given.
    ///
    /// # Errors
    /// [`ErrorKind::NestedInItself`], see [`Running::enter`]; [`ErrorKind::OutputLength`] if the number of outputs is not the same in each pass.
    #[inline]
    pub fn pushforward<F: Flat<ForeignNum<T, S>>>(
        &mut self,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        self.set_point(x);
        self.passes(f, seeds, y, rows)
    }

    /// Propagates the tangents `seeds` at the point that is held.
    ///
    /// # Errors
    /// Those of [`pushforward`](Self::pushforward).
    pub fn pushforward_held<F: Flat<ForeignNum<T, S>>>(
        &mut self,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        self.unseed();
        self.passes(f, seeds, None, rows)
    }

    fn set_point(&mut self, x: &[S]) {
        self.x.clear();
        self.x.extend(x.iter().map(|&value| Num(Plain::inject(value))));
        self.seeded = 0..0;
    }

    fn copy_values(&self, y: &mut Vec<S>) {
        y.clear();
        y.extend(self.y.iter().map(|y| y.0.project()));
    }

    /// Sets the tangents of the inputs to seeds `first..first + count`.
    #[inline]
    fn seed(&mut self, seeds: &Seeds<'_, S>, first: usize, count: usize) {
        let x = &mut self.x;
        match *seeds {
            Seeds::Basis { first: start, .. } => {
                self.seeded = start + first..start + first + count;
                for (lane, x) in x[self.seeded.clone()].iter_mut().enumerate() {
                    *x = Num(Plain::new(T::seeded(x.0.0.value(), |k| if k == lane { 1.0 } else { 0.0 })));
                }
            }
            Seeds::Vectors(_) | Seeds::Colors { .. } => {
                self.seeded = 0..x.len();
                for (i, x) in x.iter_mut().enumerate() {
                    let tangent = |k| if k < count { plain(seeds.entry(first + k, i)) } else { 0.0 };
                    if (0..count).any(|k| tangent(k) != 0.0) {
                        *x = Num(Plain::new(T::seeded(x.0.0.value(), tangent)));
                    }
                }
            }
        }
    }

    /// Removes the tangents of the last pass.
    #[inline]
    fn unseed(&mut self) {
        for x in &mut self.x[self.seeded.clone()] {
            *x = Num(Plain::new(T::constant(x.0.0.value())));
        }
        self.seeded = 0..0;
    }

    /// Runs the function once with the tangents of seeds `first..first + count`.
    #[inline]
    fn pass<F: Flat<ForeignNum<T, S>>>(
        &mut self,
        f: &mut F,
        seeds: &Seeds<'_, S>,
        first: usize,
        count: usize,
        changed: &mut Option<Range<usize>>,
    ) {
        self.seed(seeds, first, count);
        let inputs = self.seeded.clone();
        if let Some(last) = changed.replace(inputs.clone()) {
            f.changed(last.start.min(inputs.start)..last.end.max(inputs.end));
        }
        f.call(&self.x, &mut self.y);
        self.unseed();
    }

    /// Writes the tangents of a pass into their columns. Returns whether one of them is NaN.
    #[inline]
    fn write(&self, rows: &mut Rows<'_, S>, first: usize, count: usize) -> bool {
        let mut spoilt = false;
        for (i, y) in self.y.iter().enumerate() {
            for (lane, out) in rows.part(i, first, count).iter_mut().enumerate() {
                let tangent = y.0.0.tangent(lane);
                spoilt |= tangent.is_nan();
                *out = up(tangent);
            }
        }
        spoilt
    }

    /// Runs the function in as many passes as the seeds need.
    #[inline]
    fn passes<F: Flat<ForeignNum<T, S>>>(
        &mut self,
        f: &mut F,
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let _running = Running::enter::<T>(f.captures())?;
        let total = seeds.count();
        let width = T::LANES.min(total);
        let mut changed = None;
        self.pass(f, &seeds, 0, width, &mut changed);
        let outputs = self.y.len();
        rows.set_rows(outputs)?;
        if let Some(y) = y {
            self.copy_values(y);
        }
        let mut first = 0;
        loop {
            let count = width.min(total - first);
            if self.write(&mut rows, first, count) && count > 1 {
                self.separate_passes(f, &seeds, first, count, &mut changed, &mut rows)?;
            }
            first += count;
            if first >= total {
                return Ok(());
            }
            self.pass(f, &seeds, first, width.min(total - first), &mut changed);
            self.same_outputs(outputs)?;
        }
    }

    fn same_outputs(&self, expected: usize) -> Result<(), ErrorKind> {
        if self.y.len() == expected { Ok(()) } else { Err(ErrorKind::OutputLength { expected, found: self.y.len() }) }
    }

    /// Propagates seeds `first..first + count` one by one. Lanes share the derivatives of operations: where one is infinite, a lane that does
    /// not depend on it gets its product with 0, which is NaN.
    #[cold]
    #[inline(never)]
    fn separate_passes<F: Flat<ForeignNum<T, S>>>(
        &mut self,
        f: &mut F,
        seeds: &Seeds<'_, S>,
        first: usize,
        count: usize,
        changed: &mut Option<Range<usize>>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), ErrorKind> {
        let outputs = self.y.len();
        for k in first..first + count {
            self.pass(f, seeds, k, 1, changed);
            self.same_outputs(outputs)?;
            self.write(rows, k, 1);
        }
        Ok(())
    }
}
