//! Writes a layout as LaTeX, as Unicode, or as plain text that a computer algebra system or a programmer reads.
//!
//! Called by `Formula`.

use super::layout::{Fence, Index, Layout};
use super::names::{self, function, raised};
use super::numbers::digits;
use super::style::Style;
use compiled_trace::rules::LN_GAMMA;
use differentiation_interface_core::scalar::Relation;

use Style::{Latex, Plain, Unicode};

/// How tightly a text holds together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hold {
    Sum,
    Product,
    Power,
    Atom,
}

/// Writes a layout.
pub(crate) fn write(layout: &Layout, style: Style) -> String {
    Pen(style).write(layout)
}

struct Pen(Style);

impl Pen {
    fn write(&self, layout: &Layout) -> String {
        match layout {
            Layout::Number(value) => self.number(*value),
            Layout::Constant(name, letter) => match self.0 {
                Latex if name.len() > 1 => format!("\\{name}"),
                Plain => name.to_string(),
                _ => letter.to_string(),
            },
            Layout::Variable(name, index) => {
                let index = index.as_ref().map(index_text);
                names::variable(name, index.as_deref(), self.0)
            }
            Layout::Sum(terms) => self.sum(terms),
            Layout::Product(factors) => self.product(factors),
            Layout::Fraction(above, below) => match self.0 {
                Latex => format!("\\frac{{{}}}{{{}}}", self.write(above), self.write(below)),
                Unicode | Plain => {
                    format!("{}/{}", self.held(above, Hold::Product), self.held(below, Hold::Power))
                }
            },
            Layout::Power(base, exponent) => {
                // A power of a power or of a fraction stands in brackets.
                let base = match **base {
                    Layout::Fraction(..) | Layout::Power(..) | Layout::Exponential(_) | Layout::Root(..) => {
                        self.fenced(base)
                    }
                    _ => self.held(base, Hold::Atom),
                };
                base + &self.exponent(exponent)
            }
            Layout::Root(n, of) => self.root(*n, of),
            Layout::Exponential(of) => match (self.0, raised(&self.write(of))) {
                (Latex, _) => format!("e^{{{}}}", self.write(of)),
                (Unicode, Some(exponent)) => format!("e{exponent}"),
                (Unicode, None) => format!("exp({})", self.write(of)),
                (Plain, _) => format!("exp({})", self.write(of)),
            },
            Layout::Function(rule, exponent, argument) => self.function(*rule, exponent.as_deref(), argument),
            Layout::Call(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(|argument| self.write(argument)).collect();
                match self.0 {
                    Latex => {
                        let name = match name.strip_prefix("psi") {
                            Some("") => "\\psi".to_string(),
                            Some(order) => format!("\\psi^{{({})}}", order.trim_start_matches('_')),
                            None => format!("\\operatorname{{{}}}", name.replace('_', "\\_")),
                        };
                        format!("{name}\\left({}\\right)", arguments.join(", "))
                    }
                    Unicode | Plain => format!("{name}({})", arguments.join(", ")),
                }
            }
            Layout::Fenced(fence, of) => {
                let of = self.write(of);
                match (self.0, fence) {
                    (Latex, Fence::Bars) => format!("\\left|{of}\\right|"),
                    (Latex, Fence::Floor) => format!("\\left\\lfloor {of}\\right\\rfloor"),
                    (Latex, Fence::Ceiling) => format!("\\left\\lceil {of}\\right\\rceil"),
                    (Unicode, Fence::Bars) => format!("|{of}|"),
                    (Unicode, Fence::Floor) => format!("⌊{of}⌋"),
                    (Unicode, Fence::Ceiling) => format!("⌈{of}⌉"),
                    (Plain, Fence::Bars) => format!("abs({of})"),
                    (Plain, Fence::Floor) => format!("floor({of})"),
                    (Plain, Fence::Ceiling) => format!("ceil({of})"),
                }
            }
            Layout::Sigma(index, first, last, body) => match self.0 {
                Latex => format!("\\sum_{{{index}={first}}}^{{{last}}} {}", self.held(body, Hold::Product)),
                Unicode => {
                    let below = names::lowered(&format!("{index}={first}")).unwrap_or_default();
                    let above = raised(&last.to_string()).unwrap_or_default();
                    format!("∑{below}{above} {}", self.held(body, Hold::Product))
                }
                Plain => format!("sum({}, {index} = {first}..{last})", self.write(body)),
            },
            Layout::Cases(cases, otherwise) => self.cases(cases, otherwise),
        }
    }

