//! What variables of first and of second derivatives answer alike, as numbers of a tape and of a recording.
//!
//! Used by [`Var`](super::Var) and [`TwiceVar`](super::TwiceVar), which have a value, a recording, and the functions `parts`, `whole`, `inert`,
//! `is_recorded` and `either_is_recorded`; calls `recorded` for numbers of a recording.

/// The methods of [`Core`](differentiation_interface_core::scalar::Core) that read the value, but do not differentiate.
macro_rules! answered_in_both_states {
    () => {
        const INTERNALS: &'static Internals<Num<Self>, S::Base> = &Internals {
            parameter: |index, value| {
                #[cfg(feature = "compiled")]
                if let Some(parameter) = recorded::parameter(index, value) {
                    return Num(Self::whole(parameter));
                }
                Num(Self::inert(S::parameter(index, value)))
            },
            ..Internals::DEFAULT
        };

        #[cfg_attr(not(debug_assertions), inline(always))]
        fn constant(value: S::Base) -> Self {
            Self::inert(S::constant(value))
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn primal(&self) -> S::Base {
            self.value.peek()
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        #[track_caller]
        fn observe(&self) -> S::Base {
            #[cfg(feature = "compiled")]
            if const { S::DEPTH == 0 } && self.is_recorded() {
                let (x, at) = self.parts();
                return recorded::observe(x, at);
            }
            self.value.primal()
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        #[track_caller]
        fn compare(&self, other: &Self) -> Option<Ordering> {
            #[cfg(feature = "compiled")]
            if const { S::DEPTH == 0 } && self.either_is_recorded(other) {
                let ((x, at), (y, at_y)) = (self.parts(), other.parts());
                return recorded::compare(x, at, y, at_y);
            }
            self.value.partial_cmp(&other.value)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        #[track_caller]
        fn compare_plain(&self, other: S::Base) -> Option<Ordering> {
            #[cfg(feature = "compiled")]
            if const { S::DEPTH == 0 } && self.is_recorded() {
                let ((x, at), (y, at_y)) = (self.parts(), Self::constant(other).parts());
                return recorded::compare(x, at, y, at_y);
            }
            self.value.partial_cmp(&S::constant(other))
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        #[track_caller]
        fn compare_magnitude(&self, other: S::Base) -> Option<Ordering> {
            #[cfg(feature = "compiled")]
            if const { S::DEPTH == 0 } && self.is_recorded() {
                let (x, at) = self.parts();
                return recorded::compare_magnitude(x, at, other);
            }
            self.value.compare_magnitude(other)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        #[track_caller]
        fn select(left: Self, relation: Relation, right: Self, then: Self, otherwise: Self) -> Self {
            #[cfg(feature = "compiled")]
            if const { S::DEPTH == 0 } && left.either_is_recorded(&right) {
                let parts = |numbers: [Self; 2]| numbers.map(|number| number.parts());
                return Self::whole(recorded::select(parts([left, right]), relation, parts([then, otherwise])));
            }
            if relation.holds(left.compare(&right)) { then } else { otherwise }
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn is_constant(&self) -> bool {
            self.recording.is_none() && self.value.is_constant()
        }
        fn spoil(&self, kind: ErrorKind) {
            if let Some(own) = self.recording {
                identity::spoil(own, kind);
            }
            self.value.spoil(kind);
        }
    };
}
pub(super) use answered_in_both_states;
