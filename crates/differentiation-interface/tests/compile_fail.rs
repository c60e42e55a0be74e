//! The compiler messages for calls that types show to be wrong. Each file contains one mistake.
//!
//! After a change of the texts: `TRYBUILD=overwrite cargo test --test compile_fail`, and read the difference.

use std::fs;
use std::path::{Path, PathBuf};

/// Mistakes that the compiler reports before it checks a trait of this project; the text shows the cause.
const BEFORE_OUR_TRAITS: [&str; 6] = [
    // `T: Real` in the user's function is `Real<f64>`: the mismatch of associated types comes first, and ours second.
    "single_precision_with_double",
    // Arguments of another type (E0308), which no trait is asked about. Of a reference the compiler names the cure, `&`.
    "function_by_value",
    "constant_by_value",
    // `max` takes two numbers of one type: `T::zero()` or `T::constant(0.0)`. The method is that of `num_traits::Float`.
    "maximum_with_a_float",
    "maximum_of_f64",
    // The number of seeds is that of an array, which the compiler expects and names.
    "seeds_of_a_run_time_number",
];

#[test]
fn mistakes_are_explained_in_the_words_of_the_user() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}

#[test]
fn every_text_has_a_line_of_ours() {
    let phrases = phrases();
    assert!(phrases.len() > 40, "the messages in the sources are found");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let texts = files(&root, "stderr");
    assert!(texts.len() > 25, "the texts are found");
    for path in texts {
        let text = fs::read_to_string(&path).expect("a text that was just listed can be read");
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("names of cases are plain");
        // A case may have several errors; users read the first one.
        let first = text.split("\n\nerror").next().unwrap_or_default();
        let explained = phrases.iter().any(|phrase| first.contains(phrase));
        assert_eq!(
            explained,
            !BEFORE_OUR_TRAITS.contains(&name),
            "{name}: does the first error hold a message of this project?\n{first}"
        );
    }
}

/// The longest part without a placeholder of each message and note in the sources.
fn phrases() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates lie in one folder");
    let sources = ["differentiation-interface", "differentiation-interface-core", "sparsity-tracer", "matrix-coloring"];
    let mut phrases = Vec::new();
    for source in sources {
        for path in files(&crates.join(source).join("src"), "rs") {
            let text = fs::read_to_string(&path).expect("a source that was just listed can be read");
            for line in text.lines().map(str::trim) {
                let Some(quoted) = ["message = \"", "note = \""].iter().find_map(|key| line.strip_prefix(key)) else {
                    continue;
                };
                let quoted = quoted.trim_end_matches([',', ')']).trim_end_matches('"');
                let longest = quoted.split(['{', '}']).max_by_key(|part| part.len()).unwrap_or_default();
                if longest.len() >= 20 {
                    phrases.push(longest.to_string());
                }
            }
        }
    }
    phrases
}

/// All files below a folder with this ending.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is part of the sources") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
    found
}
