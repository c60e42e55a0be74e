//! Derivatives of programs: the adjoint, and the tangent.
//!
//! Called by users of [`Program`]. Both work statement by statement: the adjoint of a nest is a nest over the same iterations,
//! run backwards, whose body recomputes the forward values and then the adjoints; a load becomes an accumulation to the
//! adjoint of the cell, a store or accumulation becomes a load of it. Partial derivatives are those of the rule table.
//!
//! If absent derivatives are tracked (`absence`), every work cell of a derivative has a second one for its presence.

use crate::derive::absence::{Absences, Presence, Slope};
use crate::derive::activity::Activity;
use crate::derive::builder::Builder;
use crate::derive::expressions::{Expressions, Shared};
use crate::program::*;
use crate::recording::absence::Absence;
use crate::recording::graph::Op;
use differentiation_interface_core::error::{Error, ErrorKind};
use std::sync::Arc;

impl Program {
    /// The program that computes the outputs and, for `lanes` cotangents at once, the products of the transposed Jacobian
    /// with them: x̄ = Jᵀ ȳ.
    ///
    /// Inputs: x, the parameters, then ȳ for every lane. Outputs: y, then x̄ for every lane.
    ///
    /// # Errors
    /// [`ErrorKind::RuleOrder`] if a rule has no derivative that can be recorded, or if this is a derivative already and calls
    /// custom rules.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, compile, record};
    /// let graph = record(&[2.0, 5.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[0] * x[1]))?;
    /// let gradient = compile(&graph)?.adjoint(1)?.executable();
    /// let mut memory = gradient.workspace();
    /// let (mut y, mut grad) = ([0.0], [0.0; 2]);
    /// gradient.run(&mut memory, &[&[3.0, 1.0], &[], &[1.0]], &mut [&mut y, &mut grad]).unwrap();
    /// assert_eq!((y, grad), ([9.0], [6.0, 9.0]));
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn adjoint(&self, lanes: usize) -> Result<Program, Error> {
        let first_seed = self.inputs.len();
        self.adjoint_by(lanes, (0..self.outputs.len()).map(|o| first_seed + o).collect())
    }

    /// The program that computes the output and its gradient, if there is one output: the adjoint with the cotangent 1. For one input and no custom rule it is the
    /// tangent with the tangent 1, whose operations wait for fewer others.
    ///
    /// Inputs: those of this program. Outputs: y, then ∂y/∂x.
    ///
    /// # Errors
    /// Those of [`adjoint`](Program::adjoint), and [`ErrorKind::OutputLength`] if there is not one output.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, compile, record};
    /// let graph = record(&[2.0, 5.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[0] * x[1]))?;
    /// let gradient = compile(&graph)?.gradient()?.executable();
    /// let mut memory = gradient.workspace();
    /// let (mut y, mut grad) = ([0.0], [0.0; 2]);
    /// gradient.run(&mut memory, &[&[3.0, 1.0], &[]], &mut [&mut y, &mut grad]).unwrap();
    /// assert_eq!((y, grad), ([9.0], [6.0, 9.0]));
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn gradient(&self) -> Result<Program, Error> {
        match self.outputs[..] {
            [1] if self.inputs[0] == 1 && !has_calls(&self.statements) => {
                Ok(self.tangent_by(1, Vec::new())?.optimized())
            }
            [1] => self.adjoint_by(1, Vec::new()),
            _ => Err(ErrorKind::OutputLength { expected: 1, found: self.outputs.iter().sum() }.into()),
        }
    }

