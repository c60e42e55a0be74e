//! Writes `docs/book/src/differentiable.md`, the list of what `#[differentiable]` accepts and refuses, from the tests that show it;
//! fails when the page differs.
//!
//! Accepted: the functions of `constructs.rs` and the modules of `modules/` with the line of comment above them. Refused: each
//! error in `compile_fail/*.stderr` with the line of code it points at.

use std::fmt::Write;
use std::fs;
use std::path::Path;

const HEAD: &str = "# What `#[differentiable]` accepts and refuses

This page is written by `crates/differentiation-interface-macros/tests/page.rs` from the tests of the attribute. What it means to rewrite
plain code is told in [Writing functions](functions.md#differentiable-on-f64-code).

Code with vectors, matrices, rotations and poses of `nalgebra` takes `#[differentiable(nalgebra)]`, with the feature of that name: `p - goal`, `0.5 * dt * a`, `v.norm()`, `q * v` and
`pose.transform_point(&p)` are written as for `f64`; see [Linear algebra](linear_algebra.md#nalgebra-in-code-under-differentiable). Without the option, only what `nalgebra` offers
for any number compiles: `u + v`, `a * v`, `u.dot(&v)`, `v * x[0]`. Code with arrays of `ndarray` takes [`#[differentiable(ndarray)]`](linear_algebra.md#arrays).

A bound `V: Into<f64>` is for functions: `fn mean<V: Copy + Into<f64>>(values: &[V]) -> f64` takes active and plain numbers. The numbers of a type are named by its fields, so that an
`impl<V: Into<f64>> Table<V>` cannot tell from its calls whether `V` is an active number; write `struct Table { values: Vec<f64> }`.

For a type without numbers whose trait has numbers, `rule.order()` names the trait. Where the type has a method of this name outside of the module, or pointers implement the trait in a
way of their own (`impl<R: Rule> Rule for Box<R>`) and the receiver is one, the compiler refuses the call.

In a module, `pub fn f(x: &'static [f64])` is read as a function of a table: it stays plain and gets no object. Leave `'static` out.
";

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The items that follow a comment within `both! { .. }`: title and code.
fn cases(source: &str, comment: &str, item: &str) -> Vec<(String, String)> {
    let body = source.split("\nboth! {\n").nth(1).and_then(|s| s.split("\n}\n").next()).unwrap_or_default();
    let mut found = Vec::new();
    let mut lines = body.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(title) = line.strip_prefix("    ").and_then(|l| l.strip_prefix(comment)) else { continue };
        if !lines.peek().is_some_and(|l| l.trim_start().starts_with(item)) {
            continue;
        }
        let mut code = String::new();
        for line in lines.by_ref() {
            writeln!(code, "{}", line.strip_prefix("    ").unwrap_or(line)).expect("a string takes any text");
            if line == "    }" {
                break;
            }
        }
        found.push((title.trim_end_matches('.').to_string(), code));
    }
    found
}

/// Errors that are the compiler's own, because the attribute sees no types, with what to do.
const OF_THE_COMPILER: [(&str, &str); 2] = [
    (
        "error[E0034]: multiple applicable items in scope",
        "the compiler says `multiple applicable items in scope` where a trait outside gives `f64` a method with the name of one of the numbers: \
         give the method another name, and move the trait and the functions that use it into one `#[differentiable] mod`",
    ),
    (
        "error[E0308]: mismatched types",
        "the compiler says `mismatched types` where the argument would be converted, as `&Vec<f64>` is to `&[f64]`, and the function is plain: \
         put `#[differentiable]` on it, or move both into one `#[differentiable] mod`",
    ),
];

/// Each error of a compile-fail test: the code it points at, and its text.
fn refusals(source: &str, messages: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = messages.lines().peekable();
    while let Some(line) = lines.next() {
        let own = OF_THE_COMPILER.iter().find(|(message, _)| line == *message).map(|(_, cure)| *cure);
        let message = ["error: ", "error[E0277]: "].iter().find_map(|prefix| line.strip_prefix(prefix)).or(own);
        let Some(message) = message else { continue };
        // "  --> file:line:column"
        let place = lines.peek().and_then(|l| l.rsplit(':').nth(1)).and_then(|n| n.parse::<usize>().ok());
        let code = place.and_then(|n| source.lines().nth(n - 1)).unwrap_or_default().trim();
        found.push((code.to_string(), message.trim_start_matches("`#[differentiable]` ").to_string()));
    }
    found
}

fn page() -> String {
    let tests = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"));
    let mut page = HEAD.to_string();
    page += "\n## Accepted in a function\n";
    for (title, code) in cases(&read(&tests.join("constructs.rs")), "/// ", "fn ") {
        write!(page, "\n{title}:\n\n```rs\n{code}```\n").expect("a string takes any text");
    }
    page += "\n## Accepted in a module or an `impl` block\n\nAll that is accepted in a function, and:\n\n";
    for file in [
        "programs.rs",
        "operands_and_strategies.rs",
        "bounds.rs",
        "closures_and_containers.rs",
        "collections.rs",
        "constants_and_places.rs",
        "traits_and_constants.rs",
        "everyday.rs",
        "generic_types.rs",
        "idioms.rs",
        "iterators.rs",
        "qualified.rs",
        "science.rs",
        "text.rs",
        "written.rs",
    ] {
        for (title, _) in cases(&read(&tests.join("modules").join(file)), "// ", "mod ") {
            writeln!(page, "- {title}").expect("a string takes any text");
        }
    }
    page += "\n## Refused\n\n| code | message |\n|---|---|\n";
    let mut files: Vec<_> = fs::read_dir(tests.join("compile_fail"))
        .expect("the folder is there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        // The other macros of the crate.
        .filter(|path| !path.ends_with("custom_rule.rs") && !path.ends_with("derive_container.rs"))
        .collect();
    files.sort();
    for file in files {
        let errors = refusals(&read(&file), &read(&file.with_extension("stderr")));
        assert!(!errors.is_empty(), "{} shows no error", file.display());
        for (code, message) in errors {
            let cell = |text: &str| text.replace('|', "\\|");
            writeln!(page, "| `{}` | {} |", cell(&code), cell(&message)).expect("a string takes any text");
        }
    }
    page
}

#[test]
fn the_book_lists_what_the_tests_show() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/src/differentiable.md"));
    let page = page();
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::write(path, &page).expect("the page can be written");
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/book/src/differentiable.md differs from the tests; run with UPDATE_PAGES=1");
}
