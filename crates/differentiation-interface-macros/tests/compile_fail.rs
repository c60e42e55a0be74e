//! All refusals, with their exact messages.
//!
//! After a change of the texts: `TRYBUILD=overwrite cargo test --test compile_fail`, and read the difference.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What a message of this crate names: the macro that refuses, or that is missing.
const MACROS: [&str; 4] = ["#[differentiable]", "#[custom_rule]", "#[derive(Container)]", "differentiable_fn!"];

/// Mistakes that the compiler reports in its own words, with the case they are in.
const OF_THE_COMPILER: [(&str, &str); 2] = [
    // A coercion, `&Vec` to a slice, is not a call of a function of the user by its name.
    ("helper_without_attribute", "error[E0308]: mismatched types"),
    // A trait of the user for `f64` has a method of the numbers: which one is meant is not for the macro to decide, and the compiler
    // shows both.
    ("own_names", "error[E0034]: multiple applicable items in scope"),
];

#[test]
fn refusals_say_what_to_write() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}

/// Cases have several mistakes, one of each kind, so all errors count and not only the first one.
#[test]
fn every_error_names_a_macro_of_ours() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let (mut errors, mut exceptions) = (0, BTreeSet::new());
    for entry in fs::read_dir(folder).expect("the folder is part of the sources") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_none_or(|ending| ending != "stderr") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text that was just listed can be read");
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("names of cases are plain");
        for message in text.lines().filter(|line| line.starts_with("error")) {
            errors += 1;
            if MACROS.iter().any(|name| message.contains(name)) {
                continue;
            }
            let known = OF_THE_COMPILER.iter().find(|known| **known == (name, message));
            exceptions.insert(
                known.unwrap_or_else(|| panic!("{name} has an error without a message of this project:\n{message}")),
            );
        }
    }
    assert!(errors > 100, "the errors are found: {errors}");
    assert_eq!(exceptions.len(), OF_THE_COMPILER.len(), "an exception is not one any more; these are: {exceptions:?}");
}
