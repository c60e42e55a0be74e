//! Makes a failing program smaller while it keeps failing.
//!
//! Called by `main` with the first failure of a program. Tries points, then statements, then expressions and operands, repeatedly
//! until nothing becomes smaller or the time is up.

use crate::check::{Case, Failure, check};
use crate::tally::Tally;
use differentiation_interface_soak::engines::Candidate;
use differentiation_interface_soak::function::MAX_INPUTS;
use differentiation_interface_soak::program::{Binary, Expression, Operand, Place, Program, Statement, Unary};
use std::mem::discriminant;
use std::time::{Duration, Instant};

/// A failing program, its points (prepared at the first, failing at the last), and the failure.
pub(crate) struct Shrunk {
    pub(crate) program: Program,
    pub(crate) points: Vec<Vec<f64>>,
    pub(crate) failure: Failure,
}

/// Whether a smaller program fails as the larger one does: a wrong number where there was one, an error where there was one.
fn fails(candidate: &Candidate, program: &Program, points: &[Vec<f64>], like: &Failure) -> Option<Failure> {
    let case = Case::new(program.clone(), points.to_vec());
    let (place, failure) = check(candidate, &case, &mut Tally::default())?;
    let same = match (&failure, like) {
        (Failure::Number { quantity: found, .. }, Failure::Number { quantity: expected, .. }) => {
            discriminant(found) == discriminant(expected)
        }
        _ => discriminant(&failure) == discriminant(like),
    };
    (same && place + 1 == points.len()).then_some(failure)
}

/// Shrinks the failure at point `place`.
pub(crate) fn shrink(candidate: &Candidate, case: &Case, place: usize, failure: &Failure, limit: Duration) -> Shrunk {
    let end = Instant::now() + limit;
    let mut best =
        Shrunk { program: case.program.clone(), points: case.points[..=place].to_vec(), failure: failure.clone() };
    // One point, two, or all up to that one.
    let here = case.points[place].clone();
    for points in [vec![here.clone()], vec![case.points[0].clone(), here]] {
        if let Some(failure) = fails(candidate, &best.program, &points, failure) {
            best.points = points;
            best.failure = failure;
            break;
        }
    }
    loop {
        let before = (best.program.clone(), best.points.clone());
        shrink_points(candidate, &mut best, failure, end);
        shrink_program(candidate, &mut best, failure, end);
        shrink_inputs(candidate, &mut best, failure, end);
        // NaN among the points is not equal to itself, so their text is compared.
        if Instant::now() > end
            || (before.0 == best.program && format!("{:?}", before.1) == format!("{:?}", best.points))
        {
            return best;
        }
    }
}

/// Tries smaller programs until none of them fails.
fn shrink_program(candidate: &Candidate, best: &mut Shrunk, like: &Failure, end: Instant) {
    let mut k = 0;
    loop {
        let smaller = smaller_programs(&best.program);
        let Some(program) = smaller.get(k) else { return };
        if Instant::now() > end {
            return;
        }
        match fails(candidate, program, &best.points, like) {
            Some(failure) => {
                best.program = program.clone();
                best.failure = failure;
                // The earlier candidates did not fail, and most of them still do not.
                k = k.saturating_sub(2);
            }
            None => k += 1,
        }
    }
}

/// Tries to remove inputs.
fn shrink_inputs(candidate: &Candidate, best: &mut Shrunk, like: &Failure, end: Instant) {
    let mut input = 0;
    while best.program.inputs > 1 && input < best.program.inputs && Instant::now() < end {
        let mut program = best.program.clone();
        let n = program.inputs;
        let mut operands = |operand: &mut Operand| match *operand {
            Operand::Input(k) if k % n > input => *operand = Operand::Input(k % n - 1),
            Operand::Input(k) if k % n == input => *operand = Operand::Input(input % (n - 1)),
            Operand::Input(k) => *operand = Operand::Input(k % n),
            _ => {}
        };
        each_operand(&mut program.body, &mut operands);
        program.outputs.iter_mut().for_each(&mut operands);
        program.inputs -= 1;
        let mut points = best.points.clone();
        points.iter_mut().for_each(|x| {
            x.remove(input);
        });
        match fails(candidate, &program, &points, like) {
            Some(failure) => *best = Shrunk { program, points, failure },
            None => input += 1,
        }
    }
}

