//! The function is called as often.

use super::*;

/// Inputs long enough for several passes.
fn long() -> Vec<f64> {
    (0..30).map(|i| (i as f64 * 0.7).sin()).collect()
}

macro_rules! calls_agree {
    ($($fixed:expr),*; $operators:ident) => {$({
        let fixed = $fixed;
        let any = AnyBackend::from(fixed);
        $operators!(any, fixed);
    })*};
}

/// The calls for a Hessian of 30 inputs by forward mode alone: numbers of several backends have twelve lanes for seeds, those of forward mode four.
const HESSIAN_BY_FORWARD_MODE: [u32; 2] = [3 * 8, 8 * 8];

/// Both backends call the function as often, but for [`HESSIAN_BY_FORWARD_MODE`].
macro_rules! same_calls {
    ($any:expr, $fixed:expr, |$count:ident, $backend:ident| $call:expr) => {{
        let counts = [
            {
                let ($backend, calls) = (&$any, Cell::new(0));
                let $count = || calls.set(calls.get() + 1);
                $call;
                calls.get()
            },
            {
                let ($backend, calls) = (&$fixed, Cell::new(0));
                let $count = || calls.set(calls.get() + 1);
                $call;
                calls.get()
            },
        ];
        if counts != HESSIAN_BY_FORWARD_MODE {
            assert_eq!(counts[0], counts[1], "{}: calls in {}", $any, stringify!($call));
        }
    }};
}

macro_rules! first_order_calls {
    ($any:ident, $fixed:ident) => {
        let x = long();
        same_calls!($any, $fixed, |count, b| value_and_gradient(
            &|x: &[_]| {
                count();
                smooth(x)
            },
            b,
            &x
        )
        .unwrap());
        same_calls!($any, $fixed, |count, b| jacobian(
            &|x: &[_]| {
                count();
                vector(x)
            },
            b,
            &x
        )
        .unwrap());
        same_calls!($any, $fixed, |count, b| pushforward(
            &|x: &[_]| {
                count();
                vector(x)
            },
            b,
            &x,
            [&x]
        )
        .unwrap());
        same_calls!($any, $fixed, |count, b| pullback(
            &|x: &[_]| {
                count();
                vector(x)
            },
            b,
            &x,
            [&X]
        )
        .unwrap());
        same_calls!($any, $fixed, |count, b| prepare_jacobian(
            &|x: &[_]| {
                count();
                vector(x)
            },
            b,
            &x
        )
        .unwrap());
        second_order_calls!($any, $fixed);
    };
}

macro_rules! second_order_calls {
    ($any:ident, $fixed:ident) => {
        let x = long();
        same_calls!($any, $fixed, |count, b| hvp(
            &|x: &[_]| {
                count();
                smooth(x)
            },
            b,
            &x,
            [&x]
        )
        .unwrap());
        same_calls!($any, $fixed, |count, b| {
            value_gradient_and_hessian(
                &|x: &[_]| {
                    count();
                    smooth(x)
                },
                b,
                &x,
            )
            .unwrap()
        });
        same_calls!($any, $fixed, |count, b| second_derivative(
            &|t| {
                count();
                wave(t)
            },
            b,
            0.7
        )
        .unwrap());
    };
}

#[test]
fn the_function_is_called_as_often() {
    let (forward, reverse, finite) =
        (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoFiniteDiff::central());
    let compiled = AutoReverseDiff::compiled();
    calls_agree!(
        forward, reverse, finite, AutoFiniteDiff::forward(), AutoForwardDiff::with_chunk::<4>(),
        AutoForwardDiff::with_chunk::<1>(), AutoReverseDiff::compiled();
        first_order_calls
    );
    calls_agree!(
        SecondOrder(forward, reverse), SecondOrder(reverse, forward), SecondOrder(reverse, reverse),
        SecondOrder(finite, forward), SecondOrder(forward, finite), SecondOrder(reverse, finite),
        SecondOrder(finite, reverse), SecondOrder(AutoForwardDiff::with_chunk::<4>(), forward),
        SecondOrder(compiled, forward), SecondOrder(forward, compiled), SecondOrder(reverse, compiled);
        second_order_calls
    );
}
