//! How long machine code takes, estimated from intermediate code.
//!
//! Asked by `build` for each function, so that engines can choose between a program and another method without measuring time. A loop
//! takes as long as its instructions to issue, or as long as the chain of operations from one iteration to the next, whichever is
//! longer. Fitted to 59 programs of a roll-out in time and a linear recurrence (values, Jacobians, Hessians, products) on a processor with
//! AVX-512: 36 estimates are between 0.75 and 1.34 times the time, 55 between 0.6 and 1.8.

use super::code::{Arithmetic, Function, Kind, Limit, Line, Operation, Repeat, Simple, Value};

/// Cycles in the time of an operation on a tape with its sweep, which is the unit of [`Work::time`](crate::Work::time).
const CYCLES: f64 = 16.0;
/// Cycles of a call of a function of the mathematical library, and of a pair of own functions.
const CALL: f64 = 45.0;
/// Cycles of an own function of several numbers at once.
const CALL_OF_LANES: f64 = 40.0;

/// The time of one run of a function, in that of an operation on a tape.
pub(super) fn time(function: &Function) -> f64 {
    let mut chain = vec![NOT_CARRIED; function.kinds.len()];
    // The function, and the bodies of the loops that are open.
    let mut bodies = vec![0.0f64];
    for line in &function.lines {
        let Some(body) = bodies.last_mut() else { break };
        match line.operation {
            Operation::Begin(number) => {
                // Counters and pointers of later iterations are known long before.
                for carried in &function.loops[number as usize].carried {
                    let is_number = function.kind(carried.parameter) != Kind::Integer;
                    chain[carried.parameter.index()] = if is_number { 0.0 } else { NOT_CARRIED };
                }
                bodies.push(0.0);
            }
            Operation::End(number) => {
                let repeat = &function.loops[number as usize];
                let of = |value: Value| if value.pool().is_some() { NOT_CARRIED } else { chain[value.index()] };
                let longest = repeat.carried.iter().map(|carried| of(carried.next)).fold(0.0, f64::max);
                let time = body.max(longest) * trips(function, repeat);
                bodies.pop();
                if let Some(outer) = bodies.last_mut() {
                    *outer += time;
                }
            }
            _ => {
                let (issue, latency) = cycles(function, line);
                *body += issue;
                let Some(result) = line.result else { continue };
                let mut before = NOT_CARRIED;
                function.operands(&line.operation, |value| {
                    if value.pool().is_none() {
                        before = before.max(chain[value.index()]);
                    }
                });
                chain[result.index()] = before + latency;
            }
        }
    }
    bodies.first().map_or(0.0, |cycles| cycles / CYCLES)
}

/// The time in which so many bytes of code are fetched, which a long program without loops waits for: 10 bytes in a cycle from a cache, and a fifth
/// of that where the code is larger than its share of the last one. A binomial tree of 200 steps, 6 MB, takes 0.17 to 0.3 ms; of 300 steps, 13 MB, 0.44 ms
/// on an idle machine and 0.7 to 4.8 beside a compiler; of 400 steps, 23 MB, 3.6 ms.
pub(super) fn to_fetch(bytes: usize) -> f64 {
    let cycles = if bytes > LARGE { 0.5 } else { 0.1 };
    bytes as f64 * cycles / CYCLES
}

/// Bytes of code that stay in a cache from run to run.
const LARGE: usize = 8 << 20;

/// The chain of a value that does not depend on the iteration before.
const NOT_CARRIED: f64 = f64::NEG_INFINITY;

/// How often the body of a loop runs.
fn trips(function: &Function, repeat: &Repeat) -> f64 {
    let operation = |value: Value| match value.pool() {
        Some(_) => None,
        None => function.lines.get(function.defined[value.index()] as usize).map(|line| line.operation),
    };
    let counted = || {
        let carried = repeat.carried.iter().find(|carried| carried.next == repeat.counter)?;
        let Operation::AddConstant(_, step) = operation(carried.next)? else { return None };
        let distance = match repeat.limit {
            Limit::Integer(limit) => match operation(carried.first)? {
                Operation::Integer(first) => limit - first,
                _ => return None,
            },
            Limit::Value(limit) => match operation(limit)? {
                Operation::AddConstant(from, distance) if from == carried.first => distance,
                _ => return None,
            },
        };
        Some((distance as f64 / step as f64).max(1.0))
    };
    counted().unwrap_or(1.0)
}

/// The cycles in which a line is issued, and those until its result is there.
fn cycles(function: &Function, line: &Line) -> (f64, f64) {
    // Vectors of 64 bytes are issued in two halves.
    let wide = line.result.map_or(1.0, |result| f64::from(function.lanes(result)) * f64::from(function.bytes) / 32.0);
    let halves = wide.max(1.0);
    match line.operation {
        Operation::Integer(_) | Operation::LoadInteger(_) | Operation::Memory(_) => (0.15, 1.0),
        Operation::AddIntegers(..) | Operation::AddConstant(..) | Operation::Double(..) => (0.15, 1.0),
        Operation::Scale(..) | Operation::LoadIndex(_) => (0.3, 4.0),
        Operation::Load(_) => (0.3 * halves, 5.0),
        Operation::Store(..) => (0.5, 0.0),
        Operation::Arithmetic(Arithmetic::Divide, ..) => (5.0 * halves, 13.0),
        Operation::Arithmetic(..) => (0.25 * halves, 3.0),
        Operation::Simple(Simple::Sqrt, _) => (8.0 * halves, 20.0),
        Operation::Simple(Simple::Abs, _) | Operation::CopySign(..) => (0.25 * halves, 1.0),
        Operation::Simple(..) => (1.0 * halves, 8.0),
        Operation::Choose(..) => (0.5 * halves, 4.0),
        Operation::Splat(_) | Operation::Lane(..) | Operation::Later(..) => (0.3, 3.0),
        Operation::Join { count, .. } => (0.3 * f64::from(count), 4.0),
        Operation::Call(number) => {
            let call = &function.calls[number as usize];
            let time = match call.lanes {
                1 => CALL,
                lanes if call.own => CALL_OF_LANES * (f64::from(lanes) / 4.0).max(1.0),
                lanes => CALL * f64::from(lanes),
            };
            (time, time)
        }
        Operation::Second(_) => (1.0, 5.0),
        Operation::Guard(..) => (0.5, 0.0),
        Operation::Begin(_) | Operation::End(_) => (0.0, 0.0),
    }
}
