//! The operators that can be emitted, and the code of each.
//!
//! Called by [`Source::with`](crate::Source::with). Code comes from the programs of `compiled-trace`: adjoints, tangents, or entries of a
//! matrix one by one; a matrix whose entries would take long code is a loop over products.

use crate::code::{
    Array, Code, Node, Step, by_fields, by_unit_seeds, each_node, each_node_mut, fused, gathered, lower, lowered,
    unlooped, without_tables,
};
use crate::error::Error;
use crate::layout::Layout;
use crate::print::{Output, Signature, takes_work};
use crate::record::Recording;
use compiled_trace::{Graph, Program, compile};
use matrix_coloring::Pattern;
use sparsity_tracer::{hessian_of_recording, jacobian_of_recording};
use std::rc::Rc;

/// What an emitted function computes. The names are those of the interface's operators.
///
/// | constant | arguments after the point | results |
/// |---|---|---|
/// | [`VALUE`](Self::VALUE) | | y |
/// | [`DERIVATIVE`](Self::DERIVATIVE), [`SECOND_DERIVATIVE`](Self::SECOND_DERIVATIVE) | | dy/dx, d²y/dx², as long as y, of a function of one number |
/// | [`GRADIENT`](Self::GRADIENT) | | ∂y/∂xⱼ, as long as x |
/// | [`JACOBIAN`](Self::JACOBIAN), [`HESSIAN`](Self::HESSIAN) | | the matrix row by row |
/// | [`SPARSE_JACOBIAN`](Self::SPARSE_JACOBIAN), [`SPARSE_HESSIAN`](Self::SPARSE_HESSIAN) | | the stored entries row by row; row starts and columns are constants of the file |
/// | [`PUSHFORWARD`](Self::PUSHFORWARD) | `dx`, as long as x | J dx |
/// | [`PULLBACK`](Self::PULLBACK) | `dy`, as long as y | Jᵀ dy |
/// | [`HVP`](Self::HVP) | `v`, as long as x | H v |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    kind: Kind,
    value: bool,
    first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Value,
    Derivative,
    SecondDerivative,
    Gradient,
    Jacobian { sparse: bool },
    Pushforward,
    Pullback,
    Hvp,
    Hessian { sparse: bool },
}

impl Operator {
    /// The value.
    pub const VALUE: Operator = Operator::of(Kind::Value);
    /// The derivative of a function of one number.
    pub const DERIVATIVE: Operator = Operator::of(Kind::Derivative);
    /// The second derivative of a function of one number.
    pub const SECOND_DERIVATIVE: Operator = Operator::of(Kind::SecondDerivative);
    /// The gradient of a function that returns one number.
    pub const GRADIENT: Operator = Operator::of(Kind::Gradient);
    /// The Jacobian, all entries.
    pub const JACOBIAN: Operator = Operator::of(Kind::Jacobian { sparse: false });
    /// The entries of the Jacobian that are not zero for all points.
    pub const SPARSE_JACOBIAN: Operator = Operator::of(Kind::Jacobian { sparse: true });
    /// The Jacobian times a tangent.
    pub const PUSHFORWARD: Operator = Operator::of(Kind::Pushforward);
    /// The transposed Jacobian times a cotangent.
    pub const PULLBACK: Operator = Operator::of(Kind::Pullback);
    /// The Hessian times a tangent.
    pub const HVP: Operator = Operator::of(Kind::Hvp);
    /// The Hessian, all entries.
    pub const HESSIAN: Operator = Operator::of(Kind::Hessian { sparse: false });
    /// The entries of the Hessian that are not zero for all points.
    pub const SPARSE_HESSIAN: Operator = Operator::of(Kind::Hessian { sparse: true });

    const fn of(kind: Kind) -> Operator {
        Operator { kind, value: matches!(kind, Kind::Value), first: false }
    }

    /// The same with the value.
    pub const fn and_value(self) -> Operator {
        Operator { value: true, ..self }
    }

    /// The same with the derivative or gradient, for operators of second order; others have it anyway.
    pub const fn and_first(self) -> Operator {
        let is_second = matches!(self.kind, Kind::SecondDerivative | Kind::Hvp | Kind::Hessian { .. });
        Operator { first: is_second, ..self }
    }