    /// The adjoint with cotangents in the input slices `seeds`, or with the cotangent 1 if there are none.
    fn adjoint_by(&self, lanes: usize, seeds: Vec<usize>) -> Result<Program, Error> {
        let mut inputs = self.inputs.clone();
        if !seeds.is_empty() {
            inputs.extend(self.outputs.repeat(lanes));
        }
        let mut shared = Shared::new(self.constants.clone(), self.rules.clone(), self.absence);
        let mut derivation = Derivation {
            one: seeds.is_empty().then(|| shared.constant(1.0)),
            shared,
            activity: Activity::new(&self.statements),
            work: self.work,
            lanes,
            seeds,
            results: vec![Some(self.outputs.len()), None],
            spare: None,
            loops: Vec::new(),
            absence: self.absence,
        };
        derivation.results.resize(self.inputs.len(), None);
        let mut outputs = self.outputs.clone();
        outputs.extend(std::iter::repeat_n(self.inputs[0], lanes));
        if inputs.len() > 255 || outputs.len() > 255 {
            return Err(ErrorKind::TapeOverflow.into());
        }
        let both = derivation.with_adjoint(&self.statements)?;
        let work = derivation.derived_work()?;
        let mut statements = Vec::new();
        for lane in 0..lanes {
            let space = Space::Output((self.outputs.len() + lane) as u8);
            statements.push(Statement::Zero { space, start: 0, length: self.inputs[0] as u32 });
        }
        if self.work > 0 {
            let length = (self.work * derivation.shadows()) as u32;
            statements.push(Statement::Zero { space: Space::Work, start: self.work as u32, length });
        }
        statements.extend(derivation.clear_spare());
        statements.extend(both);
        let program = Program {
            constants: derivation.shared.constants,
            rules: derivation.shared.rules,
            inputs,
            outputs,
            work,
            statements,
            places: self.places.clone(),
            absence: derivation.shared.absence,
        };
        // The bodies of this program and of the adjoint have each instruction once.
        Ok(program.optimized_together())
    }

    /// The program that computes, besides the outputs, their derivatives in `lanes` directions of the first input slice:
    /// ẏ = J ẋ. Of a gradient program it is the program of Hessian-vector products.
    ///
    /// Inputs: those of this program, then ẋ for every lane. Outputs: those of this program, then for every lane the
    /// derivatives of all of them in order.
    ///
    /// # Errors
    /// [`ErrorKind::RuleOrder`] if a rule has no derivative that can be recorded, or if a custom rule would have to be
    /// differentiated a third time.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, compile, record};
    /// let graph = record(&[2.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[0] * x[0]))?;
    /// let product = compile(&graph)?.adjoint(1)?.tangent(1)?.executable();
    /// let mut memory = product.workspace();
    /// let (mut y, mut grad, mut dy, mut hv) = ([0.0], [0.0], [0.0], [0.0]);
    /// let outputs = &mut [&mut y[..], &mut grad, &mut dy, &mut hv];
    /// product.run(&mut memory, &[&[2.0], &[], &[1.0], &[1.0]], outputs).unwrap();
    /// assert_eq!((y, grad, dy, hv), ([8.0], [12.0], [12.0], [12.0]));
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn tangent(&self, lanes: usize) -> Result<Program, Error> {
        Ok(self.tangent_by(lanes, vec![self.inputs.len()])?.optimized())
    }

    /// The [tangent](Self::tangent) with its output slices `kept` alone, as [`keeping_outputs`](Self::keeping_outputs) returns it, at a lower cost:
    /// what only the others need is not optimised.
    ///
    /// # Errors
    /// Those of [`tangent`](Self::tangent).
    ///
    /// # Panics
    /// If a number is not one of an output slice, or occurs twice.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, compile, record};
    /// let graph = record(&[2.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[0] * x[0]))?;
    /// let product = compile(&graph)?.gradient()?.tangent_keeping(1, &[3])?.executable();
    /// let mut hv = [0.0];
    /// product.run(&mut product.workspace(), &[&[2.0], &[], &[1.0]], &mut [&mut hv]).unwrap();
    /// assert_eq!(hv, [12.0]); // 6 x
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn tangent_keeping(&self, lanes: usize, kept: &[usize]) -> Result<Program, Error> {
        Ok(self.tangent_by(lanes, vec![self.inputs.len()])?.keeping(kept))
    }

