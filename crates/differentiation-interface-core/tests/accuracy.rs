//! Accuracy of the rule table: values, first and second derivatives of every rule beside an arbitrary-precision reference.
//!
//! Runs under `cargo test`; `-- --nocapture` prints the worst error of each rule and order. Reads `accuracy/table.txt`, which
//! `.ci/accuracy/reference.py` draws and computes. Derivatives are taken as all engines take them: a rule's derivative is
//! evaluated on a number that carries a tangent.

use differentiation_interface_core::rules::{
    Binary, Partial, Polygamma, Powc, Powi, RuleVisitor, Unary, each_binary, each_unary,
};
use differentiation_interface_core::{Base, Core, Num, Scalar};
use std::collections::HashMap;

/// Largest error of a derivative, in units in the last place.
const LIMIT: f64 = 4.0;
/// Where an argument's own rounding error is amplified by more than this, no limit is kept.
const WELL_CONDITIONED: f64 = 10.0;

/// Rules whose value is that of the method of `f64` or of `libm`, bit for bit, whatever its accuracy.
const VALUES_OF_STD: &[&str] = &[
    "Asinh", "Acosh", "Atanh", "Degrees", "Radians", "Sin", "Cos", "Tan", "Exp", "Exp2", "ExpM1", "Ln", "Log2",
    "Log10", "Ln1p", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Cbrt", "Sqrt", "Powf", "Atan2", "Hypot",
    "LnGamma", "Powi",
];

/// Rules that stand in no row: their values are what rounding loses, which tests of `fused` check bit by bit.
const WITHOUT_ROWS: &[&str] = &["ProductError", "SumError", "OddSum"];

/// A dual number over a plain one.
#[derive(Clone, Copy, Debug)]
struct Dual<B> {
    value: B,
    tangent: Option<B>,
}

impl<B: Base> Dual<B> {
    fn along(value: B) -> Num<Self> {
        Num(Dual { value, tangent: Some(B::ONE) })
    }
    fn fixed(value: B) -> Num<Self> {
        Num(Dual { value, tangent: None })
    }
    fn chain(value: B, terms: [Option<(B, Partial<B>)>; 2]) -> Self {
        let terms = terms.into_iter().flatten().filter(|(_, partial)| !matches!(partial, Partial::Zero));
        Dual { value, tangent: terms.map(|(tangent, partial)| partial.times(tangent)).reduce(|a, b| a + b) }
    }
}

impl<B: Base> Core for Dual<B> {
    type Base = B;
    const DEPTH: u32 = 1;
    fn constant(value: B) -> Self {
        Dual { value, tangent: None }
    }
    fn primal(&self) -> B {
        self.value
    }
    fn is_constant(&self) -> bool {
        self.tangent.is_none()
    }
    fn unary<R: Unary>(self, rule: R) -> Self {
        let y = rule.value(self.value);
        Self::chain(y, [self.tangent.map(|t| (t, rule.derivative(self.value, y))), None])
    }
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let (x, y) = (self.value, other.value);
        let r = rule.value(x, y);
        let by_x = self.tangent.map(|t| (t, rule.partial_x(x, y, r)));
        Self::chain(r, [by_x, other.tangent.map(|t| (t, rule.partial_y(x, y, r)))])
    }
    fn binary_right<R: Binary>(self, other: B, rule: R) -> Self {
        self.binary(Self::constant(other), rule)
    }
    fn binary_left<R: Binary>(first: B, second: Self, rule: R) -> Self {
        Self::constant(first).binary(second, rule)
    }
}

fn first<B: Base>(partial: Partial<Num<Dual<B>>>) -> B {
    partial.value().0.value
}
fn second<B: Base>(partial: Partial<Num<Dual<B>>>) -> B {
    partial.value().0.tangent.unwrap_or(B::ZERO)
}

/// Value, first and second derivative.
fn unary_entries<R: Unary, B: Base>(rule: R, x: B) -> Vec<(&'static str, B)> {
    let x = Dual::along(x);
    let y = x.apply(rule);
    let derivative = rule.derivative(x, y);
    vec![("f", y.0.value), ("f'", first(derivative)), ("f''", second(derivative))]
}

/// The value, both first derivatives and all second ones, the mixed one in both orders.
fn binary_entries<R: Binary, B: Base>(rule: R, x: B, y: B) -> Vec<(&'static str, B)> {
    let along_x = (Dual::along(x), Dual::fixed(y));
    let along_y = (Dual::fixed(x), Dual::along(y));
    let both = (Dual::along(x), Dual::along(y));
    let by_x = |(x, y): (Num<Dual<B>>, _)| rule.partial_x(x, y, x.apply2(y, rule));
    let by_y = |(x, y): (Num<Dual<B>>, _)| rule.partial_y(x, y, x.apply2(y, rule));
    vec![
        ("f", both.0.apply2(both.1, rule).0.value),
        ("f_x", first(by_x(both))),
        ("f_y", first(by_y(both))),
        ("f_xx", second(by_x(along_x))),
        ("f_xy", second(by_x(along_y))),
        ("f_yy", second(by_y(along_y))),
        ("f_yx", second(by_y(along_x))),
    ]
}

