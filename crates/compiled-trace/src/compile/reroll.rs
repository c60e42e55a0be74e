//! Second pass: finds the loops of the function again.
//!
//! Called by [`compile`](crate::compile). A loop of the user leaves in a recording a run of isomorphic operations whose
//! operands advance regularly. In the numbering of the recording *every* regular operand is affine in the iteration: results
//! of the same or the previous iteration advance by the length of the body, elements of arrays by their stride, and operands
//! that are the same for all iterations by 0. So a loop is a repeated word of operations with constant second differences of operands.
//!
//! The pass searches for words bottom up: inner loops become single tokens, then it searches for loops of tokens, and so on. Iterations at
//! the ends that do not fit (first and last ones of stencils and recurrences) stay as they are; a few operands may
//! advance irregularly (indices from a table).

use crate::compile::reductions::Sequence;
use crate::recording::graph::{CONSTANT, Node, Op, REDUCTION};
use rustc_hash::FxHashMap;

/// An operation or a loop, at a node of the sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) shape: u32,
    pub(crate) start: u32,
}

/// What tokens of one shape have in common.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Number of nodes it covers.
    pub(crate) nodes: u32,
    /// Trip count and tokens of the first iteration relative to its start; `None` for an operation.
    pub(crate) repeat: Option<(u32, Vec<Token>)>,
}

/// The sequence as a tree of loops.
#[derive(Debug)]
pub(crate) struct Rerolled {
    pub(crate) shapes: Vec<Shape>,
    pub(crate) tokens: Vec<Token>,
}

/// Minimum number of iterations and of nodes of a loop.
const MIN_ITERATIONS: usize = 4;
const MIN_NODES: usize = 16;
/// Minimum number of iterations of a loop with irregular operands, and of a loop in which most operands are irregular: gathered inputs.
const MIN_TABLED: usize = 8;
const MIN_GATHERS: usize = 32;
/// Lengths of the words whose recurrence suggests a period, and how many recurrences of each are tried.
const WORDS: [(usize, usize); 4] = [(1, 2), (4, 3), (16, 2), (64, 2)];
const DEEPEST: usize = 8;
/// The most iterations of inner loops, together, that are tried where operands jump whenever a loop begins again. One loop of 8 iterations begins rarely
/// enough for ranges; loops in each other multiply.
const LONGEST_CYCLE: usize = 64;

/// Runs the pass.
pub(crate) fn reroll(sequence: &Sequence) -> Rerolled {
    let mut roller =
        Reroller { sequence, shapes: Vec::new(), operations: FxHashMap::default(), loops: FxHashMap::default() };
    let tokens = roller.operations();
    let tokens = roller.passes(tokens);
    Rerolled { shapes: roller.shapes, tokens }
}

struct Reroller<'a> {
    sequence: &'a Sequence,
    shapes: Vec<Shape>,
    operations: FxHashMap<(Op, [u8; 2]), u32>,
    loops: FxHashMap<(u32, Vec<u32>), u32>,
}

/// The iterations `from..to` of one loop.
struct IterationRange {
    from: usize,
    to: usize,
}

