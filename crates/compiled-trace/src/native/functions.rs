//! Addresses of elementary functions for machine code.
//!
//! Called by `operation` when code is emitted. Most functions are the value of the rule table itself, so that numbers are those of
//! the portable executor; some are vector functions of `elementary` in programs with vectors. Functions that are not listed are called through [`Rules`](crate::recording::rules::Rules) by number, one jump later.

use super::call::{binary_f32, binary_f64, sine_and_cosine_to_pointers, unary_f32, unary_f64};
use super::code::{Both, Call, Second};
use super::dependence;
use super::elementary;
use super::number::{BinaryFunction, Format, UnaryFunction, with_convention};
use crate::program::{Instruction, Nest, Program, Statement};
use crate::recording::graph::{Op, Outcome, guard_parts};
use crate::recording::rules::{self, OtherUnary, Rules};
use differentiation_interface_core::rules::*;

macro_rules! direct_functions {
    ($abi:literal $Float:ty; $unary:ident $binary:ident; $($UNARY:ident $Unary:ident,)*; $($BINARY:ident $Binary:ident,)*) => {
        fn $unary(number: u16) -> Option<usize> {
            Some(match number {
                $(rules::$UNARY => {
                    extern $abi fn value(x: $Float) -> $Float {
                        $Unary.value(x)
                    }
                    value as extern $abi fn($Float) -> $Float as usize
                })*
                _ => return None,
            })
        }
        fn $binary(number: u16) -> Option<usize> {
            Some(match number {
                $(rules::$BINARY => {
                    extern $abi fn value(x: $Float, y: $Float) -> $Float {
                        $Binary.value(x, y)
                    }
                    value as extern $abi fn($Float, $Float) -> $Float as usize
                })*
                _ => return None,
            })
        }
    };
}

macro_rules! direct {
    ($abi:literal $Float:ident $unary:ident $binary:ident) => {
        direct_functions! { $abi $Float; $unary $binary;
            EXP Exp, EXP2 Exp2, EXP_M1 ExpM1, LN Ln, LOG2 Log2, LOG10 Log10, LN_1P Ln1p, CBRT Cbrt,
            SIN Sin, COS Cos, TAN Tan, ASIN Asin, ACOS Acos, ATAN Atan, SINH Sinh, COSH Cosh, TANH Tanh,
            SECH_SQUARED SechSquared, HYPOT_ONE HypotOne, ERF Erf, ERFC Erfc, LOGISTIC Logistic, SOFTPLUS Softplus,
            CBRT_SLOPE CbrtSlope, ONE_MINUS_SQUARE OneMinusSquare, ASIN_SLOPE AsinSlope, ATAN_SLOPE AtanSlope,
            ACOSH_SLOPE AcoshSlope, GAUSS Gauss, LOGISTIC_SLOPE LogisticSlope,;
            POWF Powf, ATAN2 Atan2, HYPOT Hypot, MODULO Modulo, DIRECTION Direction, HYPOT_BEND HypotBend,
            HYPOT_CROSS HypotCross, ANGULAR Angular, ANGULAR_BEND AngularBend, ANGULAR_CROSS AngularCross,
            POWF_BY_BASE PowfByBase, POWF_BY_EXPONENT PowfByExponent, PRODUCT_ERROR ProductError, SUM_ERROR SumError,
            ODD_SUM OddSum,
        }
    };
}

with_convention! { direct f64 direct_unary_f64 direct_binary_f64 }
with_convention! { direct f32 direct_unary_f32 direct_binary_f32 }

impl Format {
    /// The address of a unary rule, if it is listed.
    pub(super) fn unary(self, number: u16) -> Option<usize> {
        match self {
            Format::Double => direct_unary_f64(number),
            Format::Single => direct_unary_f32(number),
        }
    }

    /// The address of a binary rule, if it is listed.
    pub(super) fn binary(self, number: u16) -> Option<usize> {
        match self {
            Format::Double => direct_binary_f64(number),
            Format::Single => direct_binary_f32(number),
        }
    }

    /// The address of the function that reaches all rules of so many arguments by number.
    pub(super) fn through_rules(self, arguments: usize) -> usize {
        match (self, arguments) {
            (Format::Double, 1) => unary_f64 as UnaryFunction<f64> as usize,
            (Format::Double, _) => binary_f64 as BinaryFunction<f64> as usize,
            (Format::Single, 1) => unary_f32 as UnaryFunction<f32> as usize,
            (Format::Single, _) => binary_f32 as BinaryFunction<f32> as usize,
        }
    }
}

