//! Names on the command line: lists of them, and suggestions for misspelt ones.
//!
//! Called by `arguments.rs`.

use crate::choice::Choice;
use differentiation_interface::backends::any::closest;
use std::fmt::Display;

/// Splits at commas that are not inside parentheses, so that `SecondOrder(ForwardDiff, ReverseDiff)` is one name.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let comma = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(comma).map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// The names in a list, which must be among the known ones.
///
/// # Errors
/// A sentence with the name that was probably meant, or else all known names.
pub(crate) fn known<'a>(text: &str, what: &str, known: &[&'a str]) -> Result<Vec<&'a str>, String> {
    let find = |name: &str| {
        known.iter().copied().find(|candidate| *candidate == name).ok_or_else(|| {
            let end = match closest(name, known.iter().copied()) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("known are {}", known.join(", ")),
            };
            format!("unknown {what} `{name}`; {end}")
        })
    };
    some(split(text).into_iter().map(find).collect::<Result<_, _>>()?, what)
}

/// The backends in a list.
///
/// # Errors
/// The error of the parser of backends.
pub(crate) fn backends(text: &str) -> Result<Vec<Choice>, String> {
    let parsed = split(text).into_iter().map(str::parse);
    some(parsed.collect::<Result<_, _>>()?, "backend")
}

/// Lengths of points in a list.
///
/// # Errors
/// The item that is not a length.
pub(crate) fn sizes(text: &str) -> Result<Vec<usize>, String> {
    let parse = |size: &str| match size.replace('_', "").parse() {
        Ok(size) if (1..=1_000_000).contains(&size) => Ok(size),
        _ => Err(format!("`{size}` is not a length of a point; give whole numbers from 1 to 1000000")),
    };
    some(split(text).into_iter().map(parse).collect::<Result<_, _>>()?, "size")
}

/// The list, unless it is empty or repeats an item, which would be run and counted twice.
fn some<T: PartialEq + Display>(list: Vec<T>, what: &str) -> Result<Vec<T>, String> {
    let repeated = list.iter().enumerate().find(|(i, item)| list[..*i].contains(item));
    match repeated {
        Some((_, item)) => Err(format!("{what} `{item}` is given twice; give it once")),
        None if list.is_empty() => Err(format!("no {what} given; separate several by commas")),
        None => Ok(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["gradient", "jacobian", "hvp"];

    #[test]
    fn commas_in_parentheses_do_not_separate() {
        assert_eq!(split("a(b, c(d,e)) , f,, g"), ["a(b, c(d,e))", "f", "g"]);
        assert_eq!(split("a), b"), ["a)", "b"]);
        assert_eq!(backends("SecondOrder(ForwardDiff, ReverseDiff),FiniteDiff").unwrap().len(), 2);
    }

    #[test]
    fn misspelt_names_are_answered_with_the_closest() {
        assert_eq!(known("hvp, gradient", "operator", &NAMES).unwrap(), ["hvp", "gradient"]);
        let message = |text| known(text, "operator", &NAMES).unwrap_err();
        assert_eq!(message("Gradent"), "unknown operator `Gradent`; did you mean `gradient`?");
        assert_eq!(message("divergence"), "unknown operator `divergence`; known are gradient, jacobian, hvp");
        assert_eq!(message(" ,"), "no operator given; separate several by commas");
    }

    #[test]
    fn backends_and_sizes_say_what_is_wrong() {
        assert_eq!(
            backends("ForwardDiff, RevrseDiff").unwrap_err(),
            "`RevrseDiff`: unknown backend `RevrseDiff` at column 1; did you mean `ReverseDiff`?"
        );
        assert_eq!(sizes("10, 1_000").unwrap(), [10, 1000]);
        assert_eq!(sizes("10, 2, 1_0").unwrap_err(), "size `10` is given twice; give it once");
        let twice = "ForwardDiff, ReverseDiff, AutoForwardDiff";
        assert_eq!(backends(twice).unwrap_err(), "backend `ForwardDiff` is given twice; give it once");
        assert_eq!(known("hvp,hvp", "operator", &NAMES).unwrap_err(), "operator `hvp` is given twice; give it once");
        assert_eq!(sizes("0").unwrap_err(), "`0` is not a length of a point; give whole numbers from 1 to 1000000");
    }
}
