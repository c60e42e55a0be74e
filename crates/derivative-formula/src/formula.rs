//! Formulas: an output of a recorded function, its derivatives, and their text.
//!
//! Called by users; calls expressions for derivatives, the simplifier, and the printer.

use crate::expression::{Expressions, Id, Node, Rounding};
use crate::form::{Aim, Form, Function, Power, build, convert, rolled};
use crate::print::{Style, laid_out, write};
use crate::simplify::{Bounds, agree, saturated};
use crate::variables::Variables;
use compiled_trace::Graph;
use compiled_trace::rules::{COS, COSH, EXP, LN, OVER, OtherUnary, RECIP, TAN};
use differentiation_interface_core::error::{Error, ErrorKind};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// An output of a function as a formula of named variables.
///
/// It is made of a recording ([`compiled_trace::record`]), which is data: the function does not run again. A formula is for functions of
/// a few operations, as they stand in a textbook; of others it is as long as the recording.
///
/// # What is written
/// Sums, products and powers are collected and ordered as textbooks order them. Rules that the table has for accuracy are written out:
/// `ln_1p(x)` as ln(1 + x), `hypot(x, y)` as √(x² + y²). Terms of arrays that differ in their indices alone become a sum over an index.
/// Choices are cases. Comparisons on which the function branched are not part of the formula, which holds on the branch of the recording.
///
/// # What simplification changes
/// [`simplified`](Self::simplified) and the function [`derivative`] use identities of real numbers that hold wherever the formula
/// has a value: they reorder, factor, cancel (x · 1/x = 1, x - x = 0), and know sin² + cos² = 1 and the like, but neither exp(a) exp(b) nor
/// ln exp a. Where something cancels, which collecting powers does as well, the formula can have a value where the recording has none;
/// [`conditions`](Self::conditions) says where. Both are evaluated as they are written at 24 points before the result is accepted, and must agree to 4 units in the last place
/// where the original is well conditioned: where errors of one unit in each operation move it by no more than that.
///
/// # Example
/// ```
/// use compiled_trace::{Limits, record};
/// use derivative_formula::{Formula, Variables};
/// use num_traits::Float;
///
/// let graph = record(&[1.0, 1.0], &[], Limits::default(), |x, _, y| y.push(x[0].sin() * x[1] * x[1]))?;
/// let f = Formula::of(&graph, Variables::of(["x", "y"]))?;
/// let slope = f.derivative("y")?.simplified();
/// assert_eq!(slope.to_latex(), r"2 y \sin x");
/// assert_eq!(slope.to_unicode(), "2y sin x");
/// assert_eq!(slope.to_string(), "2*y*sin(x)");
/// assert_eq!(slope.value(&[0.0, 5.0])?, 0.0);
/// # Ok::<(), differentiation_interface_core::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Formula {
    expressions: Arc<Expressions>,
    root: Id,
    variables: Arc<Variables>,
    parameters: usize,
    form: Form,
    conditions: Vec<Form>,
}

/// The largest recording, and the largest formula.
const MOST_OPERATIONS: usize = 1 << 16;
const MOST_PARTS: usize = 20_000;

const BOUNDS: Bounds = Bounds { rounds: 12, nodes: 4_000, time: Duration::from_secs(20) };

const TOO_LONG: ErrorKind = ErrorKind::Refused {
    what: "the formula has more than 20 thousand parts, or is nested more than 150 deep",
    instead: "print the formula of a part of the function, or run the derivatives by a backend",
};
const NOT_NAMED: ErrorKind = ErrorKind::Refused {
    what: "the variables do not name each input of the recording",
    instead: "name each number of the point with `Variables::number`, or several with `Variables::array`",
};

impl Formula {
    /// The formula of a recording of one output.
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if the recording has not one output; those of [`all_of`](Self::all_of).
    pub fn of(graph: &Graph, variables: Variables) -> Result<Formula, Error> {
        let mut all = Formula::all_of(graph, variables)?;
        match (all.pop(), all.len()) {
            (Some(only), 0) => Ok(only),
            (_, others) => {
                Err(ErrorKind::OutputLength { expected: 1, found: others + usize::from(!graph.outputs().is_empty()) }
                    .into())
            }
        }
    }

