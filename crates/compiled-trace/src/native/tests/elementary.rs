//! Errors of elementary functions, against arithmetic of twice the precision.

#![expect(clippy::excessive_precision, reason = "numbers have the digits of the sources")]

use super::*;
use crate::native::elementary;
use crate::native::functions::{own, own_of_two};
use differentiation_interface_core::rules::{
    Cos, Erf, Exp, Gauss, Ln, Powc, Powf, PowfByBase, PowfByExponent, SechSquared, Sin, Tanh,
};
use differentiation_interface_core::scalar::Scalar;
use random::Random;

/// The sum of two numbers, of which the second is below half an ulp of the first.
#[derive(Clone, Copy, Debug)]
struct Twice(f64, f64);

impl Twice {
    fn sum(x: f64, y: f64) -> Twice {
        let sum = x + y;
        let of_y = sum - x;
        Twice(sum, (x - (sum - of_y)) + (y - of_y))
    }
    fn product(x: f64, y: f64) -> Twice {
        Twice(x * y, x.mul_add(y, -(x * y)))
    }
    fn plus(self, other: Twice) -> Twice {
        let (high, low) = (Twice::sum(self.0, other.0), Twice::sum(self.1, other.1));
        let middle = Twice::sum(high.0, high.1 + low.0);
        Twice::sum(middle.0, middle.1 + low.1)
    }
    fn minus(self, other: Twice) -> Twice {
        self.plus(Twice(-other.0, -other.1))
    }
    fn times(self, other: Twice) -> Twice {
        let Twice(high, low) = Twice::product(self.0, other.0);
        Twice::sum(high, low + (self.0 * other.1 + self.1 * other.0))
    }
    fn over(self, other: Twice) -> Twice {
        let first = self.0 / other.0;
        let rest = self.minus(other.times(Twice(first, 0.0)));
        let second = rest.0 / other.0;
        let rest = rest.minus(other.times(Twice(second, 0.0)));
        Twice::sum(first, second).plus(Twice(rest.0 / other.0, 0.0))
    }
    fn scaled(self, factor: f64) -> Twice {
        Twice(self.0 * factor, self.1 * factor)
    }
    /// Σ x^n / n! over every `step`-th n from `first` on, with signs that alternate if wanted.
    fn series(self, first: u32, step: u32, alternating: bool) -> Twice {
        let (mut term, mut sum) = (Twice(1.0, 0.0), Twice(0.0, 0.0));
        for n in 0..34 {
            if n >= first && (n - first).is_multiple_of(step) {
                let sign = if alternating && (n - first) / step % 2 == 1 { -1.0 } else { 1.0 };
                sum = sum.plus(term.scaled(sign));
            }
            term = term.times(self).over(Twice(f64::from(n + 1), 0.0));
        }
        sum
    }
}

fn exp_of(x: Twice) -> Twice {
    let k = (x.0 / std::f64::consts::LN_2).round();
    let ln_2 = Twice(std::f64::consts::LN_2, 2.319046813846299558e-17);
    let mut power = x.minus(ln_2.times(Twice(k, 0.0))).scaled(1.0 / 512.0).series(0, 1, false);
    for _ in 0..9 {
        power = power.times(power);
    }
    // In two steps: 2^k itself may be too small.
    let half = (k / 2.0).floor() as i32;
    power.scaled(2f64.powi(half)).scaled(2f64.powi(k as i32 - half))
}

