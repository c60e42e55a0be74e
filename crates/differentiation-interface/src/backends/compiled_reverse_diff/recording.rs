//! One recording of a function, compiled: the programs for its value, its pullbacks and its pushforwards, and their
//! pushforwards.
//!
//! Immutable and shared by all copies of a preparation, on all threads; made when a program is first asked for.
//!
//! Programs treat a derivative that is absent as the zero it is in memory, which is right but where it meets a factor that is not finite.
//! Where results are not numbers, the programs that track absent derivatives are asked, and from then on if they know better.

mod programs;

use super::asked::Asked;
#[cfg(feature = "native")]
use compiled_trace::native;
use compiled_trace::{Absence, Executable, Graph, Place, Program, RunError, Single, Workspace, compile};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::scalar::{Base, Scalar};
use programs::{ALIKE, MOST_INPUTS, MOST_OUTPUTS, Made, Programs};
pub(super) use programs::{Kind, LANES, Which};
use std::num::NonZeroU32;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

/// A recording with its programs.
#[derive(Debug)]
pub(super) struct Recording {
    program: Program,
    /// The program of the entries asked for, where it is better than products.
    entries: Option<Program>,
    /// What the program of the entries is made of again where absent derivatives are tracked, if that is another one.
    entries_source: Option<(Graph, Asked)>,
    programs: Programs,
    tracking: OnceLock<Box<Programs>>,
    /// Length of the point.
    pub(super) inputs: usize,
    /// Number of outputs.
    pub(super) outputs: usize,
    /// Number of parameters, without the constants that have become some.
    pub(super) parameters: usize,
    /// Lengths of the contexts.
    pub(super) lengths: Vec<usize>,
    /// What later recordings are compared with, where constants may change unseen.
    source: Option<Source>,
    /// Whether it has no guards, and so is right for the call it was made in alone.
    pub(super) once: bool,
}

/// The recording as it was made, and the places of the constants that are parameters of the programs.
#[derive(Debug)]
struct Source {
    graph: Arc<Graph>,
    places: Vec<Place>,
}

impl Recording {
    /// Compiles a recording of a function whose constants never change.
    pub(super) fn new(graph: &Graph, lengths: &[usize], asked: &Asked) -> Result<Recording, Error> {
        Recording::of(graph, graph.parameters(), lengths, asked, None)
    }

    /// Compiles a recording for the point it was made at. Sums are added in another order than the function does, so that a
    /// comparison of numbers that differ by rounding may come out differently there.
    pub(super) fn once(graph: &Graph, lengths: &[usize], asked: &Asked) -> Result<Recording, Error> {
        let recording = Recording::of(&graph.without_guards(), graph.parameters(), lengths, asked, None)?;
        Ok(Recording { once: true, ..recording })
    }

    /// Compiles a recording that later ones will be compared with, which says more than guards do.
    pub(super) fn comparable(graph: &Graph, lengths: &[usize], asked: &Asked) -> Result<Recording, Error> {
        let source = Source { graph: Arc::new(graph.clone()), places: Vec::new() };
        Recording::of(&graph.without_guards(), graph.parameters(), lengths, asked, Some(source))
    }

    fn of(
        graph: &Graph,
        parameters: usize,
        lengths: &[usize],
        asked: &Asked,
        source: Option<Source>,
    ) -> Result<Recording, Error> {
        let program = compile(graph)?;
        let entries = asked.program(graph, &program);
        let is_doubtful = entries.as_ref().is_some_and(|entries| entries.absence == Absence::Doubtful);
        Ok(Recording {
            entries,
            entries_source: is_doubtful.then(|| (graph.clone(), asked.clone())),
            program,
            programs: Programs::default(),
            tracking: OnceLock::new(),
            inputs: graph.inputs(),
            outputs: graph.outputs().len(),
            parameters,
            lengths: lengths.to_vec(),
            source,
            once: false,
        })
    }

    /// Whether a new recording does the same on other constants. Leaves in `more` the places of those that differ and are not
    /// parameters yet.
    pub(super) fn compare(&self, graph: &Graph, more: &mut Vec<Place>) -> bool {
        more.clear();
        let Some(source) = &self.source else { return false };
        let mut known = source.places.iter().peekable();
        source.graph.compare(graph, |place| {
            while known.next_if(|known| **known < place).is_some() {}
            if known.peek() != Some(&&place) {
                more.push(place);
            }
        })
    }

