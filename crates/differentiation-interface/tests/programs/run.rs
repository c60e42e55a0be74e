//! Runs a program on any number, and says which way it went.

use super::{DOMAINS, INPUTS, OUTPUTS, Pick, Program, RELATIONS, Step, WORK, into_interval};
use crate::support::rule_table::{Apply, Argument, count, names};
use differentiation_interface::function::{Const, Work};
use differentiation_interface::prelude::*;
use differentiation_interface::recordings::EngineScalar;
use differentiation_interface::rules;
use differentiation_interface::{FunctionWith, scalar::Condition, scalar::Relation};
use std::sync::LazyLock;

/// Which steps took which side, in the order in which they ran.
pub(crate) type Trace = Vec<(*const Step, i64)>;

/// Most applications of rules in a run, about.
const FUEL: usize = 250;

/// Rules that are not smooth.
pub(crate) const KINKED: [&str; 15] = [
    "abs", "signum", "floor", "ceil", "round", "trunc", "fract", "rem", "atan2", "max", "min", "at_least", "at_most",
    "copysign", "abs_sub",
];

static UNARY_KINKS: LazyLock<Vec<bool>> = LazyLock::new(|| kinks(true));
static BINARY_KINKS: LazyLock<Vec<bool>> = LazyLock::new(|| kinks(false));

fn kinks(unary: bool) -> Vec<bool> {
    names(unary).iter().map(|name| KINKED.contains(name)).collect()
}

struct Machine<'a, T> {
    x: &'a [T],
    parameters: &'a [T],
    constants: &'a [f64],
    work: &'a mut [T],
    values: Vec<T>,
    fuel: usize,
    trace: Option<&'a mut Trace>,
}

/// The condition as a branch.
fn holds<T: Real>(relation: Relation, a: T, b: T) -> bool {
    match relation {
        Relation::Less => a < b,
        Relation::LessOrEqual => a <= b,
        Relation::Greater => a > b,
        Relation::GreaterOrEqual => a >= b,
        Relation::Equal => a == b,
    }
}

/// Into (-π, π), where all values of a program are.
fn tame<T: Real>(v: T) -> T {
    2.0 * rules::atan(v)
}

/// Never equal to `b`, which would be decided by rounding.
fn shifted<T: Real>(b: T) -> T {
    0.83 * b + 0.0917
}

impl<T: Real> Machine<'_, T> {
    fn get(&self, pick: Pick, i: usize) -> T {
        let values = &self.values;
        match pick {
            Pick::Input { start, stride } => self.x[(start + stride * i) % self.x.len()],
            Pick::Parameter { start, stride } => self.parameters[(start + stride * i) % self.parameters.len()],
            Pick::Back(back) => values[values.len() - back.min(values.len())],
            Pick::Scattered(seed) => values[(seed + i * i * 7 + i * seed) % values.len()],
            Pick::Fixed(place) => values[place % values.len()],
            Pick::Work(place) => self.work[place % self.work.len()],
        }
    }

    fn saw(&mut self, step: &Step, side: i64) {
        if let Some(trace) = &mut self.trace {
            trace.push((step, side));
        }
    }

    /// Notes on which piece of a piecewise rule the arguments are.
    fn saw_piece(&mut self, step: &Step, x: T, y: T) {
        if self.trace.is_some() {
            let (x, y) = (x.peek(), y.peek());
            let pieces = [(2.0 * x).floor() as i64, i64::from(x < y), i64::from(y > 0.0), (x / y) as i64];
            pieces.into_iter().for_each(|piece| self.saw(step, piece));
        }
    }

    /// Applies a rule where it is defined; the result is in (-π, π) again.
    fn unary(&mut self, step: &Step, rule: usize, x: T) -> T {
        let rule = rule % count(true);
        let x = into_interval(x, DOMAINS.unary[rule]);
        if UNARY_KINKS[rule] {
            self.saw_piece(step, x, T::constant(1.0));
        }
        tame(Apply::unary(rule, x))
    }

    fn binary(&mut self, step: &Step, rule: usize, x: T, y: T) -> T {
        let rule = rule % count(false);
        let [first, second] = DOMAINS.binary[rule];
        let (x, y) = (into_interval(x, first), into_interval(y, second));
        if BINARY_KINKS[rule] {
            self.saw_piece(step, x, y);
        }
        tame(Apply::binary(rule, x, Argument::Active(y)))
    }

    fn plain(&mut self, step: &Step, rule: usize, x: T, plain: f64, right: bool) -> T {
        let rule = rule % count(false);
        let [first, second] = DOMAINS.binary[rule];
        let (x, plain, second) = if right {
            let plain = into_interval(plain, second);
            (into_interval(x, first), plain, Argument::Right(plain))
        } else {
            let plain = into_interval(plain, first);
            (into_interval(x, second), plain, Argument::Left(plain))
        };
        if BINARY_KINKS[rule] {
            let plain = T::constant(plain);
            let (first, second) = if right { (x, plain) } else { (plain, x) };
            self.saw_piece(step, first, second);
        }
        tame(Apply::binary(rule, x, second))
    }

    /// Interpolates (k, sin k²) linearly.
    fn table(&mut self, step: &Step, x: T) -> T {
        let places: [f64; 8] = std::array::from_fn(|k| -3.2 + 0.8 * k as f64);
        let mut k = 0;
        while k + 2 < places.len() && x >= places[k + 1] {
            k += 1;
        }
        self.saw(step, k as i64);
        let value = |k: usize| (places[k] * places[k]).sin();
        tame(value(k) + (x - places[k]) * ((value(k + 1) - value(k)) / 0.8))
    }

    fn run(&mut self, steps: &[Step], i: usize) {
        for step in steps {
            if self.fuel == 0 {
                return;
            }
            let rules = match step {
                Step::Sum { trip, .. } | Step::Recurrence { trip, .. } => *trip,
                _ => 1,
            };
            self.fuel = self.fuel.saturating_sub(rules);
            let value = match *step {
                Step::Unary { rule, x } => self.unary(step, rule, self.get(x, i)),
                Step::Binary { rule, x, y } => self.binary(step, rule, self.get(x, i), self.get(y, i)),
                Step::Plain { rule, x, plain, right } => self.plain(step, rule, self.get(x, i), plain, right),
                Step::Constant(k) => T::constant(self.constants[k % self.constants.len()]),
                Step::Sum { rule, x, y, trip } => {
                    let mut sum = T::constant(0.0);
                    for k in 0..trip {
                        sum += self.binary(step, rule, self.get(x, k), self.get(y, i));
                    }
                    // Not the mean, which is as large as the terms up to rounding if they are equal: a tie that branches see.
                    sum * (0.83 / trip as f64)
                }
                Step::Recurrence { rule, start, x, trip } => {
                    let mut v = self.get(start, i);
                    for k in 0..trip {
                        v = self.binary(step, rule, v, self.get(x, k));
                    }
                    v
                }
                Step::Table { x } => self.table(step, self.get(x, i)),
                Step::Cast { x } => {
                    let x = self.get(x, i);
                    let index = (x.abs() * 1.7).to_usize().expect("it is in 0..6");
                    self.saw(step, index as i64);
                    tame(x * self.values[index % self.values.len()])
                }
                Step::Store { x, place } => {
                    self.work[place % WORK] = self.get(x, i);
                    continue;
                }
                Step::Select { relation, a, b, then, otherwise } => {
                    let (a, b) = (self.get(a, i), shifted(self.get(b, i)));
                    if self.trace.is_some() {
                        self.saw(step, i64::from(holds(RELATIONS[relation], a.peek(), b.peek())));
                    }
                    let (then, otherwise) = (self.get(then, i), self.get(otherwise, i));
                    Condition::new(a, RELATIONS[relation], b)
                        .select(then * otherwise * 0.3, 0.7 * otherwise - then * 0.2)
                }
                Step::If { relation, a, b, ref then, ref otherwise } => {
                    let side = holds(RELATIONS[relation], self.get(a, i), shifted(self.get(b, i)));
                    self.saw(step, i64::from(side));
                    self.run(if side { then } else { otherwise }, i);
                    continue;
                }
                Step::While { v, w } => {
                    let (mut v, w) = (self.get(v, i), self.get(w, i));
                    let mut count = 0;
                    while v.abs() > 0.4171 && count < 12 {
                        v = 0.6 * v + 0.2 * w.sin();
                        count += 1;
                    }
                    self.saw(step, count);
                    v
                }
                Step::Repeat { trip, ref body } => {
                    (0..trip).for_each(|i| self.run(body, i));
                    continue;
                }
            };
            self.values.push(value);
        }
    }
}

