//! Names of the variables of a function.
//!
//! Called by users before a formula is made; read where formulas are printed and where sums over an index are found.

use differentiation_interface_core::error::{Error, ErrorKind};
use std::collections::BTreeSet;

/// The names of the inputs of a function, in their order: single numbers, and arrays whose elements are printed with an index. A formula
/// refuses names of which two are the same, the names of elements, as `x_3`, included.
///
/// # Example
/// ```
/// use derivative_formula::Variables;
/// let variables = Variables::new().number("a").array("x", 3);
/// assert_eq!(variables.len(), 4);
/// assert_eq!(variables.position("a").unwrap(), 0);
/// // Elements count from 1 in formulas.
/// assert_eq!(variables.position("x_3").unwrap(), 3);
/// assert!(variables.position("y").is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    names: Vec<Variable>,
    first_index: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    name: String,
    /// The first input, and the number of elements of an array.
    first: usize,
    elements: Option<usize>,
}

impl Variables {
    /// No names. Indices count from 1.
    pub fn new() -> Variables {
        Variables { names: Vec::new(), first_index: 1 }
    }

    /// One number for each name.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Variables {
        names.into_iter().fold(Variables::new(), Variables::number)
    }

    /// The same with a number after the others.
    pub fn number(self, name: &str) -> Variables {
        self.with(name, None)
    }

    /// The same with an array after the others.
    pub fn array(self, name: &str, elements: usize) -> Variables {
        self.with(name, Some(elements))
    }

    /// The same with indices that count from `first`, as in code with 0.
    pub fn counting_from(self, first: usize) -> Variables {
        Variables { first_index: first, ..self }
    }

    fn with(mut self, name: &str, elements: Option<usize>) -> Variables {
        let first = self.len();
        self.names.push(Variable { name: name.to_string(), first, elements });
        self
    }

    /// The number of inputs that they name.
    pub fn len(&self) -> usize {
        self.names.last().map_or(0, |last| last.first + last.elements.unwrap_or(1))
    }

    /// Whether they name nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The input with a name: that of a number, or of an element, as `x_3`.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if there is no such variable.
    pub fn position(&self, name: &str) -> Result<usize, Error> {
        for variable in &self.names {
            match variable.elements {
                None if variable.name == name => return Ok(variable.first),
                Some(elements) if let Some(index) = name.strip_prefix(&variable.name) => {
                    let index = index.strip_prefix('_').and_then(|index| index.parse::<usize>().ok());
                    let element = index.and_then(|index| index.checked_sub(self.first_index));
                    if let Some(element) = element.filter(|element| *element < elements) {
                        return Ok(variable.first + element);
                    }
                }
                _ => {}
            }
        }
        Err(UNKNOWN.into())
    }

    /// An error if two inputs have the same name; one of an array is that of an element, as `x_3`.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut known = BTreeSet::new();
        for Variable { name, elements, .. } in &self.names {
            let is_new = match elements {
                None => known.insert(name.clone()),
                Some(elements) => {
                    (self.first_index..self.first_index + elements).all(|index| known.insert(format!("{name}_{index}")))
                }
            };
            if !is_new {
                return Err(TWICE.into());
            }
        }
        Ok(())
    }

    /// The name of an input, and the index of an element; `None` for an input without a name.
    pub(crate) fn name(&self, input: usize) -> Option<(&str, Option<usize>)> {
        let after = self.names.partition_point(|variable| variable.first <= input);
        let variable = self.names[..after].iter().rev().find(|variable| variable.elements != Some(0))?;
        let element = input - variable.first;
        (element < variable.elements.unwrap_or(1))
            .then(|| (&variable.name[..], variable.elements.map(|_| element + self.first_index)))
    }

    /// The first input of the array that an input is an element of.
    pub(crate) fn array_of(&self, input: u32) -> Option<u32> {
        let (_, index) = self.name(input as usize)?;
        index.map(|index| input + self.first_index as u32 - index as u32)
    }

    /// The number with which indices begin.
    pub(crate) fn first_index(&self) -> usize {
        self.first_index
    }
}

const TWICE: ErrorKind = ErrorKind::Refused {
    what: "the variables give two inputs of the function the same name",
    instead: "give each number and each array a name of its own; `x_1` is the first element of an array `x`",
};
const UNKNOWN: ErrorKind = ErrorKind::Refused {
    what: "no variable of the formula has this name",
    instead: "use a name that was given to `Variables`, with the index of an element, as `x_1`",
};