fn reference(rule: u16, x: f64) -> Twice {
    let plain = Twice(x, 0.0);
    match rule {
        rules::EXP => exp_of(plain),
        rules::LN if (x - 1.0).abs() < 0.01 => {
            // 2 artanh(f / (2 + f)).
            let f = Twice(x - 1.0, 0.0);
            let s = f.over(f.plus(Twice(2.0, 0.0)));
            let (square, mut power, mut sum) = (s.times(s), s, s);
            for n in 1..12 {
                power = power.times(square);
                sum = sum.plus(power.over(Twice(f64::from(2 * n + 1), 0.0)));
            }
            sum.scaled(2.0)
        }
        rules::LN => {
            let first = x.ln();
            let rest = plain.times(exp_of(Twice(-first, 0.0))).minus(Twice(1.0, 0.0));
            Twice(first, 0.0).plus(rest).minus(rest.times(rest).scaled(0.5))
        }
        rules::SIN | rules::COS => {
            let k = (x / std::f64::consts::FRAC_PI_2).round();
            let parts = [std::f64::consts::FRAC_PI_2, 6.123233995736766036e-17, -1.497384904859169777e-33];
            let r = parts.iter().fold(plain, |r, part| r.minus(Twice::product(k, *part)));
            let quadrant = (k as i64 + i64::from(rule == rules::COS)).rem_euclid(4);
            let value = r.series(1 - (quadrant % 2) as u32, 2, true);
            value.scaled(if quadrant >= 2 { -1.0 } else { 1.0 })
        }
        rules::TANH if x.abs() < 1e-5 => {
            let cube = plain.times(plain).times(plain);
            plain.minus(cube.over(Twice(3.0, 0.0)))
        }
        rules::TANH => {
            let (e, one) = (exp_of(plain.scaled(2.0)), Twice(1.0, 0.0));
            if x > 300.0 { one } else { e.minus(one).over(e.plus(one)) }
        }
        rules::GAUSS => exp_of(Twice::product(x, x).scaled(-1.0)),
        rules::ERF => {
            // 2 / sqrt(pi) exp(-x^2) times the sum of (2 x^2)^n x / (1 3 ... (2n + 1)).
            let square = Twice::product(x, x);
            let (mut term, mut sum) = (plain, plain);
            for n in 1..200 {
                term = term.times(square.scaled(2.0)).over(Twice(f64::from(2 * n + 1), 0.0));
                sum = sum.plus(term);
                if term.0.abs() < 1e-34 * sum.0.abs() {
                    break;
                }
            }
            sum.times(exp_of(square.scaled(-1.0))).times(Twice(std::f64::consts::FRAC_2_SQRT_PI, 1.533545961316588e-17))
        }
        _ => {
            let u = exp_of(plain.scaled(-2.0 * x.signum()));
            let d = u.plus(Twice(1.0, 0.0));
            u.scaled(4.0).over(d.times(d))
        }
    }
}

/// The error of a number in units of the last place of the result.
fn units(found: f64, Twice(high, low): Twice) -> f64 {
    let unit = f64::from_bits(high.abs().to_bits() + 1) - high.abs();
    ((found - high) - low).abs() / unit
}

/// The functions for processors with vectors, if this is one, and those for others.
const FORMS: [bool; 2] = [true, false];

#[expect(unsafe_code, reason = "functions for processors with vectors may only run on these")]
fn one(rule: u16, vectors: bool) -> impl Fn(f64) -> f64 {
    let function = elementary::one(rule, vectors && elementary::has_vectors()).expect("it is here");
    // SAFETY: the processor was asked.
    move |x| unsafe { function(x) }
}

#[expect(unsafe_code, reason = "functions for processors with vectors may only run on these")]
fn one_of_two(rule: u16, vectors: bool) -> impl Fn(f64, f64) -> f64 {
    let function = elementary::one_of_two(rule, vectors && elementary::has_vectors()).expect("it is here");
    // SAFETY: the processor was asked.
    move |x, y| unsafe { function(x, y) }
}

/// The rules of two numbers with the errors that the documentation states.
const STATED_OF_TWO: [(u16, f64); 3] = [(rules::POWF, 1.0), (rules::POWF_BY_BASE, 2.0), (rules::POWF_BY_EXPONENT, 3.0)];

fn reference_of_two(rule: u16, x: f64, y: f64) -> Twice {
    let (ln, y) = (reference(rules::LN, x), Twice(y, 0.0));
    match rule {
        rules::POWF => exp_of(ln.times(y)),
        rules::POWF_BY_BASE => exp_of(ln.times(y.minus(Twice(1.0, 0.0)))).times(y),
        _ => exp_of(ln.times(y)).times(ln),
    }
}

