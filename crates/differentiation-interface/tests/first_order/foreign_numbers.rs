//! Differentiations inside one another with the same number type: what works, and what is refused.

use differentiation_interface::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Runs a test body with each engine that has a number type of its own.
macro_rules! each_engine {
    ($($name:ident: $backend:ident => $body:block)*) => {$(
        mod $name {
            use super::*;
            #[test]
            fn forward() -> Result<(), Error> {
                let $backend = AutoForwardDiff::default();
                $body
            }
            #[test]
            fn reverse() -> Result<(), Error> {
                let $backend = AutoReverseDiff::default();
                $body
            }
        }
    )*};
}

fn with_slope<T: Real>(x: &[T], slope: impl Fn(f64) -> f64) -> T {
    let before = x[0] * x[1];
    let constant = slope(x[0].primal());
    before * x[1] + constant * x[0]
}

each_engine! {
    captured_outer_number_is_refused: backend => {
        let seen = Cell::new(None);
        let outer = |x: &[_]| {
            let captured = x[0];
            let inner = gradient(&|z: &[_]| z[0] * captured, &backend, &[2.0]);
            seen.set(inner.err().map(|error| error.kind()));
            x[0] * x[0]
        };
        let _ = gradient(&outer, &backend, &[3.0]);
        assert_eq!(seen.get(), Some(ErrorKind::ForeignNumber));
        Ok(())
    }
    kept_number_of_an_earlier_call_is_refused: backend => {
        let kept = Cell::new(None);
        gradient(&|x: &[_]| { kept.set(Some(x[0])); x[0] }, &backend, &[3.0])?;
        let error = gradient(&|x: &[_]| x[0] * kept.get().expect("it was kept"), &backend, &[3.0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ForeignNumber);
        let error = gradient(&|_: &[_]| kept.get().expect("it was kept"), &backend, &[3.0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ForeignNumber);
        Ok(())
    }
    outer_numbers_compute_while_an_inner_call_runs: backend => {
        let outer = |x: &[_]| {
            let product = Cell::new(None);
            let inner = |z: &[_]| {
                product.set(Some(x[0] * x[1] + x[1]));
                z[0] * z[1]
            };
            let inner = gradient(&inner, &backend, &[5.0, 7.0]).expect("nothing was mixed");
            assert_eq!(inner, [7.0, 5.0]);
            product.get().expect("it was set") * x[0]
        };
        // x₀ (x₀ x₁ + x₁)
        assert_eq!(gradient(&outer, &backend, &[2.0, 3.0])?, [15.0, 6.0]);
        Ok(())
    }
    inner_calls_by_value_leave_the_outer_one_alone: backend => {
        let slope = |at: f64| gradient(&|z: &[_]| z[0] * z[0] * z[1], &backend, &[at, 1.0]).expect("nothing was mixed")[0];
        let outer = |x: &[_]| with_slope(x, slope);
        // x₀ x₁² + 4 x₀ at x₀ = 2
        assert_eq!(gradient(&outer, &backend, &[2.0, 3.0])?, [13.0, 12.0]);
        Ok(())
    }
    panic_in_an_inner_call_leaves_the_outer_one_alone: backend => {
        let outer = |x: &[_]| {
            let before = x[0] * x[1];
            let inner = std::panic::catch_unwind(|| {
                let f = |z: &[_]| {
                    assert!(z[0] * z[1] < 0.0, "on purpose");
                    z[0]
                };
                gradient(&f, &backend, &[1.0, 1.0])
            });
            assert!(inner.is_err());
            before * x[1]
        };
        assert_eq!(gradient(&outer, &backend, &[2.0, 3.0])?, [9.0, 12.0]);
        Ok(())
    }
}

/// x₀/2ⁿ⁻¹ + Σ xᵢ²/2ⁿ⁻¹⁻ⁱ, of which the parts are kept.
fn remembered<T: Real>(i: usize, x: &[T], memory: &Memory<T>) -> T {
    if i == 0 {
        return x[0];
    }
    if let Some(known) = memory.borrow().get(&i) {
        return *known;
    }
    let value = remembered(i - 1, x, memory) * 0.5 + x[i] * x[i];
    memory.borrow_mut().insert(i, value);
    value
}

type Memory<T> = RefCell<HashMap<usize, T>>;

/// Passes of forward mode have other seeds each, so that a number of an earlier pass has tangents of other inputs.
#[test]
fn kept_numbers_of_an_earlier_pass_are_refused() {
    let x: Vec<f64> = (1..=13).map(f64::from).collect();
    macro_rules! assert_refused {
        ($result:expr) => {
            assert_eq!($result.unwrap_err().kind(), ErrorKind::ForeignNumber);
        };
    }
    let memory = Memory::default();
    assert_refused!(gradient(&|x: &[_]| remembered(x.len() - 1, x, &memory), &AutoForwardDiff::default(), &x));
    let memory = Memory::default();
    let two = AutoForwardDiff::with_chunk::<2>();
    assert_refused!(jacobian(&|x: &[_]| vec![remembered(x.len() - 1, x, &memory)], &two, &x[..3]));
    let memory = Memory::default();
    assert_refused!(hessian(&|x: &[_]| remembered(x.len() - 1, x, &memory), &AutoForwardDiff::default(), &x));
    let memory = Memory::default();
    let tangents = [&x[..3], &x[3..6]];
    assert_refused!(hvp(&|x: &[_]| remembered(x.len() - 1, x, &memory), &two, &x[..3], tangents));

    // One pass has one set of tangents.
    let memory = Memory::default();
    let f = |x: &[_]| remembered(x.len() - 1, x, &memory) + remembered(x.len() - 1, x, &memory);
    assert_eq!(gradient(&f, &AutoForwardDiff::default(), &x[..3]).unwrap(), [0.5, 4.0, 12.0]);
}
