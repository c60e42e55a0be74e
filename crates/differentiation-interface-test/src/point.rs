//! Points that scenarios own and lend to operators call by call.
//!
//! Called by scenarios and drivers; they lend the points and contexts of the core.

use differentiation_interface_core::Base;
use differentiation_interface_core::container::{Container, Object, Seen, Whole, from_flat, to_flat};
use differentiation_interface_core::context::{
    Cache, Constant, ConstantNumbers, ConstantOrCache, Context, ContextKind, Contexts, Parameter,
};
use differentiation_interface_core::point::{Point, Shape};
use differentiation_interface_core::recordings::Word;
use std::fmt::Debug;

/// A point with its contexts, as a scenario stores it: `Vec<f64>`, `[f64; K]`, `f64` (or `f32` instead), an [`OwnedContainer`], an [`OwnedPoints`](crate::OwnedPoints), [`OwnedMasked`](crate::OwnedMasked) or
/// [`OwnedView`](crate::OwnedView), or a tuple of one of these and [`OwnedContext`]s.
///
/// A matrix is the vector of its entries; [`Scenario::shaped`](crate::Scenario::shaped) records its shape.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the point of a scenario",
    note = "a scenario owns its point: a `Vec<f64>`, an array or a number, or a tuple of one of these and contexts such as `(vec![1.0], OwnedConstant(3.0))`",
    note = "a struct, tuple, vector or matrix of another crate is wrapped: `OwnedContainer::new(params)`"
)]
pub trait OwnedPoint: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// Shape of the point.
    type Shape: Shape<Scalar: Base>;
    /// Kinds of the contexts.
    type Contexts: Contexts;
    /// The borrowed point that operators get.
    type Lent<'a>: Point<Shape = Self::Shape, Contexts = Self::Contexts> + Clone;

    /// Lends the point to one call.
    fn lend(&self) -> Self::Lent<'_>;
    /// The numbers, one after the other.
    fn coordinates(&self) -> &[NumberOf<Self>];
    /// The same contexts with other numbers; `None` if the type does not hold that many.
    fn moved_to(&self, x: &[NumberOf<Self>]) -> Option<Self>;
    /// Reduces results of the shape of the point, this many one after the other, to the numbers that are differentiated. All are by default, and results that
    /// have only these stay.
    fn reduce(&self, _results: &mut Vec<NumberOf<Self>>, _count: usize) {}
}

/// The number type of a point.
pub type NumberOf<P> = <<P as OwnedPoint>::Shape as Shape>::Scalar;

impl<S: Base> OwnedPoint for Vec<S> {
    type Shape = differentiation_interface_core::point::Slice<S>;
    type Contexts = ();
    type Lent<'a> = &'a [S];

    fn lend(&self) -> &[S] {
        self
    }
    fn coordinates(&self) -> &[S] {
        self
    }
    fn moved_to(&self, x: &[S]) -> Option<Self> {
        Some(x.to_vec())
    }
}

impl<S: Base, const K: usize> OwnedPoint for [S; K] {
    type Shape = [S; K];
    type Contexts = ();
    type Lent<'a> = [S; K];

    fn lend(&self) -> [S; K] {
        *self
    }
    fn coordinates(&self) -> &[S] {
        self
    }
    fn moved_to(&self, x: &[S]) -> Option<Self> {
        x.try_into().ok()
    }
}

/// Numbers as points.
macro_rules! owned_numbers {
    ($($number:ty),*) => {$(
        impl OwnedPoint for $number {
            type Shape = differentiation_interface_core::point::Number<$number>;
            type Contexts = ();
            type Lent<'a> = &'a $number;

            fn lend(&self) -> &$number {
                self
            }
            fn coordinates(&self) -> &[$number] {
                std::slice::from_ref(self)
            }
            fn moved_to(&self, x: &[$number]) -> Option<Self> {
                let [x] = x else { return None };
                Some(*x)
            }
        }
    )*};
}
owned_numbers!(f64, f32);

/// A container as a scenario stores it, lent as `&W`: a struct with `#[derive(Container)]`, a tuple, a vector or matrix of another crate.
///
/// A type of its own, because a tuple is both a container and a point with its contexts, and because a scenario reads the numbers in one
/// piece. Seeds and expected results are flat numbers, in the order of the container.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// #[derive(Clone, Debug, PartialEq, Container)]
/// struct Spring<T = f64> {
///     stiffness: T,
///     ends: [T; 2],
/// }
/// #[differentiable]
/// fn energy(s: &Spring<f64>) -> f64 {
///     s.stiffness * (s.ends[1] - s.ends[0]) * (s.ends[1] - s.ends[0])
/// }
///
/// let spring = OwnedContainer::new(Spring { stiffness: 3.0, ends: [1.0, 3.0] });
/// let scenario = Scenario::gradient(Energy, spring).expecting([4.0, -12.0, 12.0]);
/// test_differentiation(&(AutoForwardDiff::default(), AutoReverseDiff::default()), &scenario, &Options::default()).assert();
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedContainer<W: Container> {
    object: W,
    numbers: Vec<W::Scalar>,
}

impl<W: Object> OwnedContainer<W> {
    /// Wraps a container.
    pub fn new(object: W) -> Self {
        let numbers = to_flat(&object);
        OwnedContainer { object, numbers }
    }
}

