//! The recording number, and the place where a recording grows.
//!
//! Numbers are `Copy` and come from nothing, so they cannot borrow the recording. While the user's function runs, the graph
//! sits on a desk that belongs to the thread; every number carries the [`Identity`] of its recording, so numbers of other
//! recordings, other threads and earlier calls are recognised. A recording inside a recording suspends the outer one; numbers of
//! the outer one still work. A number on another thread has no desk there: the recording it belongs to is
//! [spoilt](identity::spoil), which it finds at its end, and the number becomes a stray, which is an error wherever it is used.

use crate::recording::custom::{self, CallObject};
use crate::recording::graph::{CONSTANT, Call, Graph, MOST, Node, Op, Outcome, RELATIONS};
use crate::recording::rules::{PLUS, POWF, Rules};
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::fault;
use differentiation_interface_core::identity::{self, Identity, STRAY};
use differentiation_interface_core::recordings::Internals;
use differentiation_interface_core::rules::{
    Binary, OddSum, Plus, Powc, ProductError, SumError, Times, Together, Unary,
};
use differentiation_interface_core::scalar::{Base, Core, Num, Relation};
use std::any::Any;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::mem::ManuallyDrop;
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;

/// A number that records what is done with it, over the plain number `B`.
pub type Recorded<B = f64> = Num<RecordedCore<B>>;

/// The engine's part of a [`Recorded`] number: its value at the recording's point, and which value of the graph it is.
#[derive(Clone, Copy, Debug)]
pub struct RecordedCore<B> {
    value: B,
    operand: u32,
    /// 0 for a constant.
    recording: u32,
}

/// How large a recording may grow. The operation that would exceed it ends the function, which unwinds without a message, and
/// the recording with [`ErrorKind::TapeOverflow`]. Where panics abort, the function runs to its end and records nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of the recording, memory it has taken ahead included: operations, constants, rules with parameters, calls of custom
    /// rules and their arguments, places of guards. What the function itself allocates is not counted, nor is what compiling takes.
    pub bytes: usize,
}

impl Default for Limits {
    /// No limit but the one of the operand numbers, about 2³⁰ values, and the memory there is: an allocation that fails ends the
    /// recording as a limit does.
    fn default() -> Self {
        Limits { bytes: usize::MAX }
    }
}

/// A running recording.
struct Running {
    identity: Identity,
    /// What its numbers carry.
    recording: u32,
    graph: Graph,
    limits: Limits,
    /// Bytes of calls of custom rules and their arguments.
    calls: usize,
    /// So many nodes and constants fit into the memory there is.
    room: usize,
    room_of_constants: usize,
    /// Bits and index of constants met lately.
    recent: Vec<(u64, u32)>,
    fault: Option<ErrorKind>,
}

/// The running recordings of a thread, the innermost last.
struct Desk {
    running: Vec<Running>,
}

thread_local! {
    /// Without a destructor, which makes access plain. Empty while nothing is recorded.
    static DESK: RefCell<ManuallyDrop<Desk>> = const { RefCell::new(ManuallyDrop::new(Desk { running: Vec::new() })) };
    /// The destructor in its place: gives the desk's memory back when the thread ends. Touched once per recording.
    static CLEARING: Clearing = const { Clearing };
}

struct Clearing;

impl Drop for Clearing {
    fn drop(&mut self) {
        let _ = DESK.try_with(|desk| desk.try_borrow_mut().map(|mut desk| desk.running = Vec::new()));
    }
}

const RECENT: usize = 256;

