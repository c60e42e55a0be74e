//! Machine code of random programs against direct evaluation and the portable executor.

use super::*;

/// Evaluates a program as its contract says, one iteration after the other.
pub(super) fn direct(program: &Program, inputs: &[&[f64]]) -> Vec<Vec<f64>> {
    fn slice<'a>(
        space: Space,
        constants: &'a [f64],
        inputs: &'a [&[f64]],
        work: &'a [f64],
        outputs: &'a [Vec<f64>],
    ) -> &'a [f64] {
        match space {
            Space::Constant => constants,
            Space::Input(i) => inputs[i as usize],
            Space::Work => work,
            Space::Output(i) => &outputs[i as usize],
        }
    }
    fn run(
        statements: &[Statement],
        program: &Program,
        counters: &mut Vec<(u32, u32)>,
        inputs: &[&[f64]],
        work: &mut Vec<f64>,
        outputs: &mut Vec<Vec<f64>>,
    ) {
        for statement in statements {
            match statement {
                Statement::Zero { space, start, length } => {
                    let cells = if let Space::Output(i) = space { &mut outputs[*i as usize] } else { &mut *work };
                    cells[*start as usize..][..*length as usize].fill(0.0);
                }
                Statement::Loop { trip, reversed, body } => {
                    for i in 0..*trip {
                        counters.push((if *reversed { trip - 1 - i } else { i }, *trip));
                        run(body, program, counters, inputs, work, outputs);
                        counters.pop();
                    }
                }
                Statement::Nest(nest) => {
                    let iterations: u32 = nest.dimensions.iter().map(|d| d.trip).product();
                    for i in 0..iterations {
                        let mut rest = if nest.reversed { iterations - 1 - i } else { i };
                        let mut own = Vec::new();
                        for d in nest.dimensions.iter().rev() {
                            own.push((rest % d.trip, d.trip));
                            rest /= d.trip;
                        }
                        let all: Vec<(u32, u32)> = counters.iter().copied().chain(own.into_iter().rev()).collect();
                        let (index, trips): (Vec<u32>, Vec<u32>) = all.into_iter().unzip();
                        let mut results = vec![f64::NAN; nest.body.len()];
                        for (k, instruction) in nest.body.iter().enumerate() {
                            match *instruction {
                                Instruction::Constant(c) => results[k] = program.constants[c as usize],
                                Instruction::Load(a) => {
                                    let address = &nest.addresses[a as usize];
                                    let cells = slice(address.space, &program.constants, inputs, work, outputs);
                                    results[k] = cells[address.cell(&index, &trips)];
                                }
                                Instruction::Apply { op: Op::Unary(rule), a, .. } => {
                                    results[k] = program.rules.apply(rule, results[a as usize]);
                                }
                                Instruction::Apply { op: Op::Binary(rule), a, b } => {
                                    results[k] = program.rules.apply2(rule, results[a as usize], results[b as usize]);
                                }
                                Instruction::Apply { .. } => unreachable!("random programs have rules only"),
                                Instruction::Store { value, address } | Instruction::Accumulate { value, address } => {
                                    let address = &nest.addresses[address as usize];
                                    let cell = address.cell(&index, &trips);
                                    let cells = if let Space::Output(i) = address.space {
                                        &mut outputs[i as usize]
                                    } else {
                                        &mut *work
                                    };
                                    let adds = matches!(instruction, Instruction::Accumulate { .. });
                                    cells[cell] = if adds {
                                        cells[cell] + results[value as usize]
                                    } else {
                                        results[value as usize]
                                    };
                                }
                            }
                        }
                    }
                }
                Statement::Call(_) => unreachable!("random programs have no calls"),
            }
        }
    }
    let mut work = vec![f64::NAN; program.work];
    let mut outputs: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
    run(&program.statements, program, &mut Vec::new(), inputs, &mut work, &mut outputs);
    outputs
}

/// splitmix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

pub(super) const INPUT: u32 = 400;

