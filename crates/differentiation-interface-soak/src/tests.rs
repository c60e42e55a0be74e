//! Tests of the soak test itself: wrong engines are detected, failures are shrunk, seeds give the same programs.

use crate::check::{Case, Failure, check};
use crate::compare::{Expected, Verdict};
use crate::draw;
use crate::shrink::shrink;
use crate::tally::Tally;
use differentiation_interface::prelude::{Error, ErrorKind};
use differentiation_interface_soak::engines::{Call, Candidate, Quantity, all};
use differentiation_interface_soak::program::{Binary, Expression, Operand, Place, Program, Statement, Unary};
use std::time::Duration;

fn engine(name: &str) -> Candidate {
    *all().iter().find(|candidate| candidate.name == name).expect("the name of a candidate")
}

/// The tape, with the sign of every gradient entry flipped where the program has a sine.
fn flipped(program: &Program, x: &[f64]) -> Result<Call<'static>, Error> {
    let has_sine = format!("{:?}", program.body).contains("Sin,");
    let program = Box::leak(Box::new(program.clone()));
    let mut call = (engine("gradient tape").start)(program, x)?;
    Ok(Box::new(move |x| {
        let mut answers = call(x)?;
        for (quantity, numbers) in &mut answers {
            if *quantity == Quantity::Gradient && has_sine {
                numbers.iter_mut().for_each(|number| *number = -*number);
            }
        }
        Ok(answers)
    }))
}

/// The tape, with one number too few.
fn short(program: &Program, x: &[f64]) -> Result<Call<'static>, Error> {
    let program = Box::leak(Box::new(program.clone()));
    let mut call = (engine("gradient tape").start)(program, x)?;
    Ok(Box::new(move |x| {
        let mut answers = call(x)?;
        answers[1].1.pop();
        Ok(answers)
    }))
}

/// An inexact engine: off by one part in 10¹².
fn inexact(program: &Program, x: &[f64]) -> Result<Call<'static>, Error> {
    let program = Box::leak(Box::new(program.clone()));
    let mut call = (engine("gradient tape").start)(program, x)?;
    Ok(Box::new(move |x| {
        let mut answers = call(x)?;
        answers.iter_mut().for_each(|(_, numbers)| numbers.iter_mut().for_each(|number| *number *= 1.0 + 1e-12));
        Ok(answers)
    }))
}

fn refuses(_: &Program, _: &[f64]) -> Result<Call<'static>, Error> {
    Err(ErrorKind::TapeOverflow.into())
}

fn panics(_: &Program, _: &[f64]) -> Result<Call<'static>, Error> {
    Ok(Box::new(|_| panic!("on purpose")))
}

fn set(k: usize, value: Expression) -> Statement {
    Statement::Set { place: Place::Register(k), value }
}

/// Eight statements, of which one is a sine in a loop.
fn long_program() -> Case {
    let (r0, r1, x) = (Operand::Register(0), Operand::Register(1), Operand::Input(2));
    let body = vec![
        set(0, Expression::Unary(Unary::Exp, Operand::Input(0))),
        set(1, Expression::Binary(Binary::Mul, r0, Operand::Input(1))),
        Statement::For {
            trips: 4,
            body: vec![
                set(1, Expression::Unary(Unary::Sin, r1)),
                set(0, Expression::Binary(Binary::Add, r0, r1)),
                set(0, Expression::Binary(Binary::Mul, r0, x)),
            ],
        },
        set(1, Expression::Binary(Binary::Hypot, r1, Operand::Constant(2.5))),
        set(0, Expression::Binary(Binary::Add, r0, r1)),
    ];
    let program = Program { inputs: 3, registers: 2, work: 1, body, outputs: vec![r0, r1] };
    Case::new(program, vec![vec![0.3, 0.4, 0.5], vec![0.7, -0.2, 1.3]])
}