/// An exact number: the nearest double and what is missing in units in the last place.
#[derive(Clone, Copy)]
struct Exact {
    nearest: f64,
    rest: f64,
    condition: f64,
}

impl Exact {
    fn parse(text: &str) -> Option<Exact> {
        let (bits, rest) = text.split_once(',')?;
        let (rest, condition) = rest.split_once(',')?;
        Some(Exact {
            nearest: f64::from_bits(u64::from_str_radix(bits, 16).unwrap()),
            rest: rest.parse::<f64>().unwrap() / 1000.0,
            condition: condition.parse().unwrap(),
        })
    }

    /// The error of `found` in units in the last place; below `smallest`, in units of that.
    fn error(self, found: f64, smallest: f64) -> f64 {
        if found == self.nearest {
            return if found.is_finite() { self.rest.abs() } else { 0.0 };
        }
        let unit = |x: f64| {
            let exponent = (x.abs().max(smallest).to_bits() >> 52) as i32 - 1023 - 52;
            f64::from_bits(if exponent < -1022 { 1 << (exponent + 1074) } else { ((exponent + 1023) as u64) << 52 })
        };
        // An infinity stands for the number that follows the largest one.
        let finite = |x: f64| if x.is_infinite() { f64::MAX.copysign(x) } else { x };
        let beyond = |x: f64| if x.is_infinite() { 1.0f64.copysign(x) } else { 0.0 };
        let units = (finite(found) - finite(self.nearest)) / unit(finite(self.nearest));
        let error = (units + beyond(found) - beyond(self.nearest) - self.rest).abs();
        if error.is_nan() { f64::INFINITY } else { error }
    }
}

/// The smallest number with all its digits: of n (n - 1) xⁿ⁻², the power has none below the smallest normal number.
fn smallest_precise(rule: &str, order: usize) -> f64 {
    let power = rule.strip_prefix("Powi(").and_then(|rest| rest.strip_suffix(')'));
    let factor = match power.map(|n| n.parse::<f64>().expect("an integer exponent")) {
        Some(n) => (0..order).map(|k| n - k as f64).product::<f64>().abs(),
        None => 1.0,
    };
    f64::MIN_POSITIVE * factor.max(1.0)
}

struct Row {
    arguments: Vec<f64>,
    entries: Vec<Option<Exact>>,
}

/// The rows of the table by rule. Arguments are all but the entries, which contain commas.
fn table() -> HashMap<&'static str, Vec<Row>> {
    let mut table = HashMap::<_, Vec<Row>>::new();
    for line in include_str!("accuracy/table.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let (mut arguments, mut entries) = (Vec::new(), Vec::new());
        for word in words {
            if word == "-" || word.contains(',') {
                entries.push(Exact::parse(word));
            } else {
                arguments.push(f64::from_bits(u64::from_str_radix(word, 16).unwrap()));
            }
        }
        table.entry(name).or_default().push(Row { arguments, entries });
    }
    table
}

/// The worst error of one kind of entry.
#[derive(Clone, Default)]
struct Worst {
    kind: &'static str,
    error: f64,
    place: String,
    points: usize,
}

struct Check {
    table: HashMap<&'static str, Vec<Row>>,
    failures: Vec<String>,
    report: String,
}

