//! Code that was made before in this process, found by the content of its program.
//!
//! Asked by [`Compiled::new`](super::Compiled::new) before it makes code. Code lives as long as a `Compiled` uses it. Two threads
//! that ask for the same program at the same time may both make it.

use super::build::{Built, Step};
use super::call::Code;
use super::number::Format;
use super::options::Options;
use crate::program::{Program, Statement};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Code with the program that it was made of.
struct Known {
    format: Format,
    options: Options,
    program: Program,
    code: Weak<Code>,
    steps: Arc<[Step]>,
    leading: usize,
    instructions: usize,
    bytes: usize,
    time: f64,
    uses_rules: bool,
}

/// By the hash of the program.
static KNOWN: Mutex<Option<FxHashMap<u64, Vec<Known>>>> = Mutex::new(None);

fn known() -> MutexGuard<'static, Option<FxHashMap<u64, Vec<Known>>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns code of the same program, or makes it.
pub(super) fn find_or_make<E>(
    format: Format,
    program: &Program,
    options: Options,
    make: impl FnOnce() -> Result<Built, E>,
) -> Result<Built, E> {
    // Custom rules are objects without an equality, and a listing is asked for to look at.
    if options.listing || has_calls(&program.statements) {
        return make();
    }
    let key = hash(format, program);
    if let Some(all) = known().as_ref().and_then(|known| known.get(&key)) {
        let same = |known: &&Known| {
            let is_asked = known.code.strong_count() > 0 && known.format == format && known.options == options;
            is_asked && same(&known.program, program)
        };
        if let Some(found) = all.iter().find(same)
            && let Some(code) = found.code.upgrade()
        {
            let Known { steps, leading, instructions, bytes, time, uses_rules, .. } = found;
            return Ok(Built {
                code,
                steps: Arc::clone(steps),
                leading: *leading,
                instructions: *instructions,
                bytes: *bytes,
                time: *time,
                listing: Vec::new(),
                uses_rules: *uses_rules,
            });
        }
    }
    let made = make()?;
    let new = Known {
        format,
        options,
        program: program.clone(),
        code: Arc::downgrade(&made.code),
        steps: Arc::clone(&made.steps),
        leading: made.leading,
        instructions: made.instructions,
        bytes: made.bytes,
        time: made.time,
        uses_rules: made.uses_rules,
    };
    let mut known = known();
    let known = known.get_or_insert_default();
    // From time to time, programs whose code is gone are forgotten.
    if known.len().is_power_of_two() {
        known.retain(|_, all| {
            all.retain(|known| known.code.strong_count() > 0);
            !all.is_empty()
        });
    }
    let all = known.entry(key).or_default();
    all.retain(|known| known.code.strong_count() > 0);
    all.push(new);
    Ok(made)
}

fn has_calls(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Call(_) => true,
        Statement::Loop { body, .. } => has_calls(body),
        Statement::Nest(_) | Statement::Zero { .. } => false,
    })
}

/// Instructions of a body that count for the hash.
const SAMPLES: usize = 256;

fn hash(format: Format, program: &Program) -> u64 {
    fn add(statements: &[Statement], hasher: &mut FxHasher) {
        for statement in statements {
            match statement {
                Statement::Nest(nest) => {
                    nest.dimensions.hash(hasher);
                    // Long bodies are compared if their lengths and some instructions agree.
                    nest.body.len().hash(hasher);
                    let step = nest.body.len() / SAMPLES + 1;
                    nest.body.iter().step_by(step).for_each(|instruction| instruction.hash(hasher));
                    for address in &nest.addresses {
                        (address.space, address.base, &address.strides).hash(hasher);
                        address.table.as_ref().map(|table| table.len()).hash(hasher);
                    }
                }
                Statement::Loop { trip, body, .. } => {
                    trip.hash(hasher);
                    add(body, hasher);
                }
                Statement::Zero { space, start, length } => (space, start, length).hash(hasher),
                Statement::Call(_) => {}
            }
        }
    }
    let mut hasher = FxHasher::default();
    (format, &program.inputs, &program.outputs, program.work).hash(&mut hasher);
    program.constants.iter().for_each(|constant| constant.to_bits().hash(&mut hasher));
    add(&program.statements, &mut hasher);
    hasher.finish()
}

/// Whether two programs have the same code.
fn same(a: &Program, b: &Program) -> bool {
    fn equal(a: &[Statement], b: &[Statement]) -> bool {
        let one = |(a, b): (&Statement, &Statement)| match (a, b) {
            (Statement::Nest(a), Statement::Nest(b)) => a == b,
            (
                Statement::Loop { trip, reversed, body },
                Statement::Loop { trip: other_trip, reversed: other_reversed, body: other },
            ) => trip == other_trip && reversed == other_reversed && equal(body, other),
            (
                Statement::Zero { space, start, length },
                Statement::Zero { space: other_space, start: other_start, length: other_length },
            ) => (space, start, length) == (other_space, other_start, other_length),
            _ => false,
        };
        a.len() == b.len() && a.iter().zip(b).all(one)
    }
    let bits = |program: &Program| program.constants.iter().map(|constant| constant.to_bits()).collect::<Vec<u64>>();
    a.inputs == b.inputs
        && a.outputs == b.outputs
        && a.work == b.work
        && bits(a) == bits(b)
        && a.rules.are(&b.rules)
        && equal(&a.statements, &b.statements)
}
