//! Sets of inputs as handles into an arena: the first-order part of a tracer.
//!
//! Called by [`arena`](crate::arena). A union is a node with two children, so an operation costs a push. The members of a node are
//! found by walking it, once, at the end.
//!
//! # Why is the walk never much longer than the result?
//! Every node stores the length of its walk, the sum of its children's (shared parts count each time they are visited). When that
//! length has doubled since the last check, the node is walked and the distinct inputs are counted; if they are at most half
//! as many, the node becomes a flat list. So a walk visits at most about four times the inputs it yields, plus a constant,
//! whatever the function does: long chains over few inputs, values shared by all outputs, repeated products with dense
//! matrices. The checks cost a constant number of steps per operation, since the length doubles between them. Equal lists are
//! stored once, and large unions are remembered, so that the second row of a dense product costs one look-up per operation.

use std::collections::BTreeMap;

/// A set of inputs: 0 is empty, `1..=n` the inputs, above them nodes.
pub(crate) type Set = u32;

/// The empty set.
pub(crate) const EMPTY: Set = 0;

/// Handles stay below this: the bit above marks products among events.
pub(crate) const LIMIT: u32 = 1 << 31;

#[derive(Clone, Copy)]
struct Node {
    /// A child, or the start of a flat list.
    left: u32,
    /// A child, or the end of a flat list.
    right: u32,
    measure: Measure,
}

/// Length of the walk (26 bits), exponent of the length of the next check (5 bits), flat or not (1 bit).
#[derive(Clone, Copy)]
struct Measure(u32);

impl Measure {
    const LEAF: Measure = Measure::new(1, 5, false);
    const LONGEST: u32 = (1 << 26) - 1;

