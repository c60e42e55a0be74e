//! The group of processes ("ranks") that differentiate together, and its data exchanges.
//!
//! Made by users; called by [`Distributed`](crate::Distributed) and [`Terms`](crate::Terms). Every exchange of data follows an
//! [agreement](crate::agreement) of all ranks.

use crate::agreement::{Call, Vote, collect, vote};
use crate::part::{Part, share};
use differentiation_interface::backend::Backend;
use differentiation_interface::error::{Error, ErrorKind};
use mpi::Count;
use mpi::datatype::{Partition, PartitionMut};
use mpi::request::{LocalScope, Request};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence};
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A communicator of this thread, and how far its calls have come.
pub(crate) struct Group {
    key: usize,
    /// Never freed: this thread may end after MPI has.
    pub(crate) world: ManuallyDrop<SimpleCommunicator>,
    /// The number of agreements so far.
    pub(crate) calls: u64,
    /// When the last one ended.
    last: Instant,
    /// The rank that was lost.
    pub(crate) lost: Option<ErrorKind>,
}

thread_local! {
    /// A communicator cannot leave its thread, but a backend must be able to. So a backend has the key of a group.
    static GROUPS: RefCell<Vec<Group>> = const { RefCell::new(Vec::new()) };
}

/// The next key.
static KEYS: AtomicUsize = AtomicUsize::new(0);

/// The processes that differentiate together. Plain data; a call on a different thread than that of [`new`](Ranks::new) is an error.
///
/// All ranks make the same calls with the same arguments in the same order. Each call starts with an agreement: every rank reports
/// what it was called with and whether its own work succeeded, and if two ranks differ or one has failed, all ranks return an error.
/// A rank that does not come within the [time limit](Ranks::with_timeout) ends the group with an error on all ranks that did come.
///
/// The calls use messages of a duplicate of the communicator, apart from those of the program. MPI keeps it until the end, so make
/// one group and keep it.
///
/// # Example
/// ```
/// use differentiation_interface_mpi::{Ranks, mpi};
///
/// let universe = mpi::initialize().expect("MPI is not initialised yet");
/// let ranks = Ranks::new(&universe.world());
/// // The squares of 0, 1, ..., 9: each rank computes those of its part.
/// let sum = ranks.sum(10, 1, |k, term| term[0] = (k * k) as f64)?;
/// assert_eq!(sum, [285.0]);
/// # Ok::<(), differentiation_interface::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ranks {
    key: usize,
    rank: usize,
    size: usize,
    timeout: Duration,
}

impl Ranks {
    /// Makes a group of all processes of a communicator, with a time limit of one minute. All of them must call this.
    pub fn new(communicator: &impl Communicator) -> Ranks {
        let key = KEYS.fetch_add(1, Ordering::Relaxed);
        let world = ManuallyDrop::new(communicator.duplicate());
        let count = |ranks: i32| usize::try_from(ranks).expect("MPI counts processes from zero");
        let (rank, size) = (count(world.rank()), count(world.size()));
        GROUPS.with_borrow_mut(|groups| groups.push(Group { key, world, calls: 0, last: Instant::now(), lost: None }));
        Ranks { key, rank, size, timeout: Duration::from_secs(60) }
    }
    /// The same group with another time limit: how long a rank waits for the others in each call. It covers the difference between the
    /// fastest and the slowest rank.
    pub fn with_timeout(self, timeout: Duration) -> Ranks {
        Ranks { timeout, ..self }
    }
    /// This process.
    pub fn rank(&self) -> usize {
        self.rank
    }
    /// The number of processes.
    pub fn size(&self) -> usize {
        self.size
    }
    /// This rank's part of the numbers `0..count`: parts follow each other and differ in length by at most one.
    pub fn range(&self, count: usize) -> Range<usize> {
        share(count, self.rank, self.size)
    }
    /// This rank's part of a backend: it computes the seeds of this rank. For [`Distributed::over`](crate::Distributed::over).
    pub fn part<B: Backend>(&self, backend: B) -> Part<B> {
        Part::new(backend, self.rank, self.size)
    }
    /// Checks that these numbers are the same on all ranks, bit by bit.
    ///
    /// # Errors
    /// [`ErrorKind::RanksDisagree`] if they are not, [`ErrorKind::RankLost`] if a rank does not come in time.
    pub fn agree(&self, numbers: &[f64]) -> Result<(), Error> {
        let call = Call::new("agree", "ranks").at(numbers);
        self.settle(call, Ok(()))
    }

    /// Ends the part of a call that each rank does alone: returns the error of the first rank that failed or differs, on all ranks.
    pub(crate) fn settle(&self, call: Call, local: Result<(), Error>) -> Result<(), Error> {
        if self.size == 1 {
            return local;
        }
        let named = |kind: ErrorKind| Error::new(kind).during(call.operator, call.backend);
        GROUPS.with_borrow_mut(|groups| {
            let Some(group) = groups.iter_mut().find(|group| group.key == self.key) else {
                return Err(named(ErrorKind::RanksOfOtherThread));
            };
            if let Some(lost) = group.lost {
                return Err(named(lost));
            }
            group.calls += 1;
            let own = Vote::new(&call, group.calls, &local);
            let verdict = if self.rank == 0 {
                // The others wait for longer than the limit, and since the last agreement at most.
                let late = group.last.elapsed() > self.timeout;
                collect(&group.world, &own, self.size, self.timeout, late)
            } else {
                vote(&group.world, &own, self.timeout)
            };
            group.last = Instant::now();
            let Err(kind) = verdict else { return Ok(()) };
            if let ErrorKind::RankLost { .. } = kind {
                group.lost = Some(kind);
            }
            match (kind, local) {
                // A rank that failed has the error itself.
                (ErrorKind::RankFailed { .. }, Err(error)) => Err(error),
                _ => Err(named(kind)),
            }
        })
    }

