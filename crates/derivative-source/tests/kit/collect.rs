//! Collects scenarios: emits their operators and keeps arguments and answers.

use compiled_trace::Recorded;
use derivative_source::{Operator, Recording, Source};
use differentiation_interface_core::evaluate::Evaluate;
use differentiation_interface_core::scalar::Base;
use differentiation_interface_test::{Candidate, NumberOf, OwnedPoint, Run, Scenario, Task};
use std::cell::RefCell;
use std::collections::HashMap;

/// A scenario that has been emitted: one call, with value and first derivative.
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) function: String,
    /// The same operator without value and first derivative, if that is called too.
    pub(crate) plain: String,
    pub(crate) point: Vec<f64>,
    pub(crate) seeds: Vec<Vec<f64>>,
    /// Lengths of the outputs: value, first derivative of a second-order operator, result.
    pub(crate) lengths: Vec<usize>,
    pub(crate) is_single: bool,
    /// What the outputs must be.
    answers: Vec<Vec<f64>>,
    tolerance: f64,
}

/// The numbers that a call gave: with value and first derivative, then alone.
pub(crate) struct Found {
    pub(crate) outputs: Vec<f64>,
}

impl Case {
    /// The call of one function, whose outputs must be these.
    pub(crate) fn of(source: &Source, name: &str, point: &[f64], seed: Option<&[f64]>, answers: &[Vec<f64>]) -> Case {
        let function = source.functions().find(|function| function.name() == name).expect(name);
        assert_eq!(function.outputs().count(), answers.len(), "{name}");
        Case {
            title: name.to_string(),
            function: name.to_string(),
            plain: String::new(),
            point: point.to_vec(),
            seeds: seed.into_iter().map(<[f64]>::to_vec).collect(),
            lengths: answers.iter().map(Vec::len).collect(),
            is_single: false,
            answers: answers.to_vec(),
            tolerance: 1e-12,
        }
    }

    /// What is wrong with the results, if anything is.
    pub(crate) fn wrong(&self, found: &Found) -> Option<String> {
        let expected: Vec<f64> = self.answers.concat();
        if found.outputs.len() != expected.len() {
            return Some(format!("{}: {} numbers, expected {}", self.title, found.outputs.len(), expected.len()));
        }
        let mut at = 0;
        for part in &self.answers {
            let largest = part.iter().fold(0.0f64, |most, v| most.max(v.abs())).max(1e-300);
            for (k, answer) in part.iter().enumerate() {
                let found = found.outputs[at + k];
                let is_right = (found - answer).abs() <= self.tolerance * largest || found == *answer;
                if !is_right {
                    return Some(format!("{}: number {k} is {found:e}, expected {answer:e}", self.title));
                }
            }
            at += part.len();
        }
        None
    }
}

/// Emits scenarios as the kit visits them.
#[derive(Default)]
pub(crate) struct Collector {
    collected: RefCell<(Source, Vec<Case>)>,
    /// Numbers of the functions by what they compute: scenarios that differ only in how results are returned share them.
    known: RefCell<HashMap<String, usize>>,
}

impl Collector {
    pub(crate) fn finish(self) -> (Source, Vec<Case>) {
        self.collected.into_inner()
    }
}

impl Candidate for Collector {
    fn label(&self) -> String {
        "source".to_string()
    }
    fn tolerance(&self, _: u8) -> Option<f64> {
        None
    }
}

fn wide<S: Base>(numbers: &[S]) -> Vec<f64> {
    numbers.iter().map(|v| v.as_f64()).collect()
}

impl<O, F, P> Run<O, F, P> for Collector
where
    O: differentiation_interface_test::Operator,
    P: OwnedPoint,
    F: Evaluate<P::Shape, P::Contexts, Recorded<NumberOf<P>>>,
{
    fn run(&self, scenario: &Scenario<O, F, P>, _: &mut dyn Task) {
        let mut collected = self.collected.borrow_mut();
        let (source, cases) = &mut *collected;
        let point = scenario.point();
        // Recorded at the point of the preparation, where there are no branches; the contexts are those of the call.
        let elsewhere = point.moved_to(scenario.preparation().coordinates()).unwrap_or_else(|| point.clone());
        let name = format!("case{}", cases.len());
        let title = format!("{} of {}", O::NAME, scenario.full_name());
        let record = |x: &P| Recording::new(&name, scenario.function(), &x.lend()).expect(&title);
        let recording = record(&elsewhere);
        let operator = match O::NAME {
            "derivative" => Operator::DERIVATIVE,
            "gradient" => Operator::GRADIENT,
            "jacobian" if scenario.point().coordinates().len() > 20 => Operator::SPARSE_JACOBIAN,
            "jacobian" => Operator::JACOBIAN,
            "second_derivative" => Operator::SECOND_DERIVATIVE,
            "hvp" => Operator::HVP,
            "hessian" if scenario.point().coordinates().len() > 20 => Operator::SPARSE_HESSIAN,
            "hessian" => Operator::HESSIAN,
            "pushforward" => Operator::PUSHFORWARD,
            "pullback" => Operator::PULLBACK,
            other => panic!("{other} is no operator"),
        };
        let (inputs, outputs) = (recording.inputs(), recording.outputs());
        let expected = scenario.expected();
        let result = if O::ORDER == 1 { &expected.first } else { &expected.second };
        let result = result.clone().expect("the built-in scenarios have answers");
        let emit = |recording: &Recording, source: Source| {
            let source = source.with(recording, operator.and_value().and_first()).expect(&title);
            source.with(recording, operator).expect(&title)
        };
        let what = format!("{} {}", title.trim_end_matches(" (into)"), std::any::type_name::<(F, P)>());
        let added = *self.known.borrow_mut().entry(what).or_insert_with(|| {
            *source = emit(&recording, std::mem::take(source));
            source.functions().count() - 2
        });
        let names: Vec<String> =
            source.functions().skip(added).take(2).map(|function| function.name().to_string()).collect();
        let [function, plain] = &names[..] else { panic!("there are two functions") };
        // Of a sparse matrix, the entries that are stored.
        let parts = match source.functions().nth(added).and_then(|function| function.pattern()) {
            Some(pattern) => pattern.iter().map(|(i, j)| result[i * inputs + j]).collect(),
            None => result,
        };
        let seeds: Vec<Vec<f64>> = scenario.seeds().iter().map(|seed| wide(seed)).collect();
        let width = parts.len() / seeds.len().max(1);
        let mut lengths = vec![outputs];
        let mut answers = vec![expected.value.clone().expect("the built-in scenarios have values")];
        if O::ORDER == 2 {
            let first = expected.first.clone().expect("the built-in scenarios have first derivatives");
            lengths.push(first.len());
            answers.push(first);
        }
        lengths.push(width);
        // A call for each seed.
        let once = answers.clone();
        let mut all = Vec::new();
        for k in 0..seeds.len().max(1) {
            all.extend(once.clone());
            let part = parts[k * width..(k + 1) * width].to_vec();
            all.push(part.clone());
            all.push(part);
        }
        cases.push(Case {
            title: title.clone(),
            function: function.clone(),
            plain: plain.clone(),
            point: wide(point.coordinates()),
            seeds,
            lengths,
            is_single: size_of::<NumberOf<P>>() == 4,
            answers: all,
            tolerance: scenario.allowed_error(),
        });
    }
}
