//! The table: textbook expressions and their derivatives in the form in which a textbook prints them.
//!
//! Read by the tests and by the chapter of the book, which draws some of them.

use crate::{Formula, Variables};
use compiled_trace::{Limits, Recorded, record};
use differentiation_interface_core::Scalar;
use num_traits::Float as _;

/// A function of named variables, the variable to differentiate by, and the derivative in LaTeX.
pub(crate) struct Line {
    pub(crate) variables: &'static str,
    pub(crate) function: fn(&[Recorded]) -> Recorded,
    pub(crate) by: &'static str,
    pub(crate) latex: &'static str,
}

const fn line(
    variables: &'static str,
    function: fn(&[Recorded]) -> Recorded,
    by: &'static str,
    latex: &'static str,
) -> Line {
    Line { variables, function, by, latex }
}

fn c(value: f64) -> Recorded {
    Recorded::constant(value)
}

pub(crate) const TABLE: &[Line] = &[
    line("x", |v| v[0].powi(3), "x", r"3 x^2"),
    line("x", |v| c(1.0) / v[0], "x", r"-\frac{1}{x^2}"),
    line("x", |v| v[0].sqrt(), "x", r"\frac{1}{2 \sqrt{x}}"),
    line("x", |v| v[0].cbrt(), "x", r"\frac{1}{3 \sqrt[3]{x^2}}"),
    line("x", |v| v[0].exp(), "x", r"e^{x}"),
    line("x", |v| (-v[0] * v[0]).exp(), "x", r"-2 x e^{-x^2}"),
    line("x", |v| v[0].ln(), "x", r"\frac{1}{x}"),
    line("x", |v| v[0] * v[0].ln(), "x", r"\ln x + 1"),
    line("x", |v| v[0] * v[0].exp(), "x", r"(x + 1) e^{x}"),
    line("x", |v| v[0].sin(), "x", r"\cos x"),
    line("x", |v| v[0].cos(), "x", r"-\sin x"),
    line("x", |v| v[0].tan(), "x", r"\frac{1}{\cos^2 x}"),
    line("x", |v| v[0].asin(), "x", r"\frac{1}{\sqrt{1 - x^2}}"),
    line("x", |v| v[0].acos(), "x", r"-\frac{1}{\sqrt{1 - x^2}}"),
    line("x", |v| v[0].atan(), "x", r"\frac{1}{1 + x^2}"),
    line("x", |v| v[0].sinh(), "x", r"\cosh x"),
    line("x", |v| v[0].tanh(), "x", r"\frac{1}{\cosh^2 x}"),
    line("x", |v| v[0].sin() * v[0].sin(), "x", r"2 \sin x \cos x"),
    line("x", |v| v[0].sin() * v[0].cos(), "x", r"\cos^2 x - \sin^2 x"),
    line("x", |v| v[0].cos().ln(), "x", r"-\tan x"),
    line("x", |v| v[0].sin() / v[0].cos(), "x", r"\frac{1}{\cos^2 x}"),
    line("x", |v| v[0].sin() / v[0], "x", r"\frac{x \cos x - \sin x}{x^2}"),
    line("x", |v| v[0] / (c(1.0) + v[0] * v[0]), "x", r"\frac{1 - x^2}{(1 + x^2)^2}"),
    line("x", |v| (c(1.0) + v[0] * v[0]).ln(), "x", r"\frac{2 x}{1 + x^2}"),
    line("x", |v| v[0].powf(v[0]), "x", r"x^x (\ln x + 1)"),
    line("x", |v| c(1.0) / (c(1.0) + (-v[0]).exp()), "x", r"\frac{e^{-x}}{(1 + e^{-x})^2}"),
    line("x", |v| (c(1.0) + v[0].exp()).ln(), "x", r"\frac{e^{x}}{1 + e^{x}}"),
    line(
        "x",
        |v| v[0].abs(),
        "x",
        r"\begin{cases} 1 & \text{if } x > 0 \\ -1 & \text{if } x < 0 \\ 0 & \text{otherwise} \end{cases}",
    ),
    line("x n", |v| v[0].powf(v[1]), "x", r"n x^{n - 1}"),
    line("a x b c", |v| v[0] * v[1] * v[1] + v[2] * v[1] + v[3], "x", r"2 a x + b"),
    line("m v", |v| 0.5 * v[0] * v[1] * v[1], "v", r"m v"),
    line("G m M r", |v| v[0] * v[1] * v[2] / (v[3] * v[3]), "r", r"-\frac{2 G m M}{r^3}"),
    line("A omega t phi", |v| v[0] * (v[1] * v[2] + v[3]).sin(), "t", r"A \omega \cos\left(\omega t + \phi\right)"),
    line("A lambda t", |v| v[0] * (-v[1] * v[2]).exp(), "t", r"-A \lambda e^{-\lambda t}"),
    line("x y", |v| (v[0] * v[0] + v[1] * v[1]).sqrt(), "x", r"\frac{x}{\sqrt{x^2 + y^2}}"),
    line("x y", |v| v[0].hypot(v[1]), "y", r"\frac{y}{\sqrt{x^2 + y^2}}"),
    line("x y", |v| (v[1] / v[0]).atan(), "x", r"-\frac{y}{x^2 + y^2}"),
    line("x y", |v| v[1].atan2(v[0]), "y", r"\frac{x}{x^2 + y^2}"),
    line("x y", |v| v[0].powi(2) * v[1].powi(3), "y", r"3 x^2 y^2"),
    line("x y", |v| (v[0] * v[1]).exp(), "x", r"y e^{x y}"),
    line(
        "x mu sigma",
        |v| (-(v[0] - v[1]).powi(2) / (2.0 * v[2] * v[2])).exp(),
        "mu",
        r"\frac{x - \mu}{\sigma^2} e^{-\frac{(x - \mu)^2}{2 \sigma^2}}",
    ),
    line(
        "epsilon sigma r",
        |v| 4.0 * v[0] * ((v[1] / v[2]).powi(12) - (v[1] / v[2]).powi(6)),
        "r",
        r"-\frac{24 \epsilon (2 \sigma^{12} - \sigma^6 r^6)}{r^{13}}",
    ),
    line(
        "R T V a b",
        |v| v[0] * v[1] / (v[2] - v[4]) - v[3] / (v[2] * v[2]),
        "V",
        r"\frac{2 a}{V^3} - \frac{R T}{(V - b)^2}",
    ),
    line("A E R T", |v| v[0] * (-v[1] / (v[2] * v[3])).exp(), "T", r"\frac{A E}{R T^2} e^{-\frac{E}{R T}}"),
    line("v_max S K", |v| v[0] * v[1] / (v[2] + v[1]), "S", r"\frac{v_{\mathrm{max}} K}{(S + K)^2}"),
    line("g ell theta", |v| -v[0] / v[1] * v[2].sin(), "theta", r"-\frac{g \cos \theta}{\ell}"),
];

/// The formula of a line.
pub(crate) fn formula(line: &Line) -> Formula {
    let names: Vec<&str> = line.variables.split(' ').collect();
    let graph = record(&vec![0.75; names.len()], &[], Limits::default(), |x, _, y| y.push((line.function)(x))).unwrap();
    Formula::of(&graph, Variables::of(names)).unwrap()
}
