//! Runs the steps of a small program.

use super::super::single::{compare, drop_kept, guard_holds, keep};
use super::code::{Code, LANES, Line, Mode, Step, Unrolled, room};
use crate::recording::rules::Rules;
use differentiation_interface_core::scalar::{Base, Scalar};
use std::cell::Cell;

/// The steps, the slots, and the slices that are copied to and from these. The kernel copies them because the machine reads a number
/// fastest with the vector width it was written with.
///
/// Rows of one group need no loops, which are much of the time of short rows; so programs of short rows have a kernel of their own.
pub(super) struct Run<'a, 'i, 'o, S, const SHORT: bool> {
    pub(super) unrolled: &'a Unrolled,
    pub(super) slots: &'a mut [S],
    pub(super) inputs: &'a [&'i [S]],
    pub(super) outputs: &'a mut [&'o mut [S]],
}

/// Some lanes of a wide operand.
type Group<S, const N: usize = LANES> = [Cell<S>; N];

/// The groups that begin at a slot and have room for this many lanes.
#[inline(always)]
fn groups<S>(slots: &[Cell<S>], first: u16, room: usize) -> &[Group<S>] {
    let first = first as usize;
    slots[first..first + room].as_chunks().0
}

/// The numbers of a group.
#[inline(always)]
fn numbers<S: Copy + Default, const N: usize>(group: &Group<S, N>) -> [S; N] {
    let mut numbers = [S::default(); N];
    for (number, slot) in numbers.iter_mut().zip(group) {
        *number = slot.get();
    }
    numbers
}

#[inline(always)]
fn set<S: Copy, const N: usize>(group: &Group<S, N>, numbers: [S; N]) {
    for (slot, number) in group.iter().zip(numbers) {
        slot.set(number);
    }
}

/// Stores or adds one result.
#[inline(always)]
fn put<S: Scalar>(slot: &Cell<S>, mode: Mode, value: S) {
    match mode {
        Mode::Result | Mode::Store => slot.set(value),
        Mode::First => slot.set(S::default() + value),
        Mode::Add => slot.set(slot.get() + value),
    }
}

/// Stores or adds a wide result, and writes nothing beyond its cells.
#[inline(always)]
fn put_all<S: Scalar>(slots: &[Cell<S>], step: &Step) {
    let n = step.n as usize;
    let (from, to) = (&slots[step.x as usize..], &slots[step.to as usize..][..n]);
    match step.mode {
        Mode::Result | Mode::Store => exactly(from, to, |_, new| new),
        Mode::First => exactly(from, to, |_, new| S::default() + new),
        Mode::Add => exactly(from, to, |old, new| old + new),
    }
}

