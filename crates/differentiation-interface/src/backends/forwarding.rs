//! Methods that all numbers over another scalar share, independent of the derivative that they carry.
//!
//! Used by the engines' implementations of [`Core`](differentiation_interface_core::scalar::Core).

/// The methods of `Core` that forward to the number below, of type `$Below` in the field `value`; that number may record decisions
/// of the user's code. If the field `$derivative` is `None`, the number carries no derivative itself; `inert` makes such a number.
/// `identity` returns the differentiation of any other number. A number of a plain value with `tangents` defines how to split it.
macro_rules! answered_below {
    ($Below:ty, carries: $derivative:ident $(, tangents: $tangents:expr)?) => {
        const INTERNALS: &'static Internals<Num<Self>, S::Base> = &Internals {
            parameter: |index, value| Num(Self::inert(<$Below>::parameter(index, value))),
            may_be_recorded: <$Below as Scalar>::INTERNALS.may_be_recorded,
            $(tangents: $tangents,)?
            ..Internals::DEFAULT
        };
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn constant(value: S::Base) -> Self {
            Self::inert(<$Below>::constant(value))
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn primal(&self) -> S::Base {
            self.value.peek()
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        #[track_caller]
        fn observe(&self) -> S::Base {
            self.value.primal()
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        #[track_caller]
        fn compare(&self, other: &Self) -> Option<Ordering> {
            self.value.partial_cmp(&other.value)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        #[track_caller]
        fn compare_plain(&self, other: S::Base) -> Option<Ordering> {
            self.value.partial_cmp(&<$Below>::constant(other))
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        #[track_caller]
        fn compare_magnitude(&self, other: S::Base) -> Option<Ordering> {
            self.value.compare_magnitude(other)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn is_constant(&self) -> bool {
            self.$derivative.is_none() && self.value.is_constant()
        }
        fn spoil(&self, kind: ErrorKind) {
            if let Some(own) = self.identity() {
                identity::spoil(own, kind);
            }
            self.value.spoil(kind);
        }
    };
}

pub(crate) use answered_below;
