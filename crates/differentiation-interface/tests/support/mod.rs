//! What the tests share: tolerances, readable comparisons, and macros that run a body for every engine.
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
        $crate::support::each_running_exact_engine!(|$backend| $body);
        {
            let $backend = AutoReverseDiff::compiled();
            $body
        }
    }};
}

/// The same without the compiled engine, which takes functions to be pure and does not run them in every call.
macro_rules! each_running_exact_engine {
    (|$backend:ident| $body:block) => {{
        {
            let $backend = AutoForwardDiff::default();
            $body
        }
        {
            let $backend = AutoReverseDiff::default();
            $body
        }
    }};
}

/// Runs the body once per engine; `$tolerance` is what the engine reaches on smooth functions of moderate size.
macro_rules! each_engine {
    (|$backend:ident, $tolerance:ident| $body:block) => {{
        $crate::support::each_running_engine!(|$backend, $tolerance| $body);
        {
            let ($backend, $tolerance) = (AutoReverseDiff::compiled(), $crate::support::EXACT);
            $body
        }
    }};
}

/// The same without the compiled engine, which takes functions to be pure and does not run them in every call.
macro_rules! each_running_engine {
    (|$backend:ident, $tolerance:ident| $body:block) => {{
        {
            let ($backend, $tolerance) = (AutoForwardDiff::default(), $crate::support::EXACT);
            $body
        }
        {
            let ($backend, $tolerance) = (AutoReverseDiff::default(), $crate::support::EXACT);
            $body
        }
        {
            let ($backend, $tolerance) = (AutoFiniteDiff::central(), $crate::support::CENTRAL);
            $body
        }
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

pub(crate) use {each_engine, each_exact_engine, each_running_engine, each_running_exact_engine};

/// The name of an engine, for messages.
pub(crate) fn name_of<B: differentiation_interface::backend::Backend>(_: &B) -> &'static str {
    B::NAME
}