fn value_of_two(rule: u16, x: f64, y: f64) -> f64 {
    match rule {
        rules::POWF => Powf.value(x, y),
        rules::POWF_BY_BASE => PowfByBase.value(x, y),
        _ => PowfByExponent.value(x, y),
    }
}

/// Base and exponent of a power that is a normal number.
fn of_power(random: &mut Random) -> (f64, f64) {
    match random.below(4) {
        0 => (uniform(random, 0.5, 2.0), uniform(random, -50.0, 50.0)),
        1 => (uniform(random, 0.01, 100.0), [0.5, 1.5, -0.5, 1.0 / 3.0, 2.5, -3.0][random.below(6) as usize]),
        2 => {
            // Near 1, with a large exponent.
            let x = 1.0 + scattered(random, -40.0, -2.0) / 2.0;
            (x, uniform(random, -950.0, 950.0) / x.log2().abs().max(1e-6))
        }
        _ => {
            let x = scattered(random, -1000.0, 1000.0).abs();
            (x, uniform(random, -950.0, 950.0) / x.log2().abs().max(1.0))
        }
    }
}

fn uniform(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * (random.below(1 << 53) as f64 / (1u64 << 53) as f64)
}

/// A number of either sign whose exponent is uniform.
fn scattered(random: &mut Random, low: f64, high: f64) -> f64 {
    let x = 2f64.powf(uniform(random, low, high));
    if random.one_in(2) { x } else { -x }
}

fn argument(rule: u16, random: &mut Random) -> f64 {
    match (rule, random.below(3)) {
        // Below, the rest of the reference is subnormal.
        (rules::EXP, 0) => uniform(random, -670.0, 707.9),
        (rules::EXP, 1) => uniform(random, -2.0, 2.0),
        (rules::LN, 0) => scattered(random, -1021.0, 1023.0).abs(),
        (rules::LN, 1) => uniform(random, 0.5, 2.0),
        (rules::LN, _) => 1.0 + scattered(random, -50.0, -1.0),
        (rules::SIN | rules::COS, 0) => uniform(random, -999_999.0, 999_999.0),
        (rules::SIN | rules::COS, 1) => uniform(random, -7.0, 7.0),
        (rules::SIN | rules::COS, _) => scattered(random, -60.0, 19.0),
        (rules::TANH, 0) => uniform(random, -20.0, 20.0),
        (rules::TANH, 1) => uniform(random, -1.0, 1.0),
        (rules::TANH, _) => scattered(random, -60.0, 8.0),
        (rules::GAUSS, 0) => uniform(random, -26.0, 26.0),
        (rules::ERF, 0) => uniform(random, -6.0, 6.0),
        (rules::GAUSS | rules::ERF, 1) => uniform(random, -2.0, 2.0),
        (rules::GAUSS | rules::ERF, _) => scattered(random, -60.0, 2.0),
        (rules::SECH_SQUARED, 0) => uniform(random, -349.0, 349.0),
        (rules::SECH_SQUARED, 1) => uniform(random, -2.0, 2.0),
        _ => scattered(random, -60.0, 8.0),
    }
}

/// The rules with the errors that the documentation states.
const STATED: [(u16, f64); 8] = [
    (rules::EXP, 1.0),
    (rules::LN, 1.0),
    (rules::SIN, 1.0),
    (rules::COS, 1.0),
    (rules::TANH, 1.0),
    (rules::SECH_SQUARED, 2.0),
    (rules::ERF, 1.0),
    (rules::GAUSS, 1.0),
];

/// The largest errors of both [forms](FORMS) so far, and where they are.
struct Worst<P>([(f64, P); 2]);

impl<P: Copy + std::fmt::Debug> Worst<P> {
    fn take(&mut self, at: P, expected: Twice, found: [f64; 2]) {
        for (worst, found) in self.0.iter_mut().zip(found) {
            let error = units(found, expected);
            if error.is_nan() || error > worst.0 {
                *worst = (error, at);
            }
        }
    }
    fn check(&self, rule: u16, stated: f64) {
        for (vectors, (worst, at)) in FORMS.iter().zip(&self.0) {
            println!("rule {rule}, vectors {vectors}: {worst:.3} ulp at {at:?}");
            assert!(*worst < stated, "rule {rule}, vectors {vectors}: {worst} ulp at {at:?}, stated are {stated}");
        }
    }
}

