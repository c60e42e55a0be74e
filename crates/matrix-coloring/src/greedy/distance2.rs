//! Greedy partial distance-2 colouring: columns (or rows) that share a row (column) get distinct colours.
//!
//! Called by `greedy` for column and row problems. First fit is a function of pattern and order only, so every correct
//! implementation returns the same colours (Gebremedhin, Manne, Pothen 2005, algorithm 3.2).

use super::rules::{Fixed, Mask};
use crate::algorithm::NEUTRAL;
use crate::pattern::Lines;

/// Colours the lines of `own` in the given order; `other` is the transposed orientation, called only beyond the
/// widest mask.
pub(crate) fn color<'a>(own: &Lines, width: usize, order: &[u32], other: impl FnOnce() -> &'a Lines) -> Vec<u32> {
    masked::<1>(own, width, order)
        .or_else(|| masked::<2>(own, width, order))
        .or_else(|| masked::<4>(own, width, order))
        .or_else(|| masked::<16>(own, width, order))
        .unwrap_or_else(|| wide(own, other(), order))
}

/// Every index `i` keeps the set of colours present in it as `W` words. `None` when `64 W` colours do not suffice.
pub(super) fn masked<const W: usize>(own: &Lines, width: usize, order: &[u32]) -> Option<Vec<u32>> {
    let mut used = vec![Fixed::<W>::default(); width];
    let mut colors = vec![NEUTRAL; own.len()];
    for &v in order {
        let line = own.line(v as usize);
        let mut forbidden = Fixed::<W>::default();
        for &i in line {
            forbidden.join(&used[i as usize]);
        }
        let c = forbidden.lowest_zero()?;
        colors[v as usize] = c as u32;
        for &i in line {
            used[i as usize].set(c as u32);
        }
    }
    Some(colors)
}

/// For any number of colours. Short indices are scanned, long ones keep a growing mask and the number of its full
/// leading words, so a dense row costs amortised O(1) per column as long as it fills up in order.
pub(super) fn wide(own: &Lines, other: &Lines, order: &[u32]) -> Vec<u32> {
    const SCANNED: usize = 64;
    struct Filling {
        full: usize,
        words: Vec<u64>,
    }
    let mut masks: Vec<Filling> = Vec::new();
    let mut mask_of = vec![u32::MAX; other.len()];
    for (i, slot) in mask_of.iter_mut().enumerate() {
        if other.range(i).len() > SCANNED {
            *slot = masks.len() as u32;
            masks.push(Filling { full: 0, words: Vec::new() });
        }
    }
    let mut colors = vec![NEUTRAL; own.len()];
    let mut scratch: Vec<u64> = Vec::new();
    for &v in order {
        let line = own.line(v as usize);
        let mut start = 0;
        for &i in line {
            if let Some(mask) = masks.get(mask_of[i as usize] as usize) {
                start = start.max(mask.full);
            } else {
                for &x in other.line(i as usize) {
                    let c = colors[x as usize];
                    if c != NEUTRAL {
                        let word = c as usize / 64;
                        if scratch.len() <= word {
                            scratch.resize(word + 1, 0);
                        }
                        scratch[word] |= 1 << (c % 64);
                    }
                }
            }
        }
        let mut word = start;
        let c = loop {
            let mut forbidden = scratch.get(word).copied().unwrap_or(0);
            for &i in line {
                if let Some(mask) = masks.get(mask_of[i as usize] as usize) {
                    forbidden |= mask.words.get(word).copied().unwrap_or(0);
                }
            }
            if forbidden != u64::MAX {
                break word * 64 + forbidden.trailing_ones() as usize;
            }
            word += 1;
        };
        colors[v as usize] = c as u32;
        for &i in line {
            if let Some(mask) = masks.get_mut(mask_of[i as usize] as usize) {
                if mask.words.len() <= c / 64 {
                    mask.words.resize(c / 64 + 1, 0);
                }
                mask.words[c / 64] |= 1 << (c % 64);
                while mask.words.get(mask.full) == Some(&u64::MAX) {
                    mask.full += 1;
                }
            } else {
                for &x in other.line(i as usize) {
                    let c = colors[x as usize];
                    if c != NEUTRAL && (c as usize / 64) < scratch.len() {
                        scratch[c as usize / 64] = 0;
                    }
                }
            }
        }
    }
    colors
}
