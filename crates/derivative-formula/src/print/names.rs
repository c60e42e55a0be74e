//! Names of variables and functions in each style.
//!
//! Called by `write`.

use super::style::Style;
use compiled_trace::rules::*;

/// Greek letters by their names, which are also those of LaTeX.
const GREEK: [(&str, char); 34] = [
    ("alpha", 'α'),
    ("beta", 'β'),
    ("gamma", 'γ'),
    ("delta", 'δ'),
    ("epsilon", 'ε'),
    ("zeta", 'ζ'),
    ("eta", 'η'),
    ("theta", 'θ'),
    ("iota", 'ι'),
    ("kappa", 'κ'),
    ("lambda", 'λ'),
    ("mu", 'μ'),
    ("nu", 'ν'),
    ("xi", 'ξ'),
    ("pi", 'π'),
    ("rho", 'ρ'),
    ("sigma", 'σ'),
    ("tau", 'τ'),
    ("upsilon", 'υ'),
    ("phi", 'φ'),
    ("chi", 'χ'),
    ("psi", 'ψ'),
    ("omega", 'ω'),
    ("Gamma", 'Γ'),
    ("Delta", 'Δ'),
    ("Theta", 'Θ'),
    ("Lambda", 'Λ'),
    ("Xi", 'Ξ'),
    ("Pi", 'Π'),
    ("Sigma", 'Σ'),
    ("Phi", 'Φ'),
    ("Psi", 'Ψ'),
    ("Omega", 'Ω'),
    ("ell", 'ℓ'),
];

/// A word as a symbol: a letter, a Greek letter, or upright text.
fn symbol(word: &str, style: Style) -> String {
    let greek = GREEK.iter().find(|(name, letter)| *name == word || word.chars().eq([*letter]));
    match (style, greek) {
        (Style::Latex, Some((name, _))) => format!("\\{name}"),
        (Style::Unicode, Some((_, letter))) => letter.to_string(),
        (Style::Latex, None) if word.chars().count() > 1 && !word.chars().all(|c| c.is_ascii_digit()) => {
            format!("\\mathrm{{{}}}", word.replace('_', "\\_"))
        }
        _ => word.to_string(),
    }
}

/// The name of a variable with its subscripts: the part of the name after `_`, and an index.
pub(crate) fn variable(name: &str, index: Option<&str>, style: Style) -> String {
    let (stem, subscript) = match name.split_once('_') {
        Some((stem, subscript)) if !stem.is_empty() && !subscript.is_empty() => (stem, Some(subscript)),
        _ => (name, None),
    };
    let stem = symbol(stem, style);
    let parts: Vec<String> =
        subscript.map(|word| symbol(word, style)).into_iter().chain(index.map(str::to_string)).collect();
    match (style, &parts[..]) {
        (_, []) => stem,
        (Style::Latex, [one]) if one.chars().count() == 1 => format!("{stem}_{one}"),
        (Style::Latex, _) => format!("{stem}_{{{}}}", parts.join(",")),
        (Style::Plain, _) if index.is_some_and(|index| !index.chars().all(|c| c.is_ascii_alphanumeric())) => {
            format!("{name}[{}]", index.unwrap_or_default())
        }
        (Style::Plain, _) => format!("{stem}_{}", parts.join("_")),
        (Style::Unicode, _) => match parts.iter().map(|part| lowered(part)).collect::<Option<Vec<_>>>() {
            Some(parts) => stem + &parts.join("\u{201a}"),
            None => format!("{stem}_{}", parts.join("_")),
        },
    }
}

/// Text in subscript letters, if there are such.
pub(super) fn lowered(text: &str) -> Option<String> {
    let lower = |c: char| match c {
        '0'..='9' => char::from_u32('₀' as u32 + c as u32 - '0' as u32),
        _ => "aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛtₜuᵤvᵥxₓ+₊-₋=₌"
            .chars()
            .collect::<Vec<_>>()
            .chunks(2)
            .find(|pair| pair[0] == c)
            .map(|pair| pair[1]),
    };
    text.chars().map(lower).collect()
}

/// Text in superscript letters, if there are such.
pub(super) fn raised(text: &str) -> Option<String> {
    let raise = |c: char| {
        "0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹-⁻−⁻+⁺aᵃbᵇcᶜdᵈiⁱkᵏmᵐnⁿpᵖrʳsˢtᵗuᵘvᵛxˣyʸzᶻ"
            .chars()
            .collect::<Vec<_>>()
            .chunks(2)
            .find(|pair| pair[0] == c)
            .map(|pair| pair[1])
    };
    text.chars().map(raise).collect()
}

/// The name of a function of the table in LaTeX, and in text.
pub(super) fn function(rule: u16) -> Option<(&'static str, &'static str)> {
    Some(match rule {
        LN => ("\\ln", "ln"),
        LOG2 => ("\\log_2", "log2"),
        LOG10 => ("\\log_{10}", "log10"),
        SIN => ("\\sin", "sin"),
        COS => ("\\cos", "cos"),
        TAN => ("\\tan", "tan"),
        ASIN => ("\\arcsin", "arcsin"),
        ACOS => ("\\arccos", "arccos"),
        ATAN => ("\\arctan", "arctan"),
        SINH => ("\\sinh", "sinh"),
        COSH => ("\\cosh", "cosh"),
        TANH => ("\\tanh", "tanh"),
        ASINH => ("\\operatorname{arsinh}", "arsinh"),
        ACOSH => ("\\operatorname{arcosh}", "arcosh"),
        ATANH => ("\\operatorname{artanh}", "artanh"),
        ERF => ("\\operatorname{erf}", "erf"),
        ERFC => ("\\operatorname{erfc}", "erfc"),
        LN_GAMMA => ("\\ln\\Gamma", "lnΓ"),
        SIGNUM => ("\\operatorname{sgn}", "sgn"),
        _ => return None,
    })
}
