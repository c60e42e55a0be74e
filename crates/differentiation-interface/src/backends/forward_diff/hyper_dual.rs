//! The hyper-dual number: a dual number with tangents in a second set of directions, and the mixed second derivatives.

use super::dual::{Dual, DualCore, MIXED};
use crate::backends::forwarding::answered_below;
use differentiation_interface_core::backend::Lanes;
use differentiation_interface_core::custom::{CustomRule, PushforwardRule};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::identity;
use differentiation_interface_core::recordings::{EngineScalar, Internals};
use differentiation_interface_core::rules::{Binary, Partial, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Scalar};
use std::cmp::Ordering;
use std::hint::cold_path;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

/// A hyper-dual number over the scalar `S` with lanes `O` along seeds and lanes `L` along inputs.
pub type HyperDual<S, O, L> = Num<HyperDualCore<S, O, L>>;

/// The engine's part of a [`HyperDual`].
///
/// It carries what `Dual<Dual<S, O>, L>` carries, with lanes of one kind adjacent: it is half as large, and its lanes are added and
/// multiplied by vector instructions.
// Operations are always inlined in optimised builds only. In debug builds each inlined call would keep its lanes on the stack of the
// user's function, which 12 × 12 lanes soon exhaust.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct HyperDualCore<S: Scalar, O: Lanes, L: Lanes> {
    value: Dual<S, O>,
    tangent: Option<HyperTangent<S, O, L>>,
}

/// First derivatives along inputs and second ones along seeds and inputs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct HyperTangent<S: Scalar, O: Lanes, L: Lanes> {
    mark: Mark,
    first: L::Of<S>,
    second: O::Array<L::Of<S>>,
}

/// The mark of the differentiation along inputs, and whether there are second derivatives. Those of inputs are absent, so that they
/// are not multiplied by infinite factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark(NonZeroU64);

impl Mark {
    const BENT: u64 = 1 << 32;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn straight(level: NonZeroU32) -> Self {
        Mark(NonZeroU64::from(level))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn bent(self) -> Self {
        Mark(self.0 | Self::BENT)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_bent(self) -> bool {
        self.0.get() & Self::BENT != 0
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn level(self) -> NonZeroU32 {
        NonZeroU32::new(self.0.get() as u32).unwrap_or(MIXED)
    }
    /// The mark of a number computed from two.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn join(self, other: Self) -> Self {
        let bent = (self.0 | other.0.get()).get() & Self::BENT;
        let level = if self.0.get() as u32 == other.0.get() as u32 { self.level() } else { MIXED };
        Mark(NonZeroU64::from(level) | bent)
    }
}

impl<S: Scalar, O: Lanes, L: Lanes> HyperDualCore<S, O, L> {
    /// A number that does not depend on the inputs with lanes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn inert(value: Dual<S, O>) -> Self {
        HyperDualCore { value, tangent: None }
    }

    /// Whether the number has no derivative by this engine.
    #[cfg(feature = "any")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_inert(&self) -> bool {
        self.tangent.is_none() && self.value.0.is_inert()
    }

    /// The value and its tangents along seeds.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn value(&self) -> Dual<S, O> {
        self.value
    }

    /// Makes the number an input of the differentiation `level` with the lane `lane`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn set_lane(&mut self, level: NonZeroU32, lane: usize) {
        let (zero, one) = (S::constant(S::Base::ZERO), S::constant(S::Base::ONE));
        let first = L::each(|k| if k == lane { one } else { zero });
        let second = O::repeat(L::each(|_| zero));
        self.tangent = Some(HyperTangent { mark: Mark::straight(level), first, second });
    }

    /// Removes the tangent along inputs.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn clear_tangent(&mut self) {
        self.tangent = None;
    }

    /// The differentiation along inputs that the number depends on.
    pub(super) fn level(&self) -> Option<NonZeroU32> {
        self.tangent.as_ref().map(|t| t.mark.level())
    }

    /// The identity of either differentiation; the tangents along seeds belong to the value.
    fn identity(&self) -> Option<NonZeroU32> {
        self.level()
    }

    /// First derivatives along inputs, unless all are zero.
    pub(super) fn first(&self) -> Option<&[S]> {
        self.tangent.as_ref().map(|t| L::slice(&t.first))
    }

    /// Second derivatives along the seed `seed` and inputs, unless all are zero.
    pub(super) fn second(&self, seed: usize) -> Option<&[S]> {
        self.tangent.as_ref().filter(|t| t.mark.is_bent()).map(|t| L::slice(&t.second.as_ref()[seed]))
    }

    /// The number with value `value` whose tangent along inputs is that of `self` times `partial`.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain(self, value: Dual<S, O>, partial: impl FnOnce() -> Partial<Dual<S, O>>) -> Self {
        if self.tangent.is_none() {
            return Self::inert(value);
        }
        // In long functions most numbers have no lanes. Without this hint the compiler moves lane registers for them too, and calls that
        // use few lanes take half as long again.
        cold_path();
        let Some(t) = self.tangent else { return Self::inert(value) };
        match partial() {
            Partial::Zero => Self::inert(value),
            partial => HyperDualCore { value, tangent: Some(t.times(partial)) },
        }
    }
}

