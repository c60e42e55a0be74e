//! Small programs, before anything else of a call.
//!
//! Called by the routes, by operators for a matrix, and by the engine that decides itself when to compile; calls the programs that a
//! recording has kept. Nothing is recorded here, so that the function is known by reference only.

use super::{Buffers, CompiledState, Held, Recording, as_numbers};
use crate::backends::compiled_reverse_diff::recording::{Filling, Kind, ProgramKey};
use differentiation_interface_core::backend::{ConstantEntries, EntryRequest, Rows};
use differentiation_interface_core::recordings::{Recordable, RecordedMatrix};
use differentiation_interface_core::scalar::Scalar;

impl<S: Scalar> CompiledState<S> {
    /// The current recording, the buffers and the parameters, if the recording is right for the contexts of the call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn current(&mut self, f: Option<&dyn Recordable>) -> Option<(&mut Held<S>, &mut Buffers<S>, &[S::Base])> {
        let CompiledState { recordings, current, buffers, plain, singles, .. } = self;
        let held = recordings.get_mut(*current)?;
        let is_pure = f.is_pure();
        if !is_pure && held.constants.is_empty() {
            return None;
        }
        if !held.recording.is_for(f) {
            return None;
        }
        plain.clear();
        f.parameters(plain);
        if !is_pure {
            plain.extend_from_slice(held.constants.find(f)?);
        }
        let parameters = as_numbers(plain, singles);
        Some((held, buffers, parameters))
    }

    /// Computes the outputs at `x` and propagates a cotangent back by a small program. Returns `false` if none is valid; both are then undefined and
    /// the caller takes another way.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::backends) fn fill_pullback(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[S],
        cotangent: &[S],
        y: &mut [S],
        product: &mut [S],
    ) -> bool {
        let which = ProgramKey::of(Kind::Pullback, 0);
        let Some((held, _, parameters)) = self.current(f) else { return false };
        let is_done = held.run_small_product(which, x, parameters, cotangent, &mut [y, product]);
        held.told(is_done, f)
    }

    /// Propagates a tangent by a small program, and leaves the outputs. Returns `false` if none is valid; the product is then undefined
    /// and the caller takes another way.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::backends) fn fill_pushforward(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[S],
        tangent: &[S],
        product: &mut [S],
    ) -> bool {
        let which = ProgramKey::of(Kind::Pushforward, 0);
        let Some((held, buffers, parameters)) = self.current(f) else { return false };
        let is_done = held.run_small_product(which, x, parameters, tangent, &mut [&mut buffers.y, product]);
        held.told(is_done, f)
    }

    /// Multiplies the Hessian at `x` with a tangent by a small program. Returns `false` if none is valid; the product is then undefined and
    /// the caller takes another way.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::backends) fn fill_hessian_product(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[S],
        tangent: &[S],
        product: &mut [S],
    ) -> bool {
        let which = ProgramKey::of(Kind::HessianProducts, 1);
        let Some((held, _, parameters)) = self.current(f) else { return false };
        let is_done = held.run_small_product(which, x, parameters, tangent, &mut [product]);
        held.cost.calls += u64::from(is_done);
        is_done
    }

    /// Fills the requested entries at `x` by a small program. Returns `false` if none is valid; they are then undefined and the caller takes another
    /// way.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::backends) fn fill_entries(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[S],
        values: (&mut [S], &mut ConstantEntries),
    ) -> bool {
        let Some((held, buffers, parameters)) = self.current(f) else { return false };
        let Held { small: Some(small), second, cost, .. } = held else { return false };
        let is_done = small.fills(Filling::Entries) && small.fill(x, parameters, None, &mut buffers.y, values, second);
        cost.calls += u64::from(is_done);
        held.told(is_done, f)
    }

    /// Fills a derivative matrix by a small program, if there is one that is valid at `x`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::backends) fn fill_small(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[S],
        y: Option<&mut [S]>,
        matrix: (&mut [S], &mut ConstantEntries),
    ) -> bool {
        let Some((held, buffers, parameters)) = self.current(f) else { return false };
        let Held { small: Some(small), second, .. } = held else { return false };
        // Before the first call lengths differ, and the program gives no result.
        let is_done = small.fill(x, parameters, y, &mut buffers.y, matrix, second);
        held.told(is_done, f)
    }

    /// The same for a request, whose matrix has these rows.
    pub(super) fn fill_requested(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[S],
        entries: &mut EntryRequest<'_, S>,
        rows: fn(&Recording) -> usize,
    ) -> bool {
        let Some(held) = self.recordings.get(self.current) else { return false };
        let rows = if entries.pattern.is_some() { 1 } else { rows(&held.recording) };
        entries.values.set_rows(rows).is_ok() && self.fill_entries(f, x, entries.values.data_and_constants())
    }
}

/// The derivative matrix by a small program.
impl<S: Scalar> RecordedMatrix<S> for CompiledState<S> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fill(&mut self, f: Option<&dyn Recordable>, x: &[S], y: Option<&mut [S]>, rows: &mut Rows<'_, S>) -> bool {
        self.fill_small(f, x, y, rows.data_and_constants())
    }
}
