//! The agreement of all ranks at the start of an exchange: the same call, the same arguments, no failure, no rank lost.
//!
//! Called by [`Ranks`](crate::Ranks). Every rank sends a vote to rank 0, which returns a verdict to all. Votes and verdicts are so
//! short that MPI sends them without waiting for their receiver, and receivers poll, so that a lost rank keeps none waiting for ever.

use differentiation_interface::error::{Error, ErrorKind};
use differentiation_interface::scalar::Base;
use mpi::topology::{Rank, SimpleCommunicator};
use mpi::traits::{Communicator, Destination, Source};
use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The tags of the messages.
const VOTE: i32 = 1;
const VERDICT: i32 = 2;
const TEXT: i32 = 3;
const GONE: i32 = 4;

/// The longest text of an error that is sent to other ranks. Below the size from which MPI waits for a receiver.
const LONGEST_TEXT: usize = 1024;

/// What a rank was called with, as hashes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) operator: &'static str,
    pub(crate) backend: &'static str,
    function: u64,
    length: u64,
    point: u64,
    plan: u64,
}

impl Call {
    pub(crate) fn new(operator: &'static str, backend: &'static str) -> Call {
        Call { operator, backend, function: 0, length: 0, point: 0, plan: 0 }
    }
    /// With a function of the type `F`.
    pub(crate) fn of<F>(self) -> Call {
        Call { function: hash_text(std::any::type_name::<F>()), ..self }
    }
    /// With this variant.
    pub(crate) fn variant(self, variant: u64) -> Call {
        Call { function: mix(self.function, variant), ..self }
    }
    /// At this point.
    pub(crate) fn at<S: Base>(self, point: &[S]) -> Call {
        let hash = point.iter().fold(0, |hash, x| mix(hash, x.as_f64().to_bits()));
        Call { length: point.len() as u64, point: mix(self.point, hash), ..self }
    }
    /// With this division of the work.
    pub(crate) fn planned(self, plan: u64) -> Call {
        Call { plan, ..self }
    }
}

/// Adds a word to a hash (that of Firefox and rustc).
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

fn hash_text(text: &str) -> u64 {
    text.bytes().fold(0, |hash, byte| mix(hash, u64::from(byte)))
}

/// What a rank tells rank 0: the number of the call, whether it failed, the call, the length, the point, the division of the work.
const WORDS: usize = 6;

/// What each word but the second means, in the order in which they are compared; a failure comes before a difference in the last one,
/// which a rank that failed does not know.
const MEANING: [&str; WORDS] = [
    "number of calls before this one",
    "failure",
    "operator, backend or function",
    "length of the point or of a seed",
    "point, seed or number",
    "pattern, number of outputs or division of the work",
];

/// A vote with the text of its failure.
pub(crate) struct Vote {
    words: [u64; WORDS],
    text: String,
}

impl Vote {
    pub(crate) fn new(call: &Call, calls: u64, local: &Result<(), Error>) -> Vote {
        let name = mix(mix(hash_text(call.operator), hash_text(call.backend)), call.function);
        let failed = u64::from(local.is_err());
        let mut text = String::new();
        if let Err(error) = local {
            text = match error.kind() {
                ErrorKind::RankFailed { message, .. } => message.to_string(),
                _ => error.to_string(),
            };
            let mut end = LONGEST_TEXT.min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
            // A message of no bytes would be none.
            if text.is_empty() {
                text.push('?');
            }
        }
        Vote { words: [calls, failed, name, call.length, call.point, call.plan], text }
    }
}

/// The kinds of verdicts.
const FINE: u64 = 0;
const LOST: u64 = 1;
const DIFFERENT: u64 = 2;
const FAILED: u64 = 3;

/// Rank 0: collects the votes, and returns the verdict to all. If it may be `late`, others may have given up.
pub(crate) fn collect(
    world: &SimpleCommunicator,
    own: &Vote,
    size: usize,
    timeout: Duration,
    late: bool,
) -> Result<(), ErrorKind> {
    let deadline = Instant::now() + timeout;
    let (mut lost, mut different, mut failed) = (None, None, None);
    let mut text = String::new();
    if own.words[1] != 0 {
        failed = Some(0);
        text.clone_from(&own.text);
    }
    for rank in 1..size {
        let mut words = [0; WORDS];
        if !receive(world, rank, VOTE, &mut words, deadline) {
            lost = lost.or(Some(rank));
            continue;
        }
        if words[1] != 0 {
            let Some(found) = receive_text(world, rank, deadline) else {
                lost = lost.or(Some(rank));
                continue;
            };
            if failed.is_none() {
                failed = Some(rank);
                text = found;
            }
        }
        let either_failed = words[1] != 0 || own.words[1] != 0;
        let differs = |&i: &usize| words[i] != own.words[i] && i != 1 && !(i == WORDS - 1 && either_failed);
        different = different.or_else(|| (0..WORDS).find(differs).map(|word| (rank, word)));
    }
    let left = if late { left_without_verdict(world, size) } else { None };
    let verdict = match (left.or(lost), different, failed) {
        (Some(rank), ..) => [LOST, rank as u64, 0],
        (None, Some((rank, word)), _) => [DIFFERENT, rank as u64, word as u64],
        (None, None, Some(rank)) => [FAILED, rank as u64, 0],
        (None, None, None) => [FINE, 0, 0],
    };
    for rank in 1..size {
        let process = world.process_at_rank(rank as Rank);
        process.send_with_tag(&verdict[..], VERDICT);
        if verdict[0] == FAILED {
            process.send_with_tag(text.as_bytes(), TEXT);
        }
    }
    judged(verdict, timeout, || text)
}

