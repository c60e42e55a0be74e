//! What the tests of second order share: macros that run a body for every pair of engines, and a comparison relative to
//! the largest number.
//!
//! Used by the test files beside it; calls nothing of the project.
#![allow(dead_code, unused_macros, unused_imports, reason = "each test binary uses a part")]

/// Pairs of exact engines, relative to the largest number.
pub(crate) const EXACT: f64 = 1e-12;
/// Differences of exact derivatives, or exact derivatives of differences.
pub(crate) const ONE_DIFFERENCE: f64 = 1e-6;
/// Differences of differences.
pub(crate) const TWO_DIFFERENCES: f64 = 1e-4;

/// Compares entry by entry, relative to the largest expected entry and to one.
#[track_caller]
pub(crate) fn assert_near(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: found {} entries, expected {}", found.len(), expected.len());
    let scale = expected.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= tolerance * scale,
            "{what}: entry {i} is {found:e}, expected {expected:e} (tolerance {tolerance:e}, scale {scale:e})"
        );
    }
}

/// Runs the body once per pair of exact engines that records anew in some calls, and so allocates: a compiled outer backend
/// does over another one where the value is requested too, where there is a `Constant`, and over pushforwards.
macro_rules! each_recording_pair {
    (|$backend:ident| $body:block) => {{
        let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::default());
        {
            let $backend = SecondOrder(AutoReverseDiff::compiled(), reverse);
            $body
        }
        {
            let $backend = SecondOrder(AutoReverseDiff::compiled(), forward);
            $body
        }
    }};
}

/// Runs the body once per pair of exact engines.
macro_rules! each_exact_pair {
    (|$backend:ident| $body:block) => {{
        $crate::pairs::each_steady_exact_pair!(|$backend| $body);
        $crate::pairs::each_recording_pair!(|$backend| $body);
    }};
}

/// Runs the body once per pair of exact engines whose prepared calls do not allocate, plain engines for themselves twice
/// among them.
macro_rules! each_steady_exact_pair {
    (|$backend:ident| $body:block) => {{
        let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::default());
        {
            let $backend = forward;
            $body
        }
        {
            let $backend = reverse;
            $body
        }
        {
            let $backend = SecondOrder(forward, reverse);
            $body
        }
        {
            let $backend = SecondOrder(reverse, forward);
            $body
        }
        {
            let $backend = SecondOrder(reverse, reverse);
            $body
        }
        {
            let $backend = AutoReverseDiff::compiled();
            $body
        }
    }};
}

/// Runs the body once per pair of engines; `$tolerance` is what the pair reaches relative to the largest number.
macro_rules! each_pair {
    (|$backend:ident, $tolerance:ident| $body:block) => {{
        $crate::pairs::each_steady_pair!(|$backend, $tolerance| $body);
        $crate::pairs::each_recording_pair!(|$backend| {
            let $tolerance = $crate::pairs::EXACT;
            $body
        });
    }};
}

/// The same without the pairs that record anew in some calls.
macro_rules! each_steady_pair {
    (|$backend:ident, $tolerance:ident| $body:block) => {{
        let (forward, reverse, central) =
            (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoFiniteDiff::central());
        $crate::pairs::each_steady_exact_pair!(|$backend| {
            let $tolerance = $crate::pairs::EXACT;
            $body
        });
        {
            let ($backend, $tolerance) = (SecondOrder(central, forward), $crate::pairs::ONE_DIFFERENCE);
            $body
        }
        {
            let ($backend, $tolerance) = (SecondOrder(central, reverse), $crate::pairs::ONE_DIFFERENCE);
            $body
        }
        {
            let ($backend, $tolerance) = (SecondOrder(forward, central), $crate::pairs::ONE_DIFFERENCE);
            $body
        }
        {
            let ($backend, $tolerance) = (SecondOrder(reverse, central), $crate::pairs::ONE_DIFFERENCE);
            $body
        }
        {
            let ($backend, $tolerance) = (central, $crate::pairs::TWO_DIFFERENCES);
            $body
        }
    }};
}

pub(crate) use {each_exact_pair, each_pair, each_recording_pair, each_steady_exact_pair, each_steady_pair};