    /// The formulas of all outputs of a recording, in order. Parameters are named p₀, p₁, and so on.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if the variables do not name all inputs, or two alike, or a formula is too long;
    /// [`ErrorKind::RuleUnsupported`] if the recording calls a custom rule, which has no formula.
    pub fn all_of(graph: &Graph, variables: Variables) -> Result<Vec<Formula>, Error> {
        if variables.len() != graph.inputs() {
            return Err(NOT_NAMED.into());
        }
        variables.check()?;
        let mut expressions = Expressions::new(graph.rules().clone(), MOST_OPERATIONS);
        let outputs = expressions.read(graph)?.outputs;
        let (expressions, variables) = (Arc::new(expressions), Arc::new(variables));
        let formula = |root: &Id| {
            let (expressions, variables) = (Arc::clone(&expressions), Arc::clone(&variables));
            Formula::at(expressions, *root, variables, graph.parameters())
        };
        outputs.iter().map(formula).collect()
    }

    fn at(
        expressions: Arc<Expressions>,
        root: Id,
        variables: Arc<Variables>,
        parameters: usize,
    ) -> Result<Formula, Error> {
        let form = convert(&expressions, root, Aim::Reading, MOST_PARTS).ok_or(TOO_LONG)?;
        let form = rolled(&form, &|input| variables.array_of(input));
        let conditions = conditions(&expressions, root, &form);
        Ok(Formula { expressions, root, variables, parameters, form, conditions })
    }

    /// The derivative by a variable, or by an element of an array, as `x_3`; not simplified.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if there is no such variable, or the formula is too long;
    /// [`ErrorKind::RuleOrder`] if a rule of the user has no derivative that can be recorded.
    pub fn derivative(&self, variable: &str) -> Result<Formula, Error> {
        let input = self.variables.position(variable)? as u32;
        let mut expressions = (*self.expressions).clone();
        let gradient = expressions.gradient(self.root, |i| i == input)?;
        let root = match gradient.first() {
            Some((_, root)) => *root,
            None => expressions.number(0.0)?,
        };
        Formula::at(Arc::new(expressions), root, Arc::clone(&self.variables), self.parameters)
    }

    /// The same, simplified: see [`Formula`] for what may change. The original, if the simplified one failed the check of its values.
    pub fn simplified(&self) -> Formula {
        let form = saturated(&self.form, Aim::Reading, BOUNDS);
        let mut expressions = (*self.expressions).clone();
        let agrees = match (build(&self.form, &mut expressions), build(&form, &mut expressions)) {
            (Ok(before), Ok(after)) => agree(&expressions, before, after, self.variables.len(), self.parameters),
            _ => false,
        };
        if !agrees {
            return self.clone();
        }
        let conditions = conditions(&self.expressions, self.root, &form);
        Formula { form, conditions, ..self.clone() }
    }

    /// What the formula assumes: the parts that the recording divides by, which must not be zero, and by which the formula does not
    /// divide, since they have cancelled. Each in plain text.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, record};
    /// use derivative_formula::{Formula, Variables};
    /// let graph = record(&[2.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[0] / x[0]))?;
    /// let f = Formula::of(&graph, Variables::of(["x"]))?.simplified();
    /// assert_eq!((f.to_string(), f.conditions()), ("x".to_string(), vec!["x".to_string()]));
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn conditions(&self) -> Vec<String> {
        self.conditions.iter().map(|form| self.text(form, Style::Plain)).collect()
    }

    /// The value at a point, computed as the recording was, not as the formula is written.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if the point differs in length from the recorded one, or there are parameters.
    pub fn value(&self, x: &[f64]) -> Result<f64, Error> {
        self.check(x)?;
        Ok(self.expressions.evaluate(&[self.root], x, &[], Rounding::Nearest)[0])
    }

    /// The value at a point, computed as the formula is written.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if the point differs in length from the recorded one, or there are parameters.
    pub fn value_as_written(&self, x: &[f64]) -> Result<f64, Error> {
        self.check(x)?;
        let mut expressions = (*self.expressions).clone();
        let root = build(&self.form, &mut expressions)?;
        Ok(expressions.evaluate(&[root], x, &[], Rounding::Nearest)[0])
    }

    /// The value as written, with rounding errors of one unit in the last place in each operation.
    #[cfg(test)]
    pub(crate) fn perturbed(&self, x: &[f64], seed: u64) -> f64 {
        let mut expressions = (*self.expressions).clone();
        let root = build(&self.form, &mut expressions).unwrap();
        expressions.evaluate(&[root], x, &[], Rounding::Perturbed(seed))[0]
    }

    fn check(&self, x: &[f64]) -> Result<(), Error> {
        let (prepared, found) = (self.variables.len(), x.len());
        if found == prepared && self.parameters == 0 {
            return Ok(());
        }
        Err(ErrorKind::PreparedLength { prepared, found: found + self.parameters }.into())
    }

