//! Guards on inputs come first, so that a run at a point of another path ends before it has computed anything.
//!
//! Called at the end of optimisation. Statements without loops follow the loops that they use results of, and a guard is in one of them. Only
//! guards before which all others are moved too are moved: the first one that fails stays the first.

use crate::derive::builder::without_dead;
use crate::derive::expressions::Shared;
use crate::optimize::fuse::rewritten;
use crate::program::*;
use crate::recording::graph::Op;

/// Instructions that are computed for one guard before everything else.
const MOST: usize = 16;

/// Moves guards on inputs to the first nest.
pub(super) fn put_guards_first(statements: &mut Vec<Statement>, shared: &mut Shared) {
    // The first nest, if its guards are in front already, keeps them, and comes with a copy of them before others.
    let (mut kept, mut front): (Option<Nest>, Vec<Nest>) = (None, Vec::new());
    let mut is_first = true;
    let mut at = 0;
    while at < statements.len() {
        match &mut statements[at] {
            Statement::Zero { .. } => at += 1,
            Statement::Nest(nest) if nest.dimensions.is_empty() => {
                let first = Guards::first_of(nest);
                let (others, is_in_place) = (first.others, is_first && first.are_in_front());
                if is_in_place {
                    kept = Some(first.alone(nest));
                } else if !first.guards.is_empty() {
                    front.push(first.alone(nest));
                    first.leave(nest);
                }
                let is_empty = nest.body.is_empty();
                if is_empty {
                    statements.remove(at);
                } else {
                    (at, is_first) = (at + 1, false);
                }
                if others {
                    break;
                }
            }
            other if has_guards(other) => break,
            _ => (at, is_first) = (at + 1, false),
        }
    }
    if front.is_empty() {
        return;
    }
    // Together with the first statement, unless that is a loop. What is cleared before it stays so.
    let first = statements.iter().position(|statement| !matches!(statement, Statement::Zero { .. }));
    let joined =
        first.filter(|first| matches!(&statements[*first], Statement::Nest(nest) if nest.dimensions.is_empty()));
    let next = joined.map(|first| statements.remove(first));
    let mut nests: Vec<&Nest> = kept.iter().chain(&front).collect();
    if let Some(Statement::Nest(nest)) = &next {
        nests.push(nest);
    }
    statements.insert(joined.unwrap_or(0), Statement::Nest(rewritten(&nests, shared)));
}

fn has_guards(statement: &Statement) -> bool {
    match statement {
        Statement::Nest(nest) => nest.body.iter().any(is_guard),
        Statement::Loop { body, .. } => body.iter().any(has_guards),
        Statement::Zero { .. } | Statement::Call(_) => false,
    }
}

fn is_guard(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Apply { op: Op::Guard(_), .. })
}

/// The guards of a nest that may come first.
struct Guards {
    /// Their places, in order.
    guards: Vec<usize>,
    /// The places of what they need, and their own.
    needed: Vec<usize>,
    /// Whether other guards follow.
    others: bool,
}

impl Guards {
    /// The first ones.
    fn first_of(nest: &Nest) -> Guards {
        let mut first = Guards { guards: Vec::new(), needed: Vec::new(), others: false };
        for (at, _) in nest.body.iter().enumerate().filter(|(_, instruction)| is_guard(instruction)) {
            match operands_of_inputs(nest, at) {
                Some(needed) => {
                    first.guards.push(at);
                    first.needed.extend(needed);
                }
                None => {
                    first.others = true;
                    break;
                }
            }
        }
        first.needed.sort_unstable();
        first.needed.dedup();
        first
    }

    /// Whether nothing else is computed before them.
    fn are_in_front(&self) -> bool {
        self.guards.last().is_none_or(|last| last + 1 == self.needed.len())
    }

    /// A nest of them and what they need.
    fn alone(&self, nest: &Nest) -> Nest {
        let mut alone = empty();
        for place in &self.needed {
            let instruction = match nest.body[*place] {
                Instruction::Load(address) => {
                    alone.addresses.push(nest.addresses[address as usize].clone());
                    Instruction::Load(alone.addresses.len() as u32 - 1)
                }
                other => other.renamed(|operand| self.needed.partition_point(|place| *place < operand as usize) as u32),
            };
            alone.body.push(instruction);
        }
        alone
    }

    /// Removes them from the nest.
    fn leave(&self, nest: &mut Nest) {
        for guard in &self.guards {
            // Without an effect, and not used.
            nest.body[*guard] = Instruction::Constant(0);
        }
        *nest = without_dead(std::mem::replace(nest, empty()));
    }
}

fn empty() -> Nest {
    Nest { dimensions: Vec::new(), reversed: false, addresses: Vec::new(), body: Vec::new() }
}