/// A random address whose cells are in `start..start + length` of a space.
fn inside(random: &mut Random, space: Space, start: u32, length: u32, trips: &[u32]) -> Address {
    if random.one_in(4) {
        let iterations: u32 = trips.iter().product();
        let table: Vec<u32> = (0..iterations).map(|_| start + random.below(length as u64) as u32).collect();
        return Address { space, base: table[0], strides: vec![0; trips.len()], table: Some(table.into()) };
    }
    let mut strides = vec![0i32; trips.len()];
    let (mut low, mut high) = (0i64, 0i64);
    for (stride, trip) in strides.iter_mut().zip(trips) {
        let wanted = [0, 1, 1, 1, -1, 2, 7][random.below(7) as usize];
        let reach = wanted as i64 * (*trip as i64 - 1);
        if high - low + reach.abs() < length as i64 {
            *stride = wanted;
            *(if reach < 0 { &mut low } else { &mut high }) += reach;
        }
    }
    let room = length as i64 - (high - low);
    Address { space, base: (start as i64 - low + random.below(room as u64) as i64) as u32, strides, table: None }
}

/// A program of random nests: every one stores a block of work cells of its own and adds to outputs; some are recurrences.
pub(super) fn random_program(random: &mut Random) -> Program {
    let mut work = 0;
    let mut statements = vec![Statement::Zero { space: Space::Output(0), start: 0, length: 60 }];
    let mut rules = Rules::default();
    let cube = rules.number_unary(differentiation_interface_core::rules::Powi(3)).expect("there are few rules");
    let mut known: Vec<(u32, u32)> = Vec::new();
    let mut before: Vec<(u32, u32)> = Vec::new();
    for _ in 0..1 + random.below(4) {
        let outer: Vec<u32> = if random.one_in(4) { vec![1 + random.below(3) as u32] } else { vec![] };
        let mut trips = outer.clone();
        let mut dimensions = Vec::new();
        for _ in 0..random.below(4) {
            let trip = [1, 2, 3, 4, 5, 8, 9, 17, 33][random.below(9) as usize];
            if trips.iter().product::<u32>() * trip <= 300 {
                trips.push(trip);
                dimensions.push(Dimension { trip, parallel: !random.one_in(3) });
            }
        }
        let reversed = random.one_in(3);
        let iterations: u32 = trips.iter().product();
        let (mut addresses, mut body) = (Vec::new(), Vec::new());
        let mut results = Vec::new();
        for _ in 0..1 + random.below(3) {
            let address = match known.is_empty() || random.one_in(2) {
                true => inside(random, Space::Input(0), 0, INPUT, &trips),
                false => {
                    let (start, length) = known[random.below(known.len() as u64) as usize];
                    inside(random, Space::Work, start, length, &trips)
                }
            };
            addresses.push(address);
            results.push(body.len() as u32);
            body.push(Instruction::Load(addresses.len() as u32 - 1));
        }
        results.push(body.len() as u32);
        body.push(Instruction::Constant(random.below(4) as u32));
        // Cells of its own, last counter fastest.
        let mut strides = vec![1i32; trips.len()];
        for m in (1..trips.len()).rev() {
            strides[m - 1] = strides[m] * trips[m] as i32;
        }
        let recurs = !dimensions.is_empty() && outer.is_empty() && random.one_in(3);
        let halo = if recurs { 1 } else { 0 };
        if recurs {
            // The cell stored by the previous iteration, which lies before the block for the first.
            dimensions.iter_mut().for_each(|d| d.parallel = false);
            let start = work + if reversed { iterations } else { 0 };
            let first = Nest {
                dimensions: vec![],
                reversed: false,
                addresses: vec![affine(Space::Work, start, &[])],
                body: vec![Instruction::Constant(1), Instruction::Store { value: 0, address: 0 }],
            };
            statements.push(Statement::Nest(first));
            addresses.push(affine(Space::Work, work + if reversed { 1 } else { 0 }, &strides));
            results.push(body.len() as u32);
            body.push(Instruction::Load(addresses.len() as u32 - 1));
        }
        for _ in 0..random.below(8) {
            let pick = |random: &mut Random| results[random.below(results.len() as u64) as usize];
            let (a, b) = (pick(random), pick(random));
            let op = [
                Op::Binary(rules::PLUS),
                Op::Binary(rules::MINUS),
                Op::Binary(rules::TIMES),
                Op::Unary(rules::NEGATE),
                Op::Unary(rules::SIN),
                Op::Unary(rules::TANH),
                Op::Binary(rules::MAX),
                Op::Unary(cube),
                Op::Unary(rules::ROUND),
            ][random.below(9) as usize];
            let b = if matches!(op, Op::Unary(_)) { a } else { b };
            results.push(body.len() as u32);
            body.push(Instruction::Apply { op, a, b });
            // Numbers stay of moderate size.
            results.push(body.len() as u32);
            body.push(Instruction::Apply {
                op: Op::Unary(rules::TANH),
                a: body.len() as u32 - 1,
                b: body.len() as u32 - 1,
            });
        }
        let last = *results.last().expect("there are results");
        let own = work + if recurs && !reversed { 1 } else { 0 };
        addresses.push(affine(Space::Work, own, &strides));
        body.push(Instruction::Store { value: last, address: addresses.len() as u32 - 1 });
        before.push((work, iterations + halo));
        work += iterations + halo;
        // Sums: to fixed cells, to cells of one counter, to neighbouring cells, by tables.
        let mut last_sum: Option<Address> = None;
        for _ in 0..random.below(4) {
            let value = results[random.below(results.len() as u64) as usize];
            let address = match last_sum.take() {
                Some(mut address) if address.table.is_none() && address.base < 50 => {
                    address.base += random.below(4) as u32;
                    let (low, high) = check::range(&address, &trips);
                    if low >= 0 && high < 60 { address } else { inside(random, Space::Output(0), 0, 60, &trips) }
                }
                _ => inside(random, Space::Output(0), 0, 60, &trips),
            };
            last_sum = Some(address.clone());
            addresses.push(address);
            body.push(Instruction::Accumulate { value, address: addresses.len() as u32 - 1 });
        }
        let mut statement = Statement::Nest(Nest { dimensions, reversed, addresses, body });
        for trip in outer {
            statement = Statement::Loop { trip, reversed: random.one_in(2), body: vec![statement] };
        }
        statements.push(statement);
        known.append(&mut before);
    }
    // Everything that was stored reaches an output.
    statements.push(Statement::Nest(Nest {
        dimensions: across(work as usize),
        reversed: false,
        addresses: vec![affine(Space::Work, 0, &[1]), affine(Space::Output(1), 0, &[1])],
        body: vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }],
    }));
    Program { rules, ..program(&[INPUT as usize], &[60, work as usize], work as usize, statements) }
}