#[test]
fn engine_with_a_flipped_sign_is_caught_and_shrunk_to_the_sine() {
    let wrong = Candidate { name: "flipped", start: flipped, ..engine("gradient tape") };
    let case = long_program();
    let mut tally = Tally::default();
    let (place, failure) = check(&wrong, &case, &mut tally).expect("a wrong sign is seen");
    assert!(tally.disagreements >= 1);
    let shrunk = shrink(&wrong, &case, place, &failure, Duration::from_secs(20));
    assert_eq!((shrunk.program.inputs, shrunk.points.len()), (1, 1));
    assert_eq!(shrunk.program.body, [set(1, Expression::Unary(Unary::Sin, Operand::Input(0)))], "{}", shrunk.program);
    assert!(matches!(shrunk.failure, Failure::Number { quantity: Quantity::Gradient, entry: 0, .. }));
    // The engine is wrong wherever there is a sine, even if the output does not depend on it.
    assert_eq!(
        shrunk.program.to_string(),
        "fn program(x: &[T; 1]) -> [T; 1] {\n    let mut r1 = 0.5;\n    r1 = x[0].sin();\n    [x[0]]\n}\n"
    );
}

#[test]
fn engine_that_is_off_by_one_part_in_a_million_million_is_caught() {
    let wrong = Candidate { name: "inexact", start: inexact, ..engine("gradient tape") };
    assert!(matches!(check(&wrong, &long_program(), &mut Tally::default()), Some((_, Failure::Number { .. }))));
}

#[test]
fn errors_panics_and_missing_numbers_are_failures() {
    let found = |start: for<'p> fn(&'p Program, &[f64]) -> Result<Call<'p>, Error>| {
        let wrong = Candidate { name: "wrong", start, ..engine("gradient tape") };
        check(&wrong, &long_program(), &mut Tally::default()).expect("it is a failure").1
    };
    assert!(matches!(found(short), Failure::Length { found: 2, expected: 3, .. }));
    assert!(matches!(found(refuses), Failure::Error(_)));
    assert!(matches!(found(panics), Failure::Panic(text) if text == "on purpose"));
}

#[test]
fn every_engine_is_right_on_a_usual_program() {
    let mut tally = Tally::default();
    for candidate in all() {
        let failure = check(&candidate, &long_program(), &mut tally);
        assert!(failure.is_none(), "{}: {failure:?}", candidate.name);
    }
    assert_eq!((tally.disagreements, tally.regular()), (0, tally.comparisons()));
}

#[test]
fn seed_and_number_mean_one_program() {
    let text = |number| {
        let (program, points) = draw::case(3, number);
        format!("{program}{points:?}")
    };
    assert_eq!(text(5), text(5));
    assert_ne!(text(5), text(6));
}

#[test]
fn most_numbers_of_drawn_programs_are_compared_at_regular_points() {
    let mut tally = Tally::default();
    let tape = engine("jacobian tape");
    for number in 0..12 {
        let (program, points) = draw::case(1, number);
        check(&tape, &Case::new(program, points), &mut tally);
    }
    assert!(tally.regular() > tally.comparisons() / 2 && tally.comparisons() > 1_000, "{tally}");
}

#[test]
fn verdicts_tell_zeros_bounds_and_absent_entries() {
    let expected = |value: f64, marks: u32, absent: bool| Expected { value, tolerance: 1e-15, marks, absent };
    assert_eq!(expected(1.0, 0, false).verdict(1.0), Verdict::BitEqual);
    assert_eq!(expected(0.0, 0, false).verdict(-0.0), Verdict::Zeros);
    assert!(matches!(expected(1.0, 0, false).verdict(1.0 + f64::EPSILON), Verdict::Within(_)));
    assert_eq!(expected(1.0, 0, false).verdict(f64::NAN), Verdict::Disagrees);
    assert_eq!(expected(f64::NAN, 1, false).verdict(f64::NAN), Verdict::Singular { kind: 0, agrees: true });
    assert_eq!(expected(0.0, 1, true).verdict(f64::NAN), Verdict::SingularNotAbsent { kind: 0 });
}