/// Rank 0 itself, if a rank has given up waiting for it. MPI may find a message at the second look only.
fn left_without_verdict(world: &SimpleCommunicator, size: usize) -> Option<usize> {
    let gone = |rank| world.process_at_rank(rank as Rank).immediate_probe_with_tag(GONE).is_some();
    poll(Instant::now() + Duration::from_millis(10), || (1..size).any(gone).then_some(0))
}

/// Any other rank: sends its vote, and waits for the verdict.
pub(crate) fn vote(world: &SimpleCommunicator, own: &Vote, timeout: Duration) -> Result<(), ErrorKind> {
    let first = world.process_at_rank(0);
    first.send_with_tag(&own.words[..], VOTE);
    if own.words[1] != 0 {
        first.send_with_tag(own.text.as_bytes(), TEXT);
    }
    // Rank 0 may come as late as the limit allows, and then wait for another rank as long.
    let deadline = Instant::now() + timeout * 2 + Duration::from_millis(100);
    let mut verdict = [0; 3];
    if !receive(world, 0, VERDICT, &mut verdict, deadline) {
        // Should rank 0 come after all, it finds this.
        first.send_with_tag(&verdict[..], GONE);
        return Err(lost(0, timeout));
    }
    let mut text = None;
    if verdict[0] == FAILED {
        text = receive_text(world, 0, deadline);
        if text.is_none() {
            return Err(lost(0, timeout));
        }
    }
    judged(verdict, timeout, || text.unwrap_or_default())
}

fn lost(rank: usize, timeout: Duration) -> ErrorKind {
    ErrorKind::RankLost { rank, milliseconds: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX) }
}

/// A verdict as a result.
fn judged(verdict: [u64; 3], timeout: Duration, text: impl FnOnce() -> String) -> Result<(), ErrorKind> {
    let rank = usize::try_from(verdict[1]).unwrap_or(usize::MAX);
    match verdict[0] {
        FINE => Ok(()),
        LOST => Err(lost(rank, timeout)),
        DIFFERENT => {
            let word = usize::try_from(verdict[2]).unwrap_or(0);
            Err(ErrorKind::RanksDisagree { rank, what: MEANING.get(word).copied().unwrap_or("argument") })
        }
        _ => Err(ErrorKind::RankFailed { rank, message: kept(text()) }),
    }
}

/// Polls until there is a message of this rank; `None` after the deadline.
fn poll<T>(deadline: Instant, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = probe() {
            return Some(found);
        }
        let now = Instant::now();
        if now > deadline {
            return None;
        }
        // A rank that is late by more than this does not mind another tenth of a millisecond.
        if now - start > Duration::from_millis(20) {
            std::thread::sleep(Duration::from_micros(100));
        } else {
            std::thread::yield_now();
        }
    }
}

/// Receives words; `false` if they do not come in time.
fn receive(world: &SimpleCommunicator, from: usize, tag: i32, words: &mut [u64], deadline: Instant) -> bool {
    let process = world.process_at_rank(from as Rank);
    let Some((message, _)) = poll(deadline, || process.immediate_matched_probe_with_tag(tag)) else { return false };
    message.matched_receive_into(words);
    true
}

/// Receives the text of a failure.
fn receive_text(world: &SimpleCommunicator, from: usize, deadline: Instant) -> Option<String> {
    let process = world.process_at_rank(from as Rank);
    let (message, status) = poll(deadline, || process.immediate_matched_probe_with_tag(TEXT))?;
    let mut bytes = vec![0_u8; usize::try_from(status.count(u8::equivalent_datatype())).unwrap_or(0)];
    message.matched_receive_into(&mut bytes[..]);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

use mpi::traits::Equivalence;

/// A text as errors keep it. Each different one is kept once for the rest of the program.
pub(crate) fn kept(text: String) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    match texts.get(&*text) {
        Some(found) => found,
        None => {
            let text: &'static str = Box::leak(text.into_boxed_str());
            texts.insert(text);
            text
        }
    }
}

/// Runs this rank's own work. A panic becomes an error, so that the other ranks are told.
pub(crate) fn attempt<R>(rank: usize, work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(panic) => {
            let message = kept(format!("the function panicked: {}", text_of(&*panic)));
            Err(ErrorKind::RankFailed { rank, message }.into())
        }
    }
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_once() {
        assert!(std::ptr::eq(kept("once".to_string()), kept("once".to_string())));
    }

    #[test]
    fn calls_differ_by_bits_of_the_point() {
        let call = |x: &[f64]| Call::new("jacobian", "forward_diff").at(x).point;
        assert_eq!(call(&[1.0, 2.0]), call(&[1.0, 2.0]));
        assert_ne!(call(&[0.0]), call(&[-0.0]));
        assert_ne!(call(&[1.0, 2.0]), call(&[2.0, 1.0]));
    }

    #[test]
    fn texts_are_cut_at_a_character() {
        let long = "ä".repeat(2000);
        let failed = Err(Error::new(ErrorKind::RankFailed { rank: 0, message: kept(format!("x{long}")) }));
        let vote = Vote::new(&Call::new("jacobian", ""), 1, &failed);
        assert_eq!(vote.text.len(), 1023);
    }
}