fn measure(count: usize) {
    for (rule, stated) in STATED {
        let (functions, mut worst) = (FORMS.map(|vectors| one(rule, vectors)), Worst([(0.0, 0.0); 2]));
        let mut random = Random(u64::from(rule) + 1);
        for _ in 0..count {
            let x = argument(rule, &mut random);
            worst.take(x, reference(rule, x), functions.each_ref().map(|function| function(x)));
        }
        worst.check(rule, stated);
    }
    for (rule, stated) in STATED_OF_TWO {
        let (functions, mut worst) = (FORMS.map(|vectors| one_of_two(rule, vectors)), Worst([(0.0, (0.0, 0.0)); 2]));
        let mut random = Random(11);
        for _ in 0..count {
            let (x, y) = of_power(&mut random);
            // Else parts of the reference leave the range of numbers.
            if ((y - 1.0) * x.log2()).abs() <= 1000.0 {
                worst.take((x, y), reference_of_two(rule, x, y), functions.each_ref().map(|function| function(x, y)));
            }
        }
        worst.check(rule, stated);
    }
}

#[test]
fn special_powers_have_the_values_of_the_rule() {
    let special = [
        0.0,
        1.0,
        2.0,
        0.5,
        3.0,
        1e-300,
        5e-324,
        1e300,
        1e-3,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NAN,
        1e10,
        1.0 + 1e-15,
        1e-320,
    ];
    let both = || special.into_iter().flat_map(|x| [x, -x]);
    let points = || both().flat_map(|x| both().map(move |y| (x, y)));
    let rules = || STATED_OF_TWO.into_iter().flat_map(|(rule, _)| FORMS.map(|vectors| (rule, vectors)));
    for ((rule, vectors), (x, y)) in rules().flat_map(|rule| points().map(move |point| (rule, point))) {
        let (found, expected) = (one_of_two(rule, vectors)(x, y), value_of_two(rule, x, y));
        let close = (found - expected).abs() <= 4.0 * f64::EPSILON * expected.abs();
        let signs = found.is_sign_negative() == expected.is_sign_negative();
        assert!(
            found.is_nan() && expected.is_nan() || (found == expected || close) && signs,
            "rule {rule} of {x:e} and {y:e}: {found:e}, expected {expected:e}"
        );
    }
}

/// Powers with constant and other exponents of many numbers have the bits of one.
#[test]
fn powers_in_lanes_have_the_bits_of_single_numbers() {
    use crate::{Limits, compile, record};
    use num_traits::Float;
    let mut random = Random(9);
    let mut pairs: Vec<(f64, f64)> = (0..400).map(|_| of_power(&mut random)).collect();
    pairs.extend([
        (0.0, 2.5),
        (-2.0, 3.0),
        (f64::NAN, 1.0),
        (1e300, 2.0),
        (5e-324, 0.5),
        (1.0, f64::INFINITY),
        (2.0, -1080.0),
    ]);
    let n = pairs.len();
    let x: Vec<f64> = pairs.iter().map(|(x, _)| *x).chain(pairs.iter().map(|(_, y)| *y)).collect();
    let graph = record(&vec![0.5; 2 * n], &[], Limits::default(), |x, _, y| {
        y.extend((0..n).map(|i| x[i].powf(x[n + i])));
        y.extend((0..n).map(|i| x[i].apply(Powc(2.3))));
        y.extend((0..n).map(|i| x[i].apply2(x[n + i], PowfByBase)));
        y.extend((0..n).map(|i| x[i].apply2(x[n + i], PowfByExponent)));
    });
    let program = compile(&graph.expect("it is recorded")).expect("it compiles");
    let has_eight = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
    let of = [rules::POWF, rules::POWF, rules::POWF_BY_BASE, rules::POWF_BY_EXPONENT];
    for (generator, lanes) in [(Generator::Best, if has_eight { 8 } else { 4 }), (Generator::Avx2, 4)] {
        let options = Options { listing: true, generator, ..Options::default() };
        let compiled = Compiled::<f64>::new(&program, options).expect("this machine has native code");
        let mut found = vec![f64::NAN; 4 * n];
        compiled.run(&mut compiled.workspace(), &[&x, &[]], &mut [&mut found]).expect("there are no guards");
        for (i, found) in found.into_iter().enumerate() {
            let (rule, x, y) = (of[i / n], x[i % n], if i / n == 1 { 2.3 } else { x[n + i % n] });
            let expected = own_of_two(rule, x, y).expect("it is here");
            let same = expected.to_bits() == found.to_bits() || expected.is_nan() && found.is_nan();
            assert!(same, "rule {rule} of {x:e} and {y:e}: {found:e}, expected {expected:e}");
        }
        if is_x86_feature_detected!("avx2") {
            let text: String = compiled.listing().iter().map(|listing| listing.text.as_str()).collect();
            for (rule, count) in of.into_iter().zip([2, 2, 1, 1]) {
                assert!(text.matches(&format!("x {lanes} = call own {rule} ")).count() >= count, "{text}");
            }
        }
    }
}