    /// The tangent, not optimised, with tangents in the input slices from `seeds` on, or with the tangent 1 if there are none.
    fn tangent_by(&self, lanes: usize, seeds: Vec<usize>) -> Result<Program, Error> {
        let mut shared = Shared::new(self.constants.clone(), self.rules.clone(), self.absence);
        let mut derivation = Derivation {
            one: seeds.is_empty().then(|| shared.constant(1.0)),
            shared,
            activity: Activity::new(&self.statements),
            work: self.work,
            lanes,
            seeds,
            results: (0..self.outputs.len()).map(|o| Some(self.outputs.len() + o)).collect(),
            spare: None,
            loops: Vec::new(),
            absence: self.absence,
        };
        let mut inputs = self.inputs.clone();
        let mut outputs = self.outputs.clone();
        for _ in 0..lanes {
            if derivation.one.is_none() {
                inputs.push(self.inputs[0]);
            }
            outputs.extend(&self.outputs);
        }
        if inputs.len() > 255 || outputs.len() > 255 {
            return Err(ErrorKind::TapeOverflow.into());
        }
        // Cells have numbers of 32 bits.
        derivation.derived_work()?;
        let tangents = derivation.tangent_of(&self.statements)?;
        let work = derivation.derived_work()?;
        let statements = derivation.clear_spare().into_iter().chain(tangents).collect();
        Ok(Program {
            constants: derivation.shared.constants,
            rules: derivation.shared.rules,
            inputs,
            outputs,
            work,
            statements,
            places: self.places.clone(),
            absence: derivation.shared.absence,
        })
    }
}

/// Whether custom rules are called.
fn has_calls(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Loop { body, .. } => has_calls(body),
        Statement::Call(_) => true,
        Statement::Zero { .. } | Statement::Nest(_) => false,
    })
}

/// How the spaces of a program map to those of its derivative.
pub(super) struct Derivation {
    pub(super) shared: Shared,
    /// What has a derivative.
    pub(super) activity: Activity,
    /// Number of work cells of the program; those of lane `l` of the derivative follow after `(l + 1)` times as many.
    pub(super) work: usize,
    pub(super) lanes: usize,
    /// Input slices with the seeds of lane 0, if there are any: per output (adjoint), or that of the first input (tangent).
    seeds: Vec<usize>,
    /// Output slices with the results of lane 0, per input (adjoint) or output (tangent).
    results: Vec<Option<usize>>,
    /// The constant 1, if it is the cotangent or the tangent.
    one: Option<u32>,
    /// A cell for what nothing reads: derivatives with respect to constants, and marks of calls without a cell.
    spare: Option<u32>,
    /// Trip counts of the loops around.
    pub(super) loops: Vec<u32>,
    /// Whether absent derivatives are tracked.
    pub(super) absence: Absence,
}

impl Derivation {
    /// How many copies of the work space there are besides the values: one per lane for derivatives, one more for their presence if it is tracked.
    pub(super) fn shadows(&self) -> usize {
        if self.absence == Absence::Tracked { 2 * self.lanes } else { self.lanes }
    }

    /// Number of work cells of the derivative.
    fn derived_work(&self) -> Result<usize, Error> {
        let work = self.work * (1 + self.shadows());
        let work = self.spare.map_or(work, |spare| spare as usize + 1);
        if work > u32::MAX as usize / 4 { Err(ErrorKind::TapeOverflow.into()) } else { Ok(work) }
    }

    /// The spare cell, in place of one for the derivative of `address`.
    pub(super) fn spare_for(&mut self, address: &Address) -> Address {
        let cell = (self.work * (1 + self.shadows())) as u32;
        self.spare = Some(cell);
        Address::fixed(Space::Work, cell, address.strides.len())
    }

    /// Clears the spare cell: adding to a number of an earlier run would mix recordings where numbers are recorded.
    fn clear_spare(&self) -> Option<Statement> {
        self.spare.map(|start| Statement::Zero { space: Space::Work, start, length: 1 })
    }

    /// Where the presence of a derivative in a work cell is.
    pub(super) fn presence_of(&self, address: &Address, lane: usize) -> Option<Address> {
        let is_tracked = self.absence == Absence::Tracked && address.space == Space::Work;
        is_tracked.then(|| self.shadow(address, self.lanes + lane))
    }