impl Program {
    /// The outputs: a weighted mean of all values, the last one, and the one in the middle.
    pub(crate) fn outputs<T: Real>(
        &self,
        x: &[T],
        constants: &[f64],
        parameters: &[T],
        work: &mut [T],
        trace: Option<&mut Trace>,
    ) -> Vec<T> {
        work.iter_mut().enumerate().for_each(|(i, w)| *w = x[i % INPUTS] * 0.5);
        let mut machine = Machine { x, parameters, constants, work, values: x.to_vec(), fuel: FUEL, trace };
        machine.run(&self.steps, 0);
        let values = &machine.values;
        let total: T = values.iter().enumerate().map(|(i, v)| *v * (0.5 + (i % 3) as f64)).sum();
        let y = vec![total / values.len() as f64, values[values.len() - 1], values[values.len() / 2]];
        assert_eq!(y.len(), OUTPUTS);
        y
    }

    /// Outputs and trace at plain numbers.
    pub(crate) fn traced(&self, x: &[f64], parameters: &[f64]) -> (Vec<f64>, Trace) {
        let mut trace = Vec::new();
        let y = self.outputs(x, &self.constants, parameters, &mut [f64::NAN; WORK], Some(&mut trace));
        (y, trace)
    }
}

/// All outputs, or the first one.
#[derive(Clone, Copy)]
pub(crate) struct Outputs<'a>(pub(crate) &'a Program);
/// The first output.
#[derive(Clone, Copy)]
pub(crate) struct First<'a>(pub(crate) &'a Program);

impl<T: Real> FunctionWith<[T], (Const<Vec<T>>, Work<Vec<T>>)> for Outputs<'_> {
    type Output = Vec<T>;
    fn call_with(&self, x: &[T], (parameters, work): (&Vec<T>, &mut Vec<T>)) -> Vec<T> {
        self.0.outputs(x, &self.0.constants, parameters, work, None)
    }
}

impl<T: Real> FunctionWith<[T], (Const<Vec<T>>, Work<Vec<T>>)> for First<'_> {
    type Output = T;
    fn call_with(&self, x: &[T], (parameters, work): (&Vec<T>, &mut Vec<T>)) -> T {
        self.0.outputs(x, &self.0.constants, parameters, work, None)[0]
    }
}

impl<T: Real> FunctionWith<[T], (Const<[f64]>, Const<Vec<T>>, Work<Vec<T>>)> for First<'_> {
    type Output = T;
    fn call_with(&self, x: &[T], (constants, parameters, work): (&[f64], &Vec<T>, &mut Vec<T>)) -> T {
        self.0.outputs(x, constants, parameters, work, None)[0]
    }
}
