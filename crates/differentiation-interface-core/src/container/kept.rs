//! What a preparation keeps of outputs that are containers: [`KeptOutput`].
//!
//! Written by evaluations, by engines that serve a call by a recording, and read by operators when they build results.

use super::{Container, Words, place_all};
use crate::recordings::OutputShape;
use crate::scalar::Scalar;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// The outputs of earlier runs of a function, one of which has the shape and the constant fields of the output of the present call.
#[derive(Debug)]
pub struct KeptOutput<W> {
    /// The output of the last run.
    last: Option<W>,
    /// Outputs of runs that engines have recorded.
    known: Vec<Known<W>>,
    /// Names for operators that need no output, with the words of the shapes.
    named: VecDeque<(OutputShape, Vec<u64>)>,
    /// Which output tells the shape: [`LAST`], [`NONE`], or the number of a known one. An engine that serves a call has the function only
    /// by reference, and preparations may be shared between threads.
    told: AtomicU64,
    /// The number of the name that was shown in this call and is not known; 0 if there is none.
    asked: AtomicU64,
}

/// The output of the last run tells the shape.
const LAST: u64 = 0;
/// The shape is not known: the call has not run the function yet.
const NONE: u64 = u64::MAX;
/// The number of different outputs that are known. An engine keeps 8 recordings for 8 constants each unless it is told otherwise; the shape
/// of a forgotten output takes a run of the function.
const MOST: usize = 64;

/// The output of a run.
#[derive(Clone, Debug)]
struct Known<W> {
    shape: OutputShape,
    /// Its lengths and constants; `None` if these do not all consist of plain data.
    words: Option<Vec<u64>>,
    output: W,
}

impl<W> Default for KeptOutput<W> {
    fn default() -> Self {
        let (told, asked) = (AtomicU64::new(NONE), AtomicU64::new(0));
        KeptOutput { last: None, known: Vec::new(), named: VecDeque::new(), told, asked }
    }
}

impl<W: Clone> Clone for KeptOutput<W> {
    fn clone(&self) -> Self {
        let copy = |number: &AtomicU64| AtomicU64::new(number.load(Ordering::Relaxed));
        let (told, asked) = (copy(&self.told), copy(&self.asked));
        KeptOutput { last: self.last.clone(), known: self.known.clone(), named: self.named.clone(), told, asked }
    }
}

impl<W> KeptOutput<W> {
    /// Begins a call: nothing is known of its output.
    #[inline]
    pub fn begin(&mut self) {
        (*self.told.get_mut(), *self.asked.get_mut()) = (NONE, 0);
    }

    /// Whether the shape of the output of this call is known.
    #[inline]
    pub fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed) != NONE
    }

    /// The output has this shape. A shape that is not known leaves it to a run of the function, after which
    /// [`keep_asked`](KeptOutput::keep_asked) makes it known.
    pub fn show(&self, shape: OutputShape) {
        let is_known = self.known.iter().any(|known| known.shape == shape);
        let (told, asked) = if is_known { (shape.number(), 0) } else { (NONE, shape.number()) };
        self.told.store(told, Ordering::Relaxed);
        self.asked.store(asked, Ordering::Relaxed);
    }

    /// An object with the shape and the constant fields of the output of this call.
    pub(super) fn output(&self) -> Option<&W> {
        let told = self.told.load(Ordering::Relaxed);
        let known = self.known.iter().find(|known| known.shape.number() == told);
        known.map(|known| &known.output).or(self.last.as_ref())
    }
}

impl<W: Container> KeptOutput<W> {
    /// The [outline](super::outline) of the output of this call, if the number of its numbers does not tell all of its shape.
    #[inline]
    pub fn outline(&self) -> Option<u64> {
        self.output().and_then(super::outline_beside_count)
    }

    /// Runs the function by `run`, which overwrites the last output, and copies the numbers to `y`.
    #[inline]
    pub fn renew(&mut self, y: &mut Vec<W::Scalar>, run: impl FnOnce(&mut Option<W>)) {
        // If the function panics, the output may be half written.
        *self.told.get_mut() = NONE;
        run(&mut self.last);
        *self.told.get_mut() = LAST;
        gather(self.last.as_ref(), y);
    }
}