impl<W> OwnedPoint for OwnedContainer<W>
where
    W: Object<Scalar: Base> + PartialEq + Sync,
    for<'a> &'a W: Point<Shape = Whole<W>, Contexts = ()>,
{
    type Shape = Whole<W>;
    type Contexts = ();
    type Lent<'a> = &'a W;

    fn lend(&self) -> &W {
        &self.object
    }
    fn coordinates(&self) -> &[W::Scalar] {
        &self.numbers
    }
    fn moved_to(&self, x: &[W::Scalar]) -> Option<Self> {
        from_flat(&self.object, x).ok().map(Self::new)
    }
}

/// A context as a scenario stores it: [`OwnedConstant`], [`OwnedConstantNumbers`], [`OwnedParameter`], [`OwnedCache`], [`OwnedConstantOrCache`].
pub trait OwnedContext: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// Kind of the context.
    type Kind: ContextKind;
    /// The borrowed context that operators get.
    type Lent<'a>: Context<Kind = Self::Kind> + Clone;
    /// Lends the context to one call.
    fn lend(&self) -> Self::Lent<'_>;
}

/// Lent as [`Constant`].
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedConstant<K>(
    /// The value.
    pub K,
);

/// Lent as [`ConstantNumbers`].
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedConstantNumbers<W>(
    /// The value.
    pub W,
);

/// Lent as [`Parameter`].
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedParameter<W>(
    /// The values.
    pub W,
);

/// Lent as [`Cache`].
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedCache<W>(
    /// The prototype.
    pub W,
);

/// A tuple of contexts, lent as [`ConstantOrCache`].
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedConstantOrCache<T>(
    /// The tuple.
    pub T,
);

impl<K: Clone + PartialEq + Debug + Send + Sync + 'static> OwnedContext for OwnedConstant<K> {
    type Kind = <Constant<'static, K> as Context>::Kind;
    type Lent<'a> = Constant<'a, K>;
    fn lend(&self) -> Constant<'_, K> {
        Constant(&self.0)
    }
}

impl<W> OwnedContext for OwnedConstantNumbers<W>
where
    W: Container<Scalar: Word> + Clone + PartialEq + Debug + Send + Sync + 'static,
{
    type Kind = <ConstantNumbers<'static, W> as Context>::Kind;
    type Lent<'a> = ConstantNumbers<'a, W>;
    fn lend(&self) -> ConstantNumbers<'_, W> {
        ConstantNumbers(&self.0)
    }
}

impl<W> OwnedContext for OwnedParameter<W>
where
    W: Seen<Seen: Container<Scalar: Base> + 'static> + Clone + PartialEq + Debug + Send + Sync + 'static,
{
    type Kind = <Parameter<'static, W> as Context>::Kind;
    type Lent<'a> = Parameter<'a, W>;
    fn lend(&self) -> Parameter<'_, W> {
        Parameter(&self.0)
    }
}

impl<W> OwnedContext for OwnedCache<W>
where
    W: Seen<Seen: Container + 'static> + Clone + PartialEq + Debug + Send + Sync + 'static,
{
    type Kind = <Cache<'static, W> as Context>::Kind;
    type Lent<'a> = Cache<'a, W>;
    fn lend(&self) -> Cache<'_, W> {
        Cache(&self.0)
    }
}

impl<A: OwnedContext, B: OwnedContext> OwnedContext for OwnedConstantOrCache<(A, B)> {
    type Kind = differentiation_interface_core::context::ConstantOrCacheKind<(A::Kind, B::Kind)>;
    type Lent<'a> = ConstantOrCache<(A::Lent<'a>, B::Lent<'a>)>;
    fn lend(&self) -> Self::Lent<'_> {
        ConstantOrCache((self.0.0.lend(), self.0.1.lend()))
    }
}

/// Points with contexts after them.
macro_rules! owned_points_with_contexts {
    ($($A:ident $a:ident),*) => {
        impl<P: OwnedPoint<Contexts = ()>, $($A: OwnedContext),*> OwnedPoint for (P, $($A,)*)
        where
            ($($A::Kind,)*): for<'a> Contexts<Values<'a> = ($(<$A::Kind as ContextKind>::Value<'a>,)*)>,
        {
            type Shape = P::Shape;
            type Contexts = ($($A::Kind,)*);
            type Lent<'a> = (P::Lent<'a>, $($A::Lent<'a>,)*);

            fn lend(&self) -> Self::Lent<'_> {
                let (p, $($a,)*) = self;
                (p.lend(), $($a.lend(),)*)
            }
            fn coordinates(&self) -> &[NumberOf<P>] {
                self.0.coordinates()
            }
            fn moved_to(&self, x: &[NumberOf<P>]) -> Option<Self> {
                let (p, $($a,)*) = self;
                Some((p.moved_to(x)?, $($a.clone(),)*))
            }
            fn reduce(&self, results: &mut Vec<NumberOf<P>>, count: usize) {
                self.0.reduce(results, count);
            }
        }
    };
}
owned_points_with_contexts! { A a }
owned_points_with_contexts! { A a, B b }
owned_points_with_contexts! { A a, B b, C c }
