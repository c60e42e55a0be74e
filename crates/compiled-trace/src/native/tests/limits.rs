//! What is refused: programs that do not hold together, and code that would be too long or take too much stack.

use super::*;

#[test]
fn what_does_not_fit_is_refused() {
    for op in [Op::Compare(77), Op::Unary(60_000), Op::Binary(60_000)] {
        let refused = Compiled::<f64>::new(&one_operation(op, 4, Rules::default()), Options::default());
        assert_eq!(refused.err(), Some(Refused::Inconsistent), "{op:?}");
    }
    let good = one_operation(Op::Binary(rules::TIMES), 4, Rules::default());
    let refused = |change: &dyn Fn(&mut Program, &mut Nest)| {
        let mut program = good.clone();
        let Some(Statement::Nest(mut nest)) = program.statements.pop() else { unreachable!("it is a nest") };
        change(&mut program, &mut nest);
        program.statements.push(Statement::Nest(nest));
        Compiled::<f64>::new(&program, Options::default()).err()
    };
    assert_eq!(refused(&|_, _| {}), None);
    assert_eq!(refused(&|_, nest| nest.addresses[0].base = 1), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.addresses[2].strides = vec![-1]), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.addresses[2].strides = vec![i32::MAX]), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.addresses[2].space = Space::Input(0)), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.addresses[2].space = Space::Output(1)), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.addresses[0].table = Some(vec![0, 1, 2].into())), Some(Refused::Inconsistent));
    assert_eq!(
        refused(&|_, nest| nest.addresses[0].table = Some(vec![0, 1, 2, 4].into())),
        Some(Refused::Inconsistent)
    );
    assert_eq!(refused(&|_, nest| nest.body[1] = Instruction::Constant(9)), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.body[0] = Instruction::Load(9)), Some(Refused::Inconsistent));
    assert_eq!(
        refused(&|_, nest| nest.body[3] = Instruction::Store { value: 3, address: 2 }),
        Some(Refused::Inconsistent)
    );
    let clear = |start| Statement::Zero { space: Space::Output(0), start, length: 4 };
    assert_eq!(refused(&|program, _| program.statements.push(clear(0))), None);
    assert_eq!(refused(&|program, _| program.statements.push(clear(1))), Some(Refused::Inconsistent));
    assert_eq!(
        refused(&|program, _| program.inputs = vec![4; 46]),
        Some(Refused::TooManySlices { found: 47, most: 46 })
    );
    let few = Options { most_instructions: 3, ..Options::default() };
    assert_eq!(Compiled::<f64>::new(&good, few).err(), Some(Refused::TooLarge { found: 4, most: 3 }));
}

/// Whether the code generator takes programs of the default limit; Cranelift has one of its own.
fn takes_long_programs() -> bool {
    let options = Options::default();
    options.most_instructions == crate::native::machine::most_instructions(&options)
}

/// Long programs are compiled, of many short bodies or of one.
#[test]
fn long_programs_are_compiled() {
    let one = one_operation(Op::Binary(rules::PLUS), 2, Rules::default());
    let Statement::Nest(nest) = &one.statements[0] else { panic!("it is a nest") };
    let nest = nest.clone();
    let many = Program { statements: (0..15_000).map(|_| Statement::Nest(nest.clone())).collect(), ..one.clone() };
    assert_eq!(many.instruction_count(), 60_000);
    let options = Options::default();
    if takes_long_programs() {
        assert_eq!(native(&many, options, &[&[1.0, 2.0], &[3.0, 4.0]]).expect("there are no guards"), [[4.0, 6.0]]);
        let x: Vec<f64> = (0..50_000).map(f64::from).collect();
        let found = native(&all_at_once(50_000), options, &[&x]).expect("there are no guards");
        assert_eq!(found, [[50_000.0 * 49_999.0]]);
    }
    let refused = Compiled::<f64>::new(&many, Options { most_instructions: 50_000, ..options }).err();
    assert_eq!(refused, Some(Refused::TooLarge { found: 60_000, most: 50_000 }));
}

/// Adds up `count` inputs forwards and backwards in one body, so that all of them are live in the middle.
fn all_at_once(count: u32) -> Program {
    let mut body: Vec<Instruction> = (0..count).map(Instruction::Load).collect();
    let mut sum = 0;
    for i in (1..count).chain((0..count).rev()) {
        sum = {
            body.push(Instruction::Apply { op: Op::Binary(rules::PLUS), a: sum, b: i });
            body.len() as u32 - 1
        };
    }
    body.push(Instruction::Store { value: sum, address: count });
    let mut addresses: Vec<Address> = (0..count).map(|i| affine(Space::Input(0), i, &[])).collect();
    addresses.push(affine(Space::Output(0), 0, &[]));
    let nest = Nest { dimensions: vec![], reversed: false, addresses, body };
    program(&[count as usize], &[1], 0, vec![Statement::Nest(nest)])
}

/// Numbers that the stack has no room for are in cells, if the body is not that of a loop.
#[test]
fn long_bodies_that_hold_many_numbers_are_compiled_in_pieces() {
    for count in if takes_long_programs() { &[5000, 40_000, 100_000][..] } else { &[5000] } {
        let x: Vec<f64> = (0..*count).map(f64::from).collect();
        let found = native(&all_at_once(*count), Options::default(), &[&x]).expect("there are no guards");
        assert_eq!(found, [[f64::from(*count) * f64::from(*count - 1)]]);
    }
}

/// A program that does not hold together is refused, also where it would be cut, and the limit is compared with the program as it was.
#[test]
fn long_bodies_are_checked_before_they_are_cut() {
    if !takes_long_programs() {
        return;
    }
    let mut program = all_at_once(40_000);
    let limit = Options { most_instructions: program.instruction_count(), ..Options::default() };
    assert!(Compiled::<f64>::new(&program, limit).is_ok());
    let Some(Statement::Nest(nest)) = program.statements.first_mut() else { panic!("it is a nest") };
    nest.body.push(Instruction::Store { value: 5_000_000, address: 0 });
    assert_eq!(Compiled::<f64>::new(&program, Options::default()).err(), Some(Refused::Inconsistent));
}

#[test]
fn loops_that_need_too_much_stack_are_refused() {
    if !takes_long_programs() {
        return;
    }
    let mut program = all_at_once(100_000);
    let Some(Statement::Nest(nest)) = program.statements.first_mut() else { panic!("it is a nest") };
    nest.dimensions = vec![Dimension { trip: 2, parallel: false }];
    nest.addresses.iter_mut().for_each(|address| address.strides = vec![0]);
    let refused = Compiled::<f64>::new(&program, Options::default()).err();
    assert!(matches!(refused, Some(Refused::Stack { .. })), "{refused:?}");
}
