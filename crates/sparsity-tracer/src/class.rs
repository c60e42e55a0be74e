//! What a rule depends on, determined by evaluating its derivative on a probe.
//!
//! Called by the tracer number for every operation. No function but the four of arithmetic is listed here: the derivative of a rule
//! is evaluated on [`Probe`]s, which record whether it is zero and what it depends on.
//!
//! - **Globally** the class of a rule is the union over sample points of every sign and magnitude. It is computed once per
//!   rule (and parameter) and kept in a table that a running operation reads with one load.
//! - **Locally** the derivative is probed at the point itself. If the point is special (an argument is 0 or
//!   two arguments are equal), its neighbours are probed as well, so that both arguments of a `max` count at a tie.

use crate::probe::{MakeProbe, Probe};
use differentiation_interface_core::rules::{Binary, Minus, Over, Partial, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Base, Scalar};
use std::any::TypeId;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

/// Which derivatives of a function of one or two arguments may be nonzero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class(u8);

impl Class {
    /// First derivative with respect to the first (or only) argument.
    const X: u8 = 1;
    /// First derivative with respect to the second argument.
    const Y: u8 = 2;
    const XX: u8 = 4;
    const YY: u8 = 8;
    const XY: u8 = 16;
    /// First and second derivatives of `select`, whose result is one of two numbers.
    pub(crate) const EITHER: Class = Class(Class::X | Class::Y);
    /// Sums and differences; a test compares these three with the samples.
    const SUM: Class = Class(Class::X | Class::Y);
    const PRODUCT: Class = Class(Class::X | Class::Y | Class::XY);
    const QUOTIENT: Class = Class(Class::X | Class::Y | Class::YY | Class::XY);

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn x(self) -> bool {
        self.0 & Class::X != 0
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn y(self) -> bool {
        self.0 & Class::Y != 0
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn xx(self) -> bool {
        self.0 & Class::XX != 0
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn yy(self) -> bool {
        self.0 & Class::YY != 0
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn xy(self) -> bool {
        self.0 & Class::XY != 0
    }
    /// The class in the second argument alone, as a class of one argument.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_y(self) -> Class {
        Class((self.0 >> 1) & (Class::X | Class::XX))
    }
}

/// A class, and which first derivatives are exactly zero at the probed point although the function depends on the argument.
#[derive(Clone, Copy)]
struct Probed {
    class: u8,
    exact_zero: u8,
}

impl Probed {
    const NOTHING: Probed = Probed { class: 0, exact_zero: 0 };

    /// Adds the partial derivative with respect to `argument`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add<B: Base>(&mut self, partial: Partial<Probe<B>>, argument: u8) {
        let value = match partial {
            Partial::Zero => return,
            Partial::One | Partial::Constant(_) => {
                self.class |= argument;
                return;
            }
            Partial::Value(value) => value,
            Partial::Product(first, second) => first * second,
        };
        let own_second = argument << 2;
        let (own, other) = if argument == Class::X { (Class::X, Class::Y) } else { (Class::Y, Class::X) };
        self.class |= argument;
        if value.0.depends_on(own) {
            self.class |= own_second;
        }
        if value.0.depends_on(other) {
            self.class |= Class::XY;
        }
        if value.0.is_exact_zero() {
            self.exact_zero |= argument;
        }
    }
}

#[inline(never)]
fn probe_unary<R: Unary, B: Base>(rule: R, x: B, y: B) -> Probed {
    let mut found = Probed::NOTHING;
    let result = Probe::result(y, Class::X, x == B::ZERO && y == B::ZERO);
    found.add(rule.derivative(Probe::argument(x, Class::X), result), Class::X);
    found
}

/// Probes at `(x, y)`, in the arguments `active`; the other one is a constant.
#[inline(never)]
fn probe_binary<R: Binary, B: Base>(rule: R, x: B, y: B, r: B, active: u8) -> Probed {
    let (px, py) = (Probe::argument(x, active & Class::X), Probe::argument(y, active & Class::Y));
    let pr = Probe::result(r, active, px.apply2(py, rule).0.is_exact_zero());
    let mut found = Probed::NOTHING;
    if active & Class::X != 0 {
        found.add(rule.partial_x(px, py, pr), Class::X);
    }
    if active & Class::Y != 0 {
        found.add(rule.partial_y(px, py, pr), Class::Y);
    }
    found
}

/// Magnitudes of the sample points, at which no rule is special.
const SAMPLES: [f64; 10] = [1e-300, 1.3e-9, 0.0123, 0.37, 0.81, 1.7, 5.3, 42.3, 1.1e9, 1e300];

/// The class of a rule at one sample. Behind a pointer, so that the loops over samples are compiled once and not for each rule.
#[derive(Clone, Copy)]
enum Samples<'a> {
    /// Of a rule of one argument.
    Numbers(&'a dyn Fn(f64) -> u8),
    /// Of a rule of two arguments, whose third number says which arguments are active.
    Pairs(&'a dyn Fn(f64, f64, u8) -> u8),
}

impl Samples<'_> {
    /// The union over all samples.
    fn all(self) -> u8 {
        let samples = || SAMPLES.into_iter().flat_map(|x| [x, -x]);
        match self {
            Samples::Numbers(class) => samples().fold(0, |all, x| all | class(x)),
            Samples::Pairs(class) => {
                let pairs = samples().flat_map(|x| samples().map(move |y| (x, y)));
                let actives = [Class::X, Class::Y, Class::X | Class::Y];
                pairs.fold(0, |all, (x, y)| actives.iter().fold(all, |all, active| all | class(x, y, *active)))
            }
        }
    }
}

/// The class of a rule of one argument, over all points.
#[inline]
pub(crate) fn unary_global<R: Unary>(rule: R) -> Class {
    remembered(TypeId::of::<R>(), rule.parameter(), Samples::Numbers(&|x| probe_unary(rule, x, rule.value(x)).class))
}

/// The class of a rule of two arguments, over all points.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn binary_global<R: Binary>(rule: R) -> Class {
    let own = TypeId::of::<R>();
    // Constants of the operation, so that arithmetic reads no table and compiles to little code in every traced function.
    if own == TypeId::of::<Plus>() || own == TypeId::of::<Minus>() {
        Class::SUM
    } else if own == TypeId::of::<Times>() {
        Class::PRODUCT
    } else if own == TypeId::of::<Over>() {
        Class::QUOTIENT
    } else {
        binary_sampled(rule)
    }
}

/// The class of a rule of two arguments, by all sample points.
#[inline(never)]
fn binary_sampled<R: Binary>(rule: R) -> Class {
    let probe = |x: f64, y: f64, active: u8| probe_binary(rule, x, y, rule.value(x, y), active).class;
    remembered(TypeId::of::<R>(), rule.parameter(), Samples::Pairs(&probe))
}

/// The class of a rule of one argument around the point `x`, where the value is `y`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn unary_local<R: Unary, B: Base>(rule: R, x: B, y: B) -> Class {
    let here = probe_unary(rule, x, y);
    let mut class = here.class;
    if x == B::ZERO {
        for x in [B::epsilon(), -B::epsilon()] {
            class |= probe_unary(rule, x, rule.value(x)).class;
        }
    }
    Class(class & !here.exact_zero)
}

