//! Records functions: owns the growing graph while the function runs.
//!
//! Numbers are `Copy` and are made without arguments, so they cannot borrow the recording. While the user's function runs, the
//! graph is thread-local; every number carries the [`Identity`] of its recording, so that numbers of other recordings, other
//! threads and earlier calls are recognised. A recording inside a recording suspends the outer one; numbers of the outer one
//! still work. A number on another thread finds no recording there: it marks the recording it belongs to as
//! [spoilt](differentiation_interface_core::identity::spoil), which that recording finds at its end, and becomes a stray number,
//! which is an error wherever it is used.

use crate::recording::call::{Call, Recordable};
use crate::recording::fold::{FIRST_SEARCH, Fold, Growing, search};
use crate::recording::graph::Graph;
use crate::recording::limits::Limits;
use crate::recording::number::{Recorded, RecordedCore};
use crate::recording::operation::{CONSTANT, MAX_VALUES, Node, Op};
use crate::recording::rules::{POWF, Rules};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::fault;
use differentiation_interface_core::identity::Identity;
use differentiation_interface_core::recordings::ParameterScope;
use differentiation_interface_core::rules::{Binary, Powc, Unary};
use differentiation_interface_core::scalar::Base;
use std::any::Any;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A running recording.
pub(super) struct Running {
    identity: Identity,
    /// The identity that its numbers carry.
    recording: u32,
    pub(super) graph: Graph,
    limits: Limits,
    /// Bytes of calls of custom rules and their arguments.
    pub(super) calls: usize,
    /// The number of nodes and constants that fit into the allocated memory.
    room: usize,
    room_of_constants: usize,
    /// The operand of the first operation, if those that are folded away came first.
    first_operand: u32,
    /// The last operand of a loop that is folded: that of the last operation within the limit.
    last_folded: usize,
    /// The operations that are folded away.
    folding: Folding,
    /// Bits and index of recent constants.
    recent: Vec<(u64, u32)>,
    pub(super) fault: Option<ErrorKind>,
}

/// How far the search for a loop to fold has come.
#[derive(Debug)]
enum Folding {
    /// The loop is searched when the recording has this many operations; never if there are not that many.
    Searching(usize),
    Growing(Box<Growing>),
    Done(Box<Fold>),
}

impl Folding {
    /// The number of operations that are folded away.
    fn hidden(&self) -> usize {
        match self {
            Folding::Searching(_) => 0,
            Folding::Growing(growing) => growing.hidden(),
            Folding::Done(fold) => fold.hidden(),
        }
    }
}

/// The running recordings of a thread, the innermost last.
struct ThreadRecordings {
    running: Vec<Running>,
}

thread_local! {
    /// Without a destructor, which makes access cheap. Empty while nothing is recorded.
    static RECORDINGS: RefCell<ManuallyDrop<ThreadRecordings>> = const { RefCell::new(ManuallyDrop::new(ThreadRecordings { running: Vec::new() })) };
    /// Runs in place of the destructor: frees the memory when the thread ends. Touched once per recording.
    static CLEARING: Clearing = const { Clearing };
}

struct Clearing;

impl Drop for Clearing {
    fn drop(&mut self) {
        let _ = RECORDINGS.try_with(|thread| thread.try_borrow_mut().map(|mut thread| thread.running = Vec::new()));
    }
}

const RECENT: usize = 256;

/// The number of operations for which a recording that folds keeps the memory of the one before.
const MOST_KEPT_FOR_FOLDING: usize = 1 << 16;

impl Running {
    /// Begins a recording in the memory of `graph` and `recent`.
    fn new(
        [inputs, parameters]: [usize; 2],
        limits: Limits,
        mut graph: Graph,
        mut recent: Vec<(u64, u32)>,
        folds: bool,
    ) -> Running {
        let identity = Identity::begin();
        graph.clear(inputs, parameters);
        if folds && graph.nodes.capacity() > MOST_KEPT_FOR_FOLDING {
            // An earlier recording of the same function that was not folded. Its memory would count beside the operations that are folded away.
            graph.nodes = Vec::new();
        }
        recent.clear();
        recent.resize(RECENT, (0, u32::MAX));
        let mut running = Running {
            identity,
            recording: identity.id().get(),
            graph,
            limits,
            calls: 0,
            room: 0,
            room_of_constants: 0,
            first_operand: 0,
            last_folded: 0,
            folding: Folding::Searching(if folds { FIRST_SEARCH } else { usize::MAX }),
            recent,
            fault: None,
        };
        if running.bytes() > limits.bytes {
            // Earlier recordings with higher limits have left more memory.
            running.graph = Graph::default();
            running.graph.clear(inputs, parameters);
        }
        running.measure();
        running
    }

