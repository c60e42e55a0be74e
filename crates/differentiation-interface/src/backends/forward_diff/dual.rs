//! The dual number: a value and a tangent in several lanes, which is absent while it is zero.

use crate::backends::forwarding::answered_below;
use differentiation_interface_core::backend::{Lane, Lanes};
use differentiation_interface_core::custom::{CustomRule, PushforwardRule};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::identity::{self, Identity};
use differentiation_interface_core::recordings::{EngineScalar, Internals, Tangents};
use differentiation_interface_core::rules::{Binary, Partial, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Scalar};
use num_traits::Float;
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A dual number over the scalar `S` with lanes `L`: `value + tangent·ε`.
pub type Dual<S, L> = Num<DualCore<S, L>>;

/// The engine's part of a [`Dual`].
///
/// The tangent is absent while it is zero, so that constants and inputs outside the current chunk cost nothing.
// Value and level are adjacent, so that a number without tangent is read from one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DualCore<S: Scalar, L: Lanes> {
    value: S,
    tangent: Option<Tangent<S, L>>,
}

/// The lanes, marked with the differentiation that they belong to. The mark's niche makes the `Option` free.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Tangent<S: Scalar, L: Lanes> {
    level: NonZeroU32,
    lanes: L::Of<S>,
}

/// Mark of tangents to which two differentiations contribute. All numbers computed from them keep it.
pub(super) const MIXED: NonZeroU32 = identity::STRAY;

/// One differentiation, which marks its tangents.
///
/// Nested differentiations have different number types. But a number of an *outer* differentiation can be captured by a
/// closure for an inner one of the same type, and a number of an *earlier* call can be stored somewhere. Their tangents belong to
/// other directions, and so do those of another pass of the same call, so that a pass whose outputs depend on them is refused. Marks are identities, which are unique across threads: dual
/// numbers use no thread-local data, and the function may compute on several threads.
pub(super) struct Level {
    /// `None` if no number of another differentiation can enter.
    identity: Option<Identity>,
}

impl Level {
    /// Begins a differentiation.
    #[inline]
    pub(super) fn enter() -> Level {
        Level { identity: Some(Identity::begin()) }
    }

    /// Begins a differentiation that no number of another one can enter. It refuses results with any mark but [`UNNAMED`](identity::UNNAMED),
    /// and results of a fault on another thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn unnamed() -> Level {
        Level { identity: None }
    }

    /// The mark.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn mark(&self) -> NonZeroU32 {
        self.identity.as_ref().map_or(identity::UNNAMED, Identity::id)
    }

    /// Refuses results that depend on another differentiation, or for which another thread has reported an error.
    #[inline]
    pub(super) fn check<S: Scalar, L: Lanes>(&self, outputs: &[Dual<S, L>]) -> Result<(), ErrorKind> {
        self.check_marks(outputs.iter().map(|y| y.0.identity()))
    }

    /// The same for numbers with these marks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn check_marks(&self, mut marks: impl Iterator<Item = Option<NonZeroU32>>) -> Result<(), ErrorKind> {
        if let Some(identity) = &self.identity {
            identity.check()?;
        }
        let own = |mark: Option<NonZeroU32>| mark.is_none_or(|mark| mark == self.mark());
        if marks.all(own) { Ok(()) } else { Err(ErrorKind::ForeignNumber) }
    }
}

