//! The programs of a recording, and their executables and machine code.
//!
//! Called by `recording`; each program is made when it is first asked for.

use crate::backends::doubles::{doubles, is_double};
use compiled_trace::native;
use compiled_trace::{Absence, Executable, Program};
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Scalar};
use num_traits::Float;
use std::any::Any;
use std::sync::OnceLock;

/// What a program computes besides the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// Nothing.
    Value,
    /// The gradient of the one output.
    Gradient,
    /// The same in place of the output.
    GradientAlone,
    /// One pullback.
    Pullback,
    /// [`LANES`] pullbacks.
    Pullbacks,
    /// One pushforward.
    Pushforward,
    /// [`LANES`] pushforwards.
    Pushforwards,
    /// The requested entries, in place of the outputs.
    Entries,
    /// The requested entries, after the outputs.
    EntriesWithValue,
    /// Products of the Hessian with tangents of the point, in place of the outputs.
    HessianProducts,
}

/// The number of seeds that a program with several lanes propagates at once.
pub(in crate::backends) const LANES: usize = 4;
const KINDS: usize = 10;
/// The largest number of input slices of a program: point, parameters, seeds, and tangents of the point.
pub(in super::super) const MOST_INPUTS: usize = 2 + 2 * LANES;
/// The largest number of output slices: outputs, products, and the tangents of both.
pub(in super::super) const MOST_OUTPUTS: usize = (1 + LANES) * (1 + LANES);

/// What fills a derivative matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Filling {
    /// The gradient of the one output.
    Gradient,
    /// The requested entries.
    Entries,
}

impl Filling {
    /// The program of the matrix alone.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in super::super) fn alone(self) -> Kind {
        match self {
            Filling::Gradient => Kind::GradientAlone,
            Filling::Entries => Kind::Entries,
        }
    }

    /// The program of the outputs and the matrix.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in super::super) fn with_value(self) -> Kind {
        match self {
            Filling::Gradient => Kind::Gradient,
            Filling::Entries => Kind::EntriesWithValue,
        }
    }
}

impl Kind {
    /// Whether the outputs are the first result.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has_value(self) -> bool {
        !matches!(self, Kind::GradientAlone | Kind::Entries | Kind::HessianProducts)
    }

    /// The program for up to `seeds` seeds, and the number of seeds that it takes.
    pub(in super::super) fn pullback_of(seeds: usize) -> (Kind, usize) {
        if seeds <= 1 { (Kind::Pullback, 1) } else { (Kind::Pullbacks, LANES) }
    }

    /// The same for pushforwards.
    pub(in super::super) fn pushforward_of(seeds: usize) -> (Kind, usize) {
        if seeds <= 1 { (Kind::Pushforward, 1) } else { (Kind::Pushforwards, LANES) }
    }
}

/// A program, or its pushforward with one tangent or with [`LANES`] tangents of the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct ProgramKey {
    pub(in super::super) kind: Kind,
    /// 0, 1 or [`LANES`].
    pub(in super::super) tangents: usize,
    /// Whether absent derivatives are tracked.
    pub(in super::super) tracks: bool,
}

/// The number of programs that track absent derivatives, and of those that do not.
pub(in super::super) const KEYS: usize = 3 * KINDS;

impl ProgramKey {
    /// The program that runs first: it does not track absent derivatives.
    pub(in super::super) fn of(kind: Kind, tangents: usize) -> ProgramKey {
        ProgramKey { kind, tangents, tracks: false }
    }

    /// Its entry in a table with one entry per program.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in super::super) fn place_in<T>(self, all: &mut [[T; KEYS]; 2]) -> &mut T {
        &mut all[usize::from(self.tracks)][self.index()]
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn index(self) -> usize {
        3 * self.kind as usize + self.tangents.min(2)
    }

    /// Whether one of the derivatives among the results is NaN.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in super::super) fn is_spoilt<S: Scalar>(self, outputs: &[&mut [S]]) -> bool {
        let first = if self.kind.has_value() { 1 } else { 0 };
        let mut is_spoilt = false;
        for slice in &outputs[first..] {
            is_spoilt |= has_nan(slice);
        }
        is_spoilt
    }
}