impl<S: Scalar, O: Lanes, L: Lanes> HyperTangent<S, O, L> {
    /// This tangent times a partial derivative.
    // Lanes are copied first and changed in place, so that the compiler keeps them in registers.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn times(mut self, partial: Partial<Dual<S, O>>) -> Self {
        match partial {
            Partial::Zero | Partial::One => {}
            Partial::Constant(c) => {
                self.first = L::map(&self.first, |a| a.scale(c));
                if self.mark.is_bent() {
                    for lanes in self.second.as_mut() {
                        *lanes = L::map(lanes, |a| a.scale(c));
                    }
                }
            }
            Partial::Value(d) => self.multiply(&d),
            Partial::Product(first, second) => self.multiply_by_both(&first, &second),
        }
        self
    }

    /// Multiplies by one number, then by the other. Out of line for nested numbers, as in [`Partial::by_both`].
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn multiply_by_both(&mut self, first: &Dual<S, O>, second: &Dual<S, O>) {
        #[inline(never)]
        fn nested<S: Scalar, O: Lanes, L: Lanes>(
            tangent: &mut HyperTangent<S, O, L>,
            first: &Dual<S, O>,
            second: &Dual<S, O>,
        ) {
            tangent.multiply(first);
            tangent.multiply(second);
        }
        if const { S::DEPTH == 0 } {
            self.multiply(first);
            self.multiply(second);
        } else {
            nested(self, first, second);
        }
    }

    /// Multiplies by a number.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn multiply(&mut self, d: &Dual<S, O>) {
        let p = d.0.value();
        if self.mark.is_bent() {
            for lanes in self.second.as_mut() {
                *lanes = L::map(lanes, |a| Self::product(p, a));
            }
        }
        if let Some(bends) = d.0.lanes() {
            self.mark = self.mark.bent();
            for (lanes, &bend) in self.second.as_mut().iter_mut().zip(O::slice(bends)) {
                if !(const { Self::LEAVES_OUT } && bend.is_inert_zero()) {
                    *lanes = L::zip(lanes, &self.first, |s, a| s + Self::product(bend, a));
                }
            }
        }
        self.first = L::map(&self.first, |a| Self::product(p, a));
    }

    /// Whether lanes without a tangent are left out, for the reason that dual numbers have.
    const LEAVES_OUT: bool = S::DEPTH > 0 && L::N * O::N > 1;

    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn product(p: S, lane: S) -> S {
        if const { Self::LEAVES_OUT } && lane.is_inert_zero() { lane } else { p * lane }
    }

    /// The sum of two tangents.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn plus(self, other: Self) -> Self {
        let mut second = self.second;
        for (a, b) in second.as_mut().iter_mut().zip(other.second.as_ref()) {
            *a = L::zip(a, b, |a, b| a + b);
        }
        HyperTangent {
            mark: self.mark.join(other.mark),
            first: L::zip(&self.first, &other.first, |a, b| a + b),
            second,
        }
    }
}

impl<S: Scalar, O: Lanes, L: Lanes> Core for HyperDualCore<S, O, L> {
    type Base = S::Base;
    const DEPTH: u32 = 2 + S::DEPTH;