#[test]
fn errors_are_below_those_stated() {
    measure(20_000);
}

#[test]
#[ignore = "ten million arguments of each function take a minute of optimised code"]
fn errors_are_below_those_stated_for_ten_million_arguments() {
    measure(10_000_000);
}

#[test]
fn special_arguments_have_the_values_of_the_rules() {
    let special = [
        0.0,
        f64::INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
        f64::MIN_POSITIVE / 8.0,
        5e-324,
        1e-200,
        f64::MAX,
        1e300,
        1e22,
        1e6,
        709.7,
        709.8,
        744.9,
        746.0,
        20.0,
        350.0,
        354.5,
        400.0,
    ];
    for ((rule, _), vectors) in STATED.into_iter().flat_map(|stated| FORMS.map(|vectors| (stated, vectors))) {
        let function = one(rule, vectors);
        for x in special.into_iter().flat_map(|x| [x, -x]) {
            let expected: f64 = match rule {
                rules::EXP => Exp.value(x),
                rules::LN => Ln.value(x),
                rules::SIN => Sin.value(x),
                rules::COS => Cos.value(x),
                rules::TANH => Tanh.value(x),
                rules::ERF => Erf.value(x),
                rules::GAUSS => Gauss.value(x),
                _ => SechSquared.value(x),
            };
            let found = function(x);
            let close = (found - expected).abs() <= 4.0 * f64::EPSILON * expected.abs();
            let signs = found.is_sign_negative() == expected.is_sign_negative();
            assert!(
                found.is_nan() && expected.is_nan() || (found == expected || close) && signs,
                "rule {rule} at {x:e}: {found:e}, expected {expected:e}"
            );
        }
    }
    for vectors in FORMS {
        let zero = |rule: u16| one(rule, vectors)(-0.0);
        assert!(
            [rules::SIN, rules::TANH, rules::ERF].into_iter().all(|rule| zero(rule).to_bits() == (-0.0f64).to_bits())
        );
        assert!([rules::EXP, rules::COS, rules::SECH_SQUARED, rules::GAUSS].into_iter().all(|rule| zero(rule) == 1.0));
        assert_eq!(one(rules::LN, vectors)(1.0).to_bits(), 0);
    }
}

