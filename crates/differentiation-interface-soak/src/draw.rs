//! Draws programs and points.
//!
//! Called by `main`. Draws statement by statement, and keeps most of those with moderate values at a usual point, so that the
//! derivatives of most programs are regular there.

use crate::random::Random;
use crate::reference::{Context, evaluate};
use differentiation_interface_soak::function::{MAX_INPUTS, MAX_OUTPUTS};
use differentiation_interface_soak::program::{
    Binary, Expression, Operand, Place, Program, Relation, Special, Statement, Unary,
};

const REGISTERS: usize = 6;
const WORK: usize = 4;
const RELATIONS: [Relation; 5] =
    [Relation::Less, Relation::LessOrEqual, Relation::Greater, Relation::GreaterOrEqual, Relation::Equal];

/// Functions of one number; those that are used most are listed more than once.
const UNARY: [Unary; 50] = {
    use Unary as U;
    [
        U::Neg,
        U::Neg,
        U::Recip,
        U::Abs,
        U::Abs,
        U::Signum,
        U::Floor,
        U::Ceil,
        U::Round,
        U::Trunc,
        U::Fract,
        U::ToDegrees,
        U::ToRadians,
        U::Sqrt,
        U::Sqrt,
        U::Cbrt,
        U::Exp,
        U::Exp,
        U::Exp2,
        U::ExpM1,
        U::Ln,
        U::Ln,
        U::Log2,
        U::Log10,
        U::Ln1p,
        U::Sin,
        U::Sin,
        U::Cos,
        U::Cos,
        U::Tan,
        U::Asin,
        U::Acos,
        U::Atan,
        U::Sinh,
        U::Cosh,
        U::Tanh,
        U::Tanh,
        U::Asinh,
        U::Acosh,
        U::Atanh,
        U::Erf,
        U::Erfc,
        U::LnGamma,
        U::Digamma,
        U::Logistic,
        U::Softplus,
        U::Bell,
        U::Bell,
        U::Powi(2),
        U::Powi(2),
    ]
};
const BINARY: [Binary; 24] = {
    use Binary as B;
    [
        B::Add,
        B::Add,
        B::Add,
        B::Add,
        B::Sub,
        B::Sub,
        B::Sub,
        B::Mul,
        B::Mul,
        B::Mul,
        B::Mul,
        B::Mul,
        B::Div,
        B::Div,
        B::Div,
        B::Rem,
        B::Powf,
        B::Atan2,
        B::Hypot,
        B::Max,
        B::Max,
        B::Min,
        B::Copysign,
        B::AbsSub,
    ]
};
const SPECIAL: [Special; 4] =
    [Special::ByPushforward, Special::ByPullback, Special::NestedForward, Special::NestedReverse];

/// Values for points and for constants of hostile programs.
pub(crate) const HOSTILE: [f64; 32] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    1e-310,
    1e-300,
    1e-200,
    1e-160,
    1e-155,
    1e-20,
    1e-8,
    -1e-8,
    1e8,
    -1e20,
    1e155,
    1e160,
    1e200,
    1e300,
    -1e300,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    709.9,
    -745.2,
    1e-38,
];

/// Program `number` of the run `seed` with its points; engines are prepared at the first one.
pub(crate) fn case(seed: u64, number: u64) -> (Program, Vec<Vec<f64>>) {
    let mut random = Random::new(seed, number);
    let program = program(&mut random);
    let points = points(&mut random, program.inputs);
    (program, points)
}

fn program(random: &mut Random) -> Program {
    let inputs = random.between(1, MAX_INPUTS);
    let mut program = Program { inputs, registers: REGISTERS, work: WORK, body: Vec::new(), outputs: Vec::new() };
    // A few programs need not stay moderate.
    let wild = random.chance(0.15);
    let usual = point(random, inputs);
    let statements = random.between(2, 14);
    for _ in 0..statements {
        for _ in 0..8 {
            let length = program.body.len();
            if random.chance(0.1) {
                program.body.extend(guarded(random));
            } else {
                program.body.push(statement(random, 0));
            }
            // Any computed number can be an output.
            program.outputs = (0..REGISTERS).map(Operand::Register).chain((0..WORK).map(Operand::Work)).collect();
            if wild || is_moderate(&program, &usual) {
                break;
            }
            program.body.truncate(length);
        }
    }
    let outputs = random.between(1, MAX_OUTPUTS);
    let written = written(&program.body);
    program.outputs = (0..outputs)
        .map(|_| match written.is_empty() || random.chance(0.1) {
            true => operand(random),
            false => random.one_of(&written),
        })
        .collect();
    program
}