/// Passes what an output consists of beside its numbers to `words`. Returns as [`Container::constants`] does.
fn told_by<W: Container>(output: &W, words: &mut Words<'_>) -> bool {
    output.lengths(words) && output.constants(words)
}

/// Whether an output has these words. They are compared before any are kept, so that calls with known shapes allocate nothing.
fn has_words<W: Container>(output: &W, known: &[u64]) -> bool {
    let mut words = Words::Compare(known);
    told_by(output, &mut words) && words.is_complete()
}

impl<W: Container + Clone> KeptOutput<W> {
    /// Names the shape of the output of this call, and keeps it for calls to come.
    pub fn remember(&mut self) -> Option<OutputShape> {
        match *self.told.get_mut() {
            NONE => None,
            LAST => match self.known_as() {
                None => self.last.is_some().then(|| self.keep(OutputShape::new())),
                known => known,
            },
            told => OutputShape::of_number(told),
        }
    }

    /// Keeps the output of a run that was made because a name which was [shown](KeptOutput::show) is not known: under this name.
    pub fn keep_asked(&mut self) {
        if let Some(shape) = OutputShape::of_number(std::mem::take(self.asked.get_mut())) {
            self.keep(shape);
        }
    }

    /// Names the shape of the output of this call for a caller that will not [show](KeptOutput::show) it: no output is kept for it. `None` where
    /// constants do not consist of plain data, so that the name would be another one in each call.
    pub fn name(&mut self) -> Option<OutputShape> {
        match *self.told.get_mut() {
            NONE => OutputShape::of_number(*self.asked.get_mut()),
            LAST => self.known_as().or_else(|| self.name_of_last()),
            told => OutputShape::of_number(told),
        }
    }

    /// The name of a known output that has the shape of the last one.
    fn known_as(&self) -> Option<OutputShape> {
        let last = self.last.as_ref()?;
        let is_same = |known: &&Known<W>| known.words.as_ref().is_some_and(|words| has_words(last, words));
        self.known.iter().find(is_same).map(|known| known.shape)
    }

    /// The name of the shape of the last output among those without an output, or a new one.
    fn name_of_last(&mut self) -> Option<OutputShape> {
        let last = self.last.as_ref()?;
        if let Some((shape, _)) = self.named.iter().find(|(_, words)| has_words(last, words)) {
            return Some(*shape);
        }
        let mut words = Vec::new();
        if !told_by(last, &mut Words::Keep(&mut words)) {
            return None;
        }
        let shape = OutputShape::new();
        if self.named.len() == MOST {
            self.named.pop_front();
        }
        self.named.push_back((shape, words));
        Some(shape)
    }

    /// Keeps a copy of the last output under a name, which it returns.
    fn keep(&mut self, shape: OutputShape) -> OutputShape {
        if let Some(last) = &self.last {
            let mut words = Vec::new();
            let words = told_by(last, &mut Words::Keep(&mut words)).then_some(words);
            if self.known.len() == MOST {
                self.known.remove(0);
            }
            self.known.push(Known { shape, words, output: last.clone() });
        }
        shape
    }
}

/// Copies the numbers of an output to `y`.
#[doc(hidden)]
#[inline]
pub fn gather<W: Container>(container: Option<&W>, y: &mut Vec<W::Scalar>) {
    y.clear();
    if let Some(container) = container {
        container.pieces(&mut |piece| y.extend_from_slice(piece));
    }
}

/// An object of the shape of the output of this call with the numbers `flat`.
#[doc(hidden)]
#[inline]
pub fn built<W: Container, S: Scalar>(kept: &KeptOutput<W>, flat: &[S]) -> W::With<S> {
    let output = kept.output().expect("a result exists only after the function has returned an output");
    let mut object = output.with::<S>();
    place_all(&mut object, flat);
    object
}

#[cfg(test)]
mod tests {
    use super::KeptOutput;
    use super::MOST;
    use crate::recordings::OutputShape;

