//! Reordered lines give the numbers of the order in which they were written, bit by bit.

use super::*;
use crate::execute::unrolled::code::BEYOND;
use crate::recording::rules::Rules;
use pulp::Arch;

/// Contents of slots 0 to 3.
const INPUTS: [f64; 4] = [0.3, -1.7, 1e16, 5.1];
/// The cells, which are the outputs, come next, and then results.
const CELLS: u16 = 4;
/// How often a pattern is repeated, each time on a cell of its own.
const TIMES: u16 = 120;
const RESULTS: u16 = CELLS + TIMES;
/// Slots of results.
const ROOM: u16 = 64;

fn unrolled(steps: &[Step]) -> Unrolled {
    Unrolled {
        steps: steps.to_vec(),
        lines: Vec::new(),
        lists: Vec::new(),
        constants: Vec::new(),
        rules: Rules::default(),
        arch: Arch::new(),
        inputs: 0,
        outputs: CELLS as usize,
        slots: (RESULTS + ROOM) as usize,
        is_short: true,
    }
}

fn step(code: Code, mode: Mode, to: u16, operands: [u16; 2]) -> Step {
    Step::new(code, mode, to, operands, 1, 0)
}

/// The cells after a run in slots that hold NaN before.
fn cells(mut unrolled: Unrolled) -> Vec<u64> {
    unrolled.slots += BEYOND;
    let mut slots = vec![f64::NAN; unrolled.slots];
    let mut cells = [f64::NAN; TIMES as usize];
    unrolled.run(&mut slots, &[&INPUTS], &mut [&mut cells]).unwrap();
    cells.map(f64::to_bits).to_vec()
}

/// Compares the cells after both orders; returns the other order.
fn compare(steps: &[Step]) -> Unrolled {
    let written = unrolled(steps);
    let mut ordered = written.clone();
    schedule(&mut ordered, RESULTS as usize);
    assert_eq!(cells(ordered.clone()), cells(written), "{steps:?}");
    ordered
}

/// Repeats a pattern on each cell, behind operations that open batches of all its kinds, as a line of its own.
fn repeat(pattern: impl Fn(u16) -> Vec<Step>) -> Unrolled {
    let patterns: Vec<Step> = (CELLS..RESULTS).flat_map(&pattern).collect();
    // The kinds in another order than in the pattern, on a cell that is written again.
    let opening = pattern(CELLS).into_iter().rev().map(|step| Step { to: RESULTS - 1, x: 0, y: 1, ..step });
    let clear = [step(Code::Clear, Mode::Result, RESULTS - 1, [0, 0])];
    let end = [step(Code::Clear, Mode::Result, RESULTS - 1, [0, 0])];
    let last = pattern(RESULTS - 1);
    let steps: Vec<Step> = clear.into_iter().chain(opening).chain(end).chain(patterns).chain(last).collect();
    let ordered = compare(&steps);
    assert!(cells(ordered.clone()).into_iter().all(|cell| f64::from_bits(cell).is_finite()));
    assert_eq!(ordered.lines.len(), 1, "{steps:?}");
    assert!(ordered.lines[0].batches.len() < steps.len() / 4, "{:?}", ordered.lines[0].batches);
    ordered
}

#[test]
fn what_is_read_is_written_before() {
    use {Code::*, Mode::*};
    // A cell and a result that no step overwrites.
    repeat(|cell| {
        vec![
            step(Times, Store, cell, [cell % 2, 3]),
            step(Minus, Result, RESULTS, [cell, 1]),
            step(Over, Add, CELLS, [RESULTS, cell]),
        ]
    });
}

#[test]
fn cells_are_overwritten_after_they_are_read() {
    use {Code::*, Mode::*};
    // The product of the new number with that of the next cell, which is overwritten later.
    let pattern = |cell: u16| {
        let next = (cell + 1).min(RESULTS - 1);
        vec![
            step(Minus, Store, next, [0, 3]),
            step(Times, Result, RESULTS, [next, 3]),
            step(Minus, Store, next, [1, 3]),
            step(Over, Store, cell, [RESULTS, 3]),
        ]
    };
    repeat(pattern);
}

#[test]
fn the_last_one_that_writes_a_cell_stays_the_last() {
    use {Code::*, Mode::*};
    repeat(|cell| vec![step(Times, Store, cell, [0, 1]), step(Plus, Store, cell, [0, 1])]);
}

#[test]
fn terms_are_added_in_the_order_in_which_they_were_written() {
    use {Code::*, Mode::*};
    // 1e16 - 1.7 + 0.3 - 1e16: another order rounds differently.
    let pattern = |cell| {
        vec![
            step(Same, First, cell, [2, 0]),
            step(Plus, Add, cell, [1, 0]),
            step(Same, Add, cell, [0, 0]),
            step(Negate, Add, cell, [2, 0]),
        ]
    };
    repeat(pattern);
}