impl Reroller<'_> {
    fn new_shape(&mut self, shape: Shape) -> u32 {
        self.shapes.push(shape);
        (self.shapes.len() - 1) as u32
    }

    fn operations(&mut self) -> Vec<Token> {
        let kind = |operand: u32| match operand {
            o if o & CONSTANT != 0 => 1,
            o if o & REDUCTION != 0 => 2,
            _ => 0,
        };
        let mut tokens = Vec::with_capacity(self.sequence.nodes.len());
        // Shapes that were found lately, by a part of the key.
        let mut lately = [(None, 0); 64];
        for (start, node) in self.sequence.nodes.iter().enumerate() {
            let key = (node.op, [kind(node.a), kind(node.b)]);
            let number = match node.op {
                Op::Unary(rule) => usize::from(rule),
                Op::Binary(rule) => usize::from(rule) + 5,
                _ => 3,
            };
            let last = &mut lately[(9 * number + usize::from(key.1[0]) + 3 * usize::from(key.1[1])) % 64];
            let shape = if last.0 == Some(key) {
                last.1
            } else if node.op == Op::Call {
                // Calls are not repeated: every one has a shape of its own.
                self.new_shape(Shape { nodes: 1, repeat: None })
            } else if let Some(shape) = self.operations.get(&key) {
                *shape
            } else {
                let shape = self.new_shape(Shape { nodes: 1, repeat: None });
                self.operations.insert(key, shape);
                shape
            };
            if node.op != Op::Call {
                *last = (Some(key), shape);
            }
            tokens.push(Token { shape, start: start as u32 });
        }
        tokens
    }

    /// Sweeps over the tokens until no further loop is found. A loop that the sweep before did not find has loops in it.
    fn passes(&mut self, mut tokens: Vec<Token>) -> Vec<Token> {
        for _ in 0..DEEPEST {
            match self.pass(&tokens) {
                Some(next) => tokens = next,
                None => break,
            }
            let loops = tokens.iter().filter(|token| self.shapes[token.shape as usize].repeat.is_some());
            if loops.count() < MIN_ITERATIONS {
                break;
            }
        }
        tokens
    }

    /// One sweep over the tokens; `None` if it found no loop.
    fn pass(&mut self, tokens: &[Token]) -> Option<Vec<Token>> {
        let words = Words::new(tokens);
        let mut out: Vec<Token> = Vec::new();
        let mut found = false;
        // Periods that were refused, and up to where.
        let mut refused: Vec<(usize, usize)> = Vec::new();
        let mut p = 0;
        while p < tokens.len() {
            refused.retain(|(_, end)| *end > p);
            let mut next = None;
            words.periods(tokens, p, |mut period| {
                if refused.iter().any(|(k, _)| *k == period) {
                    return false;
                }
                let matching = words.matching(tokens, p, period);
                let length = period + matching;
                let mut is_multiple = false;
                // Inner loops with nothing between them are one long run of their word. If it is refused, whole inner loops are tried.
                loop {
                    let nodes: usize =
                        tokens[p..p + period].iter().map(|t| self.shapes[t.shape as usize].nodes as usize).sum();
                    let iterations = length / period;
                    if iterations < MIN_ITERATIONS || iterations * nodes < MIN_NODES {
                        return false;
                    }
                    let shift = self.shift(tokens, p, period, nodes);
                    let iterations = (length - shift) / period;
                    if iterations < MIN_ITERATIONS {
                        return false;
                    }
                    let begin = p + shift;
                    match self.ranges(tokens[begin].start as usize, nodes, iterations) {
                        Ok(ranges) => {
                            next = Some((begin, period, iterations, nodes, ranges));
                            return true;
                        }
                        Err(cycle) => {
                            // Multiples are found again by way of their word.
                            if refused.len() < 16 && !is_multiple {
                                refused.push((period, p + length - period));
                            }
                            let Some(cycle) = cycle else { return false };
                            (period, is_multiple) = (period * cycle, true);
                        }
                    }
                }
            });
            let Some(found_here) = next else {
                out.push(tokens[p]);
                p += 1;
                continue;
            };
            found = true;
            let (mut begin, period, mut iterations, nodes, mut ranges) = found_here;
            match self.one_before(tokens, &out, begin, period, nodes, iterations) {
                Some((kept, earlier)) => {
                    out.truncate(kept);
                    (begin, iterations, ranges) = (begin - period, iterations + 1, earlier);
                }
                None => out.extend_from_slice(&tokens[p..begin]),
            }
            let start = tokens[begin].start;
            // A long word may have been found before the loops inside it were.
            let mut body = tokens[begin..begin + period].to_vec();
            if period >= MIN_ITERATIONS {
                body = self.passes(body);
            }
            body.iter_mut().for_each(|token| token.start -= start);
            let mut done = 0;
            for range in ranges {
                out.extend_from_slice(&tokens[begin + done * period..begin + range.from * period]);
                let shape = self.loop_shape((range.to - range.from) as u32, &body, nodes);
                out.push(Token { shape, start: start + (range.from * nodes) as u32 });
                done = range.to;
            }
            out.extend_from_slice(&tokens[begin + done * period..begin + iterations * period]);
            p = begin + iterations * period;
        }
        found.then_some(out)
    }

    /// Tests whether the iteration before a loop belongs to it; returns how many tokens of `out` lie before that iteration, and the ranges.
    /// The loop was missed there if a shorter one was found at its beginning.
    fn one_before(
        &self,
        tokens: &[Token],
        out: &[Token],
        begin: usize,
        period: usize,
        nodes: usize,
        iterations: usize,
    ) -> Option<(usize, Vec<IterationRange>)> {
        let earlier = begin.checked_sub(period)?;
        let same = tokens[earlier..begin].iter().zip(&tokens[begin..]).all(|(a, b)| a.shape == b.shape);
        let start = tokens[earlier].start;
        let kept = out.partition_point(|token| token.start < start);
        let is_clear = out[..kept].last().is_none_or(|t| t.start + self.shapes[t.shape as usize].nodes <= start);
        if !same || !is_clear {
            return None;
        }
        let ranges = self.ranges(start as usize, nodes, iterations + 1).ok()?;
        (ranges.first()?.from == 0).then_some((kept, ranges))
    }

    fn loop_shape(&mut self, trip: u32, body: &[Token], nodes: usize) -> u32 {
        let key = (trip, body.iter().map(|t| t.shape).collect::<Vec<_>>());
        if let Some(shape) = self.loops.get(&key) {
            return *shape;
        }
        let shape = self.new_shape(Shape { nodes: trip * nodes as u32, repeat: Some((trip, body.to_vec())) });
        self.loops.insert(key, shape);
        shape
    }

    /// The shift of the word at which iterations should begin, so that the fewest results pass from one iteration to the next.
    fn shift(&self, tokens: &[Token], p: usize, period: usize, nodes: usize) -> usize {
        let (start, first) = (tokens[p].start as usize, self.sequence.first);
        // Crossings of the boundary before each node of the word, from differences.
        let mut crossings = vec![0i32; nodes + 1];
        // The last node that added to each reduction: a term passes the reduction on to the next term, and the last one to its reader.
        let mut added: FxHashMap<u32, usize> = FxHashMap::default();
        for i in start..start + 2 * nodes {
            let node = &self.sequence.nodes[i];
            let mut edge = |from: usize| {
                let distance = i - from;
                if i < start + nodes || distance >= nodes {
                    return;
                }
                // The boundaries before nodes j - distance + 1 ..= j, in a circle.
                let j = i - start - nodes;
                if distance <= j {
                    crossings[j - distance + 1] += 1;
                    crossings[j + 1] -= 1;
                } else {
                    crossings[0] += 1;
                    crossings[j + 1] -= 1;
                    crossings[j + nodes - distance + 1] += 1;
                }
            };
            let mut operand = |operand: u32| {
                if operand & REDUCTION != 0 {
                    added.get(&operand).copied().into_iter().for_each(&mut edge);
                } else if operand & CONSTANT == 0 && operand as usize >= first + start {
                    edge(operand as usize - first);
                }
            };
            operand(node.a);
            if !matches!(node.op, Op::Unary(_) | Op::CallOutput) {
                operand(node.b);
            }
            if node.op == Op::Accumulate {
                added.insert(node.b, i);
            }
        }
        let (mut sum, mut boundary, mut best) = (0, 0, (i32::MAX, 0));
        for (k, token) in tokens[p..p + period].iter().enumerate() {
            let place = token.start as usize - start;
            while boundary <= place {
                sum += crossings[boundary];
                boundary += 1;
            }
            if sum < best.0 {
                best = (sum, k);
            }
        }
        best.1
    }

    /// Whether all iterations are segments that were regrouped.
    fn is_regrouped(&self, start: usize, nodes: usize, iterations: usize) -> bool {
        let regrouped = &self.sequence.regrouped;
        let next = regrouped.partition_point(|segments| segments.end <= start);
        regrouped.get(next).is_some_and(|segments| {
            segments.start <= start && start + nodes * iterations <= segments.end && segments.nodes == nodes
        })
    }

    /// Splits iterations of `nodes` nodes into ranges with regular operands. If too little is regular, the error is the number of
    /// iterations after which an irregular operand repeats its differences, if there is one: that many may be an inner loop.
    fn ranges(&self, start: usize, nodes: usize, iterations: usize) -> Result<Vec<IterationRange>, Option<usize>> {
        let all = &self.sequence.nodes[start..start + nodes * iterations];
        let slots = 2 * nodes;
        let mut breaks = vec![0u32; slots];
        for t in 2..iterations {
            let [first, before, now] = [t - 2, t - 1, t].map(|t| &all[t * nodes..(t + 1) * nodes]);
            for (((breaks, first), before), now) in breaks.chunks_exact_mut(2).zip(first).zip(before).zip(now) {
                breaks[0] += u32::from(step(now.a, before.a) != step(before.a, first.a));
                breaks[1] += u32::from(step(now.b, before.b) != step(before.b, first.b));
            }
        }
        // Regrouped segments have no order that would make ranges worth while.
        let most = if self.is_regrouped(start, nodes, iterations) { 0 } else { iterations / 4 };
        let irregular: Vec<bool> = breaks.iter().map(|breaks| *breaks as usize > most).collect();
        let count = irregular.iter().filter(|i| **i).count();
        if count > 0 {
            let first = self.sequence.first as u32;
            let own = first + start as u32..first + (start + all.len()) as u32;
            // The last irregular operand that is a result of the loop, and whether one is a result of any operation.
            let (mut inside, mut computed) = (None, false);
            for slot in (0..slots).filter(|slot| irregular[*slot]) {
                let mut is_inside = false;
                for node in all.iter().skip(slot / 2).step_by(nodes) {
                    let operand = if slot % 2 == 1 { node.b } else { node.a };
                    is_inside |= own.contains(&operand);
                    computed |= operand & CONSTANT == 0 && operand >= first;
                }
                if is_inside {
                    inside = Some(slot);
                }
            }
            let many = 4 * count > 3 * nodes && (computed || iterations < MIN_GATHERS);
            if inside.is_some() || iterations < MIN_TABLED || many {
                return Err(inside.and_then(|slot| cycle(all, nodes, slot)));
            }
        }
        let regular: Vec<usize> = (0..slots).filter(|slot| !irregular[*slot]).collect();
        if iterations >= MIN_ITERATIONS && regular.iter().all(|slot| breaks[*slot] == 0) {
            return Ok(vec![IterationRange { from: 0, to: iterations }]);
        }
        let same = |t: usize, u: usize| {
            regular.iter().all(|slot| difference(all, nodes, t, *slot) == difference(all, nodes, u, *slot))
        };
        let mut ranges = Vec::new();
        let (mut from, mut covered) = (0, 0);
        while from + MIN_ITERATIONS <= iterations {
            let mut to = from + 2;
            while to < iterations && same(to, from + 1) {
                to += 1;
            }
            if to - from >= MIN_ITERATIONS {
                covered += to - from;
                ranges.push(IterationRange { from, to });
                from = to;
            } else {
                from += 1;
            }
        }
        if 2 * covered >= iterations { Ok(ranges) } else { Err(None) }
    }
}

