//! The constants for which a recording is known to be right.
//!
//! Kept with each recording; asked by `state` before a call, and told by it after a run of the function.

use differentiation_interface_core::recordings::Recordable;

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
}

#[derive(Clone, Debug, Default)]
struct Known {
    /// The constants of the call that last followed one with these.
    next: usize,
    /// Their bits, as [`Recordable::constants`] writes them.
    words: Vec<u64>,
    parameters: Vec<f64>,
}

/// Up to this size the memory for all constants that may be kept is reserved with the first ones.
const RESERVED: usize = 1 << 16;

impl KnownConstants {
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
                self.current = index;
                return Some(&self.known[index].parameters);
            }
            index = if index + 1 < count { index + 1 } else { 0 };
        }
        None
    }

    /// Keeps constants with the parameters that they give, and up to `most` different ones.
    pub(super) fn keep(&mut self, most: usize, words: &[u64], parameters: &[f64]) {
        if self.known.is_empty() && words.len() + parameters.len() <= RESERVED {
            self.known.resize_with(most, || Known {
                next: 0,
                words: Vec::with_capacity(words.len()),
                parameters: Vec::with_capacity(parameters.len()),
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
        let Known { next, words: known, parameters: values } = &mut self.known[at];
        *next = at;
        known.clear();
        known.extend_from_slice(words);
        values.clear();
        values.extend_from_slice(parameters);
    }
}