    /// Makes an exchange of data, which is told when it is too late.
    fn complete(&self, exchange: impl FnOnce(&SimpleCommunicator, &mut dyn FnMut() -> bool)) {
        let deadline = Instant::now() + self.timeout;
        GROUPS.with_borrow(|groups| {
            let group = groups.iter().find(|group| group.key == self.key).expect("the agreement found it");
            exchange(&group.world, &mut || Instant::now() > deadline)
        })
    }

    /// Collects `own` of every rank in `all`, where rank `r` has `counts[r]` entries.
    pub(crate) fn gather<T: Equivalence>(&self, own: &[T], all: &mut [T], counts: &Counts) {
        self.complete(|world, late| {
            let mut parts = PartitionMut::new(all, &counts.counts[..], &counts.starts[..]);
            mpi::request::scope(|scope| {
                finish(world, late, world.immediate_all_gather_varcount_into(scope, own, &mut parts));
            });
        });
    }

    /// Sends `to_send` of `own` to each rank, and receives its part of `all`. No rank may have nothing to send and to receive: OpenMPI 4.1
    /// then leaves this call out on that rank, and takes its next one for it.
    pub(crate) fn exchange(&self, own: &[f64], to_send: &Counts, all: &mut [f64], to_receive: &Counts) {
        self.complete(|world, late| {
            let parts = Partition::new(own, &to_send.counts[..], &to_send.starts[..]);
            let mut received = PartitionMut::new(all, &to_receive.counts[..], &to_receive.starts[..]);
            mpi::request::scope(|scope| {
                finish(world, late, world.immediate_all_to_all_varcount_into(scope, &parts, &mut received));
            });
        });
    }

    /// Collects one number of each rank.
    pub(crate) fn gather_numbers(&self, own: u64) -> Vec<u64> {
        let mut all = vec![0; self.size];
        self.complete(|world, late| {
            mpi::request::scope(|scope| {
                finish(world, late, world.immediate_all_gather_into(scope, &own, &mut all[..]));
            });
        });
        all
    }
}

/// Waits for an exchange that all ranks have agreed on. A rank that is lost in the middle of it leaves memory that MPI writes to, so that
/// no call can return: the job is aborted.
fn finish<'a, D: ?Sized>(
    world: &SimpleCommunicator,
    late: &mut dyn FnMut() -> bool,
    mut request: Request<'a, D, &LocalScope<'a>>,
) {
    loop {
        match request.test() {
            Ok(_) => return,
            Err(unfinished) => request = unfinished,
        }
        if late() {
            eprintln!("rank {}: a rank was lost in the middle of an exchange of data; the job ends", world.rank());
            world.abort(70);
        }
        std::thread::yield_now();
    }
}

/// How much of a buffer belongs to each rank, in the form that MPI takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    counts: Vec<Count>,
    starts: Vec<Count>,
    total: usize,
}

impl Counts {
    /// Sets the counts of all ranks.
    ///
    /// # Errors
    /// If they are more than MPI can count.
    pub(crate) fn set(&mut self, counts: impl IntoIterator<Item = usize>) -> Result<(), Error> {
        self.counts.clear();
        self.starts.clear();
        self.total = 0;
        for count in counts {
            self.starts.push(narrow(self.total)?);
            self.counts.push(narrow(count)?);
            self.total += count;
        }
        narrow(self.total).map(drop)
    }
    /// The counts of all ranks.
    ///
    /// # Errors
    /// If they are more than MPI can count.
    pub(crate) fn of(counts: impl IntoIterator<Item = usize>) -> Result<Counts, Error> {
        let mut made = Counts::default();
        made.set(counts)?;
        Ok(made)
    }
    /// The sum.
    pub(crate) fn total(&self) -> usize {
        self.total
    }
    /// The part of a rank.
    pub(crate) fn range(&self, rank: usize) -> Range<usize> {
        let at = |count: Count| usize::try_from(count).expect("counts are made of sizes");
        at(self.starts[rank])..at(self.starts[rank]) + at(self.counts[rank])
    }
}

/// A size as MPI counts.
fn narrow(size: usize) -> Result<Count, Error> {
    let limit = Count::MAX as usize;
    Count::try_from(size).map_err(|_| ErrorKind::RankMessage { size, limit }.into())
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn more_than_mpi_can_count_is_refused() {
        let counts = Counts::of([3, 0, 2]).unwrap();
        assert_eq!((counts.total(), counts.range(0), counts.range(1), counts.range(2)), (5, 0..3, 3..3, 3..5));
        let error = Counts::of([1 << 31]).unwrap_err();
        assert!(error.to_string().contains("2147483648"), "{error}");
    }
}