/// The rule that forms a pair with another one, with functions that have the bits of the rule table.
fn second_of_table(rule: u16) -> Option<Second> {
    let other = match rule {
        rules::SIN => rules::COS,
        rules::COS => rules::SIN,
        _ => return None,
    };
    let address = sine_and_cosine_to_pointers()?;
    let both = Both::Writes { address, is_swapped: rule == rules::COS };
    Some(Second { rule: other, both, alone: direct_unary_f64(other)?, is_wanted: false })
}

/// The function over `f64` that forms a pair with that of a call of one argument, if there is one.
pub(super) fn second(call: &Call) -> Option<Second> {
    if call.own { elementary::second(call.rule, call.lanes) } else { second_of_table(call.rule) }
}

/// Functions of machine code that are not those of the rule table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Calls {
    own: Own,
    /// The most lanes for which there are such: 1, 4, or 8, with which there are functions of 4 too.
    most: u8,
}

/// Which functions are own ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Own {
    /// Sine and cosine.
    angles: bool,
    /// Powers and their derivatives.
    powers: bool,
    /// All others.
    others: bool,
}

impl Own {
    fn with(self, other: Own) -> Own {
        Own {
            angles: self.angles || other.angles,
            powers: self.powers || other.powers,
            others: self.others || other.others,
        }
    }
}

/// The value of an own function as programs of this machine call it, if there is one.
#[cfg(test)]
pub(super) fn own(rule: u16, x: f64) -> Option<f64> {
    #[expect(unsafe_code, reason = "functions for processors with vectors may only run on these")]
    // SAFETY: the processor was asked.
    elementary::one(rule, elementary::has_vectors()).map(|function| unsafe { function(x) })
}

/// The value of an own function of two numbers, if there is one.
#[cfg(test)]
pub(super) fn own_of_two(rule: u16, x: f64, y: f64) -> Option<f64> {
    #[expect(unsafe_code, reason = "functions for processors with vectors may only run on these")]
    // SAFETY: the processor was asked.
    elementary::one_of_two(rule, elementary::has_vectors()).map(|function| unsafe { function(x, y) })
}

/// The own function of a rule for four numbers and that of its pair, if these are here. The machine must have AVX2.
pub(super) fn of_four(rule: u16) -> Option<(usize, Second)> {
    elementary::vector(rule, 4).zip(elementary::second(rule, 4))
}

/// Whether a rule of one argument is the sine or the cosine, which [`with_superwords`](super::code::Function::with_superwords) computes for several angles at once.
pub(super) fn is_of_angle(rule: u16) -> bool {
    matches!(rule, rules::SIN | rules::COS)
}

/// Whether a rule is a power with a constant exponent that is computed as one with any exponent.
fn is_power(rule: u16, rules: &Rules) -> bool {
    matches!(rules.other_unary(rule), Some(OtherUnary::Powc(c)) if *c != 1.0)
}

/// Iterations from which on vectors are worthwhile.
const FEWEST: u32 = 4;
/// Nanoseconds, as measured, of sine and cosine of an angle by the rule table, by own functions, and of up to four angles by own functions.
const COSTS: [usize; 3] = [11, 11, 10];
/// Longer straight code is not searched for angles.
const LONGEST: usize = 1000;

impl Calls {
    /// The functions for a program. All its calls of a rule are of the same function, and those of its derivatives with it, so that a number
    /// does not depend on the place where it is computed. Own functions pay where there are vectors, of iterations or of angles; programs that compare bits of their
    /// recording need the rules with which it was recorded.
    pub(super) fn of(format: Format, program: &Program, widest: u32) -> Calls {
        let most = match widest * format.bytes() {
            32 => 4,
            64 => 8,
            _ => 1,
        };
        let mut found = Found::default();
        if cfg!(target_arch = "x86_64") && format == Format::Double {
            found.statements(&program.statements, &program.rules, &mut Vec::new());
        }
        let Found { mut vectors, equalities, by_table, by_own } = found;
        vectors.angles |= most >= 4 && by_own < by_table;
        Calls { own: if equalities { Own::default() } else { vectors }, most }
    }

    fn is_own(self, rule: u16) -> bool {
        if is_of_angle(rule) { self.own.angles } else { self.own.others }
    }

    /// The address of a function of one number.
    pub(super) fn one(self, rule: u16) -> Option<usize> {
        elementary::one(rule, elementary::has_vectors()).filter(|_| self.is_own(rule)).map(|function| function as usize)
    }

    /// The address of a function of so many numbers.
    pub(super) fn all(self, rule: u16, lanes: u8) -> Option<usize> {
        elementary::vector(rule, lanes).filter(|_| self.is_own(rule) && lanes <= self.most)
    }

    /// The address of a function of two numbers.
    pub(super) fn one_of_two(self, rule: u16) -> Option<usize> {
        elementary::one_of_two(rule, elementary::has_vectors())
            .filter(|_| self.own.powers)
            .map(|function| function as usize)
    }

