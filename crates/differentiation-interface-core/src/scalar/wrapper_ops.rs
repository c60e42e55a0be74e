//! Operators of [`Num`]: with itself, with references, with plain numbers on either side.

use super::{Base, Core, Num, Relation, Scalar};
use crate::rules::{Minus, Modulo, Negate, Over, Plus, Times};
use num_traits::MulAdd;
use std::cmp::Ordering;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

impl<C: Core> Neg for Num<C> {
    type Output = Num<C>;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn neg(self) -> Num<C> {
        self.apply(Negate)
    }
}

impl<C: Core> Neg for &Num<C> {
    type Output = Num<C>;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn neg(self) -> Num<C> {
        self.apply(Negate)
    }
}

/// One operator between two `Num`s, by value and by reference, and its assigning form.
macro_rules! own_operator {
    ($($Op:ident $op:ident $Assign:ident $assign:ident $rule:ident;)*) => {$(
        impl<C: Core> $Op for Num<C> {
            type Output = Num<C>;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn $op(self, other: Num<C>) -> Num<C> {
                self.apply2(other, $rule)
            }
        }
        impl<C: Core> $Op<&Num<C>> for Num<C> {
            type Output = Num<C>;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn $op(self, other: &Num<C>) -> Num<C> {
                self.apply2(*other, $rule)
            }
        }
        impl<C: Core> $Op<Num<C>> for &Num<C> {
            type Output = Num<C>;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn $op(self, other: Num<C>) -> Num<C> {
                self.apply2(other, $rule)
            }
        }
        impl<C: Core> $Op<&Num<C>> for &Num<C> {
            type Output = Num<C>;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn $op(self, other: &Num<C>) -> Num<C> {
                self.apply2(*other, $rule)
            }
        }
        impl<C: Core> $Assign for Num<C> {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn $assign(&mut self, other: Num<C>) {
                *self = self.apply2(other, $rule);
            }
        }
        impl<C: Core> $Assign<&Num<C>> for Num<C> {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn $assign(&mut self, other: &Num<C>) {
                *self = self.apply2(*other, $rule);
            }
        }
    )*};
}
own_operator! {
    Add add AddAssign add_assign Plus;
    Sub sub SubAssign sub_assign Minus;
    Mul mul MulAssign mul_assign Times;
    Div div DivAssign div_assign Over;
    Rem rem RemAssign rem_assign Modulo;
}

/// `left op right` with one plain operand, for one combination of value and reference.
macro_rules! plain_operator_impl {
    ($base:ty, $Op:ident $op:ident $rule:ident; $($num:ty, $plain:ty;)*) => {$(
        impl<C: Core<Base = $base>> $Op<$plain> for $num {
            type Output = Num<C>;
            #[cfg_attr(not(debug_assertions), inline(always))]
            #[allow(clippy::clone_on_copy, reason = "one body serves values and references")]
            fn $op(self, other: $plain) -> Num<C> {
                self.clone().apply2_right(other.clone(), $rule)
            }
        }
        impl<C: Core<Base = $base>> $Op<$num> for $plain {
            type Output = Num<C>;
            #[cfg_attr(not(debug_assertions), inline(always))]
            #[allow(clippy::clone_on_copy, reason = "one body serves values and references")]
            fn $op(self, other: $num) -> Num<C> {
                Num::<C>::apply2_left(self.clone(), other.clone(), $rule)
            }
        }
    )*};
}

/// One operator with a plain operand, and its assigning form.
macro_rules! plain_operator {
    ($base:ty: $($Op:ident $op:ident $Assign:ident $assign:ident $rule:ident;)*) => {$(
        plain_operator_impl! { $base, $Op $op $rule;
            Num<C>, $base;
            &Num<C>, $base;
            Num<C>, &$base;
            &Num<C>, &$base;
        }
        impl<C: Core<Base = $base>> $Assign<$base> for Num<C> {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn $assign(&mut self, other: $base) {
                *self = self.apply2_right(other, $rule);
            }
        }
        impl<C: Core<Base = $base>> $Assign<&$base> for Num<C> {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn $assign(&mut self, other: &$base) {
                *self = self.apply2_right(*other, $rule);
            }
        }
    )*};
}

/// Comparisons by `$order`, all methods written out so that [`Core::compare_plain`] sees the user's line.
macro_rules! plain_comparisons {
    ($base:ty, $left:ty, $right:ty: ($x:ident, $y:ident) => $order:expr; $($method:ident $Relation:ident)*) => {
        impl<C: Core<Base = $base>> PartialEq<$right> for $left {
            #[cfg_attr(not(debug_assertions), inline(always))]
            #[track_caller]
            fn eq(&self, other: &$right) -> bool {
                let ($x, $y) = (self, other);
                Relation::Equal.holds($order)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            #[track_caller]
            #[expect(clippy::partialeq_ne_impl, reason = "the provided `ne` would hide the place of the comparison")]
            fn ne(&self, other: &$right) -> bool {
                let ($x, $y) = (self, other);
                !Relation::Equal.holds($order)
            }
        }
        impl<C: Core<Base = $base>> PartialOrd<$right> for $left {
            #[cfg_attr(not(debug_assertions), inline(always))]
            #[track_caller]
            fn partial_cmp(&self, other: &$right) -> Option<Ordering> {
                let ($x, $y) = (self, other);
                $order
            }
            $(#[cfg_attr(not(debug_assertions), inline(always))]
            #[track_caller]
            fn $method(&self, other: &$right) -> bool {
                let ($x, $y) = (self, other);
                Relation::$Relation.holds($order)
            })*
        }
    };
}

/// Operators and comparisons of `Num` with its plain number.
macro_rules! plain_operators {
    ($($base:ty),*) => {$(
        plain_operator! { $base:
            Add add AddAssign add_assign Plus;
            Sub sub SubAssign sub_assign Minus;
            Mul mul MulAssign mul_assign Times;
            Div div DivAssign div_assign Over;
            Rem rem RemAssign rem_assign Modulo;
        }
        plain_comparisons! { $base, Num<C>, $base: (x, y) => x.0.compare_plain(*y);
            lt Less le LessOrEqual gt Greater ge GreaterOrEqual
        }
        plain_comparisons! { $base, $base, Num<C>: (x, y) => y.0.compare_plain(*x).map(Ordering::reverse);
            lt Less le LessOrEqual gt Greater ge GreaterOrEqual
        }
    )*};
}
plain_operators!(f64, f32);

impl<C: Core> MulAdd for Num<C> {
    type Output = Num<C>;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn mul_add(self, a: Num<C>, b: Num<C>) -> Num<C> {
        Scalar::fused(self, a, b)
    }
}

/// `Sum` and `Product`, folded from a constant, so that the first operation has no derivative cost.
macro_rules! folds {
    ($($Fold:ident $fold:ident $rule:ident $neutral:ident;)*) => {$(
        impl<C: Core> $Fold for Num<C> {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn $fold<I: Iterator<Item = Num<C>>>(iter: I) -> Num<C> {
                iter.fold(Num::constant(C::Base::$neutral), |a, b| a.apply2(b, $rule))
            }
        }
        impl<'a, C: Core> $Fold<&'a Num<C>> for Num<C> {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn $fold<I: Iterator<Item = &'a Num<C>>>(iter: I) -> Num<C> {
                iter.fold(Num::constant(C::Base::$neutral), |a, b| a.apply2(*b, $rule))
            }
        }
    )*};
}
folds! {
    Sum sum Plus ZERO;
    Product product Times ONE;
}
