//! A survey as Markdown and as HTML: one row for each engine, one column for each operator, and below what is wrong or refused.
//!
//! Called by users through [`Survey`]; nothing is measured or checked here.

use super::{Cell, Survey, Verdict};
use crate::operator::OPERATORS;
use crate::table::{escape_html, markdown, seconds};
use std::fmt::Write;

/// The columns: the operators that were run, in the order of the library, then others.
fn operators(survey: &Survey) -> Vec<&'static str> {
    let run = |operator: &&&str| survey.cells().iter().any(|cell| cell.operator == **operator);
    let mut operators: Vec<&'static str> = OPERATORS.iter().filter(run).copied().collect();
    for cell in survey.cells() {
        if !operators.contains(&cell.operator) {
            operators.push(cell.operator);
        }
    }
    operators
}

/// The verdict, with the number of scenarios.
fn verdict(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else { return "-".to_string() };
    match cell.verdict() {
        Verdict::Right => format!("right ({})", cell.scenarios),
        Verdict::Wrong => format!("wrong ({} of {})", cell.wrong_scenarios(), cell.scenarios),
        Verdict::Refused => "refused".to_string(),
    }
}

/// Time and allocations of a prepared call.
fn cost(cell: Option<&Cell>) -> String {
    match cell.and_then(|cell| cell.cost) {
        Some((time, Some(allocations))) => format!("{}, {allocations} allocations", seconds(time)),
        Some((time, None)) => seconds(time),
        None => String::new(),
    }
}

/// One line for each check that failed, and one for each engine and reason of refusals: whose, and what.
fn remarks(survey: &Survey) -> Vec<(String, String)> {
    let mut remarks = Vec::new();
    for finding in survey.findings() {
        let what = format!("{}: {} [{}: {}]", finding.scenario, finding.detail, finding.check, finding.call);
        remarks.push((format!("{}, {}", finding.backend, finding.operator), what));
    }
    for engine in survey.engines() {
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for cell in survey.cells().iter().filter(|cell| cell.engine == engine) {
            for (reason, count) in &cell.refused {
                let operator = format!("{} ({count})", cell.operator);
                match reasons.iter_mut().find(|(known, _)| known == reason) {
                    Some((_, operators)) => operators.push(operator),
                    None => reasons.push((reason, vec![operator])),
                }
            }
        }
        for (reason, operators) in reasons {
            remarks.push((engine.to_string(), format!("refuses {}: {reason}", operators.join(", "))));
        }
    }
    remarks
}

impl Survey {
    /// The survey as Markdown, without times, which differ from run to run: the table of verdicts with the number of scenarios, the checks
    /// of each engine, and below the first wrong entry of each scenario that failed and the reasons of refusals.
    pub fn to_markdown(&self) -> String {
        let operators = operators(self);
        let mut text = format!("| engine | checks | {} |\n", operators.join(" | "));
        text += &format!("|---|---|{}\n", "---|".repeat(operators.len()));
        for engine in self.engines() {
            let cells = self.cells().iter().filter(|cell| cell.engine == engine);
            write!(text, "| {} | {} |", markdown(engine), cells.map(|cell| cell.checks).sum::<usize>())
                .expect("a string");
            for operator in &operators {
                write!(text, " {} |", verdict(self.cell(engine, operator))).expect("a string");
            }
            text.push('\n');
        }
        let remarks = remarks(self);
        if !remarks.is_empty() {
            text.push('\n');
        }
        for (name, remark) in remarks {
            writeln!(text, "- {}: {}", markdown(&name), markdown(&remark)).expect("a string");
        }
        text
    }

    /// Time and allocations of prepared calls as Markdown; empty before [`add_costs`](Survey::add_costs).
    pub fn costs_to_markdown(&self) -> String {
        if self.cells().iter().all(|cell| cell.cost.is_none()) {
            return String::new();
        }
        let operators = operators(self);
        let mut text = format!("| engine | {} |\n|---|{}\n", operators.join(" | "), "---|".repeat(operators.len()));
        for engine in self.engines() {
            let costs: Vec<String> = operators.iter().map(|operator| cost(self.cell(engine, operator))).collect();
            writeln!(text, "| {} | {} |", markdown(engine), costs.join(" | ")).expect("a string");
        }
        text
    }

    /// The survey as one HTML file: verdicts coloured, with times and allocations if there are any.
    pub fn to_html(&self, title: &str) -> String {
        let operators = operators(self);
        let title = escape_html(title);
        let mut text = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n<style>\nbody {{ font: 14px sans-serif; \
             margin: 2em; color-scheme: light dark; }}\ntable {{ border-collapse: collapse; }}\nth, td {{ border: 1px solid #8888; padding: 4px 8px; \
             text-align: left; }}\n.right {{ background: #2a92; }}\n.wrong {{ background: #d332; }}\n.refused {{ background: #8882; }}\n\
             small {{ display: block; }}\n</style></head><body>\n<h1>{title}</h1>\n<table>\n<tr><th>engine</th><th>checks</th>"
        );
        for operator in &operators {
            write!(text, "<th>{operator}</th>").expect("a string");
        }
        text += "</tr>\n";
        for engine in self.engines() {
            let cells = self.cells().iter().filter(|cell| cell.engine == engine);
            let checks = cells.map(|cell| cell.checks).sum::<usize>();
            write!(text, "<tr><td>{}</td><td>{checks}</td>", escape_html(engine)).expect("a string");
            for operator in &operators {
                let cell = self.cell(engine, operator);
                let class = match cell.map(Cell::verdict) {
                    Some(Verdict::Right) => "right",
                    Some(Verdict::Wrong) => "wrong",
                    Some(Verdict::Refused) => "refused",
                    None => "none",
                };
                let cost = escape_html(&cost(cell));
                write!(text, "<td class=\"{class}\">{}<small>{cost}</small></td>", escape_html(&verdict(cell)))
                    .expect("a string");
            }
            text += "</tr>\n";
        }
        text += "</table>\n<dl>\n";
        for (name, remark) in remarks(self) {
            writeln!(text, "<dt>{}</dt><dd>{}</dd>", escape_html(&name), escape_html(&remark)).expect("a string");
        }
        text + "</dl>\n</body></html>\n"
    }
}
