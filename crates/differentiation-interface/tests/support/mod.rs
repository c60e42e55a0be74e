//! Shared by the tests: tolerances, readable comparisons, and macros that run a body for every engine.
//!
//! Used by the test files beside it; calls nothing of the project.
#![allow(dead_code, unused_macros, unused_imports, reason = "each test binary uses a part")]

pub(crate) mod data;
pub(crate) mod rule_table;

/// Exact methods agree with 50-digit arithmetic to this.
pub(crate) const EXACT: f64 = 1e-12;
/// Central differences on the cases here.
pub(crate) const CENTRAL: f64 = 1e-7;
/// One-sided differences on the cases here.
pub(crate) const ONE_SIDED: f64 = 1e-4;

/// Compares entry by entry, relative to entries larger than one.
#[track_caller]
pub(crate) fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: found {} entries, expected {}", found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let allowed = tolerance * expected.abs().max(1.0);
        assert!(
            (found - expected).abs() <= allowed || found == expected,
            "{what}: entry {i} is {found:e}, expected {expected:e} (tolerance {tolerance:e})"
        );
    }
}

/// Two results that must be the same number, NaN equal to NaN, up to `tolerance` relative.
pub(crate) fn same(a: f64, b: f64, tolerance: f64) -> bool {
    (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// Runs the body once per exact engine; `$backend` is the engine.
macro_rules! each_exact_engine {
    (|$backend:ident| $body:block) => {{
        differentiation_interface::each_backend! { crate::support::run_listed![exact any $backend tolerance $body] }
    }};
}

/// The same without engines that keep recordings, which take functions to be pure and do not run them in every call.
macro_rules! each_running_exact_engine {
    (|$backend:ident| $body:block) => {{
        differentiation_interface::each_backend! { crate::support::run_listed![exact runs $backend tolerance $body] }
    }};
}

/// Runs the body once per engine; `$tolerance` is what the engine reaches on smooth functions of moderate size.
macro_rules! each_engine {
    (|$backend:ident, $tolerance:ident| $body:block) => {{
        differentiation_interface::each_backend! { crate::support::run_listed![any any $backend $tolerance $body] }
        $crate::support::each_one_sided_difference!(|$backend, $tolerance| $body);
    }};
}

/// The same without engines that keep recordings.
macro_rules! each_running_engine {
    (|$backend:ident, $tolerance:ident| $body:block) => {{
        differentiation_interface::each_backend! { crate::support::run_listed![any runs $backend $tolerance $body] }
        $crate::support::each_one_sided_difference!(|$backend, $tolerance| $body);
    }};
}

/// The other differences, which are settings of one backend.
macro_rules! each_one_sided_difference {
    (|$backend:ident, $tolerance:ident| $body:block) => {{
        {
            let ($backend, $tolerance) = (AutoFiniteDiff::forward(), $crate::support::ONE_SIDED);
            $body
        }
        {
            let ($backend, $tolerance) = (AutoFiniteDiff::backward(), $crate::support::ONE_SIDED);
            $body
        }
    }};
}

/// Runs the body with each backend of the list that is as accurate and evaluates as asked, `any` being all of them.
macro_rules! run_listed {
    ([$accuracy:ident $evaluation:ident $backend:ident $tolerance:ident $body:block]
     $($(#[$attribute:meta])* $module:ident $Type:ident = $make:expr, $own_accuracy:ident, $own_evaluation:ident;)*) => {
        $($(#[$attribute])* $crate::support::run_listed! { @if $accuracy $own_accuracy, $evaluation $own_evaluation: {
            let ($backend, $tolerance) = ($make, $crate::support::tolerance_of!($own_accuracy));
            let _ = $tolerance;
            $body
        } })*
    };
    (@if exact differences, $evaluation:ident $own:ident: $run:block) => {};
    (@if $accuracy:ident $own:ident, runs records: $run:block) => {};
    (@if $accuracy:ident $own_accuracy:ident, $evaluation:ident $own_evaluation:ident: $run:block) => { $run };
}

/// What a listed backend reaches.
macro_rules! tolerance_of {
    (exact) => {
        $crate::support::EXACT
    };
    (differences) => {
        $crate::support::CENTRAL
    };
}

pub(crate) use {
    each_engine, each_exact_engine, each_one_sided_difference, each_running_engine, each_running_exact_engine,
    run_listed, tolerance_of,
};

/// The name of an engine, for messages.
pub(crate) fn name_of<B: differentiation_interface::backend::Backend>(_: &B) -> &'static str {
    B::NAME
}