/// Code for a part of a group, compiled for each length: a loop would take longer than its body.
macro_rules! by_length {
    ($length:expr, $N:ident => $act:expr, none => $none:expr) => {
        by_length!(@ $length, $N => $act, $none, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $length:expr, $N:ident => $act:expr, $none:expr, $($n:literal)*) => {
        match $length {
            $($n => {
                const $N: usize = $n;
                $act
            })*
            _ => $none,
        }
    };
}

/// Computes new numbers from old ones and those of other slots, which have room for whole groups.
#[inline(always)]
fn exactly<S: Scalar>(from: &[Cell<S>], to: &[Cell<S>], new: impl Fn(S, S) -> S) {
    let ((from, _), (to, rest)) = (from.as_chunks::<LANES>(), to.as_chunks::<LANES>());
    for (to, from) in to.iter().zip(from) {
        renew(to, from, &new);
    }
    let Some(from) = from.get(to.len()) else { return };
    by_length!(rest.len(), N => {
        if let (Some(to), Some(from)) = (rest.first_chunk::<N>(), from.first_chunk::<N>()) {
            renew(to, from, &new);
        }
    }, none => {});
}

#[inline(always)]
fn renew<S: Scalar, const N: usize>(to: &Group<S, N>, from: &Group<S, N>, new: impl Fn(S, S) -> S) {
    let (mut numbers, old) = (numbers(from), numbers(to));
    for (number, old) in numbers.iter_mut().zip(old) {
        *number = new(old, *number);
    }
    set(to, numbers);
}

/// Computes results group by group. A macro, because closures of this size are not always inlined, and then not compiled for the
/// vector width of the machine.
macro_rules! each {
    ($slots:ident, $step:ident, $room:ident, $operands:expr, $names:pat => $results:expr) => {
        for (to, $names) in groups($slots, $step.to, $room).iter().zip($operands) {
            set(to, $results);
        }
    };
}

/// An operation on two operands of `n` numbers.
macro_rules! both {
    ($slots:ident, $step:ident, $room:ident, $value:expr) => {
        each!($slots, $step, $room, groups($slots, $step.x, $room).iter().zip(groups($slots, $step.y, $room)), (x, y) => {
            let (mut results, y) = (numbers(x), numbers(y));
            for (x, y) in results.iter_mut().zip(y) {
                *x = $value(*x, y);
            }
            results
        })
    };
}

/// An operation on `n` numbers at `x` and the number at `y`.
macro_rules! same {
    ($slots:ident, $step:ident, $room:ident, $value:expr) => {{
        let y = $slots[$step.y as usize].get();
        each!($slots, $step, $room, groups($slots, $step.x, $room), x => {
            let mut results = numbers(x);
            for x in &mut results {
                *x = $value(*x, y);
            }
            results
        })
    }};
}

/// An operation on a product of `n` numbers each and `n` other numbers.
macro_rules! third {
    ($slots:ident, $step:ident, $room:ident, $value:expr) => {{
        let operands = groups($slots, $step.x, $room).iter().zip(groups($slots, $step.y, $room));
        each!($slots, $step, $room, operands.zip(groups($slots, $step.rule, $room)), ((x, y), z) => {
            let (mut results, y, z) = (numbers(x), numbers(y), numbers(z));
            for (x, y) in results.iter_mut().zip(y) {
                *x = *x * y;
            }
            for (x, z) in results.iter_mut().zip(z) {
                *x = $value(*x, z);
            }
            results
        })
    }};
}

/// The sum of `n` terms: term `i` goes to partial sum `i mod 16`; the partial sums are added pairwise.
macro_rules! sum {
    ($n:ident, $operands:expr, $names:pat => $terms:expr) => {{
        // Starting from -0 costs no operation. A sum of zeros alone may be -0 then, but no cell it is added to is.
        let [mut sums, mut last] = [[S::constant(-S::Base::ZERO); LANES]; 2];
        let mut rest = $n;
        for $names in $operands {
            last = $terms;
            if SHORT || rest < LANES {
                break;
            }
            sums = added::<_, LANES>(sums, last);
            rest -= LANES;
        }
        by_length!(rest, N => pairwise(added::<_, N>(sums, last)), none => match SHORT {
            true => pairwise(added::<_, LANES>(sums, last)),
            false => pairwise(sums),
        })
    }};
}

/// Partial sums and the first `N` terms.
#[inline(always)]
fn added<S: Scalar, const N: usize>(mut sums: [S; LANES], terms: [S; LANES]) -> [S; LANES] {
    for (sum, term) in sums.iter_mut().zip(terms).take(N) {
        *sum += term;
    }
    sums
}

/// The sum of partial sums.
#[inline(always)]
fn pairwise<S: Scalar>(sums: [S; LANES]) -> S {
    let [mut eight, mut four] = [[S::default(); 8]; 2];
    for i in 0..8 {
        eight[i] = sums[i] + sums[i + 8];
    }
    for i in 0..4 {
        four[i] = eight[i] + eight[i + 4];
    }
    (four[0] + four[2]) + (four[1] + four[3])
}

/// The operations of a batch, each on its slots. How results are stored is decided once per batch.
macro_rules! alike {
    ($slots:ident, $batch:ident, $operands:ident, $value:expr) => {{
        let number = |slot: u16| $slots[slot as usize].get();
        match $batch.mode {
            Mode::Result | Mode::Store => {
                for &[to, x, y] in $operands {
                    $slots[to as usize].set($value(number(x), number(y)));
                }
            }
            Mode::First => {
                for &[to, x, y] in $operands {
                    $slots[to as usize].set(S::default() + $value(number(x), number(y)));
                }
            }
            Mode::Add => {
                for &[to, x, y] in $operands {
                    let new = $value(number(x), number(y));
                    $slots[to as usize].set(number(to) + new);
                }
            }
        }
    }};
}

/// Runs a line. Out of line: it needs no vectors, and the code for other steps stays compact.
#[inline(never)]
fn alike<S: Scalar>(slots: &[Cell<S>], rules: &Rules, line: &Line) {
    let mut rest = &line.operands[..];
    for batch in &line.batches {
        let operands;
        (operands, rest) = rest.split_at(batch.count as usize);
        match batch.code {
            Code::Same => alike!(slots, batch, operands, |x: S, _| x),
            Code::Plus => alike!(slots, batch, operands, |x: S, y: S| x + y),
            Code::Minus => alike!(slots, batch, operands, |x: S, y: S| x - y),
            Code::Times => alike!(slots, batch, operands, |x: S, y: S| x * y),
            Code::Over => alike!(slots, batch, operands, |x: S, y: S| x / y),
            Code::Negate => alike!(slots, batch, operands, |x: S, _| -x),
            Code::Keep => alike!(slots, batch, operands, keep),
            Code::Drop => alike!(slots, batch, operands, drop_kept),
            Code::Compare => alike!(slots, batch, operands, |x: S, y: S| compare(batch.rule as u8, x, y)),
            Code::Unary => alike!(slots, batch, operands, |x: S, _| rules.apply(batch.rule, x)),
            Code::Binary => alike!(slots, batch, operands, |x: S, y: S| rules.apply2(batch.rule, x, y)),
            // `Clear` is the only code left among those that lines consist of.
            _ => operands.iter().for_each(|[to, ..]| slots[*to as usize].set(S::default())),
        }
    }
}

/// Copies an input to slots with room for whole groups.
#[inline(always)]
fn copy_in<S: Scalar>(from: &[S], to: &mut [S]) {
    by_length!(from.len(), N => {
        // The copy uses the vectors that later reads use.
        if let (Some(to), Some(from)) = (to.first_chunk_mut::<{ N.next_multiple_of(4) }>(), from.first_chunk::<N>()) {
            *to = std::array::from_fn(|i| if i < N { from[i] } else { S::default() });
        }
    }, none => copy(from, &mut to[..from.len()]));
}

/// Copies slices of one length by groups; for `copy_from_slice` the compiler would call a function.
#[inline(always)]
fn copy<S: Copy>(from: &[S], to: &mut [S]) {
    let ((from, from_rest), (to, to_rest)) = (from.as_chunks::<LANES>(), to.as_chunks_mut::<LANES>());
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    for (to, from) in to_rest.iter_mut().zip(from_rest) {
        *to = *from;
    }
}

/// Copies an output.
#[inline(always)]
fn copy_out<S: Scalar>(from: &[S], to: &mut [S]) {
    by_length!(to.len(), N => {
        if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk::<N>()) {
            *to = *from;
        }
    }, none => copy(&from[..to.len()], to));
}