    /// Bytes of allocated memory.
    pub(super) fn bytes(&self) -> usize {
        // An operation counts though it is folded away, so that a function that records for ever ends.
        let hidden = self.folding.hidden() * size_of::<Node>();
        self.graph.bytes() + self.graph.rules.bytes() + size_of_val(&*self.graph.places) + self.calls + hidden
    }

    /// Finds how many items fit into the allocated memory, if that does not exceed the limit already.
    fn measure(&mut self) {
        let is_within = self.bytes() <= self.limits.bytes;
        let hidden = self.folding.hidden();
        let most = MAX_VALUES.saturating_sub(self.graph.first_node() + hidden);
        self.room = if is_within { self.graph.nodes.capacity().min(most) } else { 0 };
        match self.folding {
            Folding::Searching(at) => self.room = self.room.min(at),
            // Every operation takes the slow way, which compares it.
            Folding::Growing(_) => self.room = 0,
            Folding::Done(_) => {}
        }
        self.first_operand = (self.graph.first_node() + hidden) as u32;
        let more = self.limits.bytes.saturating_sub(self.bytes()) / size_of::<Node>();
        self.last_folded =
            (self.graph.first_node() + hidden + self.graph.nodes.len()).saturating_add(more).min(MAX_VALUES);
        self.room_of_constants = if is_within { self.graph.constants.capacity().min(MAX_VALUES) } else { 0 };
    }

