//! The outcome of a test: counts per backend, and findings that are readable without the source.
//!
//! Made by [`test_differentiation`](crate::test_differentiation).

use std::fmt;

/// Makes the checks with their names, one per line.
macro_rules! checks {
    ($($Check:ident $name:literal: $what:literal;)*) => {
        /// A check of [`test_differentiation`](crate::test_differentiation).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Check {
            $(#[doc = $what] $Check,)*
        }

        impl Check {
            /// All checks.
            pub const ALL: &'static [Check] = &[$(Check::$Check),*];
            /// Name in messages.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Check::$Check => $name,)*
                }
            }
        }
    };
}
checks! {
    Function "function": "The function has the value that the scenario expects, on plain numbers.";
    Error "error": "The operator returns no unexpected error.";
    Result "result": "A call without preparation gives the expected result.";
    Value "value": "The value returned with a result is that of the function.";
    Overwrite "overwrite": "Every entry of a buffer is written; buffers are filled with NaN first.";
    Preparation "preparation": "A call prepared at another point gives the expected result.";
    SecondCall "second_call": "Further calls give the result of the first one, also after a call at another point.";
    SamePoint "same_point": "A call prepared at the point itself gives the expected result, for operators with such a preparation.";
    SamePointClone "same_point_clone": "A clone of the object prepared at the point gives the expected result: it holds the point too.";
    OtherThread "other_thread": "A clone of the prepared object gives the expected result on another thread.";
    PrepareAgain "prepare_again": "After preparing again, for a point of another length if there is one, calls are right.";
    Untouched "untouched": "Points, contexts and seeds are unchanged.";
    WrongSizes "wrong_sizes": "Points, seeds and buffers of wrong lengths are refused.";
    AfterError "after_error": "A prepared object that refused a call answers the next one.";
    Allocations "allocations": "Prepared calls into buffers allocate no more than the function does.";
    Calls "calls": "The function is evaluated no more often than the method needs, and equally often in each call.";
    Pattern "pattern": "A sparse matrix stores the expected entries.";
    Adjoint "adjoint": "Pushforward and pullback are adjoint: <dy, J dx> = <J' dy, dx>. Only if no answer is given.";
    Convergence "convergence": "Differences converge to the result with the square of the step; it is finite where they are. Only if no answer is given.";
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A check that failed. Prints as one line, such as
/// `forward_diff: jacobian of rotate_pair: [1,0] is 0.84, expected -0.84 (tolerance 8.4e-13) [result: jacobian]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The backend.
    pub backend: String,
    /// The operator.
    pub operator: &'static str,
    /// The scenario.
    pub scenario: String,
    /// The check.
    pub check: Check,
    /// The call that was made, such as `value_and_jacobian_into, prepared`.
    pub call: String,
    /// The result found and the one expected.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { backend, operator, scenario, check, call, detail } = self;
        write!(f, "{backend}: {operator} of {scenario}: {detail} [{check}: {call}]")
    }
}

/// The work done with one backend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The backend.
    pub backend: String,
    /// Scenarios that were run.
    pub scenarios: usize,
    /// Checks that were made.
    pub checks: usize,
    /// Scenarios that the backend does not support.
    pub skipped: usize,
    /// The reasons, each with its number of scenarios.
    pub reasons: Vec<(String, usize)>,
}

/// The outcome of [`test_differentiation`](crate::test_differentiation).
#[derive(Clone, Debug, Default)]
#[must_use = "call `assert` to fail on findings"]
pub struct Outcome {
    pub(crate) counts: Vec<Count>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) allocations_counted: bool,
}

impl Outcome {
    /// Checks that failed. After the first wrong result of a scenario with a backend, the pair is not checked further.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
    /// The work done with each backend.
    pub fn counts(&self) -> &[Count] {
        &self.counts
    }
    /// Whether no check failed.
    pub fn is_ok(&self) -> bool {
        self.findings.is_empty()
    }

    /// Prints the counts, and panics with all findings if there are any.
    ///
    /// # Panics
    /// If a check failed, or if nothing was checked.
    #[track_caller]
    pub fn assert(&self) {
        print!("{self}");
        let checks: usize = self.counts.iter().map(|count| count.checks).sum();
        assert!(checks > 0, "no scenario was run: every backend skipped all of them");
        let lines: Vec<String> = self.findings.iter().map(Finding::to_string).collect();
        assert!(self.is_ok(), "{} findings\n{}", lines.len(), lines.join("\n"));
    }

    /// Prints the counts, and panics unless the findings are the known ones: pairs of a scenario and the beginning of what it found, such as
    /// `("sqrt at 0", "[0] is NaN")`. For engines of other crates, whose errors are data: one that is new fails the test, and so does one that
    /// is gone.
    ///
    /// # Panics
    /// If a finding is not known, if a known one does not occur, or if nothing was checked.
    #[track_caller]
    pub fn assert_known(&self, known: &[(&str, &str)]) {
        print!("{self}");
        assert!(self.counts.iter().any(|count| count.checks > 0), "no scenario was run");
        let is = |finding: &Finding, &(scenario, detail): &(&str, &str)| {
            finding.scenario == scenario && finding.detail.starts_with(detail)
        };
        let new = self.findings.iter().filter(|finding| !known.iter().any(|known| is(finding, known)));
        let gone = known.iter().filter(|known| !self.findings.iter().any(|finding| is(finding, known)));
        let lines: Vec<String> = new
            .map(|finding| format!("not known: {finding}"))
            .chain(gone.map(|(scenario, detail)| format!("no longer found: {scenario}: {detail}")))
            .collect();
        assert!(lines.is_empty(), "{} changes of the known findings\n{}", lines.len(), lines.join("\n"));
    }

    pub(crate) fn count(&mut self, backend: String) -> &mut Count {
        let at = self.counts.iter().position(|count| count.backend == backend).unwrap_or_else(|| {
            self.counts.push(Count { backend, ..Count::default() });
            self.counts.len() - 1
        });
        &mut self.counts[at]
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Count { backend, scenarios, checks, skipped, reasons } in &self.counts {
            write!(f, "{backend}: {scenarios} scenarios, {checks} checks, {skipped} skipped")?;
            let reasons: Vec<String> = reasons.iter().map(|(reason, n)| format!("{reason}: {n}")).collect();
            if !reasons.is_empty() {
                write!(f, " ({})", reasons.join("; "))?;
            }
            writeln!(f)?;
        }
        if !self.allocations_counted {
            writeln!(f, "allocations were not counted: install `CountingAllocator` as the global allocator")?;
        }
        Ok(())
    }
}
