//! One recording of a function, compiled: the programs for its value, its pullbacks and its pushforwards, and their
//! pushforwards.
//!
//! Immutable and shared by all clones of a preparation, on all threads; each program is made on first use.
//!
//! Programs store an absent derivative as zero, which is correct unless it is multiplied by a factor that is not finite. If results
//! are NaN, the programs that track absent derivatives run; if these return numbers, later calls run them at once.

mod measure;
mod programs;

use super::requested::{Instead, RequestedEntries};
use compiled_trace::native;
use compiled_trace::{Absence, Executable, Graph, Place, Program, Recorder, RunError, compile};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::recordings::{Recordable, Words};
use differentiation_interface_core::scalar::Base;
pub(in crate::backends) use measure::{Measure, Task};
pub(in crate::backends) use programs::LANES;
use programs::Programs;
pub(super) use programs::{Filling, KEYS, Kind, MOST_INPUTS, MOST_OUTPUTS, Made, ProgramKey};
use std::panic::Location;
use std::sync::{Arc, OnceLock};

/// A recording with its programs.
#[derive(Debug)]
pub(super) struct Recording {
    program: Program,
    /// The program of the requested entries, or what takes its place.
    entries: Result<Program, Instead>,
    /// The time that compiling the requested entries has taken, in that of an operation on a tape, if it was to be afforded.
    pub(super) price_of_entries: u64,
    /// The source of the entry program that tracks absent derivatives, if that is another program, and of one that is to be compiled later.
    entries_source: Option<(Graph, RequestedEntries)>,
    programs: Programs,
    tracking: OnceLock<Box<Programs>>,
    /// Length of the point.
    pub(super) inputs: usize,
    /// Number of outputs.
    pub(super) outputs: usize,
    /// Number of parameters, without constants that have become parameters.
    pub(super) parameters: usize,
    /// Lengths of the contexts.
    pub(super) lengths: Vec<u64>,
    /// For comparison with later recordings, if constants may change.
    source: Option<Source>,
    /// Whether it has no guards, and so is valid only for the call that made it.
    pub(super) once: bool,
    /// On how many threads its machine code runs large loops; 0 for loops that are not divided.
    threads: usize,
}

/// The original recording, and the places of the constants that are parameters of the programs.
#[derive(Clone, Debug)]
struct Source {
    graph: Arc<Graph>,
    places: Vec<Place>,
    /// Whether the programs check its guards.
    is_guarded: bool,
}

impl Recording {
    /// Compiles a recording of a function whose constants never change.
    pub(super) fn new<B: Base>(
        recorder: &mut Recorder<B>,
        lengths: &[u64],
        requested: &RequestedEntries,
    ) -> Result<Recording, Error> {
        let graph = recorder.graph();
        let (inputs, outputs, parameters) = (graph.inputs(), graph.outputs().len(), graph.parameters());
        if requested.reads_graph(inputs, outputs) {
            return Recording::of(recorder.unfold(), parameters, lengths, requested, None);
        }
        Ok(Recording {
            program: recorder.compile()?,
            entries: Err(Instead::Products),
            price_of_entries: 0,
            entries_source: None,
            programs: Programs::default(),
            tracking: OnceLock::new(),
            inputs,
            outputs,
            parameters,
            lengths: lengths.to_vec(),
            source: None,
            once: false,
            threads: 0,
        })
    }

    /// The same on up to so many threads.
    pub(super) fn on_threads(self, threads: usize) -> Recording {
        Recording { threads, ..self }
    }

    /// Compiles a recording for its own point only. Programs add sums in a different order than the function, so a comparison of numbers
    /// that differ by rounding may have another outcome in the program.
    pub(super) fn once(graph: &Graph, lengths: &[u64], requested: &RequestedEntries) -> Result<Recording, Error> {
        let recording = Recording::of(&graph.without_guards(), graph.parameters(), lengths, requested, None)?;
        Ok(Recording { once: true, ..recording })
    }

    /// Compiles a recording for comparison with later ones. Its programs check guards if calls may run them without a comparison, which
    /// detects more.
    pub(super) fn comparable(
        graph: &Graph,
        lengths: &[u64],
        requested: &RequestedEntries,
        is_guarded: bool,
    ) -> Result<Recording, Error> {
        let source = Source { graph: Arc::new(graph.clone()), places: Vec::new(), is_guarded };
        let unguarded;
        let compiled = if is_guarded {
            graph
        } else {
            unguarded = graph.without_guards();
            &unguarded
        };
        Recording::of(compiled, graph.parameters(), lengths, requested, Some(source))
    }

