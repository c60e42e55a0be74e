//! Derivatives of programs: the adjoint, and the tangent.
//!
//! Called by users of [`Program`]. Both work statement by statement: the adjoint of a nest is a nest over the same iterations,
//! run backwards, whose body computes the forward values again and then the adjoints; a load becomes an accumulation to the
//! adjoint of the cell, a store or accumulation becomes a load of it. Partial derivatives are those of the rule table.

use crate::activity::Activity;
use crate::build::Builder;
use crate::custom::Half;
use crate::expressions::{Expressions, Shared};
use crate::graph::Op;
use crate::program::*;
use crate::rule::PLUS;
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

    /// The program that computes the output and its gradient, if there is one output: the adjoint with the cotangent 1.
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
        let mut shared = Shared::new(self.constants.clone(), self.rules.clone());
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
        };
        derivation.results.resize(self.inputs.len(), None);
        let mut outputs = self.outputs.clone();
        outputs.extend(std::iter::repeat_n(self.inputs[0], lanes));
        if inputs.len() > 255 || outputs.len() > 255 {
            return Err(ErrorKind::TapeOverflow.into());
        }
        let backward = derivation.adjoint_of(&self.statements)?;
        let mut work = self.work * (1 + lanes);
        if let Some(spare) = derivation.spare {
            work = work.max(spare as usize + 1);
        }
        if work > u32::MAX as usize / 4 {
            return Err(ErrorKind::TapeOverflow.into());
        }
        let mut statements = Vec::new();
        for lane in 0..lanes {
            let space = Space::Output((self.outputs.len() + lane) as u8);
            statements.push(Statement::Zero { space, start: 0, length: self.inputs[0] as u32 });
        }
        if self.work > 0 {
            let length = (self.work * lanes) as u32;
            statements.push(Statement::Zero { space: Space::Work, start: self.work as u32, length });
        }
        statements.extend(self.statements.iter().cloned());
        statements.extend(backward);
        let program = Program {
            constants: derivation.shared.constants,
            rules: derivation.shared.rules,
            inputs,
            outputs,
            work,
            statements,
            places: self.places.clone(),
        };
        Ok(program.optimized())
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
        let mut derivation = Derivation {
            shared: Shared::new(self.constants.clone(), self.rules.clone()),
            activity: Activity::new(&self.statements),
            work: self.work,
            lanes,
            one: None,
            seeds: vec![self.inputs.len()],
            results: (0..self.outputs.len()).map(|o| Some(self.outputs.len() + o)).collect(),
            spare: None,
            loops: Vec::new(),
        };
        let mut inputs = self.inputs.clone();
        let mut outputs = self.outputs.clone();
        for _ in 0..lanes {
            inputs.push(self.inputs[0]);
            outputs.extend(&self.outputs);
        }
        let work = self.work * (1 + lanes);
        if inputs.len() > 255 || outputs.len() > 255 || work > u32::MAX as usize / 4 {
            return Err(ErrorKind::TapeOverflow.into());
        }
        let statements = derivation.tangent_of(&self.statements)?;
        let program = Program {
            constants: derivation.shared.constants,
            rules: derivation.shared.rules,
            inputs,
            outputs,
            work,
            statements,
            places: self.places.clone(),
        };
        Ok(program.optimized())
    }
}

/// How the spaces of a program map to those of its derivative.
struct Derivation {
    shared: Shared,
    /// What has a derivative.
    activity: Activity,
    /// Work cells of the program; those of lane `l` of the derivative follow after `(l + 1)` times as many.
    work: usize,
    lanes: usize,
    /// Input slices with the seeds of lane 0, if there are any.
    seeds: Vec<usize>,
    /// Output slices with the results of lane 0, per input (adjoint) or output (tangent).
    results: Vec<Option<usize>>,
    /// The constant 1, if that is the cotangent.
    one: Option<u32>,
    /// A cell for what nobody wants.
    spare: Option<u32>,
    /// Trip counts of the loops around.
    loops: Vec<u32>,
}