    /// Name of the operator without value and gradient.
    fn base(self) -> &'static str {
        match self.kind {
            Kind::Value => "value",
            Kind::Derivative => "derivative",
            Kind::SecondDerivative => "second_derivative",
            Kind::Gradient => "gradient",
            Kind::Jacobian { sparse: false } => "jacobian",
            Kind::Jacobian { sparse: true } => "sparse_jacobian",
            Kind::Pushforward => "pushforward",
            Kind::Pullback => "pullback",
            Kind::Hvp => "hvp",
            Kind::Hessian { sparse: false } => "hessian",
            Kind::Hessian { sparse: true } => "sparse_hessian",
        }
    }

    /// The end of the function's name.
    fn suffix(self) -> String {
        let first = if self.kind == Kind::SecondDerivative { "derivative" } else { "gradient" };
        let base = self.base();
        match (self.kind, self.value, self.first) {
            (Kind::Value, _, _) => "value".to_string(),
            (_, false, false) => base.to_string(),
            (_, true, false) => format!("value_and_{base}"),
            (_, false, true) => format!("{first}_and_{base}"),
            (_, true, true) => format!("value_{first}_and_{base}"),
        }
    }
}

/// A function to print.
#[derive(Clone, Debug)]
pub(crate) struct Emitted {
    pub(crate) signature: Signature,
    pub(crate) code: Code,
    /// The pattern of a sparse matrix, and the name under which it is printed, once for all functions with this matrix.
    pub(crate) pattern: Option<(String, Pattern)>,
}

impl Emitted {
    /// Names of the constants of the pattern, or of the function that fills it.
    pub(crate) fn pattern_constants(&self) -> Vec<String> {
        self.pattern.as_ref().map_or(Vec::new(), |(name, pattern)| Layout::new(name, pattern).names())
    }

    /// Names of all constants beside the function.
    pub(crate) fn constants(&self) -> Vec<String> {
        let mut names = self.pattern_constants();
        names.extend(takes_work(&self.code).then(|| self.signature.work()));
        names
    }
}

/// Most operations of the entries of a matrix.
const MOST_OPERATIONS: usize = 1 << 24;
/// Entries up to this number of instructions are printed one by one.
const SHORT: usize = 300;
/// So many times the instructions of a product may be spent on entries.
const MOST_PRODUCTS: usize = 3;

/// The programs of a recording.
struct Programs<'a> {
    recording: &'a Recording,
    operator: Operator,
    graph: Graph,
    value: Program,
}

/// The code of an operator.
pub(crate) fn emitted(recording: &Recording, operator: Operator, tracks: bool) -> Result<Emitted, Error> {
    let graph = if tracks { recording.graph.tracking_absent() } else { recording.graph.clone() };
    let value = compile(&graph)?;
    let value = if tracks { value.tracking_absent() } else { value };
    // Rules without source code are reported as such, whatever the operator makes of them.
    lower(&value)?;
    let programs = Programs { recording, operator, graph, value };
    let (code, pattern) = programs.code()?;
    let mut code = finished(code);
    if !recording.fields.is_empty() {
        let lengths: Vec<usize> = recording.fields.iter().map(|(_, length)| *length).collect();
        code = by_fields(code, &lengths);
        code.steps = fused(code.steps);
    }
    let signature = programs.signature(&code, pattern.as_ref());
    if let Some(name) = signature.repeated() {
        return Err(Error::Name { name: name.to_string() });
    }
    let pattern = pattern.map(|pattern| (programs.matrix(), pattern));
    Ok(Emitted { signature, code, pattern })
}

/// The code with its loops as they are printed.
fn finished(code: Code) -> Code {
    let code = gathered(without_tables(code.swept()));
    let steps = fused(unlooped(code.steps, 0));
    let code = Code { steps, ..code };
    let steps = lowered(&code.steps, &code.constants, &|address| address.clone());
    Code { steps, ..code }.swept()
}