impl<S: Scalar, L: Lanes> DualCore<S, L> {
    /// A number without tangent.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn inert(value: S) -> Self {
        DualCore { value, tangent: None }
    }

    /// Whether the number has no derivative by this engine.
    #[cfg(feature = "any")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_inert(&self) -> bool {
        self.tangent.is_none()
    }

    /// The value, one level of nesting down.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn value(&self) -> S {
        self.value
    }

    /// The differentiation that the tangent belongs to.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn identity(&self) -> Option<NonZeroU32> {
        self.tangent.as_ref().map(|t| t.level)
    }

    /// Sets a tangent of the differentiation `level`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn set_tangent(&mut self, level: &Level, lanes: L::Of<S>) {
        self.tangent = Some(Tangent { level: level.mark(), lanes });
    }

    /// A number with the tangent that is 1 in one lane.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn basis(value: S, level: &Level, lane: usize) -> Self {
        let (zero, one) = (S::constant(S::Base::ZERO), S::constant(S::Base::ONE));
        let lanes = L::each(|k| if k == lane { one } else { zero });
        DualCore { value, tangent: Some(Tangent { level: level.mark(), lanes }) }
    }

    /// Copies the first lanes of the tangent. Returns whether none of them is NaN.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn copy_lanes(&self, out: &mut [S]) -> bool {
        let lane = |lane| self.tangent.as_ref().map_or(S::constant(S::Base::ZERO), |t| L::slice(&t.lanes)[lane]);
        // Copied first and tested afterwards, so that the compiler vectorises over the lanes.
        for (i, out) in out.iter_mut().enumerate() {
            *out = lane(i);
        }
        out.iter().fold(true, |numbers, out| numbers & !out.peek().is_nan())
    }

    /// Removes the tangent.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn clear_tangent(&mut self) {
        self.tangent = None;
    }

    /// Copies the first lanes of the tangent, fewer than it has. Returns whether the next lane is not zero.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn write_lanes(&self, out: &mut [S]) -> bool {
        let Some(t) = &self.tangent else {
            out.fill(S::constant(S::Base::ZERO));
            return false;
        };
        let lanes = L::slice(&t.lanes);
        copy_few(out, lanes);
        lanes[out.len()].peek() != S::Base::ZERO
    }

    /// Copies all lanes of the tangent, and adds their plain values lane by lane.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn write_all_lanes(&self, out: &mut [S], sums: &mut L::Of<S::Base>) {
        let out = &mut out[..L::N];
        let Some(t) = &self.tangent else { return out.fill(S::constant(S::Base::ZERO)) };
        let lanes = L::slice(&t.lanes);
        // A full set of lanes is copied without a call of `memcpy`.
        out.copy_from_slice(&lanes[..L::N]);
        for (sum, t) in L::slice_mut(sums).iter_mut().zip(lanes) {
            *sum += t.peek();
        }
    }

    /// Whether the scalar is a plain number.
    ///
    /// Tangents of plain numbers are read in place, which is twice as fast on long inputs. Those of nested numbers are copied first, so
    /// that the compiler keeps them in registers: five times faster.
    const PLAIN: bool = size_of::<S>() == size_of::<S::Base>();

    /// The number with value `value` whose tangent is that of `self` times `partial`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain(self, value: S, partial: impl FnOnce() -> Partial<S>) -> Self {
        if Self::PLAIN {
            let Some(t) = &self.tangent else { return Self::inert(value) };
            t.times(value, partial())
        } else {
            let Some(t) = self.tangent else { return Self::inert(value) };
            t.times(value, partial())
        }
    }
}

impl<S: Scalar, L: Lanes> DualCore<S, L> {
    /// The number `value` with a tangent that belongs to no differentiation by dual numbers, for engines that use dual numbers internally.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn with_lanes(value: S, lanes: L::Of<S>) -> Self {
        DualCore { value, tangent: Some(Tangent { level: identity::NONE, lanes }) }
    }

    /// The lanes of the tangent, unless it is absent.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn lanes(&self) -> Option<&L::Of<S>> {
        self.tangent.as_ref().map(|tangent| &tangent.lanes)
    }
}

impl<S: Scalar, L: Lanes> DualCore<S, L> {
    /// How engines split dual numbers over plain ones.
    const TANGENTS: Tangents<Num<Self>, S::Base> = Tangents {
        lanes: L::N,
        mark: |number| number.0.identity(),
        lane: |number, lane| number.0.lanes().map_or(S::Base::ZERO, |lanes| L::slice(lanes)[lane].peek()),
        join: |value, level, tangents, stride| {
            let mut lane = 0;
            let lanes = L::each(|_| {
                lane += 1;
                S::constant(tangents[(lane - 1) * stride])
            });
            Num(DualCore { value: S::constant(value), tangent: Some(Tangent { level, lanes }) })
        },
    };
}