impl Derivation {
    /// Whether a call depends on the first input slice.
    fn is_active(&self, call: &RuleCall) -> bool {
        call.arguments.iter().any(|argument| self.activity.reaches(argument, &self.loops))
    }

    /// The same cells in the work space of a lane.
    fn shadow(&self, address: &Address, lane: usize) -> Address {
        let shift = (self.work * (lane + 1)) as u32;
        let table = address.table.as_ref().map(|table| Arc::from(table.iter().map(|c| c + shift).collect::<Vec<_>>()));
        Address { base: address.base + shift, table, ..address.clone() }
    }

    /// Where the adjoint of a cell that is loaded is accumulated; nothing if it has none.
    fn adjoint_of_loaded(&self, address: &Address, lane: usize) -> Option<Address> {
        match address.space {
            Space::Work => Some(self.shadow(address, lane)),
            Space::Input(i) => {
                let space = Space::Output((self.results[i as usize]? + lane) as u8);
                Some(Address { space, ..address.clone() })
            }
            _ => None,
        }
    }

    /// Where the adjoint of a cell that is written is loaded.
    fn adjoint_of_written(&self, address: &Address, lane: usize) -> Option<Address> {
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

    fn adjoint_of(&mut self, statements: &[Statement]) -> Result<Vec<Statement>, Error> {
        let mut out = Vec::with_capacity(statements.len());
        for statement in statements.iter().rev() {
            match statement {
                Statement::Zero { .. } => {}
                Statement::Nest(nest) => {
                    let nest = self.adjoint_of_nest(nest)?;
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
                Statement::Call(call) if self.is_active(call) => {
                    for lane in 0..self.lanes {
                        out.push(Statement::Call(self.adjoint_of_call(call, lane)?));
                    }
                }
                Statement::Call(_) => {}
            }
        }
        Ok(out)
    }

    fn adjoint_of_call(&mut self, call: &RuleCall, lane: usize) -> Result<RuleCall, Error> {
        if call.half != Half::Value {
            return Err(ErrorKind::RuleOrder { rule: call.rule.name() }.into());
        }
        let mut arguments = call.arguments.clone();
        arguments.extend(call.results.iter().cloned());
        arguments.extend(call.results.iter().filter_map(|result| self.adjoint_of_written(result, lane)));
        let spare_cell = (self.work * (1 + self.lanes)) as u32;
        let mut results = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            results.push(match self.adjoint_of_loaded(argument, lane) {
                Some(address) => address,
                None => {
                    self.spare = Some(spare_cell);
                    Address::fixed(Space::Work, spare_cell, argument.strides.len())
                }
            });
        }
        Ok(RuleCall { half: Half::Pullback, arguments, results, accumulate: true, ..call.clone() })
    }

    fn adjoint_of_nest(&mut self, nest: &Nest) -> Result<Nest, Error> {
        let lanes = self.lanes;
        let active = self.activity.results(nest, &nest.trips(&self.loops));
        let mut shared = std::mem::replace(&mut self.shared, Shared::new(Vec::new(), Default::default()));
        let mut builder = Builder::new(&mut shared, nest.dimensions.clone(), !nest.reversed);
        let mut renamed = vec![0u32; nest.body.len()];
        for (i, instruction) in nest.body.iter().enumerate() {
            if !instruction.has_effect() {
                renamed[i] = builder.copy(*instruction, &nest.addresses, &renamed);
            }
        }
        let mut adjoints: Vec<Vec<Option<u32>>> = vec![vec![None; nest.body.len()]; lanes];
        let mut result = Ok(());
        for (lane, adjoints) in adjoints.iter_mut().enumerate() {
            for (i, instruction) in nest.body.iter().enumerate().rev() {
                match *instruction {
                    Instruction::Constant(_) => {}
                    Instruction::Store { value, address } | Instruction::Accumulate { value, address } => {
                        if active[value as usize]
                            && let Some(address) = self.adjoint_of_written(&nest.addresses[address as usize], lane)
                        {
                            let seed = match address.space {
                                Space::Constant => builder.constant(1.0),
                                _ => builder.load(&address),
                            };
                            builder.add(&mut adjoints[value as usize], seed);
                        }
                    }
                    Instruction::Load(address) => {
                        if active[i]
                            && let Some(adjoint) = adjoints[i]
                            && let Some(address) = self.adjoint_of_loaded(&nest.addresses[address as usize], lane)
                        {
                            builder.accumulate(&address, adjoint);
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
    fn tangent_of_cell(&self, address: &Address, lane: usize) -> Option<Address> {
        match address.space {
            Space::Work => Some(self.shadow(address, lane)),
            Space::Input(0) => Some(Address { space: Space::Input((self.seeds[0] + lane) as u8), ..address.clone() }),
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
                    for lane in 0..if self.is_active(call) { self.lanes } else { 0 } {
                        out.push(Statement::Call(self.tangent_of_call(call, lane)?));
                    }
                }
            }
        }
        Ok(out)
    }

    fn tangent_of_call(&mut self, call: &RuleCall, lane: usize) -> Result<RuleCall, Error> {
        let zero = self.shared.constant(0.0);
        let tangent = |argument: &Address| match self.activity.reaches(argument, &self.loops) {
            true => self.tangent_of_cell(argument, lane),
            false => None,
        };
        let zero = Address::fixed(Space::Constant, zero, self.loops.len());
        let tangents: Vec<Address> =
            call.arguments.iter().map(|argument| tangent(argument).unwrap_or_else(|| zero.clone())).collect();
        let mut arguments = call.arguments.clone();
        let half = match call.half {
            Half::Value => {
                arguments.extend(call.results.iter().cloned());
                Half::Pushforward
            }
            Half::Pushforward => Half::PushforwardTangent,
            Half::Pullback => Half::PullbackTangent,
            _ => return Err(ErrorKind::RuleOrder { rule: call.rule.name() }.into()),
        };
        arguments.extend(tangents);
        let results = call.results.iter().filter_map(|result| self.tangent_of_cell(result, lane)).collect();
        Ok(RuleCall { half, arguments, results, ..call.clone() })
    }

    fn tangent_of_nest(&mut self, nest: &Nest) -> Result<Nest, Error> {
        let trips = nest.trips(&self.loops);
        let reaches: Vec<bool> = nest.addresses.iter().map(|address| self.activity.reaches(address, &trips)).collect();
        let mut shared = std::mem::replace(&mut self.shared, Shared::new(Vec::new(), Default::default()));
        let mut builder = Builder::new(&mut shared, nest.dimensions.clone(), nest.reversed);
        let mut renamed = vec![0u32; nest.body.len()];
        let mut tangents: Vec<Vec<Option<u32>>> = vec![vec![None; nest.body.len()]; self.lanes];
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
                        let address = self.tangent_of_cell(&nest.addresses[address as usize], lane);
                        sum = address.map(|address| builder.load(&address));
                    }
                    Instruction::Store { value, address } => {
                        if let Some(address) = self.tangent_of_cell(&nest.addresses[address as usize], lane) {
                            let tangent = tangents[value as usize].unwrap_or_else(|| builder.constant(0.0));
                            builder.store(&address, tangent);
                        }
                    }
                    Instruction::Accumulate { value, address } => {
                        if let Some(tangent) = tangents[value as usize]
                            && let Some(address) = self.tangent_of_cell(&nest.addresses[address as usize], lane)
                        {
                            builder.accumulate(&address, tangent);
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
                            Op::Keep | Op::Drop => sum = dy.map(|dy| builder.apply(op, x, dy)),
                            Op::Chain => {
                                let by_first = dx.map(|dx| builder.apply(Op::Chain, dx, y));
                                let by_second = dy.map(|dy| builder.apply(Op::Chain, x, dy));
                                sum = match (by_first, by_second) {
                                    (Some(p), Some(q)) => Some(builder.apply(Op::Binary(PLUS), p, q)),
                                    (p, q) => p.or(q),
                                };
                            }
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