    /// The derivative of a cell, which is at `address` in the program and at `shadow` for the lane.
    pub(super) fn load(&self, builder: &mut Builder<'_>, address: &Address, shadow: &Address, lane: usize) -> Slope {
        match (shadow.space, self.presence_of(address, lane)) {
            (Space::Constant, _) => Slope::always(builder.constant(1.0)),
            (_, Some(presence)) => {
                let (value, presence) = (builder.load(shadow), builder.load(&presence));
                Slope { value, presence: Presence::If(presence) }
            }
            (Space::Input(_), None) => {
                let value = builder.load(shadow);
                builder.seed(value)
            }
            (Space::Work | Space::Output(_), None) => {
                Slope { value: builder.load(shadow), presence: Presence::Unknown }
            }
        }
    }

    /// The same cells in the work space of a lane.
    fn shadow(&self, address: &Address, lane: usize) -> Address {
        let shift = (self.work * (lane + 1)) as u32;
        let table = address.table.as_ref().map(|table| Arc::from(table.iter().map(|c| c + shift).collect::<Vec<_>>()));
        Address { base: address.base + shift, table, ..address.clone() }
    }

    /// Where the adjoint of a loaded cell is accumulated; `None` if it has none.
    pub(super) fn adjoint_of_loaded(&self, address: &Address, lane: usize) -> Option<Address> {
        match address.space {
            Space::Work => Some(self.shadow(address, lane)),
            Space::Input(i) => {
                let space = Space::Output((self.results[i as usize]? + lane) as u8);
                Some(Address { space, ..address.clone() })
            }
            _ => None,
        }
    }

    /// Where the adjoint of a written cell is loaded.
    pub(super) fn adjoint_of_written(&self, address: &Address, lane: usize) -> Option<Address> {
        match address.space {
            Space::Work => Some(self.shadow(address, lane)),
            Space::Output(o) => {
                if let Some(one) = self.one {
                    return Some(Address::fixed(Space::Constant, one, address.strides.len()));
                }
                let space = Space::Input((self.seeds[o as usize] + lane * self.seeds.len()) as u8);
                Some(Address { space, ..address.clone() })
            }
            _ => None,
        }
    }

    /// The statements, followed by their adjoints. A single nest without counters, which may be long, is written together with its adjoint at
    /// once.
    fn with_adjoint(&mut self, statements: &[Statement]) -> Result<Vec<Statement>, Error> {
        let is_zero = |statement: &Statement| matches!(statement, Statement::Zero { .. });
        if let [zeros @ .., Statement::Nest(nest)] = statements
            && nest.dimensions.is_empty()
            && zeros.iter().all(is_zero)
        {
            let both = self.adjoint_of_nest(nest, true)?;
            return Ok(zeros.iter().cloned().chain([Statement::Nest(both)]).collect());
        }
        let backward = self.adjoint_of(statements)?;
        Ok(statements.iter().cloned().chain(backward).collect())
    }

    fn adjoint_of(&mut self, statements: &[Statement]) -> Result<Vec<Statement>, Error> {
        let mut out = Vec::with_capacity(statements.len());
        for statement in statements.iter().rev() {
            match statement {
                Statement::Zero { .. } => {}
                Statement::Nest(nest) => {
                    let nest = self.adjoint_of_nest(nest, false)?;
                    if !nest.body.is_empty() {
                        out.push(Statement::Nest(nest));
                    }
                }
                Statement::Loop { trip, reversed, body } => {
                    self.loops.push(*trip);
                    let body = self.adjoint_of(body)?;
                    self.loops.pop();
                    if !body.is_empty() {
                        out.push(Statement::Loop { trip: *trip, reversed: !reversed, body });
                    }
                }
                Statement::Call(call) => self.adjoints_of_call(call, &mut out)?,
            }
        }
        Ok(out)
    }

