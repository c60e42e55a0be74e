//! Records the functions that are emitted.
//!
//! Called by users with any function that operators accept; the operators of [`Source`](crate::Source) start from the recording.

use crate::error::Error;
use crate::words::{argument, identifier};
use compiled_trace::{Graph, Limits, Recorded, Recorder};
use differentiation_interface_core::container::Layout;
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::evaluate::{Bound, Evaluate, Flat, Storage};
use differentiation_interface_core::point::{At, Point, ScalarOf};
use differentiation_interface_core::scalar::Base;

/// The operations of a function at a point, with the names that its source code uses.
///
/// The code is valid for points of the same length. Where the function branches on a value, it is valid on the branches taken at the
/// point; elsewhere the emitted function says that another branch is taken. Captured numbers and
/// [`Constant`](differentiation_interface_core::context::Constant)s become constants of the code, a
/// [`Parameter`](differentiation_interface_core::context::Parameter) becomes an argument.
///
/// # Example
/// ```
/// use derivative_source::{Operator, Recording, Source};
/// let spring = Recording::new("spring", &|x: &[_]| x[0] * x[0] + x[0] * x[1] * 3.0, &&[1.0, 2.0])?;
/// let source = Source::new().with(&spring, Operator::GRADIENT)?;
/// assert!(source.rust()?.contains("pub fn spring_gradient(x: &[f64; 2], grad: &mut [f64; 2]) {"));
/// # Ok::<(), derivative_source::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recording {
    pub(crate) name: String,
    pub(crate) graph: Graph,
    pub(crate) argument: String,
    pub(crate) parameters: String,
    pub(crate) is_single: bool,
    /// Names and lengths of the arguments that the point consists of, if it is several.
    pub(crate) fields: Vec<(String, usize)>,
}

impl Recording {
    /// Runs `f` once at `x` and keeps its operations. The emitted functions are called by `name` and the operator, as in
    /// `spring_gradient`.
    ///
    /// # Errors
    /// [`Error::Interface`] if the function cannot be recorded; [`Error::Name`] if the name is no identifier.
    pub fn new<F, P>(name: &str, f: &F, x: &P) -> Result<Recording, Error>
    where
        P: Point,
        ScalarOf<P>: Base,
        F: Evaluate<P::Shape, P::Contexts, Recorded<ScalarOf<P>>>,
    {
        let mut memory = Vec::new();
        let at = At::new(x, &mut memory);
        let (mut storage, mut kept) = (Storage::new(at), Default::default());
        let mut flat = Bound::new(f, at, &mut storage, &mut kept);
        let mut values = Vec::new();
        flat.recordable().iter().for_each(|recordable| recordable.parameters(&mut values));
        let parameters: Vec<ScalarOf<P>> = values.iter().map(|v| ScalarOf::<P>::from_f64(*v)).collect();
        let mut recorder = Recorder::<ScalarOf<P>>::default();
        let recorded = recorder.record(at.coordinates(), &parameters, Limits::default(), |x, _, y| flat.call(x, y));
        if flat.recordable().is_some_and(|recordable| recordable.has_failed()) {
            return Err(Error::Interface(ErrorKind::ForeignNumber.into()));
        }
        Ok(Recording {
            name: identifier(name)?,
            graph: recorded?.clone(),
            argument: "x".to_string(),
            parameters: "p".to_string(),
            is_single: size_of::<ScalarOf<P>>() == size_of::<f32>(),
            fields: Vec::new(),
        })
    }

    /// The same with another name of the point, `x` by default.
    ///
    /// # Errors
    /// [`Error::Name`] if it is no identifier, or a word with a meaning of its own in Rust, C, C++ or the emitted code.
    pub fn with_argument(self, name: &str) -> Result<Recording, Error> {
        Ok(Recording { argument: argument(name)?, ..self })
    }

    /// The same whose code takes each field of a struct as an argument: the parts of the layout of a point by
    /// [`Layout::of`], with their names. Results stay one array, in the order of the fields.
    ///
    /// # Errors
    /// [`Error::Name`] if a field's name is no identifier, or such a word as no argument may be; [`Error::Fields`] if the layout is of another length.
    ///
    /// # Example
    /// ```
    /// use derivative_source::{Operator, Recording, Source};
    /// use differentiation_interface::container::Layout;
    /// use differentiation_interface::prelude::*;
    ///
    /// #[derive(Clone, Debug, Container)]
    /// struct Spring<T = f64> {
    ///     stiffness: T,
    ///     ends: [T; 2],
    /// }
    /// #[differentiable]
    /// fn energy(s: &Spring<f64>) -> f64 {
    ///     s.stiffness * (s.ends[1] - s.ends[0])
    /// }
    /// let spring = Spring { stiffness: 3.0, ends: [1.0, 3.0] };
    /// let recording = Recording::new("energy", &Energy, &&spring)?.with_fields(&Layout::of(&spring))?;
    /// let source = Source::new().with(&recording, Operator::GRADIENT)?;
    /// assert!(source.rust()?.contains(
    ///     "pub fn energy_gradient(stiffness: &[f64; 1], ends: &[f64; 2], grad: &mut [f64; 3]) {"
    /// ));
    /// # Ok::<(), derivative_source::Error>(())
    /// ```
    pub fn with_fields(self, layout: &Layout) -> Result<Recording, Error> {
        let outer = layout.blocks().iter().filter(|(name, _)| !name.contains(['.', '[']));
        let fields: Vec<(String, usize)> =
            outer.map(|(name, range)| Ok((argument(name)?, range.len()))).collect::<Result<_, Error>>()?;
        let found = fields.iter().map(|(_, length)| length).sum();
        if found != self.inputs() {
            return Err(Error::Fields { expected: self.inputs(), found });
        }
        Ok(Recording { fields, ..self })
    }

    /// The same with another name of the parameters, `p` by default.
    ///
    /// # Errors
    /// [`Error::Name`] if it is no identifier, or a word with a meaning of its own in Rust, C, C++ or the emitted code.
    pub fn with_parameters(self, name: &str) -> Result<Recording, Error> {
        Ok(Recording { parameters: argument(name)?, ..self })
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.graph.inputs()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.graph.outputs().len()
    }
}
