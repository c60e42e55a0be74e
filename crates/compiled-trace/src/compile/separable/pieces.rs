//! Splits the segments of a class into iteration domains in which all addresses advance regularly.
//!
//! Called by `separable` once per class. Neighbouring segments whose addresses advance by the same distances are a row; rows of one kind
//! that advance regularly are a box, and so on. The inner cells of a grid are one box, its edges are others. What remains becomes one
//! domain whose addresses are in tables.

use super::classes::Class;
use crate::sorting;
use rustc_hash::FxHashMap;

/// Segments that advance regularly become a row or box if there are at least this many.
const MIN_RUN: usize = 3;
/// Rows of rows of rows: more dimensions than this are not looked for.
const DEEPEST: usize = 3;
/// Boxes of fewer segments have no nest of their own.
const MIN_PIECE: usize = 8;
/// Maximum number of boxes, and of instructions in all of them.
const MAX_PIECES: usize = 16;
const MAX_INSTRUCTIONS: usize = 4096;

/// Segments that a nest runs over: an iteration domain, and the segments in the order of its counters, last one fastest.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) trips: Vec<u32>,
    pub(super) members: Vec<u32>,
}

/// A piece, and a hash of what pieces of the same kind have in common.
struct Item {
    piece: Piece,
    kind: u64,
}

/// The number of boxes for a body of this many instructions.
pub(super) fn most(instructions: usize) -> usize {
    (MAX_INSTRUCTIONS / instructions.max(1)).clamp(1, MAX_PIECES)
}

fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A hash of the distances from the addresses of one segment to those of another. Equal hashes of other distances cost time only: each address
/// is compared when it is written.
fn step(class: &Class, from: u32, to: u32) -> u64 {
    let pairs = class.addresses(from).iter().zip(class.addresses(to));
    pairs.fold(1, |hash, (from, to)| mixed(hash, u64::from(to.wrapping_sub(*from))))
}

/// The pieces of a class: at most `most` boxes, and the rest.
pub(super) fn find(class: &Class, most: usize) -> Vec<Piece> {
    let mut items = rows(class);
    for _ in 1..DEEPEST {
        let before = items.len();
        items = boxes(class, items);
        if items.len() == before {
            break;
        }
    }
    let size = |item: &Item| item.piece.members.len();
    sorting::sort_by_key(&mut items, |item| std::cmp::Reverse(size(item)));
    let chosen = items.iter().take(most).take_while(|item| size(item) >= MIN_PIECE).count();
    let covered: usize = items[..chosen].iter().map(size).sum();
    let chosen = if 2 * covered < class.members { 0 } else { chosen };
    let mut rest: Vec<u32> = items[chosen..].iter().flat_map(|item| &item.piece.members).copied().collect();
    rest.sort_unstable();
    let mut pieces: Vec<Piece> = items.into_iter().take(chosen).map(|item| item.piece).collect();
    if !rest.is_empty() {
        let trips = if rest.len() == 1 { Vec::new() } else { vec![rest.len() as u32] };
        pieces.push(Piece { trips, members: rest });
    }
    pieces
}

/// Rows of neighbouring segments, and single ones.
fn rows(class: &Class) -> Vec<Item> {
    let count = class.members as u32;
    // The step to each segment from the one before.
    let steps: Vec<u64> = (0..count).map(|t| if t == 0 { 0 } else { step(class, t - 1, t) }).collect();
    let step_to = |t: u32| steps.get(t as usize).copied().unwrap_or(0);
    let mut items = Vec::new();
    let mut from = 0;
    while from < count {
        let mut to = from + 1;
        while to < count && step_to(to) == step_to(from + 1) {
            to += 1;
        }
        let length = to - from;
        if length as usize >= MIN_RUN {
            let piece = Piece { trips: vec![length], members: (from..to).collect() };
            items.push(Item { piece, kind: mixed(step_to(from + 1), u64::from(length)) });
            from = to;
        } else {
            // A single segment is told from others by the steps to and from it.
            let kind = mixed(step_to(from), step_to(from + 1));
            items.push(Item { piece: Piece { trips: Vec::new(), members: vec![from] }, kind });
            from += 1;
        }
    }
    items
}

/// Puts pieces of one kind that advance regularly together.
fn boxes(class: &Class, items: Vec<Item>) -> Vec<Item> {
    let mut kinds: FxHashMap<u64, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<Item>> = Vec::new();
    for item in items {
        let group = *kinds.entry(item.kind).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(item);
    }
    let mut found = Vec::new();
    for group in groups {
        let steps: Vec<u64> =
            group.windows(2).map(|pair| step(class, pair[0].piece.members[0], pair[1].piece.members[0])).collect();
        let mut group = group.into_iter().peekable();
        let mut from = 0;
        while let Some(mut item) = group.next() {
            let same = steps[from.min(steps.len())..].iter().take_while(|step| **step == steps[from]).count();
            let length = same + 1;
            if length < MIN_RUN {
                found.push(item);
                from += 1;
                continue;
            }
            let mut taken = 1;
            while taken < length
                && let Some(next) = group.next_if(|next| next.piece.trips == item.piece.trips)
            {
                item.piece.members.extend(next.piece.members);
                taken += 1;
            }
            if taken > 1 {
                item.piece.trips.insert(0, taken as u32);
            }
            item.kind = mixed(mixed(item.kind, steps[from]), taken as u64);
            found.push(item);
            from += taken;
        }
    }
    found
}
