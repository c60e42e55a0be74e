//! The sequence of checks of one scenario with one backend.

use super::compare::Part;
use super::session::{Reference, Session, Stop};
use crate::allocation::allocations;
use crate::driver::{At, Call, Results, Variant, WrongLength};
use crate::outcome::Check;

impl Session<'_> {
    /// Runs all checks.
    pub(super) fn run(&mut self) -> Result<(), Stop> {
        self.find_reference()?;
        let facts = self.facts;
        let variants: Vec<Variant> = facts.variants.iter().copied().filter(|v| v.is_in(facts.place)).collect();
        let one_shot_calls = self.one_shot(&variants)?;
        self.prepared(&variants, &one_shot_calls)?;
        self.same_point(&variants)?;
        self.other_thread(&variants)?;
        self.prepare_again(&variants)?;
        self.wrong_sizes(&variants)?;
        self.pattern();
        self.check(Check::Untouched, "after all calls", self.driver.is_untouched(), || {
            "the point, a context or a seed has changed".to_string()
        });
        Ok(())
    }

    /// Calls every variant twice without preparation; returns the number of evaluations of each.
    fn one_shot(&mut self, variants: &[Variant]) -> Result<Vec<usize>, Stop> {
        let mut counts = Vec::new();
        for &variant in variants {
            let before = self.driver.calls();
            self.call_and_compare(Check::Result, Call::OneShot, variant)?;
            counts.push(self.driver.calls() - before);
            self.call_and_compare(Check::SecondCall, Call::OneShot, variant)?;
        }
        Ok(counts)
    }

    /// Calls every variant prepared at another point: twice in a row, then after a call at that other point.
    fn prepared(&mut self, variants: &[Variant], one_shot_calls: &[usize]) -> Result<(), Stop> {
        let per_evaluation = if self.allocations_counted { self.driver.allocations_of_function() } else { 0 };
        for (&variant, &one_shot) in variants.iter().zip(one_shot_calls) {
            self.prepare(At::Preparation)?;
            let call = self.call_name(Call::Prepared, variant);
            let before = self.driver.calls();
            let allocated = self.call_and_compare(Check::Preparation, Call::Prepared, variant)?;
            let calls = self.driver.calls() - before;
            self.call_and_compare(Check::SecondCall, Call::Prepared, variant)?;
            let calls_again = self.driver.calls() - before - calls;
            let elsewhere = self.driver.call(Call::Prepared, variant, At::Preparation);
            self.no_error(&call, elsewhere)?;
            let allocated_again = self.call_and_compare(Check::SecondCall, Call::Prepared, variant)?;

            let most = self.facts.calls.map(|(plain, with_value)| if variant.has_value() { with_value } else { plain });
            let most = most.unwrap_or(usize::MAX).min(one_shot);
            self.check(Check::Calls, &call, calls <= most, || {
                format!("the function was evaluated {calls} times, the method needs at most {most}")
            });
            self.check(Check::Calls, &call, calls == calls_again, || {
                format!("the function was evaluated {calls} times in the first call and {calls_again} in the second")
            });
            if variant.is_into() && self.allocations_counted {
                // A value that is an object of its own takes no more than an evaluation, which makes one, once its shape is known.
                let makes_value = self.facts.makes_values && variant.has_value();
                let most = per_evaluation * (calls + usize::from(makes_value));
                let found = if makes_value { allocated_again } else { allocated.max(allocated_again) };
                self.check(Check::Allocations, &call, found <= most, || {
                    format!("it allocated {found} times, the function itself {most}")
                });
            }
        }
        self.prepare(At::Point)?;
        variants.iter().try_for_each(|&v| self.call_and_compare(Check::Preparation, Call::Prepared, v).map(drop))
    }

    /// Calls the objects prepared at the point, for operators that have them, interleaved with other calls that overwrite their products,
    /// and calls clones made before and after a call.
    fn same_point(&mut self, variants: &[Variant]) -> Result<(), Stop> {
        let call = format!("prepare_{}_same_point", self.facts.operator);
        let held = self.driver.prepare_same_point();
        if !self.no_error(&call, held)? {
            return Ok(());
        }
        for &variant in variants.iter().filter(|v| matches!(v, Variant::Plain | Variant::Into)) {
            self.call_and_compare(Check::SamePoint, Call::SamePoint, variant)?;
            let between = self.driver.call_with_other_seeds(Call::SamePoint, variant);
            self.no_error(&self.call_name(Call::SamePoint, variant), between)?;
            self.call_and_compare(Check::SamePoint, Call::SamePoint, variant)?;
        }
        let again = self.driver.prepare_same_point();
        self.no_error(&call, again)?;
        for &variant in variants.iter().filter(|v| matches!(v, Variant::Plain | Variant::Into)) {
            self.driver.take_clone_of_same_point();
            self.call_and_compare(Check::SamePointClone, Call::SamePoint, variant)?;
        }
        Ok(())
    }

    /// A clone of the prepared object on another thread.
    fn other_thread(&mut self, variants: &[Variant]) -> Result<(), Stop> {
        if !self.options.makes(Check::OtherThread) {
            return Ok(());
        }
        self.prepare(At::Preparation)?;
        let variant = *variants.last().expect("every operator has variants");
        let call = self.call_name(Call::Prepared, variant);
        self.driver.poison();
        let results = self.driver.call_clone_on_another_thread(variant);
        let results = self.no_error(&call, results)?;
        self.compare_results(Check::OtherThread, &call, variant, &results)
    }

    /// Prepares again, from a point of another length if there is one.
    fn prepare_again(&mut self, variants: &[Variant]) -> Result<(), Stop> {
        let from = if self.facts.has_other_size { At::OtherSize } else { At::Preparation };
        let call = format!("prepare_again of {}", self.facts.operator);
        self.prepare(from)?;
        if self.facts.has_other_size {
            let refused = self.driver.call(Call::Prepared, variants[0], At::Point).is_err();
            self.check(Check::WrongSizes, &self.call_name(Call::Prepared, variants[0]), refused, || {
                "it accepted a point that differs in length from the prepared point".to_string()
            });
        }
        let again = self.driver.prepare_again(At::Point);
        if self.no_error(&call, again)? {
            variants
                .iter()
                .try_for_each(|&v| self.call_and_compare(Check::PrepareAgain, Call::Prepared, v).map(drop))?;
        }
        Ok(())
    }

    /// Passes arguments of wrong lengths, each followed by a correct call.
    fn wrong_sizes(&mut self, variants: &[Variant]) -> Result<(), Stop> {
        if !self.options.makes(Check::WrongSizes) {
            return Ok(());
        }
        self.prepare(At::Preparation)?;
        for &variant in variants {
            let call = self.call_name(Call::Prepared, variant);
            if self.driver.has_too_long() {
                let refused = self.driver.call(Call::Prepared, variant, At::TooLong).is_err();
                self.check(Check::WrongSizes, &call, refused, || {
                    "it accepted a point longer than it was prepared for".to_string()
                });
                self.driver.restore_lengths();
                self.call_and_compare(Check::AfterError, Call::Prepared, variant)?;
            }
            for argument in [WrongLength::Seed, WrongLength::Buffer, WrongLength::FirstBuffer] {
                let concerned = match argument {
                    WrongLength::Seed => true,
                    WrongLength::Buffer => variant.is_into(),
                    WrongLength::FirstBuffer => variant.is_into() && variant.has_first(),
                };
                for kind in [Call::OneShot, Call::Prepared] {
                    if !concerned || !self.driver.set_wrong_length(argument) {
                        continue;
                    }
                    let call = self.call_name(kind, variant);
                    let refused = self.driver.call(kind, variant, At::Point).is_err();
                    self.driver.restore_lengths();
                    self.check(Check::WrongSizes, &call, refused, || {
                        let what = match argument {
                            WrongLength::Seed => "a seed",
                            WrongLength::Buffer => "a buffer",
                            WrongLength::FirstBuffer => "a buffer for the first-order result",
                        };
                        format!("it accepted {what} of a wrong length")
                    });
                    self.call_and_compare(Check::AfterError, kind, variant)?;
                }
            }
        }
        Ok(())
    }

    /// Compares the stored entries of a sparse matrix.
    fn pattern(&mut self) {
        let (Some(expected), Some(found)) = (&self.facts.pattern, self.driver.results().pattern) else { return };
        let missing = expected.iter().find(|place| !found.contains(place));
        let surplus = found.iter().find(|place| !expected.contains(place));
        let detail = match (missing, surplus) {
            (Some((i, j)), _) => format!("the pattern lacks [{i},{j}]"),
            (None, Some((i, j))) => format!("the pattern has [{i},{j}], which is always zero"),
            (None, None) => String::new(),
        };
        self.check(Check::Pattern, self.facts.operator, detail.is_empty(), || detail);
    }

    fn prepare(&mut self, at: At) -> Result<(), Stop> {
        let prepared = self.driver.prepare(at, 1);
        self.no_error(&format!("prepare_{}", self.facts.operator), prepared)
    }

    /// Calls into buffers full of NaN and compares; returns the number of allocations of the call.
    fn call_and_compare(&mut self, check: Check, call: Call, variant: Variant) -> Result<usize, Stop> {
        self.driver.poison();
        let before = allocations();
        let result = self.driver.call(call, variant, At::Point);
        let allocated = allocations() - before;
        let name = self.call_name(call, variant);
        if let Err(error) = result {
            let check = if check == Check::Result { Check::Error } else { check };
            self.note(check, &name, format!("it returned the error `{error}`"));
            return Err(Stop);
        }
        let results = self.driver.results();
        self.compare_results(check, &name, variant, &results)?;
        Ok(allocated)
    }

    /// Compares all parts of the results that the variant returns.
    fn compare_results(&mut self, check: Check, call: &str, variant: Variant, results: &Results) -> Result<(), Stop> {
        let Reference { value, first, second } = self.reference.clone();
        if variant.has_value() {
            self.compare(
                if check == Check::Result { Check::Value } else { check },
                call,
                Part::Value,
                &results.value,
                &value,
            )?;
        }
        if let Some(first) = first.filter(|_| self.facts.order == 1 || variant.has_first()) {
            self.compare(check, call, Part::First, &results.first, &first)?;
        }
        match second {
            Some(second) => self.compare(check, call, Part::Second, &results.second, &second),
            None => Ok(()),
        }
    }
}