    /// Allocates memory for more nodes or constants: twice as much, or what the limits leave.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let most = MAX_VALUES.saturating_sub(self.graph.first_node() + self.folding.hidden());
        let left = self.limits.bytes.saturating_sub(self.bytes());
        let has_nodes = more(&mut self.graph.nodes, most, left);
        let left = self.limits.bytes.saturating_sub(self.bytes());
        let has_constants = more(&mut self.graph.constants, MAX_VALUES, left);
        self.measure();
        let is_growing = matches!(self.folding, Folding::Growing(_));
        if !has_nodes || !has_constants || (self.room == 0 && !is_growing) {
            self.end(ErrorKind::TapeOverflow);
        }
    }

    /// Records an operation of a loop that is being folded, searches for one, or allocates memory.
    #[inline(never)]
    fn push_slowly(&mut self, op: Op, a: u32, b: u32) -> u32 {
        if let Folding::Growing(growing) = &mut self.folding {
            let number = self.graph.first_node() + self.graph.nodes.len() + growing.hidden();
            if growing.take(op, a, b) {
                if number >= self.last_folded {
                    self.end(ErrorKind::TapeOverflow);
                }
                return number as u32;
            }
            self.end_fold();
            return self.push(op, a, b);
        }
        if let Folding::Searching(at) = &mut self.folding
            && self.graph.nodes.len() >= *at
        {
            *at = at.saturating_mul(2);
            if let Some(growing) = search(&mut self.graph.nodes) {
                self.folding = Folding::Growing(Box::new(growing));
            }
            self.measure();
            return self.push(op, a, b);
        }
        self.grow();
        if self.fault.is_some() {
            return 0;
        }
        self.push(op, a, b)
    }

    /// Ends the loop that is being folded. A short one is unfolded.
    #[cold]
    fn end_fold(&mut self) {
        let searched = Folding::Searching(usize::MAX);
        match std::mem::replace(&mut self.folding, searched) {
            Folding::Growing(growing) => match growing.finish() {
                (fold, true) => self.folding = Folding::Done(Box::new(fold)),
                (fold, false) => {
                    fold.unfold(&mut self.graph.nodes);
                    self.folding = Folding::Searching(2 * self.graph.nodes.len());
                }
            },
            other => self.folding = other,
        }
        self.measure();
    }

    /// Ends the recording: unwinds the function if possible.
    #[cold]
    #[inline(never)]
    pub(super) fn end(&mut self, fault: ErrorKind) {
        self.fault = Some(fault);
        if cfg!(panic = "unwind") && !std::thread::panicking() {
            resume_unwind(Box::new(Ended { recording: self.recording }));
        }
    }

    /// Counts the bytes of a rule or call that is stored outside of the reserved memory.
    #[cold]
    #[inline(never)]
    pub(super) fn check_limits(&mut self) {
        if self.bytes() > self.limits.bytes {
            self.end(ErrorKind::TapeOverflow);
        }
    }

    /// The number of a rule of two arguments.
    pub(super) fn number_binary<R: Binary>(&mut self, rule: R) -> Option<u16> {
        self.number(&mut |rules| rules.number_binary(rule))
    }

    /// The number of a rule that is not in the table; ends the recording if no number is left. The search is behind a pointer, so that this
    /// is compiled once.
    #[inline(never)]
    fn number(&mut self, find: &mut dyn FnMut(&mut Rules) -> Option<u16>) -> Option<u16> {
        let before = self.graph.rules.others();
        let number = find(&mut self.graph.rules);
        if number.is_none() {
            self.end(ErrorKind::RuleCount);
        } else if self.graph.rules.others() > before {
            self.check_limits();
        }
        number
    }

    /// Records a rule of one argument.
    pub(super) fn push_unary<R: Unary>(&mut self, rule: R, a: u32) -> u32 {
        let any: &dyn Any = &rule;
        if let Some(Powc(exponent)) = any.downcast_ref()
            && self.graph.rules.has_many_exponents()
        {
            // x⁰ has no derivative, as in `RecordedCore::binary`.
            if *exponent == 0.0 {
                return self.constant(1.0);
            }
            let b = self.constant(*exponent);
            return self.push(Op::Binary(POWF), a, b);
        }
        match self.number(&mut |rules| rules.number_unary(rule)) {
            Some(id) => self.push(Op::Unary(id), a, 0),
            None => 0,
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, op: Op, a: u32, b: u32) -> u32 {
        let number = self.graph.nodes.len();
        if number >= self.room {
            return self.push_slowly(op, a, b);
        }
        self.graph.nodes.push(Node { op, a, b });
        self.first_operand + number as u32
    }

    /// The operand that stands for a plain number.
    #[inline(always)]
    pub(super) fn constant(&mut self, value: f64) -> u32 {
        let bits = value.to_bits();
        let place = (bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize % RECENT;
        let (known, index) = self.recent[place];
        if known == bits && index != u32::MAX {
            return index | CONSTANT;
        }
        let index = self.graph.constants.len() as u32;
        if index as usize >= self.room_of_constants {
            self.grow();
            if self.fault.is_some() {
                return CONSTANT;
            }
        }
        self.graph.constants.push(value);
        self.recent[place] = (bits, index);
        index | CONSTANT
    }

    /// The operand that stands for a number in this recording.
    #[inline(always)]
    pub(super) fn operand<B: Base>(&mut self, number: RecordedCore<B>) -> u32 {
        if number.recording == self.recording {
            number.operand
        } else {
            self.strange(number.value.as_f64(), number.recording)
        }
    }

    #[inline(never)]
    fn strange(&mut self, value: f64, recording: u32) -> u32 {
        if recording != 0 {
            self.fault = Some(ErrorKind::ForeignNumber);
        }
        self.constant(value)
    }
}

/// The payload of the panic that ends a function whose recording has ended.
struct Ended {
    recording: u32,
}

/// Doubles the capacity if the items fill it, but by no more than half of the bytes left. Returns whether there is room.
fn more<T>(items: &mut Vec<T>, most: usize, left: usize) -> bool {
    if items.len() < items.capacity().min(most) {
        return true;
    }
    let fitting = (left / 2).max(left.min(size_of::<T>())) / size_of::<T>();
    let wanted = items.len().max(64).min(fitting).min(most.saturating_sub(items.len()));
    wanted > 0 && items.try_reserve_exact(wanted).is_ok()
}

/// Runs `action` on the recording with this identity, if it runs on this thread.
#[inline(always)]
pub(super) fn with_running<R>(recording: u32, action: impl FnOnce(&mut Running) -> R) -> Option<R> {
    let found = RECORDINGS.try_with(|thread| {
        let mut thread = thread.try_borrow_mut().ok()?;
        let running = thread.running.iter_mut().rev().find(|running| running.recording == recording)?;
        Some(action(running))
    });
    found.ok().flatten()
}

/// The operand that is parameter `index` of the innermost recording of this thread, and that recording, if it has that many.
pub(super) fn innermost_parameter(index: usize) -> Option<(u32, u32)> {
    RECORDINGS.with_borrow(|thread| {
        let running = thread.running.last()?;
        (index < running.graph.parameters).then_some(((running.graph.inputs + index) as u32, running.recording))
    })
}

/// Stores an error of the innermost recording of this thread, unless it has one already.
#[cold]
pub(super) fn note_in_innermost(fault: ErrorKind) {
    let _ = RECORDINGS.try_with(|thread| {
        if let Ok(mut thread) = thread.try_borrow_mut()
            && let Some(running) = thread.running.last_mut()
        {
            running.fault.get_or_insert(fault);
        }
    });
}

/// Ends the recording when it is dropped, also by a panic.
struct Session;

impl Drop for Session {
    fn drop(&mut self) {
        take_innermost();
    }
}

fn take_innermost() -> Option<Running> {
    RECORDINGS.with(|thread| thread.borrow_mut().running.pop())
}

/// Records functions repeatedly in the same memory.
///
/// # Example
/// ```
/// use compiled_trace::{Limits, Recorder};
/// let mut recorder = Recorder::default();
/// for factor in [3.0, 4.0] {
///     let graph = recorder.record(&[2.0], &[], Limits::default(), |x, _, y| y.push(x[0] * factor))?;
///     assert_eq!(graph.constants(), [factor]);
/// }
/// # Ok::<(), differentiation_interface_core::error::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Recorder<B: Base = f64> {
    graph: Graph,
    /// What is folded away of it.
    fold: Option<Box<Fold>>,
    recent: Vec<(u64, u32)>,
    x: Vec<Recorded<B>>,
    parameters: Vec<Recorded<B>>,
    y: Vec<Recorded<B>>,
}