impl<S: Scalar, const SHORT: bool> pulp::NullaryFnOnce for Run<'_, '_, '_, S, SHORT> {
    type Output = Result<(), u16>;

    /// Runs the steps; returns the number of the guard that failed, if one did.
    #[inline(always)]
    fn call(self) -> Result<(), u16> {
        let Run { unrolled, slots, inputs, outputs } = self;
        let mut rest = &mut slots[unrolled.inputs..];
        for input in inputs {
            if input.is_empty() {
                continue;
            }
            let own;
            (own, rest) = rest.split_at_mut(room(input.len()));
            copy_in(input, own);
        }
        let memory = slots;
        let slots = Cell::from_mut(&mut *memory).as_slice_of_cells();
        for step in &unrolled.steps {
            let n = step.n as usize;
            let room = if SHORT { LANES } else { room(n) };
            let x = || slots[step.x as usize].get();
            let y = || slots[step.y as usize].get();
            let put = |value: S| put(&slots[step.to as usize], step.mode, value);
            match step.code {
                Code::Same => put(x()),
                Code::Plus => put(x() + y()),
                Code::Minus => put(x() - y()),
                Code::Times => put(x() * y()),
                Code::Over => put(x() / y()),
                Code::Negate => put(-x()),
                Code::Keep => put(keep(x(), y())),
                Code::Drop => put(drop_kept(x(), y())),
                Code::Compare => put(compare(step.rule as u8, x(), y())),
                Code::Unary => put(unrolled.rules.apply(step.rule, x())),
                Code::Binary => put(unrolled.rules.apply2(step.rule, x(), y())),
                Code::Guard => {
                    if !guard_holds(step.rule, x(), y()) {
                        return Err(step.rule);
                    }
                }
                Code::Sums => put(S::default() + x().scale(S::Base::from_f64(n as f64))),
                Code::WideGuard => {
                    let mut holds = true;
                    for (x, y) in slots[step.x as usize..][..n].iter().zip(&slots[step.y as usize..][..n]) {
                        holds &= guard_holds(step.rule, x.get(), y.get());
                    }
                    if !holds {
                        return Err(step.rule);
                    }
                }
                Code::Spread => {
                    let x = x();
                    for group in groups(slots, step.to, room) {
                        set(group, [x; LANES]);
                    }
                }
                Code::Sum => put(sum!(n, groups(slots, step.x, room), x => numbers(x))),
                Code::SumTimes => {
                    put(sum!(n, groups(slots, step.x, room).iter().zip(groups(slots, step.y, room)), (x, y) => {
                        let (mut terms, y) = (numbers(x), numbers(y));
                        for (x, y) in terms.iter_mut().zip(y) {
                            *x = *x * y;
                        }
                        terms
                    }));
                }
                Code::Gather => {
                    for (to, from) in slots[step.to as usize..][..n].iter().zip(&unrolled.lists[step.list()..][..n]) {
                        to.set(slots[*from as usize].get());
                    }
                }
                Code::Scatter => {
                    for (x, to) in slots[step.x as usize..][..n].iter().zip(&unrolled.lists[step.list()..][..n]) {
                        self::put(&slots[*to as usize], step.mode, x.get());
                    }
                }
                // Often a single cell, which needs no `memset`.
                Code::Clear if n == 1 => slots[step.to as usize].set(S::default()),
                Code::Line => alike(slots, &unrolled.rules, &unrolled.lines[step.x as usize]),
                Code::Clear => slots[step.to as usize..][..n].iter().for_each(|slot| slot.set(S::default())),
                Code::WideSame => each!(slots, step, room, groups(slots, step.x, room), x => numbers(x)),
                Code::WidePlus => both!(slots, step, room, |x: S, y: S| x + y),
                Code::PlusNegated => both!(slots, step, room, |x: S, y: S| -(x + y)),
                Code::TimesNegated => both!(slots, step, room, |x: S, y: S| -(x * y)),
                Code::WideMinus => both!(slots, step, room, |x: S, y: S| x - y),
                Code::WideTimes => both!(slots, step, room, |x: S, y: S| x * y),
                Code::WideOver => both!(slots, step, room, |x: S, y: S| x / y),
                Code::WideNegate => each!(slots, step, room, groups(slots, step.x, room), x => {
                    let mut results = numbers(x);
                    for x in &mut results {
                        *x = -*x;
                    }
                    results
                }),
                Code::WideKeep => both!(slots, step, room, keep),
                Code::WideDrop => both!(slots, step, room, drop_kept),
                Code::WideCompare => both!(slots, step, room, |x: S, y: S| compare(step.rule as u8, x, y)),
                Code::WideUnary => {
                    let mut left = n;
                    each!(slots, step, room, groups(slots, step.x, room), x => {
                        let (x, mut results) = (numbers(x), [S::default(); LANES]);
                        let count = left.min(LANES);
                        left -= count;
                        unrolled.rules.apply_block(step.rule, &x[..count], &mut results[..count]);
                        results
                    });
                }
                Code::WideBinary => {
                    let mut left = n;
                    each!(slots, step, room, groups(slots, step.x, room).iter().zip(groups(slots, step.y, room)), (x, y) => {
                        let (x, y, mut results) = (numbers(x), numbers(y), [S::default(); LANES]);
                        let count = left.min(LANES);
                        left -= count;
                        unrolled.rules.apply2_block(step.rule, |i| x[i], |i| y[i], &mut results[..count]);
                        results
                    });
                }
                Code::TimesPlus => third!(slots, step, room, |product: S, z: S| product + z),
                Code::MinusTimes => third!(slots, step, room, |product: S, z: S| z - product),
                Code::PlusSame => same!(slots, step, room, |x: S, y: S| x + y),
                Code::MinusSame => same!(slots, step, room, |x: S, y: S| x - y),
                Code::SameMinus => same!(slots, step, room, |x: S, y: S| y - x),
                Code::TimesSame => same!(slots, step, room, |x: S, y: S| x * y),
                Code::OverSame => same!(slots, step, room, |x: S, y: S| x / y),
                Code::SameOver => same!(slots, step, room, |x: S, y: S| y / x),
                Code::Put => put_all(slots, step),
            }
        }
        let mut rest = &memory[unrolled.outputs..];
        for output in outputs {
            let own;
            (own, rest) = rest.split_at(room(output.len()));
            copy_out(own, output);
        }
        Ok(())
    }
}