    fn hold(&self, layout: &Layout) -> Hold {
        match layout {
            Layout::Sum(_) => Hold::Sum,
            Layout::Number(value) if digits(*value).1.is_some() => Hold::Product,
            Layout::Product(_) => Hold::Product,
            Layout::Fraction(..) if self.0 != Latex => Hold::Product,
            Layout::Sigma(..) if self.0 != Plain => Hold::Product,
            Layout::Power(..) => Hold::Power,
            Layout::Exponential(_) if self.0 != Plain => Hold::Power,
            Layout::Function(_, _, argument) if self.0 != Plain && is_bare(argument) => Hold::Power,
            _ => Hold::Atom,
        }
    }

    /// A part in brackets, unless it holds together at least so tightly.
    fn held(&self, layout: &Layout, least: Hold) -> String {
        if self.hold(layout) >= least { self.write(layout) } else { self.fenced(layout) }
    }

    fn fenced(&self, layout: &Layout) -> String {
        let text = self.write(layout);
        let is_tall = text.contains("\\frac") || text.contains("\\sum");
        match self.0 {
            Latex if is_tall => format!("\\left({text}\\right)"),
            _ => format!("({text})"),
        }
    }

    fn number(&self, value: f64) -> String {
        match (self.0, digits(value)) {
            (Latex, _) if value.is_infinite() => "\\infty".to_string(),
            (Latex, _) if value.is_nan() => "\\mathrm{NaN}".to_string(),
            (_, (decimals, None)) => decimals,
            (Latex, (decimals, Some(n))) => format!("{decimals} \\cdot 10^{{{n}}}"),
            (Unicode, (decimals, Some(n))) => {
                format!("{decimals} · 10{}", raised(&n.to_string()).unwrap_or_default())
            }
            (Plain, (decimals, Some(n))) => format!("{decimals}e{n}"),
        }
    }

    fn sum(&self, terms: &[(bool, Layout)]) -> String {
        let minus = if self.0 == Unicode { "−" } else { "-" };
        let mut text = String::new();
        for (i, (is_subtracted, term)) in terms.iter().enumerate() {
            text += match (i, is_subtracted) {
                (0, false) => "",
                (0, true) => minus,
                (_, false) => " + ",
                (_, true) if self.0 == Unicode => " − ",
                (_, true) => " - ",
            };
            text += &self.held(term, if *is_subtracted || i > 0 { Hold::Product } else { Hold::Sum });
        }
        text
    }

    fn product(&self, factors: &[Layout]) -> String {
        let between = match self.0 {
            Latex => " ",
            Unicode => " ",
            Plain => "*",
        };
        let mut text = String::new();
        for (i, factor) in factors.iter().enumerate() {
            let is_last = i + 1 == factors.len();
            let is_open = matches!(factor, Layout::Sigma(..)) && self.0 != Plain;
            let is_front = i == 0 && matches!(factor, Layout::Number(_));
            let least = if (is_open && is_last) || is_front || matches!(factor, Layout::Fraction(..)) {
                Hold::Product
            } else {
                Hold::Power
            };
            // A number after another one needs a sign between.
            let is_number = matches!(factor, Layout::Number(_) | Layout::Fraction(..));
            if i > 0 {
                text += match (self.0, is_number && matches!(factors[i - 1], Layout::Number(_) | Layout::Fraction(..)))
                {
                    (Latex, true) => " \\cdot ",
                    (Unicode, true) => "·",
                    (Unicode, false) if tight(&factors[i - 1], factor) => "",
                    _ => between,
                };
            }
            text += &self.held(factor, least);
        }
        text
    }

    fn exponent(&self, exponent: &Layout) -> String {
        // Fractions in exponents are written with a stroke.
        let text = match (self.0, exponent) {
            (Latex, Layout::Fraction(above, below)) => {
                format!("{}/{}", self.write(above), self.held(below, Hold::Power))
            }
            _ => self.write(exponent),
        };
        match self.0 {
            Latex if text.chars().count() == 1 => format!("^{text}"),
            Latex => format!("^{{{text}}}"),
            Unicode => match raised(&text) {
                Some(raised) => raised,
                None => format!("^{}", self.held(exponent, Hold::Atom)),
            },
            Plain => format!("^{}", self.held(exponent, Hold::Atom)),
        }
    }