/// The difference of two operands; constants do not count.
#[inline(always)]
fn step(now: u32, before: u32) -> u32 {
    if now & CONSTANT != 0 { 0 } else { now.wrapping_sub(before) }
}

/// The difference of an operand to the iteration before.
#[inline(always)]
fn difference(all: &[Node], nodes: usize, t: usize, slot: usize) -> u32 {
    let (i, second) = (t * nodes + slot / 2, slot % 2 == 1);
    let (now, before) = (&all[i], &all[i - nodes]);
    if second { step(now.b, before.b) } else { step(now.a, before.a) }
}

/// The number of iterations after which an operand repeats its differences. Only the second half is compared: what the first inner loops
/// read may come from elsewhere.
#[cold]
fn cycle(all: &[Node], nodes: usize, slot: usize) -> Option<usize> {
    let iterations = all.len() / nodes;
    let difference = |t: usize| difference(all, nodes, t, slot);
    (2..=LONGEST_CYCLE.min(iterations / MIN_ITERATIONS))
        .find(|cycle| (iterations / 2..iterations).all(|t| difference(t) == difference(t - cycle)))
}

/// Where words of the token sequence occur again.
struct Words {
    prefix: Vec<u64>,
    powers: Powers,
    /// Per word length, the next place with the same word.
    next: Vec<Vec<u32>>,
}

