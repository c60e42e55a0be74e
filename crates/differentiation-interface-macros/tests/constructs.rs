//! Every construct the attribute rewrites: the value at `f64` is that of the original, the derivative is right.
#![allow(clippy::assign_op_pattern, clippy::get_first, reason = "code as it is written for f64")]

mod dual;

use differentiation_interface_core::Function;
use differentiation_interface_macros::differentiable;
use dual::{check, derivative};

/// Keeps the code as it is written, beside the function the attribute makes generic: `original::name` is plain `f64`.
macro_rules! both {
    ($($(#[$meta:meta])* fn $name:ident($($arguments:tt)*) -> $result:ty $body:block)*) => {
        mod original {
            #![allow(unused_imports, clippy::all)]
            use super::*;
            $(pub(super) fn $name($($arguments)*) -> $result $body)*
        }
        $(#[differentiable(crate = "differentiation_interface_core")] $(#[$meta])* fn $name($($arguments)*) -> $result $body)*
    };
}

const GRAVITY: f64 = 9.81;

#[differentiable(crate = "differentiation_interface_core")]
fn square(x: f64) -> f64 {
    x * x
}

#[differentiable(crate = "differentiation_interface_core")]
fn scaled(x: f64, #[constant] k: f64) -> f64 {
    k * x
}

both! {
    /// Iterators and `sum()`
    fn norm2(x: &[f64]) -> f64 {
        x.iter().map(|v| v * v).sum()
    }
    /// Loops with an accumulator that begins with a literal
    fn accumulated(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in x {
            s += v;
        }
        s *= 2.0;
        s
    }
    /// Variables with a type
    fn typed_accumulator(x: &[f64]) -> f64 {
        let mut s: f64 = 1.0;
        for &v in x.iter() {
            s = s * v;
        }
        s
    }
    /// Arrays and `vec![0.0; n]` as buffers
    fn buffer(x: &[f64]) -> f64 {
        let n = x.len();
        let mut y = vec![0.0; n];
        let mut z = [0.0; 3];
        for i in 0..n {
            y[i] = x[i] * x[i];
            z[0] += y[i];
        }
        z[1] = 5.0;
        z[0] + z[1] * x[0]
    }
    /// Branches and early return, with literals
    fn branches(x: &[f64]) -> f64 {
        let a = if x[0] > 1.0 { 1.0 } else { x[0] };
        let b = if x[1] > 1.0 { x[1] } else { 2.0 };
        if x[0] < -100.0 {
            return 0.0;
        }
        a * b
    }
    /// `fold` with closures and with `f64::max`
    fn folded(x: &[f64]) -> f64 {
        let s = x.iter().fold(0.0, |a, b| a + b);
        let m = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let l = x.iter().cloned().fold(f64::INFINITY, |a: f64, b: f64| a.min(b));
        s * m + l
    }
    /// Powers with constant, plain and active exponents
    fn powers(x: &[f64]) -> f64 {
        let e = 3.0;
        x[0].powf(2.0) + x[0].powf(e) + 2.0_f64.powf(x[1]) + x[1].powi(2) + x[0].max(0.0).sqrt() + x[1].powf(x[1])
    }
    /// Methods by path: `f64::max(a, b)`
    fn paths(x: &[f64]) -> f64 {
        f64::max(x[0], 0.0) + f64::sin(x[1]) + f64::powi(x[0], 3) + f64::powf(x[0], 1.5) + f64::abs(-x[1]) + f64::max(1.0, 2.0)
    }
    /// Constants of the module and of `std::f64`
    fn constants(x: &[f64]) -> f64 {
        let tau = 2.0 * std::f64::consts::PI;
        use std::f64::consts::LN_2;
        let smallest = f64::MIN_POSITIVE;
        tau * x[0] + core::f64::consts::E * x[1] + LN_2 + smallest * f64::EPSILON + GRAVITY * x[0]
    }
    /// Integers as `f64`
    fn casts(x: &[f64]) -> f64 {
        let n = x.len() as f64;
        let mut mean = 0.0;
        for (i, v) in x.iter().enumerate() {
            mean += (i as f64 + 1.0) * v / n;
        }
        mean as f64 + f64::from(3) * x[0] + f64::from(x[1])
    }
    /// Turbofish and collections
    fn turbofish(x: &[f64]) -> f64 {
        let a = x.iter().map(|v| v.exp()).sum::<f64>().ln();
        let squares = x.iter().map(|v| v * v).collect::<Vec<f64>>();
        let mut more = Vec::<f64>::new();
        for s in &squares {
            more.push(*s);
        }
        more.push(1.0);
        a + more.iter().product::<f64>()
    }
    /// `match` on integers and options
    fn matched(x: &[f64]) -> f64 {
        let weight = match x.len() {
            0 => 0.0,
            1 => x[0],
            n if n > 100 => 1.0,
            _ => x[0] * x[1],
        };
        let opt = match x.first() {
            Some(v) => *v,
            None => 1.0,
        };
        weight + opt
    }
    /// Tuples and patterns
    fn tuples(x: &[f64]) -> f64 {
        let (mut a, b) = (1.0, 2.0);
        a *= x[0];
        let (s, p) = x.iter().fold((0.0, 1.0), |(s, p), v| (s + v, p * v));
        let pair: (f64, f64) = (0.0, x[0]);
        a * b + s * p + pair.1 + pair.0
    }
    /// Functions inside the function
    fn nested(x: &[f64]) -> f64 {
        fn half(v: f64) -> f64 {
            0.5 * v
        }
        fn weight(i: usize) -> f64 {
            1.0 + i as f64
        }
        fn clipped(v: f64, low: f64) -> f64 {
            if v < low { low } else { v }
        }
        let mut s = weight(0);
        for (i, v) in x.iter().enumerate() {
            s += weight(i) * half(*v);
        }
        s + clipped(x[0], 0.25)
    }
    /// Closures
    fn closures(x: &[f64]) -> f64 {
        let sq = |v: f64| v * v;
        let add = |a, b| a + b;
        let clip = |v: f64| -> f64 {
            if v > 100.0 {
                return 100.0;
            }
            v
        };
        let mut total = 0.0;
        x.iter().for_each(|v| total += sq(*v));
        add(clip(x[0]), 1.0) + total
    }
    /// Other functions with the attribute
    fn calls(x: &[f64]) -> f64 {
        square(x[0]) + scaled(x[1], 3.0) + square(2.0)
    }
    /// `while`, `loop`, `break`, `assert!`, `if let`
    fn conditions(x: &[f64]) -> f64 {
        let mut s = x[0];
        let mut n = 0;
        while s < 10.0 {
            s *= 2.0;
            n += 1;
            if n > 50 {
                break;
            }
        }
        let limit = loop {
            if s > 1.0 {
                break s;
            }
            s += 1.0;
        };
        assert!(limit.is_finite(), "limit {limit} of {}", x[0]);
        if let Some(last) = x.last() { limit + last } else { 0.0 }
    }
    /// Plain numbers, for which no derivatives are computed
    fn plain_work(x: &[f64]) -> f64 {
        let h = 0.25;
        let weights: Vec<f64> = (0..x.len()).map(|i| h * i as f64).collect();
        let total: f64 = weights.iter().sum();
        let largest = weights.iter().cloned().fold(0.0, f64::max);
        let mut s = total;
        for (v, w) in x.iter().zip(&weights) {
            s += v * w * largest.sqrt();
        }
        s
    }
    /// Methods with plain and active arguments
    fn mixed_methods(x: &[f64]) -> f64 {
        let a = x[1].hypot(4.0) + 3.0_f64.atan2(x[0]) + x[0].clamp(0.0, 10.0);
        let (s, c) = x[0].sin_cos();
        let lowest = x.iter().copied().min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap_or(0.0);
        a + s * c + lowest + x[1].log(2.0)
    }
    /// Angles by `rem_euclid`, with the turns by `div_euclid`
    fn angles(x: &[f64]) -> f64 {
        let turn = std::f64::consts::TAU;
        (x[0] - 7.0).rem_euclid(turn) * x[1] + f64::rem_euclid(x[1], x[0]) + (-9.5f64).div_euclid(x[1])
    }
    /// The largest, the smallest and the sorted by `total_cmp`
    fn ordered(x: &[f64]) -> f64 {
        let largest = x.iter().copied().max_by(|a, b| a.total_cmp(b)).unwrap_or(0.0);
        let smallest = x.iter().copied().min_by(f64::total_cmp).unwrap_or(0.0);
        let mut list = vec![x[0] * x[1], 0.75, -x[0]];
        list.sort_by(|a, b| b.total_cmp(a));
        let limit = if 0.1_f64.total_cmp(&x[0]).is_lt() { 1 } else { 0 };
        let above = f64::total_cmp(&x[0], &1.0).is_gt() || x[1].total_cmp(&-0.0).is_le();
        largest * smallest + list[0] + 3.0 * list[2] + limit as f64 + if above { x[1] } else { 0.0 }
    }
    /// Windows, `skip`, `zip`
    fn windows(x: &[f64]) -> f64 {
        x.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum::<f64>() + x.iter().skip(1).zip(x).map(|(a, b)| a * b).sum::<f64>()
    }
    /// Swapping
    fn swaps(x: &[f64]) -> f64 {
        let (mut a, mut b) = (0.0, 1.0);
        for v in x {
            (a, b) = (b, a + v);
        }
        let mut c = 2.0;
        std::mem::swap(&mut a, &mut c);
        a + b * c
    }
    /// Options
    fn options(x: &[f64]) -> f64 {
        let big = x.iter().find(|v| **v > 1.5).copied().unwrap_or(0.0);
        let first = (x.len() > 1).then_some(1.0).unwrap_or(x[0]);
        big * x.get(0).map_or(1.0, |v| v * 3.0) + first
    }
    /// Labelled blocks and loops
    fn labels(x: &[f64]) -> f64 {
        let a = 'found: {
            for v in x {
                if *v > 1.0 {
                    break 'found *v;
                }
            }
            1.0
        };
        let mut n = 0;
        let b = 'outer: loop {
            loop {
                n += 1;
                if n > 3 {
                    break 'outer x[0];
                }
                if x.len() > 5 {
                    break;
                }
            }
            if n > 10 {
                break 2.0;
            }
        };
        a * b
    }
    /// Plain numbers by reference
    fn plain_references(x: &[f64]) -> f64 {
        use std::f64::consts::PI;
        let mut angle = PI;
        angle += x[0];
        let list = [PI, x[1], 0.5];
        let above = x.iter().filter(|v| v > &&0.0).count();
        let both = if x[0] != 0.0 && x[1] >= 0.0 { PI } else { x[0] };
        angle * list[1] + list.iter().sum::<f64>() + above as f64 + both + PI.max(x[0]) + x[1] % 1.5
    }
    /// Entries of a `Vec` on both sides of an assignment
    fn both_sides(x: &[f64]) -> f64 {
        let mut v = vec![1.0; 4];
        let mut m = vec![vec![x[0], 1.0], vec![2.0, x[1]]];
        v[0] = x[0];
        for i in 1..4 {
            v[i] += 0.5 * v[i - 1];
        }
        v[3] *= v[2] + (x[1] - v[0]);
        m[1][1] -= m[1][0] * m[0][1] / m[0][0];
        m[0][0] * m[1][1] + v[3]
    }
    /// Functions inside of the function with types of their own
    fn inner_generic(x: &[f64]) -> f64 {
        fn pick<P: Copy>(v: &[P], i: usize) -> P {
            v[i]
        }
        fn last<P>(v: &[P]) -> P
        where
            P: Copy,
        {
            v[v.len() - 1]
        }
        let counts = [2, 3];
        pick(x, 0) * pick(&counts, 1) as f64 * last(x)
    }
    /// Entries of maps
    fn entries(x: &[f64]) -> f64 {
        use std::collections::{BTreeMap, HashMap};
        let mut sums: HashMap<usize, f64> = HashMap::new();
        let mut products = BTreeMap::new();
        for (i, v) in x.iter().chain(x).enumerate() {
            *sums.entry(i % 3).or_insert(0.0) += v * i as f64;
            *products.entry(i % 2).or_insert(1.0) *= v;
        }
        sums[&0] + 2.0 * sums[&1] + products[&0] * products[&1] + x.iter().rfold(0.0, |s, v| 0.5 * s + v)
    }
    /// Nested arrays
    fn matrix(x: &[f64]) -> f64 {
        let a = [[1.0, 2.0], [3.0, 4.0]];
        let mut y = [0.0; 2];
        for i in 0..2 {
            for j in 0..2 {
                y[i] += a[i][j] * x[j];
            }
        }
        y.iter().zip(x).map(|(y, x)| y * x).sum::<f64>() * 0.5
    }
}

macro_rules! same_as_original {
    ($($name:ident $Object:ident $test:ident $by_hand:expr;)*) => {$(
        #[test]
        fn $test() {
            let x = [0.5, 2.0];
            let by_hand: fn(f64, f64) -> [f64; 2] = $by_hand;
            check($Object, x, original::$name(&x), by_hand(x[0], x[1]));
        }
    )*};
}

same_as_original! {
    norm2 Norm2 norm2_is_right |a, b| [2.0 * a, 2.0 * b];
    accumulated Accumulated accumulated_is_right |_, _| [2.0, 2.0];
    typed_accumulator TypedAccumulator typed_accumulator_is_right |a, b| [b, a];
    buffer Buffer buffer_is_right |a, b| [2.0 * a + 5.0, 2.0 * b];
    branches Branches branches_is_right |a, b| [b, a];
    folded Folded folded_is_right |a, b| [b + 1.0, b + (a + b)];
    powers Powers powers_is_right |a, b| [
        2.0 * a + 3.0 * a * a + 0.5 / a.sqrt(),
        2f64.ln() * 2f64.powf(b) + 2.0 * b + b.powf(b) * (b.ln() + 1.0),
    ];
    paths Paths paths_is_right |a, b| [1.0 + 3.0 * a * a + 1.5 * a.sqrt(), b.cos() + 1.0];
    constants Constants constants_is_right |_, _| [2.0 * std::f64::consts::PI + 9.81, std::f64::consts::E];
    casts Casts casts_is_right |_, _| [0.5 + 3.0, 1.0 + 1.0];
    turbofish Turbofish turbofish_is_right |a, b| {
        let s = a.exp() + b.exp();
        [a.exp() / s + 2.0 * a * b * b, b.exp() / s + 2.0 * a * a * b]
    };
    matched Matched matched_is_right |a, b| [b + 1.0, a];
    tuples Tuples tuples_is_right |a, b| [2.0 + a * b + (a + b) * b + 1.0, a * b + (a + b) * a];
    nested Nested nested_is_right |_, _| [0.5 + 1.0, 1.0];
    closures Closures closures_is_right |a, b| [1.0 + 2.0 * a, 2.0 * b];
    calls Calls calls_is_right |a, _| [2.0 * a, 3.0];
    conditions Conditions conditions_is_right |_, _| [32.0, 1.0];
    plain_work PlainWork plain_work_is_right |_, _| [0.0, 0.25 * 0.5];
    mixed_methods MixedMethods mixed_methods_is_right |a, b| [
        -3.0 / (9.0 + a * a) + 1.0 + (2.0 * a).cos() + 1.0,
        b / b.hypot(4.0) + 1.0 / (b * 2f64.ln()),
    ];
    // 2 is four times 0.5: the derivative from above.
    angles Angles angles_is_right |a, b| [b - (b / a).floor(), (a - 7.0).rem_euclid(std::f64::consts::TAU) + 1.0];
    ordered Ordered ordered_is_right |a, b| [
        b + if a * b > 0.75 { b } else { 0.0 } - 3.0,
        a + if a * b > 0.75 { a } else { 0.0 } + if a > 1.0 || b <= 0.0 { 1.0 } else { 0.0 },
    ];
    windows Windows windows_is_right |a, b| [-2.0 * (b - a) + b, 2.0 * (b - a) + a];
    swaps Swaps swaps_is_right |a, b| [1.0 + b, a];
    options Options options_is_right |a, b| [3.0 * b, 3.0 * a];
    labels Labels labels_is_right |a, b| [b, a];
    plain_references PlainReferences plain_references_is_right |a, b| [b, std::f64::consts::PI + a + 1.0 + 1.0];
    both_sides BothSides both_sides_is_right
        |a, b| [b + 0.125 * (1.5 - 0.75 * a + b) - 0.75 * (1.75 + a / 8.0), a + 1.75 + a / 8.0];
    inner_generic InnerGeneric inner_generic_is_right |a, b| [3.0 * b, 3.0 * a];
    entries Entries entries_is_right |a, b| [2.0 * a * b * b + 1.0, 5.0 + 2.0 * a * a * b + 0.5];
    matrix Matrix matrix_is_right |a, b| [0.5 * (2.0 * a + 5.0 * b), 0.5 * (5.0 * a + 8.0 * b)];
}

#[test]
fn function_stays_callable_with_plain_numbers() {
    assert_eq!(norm2(&[3.0, 4.0]), 25.0);
    assert_eq!(scaled(2.0, 3.0), 6.0);
    assert_eq!(Square.call(&3.0), 9.0);
    let (y, dy) = derivative(Square, 3.0);
    assert_eq!((y, dy), (9.0, 6.0));
}

/// Methods that numbers have and `f64` has not, where no trait of the user has them.
#[test]
fn methods_of_the_numbers_are_called() {
    #[differentiable(crate = "differentiation_interface_core")]
    fn special(x: f64) -> f64 {
        x.erf() + [x].iter().map(|v| v.logistic()).sum::<f64>() + x.scale(2.0)
    }
    let (y, dy) = derivative(Special, 0.0);
    assert_eq!((y, dy), (0.5, 2.0 / std::f64::consts::PI.sqrt() + 2.25));
}