/// Four and eight numbers have the bits of one: machine code of several lanes and of one lane.
#[test]
fn lanes_have_the_bits_of_single_numbers() {
    use crate::{Limits, compile, record};
    use num_traits::Float;
    let mut random = Random(3);
    for (rule, _) in STATED {
        let mut x: Vec<f64> = (0..402).map(|_| argument(rule, &mut random)).collect();
        x.extend([0.0, -0.0, 1e300, -1e7, 5e-324, f64::INFINITY, f64::NAN, 1.0, 800.0, -800.0, 2.0]);
        let point = vec![0.5; x.len()];
        let graph = record(&point, &[], Limits::default(), |x, _, y| {
            y.extend(x.iter().map(|x| match rule {
                rules::EXP => x.exp(),
                rules::LN => x.ln(),
                rules::SIN => x.sin(),
                rules::COS => x.cos(),
                rules::ERF | rules::GAUSS => x.apply(Erf),
                _ => x.tanh(),
            }));
        });
        let mut program = compile(&graph.expect("it is recorded")).expect("it compiles");
        if [rules::SECH_SQUARED, rules::GAUSS].contains(&rule) {
            program = program.tangent(1).expect("it has a tangent");
        }
        let seeds = vec![1.0; x.len()];
        let inputs: Vec<&[f64]> = [&x[..], &[], &seeds[..]][..program.inputs.len()].to_vec();
        for generator in [Generator::Best, Generator::Avx2] {
            let options = Options { generator, ..Options::default() };
            let compiled = Compiled::<f64>::new(&program, options).expect("this machine has native code");
            let mut outputs: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
            let mut slices: Vec<&mut [f64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
            compiled.run(&mut compiled.workspace(), &inputs, &mut slices).expect("there are no guards");
            let found = outputs.last().expect("there is an output");
            for (x, found) in x.iter().zip(found) {
                let factor = if rule == rules::GAUSS { std::f64::consts::FRAC_2_SQRT_PI } else { 1.0 };
                let expected = factor * own(rule, *x).expect("it is here");
                let same = expected.to_bits() == found.to_bits() || expected.is_nan() && found.is_nan();
                assert!(same, "{generator:?}: rule {rule} at {x:e}: {found:e}, expected {expected:e}");
            }
        }
    }
}

/// Functions of two values have the bits of the functions of one, for one number and for four.
#[test]
fn pairs_have_the_bits_of_single_functions() {
    use crate::{Limits, compile, record};
    use differentiation_interface_core::rules::Unary;
    use num_traits::Float;
    let mut random = Random(7);
    let bits = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    let mut x: Vec<f64> = (0..20_003).map(|_| argument(rules::SIN, &mut random)).collect();
    x.extend([0.0, -0.0, 1e300, -1e7, 5e-324, f64::INFINITY, f64::NAN, 1e22, 1e-9, -1e-8]);
    // Many numbers and several angles by own functions, few other numbers by those of the rule table.
    for count in [402, 3, 1] {
        let value = |rule: u16, x: f64| match (rule, count) {
            (rule, 402) => own(rule, x).expect("it is an own function"),
            (rules::SIN | rules::COS, 3) if is_x86_feature_detected!("avx2") => {
                own(rule, x).expect("it is an own function")
            }
            (rules::SIN, _) => Sin.value(x),
            (rules::COS, _) => Cos.value(x),
            (rules::TANH, _) => Tanh.value(x),
            _ => SechSquared.value(x),
        };
        for rule in [rules::SIN, rules::TANH] {
            let graph = record(&vec![0.5; count], &[], Limits::default(), |x, _, y| {
                y.extend(x.iter().map(|x| if rule == rules::SIN { x.sin() } else { x.tanh() }));
            });
            let program =
                compile(&graph.expect("it is recorded")).expect("it compiles").tangent(1).expect("it has one");
            let compiled = Compiled::<f64>::new(&program, Options::default()).expect("this machine has native code");
            let (mut y, mut slope) = (vec![f64::NAN; count], vec![f64::NAN; count]);
            for x in x.rchunks_exact(count).take(20_000 / count) {
                let inputs: &[&[f64]] = &[x, &[], &vec![1.0; count]];
                compiled
                    .run(&mut compiled.workspace(), inputs, &mut [&mut y, &mut slope])
                    .expect("there are no guards");
                for (i, x) in x.iter().enumerate() {
                    let other = if rule == rules::SIN { rules::COS } else { rules::SECH_SQUARED };
                    let found = (bits(y[i]), bits(slope[i]));
                    assert_eq!(
                        found,
                        (bits(value(rule, *x)), bits(value(other, *x))),
                        "rule {rule} of {count} at {x:e}"
                    );
                }
            }
        }
    }
}
