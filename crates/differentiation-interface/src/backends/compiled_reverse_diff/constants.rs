//! The constants for which a recording is known to be right, and the shapes that the outputs have with them.
//!
//! Kept with each recording; asked by `state` before a call, and told by it after a run of the function.

use differentiation_interface_core::recordings::{OutputShape, Recordable};

/// Constants that a recording has been compared with, with the parameters of its programs that they give.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownConstants {
    /// The first `count` are in use, the others hold memory.
    known: Vec<Known>,
    count: usize,
    /// Those of the last call.
    current: usize,
    /// The oldest ones, once there are as many as are kept.
    oldest: usize,
    /// The shape of the outputs with the current constants, or of a function without constants, if they tell one. A field of its own,
    /// because small programs take a few nanoseconds.
    shape: Option<OutputShape>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    /// The constants of the call that last followed one with these.
    next: usize,
    /// Their bits, as [`Recordable::constants`] writes them.
    words: Vec<u64>,
    parameters: Vec<f64>,
    /// The shape of the outputs, if they tell one.
    shape: Option<OutputShape>,
}

/// Up to this size the memory for all constants that may be kept is reserved with the first ones.
const RESERVED: usize = 1 << 16;

impl KnownConstants {
    /// Of a function without constants, or of one whose constants are not known, with outputs of this shape.
    pub(super) fn none(shape: Option<OutputShape>) -> Self {
        KnownConstants { shape, ..KnownConstants::default() }
    }

    /// The shape of the outputs in this call, whose constants have been found if there are some.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn shape(&self) -> Option<OutputShape> {
        self.shape
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The parameters for the constants of this call, if they are known.
    #[inline]
    pub(super) fn find(&mut self, f: Option<&dyn Recordable>) -> Option<&[f64]> {
        let count = self.count;
        // Most calls have the constants of the last one, or those that followed it before.
        let mut index = self.known.get(self.current)?.next;
        for _ in 0..count {
            if f.constants_are(&self.known[index].words) {
                self.known[self.current].next = index;
                (self.current, self.shape) = (index, self.known[index].shape);
                return Some(&self.known[index].parameters);
            }
            index = if index + 1 < count { index + 1 } else { 0 };
        }
        None
    }

    /// Keeps constants with the parameters and the shape that they give, and up to `most` different ones.
    pub(super) fn keep(&mut self, most: usize, words: &[u64], parameters: &[f64], shape: Option<OutputShape>) {
        if self.known.is_empty() && words.len() + parameters.len() <= RESERVED {
            self.known.resize_with(most, || Known {
                next: 0,
                words: Vec::with_capacity(words.len()),
                parameters: Vec::with_capacity(parameters.len()),
                shape: None,
            });
        }
        let same = self.known[..self.count].iter().position(|known| known.words == words);
        self.current = match same {
            Some(same) => same,
            None if self.count < most => {
                self.count += 1;
                self.known.resize_with(self.known.len().max(self.count), Known::default);
                self.count - 1
            }
            None => {
                let oldest = self.oldest;
                self.oldest = (oldest + 1) % most;
                oldest
            }
        };
        let at = self.current;
        let Known { next, words: known, parameters: values, shape: known_shape } = &mut self.known[at];
        (*next, *known_shape, self.shape) = (at, shape, shape);
        known.clear();
        known.extend_from_slice(words);
        values.clear();
        values.extend_from_slice(parameters);
    }
}