impl Check {
    fn rule(&mut self, name: String, entries: impl Fn(&[f64]) -> Vec<(&'static str, f64)>) {
        if WITHOUT_ROWS.contains(&name.as_str()) {
            return;
        }
        let Some(rows) = self.table.get(name.as_str()) else {
            return self.failures.push(format!("{name} has no row: add it to .ci/accuracy/reference.py"));
        };
        let mut worst: Vec<Worst> = Vec::new();
        for row in rows {
            let found = entries(&row.arguments);
            worst.resize(found.len(), Worst::default());
            for (i, (kind, found)) in found.into_iter().enumerate() {
                // The mixed derivative stands once in the table.
                let column = if kind == "f_yx" { 4 } else { i };
                let worst = &mut worst[i];
                // The derivative is made of the quotient, whose digits are lost where it is subnormal.
                if name == "Over"
                    && i > 0
                    && row.entries[0].is_some_and(|value| value.nearest.abs() < f64::MIN_POSITIVE)
                {
                    continue;
                }
                worst.kind = kind;
                let Some(exact) = row.entries[column].filter(|exact| exact.condition < WELL_CONDITIONED) else {
                    continue;
                };
                // The power of std is 0 where that with the opposite exponent overflows.
                if name.starts_with("Powi(-") && exact.nearest.abs() < smallest_precise(&name, i) {
                    continue;
                }
                worst.points += 1;
                let error = exact.error(found, smallest_precise(&name, i));
                if error > worst.error || worst.points == 1 {
                    worst.error = error;
                    worst.place = format!("{:?}: {found:e}, expected {:e}", row.arguments, exact.nearest);
                }
            }
        }
        self.report += &format!("{name:24}");
        for Worst { kind, error, place, points } in worst {
            if points == 0 {
                self.report += &format!(" {kind:>5}     -");
                continue;
            }
            self.report += &format!(" {kind:>5} {error:5.2}");
            let of_std = kind == "f" && VALUES_OF_STD.contains(&name.split('(').next().unwrap_or(&name));
            if error > LIMIT {
                let line = format!("{kind} of {name} is off by {error:.1} units in the last place at {place}");
                if of_std {
                    self.report += " (std)";
                } else {
                    self.failures.push(line);
                }
            }
        }
        self.report += "\n";
    }
}

impl RuleVisitor for Check {
    fn unary<R: Unary>(&mut self, rule: R) {
        self.rule(format!("{rule:?}"), |x| unary_entries(rule, x[0]));
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        self.rule(format!("{rule:?}"), |x| binary_entries(rule, x[0], x[1]));
    }
}

/// Single precision beside double precision at the same points, in units in the last place of a single.
struct Single {
    table: HashMap<&'static str, Vec<Row>>,
    worst: Vec<(f64, String)>,
}

/// Largest error in single precision at moderate points. Loose: a rule of singles is computed in singles, and a constant
/// exponent less one is rounded to a single.
const SINGLE_LIMIT: f64 = 16.0;

impl Single {
    fn rule(
        &mut self,
        name: String,
        single: impl Fn(&[f32]) -> Vec<(&'static str, f32)>,
        double: impl Fn(&[f64]) -> Vec<(&'static str, f64)>,
    ) {
        let rows = self.table.get(name.as_str()).map_or(&[][..], |rows| rows);
        let moderate = |x: &f64| (1e-9..1e9).contains(&x.abs());
        let mut worst = (0.0, format!("{name}: nothing"));
        for row in rows.iter().filter(|row| row.arguments.iter().all(moderate)) {
            let x: Vec<f32> = row.arguments.iter().map(|&x| x as f32).collect();
            let expected = double(&x.iter().map(|&x| x as f64).collect::<Vec<_>>());
            for (i, ((kind, found), (_, expected))) in single(&x).into_iter().zip(expected).enumerate() {
                let column = if kind == "f_yx" { 4 } else { i };
                let precise = row.entries[column].is_some_and(|exact| exact.condition < WELL_CONDITIONED);
                if i == 0 || !precise || !(1e-25..1e25).contains(&expected.abs()) {
                    continue;
                }
                let unit = f64::from_bits(((expected.abs().to_bits() >> 52) - 23) << 52);
                let error = (found as f64 - expected).abs() / unit;
                if error > worst.0 || error.is_nan() {
                    worst = (error, format!("{kind} of {name} at {x:?}: {found:e}, expected {expected:e}"));
                }
            }
        }
        self.worst.push(worst);
    }
}

impl RuleVisitor for Single {
    fn unary<R: Unary>(&mut self, rule: R) {
        self.rule(format!("{rule:?}"), |x| unary_entries(rule, x[0]), |x| unary_entries(rule, x[0]));
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        self.rule(format!("{rule:?}"), |x| binary_entries(rule, x[0], x[1]), |x| binary_entries(rule, x[0], x[1]));
    }
}

#[test]
fn derivatives_in_single_precision_are_within_sixteen_units() {
    let mut check = Single { table: table(), worst: Vec::new() };
    each_unary(&mut check);
    each_binary(&mut check);
    let beyond: Vec<&str> = check
        .worst
        .iter()
        .filter(|(error, _)| error.is_nan() || *error > SINGLE_LIMIT)
        .map(|(_, text)| &text[..])
        .collect();
    assert!(check.worst.iter().any(|(error, _)| *error > 0.5), "nothing was compared");
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

#[test]
fn derivatives_of_every_rule_are_within_four_units_in_the_last_place() {
    let mut check = Check { table: table(), failures: Vec::new(), report: String::new() };
    each_unary(&mut check);
    // Parameters beside those that the table shows.
    for n in [-7, -2, 4, 9] {
        check.unary(Powi(n));
    }
    for c in [0.1, 1.0 / 3.0, -0.7, 0.003, 7.3, -1e-20] {
        check.unary(Powc(c));
    }
    check.unary(Polygamma(3));
    each_binary(&mut check);
    println!("worst errors in units in the last place, condition below {WELL_CONDITIONED}\n{}", check.report);
    assert!(check.failures.is_empty(), "{} failures\n{}", check.failures.len(), check.failures.join("\n"));
}