#[test]
fn random_programs_agree_with_direct_evaluation_and_the_portable_executor() {
    let mut random = Random(11);
    let x: Vec<f64> = (0..INPUT).map(|i| (i as f64 * 0.37).sin() * 1.3).collect();
    // Without optimisation the compiler itself is slow.
    for case in 0..if cfg!(debug_assertions) { 300 } else { 1500 } {
        let program = random_program(&mut random);
        let expected = direct(&program, &[&x]);
        let close = |name: &str, found: &[Vec<f64>]| {
            for (i, (found, expected)) in found.iter().flatten().zip(expected.iter().flatten()).enumerate() {
                assert!(
                    (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                    "case {case}, {name}: number {i} is {found}, expected {expected}\n{program}"
                );
            }
        };
        for (name, options) in settings() {
            close(name, &native(&program, options, &[&x]).expect("there are no guards"));
        }
        let executable = program.clone().executable();
        let mut outputs: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
        let mut slices: Vec<&mut [f64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        executable.run(&mut executable.workspace(), &[&x], &mut slices).expect("there are no guards");
        close("portable", &outputs);
    }
}

/// y[i + s] += c_s x[i] for some s, on rows of every short length.
#[test]
fn sums_into_neighbouring_cells_are_complete() {
    for trip in 1..=13 {
        for shifts in [&[0u32][..], &[0, 1], &[1, 0], &[0, 2], &[0, 1, 2], &[3, 0], &[0, 1, 1, 4]] {
            for (cleared, reversed) in [(true, false), (false, false), (true, true), (false, true)] {
                for parallel in [true, false] {
                    let mut addresses = vec![affine(Space::Input(0), 0, &[1])];
                    let mut body = vec![Instruction::Load(0)];
                    for (k, shift) in shifts.iter().enumerate() {
                        addresses.push(affine(Space::Output(0), *shift, &[1]));
                        body.push(Instruction::Constant(k as u32 % 3));
                        let constant = body.len() as u32 - 1;
                        body.push(Instruction::Apply { op: Op::Binary(rules::TIMES), a: 0, b: constant });
                        body.push(Instruction::Accumulate { value: constant + 1, address: k as u32 + 1 });
                    }
                    let nest = Nest { dimensions: vec![Dimension { trip, parallel }], reversed, addresses, body };
                    let length = trip as usize + 8;
                    let mut statements =
                        vec![Statement::Zero { space: Space::Output(0), start: 0, length: length as u32 }];
                    if !cleared {
                        statements.push(Statement::Nest(Nest {
                            dimensions: across(length),
                            reversed: false,
                            addresses: vec![affine(Space::Output(0), 0, &[1])],
                            body: vec![Instruction::Constant(0), Instruction::Accumulate { value: 0, address: 0 }],
                        }));
                    }
                    statements.push(Statement::Nest(nest));
                    let program = program(&[13], &[length], 0, statements);
                    let x: Vec<f64> = (1..=13).map(|i| i as f64).collect();
                    let expected = direct(&program, &[&x]);
                    for (_, options) in settings() {
                        // Small multiples of a quarter: every order of additions gives the same result.
                        assert_eq!(
                            native(&program, options, &[&x]).expect("there are no guards"),
                            expected,
                            "{program}"
                        );
                    }
                    let single: Vec<f32> = x.iter().map(|x| *x as f32).collect();
                    let found = native::<f32>(&program, Options::default(), &[&single]).expect("there are no guards");
                    assert_eq!(found[0].iter().map(|y| *y as f64).collect::<Vec<_>>(), expected[0], "{program}");
                }
            }
        }
    }
}

/// y[i] = w; w += x[i]: a cell that is loaded and added to in one loop, which therefore runs in order.
#[test]
fn sums_that_are_read_under_way_stay_in_memory() {
    for (reversed, expected) in [(false, [0.0, 1.0, 3.0, 6.0, 10.0]), (true, [14.0, 12.0, 9.0, 5.0, 0.0])] {
        let nest = Nest {
            dimensions: vec![Dimension { trip: 5, parallel: false }],
            reversed,
            addresses: vec![
                affine(Space::Work, 0, &[0]),
                affine(Space::Output(0), 0, &[1]),
                affine(Space::Input(0), 0, &[1]),
            ],
            body: vec![
                Instruction::Load(0),
                Instruction::Store { value: 0, address: 1 },
                Instruction::Load(2),
                Instruction::Accumulate { value: 2, address: 0 },
            ],
        };
        let clear = Statement::Zero { space: Space::Work, start: 0, length: 1 };
        let program = program(&[5], &[5], 1, vec![clear, Statement::Nest(nest)]);
        let x = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(direct(&program, &[&x])[0], expected);
        for (_, options) in settings() {
            assert_eq!(native(&program, options, &[&x]).expect("there are no guards")[0], expected);
        }
    }
}

/// y[i] = w[i] where the previous iteration has written w[i], before or after it is read, once or twice.
#[test]
fn results_of_the_iteration_before_are_found() {
    let (x, w, next, y) = (0, 1, 2, 3);
    let (load, store) = (Instruction::Load, |value, address| Instruction::Store { value, address });
    let once = vec![load(w), store(0, y), load(x), store(2, next)];
    let before = vec![load(x), store(0, next), load(w), store(2, y)];
    let twice =
        vec![load(w), store(0, y), load(x), store(2, next), Instruction::Accumulate { value: 2, address: next }];
    for (body, factor) in [(once, 1.0), (before, 1.0), (twice, 2.0)] {
        let nest = Nest {
            dimensions: vec![Dimension { trip: 5, parallel: false }],
            reversed: false,
            addresses: vec![
                affine(Space::Input(0), 0, &[1]),
                affine(Space::Work, 0, &[1]),
                affine(Space::Work, 1, &[1]),
                affine(Space::Output(0), 0, &[1]),
            ],
            body,
        };
        let clear = Statement::Zero { space: Space::Work, start: 0, length: 6 };
        let program = program(&[5], &[5], 6, vec![clear, Statement::Nest(nest)]);
        for (_, options) in settings() {
            let found = native(&program, options, &[&[1.0, 2.0, 3.0, 4.0, 5.0]]).expect("there are no guards");
            assert_eq!(found[0], [0.0, factor, 2.0 * factor, 3.0 * factor, 4.0 * factor]);
        }
    }
}
