//! Tests of surveys: a right engine, one that is wrong, one that refuses and one that panics.

use super::*;
use crate::scenario::Scenario;
use crate::table::Row;
use crate::{named, second_order_only};
use differentiation_interface::prelude::*;

#[derive(Clone)]
struct Square;
impl<T: Real> Function<[T]> for Square {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        x[0] * x[0]
    }
}

/// A function that panics on the numbers of one engine far from zero, as those of a crate with an unfinished rule do.
#[derive(Clone)]
struct Panics;
impl<T: Real> Function<[T]> for Panics {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        assert!(!std::any::type_name::<T>().contains("reverse_diff") || x[0] < 100.0, "too far | away");
        x[0]
    }
}

fn of_square() -> Survey {
    let engines = (
        named("exact", AutoForwardDiff::default()),
        named(
            "only <second> order",
            second_order_only(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default())),
        ),
    );
    let scenarios =
        (Scenario::gradient(Square, vec![3.0]).expecting([6.0]), Scenario::hessian(Square, vec![3.0]).expecting([2.0]));
    survey(&engines, &scenarios, &Options::default())
}

#[test]
fn engines_are_right_or_refuse() {
    let survey = of_square();
    let verdict = |engine, operator| survey.cell(engine, operator).unwrap().verdict();
    assert_eq!(verdict("exact", "gradient"), Verdict::Right);
    assert_eq!(verdict("exact", "hessian"), Verdict::Right);
    assert_eq!(verdict("only <second> order", "gradient"), Verdict::Refused);
    assert_eq!(verdict("only <second> order", "hessian"), Verdict::Right);
    assert!(survey.cell("exact", "pullback").is_none());
    let text = survey.to_markdown();
    assert!(text.starts_with("| engine | checks | gradient | hessian |\n|---|---|---|---|\n| exact | "), "{text}");
    assert!(text.contains("| refused | right (1) |\n"), "{text}");
    assert!(text.contains("- only \\<second\\> order: refuses gradient (1): "), "{text}");
    assert_eq!(survey.costs_to_markdown(), "");
}

#[test]
fn a_wrong_entry_is_named() {
    let wrong = Scenario::gradient(Square, vec![3.0]).named("wrong").expecting([5.0]);
    let right = Scenario::gradient(Square, vec![3.0]).expecting([6.0]);
    let survey = survey(&(AutoForwardDiff::default(),), &(wrong, right), &Options::default());
    let cell = survey.cell("forward_diff", "gradient").unwrap();
    assert_eq!((cell.verdict(), cell.wrong_scenarios(), cell.scenarios), (Verdict::Wrong, 1, 2));
    assert_eq!(survey.findings().count(), 1);
    let text = survey.to_markdown();
    assert!(text.contains("wrong (1 of 2)") && text.contains("wrong: \\[0\\] is 6, expected 5"), "{text}");
}

#[test]
fn a_panic_is_a_finding() {
    let scenarios = [Scenario::gradient(Panics, vec![200.0]), Scenario::gradient(Panics, vec![2.0])];
    let survey = survey(&(AutoReverseDiff::default(),), &scenarios, &Options::default());
    let cell = survey.cell("reverse_diff", "gradient").unwrap();
    assert_eq!((cell.verdict(), cell.wrong_scenarios(), cell.scenarios), (Verdict::Wrong, 1, 2));
    assert!(survey.to_markdown().contains("the function panicked: too far \\| away"));
    assert!(survey.to_html("a & b").contains("<title>a &amp; b</title>"));
}

#[test]
fn surveys_are_united_and_get_costs() {
    let mut survey = of_square();
    survey.add(of_square());
    assert_eq!(survey.cell("exact", "gradient").unwrap().scenarios, 2);
    assert_eq!(survey.cell("only <second> order", "gradient").unwrap().refused[0].1, 2);
    let row = |time, prepared| Row {
        time,
        prepared: Some(prepared),
        allocs: Some(0.0),
        ..Row::new("exact", "square", "gradient", "gradient_into")
    };
    survey.add_costs(&[row(2e-8, true), row(1e-8, true), row(1e-9, false)].into_iter().collect());
    assert_eq!(survey.cell("exact", "gradient").unwrap().cost, Some((1e-8, Some(0.0))));
    assert!(survey.costs_to_markdown().contains("| exact | 10.0 ns, 0 allocations |  |"));
    assert!(
        survey.to_html("costs").contains("<td class=\"right\">right (2)<small>10.0 ns, 0 allocations</small></td>")
    );
}