    /// The place in the user's code where another recording first decides otherwise; none if it differs in something else.
    pub(super) fn parts_from(&self, graph: &Graph) -> Option<&'static Location<'static>> {
        self.source.as_ref()?.graph.parts_from(graph)
    }

    /// Appends the values in `graph` of the constants that are parameters.
    pub(super) fn constants(&self, graph: &Graph, values: &mut Vec<f64>) {
        if let Some(source) = &self.source {
            graph.constants_at(&source.places, values);
        }
    }

    /// The same with more parameters: these constants the first time, all of them the second time.
    pub(super) fn widened(&self, more: &[Place], asked: &Asked) -> Result<Recording, Error> {
        let Some(Source { graph, places }) = &self.source else { return Err(ErrorKind::ForeignNumber.into()) };
        let places = if places.is_empty() { more.to_vec() } else { graph.places_of_constants() };
        let wide = graph.without_guards().with_parameters_at(&places)?;
        let source = Source { graph: Arc::clone(graph), places };
        Recording::of(&wide, self.parameters, &self.lengths, asked, Some(source))
    }

    /// Whether there is a program of the entries asked for.
    #[inline]
    pub(super) fn has_entries(&self) -> bool {
        self.entries.is_some()
    }

    /// Whether it was made for points and contexts of these lengths.
    #[inline]
    pub(super) fn fits(&self, inputs: usize, parameters: usize, lengths: &[usize]) -> bool {
        !self.once && self.inputs == inputs && self.parameters == parameters && self.is_for(lengths)
    }

    /// Whether it was made for contexts of these lengths.
    #[inline]
    pub(super) fn is_for(&self, lengths: &[usize]) -> bool {
        // Not `==`, which calls `memcmp`: that of glibc for AVX-512 takes 80 ns for empty vectors, whose pointers point nowhere
        // (a masked load from an unmapped page), and they are empty where there are no contexts.
        self.lengths.iter().eq(lengths)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn programs(&self, which: Which) -> &Programs {
        if which.tracks { self.tracking.get_or_init(Box::default) } else { &self.programs }
    }

    #[inline]
    fn executable(&self, which: Which) -> Result<&Made<Executable>, Failure> {
        match self.programs(which).executable(which) {
            Some(made) => Ok(made),
            None => self.new_executable(which),
        }
    }

    #[cold]
    #[inline(never)]
    fn new_executable(&self, which: Which) -> Result<&Made<Executable>, Failure> {
        Ok(self.programs(which).make_executable(which, self.program_of(which)?))
    }

    fn program_of(&self, which: Which) -> Result<Program, Error> {
        let tracking;
        let value = if which.tracks {
            tracking = self.program.tracking_absent();
            &tracking
        } else {
            &self.program
        };
        let program = match which.kind {
            Kind::Value => value.clone(),
            Kind::Gradient => value.gradient()?,
            Kind::Pullback => value.adjoint(1)?,
            Kind::Pullbacks => value.adjoint(LANES)?,
            Kind::Pushforward => value.tangent(1)?,
            Kind::Pushforwards => value.tangent(LANES)?,
            Kind::Entries => self.program_of_entries(which.tracks)?,
        };
        if which.tangents == 0 { Ok(program) } else { program.tangent(which.tangents) }
    }

    fn program_of_entries(&self, tracks: bool) -> Result<Program, Error> {
        let entries = self.entries.as_ref().ok_or(ErrorKind::ForeignNumber)?;
        let again = || {
            let (graph, asked) = self.entries_source.as_ref()?;
            asked.program_of_any_length(&graph.tracking_absent())
        };
        Ok(match tracks {
            true => again().unwrap_or_else(|| entries.tracking_absent()),
            false => entries.clone(),
        })
    }

    /// The machine code, unless it is refused: then the portable executor runs the program.
    #[cfg(feature = "native")]
    #[inline]
    fn code(&self, which: Which) -> Result<Option<&Made<native::Compiled<f64>>>, Failure> {
        match self.programs(which).code(which) {
            Some(made) => Ok(made.as_ref()),
            None => self.new_code(which),
        }
    }

    #[cfg(feature = "native")]
    #[cold]
    #[inline(never)]
    fn new_code(&self, which: Which) -> Result<Option<&Made<native::Compiled<f64>>>, Failure> {
        Ok(self.programs(which).make_code(which, self.program_of(which)?))
    }
}

/// The program of the gradient if it is a small one, on plain numbers and with memory of its own: for ten inputs, looking things up
/// takes longer than computing.
#[derive(Clone, Debug)]
enum Small<B: Base> {
    #[cfg(feature = "native")]
    Code(native::Single<f64, 2, 2>),
    List(Single<B, 2, 2>),
}

impl<B: Base> Small<B> {
    /// Of a recording whose gradient has been run.
    fn of(recording: &Recording, tracks: bool) -> Option<Made<Small<B>>> {
        let which = Which { kind: Kind::Gradient, tangents: 0, tracks };
        let programs = recording.programs(which);
        #[cfg(feature = "native")]
        if B::as_doubles(&[]).is_some()
            && let Some(Some(made)) = programs.code(which)
        {
            let code = Small::Code(made.code.single()?);
            return Some(Made { code, is_doubtful: made.is_doubtful });
        }
        let made = programs.executable(which)?;
        Some(Made { code: Small::List(made.code.single()?), is_doubtful: made.is_doubtful })
    }