impl Running {
    /// Begins a recording in the memory of `graph` and `recent`.
    fn new(inputs: usize, parameters: usize, limits: Limits, mut graph: Graph, mut recent: Vec<(u64, u32)>) -> Running {
        let identity = Identity::begin();
        graph.clear(inputs, parameters);
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
            recent,
            fault: None,
        };
        if running.bytes() > limits.bytes {
            // Memory of earlier recordings that were allowed more.
            running.graph = Graph::default();
            running.graph.clear(inputs, parameters);
        }
        running.measure();
        running
    }

    /// Bytes of memory it has taken.
    fn bytes(&self) -> usize {
        self.graph.bytes() + self.graph.rules.bytes() + size_of_val(&*self.graph.places) + self.calls
    }

    /// Finds out what fits into the memory there is, if that is not too much already.
    fn measure(&mut self) {
        let is_within = self.bytes() <= self.limits.bytes;
        let most = MOST.saturating_sub(self.graph.first_node());
        self.room = if is_within { self.graph.nodes.capacity().min(most) } else { 0 };
        self.room_of_constants = if is_within { self.graph.constants.capacity().min(MOST) } else { 0 };
    }

    /// Takes memory for more nodes or constants: as much again, or what the limits leave.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let most = MOST.saturating_sub(self.graph.first_node());
        let left = self.limits.bytes.saturating_sub(self.bytes());
        let has_nodes = more(&mut self.graph.nodes, most, left);
        let left = self.limits.bytes.saturating_sub(self.bytes());
        let has_constants = more(&mut self.graph.constants, MOST, left);
        self.measure();
        if !has_nodes || !has_constants || self.room == 0 {
            self.end(ErrorKind::TapeOverflow);
        }
    }

    /// Ends the recording: unwinds the function if it can.
    #[cold]
    #[inline(never)]
    fn end(&mut self, fault: ErrorKind) {
        self.fault = Some(fault);
        if cfg!(panic = "unwind") && !std::thread::panicking() {
            resume_unwind(Box::new(Ended { recording: self.recording }));
        }
    }

    /// Counts what a rule or call takes that has no room of its own.
    #[cold]
    #[inline(never)]
    fn check_limits(&mut self) {
        if self.bytes() > self.limits.bytes {
            self.end(ErrorKind::TapeOverflow);
        }
    }

    /// The number of a rule of one argument.
    #[inline(always)]
    fn number_unary<R: Unary>(&mut self, rule: R) -> Option<u16> {
        if Rules::has_unary::<R>() {
            self.graph.rules.number_unary(rule)
        } else {
            self.number(|rules| rules.number_unary(rule))
        }
    }

    /// The number of a rule of two arguments.
    #[inline(always)]
    fn number_binary<R: Binary>(&mut self, rule: R) -> Option<u16> {
        if Rules::has_binary::<R>() {
            self.graph.rules.number_binary(rule)
        } else {
            self.number(|rules| rules.number_binary(rule))
        }
    }

    /// The number of a rule that is not in the table; ends the recording if there is none left.
    #[inline(never)]
    fn number(&mut self, find: impl FnOnce(&mut Rules) -> Option<u16>) -> Option<u16> {
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
    #[inline(always)]
    fn push_unary<R: Unary>(&mut self, rule: R, a: u32) -> u32 {
        let any: &dyn Any = &rule;
        if let Some(Powc(exponent)) = any.downcast_ref()
            && self.graph.rules.has_many_exponents()
        {
            let b = self.constant(*exponent);
            return self.push(Op::Binary(POWF), a, b);
        }
        match self.number_unary(rule) {
            Some(id) => self.push(Op::Unary(id), a, 0),
            None => 0,
        }
    }

    #[inline(always)]
    fn push(&mut self, op: Op, a: u32, b: u32) -> u32 {
        if self.graph.nodes.len() >= self.room {
            self.grow();
            if self.fault.is_some() {
                return 0;
            }
        }
        self.graph.nodes.push(Node { op, a, b });
        (self.graph.first_node() + self.graph.nodes.len() - 1) as u32
    }

    /// The operand that stands for a plain number.
    #[inline(always)]
    fn constant(&mut self, value: f64) -> u32 {
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

    /// The operand that a number is here.
    #[inline(always)]
    fn operand<B: Base>(&mut self, number: RecordedCore<B>) -> u32 {
        if number.recording == self.recording { number.operand } else { self.strange(number) }
    }

    #[inline(never)]
    fn strange<B: Base>(&mut self, number: RecordedCore<B>) -> u32 {
        if number.recording != 0 {
            self.fault = Some(ErrorKind::ForeignNumber);
        }
        self.constant(number.value.as_f64())
    }
}

/// Why a function unwinds whose recording has ended.
struct Ended {
    recording: u32,
}

/// Takes memory for as many items again if the items fill what there is, but no more than half of the bytes left. Whether there is room.
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
fn with_running<R>(recording: u32, action: impl FnOnce(&mut Running) -> R) -> Option<R> {
    let found = DESK.try_with(|desk| {
        let mut desk = desk.try_borrow_mut().ok()?;
        let running = desk.running.iter_mut().rev().find(|running| running.recording == recording)?;
        Some(action(running))
    });
    found.ok().flatten()
}

/// Notes the recordings of numbers of an operation, at least one of which is not on this thread: if it runs at all, it is on
/// another one. One that is here has met a foreign number.
#[cold]
#[inline(never)]
fn note_strays<B>(numbers: impl IntoIterator<Item = RecordedCore<B>>) {
    for number in numbers {
        let here = with_running(number.recording, |running| running.fault = Some(ErrorKind::ForeignNumber)).is_some();
        if let Some(recording) = NonZeroU32::new(number.recording)
            && !here
        {
            identity::spoil(recording, ErrorKind::OtherThread);
        }
    }
}

/// Notes that the innermost recording of this thread decided by a stray, which leaves no guard.
#[cold]
fn note_foreign() {
    let _ = DESK.try_with(|desk| {
        if let Ok(mut desk) = desk.try_borrow_mut()
            && let Some(running) = desk.running.last_mut()
        {
            running.fault.get_or_insert(ErrorKind::ForeignNumber);
        }
    });
}

impl<B: Base> RecordedCore<B> {
    #[inline(always)]
    fn inert(value: B) -> Self {
        RecordedCore { value, operand: 0, recording: 0 }
    }

    /// A parameter of the innermost recording of this thread, if that has so many.
    fn parameter(index: usize, value: B) -> Self {
        let found = DESK.with_borrow(|desk| {
            let running = desk.running.last()?;
            (index < running.graph.parameters).then_some((running.graph.inputs + index, running.recording))
        });
        match found {
            Some((operand, recording)) => RecordedCore { value, operand: operand as u32, recording },
            None => Self::inert(value),
        }
    }

    /// The result of an operation on `arguments`; without operand their recording is not on this thread.
    #[inline(always)]
    fn active(value: B, operand: Option<u32>, arguments: [Self; 2]) -> Self {
        let [a, b] = arguments;
        match operand {
            Some(operand) => {
                RecordedCore { value, operand, recording: if a.recording != 0 { a.recording } else { b.recording } }
            }
            None => Self::stray(value, arguments),
        }
    }

    #[cold]
    #[inline(never)]
    fn stray(value: B, arguments: impl IntoIterator<Item = Self>) -> Self {
        note_strays(arguments);
        RecordedCore { value, operand: 0, recording: STRAY.get() }
    }

    /// Records an operation on two numbers, at least one of which is not a constant.
    #[inline(always)]
    fn record(self, other: Self, value: B, op: impl FnOnce(&mut Running) -> Option<Op>) -> Self {
        let recording = if self.recording != 0 { self.recording } else { other.recording };
        let operand = with_running(recording, |running| {
            let (a, b) = (running.operand(self), running.operand(other));
            match op(running) {
                Some(op) => running.push(op, a, b),
                // The recording has ended.
                None => 0,
            }
        });
        Self::active(value, operand, [self, other])
    }

    #[cold]
    #[inline(never)]
    fn guard(self, other: Self, outcome: Outcome, place: &'static Location<'static>) {
        let guard = self.record(other, B::ZERO, |running| Some(Op::Guard(running.graph.guard(place, outcome))));
        if guard.recording == STRAY.get() {
            note_foreign();
        }
    }
}

impl<B: Base> Core for RecordedCore<B> {
    type Base = B;
    const DEPTH: u32 = 1;
    const INTERNALS: &'static Internals<Num<Self>, B> =
        &Internals { parameter: |index, value| Num(Self::parameter(index, value)), ..Internals::DEFAULT };

    #[inline(always)]
    fn constant(value: B) -> Self {
        Self::inert(value)
    }
    #[inline(always)]
    fn primal(&self) -> B {
        self.value
    }
    #[inline(always)]
    fn is_constant(&self) -> bool {
        self.recording == 0
    }
    #[inline(always)]
    fn unary<R: Unary>(self, rule: R) -> Self {
        let value = rule.value(self.value);
        if self.recording == 0 {
            return Self::inert(value);
        }
        let operand = with_running(self.recording, |running| running.push_unary(rule, self.operand));
        Self::active(value, operand, [self; 2])
    }
    #[inline(always)]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let value = rule.value(self.value, other.value);
        if self.recording == 0 && other.recording == 0 {
            return Self::inert(value);
        }
        self.record(other, value, |running| running.number_binary(rule).map(Op::Binary))
    }
    #[inline(always)]
    fn binary_right<R: Binary>(self, other: B, rule: R) -> Self {
        let value = rule.value(self.value, other);
        if self.recording == 0 {
            return Self::inert(value);
        }
        let operand = with_running(self.recording, |running| match running.number_binary(rule) {
            // The general power with a constant exponent must not go through a logarithm.
            Some(POWF) => running.push_unary(Powc(other.as_f64()), self.operand),
            Some(id) => {
                let b = running.constant(other.as_f64());
                running.push(Op::Binary(id), self.operand, b)
            }
            // The recording has ended.
            None => 0,
        });
        Self::active(value, operand, [self; 2])
    }
    #[inline(always)]
    fn binary_left<R: Binary>(first: B, second: Self, rule: R) -> Self {
        Self::inert(first).binary(second, rule)
    }

    /// Product, sum, and a correction by what their rounding loses, which has no derivative.
    fn fused(self, factor: Self, addend: Self) -> Self {
        let value = self.value.mul_add(factor.value, addend.value);
        let (product, plain_sum) = (self.binary(factor, Times), |product: Self| product.binary(addend, Plus));
        let is_exact = |v: Self| v.recording == 0 && v.value.abs() == B::ONE;
        let adds_nothing = addend.recording == 0 && addend.value == B::ZERO;
        if is_exact(self) || is_exact(factor) || adds_nothing {
            return RecordedCore { value, ..plain_sum(product) };
        }
        let correction = self.binary(factor, ProductError).binary(product.binary(addend, SumError), OddSum);
        RecordedCore { value, ..product.binary(addend, Together).binary(correction, Together) }
    }

    fn custom<R: CustomRule<B>>(rule: &Arc<R>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        let plain: Vec<B> = x.iter().map(|x| x.0.value).collect();
        let mut value = Vec::new();
        rule.value(&plain, &mut value);
        y.clear();
        let recording = x.iter().map(|x| x.0.recording).find(|recording| *recording != 0).unwrap_or(0);
        if recording == 0 || value.is_empty() {
            y.extend(value.into_iter().map(|value| Num(Self::inert(value))));
            return;
        }
        let object: Arc<dyn CallObject> = custom::object(rule);
        let first = with_running(recording, |running| {
            let arguments = x.iter().map(|x| running.operand(x.0)).collect();
            let call = running.graph.calls.len() as u32;
            // The call, its arguments, and the object behind its pointer.
            running.calls += 2 * size_of::<Call>() + x.len() * size_of::<u32>() + 64;
            running.check_limits();
            running.graph.calls.push(Call { rule: object, arguments, outputs: value.len() });
            let first = running.push(Op::Call, call, 0);
            for _ in 1..value.len() {
                running.push(Op::CallOutput, 0, 0);
            }
            first
        });
        let Some(first) = first else {
            let stray = Self::stray(B::ZERO, x.iter().map(|x| x.0));
            return y.extend(value.into_iter().map(|value| Num(RecordedCore { value, ..stray })));
        };
        let number = |(operand, value)| Num(RecordedCore { value, operand, recording });
        y.extend((first..).zip(value).map(number));
    }

    fn spoil(&self, kind: ErrorKind) {
        if let Some(recording) = NonZeroU32::new(self.recording) {
            identity::spoil(recording, kind);
        }
    }
    #[inline(always)]
    #[track_caller]
    fn observe(&self) -> B {
        if self.recording != 0 {
            self.guard(Self::inert(self.value), Outcome::Same, Location::caller());
        }
        self.value
    }
    #[inline(always)]
    #[track_caller]
    fn compare(&self, other: &Self) -> Option<Ordering> {
        let order = self.value.partial_cmp(&other.value);
        if self.recording != 0 || other.recording != 0 {
            let outcome = match order {
                Some(Ordering::Less) => Outcome::Less,
                Some(Ordering::Equal) => Outcome::Equal,
                Some(Ordering::Greater) => Outcome::Greater,
                None => Outcome::Unordered,
            };
            self.guard(*other, outcome, Location::caller());
        }
        order
    }
    #[inline(always)]
    #[track_caller]
    fn compare_plain(&self, other: B) -> Option<Ordering> {
        self.compare(&Self::inert(other))
    }
    fn select(left: Self, relation: Relation, right: Self, then: Self, otherwise: Self) -> Self {
        let holds = relation.holds(left.value.partial_cmp(&right.value));
        let chosen = if holds { then } else { otherwise };
        if left.recording == 0 && right.recording == 0 {
            return chosen;
        }
        let number = RELATIONS.iter().position(|known| *known == relation).unwrap_or(0) as u8;
        let mask = if holds { B::ONE } else { B::ZERO };
        let mask = left.record(right, mask, |_| Some(Op::Compare(number)));
        let neutral = -B::ZERO;
        let kept = mask.record(then, if holds { then.value } else { neutral }, |_| Some(Op::Keep));
        let dropped = mask.record(otherwise, if holds { neutral } else { otherwise.value }, |_| Some(Op::Drop));
        kept.record(dropped, chosen.value, |_| Some(Op::Binary(PLUS)))
    }
}