    const fn new(length: u32, look_at: u32, flat: bool) -> Measure {
        Measure(length << 6 | look_at << 1 | flat as u32)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn length(self) -> u32 {
        self.0 >> 6
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn look_at(self) -> u32 {
        (self.0 >> 1) & 31
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_flat(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Exponent of the first power of two that is at least twice `length`.
fn next_look(length: usize) -> u32 {
    (length.max(16) * 2).next_power_of_two().trailing_zeros().min(31)
}

/// The arena of sets of one detection.
pub(crate) struct Sets {
    inputs: u32,
    /// By handle. The empty set and the inputs have nodes too, so that an operation reads measures without a branch.
    nodes: Vec<Node>,
    lists: Vec<u32>,
    /// Flat lists with the sets whose union they are, in order.
    origins: Vec<(Set, Set, Set)>,
    /// Flat lists by a hash that does not depend on their order.
    known: BTreeMap<u64, Set>,
    /// Large unions computed before: operands and result.
    unions: Vec<[(Set, Set, Set); 4]>,
    marks: Marks,
    stack: Vec<Set>,
    scratch: Vec<u32>,
    overflow: bool,
}

/// Number of buckets for large unions, of four each, and the smallest length of these.
const REMEMBERED: usize = 1 << 12;
const LARGE: u32 = 64;

impl Sets {
    pub(crate) const fn new() -> Sets {
        Sets {
            inputs: 0,
            nodes: Vec::new(),
            lists: Vec::new(),
            origins: Vec::new(),
            known: BTreeMap::new(),
            unions: Vec::new(),
            marks: Marks::new(),
            stack: Vec::new(),
            scratch: Vec::new(),
            overflow: false,
        }
    }

    /// Empties the arena for a function of `inputs` inputs, keeping its memory.
    pub(crate) fn reset(&mut self, inputs: u32) {
        // The nodes of inputs are all alike: those of the last detection are reused.
        self.nodes.truncate(self.inputs as usize + 1);
        self.nodes.resize(inputs as usize + 1, Node { left: 0, right: 0, measure: Measure::LEAF });
        self.inputs = inputs;
        self.lists.clear();
        self.origins.clear();
        self.known.clear();
        self.unions.clear();
        self.marks.resize(inputs as usize);
        self.overflow = false;
    }

    /// Whether more sets were made than handles can number.
    pub(crate) fn overflow(&self) -> bool {
        self.overflow
    }

    /// Number of inputs.
    pub(crate) fn inputs(&self) -> u32 {
        self.inputs
    }

    /// Number of handles in use.
    pub(crate) fn handles(&self) -> usize {
        self.nodes.len()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn measure(&self, set: Set) -> Measure {
        self.nodes[set as usize].measure
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&mut self, node: Node) -> Set {
        let handle = self.nodes.len();
        if handle >= LIMIT as usize {
            self.overflow = true;
            return EMPTY;
        }
        self.nodes.push(node);
        handle as u32
    }

    /// The union of two sets.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn union(&mut self, a: Set, b: Set) -> Set {
        if a == b || b == EMPTY {
            return a;
        }
        if a == EMPTY {
            return b;
        }
        let (left, right) = (self.measure(a), self.measure(b));
        let length = left.length() + right.length();
        if length >= LARGE {
            return self.large_union(a, b);
        }
        let look_at = left.look_at().max(right.look_at());
        if length >> look_at != 0 {
            return self.look(a, b, length);
        }
        self.push(Node { left: a, right: b, measure: Measure::new(length, look_at, false) })
    }

    /// The union of two large sets, looked up first.
    #[inline(never)]
    fn large_union(&mut self, a: Set, b: Set) -> Set {
        let (left, right) = (self.measure(a), self.measure(b));
        let length = (left.length() + right.length()).min(Measure::LONGEST);
        let look_at = left.look_at().max(right.look_at());
        let is_due = length >> look_at != 0;
        let node = Node { left: a, right: b, measure: Measure::new(length, look_at, false) };
        if !is_due && b <= self.inputs {
            return self.push(node);
        }
        if self.unions.is_empty() {
            self.unions.resize(REMEMBERED, [(0, 0, 0); 4]);
        }
        let slot = ((a as u64 | (b as u64) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50) as usize % REMEMBERED;
        if let Some(known) = self.unions[slot].iter().find(|known| (known.0, known.1) == (a, b)) {
            return known.2;
        }
        let result = if is_due { self.look(a, b, length) } else { self.push(node) };
        let ways = &mut self.unions[slot];
        ways.rotate_right(1);
        ways[0] = (a, b, result);
        result
    }

    /// Walks `a` and `b`, and makes their union a flat list if that is much shorter.
    #[inline(never)]
    fn look(&mut self, a: Set, b: Set, length: u32) -> Set {
        let mut found = std::mem::take(&mut self.scratch);
        found.clear();
        self.marks.begin();
        self.walk(a, &mut found);
        self.walk(b, &mut found);
        let result = if found.len() * 2 > length as usize {
            let look_at = next_look(length as usize);
            self.push(Node { left: a, right: b, measure: Measure::new(length, look_at, false) })
        } else {
            self.flat(a, b, &found)
        };
        self.scratch = found;
        result
    }

    /// The union of `a` and `b` as a flat list of `members`, which are the marked inputs: an operand or another known list if
    /// it is the same set.
    fn flat(&mut self, a: Set, b: Set, members: &[u32]) -> Set {
        let is_whole = |sets: &Sets, set: Set| {
            let measure = sets.measure(set);
            measure.is_flat() && measure.length() as usize == members.len()
        };
        if let Some(same) = [a, b].into_iter().find(|&set| is_whole(self, set)) {
            return same;
        }
        let hash = members.iter().fold(members.len() as u64, |sum, &i| sum.wrapping_add(scatter(i)));
        if let Some(&known) = self.known.get(&hash) {
            let node = self.nodes[known as usize];
            let list = &self.lists[node.left as usize..node.right as usize];
            if list.len() == members.len() && list.iter().all(|&i| self.marks.is_marked(i)) {
                return known;
            }
        }
        let (start, end) = (self.lists.len(), self.lists.len() + members.len());
        if end >= LIMIT as usize || members.len() > Measure::LONGEST as usize {
            self.overflow = true;
            return EMPTY;
        }
        self.lists.extend_from_slice(members);
        let measure = Measure::new(members.len() as u32, next_look(members.len()), true);
        let set = self.push(Node { left: start as u32, right: end as u32, measure });
        self.origins.push((set, a, b));
        self.known.insert(hash, set);
        set
    }

    /// Appends the members of `set` that are not marked yet, and marks them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn walk(&mut self, set: Set, out: &mut Vec<u32>) {
        if set == EMPTY {
            return;
        }
        let Sets { inputs, nodes, lists, marks, stack, .. } = self;
        let inputs = *inputs;
        let mut visit = |input: Set| {
            if marks.mark(input - 1) {
                out.push(input - 1);
            }
        };
        let mut next = set;
        loop {
            if next <= inputs {
                visit(next);
            } else {
                let node = nodes[next as usize];
                if !node.measure.is_flat() {
                    // Sums are nested to the left: their right child is usually a leaf.
                    if node.right <= inputs {
                        visit(node.right);
                    } else {
                        stack.push(node.right);
                    }
                    next = node.left;
                    continue;
                }
                lists[node.left as usize..node.right as usize].iter().for_each(|&i| visit(i + 1));
            }
            match stack.pop() {
                Some(set) => next = set,
                None => return,
            }
        }
    }

    /// Appends the members of `set` to `out`, in no particular order.
    pub(crate) fn members(&mut self, set: Set, out: &mut Vec<u32>) {
        self.marks.begin();
        self.walk(set, out);
    }

    /// Appends the members of `set` to `out`, increasing.
    #[inline]
    pub(crate) fn sorted_members(&mut self, set: Set, out: &mut Vec<u32>) {
        if set == EMPTY {
            return;
        }
        if set <= self.inputs {
            return out.push(set - 1);
        }
        let start = out.len();
        self.members(set, out);
        self.marks.sort(&mut out[start..]);
    }

    /// The left child of a node, if its walk is long enough that a list may pay; `None` otherwise.
    #[inline]
    pub(crate) fn long_child(&self, set: Set) -> Option<Set> {
        if set <= self.inputs {
            return None;
        }
        let node = self.nodes[set as usize];
        let long = |child: Set| child > self.inputs && self.measure(child).length() >= 16;
        (!node.measure.is_flat() && long(node.left) && !self.measure(node.left).is_flat()).then_some(node.left)
    }

    /// Turns a node permanently into an increasing list of its members.
    pub(crate) fn make_list(&mut self, set: Set) {
        let start = self.lists.len();
        let mut found = std::mem::take(&mut self.scratch);
        found.clear();
        self.sorted_members(set, &mut found);
        let end = start + found.len();
        if end < LIMIT as usize && found.len() <= Measure::LONGEST as usize {
            self.lists.extend_from_slice(&found);
            let measure = Measure::new(found.len() as u32, next_look(found.len()), true);
            self.nodes[set as usize] = Node { left: start as u32, right: end as u32, measure };
        }
        self.scratch = found;
    }

    /// Writes into `nearest`, for every set, one of the `marked` sets, which ascend, other than itself, of which it is a part by the
    /// unions that were made; [`EMPTY`] if there is none.
    pub(crate) fn nearest_unions(&self, marked: &[Set], nearest: &mut Vec<Set>) {
        nearest.clear();
        nearest.resize(self.nodes.len(), EMPTY);
        let (mut marked, mut origins) = (marked, self.origins.as_slice());
        // Parts have smaller handles than their unions.
        for set in (self.inputs + 1..self.nodes.len() as u32).rev() {
            let mut union = nearest[set as usize];
            if let Some((&last, before)) = marked.split_last()
                && last == set
            {
                (union, marked) = (set, before);
            }
            let node = self.nodes[set as usize];
            let mut parts = (node.left, node.right);
            if node.measure.is_flat() {
                parts = (EMPTY, EMPTY);
                if let Some((&(last, a, b), before)) = origins.split_last()
                    && last == set
                {
                    (parts, origins) = ((a, b), before);
                }
            }
            if union != EMPTY {
                nearest[parts.0 as usize] = union;
                nearest[parts.1 as usize] = union;
            }
        }
        nearest[EMPTY as usize] = EMPTY;
    }

    /// The marks, for callers that walk lists.
    pub(crate) fn marks(&mut self) -> &mut Marks {
        &mut self.marks
    }

    #[cfg(test)]
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.nodes.len() - 1 - self.inputs as usize, self.lists.len())
    }
}

/// A hash of one member (splitmix64), to be added up.
fn scatter(i: u32) -> u64 {
    let mut z = (i as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Marks on inputs; beginning a new epoch removes all of them at once.
pub(crate) struct Marks {
    epochs: Vec<u32>,
    epoch: u32,
}

impl Marks {
    const fn new() -> Marks {
        Marks { epochs: Vec::new(), epoch: 0 }
    }

    fn resize(&mut self, inputs: usize) {
        self.epochs.clear();
        self.epochs.resize(inputs, 0);
        self.epoch = 0;
    }

    /// Removes all marks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.epochs.fill(0);
            self.epoch = 1;
        }
    }

    /// Marks an input; `true` if it was not marked.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn mark(&mut self, i: u32) -> bool {
        std::mem::replace(&mut self.epochs[i as usize], self.epoch) != self.epoch
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_marked(&self, i: u32) -> bool {
        self.epochs[i as usize] == self.epoch
    }

    /// Sorts `list`, which holds exactly the marked inputs.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn sort(&self, list: &mut [u32]) {
        if list.len() <= 16 {
            for k in 1..list.len() {
                let member = list[k];
                let mut to = k;
                while to > 0 && list[to - 1] > member {
                    list[to] = list[to - 1];
                    to -= 1;
                }
                list[to] = member;
            }
        } else {
            self.sort_long(list);
        }
    }

    fn sort_long(&self, list: &mut [u32]) {
        // One input and a list that is increasing already: the walk visits the input first.
        if let [first, rest @ ..] = list
            && rest.is_sorted()
        {
            let smaller = rest.partition_point(|i| *i < *first);
            return list[..=smaller].rotate_left(1);
        }
        let (low, high) = list.iter().fold((u32::MAX, 0), |(low, high), &i| (low.min(i), high.max(i)));
        if ((high - low) as usize) < list.len() * 16 {
            let marked = (low..=high).filter(|&i| self.is_marked(i));
            for (slot, i) in list.iter_mut().zip(marked) {
                *slot = i;
            }
        } else {
            list.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests;