/// Whether a number is NaN. Their sum is NaN if one of them is, and costs a short program the least; it is also NaN if there are infinite
/// numbers of both signs, so that each number is looked at then.
#[cfg_attr(not(debug_assertions), inline(always))]
fn has_nan<S: Scalar>(numbers: &[S]) -> bool {
    // Compiled here and not in every crate that differentiates.
    #[inline(never)]
    fn of_doubles(numbers: &[f64]) -> bool {
        has_nan_in(numbers)
    }
    if const { is_double::<S>() } {
        return doubles(&[numbers]).is_none_or(|slices| slices.iter().any(|numbers| of_doubles(numbers)));
    }
    has_nan_in(numbers)
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn has_nan_in<S: Scalar>(numbers: &[S]) -> bool {
    let (pieces, rest) = numbers.as_chunks::<8>();
    let mut sums = [S::Base::ZERO; 8];
    for piece in pieces {
        sums.iter_mut().zip(piece).for_each(|(sum, number)| *sum += number.peek());
    }
    let sum = rest.iter().fold(S::Base::ZERO, |sum, number| sum + number.peek());
    sums.into_iter().fold(sum, |sum, part| sum + part).is_nan() && contains_nan(numbers)
}

#[cold]
#[inline(never)]
fn contains_nan<S: Scalar>(numbers: &[S]) -> bool {
    numbers.iter().any(|number| number.peek().is_nan())
}

/// An executable or machine code of a program, and whether its results can be doubtful.
#[derive(Clone, Debug)]
pub(in super::super) struct Made<T> {
    pub(in super::super) code: T,
    /// Whether a NaN result may be a number if absent derivatives are tracked.
    pub(in super::super) is_doubtful: bool,
}

impl<T> Made<T> {
    fn of(absence: Absence, code: T) -> Made<T> {
        Made { code, is_doubtful: absence == Absence::Doubtful }
    }
}

/// The executables and machine code of one recording, of the programs that track absent derivatives or of those that do not.
#[derive(Debug)]
pub(in super::super) struct Programs {
    /// Behind pointers, because few of them are made and the tables are moved.
    executables: [OnceLock<Box<Made<Executable>>>; KEYS],
    /// Machine code of the same programs on doubles.
    doubles: Codes<f64>,
    /// The same on singles. A recording has one of the two.
    singles: OnceLock<Box<Codes<f32>>>,
}

/// Machine code by program; none where it was refused.
type Codes<B> = [OnceLock<Option<Box<Made<native::Compiled<B>>>>>; KEYS];

impl Default for Programs {
    fn default() -> Self {
        Programs {
            executables: [const { OnceLock::new() }; KEYS],
            doubles: [const { OnceLock::new() }; KEYS],
            singles: OnceLock::new(),
        }
    }
}

impl Programs {
    /// The executable of a program if it has been made.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in super::super) fn executable(&self, which: ProgramKey) -> Option<&Made<Executable>> {
        self.executables[which.index()].get().map(|made| &**made)
    }

    /// Makes the executable of a program. If another thread has made it meanwhile, both are the same.
    pub(super) fn make_executable(&self, which: ProgramKey, program: Program) -> &Made<Executable> {
        self.executables[which.index()].get_or_init(|| Box::new(Made::of(program.absence, program.executable())))
    }

    /// The machine code of all programs on numbers of this type. The comparison of types is made by the compiler.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn codes<B: Base>(&self) -> Option<&Codes<B>> {
        match (&self.doubles as &dyn Any).downcast_ref() {
            Some(codes) => Some(codes),
            None => {
                (&**self.singles.get_or_init(|| Box::new([const { OnceLock::new() }; KEYS])) as &dyn Any).downcast_ref()
            }
        }
    }

    /// The machine code of a program, if that has been tried.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in super::super) fn code<B: Base>(&self, which: ProgramKey) -> Option<Option<&Made<native::Compiled<B>>>> {
        self.codes()?[which.index()].get().map(Option::as_deref)
    }

    /// Makes the machine code of a program. Builds with `--cfg ad_interpreter` have none: `.ci/soak` tests the interpreter so.
    pub(super) fn make_code<B: Base>(
        &self,
        which: ProgramKey,
        program: &Program,
        threads: usize,
    ) -> Option<&Made<native::Compiled<B>>> {
        let made = || match cfg!(ad_interpreter) {
            true => None,
            false => {
                let code = native::Compiled::new(program, options(which, threads)).ok()?;
                Some(Box::new(Made::of(program.absence, code)))
            }
        };
        self.codes()?[which.index()].get_or_init(made).as_deref()
    }
}

/// The settings of machine code on up to so many threads; without threads, the number is 0.
fn options(which: ProgramKey, threads: usize) -> native::Options {
    let mut options = native::Options::default();
    // The number of the output that is a matrix, whose constant entries its last run may have written.
    options.kept = match (which.kind, which.tangents) {
        (Kind::Entries, 0) => Some(0),
        (Kind::EntriesWithValue, 0) => Some(1),
        _ => None,
    };
    #[cfg(feature = "rayon")]
    {
        options.threads = threads;
    }
    #[cfg(not(feature = "rayon"))]
    debug_assert_eq!(threads, 0, "there are no threads");
    options
}
