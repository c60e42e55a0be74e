//! Second order by a tape at first, and by programs where they pay.
//!
//! Called by the primitive in `twice.rs` before it runs the tape; asks `tiers` what each call does.

use super::report::Report;
use super::schedule::Schedule;
use super::tiered::fill_requested;
use super::tiered_products::seeds_of_doubles;
use super::tiers::{Step, Tiers};
use super::twice_var::TwiceVar;
use crate::backends::compiled_reverse_diff::{ByKept, Order, RequestedEntries, Task};
use crate::backends::doubles::{doubles, doubles_mut};
use compiled_trace::Limits;
use differentiation_interface_core::backend::{EntryRequest, Rows, Seeds};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::Recordable;
use differentiation_interface_core::scalar::{Base, Scalar};

/// What computes the products with a Hessian, or its entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    tiers: Tiers,
    /// What the present call does, if the request for entries has decided it.
    decided: Option<Step>,
}

/// A number of the scalar.
fn number<S: Scalar>(value: f64) -> S {
    S::constant(S::Base::from_f64(value))
}

/// Writes numbers of a program.
fn write<S: Scalar>(to: Option<&mut Vec<S>>, values: &[f64]) {
    if let Some(to) = to {
        to.clear();
        to.extend(values.iter().map(|&v| number::<S>(v)));
    }
}

impl Chosen {
    pub(super) fn report(&self) -> Report {
        self.tiers.report()
    }

    pub(super) fn adapt(&mut self, schedule: Schedule, adapts: bool) {
        self.decided = None;
        self.tiers.adapt(schedule, adapts);
    }

    /// Computes products by a program, value and gradient too if there is room for them. Returns whether there is one that is valid.
    #[expect(clippy::too_many_arguments, reason = "three results")]
    #[inline]
    pub(super) fn products<S: Scalar, F: Flat<TwiceVar<S>>>(
        &mut self,
        schedule: Schedule,
        f: &mut F,
        x: &[S],
        seeds: &Seeds<'_, S>,
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
        rows: &mut Rows<'_, S>,
    ) -> bool {
        if !self.tiers.is_on() {
            return false;
        }
        let slices = [x];
        let (Some(&[point]), Some(seeds)) = (doubles(&slices), seeds_of_doubles(seeds)) else { return false };
        let decided = self.decided.take();
        if let (Seeds::Vectors([tangent]), None, None, None) = (&seeds, &value, &gradient, decided)
            && let Some(programs) = self.tiers.programs()
            && let Some([data]) = doubles_mut(&mut [rows.data()])
            && programs.fill_hessian_product(f.recordable(), point, tangent, data)
        {
            self.tiers.count_by_program();
            return true;
        }
        self.products_otherwise(schedule, f, point, (&seeds, decided), value, gradient, rows)
    }

    /// The same where no small program computes the products alone.
    #[expect(clippy::too_many_arguments, reason = "three results")]
    #[inline(never)]
    fn products_otherwise<S: Scalar, F: Flat<TwiceVar<S>>>(
        &mut self,
        schedule: Schedule,
        f: &mut F,
        point: &[f64],
        (seeds, decided): (&Seeds<'_, f64>, Option<Step>),
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
        rows: &mut Rows<'_, S>,
    ) -> bool {
        let with_gradient = value.is_some() || gradient.is_some();
        self.tiers.set_task(Task::HessianProducts(seeds.count(), with_gradient));
        let served = self.tiers.serve(schedule, decided, f, point, |programs, f| {
            rows.set_rows(seeds.count())?;
            let mut slices = [rows.data()];
            let Some([data]) = doubles_mut(&mut slices) else { return Ok(ByKept::OtherPath) };
            let rows = &mut Rows::fixed(data, point.len());
            programs.hessian_products_by_kept(f, point, seeds, with_gradient, rows)
        });
        if served && let Some(programs) = self.tiers.programs() {
            write(gradient, programs.gradient());
            if let (Some(value), Some(&found)) = (value, programs.outputs().first()) {
                *value = number(found);
            }
        }
        served
    }

    /// Fills entries by a program. Returns whether there is one that is valid.
    pub(super) fn entries<S: Scalar>(
        &mut self,
        schedule: Schedule,
        f: Option<&dyn Recordable>,
        x: &[S],
        mut entries: EntryRequest<'_, S>,
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
    ) -> bool {
        if !self.tiers.is_on() {
            return false;
        }
        let slices = [x];
        let Some(&[point]) = doubles(&slices) else { return false };
        let (with_value, with_gradient) = (value.is_some(), gradient.is_some());
        if !with_value && !with_gradient && fill_requested(&mut self.tiers, f, point, &mut entries, point.len()) {
            return true;
        }
        self.tiers.compile_entries_if_due();
        if self.tiers.wants_request(schedule) {
            self.tiers.request(RequestedEntries::of(Order::Second, &entries, Limits { bytes: schedule.bytes }));
        }
        let rows = if entries.pattern.is_some() { 1 } else { point.len() };
        let mut values = entries.values;
        let done = self.tiers.serve_entries(f, &mut |programs, f| {
            values.set_rows(rows)?;
            let (data, constants) = values.data_and_constants();
            let mut slices = [data];
            let Some([data]) = doubles_mut(&mut slices) else { return Ok(ByKept::OtherPath) };
            programs.entries_by_kept(f, point, (data, constants), with_value, with_gradient)
        });
        match done {
            None => false,
            Some(Err(instead)) => {
                self.decided = Some(instead);
                false
            }
            Some(Ok(())) => {
                let Some(programs) = self.tiers.programs() else { return false };
                if let (Some(value), [found]) = (value, programs.outputs()) {
                    *value = number(*found);
                }
                write(gradient, programs.gradient());
                true
            }
        }
    }
}
