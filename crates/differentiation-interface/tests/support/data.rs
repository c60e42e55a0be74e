//! The cases of `data/cases.json`, and how their numbers are laid out.
//!
//! Used by the tests that run cases of the counterpart.

use serde_json::Value;

/// All cases of the file.
pub(crate) fn cases() -> Vec<Value> {
    let data: Value = serde_json::from_str(include_str!("../data/cases.json")).expect("the file is JSON");
    data["cases"].as_array().expect("it holds a list of cases").clone()
}

/// Runs `check` on every case of a kind except some names; it returns false for a case it has no function for.
pub(crate) fn run(kind: &str, except: &[&str], check: impl Fn(&str, &Value, &Value) -> bool) {
    let mut count = 0;
    for case in cases().iter().filter(|case| case["kind"] == kind) {
        let name = case["name"].as_str().expect("a case has a name");
        if !except.contains(&name) {
            assert!(check(name, &case["input"], &case["expected"]), "{name}: no function for this case");
            count += 1;
        }
    }
    assert!(count > 0, "no case of kind {kind} was checked");
}

/// A number of the file.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// All numbers in the order of the file: a matrix row by row.
pub(crate) fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(flat).collect(),
        value => vec![number(value)],
    }
}

/// The numbers of a matrix column by column.
pub(crate) fn column_major(value: &Value) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().expect("a matrix is a list of rows").iter().map(flat).collect();
    (0..rows[0].len()).flat_map(|j| rows.iter().map(move |row| row[j])).collect()
}