    fn of(
        graph: &Graph,
        parameters: usize,
        lengths: &[u64],
        requested: &RequestedEntries,
        source: Option<Source>,
    ) -> Result<Recording, Error> {
        let (program, (entries, price_of_entries)) = match requested.separable_programs(graph, true) {
            Some((program, entries)) => (program, (Ok(entries), 0)),
            None => {
                let program = compile(graph)?;
                let entries = requested.program(graph, &program);
                (program, entries)
            }
        };
        let is_needed = match &entries {
            Ok(entries) => entries.absence == Absence::Doubtful,
            Err(instead) => *instead != Instead::Products,
        };
        Ok(Recording {
            entries,
            price_of_entries,
            entries_source: is_needed.then(|| (graph.clone(), requested.clone())),
            program,
            programs: Programs::default(),
            tracking: OnceLock::new(),
            inputs: graph.inputs(),
            outputs: graph.outputs().len(),
            parameters,
            lengths: lengths.to_vec(),
            source,
            once: false,
            threads: 0,
        })
    }

    /// Whether it can be compared with later recordings.
    pub(super) fn is_comparable(&self) -> bool {
        self.source.is_some()
    }

    /// Whether a new recording, made for points and contexts of these lengths, has the same operations with other constants. Writes the places of
    /// constants that differ and are not parameters yet to `more`. With other lengths it is another recording even if its operations are the same:
    /// constants may follow from the shape, and constants that are known to belong to a recording do not tell it.
    pub(super) fn compare(&self, graph: &Graph, lengths: &[u64], more: &mut Vec<Place>) -> bool {
        more.clear();
        let Some(source) = &self.source else { return false };
        if !self.fits(graph.inputs(), graph.parameters(), lengths) {
            return false;
        }
        let mut known = source.places.iter().peekable();
        source.graph.compare(graph, |place| {
            while known.next_if(|known| **known < place).is_some() {}
            if known.peek() != Some(&&place) {
                more.push(place);
            }
        })
    }

    /// The place in the user's code where another recording first takes another branch; `None` if it differs in something else.
    pub(super) fn parts_from(&self, graph: &Graph) -> Option<&'static Location<'static>> {
        self.source.as_ref()?.graph.divergence(graph)
    }

    /// Appends the values in `graph` of the constants that are parameters.
    pub(super) fn constants(&self, graph: &Graph, values: &mut Vec<f64>) {
        if let Some(source) = &self.source {
            graph.constants_at(&source.places, values);
        }
    }

    /// The same with more parameters: these constants the first time, all constants the second time.
    pub(super) fn widened(&self, more: &[Place], requested: &RequestedEntries) -> Result<Recording, Error> {
        let Some(Source { graph, places, is_guarded }) = &self.source else {
            return Err(ErrorKind::ForeignNumber.into());
        };
        let places = if places.is_empty() { more.to_vec() } else { graph.places_of_constants() };
        let wide = match is_guarded {
            true => graph.with_parameters_at(&places)?,
            false => graph.without_guards().with_parameters_at(&places)?,
        };
        let source = Source { graph: Arc::clone(graph), places, is_guarded: *is_guarded };
        Recording::of(&wide, self.parameters, &self.lengths, requested, Some(source))
    }

    /// Whether there is a program of the requested entries.
    #[inline]
    pub(super) fn has_entries(&self) -> bool {
        self.entries.is_ok()
    }

    /// The time to compile the requested entries, if that is to be done later.
    pub(super) fn postponed(&self) -> Option<u64> {
        match self.entries {
            Err(Instead::ProductsUntilLater(price)) => Some(price),
            _ => None,
        }
    }

    /// The same recording with a program of the entries that are [postponed](Self::postponed); `None` if products are cheaper.
    pub(super) fn with_entries(&self) -> Option<Recording> {
        let (graph, requested) = self.entries_source.as_ref()?;
        let mut requested = requested.clone();
        requested.afford(Some(u64::MAX));
        let recording = Recording::of(graph, self.parameters, &self.lengths, &requested, self.source.clone()).ok()?;
        recording.has_entries().then(|| recording.on_threads(self.threads))
    }

    /// Never compiles the entries that are [postponed](Self::postponed).
    pub(super) fn leave_entries(&mut self) {
        (self.entries, self.entries_source) = (Err(Instead::Products), None);
    }

    /// The number of instructions of the program of the outputs.
    pub(super) fn length(&self) -> usize {
        self.program.instruction_count()
    }

    /// Whether it was made for points and contexts of these lengths.
    #[inline]
    pub(super) fn fits(&self, inputs: usize, parameters: usize, lengths: &[u64]) -> bool {
        // Not `==`, which calls `memcmp`: that of glibc for AVX-512 takes 80 ns for empty vectors, whose pointers dangle
        // (a masked load from an unmapped page), and they are empty if there are no contexts.
        let are_equal = self.lengths.iter().eq(lengths);
        !self.once && self.inputs == inputs && self.parameters == parameters && are_equal
    }

    /// The same for one that has its constants in its programs.
    pub(super) fn is_fixed(&self, inputs: usize, parameters: usize, lengths: &[u64]) -> bool {
        !self.is_comparable() && self.fits(inputs, parameters, lengths)
    }