    answered_below!(Dual<S, O>, carries: tangent);

    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unary<R: Unary>(self, rule: R) -> Self {
        let y = self.value.apply(rule);
        self.chain(y, || rule.derivative(self.value, y))
    }
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let (x, y) = (self.value, other.value);
        let r = x.apply2(y, rule);
        if self.tangent.is_none() && other.tangent.is_none() {
            return Self::inert(r);
        }
        cold_path();
        // The order of the tests matters: it keeps lanes in registers.
        if self.tangent.is_some() && other.tangent.is_some() {
            match (rule.partial_x(x, y, r), rule.partial_y(x, y, r)) {
                (Partial::Zero, py) => return other.chain(r, || py),
                (px, Partial::Zero) => return self.chain(r, || px),
                (px, py) => {
                    if let (Some(a), Some(b)) = (self.tangent, other.tangent) {
                        return HyperDualCore { value: r, tangent: Some(a.times(px).plus(b.times(py))) };
                    }
                }
            }
        }
        if self.tangent.is_some() {
            self.chain(r, || rule.partial_x(x, y, r))
        } else {
            other.chain(r, || rule.partial_y(x, y, r))
        }
    }
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        let r = self.value.apply2_right(other, rule);
        self.chain(r, || rule.partial_x(self.value, Dual::constant(other), r))
    }
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        let r = Dual::apply2_left(first, second.value, rule);
        second.chain(r, || rule.partial_y(Dual::constant(first), second.value, r))
    }
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fused(self, factor: Self, addend: Self) -> Self {
        let value = self.value.fused(factor.value, addend.value);
        HyperDualCore { value, ..self.binary(factor, Times).binary(addend, Plus) }
    }
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        Self::by_rule(rule, x, y);
    }
}

impl<S: Scalar, O: Lanes, L: Lanes> HyperDualCore<S, O, L> {
    /// Applies a custom rule.
    fn by_rule(rule: &dyn PushforwardRule<Dual<S, O>>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        let values: Vec<Dual<S, O>> = x.iter().map(|v| v.0.value).collect();
        let mut outputs = Vec::new();
        let level = x.iter().find_map(|v| v.0.level());
        fault::charge(level, || rule.value(&values, &mut outputs));
        y.clear();
        y.extend(outputs.iter().map(|&v| Num(Self::inert(v))));

        let Some(level) = level else { return };
        let one_level = x.iter().filter_map(|v| v.0.level()).all(|own| own == level);
        let level = if one_level { level } else { MIXED };
        let zeros = L::each(|_| S::default());
        let nothing = HyperTangent { mark: Mark::straight(level), first: zeros, second: O::repeat(zeros) };
        let mut tangents: Vec<HyperTangent<S, O, L>> = vec![nothing; y.len()];
        let mut dx: Vec<Dual<S, O>> = vec![Dual::default(); x.len()];
        let mut dy = vec![Dual::default(); y.len()];
        for lane in 0..L::N {
            for (dx, v) in dx.iter_mut().zip(x) {
                *dx = v.0.tangent.map_or(Dual::default(), |t| t.lane(lane));
            }
            if dx.iter().all(Dual::is_inert_zero) {
                continue;
            }
            fault::charge(Some(level), || rule.pushforward(&values, &outputs, &dx, &mut dy));
            for (tangent, dy) in tangents.iter_mut().zip(&dy) {
                L::slice_mut(&mut tangent.first)[lane] = dy.0.value();
                let Some(bends) = dy.0.lanes() else { continue };
                tangent.mark = tangent.mark.bent();
                for (second, bend) in tangent.second.as_mut().iter_mut().zip(O::slice(bends)) {
                    L::slice_mut(second)[lane] = *bend;
                }
            }
        }
        for (y, tangent) in y.iter_mut().zip(tangents) {
            // As in first order, an output that does not move is absent.
            if level == MIXED || (0..L::N).any(|lane| !tangent.lane(lane).is_inert_zero()) {
                y.0.tangent = Some(tangent);
            }
        }
    }
}

impl<S: Scalar, O: Lanes, L: Lanes> HyperTangent<S, O, L> {
    /// One lane, along the seeds.
    fn lane(&self, lane: usize) -> Dual<S, O> {
        let first = L::slice(&self.first)[lane];
        if self.mark.is_bent() {
            Num(DualCore::with_lanes(first, O::each(|o| L::slice(&self.second.as_ref()[o])[lane])))
        } else {
            Num(DualCore::inert(first))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use differentiation_interface_core::backend::Lane;

    // Numbers begin at multiples of four bytes on some machines of 32 bits.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn lanes_lie_side_by_side() {
        // Value, mark and tangent along the seed; mark and flag; twelve first and twelve second derivatives.
        assert_eq!(size_of::<HyperDual<f64, Lane<1>, Lane<12>>>(), 8 * (3 + 1 + 12 + 12));
    }
}