    /// The address of a function of twice so many numbers.
    pub(super) fn all_of_two(self, rule: u16, lanes: u8) -> Option<usize> {
        elementary::vector_of_two(rule, lanes).filter(|_| self.own.powers && lanes <= self.most)
    }

    /// Whether there is a function of so many numbers at once.
    pub(super) fn has(self, op: Op, rules: &Rules, lanes: u8) -> bool {
        let found = match op {
            _ if lanes == 1 => return true,
            Op::Unary(rule) if is_power(rule, rules) => self.all_of_two(rules::POWF, lanes),
            Op::Unary(rule) => self.all(rule, lanes),
            Op::Binary(rule) => self.all_of_two(rule, lanes),
            _ => None,
        };
        found.is_some()
    }
}

/// What a program has.
#[derive(Default)]
struct Found {
    /// Functions that there are vectors of, and that are called in loops that may run in any order.
    vectors: Own,
    /// Guards that hold if two different numbers are equal.
    equalities: bool,
    /// The time of sines and cosines by the rule table.
    by_table: usize,
    /// The same by own functions, of several angles at once where the code is straight.
    by_own: usize,
}

impl Found {
    fn statements(&mut self, statements: &[Statement], rules: &Rules, trips: &mut Vec<u32>) {
        for statement in statements {
            match statement {
                Statement::Loop { trip, body, .. } => {
                    trips.push(*trip);
                    self.statements(body, rules, trips);
                    trips.pop();
                }
                Statement::Nest(nest) => self.nest(nest, rules, trips),
                Statement::Zero { .. } | Statement::Call(_) => {}
            }
        }
    }

    fn nest(&mut self, nest: &Nest, rules: &Rules, loops: &[u32]) {
        let mut called = Own::default();
        for instruction in &nest.body {
            match *instruction {
                Instruction::Apply { op: Op::Guard(guard), a, b } => {
                    // A number that is compared with itself, as by `is_nan`, may be rounded in any way.
                    self.equalities |= match guard_parts(guard).1 {
                        Outcome::Same => true,
                        Outcome::Equal => a != b,
                        _ => false,
                    };
                }
                Instruction::Apply { op: Op::Unary(rule), .. } => {
                    called.angles |= is_of_angle(rule);
                    called.powers |= is_power(rule, rules);
                    called.others |= !is_of_angle(rule) && elementary::vector(rule, 4).is_some();
                }
                Instruction::Apply { op: Op::Binary(rule), .. } => {
                    called.powers |= elementary::vector_of_two(rule, 4).is_some();
                }
                _ => {}
            }
        }
        self.angles(nest, loops);
        let all = self.vectors.with(called);
        if all != self.vectors {
            let parallel = dependence::parallel(nest, &nest.trips(loops), loops.len());
            if nest.dimensions.iter().zip(parallel).any(|(d, parallel)| parallel && d.trip >= FEWEST) {
                self.vectors = all;
            }
        }
    }

    /// Adds the angles of a nest.
    fn angles(&mut self, nest: &Nest, loops: &[u32]) {
        let is_of_angle = |instruction: &&Instruction| match instruction {
            Instruction::Apply { op: Op::Unary(rule), .. } => is_of_angle(*rule),
            _ => false,
        };
        let found = nest.body.iter().filter(is_of_angle).take(2).count();
        let [by_table, by_own, of_four] = COSTS;
        if found < 2 || !loops.is_empty() || !nest.dimensions.is_empty() || nest.body.len() > LONGEST {
            // Only what costs more by own functions counts here.
            (self.by_table, self.by_own) = (self.by_table + found * by_table, self.by_own + found * by_own);
            return;
        }
        // Per result, how many sines and cosines one after the other it depends on; the angles by this number.
        let mut depth: Vec<usize> = Vec::with_capacity(nest.body.len());
        let mut angles: Vec<Vec<u32>> = Vec::new();
        for instruction in &nest.body {
            depth.push(match *instruction {
                Instruction::Apply { op: Op::Unary(_), a, .. } if is_of_angle(&instruction) => {
                    let depth = depth[a as usize];
                    angles.resize(angles.len().max(depth + 1), Vec::new());
                    if !angles[depth].contains(&a) {
                        angles[depth].push(a);
                    }
                    depth + 1
                }
                Instruction::Apply { op: Op::Unary(_), a, .. } => depth[a as usize],
                Instruction::Apply { a, b, .. } => depth[a as usize].max(depth[b as usize]),
                _ => 0,
            });
        }
        for angles in angles {
            self.by_table += angles.len() * by_table;
            self.by_own += if angles.len() == 1 { by_own } else { angles.len().div_ceil(4) * of_four };
        }
    }
}
