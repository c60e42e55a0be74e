//! Second-order events as handles into an arena: the products of first-order sets that a number contains.
//!
//! Called by [`arena`](crate::arena). An operation pushes a union of two events or a product of two sets. Events that the
//! result does not reach are dead and do not appear in the pattern.

use crate::sets::{EMPTY, LIMIT, Set, Sets};

/// An event: 0 is none.
pub(crate) type Event = u32;

/// No event.
pub(crate) const NONE: Event = 0;

/// Bit in the first half of a node that makes it a product.
const PRODUCT: u32 = LIMIT;

/// Number of products remembered, so that a repeated product is one event.
const REMEMBERED: usize = 1024;

/// The arena of events of one detection.
pub(crate) struct Events {
    nodes: Vec<(u32, u32)>,
    products: Vec<(Set, Set, Event)>,
    overflow: bool,
    work: Work,
}

/// Memory of [`Events::rows`].
struct Work {
    live: Vec<u64>,
    products: Vec<(Set, Set)>,
    /// Where the members of a set begin in `members`, by handle; 0 before they are written.
    starts: Vec<u32>,
    ends: Vec<u32>,
    members: Vec<u32>,
    pointers: Vec<u32>,
    partners: Vec<Set>,
    squares: Vec<Set>,
    nearest: Vec<Set>,
}

impl Events {
    pub(crate) const fn new() -> Events {
        Events {
            nodes: Vec::new(),
            products: Vec::new(),
            overflow: false,
            work: Work {
                live: Vec::new(),
                products: Vec::new(),
                starts: Vec::new(),
                ends: Vec::new(),
                members: Vec::new(),
                pointers: Vec::new(),
                partners: Vec::new(),
                squares: Vec::new(),
                nearest: Vec::new(),
            },
        }
    }

    /// Empties the arena, keeping its memory.
    pub(crate) fn reset(&mut self) {
        self.nodes.clear();
        self.products.clear();
        self.products.resize(REMEMBERED, (EMPTY, EMPTY, NONE));
        self.overflow = false;
    }

    /// Whether more events were made than handles can number.
    pub(crate) fn overflow(&self) -> bool {
        self.overflow
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&mut self, left: u32, right: u32) -> Event {
        if self.nodes.len() + 1 >= LIMIT as usize {
            self.overflow = true;
            return NONE;
        }
        self.nodes.push((left, right));
        self.nodes.len() as u32
    }

    /// Both events.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn union(&mut self, a: Event, b: Event) -> Event {
        if a == b || b == NONE {
            a
        } else if a == NONE {
            b
        } else {
            self.push(a, b)
        }
    }

    /// All pairs of a member of `a` and a member of `b`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn product(&mut self, a: Set, b: Set) -> Event {
        if a == EMPTY || b == EMPTY {
            return NONE;
        }
        let (a, b) = (a.min(b), a.max(b));
        let slot = (a.wrapping_mul(0x9e37_79b1) ^ b.wrapping_mul(0x85eb_ca6b)) as usize >> 7 & (REMEMBERED - 1);
        let (first, second, event) = self.products[slot];
        if (first, second) == (a, b) {
            return event;
        }
        let event = self.push(a | PRODUCT, b);
        self.products[slot] = (a, b, event);
        event
    }

    /// The symmetric pattern of all pairs in `root`: returns the row pointers and leaves the column indices in `indices`;
    /// `None` if it has too many entries.
    pub(crate) fn rows(&mut self, root: Event, sets: &mut Sets, indices: &mut Vec<u32>) -> Option<Vec<u32>> {
        let inputs = sets.inputs() as usize;
        self.collect_products(root);
        self.drop_contained_products(sets);
        self.work.write_members(sets)?;
        self.work.sort_partners(inputs)?;
        self.work.write_rows(sets, indices)
    }

    /// Drops products that the square of a union of their sets contains: in a recurrence each step squares a set that is a part
    /// of the next, and every row would walk all of them.
    fn drop_contained_products(&mut self, sets: &Sets) {
        let Work { products, squares, nearest, .. } = &mut self.work;
        squares.clear();
        squares.extend(products.iter().filter(|(a, b)| a == b && *a > sets.inputs()).map(|(a, _)| *a));
        if squares.len() < 2 {
            return;
        }
        squares.sort_unstable();
        squares.dedup();
        sets.nearest_unions(squares, nearest);
        products.retain(|&(a, b)| {
            // The square of a set is not part of itself; a product of different ones is part of the square of the larger.
            let is_square = |set: Set| set != EMPTY && squares.binary_search(&set).is_ok();
            let (above_a, above_b) = (nearest[a as usize], nearest[b as usize]);
            let within = above_a != EMPTY && above_a == above_b;
            !(within || a != b && (is_square(b) && above_a == b || is_square(a) && above_b == a))
        });
    }

    /// Finds the products that `root` contains. Children come before their parents, so one sweep down the arena suffices.
    fn collect_products(&mut self, root: Event) {
        let Work { live, products, .. } = &mut self.work;
        products.clear();
        live.clear();
        live.resize(root as usize / 64 + 1, 0);
        live[root as usize / 64] |= 1 << (root % 64);
        for word in (0..live.len()).rev() {
            // Children of a node of this word may be in the same word, below it.
            let mut unseen = u64::MAX;
            loop {
                let candidates = live[word] & unseen;
                if candidates == 0 {
                    break;
                }
                let bit = 63 - candidates.leading_zeros();
                unseen = (1 << bit) - 1;
                let event = word * 64 + bit as usize;
                if event == NONE as usize {
                    continue;
                }
                let (left, right) = self.nodes[event - 1];
                if left & PRODUCT != 0 {
                    products.push((left & !PRODUCT, right));
                } else {
                    for child in [left, right] {
                        live[child as usize / 64] |= 1 << (child % 64);
                    }
                }
            }
        }
    }
}