impl<B: Base> Recorder<B> {
    /// The last recording.
    ///
    /// After [`record_folding`](Self::record_folding) the operations of a folded loop are missing; [`unfold`](Self::unfold) brings them back.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The last recording with all operations, for which memory is allocated if a loop was folded.
    pub fn unfold(&mut self) -> &Graph {
        if let Some(fold) = self.fold.take() {
            fold.unfold(&mut self.graph.nodes);
        }
        &self.graph
    }

    /// The number of operations of the last recording, whether or not they are stored.
    pub fn operations(&self) -> usize {
        self.graph.nodes.len() + self.fold.as_ref().map_or(0, |fold| fold.hidden())
    }

    /// Bytes of memory that the last recording occupies, with the constants of a folded loop.
    pub fn bytes(&self) -> usize {
        self.graph.bytes() + self.fold.as_ref().map_or(0, |fold| fold.bytes())
    }

    /// What is folded away of the last recording.
    pub(crate) fn fold(&self) -> Option<&Fold> {
        self.fold.as_deref()
    }

    /// Runs `f` once and records it like [`record`](Self::record), but folds the outermost loop while it is recorded: a loop whose iterations do the
    /// same on operands that advance regularly takes the memory of two iterations and of the constants that it reads.
    ///
    /// # Errors
    /// Those of [`record`].
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, Recorder};
    /// let mut recorder = Recorder::default();
    /// recorder.record_folding(&[0.5; 100_000], &[], Limits::default(), |x, _, y| y.push(x.iter().map(|v| *v * *v).sum()))?;
    /// assert_eq!(recorder.operations(), 200_000);
    /// assert!(recorder.graph().bytes() < 200_000);
    /// let program = recorder.compile()?;
    /// assert_eq!(program.statement_count(), 2);
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn record_folding(
        &mut self,
        x: &[B],
        parameters: &[B],
        limits: Limits,
        f: impl FnOnce(&[Recorded<B>], &[Recorded<B>], &mut Vec<Recorded<B>>),
    ) -> Result<(), Error> {
        let done = self.run(x, parameters, limits, true, f);
        // The numbers of a long point are larger than the folded recording.
        (self.x, self.parameters, self.y) = Default::default();
        done
    }

    /// Reserves memory for this many different constants.
    pub fn reserve_constants(&mut self, count: usize) {
        self.graph.constants.reserve(count.saturating_sub(self.graph.constants.len()));
    }

    /// Runs `f` once and returns its recording, like [`record`].
    ///
    /// # Errors
    /// Those of [`record`].
    pub fn record(
        &mut self,
        x: &[B],
        parameters: &[B],
        limits: Limits,
        f: impl FnOnce(&[Recorded<B>], &[Recorded<B>], &mut Vec<Recorded<B>>),
    ) -> Result<&Graph, Error> {
        self.run(x, parameters, limits, false, f)?;
        Ok(&self.graph)
    }

    fn run(
        &mut self,
        x: &[B],
        parameters: &[B],
        limits: Limits,
        folds: bool,
        f: impl FnOnce(&[Recorded<B>], &[Recorded<B>], &mut Vec<Recorded<B>>),
    ) -> Result<(), Error> {
        let Recorder { graph, fold, recent, x: inputs, parameters: more, y } = self;
        let mut call = Call { point: [x, parameters], numbers: [inputs, more], y, f: Some(f) };
        run(graph, fold, recent, [x.len(), parameters.len()], limits, folds, &mut call)
    }
}