    /// Whether there is an answer; otherwise the outputs are without meaning.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(&mut self, inputs: &[&[B]; 2], outputs: &mut [&mut [B]; 2]) -> bool {
        match self {
            #[cfg(feature = "native")]
            Small::Code(code) => {
                let (Some(inputs), Some(outputs)) = (B::as_doubles(inputs), B::as_doubles_mut(outputs)) else {
                    return false;
                };
                match (inputs.try_into(), outputs.try_into()) {
                    (Ok(inputs), Ok(outputs)) => code.run(inputs, outputs),
                    _ => false,
                }
            }
            Small::List(list) => list.run(inputs, outputs),
        }
    }
}

/// The memory that programs run in on plain numbers.
#[derive(Clone, Debug, Default)]
struct Plain<B: Base> {
    /// Whether the programs that track absent derivatives run.
    tracks: bool,
    workspaces: [[Option<Box<Workspace<B>>>; ALIKE]; 2],
    #[cfg(feature = "native")]
    native: native::Workspace<f64>,
}

impl<B: Base> Plain<B> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(
        &mut self,
        recording: &Recording,
        which: Which,
        inputs: &[&[B]],
        outputs: &mut [&mut [B]],
    ) -> Result<(), Failure> {
        let which = Which { tracks: self.tracks, ..which };
        let is_doubtful = self.run_once(recording, which, inputs, outputs)?;
        if is_doubtful && which.is_spoilt(outputs) {
            self.run_tracking(recording, which, inputs, outputs)
        } else {
            Ok(())
        }
    }

    /// Runs the program that tracks absent derivatives, after one that does not and has given results that are not numbers.
    #[cold]
    #[inline(never)]
    fn run_tracking(
        &mut self,
        recording: &Recording,
        which: Which,
        inputs: &[&[B]],
        outputs: &mut [&mut [B]],
    ) -> Result<(), Failure> {
        self.run_once(recording, Which { tracks: true, ..which }, inputs, outputs)?;
        self.tracks = !which.is_spoilt(outputs);
        Ok(())
    }

    /// Runs a program and tells whether results that are not numbers are doubtful.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_once(
        &mut self,
        recording: &Recording,
        which: Which,
        inputs: &[&[B]],
        outputs: &mut [&mut [B]],
    ) -> Result<bool, Failure> {
        #[cfg(feature = "native")]
        if let Some(done) = self.run_natively(recording, which, inputs, outputs) {
            return done;
        }
        self.interpret(recording, which, inputs, outputs)
    }

    #[inline(never)]
    fn interpret(
        &mut self,
        recording: &Recording,
        which: Which,
        inputs: &[&[B]],
        outputs: &mut [&mut [B]],
    ) -> Result<bool, Failure> {
        let Made { code, is_doubtful } = recording.executable(which)?;
        let workspace = which.place_in(&mut self.workspaces).get_or_insert_with(|| Box::new(code.workspace()));
        code.run(workspace, inputs, outputs).map_err(Failure::Invalid)?;
        Ok(*is_doubtful)
    }

    /// Runs machine code, if the numbers are doubles and there is such code.
    #[cfg(feature = "native")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_natively(
        &mut self,
        recording: &Recording,
        which: Which,
        inputs: &[&[B]],
        outputs: &mut [&mut [B]],
    ) -> Option<Result<bool, Failure>> {
        let (inputs, outputs) = (B::as_doubles(inputs)?, B::as_doubles_mut(outputs)?);
        match recording.code(which) {
            Ok(made) => {
                let Made { code, is_doubtful } = made?;
                let done = code.run(&mut self.native, inputs, outputs).map_err(Failure::Invalid);
                Some(done.map(|()| *is_doubtful))
            }
            Err(failure) => Some(Err(failure)),
        }
    }
}

