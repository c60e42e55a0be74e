//! Writes the table of the book's chapter, and tests that it is up to date. The LaTeX of the table is drawn as MathML.

use crate::derivative;
use crate::print::{Style, variable};
use crate::textbook::{TABLE, formula};
use pulldown_latex::config::DisplayMode;
use pulldown_latex::{Parser, RenderConfig, Storage, push_mathml};
use std::fs;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/book/formulas.md");
const BEGIN: &str = "<!-- table -->\n";
const END: &str = "<!-- end of table -->";

/// Lines of the table that the page shows, by the variables and the variable of the derivative.
fn is_shown(latex: &str) -> bool {
    !latex.contains("cases") && latex.len() > 20
}

/// A formula as MathML on one line.
fn drawn(latex: &str) -> String {
    let storage = Storage::new();
    let events: Result<Vec<_>, _> = Parser::new(latex, &storage).collect();
    let events = events.unwrap_or_else(|error| panic!("{latex}: {error}"));
    let mut mathml = String::new();
    let config = RenderConfig { display_mode: DisplayMode::Inline, ..RenderConfig::default() };
    push_mathml(&mut mathml, events.into_iter().map(Ok::<_, std::fmt::Error>), config).unwrap();
    mathml.replace('\n', "")
}

#[test]
fn all_latex_is_valid() {
    for line in TABLE {
        assert!(drawn(&formula(line).to_latex()).starts_with("<math"));
        assert!(drawn(line.latex).starts_with("<math"));
    }
}

/// `UPDATE_PAGES=1` writes the page.
#[test]
fn the_chapter_shows_the_formulas_of_the_table() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let mut table = String::from("| function | by | derivative | as text |\n|---|---|---|---|\n");
    for line in TABLE.iter().filter(|line| is_shown(line.latex)) {
        let f = formula(line);
        let by = drawn(&variable(line.by, None, Style::Latex));
        let text = derivative(&f, line.by).unwrap().to_unicode();
        table += &format!("| {} | {by} | {} | {text} |\n", drawn(&f.to_latex()), drawn(line.latex));
    }
    let expected = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::write(PAGE, &expected).unwrap();
    }
    assert!(page == expected || std::env::var_os("UPDATE_PAGES").is_some(), "run this test with UPDATE_PAGES=1");
}