/// Runs a function and stores its recording in `graph` and `fold`. The function is behind a pointer, so that this is compiled once and not
/// in crates of users for each function.
fn run(
    graph: &mut Graph,
    fold: &mut Option<Box<Fold>>,
    recent: &mut Vec<(u64, u32)>,
    [inputs, parameters]: [usize; 2],
    limits: Limits,
    folds: bool,
    function: &mut dyn Recordable,
) -> Result<(), Error> {
    *fold = None;
    fault::watch(|| {
        if inputs.saturating_add(parameters) > MAX_VALUES {
            return Err(ErrorKind::TapeOverflow.into());
        }
        let memory = (std::mem::take(graph), std::mem::take(recent));
        let running = Running::new([inputs, parameters], limits, memory.0, memory.1, folds);
        let recording = running.recording;
        let _ = CLEARING.try_with(|_| ());
        RECORDINGS.with(|thread| thread.borrow_mut().running.push(running));
        let (session, scope) = (Session, ParameterScope::of_recording());
        let run = catch_unwind(AssertUnwindSafe(|| function.call(recording)));
        drop(scope);
        std::mem::forget(session);
        let mut running = take_innermost().expect("the recording was begun above, and inner ones have ended");
        running.end_fold();
        if let Err(panic) = run
            && panic.downcast_ref::<Ended>().is_none_or(|ended| ended.recording != recording)
        {
            (*graph, *recent) = (running.graph, running.recent);
            resume_unwind(panic);
        }
        let outputs = function.outputs();
        if outputs.saturating_mul(size_of::<u32>()) > running.limits.bytes.saturating_sub(running.bytes()) {
            running.fault = running.fault.or(Some(ErrorKind::TapeOverflow));
        }
        // If a recording has ended, its outputs are meaningless, and a further constant would end it again.
        if running.fault.is_none() {
            let outputs = catch_unwind(AssertUnwindSafe(|| {
                for y in 0..outputs {
                    let operand = running.operand(function.output(y));
                    running.graph.outputs.push(operand);
                }
            }));
            if let Err(panic) = outputs
                && !panic.is::<Ended>()
            {
                resume_unwind(panic);
            }
        }
        (*graph, *recent) = (running.graph, running.recent);
        if let Folding::Done(done) = running.folding {
            *fold = Some(done);
        }
        running.identity.check()?;
        match running.fault {
            Some(kind) => Err(kind.into()),
            None => Ok(()),
        }
    })
}

/// Runs `f` once at the point `x` with the given parameters and returns its recording.
///
/// `f` gets the inputs, the parameters, and the vector for its outputs. The recording is valid at every point at which
/// its guards hold; [`Executable::run`](crate::Executable::run) checks them.
///
/// # Errors
/// [`ErrorKind::TapeOverflow`] if the recording would be larger than `limits` or than about 2³⁰ values;
/// [`ErrorKind::ForeignNumber`] if numbers of another recording entered; [`ErrorKind::OtherThread`] if `f` computed with its
/// numbers on another thread; errors that rules report.
///
/// # Example
/// ```
/// use compiled_trace::{Limits, record};
/// let graph = record(&[2.0, 5.0], &[3.0], Limits::default(), |x, p, y| y.push(x[0] * x[1] + p[0]))?;
/// assert_eq!(graph.to_string(), "%0 = mul x0 x1\n%1 = add %0 p0\ny0 = %1\n");
/// # Ok::<(), differentiation_interface_core::error::Error>(())
/// ```
pub fn record<B: Base>(
    x: &[B],
    parameters: &[B],
    limits: Limits,
    f: impl FnOnce(&[Recorded<B>], &[Recorded<B>], &mut Vec<Recorded<B>>),
) -> Result<Graph, Error> {
    let mut recorder = Recorder::default();
    recorder.record(x, parameters, limits, f)?;
    Ok(recorder.graph)
}