/// The periods that have been tried at one place.
#[derive(Default)]
struct Tried {
    periods: [usize; 16],
    count: usize,
}

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Powers of the multiplier, in two tables: one for all exponents would be as long as the tokens.
struct Powers {
    low: Vec<u64>,
    high: Vec<u64>,
}

impl Powers {
    const BITS: u32 = 10;

    /// Up to this exponent.
    fn new(most: usize) -> Powers {
        let table = |factor: u64, count: usize| {
            let power = |power: &u64| Some(power.wrapping_mul(factor));
            std::iter::successors(Some(1u64), power).take(count).collect::<Vec<_>>()
        };
        let low = table(MULTIPLIER, (1 << Powers::BITS).min(most) + 1);
        // The factor is not used if there is no second power of it.
        let factor = low.get(1 << Powers::BITS).copied().unwrap_or(1);
        let high = table(factor, (most >> Powers::BITS) + 1);
        Powers { low, high }
    }
    fn of(&self, exponent: usize) -> u64 {
        self.low[exponent & ((1 << Powers::BITS) - 1)].wrapping_mul(self.high[exponent >> Powers::BITS])
    }
}

impl Words {
    fn new(tokens: &[Token]) -> Words {
        let mut prefix = vec![0u64; tokens.len() + 1];
        for (i, token) in tokens.iter().enumerate() {
            let mixed = (token.shape as u64 + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
            prefix[i + 1] = prefix[i].wrapping_mul(MULTIPLIER).wrapping_add(mixed ^ mixed >> 32);
        }
        let powers = Powers::new(tokens.len());
        let mut words = Words { prefix, powers, next: Vec::new() };
        let bits = (usize::BITS - tokens.len().leading_zeros()).clamp(8, 20);
        // The last place with a word of each hash, and a part of the hash: words with the same part may differ, but periods are compared
        // before they are used.
        let mut seen = vec![(u32::MAX, 0u32); 1 << bits];
        for (length, _) in WORDS {
            let mut next = vec![u32::MAX; tokens.len()];
            seen.fill((u32::MAX, 0));
            if tokens.len() >= length {
                let power = words.powers.of(length);
                let ends = words.prefix[length..].iter().zip(&words.prefix);
                for (p, (end, start)) in ends.enumerate().rev() {
                    let mixed = end.wrapping_sub(start.wrapping_mul(power)).wrapping_mul(MULTIPLIER);
                    let part = mixed as u32;
                    let (place, of) = &mut seen[(mixed >> (64 - bits)) as usize];
                    if *of == part {
                        next[p] = *place;
                    }
                    (*place, *of) = (p as u32, part);
                }
            }
            words.next.push(next);
        }
        words
    }

    fn hash(&self, p: usize, length: usize) -> u64 {
        self.prefix[p + length].wrapping_sub(self.prefix[p].wrapping_mul(self.powers.of(length)))
    }

    /// Offers `accept` the periods that may begin at `p` and last for [`MIN_ITERATIONS`], until it accepts one.
    fn periods(&self, tokens: &[Token], p: usize, mut accept: impl FnMut(usize) -> bool) {
        let mut tried = Tried::default();
        for (next, (_, hops)) in self.next.iter().zip(WORDS) {
            let mut q = p;
            for _ in 0..hops {
                if next[q] == u32::MAX {
                    break;
                }
                q = next[q] as usize;
                let rest = (MIN_ITERATIONS - 1) * (q - p);
                // The last tokens are compared first: few periods of irregular code pass that, and the rest costs more.
                let Some(last) = tokens.get(q + rest - 1) else { break };
                if last.shape == tokens[q - 1].shape && self.may_begin(p, q, &mut tried) && accept(q - p) {
                    return;
                }
            }
        }
    }

    /// Whether the words from `p` and `q` on repeat for [`MIN_ITERATIONS`], if that was not asked for this period before.
    #[inline(never)]
    fn may_begin(&self, p: usize, q: usize, tried: &mut Tried) -> bool {
        let (period, rest) = (q - p, (MIN_ITERATIONS - 1) * (q - p));
        if tried.periods[..tried.count].contains(&period) {
            return false;
        }
        tried.periods[tried.count] = period;
        tried.count += 1;
        self.hash(p, rest) == self.hash(q, rest)
    }

    /// How many tokens from `p` on equal those one period later.
    fn matching(&self, tokens: &[Token], p: usize, period: usize) -> usize {
        tokens[p..].iter().zip(&tokens[p + period..]).take_while(|(a, b)| a.shape == b.shape).count()
    }
}