/// The targets of the statements.
fn written(body: &[Statement]) -> Vec<Operand> {
    body.iter()
        .flat_map(|statement| match statement {
            Statement::Set { place, .. } => vec![match *place {
                Place::Register(k) => Operand::Register(k),
                Place::Work(k) => Operand::Work(k),
                Place::WorkAt { start, .. } => Operand::Work(start % WORK),
            }],
            Statement::For { body, .. } | Statement::While { body, .. } => written(body),
            Statement::If { then, otherwise, .. } => [written(then), written(otherwise)].concat(),
        })
        .collect()
}

/// Whether all values and derivatives that the program leaves are of moderate size at the point.
fn is_moderate(program: &Program, x: &[f64]) -> bool {
    let moderate = |values: &[f64]| values.iter().all(|v| v.abs() < 1e4);
    evaluate(program, Context::double(), x)
        .is_some_and(|y| y.iter().all(|y| y.value.abs() < 50.0 && moderate(&y.grad) && moderate(&y.hess)))
}

fn constant(random: &mut Random) -> f64 {
    match random.below(12) {
        0 => random.one_of(&HOSTILE[..6]),
        1..=4 => random.one_of(&[0.5, 2.0, 3.0, -0.25, 1.5, 0.1, -1.0, 0.0]),
        _ => (random.real(-3.0, 3.0) * 64.0).round() / 64.0,
    }
}

/// An operand that is not a constant.
fn operand(random: &mut Random) -> Operand {
    match random.below(16) {
        0..=3 => Operand::Input(random.below(MAX_INPUTS)),
        4..=6 => Operand::InputAt { start: random.below(MAX_INPUTS), stride: random.between(0, 3) },
        7..=12 => Operand::Register(random.below(REGISTERS)),
        13 => Operand::Work(random.below(WORK)),
        _ => Operand::WorkAt { start: random.below(WORK), stride: random.between(0, 3) },
    }
}

fn any_operand(random: &mut Random) -> Operand {
    if random.chance(0.2) { Operand::Constant(constant(random)) } else { operand(random) }
}

fn unary(random: &mut Random) -> Unary {
    match random.below(12) {
        0 => Unary::Powi(random.one_of(&[-3, -2, -1, 0, 1, 3, 4, 5, 9])),
        1 => Unary::Powc(random.one_of(&[-1.5, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0])),
        _ => random.one_of(&UNARY),
    }
}

fn expression(random: &mut Random) -> Expression {
    match random.below(40) {
        0 => Expression::Copy(any_operand(random)),
        1..=12 => Expression::Unary(unary(random), operand(random)),
        13..=26 => {
            let function = random.one_of(&BINARY);
            let (a, b) = (any_operand(random), any_operand(random));
            Expression::Binary(function, a, b)
        }
        27 => Expression::MulAdd(operand(random), operand(random), any_operand(random)),
        28 => {
            let (a, b) = (constant(random), constant(random));
            Expression::Clamp(operand(random), a.min(b), a.max(b))
        }
        29..=31 => Expression::Select {
            relation: random.one_of(&RELATIONS),
            a: operand(random),
            b: any_operand(random),
            then: any_operand(random),
            otherwise: operand(random),
        },
        32 => {
            let entries = random.between(1, 5);
            Expression::Table(operand(random), (0..entries).map(|_| constant(random)).collect())
        }
        33 => {
            let entries = random.between(2, 4);
            Expression::Lookup(operand(random), (0..entries).map(|_| any_operand(random)).collect())
        }
        34..=36 => {
            let function = random.one_of(&SPECIAL);
            Expression::Special(function, operand(random), any_operand(random))
        }
        37..=38 => Expression::SumOfInputs(unary(random)),
        _ => Expression::ProductOfInputs,
    }
}

