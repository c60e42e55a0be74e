//! Plans the loops of a nest: their order, which instructions run in which of them, which reductions stay in registers.
//!
//! Called once per nest by `emit`, which writes the loops as planned.

use super::dependence::{self, cells};
use super::functions::Calls;
use super::nearby::{Access, Nearby, Ranges};
use super::number::Format;
use crate::program::{Address, Instruction, Nest};
use crate::recording::graph::Op;
use crate::recording::rules::Rules;
use crate::sorting;

/// A nest with its plan.
pub(super) struct Plan<'a> {
    pub(super) nest: &'a Nest,
    /// Trip counts of all counters, enclosing loops first.
    pub(super) trips: Vec<u32>,
    /// How many of them are enclosing loops.
    pub(super) loops: usize,
    /// Counters of the nest that run more than once, outermost loop first.
    pub(super) order: Vec<usize>,
    /// Number of iterations of the innermost loop in one vector.
    pub(super) lanes: u32,
    /// Lanes of vectors of 64 bytes, if there are such.
    longest: Option<u32>,
    /// Copies of the body in the innermost loop.
    pub(super) copies: u32,
    /// Whether the iterations of the innermost loop may run in any order.
    pub(super) parallel: bool,
    /// Per dimension of the nest, whether its iterations may.
    free: Vec<bool>,
    /// Per instruction, the number of loops it runs in. This and the following lists are empty without loops: such bodies may be long.
    level: Vec<usize>,
    /// Per accumulation whose cell stays the same in the innermost loop, the number of loops in which its cell moves.
    pub(super) sum: Vec<Option<usize>>,
    /// Per address, distance of neighbouring iterations per counter, in cells or entries of the table.
    pub(super) strides: Vec<Vec<i64>>,
    /// Accumulations to neighbouring cells that are combined.
    pub(super) windows: Vec<Window>,
    /// Per instruction, its window.
    window: Vec<Option<usize>>,
    /// Per load of a cell that the previous iteration writes, the instruction that writes it.
    pub(super) carried: Vec<Option<usize>>,
    pub(super) ranges: Vec<(i64, i64)>,
    nearby: Nearby,
}

/// Accumulations of the innermost loop to the same cells, a few iterations apart. The terms of a cell are carried from iteration
/// to iteration in registers, so that a cell is loaded and stored once.
pub(super) struct Window {
    /// The accumulations in order, and how many iterations each is ahead.
    pub(super) members: Vec<(usize, u32)>,
    /// The largest of these numbers.
    pub(super) reach: u32,
    /// The address that is not ahead.
    pub(super) address: u32,
    /// Whether all its cells are 0 before the nest, so that the first term is stored.
    pub(super) fresh: bool,
}

/// Copies of the body are made up to this many instructions in the innermost loop.
const COPIED: usize = 48;
/// A short loop is unrolled up to this many instructions.
pub(super) const UNROLLED: u32 = 96;
/// Maximum number of reductions that are kept in registers; further ones are kept in memory of the function.
pub(super) const MAX_IN_REGISTERS: usize = 12;
/// Maximum number of reductions that are kept there; more would need too much stack, and are added to their cells term by term.
const MAX_IN_FUNCTION: usize = 4096;
/// Cost, in operations, of waiting for a cell that a vector has just written, and how many vectors back that may be.
const STALL: f64 = 20.0;
const STALLING: u32 = 8;
/// Cost of a call of an elementary function, in operations.
const CALL: f64 = 25.0;
/// Cost of loading and of storing a vector of 64 bytes, besides that of others: it usually lies in two cache lines. W1 with n = 1000, which stores
/// once for each operation, takes 105 ns by such vectors and 75 ns by those of 32 bytes; W2 takes 230 and 340.
const SPLIT: [f64; 2] = [0.5, 5.0];

