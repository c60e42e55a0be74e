//! The paths that recorded calls have taken, which the outcomes of comparisons tell apart.
//!
//! Kept by `tiers`, which compiles a path that recurs.

use super::making_programs::{Left, Refused};
use crate::backends::compiled_reverse_diff::Trial;

/// The number of paths that are remembered.
const MOST: usize = 16;

/// A path, as the last recorded call took it.
#[derive(Clone, Debug)]
pub(super) struct Path {
    trial: Trial,
    /// The hash of the constants of that call, if it had some.
    constants: Option<u64>,
    /// Why it is left to the tape, if it is.
    left: Option<Left>,
    /// Whether a program of it is in use.
    pub(super) has_program: bool,
    pub(super) refused: Refused,
}

impl Path {
    /// Whether the function has read other data than in this call with the same constants.
    pub(super) fn reads_other_data(&self, trial: &Trial, constants: Option<u64>) -> bool {
        self.constants == constants && self.trial.fingerprint.constants != trial.fingerprint.constants
    }

    /// Why it is left to the tape in this call.
    pub(super) fn left(&self, call: u64) -> Option<Left> {
        self.left.filter(|left| call < left.until)
    }
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths(Vec<Path>);

impl Paths {
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// The place of the path that a recorded call took.
    pub(super) fn find(&self, trial: &Trial) -> Option<usize> {
        self.0.iter().position(|path| path.trial.fingerprint.operations == trial.fingerprint.operations)
    }

    pub(super) fn at(&self, place: usize) -> &Path {
        &self.0[place]
    }

    /// Remembers a new path, and returns its place unless there are too many.
    pub(super) fn add(&mut self, trial: &Trial, constants: Option<u64>) -> Option<usize> {
        let place = self.0.len();
        if place == MOST {
            return None;
        }
        self.0.push(Path {
            trial: trial.clone(),
            constants,
            left: None,
            has_program: false,
            refused: Refused::default(),
        });
        Some(place)
    }

    /// Remembers another call on a path.
    pub(super) fn note(&mut self, place: usize, trial: &Trial, constants: Option<u64>) {
        (self.0[place].trial, self.0[place].constants) = (trial.clone(), constants);
    }

    /// Leaves a path to the tape.
    pub(super) fn leave(&mut self, place: usize, left: Left) {
        self.0[place].left = Some(left);
    }

    /// A program of a path is in use.
    pub(super) fn use_program(&mut self, place: usize) {
        (self.0[place].left, self.0[place].has_program) = (None, true);
    }

    /// No program is in use any more.
    pub(super) fn leave_programs(&mut self) {
        self.0.iter_mut().for_each(|path| path.has_program = false);
    }

    /// Remembers which programs of a path were refused.
    pub(super) fn refuse(&mut self, place: usize, refused: Refused) {
        self.0[place].refused = refused;
    }

    /// The first call after `call` from which a path is compiled that has been left to the tape. One that has not been recorded in as many calls again is not
    /// expected any more.
    pub(super) fn compiled_from(&self, call: u64) -> Option<u64> {
        let until = self.0.iter().filter_map(|path| path.left).map(|left| left.until);
        until.filter(|until| *until < u64::MAX && call / 2 < *until).min().map(|until| until.max(call + 1))
    }
}