/// Tries fewer points and simpler numbers.
fn shrink_points(candidate: &Candidate, best: &mut Shrunk, like: &Failure, end: Instant) {
    let mut k = 0;
    while k + 1 < best.points.len() && Instant::now() < end {
        let mut points = best.points.clone();
        points.remove(k);
        match fails(candidate, &best.program, &points, like) {
            Some(failure) => {
                best.points = points;
                best.failure = failure;
            }
            None => k += 1,
        }
    }
    for k in 0..best.points.len() {
        for i in 0..best.program.inputs {
            let now = best.points[k][i];
            for simple in
                [1.0, 2.0, 0.5, -1.0, 3.0, now.round(), (now * 4.0).round() / 4.0, (now * 64.0).round() / 64.0]
            {
                if Instant::now() > end || simple == now {
                    break;
                }
                let mut points = best.points.clone();
                points[k][i] = simple;
                if let Some(failure) = fails(candidate, &best.program, &points, like) {
                    best.points = points;
                    best.failure = failure;
                    break;
                }
            }
        }
    }
}

/// Programs that are a step smaller, those that save most first.
fn smaller_programs(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for k in 0..program.outputs.len() {
        if program.outputs.len() > 1 {
            let mut smaller = program.clone();
            smaller.outputs.remove(k);
            all.push(smaller);
        }
    }
    all.extend(smaller_bodies(&program.body).into_iter().map(|body| Program { body, ..program.clone() }));
    for k in 0..program.outputs.len() {
        for operand in smaller_operands(program.outputs[k]) {
            let mut smaller = program.clone();
            smaller.outputs[k] = operand;
            all.push(smaller);
        }
    }
    all
}

fn smaller_bodies(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    let replaced = |k: usize, by: Vec<Statement>| [&body[..k], &by, &body[k + 1..]].concat();
    if body.len() > 3 {
        all.push(body[body.len() / 2..].to_vec());
        all.push(body[..body.len() / 2].to_vec());
    }
    all.extend((0..body.len()).map(|k| replaced(k, Vec::new())));
    for (k, statement) in body.iter().enumerate() {
        all.extend(smaller_statements(statement).into_iter().map(|by| replaced(k, by)));
    }
    all
}

/// Smaller replacements of a statement.
fn smaller_statements(statement: &Statement) -> Vec<Vec<Statement>> {
    match statement {
        Statement::Set { place, value } => {
            let place_fixed = match *place {
                Place::WorkAt { start, .. } => {
                    let value = value.clone();
                    vec![vec![Statement::Set { place: Place::Register(start % 2), value }]]
                }
                Place::Work(k) => vec![vec![Statement::Set { place: Place::Register(k % 2), value: value.clone() }]],
                Place::Register(_) => Vec::new(),
            };
            let values = smaller_expressions(value).into_iter();
            values.map(|value| vec![Statement::Set { place: *place, value }]).chain(place_fixed).collect()
        }
        Statement::For { trips, body } => {
            let mut all = vec![body.clone()];
            for fewer in [1, 2, trips / 2, trips - 1] {
                if fewer < *trips && fewer > 0 {
                    all.push(vec![Statement::For { trips: fewer, body: body.clone() }]);
                }
            }
            all.extend(smaller_bodies(body).into_iter().map(|body| vec![Statement::For { trips: *trips, body }]));
            all
        }
        Statement::If { relation, a, b, then, otherwise } => {
            let mut all = vec![then.clone(), otherwise.clone()];
            let made = |a: Operand, b: Operand, then: Vec<Statement>, otherwise: Vec<Statement>| {
                vec![Statement::If { relation: *relation, a, b, then, otherwise }]
            };
            all.extend(smaller_bodies(then).into_iter().map(|then| made(*a, *b, then, otherwise.clone())));
            all.extend(smaller_bodies(otherwise).into_iter().map(|otherwise| made(*a, *b, then.clone(), otherwise)));
            all.extend(smaller_operands(*a).into_iter().map(|a| made(a, *b, then.clone(), otherwise.clone())));
            all.extend(smaller_operands(*b).into_iter().map(|b| made(*a, b, then.clone(), otherwise.clone())));
            all
        }
        Statement::While { relation, a, b, limit, body } => {
            let made = |a: Operand, b: Operand, limit: usize, body: Vec<Statement>| {
                vec![Statement::While { relation: *relation, a, b, limit, body }]
            };
            let mut all = vec![body.clone(), vec![Statement::For { trips: *limit, body: body.clone() }]];
            if *limit > 1 {
                all.push(made(*a, *b, limit / 2, body.clone()));
                all.push(made(*a, *b, limit - 1, body.clone()));
            }
            all.extend(smaller_bodies(body).into_iter().map(|body| made(*a, *b, *limit, body)));
            all.extend(smaller_operands(*a).into_iter().map(|a| made(a, *b, *limit, body.clone())));
            all.extend(smaller_operands(*b).into_iter().map(|b| made(*a, b, *limit, body.clone())));
            all
        }
    }
}

