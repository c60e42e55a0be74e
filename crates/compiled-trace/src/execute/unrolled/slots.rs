//! The slots of a small program.
//!
//! Made by a small program from its constants; borrowed by its runs.

/// Numbers aligned to a cache line, wherever the memory begins: reading and writing a vector across two lines takes longer,
/// which shows in programs of some nanoseconds.
#[derive(Debug, Default)]
pub(in crate::execute) struct Slots<S> {
    /// Begins with copies of the first number that are never read.
    all: Vec<S>,
    first: usize,
}

/// Bytes of a cache line.
const LINE: usize = 64;

impl<S: Clone> Slots<S> {
    /// Copies numbers.
    pub(super) fn new(numbers: &[S]) -> Slots<S> {
        let most = LINE / size_of::<S>().max(1);
        let mut all: Vec<S> = Vec::with_capacity(numbers.len() + most);
        // Numbers whose size is not a power of 2 may have no aligned position.
        let first = Some(all.as_ptr().align_offset(LINE)).filter(|first| *first <= most).unwrap_or(0);
        all.extend(numbers.first().into_iter().cycle().take(first).cloned());
        let first = all.len();
        all.extend_from_slice(numbers);
        Slots { all, first }
    }
}

impl<S> Slots<S> {
    #[inline(always)]
    pub(in crate::execute) fn numbers(&mut self) -> &mut [S] {
        &mut self.all[self.first..]
    }
}

/// A copy is in other memory, whose alignment differs.
impl<S: Clone> Clone for Slots<S> {
    fn clone(&self) -> Slots<S> {
        Slots::new(&self.all[self.first..])
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE, Slots};

    #[test]
    fn slots_begin_at_lines() {
        for length in [1, 8, 100] {
            let numbers: Vec<f64> = (0..length).map(f64::from).collect();
            let mut slots = vec![Slots::new(&numbers)];
            for pad in 0..8 {
                // The pad is kept alive, so that the copies are at different addresses.
                std::hint::black_box(vec![0u8; 8 * pad]);
                slots.push(slots[pad].clone());
            }
            for slots in &mut slots {
                assert_eq!(slots.numbers(), numbers);
                assert_eq!(slots.numbers().as_ptr().addr() % LINE, 0);
            }
        }
        assert!(Slots::<f64>::new(&[]).clone().numbers().is_empty());
        // Of 24 bytes: every third one begins at 8 more bytes of a line.
        assert_eq!(Slots::new(&[[1.0; 3]; 10]).numbers(), [[1.0; 3]; 10]);
    }
}