    /// Whether it was made for points and contexts of the lengths that `f` has in this call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_for(&self, f: Option<&dyn Recordable>) -> bool {
        let mut lengths = Words::Compare(&self.lengths);
        f.lengths(&mut lengths) && lengths.is_complete()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn programs(&self, which: ProgramKey) -> &Programs {
        if which.tracks { self.tracking.get_or_init(Box::default) } else { &self.programs }
    }

    #[inline]
    pub(super) fn executable(&self, which: ProgramKey) -> Result<&Made<Executable>, Failure> {
        match self.programs(which).executable(which) {
            Some(made) => Ok(made),
            None => self.new_executable(which),
        }
    }

    #[cold]
    #[inline(never)]
    fn new_executable(&self, which: ProgramKey) -> Result<&Made<Executable>, Failure> {
        Ok(self.programs(which).make_executable(which, self.program_of(which)?))
    }

    fn program_of(&self, which: ProgramKey) -> Result<Program, Error> {
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
            Kind::GradientAlone => value.gradient()?.keeping_outputs(&[1]),
            Kind::Pullback => value.adjoint(1)?,
            Kind::Pullbacks => value.adjoint(LANES)?,
            Kind::Pushforward => value.tangent(1)?,
            Kind::Pushforwards => value.tangent(LANES)?,
            Kind::Entries => self.program_of_entries(which.tracks)?,
            Kind::EntriesWithValue => {
                value.followed_by(&self.program_of_entries(which.tracks)?).ok_or(ErrorKind::ForeignNumber)?
            }
            Kind::HessianProducts => return products_alone(value, which.tangents),
        };
        if which.tangents == 0 { Ok(program) } else { program.tangent(which.tangents) }
    }

    /// Makes the second program that fills the derivative matrix: of the gradient without the value, or of the entries with it. Returns
    /// whether it has less to do than what runs without it.
    #[cold]
    #[inline(never)]
    pub(super) fn make_second<B: Base>(&self, filling: Filling, tracks: bool) -> bool {
        if filling == Filling::Gradient && self.program.instruction_count() > LONGEST_WITH_SECOND {
            return false;
        }
        let key = |kind| ProgramKey { kind, tangents: 0, tracks };
        let length = |kind| self.program_of(key(kind)).map_or(0, |program| program.instruction_count());
        let (second, most) = match filling {
            Filling::Gradient => (key(Kind::GradientAlone), length(Kind::Gradient)),
            Filling::Entries => (key(Kind::EntriesWithValue), length(Kind::Value) + length(Kind::Entries)),
        };
        match self.program_of(second) {
            // To store the value is no work.
            Ok(program) if program.instruction_count() + 1 < most => {
                self.programs(second).make_code::<B>(second, &program, self.threads);
                true
            }
            _ => false,
        }
    }

    fn program_of_entries(&self, tracks: bool) -> Result<Program, Error> {
        let Ok(entries) = &self.entries else { return Err(ErrorKind::ForeignNumber.into()) };
        let again = || {
            let (graph, requested) = self.entries_source.as_ref()?;
            requested.program_of_any_length(&graph.tracking_absent())
        };
        Ok(match tracks {
            true => again().unwrap_or_else(|| entries.tracking_absent()),
            false => entries.clone(),
        })
    }

    /// The machine code, unless the compiler refuses the program: then the portable executor runs it.
    #[inline]
    pub(super) fn code<B: Base>(&self, which: ProgramKey) -> Result<Option<&Made<native::Compiled<B>>>, Failure> {
        match self.programs(which).code(which) {
            Some(made) => Ok(made),
            None => self.new_code(which),
        }
    }

    #[cold]
    #[inline(never)]
    fn new_code<B: Base>(&self, which: ProgramKey) -> Result<Option<&Made<native::Compiled<B>>>, Failure> {
        Ok(self.programs(which).make_code(which, &self.program_of(which)?, self.threads))
    }
}

/// The most instructions of a function, loops counted once, for which the gradient has a second program. It takes as long to make as the first: for
/// a Cholesky factor by loops (N = 60, 90,000 instructions) 0.3 s, as long as 6000 calls, and it saved 0.1 % of the instructions.
const LONGEST_WITH_SECOND: usize = 4096;

/// The program of Hessian-vector products without value, gradient, and the slopes of the value.
fn products_alone(value: &Program, tangents: usize) -> Result<Program, Error> {
    let products: Vec<usize> = (0..tangents).map(|lane| 3 + 2 * lane).collect();
    value.gradient()?.tangent_keeping(tangents, &products)
}

/// The reason why a recording gave no result.
pub(super) enum Failure {
    /// It is not valid at this point, or has other sizes.
    Invalid(RunError),
    /// The result has another size than its buffer, which counts only if the recording is valid.
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