impl Programs<'_> {
    /// Name of the matrix.
    fn matrix(&self) -> String {
        format!("{}_{}", self.recording.name, self.operator.base())
    }

    fn shape(&self, needs: &'static str) -> Error {
        let (inputs, outputs) = (self.recording.inputs(), self.recording.outputs());
        Error::Shape { operator: self.operator.base(), needs, inputs, outputs }
    }

    /// The numbers of the outputs to keep, of those for value, first derivative and result.
    fn kept(&self, value: usize, first: Option<usize>, result: usize) -> Vec<usize> {
        let value = self.operator.value.then_some(value);
        let first = first.filter(|_| self.operator.first);
        value.into_iter().chain(first).chain([result]).collect()
    }

    fn code(&self) -> Result<(Code, Option<Pattern>), Error> {
        let (inputs, outputs) = (self.recording.inputs(), self.recording.outputs());
        let is_number = inputs == 1;
        Ok(match self.operator.kind {
            Kind::Value => (lower(&self.value)?, None),
            Kind::Derivative if is_number => {
                let code = with_unit(lower(&self.value.tangent(1)?)?, 2);
                (code.keeping(&self.kept(0, None, 1)), None)
            }
            Kind::SecondDerivative if is_number => {
                let code = lower(&self.value.tangent(1)?.tangent(1)?)?;
                let code = with_unit(with_unit(code, 3), 2);
                (code.keeping(&self.kept(0, Some(1), 3)), None)
            }
            Kind::Derivative | Kind::SecondDerivative => return Err(self.shape("a function of one number")),
            Kind::Pushforward => (lower(&self.value.tangent(1)?)?.keeping(&self.kept(0, None, 1)), None),
            Kind::Pullback => (lower(&self.value.adjoint(1)?)?.keeping(&self.kept(0, None, 1)), None),
            Kind::Jacobian { sparse: false } if outputs == 1 => (self.gradient()?, None),
            Kind::Jacobian { sparse: false } => (self.jacobian()?, None),
            Kind::Jacobian { sparse: true } => {
                let pattern = jacobian_of_recording(&self.recording.graph)?;
                let code = self.entries(pattern.csr(), false)?.ok_or(self.too_large(&pattern))?;
                (self.with_value(code)?, Some(pattern))
            }
            _ if outputs != 1 => return Err(self.shape("a function that returns one number")),
            Kind::Gradient => (self.gradient()?, None),
            Kind::Hvp => {
                let code = lower(&self.value.gradient()?.tangent(1)?)?;
                (code.keeping(&self.kept(0, Some(1), 3)), None)
            }
            Kind::Hessian { sparse: false } => (self.hessian()?, None),
            Kind::Hessian { sparse: true } => {
                let pattern = hessian_of_recording(&self.recording.graph)?;
                let code = self.entries(pattern.csr(), true)?.ok_or(self.too_large(&pattern))?;
                (self.with_first(code)?, Some(pattern))
            }
        })
    }

    fn too_large(&self, pattern: &Pattern) -> Error {
        Error::TooLarge { operator: self.operator.base(), entries: pattern.nnz() }
    }

    fn gradient(&self) -> Result<Code, Error> {
        Ok(lower(&self.value.gradient()?)?.keeping(&self.kept(0, None, 1)))
    }

    /// The code of single entries; none if they take too many operations.
    fn entries(&self, (starts, columns): (&[u32], &[u32]), is_second: bool) -> Result<Option<Code>, Error> {
        let graph = match is_second {
            false => self.graph.jacobian_entries(starts, columns, MOST_OPERATIONS)?,
            true => self.graph.hessian_entries(starts, columns, MOST_OPERATIONS)?,
        };
        graph.map(|graph| lower(&compile(&graph)?)).transpose()
    }

    /// The code of all entries, if it is not too long beside that of a product.
    fn all_entries(&self, rows: usize, product: &Code, is_second: bool) -> Result<Option<Code>, Error> {
        let columns = self.recording.inputs();
        let (Ok(_), true) = (u32::try_from(rows * columns), rows * columns <= 1 << 22) else { return Ok(None) };
        let starts: Vec<u32> = (0..=rows).map(|i| (i * columns) as u32).collect();
        let all: Vec<u32> = (0..rows).flat_map(|_| 0..columns as u32).collect();
        let most = SHORT.max(MOST_PRODUCTS * size(product));
        let entries = self.entries((&starts, &all), is_second)?;
        Ok(entries.filter(|entries| size(entries) <= most))
    }

    fn jacobian(&self) -> Result<Code, Error> {
        let (inputs, outputs) = (self.recording.inputs(), self.recording.outputs());
        let by_columns = inputs <= outputs;
        let product = if by_columns { self.value.tangent(1)? } else { self.value.adjoint(1)? };
        let product = lower(&product)?;
        if let Some(code) = self.all_entries(outputs, &product, false)? {
            return self.with_value(code);
        }
        Ok(by_unit_seeds(product.keeping(&self.kept(0, None, 1)), 2, self.operator.value.into(), by_columns))
    }

    fn hessian(&self) -> Result<Code, Error> {
        let product = lower(&self.value.gradient()?.tangent(1)?)?;
        if let Some(code) = self.all_entries(self.recording.inputs(), &product, true)? {
            return self.with_first(code);
        }
        let kept = self.kept(0, Some(1), 3);
        let result = kept.len() - 1;
        Ok(by_unit_seeds(product.keeping(&kept), 2, result, false))
    }

    /// The code of a Jacobian after that of the value, if that is asked for.
    fn with_value(&self, code: Code) -> Result<Code, Error> {
        if !self.operator.value {
            return Ok(code);
        }
        Ok(joined(lower(&self.value)?, code))
    }

    /// The code of a Hessian after that of value and gradient, if these are asked for.
    fn with_first(&self, code: Code) -> Result<Code, Error> {
        if !self.operator.first {
            return self.with_value(code);
        }
        let kept: &[usize] = if self.operator.value { &[0, 1] } else { &[1] };
        Ok(joined(lower(&self.value.gradient()?)?.keeping(kept), code))
    }

    fn signature(&self, code: &Code, pattern: Option<&Pattern>) -> Signature {
        let Programs { recording, operator, .. } = self;
        let Recording { name, argument: x, parameters: p, .. } = recording;
        let seed = match operator.kind {
            Kind::Pushforward => "dx",
            Kind::Pullback => "dy",
            _ => "v",
        };
        let result = match operator.kind {
            Kind::Value => "y",
            Kind::Derivative => "dy",
            Kind::SecondDerivative => "d2y",
            Kind::Gradient => "grad",
            Kind::Jacobian { .. } => "jac",
            Kind::Pushforward => "jvp",
            Kind::Pullback => "vjp",
            Kind::Hvp => "hvp",
            Kind::Hessian { .. } => "hess",
        };
        let first = if operator.kind == Kind::SecondDerivative { "dy" } else { "grad" };
        let mut names = Vec::new();
        if operator.value && operator.kind != Kind::Value {
            names.push("y");
        }
        if operator.first {
            names.push(first);
        }
        names.push(result);
        let fields = recording.fields.iter().map(|(name, _)| name.as_str());
        let taken: Vec<&str> = fields.chain([x.as_str(), p.as_str()]).collect();
        let free = |name: &str| {
            let mut name = name.to_string();
            while taken.contains(&name.as_str()) {
                name.push('_');
            }
            name
        };
        let is_one = recording.outputs() == 1;
        let outputs: Vec<Output> = names
            .iter()
            .zip(&code.outputs)
            .enumerate()
            .map(|(k, (name, length))| {
                // A number is returned: the value, or the only result.
                let is_scalar = *length == 1 && (*name == "y" || matches!(*name, "dy" | "d2y")) && is_one && k == 0;
                Output { name: free(name), length: *length, is_returned: is_scalar }
            })
            .collect();
        let mut inputs = recording.fields.clone();
        if inputs.is_empty() {
            inputs.push((x.clone(), code.inputs[0]));
        }
        let points = inputs.len();
        let has_parameters = recording.graph.parameters() > 0;
        inputs.push(if has_parameters { (p.clone(), code.inputs[points]) } else { (String::new(), 0) });
        inputs.extend(code.inputs.iter().skip(points + 1).map(|length| (free(seed), *length)));
        // Seeds that are constants are no arguments.
        if matches!(operator.kind, Kind::Derivative | Kind::SecondDerivative) {
            inputs.iter_mut().skip(points + 1).for_each(|input| input.0 = String::new());
        }
        let mut has_guards = false;
        each_node(&code.steps, &mut Vec::new(), &mut |node, _| has_guards |= matches!(node, Node::Guard(..)));
        Signature {
            name: format!("{name}_{}", operator.suffix()),
            documentation: self.documentation(pattern, &outputs),
            inputs,
            outputs,
            has_guards,
        }
    }

    fn documentation(&self, pattern: Option<&Pattern>, outputs: &[Output]) -> Vec<String> {
        let Recording { name, argument: x, .. } = self.recording;
        let y = if self.recording.outputs() == 1 { "y" } else { "y[i]" };
        let at = if self.recording.inputs() == 1 { x.clone() } else { format!("{x}[j]") };
        let width = self.recording.inputs();
        let last = outputs.last().map_or("", |output| &output.name);
        let mut lines = vec![match self.operator.kind {
            Kind::Value => format!("The value of `{name}`."),
            Kind::Derivative => format!("The derivative of `{name}`: `d{y}/d{x}`."),
            Kind::SecondDerivative => format!("The second derivative of `{name}`: `d²{y}/d{x}²`."),
            Kind::Gradient => format!("The gradient of `{name}`: `{last}[j]` is `∂{y}/∂{at}`."),
            Kind::Jacobian { sparse: false } => {
                format!("The Jacobian of `{name}`, row by row: `{last}[{width} * i + j]` is `∂{y}/∂{at}`.")
            }
            Kind::Pushforward => format!("The Jacobian of `{name}` times `dx`: `{last}[i]` is `Σ ∂{y}/∂{at} dx[j]`."),
            Kind::Pullback => {
                format!("The transposed Jacobian of `{name}` times `dy`: `{last}[j]` is `Σ dy[i] ∂{y}/∂{at}`.")
            }
            Kind::Hvp => format!("The Hessian of `{name}` times `v`: `{last}[i]` is `Σ ∂²{y}/∂{x}[i]∂{x}[j] v[j]`."),
            Kind::Hessian { sparse: false } => {
                format!("The Hessian of `{name}`, row by row: `{last}[{width} * i + j]` is `∂²{y}/∂{x}[i]∂{x}[j]`.")
            }
            Kind::Jacobian { sparse: true } => {
                format!("The Jacobian of `{name}`: `∂{y}/∂{at}` where it is not always zero.")
            }
            Kind::Hessian { sparse: true } => {
                format!("The Hessian of `{name}`: `∂²{y}/∂{x}[i]∂{x}[j]` where it is not always zero.")
            }
        }];
        if !self.recording.fields.is_empty() {
            let names: Vec<String> = self.recording.fields.iter().map(|(name, _)| format!("`{name}`")).collect();
            lines.push(format!("`{x}` is {}, one after the other.", names.join(", ")));
        }
        if let Some(pattern) = pattern {
            let places = Layout::new(&self.matrix(), pattern).reference();
            lines.push(format!("{} entries in compressed rows; their places are in `{places}`.", pattern.nnz()));
        }
        if self.operator.value && self.operator.kind != Kind::Value || self.operator.first {
            let names: Vec<String> = outputs[..outputs.len() - 1].iter().map(|o| format!("`{}`", o.name)).collect();
            let what = match (self.operator.value, self.operator.first) {
                (true, true) => "value and first derivative",
                (true, false) => "value",
                _ => "first derivative",
            };
            lines.push(format!("With the {what}, {}.", names.join(" and ")));
        }
        lines
    }
}