    /// The adjoint of a nest, after the effects of the nest itself if they are asked for.
    fn adjoint_of_nest(&mut self, nest: &Nest, with_effects: bool) -> Result<Nest, Error> {
        let lanes = self.lanes;
        let active = self.activity.results(nest, &nest.trips(&self.loops));
        let mut shared = std::mem::replace(&mut self.shared, Shared::new(Vec::new(), Default::default(), self.absence));
        let mut builder = Builder::new(&mut shared, nest.dimensions.clone(), nest.reversed == with_effects);
        // Values, derivatives of operations, sums.
        builder.reserve(3 * nest.body.len());
        let mut renamed = vec![0u32; nest.body.len()];
        for (i, instruction) in nest.body.iter().enumerate() {
            if with_effects || !instruction.has_effect() {
                renamed[i] = builder.copy(*instruction, &nest.addresses, &renamed);
            }
        }
        let mut adjoints: Vec<Vec<Option<Slope>>> = vec![vec![None; nest.body.len()]; lanes];
        let mut result = Ok(());
        for (lane, adjoints) in adjoints.iter_mut().enumerate() {
            for (i, instruction) in nest.body.iter().enumerate().rev() {
                match *instruction {
                    Instruction::Constant(_) => {}
                    Instruction::Store { value, address } | Instruction::Accumulate { value, address } => {
                        let written = &nest.addresses[address as usize];
                        if active[value as usize]
                            && let Some(shadow) = self.adjoint_of_written(written, lane)
                        {
                            let seed = self.load(&mut builder, written, &shadow, lane);
                            builder.add(&mut adjoints[value as usize], seed);
                        }
                    }
                    Instruction::Load(address) => {
                        let loaded = &nest.addresses[address as usize];
                        if active[i]
                            && let Some(adjoint) = adjoints[i]
                            && let Some(shadow) = self.adjoint_of_loaded(loaded, lane)
                        {
                            builder.accumulate(&shadow, adjoint.value);
                            if let Some(shadow) = self.presence_of(loaded, lane) {
                                let presence = builder.number(adjoint.presence);
                                builder.accumulate(&shadow, presence);
                            }
                        }
                    }
                    Instruction::Apply { op, a, b } => {
                        let Some(adjoint) = adjoints[i] else { continue };
                        let (x, y) = (renamed[a as usize], renamed[b as usize]);
                        let asks = [active[a as usize], active[b as usize]];
                        match builder.pullback(op, [x, y], renamed[i], adjoint, asks) {
                            Ok(terms) => {
                                for (to, term) in [a, b].into_iter().zip(terms) {
                                    if let Some(term) = term {
                                        builder.add(&mut adjoints[to as usize], term);
                                    }
                                }
                            }
                            Err(error) => result = Err(error),
                        }
                    }
                }
            }
        }
        let nest = builder.finish();
        self.shared = shared;
        result.map(|()| nest)
    }

    /// Where the tangent of a cell is.
    pub(super) fn tangent_of_cell(&self, address: &Address, lane: usize) -> Option<Address> {
        match address.space {
            Space::Work => Some(self.shadow(address, lane)),
            Space::Input(0) => match self.one {
                Some(one) => Some(Address::fixed(Space::Constant, one, address.strides.len())),
                None => Some(Address { space: Space::Input((self.seeds[0] + lane) as u8), ..address.clone() }),
            },
            Space::Output(o) => {
                let first = self.results[o as usize]?;
                let space = Space::Output((first + lane * self.results.len()) as u8);
                Some(Address { space, ..address.clone() })
            }
            _ => None,
        }
    }

    fn tangent_of(&mut self, statements: &[Statement]) -> Result<Vec<Statement>, Error> {
        let mut out = Vec::with_capacity(statements.len());
        for statement in statements {
            match statement {
                Statement::Zero { space, start, length } => {
                    out.push(statement.clone());
                    for lane in 0..self.lanes {
                        let cells = self.tangent_of_cell(&Address::fixed(*space, *start, 0), lane);
                        let cells = cells.expect("only work and outputs are cleared");
                        out.push(Statement::Zero { space: cells.space, start: cells.base, length: *length });
                        if let Some(cells) = self.presence_of(&Address::fixed(*space, *start, 0), lane) {
                            out.push(Statement::Zero { space: cells.space, start: cells.base, length: *length });
                        }
                    }
                }
                Statement::Nest(nest) => out.push(Statement::Nest(self.tangent_of_nest(nest)?)),
                Statement::Loop { trip, reversed, body } => {
                    self.loops.push(*trip);
                    let body = self.tangent_of(body)?;
                    self.loops.pop();
                    out.push(Statement::Loop { trip: *trip, reversed: *reversed, body });
                }
                Statement::Call(call) => {
                    // Tangents first: a call may accumulate to cells that its tangent reads.
                    out.push(statement.clone());
                    self.tangents_of_call(call, &mut out)?;
                }
            }
        }
        Ok(out)
    }