/// The class of a rule of two arguments around the point `(x, y)`, where the value is `r`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn binary_local<R: Binary, B: Base>(rule: R, x: B, y: B, r: B) -> Class {
    local(rule, x, y, r, Class::X | Class::Y)
}

/// As `binary_local` with a plain second argument, as a class of one argument.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn right_local<R: Binary, B: Base>(rule: R, x: B, y: B, r: B) -> Class {
    local(rule, x, y, r, Class::X)
}

/// As `binary_local` with a plain first argument, as a class of one argument.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn left_local<R: Binary, B: Base>(rule: R, x: B, y: B, r: B) -> Class {
    local(rule, x, y, r, Class::Y).of_y()
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn local<R: Binary, B: Base>(rule: R, x: B, y: B, r: B, active: u8) -> Class {
    let here = probe_binary(rule, x, y, r, active);
    let mut class = here.class;
    if x == B::ZERO || y == B::ZERO || x == y {
        let step = |v: B| B::epsilon() * (B::ONE + v.abs());
        let (dx, dy) = (step(x), step(y));
        for (x, y) in [(x + dx, y), (x - dx, y), (x, y + dy), (x, y - dy)] {
            class |= probe_binary(rule, x, y, rule.value(x, y), active).class;
        }
    }
    Class(class & !here.exact_zero)
}

/// Classes found so far: 55 bits of the rule's key, one bit that marks the slot as used, the class.
///
/// A slot is one word, so that readers need no lock; of two rules with the same slot the last one stays.
static TABLE: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];

const TAKEN: u64 = 0x80;
const CLASS: u64 = 0x7f;

#[cfg_attr(not(debug_assertions), inline(always))]
fn remembered(rule: TypeId, parameter: Option<u64>, samples: Samples<'_>) -> Class {
    let Some(parameter) = parameter else { return Class(samples.all()) };
    let mut key = Key(0);
    rule.hash(&mut key);
    let key = key.0 ^ parameter.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    let slot = &TABLE[(key >> 8) as usize % TABLE.len()];
    let word = slot.load(Ordering::Relaxed);
    if (word ^ key) & !CLASS & !TAKEN == 0 && word & TAKEN != 0 {
        return Class((word & CLASS) as u8);
    }
    compute(slot, key, samples)
}

#[cold]
#[inline(never)]
fn compute(slot: &AtomicU64, key: u64, samples: Samples<'_>) -> Class {
    let class = samples.all();
    slot.store(key & !CLASS & !TAKEN | TAKEN | class as u64, Ordering::Relaxed);
    Class(class)
}

/// Hashes a `TypeId`: its hash is 64 bits of itself, so this folds into a constant.
struct Key(u64);

impl Hasher for Key {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write_u64(&mut self, bits: u64) {
        self.0 ^= bits;
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = self.0.rotate_left(23) ^ u64::from_le_bytes(word);
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests;