    /// The formula in LaTeX, for mathematics mode.
    pub fn to_latex(&self) -> String {
        self.text(&self.form, Style::Latex)
    }

    /// The formula in Unicode: `−2x e^(−x²)`, with powers and indices in small letters where there are such.
    pub fn to_unicode(&self) -> String {
        self.text(&self.form, Style::Unicode)
    }

    fn text(&self, form: &Form, style: Style) -> String {
        write(&laid_out(form, self.expressions.rules(), &self.variables), style)
    }
}

/// The simplified derivative of a formula by a variable.
///
/// # Errors
/// Those of [`Formula::derivative`].
///
/// # Example
/// ```
/// use compiled_trace::{Limits, record};
/// use derivative_formula::{Formula, Variables, derivative};
/// let graph = record(&[1.0, 1.0], &[], Limits::default(), |x, _, y| y.push(x[0] / x[1]))?;
/// let f = Formula::of(&graph, Variables::of(["a", "b"]))?;
/// assert_eq!(derivative(&f, "b")?.to_latex(), r"-\frac{a}{b^2}");
/// # Ok::<(), differentiation_interface_core::error::Error>(())
/// ```
pub fn derivative(formula: &Formula, variable: &str) -> Result<Formula, Error> {
    Ok(formula.derivative(variable)?.simplified())
}

/// The formula in plain text: `2*x*sin(y)`.
impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&self.form, Style::Plain))
    }
}

/// What is divided by in an expression and not in the form it has become.
fn conditions(expressions: &Expressions, root: Id, form: &Form) -> Vec<Form> {
    let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
    for id in expressions.parts(&[root]) {
        let divisor = match expressions.node(id) {
            Node::Binary(OVER, [_, divisor]) | Node::Unary(RECIP, divisor) => divisor,
            Node::Unary(rule, base) => match expressions.rules().other_unary(rule) {
                Some(OtherUnary::Powi(n)) if *n < 0 => base,
                _ => continue,
            },
            _ => continue,
        };
        if let Some(divisor) = convert(expressions, divisor, Aim::Reading, MOST_PARTS) {
            zeros(&divisor, &mut before);
        }
    }
    denominators(form, &mut after);
    before.difference(&after).cloned().collect()
}

/// The parts of a form of which one is zero where the form is.
fn zeros(form: &Form, found: &mut BTreeSet<Form>) {
    match form {
        Form::Product(_, powers) => powers.iter().for_each(|power| zeros(&power.base, found)),
        form if is_positive(form) => {}
        form => found.extend([form.clone()]),
    }
}

/// The parts that are zero nowhere where the form has a value.
fn denominators(form: &Form, found: &mut BTreeSet<Form>) {
    match form {
        Form::Number(_) | Form::Leaf(_) => {}
        Form::Function(Function::Sigma { level, count }, body) => {
            for index in 0..*count {
                denominators(&body[0].map_leaves(&mut |leaf| leaf.at(*level, index)), found);
            }
        }
        Form::Function(function, arguments) => {
            match function {
                Function::Unary(TAN) => found.extend([Form::Function(Function::Unary(COS), arguments.clone())]),
                Function::Unary(LN) => zeros(&arguments[0], found),
                _ => {}
            }
            arguments.iter().for_each(|argument| denominators(argument, found));
        }
        Form::Sum(terms) => terms.iter().for_each(|term| denominators(term, found)),
        Form::Product(_, powers) => {
            for Power { base, exponent } in powers {
                if exponent.value().is_some_and(|n| n < 0.0) {
                    zeros(base, found);
                }
                denominators(base, found);
                denominators(exponent, found);
            }
        }
    }
}

/// Whether a form is certainly positive where it has a value.
fn is_positive(form: &Form) -> bool {
    match form {
        Form::Number(c) => c.0 > 0.0,
        Form::Function(Function::Unary(EXP | COSH), _) => true,
        Form::Sum(terms) => terms.iter().all(is_not_negative) && terms.iter().any(is_positive),
        Form::Product(c, powers) => c.0 > 0.0 && powers.iter().all(|power| is_positive(&power.base)),
        _ => false,
    }
}

/// Whether a form is certainly not negative.
fn is_not_negative(form: &Form) -> bool {
    let is_even = |exponent: &Form| exponent.integer().is_some_and(|n| n % 2 == 0);
    match form {
        Form::Product(c, powers) => {
            c.0 > 0.0 && powers.iter().all(|power| is_even(&power.exponent) || is_positive(&power.base))
        }
        form => is_positive(form),
    }
}