/// Numbers with tangents, taken apart.
#[derive(Clone, Debug, Default)]
struct Apart<B> {
    /// The values of all arguments, one after the other, and the tangents of the point, lane by lane.
    arguments: Vec<B>,
    /// The values of all results, and their tangents, lane by lane.
    results: Vec<B>,
}

/// A recording with the memory of one thread.
#[derive(Clone, Debug)]
pub(super) struct Held<S: Scalar> {
    pub(super) recording: Arc<Recording>,
    /// If it has been run and is small, and later calls may run it; and whether it tracks absent derivatives.
    gradient: Option<Small<S::Base>>,
    gradient_is_doubtful: bool,
    gradient_tracks: bool,
    plain: Plain<S::Base>,
    apart: Apart<S::Base>,
    workspaces: [[Option<Box<Workspace<S>>>; ALIKE]; 2],
}

/// Why a recording did not give the answer.
pub(super) enum Failure {
    /// It is not valid at this point, or it has other sizes.
    Invalid(RunError),
    /// The result has another size than the place it goes to, which means something only where the recording is valid.
    Size(ErrorKind),
    /// There is no such program.
    Error(Error),
}

impl From<ErrorKind> for Failure {
    #[cold]
    fn from(kind: ErrorKind) -> Failure {
        Failure::Size(kind)
    }
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

impl<S: Scalar> Held<S> {
    pub(super) fn new(recording: Arc<Recording>) -> Self {
        Held {
            recording,
            gradient: None,
            gradient_is_doubtful: false,
            gradient_tracks: false,
            plain: Plain::default(),
            apart: Apart::default(),
            workspaces: Default::default(),
        }
    }

    /// Whether there is a small program of the gradient.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn has_small_gradient(&self) -> bool {
        self.gradient.is_some()
    }