fn smaller_expressions(expression: &Expression) -> Vec<Expression> {
    let mut all = Vec::new();
    let mut operands = Vec::new();
    each_operand_of(&mut expression.clone(), &mut |operand| operands.push(*operand));
    if !matches!(expression, Expression::Copy(_)) {
        all.extend(operands.iter().map(|operand| Expression::Copy(*operand)));
        if let Some(first) = operands.first().filter(|_| !matches!(expression, Expression::Unary(..))) {
            all.push(Expression::Unary(Unary::Neg, *first));
        }
        if let [a, b, ..] = operands[..]
            && !matches!(expression, Expression::Binary(..))
        {
            all.push(Expression::Binary(Binary::Mul, a, b));
        }
    }
    if let Expression::SumOfInputs(function) = expression {
        all.push(Expression::Unary(*function, Operand::Input(0)));
    }
    // One operand at a time.
    for (k, operand) in operands.iter().enumerate() {
        for smaller in smaller_operands(*operand) {
            let mut replaced = expression.clone();
            let mut place = 0;
            each_operand_of(&mut replaced, &mut |operand| {
                if place == k {
                    *operand = smaller;
                }
                place += 1;
            });
            all.push(replaced);
        }
    }
    all
}

fn smaller_operands(operand: Operand) -> Vec<Operand> {
    match operand {
        Operand::Constant(1.0) => Vec::new(),
        Operand::Constant(2.0) => vec![Operand::Constant(1.0)],
        Operand::Constant(_) => vec![Operand::Constant(1.0), Operand::Constant(2.0)],
        Operand::Input(k) if k >= MAX_INPUTS => vec![Operand::Input(k % MAX_INPUTS)],
        Operand::Input(0) => Vec::new(),
        Operand::Input(_) => vec![Operand::Input(0)],
        Operand::InputAt { start, .. } => vec![Operand::Input(start), Operand::Input(0)],
        Operand::Register(_) => vec![Operand::Input(0), Operand::Input(1), Operand::Constant(1.0)],
        Operand::Work(k) => vec![Operand::Input(0), Operand::Constant(1.0), Operand::Register(k % 2)],
        Operand::WorkAt { start, .. } => vec![Operand::Input(0), Operand::Work(start), Operand::Register(start % 2)],
    }
}

fn each_operand_of(expression: &mut Expression, visit: &mut impl FnMut(&mut Operand)) {
    match expression {
        Expression::Copy(a) | Expression::Unary(_, a) | Expression::Clamp(a, ..) | Expression::Table(a, _) => visit(a),
        Expression::Binary(_, a, b) | Expression::Special(_, a, b) => [a, b].into_iter().for_each(visit),
        Expression::MulAdd(a, b, c) => [a, b, c].into_iter().for_each(visit),
        Expression::Select { a, b, then, otherwise, .. } => [a, b, then, otherwise].into_iter().for_each(visit),
        Expression::Lookup(a, among) => std::iter::once(a).chain(among).for_each(visit),
        Expression::SumOfInputs(_) | Expression::ProductOfInputs => {}
    }
}

fn each_operand(body: &mut [Statement], visit: &mut impl FnMut(&mut Operand)) {
    for statement in body {
        match statement {
            Statement::Set { value, .. } => each_operand_of(value, visit),
            Statement::For { body, .. } => each_operand(body, visit),
            Statement::If { a, b, then, otherwise, .. } => {
                visit(a);
                visit(b);
                each_operand(then, visit);
                each_operand(otherwise, visit);
            }
            Statement::While { a, b, body, .. } => {
                visit(a);
                visit(b);
                each_operand(body, visit);
            }
        }
    }
}