/// The places of a guard and of all that it is computed from, if these are few operations on inputs and constants.
fn operands_of_inputs(nest: &Nest, guard: usize) -> Option<Vec<usize>> {
    let mut needed = vec![guard];
    let mut next = 0;
    while next < needed.len() {
        let instruction = &nest.body[needed[next]];
        if let Instruction::Load(address) = instruction
            && !matches!(nest.addresses[*address as usize].space, Space::Input(_) | Space::Constant)
        {
            return None;
        }
        instruction.operands(|operand| {
            if !needed.contains(&(operand as usize)) {
                needed.push(operand as usize);
            }
        });
        if needed.len() > MOST {
            return None;
        }
        next += 1;
    }
    Some(needed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Recorded, RunError, compile, record};
    use num_traits::Float;

    fn gradient_of(x: &[f64], f: impl FnOnce(&[Recorded]) -> Recorded) -> Program {
        let graph = record(x, &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
        compile(&graph).unwrap().gradient().unwrap()
    }

    /// The sum of products of neighbours, which is a loop.
    fn sum(x: &[Recorded]) -> Recorded {
        x.windows(2).map(|pair| (pair[0] * pair[1]).tanh()).sum()
    }

    /// For each statement without a loop before the first one with a loop, the places of its guards; the number of all guards.
    fn guards_before_loops(program: &Program) -> (Vec<Vec<usize>>, usize) {
        let nests = program.statements.iter().filter_map(|statement| match statement {
            Statement::Nest(nest) => Some(nest),
            _ => None,
        });
        let guards = |nest: &Nest| (0..nest.body.len()).filter(|at| is_guard(&nest.body[*at])).collect::<Vec<_>>();
        let all = nests.clone().map(|nest| guards(nest).len()).sum();
        (nests.take_while(|nest| nest.dimensions.is_empty()).map(guards).collect(), all)
    }

    /// The gradient, or the line of the comparison that fails.
    fn run(program: &Program, x: &[f64]) -> Result<Vec<f64>, u32> {
        let (mut y, mut gradient) = ([0.0], vec![0.0; x.len()]);
        let executable = program.clone().executable();
        match executable.run(&mut executable.workspace(), &[x, &[]], &mut [&mut y, &mut gradient]) {
            Ok(()) => Ok(gradient),
            Err(RunError::Guard(GuardFailed { place })) => Err(place.unwrap().line()),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn guards_on_inputs_are_checked_before_loops() {
        let (mut x, line) = ([0.5; 20], line!() + 1);
        let program = gradient_of(&x, |x| if x[0] * 2.0 < 10.0 && x[1] > 0.0 { sum(x) * x[2] } else { x[3] });
        assert!(program.loop_count() > 0, "{program}");
        assert_eq!(guards_before_loops(&program), (vec![vec![4, 7]], 2), "{program}");
        let without = gradient_of(&x, |x| sum(x) * x[2]);
        assert_eq!(guards_before_loops(&without).1, 0);
        assert_eq!(run(&program, &x), run(&without, &x));
        // Those of derivatives of it too, without a copy.
        let twice = program.tangent(1).unwrap();
        assert_eq!(guards_before_loops(&twice), (vec![vec![4, 7]], 2), "{twice}");
        for (place, value) in [(0, 6.0), (1, -1.0), (0, f64::NAN)] {
            let old = std::mem::replace(&mut x[place], value);
            assert_eq!(run(&program, &x), Err(line));
            x[place] = old;
        }
    }

    #[test]
    fn a_guard_on_a_result_is_checked_where_the_result_is_known() {
        let (x, first) = ([0.5; 20], line!() + 2);
        let program = gradient_of(&x, |x| {
            let small = sum(x) < 100.0;
            let second = x[1] < 1.0;
            if small && second { sum(x) * x[2] } else { x[3] }
        });
        // Not the second one either: the first that fails is reported.
        assert_eq!(guards_before_loops(&program), (Vec::new(), 2), "{program}");
        assert!(run(&program, &x).is_ok());
        assert_eq!(run(&program, &[2.0; 20]), Err(first + 1));
        assert_eq!(run(&program, &[f64::NAN; 20]), Err(first));
    }

    /// The first guard is in front already, with what a loop needs; the second one follows the loop.
    #[test]
    fn guards_before_and_behind_a_loop_keep_their_order() {
        let (x, first) = ([0.5; 20], line!() + 2);
        let mut program = gradient_of(&x, |x| {
            let is_small = x[0] < 10.0;
            let scale = x[0].sin();
            let sum: Recorded = x.windows(2).map(|pair| (pair[0] * pair[1] * scale).tanh()).sum();
            if is_small && x[1] > 0.0 { sum } else { x[3] }
        });
        let is_nest = |statement: &Statement| matches!(statement, Statement::Nest(_));
        let at = program.statements.iter().position(is_nest).unwrap();
        let Statement::Nest(nest) = &mut program.statements[at] else { unreachable!() };
        let second = Guards { guards: vec![5], needed: vec![3, 4, 5], others: false };
        let behind = second.alone(nest);
        second.leave(nest);
        program.statements.push(Statement::Nest(behind));
        let mut bad = x;
        (bad[0], bad[1]) = (11.0, -1.0);
        assert_eq!((guards_before_loops(&program), run(&program, &bad)), ((vec![vec![2]], 2), Err(first)));

        let mut shared = Shared::new(program.constants, program.rules, program.absence);
        put_guards_first(&mut program.statements, &mut shared);
        let program = Program { constants: shared.constants, rules: shared.rules, ..program };
        assert_eq!(guards_before_loops(&program), (vec![vec![2, 5]], 2), "{program}");
        assert_eq!(run(&program, &bad), Err(first));
        bad[0] = 1.0;
        assert_eq!(run(&program, &bad), Err(first + 3));
        assert!(run(&program, &x).is_ok());
    }

    #[test]
    fn a_guard_on_many_operations_stays() {
        let long = |x: &[Recorded], times: usize| (0..times).fold(x[0], |sum, _| sum.sin() + x[1]);
        for (times, is_first) in [(3, true), (20, false)] {
            let program = gradient_of(&[0.5; 20], |x| if long(x, times) < 10.0 { sum(x) } else { x[3] });
            let (before_loops, all) = guards_before_loops(&program);
            assert_eq!((before_loops.concat().is_empty(), all), (!is_first, 1), "{program}");
        }
    }
}