    /// Runs the program of the gradient if it is small, and tells whether there is an answer. If not, [`run`](Self::run) gives it, or
    /// tells why. Only lengths of contexts must have been compared.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn small_gradient(&mut self, inputs: &[&[S]; 2], outputs: &mut [&mut [S]; 2]) -> bool {
        let Some(small) = &mut self.gradient else { return false };
        let (Some(inputs), Some(outputs)) = (S::as_plain(inputs), S::as_plain_mut(outputs)) else { return false };
        match (inputs.try_into(), outputs.try_into()) {
            (Ok(inputs), Ok(outputs)) => {
                let outputs: &mut [&mut [S::Base]; 2] = outputs;
                let is_doubtful = self.gradient_is_doubtful;
                small.run(inputs, outputs) && !(is_doubtful && Which::of(Kind::Gradient, 0).is_spoilt(outputs))
            }
            _ => false,
        }
    }

    /// Runs the program of the gradient, small or not.
    pub(super) fn gradient(&mut self, inputs: &[&[S]; 2], outputs: &mut [&mut [S]; 2]) -> Result<(), Failure> {
        self.run(Which::of(Kind::Gradient, 0), inputs, outputs)?;
        let is_of_use = self.gradient.is_some() && self.gradient_tracks == self.plain.tracks;
        if !is_of_use && !self.recording.once && S::as_plain(&[]).is_some() {
            self.gradient_tracks = self.plain.tracks;
            self.gradient = Small::of(&self.recording, self.plain.tracks).map(|made| {
                self.gradient_is_doubtful = made.is_doubtful;
                made.code
            });
        }
        Ok(())
    }

    /// Runs a program. `inputs` are the point, the parameters, the seeds and the tangents of the point; `outputs` the outputs
    /// and the products, and the tangents of both.
    ///
    /// On plain numbers as it is. On dual numbers over plain ones its pushforward runs on their parts. On all other numbers
    /// its operations are done one by one, which is slower than a tape.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn run(&mut self, which: Which, inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Result<(), Failure> {
        if let Some(done) = self.run_plain(which, inputs, outputs) {
            return done;
        }
        self.run_otherwise(which, inputs, outputs)
    }

    /// The same on numbers that are not plain.
    #[inline(never)]
    fn run_otherwise(&mut self, which: Which, inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Result<(), Failure> {
        if which.tangents == 0
            && let Some(done) = self.run_apart(which.kind, inputs, outputs)
        {
            return done;
        }
        // Numbers of other engines carry derivatives that are not seen here.
        let which = Which { tracks: true, ..which };
        let Made { code, .. } = self.recording.executable(which)?;
        let workspace = which.place_in(&mut self.workspaces).get_or_insert_with(|| Box::new(code.workspace()));
        code.run(workspace, inputs, outputs).map_err(Failure::Invalid)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_plain(&mut self, which: Which, inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Option<Result<(), Failure>> {
        let (inputs, outputs) = (S::as_plain(inputs)?, S::as_plain_mut(outputs)?);
        Some(self.plain.run(&self.recording, which, inputs, outputs))
    }

    /// Runs the program's pushforward, if the numbers are dual ones and only those of the point have tangents, all by one
    /// differentiation.
    fn run_apart(&mut self, kind: Kind, inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Option<Result<(), Failure>> {
        let lanes = S::tangent_lanes();
        if lanes == 0 {
            return None;
        }
        let mut marks = inputs[0].iter().filter_map(S::tangent_mark);
        let mark = marks.next();
        let others_have_none = inputs[1..].iter().all(|slice| slice.iter().all(|v| v.tangent_mark().is_none()));
        if !others_have_none || marks.any(|other| Some(other) != mark) {
            return None;
        }
        Some(self.run_with_tangents(kind, inputs, outputs, mark, lanes))
    }

    fn run_with_tangents(
        &mut self,
        kind: Kind,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
        mark: Option<NonZeroU32>,
        lanes: usize,
    ) -> Result<(), Failure> {
        let zero = S::Base::ZERO;
        let point = inputs[0];
        let width = match (mark, lanes) {
            (None, _) => 0,
            (Some(_), 1) => 1,
            (Some(_), _) => LANES,
        };
        let padded = if width == 0 { 0 } else { lanes.next_multiple_of(width) };
        let Apart { arguments, results } = &mut self.apart;
        arguments.clear();
        arguments.extend(inputs.iter().flat_map(|slice| slice.iter().map(S::peek)));
        let values = arguments.len();
        for lane in 0..padded {
            let tangent = |v: &S| if lane < lanes { v.tangent(lane) } else { zero };
            arguments.extend(point.iter().map(tangent));
        }
        let stride: usize = outputs.iter().map(|slice| slice.len()).sum();
        results.clear();
        results.resize(stride * (1 + padded), zero);

        let (values, tangents) = arguments.split_at(values);
        let (result_values, result_tangents) = results.split_at_mut(stride);
        let mut first = 0;
        loop {
            let mut plain_inputs: [&[S::Base]; MOST_INPUTS] = Default::default();
            let mut plain_outputs: [&mut [S::Base]; MOST_OUTPUTS] = Default::default();
            let mut rest = values;
            for (plain, slice) in plain_inputs.iter_mut().zip(inputs) {
                (*plain, rest) = rest.split_at(slice.len());
            }
            for lane in 0..width {
                plain_inputs[inputs.len() + lane] = &tangents[(first + lane) * point.len()..][..point.len()];
            }
            let mut slots = plain_outputs.iter_mut();
            cut(result_values, outputs, &mut slots);
            let mut rest = &mut result_tangents[first * stride..];
            for _ in 0..width {
                let lane;
                (lane, rest) = rest.split_at_mut(stride);
                cut(lane, outputs, &mut slots);
            }
            let which = Which::of(kind, width);
            let (inputs, outputs) = (inputs.len() + width, outputs.len() * (1 + width));
            self.plain.run(&self.recording, which, &plain_inputs[..inputs], &mut plain_outputs[..outputs])?;
            first += width;
            if first >= padded {
                break;
            }
        }

        let mut offset = 0;
        for slice in outputs {
            for number in slice.iter_mut() {
                let value = result_values[offset];
                *number = match mark {
                    Some(mark) => S::with_tangents(value, mark, |lane| result_tangents[lane * stride + offset]),
                    None => S::constant(value),
                };
                offset += 1;
            }
        }
        Ok(())
    }
}

/// Cuts a slice into slots as long as the slices of `like`.
fn cut<'a, 's, B: 'a, S>(
    mut whole: &'a mut [B],
    like: &[&mut [S]],
    slots: &mut impl Iterator<Item = &'s mut &'a mut [B]>,
) where
    'a: 's,
{
    for (slice, slot) in like.iter().zip(slots) {
        (*slot, whole) = whole.split_at_mut(slice.len());
    }
}

#[cfg(test)]
mod tests;