    type Kept = KeptOutput<(Vec<f64>, Vec<f64>)>;

    fn run(kept: &mut Kept, split: usize) -> Option<OutputShape> {
        let mut y = Vec::new();
        kept.renew(&mut y, |last| *last = Some((vec![1.0; split], vec![2.0; 3 - split])));
        assert_eq!(y.len(), 3);
        kept.remember()
    }

    fn split(kept: &Kept) -> usize {
        kept.output().map_or(0, |output| output.0.len())
    }

    #[test]
    fn a_shape_that_was_remembered_is_shown_again() {
        let mut kept = Kept::default();
        assert!(!kept.is_told() && kept.remember().is_none());
        let (one, two) = (run(&mut kept, 1).unwrap(), run(&mut kept, 2).unwrap());
        assert_eq!(split(&kept), 2);
        kept.begin();
        assert!(!kept.is_told());
        kept.show(one);
        assert!(kept.is_told());
        assert_eq!((split(&kept), split(&kept.clone()), kept.remember()), (1, 1, Some(one)));
        kept.show(two);
        assert_eq!(split(&kept), 2);
        assert_eq!(run(&mut kept, 1), Some(one));
    }

    #[test]
    fn a_shape_of_another_preparation_is_not_known() {
        let (mut kept, mut other) = (Kept::default(), Kept::default());
        let theirs = run(&mut other, 1).unwrap();
        run(&mut kept, 2);
        kept.show(theirs);
        assert!(!kept.is_told());
    }

    #[test]
    fn a_run_that_panics_leaves_no_shape() {
        let mut kept = Kept::default();
        run(&mut kept, 1);
        let panics = std::panic::AssertUnwindSafe(|| kept.renew(&mut Vec::new(), |_| panic!("in the function")));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert!(!kept.is_told());
    }

    #[test]
    fn only_the_last_shapes_are_kept() {
        let mut kept = KeptOutput::<Vec<f64>>::default();
        let mut shapes = Vec::new();
        for length in 0..=MOST {
            kept.renew(&mut Vec::new(), |last| *last = Some(vec![0.0; length]));
            shapes.extend(kept.remember());
        }
        kept.show(shapes[0]);
        assert!(!kept.is_told());
        kept.show(shapes[1]);
        assert!(kept.is_told());
    }

    #[test]
    fn a_shape_that_was_forgotten_is_known_again_after_a_run() {
        let mut kept = Kept::default();
        let one = run(&mut kept, 1).unwrap();
        kept.known.clear();
        for split in [1, 2] {
            kept.begin();
            kept.show(one);
            // A name needs no output.
            assert_eq!((kept.is_told(), kept.name()), (split == 2, Some(one)));
            if split == 1 {
                kept.renew(&mut Vec::new(), |last| *last = Some((vec![1.0], vec![2.0; 2])));
                kept.keep_asked();
            }
            assert_eq!(self::split(&kept), 1);
        }
        // A run that no name has asked for is not kept.
        kept.begin();
        kept.renew(&mut Vec::new(), |last| *last = Some((vec![1.0; 2], vec![2.0])));
        kept.keep_asked();
        assert_eq!(kept.known.len(), 1);
    }

    #[test]
    fn names_keep_no_outputs_and_replace_none() {
        let mut kept = Kept::default();
        let one = run(&mut kept, 1).unwrap();
        let mut named = |length: usize| {
            kept.renew(&mut Vec::new(), |last| *last = Some((vec![1.0; length], Vec::new())));
            (kept.name(), kept.known.len(), kept.named.len())
        };
        let first = named(10).0;
        assert_eq!(named(10), (first, 1, 1));
        assert!((11..10 + MOST).all(|length| named(length).0 != first));
        assert_eq!(named(10), (first, 1, MOST));
        assert_eq!(named(9).2, MOST);
        assert_ne!(named(10).0, first);
        // The name of an output that is kept is that of the output.
        assert_eq!(run(&mut kept, 1), Some(one));
        assert_eq!(kept.name(), Some(one));
    }
}