fn statement(random: &mut Random, depth: usize) -> Statement {
    let nested = depth < 2 && random.chance(0.22);
    if !nested {
        let place = match random.below(10) {
            0..=6 => Place::Register(random.below(REGISTERS)),
            7 => Place::Work(random.below(WORK)),
            _ => Place::WorkAt { start: random.below(WORK), stride: random.between(0, 3) },
        };
        return Statement::Set { place, value: expression(random) };
    }
    let body = |most: usize, random: &mut Random| -> Vec<Statement> {
        let statements = random.between(1, most);
        (0..statements).map(|_| statement(random, depth + 1)).collect()
    };
    match random.below(5) {
        0..=1 => {
            let trips = if depth == 0 && random.chance(0.2) { random.between(12, 40) } else { random.between(2, 9) };
            Statement::For { trips, body: body(4, random) }
        }
        2..=3 => Statement::If {
            relation: random.one_of(&RELATIONS),
            a: operand(random),
            b: any_operand(random),
            then: body(3, random),
            otherwise: if random.chance(0.6) { body(3, random) } else { Vec::new() },
        },
        _ => {
            let body = body(3, random);
            // The loop compares a number that its body writes, so that it can end.
            let a = written(&body).first().copied().unwrap_or(Operand::Register(0));
            Statement::While {
                relation: random.one_of(&RELATIONS[..4]),
                a,
                b: any_operand(random),
                limit: random.between(2, 12),
                body,
            }
        }
    }
}

/// A function that is not defined everywhere, behind a choice that keeps its argument in the domain.
fn guarded(random: &mut Random) -> Vec<Statement> {
    let functions = [
        Unary::Sqrt,
        Unary::Ln,
        Unary::Log2,
        Unary::Recip,
        Unary::Powc(0.5),
        Unary::Powc(1.5),
        Unary::Powc(-0.5),
        Unary::Ln1p,
    ];
    let (guard, result) = (random.below(REGISTERS), random.below(REGISTERS));
    let (a, zero) = (operand(random), Operand::Constant(0.0));
    let set = |k: usize, value: Expression| Statement::Set { place: Place::Register(k), value };
    let function = random.one_of(&functions);
    match random.below(3) {
        // a > 0 ? f(a) * b : c
        0 => {
            let (b, otherwise) = (operand(random), any_operand(random));
            let relation = random.one_of(&[Relation::Greater, Relation::GreaterOrEqual]);
            vec![
                set(guard, Expression::Unary(function, a)),
                set(guard, Expression::Binary(Binary::Mul, Operand::Register(guard), b)),
                set(result, Expression::Select { relation, a, b: zero, then: Operand::Register(guard), otherwise }),
            ]
        }
        // f(max(a, c))
        1 => {
            let floor = random.one_of(&[0.0, 0.0, 0.5, 1.0]);
            let value = match random.chance(0.7) {
                true => Expression::Binary(Binary::Max, a, Operand::Constant(floor)),
                false => Expression::Clamp(a, floor, 5.0),
            };
            vec![set(guard, value), set(result, Expression::Unary(function, Operand::Register(guard)))]
        }
        // max(f(a), b) and min
        _ => {
            let choice = random.one_of(&[Binary::Max, Binary::Min]);
            let b = operand(random);
            vec![
                set(guard, Expression::Unary(function, a)),
                set(result, Expression::Binary(choice, Operand::Register(guard), b)),
            ]
        }
    }
}

/// A point of usual numbers.
fn point(random: &mut Random, inputs: usize) -> Vec<f64> {
    (0..inputs).map(|_| random.real(-2.0, 2.0)).collect()
}

fn points(random: &mut Random, inputs: usize) -> Vec<Vec<f64>> {
    let mut points = Vec::new();
    for k in 0..20 {
        let mut x = point(random, inputs);
        match k {
            0..10 => {}
            // Ties, zeros and integers.
            10..13 => x.iter_mut().for_each(|x| *x = random.one_of(&[-1.0, 0.0, 0.5, 1.0, 2.0, -0.0])),
            // One entry is hostile.
            13..17 => x[random.below(inputs)] = random.one_of(&HOSTILE),
            // Any entry may be hostile.
            _ => {
                for x in &mut x {
                    if random.chance(0.6) {
                        *x = random.one_of(&HOSTILE);
                    }
                }
            }
        }
        points.push(x);
    }
    // Usually prepared at a usual point, sometimes at a hostile one.
    if random.chance(0.15) {
        points.swap(0, 13);
    }
    points
}