impl Work {
    /// Writes out every set that occurs; `None` if they have too many members.
    fn write_members(&mut self, sets: &mut Sets) -> Option<()> {
        let inputs = sets.inputs() as usize;
        let Work { products, starts, ends, members, .. } = self;
        starts.clear();
        starts.resize(sets.handles(), 0);
        ends.clear();
        ends.resize(sets.handles(), 0);
        members.clear();
        members.push(0); // so that no list begins at 0
        for &(a, b) in products.iter() {
            for set in [a, b] {
                if set as usize > inputs && starts[set as usize] == 0 {
                    starts[set as usize] = u32::try_from(members.len()).ok()?;
                    sets.members(set, members);
                    ends[set as usize] = u32::try_from(members.len()).ok()?;
                }
            }
        }
        Some(())
    }

    /// Finds for every row the sets of its partners, by a counting sort; `None` if there are too many.
    fn sort_partners(&mut self, inputs: usize) -> Option<()> {
        let Work { products, starts, ends, members, pointers, partners, .. } = self;
        let each = |set: Set, visit: &mut dyn FnMut(usize)| {
            if set as usize <= inputs {
                visit(set as usize - 1);
            } else {
                members[starts[set as usize] as usize..ends[set as usize] as usize]
                    .iter()
                    .for_each(|&i| visit(i as usize));
            }
        };

        pointers.clear();
        pointers.resize(inputs + 2, 0);
        let mut total = 0usize;
        for &(a, b) in products.iter() {
            let mut count = |i: usize| {
                pointers[i + 2] += 1;
                total += 1;
            };
            each(a, &mut count);
            if a != b {
                each(b, &mut count);
            }
        }
        u32::try_from(total).ok()?;
        for i in 2..pointers.len() {
            pointers[i] += pointers[i - 1];
        }
        partners.clear();
        partners.resize(total, EMPTY);
        for &(a, b) in products.iter() {
            let mut meet = |i: usize, partner: Set| {
                partners[pointers[i + 1] as usize] = partner;
                pointers[i + 1] += 1;
            };
            each(a, &mut |i| meet(i, b));
            if a != b {
                each(b, &mut |i| meet(i, a));
            }
        }
        Some(())
    }

    /// Writes the rows: the members of the sets of partners, each once.
    fn write_rows(&mut self, sets: &mut Sets, indices: &mut Vec<u32>) -> Option<Vec<u32>> {
        let inputs = sets.inputs() as usize;
        let Work { starts, ends, members, pointers, partners, .. } = self;
        let mut row_pointers = Vec::with_capacity(inputs + 1);
        indices.clear();
        row_pointers.push(0);
        for i in 0..inputs {
            let row = &mut partners[pointers[i] as usize..pointers[i + 1] as usize];
            if row.len() > 16 {
                row.sort_unstable();
            }
            let start = indices.len();
            let marks = sets.marks();
            marks.begin();
            let mut previous = EMPTY;
            for &partner in row.iter() {
                if partner == previous {
                    continue;
                }
                previous = partner;
                if partner as usize <= inputs {
                    if marks.mark(partner - 1) {
                        indices.push(partner - 1);
                    }
                    continue;
                }
                for &j in &members[starts[partner as usize] as usize..ends[partner as usize] as usize] {
                    if marks.mark(j) {
                        indices.push(j);
                    }
                }
            }
            marks.sort(&mut indices[start..]);
            row_pointers.push(u32::try_from(indices.len()).ok()?);
        }
        Some(row_pointers)
    }
}

#[cfg(test)]
mod tests;