impl<S: Scalar> DualCore<S, Lane<1>> {
    /// The number `value` with the tangent `tangent`, which belongs to no differentiation by dual numbers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn along(value: S, tangent: S) -> Self {
        Self::with_lanes(value, [tangent])
    }

    /// The tangent, unless it is absent.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn slope(&self) -> Option<S> {
        self.tangent.map(|tangent| tangent.lanes[0])
    }
}

/// Copies the beginning of `from` in blocks of fixed length that may overlap, which is faster than `memcpy` for a dozen numbers.
#[cfg_attr(not(debug_assertions), inline(always))]
fn copy_few<S: Copy>(out: &mut [S], from: &[S]) {
    let count = out.len();
    let from = &from[..count];
    match count {
        8..16 => {
            out[..8].copy_from_slice(&from[..8]);
            out[count - 8..].copy_from_slice(&from[count - 8..][..8]);
        }
        4..8 => {
            out[..4].copy_from_slice(&from[..4]);
            out[count - 4..].copy_from_slice(&from[count - 4..][..4]);
        }
        _ => out.copy_from_slice(from),
    }
}

impl<S: Scalar, L: Lanes> Tangent<S, L> {
    /// The number with value `value` and this tangent times `partial`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn times(&self, value: S, partial: Partial<S>) -> DualCore<S, L> {
        let lanes = match partial {
            Partial::Zero => return DualCore::inert(value),
            Partial::One => self.lanes,
            Partial::Constant(c) => self.map(|a| a.scale(c)),
            Partial::Value(d) => self.map(|a| d * a),
            Partial::Product(first, second) => self.map(|a| Partial::by_both(first, second, a)),
        };
        DualCore { value, tangent: Some(Tangent { level: self.level, lanes }) }
    }

    /// Whether lanes without a tangent are left out. Lanes share the derivatives of operations, and a derivative that is finite may have an infinite one with
    /// respect to an outer variable, whose product with zero does not show in the plain values by which passes are repeated lane by lane.
    const LEAVES_OUT: bool = S::DEPTH > 0 && L::N > 1;

    /// The lanes after a linear map.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn map(&self, linear: impl Fn(S) -> S) -> L::Of<S> {
        if const { Self::LEAVES_OUT } {
            return L::map(&self.lanes, |a| if a.is_inert_zero() { a } else { linear(a) });
        }
        L::map(&self.lanes, linear)
    }

    /// The lanes of the sum of both tangents, each times its partial derivative.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sum(&self, other: &Self, px: Partial<S>, py: Partial<S>) -> L::Of<S> {
        if const { Self::LEAVES_OUT } {
            return L::zip(&self.lanes, &other.lanes, |a, b| match (a.is_inert_zero(), b.is_inert_zero()) {
                (true, true) => a,
                (true, false) => py.times(b),
                (false, true) => px.times(a),
                (false, false) => px.times(a) + py.times(b),
            });
        }
        L::zip(&self.lanes, &other.lanes, |a, b| px.times(a) + py.times(b))
    }
}

impl<S: Scalar, L: Lanes> Tangent<S, L> {
    /// The number with value `value` and the sum of both tangents, each times its partial derivative.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn join(&self, other: &Self, value: S, px: Partial<S>, py: Partial<S>) -> DualCore<S, L> {
        let level = if self.level == other.level { self.level } else { MIXED };
        let lanes = match (px, py) {
            (Partial::Zero, py) => return other.times(value, py),
            (px, Partial::Zero) => return self.times(value, px),
            (px, py) => self.sum(other, px, py),
        };
        DualCore { value, tangent: Some(Tangent { level, lanes }) }
    }
}