    fn root(&self, n: u32, of: &Layout) -> String {
        let inner = self.write(of);
        match (self.0, n) {
            (Latex, 2) => format!("\\sqrt{{{inner}}}"),
            (Latex, n) => format!("\\sqrt[{n}]{{{inner}}}"),
            (Unicode, n) => {
                let sign = if n == 3 { "∛" } else { "√" };
                let is_short = matches!(of, Layout::Variable(..) | Layout::Constant(..) | Layout::Number(_));
                if is_short { format!("{sign}{inner}") } else { format!("{sign}({inner})") }
            }
            (Plain, 3) => format!("cbrt({inner})"),
            (Plain, _) => format!("sqrt({inner})"),
        }
    }

    fn function(&self, rule: u16, exponent: Option<&Layout>, argument: &Layout) -> String {
        let (latex, text) = function(rule).unwrap_or(("\\operatorname{f}", "f"));
        let inner = self.write(argument);
        let bare = is_bare(argument) && rule != LN_GAMMA;
        match self.0 {
            Latex => {
                let exponent = exponent.map(|exponent| self.exponent(exponent)).unwrap_or_default();
                if bare {
                    format!("{latex}{exponent} {inner}")
                } else {
                    format!("{latex}{exponent}\\left({inner}\\right)")
                }
            }
            Unicode => {
                let exponent = exponent.map(|exponent| self.exponent(exponent)).unwrap_or_default();
                if bare { format!("{text}{exponent} {inner}") } else { format!("{text}{exponent}({inner})") }
            }
            Plain => format!("{text}({inner})") + &exponent.map(|exponent| self.exponent(exponent)).unwrap_or_default(),
        }
    }

    fn cases(&self, cases: &[(Layout, Layout, Relation, Layout)], otherwise: &Layout) -> String {
        let sign = |relation: &Relation| match (self.0, relation) {
            (_, Relation::Less) => "<",
            (_, Relation::Greater) => ">",
            (_, Relation::Equal) if self.0 != Plain => "=",
            (_, Relation::Equal) => "==",
            (Latex, Relation::LessOrEqual) => "\\le",
            (Latex, Relation::GreaterOrEqual) => "\\ge",
            (Unicode, Relation::LessOrEqual) => "≤",
            (Unicode, Relation::GreaterOrEqual) => "≥",
            (Plain, Relation::LessOrEqual) => "<=",
            (Plain, Relation::GreaterOrEqual) => ">=",
        };
        let condition =
            |left, relation, right| format!("{} {} {}", self.write(left), sign(relation), self.write(right));
        match self.0 {
            Latex => {
                let mut text = "\\begin{cases} ".to_string();
                for (value, left, relation, right) in cases {
                    text +=
                        &format!("{} & \\text{{if }} {} \\\\ ", self.write(value), condition(left, relation, right));
                }
                text + &format!("{} & \\text{{otherwise}} \\end{{cases}}", self.write(otherwise))
            }
            Unicode => {
                let parts = cases.iter().map(|(value, left, relation, right)| {
                    format!("{} if {}", self.write(value), condition(left, relation, right))
                });
                format!("{{{}; {} otherwise}}", parts.collect::<Vec<_>>().join("; "), self.write(otherwise))
            }
            Plain => cases.iter().rev().fold(self.write(otherwise), |rest, (value, left, relation, right)| {
                format!("if({}, {}, {rest})", condition(left, relation, right), self.write(value))
            }),
        }
    }
}

/// Whether a function is written before it without brackets.
fn is_bare(argument: &Layout) -> bool {
    matches!(argument, Layout::Variable(..) | Layout::Constant(..) | Layout::Number(_))
}

/// Whether a factor follows a number without a space.
fn tight(before: &Layout, factor: &Layout) -> bool {
    matches!(before, Layout::Number(_))
        && matches!(
            factor,
            Layout::Variable(..) | Layout::Power(..) | Layout::Sum(_) | Layout::Constant(..) | Layout::Root(..)
        )
}

/// An index: `3`, `i`, `2i+1`.
fn index_text(index: &Index) -> String {
    let mut text = String::new();
    for (multiple, letter) in &index.multiples {
        match multiple {
            1 if text.is_empty() => text.push(*letter),
            1 => text += &format!("+{letter}"),
            -1 => text += &format!("-{letter}"),
            n if text.is_empty() || *n < 0 => text += &format!("{n}{letter}"),
            n => text += &format!("+{n}{letter}"),
        }
    }
    match index.fixed {
        0 if !text.is_empty() => text,
        fixed if text.is_empty() || fixed < 0 => text + &fixed.to_string(),
        fixed => format!("{text}+{fixed}"),
    }
}