#[test]
fn the_first_term_does_not_come_after_the_second() {
    use {Code::*, Mode::*};
    repeat(|cell| vec![step(Times, First, cell, [0, 1]), step(Times, Add, cell, [1, 3])]);
}

#[test]
fn results_in_slots_used_again_share_batches() {
    use {Code::*, Mode::*};
    // As written, each product would have to wait for the sum before it.
    let ordered =
        repeat(|cell| vec![step(Times, Result, RESULTS, [0, cell.min(3)]), step(Plus, Store, cell, [RESULTS, 1])]);
    let products = ordered.lines[0].batches.iter().filter(|batch| batch.code == Times).map(|batch| batch.count);
    assert!(products.max() >= Some(TIMES as u32));
}

#[test]
fn short_lines_and_chains_stay_as_they_are() {
    use {Code::*, Mode::*};
    let short = vec![step(Plus, Store, CELLS, [0, 1]); MIN_OPERATIONS - 1];
    let mut chain = vec![step(Times, Store, CELLS, [0, 1])];
    for _ in 0..MIN_OPERATIONS {
        chain.extend([step(Plus, Store, CELLS, [CELLS, 0]), step(Times, Store, CELLS, [CELLS, 1])]);
    }
    for steps in [short, chain] {
        let ordered = compare(&steps);
        assert!(ordered.lines.is_empty());
        assert_eq!(ordered.steps.len(), steps.len());
    }
}

/// Numbers below a bound.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// This many steps of a few codes that read inputs, cells, and results already `known`.
    fn steps(&mut self, count: usize, known: &mut Vec<u16>) -> Vec<Step> {
        use Code::*;
        let codes = [Same, Plus, Minus, Times, Over, Negate, Keep, Drop, Compare, Clear];
        let codes = [(); 3].map(|()| self.of(&codes));
        let modes = [Mode::Result, Mode::Result, Mode::Result, Mode::Store, Mode::First, Mode::Add, Mode::Add];
        let steps = (0..count).map(|_| {
            let code = self.of(&codes);
            let operands = [(); 2].map(|()| {
                let cell = self.below(RESULTS as usize) as u16;
                if self.below(2) == 0 { cell } else { self.of(known) }
            });
            let cell = CELLS + self.below(TIMES as usize) as u16;
            match self.of(&modes) {
                _ if code == Clear => step(code, Mode::Result, cell, operands),
                Mode::Result => {
                    let to = RESULTS + self.below(ROOM as usize) as u16;
                    known.push(to);
                    step(code, Mode::Result, to, operands)
                }
                mode => step(code, mode, cell, operands),
            }
        });
        steps.collect()
    }
}

#[test]
fn random_lines_give_the_same_in_both_orders() {
    let mut ordered = 0;
    for seed in 0..200 {
        let mut random = Random(seed);
        let mut known = vec![0];
        // The cells are not empty at first.
        let mut steps: Vec<Step> =
            (CELLS..RESULTS).map(|cell| step(Code::Times, Mode::Store, cell, [cell % 4, 3])).collect();
        // Lines behind another read results of those before; the step between them reads one as well.
        for _ in 0..seed % 4 {
            steps.extend(random.steps(200, &mut known));
            let sum = Step::new(Code::Sums, Mode::Store, CELLS, [random.of(&known), 0], 3, 0);
            steps.push(sum);
        }
        steps.extend(random.steps(400, &mut known));
        ordered += compare(&steps).lines.len();
    }
    assert!(ordered > 300, "{ordered} lines of 500 have another order");
}

#[test]
fn a_line_alone_uses_the_slots_of_results_again() {
    use {Code::*, Mode::*};
    let pattern = |cell| vec![step(Times, Result, RESULTS, [0, 1]), step(Plus, Store, cell, [RESULTS, 1])];
    let steps: Vec<Step> = (CELLS..RESULTS).flat_map(pattern).collect();
    let ordered = compare(&steps);
    assert_eq!(ordered.slots, (RESULTS + TIMES) as usize);
}

#[test]
fn lines_that_only_clear_leave_the_slots_of_others() {
    let result = RESULTS + ROOM - 1;
    let sums = |mode, to, x| Step::new(Code::Sums, mode, to, [x, 0], 2, 0);
    let mut steps = vec![sums(Mode::Result, result, 0), sums(Mode::Store, CELLS, result)];
    steps.extend((CELLS + 1..RESULTS).map(|cell| step(Code::Clear, Mode::Result, cell, [0, 0])));
    assert_eq!(compare(&steps).lines.len(), 1);
}