/// Number of instructions.
fn size(code: &Code) -> usize {
    let mut size = 0;
    each_node(&code.steps, &mut Vec::new(), &mut |_, _| size += 1);
    size
}

/// The code with an input, of one number, that is 1.
fn with_unit(mut code: Code, input: usize) -> Code {
    each_node_mut(&mut code.steps, &mut |node| {
        if matches!(node, Node::Load(address) if address.array == Array::Input(input)) {
            *node = Node::Constant(1.0);
        }
    });
    code.inputs.truncate(input);
    let steps = lowered(&code.steps, &code.constants, &|address| address.clone());
    Code { steps, ..code }
}

/// The code of `first`, then that of `second`, on the same inputs; with the outputs of both.
fn joined(first: Code, second: Code) -> Code {
    let (outputs, constants) = (first.outputs.len(), first.constants.len());
    let mut steps = first.steps;
    let mut later = second.steps;
    each_node_mut(&mut later, &mut |node| {
        if let Some(address) = node.address_mut() {
            match &mut address.array {
                Array::Output(o) => *o += outputs,
                Array::Constant => address.base += constants as i64,
                _ => {}
            }
        }
    });
    move_zeros(&mut later, outputs);
    steps.extend(later);
    let all: Vec<f64> = first.constants.iter().chain(&*second.constants).copied().collect();
    Code {
        constants: Rc::from(all),
        inputs: first.inputs,
        outputs: first.outputs.into_iter().chain(second.outputs).collect(),
        work: first.work.max(second.work),
        steps,
    }
}

fn move_zeros(steps: &mut [Step], outputs: usize) {
    for step in steps {
        match step {
            Step::Loop { body, .. } => move_zeros(body, outputs),
            Step::Zero { array: Array::Output(o), .. } => *o += outputs,
            _ => {}
        }
    }
}