impl<S: Scalar, L: Lanes> Core for DualCore<S, L> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    answered_below!(S, carries: tangent, tangents: if Self::PLAIN { Some(Self::TANGENTS) } else { None });

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unary<R: Unary>(self, rule: R) -> Self {
        let y = self.value.apply(rule);
        self.chain(y, || rule.derivative(self.value, y))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let (x, y) = (self.value, other.value);
        let r = x.apply2(y, rule);
        if !Self::PLAIN {
            // The order of the tests matters: this one keeps nested lanes in registers.
            if self.tangent.is_some() && other.tangent.is_some() {
                let (px, py) = (rule.partial_x(x, y, r), rule.partial_y(x, y, r));
                if let (Some(a), Some(b)) = (self.tangent, other.tangent) {
                    return a.join(&b, r, px, py);
                }
            }
            return if self.tangent.is_some() {
                self.chain(r, || rule.partial_x(x, y, r))
            } else {
                other.chain(r, || rule.partial_y(x, y, r))
            };
        }
        let (Some(a), Some(b)) = (&self.tangent, &other.tangent) else {
            return if self.tangent.is_some() {
                self.chain(r, || rule.partial_x(x, y, r))
            } else {
                other.chain(r, || rule.partial_y(x, y, r))
            };
        };
        // Selected without a branch: a branch to a call would spill the lanes.
        let level = if a.level == b.level { a.level } else { MIXED };
        let (px, py) = (rule.partial_x(x, y, r), rule.partial_y(x, y, r));
        let lanes = match (px, py) {
            (Partial::Zero, py) => return other.chain(r, || py),
            (px, Partial::Zero) => return self.chain(r, || px),
            (px, py) => L::zip(&a.lanes, &b.lanes, |a, b| px.times(a) + py.times(b)),
        };
        DualCore { value: r, tangent: Some(Tangent { level, lanes }) }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        let r = self.value.apply2_right(other, rule);
        self.chain(r, || rule.partial_x(self.value, S::constant(other), r))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        let r = S::apply2_left(first, second.value, rule);
        second.chain(r, || rule.partial_y(S::constant(first), second.value, r))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fused(self, factor: Self, addend: Self) -> Self {
        let value = self.value.fused(factor.value, addend.value);
        DualCore { value, ..self.binary(factor, Times).binary(addend, Plus) }
    }
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Dual<S, L>], y: &mut Vec<Dual<S, L>>) {
        Self::by_rule(rule, x, y);
    }
}

impl<S: Scalar, L: Lanes> DualCore<S, L> {
    /// Applies a custom rule.
    fn by_rule(rule: &dyn PushforwardRule<S>, x: &[Dual<S, L>], y: &mut Vec<Dual<S, L>>) {
        let values: Vec<S> = x.iter().map(|v| v.0.value).collect();
        let mut outputs = Vec::new();
        let level = x.iter().find_map(|v| v.0.identity());
        let mut failed = fault::charge(level, || rule.value(&values, &mut outputs));
        y.clear();
        y.extend(outputs.iter().map(|&v| Num(Self::inert(v))));

        let Some(level) = level else { return };
        let one_level = x.iter().filter_map(|v| v.0.identity()).all(|own| own == level);
        let zero = S::default();
        let (mut dx, mut dy) = (vec![zero; x.len()], vec![zero; y.len()]);
        let mut lanes = vec![L::each(|_| zero); y.len()];
        for lane in 0..L::N {
            for (dx, v) in dx.iter_mut().zip(x) {
                *dx = v.0.tangent.map_or(zero, |t| L::slice(&t.lanes)[lane]);
            }
            if dx.iter().all(S::is_inert_zero) {
                continue;
            }
            failed |= fault::charge(Some(level), || rule.pushforward(&values, &outputs, &dx, &mut dy));
            for (lanes, dy) in lanes.iter_mut().zip(&dy) {
                L::slice_mut(lanes)[lane] = *dy;
            }
        }
        // A differentiation without an identity detects a fault by the mark.
        let level = if one_level && !failed { level } else { MIXED };
        for (y, lanes) in y.iter_mut().zip(lanes) {
            // A rule has no other mark for an output that does not move: it is absent.
            if level == MIXED || !L::slice(&lanes).iter().all(S::is_inert_zero) {
                y.0.tangent = Some(Tangent { level, lanes });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Numbers begin at multiples of four bytes on some machines of 32 bits.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn mark_and_absence_of_the_tangent_share_one_word() {
        assert_eq!(size_of::<Dual<f64, Lane<12>>>(), 8 * (1 + 1 + 12));
    }
}