impl<'a> Plan<'a> {
    pub(super) fn new(nest: &'a Nest, loops: &[u32], widths: [u32; 3], rules: &Rules, calls: Calls) -> Plan<'a> {
        let mut trips = loops.to_vec();
        trips.extend(nest.dimensions.iter().map(|d| d.trip));
        let strides = nest.addresses.iter().map(|address| strides(address, &trips)).collect();
        let ranges: Vec<(i64, i64)> = nest.addresses.iter().map(|address| cells(address, &trips)).collect();
        let order: Vec<usize> = (loops.len()..trips.len()).filter(|c| trips[*c] > 1).collect();
        let mut plan = Plan {
            nest,
            loops: loops.len(),
            free: dependence::parallel(nest, &trips, loops.len()),
            trips,
            lanes: 1,
            longest: (widths[0] > widths[1]).then_some(widths[0]),
            copies: 1,
            parallel: false,
            level: Vec::new(),
            sum: Vec::new(),
            strides,
            windows: Vec::new(),
            window: Vec::new(),
            carried: Vec::new(),
            nearby: if order.is_empty() { Nearby::default() } else { Nearby::new(nest, &ranges) },
            order,
            ranges,
        };
        if plan.order.is_empty() {
            return plan;
        }
        plan.window = vec![None; nest.body.len()];
        plan.carried = vec![None; nest.body.len()];
        plan.choose(widths, rules, calls);
        plan.set_windows();
        plan.set_carried();
        plan
    }

    /// The number of loops that an instruction runs in.
    #[inline]
    pub(super) fn level_of(&self, instruction: usize) -> usize {
        self.level.get(instruction).copied().unwrap_or(0)
    }

    /// The window of an instruction.
    #[inline]
    pub(super) fn window_of(&self, instruction: usize) -> Option<usize> {
        self.window.get(instruction).copied().flatten()
    }

    fn is_parallel(&self, counter: usize) -> bool {
        self.free[counter - self.loops]
    }

    /// Whether a loop runs downwards.
    pub(super) fn is_down(&self, counter: usize) -> bool {
        self.nest.reversed && !self.is_parallel(counter)
    }

    /// Distance between neighbouring iterations of the innermost loop, in cells or entries, in the order they run.
    pub(super) fn step(&self, address: u32) -> i64 {
        let Some(inner) = self.order.last() else { return 0 };
        let stride = self.strides[address as usize][*inner];
        if self.is_down(*inner) { -stride } else { stride }
    }

    /// Number of instructions in the innermost loop.
    pub(super) fn inner_instructions(&self) -> usize {
        self.level.iter().filter(|level| **level == self.order.len()).count()
    }

    /// Chooses the innermost loop and its vectors, of one of three widths, by an estimate of costs.
    fn choose(&mut self, widths: [u32; 3], rules: &Rules, calls: Calls) {
        let given = std::mem::take(&mut self.order);
        let mut best: Option<(f64, Vec<usize>, u32)> = None;
        let mut consider = |plan: &mut Plan, order: Vec<usize>, lanes: u32| {
            plan.order = order;
            plan.lanes = lanes;
            plan.set_levels();
            let cost = plan.cost(rules, calls);
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, plan.order.clone(), lanes));
            }
        };
        consider(self, given.clone(), 1);
        for inner in given.iter().copied() {
            if !self.is_parallel(inner) {
                continue;
            }
            let mut order: Vec<usize> = given.iter().copied().filter(|c| *c != inner).collect();
            order.push(inner);
            let trip = self.trips[inner];
            for (i, lanes) in widths.into_iter().enumerate() {
                // A row is vectors of one kind and single numbers. The narrowest vectors are for short rows.
                let is_known = widths[..i].contains(&lanes);
                if lanes > 1 && trip >= lanes && !is_known && (i < 2 || trip < widths[1]) {
                    consider(self, order.clone(), lanes);
                }
            }
            consider(self, order, 1);
        }
        let (_, order, lanes) = best.expect("the given order was considered");
        self.parallel = order.last().is_some_and(|inner| self.is_parallel(*inner));
        self.order = order;
        self.lanes = lanes;
        self.set_levels();
        if self.sum.iter().flatten().count() > MAX_IN_FUNCTION {
            self.sum.fill(None);
        }
        if self.sum.iter().flatten().count() > MAX_IN_REGISTERS {
            // Too many to be carried through outer loops.
            self.sum.iter_mut().flatten().for_each(|level| *level = self.order.len() - 1);
        } else if self.parallel {
            let fitting = COPIED / self.inner_instructions().max(1);
            self.copies = (fitting as u32).clamp(1, 4);
        }
    }

    /// The estimated time of the nest, in operations.
    pub(super) fn cost(&self, rules: &Rules, calls: Calls) -> f64 {
        let per_level = self.costs(self.lanes, rules, calls);
        let mut rows = 1.0;
        let mut total = per_level[0];
        for (l, counter) in self.order.iter().enumerate() {
            let trip = self.trips[*counter];
            if l + 1 < self.order.len() {
                rows *= f64::from(trip);
                total += rows * per_level[l + 1];
                continue;
            }
            let (vectors, rest) = (trip / self.lanes, trip % self.lanes);
            let single = if rest > 0 { self.costs(1, rules, calls)[l + 1] } else { 0.0 };
            total += rows * (f64::from(vectors) * per_level[l + 1] + f64::from(rest) * single);
        }
        total
    }

    /// Per level, the estimated time of its instructions once; those of the innermost loop on so many lanes.
    fn costs(&self, lanes: u32, rules: &Rules, calls: Calls) -> Vec<f64> {
        let depth = self.order.len();
        let mut per_level = vec![2.0; depth + 1];
        for (i, instruction) in self.nest.body.iter().enumerate() {
            let level = self.level_of(i);
            let lanes = if level == depth { lanes } else { 1 };
            let wide = f64::from(lanes);
            let memory = |address: u32, moves: f64, [loads, stores]: [f64; 2]| {
                let table = self.nest.addresses[address as usize].table.is_some();
                match self.step(address) {
                    1 if !table && self.longest == Some(lanes) => moves + loads * SPLIT[0] + stores * SPLIT[1],
                    0 | 1 if !table => moves,
                    _ if lanes == 1 => moves + if table { 1.0 } else { 0.0 },
                    _ => wide * (moves + if table { 1.5 } else { 0.5 }),
                }
            };
            per_level[level] += match *instruction {
                Instruction::Constant(_) => 0.2,
                Instruction::Load(address) => memory(address, 0.5, [1.0, 0.0]),
                Instruction::Store { address, .. } => memory(address, 1.0, [0.0, 1.0]),
                Instruction::Accumulate { address, .. } => match self.sum.get(i).copied().flatten() {
                    Some(level) => {
                        per_level[level] += 4.0;
                        // An addition in order waits for the one before.
                        if self.order.last().is_some_and(|inner| self.is_parallel(*inner)) { 1.0 } else { 3.0 }
                    }
                    None => memory(address, 2.5, [1.0, 1.0]),
                },
                Instruction::Apply { op, .. } => match super::cost::cost(op, rules) {
                    Some(cost) => cost,
                    None if calls.has(op, rules, lanes as u8) => CALL,
                    None => wide * (CALL + if lanes > 1 { 1.5 } else { 0.0 }),
                },
            };
        }
        if lanes > 1 {
            per_level[depth] += STALL * f64::from(lanes) * self.stalls() as f64;
        }
        per_level
    }

    /// Counts accumulations whose vectors overlap those that another one has just written, too far ahead for a window: the machine
    /// waits until the written cells are in the cache.
    fn stalls(&self) -> usize {
        let mut moving = Vec::new();
        for (i, instruction) in self.nest.body.iter().enumerate() {
            if let Instruction::Accumulate { address, .. } = *instruction
                && self.sum[i].is_none()
                && self.step(address).abs() == 1
                && self.nest.addresses[address as usize].table.is_none()
            {
                moving.push(address as usize);
            }
        }
        let alike = |a: usize| (self.nest.addresses[a].space, &self.strides[a]);
        sorting::sort_by(&mut moving, |a, b| {
            alike(*a).cmp(&alike(*b)).then(self.nest.addresses[*a].base.cmp(&self.nest.addresses[*b].base))
        });
        let distance = |a: usize, b: usize| self.nest.addresses[b].base - self.nest.addresses[a].base;
        let stalled = |(i, a): &(usize, &usize)| {
            let ahead = moving[i + 1..].iter().take_while(|b| alike(**a) == alike(**b));
            let mut near = ahead.map(|b| distance(**a, *b)).take_while(|distance| *distance < STALLING * self.lanes);
            near.any(|distance| distance > self.lanes)
        };
        moving.iter().enumerate().filter(stalled).count()
    }

    /// Sets `level` and `sum` for the present order.
    fn set_levels(&mut self) {
        let depth = self.order.len();
        let body = &self.nest.body;
        let mut level = vec![0; body.len()];
        let mut sum = vec![None; body.len()];
        for (i, instruction) in body.iter().enumerate() {
            let mut least = 0;
            instruction.operands(|operand| least = least.max(level[operand as usize]));
            level[i] = match *instruction {
                Instruction::Load(address) => self.load_level(address),
                Instruction::Store { .. } => depth,
                Instruction::Accumulate { address, .. } => {
                    sum[i] = self.sum_level(address);
                    depth
                }
                _ => least,
            };
        }
        (self.level, self.sum) = (level, sum);
    }

    /// The number of loops in which the cell of an address moves.
    fn moving(&self, address: u32) -> usize {
        let strides = &self.strides[address as usize];
        self.order.iter().rposition(|counter| strides[*counter] != 0).map_or(0, |l| l + 1)
    }

    fn load_level(&self, address: u32) -> usize {
        let level = self.moving(address);
        let is_free = self.order[level..].iter().all(|counter| self.is_parallel(*counter))
            || self.meeting(&self.nearby.writes, address).next().is_none();
        if is_free { level } else { self.order.len() }
    }

    fn sum_level(&self, address: u32) -> Option<usize> {
        let depth = self.order.len();
        let level = self.moving(address);
        if level == depth || self.nest.addresses[address as usize].table.is_some() {
            return None;
        }
        let parallel = self.order[level..].iter().all(|counter| self.is_parallel(*counter));
        let is_store = |other: Access| matches!(self.nest.body[other.instruction], Instruction::Store { .. });
        let disturbed = (!parallel && self.meeting(&self.nearby.loads, address).next().is_some())
            || self.meeting(&self.nearby.writes, address).any(is_store);
        (!disturbed).then_some(level)
    }

    /// Collects accumulations into windows.
    fn set_windows(&mut self) {
        let Some(inner) = self.order.last().copied() else { return };
        let mut groups: Vec<Vec<(usize, u32)>> = Vec::new();
        for (i, instruction) in self.nest.body.iter().enumerate() {
            let Instruction::Accumulate { address, .. } = *instruction else { continue };
            let step = self.step(address);
            if self.sum[i].is_some() || step == 0 || self.nest.addresses[address as usize].table.is_some() {
                continue;
            }
            let alike = |group: &&mut Vec<(usize, u32)>| {
                let (first, other) =
                    (&self.nest.addresses[group[0].1 as usize], &self.nest.addresses[address as usize]);
                first.space == other.space
                    && self.strides[group[0].1 as usize] == self.strides[address as usize]
                    && (first.base as i64 - other.base as i64) % step == 0
            };
            match groups.iter_mut().find(alike) {
                Some(group) => group.push((i, address)),
                None => groups.push(vec![(i, address)]),
            }
        }
        for group in groups {
            let (first, step) = (group[0].1, self.step(group[0].1));
            let place = |address: u32| self.nest.addresses[address as usize].base as i64 / step;
            let Some(least) = group.iter().map(|member| place(member.1)).min() else { continue };
            let members: Vec<(usize, u32)> = group.iter().map(|(i, a)| (*i, (place(*a) - least) as u32)).collect();
            let reach = members.iter().map(|member| member.1).max().unwrap_or(0);
            let most = if self.lanes > 1 { self.lanes } else { 4 };
            let far = reach > most || reach >= self.trips[inner] || (reach > 0 && self.lanes > 1 && step != 1);
            let is_outside = |other: Access| group.iter().all(|member| member.0 != other.instruction);
            let is_disturbed = |member: &(usize, u32)| {
                self.meeting(&self.nearby.loads, member.1).next().is_some()
                    || self.meeting(&self.nearby.writes, member.1).any(is_outside)
            };
            if far || group.iter().any(is_disturbed) {
                continue;
            }
            let address = group.iter().find(|member| place(member.1) == least).map_or(first, |member| member.1);
            for (i, _) in &members {
                self.window[*i] = Some(self.windows.len());
            }
            self.windows.push(Window { members, reach, address, fresh: false });
        }
    }

    /// Finds loads of results of the previous iteration, in loops that run in order.
    fn set_carried(&mut self) {
        if self.parallel || self.order.is_empty() {
            return;
        }
        for (i, instruction) in self.nest.body.iter().enumerate() {
            let Instruction::Load(load) = *instruction else { continue };
            let writer = {
                let mut writers = self.meeting(&self.nearby.writes, load);
                writers.next().filter(|_| writers.next().is_none())
            };
            let Some(Access { instruction: w, address, .. }) = writer else { continue };
            let (from, to) = (&self.nest.addresses[address as usize], &self.nest.addresses[load as usize]);
            let alike = from.table.is_none() && to.table.is_none() && from.strides == to.strides;
            let step = self.step(load);
            if alike && i < w && step != 0 && self.sum[w].is_none() && from.base as i64 - to.base as i64 == step {
                self.carried[i] = Some(w);
            }
        }
    }

    /// First and last cell of a window, if it adds to every cell between them, and to each once per loop over the window.
    pub(super) fn dense(&self, window: &Window) -> Option<(i64, i64)> {
        let addresses = window.members.iter().filter_map(|(i, _)| match self.nest.body[*i] {
            Instruction::Accumulate { address, .. } => Some(self.ranges[address as usize]),
            _ => None,
        });
        let (low, high) =
            addresses.fold((i64::MAX, i64::MIN), |(low, high), range| (low.min(range.0), high.max(range.1)));
        let strides = &self.strides[window.address as usize];
        let mut moves: Vec<(i64, i64)> =
            self.order.iter().map(|c| (strides[*c].abs(), self.trips[*c] as i64)).collect();
        if window.reach > 0 && moves.len() > 1 {
            return None;
        }
        sorting::sort(&mut moves);
        let mut length = 1;
        for (stride, trip) in moves {
            if stride != length {
                return None;
            }
            length *= trip;
        }
        (low + length + window.reach as i64 - 1 == high).then_some((low, high))
    }

    /// Those of the accesses that may mean the same cell as an address.
    fn meeting<'p>(&'p self, accesses: &'p Ranges, address: u32) -> impl Iterator<Item = Access> + 'p {
        let near = accesses.near(self.nest.addresses[address as usize].space, self.ranges[address as usize]);
        near.filter(move |other| self.may_meet(address, other.address))
    }

    /// Whether two addresses of one space, whose cells are in the same range, may mean the same one.
    fn may_meet(&self, a: u32, b: u32) -> bool {
        let (first, second) = (&self.nest.addresses[a as usize], &self.nest.addresses[b as usize]);
        if first.table.is_some() || second.table.is_some() {
            return true;
        }
        let common =
            first.strides.iter().chain(&second.strides).fold(0, |g, stride| gcd(g, stride.unsigned_abs() as u64));
        let distance = (first.base as i64 - second.base as i64).unsigned_abs();
        if common == 0 { distance == 0 } else { distance.is_multiple_of(common) }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Lanes of the vectors that a nest may have: the widest, and those of at most 32 and 16 bytes.
pub(super) fn widths(format: Format, widest: u32) -> [u32; 3] {
    [widest, 32 / format.bytes(), 16 / format.bytes()].map(|width| width.min(widest))
}

/// Whether an instruction has a result.
pub(super) fn has_result(instruction: &Instruction) -> bool {
    !matches!(
        instruction,
        Instruction::Store { .. } | Instruction::Accumulate { .. } | Instruction::Apply { op: Op::Guard(_), .. }
    )
}

fn strides(address: &Address, trips: &[u32]) -> Vec<i64> {
    match &address.table {
        Some(_) => {
            let mut strides = vec![1; trips.len()];
            for m in (1..trips.len()).rev() {
                strides[m - 1] = strides[m] * trips[m] as i64;
            }
            strides
        }
        None => address.strides.iter().map(|stride| *stride as i64).collect(),
    }
}