/// Ends the recording when it goes, also by a panic.
struct Session;

impl Drop for Session {
    fn drop(&mut self) {
        take_innermost();
    }
}

fn take_innermost() -> Option<Running> {
    DESK.with(|desk| desk.borrow_mut().running.pop())
}

/// Records functions again and again in the same memory.
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
    recent: Vec<(u64, u32)>,
    x: Vec<Recorded<B>>,
    parameters: Vec<Recorded<B>>,
    y: Vec<Recorded<B>>,
}

impl<B: Base> Recorder<B> {
    /// The last recording.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Makes room for so many different constants.
    pub fn reserve_constants(&mut self, count: usize) {
        self.graph.constants.reserve(count.saturating_sub(self.graph.constants.len()));
    }

    /// Runs `f` once and returns what it did, like [`record`].
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
        fault::watch(|| {
            if x.len().saturating_add(parameters.len()) > MOST {
                return Err(ErrorKind::TapeOverflow.into());
            }
            let (graph, recent) = (std::mem::take(&mut self.graph), std::mem::take(&mut self.recent));
            let running = Running::new(x.len(), parameters.len(), limits, graph, recent);
            let recording = running.recording;
            let number = |(i, value): (usize, &B)| Num(RecordedCore { value: *value, operand: i as u32, recording });
            self.x.clear();
            self.x.extend(x.iter().enumerate().map(number));
            self.parameters.clear();
            self.parameters.extend(parameters.iter().enumerate().map(|(i, p)| number((x.len() + i, p))));
            let _ = CLEARING.try_with(|_| ());
            DESK.with(|desk| desk.borrow_mut().running.push(running));
            let session = Session;
            self.y.clear();
            let run = catch_unwind(AssertUnwindSafe(|| f(&self.x, &self.parameters, &mut self.y)));
            std::mem::forget(session);
            let mut running = take_innermost().expect("the recording was begun above, and inner ones have ended");
            if let Err(panic) = run
                && panic.downcast_ref::<Ended>().is_none_or(|ended| ended.recording != recording)
            {
                (self.graph, self.recent) = (running.graph, running.recent);
                resume_unwind(panic);
            }
            if self.y.len().saturating_mul(size_of::<u32>()) > running.limits.bytes.saturating_sub(running.bytes()) {
                running.fault = running.fault.or(Some(ErrorKind::TapeOverflow));
            }
            // Of a recording that has ended the outputs mean nothing, and a further constant would end it again.
            if running.fault.is_none() {
                let outputs = catch_unwind(AssertUnwindSafe(|| {
                    for y in &self.y {
                        let operand = running.operand(y.0);
                        running.graph.outputs.push(operand);
                    }
                }));
                if let Err(panic) = outputs
                    && !panic.is::<Ended>()
                {
                    resume_unwind(panic);
                }
            }
            (self.graph, self.recent) = (running.graph, running.recent);
            running.identity.check()?;
            match running.fault {
                Some(kind) => Err(kind.into()),
                None => Ok(()),
            }
        })?;
        Ok(&self.graph)
    }
}

/// Runs `f` once at the point `x` with the given parameters and returns what it did.
///
/// `f` gets the inputs, the parameters, and the vector to leave its outputs in. The recording holds for every point at which
/// its guards hold; [`Executable::run`](crate::Executable::run) checks them.
///
/// # Errors
/// [`ErrorKind::TapeOverflow`] if the recording would be larger than `limits` or than about 2³⁰ values;
/// [`ErrorKind::ForeignNumber`] if numbers of another recording entered; [`ErrorKind::OtherThread`] if `f` computed with its
/// numbers on another thread; what rules raise.
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