    fn tangent_of_nest(&mut self, nest: &Nest) -> Result<Nest, Error> {
        let trips = nest.trips(&self.loops);
        let reaches: Vec<bool> = nest.addresses.iter().map(|address| self.activity.reaches(address, &trips)).collect();
        let mut shared = std::mem::replace(&mut self.shared, Shared::new(Vec::new(), Default::default(), self.absence));
        let mut builder = Builder::new(&mut shared, nest.dimensions.clone(), nest.reversed);
        let mut renamed = vec![0u32; nest.body.len()];
        let mut tangents: Vec<Vec<Option<Slope>>> = vec![vec![None; nest.body.len()]; self.lanes];
        let mut result = Ok(());
        for (i, instruction) in nest.body.iter().enumerate() {
            renamed[i] = builder.copy(*instruction, &nest.addresses, &renamed);
            for (lane, tangents) in tangents.iter_mut().enumerate() {
                let mut sum = None;
                match *instruction {
                    Instruction::Constant(_) => {}
                    Instruction::Load(address)
                    | Instruction::Store { address, .. }
                    | Instruction::Accumulate { address, .. }
                        if !reaches[address as usize] => {}
                    Instruction::Load(address) => {
                        let loaded = &nest.addresses[address as usize];
                        let shadow = self.tangent_of_cell(loaded, lane);
                        sum = shadow.map(|shadow| self.load(&mut builder, loaded, &shadow, lane));
                    }
                    Instruction::Store { value, address } => {
                        let stored = &nest.addresses[address as usize];
                        if let Some(shadow) = self.tangent_of_cell(stored, lane) {
                            let tangent = tangents[value as usize];
                            let value = tangent.map_or_else(|| builder.constant(0.0), |tangent| tangent.value);
                            builder.store(&shadow, value);
                            if let Some(shadow) = self.presence_of(stored, lane) {
                                let presence = match tangent {
                                    Some(tangent) => builder.number(tangent.presence),
                                    None => builder.constant(0.0),
                                };
                                builder.store(&shadow, presence);
                            }
                        }
                    }
                    Instruction::Accumulate { value, address } => {
                        let added = &nest.addresses[address as usize];
                        if let Some(tangent) = tangents[value as usize]
                            && let Some(shadow) = self.tangent_of_cell(added, lane)
                        {
                            builder.accumulate(&shadow, tangent.value);
                            if let Some(shadow) = self.presence_of(added, lane) {
                                let presence = builder.number(tangent.presence);
                                builder.accumulate(&shadow, presence);
                            }
                        }
                    }
                    Instruction::Apply { op, a, b } => {
                        let (x, y) = (renamed[a as usize], renamed[b as usize]);
                        let (dx, dy) = (tangents[a as usize], tangents[b as usize]);
                        match op {
                            Op::Unary(_) | Op::Binary(_) => {
                                let arguments = if matches!(op, Op::Unary(_)) { 1 } else { 2 };
                                for (argument, tangent) in [dx, dy].into_iter().enumerate().take(arguments) {
                                    let Some(tangent) = tangent else { continue };
                                    match builder.partial(op, x, y, renamed[i], argument) {
                                        Ok(partial) => {
                                            if let Some(term) = builder.times(tangent, partial) {
                                                builder.add(&mut sum, term);
                                            }
                                        }
                                        Err(error) => result = Err(error),
                                    }
                                }
                            }
                            Op::Keep | Op::Drop => sum = dy.map(|dy| builder.chosen(op, x, dy)),
                            _ => {}
                        }
                    }
                }
                tangents[i] = sum;
            }
        }
        let nest = builder.finish();
        self.shared = shared;
        result.map(|()| nest)
    }
}
