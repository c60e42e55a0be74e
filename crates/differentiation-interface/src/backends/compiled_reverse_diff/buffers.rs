//! The arguments and results of programs, and the propagation of seeds.
//!
//! Called by `state` with a recording to try; runs its programs.

use super::constants::KnownConstants;
use super::held::Held;
use super::recording::{Failure, Filling, Kind, LANES, ProgramKey};
use super::staged_seeds::StagedSeeds;
use differentiation_interface_core::backend::{ConstantEntries, Rows, Seeds};
use differentiation_interface_core::recordings::{EngineScalar, Recordable, Words};
use differentiation_interface_core::scalar::{Base, Scalar};

/// The arguments and results of programs.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers<S> {
    /// The point of [`CompiledState::value`].
    pub(super) x: Vec<S>,
    pub(super) parameters: Vec<S>,
    pub(super) y: Vec<S>,
    pub(super) gradient: Vec<S>,
    seeds: StagedSeeds<S>,
    /// Up to [`LANES`] products, one after the other.
    products: Vec<S>,
}

/// The direction in which a program propagates seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Tangents; one column per seed.
    Forward,
    /// Cotangents; one row per seed.
    Backward,
}

impl<S: Scalar> Buffers<S> {
    /// Reads the parameters, which are also written to `plain`, and the lengths of the contexts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn read_contexts(&mut self, f: Option<&dyn Recordable>, plain: &mut Vec<f64>, lengths: &mut Vec<u64>) {
        plain.clear();
        f.parameters(plain);
        lengths.clear();
        f.lengths(&mut Words::Keep(lengths));
        self.parameters.clear();
        // Most functions have no parameters; then nothing is called.
        if !plain.is_empty() {
            let parameter = |(i, v): (usize, &f64)| S::parameter(i, S::Base::from_f64(*v));
            self.parameters.extend(plain.iter().enumerate().map(parameter));
        }
    }

    /// Whether the constants of this call are among the known ones. Then the parameters that they give follow the first `parameters`
    /// ones, those of the function.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn read_constants(
        &mut self,
        f: Option<&dyn Recordable>,
        known: &mut KnownConstants,
        parameters: usize,
    ) -> bool {
        let Some(values) = known.find(f) else { return false };
        self.parameters.truncate(parameters);
        self.parameters.extend(values.iter().map(|v| S::constant(S::Base::from_f64(*v))));
        true
    }

    /// Runs the value program.
    #[inline(never)]
    pub(super) fn value(&mut self, held: &mut Held<S>, x: &[S]) -> Result<(), Failure> {
        self.y.resize(held.recording.outputs, S::default());
        held.run(ProgramKey::of(Kind::Value, 0), &[x, &self.parameters], &mut [&mut self.y])
    }

    /// The reason why the recording gives no result at `x`. A size mismatch counts only if the recording is valid there.
    #[cold]
    #[inline(never)]
    pub(super) fn cause(&mut self, failure: Failure, held: &mut Held<S>, x: &[S]) -> Failure {
        match failure {
            Failure::Size(_) => self.value(held, x).err().unwrap_or(failure),
            _ => failure,
        }
    }

    /// Fills the requested entries; leaves the outputs if `with_value`.
    pub(super) fn entries(
        &mut self,
        held: &mut Held<S>,
        x: &[S],
        values: (&mut [S], &mut ConstantEntries),
        with_value: bool,
    ) -> Result<(), Failure> {
        self.y.resize(held.recording.outputs, S::default());
        held.fill(Filling::Entries, &[x, &self.parameters], &mut self.y, with_value, values)
    }

    /// Computes the one output and its gradient.
    pub(super) fn gradient(&mut self, held: &mut Held<S>, x: &[S]) -> Result<(), Failure> {
        self.y.resize(1, S::default());
        self.gradient.resize(held.recording.inputs, S::default());
        let matrix = (&mut self.gradient[..], &mut ConstantEntries::default());
        held.fill(Filling::Gradient, &[x, &self.parameters], &mut self.y, true, matrix)
    }

    /// Fills the derivative matrix by the program of the entries if there is one, else in the direction that needs fewer seeds. Leaves
    /// the outputs, at least if `with_value`.
    pub(super) fn matrix(
        &mut self,
        held: &mut Held<S>,
        x: &[S],
        with_value: bool,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Failure> {
        let (inputs, outputs) = (held.recording.inputs, held.recording.outputs);
        if held.recording.has_entries() {
            rows.set_rows(outputs)?;
            self.entries(held, x, rows.data_and_constants(), with_value)
        } else if outputs == 1 && inputs > 0 {
            rows.set_rows(1)?;
            self.y.resize(1, S::default());
            let matrix = (rows.data(), &mut ConstantEntries::default());
            held.fill(Filling::Gradient, &[x, &self.parameters], &mut self.y, with_value, matrix)
        } else if inputs < outputs {
            self.products(held, x, Direction::Forward, &Seeds::all(inputs), rows)
        } else {
            self.products(held, x, Direction::Backward, &Seeds::all(outputs), rows)
        }
    }

    /// Runs one pullback and writes the product in place. The general [`lanes`](Self::lanes) has an overhead as large as a gradient of
    /// ten inputs.
    fn pullback(
        &mut self,
        held: &mut Held<S>,
        x: &[S],
        seeds: &Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Failure> {
        let alone;
        let seed: &[S] = match (seeds, held.recording.outputs) {
            (Seeds::Vectors([seed]), _) => seed,
            (_, 1) => {
                alone = [seeds.entry(0, 0)];
                &alone
            }
            (_, outputs) => self.seeds.first(seeds, outputs),
        };
        if self.y.len() != held.recording.outputs {
            self.y.resize(held.recording.outputs, S::default());
        }
        rows.set_rows(1)?;
        let row = rows.part(0, 0, held.recording.inputs);
        held.run_seeded(ProgramKey::of(Kind::Pullback, 0), &[x, &self.parameters, seed], &mut [&mut self.y, row])
    }

    /// The same for one pushforward, whose product is a column.
    fn pushforward(
        &mut self,
        held: &mut Held<S>,
        x: &[S],
        tangent: &[S],
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Failure> {
        rows.set_rows(held.recording.outputs)?;
        if self.y.len() != held.recording.outputs {
            self.y.resize(held.recording.outputs, S::default());
        }
        let which = ProgramKey::of(Kind::Pushforward, 0);
        held.run_seeded(which, &[x, &self.parameters, tangent], &mut [&mut self.y, rows.data()])
    }

    /// The same for one product with the Hessian.
    fn hessian_product(
        &mut self,
        held: &mut Held<S>,
        x: &[S],
        tangent: &[S],
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Failure> {
        rows.set_rows(1)?;
        held.products_are_due[0] = false;
        let row = rows.part(0, 0, held.recording.inputs);
        held.run_seeded(ProgramKey::of(Kind::HessianProducts, 1), &[x, &self.parameters, tangent], &mut [row])
    }

    /// Runs programs until all seeds are propagated; leaves the outputs too.
    #[inline]
    pub(super) fn products(
        &mut self,
        held: &mut Held<S>,
        x: &[S],
        direction: Direction,
        seeds: &Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Failure> {
        match (direction, seeds) {
            (Direction::Backward, seeds) if seeds.count() == 1 => self.pullback(held, x, seeds, rows),
            (Direction::Forward, Seeds::Vectors([tangent])) => self.pushforward(held, x, tangent, rows),
            _ => self.lanes(held, x, direction, seeds, rows),
        }
    }

    /// The same by programs of several lanes. Out of line, because calls with one seed do not come here.
    #[inline(never)]
    pub(super) fn lanes(
        &mut self,
        held: &mut Held<S>,
        x: &[S],
        direction: Direction,
        seeds: &Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Failure> {
        let (inputs, outputs, total) = (held.recording.inputs, held.recording.outputs, seeds.count());
        let (length, width) = match direction {
            Direction::Forward => (inputs, outputs),
            Direction::Backward => (outputs, inputs),
        };
        rows.set_rows(if direction == Direction::Forward { outputs } else { total })?;
        if total == 0 {
            return self.value(held, x);
        }
        self.y.resize(outputs, S::default());
        self.make_room(width, total);
        let mut first = 0;
        while first < total {
            let (kind, lanes) = match direction {
                Direction::Forward => Kind::pushforward_of(total - first),
                Direction::Backward => Kind::pullback_of(total - first),
            };
            let count = lanes.min(total - first);
            let staged = self.seeds.lanes(seeds, first, lanes, length);
            let mut arguments: [&[S]; 2 + LANES] = [&[]; 2 + LANES];
            (arguments[0], arguments[1]) = (x, &self.parameters);
            arguments[2..].copy_from_slice(&staged);
            // Rows are written in place, unless some lanes are empty.
            let in_place = direction == Direction::Backward && count == lanes;
            self.products.resize(if in_place { 0 } else { lanes * width }, S::default());
            let mut results: [&mut [S]; 1 + LANES] = Default::default();
            results[0] = &mut self.y;
            let mut rest = if in_place { rows.part(first, 0, lanes * inputs) } else { &mut self.products[..] };
            for result in &mut results[1..1 + lanes] {
                (*result, rest) = rest.split_at_mut(width);
            }
            held.run(ProgramKey::of(kind, 0), &arguments[..2 + lanes], &mut results[..1 + lanes])?;
            match direction {
                Direction::Backward if in_place => {}
                Direction::Backward => {
                    rows.part(first, 0, count * inputs).copy_from_slice(&self.products[..count * inputs]);
                }
                Direction::Forward => {
                    for i in 0..outputs {
                        for (k, entry) in rows.part(i, first, count).iter_mut().enumerate() {
                            *entry = self.products[k * outputs + i];
                        }
                    }
                }
            }
            first += count;
        }
        Ok(())
    }

    /// Reserves memory for products of all lanes, which a later call with another number of seeds may need.
    pub(super) fn make_room(&mut self, width: usize, seeds: usize) {
        if seeds > 1 {
            self.products.reserve((LANES * width).saturating_sub(self.products.len()));
        }
    }

    /// Propagates all tangents through the derivative of the gradient at `x`; leaves value and gradient too if `with_gradient`.
    ///
    /// The first tangents then run the pushforward of the gradient program; other ones the program of the products alone. The first call that asks
    /// for the gradient, as preparations do, makes both if the products are due.
    pub(super) fn hessian_products(
        &mut self,
        held: &mut Held<S>,
        x: &[S],
        seeds: &Seeds<'_, S>,
        with_gradient: bool,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Failure> {
        if let (Seeds::Vectors([tangent]), false) = (seeds, with_gradient) {
            return self.hessian_product(held, x, tangent, rows);
        }
        self.hessian_lanes(held, x, seeds, with_gradient, rows)
    }

    /// The same for several tangents, or with the gradient. Out of line, because most calls do not come here.
    #[inline(never)]
    fn hessian_lanes(
        &mut self,
        held: &mut Held<S>,
        x: &[S],
        seeds: &Seeds<'_, S>,
        with_gradient: bool,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Failure> {
        let (n, total) = (held.recording.inputs, seeds.count());
        rows.set_rows(total)?;
        if with_gradient {
            self.y.resize(1, S::default());
            self.gradient.resize(n, S::default());
        }
        self.make_room(n, total);
        let mut first = 0;
        loop {
            let tangents = match total - first {
                0 => 0,
                1 => 1,
                _ => LANES,
            };
            let staged = self.seeds.lanes(seeds, first, tangents, n);
            let mut arguments: [&[S]; 2 + LANES] = [&[]; 2 + LANES];
            (arguments[0], arguments[1]) = (x, &self.parameters);
            arguments[2..].copy_from_slice(&staged);
            let arguments = &arguments[..2 + tangents];
            let count = tangents.min(total - first);
            // Rows are written in place, unless some lanes are empty.
            let in_place = count == tangents;
            self.products.resize(if in_place { 0 } else { tangents * n }, S::default());
            let products = if in_place { rows.part(first, 0, count * n) } else { &mut self.products[..] };
            let has_gradient = with_gradient && first == 0;
            let are_due = &mut held.products_are_due[usize::from(tangents > 1)];
            if tangents > 0 && (!has_gradient || *are_due) {
                *are_due = false;
                let mut results: [&mut [S]; LANES] = Default::default();
                let mut rest = &mut *products;
                for result in &mut results[..tangents] {
                    (*result, rest) = rest.split_at_mut(n);
                }
                let which = ProgramKey::of(Kind::HessianProducts, tangents);
                match arguments {
                    &[x, parameters, tangent] => {
                        held.run_seeded(which, &[x, parameters, tangent], &mut results[..1])?
                    }
                    _ => held.run(which, arguments, &mut results[..tangents])?,
                }
            }
            if has_gradient {
                let mut slopes = [S::default(); LANES];
                let mut results: [&mut [S]; 2 + 2 * LANES] = Default::default();
                (results[0], results[1]) = (&mut self.y, &mut self.gradient);
                let mut rest = products;
                for (pair, slope) in results[2..2 + 2 * tangents].chunks_mut(2).zip(slopes.chunks_mut(1)) {
                    pair[0] = slope;
                    (pair[1], rest) = rest.split_at_mut(n);
                }
                held.run(ProgramKey::of(Kind::Gradient, tangents), arguments, &mut results[..2 + 2 * tangents])?;
            }
            if !in_place {
                rows.part(first, 0, count * n).copy_from_slice(&self.products[..count * n]);
            }
            first += count;
            if first >= total {
                return Ok(());
            }
        }
    }
}
